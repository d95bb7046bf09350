"""The halves of MVPO's experiments, and the measures of scores on them."""

from functools import lru_cache

import numpy as np
from scipy import sparse
from sklearn.preprocessing import StandardScaler

from mvref.compare.tuning import Split
from mvref.core.input import MultiView
from mvref.core.measures import (
    auroc,
    f_beta,
    macro_average,
    one_vs_rest,
    precision_recall_break_even,
)
from mvref.core.per_view import PerView

from .engine import derive_seed
from .problems import load_dataset
from .tables import stratified_folds, stratified_parts

N_FOLDS = 3


@lru_cache(maxsize=1)
def load_halves(name, seed):
    """Cut a data set into stratified halves, scaled by the first; ``meta["Y"]`` (n, K): classes."""
    data = load_dataset(name)
    train, test = stratified_parts(data.y, derive_seed(seed, "split"), test_size=0.5)
    folds = stratified_folds(data.y, train, N_FOLDS, derive_seed(seed, "folds"))
    return Split(scale_views(data.X, train), data.y, train, test, folds, {"Y": one_vs_rest(data.y)})


def scale_views(X, train):
    """Scale the views by the training samples."""
    scalers = ["passthrough" if sparse.issparse(view) else StandardScaler() for view in X.views]
    X = PerView(scalers).fit(X[train]).transform(X)
    views = [
        view / np.sqrt(view[train].power(2).sum() / len(train)) if sparse.issparse(view) else view
        for view in X.views
    ]
    return MultiView(views, names=X.names)


MEASURES = {
    "f1": lambda y, scores: f_beta(y, scores > 0),
    "prbep": precision_recall_break_even,
    "auroc": auroc,
}
TARGETS = tuple(MEASURES)


def measure_all(Y, scores):
    """Return the three measures, averaged over the classes: Y, scores (n, K)."""
    return {name: macro_average(measure, Y, scores) for name, measure in MEASURES.items()}


def quality(split, rows, scores):
    """Return the three as a quality of :mod:`.tuning`."""
    return np.array(list(measure_all(split.meta["Y"][rows], scores).values())), 1
