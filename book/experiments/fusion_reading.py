"""Reading the study of part VI: differences on the same splits, regret, and what may be expected.

The data set is the unit: a method has one number there, its mean over the repeats. Two intervals
answer two questions: where is the mean over data sets like these, and where will the *next* data
set be? Both are t intervals; item ``calibration.coverage`` says what they cover where effects are
skewed and data sets few.

Of several candidates the one that is most accurate on the inner folds is taken, of equally accurate
ones that of least log loss there: no test part decides.
"""

import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from .engine import with_parameters
from .fusion import CANDIDATES, LEARNERS, PAPERS
from .fusion_data import FORMING, KEPT, patterns_of
from .report import read_ledger

FORMED_BY = 1  # repeats of the forming data sets that were there when statements were registered
USES = ("best view", "all columns", "vote of views", "stack of views", "views alike")
INDEX = ["dataset", "n_train", "missing", "pattern", "repeat"]
HERE = Path(__file__).parent


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
    values, right, loss = (scores(of, **where) for of in (measure, "validation", "validation_loss"))
    names = [name for name in names if name in values]
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
    gaps = (reached(ahead, measure, **where) - reached(behind, measure, **where)).dropna()
    if repeats is not None:
        gaps = gaps[gaps.index.get_level_values("repeat") < repeats]
    means = gaps.groupby("dataset").mean()
    return means if datasets is None else means[means.index.isin(datasets)]


def gains(use, against="all columns", measure="accuracy", datasets=None, **where):
    """The gains of a use of the views, a row per data set, a column per learner that has both."""
    there = set(scores(measure, **where))
    pairs = {learner: (f"{learner}, {use}", f"{learner}, {against}") for learner in LEARNERS}
    pairs = {learner: pair for learner, pair in pairs.items() if there.issuperset(pair)}
    return pd.DataFrame(
        {learner: gain(*pair, measure, datasets, **where) for learner, pair in pairs.items()}
    )


def over_datasets(means):
    """Mean of one number per data set, and its intervals, see :func:`intervals`."""
    means = np.asarray(means, dtype=float)
    if len(means) < 2:
        raise ValueError(f"means must be of two data sets or more, got {len(means)}.")
    spread = means.std(ddof=1)
    return {"datasets": len(means), "ahead": int((means > 0).sum())} | intervals(
        means.mean(), spread / np.sqrt(len(means)), spread, len(means) - 1
    )


def intervals(mean, error, spread, df):
    """The mean, ``low`` and ``high`` of it, ``next_low`` and ``next_high`` of one more data set.

    error: standard error of the mean; spread: standard deviation between data sets.
    """
    t = stats.t.ppf(0.975, df)
    half, further = t * error, t * np.hypot(error, spread)
    return {"difference": mean, "low": mean - half, "high": mean + half,
            "next_low": mean - further, "next_high": mean + further}  # fmt: skip


def hierarchical(table):
    """Gains of several learners as one model: a learner's mean, plus the data set, plus the rest.

    table (D, L): y_dl = mu_l + b_d + e_dl with normal b (variance ``between``) and e (``rest``), by
    restricted maximum likelihood, which is in closed form where every learner has every data set;
    data sets where one has failed are left out. Returns a row per learner as
    :func:`over_datasets`, and one, "all", of their mean; and the two variances.
    """
    y = table.dropna().to_numpy()
    D, L = y.shape
    rest = y - y.mean(axis=0) - y.mean(axis=1, keepdims=True) + y.mean()
    within = (rest**2).sum() / ((D - 1) * (L - 1)) if L > 1 else 0.0
    of_sets = L * y.mean(axis=1).var(ddof=1)
    between = max((of_sets - within) / L, 0.0)
    if between == 0.0:  # at the edge: what is left is one variance
        within = ((y - y.mean(axis=0)) ** 2).sum() / ((D - 1) * L)
    rows = {}
    columns = [*table.columns, "all"]
    for name, values in zip(columns, [*y.T, y.mean(axis=1)], strict=True):
        spread = np.sqrt(between + within / (L if name == "all" else 1))
        rows[name] = {"datasets": D, "ahead": int((values > 0).sum())} | intervals(
            values.mean(), spread / np.sqrt(D), spread, D - 1
        )
    return pd.DataFrame(rows).T, {"between": float(between), "rest": float(within)}


def regret(which, missing=0.0):
    """How far a candidate is behind what is trained on just that pattern, by data set and pattern.

    That is the learner of all columns which its folds choose.
    Columns: ``dataset``, ``pattern``, ``gone`` (number of views that are missing), ``regret``.
    """
    found = []
    for dataset in scores(missing=missing).index.unique("dataset"):
        for pattern in patterns_of(dataset):
            best = chosen(family("all columns"), pattern=pattern)
            own = reached(which, f"at_{pattern}", missing=missing)
            loss = (best - own).dropna()
            loss = loss[loss.index.get_level_values("dataset") == dataset]
            if len(loss):
                found.append((dataset, pattern, pattern.count("0"), loss.mean()))
    return pd.DataFrame(found, columns=["dataset", "pattern", "gone", "regret"])


def beforehand():
    """What the folds of 100 training samples tell, by data set and learner: means over repeats."""
    rows, _ = with_parameters(read_ledger("fusion").query("item == 'before'"))
    rows = rows[rows["n_train"] == 100]
    table = rows.pivot_table(values="value", index=["dataset", "method"], columns="measure")
    return table.assign(lead=table["columns"] - table["best_view"])


def points(value):
    """A difference in points of accuracy; one on one side of 0 is never told as 0.

    >>> points(0.0123), points(-0.0004)
    ('+1.2', '−0.04')
    """
    number = 100.0 * value
    text = f"{number:+.2f}" if 0 < abs(number) < 0.05 else f"{round(number, 1) + 0.0:+.1f}"
    return text.replace("-", "\N{MINUS SIGN}")


def told(found, of="mean"):
    """A difference in points of accuracy as text, with an interval: of the mean, or the "next".

    >>> told({"difference": 0.012, "low": -0.0004, "high": 0.02})
    '+1.2 points (−0.04 to +2.0)'
    """
    ends = ("low", "high") if of == "mean" else ("next_low", "next_high")
    return "{} points ({} to {})".format(*(points(found[end]) for end in ("difference", *ends)))


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
        """What some data sets say of it: hit, miss, or cannot tell."""
        found = over_datasets(self.means(datasets))
        if found["low"] > self.margin:
            return found | {"verdict": "hit"}
        miss = found["difference"] <= self.margin
        return found | {"verdict": "miss" if miss else "cannot tell"}

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
        return family(words.removeprefix("use: "))
    if words not in CANDIDATES:
        raise ValueError(f"a statement names candidates, 'papers' or 'use: ...', got {words!r}.")
    return words


def statements(name="registered"):
    """The statements of a file, by name."""
    entries = tomllib.loads((HERE / f"{name}.toml").read_text("utf-8"))["statement"]
    return {entry["name"]: Statement(**entry) for entry in entries}


def leaves():
    """The tree of *Which method*: questions, what to take if yes, and the statement behind it."""
    return tomllib.loads((HERE / "advice.toml").read_text("utf-8"))["leaf"]


def outcomes(datasets=tuple(KEPT)):
    """Each registered statement: its power before, and what the data sets that were kept say."""
    return pd.DataFrame({
        name: {"text": of.text, "margin": of.margin, "expected": of.expected}
        | {"power": of.power(len(datasets))} | of.judged(datasets)
        for name, of in statements().items()
    }).T  # fmt: skip
