"""Reuters in five languages: the two subsets, and the text files of the full collection."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mvref.datasets import DatasetCorrupted, available, fetch_reuters, read_reuters_index
from mvref.datasets import _reuters as index_module
from tests.datasets.small import (
    LANGUAGES,
    SMALL,
    TOPICS,
    collection,
    dense,
    index_files,
    index_text,
    stacked,
)

PLACES = {  # where the 25 files may lie
    "archive": "rcv1rcv2aminigoutte/{source}/{}",
    "one folder": "rcv1rcv2aminigoutte/{}",
    "sources": "{source}/{}",
    "flat": "{}",
}


# The subsets


def test_stated_sizes_add_up():
    assert sum(index_module.N_DOCUMENTS.values()) == 111_740
    assert list(index_module.N_DOCUMENTS) == list(index_module.N_WORDS) == LANGUAGES


# One text file

words = st.dictionaries(st.integers(0, 40), st.floats(-1e6, 1e6, allow_subnormal=False), max_size=6)


@given(st.lists(st.tuples(st.sampled_from(TOPICS), words), min_size=1, max_size=8))
def test_reads_what_was_written(tmp_path_factory, documents):
    expected, rows = zip(*documents, strict=True)
    path = tmp_path_factory.mktemp("index") / "Index_EN-EN"
    path.write_bytes(index_text(expected, rows))
    labels, X = read_reuters_index(path)
    assert tuple(labels) == expected and X.has_canonical_format
    assert X.shape[1] == max((j for row in rows for j in row), default=0) + 1
    np.testing.assert_array_equal(X.toarray(), dense(rows, X.shape[1]))


@pytest.mark.parametrize(
    "content",
    [
        "C15 1:0.5 3:2\nM11 2:1.5\n",
        "C15 1:0.5 3:2\nM11 2:1.5",
        "C15 3:2 1:0.5\nM11 2:1.5\n\n",
        "  C15\t1:.5   3:2.  \r\nM11 2:+1.5e0\r\n",
        "C15 1:5E-1 3:2 \nM11 2:15e-1 \n",
    ],
    ids=["plain", "no last newline", "any order", "blanks, tabs, carriage returns", "exponents"],
)
def test_ways_to_write_the_same(tmp_path, content):
    path = tmp_path / "Index_EN-EN"
    path.write_bytes(content.encode())
    labels, X = read_reuters_index(str(path))
    assert labels.tolist() == ["C15", "M11"]
    np.testing.assert_array_equal(X.toarray(), [[0, 0.5, 0, 2], [0, 0, 1.5, 0]])


# The 25 files together


@pytest.fixture
def write(small, put):
    """Return a function that writes the 25 files of a collection, as archives or not."""
    folder = small("reuters_full")

    def write_files(topics, rows, layout="flat", suffix=""):
        for file in SMALL["reuters_full"].files:
            (folder / file).unlink()
        for file, content in index_files(topics, rows, PLACES[layout]).items():
            put(folder / f"{file}{suffix}", content)
        return folder

    return write_files


@pytest.mark.parametrize("first_id", [0, 1])
@pytest.mark.parametrize("layout", PLACES)
def test_stacks_the_sources(write, layout, first_id):
    topics, rows = collection(np.random.default_rng(1), first_id)
    folder = write(topics, rows, layout, suffix=".gz" if layout == "sources" else "")
    reuters = fetch_reuters("full")
    assert reuters.name == "reuters" and reuters.X.widths == list(index_module.N_WORDS.values())
    for view, X in zip(LANGUAGES, reuters.X.views, strict=True):
        np.testing.assert_array_equal(X.toarray(), stacked(rows, view, first_id))
    assert "sha256 of the files are not known" in " ".join(reuters.DESCR.split())
    top = folder / "rcv1rcv2aminigoutte" if "rcv1" in PLACES[layout] else folder
    assert available()["reuters_full"] == str(top)


def test_one_id_zero_decides_for_all_files(write):
    """Ids of most files could count from 1; a single 0 says that they all count from 0."""
    topics, rows = collection(np.random.default_rng(1))
    rows = {key: [{1: 2.5}, *[{}] * (len(documents) - 1)] for key, documents in rows.items()}
    rows["SP", "IT"][1] = {0: 3.5}
    write(topics, rows)
    for view, X in zip(LANGUAGES, fetch_reuters("full").X.views, strict=True):
        np.testing.assert_array_equal(np.unique(X.indices), [0, 1] if view == "IT" else [1])


@pytest.mark.parametrize(
    ("key", "change", "message"),
    [
        (("FR", "SP"), lambda t, r: (t[:1], r[:1]), "Index_FR-SP must have 2 lines, .*; found 1"),
        (
            ("SP", "FR"),
            lambda t, r: (t, [r[0], {10: 1.0}]),
            "the vocabulary of FR has 9 words; .*Index_.-FR in .* have ids up to 10",
        ),
        (
            ("GR", "FR"),
            lambda t, r: ([*t[:2], "M11" if t[2] != "M11" else "C15"], r),
            "Index_GR-FR, line 3 has .* Index_GR-EN has",
        ),
        (("IT", "EN"), lambda t, r: (["C151"], r), "must have the labels C15, .*; found C151$"),
    ],
    ids=["lines", "words", "labels", "topic"],
)
def test_a_file_that_does_not_belong(small, key, change, message):
    topics, rows = collection(np.random.default_rng(0))
    small(
        "reuters_full",
        **{"Index_{}-{}".format(*key): index_text(*change(topics[key[0]], rows[key]))},
    )
    with pytest.raises(DatasetCorrupted, match=message):
        fetch_reuters("full")
