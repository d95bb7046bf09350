"""Shapley values: the contribution of each player of a game, averaged over the orders of joining.

A game is a table of the worths of coalitions. For up to ten players all coalitions are evaluated,
and the values are exact; for more, random orders and their reverses (antithetic pairs). Beside the
value of a player stand its worth alone, and the loss of the others without it.
"""

from math import comb

import numpy as np
from tqdm import tqdm

MOST = 10  # players up to which all coalitions are evaluated
N_CHECKS = 512  # questions, at least, that test whether answers are sums over the players


def coalitions_of(n_players, rng):
    """Return the coalitions to evaluate, and the weights of their worths for each player.

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
    """Return Shapley weights: s players precede a given one in s! (G - s - 1)! of G! orders."""
    n_players = coalitions.shape[1]
    size = coalitions.sum(axis=1)
    share = np.array([1 / (n_players * comb(n_players - 1, s)) for s in range(n_players)])
    joined = share[size - 1][:, None] * coalitions  # the empty coalition: 0, whatever the share
    waiting = share[size % n_players][:, None] * ~coalitions  # the full coalition: 0
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


def standard_error(found):
    """Return the standard error of the mean of draws (n_draws, ...)."""
    return found.std(axis=0, ddof=min(1, len(found) - 1)) / np.sqrt(len(found))


class Game:
    """The game of samples that have the same players, each present or absent.

    said(rows, others, kept): answers (m, K). The results are tables (3, n, p, K) of the p players:
    Shapley values, worths alone, losses without.
    """

    def __init__(self, said, rows, behind, players, n_players):
        self.said, self.rows, self.behind = said, rows, behind
        self.players, self.n_players = players, n_players

    def ask(self, rows, others, coalitions):
        """Return the answers (m, K) for rows (m,), others (m,) and coalitions (m, p)."""
        kept = np.zeros((len(rows), self.n_players), dtype=bool)
        kept[:, self.players] = coalitions
        return self.said(rows, others, kept)

    def worths(self, coalitions, rows, others):
        """Return the worths (C, n, K) for rows (n,), means over others (n, B)."""
        step = max(1, 200_000 // others.size)
        found = []
        for start in tqdm(range(0, len(coalitions), step), delay=10, leave=False):
            some = coalitions[start : start + step]
            c, i, b = np.indices((len(some), *others.shape)).reshape(3, -1)
            answers = self.ask(rows[i], others[i, b], some[c])
            found.append(answers.reshape(len(some), *others.shape, -1).mean(axis=2))
        return np.concatenate(found)

    def of_coalitions(self, replaces, n_pairs, rng):
        """Evaluate all coalitions, or pairs of orders; return values and their standard errors."""
        n, p, found = len(self.rows), len(self.players), []
        nobody = self.worths(np.zeros((1, p), dtype=bool), self.rows[:1], self.behind[None])[0]
        for _ in tqdm(range(n_pairs), delay=10, leave=False, unit="pair of orders"):
            coalitions, weights = coalitions_of(p, rng)
            if p > MOST:
                others = rng.choice(self.behind, (n, 1))
            else:
                others = self.behind if replaces else self.behind[:1]
                others = np.broadcast_to(others, (n, len(others)))
            worths = self.worths(coalitions, self.rows, others)
            if p <= MOST or not replaces:
                worths[~coalitions.any(axis=1)] = nobody
            found.append(np.einsum("spc,cnk->snpk", weights, worths))
        found = np.array(found)
        return found.mean(axis=0), standard_error(found[:, 0])

    def of_a_sum(self, rng):
        """Evaluate one player at a time if the answers are sums over the players; else return None.

        For a sum, the contributions of the players, with a training sample r in place of the
        others, give the answer to every question; random questions test whether they do.
        """
        n, p, r = len(self.rows), len(self.players), self.behind[:1]
        start = self.ask(self.rows[:1], r, np.zeros((1, p), dtype=bool))
        own = self.worths(np.eye(p, dtype=bool), self.rows, np.repeat(r, n)[:, None]) - start
        v, b = np.indices((p, len(self.behind))).reshape(2, -1)
        first = np.repeat(self.rows[:1], len(v))
        behind = self.ask(first, self.behind[b], ~np.eye(p, dtype=bool)[v])
        behind = behind.reshape(p, len(self.behind), -1)
        behind = behind - behind[:, :1]
        i = np.resize(np.arange(n), max(N_CHECKS, 8 * n))
        b = rng.randint(len(self.behind), size=len(i))
        joined = rng.uniform(size=(len(i), p)) < 0.5
        answers = self.ask(self.rows[i], self.behind[b], joined)
        told = start + np.where(joined.T[..., None], own[:, i], behind[:, b]).sum(axis=0)
        if np.abs(answers - told).max() > 1e-8 * np.abs(answers).max():
            return None
        values = (own - behind.mean(axis=1, keepdims=True)).transpose(1, 0, 2)
        return np.broadcast_to(values, (3, *values.shape))
