"""Rademacher complexity, the margin bound and what is printed instead, against definitions."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_moons
from sklearn.metrics.pairwise import rbf_kernel

from mvref.theory import rademacher
from mvref.theory.coverage import Coverage, Machine, coverage_study, draw_moons
from mvref.theory.gram import kernel_alignment
from mvref.theory.rademacher import (
    dyadic_level,
    empirical_complexity,
    kernel_class_bound,
    margin_bound,
    printed_bound,
    printed_complexity,
    ramp_loss,
)

seeds = st.integers(0, 2**31)
positive = st.floats(0.01, 100.0)


def moons_gram(n, gamma=1.0, seed=1):
    return rbf_kernel(make_moons(n, noise=0.25, random_state=seed)[0], gamma=gamma)


def nystrom_factor(K, landmarks):
    """F with F F' = K_nS K_SS^-1 K_Sn, through the eigenvalues above 1e-10 of the largest."""
    values, vectors = np.linalg.eigh(K[np.ix_(landmarks, landmarks)])
    kept = values > 1e-10 * values[-1]
    return K[:, landmarks] @ vectors[:, kept] / np.sqrt(values[kept])


def all_signs(n):
    return np.array(list(itertools.product([-1.0, 1.0], repeat=n)))


def exact_complexity(F, B, w0_max):
    """Eq. (13) over all sign vectors, the sup by its maximiser, one vector at a time."""
    suprema = []
    for sigma in all_signs(len(F)):
        weights = B * F.T @ sigma / np.linalg.norm(F.T @ sigma)
        w_0 = w0_max * np.sign(sigma.sum())
        suprema.append(2 / len(F) * (sigma @ (F @ weights + w_0)))
    return np.mean(suprema)


# ------------------------------------------------------------------ complexity


@pytest.mark.parametrize(
    ("n", "value", "measured"), [(50, 0.283, 0.271), (200, 0.141, 0.135), (800, 0.071, 0.067)]
)
def test_numbers_of_the_ball(n, value, measured):
    """N12: the right bound, the printed one, which does not fall, and Monte Carlo between."""
    K = moons_gram(n)
    assert_allclose(kernel_class_bound(K, 1.0), value, atol=5e-4)
    assert_allclose(printed_complexity(K, 1.0), 2.0)
    assert_allclose(printed_complexity(K, 1.0, version="repaired"), kernel_class_bound(K, 1.0))
    mean, error = empirical_complexity(K, 1.0, n_draws=1500, random_state=0)
    assert abs(mean - measured) <= 3 * math.sqrt(2) * error + 5e-4


def test_both_ends_are_reached():
    """Orthogonal samples reach the bound, two equal samples reach bound / sqrt(2)."""
    assert_allclose(exact_complexity(np.eye(6), 3.0, 0.0), kernel_class_bound(np.eye(6), 3.0))
    F = np.full((2, 1), 1.0 + 1e-9) - [[0.0], [1e-9]]  # the sum of signs is never quite 0
    least = kernel_class_bound(F, 1.0, factor=True) / math.sqrt(2)
    assert_allclose(exact_complexity(F, 1.0, 0.0), least)


@pytest.mark.parametrize("w0_max", [0.0, 0.7])
def test_monte_carlo_tends_to_the_definition(w0_max):
    F = np.random.default_rng(0).normal(size=(9, 3))
    exact = exact_complexity(F, 1.5, w0_max)
    options = {"w0_max": w0_max, "n_draws": 20_000, "random_state": 1}
    mean, error = empirical_complexity(F, 1.5, factor=True, **options)
    assert abs(mean - exact) <= 3 * error
    assert error < 0.005 * exact
    assert_allclose(empirical_complexity(F @ F.T, 1.5, **options), (mean, error), rtol=1e-9)


def test_standard_error_tells_the_spread_of_the_mean():
    K = moons_gram(40, 0.1)
    runs = np.array([empirical_complexity(K, 1.0, n_draws=50, random_state=s) for s in range(300)])
    assert_allclose(runs[:, 0].std(ddof=1), runs[:, 1].mean(), rtol=0.15)


