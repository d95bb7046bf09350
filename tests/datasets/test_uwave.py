"""uWaveGesture from the compact file and from the archive's text files."""

import os

import numpy as np
import pytest

from mvref.datasets import DatasetCorrupted, fetch_uwave
from mvref.datasets import _uwave as uwave_module
from mvref.datasets._lookup import find
from tests.datasets.small import as_text


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


ROWS = [[2, 0.25, -1.5, 3e-7], [7, 1.0, 2.0, 1e3]]


@pytest.mark.parametrize("file", ["a.tsv.gz", "a.txt"])
@pytest.mark.parametrize(
    "content",
    [as_text(ROWS, separator) for separator in ("\t", " ", "  ", ",")]
    + [b"  2.0000000e+00  2.5e-01  -1.5e+00  3e-7\n  7.0000000e+00  1  2  1000\n"],
)
def test_reads_the_archives_formats(tmp_path, put, file, content):
    y, X = uwave_module.read_ucr(put(tmp_path / file, content))
    assert y.dtype.kind == "i" and y.tolist() == [2, 7]
    np.testing.assert_array_equal(X, [row[1:] for row in ROWS])


def test_text_files_that_a_user_downloads(small, folders):
    folder = small("uwave")
    uwave = fetch_uwave()
    assert uwave.meta == {} and "UWaveGestureLibraryZ_TEST.txt" in uwave.DESCR
    os.rename(folders[0], folders[1])  # the cache serves as well
    assert fetch_uwave().X.shape == uwave.X.shape and not folder.exists()


LABELS = [*range(1, 9)] * 2


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (
            {"UWaveGestureLibraryZ_TEST.txt": as_text([[y, 0, 0, 0] for y in LABELS[::-1]])},
            "Z_TEST.* the rows of the three axes",
        ),
        (
            {f"UWaveGestureLibrary{a}_TRAIN.txt": as_text([[1, 0, 0, 0]]) for a in "XYZ"},
            "must be 8 \\+ 16 rows of 3 points per axis; the files hold 17 rows of",
        ),
        (
            {f"UWaveGestureLibrary{a}_TEST.txt": as_text([[9, 0, 0, 0]] * 16) for a in "XYZ"},
            "must have the classes 1 to 8; found",
        ),
    ],
)
def test_text_files_that_do_not_fit(small, files, message):
    small("uwave", **files)
    with pytest.raises(DatasetCorrupted, match=message):
        fetch_uwave()
