"""Reuters RCV1/RCV2: newspaper articles in five languages, four of them by machine translation."""

from itertools import product
from os.path import commonpath
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.io import loadmat

from ..core.checks import check_choice
from ..core.views import MultiView
from ._base import MultiViewDataset, describe
from ._lookup import fetch, locate, unavailable
from ._registry import REUTERS_600, REUTERS_1200, UCI_REUTERS, checksums
from ._reuters_index import LANGUAGES, TOPICS, read_collection

SUBSETS = {"1200": "Reuters-1200.mat", "600": "reuters600_fullvocab.mat"}
# Where the 25 files may lie below the folder of the data set; the first is that of the archive.
PLACES = ("rcv1rcv2aminigoutte/{source}/", "rcv1rcv2aminigoutte/", "{source}/", "")


def fetch_reuters(subset="1200"):
    """Load newspaper articles of six topics, each in five languages (the views).

    Nothing is downloaded: put the files into the folder ``$MVREF_DATA/reuters`` (or into the
    cache).

    Parameters
    ----------
    subset : {"1200", "600", "full"}
        - "1200": ``Reuters-1200.mat``, 200 English documents of each topic and their translations,
          2000 words per view.
        - "600": ``reuters600_fullvocab.mat``, 100 English documents of each topic with the
          collection's own vocabularies and weights.
        - "full": the 25 files ``Index_EN-EN`` to ``Index_SP-SP`` (or ``.gz``), 111 740 documents
          written in the five languages. They lie in
          ``rcv1rcv2aminigoutte/<source>/Index_<source>-<view>``, as in the archive, or all in
          ``rcv1rcv2aminigoutte``, or in ``<source>``, or in the folder itself.

    Returns
    -------
    dataset : MultiViewDataset
        Views EN, FR, GR, IT, SP (GR: German), all of them CSR matrices. `y` has the topics' names
        for "full", and for the subsets the whole numbers 1 to 6 of their files, which do not say
        which topic each one is. No official split. ``meta["source_language"]`` is the language in
        which each document was written. With "full", documents stand source by source in the order
        EN, FR, GR, IT, SP.

    Raises
    ------
    ValueError
        If `subset` is unknown.
    DatasetUnavailable
        If a file is missing; the message says where to get it and where to put it.
    DatasetCorrupted
        If a subset is not the known file, or the 25 files are not of the known format, do not
        belong together, or differ in size from what the collection's authors state.

    Notes
    -----
    In "1200" the names of the last two views are uncertain: one description of the data lists
    Italian before Spanish, another one the reverse.

    The sha256 of the 25 files are not known to mvref; their numbers of documents, topics and
    vocabularies are checked instead. They are read one at a time.

    A CSR view holds 12 bytes for each stored number: the views of "1200" take 2.5 MB together, and
    those of "600" 3.1 MB. Random files of the size of "full", with 85 words per line, took 39
    seconds, 0.57 GB for the views and 0.87 GB of memory at the peak.

    Examples
    --------
    >>> from mvref.datasets import available, fetch_reuters
    >>> if "reuters1200" in available():
    ...     assert fetch_reuters().X.shape == (1200, 5 * 2000)
    """
    check_choice(subset, "subset", [*SUBSETS, "full"])
    if subset == "full":
        views, y, sources = read_collection(_index_files())
        return _dataset("full", views, y, list(TOPICS), sources)
    path = fetch(f"reuters{subset}", SUBSETS[subset])
    views, y = read_1200(path) if subset == "1200" else read_600(path)
    topics = [f"topic {k}" for k in range(1, 7)]
    return _dataset(subset, views, y, topics, np.full(len(y), "EN"))


def on_this_machine():
    """Return name -> the folder that has the files, or None; nothing is opened."""
    paths = {f"reuters{subset}": locate(f"reuters{subset}", f) for subset, f in SUBSETS.items()}
    folders = {name: path and path.parent for name, path in paths.items()}
    indices = [_locate_index(*key) for key in product(LANGUAGES, LANGUAGES)]
    return folders | {"reuters_full": Path(commonpath(indices)) if all(indices) else None}


def _locate_index(source, view):
    files = (f"{place.format(source=source)}Index_{source}-{view}" for place in PLACES)
    return next(filter(None, (locate("reuters_full", file) for file in files)), None)


