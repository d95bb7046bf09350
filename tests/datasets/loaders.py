"""All data sets, by their names in ``available()``."""

from functools import partial

from mvref import datasets
from mvref.datasets._uci import TABLES

EMBEDDED = {
    "digits": datasets.load_digits_views,
    "iris": datasets.load_iris_views,
    "mfeat": datasets.load_mfeat,
    "two moons": partial(datasets.make_two_moons_views, random_state=0),
}
FETCHED = {
    "mfeat_original": datasets.fetch_mfeat,
    "uwave": datasets.fetch_uwave,
    "flower17": datasets.fetch_flower17,
    "mnist": datasets.fetch_mnist_views,
    "reuters1200": datasets.fetch_reuters,
    "reuters600": partial(datasets.fetch_reuters, "600"),
    "reuters_full": partial(datasets.fetch_reuters, "full"),
    "citeseer": datasets.fetch_citeseer,
    "webkb": datasets.fetch_webkb,
    "voc07": datasets.fetch_voc07,
    "optdigits": datasets.fetch_optdigits,
    **{f"tcga-{name}": partial(datasets.fetch_tcga, name) for name in ("brca", "lgg", "kipan")},
    "htad": datasets.fetch_htad,
    "shoulder-exercises": datasets.fetch_shoulder_exercises,
    "nutrimouse": datasets.fetch_nutrimouse,
    "prokaryotic": datasets.fetch_prokaryotic,
    "bdgp": datasets.fetch_bdgp,
    **{name: partial(datasets.fetch_uci, name) for name in TABLES},
}
