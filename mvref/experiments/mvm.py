"""The comparison that the paper of multi-view machines announces and does not make.

Cao, Zhou and Yu, "Multi-view Machines", arXiv 1506.01110, 2015, have no experiments: section 5
compares in words. The protocol is ours, and nothing in it is compared with a printed number.

Protocol
  views    rows of mean squared norm 1 in every view: features of variance 1 are divided by the root
           of their number, one-hot rows have that norm, and rows of text are scaled as in
           :mod:`mvref.experiments.halves`, by the training half. All methods get the same views.
  planted  3 views of 5 normal features, or of 40 levels (the commonest pair of levels twice as
           frequent as the next); labels are the sign of a planted score of two factors, 5 % of
           them turned over (:func:`mvref.datasets.make_interactions`). Of one planted score
           `N_POOL` + `N_TEST` samples are drawn; n of the first ones train, the others test. 5
           repeats, each with its own score, which all methods and all n share. The method "data"
           tells how many pairs and triples of levels in the test part no training sample has.
  real     5 stratified halves to train and to test, where part III has the data set its first ones.
           Digits: the four quarters of the image.
  tuning   alpha, the weight of the penalty against the mean loss, in `ALPHAS`, and k in `K` (real
           data: `REAL_K`): by the accuracy on one stratified third of the training part. Ties go to
           the smallest k, then the largest alpha. SVMs and tensor machines have the same grid,
           C = 1/(2 alpha n); the Gaussian SVM has `GAMMAS` in place of k.
  starts   "order", "real": one random start per training, whatever it leads to; in a repeat it is
           the same for all parameters. "starts": MVM and the factorisation machine that has the
           planted terms, on the first one-hot problems of "order" of `STARTS_SIZE` samples, each
           training from `N_STARTS` starts, of which the one with the least training objective is
           kept (the first is that of "order"); `STARTS_K` and `STARTS_ALPHAS`, for both, leave out
           what neither of them chose there.
  failed   the method warned that it collapsed or ended worse than with factors 0, or its accuracy
           on the test part is below the middle between the share of the commonest class and the
           best possible (0.95 where labels are turned over, else 1). So a method that cannot
           express the score fails, too.
  time     processor time of the last training, in one thread.

Methods
  Linear, RBF   linear SVM with squared hinge, and Gaussian SVM; views side by side
  FM, FM27      factorisation machines of Eqs. (26) and (27)
  FM-V          the same with products of up to V features of different views. Products of features
                of one view, as in Eq. (26), would cost ten times as much or more
  STM           support tensor machine of rank one. On real data it has `STM_ALPHAS`: with 1e-5 one
                training on the digits took more than a minute
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

from ..datasets import make_interactions
from ..mvm import MVMClassifier
from ..mvm.machine import COLLAPSED
from .engine import Item, derive_seed
from .interactions import N_TEST, PLANTED, planted, real, unseen
from .mvpo import HALVES
from .order_methods import FACTORISED, MEASURES, METHODS, OWN_MEASURES, FromStarts, build
from .tables import Cell, jobs_of
from .tuning import Method, Split, grid, tuned

REAL = ("mfeat", "digits", "webkb", "citeseer")
ALPHAS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)
STM_ALPHAS = (1e-1, 1e-2, 1e-3)
K, REAL_K = (2, 4, 8, 16), (2, 8)
GAMMAS = (0.1, 0.5, 2.5)
SIZES = (250, 1000, 4000)
N_REPEATS = 5
SEVERAL_STARTS = {"onehot-full": ("MVM", "FM-V"), "onehot-pairwise": ("MVM", "FM27")}
N_STARTS = {"onehot-full": 12, "onehot-pairwise": 8}
STARTS_SIZE, STARTS_REPEATS = 1000, 4
STARTS_K, STARTS_ALPHAS = (2, 4, 8), (1e-3, 1e-4, 1e-5)
QUICK_ALPHAS, QUICK_K, QUICK_SIZE = (1e-2, 1e-3), (2,), 250
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
DRAWN = tuple(dict.fromkeys([*VIEWS, *PLANTED]))  # on every machine


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

    run = tuned(split, Method(FromStarts, measures=measures, fixed={"build": build_mvm}), seed)
    return run.measure(measures, START_MEASURES)


def order(dataset, quick, rows):
    """Methods by number of training samples; quick: one repeat, 250 samples, small grids."""
    cells, n_repeats = [], 1 if quick else N_REPEATS
    for n in (QUICK_SIZE,) if quick else SIZES:
        if dataset.startswith("onehot"):
            measures = ("unseen_pairs", "unseen_triples")
            cells.append(Cell("data", {"n_train": n}, measures, n_repeats))
        cells += [cell(method, {"n_train": n}, n_repeats, quick) for method in METHODS]
    return jobs_of(dataset, dataset, cells, measured)


def starts(dataset, quick, rows):
    """MVM and its nearest rival; quick: one repeat, 250 samples, two starts, small grids."""
    n, n_starts = (QUICK_SIZE, 2) if quick else (STARTS_SIZE, N_STARTS[dataset])
    point, n_repeats = {"n_train": n, "n_starts": n_starts}, 1 if quick else STARTS_REPEATS
    cells = [
        cell(method, point, n_repeats, quick, STARTS_K, STARTS_ALPHAS)
        for method in SEVERAL_STARTS[dataset]
    ]
    return jobs_of(dataset, dataset, cells, measured)


def on_halves(dataset, quick, rows):
    """Methods on real data; quick: one repeat, small grids."""
    alphas = dict.fromkeys(METHODS, ALPHAS) | {"STM": STM_ALPHAS}
    n_repeats = 1 if quick else N_REPEATS
    cells = [cell(method, {}, n_repeats, quick, REAL_K, alphas[method]) for method in METHODS]
    return jobs_of(dataset, dataset, cells, measured)


def cell(method, point, n_repeats, quick, ks=K, alphas=ALPHAS):
    """Return the cell of a method; of equals it chooses the smallest k, then the largest alpha."""
    shape = {}
    if method in FACTORISED:
        shape = {"k": QUICK_K if quick else ks}
    elif method == "RBF":
        shape = {"gamma": GAMMAS[1:2] if quick else GAMMAS}
    points = grid(**shape, alpha=QUICK_ALPHAS if quick else alphas)
    return Cell(method, point, (*MEASURES, *points[0]), n_repeats, {"points": points})


def measured(name, method, *, measures, points=(), n_train=None, n_starts=1, seed):
    """Tune and measure a method; "data" is none, and tells what the training part lacks."""
    split = planted(name, n_train, seed) if name in PLANTED else real(name, seed)
    if method == "data":
        return unseen(split)
    options = {"build": partial(build, method), "n_starts": n_starts}
    run = tuned(split, Method(FromStarts, points, measures, options), seed)
    return run.measure(measures, OWN_MEASURES)


ITEMS = [
    Item("mvm", "start", "starts of multi-view machines by number of views", tuple(VIEWS), start),
    Item("mvm", "order", "methods by order of interaction and samples", tuple(PLANTED), order),
    Item("mvm", "starts", "the best of several starts", tuple(N_STARTS), starts, seeds="order"),
    Item("mvm", "real", "methods on real data sets", REAL, on_halves, seeds=HALVES),
]
