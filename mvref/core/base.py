"""Base classes of the classifiers and regressors of mvref: labels and numbers from scores."""

import itertools

import numpy as np
from scipy.special import expit, log_expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from .input import MultiViewInput, Scored, Views, memory_for


class MultiViewClassifier(Scored, ClassifierMixin, MultiViewInput, BaseEstimator):
    """Base of the classifiers of mvref: checks of the input, classes, and labels from scores.

    A subclass stores its parameters in ``__init__``, checks them in ``_check_parameters``, learns
    in ``_fit`` from the input that :mod:`mvref.core.input` guarantees, and has ``_scores(X)``:
    shape (n, 1) or (n,) for two classes, else (n, n_classes).
    """

    def decision_function(self, X: Views) -> np.ndarray:
        """Compute a score for every class; the class with the largest score is predicted.

        Parameters
        ----------
        X : MultiView, list of arrays, or 2-D array of n samples

        Returns
        -------
        scores : array, (n,) for two classes (positive: the second class), else (n, n_classes)
        """
        X = self._validated(X)
        with memory_for(self, X):
            scores = np.asarray(self._scores(X))  # whatever scikit-learn's output is
        return scores.reshape(-1) if len(self.classes_) == 2 else scores

    def predict(self, X: Views) -> np.ndarray:
        """Predict the class with the best score; of two classes the second one if the score is > 0.

        Parameters
        ----------
        X : MultiView, list of arrays, or 2-D array of n samples

        Returns
        -------
        y : array of labels, shape (n,)
        """
        return winning_labels(self.decision_function(X), self.classes_)


class MultiViewRegressor(Scored, RegressorMixin, MultiViewInput, BaseEstimator):
    """Base of the regressors of mvref; a subclass has ``_fit(X, y)`` and ``_scores(X)`` (n, 1)."""

    def predict(self, X: Views) -> np.ndarray:
        """Predict a number for every sample.

        Parameters
        ----------
        X : MultiView, list of arrays, or 2-D array of n samples

        Returns
        -------
        y : array, shape (n,)
        """
        X = self._validated(X)
        with memory_for(self, X):
            return self._scores(X)[:, 0]


def one_against_rest(codes, n_classes):
    """Return the labels of the one-vs-rest problems of a problem with several classes.

    codes (n_samples,), 0 to n_classes - 1 -> Y (1, n_samples) for two classes, else (n_classes, .).

    >>> one_against_rest(np.array([0, 2, 1]), 3)
    array([[ 1., -1., -1.],
           [-1., -1.,  1.],
           [-1.,  1., -1.]])
    """
    positive = [1] if n_classes == 2 else range(n_classes)
    return np.array([np.where(codes == k, 1.0, -1.0) for k in positive])


def one_or_array(values):
    """Return the value of the only problem, or an array of the values of all classes."""
    return values[0] if len(values) == 1 else np.array(values)


def one_or_list(values):
    """Return the value of the only problem, or a list of the values of all classes."""
    return values[0] if len(values) == 1 else list(values)


def pairs_of(n_classes):
    """Return the pairs i < j of classes in the order of ``multi_class="ovo"``.

    >>> pairs_of(3)
    [(0, 1), (0, 2), (1, 2)]
    """
    return list(itertools.combinations(range(n_classes), 2))


def votes_of_pairs(scores, n_classes):
    """Count the votes of one-vs-one classifiers; the summed scores break ties.

    scores (n, n_classes (n_classes - 1) / 2): a positive one is a vote for the second class of the
    pair, else for the first -> votes (n, n_classes).

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
    """Return the labels (n,) with the best score; ties go to the first class."""
    return classes[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]


def logistic_probabilities(scores):
    """Return probabilities from the scores of one-vs-rest logistic classifiers.

    scores (n, 1) for two classes, else (n, n_classes) -> probabilities (n, n_classes).

    >>> logistic_probabilities(np.array([[0.0]])), logistic_probabilities(np.zeros((1, 4)))
    (array([[0.5, 0.5]]), array([[0.25, 0.25, 0.25, 0.25]]))
    """
    if scores.shape[1] == 1:
        return expit(np.hstack([-scores, scores]))
    return softmax(log_expit(scores), axis=1)  # p over its sum, also where every p is 0
