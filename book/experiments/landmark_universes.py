"""MVL-SVM and its rivals in a universe of Figures 2 to 5: see :mod:`.universes_mvl_svm`."""

import time
from dataclasses import replace
from functools import cache, lru_cache

import numpy as np
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from mvref.compare.tuning import Machine, Method, train, tuned, validate
from mvref.core.input import MultiView
from mvref.core.kernels import Similarity
from mvref.core.linear_svm import fit_linear_svm
from mvref.core.per_view import PerView
from mvref.mvl_svm import MVLSVM, LandmarkProjection

from .methods import Columns, LandmarkSVM, VotingSVM, complete_by_laplacian, rbf
from .problems import N_FOLDS, load_people, load_problem
from .tables import stratified_folds

FACTORS = {"text": 0.5, "code": 1.0, "narrow": 4.0}
CODE = tuple(10.0**k for k in range(-3, 4))
LARGEST = 1e4  # c of the text
COUNTS = (10, 50, 200)
LATENT = tuple(f"MVLSVM-{L}" for L in COUNTS)
TOL, MAX_ITER = 1e-6, 2000  # of MVLSVM
N_TEST = 3582  # of uWave


# ----------------------------------------------------------------------------------- machines


class LinearPath(Machine):
    """The linear SVM of MVL-SVM on `features`, each point from the solution of the one before."""

    head, state = "squared_hinge", None

    def fit(self, point):
        self.classes, codes = np.unique(self.y, return_inverse=True)
        options = {"loss": self.head, "intercept_scaling": 1.0, "tol": TOL, "max_iter": MAX_ITER}
        learnt = fit_linear_svm(self.X, codes, point["C"], start=self.state, **options)
        self.coef, self.intercept, _, _, self.state = learnt
        return self

    def predict(self, features):
        return self.classes[(features @ self.coef.T + self.intercept).argmax(axis=1)]


class LandmarkPath(LinearPath, LandmarkSVM):
    """MVL-SVM; its ``head`` is the loss."""


class ColumnPath(LinearPath, Columns):
    """The same machine on the columns of all views, without landmarks."""


class OneView(Machine):
    """A kernel SVM of one view, which is chosen with C."""

    def fit(self, point):
        self.view = point["view"]
        X = self.X.views[self.view]
        self.model = rbf(point["C"], X, self.seed).fit(X, self.y)
        return self

    def predict(self, features):
        return self.model.predict(features.views[self.view])


def method_of(name, machine, points, n_views=1):
    """A method with the points that it chooses from."""
    fixed = {}
    if name in LATENT:
        make = LandmarkSVM if machine == "rbf" else LandmarkPath
        fixed = {"L": int(name.removeprefix("MVLSVM-"))}
        fixed["head"] = rbf if machine == "rbf" else machine
    elif name == "SVC":
        make, fixed = Columns, {"head": rbf}
    elif name == "linear":
        make, fixed = ColumnPath, {"head": None}
    else:
        make = {"vote": VotingSVM, "view": OneView}[name]
    views = range(n_views if name == "view" else 1)
    points = [{"C": C, "view": v} for C in points for v in views]
    return Method(make, points=points, fixed=fixed)


# ------------------------------------------------------------------------- figures 2 and 4: tuned


@lru_cache(maxsize=2)
def problem_of(name, scaling, kernel, seed):
    """A split of part I whose views are scaled such that gamma = 1/n_v is the kernel's."""
    split = load_problem(name, seed=seed)
    X = split.X
    if name == "uwave" and scaling == "columns":
        X = PerView(StandardScaler()).fit(X[split.train]).transform(X)
    factors = [FACTORS.get(kernel, 1 / view.shape[1]) for view in X.views]
    views = [view * factor**0.5 for view, factor in zip(X.views, factors, strict=True)]
    X, kernel = MultiView(views), "rbf" if kernel in FACTORS else kernel
    return replace(split, X=X, meta={**split.meta, "complete": X, "kernel": kernel})


def grid_of(tuning, m):
    """The values of C that a tuning chooses from, in increasing order."""
    text = [10.0**k / m for k in range(5)]
    grids = {"text": [*CODE, LARGEST], "mean": text, "none": [1.0]}
    return grids.get(tuning, CODE)


@cache
def validation_of(name, method, scaling, kernel, machine, shuffled, seed):
    """(C, view) -> share that is right on the folds, of all grids at once."""
    split = problem_of(name, scaling, kernel, seed if name == "mfeat" else 0)
    m = len(split.train)
    tunings = ("code",) if shuffled or name == "mfeat" else ("text", "mean")
    points = sorted({C for tuning in tunings for C in grid_of(tuning, m)})
    folds = stratified_folds(split.y, split.train, N_FOLDS, seed) if shuffled else split.folds
    split = replace(split, folds=folds)
    tried = method_of(method, machine, points, split.X.n_views)
    values = zip(tried.points, validate(split, tried, seed), strict=True)
    return {tuple(point.values()): value for point, value in values}


