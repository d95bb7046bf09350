"""The study of part VI: what views are worth, and which method to take.

Methods    every classifier of mvref and the baselines of :mod:`.candidates`: each with its ranges,
           its scaling, and at most `BUDGET` points spread over the ranges, none at an end.
Data       :mod:`.study_data`: `EXPLORED`, on which the statements were formed, and `HELD_OUT`.
Parts      a stratified training part of 100, 300 or 1000 samples (`SIZES`), and at most
           `study_data.N_TEST` others that test; the same for all methods of a repeat.
Tuning     the point that is most accurate on `N_FOLDS` stratified folds of the training part.
Gaps       the trained model is asked again where views of the test part are missing: 25 and 50 % of
           the (sample, view) pairs at random (every sample keeps one), and one view, drawn for the
           repeat, of all samples, as when a sensor fails ("block"). Item ``gaps``: the training
           part has such random gaps, too, or half of its samples lack the view that fails. A method
           that takes no gaps gets the means of what trains.
Failures   are rows: ``failure`` is the number of the reason in `REASONS`, and the other measures
           are 0 and not read. A method has `LIMIT` seconds of the processor for a repeat, tuning
           included; one that runs out of them in its first `TRIALS` repeats is not asked again.
Cut        sizes and repeats before methods: `SIZES`.
"""

import warnings
from dataclasses import replace
from functools import partial

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVC

from mvref import PerViewClassifier
from mvref.compare.candidates import (
    ALL,
    COLUMNS,
    FOREST,
    STRENGTH,
    SVM,
    Candidate,
    all_columns,
    logistic,
    scaled_views,
)
from mvref.compare.kernel_means import KernelMeanSVC, without_gaps
from mvref.compare.tuning import Machine, Method, tuned
from mvref.core.input import MultiView
from mvref.rivals import LaplacianCompletion, Mono

from .engine import Item, derive_seed, encode_parameter
from .fusion import CHAIN, dense_columns, limited, with_gaps
from .study_data import EXPLORED, HELD_OUT, draw_split, sizes_of
from .tables import Cell, jobs_of

SIZES = {100: 20, 300: 3, 1000: 1}  # of the training part, and repeats
N_GAPS, MISSING, GAP_REPEATS = 100, (0.25, 0.5, "block"), 5  # ``gaps``: size, gaps, repeats
BOOSTING = {
    "learning_rate": (0.05, 0.5), "max_leaf_nodes": [4, 8, 31], "min_samples_leaf": [2, 5, 20],
}  # fmt: skip
BUDGET, N_FOLDS, LIMIT = 6, 3, 30.0
TRIALS = 3
TESTED = {"accuracy_r25": 0.25, "accuracy_r50": 0.5, "accuracy_block": "block"}
MEASURES = ("accuracy", *TESTED, "validation", "point", "fit_seconds", "failure")
QUICK_METHODS = ("RBF SVM, all columns", "MVLSVM", "KMHKS")
REASONS = (TimeoutError, ValueError, ArithmeticError, np.linalg.LinAlgError, MemoryError)


def svm_of_columns(**point):
    """An SVM on all columns, which the scaling of the views before it has balanced.

    As in the study's rows, those of X have norm sqrt(V): a kernel V times narrower at one gamma.
    """
    return make_pipeline(COLUMNS, SimpleImputer(keep_empty_features=True), SVC(**point))


def imputed_svm(fill):
    """The same, where a transformer of one table fills gaps with more than means."""
    return scaled_views(
        lambda **point: make_pipeline(FunctionTransformer(dense_columns), clone(fill), SVC(**point))
    )


def completed_svm(**point):
    """The same, where a graph of the reference view fills gaps of whole views."""
    completion = LaplacianCompletion(output="features", gamma=1.0)
    return make_pipeline(completion, svm_of_columns(**point))


def boosting(X, **point):
    """A candidate whose trees need no scaling and take gaps as they are."""
    columns = FunctionTransformer(dense_columns)
    return make_pipeline(columns, HistGradientBoostingClassifier(max_iter=40, **point))


def extra_trees(X, **point):
    """A candidate of random trees, 200 of them."""
    fill = SimpleImputer(keep_empty_features=True)
    return make_pipeline(COLUMNS, fill, ExtraTreesClassifier(200, **point))


def vote(C):
    """A logistic regression per view, and the mean of their probabilities."""
    return PerViewClassifier(logistic(C), combine="mean_proba")


def stacked(C):
    """A logistic regression per view, and one of what they say of samples they have not seen."""
    return PerViewClassifier(logistic(C), combine=LogisticRegression(max_iter=2000))


def stacked_svms(**point):
    """The same of an SVM per view."""
    return PerViewClassifier(SVC(**point), combine=LogisticRegression(max_iter=2000))


