"""SVM-2K and MSL in Figure 2 of MVPO: methods for two views that know of no target measure.

One fit serves the three targets, which differ only in what the folds choose:

  pair     of more than two views: the one whose three measures have the largest mean on the first
           fold, at one point ``first`` of the grids. The targets share it.
  others   C2, and D/C of SVM-2K or alpha of MSL, by all folds for each target, as in
           :mod:`mvref.experiments.ranking`; all classes share the choice, ties go to the smallest.

Both have C = 4 C2/n, the weight of MVPO's error rate, and a penalised intercept. SVM-2K has linear
kernels; MSL's SVM gets rows of mean squared norm 1, whatever the views are. Of a sparse view MSL
gets the `DIRECTIONS` leading principal directions. Where the rank is no larger, this is a rotation,
which changes nothing. On a fold of citeseer 600 directions for 200 raised PRBEP and AUROC by
at most 0.02, in ten times the time; 300 are a compromise.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import linear_kernel

from ..core.linear_svm import fit_linear_svm
from ..core.views import MultiView
from ..rivals.msl import MSL
from ..rivals.svm2k import SVM2K
from .halves import load_halves, measure_all
from .ranking import TARGETS, TOL, TUNING_TOL

DIRECTIONS = 300
SMALLEST = 1e-10  # squared singular value that counts, relative to the largest
FOLD_SWEEPS = 100  # where SVM-2K stops on the folds at the latest
SVM_ITERATIONS = 100_000  # the default of MSL


class SVM2KMachine:
    """SVM-2K with linear kernels, for one D/C.

    y (n,): Codes of the classes; ratio: D/C; max_iter: Sweeps.
    """

    def __init__(self, X, y, ratio, tol=TOL, max_iter=10_000):
        self.X, self.y, self.ratio = X, y, ratio
        self.tol, self.max_iter = tol, max_iter

    def fit(self, C2):
        """Train every class; ``gap`` is the largest relative duality gap over tol."""
        C = 4.0 * C2 / len(self.y)
        self.model = SVM2K(
            C,
            D=self.ratio * C,
            kernel=linear_kernel,
            tol=self.tol,
            max_iter=self.max_iter,
            random_state=0,
        ).fit(self.X, self.y)
        self.gap = np.max(self.model.dual_gap_ / self.model.objective_) / self.tol
        return self

    def scores(self, X):
        """Return the scores of samples, shape (n, K)."""
        return class_columns(self.model.decision_function(X))


class MSLMachine:
    """MSL for one alpha: the subspace, which no label and no C2 touches, is learnt once.

    The scores are those of :class:`mvref.rivals.MSL` with C = 4 C2/n, on the principal directions
    of the views that are sparse.

    y (n,).
    """

    def __init__(self, X, y, alpha, tol=TOL):
        self.bases = [
            principal_directions(view, DIRECTIONS) if sparse.issparse(view) else None
            for view in X.views
        ]
        self.msl = MSL(alpha, tol=tol, random_state=0).fit(self._turned(X), y)
        self.gap = self.msl.dual_gap_ / self.msl.objective_ / tol
        self.y, self.tol, self.table = y, tol, self._represented(X)

    def fit(self, C2):
        """Train every class; ``gap`` is that of the subspace, relative, over tol."""
        self.coef, self.intercept, _ = fit_linear_svm(
            self.table,
            self.y,
            4.0 * C2 / len(self.y),
            loss="hinge",
            intercept_scaling=1.0,
            tol=self.tol,
            max_iter=SVM_ITERATIONS,
            random_state=0,
        )
        return self

    def scores(self, X):
        """Return the scores of samples, shape (n, K)."""
        scores = self._represented(X) @ self.coef.T + self.intercept
        return class_columns(scores[:, 0] if scores.shape[1] == 1 else scores)

    def _turned(self, X):
        views = [
            view if basis is None else view @ basis
            for view, basis in zip(X.views, self.bases, strict=True)
        ]
        return MultiView(views)

    def _represented(self, X):
        return self.msl.represent(self._turned(X)) / self.msl.scale_


def class_columns(scores):
    """Return scores with a column per class, shape (n, K); two classes have opposite ones.

    scores (n,) or (n, K); returns scores (n, K).
    """
    return scores if scores.ndim == 2 else np.column_stack([-scores, scores])


def principal_directions(view, limit):
    """Return an orthonormal basis of the rows of a view, or of what varies most in them.

    view (n, d): Not centred; limit: Largest number of directions; returns basis (d, k).

    Examples
    --------
    >>> from scipy import sparse
    >>> from mvref.experiments.pair_methods import principal_directions
    >>> abs(principal_directions(sparse.csr_matrix([[3.0, 0, 0], [0, 0, 1], [1, 0, 0]]), 5))
    array([[1., 0.],
           [0., 0.],
           [0., 1.]])
    """
    squares, P = np.linalg.eigh((view @ view.T).toarray())
    squares, P = squares[::-1][:limit], P[:, ::-1][:, :limit]
    keep = squares > SMALLEST * squares[0]
    return view.T @ (P[:, keep] / np.sqrt(squares[keep]))


@dataclass(frozen=True)
class PairMethod:
    """How a method for two views is built and tuned.

    machine: ``machine(X, y, outer, tol, **hasty)``; outer: What is chosen beside the pair and C2;
    hasty: Options on the folds.
    """

    machine: Callable
    outer: str
    hasty: dict = field(default_factory=dict)


PAIR_METHODS = {
    "SVM2K": PairMethod(SVM2KMachine, "D/C", {"max_iter": FOLD_SWEEPS}),
    "MSL": PairMethod(MSLMachine, "alpha"),
}


def pair_measures_of(method):
    """Return what :func:`pair_tuned` measures for a method.

    Examples
    --------
    >>> from mvref.experiments.pair_methods import pair_measures_of
    >>> pair_measures_of("MSL")
    ('f1', 'prbep', 'auroc', 'validation', 'C2', 'alpha', 'view', 'second_view', 'gap')
    """
    outer = PAIR_METHODS[method].outer
    return (*TARGETS, "validation", "C2", outer, "view", "second_view", "gap")


def choose_pair(method, halves, first):
    """Choose two views, on the first fold.

    first: ``(outer, C2)`` at which pairs are compared.
    """
    pairs = list(combinations(range(halves.X.n_views), 2))
    if len(pairs) == 1:
        return pairs[0]
    outer, C2 = first
    means = [
        np.mean(list(_on_fold(method, halves, pair, halves.folds[0], outer, (C2,))[0].values()))
        for pair in pairs
    ]
    return pairs[int(np.argmax(means))]


def validate_pair(method, halves, pair, grid_outer, grid_C2):
    """Return the measures of a pair on the folds, on average.

    halves: Only the training half is looked at; returns values (3, len(grid_outer), len(grid_C2)).
    """
    found = [
        [_on_fold(method, halves, pair, fold, outer, grid_C2) for outer in grid_outer]
        for fold in halves.folds
    ]
    values = [[[[m[t] for m in line] for line in fold] for fold in found] for t in TARGETS]
    return np.mean(values, axis=1)


def _on_fold(method, halves, pair, fold, outer, grid_C2):
    """The three measures for every C2."""
    fit, check = fold
    how, X, y = PAIR_METHODS[method], halves.X.select(list(pair)), halves.Y.argmax(axis=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # good enough to compare
        machine = how.machine(X[fit], y[fit], outer, TUNING_TOL, **how.hasty)
        return [measure_all(halves.Y[check], machine.fit(C2).scores(X[check])) for C2 in grid_C2]


def pair_tuned(name, method, target, *, grid_outer, grid_C2, first, tol=TOL, seed):
    """Tune a method for two views inside the training half, and measure it on the test half.

    target: Measure that decides the tuning; tol: Of the final model; the folds use `TUNING_TOL`.
    """
    pair, values = _folds_of(name, method, grid_outer, grid_C2, first, seed)
    values = values[TARGETS.index(target)]
    i, j = np.unravel_index(values.argmax(), values.shape)
    outer, C2 = grid_outer[i], grid_C2[j]
    measures = _measured(name, method, pair, outer, C2, tol, seed) | {
        "validation": values[i, j],
        "C2": C2,
        PAIR_METHODS[method].outer: outer,
        "view": pair[0],
        "second_view": pair[1],
    }
    return {measure: float(measures[measure]) for measure in pair_measures_of(method)}


@lru_cache(maxsize=1)
def _folds_of(name, method, grid_outer, grid_C2, first, seed):
    """The pair, and its measures on the folds: the jobs of three targets share them."""
    halves = load_halves(name, seed)
    pair = choose_pair(method, halves, first)
    return pair, validate_pair(method, halves, pair, grid_outer, grid_C2)


@lru_cache(maxsize=len(TARGETS))
def _measured(name, method, pair, outer, C2, tol, seed):
    """Measures and gap of the final model, which targets with the same choice share."""
    halves = load_halves(name, seed)
    X, y = halves.X.select(list(pair)), halves.Y.argmax(axis=1)
    machine = PAIR_METHODS[method].machine(X[halves.train], y[halves.train], outer, tol).fit(C2)
    return measure_all(halves.Y[halves.test], machine.scores(X[halves.test])) | {"gap": machine.gap}
