"""The rows of the study of part VI: the candidates of `compare_methods` on real data, predictions.

Candidates  the plain ones of :func:`~mvref.compare_methods` (learner x use of the views, stacks,
            reduced models, modality dropout), tuned and trained by its own code; the methods of the
            five papers and two rivals (`METHODS`); other common methods (`BESIDE`); and the mean of
            the learners on the concatenated features, each tuned.
Points      as many as in `compare_methods`, selected on three folds of the training set.
Data        :mod:`.study_data`; text with all words, by tf-idf.
Parts       a stratified training set, and at most 500 other samples as test set; the same for all
            candidates of a repeat. With people, the next person is the test set.
Gaps        the test set complete (""); with a fraction of its (sample, view) pairs missing at
            random ("r25", "r50"); and with the same views missing in all samples ("at_0111"). Item
            ``gaps``: training views are missing at random, too, or half lacks a view ("block").
Kept        labels and probabilities for all test sets, see :func:`packed`; every measure is
            computed from these, by :mod:`.study_reading`.
Failures    are stored with the reason. A method has `LIMIT` seconds of processor time.
"""

import lzma
import signal
import threading
import warnings
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from io import BytesIO

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.special import expit, logit, softmax
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.impute import KNNImputer
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC

from mvref import PerView
from mvref.compare.candidates import ALL, SVM, Candidate, UnitRows, scaling
from mvref.compare.columns import Columns
from mvref.compare.judge import Answer
from mvref.compare.learners import CLASSIFIERS, OfTrees, Said
from mvref.compare.plain import learners_for
from mvref.compare.splits import Outcome, Question, Split, SplitWork

from . import study_data
from .engine import Item, derive_seed
from .kernel_means import KernelMeanSVC
from .study_data import (
    N_FOLDS,
    N_SAMPLES,
    N_WORDS,
    STUDIED,
    common_words,
    load,
    patterns_of,
    size_of,
)
from .tables import Cell, jobs_of, stratified_folds, stratified_parts

SIZES = {100: 3, 300: 3, 1000: 3}  # size of the training set -> repeats
REPEATS_OF = {"nutrimouse": 20, "uwave": 8, "shoulder-exercises": 10}  # eight mice; all people
GAPS = (0.5, "block")
SHARES = {"r25": 0.25, "r50": 0.5}
BUDGET, LIMIT = 6, {100: 120.0, 300: 240.0, 1000: 480.0}
MOST_COLUMNS = 5000  # limit for nearest neighbours, which need dense columns
COUNTED = ("webkb", "citeseer")  # with word counts
N_TEST = 500
PAPERS = ("MVLSVM", "MwMvC2", "MVPO", "MVMClassifier", "MVNAKMHKS")
METHODS = [Candidate(name, *ALL[name]) for name in (*PAPERS, "CoLabeling", "MVML")]
WITH_GAPS = (*PAPERS, "CoLabeling", "RBF SVM, neighbours")  # beside the plain ones, in ``gaps``
LEVELS, STEP = 255, 0.25  # levels of a probability, and their distance on the logit scale
MEASURES = ("candidates", "failed", "kept")


# ------------------------------------------------------------------------------------ candidates


def on_columns(method):
    """Return a builder of a method on the concatenated features."""
    return lambda X, **point: make_pipeline(Columns(), method(**point))


def on_best_columns(method):
    """Return a builder of a method on the most informative columns, as in the other boosting."""
    front = OfTrees("").front
    return lambda X, **point: make_pipeline(Columns(), front({}, sum(X.widths)), method(**point))


def light_boosting(**point):
    """Return LightGBM with sixty rounds."""
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_estimators=60, n_jobs=1, verbose=-1, deterministic=True, **point)


def stopping_boosting(**point):
    """Return histogram boosting with early stopping on a held-out fifth of the samples."""
    return HistGradientBoostingClassifier(
        max_iter=200, early_stopping=True, validation_fraction=0.2, **point
    )


def forest(**point):
    """Return a random forest of 200 trees."""
    return RandomForestClassifier(200, **point)


def sum_of_kernels(X, **point):
    """Return a Gaussian SVM on the mean of the views' kernels."""
    scaled = {name: scaling([view]) for name, view in zip(X.names, X.views, strict=True)}
    return make_pipeline(PerView(scaled), KernelMeanSVC(**point))


