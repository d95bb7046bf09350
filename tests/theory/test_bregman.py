"""Divergences and the bound of one step of MwMvC2: identities, minimisations, random problems."""

from decimal import Decimal, localcontext
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose
from scipy.optimize import linprog, minimize
from scipy.special import expit, logit

from mvref.theory.bregman import (
    auxiliary_bound,
    divergence,
    generic_divergence,
    guaranteed_decrease,
    legendre,
    log_odds,
    logistic_loss,
    loss_as_divergence,
    negative_binary_entropy,
    normalised_loss,
    optimal_delta,
    pythagorean_gap,
    step_scale,
    weighted_votes,
)
from tests.literal_mwmvc2 import signed_weights

SEEDS = st.integers(0, 2**32 - 1)
ONES, HALF = [np.ones((2, 1))], [0.5, 0.5]


def vectors(low, high, length=6):
    return arrays(float, length, elements=st.floats(low, high))


def random_voters(rng, m, sizes, kind="confidences"):
    """Matrices with entries in [-1, 1]: confidences, votes, or votes with missing views."""
    if kind == "confidences":
        return [rng.uniform(-1, 1, size=(m, n)) for n in sizes]
    Ms = [np.where(rng.random((m, n)) < 0.6, 1.0, -1.0) for n in sizes]
    if kind == "missing":
        for M in Ms:
            M[rng.random(m) < 0.4] = 0.0
    return Ms


def combine(Ms, rho, pi):
    return sum(rho_v * M @ pi_v for rho_v, M, pi_v in zip(rho, Ms, pi, strict=True))


def precise_loss(z):
    """Sum of ln(1 + e^-z_i) in arithmetic of 400 digits."""
    with localcontext() as context:
        context.prec = 400
        return float(sum((1 + (-Decimal(z_i)).exp()).ln() for z_i in z))


# Eqs. (3) and (4)


@given(p=vectors(0, 1), q=vectors(1e-6, 1 - 1e-6))
def test_generic_divergence_of_the_entropy_is_the_closed_form(p, q):
    generic = generic_divergence(negative_binary_entropy, log_odds, p, q)
    assert_allclose(divergence(p, q), generic, atol=1e-12, rtol=1e-12)


def test_log_odds_is_the_gradient_of_the_entropy():
    q, step = np.linspace(0.05, 0.95, 7), 1e-6
    numerical = [
        (negative_binary_entropy(q + e) - negative_binary_entropy(q - e)) / (2 * step)
        for e in step * np.eye(7)
    ]
    assert_allclose(log_odds(q), numerical, atol=1e-8)


@given(p=vectors(0, 1), q=vectors(0, 1), t=st.floats(0, 1), other=vectors(0, 1))
def test_divergence_is_non_negative_convex_and_mirrored(p, q, t, other):
    assert divergence(q, q) == 0
    # Pinsker: twice the squared distance is a lower bound, so D = 0 only for p = q
    D = divergence(p, q)
    assert D >= 0 and D >= 2 * np.sum((p - q) ** 2) - 1e-12
    inside = np.clip(q, 1e-9, 1 - 1e-9)
    first, second = divergence(p, inside), divergence(other, inside)
    assert divergence(t * p + (1 - t) * other, inside) <= t * first + (1 - t) * second + 1e-9
    # in exact arithmetic D(1-p || 1-q) = D(p || q); eighths make 1 - p exact
    p, q = np.round(8 * p) / 8, np.clip(np.round(8 * q), 1, 7) / 8
    assert_allclose(divergence(1 - p, 1 - q), divergence(p, q), rtol=1e-12, atol=1e-15)


def test_divergence_of_neighbours_is_not_negative():
    """Rounding alone makes the terms of Eq. (4) negative here."""
    for p in (0.6369616873214543, 0.033585575305464355, 0.42268722119765845):
        assert 0 <= divergence([p], [np.nextafter(p, 1)]) < 1e-15


