"""Methods of part V's experiments and their tuning; :mod:`.mvna_kmhks` has the protocol."""

import time
import warnings

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from ..core.nystrom import nystrom_map
from ..mvna_kmhks import KMHKS, MVNAKMHKS, NAKMHKS
from ..theory.rademacher import kernel_alignment
from .engine import derive_seed
from .nystrom_parts import mean_distances

SHARE = 0.5  # m/n
CHOSEN = ("width", "c", "coupling")
ALIGNMENTS = ("alignment", "alignment_centred")
PRINTED = {"solver": "paper", "decision": "printed"}


def build(method, distances, point, seed, n_components=SHARE, **options):
    """Return a classifier that is not fitted.

    point: ``width``, ``c``, and ``coupling`` for MVNA. exp(-|x - x'|^2 / (2 s^2)) has s = width
    times the mean distance; seed: Draws the components: NA has those of the first view of MVNA,
    NA-average those of both; **options: Of the class.

    Examples
    --------
    >>> from mvref.experiments.nystrom_methods import build
    >>> build("SVM", [2.0], {"width": 0.5, "c": 0.05}, 0)
    SVC(C=10.0, gamma=0.5)
    """
    if method == "Majority":
        return DummyClassifier()
    gammas = [0.5 / (point["width"] * distance) ** 2 for distance in distances]
    if method == "SVM":
        return SVC(C=0.5 / point["c"], gamma=gammas[0])
    options = {"gamma": gammas, "c": point["c"]} | options
    if method == "KMHKS":
        return KMHKS(**options)
    options |= {"n_components": n_components, "random_state": derive_seed(seed, "components")}
    if method == "NA":
        return NAKMHKS(**options)
    options |= PRINTED if method == "MVNA-printed" else {}
    return MVNAKMHKS(coupling=point.get("coupling", 0.0), **options)


def fitted(model, X, y):
    """Fit, and tell whether the method warned that it stopped early."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        model.fit(_input(model, X), y)
    return model, any(issubclass(w.category, ConvergenceWarning) for w in caught)


def n_errors(model, X, y):
    """Count the errors of a fitted classifier."""
    return int(wrong(model, X, y).sum())


def wrong(model, X, y):
    """Tell which samples a fitted classifier gets wrong."""
    return model.predict(_input(model, X)) != y


def _input(model, X):
    return X.views[0] if isinstance(model, SVC | DummyClassifier) else X


def grid(method, widths, cs, couplings):
    """Return the parameter points of a method, the smoothest and stiffest first.

    Examples
    --------
    >>> from mvref.experiments.nystrom_methods import grid
    >>> grid("NA", (1, 4), (0.1,), (1,))
    [{'width': 4, 'c': 0.1}, {'width': 1, 'c': 0.1}]
    """
    if method == "Majority":
        return [{}]
    points = [
        {"width": width, "c": c}
        for width in sorted(widths, reverse=True)
        for c in sorted(cs, reverse=True)
    ]
    if not method.startswith("MVNA"):
        return points
    return [p | {"coupling": a} for p in points for a in sorted(couplings, reverse=True)]


def tuned(parts, method, points, n_components, seed):
    """Choose the parameters within the training part, train on all of it, and test once.

    points: Of equally good ones the first is taken.
    """
    X, y = parts.X, parts.y
    distances = mean_distances(X, parts.train)

    def errors_within(point):
        errors = 0
        for fit, check in parts.folds:
            model = build(method, distances, point, seed, n_components)
            errors += n_errors(fitted(model, X[fit], y[fit])[0], X[check], y[check])
        return errors

    errors = [errors_within(point) for point in points]
    point = points[int(np.argmin(errors))]
    start = time.process_time()
    model = build(method, distances, point, seed, n_components)
    model, warned = fitted(model, X[parts.train], y[parts.train])
    seconds = time.process_time() - start
    n_checked = sum(len(check) for _, check in parts.folds)
    wrong = n_errors(model, X[parts.test], y[parts.test])
    measures = {
        "accuracy": 1.0 - wrong / len(parts.test),
        "errors": wrong,
        "validation": 1.0 - min(errors) / n_checked,
        "train_seconds": seconds,
        "warned": warned,
        "n_train": len(parts.train),
        "n_test": len(parts.test),
        **point,
    }
    if method == "MVNA":
        measures |= alignments(model, X[parts.train])
    return {measure: float(value) for measure, value in measures.items()}


def measures_of(method):
    """Return the names of what :func:`tuned` measures."""
    names = ("accuracy", "errors", "validation", "train_seconds", "warned", "n_train", "n_test")
    if method == "Majority":
        return names
    names += CHOSEN if method.startswith("MVNA") else CHOSEN[:2]
    return names + (ALIGNMENTS if method == "MVNA" else ())


def alignments(model, X):
    """Return the kernel alignment of the two approximations, Eq. (21), and the centred one.

    model: Fitted, with M = 2, ``kernel="rbf"`` and a list of `gamma`; X: Its training samples.
    """
    F = []
    for v, S in zip(model.sources_, model.components_, strict=True):
        gamma = model.gamma[v]
        F.append(rbf_kernel(X.views[v], S, gamma) @ nystrom_map(rbf_kernel(S, S, gamma)))
    return {
        "alignment": kernel_alignment(*F, factor=True),
        "alignment_centred": kernel_alignment(*F, factor=True, center=True),
    }
