"""Completion of missing views by a graph Laplacian: kernel matrices, and features.

A. Trivedi, P. Rai, H. Daume III, S. DuVall, "Multiview clustering with incomplete views", NIPS
workshop 2010; as the authors of MVL-SVM use it before their per-view SVMs.

Problem   given the Gram matrix K_ref of a reference view and view v on the samples c only,
          min over K_v of  trace(Lap K_v)  with K_cc fixed,   Lap = diag(K_ref 1) - K_ref
Solution  u = samples that miss view v:  T = -Lap_uu^-1 Lap_uc,  K_uc = T K_cc,  K_uu = T K_cc T'
Features  every unknown point is an average of known ones, phi(x_u) = T phi(x_c), and trace(Lap K_v)
          = 1/2 sum_ij (K_ref)_ij |phi(x_i) - phi(x_j)|^2. Our form for methods without kernels: the
          points of the linear kernel themselves, x_u = T x_c; the graph may be another kernel's.
New       a sample x that misses view v, while the completed training set stays fixed: the
          smoothest point is phi(x) = sum_j k(x, x_j) phi(x_j) / sum_j k(x, x_j), over the
          training samples x_j with the reference view, whose kernel is k (Delalleau, Bengio and Le
          Roux, AISTATS 2005, have it for labels). It gives a training sample its own point.
Limits    a sample without the reference view cannot be completed in the others.
"""

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.csgraph import connected_components
from sklearn.base import BaseEstimator, TransformerMixin

from ..core.input import (
    Kernel,
    KernelWidth,
    Literal,
    MultiView,
    MultiViewInput,
    Self,
    Sequence,
    ViewColumns,
    Views,
    check_choice,
    memory_for,
    validate_views,
    warn_caller,
)
from ..core.kernels import fit_similarity, one_per_view
from .common import view_position

OUTPUTS = ("gram", "features")
ADVICE = "Use LandmarkProjection, which stores similarities to a few landmarks only."


def harmonic_weights(K_ref, unknown):
    """Return T (n_unknown, n_known), which writes unknown samples as averages of known ones.

    >>> harmonic_weights(np.ones((3, 3)), np.array([True, False, False]))
    array([[0.5, 0.5]])
    """
    _, component = connected_components(sparse.csr_matrix(K_ref))
    reached = np.isin(component, component[~unknown])[unknown]
    _warn_of_islands(reached)
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
        told = "The similarities of the reference view are too small to impute other views"
        raise ValueError(f"{told}: the kernel is too narrow, reduce its gamma.") from None
    return T


def _warn_of_islands(reached):
    if not reached.all():
        told = f"In the reference view, {(~reached).sum()} sample(s) are connected to no known one"
        warn_caller(
            f"{told}. Their imputed similarities are zero; with an RBF kernel, reduce gamma."
        )


