"""MVPO, Iterative algorithm: xi of the active set is called an upper bound of the loss."""

from itertools import product

import numpy as np

y = np.array([1, 1, -1, -1, -1, -1])
x = np.array([[2.0, 1.0], [-1.0, 0.5], [1.5, -1.0], [-2.0, 1.0], [-1.0, -1.0], [-0.5, -2.0]])


def loss(labels):
    """One minus F1."""
    return 1 - 2 * np.sum((labels > 0) & (y > 0)) / (np.sum(labels > 0) + np.sum(y > 0))


tuples = [np.array(labels) for labels in product([-1, 1], repeat=6)]
w, C2 = np.zeros(2), 100.0
first = max(tuples, key=lambda t: loss(t) - (y - t) @ x @ w)  # the most violated constraint (16)

# (14) with this one tuple in the active set, solved by its dual (15), without the term of C1.
pi = (y - first) @ x
w = min(C2, loss(first) / (pi @ pi)) * pi
xi = max(0.0, loss(first) - w @ pi)
needed = max(loss(t) - (y - t) @ x @ w for t in tuples)
of_signs = loss(np.where(x @ w >= 0, 1, -1))

print(
    f"xi over the active set {xi:.1f}, loss of the prediction {of_signs:.1f}, "
    f"slack over all tuples {needed:.1f}"
)
assert xi < of_signs - 0.1
assert xi <= needed and of_signs <= needed
