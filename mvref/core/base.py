"""What every estimator of mvref does: fit on checked input, scores that decide."""

import itertools
from contextlib import nullcontext

import numpy as np
from scipy.special import expit, log_expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_classifier
from sklearn.utils.validation import check_is_fitted

from .input import (
    check_votable,
    one_blas_thread,
    refuse_huge,
    sample_weights,
    validate_numbers,
    validate_targets,
    validate_views,
    warn_if_nothing_learnt,
)


class MultiViewInput:
    """What all estimators share: input and tags of scikit-learn; and `fit` of those that predict.

    Sparse input is welcome; NaN is, where it can mean a missing view. ``_learnt`` names an
    attribute that only a fitted estimator has.
    """

    _raw = False  # True: members take what an estimator refuses, words and single gaps
    _needs_a_view = True  # False: samples without any view are the subclass's affair
    _one_blas_thread = True  # while it learns; False: see :mod:`.threads`

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.views is not None
        return tags

    def fit(self, X, y):
        """Learn from samples and what is known of them.

        Parameters
        ----------
        X : MultiView, list of arrays, or 2-D array of n samples
        y : array-like of shape (n,); labels of any type, or in a regressor numbers

        Returns
        -------
        self : object; the fitted estimator

        Raises
        ------
        ValueError
            For wrong input, a parameter out of range, a single class, or a sample without views.
        """
        return self._check_and_fit(X, y)

    def _check_and_fit(self, X, y, *more, **given):
        """What ``fit`` does; given: the sample_weight of a :class:`Weighted` method.

        more: handed on to ``_fit``.
        """
        X = validate_views(self, X, reset=True, raw=self._raw)
        self._check_parameters()
        validate = validate_targets if is_classifier(self) else validate_numbers
        targets = validate(self, y, X.n_samples)
        weights = ()
        if isinstance(self, Weighted):
            y = self.classes_[targets] if is_classifier(self) else targets
            rows, *weights = sample_weights(self, X, y, **given)
            if len(rows) < X.n_samples:  # perhaps a class less
                _refuse_cut_gram(self, X.n_samples - len(rows))
                X, targets = X[rows], validate(self, y[rows], len(rows))
        self._check_votable(X)
        try:
            with one_blas_thread() if self._one_blas_thread else nullcontext():
                self._fit(X, targets, *weights, *more)
        except MemoryError as error:
            raise MemoryError(
                f"{type(self).__name__} finds no memory for {X.n_samples} samples ({error}). What "
                "does without the similarities of all pairs of them: mvref.fit_in_chunks, "
                "mvref.MVMClassifier(solver='sgd'), mvref.PerViewClassifier with a linear model."
            ) from error
        except (ArithmeticError, ValueError) as error:
            refuse_huge(X, error)
            raise
        warn_if_nothing_learnt(self, X, targets)
        return self

    def _validated(self, X):
        """Samples to be scored, as a MultiView in the order of ``fit``."""
        check_is_fitted(self, self._learnt)
        X = validate_views(self, X, reset=False, raw=self._raw)
        self._check_votable(X)
        return X

    def _check_votable(self, X):
        if self._needs_a_view:
            check_votable(X)


class Weighted:
    """Mixin of a method whose objective has a weighted form: ``_fit(X, targets, weights)``.

    weights (n,), all positive, or None for equal ones. A weight k stands for k copies of a sample;
    samples of weight 0 never reach ``_fit``. A classifier has the parameter ``class_weight``.
    """

    def fit(self, X, y, sample_weight=None):
        """Learn from samples and what is known of them.

        Parameters
        ----------
        X : MultiView, list of arrays, or 2-D array of n samples
        y : array-like of shape (n,)
            Labels of any type; in a regressor, numbers.
        sample_weight : array-like of n numbers >= 0, default=None
            A weight of 2 is worth the same as the sample twice, one of 0 as a sample left out.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            For wrong input, a parameter out of range, a single class, or a sample without views.
        """
        return self._check_and_fit(X, y, sample_weight=sample_weight)


