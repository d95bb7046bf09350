"""Samples, labels and weights as an estimator takes them, or a sentence that says what is wrong."""

from collections.abc import Mapping

import numpy as np
from scipy import sparse
from sklearn.utils import column_or_1d
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, assert_all_finite, validate_data

from .checks import check_common_parameters, check_number, warn_caller
from .ids import check_ids, samples_of
from .storage import (
    as_flat_table,
    as_frame,
    as_numbers,
    check_encoded,
    is_encoded,
    is_gap,
    names_of_columns,
)
from .views import MultiView, as_multiview, default_names, is_collection_of_views, unpacked

NUMBERS = (int, float, np.integer, np.floating, np.bool_)


def validate_views(estimator, X, *, reset, raw=False, **given):
    """Check `X` for an estimator and return it as a :class:`~mvref.MultiView`.

    estimator: its parameter ``views`` tells how a 2-D `X` is cut; reset: True in ``fit``, to set
    ``n_features_in_``, ``view_names_``, ``view_widths_``, ``view_feature_names_`` and, for one data
    frame, ``feature_names_in_``; False afterwards, to compare `X` with them; raw: accept what is
    not ready for an estimator: words, and rows of a view that are NaN only in part; given: y and
    the like, whose ids must be those of `X`.
    """
    if reset:
        check_common_parameters(estimator)
    if isinstance(X, list | tuple) and len(X) == 0:
        raise ValueError("X is an empty list: at least one of the views is needed.")
    table, X = X, unpacked(X, estimator.views)
    samples = samples_of(table if hasattr(table, "iloc") else X)
    if not reset:
        X = _with_all_views(estimator, X)
    if is_collection_of_views(X):
        X = as_multiview(X, estimator.views)
        if X.n_samples == 0:
            raise ValueError(
                f"Found array with 0 sample(s) (shape={X.shape}) while a minimum of 1 is required "
                f"by {type(estimator).__name__}."
            )
        if reset:
            estimator.n_features_in_ = X.shape[1]
            vars(estimator).pop("feature_names_in_", None)  # of an earlier fit on a data frame
    else:
        X = _cut_table(estimator, X, reset, raw)
    X = X if reset else _in_fitted_order(estimator, X)
    X._samples = samples
    check_ids(X, **given)
    if reset:
        estimator.view_widths_ = X.widths
        estimator.view_names_ = X.names
        estimator.view_feature_names_ = X.feature_names
    else:
        _check_columns(estimator, X)
    _check_values(X, raw)
    return X


def _cut_table(estimator, X, reset, raw):
    """Check one 2-D `X` as scikit-learn does, and cut it into views."""
    X = as_flat_table(X, raw)
    views = estimator.views
    learnt = getattr(estimator, "view_widths_", [])
    if not reset and views is None and len(learnt) > 1:  # fitted on views, given a flat table
        views = learnt
    columns, full = None, False
    if not reset and not hasattr(estimator, "feature_names_in_"):
        columns = names_of_columns(X, "X")  # compared with those of the views, not here
        pairs = _columns_of_fit(estimator)
        full = columns is not None and columns == [name for name, _ in pairs]
        if full:
            columns = [own for _, own in pairs]
            X = as_frame(X, "X").set_axis(columns, axis=1)
        X = X.to_numpy() if columns and not raw else X
    checks = (
        {"skip_check_array": True}
        if raw and hasattr(X, "iloc")
        else {
            "accept_sparse": "csr",
            "dtype": np.float64,
            "ensure_all_finite": "allow-nan" if views is not None or raw else True,
        }
    )
    try:
        X = X if columns and raw else validate_data(estimator, X, reset=reset, **checks)
    except OverflowError as error:
        raise ValueError(f"X must be an array of numbers: {error}.") from error
    if hasattr(estimator, "feature_names_in_"):
        columns = list(estimator.feature_names_in_)
    X = as_multiview(X, views, columns=columns)
    if full:
        X._feature_names = list(estimator.view_feature_names_)
    return X


def _columns_of_fit(estimator):
    """Pairs of the full name of every column of ``fit``, ``<view>__<column>``, and its own."""
    views = estimator.view_names_, estimator.view_feature_names_, estimator.view_widths_
    return [
        (f"{view}__{column}", column)
        for view, columns, width in zip(*views, strict=True)
        for column in columns or [f"x{j}" for j in range(width)]
    ]


