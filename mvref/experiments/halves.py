"""The halves of MVPO's experiments, and the measures of scores on them."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy import sparse
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.preprocessing import StandardScaler

from ..core.measures import auroc, f_beta, macro_average, one_vs_rest, precision_recall_break_even
from ..core.per_view import PerView
from ..core.views import MultiView
from .engine import derive_seed
from .problems import load_dataset

N_FOLDS = 3


@dataclass(frozen=True, eq=False)
class Halves:
    """A data set cut into a training and a test half, its views scaled by the training half.

    Y (n, K): One column per class; y (n,); train, test: Rows; folds: Where parameters are chosen:
    stratified folds of `train`.
    """

    X: MultiView
    Y: np.ndarray
    y: np.ndarray
    train: np.ndarray
    test: np.ndarray
    folds: list


@lru_cache(maxsize=1)
def load_halves(name, seed):
    """Cut a data set into two random halves, stratified by class.

    Examples
    --------
    >>> from mvref.experiments.halves import load_halves
    >>> halves = load_halves("mfeat", 0)
    >>> len(halves.train), len(halves.test), [len(check) for _, check in halves.folds]
    (1000, 1000, [334, 333, 333])
    """
    data = load_dataset(name)
    train, test = train_test_split(
        np.arange(len(data.y)),
        test_size=0.5,
        stratify=data.y,
        random_state=derive_seed(seed, "split"),
    )
    cut = StratifiedKFold(N_FOLDS, shuffle=True, random_state=derive_seed(seed, "folds"))
    folds = [(train[fit], train[check]) for fit, check in cut.split(train, data.y[train])]
    X = scale_views(data.X, train)
    return Halves(X, one_vs_rest(data.y), data.y, train, test, folds)


def scale_views(X, train):
    """Scale the views by the training samples.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from mvref import MultiView
    >>> from mvref.experiments.halves import scale_views
    >>> X = MultiView([np.array([[1.0], [3.0], [9.0]]), sparse.csr_matrix([[2.0], [0], [4]])])
    >>> dense, rows = scale_views(X, np.array([0, 1])).views
    >>> dense.ravel(), rows.toarray().ravel().round(3)
    (array([-1.,  1.,  7.]), array([1.414, 0.   , 2.828]))
    """
    scalers = ["passthrough" if sparse.issparse(view) else StandardScaler() for view in X.views]
    X = PerView(scalers).fit(X[train]).transform(X)
    views = [
        view / np.sqrt(view[train].power(2).sum() / len(train)) if sparse.issparse(view) else view
        for view in X.views
    ]
    return MultiView(views, names=X.names)


def f1_of_scores(y, scores):
    """F1 of the rule score >= 0.

    y (n,); scores (n,).
    """
    return f_beta(y, scores >= 0)


MEASURES = {"f1": f1_of_scores, "prbep": precision_recall_break_even, "auroc": auroc}


def measure_all(Y, scores):
    """Return the three measures, averaged over the classes.

    Y (n, K); scores (n, K).

    Examples
    --------
    >>> import numpy as np
    >>> from mvref.experiments.halves import measure_all
    >>> measure_all(np.array([[True], [False], [False]]), np.array([[2.0], [1.0], [-1.0]]))
    {'f1': 0.666..., 'prbep': 1.0, 'auroc': 1.0}
    """
    return {name: macro_average(measure, Y, scores) for name, measure in MEASURES.items()}
