"""The landmark SVM that its one page writes from scratch: as the class, as the equations."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mvref import MVLSVM, MultiView
from mvref.datasets import load_iris_views, load_mfeat
from tests import literal
from tests.one_page import from_scratch, two_classes

PAGE = from_scratch("mvl_svm")
LAM = 0.1


def mfeat():
    return two_classes(load_mfeat(), ["fou", "pix", "zer"], (6, 9), 120)


def iris():
    return two_classes(load_iris_views(), ["sepal", "petal"], (1, 2), 60)


def problem():
    """Two views of 40 samples with gaps, eight landmarks, and labels of both signs."""
    views, y = literal.toy_views(3, m=40, widths=(3, 2), noise=1.0)
    observed = literal.random_pattern(3, 40, 2, share=0.5, n_complete=12)
    landmarks = [view[observed.all(axis=1)][:8] for view in views]
    return literal.hide(views, observed), landmarks, 2.0 * y - 1


@pytest.mark.parametrize("c", [0.1, 10.0, 1000.0])
@pytest.mark.parametrize("share", [0.0, 0.3])
@pytest.mark.parametrize("draw", [mfeat, iris])
def test_decision_values_are_those_of_the_class(draw, share, c):
    X, y, X_new, _ = draw()
    if share:
        X, X_new = X.drop_views(share, random_state=1), X_new.drop_views(share, random_state=2)
    options = {"c": c, "loss": "squared_hinge", "ridge": LAM, "tol": 1e-13, "random_state": 5}
    model = MVLSVM(15, **options).fit(X, y)
    rng = np.random.RandomState(5)
    landmarks, w = PAGE["fit"](X.views, y, 15, c, LAM, rng)
    for mine, theirs in zip(landmarks, model.projection_.landmarks_.views, strict=True):
        assert_array_equal(mine, theirs)
    f = PAGE["decision"](X_new.views, landmarks, w, LAM)
    assert_allclose(f, model.decision_function(X_new), rtol=0, atol=1e-8)


def test_what_is_filled_stays_a_similarity():
    P = np.array([[1.0, 0.0, 1.0, 0.9], [0.0, 1.0, 0.9, 1.0]])
    M = np.array([[1.0, 1.0, np.nan, np.nan], [-1.0, 0.2, np.nan, np.nan]])
    assert_allclose(PAGE["fill"](M, P, 0.01)[:, 2:], [[1.0, 1.0], [0.0, 0.0]])


def test_sets_that_repeat_in_a_cycle_are_told():
    """Five samples that the class, which shortens its steps, solves."""
    Phi, y = np.array([[1, 3], [-1, 1], [2, 1], [2, 2], [0, 2]]), np.array([1, -1, -1, 1, -1])
    Z, c = np.column_stack([Phi, np.ones(5)]), 10_000.0
    with pytest.raises(RuntimeError, match="keep changing"):
        PAGE["linear_svm"](Z, y, c)
    model = MVLSVM(c=c, loss="squared_hinge", tol=1e-9).fit_latent(Phi, y)
    w = np.append(model.coef_, model.intercept_)
    exact = literal.squared_hinge_minimum(Phi, y, c / 5, 1.0)
    assert_allclose(w, exact, rtol=1e-3)


def test_landmarks_have_all_views():
    views, _, y = problem()
    rng = np.random.RandomState(0)
    landmarks, _ = PAGE["fit"](views, y, 10, 1.0, LAM, rng)
    assert MultiView(landmarks).observed.all()
    assert len({tuple(row) for row in np.hstack(landmarks)}) == 10
