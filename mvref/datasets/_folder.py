"""Read your own data: a folder of tables, one per view, joined on a key with strict checks.

Keys are strings. Ambiguous files raise an error with the file's name and line: unnamed, repeated
or missing columns, rows longer or shorter than the header, repeated or empty keys, words in
numeric columns. Files that are not read and rows that the join leaves out are printed, and kept in
``meta``.
"""

import csv
import gzip
import io
import re
from collections import Counter, defaultdict
from itertools import combinations, filterfalse
from pathlib import Path

import numpy as np
import pandas as pd

from ..core.input import Any, Mapping, MultiView, Sequence, cleaned, join_report, warn_of_spellings
from ._base import MultiViewDataset
from ._lookup import DAMAGED_GZIP
from ._sources import describe

SEPARATORS = {".csv": ",", ".tsv": "\t", ".txt": None, ".parquet": None}
EXCEL = "pd.read_excel({file!r}).to_csv({csv!r}, index=False)"
CONVERT = {  # other table formats, and the line that converts a file to a supported one
    ".xlsx": EXCEL,
    ".xls": EXCEL,
    ".ods": EXCEL,
    ".feather": "pd.read_feather({file!r}).to_csv({csv!r}, index=False)",
    ".pkl": "pd.read_pickle({file!r}).to_csv({csv!r}, index=False)",
    ".h5ad": "anndata.read_h5ad({file!r}).to_df().to_csv({csv!r}, index_label={key!r})",
    ".h5mu": "for name, part in mudata.read_h5mu({file!r}).mod.items(): "
    "part.to_df().to_csv(name + '.csv', index_label={key!r})",
}
MISSING = ["", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "<NA>", "#N/A", "-"]
NO_NUMBERS = {  # kinds of non-numeric text: pattern, and what to do
    "decimal commas": (r"[-+]?[\d.]*,\d+", "give decimal=','"),
    "dates": (
        r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}([T ]\d.*)?",
        "make them days since one of them, (pd.to_datetime(table[{0!r}]) - "
        "pd.Timestamp('2000-01-01')).dt.days",
    ),
    "units": (
        r"[-+]?[\d.,]*\d\s*([^\W\d_]|[%°‰])[^\s,;]{0,9}",
        "keep the numbers alone, table[{0!r}].str.extract(r'([-+\\d.,]+)', expand=False)",
    ),
    "words": (".*", "if they mean something, name them in text={1}, for PerView to encode"),
}
LOOKED_AT = 20  # number of values of a column that are checked to find its kind


