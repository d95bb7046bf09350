"""Are views worth anything on *your* data? A nested, paired comparison of equal budgets.

Every candidate gets the same outer splits, the same inner folds and the same number of points to
choose from; :func:`~mvref.compare.tuning.tuned` runs all of them, as it runs the experiments of
the book. The plain baselines are always among them. What is compared in the end are differences on
the same test parts, with the interval of the corrected resampled t-test (Nadeau and Bengio, 2003;
:mod:`mvref.compare.paired`).
"""

import hashlib
import json
import sys
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.metrics import get_scorer
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from tqdm import tqdm

from ..core.input import as_multiview, check_length, check_number, is_encoded
from .candidates import BASELINES, RECOMMENDED, candidate_of
from .paired import paired_interval
from .seeds import derive_seed
from .tuning import Machine, Method, Split, tuned

PRACTICAL = 0.01  # a difference that nobody would change a method for


def compare_methods(
    X,
    y,
    methods="recommended",
    *,
    views=None,
    encode=None,
    scoring="accuracy",
    groups=None,
    budget=6,
    n_splits=5,
    n_repeats=2,
    n_folds=3,
    folder=None,
    n_jobs=None,
    random_state=0,
    verbose=True,
):
    """Compare methods on your own data: nested, paired, with equal budgets.

    Parameters
    ----------
    X : MultiView, list or mapping of arrays, or 2-D array of n samples
        Views may be missing.
    y : array-like of shape (n,)
        Labels.
    methods : "recommended", sequence of str or estimators, or mapping, default="recommended"
        "recommended": what the book's chapter *Which method* recommends for some kind of data, by
        its study of twelve data sets, unless `X` is too large for it. Names are those of
        :func:`mvref.all_methods`; an estimator is tried as it stands. A mapping has names of yours
        -> estimator, or ``(estimator, points)`` with a list of parameter dicts, of which the first
        `budget` count. The baselines join in any case.
    views : sequence or mapping, default=None
        How to cut a 2-D `X` into views: widths, slices, index lists or column names.
    encode : transformer, default=None
        Makes numbers of views of text and categories, a :class:`mvref.PerView` for instance. It is
        fitted on every training part anew, and what it gives goes to all candidates.
    scoring : str or callable, default="accuracy"
        A scorer of scikit-learn; larger is better.
    groups : array-like of shape (n,), default=None
        Samples of one group (a patient, say) are never on both sides of a split.
    budget : int, default=6
        Parameter points that each candidate chooses from in the inner folds.
    n_splits, n_repeats, n_folds : int, default=5, 2, 3
        Outer folds, how often the samples are shuffled into them, and inner folds.
    folder : path, default=None
        Where finished trainings are kept, so that the same call goes on after an interruption.
    n_jobs : int or None, default=None; trainings in parallel (joblib)
    random_state : int, default=0
        Seed of splits and methods.
    verbose : bool, default=True
        Show a progress bar; at the end, wall time and peak memory.

    Returns
    -------
    comparison : Comparison

    Raises
    ------
    ValueError
        If an argument is none of these, or a class has fewer samples than there are splits.

    See Also
    --------
    view_importance : What a view contributes to one fitted model.

    Notes
    -----
    The points of a candidate are spread evenly over the ranges in
    ``mvref.compare.candidates``. Dense features get mean 0 and variance 1 over each training
    part, gaps of single values its means. Methods that use no views get all columns as one table. A
    candidate that fails in a split is in ``failures`` with its reason, and not in the table.

    Examples
    --------
    >>> from mvref import compare_methods
    >>> from mvref.datasets import load_iris_views
    >>> data = load_iris_views()
    >>> quick = {"budget": 1, "n_splits": 2, "n_repeats": 1, "n_folds": 2, "verbose": False}
    >>> found = compare_methods(data.X, data.y, ["KMHKS"], **quick)
    >>> bool(found.table.loc["KMHKS", "score"] > 0.9)
    True
    """
    X = as_multiview(X, views)
    y = np.asarray(y)
    check_length(y, X.n_samples)
    for name, value in {"budget": budget, "n_repeats": n_repeats}.items():
        check_number(value, name, low=1, integer=True)
    for name, value in {"n_splits": n_splits, "n_folds": n_folds}.items():
        check_number(value, name, low=2, integer=True)
    _check_encoded(X, encode)
    scorer = get_scorer(scoring)
    splits = outer_splits(X, y, groups, n_splits, n_repeats, n_folds, random_state)
    candidates = [*BASELINES, *chosen(methods, X)]
    asked = (X, y, encode, groups, n_splits, n_repeats, n_folds, random_state, scoring)
    store = Store(folder, asked)
    work = [(c, i) for i in range(len(splits)) for c in candidates]
    options = {"encoder": Encoder(encode), "scorer": scorer, "budget": budget, "seed": random_state}
    run = partial(one_training, **options, store=store)
    done = Parallel(n_jobs, return_as="generator")(
        delayed(run)(candidate, splits[i], i) for candidate, i in work
    )
    start = time.perf_counter()
    rows = list(tqdm(done, total=len(work), disable=not verbose))
    if verbose:
        print(f"{len(work)} trainings in {time.perf_counter() - start:.0f} s{peak_memory()}.")
    comparison = Comparison(pd.DataFrame(rows), str(scoring))
    if comparison.complete.empty:
        raise ValueError(f"every candidate failed:\n{comparison.failures.to_string()}")
    return comparison


