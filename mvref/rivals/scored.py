"""What the rivals made of whole classifiers share: scores decide, and a fit per view."""

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import check_is_fitted

from ..core.base import MultiViewInput, check_votable, validate_views, winning_labels
from ..core.voters import check_classifier


class Scored(ClassifierMixin, MultiViewInput, BaseEstimator):
    """A classifier whose scores decide; a subclass has ``_scores(X)`` and names ``_learnt``."""

    def decision_function(self, X):
        """Return a score per class; the largest wins.

        Parameters
        ----------
        X : MultiView, list of arrays, or 2-D array of n samples

        Returns
        -------
        scores : array, (n,) for two classes (positive: the second one), else (n, n_classes)
        """
        check_is_fitted(self, self._learnt)
        X = validate_views(self, X, reset=False)
        check_votable(X)
        return self._scores(X)

    def predict(self, X):
        """Return the class with the best score.

        Parameters
        ----------
        X : MultiView, list of arrays, or 2-D array of n samples

        Returns
        -------
        y : array of labels, shape (n,)
        """
        return winning_labels(self.decision_function(X), self.classes_)


def tree_or(given, name):
    """Return the classifier given, checked, or a decision tree for None.

    name: Name of the parameter, for the message.
    """
    return DecisionTreeClassifier() if given is None else check_classifier(given, name)


def fit_views(classifiers, X, codes, n_jobs):
    """Fit a classifier per view on the samples that have the view.

    classifiers: Fitted in place, where `n_jobs` allows it; codes (m,).
    """
    rows = [np.flatnonzero(seen) for seen in X.observed.T]
    return Parallel(n_jobs)(
        delayed(classifier.fit)(view[r], codes[r])
        for classifier, view, r in zip(classifiers, X.views, rows, strict=True)
    )
