"""Calibrated probabilities and prediction sets that hold within each pattern of observed views.

The calibration (a correction of probabilities or a threshold) is learnt separately for each pattern
that has enough calibration samples. scikit-learn and MAPIE do the learning, from the probabilities
of a classifier; this module has the partition and the rule of pooling.
"""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.utils import check_random_state

from .gaps import Around, have_all, rows_by_pattern
from .input import (
    Any,
    Literal,
    RandomState,
    Splitter,
    ViewColumns,
    Views,
    check_choice,
    check_number,
    warn_caller,
)
from .members import OfClassifiers
from .per_view import naming
from .per_view_classifier import PerViewClassifier
from .voters import (
    check_folds,
    difference_if_two,
    fit_in_groups,
    folds_of,
    part_of,
    probabilities_of,
)


class ByPattern(Around, OfClassifiers):
    """A classifier with a calibration for each pattern of observed views.

    A subclass has ``_taught(P, codes)``, which returns an object that is fitted to probabilities
    (n, K) and labels 0 to K - 1.
    """

    _learnt = "estimator_"
    _default = PerViewClassifier()

    def _check_parameters(self):
        super()._check_parameters()
        check_folds(self.cv)
        check_number(self.min_samples, "min_samples", low=1, integer=True)

    def _fit(self, X, targets, weights, groups):
        rng = check_random_state(self.random_state)
        if isinstance(self.estimator, FrozenEstimator):
            self.estimator_, held_out = self.estimator, np.arange(X.n_samples)
            targets = self._codes_of(self.estimator.classes_, self.classes_[targets])
        else:
            rows, held_out = next(folds_of(self.cv, targets, rng, groups).split())
            self.estimator_ = self._seeded(rng)
            with naming("all views", self.estimator_):
                told = (part_of(values, rows) for values in (targets, weights, groups))
                fit_in_groups(self.estimator_, self._table(X[rows]), *told)
        X = X[held_out]
        X._samples = None  # ids are not needed again
        self._calibration = X, targets[held_out]
        self._pools = self._of_patterns([views for views, _ in rows_by_pattern(X)])
        for _, pool in self._pools:
            self._taught(*pool[1:])  # which may raise

    def _codes_of(self, classes, labels):
        """Return positions in the classes of a pre-fitted model, and adopt these classes."""
        unknown = sorted(set(labels) - set(classes))
        if unknown:
            raise ValueError(f"y has the labels {unknown}; estimator was trained on {classes}.")
        self.classes_ = classes
        return np.searchsorted(classes, labels)

    def _plain(self, X):
        """Return the uncalibrated probabilities (n, K) of the classifier."""
        table = self._table(X)
        if isinstance(self.estimator_, FrozenEstimator):
            return self.estimator_.predict_proba(table)
        return probabilities_of(self.estimator_, table, self._n_answers)

    def _enough(self, codes):
        return len(codes) >= self.min_samples

    def _pool(self, views):
        """Return the calibration samples of a pattern: their kind, probabilities and codes."""
        X, codes = self._calibration
        wanted = np.isin(X.names, views)
        own = np.flatnonzero((X.observed == wanted).all(axis=1))
        if self._enough(codes[own]):
            return "own", self._plain(X[own]), codes[own]
        more = have_all(X, views)
        if self._enough(codes[more]):
            cut = X[more].with_observed(np.tile(wanted, (len(more), 1)))
            return "cut", self._plain(cut), codes[more]
        return "all", self._plain(X), codes

    def _of_patterns(self, patterns):
        """Return the pools of some patterns of views: pairs (views, pool)."""
        pairs = [(views, self._pool(views)) for views in patterns]
        few = [" + ".join(views) for views, (which, *_) in pairs if which != "own"]
        if few:
            warn_caller(
                f"Fewer than min_samples={self.min_samples} calibration samples, or none of some "
                f"class, have exactly the views {', '.join(few)}. Samples that have other views, "
                "too, or all samples, are used there, so the guarantee may not hold.",
                UserWarning,
            )
        return pairs

    @property
    def pools_(self) -> dict[Any, tuple[np.ndarray, int]]:
        """Kind and number of the calibration samples of each pattern of views."""
        return {views: (which, len(codes)) for views, (which, _, codes) in self._pools}

    def _by_pattern(self, X, answer):
        """Return ``answer(taught, P)`` (m, K) of every pattern, for all samples (n, K)."""
        P, pools, parts = self._plain(X), dict(self._pools), rows_by_pattern(X)
        pools |= self._of_patterns([views for views, _ in parts if views not in pools])
        found = [answer(self._taught(*pools[views][1:]), P[rows]) for views, rows in parts]
        order = np.argsort(np.concatenate([rows for _, rows in parts]))
        return np.concatenate(found)[order]

    def _scores(self, X):
        return difference_if_two(self._probabilities(X))

    def predict_proba(self, X: Views) -> np.ndarray:
        """Predict calibrated probabilities.

        Parameters
        ----------
        X : MultiView, list of arrays, or 2-D array of n samples

        Returns
        -------
        probabilities : array, shape (n, n_classes)
        """
        return self._probabilities(self._validated(X))


