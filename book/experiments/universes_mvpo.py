"""Universes of Figures 1 to 4 of MVPO, and of its claim on convergence: statements, no numbers.

The paper has random halves, linear functions without a constant, and the view and the parameters
of the single-view rivals by cross-validation. Left open are

scaling    dense columns standardised and sparse views at mean squared norm 1, or all columns raw:
  as in the file, divided by one number for all views, which only changes the unit of C1 and C2
constant   a constant feature, or none; not open for Figures 2 to 4, where all methods have one, and
  none on the digits of Figure 1, since with one every F1 there is far above one half
tuning     C2 on a fold of the training half for the measure in question, or for F1 with every
  measure, or the same fixed C2 for all methods
threshold  of F1: the sign of the score, or as many predicted as true positives in training
classes    on webkb, whose two classes are each the other's rest: both, or the second alone

All methods search the same C2, 10 to 1e4 on the text and 1 to 100 on the digits, where F1 without a
constant takes minutes beyond; C1 is 0.1. The view, or the pair of views, is selected on the fold at
one C2, for each measure and each threshold. One fold of three tunes, and all training stops at the
tolerance of the folds. SMS solves the problem of SVM^perf in another way, so SVM^perf stands for
both; citeseer has no rivals for a measure and no pairs, which take long there. Universes of a
repeat share the trained models, and differ in their evaluation.

Figures 3 and 4 are read from one grid of C1 and C2: over C1 at a fixed C2, over C2 at a fixed C1,
as far as the `reach` of the lines, in decades, from the point where they cross. Time is counted in
iterations, over all classes, of the paper's loop, which adds cuts at the newest point.
"""

from dataclasses import replace
from functools import lru_cache, partial
from itertools import chain, combinations, product
from unittest.mock import patch

import numpy as np
from joblib import hash as digest
from scipy import sparse
from sklearn.svm import LinearSVC

from mvref.core.input import MultiView
from mvref.core.kernel_views import LinearViews
from mvref.mvpo import PrimalMetric, cutting_planes, most_violated_of, solver
from mvref.rivals import CAPO, FSMulti, SVMPerf

from .engine import derive_seed
from .problems import load_dataset, load_halves
from .ranking import (
    HASTY,
    MAX_ITER,
    MEASURES,
    PAIR_METHODS,
    TARGETS,
    ColumnsMachine,
    OneAgainstRest,
    certified,
)
from .universes import Multiverse, Statement

C1, VIEW_C2 = 0.1, {"mfeat": 10.0, "citeseer": 100.0, "webkb": 100.0}
GRID_C2 = {
    "mfeat": (1.0, 10.0, 100.0),
    "citeseer": (10.0, 100.0, 1e3, 1e4),
    "webkb": (10.0, 100.0, 1e3, 1e4),
}
TUNING = ("measure", "F1", "10", "100")
READINGS = ("f1 sign", "f1 count", "prbep", "auroc")  # evaluations of a score
OF_TARGET = {"f1": READINGS[:2], "prbep": READINGS[2:3], "auroc": READINGS[3:]}
LIMIT = 100  # iterations, of the paper


@lru_cache(maxsize=2)
def halves_of(name, scaling, seed):
    """Return the halves of the paper's other items, with one fold, and one of two scalings."""
    halves = load_halves(name, seed)
    if scaling == "raw":
        views = load_dataset(name).X.views
        squares = [
            np.sum(
                view[halves.train].power(2)
                if sparse.issparse(view)
                else np.square(view[halves.train], dtype=float)
            )
            for view in views
        ]
        unit = np.sqrt(np.sum(squares) / len(halves.train) / len(views))
        halves = replace(halves, X=MultiView([view / unit for view in views], names=halves.X.names))
    return replace(halves, folds=halves.folds[:1])


class SharedCAPO(CAPO):
    """CAPO that caches its auxiliary classifiers' outputs for all measures and all C2."""

    known = {}

    def _training_tables(self, X, signs):
        if len(self.known) > LIMIT:
            self.known.clear()
        key = digest((X.views[0], signs, self.fit_intercept))
        if key not in self.known:
            tables = super()._training_tables(X, signs)
            self.known[key] = tables, self.auxiliaries_, self._sparse
        tables, self.auxiliaries_, self._sparse = self.known[key]
        self.trained_on = key
        return tables

    def _tables(self, columns):
        key = self.trained_on, digest(columns)
        if key not in self.known:
            self.known[key] = list(super()._tables(columns))
        return self.known[key]


