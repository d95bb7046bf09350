"""The machines that the one page of MVNA-KMHKS writes from scratch: as the class, as printed."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel

from mvref import MVNAKMHKS
from mvref.datasets import load_iris_views, load_mfeat
from tests import literal_mvna as literal
from tests.one_page import from_scratch, two_classes

PAGE = from_scratch("mvna_kmhks")


def mfeat():
    X, y, X_new, _ = two_classes(load_mfeat(), ["fou"], (6, 8), 150)
    return X.concat(), y, X_new.concat()


def iris():
    X, y, X_new, _ = two_classes(load_iris_views(), ["sepal", "petal"], (1, 2), 60)
    return X.concat(), y, X_new.concat()


@pytest.mark.parametrize("M", [1, 2, 3])
@pytest.mark.parametrize("draw", [mfeat, iris])
def test_the_first_two_sweeps_are_those_of_the_class(draw, M):
    """Momentum begins with the third; two sweeps of the class are plain ones."""
    X, Y, X_new = draw()
    c, gamma, kappa = 0.5, 2.0, 0.1
    model = MVNAKMHKS(M, 12, gamma=kappa, c=c, coupling=gamma, tol=0.0, max_iter=2, random_state=0)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, Y)
    S = model.component_indices_
    theta, f, b = PAGE["fit"](X, Y, S, c, gamma, kappa, 2)
    scores = PAGE["decision"](X_new, X, S, theta, kappa)
    assert_allclose(scores, model.decision_function(X_new), rtol=0, atol=1e-8)
    J = PAGE["objective"](theta, f, b, c, gamma)
    assert_allclose(J, model.objective_curve_[-1], rtol=1e-10)


@pytest.mark.parametrize("draw", [mfeat, iris])
def test_both_end_at_the_same_minimum(draw):
    X, Y, X_new = draw()
    c, gamma, kappa = 1.0, 1.0, 1 / X.shape[1]
    options = {"tol": 1e-15, "max_iter": 10_000, "random_state": 0}
    model = MVNAKMHKS(2, 12, gamma=kappa, c=c, coupling=gamma, **options).fit(X, Y)
    S = model.component_indices_
    theta, f, b = PAGE["fit"](X, Y, S, c, gamma, kappa, 1000)
    J = PAGE["objective"](theta, f, b, c, gamma)
    assert_allclose(J, model.objective_curve_[-1], rtol=1e-10)
    scores = PAGE["decision"](X_new, X, S, theta, kappa)
    assert_allclose(scores, model.decision_function(X_new), rtol=0, atol=1e-6)


def test_features_are_the_approximation_of_the_paper():
    """Three sets of components of moons, one with both copies of a sample."""
    X = make_moons(30, noise=0.2, random_state=0)[0]
    X[1] = X[0]
    S = [np.array([0, 1, 7, 12]), np.array([3, 9, 20]), np.array([2, 5, 11, 17, 28])]
    k = rbf_kernel(X, gamma=0.7)
    assert_allclose(PAGE["kernel"](X, X[S[1]], 0.7), k[:, S[1]], atol=1e-12)
    for S_p, rank in zip(S, (3, 3, 5), strict=True):
        F = PAGE["features"](X, X[S_p], 0.7)
        assert F.shape == (30, rank)
        assert_allclose(F @ F.T, literal.nystrom(k, S_p), atol=1e-9)
