"""MVL-SVM on samples that do not fit into memory: the same machine, learnt pass by pass.

Problem   Eq. (3) with the squared hinge, one class against the rest, z = (mu(x), B):
          min over w of  J(w) = 1/2 |w|^2 + (c/m) sum_i max(0, 1 - y_i z_i'w)^2

Algorithm The first pass counts the samples and draws the landmarks: every complete sample gets a
          random number, and the L smallest win, which is a draw without replacement of all of them.
          Every further pass is a Newton step. With the samples inside the margin,
          A = {i : y_i z_i'w < 1},
              gradient  w - 2 (c/m) sum_A (1 - y_i z_i'w) y_i z_i
              Hessian   I + 2 (c/m) sum_A z_i z_i'
          are sums over the samples, so that a chunk is forgotten once it is added. J is piecewise
          quadratic: the last step is exact. A step that does not lower J enough is halved.

Memory    one chunk of projections, a Hessian of (L V + 1)^2 numbers per class, and of all m
          samples their labels.
"""

from typing import NamedTuple

import numpy as np
from scipy import linalg
from sklearn.utils import check_random_state

from ..core.base import check_length, one_against_rest, validate_targets, validate_views
from ..core.checks import check_number, warn_caller
from ..core.views import stack_samples
from .estimator import PROJECTION_PARAMETERS
from .landmarks import DEFAULT_LANDMARKS, LandmarkProjection

ENOUGH = 1e-4  # share of the decrease that the gradient promises, to accept a step


def fit_in_chunks(model, chunks, *, max_passes=50, tol=1e-8):
    """Fit an MVL-SVM to samples that come in chunks, several times over.

    Parameters
    ----------
    model : MVLSVM
        With ``loss="squared_hinge"``, shared landmarks and a kernel of features. Its ``tol``,
        ``max_iter`` and ``solver`` are not used. Without ``class_weight``: samples have no weights
        here, since the sums of a pass are those of equal ones.
    chunks : callable
        ``chunks()`` yields pairs (X, y), the same ones at every call. X is a MultiView or a list of
        arrays; all chunks have the same views.
    max_passes : int, largest number of passes after the first
    tol : float, norm of the gradient, relative to that of w = 0, at which a class is solved

    Returns
    -------
    model : MVLSVM
        Fitted, with ``n_iter_`` passes; ``projection_.landmark_indices_`` are the positions of the
        landmarks among all samples.

    Raises
    ------
    ValueError
        If the model is of another form, `chunks` is no callable or yields nothing, the chunks
        differ in their views, or there is a single class.

    Examples
    --------
    >>> from mvref import MVLSVM, fit_in_chunks
    >>> from mvref.datasets import load_iris_views
    >>> data = load_iris_views()
    >>> def chunks():
    ...     for start in range(0, 150, 50):
    ...         yield data.X[start : start + 50], data.y[start : start + 50]
    >>> model = fit_in_chunks(MVLSVM(20, loss="squared_hinge", random_state=0), chunks)
    >>> bool(model.score(data.X, data.y) > 0.9)
    True
    """
    _check(model, chunks, max_passes, tol)
    landmarks, rows, y = _first_pass(model, chunks)
    codes = validate_targets(model, y, len(y))
    shared = {name: getattr(model, name) for name in PROJECTION_PARAMETERS}
    shared |= {"landmarks": np.arange(len(rows)), "n_landmarks": len(rows)}
    model.projection_ = LandmarkProjection(**shared).fit(landmarks)
    model.projection_.landmark_indices_ = rows
    Y = one_against_rest(codes, len(model.classes_))
    B = model.intercept_scaling if model.fit_intercept else 0.0
    C = model.c / len(y)
    W, model.n_iter_ = _newton(lambda: _projections(model, chunks, B), Y, C, max_passes, tol)
    model.coef_, model.intercept_ = W[:, :-1], B * W[:, -1]
    return model


def _check(model, chunks, max_passes, tol):
    if model.loss != "squared_hinge":
        raise ValueError(f"model must have loss='squared_hinge', got loss={model.loss!r}.")
    if not isinstance(model.landmarks, str) or model.landmarks != "shared":
        raise ValueError(f"model must have landmarks='shared', got {model.landmarks!r}.")
    if model.n_selected is not None:
        raise ValueError(f"model must have n_selected=None, got {model.n_selected!r}.")
    if model.class_weight is not None:
        raise ValueError(f"model must have class_weight=None, got {model.class_weight!r}.")
    kernels = model.kernel if isinstance(model.kernel, list | tuple) else [model.kernel]
    if any(isinstance(kernel, str) and kernel not in ("rbf", "linear") for kernel in kernels):
        raise ValueError(
            f"model must have kernel='rbf', 'linear' or a callable, got {model.kernel!r}."
        )
    if not callable(chunks):
        kind = type(chunks).__name__
        raise ValueError(f"chunks must be callable, since every pass calls it anew, got {kind}.")
    model._check_parameters()
    check_number(max_passes, "max_passes", low=2, integer=True)
    check_number(tol, "tol", low=0, low_open=True)


