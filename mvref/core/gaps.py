"""Missing views for any model: reduced models, one per pattern of views, and modality dropout.

Reduced models (Saar-Tsechansky and Provost, "Handling Missing Values when Applying Classification
Models", JMLR 8, 2007): a sample is classified by a model trained on the views that it has. Modality
dropout, also called masked copies: one model trained on copies of the samples with views removed,
as they will be missing later.
"""

from functools import partial
from itertools import combinations

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import has_fit_parameter

from .input import (
    Any,
    BaseEstimator,
    ClassWeight,
    Literal,
    Mapping,
    RandomState,
    ViewColumns,
    Views,
    check_choice,
    check_number,
    warn_caller,
)
from .members import OfClassifiers
from .per_view import ByView, naming
from .voters import (
    difference_if_two,
    fit_in_groups,
    last_step,
    part_of,
    probabilities_of,
    seeded_clone,
)


class Around:
    """A wrapper of one estimator, which gets the views if it takes them, else their concatenation.

    A subclass has ``_default``, which stands for ``estimator=None``, and ``_said(X, say)``, an
    array (n, n_answers) of the results of ``say(fitted, table)``.
    """

    def _check_parameters(self):
        if self.estimator is not None:
            self._checked(self.estimator, "estimator")

    @property
    def _one(self):
        return self._default if self.estimator is None else self.estimator

    def _seeded(self, rng):
        """Return the unfitted, seeded estimator of which every model is a clone."""
        return seeded_clone(self._one, rng)

    def _table(self, X):
        """Return samples in the form that the estimator takes."""
        return X if takes_views(self._one) else X.concat()

    def _scores(self, X):
        return difference_if_two(self._said(X, self._answers))


def _gives_probabilities(self):
    return hasattr(self._one, "predict_proba")


class AroundClassifier(OfClassifiers):
    """Probabilities of a wrapper, see :class:`Around`, of one classifier."""

    @available_if(_gives_probabilities)
    def predict_proba(self, X: Views) -> np.ndarray:
        """Return the probabilities of the model that classifies each sample.

        Parameters
        ----------
        X : MultiView, list of arrays, or 2-D array of n samples

        Returns
        -------
        probabilities : array, shape (n, n_classes); 0 for a class that this model was not trained
        on
        """
        X = self._validated(X)
        return self._said(X, partial(probabilities_of, n_classes=self._n_answers))


def takes_views(estimator):
    """Return whether the first step of an estimator takes views.

    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.pipeline import make_pipeline
    >>> from mvref import MVLSVM, PerView
    >>> takes_views(make_pipeline(PerView(StandardScaler()), MVLSVM()))
    True
    >>> takes_views(make_pipeline(StandardScaler(), LogisticRegression()))
    False
    """
    if isinstance(estimator, Pipeline):
        return takes_views(estimator.steps[0][1])
    if not hasattr(estimator, "get_params"):
        return False
    own = estimator.get_params(deep=False)
    inner = [own.get("estimator"), *dict(own.get("estimators") or []).values()]
    return "views" in own or any(map(takes_views, inner))


def clone_for(estimator, views, names):
    """Clone an estimator for some of the views `names`, without the members of the others."""
    copy = clone(estimator)
    for part in [copy, *copy.get_params().values()]:
        if not isinstance(part, ByView):
            continue
        members = getattr(part, part._members)
        if isinstance(members, Mapping):  # an unknown name is kept, and refused later
            away = set(names) - set(views)
            kept = {name: member for name, member in members.items() if name not in away}
            setattr(part, part._members, kept)
        elif isinstance(members, list | tuple) and len(members) == len(names):
            setattr(part, part._members, [members[names.index(view)] for view in views])
    return copy


