"""WebKB course: the words, and archives that are wrong."""

import gzip
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mvref.datasets import DatasetCorrupted, fetch_webkb
from mvref.datasets import _webkb as webkb_module
from mvref.datasets._webkb import ARCHIVE
from tests.datasets.small import PAGES, SMALL, pack


def words_literally(document):
    """Count words with a loop over characters, outside of comments and tags."""
    text, counts = "", {}
    document = re.sub("(?s)<!--.*?-->", " ", document)
    inside = False
    for position, c in enumerate(document):
        inside = inside or (c == "<" and ">" in document[position:])
        text += " " if inside else c
        inside = inside and c != ">"
    run = ""
    for c in f"{text.lower()} ":
        if "a" <= c <= "z":
            run += c
            continue
        if len(run) > 1:
            counts[run] = counts.get(run, 0) + 1
        run = ""
    return counts


def test_small_pages(small):
    small("webkb")
    data = fetch_webkb()
    words = {view: " ".join(found) for view, found in data.meta["words"].items()}
    assert words == {"page": "and caf cat cs graphs my no page trees", "anchor": "graphs trees"}
    assert data.meta["texts"]["page"][2] == "My cat's page: caf\xe9<img alt=cat>"


def test_packing_does_not_matter(small):
    packed = pack(dict(reversed(PAGES.items())))
    folder = small("webkb", **{f"{ARCHIVE}.tar": packed})
    (folder / f"{ARCHIVE}.tar").rename(folder / f"{ARCHIVE}.tar.gz")  # which it need not be
    views = fetch_webkb().X.views
    for view, expected in zip(views, SMALL["webkb"].views, strict=True):
        np.testing.assert_array_equal(view.toarray(), expected)


FIRST, *OTHERS = PAGES


@pytest.mark.parametrize(
    "files",
    [
        PAGES | {FIRST: b"other"},
        {path: PAGES[path] for path in OTHERS},
        PAGES | {f"{ARCHIVE}/readme": b"one more"},
        {path.replace("~x", "~y"): content for path, content in PAGES.items()},
    ],
    ids=["changed", "missing", "added", "renamed"],
)
def test_other_files_are_refused(small, files):
    folder = small("webkb", **{f"{ARCHIVE}.tar": pack(files)})
    with pytest.raises(DatasetCorrupted) as caught:
        fetch_webkb()
    for part in (str(folder / f"{ARCHIVE}.tar"), webkb_module.MANIFEST, "Get it again"):
        assert part in str(caught.value)


ZIPPED = gzip.compress(pack(PAGES), mtime=0)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        *((ZIPPED[:n], "(is not a complete|does not hold)") for n in (35, 175, 280)),
        (b"<html>404 not found</html>", "is not a complete tar archive"),
    ],
)
def test_damaged_archive_is_refused(small, content, message):
    assert len(content) < len(ZIPPED)
    small("webkb", **{f"{ARCHIVE}.tar": content})
    with pytest.raises(DatasetCorrupted, match=f"{ARCHIVE}.tar {message}"):
        fetch_webkb()


@given(st.text(alphabet="abAB <>-!1é\n", max_size=40))
def test_any_text_is_counted_as_by_the_loop(text):
    words, counts = webkb_module.count_words([text, "always one word"])
    found = dict(zip(words, counts[[0]].toarray()[0], strict=True))
    assert {word: n for word, n in found.items() if n} == words_literally(text)
