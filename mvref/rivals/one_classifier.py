"""One classifier makes the decision: Mono and Concat in the tables of MwMvC2.

Goyal, Morvant and Amini (IDA 2018, section 4.2) name both in a sentence: Concat uses concatenated
features (early fusion), Mono one view. They do not state which; the best on the test set would be
an oracle, ours is the best in cross-validation. The default, a decision tree, is the paper's.
"""

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import accuracy_score
from sklearn.utils import check_random_state, get_tags

from ..core.base import MultiViewClassifier
from ..core.input import (
    BaseEstimator,
    ClassWeight,
    RandomState,
    Splitter,
    Splitting,
    ViewColumns,
    Weighted,
)
from ..core.per_view import naming
from ..core.voters import (
    check_folds,
    check_trainable,
    class_scores,
    difference_if_two,
    fit_in_groups,
    fit_weighted,
    folds_of,
    part_of,
    seeded_clone,
)
from .common import fit_views, tree_or, view_position


class Mono(Splitting, MultiViewClassifier):
    """Classifier on a single view, selected by cross-validation or given (Mono).

    Parameters
    ----------
    estimator : scikit-learn classifier, default=None; None: a decision tree, as in
        papers; for numeric features a linear or kernel machine is better
    view : "cv", int or str, default="cv"
        Position or name of the view. "cv": the view whose classifier is most accurate in
        cross-validation on the training samples; the first one wins a tie.
    cv : int or splitter, default=5
        Number of stratified, shuffled folds, which respect the groups given to ``fit``; or a
        splitter that holds out every sample once.
    class_weight : dict, "balanced" or None, default=None; multiplies ``sample_weight``
    n_jobs : int or None, default=None; number of views fitted in parallel (joblib)
    views : sequence or mapping, default=None; widths, slices, indices or names that split a 2-D `X`
    random_state : int, RandomState instance or None, default=None; seed of folds and classifiers

    Attributes
    ----------
    view_ : int, position of the selected view
    scores_ : array (V,); weighted accuracy in cross-validation, on the samples that have the view
    order_ : int array (V,), the selected view, then the others by decreasing score
    estimator_ : fitted classifier of the selected view
    estimators_ : list of V fitted classifiers; they predict positions in ``classes_``
    classes_, n_features_in_ : sorted array of labels, and int, number of columns of all views
    view_names_, view_widths_, view_feature_names_ : lists; name, width, columns of each view

    See Also
    --------
    Concat : One classifier on all views.
    MVMV : A vote of one classifier per view.

    Notes
    -----
    Provenance: full text. Goyal, Morvant and Amini (2018) describe it in a sentence. A sample
    that lacks the selected view is classified by the first view of ``order_`` that it has. The
    scores are those of the classifier: see :func:`mvref.core.voters.class_scores`.

    If no sample lacks the selected view, it is ``mvref.PerViewClassifier({view: estimator},
    combine="vote", remainder="drop")``. Copies of a sample may be in different folds, so that a
    weight of 2 and two copies may select different views; with a given ``view`` they are the same.

    Examples
    --------
    >>> from mvref.datasets import load_iris_views
    >>> from mvref.rivals import Mono
    >>> data = load_iris_views()
    >>> data.X.names[Mono(random_state=0).fit(data.X, data.y).view_]
    'petal'
    """

    _learnt = "estimators_"
    _one_blas_thread = False

    def __init__(
        self,
        estimator: BaseEstimator | None = None,
        *,
        view: int | str = "cv",
        cv: int | Splitter = 5,
        class_weight: ClassWeight | None = None,
        n_jobs: int | None = None,
        views: ViewColumns | None = None,
        random_state: RandomState | None = None,
    ):
        self.estimator, self.view, self.cv = estimator, view, cv
        self.class_weight, self.n_jobs = class_weight, n_jobs
        self.views, self.random_state = views, random_state

    def _fit(self, X, codes, weights, groups):
        """Fit a classifier per view, and select one."""
        given = view_position(self.view, X, "cv", "view")
        check_trainable(X, codes)
        rng = check_random_state(self.random_state)
        told = codes, weights, groups
        self.estimators_ = fit_views(self.estimator, X, told, rng, self.n_jobs)
        rows = [np.flatnonzero(seen) for seen in X.observed.T]
        folds = [folds_of(self.cv, codes[r], rng, part_of(groups, r)) for r in rows]
        of_views = zip(X.names, self.estimators_, X.views, rows, folds, strict=True)
        accuracies = Parallel(self.n_jobs)(delayed(_accuracy)(*view, told) for view in of_views)
        self.scores_ = np.array(accuracies)
        order = np.argsort(-self.scores_, kind="stable")
        self.view_ = int(order[0] if given is None else given)
        self.order_ = np.concatenate([[self.view_], order[order != self.view_]])
        self.estimator_ = self.estimators_[self.view_]

    def _check_parameters(self):
        tree_or(self.estimator, "estimator")
        check_folds(self.cv)

    def _scores(self, X):
        scores = np.empty((X.n_samples, len(self.classes_)))
        chosen = self.order_[X.observed[:, self.order_].argmax(axis=1)]  # the first observed view
        for v in np.unique(chosen):
            rows = np.flatnonzero(chosen == v)
            view = X.views[v][rows]
            scores[rows] = class_scores(self.estimators_[v], view, len(self.classes_))
        return difference_if_two(scores)


