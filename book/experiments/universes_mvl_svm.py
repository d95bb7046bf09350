"""Universes of Figures 2 to 5 of MVL-SVM: what its text and its authors' code leave open.

The figures print no numbers, so that only statements are asked. Flower17 is left out: Oxford's
distance matrices could not be had. MVML and SVM-2K are left out for their time.

mvl_figure2  scaling    series normalised by row and axis, as in the file, or columns standardised
               by the training part too (mfeat always; here only with the code's kernel). The raw
               series are not in the file: over all values of a row at once its normalisation is
               a constant factor
             kernel     RBF of all methods: with the "radius equal to the square root of the number
               of features" of the text as the standard deviation, with the gamma of the code, four
               times that; or linear for the landmarks, the mean product, and the code's for all
               others (libsvm's linear machines need minutes)
             machine    on the latent space, with 10, 50 or 200 landmarks; a statement takes the
               best of these numbers on the test part
             tuning     by three folds: the code's grid of C; the text's, read as C, and read as the
               c of Eq. (2), C = c/m (below c = 1 it has nothing that the code's grid lacks but
               smaller C); the code's by shuffled folds; or C = 1
             landmarks  of the final machine: drawn from all training samples, or from those of the
               last fold (the code)
mvl_time     Processor seconds and kernel evaluations of the final training, nothing tuned, of 896
             samples, or of the test part as the training part. libsvm takes classes pair by pair,
             or one against the rest
mvl_missing  Figure 5 on uWave at L = 200, nothing tuned: the ridge and the clipping of Eq. (11),
             whether known similarities are kept (the code replaces them), landmarks that are known
             in all views or among complete samples, loss, C; one repeat
mvl_people   accuracy on one person's recordings of the test part: the other seven train, tuned by
             folds of people; or as many training samples are drawn among all eight, that person
             included, tuned by folds in the order of the file; one repeat
"""

import time
from dataclasses import replace
from functools import cache, lru_cache

import numpy as np
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from mvref.core.input import MultiView
from mvref.core.kernels import Similarity
from mvref.core.per_view import PerView
from mvref.mvl_svm import MVLSVM, LandmarkProjection

from .methods import (
    Columns,
    LandmarkSVM,
    LatentSVM,
    MeanFilled,
    VotingSVM,
    complete_by_laplacian,
    rbf,
)
from .problems import N_FOLDS, load_people, load_problem
from .tables import stratified_folds
from .tuning import Machine, Method, train, tuned, validate
from .universes import Multiverse, Statement

FACTORS = {"text": 0.5, "code": 1.0, "narrow": 4.0}
CODE = tuple(10.0**k for k in range(-3, 4))
LARGEST = 1e4  # c of the text
COUNTS = (10, 50, 200)
LATENT = tuple(f"MVLSVM-{L}" for L in COUNTS)
N_TEST = 3582  # of uWave


# ----------------------------------------------------------------------------------- machines


class ColumnSVM(LatentSVM):
    """The linear SVM of MVL-SVM on the columns of all views, without landmarks."""

    def features(self, rows):
        return self.split.X[rows].concat()


class OneView(Machine):
    """A kernel SVM of one view, which is chosen with C."""

    def train(self, point):
        self.view = point["view"]
        X = self.X.views[self.view]
        self.model = rbf(point["C"], X, self.seed).fit(X, self.y)

    def predict(self, features):
        return self.model.predict(features.views[self.view])


def method_of(name, machine, points, n_views=1):
    """A method with the points that it chooses from."""
    fixed = {}
    if name in LATENT:
        fixed = {"L": int(name.removeprefix("MVLSVM-"))}
        make = Columns if machine == "rbf" else LandmarkSVM
        fixed |= {"head": rbf} if machine == "rbf" else {"loss": machine}
    elif name == "SVC":
        make, fixed = Columns, {"head": rbf}
    else:
        make = {"linear": ColumnSVM, "vote": VotingSVM, "view": OneView}[name]
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


def on_figure5(
    name, method, *, measures, missing, C, seed,
    landmarks="known", ridge=0.1, clip=True, kept=True, loss="squared_hinge",
):  # fmt: skip
    """Measure a method in a universe of Figure 5."""
    if method.startswith("vote"):
        split = incomplete(name, missing, seed, method == "vote+laplacian")
        return train(split, Method(VotingSVM, points=[{"C": C}]), 0, seed).measure(measures)
    fixed = {"L": 200, "loss": loss, "landmarks": landmarks}
    make = MeanFilled if method == "mean" else LandmarkSVM
    if method == "drop":
        fixed |= {"landmarks": "complete", "drop": True}
    elif method == "MVLSVM":
        fixed |= {"ridge": ridge, "clip": "auto" if clip else None, "keep_known": kept}
    split = incomplete(name, missing, seed)
    return train(split, Method(make, points=[{"C": C}], fixed=fixed), 0, seed).measure(measures)