class Said(ClassifierMixin, BaseEstimator):
    """A fitted classifier whose input is its predicted probabilities."""

    def __init__(self, n_classes):
        self.n_classes = n_classes
        self.classes_ = np.arange(n_classes)

    def fit(self, P, codes):
        """Return self."""
        return self

    def predict(self, P):
        """Return the most probable class."""
        return P.argmax(axis=1)

    def predict_proba(self, P):
        """Return the input."""
        return P


class CalibratedByPattern(ByPattern):
    """Calibrated classifier for missing views: one calibration per pattern of observed views.

    Parameters
    ----------
    estimator : classifier with ``predict_proba``, default=None
        None takes :class:`PerViewClassifier`. If its first step does not take views, it gets the
        concatenated features. A fitted classifier inside a :class:`~sklearn.frozen.FrozenEstimator`
        is kept, and all samples are then used for calibration.
    method : {"sigmoid", "isotonic", "temperature"}, default="sigmoid"
        Calibration method, as in :class:`~sklearn.calibration.CalibratedClassifierCV`, which is
        used.
    min_samples : int, default=50; calibration samples that a pattern needs for its own calibration
    cv : int or splitter, default=3; the samples in the first of its folds calibrate
    views : sequence or mapping, default=None; widths, slices, indices or names that split a 2-D `X`
    random_state : int, RandomState instance or None, default=None; seed of folds and estimator

    Attributes
    ----------
    estimator_ : fitted classifier
    pools_ : dict, tuple of names of views -> ("own", "cut" or "all", number of samples)
    classes_, n_features_in_ : sorted array of labels, and int, number of columns of all views
    view_names_, view_widths_, view_feature_names_ : lists; name, width, columns of each view

    See Also
    --------
    ConformalByPattern : Prediction sets.

    Notes
    -----
    A pattern with fewer than `min_samples` calibration samples, or none of some class, uses all
    calibration samples that have at least its views, restricted to these views ("cut"); this is
    valid if views are missing at random. If these samples are too few as well, the pattern uses all
    calibration samples as they are ("all").

    Examples
    --------
    >>> from mvref import CalibratedByPattern
    >>> from mvref.datasets import load_iris_views
    >>> data = load_iris_views()
    >>> model = CalibratedByPattern(min_samples=20, random_state=0).fit(data.X, data.y)
    >>> model.pools_
    {('sepal', 'petal'): ('own', 50)}
    >>> model.predict_proba(data.X).sum(axis=1).round(6).min()
    np.float64(1.0)
    """

    def __init__(
        self,
        estimator: BaseEstimator | None = None,
        *,
        method: Literal["sigmoid", "isotonic", "temperature"] = "sigmoid",
        min_samples: int = 50,
        cv: int | Splitter = 3,
        views: ViewColumns | None = None,
        random_state: RandomState | None = None,
    ):
        self.estimator, self.method = estimator, method
        self.min_samples, self.cv = min_samples, cv
        self.views, self.random_state = views, random_state

    def _check_parameters(self):
        super()._check_parameters()
        check_choice(self.method, "method", ("sigmoid", "isotonic", "temperature"))

    def _enough(self, codes):
        return super()._enough(codes) and len(np.unique(codes)) == self._n_answers

    def _taught(self, P, codes):
        lacking = sorted(set(range(self._n_answers)) - set(codes))
        if lacking:
            raise ValueError(
                f"No calibration sample is of class {self.classes_.tolist()[lacking[0]]!r}, so its "
                "probability cannot be calibrated. Add samples of this class."
            )
        every = np.arange(len(codes))  # one fold: nothing is fitted
        said = FrozenEstimator(Said(self._n_answers))
        return CalibratedClassifierCV(said, method=self.method, cv=[(every, every)]).fit(P, codes)

    def _probabilities(self, X):
        return self._by_pattern(X, lambda taught, P: taught.predict_proba(P))


