"""The sizes of our data sets: measured, and stored beside the ledger.

``python -m mvref.experiments.sizes NAME ...`` measures data sets for the file; without a name, all
of its data sets that are on this computer.
"""

import sys

import numpy as np
import pandas as pd

from mvref.datasets import DatasetUnavailable

from .engine import LEDGER
from .problems import load_dataset

FILE = LEDGER / "sizes.csv"


def measure_sizes(name):
    """Return the numbers of samples, classes and views of a data set: a line of the file."""
    data = load_dataset(name)
    return [data.X.n_samples, len(set(data.y.tolist())), data.X.n_views]


def read_sizes():
    """Return the stored sizes: a line per data set; columns n_samples, n_classes and n_views."""
    return pd.read_csv(FILE, index_col="dataset")


def size(dataset, measure):
    """Return the stored size of a data set, or of a name's subsets if they have the same size."""
    stored = read_sizes()[measure]
    found = set(stored[stored.index.str.startswith(dataset)])
    return float(found.pop()) if len(found) == 1 else np.nan


def main():
    sizes = read_sizes().T
    for name in sys.argv[1:] or sizes.columns:
        try:
            sizes[name] = measure_sizes(name)
        except DatasetUnavailable as error:
            print(error)
    sizes.T.sort_index().to_csv(FILE, lineterminator="\n")


if __name__ == "__main__":
    main()
