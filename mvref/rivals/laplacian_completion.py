"""Completion of missing views by a graph Laplacian: kernel matrices, and features.

A. Trivedi, P. Rai, H. Daume III, S. DuVall, "Multiview clustering with incomplete views", NIPS
workshop 2010; as the authors of MVL-SVM use it before their per-view SVMs.

Problem   given the Gram matrix K_ref of a reference view and view v on the samples c only,
          min over K_v of  trace(Lap K_v)  with K_cc fixed,   Lap = diag(K_ref 1) - K_ref
Solution  u = samples that miss view v:  T = -Lap_uu^-1 Lap_uc,  K_uc = T K_cc,  K_uu = T K_cc T'
Features  every unknown point is an average of known ones, phi(x_u) = T phi(x_c), and trace(Lap K_v)
          = 1/2 sum_ij (K_ref)_ij |phi(x_i) - phi(x_j)|^2. Our form for methods without kernels: the
          points of the linear kernel themselves, x_u = T x_c; the graph may be another kernel's.
Limits    a sample without the reference view cannot be completed in the others. The completion is
          transductive: new samples take part in the graph.
"""

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.csgraph import connected_components
from sklearn.base import BaseEstimator, TransformerMixin

from ..core.input import (
    MultiView,
    MultiViewInput,
    check_choice,
    memory_for,
    stack_samples,
    validate_views,
    warn_caller,
)
from ..core.kernels import fit_similarity, one_per_view
from .common import view_position

OUTPUTS = ("gram", "features")


def harmonic_weights(K_ref, unknown):
    """Return T (n_unknown, n_known), which writes unknown samples as averages of known ones.

    >>> harmonic_weights(np.ones((3, 3)), np.array([True, False, False]))
    array([[0.5, 0.5]])
    """
    if (K_ref < 0).any():
        told = f"kernel gives negative similarities, down to {K_ref.min():.3g}"
        raise ValueError(f"{told}, in the reference view, whose graph needs them >= 0.")
    _, component = connected_components(sparse.csr_matrix(K_ref))
    reached = np.isin(component, component[~unknown])[unknown]
    if not reached.all():
        told = f"{(~reached).sum()} sample(s) are connected to no known one in the reference view"
        warn_caller(f"{told}; their completed similarities are zero.")
    rows = np.flatnonzero(unknown)[reached]
    # (I - P_uu) T = P_uc with P = D^-1 K, the steps of a random walk: where degrees D differ much,
    # this is better conditioned than the Laplacian. T_ij is the chance that a walk from i meets j
    # as the first known sample. Loops change nothing, and would drown small similarities.
    K = K_ref - np.diag(K_ref.diagonal())
    steps = K[rows] / K[rows].sum(axis=1, keepdims=True)
    T = np.zeros((len(reached), int((~unknown).sum())))
    try:
        T[reached] = linalg.solve(np.eye(len(rows)) - steps[:, rows], steps[:, ~unknown])
    except linalg.LinAlgError:
        told = "the similarities of the reference view are too small to complete others by"
        raise ValueError(f"{told}: its kernel is too narrow, lower its gamma.") from None
    return T