def test_draws_in_blocks(monkeypatch):
    K = moons_gram(60)
    whole = empirical_complexity(K, 1.0, n_draws=2001, random_state=0)
    monkeypatch.setattr(rademacher, "BLOCK", 60 * 7)
    cut = empirical_complexity(K, 1.0, n_draws=2001, random_state=0)
    assert abs(whole[0] - cut[0]) <= 4 * whole[1]
    assert_allclose(whole[1], cut[1], rtol=0.15)
    assert cut == empirical_complexity(K, 1.0, n_draws=2001, random_state=0)


def test_intercept_of_the_class():
    """N13: the mean of |sum of signs| is known, and is below sqrt(n)."""
    n = 200
    exact = 2 * math.comb(n, n // 2) / 2**n
    mean, error = empirical_complexity(np.eye(n), 0.0, w0_max=1.0, n_draws=20_000, random_state=0)
    assert abs(mean - exact) <= 3 * error
    assert_allclose(exact, 0.1127, atol=5e-5)  # 0.112 in another run
    assert_allclose(kernel_class_bound(np.eye(n), 0.0, w0_max=1.0), 0.1414, atol=5e-5)


@given(seeds, positive, positive)
def test_class_bound_is_the_sum_over_the_diagonal(seed, B, w0_max):
    F = np.random.default_rng(seed).normal(size=(7, 3))
    K = F @ F.T
    expected = 2 * B / 7 * math.sqrt(sum(K[i, i] for i in range(7))) + 2 * w0_max / math.sqrt(7)
    for form, factor in ((K, False), (K.diagonal(), False), (F, True)):
        found = kernel_class_bound(form, B, w0_max=w0_max, factor=factor)
        assert_allclose(found, expected, rtol=1e-12)


@given(seeds, st.integers(1, 8), st.floats(0.05, 5), st.floats(0, 2))
def test_nystrom_classes_have_no_more_than_their_bound(seed, m, gamma, w0_max):
    """Over all signs, and with Eq. (19) for two views of one kernel: there is no factor M.

    The sup over both balls is the larger of the two, and that over convex combinations is no more.
    """
    rng = np.random.default_rng(seed)
    K = rbf_kernel(rng.normal(size=(8, 2)), gamma=gamma)
    F1, F2 = (nystrom_factor(K, rng.choice(8, m, replace=False)) for _ in range(2))
    signs, B = all_signs(8), 1.5
    lengths = [np.linalg.norm(signs @ F, axis=1) for F in (F1, F2)]
    offset = w0_max * np.abs(signs.sum(axis=1))
    one, several = (2 / 8 * (B * s + offset).mean() for s in (lengths[0], np.maximum(*lengths)))
    own = kernel_class_bound(F1, B, w0_max=w0_max, factor=True)
    whole = kernel_class_bound(K, B, w0_max=w0_max)
    assert one <= own + 1e-12 and own <= whole + 1e-9
    assert one <= several + 1e-12 and several <= whole + 1e-9
    assert one >= own / math.sqrt(2) - 1e-12  # Kahane and Khinchine, and so for |sum of signs|
    options = {"w0_max": w0_max, "n_draws": 200, "random_state": 0, "factor": True}
    mean, error = empirical_complexity(F1, B, **options)
    assert abs(mean - one) <= 6 * error + 1e-9


# ------------------------------------------------------------------ the margin bound


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=20), st.floats(0.05, 5))
def test_ramp_lies_between_two_error_rates(margins, rho):
    margins = np.array(margins)
    losses = ramp_loss(margins, rho)
    assert ((margins <= 0) <= losses).all() and (losses <= (margins < rho)).all()
    moved = ramp_loss(margins + 0.01, rho)
    assert (np.abs(moved - losses) <= 0.01 / rho + 1e-12).all()


@given(st.floats(0, 1e6))
def test_level_is_the_next_power_of_two(value):
    level, share = dyadic_level(value)
    assert level >= value and (level < 2 * value or level == 1)
    j = round(math.log2(level)) + 1
    assert share == 1 / (j * (j + 1))


