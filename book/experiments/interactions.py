"""The problems of part IV's experiments: planted interactions, and halves of real data.

Parameters are chosen on one third of the training part. ``meta["best"]`` of a split: no rule has a
larger expected accuracy.
"""

from functools import lru_cache

import numpy as np
from scipy import sparse

from mvref.compare.tuning import Split
from mvref.core.input import MultiView
from mvref.datasets import make_interactions, unseen_share

from .engine import derive_seed
from .halves import load_halves
from .tables import stratified_parts

ONE_HOT = {"sparsity": "one_hot", "n_features": 40}
PLANTED = {
    **{f"planted-{order}": {"order": order} for order in ("linear", "pairwise", "full", "all")},
    **{f"onehot-{order}": {"order": order, **ONE_HOT} for order in ("pairwise", "full")},
}
N_VIEWS, NOISE, N_POOL, N_TEST = 3, 0.05, 4000, 5000


@lru_cache(maxsize=1)
def draw_planted(name, seed, **levels):
    """Draw `N_POOL` samples to train on and `N_TEST` to test on, of one planted score."""
    options = PLANTED[name] | {"noise": NOISE, "random_state": derive_seed(seed, "planted")}
    options |= levels
    data = make_interactions(N_POOL + N_TEST, N_VIEWS, **options)
    return unit_rows(data.X), data.y


def planted(name, n_train, seed, **levels):
    """Return a planted problem; that of fewer training samples has the first ones of it."""
    X, y = draw_planted(name, seed, **levels)
    train, test = np.arange(n_train), np.arange(N_POOL, N_POOL + N_TEST)
    fold = stratified_parts(y, derive_seed(seed, "check", n_train), train, test_size=1 / 3)
    return Split(X, y, train, test, [fold], {"best": 1.0 - NOISE})


def real(name, seed):
    """Return a real problem: two stratified halves, one of them cut by the first of three folds."""
    halves = load_halves(name, seed)
    X, folds = unit_rows(halves.X), halves.folds[:1]
    return Split(X, halves.y, halves.train, halves.test, folds, {"best": 1.0})


def unit_rows(X):
    """Give rows mean squared norm 1: dense features have variance 1, sparse rows that norm."""
    views = [v if sparse.issparse(v) else v / np.sqrt(v.shape[1]) for v in X.views]
    return MultiView(views, names=X.names)


def unseen(split):
    """Return the shares of pairs and triples of one-hot levels in the test part that are new."""
    known, asked = split.X[split.train], split.X[split.test]
    orders = {"unseen_pairs": 2, "unseen_triples": 3}
    return {name: unseen_share(known, asked, order) for name, order in orders.items()}
