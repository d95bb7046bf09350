"""How the methods are made, treated and tuned where views are missing; the names of the ledger.

:mod:`.missing_views` has the protocol and says what each method does by itself.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from ..mvl_svm import LandmarkProjection
from ..mvm import MVMClassifier
from ..mvna_kmhks import MVNAKMHKS
from ..mvpo import MVPO
from ..mwmvc2 import MwMvC2
from ..rivals import MVMV, SVM2K, CoLabeling, Concat, FMClassifier, Fusion, PerViewSVM
from .missing_treatments import TREATMENTS, fill_means, treat, view_means
from .tuning import Method, grid, tuned

N_LANDMARKS, MAX_ITER = 50, 200


@dataclass(frozen=True)
class Learner:
    """How a method is made, what is tuned, and what it is combined with.

    make: ``make(value, X, seed)`` returns the classifier for the training samples X; tuned: name of
    the parameter; grid: its values, the strongest penalty first; treatments: the first one is the
    method's own, "mean" where it has none; needs_complete: whether it cannot learn without a
    complete sample.
    """

    make: Callable
    tuned: str | None = None
    grid: tuple = (None,)
    treatments: tuple = TREATMENTS
    needs_complete: bool = False


def mvl_svm(C, X, seed):
    """MVL-SVM by the authors' linear path, with complete samples for landmarks."""
    L = min(N_LANDMARKS, int(X.observed.all(axis=1).sum()))
    projection = LandmarkProjection(L, gamma=1.0, random_state=seed)
    return make_pipeline(projection, LinearSVC(C=C, dual=False))


GRID, ALPHAS = (0.1, 1.0, 10.0), (1e-1, 1e-2, 1e-3)
NO_DROP = tuple(t for t in TREATMENTS if t != "drop")  # Fusion needs two samples of each class
NO_MEAN = tuple(t for t in TREATMENTS if t != "mean")  # equal to "own" for FM and MVM
NO_OWN = tuple(t for t in TREATMENTS if t != "own")
NO_LAPLACIAN = tuple(t for t in TREATMENTS if t != "laplacian")
METHODS = {
    "MVLSVM": Learner(mvl_svm, "C", GRID, needs_complete=True),
    "PerViewSVM": Learner(lambda C, X, seed: PerViewSVM(C, gamma=1.0), "C", GRID),
    "CoLabeling": Learner(lambda C, X, seed: CoLabeling(C, gamma=1.0), "C", GRID),
    "SVM2K": Learner(
        lambda C, X, seed: SVM2K(C, D=0.01, gamma=1.0, tol=1e-2, random_state=seed),
        "C", (0.1, 0.3, 1.0), ("own",)),
    "MwMvC2": Learner(lambda _, X, seed: MwMvC2(random_state=seed), treatments=NO_LAPLACIAN),
    "MVPO": Learner(
        lambda C2, X, seed: MVPO(C2=C2),
        "C2", (10.0, 100.0, 1000.0), ("own", "regression", "drop")),
    "MVNA": Learner(
        lambda c, X, seed: MVNAKMHKS(n_components=0.5, gamma=1.0, c=c, random_state=seed),
        "c", (1.0, 0.1, 0.01)),
    "MVM": Learner(
        lambda alpha, X, seed: MVMClassifier(4, alpha=alpha, max_iter=MAX_ITER, random_state=seed),
        "alpha", ALPHAS, ("own", "regression")),
    "FM": Learner(
        lambda alpha, X, seed: FMClassifier(
            4, alpha=alpha, tol=1e-5, max_iter=MAX_ITER, random_state=seed
        ),
        "alpha", ALPHAS, NO_MEAN),
    "MVMV": Learner(lambda _, X, seed: MVMV(random_state=seed)),
    "Fusion": Learner(lambda _, X, seed: Fusion(random_state=seed), treatments=NO_DROP),
    "Concat": Learner(lambda _, X, seed: Concat(random_state=seed)),
    "LogReg": Learner(
        lambda C, X, seed: Concat(LogisticRegression(C=C, max_iter=1000)),
        "C", (1.0, 10.0, 100.0), NO_OWN),
}  # fmt: skip


def own_treatment(method):
    """Return the treatment that a method has by itself; "mean" if none."""
    return METHODS[method].treatments[0]


def fit_treated(method, value, X, y, seed):
    """Fit on samples that are treated; return what predicts, None if nothing can be learnt."""
    spec = METHODS[method]
    if len(np.unique(y)) < 2 or (spec.needs_complete and not X.observed.all(axis=1).any()):
        return None
    means = None if own_treatment(method) == "own" else view_means(X)

    def rest(X):  # what remains missing, of a method that takes no gaps
        return X if means is None else fill_means(X, means)

    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
        model = spec.make(value, rest(X), seed).fit(rest(X), y)  # some grid points stop early
    return lambda X: model.predict(rest(X))


class Treated:
    """The machine of a method with one of `TREATMENTS`, which is learnt from what trains.

    A treatment needs both parts at once, so that :meth:`features` comes before :meth:`fit`.
    """

    def __init__(self, split, rows, seed, *, method, treatment):
        self.split, self.rows, self.seed = split, rows, seed
        self.method, self.treatment = method, treatment

    def features(self, rows):
        """Treat the gaps of what trains and of some other samples; return the latter."""
        X, y = self.split.X, self.split.y
        *self.treated, others = treat(self.treatment, X[self.rows], y[self.rows], X[rows])
        return others

    def fit(self, point):
        value = next(iter(point.values()), None)
        self.answer = fit_treated(self.method, value, *self.treated, self.seed)
        return self

    def predict(self, features):
        """Return labels; the commonest of the training part where nothing can be learnt."""
        if self.answer is None:
            labels, counts = np.unique(self.split.y[self.split.train], return_counts=True)
            return np.full(len(features), labels[counts.argmax()])
        return self.answer(features)


def method_of(name, treatment):
    """Return a method with a treatment, its points, and what is measured."""
    spec = METHODS[name]
    points = grid(**{spec.tuned: spec.grid}) if spec.tuned else ({},)
    measures = ("accuracy", "fit_seconds", *(("validation", spec.tuned) if spec.tuned else ()))
    return Method(partial(Treated, method=name, treatment=treatment), points, measures)


def tuned_accuracy(split, method, treatment, seed):
    """Tune a method with a treatment inside the training part, train it, and test it once."""
    seconds = {"fit_seconds": lambda run: run.prepare_seconds + run.fit_seconds}
    return tuned(split, method_of(method, treatment), seed).measure(measures=seconds)
