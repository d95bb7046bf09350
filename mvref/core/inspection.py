"""What each view contributes to a fitted model."""

import numpy as np
from sklearn.metrics import check_scoring
from sklearn.utils import Bunch, check_random_state, column_or_1d

from .input import MultiView, as_multiview, check_choice, check_ids, check_number, freeze, rows_of

WAYS = ("permute", "hide")


def view_importance(
    estimator, X, y, *, how="permute", scoring=None, n_repeats=10, random_state=None
):
    """Measure how much worse a fitted model is when a view tells it nothing.

    Parameters
    ----------
    estimator : fitted classifier or regressor
    X : MultiView, or list, tuple or mapping of 2-D arrays, of n samples not used in the fit
    y : array-like of shape (n,)
    how : {"permute", "hide"}
        "permute": the rows of the view change places between the samples that have it, so that its
        columns stay together and the model meets nothing unusual but the combination. "hide": the
        view is missing wherever the sample has another one; for methods that take missing views.
    scoring : str or callable, optional; as in scikit-learn; default the estimator's ``score``
    n_repeats : int; permutations of a view; hiding is done once
    random_state : int, RandomState instance or None

    Returns
    -------
    result : Bunch
        ``names`` of the views, ``score`` of the untouched samples, and the loss of score
        ``importances``, shape (V, n_repeats), with ``importances_mean`` and ``importances_std``.

    See Also
    --------
    compare_methods : Whether the views are worth it at all.

    Notes
    -----
    A loss of zero says that the other views make up for this one, and not that it knows nothing:
    two copies of the same view are both without importance.

    Examples
    --------
    >>> from mvref import MVLSVM, view_importance
    >>> from mvref.datasets import load_iris_views
    >>> data = load_iris_views()
    >>> train, test = data.X[::2], data.X[1::2]
    >>> model = MVLSVM(n_landmarks=20, random_state=0).fit(train, data.y[::2])
    >>> result = view_importance(model, test, data.y[1::2], random_state=0)
    >>> sepal, petal = result.importances_mean
    >>> bool(petal > sepal)
    True
    """
    check_choice(how, "how", WAYS)
    check_number(n_repeats, "n_repeats", low=1, integer=True)
    if hasattr(X, "shape") and not isinstance(X, MultiView):
        raise ValueError(
            "X must be a MultiView or a list of views, got one table: cut it with "
            "MultiView.from_array."
        )
    X = as_multiview(X)
    check_ids(X, y=y)
    y = column_or_1d(y)
    score = check_scoring(estimator, scoring=scoring)
    rng = check_random_state(random_state)
    before = score(estimator, X, y)
    n_repeats = 1 if how == "hide" else n_repeats
    losses = np.empty((X.n_views, n_repeats))
    for v, i in np.ndindex(losses.shape):
        losses[v, i] = before - score(estimator, _without(X, v, how, rng), y)
    return Bunch(
        names=X.names,
        score=float(before),
        importances=losses,
        importances_mean=losses.mean(axis=1),
        importances_std=losses.std(axis=1),
    )


def _without(X, v, how, rng):
    """The samples with view v permuted or hidden."""
    if how == "hide":
        observed = X.observed.copy()
        observed[observed.sum(axis=1) > 1, v] = False
        return X.with_observed(observed)
    rows = np.arange(X.n_samples)
    seen = np.flatnonzero(X.observed[:, v])
    rows[seen] = rng.permutation(seen)
    views = [freeze(rows_of(view, rows)) if u == v else view for u, view in enumerate(X.views)]
    return MultiView(views, names=X.names, observed=X.observed, feature_names=X.feature_names)
