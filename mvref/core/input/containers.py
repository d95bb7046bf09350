"""Forms of input before they become a MultiView: names, arrays, columns and ids.

Sequences, mappings and generators of views; data frames of pandas, polars and Arrow, also with two
levels of columns; AnnData and MuData; and one flat table that the parameter ``views`` splits.
"""

from collections import Counter, namedtuple
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, ValuesView
from numbers import Integral

import numpy as np
from scipy import sparse

from .arrays import freeze, kept, rows_of, with_nan_rows
from .checks import check_choice, shown
from .ids import check_views, cleaned, join_ids, numbered, samples_of
from .tables import as_frame, as_table, is_texts, width_of

# Content of a MultiView of V views: names; read-only arrays, CSR matrices or tables of words;
# observed (n, V); names of the columns, or None; positions of the samples by id, or None.
Parts = namedtuple("Parts", "names views observed columns samples")


def unpacked(X, views=None):
    """Return a container of views as a collection of them, and anything else as it is.

    The containers are a MuData, an AnnData, a generator, the values of a mapping, and a frame whose
    columns have two levels, the views and their columns, unless `views` splits it.
    """
    check_in_memory(X, "X")
    if isinstance(X, Iterator | ValuesView):
        return list(X)
    if is_mudata(X):
        return join_views(X)[0]
    if is_annotated(X):
        return read_views([X]) if views is None else cut_views(*open_table(X), views)
    if views is None and getattr(getattr(X, "columns", None), "nlevels", 1) > 1:
        return {str(view): X[view] for view in X.columns.unique(0)}
    if getattr(X, "ndim", 2) == 3:
        raise ValueError(
            f"Found array with dim 3, of shape {tuple(X.shape)}: hand over views that are stacked "
            "in it as a list, list(X)."
        )
    return X


def check_in_memory(table, name):
    """Raise a ValueError for data not in memory: AnnData, MuData in a file, polars LazyFrame."""
    call = "to_memory" if getattr(table, "isbacked", False) else ""
    call = "collect" if type(table).__name__ == "LazyFrame" else call
    if call:
        raise ValueError(f"{name} is not in memory: hand over what its .{call}() gives.")


def is_annotated(view):
    """Return whether this is an AnnData or similar: X, with names of its rows and columns."""
    return all(hasattr(view, part) for part in ("X", "obs_names", "var_names"))


def is_mudata(X):
    """Return whether this is a MuData or similar: modalities, with the names of all samples."""
    return hasattr(X, "mod") and hasattr(X, "obs_names")


def is_collection_of_views(X):
    """Return whether X is a collection of views (MultiView, mapping, list), not a 2-D array."""
    if isinstance(X, list | tuple) and not is_read(X):
        return any(sparse.issparse(v) or is_annotated(v) or np.ndim(v) >= 2 for v in X)
    return is_read(X) or (isinstance(X, Mapping) and not sparse.issparse(X))  # as a DOK matrix is


def is_read(X):
    """Return whether X is a MultiView, or the parts of one."""
    return isinstance(X, Parts) or hasattr(type(X), "_samples")


def read_views(views, names=None, observed=None, columns=None):
    """Return the parts of a sequence or mapping of views, or of a MuData, which is joined."""
    if is_mudata(views):
        joined, _ = join_views(views)
        names = _check_names(joined.names if names is None else names, len(joined.views))
        columns = joined.columns if columns is None else columns
        return parts_of(names, joined.views, columns, joined.samples, observed)
    names, views = _listed(views, names)
    check_views(views, names)
    return parts_of(names, views, columns, samples_of(views), observed)


def parts_of(names, views, columns=None, samples=None, observed=None):
    """Return the parts of named views of the same samples; columns: as given, or None."""
    columns = _listed_columns(columns, names, views)
    tables = [_open_view(view, name) for view, name in zip(views, names, strict=True)]
    tables = [as_table(table, name) for table, name in zip(tables, names, strict=True)]
    columns = _checked(columns, map(width_of, tables), names)
    n_samples = [table.shape[0] for table in tables]
    if len(set(n_samples)) > 1:
        told = ", ".join(f"{name}: {n}" for name, n in zip(names, n_samples, strict=True))
        raise ValueError(f"views must agree on the number of samples, got {told}.")
    return Parts(names, *kept(tables, observed), columns, samples)


