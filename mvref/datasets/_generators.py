"""Simulated data sets.

Interactions, for the protocol of multi-view machines, part IV of the book: every view v has a few
hidden factors g_v1, ..., g_vK, uncorrelated linear functions of its features with mean 0 and
variance 1. The score is a sum over k of products of factors of different views, of a known order,
scaled to variance 1.
"""

from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
from scipy import sparse
from sklearn.datasets import make_moons
from sklearn.utils import check_random_state

from ..core.input import Literal, MultiView, RandomState, as_multiview, check_choice, check_number
from ._base import MultiViewDataset
from ._sources import describe


def make_two_moons_views(
    n_samples: int = 200,
    *,
    n_views: int = 2,
    noise: float = 0.1,
    view_noise: float = 0.1,
    random_state: RandomState | None = None,
) -> MultiViewDataset:
    """Simulate two interleaved half circles, observed in several rotated, noisy views.

    Every sample has one latent point z in the plane, on one of two half circles (its class) plus
    Gaussian noise. View v is ``R_v z + e``: the point rotated by the view's own random angle, plus
    independent Gaussian noise for each view and sample.

    Parameters
    ----------
    n_samples, n_views : int, at least 2 and 1; the two classes differ by at most one sample
    noise, view_noise : float
        Standard deviations: of the noise of the latent points, which all views share and no view
        can remove; and of the noise that each view adds, which averages out over several views.
    random_state : int, RandomState instance or None; an int gives the same data each time

    Returns
    -------
    dataset : MultiViewDataset
        Views of 2 features each, `y` in {0, 1}; ``meta["latent"]`` (n_samples, 2) contains the
        points z and ``meta["angles"]`` (n_views,) the rotations in radians.

    Examples
    --------
    >>> from mvref.datasets import make_two_moons_views
    >>> moons = make_two_moons_views(100, n_views=3, random_state=0)
    >>> moons.X
    MultiView(100 samples, view_0: 2, view_1: 2, view_2: 2)
    """
    check_number(n_samples, "n_samples", low=2, integer=True)
    check_number(n_views, "n_views", low=1, integer=True)
    check_number(noise, "noise", low=0)
    check_number(view_noise, "view_noise", low=0)
    rng = check_random_state(random_state)
    latent, y = make_moons(n_samples, noise=noise, random_state=rng)
    angles = rng.uniform(0.0, 2 * np.pi, n_views)
    X = MultiView(
        [latent @ rotation(a).T + view_noise * rng.standard_normal(latent.shape) for a in angles]
    )
    text = describe("two_moons", X, noise=noise, view_noise=view_noise)
    meta = {"latent": latent, "angles": angles}
    return MultiViewDataset("two moons", X, y, ["upper moon", "lower moon"], text, meta=meta)


def rotation(angle):
    """Return the matrix that turns the plane by `angle` radians, counter-clockwise."""
    cosine, sine = np.cos(angle), np.sin(angle)
    return np.array([[cosine, -sine], [sine, cosine]])


@dataclass(frozen=True, eq=False)
class PlantedInteractions:
    """True score, which generates the labels: products of factors of different views.

    weights (d_v, K): factor k of view v is ``g_vk = x_v @ weights[v][:, k]``. order p: the sum over
    all sets T of p views and over k of prod_{v in T} g_vk, divided by (K C(V, p))^(1/2). "all": the
    sum over k of +-[prod_v (1 + g_vk) - 1], signs alternating, divided by (K (2^V - 1))^(1/2).
    """

    weights: list
    order: object

    def __call__(self, X):
        """Return the scores of samples, shape (n,)."""
        views = as_multiview(X).views
        g = np.array([view @ W for view, W in zip(views, self.weights, strict=True)])
        V, _, K = g.shape
        if self.order == "all":
            signs = np.where(np.arange(K) % 2, -1.0, 1.0)
            return (np.prod(1.0 + g, axis=0) - 1.0) @ signs / np.sqrt(K * (2**V - 1))
        sets = combinations(range(V), self.order)
        products = sum(np.prod(g[list(T)], axis=0) for T in sets)
        return products.sum(axis=1) / np.sqrt(K * comb(V, self.order))


def linear_plus_pair(X):
    """Return x_11 + x_13 x_22 + 0.3: one feature, one product of two views, and a constant."""
    views = (view[:, :3] for view in as_multiview(X).views[:2])
    first, second = (view.toarray() if sparse.issparse(view) else view for view in views)
    return first[:, 0] + second[:, 1] * first[:, 2] + 0.3


class MultiViewRegressionDataset(MultiViewDataset):
    """Multi-view data set for regression: `y` are numbers, ``target_names`` is empty."""

    def __post_init__(self):
        if self.X.n_samples != len(self.y):
            raise ValueError(f"X has {self.X.n_samples} samples, but y has {len(self.y)} numbers.")