BASELINES = {
    "best single view": ("which", scaled_views(lambda **p: Mono(SVC(**p), cv=3)), SVM),
    "logistic, all columns": ("none", all_columns(logistic), STRENGTH),
    "RBF SVM, all columns": ("none", all_columns(SVC), SVM),
    "boosting, all columns": ("none", boosting, BOOSTING),
    "RBF SVM, views scaled alike": ("all", scaled_views(svm_of_columns), SVM),
    "SVM, mean of kernels": ("all", scaled_views(KernelMeanSVC), SVM),
    "vote of views": ("all", scaled_views(vote), STRENGTH),
    "stacking": ("all", scaled_views(stacked), STRENGTH),
    "extra trees, all columns": ("none", extra_trees, FOREST),
    "RBF SVM, kNN imputation": ("all", imputed_svm(KNNImputer(keep_empty_features=True)), SVM),
    "RBF SVM, iterative imputation": ("all", imputed_svm(CHAIN), SVM),
    "RBF SVM, Laplacian completion": ("all", scaled_views(completed_svm), SVM),
    "SVM, aligned kernels": ("all", scaled_views(partial(KernelMeanSVC, weights="alignment")), SVM),
    "stacking of SVMs": ("all", scaled_views(stacked_svms), SVM),
}  # fmt: skip
CANDIDATES = {name: Candidate(name, *of) for name, of in (BASELINES | ALL).items()}


class Filled(Machine):
    """The machine of a candidate; one that refuses gaps gets what stands for them in training."""

    def __init__(self, split, rows, seed, *, candidate):
        self.candidate, self.filled = candidate, False
        super().__init__(split, rows, seed)
        self.known = self.X

    def build(self, point, X, seed):
        """Return the candidate at a point."""
        return self.candidate.build(point, X, seed)

    def fit(self, point):
        """Train with the gaps, or without."""
        try:
            return super().fit(point)
        except ValueError:
            if self.X.observed.all():
                raise
        self.X, self.filled = without_gaps(self.X, self.known), True
        return super().fit(point)

    def predict(self, X):
        """Return labels of samples with gaps, or without."""
        if not self.filled:
            try:
                return self.model.predict(X)
            except ValueError:
                if X.observed.all():
                    raise
        self.filled = True
        return self.model.predict(without_gaps(X, self.known))


def on_split(name, method, *, measures, n_train, missing=0.0, budget=BUDGET, seed):
    """Tune, train and test a candidate; a failure is a row."""
    split = draw_split(name, n_train, N_FOLDS, seed)
    if missing:
        observed = split.X.observed.copy()
        observed[split.train] = with_gaps(split.X[split.train], missing, seed, trains=True).observed
        split = replace(split, X=MultiView(split.X.views, names=split.X.names, observed=observed))
    candidate = CANDIDATES[method]
    how = Method(partial(Filled, candidate=candidate), candidate.points(budget), ("validation",))
    try:
        with limited(LIMIT), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run = tuned(split, how, derive_seed(seed, "fit"))
            return run.measure(measures, {
                **{of: partial(accuracy_with_gaps, gap, seed) for of, gap in TESTED.items()},
                "failure": lambda run: 0.0,
            })  # fmt: skip
    except REASONS as error:
        number = [isinstance(error, kind) for kind in REASONS].index(True) + 1
        return dict.fromkeys(measures, 0.0) | {"failure": float(number)}


def accuracy_with_gaps(gap, seed, run):
    """Accuracy of the trained model where the test part has gaps."""
    X = with_gaps(run.features, gap, seed)
    return np.mean(run.machine.predict(X) == run.y_test)


def complete(dataset, quick, rows, *, n_train):
    """Every candidate at one size; quick: one repeat of `QUICK_METHODS`, at two points."""
    return cells_of(dataset, quick, rows, [({"n_train": n_train}, SIZES[n_train])])


def gaps(dataset, quick, rows):
    """The same where views of the training part are missing, too."""
    points = [{"n_train": N_GAPS, "missing": missing} for missing in MISSING]
    return cells_of(dataset, quick, rows, [(point, GAP_REPEATS) for point in points])


def transfer(dataset, quick, rows):
    """The data sets that the statements are tested on."""
    return cells_of(dataset, quick, rows, [({"n_train": 100}, SIZES[100])])


def cells_of(dataset, quick, rows, points):
    """All candidates at points, so many repeats each, where the data set has as many samples."""
    allowed, slow = sizes_of(dataset, tuple(SIZES)), out_of_time(dataset, rows)
    methods, options = (QUICK_METHODS, {"budget": 2}) if quick else (CANDIDATES, {})

    def n_repeats_of(method, point, n_repeats):
        if quick:
            return 1
        return min(n_repeats, TRIALS) if (method, encode_parameter(point)) in slow else n_repeats

    cells = [
        Cell(method, point, MEASURES, n_repeats_of(method, point, n_repeats), options)
        for point, n_repeats in points
        for method in methods
        if point["n_train"] in allowed
    ]
    return jobs_of(dataset, dataset, cells, on_split)


def out_of_time(dataset, rows):
    """What ran out of time in every one of its first `TRIALS` repeats: method and point."""
    rows = rows[(rows["dataset"] == dataset) & (rows["measure"] == "failure")]
    late = rows[(rows["repeat"] < TRIALS) & (rows["value"] == 1)]
    return {cell for cell, n in late.groupby(["method", "parameter"]).size().items() if n == TRIALS}


def large_enough(n_train):
    """The explored data sets with as many samples."""
    return tuple(name for name in EXPLORED if sizes_of(name, (n_train,)))


ITEMS = [
    *(
        Item("study", f"n{n}", f"accuracy of all methods after {n} samples", large_enough(n),
             partial(complete, n_train=n))
        for n in SIZES
    ),
    Item("study", "gaps", "accuracy where views are missing in training", large_enough(N_GAPS),
         gaps),
    Item("study", "transfer", "the statements on data that formed none", tuple(HELD_OUT), transfer),
]  # fmt: skip
