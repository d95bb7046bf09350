"""Equation (1) of MVNA-KMHKS: patterns that occur twice leave G_mm without an inverse."""

import numpy as np

rng = np.random.default_rng(0)
X = rng.integers(0, 2, (40, 4)).astype(float)  # 40 patterns of four votes, "yes" or "no"
y = rng.choice([-1.0, 1.0], 40)
G = np.outer(y, y) * np.exp(-((X[:, None] - X) ** 2).sum(axis=2))
chosen = rng.choice(40, 20, replace=False)
G_mm, G_nm = G[np.ix_(chosen, chosen)], G[:, chosen]
rank, different = np.linalg.matrix_rank(G_mm), len(np.unique(X[chosen], axis=0))
print(f"{len(chosen)} patterns are chosen, {different} of them are different.")
print(f"The rank of G_mm is {rank}, so that it has no inverse.")
K = G_nm @ np.linalg.pinv(G_mm, rcond=1e-10, hermitian=True) @ G_nm.T
gap = np.abs(K[:, chosen] - G_nm).max()
print(f"With the pseudo-inverse K has the chosen columns of G, up to {max(gap, 1e-9):.0e}.")

assert rank < len(G_mm)
assert np.allclose(K[:, chosen], G_nm)
