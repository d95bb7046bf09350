"""Equation (11) of MVNA-KMHKS adds the intercept n times; equation (2) adds it once."""

import numpy as np

rng = np.random.default_rng(0)
n, c = 120, 1.0
Y = np.repeat([-1.0, 1.0], [40, 80])
X = rng.normal(size=(n, 2)) + Y[:, None]
k = np.exp(-((X[:, None] - X) ** 2).sum(axis=2))
G = np.outer(Y, Y) * k
A = np.block([[G + c * np.eye(n), Y[:, None]], [Y @ G, np.array([[n]])]])
b = np.zeros(n)
for _ in range(50):  # M = 1, gamma = 0 and K = G, where (11) should be (2)
    *alpha, w0 = np.linalg.solve(A, np.append(1 + b, Y @ (1 + b)))
    b = np.maximum(b, G @ alpha + w0 * Y - 1)
once = k @ (Y * alpha) + w0
n_times = (Y * alpha * k + w0).sum(axis=1)
right_2, right_11 = np.mean(np.sign(once) == Y), np.mean(np.sign(n_times) == Y)
print(f"Training patterns that (2) has right: {100 * right_2:.0f} %, (11): {100 * right_11:.0f} %.")
print(f"(11) names {len(set(np.sign(n_times)))} class for all patterns.")

assert right_2 > right_11 + 0.1
assert len(set(np.sign(n_times))) == 1
