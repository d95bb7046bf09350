"""Planted interactions: the order is what it says, in the score and in the labels."""

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from mvref import MultiView
from mvref.datasets import MultiViewDataset
from mvref.datasets._generators import make_interactions, unseen_share

ONE_HOT = {"sparsity": "one_hot", "n_features": 12}
PURE = [(V, p) for V in (1, 2, 3, 4) for p in range(1, V + 1)]


def draw(n_views, order, n=40, seed=0, **options):
    return make_interactions(n, n_views, order, random_state=seed, **options)


def mixed_difference(f, a, b, views):
    """The difference of f between two samples in each of `views` at once, the others from a."""
    total = 0.0
    for chosen in itertools.product([0, 1], repeat=len(views)):
        sample = list(a)
        for v, other in zip(views, chosen, strict=True):
            sample[v] = (a, b)[other][v]
        total += (-1) ** sum(chosen) * f(sample)
    return total


# ------------------------------------------------------------------ the score


@settings(max_examples=20)
@given(
    st.integers(0, 10_000),
    st.sampled_from([*PURE, (2, "all"), (3, "all"), (4, "all")]),
    st.integers(1, 3),
)
def test_differences_over_more_views_than_the_order_vanish(seed, case, rank):
    """And those over as many views as the order do not; "all" has every order."""
    V, p = case
    f = draw(V, p, seed=seed, rank=rank).meta["planted"]
    rng = np.random.default_rng(seed)
    a, b = ([rng.normal(size=(20, 5)) for _ in range(V)] for _ in range(2))
    for q in range(1 if p == "all" else p, V + 1):
        for views in itertools.combinations(range(V), q):
            difference = mixed_difference(f, a, b, views)
            if p in (q, "all"):
                assert np.abs(difference).max() > 0.01
            else:
                assert_allclose(difference, 0.0, atol=1e-10)


@pytest.mark.parametrize(("V", "p"), PURE)
def test_given_fewer_views_than_the_order_the_score_has_mean_zero(V, p):
    """The mean over both signs of all other views, which are as likely as one another.

    So for p = V the label turns with every single view, and no V - 1 views tell anything.
    """
    data = draw(V, p, rank=3)
    views, f = data.X.views, data.meta["planted"]
    for given_views in itertools.combinations(range(V), p - 1):
        choices = [[1] if v in given_views else [-1, 1] for v in range(V)]
        scores = [
            f([sign * view for sign, view in zip(signs, views, strict=True)])
            for signs in itertools.product(*choices)
        ]
        assert_allclose(sum(scores), 0.0, atol=1e-12)


@pytest.mark.parametrize("order", [1, 2, 3, "all"])
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_one_hot_moments_by_counting(order, rank):
    """Over all combinations of levels, each with its probability."""
    V = 3
    data = draw(V, order, rank=rank, tail=1.5, **ONE_HOT)
    table = np.array(list(itertools.product(range(12), repeat=V)))
    probability = data.meta["frequencies"][table].prod(axis=1)
    score = data.meta["planted"]([np.eye(12)[level] for level in table.T])
    assert_allclose(probability.sum(), 1.0)
    assert_allclose(probability @ score, 0.0, atol=1e-12)
    assert_allclose(probability @ score**2, 1.0)
    given_views = itertools.combinations(range(V), order - 1) if order in (2, 3) else ()
    for views in given_views:
        cells = np.ravel_multi_index(table[:, views].T, [12] * len(views))
        assert_allclose(np.bincount(cells, probability * score), 0.0, atol=1e-12)


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


def test_who_can_express_it():
    """A linear function, Eq. (27), rank one, Eq. (9): the claims of the docstring, literally."""
    V = 3
    for order, K in (("linear", 2), ("pairwise", 2), ("full", 1), ("full", 2), ("all", 2)):
        data = draw(V, order, rank=K)
        views, weights = data.X.views, data.meta["planted"].weights
        g = np.array([view @ W for view, W in zip(views, weights, strict=True)])
        ones = [np.c_[view, np.ones(40)] for view in views]
        if order == "linear":
            expected = sum(g).sum(axis=1) / np.sqrt(K * V)
        elif order == "pairwise":  # sum over pairs of views of <s_v, s_u>
            pairs = itertools.combinations(range(V), 2)
            expected = sum((g[v] * g[u]).sum(axis=1) for v, u in pairs) / np.sqrt(3 * K)
        else:
            bias, size = (0.0, K) if order == "full" else (1.0, K * (2**V - 1))
            A = [np.vstack([W, np.full(K, bias)]) for W in weights]
            A[0] = A[0] * (1.0 if order == "full" else [1.0, -1.0])
            S = [z @ A_v for z, A_v in zip(ones, A, strict=True)]
            expected = np.prod(S, axis=0).sum(axis=1) / np.sqrt(size)
        assert_allclose(data.meta["scores"], expected, atol=1e-12)


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


@pytest.mark.parametrize("options", [{}, {"sparsity": 0.6}, ONE_HOT])
@pytest.mark.parametrize("V", [2, 3, 4])
def test_a_linear_model_is_at_chance_on_full_order(V, options):
    """It predicts no better than a constant, log 2; the product of the factors tells all."""
    data = draw(V, "full", n=40_000, **options)
    X, y = data.X.concat(), data.y
    linear = LogisticRegression(max_iter=500).fit(X[:20_000], y[:20_000])
    assert log_loss(y[20_000:], linear.predict_proba(X[20_000:])) > np.log(2) - 5e-4
    assert abs(linear.score(X[20_000:], y[20_000:]) - 0.5) < 0.03
    scored = data.meta["scores"] != 0
    assert_array_equal((data.meta["scores"] > 0)[scored], y[scored])


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


def test_a_linear_model_learns_linear_and_some_of_all():
    for order, least in (("linear", 0.97), ("all", 0.7)):
        data = draw(3, order, n=4000)
        X, y = data.X.concat(), data.y
        assert LogisticRegression().fit(X[:2000], y[:2000]).score(X[2000:], y[2000:]) > least


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


def test_many_pairs_are_never_seen_in_training():
    X = make_interactions(4000, 3, "pairwise", sparsity="one_hot", n_features=400, random_state=0).X
    shares = [unseen_share(X[:n], X[3000:]) for n in (300, 1000, 3000)]
    assert shares[0] > shares[1] > shares[2] > 0.5
    assert unseen_share(X[:3000], X[3000:], 1) < 0.1


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