def _accuracy(name, classifier, view, rows, folds, told):
    """Return the weighted accuracy of one view's classifier on `rows`, the mean over the folds."""
    view, accuracies = view[rows], []
    codes, weights, groups = (part_of(values, rows) for values in told)
    for fit, check in folds.split():
        columns = fit if get_tags(classifier).input_tags.pairwise else slice(None)
        table = view[fit][:, columns]
        with naming(name, classifier):
            told = part_of(weights, fit), part_of(groups, fit)
            fitted = fit_in_groups(clone(classifier), table, codes[fit], *told)
        said, w = fitted.predict(view[check][:, columns]), part_of(weights, check)
        accuracies.append(accuracy_score(codes[check], said, sample_weight=w))
    return np.mean(accuracies)


class Concat(Weighted, MultiViewClassifier):
    """Classifier on the concatenated features of all views (early fusion, Concat).

    Parameters
    ----------
    estimator : scikit-learn classifier, default=None; None: a decision tree, as in
        papers; for numeric features a linear or kernel machine is better
    class_weight : dict, "balanced" or None, default=None; multiplies ``sample_weight``
    views : sequence or mapping, default=None; widths, slices, indices or names that split a 2-D `X`
    random_state : int, RandomState instance or None, default=None; seed of the classifier

    Attributes
    ----------
    estimator_ : fitted classifier; it predicts positions in ``classes_``
    classes_, n_features_in_ : sorted array of labels, and int, number of columns of all views
    view_names_, view_widths_, view_feature_names_ : lists; name, width, columns of each view

    See Also
    --------
    Mono : One classifier on one view.
    Fusion : One classifier per view, and a final one.

    Notes
    -----
    Provenance: full text. Goyal, Morvant and Amini (2018) describe it in a sentence. A missing view
    reaches the classifier as NaN, which scikit-learn's trees accept; for others put an imputer
    before them in a pipeline. NaN needs dense columns, so sparse samples with missing views are
    made dense, in training all samples if one lacks a view. The scores are those of the classifier:
    see :func:`mvref.core.voters.class_scores`.

    Examples
    --------
    >>> from mvref.datasets import load_iris_views
    >>> from mvref.rivals import Concat
    >>> data = load_iris_views()
    >>> Concat(random_state=0).fit(data.X, data.y).score(data.X, data.y)
    1.0
    """

    _learnt = "estimator_"
    _one_blas_thread = False

    def __init__(
        self,
        estimator: BaseEstimator | None = None,
        *,
        class_weight: ClassWeight | None = None,
        views: ViewColumns | None = None,
        random_state: RandomState | None = None,
    ):
        self.estimator, self.class_weight = estimator, class_weight
        self.views, self.random_state = views, random_state

    def _fit(self, X, codes, weights):
        base = tree_or(self.estimator, "estimator")
        classifier = seeded_clone(base, check_random_state(self.random_state))
        with naming("all columns", classifier):
            self.estimator_ = self._told_of_gaps(
                X, lambda columns: fit_weighted(classifier, columns, codes, weights)
            )

    def _check_parameters(self):
        tree_or(self.estimator, "estimator")

    def _scores(self, X):
        n_classes = len(self.classes_)
        scores = np.empty((X.n_samples, n_classes))
        complete = X.observed.all(axis=1)
        for rows in (np.flatnonzero(complete), np.flatnonzero(~complete)):
            if len(rows):
                scores[rows] = self._told_of_gaps(
                    X[rows], lambda columns: class_scores(self.estimator_, columns, n_classes)
                )
        return difference_if_two(scores)

    def _told_of_gaps(self, X, call):
        """Return call(columns of X); raise an error with a remedy if the classifier rejects NaN."""
        columns = X.concat()
        if X.observed.all():
            return call(columns)
        try:
            return call(columns.toarray() if sparse.issparse(columns) else columns)
        except ValueError as error:
            if "NaN" not in str(error):
                raise
            raise ValueError(
                "X has missing views, which Concat gives to its estimator as NaN, and "
                f"{type(self.estimator).__name__} takes none: impute before it, as in "
                "make_pipeline(SimpleImputer(), estimator)."
            ) from error
