"""MVL-SVM on samples that do not fit into memory: the same model, trained in several passes.

Problem   Eq. (3) with the squared hinge, one class against the rest, z = (mu(x), B):
          min over w of  J(w) = 1/2 |w|^2 + (c/m) sum_i max(0, 1 - y_i z_i'w)^2

Algorithm The first pass collects the labels and draws the landmarks: every complete sample gets a
          random number, and the L smallest win: a draw without replacement from all of them.
          Every further pass is a Newton step. With the samples inside the margin,
          A = {i : y_i z_i'w < 1},
              gradient  w - 2 (c/m) sum_A (1 - y_i z_i'w) y_i z_i
              Hessian   I + 2 (c/m) sum_A z_i z_i'
          are sums over the samples, so that a chunk is discarded once it is added. At w = 0 all
          classes have one Hessian; afterwards it changes by the samples that enter or leave A,
          and these become few. J is piecewise quadratic: the last step is exact. A step that does
          not lower J enough is halved.
          Chunks from Dask are summed where they are, and their sums in a tree. The draw is a chain
          through the chunks: each receives the generator and the L best samples so far.

Memory    one chunk, a block of its projections, four Hessians of (L V + 1)^2 numbers per class, and
          in the first pass the labels of all m samples. A Dask worker sends these labels, L
          samples, and sums of the size of a Hessian.
"""

from copy import deepcopy
from typing import NamedTuple

import numpy as np
from scipy import linalg
from sklearn.utils import check_random_state, gen_batches
from tqdm import tqdm

from ..core.input import (
    Any,
    Callable,
    Iterable,
    MultiView,
    Sequence,
    check_length,
    check_number,
    one_blas_thread,
    stack_samples,
    validate_targets,
    validate_views,
    warn_caller,
)
from .estimator import MVLSVM, NUMBERS_PER_BLOCK, PROJECTION_PARAMETERS
from .landmarks import DEFAULT_LANDMARKS, LandmarkProjection

ENOUGH = 1e-4  # fraction of the decrease predicted by the gradient, to accept a step
BRANCHES = 8  # number of sums that a Dask worker adds at a time


@one_blas_thread()
def fit_in_chunks(
    model: MVLSVM,
    chunks: Callable[[], Iterable[Any]] | Sequence[Any] | Any,
    *,
    max_passes: int = 50,
    tol: float = 1e-8,
    verbose: int = 0,
) -> MVLSVM:
    """Fit an MVL-SVM to data that do not fit into memory, in several passes over chunks.

    Parameters
    ----------
    model : MVLSVM
        It needs ``loss="squared_hinge"``, shared landmarks and a kernel of features. Its ``tol``,
        ``max_iter`` and ``solver`` are not used. ``class_weight`` must be None, because sample
        weights are not supported here.
    chunks : callable, list of ``dask.delayed`` blocks, or ``dask.bag``
        ``chunks()`` yields pairs (X, y), the same pairs in every call. X is a MultiView or a list
        of arrays; all chunks have the same views. Blocks of Dask, and the elements of a bag, are
        such pairs: they are loaded, projected and summed up by Dask's scheduler, for instance on
        the workers of a ``distributed.Client``, where mvref must be installed. The landmarks are
        the same as for a callable with these chunks.
    max_passes : int, maximum number of passes after the first
    tol : float, norm of the gradient, relative to its norm at w = 0, at which a class is solved
    verbose : int, default=0; 1 shows a progress bar of the passes

    Returns
    -------
    model : MVLSVM
        The fitted model, with ``n_iter_`` passes; ``projection_.landmark_indices_`` are the
        positions of the landmarks among all samples.

    Raises
    ------
    ValueError
        If the model or `chunks` is of another kind, `chunks` yields nothing or other samples in a
        later pass, the views of the chunks differ, or there is a single class.

    See Also
    --------
    MVLSVM : The same model, on data in memory.

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

    With Dask, ``chunks`` is for example ``[dask.delayed(load)(path) for path in paths]``. On Linux,
    workers that keep the memory they free take about half the time: start them with
    ``MALLOC_TRIM_THRESHOLD_`` and ``MALLOC_MMAP_THRESHOLD_`` of 1000000000 in their environment.
    """
    _check(model, max_passes, tol)
    parts = _parts_of_dask(chunks)
    with tqdm(total=max_passes + 1, desc="passes", disable=not verbose) as bar:
        drawn, y = _first_pass(model, chunks, parts)
        bar.update()
        validate_targets(model, y, len(y))
        shared = {name: getattr(model, name) for name in PROJECTION_PARAMETERS}
        shared["landmarks"] = drawn.landmarks
        model.projection_ = LandmarkProjection(**shared).fit(drawn.landmarks)
        model.projection_.landmark_indices_ = drawn.rows

        def sum_up(W, since):
            if parts is None:
                return _sum_up((model, W, since), chunks())
            return _sum_up_in_a_tree((model, W, since), parts)

        W, model.n_iter_ = _newton(sum_up, model, len(y), max_passes, tol, bar)
    model.coef_, model.intercept_ = W[:, :-1], model._intercept_scaling() * W[:, -1]
    return model


