"""A12: with the free intercept of (1) and (3) a loss of 2 occurs, above the printed E."""

import numpy as np

m, c, L, V = 21, 0.001, 1, 1
y = np.where(np.arange(m) <= m // 2, 1.0, -1.0)  # eleven labels against ten
grid = np.linspace(-2, 2, 4001)  # candidates for b
# Sample 0 is the landmark, all others are too far from it to be similar: f = b but for sample 0,
# where f = theta + b; the best theta for a b is in closed form.
theta = np.clip(1 - grid, 0, c / m)
losses = sum(np.maximum(0, 1 - t * grid) for t in y[1:]) + np.maximum(0, 1 - theta - grid)
best = np.argmin(theta**2 / 2 + c / m * losses)
worst, E = 1 + abs(grid[best]), 1 + 2 * c * np.sqrt(L * V)
print(f"theta is {theta[best]:.4f} and b is {grid[best]:.2f}.")
print(f"A loss of {worst:.2f} occurs, and the printed E is {E:.3f}.")
assert theta[best] ** 2 <= 2 * c, "the norm is bounded as printed"
assert worst > E
