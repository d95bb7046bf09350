"""MNIST: 70 000 handwritten digits in four windows of 14 x 14 pixels."""

import numpy as np

from ..core.input import MultiView, check_number
from ._base import MultiViewDataset, split_after
from ._embedded import corner_windows, cut
from ._lookup import DatasetCorrupted, fetch, read_of
from ._sources import checksums, describe

N_IMAGES = {"train": 60_000, "t10k": 10_000}  # LeCun's training and test set
SIDE, WINDOW = 28, 14  # pixels
DEFAULT_SHIFT = 3
PARTS = {part: (f"{part}-images-idx3-ubyte", f"{part}-labels-idx1-ubyte") for part in N_IMAGES}


def fetch_mnist_views(overlap: bool = False, shift: int | None = None) -> MultiViewDataset:
    """Fetch MNIST in four views: the quarters of the image, or four overlapping windows.

    Goyal et al. (2018) call the quarters MNIST1 and the overlapping windows MNIST2. The original
    files are looked for in ``$MVREF_DATA/mnist`` and in the cache, then downloaded (12 MB).

    Parameters
    ----------
    overlap : bool
        False: the quarters, which share no pixel. True: windows of the same size, moved towards
        the centre.
    shift : int, 1 to 7, optional
        With ``overlap=True``: number of pixels by which each window is moved, in both directions;
        at 7 all four are the same. Default: 3, **our choice**, as the paper does not state the
        overlap.

    Returns
    -------
    dataset : MultiViewDataset
        Views ``top_left, top_right, bottom_left, bottom_right`` of 196 grey values from 0 to 255,
        row by row, as float64 (439 MB together); `y` in 0..9. ``splits[0]`` is LeCun's (60 000
        training, no validation, 10 000 test), in the order of the rows; the papers split at random.
        `meta` has ``image_shape`` (28, 28), ``regions``, the list of the views' (rows, columns)
        slices, and ``shift`` (0 for the quarters).

    Raises
    ------
    DatasetUnavailable, DatasetCorrupted
        If a file is missing and cannot be downloaded, or is not the original one.

    Examples
    --------
    >>> from mvref.datasets import available, fetch_mnist_views
    >>> if "mnist" in available():
    ...     assert fetch_mnist_views(overlap=True).X.shape == (70000, 4 * 196)
    """
    if not isinstance(overlap, bool | np.bool_):
        raise ValueError(f"overlap must be True or False, got {overlap!r}.")
    if shift is not None and not overlap:
        raise ValueError(f"shift needs overlap=True, got shift={shift!r}.")
    name, source, pixels = "mnist1", "mnist1", 0
    if overlap:
        pixels = DEFAULT_SHIFT if shift is None else shift
        pixels = int(check_number(pixels, "shift", low=1, high=(SIDE - WINDOW) // 2, integer=True))
        name, source = f"mnist2 (windows moved by {pixels})", "mnist2"
    paths = {part: [fetch("mnist", file) for file in files] for part, files in PARTS.items()}
    images, y = read_parts(paths)
    regions = window_regions(pixels)
    X = MultiView(cut(images, regions))
    text = describe(source, X, checksums("mnist", sum(PARTS.values(), ())), shift=pixels)
    splits = [split_after(N_IMAGES["train"], len(y))]
    meta = {"image_shape": (SIDE, SIDE), "regions": list(regions.values()), "shift": pixels}
    return MultiViewDataset(name, X, y, list("0123456789"), text, splits, meta)


def window_regions(shift):
    """Return the four windows, the quarters moved by `shift` pixels towards the centre."""
    return corner_windows(SIDE, WINDOW, shift)


def read_parts(paths):
    """Read images (n_samples, 28, 28) and y (n_samples,), the training set first.

    paths: part -> its two files.
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
    """Read an IDX file: a magic number, the sizes `shape`, then one byte per value."""
    content = read_of("mnist", path)
    # 0x08 means unsigned bytes: the number is 2049 for labels and 2051 for images.
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
