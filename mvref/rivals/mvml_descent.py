"""The metric between the views of MVML, and the descent: best functions, steps of the metric.

The metric starts block diagonal, every step multiplies its blocks by numbers and adds p p', and so
it stays a sum of few terms, never a matrix of its own size, with blocks

    A_kl = [k = l] c_k D_k + sum_s B_s[k, l] p_s^(k) p_s^(l)'        with c_k >= 0, B_s >= 0 (psd)

In the eigenbasis of U_k'U_k = D_k, a diagonal, this takes O(1) products with U per step.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh, qr

LARGEST = 1e30  # eigenvalue of U'U, 1 / LARGEST the least: steps grow with powers of it
HALVINGS = 100  # of a step before it counts as no step at all


class ViewFactors:
    """Features of the views in the eigenbasis of U_v'U_v, on as few rows as carry them.

    U: n' = min(n, r_1 + ... + r_V) rows, for only products count: where the features are few, Q is
    split off by a QR decomposition, [U_1 ... U_V] = Q [U'_1 ... U'_V]; D: diagonals of U_v'U_v;
    turns: orthogonal, U_v = features[v] @ turns[v]; grams: U_v D_v U_v'.

    >>> one = ViewFactors([np.array([[3.0], [0.0], [4.0]])])
    >>> one.D, abs(one.grams[0])  # three rows are carried by one
    ([array([25.])], array([[625.]]))
    """

    def __init__(self, features):
        pairs = [eigh(F.T @ F) if F.shape[1] else (np.zeros(0), np.eye(0)) for F in features]
        self.D = [np.maximum(values, 0.0) for values, _ in pairs]
        self.turns = [turn for _, turn in pairs]
        largest = max(d.max(initial=0.0) for d in self.D)
        if largest > 0 and not 1 / LARGEST <= largest <= LARGEST:
            told = f"the kernels of X are out of scale: their squares reach {largest:.3g}, allowed"
            raise ValueError(f"{told} is {1 / LARGEST:g} to {LARGEST:g}; scale the views.")
        U = np.hstack([F @ turn for F, turn in zip(features, self.turns, strict=True)])
        self._Q = None
        if 0 < U.shape[1] < U.shape[0]:
            self._Q, U = qr(U, mode="economic", check_finite=False)
        self.U = np.split(U, np.cumsum([len(d) for d in self.D])[:-1], axis=1)
        self.grams = [(U_v * d) @ U_v.T for U_v, d in zip(self.U, self.D, strict=True)]

    def carried(self, y):
        """Return y (n',) on the rows of `U`, and the part of |y|^2 that no features reach."""
        if self._Q is None:
            return y, 0.0
        short = self._Q.T @ y
        return short, max(float(y @ y - short @ short), 0.0)


class Metric(NamedTuple):
    """The metric A as a sum of few terms, see the head of this module."""

    factors: ViewFactors
    share: np.ndarray  # (V,), c_k
    B: np.ndarray  # (S, V, V)
    parts: list  # p_s^(k), column by column
    images: np.ndarray  # (n', S, V), U_k p_s^(k)

    @classmethod
    def start(cls, factors):
        """Return A = blockdiag(U_v'U_v)."""
        V = len(factors.D)
        parts = [np.zeros((len(d), 0)) for d in factors.D]
        images = np.zeros((factors.U[0].shape[0], 0, V))
        return cls(factors, np.ones(V), np.zeros((0, V, V)), parts, images)

    def plus(self, step, p):
        """Return A + step p p'."""
        V = len(p)
        images = np.column_stack([U @ p_v for U, p_v in zip(self.factors.U, p, strict=True)])
        return self._replace(
            B=np.concatenate([self.B, np.full((1, V, V), step)]),
            parts=[np.column_stack([H, p_v]) for H, p_v in zip(self.parts, p, strict=True)],
            images=np.concatenate([self.images, images[:, None]], axis=1),
        )

    def times(self, theta):
        """Return A with block (k, l) times theta_kl; psd if theta is (Schur's product theorem)."""
        return self._replace(share=self.share * np.diag(theta), B=self.B * theta)

    def minus(self, older):
        """Return A - A', where A' lacks only the last term of A."""
        B = self.B.copy()
        B[:-1] -= older.B
        return self._replace(share=self.share - older.share, B=B)

    def block_norms(self):
        """Return the Frobenius norms (V, V) of the blocks."""
        products = np.array([H.T @ H for H in self.parts])
        squares = np.einsum("kst,lst,skl,tkl->kl", products, products, self.B, self.B)
        for k, (c, d, H) in enumerate(zip(self.share, self.factors.D, self.parts, strict=True)):
            squares[k, k] += c * c * (d @ d) + 2 * c * (self.B[:, k, k] @ (H * H).T @ d)
        return np.sqrt(np.maximum(squares, 0.0))

    def gram(self, w):
        """Return Phi A Phi' (n', n') for the features Phi = [w_1 U_1 ... w_V U_V]."""
        Z = self.images * w
        K = np.einsum("nsk,skl->nsl", Z, self.B).reshape(len(Z), -1) @ Z.reshape(len(Z), -1).T
        for c, w_v, G in zip(self.share, w, self.factors.grams, strict=True):
            K += (c * w_v * w_v) * G
        return K

    def apply(self, p):
        """Return A p."""
        inner = np.array([H.T @ p_v for H, p_v in zip(self.parts, p, strict=True)])  # (V, S)
        weights = np.einsum("skl,ls->ks", self.B, inner)
        terms = zip(self.share, self.factors.D, self.parts, p, weights, strict=True)
        return [c * d * p_v + H @ b for c, d, H, p_v, b in terms]


def shrinkage(norms, threshold):
    """Return the factors (1 - threshold / |A_kl|)_+ of the blocks, as a psd matrix (V, V).

    Where they are not psd, which takes diagonal blocks of different norms, the factors off the
    diagonal are lowered until they are: first to sqrt(theta_kk theta_ll), then all in proportion.

    >>> shrinkage(np.array([[4.0, 1.0], [1.0, 2.0]]), 1.0)
    array([[0.75, 0.  ],
           [0.  , 0.5 ]])
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        theta = np.where(norms > threshold, 1.0 - threshold / norms, 0.0)
    root = np.sqrt(np.diag(theta))
    outer = np.outer(root, root)
    R = np.divide(np.minimum(theta, outer), outer, out=np.zeros_like(outer), where=outer > 0)
    np.fill_diagonal(R, 0.0)
    R *= min(1.0, -1.0 / min(np.linalg.eigvalsh(R)[0], -1e-300))
    np.fill_diagonal(R, 1.0)
    return R * outer


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
            told = f"lam={self.lam:g} is lost in the rounding of Phi A Phi', which reaches"
            raise ValueError(f"{told} {largest:.3g}; raise lam or scale the views.") from None
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
