"""Line 8 of Algorithm 1 of MVM: Eqs. (11) to (13) are losses, Eqs. (17) to (19) their slopes."""

import numpy as np

rng = np.random.default_rng(0)
n, V, k, lam = 20, 3, 2, 0.1
Z = np.stack([np.c_[rng.normal(size=(n, 3)), np.ones(n)] for _ in range(V)])
A, y = rng.normal(size=(V, 4, k)), rng.choice([-1.0, 1.0], n)


def objective(A):  # Eq. (10) with the logit loss (12) and the L2 penalty (14)
    scores = np.prod(Z @ A, axis=0).sum(axis=1)
    return np.log1p(np.exp(-y * scores)).sum() + lam * (A**2).sum()


S = Z @ A
scores, others = np.prod(S, axis=0).sum(axis=1), S[1] * S[2]
with_12 = np.log1p(np.exp(-y * scores))  # the loss itself
with_18 = -y / (1 + np.exp(y * scores))  # its derivative
literal, meant = (Z[0].T @ (f[:, None] * others) + 2 * lam * A[0] for f in (with_12, with_18))
step = np.zeros((V, 4, k))
step[0, 0, 0] = 1e-6
slope = (objective(A + step) - objective(A - step)) / 2e-6
wrong, right = (abs(part[0, 0] / slope - 1).max() for part in (literal, meant))
print(f"With (12), as printed, the largest error of a derivative is {wrong:.0%} of it.")
print(f"With (18) it is less than {max(right, 1e-6):.4%}, that of the finite differences.")

assert wrong > 0.1
assert right < 1e-5
