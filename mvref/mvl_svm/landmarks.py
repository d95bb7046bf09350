"""Landmarks: draw them, compute similarities to them, impute missing similarities.

Steps 1 and 2 of MVL-SVM (Zantedeschi, Emonet and Sebban, ECML PKDD 2018; Algorithm 1) and its
treatment of missing views (Eq. 11). Symbols as in :mod:`mvref.mvl_svm`.
"""

from copy import copy
from dataclasses import replace

import numpy as np
from scipy import linalg
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..core.input import (
    ArrayLike,
    Callable,
    Kernel,
    KernelWidth,
    Literal,
    MultiView,
    MultiViewInput,
    RandomState,
    Self,
    Sequence,
    ViewColumns,
    Views,
    check_choice,
    check_number,
    check_votable,
    one_blas_thread,
    validate_views,
    warn_if_few_complete,
)
from ..core.kernels import Similarity, fit_similarities
from ..core.nystrom import no_more_than_there_are

DEFAULT_LANDMARKS = 200  # the number in the paper's experiments with missing views


def draw_landmarks(
    observed: np.ndarray, n_landmarks: int | Literal["auto"], rng: np.random.RandomState, *,
    per_view: bool = False, distinct: Callable[[], np.ndarray] | None = None,
) -> np.ndarray:  # fmt: skip
    """Draw L samples uniformly without replacement (Algorithm 1, step 1).

    observed (m, V); n_landmarks: L, or "auto" (200, or all if fewer); per_view: different samples,
    which have the view, for each view (first perspective); distinct: returns (m,), False for copies
    of earlier samples, left out if all others are landmarks -> indices (L,), or (V, L).
    """
    pools = [np.flatnonzero(rows) for rows in (observed.T if per_view else [observed.all(axis=1)])]
    smallest = min(map(len, pools))
    if smallest == 0:
        way_out = "" if per_view else " Use landmarks='per_view', for which one view is enough."
        raise ValueError(f"No sample is complete, so no landmark can be drawn.{way_out}")
    L = min(DEFAULT_LANDMARKS, smallest) if n_landmarks == "auto" else n_landmarks
    L = no_more_than_there_are(L, "n_landmarks", smallest)
    if L == smallest and distinct is not None:  # all are landmarks: no sample twice
        pools = [pool[distinct()[pool]] for pool in pools]
        L = min(map(len, pools))
    drawn = np.array([rng.choice(pool, L, replace=False) for pool in pools])
    return drawn if per_view else drawn[0]


def project(X: MultiView, similarities: Sequence[Similarity]) -> np.ndarray:
    """Return mu(x) of every sample, missing views as NaN (Algorithm 1, step 2): (n, L*V)."""
    blocks = []
    for view, seen, mu in zip(X.views, X.observed.T, similarities, strict=True):
        if seen.all():
            blocks.append(mu(view))
        else:
            block = np.full((X.n_samples, len(mu)), np.nan)
            if seen.any():
                block[seen] = mu(view[seen])
            blocks.append(block)
    return np.hstack(blocks)


