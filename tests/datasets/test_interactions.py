"""Planted interactions: the order is what it says, in the score and in the labels."""

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from mvref import MultiView
from mvref.datasets import MultiViewDataset
from mvref.datasets._generators import make_interactions, unseen_share

ONE_HOT = {"sparsity": "one_hot", "n_features": 12}
ORDERS = [  # number of views, order, and how many views a product has; 0: any number
    *((V, p, p) for V in (1, 2, 3, 4) for p in range(1, V + 1)),
    *((V, *of) for V in (2, 3, 4) for of in (("linear", 1), ("pairwise", 2), ("full", V))),
    *((V, "all", 0) for V in (1, 2, 3, 4)),
]


def draw(n_views, order, n=40, seed=0, **options):
    return make_interactions(n, n_views, order, random_state=seed, **options)


# ------------------------------------------------------------------ the score


@pytest.mark.parametrize("options", [{}, {"sparsity": 0.6}, ONE_HOT])
@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize(("V", "order", "p"), ORDERS)
def test_score_is_the_sum_of_the_products(V, order, p, rank, options):
    """Over sets of views; what else is said of the score follows from the factors' moments."""
    data = draw(V, order, rank=rank, **options)
    weights = data.meta["planted"].weights
    g = [view @ W for view, W in zip(data.X.views, weights, strict=True)]
    sizes, signs = (range(1, V + 1), (-1) ** np.arange(rank)) if p == 0 else ([p], 1)
    sets = [T for size in sizes for T in itertools.combinations(range(V), size)]
    expected = sum((np.prod([g[v] for v in T], axis=0) * signs).sum(axis=1) for T in sets)
    scores = data.meta["scores"]
    assert_allclose(scores, expected / np.sqrt(rank * len(sets)), atol=1e-12)
    scored = scores != 0
    assert_array_equal(data.y[scored], (scores > 0)[scored])


@pytest.mark.parametrize("options", [{}, {"sparsity": 0.7}, ONE_HOT])
def test_factors_have_variance_one_and_are_uncorrelated(options):
    data = draw(3, "full", n=40_000, rank=3, **options)
    second_moments = data.meta.get("frequencies", np.full(5, 0.3 if options else 1.0))
    for view, W in zip(data.X.views, data.meta["planted"].weights, strict=True):
        assert_allclose((W.T * second_moments) @ W, np.eye(3), atol=1e-12)
        g = view @ W
        assert_allclose(g.mean(axis=0), 0.0, atol=0.03)  # standard error 0.005
        assert_allclose(np.cov(g.T), np.eye(3), atol=0.06)
        assert sparse.issparse(view) == bool(options)
        if options == {"sparsity": 0.7}:
            assert abs(view.nnz / (40_000 * 5) - 0.3) < 0.006  # standard error 0.001


# ------------------------------------------------------------------ the labels


def test_twin_levels_turn_the_score():
    data = draw(3, "full", n=200, **ONE_HOT)
    frequencies, levels = data.meta["frequencies"], data.meta["levels"]
    assert_array_equal(frequencies[0::2], frequencies[1::2])
    for v in range(3):
        twins = levels.copy()
        twins[:, v] ^= 1
        turned = data.meta["planted"]([np.eye(12)[level] for level in twins.T])
        assert_allclose(turned, -data.meta["scores"], atol=1e-12)


def test_a_linear_function_may_agree_in_sign_for_three_views():
    """0.588: what the docstring says of rank one, normal features and V = 3; 0.5 for V = 4."""
    agree = {}
    for V in (3, 4):
        data = draw(V, "full", n=200_000, rank=1)
        g = [v @ W[:, 0] for v, W in zip(data.X.views, data.meta["planted"].weights, strict=True)]
        agree[V] = np.mean((-sum(g) > 0) == data.y)
        assert abs(np.mean(-sum(g) * (2 * data.y - 1))) < 0.02  # and yet no correlation
    assert abs(agree[3] - 0.588) < 0.005  # standard error 0.001
    assert abs(agree[4] - 0.5) < 0.005


def test_the_problem_on_which_starts_are_compared():
    """Linear plus one pair, drawn literally: against reference numbers."""
    for V in (2, 4, 8):
        rng = np.random.default_rng(2)
        views = [rng.normal(size=(500, 5)) for _ in range(V)]
        y = np.sign(views[0][:, 0] + views[1][:, 1] * views[0][:, 2] + 0.3)
        data = make_interactions(500, V, "mixed", random_state=np.random.default_rng(2))
        for drawn, expected in zip(data.X.views, views, strict=True):
            assert_array_equal(drawn, expected)
        assert_array_equal(2 * data.y - 1, y)
        f = data.meta["planted"]
        assert_allclose(f([sparse.csr_matrix(v) for v in views]), data.meta["scores"])
    assert round(max(data.y.mean(), 1 - data.y.mean()), 3) == 0.564


