"""Flower17: splits, the recomputed stand-in, and Oxford's file format."""

import numpy as np
import pytest
from scipy.io import savemat

from mvref.datasets import DatasetCorrupted, DatasetUnavailable, fetch_flower17
from mvref.datasets import _flower17 as flower_module
from mvref.datasets._lookup import locate

VIEWS = ["colourgc", "shapegc", "texturegc", "hog", "hsv", "siftint", "siftbdy"]


@pytest.fixture
def stand_in(flower17):
    if not flower17.meta["recomputed"]:
        pytest.skip("about the recomputed distances; Oxford's are here")
    return flower17


def write_originals(folder, n, kind=np.float64, **changes):
    """Write Oxford's two files; matrix v holds v off its diagonal, unless `changes` says else."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = {}
    for file, names in flower_module.ORIGINALS.items():
        content = {name: (VIEWS.index(name[2:]) * (1 - np.eye(n))).astype(kind) for name in names}
        content |= {name: value for name, value in changes.items() if name in names}
        paths[file] = folder / file
        kept = {name: value for name, value in content.items() if value is not None}
        savemat(paths[file], kept, do_compression=True)
    return paths


def write_splits(path, seed=0):
    """Write random splits of the right sizes, counted from 1."""
    rng = np.random.default_rng(seed)
    content = {}
    for s in (1, 2, 3):
        order = rng.permutation(1360).astype(np.uint16) + 1
        parts = {"trn": order[:680], "val": order[680:1020], "tst": order[1020:]}
        content |= {f"{part}{s}": images[None] for part, images in parts.items()}
    savemat(path, content)
    return content


def test_official_splits(flower17):
    assert flower17.view_names == VIEWS and flower17.X.shape == (1360, 7 * 1360)
    np.testing.assert_array_equal(flower17.y, np.repeat(np.arange(17), 80))
    assert len(flower17.splits) == 3
    for split in flower17.splits:
        np.testing.assert_array_equal(np.sort(np.concatenate(split)), np.arange(1360))
        for part, per_class in zip(split, (40, 20, 20), strict=True):
            np.testing.assert_array_equal(np.bincount(flower17.y[part]), [per_class] * 17)


def test_stand_in_is_labelled_and_holds_distances(stand_in):
    assert stand_in.name == "flower17 (recomputed distances)"
    assert "recomputed" in repr(stand_in)
    assert "RECOMPUTED" in stand_in.DESCR.splitlines()[0]
    assert "near-duplicates" in stand_in.DESCR
    for D in stand_in.X.views:
        np.testing.assert_array_equal(D, D.T)
        np.testing.assert_array_equal(np.diag(D), 0)
        assert 0 <= D.min() and 0.1 < D.max() <= 1


def test_stand_in_follows_from_its_histograms(stand_in):
    """The stored distances are the chi-square distances of the stored histograms."""
    path = locate("flower17", flower_module.RECOMPUTED)
    rows = [0, 5, 700, 1359]
    with np.load(path) as stored:
        np.testing.assert_array_equal(stored["y"], stand_in.y)
        for view, D in zip(VIEWS, stand_in.X.views, strict=True):
            if view == "hog":  # stored in half precision: a test of its own digits only
                continue
            p = stored[f"H_{view}"][rows].astype(float)
            p /= p.sum(axis=1, keepdims=True)
            total = p[:, None] + p[None]
            terms = np.divide((p[:, None] - p[None]) ** 2, total, where=total > 0, out=0 * total)
            np.testing.assert_allclose(D[np.ix_(rows, rows)], terms.sum(axis=2) / 2, atol=1e-5)


def test_near_duplicates_are_of_one_class(stand_in):
    i, j = np.nonzero(np.triu(np.max(stand_in.X.views, axis=0) < 0.02, 1))
    assert len(i) == 30 and (stand_in.y[i] == stand_in.y[j]).all()


def test_distances_tell_the_classes_apart(flower17):
    """Nearest training photograph, averaged over the views: far above guessing (1/17)."""
    train, _, test = flower17.splits[0]
    D = np.mean([D / D.mean() for D in flower17.X.views], axis=0)
    nearest = train[D[np.ix_(test, train)].argmin(axis=1)]
    assert np.mean(flower17.y[nearest] == flower17.y[test]) > 0.5


def test_reads_oxfords_format(tmp_path):
    distances = flower_module.read_originals(write_originals(tmp_path, 6))
    assert list(distances) == VIEWS
    for v, D in enumerate(distances.values()):
        np.testing.assert_array_equal(D, v * (1 - np.eye(6)))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"D_hog": None}, "itfeat08.mat has no variable D_hog"),
        ({"D_hsv": np.zeros((6, 5))}, "D_hsv must be a 6 x 6 matrix .* shape \\(6, 5\\)"),
        ({"D_siftint": np.full((6, 6), np.nan)}, "D_siftint must be .* finite numbers"),
    ],
)
def test_bad_matrices_are_a_sentence(tmp_path, changes, message):
    paths = write_originals(tmp_path, 6, **changes)
    with pytest.raises(DatasetCorrupted, match=message):
        flower_module.read_originals(paths)


def test_damaged_matlab_file(tmp_path):
    path = write_originals(tmp_path, 6)["distancematrices17itfeat08.mat"]
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(DatasetCorrupted, match="itfeat08.mat cannot be read as a MATLAB file"):
        flower_module.read_originals({file: tmp_path / file for file in flower_module.ORIGINALS})


def test_splits_count_from_zero(tmp_path):
    content = write_splits(tmp_path / "datasplits.mat")
    splits = flower_module.read_splits(tmp_path / "datasplits.mat")
    for s, split in enumerate(splits, start=1):
        for part, indices in zip(("trn", "val", "tst"), split, strict=True):
            np.testing.assert_array_equal(indices, np.sort(content[f"{part}{s}"][0]) - 1)


def test_splits_must_be_partitions(tmp_path):
    path = tmp_path / "datasplits.mat"
    content = write_splits(path)
    content["tst2"] = content["val2"]
    savemat(path, content)
    with pytest.raises(DatasetCorrupted, match="'tst2'\\] do not part the images"):
        flower_module.read_splits(path)
    del content["tst2"]
    savemat(path, content)
    with pytest.raises(DatasetCorrupted, match="does not have all of"):
        flower_module.read_splits(path)


def test_originals_are_preferred_and_splits_downloaded(folders, put, register, web, tmp_path):
    data, cache = folders
    write_originals(data / "flower17", 1360, kind=np.uint8)
    put(data / "flower17" / flower_module.RECOMPUTED, b"must not even be opened")
    write_splits(tmp_path / "datasplits.mat")
    content = (tmp_path / "datasplits.mat").read_bytes()
    register("flower17", "datasplits.mat", content, web.offer("/datasplits.mat", content))
    flower17 = fetch_flower17()
    assert flower17.meta["recomputed"] is False
    assert flower17.name == "flower17"
    assert "RECOMPUTED" not in flower17.DESCR and "Oxford's distances" in flower17.DESCR
    assert flower17.X.shape == (1360, 7 * 1360)
    assert [D[0, 1] for D in flower17.X.views] == list(range(7))
    assert (cache / "flower17" / "datasplits.mat").read_bytes() == content


def test_half_of_the_originals_is_not_replaced_silently(folders, put):
    data, _ = folders
    paths = write_originals(data / "flower17", 6)
    paths["distancematrices17gcfeat06.mat"].unlink()
    put(data / "flower17" / flower_module.RECOMPUTED, b"must not even be opened")
    with pytest.raises(DatasetUnavailable, match="distancematrices17gcfeat06.mat is missing"):
        fetch_flower17()


def test_originals_of_another_size(folders, register, tmp_path):
    data, _ = folders
    write_originals(data / "flower17", 6)
    write_splits(data / "flower17" / "datasplits.mat")
    content = (data / "flower17" / "datasplits.mat").read_bytes()
    register("flower17", "datasplits.mat", content, None)
    with pytest.raises(DatasetCorrupted, match="must have 1360 images, found 6"):
        fetch_flower17()
