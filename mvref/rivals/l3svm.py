"""L3-SVM: a linear SVM per cluster on similarities to landmarks, all learnt in one problem.

V. Zantedeschi, R. Emonet, M. Sebban, "L3-SVMs: Landmarks-based linear local support vector
machines", arXiv 1703.00284, 2017; the ancestor, for one view, of MVL-SVM (Zantedeschi, Emonet and
Sebban, ECML PKDD 2018).

Problem   min over theta_1, ..., theta_K, b of
          1/2 sum_k |theta_k|^2 + c/m sum_i max(0, 1 - y_i f(x_i))
          f(x) = theta_k(x)' mu(x) + b,   mu(x) = [mu(x, l_1), ..., mu(x, l_L)]
          With weights w_i of the samples, a mean (of losses, in k-means, of columns) is a weighted
          one: sum_i w_i takes the place of m.

Symbols   paper      code                      meaning
          k(x)       ``clusters_``             cluster of x, by k-means on the features
          l_p, L     ``landmarks_``            training samples, drawn at random
          theta, b   ``coef_``, ``intercept_`` theta_k is block k of a row of ``coef_``
          c          c                         liblinear's C is c/m

Algorithm 1 cluster;  2 draw landmarks;  3 write mu(x_i) into the columns of the cluster of x_i, a
          sparse table with L values per row;  4 one linear SVM on it.

Our interpretations
          * The definition is that of the authors' program (github.com/vzantedeschi/L3SVMs) and of
            the abstract; its simplest form, random landmarks and a linear kernel, is our default.
          * ``landmarks="shared"``: all clusters have the same landmarks, as in the program.
            ``"cluster"`` is our variant: each cluster draws landmarks from its own samples.
          * Several views are concatenated, for the clusters and for the similarities. With one
            cluster and one view this is MVL-SVM, whose intercept is penalised, too. More than two
            classes: one-vs-rest.
"""

import warnings

import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from ..core.base import MultiViewClassifier
from ..core.input import (
    ClassWeight,
    Kernel,
    KernelWidth,
    Literal,
    RandomState,
    ViewColumns,
    Weighted,
    check_choice,
    check_number,
    view_features,
)
from ..core.kernels import fit_similarity
from ..core.linear_svm import LOSSES, fit_linear_svm
from ..core.nystrom import no_more_than_there_are
from .common import side_by_side

MOST_LANDMARKS = 200  # of "auto", as in MVLSVM


def block_features(columns, clusters, similarities):
    """Return the table Z (n, L_1 + ... + L_K) of mu(x_i) in the columns of x_i's cluster."""
    widths = np.array([len(mu) for mu in similarities])
    first = np.cumsum(widths) - widths
    ends = np.concatenate([[0], np.cumsum(widths[clusters])])
    values, places = np.zeros(ends[-1]), np.zeros(ends[-1], dtype=int)
    for k in np.unique(clusters):
        rows, own = np.flatnonzero(clusters == k), np.arange(widths[k])
        at = ends[rows][:, None] + own
        values[at] = similarities[k](columns[rows])
        places[at] = first[k] + own
    return sparse.csr_matrix((values, places, ends), shape=(len(clusters), widths.sum()))


