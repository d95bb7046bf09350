"""Evaluation of the study of part VI: measures of stored predictions, contrasts of candidates.

Among several candidates, the most accurate one on the inner folds is selected, with ties broken by
the log loss there: no test set is used. A failed candidate has the accuracy of *nothing*, the
majority class. All differences are analysed by the model of :mod:`.effects`. Advice
(:class:`Situation`) is compared with the best of all alternatives of a reader.
"""

import json
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from .effects import found, short, told_next
from .engine import Ledger, derive_seed
from .report import holm, read_ledger
from .study import ITEMS, PAPERS, probability_of, unpacked
from .study_data import KEPT, SIZES

LEARNERS = ("logistic", "RBF SVM", "extra trees", "boosting")
WIDE_LEARNER = "RBF SVM of few columns"  # only where a view has more columns than samples
AROUND = ("reduced models", "modality dropout")  # at the point selected for all columns
EVERY_USE = [  # uses of the views, and none: the options of cross-validation
    *(f"{learner}, {use}" for learner in (*LEARNERS, WIDE_LEARNER, "stack")
      for use in ("all columns", "best view", "late fusion", "views")),
    "RBF SVM, sum of kernels",
]  # fmt: skip
NO_USE = [f"{learner}, all columns" for learner in (*LEARNERS, WIDE_LEARNER, "stack")]
INDEX = ["n_train", "missing", "words", "test", "dataset", "repeat"]
HERE = Path(__file__).parent
# The reader's options; the first is the default without this book. Each is tuned by the folds.
ANSWERS = {
    "one learner on all columns": "use: all columns",
    "late fusion": "use: late fusion",
    "reduced models": "use: reduced models",
    "modality dropout": "use: modality dropout",
    "Co-Labeling": "CoLabeling",
    "the five papers": "papers",
}
DEFAULT = next(iter(ANSWERS))
NOW_CALLED = {  # name in registered statements -> current name
    "use: vote of views": "use: late fusion", "logistic, vote of views": "logistic, late fusion",
    "boosting, masked copies": "boosting, modality dropout",
    "use: masked copies": "use: modality dropout", "stack of learners, views": "stack, views",
    "stack of learners, all columns": "stack, all columns",
}  # fmt: skip


# ------------------------------------------------------------------------------- stored predictions


def splits_kept(folder=None):
    """Yield the key of every stored split, and its arrays."""
    ledger = Ledger("study", folder)
    rows = read_ledger("study", folder).query("measure == 'kept'")
    for row in rows.itertuples():
        point = json.loads(row.parameter)
        key = {"missing": 0.0, "words": 0} | point
        key |= {"dataset": row.dataset, "repeat": row.repeat}
        yield key, unpacked(ledger.file(row.item, row.dataset, point, row.repeat).read_bytes())


@lru_cache
def tables(folder=None):
    """Return tables by measure, a row for each test set (`INDEX`), a column for each candidate.

    Measures: accuracy, log_loss; on the folds validation and its tie; training seconds; failed.
    """
    found = {of: {} for of in MEASURED}
    for key, kept in splits_kept(folder):
        names = kept["candidate"].tolist()
        for t, test in enumerate(kept["tests"].tolist()):
            at = tuple((key | {"test": test})[name] for name in INDEX)
            for of, measure in MEASURED.items():
                found[of][at] = dict(zip(names, measure(kept, t), strict=True))
    return {of: _table(rows) for of, rows in found.items()}


def accuracy(kept, t):
    """Return the accuracy; for failed candidates, the accuracy of the majority class."""
    right = (kept["label"][:, t] == kept["codes"]).mean(axis=1)
    failed = kept["failure"] != ""
    return np.where(failed, right[kept["candidate"] == "nothing"], right)


def log_loss(kept, t):
    """Return the mean log loss; NaN for methods that predict labels alone."""
    right = kept["label"][:, t] == kept["codes"]
    levels = np.where(right, kept["sure"][:, t], kept["right"][:, t])
    return -np.log(probability_of(levels)).mean(axis=1)