def test_shares_sum_to_one():
    assert_allclose(sum(dyadic_level(2.0**j)[1] for j in range(900)), 1.0, atol=2e-3)


def literal_margin_bound(margins, B, w_0, diagonal, rho, delta):
    n = len(margins)
    ramp = sum(min(1.0, max(0.0, 1 - f / rho)) for f in margins) / n
    complexity = 2 / rho * (B / n * math.sqrt(sum(diagonal)) + w_0 / math.sqrt(n))
    return ramp + complexity + 3 * math.sqrt(math.log(2 / delta) / (2 * n))


@given(seeds, positive, st.floats(0, 10), st.floats(0.1, 10), st.floats(0.001, 0.5))
def test_margin_bound_is_its_formula(seed, B, w_0, rho, delta):
    rng = np.random.default_rng(seed)
    margins, F = 3 * rng.normal(size=11), rng.normal(size=(11, 4))
    diagonal = (F**2).sum(axis=1)
    expected = literal_margin_bound(margins, B, w_0, diagonal, rho, delta)
    options = {"rho": rho, "delta": delta, "w0_max": w_0}
    assert_allclose(margin_bound(margins, B, F @ F.T, **options), expected, rtol=1e-12)
    assert_allclose(margin_bound(margins, B, diagonal, **options), expected, rtol=1e-12)
    assert_allclose(margin_bound(margins, B, F, factor=True, **options), expected, rtol=1e-12)


@given(seeds, positive, st.just(0.0) | st.floats(0.01, 10), st.floats(0.1, 10))
def test_union_is_the_fixed_bound_at_a_level(seed, B, w_0, rho):
    """N17: the level's ball at margin 1, with the level's share of delta; none for no intercept."""
    margins = np.random.default_rng(seed).normal(size=9)
    radius, share = dyadic_level(B / rho)
    offset, other = dyadic_level(w_0 / rho) if w_0 else (0.0, 1.0)
    terms = margins / rho, radius, offset, np.ones(9), 1.0, 0.05 * share * other
    expected = literal_margin_bound(*terms)
    options = {"rho": rho, "delta": 0.05, "w0_max": w_0}
    found = margin_bound(margins, B, np.ones(9), data_dependent=True, **options)
    assert_allclose(found, expected, rtol=1e-12)
    assert found >= margin_bound(margins, B, np.ones(9), **options)


@pytest.mark.parametrize("data_dependent", [False, True])
@given(seed=seeds, B=positive, scale=st.integers(-20, 20).map(lambda k: 2.0**k))
def test_margin_bound_is_free_of_scale(data_dependent, seed, B, scale):
    """Signs are; a bound of their error that is not must fail (N11)."""
    margins = np.random.default_rng(seed).normal(size=20)
    options = {"delta": 0.05, "data_dependent": data_dependent}
    options["K"] = np.ones(20)
    one = margin_bound(margins, B, rho=0.5, w0_max=0.3, **options)
    scaled = {"rho": 0.5 * scale, "w0_max": 0.3 * scale, **options}
    assert_allclose(one, margin_bound(scale * margins, scale * B, **scaled), rtol=1e-12)


# ------------------------------------------------------------------ what is printed


def draw_random_labels(n, rng):
    return rng.uniform(-1, 1, (n, 2)), rng.choice([-1.0, 1.0], n)


def by_heart(X, y, B=1e-3):
    """A kernel so narrow that f(x_i) = B y_i / sqrt(n) and f = 0 elsewhere, rounded away from 0."""

    def score(Z):
        return B / math.sqrt(len(y)) * np.where(rbf_kernel(Z, X, gamma=1e5) @ y >= 0, 1, -1)

    return Machine(score, B, np.ones(len(X)))