def read_views(
    folder: str | Path,
    *,
    key: str = "id",
    like: MultiView | None = None,
    text: Sequence[str] = (),
    verbose: bool = True,
    **options: Any,
) -> tuple[MultiView, np.ndarray]:
    """Read a folder of tables, one per view, and join them on a key.

    Parameters
    ----------
    folder : path
        Every .csv, .tsv and .parquet file in it is a view with the file's name; with `sep`, so is
        every .txt whose first line contains the key. Text files may be compressed (.csv.gz);
        Parquet needs the package pyarrow. Tables of other kinds, such as .xlsx, raise an error with
        the line that converts them; other files that are not read are listed.
    key : str, default="id"
        The column that identifies the sample of a row, read as text. A sample lacks the views whose
        tables have no row for it.
    like : MultiView, default=None
        The views that a model was fitted on: the views and columns are returned in their order; a
        view that the folder lacks is missing in every sample.
    text : sequence of str, default=()
        Columns of text, kept for :class:`mvref.PerView` to encode; all others must contain numbers.
    verbose : bool, default=True
        Whether to print how many rows of each file match samples, and which files were not read.
    **options : sep, decimal, encoding, dtype, na_values
        Options of pandas' ``read_csv``, for all text files. Default: commas in .csv and tabs in
        .tsv, UTF-8. For text and labels, only an empty cell is missing unless `na_values` lists
        more.

    Returns
    -------
    X : MultiView; views in alphabetical order of the files, samples in the order of their keys
    ids : array of str, shape (n_samples,)

    Raises
    ------
    ValueError
        If a file cannot be read without ambiguity; the message names the file.

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
    tables, others = _read_tables(folder, key, text, options)
    ids = _all_keys(tables)
    lost = [] if like is None else [name for name in like.names if name not in tables]
    lines = [f"{name}: no table, missing in every sample" for name in lost]
    _tell([*_report(tables, ids), *lines, *_not_read(others)], verbose)
    warn_of_spellings(ids)
    tables = tables if like is None else _in_form_of(like, tables, folder)
    return _join(tables, ids), np.array(ids, dtype=object)


def read_folder(
    folder: str | Path,
    *,
    key: str = "id",
    target: str = "label",
    groups: str | None = None,
    text: Sequence[str] = (),
    verbose: bool = True,
    **options: Any,
) -> MultiViewDataset:
    """Read a folder of tables, one per view, with the labels in one of them.

    Parameters
    ----------
    folder, key, text, verbose, **options
        As in :func:`read_views`.
    target : str, default="label"
        Column of the class labels, in one of the tables; a table with only the key and the labels
        is not a view. Labels are texts, including "None" and "NA", or numbers if all of them are;
        an empty cell or a value in `na_values` is not a label.
    groups : str, default=None
        Column in one of the tables that identifies samples that belong together, such as those of
        one patient; it is not a feature.

    Returns
    -------
    dataset : MultiViewDataset
        The samples that have a label and a view, in the order of their keys. In ``meta``, ``ids``
        are their keys, ``unlabelled`` the keys without a label, ``without_views`` the keys in no
        view, ``groups`` their groups or None, ``not_read`` the files that were not read, ``join``
        the printed lines.

    See Also
    --------
    read_views : Tables without labels, as a fitted model takes them.

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
    classes: {'ill': 1, 'well': 1}
    >>> data.y.tolist(), data.meta["unlabelled"]
    (['ill', 'well'], ['cid'])
    """
    words = [target] if groups is None else [target, groups]
    tables, others = _read_tables(folder, key, text, options, words)
    labels, where = _taken(tables, target, "target", folder)
    labels = _labels(labels)
    belongs = None if groups is None else _taken(tables, groups, "groups", folder)[0].dropna()
    views = {name: table for name, table in tables.items() if table.shape[1]}
    if not views:
        raise ValueError(f"folder={str(folder)!r} has labels, but no table of a view.")
    known = _all_keys(views)
    ids = [i for i in known if i in labels.index]
    if not ids:
        raise ValueError(
            f"no key of {where} is in another table of {folder}: {where} has "
            f"{labels.index[:3].tolist()}, the views have {known[:3]}."
            f"{_turned(views.values(), labels.index)}"
        )
    unlabelled = [i for i in known if i not in labels.index]
    without_views = sorted(set(labels.index) - set(known), key=_natural)
    join = [
        *_report(views, ids),
        f"{where}: {len(labels)} labels, {len(ids)} of samples with a view",
        f"left out: {len(unlabelled)} without a label, {len(without_views)} without a view",
        *_classes(labels.loc[ids]),
        *_not_read(others),
    ]
    _tell(join, verbose)
    warn_of_spellings([*known, *without_views])
    X, y = _join(views, ids), labels.loc[ids].to_numpy()
    if groups is not None:
        alone = [i for i in ids if i not in belongs.index]  # type: ignore[union-attr]
        if alone:
            raise ValueError(
                f"{len(alone)} samples have no groups={groups!r}, such as {alone[:3]}."
            )
        belongs = belongs.loc[ids].to_numpy()  # type: ignore[union-attr]
    name, classes = Path(folder).resolve().name, [str(label) for label in np.unique(y)]
    description = describe("folder", X, where=name, key=key, n=len(without_views))
    meta = {"ids": np.array(ids, dtype=object), "unlabelled": unlabelled}
    meta |= {"without_views": without_views, "groups": belongs, "join": join}
    meta["not_read"] = list(others)
    return MultiViewDataset(name, X, y, classes, description, meta=meta)


def _read_tables(folder, key, text, options, words=()):
    """Return the tables by file name, indexed by key, and the other files, each with a remark."""
    folder = Path(folder)
    if not folder.is_dir():
        raise ValueError(f"folder={str(folder)!r} is not a folder.")
    options = {name: value for name, value in options.items() if value is not None}
    sep = options.get("sep", ",")
    if not isinstance(sep, str) or len(sep) != 1:
        raise ValueError(f"sep must be one character, got {sep!r}.")
    visible = [p for p in sorted(folder.iterdir()) if not p.name.startswith((".", "~$"))]
    paths, others = defaultdict(list), {}
    for path in visible:
        name, kind = _kind_of(path)
        if kind not in SEPARATORS or path.is_dir():
            others[path.name] = ""
        elif kind == ".txt" and not ("sep" in options and _names_key(path, key, options)):
            others[path.name] = f" (of .txt, what has a column {key!r} is read, with sep=)"
        else:
            paths[name].append(path)
    for path in visible:
        name, kind = _kind_of(path)
        if kind in CONVERT and name not in paths:  # otherwise it has been converted
            line = CONVERT[kind].format(file=path.name, csv=f"{name}.csv", key=key)
            raise ValueError(
                f"{path.name} in {folder} is not a supported file type. Convert it there by "
                f"{line}, then move it out of the folder."
            )
    if not paths:
        kinds = " or ".join(SEPARATORS)
        raise ValueError(
            f"folder={str(folder)!r} has no file of {kinds}, only {_files(others) or 'nothing'}."
        )
    twice = [[path.name for path in found] for found in paths.values() if len(found) > 1]
    if twice:
        raise ValueError(f"folder={str(folder)!r} has two files of one name: {twice[0]}.")
    faults = defaultdict(list)  # over all files
    read = {n: _read_table(p, key, words, set(text), options, faults) for n, [p] in paths.items()}
    if faults:
        told = "; ".join(_told(*of_kind) for of_kind in faults.items())
        raise ValueError(f"columns must hold numbers, but there are {told}.")
    return read, others


def _kind_of(path):
    """Return the name of a file without its suffix, and the suffix; .gz is ignored for text."""
    inner = Path(path.stem) if path.suffix.lower() == ".gz" else path
    packed_table = inner is not path and inner.suffix.lower() == ".parquet"
    return inner.stem, ".gz" if packed_table else inner.suffix.lower()


def _open(path, encoding):
    opened = gzip.open if path.suffix.lower() == ".gz" else open
    return opened(path, "rt", newline="", encoding=encoding)


def _names_key(path, key, options):
    """Return whether a text file is a table: its first line contains the key."""
    with _open(path, options.get("encoding", "utf-8-sig")) as file:
        try:
            return key in next(csv.reader(file, delimiter=options["sep"]), [])
        except (UnicodeError, csv.Error, *DAMAGED_GZIP):
            return False


def _few(texts):
    """Join at most ten texts, and state how many more there are."""
    more = f" and {len(texts) - 10:,} more" if len(texts) > 10 else ""
    return ", ".join(texts[:10]) + more


def _names(names):
    """Format at most ten names as a Python list."""
    return f"[{_few([repr(name) for name in names])}]"


def _files(others):
    """Format the names of files, each with its remark."""
    return _few([f"{name}{why}" for name, why in others.items()])


def _not_read(others):
    """Return a line that lists the files that were not read, if there are any."""
    return [f"not read: {_files(others)}"] if others else []


def _taken(tables, column, parameter, folder):
    """Remove a column from the one table that has it; return it and the file's name."""
    having = [name for name, table in tables.items() if column in table]
    if len(having) != 1:
        columns = ", ".join(
            f"{tables[name].attrs['file']!r}: {_names(tables[name])}" for name in having or tables
        )
        raise ValueError(
            f"{parameter}={column!r} must be a column of one of the tables in {folder}, got "
            f"{len(having)} that have it; the columns are {{{columns}}}."
        )
    return tables[having[0]].pop(column), tables[having[0]].attrs["file"]