def _check_columns(estimator, X):
    """Compare the columns of every view with those of ``fit``: their names, else their number."""
    fitted = f"{type(estimator).__name__} was fitted"
    one_sided = []
    for name, given, learnt in zip(
        X.names, X.feature_names, estimator.view_feature_names_, strict=False
    ):
        if (given is None) != (learnt is None):
            one_sided.append(name)
        elif given != learnt:
            unseen = [column for column in given if column not in learnt]
            lost = [column for column in learnt if column not in given]
            told = f"not seen in fit: {unseen[:5]}; seen in fit, now missing: {lost[:5]}"
            if not unseen and not lost:
                told = f"the same names in another order; fit had {learnt[:5]}, X has {given[:5]}"
            raise ValueError(
                f"The columns of view {name!r} must have the names and the order of fit: {told}. "
                f"{fitted} on {len(learnt)} columns there."
            )
    if X.widths != estimator.view_widths_:
        raise ValueError(
            f"X has {X.n_views} views of {X.widths} features, but {fitted} on "
            f"{len(estimator.view_widths_)} views of {estimator.view_widths_} features."
        )
    if one_sided:
        has, had = "names", "without them"
        if X.feature_names[X.names.index(one_sided[0])] is None:
            has, had = "no names", "with them"
        warn_caller(
            f"the columns of the views {one_sided} have {has}, but {fitted} {had}: whether they "
            "are the same columns in the same order cannot be checked.",
            UserWarning,
        )
        X._feature_names = list(estimator.view_feature_names_)  # what a member sees: no more words


def _with_all_views(estimator, X):
    """Add the views of ``fit`` that are not given by name, or are None: nobody has them."""
    learnt = estimator.view_names_
    if isinstance(X, list | tuple) and len(X) == len(learnt) and any(view is None for view in X):
        X = dict(zip(learnt, X, strict=True))
    if isinstance(X, Mapping) and not sparse.issparse(X):
        given = {name: view for name, view in X.items() if view is not None}
        if not given or not {str(name) for name in X} <= set(learnt):
            return X
        X = MultiView(given)
    elif not isinstance(X, MultiView) or X.names == default_names(X.n_views):
        return X
    if not set(X.names) < set(learnt):
        return X
    views, names, columns = X.views, X.names, X.feature_names
    for name, width, learnt_columns in zip(
        learnt, estimator.view_widths_, estimator.view_feature_names_, strict=True
    ):
        if name not in X.names:
            views.append(np.full((len(X), width), np.nan))
            names.append(name)
            columns.append(learnt_columns)
    return MultiView(views, names=names, feature_names=columns)


def _in_fitted_order(estimator, X):
    """Bring named views into the order of ``fit``; unnamed ones, as they come, get its names."""
    learnt, unnamed = estimator.view_names_, default_names(X.n_views)
    if X.names == learnt:
        return X
    if unnamed not in (X.names, learnt):
        if set(X.names) != set(learnt):
            raise ValueError(
                f"X has the views {X.names}, but {type(estimator).__name__} was fitted on the "
                f"views {learnt}."
            )
        return X.select(learnt)
    if X.n_views != len(learnt):  # refused by the columns
        return X
    return MultiView._like(X.views, learnt, X.observed, X.feature_names)


def _check_values(X, raw):
    for view, name, seen in zip(X.views, X.names, X.observed.T, strict=True):
        if raw and not is_encoded(view):
            continue
        check_encoded(view, name)
        values = view.data if sparse.issparse(view) else view
        if np.isinf(values).any():
            raise ValueError(f"Input X contains infinity in view {name!r}.")
        if raw:
            continue
        rows = view[seen] if not seen.all() else view
        bad = np.isnan(rows.data if sparse.issparse(rows) else rows)
        if bad.any():
            raise ValueError(
                f"Input X contains NaN in view {name!r}: {int(bad.sum())} of its values, in rows "
                "that also hold numbers. A missing view is a row in which every value of the view "
                "is NaN; impute single values first, for example with PerView(SimpleImputer())."
            )


def validate_targets(estimator, y, n_samples):
    """Check labels of any type, set ``classes_`` and return their positions in it."""
    y = labels_of(estimator, y, n_samples)
    check_classification_targets(y)
    estimator.classes_, codes = np.unique(y, return_inverse=True)
    if len(estimator.classes_) < 2:
        raise ValueError(
            f"{type(estimator).__name__} needs samples of at least 2 classes in y, got one class: "
            f"{estimator.classes_.tolist()[0]!r}."
        )
    return codes


