"""Flower17: seven distance matrices between 1360 photographs of 17 kinds of flower."""

import numpy as np
from scipy.io import loadmat

from ..core.views import MultiView
from ._base import MultiViewDataset
from ._lookup import DatasetCorrupted, fetch, find, unavailable
from ._sources import checksums, describe

N_IMAGES, N_PER_CLASS = 1360, 80
ORIGINALS = {  # file -> its distance matrices
    "distancematrices17gcfeat06.mat": ("D_colourgc", "D_shapegc", "D_texturegc"),
    "distancematrices17itfeat08.mat": ("D_hog", "D_hsv", "D_siftint", "D_siftbdy"),
}
VIEWS = [name.removeprefix("D_") for names in ORIGINALS.values() for name in names]
RECOMPUTED, SPLITS = "flower17_7views_recomputed.npz", "datasplits.mat"
FORMS = ([*ORIGINALS, SPLITS], [RECOMPUTED, SPLITS])
FLOWERS = (
    "daffodil, snowdrop, lily of the valley, bluebell, crocus, iris, tiger lily, tulip, "
    "fritillary, sunflower, daisy, colt's foot, dandelion, cowslip, buttercup, windflower, pansy"
).split(", ")


def fetch_flower17():
    """Load seven matrices of distances between flower photographs, one per descriptor.

    Oxford's original matrices are used if ``$MVREF_DATA/flower17`` (or the cache) has them:
    ``distancematrices17gcfeat06.mat`` and ``distancematrices17itfeat08.mat``. Otherwise the
    stand-in ``flower17_7views_recomputed.npz`` is used: the same photographs in the same order,
    with descriptors computed anew. Its numbers are not Oxford's, and ``name``, ``DESCR`` and
    ``meta["recomputed"]`` say so. The official splits (``datasplits.mat``, 7 kB) are downloaded
    if they are missing.

    Returns
    -------
    dataset : MultiViewDataset
        View v of sample i is its distance to all 1360 photographs, so that every view is
        1360 x 1360. `y` in 0..16. Three official splits of 680, 340 and 340 photographs.

    Raises
    ------
    DatasetUnavailable
        If there are no matrices, only one of the two original files, or no way to get the splits.
    DatasetCorrupted
        If a file is not the known one, or does not hold such matrices.

    Examples
    --------
    >>> from mvref.datasets import available, fetch_flower17
    >>> if "flower17" in available():
    ...     assert fetch_flower17().X.shape == (1360, 7 * 1360)
    """
    originals = {file: find("flower17", file) for file in ORIGINALS}
    missing = [file for file, path in originals.items() if path is None]
    if not missing:
        distances, files = read_originals(originals), list(originals)
    elif len(missing) == 1:
        raise unavailable("flower17", f"of Oxford's two files, {missing[0]} is missing")
    else:
        recomputed = find("flower17", RECOMPUTED)
        if recomputed is None:
            raise unavailable("flower17", "there are no distance matrices")
        distances, files = read_recomputed(recomputed), [RECOMPUTED]
    splits = read_splits(fetch("flower17", SPLITS))
    files, recomputed = [*files, SPLITS], bool(missing)
    X = MultiView(distances)
    if X.n_samples != N_IMAGES:
        raise DatasetCorrupted(f"flower17 must have {N_IMAGES} images, found {X.n_samples}")
    source = "flower17_recomputed" if recomputed else "flower17"
    return MultiViewDataset(
        "flower17 (recomputed distances)" if recomputed else "flower17",
        X,
        np.arange(N_IMAGES) // N_PER_CLASS,
        target_names=list(FLOWERS),
        DESCR=describe(source, X, checksums("flower17", files), read=", ".join(files)),
        splits=splits,
        meta={"recomputed": recomputed},
    )


def read_originals(paths):
    """Read Oxford's .mat files of distances; the names of `paths` are those of `ORIGINALS`."""
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


def read_recomputed(path):
    """Read the recomputed stand-in, which stores the strict upper triangles as whole numbers."""
    upper = np.triu_indices(N_IMAGES, 1)
    distances = {}
    with np.load(path) as stored:
        for view in VIEWS:
            D = np.zeros((N_IMAGES, N_IMAGES))
            D[upper] = stored[f"D_{view}"] / 65535.0
            distances[view] = D + D.T
    return distances


def read_splits(path):
    """Read the official splits and count from 0."""
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
