"""The methods of MVPO's experiments as machines of :mod:`.tuning`, named as in the ledger.

A point has C2, and C1 or the view of a single-view method. Machines train one class against the
rest, and predict scores (n, K). Their ``gap`` is the largest duality gap over C2 tol.

SVM-2K and MSL of Figure 2 are methods for two views without a target measure. One fit serves the
three targets, which differ only in the tuned parameters: C2, and D/C of SVM-2K or alpha of MSL.
For more than two views they share the pair, which is selected first (`with_pair`).

Both have C = 4 C2/n, the weight of MVPO's error rate, and a penalised intercept. SVM-2K has linear
kernels; MSL's SVM gets rows of mean squared norm 1 for all views. MSL projects a sparse view onto
its `DIRECTIONS` leading principal directions. If the rank is no larger, this is a rotation, which
changes nothing. On a fold of citeseer 600 directions instead of 200 raised PRBEP and AUROC by at
most 0.02, in ten times the time; 300 are a compromise.
"""

from dataclasses import replace
from functools import partial
from itertools import combinations

import numpy as np
from scipy import sparse
from sklearn.svm import LinearSVC

from mvref.core.input import MultiView
from mvref.core.measures import auroc, f_beta, macro_average, precision_recall_break_even
from mvref.mvpo import MVPO
from mvref.rivals import CAPO, MSL, SMS, SVM2K, FSMulti, SVMPerf

from .tuning import Machine, Method, validate

TOL, MAX_ITER = 1e-3, 1000  # the defaults of the classes
TUNING_TOL = 1e-2  # of the fits on the folds
DIRECTIONS = 300
SMALLEST = 1e-10  # smallest squared singular value kept, relative to the largest
FOLD_SWEEPS = 100  # limit of SVM-2K on the folds
MEASURES = {
    "f1": lambda y, scores: f_beta(y, scores > 0),
    "prbep": precision_recall_break_even,
    "auroc": auroc,
}
TARGETS = tuple(MEASURES)


def measure_all(Y, scores):
    """Return the three measures, averaged over the classes; Y, scores: (n, K)."""
    return {name: macro_average(measure, Y, scores) for name, measure in MEASURES.items()}


def quality(split, rows, scores):
    """Return the three measures as a quality of :mod:`.tuning`."""
    return np.array(list(measure_all(split.meta["Y"][rows], scores).values())), 1


class OneAgainstRest(Machine):
    """:class:`mvref.mvpo.MVPO` for all classes; C1 is in the unit of its ``normalize=True``.

    Two classes are two problems: F1 and PRBEP differ between the classes.
    """

    def __init__(self, split, rows, seed, *, target, tol=TOL, **options):
        super().__init__(split, rows, seed)
        self.model = MVPO(target, tol=tol, max_iter=MAX_ITER, **options)
        classes = np.unique(self.y)
        self.targets = [self.y == k for k in classes] if len(classes) == 2 else [self.y]

    def path(self, points):
        paths = [self.model.path(self.X, y, points) for y in self.targets]
        for self.models in zip(*paths, strict=True):
            self.gap = max(np.max(one.dual_gap_) / (one.C2 * one.tol) for one in self.models)
            yield self

    def predict(self, X):
        return np.column_stack([model.decision_function(X) for model in self.models])


class ColumnsMachine(Machine):
    """Single-view estimator ``build(target, C2, n, tol)``, for each class.

    It is trained on the view of the point; else on the concatenated views (`together`), or on each
    view alone, and the scores are averaged. loose: factor of the tolerance.
    """

    def __init__(self, split, rows, seed, *, build, target="", tol=TOL, loose=1.0, together=False):
        self.Y, self.together = split.meta["Y"][rows], together
        self.target, self.tol = target, loose * tol
        super().__init__(split, rows, seed, build=build)

    def features(self, rows):
        """Return a list of tables of some samples."""
        X = self.split.X[rows]
        return [X.concat()] if self.together else X.views

    def train(self, point):
        C2, Y = point["C2"], self.Y
        learnt = [point["view"]] if "view" in point else range(len(self.X))
        self.models = {
            v: [self.build(self.target, C2, len(Y), self.tol).fit(self.X[v], y) for y in Y.T]
            for v in learnt
        }
        gaps = [getattr(m, "dual_gap_", 0.0) for models in self.models.values() for m in models]
        self.gap = max(gaps) / (C2 * self.tol)

    def predict(self, tables):
        of_tables = [
            np.column_stack([model.decision_function(tables[v]) for model in models])
            for v, models in self.models.items()
        ]
        return np.mean(of_tables, axis=0)


def certified(learner, **options):
    """Return the `build` of :class:`ColumnsMachine` for a method with a certificate."""
    return lambda target, C2, n, tol: learner(target, C2=C2, tol=tol, **options)


