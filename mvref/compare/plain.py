"""The plain methods that :func:`~mvref.compare_methods` compares: learner x use of the views.

Each learner of `LEARNERS` gets all columns as one table, one view (the best), or late fusion of
the views, with the same points; and a stack of the learners is on top of each. So families that
know nothing of the views, one view, or all differ in nothing else, and are one model where there
is one view.
"""

from sklearn.ensemble import ExtraTreesClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVC

from .. import MultiView, PatternClassifier, PerViewClassifier
from .candidates import COLUMNS, FOREST, STRENGTH, SVM, Candidate, UnitRows, at, logistic, scaling


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
FEW = {"RBF SVM of few columns": (few_columns, {"k": [10, 30, 100]} | SVM)}
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


def plain_methods(X):
    """The plain candidates for some views; with few columns, where they are more than samples."""
    many = max(X.widths) > X.n_samples
    return [candidate for candidate in PLAIN if many or candidate.learner not in FEW]