def _first_pass(model, chunks):
    """The landmarks, their positions, and all labels."""
    rng = check_random_state(model.random_state)
    L = DEFAULT_LANDMARKS if model.n_landmarks == "auto" else model.n_landmarks
    check_number(L, "n_landmarks", low=1, integer=True)
    best, keys, rows, labels, m = None, np.empty(0), np.empty(0, dtype=int), [], 0
    for X, y in chunks():
        X = validate_views(model, X, reset=best is None)
        check_length(y, len(X))
        complete = np.flatnonzero(X.observed.all(axis=1))
        candidates = X[complete] if best is None else stack_samples(best, X[complete])
        keys = np.concatenate([keys, rng.uniform(size=len(complete))])
        rows = np.concatenate([rows, m + complete])
        winners = np.argsort(keys)[:L]
        best, keys, rows = candidates[winners], keys[winners], rows[winners]
        labels.append(np.asarray(y))
        m += len(X)
    if best is None:
        raise ValueError("chunks must yield pairs (X, y), got none.")
    if len(rows) < (1 if model.n_landmarks == "auto" else L):
        raise ValueError(
            f"n_landmarks must be at most the {len(rows)} samples that have all views, got {L}."
        )
    return best, rows, np.concatenate(labels)


def _projections(model, chunks, B):
    """Yield z = (mu(x), B) of every chunk, shape (n, L V + 1)."""
    for X, _ in chunks():
        Phi = model.projection_.transform(validate_views(model, X, reset=False))
        yield np.hstack([Phi, np.full((len(Phi), 1), B)])


class Sums(NamedTuple):
    """What a pass adds up, at weights of shape (K, d)."""

    value: np.ndarray  #: (K,), J
    gradient: np.ndarray  #: (K, d)
    hessian: np.ndarray  #: (K, d, d)


def _sums(projections, Y, C, W):
    """J, its gradient and its Hessian, for every class."""
    value, gradient = (W**2).sum(axis=1) / 2, W.copy()
    hessian = np.tile(np.eye(W.shape[1]), (len(W), 1, 1))
    start = 0
    for Z in projections():
        y = Y[:, start : start + len(Z)]
        slack = np.maximum(0, 1 - y * (W @ Z.T))
        value += C * (slack**2).sum(axis=1)
        gradient -= 2 * C * (slack * y) @ Z
        for k, inside in enumerate(slack > 0):
            hessian[k] += 2 * C * Z[inside].T @ Z[inside]
        start += len(Z)
    return Sums(value, gradient, hessian)


def _newton(projections, Y, C, max_passes, tol):
    """Minimise J for every class; return the weights (K, d) and the number of passes."""
    d = next(iter(projections())).shape[1]
    W = np.zeros((len(Y), d))
    now = _sums(projections, Y, C, W)
    limit = tol * np.linalg.norm(now.gradient, axis=1)
    step = _newton_step(now)
    for n_pass in range(2, max_passes + 1):
        new = _sums(projections, Y, C, W + step)
        promised = (now.gradient * step).sum(axis=1)
        # below rounding, a value cannot tell whether it fell
        falls = new.value <= now.value + ENOUGH * promised + 1e-12 * now.value
        W[falls] += step[falls]
        for old, fresh in zip(now, new, strict=True):
            old[falls] = fresh[falls]
        solved = np.linalg.norm(now.gradient, axis=1) <= limit
        if solved.all():
            return W, n_pass
        step = np.where(falls[:, None], _newton_step(now), step / 2)
    warn_caller(
        f"fit_in_chunks stopped after max_passes={max_passes} passes with {(~solved).sum()} of "
        f"{len(solved)} problems above tol={tol:g}; raise max_passes or tol, or lower c."
    )
    return W, max_passes


def _newton_step(sums):
    pairs = zip(sums.hessian, sums.gradient, strict=True)
    return -np.array([linalg.solve(H, g, assume_a="pos") for H, g in pairs])
