"""Slow literal twins: the formulas of MVL-SVM and its rivals with one loop per sum.

Nothing here calls mvref, so that a test compares two independent implementations of the paper. The
toy problems that several test modules share are at the end.
"""

import math

import numpy as np
import pytest
from scipy.optimize import minimize

QP_OPTIONS = {"show_progress": False, "abstol": 1e-11, "reltol": 1e-11, "feastol": 1e-11}


def rbf_projection(views, landmark_rows, gammas):
    """Return mu(x) of every sample, entry by entry, columns view by view (Eq. 1).

    ``landmark_rows[v]`` are the rows of view v that serve as landmarks.
    """
    m, V, L = len(views[0]), len(views), len(landmark_rows[0])
    Phi = np.empty((m, L * V))
    for v in range(V):
        for p in range(L):
            landmark = views[v][landmark_rows[v][p]]
            for i in range(m):
                squared = sum((a - b) ** 2 for a, b in zip(views[v][i], landmark, strict=True))
                Phi[i, v * L + p] = math.exp(-gammas[v] * squared)
    return Phi


def impute_row_by_row(Phi, P, ridge=0.0, keep_known=True):
    """Solve one least-squares problem per row (Eq. 11); the ridge adds L equations."""
    filled = Phi.copy()
    L = len(P)
    for i, row in enumerate(Phi):
        known = ~np.isnan(row)
        A = np.vstack([P[:, known].T, math.sqrt(ridge) * np.eye(L)])
        r = np.linalg.lstsq(A, np.concatenate([row[known], np.zeros(L)]), rcond=None)[0]
        replace = ~known if keep_known else np.ones_like(known)
        filled[i, replace] = (r @ P)[replace]
    return filled


def with_constant_feature(Phi, B):
    """Append a feature of constant value B, whose weight gives the intercept."""
    return np.hstack([Phi, np.full((len(Phi), 1), B)]) if B else Phi


def hinge_dual(Phi, signs, C, B):
    """Solve Eq. (3) with cvxopt in the dual, a quadratic programme with a box.

    Returns
    -------
    w : weights of the features and, if B > 0, of the constant feature
    alpha : dual variables, one per sample
    """
    pytest.importorskip("cvxopt")  # not available in the browser
    from cvxopt import matrix, solvers

    Z = with_constant_feature(Phi, B) * signs[:, None]
    m = len(Z)
    # In units of C the box is [0, 1] for every C, which helps the interior point method.
    solution = solvers.qp(
        matrix(C * (Z @ Z.T)),
        matrix(-np.ones(m)),
        matrix(np.vstack([np.eye(m), -np.eye(m)])),
        matrix(np.concatenate([np.ones(m), np.zeros(m)])),
        options=QP_OPTIONS,
    )
    assert solution["status"] == "optimal"
    alpha = C * np.array(solution["x"]).ravel()
    return Z.T @ alpha, alpha


def squared_hinge_minimum(Phi, signs, C, B):
    """Minimise the primal with squared hinge by L-BFGS; return the weights."""
    Z = with_constant_feature(Phi, B) * signs[:, None]

    def value_and_gradient(w):
        slack = np.maximum(0, 1 - Z @ w)
        return 0.5 * w @ w + C * slack @ slack, w - 2 * C * Z.T @ slack

    options = {"maxiter": 100_000, "maxfun": 200_000, "ftol": 1e-15, "gtol": 1e-9, "maxcor": 50}
    start = np.zeros(Z.shape[1])
    return minimize(value_and_gradient, start, jac=True, method="L-BFGS-B", options=options).x


def primal_objective(w, Phi, signs, C, B, loss="hinge"):
    """Return 1/2 |w|^2 + C sum of the losses; the constant feature's weight is last in w."""
    slack = np.maximum(0, 1 - signs * (with_constant_feature(Phi, B) @ w))
    return 0.5 * w @ w + C * np.sum(slack if loss == "hinge" else slack**2)


