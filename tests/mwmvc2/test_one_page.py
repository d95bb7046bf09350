"""The vote on two levels that its one page writes from scratch: as the class, as the equations."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.tree import DecisionTreeClassifier

from mvref import MwMvC2
from mvref.datasets import load_digits_views, load_iris_views
from mvref.theory.bregman import auxiliary_bound, logistic_loss, weighted_votes
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


def margins(M, rho, pi):
    return PAGE["votes"](M, pi) @ rho


def started(M):
    V, n, _ = M.shape
    return np.full(V, 1 / V), np.full((V, n), 1 / n)


def updates(M, T):
    """The losses before the first and after every update, and the weights at the end."""
    rho, pi = started(M)
    losses = [PAGE["loss"](margins(M, rho, pi))]
    for _ in range(T):
        pi = PAGE["move_voters"](M, rho, pi)
        rho = PAGE["move_views"](M, rho, pi)
        losses.append(PAGE["loss"](margins(M, rho, pi)))
    return np.array(losses), rho, pi


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


def test_it_learns():
    X, y, X_new, y_new = digits()
    pools, rho, pi = PAGE["fit"](trees(), X.views, y, 2)
    B = PAGE["votes"](PAGE["cast"](pools, X_new.views), pi) @ rho
    assert np.mean(np.sign(B) == y_new) > 0.85


def test_votes_are_the_predictions_of_every_voter():
    X, y, _, _ = iris()
    pools, _, _ = PAGE["fit"](trees(), X.views, y, 0)
    H = PAGE["cast"](pools, X.views)
    for v, pool in enumerate(pools):
        for j, h in enumerate(pool):
            assert_array_equal(H[v, j], h.predict(X.views[v]))
    pi = np.random.default_rng(0).normal(size=H.shape[:2])
    G = np.column_stack([H[v].T @ pi[v] for v in range(len(H))])
    assert_allclose(PAGE["votes"](H, pi), G, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_the_direction_is_half_the_log_of_right_over_wrong(seed):
    M = noisy_table(seed)
    q = np.random.default_rng(seed).uniform(0.05, 0.95, M.shape[2])
    W_plus, W_minus = weighted_votes([M_v.T for M_v in M], q)
    expected = np.log(np.divide(W_plus, W_minus)) / 2
    assert_allclose(PAGE["reweigh"](M, q), expected, atol=1e-12)


def test_a_voter_without_errors_keeps_a_finite_weight():
    m, q = 20, np.random.default_rng(0).random(20)
    M = np.stack([np.ones((1, m)), -np.ones((1, m))])
    total = q.sum()
    expected = [literal.smoothed_delta(a, b, 1 / (2 * m)) for a, b in [(total, 0), (0, total)]]
    assert_allclose(PAGE["reweigh"](M, q).ravel(), expected, atol=1e-12)


@pytest.mark.parametrize("n", [1, 2, 6])
@pytest.mark.parametrize("seed", range(3))
def test_the_updates_are_those_of_the_loops(seed, n):
    as_the_loops(noisy_table(seed, n=n), 3)


@pytest.mark.parametrize("seed", range(8))
def test_so_are_they_for_voters_that_are_nearly_copies(seed):
    """Their full step is too long, and how often it is halved depends on the bound."""
    M = noisy_table(seed, V=2, n=1, right=0.7) * noisy_table(seed + 100, V=2, n=15, right=0.95)
    as_the_loops(M, 1)


def as_the_loops(M, T):
    losses, rho, pi = updates(M, T)
    path = literal.literal_monotone([M_v.T for M_v in M], T, smoothing=1 / (2 * M.shape[2]))
    assert_allclose(losses, path.loss, rtol=1e-10)
    assert_allclose(rho, path.rho[-1], atol=1e-8)
    assert_allclose(pi, path.pi[-1], atol=1e-8)


def test_the_step_keeps_the_promise_of_the_bound():
    """Copies of a voter, for which the full step raises the loss."""
    M = np.tile(np.where(np.arange(4) == 3, -1, 1), (1, 10, 1))
    rho, pi = started(M)
    z = margins(M, rho, pi)
    q = 1 / (1 + np.exp(z))
    delta = PAGE["reweigh"](M, q)
    assert PAGE["loss"](margins(M, rho, pi + delta)) > PAGE["loss"](z) + 0.01
    moved = margins(M, rho, PAGE["move_voters"](M, rho, pi))
    bound = auxiliary_bound([M_v.T for M_v in M], rho, q, delta)
    assert bound < 0
    assert PAGE["loss"](moved) <= logistic_loss(z) + bound + 1e-12


@pytest.mark.parametrize("seed", range(5))
def test_the_views_solve_the_quadratic_program(seed):
    M = noisy_table(seed, V=4)
    rng = np.random.default_rng(seed)
    rho, pi = rng.dirichlet(np.ones(4)), rng.normal(size=M.shape[:2])
    new = PAGE["move_views"](M, rho, pi)
    expected = literal.rho_by_enumeration([M_v.T for M_v in M], rho, pi)
    assert_allclose(new, expected, atol=1e-9)
    assert_allclose(new.sum(), 1.0)
    assert (new >= 0).all()


def test_the_loss_falls_to_that_of_the_best_weights():
    M = noisy_table(0, m=80)
    losses, _, _ = updates(M, 300)
    assert (np.diff(losses) <= 1e-9).all()
    flat = M.reshape(-1, M.shape[2])
    z = margins(M, *updates(M, 300)[1:])
    assert np.abs(flat @ (1 / (1 + np.exp(z)))).max() < 1e-5  # every voter is useless now
