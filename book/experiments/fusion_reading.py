"""Reading the study of part VI: differences on the same splits, regret, and what may be expected.

The data set is the unit: a method has one number there, its mean over the repeats. Two intervals
answer two questions: where is the mean over data sets like these (CI), and where will the *next*
data set be (PI)? Both are t intervals, of :func:`over_datasets` and of nothing else, so that one
difference has one interval on all pages; item ``calibration.coverage`` says what they cover where
effects are skewed and data sets few.

Of several candidates the one that is most accurate on the inner folds is taken, of equally accurate
ones that of least log loss there: no test part decides.

Advice (:class:`Situation`) is judged against the best of all that a reader would do otherwise.
"""

import tomllib
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from .engine import with_parameters
from .fusion import CANDIDATES, LEARNERS, PAPERS
from .fusion_data import FORMING, KEPT, REAL, patterns_of
from .report import read_ledger
from .study_reading import (  # noqa: F401  the pages read both by one name
    ANSWERS,
    NBSP,
    against_others,
    by,
    points,
    short,
    told,
    told_next,
    tree,
)

FORMED_BY = 1  # repeats of the forming data sets that were there when statements were registered
INDEX = ["dataset", "n_train", "missing", "pattern", "repeat"]
HERE = Path(__file__).parent
REGISTERED_AS = {
    "vote of views": "late fusion"
}  # a use, by its name when statements were registered


def scores(measure="accuracy", *, n_train=100, missing=0.0, pattern="", folder=None):
    """A measure by data set and repeat, a column per candidate; NaN where it failed."""
    table = _tables(folder)[measure]
    at = (table.index.get_level_values(name) for name in INDEX[1:4])
    kept = np.logical_and.reduce(
        [level == value for level, value in zip(at, (n_train, missing, pattern), strict=True)]
    )
    return table[kept].droplevel(INDEX[1:4])


@lru_cache(maxsize=2)
def _tables(folder):
    rows = read_ledger("fusion", folder)
    rows, names = with_parameters(rows[rows["item"] != "before"])
    given = {name: rows[name] for name in names}
    rows = rows.assign(
        missing=given.get("missing", pd.Series(0.0, rows.index)).fillna(0.0),
        pattern=given.get("pattern", pd.Series("", rows.index)).fillna(""),
    )
    wide = {
        name: part.pivot(index=INDEX, columns="method", values="value")
        for name, part in rows.groupby("measure")
    }
    return {
        name: table.where((wide["failure"] == 0).reindex(table.index)[table.columns])
        for name, table in wide.items()
    }


def failures(folder=None):
    """How many trainings were asked for, and how many of them failed, by candidate and data set."""
    rows = read_ledger("fusion", folder).query("measure == 'failure'")
    failed = rows["value"] > 0
    return len(rows), failed.groupby([rows["method"], rows["dataset"]]).sum().loc[lambda n: n > 0]


def family(use):
    """The candidates of a use: one for each learner."""
    return [f"{learner}, {use}" for learner in LEARNERS if f"{learner}, {use}" in CANDIDATES]


def chosen(names, measure="accuracy", **where):
    """What is reached if, in each split, the best in the inner folds is taken."""
    values = scores(measure, **where)
    names = [name for name in names if name in values]
    right, loss = (
        scores(of, **where).loc[values.index] for of in ("validation", "validation_loss")
    )
    order = np.lexsort((-loss[names].fillna(np.inf), right[names].fillna(-1.0)), axis=-1)
    best = values[names].to_numpy()[np.arange(len(values)), order[:, -1]]
    return pd.Series(best, index=values.index)


def reached(which, measure="accuracy", **where):
    """What a candidate, or the chosen one of several, reaches in every split."""
    if isinstance(which, str):
        return scores(measure, **where)[which]
    return chosen(which, measure, **where)


def gain(ahead, behind, measure="accuracy", datasets=None, repeats=None, **where):
    """By how much one is ahead of another: the mean over the repeats of every data set."""
    gaps = reached(ahead, measure, **where) - reached(behind, measure, **where)
    if repeats is not None:
        gaps = gaps[gaps.index.get_level_values("repeat") < repeats]
    means = by_dataset(gaps)
    return means if datasets is None else means[means.index.isin(datasets)]


def by_dataset(differences):
    """Means over the repeats of every data set."""
    return differences.dropna().groupby("dataset").mean()


def gains(use, against="all columns", measure="accuracy", datasets=None, **where):
    """The gains of a use of the views, a row per data set, a column per learner that has both."""
    there = set(scores(measure, **where))
    pairs = {learner: (f"{learner}, {use}", f"{learner}, {against}") for learner in LEARNERS}
    pairs = {learner: pair for learner, pair in pairs.items() if there.issuperset(pair)}
    return pd.DataFrame(
        {learner: gain(*pair, measure, datasets, **where) for learner, pair in pairs.items()}
    )


def over_datasets(means):
    """Mean of one number per data set.

    ``low`` and ``high`` are the 95 % interval of the mean, ``next_low`` and ``next_high`` that of
    one more data set; ``p`` is of the two-sided t test.
    """
    means = np.asarray(means, dtype=float)
    if len(means) < 2:
        raise ValueError(f"means must be of two data sets or more, got {len(means)}.")
    spread, df = means.std(ddof=1), len(means) - 1
    mean, error, quantile = means.mean(), spread / np.sqrt(len(means)), stats.t.ppf(0.975, df)
    half, further = quantile * error, quantile * np.hypot(error, spread)
    return {"datasets": len(means), "ahead": int((means > 0).sum()), "difference": mean,
            "low": mean - half, "high": mean + half,
            "next_low": mean - further, "next_high": mean + further,
            "p": 2 * stats.t.sf(abs(mean) / error, df) if error else float(mean == 0)}  # fmt: skip


