"""The interval of a mean paired difference over splits: its level, and where nothing differs."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mvref.compare.paired import OuterSplit, interval, power
from mvref.experiments.calibration import interval_of_samples


def cut(n_units, n_repeats=2, n_splits=5, rng=None):
    """Repeat and units of the test part of every split."""
    rng = np.random.default_rng(0) if rng is None else rng
    for repeat in range(n_repeats):
        for units in np.array_split(rng.permutation(n_units), n_splits):
            yield repeat, units


def one_pair(d, sizes=None, **kinds):
    """The splits of a method with differences d (n_repeats, n_units) to another."""
    sizes = np.ones(d.shape[1]) if sizes is None else sizes
    return [
        OuterSplit(repeat, sizes.sum() - sizes[units].sum(), units, sizes[units],
               np.array([d[repeat, units], 0.0 * units]), np.zeros(2))
        for repeat, units in cut(d.shape[1], len(d), **kinds)
    ]  # fmt: skip


def a_choice(rng, n_units=60, size=1, qualities=(0.75, 0.6, 0.6)):
    """Two equal families of three candidates; the training units choose, and move all by a bit.

    Samples of a unit are right together in half of the cases.
    """
    p = np.tile(qualities, 2)[:, None, None]
    alone = rng.random((6, n_units, size)) < p
    together = rng.random((6, n_units, 1)) < p
    right = np.where(rng.random((6, n_units, 1)) < 0.5 * (size > 1), together, alone).sum(axis=2)
    splits = []
    for repeat, units in cut(n_units, rng=rng):
        trains = np.setdiff1d(np.arange(n_units), units)
        values = right[:, trains].mean(axis=1) / size
        parts = right[:, units] + rng.normal(size=(6, 1)) * 0.02 * size
        counts = np.full(len(units), size)
        splits.append(OuterSplit(repeat, len(trains) * size, units, counts, parts, values))
    return splits


def wrong(found):
    """The share of intervals of equals that exclude 0."""
    found = np.array(found)
    return np.mean((found[:, 1] > 0) | (found[:, 2] < 0))


def before(splits):
    """The interval of samples, which holds what was chosen fixed."""
    d = [s.parts[3 + s.values[3:].argmax()] - s.parts[s.values[:3].argmax()] for s in splits]
    repeats = [np.concatenate(d[:5]), np.concatenate(d[5:])]
    return interval_of_samples(repeats, [np.full(len(of), splits[0].size[0]) for of in repeats])


@pytest.mark.parametrize(("n_units", "size"), [(60, 1), (20, 5)])
def test_level_where_the_splits_choose(n_units, size):
    rng = np.random.default_rng(1)
    found = [a_choice(rng, n_units, size) for _ in range(80)]
    fixed = wrong([before(splits) for splits in found])
    again = wrong([interval(splits, [3, 4, 5], [0, 1, 2]) for splits in found])
    assert again <= 0.065 + 1.5 * np.sqrt(0.05 * 0.95 / 80) and again < fixed
    few = wrong(
        [interval(splits[:n], [3, 4, 5], [0, 1, 2]) for splits in found[:40] for n in (1, 3, 7)]
    )
    assert few <= 0.065 + 1.5 * np.sqrt(0.05 * 0.95 / 40)


@pytest.mark.parametrize("sizes", [np.ones(50), np.arange(1.0, 26.0)])
def test_level_of_fixed_methods_with_effects_of_units_and_of_training(sizes):
    """d = unit + training set + rest; training sets of one data set have most in common."""
    rng, found = np.random.default_rng(2), []
    m = len(sizes)
    for _ in range(500):
        splits = one_pair((rng.normal(size=m) + 0.5 * rng.normal(size=(2, m))) * sizes, sizes)
        common = 0.3 * rng.normal() / np.sqrt(m)
        moved = (common + 0.2 * rng.normal() / np.sqrt(m) for _ in splits)
        moved = [
            replace(s, parts=s.parts + [[c], [0.0]] * s.size)
            for s, c in zip(splits, moved, strict=True)
        ]
        found.append(interval(moved, [0], [1]))
    assert wrong(found) <= 0.065 + 1.5 * np.sqrt(0.05 * 0.95 / 500)


@pytest.mark.parametrize(("n", "half"), [(20, 0.1391), (200, 0.01487), (2000, 0.001497)])
def test_equal_labels_are_no_proof(n, half):
    for sizes in (np.ones(n), np.full(n, 5.0)):
        for n_repeats in (1, 2):
            splits = one_pair(np.zeros((n_repeats, n)), sizes)
            assert_allclose(interval(splits, [0], [1]), (0.0, -half, half), rtol=1e-3)
    assert_allclose(interval(splits, [0], [1], reach=3.0)[2], 3 * half, rtol=1e-3)
    right = [replace(s, parts=s.parts + (s.units % 2) * 5.0) for s in splits]
    assert_allclose(interval(right, [0], [1], reach=None)[2], 0.5 * half, rtol=1e-3)


def test_differences_on_one_side_count_as_in_the_sign_test():
    for n_others, excluded in ((5, False), (6, True)):
        d = np.zeros((2, 100))
        d[:, :n_others] = 1.0
        assert (interval(one_pair(d), [0], [1])[1] > 0) == excluded


def test_the_rule_of_three_vanishes_beside_many_differences():
    d = np.random.default_rng(0).choice([-1.0, 0.0, 1.0], size=(1, 2000))
    new, old = interval(one_pair(d), [0], [1]), interval_of_samples(d, np.ones_like(d))
    assert_allclose(new, old, rtol=1e-2, atol=1e-12)


def test_of_two_repeats_that_disagree_the_interval_is_that_of_one():
    d = np.random.default_rng(0).normal(size=(2, 400))
    d -= d.mean(axis=1, keepdims=True)
    new, old = interval(one_pair(d), [0], [1]), interval_of_samples(d, np.ones_like(d))
    assert_allclose(new, old, atol=1e-12)


def test_neither_order_nor_names_count_and_sides_are_mirrors():
    rng = np.random.default_rng(3)
    splits = a_choice(rng, n_units=30)
    given = interval(splits, [3, 4, 5], [0, 1, 2])
    order, names = rng.permutation(10), rng.permutation(30)
    moved = []
    for k in order:
        s, o = splits[k], rng.permutation(len(splits[k].units))
        moved.append(replace(s, units=s.units[o], size=s.size[o], parts=s.parts[:, o]))
    assert_allclose(interval(moved, [4, 5, 3], [2, 0, 1]), given, atol=1e-9)
    mean, low, high = interval(splits, [0, 1, 2], [3, 4, 5])
    assert_allclose((-mean, -high, -low), given, atol=1e-12)
    renamed = [replace(s, units=names[s.units]) for s in splits]
    assert_allclose(interval(renamed, [3, 4, 5], [0, 1, 2]), given, atol=0.02)


def test_equal_values_are_told_apart_by_what_follows():
    split = one_pair(np.ones((1, 10)))[:1]
    for tie, mean in ((0.1, 0.0), (-0.1, 1.0)):
        values = np.array([[0.5, 0.0], [0.5, tie]])
        both = [replace(split[0], values=values)]
        assert interval(both, [0, 1], [1])[0] == mean


def test_who_chooses_among_equal_candidates_has_the_interval_of_one():
    splits = one_pair(np.random.default_rng(0).choice([-1.0, 0.0, 1.0], size=(1, 200)))
    one = interval(splits, [0], [1])
    twice = [replace(s, parts=s.parts[[0, 0, 1]], values=np.zeros(3)) for s in splits]
    assert_allclose(interval(twice, [0, 1], [2]), one, atol=1e-12)


def test_one_split_tells_less_and_one_unit_nothing():
    splits = a_choice(np.random.default_rng(4), n_units=60)
    halves = [np.ptp(interval(splits[:n], [3, 4, 5], [0, 1, 2])[1:]) for n in (1, 3, 5, 10)]
    assert halves == sorted(halves, reverse=True)
    lone = OuterSplit(0, 4, np.array([0]), np.array([5]), np.ones((2, 1)), np.zeros(2))
    assert interval([lone], [0], [1])[1:] == (-np.inf, np.inf)


def test_power():
    seen, needed = power(-0.0196, 0.0196, 400)
    assert_allclose(seen, 0.028, rtol=1e-2)  # 2.8 standard errors
    assert_allclose(needed, 400 * 2.8**2, rtol=1e-2)
    for n in (20, 200, 2000, 20000):
        half = 1 - 0.05 ** (1 / n)
        seen, needed = power(-half, half, n)
        assert seen > half and needed >= 400
    assert power(-0.1, 0.1, 100, n_units=20)[1] >= 5 * 400
