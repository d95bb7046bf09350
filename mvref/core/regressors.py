"""The compositions of regressors: their parameters and documentation.

Fitting is shared with the classifiers, in :mod:`.per_view_classifier` (one member per view) and
:mod:`.gaps` (one model per pattern of views, modality dropout).
"""

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import Ridge

from .gaps import MaskedCopies, Patterns
from .input import BaseEstimator, Estimators, Literal, RandomState, Splitter, ViewColumns
from .members import OfRegressors
from .per_view_classifier import OnePerView


class PerViewRegressor(OnePerView, OfRegressors):
    """Late fusion for regression: one regressor per view, combined by a mean, median or stacking.

    Parameters
    ----------
    estimator : regressor, or sequence or mapping of them, default=None
        One regressor or pipeline, cloned for every view; or one per view in order; or a mapping
        from view names, whose regressors have the parameters ``<view>__<name>`` in a grid search
        and may be "drop". A list in place of a regressor means several, as in
        :class:`PerViewClassifier`. None: ``Ridge()``.
    combine : {"mean", "median", "stack"} or regressor, default="mean"
        "mean" and "median" are over the predictions for the observed views; "stack" trains
        ``Ridge()``, or the given regressor, on the out-of-fold predictions.
    remainder : regressor, "drop" or None, default=None
        Regressor of the views that a mapping does not name. If None, a mapping must name every
        view.
    cv : int or splitter, default=5
        Folds for the out-of-fold predictions of stacking: a number of shuffled folds, which respect
        the groups given to ``fit``; or a splitter that holds out every sample once.
    n_jobs : int or None, default=None; number of regressors fitted in parallel (joblib)
    views : sequence or mapping, default=None; widths, slices, indices or names that split a 2-D `X`
    random_state : int, RandomState instance or None, default=None; seed of regressors and folds

    Attributes
    ----------
    estimators_ : dict, view name -> fitted regressor; ``<view>__<member>`` if a view has several
    final_estimator_ : fitted regressor of stacking, if any
    answer_names_ : list of str; the columns that it is trained on
    n_features_in_ : int, number of columns of all views
    view_names_, view_widths_, view_feature_names_ : lists; name, width, columns of each view

    See Also
    --------
    PerViewClassifier : The same for classification.
    PatternRegressor : One model per pattern of observed views.

    Notes
    -----
    A regressor is trained on the samples that have its view; a view observed in one sample only
    gets none. In stacking, the mean prediction of a view replaces a missing one, with an indicator
    column. For frames, texts and weights see :class:`PerViewClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import Ridge
    >>> from mvref import PerViewRegressor
    >>> rng = np.random.default_rng(0)
    >>> views = {"blood": rng.normal(size=(99, 3)), "image": rng.normal(size=(99, 4))}
    >>> y = views["blood"][:, 0] + views["image"][:, 1]
    >>> mean = PerViewRegressor().fit(views, y)  # about half of the sum
    >>> stack = PerViewRegressor(combine=Ridge(), random_state=0).fit(views, y)
    >>> mean.score(views, y) < 0.8, stack.score(views, y) > 0.95
    (True, True)
    """

    _rules = {"mean": np.nanmean, "median": np.nanmedian}
    _default = Ridge()

    def __init__(
        self,
        estimator: Estimators | None = None,
        *,
        combine: Literal["mean", "median", "stack"] | BaseEstimator = "mean",
        remainder: BaseEstimator | Literal["drop"] | None = None,
        cv: int | Splitter = 5,
        n_jobs: int | None = None,
        views: ViewColumns | None = None,
        random_state: RandomState | None = None,
    ):
        self.estimator, self.combine, self.remainder = estimator, combine, remainder
        self.cv, self.n_jobs = cv, n_jobs
        self.views, self.random_state = views, random_state