# ------------------------------------------------------------------------------- uWave by people


def on_people(name, method, *, measures, people, person, seed, machine=""):
    """Accuracy on one person's test samples; people: others train, or all."""
    split = load_people("uwave-people" if people == "others" else "uwave-mixed", person, seed)
    return tuned(split, method_of(method, machine, CODE), seed).measure(measures)


# ------------------------------------------------------------------------------------ statements


def of(means, method, measure="accuracy", dataset="uwave"):
    """A column of the means; of "best" the largest over the numbers of landmarks."""
    if method == "best":
        return np.max([of(means, name, measure, dataset) for name in LATENT], axis=0)
    return means[dataset, method, measure]


def ahead(method, other, dataset="uwave"):
    """How far a method is ahead of another."""
    return lambda means: of(means, method, dataset=dataset) - of(means, other, dataset=dataset)


def ten_are_best(margin):
    """Ten landmarks are ahead of the vote, and no number is ahead of them by more than a margin.

    margin: function of the best accuracy over the numbers of landmarks.
    """

    def value(means):
        best = of(means, "best")
        lost = best - of(means, LATENT[0])
        return np.minimum(ahead(LATENT[0], "vote")(means), margin(best) - lost + 1e-9)

    return value


SINGLE = {"SVC": "one RBF SVM on all columns", "linear": "one linear SVM on all columns",
          "view": "one SVM on one view"}  # fmt: skip
BEST_IS = "ten landmarks are better than the vote on uWave, and no number of them is better"
STATEMENTS = {
    "vote": Statement("MVL-SVM is more accurate than the vote on uWave", ahead("best", "vote"), 0.0,
                      ("uwave",)),
    "ten_vote": Statement("ten landmarks are better than the vote on uWave",
                          ahead(LATENT[0], "vote"), 0.0, ("uwave",)),
    "ten_best": Statement(BEST_IS, ten_are_best(lambda best: 0.0), 0.0, ("uwave",)),
    "ten_error": Statement(f"{BEST_IS} by more than one standard error of the test set",
                           ten_are_best(lambda best: np.sqrt(best * (1 - best) / N_TEST)), 0.0,
                           ("uwave",)),
    "ten_point": Statement(f"{BEST_IS} by more than one point",
                           ten_are_best(lambda best: 0.01), 0.0, ("uwave",)),
} | {
    f"{method}_{dataset}": Statement(
        f"MVL-SVM is better than {words} by more than one point on {dataset}",
        ahead("best", method, dataset), 0.01, (dataset,))
    for method, words in SINGLE.items() for dataset in ("uwave", "mfeat")
}  # fmt: skip
FIGURE2 = Multiverse(
    name="mvl_figure2",
    title="accuracy over the number of landmarks, every choice left open",
    datasets=("uwave", "mfeat"),
    axes={
        "scaling": {"uwave": ("file", "columns"), "mfeat": ("columns",)},
        "kernel": {"uwave": (*FACTORS, "linear"), "mfeat": ("text", "code")},
        "machine": ("squared_hinge", "hinge", "rbf"),
        "tuning": {
            "uwave": ("code", "text", "mean", "shuffled", "none"), "mfeat": ("code", "none"),
        },
        "landmarks": {"uwave": ("all", "fold"), "mfeat": ("all",)},
    },
    methods=dict.fromkeys((*LATENT, "vote", *SINGLE), ("accuracy",)),
    function=on_figure2,
    rules=(
        ("only the code draws the landmarks of the last fold, and it has its own grid",
         lambda _, u: u["landmarks"] == "fold" and u["tuning"] != "code"),
        ("standardised columns only with the kernel of the code, in folds in order, for their time",
         lambda name, u: (name, u["scaling"]) == ("uwave", "columns")
         and (u["tuning"] == "shuffled" or u["kernel"] != "code")),
    ),
    without={
        **dict.fromkeys(("vote", "SVC", "view"), ("machine", "landmarks")),
        "linear": ("kernel", "machine", "landmarks"),
    },
    statements=STATEMENTS,
    n_repeats=2,
)  # fmt: skip


