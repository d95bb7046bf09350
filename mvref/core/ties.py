"""Ties between classes: a parameter of every method that votes, with seeded random tie-breaking.

An even number of votes of -1 and +1 is often tied (four trees tie on 15 % of the digits), and the
rule for ties changes the accuracy by more than most methods differ. Random tie-breaking must be
fair, yet ``predict`` of one sample must not depend on the other samples. So the random number of a
sample is a hash of its own values, under keys that are drawn in ``fit``.
"""

import numpy as np
from scipy import sparse

TIES = ("random", "smallest", "largest")


def draw_keys(n_features, rng):
    """Draw the keys of random tie-breaking, one per feature of all views: keys (n_features,)."""
    return rng.randint(0, 2**63, size=n_features, dtype=np.uint64) * np.uint64(2) + np.uint64(1)


def hash_samples(X, keys):
    """Return a number per sample, from its values and the keys only: keys (features,) -> (n,)."""
    hashes = np.zeros(X.n_samples, dtype=np.uint64)
    for view, key in zip(X.views, np.split(keys, np.cumsum(X.widths[:-1])), strict=True):
        if sparse.issparse(view):
            terms = _bits(view.data) * key[view.indices]
            total = np.concatenate([[np.uint64(0)], np.cumsum(terms, dtype=np.uint64)])
            hashes += total[view.indptr[1:]] - total[view.indptr[:-1]]  # modulo 2^64, like the sum
        else:
            hashes += (_bits(view) * key).sum(axis=1, dtype=np.uint64)
    # a sample of zeros sums to 0 under all keys, but its random number must depend on them
    return _mix(np.where(hashes == 0, keys.sum(dtype=np.uint64), hashes))


def _bits(values):
    """Return mixed bits of floats: 0 for 0 and -0, and the same number for every NaN."""
    values = np.where(np.isnan(values), np.nan, values) + 0.0
    return _mix(np.ascontiguousarray(values, dtype=np.float64).view(np.uint64))


def _mix(x):
    """Spread every bit over all others (the finaliser of the generator SplitMix64); 0 stays 0."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def break_ties(scores, X, ties, keys, *, width=1e-9):
    """Change equal best scores, so that the sign or the largest score names one class.

    scores (n,) for two classes (positive: the second one), else (n, n_classes); ties: the winner,
    at random for each sample ("random"), the smallest label, or the largest; keys: from
    `draw_keys`; width: scores this far from the best, or of two classes from 0, or less, are equal.

    >>> from mvref import MultiView
    >>> X = MultiView([np.arange(3.0)[:, None]])
    >>> keys = draw_keys(1, np.random.RandomState(0))
    >>> break_ties(np.array([0.0, 2.0, -1.0]), X, "largest", keys, width=0.5)
    array([ 0.5,  2. , -1. ])
    """
    scores = np.array(scores, dtype=float)
    if scores.ndim == 1:
        rows = np.flatnonzero(np.abs(scores) <= width)
        tied = np.ones((len(rows), 2), dtype=bool)
    else:
        best = scores.max(axis=1)
        tied = scores >= best[:, None] - width
        rows = np.flatnonzero(tied.sum(axis=1) > 1)
        tied = tied[rows]
    if len(rows) == 0:
        return scores
    winner = np.where(tied, _luck(X[rows], ties, keys, tied.shape[1]), -1).argmax(axis=1)
    if scores.ndim == 1:
        scores[rows] = np.where(winner == 1, width, -width)
    else:
        scores[rows, winner] = best[rows] + width
    return scores


def _luck(X, ties, keys, n_classes):
    """Return numbers in [0, 1], (n, n_classes) or (1, n_classes): the largest wins a tie."""
    order = (np.arange(n_classes)[None, :] + 0.5) / n_classes
    if ties != "random":
        return order if ties == "largest" else 1.0 - order
    salts = _mix(np.arange(1, n_classes + 1, dtype=np.uint64))
    return _mix(hash_samples(X, keys)[:, None] ^ salts) / 2.0**64
