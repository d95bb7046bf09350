"""PASCAL VOC'07: photographs of objects of 20 classes, by visual words and by user tags.

The files are those that Guillaumin, Verbeek and Schmid computed for their paper of 2010:

    pascal07_<part>_<name>.hvecs      part: train or test; name: DenseSift, HarrisSift, tags
    pascal07_<part>_classes.txt       the classes of each image, or else
    pascal07_<part>_annot.hvecs       the same, in the other format
    pascal07_classes.txt              the names of the classes, one on each line; may be absent

An ``.hvecs`` file holds rows of two-byte numbers, the lower byte first. A row starts with the
number of its values, the same for all rows.
"""

import numpy as np
from scipy import sparse

from ..core.input import Literal, MultiView, check_choice
from ._base import MultiViewDataset, split_after
from ._lookup import FORMS, DatasetCorrupted, fetch, locate, locate_all, read_numbers, read_of
from ._sources import describe

N_IMAGES = {"train": 5011, "test": 4952}  # the challenge's training + validation and test set
N_CLASSES = 20
DESCRIPTORS = ("DenseSift", "HarrisSift")
LABEL_FILES = {  # part -> possible names of its file
    part: (f"pascal07_{part}_classes.txt", f"pascal07_{part}_annot.hvecs") for part in N_IMAGES
}
TABLES = [f"pascal07_{part}_{name}.hvecs" for part in N_IMAGES for name in (DESCRIPTORS[0], "tags")]
FORMS["voc07"] = [[*TABLES, *LABEL_FILES.values()]]  # for the default descriptor


def fetch_voc07(descriptor: Literal["DenseSift", "HarrisSift"] = "DenseSift") -> MultiViewDataset:
    """Load PASCAL VOC'07: 9963 photographs with objects of 20 classes, by visual words and tags.

    Nothing is downloaded: put the files ``pascal07_*`` (or their ``.gz``) into the folder
    ``$MVREF_DATA/pascal-voc07`` (or into the cache).

    Parameters
    ----------
    descriptor : {"DenseSift", "HarrisSift"}
        SIFT descriptors behind the visual words: on a dense grid or at Harris interest points. The
        default is **our choice**: Wang et al. (2016) state SIFT, but not which.

    Returns
    -------
    dataset : MultiViewDataset
        Views ``visual``, an array of counts, and ``tags``, a CSR matrix. An image may show several
        classes: `y` is an **indicator matrix** (9963, 20) of 0 and 1, and ``y[:, k]`` is the binary
        problem "class k against the rest". Classes have the names in ``pascal07_classes.txt`` if it
        exists, else "class 1" to "class 20". Rows 0..5010 are the challenge's training and
        validation set, the others its test set: ``splits[0]``, with an empty validation set.

    Raises
    ------
    DatasetUnavailable, DatasetCorrupted
        If a file is missing (the message explains how to obtain it), is not of its format, or if
        there are not 5011 and 4952 images and 20 classes.

    Notes
    -----
    **Not tried on the real files**, of which the authors of mvref had no copy. The format is the
    one that public programs read; the names of the files with the classes are those of sister
    sets by the same authors. An image without a tag is a row of zeros, not a missing view.

    Examples
    --------
    >>> from mvref.datasets import available, fetch_voc07
    >>> if "voc07" in available():
    ...     assert fetch_voc07().y.shape == (9963, 20)
    """
    check_choice(descriptor, "descriptor", DESCRIPTORS)
    tables = {name: _read_parts(name) for name in (descriptor, "tags")}
    paths = locate_all("voc07", LABEL_FILES)
    y = np.concatenate([read_labels(paths[part], n) for part, n in N_IMAGES.items()])
    tags = sparse.csr_matrix(tables["tags"], dtype=np.float64)
    X = MultiView({"visual": tables[descriptor], "tags": tags})
    splits = [split_after(N_IMAGES["train"], len(y))]
    text = describe("voc07", X, descriptor=descriptor)
    return MultiViewDataset(f"voc07 ({descriptor})", X, y, _class_names(), text, splits)


def _read_parts(name):
    """Return the values of the training images, then of the test images."""
    paths = [fetch("voc07", f"pascal07_{part}_{name}.hvecs") for part in N_IMAGES]
    train, test = (_read_table(path, n) for path, n in zip(paths, N_IMAGES.values(), strict=True))
    if test.shape[1] != train.shape[1]:
        raise DatasetCorrupted(
            f"{paths[1]} has rows of {test.shape[1]} values, but its training part of "
            f"{train.shape[1]}"
        )
    return np.concatenate([train, test])


def _read_table(path, n):
    """Read a table with one row per image, n in all, from text or ``.hvecs``."""
    table = read_hvecs(path) if ".hvecs" in path.name else read_numbers("voc07", path)
    if len(table) != n:
        raise DatasetCorrupted(f"{path} must have {n} rows, one for each image; found {len(table)}")
    return table


def read_hvecs(path):
    """Read an ``.hvecs`` file: a table (n_rows, n_columns) of integers below 65536."""
    content = read_of("voc07", path)
    width = int.from_bytes(content[:2], "little")
    n_bytes = 2 * (1 + width)  # per row
    if width == 0 or len(content) % n_bytes:
        raise DatasetCorrupted(
            f"{path} must be rows of 1 + {width} numbers of two bytes, as its first number says; "
            f"found {len(content)} bytes"
        )
    rows = np.frombuffer(content, "<u2").reshape(-1, 1 + width)
    wrong = np.flatnonzero(rows[:, 0] != width)
    if len(wrong):
        raise DatasetCorrupted(
            f"{path}, row {wrong[0] + 1} must start with its length {width}, found "
            f"{rows[wrong[0], 0]}"
        )
    return rows[:, 1:].astype(np.uint16)


def read_labels(path, n_images):
    """Read which of the 20 classes each image shows (n_images, 20).

    Values are 1 for a class that is shown and 0 or -1 for one that is not. (The challenge itself
    writes 0 where only objects that are hard to see are shown, and -1 where there is none.)
    """
    table = _read_table(path, n_images)
    if table.shape[1] != N_CLASSES:
        raise DatasetCorrupted(
            f"{path} must have {N_CLASSES} columns, one for each class; found {table.shape[1]}"
        )
    if not np.isin(table, (-1, 0, 1)).all():
        raise DatasetCorrupted(f"{path} must have the values 0 and 1 (or -1, 0 and 1) only")
    return (table == 1).astype(np.int64)


def _class_names():
    """Return the names of the 20 classes from their file if it exists, else numbers."""
    path = locate("voc07", "pascal07_classes.txt")
    if path is None:
        return [f"class {k}" for k in range(1, N_CLASSES + 1)]
    lines = read_of("voc07", path).decode(errors="replace").splitlines()
    names = [line.strip() for line in lines if line.strip()]
    if len(set(names)) != N_CLASSES or len(names) != N_CLASSES:
        raise DatasetCorrupted(
            f"{path} must have {N_CLASSES} different names, one on each line; found {len(names)}"
        )
    return names
