"""Ridge regression on products of two tables: the features of sample i are all z_ij h_if."""

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.sparse.linalg import LinearOperator, cg

from .columns import take_rows

CLOSED_FORM = 600  # numbers in a block of weights up to which its matrix is factorised
CG_STEPS = 50  # conjugate gradient steps for larger blocks
NUMBERS_PER_TABLE = 2**20  # rows times columns of a design table that is held at a time


def ridge_block(Z, H, target, alpha, A):
    """Minimise 1/n sum_i (t_i - sum_jf z_ij H_if A_jf)^2 + alpha |A|^2 over one block A.

    Closed form where the block is small, else conjugate gradients from the present A, whose
    products cost O(k nnz) and which cannot end above the value they started from.

    Z (n, d + 1); H (n, k); target (n,); A (d + 1, k) -> A (d + 1, k).
    """
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
