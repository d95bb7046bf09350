"""The rank-one support tensor machine, learnt view by view; see :mod:`mvref.rivals.stm`."""

import warnings
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

SVM_TOL, SVM_ITER = 1e-4, 100_000  # of the linear SVM of one view


@dataclass(frozen=True)
class Learnt:
    """A rank-one machine.

    curve: The objective: that of f = 0, then after every step; converged: The last sweep gained
    next to nothing, and its linear SVMs reached their tolerance.
    """

    w: list
    b: float
    curve: np.ndarray
    n_sweeps: int
    converged: bool


def rank_one_machine(views, y, *, C, tol, max_iter, rng):
    """Learn a rank-one machine from one random start.

    y (n,): Labels -1 and +1; max_iter: Largest number of sweeps over the views.

    Examples
    --------
    >>> import numpy as np
    >>> from mvref.rivals.rank_one import rank_one_machine
    >>> x, z = np.array([[[1.0], [1.0], [-1.0], [-1.0]], [[1.0], [-1.0], [1.0], [-1.0]]])
    >>> rng = np.random.RandomState(0)
    >>> xor = rank_one_machine([x, z], (x * z)[:, 0], C=10.0, tol=1e-6, max_iter=9, rng=rng)
    >>> round(float(np.prod(xor.w)), 4), xor.n_sweeps
    (1.0, 2)
    """
    w = [_unit(rng.standard_normal(view.shape[1])) for view in views]
    S = np.array([view @ w_v for view, w_v in zip(views, w, strict=True)])
    with np.errstate(over="ignore"):
        finite = np.isfinite(np.prod(S, axis=0)).all()
    if not finite:
        raise ValueError("X holds values too large for products of views; scale the views.")
    norm, b, curve, converged, sweep = 0.0, 0.0, [C * len(y)], False, 0
    while not converged and sweep < max_iter:
        sweep, before, exact = sweep + 1, curve[-1], True
        for v, view in enumerate(views):
            t = np.prod(np.delete(S, v, axis=0), axis=0)  # eta = 1
            new, new_b, solved = _linear_svm(_scale_rows(view, t), y, C, rng)
            exact &= solved
            s = view @ new
            value = (new @ new + new_b**2) / 2 + C * np.maximum(0, 1 - y * (t * s + new_b)).sum()
            if not value < curve[-1]:  # the gain is below what the linear SVM resolves
                continue
            curve.append(value)
            norm, b = np.linalg.norm(new), new_b
            if norm == 0:  # a constant: no step can give the other views a say
                break
            w[v], S[v] = new / norm, s / norm
        converged = norm == 0 or before - curve[-1] <= tol * before
    share = norm ** (1 / len(views))
    return Learnt([share * w_v for w_v in w], b, np.array(curve), sweep, converged and exact)


def _unit(w):
    return w / np.linalg.norm(w)


def _scale_rows(view, t):
    return sparse.diags_array(t) @ view if sparse.issparse(view) else t[:, None] * view


def _linear_svm(F, y, C, rng):
    """Weights and intercept of the linear SVM with hinge loss, B = 1, and whether it converged."""
    svm = LinearSVC(loss="hinge", C=C, tol=SVM_TOL, max_iter=SVM_ITER, random_state=rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a step that is no better is not taken
        svm.fit(F, y)
    return svm.coef_[0], float(svm.intercept_[0]), svm.n_iter_ < SVM_ITER