@cache
def accuracy_of(name, method, scaling, kernel, machine, of_fold, C, view, seed):
    """Accuracy on the test part, trained at one point."""
    split = problem_of(name, scaling, kernel, seed if name == "mfeat" else 0)
    if of_fold:  # no landmarks among its checks
        split = replace(split, meta={**split.meta, "validation": split.folds[-1][1]})
    chosen = method_of(method, machine, [C], split.X.n_views)
    return float(train(split, chosen, view, seed).measure(("accuracy",))["accuracy"])


def on_figure2(
    name, method, *, measures, scaling, tuning, seed, kernel="code", machine="", landmarks="all"
):
    """Measure a method in a universe of Figure 2; what does not depend on the seed once."""
    drawn = name == "mfeat" or method in LATENT
    if kernel == "linear" and method not in LATENT:
        kernel = "code"
    where = name, method, scaling, kernel, machine
    C, view = 1.0, 0
    if tuning != "none" or method == "view":
        shuffled = tuning == "shuffled"
        values = validation_of(*where, shuffled, seed if drawn or shuffled else 0)
        asked = set(grid_of(tuning, 1000 if name == "mfeat" else 896))
        C, view = max((point for point in values if point[0] in asked), key=values.get)
    of_fold = landmarks == "fold"
    return {"accuracy": accuracy_of(*where, of_fold, C, view, seed if drawn else 0)}


# ------------------------------------------------------------------------------- figure 3: time


@lru_cache(maxsize=1)
def samples_of(part):
    """The views and the classes of one part of uWave."""
    split = load_problem("uwave")
    rows = split.train if part == 896 else split.test
    return split.X[rows], split.y[rows]


def on_time(name, method, *, measures, m, C, seed, L=None, loss=None, classes=None):
    """Processor seconds to train a method once, and similarities that it computes."""
    X, y = samples_of(m)
    V, wrap = X.n_views, OneVsRestClassifier if classes == "rest" else lambda svm: svm
    clock = [time.process_time()]
    if method == "vote":
        grams = [Similarity("rbf", 1 / v.shape[1], v)(v) for v in X.views]
        clock.append(time.process_time())
        for K in grams:
            wrap(SVC(C=C, kernel="precomputed")).fit(K, y)
        found = {"evaluations": V * m**2, "anew": V * evaluations_anew(y, classes)}
    elif method == "SVC":
        columns = X.concat()
        clock.append(time.process_time())
        wrap(SVC(C=C, gamma=1 / columns.shape[1])).fit(columns, y)
        found = {}
    else:
        projection = LandmarkProjection(L, random_state=seed).fit(X)
        Phi = projection.transform(X)
        clock.append(time.process_time())
        if method == "rbf":
            wrap(SVC(C=C, gamma=1 / Phi.shape[1])).fit(Phi, y)
        else:
            MVLSVM(c=C * m, loss=loss).fit_latent(Phi, y)
        found = {"evaluations": V * m * L}
    clock.append(time.process_time())
    found["prepare_seconds"], found["solve_seconds"] = np.diff(clock)
    return {measure: float(found[measure]) for measure in measures}


def evaluations_anew(y, classes):
    """Similarities of two samples if every binary machine computes its own, in one view."""
    n = np.unique(y, return_counts=True)[1]
    if classes == "rest":
        return len(n) * len(y) ** 2
    return sum((a + b) ** 2 for i, a in enumerate(n) for b in n[:i])


# ---------------------------------------------------------------------- figure 5: missing views


@lru_cache(maxsize=2)
def incomplete(name, missing, seed, laplacian=False):
    """A problem with missing views."""
    problem = load_problem(name, missing=missing, seed=seed)
    return complete_by_laplacian(problem) if laplacian else problem


@lru_cache(maxsize=4)
def projected(name, missing, seed, kept, **options):
    """MVL-SVM on imputed similarities, which no machine was trained on, and those of the test."""
    split = incomplete(name, missing, seed)
    machine = LandmarkPath(split, split.train, seed, L=200, **options)
    if not kept:
        machine.projection.set_params(keep_known=False)
        machine.X = machine.features(machine.rows)
    return machine, machine.features(split.test)


def on_figure5(
    name, method, *, measures, missing, C, seed,
    landmarks="known", ridge=0.1, clip=True, kept=True, loss="squared_hinge",
):  # fmt: skip
    """Measure a method in a universe of Figure 5."""
    if method.startswith("vote"):
        split = incomplete(name, missing, seed, method == "vote+laplacian")
        return train(split, Method(VotingSVM, points=[{"C": C}]), 0, seed).measure(measures)
    options = {"landmarks": landmarks, "ridge": ridge, "clip": "auto" if clip else None}
    if method == "mean":
        options = {"landmarks": landmarks, "fill": "mean"}
    elif method == "drop":
        options = {"landmarks": "complete", "drop": True}
    machine, features = projected(name, missing, seed, kept, **options)
    machine.head, machine.state = loss, None
    split = machine.split
    right = machine.fit({"C": C}).predict(features) == split.y[split.test]
    return {"accuracy": float(np.mean(right))}


# ------------------------------------------------------------------------------- uWave by people


def on_people(name, method, *, measures, people, person, seed, machine=""):
    """Accuracy on one person's test samples; people: others train, or all."""
    split = load_people("uwave-people" if people == "others" else "uwave-mixed", person, seed)
    return tuned(split, method_of(method, machine, CODE), seed).measure(measures)
