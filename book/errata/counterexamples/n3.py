"""Equation (7) of MVNA-KMHKS ends above the minimum of (4) if the weights mu differ."""

import numpy as np

rng = np.random.default_rng(0)
n, m, M, c, gamma = 30, 5, 3, 1.0, 100.0
Y = np.repeat([-1.0, 1.0], n // 2)
X = rng.normal(size=(n, 2)) + 0.8 * Y[:, None]
Fs = [Y[:, None] * np.exp(-((X[:, None] - X[rng.choice(n, m)]) ** 2).sum(axis=2)) for _ in range(M)]
As = [[[(1 + gamma) * F @ F.T + c * np.eye(n), (1 + gamma) * Y[:, None]],
       [(1 + gamma) * Y @ F @ F.T, np.array([[(1 + gamma) * n]])]] for F in Fs]  # fmt: skip
inverses = [np.linalg.inv(np.block(A)) for A in As]


def residuals(theta, mu):  # their squares sum to (4) with b = 0; theta_p = (F'Gamma, w0), K = FF'
    f = np.array([F @ t[:m] + t[m] * Y for F, t in zip(Fs, theta, strict=True)])
    parts = [f - 1, gamma**0.5 * (f - mu @ f), c**0.5 * theta[:, :m]]
    return np.concatenate([part.ravel() for part in parts]), f


above = {}
for mu in (np.array([1, 1, 1]) / 3, np.array([0.9, 0.05, 0.05])):
    theta = np.zeros((M, m + 1))
    for p in list(range(M)) * 1000:  # equation (7), a thousand times
        right = 1 + gamma * mu @ residuals(theta, mu)[1]
        x = inverses[p] @ np.append(right, Y @ right)
        theta[p] = np.append(Fs[p].T @ x[:n], x[n])
    zero = residuals(0 * theta, mu)[0]
    R = [residuals(e.reshape(theta.shape), mu)[0] - zero for e in np.eye(theta.size)]
    least = np.sum((zero + np.linalg.lstsq(np.array(R).T, -zero)[0] @ R) ** 2)
    above[mu[0]] = np.sum(residuals(theta, mu)[0] ** 2) / least - 1
    print(f"weights {mu.round(2)}: (7) ends {above[mu[0]]:.0%} above the minimum of (4)")

assert above[1 / 3] < 1e-4 and above[0.9] > 0.02
