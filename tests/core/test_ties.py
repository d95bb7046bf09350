"""Ties: the coin is fair, it belongs to the sample, and it decides nothing but ties."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse

from mvref import MultiView
from mvref.core.ties import TIES, break_ties, draw_keys, hash_samples
from tests.literal import hide, random_pattern


def keys(n_features, seed=0):
    return draw_keys(n_features, np.random.RandomState(seed))


def some_views(seed=0, m=50, widths=(3, 2)):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(m, width)) for width in widths]


def coins(X, seed=0, n_classes=2):
    """Winning class of every sample of X where all classes tie."""
    shape = X.n_samples if n_classes == 2 else (X.n_samples, n_classes)
    scores = break_ties(np.zeros(shape), X, "random", keys(X.shape[1], seed))
    return (scores > 0).astype(int) if n_classes == 2 else scores.argmax(axis=1)


def assert_fair(wins, n_classes):
    """Every class wins its share, within 4.5 standard deviations."""
    p, n = 1 / n_classes, len(wins)
    counts = np.bincount(wins, minlength=n_classes)
    assert len(counts) == n_classes
    assert np.abs(counts - n * p).max() < 4.5 * np.sqrt(n * p * (1 - p))


TABLES = {
    "normal": lambda rng: rng.normal(size=(8000, 5)),
    "one feature, 0 1 2 ...": lambda rng: np.arange(1.0, 8001.0)[:, None],
    "tiny steps": lambda rng: 1.0 + 2.0**-50 * np.arange(8000)[:, None],
    "grey levels": lambda rng: rng.integers(0, 17, size=(8000, 16)).astype(float),
    "zeros and ones": lambda rng: ((np.arange(1, 8001)[:, None] >> np.arange(13)) & 1) * 1.0,
}


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_fair_over_samples(table, n_classes):
    X = MultiView([TABLES[table](np.random.default_rng(0))])
    assert_fair(coins(X, n_classes=n_classes), n_classes)


@pytest.mark.parametrize("table", TABLES)
def test_the_coins_of_neighbours_have_nothing_in_common(table):
    """Runs and periods: two samples agree half of the time, at any distance in the table."""
    wins = coins(MultiView([TABLES[table](np.random.default_rng(0))]))
    for lag in (1, 2, 3, 4, 8, 16, 64, 256, 1024):
        assert_fair((wins[lag:] == wins[:-lag]).astype(int), 2)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_fair_over_seeds(n_classes):
    """One sample, many seeds; and two seeds toss other coins for many samples."""
    X = MultiView(some_views(m=1))
    assert_fair(np.array([coins(X, seed, n_classes)[0] for seed in range(1500)]), n_classes)
    X = MultiView(some_views(m=4000))
    assert_fair((coins(X, 0) == coins(X, 1)).astype(int), 2)


def test_fair_between_the_classes_that_tie():
    """Classes 1 and 3 tie, whatever the others have."""
    X = MultiView(some_views(m=4000))
    scores = np.tile([0.0, 2.0, 1.0, 2.0], (4000, 1))
    wins = break_ties(scores, X, "random", keys(5)).argmax(axis=1)
    assert set(wins) == {1, 3}
    assert_fair((wins == 3).astype(int), 2)


@given(st.integers(0, 2**31), st.integers(2, 4))
def test_independent_of_company(seed, n_classes):
    rng = np.random.default_rng(seed)
    X = MultiView(hide(some_views(seed), random_pattern(seed, 50, 2)))
    together = coins(X, n_classes=n_classes)
    order = rng.permutation(50)[: rng.integers(1, 50)]
    assert_array_equal(coins(X[order], n_classes=n_classes), together[order])
    assert_array_equal(coins(X[[order[0]]], n_classes=n_classes), together[order[:1]])


def test_equal_samples_toss_equal_coins_and_every_value_matters():
    views = some_views(m=1)
    X = MultiView([np.repeat(view, 200, axis=0) for view in views])
    assert len(set(hash_samples(X, keys(5)).tolist())) == 1
    for v, width in enumerate((3, 2)):
        for j in range(width):
            changed = [view.copy() for view in views]
            changed[v][0, j] = np.nextafter(changed[v][0, j], 9)
            assert hash_samples(MultiView(changed), keys(5)) != hash_samples(X[:1], keys(5))


def test_the_place_of_a_value_matters():
    x = np.arange(1.0, 7.0)[None, :]
    hashes = {int(hash_samples(MultiView([np.roll(x, s, 1)]), keys(6))[0]) for s in range(6)}
    assert len(hashes) == 6
    a, b = x, x + 10.0
    swapped = [hash_samples(MultiView(views), keys(12)) for views in ([a, b], [b, a])]
    assert swapped[0] != swapped[1]


def test_dense_and_sparse_storage_agree():
    """Also of rows without entries, which are an eighth of the wider view."""
    rng = np.random.default_rng(3)
    dense = [np.where(rng.random((40, w)) < 0.6, 0.0, rng.normal(size=(40, w))) for w in (4, 3)]
    observed = random_pattern(3, 40, 2)
    gaps = MultiView(hide(dense, observed))
    csr = [sparse.csr_matrix(view) for view in dense]
    for views in (csr, [dense[0], csr[1]]):
        other = MultiView(views, observed=observed)
        assert_array_equal(hash_samples(other, keys(7)), hash_samples(gaps, keys(7)))


def test_explicit_zeros_minus_zero_and_all_kinds_of_nan():
    stored = sparse.csr_matrix(np.array([[1.0, 2.0, 3.0]]))
    stored.data[1] = 0.0
    a = hash_samples(MultiView([stored]), keys(3))
    for middle in (0.0, -0.0):
        assert_array_equal(a, hash_samples(MultiView([np.array([[1.0, middle, 3.0]])]), keys(3)))
    bits = np.array([[0x7FF8000000000000, 0x7FF8000000000001, 0xFFF8000000000000]], dtype=np.uint64)
    other = bits[:, ::-1].copy().view(float)
    assert np.isnan(other).all()
    gone = [MultiView([np.ones((1, 1)), nan]) for nan in (bits.view(float), other)]
    assert_array_equal(*(hash_samples(X, keys(4)) for X in gone))


def test_keys():
    a = keys(1000)
    assert a.shape == (1000,) and a.dtype == np.uint64
    assert (a % np.uint64(2) == 1).all() and len(set(a.tolist())) == 1000
    assert a.max() > 2**63  # all 64 bits are in use
    assert_array_equal(a, keys(1000))
    assert not np.array_equal(a, keys(1000, seed=1))


@pytest.mark.parametrize("ties", TIES)
def test_scores_without_ties_are_left_alone(ties):
    X = MultiView(some_views(m=30))
    rng = np.random.default_rng(0)
    for scores in (rng.normal(size=30), rng.normal(size=(30, 4))):
        before = scores.copy()
        after = break_ties(scores, X, ties, keys(5))
        assert_array_equal(after, before)
        after[:] = 7.0
        assert_array_equal(scores, before)  # a copy


@pytest.mark.parametrize("ties, winner", [("smallest", [1, 0]), ("largest", [3, 3])])
def test_more_classes(ties, winner):
    X = MultiView(some_views(m=2))
    scores = np.array([[0.0, 2.0, 1.0, 2.0], [1.0, 1.0, 1.0, 1.0]])
    after = break_ties(scores, X, ties, keys(5))
    assert_array_equal(after.argmax(axis=1), winner)
    moved = after != scores
    assert_array_equal(moved.sum(axis=1), 1)  # only the winner
    assert (after[moved] - scores[moved] <= 2e-9).all()


@pytest.mark.parametrize("ties", TIES)
def test_width(ties):
    """Scores that differ by the width or less are equal, others are not."""
    X, w = MultiView(some_views(m=200)), 2.0**-10
    side = np.where(np.arange(200) % 2, 1, -1)
    near = np.repeat([w, 0.0], 100) * side
    wins = {"smallest": 0, "largest": 1, "random": coins(X)}[ties]
    assert_array_equal(break_ties(near, X, ties, keys(5), width=w), w * (2 * wins - 1))
    far = np.nextafter(w, 1) * side
    assert_array_equal(break_ties(far, X, ties, keys(5), width=w), far)
    three = np.column_stack([near, np.full(200, 2.0), 2.0 - np.abs(near)])
    after = break_ties(three, X, ties, keys(5), width=w)
    assert set(after.argmax(axis=1)) <= {1, 2}
    assert (after.max(axis=1) == 2.0 + w).all()


def test_two_classes_and_two_columns_agree_on_who_wins():
    X = MultiView(some_views(m=300))
    as_columns = break_ties(np.zeros((300, 2)), X, "random", keys(5)).argmax(axis=1)
    assert_array_equal(coins(X), as_columns)


def test_sample_of_zeros_has_a_coin_that_depends_on_the_keys():
    assert 5 < sum(coins(MultiView([np.zeros((1, 3))]), seed)[0] for seed in range(40)) < 35
