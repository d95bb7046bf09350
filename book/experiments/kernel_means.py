"""One SVM on a mean of the views' kernels: the baseline that multi-view kernel methods must beat.

With weights "alignment" a view counts by how well its centred kernel agrees with that of the labels
(Cortes, Mohri and Rostamizadeh, "Algorithms for learning kernels based on centered alignment",
JMLR 13, 2012, section 3.1: each kernel on its own).
"""

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import KernelCenterer
from sklearn.svm import SVC

from mvref.core.input import MultiView
from mvref.core.measures import one_vs_rest


def alignment(K, y):
    """How well a kernel agrees with the labels: the cosine of the two centred matrices.

    >>> float(alignment(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([0, 1])))
    1.0
    """
    Y = one_vs_rest(y)
    K, T = (KernelCenterer().fit_transform(M.astype(float)) for M in (K, Y @ Y.T))
    return np.sum(K * T) / np.sqrt(np.sum(K * K) * np.sum(T * T))


def without_gaps(X, known):
    """Put means of the known samples, of sparse views zeros, in the place of missing views."""
    views = []
    for v, (view, seen) in enumerate(zip(X.views, X.observed.T, strict=True)):
        if sparse.issparse(view):
            views.append(sparse.csr_matrix(sparse.diags(seen.astype(float)) @ view))
        else:
            rows = known.views[v][known.observed[:, v]]
            mean = rows.mean(axis=0) if len(rows) else np.zeros(view.shape[1])
            views.append(np.where(seen[:, None], view, mean))
    return MultiView(views, names=X.names)


class KernelMeanSVC(ClassifierMixin, BaseEstimator):
    """SVM on the mean of the views' Gaussian kernels exp(-gamma |x - x'|^2).

    weights: "equal", or "alignment": by the positive part of a view's alignment with the labels.
    What is missing is the mean of the training samples, or zero in a sparse view.
    """

    def __init__(self, C=1.0, gamma=1.0, weights="equal"):
        self.C, self.gamma, self.weights = C, gamma, weights

    def fit(self, X, y):
        """Keep the samples, weigh their views, and learn."""
        self.known_, self.X_ = X, without_gaps(X, X)
        kernels = self._kernels(X)
        self.weights_ = np.ones(len(kernels))
        if self.weights == "alignment":
            self.weights_ = np.maximum([alignment(K, y) for K in kernels], 0.0)
        if not self.weights_.any():
            self.weights_ = np.ones(len(kernels))
        self.weights_ = self.weights_ / self.weights_.sum()
        self.svm_ = SVC(C=self.C, kernel="precomputed").fit(self._mean(kernels), y)
        self.classes_ = self.svm_.classes_
        return self

    def predict(self, X):
        """Return the labels."""
        return self.svm_.predict(self._mean(self._kernels(X)))

    def decision_function(self, X):
        """Return the scores of the SVM."""
        return self.svm_.decision_function(self._mean(self._kernels(X)))

    def _kernels(self, X):
        pairs = zip(without_gaps(X, self.known_).views, self.X_.views, strict=True)
        return [rbf_kernel(a, b, gamma=self.gamma) for a, b in pairs]

    def _mean(self, kernels):
        return np.tensordot(self.weights_, kernels, axes=1)
