"""Votes of one classifier per view: Fusion and MV-MV in the tables of MwMvC2.

Goyal, Morvant and Amini (IDA 2018, section 4.2) name both in a sentence; the trees are theirs.

Fusion    one classifier per view on 60 % of the samples, and a final model on their predictions
          for the other 40 % (late fusion, stacking).
MV-MV     one classifier per view on all samples; the class with most votes wins (M.-R. Amini,
          N. Usunier, C. Goutte, "Learning from Multiple Partially Observed Views", NIPS 2009).

Our interpretations, where the paper is silent: Fusion's final model is a tree on votes, not on
probabilities, and the samples are split class by class; ties of MV-MV are broken by ``ties``.
"""

import numpy as np
from sklearn.utils import check_random_state

from ..core.base import MultiViewClassifier
from ..core.input import (
    BaseEstimator,
    ClassWeight,
    Literal,
    RandomState,
    Splitting,
    ViewColumns,
    Weighted,
    check_choice,
    check_number,
)
from ..core.per_view import naming
from ..core.ties import TIES, break_ties, draw_keys
from ..core.voters import (
    check_trainable,
    class_scores,
    difference_if_two,
    fit_in_groups,
    folds_of,
    part_of,
    seeded_clone,
)
from .common import fit_views, tree_or


def votes_of_views(estimators, X, n_classes):
    """Return the votes of one fitted classifier per view, (n, V, K): 1 for the predicted class.

    If a sample lacks the view, all are 0.
    """
    votes = np.zeros((X.n_samples, X.n_views, n_classes))
    for v, (estimator, view) in enumerate(zip(estimators, X.views, strict=True)):
        rows = np.flatnonzero(X.observed[:, v])
        if len(rows):
            votes[rows, v, estimator.predict(view[rows]).astype(int)] = 1.0
    return votes


class Fusion(Splitting, MultiViewClassifier):
    """Stacking: a final model on the votes of one classifier per view.

    Parameters
    ----------
    estimator, final_estimator : scikit-learn classifier, default=None
        The first is cloned for every view. None: a decision tree, as in
        papers; for numeric features a linear or kernel machine is better.
    train_size : float, default=0.6
        Fraction of every class that trains the view classifiers, in (0, 1); the rest trains the
        final model. Each part gets at least one sample of every class.
    class_weight : dict, "balanced" or None, default=None; multiplies ``sample_weight``
    n_jobs : int or None, default=None; number of views fitted in parallel (joblib)
    views : sequence or mapping, default=None; widths, slices, indices or names that split a 2-D `X`
    random_state : int, RandomState instance or None, default=None; seed of split and classifiers

    Attributes
    ----------
    estimators_ : list of V fitted classifiers; they predict positions in ``classes_``
    final_estimator_ : fitted classifier of the votes
        Its columns: with two classes one per view, -1 or +1; else one per view and class, 1 for
        the class the view votes for. 0 where the view is missing.
    view_rows_, final_rows_ : int arrays, the samples of the view classifiers and the final model
    classes_, n_features_in_ : sorted array of labels, and int, number of columns of all views
    view_names_, view_widths_, view_feature_names_ : lists; name, width, columns of each view

    See Also
    --------
    MVMV : The vote, without a final classifier.
    Concat : One classifier on all views.

    Notes
    -----
    Provenance: full text. Goyal, Morvant and Amini (2018) describe it in two sentences. A
    view classifier is fitted on the samples of its part that have the view. The scores are those of
    the final model: see :func:`mvref.core.voters.class_scores`.

    ``mvref.PerViewClassifier(estimator, combine=final_estimator)`` is the same idea with
    cross-validation instead of one split, and scores of the views instead of votes. A split counts
    samples, not weights: a sample of weight 2 is in one part, whereas its copies may be in both.

    Examples
    --------
    >>> from mvref.datasets import load_iris_views
    >>> from mvref.rivals import Fusion
    >>> data = load_iris_views()
    >>> len(Fusion(random_state=0).fit(data.X, data.y).view_rows_)  # of 150
    90
    """

    _learnt = "final_estimator_"
    _one_blas_thread = False

    def __init__(
        self,
        estimator: BaseEstimator | None = None,
        *,
        final_estimator: BaseEstimator | None = None,
        train_size: float = 0.6,
        class_weight: ClassWeight | None = None,
        n_jobs: int | None = None,
        views: ViewColumns | None = None,
        random_state: RandomState | None = None,
    ):
        self.estimator, self.final_estimator = estimator, final_estimator
        self.train_size, self.class_weight, self.n_jobs = train_size, class_weight, n_jobs
        self.views, self.random_state = views, random_state

    def _fit(self, X, codes, weights, groups):
        """Fit the view classifiers on one part of the samples, the final model on the other."""
        rng = check_random_state(self.random_state)
        self.view_rows_, self.final_rows_ = self._parts(codes, rng, groups)
        first, second = X[self.view_rows_], X[self.final_rows_]
        told_first, told_second = (
            [part_of(values, rows) for values in (codes, weights, groups)]
            for rows in (self.view_rows_, self.final_rows_)
        )
        check_trainable(first, told_first[0], " in the part that trains the view classifiers")
        self.estimators_ = fit_views(self.estimator, first, told_first, rng, self.n_jobs)
        final = seeded_clone(tree_or(self.final_estimator, "final_estimator"), rng)
        with naming("on top", final):
            self.final_estimator_ = fit_in_groups(final, self._votes(second), *told_second)

    def _check_parameters(self):
        tree_or(self.estimator, "estimator")
        tree_or(self.final_estimator, "final_estimator")
        check_number(self.train_size, "train_size", low=0, high=1, low_open=True)
        if self.train_size == 1:
            raise ValueError("train_size must leave samples to the final model, got 1.")

    def _parts(self, codes, rng, groups):
        """Split every class at random into two non-empty parts; groups are kept together."""
        if groups is not None:
            fold = folds_of(10, codes, rng, groups).test_fold
            folds = np.unique(fold)
            n_first = min(max(round(self.train_size * len(folds)), 1), len(folds) - 1)
            in_first = np.isin(fold, folds[:n_first])
            for part in (codes[in_first], codes[~in_first]):
                if len(lost := np.setdiff1d(codes, part)):
                    raise ValueError(
                        f"Fusion needs groups of every class on its two levels, and those of class "
                        f"{self.classes_.tolist()[lost[0]]!r} are on one: take another "
                        "random_state, or mvref.PerViewClassifier, whose folds use all samples."
                    )
            return np.flatnonzero(in_first), np.flatnonzero(~in_first)
        first, second = [], []
        for k, label in enumerate(self.classes_.tolist()):
            rows = rng.permutation(np.flatnonzero(codes == k))
            if len(rows) < 2:
                told = "Fusion needs 2 samples of every class, one for each of its two levels"
                raise ValueError(f"{told}; y has one of class {label!r}.")
            cut = min(max(round(self.train_size * len(rows)), 1), len(rows) - 1)
            first.append(rows[:cut])
            second.append(rows[cut:])
        return np.sort(np.concatenate(first)), np.sort(np.concatenate(second))

    def _votes(self, X):
        """Return the input of the final model."""
        votes = votes_of_views(self.estimators_, X, len(self.classes_))
        votes = votes[..., 1:] - votes[..., :1] if votes.shape[2] == 2 else votes
        return votes.reshape(X.n_samples, -1)

    def _scores(self, X):
        votes = self._votes(X)
        return difference_if_two(class_scores(self.final_estimator_, votes, len(self.classes_)))


