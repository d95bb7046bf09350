"""The small quadratic program of every cutting-plane method, by an active-set method.

Problem   min over x of  1/2 x'Hx - d'x,   x >= 0,  sum(x) <= C,   H positive semi-definite
Symbols   the slack C - sum(x) is one more variable, with a row of zeros in H and d: sum(x) = C
          g = Hx - d;  support: the x > 0;  k: the one of them with the smallest H_kk
Method    P. Wolfe's algorithm for the nearest point of a polytope (1976), with a linear term. A
          Newton step on the support, sum kept, ends at the first x that it makes 0. Where nothing
          is left to gain on the support, the variable with the most negative g_i - g_k joins it.
          No such variable: x is optimal (Karush, Kuhn and Tucker).
Rounding  A step solves A z = g_k - g over the others of the support, A the Gram matrix of H with
          row k moved to 0. Dependent cuts make A singular, so a ridge of a few ulps of H_ii is
          added. It is a ridge of the step, not of x: the limit is the exact optimum, and a second
          step mends what it costs. Every tolerance is relative to the terms of its own row, so
          that a multiple of a cut is as good as the cut.

A cutting-plane method solves a long row of such problems, each with one variable more, of which
some are positive: started from the last solution, a problem takes a few systems of that size.
"""

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from .input import check_number

TOLERANCE = 1e-12  # of g_i - g_k, relative to the terms that they are sums of
EPS, TINY = np.finfo(float).eps, np.finfo(float).tiny
RIDGE = 4 * EPS  # relative to the diagonal
REFINEMENTS = 3  # Newton steps on the same support
LIMIT = 100  # of steps per variable, far above the largest seen (2)


def solve_budget_qp(H, d, C, start=None):
    """Minimise 1/2 x'Hx - d'x over x >= 0, sum(x) <= C.

    H (K, K): positive semi-definite; d (K,); start (K,): feasible, used if it is better than 0 ->
    x (K,).

    >>> solve_budget_qp(np.eye(2), np.array([3.0, 1.0]), 2.0)
    array([2., 0.])
    """
    check_number(C, "C", low=0, low_open=True)
    K = len(d)
    H, d = np.pad(H, (0, 1)), np.append(d, 0.0)
    x = np.zeros(K + 1)
    if start is not None:
        x[:K] = np.maximum(start, 0.0)
        x *= C / max(x.sum(), C)
        if x @ H @ x > 2 * d @ x:  # worse than 0, and perhaps far too large
            x[:] = 0.0
    x[K] = max(C - x.sum(), 0.0)
    norms = np.sqrt(np.maximum(H.diagonal(), 0.0))  # rounding may make a 0 negative
    refined = 0
    for _ in range(LIMIT * (K + 1)):
        free = x > 0
        support = np.flatnonzero(free)
        k = support[norms[support].argmin()]
        g = H @ x - d
        terms = np.abs(d) + norms * (norms @ x)
        excess = (g - g[k]) / (terms + terms[k] + TINY)
        if refined == REFINEMENTS or np.abs(excess[support]).max() <= TOLERANCE:
            outside = np.where(free, 0.0, excess)
            newest = outside.argmin()
            if outside[newest] >= -TOLERANCE:
                break
            support, refined = np.append(support, newest), 0
        step = _newton_step(H, g, C, norms, support[support != k], k)
        falling = step < 0
        length = (x[falling] / -step[falling]).min(initial=1.0)  # until the first x is 0
        if length == 0.0:  # the newest cannot grow: optimal up to rounding
            break
        moved = x + length * step
        x = np.where(moved > EPS * x, moved, 0.0)
        refined = refined + 1 if length == 1.0 else 0
    return x[:K] * (C / max(x[:K].sum(), C))


def _newton_step(H, g, C, norms, others, k):
    """Return the step to the optimum on the support `others` and k, of sum 0."""
    step = np.zeros(len(g))
    if len(others):
        right = g[k] - g[others]
        row = H[others, k]
        A = H[np.ix_(others, others)] - row - row[:, None] + H[k, k]
        # a curvature below |right| / C does not hold the step inside the simplex: as good as none
        scale = np.sqrt(norms[others] ** 2 + norms[k] ** 2 + np.abs(right) / C + TINY)
        A /= scale * scale[:, None]
        step[others] = _solve(A, right / scale) / scale
        step[k] = -step.sum()
    return step


def _solve(A, right):
    """Solve A z = right with the smallest ridge that makes A positive definite."""
    ridge = RIDGE
    while True:
        try:
            return cho_solve(cho_factor(A + ridge * np.eye(len(A))), right)
        except LinAlgError:
            ridge *= 10.0
