"""Concatenation of views into one table: sparse or dense by their values, imputed and scaled."""

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..core.input import MultiView, validate_views

FEW = 0.25  # a view with a smaller fraction of non-zero values is sparse, however it is stored


class Storage(TransformerMixin, BaseEstimator):
    """Transformer that stores a view as sparse if few of its values are non-zero, else as dense.

    Later steps then do not depend on how the user stored the tables.
    """

    def __init__(self, views=None):
        self.views = views

    def fit(self, X, y=None):
        """Determine which views are sparse."""
        X = validate_views(self, X, reset=True, raw=True)
        self.sparse_ = [is_sparse(v, s) for v, s in zip(X.views, X.observed.T, strict=True)]
        return self

    def transform(self, X):
        """Return the views in the storage chosen by `fit`."""
        check_is_fitted(self)
        X = validate_views(self, X, reset=False, raw=True)
        views = [
            sparse.csr_matrix(view) if few else view.toarray() if sparse.issparse(view) else view
            for view, few in zip(X.views, self.sparse_, strict=True)
        ]
        new = MultiView(views, names=X.names, feature_names=X.feature_names)
        return new.with_observed(X.observed)._with_samples_of(X)


def is_sparse(view, seen):
    """Return whether few values of a view are non-zero; seen (n,): samples that have the view."""
    rows = view[np.flatnonzero(seen)]
    there = rows.count_nonzero() if sparse.issparse(rows) else np.count_nonzero(rows)
    return there < FEW * rows.shape[0] * rows.shape[1]


class Columns(TransformerMixin, BaseEstimator):
    """Concatenated features of views, mean-imputed and scaled.

    Each column of a dense view gets mean 0 and variance 1; a sparse view is divided by the root
    mean square of its non-zero values; then the table is scaled so that its variances sum to 1 and
    a kernel width gamma means the same for any table. A missing value becomes the mean, or 0 if
    sparse; a view that some training samples lack adds a missingness indicator.

    which: names of the views to take, None for all; views: how a 2-D `X` is cut.
    """

    def __init__(self, which=None, views=None):
        self.which, self.views = which, views

    def fit(self, X, y=None):
        """Compute means, variances, and the fractions of missing views."""
        X = self._chosen(X, reset=True)
        self.blocks_ = []
        for view, seen in zip(X.views, X.observed.T, strict=True):
            rows = view[np.flatnonzero(seen)]
            gaps = None if seen.all() else 1.0 - seen.mean()
            if sparse.issparse(rows):
                there = rows.data[np.isfinite(rows.data) & (rows.data != 0)]
                scale = np.sqrt(np.mean(there**2)) if there.size else 1.0
                self.blocks_.append((None, scale, gaps))
            else:
                known = ~np.isnan(rows)
                n = np.maximum(known.sum(axis=0), 1)
                mean = np.where(known, rows, 0.0).sum(axis=0) / n
                std = np.sqrt((np.where(known, rows - mean, 0.0) ** 2).sum(axis=0) / n)
                std[std <= 1e-12 * np.abs(mean)] = 1.0  # a constant
                std[std == 0.0] = 1.0
                self.blocks_.append((mean, std, gaps))
        self.scale_ = 1.0
        table = self._table(X)
        means = np.asarray(table.mean(axis=0)).ravel()
        squares = table.multiply(table) if sparse.issparse(table) else table**2
        total = np.asarray(squares.mean(axis=0)).ravel().sum() - means @ means
        self.scale_ = float(np.sqrt(total)) if total > 0 else 1.0
        return self

    def transform(self, X):
        """Return the table: an array, or a CSR matrix where a view is sparse."""
        check_is_fitted(self)
        return self._table(self._chosen(X, reset=False))

    def _chosen(self, X, reset):
        X = validate_views(self, X, reset=reset, raw=True)
        return X if self.which is None else X.select(list(self.which))

    def _table(self, X):
        parts = []
        for view, seen, block in zip(X.views, X.observed.T, self.blocks_, strict=True):
            mean, scale, gaps = block
            if mean is None:
                part = sparse.csr_matrix(view, copy=True)
                part.data = np.nan_to_num(part.data) / scale
                part.eliminate_zeros()
            else:
                part = view.toarray() if sparse.issparse(view) else view
                part = np.nan_to_num((part - mean) / scale)
            parts.append(part / self.scale_)
            if gaps is not None:
                parts.append((~seen[:, None] - gaps) / self.scale_)
        if any(map(sparse.issparse, parts)):
            return sparse.hstack(parts, format="csr")
        return parts[0] if len(parts) == 1 else np.hstack(parts)
