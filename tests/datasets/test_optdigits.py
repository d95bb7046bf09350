"""Optical digits: the published counts, the two parts, and files that are wrong."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

from mvref.datasets import DatasetCorrupted, available, fetch_optdigits
from mvref.datasets import _optdigits as optdigits_module
from mvref.datasets._lookup import data_folders, locate, open_content
from mvref.datasets._sources import SOURCES

ADDRESS = SOURCES["optdigits"]["address"]


def lines(table):
    return "".join(",".join(map(str, row)) + "\n" for row in table).encode()


@pytest.fixture
def small(monkeypatch, register):
    """A training file of 12 digits, which the loader then expects; its table."""
    table = np.random.default_rng(0).integers(0, 17, (12, 65))
    table[:, -1] = np.arange(12) % 10
    monkeypatch.setattr(optdigits_module, "N_TRAIN", 12)
    register("optdigits", "optdigits.tra", lines(table), None)
    return table


def test_training_part_is_the_file(optdigits):
    with open_content(locate("optdigits", "optdigits.tra")) as stream:
        rows = [list(map(int, line.split(b","))) for line in stream if line.strip()]
    assert optdigits.X.views[0][:3823].tolist() == [row[:64] for row in rows]
    assert optdigits.y[:3823].tolist() == [row[64] for row in rows]
    assert optdigits.meta["image_shape"] == (8, 8)


def test_test_part_is_the_file_of_the_repository(optdigits):
    """scikit-learn's copy has the values and the order of optdigits.tes."""
    path = data_folders("optdigits")[0] / "optdigits.tes"
    if not path.is_file():
        pytest.skip(
            f"there is no optdigits.tes to compare with. Download it from {ADDRESS}/ into the "
            "folder optdigits of the folder that the variable MVREF_DATA names"
        )
    table = np.loadtxt(path, delimiter=",")
    np.testing.assert_array_equal(optdigits.X.views[0][3823:], table[:, :64])
    np.testing.assert_array_equal(optdigits.y[3823:], table[:, 64])


def test_pixels_and_labels_belong_together(optdigits):
    """A neighbour in the training part names 98.0 % of the test digits."""
    train, _, test = optdigits.splits[0]
    pixels = optdigits.X.views[0]
    model = KNeighborsClassifier(1).fit(pixels[train], optdigits.y[train])
    assert model.score(pixels[test], optdigits.y[test]) > 0.975


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_reads_the_format(folders, put, small, suffix):
    put(folders[0] / "optdigits" / f"optdigits.tra{suffix}", lines(small))
    digits = fetch_optdigits()
    np.testing.assert_array_equal(digits.X.views[0][:12], small[:, :64])
    np.testing.assert_array_equal(digits.y[:12], small[:, 64])
    np.testing.assert_array_equal(digits.X.views[0][12:], load_digits().data)
    np.testing.assert_array_equal(digits.y[12:], load_digits().target)
    assert [len(part) for part in digits.splits[0]] == [12, 0, 1797]
    assert available()["optdigits"] == str(folders[0] / "optdigits")


def test_is_downloaded_and_kept(folders, register, web, small):
    register("optdigits", "optdigits.tra", lines(small), web.offer("/tra", lines(small)))
    assert len(fetch_optdigits().y) == len(fetch_optdigits().y) == 12 + 1797
    assert web.asked == ["/tra"]
    assert (folders[1] / "optdigits" / "optdigits.tra").is_file()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t[:-1], r"12 lines of 64 grey values .* shape \(11, 65\)"),
        (lambda t: t[:, 1:], r"shape \(12, 64\)"),
        (lambda t: np.where(t == 16, 17, t), "values from 0 to 17"),
        (lambda t: np.where(t == 1, -1, t), "values from -1 to 16"),
        (lambda t: np.where(t == 1, 1.5, t), "all whole numbers"),
        (lambda t: np.column_stack([t[:, :-1], t[:, -1] + 10]), "values from 0 to"),
    ],
)
def test_wrong_form_is_refused(tmp_path, put, small, change, message):
    path = put(tmp_path / "digits", lines(change(small)))
    with pytest.raises(DatasetCorrupted, match=message):
        optdigits_module.read_digits(path)