@one_blas_thread()
def impute(Phi: ArrayLike, P: ArrayLike, ridge: float = 0.1, keep_known: bool = True) -> np.ndarray:
    """Impute missing similarities by combinations of the landmarks' similarities (equation 11).

    Row i becomes r_i P, with r_i the minimiser of ``|Phi_io - r P_o|^2 + ridge |r|^2`` over its
    known columns o. Rows with the same known views share one factorisation.

    Phi (n, L*V): projections, NaN where a view is missing; a row of NaN only raises a ValueError; P
    (n_reference, L*V): projections of the landmarks themselves, complete; ridge: 0 is the paper's
    least squares (of least norm if that is not unique); keep_known: False replaces every row by r_i
    P, as the authors' code does -> a new Phi without NaN.

    >>> import numpy as np
    >>> from mvref.mvl_svm import impute
    >>> P = np.array([[1.0, 0.5, 1.0, 0.2], [0.5, 1.0, 0.2, 1.0]])  # 2 landmarks, 2 views
    >>> impute(np.array([[0.75, 0.75, np.nan, np.nan]]), P, ridge=0).round(3)
    array([[0.75, 0.75, 0.6 , 0.6 ]])
    """
    check_number(ridge, "ridge", low=0)
    Phi, P = np.array(Phi, dtype=float), np.asarray(P, dtype=float)
    if Phi.ndim != 2 or P.ndim != 2 or P.shape[1] != Phi.shape[1]:
        raise ValueError(
            "Phi and P must be 2-D arrays with the same columns, got the shapes Phi "
            f"{Phi.shape} and P {P.shape}."
        )
    if np.isinf(Phi).any():
        raise ValueError("Phi contains infinity.")
    if not np.isfinite(P).all():
        raise ValueError("P contains NaN or infinity: the landmarks must be complete.")
    known = ~np.isnan(Phi)
    if not known.any(axis=1).all():
        empty = np.flatnonzero(~known.any(axis=1))[0]
        raise ValueError(f"Phi has no known entry in row {empty}, so it cannot be imputed.")
    incomplete = np.flatnonzero(~known.all(axis=1)) if keep_known else np.arange(len(Phi))
    for members, o in _patterns(known[incomplete]):
        rows = incomplete[members]
        R = _combinations(Phi[np.ix_(rows, o)], P[:, o], ridge)
        filled = ~o if keep_known else np.ones_like(o)
        Phi[np.ix_(rows, filled)] = R @ P[:, filled]
    return Phi


def _patterns(known):
    """Yield (rows, columns) for every set of columns that some rows have in common."""
    # a row as one string of bytes: np.unique on the boolean columns is hundreds of times slower
    packed = np.ascontiguousarray(np.packbits(known, axis=1))
    keys = packed.view(np.dtype((np.void, packed.shape[1]))).ravel()
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    for g, row in enumerate(first):
        yield np.flatnonzero(group == g), known[row]


def _combinations(known, P_o, ridge):
    """Return R minimising |known - R P_o|^2 + ridge |R|^2, for many rows at once."""
    if ridge > 0:
        gram = P_o @ P_o.T
        gram.flat[:: len(gram) + 1] += ridge
        try:
            return linalg.cho_solve(linalg.cho_factor(gram), P_o @ known.T).T
        except linalg.LinAlgError:  # the ridge is lost in rounding, as if it were 0
            pass
    return linalg.lstsq(P_o.T, known.T)[0].T


