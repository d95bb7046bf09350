"""Weights of a two-level majority vote of given voters: the mathematics of MwMvC2.

Symbols, equations and departures are those of :mod:`mvref.mwmvc2`. A table ``Ms[v]`` of view v
holds y_i h_vj(x_i): +1 where voter j is right on sample i, -1 where it is wrong, and rows of 0
where the view is missing. ``w`` (m,) are weights of the samples, 1 by default.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_expit
from sklearn.utils.validation import _check_sample_weight

from ..core.input import ArrayLike, Literal, Sequence, check_choice, check_number

UPDATES, STEPS, RHO_STEPS = ("monotone", "paper"), ("backtrack", "collins"), ("qp", "exact")
ROUNDING = 1e-12


def loss(z, w=1.0):
    """Return D_F(0 || q) = sum_i w_i ln(1 + e^{-z_i}), Eq. (6), of the margins z, shape (m,)."""
    return float((w * (np.log1p(np.exp(-np.abs(z))) + np.maximum(-z, 0.0))).sum())


def reweigh(Ms, seen, z, limit, w=1.0):
    """Run steps 2 to 8 of Algorithm 1: compute the change of every voter's weight.

    Ms: entries y_i h_vj(x_i); seen (m, V): 1 where the sample has the view, else 0; z (m,):
    margins; limit: largest |r/Q| that is used; a voter without errors has 1; w (m,): weights ->
    deltas, V arrays (n_v,), gains (V,), changes (V,).
    """
    log_q = log_expit(-z)
    scale = np.exp(log_q.max())
    # scaled so that the largest is w_i, because all may underflow
    q = w * np.exp(log_q - log_q.max())
    deltas, gains, changes = [], np.zeros(len(Ms)), np.zeros(len(Ms))
    for v, (M, Q) in enumerate(zip(Ms, seen.T @ q, strict=True)):
        r = M.T @ q
        edge = np.clip(r / Q, -1.0, 1.0) if Q > 0 else np.zeros_like(r)
        delta = np.arctanh(np.clip(edge, -limit, limit))
        deltas.append(delta)
        # (sqrt W+ - sqrt W-)^2 = Q - sqrt(Q^2 - r^2), without the cancellation
        gains[v] = Q * (edge**2 / (1.0 + np.sqrt(1.0 - edge**2))).sum()
        # W+ + W- = Q and W+ - W- = r
        changes[v] = (2.0 * Q * np.sinh(delta / 2) ** 2 - r * np.sinh(delta)).sum()
    return deltas, scale * gains, scale * changes


def vertex(gains):
    """Run step 10 as printed, Eq. (8), a linear program on the simplex: gains (V,) -> rho (V,)."""
    best = gains >= gains.max() * (1.0 - ROUNDING)
    return best / best.sum()


def mixture(G, rho, rho_step, w=1.0):
    """Run our step 10: compute view weights that do not raise the loss, usually several above 0.

    G (m, V): votes M_v pi_v of the views; rho (V,): the present weights; rho_step: "qp" minimises
    -q'G x + 1/8 |G (x - rho)|^2 over the simplex, which is above the loss (the curvature of the
    logistic loss is at most 1/4); "exact" minimises the loss; w (m,): weights, of q_i and of every
    square -> rho (V,).
    """
    if len(rho) == 1:
        return rho
    z = G @ rho
    if rho_step == "exact":
        unit = max(loss(z, w), np.finfo(float).tiny)
        new = _minimise_on_simplex(
            lambda x: loss(G @ x, w) / unit, lambda x: -(G.T @ (w * expit(-(G @ x)))) / unit, rho
        )
    else:
        root = (np.sqrt(w) * G.T).T
        slope, H = -(G.T @ (w * expit(-z))), root.T @ root / 4.0
        unit = max(np.trace(H), np.finfo(float).tiny)
        slope, H = slope / unit, H / unit
        new = _minimise_on_simplex(
            lambda x: slope @ x + 0.5 * (x - rho) @ H @ (x - rho),
            lambda x: slope + H @ (x - rho),
            rho,
        )
    return new if loss(G @ new, w) <= loss(z, w) else rho


def _minimise_on_simplex(f, gradient, start):
    """Minimise a convex function of a few variables on the simplex."""
    result = minimize(
        f,
        start,
        jac=gradient,
        method="SLSQP",
        bounds=[(0.0, 1.0)] * len(start),
        constraints={"type": "eq", "fun": lambda x: x.sum() - 1.0, "jac": np.ones_like},
        options={"ftol": 1e-18, "maxiter": 200},
    )
    x = np.maximum(result.x, 0.0)
    return x / x.sum() if np.isfinite(x).all() and x.sum() > 0 else start


@dataclass(frozen=True)
class TwoLevelWeights:
    """Results of :func:`~mvref.mwmvc2.learn_weights`: the weights, and the curve of the loss.

    rho (V,); pi: V arrays (n_v,); loss_curve (T + 1,): D_F(0 || q) before the first and after each
    iteration; rho_path (T + 1, V); decrease_bound (T,): the guaranteed decrease of the loss in an
    iteration: by the corrected Eq. (10) for "monotone", which holds; by the printed Eq. (11) for
    "paper", which need not hold.
    """

    rho: np.ndarray
    pi: list
    loss_curve: np.ndarray
    rho_path: np.ndarray
    decrease_bound: np.ndarray


def learn_weights(
    Ms: Sequence[ArrayLike],
    *,
    max_iter: int = 2,
    update: Literal["monotone", "paper"] = "monotone",
    step: Literal["backtrack", "collins"] = "backtrack",
    rho_step: Literal["qp", "exact"] = "qp",
    smoothing: float | Literal["auto"] = "auto",
    sample_weight: ArrayLike | None = None,
) -> TwoLevelWeights:
    """Learn the weights of given voters, by Algorithm 1 without the training of the voters.

    Ms: V tables (m, n_v) of y_i h_vj(x_i): +1 where voter j of view v is right on sample i, -1
    where it is wrong, and a row of zeros where the view is missing; max_iter, update, step,
    rho_step, smoothing: as in :class:`mvref.MwMvC2`, where `smoothing` of 0 is an error if a voter
    has no errors; sample_weight (m,): above 0, 2 is equivalent to the sample's row twice in every
    table -> :class:`~mvref.mwmvc2.TwoLevelWeights`.

    On five copies of a voter that is right on three of four samples, the printed update raises the
    loss, and "monotone" lowers it.

    >>> import numpy as np
    >>> from mvref.mwmvc2.weights import learn_weights
    >>> M = np.repeat([[1.0], [1.0], [1.0], [-1.0]], 5, axis=1)
    >>> learn_weights([M], max_iter=1, update="paper").loss_curve.round(4)
    array([2.253 , 2.2573])
    >>> learn_weights([M], max_iter=1).loss_curve.round(4)
    array([2.253 , 2.2496])
    """
    check_options(max_iter, update, step, rho_step, smoothing)
    Ms, seen = _check_tables(Ms)
    m, V = seen.shape
    w = _check_sample_weight(sample_weight, Ms[0])
    if not (w > 0).all():
        raise ValueError(f"sample_weight must hold numbers > 0, got {w.min()}.")
    half_a_sample = 0.5 / max(w.sum(), m)
    limit = _edge_limit(Ms, seen, half_a_sample if smoothing == "auto" else smoothing)
    n_voters = np.array([M.shape[1] for M in Ms])
    rho, pi = np.full(V, 1.0 / V), [np.full(n, 1.0 / n) for n in n_voters]
    G = np.column_stack([M @ p for M, p in zip(Ms, pi, strict=True)])
    z = G @ rho
    losses, path, bounds = [loss(z, w)], [rho], []
    for _ in range(max_iter):
        deltas, gains, changes = reweigh(Ms, seen, z, limit, w)
        H = np.column_stack([M @ delta for M, delta in zip(Ms, deltas, strict=True)])
        if update == "paper":
            eta = 1.0
            rho = vertex(gains)
            bounds.append(rho @ gains)
        else:
            N = max(1.0, (seen @ (rho * n_voters)).max())
            bounds.append(-(rho @ changes) / N)
            eta = step_length(z, H @ rho, losses[-1] - bounds[-1], N, step, w)
        pi = [p + eta * delta for p, delta in zip(pi, deltas, strict=True)]
        G += eta * H
        if update == "monotone":
            rho = mixture(G, rho, rho_step, w)
        z = G @ rho
        losses.append(loss(z, w))
        path.append(rho)
    return TwoLevelWeights(rho, pi, np.array(losses), np.array(path), np.array(bounds))


def step_length(z, h, target, N, step, w=1.0):
    """Return the step length along h: 1/N, or, backtracking from 1, at least 1/N.

    z, h, w (m,): margins, their change by a full step, and weights of the samples; target: the loss
    that a step of 1/N reaches at least; N: max_i sum_v rho_v n_v over the views that sample i has,
    at least 1.
    """
    eta = 1.0
    if step == "collins":
        return 1.0 / N
    while eta > 1.0 / N and loss(z + eta * h, w) > target:
        eta = max(eta / 2.0, 1.0 / N)
    return eta


def _check_tables(Ms):
    """Return the tables as float arrays, and which samples have which view, shape (m, V)."""
    try:
        Ms = [np.asarray(M, dtype=float) for M in Ms]
    except (TypeError, ValueError) as error:
        raise ValueError("Ms must be a list of 2-D arrays of numbers, one per view.") from error
    shapes = list(dict.fromkeys(M.shape for M in Ms))
    if not Ms or any(len(s) != 2 or 0 in s or s[0] != shapes[0][0] for s in shapes):
        raise ValueError(
            "Ms must be a list of 2-D arrays with one row per sample and a column or more each, "
            f"got shapes {shapes}."
        )
    seen = np.column_stack([M[:, 0] != 0 for M in Ms]).astype(float)
    for v, M in enumerate(Ms):
        if not (np.abs(M) == seen[:, [v]]).all():
            wrong = M[np.argmax((np.abs(M) != seen[:, [v]]).any(axis=1))]
            raise ValueError(
                f"Ms[{v}] must contain -1 and +1, or a row of 0 for a missing view, but has, for "
                f"example, the row {wrong.tolist()}."
            )
    return Ms, seen


def _edge_limit(Ms, seen, smoothing):
    """Return the largest |r/Q| that is used: 1/(1 + 2 eps), and never 1 up to rounding."""
    for v, (M, present) in enumerate(zip(Ms, seen.sum(axis=0), strict=True)):
        if smoothing == 0 and present > 0 and (np.abs(M.sum(axis=0)) == present).any():
            raise ValueError(
                f"smoothing must be > 0: a voter of view {v} is correct (or wrong) on all samples, "
                "so its weight would be infinite."
            )
    return min(1.0 / (1.0 + 2.0 * smoothing), 1.0 - ROUNDING)


def check_options(max_iter, update, step, rho_step, smoothing):
    """Raise a ValueError for an option of :func:`learn_weights` that is out of range."""
    check_number(max_iter, "max_iter", low=0, integer=True)
    check_choice(update, "update", UPDATES)
    check_choice(step, "step", STEPS)
    check_choice(rho_step, "rho_step", RHO_STEPS)
    if isinstance(smoothing, str):
        check_choice(smoothing, "smoothing", ["auto"])
    else:
        check_number(smoothing, "smoothing", low=0)
