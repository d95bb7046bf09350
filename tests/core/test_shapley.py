"""Shapley values of games against the mean over all orders of joining."""

from itertools import permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mvref.core.shapley import MOST, coalitions_of


@pytest.mark.parametrize("n_players", [1, 2, 3, 5])
def test_values_are_means_over_all_orders(n_players):
    coalitions, weights = coalitions_of(n_players, None)
    worth = np.random.RandomState(n_players).normal(size=len(coalitions))
    of = {frozenset(np.flatnonzero(c)): w for c, w in zip(coalitions, worth, strict=True)}
    assert len(of) == 2**n_players
    values = np.zeros(n_players)
    orders = list(permutations(range(n_players)))
    for order in orders:
        for place, player in enumerate(order):
            before = frozenset(order[:place])
            values[player] += (of[before | {player}] - of[before]) / len(orders)
    everybody = frozenset(range(n_players))
    alone = [of[frozenset({g})] - of[frozenset()] for g in range(n_players)]
    without = [of[everybody] - of[everybody - {g}] for g in range(n_players)]
    assert_allclose(weights @ worth, [values, alone, without], atol=1e-12)


def test_beyond_ten_players_pairs_of_orders_add_up_and_are_right_on_average():
    n_players = MOST + 2
    rng = np.random.RandomState(0)
    single, pair = rng.normal(size=n_players), rng.normal(size=(n_players, n_players))
    found = []
    for _ in range(400):
        coalitions, weights = coalitions_of(n_players, rng)
        c = coalitions.astype(float)
        worth = c @ single + (c @ pair * c).sum(axis=1)  # a pair shares what it does together
        found.append(weights @ worth)
        assert_allclose(found[-1][0].sum(), single.sum() + pair.sum(), atol=1e-9)
    found = np.array(found)
    exact = single + (pair.sum(axis=0) + pair.sum(axis=1)) / 2
    # an order and its reverse together are exact where at most two act together
    assert_allclose(found[:, 0], np.tile(exact, (400, 1)), atol=1e-9)
    assert_allclose(found[0, 1], single + np.diag(pair), atol=1e-9)
    assert_allclose(found[0, 2], single + pair.sum(0) + pair.sum(1) - np.diag(pair), atol=1e-9)


def test_orders_of_joining_are_equally_likely():
    rng, first = np.random.RandomState(1), np.zeros(MOST + 1)
    for _ in range(1100):
        coalitions, _ = coalitions_of(MOST + 1, rng)
        assert_array_equal(coalitions[0], False)
        first += coalitions[1]
    # 1100 draws of one of 11: standard deviation 9.5
    assert abs(first - 100).max() < 4 * 9.5
