"""Samples, labels and weights as an estimator takes them, or a sentence that says what is wrong."""

import numpy as np
from scipy import sparse
from sklearn.utils import column_or_1d
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, assert_all_finite, validate_data

from .checks import check_common_parameters, check_number, warn_caller
from .storage import as_flat_table, is_encoded, names_of_columns
from .views import as_multiview, check_encoded, default_names, is_collection_of_views

NUMBERS = (int, float, np.integer, np.floating, np.bool_)


def validate_views(estimator, X, *, reset, raw=False):
    """Check `X` for an estimator and return it as a :class:`~mvref.MultiView`.

    estimator: its parameter ``views`` tells how a 2-D `X` is cut; reset: True in ``fit``, to set
    ``n_features_in_``, ``view_names_``, ``view_widths_``, ``view_feature_names_`` and, for one data
    frame, ``feature_names_in_``; False afterwards, to compare `X` with them; raw: accept what is
    not ready for an estimator: words, and rows of a view that are NaN only in part.
    """
    if reset:
        check_common_parameters(estimator)
    if isinstance(X, list | tuple) and len(X) == 0:
        raise ValueError("X is an empty list: at least one of the views is needed.")
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
            X = _in_fitted_order(estimator, X)
    else:
        X = _cut_table(estimator, X, reset, raw)
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
    X = X if raw else as_flat_table(X)
    views = estimator.views
    learnt = getattr(estimator, "view_widths_", [])
    if not reset and views is None and len(learnt) > 1:  # fitted on views, given a flat table
        views = learnt
    columns = None
    if not reset and not hasattr(estimator, "feature_names_in_"):
        columns = names_of_columns(X, "X")  # compared with those of the views, not here
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
        X = validate_data(estimator, X, reset=reset, **checks)
    except OverflowError as error:
        raise ValueError(f"X must be an array of numbers: {error}.") from error
    if hasattr(estimator, "feature_names_in_"):
        columns = list(estimator.feature_names_in_)
    return as_multiview(X, views, columns=columns)


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


def _in_fitted_order(estimator, X):
    """Bring named views into the order of ``fit``; unnamed ones are taken as they come."""
    learnt = estimator.view_names_
    unnamed = default_names(X.n_views)
    if X.names in (learnt, unnamed) or learnt == unnamed or X.n_views != len(learnt):
        return X
    if set(X.names) != set(learnt):
        raise ValueError(
            f"X has the views {X.names}, but {type(estimator).__name__} was fitted on the views "
            f"{learnt}."
        )
    return X.select(learnt)


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
    y = _of_one_type(_one_per_sample(estimator, y, n_samples))
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
    weights = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
    rows = np.flatnonzero(weights > 0)
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
        weights = weights * of_class[codes]
    return rows, weights


def validate_numbers(estimator, y, n_samples):
    """Check the targets of a regression and return them as floats, shape (n_samples,)."""
    y = _one_per_sample(estimator, y, n_samples)
    try:
        y = y.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"y must hold numbers, got {y[:3].tolist()} ...") from None
    assert_all_finite(y, input_name="y")  # NaN may have been an object
    return y


def validate_groups(groups, n_samples):
    """Return the groups of the samples as numbers (n,) from 0, or None if none are given."""
    if groups is None:
        return None
    try:
        groups = _of_one_type(column_or_1d(groups))
        if groups.dtype.kind in "fc":
            assert_all_finite(groups, input_name="groups")
        groups = np.unique(groups, return_inverse=True)[1]
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"groups must hold one label per sample, all of one type: {error}"
        ) from None
    if len(groups) != n_samples:
        raise ValueError(f"groups has {len(groups)} labels, but X has {n_samples} samples.")
    if groups.max() == 0:
        raise ValueError("groups must name at least 2 groups, got one: nothing can be held out.")
    return groups


def _one_per_sample(estimator, y, n_samples):
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None."
        )
    if np.ma.is_masked(y):
        raise ValueError(f"y must have a label for every sample, got {y.mask.sum()} masked ones.")
    kind = getattr(getattr(y, "dtype", None), "kind", "?")
    if hasattr(y, "to_numpy") and kind in "biu":
        y = y.to_numpy()  # integers of a nullable type stay what they are
    elif kind == "T":
        y = np.array(y.tolist())  # NumPy's strings of any length
    y = column_or_1d(y, warn=True)
    if y.dtype.kind in "fc":
        assert_all_finite(y, input_name="y")
    check_length(y, n_samples)
    return y


def check_length(y, n_samples):
    """Raise a ValueError unless there is one label per sample."""
    if len(y) != n_samples:
        raise ValueError(f"y has {len(y)} labels, but X has {n_samples} samples.")


def _of_one_type(y):
    """Labels (n,) that can be put in order, with a type for numbers that came as objects.

    Refuses numbers among words, None, NaN.
    """
    kinds = {type(label): label for label in y.tolist()}
    numbers = all(issubclass(kind, NUMBERS) for kind in kinds)
    if len(kinds) > 1 and not numbers:
        told = ", ".join(f"{label!r} ({kind.__name__})" for kind, label in kinds.items())
        raise ValueError(f"y must hold labels of one type, got for example {told}.")
    return np.array(y.tolist()) if numbers and y.dtype == object else y


def check_votable(X):
    """Raise a ValueError if a sample has no view at all: nobody could vote on it."""
    empty = np.flatnonzero(~X.observed.any(axis=1))
    if len(empty):
        raise ValueError(f"{len(empty)} sample(s) have no view at all, first row {empty[0]}.")
