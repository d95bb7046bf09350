"""What can be done about missing views before a method sees them, and how views go missing.

Every treatment learns from the training samples and is applied to them and to others.

own         nothing: the method gets the gaps
mean        the mean of the view over the training samples that have it
regression  Eq. (11) of MVL-SVM on features in place of similarities: the known features of a sample
            are written as a combination r of complete training samples, which then gives the
            missing ones. With a ridge this is ridge regression of the missing features on the
            known ones, a regression for every set of known views, without an intercept but around
            the means of "mean". The ridge is `RIDGE`, which nothing tunes. With no complete
            training sample, the means remain
laplacian   x_u = T x_c: averages of the samples that have the view, with the harmonic weights T of
            the reference view, see :class:`~mvref.rivals.LaplacianCompletion`. The others join the
            graph. A sample that misses the reference view keeps its gaps
drop        training samples with gaps are left out; the others keep theirs
"""

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from sklearn.metrics.pairwise import rbf_kernel

from ..core.views import MultiView, stack_samples
from ..mvl_svm import impute
from ..rivals.laplacian_completion import harmonic_weights
from .engine import derive_seed

SMALLEST = 1e-8  # similarity that makes an edge: outliers that have none cannot be filled
RIDGE = 0.1  # the default of Eq. (11) in mvref; rows of a view have mean squared norm 1 here


def view_means(X):
    """Return the mean of every view over the samples that have it, zeros if none has."""
    return [
        view[seen].mean(axis=0) if seen.any() else np.zeros(view.shape[1])
        for view, seen in zip(X.views, X.observed.T, strict=True)
    ]


def fill_means(X, means):
    """Return the samples with means, or rows of their own, in place of their gaps."""
    views = zip(X.views, X.observed.T, means, strict=True)  # what is known stays to the bit
    return MultiView([np.where(seen[:, None], v, fill) for v, seen, fill in views], names=X.names)


def fill_by_regression(X, reference, means, ridge=RIDGE):
    """Fill gaps by Eq. (11) on features, with the complete samples of `reference` as landmarks."""
    complete = reference[reference.observed.all(axis=1)]
    if len(complete) == 0 or X.observed.all():
        return fill_means(X, means)
    origin = np.concatenate(means)
    filled = impute(X.concat() - origin, complete.concat() - origin, ridge) + origin
    return fill_means(X, MultiView.from_array(filled, X.widths).views)


def fill_by_laplacian(X, reference, gamma=1.0):
    """Return the samples with gaps filled by averages over the graph of a reference view.

    reference: position of the view whose kernel exp(-gamma |x - x'|^2) weighs the edges.
    """
    there = np.flatnonzero(X.observed[:, reference])
    K = rbf_kernel(X.views[reference][there], gamma=gamma)
    np.fill_diagonal(K, 0.0)
    K[K < SMALLEST] = 0.0
    _, component = connected_components(sparse.csr_matrix(K), directed=False)
    views = []
    for view, seen in zip(X.views, X.observed.T, strict=True):
        known = seen[there]
        unknown = ~known & np.isin(component, component[known])  # connected to a known one
        view = view.copy()
        if unknown.any():
            part = known | unknown
            T = harmonic_weights(K[np.ix_(part, part)], unknown[part])
            view[there[unknown]] = T @ view[there[known]]
        views.append(view)
    return MultiView(views, names=X.names)


def treat(treatment, X, y, others):
    """Apply one of `TREATMENTS` to training samples X and to others, which are to be predicted."""
    if treatment == "own" or (X.observed.all() and others.observed.all()):
        return X, y, others
    if treatment == "drop":
        complete = X.observed.all(axis=1)
        return X[complete], y[complete], others
    if treatment == "laplacian":
        reference = int(X.observed.sum(axis=0).argmax())
        together = fill_by_laplacian(stack_samples(X, others), reference)
        return fill_by_laplacian(X, reference), y, together[len(X) :]
    means = view_means(X)
    if treatment == "mean":
        return fill_means(X, means), y, fill_means(others, means)
    filled = [fill_by_regression(part, X, means) for part in (X, others)]
    return filled[0], y, filled[1]


TREATMENTS = ("own", "mean", "regression", "laplacian", "drop")


def drop_by(X, probability, seed):
    """Drop every view of every sample with a probability of its own.

    probability: with equal entries: missing completely at random. It may depend on the class, or on
    the values of the views.
    """
    rng = np.random.RandomState(derive_seed(seed, "drop"))
    observed = rng.uniform(size=X.shape[:1] + (X.n_views,)) >= np.asarray(probability)
    empty = np.flatnonzero(~observed.any(axis=1))
    observed[empty, rng.randint(X.n_views, size=len(empty))] = True
    return MultiView(X.views, names=X.names, observed=observed & X.observed)


def complete_share(missing, n_views):
    """Return the expected share of complete samples after ``MultiView.drop_views``.

    Every sample keeps one view for certain; of the V - 1 others, n (V - 1) cells, n V missing are
    dropped, each with the probability missing V / (V - 1). So the share is not (1 - missing)^V,
    that of views which go one by one.
    """
    return max(0.0, 1.0 - missing * n_views / (n_views - 1)) ** (n_views - 1)