@pytest.mark.parametrize(
    ("p", "q", "expected"),
    [
        (0.0, 0.0, 0.0),
        (1.0, 1.0, 0.0),
        (0.0, 1.0, np.inf),
        (1.0, 0.0, np.inf),
        (0.5, 0.0, np.inf),
        (0.5, 1.0, np.inf),
        (5e-324, 0.0, np.inf),
        (0.0, 0.5, np.log(2)),
        (1.0, 0.25, np.log(4)),
        (1.0, 5e-324, 1074 * np.log(2)),
        (0.0, 1e-20, 1e-20),
        (0.25, 0.5, 0.25 * np.log(0.25 / 0.5) + 0.75 * np.log(0.75 / 0.5)),
    ],
)
def test_divergence_on_the_boundary_and_inside(p, q, expected):
    assert_allclose(divergence([p], [q]), expected, rtol=1e-14)
    assert_allclose(divergence([p, 0.5], [q, 0.5]), expected, rtol=1e-14)


GENERATORS = {
    "squared norm": (lambda p: p @ p, lambda q: 2 * q),
    "entropy": (lambda p: p @ np.log(p) - p.sum(), np.log),
    "exponential": (lambda p: np.exp(p).sum(), np.exp),
    "binary entropy": (negative_binary_entropy, log_odds),
}


@pytest.mark.parametrize("name", GENERATORS)
@given(a=vectors(0.01, 0.99), b=vectors(0.01, 0.99), c=vectors(0.01, 0.99))
def test_three_point_identity(name, a, b, c):
    """D(a||c) = D(a||b) + D(b||c) + <grad F(b) - grad F(c), a - b> for every F."""
    F, gradient = GENERATORS[name]

    def D(x, y):
        return generic_divergence(F, gradient, x, y)

    rest = (gradient(b) - gradient(c)) @ (a - b)
    assert_allclose(D(a, c), D(a, b) + D(b, c) + rest, atol=1e-11)
    assert D(a, b) >= -1e-12
    if name == "squared norm":
        assert_allclose(D(a, b), np.sum((a - b) ** 2), atol=1e-12)
    if name == "binary entropy":
        assert_allclose(pythagorean_gap(a, b, c), rest, atol=1e-11)


# Eq. (5)


@given(q=vectors(0.05, 0.95), r=vectors(-2, 2), s=vectors(-2, 2))
def test_legendre_is_optimal_and_a_semigroup(q, r, s):
    p = legendre(q, r)
    assert_allclose(logit(p) - logit(q) + r, 0, atol=1e-12)
    assert_allclose(p, q * np.exp(-r) / (1 - q + q * np.exp(-r)), rtol=1e-12)
    assert_allclose(legendre(legendre(q, r), s), legendre(q, r + s), atol=1e-12)
    assert_allclose(legendre(0.5, r), 1 / (1 + np.exp(r)), atol=1e-15)


def test_legendre_does_not_overflow():
    r = np.array([800.0, -800.0, 1e300, -1e300])
    assert_allclose(legendre(0.3, r), [0, 1, 0, 1], atol=1e-300)
    odds = 1e-300 * np.exp(690)
    assert_allclose(legendre([1e-300], [-690.0]), [odds / (1 + odds)], rtol=1e-12)


# Eqs. (2) and (6)


@pytest.mark.parametrize("size", [1e-3, 1, 5, 12, 29.9, 30.1, 36, 40, 700, 760, 1000])
def test_loss_is_a_divergence_to_twelve_digits(size):
    for z in ([size], [-size], [size, -size, 0.0], [size] * 7):
        exact = precise_loss(z)
        assert_allclose(loss_as_divergence(z), exact, rtol=1e-12)
        assert_allclose(logistic_loss(z), exact, rtol=1e-12)


@given(vectors(-30, 30))
def test_both_sides_of_equation_6(z):
    assert_allclose(loss_as_divergence(z), logistic_loss(z), rtol=1e-12)
    # and literally, as far as the float q has digits enough
    z = z / 6
    assert_allclose(divergence(np.zeros(6), legendre(0.5, z)), logistic_loss(z), rtol=1e-12)