MEASURED = {
    "accuracy": accuracy,
    "log_loss": log_loss,
    "validation": lambda kept, t: kept["worth"][:, 0],
    "tie": lambda kept, t: kept["worth"][:, 1],
    "seconds": lambda kept, t: np.where(kept["failure"] == "", kept["seconds"], np.nan),
    "failed": lambda kept, t: kept["failure"] != "",
}


def _table(rows):
    table = pd.DataFrame.from_dict(rows, orient="index").sort_index(key=lambda i: i.map(repr))
    table.index = pd.MultiIndex.from_tuples(table.index, names=INDEX)
    for use in AROUND:  # tuned as all columns, with the same validation
        for learner in LEARNERS:
            columns = f"{learner}, all columns"
            if {columns, f"{learner}, {use}"} <= set(table):
                table[f"{learner}, {use}"] = table[f"{learner}, {use}"].fillna(table[columns])
    return table


@lru_cache
def parts(measure, folder=None):
    """Return a measure's tables by training size, missing views in training, words and test set."""
    table = tables(folder)[measure]
    groups = table.groupby(level=INDEX[:4], sort=False)
    return {key: part.droplevel(INDEX[:4]).dropna(axis=1, how="all") for key, part in groups}


def scores(measure="accuracy", *, n_train=100, missing=0.0, test="", words=0, folder=None):
    """Return a measure by data set and repeat, a column per candidate; NaN if it was not run."""
    of = parts(measure, folder)
    return of.get((n_train, missing, words, test), next(iter(of.values())).iloc[:0])


def failures(folder=None):
    """Return the number of candidates run, and a Series with the reasons of all failures."""
    asked, reasons = 0, {}
    for key, kept in splits_kept(folder):
        asked += len(kept["failure"])
        for name, reason in zip(kept["candidate"], kept["failure"], strict=True):
            if reason:
                reasons[name, *key.values()] = str(reason)
    return asked, pd.Series(reasons, dtype=str)


# -------------------------------------------------------------------------------------- differences


def family(use):
    """Return the candidates of a use of the views: one for each learner."""
    return [f"{learner}, {use}" for learner in (*LEARNERS, WIDE_LEARNER)]


def chosen(names, measure="accuracy", **where):
    """Return the measure of the candidate that is best on the inner folds of each split."""
    values = scores(measure, **where)
    names = [name for name in names if name in values]
    right, tie = (scores(of, **where).reindex(columns=names) for of in ("validation", "tie"))
    order = np.lexsort((tie.fillna(-np.inf), right.fillna(-1.0)), axis=-1)
    best = values[names].to_numpy()[np.arange(len(values)), order[:, -1]]
    return pd.Series(best, index=values.index)


def reached(which, measure="accuracy", **where):
    """Return a measure of a candidate, or of the selected one of several, in every split."""
    if isinstance(which, str):
        return scores(measure, **where)[which]
    return chosen(which, measure, **where)


def gain(ahead, behind, measure="accuracy", datasets=None, **where):
    """Return the difference, `ahead` minus `behind`, by data set and repeat."""
    gaps = (reached(ahead, measure, **where) - reached(behind, measure, **where)).dropna()
    if datasets is not None:
        gaps = gaps[gaps.index.get_level_values("dataset").isin(datasets)]
    return gaps


def gains(use, against="all columns", **where):
    """Return the gains of a use of the views by learner."""
    pairs = {learner: (f"{learner}, {use}", f"{learner}, {against}") for learner in LEARNERS}
    return {learner: gain(*pair, **where) for learner, pair in pairs.items()}


def by_dataset(gaps):
    """Return the means over the repeats of every data set."""
    return gaps.groupby("dataset").mean()


def starred(models):
    """Format results of :func:`.found` as a table; *: significant after Holm's correction."""
    table = pd.DataFrame(models)
    adjusted = holm([of["p"] for of in table.to_numpy().ravel()]).reshape(table.shape)
    return table.map(short) + np.where(adjusted < 0.05, "*", "")


# ------------------------------------------------------------------------------------------- regret


TREATMENTS = ("all columns", "late fusion", *AROUND)


