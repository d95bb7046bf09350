"""The comparison that the paper on multi-view machines announces but does not report.

Cao, Zhou and Yu, "Multi-view Machines", arXiv 1506.01110, 2015, have no experiments: section 5
compares in words. The protocol is ours, and nothing in it is compared with a printed number.

Protocol
  views    rows of mean squared norm 1 in every view: features of variance 1 are divided by the root
           of their number, one-hot rows have that norm, and rows of text are scaled as in
           :mod:`mvref.experiments.problems`, by the training set. All methods get the same views.
  planted  3 views of 5 normal features, or of 40 levels (the most frequent pair of levels twice as
           frequent as the next); labels are the sign of a planted score of two factors, 5 % of
           them turned over (:func:`mvref.datasets.make_interactions`). Of one planted score
           `N_POOL` + `N_TEST` samples are drawn; n of the first ones train, the others test.
           `SIZES` gives the number of repeats; each has its own score, which all methods and all n
           share. The method "data" gives the pairs and triples of levels in the test set that no
           training sample has.
  real     3 stratified halves to train and to test, the first ones of part III for its data sets.
           Digits: the four quarters of the image.
  tuning   18 points for every method: alpha, the weight of the penalty against the mean loss, and
           k, or the gamma of the Gaussian SVM; for SVMs and tensor machines C is 1/(2 alpha n). By
           the accuracy on one stratified third of the training set. Ties go to the smallest k,
           then the largest alpha. On planted scores k is their rank or its double, for all methods
           that have factors; a smaller k cannot express them, and wins on few samples by luck.
  starts   Non-convex methods (FM, FM27, FM-V, STM, MVM) keep the least training objective of
           `N_STARTS` random starts, on real data of `REAL_STARTS`. Tuning uses one start, or
           `TUNING_STARTS` if a method has factors and the score is planted.
  failed   the method warned that it collapsed or ended worse than with factors 0, or its accuracy
           on the test set is below the midpoint of the majority class's proportion and the best
           possible accuracy (0.95 where labels are flipped, else 1). So a method that cannot
           express the score fails, too.
  time     processor time of the last training, in one thread.

Methods
  Linear, RBF   linear SVM with squared hinge, and Gaussian SVM; concatenated views
  FM, FM27      factorisation machines of Eqs. (26) and (27)
  FM-V          the same with products of up to V features of different views. Products of features
                of one view, as in Eq. (26), would cost ten times as much or more
  STM           support tensor machine of rank one
  STM-product   support tensor machine with any tensor: an SVM with the product kernel
  MVM           multi-view machine, logistic loss, live start

Starts     ``start`` trains multi-view machines of `START_K` factors with alpha = `START_ALPHA` from
           5 random states: from the paper's start, for several sigma, and from the live one. On
           "planted-mixed", the problem of part IV's chapters (500 samples, one linear term and one
           pair, for any number of views), by the accuracy on the training samples; on
           "planted-full", where every repeat has a product of all V views of its own, by that on
           5000 others. Here the features keep their variance 1. ``collapsed``: all scores of the
           training samples are 0 to six digits.
"""

from functools import partial

import numpy as np

from mvref.datasets import make_interactions
from mvref.mvm import MVMClassifier
from mvref.mvm.machine import COLLAPSED

from .engine import Item, derive_seed
from .interactions import (
    FACTORISED,
    MEASURES,
    METHODS,
    N_TEST,
    OWN_MEASURES,
    PLANTED,
    build,
    planted,
    real,
    unseen,
)
from .mvpo import HALVES
from .tables import Cell, grid, jobs_of
from .tuning import Machine, Method, Split, tuned

