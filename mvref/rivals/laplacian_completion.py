"""Completion of kernel matrices by a graph Laplacian, the rivals' treatment of missing views.

A. Trivedi, P. Rai, H. Daume III, S. DuVall, "Multiview clustering with incomplete views", NIPS
workshop 2010; as the authors of MVL-SVM use it before their per-view SVMs.

Problem   given the Gram matrix K_ref of a reference view and view v on the samples c only,
          min over K_v of  trace(Lap K_v)  with K_cc fixed,   Lap = diag(K_ref 1) - K_ref
Solution  u = samples that miss view v:  T = -Lap_uu^-1 Lap_uc,  K_uc = T K_cc,  K_uu = T K_cc T'
Limits    a sample without the reference view cannot be completed in the others. The completion is
          transductive: new samples take part in the graph.
"""

import warnings
from numbers import Integral

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.csgraph import connected_components
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from ..base import MultiViewInput, validate_views
from ..kernels import fit_similarities, fit_similarity, one_per_view
from ..views import MultiView


def harmonic_weights(K_ref, unknown):
    """Return T, which writes the unknown samples as averages of the known ones.

    Parameters
    ----------
    K_ref : array, shape (n, n)
        Gram matrix of the reference view, non-negative.
    unknown : bool array, shape (n,)

    Returns
    -------
    T : array, shape (n_unknown, n_known)
        ``-Lap_uu^-1 Lap_uc``; rows sum to one, or to zero for a sample that no chain of positive
        similarities connects to a known one (with a ConvergenceWarning).

    Examples
    --------
    >>> import numpy as np
    >>> from mvref.rivals.laplacian_completion import harmonic_weights
    >>> harmonic_weights(np.ones((3, 3)), np.array([True, False, False]))
    array([[0.5, 0.5]])
    """
    if (K_ref < 0).any():
        raise ValueError("the reference view has negative similarities, its graph needs them >= 0.")
    _, component = connected_components(sparse.csr_matrix(K_ref))
    reached = np.isin(component, component[~unknown])[unknown]
    if not reached.all():
        warnings.warn(
            f"{(~reached).sum()} sample(s) are connected to no known one in the reference view; "
            "their completed similarities are zero.",
            ConvergenceWarning,
            stacklevel=2,
        )
    rows = np.flatnonzero(unknown)[reached]
    lap = np.diag(K_ref.sum(axis=1)) - K_ref
    T = np.zeros((len(reached), int((~unknown).sum())))
    T[reached] = -linalg.solve(lap[np.ix_(rows, rows)], lap[np.ix_(rows, ~unknown)], assume_a="pos")
    return T


