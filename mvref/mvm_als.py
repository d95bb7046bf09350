"""Minimise the squared objective of a multi-view machine by alternating least squares.

The score is linear in each block of factors while the others are fixed, Eq. (16), so that the
squared loss with the L2 penalty is a ridge regression in one block after another. The objective
cannot rise. Alternating least squares is known for its swamps, in which it hardly falls: here they
are mostly the gauge, norms that move from one block to another while the score stays the same.
Balancing them after every sweep is exact, free, and ends most swamps.
"""

from collections import Counter

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.sparse.linalg import LinearOperator, cg

from .mvm_model import leave_one_out, prefix_products, take_rows
from .mvm_solvers import ADVICE, HUGE, Solution

CLOSED_FORM = 600  # numbers in a block of factors up to which its matrix is factorised
CG_STEPS = 50  # conjugate gradient steps for larger blocks
NUMBERS_PER_TABLE = 2**20  # rows times columns of a design table that is held at a time


def als(objective, factors, *, tol, max_iter, tick):
    """Minimise the squared loss with L2 block by block; the objective never rises.

    With all other blocks fixed the score is linear in A_b, on features z_i H_i f: ridge regression.

    Parameters
    ----------
    objective : Objective
    factors : list of arrays
        The start.
    tol : float
        Share by which a sweep must lower the objective to be followed by another.
    max_iter : int
        Largest number of sweeps.
    tick : callable

    Returns
    -------
    solution : Solution
    """
    factors = list(factors)
    curve = [objective.value(factors)]
    if not np.isfinite(curve[0]):
        return Solution(factors, curve, f"the objective overflows at the start; {ADVICE}")
    for _ in range(max_iter):
        value = als_sweep(objective, factors, curve[-1])
        if not np.isfinite(value):
            return Solution(factors, curve, f"it overflows; {ADVICE}")
        balanced = balance_norms(factors, objective.design.terms)
        if (new := objective.value(balanced)) <= value:
            factors, value = balanced, new
        curve.append(value)
        tick()
        if curve[-2] - value <= tol * curve[-2]:
            return Solution(factors, curve)
    trouble = f"it stopped after max_iter={max_iter} sweeps; raise max_iter or tol"
    return Solution(factors, curve, trouble)


def als_sweep(objective, factors, value):
    """Solve for every block once.

    Parameters
    ----------
    objective : Objective
    factors : list of arrays
        Replaced, one by one, where that lowers the objective.
    value : float
        The objective now.

    Returns
    -------
    value : float
        The objective afterwards; NaN if products overflow.
    """
    design, y, alpha = objective.design, objective.y, objective.alpha
    with np.errstate(over="ignore", invalid="ignore"):
        S = design.products(factors)
        for b, v in enumerate(design.views):
            scores, prefixes = prefix_products(S, design.terms)
            H = leave_one_out(S, design.terms, prefixes, np.ones(design.n))[b]
            rest = y - scores + np.einsum("nk,nk->n", S[b], H)
            if not (np.isfinite(rest).all() and np.abs(H).max() < HUGE):
                return np.nan
            A = ridge_block(design.Z[v], H, rest, alpha, factors[b])
            S_b = np.asarray(design.Z[v] @ A)
            others = sum(np.vdot(F, F) for c, F in enumerate(factors) if c != b)
            residual = rest - np.einsum("nk,nk->n", S_b, H)
            new = float(residual @ residual / design.n + alpha * (others + np.vdot(A, A)))
            if not np.isfinite(new):
                return np.nan
            if new <= value:
                factors[b], S[b], value = A, S_b, new
    return value


def balance_norms(factors, terms):
    """Give the columns of a factor the same norm in all blocks of a term.

    This leaves the score as it is and makes the L2 penalty of the term as small as it can be,
    V (prod_v |a_v|)^(2/V) per factor. Blocks that several terms share are left alone.

    Parameters
    ----------
    factors : list of arrays (d_v + 1, k)
    terms : list of lists of int

    Returns
    -------
    factors : list of arrays (d_v + 1, k)

    Examples
    --------
    >>> import numpy as np
    >>> from mvref.mvm_als import balance_norms
    >>> balanced = balance_norms([np.array([[8.0]]), np.array([[0.5]])], [[0, 1]])
    >>> [A.round(6).tolist() for A in balanced]
    [[[2.0]], [[2.0]]]
    """
    uses, factors = Counter(b for term in terms for b in term), list(factors)
    for term in terms:
        norms = np.array([np.linalg.norm(factors[b], axis=0) for b in term])
        alive = norms.min(axis=0) > 0
        if max(uses[b] for b in term) == 1 and alive.any():
            scale = np.ones_like(norms)
            scale[:, alive] = np.exp(np.log(norms[:, alive]).mean(axis=0)) / norms[:, alive]
            for b, row in zip(term, scale, strict=True):
                factors[b] = factors[b] * row
    return factors


def ridge_block(Z, H, target, alpha, A):
    """Minimise 1/n sum_i (t_i - sum_jf z_ij H_if A_jf)^2 + alpha |A|^2 over one block A.

    Closed form where the block is small, else conjugate gradients from the present A, whose
    products cost O(k nnz) and which cannot end above the value they started from.

    Parameters
    ----------
    Z : array or CSR matrix, shape (n, d + 1)
    H : array, shape (n, k)
    target : array, shape (n,)
    alpha : float
    A : array, shape (d + 1, k)

    Returns
    -------
    A : array, shape (d + 1, k)
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
