"""Multiple Features (UCI): 2000 handwritten digits in six views, embedded and original.

The embedded file stores numbers of at most five significant digits exactly. They are packed so:

1. A number becomes an integer *code*. Views fac and pix are integers already. In the others,
   ``c = m 10**-k`` with five-digit m is coded by its rank among all such numbers, with the sign
   of c: codes grow with c, step by step, so that a column of them is as regular as the numbers.
2. A column may be stored as the difference from one earlier column (its *parent*), where that
   has less entropy.
3. The smallest number of a column is subtracted, and the three bytes of the rest go to three
   planes: high bytes compress well, low bytes are noise. Each plane is one xz stream.

`tests/datasets/build_mfeat.py` writes the file, :func:`unpack` reads it.
"""

import hashlib
import lzma
from importlib.resources import files

import numpy as np

from ..core.input import MultiView
from ._base import MultiViewDataset
from ._lookup import DatasetCorrupted, fetch
from ._sources import checksums, describe

N_SAMPLES = 2000
# view: number of columns, holds decimals, is stored row by row (good for images)
LAYOUT = {
    "fac": (216, False, False),
    "fou": (76, True, False),
    "kar": (64, True, False),
    "mor": (6, True, False),
    "pix": (240, False, True),
    "zer": (47, True, True),
}
MAX_DECIMALS = 9  # the smallest numbers are 10000 * 10**-9

# file in the package -> sha256
EMBEDDED = {"mfeat.xz": "0306b0b11e03ac08f38444209c561ce393b518c4f7f586cb88c12bcacd368080"}


def load_mfeat() -> MultiViewDataset:
    """Load mfeat: 2000 handwritten digits in six views, without download.

    Non-integers are rounded to five significant digits (three values of kar, below 1e-4, to three);
    :func:`fetch_mfeat` has all digits.

    Returns
    -------
    dataset : MultiViewDataset
        Views fac (216), fou (76), kar (64), mor (6), pix (240), zer (47); `y` in 0..9.

    Raises
    ------
    DatasetCorrupted
        If the file in the package was changed.

    See Also
    --------
    fetch_mfeat : The original files.

    Examples
    --------
    >>> from mvref.datasets import load_mfeat
    >>> mfeat = load_mfeat()
    >>> mfeat.X
    MultiView(2000 samples, fac: 216, fou: 76, kar: 64, mor: 6, pix: 240, zer: 47)
    >>> mfeat.X.views[1][0, :3]
    array([0.065882, 0.19731 , 0.10383 ])
    """
    packed = (files("mvref.datasets") / "data" / "mfeat.xz").read_bytes()
    found = hashlib.sha256(packed).hexdigest()
    if found != EMBEDDED["mfeat.xz"]:
        raise DatasetCorrupted(
            f"mfeat.xz in the package was changed: expected sha256 "
            f"{EMBEDDED['mfeat.xz']}, found {found}. Install mvref again"
        )
    return _dataset("mfeat", unpack(packed), "mfeat_embedded", EMBEDDED)


def fetch_mfeat() -> MultiViewDataset:
    """Fetch the original Multiple Features files of the UCI repository.

    The files are looked for in ``$MVREF_DATA/mfeat`` and in the cache, then downloaded.

    Returns
    -------
    dataset : MultiViewDataset, as :func:`load_mfeat`, with all digits

    Raises
    ------
    DatasetUnavailable, DatasetCorrupted
        If a file is missing and cannot be downloaded, or is not the original one.

    See Also
    --------
    load_mfeat : The rounded copy in the package.

    Examples
    --------
    >>> from mvref.datasets import available, fetch_mfeat
    >>> if "mfeat_original" in available():
    ...     assert fetch_mfeat().X.shape == (2000, 649)
    """
    names = {view: f"mfeat-{view}" for view in LAYOUT}
    arrays = {view: np.loadtxt(fetch("mfeat", file), ndmin=2) for view, file in names.items()}
    return _dataset("mfeat (UCI originals)", arrays, "mfeat", checksums("mfeat", names.values()))


def _dataset(name, arrays, source, sha256):
    X = MultiView(arrays)
    y = np.repeat(np.arange(10), N_SAMPLES // 10)
    text = describe(source, X, sha256)
    return MultiViewDataset(name, X, y, list("0123456789"), text, meta={"image_shape": (16, 15)})


def unpack(packed, n_samples=N_SAMPLES, layout=LAYOUT):
    """Read a packed file: view -> array."""
    stream = memoryview(lzma.decompress(packed))
    arrays = {}
    for view, (n_columns, decimals, by_rows) in layout.items():
        parents, stream = _take(stream, "u1", n_columns)
        offsets, stream = _take(stream, "<i4", n_columns)
        planes, stream = _take(stream, "u1", 3 * n_samples * n_columns)
        low, middle, high = planes.reshape(3, -1).astype(np.int64)
        codes = low + 256 * middle + 65536 * high
        codes = codes.reshape(n_samples, -1) if by_rows else codes.reshape(-1, n_samples).T
        codes = codes + offsets.astype(np.int64)
        for column, parent in enumerate(parents):
            if parent != column:  # a column is its own parent if it is stored as it is
                codes[:, column] += codes[:, parent]
        arrays[view] = decimals_from_codes(codes) if decimals else codes.astype(np.float64)
    return arrays


def decimals_from_codes(codes):
    """Turn signed ranks of five-digit decimals, 90001 for 1.0000e-4, into the nearest float64."""
    codes = np.asarray(codes)
    decade, position = np.divmod(np.abs(codes) - 1, 90000)
    signed_mantissa = np.sign(codes) * (10000 + position)  # 0 for code 0
    # Both numbers are exact in float64, so that the division gives the float64 nearest to the
    # decimal number: the same one that reading its text gives.
    return signed_mantissa / 10.0 ** (MAX_DECIMALS - decade)


def _take(stream, dtype, count):
    """Split `count` numbers off the front of a byte stream."""
    size = count * np.dtype(dtype).itemsize
    return np.frombuffer(stream[:size], dtype), stream[size:]