def regret(learner=None, missing=0.0, beside=()):
    """Return the regret of each treatment of missing views against the best with this learner.

    By data set, repeat and pattern of the test set. The best is selected on the other repeats of a
    data set, so that chance in its own split does not select it. `learner`: by default selected by
    cross-validation; `beside`: other candidates, compared with the same best. Columns are
    `TREATMENTS` and `beside`, and ``gone``, the number of missing views.
    """
    found = []
    for test in sorted({t for t in tables()["accuracy"].index.unique("test") if t[:3] == "at_"}):
        where = {"test": test, "missing": missing}
        reach = pd.DataFrame({
            use: reached(family(use) if learner is None else f"{learner}, {use}", **where)
            for use in TREATMENTS
        })  # fmt: skip
        sets = reach.groupby("dataset")
        others, several = sets.transform("sum") - reach, sets.transform("size") > 1
        best = reach.to_numpy()[np.arange(len(reach)), others.to_numpy().argmax(axis=1)]
        more = pd.DataFrame({one: reached(one, **where) for one in beside}, reach.index)
        behind = -reach.join(more).sub(best, axis=0)[several]
        found.append(behind.assign(pattern=test[3:], gone=test.count("0")))
    return pd.concat(found).set_index("pattern", append=True)


def sensor_of(dataset, repeat):
    """Return the pattern of the half of the training set that lacks a view in "block"."""
    [gaps] = (item for item in ITEMS if item.name == "gaps")
    lost = derive_seed(gaps.seed(dataset, repeat), "block") % SIZES[dataset][1]
    return "".join("01"[v != lost] for v in range(SIZES[dataset][1]))


# --------------------------------------------------------------------------------------- statements


@dataclass(frozen=True)
class Statement:
    """Claim that `ahead` is better than `behind` by more than a margin, on average over data sets.

    ahead, behind: a candidate, "use: ..." (the learner selected by the folds), or "papers"; test,
    missing: the test set, and missing views in training; expected: "hit", or "open" without a
    prediction; power_before: the registered power.
    """

    name: str
    text: str
    ahead: str
    behind: str
    test: str = ""
    measure: str = "accuracy"
    n_train: int = 100
    missing: float | str = 0.0
    margin: float = 0.0
    expected: str = ""
    power_before: float = np.nan

    def gain(self, datasets, repeats=None):
        """Return the differences of the statement, of all repeats or the first ones."""
        where = {"n_train": self.n_train, "missing": self.missing, "test": self.test}
        pair = map(candidates_of, (self.ahead, self.behind))
        gaps = gain(*pair, self.measure, datasets, **where)
        if repeats is not None:
            gaps = gaps[gaps.index.get_level_values("repeat") < repeats]
        return gaps

    def judged(self, datasets):
        """Return the result and verdict on some data sets; p: of the test against the margin."""
        gaps = self.gain(datasets)
        of = found(gaps)
        return of | {"verdict": self.verdict(of), "p": found(gaps - self.margin)["p"]}

    def verdict(self, of):
        """Return "hit", "miss", or "cannot tell"."""
        if of["low"] > self.margin:
            return "hit"
        return "miss" if of["difference"] <= self.margin else "cannot tell"

    def power(self, n_datasets, formed, repeats=1):
        """Return the power on `n_datasets` data sets, if they resemble the data sets `formed`."""
        of = found(self.gain(formed, repeats))
        spread = (of["high"] - of["difference"]) / stats.t.ppf(0.975, of["datasets"] - 1)
        spread *= np.sqrt(of["datasets"] / n_datasets)
        shift, df = (of["difference"] - self.margin) / spread, n_datasets - 1
        return float(stats.nct.sf(stats.t.ppf(0.975, df), df, shift))


def candidates_of(words):
    """Return the candidates named in a statement."""
    words = NOW_CALLED.get(words, words)
    if words == "papers":
        return list(PAPERS)
    if words.startswith("use: "):
        return family(words.removeprefix("use: "))
    return words


