"""Table 1 and (9) of MVNA-KMHKS: a random first Gamma stays in b for ever."""

import numpy as np

rng = np.random.default_rng(0)
n, c = 80, 0.1
Y = np.repeat([-1.0, 1.0], n // 2)
X = rng.normal(size=(n, 2)) + Y[:, None]
G = np.outer(Y, Y) * np.exp(-((X[:, None] - X) ** 2).sum(axis=2))
A = np.block([[G + c * np.eye(n), Y[:, None]], [Y @ G, np.array([[n]])]])
inverse = np.linalg.inv(A)


def value_at_the_end(Gamma, old):  # of (3), from b = 0; M = 1, gamma = 0
    b, f = np.zeros(n), G @ Gamma
    for _ in range(1000):
        x = inverse @ np.append(1 + b, Y @ (1 + b))  # (7)
        before, f = f, G @ x[:n] + x[n] * Y
        e = (before if old else f) - 1 - b  # (9) prints the error of the old Gamma
        b = b + 0.5 * (e + np.abs(e))
    return np.sum((f - 1 - b) ** 2) + c * x[:n] @ G @ x[:n]


random = rng.normal(size=n)
printed, fresh = value_at_the_end(random, old=True), value_at_the_end(random, old=False)
zero = value_at_the_end(np.zeros(n), old=True)
print(f"From a random Gamma, with the errors of the old Gamma, (3) ends at {printed:.0f};")
print(f"with the errors of the new Gamma at {fresh:.0f}, and from Gamma = 0 at {zero:.0f}.")

assert printed > 1.5 * fresh
assert printed > 1.5 * zero