def test_why_equation_6_is_mirrored_and_left_at_30():
    """The literal left side: 1 - q has lost its digits at z = -25, and q is 1 at z = -40."""
    literal = divergence([0.0], legendre(0.5, [-25.0]))
    assert 1e-9 < abs(literal / precise_loss([-25.0]) - 1) < 1e-5
    assert divergence([0.0], legendre(0.5, [-40.0])) == np.inf
    assert loss_as_divergence([-40.0]) == 40.0


@given(vectors(-50, 50))
def test_normalised_loss_bounds_the_training_error(z):
    assert_allclose(normalised_loss(z), np.mean(np.log1p(np.exp(-z))) / np.log(2), rtol=1e-12)
    assert normalised_loss(z) >= np.mean(z <= 0)


# The step: W+-, delta, N and the bound


@pytest.mark.parametrize("kind", ["confidences", "votes", "missing"])
def test_weighted_votes_against_loops(kind):
    rng = np.random.default_rng(1)
    Ms, q = random_voters(rng, 9, (3, 1, 4), kind), rng.random(9)
    W_plus, W_minus = weighted_votes(Ms, q)
    for M, plus, minus in zip(Ms, W_plus, W_minus, strict=True):
        assert_allclose([plus, minus], signed_weights(M, q), atol=1e-14)
        assert_allclose(plus - minus, M.T @ q, atol=1e-14)  # r
        assert_allclose(plus + minus, np.abs(M).T @ q, atol=1e-14)  # Q


@given(seed=SEEDS)
def test_delta_is_the_inverse_hyperbolic_tangent_and_the_minimiser(seed):
    rng = np.random.default_rng(seed)
    Ms, q, rho = random_voters(rng, 40, (2, 3)), rng.uniform(0.1, 0.9, 40), rng.dirichlet([1, 1])
    delta = optimal_delta(*weighted_votes(Ms, q))
    for M, delta_v in zip(Ms, delta, strict=True):
        assert_allclose(delta_v, np.arctanh((M.T @ q) / (np.abs(M).T @ q)), atol=1e-12)
    least = auxiliary_bound(Ms, rho, q, delta)
    assert_allclose(least, -guaranteed_decrease(Ms, rho, q), atol=1e-12)
    for _ in range(5):
        other = [d + rng.normal(scale=0.3, size=d.shape) for d in delta]
        assert least <= auxiliary_bound(Ms, rho, q, other) + 1e-12
    for fraction in (0.01, 0.3, 0.99):  # a smoothed delta keeps the promise not to rise
        assert auxiliary_bound(Ms, rho, q, [fraction * d for d in delta]) <= 1e-12


def test_delta_of_voters_that_are_perfect_useless_or_silent():
    delta = optimal_delta([[2.0, 0.0, 1.5, 0.0]], [[0.0, 2.0, 1.5, 0.0]])[0]
    assert_allclose(delta, [np.inf, -np.inf, 0.0, 0.0])


def random_step(seed):
    """Any problem: missing views, a view without weight, margins and delta of any size."""
    rng = np.random.default_rng(seed)
    m, sizes = rng.integers(1, 15), rng.integers(1, 6, size=rng.integers(1, 5))
    Ms = random_voters(rng, m, sizes, rng.choice(["confidences", "votes", "missing"]))
    Ms = [np.round(M) if rng.random() < 0.2 else M for M in Ms]
    rho = rng.dirichlet(np.ones(len(sizes)))
    if len(sizes) > 1 and rng.random() < 0.5:
        rho[rng.integers(len(sizes))] = 0.0
        rho /= rho.sum()
    z = rng.normal(scale=10 ** rng.uniform(-1, 1), size=m)
    delta = [rng.normal(scale=10 ** rng.uniform(-2, 1), size=n) for n in sizes]
    return Ms, rho, z, delta


