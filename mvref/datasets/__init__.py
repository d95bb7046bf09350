"""Multi-view data sets: embedded (``load_*``), fetched (``fetch_*``) or drawn (``make_*``).

Every function returns a :class:`MultiViewDataset`. Files are looked for in ``$MVREF_DATA/<name>``,
then in the user's cache (``$MVREF_CACHE`` sets another one), and then downloaded where a canonical
address with a known sha256 exists.
"""

from . import _flower17, _mfeat, _uwave
from ._base import MultiViewDataset
from ._embedded import load_digits_views, load_iris_views
from ._flower17 import fetch_flower17
from ._generators import make_two_moons_views
from ._lookup import DatasetCorrupted, DatasetUnavailable
from ._mfeat import fetch_mfeat, load_mfeat
from ._uwave import fetch_uwave

__all__ = [
    "DatasetCorrupted",
    "DatasetUnavailable",
    "MultiViewDataset",
    "available",
    "fetch_flower17",
    "fetch_mfeat",
    "fetch_uwave",
    "load_digits_views",
    "load_iris_views",
    "load_mfeat",
    "make_two_moons_views",
]


def available():
    """Tell which data sets are on this machine; nothing is fetched or opened.

    Returns
    -------
    where : dict
        Name -> "embedded" or the folder that has the files, for what is here and nothing else.
        The names are digits, iris, mfeat, and, if they are here, mfeat_original
        (:func:`fetch_mfeat`), uwave and flower17.

    Examples
    --------
    >>> from mvref import datasets
    >>> "mfeat" in datasets.available()
    True
    """
    where = {name: "embedded" for name in ("digits", "iris", "mfeat")}
    fetched = {"mfeat_original": _mfeat, "uwave": _uwave, "flower17": _flower17}
    folders = {name: module.on_this_machine() for name, module in fetched.items()}
    return where | {name: str(folder) for name, folder in folders.items() if folder is not None}
