"""uWaveGesture from the compact file and from the archive's text files."""

import os
from itertools import product

import numpy as np
import pytest

from mvref.datasets import DatasetCorrupted, DatasetUnavailable, available, fetch_uwave
from mvref.datasets import _uwave as uwave_module
from mvref.datasets._lookup import find

TRAIN_COUNTS = [122, 108, 106, 110, 127, 111, 112, 100]
TEST_COUNTS = [437, 452, 454, 450, 433, 449, 447, 460]


def text(labels, series, separator="\t"):
    """Write rows as the archive does: the class, then the points."""
    rows = [separator.join([str(y), *map(str, x)]) for y, x in zip(labels, series, strict=True)]
    return ("\n".join(rows) + "\n").encode()


def test_official_split(uwave):
    assert uwave.X.shape == (4478, 945)
    assert uwave.view_names == ["x", "y", "z"]
    ((train, validation, test),) = uwave.splits
    np.testing.assert_array_equal(train, np.arange(896))
    np.testing.assert_array_equal(test, np.arange(896, 4478))
    assert validation.shape == (0,) and validation.dtype.kind == "i"
    assert uwave.X[validation].n_samples == 0
    np.testing.assert_array_equal(np.bincount(uwave.y[train])[1:], TRAIN_COUNTS)
    np.testing.assert_array_equal(np.bincount(uwave.y[test])[1:], TEST_COUNTS)


def test_rows_are_standardised(uwave):
    for name, view in zip("xyz", uwave.X.views, strict=True):
        np.testing.assert_allclose(view.mean(axis=1), 0, atol=1e-5 if name != "z" else 1.0)
        constant = np.ptp(view, axis=1) == 0
        assert constant.sum() == (name == "z")  # the one recording whose z axis stands still
        np.testing.assert_allclose(view[~constant].std(axis=1, ddof=1), 1, atol=1e-5)


def test_who_recorded_what(uwave):
    meta = uwave.meta
    if not meta:
        pytest.skip("users are known from the compact file uwave_ucr2018_xyz.npz only")
    recording = np.column_stack([meta["user"], meta["day"], uwave.y, meta["repetition"]])
    np.testing.assert_array_equal(recording.min(axis=0), 1)
    np.testing.assert_array_equal(recording.max(axis=0), [8, 7, 8, 10])
    assert len(np.unique(recording, axis=0)) == 4478  # of 4480


@pytest.mark.parametrize("axis", "XYZ")
def test_training_text_equals_the_compact_file(uwave, axis):
    path = find("uwave", f"UWaveGestureLibrary{axis}_TRAIN.tsv")
    if path is None:
        pytest.skip(f"UWaveGestureLibrary{axis}_TRAIN.tsv is not in the folder uwave of MVREF_DATA")
    labels, series = uwave_module.read_ucr(path)
    train = uwave.splits[0][0]
    np.testing.assert_array_equal(labels, uwave.y[train])
    view = uwave.X.views["XYZ".index(axis)][train]
    np.testing.assert_array_equal(view, series.astype(np.float32))


@pytest.mark.parametrize("separator", ["\t", " ", "  ", ","])
@pytest.mark.parametrize("compressed", [False, True])
def test_reads_the_archives_formats(tmp_path, put, separator, compressed):
    labels, series = [2, 7], np.array([[0.25, -1.5, 3e-7], [1.0, 2.0, 1e3]])
    file = "a.tsv.gz" if compressed else "a.txt"
    path = put(tmp_path / file, text(labels, series, separator))
    y, X = uwave_module.read_ucr(path)
    assert y.dtype.kind == "i"
    np.testing.assert_array_equal(y, labels)
    np.testing.assert_array_equal(X, series)


def test_reads_classes_written_as_decimals(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("  1.0000000e+00  -5.5e-01\n  8.0000000e+00   2.5e-01\n")
    y, X = uwave_module.read_ucr(path)
    np.testing.assert_array_equal(y, [1, 8])
    np.testing.assert_array_equal(X, [[-0.55], [0.25]])


def test_joins_axes_and_parts(tmp_path, put):
    rng, labels = np.random.default_rng(0), {"TRAIN": [3, 1], "TEST": [2, 8, 1]}
    series = {
        (axis, part): rng.normal(size=(len(labels[part]), 2)).round(4)
        for axis, part in product("XYZ", labels)
    }
    paths = {
        (axis, part): put(tmp_path / f"{axis}_{part}.tsv", text(labels[part], values))
        for (axis, part), values in series.items()
    }
    views, y = uwave_module.read_text(paths)
    np.testing.assert_array_equal(y, labels["TRAIN"] + labels["TEST"])
    for axis in "XYZ":
        expected = np.vstack([series[axis, "TRAIN"], series[axis, "TEST"]])
        np.testing.assert_array_equal(views[axis.lower()], expected)
    put(paths["Z", "TEST"], text([8, 2, 1], series["Z", "TEST"]))
    with pytest.raises(DatasetCorrupted, match="Z_TEST.* the rows of the three axes"):
        uwave_module.read_text(paths)


def write_full_size(folder, put, ending="txt", n_points=315):
    """Six files of the archive's size with small whole numbers; axis a holds a + 1."""
    for a, axis in enumerate("XYZ"):
        for part, counts in (("TRAIN", TRAIN_COUNTS), ("TEST", TEST_COUNTS)):
            row = f"\t{a + 1}" * n_points + "\n"
            content = "".join((f"{g}" + row) * n for g, n in enumerate(counts, start=1))
            put(folder / f"UWaveGestureLibrary{axis}_{part}.{ending}", content.encode())


def test_text_files_that_a_user_downloads(folders, put):
    data, cache = folders
    write_full_size(data / "uwave", put)
    uwave = fetch_uwave()
    assert uwave.X.shape == (4478, 945)
    assert [np.unique(view).tolist() for view in uwave.X.views] == [[1.0], [2.0], [3.0]]
    ((train, _, test),) = uwave.splits
    np.testing.assert_array_equal(np.bincount(uwave.y[train])[1:], TRAIN_COUNTS)
    np.testing.assert_array_equal(np.bincount(uwave.y[test])[1:], TEST_COUNTS)
    assert uwave.meta == {}
    assert "UWaveGestureLibraryZ_TEST.txt" in uwave.DESCR
    assert available()["uwave"] == str(data / "uwave")
    os.rename(data, cache)  # the cache serves as well
    assert fetch_uwave().X.shape == (4478, 945)


@pytest.mark.parametrize(
    ("ending", "message"),
    [
        ("txt", "must be 896 \\+ 3582 rows of 315 points"),
        ("tsv", "UWaveGestureLibraryX_TRAIN.tsv is not the file"),  # of a known sha256
    ],
)
def test_text_files_of_another_size(folders, put, ending, message):
    write_full_size(folders[0] / "uwave", put, ending, n_points=3)
    with pytest.raises(DatasetCorrupted, match=message):
        fetch_uwave()


def test_incomplete_text_files(folders, put):
    data, _ = folders
    write_full_size(data / "uwave", put, n_points=1)
    (data / "uwave" / "UWaveGestureLibraryY_TEST.txt").unlink()
    assert "uwave" not in available()
    with pytest.raises(DatasetUnavailable, match="UWaveGestureLibraryY_TEST"):
        fetch_uwave()
