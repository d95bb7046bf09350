"""The linear SVM that ends MVL-SVM, solved by liblinear.

Problem   min over (theta, b) of  1/2 (|theta|^2 + (b/B)^2) + C sum_i loss(y_i (theta' x_i + b)),
          one problem for each class against the rest. B is the ``intercept_scaling``: the intercept
          is the weight of a constant feature of value B, and is penalised like every other weight.

Two builds of liblinear can be had. scikit-learn carries one: its random order is seeded, it counts
and limits iterations, and it was the faster of the two on the problems of the book, so it is the
default. The authors of liblinear publish the other (``liblinear-official``), which the authors of
MVL-SVM ran; it comes as source and needs a C++ compiler. Each has one random generator or printer
for the whole process, so that threads have to take turns.
"""

import re
import warnings
from functools import cache
from threading import Lock

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from .checks import warn_caller

LOSSES = ("hinge", "squared_hinge")
SOLVERS = ("sklearn", "liblinear")
SMALLEST_TOL = 1e-11  # below, the dual does not stop, and drifts: up to 28 % above the minimum
ONE_AT_A_TIME = Lock()  # of fits by liblinear, in all threads


class SolverFallbackWarning(UserWarning):
    """liblinear-official was asked for and is not installed."""


class SerialLinearSVC(LinearSVC):
    """LinearSVC that threads fit in turn; it leaves it to the caller to warn, who has ``n_iter_``.

    A fit seeds liblinear's generator and releases the interpreter: two at a time would draw from
    each other's numbers. The filters of warnings are common to all threads, too.
    """

    def fit(self, X, y, sample_weight=None):
        """Fit as LinearSVC does, after the fits that other threads have begun."""
        with ONE_AT_A_TIME, warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
            return super().fit(X, y, sample_weight=sample_weight)


def fit_linear_svm(
    X,
    y,
    C,
    *,
    loss,
    intercept_scaling,
    tol,
    max_iter,
    solver="sklearn",
    random_state=None,
    weights=None,
):
    """Solve one linear SVM per class against the rest.

    X (m, d); y (m,): codes 0..K-1 of the classes, of which 1 is positive for K = 2, a single
    problem; C: of the summed loss; intercept_scaling: B, 0 for no intercept; tol: of liblinear's
    stopping rule; max_iter: of its iterations (``solver="sklearn"`` only); random_state: order of
    the dual coordinate steps; weights (m,): of the samples, what their losses are multiplied by
    (``solver="sklearn"`` only) -> coef (1 or K, d), intercept (1 or K,), n_iter.
    """
    if solver == "liblinear" and loss != "squared_hinge":
        raise ValueError(
            "solver='liblinear' needs loss='squared_hinge' (its primal solver); its hinge solver "
            "stops after 300 sweeps and cannot be seeded, use solver='sklearn'."
        )
    if solver == "liblinear" and weights is None and official_liblinear() is not None:
        with ONE_AT_A_TIME:
            coef, intercept, n_iter, converged = _fit_official(X, y, C, intercept_scaling, tol)
    else:
        coef, intercept, n_iter, converged = _fit_sklearn(
            X, y, C, loss, intercept_scaling, tol, max_iter, random_state, weights
        )
    if not converged:
        other = " or take loss='squared_hinge'" if loss == "hinge" else ""
        warn_caller(
            f"liblinear stopped after {n_iter} iterations before it reached tol={tol:g}; raise "
            f"max_iter or tol, lower c{other}."
        )
    return coef, intercept, n_iter


def _fit_sklearn(X, y, C, loss, intercept_scaling, tol, max_iter, random_state, weights):
    """Solve with scikit-learn, in the primal or in the dual."""
    # The primal exists for the squared hinge only. Its Newton method stops at a gradient relative
    # to the first one, which grows with C: for large C it ends per cents above the minimum, where
    # the dual does not. For small C the primal is as exact, and faster even where m < d.
    primal = loss == "squared_hinge" and C * (1 if weights is None else weights.max()) <= 1
    svm = SerialLinearSVC(
        C=C,
        loss=loss,
        dual=not primal,
        fit_intercept=intercept_scaling > 0,
        intercept_scaling=intercept_scaling if intercept_scaling > 0 else 1.0,
        tol=max(tol, SMALLEST_TOL),
        max_iter=max_iter,
        random_state=random_state,
    )
    svm.fit(X, y, sample_weight=weights)
    intercept = np.broadcast_to(svm.intercept_, len(svm.coef_)).astype(float)
    n_iter = int(np.max(svm.n_iter_))
    return svm.coef_, intercept, n_iter, n_iter < max_iter


@cache
def official_liblinear():
    """Return the module of liblinear-official, or None, with one warning, where it is missing."""
    try:
        from liblinear import liblinear
    except (ImportError, OSError):
        warn_caller(
            "liblinear-official is not installed (it needs a C++ compiler); solving the same "
            "problem with scikit-learn's LinearSVC.",
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
    converged = "reaching max number of Newton" not in log
    return np.array(w[:, : X.shape[1]]), np.array(intercept), n_iter, converged
