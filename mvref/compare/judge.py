"""Scoring of predictions: the contribution of each sample to a score, and the tie-breaker."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import get_scorer

from .influence import by_sample
from .learners import Said


@dataclass(frozen=True)
class Answer:
    """Predictions of a candidate for some samples: labels or numbers, and scores if it has any."""

    labels: np.ndarray
    said: Said | None
    model: object = None
    X: object = None


def answer_of_model(model, X, classes):
    """Return the predictions of a model that was trained on the user's labels."""
    labels = model.predict(X)
    if classes is None:
        return Answer(labels, Said(np.asarray(labels, float).reshape(-1, 1), "numbers"), model, X)
    for method, kind in (("predict_proba", "probabilities"), ("decision_function", "margins")):
        if hasattr(model, method):
            scores = getattr(model, method)(X)
            if scores.ndim == 1:
                scores = np.column_stack([0.0 * scores, scores])
            full = np.full(
                (len(labels), len(classes)), 0.0 if kind != "margins" else scores.min() - 1.0
            )
            full[:, np.searchsorted(classes, model.classes_)] = scores
            return Answer(labels, Said(full, kind), model, X)
    return Answer(labels, None, model, X)


@dataclass(frozen=True)
class Judge:
    """Scoring of predictions by a scorer of scikit-learn.

    classes: sorted labels, or None for a continuous outcome.
    """

    scoring: object
    classes: np.ndarray | None

    @cached_property
    def scorer(self):
        """The scorer of scikit-learn."""
        return get_scorer(self.scoring)

    def answer(self, said, X=None):
        """Return the `Answer` of the predictions of a plain candidate."""
        if self.classes is None:
            labels, model = said.scores[:, 0], ToldNumbers(said)
        else:
            labels = self.classes[said.scores.argmax(axis=1)]
            model = Told(said, self.classes)
        return Answer(labels, said, model, X)

    def parts(self, y, answer):
        """Return the contributions (n,) of the samples, whose mean is the score, else the score."""
        said = answer.said
        parts = None
        if isinstance(self.scoring, str):
            parts = by_sample(self.scoring, y, answer.labels, self._scores(said), self.classes)
        return self.scorer(answer.model, answer.X, y) if parts is None else parts

    def _scores(self, said):
        """Return probabilities if there are any, else scores."""
        if said is None or said.probabilities is not None:
            return None if said is None else said.probabilities
        if self.scoring == "neg_log_loss":
            raise ValueError("neg_log_loss needs predict_proba, which the model does not provide.")
        return said.scores

    def tie(self, y, answer):
        """Return the tie-breaker between equal scores: minus the log loss, or the squared error."""
        if self.classes is None:
            return -float(np.mean((y - answer.labels) ** 2))
        if answer.said is None:
            return 0.0
        return -float(answer.said.log_loss(np.searchsorted(self.classes, y)).mean())

    def worth(self, y, answer):
        """Return the score and the tie-breaker."""
        return float(np.mean(self.parts(y, answer))), self.tie(y, answer)


class Told(ClassifierMixin, BaseEstimator):
    """A classifier that returns stored predictions, for a scorer that calls a model."""

    def __init__(self, said=None, classes=None):
        self.said, self.classes = said, classes
        self.classes_ = classes

    def __sklearn_is_fitted__(self):
        return True

    def predict(self, X):
        """Return labels."""
        return self.classes[self.said.scores.argmax(axis=1)]

    def decision_function(self, X):
        """Return scores, in the shape of scikit-learn."""
        scores = self.said.scores
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict_proba(self, X):
        """Return probabilities."""
        if self.said.probabilities is None:
            raise ValueError("the model provides margins, but no probabilities.")
        return self.said.probabilities


class ToldNumbers(RegressorMixin, BaseEstimator):
    """A regressor that returns stored predictions."""

    def __init__(self, said=None):
        self.said = said

    def __sklearn_is_fitted__(self):
        return True

    def predict(self, X):
        """Return numbers."""
        return self.said.scores[:, 0]