def _index_files():
    """Return (source, view) -> path of the 25 files."""
    paths = {key: _locate_index(*key) for key in product(LANGUAGES, LANGUAGES)}
    missing = [f"Index_{source}-{view}" for (source, view), path in paths.items() if path is None]
    if missing:
        some = ", ".join(missing[:3]) + (f" and {len(missing) - 3} more" if missing[3:] else "")
        raise unavailable("reuters_full", f"of its 25 files, these are missing: {some}")
    return paths


def read_1200(path):
    """Read ``Reuters-1200.mat``: dense tables of 2000 words.

    returns y (n_samples,).
    """
    content = loadmat(path)
    tables = content["X"].ravel()
    views = {view: sparse.csr_matrix(X) for view, X in zip(LANGUAGES, tables, strict=True)}
    return views, content["y"].ravel().astype(np.int64)


def read_600(path):
    """Read ``reuters600_fullvocab.mat``: triplets (row, column, value) that count from 1.

    returns y (n_samples,).
    """
    content = loadmat(path)
    y = content["truth"].ravel().astype(np.int64)
    views = {}
    for view in LANGUAGES:
        row, column, value = content[f"EN_{view}_sample"].T
        row, column = row.astype(np.int64) - 1, column.astype(np.int64) - 1
        views[view] = sparse.csr_matrix((value, (row, column)), (len(y), column.max() + 1))
    return views, y


_NOTES = {
    "1200": (
        "A sample of the subset that C. Grimal made in 2012: documents written in English, 200 of "
        "each topic, and for each language 2000 words chosen by k-medoids, with tf-idf weights. "
        "Rows are not scaled to length 1. In the fourth view one document has no word; "
        "3 pairs of documents are equal in all views.\n"
        "The order of the last two views is uncertain: Grimal's description lists EN, FR, GR, IT, "
        "SP, which is used here; the repository of the file lists English, French, German, "
        "Spanish, Italian. Which of Grimal's six samples this is, is not known."
    ),
    "600": (
        "A sample of the documents written in English, 100 of each topic, with the collection's "
        "own vocabularies and weights. Views are as wide as the largest word number used. One or "
        "two per cent of the weights, those of very common words, are negative."
    ),
    "full": (
        "Documents written in English, French, German (GR), Italian and Spanish, below each other "
        "in this order; meta['source_language'] has the language of each.\n"
        "The sha256 of the files are not known to mvref. Checked are their form, the numbers of "
        "documents (18758, 26648, 29953, 24039, 12342), the six topics, the sizes of the "
        "vocabularies, and that the five files of a source have the same labels."
    ),
}
_SUBSET = (
    "\nThe file numbers its topics 1 to 6 and does not say which is which. Goyal et al. (2018) use "
    "all 111 740 documents: results on this subset are not a reproduction of theirs."
)
_SOURCES = {"1200": f"{REUTERS_1200}, file Reuters-1200.mat"}
_SOURCES["600"] = f"{REUTERS_600}, file datasets/reuters.mat"
_SOURCES["full"] = f"{UCI_REUTERS}/rcv1rcv2aminigoutte.tar.bz2"


def _dataset(subset, views, y, topics, sources):
    """Describe."""
    X = MultiView(views)
    full = subset == "full"
    text = describe(
        "Reuters RCV1/RCV2 multilingual, "
        + ("all documents" if full else f"a subset of {len(y)} documents"),
        X,
        source=(
            "M.-R. Amini, C. Goutte, Reuters RCV1 RCV2 Multilingual, Multiview Text Categorization "
            f"Test collection, UCI Machine Learning Repository\n{_SOURCES[subset]}"
        ),
        licence=(
            "The authors make the collection available for research purposes only and ask to "
            "acknowledge its use. mvref ships no copy."
        ),
        citation=(
            "M.-R. Amini, N. Usunier, C. Goutte, Learning from multiple partially observed views: "
            "an application to multilingual text categorization, NIPS 2009."
        ),
        notes=_NOTES[subset] + ("" if full else _SUBSET),
        checksums=None if full else checksums(f"reuters{subset}", [SUBSETS[subset]]),
    )
    name = "reuters" if full else f"reuters{subset}"
    return MultiViewDataset(name, X, y, topics, text, meta={"source_language": sources})
