"""How the cost of MVPO grows with the samples; run by ``make bench``."""

from functools import partial

import numpy as np
import pytest

from mvref import MVPO
from mvref.mvpo.most_violated import f_beta_argmax
from tests.costs import growth


def scores(n):
    """Scores t X w with t = 1/n, a tenth of the samples positive and higher by 1."""
    rng = np.random.default_rng(0)
    y = np.where(np.arange(n) % 10 == 0, 1, -1)
    return (rng.normal(size=n) + (y > 0)) / n, y


def test_most_violated_cut_of_200_000_samples():
    """Within 50 ms, and linear but for the logarithm of sorting."""
    sizes = np.array([25_000, 50_000, 100_000, 200_000, 400_000])
    calls = [partial(f_beta_argmax, *scores(n)) for n in sizes]
    slope, cost = growth("most violated cut of F1", sizes, calls, 9)
    assert cost[3] <= 50 and slope <= 1.25


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("solver", "sizes", "d", "steepest"),
    [
        ("primal", [2000, 4000, 8000, 16_000, 32_000], 200, 1.25),
        ("dual", [250, 500, 1000, 2000], 4000, 3.2),
    ],
)
def test_time_of_thirty_iterations(solver, sizes, d, steepest):
    """With a fixed number of columns the primal is linear in n, and the dual n^2 d + n^3."""
    rng = np.random.default_rng(0)
    y = np.arange(max(sizes)) % 4 == 0
    views = [rng.normal(size=(len(y), d // 2)) / np.sqrt(d) + 0.02 * y[:, None] for _ in range(2)]
    model = MVPO("f1", solver=solver, C2=2500.0, tol=1e-12, max_iter=30)
    calls = [partial(model.fit, [view[:n] for view in views], y[:n]) for n in sizes]
    slope, _ = growth(f"{solver}, d={d}", sizes, calls, 5)
    assert model.n_iter_ == 30 and slope <= steepest