def _open_view(view, name):
    """Return a view, taken out of its container if it is in one."""
    if view is None:
        raise ValueError(
            f"view {name!r} is None, but must be an array of numbers: leave it out; only a fitted "
            "model knows the columns of a view that nobody has."
        )
    check_in_memory(view, f"view {name!r}")
    return view.X if is_annotated(view) else view


def _listed_columns(columns, names, views):
    """Return the column names of each view, given or from a frame, or None."""
    if columns is None:
        return [names_of_columns(*pair) for pair in zip(views, names, strict=True)]
    if isinstance(columns, Mapping):
        unknown = sorted(set(columns) - set(names))
        if unknown:
            raise ValueError(f"feature_names has the views {unknown}, not in {names}.")
        return [columns.get(name) for name in names]
    if len(columns) != len(names):
        raise ValueError(
            f"feature_names must have one entry per view, {len(names)}, got {len(columns)}."
        )
    return columns


def names_of_columns(view, name):
    """Return the names of a frame's columns; None where they are not all texts."""
    columns = getattr(view, "var_names", getattr(view, "column_names", None))
    columns = list(getattr(view, "columns", []) if columns is None else columns)
    if not columns or not any(isinstance(column, str) for column in columns):
        return None
    if not all(isinstance(column, str) for column in columns):
        raise ValueError(
            f"view {name!r} has columns of which some are named by texts and some are not: "
            f"{columns[:5]}; rename them, for example by frame.columns.astype(str)."
        )
    return columns


def _checked(columns, widths, names):
    """Return the column names of views as texts; refuse a wrong number, or duplicates."""
    checked = []
    for own, width, name in zip(columns, widths, names, strict=True):
        own = None if own is None else [str(column) for column in own]
        if own is not None and len(own) != width:
            raise ValueError(f"view {name!r} has {width} columns, but {len(own)} names of columns.")
        if own is not None and len(set(own)) < width:
            twice = [column for column, n in Counter(own).items() if n > 1]
            raise ValueError(f"view {name!r} has several columns of one name: {twice[:10]}.")
        checked.append(own)
    return checked


def _listed(views, names=None):
    """Return the names of views, given, of a mapping or by default, and a list of the views."""
    if isinstance(views, Mapping) and not sparse.issparse(views):
        names = list(views) if names is None else names
        views = list(views.values())
    if not isinstance(views, Iterable) or hasattr(views, "shape"):
        stacked = "list(views) if the views are stacked in it, "
        raise ValueError(
            "views must be a sequence or a mapping of 2-D arrays, got "
            f"{type(views).__name__}; use {stacked * (getattr(views, 'ndim', 2) == 3)}"
            "MultiView.from_array to cut one 2-D array into views."
        )
    views = list(views)
    if not views:
        raise ValueError("views is empty: at least one view is needed.")
    return _check_names(names, len(views)), views


def default_names(n_views):
    """Return the names of views that were given without names."""
    return [f"view_{v}" for v in range(n_views)]


def _check_names(names, n_views):
    if names is None:
        return default_names(n_views)
    if isinstance(names, Iterable) and not isinstance(names, str):
        names = [str(name) for name in names]
    if not isinstance(names, list) or not len(names) == len(set(names)) == n_views:
        raise ValueError(f"names must be {n_views} different names, one per view, got {names!r}.")
    return names