def _check_encoded(X, encode):
    words = [name for name, view in zip(X.names, X.views, strict=True) if not is_encoded(view)]
    if encode is not None and not hasattr(encode, "transform"):
        raise ValueError(f"encode must be a transformer, got {encode!r}.")
    if words and encode is None:
        raise ValueError(
            f"X has views of words, {words}: encode must make numbers of them, as in "
            f"encode=PerView({{{words[0]!r}: TfidfVectorizer()}}, remainder='passthrough')."
        )


def peak_memory():
    """How much memory this process had at most, in words; "" where the system does not tell."""
    try:
        import resource
    except ImportError:  # Windows
        return ""
    unit = 1 if sys.platform == "darwin" else 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    return f", with at most {peak / 2**20:.0f} MiB of memory in this process"


def outer_splits(X, y, groups, n_splits, n_repeats, n_folds, seed):
    """The splits of all candidates, stratified, with groups whole, and their inner folds."""
    fewest = np.unique(y, return_counts=True)[1].min()
    if fewest < n_splits:
        raise ValueError(
            f"n_splits must be at most the {fewest} samples of the rarest class, got {n_splits}."
        )
    groups = None if groups is None else np.asarray(groups)
    if groups is not None:
        check_length(groups, X.n_samples)

    def cut(rows, n, *words):
        kind = StratifiedKFold if groups is None else StratifiedGroupKFold
        folds = kind(n, shuffle=True, random_state=derive_seed(seed, *words))
        inside = None if groups is None else groups[rows]
        return [(rows[a], rows[b]) for a, b in folds.split(rows, y[rows], inside)]

    return [
        Split(X, y, train, test, cut(train, n_folds, "inner", repeat, fold))
        for repeat in range(n_repeats)
        for fold, (train, test) in enumerate(cut(np.arange(len(y)), n_splits, "outer", repeat))
    ]


def chosen(methods, X):
    """The candidates that the user asks for."""
    if isinstance(methods, str) and methods == "recommended":
        return [c for c in RECOMMENDED if c.largest is None or X.n_samples <= c.largest]
    if isinstance(methods, str) or hasattr(methods, "fit"):
        methods = [methods]
    if not isinstance(methods, Mapping):
        pairs = [(m, None) if isinstance(m, str) else (type(m).__name__, m) for m in methods]
        methods = dict(pairs)
        if len(methods) < len(pairs):
            names = [name for name, _ in pairs]
            raise ValueError(f"methods must have different names, got {names}: give a mapping.")
    return [candidate_of(name, given) for name, given in methods.items()]


class Encoder:
    """Some samples of a split, encoded as its training samples are; once for all candidates."""

    def __init__(self, encode):
        self.encode, self.split, self.kept = encode, None, {}

    def __reduce__(self):
        return Encoder, (self.encode,)  # to another process, without what is kept

    def __call__(self, split, train, rows):
        if self.encode is None:
            return split.X[rows]
        if split is not self.split:
            self.split, self.kept = split, {}
        key = train.tobytes()
        if key not in self.kept:
            self.kept[key] = clone(self.encode).fit(split.X[train], split.y[train])
        if (key, rows.tobytes()) not in self.kept:
            self.kept[key, rows.tobytes()] = self.kept[key].transform(split.X[rows])
        return self.kept[key, rows.tobytes()]


