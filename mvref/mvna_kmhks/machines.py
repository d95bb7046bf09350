"""One kernel Ho-Kashyap classifier whose matrix is factorised once: Eq. (7) of MVNA-KMHKS.

Problem   min over beta, w0 of  sum_i W_i (u_i - rhs_i / W_i)^2 + c |beta|^2,   u = F beta + w0 1
          with margins f = y u, rhs = y times target, and W the curvature of
          ``Coupling`` in ``ho_kashyap``

Symbols   paper                 code
          K = D F F' D          ``F`` (n, r), or ``K`` without the labels D = diag(y)
          Gamma' K Gamma        ``norm`` squared, |beta|^2 with beta = F' D Gamma
          Gamma, w0             ``coefficients``, the last entry of ``theta``

Labels enter as signs of rows only, so the matrix has none, and the classifiers of all classes
share one factorisation. If a sample lacks the view of a classifier, its row of F and its entry of
1 are 0, which leaves it out of every sum.
"""

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, pinv

from ..core.kernel_views import KernelViews, similarities_to

ROUNDING = 1e-7  # singular values below this fraction of the largest count as 0
SMALLEST_PIVOT = 1e-6  # of a Cholesky factor that is accepted, relative to the largest


class FactorMachine:
    """One classifier on features, which minimises |f - target|^2 and c |beta|^2 in O(n r) a step.

    theta = (beta, w0) solves (S' W S + c D) theta = S' rhs with S = [F, 1] and D = diag(1 .. 1, 0).
    The matrix is factorised once; if c is 0, or too small for a Cholesky factor, the solution of
    least norm is used instead, by a pseudo-inverse that is as large as S.

    F (n, r); seen (n,); weight (n,): curvature, positive.
    """

    def __init__(self, F, seen, weight, c):
        self.F, self.one, self.weight, self.c = F, seen.astype(float), weight, c
        self.factor = None
        A = self._normal_matrix()
        if c > 0:
            try:
                factor = cho_factor(A, lower=True)
                pivots = factor[0].diagonal()
                if pivots.min() > SMALLEST_PIVOT * pivots.max():
                    self.factor = factor
            except LinAlgError:
                pass
        if self.factor is None:
            self.inverse = self._pseudo_inverse()

    def _normal_matrix(self):
        F, one, weight = self.F, self.one, self.weight
        r = F.shape[1]
        A = np.empty((r + 1, r + 1))
        with np.errstate(over="ignore", invalid="ignore"):  # checked below
            if np.ptp(weight) == 0:
                A[:r, :r] = weight[0] * (F.T @ F)
            else:
                A[:r, :r] = F.T @ (weight[:, None] * F)
            A[r, :r] = A[:r, r] = F.T @ (weight * one)
        A[r, r] = weight @ one
        if not np.isfinite(A).all():
            raise ValueError("kernel has values whose squares overflow. Standardise X.")
        A[np.arange(r), np.arange(r)] += self.c
        return A

    def _pseudo_inverse(self):
        """Return the pseudo-inverse of the least squares for theta: samples, then the penalty."""
        n, r = self.F.shape
        rows = np.sqrt(self.weight)[:, None] * np.column_stack([self.F, self.one])
        penalty = np.sqrt(self.c) * np.eye(r, r + 1)
        inverse = pinv(np.vstack([rows, penalty]), rtol=ROUNDING)[:, :n]
        return inverse / np.sqrt(self.weight)

    def solve(self, rhs):
        """Return theta and the scores F beta + w0: rhs (n,) -> (r + 1,), (n,), or by columns."""
        if self.factor is None:
            theta = self.inverse @ rhs
        else:
            sums = np.concatenate([self.F.T @ rhs, self.one[None] @ rhs])
            theta = cho_solve(self.factor, sums, check_finite=False)
        return theta, self.F @ theta[:-1] + np.multiply.outer(self.one, theta[-1])

    def norm(self, theta, u):
        """Return |beta|, the norm of the classifier in the space of its kernel."""
        return float(np.linalg.norm(theta[:-1]))

    def coefficients(self, theta, u, rhs):
        """Return y_i alpha_i of Eqs. (7) and (11), (n,), where solve(rhs) gave theta and u."""
        if self.c == 0:
            return np.linalg.lstsq(self.F.T, theta[:-1])[0]
        return self.one * (rhs - self.weight * u) / self.c  # rows of A in Eq. (7)


class GramMachine:
    """One classifier on the kernel matrix itself, in O(n^2) a step.

    (K + c / W) Gamma + w0 1 = rhs / W and 1'Gamma = 0, with theta = (Gamma, w0) and Gamma without
    its labels. The scores are (rhs - c Gamma) / W, so K is not needed once it is factorised.

    K (n, n): overwritten; weight (n,): W, positive; c: positive.
    """

    def __init__(self, K, weight, c):
        self.c, self.weight = c, weight
        K[np.diag_indices_from(K)] += c / weight
        self.factor = cho_factor(K.T, lower=True, overwrite_a=True)  # in place: LAPACK's order
        self.bias = cho_solve(self.factor, np.ones(len(K)), check_finite=False)

    def solve(self, rhs):
        """Return theta and the scores K Gamma + w0: rhs (n,) -> (n + 1,), (n,), or by columns."""
        Gamma = cho_solve(self.factor, (rhs.T / self.weight).T, check_finite=False)
        w0 = Gamma.sum(axis=0, keepdims=True) / self.bias.sum()
        Gamma -= np.multiply.outer(self.bias, w0[0])
        return np.concatenate([Gamma, w0]), ((rhs - self.c * Gamma).T / self.weight).T

    def norm(self, theta, u):
        """Return the root of Gamma'K Gamma."""
        return float(np.sqrt(max(theta[:-1] @ (u - theta[-1]), 0.0)))

    def coefficients(self, theta, u, rhs):
        """Return y_i alpha_i, which is Gamma without its labels, (n,)."""
        return theta[:-1]


class SumOfKernels:
    """Sum K (n, n) of the kernels of all views; a third matrix is needed only to check one.

    components: of every view all samples that have it; seen (1, n).

    >>> from mvref import MultiView
    >>> X = MultiView([np.array([[1.0], [2.0]]), np.array([[0.0], [3.0]])])
    >>> SumOfKernels(X, ["linear"] * 2, [None] * 2).K
    array([[ 1.,  2.],
           [ 2., 13.]])
    """

    def __init__(self, X, kernels, gammas):
        self.components = [np.flatnonzero(seen) for seen in X.observed.T]
        self.similarities = similarities_to(X, kernels, gammas, self.components)
        self.seen = X.observed.any(axis=1)[None]
        self.K = np.zeros((X.n_samples, X.n_samples))
        for v, mu in enumerate(self.similarities):
            if mu.kernel in ("linear", "rbf"):  # needs no check
                self._add(self.components[v], mu(X.views[v][self.components[v]]))
            else:
                self.K += KernelViews(X.select([v]), kernels[v], gammas[v], 0.0).grams()[0]

    def _add(self, rows, K):
        for i, row in zip(rows, K, strict=True):  # row by row: a sum of blocks needs a third K
            self.K[i, rows] += row
