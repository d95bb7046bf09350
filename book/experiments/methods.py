"""The methods of part I's experiments as machines of :mod:`.tuning`; names are the ledger's.

C is liblinear's, the weight of the *summed* loss; the paper's c is C times the number of training
samples.

SVM-2K and MVML need kernels that are positive semi-definite. The distances of flower17 are not
Euclidean, and exp(-d^2/mean(d)) of them has negative eigenvalues, down to -0.4 % of the largest.
Both methods get the positive part of their kernel matrix instead, K P with P the projection on the
eigenvectors of the positive eigenvalues; rows of new samples are multiplied by the same P. MVML's
authors drop such eigenvalues as well. The SVMs of single views take the kernel as it is, which
libsvm allows.
"""

import time
import warnings
from dataclasses import replace
from functools import partial

import numpy as np
from scipy.linalg import eigh
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC
from sklearn.utils import check_random_state

from mvref.core.input import MultiView
from mvref.core.kernels import Similarity
from mvref.core.nystrom import draw_components, nystrom_features, nystrom_map
from mvref.mvl_svm import MVLSVM, LandmarkProjection, project
from mvref.rivals import SVM2K, LaplacianCompletion, PerViewSVM
from mvref.rivals.mvml_descent import Problem as MetricProblem
from mvref.rivals.mvml_descent import ViewFactors, learn_metric

from .problems import load_problem, mean_distance_gamma, reference
from .tables import grid
from .tuning import Machine, Method, tuned

N_TIMINGS = 3
LONG = 30.0  # seconds of timing after which no further run is begun
# ties go to the first: the smaller C, the larger lam
AGREEMENT_GRID = grid(C=[10.0**k for k in range(-4, 3)], D=(1e-4,))
METRIC_GRID = grid(lam=[10.0**-k for k in range(7)], eta=(1.0,))
AGREEMENT = {"eps": 1e-3, "tol": 1e-2}
N_ROUNDS, TOL = 6, 1e-4  # of MVML's descent: the defaults of mvref.rivals.MVML


# ------------------------------------------------------------------- heads of columns


def rbf(C, Phi, seed):
    """RBF SVM, gamma = 1/columns: on landmarks, what the authors' committed scripts run."""
    return SVC(C=C, gamma=1.0 / Phi.shape[1])


def logistic(C, Phi, seed):
    """Logistic regression, one for all classes."""
    return LogisticRegression(C=C, max_iter=1000)


# ----------------------------------------------------------------------------------- machines


class LandmarkSVM(Machine):
    """:class:`mvref.MVLSVM` on L landmarks of the reference samples; C is its c/m.

    landmarks: "known": they are known in all views, even where the same sample misses a view in
    training (the authors' code). "complete": they are drawn among the samples that are still
    complete; all of those, if they are fewer than L. drop: train on complete samples only; samples
    to predict are imputed all the same. options: of the class.
    """

    def __init__(
        self, split, rows, seed, *,
        L, loss="squared_hinge", landmarks="known", drop=False, **options,
    ):  # fmt: skip
        candidates = reference(split, rows)
        source = split.meta["complete"] if landmarks == "known" else split.X
        self.n_landmarks = min(L, int(source.observed[candidates].all(axis=1).sum()))
        if drop and self.n_landmarks > 0:
            rows = rows[split.X.observed[rows].all(axis=1)]
        super().__init__(split, rows, seed)
        self.svm = None
        if self.n_landmarks > 0 and len(np.unique(self.y)) > 1:
            gamma = mean_distance_gamma(split, candidates)
            kernel = {"kernel": split.meta["kernel"], "gamma": gamma}
            drawn = LandmarkProjection(self.n_landmarks, **kernel, random_state=seed)
            self.drawn = drawn.fit(source[candidates])
            options |= kernel | {"landmarks": self.drawn.landmarks_, "loss": loss}
            self.svm = MVLSVM(**options)

    def path(self, points):
        if self.svm is None:  # nothing can be learnt
            models = [DummyClassifier().fit(self.y, self.y)] * len(points)
        else:
            costs = [{"c": point["C"] * len(self.y)} for point in points]
            models = self.svm.path(self.X, self.y, costs)
        for model in models:
            self.model = model
            yield self