class Patterns(Around):
    """One model per pattern of views, for classifiers and regressors."""

    _learnt = "estimators_"

    def _check_parameters(self):
        super()._check_parameters()
        check_choice(self.patterns, "patterns", ("seen", "all"))

    def _fit(self, X, targets, weights, groups):
        self._member = self._seeded(check_random_state(self.random_state))
        X = X[:]
        X._samples = None  # ids are not needed again, and skops cannot write them
        self._training = X, targets, weights, groups
        wanted = [views for views, _ in rows_by_pattern(X)]
        if self.patterns == "all":
            sizes = range(X.n_views, 0, -1)
            wanted = [views for size in sizes for views in combinations(X.names, size)]
        found = [(views, self._trainable(views)) for views in wanted]
        self._patterns = [pair for pair in found if pair[1]]  # pairs, as JSON has them
        if not self._patterns:
            self._check_trainable(X, targets)
        self._warn_of_fewer(self.patterns_)
        known = list(dict.fromkeys(self.patterns_.values()))
        done = Parallel(self.n_jobs)(delayed(self._trained)(views) for views in known)
        self._estimators = list(zip(known, done, strict=True))
        if self.patterns == "all":
            del self._training

    @property
    def patterns_(self) -> dict[Any, Any]:
        """Views of each pattern, and the views that its model uses."""
        return dict(self._patterns)

    @property
    def estimators_(self) -> dict[Any, BaseEstimator]:
        """Fitted models, by the views that they use."""
        return dict(self._estimators)

    def _trainable(self, views):
        """Return the views of a pattern on which a model can be trained; None if there are none."""
        X, targets, *_ = self._training
        wanted = self._n_kinds(targets)

        def there(views):
            known = targets[have_all(X, views)]
            return self._n_kinds(known), len(known)

        views = tuple(view for view in views if there([view])[0] > 1)
        while len(views) > 1 and there(views)[0] < wanted:
            fewer = [tuple(u for u in views if u != view) for view in views]
            views = max(fewer, key=there)
        return views or None

    def _trained(self, views):
        X, *told = self._training
        rows = have_all(X, views)
        one = clone_for(self._member, views, X.names)
        with naming(" + ".join(views), one):
            table = self._table(X.select(views)[rows])
            return fit_in_groups(one, table, *(part_of(values, rows) for values in told))

    def _warn_of_fewer(self, patterns):
        fewer = {" + ".join(p): " + ".join(used) for p, used in patterns.items() if p != used}
        if fewer:
            told = "; ".join(f"{given} by {used}" for given, used in fewer.items())
            warn_caller(
                f"{self._lacking}. Samples with these patterns are predicted by a model on fewer "
                f"views: {told}.",
                UserWarning,
            )

    def _said(self, X, say):
        said = np.empty((X.n_samples, self._n_answers))
        new, patterns, estimators = {}, self.patterns_, self.estimators_
        for views, rows in rows_by_pattern(X):
            used = patterns.get(views)
            if used is None and self.patterns == "seen":
                used = new[views] = self._trainable(views)
            if used is None:
                raise ValueError(
                    f"{len(rows)} sample(s) have only the views {list(views)}, which "
                    f"{self._alone}, so no model was trained on them. Leave these samples out."
                )
            fitted = estimators[used] if used in estimators else self._trained(used)
            said[rows] = say(fitted, self._table(X.select(used)[rows]))
        self._warn_of_fewer(new)
        return said


class PatternClassifier(Patterns, AroundClassifier):
    """Reduced-models classifier for missing views: one classifier per pattern of observed views.

    Parameters
    ----------
    estimator : classifier, default=None; None: ``LogisticRegression(max_iter=1000)``
        A classifier or pipeline. It gets the concatenated features of its views; or a MultiView, if
        its first step takes views, as :class:`PerView` and the methods of mvref do.
    patterns : {"seen", "all"}, default="seen"
        "seen" trains one model for each pattern in the training samples, and another model whenever
        a sample to predict has a new pattern. "all" trains models of all ``2**V - 1`` patterns.
    class_weight : dict, "balanced" or None, default=None; multiplies ``sample_weight``
    n_jobs : int or None, default=None; models trained in parallel (joblib)
    views : sequence or mapping, default=None; widths, slices, indices or names that split a 2-D `X`
    random_state : int, RandomState instance or None, default=None; seed of the classifiers

    Attributes
    ----------
    patterns_ : dict, tuple of names of views -> tuple of names of the views that its model uses
    estimators_ : dict, tuple of names -> fitted classifier; they predict positions in ``classes_``
    classes_, n_features_in_ : sorted array of labels, and int, number of columns of all views
    view_names_, view_widths_, view_feature_names_ : lists; name, width, columns of each view

    See Also
    --------
    PatternRegressor : Reduced models for regression.
    ViewDropout : One model, trained by modality dropout.
    PerViewClassifier : One model per view.

    Notes
    -----
    The model of a pattern is trained on all training samples that have at least its views. If a
    class is missing among these samples, views are left out one at a time, so that most classes and
    then most samples remain, with a warning. With "seen" the training samples are stored, and
    predicting changes nothing: the model of a new pattern is trained in every call that needs it,
    with the same result. "all" stores no samples.

    This suits complete training samples and views that are missing later. If many views are missing
    in training, models of many views see few samples, and :class:`PerViewClassifier` may be better.

    References
    ----------
    Saar-Tsechansky and Provost, JMLR 8, 2007, 1623-1657.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> from mvref import PatternClassifier
    >>> from mvref.datasets import load_iris_views
    >>> data = load_iris_views()
    >>> model = PatternClassifier(SVC()).fit(data.X, data.y)
    >>> gappy = data.X.drop_views(0.5, random_state=0)  # each flower has one of its views
    >>> model.score(gappy, data.y) > 0.8, list(model.estimators_)
    (True, [('sepal', 'petal')])
    """

    _default = LogisticRegression(max_iter=1000)

    def __init__(
        self,
        estimator: BaseEstimator | None = None,
        *,
        patterns: Literal["seen", "all"] = "seen",
        class_weight: ClassWeight | None = None,
        n_jobs: int | None = None,
        views: ViewColumns | None = None,
        random_state: RandomState | None = None,
    ):
        self.estimator, self.patterns = estimator, patterns
        self.class_weight, self.n_jobs = class_weight, n_jobs
        self.views, self.random_state = views, random_state