REAL = ("mfeat", "digits", "webkb", "citeseer")
ALPHAS = tuple(10.0**-i for i in range(1, 7))
WIDTHS = (0.1, 0.01, 1.0, 1e-3, 10.0, 100.0)  # from the middle: narrow widths are often as accurate
GRIDS = {
    **dict.fromkeys(FACTORISED, grid(k=(1, 4, 16), alpha=ALPHAS)),
    "RBF": [{"gamma": g, "alpha": g * 10.0**r} for g in WIDTHS for r in (-2.0, -3.5, -5.0)],
    "STM": grid(alpha=[10 ** (-0.3 * i) for i in range(18)]),
    **dict.fromkeys(("Linear", "STM-product"), grid(alpha=[10 ** (-0.4 * i) for i in range(18)])),
}
RANK = 2  # of a planted score
BY_HALVES = tuple(10 ** -(1.5 + 0.5 * i) for i in range(9))
PLANTED_GRIDS = GRIDS | dict.fromkeys(FACTORISED, grid(k=(RANK, 2 * RANK), alpha=BY_HALVES))
WEAK = tuple(10.0**-i for i in range(3, 9))
STRONGER, WEAKER = ([10**shift * alpha for alpha in BY_HALVES] for shift in (1, -1))
OTHER_GRIDS = {  # where the common grid mostly selected its end points
    ("planted-linear", 250): dict.fromkeys(FACTORISED, grid(k=(RANK, 2 * RANK), alpha=STRONGER)),
    ("planted-pairwise", 4000): dict.fromkeys(FACTORISED, grid(k=(RANK, 2 * RANK), alpha=WEAKER)),
    ("onehot-full", 4000): {"STM": grid(alpha=[10 ** (-0.4 * i) for i in range(18)])},
    "mfeat": {
        **dict.fromkeys(FACTORISED, grid(k=(1, 4, 16), alpha=WEAK)),
        "STM": grid(alpha=[10 ** (-0.5 * i) for i in range(18)]),
    },
    "digits": dict.fromkeys(FACTORISED, grid(k=(1, 8, 64), alpha=WEAK)),
    "webkb": {"STM-product": grid(alpha=[10 ** (-0.5 * i) for i in range(18)])},
}
REAL_GRIDS = GRIDS | {"STM": grid(alpha=[10 ** (-0.25 * i) for i in range(18)])}  # to save time
SIZES = {250: 20, 1000: 20, 4000: 3}  # size of a training set -> number of repeats
N_REPEATS = 20
N_STARTS, TUNING_STARTS, REAL_STARTS, REAL_REPEATS = 12, 4, 4, 3
QUICK = slice(6, 9)  # slice of the points
START_K, START_ALPHA = 4, 1e-3
SIGMAS = (0.01, 0.05, 0.1, 0.5)
VIEWS = {"planted-mixed": (2, 3, 4, 5, 6, 7, 8), "planted-full": (2, 3, 4, 5, 6)}
START_SAMPLES = {"planted-mixed": (500, 0, "mixed"), "planted-full": (2000, N_TEST, "full")}
START_MEASURES = {
    "train_accuracy": lambda run: run.machine.model.score(run.machine.X, run.machine.y),
    "collapsed": lambda run: (
        np.abs(run.machine.model.decision_function(run.machine.X)).max() < COLLAPSED
    ),
    "n_iter": lambda run: run.machine.model.n_iter_,
    "objective": lambda run: run.machine.model.loss_curve_[-1],
}
DRAWN = tuple(dict.fromkeys([*VIEWS, *PLANTED]))  # simulated, so always available


def start(dataset, quick, rows):
    """Starts by number of views; quick: one repeat, two numbers of views, two sigma."""
    measures = (*START_MEASURES, *(["accuracy"] if dataset == "planted-full" else []))
    starts = [("live", {})] + [("paper", {"sigma": s}) for s in (SIGMAS[::2] if quick else SIGMAS)]
    cells = [
        Cell(init, {"V": V, **point}, measures, 1 if quick else N_REPEATS)
        for V in VIEWS[dataset][:: 3 if quick else 1]
        for init, point in starts
    ]
    return jobs_of(dataset, dataset, cells, from_start)


