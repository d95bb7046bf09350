"""How MVPO's experiments train, tune and measure each method; the names are those of the ledger.

A *machine* is a method on some training samples, for one target measure and one value of its outer
parameter: C1, which fixes the metric of MVPO, or the view of a single-view method. It is then
trained for many C2, one class against the rest; what does not depend on C2 or on the class is done
once.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from ..core.kernel_views import LinearViews, add_linear_scores
from ..core.measures import macro_average
from ..mvpo import RANKING, DualMetric, PrimalMetric, cutting_planes, ranking_threshold
from ..rivals.capo import CAPO
from ..rivals.fs_multi import FSMulti
from ..rivals.sms import SMS
from ..rivals.svm_perf import SVMPerf, most_violated_of
from .halves import MEASURES, load_halves, measure_all

TARGETS = tuple(MEASURES)
CONSTANT = 1.0  # the constant feature
TOL, MAX_ITER = 1e-3, 1000  # the defaults of the classes
TUNING_TOL = 1e-2  # of the fits on the folds


# --------------------------------------------------------------------------------- machines


class MVPOMachine:
    """MVPO for one C1: the classes and the values of C2 share the metric.

    The scores are those of :class:`mvref.mvpo.MVPO` on the problems of one class against the rest.

    Y (n, K); C1: In the unit of ``MVPO(normalize=True)``.
    """

    def __init__(self, X, Y, target, C1):
        self.form, n = LinearViews(X, CONSTANT), len(Y)
        if self.form.n_features > n:
            self.metric = DualMetric(self.form.grams(), X.observed, C1 / n)
        else:
            self.metric = PrimalMetric(self.form.features, X.observed, C1 / n)
        self.target, self.Y = target, Y
        self.most_violated = [most_violated_of(target, np.where(y, 1, -1)) for y in Y.T]

    def fit(self, C2, tol=TOL):
        """Train every class for one C2; ``gap`` is the largest duality gap over C2 tol."""
        n = len(self.Y)
        solutions = [
            cutting_planes(cut, self.metric.scores, n, C2=C2, tol=tol, max_iter=MAX_ITER)
            for cut in self.most_violated
        ]
        of_classes = [self.form.functions(self.metric, solution.c) for solution in solutions]
        self.coef = [np.array(w) for w in zip(*(w for w, _ in of_classes), strict=True)]
        self.intercepts = np.array([shares.sum() for _, shares in of_classes])
        self.gap = max(solution.gap for solution in solutions) / (C2 * tol)
        if self.target in RANKING:
            self.intercepts -= [
                ranking_threshold(self.metric.scores(solution.c), int(y.sum()))
                for solution, y in zip(solutions, self.Y.T, strict=True)
            ]
        return self

    def scores(self, X):
        """Return the scores of samples, shape (n, K)."""
        scores = np.tile(self.intercepts, (len(X), 1))
        add_linear_scores(scores, X, self.coef)
        return scores


class ColumnsMachine:
    """An estimator of columns, one class against the rest.

    Y (n, K); outer: The view, for ``columns="view"``; make: ``make(target, C2, n, tol)`` returns
    the estimator; columns: One view; all views side by side; each view alone, scores averaged;
    loose: Factor of the tolerance.
    """

    def __init__(self, X, Y, target, outer, *, make, columns, loose=1.0):
        self.choose = {
            "view": lambda X: [X.views[outer]],
            "all": lambda X: [X.concat()],
            "each": lambda X: X.views,
        }[columns]
        self.tables, self.Y, self.target = self.choose(X), Y, target
        self.make, self.loose = make, loose

    def fit(self, C2, tol=TOL):
        """Train every class for one C2; ``gap`` is the largest duality gap over C2 tol."""
        tol = self.loose * tol
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # ``gap`` tells
            self.models = [
                [self.make(self.target, C2, len(y), tol).fit(table, y) for y in self.Y.T]
                for table in self.tables
            ]
        gaps = [getattr(model, "dual_gap_", 0.0) for models in self.models for model in models]
        self.gap = max(gaps) / (C2 * tol)
        return self

    def scores(self, X):
        """Return the scores of samples, shape (n, K)."""
        of_tables = [
            np.column_stack([model.decision_function(table) for model in models])
            for models, table in zip(self.models, self.choose(X), strict=True)
        ]
        return np.mean(of_tables, axis=0)


def certified(learner, **options):
    """Return how a method with a certificate is made, for :class:`ColumnsMachine`."""

    def make(target, C2, n, tol):
        return learner(target, C2=C2, tol=tol, **options)

    return make


svm_perf = certified(SVMPerf, max_iter=MAX_ITER)
sms = certified(SMS)
capo = certified(CAPO, max_iter=MAX_ITER, random_state=0)  # its default auxiliary classifiers
fs_multi = certified(FSMulti)  # its default of ten features in a group


def linear_svc(target, C2, n, tol):
    """Linear SVM with squared hinge, whose weight C = 4 C2/n is that of MVPO's error rate."""
    # by its dual: on mfeat the primal solver takes ten times as long at C2 = 1000, and stops early
    return LinearSVC(C=4.0 * C2 / n, dual=True, random_state=0)


