"""A9: as many equations as unknowns in (11), and still no determined, or no usable, solution."""

import numpy as np


def rbf(a, b):
    return np.exp(-((np.asarray(a)[:, None] - b) ** 2))


# Two landmarks that are equal in view 1 and differ in view 2; a sample that lacks view 2.
P1, P2 = rbf([0.0, 0.0], [0.0, 0.0]), rbf([0.0, 3.0], [0.0, 3.0])
known = rbf([0.5], [0.0, 0.0])[0]
solutions = [np.array([known[0], 0.0]), np.array([0.0, known[0]])]
residuals = [np.abs(known - r @ P1).max() for r in solutions]
fills = [(r @ P2)[0] for r in solutions]
print("Two solutions of (11) without any residual fill the first similarity of view 2")
print(f"with {fills[0]:.2f} and with {fills[1]:.2f}.")

# Six different landmarks, view 2 a noisy copy of view 1; a sample that lacks view 2.
first = np.linspace(0, 1, 6)
second = first + np.resize([0.1, -0.1], 6)
r = np.linalg.solve(rbf(first, first), rbf([2.0], first)[0])
largest = np.abs(r @ rbf(second, second)).max()
print("With six different landmarks the solution is unique, and a similarity,")
print(f"which lies between 0 and 1, is filled with {largest:.0f} in absolute value.")
assert max(residuals) < 1e-12 and abs(fills[0] - fills[1]) > 0.5, "not determined"
assert largest > 10, "determined, and of no use"