def neighbours(X, **point):
    """Return a Gaussian SVM on the concatenated features with nearest-neighbour imputation."""
    table, fill = FunctionTransformer(dense_columns), KNNImputer(keep_empty_features=True)
    return make_pipeline(table, StandardScaler(), fill, UnitRows(), SVC(**point))


def dense_columns(X):
    """Return the concatenated features as a dense array, NaN where a view is missing."""
    dense = [view.toarray() if sparse.issparse(view) else view for view in X.views]
    pairs = zip(dense, X.observed.T, strict=True)
    return np.hstack([np.where(seen[:, None], view, np.nan) for view, seen in pairs])


RATE = {"learning_rate": (0.03, 0.3), "max_leaf_nodes": [4, 8, 31], "min_samples_leaf": [2, 5, 20]}
LIGHT = {"learning_rate": (0.03, 0.3), "num_leaves": [4, 8, 31], "min_child_samples": [2, 5, 20]}
WOOD = {"max_features": ["sqrt", 0.3], "min_samples_leaf": [1, 3]}
BESIDE = [
    Candidate("RBF SVM, sum of kernels", "all", sum_of_kernels, SVM),
    Candidate("RBF SVM, neighbours", "none", neighbours, SVM),
    Candidate("random forest, all columns", "none", on_columns(forest), WOOD),
    Candidate("stopping boosting, all columns", "none", on_best_columns(stopping_boosting),
              RATE),
    Candidate("LightGBM, all columns", "none", on_columns(light_boosting), LIGHT),
]  # fmt: skip
MEAN = "mean of learners, all columns"


def mean_of_learners(outcomes):
    """Return the mean probabilities of the learners on all columns, each at its own point."""
    names = [f"{learner.name}, all columns" for learner in CLASSIFIERS]
    members = [one for one in outcomes if one.candidate in names and not one.failure]
    answers = []
    for told in zip(*(one.answers for one in members), strict=True):
        mean = np.mean([probabilities_of(answer.said) for answer in told], axis=0)
        classes = np.unique(np.concatenate([answer.model.classes_ for answer in told]))
        answers.append(Answer(classes[mean.argmax(axis=1)], Said(mean, "probabilities")))
    seconds = sum(one.seconds for one in members)
    worth = (np.nan, np.nan)  # no cross-validation: nothing is tuned
    return Outcome(MEAN, "mean", "none", "", seconds, worth, answers)


def probabilities_of(said):
    """Return probabilities (n, K); margins are converted by a softmax."""
    told = said.probabilities
    return softmax(said.scores, axis=1) if told is None else told


# ------------------------------------------------------------------------------------------ data


def draw(name, n_train, seed, repeat):
    """Return views, labels and groups of training, then test samples; folds; training size.

    In data with people, the test set is one person, the next one in every repeat.
    """
    X, y, people = load(name)
    rows = np.arange(len(y))
    if people is not None:
        who = np.unique(people)[repeat % len(np.unique(people))]
        test, rows = rows[people == who], rows[people != who]
    size = size_of(name, n_train)
    train, others = stratified_parts(y, derive_seed(seed, "train"), rows, train_size=size)
    test = others if people is None else test
    if len(test) > N_TEST:
        _, test = stratified_parts(y, derive_seed(seed, "test"), test, test_size=N_TEST)
    inside = np.arange(size)
    if people is None:
        folds = stratified_folds(y[train], inside, N_FOLDS, derive_seed(seed, "folds"))
    else:
        folds = list(GroupKFold(N_FOLDS).split(inside, groups=people[train]))
    rows = np.concatenate([train, test])
    return X[rows], y[rows], None if people is None else people[rows], folds, size


