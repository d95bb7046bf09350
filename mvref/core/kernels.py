"""Similarities between samples and landmarks of one view, one matrix product each."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn.utils.extmath import safe_sparse_dot

from .input import (
    Callable,
    as_multiview,
    as_numbers,
    as_table_of_numbers,
    check_kernel,
    check_number,
)

FAR = 100.0  # standard deviations between 0 and the mean of a column


def squared_distances(X, Z):
    """Return all squared Euclidean distances, |x|^2 + |z|^2 - 2 x.z clipped at zero.

    X (n, d), Z (p, d): arrays, sparse matrices, lists or data frames of numbers -> D2 (n, p).
    Columns of dense tables that lie far from 0 are centred first, to limit rounding errors.

    >>> import numpy as np
    >>> from mvref.core.kernels import squared_distances
    >>> squared_distances(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]]))
    array([[25.]])
    """
    X, Z = _two_tables(X, Z)
    if not sparse.issparse(X) and not sparse.issparse(Z) and len(Z):
        centre = Z.mean(axis=0)  # of the table that stays the same from call to call
        centre[np.abs(centre) <= FAR * Z.std(axis=0)] = 0.0
        if centre.any():
            X, Z = X - centre, Z - centre
    D2 = linear(X, Z)
    D2 *= -2.0
    D2 += _squared_norms(X)[:, None]
    D2 += _squared_norms(Z)
    return np.maximum(D2, 0.0, out=D2)


def _two_tables(X, Z):
    """Return float64 arrays or CSR matrices, and check that their numbers of columns agree."""
    X, Z = as_table_of_numbers(X, "X"), as_table_of_numbers(Z, "Z")
    if X.shape[1] != Z.shape[1]:
        raise ValueError(
            f"X and Z must have the same number of columns, got {X.shape[1]} and {Z.shape[1]}."
        )
    return X, Z


def _squared_norms(X):
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", X, X)


def linear(X, Z):
    """Return all inner products of the rows: X (n, d), Z (p, d) -> K (n, p).

    >>> import numpy as np
    >>> from mvref.core.kernels import linear
    >>> linear(np.eye(2), np.array([[3.0, 4.0]])).tolist()
    [[3.0], [4.0]]
    """
    X, Z = _two_tables(X, Z)
    return safe_sparse_dot(X, Z.T, dense_output=True)


def rbf(X, Z, gamma):
    """Return exp(-gamma |x - z|^2), in [0, 1]: X (n, d), Z (p, d) -> K (n, p).

    >>> import numpy as np
    >>> from mvref.core.kernels import rbf
    >>> rbf(np.array([[0.0], [2.0]]), np.array([[0.0]]), gamma=0.25).round(4)
    array([[1.    ],
           [0.3679]])
    """
    check_number(gamma, "gamma", low=0)
    K = squared_distances(X, Z)
    K *= -gamma
    return np.exp(K, out=K)


def rbf_of_distances(D, gamma):
    """Return exp(-gamma d^2) of given distances: D (n, p) -> K (n, p).

    >>> import numpy as np
    >>> from mvref.core.kernels import rbf_of_distances
    >>> rbf_of_distances(np.array([[0.0, 2.0]]), gamma=0.25).round(4)
    array([[1.    , 0.3679]])
    """
    check_number(gamma, "gamma", low=0)
    K = np.square(as_table_of_numbers(as_numbers(D, "D"), "D"))
    K *= -gamma
    return np.exp(K, out=K)


@dataclass(frozen=True)
class Similarity:
    """Similarity function of one view to its landmarks, mu_v(., l_1), ..., mu_v(., l_L).

    kernel: "linear", "rbf", "precomputed", "gram" or a callable; gamma: of "rbf" and "precomputed",
    else None; landmarks: their rows (L, n_v), for "precomputed" and "gram" their L columns.

    >>> import numpy as np
    >>> from mvref.core.kernels import Similarity
    >>> mu = Similarity("rbf", 0.25, np.array([[0.0], [2.0]]))
    >>> mu(np.array([[0.0]])).round(4), mu.range
    (array([[1.    , 0.3679]]), (0.0, 1.0))
    """

    kernel: str | Callable
    gamma: float | None
    landmarks: np.ndarray

    def __call__(self, X):
        """Return the similarities, shape (n, L), of the rows X of the view."""
        given = self.kernel in ("precomputed", "gram")  # dense, not of features
        X = as_table_of_numbers(as_numbers(X, "X") if given else X, "X")
        if self.kernel == "rbf":
            return rbf(X, self.landmarks, self.gamma)
        if self.kernel == "precomputed":
            D = X[:, self.landmarks]
            if (D < 0).any():
                raise ValueError("kernel='precomputed' needs non-negative distances in X.")
            return rbf_of_distances(D, self.gamma)
        if self.kernel == "gram":
            return np.asarray(X[:, self.landmarks])
        kernel = linear if self.kernel == "linear" else self.kernel
        K = kernel(X, self.landmarks)
        try:
            K = np.asarray(K, dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError(f"kernel must return an array of numbers, got {K!r}.") from None
        if K.shape != (X.shape[0], len(self)) or not np.isfinite(K).all():
            raise ValueError(
                f"kernel must return a finite array of shape {(X.shape[0], len(self))}, got shape "
                f"{K.shape} with {np.size(K) - np.isfinite(K).sum()} values that are not finite."
            )
        return K

    def __len__(self):
        return self.landmarks.shape[0]

    @property
    def range(self):
        """Interval (low, high) of the possible similarities."""
        return (0.0, 1.0) if self.kernel in ("rbf", "precomputed") else (-np.inf, np.inf)


def fit_similarity(kernel, gamma, view, landmarks, complete):
    """Fit the :class:`~mvref.core.kernels.Similarity` of one view to its training rows.

    kernel: "linear", "rbf", "precomputed", "gram" or a callable; gamma: number, "mean", which is
    one over the mean distance between the complete training samples, or None, which is 1/n_v for
    "rbf" and "mean" for "precomputed"; view (m, n_v): for "precomputed", distances to a set of
    points that contains the training samples, for "gram", similarities between the training
    samples; landmarks, complete: numbers of the rows of the landmarks and of the complete samples.

    >>> import numpy as np
    >>> from mvref.core.kernels import fit_similarity
    >>> view, rows = np.arange(12.0).reshape(3, 4), np.arange(3)
    >>> fit_similarity("rbf", None, view, landmarks=rows[:1], complete=rows).gamma
    0.25
    """
    check_kernel(kernel, gamma)
    view = as_table_of_numbers(view, "view")
    landmarks, complete = _rows(landmarks, "landmarks", view), _rows(complete, "complete", view)
    if callable(kernel) or kernel == "linear":
        return Similarity(kernel, None, view[landmarks])
    if kernel == "rbf":
        if gamma == "mean":
            raise ValueError("gamma='mean' needs kernel='precomputed', got kernel='rbf'.")
        return Similarity(kernel, gamma or 1.0 / view.shape[1], view[landmarks])
    if kernel == "gram":
        if view.shape[0] != view.shape[1] or sparse.issparse(view):
            raise ValueError(
                "kernel='gram' needs in fit a dense square matrix of the similarities between the "
                f"training samples, got shape {view.shape}."
            )
        return Similarity(kernel, None, landmarks)
    if sparse.issparse(view) or (view[complete] < 0).any():
        raise ValueError("kernel='precomputed' needs dense, non-negative distances in X.")
    if gamma is None or gamma == "mean":
        # The training block only; the authors' code averages the test points in as well.
        block = view[np.ix_(complete, _own_columns(view, complete))]
        if not block.any():
            raise ValueError("gamma='mean': all distances between the training samples are zero.")
        gamma = 1.0 / block.mean()
    return Similarity(kernel, float(gamma), _own_columns(view, landmarks))


def _rows(rows, name, view):
    """Return row numbers of a view as an array, or raise a ValueError."""
    rows, n = np.asarray(rows), view.shape[0]
    if rows.ndim != 1 or rows.dtype.kind not in "iu" or not ((-n <= rows) & (rows < n)).all():
        raise ValueError(f"{name} must be a list of row numbers below {n}, got {rows.tolist()!r}.")
    return rows


def _own_columns(distances, rows):
    """Return, for training rows of a distance matrix, the column of the sample itself.

    A sample is at distance zero from itself: its column is the diagonal of a square matrix, else a
    column that holds a zero (two such columns belong to the same point of this view).
    """
    columns = np.array(rows)
    if distances.shape[0] != distances.shape[1] or distances[rows, rows].any():
        columns = np.argmin(distances[rows], axis=1)
    own = distances[rows, columns]
    if own.any():
        raise ValueError(
            f"kernel='precomputed': row {rows[np.argmax(own > 0)]} of X has no zero distance; the "
            "columns must include every training sample."
        )
    return columns


def fit_similarities(kernel, gamma, X, landmarks, complete):
    """Fit the similarities of all V views, see :func:`~mvref.core.kernels.fit_similarity`.

    kernel, gamma: one for all, or lists of V; X: MultiView or list of arrays; landmarks, complete:
    lists of V arrays of row numbers.

    >>> import numpy as np
    >>> from mvref import MultiView
    >>> from mvref.core.kernels import fit_similarities
    >>> X, rows = MultiView([np.ones((3, 2)), np.ones((3, 4))]), np.arange(3)
    >>> [mu.gamma for mu in fit_similarities("rbf", None, X, [rows, rows], [rows, rows])]
    [0.5, 0.25]
    """
    X = as_multiview(X)
    kernels = one_per_view(kernel, X.n_views, "kernel")
    gammas = one_per_view(gamma, X.n_views, "gamma")
    for rows, name in ((landmarks, "landmarks"), (complete, "complete")):
        if not isinstance(rows, list | tuple | np.ndarray) or len(rows) != X.n_views:
            raise ValueError(f"{name} must be a list of {X.n_views}, one per view, got {rows!r}.")
    views = zip(kernels, gammas, X.views, landmarks, complete, strict=True)
    return [fit_similarity(*of_view) for of_view in views]


def one_per_view(value, n_views, name):
    """Repeat a value for each of n_views, or check that a list has as many; name: for the message.

    >>> from mvref.core.kernels import one_per_view
    >>> one_per_view("rbf", 2, "kernel")
    ['rbf', 'rbf']
    """
    if isinstance(value, np.ndarray) and value.ndim == 1:
        value = value.tolist()
    check_number(n_views, "n_views", low=1, integer=True)
    if not isinstance(value, list | tuple):
        return [value] * n_views
    if len(value) != n_views:
        raise ValueError(f"{name} has {len(value)} entries, but X has {n_views} views.")
    return list(value)
