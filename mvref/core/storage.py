"""How one view is stored: a read-only array or a CSR matrix, a missing row as NaN."""

import numpy as np
from scipy import sparse


def as_view(view, name):
    """Return a read-only float64 array or a CSR matrix."""
    if hasattr(view, "dtype") and np.iscomplexobj(view):
        raise ValueError(f"view {name!r} must be an array of real numbers, got complex ones.")
    if sparse.issparse(view):
        view = sparse.csr_matrix(view, dtype=np.float64)
    else:
        try:
            view = np.asarray(view, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"view {name!r} must be an array of numbers: {error}.") from error
    if view.ndim != 2:
        raise ValueError(
            f"view {name!r} must be a 2-D array (n_samples, n_features), got {view.ndim} "
            "dimension(s)."
        )
    if view.shape[1] == 0:
        raise ValueError(f"view {name!r} has no features.")
    return freeze(view)


def freeze(view):
    """Return a read-only look at a view; the arrays of its owner stay writeable."""
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
    """Boolean (n,): rows whose every feature is NaN."""
    if sparse.issparse(view):
        is_nan = sparse.csr_matrix((np.isnan(view.data), view.indices, view.indptr), view.shape)
        return is_nan.sum(axis=1).A1 == view.shape[1]
    missing = np.isnan(view[:, 0])  # most rows are decided by their first value
    missing[missing] = np.isnan(view[missing]).all(axis=1)
    return missing


def with_nan_rows(view, rows):
    """Return a copy of a view in which `rows` are NaN."""
    if not sparse.issparse(view):
        view = np.array(view)
        view[rows] = np.nan
        return view
    source = np.arange(view.shape[0])
    source[rows] = view.shape[0]  # one more row, of NaN
    gap = sparse.csr_matrix(np.full((1, view.shape[1]), np.nan))
    return sparse.vstack([view, gap], format="csr")[source]
