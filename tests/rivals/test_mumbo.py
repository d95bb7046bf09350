"""Mumbo: cost matrices, edges, cooperation, its bound, and a twin with loops."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier

from mvref import MultiView
from mvref.rivals import Mumbo
from mvref.rivals.mumbo import cost_matrix, edge_of, weight_of
from tests.literal import hide, random_pattern, toy_views

WIDTHS = (4, 2, 3)
VIEWS, Y = toy_views(0, m=60, widths=WIDTHS, noise=1.5)
THREE, Y3 = toy_views(1, m=90, widths=WIDTHS, n_classes=3, noise=1.5)
NEW = [v + 0.3 for v in VIEWS]
NEW3 = [v + 0.4 for v in THREE]
STUMP = DecisionTreeClassifier(max_depth=1, random_state=0)
TREE = DecisionTreeClassifier(max_depth=2, random_state=0)


# ------------------------------------------------------------------ costs and edges


@given(st.integers(0, 2**31), st.integers(1, 20), st.integers(2, 6), st.floats(0.1, 1000))
def test_costs(seed, m, K, scale):
    """Rows sum to zero, wrong classes cost, the right one pays; no overflow at any scale."""
    rng = np.random.default_rng(seed)
    f, codes = scale * rng.normal(size=(m, K)), rng.integers(K, size=m)
    before = f.copy()
    C = cost_matrix(f, codes)
    assert_array_equal(f, before)
    assert_allclose(C.sum(axis=1), 0.0, atol=1e-12 * np.abs(C).max())
    wrong = np.arange(K) != codes[:, None]
    assert np.isfinite(C).all() and (C[wrong] >= 0).all() and (C[~wrong] <= 0).all()
    assert C.max() == 1.0
    if scale < 50:
        literal = [[math.exp(f[i, k] - f[i, codes[i]]) for k in range(K)] for i in range(m)]
        literal = np.where(wrong, literal, 0.0)
        assert_allclose(np.where(wrong, C, 0), literal / literal.max(), rtol=1e-9)


@given(st.integers(0, 2**31), st.integers(2, 20), st.integers(2, 6))
def test_edges(seed, m, K):
    rng = np.random.default_rng(seed)
    codes = rng.integers(K, size=m)
    C = cost_matrix(rng.normal(size=(m, K)), codes)
    said = rng.integers(-1, K, size=m)
    cost = sum(C[i, said[i]] for i in range(m) if said[i] >= 0)
    most = sum(C[i, k] for i in range(m) for k in range(K) if k != codes[i])
    assert_allclose(edge_of(C, said, codes), -cost / most, atol=1e-12)
    assert_allclose(edge_of(C, codes, codes), 1.0, rtol=1e-12)
    assert edge_of(C, np.full(m, -1), codes) == 0.0
    # naming every class once is no better than chance
    assert_allclose(sum(edge_of(C, np.full(m, k), codes) for k in range(K)), 0.0, atol=1e-12)


def test_weights_of_edges():
    assert_allclose(weight_of(0.3, 100), 0.5 * math.log(1.3 / 0.7), rtol=1e-12)
    assert weight_of(0.0, 100) == 0.0
    for sign in (1, -1):
        assert_allclose(weight_of(sign * 1.0, 100), sign * 0.5 * math.log(199), rtol=1e-12)


# ------------------------------------------------------------------ the whole algorithm


def mumbo_by_hand(views, y, observed, K, base, T):
    """Koco and Capponi, one sample and one class at a time; costs as they are, not scaled."""
    m, V = len(y), len(views)

    def costs(f):
        C = [[math.exp(f[i][k] - f[i][y[i]]) for k in range(K)] for i in range(m)]
        for i in range(m):
            C[i][y[i]] = -sum(C[i][k] for k in range(K) if k != y[i])
        return C

    def total(C, rows):
        return sum(C[i][k] for i in rows for k in range(K) if k != y[i])

    def edge(C, said, rows):
        return -sum(C[i][said[i]] for i in rows if said[i] is not None) / total(C, rows)

    def weight(edge):
        limited = min(max(edge, 1 / m - 1), 1 - 1 / m)
        return 0.5 * math.log((1 + limited) / (1 - limited))

    f = [[0.0] * K for _ in range(m)]
    local = [[[0.0] * K for _ in range(m)] for _ in range(V)]
    totals, rounds = [], []
    for _ in range(T):
        trees, said, alphas, edges = [], [], [], []
        for v in range(V):
            rows = [i for i in range(m) if observed[i, v]]
            C = costs(local[v])
            weights = np.array([-C[i][y[i]] for i in rows])
            tree = clone(base).fit(views[v][rows], y[rows], weights / weights.mean())
            named = [None] * m
            for i in rows:
                named[i] = tree.predict(views[v][[i]])[0]
            edges.append(edge(C, named, rows))
            alphas.append(weight(edges[v]))
            trees.append(tree)
            said.append(named)
        for i in range(m):
            manage = [v for v in range(V) if said[v][i] == y[i]]
            for v in range(V):
                if observed[i, v] and (v in manage or not manage):
                    local[v][i][said[v][i]] += alphas[v]
        C = costs(f)
        totals.append(total(C, range(m)))
        ranking = [edge(C, said[v], range(m)) for v in range(V)]
        best = ranking.index(max(ranking))
        alpha = weight(ranking[best])
        for i in range(m):
            if said[best][i] is not None:
                f[i][said[best][i]] += alpha
        rounds.append((best, alpha, ranking[best], edges, trees[best]))
    totals.append(total(costs(f), range(m)))
    return rounds, np.array(f), np.array(totals)


PROBLEMS = {"two": (VIEWS, Y, NEW, 2, STUMP), "three": (THREE, Y3, NEW3, 3, TREE)}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("problem", PROBLEMS)
def test_mumbo_by_hand(problem, missing, weighted):
    """With weights, on so many copies of every row."""
    views, y, new, K, base = PROBLEMS[problem]
    m = len(y)
    observed = random_pattern(4, m, 3) if missing else np.ones((m, 3), dtype=bool)
    w = np.random.default_rng(4).integers(0, 4, size=m) if weighted else np.ones(m, dtype=int)
    rows = np.repeat(np.arange(m), w)
    copies = [view[rows] for view in views]
    rounds, f, totals = mumbo_by_hand(copies, y[rows], observed[rows], K, base, 6)
    X = MultiView(hide(views, observed))
    model = Mumbo(base, n_estimators=6, ties="smallest", random_state=0)
    model.fit(X, y, sample_weight=w if weighted else None)
    views_drawn, alphas, edges, local, trees = zip(*rounds, strict=True)
    assert_array_equal(model.view_history_, views_drawn)
    assert_allclose(model.alphas_, alphas, atol=1e-9)
    assert_allclose(model.edges_, edges, atol=1e-9)
    assert_allclose(model.local_edges_, local, atol=1e-9)
    scores = model.decision_function(X)[rows]
    assert_allclose(scores, f[:, 1] - f[:, 0] if K == 2 else f, atol=1e-7)
    votes = np.zeros((m, K))
    for v, alpha, tree in zip(views_drawn, alphas, trees, strict=True):
        for i in np.flatnonzero(observed[:, v]):
            votes[i, tree.predict(new[v][[i]])[0]] += alpha
    scores = model.decision_function(hide(new, observed))
    assert_allclose(scores, votes[:, 1] - votes[:, 0] if K == 2 else votes, atol=1e-7)
    # every round divides the total cost by what its edge promises
    assert (totals[1:] <= np.sqrt(1 - np.square(edges)) * totals[:-1] + 1e-9).all()


def test_both_caps_count_weights():
    """One light error: its edge is above 1 - 1/n, and below 1 - 1/m of the copies."""
    views, y = toy_views(9, m=20, widths=WIDTHS, noise=2.0)
    X, w = [views[0], np.where(np.arange(20) == 3, 1 - y, y)[:, None] * 1.0], np.full(20, 5)
    w[3] = 1
    rows = np.repeat(np.arange(20), w)
    copies, everyone = [view[rows] for view in X], np.ones((len(rows), 2), dtype=bool)
    rounds, _, _ = mumbo_by_hand(copies, y[rows], everyone, 2, STUMP, 2)
    model = Mumbo(STUMP, n_estimators=2).fit(X, y, sample_weight=w)
    assert model.edges_[0] > 1 - 1 / 20
    assert_allclose(model.alphas_, [alpha for _, alpha, _, _, _ in rounds], atol=1e-9)
    assert_allclose(model.local_edges_, [local for _, _, _, local, _ in rounds], atol=1e-9)


@pytest.mark.parametrize("missing", [False, True])
@settings(max_examples=10)
@given(st.integers(0, 2**31), st.integers(2, 4))
def test_the_bound_on_training_errors(missing, seed, K):
    views, y = toy_views(seed, m=40, widths=(3, 2), n_classes=K, noise=2.0)
    X = MultiView(hide(views, random_pattern(seed, 40, 2)) if missing else views)
    model = Mumbo(TREE, n_estimators=10, random_state=0).fit(X, y)
    limited = np.minimum(model.edges_, 1 - 1 / 40)
    bound = (K - 1) * np.prod(np.sqrt(1 - limited**2))
    assert np.mean(model.predict(X) != y) <= bound + 1e-12
    assert (model.edges_ > 0).all() and (np.abs(model.local_edges_) <= 1 + 1e-12).all()


def test_cooperation_leaves_a_sample_to_the_view_that_manages_it():
    """View 1 is right but for two samples: the mistakes of view 0 elsewhere are forgiven.

    Alone, view 0 would have to raise their costs.
    """
    X = [VIEWS[0], 2.0 * Y[:, None] - 1]
    noisy = Y.copy()
    noisy[[0, 1]] = 1 - noisy[[0, 1]]
    model = Mumbo(STUMP, n_estimators=2, random_state=0).fit(X, noisy)
    assert_array_equal(model.view_history_[:1], [1])
    rounds, _, _ = mumbo_by_hand(X, noisy, np.ones((60, 2), dtype=bool), 2, STUMP, 2)
    assert_allclose(model.local_edges_, [r[3] for r in rounds], atol=1e-9)
    alone = Mumbo(STUMP, n_estimators=2, random_state=0).fit(X[:1], noisy)
    assert_allclose(alone.local_edges_[0], model.local_edges_[0, :1], atol=1e-12)
    assert not np.isclose(alone.local_edges_[1], model.local_edges_[1, 0])


# ------------------------------------------------------------------ input


@pytest.mark.parametrize("K, depth", [(2, 2), (4, 2), (5, 3), (10, 4)])
def test_the_default_tree_has_a_leaf_per_class(K, depth):
    views, y = toy_views(3, m=200, n_classes=K, noise=2.0)
    model = Mumbo(n_estimators=2, random_state=0).fit(views, y)
    assert {voter.get_depth() for voter in model.voters_} == {depth}