def test_noise_turns_labels_and_moves_numbers():
    clean, noisy = (draw(3, "full", n=20_000, noise=noise) for noise in (0.0, 0.2))
    assert_array_equal(clean.meta["scores"], noisy.meta["scores"])
    assert abs(np.mean(clean.y != noisy.y) - 0.2) < 0.012  # standard error 0.003
    numbers = draw(3, "full", n=20_000, noise=0.5, task="regression")
    moved = numbers.y - numbers.meta["scores"]
    assert abs(moved.mean()) < 0.015 and abs(moved.std() - 0.5) < 0.012
    exact = draw(3, "full", task="regression")
    assert_array_equal(exact.y, exact.meta["scores"])


def test_the_label_of_a_score_of_zero_is_drawn():
    data = draw(2, "full", n=4000, sparsity=0.9, n_features=2)
    zero = data.meta["scores"] == 0
    assert zero.mean() > 0.5
    assert abs(data.y[zero].mean() - 0.5) < 0.04


# ------------------------------------------------------------------ one-hot views


def test_one_hot_views_and_their_frequencies():
    data = draw(2, "pairwise", n=50_000, tail=1.0, **ONE_HOT)
    for view, level in zip(data.X.views, data.meta["levels"].T, strict=True):
        assert sparse.issparse(view) and view.shape == (50_000, 12)
        assert_array_equal(view.toarray(), np.eye(12)[level])
        counts = np.bincount(level, minlength=12) / 50_000
        assert_allclose(counts, data.meta["frequencies"], atol=0.01)
    frequencies = data.meta["frequencies"]
    assert_allclose(frequencies[0] / frequencies[[2, 4, 6, 8, 10]], [2, 3, 4, 5, 6])
    uniform = draw(2, "pairwise", tail=0.0, **ONE_HOT).meta["frequencies"]
    assert_allclose(uniform, 1 / 12)


@settings(max_examples=20)
@given(st.integers(0, 10_000), st.integers(1, 3), st.integers(1, 60))
def test_unseen_share_is_a_count(seed, order, n_train):
    data = draw(3, "full", n=100, seed=seed, sparsity="one_hot", n_features=8, noise=0.5)
    levels, test = data.meta["levels"], data.X[60:]
    shares = []
    for views in itertools.combinations(range(3), order):
        known = {tuple(row) for row in levels[:n_train, views]}
        shares.append(np.mean([tuple(row) not in known for row in levels[60:, views]]))
    assert_allclose(unseen_share(data.X[:n_train], test, order), np.mean(shares))
    assert unseen_share(test, test, order) == 0.0


def test_unseen_share_of_dense_one_hot_and_of_other_views():
    level = np.array([0, 1, 2, 0])
    X = MultiView([np.eye(3)[level], np.eye(3)[::-1][level]])
    assert unseen_share(X[:1], X) == 0.5
    with pytest.raises(ValueError, match="view 'view_1' is not one-hot"):
        unseen_share(X, MultiView([np.eye(3), np.ones((3, 3))]))
    with pytest.raises(ValueError, match="view 'view_0' is not one-hot"):
        unseen_share(MultiView([2 * np.eye(3)]), MultiView([np.eye(3)]), 1)
    with pytest.raises(ValueError, match="order must be an integer >= 1 and <= 2, got 3"):
        unseen_share(X, X, 3)


# ------------------------------------------------------------------ the data set


@pytest.mark.parametrize("options", [{}, {"sparsity": 0.5}, ONE_HOT, {"task": "regression"}])
def test_same_seed_same_data(options):
    one, two, other = (draw(3, "all", seed=seed, noise=0.1, **options) for seed in (7, 7, 8))
    for a, b, c in zip(one.X.views, two.X.views, other.X.views, strict=True):
        a, b, c = (v.toarray() if sparse.issparse(v) else v for v in (a, b, c))
        assert_array_equal(a, b)
        assert not np.array_equal(a, c)
    assert_array_equal(one.y, two.y)
    f = pickle.loads(pickle.dumps(one.meta["planted"]))
    assert_array_equal(f(one.X), two.meta["scores"])


def test_random_state_instance_moves_on_and_defaults():
    for rng in (np.random.RandomState(0), np.random.default_rng(0)):
        one, two = (make_interactions(50, random_state=rng) for _ in range(2))
        assert not np.array_equal(one.X.concat(), two.X.concat())
    assert make_interactions(random_state=0).X.widths == [5, 5, 5]
    assert make_interactions(sparsity="one_hot", random_state=0).X.widths == [100] * 3


def test_what_it_says_of_itself():
    data = draw(2, "pairwise", noise=0.1)
    assert isinstance(data, MultiViewDataset)
    assert data.target_names == ["negative", "positive"] and data.splits == []
    assert "Order pairwise, rank 2" in data.DESCR and "noise 0.1" in data.DESCR
    numbers = draw(2, "pairwise", task="regression")
    assert isinstance(numbers, MultiViewDataset) and numbers.target_names == []
    assert "40 samples, 2 views" in repr(numbers) and "view_0 (5)" in repr(numbers)
    with pytest.raises(ValueError, match="X has 40 samples, but y has 39 numbers"):
        type(numbers)("cut", numbers.X, numbers.y[:-1], [], "")
