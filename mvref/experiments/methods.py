"""The methods of part I's experiments as machines of :mod:`.tuning`; names are the ledger's.

Landmarks, projection, imputation and kernels serve all points. C is liblinear's, the weight of the
*summed* loss; the paper's c is C times the number of training samples.
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
from .problems import load_problem, mean_distance_gamma, reference
from .similarity_rivals import NystromMetric, PairedSVM
from .tuning import Machine, Method, tuned

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


class LandmarkSVM(Machine):
    """MVL-SVM and its variants on one set of training samples.

    head: What is trained on the latent space; landmarks: "known": L landmarks are drawn from the
    reference samples and known in all views, even where the same sample misses a view in training
    (the authors' code). "complete": they are drawn among the samples that are still complete; all
    of those, if they are fewer than L; fill: Fill missing similarities by Eq. (11), or by the means
    of the training columns; drop: Train on complete samples only. Samples to predict are imputed
    all the same.
    """

    def __init__(
        self, split, rows, seed, *,
        L, head=squared_hinge, landmarks="known", ridge=0.1, clip="auto", fill="impute", drop=False,
    ):  # fmt: skip
        self.X, self.head, self.fill, self.seed = split.X, head, fill, seed
        candidates = reference(split, rows)
        source = split.meta["complete"] if landmarks == "known" else split.X
        self.n_landmarks = min(L, int(source.observed[candidates].all(axis=1).sum()))
        if self.n_landmarks > 0:
            self.projection = LandmarkProjection(
                self.n_landmarks,
                kernel=split.meta["kernel"],
                gamma=mean_distance_gamma(split, candidates),
                ridge=ridge,
                clip=clip,
                random_state=seed,
            ).fit(source[candidates])
        if drop and self.n_landmarks > 0:
            rows = rows[split.X.observed[rows].all(axis=1)]
        self.y = split.y[rows]
        self.means = np.nanmean(self._project(rows), axis=0) if fill == "mean" else None
        self.Phi = self.features(rows)

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

    def fit(self, point):
        """Train for one C; the most frequent class where nothing can be learnt."""
        learnable = self.n_landmarks > 0 and len(np.unique(self.y)) > 1
        model = self.head(point["C"], self.Phi, self.seed) if learnable else DummyClassifier()
        self.model = model.fit(self.Phi, self.y)
        return self


class OneMachine(LandmarkSVM):
    """A usual classifier without landmarks.

    mean_kernel: The features are the means of the kernels of all views with the training samples,
    not the columns of all views side by side.
    """

    n_landmarks = 1  # it can always learn

    def __init__(self, split, rows, seed, *, head, mean_kernel=False):
        self.X, self.y, self.head, self.seed = split.X, split.y[rows], head, seed
        self.projection = None
        if mean_kernel:
            gamma = mean_distance_gamma(split, reference(split, rows))
            everyone = LandmarkProjection(
                landmarks=range(len(rows)), kernel=split.meta["kernel"], gamma=gamma
            )
            self.projection = everyone.fit(split.X[rows])
        self.Phi = self.features(rows)

    def features(self, rows):
        """Return what the classifier is trained on, shape (len(rows), d)."""
        if self.projection is None:
            return self.X[rows].concat()
        similarities = self.projection.transform(self.X[rows])
        return similarities.reshape(len(rows), self.X.n_views, -1).mean(axis=1)


def on_one_view(split, rows, seed, *, L):
    """MVL-SVM that takes the columns of all views as a single view."""
    X = MultiView([split.X.concat()])
    one = replace(split, X=X, meta={**split.meta, "complete": X})
    return LandmarkSVM(one, rows, seed, L=L)


class VotingSVM(Machine):
    """One kernel SVM per view with a majority vote; of Gram matrices, the training columns."""

    def __init__(self, split, rows, seed):
        self.split, self.rows, self.y, self.seed = split, rows, split.y[rows], seed
        self.X = self.features(rows)

    def features(self, rows):
        """Return the views of some samples."""
        X = self.split.X[rows]
        if self.split.meta["kernel"] != "gram":
            return X
        return MultiView([K[:, self.rows] for K in X.views])

    def build(self, point, X, seed):
        """Return the SVMs for one C."""
        return PerViewSVM(point["C"], kernel=self.split.meta["kernel"])


def complete_by_laplacian(split):
    """Return the split with completed Gram matrices of all samples in place of the views.

    Training and test samples are completed together, as in the paper; a sample that misses the
    reference view stays incomplete and casts fewer votes.
    """
    K = LaplacianCompletion(kernel=split.meta["kernel"]).fit_transform(split.X)
    return replace(split, X=K, meta={**split.meta, "kernel": "gram"})


METHODS = {
    "MVLSVM": Method(LandmarkSVM),
    "MVLSVM-hinge": Method(partial(LandmarkSVM, head=hinge)),
    "MVLSVM-rbf": Method(partial(LandmarkSVM, head=rbf)),
    "MVLSVM-ridge0": Method(partial(LandmarkSVM, ridge=0, clip=None)),
    "MVLSVM-mean": Method(partial(LandmarkSVM, fill="mean")),
    "MVLSVM-complete": Method(partial(LandmarkSVM, landmarks="complete")),
    "MVLSVM-drop": Method(partial(LandmarkSVM, landmarks="complete", drop=True)),
    "MVLSVM-columns": Method(on_one_view),
    "SVC": Method(partial(OneMachine, head=rbf)),
    "SVC-mean": Method(partial(OneMachine, head=svm_of_kernel, mean_kernel=True)),
    "LogisticRegression": Method(partial(OneMachine, head=logistic)),
    "PerViewSVM": Method(VotingSVM),
    "PerViewSVM+Laplacian": Method(VotingSVM),
    "SVM2K": Method(PairedSVM),
    "MVML": Method(NystromMetric),
}
OWN_MEASURES = {"validation_accuracy": lambda run: run.validation}


def method_of(name, points, L=None):
    """Return a method with what it chooses from, and its number of landmarks."""
    return replace(METHODS[name], points=points, fixed={} if L is None else {"L": L})


def tuned_accuracy(name, method, *, measures, points, L=None, split=None, missing=None, seed):
    """Tune and test a method.

    missing: Share of missing views, in Figure 5.
    """
    problem = load_problem(name, split=split, missing=missing or 0.0, seed=seed)
    if method == "PerViewSVM+Laplacian":
        problem = complete_by_laplacian(problem)
    return tuned(problem, method_of(method, points, L), seed).measure(measures, OWN_MEASURES)


def timing(name, method, *, measures, setting, L=None, split=None, seed):
    """Measure the processor time that training and testing take with a fixed setting."""
    problem, spec = load_problem(name, split=split, seed=seed), method_of(method, [setting], L)
    runs = []
    while len(runs) < N_TIMINGS and np.sum(runs) < LONG:
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # see `hinge`
            machine = spec.make(problem, problem.train, seed, **spec.fixed).fit(setting)
        trained = time.process_time()
        machine.predict(machine.features(problem.test))
        runs.append((trained - start, time.process_time() - trained))
    train_seconds, test_seconds = np.median(runs, axis=0)
    return {"train_seconds": train_seconds, "test_seconds": test_seconds, **setting}
