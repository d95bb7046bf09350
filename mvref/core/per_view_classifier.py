"""One classifier per view, combined by a vote, a mean of scores, or a model on top (stacking).

Each classifier is trained on, and applied to, the samples that have its view only: a vote or a mean
is over the observed views, and a model on top gets the mean score of a view in place of a missing
one, with an indicator column. :class:`OnePerView` is the part that classifiers and regressors
share.

:class:`~mvref.rivals.Mono`, ``MVMV``, ``Fusion`` and ``PerViewSVM`` are special cases that the
papers compare with, each with its paper's ties, splits and kernels.
"""

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if

from .input import (
    BaseEstimator,
    ClassWeight,
    Estimators,
    Literal,
    RandomState,
    Splitter,
    ViewColumns,
    Views,
    check_choice,
    check_votable,
    rows_of,
)
from .members import OfClassifiers
from .per_view import ByView, Several, as_table, naming
from .voters import (
    check_folds,
    difference_if_two,
    fit_in_groups,
    folds_of,
    part_of,
    probabilities_of,
    seeded_clone,
)


class OnePerView(ByView):
    """One member per view and a rule that combines them, for classifiers and regressors.

    A subclass has ``_rules``, value of ``combine`` -> function with the argument ``axis=1``, and
    ``_default``, the member used for None.
    """

    _members = "estimator"
    _learnt = "estimators_"

    def _check_parameters(self):
        check_folds(self.cv)
        if isinstance(self.combine, str):
            check_choice(self.combine, "combine", [*self._rules, "stack"])
        else:
            self._checked(self.combine, "combine")

    @property
    def _on_top(self):
        """Unfitted final model of stacking; None if a rule combines."""
        if isinstance(self.combine, str):
            return self._default if self.combine == "stack" else None
        return self.combine

    def _fit(self, X, targets, weights, groups):
        rng = check_random_state(self.random_state)
        members = self._members_that_vote(X.names, rng)
        seen = dict(zip(X.names, X.observed.T, strict=True))
        views = list(dict.fromkeys(self._view_of.values()))
        views = [name for name in views if self._n_kinds(targets[seen[name]]) > 1] or views
        members = {name: m for name, m in members.items() if self._view_of[name] in views}
        X = X.select(views)
        self._check_trainable(X, targets)
        everyone = np.arange(X.n_samples)
        told = targets, weights, groups
        self.estimators_ = self._fit_members(members, X, told, everyone)
        if self._on_top is not None:
            said = np.full((X.n_samples, len(members), self._n_answers), np.nan)
            for fit, check in folds_of(self.cv, targets, rng, groups).split():
                fitted = self._fit_members(members, X, told, fit)
                said[check] = self._said(fitted, X[check])
            self._mean_said = np.nanmean(said, axis=0)
            incomplete = [n for n, o in zip(views, X.observed.T, strict=True) if not o.all()]
            of_views = [self._view_of[name] for name in members]
            self._gaps = [of_views.index(name) for name in incomplete]
            self.answer_names_ = self._names_of_answers(list(members), incomplete)
            final = seeded_clone(self._on_top, rng)
            with naming("on top", final):
                self.final_estimator_ = fit_in_groups(final, self._table(said), *told)

    def _members_that_vote(self, names, rng):
        """Return the unfitted members that are not dropped; store their views in ``_view_of``."""
        members, self._view_of = {}, {}
        for view, given in zip(names, self._member_of_each(names), strict=True):
            several = {view: given}
            if isinstance(given, list):
                several = {f"{view}__{name}": member for name, member in Several(given).members}
            for name, one in several.items():
                if not (isinstance(one, str) and one == "drop"):
                    member = self._default if one is None else self._checked(one, "estimator")
                    members[name] = seeded_clone(member, rng)
                    self._view_of[name] = view
        if not members:
            raise ValueError(f"estimator drops every view of {names}. Keep at least one.")
        return members

    def _fit_members(self, members, X, told, rows):
        """Fit a clone of each member on the samples `rows` that have its view.

        told: targets, weights and groups of all samples.
        """

        def fitted(name):
            v = X.names.index(self._view_of[name])
            seen = rows[X.observed[rows, v]]
            table = rows_of(as_table(X, v, members[name]), seen)
            with naming(name, members[name]):
                return fit_in_groups(clone(members[name]), table, *(part_of(t, seen) for t in told))

        done = Parallel(self.n_jobs)(delayed(fitted)(name) for name in members)
        return dict(zip(members, done, strict=True))

    def _said(self, fitted, X):
        """Return the members' predictions (n, n_members, n_answers); NaN without the view."""
        said = np.full((X.n_samples, len(fitted), self._n_answers), np.nan)
        for m, (name, member) in enumerate(fitted.items()):
            v = X.names.index(self._view_of[name])
            seen = np.flatnonzero(X.observed[:, v])
            if len(seen):
                table = rows_of(as_table(X, v, member), seen)
                with naming(name, member):
                    said[seen, m] = self._answers(member, table)
        return said

    def _table(self, said):
        """Return the input of the final model: predictions, and indicators of missing views."""
        missing = np.isnan(said[:, self._gaps, 0])
        scores = np.where(np.isnan(said), self._mean_said, said)
        scores = scores[..., 1:] - scores[..., :1] if scores.shape[2] == 2 else scores
        return np.hstack([scores.reshape(len(scores), -1), missing])

    def _names_of_answers(self, members, incomplete):
        """Return the names of the columns of :meth:`_table`."""
        n_columns = 1 if self._n_answers == 2 else self._n_answers
        if n_columns > 1:
            members = [f"{name}={label}" for name in members for label in self.classes_]
        return [*members, *(f"{view} is missing" for view in incomplete)]

    def _said_of(self, X):
        """Return the fitted members' predictions; refuse a sample without any of their views."""
        known = list(dict.fromkeys(self._view_of[name] for name in self.estimators_))
        check_votable(X.select(known), f"none of {known}")
        return self._said(self.estimators_, X)

    def _scores(self, X):
        said = self._said_of(X)
        if self._on_top is None:
            return difference_if_two(self._rules[self.combine](said, axis=1))
        return difference_if_two(self._answers(self.final_estimator_, self._table(said)))


