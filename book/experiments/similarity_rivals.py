"""SVM2K and MVML as part I's experiments train them: machines of :mod:`.tuning`.

Both need kernels that are positive semi-definite. The distances of flower17 are not Euclidean, and
exp(-d^2/mean(d)) of them has negative eigenvalues, down to -0.4 % of the largest. Both methods get
the positive part of their kernel matrix instead, K P with P the projection on the eigenvectors of
the positive eigenvalues; rows of new samples are multiplied by the same P. MVML's authors drop such
eigenvalues as well. The SVMs of single views take the kernel as it is, which libsvm allows.
"""

import numpy as np
from scipy.linalg import eigh
from sklearn.utils import check_random_state

from mvref.compare.tuning import Machine
from mvref.core.input import MultiView
from mvref.core.kernels import Similarity
from mvref.core.nystrom import draw_components, nystrom_features, nystrom_map
from mvref.rivals import SVM2K
from mvref.rivals.mvml_descent import Problem as MetricProblem
from mvref.rivals.mvml_descent import ViewFactors, learn_metric

from .problems import mean_distance_gamma, reference
from .tables import grid

# ties go to the first: the smaller C, the larger lam
AGREEMENT_GRID = grid(C=[10.0**k for k in range(-4, 3)], D=(1e-4,))
METRIC_GRID = grid(lam=[10.0**-k for k in range(7)], eta=(1.0,))
AGREEMENT = {"eps": 1e-3, "tol": 1e-2}
N_ROUNDS, TOL = 6, 1e-4  # of MVML's descent: the defaults of mvref.rivals.MVML


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

    def fit(self, point):
        """Train for one lam and eta, one class against the rest."""
        minima, setting = [], (point["lam"], point["eta"])
        for label in self.classes:
            carried = self.factors.carried(np.where(self.y == label, 1.0, -1.0))
            metric = MetricProblem(self.factors, *carried, *setting, False)
            minimum, _ = learn_metric(metric, n_rounds=N_ROUNDS, tol=TOL, learn_weights=False)
            minima.append([w * g for w, g in zip(minimum.w, minimum.g, strict=True)])
        by_view = zip(self.factors.turns, zip(*minima, strict=True), strict=True)
        self.coef = [turn @ np.transpose(of_classes) for turn, of_classes in by_view]
        return self

    def predict(self, features):
        scores = sum(F @ coef for F, coef in zip(features, self.coef, strict=True))
        return self.classes[scores.argmax(axis=1)]
