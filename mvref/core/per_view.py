"""A scikit-learn transformer applied to every view."""

from collections.abc import Mapping

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from .base import check_length, validate_views
from .kernels import one_per_view
from .views import MultiView


class PerView(TransformerMixin, BaseEstimator):
    """Apply a transformer to each view and give a :class:`MultiView` back.

    Parameters
    ----------
    transformer : transformer, or sequence or mapping of transformers
        One transformer, cloned for every view; or one per view, in order or by view name. The
        string ``"passthrough"`` leaves a view as it is.
    views : sequence or mapping, optional
        How to cut a 2-D `X` into views, see :meth:`MultiView.from_array`.

    Attributes
    ----------
    transformers_ : list of V fitted transformers

    Notes
    -----
    A transformer is fitted and applied on the samples that have its view; a missing view stays
    missing.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.preprocessing import StandardScaler
    >>> from mvref import MultiView, PerView
    >>> X = MultiView([np.arange(6.0).reshape(3, 2), np.eye(3)])
    >>> PerView(StandardScaler()).fit_transform(X)
    MultiView(3 samples, view_0: 2, view_1: 3)
    """

    def __init__(self, transformer="passthrough", *, views=None):
        self.transformer, self.views = transformer, views

    def fit(self, X, y=None):
        """Fit a transformer on each view.

        Parameters
        ----------
        X : MultiView, list of arrays, or 2-D array
        y : ignored, or target passed on to the transformers

        Returns
        -------
        self : PerView
        """
        X = validate_views(self, X, reset=True, partial_rows=True)
        if y is not None:
            y = np.asarray(y)
            check_length(y, X.n_samples)
        self.transformers_ = []
        for view, name, seen, transformer in zip(
            X.views, X.names, X.observed.T, self._one_per_view(X), strict=True
        ):
            if not seen.any():
                raise ValueError(f"view {name!r} is missing in every sample.")
            if not isinstance(transformer, str):
                targets = None if y is None else y[seen]
                transformer = clone(transformer).fit(view[seen], targets)
            self.transformers_.append(transformer)
        return self

    def transform(self, X):
        """Transform each view.

        Parameters
        ----------
        X : MultiView, list of arrays, or 2-D array

        Returns
        -------
        X : MultiView
        """
        check_is_fitted(self, "transformers_")
        X = validate_views(self, X, reset=False, partial_rows=True)
        of_views = zip(self.transformers_, X.views, X.observed.T, strict=True)
        return MultiView([_transform_seen(*of_view) for of_view in of_views], names=X.names)

    def get_feature_names_out(self, input_features=None):
        """Return ``<view>__<feature>`` for every column of the transformed views, side by side.

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        names : array of str
        """
        check_is_fitted(self, "transformers_")
        names = []
        for transformer, view, width in zip(
            self.transformers_, self.view_names_, self.view_widths_, strict=True
        ):
            features = [f"x{j}" for j in range(width)]
            if not isinstance(transformer, str):
                features = transformer.get_feature_names_out(features)
            names += [f"{view}__{feature}" for feature in features]
        return np.array(names, dtype=object)

    def set_output(self, *, transform=None):
        """Do nothing: the output stays a MultiView.

        Parameters
        ----------
        transform : ignored

        Returns
        -------
        self : PerView
        """
        return self

    def _one_per_view(self, X):
        transformers = self.transformer
        if isinstance(transformers, Mapping):
            if set(transformers) != set(X.names):
                raise ValueError(
                    f"transformer names the views {sorted(transformers)}, X has {X.names}."
                )
            transformers = [transformers[name] for name in X.names]
        transformers = one_per_view(transformers, X.n_views, "transformer")
        for t in transformers:
            usable = t == "passthrough" if isinstance(t, str) else hasattr(t, "transform")
            if not usable or isinstance(t, type):
                raise ValueError(f"transformer must be a transformer or 'passthrough', got {t!r}.")
        return transformers

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        several = isinstance(self.transformer, Mapping | list | tuple | str)
        inner = [] if several else [get_tags(self.transformer)]
        tags.input_tags.sparse = all(t.input_tags.sparse for t in inner)
        tags.input_tags.allow_nan = all(t.input_tags.allow_nan for t in inner)
        return tags


def _transform_seen(transformer, view, seen):
    """Transform the rows that have the view; the others become rows of NaN."""
    if isinstance(transformer, str):  # "passthrough"
        return view
    rows = view[seen] if seen.any() else np.zeros((1, view.shape[1]))  # one row tells the width
    out = transformer.transform(rows)
    if seen.all():
        return out
    full = np.full((len(seen), out.shape[1]), np.nan)
    if seen.any():
        full[seen] = out.toarray() if sparse.issparse(out) else out
    return sparse.csr_matrix(full) if sparse.issparse(out) else full
