"""Sizes and averages of data sets that may be unavailable, as shown in the chapter on data.

``averages.npz`` was written by ``python -m mvref.experiments.averages``
where all files were available; a test recomputes each part where its files are. It contains no
samples, since licences such as the licence of uWave forbid their redistribution.
"""

from functools import partial
from pathlib import Path

import numpy as np
from sklearn.metrics import confusion_matrix
from sklearn.metrics.pairwise import cosine_similarity

from mvref import datasets
from mvref.datasets._citeseer import CITES
from mvref.datasets._lookup import fetch, open_content
from mvref.datasets._uci import TABLES

FILE = Path(__file__).with_suffix(".npz")
GESTURES = (1, 3, 5)  # gestures of uWave with stored mean curves
DIGIT = 9  # digit of MNIST with a stored mean image


def agreement(X):
    """Return the correlations (V, V) between the views' cosine similarities of samples."""
    pairs = np.triu_indices(X.n_samples, 1)
    return np.corrcoef([cosine_similarity(view)[pairs] for view in X.views])


def sizes(data):
    """Return counts: samples, views, features, classes, smallest and largest class, split parts."""
    X, counts = data.X, np.unique(data.y, return_counts=True)[1]
    parts = [len(part) for part in data.splits[0]] if data.splits else [0, 0, 0]
    classes = [len(counts), counts.min(), counts.max()]
    return np.array([len(X), X.n_views, sum(X.widths), *classes, *parts])


def of_uwave(data):
    """Return mean and standard deviation of the training curves of `GESTURES`; count people."""
    train, _, test = data.splits[0]
    curves = [[view[train][data.y[train] == g] for view in data.X.views] for g in GESTURES]
    in_both = np.intersect1d(data.meta["user"][train], data.meta["user"][test])
    return {
        "mean": np.array([[rows.mean(axis=0) for rows in views] for views in curves]),
        "spread": np.array([[rows.std(axis=0) for rows in views] for views in curves]),
        "people": np.array([len(np.unique(data.meta["user"])), len(in_both)]),
    }


def of_flower17(data):
    """Return mean distances between flowers, views divided by their mean; count near-duplicates."""
    D = [view / view.mean() for view in data.X.views]
    D.append(np.mean(D, axis=0))
    between = np.array([d.reshape(17, 80, 17, 80).mean(axis=(1, 3)) for d in D])
    between[:, range(17), range(17)] *= 80 / 79  # exclude a photograph's distance to itself
    largest = np.max(data.X.views, axis=0)
    i, j = np.nonzero(np.triu(largest < 0.02, 1))
    across = [np.sum(np.isin(i, test) != np.isin(j, test)) for *_, test in data.splits]
    return {
        "between": between,
        "near": np.array([len(i), *across]),
        "recomputed": np.array(data.meta["recomputed"]),
    }


def of_mnist(data):
    """Return the mean image of a digit and, for both ways to cut, the agreement on 1000 images."""
    some = np.random.default_rng(0).permutation(len(data.y))[:1000]
    shifted = datasets.fetch_mnist_views(overlap=True)
    quarters = [view[data.y == DIGIT].mean(axis=0).reshape(14, 14) for view in data.X.views]
    return {
        "mean": np.block([quarters[:2], quarters[2:]]),  # quarters tile the image
        "agreement": np.array([agreement(data.X[some]), agreement(shifted.X[some])]),
    }


def of_reuters1200(data):
    """Return the mean cosine between topics in each language, and the agreement of languages."""
    between = []
    for view in data.X.views:
        cosines = cosine_similarity(view)
        np.fill_diagonal(cosines, np.nan)  # similarity of an article to itself
        between.append(np.nanmean(cosines.reshape(6, 200, 6, 200), axis=(1, 3)))
    return {"between": np.array(between), "agreement": agreement(data.X)}


def of_citeseer(data):
    """Return links between fields, entries per paper and view, agreement, fields, line counts."""
    cites = data.X.select("outbound").views[0].tocoo()
    other = cites.row != cites.col
    links = confusion_matrix(data.y[cites.row[other]], data.y[cites.col[other]]).astype(float)
    entries = [np.sort(np.diff(view.indptr))[::-1] for view in data.X.views]
    with open_content(fetch("citeseer", CITES)) as stream:
        n_lines = sum(1 for _ in stream)
    return {
        "links": links,
        "entries": np.array(entries),
        "agreement": agreement(data.X),
        "file": np.array([n_lines, n_lines - cites.nnz, np.sum(~other)]),  # links, lost, self-links
        "fields": np.array(data.target_names),
        "counts": np.bincount(data.y),
    }


def of_webkb(data):
    """Return the words whose frequency differs most between course pages and others; agreement."""
    words, shares = [], []
    for name, view in zip(data.view_names, data.X.views, strict=True):
        has = view > 0
        share = [np.asarray(has[data.y == k].mean(axis=0)).ravel() for k in (1, 0)]
        largest = np.argsort(-np.abs(share[0] - share[1]), kind="stable")[:8]
        words.append(data.meta["words"][name][largest])
        shares.append([s[largest] for s in share])
    return {
        "words": np.array(words, dtype=str),
        "shares": np.array(shares),
        "agreement": agreement(data.X),
        "entries": np.median([np.diff(view.indptr) for view in data.X.views], axis=1),
    }


def of_table(data):
    """Return the number of missing values in the file."""
    return {"missing": data.meta["missing"].sum()}


# data set -> its loader, and the function of what is stored besides its sizes
SOURCES = {
    "uwave": (datasets.fetch_uwave, of_uwave),
    "flower17": (datasets.fetch_flower17, of_flower17),
    "mnist": (datasets.fetch_mnist_views, of_mnist),
    "reuters1200": (datasets.fetch_reuters, of_reuters1200),
    "citeseer": (datasets.fetch_citeseer, of_citeseer),
    "webkb": (datasets.fetch_webkb, of_webkb),
    **{name: (partial(datasets.fetch_uci, name, missing="keep"), of_table) for name in TABLES},
    "optdigits": (datasets.fetch_optdigits, lambda data: {}),
}


def compute(name):
    """Compute the stored arrays of a data set, a key of `SOURCES`, from its files."""
    read, keep = SOURCES[name]
    data = read()
    kept = {"sizes": sizes(data), "views": np.array(data.view_names), **keep(data)}
    return {key: v.astype(np.float32) if v.dtype == float else v for key, v in kept.items()}


def load_averages():
    """Return the stored arrays of all data sets: name -> part -> array."""
    averages = {name: {} for name in SOURCES}
    with FILE.open("rb") as file, np.load(file) as stored:
        for key, values in stored.items():
            name, part = key.split(".")
            averages[name][part] = values
    return averages


if __name__ == "__main__":
    parts = {f"{name}.{key}": v for name in SOURCES for key, v in compute(name).items()}
    np.savez_compressed(str(FILE), **parts)
