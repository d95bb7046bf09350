"""MVMLsp as a rival of MwMvC2: its kernels, and how its two weights are chosen.

The paper says that it kept the experimental setup of MVML's own paper, with a Nystroem share of
0.24, and nothing on kernels or weights. The MVL-SVM paper, which kept it too, quotes the grids:
lam in 10^-8 .. 10, eta in 10^-3 .. 10^2. A part of these grids is searched here, by three folds
of the sample that a task is learnt from.
"""

from functools import partial

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances

from ..rivals import MVML
from .tuning import Machine, Method, Split, grid, stratified_folds, tuned

GRID = {"eta": (1e-3, 1.0), "lam": (10.0, 1e-1, 1e-3, 1e-5)}  # ties go to the first
N_FOLDS = 3
NYSTROM_SHARE = 0.24


def fit_metric(X, y, *, width="distance", random_state, **options):
    """Fit MVMLsp; what the options do not fix is chosen by cross-validation on the sample.

    random_state: of the folds and of the components.
    """
    options = {"n_components": NYSTROM_SHARE, "gamma": WIDTHS[width](X)} | options

    def build(point, X, seed):
        return MVML(sparse=True, random_state=seed, **options, **point)

    rows = np.arange(len(y))
    split = Split(X, y, rows, rows[:0], stratified_folds(y, rows, N_FOLDS, random_state))
    points = grid(**{name: values for name, values in GRID.items() if name not in options})
    method = Method(partial(Machine, build=build), points)
    return tuned(split, method, random_state, mean_accuracy).machine.model


def mean_accuracy(split, rows, predicted):
    """Quality of labels of which every fold counts alike, whatever its size."""
    return np.mean(predicted == split.y[rows]), 1


def inverse_distances(X):
    """Return one over the mean squared distance between the samples, view by view."""
    return [float(1.0 / euclidean_distances(view, squared=True).mean()) for view in X.views]


WIDTHS = {"distance": inverse_distances, "features": lambda X: None}  # gamma of the kernels
