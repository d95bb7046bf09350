"""After (18), MVNA-KMHKS: (4) does not hold the functions of (11) in the ball of KMHKS."""

import numpy as np

rng = np.random.default_rng(0)
n, m, c = 120, 15, 0.001
Y = np.repeat([-1.0, 1.0], n // 2)
X = rng.normal(size=(n, 2)) + Y[:, None]
G = np.outer(Y, Y) * np.exp(-((X[:, None] - X) ** 2).sum(axis=2))
S = rng.choice(n, m, replace=False)
K = G[:, S] @ np.linalg.pinv(G[np.ix_(S, S)], rcond=1e-10, hermitian=True) @ G[S]


def fit(K):  # (7) and (9) with M = 1 and gamma = 0
    A = np.block([[K + c * np.eye(n), Y[:, None]], [Y @ K, np.array([[n]])]])
    inverse, b = np.linalg.inv(A), np.zeros(n)
    for _ in range(200):
        x = inverse @ np.append(1 + b, Y @ (1 + b))
        b = np.maximum(b, K @ x[:n] + x[n] * Y - 1)
    return x[:n]


kmhks, view = fit(G), fit(K)
radius, learnt, printed = (np.sqrt(g @ A @ g) for g, A in [(kmhks, G), (view, K), (view, G)])
print(f"Radius of KMHKS, sqrt(Gamma' G Gamma): {radius:.0f}")
print(f"of a view, sqrt(Gamma' K Gamma), which (4) penalises: {learnt:.0f}")
print(f"of the same view by (11), sqrt(Gamma' G Gamma): {printed:.0f}")

assert learnt < 1.01 * radius
assert printed > 3 * radius
