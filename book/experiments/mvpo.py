"""Figures 1 to 4 of MVPO (Wang, Tsang and Gao, AAAI 2016, section "Experiments").

Protocol   (as in the paper's text, if stated there)
  data     mfeat (six views of digits), citeseer (text, inbound and outbound links), webkb (page,
           anchor text). Its fourth data set, PASCAL VOC'07, cannot be downloaded in the form that
           the paper used (:func:`mvref.datasets.fetch_voc07`), so that it has no rows.
  split    two random halves, to train and to test; ours are stratified by class.
  views    the paper does not state how it scales them. Here dense columns have mean 0 and variance
           1, and the rows of sparse views mean squared norm 1, over the training half.
  tasks    each class against the rest, also for two classes: F1 and PRBEP of one class differ from
           F1 and PRBEP of the other.
  scores   F1, PRBEP and AUROC on the test half, averaged over the classes, of a method that is
           trained and tuned for one of them, the ``target``. F1 takes the sign of the score; for
           the other targets, the threshold classifies as many training samples as positive as
           there are positives. The paper's figures show the target's own measure only.
  tuning   C1 in `GRID_C1`, C2 in `GRID_C2` and the view of a single-view method, where the target
           is largest on average over three stratified folds of the training half; all classes
           share the choice. Ties go to the smallest. The folds stop at a tolerance of 0.01, the
           final model at 0.001. The test half is used once. All methods of a data set have the
           same C2, and all values of their other parameters: more parameters, more points.
  repeats  10, 3 for Figure 3, each with its own halves. All items and all methods share them.

Methods    of Figure 1
  MVPO        with a constant feature in every view; C1 and C2 in the unit of ``normalize=True``
  MVPO-C1=0   the same without the term that makes the views agree
  SVMPerf     on one view, selected by cross-validation; the same constant feature
  LinearSVC   not in the paper: squared hinge on the concatenated views, C = 4 C2/n, the same
              weight of the loss. It ignores the target except in the selection of C
           of Figure 1, at a much higher cost: 10 repeats on webkb, else 3; the ledger has fewer
           where they take long, and none of CAPO and FSMulti on citeseer. CAPO's auxiliary
           classifiers were trained once for all targets and C2 of a repeat; its seconds for PRBEP
           and AUROC contain those of its row for F1
  CAPO, FSMulti   on the view selected for SVM^perf; C2 in `GRID_C2`, by the same folds
  SMS         solves the problem of SVM^perf by smoothing, and takes its view and its C2. For F1
              the smoothing is ours, and SMS no rival of the paper; on citeseer it had not ended
              after five minutes of processor time, and is left out; on mfeat it stops at its
              limit of evaluations before it reaches its tolerance
           of Figure 2
  MVPO, LinearSVC   the rows of Figure 1, which are copied
  CoLabeling  the mean score of one LinearSVC per view, tuned like LinearSVC: Co-Labeling is this
              where all training samples are labelled
  SVM2K, MSL  on a pair of views selected on a fold, with C2 from `GRID_C2` and D/C or alpha from
              `PAIR_GRIDS` (:mod:`mvref.experiments.ranking`): 10 repeats on webkb, else 3

Alike      The methods with more points than values of C2 once more, each with as many points as
           LinearSVC: every C2 once, with randomly assigned values of the other parameters
           (`one_for_each_C2`). The other methods have their rows in Figures 1 and 2; CAPO and
           FSMulti have the same number of points there, on a view that was selected before.

Figure 3 draws the target over C1 at C2 = `FIXED_C2`, and over C2 at C1 = `FIXED_C1`; the paper does
not print what it fixes, and we take the defaults of the class. Nothing is tuned.

Figure 4 measures the seconds of processor time that ``MVPO.fit`` takes for all classes at the
points of Figure 3, one job at a time, in one thread, on the halves of the first repeat: the median
of `N_TIMINGS` runs. The metric of the views is recomputed in each.

``gap`` is the largest duality gap over C2 tol of the models that were measured: at most 1 where all
of them converged.
"""

from dataclasses import replace
from functools import lru_cache, partial
from itertools import product

import numpy as np

from mvref.mvpo import MVPO

from .engine import Item, derive_seed, encode_parameter
from .problems import load_halves
from .ranking import (
    MAX_ITER,
    METHODS,
    PAIR_METHODS,
    TARGETS,
    TOL,
    TUNING_TOL,
    measure_all,
    quality,
    with_pair,
)
from .tables import Cell, grid, jobs_of, seconds_of
from .tuning import train, validate

