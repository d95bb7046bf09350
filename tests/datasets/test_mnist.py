"""MNIST in four windows: the original files, the IDX format, the cuts."""

import numpy as np
import pytest

from mvref.datasets import DatasetCorrupted, fetch_mnist_views
from mvref.datasets import _mnist as mnist_module
from tests.datasets.small import idx

NAMES = ["top_left", "top_right", "bottom_left", "bottom_right"]


@pytest.mark.parametrize("shift", range(8))
def test_windows_have_one_size_and_move_to_the_centre(shift):
    regions = mnist_module.window_regions(shift)
    assert list(regions) == NAMES
    seen = np.zeros((28, 28), dtype=int)
    for rows, columns in regions.values():
        assert seen[rows, columns].shape == (14, 14)
        seen[rows, columns] += 1
    # every mirror image of the four windows is the four windows
    for mirrored in (seen[::-1], seen[:, ::-1], seen.T):
        np.testing.assert_array_equal(seen, mirrored)
    assert (seen == 4).sum() == (2 * shift) ** 2 if shift < 7 else (seen == 4).sum() == 14**2
    assert not seen[:shift].any() and not seen[28 - shift :].any()
    # top left stays at the top left
    assert regions["top_left"] == (slice(shift, shift + 14),) * 2
    assert regions["top_right"][0] == regions["top_left"][0]
    assert regions["bottom_left"][1] == regions["top_left"][1]


def test_labels_must_be_digits(small):
    small("mnist", **{"t10k-labels-idx1-ubyte": idx(np.arange(10, dtype=np.uint8) + 1)})
    with pytest.raises(DatasetCorrupted, match="t10k-labels-idx1-ubyte must hold the digits"):
        fetch_mnist_views()


@pytest.mark.parametrize("shift", [None, 1, 7])
def test_cuts_the_windows(small, shift):
    small("mnist")
    quarters, windows = fetch_mnist_views(), fetch_mnist_views(overlap=True, shift=shift)
    for view in quarters.X.views:  # stored once, as rows
        assert view.dtype == np.float64 and view.flags.c_contiguous
        assert view.base is None or view.base.nbytes == 22 * 196 * 8
    tiles = [view.reshape(-1, 14, 14) for view in quarters.X.views]
    images, a = np.block([tiles[:2], tiles[2:]]), shift or 3
    b = 14 - a
    for view, (i, j) in zip(windows.X.views, ((a, a), (a, b), (b, a), (b, b)), strict=True):
        np.testing.assert_array_equal(view, images[:, i : i + 14, j : j + 14].reshape(22, -1))
    assert windows.meta["shift"] == a and windows.name == f"mnist2 (windows moved by {a})"
    assert windows.meta["regions"] == list(mnist_module.window_regions(a).values())
    assert "a choice of mvref" in " ".join(windows.DESCR.split())
