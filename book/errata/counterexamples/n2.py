"""Equation (5) of MVNA-KMHKS is not the derivative of (4) if the weights mu differ."""

import numpy as np

rng = np.random.default_rng(0)
n, gamma, c = 30, 2.0, 0.5
Y = rng.choice([-1.0, 1.0], n)
Ks = np.array([F @ F.T for F in rng.normal(size=(3, n, 4))])
Gammas, w0s, b = rng.normal(size=(3, n)), rng.normal(size=(3, 1)), rng.random((3, n))
direction = rng.normal(size=n)


def objective(Gammas, mu):  # equation (4)
    f = np.einsum("pij,pj->pi", Ks, Gammas) + w0s * Y
    norms = np.einsum("pi,pij,pj->", Gammas, Ks, Gammas)
    return np.sum((f - 1 - b) ** 2) + c * norms + gamma * np.sum((f - mu @ f) ** 2), f


off = {}
for mu in (np.array([1, 1, 1]) / 3, np.array([0.7, 0.2, 0.1])):
    step = np.outer([0.1, 0, 0], direction)  # of the first Gamma; exact, since (4) is quadratic
    slope = (objective(Gammas + step, mu)[0] - objective(Gammas - step, mu)[0]) / 0.2
    f = objective(Gammas, mu)[1]
    by_5 = (1 + gamma) * f[0] + c * Gammas[0] - (1 + b[0] + gamma * mu @ f)  # left less right
    term = -gamma * mu[0] * (f - mu @ f).sum(axis=0)
    slopes = [2 * direction @ Ks[0] @ part for part in (by_5, by_5 + term)]
    off[len(set(mu))] = printed, whole = [abs(s / slope - 1) for s in slopes]
    print(
        f"weights {mu.round(2)}: (5) is off by {printed:.0%}, with the missing term by {whole:.0%}"
    )

assert off[1][0] < 1e-6  # equal weights: (5) is right
assert off[3][0] > 0.05 and off[3][1] < 1e-6