class LaplacianCompletion(TransformerMixin, MultiViewInput, BaseEstimator):
    """Turn views with gaps into complete similarities to the training samples, or features.

    Parameters
    ----------
    kernel : {"rbf", "linear", "precomputed", "gram"}, callable, or one per view, default="rbf"
        Similarity to the training samples; :class:`~mvref.LandmarkProjection` says what each takes.
        That of the reference view makes the graph, and must not be negative; with
        ``output="features"`` the others do not count.
    gamma : float, "mean", None, or one per view, default=None
        Of "rbf" and "precomputed". None: 1/n_v for "rbf", "mean" for "precomputed".
    reference : "most", int or str, default="most"
        The reference view: the one that most training samples have, or a position or name.
    output : {"gram", "features"}, default="gram"
        Similarities, for ``kernel="gram"``, or the views with their gaps filled, for all methods.
    views : sequence or mapping, default=None; widths, slices, indices or names that cut a 2-D `X`

    Attributes
    ----------
    X_ : MultiView of the training samples
    reference_ : int, position of the reference view
    gamma_ : list of V floats; None for a kernel that is not used, and for a callable
    n_features_in_ : int, number of columns of all views
    view_names_, view_widths_, view_feature_names_ : lists; name, width, columns of each view

    See Also
    --------
    mvref.LandmarkProjection : completes similarities to landmarks.

    Notes
    -----
    Provenance: public implementation. The formula is that of the program of Zantedeschi, Emonet and
    Sebban (2018); the paper of Trivedi et al. (2010) was not at hand.

    View v of the output is missing where a sample has neither view v nor the reference view; in a
    Gram matrix the column of such a training sample is zero. ``fit_transform`` of all samples
    together, cut afterwards, is the transductive protocol of the paper; ``transform`` completes
    new samples given the training samples. Filled rows of a sparse view are stored sparse, but
    have as many entries as the rows that they are averages of have together.

    Examples
    --------
    >>> from mvref.datasets import load_iris_views
    >>> from mvref.rivals import LaplacianCompletion
    >>> data = load_iris_views()
    >>> X = data.X.drop_views(0.2, random_state=0)
    >>> LaplacianCompletion().fit_transform(X).shape
    (150, 300)
    >>> LaplacianCompletion(output="features").fit_transform(X).shape
    (150, 4)
    """

    _learnt = "gamma_"
    _one_blas_thread = False
    _needs_a_view = False  # then it stays without

    def __init__(self, *, kernel="rbf", gamma=None, reference="most", output="gram", views=None):
        self.kernel, self.gamma, self.reference = kernel, gamma, reference
        self.output, self.views = output, views

    def fit(self, X, y=None):
        """Keep the training samples and choose the reference view.

        Parameters
        ----------
        X : MultiView, list of arrays, or 2-D array of m samples
        y : ignored, but for its ids

        Returns
        -------
        self : LaplacianCompletion
        """
        X = validate_views(self, X, reset=True, y=y)
        check_choice(self.output, "output", OUTPUTS)
        self.X_ = X[np.arange(len(X))]  # a copy: the caller's arrays may change
        given = view_position(self.reference, X, "most", "reference")
        self.reference_ = int(X.observed.sum(axis=0).argmax()) if given is None else given
        for name, seen in zip(X.names, X.observed.T, strict=True):
            if not seen.any():
                raise ValueError(f"X must have every view in some sample, but {name!r} is in none.")
        self._kernels = one_per_view(self.kernel, X.n_views, "kernel")
        gammas = one_per_view(self.gamma, X.n_views, "gamma")
        self.gamma_ = [None] * X.n_views
        for v in range(X.n_views) if self.output == "gram" else [self.reference_]:
            rows = np.flatnonzero(X.observed[:, v])
            mu = fit_similarity(self._kernels[v], gammas[v], X.views[v], rows, rows)
            self.gamma_[v] = mu.gamma
        return self

    def fit_transform(self, X, y=None):
        """Complete the training samples.

        Parameters
        ----------
        X : MultiView, list of arrays, or 2-D array of m samples
        y : ignored, but for its ids

        Returns
        -------
        completed : MultiView; V arrays (m, m), or for "features" as wide as those of `X`
        """
        self.fit(X, y)
        completed = self._completed(self.X_, np.arange(self.X_.n_samples))
        return completed._with_samples_of(self.X_)

    def transform(self, X):
        """Complete new samples: their similarities to the training samples, or their features.

        Parameters
        ----------
        X : MultiView, list of arrays, or 2-D array of n samples

        Returns
        -------
        completed : MultiView; V arrays (n, m), or for "features" as wide as those of `X`
        """
        X = self._validated(X)  # first of all: is it fitted?
        together = stack_samples(self.X_, X)
        completed = self._completed(together, np.arange(self.X_.n_samples, len(together)))
        return completed._with_samples_of(X)

    def _completed(self, X, rows):
        """Complete all views of X and return the rows asked for, as a MultiView."""
        with memory_for(self, X, "LandmarkProjection compares with a few landmarks only."):
            return self._completed_rows(X, rows)

    def _completed_rows(self, X, rows):
        has_reference = X.observed[:, self.reference_]
        K_ref = self._gram(X, self.reference_)[np.ix_(has_reference, has_reference)]
        complete = self._complete_gram if self.output == "gram" else self._complete_features
        views = []
        for v, seen in enumerate(X.observed.T):
            filled, known = has_reference & ~seen, has_reference & seen
            if filled.any() and not known.any():
                name = X.names[v]
                raise ValueError(f"X has no sample with both the reference view and view {name!r}.")
            T = harmonic_weights(K_ref, ~seen[has_reference]) if filled.any() else None
            views.append(complete(X, v, rows, T, filled, known))
        there = (X.observed | has_reference[:, None])[rows]
        return MultiView(views, names=X.names, observed=there)

    def _complete_gram(self, X, v, rows, T, filled, known):
        """K_v of the rows and the training samples, with K_uc = T K_cc and K_uu = T K_cc T'."""
        seen = X.observed[:, v]
        K = self._gram(X, v)
        if T is not None:
            K[np.ix_(filled, seen)] = T @ K[np.ix_(known, seen)]
            K[:, filled] = K[filled].T
            K[np.ix_(filled, filled)] = T @ K[np.ix_(known, filled)]
        K[~(seen | filled)] = np.nan
        return K[np.ix_(rows, np.arange(self.X_.n_samples))]

    def _complete_features(self, X, v, rows, T, filled, known):
        """The rows of view v, with x_u = T x_c."""
        view = X.views[v]
        if T is None:
            return view[rows]
        if sparse.issparse(view):
            averages = sparse.csr_matrix(T) @ view[np.flatnonzero(known)]
            stacked = sparse.vstack([view[np.flatnonzero(~filled)], averages], format="csr")
        else:
            stacked = np.vstack([view[~filled], T @ view[known]])
        order = np.argsort(filled, kind="stable")  # of the rows of `stacked`
        return stacked[np.argsort(order)[rows]]

    def _gram(self, X, v):
        """Gram matrix of view v on all samples, zero where a sample misses the view."""
        seen = np.flatnonzero(X.observed[:, v])
        mu = fit_similarity(self._kernels[v], self.gamma_[v], X.views[v], seen, seen)
        K = np.zeros((len(X), len(X)))
        K[np.ix_(seen, seen)] = mu(X.views[v][seen])
        return K
