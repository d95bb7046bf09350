"""Samples in the form that an estimator takes: split, with the views and columns of ``fit``."""

from collections.abc import Mapping

import numpy as np
from scipy import sparse
from sklearn.utils.validation import validate_data

from .checks import check_common_parameters, warn_caller
from .containers import (
    check_described,
    cut_views,
    default_names,
    is_collection_of_views,
    is_read,
    names_of_columns,
    parts_of,
    read_views,
    unpacked,
)
from .ids import check_ids, samples_of
from .tables import as_flat_table, as_frame, refuse_words
from .views import MultiView


def validate_views(estimator, X, *, reset, raw=False, **given):
    """Check `X` for an estimator and return it as a :class:`~mvref.MultiView`.

    estimator: its parameter ``views`` splits a 2-D `X`; reset: True in ``fit``, to set
    ``n_features_in_``, ``view_names_``, ``view_widths_``, ``view_feature_names_`` and, for one data
    frame, ``feature_names_in_``; False afterwards, to compare `X` with them; raw: accept words, and
    rows of a view that are NaN only in part; given: y, weights and groups, whose ids must be those
    of `X`.
    """
    if reset:
        check_common_parameters(estimator)
    if isinstance(X, list | tuple) and len(X) == 0:
        raise ValueError("X is an empty list: at least one of the views is needed.")
    table, X = X, unpacked(X, estimator.views)
    X = X if reset else _views_given(estimator, X)
    if is_collection_of_views(X):
        named = isinstance(X, Mapping)
        X = MultiView._of(X if is_read(X) else read_views(X))
        if not reset and (named or X.names != default_names(X.n_views)):
            X = _with_all_views(estimator, X)
        if estimator.views is not None:
            check_described(estimator.views, X.widths)
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
    if hasattr(table, "iloc"):
        X._samples = samples_of(table)
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
    """Check one 2-D `X` as scikit-learn does, and split it into views."""
    X = as_flat_table(X, raw)
    views = estimator.views
    learnt = getattr(estimator, "view_widths_", [])
    if not reset and views is None and len(learnt) > 1:  # fitted on views, given a flat table
        views = learnt
    columns, full = None, False
    if not reset and not hasattr(estimator, "feature_names_in_"):
        columns = names_of_columns(X, "X")  # compared with those of the views, not here
        if columns is not None:
            X, pairs = as_frame(X, "X"), _columns_of_fit(estimator)
            full = columns == [name for name, _ in pairs]
            columns = [own for _, own in pairs] if full else columns
            X = X.set_axis(columns, axis=1) if raw else X.to_numpy()
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
    if views is None:
        X = parts_of(default_names(1), [X], None if columns is None else [columns])
    else:
        X = cut_views(X, columns, None, views)
    X = MultiView._of(X)
    if full:
        X._feature_names = list(estimator.view_feature_names_)
    return X


def _columns_of_fit(estimator):
    """Return pairs: full name ``<view>__<column>`` and own name of every column of ``fit``."""
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
        has = X.feature_names[X.names.index(one_sided[0])] is not None
        warn_caller(
            f"the columns of the views {one_sided} have {'names' if has else 'no names'}, but "
            f"{fitted} {'without' if has else 'with'} them: whether they are the same columns in "
            "the same order cannot be checked.",
            UserWarning,
        )
        X._feature_names = list(estimator.view_feature_names_)  # what a member sees: no more words


def _views_given(estimator, X):
    """Return X without views that are None: no sample has them, and ``fit`` has their columns."""
    learnt = estimator.view_names_
    listed = isinstance(X, list | tuple) and not is_read(X) and len(X) == len(learnt)
    if listed and any(view is None for view in X):
        X = dict(zip(learnt, X, strict=True))
    if isinstance(X, Mapping) and not sparse.issparse(X) and set(map(str, X)) <= set(learnt):
        return {name: view for name, view in X.items() if view is not None} or X
    return X


def _with_all_views(estimator, X):
    """Add the views of ``fit`` that are not given by name, as missing in every sample."""
    learnt = estimator.view_names_
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
    return MultiView(views, names=names, feature_names=columns)._with_samples_of(X)


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
    if X.n_views != len(learnt):  # refused by `_check_columns`
        return X
    return X._like(X.views, learnt, X.feature_names, X.observed)


def _check_values(X, raw):
    for view, name, seen in zip(X.views, X.names, X.observed.T, strict=True):
        if hasattr(view, "iloc"):
            if not raw:
                refuse_words(view, name)
            continue
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
