"""How the cost of MVNA-KMHKS grows with the samples, time and memory; run by ``make bench``."""

from functools import partial

import numpy as np
import pytest

from mvref import KMHKS, MVNAKMHKS, NAKMHKS
from mvref.theory.rademacher import empirical_complexity
from tests.costs import growth


def samples(n, d=10):
    """Two classes in d columns that overlap."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    return rng.normal(size=(n, d)) + 0.7 * y[:, None], y


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_time_is_linear_in_the_samples():
    """m = 256, M = 2, 20 iterations, up to 100 000 samples."""
    sizes = np.array([12_500, 25_000, 50_000, 100_000])
    X, y = samples(sizes[-1])
    model = MVNAKMHKS(2, 256, tol=0.0, max_iter=20, random_state=0)
    slope, _ = growth("fit", sizes, [partial(model.fit, X[:n], y[:n]) for n in sizes], 3)
    assert model.n_iter_ == 20 and slope <= 1.1


@pytest.mark.parametrize("M", [1, 2])
def test_memory_is_at_most_three_times_the_factors(M):
    """M factors of n m numbers; M = 1 is NA-KMHKS."""
    sizes, m = np.array([5000, 10_000, 20_000, 40_000]), 256
    X, y = samples(sizes[-1])
    model = NAKMHKS(m, random_state=0) if M == 1 else MVNAKMHKS(M, m, random_state=0)
    calls = [partial(model.fit, X[:n], y[:n]) for n in sizes]
    slope, peaks = growth(f"peak, M={M}", sizes, calls)
    multiple = peaks * 2**20 / (8 * M * sizes * m)
    assert multiple.max() <= 3 and slope <= 1.05


def test_memory_of_kmhks_grows_with_the_square():
    """Without approximation: two matrices of n rows and n columns, the sum and a view's kernel."""
    sizes = np.array([500, 1000, 2000])
    X, y = samples(sizes[-1])
    calls = [partial(KMHKS().fit, X[:n], y[:n]) for n in sizes]
    slope, peaks = growth("peak of KMHKS", sizes, calls)
    multiple = peaks * 2**20 / (8 * sizes**2)
    assert multiple.max() <= 2.2 and slope >= 1.8


def test_monte_carlo_by_factors_is_linear_in_the_samples():
    """100 draws, r = 100: O(n r) for a draw from the factor, O(n^2) from the Gram matrix."""
    sizes = np.array([1000, 2000, 4000])
    factors = [np.random.default_rng(0).normal(size=(n, 100)) / 10.0 for n in sizes]
    options = {"n_draws": 100, "random_state": 0}
    fast = [partial(empirical_complexity, F, 1.0, factor=True, **options) for F in factors]
    slow = [partial(empirical_complexity, F @ F.T, 1.0, **options) for F in factors]
    slope, cost = growth("100 draws, factor", sizes, fast, 7)
    slow_slope, slow_cost = growth("100 draws, Gram matrix", sizes, slow, 7)
    assert slope <= 1.2 and slow_slope >= slope + 0.4
    assert slow_cost[-1] > 3 * cost[-1]
