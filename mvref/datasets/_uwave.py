"""uWaveGesture: accelerometer recordings of eight gestures, three axes as three views."""

from itertools import product

import numpy as np

from ..core.input import MultiView
from ._base import MultiViewDataset, split_after
from ._lookup import FORMS, DatasetCorrupted, find, locate_all, read_numbers
from ._sources import checksums, describe

AXES, PARTS = ("X", "Y", "Z"), ("TRAIN", "TEST")
N_ROWS = {"TRAIN": 896, "TEST": 3582}
N_POINTS = 315
COMPACT = "uwave_ucr2018_xyz.npz"
TEXT = {  # (axis, part) -> possible names of its file
    (axis, part): tuple(f"UWaveGestureLibrary{axis}_{part}.{ending}" for ending in ("tsv", "txt"))
    for axis, part in product(AXES, PARTS)
}
FORMS["uwave"] = [[COMPACT], TEXT.values()]  # type: ignore[list-item]


def fetch_uwave() -> MultiViewDataset:
    """Load uWaveGesture: accelerometer recordings of gestures, with the official split.

    Nothing is downloaded, because the data may not be redistributed: put the compact file
    ``uwave_ucr2018_xyz.npz``, which takes precedence, or the six text files
    ``UWaveGestureLibrary{X,Y,Z}_{TRAIN,TEST}`` of the UCR archive (``.tsv`` or ``.txt``, possibly
    with ``.gz``), into the folder ``$MVREF_DATA/uwave`` (or into the cache).

    Returns
    -------
    dataset : MultiViewDataset
        Views x, y, z of 315 points each; `y` in 1..8. Rows 0..895 are the training set and the
        other 3582 the test set; ``splits[0]`` has an empty validation set. All eight people are in
        both. From the compact file, whose test rows are in another order, `meta` has the arrays
        ``user`` (1..8), ``day`` (1..7) and ``repetition`` (1..10).

    Raises
    ------
    DatasetUnavailable, DatasetCorrupted
        If neither form is complete (the message explains how to obtain it), or a file is not the
        known one, or not of this format.

    Examples
    --------
    >>> from mvref.datasets import available, fetch_uwave
    >>> if "uwave" in available():
    ...     assert fetch_uwave().X.shape == (4478, 945)
    """
    compact = find("uwave", COMPACT)
    if compact is not None:
        files, (views, y, meta) = [COMPACT], read_compact(compact)
    else:
        paths = locate_all("uwave", TEXT, otherwise=f"there is no {COMPACT}, and ")
        for path in paths.values():
            find("uwave", path.name.removesuffix(".gz"))  # checks files with a known sha256
        files, (views, y), meta = [path.name for path in paths.values()], read_text(paths), {}
    X = MultiView(views)
    n_train, n_test = N_ROWS["TRAIN"], N_ROWS["TEST"]
    if X.widths != [N_POINTS] * 3 or X.n_samples != n_train + n_test:
        raise DatasetCorrupted(
            f"uwave must be {n_train} + {n_test} rows of {N_POINTS} points per axis; the files "
            f"hold {X.n_samples} rows of {X.widths} points"
        )
    if not np.array_equal(np.unique(y), np.arange(1, 9)):
        raise DatasetCorrupted(f"uwave must have the classes 1 to 8; found {np.unique(y)}")
    names, splits = [f"gesture {g}" for g in range(1, 9)], [split_after(n_train, n_train + n_test)]
    text = describe("uwave", X, checksums("uwave", files), read=", ".join(files))
    return MultiViewDataset("uwave", X, y, names, text, splits, meta)


def read_compact(path):
    """Read the compact file: the views, `y` and `meta`."""
    with np.load(path) as stored:
        X = np.concatenate([stored["X_train"], stored["X_test"]]).astype(np.float64)
        y = np.concatenate([stored["y_train"], stored["y_test"]]).astype(np.int64)
        who = np.concatenate([stored["meta_train"], stored["meta_test"]]).astype(np.int64)
    views = {axis.lower(): X[:, a] for a, axis in enumerate(AXES)}
    return views, y, {"user": who[:, 0], "day": who[:, 1], "repetition": who[:, 3]}


def read_text(paths):
    """Read the text files of the three axes and two parts: the views and `y`."""
    views, y = {}, None
    for axis in AXES:
        labels, series = zip(*(read_ucr(paths[axis, part]) for part in PARTS), strict=True)
        labels, views[axis.lower()] = np.concatenate(labels), np.concatenate(series)
        y = labels if y is None else y
        if not np.array_equal(labels, y):
            raise DatasetCorrupted(
                f"the labels in {paths[axis, 'TRAIN']} or {paths[axis, 'TEST']} are not those of "
                "axis X: the rows of the three axes must correspond"
            )
    return views, y


def read_ucr(path):
    """Read a UCR text file, with a class and a series per row: y (n,), X (n, n_points)."""
    table = read_numbers("uwave", path)
    if not np.isfinite(table).all() or (table[:, 0] % 1).any():
        raise DatasetCorrupted(
            f"{path} must hold finite numbers only, with a whole number (the class) in front of "
            "each row"
        )
    return table[:, 0].astype(np.int64), table[:, 1:]
