"""Your own data: a folder of tables, one per view, joined on a key."""

from pathlib import Path

import numpy as np
import pandas as pd

from ..core.views import MultiView
from ._base import MultiViewDataset
from ._sources import describe

READERS = {".csv": pd.read_csv, ".parquet": pd.read_parquet}


def read_views(folder, *, key="id"):
    """Read a folder of tables, one per view, and join them on a key.

    Parameters
    ----------
    folder : path
        Every ``.csv`` and ``.parquet`` file in it is a view of the file's name. Parquet needs the
        package pyarrow.
    key : str
        The column that says whose row it is. A sample lacks the views in whose tables it has none.

    Returns
    -------
    X : MultiView, views in the alphabetical order of their files, samples in that of their keys
    ids : array, shape (n_samples,)

    Raises
    ------
    ValueError
        If there is no table, a table lacks the key, has a key twice or not at all in some row, or
        holds something else than numbers.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from mvref.datasets import read_views
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "blood.csv").write_text("id,iron\\nann,3\\nbob,5\\n")
    ...     _ = Path(folder, "scan.csv").write_text("id,size,age\\nbob,1,40\\ncid,2,50\\n")
    ...     X, ids = read_views(folder)
    >>> X.names, ids.tolist()
    (['blood', 'scan'], ['ann', 'bob', 'cid'])
    >>> X.observed.tolist()
    [[True, False], [True, True], [False, True]]
    """
    tables = _read_tables(folder, key)
    ids = _all_keys(tables)
    return _join(tables, ids), ids.to_numpy()


def read_folder(folder, *, key="id", target="label"):
    """Read a folder of tables, one per view, and the labels that one of them holds.

    Parameters
    ----------
    folder, key
        As in :func:`read_views`.
    target : str
        Column of the class labels, in one of the tables; a table of nothing else but the key is no
        view.

    Returns
    -------
    dataset : MultiViewDataset
        The samples that have a label and a view, in the order of their keys. Of ``meta``, ``ids``
        are their keys, ``unlabelled`` those without label, ``without_views`` those in no view.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from mvref.datasets import read_folder
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "blood.csv").write_text("id,iron\\nann,3\\nbob,5\\ncid,4\\n")
    ...     _ = Path(folder, "who.csv").write_text("id,label\\nann,ill\\nbob,well\\n")
    ...     data = read_folder(folder)
    >>> data.y.tolist(), data.meta["unlabelled"]
    (['ill', 'well'], ['cid'])
    """
    tables = _read_tables(folder, key, target)
    having = [name for name, table in tables.items() if target in table]
    if len(having) != 1:
        raise ValueError(
            f"target={target!r} must be a column of one of the tables in {folder}, got "
            f"{having or 'none'} among {list(tables)}."
        )
    labels = tables[having[0]].pop(target).dropna()
    views = {name: table for name, table in tables.items() if table.shape[1]}
    if not views:
        raise ValueError(f"folder={str(folder)!r} has labels, but no table of a view.")
    known = _all_keys(views)
    labelled = labels.index.sort_values()
    without_views = labelled.difference(known)
    ids = labelled.intersection(known)
    X, y = _join(views, ids), labels.loc[ids].to_numpy()
    name, classes = Path(folder).resolve().name, [str(label) for label in np.unique(y)]
    text = describe("folder", X, where=name, key=key, n=len(without_views))
    meta = {
        "ids": ids.to_numpy(),
        "unlabelled": known.difference(labels.index).tolist(),
        "without_views": without_views.tolist(),
    }
    return MultiViewDataset(name, X, y, classes, text, meta=meta)


def _read_tables(folder, key, target=None):
    """The tables by file name, with their keys as index."""
    folder = Path(folder)
    paths = sorted(path for path in folder.glob("*") if path.suffix in READERS)
    if not paths:
        kinds = " or ".join(READERS)
        raise ValueError(f"folder={str(folder)!r} must be a folder with {kinds} files, has none.")
    names = [path.stem for path in paths]
    if len(set(names)) < len(names):
        raise ValueError(f"folder={str(folder)!r} has two files of one name: {names}.")
    return {path.stem: _read_table(path, key, target) for path in paths}


def _read_table(path, key, target):
    table = READERS[path.suffix](path)
    if key not in table:
        raise ValueError(f"key={key!r} must be a column of {path.name}, got {list(table)}.")
    if table[key].isna().any():
        raise ValueError(f"{path.name} has {table[key].isna().sum()} rows without {key!r}.")
    twice = table.loc[table[key].duplicated(), key]
    if len(twice):
        raise ValueError(f"{path.name} has {key!r} {twice.iloc[0]!r} more than once.")
    for column, values in table.drop(columns=key).items():
        if column != target and not pd.api.types.is_numeric_dtype(values):
            words = values[values.notna() & pd.to_numeric(values, errors="coerce").isna()]
            found = (words if len(words) else values).iloc[0]  # dates and "1" are no words
            raise ValueError(
                f"column {column!r} of {path.name} must hold numbers, got {found!r}; "
                "pandas.get_dummies makes columns of 0 and 1 from categories."
            )
    return table.set_index(key)


def _all_keys(tables):
    """All keys once, in order."""
    keys = pd.Index([])
    for table in tables.values():
        keys = table.index if keys.empty else keys.union(table.index, sort=False)
    return keys.sort_values()


def _join(tables, ids):
    """The rows of `ids`; where a table has none, NaN."""
    return MultiView(
        {name: table.reindex(ids).astype(float).to_numpy() for name, table in tables.items()}
    )