def from_start(name, init, *, measures, V, sigma=0.1, seed):
    """Train a multi-view machine of V views from a start; sigma: ``init_scale``, by default 0.1."""
    n, n_test, order = START_SAMPLES[name]
    rng = np.random.default_rng(2) if order == "mixed" else derive_seed(seed, "planted", V)
    data = make_interactions(n + n_test, V, order, random_state=rng)
    split = Split(data.X, data.y, np.arange(n), np.arange(n, n + n_test), [])

    def build_mvm(point, X, seed):
        options = {"alpha": START_ALPHA, "init": init, "init_scale": sigma}
        return MVMClassifier(START_K, **options, random_state=seed)

    run = tuned(split, Method(Machine, measures=measures, fixed={"build": build_mvm}), seed)
    return run.measure(measures, START_MEASURES)


def order(dataset, quick, rows):
    """Methods by number of training samples; quick: one repeat, 250 samples, small grids."""
    cells, factorised = [], []
    for n, n_repeats in list(SIZES.items())[: 1 if quick else None]:
        n_repeats = 1 if quick else n_repeats
        if dataset.startswith("onehot"):
            measures = ("unseen_pairs", "unseen_triples")
            cells.append(Cell("data", {"n_train": n}, measures, n_repeats))
        grids = PLANTED_GRIDS | OTHER_GRIDS.get((dataset, n), {})
        for method in METHODS:
            of = factorised if method in FACTORISED else cells
            of.append(cell(method, {"n_train": n}, n_repeats, quick, N_STARTS, grids))
    yield from jobs_of(dataset, dataset, cells, measured)
    yield from jobs_of(dataset, dataset, factorised, measured_by_starts)


def on_halves(dataset, quick, rows):
    """Methods on real data; quick: one repeat, small grids."""
    n_repeats = 1 if quick else REAL_REPEATS
    grids = REAL_GRIDS | OTHER_GRIDS.get(dataset, {})
    cells = [cell(m, {}, n_repeats, quick, REAL_STARTS, grids) for m in METHODS]
    return jobs_of(dataset, dataset, cells, measured)


def cell(method, point, n_repeats, quick, n_starts, grids):
    """Return the cell of a method; quick: few points and two starts."""
    points = grids[method][QUICK] if quick else grids[method]
    options = {"points": points, "n_starts": 2 if quick else n_starts}
    return Cell(method, point, (*MEASURES, *points[0]), n_repeats, options)


def measured(name, method, *, measures, points=(), n_starts=1, n_train=None, seed, **levels):
    """Tune and measure a method; "data", not a method, measures what the training set lacks."""
    split = planted(name, n_train, seed, **levels) if name in PLANTED else real(name, seed)
    if method == "data":
        return unseen(split)
    make = partial(build, method)
    options = {"build": partial(make, n_starts=n_starts)}, {"build": make}
    run = tuned(split, Method(Machine, points, measures, *options), seed)
    return run.measure(measures, OWN_MEASURES)


def measured_by_starts(name, method, *, measures, points, n_starts, n_train, seed, **levels):
    """Tune and measure as in `measured`, on a planted score, with several starts in tuning, too."""
    last = partial(build, method, n_starts=n_starts)
    tuning = partial(build, method, n_starts=min(n_starts, TUNING_STARTS))
    method = Method(Machine, points, measures, {"build": last}, {"build": tuning})
    return tuned(planted(name, n_train, seed, **levels), method, seed).measure(
        measures, OWN_MEASURES
    )


ITEMS = [
    Item("mvm", "start", "starts of multi-view machines by number of views", tuple(VIEWS), start),
    Item("mvm", "order", "methods by order of interaction and samples", tuple(PLANTED), order),
    Item("mvm", "real", "methods on real data sets", REAL, on_halves, seeds=HALVES),
]
