"""MVPO, after (1): Psi is printed as a function of the true tuple, but sums over the candidate."""

from itertools import product

import numpy as np

rng = np.random.default_rng(0)
x, w, y = rng.normal(size=(6, 3)), rng.normal(size=3), np.array([1, -1, 1, 1, -1, -1])


def psi(labels):
    """Sum of the samples, each with its label."""
    return labels @ x


candidates = [np.array(labels) for labels in product([-1, 1], repeat=6)]
by_left_side = {float(w @ psi(y)) for _ in candidates}
by_right_side = {float(w @ psi(labels)) for labels in candidates}
best = max(candidates, key=lambda labels: w @ psi(labels))

print("values of the 64 candidates in (2), Psi of the true tuple:", len(by_left_side))
print("Psi of the candidate:", len(by_right_side), "- the best one has the signs of the scores")
assert len(by_left_side) == 1 and len(by_right_side) > 60
assert (best == np.sign(x @ w)).all()