class MultiViewClassifier(ClassifierMixin, MultiViewInput, BaseEstimator):
    """Every classifier of mvref: its input, its classes, and scores that decide.

    A subclass stores its parameters in ``__init__``, refuses bad ones in ``_check_parameters``,
    learns in ``_fit(X, codes)`` from the positions of the labels in ``classes_``, and has
    ``_scores(X)``: shape (n, 1) or (n,) for two classes, else (n, n_classes).
    """

    def decision_function(self, X):
        """Return a score per class; the largest wins.

        Parameters
        ----------
        X : MultiView, list of arrays, or 2-D array of n samples

        Returns
        -------
        scores : array, (n,) for two classes (positive: the second one), else (n, n_classes)
        """
        scores = np.asarray(self._scores(self._validated(X)))  # whatever scikit-learn's output is
        return scores.reshape(-1) if len(self.classes_) == 2 else scores

    def predict(self, X):
        """Return the class with the best score; of two classes the second where it is above 0.

        Parameters
        ----------
        X : MultiView, list of arrays, or 2-D array of n samples

        Returns
        -------
        y : array of labels, shape (n,)
        """
        return winning_labels(self.decision_function(X), self.classes_)


class MultiViewRegressor(RegressorMixin, MultiViewInput, BaseEstimator):
    """Every regressor of mvref; a subclass has ``_fit(X, y)`` and ``_scores(X)``, shape (n, 1)."""

    def predict(self, X):
        """Return the number that is expected of every sample.

        Parameters
        ----------
        X : MultiView, list of arrays, or 2-D array of n samples

        Returns
        -------
        y : array, shape (n,)
        """
        return self._scores(self._validated(X))[:, 0]


def _refuse_cut_gram(estimator, n_without):
    """Refuse samples of weight 0 that a Gram matrix would go on having columns of."""
    kernel = getattr(estimator, "kernel", None)
    if "gram" in (kernel if isinstance(kernel, list | tuple | np.ndarray) else [kernel]):
        raise ValueError(
            f"sample_weight is 0 for {n_without} samples: with kernel='gram' leave them out of X, "
            "rows and columns, instead."
        )


def one_against_rest(codes, n_classes):
    """Return the labels of the two-class problems that stand for a problem of several classes.

    codes (n_samples,), 0 to n_classes - 1 -> Y (1, n_samples) for two classes, else (n_classes, .).

    >>> one_against_rest(np.array([0, 2, 1]), 3)
    array([[ 1., -1., -1.],
           [-1., -1.,  1.],
           [-1.,  1., -1.]])
    """
    positive = [1] if n_classes == 2 else range(n_classes)
    return np.array([np.where(codes == k, 1.0, -1.0) for k in positive])


def one_or_array(values):
    """Return the value of the only problem, or an array of those of all classes."""
    return values[0] if len(values) == 1 else np.array(values)


def one_or_list(values):
    """Return the value of the only problem, or a list of those of all classes."""
    return values[0] if len(values) == 1 else list(values)


def pairs_of(n_classes):
    """Return the pairs i < j of classes in the order of ``multi_class="ovo"``.

    >>> pairs_of(3)
    [(0, 1), (0, 2), (1, 2)]
    """
    return list(itertools.combinations(range(n_classes), 2))


def votes_of_pairs(scores, n_classes):
    """Count the votes of the machines of pairs; between equal votes the summed scores decide.

    scores (n, n_classes (n_classes - 1) / 2): positive for the second class of the pair, which has
    the vote; else the first has it -> votes (n, n_classes).

    >>> votes_of_pairs(np.array([[1.0, -1.0, 3.0]]), 3).round(2)  # one vote each
    array([[1.  , 0.78, 1.22]])
    """
    votes, sums = np.zeros((2, len(scores), n_classes))
    for s, (i, j) in zip(scores.T, pairs_of(n_classes), strict=True):
        votes[:, j] += s > 0
        votes[:, i] += s <= 0
        sums[:, j] += s
        sums[:, i] -= s
    return votes + sums / (3.0 * (np.abs(sums) + 1.0))


def winning_labels(scores, classes):
    """Return the labels (n,) with the best score; the first of equal ones."""
    return classes[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]


def logistic_probabilities(scores):
    """Return probabilities from the scores of logistic machines, one against the rest.

    scores (n, 1) for two classes, else (n, n_classes) -> probabilities (n, n_classes).

    >>> logistic_probabilities(np.array([[0.0]])), logistic_probabilities(np.zeros((1, 4)))
    (array([[0.5, 0.5]]), array([[0.25, 0.25, 0.25, 0.25]]))
    """
    if scores.shape[1] == 1:
        return expit(np.hstack([-scores, scores]))
    return softmax(log_expit(scores), axis=1)  # p over its sum, also where every p is 0
