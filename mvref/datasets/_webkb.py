"""WebKB course: web pages described by their own words, and by the words of links to them."""

import hashlib
import html
import re
import tarfile

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from ..core.input import MultiView
from ._base import MultiViewDataset
from ._lookup import DAMAGED_GZIP, FORMS, DatasetCorrupted, locate, unavailable
from ._sources import describe

ARCHIVE = "course-cotrain-data"
FORMS["webkb"] = [[f"{ARCHIVE}.tar"]]
# sha256 of the lines "<sha256>  <path>\n" of the files in the archive, sorted by path: it does
# not depend on how the files are packed
MANIFEST = "0e3824e7ed25ae28ee8960a34f50a962d025373c5caac78fd40e45e958e86c15"
VIEWS = {"page": "fulltext", "anchor": "inlinks"}  # view -> its folder in the archive
CLASSES = ("non-course", "course")


def fetch_webkb() -> MultiViewDataset:
    """Load WebKB course: 1051 university web pages, 230 of them about a course, in two views.

    Nothing is downloaded: put ``course-cotrain-data.tar.gz`` into the folder
    ``$MVREF_DATA/webkb-course`` (or into the cache).

    Returns
    -------
    dataset : MultiViewDataset
        CSR matrices of word counts: views ``page`` (16 545), the words of the page, and ``anchor``
        (1797), the words of the links to it. `y` is 1 for the page of a course and 0 otherwise.
        There is no official split. `meta` has ``url``, an array of addresses; ``texts``, view ->
        list of the original documents, HTML included; and ``words``, view -> array of the columns'
        words.

    Raises
    ------
    DatasetUnavailable, DatasetCorrupted
        If the archive is missing (the message explains how to obtain it) or cannot be read, or if
        its files are not the known ones, however they are packed.

    Notes
    -----
    **Our choice**: the files are raw text, and the papers that use them do not state their
    vocabulary. Here a word is two or more consecutive letters a to z, in lower case, after removing
    comments, tags and HTML entities. The vocabulary comes from all pages; compute another one from
    ``meta["texts"]`` if it must be learnt from a training set only. A page without anchor words is
    a row of zeros, not a missing view.

    Examples
    --------
    >>> from mvref.datasets import available, fetch_webkb
    >>> if "webkb" in available():
    ...     assert fetch_webkb().X.shape == (1051, 16545 + 1797)
    """
    path = locate("webkb", f"{ARCHIVE}.tar")
    if path is None:
        raise unavailable("webkb", f"there is no file {ARCHIVE}.tar.gz")
    files = read_archive(path)
    found = manifest(files)
    if found != MANIFEST:
        raise DatasetCorrupted(
            f"{path} does not hold the files that mvref knows: expected 2102 files whose list has "
            f"the sha256 {MANIFEST}, found {len(files)} with {found}. Get it again"
        )
    pages = sorted(path.split("/", 2)[2] for path in files if f"/{VIEWS['page']}/" in path)
    texts = {  # every byte is a character in latin-1, and a few pages are not UTF-8
        view: [files[f"{ARCHIVE}/{folder}/{page}"].decode("latin-1") for page in pages]
        for view, folder in VIEWS.items()
    }
    counted = {view: count_words(documents) for view, documents in texts.items()}
    X = MultiView({view: counts for view, (_, counts) in counted.items()})
    labels, names = zip(*(page.split("/") for page in pages), strict=True)
    meta = {
        "url": np.array([name.replace("^", "/") for name in names]),
        "texts": texts,
        "words": {view: words for view, (words, _) in counted.items()},
    }
    y = np.array([CLASSES.index(label) for label in labels])
    text = describe("webkb", X, {f"files of {ARCHIVE}": MANIFEST})
    return MultiViewDataset("webkb", X, y, list(CLASSES), text, meta=meta)


def read_archive(path):
    """Read all files of the archive, without unpacking it."""
    try:
        with tarfile.open(path) as archive:
            return {m.name: archive.extractfile(m).read() for m in archive if m.isfile()}
    except (tarfile.TarError, *DAMAGED_GZIP) as error:
        raise DatasetCorrupted(f"{path} is not a complete tar archive ({error})") from None
    except OSError as error:
        raise unavailable("webkb", f"{path} cannot be read ({error.strerror})") from None


def manifest(files):
    """Return the sha256 of the list of all files and their sha256, sorted by path."""
    lines = (f"{hashlib.sha256(files[path]).hexdigest()}  {path}\n" for path in sorted(files))
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def visible_text(page):
    """Return the text of an HTML page, without comments, tags and entities."""
    return html.unescape(re.sub("<[^>]*>", " ", re.sub("(?s)<!--.*?-->", " ", page)))


def count_words(texts):
    """Count the visible words of HTML documents: words (n_words,), counts (n_texts, n_words)."""
    counter = CountVectorizer(token_pattern="[a-z]{2,}", dtype=np.float64)  # lower case
    counts = counter.fit_transform(map(visible_text, texts))
    return counter.get_feature_names_out(), counts
