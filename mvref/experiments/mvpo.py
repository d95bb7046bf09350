"""Figures 1 to 4 of MVPO (Wang, Tsang and Gao, AAAI 2016, section "Experiments").

Protocol   (the paper's text where it says something)
  data     mfeat (six views of digits), citeseer (text, inbound and outbound links), webkb (page,
           anchor text). Its fourth data set, PASCAL VOC'07, cannot be downloaded in the form that
           the paper used (:func:`mvref.datasets.fetch_voc07`), so that it has no rows.
  split    two random halves, to train and to test; ours are stratified by class.
  views    the paper does not say how it scales them. Here dense columns have mean 0 and variance
           1, and the rows of sparse views mean squared norm 1, over the training half.
  tasks    each class against the rest, also where there are two classes: F1 and PRBEP of one are
           not those of the other.
  scores   F1, PRBEP and AUROC on the test half, averaged over the classes, of a method that is
           trained and tuned for one of them, the ``target``. F1 takes the sign of the score; for
           the other targets this is at the threshold that calls as many training samples positive
           as there are. The paper's figures show the target's own measure only.
  tuning   C1 in `GRID_C1`, C2 in `GRID_C2` and the view of a single-view method, where the target
           is largest on average over three stratified folds of the training half; all classes
           share the choice. Ties go to the smallest. The folds stop at a tolerance of 0.01, the
           final model at 0.001. The test half is used once. The grid of mfeat ends at C2 = 1000: on
           a fold of a training half MVPO's measures did not change from 100 on (C1 = 0 and 1). For
           F1 SVMPerf always chooses that end; on the first repeat 1e4 and 1e5 changed its F1 by
           less than 0.001.
  repeats  10, 3 for Figure 3, each with its own halves. All items and all methods share them.

Methods    of Figure 1
  MVPO        with a constant feature in every view; C1 and C2 in the unit of ``normalize=True``
  MVPO-C1=0   the same without the term that makes the views agree
  SVMPerf     on one view, chosen by the folds; the same constant feature
  LinearSVC   not in the paper: squared hinge on the views side by side, C = 4 C2/n, the same
              weight of the loss. It ignores the target but for the choice of C
           of Figure 1, which cost much more, and have 3 of the 10 repeats; FSMulti has all of them
           for F1 on webkb, which the paper names. The ledger has fewer where they take long, and
           none on citeseer. CAPO's auxiliary classifiers were trained once for all targets and C2
           of a repeat; its seconds for PRBEP and AUROC contain those of its row for F1
  CAPO, FSMulti   on the view that SVM^perf's folds chose; C2 in `GRID_C2`, by the same folds
  SMS         solves the problem of SVM^perf by smoothing, and takes its view and its C2. For F1
              the smoothing is ours, and no rival of the paper; on citeseer it had not ended
              after five minutes of processor time, and is left out
           of Figure 2
  MVPO, LinearSVC   the rows of Figure 1, which are copied
  CoLabeling  the mean score of one LinearSVC per view, tuned like LinearSVC: Co-Labeling is this
              where all training samples are labelled
  SVM2K, MSL  on a pair of views that a fold chooses, with C2 and D/C or alpha from `PAIR_GRIDS`
              (:mod:`mvref.experiments.pair_methods`). They take much longer, and have 3 of the
              10 repeats. The grids of SVM-2K stop where its solver becomes slow: on one fold and
              the pair with the best measures, ten times the largest C2 raised none of its measures
              by more than 0.001 on mfeat and 0.003 on citeseer, in at most 300 sweeps

Figure 3 draws the target over C1 at C2 = `FIXED_C2`, and over C2 at C1 = `FIXED_C1`; the paper does
not print what it fixes, and we take the defaults of the class. Nothing is tuned.

Figure 4 measures the seconds of processor time that ``MVPO.fit`` takes for all classes at the
points of Figure 3, one job at a time, in one thread, on the halves of the first repeat: the median
of `N_TIMINGS` runs. The metric of the views is computed anew in each.

``gap`` is the largest duality gap over C2 tol of the models that were measured: at most 1 where all
of them converged.
"""

import time
from dataclasses import replace
from functools import partial

import numpy as np

from ..mvpo import MVPO
from .engine import Item, Job, derive_seed, encode_parameter
from .halves import load_halves, measure_all
from .pair_methods import PAIR_METHODS, pair_measures_of, pair_tuned
from .ranking import MAX_ITER, TARGETS, TOL, measures_of, rival, tuned

