"""One classifier per view, and what they say together: vote, mean, or a model on top (stacking).

Each classifier learns from the samples that have its view, and is asked about those only: a vote or
a mean is over the views that a sample has, and a model on top gets the mean score of a view in
place of one that is missing, beside a column that says so.

This is the plain composition. :class:`~mvref.rivals.Mono`, ``MVMV``, ``Fusion`` and ``PerViewSVM``
are the cases of it that the papers compare with, each with its paper's ties, splits and kernels.
"""

from collections.abc import Mapping

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import is_classifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import has_fit_parameter

from .base import MultiViewClassifier
from .checks import check_choice, check_number
from .folds import class_folds
from .per_view import ByView, as_table, naming
from .storage import rows_of
from .voters import check_classifier, check_trainable, class_scores, difference_if_two, seeded_clone

RULES = ("vote", "mean_proba", "mean_decision")


def _gives_probabilities(self):
    top = self.combine if isinstance(self.combine, str) else self.final_estimator_
    return top == "mean_proba" if isinstance(top, str) else hasattr(top, "predict_proba")


class PerViewClassifier(ByView, MultiViewClassifier):
    """One classifier per view, combined by a vote, a mean, or a classifier on top (stacking).

    Parameters
    ----------
    estimator : classifier, or sequence or mapping of them, default=None
        One classifier or pipeline, cloned for every view; or one per view in order; or a mapping
        from view names, whose members have parameters ``<view>__<name>`` in a grid and may be
        "drop". None: ``LogisticRegression(max_iter=1000)``.
    combine : {"vote", "mean_proba", "mean_decision"} or classifier, default="mean_proba"
        The class that most views name (of equal ones the first); the largest mean probability, or
        mean of the decision functions, over the views of a sample; or a classifier on top of what
        the views say of samples that they have not seen.
    remainder : classifier, "drop" or None, default=None
        For the views that a mapping does not name; None refuses such a mapping.
    cv : int, default=5
        Folds, stratified and shuffled, from which a classifier on top learns.
    n_jobs : int or None, default=None; views fitted in parallel (joblib)
    views : sequence or mapping, default=None
        How to cut a 2-D `X` into views: widths, slices, index lists or column names.
    random_state : int, RandomState instance or None, default=None
        Seeds of the classifiers and of the folds.

    Attributes
    ----------
    estimators_ : dict, view name -> fitted classifier
        They predict positions in ``classes_``.
    final_estimator_ : fitted classifier on top, if there is one
    classes_, n_features_in_ : array of labels, and int

    See Also
    --------
    PerView : a transformer per view.
    mvref.rivals.MVMV : the vote, with coins for equal votes.
    mvref.rivals.Fusion : stacking on one cut of the samples.

    Notes
    -----
    A view that came as a data frame reaches its classifier as one, a view of texts as a 1-D array;
    so a pipeline may begin with a ColumnTransformer, an imputer or a vectorizer. ``sample_weight``
    goes to every member.

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

    _members = "estimator"
    _learnt = "estimators_"
    _raw = True

    def __init__(
        self,
        estimator=None,
        *,
        combine="mean_proba",
        remainder=None,
        cv=5,
        n_jobs=None,
        views=None,
        random_state=None,
    ):
        self.estimator = estimator
        self.combine = combine
        self.remainder = remainder
        self.cv = cv
        self.n_jobs = n_jobs
        self.views = views
        self.random_state = random_state

    def _check_parameters(self):
        check_number(self.cv, "cv", low=2, integer=True)
        if isinstance(self.combine, str):
            check_choice(self.combine, "combine", RULES)
        else:
            check_classifier(self.combine, "combine")

    def _fit(self, X, codes, weights=None):
        rng = check_random_state(self.random_state)
        members = self._members_that_vote(X, rng)
        X = X.select(list(members))
        check_trainable(X, codes)
        self.estimators_ = dict(
            zip(members, self._fit_all(members, X, codes, weights), strict=True)
        )
        if not isinstance(self.combine, str):
            self._fit_on_top(members, X, codes, weights, rng)

    def _members_that_vote(self, X, rng):
        """An unfitted classifier for each view that is not dropped."""
        members = {}
        for name, given in zip(X.names, self._member_of_each(X.names), strict=True):
            if isinstance(given, str) and given == "drop":
                continue
            default = LogisticRegression(max_iter=1000)
            member = default if given is None else check_classifier(given, "estimator")
            if self.combine == "mean_proba" and not hasattr(member, "predict_proba"):
                raise ValueError(
                    f"combine='mean_proba' needs probabilities, which {type(member).__name__} of "
                    f"view {name!r} has not: take combine='mean_decision' or a "
                    "CalibratedClassifierCV around it."
                )
            members[name] = seeded_clone(member, rng)
        if not members:
            raise ValueError(f"estimator drops every view of {X.names}.")
        return members
