"""Shapley values: what each player of a game adds, on average over the orders of joining.

A game is a table of the worths of coalitions. Of up to ten players all coalitions are asked, and
the values are exact; of more, random orders and their reverses (antithetic pairs). Beside the value
of a player stand what it is worth alone, and what the others lose without it.
"""

from math import comb

import numpy as np

MOST = 10  # players of whom all coalitions are asked


def coalitions_of(n_players, rng):
    """Return the coalitions to ask about and what their worths say of each player.

    n_players G -> coalitions (C, G) of bool; weights (3, G, C): times worths (C, ...) they are the
    Shapley values (of more than ten players an estimate, from one pair of orders), the worths alone
    and the losses without.

    >>> coalitions, weights = coalitions_of(2, None)
    >>> coalitions.astype(int).tolist()
    [[0, 0], [1, 0], [0, 1], [1, 1]]
    >>> weights @ [0.0, 1.0, 1.0, 4.0]  # 1 each alone, and half of what they do together
    array([[2., 2.],
           [1., 1.],
           [3., 3.]])
    """
    each = np.arange(n_players)
    if n_players <= MOST:
        coalitions = (np.arange(2**n_players)[:, None] >> each) & 1 == 1
        nobody, everybody, alone, without = 0, -1, 2**each, 2**n_players - 1 - 2**each
        values = _over_all_orders(coalitions)
    else:
        coalitions, values = _of_two_orders(n_players, rng)
        nobody, everybody = 0, n_players
        alone = len(coalitions) + each
        without = alone + n_players
        eye = np.eye(n_players, dtype=bool)
        coalitions = np.vstack([coalitions, eye, ~eye])
        values = np.pad(values, [(0, 0), (0, 2 * n_players)])
    weights = np.stack([values, np.zeros_like(values), np.zeros_like(values)])
    weights[1, each, alone] += 1
    weights[1, each, nobody] -= 1
    weights[2, each, everybody] += 1
    weights[2, each, without] -= 1
    return coalitions, weights


def _over_all_orders(coalitions):
    """A coalition of s players comes before a given other one in s! (G - s - 1)! of G! orders."""
    n_players = coalitions.shape[1]
    size = coalitions.sum(axis=1)
    share = np.array([1 / (n_players * comb(n_players - 1, s)) for s in range(n_players)])
    joined = share[size - 1][:, None] * coalitions  # of nobody: 0, whatever the share
    waiting = share[size % n_players][:, None] * ~coalitions  # of everybody: 0
    return (joined - waiting).T


def _of_two_orders(n_players, rng):
    order = rng.permutation(n_players)
    coalitions, values = [], np.zeros((n_players, 2 * (n_players + 1)))
    for half, joining in enumerate((order, order[::-1])):
        place = np.argsort(joining)
        coalitions.append(place < np.arange(n_players + 1)[:, None])
        before = half * (n_players + 1) + place
        values[np.arange(n_players), before] = -0.5
        values[np.arange(n_players), before + 1] = 0.5
    return np.vstack(coalitions), values
