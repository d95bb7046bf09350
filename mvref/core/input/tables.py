"""Conversion of one table to an array or CSR matrix of numbers, or to pandas for words.

A missing row is NaN. A view of words or categories becomes a data frame, and a view of texts a
series, until :class:`~mvref.PerView` encodes it; estimators refuse it. Dates, durations
and complex numbers are refused.
"""

from datetime import date, time, timedelta
from numbers import Complex, Number, Real

import numpy as np
from scipy import sparse

OF_DTYPE = dict.fromkeys("biuf", "number") | {"c": "complex", "m": "date", "M": "date"}
DATES = (date, time, timedelta, np.datetime64, np.timedelta64)


def as_table(view, name):
    """Return a float64 array, a CSR matrix, or a pandas table of what is not numeric."""
    if is_texts(view):
        from pandas import Series

        return Series(list(view), dtype=object)
    frame = as_frame(view, f"view {name!r}")
    if frame is not None and set(check_kinds(frame, f"view {name!r}")) & {"text", "other"}:
        return frame
    view = as_table_of_numbers(view if frame is None else frame, f"view {name!r}")
    if view.shape[1] == 0:
        raise ValueError(f"view {name!r} has no features.")
    return view


def as_frame(values, name):
    """Return a pandas frame of a table whose columns may differ in kind; None for others."""
    if is_frame(values):
        return values
    if hasattr(values, "column_names") and hasattr(values, "to_pandas"):  # pyarrow
        return values.to_pandas()
    if hasattr(values, "get_columns"):  # polars, whose to_pandas would need pyarrow
        columns = {column.name: column.to_numpy() for column in values.get_columns()}
    else:
        try:
            columns = np.asarray(values) if isinstance(values, list | tuple) else values
        except ValueError as error:
            raise ValueError(f"{name} must be an array of numbers: {error}.") from error
        kind = getattr(getattr(columns, "dtype", None), "kind", "?")
        if kind not in "OUST" or np.ma.isMaskedArray(columns) or np.ndim(columns) != 2:
            return None
    from pandas import DataFrame

    return DataFrame(columns)


def kind_of(column):
    """Return the kind of a data frame's column: number, text, date, complex, gap or other.

    Words, categories and other objects are left to a transformer to encode.

    >>> from pandas import Series
    >>> [kind_of(Series(c)) for c in ([1, None], ["1"], [1j], [None], ["2026-01-05"], [{}])]
    ['number', 'text', 'complex', 'gap', 'text', 'other']
    >>> kind_of(Series(["2026-01-05"]).astype("datetime64[s]"))
    'date'
    """
    dtype = column.dtype
    kind = getattr(dtype, "kind", "O")
    if kind in OF_DTYPE:
        return OF_DTYPE[kind]
    kinds = {type(value) for value in column.array if not is_gap(value)}
    if any(issubclass(k, DATES) or k.__name__ == "Period" for k in kinds):
        return "date"
    if dtype.name == "category":
        return "text"
    if not kinds:
        return "gap"
    if all(issubclass(k, Number | np.bool_) for k in kinds):
        real = all(issubclass(k, Real) or not issubclass(k, Complex) for k in kinds)
        return "number" if real else "complex"
    return "text" if all(issubclass(k, str | bytes | Number | np.bool_) for k in kinds) else "other"


def check_kinds(frame, name):
    """Return the kinds of the columns of a data frame; refuse dates and complex numbers."""
    kinds = [OF_DTYPE.get(d.kind) or kind_of(frame.iloc[:, j]) for j, d in enumerate(frame.dtypes)]
    for kind, dtype, column in zip(kinds, frame.dtypes, frame.columns, strict=True):
        _refuse_dates(kind, f"{dtype} in column {column!r}", name)
    return kinds


def as_table_of_numbers(values, name):
    """Return a 2-D float64 array, or a CSR matrix of sparse input; see :func:`as_numbers`."""
    if sparse.issparse(values):
        _refuse_dates(OF_DTYPE.get(values.dtype.kind), values.dtype, name)
        values = sparse.csr_matrix(values, dtype=np.float64)
    else:
        values = as_numbers(values, name)
    if values.ndim != 2:
        rows = "; make a row of each sample, view.reshape(len(view), -1)" * (values.ndim > 2)
        raise ValueError(
            f"{name} must be a 2-D array (n_samples, n_features), got {values.ndim} dimension(s)"
            f"{rows}."
        )
    return values