@pytest.mark.parametrize("B", [20.0, 1.0, 1e-3])
def test_printed_bound_fails_and_the_margin_bound_does_not(B):
    """N11: the same signs at three scales; their true risk is 1/2."""
    rng = np.random.default_rng(3)
    (X, y), (Z, z) = draw_random_labels(400, rng), draw_random_labels(20_000, rng)
    machine = by_heart(X, y, B)
    margins, K = y * machine.score(X), machine.diagonal
    test_error = np.mean(z * machine.score(Z) < 0)
    assert (margins > 0).all() and abs(test_error - 0.5) < 0.02
    rhos = B * np.logspace(-3, 2, 60)
    best = min(margin_bound(margins, B, K, rho=rho, delta=0.01) for rho in rhos)
    assert_allclose(best, 1.245, atol=1e-3)
    printed, repaired = (
        printed_bound(0.0, B, K, delta=0.01, version=v) for v in ("printed", "repaired")
    )
    if B == 1e-3:
        assert_allclose([printed, repaired], [0.077, 0.076], atol=1e-3)
    if B == 1.0:
        assert_allclose(repaired, 0.126, atol=1e-3)
    assert (repaired < test_error) == (B <= 1)
    assert (printed < test_error) == (B < 1)


def test_printed_bound_is_its_formula():
    K = np.diag([1.0, 2.0, 5.0])
    complexities = {"printed": 3 * math.sqrt(8 / 3), "repaired": 3 * math.sqrt(8) / 3}
    for version, complexity in complexities.items():
        expected = 0.25 + complexity + math.sqrt(math.log(1 / 0.2) / 6)
        for form, factor in ((K, False), (np.sqrt(K), True)):
            options = {"delta": 0.2, "version": version, "factor": factor}
            assert_allclose(printed_bound(0.25, 3.0, form, **options), expected)


# ------------------------------------------------------------------ alignment


@given(seeds, st.booleans(), st.floats(1e-3, 1e3))
def test_alignment_is_its_definition(seed, center, scale):
    """And 1 - A is half the squared distance of the matrices after division by their norms.

    So A is at most 1, and 1 for multiples only.
    """
    rng = np.random.default_rng(seed)
    n = 8
    F1, F2 = rng.normal(size=(n, 3)), rng.normal(size=(n, 5)) + 1
    H = np.eye(n) - 1 / n if center else np.eye(n)
    K1, K2 = H @ F1 @ F1.T @ H, H @ F2 @ F2.T @ H
    expected = np.trace(K1.T @ K2) / math.sqrt(np.trace(K1.T @ K1) * np.trace(K2.T @ K2))
    apart = ((K1 / np.linalg.norm(K1) - K2 / np.linalg.norm(K2)) ** 2).sum() / 2
    found = kernel_alignment(F1 @ F1.T, scale * F2 @ F2.T, center=center)
    assert_allclose([found, 1 - found], [expected, apart], rtol=1e-9)
    assert 0 <= expected < 1 - 1e-9  # they are not proportional
    pairs = ((F1, F2, expected), (F2, F1, expected), (F1, -scale * F1, 1.0))
    for first, second, value in pairs:
        found = kernel_alignment(first, second, center=center, factor=True)
        assert_allclose(found, value, rtol=1e-9)


def test_alignment_does_not_see_label_signs():
    """N23: Eq. (21) of the signed matrices is that of the unsigned ones, unless centred."""
    rng = np.random.default_rng(0)
    F1, F2 = rng.normal(size=(30, 3)) + 1, rng.normal(size=(30, 4)) + 1
    y = rng.choice([-1.0, 1.0], 30)[:, None]
    plain = kernel_alignment(F1, F2, factor=True)
    assert_allclose(kernel_alignment(y * F1, y * F2, factor=True), plain, rtol=1e-12)
    centred = [kernel_alignment(s * F1, s * F2, factor=True, center=True) for s in (1, y)]
    assert abs(centred[0] - centred[1]) > 0.01


@pytest.mark.parametrize(("gamma", "value"), [(0.01, 1.0), (1.0, 0.984), (100.0, 0.2765)])
def test_alignment_of_two_nystrom_views(gamma, value):
    """N23: it tells the width of the kernel; the data and landmarks of reference values."""
    rng = np.random.default_rng(0)
    landmarks = [rng.choice(120, 15, replace=False) for _ in range(2)]
    K = moons_gram(120, gamma, seed=0)
    factors = [nystrom_factor(K, S) for S in landmarks]
    assert_allclose(kernel_alignment(*factors, factor=True), value, atol=5e-4)
    if gamma == 1.0:
        assert_allclose(kernel_alignment(*factors, factor=True, center=True), 0.976, atol=5e-4)


