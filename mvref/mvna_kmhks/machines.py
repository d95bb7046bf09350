"""One kernel Ho-Kashyap machine whose matrix is factorised once: Eq. (7) of MVNA-KMHKS.

Problem   min over beta, w0 of  sum_i W_i (u_i - rhs_i / W_i)^2 + c |beta|^2,   u = F beta + w0 1
          with margins f = y u, rhs = y times target, and W the curvature of
          ``Coupling`` in ``ho_kashyap``

Symbols   paper                 code
          K = D F F' D          ``F`` (n, r), or ``K`` without the labels D = diag(y)
          Gamma' K Gamma        ``norm`` squared, |beta|^2 with beta = F' D Gamma
          Gamma, w0             ``coefficients``, the last entry of ``theta``

Labels enter as signs of rows only, so the matrix has none, and the machines of several classes
share one factorisation. Where a sample lacks the view of a machine its row of F and its entry of
1 are 0, which leaves it out of every sum.
"""

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, pinv

SMALLEST_PIVOT = 1e-6  # of a Cholesky factor that is believed, relative to the largest


class FactorMachine:
    """One machine in features: minimises |f - target|^2 and c |beta|^2 in O(n r) a time.

    theta = (beta, w0) solves (S' W S + c D) theta = S' rhs with S = [F, 1] and D = diag(1 .. 1, 0).
    The matrix is factorised once; if c is 0, or so small that its Cholesky factor is none, the
    solution of least norm takes its place, by a pseudo-inverse that is as large as S.

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
        with np.errstate(over="ignore", invalid="ignore"):  # answered below
            if np.ptp(weight) == 0:
                A[:r, :r] = weight[0] * (F.T @ F)
            else:
                A[:r, :r] = F.T @ (weight[:, None] * F)
            A[r, :r] = A[:r, r] = F.T @ (weight * one)
        A[r, r] = weight @ one
        if not np.isfinite(A).all():
            raise ValueError("kernel has values so large that their squares overflow; scale X.")
        A[np.arange(r), np.arange(r)] += self.c
        return A

    def _pseudo_inverse(self):
        """Of the least squares that theta solves: rows of samples, then rows of the penalty."""
        n, r = self.F.shape
        rows = np.sqrt(self.weight)[:, None] * np.column_stack([self.F, self.one])
        penalty = np.sqrt(self.c) * np.eye(r, r + 1)
        inverse = pinv(np.vstack([rows, penalty]))[:, :n]
        return inverse / np.sqrt(self.weight)

    def solve(self, rhs):
        """Return theta and the scores F beta + w0: labels times targets (n,) -> (r + 1,), (n,)."""
        if self.factor is None:
            theta = self.inverse @ rhs
        else:
            theta = cho_solve(self.factor, np.append(self.F.T @ rhs, self.one @ rhs))
        return theta, self.F @ theta[:-1] + theta[-1] * self.one

    def norm(self, theta, u):
        """Return |beta|, the norm of the machine in the space of its kernel."""
        return float(np.linalg.norm(theta[:-1]))

    def coefficients(self, theta, u, rhs):
        """Return y_i alpha_i of Eqs. (7) and (11), (n,), where solve(rhs) gave theta and u."""
        if self.c == 0:
            return np.linalg.lstsq(self.F.T, theta[:-1])[0]
        return self.one * (rhs - self.weight * u) / self.c  # rows of A in Eq. (7)


class GramMachine:
    """One machine in the kernel matrix itself, in O(n^2) a time.

    (K + c / W) Gamma + w0 1 = rhs / W and 1'Gamma = 0, with theta = (Gamma, w0) and Gamma without
    its labels. The scores are (rhs - c Gamma) / W, so K is not needed once it is factorised.

    K (n, n): overwritten; weight (n,): W, positive; c: positive.
    """

    def __init__(self, K, weight, c):
        self.c, self.weight = c, weight
        K[np.diag_indices_from(K)] += c / weight
        self.factor = cho_factor(K.T, lower=True, overwrite_a=True)  # in place: LAPACK's order
        self.bias = cho_solve(self.factor, np.ones(len(K)))

    def solve(self, rhs):
        """Return theta and the scores K Gamma + w0: rhs (n,) -> (n + 1,), (n,)."""
        Gamma = cho_solve(self.factor, rhs / self.weight)
        w0 = Gamma.sum() / self.bias.sum()
        Gamma -= w0 * self.bias
        return np.append(Gamma, w0), (rhs - self.c * Gamma) / self.weight

    def norm(self, theta, u):
        """Return the root of Gamma'K Gamma."""
        return float(np.sqrt(max(theta[:-1] @ (u - theta[-1]), 0.0)))

    def coefficients(self, theta, u, rhs):
        """Return y_i alpha_i, which is Gamma without its labels, (n,)."""
        return theta[:-1]
