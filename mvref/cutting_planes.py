"""One-slack cutting planes for a structured loss of a whole sample (MVPO, SVM^perf).

Problem   min over w, xi of  1/2 w'Mw + C2 xi,   xi >= Delta(y') - w'X'(y - y') for all y', xi >= 0
Symbols   c = y - y' of a cut, shape (n,);  s = Xw the scores;  alpha the dual weights of the cuts;
          H_kl = c_k' X M^-1 X' c_l;  w = sum_k alpha_k M^-1 X'c_k
Loop      find the cut that w violates most, of true slack v = max over y' of Delta - c's;
          P = 1/2 w'Mw + C2 max(0, v) bounds the minimum from above, and the dual of the cuts,
          D = alpha'Delta - 1/2 alpha'H alpha, from below; stop where min P - D <= C2 tol: the
          solution carries its certificate.
Stop      The usual test, v <= xi + tol with the slack xi over the cuts so far, is P - D <= C2 tol
          for exact alpha. This one looks at the best w so far, not at the last, and rounding in
          alpha cannot deceive it.

Nothing here knows features: a cut is its vector c, and a metric returns X M^-1 X'c.
"""

from dataclasses import dataclass

import numpy as np

from .simplex_qp import solve_budget_qp

PATIENCE = 50  # iterations after which a cut without weight is dropped


@dataclass(frozen=True)
class CutSolution:
    """What :func:`cutting_planes` found.

    Parameters
    ----------
    c : array, shape (n,)
        sum_k alpha_k c_k, of which w = M^-1 X'c.
    primal_curve, dual_curve : arrays, shape (n_iter,)
        P and D of every iteration, the first at w = 0; D does not fall, P may rise.
    gap : float
        min P - D at the end; below 0 by rounding only.
    converged : bool
    n_cuts : int
        Cuts kept at the end.
    """

    c: np.ndarray
    primal_curve: np.ndarray
    dual_curve: np.ndarray
    gap: float
    converged: bool
    n_cuts: int


def cutting_planes(most_violated, metric_scores, n, *, C2, tol, max_iter):
    """Minimise 1/2 w'Mw + C2 xi by cutting planes.

    Parameters
    ----------
    most_violated : callable
        Scores (n,) -> (v, Delta, c) of the most violated cut.
    metric_scores : callable
        c (n,) -> X M^-1 X'c (n,).
    n : int
    C2 : float
    tol : float
        Of the slack, in units of Delta.
    max_iter : int
        Largest number of calls of `most_violated`.

    Returns
    -------
    solution : CutSolution

    Examples
    --------
    >>> import numpy as np
    >>> from mvref.cutting_planes import cutting_planes
    >>> from mvref.most_violated import error_argmax
    >>> x, y = np.array([2.0, 1.0, -1.0]), np.array([1, 1, -1])
    >>> def most_violated(s):
    ...     cut = error_argmax(s, y)
    ...     return cut.value, cut.loss, cut.c
    >>> solution = cutting_planes(
    ...     most_violated, lambda c: x * (x @ c), 3, C2=1.0, tol=1e-3, max_iter=10
    ... )
    >>> round(float(x @ solution.c), 3), solution.converged  # the hinge loss is 0 from w = 1/6 on
    (0.167, True)
    """
    s, norm = np.zeros(n), 0.0
    cuts, images, deltas = np.empty((0, n)), np.empty((0, n)), np.empty(0)
    H, alpha, idle = np.empty((0, 0)), np.empty(0), np.empty(0, dtype=int)
    primal, dual, best = [], [], (np.inf, np.zeros(n))
    while True:
        v, delta, c = most_violated(s)
        primal.append(norm / 2 + C2 * max(v, 0.0))
        dual.append(alpha @ deltas - norm / 2)
        if primal[-1] < best[0]:
            best = primal[-1], alpha @ cuts
        gap = best[0] - dual[-1]
        if gap <= C2 * tol or len(primal) == max_iter:
            break
        image = metric_scores(c)
        row = cuts @ image
        H = np.block([[H, row[:, None]], [row[None, :], np.array([[c @ image]])]])
        cuts, images = np.vstack([cuts, c]), np.vstack([images, image])
        deltas, idle = np.append(deltas, delta), np.append(idle, 0)
        alpha = solve_budget_qp(H, deltas, C2, np.append(alpha, 0.0))
        idle = np.where(alpha > 0, 0, idle + 1)
        keep = idle < PATIENCE
        if not keep.all():
            H, alpha, deltas, idle = H[np.ix_(keep, keep)], alpha[keep], deltas[keep], idle[keep]
            cuts, images = cuts[keep], images[keep]
        s, norm = alpha @ images, alpha @ H @ alpha
    curves = np.array(primal), np.array(dual)
    converged = bool(abs(gap) <= C2 * tol)  # far below 0 it is rounding, and proves nothing
    return CutSolution(best[1], *curves, gap, converged, len(alpha))
