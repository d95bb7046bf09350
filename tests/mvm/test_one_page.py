"""The multi-view machine of the one page: as long as promised, as mvref's, and as its formulas."""

import numpy as np
import pytest

from mvref import MVMClassifier
from mvref.datasets import load_iris_views, load_mfeat
from tests.one_page import from_scratch, two_classes

PAGE = from_scratch("mvm")
WIDTHS, K, LAM = (3, 2, 4), 2, 0.3
MFEAT = (load_mfeat, ["mor", "zer", "fou"], (3, 8))
IRIS = (load_iris_views, ["sepal", "petal"], (1, 2))


def drawn_from(load, names, classes):
    """Views and labels of 120 samples, or of all where there are fewer."""
    return two_classes(load(), names, classes, 120)[:2]


@pytest.mark.parametrize("data", [MFEAT, IRIS], ids=["mfeat", "iris"])
@pytest.mark.parametrize("k", [2, 4])
def test_it_ends_where_the_class_ends(data, k):
    X, y = drawn_from(*data)
    model = MVMClassifier(k, alpha=0.01, tol=1e-10, max_iter=5000, random_state=1).fit(X, y)
    rng = np.random.RandomState(np.random.RandomState(1).randint(2**31))
    Z, A = PAGE["with_constant"](X.views), PAGE["fit"](X.views, y, k, 0.01, rng)
    end, gradient = PAGE["objective"](A, Z, y, 0.01)
    assert end == pytest.approx(model.loss_curve_[-1], rel=1e-10, abs=0)
    assert max(np.abs(G_v).max() for G_v in gradient) < 1e-7
    theirs = PAGE["scores"](PAGE["products"](Z, model.factors_))
    assert np.abs(theirs - model.decision_function(X)).max() < 1e-8
    ours = PAGE["scores"](PAGE["products"](Z, A))
    assert np.abs(ours - theirs).max() < 1e-3 * np.abs(theirs).max()


@pytest.mark.parametrize("k", [2, 4])
def test_it_starts_where_the_class_starts(k):
    X, y = drawn_from(*MFEAT)
    with pytest.warns(match="max_iter=1"):
        model = MVMClassifier(k, alpha=0.01, max_iter=1, random_state=2).fit(X, y)
    rng = np.random.RandomState(np.random.RandomState(2).randint(2**31))
    A = PAGE["live_start"](X.widths, k, rng)
    start, _ = PAGE["objective"](A, PAGE["with_constant"](X.views), y, 0.01)
    assert start == pytest.approx(model.loss_curve_[0], rel=1e-12, abs=0)
    assert sum(np.prod([A_v[-1] for A_v in A], axis=0)) == 0  # the global bias, Eq. (8)


def test_products_of_others_leave_out_one_view():
    rng = np.random.default_rng(0)
    S = list(rng.normal(size=(4, 5, K)))
    S[1][0] = 0.0  # no division could do it
    for v, H_v in enumerate(PAGE["products_of_others"](S)):
        one_by_one = np.prod([S_u for u, S_u in enumerate(S) if u != v], axis=0)
        np.testing.assert_allclose(H_v, one_by_one, rtol=1e-12)
