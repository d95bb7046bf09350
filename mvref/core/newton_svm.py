"""A linear SVM by Newton's method: exact, and not much slower for a large C than for a small one.

Problem   min over w of  P(w) = 1/2 |w|^2 + sum_i C_i loss(r_i),      r_i = 1 - y_i z_i'w
          loss(r) = max(0, r)^2, the squared hinge, or max(0, r), the hinge
Dual      max over a of  D(a) = sum_i a_i - |u|^2 / 2 - sum_i a_i^2 / (4 C_i), u = sum_i a_i y_i z_i
          squared hinge: a_i >= 0; hinge: 0 <= a_i <= C_i, and without the last sum

Algorithm One function is minimised, with a_i = clip(alpha_i + sigma_i r_i, 0, high_i):
          F(w) = 1/2 |w|^2 + max over a, 0 <= a_i <= high_i, of
                 sum_i a_i r_i - (a_i - alpha_i)^2 / (2 sigma_i)
          Its gradient is w - u, and it lies |w - u|^2 / 2 above its dual. It is piecewise
          quadratic: with the samples J whose a_i is not clipped, Newton's system is
              (I + sum over J of sigma_i z_i z_i') step = u - w.
          The length of the step is exact: the points at which samples enter or leave J are sorted.
          Squared hinge: alpha = 0, sigma = 2 C, high = infinity: F is P. A large C is approached
          from smaller ones, each a hundred times the last.
          Hinge: the method of multipliers. high = C; alpha becomes a, sigma three times as large,
          until the gap P(s u) - D(a) is small, at the best multiple s of u.
Systems   by conjugate gradients where sigma is small; else by Cholesky, of I + Z_J' S Z_J or of
          S^-1 + Z_J Z_J' (Woodbury), whichever has fewer rows.

Time      in that of c = m C = 1, of 2000 noisy samples with 600 columns, one thread: hinge 2.4 at
          c = 100, 8.6 at 1e4, 32 at 1e5; squared hinge 3.0, 4.0, 7.4.
"""

from typing import NamedTuple

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import LinearOperator, cg

MILD = 20.0  # sigma |z|^2 up to which conjugate gradients are tried
FIRST = 1000.0  # 2 C |z|^2 of the first C in the mean, and sigma |z|^2 of the hinge's first sigma
STIFF = 1e9  # sigma |z|^2 of the last sigma: rounding gains nothing beyond
CG_STEPS = 40  # as much work as a Cholesky factor of several hundred rows
CG_TOL = 1e-2  # of a system, relative; the steps around it are repeated anyway
C_STEP, SIGMA_STEP = 100.0, 3.0
LOOSE = 0.3  # relative gap at which the next C is taken
INEXACT = 0.5  # share of what a round of multipliers moves that its steps may leave over
FULL = 1e-3  # fraction of the slope of F that may remain after a step of length 1
PATIENCE = 5  # rounds of multipliers without a smaller gap before it is given up
NUMBERS_PER_BLOCK = 2**20  # entries of the rows that are copied


class Solution(NamedTuple):
    """The SVM of one binary problem."""

    w: np.ndarray  #: (p,)
    a: np.ndarray  #: (m,), the dual variables
    gap: float  #: (P(w) - D(a)) / P(w)
    n_iter: int  #: Newton steps


