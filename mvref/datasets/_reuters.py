"""Reuters RCV1/RCV2: newspaper articles in five languages, four of them by machine translation."""

from itertools import product
from os.path import commonpath
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.io import loadmat

from ..core.input import MultiView, check_choice
from ._base import MultiViewDataset
from ._lookup import fetch, locate, locate_all
from ._reuters_index import LANGUAGES, TOPICS, read_collection
from ._sources import FILES, checksums, describe

# Where the 25 files may lie below the folder of the data set; the first is that of the archive.
PLACES = ("rcv1rcv2aminigoutte/{source}/", "rcv1rcv2aminigoutte/", "{source}/", "")
INDEX_FILES = {
    (source, view): [f"{place.format(source=source)}Index_{source}-{view}" for place in PLACES]
    for source, view in product(LANGUAGES, LANGUAGES)
}


def fetch_reuters(subset="1200"):
    """Load newspaper articles of six topics, each in five languages (the views).

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
        numbers 1 to 6 of their files, which do not say which topic each one is. No official split.
        ``meta["source_language"]`` is the language in which each document was written; with "full"
        they stand source by source, in the order of the views.

    Raises
    ------
    DatasetUnavailable, DatasetCorrupted
        If a file is missing (the message says how to get it), a subset is not the known file, or
        the 25 files are not of the known format, do not belong together, or differ in size from
        what the collection's authors state (their sha256 are not known to mvref).

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
    """Views and `y` of ``Reuters-1200.mat``: dense tables of 2000 words."""
    tables = content["X"].ravel()
    views = {view: sparse.csr_matrix(X) for view, X in zip(LANGUAGES, tables, strict=True)}
    return views, content["y"].ravel().astype(np.int64)


def read_600(content):
    """Views and `y` of ``reuters600_fullvocab.mat``: triplets (row, column, value) from 1 on."""
    y = content["truth"].ravel().astype(np.int64)
    views = {}
    for view in LANGUAGES:
        *cells, value = content[f"EN_{view}_sample"].T
        row, column = np.array(cells, dtype=np.int64) - 1
        views[view] = sparse.csr_matrix((value, (row, column)), (len(y), column.max() + 1))
    return views, y