def statements(file="registered.toml"):
    """Return the registered statements of a file, by name."""
    entries = tomllib.loads((HERE / file).read_text("utf-8"))["statement"]
    for entry in entries:  # the first edition's notation of a test set
        measure = entry.pop("measure", "accuracy")
        entry["test"] = entry.get("test", measure.removeprefix("accuracy").strip("_"))
    return {entry["name"]: Statement(**entry) for entry in entries}


def outcomes(file="registered.toml", datasets=tuple(KEPT)):
    """Return each registered statement with its result on the data sets held out from it."""
    return pd.DataFrame({
        name: {"text": of.text, "margin": of.margin, "expected": of.expected}
        | {"power": of.power_before} | of.judged(datasets)
        for name, of in statements(file).items()
    }).T  # fmt: skip


# ------------------------------------------------------------------------------------------- advice


@dataclass(frozen=True)
class Situation:
    """Leaf of the tree of *Which method*: a question, and the advice if the answer is yes.

    take, avoid: some of `ANSWERS`; why: the reason to prefer one of several without a clear
    difference; tests: description -> test set and missing views in training.
    """

    name: str
    question: str
    take: tuple
    avoid: tuple
    why: str
    tests: dict

    def judged(self, test):
        """Compare each of the answers with the default, and with the best of the others.

        A row per answer: the intervals of both differences, the best other answer, and a verdict.
        *ahead*: of every other answer, which needs no correction for their number. *behind*: the
        best other, corrected for all pairs of answers, as the best was selected on the same rows.
        """
        part, missing = self.tests[test]
        reach = {
            one: reached(candidates_of(words), test=part, missing=missing)
            for one, words in ANSWERS.items()
        }
        pairs = {
            pair: found((reach[pair[0]] - reach[pair[1]]).dropna())
            for pair in permutations(ANSWERS, 2)
        }
        return pd.DataFrame({one: against_others(one, pairs) for one in ANSWERS}).T


def against_others(one, found):
    """Compare an answer with the others; `found` has an interval for every pair of answers."""
    others = [two for of, two in found if of == one]
    best = min(others, key=lambda two: found[one, two]["difference"])
    against, n_pairs = found[one, best], len(found) / 2
    ahead = all(found[one, two]["low"] > 0 for two in others)
    behind = against["difference"] < 0 and against["p"] * n_pairs < 0.05
    verdict = "ahead" if ahead else "behind" if behind else "level"
    default = found.get((one, DEFAULT))
    return {"default": default, "best": best, "against": against, "verdict": verdict}


def situations():
    """Return the leaves of the tree of *Which method*, in its order."""
    entries = tomllib.loads((HERE / "advice.toml").read_text("utf-8"))["situation"]
    return [Situation(**entry) for entry in entries]


def tree(leaves):
    """Return the tree of *Which method* as an HTML list: question, answer, evidence per leaf."""
    items = []
    for k, leaf in enumerate(leaves):
        no = "No. " if k else ""
        avoid = f" Avoid {_listed(leaf.avoid, 'and')}." if leaf.avoid else ""
        evidence = "".join(
            f"<p>{test[0].upper()}{test[1:]}:</p><ul>{''.join(_lines(leaf.judged(test)))}</ul>"
            for test in leaf.tests
        )
        items.append(
            f"<li><p>{no}<b>{leaf.question}</b></p>"
            f"<p>Yes: <b>{_listed(leaf.take, 'or')}</b>. {leaf.why}{avoid}</p>"
            "<details><summary>Evidence: differences in points, with 95 % CI</summary>"
            f"{evidence}</details></li>"
        )
    return f'<ol class="advice">{"".join(items)}</ol>'


def _listed(names, word):
    return f" {word} ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _lines(judged):
    """Yield a line for each answer: from the default, its PI, and from the best other answer."""
    for one, row in judged.iterrows():
        default = ""
        if row["default"]:
            default = f"{short(row['default'])} from {DEFAULT}, {told_next(row['default'])}; "
        yield f"<li>{one}: {default}{short(row['against'])} from {row['best']}, the best other: "
        yield f"<b>{row['verdict']}</b></li>"