def with_gaps(X, gap, seed, trains=False):
    """Drop a fraction `gap` of the views; "block": one view, in training for half the samples."""
    if gap != "block":
        most = 1.0 - 1.0 / X.n_views
        seed = (seed, "train") if trains else seed
        return X.drop_views(min(gap, most), random_state=derive_seed(seed, "gaps", gap)).observed
    lost = np.random.RandomState(derive_seed(seed, "lost")).permutation(len(X))
    lost = lost[: len(X) // 2] if trains else lost
    observed = np.ones((len(X), X.n_views), dtype=bool)
    observed[lost, derive_seed(seed, "block") % X.n_views] = False
    return observed


def tests_of(name, n_train, missing):
    """Return the names of the test sets with missing views."""
    if n_train != 100 or missing == GAPS[0]:
        return ["r50"]
    shares = list(SHARES) if not missing else ["r50"]
    return [*shares, *(f"at_{pattern}" for pattern in patterns_of(name))]


def methods_of(name, missing):
    """Yield the candidates beside the plain ones."""
    wide = study_data.SIZES[name][2] > MOST_COLUMNS
    for one in (*METHODS, *BESIDE):
        neighbours = one.name == "RBF SVM, neighbours"
        if (not missing or one.name in WITH_GAPS) and not (neighbours and wide):
            yield one


def question_of(name, n_train, missing, words, seed, repeat, budget):
    """Return a split and its question, in the form of :mod:`mvref.compare`."""
    X, y, groups, folds, n = draw(name, n_train, seed, repeat)
    if words:
        X = common_words(X, np.arange(n))
    later = {}
    for test in tests_of(name, n_train, missing):
        observed = np.ones((len(X), X.n_views), dtype=bool)
        if test in SHARES:
            observed[n:] = with_gaps(X[n:], SHARES[test], seed)
        else:
            observed[n:] = [c == "1" for c in test.removeprefix("at_")]
        later[test] = observed
    if missing:
        observed = X.observed.copy()
        observed[:n] = with_gaps(X[:n], missing, seed, trains=True)
        X = X.with_observed(observed)
    encode = None
    if name in COUNTED:
        counts = [v for v, view in zip(X.names, X.views, strict=True) if sparse.issparse(view)]
        encode = PerView(dict.fromkeys(counts, TfidfTransformer()), remainder="passthrough")
    classes, codes = np.unique(y, return_inverse=True)
    learners = learners_for(X[:n], classes)
    methods = tuple(methods_of(name, missing))
    question = Question(X, y, codes, classes, groups, encode, "accuracy", later, learners, methods,
                        budget, derive_seed(seed, "fit"))  # fmt: skip
    return question, Split(0, 0, np.arange(n), np.arange(n, len(y)), folds)


# ------------------------------------------------------------------------------------------ work


@contextmanager
def limited(seconds):
    """Raise a TimeoutError after `seconds` of processor time, if the system supports it."""
    here = threading.current_thread() is threading.main_thread()
    if not (here and hasattr(signal, "setitimer")):
        yield
        return

    def stop(*_):
        raise TimeoutError(f"more than {seconds:g} s of the processor")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def on_split(
    name, method, *, measures, n_train, missing=0.0, words=0, repeat, seed, budget=BUDGET, only=None
):
    """Run all candidates of a split; only: names of methods beside the plain ones, default all."""
    question, split = question_of(name, n_train, missing, words, seed, repeat, budget)
    if only is not None:
        kept = tuple(one for one in question.methods if one.name in only)
        question = replace(question, methods=kept)
    work = SplitWork(question, split)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = list(work.plain())
        found.append(mean_of_learners(found))
        for one in question.others():
            with limited(LIMIT[n_train]):
                found.append(work.method(one))
    tests = ["", *question.later]
    content = packed(found, tests, question.codes[split.test], question.classes)
    failed = sum(bool(one.failure) for one in found)
    return {"candidates": float(len(found)), "failed": float(failed), "kept": content}


def live(X, y, train, test, *, learners=(), methods=(), later=None, budget=3, seed=0):
    """Return accuracies on a given split: a row for each test set, a column for each candidate.

    learners: of the plain candidates; methods: `Candidate`s beside these; later: name -> observed
    (n, V), the observed views of the samples in a further test set.
    """
    classes, codes = np.unique(y, return_inverse=True)
    folds = stratified_folds(y[train], np.arange(len(train)), N_FOLDS, seed)
    question = Question(X, y, codes, classes, None, None, "accuracy", later or {}, tuple(learners),
                        tuple(methods), budget, seed)  # fmt: skip
    work = SplitWork(question, Split(0, 0, train, test, folds))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [*work.plain(), *map(work.method, methods)]
    parts = {"": test} | {name: rows for name, rows, _ in work.later}
    right = {
        one.candidate: [
            np.mean(answer.labels == y[rows])
            for answer, rows in zip(one.answers, parts.values(), strict=True)
        ]
        for one in found
    }
    return pd.DataFrame(right, index=list(parts))


def packed(outcomes, tests, codes, classes):
    """Encode the outcomes of a split as bytes; :func:`unpacked` decodes them.

    For each candidate, test set and sample: the predicted label, its probability and, for a wrong
    label, the probability of the right one, both as steps of the logit, a byte each.
    """
    shape = len(outcomes), len(tests), len(codes)
    label, sure, right = (np.full(shape, LEVELS, dtype=np.uint8) for _ in range(3))
    for c, one in enumerate(outcomes):
        for t, answer in enumerate(one.answers):
            label[c, t] = np.searchsorted(classes, answer.labels)
            if answer.said is not None:
                told = probabilities_of(answer.said)
                rows, wrong = np.arange(len(codes)), np.flatnonzero(label[c, t] != codes)
                sure[c, t] = level_of(told[rows, label[c, t]])
                right[c, t, wrong] = level_of(told[wrong, codes[wrong]])
    of = {
        "candidate": [one.candidate for one in outcomes],
        "point": [repr(one.point) for one in outcomes],
        "failure": [one.failure for one in outcomes],
        "seconds": [one.seconds for one in outcomes],
        "worth": [one.worth or (np.nan, np.nan) for one in outcomes],
    }
    of = {name: np.array(values) for name, values in of.items()}
    content = BytesIO()
    np.savez(content, tests=np.array(tests), codes=codes.astype(np.uint8), label=label, sure=sure,
             right=right, **of)  # fmt: skip
    return lzma.compress(content.getvalue())


def level_of(probabilities):
    """Return probabilities as steps of the logit in a byte, 127 at one half."""
    with np.errstate(divide="ignore"):
        steps = np.round(logit(np.clip(probabilities, 0.0, 1.0)) / STEP)
    return (np.clip(steps, -127, 127) + 127).astype(np.uint8)


def probability_of(levels):
    """Return the probabilities of levels; NaN where there is none."""
    steps = levels.astype(float) - 127
    return np.where(levels == LEVELS, np.nan, expit(STEP * steps))


def unpacked(content):
    """Return the arrays of a split by name."""
    with np.load(BytesIO(lzma.decompress(content))) as arrays:
        names = np.char.replace(arrays["candidate"], "masked copies", "modality dropout")
        return dict(arrays) | {"candidate": names}  # its current name


# ----------------------------------------------------------------------------------------- items


def splits(dataset, quick, rows, *, points):
    """Yield the jobs of a data set at some points; quick: one job, with few candidates."""
    others = {100: REPEATS_OF}
    cells = [
        Cell("all candidates", point, MEASURES, others.get(n, {}).get(dataset, SIZES[n]))
        for point in points
        for n in [point["n_train"]]
    ]
    if quick:
        cells = [replace(cell, n_repeats=1, options={"budget": 1, "only": ("MVLSVM",)})
                 for cell in cells[:1]]  # fmt: skip
    for job in jobs_of(dataset, dataset, cells, on_split):
        yield replace(job, function=partial(job.function, repeat=job.repeat))


def large_enough(n_train):
    """Return the data sets that leave a fifth of the samples for testing, but not `N_TEST` + 1."""
    left = {name: N_SAMPLES[name] - size_of(name, n_train) for name in STUDIED}
    return tuple(n for n, k in left.items() if 5 * k >= N_SAMPLES[n] and k != N_TEST + 1)


TEXTS = (*COUNTED, "reuters1200")
ITEMS = [
    *(
        Item("study", f"n{n}", f"every candidate after {n} samples", large_enough(n),
             partial(splits, points=[{"n_train": n}]), seeds=f"n{n}")
        for n in SIZES
    ),
    Item("study", "gaps", "the same, where training has gaps", tuple(STUDIED),
         partial(splits, points=[{"n_train": 100, "missing": gap} for gap in GAPS]), seeds="n100"),
    Item("study", "words", "text cut to its commonest words", TEXTS,
         partial(splits, points=[{"n_train": 100, "words": N_WORDS}]), seeds="n100"),
]  # fmt: skip
