"""Cost of MwMvC2: against the products that an update needs, and in samples and voters.

Run by ``make bench``. The contestants of a comparison take turns in one run, on one thread.
"""

from functools import partial

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from mvref import MwMvC2
from mvref.mwmvc2.weights import learn_weights
from tests.costs import medians, peak_bytes, tell

SAMPLES = np.array([10_000, 20_000, 40_000, 100_000])
VOTERS = np.array([50, 100, 200, 500])  # below, what is done once per sample counts as much
N_VIEWS, FIXED_VOTERS, FIXED_SAMPLES = 4, 20, 10_000


def tables(m, n_voters):
    """Votes of voters that are right on 55 to 75 % of the samples, one table per view."""
    rng = np.random.default_rng(0)
    right = rng.uniform(0.55, 0.75, size=(N_VIEWS, n_voters))
    return [np.where(rng.random((m, n_voters)) < r, 1.0, -1.0) for r in right]


@pytest.mark.parametrize("rho_step", ["qp", "exact"])
def test_an_update_costs_little_more_than_its_products(benchmark, rho_step):
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
    benchmark.extra_info.update({"products": least, "update": update, "call": one})
    benchmark.pedantic(products, rounds=3)
    assert rho_step == "exact" or update <= 3 * least


@pytest.mark.parametrize("axis", ["samples", "voters"])
def test_time_of_the_weights_is_linear(benchmark, axis):
    x, sizes = weight_sizes(axis)
    calls = [partial(learn_weights, tables(*size), max_iter=5) for size in sizes]
    slope = tell(benchmark, f"time of weights by {axis}", x, 1e3 * medians(calls, 7), "ms")
    benchmark.pedantic(calls[0], rounds=3)
    assert 0.8 <= slope <= 1.2


@pytest.mark.parametrize("axis", ["samples", "voters"])
def test_memory_of_the_weights_is_linear(benchmark, axis):
    """What is held beyond the tables; with more voters it grows less than linearly."""
    x, sizes = weight_sizes(axis)
    calls = [partial(learn_weights, tables(*size), max_iter=5) for size in sizes]
    peaks = np.array([peak_bytes(call) for call in calls])
    slope = tell(benchmark, f"memory of weights by {axis}", x, peaks / 2**20, "MiB")
    benchmark.pedantic(calls[0], rounds=1)
    assert slope <= 1.1 and (axis == "voters" or slope >= 0.9)


def weight_sizes(axis):
    """Pairs (m, n_v) along one axis."""
    if axis == "samples":
        return SAMPLES, [(m, FIXED_VOTERS) for m in SAMPLES]
    return VOTERS, [(FIXED_SAMPLES, n) for n in VOTERS]


@pytest.fixture(scope="module")
def data():
    """Four views of 5 features, two classes."""
    rng = np.random.default_rng(0)
    y = np.arange(SAMPLES.max()) % 2
    return [rng.normal(size=(len(y), 5)) + 0.3 * y[:, None] for _ in range(N_VIEWS)], y


def fits(data):
    """A fit with five stumps a view for each number of samples."""
    views, y = data
    stumps = [DecisionTreeClassifier(max_depth=1, random_state=j) for j in range(5)]
    return [lambda m=m: MwMvC2(stumps).fit([view[:m] for view in views], y[:m]) for m in SAMPLES]


def test_time_of_fit_is_linear(benchmark, data):
    """Up to the logarithm of sorting the features."""
    calls = fits(data)
    slope = tell(benchmark, "time of fit by samples", SAMPLES, 1e3 * medians(calls, 3), "ms")
    benchmark.pedantic(calls[0], rounds=1)
    assert 0.8 <= slope <= 1.25


def test_memory_of_fit_is_linear(benchmark, data):
    calls = fits(data)
    peaks = np.array([peak_bytes(call) for call in calls])
    slope = tell(benchmark, "memory of fit by samples", SAMPLES, peaks / 2**20, "MiB")
    benchmark.pedantic(calls[0], rounds=1)
    assert 0.9 <= slope <= 1.1
