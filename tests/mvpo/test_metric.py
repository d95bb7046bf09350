"""The metric I + C1 Lambda: both forms against the double sum of Eq. (6), missing views too."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from mvref.mvpo.metric import DualMetric, PrimalMetric
from tests import literal_mvpo as literal
from tests.literal import random_pattern

seeds = st.integers(0, 2**31)
SHAPES = [(30, (4, 6, 3)), (12, (50, 40, 60)), (40, (3, 70)), (25, (5,))]
STRENGTHS = [0.0, 1e-12, 1e-9, 1e-6, 1e-3, 1.0, 1e3]


def random_views(seed, n, widths, missing):
    """Views with zeros where they are missing, and the pattern; some samples have one view."""
    rng = np.random.default_rng(seed)
    seen = random_pattern(seed, n, len(widths)) if missing else np.ones((n, len(widths)), bool)
    scales = rng.uniform(0.3, 2.0, size=len(widths))
    views = [scale * rng.normal(size=(n, d)) for scale, d in zip(scales, widths, strict=True)]
    return [view * s[:, None] for view, s in zip(views, seen.T, strict=True)], seen


def literal_lambda(views, seen):
    """Eq. (6) and (7): the sum over samples and pairs of views that the sample has."""
    offsets = np.cumsum([0] + [view.shape[1] for view in views])
    Lambda = np.zeros((offsets[-1], offsets[-1]))
    for i in range(len(seen)):
        for j, k in itertools.combinations(range(len(views)), 2):
            if seen[i, j] and seen[i, k]:
                v = np.zeros(offsets[-1])
                v[offsets[j] : offsets[j + 1]] = views[j][i]
                v[offsets[k] : offsets[k + 1]] = -views[k][i]
                Lambda += np.outer(v, v)
    return Lambda


def grams(views):
    return [view @ view.T for view in views]


def dual_weights(metric, views, c):
    return [view.T @ beta for view, beta in zip(views, metric.coefficients(c), strict=True)]


def assert_relative(actual, expected, tolerance):
    """Equal up to a part of the largest entry."""
    assert_allclose(actual, expected, rtol=0, atol=tolerance * np.abs(expected).max())


# ------------------------------------------------------------------ the double sum


@given(seeds, st.integers(1, 4), st.booleans())
def test_lambda_is_the_sum_of_squared_disagreements(seed, V, missing):
    """Of the literal twin itself: w' Lambda w is Eq. (6) in the scores, and the form with D."""
    rng = np.random.default_rng(seed)
    views, seen = random_views(seed, 12, rng.integers(1, 4, size=V), missing)
    parts = [rng.normal(size=view.shape[1]) for view in views]
    u = np.column_stack([view @ part for view, part in zip(views, parts, strict=True)])
    total = literal.pair_sum(u, seen)
    w = np.concatenate(parts)
    assert_allclose(w @ literal_lambda(views, seen) @ w, total, atol=1e-9)
    by_counts = (seen.sum(axis=1) * (u**2).sum(axis=1) - u.sum(axis=1) ** 2).sum()
    assert_allclose(by_counts, total, atol=1e-9)


@given(seeds, st.integers(1, 4), st.booleans(), st.sampled_from([0.0, 0.01, 1.0, 100.0]))
def test_primal_solves_with_the_literal_matrix(seed, V, missing, C1):
    rng = np.random.default_rng(seed)
    views, seen = random_views(seed, 15, rng.integers(1, 5, size=V), missing)
    X, c = np.hstack(views), rng.normal(size=15)
    M = np.eye(X.shape[1]) + C1 * literal_lambda(views, seen)
    metric = PrimalMetric(views, seen, C1)
    weights = metric.weights(c)
    assert [len(part) for part in weights] == [view.shape[1] for view in views]
    assert_allclose(M @ np.concatenate(weights), X.T @ c, atol=1e-8)
    assert_allclose(metric.scores(c), X @ np.concatenate(weights), atol=1e-9)


# ------------------------------------------------------------------ primal = dual


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("n, widths", SHAPES)
@pytest.mark.parametrize("C1", STRENGTHS)
def test_primal_equals_dual(C1, n, widths, missing):
    for seed in range(3):
        views, seen = random_views(seed, n, widths, missing)
        c = np.random.default_rng(seed).choice([0, 2, -2, 7], n)
        primal, dual = PrimalMetric(views, seen, C1), DualMetric(grams(views), seen, C1)
        expected = np.concatenate(primal.weights(c))
        assert_relative(np.concatenate(dual_weights(dual, views, c)), expected, 1e-8)
        assert_relative(dual.scores(c), primal.scores(c), 1e-8)
        assert_relative(dual.scores(c), np.hstack(views) @ expected, 1e-8)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("C1", [1e-9, 1e-4, 0.3, 50.0])
def test_dual_gram_is_that_of_the_metric(C1, missing):
    """X M^-1 X' entry by entry, symmetric and positive semi-definite."""
    views, seen = random_views(3, 14, (4, 20, 6), missing)
    X = np.hstack(views)
    M = np.eye(30) + C1 * literal_lambda(views, seen)
    gram = DualMetric(grams(views), seen, C1).gram
    assert_relative(gram, X @ np.linalg.solve(M, X.T), 1e-10)
    assert_array_equal(gram, gram.T)
    assert np.linalg.eigvalsh(gram).min() > -1e-12 * np.abs(gram).max()


# ------------------------------------------------------------------ K_eff