def _read_table(path, key, words, text, options, faults):
    """Read a table, indexed by key; all columns but `words` and `text` must be numeric.

    faults: a list for each kind in NO_NUMBERS, to which non-numeric columns are appended.
    """
    if path.suffix.lower() == ".parquet":
        try:
            table = pd.read_parquet(path)
        except ImportError as error:
            raise ImportError(f"{path.name} needs a package: pip install pyarrow.") from error
        except (OSError, ValueError) as error:  # raised by pyarrow, too
            raise ValueError(f"{path.name} is not a whole Parquet file: {error}") from error
        _check_header(path, [*table.columns], key, "")
    else:
        table = _read_text(path, key, {key, *words, *text}, options)
    if not len(table):
        raise ValueError(f"{path.name} has a header, but no rows.")
    keys = table.pop(key)
    ids = cleaned(keys.astype(str))
    empty = np.flatnonzero(keys.isna() | (ids == ""))
    if len(empty):
        where = f"the first is row {empty[0] + 1}"
        raise ValueError(f"{path.name} has {len(empty)} rows without {key!r}; {where}.")
    if ids.duplicated().any():
        twice = ids[ids.duplicated()].iloc[0]
        raise ValueError(
            f"{path.name} has {key!r} {twice!r} more than once, in the rows "
            f"{(np.flatnonzero(ids == twice)[:3] + 1).tolist()}.{_if_long(path, key, table)}"
        )
    kept = table.columns.isin([*words, *text])
    numbers = _numbers(table.loc[:, ~kept], path.name, faults)
    table = (
        pd.concat([numbers, table.loc[:, kept]], axis=1)[table.columns] if kept.any() else numbers
    )
    table.index = pd.Index(ids, dtype=object, name=key)
    table.attrs["file"] = path.name
    return table


