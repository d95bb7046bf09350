"""Many methods on few data sets: ranks, critical difference, Pareto front, paired differences.

Demšar, "Statistical comparisons of classifiers over multiple data sets", JMLR 7, 2006. The unit is
the data set: repeats on the same data set are not independent, so that a method has one number
there, its mean over the repeats.
"""

import numpy as np
from scipy import stats


def average_ranks(table):
    """Rank methods within each data set, 1 for the best, ties sharing their ranks.

    table (k methods, N data sets): the larger the better; no gaps.
    """
    return _ranks(table).mean(axis=1).sort_values(kind="stable")


def friedman(table):
    """Test whether all methods have the same expected rank: F and p of a table (k, N)."""
    ranks, (k, N) = _ranks(table), table.shape
    if k < 2 or N < 2:
        raise ValueError(f"table must have two methods and two data sets or more, got {k} x {N}.")
    spread = ((ranks - (k + 1) / 2) ** 2).to_numpy().sum()
    if spread == 0:  # all methods alike everywhere
        return 0.0, 1.0
    # with ties the variance of a rank is below (k^2 - 1)/12
    chi2 = (k - 1) * N**2 * ((ranks.mean(axis=1) - (k + 1) / 2) ** 2).sum() / spread
    left = N * (k - 1) - chi2
    if left <= 1e-9 * N * k:
        return np.inf, 0.0
    F = (N - 1) * chi2 / left
    return float(F), float(stats.f.sf(F, k - 1, (k - 1) * (N - 1)))


def critical_difference(n_methods, n_datasets, level=0.05):
    """By how much average ranks must differ, by Nemenyi's test at a level for all pairs."""
    q = stats.studentized_range.ppf(1.0 - level, n_methods, np.inf) / np.sqrt(2.0)
    return float(q * np.sqrt(n_methods * (n_methods + 1) / (6.0 * n_datasets)))


def pareto_front(cost, value):
    """Tell which methods (k,) no other beats in both less cost (k,) and more value (k,)."""
    cost, value = np.asarray(cost, dtype=float), np.asarray(value, dtype=float)
    no_worse = (cost[:, None] <= cost) & (value[:, None] >= value)
    better = (cost[:, None] < cost) | (value[:, None] > value)
    return ~(no_worse & better).any(axis=0)


def holm(p_values):
    """Return Holm's adjusted p-values (k,): below 5 %, any false rejection has probability 5 %.

    NaN is no test, and stays.
    """
    p = np.asarray(p_values, dtype=float)
    tested = np.argsort(p, kind="stable")[: np.isfinite(p).sum()]
    adjusted = np.full_like(p, np.nan)
    adjusted[tested] = np.maximum.accumulate(p[tested] * np.arange(len(tested), 0, -1))
    return np.minimum(adjusted, 1.0)


def with_holm(tests, p, table):
    """Tests with ``p_holm``: the column `p`, adjusted for all rows that agree in `table`."""
    adjusted = tests.groupby(table or (lambda _: "one"), dropna=False)[p].transform(holm)
    return tests.assign(p_holm=adjusted)


def _ranks(table):
    if not np.isfinite(table.to_numpy(dtype=float)).all():
        raise ValueError("table must have a finite value for every method and data set.")
    return table.rank(ascending=False)
