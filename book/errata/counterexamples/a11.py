"""A11: with a similarity that can be negative, the largest value does not bound the norm."""

import numpy as np

x, landmarks = np.array([-3.0]), np.array([1.0, 0.5])  # one view, L = 2, linear similarity
mu = x * landmarks
L, V = 2, 1
norm, printed, corrected = np.linalg.norm(mu), np.sqrt(L * V) * mu.max(), np.abs(mu).max()
print(f"The norm of mu(x) is {norm:.2f}; sqrt(LV) times the largest entry is {printed:.2f},")
print(f"and sqrt(LV) times the largest absolute value is {np.sqrt(L * V) * corrected:.2f}.")
assert norm <= np.sqrt(L * V) * corrected, "the corrected M"
assert norm > printed, "the printed M"
