"""The plain candidates of the study: learner x use of the views, as they were registered.

Each learner of `LEARNERS` gets all columns as one table, one view (the best), or late fusion of
the views, with the same points; and a stack of the learners is on top of each. So families that
know nothing of the views, one view, or all differ in nothing else, and are one model where there
is one view.
"""

import numpy as np
from scipy.special import log_softmax
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVC

from mvref import MultiView, PatternClassifier, PerViewClassifier
from mvref.compare.candidates import (
    COLUMNS,
    SVM,
    at,
    scaling,
)

STRENGTH = {"C": (1e-2, 1e4)}
FOREST = {"max_features": (0.02, 1.0), "min_samples_leaf": [1, 2, 5]}


def logistic(C=1.0):
    """A logistic regression that has time."""
    return LogisticRegression(C=C, max_iter=2000)


def on_table(method):
    """A learner of a table that is scaled."""

    def learner(views, **point):
        return make_pipeline(scaling(views), method(**point))

    return learner


def trees_on_table(views, **point):
    """A learner that needs no scaling: random trees, 40 of them."""
    return make_pipeline(SimpleImputer(keep_empty_features=True), ExtraTreesClassifier(40, **point))


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
    """Late fusion: the mean of the probabilities of a learner for each view.

    Of a learner without probabilities it is the mean of the margins of each class against the rest:
    what an `SVC` gives for more than two classes are ranks of votes, of which no mean is to be had.
    """

    def make(X, **point):
        views = zip(X.names, X.views, strict=True)
        members = {name: learner([view], **point) for name, view in views}
        if all(hasattr(member, "predict_proba") for member in members.values()):
            return PerViewClassifier(members)
        margins = {name: OneVsRestClassifier(member) for name, member in members.items()}
        return PerViewClassifier(margins, combine="mean_decision")

    return make


def of_patterns(learner):
    """A learner for each pattern of views that a sample has, of their columns."""
    return lambda X, **point: PatternClassifier(learner(X.views, **point))


def stack_of_columns(X, learners=None):
    """All learners of all columns, at the middle of their ranges, and what they say together."""
    return stack(X, {"columns": X.names}, learners)


def stack_of_one_view(X, view, learners=None):
    """All learners of one view; who lacks it has its means."""
    table = FunctionTransformer(columns_of, kw_args={"views": [view]})
    named = FunctionTransformer(as_view, kw_args={"name": view})
    members = stack(X, {"view": [view]}, learners)
    return make_pipeline(table, SimpleImputer(keep_empty_features=True), named, members)


def stack_of_views(X, learners=None):
    """All learners of each view, and of all columns."""
    tables = {f"view {name}": [name] for name in X.names} | {"columns": X.names}
    return stack(X, tables, learners)


def stack(X, tables, learners):
    """A logistic regression of what all learners say of some tables, of samples not seen."""
    members, learners = {}, learners or LEARNERS
    for table, names in tables.items():
        for learner, (method, space) in learners.items():
            middle = {name: at(0.5, ends) for name, ends in space.items()}
            members[f"{table}, {learner}"] = method(X.select(names).views, **middle)
    copies = FunctionTransformer(copies_of, kw_args={"tables": tables, "learners": [*learners]})
    return make_pipeline(copies, PerViewClassifier(members, combine=logistic(), cv=3))


def copies_of(X, tables, learners):
    """Some tables, one copy for each learner."""
    pairs = [(table, learner) for table in tables for learner in learners]
    return MultiView({f"{t}, {learner}": columns_of(X, tables[t]) for t, learner in pairs})


def columns_of(X, views):
    """The columns of some views."""
    return X.select(views).concat()


def as_view(table, name):
    """A table as the only view."""
    return MultiView({name: table})


LEARNERS = {
    "logistic": (on_table(logistic), STRENGTH),
    "RBF SVM": (on_table(SVC), SVM),
    "extra trees": (trees_on_table, FOREST),
}
USES = {
    "all columns": ("none", of_columns),
    "best view": ("which", of_one_view),
    "late fusion": ("all", of_views),
}
STACKS = {
    "all columns": ("none", stack_of_columns),
    "best view": ("which", stack_of_one_view),
    "views": ("all", stack_of_views),
}


def log_probabilities(model, features):
    """Logarithms (n, K) of what a model says of its classes; None of one with labels only."""
    if hasattr(model, "predict_proba"):
        return np.log(np.maximum(model.predict_proba(features), 1e-15))
    if not hasattr(model, "decision_function"):
        return None
    scores = model.decision_function(features)
    scores = scores if scores.ndim == 2 else np.column_stack([0.0 * scores, scores])
    return log_softmax(scores, axis=1)
