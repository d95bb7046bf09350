"""Reading the study of part VI: paired differences on the same splits, with their intervals.

Within a data set, splits share samples. Where training parts are small draws from a pool, what they
share is n_train of N samples, so the corrected interval of :mod:`.report` is taken with the
ratio n_train/(N - n_train), which is Nadeau and Bengio's n_test/n_train where halves train. A
simulation in the tests says that it covers the truth at least as often as it should; drawn data
are drawn anew in every repeat, and need no correction.

Over data sets, the data set is the unit: a method has one number there, its mean over the repeats.
There are two intervals: that of the mean, of a t-test, and that for one more data set of the kind.
Worlds that were drawn for the study are no sample of anything, and no part of these means.

A `Statement` says that one method, or the one of several that the inner folds chose, is ahead of
another by more than a margin. ``advice.toml`` has those that the chapters make of `EXPLORED`;
``transfer.toml`` those that were written down before `HELD_OUT` was run, and do not change.
"""

import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from .engine import with_parameters
from .report import holm, paired_interval, paired_t, read_ledger, rope_probabilities
from .study_data import DRAWN, HELD_OUT, N_SAMPLES

PRACTICAL = 0.01  # a point of accuracy: nobody changes a method for less
COLUMNS = (  # do not know which columns belong together
    "logistic, all columns", "RBF SVM, all columns", "boosting, all columns",
    "extra trees, all columns",
)  # fmt: skip
PLAIN_VIEWS = ("SVM, mean of kernels", "RBF SVM, views scaled alike", "vote of views", "stacking")
OF_PAPERS = ("MVLSVM", "MwMvC2", "MVPO", "MVMClassifier", "MVNAKMHKS")
FAMILIES = {"columns": COLUMNS, "views": PLAIN_VIEWS, "papers": OF_PAPERS}
HERE = Path(__file__).parent


def scores(measure="accuracy", folder=None):
    """A measure by data set, size, gaps and repeat, a column per method; NaN where it failed."""
    return _tables(folder)[measure].copy()


@lru_cache(maxsize=2)
def _tables(folder):
    rows, _ = with_parameters(read_ledger("study", folder))
    rows = rows.assign(missing=rows["missing"].fillna(0.0) if "missing" in rows else 0.0)
    index = ["dataset", "n_train", "missing", "repeat"]
    wide = {
        name: part.pivot(index=index, columns="method", values="value")
        for name, part in rows.groupby("measure")
    }
    return {name: table.where(wide["failure"] == 0) for name, table in wide.items()}


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


def over_datasets(gaps):
    """Mean over real data sets of the mean over repeats; one data set is a unit.

    ``low`` and ``high``: 95 % interval of the mean; ``next_low``, ``next_high``: of the mean over
    the repeats on one more data set.
    """
    means = gaps.dropna().groupby(level="dataset").mean()
    means = means[~means.index.isin(DRAWN)]
    if len(means) < 2:
        raise ValueError(f"gaps must be of two data sets or more, got {list(means.index)}.")
    low, high = stats.ttest_1samp(means, 0.0).confidence_interval()
    half = np.sqrt(len(means) + 1) * (high - low) / 2
    return {"datasets": len(means), "difference": means.mean(), "low": low, "high": high,
            "next_low": means.mean() - half, "next_high": means.mean() + half,
            "ahead": int((means > 0).sum())}  # fmt: skip


def told(found, of="mean"):
    """A difference in points of accuracy as text, with an interval: of the mean, or the "next".

    An end on one side of 0 is never told as if it were on the other, or as 0.

    >>> told({"difference": 0.012, "low": -0.0004, "high": 0.02})
    '+1.2 points (-0.04 to +2.0)'
    """
    ends = ("low", "high") if of == "mean" else ("next_low", "next_high")

    def points(value):
        number = 100.0 * value
        return f"{number:+.2f}" if 0 < abs(number) < 0.05 else f"{round(number, 1) + 0.0:+.1f}"

    mean, low, high = points(found["difference"]), *(points(found[end]) for end in ends)
    return f"{mean} points ({low} to {high})"


def chosen(values, validation, family):
    """What a family reaches if, in each split, its best in the inner folds is taken."""
    family = [name for name in family if name in values]
    best = validation[family].fillna(-1.0).idxmax(axis=1)
    picked = [values.at[split, name] for split, name in best.items()]
    return pd.Series(picked, index=values.index)


def gaps_between(ahead, behind, measure="accuracy", folder=None):
    """Paired differences of two methods, or of what is chosen in families, in every split."""
    values, validation = (scores(name, folder) for name in (measure, "validation"))

    def of(which):
        if isinstance(which, str) and which not in FAMILIES:
            return values[which]
        family = FAMILIES[which] if isinstance(which, str) else which
        return chosen(values, validation, family)

    return (of(ahead) - of(behind)).dropna()


@dataclass(frozen=True)
class Statement:
    """That `ahead` is better than `behind` by more than a margin.

    ahead, behind: a candidate, one of `FAMILIES`, or a list of candidates; datasets: () for all of
    a kind, `EXPLORED` or `HELD_OUT`.
    """

    name: str
    text: str
    ahead: str | tuple
    behind: str | tuple
    measure: str = "accuracy"
    n_train: int = 100
    missing: float = 0.0
    margin: float = 0.0
    datasets: tuple = ()
    held_out: bool = False

    def gaps(self, folder=None, repeats=None):
        """The paired differences that it speaks of, of all repeats or of the first ones."""
        gaps = gaps_between(self.ahead, self.behind, self.measure, folder)
        at = gaps.index.get_level_values
        kept = (at("n_train") == self.n_train) & (at("missing") == self.missing)
        kept &= at("dataset").isin(HELD_OUT) == self.held_out
        if self.datasets:
            kept &= at("dataset").isin(self.datasets)
        if repeats is not None:
            kept &= at("repeat") < repeats
        return gaps[kept]

    def judged(self, folder=None, repeats=None):
        """What the study says of it, with its interval, and hit, miss or cannot tell.

        Of a single data set the unit is the split.
        """
        gaps = self.gaps(folder, repeats)
        (name, *others) = gaps.index.unique("dataset")
        found = over_datasets(gaps) if others else difference(gaps, name, self.n_train)
        if found["low"] > self.margin:
            verdict = "hit"
        else:
            verdict = "miss" if found["difference"] <= self.margin else "cannot tell"
        return found | {"verdict": verdict}


def statements(kind):
    """The statements of "advice" or "transfer", by name."""
    entries = tomllib.loads((HERE / f"{kind}.toml").read_text("utf-8"))["statement"]
    found = [Statement(**entry, held_out=kind == "transfer") for entry in entries]
    return {statement.name: statement for statement in found}


def leaves():
    """The tree of *Which method*: questions, what to take if yes, and the statement behind it."""
    return tomllib.loads((HERE / "advice.toml").read_text("utf-8"))["leaf"]


def worth_of_views(family="views", folder=None):
    """By how much a family that knows the views is ahead of the one that does not."""
    return gaps_between(family, "columns", folder=folder)
