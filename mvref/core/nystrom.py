"""Nyström approximation of a kernel by some of the samples, in factor form: K = F F'.

Problem   K = G_nS G_SS^+ G_Sn                                             (Eq. 1 of MVNA-KMHKS)
          with G_ij = k(x_i, x_j) and S the components, m samples drawn without replacement

Symbols   paper          code            shape
          n, m           -               numbers of samples, of components
          G_nm, G_mm     -               (n, m), (m, m)
          -              ``T``           (m, r), with T T' = G_SS^+ and r its rank
          K              F F'            F = G_nS T, (n, r)

A new sample has the features k(x, S) T, so F F' extends to it: the *Nyström extension*. Labels do
not enter; the rows and columns of the paper's K are multiplied by them.

Departure from the paper: G_mm^{-1} is a pseudo-inverse with a relative cut-off (erratum N1),
because equal samples, or a linear kernel of few features, make G_mm singular.
"""

import numpy as np
from scipy.linalg import eigh

from .input import check_number, warn_caller
from .kernel_views import similarities_to

EIGEN_CUTOFF = 1e-10  # smallest eigenvalue of G_SS kept, relative to the largest
PSD_TOLERANCE = 1e-8  # of negative eigenvalues and asymmetry, relative to the sum or the largest
LARGEST = 1e150  # of a kernel; squares of larger numbers overflow
AUTO_COMPONENTS = 256  # of "auto", at most; the paper's section 3.1 names 256 and 512


def draw_components(observed, n_components, rng):
    """Draw the components of every view without replacement, from the samples that have the view.

    observed (n, V); n_components: m, or the fraction of the samples, above 0 and at most 1, or
    "auto", half of them, at most 256; rng: RandomState -> a list of V increasing arrays of rows
    (m_v,), all rows of a view with fewer samples than components, with a warning.

    >>> import numpy as np
    >>> from mvref.core.nystrom import draw_components
    >>> observed = np.ones((10, 2), dtype=bool)
    >>> draw_components(observed, 3, np.random.RandomState(0))
    [array([2, 4, 8]), array([1, 3, 5])]
    """
    check_n_components(n_components)
    drawn = []
    for v, seen in enumerate(observed.T):
        rows = np.flatnonzero(seen)
        n, m = len(rows), n_components
        if n == 0:
            raise ValueError(f"X has no sample with view {v}, so no component can be drawn.")
        if isinstance(m, str):
            m = min(AUTO_COMPONENTS, (n + 1) // 2)
        elif isinstance(m, float | np.floating):
            m = int(np.ceil(m * n))
        else:
            m = no_more_than_there_are(m, "n_components", n)
        drawn.append(np.sort(rng.choice(rows, m, replace=False)))
    return drawn


def no_more_than_there_are(n, name, n_samples):
    """Return `n`, or with a warning the number of samples if it is smaller (learning curves)."""
    if n > n_samples:
        warn_caller(
            f"{name}={n} is larger than the number of samples, {n_samples}. All samples are used.",
            UserWarning,
        )
    return min(n, n_samples)


def check_n_components(n_components):
    """Raise a ValueError unless `n_components` is "auto", an integer >= 1 or a fraction."""
    if isinstance(n_components, str) and n_components != "auto":
        raise ValueError(
            f"n_components must be 'auto', an integer or a fraction, got {n_components!r}."
        )
    if isinstance(n_components, float | np.floating):
        check_number(n_components, "n_components", low=0, high=1, low_open=True)
    elif not isinstance(n_components, str):
        check_number(n_components, "n_components", low=1, integer=True)


def nystrom_map(K):
    """Return T (m, r) with T T' = K^+, of the kernel matrix K (m, m) of the components.

    >>> K = np.array([[4.0, 4.0], [4.0, 4.0]])  # the same sample twice
    >>> T = nystrom_map(K)
    >>> T.shape, (K @ T @ T.T @ K).round(12)
    ((2, 1), array([[4., 4.],
                    [4., 4.]]))
    """
    if not np.abs(K).max(initial=0.0) < LARGEST:
        raise ValueError(f"kernel has values not finite or above {LARGEST:g}. Standardise X.")
    if np.abs(K - K.T).max(initial=0.0) > PSD_TOLERANCE * np.abs(K).max(initial=0.0):
        raise ValueError("kernel must be symmetric on the training samples.")
    values, vectors = eigh((K + K.T) / 2.0)
    if values[0] < -PSD_TOLERANCE * np.abs(values).sum():
        raise ValueError(
            "kernel must be positive semi-definite on the training samples, got eigenvalues from "
            f"{values[0]:.3g} to {values[-1]:.3g}."
        )
    keep = values > EIGEN_CUTOFF * values[-1]
    return vectors[:, keep] / np.sqrt(values[keep])


def nystrom_features(view, seen, similarity, T):
    """Return F = k(x, S) T, with rows of zeros where the view is missing.

    view (n, d); seen (n,); similarity: kernel to the components S; T (m, r) -> F (n, r).
    """
    if seen.all():
        return similarity(view) @ T
    F = np.zeros((len(seen), T.shape[1]))
    if seen.any():
        F[seen] = similarity(view[seen]) @ T
    return F


class NystromViews:
    """Nyström features of the views, for every classifier.

    sources: the views of every classifier; similarities: kernels to the components; seen (M, n).

    >>> from mvref import MultiView
    >>> X = MultiView([np.array([[1.0], [2.0], [3.0]])])
    >>> form = NystromViews(X, ["linear"], [None], [[0]], 2, np.random.RandomState(0))
    >>> (form.factors[0] @ form.factors[0].T).round(12)  # exact: the kernel has rank one
    array([[1., 2., 3.],
           [2., 4., 6.],
           [3., 6., 9.]])
    """

    def __init__(self, X, kernels, gammas, sources, n_components, rng):
        self.sources = sources
        self.seen = np.array([X.observed[:, views].any(axis=1) for views in sources])
        self.components = draw_components(X.observed, n_components, rng)
        self.similarities = similarities_to(X, kernels, gammas, self.components)
        self.maps = [self._map(X, v) for v in range(X.n_views)]
        self.factors = [self._features(X, views) for views in sources]

    def _map(self, X, v):
        return nystrom_map(self.similarities[v](X.views[v][self.components[v]]))

    def _features(self, X, views):
        parts = [
            nystrom_features(X.views[v], X.observed[:, v], self.similarities[v], self.maps[v])
            for v in views
        ]
        return parts[0] if len(parts) == 1 else np.hstack(parts)

    def component_coefficients(self, thetas):
        """Return the coefficients T beta of the components: the score is k(x, S) T beta."""
        coefficients = [None] * len(self.maps)
        for views, theta in zip(self.sources, thetas, strict=True):
            ends = np.cumsum([self.maps[v].shape[1] for v in views])
            for v, beta in zip(views, np.split(theta[:-1], ends[:-1]), strict=True):
                coefficients[v] = self.maps[v] @ beta
        return coefficients
