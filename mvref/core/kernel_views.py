"""Functions of the views: columns and weights, or Gram matrices and coefficients.

Problem   A function of view j is f_j(x) = w_j' x_j + b_j. With a kernel k_j in place of the inner
          product, the solution has the dual form, such as that of MVPO, Eq. (13),
          f_j(x) = sum_i beta_ij k_j(x_j, x_ij) + b_j,   beta_j = ``coefficients`` of the metric.

Symbols   w_j      coef_[j]       (d_j,)
          beta_j   dual_coef_[j]  (n_j,), of the training samples that have view j
          b_j      share          weight of one more feature of constant value B, times B. As a
                                  column it is B for all samples, in a kernel it is + B^2.

A missing view is a row of zeros, the constant feature too: it adds nothing to the score.
"""

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, eigvalsh

from .input import check_kernel, view_features
from .kernels import fit_similarities, linear, one_per_view

PSD_TOLERANCE = 1e-8  # of the smallest eigenvalue, relative to the sum of all


class LinearViews:
    """Columns of the views, and the weights of the columns.

    constant: B; 0 for no intercept; n_features: d, with the constant features.

    >>> from mvref import MultiView
    >>> form = LinearViews(MultiView([np.array([[1.0], [2.0]])]), 3.0)
    >>> form.features, form.grams()
    ([array([[1., 3.],
             [2., 3.]])], [array([[10., 11.],
                                  [11., 13.]])])
    """

    similarities = None

    def __init__(self, X, constant):
        self.constant = constant
        self.features = view_features(X, constant)
        self.n_features = sum(view.shape[1] for view in self.features)

    def grams(self):
        """Return the Gram matrices of the features."""
        return [linear(view, view) for view in self.features]

    def functions(self, metric, c):
        """Return the w_j and the shares b_j of w = M^-1 X'c: c (n,) -> shares (V,)."""
        if hasattr(metric, "weights"):
            w = metric.weights(c)
        else:
            betas = metric.coefficients(c)
            w = [np.asarray(Z.T @ beta) for Z, beta in zip(self.features, betas, strict=True)]
        if not self.constant:
            return w, np.zeros(len(w))
        return [w_j[:-1] for w_j in w], self.constant * np.array([w_j[-1] for w_j in w])

    def training_scores(self, w, shares):
        """Return the scores of the views (V, n) that weights and shares give, and all |w|^2."""
        if self.constant:
            w = [np.append(w_j, b / self.constant) for w_j, b in zip(w, shares, strict=True)]
        pairs = zip(self.features, w, strict=True)
        return np.array([Z @ w_j for Z, w_j in pairs]), sum(w_j @ w_j for w_j in w)


class KernelViews:
    """Kernels of the views, and the coefficients of the training samples.

    constant: B; 0 for no intercept; similarities: kernels to samples that have the view.

    >>> from mvref import MultiView
    >>> KernelViews(MultiView([np.array([[1.0], [2.0]])]), ["linear"], None, 3.0).grams()
    [array([[10., 11.],
            [11., 13.]])]
    """

    n_features = np.inf  # never formed

    def __init__(self, X, kernels, gamma, constant):
        self.constant = constant
        self.rows = [np.flatnonzero(seen) for seen in X.observed.T]
        self.similarities = fit_similarities(kernels, gamma, X, self.rows, self.rows)
        views = zip(X.views, X.names, self.rows, self.similarities, strict=True)
        self._grams = [np.zeros((X.n_samples, X.n_samples)) for _ in X.views]
        for K, (view, name, rows, mu) in zip(self._grams, views, strict=True):
            K[np.ix_(rows, rows)] = _inner_product(mu(view[rows]), name) + constant**2

    def grams(self):
        """Return the Gram matrices of the kernels, with the constant feature."""
        return self._grams

    def functions(self, metric, c):
        """Return the beta_j and the shares b_j: c (n,) -> shares (V,)."""
        betas = metric.coefficients(c)
        betas = [beta[rows] for beta, rows in zip(betas, self.rows, strict=True)]
        return betas, self.constant**2 * np.array([beta.sum() for beta in betas])

    def training_scores(self, betas, _):
        """Return the scores of the views (V, n) that coefficients give, and all |w|^2."""
        views = list(zip(self._grams, betas, self.rows, strict=True))
        U = np.array([K[:, rows] @ beta for K, beta, rows in views])
        norms = (beta @ u[rows] for (_, beta, rows), u in zip(views, U, strict=True))
        return U, sum(norms)


def similarities_to(X, kernels, gammas, rows):
    """Return kernels of all views to some samples that have the view; gamma is fitted to all."""
    complete = [np.flatnonzero(seen) for seen in X.observed.T]
    return fit_similarities(kernels, gammas, X, rows, complete)


def check_kernels(kernel, gamma, n_views):
    """Check the kernels of all views before any work is done, and return one per view.

    >>> check_kernels("rbf", None, 2)
    ['rbf', 'rbf']
    """
    kernels = one_per_view(kernel, n_views, "kernel")
    for of_view in zip(kernels, one_per_view(gamma, n_views, "gamma"), strict=True):
        check_kernel(*of_view)
    return kernels


def add_linear_scores(scores, X, coef):
    """Add the scores w_j' x_j of all views to `scores` (n, K), in place."""
    for view, w in zip(view_features(X, 0.0), coef, strict=True):
        scores += np.asarray(view @ np.atleast_2d(w).T)


def add_kernel_scores(scores, X, similarities, dual_coef):
    """Add the scores k_j(x_j, X_j) beta_j of the views that a sample has to `scores`, in place."""
    for view, seen, mu, beta in zip(X.views, X.observed.T, similarities, dual_coef, strict=True):
        if seen.any():
            scores[seen] += mu(view[seen]) @ np.atleast_2d(beta).T


def _inner_product(K, name):
    """Return a symmetrised kernel matrix; raise a ValueError unless it is symmetric and PSD."""
    symmetric = (K + K.T) / 2.0
    scale = np.abs(K).max(initial=0.0)
    if np.abs(K - symmetric).max(initial=0.0) > PSD_TOLERANCE * scale:
        raise ValueError(f"kernel of view {name!r} must be symmetric on the training samples.")
    ridge = PSD_TOLERANCE * max(K.trace(), 0.0) + np.finfo(float).tiny
    try:
        cho_factor(symmetric + ridge * np.eye(len(K)))
    except LinAlgError:
        values = eigvalsh(symmetric)
        raise ValueError(
            f"kernel of view {name!r} must be positive semi-definite on the training samples, "
            f"got eigenvalues from {values[0]:.3g} to {values[-1]:.3g}."
        ) from None
    return symmetric
