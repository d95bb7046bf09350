"""How one view is stored: a read-only array, a CSR matrix, or as it came if it holds no numbers.

A missing row is NaN. A view of words, categories or dates stays a data frame, and a view of texts a
series, until :class:`~mvref.PerView` makes numbers of it; estimators refuse it.
"""

import numpy as np
from scipy import sparse

NUMBERS = ("integer", "floating", "mixed-integer-float", "boolean", "decimal", "empty")


def as_view(view, name):
    """Return a read-only float64 array, a CSR matrix, or a pandas copy of what is no numbers."""
    if is_texts(view):
        from pandas import Series

        return Series(list(view), dtype=object)
    if _is_frame(view) and not _all_numbers(view):
        return freeze(view)
    view = as_table_of_numbers(view, f"view {name!r}")
    if view.shape[1] == 0:
        raise ValueError(f"view {name!r} has no features.")
    return freeze(view)


def as_table_of_numbers(values, name):
    """Return a 2-D float64 array, or a CSR matrix of what is sparse; see :func:`as_numbers`."""
    if sparse.issparse(values):
        _refuse_dates(values.dtype, name)
        values = sparse.csr_matrix(values, dtype=np.float64)
    else:
        values = as_numbers(values, name)
    if values.ndim != 2:
        raise ValueError(
            f"{name} must be a 2-D array (n_samples, n_features), got {values.ndim} dimension(s)."
        )
    return values


def as_numbers(values, name):
    """Return numbers of any kind (lists, integers, frames, masked arrays) as a float64 array.

    An array of float64 comes back as it is; NaN stands for what is masked or NA.
    """
    if type(values) is np.ndarray and values.dtype == np.float64:
        return values
    _refuse_dates(getattr(values, "dtype", None), name)
    try:
        return _dense(values.toarray() if sparse.issparse(values) else values)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{name} must be an array of numbers: {error}.") from error


def as_flat_table(X):
    """Return one table of all views as it came, NaN where a masked array has a mask; no dates."""
    for dtype in getattr(X, "dtypes", [getattr(X, "dtype", None)]):
        _refuse_dates(dtype, "X", "mM")  # of complex numbers scikit-learn speaks
    return _dense(X) if np.ma.isMaskedArray(X) else X


def _refuse_dates(dtype, name, kinds="cmM"):
    if getattr(dtype, "kind", "?") in kinds:
        raise ValueError(
            f"{name} must be an array of real numbers, got {dtype}; make numbers of dates first, "
            "such as days since a date."
        )


def is_texts(view):
    """Tell a view of one text per sample: a list, series or 1-D array of str, None for a gap."""
    one_dimensional = isinstance(view, list | tuple) or getattr(view, "ndim", 0) == 1
    if not one_dimensional:
        return False
    texts = [isinstance(text, str) for text in view]
    return any(texts) and all(t or _is_gap(text) for t, text in zip(texts, view, strict=True))


def _is_gap(value):
    return value is None or value != value or type(value).__name__ == "NAType"


def _is_frame(view):
    return hasattr(view, "iloc") and hasattr(view, "columns")


def _all_numbers(frame):
    from pandas.api.types import infer_dtype, is_numeric_dtype

    return all(
        is_numeric_dtype(column.dtype)
        or (column.dtype == object and infer_dtype(column) in NUMBERS)
        for _, column in frame.items()
    )


def _dense(view):
    """As float64, NaN where a masked array has a mask and a nullable frame has NA."""
    if view is None:
        raise TypeError("got None")
    if np.ma.isMaskedArray(view):
        return view.astype(np.float64).filled(np.nan)
    try:
        return np.asarray(view, dtype=np.float64)
    except TypeError:
        if not _is_frame(view):
            raise
        return view.to_numpy(dtype=np.float64, na_value=np.nan)


def is_encoded(view):
    """Tell numbers from a frame of words or a series of texts."""
    return not hasattr(view, "iloc")


def width_of(view):
    """Return the number of columns."""
    return view.shape[1] if view.ndim == 2 else 1


def rows_of(view, rows):
    """Return the rows of a view, of any kind."""
    return view[rows] if is_encoded(view) else view.iloc[rows]


def names_of_columns(view, name):
    """Return the names of a frame's columns; None where they are not all texts."""
    columns = list(getattr(view, "columns", []))
    if not columns or not any(isinstance(column, str) for column in columns):
        return None
    if not all(isinstance(column, str) for column in columns):
        raise ValueError(
            f"view {name!r} has columns of which some are named by texts and some are not: "
            f"{columns[:5]}; rename them, for example by frame.columns.astype(str)."
        )
    return columns


def check_columns(columns, width, name):
    """Return the names of a view's columns; refuse too few, too many, or one name twice."""
    columns = [str(column) for column in columns]
    if len(columns) != width:
        raise ValueError(f"view {name!r} has {width} columns, but {len(columns)} names of columns.")
    if len(set(columns)) < width:
        twice = sorted({column for column in columns if columns.count(column) > 1})
        raise ValueError(f"view {name!r} has several columns of one name: {twice}.")
    return columns


def freeze(view):
    """Return a read-only look at a view; the arrays of its owner stay writeable."""
    if not is_encoded(view):
        return view.reset_index(drop=True)  # a copy: pandas has nothing that is read-only
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
