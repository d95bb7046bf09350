"""Does MVPO's consistency term handle noise? A claim of its abstract without an experiment.

Noise      "rows": (sample, view) pairs are drawn with a given probability, and the drawn rows of a
           view are permuted, separately for training and test samples. "gaussian": normal noise
           with this standard deviation is added to dense columns, whose scale is 1. "labels": this
           fraction of the training samples, folds included, gets another class; test labels do not.
Methods    MVPO at all of `CONSISTENT` and `N_COSTS` values of C2; MVPO-C1=0 and LinearSVC at
           equally many C2, to distinguish agreement from shrinkage. All are tuned for F1.
"""

from dataclasses import replace

import numpy as np

from mvref.core.input import MultiView
from mvref.core.measures import one_vs_rest

from .engine import Item, derive_seed
from .mvpo import HALVES
from .problems import load_halves
from .ranking import METHODS, measure_all, quality
from .tables import Cell, grid, jobs_of
from .tuning import train, validate

VIEWS, LABELS = (("none", 0.0), ("rows", 0.2), ("rows", 0.4)), (("labels", 0.05), ("labels", 0.2))
DENSE = (*VIEWS, ("gaussian", 2.0), *LABELS)
NOISE = {"mfeat": DENSE, "digits": DENSE, "webkb": (*VIEWS, *LABELS)}
CONSISTENT = (0.1, 1.0, 10.0, 100.0)
# Powers of ten: end points of C2 for MVPO with and without consistency, and for LinearSVC.
COSTS = {"mfeat": (1, 4), "digits": (1, 3), "webkb": (2, 6)}
COSTS_OF_SVM = {"mfeat": (-3, 1), "digits": (-3, 2), "webkb": (1, 5)}
N_COSTS, REPEATS = 4, {"mfeat": 3, "digits": 3, "webkb": 10}


def noise(dataset, quick, rows):
    """Return jobs of the methods under every noise; quick: one repeat of the first, two points."""
    cells = [
        Cell(method, {"noise": kind, "share": share}, ("f1", "validation", "C1", "C2"),
             1 if quick else REPEATS[dataset], {"n_costs": 1 if quick else N_COSTS})
        for kind, share in NOISE[dataset][: 1 if quick else None]
        for method in ("MVPO", "MVPO-C1=0", "LinearSVC")
    ]  # fmt: skip
    return jobs_of(dataset, dataset, cells, on_noise)


def on_noise(name, method, *, measures, noise, share, n_costs, seed):
    """Tune a method on the folds of a noisy training half, and test it on the other half."""
    split = with_noise(load_halves(name, seed), noise, share, derive_seed(seed, noise, share))
    strengths = CONSISTENT if method == "MVPO" else (0.0,)
    n_values = n_costs * len(CONSISTENT) // len(strengths)
    ends = (COSTS_OF_SVM if method == "LinearSVC" else COSTS)[name]
    points = grid(C1=strengths, C2=np.logspace(*ends, n_values))
    how = replace(METHODS[method], points=points, fixed={"target": "f1"})
    values = validate(split, how, seed, quality)[:, 0]
    run = train(split, how, int(values.argmax()), seed)
    found = measure_all(split.meta["Y"][split.test], run.predicted)
    found |= run.point | {"validation": values.max()}
    return {measure: found[measure] for measure in measures}


def with_noise(split, noise, share, seed):
    """Add noise to the views of all samples, or to the labels of the training samples."""
    rng, n = np.random.default_rng(seed), len(split.y)
    X, y = list(split.X.views), split.y.copy()
    if noise == "rows":
        for v, view in enumerate(X):
            order = np.arange(n)
            for half in (split.train, split.test):
                drawn = half[rng.random(len(half)) < share]
                order[drawn] = rng.permutation(drawn)
            X[v] = view[order]
    elif noise == "gaussian":
        X = [view + share * rng.normal(size=view.shape) for view in X]
    elif noise == "labels":
        classes, codes = np.unique(y, return_inverse=True)
        wrong = split.train[rng.random(len(split.train)) < share]
        others = rng.integers(1, len(classes), size=len(wrong))
        y[wrong] = classes[(codes[wrong] + others) % len(classes)]
    return replace(split, X=MultiView(X, names=split.X.names), y=y, meta={"Y": one_vs_rest(y)})


ITEMS = [
    Item("mvpo", "noise", "F1 with and without consistency where views or labels are noisy",
         tuple(NOISE), noise, seeds=HALVES),
]  # fmt: skip