def _if_long(path, key, table):
    """Return a hint if a table may be in long format: key, feature, value."""
    if table.shape[1] not in (2, 3) or path.suffix.lower() == ".parquet":
        return ""
    columns = list(table.columns)
    return (
        f" If it is a long table, make it wide by pd.read_csv({path.name!r}).pivot(index={key!r}, "
        f"columns={columns[0]!r}, values={columns[1]!r}).to_csv({path.name!r}) there."
    )


def _read_text(path, key, words, options):
    """Read a text file, after checking and counting its rows."""
    options = {"sep": SEPARATORS[_kind_of(path)[1]], "encoding": "utf-8-sig"} | options
    try:
        with _open(path, options["encoding"]) as file:
            lines = csv.reader(file, delimiter=options["sep"])
            header = next(lines, [])
            _check_header(path, header, key, options["sep"])
            texts = [j for j, name in enumerate(header) if name in words]
            copy = csv.writer(cells := io.StringIO())
            for fields in lines:
                if not fields:
                    continue
                if len(fields) != len(header):
                    raise ValueError(
                        f"{path.name}, line {lines.line_num}: {len(fields)} fields, but the header "
                        f"has {len(header)}. Check for an extra separator at its end."
                    )
                copy.writerow([fields[j] for j in texts])
        cells.seek(0)
        given = options.pop("na_values", None)
        texts, numbers = [header[j] for j in texts], [*filterfalse(words.__contains__, header)]
        marks = {name: _marks_of_gaps(given, name, []) for name in texts} | {key: [""]}
        strict = {"keep_default_na": False, "index_col": False}
        table = pd.read_csv(cells, names=texts, dtype=str, na_values=marks, **strict)
        if not numbers:
            return table
        marks = _marks_of_gaps(given, None, MISSING)  # one list for all columns if possible:
        if isinstance(given, Mapping):  # pandas is slow with one list per column
            marks = {name: _marks_of_gaps(given, name, MISSING) for name in numbers}
        of_numbers = {"na_values": marks, "usecols": numbers}
        whole = pd.read_csv(path, **options, **strict, **of_numbers).copy()  # a copy is one block
        if len(whole) != len(table):
            raise ValueError(f"{path.name} has a line that contains only blanks. Delete it.")
        return pd.concat([table, whole], axis=1)[header]
    except DAMAGED_GZIP as error:
        raise ValueError(f"{path.name} is not a complete gzip file ({error}).") from error
    except (UnicodeError, csv.Error) as error:
        raise ValueError(
            f"{path.name} cannot be read as text with encoding={options['encoding']!r} ({error}). "
            "Give its encoding, for example encoding='latin-1'."
        ) from error


