"""Flower17: splits, the recomputed stand-in, and Oxford's file format."""

import io

import numpy as np
import pytest
from scipy.io import loadmat

from mvref.datasets import DatasetCorrupted, DatasetUnavailable, fetch_flower17
from mvref.datasets import _flower17 as flower_module
from mvref.datasets._lookup import locate
from tests.datasets.small import SMALL, mat

VIEWS = ["colourgc", "shapegc", "texturegc", "hog", "hsv", "siftint", "siftbdy"]


@pytest.fixture
def stand_in(flower17):
    if not flower17.meta["recomputed"]:
        pytest.skip("about the recomputed distances; Oxford's are here")
    return flower17


def test_official_splits(flower17):
    assert flower17.view_names == VIEWS and flower17.X.shape == (1360, 7 * 1360)
    np.testing.assert_array_equal(flower17.y, np.repeat(np.arange(17), 80))
    assert len(flower17.splits) == 3
    for split in flower17.splits:
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
    # near-duplicates are of one class
    i, j = np.nonzero(np.triu(np.max(stand_in.X.views, axis=0) < 0.02, 1))
    assert len(i) == 30 and (stand_in.y[i] == stand_in.y[j]).all()


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


ITFEAT = "distancematrices17itfeat08.mat"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"D_hog": None}, "itfeat08.mat has no variable D_hog"),
        ({"D_hsv": np.zeros((34, 5))}, "D_hsv must be a 34 x 34 matrix .* shape \\(34, 5\\)"),
        ({"D_siftint": np.full((34, 34), np.nan)}, "D_siftint must be .* finite numbers"),
    ],
)
def test_bad_matrices_are_a_sentence(small, changes, message):
    content = dict.fromkeys(flower_module.ORIGINALS[ITFEAT], np.zeros((34, 34))) | changes
    kept = {name: value for name, value in content.items() if value is not None}
    small("flower17", **{ITFEAT: mat(kept)})
    with pytest.raises(DatasetCorrupted, match=message):
        fetch_flower17()


def test_damaged_matlab_file(small):
    small("flower17", **{ITFEAT: SMALL["flower17"].files[ITFEAT][:200]})
    with pytest.raises(DatasetCorrupted, match="itfeat08.mat cannot be read as a MATLAB file"):
        fetch_flower17()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tst2": [[1, 2]]}, "'tst2'\\] do not part the images"),
        ({"tst2": None}, "does not have all of"),
    ],
)
def test_splits_must_be_partitions(small, changes, message):
    content = loadmat(io.BytesIO(SMALL["flower17"].files["datasplits.mat"])) | changes
    kept = {name: value for name, value in content.items() if value is not None and name[0] != "_"}
    small("flower17", **{"datasplits.mat": mat(kept)})
    with pytest.raises(DatasetCorrupted, match=message):
        fetch_flower17()


def test_originals_are_preferred_and_splits_downloaded(small, folders, put, register, web):
    folder, content = small("flower17"), SMALL["flower17"].files["datasplits.mat"]
    put(folder / flower_module.RECOMPUTED, b"must not even be opened")
    (folder / "datasplits.mat").unlink()
    register("flower17", "datasplits.mat", content, web.offer("/datasplits.mat", content))
    flower17 = fetch_flower17()
    assert flower17.name == "flower17"
    assert "RECOMPUTED" not in flower17.DESCR and "Oxford's distances" in flower17.DESCR
    assert (folders[1] / "flower17" / "datasplits.mat").read_bytes() == content
    (folder / ITFEAT).unlink()  # half of the originals is not replaced silently
    with pytest.raises(DatasetUnavailable, match=f"{ITFEAT} is missing"):
        fetch_flower17()


def test_originals_of_another_size(small, monkeypatch):
    small("flower17")
    monkeypatch.setattr(flower_module, "N_IMAGES", 36)
    monkeypatch.setattr(flower_module, "read_splits", lambda path: [])
    with pytest.raises(DatasetCorrupted, match="must have 36 images, found 34"):
        fetch_flower17()
