"""Paired t-tests of two methods over the splits of an item, as printed and corrected."""

import numpy as np
import pandas as pd
from scipy import stats

from mvref.compare.paired import paired_interval as paired_interval
from mvref.compare.paired import paired_t, with_spread

from .holm import with_holm
from .items import find_item
from .report import results


def rope_probabilities(differences, ratio=0.0, practical=0.01):
    """Return how likely the mean difference is below, inside and above what matters in practice.

    The posterior of the correlated t-test (Corani and Benavoli, Machine Learning 100, 2015): a t
    distribution around the mean with the spread of :func:`paired_interval`. Inside is from
    -practical to practical, so that "no difference" can be a finding.
    """
    d, spread = with_spread(differences, ratio)
    if spread == 0:
        below, above = float(d[0] < -practical), float(d[0] > practical)
    else:
        below, above = stats.t.cdf((-practical - np.array([1, -1]) * d.mean()) / spread, len(d) - 1)
    return float(below), float(1.0 - below - above), float(above)


def p_values(differences, ratio):
    """The p-values as printed and corrected; NaN for a single split."""
    return [paired_t(differences, r) if len(differences) > 1 else np.nan for r in (0.0, ratio)]


def paired_significance(item, reference, measure="accuracy", folder=None):
    """Test every method of an item against one of them, split by split.

    Parameters
    ----------
    item : str; its rows have the measures ``n_train`` and ``n_test``
    reference, measure : str
    folder : path, default that of the ledger that comes with mvref

    Returns
    -------
    tests : DataFrame
        One row per data set, parameter point and other method: ``difference``, the mean of
        reference minus method; ``n`` splits that both have; ``p_paired`` of the ordinary test,
        ``p_corrected``, and ``p_holm``: the latter, by Holm's correction for all cells of a table,
        which are those of one parameter point.

    See Also
    --------
    significance : Against the best method, as the papers test.

    Examples
    --------
    >>> from mvref.experiments import paired_significance
    >>> tests = paired_significance("mvna_kmhks.table2", "MVNA")
    >>> bool((tests["p_corrected"] >= tests["p_paired"]).all())
    True
    """
    rows, names = results(find_item(item), folder, without=())
    group = ["dataset", *names]
    tests = []
    for point, part in rows.groupby(group, dropna=False):
        values, n_test, n_train = (
            part[part["measure"] == m].pivot(index="repeat", columns="method", values="value")
            for m in (measure, "n_test", "n_train")
        )
        if reference not in values:
            continue
        for method in values.columns.drop(reference):
            gap = (values[reference] - values[method]).dropna()
            ratio = (n_test[method] / n_train[method])[gap.index].mean()
            tests.append([*point, method, gap.mean(), len(gap), *p_values(gap, ratio)])
    columns = [*group, "method", "difference", "n", "p_paired", "p_corrected"]
    return with_holm(pd.DataFrame(tests, columns=columns), "p_corrected", names)
