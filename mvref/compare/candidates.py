"""The methods that :func:`~mvref.compare_methods` can try, and their hyperparameter ranges.

The settings of a candidate are the first points of a Halton sequence in its ranges, so that any
number of them covers the ranges evenly and begins in the middle. Dense features are standardised on
every training set (missing values become 0); then the mean squared norm of a row is made 1, so that
a kernel width gamma means the same everywhere: for every view separately if a candidate uses the
views, and for all features together if it must not know the views.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

import joblib
import numpy as np
from scipy import sparse
from scipy.stats import qmc
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin, clone
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from .. import MultiView, PerView
from ..core.voters import check_classifier
from ..mvl_svm import MVLSVM
from ..mvm import MVMClassifier, MVMRegressor
from ..mvna_kmhks import KMHKS, MVNAKMHKS, NAKMHKS
from ..mvpo import MVPO
from ..mwmvc2 import MwMvC2
from ..rivals import (
    CAPO,
    L3SVM,
    MSL,
    MVML,
    MVMV,
    MVWAB,
    SMS,
    SVM2K,
    CoLabeling,
    Concat,
    FMClassifier,
    FMRegressor,
    FSMulti,
    Fusion,
    Mono,
    Mumbo,
    PerViewSVM,
    RBoostSH,
    STMClassifier,
    SVMPerf,
)


@dataclass(frozen=True)
class Candidate:
    """A method, its knowledge of the views, and its hyperparameter ranges.

    knows: "none" (concatenated features), "which" (a single view) or "all" (all views); make:
    ``make(X, **point)`` returns an unfitted estimator for the views of X; space: name -> (low,
    high), a logarithmic range, or a list of choices; largest: number of samples above which it
    takes minutes and is not recommended; given: settings of a user's own estimator, in place of a
    space; learner: learning algorithm of a baseline; its settings are tried on each view if it uses
    a single one.
    """

    name: str
    knows: str
    make: object
    space: Mapping = field(default_factory=dict)
    largest: int | None = None
    given: tuple = ()
    estimator: object = None
    learner: str = ""

    def key(self, budget):
        """Return the cache key of a result, identical in every process."""
        return [self.name, repr(self.points(budget)), joblib.hash(self.estimator)]

    def points_of(self, X, budget):
        """Return the first settings, repeated for each view of X if a single view is selected."""
        points = self.points(budget)
        if not (self.learner and self.knows == "which"):
            return points
        return [{"view": view} | point for view in X.names for point in points]

    def points(self, budget):
        """Return the first `budget` hyperparameter settings of the candidate."""
        if self.given:
            return list(self.given[:budget])
        return spread(self.space, budget)

    def build(self, point, X, seed):
        """Return the unfitted estimator of a hyperparameter setting."""
        model = clone(self.make(X, **point))  # a point may hold an estimator, which stays as it is
        seeds = {
            name: seed % 2**31
            for name, value in model.get_params().items()
            if name.split("__")[-1] == "random_state" and value is None
        }
        return model.set_params(**seeds)


def spread(space, n):
    """Return the first n different points of a Halton sequence in some ranges, the middle first.

    space: name -> (low, high), logarithmic, or a list of choices.

    >>> spread({"C": (1.0, 100.0)}, 2)
    [{'C': 10.0}, {'C': 3.1622776601683795}]
    """
    if not space:
        return [{}]
    points = []
    for row in qmc.Halton(len(space), scramble=False).random(16 * n)[1:]:
        ends = zip(space.items(), row, strict=True)
        point = {name: at(u, choices) for (name, choices), u in ends}
        points += [point] if point not in points else []
    return points[:n]


def at(u, ends):
    """Return the value at u in [0, 1) of a logarithmic range or of a list of choices.

    >>> float(at(0.5, (1.0, 100.0))), at(0.7, ["a", "b", "c"])
    (10.0, 'c')
    """
    if isinstance(ends, list):
        return ends[int(u * len(ends))]
    low, high = ends
    return float(low * (high / low) ** u)


class UnitRows(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Transformer that divides by the root mean squared norm of the rows."""

    def fit(self, X, y=None):
        """Compute the root mean squared norm of the rows."""
        self.n_features_in_ = X.shape[1]
        squares = X.multiply(X) if sparse.issparse(X) else np.square(X)
        self.scale_ = float(np.sqrt(squares.sum() / X.shape[0])) or 1.0
        return self

    def transform(self, X):
        """Scale the rows."""
        return X / self.scale_


def scaling(views):
    """Return a pipeline of mean imputation and scaling for the columns of some views."""
    fill = SimpleImputer(keep_empty_features=True)
    if any(map(sparse.issparse, views)):
        return make_pipeline(fill, UnitRows())
    return make_pipeline(fill, StandardScaler(), UnitRows())


def all_columns(method, X, **point):
    """Return a pipeline that fits a method on the scaled, concatenated features."""
    return make_pipeline(COLUMNS, scaling(X.views), method(**point))


def scaled_views(method, X, **point):
    """Return a pipeline that scales each view separately; missing views stay missing."""
    scalers = {name: scaling([view]) for name, view in zip(X.names, X.views, strict=True)}
    return make_pipeline(PerView(scalers), method(**point))


def as_given(estimator, X, **point):
    """Return a clone of a user's own estimator with the parameters of a point."""
    return clone(estimator).set_params(**point)


