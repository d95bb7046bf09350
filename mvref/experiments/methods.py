"""How the experiments train, tune and apply each method; the names are those of the ledger.

A method does once what does not depend on its setting (landmarks, projection, imputation, kernels),
then trains for many. The setting is a C, or what `SETTINGS` names. C is liblinear's, the weight of
the *summed* loss; the paper's c is C times the number of training samples.
"""

import time
import warnings
from dataclasses import replace
from functools import partial

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC, LinearSVC

from ..core.views import MultiView
from ..mvl_svm import LandmarkProjection, project
from ..rivals import LaplacianCompletion, PerViewSVM
from .problems import load_problem, mean_distance_gamma
from .similarity_rivals import NystromMetric, PairedSVM

HINGE_MAX_ITER = 20_000
N_TIMINGS = 3
LONG = 30.0  # seconds of timing after which no further run is begun


def squared_hinge(C, Phi, seed):
    """Linear SVM with squared hinge, in the primal: the linear path of the authors' code.

    The problem is that of ``MVLSVM(loss="squared_hinge", c=C*m)``, at scikit-learn's tolerance
    1e-4 (liblinear's own for this solver is 1e-2). Above C = 1 that stops short of the minimum,
    which :class:`~mvref.MVLSVM` reaches by the dual in many times as long; the ledger's accuracies
    at such C are those of the solution that is stopped.

    Phi (m, L*V).
    """
    return LinearSVC(C=C, dual=False)


def hinge(C, Phi, seed):
    """Linear SVM with hinge, the paper's Eq. (3).

    liblinear has no fast solver for it: where C is 10 or more it may stop at `HINGE_MAX_ITER`
    before it reaches its tolerance.

    Phi (m, L*V).
    """
    return LinearSVC(C=C, loss="hinge", max_iter=HINGE_MAX_ITER, random_state=seed)


def rbf(C, Phi, seed):
    """RBF SVM on the latent space, gamma = 1/(LV): what the authors' committed scripts run.

    Phi (m, L*V).
    """
    return SVC(C=C, gamma=1.0 / Phi.shape[1])


def logistic(C, Phi, seed):
    """Logistic regression, one for all classes."""
    return LogisticRegression(C=C, max_iter=1000)


def svm_of_kernel(C, K, seed):
    """SVM on a Gram matrix.

    K (m, m).
    """
    return SVC(C=C, kernel="precomputed")


class LandmarkSVM:
    """MVL-SVM and its variants on one set of training samples.

    reference, train: Rows to draw landmarks from, and rows to train on; head: What is trained on
    the latent space; landmarks: "known": L landmarks are drawn from `reference` and known in all
    views, even where the same sample misses a view in training (the authors' code). "complete":
    they are drawn among the samples that are still complete; all of those, if they are fewer than
    L; fill: Fill missing similarities by Eq. (11), or by the means of the training columns; drop:
    Train on complete samples only. Samples to predict are imputed all the same.
    """

    def __init__(
        self, problem, reference, train, L, seed, *,
        head=squared_hinge, landmarks="known", ridge=0.1, clip="auto", fill="impute", drop=False,
    ):  # fmt: skip
        self.X, self.head, self.fill, self.seed = problem.X, head, fill, seed
        source = problem.complete if landmarks == "known" else problem.X
        self.n_landmarks = min(L, int(source.observed[reference].all(axis=1).sum()))
        if self.n_landmarks > 0:
            self.projection = LandmarkProjection(
                self.n_landmarks,
                kernel=problem.kernel,
                gamma=mean_distance_gamma(problem, reference),
                ridge=ridge,
                clip=clip,
                random_state=seed,
            ).fit(source[reference])
        if drop and self.n_landmarks > 0:
            train = train[problem.X.observed[train].all(axis=1)]
        self.y = problem.y[train]
        self.means = np.nanmean(self._project(train), axis=0) if fill == "mean" else None
        self.Phi = self.features(train)

    def features(self, rows):
        """Return the latent space of some samples, shape (n, L*V), without gaps."""
        if self.n_landmarks == 0:  # nothing to compare with
            return np.empty((len(rows), 0))
        if self.fill == "mean":
            Phi = self._project(rows)
            return np.where(np.isnan(Phi), self.means, Phi)
        return self.projection.transform(self.X[rows])

    def _project(self, rows):
        return project(self.X[rows], self.projection.similarities_)

    def fit(self, C):
        """Train for one C; the most frequent class where nothing can be learnt."""
        learnable = self.n_landmarks > 0 and len(np.unique(self.y)) > 1
        model = self.head(C, self.Phi, self.seed) if learnable else DummyClassifier()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # see `hinge`
            self.model = model.fit(self.Phi, self.y)
        return self

    def predict(self, features):
        """Return the labels of samples given by their features."""
        return self.model.predict(features)


class OneMachine(LandmarkSVM):
    """A usual classifier without landmarks, under the interface of `LandmarkSVM`.

    reference: For distances: where their mean is taken; mean_kernel: The features are the means of
    the kernels of all views with the training samples, not the columns of all views side by side.
    """

    n_landmarks = 1  # it can always learn

    def __init__(self, problem, reference, train, L, seed, *, head, mean_kernel=False):
        self.X, self.y, self.head, self.seed = problem.X, problem.y[train], head, seed
        self.projection = None
        if mean_kernel:
            gamma = mean_distance_gamma(problem, reference)
            everyone = LandmarkProjection(
                landmarks=range(len(train)), kernel=problem.kernel, gamma=gamma
            )
            self.projection = everyone.fit(problem.X[train])
        self.Phi = self.features(train)

    def features(self, rows):
        """Return what the classifier is trained on, shape (len(rows), d)."""
        if self.projection is None:
            return self.X[rows].concat()
        similarities = self.projection.transform(self.X[rows])
        return similarities.reshape(len(rows), self.X.n_views, -1).mean(axis=1)


