"""CiteSeer: the published numbers, the direction of the links, and files that are wrong."""

import gzip

import numpy as np
import pytest
from sklearn.metrics.pairwise import cosine_similarity

from mvref.datasets import DatasetCorrupted, DatasetUnavailable, available, fetch_citeseer
from mvref.datasets import _citeseer as citeseer_module
from mvref.datasets._lookup import locate, open_content
from mvref.datasets._sources import FILES, SOURCES

FIELDS = {"AI": 249, "Agents": 596, "DB": 701, "HCI": 508, "IR": 668, "ML": 590}
CONTENT = b"7\t0\t1\t0\tML\nab01\t1\t1\t0\tAI\n10\t0\t0\t1\tML\n"
# 7 is cited by ab01 and by itself, 10 is cited by 7; the last two name a paper not in CONTENT.
CITES = b"7\tab01\n7\t7\n10\t7\nabsent\t7\nab01\tabsent\n"


@pytest.fixture(scope="module")
def loaded():
    return fetch_citeseer()


@pytest.fixture
def citeseer(need, request):
    need("citeseer")
    return request.getfixturevalue("loaded")


@pytest.fixture
def write_small(folders, put, register):
    """Return a function that writes two small files, which the loader then expects."""

    def write(compressed=False):
        for file, content in (("citeseer.content", CONTENT), ("citeseer.cites", CITES)):
            register("citeseer", file, content, None)
            name = f"{file}.gz" if compressed else file
            put(folders[0] / "citeseer" / name, gzip.compress(content) if compressed else content)

    return write


def test_is_the_published_one(citeseer):
    assert citeseer.view_names == ["text", "inbound", "outbound"]
    assert citeseer.X.n_samples == 3312 and citeseer.X.widths == [3703, 3312, 3312]
    counts = np.bincount(citeseer.y)
    assert dict(zip(citeseer.target_names, counts, strict=True)) == FIELDS
    assert len(np.unique(citeseer.meta["paper"])) == 3312
    assert citeseer.splits == [] and citeseer.X.observed.all()


def test_text_is_binary_and_complete(citeseer):
    text = citeseer.X.views[0]
    assert text.nnz == 105_165 and set(text.data) == {1.0}
    assert text.getnnz(axis=0).min() >= 1 and text.getnnz(axis=1).min() >= 1


def test_links_are_those_of_the_file(citeseer):
    """Every line of the file, read one by one, is in both link views; nothing else is."""
    with open_content(locate("citeseer", "citeseer.cites")) as stream:
        lines = [line.decode().split() for line in stream]
    assert len(lines) == 4732
    papers = citeseer.meta["paper"]
    inbound, outbound = citeseer.X.views[1:]
    known = set(papers)
    listed = {(a, b) for a, b in lines if a in known and b in known}
    assert len(listed) == 4715
    cited, citing = inbound.nonzero()
    assert set(zip(papers[cited], papers[citing], strict=True)) == listed
    citing, cited = outbound.nonzero()
    assert set(zip(papers[cited], papers[citing], strict=True)) == listed
    assert set(inbound.data) == set(outbound.data) == {1.0}


def test_papers_without_links(citeseer):
    inbound, outbound = (np.diff(view.indptr) for view in citeseer.X.views[1:])
    assert (inbound == 0).sum() == 1361 and (outbound == 0).sum() == 999
    assert (inbound + outbound > 0).all()
    assert citeseer.X.views[1].diagonal().sum() == 124


def test_views_are_canonical_csr(citeseer):
    for view in citeseer.X.views:
        assert view.format == "csr" and view.has_canonical_format


def test_description_counts_what_was_left_out(citeseer):
    words = " ".join(citeseer.DESCR.split())
    for part in (
        "4715 links among the papers of the collection",
        "17 of them name a paper that the collection does not have",
        "124 papers cite themselves",
        "1361 papers have no inbound link and 999 no outbound one",
        FILES["citeseer"]["citeseer.content"][0],
        FILES["citeseer"]["citeseer.cites"][0],
        "Sen",
        SOURCES["citeseer"]["address"],
    ):
        assert part in words


def test_links_are_as_the_chapter_says(citeseer):
    cites = citeseer.X.select("outbound").views[0].tocoo()
    links = np.zeros((6, 6))
    for i, j in zip(cites.row, cites.col, strict=True):
        links[citeseer.y[i], citeseer.y[j]] += i != j
    share = links / links.sum(axis=1, keepdims=True)
    np.testing.assert_array_equal(share.argmax(axis=1), range(6))
    np.testing.assert_array_equal(np.diag(share).round(2), [0.47, 0.78, 0.80, 0.77, 0.73, 0.70])
    ai, ml = (citeseer.target_names.index(name) for name in ("AI", "ML"))
    assert round(share[ai, ml], 2) == 0.25
    assert round(np.trace(links) / links.sum(), 2) == 0.74  # three of four
    assert round((citeseer.y != ai).mean(), 2) == 0.92


def test_views_agree_as_the_chapter_says(citeseer):
    pairs = np.triu_indices(3312, 1)
    correlations = np.corrcoef([cosine_similarity(view)[pairs] for view in citeseer.X.views])
    between = correlations[np.triu_indices(3, 1)]
    assert (round(between.min(), 2), round(between.max(), 2)) == (0.06, 0.09)


@pytest.mark.parametrize("compressed", [False, True])
def test_reads_the_format(folders, write_small, compressed):
    write_small(compressed)
    assert available()["citeseer"] == str(folders[0] / "citeseer")
    small = fetch_citeseer()
    text, inbound, outbound = (view.toarray() for view in small.X.views)
    np.testing.assert_array_equal(text, [[0, 1, 0], [1, 1, 0], [0, 0, 1]])
    np.testing.assert_array_equal(inbound, [[1, 1, 0], [0, 0, 0], [1, 0, 0]])
    np.testing.assert_array_equal(outbound, [[1, 0, 1], [1, 0, 0], [0, 0, 0]])
    assert small.target_names == ["AI", "ML"] and small.y.tolist() == [1, 0, 1]
    assert small.meta["paper"].tolist() == ["7", "ab01", "10"]


def test_ids_are_text_not_numbers(tmp_path, put):
    """ "007" and "7" are two papers."""
    content = put(tmp_path / "content", b"007\t1\tAI\n7\t0\tAI\n")
    papers, _, _ = citeseer_module.read_content(content)
    inbound = citeseer_module.read_links(put(tmp_path / "cites", b"7\t007\n"), papers)
    np.testing.assert_array_equal(inbound.toarray(), [[0, 0], [1, 0]])


@pytest.mark.parametrize("missing", ["citeseer.content", "citeseer.cites"])
def test_missing_file_is_a_sentence(folders, write_small, missing):
    write_small()
    (folders[0] / "citeseer" / missing).unlink()
    assert "citeseer" not in available()
    with pytest.raises(DatasetUnavailable) as caught:
        fetch_citeseer()
    for part in (missing, SOURCES["citeseer"]["address"], str(folders[0] / "citeseer")):
        assert part in str(caught.value)


@pytest.mark.parametrize("file", ["citeseer.content", "citeseer.cites"])
def test_changed_file_is_refused(folders, write_small, file):
    write_small()
    path = folders[0] / "citeseer" / file
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(DatasetCorrupted, match=f"{file} is not the file that mvref knows"):
        fetch_citeseer()


def test_truncated_gzip_is_refused(folders, write_small):
    write_small(compressed=True)
    path = folders[0] / "citeseer" / "citeseer.content.gz"
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(DatasetCorrupted, match="citeseer.content.gz is not a complete gzip"):
        fetch_citeseer()
