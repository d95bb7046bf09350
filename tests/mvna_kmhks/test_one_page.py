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


@pytest.fixture(scope="module")
def problem():
    """Moons, one of them twice; three sets of components, one with both copies."""
    X, y = make_moons(30, noise=0.2, random_state=0)
    X[1] = X[0]
    S = [np.array([0, 1, 7, 12]), np.array([3, 9, 20]), np.array([2, 5, 11, 17, 28])]
    return X, np.where(y == 1, 1.0, -1.0), S


def test_features_are_the_approximation_of_the_paper(problem):
    X, _, S = problem
    k = rbf_kernel(X, gamma=0.7)
    assert_allclose(PAGE["kernel"](X, X[S[1]], 0.7), k[:, S[1]], atol=1e-12)
    for S_p, rank in zip(S, (3, 3, 5), strict=True):
        F = PAGE["features"](X, X[S_p], 0.7)
        assert F.shape == (30, rank)
        assert_allclose(F @ F.T, literal.nystrom(k, S_p), atol=1e-9)


@pytest.mark.parametrize("n_sweeps", [1, 2, 5])
def test_sweeps_are_the_exact_block_steps(problem, n_sweeps):
    X, Y, S = problem
    c, gamma = 0.3, 4.0
    theta, f, b = PAGE["fit"](X, Y, S, c, gamma, 0.7, n_sweeps)
    Fs = [PAGE["features"](X, X[S_p], 0.7) for S_p in S]
    seen, mu = np.ones((3, 30), dtype=bool), np.full(3, 1 / 3)
    thetas, bs, curve = literal.exact_sweeps(Fs, Y, seen, [c] * 3, gamma, mu, n_sweeps)
    for p in range(3):
        assert_allclose(theta[p], thetas[p], atol=1e-8)
        assert_allclose(f[p], Y * (Fs[p] @ thetas[p][:-1] + thetas[p][-1]), atol=1e-8)
    assert_allclose(b, bs, atol=1e-8)
    assert_allclose(PAGE["objective"](theta, f, b, c, gamma), curve[-1], rtol=1e-10)


def test_the_end_is_the_minimum_of_an_independent_judge(problem):
    X, Y, S = problem
    c, gamma = 0.3, 4.0
    theta, f, b = PAGE["fit"](X, Y, S, c, gamma, 0.7, 3000)
    Fs = [PAGE["features"](X, X[S_p], 0.7) for S_p in S]
    seen, mu = np.ones((3, 30), dtype=bool), np.full(3, 1 / 3)
    _, least = literal.co_regularised_squared_hinge(Fs, Y, seen, [c] * 3, gamma, mu)
    assert_allclose(PAGE["objective"](theta, f, b, c, gamma), least, rtol=1e-10)
    X_new = X[:7] + 0.1
    k, k_new = rbf_kernel(X, gamma=0.7), rbf_kernel(X_new, X, gamma=0.7)
    # Any Gamma with F'D Gamma = beta: the extension does not depend on the choice.
    Gammas = [Y * np.linalg.lstsq(F.T, t[:-1])[0] for F, t in zip(Fs, theta, strict=True)]
    w0s = [t[-1] for t in theta]
    expected = literal.nystrom_decision(k, k_new, S, Y, Gammas, w0s, mu)
    assert_allclose(PAGE["decision"](X_new, X, S, theta, 0.7), expected, atol=1e-8)