def machine_of(method, split, rows, seed, constant, target):
    """Return the machine of a method on some samples; target: None for methods without a target."""
    if method == "MVPO":
        return OneAgainstRest(split, rows, seed, target=target, fit_intercept=constant, **HASTY)
    if method in PAIR_METHODS:
        return PAIR_METHODS[method].make(split, rows, seed, **PAIR_METHODS[method].hasty)
    if method == "CoLabeling":
        return ColumnsMachine(split, rows, seed, build=partial(plain, constant=constant), **HASTY)
    learner = {"SVMPerf": SVMPerf, "CAPO": SharedCAPO, "FSMulti": FSMulti}[method]
    options = {} if method == "FSMulti" else {"max_iter": MAX_ITER}
    options |= {"random_state": 0} if method == "CAPO" else {}
    build = certified(learner, fit_intercept=constant, **options)
    loose = 10.0 if method == "FSMulti" else 1.0  # ten features in a group
    given = {"build": build, "target": target, "loose": loose, **HASTY}
    return ColumnsMachine(split, rows, seed, **given)


def plain(target, C2, n, tol, *, constant):
    """Return the linear SVM of :mod:`.ranking`, with or without a constant feature."""
    return LinearSVC(C=4.0 * C2 / n, dual=True, fit_intercept=constant, random_state=0)


def choices(method, X):
    """Return the options of a method beside C2: views, view pairs with a parameter, or fixed C1."""
    views = range(X.n_views)
    if method in PAIR_METHODS:
        other = {"D/C": 0.01} if method == "SVM2K" else {"alpha": 0.1}
        return [{"view": v, "second_view": u, **other} for v, u in combinations(views, 2)]
    if method in ("SVMPerf", "CAPO", "FSMulti"):
        return [{"view": v} for v in views]
    return [{"C1": C1}]


@lru_cache(maxsize=256)
def readings(name, method, target, scaling, constant, seed):
    """Return reading -> values (n_points, 2, n_classes) by C2, on the fold and the test half.

    A second result has the choice beside C2 that is best on the fold for the reading; CAPO
    and FS_multi take the view of SVM^perf, as in the other items.
    """
    split, C2s = halves_of(name, scaling, seed), GRID_C2[name]
    [(fit, check)] = split.folds
    own, options = OF_TARGET.get(target, READINGS), choices(method, split.X)
    fold = machine_of(method, split, fit, seed, constant, target)
    final = machine_of(method, split, split.train, seed, constant, target)
    if method in ("CAPO", "FSMulti"):
        best = readings(name, "SVMPerf", target, scaling, constant, seed)[1]
    elif len(options) > 1:
        path = fold.path([option | {"C2": VIEW_C2[name]} for option in options])
        first = [read(trained, split, fit, check) for trained in path]
        table = np.array([[one[reading].mean() for reading in own] for one in first])
        if target is None:  # one pair for all
            table[:] = table.mean(axis=1, keepdims=True)
        best = dict(zip(own, [options[i] for i in table.argmax(axis=0)], strict=True))
    else:
        best = dict.fromkeys(own, options[0])
    values = {}
    for option in {tuple(best[reading].values()): best[reading] for reading in own}.values():
        points = [option | {"C2": C2} for C2 in C2s]
        tuned = [read(trained, split, fit, check) for trained in fold.path(points)]
        tested = [read(trained, split, split.train, split.test) for trained in final.path(points)]
        for C2, parts in zip(C2s, zip(tuned, tested, strict=True), strict=True):
            values[tuple(option.values()), C2] = parts
    found = {
        reading: np.array(
            [[part[reading] for part in values[tuple(best[reading].values()), C2]] for C2 in C2s]
        )
        for reading in own
    }
    return found, best


