"""Cost of the boosting rivals, against scikit-learn's own fits of the trees that they need.

Run by ``make bench``. The contestants take turns in one run, on one thread.
"""

import numpy as np
import pytest
from sklearn.base import clone

from mvref.rivals import MVWAB, Mumbo, RBoostSH
from tests.costs import medians

ROUNDS, K = 20, 5
TREES = {MVWAB: 3 * K * ROUNDS, RBoostSH: K * ROUNDS, Mumbo: 3 * ROUNDS}
SHARES = {MVWAB: 0.6, RBoostSH: 0.6, Mumbo: 0.9}  # most of the time of the trees alone


@pytest.mark.parametrize("method", TREES)
@pytest.mark.parametrize("n", [2000, 8000])
def test_a_fit_costs_less_than_its_trees_alone(record, method, n):
    """Three views of 20 features; for scikit-learn, weights and labels of any round."""
    rng = np.random.default_rng(0)
    y = rng.integers(K, size=n)
    views = [0.35 * rng.normal(size=(K, 20))[y] + rng.normal(size=(n, 20)) for _ in range(3)]
    model = method(n_estimators=ROUNDS, random_state=0)
    labels = y if method is Mumbo else y == 0
    depth = 3 if method is Mumbo else 2
    tree = model._learner().set_params(max_depth=depth, random_state=0)
    rows, weights = views[0].astype(np.float32), rng.exponential(size=n)
    size = TREES[method] // 10

    def trees():
        for _ in range(size):
            clone(tree).fit(rows, labels, weights)

    ours, part = medians([lambda: model.fit(views, y), trees], rounds=3)
    plain = 10 * part
    record(f"{method.__name__}, n={n}, {ROUNDS} rounds", ours, "its trees alone", plain)
    print(f"\n{method.__name__} n={n}: {ours:.2f} s, its trees alone {plain:.2f} s")
    assert ours <= SHARES[method] * plain