DATASETS = ("mfeat", "citeseer", "webkb")
SENSITIVITY_DATASETS = ("mfeat", "citeseer")
FIG1_METHODS = ("MVPO", "MVPO-C1=0", "SVMPerf", "LinearSVC")
FIG2_METHODS = ("MVPO", "LinearSVC", "CoLabeling")
ANY_TARGET = ("LinearSVC", "CoLabeling", *PAIR_METHODS)  # trained in the same way for all targets
GRID_C1 = (0.0, 0.01, 0.1, 1.0, 10.0, 100.0, 1e3)
POWERS = tuple(10.0**k for k in range(-2, 8))
GRID_C2 = {"mfeat": POWERS[:8], "citeseer": POWERS[2:], "webkb": POWERS[2:]}
FIXED_C1, FIXED_C2 = 0.1, 100.0
CURVE_C1, CURVE_C2 = GRID_C1[:-1], POWERS[2:8]
RIVALS = ("SMS", "CAPO", "FSMulti")
MANY_POINTS = ("MVPO", "SVMPerf", *PAIR_METHODS)
N_REPEATS, FEW_REPEATS = 10, 3
LEFT_OUT = ("citeseer", "SMS", "f1")
PAIR_GRIDS = {  # parameters beside C2, and the point at which pairs are compared
    "SVM2K": ({"D/C": (0.001, 0.01, 0.1, 1.0)}, {"D/C": 0.1, "C2": 100.0}),
    "MSL": ({"alpha": (0.003, 0.01, 0.03, 0.1, 0.3)}, {"alpha": 0.1, "C2": 1000.0}),
}
N_TIMINGS = 3
QUICK_C1, QUICK_C2, QUICK_TOL = (0.0, 1.0), (10.0,), TUNING_TOL


def fig1(dataset, quick, rows):
    """Three measures by method; quick: One repeat, few C1 and C2, a larger tolerance."""
    return _tuned(dataset, quick, product(TARGETS, (*FIG1_METHODS, *RIVALS)))


def fig2(dataset, quick, rows):
    """Three measures of multi-view methods; jobs of methods of Figure 1 wait for its rows."""
    of_point = ["method", "parameter", "repeat"]
    known = rows[(rows["item"] == "fig1") & (rows["dataset"] == dataset)].groupby(of_point)
    known = {point: dict(zip(of["measure"], of["value"], strict=True)) for point, of in known}
    methods = (*FIG2_METHODS, *PAIR_METHODS)
    order = [(t, method) for method in methods for t in TARGETS]  # targets share computations
    for job in _tuned(dataset, quick, order):
        values = known.get((job.method, encode_parameter(job.parameter), job.repeat), {})
        if job.method not in FIG1_METHODS:
            yield job
        elif set(values) == set(job.measures):
            yield replace(job, function=lambda seed, values=values: values)


def _tuned(dataset, quick, order):
    """Return the jobs of tuned methods; order: target and method of each."""
    cells = []
    for target, method in order:
        few = method in (*RIVALS, *PAIR_METHODS) and dataset != "webkb"
        n_repeats = 1 if quick else FEW_REPEATS if few else N_REPEATS
        measures = (METHODS | PAIR_METHODS)[method].measures
        if (dataset, method, target) != LEFT_OUT:
            cells.append(Cell(method, {"target": target}, measures, n_repeats, {"quick": quick}))
    return jobs_of(dataset, dataset, cells, on_halves)


def on_halves(name, method, *, measures, target, quick, seed):
    """Tune a method for a target within the training half, train it there, and test it once."""
    trained_for = None if method in ANY_TARGET else target
    *_, values = on_folds(name, method, trained_for, quick, seed)
    values = values[:, TARGETS.index(target)]
    best = int(values.argmax())
    found = on_test(name, method, trained_for, quick, best, seed) | {"validation": values[best]}
    return {measure: found[measure] for measure in measures}


@lru_cache(maxsize=8)
def on_folds(name, method, target, quick, seed):
    """Return the halves, a method with its points, and the three measures at each on the folds.

    target: None for methods without a target, so that all targets share the result.
    """
    halves = load_halves(name, seed)
    how = (METHODS | PAIR_METHODS)[method]
    fixed = {"tol": QUICK_TOL if quick else TOL} | ({"target": target} if target else {})
    how = replace(how, points=points_of(name, method, target, quick, seed), fixed=fixed)
    if "validation" not in how.measures:  # one point, selected for another method
        return halves, how, np.zeros((1, len(TARGETS)))
    return halves, how, validate(halves, how, seed, quality)


@lru_cache(maxsize=8)
def on_test(name, method, target, quick, index, seed):
    """Return the measures at a point; targets with the same selected point share them."""
    halves, how, _ = on_folds(name, method, target, quick, seed)
    run = train(halves, how, index, seed)
    found = run.measure([name for name in how.measures if name not in (*TARGETS, "validation")])
    return found | measure_all(halves.meta["Y"][halves.test], run.predicted)


def points_of(name, method, target, quick, seed):
    """Return the points from which a method is tuned; ties go to the first."""
    C2 = QUICK_C2 if quick else GRID_C2[name]
    if method in PAIR_METHODS:
        values, first = PAIR_GRIDS[method]
        points = [first] if quick else grid(**values, C2=C2)
        return with_pair(load_halves(name, seed), PAIR_METHODS[method], points, first, seed)
    if method in RIVALS:
        _, how, values = on_folds(name, "SVMPerf", target, quick, seed)
        chosen = how.points[values[:, TARGETS.index(target)].argmax()]
        return [chosen] if method == "SMS" else grid(view=(chosen["view"],), C2=C2)
    outer = {
        "MVPO": {"C1": QUICK_C1 if quick else GRID_C1},
        "MVPO-C1=0": {"C1": (0.0,)},
        "SVMPerf": {"view": range(load_halves(name, seed).X.n_views)},
    }
    return grid(**outer.get(method, {}), C2=C2)


