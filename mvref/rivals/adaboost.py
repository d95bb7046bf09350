"""The common part of the boosting methods: a round of AdaBoost in which a voter may abstain.

Symbols    d (m,) weights of the samples, sum 1;  yh (m,): +1 right, -1 wrong, 0 abstains;
           W+, W-, W0: weights of the samples where the vote is right, wrong, or abstains.
Round      alpha = 1/2 ln(W+/W-), which minimises Z = sum_i d_i exp(-alpha yh_i), and then
           Z = W0 + 2 sqrt(W+ W-) (R. E. Schapire, Y. Singer, Machine Learning 37, 1999);
           d <- d exp(-alpha yh) / Z. Without abstention W0 = 0, and with the edge e = W+ - W-
           alpha = 1/2 ln((1 + e)/(1 - e)) and Z = sqrt(1 - e^2).
Weights    w (m,) of the samples: d starts at w / sum(w).
Cap        no error counts as less than half a sample, 1/(2m): |alpha| <= 1/2 ln(2m - 1). With
           weights, m is sum(w) here, or the number of weights if that is larger: with weights
           that sum to 1, no vote would get a weight otherwise.
"""

import numpy as np
from joblib import Parallel, delayed
from sklearn.dummy import DummyClassifier
from sklearn.tree import BaseDecisionTree, DecisionTreeClassifier
from sklearn.utils import check_random_state
from sklearn.utils.validation import has_fit_parameter

from ..core.base import MultiViewClassifier, one_against_rest, one_or_list
from ..core.input import Weighted, check_choice, check_number
from ..core.ties import TIES, break_ties, draw_keys
from ..core.voters import check_classifier, check_trainable, fit_weighted, seeded_clone


class Boosted(Weighted, MultiViewClassifier):
    """Base of the boosting methods: weighted weak learner, tie-breaking, one boosting per class.

    ``_boost``, on tables of the views and labels -1 and +1, returns the attributes of
    ``_per_class``, and ``_vote`` computes F(x). A subclass that learns all classes together
    implements ``_boost_all``.
    """

    _learnt = "alphas_"

    def _check_parameters(self):
        check_number(self.n_estimators, "n_estimators", low=1, integer=True)
        check_choice(self.ties, "ties", TIES)
        if self.estimator is None:
            return
        check_classifier(self.estimator, "estimator")
        if not has_fit_parameter(self.estimator, "sample_weight"):
            name = type(self.estimator).__name__
            raise ValueError(f"estimator must accept sample_weight in fit, {name} does not.")

    def _fit(self, X, codes, weights):
        check_trainable(X, codes)
        w = np.ones(len(codes)) if weights is None else weights
        rng = check_random_state(self.random_state)
        self.tie_keys_ = draw_keys(X.shape[1], rng)
        self._boost_all(X, codes, w, rng)

    def _boost_all(self, X, codes, w, rng):
        signs = one_against_rest(codes, len(self.classes_)).astype(int)  # labels for the voters
        learner = self._learner()
        tables = tables_of(learner, X)
        courses = Parallel(self.n_jobs)(
            delayed(self._boost)(learner, tables, y_k, w, np.random.RandomState(seed))
            for y_k, seed in zip(signs, rng.randint(2**31, size=len(signs)), strict=True)
        )
        for name, values in zip(self._per_class, zip(*courses, strict=True), strict=True):
            setattr(self, name, one_or_list(values))

    def _scores(self, X):
        """Return F(x), one column per class; for two classes (n,)."""
        values = [getattr(self, name) for name in self._per_class]
        two = len(self.classes_) == 2
        of_classes = [values] if two else zip(*values, strict=True)
        courses = [dict(zip(self._per_class, course, strict=True)) for course in of_classes]
        scores = np.column_stack([self._vote(X, course) for course in courses])
        weight = max(np.abs(course["alphas_"]).sum() for course in courses)
        return self._break_ties(scores[:, 0] if two else scores, X, weight)

    def _learner(self, depth=2):
        return DecisionTreeClassifier(max_depth=depth) if self.estimator is None else self.estimator

    def _break_ties(self, scores, X, weight):
        """Break ties at random; scores are tied if equal up to rounding of the votes' weight."""
        return break_ties(scores, X, self.ties, self.tie_keys_, width=1e-9 * max(weight, 1.0))


def number_of_samples(w):
    """Return the m of the cap: the sum of the weights w (m,), or their number if that is larger.

    >>> float(number_of_samples(np.array([3.0, 1.0]))), float(number_of_samples(np.full(4, 0.1)))
    (4.0, 4.0)
    """
    return max(w.sum(), len(w))


def half_log_odds(W_plus, W_minus, m):
    """Return 1/2 ln(W+/W-) of right and wrong weights, with an error of at least 1/(2m).

    >>> round(half_log_odds(3.0, 1.0, m=100), 3), half_log_odds(0.0, 0.0, m=100)
    (0.549, 0.0)
    """
    if W_plus + W_minus == 0:
        return 0.0
    error = np.clip(W_minus / (W_plus + W_minus), 0.5 / m, 1 - 0.5 / m)
    return float(0.5 * np.log((1 - error) / error))


def boost_step(d, yh, m=None):
    """Weight a vote, reweight the samples: d, yh (n,), m or n samples -> alpha, edge, Z, new d.

    >>> alpha, edge, Z, d = boost_step(np.full(4, 0.25), np.array([1, 1, 1, -1]))
    >>> edge, float(d[3].round(3))  # the sample that is wrong gets half of the weight
    (0.5, 0.5)
    """
    alpha = half_log_odds(d[yh > 0].sum(), d[yh < 0].sum(), m or len(d))
    unnormalised = d * np.exp(-alpha * yh)
    Z = unnormalised.sum()
    return alpha, float(d @ yh), float(Z), unnormalised / Z


def tables_of(learner, X):
    """Return the tables of all views."""
    return [Table(learner, *pair) for pair in zip(X.views, X.observed.T, strict=True)]


class Table:
    """Samples that have a view, prepared for a weak learner: their rows, and their positions.

    Trees get the precision that they use, so that no round has to convert the table.
    """

    def __init__(self, learner, view, seen):
        tree = isinstance(learner, BaseDecisionTree)
        self.where = np.flatnonzero(seen)
        self.rows = view[self.where].astype(np.float32 if tree else float, copy=False)

    def fit(self, learner, y, d, w, rng):
        """Fit a weak learner with weights d (n,), on the scale of the users' weights w (n,).

        y (n,): labels -> the fitted clone, and its predictions for the samples of the table.
        """
        y, d, w = y[self.where], d[self.where], w[self.where]
        if (y == y[0]).all():  # one-vs-rest, in a view that never shows the class
            return DummyClassifier(strategy="most_frequent").fit(self.rows, y), y
        total = d.sum()
        # the same sum in every round (without w, mean 1), for learners with a penalty
        d = d * (w.sum() / total) if total > 0 else w
        voter = fit_weighted(seeded_clone(learner, rng), self.rows, y, d)
        return voter, voter.predict(self.rows)
