"""Two claims of MwMvC2's text (section 4.2 and footnote 3), on the tasks of Table 1 for MNIST1.

Updates    "We tuned the maximum number of iterations by cross-validation". Five stratified folds of
           the 100 samples of a task; each pool is learnt once per fold, followed by 0, 1, 2, ...
           updates of its weights. ``chosen`` is the fraction of tasks for which this number is best
           on the folds, ties to the smaller one; ``chosen_of_updates`` the same with at least one
           update: by the loop of Algorithm 1 the paper's T is one more.
AdaBoost   "The performance of Adaboost for these baselines is similar to that of decision trees":
           one tree ("tree"), and `N_ROUNDS` boosted trees of some depth, in Concat and MVMV.
"""

from functools import lru_cache

import numpy as np
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier

from mvref import all_methods
from mvref.core.voters import cast_votes
from mvref.mwmvc2 import MwMvC2
from mvref.mwmvc2.weights import learn_weights

from .engine import Item, derive_seed
from .mwmvc2 import N_ROUNDS, SAMPLE_SIZE
from .problems import load_dataset
from .tables import Cell, jobs_of, stratified_folds
from .voting import tasks

UPDATES = (0, 1, 2, 3, 5, 10, 20)
POOLS, BASELINES = ("trees", "random_trees"), ("Concat", "MVMV")
DEPTHS = {"1": 1, "2": 2, "full": None}
CHOSEN = ("validation_accuracy", "chosen", "chosen_of_updates")
N_FOLDS, N_REPEATS = 5, 6


def sentences(dataset, quick, rows):
    """Return jobs for both claims; quick: one repeat, and few updates and depths."""
    n = 1 if quick else N_REPEATS
    cells = [
        Cell(method, {"voters": voters, "max_iter": T}, CHOSEN, n)
        for voters in POOLS
        for method in ("MwMvC2", "MwMvC2-paper")
        for T in UPDATES
    ]
    yield from jobs_of("mnist1", "mnist1", cells, of_updates)
    cells = [
        Cell(method, {"boosted": depth}, ("accuracy",), n)
        for depth in ("tree", *DEPTHS)
        for method in BASELINES
    ]
    yield from jobs_of("mnist1", "mnist1", cells, boosted)


def of_updates(name, method, *, measures, voters, max_iter, seed):
    """Return the accuracy on the folds of a number of updates, and how often it is the best."""
    update = "paper" if method == "MwMvC2-paper" else "monotone"
    table, k = by_folds(name, voters, update, seed), UPDATES.index(max_iter)
    found = [table[:, k], table.argmax(axis=1) == k, 1 + table[:, 1:].argmax(axis=1) == k]
    return {measure: np.mean(of) for measure, of in zip(measures, found, strict=True)}


@lru_cache(maxsize=1)
def by_folds(name, voters, update, seed):
    """Return the accuracy on the folds: a row per task, a column per number of updates."""
    X, found = load_dataset(name).X, []
    for task in tasks(name, SAMPLE_SIZE, "balanced", seed):
        own = derive_seed(seed, "fit", task.k)
        folds = stratified_folds(task.y_train, np.arange(len(task.train)), N_FOLDS, own)
        of_folds = [
            after_updates(X[task.train], task.y_train, fit, check, voters, update, own)
            for fit, check in folds
        ]
        found.append(np.mean(of_folds, axis=0))
    return np.array(found)


def after_updates(X, y, fit, check, voters, update, seed):
    """Return the accuracy on the samples `check` after each number of updates."""
    model = MwMvC2(voters=voters, max_iter=0, random_state=seed).fit(X[fit], y[fit])
    sign, seen = np.where(y[fit] == model.classes_[1], 1.0, -1.0)[:, None], np.ones(len(fit), bool)
    pools = zip(model.voters_, X[fit].views, strict=True)
    Ms = [sign * cast_votes(pool, view, seen) for pool, view in pools]
    accuracies = []
    for T in UPDATES:
        weights = learn_weights(Ms, max_iter=T, update=update)
        model.pi_, model.rho_ = weights.pi, weights.rho
        accuracies.append(model.score(X[check], y[check]))
    return accuracies


def boosted(name, method, *, measures, boosted, seed):
    """Return the accuracy of a baseline with one tree, or with AdaBoost of trees."""
    estimator = DecisionTreeClassifier()
    if boosted != "tree":
        tree = DecisionTreeClassifier(max_depth=DEPTHS[boosted])
        estimator = AdaBoostClassifier(tree, n_estimators=N_ROUNDS)
    X, scores = load_dataset(name).X, []
    for task in tasks(name, SAMPLE_SIZE, "balanced", seed):
        model = all_methods()[method](estimator, random_state=derive_seed(seed, "fit", task.k))
        model.fit(X[task.train], task.y_train)
        scores.append(model.score(X[task.test], task.y_test))
    return {measures[0]: np.mean(scores)}


ITEMS = [Item("mwmvc2", "sentences", "updates by cross-validation, and AdaBoost in the baselines",
              ("mnist",), sentences)]  # fmt: skip
