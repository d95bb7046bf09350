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
           data: `REAL_K`): by the accuracy on one stratified third of the training part, after
           training on the rest; then training on all of it. Ties go to the smallest k, then the
           largest alpha. SVMs and tensor machines have the same grid, C = 1/(2 alpha n); the
           Gaussian SVM has `GAMMAS` in place of k. The test part is used once.
  starts   "order", "real": one random start per training, whatever it leads to; in a repeat it is
           the same for all parameters. "starts": MVM and the factorisation machine that has the
           planted terms, on the first `STARTS_REPEATS` one-hot problems of "order" of
           `STARTS_SIZE` samples, each training from `N_STARTS` starts, of which the one with the
           least training objective is kept (the first is that of "order"); `STARTS_K` and
           `STARTS_ALPHAS`, for both, leave out what neither of them chose there. A training has
           failed where the method warned that it collapsed or ended worse than with factors 0, or
           where its accuracy on the test part is below the middle between the share of the
           commonest class and the best possible (0.95 where labels are turned over, else 1). So a
           method that cannot express the score fails, too.
  time     processor time of the last training, in one thread.

Methods
  Linear        linear SVM, squared hinge, views side by side
  RBF           Gaussian SVM, views side by side
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

import warnings
from functools import partial

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..datasets import make_interactions
from ..mvm import MVMClassifier
from ..mvm.machine import COLLAPSED
from .engine import Item, Job, derive_seed
from .interactions import N_TEST, PLANTED, planted, real
from .interactions import unseen as unseen_levels
from .mvpo import SharedHalves
from .order_methods import METHODS, measures_of, tuned

REAL = ("mfeat", "digits", "webkb", "citeseer")
START_DATASETS = ("planted-mixed", "planted-full")
DRAWN = tuple(dict.fromkeys([*START_DATASETS, *PLANTED]))  # on every machine
ALPHAS = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1)
STM_ALPHAS = (1e-3, 1e-2, 1e-1)
K, REAL_K = (2, 4, 8, 16), (2, 8)
GAMMAS = (0.1, 0.5, 2.5)
SIZES = (250, 1000, 4000)
N_REPEATS = 5
SEVERAL_STARTS = {"onehot-full": ("MVM", "FM-V"), "onehot-pairwise": ("MVM", "FM27")}
N_STARTS = {"onehot-full": 12, "onehot-pairwise": 8}
STARTS_SIZE, STARTS_REPEATS = 1000, 4
STARTS_K, STARTS_ALPHAS = (2, 4, 8), (1e-5, 1e-4, 1e-3)
QUICK_ALPHAS, QUICK_K, QUICK_SIZE = (1e-3, 1e-2), (2,), 250
START_K, START_ALPHA = 4, 1e-3
SIGMAS = (0.01, 0.05, 0.1, 0.5)
START_VIEWS = {"planted-mixed": (2, 3, 4, 5, 6, 7, 8), "planted-full": (2, 3, 4, 5, 6)}
START_SIZE = {"planted-mixed": 500, "planted-full": 2000}
START_MEASURES = {
    "planted-mixed": ("train_accuracy", "collapsed", "n_iter", "objective"),
    "planted-full": ("train_accuracy", "accuracy", "collapsed", "n_iter", "objective"),
}


def start(dataset, quick, rows):
    """Yield the jobs of the starts: live, and the paper's for every sigma, by number of views.

    quick: One repeat, two numbers of views, two sigma.
    """
    starts = [("live", {})] + [("paper", {"sigma": s}) for s in (SIGMAS[::2] if quick else SIGMAS)]
    for repeat in range(1 if quick else N_REPEATS):
        for V in START_VIEWS[dataset][::3] if quick else START_VIEWS[dataset]:
            for init, point in starts:
                function = partial(from_start, dataset, init, n_views=V, **point)
                measures = START_MEASURES[dataset]
                yield Job(dataset, init, {"V": V, **point}, repeat, measures, function)


