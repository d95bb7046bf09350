"""Data of part V's experiments and their splits; :mod:`.mvna_kmhks` has the protocol."""

from functools import lru_cache

import numpy as np
from sklearn.datasets import make_moons
from sklearn.preprocessing import StandardScaler

from mvref.compare.tuning import Split
from mvref.core.input import MultiView
from mvref.core.per_view import PerView
from mvref.datasets._uci import _rows, fetch_uci, numbers

from .engine import derive_seed
from .problems import load_dataset
from .tables import stratified_folds, stratified_parts

N_REPEATS, N_INNER = 10, 3  # halves, or folds; folds of the training part, for tuning
MOONS_TRAIN, MOONS_TEST, MOONS_NOISE = 400, 2000, 0.3
SUBSET = 300  # samples to learn from, of digits and mfeat
CHECK_SHARE = 1 / 3  # of the training part of optdigits


def half(y, seed):
    """Draw a test part with half of each class, rounded down; return the rows of both parts."""
    rng = np.random.default_rng(seed)
    of_classes = [rng.permutation(np.flatnonzero(y == k)) for k in np.unique(y)]
    test = np.sort(np.concatenate([rows[: len(rows) // 2] for rows in of_classes]))
    return np.setdiff1d(np.arange(len(y)), test), test


def fold(y, index, seed):
    """Return one fold of a cross-validation that also deals out classes of few samples.

    Shuffled samples, sorted by class, are dealt out like cards: sizes of folds differ by one at
    most, and so do the numbers of samples that they have of a class.
    """
    order = np.random.default_rng(seed).permutation(len(y))
    test = np.sort(order[np.argsort(y[order], kind="stable")][index::N_REPEATS])
    return np.setdiff1d(order, test), test


@lru_cache(maxsize=1)
def table_of(name):
    """Return samples and classes; in the paper's experiments the data have a single view.

    "horse-colic-outcome" and "horse-colic-surgery" have another target: lived, died or euthanized,
    and whether the horse was operated on, which is then no input. "echocardiogram-months" has the
    months of survival as one more input. "mfeat-fou-kar" has two views.
    """
    if name.startswith("mfeat"):
        source, *views = name.split("-")
        return load_dataset(source).X.select(views), load_dataset(source).y
    if name == "horse-colic-outcome":
        data = fetch_uci("horse-colic", target="outcome")
    else:
        data = load_dataset(name.removesuffix("-surgery").removesuffix("-months"))
    A, y = data.X.concat(), data.y
    if name == "horse-colic-surgery":
        column = data.meta["attributes"].index("surgery")
        known = ~data.meta["missing"][:, column]
        A, y = np.delete(A[known], column, axis=1), (A[known, column] == 1).astype(int)
    if name == "echocardiogram-months":
        months = numbers(_rows("echocardiogram", "all")[:, :1], "?")[data.meta["row"], 0]
        A = np.column_stack([np.where(np.isnan(months), np.nanmean(months), months), A])
    return MultiView([A]), y


def cut(X, y, train, test, seed, scale=True):
    """Standardise features by the training part, if asked, and cut that part for tuning."""
    if scale:
        X = PerView(StandardScaler()).fit(X[train]).transform(X)
    folds = stratified_folds(y, train, N_INNER, derive_seed(seed, "inner"))
    return Split(X, y, train, test, folds)


def load_split(name, seed, index=None, scale=True):
    """Return halves, or a fold by its `index`; of large data sets a few samples to learn from.

    name: see :func:`table_of`; "moons" are drawn anew, and not scaled.
    """
    if name == "moons":
        A, y = make_moons(MOONS_TRAIN + MOONS_TEST, noise=MOONS_NOISE, random_state=seed)
        train, test = np.split(np.arange(len(y)), [MOONS_TRAIN])
        return cut(MultiView([A]), y, train, test, seed, scale=False)
    X, y = table_of(name)
    if name.startswith(("digits", "mfeat")):
        train, test = stratified_parts(y, derive_seed(seed, "split"), train_size=SUBSET)
    elif index is None:
        train, test = half(y, derive_seed(seed, "half"))
    else:
        train, test = fold(y, index, derive_seed("folds", name))
    return cut(X, y, train, test, seed, scale)


def digit_split(name, digit):
    """Return the official split, with a digit against the rest as two classes."""
    data = load_dataset(name)
    train, _, test = data.splits[0]
    third = stratified_parts(data.y, derive_seed("third", name), train, test_size=CHECK_SHARE)
    X = MultiView([data.X.views[0] / 16.0])
    return Split(X, (data.y == digit).astype(int), train, test, [tuple(third)])
