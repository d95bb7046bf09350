"""Multi-view data sets: embedded (``load_*``), fetched (``fetch_*``) or simulated (``make_*``).

All of them return a :class:`MultiViewDataset`, and so does :func:`read_folder`, which joins your
own tables. :func:`kinds` lists which data sets have views of several instruments. Files are looked
for in an installed package that has them, in ``$MVREF_DATA/<name>``, then in the user's cache (or
``$MVREF_CACHE``), and then downloaded if a canonical address with a known sha256 exists. Licence,
citation and sizes of a data set are in its ``DESCR``.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from ._base import MultiViewDataset
from ._citeseer import fetch_citeseer
from ._embedded import load_digits_views, load_iris_views
from ._flower17 import fetch_flower17
from ._generators import make_interactions, make_two_moons_views, unseen_share
from ._instruments import (
    fetch_bdgp,
    fetch_htad,
    fetch_nutrimouse,
    fetch_prokaryotic,
    fetch_shoulder_exercises,
    fetch_tcga,
)
from ._lookup import FORMS, DatasetCorrupted, DatasetUnavailable, folder_of
from ._mfeat import fetch_mfeat, load_mfeat
from ._mnist import fetch_mnist_views
from ._optdigits import fetch_optdigits
from ._reuters import fetch_reuters, folder_of_full, read_reuters_index
from ._sources import kinds
from ._uci import fetch_uci
from ._uwave import fetch_uwave
from ._voc07 import fetch_voc07
from ._webkb import fetch_webkb

__all__ = [
    "DatasetCorrupted", "DatasetUnavailable", "MultiViewDataset", "available", "fetch_bdgp",
    "fetch_citeseer", "fetch_flower17", "fetch_htad", "fetch_mfeat", "fetch_mnist_views",
    "fetch_nutrimouse", "fetch_optdigits", "fetch_prokaryotic", "fetch_reuters",
    "fetch_shoulder_exercises", "fetch_tcga", "fetch_uci", "fetch_uwave", "fetch_voc07",
    "fetch_webkb", "kinds", "load_digits_views", "load_iris_views", "load_mfeat",
    "make_interactions", "make_messy_folder", "make_two_moons_views", "read_folder",
    "read_reuters_index", "read_views", "unseen_share",
]  # fmt: skip


# Imported on demand, because they need pandas.
_TABLES = {"read_folder": "_folder", "read_views": "_folder", "make_messy_folder": "_messy"}

if TYPE_CHECKING:
    from ._folder import read_folder, read_views
    from ._messy import make_messy_folder
else:

    def __getattr__(name):
        if name in _TABLES:
            return getattr(import_module(f"{__name__}.{_TABLES[name]}"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def available() -> dict[str, str]:
    """List the data sets that are on this machine; nothing is fetched or opened.

    Returns
    -------
    where : dict
        Name -> "embedded" or the folder that has the files, for the data sets on this machine only:
        digits, iris, mfeat, and, if present, mfeat_original (:func:`fetch_mfeat`), uwave,
        flower17, mnist, citeseer, webkb, voc07, optdigits, reuters1200, reuters600, reuters_full
        (the subsets of :func:`fetch_reuters`), tcga-brca, tcga-lgg, tcga-kipan, htad,
        shoulder-exercises, nutrimouse, prokaryotic, bdgp, and the five names of :func:`fetch_uci`.

    Examples
    --------
    >>> from mvref import datasets
    >>> "mfeat" in datasets.available()
    True
    """
    folders = {name: folder_of(name) for name in FORMS} | {"reuters_full": folder_of_full()}
    where = dict.fromkeys(("digits", "iris", "mfeat"), "embedded")
    return where | {
        "mfeat_original" if name == "mfeat" else name: str(folder)
        for name, folder in folders.items()
        if folder is not None
    }
