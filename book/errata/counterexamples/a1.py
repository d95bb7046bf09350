"""A1: one of ten equal samples is removed; theta moves further than the printed line allows."""

import numpy as np


def svm(Phi, y, box):
    """Minimise (2) without intercept, by exact coordinate steps in the dual; box is c/m."""
    alpha, theta = np.zeros(len(y)), np.zeros(Phi.shape[1])
    for _ in range(200):
        for i, mu in enumerate(Phi):
            new = np.clip(alpha[i] + (1 - y[i] * mu @ theta) / (mu @ mu), 0, box)
            theta, alpha[i] = theta + (new - alpha[i]) * y[i] * mu, new
    return theta


V, L, m, c = 3, 1, 10, 0.2
Phi, y = np.ones((m, L * V)), np.resize([1.0, -1.0], m)  # the landmark is the same point
delta = svm(Phi[1:], y[1:], c / m) - svm(Phi, y, c / m)
left, right = delta @ delta, c / m * abs(delta @ Phi[0])
print(f"The square of the norm of Delta theta is {left:.4f},")
print(f"and (c/m) |Delta f(x_i)| is {right:.4f}: equal, so that twice the first is more.")
assert left <= right * (1 + 1e-9), "the corrected line"
assert 2 * left > right * (1 + 1e-9), "the printed line"
