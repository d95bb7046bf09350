"""Helpers of several competing methods: fits per view, concatenated features, folds."""

from numbers import Integral

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from sklearn.tree import DecisionTreeClassifier

from ..core.input import view_features
from ..core.per_view import naming
from ..core.voters import check_classifier, fit_in_groups, part_of, seeded_clone


def tree_or(given, name):
    """Check and return the classifier given for a parameter; None is a decision tree."""
    return DecisionTreeClassifier() if given is None else check_classifier(given, name)


def fit_views(estimator, X, told, rng, n_jobs):
    """Fit a classifier per view on the samples that have the view; None is a decision tree.

    told: codes, weights and groups (n,), of which the last two may be None; rng: for the seeds.
    """

    def fitted(name, classifier, view, seen):
        with naming(name, classifier):
            return fit_in_groups(classifier, view[seen], *(part_of(t, seen) for t in told))

    classifiers = [seeded_clone(tree_or(estimator, "estimator"), rng) for _ in X.views]
    rows = map(np.flatnonzero, X.observed.T)
    of_views = zip(X.names, classifiers, X.views, rows, strict=True)
    return Parallel(n_jobs)(delayed(fitted)(*view) for view in of_views)


def view_position(wanted, X, by_itself, parameter):
    """Return the position of a view given by name or position, or None for `by_itself`."""
    if isinstance(wanted, str) and wanted in X.names:
        return X.names.index(wanted)
    if isinstance(wanted, str) and wanted == by_itself:
        return None
    if isinstance(wanted, Integral) and -X.n_views <= wanted < X.n_views:
        return int(wanted) % X.n_views
    told = f"a position in 0..{X.n_views - 1} or one of the names {X.names}"
    raise ValueError(f"{parameter} must be {by_itself!r}, {told}, got {wanted!r}.")


def side_by_side(blocks):
    """Concatenate the features of all blocks, as CSR if one of them is sparse."""
    if any(sparse.issparse(block) for block in blocks):
        return sparse.hstack(blocks, format="csr")
    return np.ascontiguousarray(np.hstack(blocks))  # the same rounding for every form of input


def contiguous_views(X):
    """Return the views in row order, missing rows as zeros; all forms of X round equally."""
    views = view_features(X, 0.0)
    return [view if sparse.issparse(view) else np.ascontiguousarray(view) for view in views]
