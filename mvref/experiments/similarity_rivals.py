"""SVM2K and MVML as the experiments train them, under the interface of `LandmarkSVM`.

Both need kernels that are positive semi-definite. The distances of flower17 are not Euclidean, and
exp(-d^2/mean(d)) of them has negative eigenvalues, down to -0.4 % of the largest. Both methods get
the positive part of their kernel matrix instead, K P with P the projection on the eigenvectors of
the positive eigenvalues; rows of new samples are multiplied by the same P. MVML's authors drop such
eigenvalues as well. The SVMs of single views take the kernel as it is, which libsvm allows.
"""

from itertools import product

import numpy as np
from scipy.linalg import eigh
from sklearn.utils import check_random_state

from ..core.kernels import Similarity
from ..core.nystrom import draw_components, nystrom_features, nystrom_map
from ..core.views import MultiView
from ..rivals import SVM2K
from ..rivals.mvml_descent import Problem as MetricProblem
from ..rivals.mvml_descent import learn_metric
from ..rivals.mvml_metric import ViewFactors
from .problems import mean_distance_gamma

# ties go to the first: the smaller C and D, the larger lam
AGREEMENT_GRID = tuple(product((1e-2, 1e-1, 1.0), (1e-4, 1e-2)))  # C, D
METRIC_GRID = tuple((lam, 1.0) for lam in (1.0, 1e-1, 1e-2, 1e-4, 1e-6))  # lam, eta
AGREEMENT = {"eps": 1e-3, "tol": 1e-2}
N_ROUNDS, TOL = 6, 1e-4  # of MVML's descent: the defaults of mvref.rivals.MVML


def similarities(problem, reference, chosen):
    """Return the kernel of every view to its chosen samples.

    reference: Rows whose mean distance is the width of a kernel of distances.
    """
    gammas = mean_distance_gamma(problem, reference)
    if problem.kernel == "precomputed":
        views = zip(gammas, chosen, strict=True)
        return [Similarity("precomputed", gamma, rows) for gamma, rows in views]
    views = zip(problem.X.views, chosen, strict=True)
    return [Similarity("rbf", 1.0 / view.shape[1], view[rows]) for view, rows in views]


def positive_projection(K):
    """Return the projection P on the eigenvectors of K whose eigenvalues are positive.

    K (m, m): Symmetric; returns P (m, m).

    Examples
    --------
    >>> import numpy as np
    >>> from mvref.experiments.similarity_rivals import positive_projection
    >>> positive_projection(np.diag([2.0, -1.0]))
    array([[1., 0.],
           [0., 0.]])
    """
    values, vectors = eigh(K)
    kept = vectors[:, values > 0]
    return kept @ kept.T


class PairedSVM:
    """SVM2K of every pair of views with a majority vote.

    reference, train: Rows that fix the width of a kernel of distances, and rows to train on; seed:
    Order of the solver's steps.
    """

    def __init__(self, problem, reference, train, L, seed):
        self.problem, self.seed, self.y = problem, seed, problem.y[train]
        self.kernels = similarities(problem, reference, [train] * problem.X.n_views)
        self.projections = None
        grams = self.features(train).views
        if problem.kernel == "precomputed":
            self.projections = [positive_projection(K) for K in grams]
            grams = [K @ P for K, P in zip(grams, self.projections, strict=True)]
        self.K = MultiView([(K + K.T) / 2 for K in grams])

    def features(self, rows):
        """Return the kernels to the training samples, a view each."""
        K = [mu(view[rows]) for mu, view in zip(self.kernels, self.problem.X.views, strict=True)]
        if self.projections is not None:
            K = [K_v @ P for K_v, P in zip(K, self.projections, strict=True)]
        return MultiView(K)

    def fit(self, setting):
        """Train for one (C, D)."""
        C, D = setting
        model = SVM2K(C, D=D, kernel="gram", random_state=self.seed, **AGREEMENT)
        self.model = model.fit(self.K, self.y)
        return self

    def predict(self, features):
        """Return the labels of samples given by their kernels."""
        return self.model.predict(features)


class NystromMetric:
    """MVML on L components per view; the features are computed once for all (lam, eta).

    reference, train: Rows to draw the components from, view by view, and rows to train on.
    """

    def __init__(self, problem, reference, train, L, seed):
        self.X = problem.X
        drawn = draw_components(self.X.observed[reference], L, check_random_state(seed))
        chosen = [reference[rows] for rows in drawn]
        self.kernels = similarities(problem, reference, chosen)
        self.maps = []
        for mu, view, rows in zip(self.kernels, self.X.views, chosen, strict=True):
            K = mu(view[rows])
            if problem.kernel == "precomputed":
                P = positive_projection(K)
                K = P @ K @ P
            self.maps.append(nystrom_map(K))
        self.factors = ViewFactors(self.features(train))
        self.classes, codes = np.unique(problem.y[train], return_inverse=True)
        self.targets = [np.where(codes == k, 1.0, -1.0) for k in range(len(self.classes))]

    def features(self, rows):
        """Return the Nystroem features of every view, zeros where it is missing."""
        X = self.X[rows]
        views = zip(X.views, X.observed.T, self.kernels, self.maps, strict=True)
        return [nystrom_features(*of_view) for of_view in views]

    def fit(self, setting):
        """Train for one (lam, eta), one class against the rest."""
        self.points = []
        for y in self.targets:
            metric = MetricProblem(self.factors, *self.factors.carried(y), *setting, False)
            point, _ = learn_metric(metric, n_rounds=N_ROUNDS, tol=TOL, learn_weights=False)
            self.points.append(point)
        return self

    def predict(self, features):
        """Return the labels of samples given by their features."""
        scores = 0.0
        for v, (F, turn) in enumerate(zip(features, self.factors.turns, strict=True)):
            g = np.array([point.w[v] * point.g[v] for point in self.points])
            scores = scores + F @ (turn @ g.T)
        return self.classes[scores.argmax(axis=1)]