DATASETS = ("mfeat", "citeseer", "webkb")
SENSITIVITY_DATASETS = ("mfeat", "citeseer")
FIG1_METHODS = ("MVPO", "MVPO-C1=0", "SVMPerf", "LinearSVC")
FIG2_METHODS = ("MVPO", "LinearSVC", "CoLabeling")
GRID_C1 = (0.0, 0.01, 0.1, 1.0, 10.0)
GRID_C2 = {
    "mfeat": tuple(10.0**k for k in range(4)),
    "citeseer": tuple(10.0**k for k in range(6)),
    "webkb": tuple(10.0**k for k in range(6)),
}
FIXED_C1, FIXED_C2 = 0.1, 100.0
CURVE_C1 = (0.0, 0.01, 0.1, 1.0, 10.0, 100.0)
CURVE_C2 = GRID_C2["citeseer"]
N_REPEATS = 10
CURVE_REPEATS = 3
RIVALS = ("SMS", "CAPO", "FSMulti")
RIVAL_REPEATS = 3
ALL_REPEATS = ("webkb", "FSMulti", "f1")
LEFT_OUT = ("citeseer", "SMS", "f1")
GRID_MSL = {"grid_outer": (0.03, 0.1), "grid_C2": (100.0, 1e3, 1e4), "first": (0.1, 1e3)}
PAIR_GRIDS = {  # `grid_outer` is D/C of SVM-2K and alpha of MSL
    ("mfeat", "MSL"): GRID_MSL,
    ("citeseer", "MSL"): GRID_MSL,
    ("webkb", "MSL"): GRID_MSL,
    ("mfeat", "SVM2K"): {
        "grid_outer": (0.01, 0.1), "grid_C2": (1.0, 10.0), "first": (0.1, 1.0),
    },
    ("citeseer", "SVM2K"): {
        "grid_outer": (0.01, 0.1, 1.0), "grid_C2": (10.0, 100.0, 1e3), "first": (0.1, 100.0),
    },
    ("webkb", "SVM2K"): {
        "grid_outer": (0.01, 0.1, 1.0), "grid_C2": (10.0, 100.0, 1e3, 1e4), "first": (0.1, 100.0),
    },
}  # fmt: skip
PAIR_REPEATS = 3
N_TIMINGS = 3
QUICK_C1, QUICK_C2, QUICK_TOL = (0.0, 1.0), (10.0,), 1e-2


class SharedHalves(Item):
    """An item whose repeats have the seed, and so the halves, of all items of the paper."""

    def seed(self, dataset, repeat):
        """Seed of all rows of a repeat, whatever the item."""
        return derive_seed("halves", dataset, repeat)


def fig1(dataset, quick, rows):
    """Yield the jobs of Figure 1: three measures by method.

    quick: One repeat, few C1 and C2, a larger tolerance.
    """
    for repeat in range(1 if quick else N_REPEATS):
        for target in TARGETS:
            for method in (*FIG1_METHODS, *RIVALS):
                cell = dataset, method, target
                some = method in RIVALS and repeat >= RIVAL_REPEATS and cell != ALL_REPEATS
                if cell != LEFT_OUT and not some:
                    yield _tuned_job(dataset, method, target, repeat, quick)


def fig2(dataset, quick, rows):
    """Yield the jobs of Figure 2: three measures of the methods for several views.

    rows: Rows of the ledger. A method of Figure 1 keeps its values: its job copies them, and waits
    until they are there.
    """
    known = rows[(rows["item"] == "fig1") & (rows["dataset"] == dataset)]
    known = known.set_index(["method", "parameter", "repeat", "measure"])["value"].to_dict()
    for repeat in range(1 if quick else N_REPEATS):
        methods = [*FIG2_METHODS, *PAIR_METHODS] if repeat < PAIR_REPEATS else FIG2_METHODS
        for method in methods:  # first, so that the targets share what they can
            for target in TARGETS:
                job = _tuned_job(dataset, method, target, repeat, quick)
                if method not in FIG1_METHODS:
                    yield job
                    continue
                point = method, encode_parameter(job.parameter), repeat
                values = {m: known[*point, m] for m in job.measures if (*point, m) in known}
                if len(values) == len(job.measures):
                    yield replace(job, function=partial(copied, values))