def sample_weights(estimator, X, y, sample_weight):
    """Return the rows of positive weight, and their weights times those of their classes.

    None for weights that are all equal because nobody gave any.
    """
    class_weight = getattr(estimator, "class_weight", None)
    if sample_weight is None and class_weight is None:
        return np.arange(len(X)), None
    if np.ma.is_masked(sample_weight):
        raise ValueError("sample_weight must have a number for every sample, got masked ones.")
    if getattr(sample_weight, "shape", ()):  # no dates
        sample_weight = as_numbers(sample_weight, "sample_weight")
    weights = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
    rows = np.flatnonzero(weights >= np.finfo(float).tiny)  # what is smaller has no digits
    if not len(rows):
        raise ValueError("sample_weight must contain at least one non-zero number, got zeros only.")
    weights = weights[rows]
    if class_weight is not None:
        classes, codes = np.unique(np.asarray(y)[rows], return_inverse=True)
        if isinstance(class_weight, str) and class_weight == "balanced":  # counts are weighted too
            of_class = weights.sum() / (len(classes) * np.bincount(codes, weights))
        else:
            for number in class_weight.values() if isinstance(class_weight, dict) else ():
                check_number(number, "class_weight", low=0, low_open=True)
            of_class = compute_class_weight(class_weight, classes=classes, y=classes[codes])
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            weights = weights * of_class[codes]
        if not ((weights > 0) & (weights < np.inf)).all():
            raise ValueError(
                "sample_weight times class_weight must be numbers > 0 and finite, got some from "
                f"{weights.min()} to {weights.max()}: give weights that are nearer to 1."
            )
    return rows, weights


def validate_numbers(estimator, y, n_samples):
    """Check the targets of a regression and return them as floats, shape (n_samples,)."""
    y = _one_per_sample(estimator, y, n_samples)
    try:
        y = as_numbers(y, "y")
    except ValueError:
        raise ValueError(f"y must hold numbers, got {y[:3].tolist()} ...") from None
    assert_all_finite(y, input_name="y")  # NaN may have been an object
    return y


def validate_groups(groups, n_samples):
    """Return the groups of the samples as numbers (n,) from 0, or None if none are given."""
    if groups is None:
        return None
    groups = np.unique(labels_of(None, groups, n_samples, "groups"), return_inverse=True)[1]
    if groups.max() == 0:
        raise ValueError("groups must name at least 2 groups, got one: nothing can be held out.")
    return groups


def labels_of(estimator, y, n_samples, name="y"):
    """Return labels of any type as an array (n_samples,) that can be put in order.

    Numbers that came as objects get a type. Refuses numbers among words, None, NaN.
    """
    y = _one_per_sample(estimator, y, n_samples, name)
    kinds = {type(label): label for label in y.tolist()}
    numbers = all(issubclass(kind, NUMBERS) for kind in kinds)
    if len(kinds) > 1 and not numbers:
        told = ", ".join(f"{label!r} ({kind.__name__})" for kind, label in kinds.items())
        raise ValueError(f"{name} must hold labels of one type, got for example {told}.")
    if numbers:
        return np.array(y.tolist()) if y.dtype == object else y
    try:
        np.unique(y)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must hold labels that can be put in order: {error}.") from error
    return y


def _one_per_sample(estimator, y, n_samples, name="y"):
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None."
        )
    y = _as_array(y, name)
    if y.ndim != 1 and y.shape[1:] != (1,):
        raise ValueError(f"{name} should be a 1d array, got an array of shape {y.shape} instead.")
    y = column_or_1d(y, warn=name == "y")
    if y.dtype.kind in "fc":
        assert_all_finite(y, input_name=name)
    check_length(y, n_samples, name)
    return y


def _as_array(y, name):
    """Labels of any container as a NumPy array; missing ones are refused."""
    missing = np.ma.getmaskarray(y) if np.ma.isMaskedArray(y) else False
    if hasattr(y, "to_pylist"):  # pyarrow
        y = y.to_pylist()
    elif hasattr(y, "to_numpy"):
        y = y.to_numpy()
    elif getattr(getattr(y, "dtype", None), "kind", "?") == "T":  # strings of any length
        y = y.tolist()
    try:
        texts = [isinstance(label, str) for label in y] if isinstance(y, list | tuple) else []
        y = np.asarray(y, dtype=object if any(texts) and not all(texts) else None)  # else all words
    except ValueError as error:
        raise ValueError(f"{name} must have one label for each sample: {error}") from error
    if y.dtype.kind == "O":
        gaps = np.array([is_gap(label) for label in y.ravel()], dtype=bool)
        missing = gaps.reshape(y.shape) | missing
    elif y.dtype.kind in "fcmM":
        missing = np.isnan(y) | missing
    if np.any(missing):
        raise ValueError(
            f"{name} must have a label for every sample, got {np.sum(missing)} missing "
            f"({y[missing].tolist()[0]}): leave out these samples, of X too."
        )
    return y


def check_length(y, n_samples, name="y"):
    """Raise a ValueError unless there is one label per sample."""
    n_labels = len(y) if np.ndim(y) else "no"
    if n_labels != n_samples:
        raise ValueError(f"{name} has {n_labels} labels, but X has {n_samples} samples.")


def check_votable(X, told="no view at all"):
    """Raise a ValueError if a sample has no view at all: nobody could vote on it."""
    empty = np.flatnonzero(~X.observed.any(axis=1))
    if len(empty):
        raise ValueError(f"{len(empty)} sample(s) have {told}, first row {empty[0]}.")
