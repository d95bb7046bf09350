"""All loaders on small files: read, missing, downloaded."""

import gzip
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from mvref.datasets import DatasetCorrupted, DatasetUnavailable, available
from mvref.datasets._citeseer import read_content, read_links
from mvref.datasets._flower17 import ORIGINALS
from mvref.datasets._sources import BY_HAND, FILES, FOLDERS, SOURCES
from tests.datasets.loaders import FETCHED
from tests.datasets.small import SMALL

MATLAB = ("flower17", "reuters1200", "reuters600")


def is_as_written(data, name):
    some = SMALL[name]
    for view, expected in zip(data.X.views, some.views, strict=True):
        np.testing.assert_array_equal(view.toarray() if sparse.issparse(view) else view, expected)
        if sparse.issparse(view):  # 12 bytes for each stored number
            assert view.format == "csr" and view.has_canonical_format
            assert view.indices.dtype == np.int32 and view.dtype == np.float64
    np.testing.assert_array_equal(data.y, some.y)
    for split, expected in zip(data.splits, some.splits, strict=True):
        for part, indices in zip(split, expected, strict=True):
            np.testing.assert_array_equal(part, indices)
            assert part.dtype.kind == "i"
    assert some.names is None or data.target_names == some.names
    for key, value in some.meta.items():
        np.testing.assert_array_equal(data.meta[key], value)


@pytest.mark.parametrize(
    ("name", "suffix"),
    [(name, end) for name in SMALL for end in ("", ".gz") if name not in MATLAB or end == ""],
)
def test_is_read(small, name, suffix):
    folder = small(name, suffix)
    is_as_written(FETCHED[name](), name)
    assert available()[name] == str(folder)


NOTHING = {  # what the sentence names where no file is here, in place of the first one
    "uwave": "uwave_ucr2018_xyz.npz",
    "flower17": "there are no distance matrices",
    "shoulder-exercises": "watch_dataset.npy or shoulder_exercises.npz",
    "reuters_full": "Index_EN-EN, Index_EN-FR, Index_EN-GR and 22 more",
}


@pytest.mark.parametrize(
    ("name", "file"),
    [(name, file) for name, some in SMALL.items() for file in some.files]
    + [(name, None) for name in FETCHED],
)
def test_missing_file_is_a_sentence(small, name, file):
    dataset, folder = name.removesuffix("_original"), small(name)
    for path in folder.glob(file or "*"):
        path.unlink()
    assert name not in available()
    with pytest.raises(DatasetUnavailable) as caught:
        FETCHED[name]()
    for part in (repr(dataset), SOURCES[dataset]["address"], BY_HAND[dataset], str(folder)):
        assert part in str(caught.value)
    first = next(iter(SMALL[name].files)) if name in SMALL else f"{name}.data"
    missing = file or NOTHING.get(name, first)
    assert missing in str(caught.value).replace(BY_HAND[dataset], "")


@pytest.mark.parametrize(
    ("name", "file"),
    [(name, file) for name in FETCHED for file in FILES[name.removesuffix("_original")]],
)
def test_half_a_file_is_refused(small, put, name, file):
    folder = small(name)
    if "recomputed" in file:  # the original matrices come before it
        for original in ORIGINALS:
            (folder / original).unlink()
    path = put(folder / file, b"half a file")
    with pytest.raises(DatasetCorrupted) as caught:
        FETCHED[name]()
    hashes = FILES[name.removesuffix("_original")][file][0], sha256(b"half a file").hexdigest()
    for part in (f"{path} differs from the file that mvref expects", *hashes):
        assert part in str(caught.value)
    assert isinstance(caught.value, ValueError)
    assert path.read_bytes() == b"half a file"  # a user's file is theirs: not touched


@pytest.mark.parametrize("name", ["mfeat_original", "mnist", "optdigits", "house-votes-84"])
def test_is_downloaded_once_and_kept(small, folders, register, web, name):
    dataset, files = name.removesuffix("_original"), SMALL[name].files
    for path in small(name).iterdir():
        path.unlink()
    for file, content in files.items():
        page = (f"/{file}.gz", gzip.compress(content)) if name == "mnist" else (f"/{file}", content)
        register(dataset, file, content, web.offer(*page))
    for _ in range(2):
        is_as_written(FETCHED[name](), name)
    assert [Path(page).name.removesuffix(".gz") for page in web.asked] == list(files)
    folder = folders[1] / FOLDERS[dataset]
    assert sorted(path.name for path in folder.iterdir()) == sorted(files)
    assert available()[name] == str(folder)


def test_ids_of_citeseer_are_text_not_numbers(tmp_path, put):
    """ "007" and "7" are two papers."""
    content = put(tmp_path / "content", b"007\t1\tAI\n7\t0\tAI\n")
    papers, _, _ = read_content(content)
    inbound = read_links(put(tmp_path / "cites", b"7\t007\n"), papers)
    np.testing.assert_array_equal(inbound.toarray(), [[0, 0], [1, 0]])