def make_interactions(
    n_samples: int = 500,
    n_views: int = 3,
    order: int | Literal["linear", "pairwise", "full", "all", "mixed"] = "full",
    *,
    n_features: int | None = None,
    rank: int = 2,
    sparsity: float | Literal["one_hot"] = 0.0,
    tail: float = 1.0,
    noise: float = 0.0,
    task: Literal["classification", "regression"] = "classification",
    random_state: RandomState | np.random.Generator | None = None,
) -> MultiViewDataset:
    """Simulate samples whose score is a sum of products over views, of a known order.

    Parameters
    ----------
    n_samples, n_views : int
    order : int, or {"linear", "pairwise", "full", "all", "mixed"}
        Number of views in every product, 1 to V: "linear" is 1, "pairwise" 2, "full" V. "all":
        products of 1, ..., V views, every set of views with the same weight. "mixed": the score
        x_11 + x_13 x_22 + 0.3, a linear term and one pair, for any number of views from 2.
    n_features : int, optional
        Features of every view; None: 5, or 100 levels for one-hot views, whose number is even.
    rank : int, K, number of factors; at most the number of features, or half the number of levels
    sparsity : float or "one_hot"
        0: independent standard normal features. Between 0 and 1: the same with this fraction of
        zeros, as CSR. "one_hot": every view is one of `n_features` levels, as CSR.
    tail : float, one-hot: the r-th most frequent pair of levels has a frequency ~ r^-tail
    noise : float
        Classification: fraction of the labels that are flipped, at most 0.5. Regression: standard
        deviation of the added noise; the score has variance 1, unless it is "mixed".
    task : {"classification", "regression"}
        `y` is the sign of the score as 0 or 1 (random where it is 0), with both classes; or the
        score.
    random_state : int, RandomState instance, Generator instance or None

    Returns
    -------
    dataset : MultiViewDataset
        For regression ``target_names`` is empty. ``meta["planted"]`` is the score as a function of
        the views, ``meta["scores"]`` (n_samples,) its values. One-hot: ``meta["levels"]``
        (n_samples, V) and ``meta["frequencies"]`` (n_features,).

    See Also
    --------
    unseen_share : Fraction of the combinations in the test set that do not occur in training.

    Notes
    -----
    The following models are exact except for a constant: a linear function for order 1; a
    multi-view factorisation machine with K factors for order 2; a multi-view machine with K factors
    for order V (with K = 1 a rank-one tensor) and, if K is even, for "all".

    Given the features of fewer than p views, the score of order p has mean 0. One-hot levels come
    in twins of equal frequency and opposite factors, so that this holds for them too. For p = V it
    also holds for the sign of the score: the label is independent of any V - 1 views. For V > 1 no
    linear function then correlates with it, and the best one in any convex loss is constant. Yet
    with V odd a linear function may agree in sign more often than not: minus the sum of the
    factors does so for 0.588 of the samples, with V = 3, normal features and K = 1.

    A product of two levels that never occur together in training can be predicted, because the
    factors of a level are learnt from every product that it enters; see :func:`unseen_share`. Part
    IV compares starts on
    ``make_interactions(500, V, "mixed", random_state=np.random.default_rng(2))``.

    Examples
    --------
    >>> from mvref.datasets import make_interactions
    >>> make_interactions(200, 3, "full", noise=0.1, random_state=0).X
    MultiView(200 samples, view_0: 5, view_1: 5, view_2: 5)
    >>> clicks = make_interactions(1000, 3, "pairwise", sparsity="one_hot", random_state=0)
    >>> clicks.X.views[0].nnz
    1000
    """
    for name, value in (("n_samples", n_samples), ("n_views", n_views), ("rank", rank)):
        check_number(value, name, low=1, integer=True)
    check_number(tail, "tail", low=0)
    check_choice(task, "task", ("classification", "regression"))
    check_number(noise, "noise", low=0, high=0.5 if task == "classification" else np.inf)
    one_hot = isinstance(sparsity, str)
    d = n_features if n_features is not None else 100 if one_hot else 5
    p = _check_form(order, n_views, d, rank, sparsity)
    rng = random_state
    if not isinstance(rng, np.random.Generator):
        rng = check_random_state(random_state)
    X, second_moments, meta = _draw_views(rng, n_samples, n_views, d, sparsity, tail)
    if p == "mixed":
        meta["planted"] = linear_plus_pair
    else:
        weights = [_factor_weights(rng, second_moments, rank, one_hot) for _ in range(n_views)]
        meta["planted"] = PlantedInteractions(weights, p)
    meta["scores"] = meta["planted"](X)
    told = {"order": order, "rank": rank, "sparsity": sparsity, "noise": noise, "task": task}
    text = describe("interactions", X, **told)
    if task == "regression":
        y = meta["scores"] + noise * rng.standard_normal(n_samples)
        return MultiViewRegressionDataset("interactions", X, y, [], text, meta=meta)
    y = _labels(rng, meta["scores"], noise)
    return MultiViewDataset("interactions", X, y, ["negative", "positive"], text, meta=meta)


