"""Multi-view input: one immutable table of samples seen through several views.

scikit-learn slices, splits and clones anything that has ``shape`` and row indexing. A
:class:`MultiView` has both, so it passes unchanged through ``train_test_split``,
``cross_val_score``, ``GridSearchCV`` and ``Pipeline``. A *missing view* of a sample is a row
of NaN in that view, in every form of input.
"""

import warnings
from numbers import Integral

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from .arrays import freeze, is_encoded, rows_of
from .checks import check_number
from .containers import (
    Parts,
    check_described,
    cut_views,
    is_collection_of_views,
    is_read,
    join_views,
    open_table,
    read_views,
    unpacked,
)
from .tables import refuse_words
from .typing import (
    TYPE_CHECKING,
    ArrayLike,
    Iterable,
    Literal,
    Mapping,
    RandomState,
    Self,
    Sequence,
    View,
    ViewColumns,
    Views,
)

if TYPE_CHECKING:  # pandas is optional
    from pandas import Index


class MultiView:
    """An immutable table of ``n_samples`` samples, each seen through ``V`` views.

    Parameters
    ----------
    views : sequence of V arrays, CSR matrices or data frames, or mapping name -> array
        View v has shape (n_samples, n_features_v). Dense views are not copied. A table with
        words or categories, and a list or series of one text per sample, are kept for
        :class:`PerView` to encode; estimators refuse them. An AnnData is a view; of a MuData the
        modalities are, and the samples are those of any of them.
    names : sequence of V str; default the keys of the mapping, or ``"view_0", "view_1", ...``
    observed : array of bool, shape (n_samples, V), optional
        ``observed[i, v]`` is False where view v of sample i is missing; those rows become NaN.
        Default: False where a whole row of a view is NaN.
    feature_names : sequence of V lists of str or None, or mapping name -> list, optional
        Names of the columns of every view. Default: those of data frames, None for other views.

    Raises
    ------
    ValueError
        If there is no view, the views disagree on ``n_samples``, one is not a 2-D array of
        numbers, or `names` or `observed` have the wrong length, shape or type.

    See Also
    --------
    PerView : A transformer for each view.
    mvref.datasets.read_folder : Samples from tables in files.

    Notes
    -----
    A missing row of a CSR view stores a NaN for each of its features. A row that is NaN only in
    part is accepted here, so that an imputer can be applied with :class:`PerView`; the
    estimators refuse it.

    Examples
    --------
    >>> import numpy as np
    >>> from mvref import MultiView
    >>> X = MultiView({"sound": np.ones((4, 2)), "image": np.zeros((4, 3))})
    >>> X
    MultiView(4 samples, sound: 2, image: 3)
    >>> X[:2].shape
    (2, 5)
    """

    _samples = None  # positions in the table that this one was cut from, by the ids of the samples

    def __init__(
        self,
        views: Views,
        *,
        names: Sequence[str] | None = None,
        observed: ArrayLike | None = None,
        feature_names: Sequence[Sequence[str] | None] | Mapping[str, Sequence[str]] | None = None,
    ):
        self._hold(read_views(views, names, observed, feature_names))

    def _hold(self, parts):
        self._names, self._views, self._observed, self._feature_names, self._samples = parts
        self._observed.flags.writeable = False

    @property
    def views(self) -> list[np.ndarray | sparse.csr_matrix]:
        """List of V read-only float64 arrays (n_samples, n_features_v) or CSR matrices."""
        return list(self._views)

    @property
    def names(self) -> list[str]:
        """List of V str, the names of the views."""
        return list(self._names)

    @property
    def feature_names(self) -> list[list[str] | None]:
        """List of V lists of str, the names of the columns; None for a view that has none."""
        return list(self._feature_names)

    @property
    def observed(self) -> np.ndarray:
        """Array of bool, shape (n_samples, V): False where a view of a sample is missing."""
        return self._observed

    @property
    def index(self) -> "Index | None":
        """Ids of the samples, the pandas Index of their frames; None without ids."""
        return None if self._samples is None else self._samples.index

    @property
    def n_views(self) -> int:
        """Number of views V."""
        return len(self._views)

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return self._views[0].shape[0]

    @property
    def widths(self) -> list[int]:
        """List of the V numbers of features."""
        return [view.shape[1] if view.ndim == 2 else 1 for view in self._views]

    @property
    def shape(self) -> tuple[int, int]:
        """``(n_samples, total number of features)``."""
        return self.n_samples, sum(self.widths)

    ndim = 2
    dtype = np.dtype(np.float64)

    def __len__(self) -> int:
        return self.n_samples

    def __getitem__(self, rows: int | slice | ArrayLike) -> Self:
        """Return the samples `rows` (int, slice, boolean mask or integer array)."""
        if isinstance(rows, tuple):  # scikit-learn writes X[rows, ...]
            rows, *others = rows
            if not all(
                o is Ellipsis or (isinstance(o, slice) and o == slice(None)) for o in others
            ):
                raise IndexError(
                    "a MultiView is indexed by samples only; use select() for views. A tool that "
                    "wants columns takes X.concat(), which a fitted model takes, too."
                )
        if isinstance(rows, Integral):
            if not -self.n_samples <= rows < self.n_samples:
                raise IndexError(f"sample {rows} is out of range for {self.n_samples} samples.")
            rows = [rows]
        if not isinstance(rows, slice):
            rows = np.asarray(rows)
            if rows.ndim != 1 or (rows.dtype.kind not in "biu" and rows.size):
                raise IndexError(
                    f"a MultiView is indexed by samples, in one dimension, got {rows.tolist()!r}; "
                    "use select() for views."
                )
            if rows.dtype != bool:
                rows = rows.astype(np.intp)
        views = [freeze(rows_of(view, rows)) for view in self._views]
        new = self._like(views, self._names, self._feature_names, self._observed[rows])
        return new._with_samples_of(self, rows)

    @classmethod
    def _of(cls, parts):
        """Return the MultiView of valid parts; a MultiView is returned as it is."""
        if isinstance(parts, MultiView):
            return parts
        new = cls.__new__(cls)
        new._hold(parts)
        return new

    def _like(self, views, names, columns, observed):
        """Return a MultiView of read-only parts of this one."""
        return self._of(Parts(names, views, observed, columns, self._samples))

    def _with_samples_of(self, X, rows=slice(None)):
        """Return this new MultiView of some samples of X, with their ids."""
        self._samples = None if X._samples is None else X._samples.iloc[rows]
        return self

    def __setstate__(self, state):
        self.__dict__.update(state)
        self._views = [freeze(view) for view in self._views]  # a pickle loses this
        self._observed.flags.writeable = False

    def __array__(self, dtype=None, copy=None):
        warnings.warn(
            "a MultiView is turned into one 2-D array and its views are forgotten; use PerView to "
            "transform view by view, or concat() if you mean it.",
            UserWarning,
            stacklevel=2,
        )
        flat = self.concat()
        return np.asarray(flat.toarray() if sparse.issparse(flat) else flat, dtype=dtype)

    def __repr__(self):
        views = ", ".join(f"{n}: {w}" for n, w in zip(self._names, self.widths, strict=True))
        missing = self._observed.size - self._observed.sum()
        gaps = f", {missing / self._observed.size:.0%} of the views missing" if missing else ""
        return f"MultiView({self.n_samples} samples, {views}{gaps})"

    def concat(self) -> np.ndarray | sparse.csr_matrix:
        """Return the concatenated features of all views: one array, or CSR if any view is sparse.

        Returns
        -------
        X : array or CSR matrix, shape (n_samples, total features)
        """
        for view, name in zip(self._views, self._names, strict=True):
            if not is_encoded(view):
                refuse_words(view, name)
        if any(sparse.issparse(view) for view in self._views):
            return sparse.hstack(self._views, format="csr")
        return np.hstack(self._views)

    def select(self, which: str | int | Iterable[str | int]) -> Self:
        """Return a MultiView of some of the views.

        Parameters
        ----------
        which : str, int, or sequence of str and int
            Names or positions of the views, at least one, in the order wanted.

        Returns
        -------
        X : MultiView
        """
        if isinstance(which, str) or not isinstance(which, Iterable):
            which = [which]
        index = [self._position(w) for w in which]
        if not index:
            raise ValueError("select() needs at least one view.")
        views, names, columns = (
            [parts[v] for v in index] for parts in (self._views, self._names, self._feature_names)
        )
        return self._like(views, names, columns, self._observed[:, index])

    def _position(self, which):
        if isinstance(which, str) and which in self._names:
            return self._names.index(which)
        if isinstance(which, Integral) and -self.n_views <= which < self.n_views:
            return int(which) % self.n_views
        raise ValueError(f"there is no view {which!r}; the views are {self._names}.")

    @classmethod
    def from_array(
        cls,
        X: View,
        views: ViewColumns,
        *,
        names: Sequence[str] | None = None,
        columns: Sequence[str] | None = None,
    ) -> Self:
        """Cut one 2-D array, CSR matrix or data frame into views.

        Parameters
        ----------
        X : array, CSR matrix or data frame, shape (n_samples, n_features)
        views : sequence or mapping name -> entry, one entry per view
            All widths (int, which must add up to n_features), or each a slice, a list of column
            indices, or a list of column names (data frames).
        names : sequence of V str, optional
        columns : sequence of str, optional; column names of `X`; default: those of a data frame

        Returns
        -------
        X : MultiView

        Examples
        --------
        >>> import numpy as np
        >>> from mvref import MultiView
        >>> MultiView.from_array(np.zeros((5, 7)), {"left": slice(0, 3), "right": slice(3, 7)})
        MultiView(5 samples, left: 3, right: 4)
        """
        table, columns, samples = open_table(X, columns)
        return cls._of(cut_views(table, columns, samples, views, names))

    @classmethod
    def align(
        cls,
        views: Views,
        how: Literal["outer", "inner"] = "outer",
        *,
        key: str | None = None,
        layer: str | Mapping[str, str] | None = None,
        verbose: bool = True,
    ) -> "tuple[Self, Index]":
        """Join tables of different samples by their ids; a sample without a row misses the view.

        Parameters
        ----------
        views : mapping name -> table, sequence of tables, or MuData
            Tables are data frames, series and AnnData objects, each with its ids as index, each id
            once; of a MuData they are its modalities. Blanks around ids are stripped, and Unicode
            is made NFC, as in :func:`mvref.datasets.read_views`.
        how : {"outer", "inner"}, default="outer"
            The samples of any table, in the order in which they come, or those of every table.
        key : str, default=None; column of the frames that holds the ids, in place of an index
        layer : str or mapping name -> str, default=None
            Layer to take, of AnnData objects and modalities, in place of ``X``.
        verbose : bool, default=True; print how many rows of each table found their samples

        Returns
        -------
        X : MultiView
        index : pandas Index, shape (n_samples,); the ids, for ``y.loc[index]``

        Raises
        ------
        ValueError
            If a table has no ids, a row without one, one of them twice, or none that another has.

        See Also
        --------
        mvref.datasets.read_views : The same for files.

        Examples
        --------
        >>> import pandas as pd
        >>> from mvref import MultiView
        >>> blood = pd.DataFrame({"iron": [3.0, 5.0]}, index=["ann", "bob"])
        >>> scan = pd.DataFrame({"size": [1.0, 2.0]}, index=["bob", "cid"])
        >>> X, index = MultiView.align({"blood": blood, "scan": scan})
        blood: 2 rows, in 2 of 3 samples; 1 without this view
        scan: 2 rows, in 2 of 3 samples; 1 without this view
        >>> index.tolist(), X.observed.tolist()
        (['ann', 'bob', 'cid'], [[True, False], [True, True], [False, True]])
        """
        parts, index = join_views(views, how, key, layer, verbose)
        return cls._of(parts), index

    def _first_of_copies(self):
        """Return a mask (n_samples,): False where all views equal those of an earlier sample."""
        rows = [b"".join(_bytes_of_row(view, i) for view in self._views) for i in range(len(self))]
        first = np.zeros(len(self), dtype=bool)
        first[np.unique(np.array(rows, dtype=object), return_index=True)[1]] = True
        return first

    def drop_views(self, fraction: float, random_state: RandomState | None = None) -> Self:
        """Return a copy in which random views of random samples are missing.

        Every sample keeps a view. The realised fraction is exact up to a whole number of views.

        Parameters
        ----------
        fraction : float
            Fraction of the observed (sample, view) pairs to drop, from 0 to what leaves every
            sample a view: 1 - 1/V when nothing is missing yet.
        random_state : int, RandomState instance or None

        Returns
        -------
        X : MultiView
        """
        check_number(fraction, "fraction", low=0)
        rng = check_random_state(random_state)
        observed = self._observed.copy()
        kept = np.argmax(rng.uniform(size=observed.shape) * observed, axis=1)  # one view each stays
        free = observed.copy()
        free[np.arange(len(free)), kept] = False
        candidates = np.flatnonzero(free)
        n_drop = round(fraction * observed.sum())
        if n_drop > len(candidates):
            largest = len(candidates) / max(observed.sum(), 1)
            raise ValueError(
                f"fraction must be between 0 and {largest:.4g} (every sample keeps one view), "
                f"got {fraction!r}."
            )
        observed.flat[rng.choice(candidates, n_drop, replace=False)] = False
        return self.with_observed(observed)

    def with_observed(self, observed: ArrayLike) -> Self:
        """Return a copy in which the views that are not `observed` are missing.

        Parameters
        ----------
        observed : array of bool, shape (n_samples, V)

        Returns
        -------
        X : MultiView
        """
        names = {"names": self._names, "feature_names": self._feature_names}
        return type(self)(self._views, observed=observed, **names)._with_samples_of(self)


def _bytes_of_row(view, i):
    if not sparse.issparse(view):
        return view[i].tobytes()
    stored = slice(view.indptr[i], view.indptr[i + 1])
    return view.indices[stored].tobytes() + b"|" + view.data[stored].tobytes()


def as_multiview(X, views=None):
    """Turn any accepted form of multi-view input into a :class:`MultiView`.

    views: how one 2-D array is cut, as for :meth:`MultiView.from_array`.

    >>> as_multiview(np.zeros((4, 5)), views=[2, 3]).widths
    [2, 3]
    """
    X = unpacked(X, views)
    if is_collection_of_views(X):
        X = MultiView._of(X if is_read(X) else read_views(X))
        if views is not None:
            check_described(views, X.widths)
        return X
    return MultiView([X]) if views is None else MultiView.from_array(X, views)


def stack_samples(first, second):
    """Stack the samples of two :class:`MultiView` with the same views."""
    views = [
        sparse.vstack(pair, format="csr") if any(map(sparse.issparse, pair)) else np.vstack(pair)
        for pair in zip(first.views, second.views, strict=True)
    ]
    return MultiView(views, names=first.names, feature_names=first.feature_names)