@dataclass(frozen=True)
class Method:
    """How a method is built and tuned.

    machine: ``machine(X, Y, target, outer)``; outer: What is chosen beside C2; has_gap: Whether its
    solutions come with a duality gap; is_tuned: Whether its parameters are chosen by the folds, not
    taken from another method.
    """

    machine: Callable
    outer: str | None = None
    has_gap: bool = True
    is_tuned: bool = True


METHODS = {
    "MVPO": Method(MVPOMachine, "C1"),
    "MVPO-C1=0": Method(lambda X, Y, target, outer: MVPOMachine(X, Y, target, 0.0)),
    "SVMPerf": Method(partial(ColumnsMachine, make=svm_perf, columns="view"), "view"),
    "LinearSVC": Method(partial(ColumnsMachine, make=linear_svc, columns="all"), has_gap=False),
    "CoLabeling": Method(partial(ColumnsMachine, make=linear_svc, columns="each"), has_gap=False),
    "SMS": Method(partial(ColumnsMachine, make=sms, columns="view"), "view", is_tuned=False),
    "CAPO": Method(partial(ColumnsMachine, make=capo, columns="view"), "view"),
    "FSMulti": Method(partial(ColumnsMachine, make=fs_multi, columns="view", loose=10.0), "view"),
}


# ----------------------------------------------------------------------------------- tuning


def choose(method, halves, target, grid_C1, grid_C2, views=None):
    """Choose parameters where the target measure is best, on average over the folds.

    halves: Only the training half is looked at; views: Views that a single-view method may choose
    from; default all.
    """
    views = range(halves.X.n_views) if views is None else views
    outers = {"C1": grid_C1, "view": views, None: (None,)}[METHODS[method].outer]
    values = np.zeros((len(outers), len(grid_C2)))
    for fit, check in halves.folds:
        X_fit, X_check = halves.X[fit], halves.X[check]
        for i, outer in enumerate(outers):
            machine = METHODS[method].machine(X_fit, halves.Y[fit], target, outer)
            for j, C2 in enumerate(grid_C2):
                scores = machine.fit(C2, TUNING_TOL).scores(X_check)
                values[i, j] += macro_average(MEASURES[target], halves.Y[check], scores)
    i, j = np.unravel_index(values.argmax(), values.shape)
    return outers[i], grid_C2[j], values[i, j] / len(halves.folds)


def measures_of(method):
    """Return what :func:`tuned` measures for a method.

    Examples
    --------
    >>> from mvref.experiments.ranking import measures_of
    >>> measures_of("SVMPerf")
    ('f1', 'prbep', 'auroc', 'validation', 'C2', 'view', 'gap')
    """
    outer, has_gap = METHODS[method].outer, METHODS[method].has_gap
    chosen = ("C2", outer) if outer else ("C2",)
    chosen = ("validation", *chosen) if METHODS[method].is_tuned else chosen
    return (*TARGETS, *chosen, *(("gap",) if has_gap else ()))


def tuned(name, method, target, *, grid_C1, grid_C2, tol=TOL, seed):
    """Tune a method inside the training half, train it there, measure it on the test half.

    target: Measure that is optimised, as far as the method can, and that decides the tuning; tol:
    Of the final model; the folds use `TUNING_TOL`.
    """
    halves = load_halves(name, seed)
    return _measured(halves, method, target, *choose(method, halves, target, grid_C1, grid_C2), tol)


def rival(name, method, target, *, grid_C1, grid_C2, rival_C2, tol=TOL, seed):
    """Measure a single-view method like :func:`tuned`, on the view that SVM^perf chooses.

    grid_C2: Of SVM^perf. A method that is not tuned takes its choice; rival_C2: Of the method
    itself.
    """
    halves = load_halves(name, seed)
    view, C2, value = _choice_of_svm_perf(name, target, grid_C2, seed)
    if METHODS[method].is_tuned:
        view, C2, value = choose(method, halves, target, grid_C1, rival_C2, views=(view,))
    return _measured(halves, method, target, view, C2, value, tol)


@lru_cache(maxsize=8)
def _choice_of_svm_perf(name, target, grid_C2, seed):
    return choose("SVMPerf", load_halves(name, seed), target, (), grid_C2)


def _measured(halves, method, target, outer, C2, value, tol):
    """Train a method with its parameters on the training half, and measure it on the test half."""
    X, Y = halves.X, halves.Y
    machine = METHODS[method].machine(X[halves.train], Y[halves.train], target, outer)
    machine.fit(C2, tol)
    measures = measure_all(Y[halves.test], machine.scores(X[halves.test]))
    measures |= {"validation": value, "C2": C2, METHODS[method].outer: outer, "gap": machine.gap}
    return {name: float(measures[name]) for name in measures_of(method)}