class LaplacianCompletion(TransformerMixin, MultiViewInput, BaseEstimator):
    """Imputation of missing views by a graph Laplacian, as kernel matrices or as features.

    Parameters
    ----------
    kernel : {"rbf", "linear", "precomputed", "gram"}, callable, or one per view, default="rbf"
        Similarity to the training samples; :class:`~mvref.LandmarkProjection` describes what each
        needs. The kernel of the reference view defines the graph, and must not be negative; with
        ``output="features"``, the other kernels are not used.
    gamma : float, "mean", None, or one per view, default=None
        Kernel width. None: 1/n_v for "rbf", "mean" for "precomputed".
    reference : "most", int or str, default="most"
        The reference view: the view that most training samples have, or a position or name.
    output : {"gram", "features"}, default="gram"
        "gram": similarities for methods with ``kernel="gram"``; "features": the imputed views.
    views : sequence or mapping, default=None; widths, slices, indices or names that split a 2-D `X`

    Attributes
    ----------
    X_ : MultiView of the training samples
    reference_ : int, position of the reference view
    gamma_ : list of V floats; None for a kernel that is not used, and for a callable
    n_features_in_ : int, number of columns of all views
    view_names_, view_widths_, view_feature_names_ : lists; name, width, columns of each view

    See Also
    --------
    mvref.LandmarkProjection : Imputation of similarities to landmarks.

    Notes
    -----
    Provenance: public implementation. The formula is taken from the program of Zantedeschi, Emonet
    and Sebban (2018); the paper of Trivedi et al. (2010) was not available to us.

    View v of the output is missing if a sample has neither view v nor the reference view; in a Gram
    matrix, the column of such a training sample is zero. Calling ``fit_transform`` on all samples
    and splitting afterwards is the transductive protocol of the paper. ``transform`` imputes every
    new sample from the training samples alone, independently of other new samples: it takes the
    mean of the imputed training samples, weighted by its similarities to them in the reference
    view. Imputed rows of a sparse view are stored sparse, but have the entries of all rows that
    they average.

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
    _needs_a_view = False  # a sample without any view stays so

    def __init__(
        self,
        *,
        kernel: Kernel | Sequence[Kernel] = "rbf",
        gamma: KernelWidth | Sequence[KernelWidth | None] | None = None,
        reference: int | str = "most",
        output: Literal["gram", "features"] = "gram",
        views: ViewColumns | None = None,
    ):
        self.kernel, self.gamma, self.reference = kernel, gamma, reference
        self.output, self.views = output, views

    def fit(self, X: Views, y: object = None) -> Self:
        """Store the training samples and determine the reference view.

        Parameters
        ----------
        X : MultiView, list of arrays, or 2-D array of m samples
        y : ignored, except for its sample ids

        Returns
        -------
        self : LaplacianCompletion
        """
        self._learn(X, y)
        return self

    def _learn(self, X, y):
        """Do the work of ``fit``; return the samples with their ids."""
        X = validate_views(self, X, reset=True, y=y)
        check_choice(self.output, "output", OUTPUTS)
        self.X_ = X[np.arange(len(X))]  # a copy: the caller's arrays may change
        self.X_._samples = None  # ids are not needed again, and skops cannot write them
        given = view_position(self.reference, X, "most", "reference")
        self.reference_ = int(X.observed.sum(axis=0).argmax()) if given is None else given
        for name, seen in zip(X.names, X.observed.T, strict=True):
            if not seen.any():
                raise ValueError(f"X must have every view in some sample, but {name!r} is in none.")
        kernels = one_per_view(self.kernel, X.n_views, "kernel")
        gammas = one_per_view(self.gamma, X.n_views, "gamma")
        self._similarities, self.gamma_ = [None] * X.n_views, [None] * X.n_views
        for v in range(X.n_views) if self.output == "gram" else [self.reference_]:
            rows = np.flatnonzero(X.observed[:, v])
            mu = fit_similarity(kernels[v], gammas[v], X.views[v], rows, rows)
            self._similarities[v], self.gamma_[v] = mu, mu.gamma
        with memory_for(self, X, ADVICE):
            rows = np.flatnonzero(X.observed[:, self.reference_])
            K_ref = self._to_reference(X, rows)
            self._weights = []  # T of each view, None where there is nothing to fill
            for name, known in zip(X.names, X.observed[rows].T, strict=True):
                if not known.any():
                    told = f"both the reference view and view {name!r}"
                    raise ValueError(f"X has no sample with {told}.")
                self._weights.append(None if known.all() else harmonic_weights(K_ref, ~known))
        return X

    def fit_transform(self, X: Views, y: object = None) -> MultiView:
        """Impute the missing views of the training samples.

        Parameters
        ----------
        X : MultiView, list of arrays, or 2-D array of m samples
        y : ignored, except for its sample ids

        Returns
        -------
        completed : MultiView; V arrays (m, m), or for "features" as wide as those of `X`
        """
        return self._completed(self._learn(X, y), self._weights)

    def transform(self, X: Views) -> MultiView:
        """Impute the missing views of new samples, as similarities or as features.

        Parameters
        ----------
        X : MultiView, list of arrays, or 2-D array of n samples

        Returns
        -------
        completed : MultiView; V arrays (n, m), or for "features" as wide as those of `X`
        """
        return self._completed(self._validated(X))

    def _to_reference(self, X, rows):
        """Return similarities to the training samples in the reference view; None if complete."""
        if X.observed[rows].all():
            return None
        K_ref = self._similarities[self.reference_](X.views[self.reference_][rows])
        if (K_ref < 0).any():
            told = f"kernel has negative similarities, down to {K_ref.min():.3g}, in the reference"
            raise ValueError(f"{told} view. Use a kernel that is >= 0, such as 'rbf'.")
        return K_ref

    def _new_weights(self, X):
        """Return Q (n_filled, n_known) of each view: weights that average training samples."""
        rows = np.flatnonzero(X.observed[:, self.reference_])
        K_ref, weights = self._to_reference(X, rows), []
        if K_ref is None:
            return [None] * X.n_views
        for v, T in enumerate(self._weights):
            known = self.X_.observed[self.X_.observed[:, self.reference_], v]
            K = K_ref[~X.observed[rows, v]]
            Q = K[:, known] if T is None else K[:, known] + K[:, ~known] @ T
            reached = Q.any(axis=1)
            _warn_of_islands(reached)
            Q[reached] /= Q[reached].sum(axis=1, keepdims=True)
            weights.append(Q)
        return weights

    def _completed(self, X, weights=None):
        """Return X, with missing views filled by weights of training samples (None: computed)."""
        complete = self._complete_gram if self.output == "gram" else self._complete_features
        has_reference = X.observed[:, self.reference_]
        with memory_for(self, X, ADVICE):
            weights = self._new_weights(X) if weights is None else weights
            views = [
                complete(v, X.views[v], seen, np.flatnonzero(has_reference & ~seen), Q)
                for v, (seen, Q) in enumerate(zip(X.observed.T, weights, strict=True))
            ]
        there = X.observed | has_reference[:, None]
        return MultiView(views, names=X.names, observed=there)._with_samples_of(X)

    def _known(self, v):
        """Return the rows of the training samples from which view v is filled."""
        return np.flatnonzero(self.X_.observed[:, [v, self.reference_]].all(axis=1))

    def _complete_gram(self, v, view, seen, filled, Q):
        """Return K (n, m) of view v: K_xc = Q K_cc for filled samples, then K_xu = K_xc T'."""
        there, known, mu = self.X_.observed[:, v], self._known(v), self._similarities[v]
        K = np.zeros((len(seen), self.X_.n_samples))
        K[np.ix_(seen, there)] = mu(view[np.flatnonzero(seen)])
        if len(filled):
            K[np.ix_(filled, there)] = Q @ mu(self.X_.views[v][known])
        if self._weights[v] is not None:
            unknown = ~there & self.X_.observed[:, self.reference_]
            K[:, unknown] = K[:, known] @ self._weights[v].T
        return K

    def _complete_features(self, v, view, seen, filled, Q):
        """Return the rows of view v, with x = Q x_c for filled samples."""
        learnt = self.X_.views[v]
        if sparse.issparse(view) or sparse.issparse(learnt):
            own = np.flatnonzero(~np.isin(np.arange(len(seen)), filled))
            parts = [sparse.csr_matrix(view)[own]]
            if len(filled):
                parts.append(sparse.csr_matrix(Q) @ sparse.csr_matrix(learnt[self._known(v)]))
            return sparse.vstack(parts, format="csr")[np.argsort(np.concatenate([own, filled]))]
        if len(filled):
            view = view.copy()
            view[filled] = Q @ learnt[self._known(v)]
        return view
