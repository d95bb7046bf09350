"""What every estimator of mvref does with its input: validation and class labels."""

import numpy as np
from scipy import sparse
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, validate_data

from .views import as_multiview, is_collection_of_views


def validate_views(estimator, X, *, reset, partial_rows=False):
    """Check `X` for an estimator and return it as a :class:`~mvref.MultiView`.

    Parameters
    ----------
    estimator : object
        Its parameter ``views`` tells how a 2-D `X` is cut. With ``reset`` it gets the attributes
        ``n_features_in_``, ``view_widths_`` and, for data frames, ``feature_names_in_``.
    X : MultiView, list or tuple or mapping of 2-D arrays, or one 2-D array or data frame
    reset : bool
        True in ``fit``: learn the shape. False afterwards: compare with the shape learnt.
    partial_rows : bool
        Accept rows of a view that are NaN only in part (for imputers).

    Returns
    -------
    X : MultiView

    Raises
    ------
    ValueError
        If the shape differs from the fitted one, a value is infinite, or a row is partly NaN.
    """
    views = getattr(estimator, "views", None)
    if is_collection_of_views(X):
        X = as_multiview(X, views)
        _check_filled(estimator, X)
        if reset:
            estimator.n_features_in_ = X.shape[1]
    else:
        learnt = getattr(estimator, "view_widths_", [])
        if not reset and views is None and len(learnt) > 1:  # fitted on views, given a flat table
            views = learnt
        X = validate_data(
            estimator,
            X,
            reset=reset,
            accept_sparse="csr",
            dtype=np.float64,
            ensure_all_finite="allow-nan" if views is not None or partial_rows else True,
        )
        columns = getattr(estimator, "feature_names_in_", None)
        X = as_multiview(X, views, columns=None if columns is None else list(columns))
    if reset:
        estimator.view_widths_ = X.widths
    elif X.widths != estimator.view_widths_:
        raise ValueError(
            f"X has {X.n_views} views of {X.widths} features, but {type(estimator).__name__} was "
            f"fitted on {len(estimator.view_widths_)} views of {estimator.view_widths_} features."
        )
    _check_values(X, partial_rows)
    return X


def _check_filled(estimator, X):
    if X.n_samples == 0:
        raise ValueError(
            f"Found array with 0 sample(s) (shape={X.shape}) while a minimum of 1 is required by "
            f"{type(estimator).__name__}."
        )


def _check_values(X, partial_rows):
    for view, name, seen in zip(X.views, X.names, X.observed.T, strict=True):
        values = view.data if sparse.issparse(view) else view
        if np.isinf(values).any():
            raise ValueError(f"Input X contains infinity in view {name!r}.")
        if partial_rows:
            continue
        rows = view[seen] if not seen.all() else view
        bad = np.isnan(rows.data if sparse.issparse(rows) else rows)
        if bad.any():
            count = int(bad.sum())
            raise ValueError(
                f"Input X contains NaN in view {name!r}: {count} values, in rows that also hold "
                "numbers. A missing view is a row in which every value of the view is NaN; impute "
                "single values first, for example with PerView(SimpleImputer())."
            )


def validate_targets(estimator, y, n_samples):
    """Check class labels, set ``classes_`` and return the labels as integers.

    Parameters
    ----------
    estimator : classifier
    y : array-like of shape (n_samples,)
        Labels of any type.
    n_samples : int

    Returns
    -------
    codes : int array of shape (n_samples,)
        Positions in ``estimator.classes_``.

    Raises
    ------
    ValueError
        If `y` is None, of another length, not made of class labels, or has a single class.
    """
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None."
        )
    y = column_or_1d(y, warn=True)
    if y.dtype.kind in "fc":
        assert_all_finite(y, input_name="y")
    check_consistent_length(np.empty(n_samples), y)
    check_classification_targets(y)
    estimator.classes_, codes = np.unique(y, return_inverse=True)
    if len(estimator.classes_) < 2:
        raise ValueError(
            f"{type(estimator).__name__} needs samples of at least 2 classes in y, got one class: "
            f"{estimator.classes_[0]!r}."
        )
    return codes


def check_number(value, name, *, low=None, high=None, low_open=False, integer=False):
    """Raise a ValueError unless `value` is a number in the interval that is allowed.

    Parameters
    ----------
    value : object
    name : str
        Name of the parameter, for the message.
    low, high : float, optional
        Limits of the interval; `low` itself is allowed unless `low_open`.
    integer : bool
        Ask for an integer.

    Returns
    -------
    value : object
        Unchanged.
    """
    kinds = (int, np.integer) if integer else (int, float, np.integer, np.floating)
    good = isinstance(value, kinds) and not isinstance(value, bool) and np.isfinite(value)
    if good and low is not None:
        good = value > low if low_open else value >= low
    if good and high is not None:
        good = value <= high
    if not good:
        kind = "an integer" if integer else "a number"
        limits = "" if low is None else f" {'>' if low_open else '>='} {low}"
        limits += "" if high is None else f"{' and' if limits else ''} <= {high}"
        raise ValueError(f"{name} must be {kind}{limits}, got {value!r}.")
    return value


def check_choice(value, name, allowed):
    """Raise a ValueError unless `value` is one of the strings `allowed`.

    Parameters
    ----------
    value : object
    name : str
    allowed : sequence of str

    Returns
    -------
    value : str
        Unchanged.
    """
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{name} must be one of {list(allowed)}, got {value!r}.")
    return value