def block_sparse_minimum(Phi, signs, C, n_landmarks, B, n_steps=5000):
    """Minimise sum_p |theta_p| + b^2 / (2 B^2) + C sum of squared slacks by proximal gradient.

    `signs` is (m, K), one column per class; theta (L V, K), its block p all rows p + v L.

    Returns
    -------
    norms : array, shape (L,)
    objective : float
    """
    Z = with_constant_feature(Phi, B)
    W = momentum = np.zeros((Z.shape[1], signs.shape[1]))
    step = 1 / (2 * C * np.linalg.norm(Z, 2) ** 2 + 1)
    n_columns = Phi.shape[1]
    blocks = [np.arange(p, n_columns, n_landmarks) for p in range(n_landmarks)]
    t = 1.0
    for _ in range(n_steps):
        slack = np.maximum(0, 1 - signs * (Z @ momentum))
        gradient = -2 * C * Z.T @ (signs * slack)
        gradient[n_columns:] += momentum[n_columns:]
        new = momentum - step * gradient
        for block in blocks:
            size = np.linalg.norm(new[block])
            new[block] *= max(0.0, 1 - step / size) if size else 0.0
        t, before = (1 + math.sqrt(1 + 4 * t * t)) / 2, t
        momentum = new + (before - 1) / t * (new - W)
        W = new
    norms = np.array([np.linalg.norm(W[block]) for block in blocks])
    slack = np.maximum(0, 1 - signs * (Z @ W))
    return norms, norms.sum() + np.sum(W[n_columns:] ** 2) / 2 + C * np.sum(slack**2)


def weights_of(model, row=0):
    """Return the weights of a fitted MVLSVM, with the constant feature's weight last."""
    if not model.fit_intercept:
        return model.coef_[row]
    return np.append(model.coef_[row], model.intercept_[row] / model.intercept_scaling)


def complete_gram(K, K_ref, known, sweeps=20_000):
    """Fill the Gram matrix K where `known` is False so that trace(Lap K) is least.

    The known block is written as F F'. Then trace(Lap K) is the weighted sum of squared
    distances between the rows of F, so every unknown row must be the weighted mean of all others:
    sweep over the unknown rows until convergence.
    """
    values, vectors = np.linalg.eigh(K[np.ix_(known, known)])
    F = np.zeros((len(K), known.sum()))
    F[known] = vectors * np.sqrt(np.maximum(values, 0))
    for _ in range(sweeps):
        moved = 0.0
        for i in np.flatnonzero(~known):
            weight = np.delete(K_ref[i], i)
            mean = weight @ np.delete(F, i, axis=0) / weight.sum()
            moved = max(moved, np.abs(mean - F[i]).max())
            F[i] = mean
        if moved < 1e-14:
            break
    return F @ F.T


def laplacian(K):
    """Return diag(K 1) - K, entry by entry."""
    n = len(K)
    lap = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            lap[i, j] = sum(K[i]) - K[i, i] if i == j else -K[i, j]
    return lap


def rbf_gram(view, gamma):
    """Return the Gram matrix of one view, entry by entry."""
    return np.array([[math.exp(-gamma * np.sum((a - b) ** 2)) for b in view] for a in view])


# ---------------------------------------------------------------------------- toy problems


def toy_views(seed, m=60, widths=(3, 2), n_classes=2, noise=0.7):
    """Return views with the class plus noise, a list of arrays, and the class of each row."""
    rng = np.random.default_rng(seed)
    y = np.arange(m) % n_classes
    centres = [rng.normal(size=(n_classes, width)) for width in widths]
    return [centre[y] + noise * rng.normal(size=(m, centre.shape[1])) for centre in centres], y


def random_pattern(seed, m, V, share=0.4, n_complete=0):
    """Draw a boolean (m, V) pattern without empty rows; the first `n_complete` rows are full."""
    rng = np.random.default_rng(seed)
    observed = rng.random((m, V)) > share
    observed[np.arange(m), rng.integers(V, size=m)] = True
    observed[:n_complete] = True
    return observed


def hide(views, observed):
    """Return copies of the views with a row of NaN wherever a sample lacks the view."""
    return [
        np.where(seen[:, None], view, np.nan) for view, seen in zip(views, observed.T, strict=True)
    ]


def changed(array, index, value):
    """Return a copy of the array with one entry changed."""
    array = array.copy()
    array[index] = value
    return array
