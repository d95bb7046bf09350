"""PASCAL VOC'07 from small files of the documented format; the real ones if they are here."""

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy import sparse

from mvref.datasets import DatasetCorrupted, DatasetUnavailable, available, fetch_voc07
from mvref.datasets import _voc07 as voc07_module
from mvref.datasets._sources import SOURCES

N = {"train": 6, "test": 5}  # images of the small collection
WIDTHS = {"DenseSift": 4, "HarrisSift": 3, "tags": 7}


def hvecs(table):
    """Write a table by the description of the format, number by number."""
    return b"".join(
        struct.pack("<H", len(row)) + b"".join(struct.pack("<H", value) for value in row)
        for row in np.asarray(table).tolist()
    )


def as_text(table, separator=" "):
    return "".join(f"{separator.join(map(str, row))}\n" for row in table.tolist()).encode()


@pytest.fixture
def tables(monkeypatch):
    """Tables of a small collection, whose sizes the loader then expects."""
    monkeypatch.setattr(voc07_module, "N_IMAGES", N)
    rng = np.random.default_rng(0)
    found = {
        (part, name): rng.integers(0, 2 if name == "tags" else 300, (n, width))
        for part, n in N.items()
        for name, width in WIDTHS.items()
    }
    return found | {(part, "annot"): rng.integers(0, 2, (n, 20)) for part, n in N.items()}


@pytest.fixture
def write(folders, put):
    """Return a function that writes one file of the collection."""

    def write_file(name, content, compressed=False):
        path = folders[0] / "pascal-voc07" / f"{name}{'.gz' if compressed else ''}"
        return put(path, content)

    return write_file


@pytest.fixture
def small(tables, write):
    """Write the collection and return its tables."""
    for (part, name), table in tables.items():
        write(f"pascal07_{part}_{name}.hvecs", hvecs(table))
    return tables


def both(tables, name):
    return np.concatenate([tables["train", name], tables["test", name]])


@pytest.mark.parametrize("descriptor", ["DenseSift", "HarrisSift"])
def test_reads_views_and_classes(folders, small, descriptor):
    assert available()["voc07"] == str(folders[0] / "pascal-voc07")
    voc = fetch_voc07(descriptor)
    assert voc.view_names == ["visual", "tags"] and descriptor in voc.name
    visual, tags = voc.X.views
    np.testing.assert_array_equal(visual, both(small, descriptor))
    assert sparse.issparse(tags) and tags.format == "csr"
    np.testing.assert_array_equal(tags.toarray(), both(small, "tags"))
    np.testing.assert_array_equal(voc.y, both(small, "annot"))
    assert voc.y.dtype.kind == "i" and voc.X.observed.all()
    ((train, validation, test),) = voc.splits
    np.testing.assert_array_equal(train, np.arange(6))
    np.testing.assert_array_equal(test, np.arange(6, 11))
    assert validation.shape == (0,)
    assert voc.target_names == [f"class {k}" for k in range(1, 21)]
    words = " ".join(voc.DESCR.split())
    for part in ("Guillaumin", "Everingham", "indicator matrix", "no data file", descriptor):
        assert part in words


def test_default_is_dense_and_files_may_be_compressed(tables, write):
    for (part, name), table in tables.items():
        write(f"pascal07_{part}_{name}.hvecs", hvecs(table), compressed=True)
    voc = fetch_voc07()
    np.testing.assert_array_equal(voc.X.views[0], both(tables, "DenseSift"))
    np.testing.assert_array_equal(voc.y, both(tables, "annot"))
    assert "**our choice**" in fetch_voc07.__doc__


@pytest.mark.parametrize("separator", [" ", "\t", ",", ", "])
def test_classes_as_text(small, write, separator):
    """The text file comes before annot, which in a sister set is something else."""
    labels = {part: 1 - small[part, "annot"] for part in N}
    for part, table in labels.items():
        write(f"pascal07_{part}_classes.txt", as_text(table, separator))
    np.testing.assert_array_equal(fetch_voc07().y, both({(p, 0): t for p, t in labels.items()}, 0))


def test_values_of_the_challenge(small, write):
    """-1: not shown, 0: only objects that are hard to see, 1: shown."""
    rng = np.random.default_rng(1)
    for part, n in N.items():
        write(f"pascal07_{part}_classes.txt", as_text(labels := rng.integers(-1, 2, (n, 20))))
        small[part, "challenge"] = labels
    np.testing.assert_array_equal(fetch_voc07().y, both(small, "challenge") == 1)


def test_names_of_the_classes(small, write):
    names = [f"thing{k}" for k in range(20)]
    write("pascal07_classes.txt", "\r\n".join([*names, ""]).encode())
    assert fetch_voc07().target_names == names
    for wrong in (names[:19], [*names[:19], names[0]]):
        write("pascal07_classes.txt", "\n".join(wrong).encode())
        message = f"must have 20 different names, .* found {len(wrong)}"
        with pytest.raises(DatasetCorrupted, match=message):
            fetch_voc07()


@pytest.mark.parametrize(
    "missing",
    [f"pascal07_{part}_{name}.hvecs" for part in N for name in ("DenseSift", "tags", "annot")],
)
def test_missing_file_is_a_sentence(folders, small, missing):
    (folders[0] / "pascal-voc07" / missing).unlink()
    assert "voc07" not in available()
    with pytest.raises(DatasetUnavailable) as caught:
        fetch_voc07()
    for part in (missing, SOURCES["voc07"]["address"], str(folders[0] / "pascal-voc07")):
        assert part in str(caught.value)


@pytest.mark.parametrize(
    ("file", "table", "message"),
    [
        (
            "test_DenseSift",
            lambda t: t["test", "DenseSift"][:4],
            "DenseSift.* 5 rows.* found 4",
        ),
        ("test_tags", lambda t: t["test", "tags"][:4], "test_tags.* must have 5 rows.* found 4"),
        ("test_annot", lambda t: t["test", "annot"][:4], "test_annot.* must have 5 rows.* found 4"),
        ("test_tags", lambda t: t["test", "tags"][:, :6], "6 values, but its training part of 7"),
        ("train_annot", lambda t: t["train", "tags"], "20 columns, one for each class; found 7"),
    ],
)
def test_table_of_another_size(small, write, file, table, message):
    write(f"pascal07_{file}.hvecs", hvecs(table(small)))
    with pytest.raises(DatasetCorrupted, match=message):
        fetch_voc07()


# One .hvecs file


@given(arrays(np.uint16, array_shapes(min_dims=2, max_dims=2, max_side=9)))
def test_reads_what_was_written(tmp_path_factory, table):
    path = tmp_path_factory.mktemp("hvecs") / "a.hvecs"
    path.write_bytes(hvecs(table))
    found = voc07_module.read_hvecs(path)
    assert found.dtype == np.uint16
    np.testing.assert_array_equal(found, table)


@given(st.data())
def test_no_truncated_file_is_read(tmp_path_factory, data):
    """Cut anywhere but between two rows."""
    content = hvecs(np.ones((3, 4)).astype(int))
    cut = data.draw(st.integers(0, len(content) - 1).filter(lambda c: c == 0 or c % 10))
    path = tmp_path_factory.mktemp("hvecs") / "a.hvecs"
    path.write_bytes(content[:cut])
    with pytest.raises(DatasetCorrupted, match=r"a\.hvecs must be rows of 1 \+"):
        voc07_module.read_hvecs(path)


def test_the_real_files(need):
    need("voc07")
    voc = fetch_voc07()
    assert voc.X.n_samples == 9963 and voc.y.shape == (9963, 20)
    assert (voc.y.sum(axis=0) > 0).all()
