"""The compositions of regressors: what the twins of classifiers say differently.

How they learn stands once, in :mod:`.per_view_classifier` (a member for each view) and in
:mod:`.gaps` (a model for each pattern of views, masked copies).
"""

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import Ridge

from .gaps import MaskedCopies, Patterns
from .input import BaseEstimator, Estimators, Literal, RandomState, Splitter, ViewColumns
from .members import OfRegressors
from .per_view_classifier import OnePerView


class PerViewRegressor(OnePerView, OfRegressors):
    """One regressor per view, combined by a mean, a median, or a regressor on top (stacking).

    Parameters
    ----------
    estimator : regressor, or sequence or mapping of them, default=None
        One regressor or pipeline, cloned for every view; or one per view in order; or a mapping
        from view names, whose members have parameters ``<view>__<name>`` in a grid and may be
        "drop". A list in place of a member is several, as in :class:`PerViewClassifier`. None:
        ``Ridge()``.
    combine : {"mean", "median", "stack"} or regressor, default="mean"
        Of what the members predict; or a regressor on top (of "stack" ``Ridge()``) of what they
        predict for samples that they have not seen.
    remainder : regressor, "drop" or None, default=None
        For the views that a mapping does not name; None refuses such a mapping.
    cv : int or splitter, default=5
        Folds from which a regressor on top learns: their number, shuffled, and by the groups given
        to ``fit``; or a splitter that holds out every sample once.
    n_jobs : int or None, default=None; views fitted in parallel (joblib)
    views : sequence or mapping, default=None; widths, slices, indices or names that cut a 2-D `X`
    random_state : int, RandomState instance or None, default=None; seeds of regressors and folds

    Attributes
    ----------
    estimators_ : dict, view name -> fitted regressor; of several ``<view>__<member>``
    final_estimator_ : fitted regressor on top, if there is one
    answer_names_ : list of str; the columns that it gets
    n_features_in_ : int, number of columns of all views
    view_names_, view_widths_, view_feature_names_ : lists; name, width, columns of each view

    See Also
    --------
    PerViewClassifier : The same for classes.
    PatternRegressor : A model for each pattern of views.

    Notes
    -----
    A regressor learns from the samples that have its view; a view that one sample only has gets
    none. A regressor on top gets the mean prediction of a view in place of one that is missing,
    beside a column that says so. Frames, texts and weights: see :class:`PerViewClassifier`.

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
    """Reduced models: a clone of a regressor for each pattern of views that samples have.

    Parameters
    ----------
    estimator : regressor, default=None; None: ``Ridge()``
        A regressor or pipeline. It gets the columns of its views side by side; or a MultiView of
        them, if it begins with what takes views: :class:`PerView`, or a method of mvref.
    patterns : {"seen", "all"}, default="seen"
        Which models ``fit`` trains: those of the patterns that the training samples have, others
        are trained whenever a sample to predict has them; or of all ``2**V - 1`` patterns.
    n_jobs : int or None, default=None; models trained in parallel (joblib)
    views : sequence or mapping, default=None; widths, slices, indices or names that cut a 2-D `X`
    random_state : int, RandomState instance or None, default=None; seeds of the regressor

    Attributes
    ----------
    patterns_ : dict, tuple of names of views -> tuple of names of the views that its model knows
    estimators_ : dict, tuple of names -> fitted regressor
    n_features_in_ : int, number of columns of all views
    view_names_, view_widths_, view_feature_names_ : lists; name, width, columns of each view

    See Also
    --------
    PatternClassifier : The same for classes.
    PerViewRegressor : A regressor for each view.

    Notes
    -----
    The model of a pattern learns from all training samples that have at least its views. Where
    there are fewer than two, views are left out, one at a time: the one without which there are
    most samples; a warning says so. What else holds stands at :class:`PatternClassifier`.

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
    """Masked copies: a regressor trained on samples from which views have been taken away.

    Parameters
    ----------
    estimator : regressor, default=None; None: ``HistGradientBoostingRegressor()``
        A regressor or pipeline. It gets all columns side by side, NaN where a view is missing, so
        that it takes NaN or begins with an imputer; or a MultiView, if it begins with what takes
        views: :class:`PerView`, or a method of mvref.
    share : float, default=0.5
        Share of the views that are missing in a masked copy, those that the samples themselves
        lack included: the share that is expected in prediction. Every sample keeps a view.
    n_copies : int, default=5; copies of each sample, the first of which is whole
    views : sequence or mapping, default=None; widths, slices, indices or names that cut a 2-D `X`
    random_state : int, RandomState instance or None, default=None; gaps, seeds of the regressor

    Attributes
    ----------
    estimator_ : fitted regressor
    n_features_in_ : int, number of columns of all views
    view_names_, view_widths_, view_feature_names_ : lists; name, width, columns of each view

    See Also
    --------
    ViewDropout : The same for classes; what its Notes say holds here.
    PatternRegressor : A model for each pattern of views.

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