def on_one_view(split, rows, seed, *, L):
    """MVL-SVM that takes the columns of all views as a single view."""
    X = MultiView([split.X.concat()])
    one = replace(split, X=X, meta={**split.meta, "complete": X})
    return LandmarkSVM(one, rows, seed, L=L)


class LatentSVM(Machine):
    """The linear SVM of :class:`mvref.MVLSVM` on the columns that `features` returns."""

    loss = "squared_hinge"

    def train(self, point):
        svm = MVLSVM(c=point["C"] * len(self.y), loss=self.loss)
        self.model = svm.fit_latent(self.X, self.y)

    def predict(self, features):
        scores = features @ self.model.coef_.T + self.model.intercept_
        return self.model.classes_[scores.argmax(axis=1)]


class MeanFilled(LatentSVM):
    """MVL-SVM whose missing similarities are the means of the training columns, not Eq. (11)."""

    def __init__(self, split, rows, seed, *, L, loss="squared_hinge", landmarks="known"):
        of = LandmarkSVM(split, rows, seed, L=L, landmarks=landmarks)
        self.loss, self.n_landmarks, self.mus = loss, of.n_landmarks, of.drawn.similarities_
        self.means = np.nanmean(project(split.X[rows], self.mus), axis=0)
        super().__init__(split, rows, seed)

    def features(self, rows):
        Phi = project(self.split.X[rows], self.mus)
        return np.where(np.isnan(Phi), self.means, Phi)


class Columns(Machine):
    """A classifier ``head(C, columns, seed)`` of the columns of all views side by side.

    L: of the similarities to as many landmarks in place of them.
    """

    def __init__(self, split, rows, seed, *, head, L=None):
        self.drawn = None if L is None else LandmarkSVM(split, rows, seed, L=L).drawn
        super().__init__(split, rows, seed, build=lambda point, X, seed: head(point["C"], X, seed))

    def features(self, rows):
        X = self.split.X[rows]
        return X.concat() if self.drawn is None else self.drawn.transform(X)


def similarities(split, rows, chosen):
    """Return the kernel of every view to its chosen samples; `rows` train."""
    if split.meta["kernel"] == "precomputed":
        views = zip(mean_distance_gamma(split, reference(split, rows)), chosen, strict=True)
        return [Similarity("precomputed", gamma, rows) for gamma, rows in views]
    views = zip(split.X.views, chosen, strict=True)
    return [Similarity("rbf", 1.0 / view.shape[1], view[rows]) for view, rows in views]


def positive_projection(K):
    """Return P (m, m), the projection on the eigenvectors of K (m, m) with positive eigenvalues."""
    values, vectors = eigh(K)
    kept = vectors[:, values > 0]
    return kept @ kept.T


class KernelMachine(Machine):
    """A machine of the kernels of all views with the training samples."""

    def __init__(self, split, rows, seed):
        self.kernels = similarities(split, rows, [rows] * split.X.n_views)
        super().__init__(split, rows, seed)

    def features(self, rows):
        """Return the kernels, a view each."""
        views = zip(self.kernels, self.split.X.views, strict=True)
        return MultiView([mu(view[rows]) for mu, view in views])


class PairedSVM(KernelMachine):
    """SVM2K of every pair of views with a majority vote; the seed orders the solver's steps."""

    projections = None

    def __init__(self, split, rows, seed):
        super().__init__(split, rows, seed)
        if split.meta["kernel"] == "precomputed":
            self.projections = [positive_projection(K) for K in self.X.views]
            self.X = self.features(rows)
        self.X = MultiView([(K + K.T) / 2 for K in self.X.views])

    def features(self, rows):
        """Return the kernels, or their positive part."""
        K = super().features(rows)
        if self.projections is None:
            return K
        return MultiView([K_v @ P for K_v, P in zip(K.views, self.projections, strict=True)])

    def build(self, point, K, seed):
        return SVM2K(point["C"], D=point["D"], kernel="gram", random_state=seed, **AGREEMENT)


