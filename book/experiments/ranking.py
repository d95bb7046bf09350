"""The methods of MVPO's experiments as machines of :mod:`.tuning`; names are the ledger's.

A point has C2, and C1 or the view of a single-view method. Machines train one class against the
rest, and predict scores (n, K). Their ``gap`` is the largest duality gap over C2 tol.
"""

from functools import partial

import numpy as np
from sklearn.svm import LinearSVC

from mvref.compare.tuning import Machine, Method
from mvref.core.kernel_views import LinearViews, add_linear_scores
from mvref.mvpo import (
    RANKING,
    DualMetric,
    PrimalMetric,
    cutting_planes,
    most_violated_of,
    ranking_threshold,
)
from mvref.rivals import CAPO, SMS, FSMulti, SVMPerf

from .halves import TARGETS

CONSTANT = 1.0  # the constant feature
TOL, MAX_ITER = 1e-3, 1000  # the defaults of the classes
TUNING_TOL = 1e-2  # of the fits on the folds


class MVPOMachine(Machine):
    """MVPO: all classes and the values of C2 share the metric of a C1.

    The scores are those of :class:`mvref.mvpo.MVPO`; C1 is in the unit of its ``normalize=True``.
    """

    C1 = None

    def __init__(self, split, rows, seed, *, target, tol=TOL):
        super().__init__(split, rows, seed)
        self.Y, self.target, self.tol = split.meta["Y"][rows], target, tol
        self.form, observed = LinearViews(self.X, CONSTANT), self.X.observed
        if self.form.n_features > len(rows):
            self.metric_of = partial(DualMetric, self.form.grams(), observed)
        else:
            self.metric_of = partial(PrimalMetric, self.form.features, observed)
        self.most_violated = [most_violated_of(target, np.where(y, 1, -1)) for y in self.Y.T]

    def fit(self, point):
        n, C2 = len(self.Y), point["C2"]
        if point["C1"] != self.C1:
            self.C1 = point["C1"]
            self.metric = self.metric_of(self.C1 / n)
        solutions = [
            cutting_planes(cut, self.metric.scores, n, C2=C2, tol=self.tol, max_iter=MAX_ITER)
            for cut in self.most_violated
        ]
        of_classes = [self.form.functions(self.metric, solution.c) for solution in solutions]
        self.coef = [np.array(w) for w in zip(*(w for w, _ in of_classes), strict=True)]
        self.intercepts = np.array([shares.sum() for _, shares in of_classes])
        self.gap = max(solution.gap for solution in solutions) / (C2 * self.tol)
        if self.target in RANKING:
            self.intercepts -= [
                ranking_threshold(self.metric.scores(solution.c), int(y.sum()))
                for solution, y in zip(solutions, self.Y.T, strict=True)
            ]
        return self

    def predict(self, X):
        scores = np.tile(self.intercepts, (len(X), 1))
        add_linear_scores(scores, X, self.coef)
        return scores


class ColumnsMachine(Machine):
    """An estimator of columns, ``build(target, C2, n, tol)``, for each class.

    It learns from the view of the point; else from all views side by side (`together`), or from
    each alone, and the scores are averaged. loose: Factor of the tolerance.
    """

    def __init__(self, split, rows, seed, *, build, target="", tol=TOL, loose=1.0, together=False):
        self.Y, self.together = split.meta["Y"][rows], together
        self.target, self.tol = target, loose * tol
        super().__init__(split, rows, seed, build=build)

    def features(self, rows):
        """Return a list of tables of some samples."""
        X = self.split.X[rows]
        return [X.concat()] if self.together else X.views

    def fit(self, point):
        C2, Y = point["C2"], self.Y
        learnt = [point["view"]] if "view" in point else range(len(self.X))
        self.models = {
            v: [self.build(self.target, C2, len(Y), self.tol).fit(self.X[v], y) for y in Y.T]
            for v in learnt
        }
        gaps = [getattr(m, "dual_gap_", 0.0) for models in self.models.values() for m in models]
        self.gap = max(gaps) / (C2 * self.tol)
        return self

    def predict(self, tables):
        of_tables = [
            np.column_stack([model.decision_function(tables[v]) for model in models])
            for v, models in self.models.items()
        ]
        return np.mean(of_tables, axis=0)


def certified(learner, **options):
    """Return how :class:`ColumnsMachine` builds a method with a certificate."""
    return lambda target, C2, n, tol: learner(target, C2=C2, tol=tol, **options)


def linear_svc(target, C2, n, tol):
    """Linear SVM with squared hinge, whose weight C = 4 C2/n is that of MVPO's error rate."""
    # by its dual: on mfeat the primal solver takes ten times as long at C2 = 1000, and stops early
    return LinearSVC(C=4.0 * C2 / n, dual=True, random_state=0)


def _of_columns(build, measures, **options):
    return Method(partial(ColumnsMachine, build=build, **options), (), measures, hasty=HASTY)


HASTY = {"tol": TUNING_TOL}
ANY = (*TARGETS, "validation", "C2")
OF_VIEW = (*ANY, "view", "gap")
METHODS = {
    "MVPO": Method(MVPOMachine, (), (*ANY, "C1", "gap"), hasty=HASTY),
    "MVPO-C1=0": Method(MVPOMachine, (), (*ANY, "gap"), hasty=HASTY),
    "SVMPerf": _of_columns(certified(SVMPerf, max_iter=MAX_ITER), OF_VIEW),
    "LinearSVC": _of_columns(linear_svc, ANY, together=True),
    "CoLabeling": _of_columns(linear_svc, ANY),
    "SMS": _of_columns(certified(SMS), (*TARGETS, "C2", "view", "gap")),  # is not tuned
    # its default auxiliary classifiers
    "CAPO": _of_columns(certified(CAPO, max_iter=MAX_ITER, random_state=0), OF_VIEW),
    "FSMulti": _of_columns(certified(FSMulti), OF_VIEW, loose=10.0),  # ten features in a group
}
