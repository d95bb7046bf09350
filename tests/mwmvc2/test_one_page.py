"""The vote on two levels that its one page writes from scratch: as the class, as the equations."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.tree import DecisionTreeClassifier

from mvref import MwMvC2
from mvref.datasets import load_digits_views, load_iris_views
from tests import literal_mwmvc2 as literal
from tests.one_page import from_scratch, two_classes

PAGE = from_scratch("mwmvc2")


def digits():
    return two_classes(load_digits_views("quarters"), ["top_left", "bottom_right"], (3, 8), 120)


def iris():
    return two_classes(load_iris_views(), ["sepal", "petal"], (1, 2), 60)


def trees(seed=0):
    options = {"splitter": "random"}
    return [
        DecisionTreeClassifier(max_depth=k, random_state=seed + k, **options) for k in (1, 2, 4)
    ]


def noisy_table(seed, V=3, n=2, m=40, right=0.62):
    """Votes of V views with n voters each, M[v, j, i], which do not separate the classes."""
    return np.where(np.random.default_rng(seed).random((V, n, m)) < right, 1, -1)


@pytest.mark.parametrize("T", [0, 1, 2, 4])
@pytest.mark.parametrize("draw", [digits, iris])
def test_decision_values_are_those_of_the_class(draw, T):
    X, y, X_new, _ = draw()
    model = MwMvC2(trees(), max_iter=T, random_state=5).fit(X, y)
    pools, rho, pi = PAGE["fit"](trees(), X.views, y, T)
    B = PAGE["votes"](PAGE["cast"](pools, X_new.views), pi) @ rho
    assert_allclose(B, model.decision_function(X_new), rtol=0, atol=1e-8)
    z = y * (PAGE["votes"](PAGE["cast"](pools, X.views), pi) @ rho)
    assert_allclose(PAGE["loss"](z), model.loss_curve_[-1], rtol=1e-10)
    assert_allclose(rho, model.rho_, atol=1e-9)


def test_a_voter_without_errors_keeps_a_finite_weight():
    m, q = 20, np.random.default_rng(0).random(20)
    M = np.stack([np.ones((1, m)), -np.ones((1, m))])
    total = q.sum()
    expected = [literal.smoothed_delta(a, b, 1 / (2 * m)) for a, b in [(total, 0), (0, total)]]
    assert_allclose(PAGE["reweigh"](M, q).ravel(), expected, atol=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_an_update_of_voters_that_are_nearly_copies_is_that_of_the_loops(seed):
    """Their full step is too long, and how often it is halved depends on the bound."""
    M = noisy_table(seed, V=2, n=1, right=0.7) * noisy_table(seed + 100, V=2, n=15, right=0.95)
    path = literal.literal_monotone([M_v.T for M_v in M], 1, smoothing=1 / (2 * M.shape[2]))
    rho, pi = np.full(2, 1 / 2), np.full((2, 15), 1 / 15)
    losses = [PAGE["loss"](PAGE["votes"](M, pi) @ rho)]
    pi = PAGE["move_voters"](M, rho, pi)
    rho = PAGE["move_views"](M, rho, pi)
    losses.append(PAGE["loss"](PAGE["votes"](M, pi) @ rho))
    assert_allclose(losses, path.loss, rtol=1e-10)
    assert_allclose(rho, path.rho[-1], atol=1e-8)
    assert_allclose(pi, path.pi[-1], atol=1e-8)
