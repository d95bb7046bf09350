"""Ridge regression on products of two tables: the features of sample i are all z_ij h_if.

The module also has alternating least squares, :func:`alternate`, for scores that are linear in each
column of factors. A sweep minimises a quadratic bound of the loss, sum_i u_i (t_i - s_i)^2, see
:mod:`mvref.core.losses`, plus n alpha |a|^2 over every column a in turn.

Penalties from the data, ``alpha="auto"``. The loss is a likelihood, exp(-loss / 2T), T the variance
of the noise (squared loss) or 1/2 (logistic), and a column has the prior N(0, T / (n alpha)). The
posterior is approximated by independent normal distributions of all numbers, mean field, which
minimise the free energy, a bound of minus the log evidence. A column's means are then the same
ridge regression, with E h^2 in place of h^2; its variances T / (sum_i u_i z_ij^2 E h_i^2 + n
alpha); and the best alpha = T / (n E a^2) and T = E loss. T = 0 is least squares. See D. MacKay,
"Bayesian interpolation", Neural Computation 4, 1992, and C. Bishop, PRML, 2006, chapter 10.
"""

from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.sparse.linalg import LinearOperator, cg

from .input import check_number, take_rows
from .losses import EVIDENCE, LOSSES, MAJORISERS

CLOSED_FORM = 600  # numbers in a block of weights up to which its matrix is factorised
CG_STEPS = 50  # conjugate gradient steps for larger blocks
NUMBERS_PER_TABLE = 2**20  # rows times columns of a design matrix held at a time
PRIOR_ROWS = 5.0  # n alpha at the start of alpha="auto": a prior worth five samples
ROUNDING = 1e-12  # a smaller relative pivot is rounding


def ridge_block(Z, H, target, alpha, A):
    """Minimise 1/n sum_i (t_i - sum_jf z_ij H_if A_jf)^2 + sum alpha A^2 over one block A.

    Closed form where the block is small, else conjugate gradients from the present A, whose
    products cost O(k nnz) and which cannot end above the value they started from.

    Z (n, d + 1); H (n, k); target (n,); alpha: a number, or (d + 1, 1); A (d + 1, k) -> the same.
    """
    alpha = np.broadcast_to(alpha, A.shape).ravel()
    if A.size <= CLOSED_FORM:
        return _closed_form(Z, H, target, alpha, A.shape)
    n = len(H)

    def apply(a):
        u = np.einsum("nk,nk->n", np.asarray(Z @ a.reshape(A.shape)), H)
        return (Z.T @ (H * u[:, None]) / n).ravel() + alpha * a

    diagonal = ((Z.multiply(Z) if sparse.issparse(Z) else Z**2).T @ H**2 / n).ravel() + alpha
    diagonal[diagonal == 0] = 1.0  # a feature that is always 0, and no penalty
    shape = (A.size, A.size)
    solution, _ = cg(
        LinearOperator(shape, matvec=apply),
        (Z.T @ (H * target[:, None]) / n).ravel(),
        x0=A.ravel(),
        rtol=1e-10,
        maxiter=CG_STEPS,
        M=LinearOperator(shape, matvec=lambda a: a / diagonal),
    )
    return solution.reshape(A.shape)


