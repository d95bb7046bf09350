"""Part IV's experiments: planted interactions, halves of real data, methods, and measures.

Parameters are selected on one third of the training set. ``meta["best"]`` of a split is the largest
expected accuracy of any rule.
"""

from functools import lru_cache, partial

import numpy as np
from scipy import sparse
from sklearn.metrics import f1_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC, LinearSVC

from mvref.core.input import MultiView
from mvref.core.measures import auroc, macro_average, one_vs_rest
from mvref.datasets import make_interactions, unseen_share
from mvref.mvm import MVMClassifier
from mvref.rivals import Concat, FMClassifier, STMClassifier

from .engine import derive_seed
from .problems import load_halves
from .tables import stratified_parts
from .tuning import Split

ONE_HOT = {"sparsity": "one_hot", "n_features": 40}
PLANTED = {
    **{f"planted-{order}": {"order": order} for order in ("linear", "pairwise", "full", "all")},
    **{f"onehot-{order}": {"order": order, **ONE_HOT} for order in ("pairwise", "full")},
}
N_VIEWS, NOISE, N_POOL, N_TEST = 3, 0.05, 4000, 5000
METHODS = ("Linear", "RBF", "FM", "FM27", "FM-V", "STM", "STM-product", "MVM")
FACTORISED = ("FM", "FM27", "FM-V", "MVM")  # these have k factors
MEASURES = ("accuracy", "f1", "auroc", "failed", "warned", "fit_seconds", "validation")


@lru_cache(maxsize=1)
def draw_planted(name, seed, **levels):
    """Draw `N_POOL` samples to train on and `N_TEST` to test on, of one planted score."""
    options = PLANTED[name] | {"noise": NOISE, "random_state": derive_seed(seed, "planted")}
    options |= levels
    data = make_interactions(N_POOL + N_TEST, N_VIEWS, **options)
    return unit_rows(data.X), data.y


def planted(name, n_train, seed, **levels):
    """Return a planted problem; smaller training sets are the first samples of larger ones."""
    X, y = draw_planted(name, seed, **levels)
    train, test = np.arange(n_train), np.arange(N_POOL, N_POOL + N_TEST)
    fold = stratified_parts(y, derive_seed(seed, "check", n_train), train, test_size=1 / 3)
    return Split(X, y, train, test, [fold], {"best": 1.0 - NOISE})


def real(name, seed):
    """Return a real problem: two stratified halves, one of them cut by the first of three folds."""
    halves = load_halves(name, seed)
    X, folds = unit_rows(halves.X), halves.folds[:1]
    return Split(X, halves.y, halves.train, halves.test, folds, {"best": 1.0})


def unit_rows(X):
    """Scale rows to mean squared norm 1: dense features to variance 1, sparse rows to norm 1."""
    views = [v if sparse.issparse(v) else v / np.sqrt(v.shape[1]) for v in X.views]
    return MultiView(views, names=X.names)


def unseen(split):
    """Return the proportions of pairs and triples of levels in the test set unseen in training."""
    known, asked = split.X[split.train], split.X[split.test]
    orders = {"unseen_pairs": 2, "unseen_triples": 3}
    return {name: unseen_share(known, asked, order) for name, order in orders.items()}


def build(method, point, X, seed, n_starts=1):
    """Return a classifier, not fitted; alpha weighs the penalty against the mean loss.

    n_starts: number of starts of a non-convex method; the least training objective is kept.
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
    """Return the AUROC, averaged one-vs-rest if there are more than two classes."""
    scores = run.machine.model.decision_function(run.features)
    Y = one_vs_rest(run.y_test)
    return auroc(Y[:, 1], scores) if scores.ndim == 1 else macro_average(auroc, Y, scores)


def has_failed(run):
    """Check whether training failed: it warned, or is nearer to chance than to the best."""
    told = any("collapsed" in m or "worse than with factors 0" in m for m in run.messages)
    chance = np.unique(run.y_test, return_counts=True)[1].max() / len(run.y_test)
    accuracy = np.mean(run.predicted == run.y_test)
    return told or accuracy < (chance + run.split.meta["best"]) / 2


OWN_MEASURES = {
    "f1": lambda run: f1_score(run.y_test, run.predicted, average="macro"),
    "auroc": mean_auroc,
    "failed": has_failed,
}