def on_one_view(problem, reference, train, L, seed):
    """MVL-SVM that takes the columns of all views as a single view."""
    X = MultiView([problem.X.concat()])
    return LandmarkSVM(replace(problem, X=X, complete=X), reference, train, L, seed)


class VotingSVM:
    """One kernel SVM per view with a majority vote, under the interface of `LandmarkSVM`."""

    def __init__(self, problem, reference, train, L, seed):
        self.problem, self.train = problem, train

    def features(self, rows):
        """Return the views; of Gram matrices, the columns of the training samples."""
        X = self.problem.X[rows]
        if self.problem.kernel != "gram":
            return X
        return MultiView([K[:, self.train] for K in X.views])

    def fit(self, C):
        """Train for one C."""
        self.model = PerViewSVM(C, kernel=self.problem.kernel)
        self.model.fit(self.features(self.train), self.problem.y[self.train])
        return self

    def predict(self, features):
        """Return the labels of samples given by their views."""
        return self.model.predict(features)


def complete_by_laplacian(problem):
    """Return the problem with completed Gram matrices of all samples in place of the views.

    Training and test samples are completed together, as in the paper; a sample that misses the
    reference view stays incomplete and casts fewer votes.
    """
    K = LaplacianCompletion(kernel=problem.kernel).fit_transform(problem.X)
    return replace(problem, X=K, kernel="gram")


METHODS = {
    "MVLSVM": LandmarkSVM,
    "MVLSVM-hinge": partial(LandmarkSVM, head=hinge),
    "MVLSVM-rbf": partial(LandmarkSVM, head=rbf),
    "MVLSVM-ridge0": partial(LandmarkSVM, ridge=0, clip=None),
    "MVLSVM-mean": partial(LandmarkSVM, fill="mean"),
    "MVLSVM-complete": partial(LandmarkSVM, landmarks="complete"),
    "MVLSVM-drop": partial(LandmarkSVM, landmarks="complete", drop=True),
    "MVLSVM-columns": on_one_view,
    "SVC": partial(OneMachine, head=rbf),
    "SVC-mean": partial(OneMachine, head=svm_of_kernel, mean_kernel=True),
    "LogisticRegression": partial(OneMachine, head=logistic),
    "PerViewSVM": VotingSVM,
    "PerViewSVM+Laplacian": VotingSVM,
    "SVM2K": PairedSVM,
    "MVML": NystromMetric,
}
SETTINGS = {"SVM2K": ("C", "D"), "MVML": ("lam", "eta")}  # names; of all others ("C",)


def name_setting(method, setting):
    """Return a setting by names.

    Examples
    --------
    >>> from mvref.experiments.methods import name_setting
    >>> name_setting("MVML", (0.1, 1.0)), name_setting("PerViewSVM", 10.0)
    ({'lam': 0.1, 'eta': 1.0}, {'C': 10.0})
    """
    if method in SETTINGS:
        return dict(zip(SETTINGS[method], setting, strict=True))
    return {"C": setting}


def choose_setting(problem, method, L, seed, grid):
    """Choose the setting with which most samples of the folds are classified correctly.

    grid: The strongest regularisation first.
    """
    correct = np.zeros(len(grid), dtype=int)
    for fit, check in problem.folds:
        machine = METHODS[method](problem, fit, fit, L, seed)
        features = machine.features(check)
        for k, setting in enumerate(grid):
            correct[k] += np.sum(machine.fit(setting).predict(features) == problem.y[check])
    best = int(correct.argmax())
    return grid[best], correct[best] / sum(len(check) for _, check in problem.folds)


def tuned_accuracy(name, method, *, L=None, split=None, missing=None, grid, seed):
    """Choose a setting inside the training part, train, and count correct labels of the test part.

    missing: Share of missing views, in Figure 5.
    """
    problem = load_problem(name, split=split, missing=missing or 0.0, seed=seed)
    if method == "PerViewSVM+Laplacian":
        problem = complete_by_laplacian(problem)
    setting, validation_accuracy = choose_setting(problem, method, L, seed, grid)
    machine = METHODS[method](problem, problem.reference, problem.pool, L, seed).fit(setting)
    predicted = machine.predict(machine.features(problem.test))
    measures = {
        "accuracy": np.mean(predicted == problem.y[problem.test]),
        "validation_accuracy": validation_accuracy,
    } | name_setting(method, setting)
    return measures | ({"n_landmarks": machine.n_landmarks} if L and missing is not None else {})


def timing(name, method, *, setting, L=None, split=None, seed):
    """Measure the processor time that training and testing take with a fixed setting."""
    problem = load_problem(name, split=split, seed=seed)
    runs = []
    while len(runs) < N_TIMINGS and np.sum(runs) < LONG:
        start = time.process_time()
        machine = METHODS[method](problem, problem.reference, problem.pool, L, seed).fit(setting)
        trained = time.process_time()
        machine.predict(machine.features(problem.test))
        runs.append((trained - start, time.process_time() - trained))
    train_seconds, test_seconds = np.median(runs, axis=0)
    times = {"train_seconds": train_seconds, "test_seconds": test_seconds}
    return times | name_setting(method, setting)
