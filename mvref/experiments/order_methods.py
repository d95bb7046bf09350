"""How part IV's experiments train, tune and measure; the names are those of the ledger."""

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score, f1_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC, LinearSVC

from ..core.measures import auroc, macro_average, one_vs_rest
from ..mvm import MVMClassifier
from ..rivals import Concat, FMClassifier, STMClassifier
from .engine import derive_seed

TOL, MAX_ITER = 1e-5, 1000  # of multi-view and factorisation machines: defaults of the former


# ---------------------------------------------------------------------------------- methods


@dataclass(frozen=True)
class Method:
    """How a method is made and what is tuned.

    make: ``make(shape, C, alpha, X, seed)`` returns the classifier; C = 1/(2 alpha n); shape: What
    is chosen beside alpha.
    """

    make: Callable
    shape: str | None = None


def linear(shape, C, alpha, X, seed):
    """Linear SVM, squared hinge, on all views side by side."""
    return Concat(LinearSVC(C=C, max_iter=10_000), random_state=seed)


def rbf(shape, C, alpha, X, seed):
    """SVM with the Gaussian kernel on all views side by side; gamma in units of 1/V."""
    kernel = partial(rbf_kernel, gamma=shape / X.n_views)
    return Concat(OneVsRestClassifier(SVC(C=C, kernel=kernel)), random_state=seed)


def fm(shape, C, alpha, X, seed, **options):
    """Factorisation machine: Eq. (26); Eq. (27); products of up to V views."""
    return FMClassifier(
        shape, alpha=alpha, tol=TOL, max_iter=MAX_ITER, random_state=seed, **options
    )


def fm_of_all_orders(shape, C, alpha, X, seed):
    """Eq. (27) with the products of 3, ..., V features of different views."""
    return fm(shape, C, alpha, X, seed, order=X.n_views, multiview=True)


def stm(shape, C, alpha, X, seed):
    """Support tensor machine of rank one, from one start."""
    return STMClassifier(C=C, n_restarts=1, random_state=seed)


def stm_product(shape, C, alpha, X, seed):
    """Support tensor machine with the tensor of any rank."""
    return STMClassifier("product", C=C)


def mvm(shape, C, alpha, X, seed):
    """Multi-view machine, logistic loss, from one live start."""
    return MVMClassifier(shape, alpha=alpha, tol=TOL, max_iter=MAX_ITER, random_state=seed)


METHODS = {
    "Linear": Method(linear),
    "RBF": Method(rbf, "gamma"),
    "FM": Method(fm, "k"),
    "FM27": Method(partial(fm, multiview=True), "k"),
    "FM-V": Method(fm_of_all_orders, "k"),
    "STM": Method(stm),
    "STM-product": Method(stm_product),
    "MVM": Method(mvm, "k"),
}


# --------------------------------------------------------------------- training and measuring


def train(method, shape, alpha, X, y, seed):
    """Fit a method.

    shape: k or gamma.
    """
    C = 1.0 / (2.0 * alpha * len(y))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = METHODS[method].make(shape, C, alpha, X, seed).fit(X, y)
    return model, [str(w.message) for w in caught if issubclass(w.category, ConvergenceWarning)]


def train_best(method, shape, alpha, X, y, seeds):
    """Fit a method from several starts and keep the one of least training objective.

    seeds: One per start; a single one is :func:`train`.
    """
    fits = [train(method, shape, alpha, X, y, seed) for seed in seeds]
    if len(fits) == 1:
        return fits[0]
    return min(fits, key=lambda fit: fit[0].loss_curve_[-1])


def choose(method, parts, shapes, alphas, seeds):
    """Choose parameters where the accuracy on ``parts.check`` is best, trained on ``parts.fit``.

    shapes: Of k or gamma; ``(None,)`` for a method without; seeds: Of the starts, see
    :func:`train_best`.
    """
    X, y = parts.X[parts.fit], parts.y[parts.fit]
    X_check, y_check = parts.X[parts.check], parts.y[parts.check]
    best = (None, None, -1.0)
    for shape in shapes:
        for alpha in sorted(alphas, reverse=True):
            model, _ = train_best(method, shape, alpha, X, y, seeds)
            value = accuracy_score(y_check, model.predict(X_check))
            if value > best[2]:
                best = (shape, alpha, value)
    return best


def measures_of(method):
    """Return what :func:`tuned` measures for a method.

    Examples
    --------
    >>> from mvref.experiments.order_methods import measures_of
    >>> measures_of("MVM")
    ('accuracy', 'f1', 'auroc', 'failed', 'warned', 'fit_seconds', 'validation', 'alpha', 'k')
    """
    shape = METHODS[method].shape
    measures = ("accuracy", "f1", "auroc", "failed", "warned", "fit_seconds", "validation", "alpha")
    return (*measures, shape) if shape else measures


def tuned(parts, method, *, shapes, alphas, seed, n_starts=1):
    """Tune a method inside the training part, train it on all of it, measure it on the test part.

    n_starts: Of every training, of two classes where there are more than one: see
    :func:`train_best`.
    """
    # The first start is the same for any number of starts.
    seeds = [derive_seed(seed, "start", *([i] if i else [])) for i in range(n_starts)]
    shape, alpha, value = choose(method, parts, shapes, alphas, seeds)
    X, y = parts.X[parts.train], parts.y[parts.train]
    start = time.process_time()
    model, messages = train_best(method, shape, alpha, X, y, seeds)
    seconds = time.process_time() - start
    X_test, y_test = parts.X[parts.test], parts.y[parts.test]
    predicted = model.predict(X_test)
    measures = {
        "accuracy": accuracy_score(y_test, predicted),
        "f1": f1_score(y_test, predicted, average="macro"),
        "auroc": mean_auroc(y_test, model.decision_function(X_test)),
        "failed": has_failed(y_test, predicted, parts.best, messages),
        "warned": bool(messages),
        "fit_seconds": seconds,
        "validation": value,
        "alpha": alpha,
        METHODS[method].shape: shape,
    }
    return {name: float(measures[name]) for name in measures_of(method)}


def mean_auroc(y, scores):
    """AUROC, averaged over one class against the rest where there are more than two.

    y (n,); scores (n,) for two classes, else (n, n_classes).
    """
    Y = one_vs_rest(y)
    return auroc(Y[:, 1], scores) if scores.ndim == 1 else macro_average(auroc, Y, scores)


def has_failed(y, predicted, best, messages):
    """Tell whether a training has failed.

    best: The best accuracy that can be expected; messages: Warnings.

    Examples
    --------
    >>> import numpy as np
    >>> from mvref.experiments.order_methods import has_failed
    >>> y = np.array([0, 0, 1, 1])
    >>> [has_failed(y, np.array(guess), 1.0, []) for guess in ([0, 0, 0, 1], [0, 0, 0, 0])]
    [False, True]
    """
    told = any("collapsed" in m or "worse than with factors 0" in m for m in messages)
    chance = np.unique(y, return_counts=True)[1].max() / len(y)
    return bool(told or accuracy_score(y, predicted) < (chance + best) / 2)