class L3SVM(Weighted, MultiViewClassifier):
    """Local linear SVMs on similarities to landmarks, one per cluster of the samples (L3-SVM).

    Parameters
    ----------
    n_clusters : int, default=5; K; 1 is a landmark SVM without clusters
    n_landmarks : int or "auto", default="auto"
        L. "auto": 200, or all training samples if there are fewer. With ``landmarks="cluster"``, a
        cluster with fewer samples uses all of them.
    kernel : {"linear", "rbf", "precomputed", "gram"} or callable, default="linear"
        Similarity mu of the concatenated features; :class:`~mvref.LandmarkProjection` describes
        what each kernel needs. "precomputed" and "gram" need a single view, whose rows are
        clustered.
    gamma : float, "mean" or None, default=None
        Kernel width. None: 1/d for "rbf", "mean" for "precomputed". Other kernels have no width.
    landmarks : {"shared", "cluster"}, default="shared"; same for all clusters, or drawn in each
    c : float, default=10.0; weight of the mean loss
    loss : {"hinge", "squared_hinge"}, default="hinge"
    fit_intercept, intercept_scaling : bool, default=True, and float, default=1.0
        Whether to learn b, and the value of the constant feature, whose weight is penalised.
    n_init : int, default=10; number of starts of k-means, of which the best is taken
    tol : float, default=1e-6; relative duality gap of the linear SVM
    max_iter : int, default=2000; maximum number of its Newton steps for a class
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply ``sample_weight``; the means are weighted.
    views : sequence or mapping, default=None; widths, slices, indices or names that split a 2-D `X`
    random_state : int, RandomState instance or None, default=None; seed of clusters, landmarks

    Attributes
    ----------
    clusters_ : fitted KMeans
    landmark_indices_ : list of K int arrays, rows of the training samples
    landmarks_ : list of K arrays or CSR matrices, shape (L_k, d)
    similarities_ : list of K similarity functions to the landmarks
    means_ : list of V arrays (d_v,), the means that replace missing views
    coef_, intercept_ : arrays, shapes (1 or n_classes, L_1 + ... + L_K) and (1 or n_classes,)
    dual_gap_, n_iter_ : array (1 or n_classes,), and int, the maximum over the classes
    classes_, n_features_in_ : sorted array of labels, and int, number of columns of all views
    view_names_, view_widths_, view_feature_names_ : lists; name, width, columns of each view

    See Also
    --------
    mvref.MVLSVM : Landmarks without clusters, in all views.

    Notes
    -----
    Provenance: public implementation. The authors' program has the same clusters, landmarks and
    penalised constant, with the squared hinge. The text (arXiv 1703.00284) was not available to us.

    Features should have comparable scales. Missing views are replaced by the training means of
    their features (mean imputation), which pulls samples to the middle;
    :class:`~mvref.rivals.LaplacianCompletion` before this class (with ``output="features"``)
    imputes them from the other views instead.

    Landmarks are drawn from the training samples irrespective of their weights, and k-means starts
    at random: a weight of 2 is equivalent to repeating the sample for the same landmarks and
    clusters. The mean distance of ``gamma="mean"`` counts every sample once.

    Examples
    --------
    >>> import numpy as np
    >>> from mvref.rivals import L3SVM
    >>> x = np.random.RandomState(0).uniform(-1, 1, size=(300, 2))
    >>> y = x[:, 0] * x[:, 1] > 0  # no line separates this
    >>> one, four = (L3SVM(K, random_state=0).fit([x], y).score([x], y) for K in (1, 4))
    >>> bool(one < 0.7 and four > 0.9)
    True
    """

    _learnt = "coef_"

    def __init__(
        self,
        n_clusters: int = 5,
        *,
        n_landmarks: int | Literal["auto"] = "auto",
        kernel: Kernel = "linear",
        gamma: KernelWidth | None = None,
        landmarks: Literal["shared", "cluster"] = "shared",
        c: float = 10.0,
        loss: Literal["hinge", "squared_hinge"] = "hinge",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        n_init: int = 10,
        tol: float = 1e-6,
        max_iter: int = 2000,
        class_weight: ClassWeight | None = None,
        views: ViewColumns | None = None,
        random_state: RandomState | None = None,
    ):
        self.n_clusters, self.n_landmarks, self.kernel = n_clusters, n_landmarks, kernel
        self.gamma, self.landmarks, self.c = gamma, landmarks, c
        self.loss, self.fit_intercept = loss, fit_intercept
        self.intercept_scaling, self.n_init, self.tol = intercept_scaling, n_init, tol
        self.max_iter, self.class_weight = max_iter, class_weight
        self.views, self.random_state = views, random_state

    def _fit(self, X, codes, weights):
        """Cluster, draw landmarks, and learn one linear SVM on the similarities."""
        m = X.n_samples
        check_number(self.n_clusters, "n_clusters", low=1, high=m, integer=True)
        if self.n_landmarks != "auto":
            check_number(self.n_landmarks, "n_landmarks", low=1, integer=True)
        if X.n_views > 1 and self.kernel in ("precomputed", "gram"):
            told = "kernel must be one of ['linear', 'rbf'] or callable for several views"
            raise ValueError(f"{told}, got {self.kernel!r}.")
        self.means_ = _column_means(X, weights)
        columns = _complete_columns(X, self.means_)
        rng = check_random_state(self.random_state)
        kmeans = KMeans(self.n_clusters, n_init=self.n_init, random_state=rng.randint(2**31))
        with warnings.catch_warnings():  # fewer different samples than clusters: some stay empty
            warnings.simplefilter("ignore", ConvergenceWarning)
            self.clusters_ = kmeans.fit(columns, sample_weight=weights)
        self.landmark_indices_ = self._draw_landmarks(kmeans.labels_, rng)
        self.landmarks_ = [columns[rows] for rows in self.landmark_indices_]
        self.similarities_ = [
            fit_similarity(self.kernel, self.gamma, columns, rows, np.arange(m))
            for rows in self.landmark_indices_
        ]
        Z = block_features(columns, kmeans.predict(columns), self.similarities_)
        options = {name: getattr(self, name) for name in ("loss", "tol", "max_iter")}
        options["intercept_scaling"] = self.intercept_scaling if self.fit_intercept else 0.0
        C = self.c / (m if weights is None else weights.sum())
        learnt = fit_linear_svm(Z, codes, C, weights=weights, **options)
        self.coef_, self.intercept_, self.n_iter_, self.dual_gap_, _ = learnt

    def _draw_landmarks(self, labels, rng):
        """Draw the training rows of each cluster's landmarks; an empty one draws from all rows."""
        m = len(labels)
        L = self.n_landmarks
        L = min(MOST_LANDMARKS, m) if L == "auto" else no_more_than_there_are(L, "n_landmarks", m)
        if self.landmarks == "shared":
            return [rng.choice(m, L, replace=False)] * self.n_clusters
        members = [np.flatnonzero(labels == k) for k in range(self.n_clusters)]
        members = [rows if len(rows) else np.arange(m) for rows in members]
        return [rng.choice(rows, min(L, len(rows)), replace=False) for rows in members]

    def _scores(self, X):
        columns = _complete_columns(X, self.means_)
        Z = block_features(columns, self.clusters_.predict(columns), self.similarities_)
        return Z @ self.coef_.T + self.intercept_

    def _check_parameters(self):
        check_choice(self.landmarks, "landmarks", ("shared", "cluster"))
        check_choice(self.loss, "loss", LOSSES)
        for name in ("c", "intercept_scaling", "tol"):
            check_number(getattr(self, name), name, low=0, low_open=True)
        for name in ("n_init", "max_iter"):
            check_number(getattr(self, name), name, low=1, integer=True)


