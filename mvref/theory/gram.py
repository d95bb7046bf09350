"""Gram matrices, given in full or by a factor: checks, trace and alignment.

Eq. (21) of Z. Wang, S. Chen and D. Gao, "A novel multi-view classifier based on Nystrom
approximation" (2011), after N. Cristianini, A. Elisseeff and J. Shawe-Taylor, "On kernel-target
alignment", NIPS 2001. The bounds that need a trace are in :mod:`mvref.theory.rademacher`.

Symbols   paper      code           shape
          K_1, K_2   ``K1, K2``     (n, n), or factors F1, F2 (n, r) with ``factor=True``

Departure from the paper: ``center=True`` is an addition, since Eq. (21) is not centred, and two
kernels with large means appear similar. Erratum N23 explains what a small alignment means.
"""

import numpy as np

from ..core.input import ArrayLike, as_numbers


def gram_matrix(K: ArrayLike, factor: bool = False, name: str = "K") -> np.ndarray:
    """Return a Gram matrix, or its factor, as a finite array, or raise a ValueError.

    K (n, n), or with `factor` an F (n, r) of the Gram matrix F F'; name: for the message.

    >>> from mvref.theory.gram import gram_matrix
    >>> gram_matrix([[1, 2, 3]], factor=True)
    array([[1., 2., 3.]])
    """
    K = as_numbers(K, name)
    if K.ndim != 2 or K.size == 0 or not (factor or K.shape[0] == K.shape[1]):
        wanted = "a factor (n, r)" if factor else "square (n, n), or set factor=True for (n, r)"
        raise ValueError(f"{name} must be {wanted}, got shape {K.shape}.")
    if not np.isfinite(K).all():
        raise ValueError(f"{name} must be finite.")
    return K


def gram_trace(K: ArrayLike, factor: bool = False) -> tuple[float, int]:
    """Return the trace of a Gram matrix, and the number of samples.

    K (n, n), or its diagonal (n,), or with `factor` an F (n, r) of F F' -> trace, n. A negative
    diagonal raises a ValueError.

    >>> from mvref.theory.gram import gram_trace
    >>> gram_trace([1.0, 3.0]), gram_trace([[1.0, 2.0], [0.0, 1.0]], factor=True)
    ((4.0, 2), (6.0, 2))
    """
    K = as_numbers(K, "K")
    if K.ndim == 1 and len(K) and not factor:
        diagonal = gram_matrix(K[:, None], factor=True)[:, 0]
    else:
        K = gram_matrix(K, factor)
        diagonal = np.einsum("ij,ij->i", K, K) if factor else K.diagonal()
    if diagonal.min() < 0:
        raise ValueError(f"K must have no negative diagonal entry, got {diagonal.min()}.")
    return float(diagonal.sum()), len(K)


def kernel_alignment(
    K1: ArrayLike, K2: ArrayLike, *, center: bool = False, factor: bool = False
) -> float:
    """Return the alignment of two kernels: the cosine between their Gram matrices (equation 21).

    K1, K2 (n, n): of the same samples, or with `factor` F1, F2 (n, r), which may differ in r: O(n
    r^2) time and no n x n matrix, by tr(K1 K2) = |F1' F2|^2. A matrix that is 0 raises a
    ValueError. center: both are centred in feature space first, as in C. Cortes, M. Mohri and A.
    Rostamizadeh, "Algorithms for learning kernels based on centered alignment", JMLR 13, 2012.

    It is between 0 and 1 for positive semi-definite matrices; 1 if and only if they are
    proportional. Without centring, label signs in both matrices change nothing. For Nystrom
    matrices of one kernel it mostly reflects the width: with an infinitely narrow one, it is the
    fraction of common components.

    >>> import numpy as np
    >>> from mvref.theory.gram import kernel_alignment
    >>> round(kernel_alignment(np.eye(4), np.ones((4, 4))), 6)
    0.5
    >>> F = np.array([[1.0], [2.0], [4.0]])
    >>> round(kernel_alignment(F, -3 * F, factor=True, center=True), 6)
    1.0
    """
    A1, A2 = _prepared(K1, "K1", center, factor), _prepared(K2, "K2", center, factor)
    if len(A1) != len(A2):
        raise ValueError(f"K1 and K2 must be of the same samples, got {len(A1)} and {len(A2)}.")
    if not factor:
        return float((A1 * A2).sum() / (np.linalg.norm(A1) * np.linalg.norm(A2)))
    cross, *own = (np.linalg.norm(A.T @ C) for A, C in ((A1, A2), (A1, A1), (A2, A2)))
    return float(cross**2 / (own[0] * own[1]))


def _prepared(K, name, center, factor):
    """Return a non-zero Gram matrix or factor, centred in feature space if `center`."""
    A = gram_matrix(K, factor, name)
    size = np.linalg.norm(A)
    if center:
        A = A - A.mean(axis=0)
        if not factor:
            A = A - A.mean(axis=1, keepdims=True)
    if np.linalg.norm(A) <= 1e-12 * size:
        raise ValueError(f"{name} is 0{' after centring' if center else ''}: it has no direction.")
    return A