class Rows:
    """The rows z_i, and the systems in I + sum over J of s_i z_i z_i' that all classes share."""

    def __init__(self, Z):
        self.Z = Z
        with np.errstate(over="ignore"):
            squares = np.asarray((Z.multiply(Z) if sparse.issparse(Z) else Z * Z).sum(axis=1))
        if not np.isfinite(squares).all():
            raise ValueError("X has values too large for their squares. Standardise the views.")
        self.sizes = np.maximum(squares.ravel(), 1e-200)  # |z_i|^2
        self._products = None  # Z Z', where it is no larger than four times Z'Z
        self._of_all = {}  # factor of the last system in all rows; classes share it at w = 0

    def solve(self, J, s, g):
        """Return (I + Z_J' S Z_J)^{-1} g, for positions J (k,), s (k,) and g (p,)."""
        if not len(J):
            return g
        m, p = self.Z.shape
        if (s * self.sizes[J]).max() <= MILD and min(len(J), p) ** 3 > CG_STEPS * m * p:
            weights = np.zeros(m)
            weights[J] = s
            system = LinearOperator(
                (p, p), lambda x: x + self.Z.T @ (weights * (self.Z @ x)), dtype=float
            )
            step, failed = cg(system, g, rtol=CG_TOL, maxiter=CG_STEPS)
            if not failed:
                return step
        by_samples, key = len(J) < p, s.tobytes()
        factor = self._of_all.get(key) if len(J) == m else None
        if factor is None:
            factor = _factor(self._of_samples(J, s) if by_samples else self._of_columns(J, s))
        if len(J) == m:
            self._of_all = {key: factor}
        if not by_samples:
            return factor(g)
        Z_J = self.Z[J]
        return g - Z_J.T @ factor(Z_J @ g)

    def _of_samples(self, J, s):
        """Return S^-1 + Z_J Z_J'."""
        if self.Z.shape[0] < 2 * self.Z.shape[1]:
            if self._products is None:
                self._products = _dense(self.Z @ self.Z.T)
            M = self._products.take(J, 0).take(J, 1)
        else:
            M = _dense(self.Z[J] @ self.Z[J].T)
        M.flat[:: len(J) + 1] += 1 / s
        return M

    def _of_columns(self, J, s):
        """Return I + Z_J' S Z_J, computed in blocks of rows."""
        H, root = np.eye(self.Z.shape[1]), np.sqrt(s)
        size = max(1, NUMBERS_PER_BLOCK // len(H))
        for start in range(0, len(J), size):
            part = root[start : start + size, None] * _dense(self.Z[J[start : start + size]])
            H += part.T @ part
        return H


def _dense(Z):
    return Z.toarray() if sparse.issparse(Z) else Z


def _factor(M):
    """Return the function g -> M^{-1} g of a positive definite matrix, which is overwritten."""
    diagonal = M.diagonal().copy()
    # the transpose is in Fortran order, so that nothing is copied
    upper, failed = linalg.lapack.dpotrf(M.T, lower=False, clean=False, overwrite_a=True)
    if not failed:
        return lambda g: linalg.lapack.dpotrs(upper, g, lower=False)[0]
    M = np.triu(M, 1)  # definite up to rounding; this half is unchanged
    M += M.T + np.diag(diagonal)
    return lambda g: linalg.lstsq(M, g)[0]


def squared_hinge(rows, y, C, *, tol, max_iter, start=None):
    """Minimise P for the squared hinge: y, C (m,), start: (`Solution`, C) before -> `Solution`.

    >>> rows = Rows(np.array([[1.0], [-1.0]]))
    >>> squared_hinge(rows, np.array([1.0, -1.0]), np.ones(2), tol=1e-9, max_iter=99).w  # 4 / 5
    array([0.8])
    """
    w, scales, n_iter = np.zeros(rows.Z.shape[1]), [1.0], 0
    if start is not None:
        w = start[0].w
    else:
        while 2 * (C * rows.sizes).mean() * scales[-1] > FIRST:
            scales.append(scales[-1] / C_STEP)
    for scale in reversed(scales):
        sigma = 2 * scale * C
        share = tol if scale == 1 else LOOSE

        def enough(w, a, sigma=sigma, share=share):
            return share * (w @ w + a @ (a / sigma)) / 2

        w, a, u, steps = _minimise(rows, y, 0.0, sigma, np.inf, w, enough, max_iter - n_iter)
        n_iter += steps
    value = (w @ w + a @ (a / sigma)) / 2
    return Solution(w, a, float((w - u) @ (w - u) / 2 / value) if value else 0.0, n_iter)


def hinge(rows, y, C, *, tol, max_iter, start=None):
    """Minimise P for the hinge: y, C (m,), start: (`Solution`, C) before -> `Solution`.

    >>> rows = Rows(np.array([[1.0], [-1.0]]))
    >>> hinge(rows, np.array([1.0, -1.0]), np.full(2, 9.0), tol=1e-9, max_iter=99).w.round(6)
    array([1.])
    """
    w, alpha = np.zeros(rows.Z.shape[1]), np.zeros(len(y))
    if start is not None:  # a variable at the bound is at the new one
        (_, before, _, _), older = start
        alpha = np.minimum(np.where(before < older, before, C), C)
        w = rows.Z.T @ (y * alpha)
    sigma = np.minimum(10 * C, FIRST / rows.sizes)
    best, n_iter, rounds = None, 0, 0
    while best is None or (best.gap > tol and n_iter < max_iter and rounds < PATIENCE):

        def enough(w, a, alpha=alpha, sigma=sigma):
            moved = a - alpha
            return INEXACT * (moved @ (moved / sigma)) / 2

        left = max_iter - n_iter
        w, alpha, u, steps = _minimise(rows, y, alpha, sigma, C, w, enough, left, least=1)
        n_iter, rounds = n_iter + steps, rounds + 1
        margins = y * (rows.Z @ u)
        s = _best_multiple(u @ u, margins, C)
        value = s * s * (u @ u) / 2 + C @ np.maximum(0, 1 - s * margins)
        gap = float((value + u @ u / 2 - alpha.sum()) / value)
        if best is None or gap < best.gap:
            best, rounds = Solution(s * u, alpha, gap, n_iter), 0
        sigma = np.minimum(SIGMA_STEP * sigma, np.maximum(STIFF / rows.sizes, sigma))
    return best._replace(n_iter=n_iter)


def _best_multiple(square, margins, C):
    """Return the s > 0 of the least s^2 square / 2 + sum_i C_i max(0, 1 - s margin_i)."""
    leaves = np.flatnonzero(margins > 0)
    leaves = leaves[np.argsort(-margins[leaves])]
    ends = 1 / margins[leaves]
    pull = C @ margins - np.append(0.0, np.cumsum((C * margins)[leaves]))  # of those left
    rising = np.append(ends * square >= pull[1:], True)
    k = int(np.argmax(rising))
    s = pull[k] / square if square else 1.0
    return min(s, ends[k]) if k < len(ends) else s


def _minimise(rows, y, alpha, sigma, high, w, enough, max_steps, least=0):
    """Minimise F from w until |w - u|^2 / 2 is `enough`: w, a, u and the number of steps."""
    f, exact = rows.Z @ w, False
    for step in range(max_steps + 1):
        r = 1 - y * f
        v = alpha + sigma * r
        a = np.clip(v, 0, high)
        u = rows.Z.T @ (y * a)
        g = w - u
        if exact or step == max_steps or (step >= least and g @ g / 2 <= enough(w, a)):
            break
        J = np.flatnonzero((v > 0) & (v < high))
        d = -rows.solve(J, sigma[J], g)
        change = rows.Z @ d
        dr = -y * change
        slopes = g @ d, (w + d) @ d + dr @ np.clip(v + sigma * dr, 0, high)  # of F at 0 and 1
        t = 1.0
        if abs(slopes[1]) > FULL * abs(slopes[0]):
            most = 1.0 if slopes[1] > 0 else np.inf
            t = _length(slopes[0], d @ d, v, sigma * dr, dr, high, most)
        exact = not t > 0 or -slopes[0] <= np.finfo(float).eps * (w @ w)  # but for rounding
        w, f = w + t * d, f + t * change
    return w, a, u, step


def _length(slope, curvature, v, dv, dr, high, most):
    """Return the t > 0, below `most`, at which F stops falling along a step.

    slope: of F at t = 0; curvature: of |w|^2 / 2; v, dv: alpha + sigma r and its change; dr: that
    of r. The derivative of F is piecewise linear in t: it is followed from one end of a piece to
    the next.
    """
    q = dv * dr  # what a sample in J adds to the curvature
    rises = dv > 0
    inside = ((v > 0) | ((v == 0) & rises)) & ((v < high) | ((v == high) & ~rises))
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = np.concatenate([-v / dv, (high - v) / dv])  # where v is 0, and where it is high
    enters = np.concatenate([rises, ~rises])
    changes = np.where(enters, 1.0, -1.0) * np.concatenate([q, q])
    ahead = np.flatnonzero((ends > 0) & (ends < most))
    ahead = ahead[np.argsort(ends[ahead])]
    knots = np.append(0.0, ends[ahead])
    curvatures = curvature + np.maximum(q[inside].sum() + np.cumsum(changes[ahead]), 0.0)
    curvatures = np.append(curvature + q[inside].sum(), curvatures)
    slopes = slope + np.append(0.0, np.cumsum(curvatures[:-1] * np.diff(knots)))
    last = np.searchsorted(slopes, 0.0) - 1
    return knots[last] - slopes[last] / curvatures[last] if last >= 0 else 0.0
