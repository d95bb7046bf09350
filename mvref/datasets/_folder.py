"""Your own data: a folder of tables, one per view, joined on a key, strictly.

Keys are texts. What a file does not say for certain is refused with the file's name and line:
unnamed, repeated or missing columns, rows of another length than the header, keys twice or empty,
words among numbers. What the join leaves out is printed, and kept in ``meta``.
"""

import csv
import re
from pathlib import Path

import numpy as np
import pandas as pd

from ..core.input import MultiView, join_report
from ._base import MultiViewDataset
from ._sources import describe

SEPARATORS = {".csv": ",", ".tsv": "\t", ".parquet": None}


def read_views(folder, *, key="id", like=None, text=(), verbose=True, **options):
    """Read a folder of tables, one per view, and join them on a key.

    Parameters
    ----------
    folder : path
        Every .csv, .tsv and .parquet file in it is a view of the file's name. Parquet needs the
        package pyarrow.
    key : str, default="id"
        The column that says whose row it is, read as text. A sample lacks the views in whose tables
        it has none.
    like : MultiView, default=None
        The views that a model was fitted on: those of the folder come in their order, the columns
        too; a view that the folder lacks is missing in every sample.
    text : sequence of str, default=()
        Columns of words, kept for :class:`mvref.PerView` to encode; all others must hold numbers.
    verbose : bool, default=True
        Print how many rows of each file found their samples.
    **options : sep, decimal, encoding, dtype, na_values
        Of pandas' ``read_csv``, for all text files. Default: commas in .csv and tabs in .tsv,
        UTF-8.

    Returns
    -------
    X : MultiView
        Views in the alphabetical order of their files, samples in the order of their keys.
    ids : array of str, shape (n_samples,)

    Raises
    ------
    ValueError
        If a file cannot be read for certain; the sentence names it.

    See Also
    --------
    read_folder : Tables with labels.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from mvref.datasets import read_views
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "blood.csv").write_text("id,iron\\nann,3\\nbob,5\\n")
    ...     _ = Path(folder, "scan.csv").write_text("id,size,age\\nbob,1,40\\ncid,2,50\\n")
    ...     X, ids = read_views(folder)
    blood.csv: 2 rows, in 2 of 3 samples; 1 without this view
    scan.csv: 2 rows, in 2 of 3 samples; 1 without this view
    >>> X.names, ids.tolist()
    (['blood', 'scan'], ['ann', 'bob', 'cid'])
    >>> X.observed.tolist()
    [[True, False], [True, True], [False, True]]
    """
    tables = _read_tables(folder, key, text, options)
    ids = _all_keys(tables)
    _tell(_report(tables, ids), verbose)
    tables = tables if like is None else _in_form_of(like, tables, folder)
    return _join(tables, ids), np.array(ids, dtype=object)