def from_start(name, init, *, n_views, sigma=0.1, seed):
    """Train a multi-view machine from a start.

    sigma: ``init_scale``; 0.1 is its default.
    """
    n = START_SIZE[name]
    if name == "planted-mixed":
        data = make_interactions(n, n_views, "mixed", random_state=np.random.default_rng(2))
    else:
        planted_seed = derive_seed(seed, "planted", n_views)
        data = make_interactions(n + N_TEST, n_views, "full", random_state=planted_seed)
    X = data.X  # features of variance 1, as they are
    model = MVMClassifier(
        START_K, alpha=START_ALPHA, init=init, init_scale=sigma,
        random_state=derive_seed(seed, "start"),
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # ``collapsed`` tells
        model.fit(X[:n], data.y[:n])
    scores = model.decision_function(X[:n])
    measures = {
        "train_accuracy": model.score(X[:n], data.y[:n]),
        "collapsed": np.abs(scores).max() < COLLAPSED,
        "n_iter": model.n_iter_,
        "objective": model.loss_curve_[-1],
    }
    if name == "planted-full":
        measures["accuracy"] = model.score(X[n:], data.y[n:])
    return {measure: float(value) for measure, value in measures.items()}


def order(dataset, quick, rows):
    """Yield the jobs of planted interactions: all methods by number of training samples.

    quick: One repeat, 250 samples, small grids.
    """
    for repeat in range(1 if quick else N_REPEATS):
        for n in (QUICK_SIZE,) if quick else SIZES:
            if dataset.startswith("onehot"):
                measures = ("unseen_pairs", "unseen_triples")
                function = partial(unseen_of_planted, dataset, n)
                yield Job(dataset, "data", {"n_train": n}, repeat, measures, function)
            for method in METHODS:
                grid = grids(method, K, quick)
                function = partial(on_planted, dataset, method, n, **grid)
                yield Job(dataset, method, {"n_train": n}, repeat, measures_of(method), function)


def on_planted(name, method, n_train, *, shapes, alphas, seed, n_starts=1):
    """Tune and measure a method on a planted problem, see :func:`order_methods.tuned`."""
    parts = planted(name, n_train, seed)
    return tuned(parts, method, shapes=shapes, alphas=alphas, seed=seed, n_starts=n_starts)


class ProblemsOfOrder(Item):
    """An item whose repeats have the seeds, and so the problems, of the item "order"."""

    def seed(self, dataset, repeat):
        """Seed of all rows of a repeat, that of "order"."""
        return derive_seed("order", dataset, repeat)


def starts(dataset, quick, rows):
    """Yield the jobs of several starts: MVM and its nearest rival.

    quick: One repeat, 250 samples, two starts, small grids.
    """
    n, n_starts = (QUICK_SIZE, 2) if quick else (STARTS_SIZE, N_STARTS[dataset])
    for repeat in range(1 if quick else STARTS_REPEATS):
        for method in SEVERAL_STARTS[dataset]:
            grid = grids(method, STARTS_K, quick, STARTS_ALPHAS)
            function = partial(on_planted, dataset, method, n, n_starts=n_starts, **grid)
            point = {"n_train": n, "n_starts": n_starts}
            yield Job(dataset, method, point, repeat, measures_of(method), function)


def unseen_of_planted(name, n_train, *, seed):
    """Return the shares of pairs and triples of levels that no training sample has."""
    return unseen_levels(planted(name, n_train, seed))


def on_halves(dataset, quick, rows):
    """Yield the jobs of the real data sets: all methods.

    quick: One repeat, small grids.
    """
    for repeat in range(1 if quick else N_REPEATS):
        for method in METHODS:
            grid = grids(method, REAL_K, quick, STM_ALPHAS if method == "STM" else ALPHAS)
            function = partial(on_real, dataset, method, **grid)
            yield Job(dataset, method, {}, repeat, measures_of(method), function)


def on_real(name, method, *, shapes, alphas, seed):
    """Tune and measure a method on halves of real data, see :func:`order_methods.tuned`."""
    return tuned(real(name, seed), method, shapes=shapes, alphas=alphas, seed=seed)


def grids(method, ks, quick, alphas=ALPHAS):
    """Return the grids of a method."""
    shapes = {"k": QUICK_K if quick else ks, "gamma": GAMMAS[1:2] if quick else GAMMAS}
    return {
        "shapes": shapes.get(METHODS[method].shape, (None,)),
        "alphas": QUICK_ALPHAS if quick else alphas,
    }


ITEMS = [
    Item("mvm", "start", "starts of multi-view machines by number of views", START_DATASETS, start),
    Item("mvm", "order", "methods by order of interaction and samples", tuple(PLANTED), order),
    ProblemsOfOrder("mvm", "starts", "the best of several starts", tuple(N_STARTS), starts),
    SharedHalves("mvm", "real", "methods on real data sets", REAL, on_halves),
]
