"""Reuters RCV1/RCV2: newspaper articles in five languages, four of them by machine translation.

The full collection has 25 text files. ``Index_<source>-<view>`` has a document on each line,
written in language <source> and given in language <view>:

    label id:value id:value ...

A line number refers to the same document in all five files of a source.
"""

import re
from itertools import product
from os.path import commonpath
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.io import loadmat

from ..core.input import Literal, MultiView, check_choice
from ._base import MultiViewDataset
from ._lookup import DatasetCorrupted, fetch, locate, locate_all, read_content
from ._sources import FILES, checksums, describe

LANGUAGES = ("EN", "FR", "GR", "IT", "SP")
TOPICS = ("C15", "CCAT", "E21", "ECAT", "GCAT", "M11")
# Sizes of the collection, as its authors state them.
N_DOCUMENTS = {"EN": 18_758, "FR": 26_648, "GR": 29_953, "IT": 24_039, "SP": 12_342}
N_WORDS = {"EN": 21_531, "FR": 24_893, "GR": 34_279, "IT": 15_506, "SP": 11_547}

# Ids and exponents are short, so that numbers fit into int32 and float64.
_NUMBER = rb"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE](?:-\d{1,3}|\+?\d{1,2}))?"
_LINE = re.compile(rb"\s*[\w.+-]+(?:[ \t]+\d{1,9}:" + _NUMBER + rb")*\s*")

# Possible places of the 25 files in the data set's folder; the first is as in the archive.
PLACES = ("rcv1rcv2aminigoutte/{source}/", "rcv1rcv2aminigoutte/", "{source}/", "")
INDEX_FILES = {
    (source, view): [f"{place.format(source=source)}Index_{source}-{view}" for place in PLACES]
    for source, view in product(LANGUAGES, LANGUAGES)
}


def fetch_reuters(subset: Literal["1200", "600", "full"] = "1200") -> MultiViewDataset:
    """Load Reuters: newspaper articles of six topics, each in five languages (the views).

    Nothing is downloaded: put the files into the folder ``$MVREF_DATA/reuters`` (or into the
    cache).

    Parameters
    ----------
    subset : {"1200", "600", "full"}
        - "1200": ``Reuters-1200.mat``, 200 English documents of each topic and their translations,
          2000 words per view (the views: 2.5 MB).
        - "600": ``reuters600_fullvocab.mat``, 100 English documents of each topic with the
          collection's own vocabularies and weights (the views: 3.1 MB).
        - "full": the 25 files ``Index_<source>-<view>`` (or ``.gz``), 111 740 documents written in
          the five languages. They lie in ``rcv1rcv2aminigoutte/<source>``, as in the archive, or
          all in ``rcv1rcv2aminigoutte``, or in ``<source>``, or in the folder itself. Random files
          of this size took 39 s, 0.57 GB for the views, and 0.87 GB at the peak.

    Returns
    -------
    dataset : MultiViewDataset
        Views EN, FR, GR, IT, SP (GR: German), CSR matrices; in "1200" the names of the last two
        are uncertain, see ``DESCR``. `y` has the topics' names for "full", and for the subsets the
        numbers 1 to 6 of their files, which do not name the topics. No official split.
        ``meta["source_language"]`` is the language in which each document was written; with "full"
        they are ordered by source, in the order of the views.

    Raises
    ------
    DatasetUnavailable, DatasetCorrupted
        If a file is missing (the message explains how to obtain it), a subset is not the known
        file, or the 25 files are not of the known format, do not belong together, or differ in size
        from the collection as its authors describe it (their sha256 are not known to mvref).

    See Also
    --------
    read_reuters_index : A file of the full collection.

    Examples
    --------
    >>> from mvref.datasets import available, fetch_reuters
    >>> if "reuters1200" in available():
    ...     assert fetch_reuters().X.shape == (1200, 5 * 2000)
    """
    check_choice(subset, "subset", ["1200", "600", "full"])
    if subset == "full":
        name, source, topics, sums = "reuters", "reuters_full", list(TOPICS), None
        views, y, languages = read_collection(locate_all("reuters_full", INDEX_FILES))
    else:
        name = source = f"reuters{subset}"
        content = loadmat(fetch(name, *FILES[name]))  # one file
        views, y = read_1200(content) if subset == "1200" else read_600(content)
        languages, topics = np.full(len(y), "EN"), [f"topic {k}" for k in range(1, 7)]
        sums = checksums(name, FILES[name])
    X = MultiView(views)
    text = describe(source, X, sums, n=len(y))
    return MultiViewDataset(name, X, y, topics, text, meta={"source_language": languages})


def folder_of_full():
    """Return the folder that has the 25 files, or None; nothing is opened."""
    paths = [locate("reuters_full", *files) for files in INDEX_FILES.values()]
    return Path(commonpath(paths)) if all(paths) else None


def read_1200(content):
    """Return the views and `y` of ``Reuters-1200.mat``: dense tables of 2000 words."""
    tables = content["X"].ravel()
    views = {view: sparse.csr_matrix(X) for view, X in zip(LANGUAGES, tables, strict=True)}
    return views, content["y"].ravel().astype(np.int64)