def read(machine, split, rows, others):
    """Evaluate the scores of samples not used in training: reading -> values (n_classes,)."""
    own, scores = (machine.predict(machine.features(part)) for part in (rows, others))
    Y, known = split.meta["Y"][others], split.meta["Y"][rows]
    counts = known.sum(axis=0)
    cuts = [np.sort(s)[::-1][[n - 1, n]].mean() for s, n in zip(own.T, counts, strict=True)]
    shifted = {"f1 sign": scores, "f1 count": scores - cuts, "prbep": scores, "auroc": scores}
    return {
        reading: np.array(
            [MEASURES[reading.split()[0]](y, s) for y, s in zip(Y.T, S.T, strict=True)]
        )
        for reading, S in shifted.items()
    }


def on_figure(name, method, *, measures, scaling, tuning, threshold, constant=True,
              classes="all", seed):  # fmt: skip
    """Return the measures of a method in a universe of Figures 1 and 2."""
    aware, values = method not in (*PAIR_METHODS, "CoLabeling"), {}

    def on_fold_and_test(measure):
        target = measure if aware else None
        reading = f"f1 {threshold}" if measure == "f1" else measure
        found = readings(name, method, target, scaling, constant, seed)[0][reading]
        return (found[..., -1:] if classes == "second" else found).mean(axis=-1).T

    for measure in measures:
        fold, test = on_fold_and_test(measure)
        if tuning == "F1":
            fold = on_fold_and_test("f1")[0]
        at = fold.argmax() if tuning in ("F1", "measure") else GRID_C2[name].index(float(tuning))
        values[measure] = float(test[at])
    return values


# ------------------------------------------------------------------------------ Figures 3 and 4

CROSS_C1, CROSS_C2 = (0.1, 1.0), (100.0, 1e3)
LINE_C1, LINE_C2 = (0.01, 0.1, 1.0, 10.0), (10.0, 100.0, 1e3, 1e4)


@lru_cache(maxsize=2)
def surface(name, scaling, seed):
    """Run MVPO on the grid: (C1, C2, target) -> reading -> its average, and the iterations."""
    split, found = halves_of(name, scaling, seed), {}
    machine = OneAgainstRest(split, split.train, seed, target=TARGETS[0], **HASTY)
    points = [
        {"C1": C1, "C2": C2, "measure": target}
        for C1, C2, target in product(LINE_C1, LINE_C2, TARGETS)
        if C1 in CROSS_C1 or C2 in CROSS_C2  # else on no line
    ]
    with patch.object(solver, "STEP", 1.0):
        for point, trained in zip(points, machine.path(points), strict=True):
            values = read(trained, split, split.train, split.test)
            at = tuple(point.values())
            found[at] = {r: float(values[r].mean()) for r in OF_TARGET[point["measure"]]}
            curves = [model.primal_curve_ for model in trained.models]
            found[at]["iterations"] = float(sum(map(len, chain(*curves))))
    return found


def on_lines(name, method, *, measures, scaling, threshold, C1, C2, reach, seed):
    """Return the range of the measures over the two crossing lines, and their iterations."""
    found = surface(name, scaling, seed)
    over_C1 = [(c, C2) for c in LINE_C1 if abs(np.log10(c / C1)) < reach + 0.5]
    over_C2 = [(C1, c) for c in LINE_C2 if abs(np.log10(c / C2)) < reach + 0.5]
    values = {}
    for target in TARGETS:
        reading = f"f1 {threshold}" if target == "f1" else target
        moves, counts = (
            [[found[*point, target][what] for point in line] for line in (over_C1, over_C2)]
            for what in (reading, "iterations")
        )
        values[f"{target}_moves"] = max(np.ptp(line) for line in moves)
        values[f"{target}_count"] = np.mean(counts[0] + counts[1])
        values[f"{target}_small_C1"] = counts[0][0] / np.median(counts[0][1:])
        values[f"{target}_factor"] = max(max(line) / min(line) for line in counts)
    return {measure: float(values[measure]) for measure in measures}


# ------------------------------------------------------------- 100 iterations from random starts

TOLS = (0.1, 0.01, 0.001)


