"""PASCAL VOC'07 from small files of the documented format; the real ones if they are here."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from mvref.datasets import DatasetCorrupted, fetch_voc07
from mvref.datasets import _voc07 as voc07_module
from tests.datasets.small import VOC, as_text, both, hvecs, voc_tables


@pytest.fixture
def tables():
    """What the small files hold, and the descriptor that is not the default."""
    return voc_tables(np.random.default_rng(0))


@pytest.fixture
def write(small):
    """Write the small collection; return a function that writes one file of it anew."""
    folder = small("voc07")
    return lambda name, content: (folder / f"pascal07_{name}").write_bytes(content)


def test_what_it_says_of_itself(write):
    voc = fetch_voc07()
    assert voc.view_names == ["visual", "tags"] and "DenseSift" in voc.name
    assert voc.y.dtype.kind == "i" and voc.X.observed.all()
    words = " ".join(voc.DESCR.split())
    for part in ("Guillaumin", "Everingham", "indicator matrix", "no data file", "DenseSift"):
        assert part in words
    assert "**our choice**" in fetch_voc07.__doc__


def test_other_descriptor(tables, write):
    for part in VOC:
        write(f"{part}_HarrisSift.hvecs", hvecs(tables[part, "HarrisSift"]))
    voc = fetch_voc07("HarrisSift")
    np.testing.assert_array_equal(voc.X.views[0], both(tables, "HarrisSift"))
    assert "HarrisSift" in voc.name and "HarrisSift" in voc.DESCR


@pytest.mark.parametrize("separator", [" ", "\t", ",", ", "])
def test_classes_as_text(write, separator):
    """The text file comes before annot, which in a sister set is something else.

    As in the challenge, -1 is not shown, 0 only objects that are hard to see, and 1 shown.
    """
    rng = np.random.default_rng(1)
    labels = {(part, "text"): rng.integers(-1, 2, (n, 20)) for part, n in VOC.items()}
    for (part, _), table in labels.items():
        write(f"{part}_classes.txt", as_text(table, separator))
    np.testing.assert_array_equal(fetch_voc07().y, both(labels, "text") == 1)


def test_names_of_the_classes(write):
    names = [f"thing{k}" for k in range(20)]
    write("classes.txt", "\r\n".join([*names, ""]).encode())
    assert fetch_voc07().target_names == names
    for wrong in (names[:19], [*names[:19], names[0]]):
        write("classes.txt", "\n".join(wrong).encode())
        message = f"must have 20 different names, .* found {len(wrong)}"
        with pytest.raises(DatasetCorrupted, match=message):
            fetch_voc07()


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("test_DenseSift", np.ones((4, 4)), "DenseSift.* 5 rows.* found 4"),
        ("test_tags", np.ones((4, 7)), "test_tags.* must have 5 rows.* found 4"),
        ("test_annot", np.ones((4, 20)), "test_annot.* must have 5 rows.* found 4"),
        ("test_tags", np.ones((5, 6)), "6 values, but its training part of 7"),
        ("train_annot", np.ones((6, 7)), "20 columns, one for each class; found 7"),
    ],
)
def test_table_of_another_size(write, file, content, message):
    write(f"{file}.hvecs", hvecs(content.astype(int)))
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


@pytest.mark.data("voc07")
def test_the_real_files():
    voc = fetch_voc07()
    assert voc.X.n_samples == 9963 and voc.y.shape == (9963, 20)
    assert (voc.y.sum(axis=0) > 0).all()