def unseen_share(train: MultiView, test: MultiView, order: int = 2) -> float:
    """Return the fraction of level combinations in `test` that do not occur in `train`.

    Parameters
    ----------
    train, test : MultiView of one-hot views
    order : int, number of views in a combination: 2 for pairs

    Returns
    -------
    share : float, mean over the samples of `test` and over all sets of `order` views

    See Also
    --------
    make_interactions : Simulated samples with such combinations.

    Examples
    --------
    >>> from mvref.datasets import make_interactions, unseen_share
    >>> X = make_interactions(1000, 3, "pairwise", sparsity="one_hot", random_state=0).X
    >>> unseen_share(X[:500], X[:500]), unseen_share(X[:500], X[500:]) > 0.5
    (0.0, True)
    """
    train, test = as_multiview(train), as_multiview(test)
    check_number(order, "order", low=1, high=test.n_views, integer=True)
    known, asked = _levels(train), _levels(test)
    shares = []
    for T in combinations(range(test.n_views), order):
        both = np.vstack([known[:, T], asked[:, T]])
        codes = np.unique(both, axis=0, return_inverse=True)[1].ravel()
        shares.append(np.mean(~np.isin(codes[len(known) :], codes[: len(known)])))
    return float(np.mean(shares))


def _levels(X):
    """Return the level of every sample in every view, shape (n, V)."""
    levels = []
    for view, name in zip(X.views, X.names, strict=True):
        table = sparse.csr_matrix(view, copy=True)
        table.eliminate_zeros()
        if (np.diff(table.indptr) != 1).any() or (table.data != 1).any():
            raise ValueError(f"view {name!r} is not one-hot: a 1 in every row, and zeros.")
        levels.append(table.indices)
    return np.column_stack(levels)


def _draw_views(rng, n, V, d, sparsity, tail):
    """Simulate the views; return them, mean squares of features, and ``meta`` on one-hot levels."""
    if sparsity == "one_hot":
        share = np.repeat(np.arange(1.0, d // 2 + 1) ** -float(tail), 2)  # equal for both twins
        frequencies = share / share.sum()
        levels = [rng.choice(d, n, p=frequencies) for _ in range(V)]
        ends = np.arange(n + 1)
        X = MultiView([sparse.csr_matrix((np.ones(n), level, ends), (n, d)) for level in levels])
        return X, frequencies, {"levels": np.column_stack(levels), "frequencies": frequencies}
    views = []
    for _ in range(V):
        x = rng.standard_normal((n, d))
        views.append(sparse.csr_matrix(x * (rng.random((n, d)) >= sparsity)) if sparsity else x)
    return MultiView(views), np.full(d, 1.0 - sparsity), {}


def _labels(rng, scores, noise):
    """Return 1 for positive and 0 for negative scores; flip a fraction `noise` of them."""
    coin = rng.random(len(scores)) < 0.5  # for scores of zero, which are likely for sparse views
    y = np.where(scores == 0, coin, scores > 0).astype(int)
    y = np.where(rng.random(len(scores)) < noise, 1 - y, y)
    if len(np.unique(y)) < 2:
        raise ValueError(
            f"n_samples={len(scores)} gave labels of one class only. Increase n_samples, or use "
            "another random_state."
        )
    return y


def _factor_weights(rng, second_moments, rank, twins):
    """Return weights (d, K) of uncorrelated factors with variance 1; opposite ones for twins.

    The features are uncorrelated, with these mean squares.
    """
    W = rng.standard_normal((len(second_moments) // (2 if twins else 1), rank))
    if twins:
        W = np.stack([W, -W], axis=1).reshape(-1, rank)
    L = np.linalg.cholesky((W.T * second_moments) @ W)
    return np.linalg.solve(L, W.T).T


def _check_form(order, n_views, d, rank, sparsity):
    """Return p, "all" or "mixed". Each view needs a feature, or two levels, per factor."""
    one_hot = isinstance(sparsity, str)
    if one_hot:
        check_choice(sparsity, "sparsity", ["one_hot"])
    elif check_number(sparsity, "sparsity", low=0, high=1) == 1:
        raise ValueError("sparsity=1 gives zeros only. Use sparsity < 1.")
    named = {"linear": 1, "pairwise": 2, "full": n_views, "all": "all", "mixed": "mixed"}
    if isinstance(order, str):
        order = named[check_choice(order, "order", list(named))]
    if order == "mixed":
        check_number(n_views, 'n_views, with order="mixed",', low=2, integer=True)
        check_number(sparsity, 'sparsity, with order="mixed",')
    elif order != "all":
        check_number(order, "order", low=1, high=n_views, integer=True)
    least = 3 if order == "mixed" else 2 * rank if one_hot else rank
    check_number(d, "n_features", low=least, integer=True)
    if one_hot and d % 2:
        raise ValueError(f"n_features must be even for one-hot views, got {d}.")
    return order
