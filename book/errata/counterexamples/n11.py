"""Equation (18) of MVNA-KMHKS promises a small risk for labels that nobody can predict."""

import numpy as np

rng = np.random.default_rng(0)
n, B, delta, broken = 400, 0.001, 0.01, 0
for _ in range(20):  # samples; (18) may fail for one in a hundred
    X, y = rng.uniform(-1, 1, (n, 2)), rng.choice([-1.0, 1.0], n)  # labels by a coin
    k = np.exp(-1e5 * ((X[:, None] - X) ** 2).sum(axis=2))
    G = np.outer(y, y) * k
    Gamma = np.ones(n) * B / np.sqrt(np.ones(n) @ G @ np.ones(n))  # Gamma' G Gamma = B^2
    train = np.mean(np.sign(k @ (y * Gamma)) != y)
    bound = train + B * np.sqrt(np.trace(G) / n) + np.sqrt(np.log(1 / delta) / (2 * n))
    new, labels = rng.uniform(-1, 1, (1000, 2)), rng.choice([-1.0, 1.0], 1000)
    scores = np.exp(-1e5 * ((new[:, None] - X) ** 2).sum(axis=2)) @ (y * Gamma)
    error = np.mean(np.where(scores >= 0, 1, -1) != labels)
    broken += error > bound + 0.2
print(f"The training error is {train:.0f}, and (18) promises a risk of at most {bound:.2f}.")
print(f"The error on new patterns is {error:.1f}; (18) fails for {broken} of 20 samples.")

assert broken == 20