@lru_cache(maxsize=2)
def gaps(name, measure, constant, C1, C2, seed):
    """Return the smallest duality gap / C2 of the paper's loop from random starts, (n_classes,)."""
    split = halves_of(name, "standard", seed)
    X, n = split.X[split.train], len(split.train)
    features = LinearViews(X, float(constant)).features
    metric, table = PrimalMetric(features, X.observed, C1 / n), np.hstack(features)
    rng, found = np.random.default_rng(derive_seed(seed, "starts")), []
    with patch.object(solver, "STEP", 1.0):
        for of_class in split.meta["Y"][split.train].T:
            cut = most_violated_of(measure, np.where(of_class, 1, -1))
            ask = started(cut, table @ rng.normal(size=table.shape[1]))
            options = {"C2": C2, "tol": min(TOLS), "max_iter": LIMIT}
            found.append(cutting_planes(ask, metric.scores, n, **options).gap / C2)
    return np.array(found)


def started(most_violated, scores):
    """Return a search for the most violated cut whose first call uses `scores` for the cut."""
    first = [scores]

    def search(s):
        value = most_violated(s)[0]
        return (value, *most_violated(first.pop() if first else s)[1:])

    return search


def on_limit(name, method, *, measures, measure, constant, C1, C2, tol, seed):
    """Return the fraction of digits whose run from a random start converges within the limit."""
    share = np.mean(gaps(name, measure, constant, C1, C2, seed) <= tol)
    return dict.fromkeys(measures, float(share))


# ------------------------------------------------------------------------------------ statements


def ahead(rivals, datasets):
    """Value of a statement: the fraction of cells in which MVPO is better than all these rivals."""

    def share(means):
        best = [
            sum(means[d, "MVPO", m] > means[d, rival, m] for rival in rivals) == len(rivals)
            for d, m in product(datasets, TARGETS)
        ]
        return sum(cell.astype(float) for cell in best) / len(best)

    return share


def only_mvpo_above_half(rivals):
    """Value of a statement: the smaller margin of MVPO above, and of the best rival below, 1/2."""

    def margin(means):
        best = np.max([means["mfeat", rival, "f1"] for rival in rivals], axis=0)
        return np.minimum(means["mfeat", "MVPO", "f1"] - 0.5, 0.5 - best)

    return margin


def of_lines(value):
    """Value of a statement on Figures 3 and 4: a function of the measures on their lines."""
    return lambda means: value({what: means["mfeat", "MVPO", what] for what in LINES})


def larger(of, what):
    """Return the larger value of PRBEP and AUROC."""
    return np.maximum(of[f"prbep_{what}"], of[f"auroc_{what}"])


def converged(means):
    """Return the fraction of runs that converge."""
    return means["mfeat", "MVPO", "converged"]


SINGLE = ("SVMPerf", "CAPO", "FSMulti")
DATASETS, DIGITS, PAGES = ("mfeat", "citeseer", "webkb"), ("mfeat",), ("webkb",)
WHAT = ("moves", "count", "small_C1", "factor")
LINES = tuple(f"{target}_{what}" for target, what in product(TARGETS, WHAT))
MOST, NEARLY_ALL = 0.5, 0.8  # of the cells
STILL, LONGER, STABLE, NEAR = 0.05, 1.2, 1.5, 0.05
AXES = {"scaling": ("standard", "raw"), "threshold": ("sign", "count")}
BY_VIEW = ("MVPO", *SINGLE)
PAGES_OF_FIG1 = Multiverse(
    name="mvpo_fig1_webkb",
    title="methods for a measure on WebKB, Figure 1 of MVPO, every choice left open",
    datasets=PAGES, methods=dict.fromkeys(BY_VIEW, TARGETS), function=on_figure, n_repeats=3,
    axes=AXES | {"constant": (True, False), "tuning": (*TUNING, "1000"),
                 "classes": ("all", "second")},
    statements={
        "exception": Statement(
            "FS_multi has a higher F1 than MVPO on WebKB",
            lambda means: means["webkb", "FSMulti", "f1"] - means["webkb", "MVPO", "f1"]),
        "most": Statement("MVPO is better than SVM^perf, CAPO and FS_multi in most cells of WebKB",
                          ahead(SINGLE, PAGES), MOST),
    },
)  # fmt: skip
DIGITS_OF_FIG1 = Multiverse(
    name="mvpo_fig1_digits",
    title="F1 of methods for a measure on the digits, Figure 1 of MVPO, every choice left open",
    datasets=DIGITS, methods=dict.fromkeys(BY_VIEW, ("f1",)), function=on_figure, n_repeats=2,
    axes=AXES | {"constant": (False,), "tuning": ("F1", "1", "10", "100")},
    statements={
        "half": Statement("only MVPO has an F1 above 0.5 on the digits",
                          only_mvpo_above_half(SINGLE)),
        "half_but_capo": Statement("MVPO has an F1 above 0.5 on the digits, SVM^perf and FS_multi "
                                   "have not", only_mvpo_above_half(("SVMPerf", "FSMulti"))),
    },
)  # fmt: skip


