"""The decrease of the loss in one parallel step of MwMvC2: Algorithm 1, Eqs. (10) and (11).

Symbols and errata are those of :mod:`mvref.theory.bregman`, which exports these functions, too.
"""

import numpy as np

from ..core.input import ArrayLike, Literal, Sequence, check_choice, check_number
from .vectors import check_per_view, check_same_length, check_vector, in_unit_interval


def weighted_votes(
    Ms: Sequence[ArrayLike], q: ArrayLike
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return W+ and W- of steps 6 and 7 of Algorithm 1.

    Ms (m, n_v): entries in [-1, 1]; q (m,): between 0 and 1 -> W_plus, W_minus (n_v,).

    >>> weighted_votes([[[1], [-0.5], [0]]], [0.5, 0.5, 0.5])
    ([array([0.5])], [array([0.25])])
    """
    Ms = _voters(Ms)
    q = in_unit_interval(q, "q")
    if len(q) != len(Ms[0]):
        raise ValueError(f"q must have one entry per row of Ms, {len(Ms[0])}; got {len(q)}.")
    return [q @ np.maximum(M, 0) for M in Ms], [q @ np.maximum(-M, 0) for M in Ms]


def step_scale(Ms: Sequence[ArrayLike], rho: ArrayLike) -> float:
    """Return N = max_i sum_v rho_v sum_j |M_v,ij|, at least 1 (erratum B2).

    Ms (m, n_v); rho (V,): on the simplex.

    >>> step_scale([[[1, -1, 1]], [[1]]], [0.5, 0.5])
    2.0
    """
    Ms = _voters(Ms)
    rho = _simplex(rho, len(Ms))
    rows = sum(rho_v * np.abs(M).sum(axis=1) for rho_v, M in zip(rho, Ms, strict=True))
    return max(1.0, float(rows.max()))


def optimal_delta(W_plus: Sequence[ArrayLike], W_minus: Sequence[ArrayLike]) -> list[np.ndarray]:
    """Return step 8, the delta that minimises the corrected Eq. (10).

    W_plus, W_minus (n_v,) -> delta (n_v,).

    >>> optimal_delta([[3.0, 0.0]], [[1.0, 0.0]])
    [array([0.54930614, 0.        ])]
    """
    W_plus, W_minus = check_per_view(W_plus, "W_plus"), check_per_view(W_minus, "W_minus")
    if len(W_plus) != len(W_minus):
        raise ValueError(
            f"W_plus and W_minus must agree in length, got {len(W_plus)} and {len(W_minus)} views."
        )
    delta = []
    for v, (a, b) in enumerate(zip(W_plus, W_minus, strict=True)):
        a, b = check_vector(a, f"W_plus[{v}]"), check_vector(b, f"W_minus[{v}]")
        check_same_length(a, f"W_plus[{v}]", b, f"W_minus[{v}]")
        if min(a.min(), b.min()) < 0:
            raise ValueError(f"W_plus[{v}] and W_minus[{v}] must not be negative.")
        with np.errstate(divide="ignore", invalid="ignore"):  # one 0 gives the infinity asked for
            logs = np.log(a) - np.log(b)
        delta.append(np.where(a + b > 0, logs, 0.0) / 2)
    return delta


def auxiliary_bound(
    Ms: Sequence[ArrayLike],
    rho: ArrayLike,
    q: ArrayLike,
    delta: Sequence[ArrayLike],
    *,
    scale: float | None = None,
    version: Literal["corrected", "printed"] = "corrected",
) -> float:
    """Return the bound on the change of the loss in one step of pi, Eq. (10).

    With q = 1/(1 + e^z) and h = sum_v rho_v M_v delta_v, the corrected bound is at least
    D(z + h/N) - D(z): the weights move from pi_v to pi_v + delta_v / N at fixed rho.

    Ms (m, n_v): entries in [-1, 1]; rho (V,): on the simplex; q (m,); delta (n_v,): finite; scale:
    replaces N of :func:`step_scale`, and is no bound if smaller; version: "printed" is the paper's
    formula, with a square and a minus, for the full step delta, and is not a bound.

    >>> Ms, q = [[[1], [1], [-1]]], [0.5, 0.5, 0.5]
    >>> delta = optimal_delta(*weighted_votes(Ms, q))
    >>> round(auxiliary_bound(Ms, [1.0], q, delta), 6)  # -(sqrt(1) - sqrt(1/2))^2
    -0.085786
    """
    check_choice(version, "version", ("corrected", "printed"))
    if version == "printed" and scale is not None:
        raise ValueError(f"scale must be None with version='printed', got {scale!r}.")
    Ms = _voters(Ms)
    rho, delta = _simplex(rho, len(Ms)), _per_voter(delta, "delta", Ms)
    bound = 0.0
    for rho_v, W_plus, W_minus, d in zip(rho, *weighted_votes(Ms, q), delta, strict=True):
        if rho_v == 0:
            continue  # also where e^d overflows
        right, wrong = _times_expm1(W_plus, -d), _times_expm1(W_minus, d)
        terms = right + wrong if version == "corrected" else -((right - wrong) ** 2)
        bound += rho_v * np.sum(terms)
    return float(bound if version == "printed" else bound / _scale(scale, Ms, rho))


def guaranteed_decrease(
    Ms: Sequence[ArrayLike], rho: ArrayLike, q: ArrayLike, *, scale: float | None = None
) -> float:
    """Return by how much the loss falls at least in the step delta / N, corrected Eq. (11).

    Ms (m, n_v); rho (V,); q (m,).

    >>> round(guaranteed_decrease([[[1], [1], [-1]]], [1.0], [0.5, 0.5, 0.5]), 6)
    0.085786
    """
    Ms = _voters(Ms)
    rho = _simplex(rho, len(Ms))
    pairs = zip(*weighted_votes(Ms, q), strict=True)
    gains = [np.sum((np.sqrt(a) - np.sqrt(b)) ** 2) for a, b in pairs]
    return float(rho @ gains) / _scale(scale, Ms, rho)


def _times_expm1(W, exponent):
    """Return W (e^exponent - 1), infinite where e^exponent overflows, but 0 where W is 0."""
    with np.errstate(over="ignore"):
        return np.where(W > 0, np.where(W > 0, W, 1.0) * np.expm1(exponent), 0.0)


def _voters(Ms):
    Ms = check_per_view(Ms, "Ms")
    if not Ms or any(M.ndim != 2 or M.size == 0 or len(M) != len(Ms[0]) for M in Ms):
        shapes = [M.shape for M in Ms]
        raise ValueError(f"Ms must be matrices with the same number of rows, got shapes {shapes}.")
    for v, M in enumerate(Ms):
        if not (np.abs(M) <= 1).all():  # also false for NaN
            raise ValueError(f"Ms[{v}] must have entries in [-1, 1] only.")
    return Ms


def _simplex(rho, n_views):
    rho = check_vector(rho, "rho")
    if len(rho) != n_views or rho.min() < 0 or abs(rho.sum() - 1) > 1e-9:
        raise ValueError(
            f"rho must be {n_views} weights >= 0 with sum 1, got {rho.tolist()} "
            f"with sum {rho.sum():.12g}."
        )
    return rho


def _per_voter(values, name, Ms):
    values = [check_vector(d, f"{name}[{v}]") for v, d in enumerate(check_per_view(values, name))]
    given, wanted = [len(values_v) for values_v in values], [M.shape[1] for M in Ms]
    if given != wanted:
        raise ValueError(f"{name} must have vectors of lengths {wanted}, got {given}.")
    return values


def _scale(scale, Ms, rho):
    if scale is None:
        return step_scale(Ms, rho)
    return check_number(scale, "scale", low=0, low_open=True)