class Scored(Machine):
    """A machine that answers with its model and the samples, for a scorer to judge."""

    def __init__(self, split, rows, seed, *, build, encoder):
        self.encoder = encoder
        super().__init__(split, rows, seed, build=build)

    def features(self, rows):
        return self.encoder(self.split, self.rows, rows)

    def predict(self, features):
        return self.model, features


def one_training(candidate, split, number, *, encoder, scorer, budget, seed, store):
    """Tune, train and test a candidate on a split: a row, from the store if it is there."""
    path = store.path(candidate, budget, number)
    row = store.read(path)
    if row is not None:
        return row

    def quality(split, rows, answer):
        model, features = answer
        return scorer(model, features, split.y[rows]), 1

    def build(point, X, seed):
        return candidate.build(point, X, seed)

    machine = partial(Scored, build=build, encoder=encoder)
    method = Method(machine, candidate.points(budget), ("validation",))
    row = {"candidate": candidate.name, "views": candidate.uses_views, "split": number}
    row |= {"n_train": len(split.train), "n_test": len(split.test)}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run = tuned(split, method, derive_seed(seed, "fit", number), quality)
            start = time.process_time()
            row["score"] = float(quality(split, split.test, run.predicted)[0])
            row["predict_seconds"] = time.process_time() - start
        row |= {"validation": float(run.validation), "fit_seconds": run.fit_seconds}
        row |= {"point": repr(run.point), "stopped": bool(run.messages)}
        store.write(path, row)
    except Exception as error:  # any candidate may fail; the others go on, and the reason is told
        reason = str(error).split("\n")[0]
        row["failure"] = f"{type(error).__name__}: {reason}"
    return row


class Store:
    """Finished trainings in a folder, one small file each, named by what they depend on."""

    def __init__(self, folder, inputs):
        self.folder = None if folder is None else Path(folder)
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)
            self.inputs = joblib.hash(inputs)

    def path(self, candidate, budget, number):
        """The file of a training; None without a folder."""
        from .. import __version__

        if self.folder is None:
            return None
        words = json.dumps([self.inputs, __version__, *candidate.key(budget), number])
        return self.folder / f"{hashlib.sha256(words.encode()).hexdigest()[:24]}.json"

    def read(self, path):
        """The row in a file; None if there is none."""
        if path is None or not path.exists():
            return None
        return json.loads(path.read_text(encoding="utf-8"))

    def write(self, path, row):
        """Write a row, whole or not at all."""
        if path is not None:
            part = path.with_suffix(".part")
            part.write_text(json.dumps(row), encoding="utf-8")
            part.replace(path)


