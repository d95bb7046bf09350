"""The data sets of the experiments by name, and splits: folds, missing views, MVPO's halves.

A split holds *all* samples in one :class:`~mvref.MultiView`; its parts are row numbers. So the
distance matrices of Flower17 stay square, and completing training and test samples together, as
the paper does for the per-view SVMs, needs no special case.
"""

from functools import lru_cache, partial

import numpy as np
from scipy import sparse
from sklearn.model_selection import GroupKFold, KFold
from sklearn.preprocessing import StandardScaler

from mvref import datasets
from mvref.core.input import MultiView
from mvref.core.measures import one_vs_rest
from mvref.core.per_view import PerView

from .engine import derive_seed
from .tables import stratified_folds, stratified_parts
from .tuning import Split

UCI = (
    "lung-cancer", "house-votes-84", "shuttle-landing-control", "horse-colic", "echocardiogram",
)  # fmt: skip
LOADERS = {
    "uwave": datasets.fetch_uwave,
    "flower17": datasets.fetch_flower17,
    "mfeat": datasets.load_mfeat,
    "digits": datasets.load_digits_views,
    "mnist1": datasets.fetch_mnist_views,
    **{f"mnist2-shift{s}": partial(datasets.fetch_mnist_views, True, s) for s in range(1, 8)},
    "reuters1200": partial(datasets.fetch_reuters, "1200"),
    "reuters600": partial(datasets.fetch_reuters, "600"),
    "reuters_full": partial(datasets.fetch_reuters, "full"),
    "citeseer": datasets.fetch_citeseer,
    "webkb": datasets.fetch_webkb,
    "iris": datasets.load_iris_views,
    "optdigits": datasets.fetch_optdigits,
    **{name: partial(datasets.fetch_uci, name) for name in UCI},
}
PEOPLE = ("uwave-people", "uwave-mixed")  # uWave with one person as the test set
N_FOLDS = 3


@lru_cache(maxsize=1)
def load_dataset(name):
    """Load a data set once per process; only the last one is cached."""
    return LOADERS[name]()


def label(name):
    """Return the name that the ledger gives to a data set."""
    recomputed = name == "flower17" and load_dataset(name).meta["recomputed"]
    return f"{name}-recomputed" if recomputed else name


def load_problem(name, *, split=None, missing=0.0, seed=0):
    """Return a split of part I.

    uwave: official training and test set, three folds in the order of the file. flower17:
    official split number `split`, one "fold": train on the training set, check on the validation
    set, which trains the final model too. mfeat: a stratified half for training and three folds,
    drawn with `seed`; every view is standardised by the training half.

    split: for flower17; missing: fraction of the views dropped in each part; every sample keeps
    at least one view; seed: draws the half of mfeat and the missing views. ``meta`` has the samples
    before views were dropped, the kernel, and the training samples that are not a `reference`.
    """
    data = load_dataset(name)
    parts, folds = _parts(name, data, split, seed)
    X, complete = drop_views(data.X, parts, missing, seed), data.X
    if name == "mfeat":
        scaler = PerView(StandardScaler()).fit(X[parts["train"]])
        X, complete = scaler.transform(X), scaler.transform(complete)
    validation = parts.get("validation", parts["train"][:0])
    kernel = "precomputed" if name == "flower17" else "rbf"
    meta = {"complete": complete, "kernel": kernel, "validation": validation}
    train = np.concatenate([parts["train"], validation])
    return Split(X, data.y, train, parts["test"], folds, meta)


def load_people(name, person, seed=0):
    """Return a split of uWave whose test set is one person's part of the official test set.

    uwave-people: the other seven people of the official training set train, with three folds of
    people. uwave-mixed: as many training samples are drawn from all eight people with `seed`, with
    three folds in the order of the file.
    """
    data = load_dataset("uwave")
    (train, _, test), who = data.splits[0], data.meta["user"]
    others = train[who[train] != person]
    pairs = GroupKFold(N_FOLDS).split(others, groups=who[others])
    if name == "uwave-mixed":
        rng = np.random.default_rng(derive_seed(seed, "people"))
        others = np.sort(rng.choice(train, len(others), replace=False))
        pairs = KFold(N_FOLDS).split(others)
    folds = [(others[fit], others[check]) for fit, check in pairs]
    meta = {"complete": data.X, "kernel": "rbf", "validation": train[:0]}
    return Split(data.X, data.y, others, test[who[test] == person], folds, meta)


def reference(split, rows):
    """Return the `rows` from which landmarks are drawn, without an official validation set."""
    return rows[~np.isin(rows, split.meta["validation"])]


def _parts(name, data, split, seed):
    """Return the parts of a data set by name, and the folds for tuning."""
    if name == "flower17":
        train, validation, test = data.splits[split - 1]
        parts = {"train": train, "validation": validation, "test": test}
        return parts, [(train, validation)]
    if name == "uwave":
        train, _, test = data.splits[0]
    else:
        train, test = stratified_parts(data.y, derive_seed(seed, "split"), test_size=0.5)
    folds = [(train[fit], train[check]) for fit, check in KFold(N_FOLDS).split(train)]
    return {"train": train, "test": test}, folds


def drop_views(X, parts, missing, seed):
    """Drop the same fraction of the views in every part."""
    if missing == 0:
        return X
    observed = X.observed.copy()
    for part, rows in parts.items():
        gaps = X[rows].drop_views(missing, random_state=derive_seed(seed, "missing", part))
        observed[rows] = gaps.observed
    return MultiView(X.views, names=X.names, observed=observed)


def mean_distance_gamma(split, rows):
    """Return 1/mean distance per view, between the `rows` that have the view.

    This is ``gamma="mean"`` of the estimators, computed here so that it exists even if hardly any
    sample has all views. None if the views are not square distance matrices.
    """
    if split.meta["kernel"] != "precomputed":
        return None
    seen = [rows[split.X.observed[rows, v]] for v in range(split.X.n_views)]
    return [float(1.0 / D[np.ix_(r, r)].mean()) for D, r in zip(split.X.views, seen, strict=True)]


@lru_cache(maxsize=1)
def load_halves(name, seed):
    """Cut a data set into stratified halves, scaled by the first; ``meta["Y"]`` (n, K): classes."""
    data = load_dataset(name)
    train, test = stratified_parts(data.y, derive_seed(seed, "split"), test_size=0.5)
    folds = stratified_folds(data.y, train, N_FOLDS, derive_seed(seed, "folds"))
    return Split(scale_views(data.X, train), data.y, train, test, folds, {"Y": one_vs_rest(data.y)})


def scale_views(X, train):
    """Scale the views by the training samples."""
    scalers = ["passthrough" if sparse.issparse(view) else StandardScaler() for view in X.views]
    X = PerView(scalers).fit(X[train]).transform(X)
    views = [
        view / np.sqrt(view[train].power(2).sum() / len(train)) if sparse.issparse(view) else view
        for view in X.views
    ]
    return MultiView(views, names=X.names)