def as_numbers(values, name):
    """Return numbers of any kind (lists, integers, frames, masked arrays) as a float64 array.

    An array of float64 is returned as it is; masked values and NA become NaN.
    """
    if type(values) is np.ndarray and values.dtype == np.float64:
        return values
    dtype = getattr(values, "dtype", None)
    _refuse_dates(OF_DTYPE.get(getattr(dtype, "kind", "?")), dtype, name)
    if hasattr(values, "iloc") and values.ndim == 1:
        refuse_lists(values, name)
    try:
        return _dense(values.toarray() if sparse.issparse(values) else values)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{name} must be an array of numbers: {error}.") from error


def as_flat_table(X, raw=False):
    """Return one table of all views as it is, except NaN for masked values; refuse dates.

    raw: keep words.
    """
    frame = as_frame(X, "X")
    if frame is None:
        listed = isinstance(X, list | tuple)
        dtype = np.asarray(X).dtype if listed else getattr(X, "dtype", None)
        kind = OF_DTYPE.get(getattr(dtype, "kind", "?"))
        if listed or kind == "date":  # scikit-learn itself refuses complex arrays
            _refuse_dates(kind, dtype, "X")
        return _dense(X) if np.ma.isMaskedArray(X) and not raw else X
    kinds = check_kinds(frame, "X")
    for j in np.flatnonzero(np.array(kinds) == "other"):
        refuse_lists(frame.iloc[:, j], "X")
    if raw and "text" in kinds:
        return frame
    if "text" in kinds and "other" not in kinds:
        refuse_words(frame)
    return X


def _refuse_dates(kind, dtype, name):
    """Raise a ValueError if a table or column holds dates, durations or complex numbers."""
    mends = {
        "date": "dates ({}); make numbers of dates first, such as days since a date.",
        "complex": "complex numbers ({}); take real and imaginary parts as columns.",
    }
    if kind in mends:
        told = mends[kind].format(dtype)
        raise ValueError(f"{name} must be an array of real numbers, got {told}")


def is_texts(view):
    """Return whether a view is a list, series or 1-D array of texts; some may be missing."""
    one_dimensional = isinstance(view, list | tuple) or getattr(view, "ndim", 0) == 1
    if not one_dimensional:
        return False
    texts = [isinstance(text, str) for text in view]
    return any(texts) and all(t or is_gap(text) for t, text in zip(texts, view, strict=True))


def is_gap(value):
    """Return whether a value is None, NaN, NaT or NA."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return bool(isinstance(value, Number | np.generic) and value != value)


def is_frame(view):
    """Return whether a view is a pandas data frame."""
    return hasattr(view, "iloc") and hasattr(view, "columns")


def _dense(view):
    """Return a float64 array, NaN where a masked array has a mask and a nullable frame has NA."""
    if view is None:
        raise TypeError("got None")
    if np.ma.isMaskedArray(view):
        return view.astype(np.float64).filled(np.nan)
    try:
        return np.asarray(view, dtype=np.float64)
    except TypeError:
        if not is_frame(view):
            raise
        return view.to_numpy(dtype=np.float64, na_value=np.nan)


def refuse_words(view, name=None):
    """Raise a ValueError for a view (or without a name, a flat table X) that is not numeric."""
    from pandas import to_numeric

    told, whose = ("X", "") if name is None else (f"view {name!r}", f"{name!r}: ")
    for column, texts in (view.to_frame("texts") if view.ndim == 1 else view).items():
        refuse_lists(texts, told)
        if kind_of(texts) == "text" and texts.dtype.name != "category":
            if (to_numeric(texts.astype(object), errors="coerce").notna() | texts.isna()).all():
                raise ValueError(
                    f"{told} holds numbers written as texts in column {column!r}: make numbers of "
                    "them first, with pandas.to_numeric."
                )
    encoder = "OneHotEncoder(handle_unknown='ignore')"
    raise ValueError(
        f"{told} holds words or categories: make numbers of it first, with "
        f"PerView({f'{{{whose}{encoder}}}' if whose else encoder}) or, if it holds texts, with a "
        "TfidfVectorizer there."
    )


def refuse_lists(column, told):
    """Raise a ValueError for a column of lists, such as embeddings."""
    if any(isinstance(value, list | tuple | np.ndarray) for value in column):
        raise ValueError(
            f"{told} holds a list in each cell of column {column.name!r}: make columns of the "
            f"numbers in it, numpy.stack(frame[{column.name!r}])."
        )


def width_of(view):
    """Return the number of columns; a view of texts has one."""
    return view.shape[1] if view.ndim == 2 else 1
