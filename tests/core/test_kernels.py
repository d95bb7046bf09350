"""Similarities: formulas, ranges, precomputed distances and Gram matrices."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import linear_kernel, polynomial_kernel

from mvref.core.kernels import (
    fit_similarity,
    one_per_view,
    rbf,
    rbf_of_distances,
    squared_distances,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(20, 4))
ROWS = np.array([3, 11, 7])
ALL = np.arange(20)
D = cdist(X, X)


@pytest.mark.parametrize("left", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("right", [np.asarray, sparse.csr_matrix])
def test_squared_distances_and_rbf_by_loops(left, right):
    Z = X[ROWS] + 0.1
    by_loops = np.array([[sum((a - b) ** 2) for b in Z] for a in X])
    got = squared_distances(left(X), right(Z))
    assert isinstance(got, np.ndarray)
    assert_allclose(got, by_loops, atol=1e-12)
    assert_allclose(rbf(left(X), right(Z), 0.3), np.exp(-0.3 * by_loops), atol=1e-13)


@pytest.mark.parametrize("offset", [0.0, 1e6, 1e7, 1e8, 1.6e9])
def test_an_offset_costs_no_digits(offset):
    """Of the distances; the numbers themselves are rounded to `offset` times 1e-16."""
    there = X + [offset, -offset, 0.0, 1.0]
    got, direct = rbf(there, there[ROWS], 0.3), np.exp(-0.3 * cdist(there, there[ROWS]) ** 2)
    assert_allclose(got, direct, rtol=1e-12, atol=1e-14)
    assert_array_equal(fit_similarity("rbf", 0.3, there, ROWS, ALL)(there), got)
    assert_allclose(got[ROWS, range(3)], 1.0, rtol=1e-13)


@given(arrays(float, (5, 3), elements=st.floats(-1e6, 1e6)), st.floats(1e-6, 1e3))
def test_rbf_is_in_the_unit_interval_and_one_on_itself(points, gamma):
    """Rounding must not push a squared distance below zero, hence a similarity above one."""
    assert (squared_distances(points, points) >= 0).all()
    K = rbf(points, points, gamma)
    assert ((K >= 0) & (K <= 1)).all()


def test_inputs_are_not_changed():
    before, distances = X.copy(), D.copy()
    rbf(X, X[ROWS], 0.5)
    rbf_of_distances(D, 0.5)
    assert_array_equal(X, before)
    assert_array_equal(D, distances)


def test_default_gamma_is_one_over_the_number_of_features():
    mu = fit_similarity("rbf", None, X, ROWS, ALL)
    assert mu.gamma == 1 / 4 and len(mu) == 3 and mu.range == (0.0, 1.0)
    assert_allclose(mu(X), np.exp(-(cdist(X, X[ROWS]) ** 2) / 4))
    assert fit_similarity("rbf", 0.7, X, ROWS, ALL).gamma == 0.7
    with pytest.raises(AttributeError):  # it is fixed
        mu.gamma = 3.0


def test_precomputed_distances_equal_rbf_on_features():
    from_features = fit_similarity("rbf", 0.4, X, ROWS, ALL)(X)
    from_distances = fit_similarity("precomputed", 0.4, D, ROWS, ALL)(D)
    assert_allclose(from_distances, from_features, atol=1e-12)


def test_gamma_mean_is_one_over_the_mean_training_distance():
    """-d^2 / mean(d), the mean over the complete training block and nothing else."""
    complete = np.arange(5, 15)
    mu = fit_similarity("precomputed", "mean", D, ROWS, complete)
    block = [D[i, j] for i in complete for j in complete]
    assert_allclose(mu.gamma, 1 / np.mean(block))
    assert_allclose(mu(D), np.exp(-(D[:, ROWS] ** 2) / np.mean(block)))
    assert fit_similarity("precomputed", None, D, ROWS, complete).gamma == mu.gamma


def test_rows_of_a_larger_distance_matrix():
    """m training rows of an (N, N) matrix: every row finds its own column by its zero."""
    train = RNG.permutation(20)[:12]
    rows = np.array([0, 5, 2])
    mu = fit_similarity("precomputed", None, D[train], rows, np.arange(12))
    assert_array_equal(mu.landmarks, train[rows])
    assert_allclose(mu.gamma, 1 / D[np.ix_(train, train)].mean())
    test = np.setdiff1d(ALL, train)
    assert_allclose(mu(D[test]), np.exp(-mu.gamma * D[np.ix_(test, train[rows])] ** 2))


def test_permuted_rows_of_a_square_distance_matrix():
    """As many rows as columns, but in another order: the diagonal is not zero."""
    order = RNG.permutation(20)
    mu = fit_similarity("precomputed", 1.0, D[order], ROWS, ALL)
    assert_array_equal(mu.landmarks, order[ROWS])


def test_gram():
    K = polynomial_kernel(X, degree=2)
    mu = fit_similarity("gram", None, K, ROWS, ALL)
    assert_array_equal(mu(K), K[:, ROWS])
    assert mu.range == (-np.inf, np.inf)
    new = polynomial_kernel(RNG.normal(size=(4, 4)), X, degree=2)
    assert_array_equal(mu(new), new[:, ROWS])


@pytest.mark.parametrize("kernel", [linear_kernel, "linear"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_callable(form, kernel):
    mu = fit_similarity(kernel, None, form(X), ROWS, ALL)
    assert_allclose(mu(form(X)), X @ X[ROWS].T)
    assert mu.range == (-np.inf, np.inf)


def test_one_per_view():
    assert one_per_view("rbf", 3, "kernel") == ["rbf"] * 3
    assert one_per_view([0.1, 0.2], 2, "gamma") == [0.1, 0.2]
    assert one_per_view(np.array([0.1, 0.2]), 2, "gamma") == [0.1, 0.2]
    assert one_per_view((None, "mean"), 2, "gamma") == [None, "mean"]
    assert one_per_view(None, 2, "gamma") == [None, None]
    with pytest.raises(ValueError, match="gamma has 3 entries, but X has 2 views"):
        one_per_view([1, 2, 3], 2, "gamma")
