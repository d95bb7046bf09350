"""Reading the study of part VI: paired differences on the same splits, with their intervals.

Splits of one data set share samples. Where training parts are small draws from a pool, what they
share is n_train of N samples, so the corrected interval of :mod:`.paired_tests` is taken with the
ratio n_train/(N - n_train), which is Nadeau and Bengio's n_test/n_train where halves train. A
simulation in the tests says that it covers the truth at least as often as it should; drawn data
are drawn anew in every repeat, and need no correction.
"""

import pandas as pd

from .engine import with_parameters
from .paired_tests import paired_interval, paired_t, rope_probabilities
from .ranks import holm
from .report import read_ledger
from .study_data import N_SAMPLES

PRACTICAL = 0.01  # a point of accuracy: nobody changes a method for less
COLUMNS = (  # do not know which columns belong together
    "logistic, all columns", "RBF SVM, all columns", "boosting, all columns",
    "extra trees, all columns",
)  # fmt: skip
PLAIN_VIEWS = ("SVM, mean of kernels", "RBF SVM, views scaled alike", "vote of views", "stacking")
OF_PAPERS = ("MVLSVM", "MwMvC2", "MVPO", "MVMClassifier", "MVNAKMHKS")


def scores(measure="accuracy", items=("n100", "n300", "n1000"), folder=None):
    """A measure by data set, size, gaps and repeat, a column per method; NaN where it failed."""
    rows = read_ledger("study", folder).query("item in @items")
    rows, _ = with_parameters(rows)
    rows = rows.assign(missing=rows.get("missing", 0.0)).fillna({"missing": 0.0})
    index = ["dataset", "n_train", "missing", "repeat"]
    values, failed = (
        rows[rows["measure"] == name].pivot(index=index, columns="method", values="value")
        for name in (measure, "failure")
    )
    return values.where(failed == 0)


def overlap(dataset, n_train):
    """The ratio of the corrected interval."""
    total = N_SAMPLES.get(dataset)
    return 0.0 if total is None else n_train / (total - n_train)


def difference(gaps, dataset, n_train):
    """Mean of paired differences, 95 % interval, and the chances of less, the same, and more."""
    ratio = overlap(dataset, n_train)
    mean, low, high = paired_interval(gaps, ratio)
    less, same, more = rope_probabilities(gaps, ratio, PRACTICAL)
    return {
        "n": len(gaps), "difference": mean, "low": low, "high": high, "less": less, "same": same,
        "more": more, "wins": int((gaps > 0).sum()), "p": paired_t(gaps, ratio),
    }  # fmt: skip


def differences(gaps):
    """The same for each data set and size, p-values by Holm's correction over all of them."""
    found = {}
    for (dataset, n_train, missing), of in gaps.dropna().groupby(level=[0, 1, 2]):
        if len(of) > 1:
            found[dataset, n_train, missing] = difference(of.to_numpy(), dataset, n_train)
    table = pd.DataFrame(found).T.rename_axis(["dataset", "n_train", "missing"])
    return table.assign(p_holm=holm(table["p"].to_numpy())) if len(table) else table


def chosen(values, validation, family):
    """What a family reaches if, in each split, its best in the inner folds is taken."""
    family = [name for name in family if name in values]
    best = validation[family].fillna(-1.0).idxmax(axis=1)
    picked = [values.at[split, name] for split, name in best.items()]
    return pd.Series(picked, index=values.index)


def worth_of_views(family=PLAIN_VIEWS, columns=COLUMNS, folder=None, **which):
    """By how much a family that knows the views is ahead of one that does not."""
    values, validation = (
        scores(name, folder=folder, **which) for name in ("accuracy", "validation")
    )
    with_views, without = (chosen(values, validation, of) for of in (family, columns))
    return differences(with_views - without)
