"""Data of part V's experiments and their parts; :mod:`.mvna_kmhks` has the protocol."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.spatial.distance import pdist
from sklearn.datasets import make_moons
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.preprocessing import StandardScaler

from ..core.per_view import PerView
from ..core.views import MultiView
from ..datasets import fetch_uci
from ..datasets._uci import _rows, numbers
from .engine import derive_seed
from .problems import load_dataset

N_INNER = 3  # folds of the training part that choose the parameters
MOONS_TRAIN, MOONS_TEST, MOONS_NOISE = 400, 2000, 0.3
SUBSET = 300  # samples to learn from, of digits and mfeat
CHECK_SHARE = 1 / 3  # of the training part of optdigits


@dataclass(frozen=True, eq=False)
class Parts:
    """Samples, and which of them train and test.

    X: Scaled by the training part; y (n,); folds: Where parameters are chosen, within `train`.
    """

    X: MultiView
    y: np.ndarray
    train: np.ndarray
    test: np.ndarray
    folds: list


def half(y, seed):
    """Draw a test part with half of each class, rounded down.

    y (n,).

    Examples
    --------
    >>> import numpy as np
    >>> from mvref.experiments.nystrom_parts import half
    >>> y = np.repeat([0, 1], [6, 9])
    >>> train, test = half(y, 0)
    >>> np.bincount(y[train]), np.bincount(y[test])
    (array([3, 5]), array([3, 4]))
    """
    rng = np.random.default_rng(seed)
    of_classes = [rng.permutation(np.flatnonzero(y == k)) for k in np.unique(y)]
    test = np.concatenate([rows[: len(rows) // 2] for rows in of_classes])
    train = np.concatenate([rows[len(rows) // 2 :] for rows in of_classes])
    return np.sort(train), np.sort(test)


def fold(y, index, n_folds, seed):
    """Return one fold of a cross-validation that also deals out classes smaller than `n_folds`.

    Shuffled samples, sorted by class, are dealt out like cards: sizes of folds differ by one at
    most, and so do the numbers of samples that they have of a class.

    y (n,); index: Which fold is the test part, from 0; seed: The same for all folds.

    Examples
    --------
    >>> import numpy as np
    >>> from mvref.experiments.nystrom_parts import fold
    >>> y = np.repeat([0, 1], [6, 9])
    >>> [len(fold(y, index, 10, 0)[1]) for index in range(10)]
    [2, 2, 2, 2, 2, 1, 1, 1, 1, 1]
    """
    order = np.random.default_rng(seed).permutation(len(y))
    order = order[np.argsort(y[order], kind="stable")]
    of_test = np.arange(len(y)) % n_folds == index
    return np.sort(order[~of_test]), np.sort(order[of_test])


def one_view(X):
    """Put the views side by side: in the paper's experiments the data have a single source."""
    return MultiView([np.hstack(X.views)])


@lru_cache(maxsize=1)
def table_of(name):
    """Return a data set of Table 2, or another reading of it.

    name: "horse-colic-outcome" and "horse-colic-surgery" have another target: lived, died or
    euthanized, and whether the horse was operated on, which is then no input.
    "echocardiogram-months" has the months of survival as one more input. All other names are those
    of :func:`.problems.load_dataset`.
    """
    if name == "horse-colic-outcome":
        data = fetch_uci("horse-colic", target="outcome")
    else:
        data = load_dataset(name.removesuffix("-surgery").removesuffix("-months"))
    X, y = one_view(data.X), data.y
    if name == "horse-colic-surgery":
        column = data.meta["attributes"].index("surgery")
        known = ~data.meta["missing"][:, column]
        A = X.views[0][known]
        return MultiView([np.delete(A, column, axis=1)]), (A[:, column] == 1).astype(int)
    if name == "echocardiogram-months":
        months = numbers(_rows("echocardiogram", "all")[:, :1], "?")[data.meta["row"], 0]
        months = np.where(np.isnan(months), np.nanmean(months), months)
        return MultiView([np.column_stack([months, X.views[0]])]), y
    return X, y


def cut(X, y, train, test, seed, scale=True):
    """Scale the views by the training part, and cut that part for tuning.

    scale: Features get mean 0 and variance 1 over the training part.
    """
    if scale:
        X = PerView(StandardScaler()).fit(X[train]).transform(X)
    inner = StratifiedKFold(N_INNER, shuffle=True, random_state=derive_seed(seed, "inner"))
    folds = [(train[fit], train[check]) for fit, check in inner.split(train, y[train])]
    return Parts(X, y, train, test, folds)


def table_parts(name, protocol, repeat, n_folds, seed, scale=True):
    """Return a split of Table 2.

    repeat: Number of the fold; seed: Of the repeat.

    Examples
    --------
    >>> from mvref.experiments.nystrom_parts import table_parts
    >>> [len(table_parts("iris", p, 0, 10, 0).test) for p in ("halves", "folds")]
    [75, 15]
    """
    X, y = table_of(name)
    if protocol == "halves":
        train, test = half(y, derive_seed(seed, "half"))
    else:
        train, test = fold(y, repeat, n_folds, derive_seed("folds", name))
    return cut(X, y, train, test, seed, scale)


def drawn_parts(name, seed):
    """Return a split for what needs many data sets: halves, or a few samples to learn from.

    name: "moons", drawn anew; "mfeat-fou-kar" for two views of mfeat; a data set of Table 2; or
    "digits".

    Examples
    --------
    >>> from mvref.experiments.nystrom_parts import drawn_parts
    >>> parts = drawn_parts("mfeat-fou-kar", 0)
    >>> parts.X.names, len(parts.train), len(parts.test)
    (['fou', 'kar'], 300, 1700)
    """
    if name == "moons":
        A, y = make_moons(MOONS_TRAIN + MOONS_TEST, noise=MOONS_NOISE, random_state=seed)
        rows = np.arange(len(y))
        return cut(MultiView([A]), y, rows[:MOONS_TRAIN], rows[MOONS_TRAIN:], seed, scale=False)
    source, *views = name.split("-") if name.startswith("mfeat") else [name]
    data = load_dataset(source)
    if source in ("digits", "mfeat"):
        train, test = train_test_split(
            np.arange(len(data.y)), train_size=SUBSET, stratify=data.y,
            random_state=derive_seed(seed, "split"),
        )  # fmt: skip
    else:
        train, test = half(data.y, derive_seed(seed, "half"))
    X = data.X.select(views) if views else one_view(data.X)
    return cut(X, data.y, train, test, seed)


def digit_parts(name, digit):
    """Return the official split, with a digit against the rest as two classes."""
    data = load_dataset(name)
    train, _, test = data.splits[0]
    fold = train_test_split(
        train, test_size=CHECK_SHARE, stratify=data.y[train],
        random_state=derive_seed("third", name),
    )  # fmt: skip
    X = MultiView([data.X.views[0] / 16.0])
    return Parts(X, (data.y == digit).astype(int), train, test, [tuple(fold)])


def mean_distances(X, rows):
    """Return the mean distance between samples in each view.

    rows: At most the first 1000 of them are looked at.
    """
    return [float(pdist(view[rows[:1000]]).mean()) for view in X.views]