class LaplacianCompletion(TransformerMixin, MultiViewInput, BaseEstimator):
    """Turn views with gaps into complete similarities to the training samples.

    Parameters
    ----------
    kernel : {"rbf", "precomputed"}, callable, or a list of these, one per view
        As in :class:`~mvref.LandmarkProjection`.
    gamma : float, "mean", or a list of these, one per view, default=None
    reference : "most", int or str, default="most"
        The reference view: the one that most training samples have, or a position or name.
    views : sequence or mapping, optional
        How to cut a 2-D `X` into views.

    Attributes
    ----------
    X_ : MultiView
        The training samples.
    reference_ : int
        Position of the reference view.
    gamma_ : list of V floats
    n_features_in_ : int

    Notes
    -----
    The output feeds any estimator of mvref with ``kernel="gram"``. View v of the output is
    missing where a sample has neither view v nor the reference view; the column of such a
    training sample is zero. ``fit_transform`` of all samples together, cut afterwards, is the
    transductive protocol of the paper; ``transform`` completes new samples given the training
    samples.

    Examples
    --------
    >>> from mvref.datasets import load_iris_views
    >>> from mvref.rivals import LaplacianCompletion, PerViewSVM
    >>> data = load_iris_views()
    >>> X = data.X.drop_views(0.2, random_state=0)
    >>> K = LaplacianCompletion().fit_transform(X)
    >>> K.shape
    (150, 300)
    """

    def __init__(self, *, kernel="rbf", gamma=None, reference="most", views=None):
        self.kernel = kernel
        self.gamma = gamma
        self.reference = reference
        self.views = views

    def fit(self, X, y=None):
        """Keep the training samples and choose the reference view.

        Parameters
        ----------
        X : MultiView, list of arrays, or 2-D array of m samples
        y : ignored

        Returns
        -------
        self : LaplacianCompletion
        """
        X = validate_views(self, X, reset=True)
        self.X_ = X[np.arange(len(X))]  # a copy: the caller's arrays may change
        self.reference_ = self._position_of_reference(X)
        if not X.observed.any(axis=0).all():
            raise ValueError("every view must be observed in at least one training sample.")
        self._kernels = one_per_view(self.kernel, X.n_views, "kernel")
        rows = [np.flatnonzero(seen) for seen in X.observed.T]
        fitted = fit_similarities(self._kernels, self.gamma, X, rows, rows)
        self.gamma_ = [mu.gamma for mu in fitted]
        return self

    def _position_of_reference(self, X):
        wanted = self.reference
        if isinstance(wanted, str) and wanted in X.names:
            return X.names.index(wanted)
        if isinstance(wanted, str) and wanted == "most":
            return int(X.observed.sum(axis=0).argmax())
        if isinstance(wanted, Integral) and -X.n_views <= wanted < X.n_views:
            return int(wanted) % X.n_views
        raise ValueError(
            f"reference must be 'most', a position in 0..{X.n_views - 1} or one of the names "
            f"{X.names}, got {wanted!r}."
        )

    def fit_transform(self, X, y=None):
        """Complete the similarities between the training samples.

        Parameters
        ----------
        X : MultiView, list of arrays, or 2-D array of m samples
        y : ignored

        Returns
        -------
        K : MultiView of V arrays (m, m)
        """
        self.fit(X)
        return self._similarities_of(self.X_, np.arange(self.X_.n_samples))

    def transform(self, X):
        """Complete the similarities of new samples to the training samples.

        Parameters
        ----------
        X : MultiView, list of arrays, or 2-D array of n samples

        Returns
        -------
        K : MultiView of V arrays (n, m)
        """
        check_is_fitted(self, "gamma_")
        X = validate_views(self, X, reset=False)
        together = MultiView(
            [_stack(old, new) for old, new in zip(self.X_.views, X.views, strict=True)],
            names=self.X_.names,
        )
        return self._similarities_of(together, np.arange(self.X_.n_samples, len(together)))

    def _similarities_of(self, X, rows):
        """Complete the Gram matrices of X and return the rows asked for, as a MultiView."""
        columns = np.arange(self.X_.n_samples)
        has_reference = X.observed[:, self.reference_]
        K_ref = self._gram(X, self.reference_)[np.ix_(has_reference, has_reference)]
        views = []
        for v, seen in enumerate(X.observed.T):
            K = self._gram(X, v)
            filled = has_reference & ~seen
            if filled.any():
                if not (seen & has_reference).any():
                    raise ValueError(
                        f"no sample has both the reference view and view {X.names[v]!r}."
                    )
                T = harmonic_weights(K_ref, ~seen[has_reference])
                K[np.ix_(filled, seen)] = T @ K[np.ix_(seen & has_reference, seen)]
                K[:, filled] = K[filled].T
                K[np.ix_(filled, filled)] = T @ K[np.ix_(seen & has_reference, filled)]
            K[~(seen | has_reference)] = np.nan
            views.append(K[np.ix_(rows, columns)])
        return MultiView(views, names=X.names)

    def _gram(self, X, v):
        """Gram matrix of view v on all samples, zero where a sample misses the view."""
        seen = np.flatnonzero(X.observed[:, v])
        mu = fit_similarity(self._kernels[v], self.gamma_[v], X.views[v], seen, seen)
        K = np.zeros((len(X), len(X)))
        K[np.ix_(seen, seen)] = mu(X.views[v][seen])
        return K


def _stack(old, new):
    return (sparse.vstack if sparse.issparse(old) else np.vstack)([old, new])
