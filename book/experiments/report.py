"""Reading the ledger: rows, summaries over repeats, and tests of one method against another."""

import numpy as np
import pandas as pd
from scipy import stats

from .engine import LEDGER, Ledger, with_parameters
from .holm import with_holm
from .items import find_item

# what was chosen, and by what: no results
SETTINGS = (
    "C", "C1", "C2", "D", "lam", "eta", "view", "validation", "alpha", "k", "gamma",
    "width", "c", "coupling", "point", "n_train", "n_test",
)  # fmt: skip
SUMMARY = ["dataset", "method", "measure", "mean", "std", "low", "high", "n"]


def read_ledger(paper="mvl_svm", folder=None):
    """Return the stored results of a paper.

    Parameters
    ----------
    paper : str
    folder : path, default that of the ledger that comes with mvref

    Returns
    -------
    rows : DataFrame; one row per measure; `parameter` is JSON text

    Examples
    --------
    >>> from mvref.experiments import read_ledger
    >>> list(read_ledger("mvl_svm").columns[:6])
    ['paper', 'item', 'dataset', 'method', 'parameter', 'measure']
    """
    return Ledger(paper, folder).read()


def read_paper_numbers(paper="mvl_svm"):
    """Return what the paper's text says in numbers, with the place where it stands.

    Parameters
    ----------
    paper : str

    Returns
    -------
    numbers : DataFrame

    Examples
    --------
    >>> from mvref.experiments import read_paper_numbers
    >>> numbers = read_paper_numbers()
    >>> numbers.loc[numbers["measure"] == "landmarks_at_best", ["dataset", "value"]]
         dataset  value
    25     uwave   10.0
    26  flower17   50.0
    """
    numbers = pd.read_csv(LEDGER / "paper_numbers.csv", keep_default_na=False)
    return numbers[numbers["paper"] == paper].astype({"value": float})


def summarize(item, folder=None):
    """Summarise the repeats of an item.

    Parameters
    ----------
    item : str
    folder : path, default that of the ledger that comes with mvref

    Returns
    -------
    summary : DataFrame
        One row per data set, method, parameter point (its own columns, such as ``L``) and measure:
        ``mean``, ``std`` (between repeats, n - 1), ``low`` and ``high`` (95 % interval of the mean
        by Student's t), ``n`` repeats. With one repeat the columns of spread are NaN. Official
        splits are averaged first, so that `std` is that of the mean over the splits; a repeat that
        lacks a split is left out. For Figure 4: ``accuracy`` against ``train_seconds``.

    Examples
    --------
    >>> from mvref.experiments import summarize
    >>> summary = summarize("mvl_svm.fig2")
    >>> {"dataset", "method", "measure", "mean", "std", "n"} <= set(summary.columns)
    True
    """
    item = find_item(item)
    if item.full_name == "mvl_svm.fig4":
        return _accuracy_over_time(folder)
    rows, names = results(item, folder)
    group = ["dataset", "method", *[n for n in names if n != "split"], "measure"]
    if "split" in names:
        means = rows.groupby([*group, "repeat"], dropna=False)["value"]
        means = means.agg(value="mean", size="size").reset_index()
        rows = means[means["size"] == means.groupby("dataset")["size"].transform("max")]
    values = rows.groupby(group, dropna=False)["value"]
    summary = values.agg(mean="mean", std="std", n="count")
    half = stats.t.ppf(0.975, np.maximum(summary["n"] - 1, 1)) * summary["std"]
    half /= np.sqrt(summary["n"])
    summary.insert(2, "low", summary["mean"] - half)
    summary.insert(3, "high", summary["mean"] + half)
    return summary.reset_index()


def results(item, folder, without=SETTINGS):
    """Return the rows of an item with a column for each parameter, and the parameters' names."""
    rows = read_ledger(item.paper, folder)
    return with_parameters(rows[(rows["item"] == item.name) & ~rows["measure"].isin(without)])


def _accuracy_over_time(folder):
    """Join Figure 2's accuracy with Figure 3's seconds."""
    point, parts = ["dataset", "method", "L"], []
    for item, measure in (("fig2", "accuracy"), ("fig3", "train_seconds")):
        part = summarize(f"mvl_svm.{item}", folder).query(f"measure == '{measure}'")
        part = part.reindex(columns=[*point, "mean", "std", "n"])
        parts.append(part.rename(columns={"mean": measure}))
    return parts[0].merge(parts[1].drop(columns=["std", "n"]), on=point)


def significance(item, folder=None):
    """Test every method against the best one of its data set, measure and parameter point.

    Parameters
    ----------
    item : str
    folder : path, default that of the ledger that comes with mvref

    Returns
    -------
    tests : DataFrame
        One row per data set, parameter point, measure and method: ``mean`` and ``n`` repeats,
        ``best`` (the method with the largest mean), and Wilcoxon's two-sided p-values against it,
        NaN for the best itself: ``p_rank_sum``, which treats the repeats of two methods as
        independent; ``p_signed_rank``, of the differences in the repeats that both have; and
        ``p_holm``, the latter by Holm's correction for all cells of a measure and point.

    See Also
    --------
    paired_significance : Against one method that you name, split by split.

    Notes
    -----
    The methods of a repeat share split and sample, so the signed-rank test is the matching one.
    For both tests the repeats are not independent either (they draw from the same data), and the
    best method was chosen on the same numbers: small p-values are a way to sort, not an error rate.

    Examples
    --------
    >>> from mvref.experiments import significance
    >>> tests = significance("mvl_svm.extensions").query("dataset == 'uwave' and L == 10")
    >>> tests[["method", "p_rank_sum"]].round(5)
                   method  p_rank_sum
    6  landmarks per view     0.00003
    7     selected of 200         NaN
    8    shared landmarks     0.00002
    """
    item = find_item(item)
    rows, names = results(item, folder)
    group = ["dataset", *names, "measure"]
    tests = []
    for point, part in rows.groupby(group, dropna=False):
        values = part.pivot(index="repeat", columns="method", values="value")
        best = values.mean().idxmax()
        for method in values:
            own, difference = values[method].dropna(), (values[method] - values[best]).dropna()
            p_rank_sum = p_signed_rank = np.nan
            if method != best and len(difference) > 1:
                p_rank_sum = stats.ranksums(own, values[best].dropna()).pvalue
                p_signed_rank = stats.wilcoxon(difference).pvalue if difference.any() else 1.0
            tests.append([*point, method, own.mean(), len(own), best, p_rank_sum, p_signed_rank])
    columns = [*group, "method", "mean", "n", "best", "p_rank_sum", "p_signed_rank"]
    return with_holm(pd.DataFrame(tests, columns=columns), "p_signed_rank", group[1:])
