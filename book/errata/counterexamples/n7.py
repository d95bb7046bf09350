"""Equation (9) of MVNA-KMHKS: the first b remains a floor, and (3) ends higher for it."""

import numpy as np

rng = np.random.default_rng(0)
n, c = 80, 0.1
Y = np.repeat([-1.0, 1.0], n // 2)
X = rng.normal(size=(n, 2)) + Y[:, None]
G = np.outer(Y, Y) * np.exp(-((X[:, None] - X) ** 2).sum(axis=2))
A = np.block([[G + c * np.eye(n), Y[:, None]], [Y @ G, np.array([[n]])]])
inverse = np.linalg.inv(A)


def value_at_the_end(b, rho=0.5):  # of (3), after 1000 steps of (7) and (9); M = 1, gamma = 0
    for _ in range(1000):
        x = inverse @ np.append(1 + b, Y @ (1 + b))
        f = G @ x[:n] + x[n] * Y
        b = b + rho * (f - 1 - b + np.abs(f - 1 - b))
    return np.sum((f - 1 - b) ** 2) + c * x[:n] @ G @ x[:n]


zeros, ones = value_at_the_end(np.zeros(n)), value_at_the_end(np.ones(n))
random = value_at_the_end(rng.random(n))
print(f"From b = 0 the criterion (3) ends at {zeros:.0f}, from b = 1 at {ones:.0f},")
print(f"from random b between 0 and 1 at {random:.0f}.")

assert random > 1.3 * zeros
assert ones > 1.3 * random
