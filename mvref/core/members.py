"""The two kinds of members of a composition: classifiers with scores, and regressors.

:class:`OfClassifiers` and :class:`OfRegressors` implement the same methods in their own way; one
member per view, one model per pattern and modality dropout are written once, for both.
"""

import numpy as np

from .base import MultiViewClassifier, MultiViewRegressor
from .input import Splitting
from .voters import check_classifier, check_trainable, class_scores


class Composition(Splitting):
    """Base of compositions, whose members decide on threads, and on input such as texts."""

    _raw = True
    _one_blas_thread = False

    def _checked(self, member, name):
        """Return a member of the composition's kind, or raise a ValueError for another kind."""
        return check_classifier(member, name, self._kind)


class OfClassifiers(Composition, MultiViewClassifier):
    """A composition of classifiers, which learn positions in ``classes_``."""

    _kind = "classifier"
    _lacking = "A class has no training sample with all views of some patterns"
    _alone = "occur in training samples of one class only"

    def _n_kinds(self, codes):
        """Return the number of classes; with fewer than 2 nothing can be learnt."""
        return len(np.unique(codes))

    def _check_trainable(self, X, codes):
        check_trainable(X, codes)

    @property
    def _n_answers(self):
        return len(self.classes_)

    def _answers(self, member, rows):
        """Return the scores (n, K) of a fitted member for rows."""
        return class_scores(member, rows, len(self.classes_))


class OfRegressors(Composition, MultiViewRegressor):
    """A composition of regressors, with one answer per sample."""

    _kind = "regressor"
    _lacking = "At most one training sample has all views of some patterns"
    _alone = "occur in at most one training sample"
    _n_answers = 1

    def _n_kinds(self, y):
        """Return 2 for two samples or more, their number for fewer, which cannot be learnt from."""
        return min(len(y), 2)

    def _check_trainable(self, X, y):
        if X.observed.sum(axis=0).max() < 2:
            name = type(self).__name__
            raise ValueError(f"{name} needs 2 samples of a view in X, got one sample of each.")

    def _answers(self, member, rows):
        """Return the predictions (n, 1) of a fitted member for rows."""
        return np.reshape(member.predict(rows), (-1, 1))