class LandmarkProjection(TransformerMixin, MultiViewInput, BaseEstimator):
    """Transformer from multi-view samples to their similarities to landmarks, with imputation.

    Parameters
    ----------
    n_landmarks : int or "auto", default="auto"
        L, drawn without replacement from the complete training samples; "auto": 200. If there are
        fewer, all are taken, with a warning, also if fewer than 20, and than half, are complete.
    kernel : {"rbf", "linear", "precomputed", "gram"}, callable, or one per view, default="rbf"
        "rbf": ``exp(-gamma_v |x - l|^2)``. "precomputed": the view contains distances d to points
        that include the training samples (each training row has a zero in its own column), and the
        similarity is ``exp(-gamma_v d^2)``. "linear": inner products. "gram": the view contains
        similarities to the m training samples. A callable takes two arrays (n, n_v), (L, n_v) and
        returns the (n, L) similarities.
    gamma : float, "mean", None, or one per view, default=None
        None: 1/n_v for "rbf" (the authors' choice), "mean" for "precomputed": 1/mean distance
        between the complete training samples.
    ridge : float, default=0.1; penalty in the imputation, Eq. (11); 0 is the paper's least squares
    keep_known : bool, default=True; whether known similarities are kept, and the others imputed
    clip : "auto", None or (low, high), default="auto"
        Range to which imputed similarities are clipped. "auto": [0, 1] for "rbf" and "precomputed",
        no limits otherwise.
    landmarks : {"shared", "per_view"}, int array of shape (L,) or MultiView, default="shared"
        "per_view" draws landmarks for each view (the paper's first perspective) from the
        samples that have it; in Eq. (11), the mean replaces the similarity of a landmark to a view
        that it lacks. An array gives rows of the training samples; a MultiView other samples, such
        as complete ones without a label, from which ``gamma="mean"`` is then computed.
    views : sequence or mapping, default=None; widths, slices, indices or names that split a 2-D `X`
    random_state : int, RandomState instance or None, default=None; seed of the drawn landmarks

    Attributes
    ----------
    landmarks_ : MultiView of L samples
    landmark_indices_ : int array, shape (L,), or (V, L) with ``landmarks="per_view"``
        Rows of the training samples (or of the given MultiView) that are landmarks.
    similarities_ : list of V functions, similarities to the landmarks of a view, with its ``gamma``
    reference_ : array, shape (n_reference, L*V), projections P of the landmarks themselves
    n_features_in_ : int, number of columns of all views
    view_names_, view_widths_, view_feature_names_ : lists; name, width, columns of each view

    See Also
    --------
    MVLSVM : The classifier on these features.

    References
    ----------
    Zantedeschi, Emonet and Sebban, ECML PKDD 2018, sections 3 and 5.

    Examples
    --------
    >>> from mvref import LandmarkProjection
    >>> from mvref.datasets import load_iris_views
    >>> X = load_iris_views().X
    >>> LandmarkProjection(n_landmarks=10, random_state=0).fit_transform(X).shape
    (150, 20)
    """

    def __init__(
        self,
        n_landmarks: int | Literal["auto"] = "auto",
        *,
        kernel: Kernel | Sequence[Kernel] = "rbf",
        gamma: KernelWidth | Sequence[KernelWidth | None] | None = None,
        ridge: float = 0.1,
        keep_known: bool = True,
        clip: Literal["auto"] | tuple[float, float] | None = "auto",
        landmarks: Literal["shared", "per_view"] | ArrayLike | MultiView = "shared",
        views: ViewColumns | None = None,
        random_state: RandomState | None = None,
    ):
        self.n_landmarks, self.landmarks = n_landmarks, landmarks
        self.kernel, self.gamma = kernel, gamma
        self.ridge, self.keep_known, self.clip = ridge, keep_known, clip
        self.views, self.random_state = views, random_state

    @one_blas_thread()
    def fit(self, X: Views, y: object = None) -> Self:
        """Draw the landmarks from the training samples.

        Parameters
        ----------
        X : MultiView, list of arrays, or 2-D array
        y : ignored, except for its sample ids

        Returns
        -------
        self : LandmarkProjection

        Raises
        ------
        ValueError
            If a parameter is out of range, or no sample is complete.
        """
        X, rows = validate_views(self, X, reset=True, y=y), self.landmarks
        self._check_parameters()
        if isinstance(rows, MultiView):  # separate samples, all of them landmarks
            try:
                X, rows = validate_views(self, rows, reset=False), np.arange(rows.n_samples)
            except ValueError as error:
                raise ValueError(f"landmarks does not fit X: {error}") from None
        if isinstance(rows, str):
            per_view = rows == "per_view"
            rng = check_random_state(self.random_state)
            options = {"per_view": per_view, "distinct": X._first_of_copies}
            indices = draw_landmarks(X.observed, self.n_landmarks, rng, **options)
            if not per_view and isinstance(self.n_landmarks, str):
                told = "landmarks are drawn from these only: use landmarks='per_view'"
                warn_if_few_complete(X.observed.all(axis=1).sum(), X.n_samples, told)
        else:
            indices = _check_chosen(rows, X.observed)
        self.landmark_indices_ = indices
        of_view = np.broadcast_to(indices, (X.n_views, indices.shape[-1]))
        chosen = [view[rows] for view, rows in zip(X.views, of_view, strict=True)]
        self.landmarks_ = MultiView(chosen, names=X.names)
        seen = X.observed.T if indices.ndim == 2 else [X.observed.all(axis=1)] * X.n_views
        known = [np.flatnonzero(rows) for rows in seen]
        self.similarities_ = fit_similarities(self.kernel, self.gamma, X, of_view, known)
        points = X[np.unique(indices) if indices.ndim == 2 else indices]
        P = project(points, self.similarities_)
        self.reference_ = np.where(np.isnan(P), np.nanmean(P, axis=0), P)  # NaN: only per_view
        return self

    def restrict(self, which: np.ndarray) -> Self:
        """Return a fitted projection on some of the landmarks.

        Parameters
        ----------
        which : int array, positions of the landmarks to keep, 0..L-1

        Returns
        -------
        projection : LandmarkProjection, which imputes from all the landmarks that were drawn
        """
        check_is_fitted(self, "reference_")
        L = self.landmarks_.n_samples
        fewer = copy(self)
        fewer.landmark_indices_ = self.landmark_indices_[..., which]
        fewer.landmarks_ = self.landmarks_[which]
        mus = self.similarities_
        fewer.similarities_ = [replace(mu, landmarks=mu.landmarks[which]) for mu in mus]
        columns = np.arange(len(mus) * L).reshape(-1, L)[:, which]
        fewer.reference_ = self.reference_[:, columns.ravel()]
        return fewer

    def transform(self, X: Views) -> np.ndarray:
        """Compute the similarities to the landmarks, and impute them for missing views.

        Parameters
        ----------
        X : MultiView, list of arrays, or 2-D array of n samples

        Returns
        -------
        Phi : array, shape (n, L*V)
            Columns view by view: similarity to landmark p in view v is column ``v*L + p``.

        Raises
        ------
        ValueError
            If a sample has none of the views.
        """
        check_is_fitted(self, "reference_")
        X = validate_views(self, X, reset=False)
        check_votable(X)
        return self._projected(X)

    def _projected(self, X):  # for samples that are already validated
        Phi = project(X, self.similarities_)
        if X.observed.all() and self.keep_known:
            return Phi
        filled = self._clipped(impute(Phi, self.reference_, self.ridge, self.keep_known))
        return np.where(np.isnan(Phi), filled, Phi) if self.keep_known else filled

    def _clipped(self, Phi):
        """Clip each view's block to the range of its similarity."""
        if self.clip is None:
            return Phi
        blocks = np.split(Phi, len(self.similarities_), axis=1)
        for block, mu in zip(blocks, self.similarities_, strict=True):
            np.clip(block, *(mu.range if self.clip == "auto" else self.clip), out=block)
        return Phi

    def get_feature_names_out(self, input_features: object = None) -> np.ndarray:
        """Return ``<view>_landmark<p>`` for every column of the projection.

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        names : array of str, shape (L*V,)
        """
        check_is_fitted(self, "reference_")
        names, L = self.landmarks_.names, self.landmarks_.n_samples
        return np.array([f"{name}_landmark{p}" for name in names for p in range(L)], dtype=object)

    def _check_parameters(self):
        L = self.n_landmarks
        if not isinstance(L, int | np.integer | str) or (isinstance(L, str) and L != "auto"):
            raise ValueError(f"n_landmarks must be 'auto' or an integer >= 1, got {L!r}.")
        if L != "auto":
            check_number(L, "n_landmarks", low=1, integer=True)
        check_number(self.ridge, "ridge", low=0)
        if isinstance(self.landmarks, str):
            check_choice(self.landmarks, "landmarks", ("shared", "per_view"))
        if self.clip is not None and not (isinstance(self.clip, str) and self.clip == "auto"):
            limits = self.clip if np.shape(self.clip) == (2,) else (None, None)
            numbers = all(isinstance(x, int | float | np.number) for x in limits)
            if not numbers or not limits[0] <= limits[1]:
                raise ValueError(f"clip must be 'auto', None or (low, high), got {self.clip!r}.")


def _check_chosen(rows, observed):
    """Return chosen landmarks as an array, or raise a ValueError that describes the problem."""
    rows = np.asarray(rows)
    if rows.ndim != 1 or rows.dtype.kind not in "iu" or len(np.unique(rows)) != max(rows.size, 1):
        raise ValueError(
            "landmarks must be 'shared', 'per_view', a list of different training rows or a "
            f"MultiView, got {rows!r}."
        )
    outside = rows[(rows < 0) | (rows >= len(observed))]
    if len(outside):
        raise ValueError(
            f"landmarks names row {outside[0]}, but X has the rows 0 to {len(observed) - 1}."
        )
    if not observed[rows].all():
        gap = rows[~observed[rows].all(axis=1)][0]
        raise ValueError(f"landmarks contains row {gap}, in which a view is missing.")
    return rows.astype(np.intp)
