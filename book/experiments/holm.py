"""Holm's correction of p-values for their number."""

import numpy as np


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
