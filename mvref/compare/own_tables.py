"""Are views worth anything on *your* data? A nested, paired comparison of equal budgets.

Every candidate gets the same outer splits, the same inner folds and the same number of points to
choose from, tuned as the experiments of the book are (:mod:`~mvref.compare.tuning`). The plain
methods are always among them. What is compared in the end are differences on the same test parts,
with their interval (:mod:`mvref.compare.paired`).
"""

import sys
import time
import warnings
from collections.abc import Iterable, Mapping
from functools import partial

import joblib
import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy.special import log_softmax
from sklearn.base import clone
from sklearn.metrics import get_scorer
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from tqdm import tqdm

from ..core.input import (
    as_multiview,
    check_ids,
    check_number,
    check_votable,
    is_encoded,
    validate_groups,
    validate_targets,
    warn_of_views_by_class,
)
from ..core.voters import fit_in_groups, part_of
from .candidates import RECOMMENDED, candidate_of
from .comparison import Comparison
from .plain import REDUCED, plain_methods
from .seeds import derive_seed
from .tuning import Machine, Method, Split, train, validate


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
    n_splits=None,
    n_repeats=2,
    n_folds=None,
    folder=None,
    n_jobs=None,
    random_state=0,
    verbose=True,
):
    """Compare methods on your own data: nested, paired, with equal budgets.

    Parameters
    ----------
    X : MultiView, list or mapping of arrays, or 2-D array of n samples
        Two views or more; they may be missing.
    y : array-like of shape (n,); labels
    methods : "recommended", sequence of str or estimators, or mapping, default="recommended"
        "recommended": what the book's chapter *Which method* recommends for some kind of data, by
        its study of twenty data sets, unless `X` is too large for it, and reduced models where
        views are missing. Names are those of
        :func:`mvref.all_methods`; an estimator is tried as it stands. A mapping has names of yours
        -> estimator, or ``(estimator, points)`` with a list of parameter dicts, of which the first
        `budget` count. The baselines join in any case.
    views : sequence or mapping, default=None; widths, slices, indices or names that cut a 2-D `X`
    encode : transformer, default=None
        Makes numbers of views of text and categories, a :class:`mvref.PerView` for instance. It is
        fitted on every training part anew, and what it gives goes to all candidates.
    scoring : str or callable, default="accuracy"; a scorer of scikit-learn, larger is better
    groups : array-like of shape (n,), default=None
        Samples of one group (a patient, say) are never on both sides of a split.
    budget : int, default=6
        Parameter points that each candidate chooses from in the inner folds; of equally accurate
        ones it takes that of the smallest log loss. Who uses one view tries them on each.
    n_splits, n_repeats, n_folds : int, default=5, 2, 3
        Outer folds, how often the samples are shuffled into them, and inner folds. Fewer, with a
        warning, where the rarest class has fewer samples, or groups.
    folder : path, default=None
        Where finished trainings are kept, so that the same call goes on after an interruption.
    n_jobs : int or None, default=None; trainings in parallel (joblib)
    random_state : int, default=0; seed of splits and methods
    verbose : bool, default=True; show a progress bar; at the end, wall time and peak memory

    Returns
    -------
    comparison : Comparison

    Raises
    ------
    ValueError
        If an argument is none of these, there is one view, a sample has no view, or a class has
        fewer samples (or groups) than the splits that were asked for.

    See Also
    --------
    view_importance : What a view contributes to one fitted model.

    Notes
    -----
    The points of a candidate are spread evenly over the ranges in
    ``mvref.compare.candidates``. Dense features get mean 0 and variance 1 over each training
    part, gaps of single values its means. A candidate that fails in a split is in ``failures`` with
    its reason, and not in the table.

    The summary compares plain methods only: the same learners, with the same points, of all
    columns, of the best view, and by late fusion, and a stack of them. Of accuracy,
    balanced accuracy and the AUROC of two classes the intervals are those of the samples, else the
    corrected ones of the splits. By simulation (item ``calibration.intervals`` of the
    book, for accuracy) a sentence of either side is wrong in 1.5 and 1.7 % of the comparisons of
    equals; 8 points between linear machines are seen in 36, 81, 100 % of them at 100, 300, 1000
    samples, by the corrected interval of the same splits in 16, 56, 99 %.

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
    X, y, groups = _checked(X, y, views, groups)
    for name, value in {"budget": budget, "n_repeats": n_repeats}.items():
        check_number(value, name, low=1, integer=True)
    _check_encoded(X, encode)
    scorer = get_scorer(scoring)
    splits = outer_splits(X, y, groups, n_splits, n_repeats, n_folds, random_state)
    candidates = [*plain_methods(X), *chosen(methods, X)]
    keep = _keeper(folder)
    asked = (X, y, encode, groups, n_splits, n_repeats, n_folds, random_state, scoring)
    options = {"encoder": Encoder(encode), "scorer": scorer, "scoring": scoring, "budget": budget}
    options |= {"seed": random_state, "inputs": joblib.hash(asked) if folder else None}
    run = partial(one_training, **options, trained=keep)
    work = [(c, i) for i in range(len(splits)) for c in candidates]
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


def _keeper(folder):
    """:func:`trained`, which keeps what it computes in a folder."""
    try:
        return joblib.Memory(folder, verbose=0).cache(trained, ignore=["work"])
    except OSError as error:
        raise ValueError(f"folder must be one that can be written: {error}.") from error


def _checked(X, y, views, groups):
    """The views, labels of one type, and a number for each group."""
    check_ids(X, y=y, groups=groups)
    X = as_multiview(X, views)
    if X.n_views < 2:
        raise ValueError("X must have two views or more: cut its columns with views=[...].")
    check_votable(X)
    asked = type("compare_methods", (), {})()  # it is named where y is refused
    codes = validate_targets(asked, y, X.n_samples)
    warn_of_views_by_class(X, codes, asked.classes_)
    return X, asked.classes_[codes], validate_groups(groups, X.n_samples)


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
    of_class = [np.flatnonzero(y == label) for label in np.unique(y)]
    units = np.arange(len(y)) if groups is None else groups
    fewest = min(len(np.unique(units[rows])) for rows in of_class)
    n_splits = _folds(n_splits, 5, fewest, "n_splits")
    n_folds = _folds(n_folds, 3, max(fewest - -(-fewest // n_splits), 2), "n_folds")

    def cut(rows, n, *words):
        kind = StratifiedKFold if groups is None else StratifiedGroupKFold
        folds = kind(n, shuffle=True, random_state=derive_seed(seed, *words))
        inside = None if groups is None else groups[rows]
        return [(rows[a], rows[b]) for a, b in folds.split(rows, y[rows], inside)]

    return [
        Split(X, y, train, test, cut(train, n_folds, "inner", repeat, fold),
              {"repeat": repeat, "units": pd.factorize(units[test])[0], "groups": groups})
        for repeat in range(n_repeats)
        for fold, (train, test) in enumerate(cut(np.arange(len(y)), n_splits, "outer", repeat))
    ]  # fmt: skip


def _folds(asked, usual, fewest, name):
    """How many folds; fewer than usual where the rarest class has fewer samples or groups."""
    if asked is not None:
        check_number(asked, name, low=2, integer=True)
    if fewest < (asked or 2):
        raise ValueError(
            f"{name} must be at most the {fewest} samples (or groups) of the rarest class, "
            f"got {asked or usual}."
        )
    if asked is None and fewest < usual:
        warnings.warn(f"{name} is {fewest}, as the rarest class has no more.", stacklevel=4)
    return asked or min(usual, fewest)


def chosen(methods, X):
    """The candidates that the user asks for."""
    if isinstance(methods, str) and methods == "recommended":
        gaps = [] if X.observed.all() else REDUCED
        return [c for c in RECOMMENDED if X.n_samples <= (c.largest or np.inf)] + gaps
    if isinstance(methods, str) or hasattr(methods, "fit") or not isinstance(methods, Iterable):
        methods = [methods]
    if not isinstance(methods, Mapping):
        pairs = [(m, None) if isinstance(m, str) else (type(m).__name__, m) for m in methods]
        methods = dict(pairs)
        if len(methods) < len(pairs):
            names = [name for name, _ in pairs]
            raise ValueError(f"methods must have different names, got {names}: give a mapping.")
    reduced = {candidate.name: candidate for candidate in REDUCED}
    return [reduced.get(name) or candidate_of(name, given) for name, given in methods.items()]


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

    def fit(self, point):
        model, groups = self.build(point, self.X, self.seed), self.split.meta["groups"]
        fit_in_groups(model, self.X, self.y, None, part_of(groups, self.rows))
        self.model = model
        return self

    def predict(self, features):
        return self.model, features


class Failed(Exception):
    """A candidate failed, not the machine that it runs on; the reason."""


def one_training(candidate, split, number, *, trained, inputs, **options):
    """A row: a candidate on a split, computed or from the folder."""
    from .. import __version__

    row = {"candidate": candidate.name, "learner": candidate.learner, "knows": candidate.knows}
    row |= {"split": number, "repeat": split.meta["repeat"]}
    row |= {"n_train": len(split.train), "n_test": len(split.test)}
    work = partial(tuned_and_tested, candidate, split, number, **options)
    key = inputs and [inputs, __version__, *candidate.key(options["budget"]), number]
    try:
        return row | trained(key, work)
    except Failed as reason:
        return row | {"failure": str(reason)}


def trained(key, work):
    """What a training gives; kept by its key where there is a folder."""
    return work()


def tuned_and_tested(candidate, split, number, *, encoder, scorer, scoring, budget, seed):
    """Tune on the inner folds, train, and look at the test part."""

    def judge(model, features, rows):
        parts = by_sample(scoring, model, features, split.y[rows])
        return scorer(model, features, split.y[rows]) if parts is None else parts

    def quality(split, rows, answer):
        model, features = answer
        return np.array([np.mean(judge(*answer, rows)), tie(model, features, split.y[rows])]), 1

    machine = partial(Scored, build=candidate.build, encoder=encoder)
    method = Method(machine, candidate.points_of(split.X, budget))
    row, seed = {}, derive_seed(seed, "fit", number)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            values = validate(split, method, seed, quality)
            best = max(range(len(values)), key=lambda i: tuple(values[i]))
            run = train(split, method, best, seed, values[best])
            start = time.process_time()
            scores = judge(*run.predicted, split.test)
            row["predict_seconds"] = time.process_time() - start
    except Exception as error:  # any candidate may fail; the others go on, and the reason is told
        reason = str(error).split("\n")[0]
        raise Failed(f"{type(error).__name__}: {reason}") from error
    if np.ndim(scores):
        units = split.meta["units"]
        row |= {"parts": np.bincount(units, scores), "size": np.bincount(units)}
    row |= {"score": float(np.mean(scores)), "point": repr(run.point)}
    row |= dict(zip(("validation", "tie"), map(float, values[best]), strict=True))
    return row | {"fit_seconds": run.fit_seconds, "stopped": bool(run.messages)}


def by_sample(scoring, model, features, y):
    """What each sample (n,) adds to a score that is their mean; None for other scores.

    Of the area under the curve and of balanced accuracy: the score plus the sample's influence on
    it, so that the variance is that of DeLong, DeLong and Clarke-Pearson, Biometrics 44, 1988.
    """
    if scoring not in ("accuracy", "balanced_accuracy", "roc_auc"):
        return None
    classes, codes = np.unique(y, return_inverse=True)
    share = np.bincount(codes) / len(y)
    if scoring == "roc_auc":
        if len(classes) != 2:
            return None
        ask = getattr(model, "decision_function", None) or (lambda X: model.predict_proba(X)[:, 1])
        said = ask(features)
        above = said[codes == 1][:, None] - said[codes == 0]
        above = 0.5 + 0.5 * np.sign(above)
        own = np.empty(len(y))
        own[codes == 1], own[codes == 0] = above.mean(axis=1), above.mean(axis=0)
        return above.mean() + (own - above.mean()) / share[codes]
    own = np.asarray(model.predict(features) == y, dtype=float)
    if scoring == "accuracy":
        return own
    recall = np.bincount(codes, own) / np.bincount(codes)
    return recall.mean() + (own - recall[codes]) / share[codes] / len(classes)


def tie(model, features, y):
    """What decides between equal scores: minus the log loss; of scores, as if of a softmax."""
    told = log_probabilities(model, features)
    at = np.searchsorted(model.classes_, y)
    return 0.0 if told is None else np.mean(told[np.arange(len(y)), at])


def log_probabilities(model, features):
    """Logarithms (n, K) of what a model says of its classes; None of one with labels only."""
    if hasattr(model, "predict_proba"):
        return np.log(np.maximum(model.predict_proba(features), 1e-15))
    if not hasattr(model, "decision_function"):
        return None
    scores = model.decision_function(features)
    scores = scores if scores.ndim == 2 else np.column_stack([0.0 * scores, scores])
    return log_softmax(scores, axis=1)
