"""uWaveGesture from the compact file and from the archive's text files."""

import io
import itertools
import os

import numpy as np
import pytest

from mvref.datasets import DatasetCorrupted, fetch_uwave
from mvref.datasets import _uwave as uwave_module
from tests.datasets.small import as_text

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


def test_the_compact_file_tells_who_recorded_what(small, put, register):
    folder, text = small("uwave"), fetch_uwave()
    who, stream = np.arange(96).reshape(24, 4), io.BytesIO()
    tables = {"X": np.stack(text.X.views, axis=1), "y": text.y, "meta": who}
    parts = {"train": slice(8), "test": slice(8, 24)}
    pairs = itertools.product(tables, parts)
    np.savez(stream, **{f"{name}_{part}": tables[name][parts[part]] for name, part in pairs})
    put(folder / uwave_module.COMPACT, stream.getvalue())
    register("uwave", uwave_module.COMPACT, stream.getvalue(), None)
    uwave = fetch_uwave()
    np.testing.assert_array_equal(uwave.X.concat(), text.X.concat())
    np.testing.assert_array_equal(uwave.y, text.y)
    for name, column in {"user": 0, "day": 1, "repetition": 3}.items():
        np.testing.assert_array_equal(uwave.meta[name], who[:, column])


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
