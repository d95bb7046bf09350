"""What :func:`~mvref.compare_methods` tries: methods, and the ranges that each is tuned over.

The plain methods are a product, learner x use of the views: each learner of `LEARNERS` gets all
columns as one table, one view (the best), or a vote of the views, with the same points; and a stack
of the learners is on top of each. So families that know nothing of the views, one view, or all
differ in nothing else, and are one machine where there is one view.

The points of a candidate are the first of a Halton sequence in its ranges, so that any number of
them is spread evenly and begins in the middle. Dense features are scaled per training part to mean
0 and variance 1 (gaps become 0); then the mean squared norm of a row is made 1, so that a width
gamma means the same everywhere: of every view on its own where a candidate uses views, and of all
columns together where it must not know which of them belong together.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

import joblib
import numpy as np
from scipy import sparse
from scipy.stats import qmc
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin, clone
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.feature_selection import SelectKBest
from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from .. import MultiView, PatternClassifier, PerView, PerViewClassifier
from ..core.voters import check_classifier
from ..mvl_svm import MVLSVM
from ..mvm import MVMClassifier
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
    FSMulti,
    Fusion,
    LaplacianCompletion,
    Mono,
    Mumbo,
    PerViewSVM,
    RBoostSH,
    STMClassifier,
    SVMPerf,
)
from .kernel_means import KernelMeanSVC


@dataclass(frozen=True)
class Candidate:
    """A method, what it knows of the views, and its ranges.

    knows: "none": it gets columns; "which": one view; "all": which columns belong together; make:
    ``make(X, **point)`` returns an unfitted estimator for the views of X; space: name -> (low,
    high), logarithmic, or a list of choices; largest: number of samples beyond which it takes
    minutes, and is not recommended; given: of a user's own estimator, in place of a space, its
    points; learner: of a plain method, the row of the product; where it knows one view, its points
    are tried on each.
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
        """What a finished training depends on, the same in every process."""
        return [self.name, repr(self.points(budget)), joblib.hash(self.estimator)]

    def points_of(self, X, budget):
        """The first points, for every view of X where one of them is chosen."""
        points = self.points(budget)
        if not (self.learner and self.knows == "which"):
            return points
        return [{"view": view} | point for view in X.names for point in points]

    def points(self, budget):
        """Return the first points of the candidate, different ones."""
        if self.given:
            return list(self.given[:budget])
        if not self.space:
            return [{}]
        spread, points = qmc.Halton(len(self.space), scramble=False).random(16 * budget)[1:], []
        for row in spread:
            ends = zip(self.space.items(), row, strict=True)
            point = {name: at(u, choices) for (name, choices), u in ends}
            points += [point] if point not in points else []
        return points[:budget]

    def build(self, point, X, seed):
        """Return the unfitted estimator of a point."""
        model = clone(self.make(X, **point))  # a point may hold an estimator, which stays as it is
        seeds = {
            name: seed % 2**31
            for name, value in model.get_params().items()
            if name.split("__")[-1] == "random_state" and value is None
        }
        return model.set_params(**seeds)


def at(u, ends):
    """The value at u in [0, 1) of a logarithmic range or of a list of choices.

    >>> float(at(0.5, (1.0, 100.0))), at(0.7, ["a", "b", "c"])
    (10.0, 'c')
    """
    if isinstance(ends, list):
        return ends[int(u * len(ends))]
    low, high = ends
    return float(low * (high / low) ** u)


