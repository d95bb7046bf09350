"""The metric between the views of MVML, and the descent: best functions, steps of the metric.

The metric starts block diagonal, every step multiplies its blocks by numbers and adds p p' with
p_k = w_k U_k'a for some a (n'), and so it stays a sum of few terms, with blocks

    A_kl = [k = l] c_k U_k'U_k + sum_s B_s[k, l] U_k'a_s a_s'U_l     with c_k >= 0, B_s >= 0 (psd)

Only its products with the kernels K_k = U_k U_k' are needed. With Phi = [w_1 U_1 ...],

    Phi A Phi' = sum_k c_k w_k^2 K_k^2 + L L',   L = [w_k K_k a_s] (B_1^(1/2) + B_2^(1/2) + ...)

Where all c_k and all w_k are equal, the eigenvectors of sum_k K_k^2 make the first term diagonal in
every step and for every class (``shared``): a system takes O(n') there, and O(n'^3) elsewhere.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh, qr

LARGEST = 1e30  # limits of a kernel's largest entry, with 1 / LARGEST: steps grow with its powers
HALVINGS = 100  # maximum number of halvings of a step


class ViewKernels:
    """Kernels of the views on n' rows; other kernels of n rows have the same products on these.

    K: list of V psd matrices (n', n'); shared: the first terms of all systems are proportional.
    Then vectors have coordinates in the eigenvectors Q of sum_v K_v^2, with eigenvalues `values`.

    >>> kernels = ViewKernels([np.diag([2.0, 1.0])], shared=True)
    >>> kernels.values, abs(kernels.times(np.array([[0.0], [1.0]]))).T
    (array([1., 4.]), array([[0., 2.]]))
    """

    rows = None  # (n, n'), orthonormal, where n' < n

    def __init__(self, K, shared):
        self.K, self.shared = K, shared
        largest = max(K_v.diagonal().max(initial=0.0) for K_v in K)
        if largest > 0 and not 1 / LARGEST <= largest <= LARGEST:
            told = f"the kernels of X are out of scale: they reach {largest:.3g}, allowed is"
            raise ValueError(f"{told} {1 / LARGEST:g} to {LARGEST:g}; scale the views.")
        self.norms = np.array([np.linalg.norm(K_v) for K_v in K])
        if shared:
            total = np.zeros_like(K[0])
            for K_v in K:
                total += K_v @ K_v.T
            values, self.Q = eigh(total, overwrite_a=True, check_finite=False)
            self.values = np.maximum(values, 0.0)
        else:
            self.squares = [K_v @ K_v.T for K_v in K]

    def carried(self, y):
        """Return y (n',) in the systems' coordinates, and the |y|^2 that no features reach."""
        if self.rows is None:
            return self.turn(y), 0.0
        short = self.rows.T @ y
        return self.turn(short), max(float(y @ y - short @ short), 0.0)

    def turn(self, rows):
        """Transform vectors (n', ...) of the rows to the coordinates of the systems."""
        return self.Q.T @ rows if self.shared else rows

    def back(self, vectors):
        """Transform vectors from these coordinates to the rows."""
        return self.Q @ vectors if self.shared else vectors

    def times(self, H):
        """Return the products K_v h_v, column by column: H (n', V) -> (n', V)."""
        rows = self.back(H)
        return self.turn(np.column_stack([K @ h for K, h in zip(self.K, rows.T, strict=True)]))

    def solve(self, c, L, lam, y):
        """Return a with (sum_v c_v K_v^2 + L L' + lam I) a = y: c (V,), L (n', S V)."""
        if self.shared:
            first = c[0] * self.values
            diagonal = first + (L * L).sum(axis=1)
        else:
            first = L @ L.T
            for c_v, square in zip(c, self.squares, strict=True):
                first += c_v * square
            diagonal = first.diagonal()
        largest = diagonal.max()
        if not np.isfinite(largest):
            raise ValueError("X holds values too large for the kernels of MVML; scale the views.")
        try:
            if lam <= np.finfo(float).eps * largest:
                raise LinAlgError
            return _by_woodbury(first + lam, L, y) if self.shared else _by_cholesky(first, lam, y)
        except LinAlgError:
            told = f"lam={lam:g} is lost in the rounding of Phi A Phi', which reaches"
            raise ValueError(f"{told} {largest:.3g}; raise lam or scale the views.") from None


def _by_cholesky(A, lam, y):
    """Return (A + lam I)^{-1} y."""
    A[np.diag_indices_from(A)] += lam
    return cho_solve(cho_factor(A, overwrite_a=True, check_finite=False), y)


def _by_woodbury(d, L, y):
    """Return (diag(d) + L L')^{-1} y."""
    part = L / d[:, None]
    inner = cho_factor(np.eye(L.shape[1]) + L.T @ part, check_finite=False)
    return y / d - part @ cho_solve(inner, part.T @ y)


class ViewFactors(ViewKernels):
    """Kernels U_v U_v' of features, on as few rows as possible.

    n' = min(n, r_1 + ... + r_V) rows: if the features are few, Q is split off by a QR
    decomposition, [U_1 ... U_V] = Q [U'_1 ... U'_V]; turns (r_v, n'): g_v = turns[v] @ point.g[v].

    >>> one = ViewFactors([np.array([[3.0], [0.0], [4.0]])])
    >>> one.K  # three rows are carried by one
    [array([[25.]])]
    """

    def __init__(self, features, shared=True):
        U = np.hstack(features)
        if 0 < U.shape[1] < U.shape[0]:
            self.rows, U = qr(U, mode="economic", check_finite=False)
        U = np.split(U, np.cumsum([F.shape[1] for F in features])[:-1], axis=1)
        super().__init__([U_v @ U_v.T for U_v in U], shared)
        self.turns = [self.turn(U_v).T for U_v in U]


class Metric(NamedTuple):
    """The metric A as a sum of few terms, see the head of this module."""

    kernels: ViewKernels
    share: np.ndarray  # (V,), c_k
    B: np.ndarray  # (S, V, V)
    terms: np.ndarray  # (n', S), a_s
    images: np.ndarray  # (n', S, V), K_k a_s

    @classmethod
    def start(cls, kernels):
        """Return A = blockdiag(U_v'U_v)."""
        n, V = len(kernels.K[0]), len(kernels.K)
        return cls(kernels, np.ones(V), np.zeros((0, V, V)), np.zeros((n, 0)), np.zeros((n, 0, V)))

    def plus(self, step, w, a, image):
        """Return A + step p p' with p_k = w_k U_k'a, where image (n', V) has K_k a."""
        return self._replace(
            B=np.concatenate([self.B, step * np.outer(w, w)[None]]),
            terms=np.column_stack([self.terms, a]),
            images=np.concatenate([self.images, image[:, None]], axis=1),
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
        products = np.tensordot(self.terms, self.images, axes=(0, 0))  # (S, S, V), a_s'K_k a_t
        squares = np.einsum("stk,stl,skl,tkl->kl", products, products, self.B, self.B)
        own = (self.images**2).sum(axis=0)  # (S, V), a_s'K_k^2 a_s
        squares += np.diag(
            (self.share * self.kernels.norms) ** 2
            + 2.0 * self.share * np.einsum("skk,sk->k", self.B, own)
        )
        return np.sqrt(np.maximum(squares, 0.0))

    def root(self, w):
        """Return L (n', S V) of Phi A Phi' for the features Phi = [w_1 U_1 ... w_V U_V]."""
        values, vectors = np.linalg.eigh(self.B)
        roots = vectors * np.sqrt(np.maximum(values, 0.0))[:, None]
        return np.einsum("nsk,skj->nsj", self.images * w, roots).reshape(len(self.images), -1)

    def apply(self, w, a, image):
        """Return b (n', V) with (A p)_k = U_k'b_k for p_k = w_k U_k'a; image as in `plus`."""
        inner = np.einsum("skl,ns,nl,l->sk", self.B, self.terms, image, w, optimize=True)
        return self.share * w * image + self.terms @ inner


def shrinkage(norms, threshold):
    """Return the factors (1 - threshold / |A_kl|)_+ of the blocks, as a psd matrix (V, V).

    If they are not psd, which requires diagonal blocks of different norms, the factors off the
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
    """A metric, the a of its best g, w, the norms of the blocks, and the objective."""

    A: Metric
    a: np.ndarray  # (n',), g = A p with p_v = w_v U_v'a
    w: np.ndarray
    norms: np.ndarray
    value: float

    def image(self):
        """Return K_v a (n', V)."""
        return self.A.kernels.times(np.column_stack([self.a] * len(self.w)))

    @property
    def g(self):
        """The best function: g_v = U_v' g[v] for g (V, n')."""
        return self.A.apply(self.w, self.a, self.image()).T


class Problem(NamedTuple):
    """The objective of MVML for labels y (n',); `rest` is its constant part."""

    kernels: ViewKernels
    y: np.ndarray
    rest: float
    lam: float
    eta: float
    sparse: bool

    def solve(self, A, w):
        """Return the point of the best g for a metric and w.

        g = A Phi' a with (Phi A Phi' + lam I) a = y is the g-step without an inverse of A, and the
        objective at this g is lam y'a + penalty.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            norms, c, L = A.block_norms(), A.share * w * w, A.root(w)
            penalty = self.eta * float(norms.sum() if self.sparse else (norms**2).sum())
            a = self.kernels.solve(c, L, self.lam, self.y)
        value = self.rest + self.lam * float(self.y @ a) + penalty
        if not np.isfinite(value):
            raise ValueError("X holds values too large for the kernels of MVML; scale the views.")
        return Point(A, a, w, norms, value)

    def step(self, point, size, image):
        """Return the point after a proximal gradient step: A <- prox(A + size lam p p')."""
        A = point.A.plus(size * self.lam, point.w, point.a, image)
        if self.sparse:
            theta = shrinkage(A.block_norms(), size * self.eta)
        else:
            theta = np.full_like(point.norms, 1.0 / (1.0 + 2.0 * size * self.eta))
        return self.solve(A.times(theta), point.w)

    def reweighted(self, point):
        """Return the point with the best w for its g: w = (Z'Z)^+ Z'y with Z_v = U_v g_v."""
        Z = self.kernels.times(point.g.T)
        try:
            new = self.solve(point.A, np.linalg.lstsq(Z, self.y, rcond=None)[0])
        except ValueError:  # g is so small that w is out of scale
            return point
        return new if new.value < point.value else point


def learn_metric(problem, *, n_rounds, tol, learn_weights):
    """Descend from A = blockdiag(U_v'U_v) and w = 1/V."""
    V = len(problem.kernels.K)
    point = problem.solve(Metric.start(problem.kernels), np.full(V, 1.0 / V))
    curve, size = [point.value], None
    for _ in range(n_rounds):
        image = point.image()
        squared = float(point.w**2 @ (point.a @ image))  # |p|^2
        if not problem.lam * squared > 0:  # no kernel explains any of y
            break
        if size is None:  # the step is as long as A itself
            size = np.sqrt((point.norms**2).sum()) / (problem.lam * squared)
        new, size = _descend(problem, point, 2 * size, image)
        if new is None:
            break
        point = problem.reweighted(new) if learn_weights else new
        curve.append(point.value)
        if curve[-2] - curve[-1] <= tol * curve[-2]:
            break
    return point, np.array(curve)


def _descend(problem, point, size, image):
    """Return the best of the steps size / 2^k, from the first that lowers the objective enough.

    Enough is |A' - A|^2 / (4 size), which proximal theory guarantees for every short step; then
    the size is halved as long as that lowers the objective further.
    """
    best = None
    for _ in range(HALVINGS):
        try:
            new = problem.step(point, size, image)
        except ValueError:  # the step is too long to compute
            size /= 2
            continue
        if best is not None and new.value >= best.value:
            break
        move = (new.A.minus(point.A).block_norms() ** 2).sum()
        if best is not None or new.value < point.value - move / (4 * size):
            best = new
        size /= 2
    return best, 2 * size