def orders(method, parts=("prepare_seconds", "solve_seconds")):
    """By how many powers of ten MVL-SVM trains faster than a method, of these parts of the time."""

    def value(means):
        theirs, ours = (sum(of(means, name, part) for part in parts) for name in (method, "MVLSVM"))
        return np.log10(theirs / ours)

    return value


def orders_counted(measure):
    """By how many powers of ten the vote computes more similarities."""
    return lambda means: np.log10(of(means, "vote", measure) / of(means, "MVLSVM", "evaluations"))


FASTER, SOLVER = "MVL-SVM trains at least {} faster than the vote", ("solve_seconds",)
TIME = Multiverse(
    name="mvl_time",
    title="time to train, every choice left open",
    datasets=("uwave",),
    axes={
        "m": (896, N_TEST), "C": (0.1, 1.0, 100.0), "classes": ("pairs", "rest"),
        "L": (10, 50, 200), "loss": ("squared_hinge", "hinge"),
    },
    methods={
        "MVLSVM": ("prepare_seconds", "solve_seconds", "evaluations"),
        "rbf": ("solve_seconds",),
        "SVC": ("prepare_seconds", "solve_seconds"),
        "vote": ("prepare_seconds", "solve_seconds", "evaluations", "anew"),
    },
    function=on_time,
    without={"MVLSVM": ("classes",), "rbf": ("loss",), "SVC": ("L", "loss"), "vote": ("L", "loss")},
    statements={
        "ten_times": Statement(FASTER.format("ten times"), orders("vote"), 1.0),
        "hundred": Statement(FASTER.format("a hundred times"), orders("vote"), 2.0),
        "hundred_solver": Statement(f"{FASTER.format('a hundred times')}, kernels not counted",
                                    orders("vote", SOLVER), 2.0),
        "hundred_shared": Statement("the vote computes at least a hundred times the similarities",
                                    orders_counted("evaluations"), 2.0),
        "hundred_anew": Statement("the same, if every binary SVM computes its own",
                                  orders_counted("anew"), 2.0),
        "linear_latent": Statement("the linear SVM trains faster than the RBF SVM on the "
                                   "same landmarks", orders("rbf", SOLVER)),
        "linear_columns": Statement("the linear SVM trains faster than the RBF SVM on all "
                                    "columns", orders("SVC")),
    },
    n_repeats=2,
)  # fmt: skip


MISSING = Multiverse(
    name="mvl_missing",
    title="accuracy with missing views, every choice left open",
    datasets=("uwave",),
    axes={
        "missing": (0.1, 0.3, 0.5), "landmarks": ("known", "complete"), "ridge": (0.1, 0.0),
        "clip": (True, False), "kept": (True, False), "loss": ("squared_hinge", "hinge"),
        "C": (0.1, 1.0, 10.0),
    },
    methods=dict.fromkeys(("MVLSVM", "mean", "drop", "vote", "vote+laplacian"), ("accuracy",)),
    function=on_figure5,
    without={
        "mean": ("ridge", "clip", "kept"), "drop": ("landmarks", "ridge", "clip", "kept"),
        **dict.fromkeys(("vote", "vote+laplacian"), ("landmarks", "ridge", "clip", "kept", "loss")),
    },
    statements={
        "drop": Statement("imputation is better than dropping samples", ahead("MVLSVM", "drop")),
        "dramatic": Statement("imputation is better than dropping samples by more than five points",
                              ahead("MVLSVM", "drop"), 0.05),
        "mean": Statement("imputation is better than the mean of each column",
                          ahead("MVLSVM", "mean")),
        "vote": Statement("imputation is better than the vote of single views",
                          ahead("MVLSVM", "vote")),
        "laplacian": Statement("imputation is better than the vote with Laplacian imputation",
                               ahead("MVLSVM", "vote+laplacian")),
    },
    n_repeats=1,
)  # fmt: skip
BY_PEOPLE = Multiverse(
    name="mvl_people",
    title="accuracy on a person who does not train",
    datasets=("uwave-people",),
    axes={
        "people": ("others", "all"), "person": tuple(range(1, 9)),
        "machine": ("squared_hinge", "rbf"),
    },
    methods=dict.fromkeys((*LATENT, "vote", "SVC"), ("accuracy",)),
    function=on_people,
    without=dict.fromkeys(("vote", "SVC"), ("machine",)),
    n_repeats=1,
)  # fmt: skip
MULTIVERSES = (FIGURE2, TIME, MISSING, BY_PEOPLE)
ITEMS = [multiverse.item for multiverse in MULTIVERSES]
