"""Trees of few levels grown on sorted columns are those that scikit-learn grows."""

import warnings

import numpy as np
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier
from sklearn.utils.fixes import parse_version

from mvref.rivals import MVWAB, Mumbo, RBoostSH, adaboost
from mvref.rivals.adaboost import Table
from mvref.rivals.shallow_trees import SortedRows, Undecided, grow, is_shallow
from tests.literal import hide, random_pattern, toy_views

NODES = ("children_left", "children_right", "feature", "threshold", "n_node_samples")
METHODS = pytest.mark.parametrize("method", [MVWAB, RBoostSH, Mumbo])


def grown(rows, y, weights, depth, seed=0):
    """A tree and what it says of the rows; and scikit-learn's own."""
    classes, codes = np.unique(y, return_inverse=True)
    tree = DecisionTreeClassifier(max_depth=depth, random_state=seed)
    own = clone(tree).fit(rows, y, weights)
    return tree, grow(tree, SortedRows(rows), codes, weights, classes), own


def assert_same_trees(tree, own):
    a, b = tree.tree_, own.tree_
    for name in NODES:
        assert_array_equal(getattr(a, name), getattr(b, name), name)
    for name in ("value", "impurity", "weighted_n_node_samples"):
        assert_allclose(getattr(a, name), getattr(b, name), rtol=1e-9, atol=1e-12)
    left = (part.__getstate__()["nodes"]["missing_go_to_left"] for part in (a, b))
    assert_array_equal(*left)
    assert (a.max_depth, a.n_features) == (b.max_depth, b.n_features)
    assert set(vars(tree)) == set(vars(own))
    assert_array_equal(tree.classes_, own.classes_)


