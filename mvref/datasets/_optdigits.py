"""Optical digits: the 3823 training and 1797 test samples of the UCI repository."""

import numpy as np
from sklearn.datasets import load_digits

from ..core.input import MultiView
from ._base import MultiViewDataset, split_after
from ._lookup import DatasetCorrupted, fetch, read_numbers
from ._sources import checksums, describe

TRAIN = "optdigits.tra"
N_TRAIN, N_PIXELS, BRIGHTEST = 3823, 64, 16


def fetch_optdigits() -> MultiViewDataset:
    """Fetch 5620 handwritten digits of 8 x 8 pixels, with the official split 3823 / 1797.

    The test set is in scikit-learn (``sklearn.datasets.load_digits``). The training set,
    ``optdigits.tra``, is looked for in ``$MVREF_DATA/optdigits`` and in the cache, then downloaded.

    Returns
    -------
    dataset : MultiViewDataset
        One view, ``pixels`` (64): grey values 0 to 16, row by row; `y` in 0..9. Rows 0..3822 are
        the training set, the others the test set; ``splits[0]`` has no validation set.
        ``meta["image_shape"]`` is (8, 8).

    Raises
    ------
    DatasetUnavailable, DatasetCorrupted
        If the file is missing and cannot be downloaded, or is not the known one.

    Notes
    -----
    Wang, Chen and Gao (2011) use this split (30 people wrote the training set, 13 others the test
    set) with a task of two classes for each digit but 1; their numbers of errors agree with one
    digit against all others.

    Examples
    --------
    >>> from mvref.datasets import available, fetch_optdigits
    >>> if "optdigits" in available():
    ...     assert [len(part) for part in fetch_optdigits().splits[0]] == [3823, 0, 1797]
    """
    pixels, labels = read_digits(fetch("optdigits", TRAIN))
    test = load_digits()
    X = MultiView({"pixels": np.vstack([pixels, test.data])})
    y = np.concatenate([labels, test.target])
    text = describe("optdigits", X, checksums("optdigits", [TRAIN]))
    splits, meta = [split_after(len(pixels), len(y))], {"image_shape": (8, 8)}
    return MultiViewDataset("optdigits", X, y, list("0123456789"), text, splits, meta)


def read_digits(path):
    """Read lines of 64 grey values and the digit, separated by commas."""
    table = read_numbers("optdigits", path)
    highest = [BRIGHTEST] * N_PIXELS + [9]
    is_complete = table.shape == (N_TRAIN, len(highest))
    if not is_complete or not ((table % 1 == 0) & (table >= 0) & (table <= highest)).all():
        raise DatasetCorrupted(
            f"{path} should have {N_TRAIN} lines of 64 grey values from 0 to 16 and a digit, all "
            f"whole numbers, found a table of shape {table.shape} with values from "
            f"{table.min():g} to {table.max():g}"
        )
    return table[:, :-1], table[:, -1].astype(int)
