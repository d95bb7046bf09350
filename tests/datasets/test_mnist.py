"""MNIST in four windows: the cuts, and files that are wrong."""

import numpy as np
import pytest

from mvref.datasets import DatasetCorrupted, fetch_mnist_views
from tests.datasets.small import idx

NAMES = ["top_left", "top_right", "bottom_left", "bottom_right"]


def test_labels_must_be_digits(small):
    small("mnist", **{"t10k-labels-idx1-ubyte": idx(np.arange(10, dtype=np.uint8) + 1)})
    with pytest.raises(DatasetCorrupted, match="t10k-labels-idx1-ubyte must hold the digits"):
        fetch_mnist_views()


@pytest.mark.parametrize("shift", [None, *range(1, 8)])
def test_cuts_the_windows(small, shift):
    small("mnist")
    quarters, windows = fetch_mnist_views(), fetch_mnist_views(overlap=True, shift=shift)
    for view in quarters.X.views:  # stored once, as rows
        assert view.dtype == np.float64 and view.flags.c_contiguous
        assert view.base is None or view.base.nbytes == 22 * 196 * 8
    tiles = [view.reshape(-1, 14, 14) for view in quarters.X.views]
    images, a = np.block([tiles[:2], tiles[2:]]), shift or 3
    b = 14 - a
    places = ((a, a), (a, b), (b, a), (b, b))
    regions = [(slice(i, i + 14), slice(j, j + 14)) for i, j in places]
    for view, (rows, columns) in zip(windows.X.views, regions, strict=True):
        np.testing.assert_array_equal(view, images[:, rows, columns].reshape(22, -1))
    assert windows.meta["shift"] == a and windows.name == f"mnist2 (windows moved by {a})"
    assert windows.meta["regions"] == regions and windows.view_names == NAMES
    assert "a choice of mvref" in " ".join(windows.DESCR.split())
