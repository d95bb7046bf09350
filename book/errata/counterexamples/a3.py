"""A3: a sample has a loss above the printed E = 1 + 2c sqrt(LV) M."""

import numpy as np


def svm(Phi, y, box):
    """Minimise (2) without intercept, by exact coordinate steps in the dual; box is c/m."""
    alpha, theta = np.zeros(len(y)), np.zeros(Phi.shape[1])
    for _ in range(200):
        for i, mu in enumerate(Phi):
            new = np.clip(alpha[i] + (1 - y[i] * mu @ theta) / (mu @ mu), 0, box)
            theta, alpha[i] = theta + (new - alpha[i]) * y[i] * mu, new
    return theta


m, L, V, c = 10, 10, 3, 0.03
Phi = np.ones((m, L * V))  # equal samples and landmarks, one label
loss = 1 + Phi[0] @ svm(Phi, np.ones(m), c / m)  # of the same point with the other label
printed = 1 + 2 * c * np.sqrt(L * V)
corrected = 1 + min(np.sqrt(c * L * V), c * L * V)
print(f"A loss of {loss:.2f} occurs; E is printed as {printed:.2f}, and should be {corrected:.2f}.")
assert loss <= corrected + 1e-9, "the corrected E"
assert loss > printed, "the printed E"
