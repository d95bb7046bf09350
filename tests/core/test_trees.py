"""Trees that are cut are those that a fit of fewer levels grows, but for ties."""

import pickle

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

from mvref.core.trees import Regrown, cut


@given(st.integers(0, 2**31), st.integers(2, 4), st.booleans(), st.integers(0, 9))
def test_a_cut_tree_is_the_tree_of_fewer_levels(seed, K, weighted, depth):
    """One column, whose splits tie with nobody's: every field of every node."""
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(60, 1)), rng.permutation(np.arange(60) % K)
    w = rng.exponential(size=60) if weighted else None
    full = DecisionTreeClassifier(random_state=0).fit(x, y, w)
    before = pickle.dumps(full)
    shallow = cut(full, max(depth, 1))
    own = clone(full).set_params(max_depth=max(depth, 1)).fit(x, y, w)
    a, b = shallow.tree_.__getstate__(), own.tree_.__getstate__()
    for name in a["nodes"].dtype.names:
        assert_array_equal(a["nodes"][name], b["nodes"][name], name)
    assert_array_equal(a["values"], b["values"])
    assert (a["max_depth"], a["node_count"]) == (b["max_depth"], b["node_count"])
    assert shallow.get_params() == own.get_params() and vars(shallow).keys() == vars(own).keys()
    new = rng.normal(size=(50, 1))
    assert_array_equal(shallow.predict_proba(new), own.predict_proba(new))
    assert pickle.dumps(full) == before


@pytest.mark.parametrize("form", [np.array, sparse.csr_matrix])
def test_a_cut_tree_says_what_its_nodes_held(form):
    """Every sample gets the shares of the node that it passes on the last level that is left."""
    X, y = load_iris(return_X_y=True)
    X = X[:, :2]
    full = DecisionTreeClassifier(random_state=0).fit(form(X), y)
    path = full.decision_path(form(X)).toarray().astype(bool)
    assert full.get_depth() > 6
    for depth in range(1, full.get_depth() + 3):
        shares = cut(full, depth).predict_proba(form(X))
        for i in range(0, 150, 7):
            node = np.flatnonzero(path[i])[: depth + 1][-1]
            assert_allclose(shares[i], full.tree_.value[node, 0])
        assert cut(full, depth).get_depth() == min(depth, full.get_depth())


def test_a_cut_tree_is_written_and_read():
    X, y = load_iris(return_X_y=True)
    tree = cut(DecisionTreeClassifier(random_state=0).fit(X, y), 2)
    assert_array_equal(pickle.loads(pickle.dumps(tree)).predict(X), tree.predict(X))


@given(st.integers(0, 2**31), st.integers(2, 4), st.integers(1, 3), st.integers(0, 2))
def test_a_tree_grown_again_is_the_tree_of_scikit_learn(seed, K, depth, digits):
    """With any seed, where it has one at all; rounded columns have equal values, and ties."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 3)).round(digits).astype(np.float32)
    y = np.append(np.arange(K), rng.integers(K, size=80 - K)) * 2 - 1
    learner = DecisionTreeClassifier(max_depth=depth, random_state=0)
    assert Regrown.suits(learner, X)
    first = clone(learner).fit(X, y)
    again = Regrown(X).fit(first, y, w := rng.exponential(size=80) + 0.01)
    others = [clone(learner).set_params(random_state=s).fit(X, y, w) for s in range(3)]
    if again is None:
        event("tied")
        return
    tree, said = again
    new = rng.normal(size=(50, 3)).astype(np.float32)
    new[::7, 0] = np.nan
    assert_array_equal(said, tree.predict(X))
    for other in others:
        for rows in (X, new):  # scikit-learn splits a pure leaf where rounding tells it to
            assert_allclose(tree.predict_proba(rows), other.predict_proba(rows), atol=1e-9)
        for part in ("feature", "threshold", "n_node_samples"):
            assert getattr(tree.tree_, part)[0] == getattr(other.tree_, part)[0]


@pytest.mark.parametrize(
    "change",
    [{"criterion": "entropy"}, {"max_depth": None}, {"min_samples_leaf": 2}, {"max_features": 1}],
)
def test_no_other_tree_is_grown_again(change):
    X = np.zeros((4, 2), dtype=np.float32)
    plain = {"max_depth": 2, "random_state": 3}
    assert not Regrown.suits(DecisionTreeClassifier(**plain | change), X)
    assert not Regrown.suits(DecisionTreeClassifier(**plain), X + np.float32(np.nan))


def test_a_coin_of_the_tree_is_left_to_it():
    """Two equal columns; and a leaf of two classes with one weight."""
    x, y = np.arange(6, dtype=np.float32)[:, None], np.array([0, 0, 1, 0, 1, 1])
    first, w = DecisionTreeClassifier(max_depth=1).fit(x, y), np.array([1.0, 2, 1, 1, 3, 1])
    assert Regrown(x).fit(first, y, w) is not None
    assert (
        Regrown(np.hstack([x, x])).fit(DecisionTreeClassifier(max_depth=1).fit(x, y), y, w) is None
    )
    y, w = np.array([0, 1, 1, 1, 1, 1]), np.array([9.0, 1, 1, 1, 1, 1e-12])
    assert Regrown(x).fit(first, y, w) is None
    x[:] = 0
    assert Regrown(x).fit(first, y, np.array([5.0, 1, 1, 1, 1, 1])) is None
