"""The binary tasks of MwMvC2's experiments, and the training and scoring of methods on them.

A repeat has one seed, and all methods of a repeat have the same split, the same training samples
and the same test samples. Each class in turn is the positive one; a score is the mean over the
classes.
"""

from collections import namedtuple
from functools import partial
from operator import itemgetter

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, f1_score
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.tree import DecisionTreeClassifier

from mvref import all_methods
from mvref.core.voters import cast_votes
from mvref.mwmvc2 import MwMvC2
from mvref.mwmvc2.weights import reweigh
from mvref.rivals import MVML

from .engine import derive_seed
from .problems import load_dataset
from .tables import grid, stratified_folds
from .tuning import Machine, Method, Split, tuned

N_TEST_MNIST = 10_000  # of every data set whose name begins with "mnist"
TEST_SHARE = 0.3  # of the other data sets
MIN_PER_CLASS = 2  # with fewer samples of a class no model is trained
ROUNDING = 1e-9  # smaller increases of a loss are rounding errors
SAMPLINGS = ("balanced", "cut", "natural")
METRIC_GRID = {"eta": (1e-3, 1.0), "lam": (10.0, 1e-1, 1e-3, 1e-5)}  # ties go to the first
N_FOLDS = 3
NYSTROM_SHARE = 0.24

# One class, k, against the rest: rows of the data set, and whether they are of class k.
Task = namedtuple("Task", "k train test y_train y_test")


def split(name, n_samples, seed):
    """Return the rows of a training pool and of a test set, drawn without stratification."""
    n_test = N_TEST_MNIST if name.startswith("mnist") else round(TEST_SHARE * n_samples)
    order = np.random.RandomState(derive_seed(seed, "split")).permutation(n_samples)
    return order[n_test:], order[:n_test]