def fig3(dataset, quick, rows):
    """Yield the jobs of Figure 3: the target over C1 and over C2."""
    measures = ("f1", "prbep", "auroc", "n_iter", "gap")
    for repeat in range(1 if quick else CURVE_REPEATS):
        for point in _points(quick):
            function = partial(at_point, dataset, **point, tol=QUICK_TOL if quick else TOL)
            yield Job(dataset, "MVPO", point, repeat, measures, function)


def fig4(dataset, quick, rows):
    """Yield the jobs of Figure 4: seconds of training over C1 and over C2."""
    for point in _points(quick):
        options = (
            {"n_timings": 1, "tol": QUICK_TOL} if quick else {"n_timings": N_TIMINGS, "tol": TOL}
        )
        function = partial(timing, dataset, **point, **options)
        yield Job(dataset, "MVPO", point, 0, ("train_seconds", "n_iter"), function)


def copied(values, *, seed):
    """Return the values of another item."""
    return values


def at_point(name, *, target, C1, C2, tol, seed):
    """Train MVPO at a point and measure it on the test half."""
    halves = load_halves(name, seed)
    model = _mvpo(target, C1, C2, tol).fit(halves.X[halves.train], halves.y[halves.train])
    scores = model.decision_function(halves.X[halves.test])
    gap = np.max(model.dual_gap_) / (C2 * tol)
    return measure_all(halves.Y[halves.test], scores) | {"n_iter": model.n_iter_, "gap": gap}


def timing(name, *, target, C1, C2, tol, n_timings, seed):
    """Measure the seconds of processor time that MVPO takes to learn all classes."""
    halves = load_halves(name, seed)
    X, y = halves.X[halves.train], halves.y[halves.train]
    seconds = []
    for _ in range(n_timings):
        start = time.process_time()
        model = _mvpo(target, C1, C2, tol).fit(X, y)
        seconds.append(time.process_time() - start)
    return {"train_seconds": np.median(seconds), "n_iter": model.n_iter_}


def _mvpo(target, C1, C2, tol):
    return MVPO(target, C1=C1, C2=C2, tol=tol, max_iter=MAX_ITER)


def _tuned_job(dataset, method, target, repeat, quick):
    if method in PAIR_METHODS:
        return _pair_job(dataset, method, target, repeat, quick)
    grids = {"grid_C1": GRID_C1, "grid_C2": GRID_C2[dataset], "tol": TOL}
    options = QUICK_GRIDS if quick else grids
    if method in RIVALS:
        function = partial(rival, dataset, method, target, **options, rival_C2=options["grid_C2"])
    else:
        function = partial(tuned, dataset, method, target, **options)
    return Job(dataset, method, {"target": target}, repeat, measures_of(method), function)


def _pair_job(dataset, method, target, repeat, quick):
    options = PAIR_GRIDS[dataset, method] | {"tol": TOL}
    if quick:
        outer, C2 = options["first"]
        options |= {"grid_outer": (outer,), "grid_C2": (C2,), "tol": QUICK_TOL}
    function = partial(pair_tuned, dataset, method, target, **options)
    return Job(dataset, method, {"target": target}, repeat, pair_measures_of(method), function)


def _points(quick):
    """Points of Figures 3 and 4: two lines that cross at the fixed point."""
    curve_C1, curve_C2 = (QUICK_C1, QUICK_C2) if quick else (CURVE_C1, CURVE_C2)
    over_C1 = [(C1, QUICK_C2[0] if quick else FIXED_C2) for C1 in curve_C1]
    over_C2 = [(FIXED_C1, C2) for C2 in curve_C2]
    for target in TARGETS:
        for C1, C2 in dict.fromkeys(over_C1 + over_C2):
            yield {"target": target, "C1": C1, "C2": C2}


QUICK_GRIDS = {"grid_C1": QUICK_C1, "grid_C2": QUICK_C2, "tol": QUICK_TOL}
ITEMS = [
    SharedHalves("mvpo", "fig1", "F1, PRBEP and AUROC by method", DATASETS, fig1),
    SharedHalves(
        "mvpo", "fig2", "F1, PRBEP and AUROC of methods for several views", DATASETS, fig2,
        needs=("fig1",),
    ),
    SharedHalves("mvpo", "fig3", "sensitivity to C1 and C2", SENSITIVITY_DATASETS, fig3),
    SharedHalves(
        "mvpo", "fig4", "training time over C1 and C2", SENSITIVITY_DATASETS, fig4, serial=True
    ),
]  # fmt: skip