@dataclass(frozen=True, eq=False)
class Comparison:
    """What :func:`mvref.compare_methods` found.

    Parameters
    ----------
    rows : DataFrame
        One row per candidate and split: ``score``, ``validation``, ``point``, seconds, ``failure``.
    scoring : str

    Examples
    --------
    >>> import pandas as pd
    >>> from mvref import Comparison
    >>> rows = [("a", False, 0, 0.8, 0.8), ("b", True, 0, 0.9, 0.8)]
    >>> names = ["candidate", "views", "split", "score", "validation"]
    >>> Comparison(pd.DataFrame(rows, columns=names), "accuracy").best(uses_views=False)
    'a'
    """

    rows: pd.DataFrame = field(repr=False)
    scoring: str

    @property
    def failures(self):
        """DataFrame of the trainings that failed, with the reason."""
        if "failure" not in self.rows:
            return self.rows.iloc[:0][["candidate", "split"]].assign(failure="")
        failed = self.rows["failure"].notna()
        return self.rows.loc[failed, ["candidate", "split", "failure"]].reset_index(drop=True)

    @property
    def complete(self):
        """The rows of the candidates that never failed."""
        return self.rows[~self.rows["candidate"].isin(self.failures["candidate"])]

    def _choices(self):
        """Of every split and family the row of the candidate that is best in the inner folds."""
        rows = self.complete
        return rows.loc[rows.groupby(["split", "views"])["validation"].idxmax()]

    def best(self, uses_views):
        """Return the candidate of a family that most splits choose by their inner folds.

        Parameters
        ----------
        uses_views : bool

        Returns
        -------
        name : str
        """
        choices = self._choices()
        return choices.loc[choices["views"] == uses_views, "candidate"].value_counts().idxmax()

    def _interval(self, differences):
        rows = self.rows
        return paired_interval(differences, (rows["n_test"] / rows["n_train"]).mean())

    @property
    def baseline(self):
        """Name of the baseline that is best in the inner folds."""
        rows = self.complete
        plain = rows[rows["candidate"].isin([candidate.name for candidate in BASELINES])]
        return plain.groupby("candidate", sort=False)["validation"].mean().idxmax()

    @property
    def table(self):
        """DataFrame, a row per candidate, the best first.

        ``score``: mean over the test parts; ``difference``, ``low``, ``high``: mean of its score
        minus the best baseline's, and the 95 % interval of that difference; mean seconds.
        """
        rows, reference = self.complete, self.baseline
        scores = rows.pivot(index="split", columns="candidate", values="score")
        table = rows.groupby("candidate")[["score", "fit_seconds", "predict_seconds"]].mean()
        table.insert(0, "views", rows.groupby("candidate")["views"].first())
        gaps = {name: self._interval(scores[name] - scores[reference]) for name in scores}
        gaps[reference] = (0.0, 0.0, 0.0)
        for k, column in enumerate(("difference", "low", "high")):
            table.insert(2 + k, column, [gaps[name][k] for name in table.index])
        return table.sort_values("score", ascending=False, kind="stable")

    def worth_of_views(self):
        """Return what it is worth to know which columns form a view, with its 95 % interval.

        In every split the best method of each family is chosen by the inner folds alone; what is
        compared are these two choices on the test part.

        Returns
        -------
        difference, low, high : float
        """
        rows = self.complete
        if rows["views"].nunique() < 2:
            raise ValueError(f"a whole family of candidates failed:\n{self.failures.to_string()}")
        scores = self._choices().pivot(index="split", columns="views", values="score")
        return self._interval(scores[True] - scores[False])

    @property
    def summary(self):
        """One sentence: whether the views, as views, are worth anything."""
        mean, low, high = self.worth_of_views()
        told = f"difference in {self.scoring} {mean:+.3f}, 95 % interval {low:+.3f} to {high:+.3f}"
        with_views, without = self.best(True), self.best(False)
        pair = f"the best that knows them (mostly {with_views}) against the best that does not "
        pair += f"(mostly {without}), chosen in every split by its inner folds"
        if low > 0:
            return f"The views, as views, are worth something here: {pair}, {told}."
        if high < 0:
            return f"The views, as views, cost here: {pair}, {told}."
        if max(-low, high) <= PRACTICAL:
            return (
                "The views carry nothing here beyond their columns side by side: "
                f"{pair}, {told}, all within {PRACTICAL:g}."
            )
        return f"These data cannot tell whether views are worth anything: {pair}, {told}."

    def plot(self, ax=None):
        """Draw every candidate's difference to the best baseline with its interval.

        Parameters
        ----------
        ax : matplotlib axes, optional

        Returns
        -------
        ax : matplotlib axes
        """
        import matplotlib.pyplot as plt

        ax = plt.subplots()[1] if ax is None else ax
        table = self.table[::-1]
        spread = [table["difference"] - table["low"], table["high"] - table["difference"]]
        for uses_views, marker in ((True, "o"), (False, "s")):
            rows = np.flatnonzero(table["views"] == uses_views)
            ax.errorbar(
                table["difference"].iloc[rows],
                rows,
                xerr=[side.iloc[rows] for side in spread],
                fmt=marker,
                label="knows the views" if uses_views else "does not know them",
            )
        ax.axvline(0.0, color="black", lw=1)
        ax.axvspan(-PRACTICAL, PRACTICAL, color="grey", alpha=0.15, lw=0)
        ax.set_yticks(range(len(table)), table.index)
        ax.set_xlabel(f"{self.scoring} minus that of {self.baseline}")
        ax.legend()
        return ax

    def __str__(self):
        table = self.table.round({"fit_seconds": 2, "predict_seconds": 2}).round(3)
        told = [f"{row.candidate} failed: {row.failure}" for row in self.failures.itertuples()]
        stopped = self.complete.groupby("candidate")["stopped"].agg(["sum", "count"])
        for name, of in stopped[stopped["sum"] > 0].iterrows():
            share = f"{of['sum']} of {of['count']} splits"
            told.append(f"{name} stopped before it converged in {share}")
        return "\n".join([table.to_string(), *dict.fromkeys(told), self.summary])
