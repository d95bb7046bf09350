"""Numbers of the papers and of the ledger, summaries over repeats, tests of two methods."""

import numpy as np
import pandas as pd
from scipy import stats

from mvref.compare.paired import paired_interval as paired_interval
from mvref.compare.paired import with_spread

from .engine import LEDGER, Ledger, with_parameters
from .items import find_item

# selected settings and their scores in tuning, which are not results
SETTINGS = (
    "C", "C1", "C2", "D", "lam", "eta", "view", "validation", "alpha", "k", "gamma",
    "width", "c", "coupling", "point", "n_train", "n_test",
)  # fmt: skip
SUMMARY = ["dataset", "method", "measure", "mean", "std", "low", "high", "n"]
TOLERANCE = 2.0  # in standard deviations of a repeat
PART = r"_(std|arrow|p)$"  # of a measure's name


def read_ledger(paper="mvl_svm", folder=None):
    """Return the stored results of a `paper`, one row per measure; `parameter` is JSON text.

    `folder` contains the ledger, by default the one that comes with mvref.

    >>> from mvref.experiments import read_ledger
    >>> list(read_ledger("mvl_svm").columns[:6])
    ['paper', 'item', 'dataset', 'method', 'parameter', 'measure']
    """
    return Ledger(paper, folder).read()


def read_paper_numbers(paper="mvl_svm"):
    """Return the numbers that a `paper` reports, each with its place in the text.

    >>> from mvref.experiments import read_paper_numbers
    >>> numbers = read_paper_numbers()
    >>> numbers.loc[numbers["measure"] == "landmarks_at_best", ["dataset", "value"]]
         dataset  value
    25     uwave   10.0
    26  flower17   50.0
    """
    numbers = pd.read_csv(LEDGER / "paper_numbers.csv", keep_default_na=False)
    return numbers[numbers["paper"] == paper].astype({"value": float})


def printed_cells(numbers):
    """Return the cells of the paper's table: the numbers that it prints for a method.

    numbers: rows of ``paper_numbers.csv``. The measures "accuracy", "accuracy_std",
    "accuracy_arrow" and "accuracy_p" are parts of one cell, of which some may be missing; the arrow
    is 1 where the paper marks the method as significantly worse than another, by a test with p.
    """
    key = ["dataset", "method", "parameter", "measure"]
    numbers = numbers[numbers["place"].str.startswith("Table ")]
    parts = numbers["measure"].str.extract(PART)[0]
    cells = numbers.loc[parts.isna(), [*key, "value", "note"]]
    numbers = numbers.assign(measure=numbers["measure"].str.replace(PART, "", regex=True))
    for part in ("std", "arrow", "p"):
        of_part = numbers.loc[parts == part, [*key, "value"]].rename(columns={"value": part})
        cells = cells.merge(of_part, on=key, how="left")
    return cells


def distance(ours, printed, *, std=np.nan, printed_std=np.nan, measure=""):
    r"""Return the difference between two means in standard deviations of a repeat of both.

    ours, printed: our mean and the paper's; std, printed_std: standard deviations between repeats.
    If the paper prints none, ours is used for both; measure: error counts on a fixed test set have
    no repeats, and their variance is the count itself. Sizes of data sets, measures that begin
    with "n\_", have no standard deviation.
    """
    if measure.startswith("n_"):
        spread = 0.0
    elif measure == "errors":
        spread = np.sqrt(ours + printed)
    else:
        spread = np.hypot(std, std if np.isnan(printed_std) else printed_std)
    gap = float(ours - printed)
    if gap == 0 or np.isnan(gap):
        return gap
    return gap / float(spread) if spread else float(np.copysign(np.inf, gap))


def summarize(item, folder=None):
    """Summarise the repeats of an `item`.

    Each data set, method, parameter setting (in columns of its own, such as ``L``) and measure has
    a row: ``mean``, ``std`` (between repeats, n - 1), ``low`` and ``high`` (95 % confidence
    interval of the mean by Student's t), ``n`` repeats. With one repeat, ``std``, ``low`` and
    ``high`` are NaN. Official splits are averaged first, so that ``std`` refers to the mean over
    the splits; a repeat that lacks a split is left out. Figure 4 has ``accuracy`` and
    ``train_seconds``. `folder` contains the ledger, by default the one that comes with mvref.

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
    """Test every method against the best one of its data set, measure and parameter setting.

    Each data set, parameter setting, measure and method of the `item` has a row (`folder` contains
    the ledger, by default the one that comes with mvref): ``mean`` and ``n`` repeats, ``best`` (the
    method with the largest mean), and Wilcoxon's two-sided p-values against it, NaN for the best
    itself: ``p_rank_sum``, which treats the repeats of two methods as independent;
    ``p_signed_rank``, of the differences in the repeats that both have; and ``p_holm``, this
    p-value with Holm's correction for all cells of a measure and setting.

    The methods of a repeat share split and sample, so the signed-rank test is appropriate. For
    both tests the repeats are not independent either (they draw from the same data), and the best
    method was selected on the same numbers: small p-values rank methods, but bound no error rate.
    :func:`paired_significance` tests against one method that you name, split by split.

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


def paired_t(differences, ratio=0.0):
    """Test whether the mean difference of two methods is zero.

    differences (J,): one per split; ratio: n_test/n_train for the corrected test.
    """
    d, spread = with_spread(differences, ratio)
    if np.ptp(d) == 0:
        return float(d[0] == 0)
    return float(2.0 * stats.t.sf(abs(d.mean()) / spread, len(d) - 1))


def paired_significance(item, reference, measure="accuracy", folder=None):
    """Test every method of an item against one of them, split by split, as printed and corrected.

    The rows of the `item` have the measures ``n_train`` and ``n_test``; `folder` is as in
    :func:`significance`. Each data set, parameter setting and other method has a row:
    ``difference``, the mean of the `reference` minus the method in this `measure`; ``n`` splits
    that both have; ``p_paired`` of the uncorrected test; ``p_corrected``; and ``p_holm``, the
    corrected p-value with Holm's correction for all cells of one parameter setting.

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
            p = [paired_t(gap, r) if len(gap) > 1 else np.nan for r in (0.0, ratio)]
            tests.append([*point, method, gap.mean(), len(gap), *p])
    columns = [*group, "method", "difference", "n", "p_paired", "p_corrected"]
    return with_holm(pd.DataFrame(tests, columns=columns), "p_corrected", names)


def holm(p_values):
    """Return Holm's adjusted p-values (k,): below 5 %, any false rejection has probability 5 %.

    NaN stands for no test, and stays NaN.
    """
    p = np.asarray(p_values, dtype=float)
    tested = np.argsort(p, kind="stable")[: np.isfinite(p).sum()]
    adjusted = np.full_like(p, np.nan)
    adjusted[tested] = np.maximum.accumulate(p[tested] * np.arange(len(tested), 0, -1))
    return np.minimum(adjusted, 1.0)


def with_holm(tests, p, table):
    """Add the column ``p_holm``: `p`, adjusted for all rows that agree in the columns `table`."""
    adjusted = tests.groupby(table or (lambda _: "one"), dropna=False)[p].transform(holm)
    return tests.assign(p_holm=adjusted)
