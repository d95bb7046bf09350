"""Which columns of a flat table belong to which view, and views as columns without gaps."""

from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral

import numpy as np
from scipy import sparse

from .checks import shown


def view_columns(views, n_features, columns=None):
    """Return the column indices of every view of a flat table, whose column names are `columns`."""
    if isinstance(views, Mapping):
        views = list(views.values())
    if isinstance(views, str) or not isinstance(views, Sequence | np.ndarray) or len(views) == 0:
        raise ValueError(
            "views must hold one entry per view (widths, slices, index lists or lists of column "
            f"names), got {views!r}."
        )
    if all(isinstance(entry, Integral) for entry in views):
        if min(views) < 1 or sum(views) != n_features:
            raise ValueError(
                f"views gives the widths {list(views)}, which add up to {sum(views)}; X has "
                f"{n_features} features, and every width must be at least 1."
            )
        ends = np.cumsum(views)
        return [np.arange(end - width, end) for width, end in zip(views, ends, strict=True)]
    return [_columns_of(entry, n_features, columns) for entry in views]


def _columns_of(entry, n_features, columns):
    """Column indices of one entry: a slice, a list of indices or a list of names."""
    if isinstance(entry, slice):
        index = np.arange(n_features)[entry]
    else:
        if not isinstance(entry, Iterable):
            raise ValueError(
                f"views has the entry {entry!r}: give all views as widths, or each as a slice, a "
                "list of column indices or a list of column names."
            )
        wanted = [entry] if isinstance(entry, str) else list(entry)
        if any(isinstance(w, str) for w in wanted):
            unknown = [w for w in wanted if columns is None or w not in columns]
            if unknown:
                raise ValueError(f"views names the columns {shown(unknown)}, which X has not.")
            wanted = [columns.index(w) for w in wanted]
        index = np.asarray(wanted)
    if (
        index.size == 0
        or index.dtype.kind not in "iu"
        or not np.isin(index, range(n_features)).all()
    ):
        raise ValueError(
            f"views has the entry {entry!r}: an entry must select at least one of the "
            f"{n_features} columns (0 to {n_features - 1}) of X."
        )
    return index.astype(np.intp)


def view_features(X, constant):
    """Return the views with a last column `constant`, unless that is 0; missing rows are zeros."""
    features = []
    for view, seen in zip(X.views, X.observed.T, strict=True):
        column = np.where(seen, constant, 0.0)[:, None]
        if sparse.issparse(view):
            if not seen.all():
                filled = view.copy()
                filled.data = np.nan_to_num(filled.data)
                view = sparse.diags_array(seen.astype(float)) @ filled
            view = sparse.hstack([view, column], format="csr") if constant else view
        else:
            view = view if seen.all() else np.where(seen[:, None], view, 0.0)
            view = np.hstack([view, column]) if constant else view
        features.append(view)
    return features


def take_rows(Z, rows):
    """Return the rows of a slice with start and stop, seen and not copied."""
    if not sparse.issparse(Z):
        return Z[rows]
    indptr = Z.indptr[rows.start : rows.stop + 1]
    stored = slice(indptr[0], indptr[-1])
    parts = Z.data[stored], Z.indices[stored], indptr - indptr[0]
    return sparse.csr_matrix(parts, shape=(len(indptr) - 1, Z.shape[1]))


def root_mean_squares(Z):
    """Of every column, without overflow."""
    largest = abs(Z).max()
    scaled = Z / largest
    if sparse.issparse(Z):
        squares = np.asarray(scaled.power(2).sum(axis=0)).ravel()
    else:
        squares = np.einsum("ij,ij->j", scaled, scaled)
    return largest * np.sqrt(squares / Z.shape[0])