def _marks_of_gaps(given, column, usual):
    """Return the strings that mark a missing value in a column."""
    given = given.get(column) if isinstance(given, Mapping) else given
    return ["", *(usual if given is None else [given] if np.isscalar(given) else given)]


def _check_header(path, header, key, sep):
    if not header:
        raise ValueError(f"{path.name} is empty.")
    unnamed = [j + 1 for j, name in enumerate(header) if not str(name).strip()]
    if unnamed or any(re.match(r"Unnamed: \d+$", str(name)) for name in header):
        raise ValueError(
            f"{path.name}, line 1: the columns {_names(unnamed or header)} have no name; pandas "
            "writes a table without its index by to_csv(index=False)."
        )
    twice = sorted(name for name, times in Counter(header).items() if times > 1)
    if twice:
        raise ValueError(f"{path.name}, line 1: several columns are called {_names(twice)}.")
    if key not in header:
        other = [mark for mark in ";\t|" if mark != sep and mark in str(header[0])]
        hint = f" The file seems to be separated by {other[0]!r}: give sep=." if other else ""
        raise ValueError(
            f"key={key!r} must be a column of {path.name}, got {_names(header)}.{hint}"
        )


def _numbers(table, file, faults):
    """Convert a table to float64; non-numeric columns are appended to `faults`."""
    plain = [isinstance(d, np.dtype) and d.kind in "biuf" for d in table.dtypes]
    values = np.empty(table.shape)
    values[:, plain] = table.loc[:, plain].to_numpy(float)
    for j in np.flatnonzero(~np.array(plain, dtype=bool)):
        column = table.iloc[:, j]
        numbers = pd.to_numeric(column, errors="coerce")
        date = getattr(column.dtype, "kind", "O") in "mM"
        wrong = column[column.notna() & (numbers.isna() | date)]
        if len(wrong):
            faults[_kind_of_words(wrong)].append((table.columns[j], file, str(wrong.iloc[0])))
        else:
            values[:, j] = numbers.astype(float)
    return pd.DataFrame(values, columns=table.columns)


def _kind_of_words(values):
    """Return the kind in NO_NUMBERS that more than half of the values match."""
    texts = [str(value).strip() for value in values.iloc[:LOOKED_AT]]
    for kind, (form, _) in NO_NUMBERS.items():
        if 2 * sum(bool(re.fullmatch(form, text, re.DOTALL)) for text in texts) > len(texts):
            return kind


def _told(kind, columns):
    """Describe the columns of a kind, given as (name, file, value), and what to do."""
    found = [f"{name!r} of {file} ({value[:40]!r})" for name, file, value in columns]
    names = list(dict.fromkeys(name for name, _, _ in columns))
    return f"{kind} in {_few(found)}: {NO_NUMBERS[kind][1].format(names[0], _names(names))}"