def draw_sample(positive, m, sampling, rng):
    """Draw the training samples of a class.

    positive (n_pool,): which samples of the pool are of the class; sampling: "balanced": m/2 of the
    class and m/2 of the rest, or as many of each as the smaller of them has. "natural": m of the
    pool. "cut": the same, then only as many of the rest are kept as there are of the class.
    """
    order = rng.permutation(len(positive))
    if sampling != "balanced":
        order = order[:m]
    of_class, of_rest = order[positive[order]], order[~positive[order]]
    if sampling == "natural":
        return order
    size = min(len(of_class), len(of_rest), m // 2 if sampling == "balanced" else m)
    return rng.permutation(np.concatenate([of_class[:size], of_rest[:size]]))


def tasks(name, m, sampling, seed):
    """Return the tasks of a repeat, one per class."""
    y = load_dataset(name).y
    pool, test = split(name, len(y), seed)
    drawn = []
    for k in np.unique(y):
        rng = np.random.RandomState(derive_seed(seed, "sample", k))
        train = pool[draw_sample(y[pool] == k, m, sampling, rng)]
        drawn.append(Task(k, train, test, y[train] == k, y[test] == k))
    return drawn


def score(name, method, *, measures, m, sampling="balanced", shift=None, seed, **options):
    """Train a method on every task of a repeat and score it on the test samples.

    method: name of a class of mvref, or of a variant: a key of `VARIANTS` or `PER_VIEW`; measures:
    "accuracy", "f1" (0 without positive predictions); for MwMvC2 also "raised", 1 where the last
    update raised the loss, and "largest_rho", the largest view weight; shift: part of `name`.
    """
    X = load_dataset(name).X
    drawn = tasks(name, m, sampling, seed)
    X_test = X[drawn[0].test]
    of_classes = [
        _score_task(method, task, X[task.train], X_test, derive_seed(seed, "fit", task.k), options)
        for task in drawn
    ]
    return {key: np.mean([scores[key] for scores in of_classes]) for key in measures}


def _score_task(method, task, X, X_test, seed, options):
    """Return the scores of a method on one task."""
    n_of_class, n_of_rest = np.sum(task.y_train), np.sum(~task.y_train)
    if min(n_of_class, n_of_rest) < MIN_PER_CLASS:
        return _scores(task.y_test, np.full(len(task.test), n_of_class > n_of_rest))
    if method in PER_VIEW:
        of_views = []
        for v in range(X.n_views):
            model = fit("Concat", X.select([v]), task.y_train, seed)
            of_views.append(_scores(task.y_test, model.predict(X_test.select([v]))))
        return PER_VIEW[method](of_views)
    model = fit(method, X, task.y_train, seed, **options)
    return _scores(task.y_test, model.predict(X_test)) | _watched(model)


def _scores(y, predicted):
    return {
        "accuracy": accuracy_score(y, predicted),
        "f1": f1_score(y, predicted, zero_division=0.0),
    }


def _watched(model):
    """Return measures of the weights of MwMvC2."""
    if not isinstance(model, MwMvC2):
        return {}
    last_step = np.diff(model.loss_curve_)[-1:].sum()
    return {"raised": last_step > ROUNDING, "largest_rho": model.rho_.max()}


def fit(method, X, y, seed, **options):
    """Train a class of mvref, or a key of `VARIANTS` or `OWN_FITS`.

    **options: parameters of the class, or one of its models by name: a key of `CHOICES`.
    """
    options, base = VARIANTS.get(method, {}) | options, method.split("-")[0]
    if own_fit := OWN_FITS.get(method) or OWN_FITS.get(base):
        return own_fit(X, y, random_state=seed, **options)
    for choice, (parameter, models) in CHOICES.items():
        if choice in options:
            options[parameter] = models[options.pop(choice)]
    return all_methods()[base](random_state=seed, **options).fit(X, y)


def fit_uniform(X, y, *, max_iter, **options):
    """Fit MwMvC2 with printed updates of pi, but without step 10: the views have equal weights."""
    model = MwMvC2(max_iter=0, **options).fit(X, y)
    sign = np.where(y == model.classes_[1], 1.0, -1.0)[:, None]
    seen = np.ones((len(X), X.n_views))
    pools = zip(model.voters_, X.views, strict=True)
    Ms = [sign * cast_votes(pool, view, seen[:, 0] > 0) for pool, view in pools]
    for _ in range(max_iter):
        z = sum(M @ pi for M, pi in zip(Ms, model.pi_, strict=True)) / X.n_views
        deltas, *_ = reweigh(Ms, seen, z, 1.0 / (1.0 + 1.0 / len(X)))  # smoothing="auto"
        model.pi_ = [pi + delta for pi, delta in zip(model.pi_, deltas, strict=True)]
    return model


def fit_metric(X, y, *, width="distance", random_state, **options):
    """Fit MVMLsp; parameters not fixed by the options are selected on three folds of the sample.

    The paper kept the setup of MVML's own paper and does not state kernels or weights. The MVL-SVM
    paper kept it, too, and quotes lam in 10^-8 .. 10, eta in 10^-3 .. 10^2: we search a part of it.
    """
    options = {"n_components": NYSTROM_SHARE, "gamma": WIDTHS[width](X)} | options

    def build(point, X, seed):
        return MVML(sparse=True, random_state=seed, **options, **point)

    rows = np.arange(len(y))
    sample = Split(X, y, rows, rows[:0], stratified_folds(y, rows, N_FOLDS, random_state))
    points = grid(**{name: values for name, values in METRIC_GRID.items() if name not in options})
    method = Method(partial(Machine, build=build), points)
    return tuned(sample, method, random_state, mean_accuracy).machine.model


def mean_accuracy(split, rows, predicted):
    """Return the quality of labels with equal weights of the folds, whatever their sizes."""
    return np.mean(predicted == split.y[rows]), 1


def inverse_distances(X):
    """Return one over the mean squared distance between the samples, view by view."""
    return [float(1.0 / euclidean_distances(view, squared=True).mean()) for view in X.views]


WIDTHS = {"distance": inverse_distances, "features": lambda X: None}  # gamma of the kernels


FINAL_MODELS = {"tree": None, "logistic regression": LogisticRegression()}  # of Fusion
DEPTHS = {"1": 1, "2": 2, "3": 3, "full": None}  # of the trees that are boosted
CHOICES = {
    "final": ("final_estimator", FINAL_MODELS),
    "depth": ("estimator", {d: DecisionTreeClassifier(max_depth=k) for d, k in DEPTHS.items()}),
}
VARIANTS = {
    "MwMvC2-paper": {"update": "paper"},
    "MwMvC2-random": {"voters": "random_trees"},
    "MVMLsp-weak": {"lam": 1e-5, "eta": 1e-3},
    "MVWAB": {"n_estimators": 100},
    "MVWAB-stumps": {"depth": "1", "n_estimators": 100},
    "RBoostSH-full": {"depth": "full"},
}
OWN_FITS = {"MwMvC2-uniform": fit_uniform, "MVMLsp": fit_metric}
PER_VIEW = {  # how scores of all views are combined; the oracle knows the test scores
    "Mono-oracle": lambda scores: max(scores, key=itemgetter("accuracy")),
    "Mono-mean": lambda scores: {key: np.mean([of[key] for of in scores]) for key in scores[0]},
}
