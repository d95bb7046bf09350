"""The methods that :mod:`.side_by_side` compares, and the parameters that each may choose from.

Every view has rows of mean squared norm 1, so that the width gamma of a Gaussian kernel
exp(-gamma |x - x'|^2) means the same in each view; with all V views side by side it is divided
by V. Methods that build on any classifier choose it among `BASES`. Methods for a performance
measure have the error rate; SMS has none, and is left with its default, the precision/recall
break-even point. What `FIXED` changes beside that makes a method cheaper: ten rounds of boosting,
looser tolerances, one start, three folds inside of CAPO and MSL. For the same reason some methods
choose among two points only, and MSL has no choice at all: each of its trainings tries every pair
of views.

`CONTROLS` are not in the comparison, but in the item that its advice rests on: plain classifiers
that stand beside a method, and MVNA-KMHKS with other components and couplings (`VARIANTS`).
"""

import pickle
import time

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import ParameterGrid
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from .. import all_methods
from ..rivals import Concat

MAX_POINTS = 4
BASES = {
    "tree": DecisionTreeClassifier(),
    "logistic, C = 1": LogisticRegression(C=1.0, max_iter=1000),
    "logistic, C = 100": LogisticRegression(C=100.0, max_iter=1000),
    "rbf, C = 10": SVC(C=10.0, gamma="scale"),  # gamma = 1 in one view, 1/V in all
}
WEAK = {
    "tree of depth 2": DecisionTreeClassifier(max_depth=2),
    "tree of depth 4": DecisionTreeClassifier(max_depth=4),
}
CLASSIFIERS = BASES | WEAK

GAMMA = (0.25, 1.0)
MARGIN = {"C": (3.0, 300.0), "gamma": GAMMA}
HO_KASHYAP = {"c": (1e-1, 1e-2), "gamma": GAMMA}
METRIC = {"lam": (1e-1, 1e-2), "gamma": GAMMA}
FACTORS = {"alpha": (1e-2, 1e-3), "n_factors": (2, 8)}
WEIGHTS = (10.0, 100.0, 1000.0, 10_000.0)

# method -> parameters to choose from: no more than `MAX_POINTS` combinations
GRIDS = {
    "MVLSVM": {"c": (100.0, 3000.0), "gamma": GAMMA},
    "MwMvC2": {"voters": ("trees", "random_trees")},
    "MVPO": {"C1": (0.01, 1.0), "C2": (100.0, 10_000.0)},
    "MVMClassifier": FACTORS,
    "MVNAKMHKS": HO_KASHYAP,
    "NAKMHKS": HO_KASHYAP,
    "KMHKS": HO_KASHYAP,
    "CAPO": {"C2": (100.0, 10_000.0)},
    "CoLabeling": MARGIN,
    "Concat": {"estimator": tuple(BASES)},
    "FMClassifier": FACTORS,
    "FSMulti": {"C2": (100.0, 1000.0)},
    "Fusion": {"estimator": tuple(BASES)},
    "L3SVM": {"c": (100.0, 3000.0), "n_clusters": (1, 5)},
    "MSL": {},
    "MVML": METRIC,
    "MVMLsp": METRIC,
    "MVMV": {"estimator": tuple(BASES)},
    "MVWAB": {"estimator": tuple(WEAK)},
    "Mono": {"estimator": tuple(BASES)},
    "Mumbo": {"estimator": tuple(WEAK)},
    "PerViewSVM": MARGIN,
    "RBoostSH": {"estimator": tuple(WEAK)},
    "SMS": {"C2": WEIGHTS},
    "STMClassifier": [
        {"C": (1.0,), "kernel": ("rank_one",)},
        {"C": (30.0,), "kernel": ("product",)},
    ],
    "SVM2K": {"C1": (1.0, 10.0)},
    "SVMPerf": {"C2": WEIGHTS},
    "LogisticRegression": {"C": (1.0, 10.0, 100.0, 1000.0)},
    "SVC": MARGIN,
    "Majority": {},
}
REFERENCES = ("LogisticRegression", "SVC", "Majority")  # scikit-learn, all views side by side
VARIANTS = {  # of MVNAKMHKS, whose default in GRIDS is half of the samples and the coupling 1
    "MVNAKMHKS-half-apart": {"coupling": (0.0,)},
    "MVNAKMHKS-all-apart": {"n_components": (1.0,), "coupling": (0.0,)},
}
CONTROLS = {
    "MeanKernelSVC": MARGIN,
    "ExtraTrees": {"max_features": ("sqrt", 0.2)},
    **{name: HO_KASHYAP | factors for name, factors in VARIANTS.items()},
}
SQUARED = {"loss": "squared_hinge"}
FIXED = {
    "MVLSVM": {"n_landmarks": 100} | SQUARED,
    "L3SVM": SQUARED,
    "MVPO": {"measure": "error"},
    "MVMClassifier": {"tol": 1e-4},
    "MVNAKMHKS": {"n_components": 0.5},
    "NAKMHKS": {"n_components": 0.5},
    "CAPO": {"measure": "error", "cv": 3},
    "FMClassifier": {"tol": 1e-5, "max_iter": 1000},
    "FSMulti": {"measure": "error", "tol": 0.1},
    "MSL": {"C": 30.0, "cv": 3, "max_iter": 10_000},
    "MVMLsp": {"sparse": True},
    "MVWAB": {"n_estimators": 10},
    "Mumbo": {"n_estimators": 10},
    "RBoostSH": {"n_estimators": 10},
    "SMS": {"tol": 1e-2},
    "STMClassifier": {"n_init": 1, "tol": 1e-2, "max_iter": 20},
    "SVM2K": {"D": 0.1, "gamma": 1.0, "tol": 0.1},
    "SVMPerf": {"measure": "error"},
}