def open_table(X, columns=None):
    """Return one table as an array, CSR matrix or frame, the names of its columns, its samples."""
    check_in_memory(X, "X")
    samples = None
    if is_annotated(X):
        columns = list(X.var_names) if columns is None else columns
        samples, X = samples_of(X), X.X
    frame = as_frame(X, "X")
    X = X if frame is None else frame
    if columns is None and hasattr(X, "columns"):
        columns = list(X.columns)
    if not hasattr(X, "iloc"):
        X = X.tocsr() if sparse.issparse(X) else np.asanyarray(X)  # a mask is kept
    return X, columns, samples_of([X]) if samples is None else samples


def cut_views(X, columns, samples, views, names=None):
    """Return the parts of one table, split by `views`; see :meth:`~mvref.MultiView.from_array`."""
    if X.ndim != 2:
        raise ValueError(f"X must be a 2-D array, got {X.ndim} dimension(s).")
    if isinstance(views, Mapping):
        names = list(views) if names is None else names
    indices = view_columns(views, X.shape[1], columns)
    named = columns is not None and all(isinstance(column, str) for column in columns)
    return parts_of(
        _check_names(names, len(indices)),
        [getattr(X, "iloc", X)[:, index] for index in indices],
        [[columns[j] for j in index] for index in indices] if named else None,
        samples,
    )


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
    """Return the column indices of one entry: a slice, a list of indices or of names."""
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


def check_described(views, widths):
    """Compare the parameter ``views`` with the widths of an X already split."""
    if not isinstance(views, Collection) or isinstance(views, str):
        raise ValueError(f"views must hold one entry per view, got {views!r}.")
    if len(views) != len(widths):
        raise ValueError(f"views describes {len(views)} views, but X has {len(widths)}.")
    told = list(views.values() if isinstance(views, Mapping) else views)
    if all(isinstance(width, Integral) for width in told) and told != widths:
        raise ValueError(f"views gives the widths {told}, but those of X are {widths}.")


def join_views(views, how="outer", key=None, layer=None, verbose=False):
    """Return the parts of tables joined by ids, and the ids; see :meth:`~mvref.MultiView.align`."""
    check_choice(how, "how", ("outer", "inner"))
    first = cleaned(views.obs_names) if is_mudata(views) else None
    names, tables = _listed(views.mod if is_mudata(views) else views)
    tables = [_with_ids(*pair, key) for pair in zip(tables, names, strict=True)]
    indices, ids = join_ids(dict(zip(names, tables, strict=True)), how, first, verbose)
    columns = [names_of_columns(*pair) for pair in zip(tables, names, strict=True)]
    layers = layer if isinstance(layer, Mapping) else dict.fromkeys(names, layer)
    tables = [_layer(t, layers.get(n), n) for t, n in zip(tables, names, strict=True)]
    tables = [as_table(*pair) for pair in zip(tables, names, strict=True)]
    columns = _checked(columns, map(width_of, tables), names)
    rows = [index.get_indexer(ids) for index in indices.values()]
    tables = [freeze(rows_of(*pair)) for pair in zip(tables, rows, strict=True)]
    tables = [with_nan_rows(t, np.flatnonzero(r < 0)) for t, r in zip(tables, rows, strict=True)]
    return Parts(names, *kept(tables), columns, numbered(ids)), ids


def _with_ids(table, name, key):
    """Return a numeric series as a frame, a frame indexed by column `key`, or the table itself."""
    check_in_memory(table, f"view {name!r}")
    if hasattr(table, "iloc") and table.ndim == 1 and not is_texts(table):
        table = table.to_frame()
    frame = None if key is None or is_annotated(table) else as_frame(table, f"view {name!r}")
    if frame is None:
        return table
    if key not in frame:
        raise ValueError(f"key={key!r} must be a column of view {name!r}, got {shown(frame)}.")
    return frame.set_index(key)


def _layer(table, layer, name):
    """Return the content of a table: of an AnnData, a layer or X."""
    if layer is None:
        return table.X if is_annotated(table) else table
    layers = table.layers if is_annotated(table) else {}
    if layer not in layers:
        raise ValueError(f"view {name!r} has no layer {layer!r}, only {list(layers)}.")
    return layers[layer]
