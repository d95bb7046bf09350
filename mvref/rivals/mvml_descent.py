"""The descent of MVML: the best function for a metric, and the steps of the metric."""

from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from .mvml_metric import Metric, ViewFactors, shrinkage

HALVINGS = 100  # of a step before it counts as no step at all


class Point(NamedTuple):
    """A metric, p = A^{-1} g of the g that is best for it, w, norms of the blocks, objective."""

    A: Metric
    p: list
    g: list
    w: np.ndarray
    norms: np.ndarray
    value: float


class Problem(NamedTuple):
    """The objective of MVML for labels y (n',); `rest` is the part that nothing changes."""

    factors: ViewFactors
    y: np.ndarray
    rest: float
    lam: float
    eta: float
    sparse: bool

    def solve(self, A, w):
        """Return the best g for a metric and w.

        g = A Phi' a with (Phi A Phi' + lam I) a = y is the g-step without an inverse of A, and the
        objective at this g is lam y'a + penalty.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            norms, K = A.block_norms(), A.gram(w)
            penalty = self.eta * float(norms.sum() if self.sparse else (norms**2).sum())
        largest = K.diagonal().max()
        if not (np.isfinite(K).all() and np.isfinite(penalty)):
            raise ValueError("X holds values too large for the kernels of MVML; scale the views.")
        K[np.diag_indices_from(K)] += self.lam
        try:
            if self.lam <= np.finfo(float).eps * largest:
                raise LinAlgError
            a = cho_solve(cho_factor(K, overwrite_a=True, check_finite=False), self.y)
        except LinAlgError:
            raise ValueError(
                f"lam={self.lam:g} is lost in the rounding of Phi A Phi', which reaches "
                f"{largest:.3g}; raise lam or scale the views."
            ) from None
        p = [w_v * (U.T @ a) for w_v, U in zip(w, A.factors.U, strict=True)]
        value = self.rest + self.lam * float(self.y @ a) + penalty
        return Point(A, p, A.apply(p), w, norms, value)

    def step(self, point, size):
        """Return the point after a proximal gradient step: A <- prox(A + size lam p p')."""
        A = point.A.plus(size * self.lam, point.p)
        if self.sparse:
            theta = shrinkage(A.block_norms(), size * self.eta)
        else:
            theta = np.full_like(point.norms, 1.0 / (1.0 + 2.0 * size * self.eta))
        return self.solve(A.times(theta), point.w)

    def reweighted(self, point):
        """Return the point with the best w for its g: w = (Z'Z)^+ Z'y with Z_v = U_v g_v."""
        Z = np.column_stack([U @ g for U, g in zip(self.factors.U, point.g, strict=True)])
        try:
            new = self.solve(point.A, np.linalg.lstsq(Z, self.y, rcond=None)[0])
        except ValueError:  # g is so small that w is out of scale
            return point
        return new if new.value < point.value else point


def learn_metric(problem, *, n_rounds, tol, learn_weights):
    """Descend from A = blockdiag(U_v'U_v) and w = 1/V."""
    V = len(problem.factors.U)
    point = problem.solve(Metric.start(problem.factors), np.full(V, 1.0 / V))
    curve, size = [point.value], None
    for _ in range(n_rounds):
        squared = sum(float(p_v @ p_v) for p_v in point.p)
        if not problem.lam * squared > 0:  # no kernel has anything to say on y
            break
        if size is None:  # the step is as long as A itself
            size = np.sqrt((point.norms**2).sum()) / (problem.lam * squared)
        new, size = _descend(problem, point, 2 * size)
        if new is None:
            break
        point = problem.reweighted(new) if learn_weights else new
        curve.append(point.value)
        if curve[-2] - curve[-1] <= tol * curve[-2]:
            break
    return point, np.array(curve)


def _descend(problem, point, size):
    """The best of the steps size / 2^k, from the first one that lowers the objective enough.

    Enough is |A' - A|^2 / (4 size), which proximal theory grants to every short step; from there
    on the size is halved as long as that lowers the objective further.
    """
    best = None
    for _ in range(HALVINGS):
        try:
            new = problem.step(point, size)
        except ValueError:  # too long a step to compute with
            size /= 2
            continue
        if best is not None and new.value >= best.value:
            break
        move = (new.A.minus(point.A).block_norms() ** 2).sum()
        if best is not None or new.value < point.value - move / (4 * size):
            best = new
        size /= 2
    return best, 2 * size