def read_folder(folder, *, key="id", target="label", text=(), verbose=True, **options):
    """Read a folder of tables, one per view, and the labels that one of them holds.

    Parameters
    ----------
    folder, key, text, verbose, **options
        As in :func:`read_views`.
    target : str, default="label"
        Column of the class labels, in one of the tables; a table of nothing else but the key is no
        view. Labels are texts, "None" and "NA" too, or numbers if all of them are; an empty cell is
        no label.

    Returns
    -------
    dataset : MultiViewDataset
        The samples that have a label and a view, in the order of their keys. Of ``meta``, ``ids``
        are their keys, ``unlabelled`` those without label, ``without_views`` those in no view, and
        ``join`` is what was printed.

    See Also
    --------
    read_views : Tables without labels, as a fitted model wants them.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from mvref.datasets import read_folder
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "blood.csv").write_text("id,iron\\nann,3\\nbob,5\\ncid,4\\n")
    ...     _ = Path(folder, "who.csv").write_text("id,label\\nann,ill\\nbob,well\\n")
    ...     data = read_folder(folder)
    blood.csv: 3 rows, in 2 of 2 samples
    who.csv: 2 labels, 2 of samples with a view
    left out: 1 without a label, 0 without a view
    >>> data.y.tolist(), data.meta["unlabelled"]
    (['ill', 'well'], ['cid'])
    """
    tables = _read_tables(folder, key, text, options, target)
    having = [name for name, table in tables.items() if target in table]
    if len(having) != 1:
        columns = {tables[name].attrs["file"]: list(tables[name]) for name in having or tables}
        raise ValueError(
            f"target={target!r} must be a column of one of the tables in {folder}, got "
            f"{len(having)} that have it; the columns are {columns}."
        )
    where = tables[having[0]].attrs["file"]
    labels = _labels(tables[having[0]].pop(target))
    views = {name: table for name, table in tables.items() if table.shape[1]}
    if not views:
        raise ValueError(f"folder={str(folder)!r} has labels, but no table of a view.")
    known = _all_keys(views)
    ids = [i for i in known if i in labels.index]
    if not ids:
        raise ValueError(
            f"no key of {where} is in another table of {folder}: {where} has "
            f"{labels.index[:3].tolist()}, the views have {known[:3]}."
        )
    unlabelled = [i for i in known if i not in labels.index]
    without_views = sorted(set(labels.index) - set(known), key=_natural)
    join = [
        *_report(views, ids),
        f"{where}: {len(labels)} labels, {len(ids)} of samples with a view",
        f"left out: {len(unlabelled)} without a label, {len(without_views)} without a view",
    ]
    _tell(join, verbose)
    X, y = _join(views, ids), labels.loc[ids].to_numpy()
    name, classes = Path(folder).resolve().name, [str(label) for label in np.unique(y)]
    description = describe("folder", X, where=name, key=key, n=len(without_views))
    meta = {"ids": np.array(ids, dtype=object), "unlabelled": unlabelled}
    meta |= {"without_views": without_views, "join": join}
    return MultiViewDataset(name, X, y, classes, description, meta=meta)


def _read_tables(folder, key, text, options, target=None):
    """The tables by file name, with their keys as index."""
    folder = Path(folder)
    if not folder.is_dir():
        raise ValueError(f"folder={str(folder)!r} is no folder.")
    paths = sorted(
        path
        for path in folder.iterdir()
        if path.suffix.lower() in SEPARATORS and not path.name.startswith(".")
    )
    if not paths:
        kinds = " or ".join(SEPARATORS)
        found = sorted(path.name for path in folder.iterdir())[:5]
        raise ValueError(f"folder={str(folder)!r} has no file of {kinds}, only {found}.")
    names = [path.stem for path in paths]
    if len(set(names)) < len(names):
        raise ValueError(f"folder={str(folder)!r} has two files of one name: {names}.")
    return {path.stem: _read_table(path, key, target, set(text), options) for path in paths}


def _read_table(path, key, target, text, options):
    """A table with its keys as index; numbers, but for the target and the columns of `text`."""
    if path.suffix.lower() == ".parquet":
        table = pd.read_parquet(path)
        _check_header(path, list(table.columns), key, "")
    else:
        table = _read_text(path, key, target, text, options)
    if not len(table):
        raise ValueError(f"{path.name} has a header and no rows.")
    keys = table.pop(key)
    ids = keys.astype(str).str.strip()
    empty = np.flatnonzero(keys.isna() | (ids == ""))
    if len(empty):
        where = f"the first is row {empty[0] + 1}"
        raise ValueError(f"{path.name} has {len(empty)} rows without {key!r}; {where}.")
    if ids.duplicated().any():
        twice = ids[ids.duplicated()].iloc[0]
        raise ValueError(
            f"{path.name} has {key!r} {twice!r} more than once, in the rows "
            f"{(np.flatnonzero(ids == twice)[:3] + 1).tolist()}."
        )
    for column, values in table.items():
        if column != target and column not in text:
            table[column] = _numbers(path, column, values)
    table.index = pd.Index(ids, dtype=object)
    table.attrs["file"] = path.name
    return table


