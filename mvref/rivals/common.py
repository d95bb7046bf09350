"""Helpers of several competing methods: fits per view, concatenated features, folds."""

from numbers import Integral

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from sklearn.tree import DecisionTreeClassifier

from ..core.input import view_features
from ..core.per_view import naming
from ..core.voters import check_classifier, fit_in_groups, part_of


def tree_or(given, name):
    """Return the classifier given for a parameter, checked, or a decision tree for None."""
    return DecisionTreeClassifier() if given is None else check_classifier(given, name)


def fit_views(classifiers, X, codes, weights, n_jobs, groups=None):
    """Fit a classifier per view on the samples that have it; weights, groups (n,) or None."""
    rows = [np.flatnonzero(seen) for seen in X.observed.T]
    return Parallel(n_jobs)(
        delayed(_fit_view)(name, f, view[r], codes[r], part_of(weights, r), part_of(groups, r))
        for name, f, view, r in zip(X.names, classifiers, X.views, rows, strict=True)
    )


def _fit_view(name, classifier, *told):
    with naming(name, classifier):
        return fit_in_groups(classifier, *told)


def view_position(wanted, X, by_itself, parameter):
    """Return the position of a view given by name or position; None for the word `by_itself`."""
    if isinstance(wanted, str) and wanted in X.names:
        return X.names.index(wanted)
    if isinstance(wanted, str) and wanted == by_itself:
        return None
    if isinstance(wanted, Integral) and -X.n_views <= wanted < X.n_views:
        return int(wanted) % X.n_views
    told = f"a position in 0..{X.n_views - 1} or one of the names {X.names}"
    raise ValueError(f"{parameter} must be {by_itself!r}, {told}, got {wanted!r}.")


def side_by_side(blocks):
    """Return one table of the concatenated features, CSR if a block is sparse."""
    if any(sparse.issparse(block) for block in blocks):
        return sparse.hstack(blocks, format="csr")
    return np.ascontiguousarray(np.hstack(blocks))  # the same rounding for every form of input


def contiguous_views(X):
    """Views with zeros for what is missing, row by row in memory so that all forms round alike."""
    views = view_features(X, 0.0)
    return [view if sparse.issparse(view) else np.ascontiguousarray(view) for view in views]