@settings(max_examples=600)
@given(seed=SEEDS)
def test_corrected_bound_is_a_bound(seed):
    """Errata B1, B2: for every delta, at fixed rho, with the step divided by N."""
    Ms, rho, z, delta = random_step(seed)
    q, N = expit(-z), step_scale(Ms, rho)
    best = [np.clip(d, -50, 50) for d in optimal_delta(*weighted_votes(Ms, q))]
    for step, scale in ((delta, N), (best, N), (best, 3 * N)):  # any larger scale is as good
        after = logistic_loss(z + combine(Ms, rho, step) / scale)
        bound = auxiliary_bound(Ms, rho, q, step, scale=None if scale == N else scale)
        assert after <= logistic_loss(z) + bound + 1e-9 * (1 + logistic_loss(z))


def test_printed_bound_is_none():
    """Of 600 random steps the printed A, full step and same rho, fails in four of five."""
    failures = 0
    for seed in range(600):
        Ms, rho, z, delta = random_step(seed)
        change = logistic_loss(z + combine(Ms, rho, delta)) - logistic_loss(z)
        failures += change > auxiliary_bound(Ms, rho, expit(-z), delta, version="printed") + 1e-9
    assert failures > 480  # 511 when this was written


def test_bound_fails_without_the_scale():
    """Erratum B2: N is needed, and nothing much smaller does. Copies of one voter, 3 of 4 right."""
    for n in (5, 10, 40):
        Ms, rho, z = [np.tile([[1.0], [1.0], [1.0], [-1.0]], (1, n))], [1.0], np.zeros(4)
        delta = optimal_delta(*weighted_votes(Ms, expit(-z)))
        for scale, holds in ((1.0, False), (n / 3, False), (float(n), True)):
            change = logistic_loss(z + combine(Ms, rho, delta) / scale) - logistic_loss(z)
            bound = auxiliary_bound(Ms, rho, expit(-z), delta, scale=scale)
            assert (change <= bound) == holds


@given(seed=SEEDS)
def test_bound_touches_the_loss_to_first_order(seed):
    """At delta = 0 bound and change have one slope, -(1/N) sum_v rho_v <r_v, delta_v>."""
    Ms, rho, z, delta = random_step(seed)
    N, q, step = step_scale(Ms, rho), expit(-z), 1e-6
    delta = [d / (1 + np.abs(d).max()) for d in delta]
    slopes = []
    for t in (step, -step):
        h = t * combine(Ms, rho, delta) / N
        bound = auxiliary_bound(Ms, rho, q, [t * d for d in delta])
        # ln(1 + e^-(z+h)) - ln(1 + e^-z) without cancellation
        slopes.append((np.log1p(q * np.expm1(-h)).sum() / t, bound / t))
    of_loss, of_bound = np.mean(slopes, axis=0)
    assert_allclose(of_loss, -q @ combine(Ms, rho, delta) / N, atol=1e-7)
    assert_allclose(of_bound, of_loss, atol=1e-7)


def test_bound_says_infinity_and_not_nan():
    Ms, q = [np.array([[1.0, 1.0], [1.0, -1.0]])], HALF
    for delta, expected in (([900.0, 0.0], -1.0), ([-900.0, 0.0], np.inf), ([0.0, 900.0], np.inf)):
        assert_allclose(auxiliary_bound(Ms, [1.0], q, [delta], scale=1), expected)
    assert auxiliary_bound(Ms, [1.0], q, [[0.0, 900.0]], version="printed") == -np.inf
    assert auxiliary_bound(Ms * 2, [1.0, 0.0], q, [[0.0, 0.0], [0.0, 900.0]]) == 0.0


def test_scale_counts_the_votes_that_are_cast():
    Ms = [np.ones((3, 4)), -np.ones((3, 2))]
    assert step_scale(Ms, [0.25, 0.75]) == 2.5
    Ms[0][:] = 0  # the first view is missing everywhere
    assert step_scale(Ms, [0.25, 0.75]) == 1.5
    assert step_scale(Ms, [0.9, 0.1]) == 1.0


# Pythagoras and duality (Section 3.1)