def spreads(ahead, behind, measure="accuracy", **where):
    """Standard deviations of a difference, between data sets and of a split in one of them.

    The split's is the median over the data sets that have ``several`` repeats, and stands for those
    that have one; ``share`` is what the splits alone make of the variance between data sets.
    """
    gaps = (reached(ahead, measure, **where) - reached(behind, measure, **where)).dropna()
    sets = gaps.groupby("dataset").agg(["mean", "var", "count"])
    split, between = sets["var"].median(), sets["mean"].var()
    noise = (sets["var"].fillna(split) / sets["count"]).mean()
    return {"between": np.sqrt(between), "split": np.sqrt(split), "share": noise / between,
            "several": int(sets["var"].count()), "datasets": len(sets)}  # fmt: skip


def regret(which, missing=0.0):
    """How far a candidate is behind what is trained on just that pattern, by data set and pattern.

    That is the learner of all columns which its folds choose.
    Columns: ``dataset``, ``pattern``, ``gone`` (number of views that are missing), ``regret``.
    """
    found = []
    for pattern in sorted({pattern for name in REAL for pattern in patterns_of(name)}):
        losses = by_dataset(trained_on(pattern) - reached(which, f"at_{pattern}", missing=missing))
        found += [(name, pattern, pattern.count("0"), loss) for name, loss in losses.items()]
    return pd.DataFrame(found, columns=["dataset", "pattern", "gone", "regret"])


@lru_cache
def trained_on(pattern):
    """What the chosen learner of all columns reaches that has only the views of a pattern."""
    return chosen(family("all columns"), pattern=pattern)


@dataclass(frozen=True)
class Statement:
    """That `ahead` is better than `behind` by more than a margin, on average over data sets.

    ahead, behind: a candidate, "use: ..." (the learner chosen by the folds), or "papers"; expected:
    of a registered one, "hit", or "open": asked, and not predicted.
    """

    name: str
    text: str
    ahead: str
    behind: str
    measure: str = "accuracy"
    n_train: int = 100
    missing: float | str = 0.0  # from the training part, see item ``gaps``
    margin: float = 0.0
    expected: str = ""

    def means(self, datasets, repeats=None):
        """The gains that it speaks of, one of each data set; of all repeats, or the first ones."""
        given = *map(candidates_of, (self.ahead, self.behind)), self.measure, datasets, repeats
        return gain(*given, n_train=self.n_train, missing=self.missing)

    def judged(self, datasets):
        """What some data sets say of it."""
        found = over_datasets(self.means(datasets))
        return found | {"verdict": self.verdict(found)}

    def verdict(self, found):
        """Hit, miss, or cannot tell."""
        if found["low"] > self.margin:
            return "hit"
        return "miss" if found["difference"] <= self.margin else "cannot tell"

    def power(self, n_datasets):
        """The chance of a hit on so many data sets, if they are as those that formed it."""
        means = self.means(FORMING, FORMED_BY)
        shift = (means.mean() - self.margin) / (means.std(ddof=1) / np.sqrt(n_datasets))
        df = n_datasets - 1
        return float(stats.nct.sf(stats.t.ppf(0.975, df), df, shift))


def candidates_of(words):
    """The candidates that a statement speaks of."""
    if words == "papers":
        return list(PAPERS)
    if words.startswith("use: "):
        use = words.removeprefix("use: ")
        return family(REGISTERED_AS.get(use, use))
    learner, _, use = words.partition(", ")
    words = f"{learner}, {REGISTERED_AS[use]}" if use in REGISTERED_AS else words
    if words not in CANDIDATES:
        raise ValueError(f"a statement names candidates, 'papers' or 'use: ...', got {words!r}.")
    return words


def statements():
    """The registered statements, by name."""
    entries = tomllib.loads((HERE / "registered.toml").read_text("utf-8"))["statement"]
    return {entry["name"]: Statement(**entry) for entry in entries}


@dataclass(frozen=True)
class Situation:
    """A leaf of the tree of *Which method*: a question, and what to do if the answer is yes.

    take, avoid: some of `ANSWERS`; why: the reason to prefer one where several are level; tests:
    what is measured, as measure and gaps in training, by the words for it.
    """

    name: str
    question: str
    take: tuple
    avoid: tuple
    why: str
    tests: dict

    def judged(self, test):
        """Each of the answers beside the default, and beside the best of the others.

        A row per answer: the intervals of both differences, who the best other is, and a verdict.
        *ahead*: of every other answer, which needs no correction for their number. *behind*: of the
        best other, corrected for all pairs of answers, as the best was found on the same rows.
        """
        measure, missing = self.tests[test]
        reach = {
            one: reached(candidates_of(words), measure, missing=missing)
            for one, words in ANSWERS.items()
        }
        found = {
            pair: over_datasets(by_dataset(reach[pair[0]] - reach[pair[1]]))
            for pair in permutations(ANSWERS, 2)
        }
        return pd.DataFrame({one: against_others(one, found) for one in ANSWERS}).T


def situations():
    """The tree of *Which method*, in its order."""
    entries = tomllib.loads((HERE / "advice.toml").read_text("utf-8"))["situation"]
    return [Situation(**entry) for entry in entries]


def outcomes(datasets=tuple(KEPT)):
    """Each registered statement: its power before, and what the data sets that were kept say."""
    return pd.DataFrame({
        name: {"text": of.text, "margin": of.margin, "expected": of.expected}
        | {"power": of.power(len(datasets))} | of.judged(datasets)
        for name, of in statements().items()
    }).T  # fmt: skip