class NystromMetric(Machine):
    """MVML on L components per view, drawn view by view; the features serve all (lam, eta)."""

    def __init__(self, split, rows, seed, *, L):
        source = reference(split, rows)
        drawn = draw_components(split.X.observed[source], L, check_random_state(seed))
        chosen = [source[of_view] for of_view in drawn]
        self.kernels = similarities(split, rows, chosen)
        self.maps = []
        for mu, view, of_view in zip(self.kernels, split.X.views, chosen, strict=True):
            K = mu(view[of_view])
            if split.meta["kernel"] == "precomputed":
                P = positive_projection(K)
                K = P @ K @ P
            self.maps.append(nystrom_map(K))
        super().__init__(split, rows, seed)
        self.factors, self.classes = ViewFactors(self.X), np.unique(self.y)

    def features(self, rows):
        """Return the Nystroem features of every view, zeros where it is missing."""
        X = self.split.X[rows]
        views = zip(X.views, X.observed.T, self.kernels, self.maps, strict=True)
        return [nystrom_features(*of_view) for of_view in views]

    def train(self, point):
        """Train for one lam and eta, one class against the rest."""
        minima, setting = [], (point["lam"], point["eta"])
        for label in self.classes:
            carried = self.factors.carried(np.where(self.y == label, 1.0, -1.0))
            metric = MetricProblem(self.factors, *carried, *setting, False)
            minimum, _ = learn_metric(metric, n_rounds=N_ROUNDS, tol=TOL, learn_weights=False)
            minima.append([w * g for w, g in zip(minimum.w, minimum.g, strict=True)])
        by_view = zip(self.factors.turns, zip(*minima, strict=True), strict=True)
        self.coef = [turn @ np.transpose(of_classes) for turn, of_classes in by_view]

    def predict(self, features):
        scores = sum(F @ coef for F, coef in zip(features, self.coef, strict=True))
        return self.classes[scores.argmax(axis=1)]


class MeanKernelSVM(KernelMachine):
    """One SVM on the mean of the kernels of all views with the training samples."""

    def features(self, rows):
        """Return the mean kernel, shape (len(rows), m)."""
        return np.mean(super().features(rows).views, axis=0)

    def build(self, point, K, seed):
        return SVC(C=point["C"], kernel="precomputed")


class VotingSVM(Machine):
    """One kernel SVM per view with a majority vote; of Gram matrices, the training columns."""

    def features(self, rows):
        X = self.split.X[rows]
        if self.split.meta["kernel"] != "gram":
            return X
        return MultiView([K[:, self.rows] for K in X.views])

    def build(self, point, X, seed):
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
    "MVLSVM-hinge": Method(partial(LandmarkSVM, loss="hinge")),
    "MVLSVM-liblinear": Method(partial(LandmarkSVM, solver="liblinear", tol=1e-2)),  # its default
    "MVLSVM-rbf": Method(partial(Columns, head=rbf)),
    "MVLSVM-ridge0": Method(partial(LandmarkSVM, ridge=0, clip=None)),
    "MVLSVM-mean": Method(MeanFilled),
    "MVLSVM-complete": Method(partial(LandmarkSVM, landmarks="complete")),
    "MVLSVM-drop": Method(partial(LandmarkSVM, landmarks="complete", drop=True)),
    "MVLSVM-columns": Method(on_one_view),
    "SVC": Method(partial(Columns, head=rbf)),
    "SVC-mean": Method(MeanKernelSVM),
    "LogisticRegression": Method(partial(Columns, head=logistic)),
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
    """Tune and test a method; missing: share of missing views, in Figure 5."""
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
        with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
            machine = spec.make(problem, problem.train, seed, **spec.fixed).fit(setting)
        trained = time.process_time()
        machine.predict(machine.features(problem.test))
        runs.append((trained - start, time.process_time() - trained))
    train_seconds, test_seconds = np.median(runs, axis=0)
    return {"train_seconds": train_seconds, "test_seconds": test_seconds, **setting}