def _check(model, max_passes, tol):
    needed = {"loss": "squared_hinge", "landmarks": "shared"}
    for name, value in (needed | {"n_selected": None, "class_weight": None}).items():
        given = getattr(model, name)
        if not isinstance(given, type(value)) or given != value:
            raise ValueError(f"model must have {name}={value!r}, got {given!r}.")
    kernels = model.kernel if isinstance(model.kernel, list | tuple) else [model.kernel]
    if any(isinstance(kernel, str) and kernel not in ("rbf", "linear") for kernel in kernels):
        raise ValueError(
            f"model must have kernel='rbf', 'linear' or a callable, got {model.kernel!r}."
        )
    model._check_parameters()
    check_number(max_passes, "max_passes", low=2, integer=True)
    check_number(tol, "tol", low=0, low_open=True)


def _parts_of_dask(chunks):
    """Return Dask's parts as a list of iterables of pairs (X, y), or None for a callable."""
    many = isinstance(chunks, list | tuple)
    if any(hasattr(block, "__dask_graph__") for block in (chunks if many else [chunks])):
        from dask.bag import Bag
        from dask.delayed import Delayed

        if isinstance(chunks, Bag):
            return chunks.to_delayed()
        if many and all(isinstance(block, Delayed) for block in chunks):
            return [[block] for block in chunks]
    elif callable(chunks):
        return None
    raise ValueError(
        "chunks must be a callable, which every pass calls again, a list of dask.delayed blocks, "
        f"or a dask.bag, got {type(chunks).__name__}."
    )


class Drawn(NamedTuple):
    """State of the draw of the landmarks, after the samples seen so far."""

    model: MVLSVM  #: with the views of the first chunk
    rng: np.random.RandomState
    m: int  #: samples so far
    landmarks: MultiView | None  #: at most L, in the order of their keys
    keys: np.ndarray  #: their random numbers
    rows: np.ndarray  #: their positions among all samples


def _first_pass(model, chunks, parts=None):
    """Return the drawn landmarks, as `Drawn`, and all labels."""
    rng = check_random_state(model.random_state)
    L = DEFAULT_LANDMARKS if model.n_landmarks == "auto" else model.n_landmarks
    check_number(L, "n_landmarks", low=1, integer=True)
    drawn = Drawn(model, rng, 0, None, np.empty(0), np.empty(0, dtype=int))
    if parts is None:
        drawn, labels = _draw(drawn, L, chunks())
    else:
        import dask

        drawn, labels = dask.delayed(drawn, traverse=False), []
        for part in parts:
            drawn, new = dask.delayed(_draw, nout=2)(drawn, L, part)
            labels.append(new)
        drawn, labels = dask.compute(drawn, labels)
        labels = [y for new in labels for y in new]
    if drawn.landmarks is None:
        raise ValueError("chunks must yield pairs (X, y), but yielded nothing.")
    if len(drawn.rows) < (1 if model.n_landmarks == "auto" else L):
        raise ValueError(
            f"n_landmarks={L} is larger than the number of samples that have all views, "
            f"{len(drawn.rows)}. Lower n_landmarks."
        )
    rng.set_state(drawn.rng.get_state())
    learnt = vars(drawn.model).items()
    vars(model).update({name: value for name, value in learnt if name.endswith("_")})
    return drawn, np.concatenate(labels)


def _draw(drawn, L, pairs):
    """Continue the draw with more chunks; return it and a list of their labels."""
    model, rng, m, best, keys, rows = drawn
    rng, labels = deepcopy(rng), []  # a worker may run this twice
    for X, y in pairs:
        X = validate_views(model, X, reset=best is None, y=y)
        check_length(y, len(X))
        complete = np.flatnonzero(X.observed.all(axis=1))
        new = rng.uniform(size=len(complete))
        ahead = np.argsort(new)[:L]
        candidates = X[complete[ahead]]
        candidates = candidates if best is None else stack_samples(best, candidates)
        keys = np.concatenate([keys, new[ahead]])
        rows = np.concatenate([rows, m + complete[ahead]])
        winners = np.argsort(keys)[:L]
        best, keys, rows = candidates[winners], keys[winners], rows[winners]
        labels.append(np.asarray(y))
        m += len(X)
    return Drawn(model, rng, m, best, keys, rows), labels


