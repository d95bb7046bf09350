"""Trees that are cut are those that a fit of fewer levels grows, but for ties."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

from mvref.core.trees import cut


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