def logistic_fit(M, target=0.0):
    """q* = argmin of D(target||q) over Q: BFGS, then Newton steps to full precision."""
    target = np.broadcast_to(target, len(M))

    def objective(x):
        z = M @ x
        return np.logaddexp(0, -z).sum() + target @ z, M.T @ (target - expit(-z))

    x = minimize(objective, np.zeros(M.shape[1]), jac=True, method="BFGS").x
    for _ in range(5):
        q = expit(-M @ x)
        x = x - np.linalg.solve((M.T * (q * (1 - q))) @ M, M.T @ (target - q))
    return x, expit(-M @ x)


def overlapping_sample(seed, m=30, n=4):
    """A matrix of votes that no weights separate."""
    M = np.where(np.random.default_rng(seed).random((m, n)) < 0.6, 1.0, -1.0)
    M[1] = -M[0]
    return M


@pytest.mark.parametrize("seed", range(4))
def test_pythagoras_at_the_logistic_fit(seed):
    rng, M = np.random.default_rng(100 + seed), overlapping_sample(seed)
    x, q_star = logistic_fit(M)
    assert np.abs(M.T @ q_star).max() < 1e-12
    other = expit(-M @ (x + rng.normal(size=4)))
    assert_allclose(pythagorean_gap(np.zeros(30), q_star, other), 0, atol=1e-11)
    # another p with p'M = 0 inside the cube: q* plus a direction of the null space of M'
    kernel = np.linalg.svd(M.T)[2][4:]
    direction = rng.normal(size=len(kernel)) @ kernel
    room = np.where(direction > 0, 1 - q_star, q_star) / np.abs(direction)
    p = q_star + 0.9 * room.min() * direction
    assert p.min() > 0 and p.max() < 1 and np.linalg.norm(p - q_star) > 0.1
    assert_allclose(pythagorean_gap(p, q_star, other), 0, atol=1e-11)
    # a p outside of the set has a gap, in the size that the general formula says
    p = rng.random(30)
    gap = (M @ (np.linalg.lstsq(M, -logit(other), rcond=None)[0] - x)) @ (p - q_star)
    assert abs(gap) > 1e-2
    assert_allclose(pythagorean_gap(p, q_star, other), gap, atol=1e-11)


