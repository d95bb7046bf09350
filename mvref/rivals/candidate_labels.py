"""The two problems of Co-Labeling: an SVM with squared hinge, and weights of candidate labels.

See :mod:`mvref.rivals.co_labeling` for the paper, the symbols and the problem (*).
"""

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

SVM_TOL = 1e-13  # duality gap of an SVM, relative: alpha is as exact as its root
SVM_STEPS = 200  # Newton steps, far above what was seen (about 10)


def squared_hinge_svm(M, C, start=None):
    """Minimise 1/2 alpha'M alpha + C/2 sum_i max(0, 1 - (M alpha)_i)^2.

    M (n, n): Kernel with the labels in it, K o y y'; start (n,), optional; returns alpha (n,).

    Examples
    --------
    >>> import numpy as np
    >>> from mvref.rivals.candidate_labels import squared_hinge_svm
    >>> squared_hinge_svm(np.eye(2), 1.0)[0]  # (M + I/C) alpha = 1
    array([0.5, 0.5])
    """
    alpha = np.zeros(len(M)) if start is None else start
    f = M @ alpha
    for _ in range(SVM_STEPS):
        slack = np.maximum(0.0, 1.0 - f)
        value = alpha @ f / 2 + C / 2 * slack @ slack
        dual = C * slack  # feasible, and the solution in the end
        gap = value - (dual.sum() - dual @ (M @ dual) / 2 - C / 2 * slack @ slack)
        if gap < -1e-6 * value:  # weak duality holds for kernels only
            raise _no_kernel(C)
        if gap <= SVM_TOL * value:
            break
        step = _newton_point(M, C, slack > 0) - alpha
        df = M @ step
        length = 1.0
        while length > 1e-10:
            a, m = alpha + length * step, f + length * df
            if a @ m / 2 + C / 2 * (np.maximum(0.0, 1.0 - m) ** 2).sum() < value:
                break
            length /= 2
        else:  # nothing to gain: as good as rounding lets it be
            break
        alpha, f = a, m
    return dual, gap / value


def _newton_point(M, C, inside):
    """Minimum of the problem whose loss is the square, of the samples inside the margin only."""
    rows = np.flatnonzero(inside)
    A = M[np.ix_(rows, rows)]
    A[np.diag_indices(len(rows))] += 1.0 / C
    point = np.zeros(len(M))
    try:
        point[rows] = cho_solve(cho_factor(A), np.ones(len(rows)))
    except LinAlgError:
        raise _no_kernel(C) from None
    return point


def _no_kernel(C):
    return ValueError(
        f"kernel is not positive definite, or its values are too large for C={C:g}: scale the "
        "views or lower C."
    )


def weigh_candidates(K, pool, C, *, tol=1e-3, max_iter=1000):
    """Solve (*): weights of the candidates and the SVM of their mixture.

    K (n, n): Kernel of one view; pool (T, n): Candidate label vectors, entries -1 and +1; C, tol:
    Weight of the squared hinge; relative gap at which mu is good enough; returns mu (T,), alpha
    (n,).

    Examples
    --------
    >>> import numpy as np
    >>> from mvref.rivals.candidate_labels import weigh_candidates
    >>> K = np.array([[1.0, 0.9], [0.9, 1.0]])
    >>> mu, _, _ = weigh_candidates(K, np.array([[1, 1], [1, -1]]), 1.0)
    >>> mu.round(2)  # near each other: the same label has the larger margin
    array([1., 0.])
    """
    pool = np.asarray(pool, dtype=float)
    mu = np.full(len(pool), 1.0 / len(pool))
    best, power = (np.inf, None, mu), 0.5
    for _ in range(max_iter):
        alpha, svm_gap = squared_hinge_svm(K * ((pool.T * mu) @ pool), C, best[1])
        if alpha.sum() > best[0] * (1 + SVM_TOL):  # too long a step: back, and a safe one
            mu, power = best[2], 0.5
        else:
            signed = pool * alpha
            squared = np.maximum(np.einsum("ti,ti->t", signed @ K, signed), 0.0)
            gap = (squared.max() - mu @ squared) / (mu @ squared + alpha @ alpha / C) + svm_gap
            best = alpha.sum(), alpha, mu
            if gap <= tol or len(pool) == 1:
                break
            power *= 1.5
        # power 1/2: the shares in the norms, mu_t |w_t|
        mu = mu * (squared / squared.max()) ** power
        mu /= mu.sum()
    return best[2], best[1], float(gap)
