"""The sizes of our data sets: measured, and stored beside the ledger.

``python -m mvref.experiments.sizes`` measures those that are on this machine anew.
"""

import pandas as pd

from ..datasets import DatasetUnavailable
from .engine import LEDGER
from .problems import load_dataset

FILE = LEDGER / "sizes.csv"
SIZES = ("n_samples", "n_classes", "n_views")
DATASETS = (
    "citeseer", "flower17", "mfeat", "mnist1", "mnist2-shift3", "reuters1200", "reuters600",
    "uwave", "webkb",
)  # fmt: skip


def measure_sizes(name):
    """Samples, classes and views of a data set, as it is loaded."""
    data = load_dataset(name)
    return [data.X.n_samples, len(set(data.y.tolist())), data.X.n_views]


def read_sizes():
    """The stored sizes: a line per data set, a column for each of `SIZES`."""
    return pd.read_csv(FILE, index_col="dataset")


def size_of(dataset, measure):
    """A stored size as text; of several subsets of one collection each."""
    stored = read_sizes()[measure]
    found = [str(value) for name, value in stored.items() if name.startswith(dataset)]
    return " and ".join(dict.fromkeys(found)) or "no rows"


def main():
    stored = read_sizes().T.to_dict("list") if FILE.exists() else {}
    for name in DATASETS:
        try:
            stored[name] = measure_sizes(name)
        except DatasetUnavailable as error:
            print(error)
    table = pd.DataFrame.from_dict(stored, orient="index", columns=SIZES)
    table.rename_axis("dataset").sort_index().to_csv(FILE, lineterminator="\n")


if __name__ == "__main__":
    main()