@pytest.mark.parametrize("target", ["zero", "inside"])
@pytest.mark.parametrize("seed", range(3))
def test_the_two_problems_have_one_solution(seed, target):
    """min D(p||q0) over {p'M = p~'M} and min D(p~||q) over Q, solved independently."""
    rng, M = np.random.default_rng(seed), overlapping_sample(seed, m=12, n=3)
    p_tilde = np.zeros(12) if target == "zero" else rng.random(12)
    q0 = np.full(12, 0.5)
    _, q_star = logistic_fit(M, p_tilde)
    primal = minimize(
        lambda p: divergence(np.clip(p, 0, 1), q0),
        np.full(12, 0.4),
        jac=lambda p: logit(np.clip(p, 1e-12, 1 - 1e-12)) - logit(q0),
        bounds=[(0, 1)] * 12,
        constraints={"type": "eq", "fun": lambda p: (p - p_tilde) @ M, "jac": lambda _: M.T},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert_allclose(primal.x, q_star, atol=1e-5)
    # and so the distances add up: D(p~||q0) = D(p~||q*) + D(q*||q0)
    assert_allclose(pythagorean_gap(p_tilde, q_star, q0), 0, atol=1e-12)


def test_separating_voters_leave_only_p_equal_to_zero():
    """Gordan: either some vote is right everywhere, or some p >= 0 but 0 has p'M = 0."""

    def largest_sum(M):
        """Largest sum of p over the p in [0, 1]^m with p'M = 0."""
        balance = {"A_eq": M.T, "b_eq": np.zeros(M.shape[1])}
        return -linprog(-np.ones(len(M)), bounds=[(0, 1)] * len(M), **balance).fun

    M = np.array([[1.0, -1.0], [1.0, 1.0], [1.0, 1.0]])  # the first voter is always right
    assert abs(largest_sum(M)) < 1e-9
    assert largest_sum(overlapping_sample(0)) > 2
    # q* = 0 is approached and not attained
    losses = [divergence(np.zeros(3), expit(-t * M[:, 0])) for t in (1, 10, 30)]
    assert losses[0] > losses[1] > losses[2] > 0


bound_of = partial(auxiliary_bound, ONES, [1.0], HALF)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: divergence([0.5, 1.5], [0.5, 0.5]), "p must lie between 0 and 1"),
        (lambda: divergence([0.5], [-0.1]), "q must lie between 0 and 1"),
        (lambda: divergence([0.5], [np.nan]), "q must be a non-empty vector of finite"),
        (lambda: divergence([0.5], [0.5, 0.5]), "p and q must agree in length, got 1 and 2"),
        (lambda: divergence([], []), "p must be a non-empty"),
        (lambda: divergence(0.5, 0.5), r"p must be .* got shape \(\)"),
        (lambda: negative_binary_entropy([2.0]), "p must lie between"),
        (lambda: log_odds([0.0, 0.5]), "q must lie strictly between 0 and 1"),
        (lambda: generic_divergence(np.sum, np.ones_like, [1.0], [1.0, 2.0]), "agree in length"),
        (lambda: generic_divergence(lambda p: np.inf, np.ones_like, [1.0], [1.0]), "F must be"),
        (lambda: legendre([0.0], [1.0]), "q must lie strictly"),
        (lambda: legendre(1.0, [1.0]), "q must lie strictly"),
        (lambda: legendre([0.5], [np.inf]), "r must be a non-empty vector of finite"),
        (lambda: legendre([0.5, 0.5], [1.0]), "q and r must agree"),
        (lambda: logistic_loss([np.nan]), "margins must be"),
        (lambda: normalised_loss([]), "margins must be"),
        (lambda: loss_as_divergence([np.inf]), "margins must be"),
        (lambda: weighted_votes([], [0.5]), "Ms must be matrices"),
        (lambda: weighted_votes([[1.0, 2.0]], [0.5]), "Ms must be matrices"),
        (lambda: weighted_votes([np.ones((2, 1)), np.ones((3, 1))], [0.5] * 2), "Ms must be"),
        (lambda: weighted_votes([2 * np.ones((2, 1))], [0.5, 0.5]), r"Ms\[0\] must have entries"),
        (lambda: weighted_votes([np.full((2, 1), np.nan)], [0.5, 0.5]), r"Ms\[0\] must have"),
        (lambda: weighted_votes(ONES, [0.5] * 3), "q must have one entry per row of Ms, 2; got 3"),
        (lambda: step_scale(ONES, [0.5, 0.5]), "rho must be 1 weights >= 0 with sum 1"),
        (lambda: step_scale(ONES * 2, [1.5, -0.5]), "rho must be 2 weights"),
        (lambda: step_scale(ONES * 2, [0.5, 0.4]), "with sum 0.9"),
        (lambda: optimal_delta([[1.0]], [[-1.0]]), "must not be negative"),
        (lambda: optimal_delta([[1.0]], [[1.0, 2.0]]), r"W_plus\[0\] and W_minus\[0\] must agree"),
        (lambda: optimal_delta([[1.0]], []), "W_plus and W_minus must agree"),
        (lambda: bound_of([[1.0, 2.0]]), "delta must have vectors"),
        (lambda: bound_of([]), "delta must have vectors"),
        (lambda: bound_of([[np.inf]]), r"delta\[0\] must be"),
        (lambda: bound_of([[1.0]], scale=0), "scale must be"),
        (lambda: bound_of([[1.0]], version="new"), "version must be one of"),
        (lambda: bound_of([[1.0]], scale=2, version="printed"), "scale must be None"),
        (lambda: guaranteed_decrease(ONES, [1.0], HALF, scale=-1), "scale must be"),
        (lambda: pythagorean_gap([0.0], [0.0], [0.5]), "q_star must lie strictly"),
        (lambda: pythagorean_gap([0.0], [0.5], [1.0]), "q must lie strictly"),
    ],
)
def test_bad_input_names_the_argument(call, message):
    with pytest.raises(ValueError, match=message):
        call()