def _gives_probabilities(self):
    if self._on_top is None:
        return self.combine == "mean_proba"
    return hasattr(self._on_top, "predict_proba")


class PerViewClassifier(OnePerView, OfClassifiers):
    """Late fusion: one classifier per view, combined by averaging, a vote or stacking.

    Parameters
    ----------
    estimator : classifier, or sequence or mapping of them, default=None
        One classifier or pipeline, cloned for every view; or one per view in order; or a mapping
        from view names, whose classifiers have the parameters ``<view>__<name>`` in a grid search
        and may be "drop". A list in place of a classifier means several on one view, named if it is
        of pairs: their parameters are ``<view>__<member>__<name>``. None:
        ``LogisticRegression(max_iter=1000)``.
    combine : {"vote", "mean_proba", "mean_decision", "stack"} or classifier, default="mean_proba"
        "vote" takes the class that most classifiers predict (ties go to the first class);
        "mean_proba" and "mean_decision" average the probabilities or decision functions over the
        observed views; "stack" trains a logistic regression, or the given classifier, on the
        out-of-fold predictions.
    remainder : classifier, "drop" or None, default=None
        Classifier of the views that a mapping does not name. If None, a mapping must name every
        view.
    class_weight : dict, "balanced" or None, default=None; multiplies ``sample_weight``
    cv : int or splitter, default=5
        Folds for the out-of-fold predictions of stacking: a number of stratified, shuffled folds,
        which respect the groups given to ``fit``; or a splitter that holds out every sample once.
    n_jobs : int or None, default=None; number of classifiers fitted in parallel (joblib)
    views : sequence or mapping, default=None; widths, slices, indices or names that split a 2-D `X`
    random_state : int, RandomState instance or None, default=None; seed of classifiers and folds

    Attributes
    ----------
    estimators_ : dict, view name -> fitted classifier, which predicts positions in ``classes_``
        If a view has several, their names are ``<view>__<member>``.
    final_estimator_ : fitted classifier of stacking, if any
    answer_names_ : list of str; the columns that it is trained on
    classes_, n_features_in_ : sorted array of labels, and int, number of columns of all views
    view_names_, view_widths_, view_feature_names_ : lists; name, width, columns of each view

    See Also
    --------
    PerViewRegressor : The same for regression.
    PerView : One transformer per view.
    mvref.rivals.MVMV : Majority vote with random tie-breaking.
    mvref.rivals.Fusion : Stacking on a single split of the samples.

    Notes
    -----
    A view given as a data frame is passed to its classifier as a data frame, a text view as a 1-D
    array; so a pipeline may begin with a ColumnTransformer, an imputer or a vectorizer, and several
    classifiers of one view may use different columns, by a ``make_column_selector``.
    ``sample_weight`` is passed to every classifier. A view observed in one class only gets no
    classifier.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from mvref import PerViewClassifier
    >>> from mvref.datasets import load_iris_views
    >>> data = load_iris_views()
    >>> model = PerViewClassifier({"petal": LogisticRegression(C=10.0)}, remainder="drop")
    >>> model.set_params(petal__C=1.0).fit(data.X, data.y).score(data.X, data.y) > 0.9
    True
    """

    _rules = dict.fromkeys(["vote", "mean_proba", "mean_decision"], np.nanmean)
    _default = LogisticRegression(max_iter=1000)

    def __init__(
        self,
        estimator: Estimators | None = None,
        *,
        combine: Literal["vote", "mean_proba", "mean_decision", "stack"]
        | BaseEstimator = "mean_proba",
        remainder: BaseEstimator | Literal["drop"] | None = None,
        class_weight: ClassWeight | None = None,
        cv: int | Splitter = 5,
        n_jobs: int | None = None,
        views: ViewColumns | None = None,
        random_state: RandomState | None = None,
    ):
        self.estimator = estimator
        self.combine = combine
        self.remainder = remainder
        self.class_weight = class_weight
        self.cv = cv
        self.n_jobs = n_jobs
        self.views = views
        self.random_state = random_state

    def _members_that_vote(self, names, rng):
        members = super()._members_that_vote(names, rng)
        for name, member in members.items():
            if self.combine == "mean_proba" and not hasattr(member, "predict_proba"):
                raise ValueError(
                    f"combine='mean_proba' needs predict_proba, which {type(member).__name__} of "
                    f"view {self._view_of[name]!r} does not provide. Use combine='mean_decision', "
                    "or wrap the classifier in CalibratedClassifierCV."
                )
        return members

    def _answers(self, member, rows):
        if self.combine == "vote":
            return member.predict(rows)[:, None] == np.arange(self._n_answers)
        if self.combine == "mean_proba":
            return probabilities_of(member, rows, self._n_answers)
        return super()._answers(member, rows)

    @available_if(_gives_probabilities)
    def predict_proba(self, X: Views) -> np.ndarray:
        """Predict the mean probabilities of the views, or the probabilities of stacking.

        Parameters
        ----------
        X : MultiView, list of arrays, or 2-D array of n samples

        Returns
        -------
        probabilities : array, shape (n, n_classes)
        """
        said = self._said_of(self._validated(X))
        if self._on_top is None:
            return np.nanmean(said, axis=1)
        return self.final_estimator_.predict_proba(self._table(said))
