"""The methods of part IV's experiments and what is measured; the names are those of the ledger."""

from functools import partial

import numpy as np
from sklearn.metrics import f1_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC, LinearSVC

from mvref.core.measures import auroc, macro_average, one_vs_rest
from mvref.mvm import MVMClassifier
from mvref.rivals import Concat, FMClassifier, STMClassifier

METHODS = ("Linear", "RBF", "FM", "FM27", "FM-V", "STM", "STM-product", "MVM")
FACTORISED = ("FM", "FM27", "FM-V", "MVM")  # these have k factors
MEASURES = ("accuracy", "f1", "auroc", "failed", "warned", "fit_seconds", "validation")


def build(method, point, X, seed, n_starts=1):
    """Return a classifier, not fitted; alpha weighs the penalty against the mean loss.

    n_starts: of a method that is not convex; the end of least training objective is kept.
    """
    C = 1.0 / (2.0 * point["alpha"] * X.n_samples)  # weighs the sum of the losses
    if method == "Linear":
        return Concat(LinearSVC(C=C, max_iter=10_000), random_state=seed)
    if method == "RBF":
        kernel = partial(rbf_kernel, gamma=point["gamma"] / X.n_views)
        return Concat(OneVsRestClassifier(SVC(C=C, kernel=kernel)), random_state=seed)
    if method == "STM":
        return STMClassifier(C=C, n_init=n_starts, random_state=seed)
    if method == "STM-product":
        return STMClassifier("product", C=C)
    options = {"alpha": point["alpha"], "tol": 1e-5, "max_iter": 1000}
    options |= {"n_init": n_starts, "random_state": seed}
    if method == "MVM":
        return MVMClassifier(point["k"], **options)
    order = X.n_views if method == "FM-V" else 2
    return FMClassifier(point["k"], order=order, multiview=method != "FM", **options)


def mean_auroc(run):
    """AUROC, averaged over one class against the rest where there are more than two."""
    scores = run.machine.model.decision_function(run.features)
    Y = one_vs_rest(run.y_test)
    return auroc(Y[:, 1], scores) if scores.ndim == 1 else macro_average(auroc, Y, scores)


def has_failed(run):
    """Tell whether a training failed: it says so, or is nearer to chance than to the best."""
    told = any("collapsed" in m or "worse than with factors 0" in m for m in run.messages)
    chance = np.unique(run.y_test, return_counts=True)[1].max() / len(run.y_test)
    accuracy = np.mean(run.predicted == run.y_test)
    return told or accuracy < (chance + run.split.meta["best"]) / 2


OWN_MEASURES = {
    "f1": lambda run: f1_score(run.y_test, run.predicted, average="macro"),
    "auroc": mean_auroc,
    "failed": has_failed,
}