def rows_by_pattern(X):
    """Return pairs (names of views, rows of the samples that have exactly these views)."""
    patterns, group = np.unique(X.observed, axis=0, return_inverse=True)
    names = np.array(X.names, dtype=object)
    group = group.reshape(-1)
    return [(tuple(names[seen]), np.flatnonzero(group == g)) for g, seen in enumerate(patterns)]


def have_all(X, views):
    """Return the rows of the samples that have at least the given views, by name."""
    return np.flatnonzero(X.select(views).observed.all(axis=1))


class MaskedCopies(Around):
    """One model trained on masked copies, for classifiers and regressors."""

    _learnt = "estimator_"

    def _check_parameters(self):
        super()._check_parameters()
        check_number(self.share, "share", low=0, high=1)
        check_number(self.n_copies, "n_copies", low=1, integer=True)

    def _fit(self, X, targets, weights, groups):
        rng = check_random_state(self.random_state)
        n, n_copies = X.n_samples, self.n_copies
        there = X.observed.sum()
        gone = max(0.0, 1 - (1 - self.share) * X.observed.size / there)  # fraction of the observed
        gone = min(gone, 1 - n / there)
        masked = [X.drop_views(gone, rng).observed for _ in range(n_copies - 1)]
        rows = np.tile(np.arange(n), n_copies)
        copies = X[rows].with_observed(np.vstack([X.observed, *masked]))
        member = self._seeded(rng)
        w = np.ones(n) if weights is None else weights
        w = w[rows] / n_copies
        if weights is None and not has_fit_parameter(last_step(member)[0], "sample_weight"):
            w = None  # equal weights change nothing
        groups = np.arange(n) if groups is None else groups
        with naming("all columns", member):
            table = self._table(copies)
            self.estimator_ = fit_in_groups(member, table, targets[rows], w, groups[rows])

    def _table(self, X):
        table = super()._table(X)  # a missing sparse view would store NaN in every column
        return table.toarray() if sparse.issparse(table) else table

    def _said(self, X, say):
        return say(self.estimator_, self._table(X))


class ViewDropout(MaskedCopies, AroundClassifier):
    """Modality dropout for missing views: a classifier trained on copies without random views.

    Parameters
    ----------
    estimator : classifier, default=None; None: ``HistGradientBoostingClassifier()``
        A classifier or pipeline. It gets the concatenated features, with NaN where a view is
        missing, so it must accept NaN or begin with an imputer; or a MultiView, if its first step
        takes views, as :class:`PerView` and the methods of mvref do.
    share : float, default=0.5
        Fraction of the views that are missing in a masked copy, including the views that the sample
        itself lacks: the fraction expected in prediction. Every sample keeps at least one view.
    n_copies : int, default=5; number of copies of each sample, the first of which is unmasked
    class_weight : dict, "balanced" or None, default=None; multiplies ``sample_weight``
    views : sequence or mapping, default=None; widths, slices, indices or names that split a 2-D `X`
    random_state : int, RandomState instance or None, default=None; seed of masks and classifier

    Attributes
    ----------
    estimator_ : fitted classifier; it predicts positions in ``classes_``
    classes_, n_features_in_ : sorted array of labels, and int, number of columns of all views
    view_names_, view_widths_, view_feature_names_ : lists; name, width, columns of each view

    See Also
    --------
    ViewDropoutRegressor : Modality dropout for regression.
    PatternClassifier : One model per pattern of observed views.
    MultiView : Its ``drop_views`` removes the views.

    Notes
    -----
    The copies of a sample share its weight, if the classifier takes weights. They form a group, so
    a classifier that takes groups does not split them across folds. A search with a number as
    ``cv`` takes no groups: put the search outside, ``GridSearchCV(ViewDropout(svm), ...)``.

    Examples
    --------
    >>> from mvref import ViewDropout
    >>> from mvref.datasets import load_iris_views
    >>> data = load_iris_views()
    >>> model = ViewDropout(random_state=0).fit(data.X, data.y)
    >>> model.score(data.X.drop_views(0.5, random_state=0), data.y) > 0.8
    True
    """

    _default = HistGradientBoostingClassifier()

    def __init__(
        self,
        estimator: BaseEstimator | None = None,
        *,
        share: float = 0.5,
        n_copies: int = 5,
        class_weight: ClassWeight | None = None,
        views: ViewColumns | None = None,
        random_state: RandomState | None = None,
    ):
        self.estimator, self.share, self.n_copies = estimator, share, n_copies
        self.class_weight, self.views, self.random_state = class_weight, views, random_state
