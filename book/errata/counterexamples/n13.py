"""Equation (16) of MVNA-KMHKS leaves out the intercept, which (2) and (11) have."""

import numpy as np

rng = np.random.default_rng(0)
n, B = 200, 0.1
X = rng.normal(size=(n, 2))
K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2))
by_16 = 2 * B / n * np.sqrt(np.trace(K))
signs = rng.choice([-1.0, 1.0], (2000, n))
ball = 2 * B / n * np.sqrt(((signs @ K) * signs).sum(axis=1))
one = 2 / n * np.abs(signs.sum(axis=1))  # the sup of 2/n sum_i sigma_i w0 for |w0| <= 1
complexity = {w: np.mean(ball + w * one) for w in (0, 1, 100)}
print(f"(16) says at most {by_16:.2f}. The complexity with |w0| at most")
print(", ".join(f"{w} is {value:.2f}" for w, value in complexity.items()))

assert complexity[0] <= by_16
assert complexity[1] > 2 * by_16
assert complexity[100] > 100 * by_16  # and it grows without limit