class Sums(NamedTuple):
    """Sums of a pass, at weights of shape (K, d)."""

    value: np.ndarray  #: (K,)
    gradient: np.ndarray  #: (K, d)
    hessian: np.ndarray  #: (K, d, d), or (1, d, d) where all classes have the same


def _sum_up(at, pairs):
    """Return the sums over the samples of some chunks, without |w|^2 and c/m.

    at: the model; W (K, d); the weights from which the Hessian's change is counted, or None.
    """
    model, W, since = at
    K, d = W.shape
    sums = Sums(np.zeros(K), np.zeros((K, d)), np.zeros((1 if since is None else K, d, d)))
    Z = np.full((max(1, NUMBERS_PER_BLOCK // d), d), float(model._intercept_scaling()))
    for X, y in pairs:
        X = validate_views(model, X, reset=False)
        labels = np.asarray(y).astype(model.classes_.dtype).ravel()
        Y = np.where(labels == model.classes_[-K:, None], 1.0, -1.0)  # of two classes, the second
        for rows in gen_batches(len(X), len(Z)):
            block = Z[: rows.stop - rows.start]
            block[:, :-1] = model.projection_.transform(X[rows])
            _add_rows(sums, block, Y[:, rows], W, since)
    return sums


def _add_rows(sums, Z, Y, W, since):
    """Add the samples Z (n, d) with the labels Y (K, n)."""
    value, gradient, hessian = sums
    slack = np.maximum(0, 1 - Y * (W @ Z.T))
    value += (slack**2).sum(axis=1)
    gradient += (slack * Y) @ Z
    if since is None:  # W = 0: the same for all classes
        hessian[0] += Z.T @ Z
        return
    inside, was = slack > 0, Y * (since @ Z.T) < 1
    for k in range(len(W)):
        entered, left = Z[inside[k] & ~was[k]], Z[was[k] & ~inside[k]]
        if len(entered):
            hessian[k] += entered.T @ entered
        if len(left):
            hessian[k] -= left.T @ left


def _sum_up_in_a_tree(at, parts):
    """Return the sums over all parts, each summed where Dask made it."""
    import dask

    at = dask.delayed(at, traverse=False)
    sums = [dask.delayed(_sum_up)(at, part) for part in parts]
    while len(sums) > 1:
        branches = gen_batches(len(sums), BRANCHES)
        sums = [dask.delayed(_add)(sums[branch]) for branch in branches]
    return sums[0].compute()


def _add(parts):
    return Sums(*(sum(terms) for terms in zip(*parts, strict=True)))


def _newton(sum_up, model, m, max_passes, tol, bar):
    """Minimise J for every class; return the weights (K, d) and the number of passes."""
    d = model.projection_.reference_.shape[1] + 1
    C = model.c / m

    def at(W, since, hessian):
        sums = sum_up(W, since)
        if since is None and sums.value[0] != m:  # at W = 0 every sample has the loss 1
            raise ValueError(
                f"chunks must yield the same samples in every call: {m} samples in the first, "
                f"{sums.value[0]:.0f} later."
            )
        value, gradient = (W**2).sum(axis=1) / 2 + C * sums.value, W - 2 * C * sums.gradient
        bar.update()
        return Sums(value, gradient, hessian + 2 * C * sums.hessian)

    K = 1 if len(model.classes_) == 2 else len(model.classes_)
    W = np.zeros((K, d))
    now = at(W, None, np.tile(np.eye(d), (K, 1, 1)))
    limit = tol * np.linalg.norm(now.gradient, axis=1)
    step = _newton_step(now)
    for n_pass in range(2, max_passes + 1):
        new = at(W + step, W, now.hessian)
        promised = (now.gradient * step).sum(axis=1)
        # a decrease below rounding cannot be detected
        falls = new.value <= now.value + ENOUGH * promised + 1e-12 * now.value
        W[falls] += step[falls]
        for old, fresh in zip(now, new, strict=True):
            old[falls] = fresh[falls]
        solved = np.linalg.norm(now.gradient, axis=1) <= limit
        bar.set_postfix(solved=f"{solved.sum()} of {len(solved)}")
        if solved.all():
            return W, n_pass
        step = np.where(falls[:, None], _newton_step(now), step / 2)
    warn_caller(
        f"fit_in_chunks did not converge in max_passes={max_passes} passes: {(~solved).sum()} of "
        f"{len(solved)} problems are above tol={tol:g}. Increase max_passes or tol, or reduce c."
    )
    return W, max_passes


def _newton_step(sums):
    pairs = zip(sums.hessian, sums.gradient, strict=True)
    return -np.array([linalg.solve(H, g, assume_a="pos") for H, g in pairs])
