"""Digits and irises of scikit-learn, split into views or described by several views."""

import numpy as np
from sklearn.datasets import load_digits, load_iris

from ..core.input import Literal, MultiView, check_choice, check_number
from ._base import MultiViewDataset
from ._sources import describe

SIDE = 8  # side of the digit images in pixels


def load_digits_views(
    kind: Literal["quarters", "derived"] = "quarters", *, overlap: int = 0
) -> MultiViewDataset:
    """Load 1797 handwritten digits of 8 x 8 pixels in several views.

    Parameters
    ----------
    kind : {"quarters", "derived"}
        "quarters": ``top_left, top_right, bottom_left, bottom_right``, pixels row by row.
        "derived": four descriptions of the whole image, see Notes.
    overlap : int, 0 to 4
        Only for quarters: number of pixels by which each grows towards and beyond the centre, in
        both directions, to (4 + overlap) x (4 + overlap). At 4, every view is the whole image.

    Returns
    -------
    dataset : MultiViewDataset
        `y` in 0..9. ``meta["image_shape"]`` is (8, 8); for quarters ``meta["regions"]`` is the
        list of the views' (rows, columns) slices.

    See Also
    --------
    load_mfeat : Digits in six views.

    Notes
    -----
    The derived views, each a function of the 64 grey values:

    - ``pixels`` (64): the image, row by row.
    - ``profiles`` (16): the 8 row sums, then the 8 column sums.
    - ``fourier`` (25): magnitudes of the two-dimensional Fourier transform at the frequencies
      (u, v) with abs(u), abs(v) <= 3, one of each pair of opposite ones; a shift of the digit
      hardly changes them.
    - ``gradients`` (32): for each quarter a histogram of the gradient's direction in 8 sectors
      centred on the multiples of 45 degrees, weighted by the gradient's length.

    Examples
    --------
    >>> from mvref.datasets import load_digits_views
    >>> load_digits_views(overlap=1).X
    MultiView(1797 samples, top_left: 25, top_right: 25, bottom_left: 25, bottom_right: 25)
    >>> load_digits_views("derived").X
    MultiView(1797 samples, pixels: 64, profiles: 16, fourier: 25, gradients: 32)
    """
    check_choice(kind, "kind", ("quarters", "derived"))
    check_number(overlap, "overlap", low=0, high=SIDE // 2, integer=True)
    if kind == "derived" and overlap:
        raise ValueError(f'overlap needs kind="quarters", got overlap={overlap!r} with "derived".')
    digits = load_digits()
    meta = {"image_shape": (SIDE, SIDE)}
    if kind == "derived":
        source, views = "digits_derived", derived_views(digits.images)
    else:
        regions = corner_windows(SIDE, SIDE // 2 + overlap)
        source, views = "digits", cut(digits.images, regions)
        meta["regions"] = list(regions.values())  # type: ignore[assignment]
    X = MultiView(views)
    text = describe(source, X, kind=kind, overlap=overlap)
    return MultiViewDataset("digits", X, digits.target, list("0123456789"), text, meta=meta)


def corner_windows(side, window, shift=0):
    """Return view name -> (rows, columns) slices of square windows near the corners of an image.

    side, window: pixels; shift: pixels by which each window is moved towards the centre.
    """
    first, last = slice(shift, shift + window), slice(side - window - shift, side - shift)
    return {
        "top_left": (first, first),
        "top_right": (first, last),
        "bottom_left": (last, first),
        "bottom_right": (last, last),
    }


def cut(images, regions):
    """Return view name -> the pixels of its region, row by row (n_samples, n_pixels)."""
    # astype copies each window once, straight into the rows that MultiView keeps.
    n = len(images)
    return {name: images[:, *r].astype(np.float64).reshape(n, -1) for name, r in regions.items()}


def derived_views(images):
    """Return the views pixels, profiles, fourier and gradients of images (n_samples, 8, 8)."""
    return {
        "pixels": images.reshape(len(images), -1),
        "profiles": np.hstack([images.sum(axis=2), images.sum(axis=1)]),
        "fourier": fourier_magnitudes(images),
        "gradients": gradient_histograms(images),
    }


def fourier_magnitudes(images, highest=3):
    """Return the magnitudes of low Fourier coefficients, (n_samples, 2 highest (highest + 1) + 1).

    They are equal at (u, v) and (-u, -v), so that half of the frequencies, each below side / 2,
    suffice. images: (n_samples, side, side).
    """
    u, v = np.meshgrid(np.arange(-highest, highest + 1), np.arange(highest + 1), indexing="ij")
    half_plane = (v > 0) | (u >= 0)
    return np.abs(np.fft.fft2(images))[:, u[half_plane], v[half_plane]]


def gradient_histograms(images, n_sectors=8):
    """Return the histogram of gradient directions of each quarter, (n, 4 n_sectors)."""
    down, right = np.gradient(images, axis=(1, 2))
    # Sectors are centred on 0, 45, ... degrees: their borders have irrational slopes, which
    # gradients of integer grey values cannot have, so that rounding cannot change a sector.
    turns = np.arctan2(down, right) / (2 * np.pi)
    sector = np.rint(turns * n_sectors).astype(int) % n_sectors
    length = np.hypot(down, right)
    weights = [np.where(sector == s, length, 0.0) for s in range(n_sectors)]
    quarters = corner_windows(SIDE, SIDE // 2).values()
    sums = [weight[:, *region].sum(axis=(1, 2)) for region in quarters for weight in weights]
    return np.stack(sums, axis=1)


def load_iris_views() -> MultiViewDataset:
    """Load Fisher's 150 irises in two views: length and width of sepal and petal in cm.

    Returns
    -------
    dataset : MultiViewDataset, `y` in 0..2 for setosa, versicolor, virginica

    Examples
    --------
    >>> from mvref.datasets import load_iris_views
    >>> load_iris_views().X
    MultiView(150 samples, sepal: 2, petal: 2)
    """
    iris = load_iris()
    X = MultiView({"sepal": iris.data[:, :2], "petal": iris.data[:, 2:]})
    return MultiViewDataset("iris", X, iris.target, iris.target_names.tolist(), describe("iris", X))
