"""A5: one flipped label moves a free intercept by 2, whatever the number of samples."""

import numpy as np

GRID = np.linspace(-2, 2, 4001)  # candidates for b


def problem_3(y, c):
    """b of (3) if sample 0 is the one landmark and all others are too far from it to be similar.

    Then f = b but for sample 0, where f = theta + b; the best theta for a b is in closed form.
    """
    box = c / len(y)
    theta = y[0] * np.clip(1 - y[0] * GRID, 0, box)
    losses = sum(np.maximum(0, 1 - t * GRID) for t in y[1:])
    losses += np.maximum(0, 1 - y[0] * (theta + GRID))
    return GRID[np.argmin(theta**2 / 2 + box * losses)]


c, moved, allowed = 0.1, [], []
for m in (11, 101, 1001):
    y = np.where(np.arange(m) <= m // 2, 1.0, -1.0)  # one label is in the majority by one
    flipped = np.where(np.arange(m) == 1, -y, y)
    moved.append(abs(problem_3(y, c) - problem_3(flipped, c)))
    allowed.append(c * 1 * 1 / m)
    print(f"{m:4d} samples: f moves by {moved[-1]:.2f}, Theorem 1 allows {allowed[-1]:.4f}.")
assert min(moved) > 1.99 > 2 * max(allowed)
