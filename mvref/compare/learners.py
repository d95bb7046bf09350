"""Learning algorithms for one table, trained at many settings for little more than at one.

A learner is a scikit-learn model with the settings (points) it is tuned over. `Learner.make`
returns the model as a user would write it; `Learner.prepare` computes what all points share, and
`Learner.said` trains at a point with it: squared distances once for all kernel widths, as many
rotated columns as samples where there are more columns, and one boosting path for several numbers
of rounds. A test compares each with its model.

The predictions of a model are an array (n, K): probabilities, scores whose softmax gives the
probabilities, or one-vs-rest margins; (n, 1) for a continuous outcome.
"""

from dataclasses import dataclass, field

import numpy as np
from scipy import sparse
from scipy.special import log_softmax, softmax
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.feature_selection import SelectKBest, f_classif, f_regression
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC

from ..core.voters import class_scores
from .candidates import UnitRows, spread

WIDE, MOST_DISTANCES = 100, 4000  # columns for trees; samples with stored distances
STRENGTH, WIDTH = (1e-2, 1e4), (0.05, 20.0)


@dataclass(frozen=True)
class Said:
    """Predictions of a model for some samples.

    scores: (n, K), or (n, 1) for a continuous outcome; kind: "softmax" (scores whose softmax gives
    the probabilities), "probabilities", "margins" or "numbers".
    """

    scores: np.ndarray
    kind: str

    def __getitem__(self, rows):
        return Said(self.scores[rows], self.kind)

    @property
    def probabilities(self):
        """Probabilities (n, K), or None."""
        return {"softmax": lambda s: softmax(s, axis=1), "probabilities": lambda s: s}.get(
            self.kind, lambda s: None
        )(self.scores)

    def log_loss(self, codes):
        """Return the log loss of each sample; margins are treated as scores of a softmax."""
        if self.kind == "probabilities":
            told = np.log(np.maximum(self.scores, 1e-15))
        else:
            told = log_softmax(self.scores, axis=1)
        return -told[np.arange(len(codes)), codes]


@dataclass(frozen=True, eq=False)
class Learner:
    """A learning algorithm for one table, and the ranges it is tuned over."""

    name: str
    space: dict = field(default_factory=dict)
    kind: str = "softmax"
    stacked: bool = True

    def points(self, budget):
        """Return the hyperparameter settings to choose from."""
        return spread(self.space, budget)

    def front(self, point, width):
        """Return the transformer before the model at a point, for `width` columns, or None."""
        return None

    def steps(self, point, K, width, seed):
        """Return the steps of the pipeline at a point, as a user would write them."""
        front = self.front(point, width)
        return [*([] if front is None else [front]), self.make(point, K, seed)]

    def session(self, Z, y, others, K, seed):
        """Return a `Session` that trains on Z and y and predicts the rows of `others`."""
        return Session(self, Z, y, others, K, seed)

    def prepare(self, Z, others):
        """Compute what all points share."""
        return Z, others

    def said(self, shared, y, point, K, seed):
        """Return a list of predictions for the others by a model trained at a point."""
        Z, others = shared
        model = self.make(point, K, seed).fit(Z, y)
        return [scores_of(model, other, K) for other in others]


def scores_of(model, Z, K):
    """Return the scores (n, K) of a classifier, or the predictions (n, 1) of a regressor."""
    return class_scores(model, Z, K) if K else np.asarray(model.predict(Z)).reshape(-1, 1)


class Session:
    """A learner on some samples; what its points share is computed once for each `front`."""

    def __init__(self, learner, Z, y, others, K, seed):
        self.learner, self.Z, self.y, self.others = learner, Z, y, others
        self.K, self.seed, self.shared = K, seed, {}

    def said(self, point):
        """Return a list of predictions for the others by the model at a point."""
        front = self.learner.front(point, self.Z.shape[1])
        key = repr(front)
        if key not in self.shared:
            Z, others = self.Z, self.others
            if front is not None:
                Z = front.fit_transform(Z, self.y)
                others = [front.transform(other) for other in others]
            self.shared[key] = self.learner.prepare(Z, others)
        return self.learner.said(self.shared[key], self.y, point, self.K, self.seed)


class Linear(Learner):
    """A learner that is invariant to rotations of the columns."""

    def prepare(self, Z, others):
        n, width = Z.shape
        if width <= n:
            return Z, others
        gram = Z @ Z.T
        gram = gram.toarray() if sparse.issparse(gram) else gram
        squares, axes = np.linalg.eigh(gram)
        there = squares > 1e-12 * squares[-1]
        axes = axes[:, there] / np.sqrt(squares[there])
        return gram @ axes, [np.asarray(other @ Z.T @ axes) for other in others]


class Logistic(Linear):
    """Logistic regression; each point starts from the solution of the previous one."""

    def make(self, point, K, seed):
        return LogisticRegression(C=point["C"], max_iter=2000)

    def prepare(self, Z, others):
        return *super().prepare(Z, others), LogisticRegression(max_iter=2000, warm_start=True)

    def said(self, shared, y, point, K, seed):
        Z, others, model = shared
        model.set_params(C=point["C"]).fit(Z, y)
        return [scores_of(model, other, K) for other in others]