class PatternRegressor(Patterns, OfRegressors):
    """Reduced-models regressor for missing views: one regressor per pattern of observed views.

    Parameters
    ----------
    estimator : regressor, default=None; None: ``Ridge()``
        A regressor or pipeline. It gets the concatenated features of its views; or a MultiView, if
        its first step takes views, as :class:`PerView` and the methods of mvref do.
    patterns : {"seen", "all"}, default="seen"
        "seen" trains one model for each pattern in the training samples, and another model whenever
        a sample to predict has a new pattern. "all" trains models of all ``2**V - 1`` patterns.
    n_jobs : int or None, default=None; models trained in parallel (joblib)
    views : sequence or mapping, default=None; widths, slices, indices or names that split a 2-D `X`
    random_state : int, RandomState instance or None, default=None; seed of the regressors

    Attributes
    ----------
    patterns_ : dict, tuple of names of views -> tuple of names of the views that its model uses
    estimators_ : dict, tuple of names -> fitted regressor
    n_features_in_ : int, number of columns of all views
    view_names_, view_widths_, view_feature_names_ : lists; name, width, columns of each view

    See Also
    --------
    PatternClassifier : The same for classification.
    PerViewRegressor : One regressor per view.

    Notes
    -----
    The model of a pattern is trained on all training samples that have at least its views. If there
    are fewer than two, views are left out one at a time, so that most samples remain, with a
    warning. The other Notes of :class:`PatternClassifier` apply here, too.

    References
    ----------
    Saar-Tsechansky and Provost, JMLR 8, 2007, 1623-1657.

    Examples
    --------
    >>> import numpy as np
    >>> from mvref import MultiView, PatternRegressor
    >>> rng = np.random.default_rng(0)
    >>> y = rng.normal(size=99)
    >>> X = MultiView([y[:, None] + 0.3 * rng.normal(size=(99, 3)) for _ in range(2)])
    >>> model = PatternRegressor().fit(X, y)
    >>> model.score(X.drop_views(0.5, random_state=0), y) > 0.9, list(model.estimators_)
    (True, [('view_0', 'view_1')])
    """

    _default = Ridge()

    def __init__(
        self,
        estimator: BaseEstimator | None = None,
        *,
        patterns: Literal["seen", "all"] = "seen",
        n_jobs: int | None = None,
        views: ViewColumns | None = None,
        random_state: RandomState | None = None,
    ):
        self.estimator, self.patterns, self.n_jobs = estimator, patterns, n_jobs
        self.views, self.random_state = views, random_state


class ViewDropoutRegressor(MaskedCopies, OfRegressors):
    """Modality dropout for missing views: a regressor trained on copies without random views.

    Parameters
    ----------
    estimator : regressor, default=None; None: ``HistGradientBoostingRegressor()``
        A regressor or pipeline. It gets the concatenated features, with NaN where a view is
        missing, so it must accept NaN or begin with an imputer; or a MultiView, if its first step
        takes views, as :class:`PerView` and the methods of mvref do.
    share : float, default=0.5
        Fraction of the views that are missing in a masked copy, including the views that the sample
        itself lacks: the fraction expected in prediction. Every sample keeps at least one view.
    n_copies : int, default=5; number of copies of each sample, the first of which is unmasked
    views : sequence or mapping, default=None; widths, slices, indices or names that split a 2-D `X`
    random_state : int, RandomState instance or None, default=None; seed of masks and regressor

    Attributes
    ----------
    estimator_ : fitted regressor
    n_features_in_ : int, number of columns of all views
    view_names_, view_widths_, view_feature_names_ : lists; name, width, columns of each view

    See Also
    --------
    ViewDropout : The same for classification; its Notes apply here, too.
    PatternRegressor : One model per pattern of observed views.

    Examples
    --------
    >>> import numpy as np
    >>> from mvref import MultiView, ViewDropoutRegressor
    >>> rng = np.random.default_rng(0)
    >>> y = rng.normal(size=99)
    >>> X = MultiView([y[:, None] + 0.3 * rng.normal(size=(99, 3)) for _ in range(2)])
    >>> model = ViewDropoutRegressor(random_state=0).fit(X, y)
    >>> model.score(X.drop_views(0.5, random_state=0), y) > 0.8
    True
    """

    _default = HistGradientBoostingRegressor()

    def __init__(
        self,
        estimator: BaseEstimator | None = None,
        *,
        share: float = 0.5,
        n_copies: int = 5,
        views: ViewColumns | None = None,
        random_state: RandomState | None = None,
    ):
        self.estimator, self.share, self.n_copies = estimator, share, n_copies
        self.views, self.random_state = views, random_state