def _labels(values):
    """Return the labels that are not missing, as numbers if all of them are."""
    labels = values.dropna()
    if not len(labels):
        raise ValueError(f"the column {values.name!r} of labels is empty.")
    numbers = pd.to_numeric(labels, errors="coerce")
    if numbers.isna().any() or pd.api.types.is_bool_dtype(labels):
        return labels
    return numbers.astype(int) if (numbers % 1 == 0).all() else numbers


def _classes(labels):
    """Report the class counts, and classes that may be missing values or duplicates, in lines."""
    classes, counts = np.unique(labels.to_numpy(), return_counts=True)
    classes = classes.tolist()
    shown = dict(zip(classes[:10], counts.tolist(), strict=False))
    more = f" and {len(classes) - 10} more" if len(classes) > 10 else ""
    lines, alike, gaps = [f"classes: {shown}{more}"], defaultdict(list), {*map(str.lower, MISSING)}
    for label in classes if isinstance(classes[0], str) else []:
        alike[" ".join(label.split()).casefold()].append(label)
    lines += [
        f"the classes {same} differ by space or case only: are they one?"
        for same in alike.values()
        if len(same) > 1
    ]
    odd = [label for reading, same in alike.items() if reading in gaps for label in same]
    return lines + ([f"is it a class or a gap? If a gap, na_values={odd}"] if odd else [])


def _natural(key):
    """Return a sort key: integers in numerical order, then all other texts."""
    return (0, int(key), key) if key.isdecimal() else (1, 0, key)


def _all_keys(tables):
    """Return the distinct keys of all tables in natural order."""
    return sorted({key for table in tables.values() for key in table.index}, key=_natural)


def _report(tables, ids):
    """Report each table and each duplicate in a line; raise if tables share no key."""
    try:
        lines = join_report({table.attrs["file"]: table.index for table in tables.values()}, ids)
    except ValueError as error:
        raise ValueError(f"{error}{_turned(tables.values(), _all_keys(tables))}") from None
    for second, first in combinations([*tables.values()][::-1], 2):
        if second.equals(first):
            lines.append(
                f"{first.attrs['file']} and {second.attrs['file']} have the same content: is one a "
                "copy?"
            )
    return lines


def _turned(tables, keys):
    """Return a hint if a table may be transposed: most of its columns are keys of others."""
    for table in tables:
        if 2 * len({*table.columns}.intersection(keys)) > table.shape[1]:
            file, key = table.attrs["file"], table.index.name
            return (
                f" The columns of {file} are keys: if it is transposed, turn it by pd.read_csv("
                f"{file!r}, index_col={key!r}).T.to_csv({file!r}, index_label={key!r}) there."
            )
    return ""


def _tell(lines, verbose):
    if verbose:
        print("\n".join(lines))


def _in_form_of(like, tables, folder):
    """Arrange the tables and their columns in the order of the views of `like`."""
    unknown = sorted(set(tables) - set(like.names))
    if unknown:
        raise ValueError(f"{folder} has the tables {_names(unknown)}, but like has {like.names}.")
    arranged = {}
    for name, columns in zip(like.names, like.feature_names, strict=True):
        if columns is None:
            raise ValueError(f"like has no names of columns in view {name!r}.")
        table = tables[name] if name in tables else pd.DataFrame(columns=columns, dtype=float)
        own = table.columns.tolist()
        lost = [*filterfalse({*own}.__contains__, columns)]
        more = [*filterfalse({*columns}.__contains__, own)]
        if lost or more:
            raise ValueError(
                f"{table.attrs['file']} must have the columns of view {name!r}: missing "
                f"{_names(lost)}, not among them {_names(more)}."
            )
        arranged[name] = table[columns]
    return arranged


def _join(tables, ids):
    """Join the tables on `ids`; a row that a table lacks is NaN."""
    return MultiView({name: table.reindex(ids) for name, table in tables.items()})