def _closed_form(Z, H, target, alpha, shape):
    n, p = len(H), shape[0] * shape[1]
    M, r = np.zeros((p, p)), np.zeros(p)
    size = max(NUMBERS_PER_TABLE // p, 1)
    for start in range(0, n, size):
        rows = slice(start, min(start + size, n))
        Z_part = take_rows(Z, rows)
        Z_part = Z_part.toarray() if sparse.issparse(Z_part) else Z_part
        D = (Z_part[:, :, None] * H[rows, None, :]).reshape(-1, p)
        M += D.T @ D
        r += D.T @ target[rows]
    M.flat[:: p + 1] += n * alpha
    if not np.isfinite(M).all():
        return np.full(shape, np.nan)
    try:
        return cho_solve(cho_factor(M, check_finite=False), r, check_finite=False).reshape(shape)
    except LinAlgError:  # alpha = 0, and factors or features that depend on each other
        return np.linalg.lstsq(M, r, rcond=None)[0].reshape(shape)


class Table:
    """A matrix Z (n, d), whose last column is ones if `constant`, for regressions on its columns.

    Where no row has two nonzeros beside the constant, as in one-hot views, the matrix of a
    regression is diagonal but for that: all levels take O(n) at once, exactly as one by one.

    level, value (n,): the column and the number of each row's nonzero; value None: all are 1.
    """

    def __init__(self, Z, constant):
        self.Z, self.constant, self.level = Z, constant, None
        self.n_features = Z.shape[1] - constant
        X, is_sparse = Z[:, : self.n_features], sparse.issparse(Z)
        counts = np.diff(X.indptr) if is_sparse else np.count_nonzero(X, axis=1)
        if self.n_features and counts.max() <= 1:
            self.level, self.value = np.zeros(len(counts), dtype=np.intp), np.zeros(len(counts))
            rows = np.flatnonzero(counts)
            self.level[rows] = X.indices if is_sparse else (X[rows] != 0).argmax(axis=1)
            self.value[rows] = X.data if is_sparse else X[rows, self.level[rows]]
            self.value = None if (self.value == 1.0).all() else self.value

    @cached_property
    def squares(self):
        """Elementwise squares of Z."""
        return self.Z.multiply(self.Z).tocsr() if sparse.issparse(self.Z) else self.Z**2

    def dot(self, a, squared=False):
        """Return Z a, shape (n,), or the products with the squares of Z."""
        if self.level is None:
            return (self.squares if squared else self.Z) @ a
        features, last = a[: self.n_features], a[-1] if self.constant else 0.0
        if self.value is None:
            return (features + last).take(self.level)
        return features.take(self.level) * self.value ** (1 + squared) + last

    def regress(self, a, slopes, curvatures, penalties):
        """Minimise sum_i c_i (Zx)_i^2 - 2 g_i (Zx)_i + sum_j p_j (a_j + x_j)^2 over the step x.

        slopes g, curvatures c (n,); penalties: of the features and of the constant -> a + x, and
        the diagonal of the matrix, both shaped like a.
        """
        p, p_constant = penalties
        if self.level is None:
            p = np.append(np.full(self.n_features, p), [p_constant] * self.constant)
            roots = np.sqrt(curvatures)
            target = np.divide(slopes, roots, out=np.zeros_like(roots), where=roots > 0)
            target += roots * (self.Z @ a)
            p_mean = p[:, None] / len(roots)
            new = ridge_block(self.Z, roots[:, None], target, p_mean, a[:, None])[:, 0]
            return new, self.squares.T @ curvatures + p
        g, cross = self._sums(slopes, 1), self._sums(curvatures, 1)
        ones = self.value is None
        matrix = cross + p if ones else self._sums(curvatures, 2) + p
        inverse = np.divide(1.0, matrix, out=np.zeros_like(matrix), where=matrix > 0)
        g_last, last = (g.sum(), cross.sum()) if ones else (slopes.sum(), curvatures.sum())
        g -= p * a[: self.n_features]
        if not self.constant:
            return a + g * inverse, matrix
        last, ratio = last + p_constant, inverse * cross  # an arrow: the levels, and the constant
        pivot = last - ratio @ cross
        x = (g_last - p_constant * a[-1] - ratio @ g) / pivot if pivot > ROUNDING * last else 0.0
        return a + np.append(g * inverse - ratio * x, x), np.append(matrix, last)

    def _sums(self, numbers, power):
        """Return the sum over the rows of every level of numbers times value^power, shape (d,)."""
        if self.value is not None:
            numbers = numbers * self.value**power
        return np.bincount(self.level, numbers, self.n_features)


class Column(NamedTuple):
    """Numbers (d, k), every column with a penalty alpha (k,); mean field: means and variances."""

    mean: np.ndarray
    variance: np.ndarray
    alpha: np.ndarray


def alternate(sweep, columns, free, scores, y, weights, *, loss, auto, tol, max_iter, tick=int):
    """Sweep until the objective falls by at most the fraction tol, or the free energy by tol.

    columns, free: the numbers with a penalty and arrays without, changed in place; sweep: residuals
    t - s (n,), which it updates, weights u (n,), T -> variances of the scores (n,); scores (n,): at
    the start; loss: a key of MAJORISERS; auto: mean field -> the curve of the objective, or of the
    free energy per sample; and whether it converged, None: it overflowed.
    """

    def assess(choose=True):
        """Return T and the objective: of mean field the free energy of the best penalties and T."""
        if not auto:
            penalty = sum(np.sum(c.mean**2 @ c.alpha) for c in columns)
            return 0.0, float((weights * LOSSES[loss](scores, y)[0]).mean() + penalty)
        T, energy = EVIDENCE[loss](scores, spread, y, weights)
        return T, (energy + sum(choose_penalty(c, T, n, choose) for c in columns)) / n

    n, arrays = len(y), [*free, *(part for column in columns for part in column)]
    spread = np.zeros(n)
    T, value = assess(False)
    curve = [value]
    for _ in range(max_iter):
        before = [array.copy() for array in arrays]
        bounds, targets = MAJORISERS[loss](scores, spread, y)
        e = targets - scores
        spread = sweep(e, weights * bounds, T)
        scores = targets - e
        T, value = assess()
        if not value <= curve[-1]:  # by rounding, or overflow: the best stays
            for array, old in zip(arrays, before, strict=True):
                array[...] = old
            return curve, True if np.isfinite(value) else None
        curve.append(value)
        tick()
        if curve[-2] - value <= tol * (1.0 if auto else curve[-2]):
            return curve, True
    return curve, False


def check_alpha(alpha, solver, loss):
    """Raise a ValueError unless alpha is a number, or "auto" with a loss that is a likelihood."""
    if not isinstance(alpha, str):
        check_number(alpha, "alpha", low=0)
    elif alpha != "auto" or solver != "als" or loss not in EVIDENCE:
        raise ValueError(
            "alpha must be a number >= 0 or, with solver='als' or 'auto' and a loss out of "
            f"{list(EVIDENCE)}, 'auto'; got {alpha!r}, solver={solver!r}, loss={loss!r}."
        )


def choose_penalty(column, T, n, choose=True):
    """Set the penalties of largest evidence; return the divergence from the prior in nats."""
    mean_square = column.mean**2 + column.variance
    if choose and len(mean_square):
        column.alpha[...] = T / (n * mean_square.mean(axis=0))
    precision = n * column.alpha / T
    nats = precision * mean_square - 1.0 - np.log(precision * column.variance)
    return 0.5 * float(nats.sum())
