"""Equation (17) of MVNA-KMHKS does not fall with n, as the complexity and (16) do."""

import numpy as np

rng = np.random.default_rng(0)
B, found = 1.0, []
for n in (50, 200, 800):
    X = rng.normal(size=(n, 2))
    K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2))
    signs = rng.choice([-1.0, 1.0], (500, n))
    complexity = np.mean(2 * B / n * np.sqrt(((signs @ K) * signs).sum(axis=1)))  # (13), (14)
    by_16, by_17 = 2 * B / n * np.sqrt(np.trace(K)), 2 * B * np.sqrt(np.trace(K) / n)
    found.append((complexity, by_16, by_17))
    print(f"n = {n}: complexity {complexity:.2f}, bound (16) {by_16:.2f}, (17) {by_17:.2f}")

complexity, by_16, by_17 = np.array(found).T
assert np.allclose(by_17, by_17[0])  # the same for every n
assert complexity[-1] < 0.4 * complexity[0]
assert (complexity <= by_16).all() and (by_16 <= 1.5 * complexity).all()