def of_mvref(method, scaled=scaled_views, **fixed):
    """Return a factory of a method of mvref with some parameters fixed."""
    return partial(scaled, partial(method, **fixed))


COLUMNS = FunctionTransformer(MultiView.concat)
SVM = {"C": (0.1, 1000.0), "gamma": (0.05, 20.0)}
COST = {"C2": (1.0, 1e4)}
KERNEL = {"gamma": (0.05, 20.0)}
AGREE = {"C1": (0.1, 100.0), "D": (0.01, 1.0)}
HO_KASHYAP = {"c": (1e-3, 1.0)} | KERNEL
FACTORS = {"alpha": (1e-4, 1e-1), "n_factors": [2, 4, 8, 16]}
TREES = {
    "n_estimators": [5, 10, 20, 40],
    "estimator": [DecisionTreeClassifier(max_depth=depth) for depth in (1, 2, 4)],
}
BASES = {"estimator": [
    DecisionTreeClassifier(), *(LogisticRegression(C=C, max_iter=2000) for C in (0.1, 1.0, 100.0)),
    *(SVC(C=C, gamma="scale") for C in (1.0, 30.0)),
]}  # fmt: skip
VOTERS = {"voters": ["trees", "random_trees"], "max_iter": [5, 20, 50]}
CLUSTERS = {"c": (10.0, 3e3), "n_clusters": [1, 2, 5]}
MEASURED = {"C1": (1e-3, 10.0), "C2": (10.0, 1e4)}

# Name -> `knows`, `make`, `space` and `largest` of a `Candidate`.
ALL = {
    "MVLSVM": ("all", of_mvref(MVLSVM, loss="squared_hinge"), {"c": (10.0, 3e3)} | KERNEL),
    "MwMvC2": ("all", of_mvref(MwMvC2), VOTERS, 4000),
    "MVPO": ("all", of_mvref(MVPO, measure="error"), MEASURED),
    "MVMClassifier": ("all", of_mvref(MVMClassifier), FACTORS),
    "MVNAKMHKS": ("all", of_mvref(MVNAKMHKS, n_components=0.5), HO_KASHYAP, 3000),
    "NAKMHKS": ("all", of_mvref(NAKMHKS, n_components=0.5), HO_KASHYAP, 3000),
    "KMHKS": ("all", of_mvref(KMHKS), HO_KASHYAP, 3000),
    "CAPO": ("all", of_mvref(CAPO, measure="error", cv=3), COST, 1000),
    "CoLabeling": ("all", of_mvref(CoLabeling), SVM, 1000),
    "Concat": ("none", of_mvref(Concat, all_columns), BASES),
    "FMClassifier": ("none", of_mvref(FMClassifier, all_columns), FACTORS),
    "FSMulti": ("all", of_mvref(FSMulti, measure="error", tol=0.1), COST, 1000),
    "Fusion": ("all", of_mvref(Fusion), BASES),
    "L3SVM": ("all", of_mvref(L3SVM, loss="squared_hinge"), CLUSTERS, 5000),
    "MSL": ("all", of_mvref(MSL), {"C": (1.0, 100.0)}, 500),
    "MVML": ("all", of_mvref(MVML), {"lam": (1e-3, 1.0)} | KERNEL, 2000),
    "MVMV": ("all", of_mvref(MVMV), BASES),
    "MVWAB": ("all", of_mvref(MVWAB), TREES, 2000),
    "Mono": ("which", of_mvref(Mono), BASES),
    "Mumbo": ("all", of_mvref(Mumbo), TREES, 2000),
    "PerViewSVM": ("all", of_mvref(PerViewSVM), SVM, 5000),
    "RBoostSH": ("all", of_mvref(RBoostSH), TREES, 2000),
    "SMS": ("all", of_mvref(SMS), COST, 2000),
    "STMClassifier": ("all", of_mvref(STMClassifier), {"C": (0.1, 100.0)}, 500),
    "SVM2K": ("all", of_mvref(SVM2K, tol=1e-4), AGREE | KERNEL, 500),
    "SVMPerf": ("none", of_mvref(SVMPerf, all_columns, measure="error"), COST),
}  # fmt: skip
REGRESSORS = {
    "MVMRegressor": ("all", of_mvref(MVMRegressor), FACTORS),
    "FMRegressor": ("none", of_mvref(FMRegressor, all_columns), FACTORS),
}
# Methods of this package that part VI of the book, "Which method", recommends for some kind of
# data; each rests on a statement about its study (``advice.toml``).
ADVISED = ("CoLabeling",)


def candidate_of(name, given=None, numbers=False):
    """Return the candidate of a method by name, or of a user's own estimator.

    numbers: whether the outcome is continuous.
    """
    known = REGRESSORS if numbers else ALL
    if given is not None:
        estimator, points = given if isinstance(given, tuple) else (given, [{}])
        kind = "regressor" if numbers else "classifier"
        check_classifier(estimator, f"methods[{name!r}]", kind)
        make = partial(as_given, estimator)
        return Candidate(name, "all", make, given=tuple(points), estimator=estimator)
    if name not in known:
        raise ValueError(f"methods must be 'recommended' or among {sorted(known)}, got {name!r}.")
    return Candidate(name, *known[name])


RECOMMENDED = tuple(map(candidate_of, ADVISED))
