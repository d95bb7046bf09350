"""A6: the replaced sample is the landmark, and the change of the loss does not fall with m."""

import numpy as np


def theta_of(similarity, y, c):
    """The minimiser of (2) in one dimension, by bisection of the slope."""
    low, high = -np.sqrt(2 * c), np.sqrt(2 * c)
    for _ in range(80):
        theta = (low + high) / 2
        active = y * similarity * theta < 1
        slope = theta - c / len(y) * (y * similarity)[active].sum()
        low, high = (low, theta) if slope > 0 else (theta, high)
    return theta


c, changes, fixed_map = 10.0, [], []
for m in (101, 401):
    x = 0.1 * np.random.default_rng(2).normal(size=m)
    y, grid, losses = np.where(x > 0, 1.0, -1.0), np.linspace(-0.5, 0.5, 50), []
    y[0] = 1.0
    for landmark in (0.4, 50.0):  # sample 0 is the landmark: before, and after it is replaced
        x[0] = landmark
        theta = theta_of(np.exp(-((x - landmark) ** 2)), y, c)
        losses.append(np.maximum(0, 1 - theta * np.exp(-((grid - landmark) ** 2))))
    changes.append(np.abs(losses[0] - losses[1]).max())
    fixed_map.append(2 * c / m)
    print(f"{m} samples: the loss changes by {changes[-1]:.2f};"
          f" a fixed map would allow {fixed_map[-1]:.2f}.")  # fmt: skip
assert all(change > allowed for change, allowed in zip(changes, fixed_map, strict=True))
assert changes[1] > changes[0] / 2, "it does not fall like 1/m"