class ConformalByPattern(ByPattern):
    """Conformal classifier for missing views: prediction sets per pattern of observed views.

    Parameters
    ----------
    estimator : classifier with ``predict_proba``, default=None
        None takes :class:`PerViewClassifier`. If its first step does not take views, it gets the
        concatenated features. A fitted classifier inside a :class:`~sklearn.frozen.FrozenEstimator`
        is kept, and all samples are then used for calibration.
    level : float between 0 and 1, default=0.9; coverage, the rate of sets with the true label
    conformity_score : str, default="lac"
        Score as in MAPIE: "lac" gives the smallest sets, "aps" adapts to the difficulty.
    min_samples : int, default=50
        Calibration samples that a pattern needs for its own threshold. At least
        ``level / (1 - level)`` are needed in any case.
    cv : int or splitter, default=3; the samples in the first of its folds calibrate
    views : sequence or mapping, default=None; widths, slices, indices or names that split a 2-D `X`
    random_state : int, RandomState instance or None, default=None; seed of folds and estimator

    Attributes
    ----------
    estimator_ : fitted classifier, whose label is returned by ``predict``
    pools_ : dict, tuple of names of views -> ("own", "cut" or "all", number of samples)
    classes_, n_features_in_ : sorted array of labels, and int, number of columns of all views
    view_names_, view_widths_, view_feature_names_ : lists; name, width, columns of each view

    See Also
    --------
    CalibratedByPattern : Calibrated probabilities; its Notes explain the rule of pooling.

    Notes
    -----
    The sets are split-conformal, by MAPIE (``pip install "mvref[conformal]"``). For a pattern with
    its own threshold ("own"), the coverage is at least `level` for samples from the distribution of
    the calibration samples, whatever the classifier and whatever the reason why views are missing.

    Examples
    --------
    >>> from mvref import ConformalByPattern
    >>> from mvref.datasets import load_iris_views
    >>> data = load_iris_views()
    >>> model = ConformalByPattern(level=0.95, random_state=0).fit(data.X, data.y)
    >>> sets = model.predict_set(data.X)
    >>> sets.shape, bool((sets.sum(axis=1) == 1).mean() > 0.8)  # else abstain
    ((150, 3), True)
    """

    def __init__(
        self,
        estimator: BaseEstimator | None = None,
        *,
        level: float = 0.9,
        conformity_score: str = "lac",
        min_samples: int = 50,
        cv: int | Splitter = 3,
        views: ViewColumns | None = None,
        random_state: RandomState | None = None,
    ):
        self.estimator, self.level, self.conformity_score = estimator, level, conformity_score
        self.min_samples, self.cv = min_samples, cv
        self.views, self.random_state = views, random_state

    def _check_parameters(self):
        super()._check_parameters()
        check_number(self.level, "level", low=0, high=1, low_open=True)
        if self.level == 1:
            raise ValueError("level=1 is only reached by the set of all labels. Use level < 1.")

    @property
    def _fewest(self):
        """Number of samples that a threshold needs: (n + 1) level must not exceed n."""
        return int(np.ceil(self.level / (1 - self.level) - 1e-9))

    def _enough(self, codes):
        return super()._enough(codes) and len(codes) >= self._fewest

    def _taught(self, P, codes):
        if len(codes) < self._fewest:
            raise ValueError(
                f"level={self.level} needs {self._fewest} calibration samples, got {len(codes)}. "
                "Lower level or add samples."
            )
        try:
            from mapie.classification import SplitConformalClassifier
        except ImportError as error:
            raise ImportError(
                'ConformalByPattern requires MAPIE: pip install "mvref[conformal]".'
            ) from error
        sets = SplitConformalClassifier(
            Said(self._n_answers),
            confidence_level=self.level,
            conformity_score=self.conformity_score,
            random_state=check_random_state(self.random_state).randint(2**31),
        )
        return sets.conformalize(P, codes)

    def _probabilities(self, X):
        return self._plain(X)

    def predict_set(self, X: Views) -> np.ndarray:
        """Return the prediction set of each sample.

        Parameters
        ----------
        X : MultiView, list of arrays, or 2-D array of n samples

        Returns
        -------
        sets : array of bool, shape (n, n_classes)
            Columns are in the order of ``classes_``. An empty set means that no label is likely.
        """
        X = self._validated(X)
        return self._by_pattern(X, lambda taught, P: taught.predict_set(P)[1][..., 0])
