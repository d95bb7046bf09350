"""All loaders on small files: read, missing, downloaded."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from mvref.datasets import DatasetUnavailable, available
from mvref.datasets._sources import BY_HAND, FOLDERS
from tests.datasets.small import SMALL

FILES = [(name, file) for name, some in SMALL.items() for file in some.files]
MATLAB = ("flower17", "reuters1200", "reuters600")


def is_as_written(data, name):
    some = SMALL[name]
    for view, expected in zip(data.X.views, some.views, strict=True):
        np.testing.assert_array_equal(view.toarray() if sparse.issparse(view) else view, expected)
        assert not sparse.issparse(view) or (view.format == "csr" and view.has_canonical_format)
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
def test_is_read(small, fetchers, name, suffix):
    folder = small(name, suffix)
    is_as_written(fetchers[name](), name)
    assert available()[name] == str(folder)


@pytest.mark.parametrize(("name", "file"), FILES)
def test_missing_file_is_a_sentence(small, fetchers, name, file):
    folder = small(name)
    (folder / file).unlink()
    assert name not in available()
    with pytest.raises(DatasetUnavailable) as caught:
        fetchers[name]()
    by_hand = BY_HAND[name.removesuffix("_original")]
    for part in (by_hand, str(folder)):
        assert part in str(caught.value)
    assert file in str(caught.value).replace(by_hand, "")


@pytest.mark.parametrize("name", ["mfeat_original", "mnist", "optdigits", "house-votes-84"])
def test_is_downloaded_once_and_kept(small, fetchers, folders, register, web, name):
    dataset, files = name.removesuffix("_original"), SMALL[name].files
    for path in small(name).iterdir():
        path.unlink()
    for file, content in files.items():
        page = (f"/{file}.gz", gzip.compress(content)) if name == "mnist" else (f"/{file}", content)
        register(dataset, file, content, web.offer(*page))
    for _ in range(2):
        is_as_written(fetchers[name](), name)
    assert [Path(page).name.removesuffix(".gz") for page in web.asked] == list(files)
    folder = folders[1] / FOLDERS[dataset]
    assert sorted(path.name for path in folder.iterdir()) == sorted(files)
    assert available()[name] == str(folder)