def _read_text(path, key, target, text, options):
    """A text file, whose rows are counted before pandas reads them."""
    options = {"sep": SEPARATORS[path.suffix.lower()], "encoding": "utf-8-sig"} | options
    try:
        with path.open(newline="", encoding=options["encoding"]) as file:
            lines = csv.reader(file, delimiter=options["sep"])
            header = next(lines, [])
            _check_header(path, header, key, options["sep"])
            for fields in lines:
                if fields and len(fields) != len(header):
                    raise ValueError(
                        f"{path.name}, line {lines.line_num}: {len(fields)} fields, but the header "
                        f"has {len(header)}; is a comma too much at its end?"
                    )
        words = {name: str for name in {key, target, *text} & set(header)}
        given = options.pop("dtype", {})
        given = given if isinstance(given, dict) else dict.fromkeys(header, given)
        options["dtype"] = given | words
        # Of texts nothing but an empty cell is missing: "None" and "NA" are names.
        missing = {name: [""] for name in words}
        usual = options.pop("na_values", MISSING)
        missing |= {name: usual for name in header if name not in words}
        options |= {"na_values": missing, "keep_default_na": False, "index_col": False}
        return pd.read_csv(path, **options)
    except (UnicodeError, csv.Error) as error:
        raise ValueError(
            f"{path.name} cannot be read as text of encoding {options['encoding']!r} ({error}); "
            "name another, such as encoding='latin-1'."
        ) from error


MISSING = ["", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "<NA>", "#N/A", "-"]


def _check_header(path, header, key, sep):
    if not header:
        raise ValueError(f"{path.name} is empty.")
    unnamed = [j + 1 for j, name in enumerate(header) if not str(name).strip()]
    if unnamed or any(re.match(r"Unnamed: \d+$", str(name)) for name in header):
        raise ValueError(
            f"{path.name}, line 1: the columns {unnamed or header} have no name; pandas writes a "
            "table without its index by to_csv(index=False)."
        )
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        raise ValueError(f"{path.name}, line 1: several columns are called {twice}.")
    if key not in header:
        other = [mark for mark in ";\t|" if mark != sep and mark in str(header[0])]
        hint = f" The file seems to be separated by {other[0]!r}: give sep=." if other else ""
        raise ValueError(f"key={key!r} must be a column of {path.name}, got {header}.{hint}")


def _numbers(path, column, values):
    """A column as float64; words are refused."""
    numbers = pd.to_numeric(values, errors="coerce")
    kind = getattr(values.dtype, "kind", "O")
    words = values[values.notna() & (numbers.isna() if kind not in "mM" else True)]
    if not len(words):
        return numbers.astype(float)
    found = words.iloc[0]
    hint = f"name it in text=[{column!r}] if these are words, for PerView to encode."
    if isinstance(found, str) and re.fullmatch(r"-?[\d.]*,\d+", found):
        hint = "is that a decimal comma? Then give decimal=','."
    raise ValueError(f"column {column!r} of {path.name} must hold numbers, got {found!r}; {hint}")


def _labels(values):
    """Labels that are there, as numbers if all of them are."""
    labels = values.dropna()
    if not len(labels):
        raise ValueError(f"the column {values.name!r} of labels is empty.")
    numbers = pd.to_numeric(labels, errors="coerce")
    if numbers.isna().any() or pd.api.types.is_bool_dtype(labels):
        return labels
    return numbers.astype(int) if (numbers % 1 == 0).all() else numbers


def _natural(key):
    """Numbers in the order of numbers, then words."""
    return (0, int(key), key) if key.isdecimal() else (1, 0, key)


def _all_keys(tables):
    """All keys once, in order."""
    return sorted({key for table in tables.values() for key in table.index}, key=_natural)


def _report(tables, ids):
    """A line for each table of a view; tables that share no key are refused."""
    return join_report({table.attrs["file"]: table.index for table in tables.values()}, ids)


def _tell(lines, verbose):
    if verbose:
        print("\n".join(lines))


def _in_form_of(like, tables, folder):
    """The tables in the order of the views of `like`, their columns in its order."""
    unknown = sorted(set(tables) - set(like.names))
    if unknown:
        raise ValueError(f"{folder} has the tables {unknown}, but like has {like.names}.")
    arranged = {}
    for name, columns in zip(like.names, like.feature_names, strict=True):
        if columns is None:
            raise ValueError(f"like has no names of columns in view {name!r}.")
        table = tables.get(name, pd.DataFrame(columns=columns, dtype=float))
        lost = [column for column in columns if column not in table]
        more = [column for column in table if column not in columns]
        if lost or more:
            raise ValueError(
                f"{table.attrs['file']} must have the columns of view {name!r}: missing {lost}, "
                f"not among them {more}."
            )
        arranged[name] = table[columns]
    return arranged


def _join(tables, ids):
    """The rows of `ids`; where a table has none, NaN."""
    return MultiView({name: table.reindex(ids) for name, table in tables.items()})
