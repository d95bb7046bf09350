"""A2: a label is flipped; the loss changes by more than the printed stability c L V M^2 / m."""

import numpy as np


def svm(Phi, y, box):
    """Minimise (2) without intercept, by exact coordinate steps in the dual; box is c/m."""
    alpha, theta = np.zeros(len(y)), np.zeros(Phi.shape[1])
    for _ in range(30):
        for i, mu in enumerate(Phi):
            new = np.clip(alpha[i] + (1 - y[i] * mu @ theta) / (mu @ mu), 0, box)
            theta, alpha[i] = theta + (new - alpha[i]) * y[i] * mu, new
    return theta


def change(Phi, y, c):
    """Largest change of the hinge loss at a sample, over all flips of one label."""
    flips = [np.where(np.arange(len(y)) == i, -y, y) for i in range(len(y))]
    before, after = Phi @ svm(Phi, y, c / len(y)), [Phi @ svm(Phi, t, c / len(y)) for t in flips]
    return max(np.abs(np.maximum(0, 1 - s * before) - np.maximum(0, 1 - s * f)).max()
               for f in after for s in (-1, 1))  # fmt: skip


rng = np.random.default_rng(0)
x, landmarks = 0.5 * rng.normal(size=(20, 1)), np.array([0.0, 0.1])
measured = [change(np.ones((10, 3)), np.resize([1.0, -1.0], 10), 0.2),
            change(np.exp(-((x - landmarks) ** 2)), rng.choice([-1.0, 1.0], 20), 0.05)]  # fmt: skip
printed = [0.2 * 3 / 10, 0.05 * 2 / 20]
print(f"Ten equal samples: measured {measured[0]:.3f}, printed {printed[0]:.3f}.")
print(f"Random samples and labels: measured {measured[1]:.4f}, printed {printed[1]:.4f}.")
assert all(p < s <= 2 * p + 1e-9 for s, p in zip(measured, printed, strict=True))
