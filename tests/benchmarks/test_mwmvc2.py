"""Cost of MwMvC2: against the products that an update needs, and in samples and voters.

Run by ``make bench``. The contestants of a comparison take turns in one run, on one thread.
"""

from functools import partial

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from mvref import MwMvC2
from mvref.mwmvc2.weights import learn_weights
from tests.costs import growth, medians

SAMPLES = np.array([10_000, 20_000, 40_000, 100_000])
VOTERS = np.array([50, 100, 200, 500])  # below, what is done once per sample counts as much
N_VIEWS = 4
# Along an axis: the sizes and pairs (m, n_v).
AXES = {
    "samples": (SAMPLES, [(m, 20) for m in SAMPLES]),
    "voters": (VOTERS, [(10_000, n) for n in VOTERS]),
}
# Slopes of time and of memory, which is what is held beyond the tables: with more voters it grows
# less than linearly. Time of a fit is linear up to the logarithm of sorting the features.
WEIGHTS = {("time", "samples"): (0.8, 1.2), ("time", "voters"): (0.8, 1.2)}
WEIGHTS |= {("memory", "samples"): (0.9, 1.1), ("memory", "voters"): (-np.inf, 1.1)}


def tables(m, n_voters):
    """Votes of voters that are right on 55 to 75 % of the samples, one table per view."""
    rng = np.random.default_rng(0)
    right = rng.uniform(0.55, 0.75, size=(N_VIEWS, n_voters))
    return [np.where(rng.random((m, n_voters)) < r, 1.0, -1.0) for r in right]


@pytest.mark.parametrize("rho_step", ["qp", "exact"])
def test_an_update_costs_little_more_than_its_products(rho_step):
    """M'q and M delta over all views; an update is a call of two updates less a call of one.

    The view weights by a quadratic program are the default and the claim; the exact ones evaluate
    the loss many times and are reported only.
    """
    Ms = tables(100_000, 50)
    q, deltas = np.random.default_rng(1).random(100_000), np.full(50, 0.1)

    def products():
        for M in Ms:
            M.T @ q
            M @ deltas

    def updates(T):
        return lambda: learn_weights(Ms, max_iter=T, rho_step=rho_step)

    least, one, five = medians([products, updates(1), updates(5)], rounds=9)
    update = (five - one) / 4
    print(
        f"\nm=100000, V=4, 50 voters a view, rho_step={rho_step}: products {1e3 * least:.1f} ms, "
        f"one update {1e3 * update:.1f} ms, ratio {update / least:.2f}; learn_weights with one "
        f"update, and the checks of its tables, {1e3 * one:.1f} ms"
    )
    assert rho_step == "exact" or update <= 3 * least


@pytest.mark.parametrize(("what", "axis"), WEIGHTS)
def test_cost_of_the_weights(what, axis):
    sizes, pairs = AXES[axis]
    calls = [partial(learn_weights, tables(*pair), max_iter=5) for pair in pairs]
    rounds = 7 if what == "time" else None
    slope, _ = growth(f"{what} of weights by {axis}", sizes, calls, rounds)
    low, high = WEIGHTS[what, axis]
    assert low <= slope <= high


@pytest.mark.parametrize(("what", "low", "high"), [("time", 0.8, 1.25), ("memory", 0.9, 1.1)])
def test_cost_of_a_fit(what, low, high):
    """Four views of 5 features, two classes, five stumps a view."""
    rng = np.random.default_rng(0)
    y = np.arange(SAMPLES.max()) % 2
    views = [rng.normal(size=(len(y), 5)) + 0.3 * y[:, None] for _ in range(N_VIEWS)]
    stumps = [DecisionTreeClassifier(max_depth=1, random_state=j) for j in range(5)]
    calls = [partial(MwMvC2(stumps).fit, [view[:m] for view in views], y[:m]) for m in SAMPLES]
    rounds = 3 if what == "time" else None
    slope, _ = growth(f"{what} of fit by samples", SAMPLES, calls, rounds)
    assert low <= slope <= high
