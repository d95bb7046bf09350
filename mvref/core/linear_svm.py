"""The linear SVM that is the last step of MVL-SVM, MSL and L3-SVM.

Problem   min over (theta, b) of  1/2 (|theta|^2 + (b/B)^2) + C sum_i loss(y_i (theta' x_i + b)),
          one problem for each class against the rest. B is the ``intercept_scaling``: the intercept
          is the weight of a constant feature of value B, and is penalised like every other weight.

Our own solver is Newton's method (:mod:`.newton_svm`). The other is liblinear as its authors
publish it (``liblinear-official``), which the authors of MVL-SVM ran; it comes as source and needs
a C++ compiler. It has one print function per process, so that threads have to take turns.
"""

import re
from functools import cache, partial
from threading import Lock
from typing import NamedTuple

import numpy as np
from scipy import sparse

from .base import one_against_rest
from .input import warn_caller
from .newton_svm import Rows, hinge, squared_hinge

LOSSES = ("hinge", "squared_hinge")
SOLVERS = ("newton", "liblinear")
SMALLEST_TOL = 1e-9  # rounding may leave a gap above a smaller tol
ONE_AT_A_TIME = Lock()  # for fits by liblinear in all threads


class SolverFallbackWarning(UserWarning):
    """Warning that liblinear-official is not installed, so that another solver is used."""


class LinearMachines(NamedTuple):
    """One-vs-rest linear SVMs; a single one for two classes."""

    coef: np.ndarray  #: (1 or K, d)
    intercept: np.ndarray  #: (1 or K,)
    n_iter: int  #: the largest number of steps
    gap: np.ndarray  #: (1 or K,), relative duality gap; NaN by liblinear
    state: list | None  #: starting point for a fit with another C


def fit_linear_svm(
    X, y, C, *, loss, intercept_scaling, tol, max_iter, solver="newton", weights=None, start=None
):
    """Solve one-vs-rest linear SVMs.

    X (m, d); y (m,): codes 0..K-1 of the classes, of which 1 is positive for K = 2, a single
    problem; C: of the summed loss; intercept_scaling: B, 0 for no intercept; tol: relative duality
    gap, or of liblinear's stopping rule; max_iter: Newton steps per class; weights (m,): factors of
    the losses of the samples (liblinear has none); start: the ``state`` of the same samples at
    another C -> `LinearMachines`.
    """
    if solver == "liblinear" and loss != "squared_hinge":
        raise ValueError(
            "solver='liblinear' requires loss='squared_hinge'. Use solver='newton' for the hinge: "
            "liblinear's hinge solver stops after 300 sweeps and cannot be seeded."
        )
    if solver == "liblinear" and weights is None and official_liblinear() is not None:
        with ONE_AT_A_TIME:
            return _fit_official(X, y, C, intercept_scaling, tol)
    stack = partial(sparse.hstack, format="csr") if sparse.issparse(X) else np.hstack
    Z = stack([X, np.full((X.shape[0], 1), intercept_scaling)]) if intercept_scaling else X
    rows, costs = Rows(Z), np.full(X.shape[0], C) if weights is None else C * weights
    solve = {"hinge": hinge, "squared_hinge": squared_hinge}[loss]
    signs = one_against_rest(y, y.max() + 1)
    starts = [None] * len(signs) if start is None else start
    options = {"tol": tol, "max_iter": max_iter}
    pairs = zip(signs, starts, strict=True)
    found = [solve(rows, y_k, costs, start=before, **options) for y_k, before in pairs]
    W, gap = np.array([one.w for one in found]), np.array([one.gap for one in found])
    n_iter = max(one.n_iter for one in found)
    if not (gap <= max(tol, SMALLEST_TOL)).all():
        warn_caller(
            f"The linear SVM did not converge in {n_iter} steps: its relative duality gap is "
            f"{gap.max():.2g}, tol={tol:g}. Increase max_iter or tol, or reduce c."
        )
    intercept = intercept_scaling * W[:, -1] if intercept_scaling else np.zeros(len(W))
    state = [(one, costs) for one in found]
    return LinearMachines(W[:, : X.shape[1]], intercept, n_iter, gap, state)


@cache
def official_liblinear():
    """Return the module of liblinear-official, or None, with one warning, where it is missing."""
    try:
        from liblinear import liblinear
    except (ImportError, OSError):
        warn_caller(
            "liblinear-official is not installed (it needs a C++ compiler). solver='newton' solves "
            "the same problem instead.",
            SolverFallbackWarning,
        )
        return None
    return liblinear


def _fit_official(X, y, C, intercept_scaling, tol):
    """Solve the squared hinge in the primal with liblinear-official (``-s 2 -B``)."""
    liblinear = official_liblinear()
    bias = intercept_scaling if intercept_scaling > 0 else -1
    # rows as CSR: building the problem from dense rows costs as much as solving it
    problem = liblinear.problem(y.astype(float), sparse.csr_matrix(X))
    problem.set_bias(bias)
    parameter = liblinear.parameter(f"-s 2 -c {C:.17g} -e {tol:.17g} -B {bias:.17g}")
    said = []
    listener = liblinear.PRINT_STRING_FUN(lambda text: said.append(text.decode()))
    liblinear.liblinear.set_print_string_function(listener)
    try:
        model = liblinear.toPyModel(liblinear.liblinear.train(problem, parameter))
    finally:  # back to liblinear's own printer before `listener` is gone
        liblinear.liblinear.set_print_string_function(parameter.print_func)
    labels = np.array(model.get_labels())
    n_weights = X.shape[1] + (bias > 0)
    w = np.ctypeslib.as_array(model.w, (n_weights, 1 if len(labels) == 2 else len(labels))).T
    if len(labels) == 2:  # liblinear's positive class is the label that came first
        w = w if labels[0] == 1 else -w
    else:
        w = w[np.argsort(labels)]
    intercept = w[:, -1] * bias if bias > 0 else np.zeros(len(w))
    log = "".join(said)
    n_iter = max(map(int, re.findall(r"^iter\s+(\d+)", log, re.MULTILINE)), default=1)
    if "reaching max number of Newton" in log:
        warn_caller(
            f"liblinear did not converge to tol={tol:g} in {n_iter} iterations. Increase tol or "
            "reduce c."
        )
    coef, gap = np.array(w[:, : X.shape[1]]), np.full(len(w), np.nan)
    return LinearMachines(coef, np.array(intercept), n_iter, gap, None)
