"""WebKB course: the published numbers, the words, and archives that are wrong."""

import io
import re
import tarfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mvref.datasets import DatasetCorrupted, available, fetch_webkb
from mvref.datasets import _webkb as webkb_module
from mvref.datasets._sources import SOURCES

ADDRESS = SOURCES["webkb"]["address"]

ROOT = "course-cotrain-data"
SMALL = {
    f"{ROOT}/fulltext/course/http:^^a.edu^~x^": b"<H1>Trees</H1> trees, CS101 &amp; a B.<!-- <b>no",
    f"{ROOT}/fulltext/course/http:^^a.edu^y": b"<title>Graphs\nand trees</title>",
    f"{ROOT}/fulltext/non-course/http:^^b.edu^": b"My cat's page: caf\xe9<img alt=cat>",
    f"{ROOT}/inlinks/course/http:^^a.edu^~x^": b"Trees \nTREES \n\n",
    f"{ROOT}/inlinks/course/http:^^a.edu^y": b"Graphs \n",
    f"{ROOT}/inlinks/non-course/http:^^b.edu^": b"\n",
}


def pack(files, mode="w:gz"):
    """Write a tar archive."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode=mode) as archive:
        for path, content in files.items():
            member = tarfile.TarInfo(path)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return stream.getvalue()


@pytest.fixture
def archive(folders, put, monkeypatch):
    """Return a function that writes an archive; the loader expects the files of SMALL."""
    monkeypatch.setattr(webkb_module, "MANIFEST", webkb_module.manifest(SMALL))

    def write(content, name=f"{ROOT}.tar.gz"):
        path = put(folders[0] / "webkb-course" / name, b"")
        path.write_bytes(content)
        return path

    return write


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


def test_words(webkb):
    page, anchor = webkb.X.views
    np.testing.assert_array_equal(webkb.y, np.repeat([1, 0], [230, 821]))
    assert webkb.splits == []
    assert np.median(np.diff(page.indptr)) == 104 and np.median(np.diff(anchor.indptr)) == 3
    assert (np.diff(page.indptr) == 0).sum() == 0 and (np.diff(anchor.indptr) == 0).sum() == 5
    for view in webkb.X.views:
        assert view.format == "csr" and view.has_canonical_format
        assert (view.data % 1 == 0).all() and view.data.min() == 1
        assert view.getnnz(axis=0).min() >= 1


def test_counts_equal_a_loop_over_characters(webkb):
    checked = 0
    for name, view in zip(webkb.view_names, webkb.X.views, strict=True):
        for i in range(0, 1051, 25):
            document = webkb.meta["texts"][name][i]
            if "&" in document:
                continue  # the loop knows no entities
            row = view[i]
            found = dict(zip(webkb.meta["words"][name][row.indices], row.data, strict=True))
            assert found == words_literally(document)
            checked += 1
    assert checked > 50


def test_pages_and_links_belong_together(webkb):
    """A word of the anchors is in the page far more often than in another page."""
    page, anchor = webkb.X.views
    words = dict(zip(webkb.meta["words"]["page"], range(page.shape[1]), strict=True))
    common = [(words[w], j) for j, w in enumerate(webkb.meta["words"]["anchor"]) if w in words]
    of_page, of_anchor = np.array(common).T
    P, A = page[:, of_page] > 0, anchor[:, of_anchor] > 0
    own = P.multiply(A).sum()
    other = P[np.roll(np.arange(1051), 1)].multiply(A).sum()
    assert own > 2 * other


def test_addresses_and_three_pairs_of_identical_pages(webkb):
    texts, url = webkb.meta["texts"]["page"], webkb.meta["url"]
    assert len(texts) - len(set(texts)) == 3
    assert len({(text, label) for text, label in zip(texts, webkb.y, strict=True)}) == 1048
    assert url.shape == (1051,) and all(address.startswith("http://") for address in url)
    assert not any("^" in address for address in url)


@pytest.mark.parametrize("name", [f"{ROOT}.tar", f"{ROOT}.tar.gz"])
def test_reads_the_format(archive, folders, name):
    archive(pack(SMALL, "w" if name.endswith("tar") else "w:gz"), name)
    assert available()["webkb"] == str(folders[0] / "webkb-course")
    small = fetch_webkb()
    words = {view: list(found) for view, found in small.meta["words"].items()}
    assert words["page"] == ["and", "caf", "cat", "cs", "graphs", "my", "no", "page", "trees"]
    assert words["anchor"] == ["graphs", "trees"]
    page, anchor = (view.toarray() for view in small.X.views)
    np.testing.assert_array_equal(
        page,
        [
            [1, 0, 0, 0, 1, 0, 0, 0, 1],
            [0, 0, 0, 1, 0, 0, 1, 0, 2],  # a comment that never ends is none
            [0, 1, 1, 0, 0, 1, 0, 1, 0],
        ],
    )
    np.testing.assert_array_equal(anchor, [[1, 0], [0, 2], [0, 0]])
    assert small.y.tolist() == [1, 1, 0]
    assert small.meta["url"].tolist() == ["http://a.edu/y", "http://a.edu/~x/", "http://b.edu/"]
    assert small.meta["texts"]["page"][2] == "My cat's page: caf\xe9<img alt=cat>"


def test_packing_does_not_matter(archive):
    archive(pack(SMALL))
    one = fetch_webkb()
    archive(pack(dict(reversed(SMALL.items()))))
    two = fetch_webkb()
    for a, b in zip(one.X.views, two.X.views, strict=True):
        assert (a != b).nnz == 0
    assert one.y.tolist() == two.y.tolist()


def renamed(files):
    first, *others = files
    return {f"{first}x": files[first]} | {path: files[path] for path in others}


@pytest.mark.parametrize(
    "change",
    [
        lambda files: files | {f"{ROOT}/fulltext/course/http:^^a.edu^y": b"other"},
        lambda files: dict(list(files.items())[1:]),
        lambda files: files | {f"{ROOT}/readme": b"one more"},
        renamed,
    ],
    ids=["changed", "missing", "added", "renamed"],
)
def test_other_files_are_refused(archive, change):
    path = archive(pack(change(SMALL)))
    with pytest.raises(DatasetCorrupted) as caught:
        fetch_webkb()
    for part in (str(path), webkb_module.MANIFEST, "Get it again"):
        assert part in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        *((pack(SMALL)[:n], "(is not a complete|does not hold)") for n in (35, 175, 280)),
        (b"<html>404 not found</html>", "is not a complete tar archive"),
    ],
)
def test_damaged_archive_is_refused(archive, content, message):
    assert len(content) < len(pack(SMALL))
    archive(content)
    with pytest.raises(DatasetCorrupted, match=f"{ROOT}.tar.gz {message}"):
        fetch_webkb()


@given(st.text(alphabet="abAB <>-!1é\n", max_size=40))
def test_any_text_is_counted_as_by_the_loop(text):
    words, counts = webkb_module.count_words([text, "always one word"])
    found = dict(zip(words, counts[[0]].toarray()[0], strict=True))
    assert {word: n for word, n in found.items() if n} == words_literally(text)
