"""MNIST: 70 000 handwritten digits, seen through four windows of 14 x 14 pixels."""

import numpy as np

from ..core.checks import check_number
from ..core.views import MultiView
from ._base import MultiViewDataset, split_after
from ._embedded import corner_windows
from ._lookup import DatasetCorrupted, fetch, open_content
from ._sources import checksums, describe

N_IMAGES = {"train": 60_000, "t10k": 10_000}  # LeCun's training and test part
SIDE, WINDOW = 28, 14  # pixels
DEFAULT_SHIFT = 3
PARTS = {part: (f"{part}-images-idx3-ubyte", f"{part}-labels-idx1-ubyte") for part in N_IMAGES}


def fetch_mnist_views(overlap=False, shift=None):
    """Fetch MNIST in four views: the quarters of the image, or four windows that overlap.

    Goyal et al. (2018) call the quarters MNIST1 and the overlapping windows MNIST2. The four
    original files are looked for in ``$MVREF_DATA/mnist`` and in the cache; what is missing is
    downloaded (12 MB). Every file is checked against its sha256.

    Parameters
    ----------
    overlap : bool
        False: the four quarters, which share no pixel (MNIST1). True: windows of the same size,
        moved towards the centre (MNIST2).
    shift : int, 1 to 7, optional
        With ``overlap=True``: number of pixels by which each window is moved towards the centre,
        in both directions. At 7, all four views are the same window. Default: 3, **our choice**,
        because the paper does not say how far its windows overlap.

    Returns
    -------
    dataset : MultiViewDataset
        70 000 samples, first LeCun's training part, then his test part. Views ``top_left,
        top_right, bottom_left, bottom_right`` of 196 grey values from 0 to 255, row by row; `y` in
        0..9. ``splits[0]`` is LeCun's (60 000 training, no validation, 10 000 test); the papers
        split at random instead. `meta` has ``image_shape`` (28, 28), ``regions``, the list of the
        views' (rows, columns) slices, and ``shift`` (0 for the quarters).

    Raises
    ------
    ValueError
        If `overlap` is not a bool, `shift` is not an integer from 1 to 7, or `shift` is given
        without ``overlap=True``.
    DatasetUnavailable
        If a file is missing and cannot be downloaded.
    DatasetCorrupted
        If a file is not the original one.

    Notes
    -----
    The views are stored as float64, 439 MB together. Loading from the four ``.gz`` files took
    0.5 to 1.6 seconds and 473 MB of memory at its peak.

    Examples
    --------
    >>> from mvref.datasets import available, fetch_mnist_views
    >>> if "mnist" in available():
    ...     assert fetch_mnist_views(overlap=True).X.shape == (70000, 4 * 196)
    """
    shift = _check_shift(overlap, shift)
    images, y = read_parts({part: [fetch("mnist", f) for f in PARTS[part]] for part in PARTS})
    regions = window_regions(shift)
    # astype copies each window once, straight into the rows that MultiView keeps.
    X = MultiView(
        {
            name: images[:, *region].astype(np.float64).reshape(len(images), -1)
            for name, region in regions.items()
        }
    )
    files = [file for part in PARTS.values() for file in part]
    return MultiViewDataset(
        f"mnist2 (windows moved by {shift})" if shift else "mnist1",
        X,
        y,
        target_names=list("0123456789"),
        DESCR=describe("mnist2" if shift else "mnist1", X, checksums("mnist", files), shift=shift),
        splits=[split_after(N_IMAGES["train"], len(y))],
        meta={"image_shape": (SIDE, SIDE), "regions": list(regions.values()), "shift": shift},
    )


def window_regions(shift):
    """Return the four windows, the quarters moved by `shift` pixels towards the centre."""
    return corner_windows(SIDE, WINDOW, shift)


def read_parts(paths):
    """Read images and labels of the training part, then of the test part.

    paths: the parts are those of `N_IMAGES` -> images (n_samples, 28, 28), y (n_samples,).
    """
    images, labels = [], []
    for part, n in N_IMAGES.items():
        images_path, labels_path = paths[part]
        images.append(read_idx(images_path, (n, SIDE, SIDE)))
        labels.append(read_idx(labels_path, (n,)))
        if labels[-1].max() > 9:
            raise DatasetCorrupted(f"{labels_path} must hold the digits 0 to 9")
    return np.concatenate(images), np.concatenate(labels).astype(np.int64)


def read_idx(path, shape):
    """Read a file of the IDX format: a magic number, the sizes, then one byte for each value.

    path: possibly compressed (.gz); shape: the sizes that the file must have.
    """
    with open_content(path) as stream:
        content = stream.read()
    # 0x08 stands for unsigned bytes: 2049 in front of labels, 2051 in front of images.
    expected = np.array([0x0800 + len(shape), *shape])
    n_header = 4 * len(expected)
    found = np.frombuffer(content[:n_header].ljust(n_header, b"\0"), ">u4")
    if not np.array_equal(found, expected):
        raise DatasetCorrupted(
            f"{path} must start with the numbers {expected.tolist()} of an IDX file (kind, then "
            f"sizes); found {found.tolist()}"
        )
    if len(content) - n_header != np.prod(shape):
        raise DatasetCorrupted(
            f"{path} must hold {np.prod(shape)} bytes after its header; found "
            f"{len(content) - n_header}"
        )
    return np.frombuffer(content, np.uint8, offset=n_header).reshape(shape)


def _check_shift(overlap, shift):
    """Return the number of pixels by which the windows are moved."""
    if not isinstance(overlap, bool | np.bool_):
        raise ValueError(f"overlap must be True or False, got {overlap!r}.")
    if not overlap:
        if shift is not None:
            raise ValueError(f"shift is for overlap=True only, got {shift!r}.")
        return 0
    if shift is None:
        return DEFAULT_SHIFT
    return int(check_number(shift, "shift", low=1, high=(SIDE - WINDOW) // 2, integer=True))
