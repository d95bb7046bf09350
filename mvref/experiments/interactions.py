"""The problems of part IV's experiments: planted interactions, and halves of real data."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy import sparse
from sklearn.model_selection import train_test_split

from ..core.views import MultiView
from ..datasets import make_interactions, unseen_share
from .engine import derive_seed
from .halves import load_halves

ONE_HOT = {"sparsity": "one_hot", "n_features": 40}
PLANTED = {
    "planted-linear": {"order": "linear"},
    "planted-pairwise": {"order": "pairwise"},
    "planted-full": {"order": "full"},
    "planted-all": {"order": "all"},
    "onehot-pairwise": {"order": "pairwise", **ONE_HOT},
    "onehot-full": {"order": "full", **ONE_HOT},
}
N_VIEWS, NOISE, N_POOL, N_TEST = 3, 0.05, 4000, 5000


@dataclass(frozen=True, eq=False)
class Parts:
    """Samples to train and to test on; the rows of every view have mean squared norm 1.

    train, test: Rows; fit, check: A cut of `train`: parameters are chosen by the accuracy on
    `check`, a third; best: No rule has a larger expected accuracy than this.
    """

    X: MultiView
    y: np.ndarray
    train: np.ndarray
    test: np.ndarray
    fit: np.ndarray
    check: np.ndarray
    best: float = 1.0


@lru_cache(maxsize=1)
def draw_planted(name, seed):
    """Draw `N_POOL` samples to train on and `N_TEST` to test on, of one planted score."""
    data = make_interactions(
        N_POOL + N_TEST,
        N_VIEWS,
        noise=NOISE,
        random_state=derive_seed(seed, "planted"),
        **PLANTED[name],
    )
    return unit_rows(data.X), data.y


def planted(name, n_train, seed):
    """Return a planted problem; that of fewer training samples has the first ones of it.

    Examples
    --------
    >>> from mvref.experiments.interactions import planted
    >>> parts = planted("planted-full", 250, 0)
    >>> [len(rows) for rows in (parts.train, parts.fit, parts.check, parts.test)]
    [250, 166, 84, 5000]
    """
    X, y = draw_planted(name, seed)
    train, test = np.arange(n_train), np.arange(N_POOL, N_POOL + N_TEST)
    fit, check = train_test_split(
        train, test_size=1 / 3, stratify=y[train], random_state=derive_seed(seed, "check", n_train)
    )
    return Parts(X, y, train, test, fit, check, 1.0 - NOISE)


def real(name, seed):
    """Return a real problem: two stratified halves, one of them cut by the first of three folds.

    Examples
    --------
    >>> from mvref.experiments.interactions import real
    >>> parts = real("mfeat", 0)
    >>> [len(rows) for rows in (parts.train, parts.fit, parts.check, parts.test)]
    [1000, 666, 334, 1000]
    """
    halves = load_halves(name, seed)
    return Parts(unit_rows(halves.X), halves.y, halves.train, halves.test, *halves.folds[0])


def unit_rows(X):
    """Divide dense views with features of variance 1 by the root of their number.

    X: Rows of sparse views have mean squared norm 1 already.

    Examples
    --------
    >>> import numpy as np
    >>> from mvref import MultiView
    >>> from mvref.experiments.interactions import unit_rows
    >>> unit_rows(MultiView([np.ones((1, 4))])).views[0]
    array([[0.5, 0.5, 0.5, 0.5]])
    """
    views = [v if sparse.issparse(v) else v / np.sqrt(v.shape[1]) for v in X.views]
    return MultiView(views, names=X.names)


def unseen(parts):
    """Return the share of pairs, and of triples, of levels in the test part that are new there.

    parts: Of one-hot views.
    """
    known, asked = parts.X[parts.train], parts.X[parts.test]
    orders = {"unseen_pairs": 2, "unseen_triples": 3}
    return {name: unseen_share(known, asked, order) for name, order in orders.items()}
