"""The metric M = I + C1 Lambda of MVPO, which makes views agree, and solutions with it.

Lambda is the quadratic form of the disagreements of the views' scores u_j = X_j w_j (Eq. 6). With
m_i views of sample i, D = diag(m_i), and zeros in the rows of X_j where the view is missing,

    w' Lambda w = sum_i sum_{j<j'} (u_ij - u_ij')^2 = sum_i [ m_i sum_j u_ij^2 - (sum_j u_ij)^2 ],
    Lambda = blockdiag(X_j' D X_j) - X'X,

pairs of views that the sample has. A cutting-plane method only asks for the scores X M^-1 X'c of
vectors c with one entry per sample, and at the end for w = M^-1 X'c. Prove, part III, has both
forms.

Primal    Cholesky of M, (d, d): for n >= d.
Dual      K_j = X_j X_j',  S_j = (I + C1 D^1/2 K_j D^1/2)^-1,  T = D - V I + sum_j S_j,  V views,
          Q_j = (I - S_j) / C1 = D^1/2 K_j D^1/2 S_j:
          X M^-1 X'c = K_eff c with K_eff = D^-1/2 (sum_j Q_j) T^-1 D^1/2, and
          w_j = X_j' beta_j with beta_j = D^1/2 S_j T^-1 D^1/2 c.
          Matrices (n, n) and never a (d, d) one: for d > n, sparse views and kernels. With all
          views there D = V I and T = V Rbar, Rbar the mean of the R_j = S_j: the views act like
          one with the kernel K_eff = (Rbar^-1 - I) / C1, and I + C1 K_eff is the harmonic mean of
          the I + C1 V K_j. For C1 = 0, K_eff is the sum of the K_j.
"""

from functools import partial

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError, block_diag, cho_factor, cho_solve

FEW = 0.2  # fraction of entries below which copying rows is faster than reading all


class PrimalMetric:
    """The metric M as a matrix of the features.

    views: zeros where a view is missing; seen (n, V).

    >>> views, seen = [np.array([[1.0]]), np.array([[2.0]])], np.array([[True, True]])
    >>> PrimalMetric(views, seen, 1.0).weights([3.0])  # M = [[2, -2], [-2, 5]], X'c = (3, 6)
    [array([4.5]), array([3.])]
    """

    def __init__(self, views: list, seen: np.ndarray, C1: float):
        any_sparse = any(sparse.issparse(view) for view in views)
        stack = partial(sparse.hstack, format="csr") if any_sparse else np.hstack
        self.X = stack(views) if len(views) > 1 else views[0]
        self.cuts = np.cumsum([view.shape[1] for view in views])[:-1]
        self.factor = None  # for M = I
        if C1 > 0 and len(views) > 1:
            D = sparse.diags_array(seen.sum(axis=1).astype(float))
            blocks = [_dense(view.T @ (D @ view)) for view in views]
            Lambda = block_diag(*blocks) - _dense(self.X.T @ self.X)
            self.factor = _factor(np.eye(len(Lambda)) + C1 * Lambda, C1)

    def weights(self, c: np.ndarray) -> list[np.ndarray]:
        """Return M^-1 X'c as a list of V vectors (d_j,)."""
        return np.split(self._solve(self._features_of(c)), self.cuts)

    def scores(self, c: np.ndarray) -> np.ndarray:
        """Return X M^-1 X'c, shape (n,)."""
        return self.X @ self._solve(self._features_of(c))

    def _features_of(self, c):
        """Return X'c; the cuts of a good w have few entries, and only their rows are read."""
        rows = np.flatnonzero(c)
        few = len(rows) < FEW * len(c)
        return self.X[rows].T @ c[rows] if few else self.X.T @ c

    def _solve(self, pi):
        return pi if self.factor is None else cho_solve(self.factor, pi)


class DualMetric:
    """The metric M in terms of the Gram matrices of the views.

    grams: K_j, positive semi-definite; zero rows and columns where a view is missing; seen (n, V):
    every sample has a view; gram (n, n): K_eff.

    >>> metric = DualMetric([np.array([[1.0]]), np.array([[4.0]])], np.array([[True, True]]), 1.0)
    >>> metric.scores([3.0]), metric.coefficients([3.0])  # 4.5 1 + 3 2
    (array([10.5]), [array([4.5]), array([1.5])])
    """

    def __init__(self, grams: list[np.ndarray], seen: np.ndarray, C1: float):
        n, self.n_views = seen.shape
        self.S = None
        if C1 == 0 or self.n_views == 1:  # one view agrees with itself
            self.gram = np.sum(grams, axis=0)
            return
        n_seen = seen.sum(axis=1).astype(float)
        self.root = np.sqrt(n_seen)
        self.S, T, Q = [], np.diag(n_seen - self.n_views), np.zeros((n, n))
        for K in grams:
            K = self.root[:, None] * K * self.root
            S = cho_solve(_factor(np.eye(n) + C1 * K, C1), np.eye(n))
            Q += K @ S  # not (I - S) / C1, which loses all digits for small C1
            T += S
            self.S.append(S)
        self.T = _factor((T + T.T) / 2.0, C1)
        gram = cho_solve(self.T, Q.T).T * self.root / self.root[:, None]
        self.gram = (gram + gram.T) / 2.0

    def coefficients(self, c: np.ndarray) -> list[np.ndarray]:
        """Return beta_j, a list of V vectors (n,), such that w_j = X_j' beta_j."""
        if self.S is None:
            return [np.array(c, dtype=float) for _ in range(self.n_views)]
        v = cho_solve(self.T, self.root * c)
        return [self.root * (S @ v) for S in self.S]

    def scores(self, c: np.ndarray) -> np.ndarray:
        """Return X M^-1 X'c = K_eff c, shape (n,)."""
        return self.gram @ c


def _dense(A):
    return A.toarray() if sparse.issparse(A) else A


def _factor(A, C1):
    try:
        return cho_factor(A)
    except LinAlgError:
        raise ValueError(
            f"C1={C1:g} (after normalize) is too large for views of this scale: I + C1 Lambda is "
            "singular to machine precision. Standardise the features, or reduce C1."
        ) from None