def _column_means(X, weights):
    """Return the weighted column means of every view over samples that have it; 0 if none."""
    if weights is None:
        sums, of_view = [v.sum(axis=0) for v in view_features(X, 0.0)], X.observed.sum(axis=0)
    else:
        sums, of_view = [v.T @ weights for v in view_features(X, 0.0)], weights @ X.observed
    of_view = np.where(of_view > 0, of_view, 1)
    return [np.asarray(s).ravel() / w for s, w in zip(sums, of_view, strict=True)]


def _complete_columns(X, means):
    """Concatenate the features, with missing views replaced by the means of their columns."""
    views = []
    for view, seen, mean in zip(view_features(X, 0.0), X.observed.T, means, strict=True):
        if sparse.issparse(view):
            gaps = sparse.csr_matrix(~seen[:, None], dtype=float)
            views.append(view + gaps @ sparse.csr_matrix(mean[None, :]))
        else:
            views.append(np.where(seen[:, None], view, mean))
    columns = side_by_side(views)
    values = columns.data if sparse.issparse(columns) else columns
    with np.errstate(over="ignore"):
        bound = np.square(np.square(values).sum())  # of squared inner products
    if not np.isfinite(bound):
        raise ValueError("X has values too large for their products. Standardise the views.")
    return columns
