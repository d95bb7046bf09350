"""Labels, numbers, groups and weights of the samples: one of each per sample, or an error."""

import numpy as np
from sklearn.utils import column_or_1d
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, assert_all_finite

from .checks import check_number
from .tables import as_numbers, is_gap

NUMBERS = (int, float, np.integer, np.floating, np.bool_)


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


def sample_weights(estimator, y, sample_weight):
    """Return the rows of positive weight, and their weights times those of their classes.

    The weights are None if none were given.
    """
    class_weight = getattr(estimator, "class_weight", None)
    if sample_weight is None and class_weight is None:
        return np.arange(len(y)), None
    if np.ma.is_masked(sample_weight):
        raise ValueError("sample_weight must have a number for every sample, got masked ones.")
    if getattr(sample_weight, "shape", ()):  # refuses dates
        sample_weight = as_numbers(sample_weight, "sample_weight")
    weights = _check_sample_weight(sample_weight, y, ensure_non_negative=True)
    rows = np.flatnonzero(weights >= np.finfo(float).tiny)  # smaller numbers lose digits
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
    """Return labels of any type as a sortable array (n_samples,).

    Numbers given as objects get a numeric type. Refuse numbers among words, None, NaN.
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
    """Return labels in any container as a NumPy array; refuse missing ones."""
    missing = np.ma.getmaskarray(y) if np.ma.isMaskedArray(y) else False
    if hasattr(y, "to_pylist"):  # pyarrow
        y = y.to_pylist()
    elif hasattr(y, "to_numpy"):
        y = y.to_numpy()
    elif getattr(getattr(y, "dtype", None), "kind", "?") == "T":  # strings of any length
        y = y.tolist()
    try:
        texts = [isinstance(label, str) for label in y] if isinstance(y, list | tuple) else []
        y = np.asarray(y, dtype=object if any(texts) and not all(texts) else None)  # else texts
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
