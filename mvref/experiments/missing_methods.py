"""How the methods are made, treated and tuned where views are missing; the names of the ledger.

:mod:`.missing_views` has the protocol and says what each method does by itself.
"""

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from ..mvl_svm import LandmarkProjection
from ..mvm import MVMClassifier
from ..mvna_kmhks import MVNAKMHKS
from ..mvpo import MVPO
from ..mwmvc2 import MwMvC2
from ..rivals import MVMV, SVM2K, CoLabeling, Concat, FMClassifier, Fusion, PerViewSVM
from .missing_treatments import TREATMENTS, fill_means, treat, view_means

N_LANDMARKS, MAX_ITER = 50, 200


@dataclass(frozen=True)
class Method:
    """How a method is made, what is tuned, and what it is combined with.

    make: ``make(value, X, seed)`` returns the classifier for the training samples X; tuned: Name of
    the parameter; grid: Its values, the strongest penalty first; treatments: The first one is the
    method's own, "mean" where it has none; needs_complete: Whether it cannot learn without a
    complete sample.
    """

    make: Callable
    tuned: str | None = None
    grid: tuple = (None,)
    treatments: tuple = TREATMENTS
    needs_complete: bool = False


def mvl_svm(C, X, seed):
    """MVL-SVM by the authors' linear path, with complete samples for landmarks."""
    L = min(N_LANDMARKS, int(X.observed.all(axis=1).sum()))
    projection = LandmarkProjection(L, gamma=1.0, random_state=seed)
    return make_pipeline(projection, LinearSVC(C=C, dual=False))


def mvm(alpha, X, seed):
    """Multi-view machine."""
    return MVMClassifier(4, alpha=alpha, max_iter=MAX_ITER, random_state=seed)


def fm(alpha, X, seed):
    """Factorisation machine, all pairs of features."""
    return FMClassifier(4, alpha=alpha, tol=1e-5, max_iter=MAX_ITER, random_state=seed)


def mvna(c, X, seed):
    """MVNA-KMHKS, half of the samples as components."""
    return MVNAKMHKS(n_components=0.5, gamma=1.0, c=c, random_state=seed)


def svm2k(C, X, seed):
    """SVM-2K for each pair of views."""
    return SVM2K(C, D=0.01, gamma=1.0, tol=1e-2, random_state=seed)


def log_reg(C, X, seed):
    """Logistic regression, views side by side."""
    return Concat(LogisticRegression(C=C, max_iter=1000))


GRID, ALPHAS = (0.1, 1.0, 10.0), (1e-1, 1e-2, 1e-3)
NO_DROP = tuple(t for t in TREATMENTS if t != "drop")  # Fusion needs two samples of each class
NO_MEAN = tuple(t for t in TREATMENTS if t != "mean")  # equal to "own" for FM and MVM
NO_OWN = tuple(t for t in TREATMENTS if t != "own")
METHODS = {
    "MVLSVM": Method(mvl_svm, "C", GRID, needs_complete=True),
    "PerViewSVM": Method(lambda C, X, seed: PerViewSVM(C, gamma=1.0), "C", GRID),
    "CoLabeling": Method(lambda C, X, seed: CoLabeling(C, gamma=1.0), "C", GRID),
    "SVM2K": Method(svm2k, "C", (0.1, 0.3, 1.0), ("own",)),
    "MwMvC2": Method(
        lambda _, X, seed: MwMvC2(random_state=seed),
        treatments=("own", "mean", "regression", "drop"),
    ),
    "MVPO": Method(
        lambda C2, X, seed: MVPO(C2=C2), "C2", (10.0, 100.0, 1000.0), ("own", "regression", "drop")
    ),
    "MVNA": Method(mvna, "c", (1.0, 0.1, 0.01)),
    "MVM": Method(mvm, "alpha", ALPHAS, ("own", "regression")),
    "FM": Method(fm, "alpha", ALPHAS, NO_MEAN),
    "MVMV": Method(lambda _, X, seed: MVMV(random_state=seed)),
    "Fusion": Method(lambda _, X, seed: Fusion(random_state=seed), treatments=NO_DROP),
    "Concat": Method(lambda _, X, seed: Concat(random_state=seed)),
    "LogReg": Method(log_reg, "C", (1.0, 10.0, 100.0), NO_OWN),
}


def own_treatment(method):
    """Return the treatment that a method has by itself; "mean" if none."""
    return METHODS[method].treatments[0]


def fit_treated(method, value, X, y, seed):
    """Fit a method on samples that are treated already.

    value: Of the parameter that is tuned.
    """
    spec = METHODS[method]
    if len(np.unique(y)) < 2 or (spec.needs_complete and not X.observed.all(axis=1).any()):
        return None
    if own_treatment(method) == "own":
        rest = lambda X: X  # noqa: E731
    else:
        rest = partial(fill_means, means=view_means(X))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # some grid points stop early
        model = spec.make(value, rest(X), seed).fit(rest(X), y)
    return lambda X: model.predict(rest(X))


def count_correct(sample, method, treatment, values, fit, check, seed):
    """Treat two parts, train on one with each value of the parameter, and predict the other.

    treatment: One of `TREATMENTS`; fit, check: Rows.
    """
    start = time.process_time()
    X, y, others = treat(treatment, sample.X[fit], sample.y[fit], sample.X[check])
    models = [fit_treated(method, value, X, y, seed) for value in values]
    seconds = time.process_time() - start
    labels, counts = np.unique(sample.y[sample.train], return_counts=True)
    commonest = labels[counts.argmax()]
    said = [commonest if predict is None else predict(others) for predict in models]
    return [int(np.sum(guess == sample.y[check])) for guess in said], seconds


def tuned_accuracy(sample, method, treatment, seed):
    """Tune a method with a treatment inside the training part, train it, and test it once.

    treatment: One of `TREATMENTS`.

    Examples
    --------
    >>> from mvref.experiments.missing_views import draw_sample, tuned_accuracy
    >>> sample = draw_sample("moons-disturbed", 0.2, n_train=60)
    >>> tuned_accuracy(sample, "PerViewSVM", "own", 0)["accuracy"] > 0.6
    True
    """
    spec, chosen = METHODS[method], {}
    value = spec.grid[0]
    if spec.tuned:
        correct = np.sum(
            [
                count_correct(sample, method, treatment, spec.grid, *fold, seed)[0]
                for fold in sample.folds
            ],
            axis=0,
        )
        value = spec.grid[int(correct.argmax())]
        n_checked = sum(len(check) for _, check in sample.folds)
        chosen = {"validation": correct.max() / n_checked, spec.tuned: value}
    (right,), seconds = count_correct(
        sample, method, treatment, [value], sample.train, sample.test, seed
    )
    return {"accuracy": right / len(sample.test), "fit_seconds": seconds, **chosen}


def measures_of(method):
    """Return the names of what :func:`tuned_accuracy` measures."""
    tuned = METHODS[method].tuned
    return ("accuracy", "fit_seconds") + (("validation", tuned) if tuned else ())
