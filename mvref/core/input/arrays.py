"""Operations on a view: an array, a CSR matrix, or a pandas table of words."""

import numpy as np
from scipy import sparse


def is_encoded(view):
    """Return whether a view is numbers, not a frame of words or a series of texts."""
    return not hasattr(view, "iloc")


def rows_of(view, rows):
    """Return the rows of a view, of any kind."""
    return view[rows] if is_encoded(view) else view.iloc[rows]


def freeze(view):
    """Return a view as read-only; the arrays of its owner stay writeable."""
    if not is_encoded(view):
        return view.reset_index(drop=True)  # a copy: pandas has no read-only tables
    if sparse.issparse(view):
        if not view.has_canonical_format:
            view = view.copy()
            view.sum_duplicates()
        parts = freeze(view.data), freeze(view.indices), freeze(view.indptr)
        return sparse.csr_matrix(parts, shape=view.shape)
    view = view.view()
    view.flags.writeable = False
    return view


def all_nan_rows(view):
    """Return a mask (n,) of the rows in which every feature is NaN."""
    if not is_encoded(view):
        missing = view.isna().to_numpy()
        return missing if missing.ndim == 1 else missing.all(axis=1)
    if sparse.issparse(view):
        is_nan = sparse.csr_matrix((np.isnan(view.data), view.indices, view.indptr), view.shape)
        return is_nan.sum(axis=1).A1 == view.shape[1]
    missing = np.isnan(view[:, 0])  # most rows are decided by their first value
    missing[missing] = np.isnan(view[missing]).all(axis=1)
    return missing


def with_nan_rows(view, rows):
    """Return a copy of a view in which `rows` are NaN."""
    if not is_encoded(view):
        hidden = np.zeros(len(view), dtype=bool)
        hidden[rows] = True
        return view[~hidden].reindex(range(len(view)))
    if not sparse.issparse(view):
        view = np.array(view)
        view[rows] = np.nan
        return view
    source = np.arange(view.shape[0])
    source[rows] = view.shape[0]  # one more row, of NaN
    gap = sparse.csr_matrix(np.full((1, view.shape[1]), np.nan))
    return sparse.vstack([view, gap], format="csr")[source]


def kept(tables, observed=None):
    """Return read-only views, NaN where not `observed`, and a mask (n, V) of present views."""
    views = [freeze(table) for table in tables]
    present = np.column_stack([~all_nan_rows(view) for view in views])
    if observed is not None:
        present &= _check_observed(observed, present)
        for v, seen in enumerate(present.T):
            if not seen.all():
                views[v] = freeze(with_nan_rows(views[v], np.flatnonzero(~seen)))
    return views, present


def _check_observed(observed, present):
    try:
        observed = np.asarray(observed)
    except ValueError:
        raise ValueError(f"observed must be of shape {present.shape}, its rows differ.") from None
    if observed.shape != present.shape or observed.dtype != bool:
        raise ValueError(
            f"observed must be a boolean array of shape {present.shape} (n_samples, n_views), got "
            f"{observed.dtype} of shape {observed.shape}."
        )
    if (observed & ~present).any():
        i, v = np.argwhere(observed & ~present)[0]
        raise ValueError(f"observed says that sample {i} has view {v}, but that row is all NaN.")
    return observed


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
    """Return the rows of a slice with start and stop, without a copy."""
    if not sparse.issparse(Z):
        return Z[rows]
    indptr = Z.indptr[rows.start : rows.stop + 1]
    stored = slice(indptr[0], indptr[-1])
    parts = Z.data[stored], Z.indices[stored], indptr - indptr[0]
    return sparse.csr_matrix(parts, shape=(len(indptr) - 1, Z.shape[1]))


def root_mean_squares(Z):
    """Return the root mean square of every column, without overflow."""
    largest = abs(Z).max()
    scaled = Z / largest
    if sparse.issparse(Z):
        squares = np.asarray(scaled.power(2).sum(axis=0)).ravel()
    else:
        squares = np.einsum("ij,ij->j", scaled, scaled)
    return largest * np.sqrt(squares / Z.shape[0])