class Kernel(Learner):
    """One-vs-rest SVM with a Gaussian kernel."""

    def make(self, point, K, seed):
        machine = SVC(C=point["C"], gamma=point["gamma"])
        return machine if K == 2 else OneVsRestClassifier(machine)

    def prepare(self, Z, others):
        if Z.shape[0] > MOST_DISTANCES:
            return Z, others
        squares = euclidean_distances(Z, squared=True)
        np.fill_diagonal(squares, 0.0)
        return squares, [euclidean_distances(other, Z, squared=True) for other in others]

    def said(self, shared, y, point, K, seed):
        D, others = shared
        if D.shape[0] > MOST_DISTANCES:
            return super().said(shared, y, point, K, seed)
        inner, *across = (-point["gamma"] * squares for squares in (D, *others))
        for kernel in (inner, *across):
            np.exp(kernel, out=kernel)
        return self.with_kernel(inner, across, y, point, K)

    def with_kernel(self, inner, across, y, point, K):
        machine, known = SVC(C=point["C"], kernel="precomputed"), np.unique(y)
        if len(known) < 2:
            raise ValueError("the training samples are of one class.")
        if K == 2:
            machine.fit(inner, y)
            return [scores_of(machine, kernel, 2) for kernel in across]
        told = [np.empty((len(kernel), len(known))) for kernel in across]
        for j, k in enumerate(known):
            machine.fit(inner, y == k)
            for out, kernel in zip(told, across, strict=True):
                out[:, j] = machine.decision_function(kernel)
        return [of_all_classes(out, known, K) for out in told]


def of_all_classes(scores, known, K):
    """Return scores of all K classes; a class absent from training scores less than all others."""
    if len(known) == K:
        return scores
    full = np.repeat(scores.min(axis=1, keepdims=True) - 1.0, K, axis=1)
    full[:, known] = scores
    return full


class FewColumns(Kernel):
    """Gaussian SVM on the columns that differ most between the classes."""

    def front(self, point, width):
        return make_pipeline(SelectKBest(k=min(point["k"], width)), UnitRows())


class OfTrees(Learner):
    """A tree learner, which sees the most informative `WIDE` columns of a wider table."""

    def front(self, point, width):
        dense = FunctionTransformer(to_dense)
        if width <= WIDE:
            return dense
        best = SelectKBest(f_regression if self.kind == "numbers" else f_classif, k=WIDE)
        return make_pipeline(best, dense)


class Trees(OfTrees):
    """Thirty extremely randomised trees; a third of the points, because each fit is slow."""

    def points(self, budget):
        return spread(self.space, -(-budget // 3))

    def make(self, point, K, seed):
        kind = ExtraTreesClassifier if K else ExtraTreesRegressor
        return kind(30, random_state=seed, **point)


class Boosting(OfTrees):
    """Gradient boosting; the numbers of rounds to choose from lie on one path."""

    def points(self, budget):
        wanted = [
            {"max_leaf_nodes": leaves, "max_iter": rounds}
            for leaves in (8, 3, 31)
            for rounds in (20, 10, 5)  # the longest path first: the others lie on it
        ]
        return wanted[:budget]

    def make(self, point, K, seed):
        kind = HistGradientBoostingClassifier if K else HistGradientBoostingRegressor
        fixed = {"early_stopping": False, "min_samples_leaf": 5, "max_bins": 32}
        return kind(learning_rate=0.3, random_state=seed, **fixed, **point)

    def prepare(self, Z, others):
        return Z, others, {}

    def said(self, shared, y, point, K, seed):
        Z, others, paths = shared
        leaves, rounds = point["max_leaf_nodes"], point["max_iter"]
        if leaves not in paths:
            model = self.make(point, K, seed).fit(Z, y)
            paths[leaves] = [list(staged(model, other, K)) for other in others]
        return [path[rounds - 1] for path in paths[leaves]]


def staged(model, Z, K):
    """Yield the predictions of a boosting model after each round."""
    if not K:
        for told in model.staged_predict(Z):
            yield told.reshape(-1, 1)
        return
    for told in model.staged_decision_function(Z):
        told = told.reshape(len(told), -1)
        told = np.hstack([0.0 * told, told]) if told.shape[1] == 1 else told
        yield of_all_classes(told, model.classes_, K)


def to_dense(X):
    """Return a table as a dense array."""
    return X.toarray() if sparse.issparse(X) else X


class RidgeRegression(Linear):
    """Ridge regression."""

    def make(self, point, K, seed):
        return Ridge(alpha=point["alpha"])


class RidgeOfKernel(Kernel):
    """Ridge regression with a Gaussian kernel, on the centred outcome."""

    def make(self, point, K, seed):
        ridge = KernelRidge(kernel="rbf", alpha=point["alpha"], gamma=point["gamma"])
        return TransformedTargetRegressor(ridge, transformer=StandardScaler())

    def with_kernel(self, inner, across, y, point, K):
        ridge = KernelRidge(kernel="precomputed", alpha=point["alpha"])
        model = TransformedTargetRegressor(ridge, transformer=StandardScaler()).fit(inner, y)
        return [model.predict(kernel).reshape(-1, 1) for kernel in across]


FOREST = {"max_features": ["sqrt", 0.5], "min_samples_leaf": [1, 3]}
PENALTY = (1e-4, 1e1)
CLASSIFIERS = (
    Logistic("logistic", {"C": STRENGTH}),
    Kernel("RBF SVM", {"C": (0.1, 1000.0), "gamma": WIDTH}, "margins"),
    Trees("extra trees", FOREST, "probabilities"),
    Boosting("boosting"),
)
FEW_COLUMNS = FewColumns(
    "RBF SVM of few columns", {"k": [10, 30, 100], "C": (0.1, 1000.0), "gamma": WIDTH},
    "margins", stacked=False,
)  # fmt: skip
REGRESSORS = (
    RidgeRegression("ridge", {"alpha": PENALTY}, "numbers"),
    RidgeOfKernel("kernel ridge", {"alpha": PENALTY, "gamma": WIDTH}, "numbers"),
    Trees("extra trees", FOREST, "numbers"),
    Boosting("boosting", kind="numbers"),
)