class MVMV(Weighted, MultiViewClassifier):
    """Uniform majority vote of one classifier per view ("MV-MV").

    Parameters
    ----------
    estimator : scikit-learn classifier, default=None; a decision tree, one for every view,
        as in papers; for numeric features a linear or kernel machine is better
    ties : {"random", "smallest", "largest"}, default="random"
        Class that wins a tie: a random class, the smallest or the largest label. With an even
        number of views this matters.
    class_weight : dict, "balanced" or None, default=None; multiplies ``sample_weight``
    n_jobs : int or None, default=None; number of views fitted in parallel (joblib)
    views : sequence or mapping, default=None; widths, slices, indices or names that split a 2-D `X`
    random_state : int, RandomState instance or None, default=None; seed of classifiers and ties

    Attributes
    ----------
    estimators_ : list of V fitted classifiers; they predict positions in ``classes_``
    tie_keys_ : array, the keys of random tie-breaking
    classes_, n_features_in_ : sorted array of labels, and int, number of columns of all views
    view_names_, view_widths_, view_feature_names_ : lists; name, width, columns of each view

    See Also
    --------
    Fusion : A final classifier instead of the vote.
    mvref.MwMvC2 : Votes whose weights are learnt.

    Notes
    -----
    Provenance: another paper's description. Goyal, Morvant and Amini (2018) describe the method of
    Amini, Usunier and Goutte (2009). A missing view casts no vote, in training and in prediction.

    It is ``mvref.PerViewClassifier(estimator, combine="vote")``, where the smallest label wins
    ties.

    Examples
    --------
    >>> from mvref.datasets import load_iris_views
    >>> from mvref.rivals import MVMV
    >>> data = load_iris_views()
    >>> MVMV(random_state=0).fit(data.X, data.y).decision_function(data.X)[0]
    array([2., 0., 0.])
    """

    _learnt = "estimators_"
    _one_blas_thread = False

    def __init__(
        self,
        estimator: BaseEstimator | None = None,
        *,
        ties: Literal["random", "smallest", "largest"] = "random",
        class_weight: ClassWeight | None = None,
        n_jobs: int | None = None,
        views: ViewColumns | None = None,
        random_state: RandomState | None = None,
    ):
        self.estimator, self.ties = estimator, ties
        self.class_weight, self.n_jobs = class_weight, n_jobs
        self.views, self.random_state = views, random_state

    def _fit(self, X, codes, weights):
        check_trainable(X, codes)
        rng = check_random_state(self.random_state)
        self.tie_keys_ = draw_keys(X.shape[1], rng)
        told = codes, weights, None
        self.estimators_ = fit_views(self.estimator, X, told, rng, self.n_jobs)

    def _check_parameters(self):
        tree_or(self.estimator, "estimator")
        check_choice(self.ties, "ties", TIES)

    def _scores(self, X):
        """Count the votes."""
        votes = votes_of_views(self.estimators_, X, len(self.classes_)).sum(axis=1)
        return break_ties(difference_if_two(votes), X, self.ties, self.tie_keys_)
