"""The quadratic program of the cuts: optimality by Karush-Kuhn-Tucker, and cvxopt."""

import numpy as np
import pytest
from cvxopt import matrix, solvers
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from mvref.core.simplex_qp import solve_budget_qp
from tests.literal import QP_OPTIONS

seeds = st.integers(0, 2**31)
powers = st.floats(-8, 8).map(lambda e: 10**e)


def objective(H, d, x):
    return 0.5 * x @ H @ x - d @ x


def kkt_violation(H, d, C, x):
    """Largest violation of the optimality conditions, each relative to the terms of its row.

    Stationary where x > 0, no negative multiplier elsewhere, no price on a budget that is left.
    """
    norms = np.sqrt(np.diag(H))
    size = np.abs(d) + norms * (norms @ x) + 1e-300
    gradient = H @ x - d
    price, price_size = 0.0, 0.0
    if C - x.sum() < 1e-9 * C:  # the best known of the gradients that must be equal
        on = np.flatnonzero(x)
        k = on[norms[on].argmin()]
        price, price_size = -gradient[k], size[k]
    multipliers = (gradient + price) / (size + price_size)
    stationary = np.abs(multipliers[x > 0]).max(initial=0)
    return max(stationary, -multipliers.min(), -price / size.max())


def random_program(kind, seed):
    rng = np.random.default_rng(seed)
    K = int(rng.integers(1, 20))
    P = rng.normal(size=(rng.integers(1, K + 3), K))
    d = rng.uniform(size=K)
    if kind == "duplicated cuts":
        P = P[:, rng.integers(0, K, K)]
    elif kind == "duplicated programs":
        twins = rng.integers(0, K, K)
        P, d = P[:, twins], d[twins]
    elif kind == "zero rows":
        P[:, rng.integers(0, K, max(1, K // 3))] = 0
    elif kind == "integers":  # many ties
        P, d = np.round(P), np.round(4 * d) / 4
    elif kind == "badly scaled cuts":
        P = P * 10 ** rng.uniform(-6, 6, K)
    elif kind == "cuts nearly equal":
        P = P + 10 ** rng.uniform(0, 6)
    elif kind == "losses of any sign":
        d = rng.normal(size=K)
    P = P * 10 ** rng.uniform(-8, 8)
    return P.T @ P, d * 10 ** rng.uniform(-4, 4), 10 ** rng.uniform(-8, 8)


KINDS = [
    "random",
    "duplicated cuts",
    "duplicated programs",
    "zero rows",
    "integers",
    "badly scaled cuts",
    "cuts nearly equal",
    "losses of any sign",
]


@pytest.mark.filterwarnings("error")  # no overflow and no division by zero, whatever the scales
@pytest.mark.parametrize("kind", KINDS)
def test_certificate_of_optimality(kind):
    """300 programs of each kind, H, d and C over many powers of ten."""
    for seed in range(300):
        H, d, C = random_program(kind, seed)
        x = solve_budget_qp(H, d, C)
        assert (x >= 0).all() and x.sum() <= C * (1 + 1e-12), seed
        assert kkt_violation(H, d, C, x) < 1e-10, seed


def test_the_certificate_sees_a_wrong_solution():
    """Of the test above: a change of 1e-6 of any entry shows."""
    H, d, C = np.diag([1.0, 2.0, 4.0]), np.array([3.0, 1.0, 1.0]), 2.5
    x = solve_budget_qp(H, d, C)
    assert kkt_violation(H, d, C, x) < 1e-15
    for i in range(3):
        assert kkt_violation(H, d, C, x + 1e-6 * np.eye(3)[i]) > 1e-8
        assert kkt_violation(H, d, C, np.maximum(x - 1e-6 * np.eye(3)[i], 0)) > 1e-8 or x[i] == 0


@pytest.mark.parametrize("kind", KINDS)
def test_start_makes_no_difference(kind):
    """From the optimum of all cuts but the newest, and from any feasible point."""
    for seed in range(100):
        H, d, C = random_program(kind, seed)
        cold = solve_budget_qp(H, d, C)
        norms = np.sqrt(np.diag(H))
        size = np.abs(d) @ cold + (norms @ cold) ** 2  # of the terms, which may cancel in H
        rng = np.random.default_rng(seed)
        before = np.zeros(len(d))
        if len(d) > 1:
            before[:-1] = solve_budget_qp(H[:-1, :-1], d[:-1], C)
        for start in (before, C * rng.dirichlet(np.full(len(d), 0.3)) * rng.random(), cold):
            warm = solve_budget_qp(H, d, C, start)
            assert kkt_violation(H, d, C, warm) < 1e-10, seed
            assert abs(objective(H, d, warm) - objective(H, d, cold)) <= 1e-10 * size, seed


def cvxopt_budget_qp(H, d, C):
    K = len(d)
    G, h = np.vstack([-np.eye(K), np.ones((1, K))]), np.append(np.zeros(K), C)
    arguments = [matrix(np.ascontiguousarray(A, dtype=float)) for A in (H, -d, G, h)]
    return np.ravel(solvers.qp(*arguments, options=QP_OPTIONS)["x"])


@pytest.mark.parametrize("number", range(30))
def test_value_is_that_of_cvxopt(number):
    rng = np.random.default_rng(number)
    K = int(rng.integers(2, 60))
    P, d = rng.normal(size=(rng.integers(1, 80), K)), rng.uniform(size=K)
    H, C = P.T @ P, 10 ** rng.uniform(-3, 1)
    value = objective(H, d, solve_budget_qp(H, d, C))
    other = objective(H, d, cvxopt_budget_qp(H, d, C))
    assert_allclose(value, other, rtol=1e-6)
    assert value <= other + 1e-9 * abs(other)  # the active-set solution is the exact one


@pytest.mark.parametrize("number", range(10))
def test_solution_is_that_of_cvxopt(number):
    """H well conditioned: the solution itself is unique and stable."""
    rng = np.random.default_rng(number)
    P = rng.normal(size=(60, 20))
    H, d, C = P.T @ P / 60, rng.uniform(-0.2, 1, size=20), 10 ** rng.uniform(-1, 1.5)
    assert_allclose(solve_budget_qp(H, d, C), cvxopt_budget_qp(H, d, C), atol=1e-6 * C)


@given(seeds, powers, powers)
def test_units(seed, a, b):
    """H in units a, d in units b: the solution in units b/a."""
    rng = np.random.default_rng(seed)
    P, d = rng.normal(size=(12, 8)), rng.uniform(size=8)
    H, C = P.T @ P, 10 ** rng.uniform(-2, 1)
    x = solve_budget_qp(H, d, C)
    assert_allclose(
        solve_budget_qp(a * H, b * d, b / a * C), b / a * x, rtol=1e-7, atol=1e-9 * b / a
    )


def test_many_cuts_of_low_rank():
    """As at the end of a long run: 300 cuts that depend on each other, and that are alike."""
    rng = np.random.default_rng(0)
    P = rng.normal(size=(40, 1)) + 0.1 * rng.normal(size=(40, 300))
    H, d = P.T @ P, rng.uniform(0.5, 1, size=300)
    for C in (1e-3, 0.1, 10.0, 1e4):
        x = solve_budget_qp(H, d, C)
        assert kkt_violation(H, d, C, x) < 1e-10
        assert (x > 0).sum() <= 41  # a vertex of the dependent ones


@pytest.mark.parametrize(
    ("H", "d", "C", "expected"),
    [
        ([[1.0]], [3.0], 2.0, [2.0]),  # the budget binds
        ([[1.0]], [3.0], 5.0, [3.0]),  # it does not
        ([[1.0]], [3.0], 3.0, [3.0]),  # just
        ([[1.0]], [-1.0], 5.0, [0.0]),
        ([[0.0]], [1.0], 5.0, [5.0]),  # a cut that costs nothing takes the budget
        ([[0.0]], [0.0], 5.0, [0.0]),
        ([[0.0]], [-1e-9], 5.0, [0.0]),
        ([[1.0, 0.0], [0.0, 0.0]], [1.0, 0.25], 5.0, [0.75, 4.25]),
        ([[1.0, 1.0], [1.0, 1.0]], [1.0, 0.5], 5.0, [1.0, 0.0]),  # twins, one with a larger loss
        ([[1.0, 1.0], [1.0, 1.0]], [0.5, 1.0], 5.0, [0.0, 1.0]),
        ([[1.0, 2.0], [2.0, 4.0]], [1.0, 1.0], 5.0, [1.0, 0.0]),  # multiples
        (np.empty((0, 0)), [], 1.0, []),  # no cut
    ],
)
def test_by_hand(H, d, C, expected):
    assert_allclose(solve_budget_qp(np.array(H), np.array(d), C), expected, atol=1e-14)


def test_arguments_stay_as_they_are():
    rng = np.random.default_rng(0)
    P, d, start = rng.normal(size=(9, 5)), rng.uniform(size=5), np.full(5, 0.1)
    H = P.T @ P
    before = H.copy(), d.copy(), start.copy()
    solve_budget_qp(H, d, 1.0, start)
    for now, then in zip((H, d, start), before, strict=True):
        assert_array_equal(now, then)


@pytest.mark.parametrize("C", [0.0, -1.0, np.nan, np.inf, "1"])
def test_the_budget_is_a_positive_number(C):
    with pytest.raises(ValueError, match="C must be a number > 0"):
        solve_budget_qp(np.eye(2), np.ones(2), C)
