"""One SVM on the mean of the views' kernels: the baseline of multi-view kernel methods."""

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from mvref.core.input import MultiView


def without_gaps(X, known):
    """Impute missing views by the mean of the known samples, or zeros in sparse views."""
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

    Missing views are imputed by the mean of the training samples, or zeros in a sparse view.
    """

    def __init__(self, C=1.0, gamma=1.0):
        self.C, self.gamma = C, gamma

    def fit(self, X, y):
        """Store the samples and train the SVM."""
        self.known_, self.X_ = X, without_gaps(X, X)
        self.svm_ = SVC(C=self.C, kernel="precomputed").fit(self._kernel(X), y)
        self.classes_ = self.svm_.classes_
        return self

    def predict(self, X):
        """Return the labels."""
        return self.svm_.predict(self._kernel(X))

    def decision_function(self, X):
        """Return the scores of the SVM."""
        return self.svm_.decision_function(self._kernel(X))

    def _kernel(self, X):
        pairs = zip(without_gaps(X, self.known_).views, self.X_.views, strict=True)
        return np.mean([rbf_kernel(a, b, gamma=self.gamma) for a, b in pairs], axis=0)