def test_alignment_of_a_narrow_kernel_counts_common_landmarks():
    """N23: |S1 and S2| / m, which is m / n in the mean."""
    n, m, rng, seen = 40, 10, np.random.default_rng(0), []
    for _ in range(300):
        S1, S2 = (rng.choice(n, m, replace=False) for _ in range(2))
        F1, F2 = (nystrom_factor(np.eye(n), S) for S in (S1, S2))
        seen.append(kernel_alignment(F1, F2, factor=True))
        assert_allclose(seen[-1], len(set(S1) & set(S2)) / m, atol=1e-12)
    assert abs(np.mean(seen) - m / n) <= 3 * np.std(seen) / math.sqrt(300)


# ------------------------------------------------------------------ coverage

GRID = np.stack(np.meshgrid([-1.0, 0.0, 1.0, 2.0], [-0.5, 0.25, 1.0]), -1).reshape(-1, 2)


def ridge_on_grid(X, y):
    """Ridge with an intercept on 12 landmarks that were there before the sample."""

    def features(Z):
        return rbf_kernel(Z, GRID, gamma=1.0) @ root

    values, vectors = np.linalg.eigh(rbf_kernel(GRID, gamma=1.0))
    root = vectors / np.sqrt(values)
    F = np.column_stack([features(X), np.ones(len(X))])
    *beta, w_0 = np.linalg.solve(F.T @ F + np.diag([10.0] * 12 + [0.0]), F.T @ y)
    return Machine(lambda Z: features(Z) @ beta + w_0, np.linalg.norm(beta), np.ones(len(X)), w_0)


def test_margin_bound_covers_and_says_something():
    """At least 95 % of 200 repetitions, of a bound that is below 1."""
    sizes = {"n_samples": 3000, "n_test": 2000}
    study = coverage_study(ridge_on_grid, rho=0.5, delta=0.05, random_state=0, **sizes)
    assert len(study.bounds) == len(study.test_errors) == 200
    assert study.violations <= 10
    assert study.vacuous == 0 and study.mean_bound < 0.8
    assert 0.03 < study.mean_test_error < 0.12


@pytest.mark.parametrize("version", ["printed", "repaired"])
def test_study_finds_the_bound_that_fails(version):
    options = {"draw": draw_random_labels, "n_samples": 150, "n_test": 500, "n_repeats": 40}

    def printed(machine, margins):
        error = np.mean(margins <= 0)
        return printed_bound(error, machine.norm, machine.diagonal, delta=0.05, version=version)

    failing = coverage_study(by_heart, bound=printed, random_state=0, **options)
    assert failing.violations == 40 and failing.vacuous == 0
    holding = coverage_study(by_heart, rho=1e-3, random_state=0, **options)
    assert holding.violations == 0
    assert_array_equal(failing.test_errors, holding.test_errors)
    assert abs(holding.mean_test_error - 0.5) < 0.02


def test_study_counts():
    study = Coverage(np.array([0.5, 0.2, 1.0, 1.5]), np.array([0.5, 0.3, 0.1, 0.1]))
    assert study.violations == 1 and study.vacuous == 2
    assert_allclose([study.mean_bound, study.mean_test_error], [0.8, 0.25])
    # a score of 0 is an error of both classes, as in the bounds, whose ramp loss is 1 there
    study = coverage_study(lambda X, y: Machine(lambda Z: 0.0 * Z[:, 0], 1.0, 0.0 * y), n_repeats=2)
    assert study.mean_test_error == 1.0


def test_default_bound_takes_norm_and_intercept_from_the_machine():
    seen = []

    def constant(X, y):
        seen.append(y)
        return Machine(lambda Z: np.full(len(Z), -0.75), 3.0, np.full(len(X), 4.0), -0.75)

    study = coverage_study(constant, n_samples=30, n_repeats=1, rho=2.0, delta=0.1, random_state=0)
    expected = literal_margin_bound(-0.375 * seen[0], 2.0, 1.0, np.full(30, 4.0), 1.0, 0.1 / 12)
    assert_allclose(study.bounds, expected)