def of_figure2(name, kind, datasets, rivals, n_repeats):
    """Compare MVPO with rivals without a target measure, each in a separate statement."""
    title = f"methods for {kind} views, Figure 2 of MVPO, every choice left open"
    text = "MVPO is better than {} in all cells but one at most"
    statements = {
        rival: Statement(text.format(rival), ahead([rival], datasets), NEARLY_ALL)
        for rival in rivals
    }
    axes, methods = AXES | {"tuning": TUNING}, dict.fromkeys(("MVPO", *rivals), TARGETS)
    return Multiverse(name, title, datasets, axes, methods, on_figure,
                      statements=statements, n_repeats=n_repeats)  # fmt: skip


FIG2 = of_figure2("mvpo_fig2", "several", DATASETS, ("CoLabeling",), 2)
PAIRS_OF_FIG2 = of_figure2("mvpo_fig2_pairs", "two", ("mfeat", "webkb"), tuple(PAIR_METHODS), 1)
FIG34 = Multiverse(
    name="mvpo_fig3_fig4",
    title="C1 and C2, Figures 3 and 4 of MVPO, every choice left open",
    datasets=DIGITS, methods={"MVPO": LINES}, function=on_lines, n_repeats=1,
    axes=AXES | {"C1": CROSS_C1, "C2": CROSS_C2, "reach": (1, 2)},
    statements={
        "rankings": Statement("PRBEP and AUROC move by less than 0.05 over C1 and C2",
                              of_lines(lambda of: -larger(of, "moves")), -STILL),
        "f1": Statement("F1 moves more over C1 and C2 than PRBEP and AUROC, on the digits",
                        of_lines(lambda of: of["f1_moves"] - larger(of, "moves"))),
        "order": Statement("F1 needs most iterations, AUROC fewest",
                           of_lines(lambda of: np.minimum(of["f1_count"] / larger(of, "count"),
                                                          of["prbep_count"] / of["auroc_count"])),
                           1.0),
        "small_C1": Statement("F1 needs a fifth more iterations at the smallest C1, on the digits",
                              of_lines(lambda of: of["f1_small_C1"]), LONGER),
        "still": Statement("iterations for PRBEP and AUROC within a factor of 1.5 over C1, C2",
                           of_lines(lambda of: -larger(of, "factor")), -STABLE),
    },
)  # fmt: skip
STARTS = Multiverse(
    name="mvpo_starts",
    title="share of runs that converge within 100 iterations, every choice left open",
    datasets=DIGITS, methods={"MVPO": ("converged",)}, function=on_limit, n_repeats=1,
    axes={"measure": TARGETS, "constant": (True, False), "C1": (0.0, 1.0),
          "C2": (3.0, 10.0, 30.0, 100.0), "tol": TOLS},
    statements={
        "printed": Statement("92 % of the runs converge within 100 iterations, give or take 5 "
                             "points", lambda means: -abs(converged(means) - 0.92), -NEAR),
        "most": Statement("most of the runs converge within 100 iterations", converged, 0.5),
    },
)  # fmt: skip
MULTIVERSES = (PAGES_OF_FIG1, DIGITS_OF_FIG1, FIG2, PAIRS_OF_FIG2, FIG34, STARTS)
# The same halves for all, so that they share the trained models
ITEMS = [replace(multiverse.item, seeds="halves") for multiverse in MULTIVERSES]