class UnitRows(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Divide by the root of the mean squared norm of a row."""

    def fit(self, X, y=None):
        """Measure the norm."""
        self.n_features_in_ = X.shape[1]
        squares = X.multiply(X) if sparse.issparse(X) else np.square(X)
        self.scale_ = float(np.sqrt(squares.sum() / X.shape[0])) or 1.0
        return self

    def transform(self, X):
        """Scale."""
        return X / self.scale_


def scaling(views):
    """What makes the columns of some views comparable, and fills their gaps."""
    fill = SimpleImputer(keep_empty_features=True)
    if any(map(sparse.issparse, views)):
        return make_pipeline(fill, UnitRows())
    return make_pipeline(fill, StandardScaler(), UnitRows())


def all_columns(method):
    """A candidate that gets all columns as one table."""

    def make(X, **point):
        return make_pipeline(COLUMNS, scaling(X.views), method(**point))

    return make


def scaled_views(method):
    """A candidate that gets each view scaled on its own, and gaps of whole views as they are."""

    def make(X, **point):
        scalers = {name: scaling([view]) for name, view in zip(X.names, X.views, strict=True)}
        return make_pipeline(PerView(scalers), method(**point))

    return make


def svm_of_columns(**point):
    """An SVM on all columns, which the scaling of the views before it has balanced."""
    return filled_svm(COLUMNS, SimpleImputer(keep_empty_features=True), point)


def filled_svm(columns, fill, point):
    """An SVM on columns whose gaps are filled; rows have norm 1, as those of all columns have."""
    return make_pipeline(columns, fill, UnitRows(), SVC(**point))


def imputed_svm(fill):
    """The same, where a transformer of one table fills gaps with more than means."""
    columns = FunctionTransformer(dense_columns)
    return scaled_views(lambda **point: filled_svm(columns, clone(fill), point))


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


def dense_columns(X):
    """All columns as an array, NaN where a view is missing."""
    dense = [view.toarray() if sparse.issparse(view) else view for view in X.views]
    pairs = zip(dense, X.observed.T, strict=True)
    return np.hstack([np.where(seen[:, None], view, np.nan) for view, seen in pairs])


def logistic(C=1.0):
    """A logistic regression that has time."""
    return LogisticRegression(C=C, max_iter=2000)


def of_mvref(method, scaled=scaled_views, **fixed):
    """A method of mvref, with what is fixed."""
    return scaled(partial(method, **fixed))


def on_table(method):
    """A learner of a table that is scaled."""

    def learner(views, **point):
        return make_pipeline(scaling(views), method(**point))

    return learner


def trees_on_table(views, **point):
    """A learner that needs no scaling: random trees, 40 of them."""
    return make_pipeline(SimpleImputer(keep_empty_features=True), ExtraTreesClassifier(40, **point))


def few_columns(views, k, **point):
    """A learner that keeps the columns that differ most between the classes."""
    return make_pipeline(scaling(views)[:-1], SelectKBest(k=k), UnitRows(), SVC(**point))


def of_columns(learner):
    """A learner of all columns."""
    return lambda X, **point: make_pipeline(COLUMNS, learner(X.views, **point))


def of_one_view(learner):
    """A learner of the columns of one view."""

    def make(X, view, **point):
        columns = FunctionTransformer(columns_of, kw_args={"views": [view]})
        return make_pipeline(columns, learner(X.select([view]).views, **point))

    return make


def of_views(learner):
    """A learner for each view, and the mean of what they say."""

    def make(X, **point):
        members = {name: learner([X.select([name]).views[0]], **point) for name in X.names}
        has = all(hasattr(member, "predict_proba") for member in members.values())
        return PerViewClassifier(members, combine="mean_proba" if has else "mean_decision")

    return make


def of_patterns(learner):
    """A learner for each pattern of views that a sample has, of their columns."""
    return lambda X, **point: PatternClassifier(learner(X.views, **point))


def stack_of_columns(X):
    """All learners of all columns, at the middle of their ranges, and what they say together."""
    return stack(X, {"columns": X.names})


def stack_of_one_view(X, view):
    """All learners of one view; who lacks it has its means."""
    table = FunctionTransformer(columns_of, kw_args={"views": [view]})
    named = FunctionTransformer(as_view, kw_args={"name": view})
    members = stack(X, {"view": [view]})
    return make_pipeline(table, SimpleImputer(keep_empty_features=True), named, members)


def stack_of_views(X):
    """All learners of each view, and of all columns."""
    return stack(X, {f"view {name}": [name] for name in X.names} | {"columns": X.names})


def stack(X, tables):
    """A logistic regression of what all learners say of some tables, of samples not seen."""
    members = {}
    for table, names in tables.items():
        for learner, (method, space) in LEARNERS.items():
            middle = {name: at(0.5, ends) for name, ends in space.items()}
            members[f"{table}, {learner}"] = method(X.select(names).views, **middle)
    copies = FunctionTransformer(copies_of, kw_args={"tables": tables})
    return make_pipeline(copies, PerViewClassifier(members, combine=logistic(), cv=3))


def copies_of(X, tables):
    """Some tables, one copy for each learner."""
    pairs = [(table, learner) for table in tables for learner in LEARNERS]
    return MultiView({f"{t}, {learner}": columns_of(X, tables[t]) for t, learner in pairs})


def columns_of(X, views):
    """The columns of some views."""
    return X.select(views).concat()


def as_view(table, name):
    """A table as the only view."""
    return MultiView({name: table})


COLUMNS = FunctionTransformer(MultiView.concat)
SVM = {"C": (0.1, 1000.0), "gamma": (0.05, 20.0)}
STRENGTH = {"C": (1e-2, 1e4)}
COST = {"C2": (1.0, 1e4)}
KERNEL = {"gamma": (0.05, 20.0)}
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
BOOSTING = {
    "learning_rate": (0.05, 0.5), "max_leaf_nodes": [4, 8, 31], "min_samples_leaf": [2, 5, 20],
}  # fmt: skip
FOREST = {"max_features": (0.02, 1.0), "min_samples_leaf": [1, 2, 5]}
CHAIN = IterativeImputer(max_iter=2, n_nearest_features=10, keep_empty_features=True)

# Name: what it knows of the views, how it is made, its ranges, and the number
# of samples beyond which it takes minutes, and is not recommended.
ALL = {
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
    "MVLSVM": ("all", of_mvref(MVLSVM, loss="squared_hinge"), {"c": (10.0, 3e3)} | KERNEL),
    "MwMvC2": ("all", of_mvref(MwMvC2), VOTERS, 4000),
    "MVPO": ("all", of_mvref(MVPO, measure="error"), MEASURED),
    "MVMClassifier": ("all", of_mvref(MVMClassifier), FACTORS),
    "MVNAKMHKS": ("all", of_mvref(MVNAKMHKS, n_components=0.5), HO_KASHYAP, 3000),
    "NAKMHKS": ("all", of_mvref(NAKMHKS, n_components=0.5), HO_KASHYAP, 3000),
    "KMHKS": ("all", of_mvref(KMHKS), HO_KASHYAP, 3000),
    "CAPO": ("all", of_mvref(CAPO, measure="error", cv=3), COST, 1000),
    "CoLabeling": ("all", of_mvref(CoLabeling), SVM, 2000),
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
    "SVM2K": ("all", of_mvref(SVM2K), {"C1": (0.1, 100.0), "D": (0.01, 1.0)} | KERNEL, 500),
    "SVMPerf": ("none", of_mvref(SVMPerf, all_columns, measure="error"), COST),
}  # fmt: skip
LEARNERS = {
    "logistic": (on_table(logistic), STRENGTH),
    "RBF SVM": (on_table(SVC), SVM),
    "extra trees": (trees_on_table, FOREST),
}
FEW = {"RBF SVM of few columns": (few_columns, {"k": [10, 30, 100]} | SVM)}
USES = {
    "all columns": ("none", of_columns),
    "best view": ("which", of_one_view),
    "vote of views": ("all", of_views),
}
STACKS = {
    "all columns": ("none", stack_of_columns),
    "best view": ("which", stack_of_one_view),
    "views": ("all", stack_of_views),
}
PLAIN = [
    *(
        Candidate(f"{learner}, {use}", knows, fuse(method), space, learner=learner)
        for learner, (method, space) in (LEARNERS | FEW).items()
        for use, (knows, fuse) in USES.items()
    ),
    *(
        Candidate(f"stack, {use}", knows, make, learner="stack")
        for use, (knows, make) in STACKS.items()
    ),
]
# Where views are missing: a machine for each pattern of views.
REDUCED = [
    Candidate(f"{learner}, reduced models", "all", of_patterns(method), space)
    for learner, (method, space) in LEARNERS.items()
]
# What part VI of the book, "Which method", recommends of this package for some kind of data: a
# statement about its study stands behind each (``advice.toml``).
ADVISED = ("CoLabeling", "PerViewSVM", "MVLSVM", "FMClassifier")


def candidate_of(name, given=None):
    """Return the candidate of a method's name, or of what a user gives for a name of her own."""
    if given is not None:
        estimator, points = given if isinstance(given, tuple) else (given, [{}])
        check_classifier(estimator, f"methods[{name!r}]")

        def make(X, **point):
            return clone(estimator).set_params(**point)

        return Candidate(name, "all", make, given=tuple(points), estimator=estimator)
    plain = {candidate.name: candidate for candidate in PLAIN + REDUCED}
    if name not in plain and name not in ALL:
        names = sorted({*ALL, *plain})
        raise ValueError(f"methods must be 'recommended' or among {names}, got {name!r}.")
    return plain.get(name) or Candidate(name, *ALL[name])


def plain_methods(X):
    """The plain candidates for some views; with few columns, where they are more than samples."""
    many = max(X.widths) > X.n_samples
    return [candidate for candidate in PLAIN if many or candidate.learner not in FEW]


RECOMMENDED = tuple(map(candidate_of, ADVISED))
