"""Flower17: seven distance matrices between 1360 photographs of 17 kinds of flower."""

import numpy as np
from scipy.io import loadmat
from scipy.spatial.distance import squareform

from ..core.input import MultiView
from ._base import MultiViewDataset
from ._lookup import FORMS, DatasetCorrupted, fetch, find, unavailable
from ._sources import checksums, describe

N_IMAGES, N_PER_CLASS = 1360, 80
ORIGINALS = {  # file -> its distance matrices
    "distancematrices17gcfeat06.mat": ("D_colourgc", "D_shapegc", "D_texturegc"),
    "distancematrices17itfeat08.mat": ("D_hog", "D_hsv", "D_siftint", "D_siftbdy"),
}
VIEWS = [name.removeprefix("D_") for names in ORIGINALS.values() for name in names]
RECOMPUTED, SPLITS = "flower17_7views_recomputed.npz", "datasplits.mat"
FORMS["flower17"] = [[*ORIGINALS, SPLITS], [RECOMPUTED, SPLITS]]
FLOWERS = (
    "daffodil, snowdrop, lily of the valley, bluebell, crocus, iris, tiger lily, tulip, "
    "fritillary, sunflower, daisy, colt's foot, dandelion, cowslip, buttercup, windflower, pansy"
).split(", ")


def fetch_flower17() -> MultiViewDataset:
    """Load Flower17: seven matrices of distances between flower photographs, one per descriptor.

    Oxford's matrices are used if ``$MVREF_DATA/flower17`` (or the cache) has them:
    ``distancematrices17gcfeat06.mat`` and ``distancematrices17itfeat08.mat``. Otherwise the
    stand-in ``flower17_7views_recomputed.npz`` is used: the same photographs in the same order,
    with recomputed descriptors. Its numbers differ from Oxford's, and ``name``, ``DESCR`` and
    ``meta["recomputed"]`` state so. Official splits (``datasplits.mat``) are downloaded if missing.

    Returns
    -------
    dataset : MultiViewDataset
        View v of sample i is its distance to all 1360 photographs, so that every view is
        1360 x 1360. `y` in 0..16. Three official splits of 680, 340 and 340 photographs.

    Raises
    ------
    DatasetUnavailable, DatasetCorrupted
        If there are no matrices, only one of the two original files, or no way to get the splits;
        if a file is not the known one, or does not contain such matrices.

    Examples
    --------
    >>> from mvref.datasets import available, fetch_flower17
    >>> if "flower17" in available():
    ...     assert fetch_flower17().X.shape == (1360, 7 * 1360)
    """
    paths = {file: find("flower17", file) for file in ORIGINALS}
    missing = [file for file, path in paths.items() if path is None]
    if len(missing) == 1:
        raise unavailable("flower17", f"of Oxford's two files, {missing[0]} is missing")
    if missing:
        name, source = "flower17 (recomputed distances)", "flower17_recomputed"
        read, paths = read_recomputed, {RECOMPUTED: find("flower17", RECOMPUTED)}
    else:
        name, source, read = "flower17", "flower17", read_originals
    if None in paths.values():
        raise unavailable("flower17", "there are no distance matrices")
    X = MultiView(read(paths))
    splits = read_splits(fetch("flower17", SPLITS))
    if X.n_samples != N_IMAGES:
        raise DatasetCorrupted(f"flower17 must have {N_IMAGES} images, found {X.n_samples}")
    y = np.arange(N_IMAGES) // N_PER_CLASS
    files = [*paths, SPLITS]
    text = describe(source, X, checksums("flower17", files), read=", ".join(files))
    return MultiViewDataset(name, X, y, list(FLOWERS), text, splits, {"recomputed": bool(missing)})


def read_originals(paths):
    """Read Oxford's .mat files of distances; `paths` has the keys of `ORIGINALS`."""
    distances = {}
    for file, names in ORIGINALS.items():
        content = _read_mat(paths[file])
        for name in names:
            if name not in content:
                raise DatasetCorrupted(f"{paths[file]} has no variable {name}")
            distances[name.removeprefix("D_")] = np.asarray(content[name], dtype=np.float64)
    n = len(distances[VIEWS[0]])
    for view, D in distances.items():
        if D.shape != (n, n) or not np.isfinite(D).all():
            raise DatasetCorrupted(
                f"D_{view} must be a {n} x {n} matrix of finite numbers, found shape {D.shape}"
            )
    return distances


def read_recomputed(paths):
    """Read the recomputed stand-in, which stores the strict upper triangles as integers."""
    with np.load(paths[RECOMPUTED]) as stored:
        return {view: squareform(stored[f"D_{view}"] / 65535.0, checks=False) for view in VIEWS}


def read_splits(path):
    """Read the official splits, with indices that count from 0."""
    content = _read_mat(path)
    splits = []
    for s in (1, 2, 3):
        names = [f"{part}{s}" for part in ("trn", "val", "tst")]
        if not all(name in content for name in names):
            raise DatasetCorrupted(f"{path} does not have all of {names}")
        split = tuple(np.sort(content[name].ravel().astype(np.int64)) - 1 for name in names)
        if not np.array_equal(np.sort(np.concatenate(split)), np.arange(N_IMAGES)):
            raise DatasetCorrupted(f"{path}: {names} do not part the images 1 to {N_IMAGES}")
        splits.append(split)
    return splits


def _read_mat(path):
    try:
        return loadmat(path)
    except Exception as error:  # scipy raises many kinds on a damaged file
        raise DatasetCorrupted(f"{path} cannot be read as a MATLAB file: {error}") from None