@settings(max_examples=60)
@given(
    st.integers(0, 2**31),
    st.integers(2, 80),
    st.integers(1, 5),
    st.integers(2, 4),
    st.integers(1, 4),
    st.sampled_from([1, 8, None]),
)
def test_grown_trees_are_scikit_learns(seed, m, d, K, depth, steps):
    """Or nobody's, which is for values of many digits and weights of many sizes the rare case."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(m, d))
    rows = (rows if steps is None else np.round(rows * steps)).astype(np.float32)
    y = rng.permutation(np.arange(m) % K) * 2 - 1
    weights = rng.lognormal(sigma=2.0, size=m)
    try:
        tree, said, own = grown(rows, y, weights, depth, seed % 1000)
    except Undecided:
        return
    if tree.tree_.node_count == own.tree_.node_count:
        assert_same_trees(tree, own)
    assert_array_equal(said, own.predict(rows))
    assert_array_equal(tree.predict(rows), said)
    new = rng.normal(scale=steps or 1, size=(100, d))
    assert_array_equal(tree.predict(new), own.predict(new))


def test_a_pure_node_is_a_leaf():
    """To scikit-learn it is none where rounding leaves a share of 1e-15 to another class."""
    rows = np.array([[1, 0], [2, 0], [3, 0], [4, 0], [5, 0]], np.float32)
    y, weights = np.array([0, 0, 0, 1, 1]), np.array([0.1, 0.7, 1e-3, 0.3, 0.2])
    tree, _, own = grown(rows, y, weights, 3)
    assert tree.tree_.node_count == 3 and (tree.tree_.impurity[1:] == 0).all()
    assert_array_equal(tree.predict(rows), own.predict(rows))


@pytest.mark.parametrize("K", [2, 3, 5])
def test_columns_in_blocks(K, monkeypatch):
    """No column is forgotten, whatever the number of blocks."""
    rng = np.random.default_rng(K)
    y, used = rng.integers(K, size=400), set()
    rows = rng.normal(size=(400, 13))
    for at_once in (1, 1500, 2**15):
        monkeypatch.setattr("mvref.rivals.shallow_trees.AT_ONCE", at_once)
        for j in range(13):  # the column j has the most to say
            better = rows + 2.0 * (np.arange(13) == j) * y[:, None]
            weights = rng.exponential(size=400)
            tree, _, own = grown(better.astype(np.float32), y, weights, 1)
            assert_same_trees(tree, own)
            used.add(int(tree.tree_.feature[0]))
    assert used == set(range(13))


def test_what_rounding_decides_is_left_to_scikit_learn():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 1)).astype(np.float32)
    y, ones = np.where(x[:, 0] + rng.normal(size=60) > 0, 1, -1), np.ones(60)
    light = rng.exponential(size=60)
    assert_same_trees(*grown(x, y, light, 1)[::2])
    twins = np.hstack([x, x])
    with pytest.raises(Undecided):  # two columns
        grown(twins, y, light, 1)
    with pytest.raises(Undecided):  # two thresholds of a column
        grown(np.arange(4, dtype=np.float32)[:, None], np.array([0, 1, 0, 1]), ones[:4], 1)
    with pytest.raises(Undecided):  # two classes of a leaf
        grown(np.array([[0], [0], [1]], np.float32), np.array([0, 1, 1]), ones[:3], 1)
    with pytest.raises(Undecided):  # a split that gains nothing
        grown(np.array([[0], [0], [1], [1]], np.float32), np.array([0, 1, 0, 1]), ones[:4], 2)
    light[3] = 0.0
    with pytest.raises(Undecided):  # samples of weight 0
        grown(x, y, light, 1)


@pytest.mark.skipif(
    parse_version(sklearn.__version__) < parse_version("1.8"),
    reason="before version 1.8 scikit-learn has thresholds between values that it calls equal",
)
def test_values_that_are_close_are_not_split():
    x = np.array([0, 5e-8, 1, 1 + 2.0**-22, 2], dtype=np.float32)[:, None]
    y, weights = np.array([0, 1, 1, 0, 0]), np.array([1.0, 2.5, 3.2, 1.7, 0.3])
    tree, _, own = grown(x, y, weights, 5)
    assert_same_trees(tree, own)
    assert tree.get_n_leaves() == 3  # 1 and 1 + 2e-7 are split, 0 and 5e-8 are not


@pytest.mark.parametrize(
    ("learner", "of_many", "of_few"),
    [
        (DecisionTreeClassifier(max_depth=2), True, True),
        (DecisionTreeClassifier(max_depth=3, random_state=3), True, False),
        (DecisionTreeClassifier(), False, False),
        (DecisionTreeClassifier(max_depth=4), False, False),
        (DecisionTreeClassifier(max_depth=2, criterion="entropy"), False, False),
        (DecisionTreeClassifier(max_depth=2, min_samples_leaf=5), False, False),
        (DecisionTreeClassifier(max_depth=2, class_weight="balanced"), False, False),
        (ExtraTreeClassifier(max_depth=2), False, False),
    ],
)
def test_learners_that_are_grown_here(learner, of_many, of_few):
    assert is_shallow(learner, 1001) is of_many and is_shallow(learner, 1000) is of_few


@pytest.mark.parametrize("form", [np.array, sparse.csr_matrix])
def test_rows_that_scikit_learn_refuses_are_refused(form):
    """Too large for single precision."""
    rows = np.array([[0.0], [1.0], [1e39], [3.0]])
    stump, ones = DecisionTreeClassifier(max_depth=1), np.ones(4)
    with np.errstate(over="ignore"), warnings.catch_warnings(action="ignore"):
        table = Table(stump, form(rows), ones > 0)
    with pytest.raises(ValueError, match="infinity or a value too large"):
        table.fit(stump, np.array([0, 0, 1, 1]), ones, ones, np.random.RandomState(0))


def problems():
    iris = load_iris()
    rng = np.random.default_rng(0)
    views, y = toy_views(1, m=150, widths=(4, 3), n_classes=3, noise=2.0)
    many, of_many = toy_views(2, m=1100, widths=(3, 2), n_classes=5, noise=2.0)
    return {
        "noise": (views, y),
        "many": (many, of_many),
        "missing": (hide(views, random_pattern(3, 150, 2)), y),
        "iris": ([iris.data[:, :2], iris.data[:, 2:]], iris.target),
        "ties": ([rng.integers(3, size=(80, 4)) * 1.0 for _ in range(2)], np.arange(80) % 3),
    }


@METHODS
@pytest.mark.parametrize("name", problems())
@pytest.mark.parametrize("weighted", [False, True])
def test_boosting_is_that_of_scikit_learns_trees(method, name, weighted, monkeypatch):
    """The literal twin: a fit of scikit-learn for every voter. Equal to the last bit."""
    X, y = problems()[name]
    w = np.random.default_rng(1).integers(1, 4, size=len(y)) if weighted else None
    asked = []

    def spy(*args):
        asked.append("undecided")
        said = grow(*args)
        asked[-1] = "grown"
        return said

    monkeypatch.setattr(adaboost, "grow", spy)
    model = method(n_estimators=20, random_state=0)
    fast = clone(model).fit(X, y, sample_weight=w)
    assert "grown" in asked and (
        "undecided" in asked or weighted or name in ("noise", "missing", "many")
    )
    monkeypatch.setattr(adaboost, "is_shallow", lambda learner, m: False)
    n_asked = len(asked)
    literal = clone(model).fit(X, y, sample_weight=w)
    assert len(asked) == n_asked
    for one, two in zip(fast.alphas_, literal.alphas_, strict=True):
        assert_array_equal(one, two)
    assert_array_equal(fast.decision_function(X), literal.decision_function(X))
