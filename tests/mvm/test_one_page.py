"""The multi-view machine of the one page: as long as promised, as mvref's, and as its formulas."""

import numpy as np
import pytest

from mvref import MVMClassifier
from mvref.datasets import load_iris_views, load_mfeat
from tests import literal_mvm as literal
from tests.one_page import from_scratch, two_classes

PAGE = from_scratch("mvm")
WIDTHS, K, LAM = (3, 2, 4), 2, 0.3
MFEAT = (load_mfeat, ["mor", "zer", "fou"], (3, 8))
IRIS = (load_iris_views, ["sepal", "petal"], (1, 2))


def drawn_from(load, names, classes):
    """Views and labels of 120 samples, or of all where there are fewer."""
    return two_classes(load(), names, classes, 120)[:2]


def drawn(seed=0, n=6):
    """Views with their constants, factors of size 1, labels."""
    rng = np.random.default_rng(seed)
    views = [rng.normal(size=(n, width)) for width in WIDTHS]
    factors = [rng.normal(size=(width + 1, K)) for width in WIDTHS]
    return views, factors, rng.choice([-1.0, 1.0], n)


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


def test_scores_are_sums_over_the_whole_tensor():
    views, A, _ = drawn()
    ours = PAGE["scores"](PAGE["products"](PAGE["with_constant"](views), A))
    by_loops = [literal.tensor_score(x, A) for x in zip(*views, strict=True)]
    np.testing.assert_allclose(ours, by_loops, rtol=1e-12)


def test_products_of_others_leave_out_one_view():
    rng = np.random.default_rng(0)
    S = list(rng.normal(size=(4, 5, K)))
    S[1][0] = 0.0  # no division could do it
    for v, H_v in enumerate(PAGE["products_of_others"](S)):
        one_by_one = np.prod([S_u for u, S_u in enumerate(S) if u != v], axis=0)
        np.testing.assert_allclose(H_v, one_by_one, rtol=1e-12)


def test_objective_and_gradient_are_the_formulas():
    views, A, y = drawn()
    F, G = PAGE["objective"](A, PAGE["with_constant"](views), y, LAM)
    samples, options = list(zip(*views, strict=True)), ("logistic", "l2", LAM, 0.0)
    assert pytest.approx(literal.objective(samples, y, A, *options), rel=1e-12) == F
    for G_v, by_loops in zip(G, literal.gradient(samples, y, A, *options), strict=True):
        np.testing.assert_allclose(G_v, by_loops, rtol=1e-10, atol=1e-12)