@pytest.mark.parametrize("C1", [1e-6, 1e-2, 1.0, 100.0])
@pytest.mark.parametrize("V", [2, 3, 5])
def test_harmonic_mean_of_kernels(V, C1):
    """I + C1 K_eff = harmonic mean of the I + C1 V K_j, with all views there."""
    views, seen = random_views(5, 10, (4,) * V, missing=False)
    inverses = [np.linalg.inv(np.eye(10) + C1 * V * K) for K in grams(views)]
    harmonic = np.linalg.inv(np.mean(inverses, axis=0))
    gram = DualMetric(grams(views), seen, C1).gram
    assert_allclose(np.eye(10) + C1 * gram, harmonic, rtol=0, atol=1e-10 * harmonic.max())


@pytest.mark.parametrize("missing", [False, True])
def test_without_consistency_the_kernels_add_up(missing):
    views, seen = random_views(6, 12, (3, 4, 5), missing)
    total = np.sum(grams(views), axis=0)
    assert_allclose(DualMetric(grams(views), seen, 0.0).gram, total, atol=1e-12)
    few = [DualMetric(grams(views), seen, C1).gram for C1 in (1e-3, 1e-5, 1e-7)]
    distance = [np.abs(gram - total).max() for gram in few]
    assert distance[0] > 50 * distance[1] > 2500 * distance[2] > 0  # linear in C1


def test_in_the_limit_the_inverse_kernels_add_up():
    """C1 -> inf, K_j invertible: K_eff -> V^2 (sum_j K_j^-1)^-1, the co-regularised kernel."""
    views, seen = random_views(7, 8, (20, 25, 30), missing=False)
    limit = 9 * np.linalg.inv(np.sum([np.linalg.inv(K) for K in grams(views)], axis=0))
    strong = [DualMetric(grams(views), seen, C1).gram for C1 in (1e2, 1e4, 1e7)]
    distances = [np.abs(gram - limit).max() / limit.max() for gram in strong]
    assert distances[0] > 50 * distances[1]
    assert distances[2] < 1e-7


def test_identical_views_agree_for_every_strength():
    """Lambda's null space: K_eff is V K, and no weight is moved."""
    views, seen = random_views(8, 10, (15,), missing=False)
    for C1 in STRENGTHS:
        metric = DualMetric(grams(views * 3), np.repeat(seen, 3, axis=1), C1)
        assert_relative(metric.gram, 3 * grams(views)[0], 1e-10)


# ------------------------------------------------------------------ missing views


@pytest.mark.parametrize("C1", [1e-3, 1.0, 1e3])
def test_samples_with_one_view_disagree_with_nothing(C1):
    """Each sample has one view: no pair, so K_eff is block diagonal, whatever C1."""
    seen = np.eye(3, dtype=bool)[np.arange(12) % 3]
    rng = np.random.default_rng(0)
    views = [rng.normal(size=(12, 4)) * seen[:, [j]] for j in range(3)]
    total = np.sum(grams(views), axis=0)
    assert_relative(DualMetric(grams(views), seen, C1).gram, total, 1e-12)
    c = rng.normal(size=12)
    assert_allclose(PrimalMetric(views, seen, C1).scores(c), total @ c, atol=1e-9)


def test_a_view_of_zeros_is_not_a_missing_view():
    """A row of zeros that is there says 0, and the other view is drawn towards it."""
    views, seen = random_views(9, 10, (3, 3), missing=False)
    views[1][4] = 0.0
    gone = seen.copy()
    gone[4, 1] = False
    c = np.eye(10)[4]
    there, missing = (DualMetric(grams(views), s, 1.0).scores(c)[4] for s in (seen, gone))
    assert there < 0.9 * missing


# ------------------------------------------------------------------ forms, limits, errors


@pytest.mark.parametrize("C1", [0.0, 1.0, 1e30])
def test_one_view_needs_no_consistency(C1):
    views, seen = random_views(10, 9, (4,), missing=False)
    c = np.arange(9.0)
    primal, dual = PrimalMetric(views, seen, C1), DualMetric(grams(views), seen, C1)
    for metric, weights in ((primal, primal.weights(c)), (dual, dual_weights(dual, views, c))):
        assert_allclose(weights[0], views[0].T @ c, atol=1e-12)
        assert_allclose(metric.scores(c), views[0] @ (views[0].T @ c), atol=1e-12)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("C1", [0.0, 0.5])
def test_sparse_views(C1, missing):
    views, seen = random_views(11, 20, (5, 8, 3), missing)
    csr = [sparse.csr_matrix(view) for view in views]
    c = np.random.default_rng(1).integers(-2, 3, 20)
    dense = PrimalMetric(views, seen, C1)
    for some in (csr, [csr[0], views[1], csr[2]], [views[0], csr[1], views[2]]):
        assert_allclose(PrimalMetric(some, seen, C1).scores(c), dense.scores(c), atol=1e-10)
    for ours, theirs in zip(PrimalMetric(csr, seen, C1).weights(c), dense.weights(c), strict=True):
        assert_allclose(ours, theirs, atol=1e-10)


def test_a_strength_beyond_rounding_is_refused():
    views, seen = random_views(12, 10, (30, 30), missing=False)
    with pytest.raises(ValueError, match="C1=1e\\+25 .*too large"):
        PrimalMetric(views, seen, 1e25)
    thin, seen = random_views(12, 10, (2, 2), missing=False)
    with pytest.raises(ValueError, match="C1=1e\\+25 .*too large"):
        DualMetric(grams(thin), seen, 1e25)