def test_study_is_repeatable_and_draws_anew():
    options = {"n_samples": 40, "n_test": 50, "n_repeats": 5}
    one, two, other = (coverage_study(ridge_on_grid, random_state=s, **options) for s in (0, 0, 1))
    assert_array_equal([one.bounds, one.test_errors], [two.bounds, two.test_errors])
    assert len(set(one.bounds)) == 5 and (one.bounds != other.bounds).all()


def test_moons_have_independent_labels():
    rng = np.random.RandomState(0)
    counts = [(draw_moons(100, rng)[1] == 1).sum() for _ in range(400)]
    assert_allclose(np.var(counts), 25, rtol=0.25)  # binomial, not the constant 50
    assert_allclose(np.mean(counts), 50, atol=1)


EYE = np.eye(3)
GOOD = {"margins": np.ones(4), "B": 1.0, "K": np.eye(4), "rho": 1.0, "delta": 0.05}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"B": -1.0}, "B must be a number >= 0, got -1.0"),
        ({"B": np.nan}, "B must be a number >= 0, got nan"),
        ({"rho": 0.0}, "rho must be a number > 0, got 0.0"),
        ({"delta": 1.0}, "delta must be a probability below 1, got 1.0"),
        ({"delta": 0.0}, "delta must be a number > 0, got 0.0"),
        ({"w0_max": -0.1}, "w0_max must be a number >= 0"),
        ({"margins": np.ones(3)}, r"margins must be 4 finite numbers.*\(3,\)"),
        ({"margins": np.array([1, 1, 1, np.nan])}, "margins must be 4 finite numbers"),
        ({"K": np.ones((4, 3))}, r"K must be square \(n, n\), or set factor=True .*\(4, 3\)"),
        ({"K": np.ones(4), "factor": True}, r"K must be a factor \(n, r\), got shape \(4,\)"),
        ({"K": np.diag([1.0, 1.0, 1.0, np.inf])}, "K must be finite"),
        ({"K": np.array([1.0, 1.0, np.nan, 1.0])}, "K must be finite"),
        ({"K": np.array([1.0, 1.0, -2.0, 1.0])}, "K must have no negative diagonal entry, got -2"),
        ({"K": np.array([])}, r"K must be square .* got shape \(0,\)"),
    ],
)
def test_bad_bounds(change, message):
    assert margin_bound(**GOOD) > 0
    with pytest.raises(ValueError, match=message):
        margin_bound(**GOOD | change)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: empirical_complexity(EYE, 1.0, n_draws=1), "n_draws must be an integer >= 2"),
        (lambda: empirical_complexity(1 - 0.9 * EYE, 1.0), "K must be positive semi-definite"),
        (lambda: empirical_complexity(np.ones(3), 1.0), "K must be square"),
        (lambda: printed_complexity(EYE, 1.0, version="new"), "version must be one of"),
        (lambda: printed_bound(2, 1.0, EYE, delta=0.1), "train_error must be .* <= 1, got 2"),
        (lambda: dyadic_level(-1.0), "value must be a number >= 0"),
        (lambda: coverage_study(ridge_on_grid, n_repeats=0), "n_repeats must be .* >= 1, got 0"),
        (lambda: kernel_alignment(EYE, np.eye(4)), "same samples, got 3 and 4"),
        (lambda: kernel_alignment(EYE, 0 * EYE), "K2 is 0: it has no direction"),
        (lambda: kernel_alignment(np.ones((3, 2)), EYE), "K1 must be square"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("value", [1.0, 0.1, 1e8])
def test_equal_entries_have_no_direction_after_centring(value):
    for width, factor in ((7, False), (2, True)):
        with pytest.raises(ValueError, match="K1 is 0 after centring"):
            kernel_alignment(np.full((7, width), value), np.eye(7), center=True, factor=factor)
