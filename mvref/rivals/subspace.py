"""The convex problem of MSL: a joint norm of two views, and the table that it shrinks.

See :mod:`mvref.rivals.msl` for the paper and the symbols. Tables have samples in columns here, as
in the paper: X = [X_1 ; X_2], shape (d_1 + d_2, n).
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar

STEPS = 20_000  # maximum number of proximal steps for one theta
SEARCH = 60  # maximum number of values of theta
EVERY = 5  # steps between two checks of the gap
ROUNDING = 1e-13  # relative gap that rounding allows
SMALLEST = 1e-6  # smallest singular value that is kept, relative to the largest


@dataclass(frozen=True)
class Subspace:
    """Z = U H, the minimum of 1/2 |Z - X|^2 + alpha Omega(Z), and its duality gap."""

    U: list  # (d_1, t) and (d_2, t)
    H: np.ndarray  # (t, n)
    theta: float
    value: float  # of the objective
    gap: float
    converged: bool


def unscale(theta, widths, beta):
    """Return the diagonal of E_theta, beta_v / sqrt(theta_v) in view v; theta_2 = 1 - theta_1.

    >>> unscale(0.2, (1, 1), (1.0, 2.0)).ravel().round(3)
    array([2.236, 2.236])
    """
    scales = np.asarray(beta, dtype=float) / np.sqrt([theta, 1.0 - theta])
    return np.repeat(scales, widths)[:, None]


def shared_norm(Z, widths, beta=(1.0, 1.0)):
    """Return Omega(Z) = max over theta of the trace norm of E_theta^-1 Z, and theta.

    >>> round(shared_norm(np.array([[3.0], [1.0]]), (1, 1))[0], 4)  # one sample: max |z_v| / beta_v
    3.0
    """
    C = Z @ Z.T if Z.shape[0] <= Z.shape[1] else None

    def minus_norm(theta):
        S = 1.0 / unscale(theta, widths, beta)
        if C is None:
            return -np.linalg.norm(S * Z, "nuc")
        return -np.sqrt(np.maximum(np.linalg.eigvalsh(S * C * S.T), 0.0)).sum()

    least, theta = _over_theta(minus_norm, 1e-9)
    return -least, theta


def _over_theta(function, margin):
    """Minimise over theta, as a function of an angle: derivatives at 0 and 1 may be infinite."""
    found = minimize_scalar(
        lambda angle: function(np.sin(angle) ** 2),
        bounds=(margin, np.pi / 2 - margin),
        method="bounded",
        options={"xatol": 1e-8},
    )
    return float(found.fun), float(np.sin(found.x) ** 2)


def dual_norm(G, widths, beta=(1.0, 1.0)):
    """Return the dual norm of Omega, min over theta of the spectral norm of E_theta G.

    >>> round(dual_norm(np.array([[3.0], [1.0]]), (1, 1)), 4)  # one sample: the sum of |g_v|
    4.0
    """
    return _over_theta(lambda theta: np.linalg.norm(unscale(theta, widths, beta) * G, 2), 1e-6)[0]


def shrink(X, E, alpha, tol, start):
    """Return argmin 1/2 |E W - X|^2 + alpha |W|_tr, a lower bound, and whether within `tol`.

    For one theta, from `start` on, by accelerated proximal steps.
    """
    L, mu = E.max() ** 2, E.min() ** 2  # curvature: of E^2
    momentum = (np.sqrt(L) - np.sqrt(mu)) / (np.sqrt(L) + np.sqrt(mu))
    W = ahead = start
    for k in range(STEPS):
        last, (W, trace_norm) = W, _threshold(ahead + E * (X - E * ahead) / L, alpha / L)
        ahead = W + momentum * (W - last)
        if k % EVERY == 0:
            G = X - E * W
            value = (G**2).sum() / 2 + alpha * trace_norm
            G = G * (alpha / max(np.linalg.norm(E * G, 2), alpha, np.finfo(float).tiny))
            lower = (G * X).sum() - (G**2).sum() / 2
            if value - lower <= tol * value:
                return W, lower, True
    return W, lower, False


def _threshold(W, by):
    """Return W with singular values reduced by `by` (the proximal step), and their sum."""
    squares, P = np.linalg.eigh(W @ W.T)
    sigma = np.sqrt(np.maximum(squares, 0.0))
    left = np.maximum(sigma - by, 0.0)
    keep = left > 0
    P = P[:, keep]
    return P @ ((left[keep] / sigma[keep])[:, None] * (P.T @ W)), left.sum()


def learn_subspace(views, alpha, *, beta=(1.0, 1.0), tol=1e-4):
    """Minimise 1/2 |Z - X|^2 + alpha Omega(Z), and factor Z = U H.

    views (d_1, n) and (d_2, n); tol: relative duality gap; theta stays that far from 0 and 1.

    >>> x = np.array([[3.0, -1.0, 2.0]])
    >>> found = learn_subspace([x, x], 1.0)
    >>> found.H.shape, bool(found.theta == 0.5)  # one direction, both views alike
    ((1, 3), True)
    """
    # Rotations change nothing: at most n coordinates per view, and as many samples.
    bases, tables = zip(*(np.linalg.qr(view) for view in views), strict=True)
    widths = [len(table) for table in tables]
    X, Q = np.vstack(tables), None
    if X.shape[1] > X.shape[0]:
        Q, X = np.linalg.qr(X.T)
        X = X.T
    best, lower, W = None, -np.inf, np.zeros_like(X)
    theta, low, high = 0.5, 0.0, 1.0
    for turn in range(SEARCH):
        theta = min(max(theta, tol), 1.0 - tol)
        E = unscale(theta, widths, beta)
        # At a kink of Omega, a small error of W costs its root: tighten its tolerance each turn.
        W, bound, inner = shrink(X, E, alpha, max(tol / 10 / 2**turn, ROUNDING), W)
        value = ((E * W - X) ** 2).sum() / 2 + alpha * shared_norm(E * W, widths, beta)[0]
        lower = max(lower, bound)
        if best is None or value < best[0]:
            best = value, theta, W
        if best[0] - lower <= tol * best[0] or not inner or not W.any():
            break
        # The derivative in theta has the sign of share - theta, where share is the part of view 1
        # in the trace of (W W')^(1/2).
        P, sigma, _ = np.linalg.svd(W, full_matrices=False)
        share = ((P[: widths[0]] ** 2) @ sigma).sum() / sigma.sum()
        low, high = (theta, high) if share > theta else (low, theta)
        theta = share if turn % 2 == 0 and low < share < high else (low + high) / 2
    value, theta, W = best
    P, sigma, H = np.linalg.svd(W, full_matrices=False)
    keep = max(1, int((sigma > SMALLEST * sigma[0]).sum()))
    U = unscale(theta, widths, beta) * P[:, :keep]
    H = sigma[:keep, None] * H[:keep]
    parts = zip(bases, np.split(U, [widths[0]]), strict=True)
    U, H = [basis @ part for basis, part in parts], H if Q is None else H @ Q.T
    value, gap = float(value), float(value - lower)
    return Subspace(U, H, theta, value, gap, gap <= tol * value)