def alike(dataset, quick, rows):
    """Methods of Figures 1 and 2 with as many points as there are values of C2."""
    for job in _tuned(dataset, quick, [(t, method) for method in MANY_POINTS for t in TARGETS]):
        yield replace(job, function=partial(on_few, *job.function.args, **job.function.keywords))


def on_few(name, method, *, measures, target, quick, seed):
    """Tune and test as in :func:`on_halves`, with one point for every C2."""
    halves, how, values = on_few_folds(
        name, method, None if method in ANY_TARGET else target, quick, seed
    )
    values = values[:, TARGETS.index(target)]
    best = int(values.argmax())
    run = train(halves, how, best, seed)
    found = run.measure([name for name in how.measures if name not in (*TARGETS, "validation")])
    found |= measure_all(halves.meta["Y"][halves.test], run.predicted)
    return {measure: (found | {"validation": values[best]})[measure] for measure in measures}


@lru_cache(maxsize=8)
def on_few_folds(name, method, target, quick, seed):
    """Return the same as :func:`on_folds`, with one point for every C2."""
    halves = load_halves(name, seed)
    points = one_for_each_C2(points_of(name, method, target, quick, seed), seed)
    fixed = {"tol": QUICK_TOL if quick else TOL} | ({"target": target} if target else {})
    how = replace((METHODS | PAIR_METHODS)[method], points=points, fixed=fixed)
    return halves, how, validate(halves, how, seed, quality)


def one_for_each_C2(points, seed):
    """Return one point for each C2, with the other parameters randomly and evenly assigned."""
    values = list(dict.fromkeys(point["C2"] for point in points))
    n_others = len(points) // len(values)
    rng = np.random.default_rng(derive_seed(seed, "few"))
    dealt = rng.permutation(np.arange(len(values)) + rng.integers(n_others)) % n_others
    of_C2 = [[i for i, point in enumerate(points) if point["C2"] == C2] for C2 in values]
    return [points[i] for i in sorted(of[k] for of, k in zip(of_C2, dealt, strict=True))]


def curves(dataset, quick, rows, *, measures, n_repeats, n_fits=1):
    """MVPO over C1 and over C2: two lines that cross at the fixed point."""
    curve_C1, curve_C2, C2 = CURVE_C1, CURVE_C2, FIXED_C2
    options = {"tol": TOL, "n_fits": n_fits}
    if quick:
        curve_C1, curve_C2, C2 = QUICK_C1, QUICK_C2, *QUICK_C2
        n_repeats, options = 1, {"tol": QUICK_TOL}
    points = [(C1, C2) for C1 in curve_C1] + [(FIXED_C1, C2) for C2 in curve_C2]
    cells = [
        Cell("MVPO", {"target": target, "C1": C1, "C2": C2}, measures, n_repeats, options)
        for target in TARGETS
        for C1, C2 in dict.fromkeys(points)
    ]
    return jobs_of(dataset, dataset, cells, at_point)


def at_point(name, method, *, measures, target, C1, C2, tol, n_fits=1, seed):
    """Train MVPO for all classes and measure it; the seconds are the median of `n_fits` fits."""
    halves = load_halves(name, seed)
    X, y = halves.X[halves.train], halves.y[halves.train]
    model = MVPO(target, C1=C1, C2=C2, tol=tol, max_iter=MAX_ITER)
    model, seconds = seconds_of(lambda: model.fit(X, y), n_fits)
    scores = model.decision_function(halves.X[halves.test])
    values = measure_all(halves.meta["Y"][halves.test], scores)
    values |= {"n_iter": model.n_iter_, "gap": np.max(model.dual_gap_) / (C2 * tol)}
    values["train_seconds"] = seconds
    return {measure: values[measure] for measure in measures}


fig3 = partial(curves, measures=("f1", "prbep", "auroc", "n_iter", "gap"), n_repeats=FEW_REPEATS)
fig4 = partial(curves, measures=("train_seconds", "n_iter"), n_repeats=1, n_fits=N_TIMINGS)
HALVES = "halves"  # all items share the halves of a repeat
ITEMS = [
    Item("mvpo", "fig1", "F1, PRBEP and AUROC by method", DATASETS, fig1, seeds=HALVES),
    Item("mvpo", "fig2", "F1, PRBEP and AUROC of methods for several views", DATASETS, fig2,
         needs=("fig1",), seeds=HALVES),
    Item("mvpo", "alike", "Figures 1 and 2 with as many points for every method", DATASETS, alike,
         seeds=HALVES),
    Item("mvpo", "fig3", "sensitivity to C1 and C2", SENSITIVITY_DATASETS, fig3, seeds=HALVES),
    Item("mvpo", "fig4", "training time over C1 and C2", SENSITIVITY_DATASETS, fig4, serial=True,
         seeds=HALVES),
]  # fmt: skip