class MeanKernelSVC(ClassifierMixin, BaseEstimator):
    """SVM on the mean of the views' Gaussian kernels, one class against the rest.

    gamma: width exp(-gamma |x - x'|^2) in every view. The Gaussian kernel of all views side by side
    is the *product* of these, this one their mean.
    """

    def __init__(self, C=1.0, gamma=1.0):
        self.C = C
        self.gamma = gamma

    def fit(self, X, y):
        """Keep the samples, and learn on the mean of the kernels of their views."""
        self.X_ = X
        self.machines_ = OneVsRestClassifier(SVC(C=self.C, kernel="precomputed"))
        self.machines_.fit(self._kernel(X), y)
        return self

    def predict(self, X):
        """Return the labels."""
        return self.machines_.predict(self._kernel(X))

    def _kernel(self, X):
        pairs = zip(X.views, self.X_.views, strict=True)
        return np.mean([rbf_kernel(a, b, gamma=self.gamma) for a, b in pairs], axis=0)


def points_of(method):
    """Return the parameter points of a method; of equally good ones the first is taken."""
    return list(ParameterGrid((GRIDS | CONTROLS)[method]))


def build(method, point, n_views, seed):
    """Return a classifier that is not fitted, at one of :func:`points_of`."""
    method = "MVNAKMHKS" if method in VARIANTS else method
    if method == "MeanKernelSVC":
        model = MeanKernelSVC(**point)
    elif method in OF_COLUMNS:
        model = Concat(OF_COLUMNS[method](point, n_views, seed))
    else:
        options = FIXED.get(method, {}) | point
        if "estimator" in options:
            options["estimator"] = clone(CLASSIFIERS[options["estimator"]])
        model = all_methods()["MVML" if method == "MVMLsp" else method](**options)
    return model.set_params(random_state=seed) if "random_state" in model.get_params() else model


OF_COLUMNS = {  # all views side by side; V: their number
    "LogisticRegression": lambda point, V, seed: LogisticRegression(**point, max_iter=1000),
    "SVC": lambda point, V, seed: OneVsRestClassifier(SVC(C=point["C"], gamma=point["gamma"] / V)),
    "ExtraTrees": lambda point, V, seed: ExtraTreesClassifier(**point, random_state=seed),
    "Majority": lambda point, V, seed: DummyClassifier(),
}


def stored_kilobytes(model):
    """Return how large a fitted model is in a file, in thousands of bytes."""
    return len(pickle.dumps(model, protocol=5)) / 1000.0


def seconds_of(function, n_times=1):
    """Return what a function returns, and its processor time, the median of `n_times` calls."""
    times = []
    for _ in range(n_times):
        start = time.process_time()
        result = function()
        times.append(time.process_time() - start)
    return result, float(np.median(times))


def timed(function, short=0.1, n_times=3):
    """Return what a function returns, and its seconds; the median of more calls if they are few."""
    result, seconds = seconds_of(function)
    return (result, seconds) if seconds > short else seconds_of(function, n_times)