def read_600(content):
    """Return the views, triplets counted from 1, and `y` of ``reuters600_fullvocab.mat``."""
    y = content["truth"].ravel().astype(np.int64)
    views = {}
    for view in LANGUAGES:
        *cells, value = content[f"EN_{view}_sample"].T
        row, column = np.array(cells, dtype=np.int64) - 1
        views[view] = sparse.csr_matrix((value, (row, column)), (len(y), column.max() + 1))
    return views, y


def read_collection(paths):
    """Read the 25 files of the full collection: views, topics and sources, both (n_documents,).

    Ids count from 0 if any of the 25 files has the id 0, and from 1 otherwise.
    """
    labels, views = {}, {}
    for view in LANGUAGES:
        parts = []
        for source in LANGUAGES:
            topics, X = read_reuters_index(paths[source, view])
            labels.setdefault(source, topics)
            _check_index(paths[source, view], source, topics, labels[source])
            parts.append(X)
        width = max(X.shape[1] for X in parts)
        for X in parts:
            X.resize(X.shape[0], width)
        views[view] = sparse.vstack(parts, format="csr")
    first_id = 0 if any((X.indices == 0).any() for X in views.values()) else 1
    for view, X in views.items():
        n_words = X.shape[1] - first_id
        if n_words > N_WORDS[view]:
            raise DatasetCorrupted(
                f"the vocabulary of {view} has {N_WORDS[view]} words; the files Index_*-{view} in "
                f"{paths['EN', view].parent} have ids up to {X.shape[1] - 1}"
            )
        shape = X.shape[0], N_WORDS[view]
        views[view] = sparse.csr_matrix((X.data, X.indices - first_id, X.indptr), shape)
    sources = np.repeat(LANGUAGES, [len(labels[source]) for source in LANGUAGES])
    return views, np.concatenate([labels[source] for source in LANGUAGES]), sources


def read_reuters_index(path: str | Path) -> tuple[np.ndarray, sparse.csr_matrix]:
    """Read one file ``Index_<source>-<view>`` of the full collection.

    Parameters
    ----------
    path : path, lines of the form ``label id:value id:value ...``, possibly compressed (.gz)

    Returns
    -------
    labels : array of str, shape (n_documents,)
    X : CSR matrix, shape (n_documents, largest id + 1)
        Column j holds the values of id j, whether ids count from 0 or from 1.

    Raises
    ------
    DatasetCorrupted
        If a line is not of this form, or has an id twice; the message gives its number.

    See Also
    --------
    fetch_reuters : Two subsets, ready to use.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from mvref.datasets import read_reuters_index
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "Index_EN-EN"
    ...     _ = path.write_text("C15 1:0.5 3:2\\nM11 2:1.5\\n")
    ...     labels, X = read_reuters_index(path)
    >>> labels.tolist(), X.toarray().tolist()
    (['C15', 'M11'], [[0.0, 0.5, 0.0, 2.0], [0.0, 0.0, 1.5, 0.0]])
    """
    path = Path(path)
    lines = read_content(path).rstrip().splitlines()
    if not lines:
        raise DatasetCorrupted(f"{path} is empty")
    for number, line in enumerate(lines, start=1):
        if not _LINE.fullmatch(line):
            raise DatasetCorrupted(
                f"{path}, line {number} must be 'label id:value id:value ...', found "
                f"{line[:60].decode(errors='replace')!r}"
            )
    labels, rests = zip(*([*line.split(None, 1), b""][:2] for line in lines), strict=True)
    counts = [rest.count(b":") for rest in rests]
    # With blanks for colons, NumPy reads id, value, id, value, ... in one call.
    flat = b" ".join(rests).replace(b":", b" ")
    numbers = np.fromstring(flat, sep=" ", count=2 * sum(counts)).reshape(-1, 2)
    ids = numbers[:, 0].astype(np.int32)
    parts = numbers[:, 1].copy(), ids, np.append(0, np.cumsum(counts))
    X = sparse.csr_matrix(parts, (len(lines), ids.max(initial=0) + 1))
    X.sort_indices()
    rows = np.repeat(np.arange(len(lines)), counts)
    twice = np.flatnonzero((np.diff(X.indices) == 0) & (np.diff(rows) == 0))
    if len(twice):
        row, number = rows[twice[0]], X.indices[twice[0]]
        raise DatasetCorrupted(f"{path}, line {row + 1} has the id {number} twice")
    return np.array([label.decode() for label in labels]), X


def _check_index(path, source, topics, expected):
    """Raise unless the labels are valid and equal the labels in the source's first file."""
    if len(topics) != N_DOCUMENTS[source]:
        raise DatasetCorrupted(
            f"{path} must have {N_DOCUMENTS[source]} lines, one for each document written in "
            f"{source}; found {len(topics)}"
        )
    unknown = sorted(set(topics) - set(TOPICS))
    if unknown:
        raise DatasetCorrupted(
            f"{path} must have the labels {', '.join(TOPICS)}; found {', '.join(unknown)}"
        )
    differs = np.flatnonzero(topics != expected)
    if len(differs):
        raise DatasetCorrupted(
            f"{path}, line {differs[0] + 1} has the label {topics[differs[0]]}, but the file "
            f"Index_{source}-{LANGUAGES[0]} has {expected[differs[0]]} there: the lines of the "
            "five files of a source must correspond"
        )
