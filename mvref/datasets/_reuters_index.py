"""The text files of the Reuters RCV1/RCV2 collection.

There are 25 of them. ``Index_<source>-<view>`` has a document on each line, written in language
<source> and given in language <view>:

    label id:value id:value ...

The same line of the five files of a source is the same document.
"""

import re
from pathlib import Path

import numpy as np
from scipy import sparse

from ._lookup import DatasetCorrupted, read_content

LANGUAGES = ("EN", "FR", "GR", "IT", "SP")
TOPICS = ("C15", "CCAT", "E21", "ECAT", "GCAT", "M11")
# Sizes of the collection, as its authors state them.
N_DOCUMENTS = {"EN": 18_758, "FR": 26_648, "GR": 29_953, "IT": 24_039, "SP": 12_342}
N_WORDS = {"EN": 21_531, "FR": 24_893, "GR": 34_279, "IT": 15_506, "SP": 11_547}

# Ids and exponents are short, so that numbers fit into int32 and float64.
_NUMBER = rb"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE](?:-\d{1,3}|\+?\d{1,2}))?"
_LINE = re.compile(rb"\s*[\w.+-]+(?:[ \t]+\d{1,9}:" + _NUMBER + rb")*\s*")


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


def read_reuters_index(path):
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
        If a line is not of this form, or has an id twice; the message has its number.

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
    # Every colon becomes a blank. What is left, id, value, id, value, ..., NumPy reads at once.
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
    """Raise unless a file has good labels, those that the first file of its source has too."""
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
