"""Defaults against tuned: what a user loses who reads nothing.

``python -m tests.compare.defaults [method ...]`` prints, for each method with its defaults on
views scaled to unit variance, the test error, and that of the best of six settings, the candidate's
of :mod:`mvref.compare.candidates`, by a third of the training samples. ``defaults.csv`` keeps
means over two splits (three of SVM2K) as they were found with the defaults before this table;
a test holds the defaults of today against its column "tuned".
"""

import sys
import time
import warnings
from functools import partial
from itertools import product

import numpy as np
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import mvref
from mvref.compare.candidates import ALL, candidate_of
from mvref.datasets import load_digits_views, load_iris_views, load_mfeat
from mvref.experiments.speed_peers import build

POINTS = 6
CLASSIFIERS = [name for name in mvref.all_methods() if name in ALL]


def of_table(load, ends):
    """A table of scikit-learn, cut into views."""
    data = load()
    return mvref.MultiView(np.split(data.data, ends, axis=1)), data.target


def one_hot(n=2000, levels=(30, 20, 10), seed=0):
    """Three one-hot views, whose levels have effects alone and in pairs."""
    rng = np.random.default_rng(seed)
    codes = [rng.integers(d, size=n) for d in levels]
    factors = [rng.normal(size=(d, 2)) for d in levels]
    a, b, c = (f[code] for f, code in zip(factors, codes, strict=True))
    score = a[:, 0] + b[:, 0] + c[:, 0] + (a * b).sum(axis=1) + (b * c).sum(axis=1)
    views = [OneHotEncoder(sparse_output=False).fit_transform(code[:, None]) for code in codes]
    return mvref.MultiView(views), (score + rng.logistic(size=n) > 0).astype(int)


def of_dataset(load):
    """Views and labels."""
    data = load()
    return data.X, data.y


DATA = {
    "iris": partial(of_dataset, load_iris_views),
    "digits": partial(of_dataset, load_digits_views),
    "mfeat": partial(of_dataset, load_mfeat),
    "wine": partial(of_table, load_wine, [4, 8]),
    "cancer": partial(of_table, load_breast_cancer, [10, 20]),
    "one-hot": one_hot,
}


def default(name, seed, scaled):
    """The method with its defaults, on views scaled to unit variance."""
    model = build(name, seed)
    return make_pipeline(mvref.PerView(StandardScaler()), model) if scaled else model


def errors(name, data, n, seed, points=POINTS):
    """Test errors of the default and of the best of some points, seconds of the default, point."""
    X, y = DATA[data]()
    rows = np.arange(len(y))
    train, test = train_test_split(
        rows, train_size=min(n, len(y) * 2 // 3), random_state=seed, stratify=y
    )
    fit, hold = train_test_split(train, test_size=1 / 3, random_state=seed, stratify=y[train])
    test, candidate, scores = test[:1000], candidate_of(name), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = default(name, seed, data != "one-hot")
        start = time.process_time()
        error = 1 - model.fit(X[train], y[train]).score(X[test], y[test])
        seconds = time.process_time() - start
        if not points:
            return error, np.nan, seconds, None
        for point in candidate.points(points):
            machine = candidate.build(point, X, seed).fit(X[fit], y[fit])
            scores.append(machine.score(X[hold], y[hold]))
        best = candidate.points(points)[int(np.argmax(scores))]
        tuned = candidate.build(best, X, seed).fit(X[train], y[train])
        return error, 1 - tuned.score(X[test], y[test]), seconds, best


if __name__ == "__main__":  # means over two splits, a row for each method, data set and size
    for name, data, n in product(sys.argv[1:] or CLASSIFIERS, DATA, (100, 500)):
        runs = [errors(name, data, n, seed) for seed in range(2)]
        means = np.mean([run[:3] for run in runs], axis=0).round(4)
        print(name, data, n, *means, [run[3] for run in runs], flush=True)