def linear_svc(target, C2, n, tol):
    """Return a linear SVM with squared hinge and the weight of MVPO's error rate, C = 4 C2/n."""
    # dual: on mfeat the primal solver takes ten times as long at C2 = 1000, and stops early
    return LinearSVC(C=4.0 * C2 / n, dual=True, random_state=0)


def _of_columns(build, measures, **options):
    return Method(partial(ColumnsMachine, build=build, **options), (), measures, hasty=HASTY)


HASTY = {"tol": TUNING_TOL}
ANY = (*TARGETS, "validation", "C2")
OF_VIEW = (*ANY, "view", "gap")
METHODS = {
    "MVPO": Method(OneAgainstRest, (), (*ANY, "C1", "gap"), hasty=HASTY),
    "MVPO-C1=0": Method(OneAgainstRest, (), (*ANY, "gap"), hasty=HASTY),
    "SVMPerf": _of_columns(certified(SVMPerf, max_iter=MAX_ITER), OF_VIEW),
    "LinearSVC": _of_columns(linear_svc, ANY, together=True),
    "CoLabeling": _of_columns(linear_svc, ANY),
    "SMS": _of_columns(certified(SMS), (*TARGETS, "C2", "view", "gap")),  # is not tuned
    # its default auxiliary classifiers
    "CAPO": _of_columns(certified(CAPO, max_iter=MAX_ITER, random_state=0), OF_VIEW),
    "FSMulti": _of_columns(certified(FSMulti), OF_VIEW, loose=10.0),  # ten features in a group
}


# ------------------------------------------------------------------ pairs of views


class PairMachine(Machine):
    """Method for the pair of views of a point, ``build(point, C, **options)``.

    It predicts scores (n, K). ``gap`` is its largest relative duality gap over tol.
    """

    def __init__(self, split, rows, seed, *, build, tol=TOL, **options):
        super().__init__(split, rows, seed, build=build)
        self.options = {"tol": tol, "random_state": 0, **options}

    def train(self, point):
        self.pair = [point["view"], point["second_view"]]
        model = self.build(point, 4.0 * point["C2"] / len(self.y), **self.options)
        self.model = model.fit(self.X.select(self.pair), self.y)
        self.gap = np.max(model.dual_gap_ / model.objective_) / model.tol

    def predict(self, X):
        """Return scores; two classes have opposite scores."""
        scores = self.model.decision_function(X.select(self.pair))
        return scores if scores.ndim == 2 else np.column_stack([-scores, scores])


def svm2k(point, C, **options):
    """Return SVM-2K with linear kernels."""
    return SVM2K(C, D=point["D/C"] * C, kernel="linear", **options)


def msl(point, C, **options):
    """Return MSL with the alpha of the point."""
    return MSL(point["alpha"], C=C, **options)


def on_directions(split, rows, seed, **options):
    """Return MSL on the principal directions of sparse views."""
    views = [
        view @ principal_directions(view[rows], DIRECTIONS) if sparse.issparse(view) else view
        for view in split.X.views
    ]
    return PairMachine(replace(split, X=MultiView(views)), rows, seed, build=msl, **options)


def principal_directions(view, limit):
    """Return an orthonormal basis of the rows of a view, or of their principal directions.

    view (n, d): not centred; limit: largest number of directions -> basis (d, k).
    """
    squares, P = np.linalg.eigh((view @ view.T).toarray())
    squares, P = squares[::-1][:limit], P[:, ::-1][:, :limit]
    keep = squares > SMALLEST * squares[0]
    return view.T @ (P[:, keep] / np.sqrt(squares[keep]))


OF_PAIR, FEW_SWEEPS = ("view", "second_view", "gap"), {"max_iter": FOLD_SWEEPS}
PAIR_METHODS = {
    "SVM2K": Method(
        partial(PairMachine, build=svm2k), (), (*ANY, "D/C", *OF_PAIR), hasty=HASTY | FEW_SWEEPS
    ),
    "MSL": Method(on_directions, (), (*ANY, "alpha", *OF_PAIR), hasty=HASTY),
}


def with_pair(split, method, points, first, seed):
    """Return the points with the best pair of views.

    Of several pairs it has the largest mean of the three measures on the first fold, at `first`.
    """
    views = combinations(range(split.X.n_views), 2)
    pairs = [{"view": one, "second_view": other} for one, other in views]
    best = 0
    if len(pairs) > 1:
        method = replace(method, points=[first | pair for pair in pairs])
        values = validate(replace(split, folds=split.folds[:1]), method, seed, quality)
        best = values.mean(axis=1).argmax()
    return [point | pairs[best] for point in points]
