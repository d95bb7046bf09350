"""Voters: clones with seeds, votes of the views that are there, scores of any classifier."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Perceptron, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from mvref import MultiView
from mvref.core.base import winning_labels
from mvref.core.voters import (
    cast_votes,
    check_classifier,
    class_scores,
    count_votes,
    difference_if_two,
    predict_all,
    seeded_clone,
)
from tests.literal import random_pattern, toy_views

(A, B), Y = toy_views(0, m=40, widths=(3, 2))
SIGNS = 2 * Y - 1
A_BAYESIAN = GaussianNB().fit(A, SIGNS)


def trees(n=4):
    """Trees of view A that disagree."""
    return [
        DecisionTreeClassifier(max_depth=d, splitter="random", random_state=d).fit(A, SIGNS)
        for d in range(1, n + 1)
    ]


@pytest.mark.parametrize("wrong", [None, 3, "tree", DecisionTreeClassifier, Ridge(), object()])
def test_not_a_classifier(wrong):
    with pytest.raises(ValueError, match="estimator must be a scikit-learn classifier, got"):
        check_classifier(wrong, "estimator")


def test_every_free_random_state_gets_a_seed():
    nested = make_pipeline(StandardScaler(), BaggingClassifier(DecisionTreeClassifier()))
    assert check_classifier(nested, "estimator") is nested
    copy = seeded_clone(nested, np.random.RandomState(0))
    states = [v for k, v in copy.get_params().items() if k.endswith("random_state")]
    assert len(states) == 2 and all(isinstance(s, int) for s in states)
    assert len(set(states)) == 2
    assert all(v is None for k, v in nested.get_params().items() if k.endswith("random_state"))


def test_a_seed_of_the_user_is_kept_and_no_seed_needed():
    tree = DecisionTreeClassifier(random_state=7)
    assert seeded_clone(tree, np.random.RandomState(0)).random_state == 7
    assert seeded_clone(GaussianNB(), np.random.RandomState(0)) is not None


def test_clones_of_one_generator_differ_and_repeat():
    def seeds():
        rng = np.random.RandomState(3)
        return [seeded_clone(DecisionTreeClassifier(), rng).random_state for _ in range(20)]

    assert len(set(seeds())) == 20
    assert seeds() == seeds()


@pytest.mark.parametrize("seen", [random_pattern(0, 40, 2)[:, 0], np.zeros(40, dtype=bool)])
@pytest.mark.parametrize(
    ("form", "voters"),
    [(np.array, trees()), (sparse.csr_matrix, trees()), (np.array, [A_BAYESIAN, *trees(2)])],
)
def test_the_votes_are_the_predictions(form, voters, seen):
    """Trees alone share one conversion to single precision; a mixture is asked as it is."""
    X = MultiView([form(A)], observed=seen[:, None])
    votes = cast_votes(voters, X.views[0], seen)
    expected = np.column_stack([voter.predict(A) for voter in voters])
    assert_array_equal(votes, np.where(seen[:, None], expected, 0))
    if seen.any():
        assert_array_equal(predict_all(voters, A, seen), expected[seen])


def test_a_mixture_is_not_rounded():
    """Only trees compare in single precision."""
    x = 1.0 + 2.0**-40 * np.arange(4)[:, None]
    y = np.array([-1, -1, 1, 1])
    neighbour = KNeighborsClassifier(1).fit(x, y)
    tree = DecisionTreeClassifier().fit([[0.0], [2.0]], [-1, 1])
    votes = cast_votes([neighbour, tree], x, np.ones(4, dtype=bool))
    assert_array_equal(votes[:, 0], y)


def test_votes_counted_one_by_one():
    rng = np.random.default_rng(0)
    labels, weights = rng.integers(0, 4, size=(30, 6)), rng.normal(size=6)
    expected = np.zeros((30, 5))  # nobody ever names class 4
    for i in range(30):
        for j in range(6):
            expected[i, labels[i, j]] += weights[j]
    assert_allclose(count_votes(labels, weights, 5), expected, atol=1e-14)


CLASSIFIERS = [
    DecisionTreeClassifier(max_depth=2, random_state=0),
    ExtraTreeClassifier(random_state=0),
    RandomForestClassifier(5, random_state=0),
    LogisticRegression(),
    GaussianNB(),
    Perceptron(random_state=0),
]


class NoScores(ClassifierMixin, BaseEstimator):
    """A classifier that predicts and tells no scores."""

    def fit(self, X, y):
        self.tree_ = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
        self.classes_ = self.tree_.classes_
        return self

    def predict(self, X):
        return self.tree_.predict(X)


@pytest.mark.parametrize("classifier", [*CLASSIFIERS, NoScores()], ids=lambda c: type(c).__name__)
@pytest.mark.parametrize("met", [[0, 1], [0, 2, 3], [0, 1, 2, 3], [3, 1]])
def test_the_largest_score_is_the_prediction(classifier, met):
    (view, _), y = toy_views(2, m=80, n_classes=4, noise=1.5)
    rows = np.isin(y, met)
    classifier.fit(view[rows], y[rows])
    for n_classes in (4, 6):
        scores = class_scores(classifier, view, n_classes)
        assert scores.shape == (80, n_classes) and np.isfinite(scores).all()
        best = winning_labels(scores, np.arange(n_classes))
        assert_array_equal(best, classifier.predict(view))
        unmet = np.setdiff1d(np.arange(n_classes), met)
        if len(unmet):
            assert (scores[:, unmet].max(axis=1) < scores[:, met].min(axis=1)).all()


def test_two_classes_give_back_the_decision_function():
    model = LogisticRegression().fit(A, Y)
    f = difference_if_two(class_scores(model, A, 2))
    assert_array_equal(f, model.decision_function(A))
    p = difference_if_two(class_scores(GaussianNB().fit(A, Y), A, 2))
    assert_allclose(p, 2 * GaussianNB().fit(A, Y).predict_proba(A)[:, 1] - 1, atol=1e-12)


def test_winning_labels():
    names = np.array(["ant", "bee", "cat"])
    assert_array_equal(winning_labels(np.array([-1.0, 0.0, 1.0]), names), ["ant", "ant", "bee"])
    scores = np.array([[1.0, 3.0, 3.0], [0.0, -1.0, 2.0]])
    assert_array_equal(winning_labels(scores, names), ["bee", "cat"])
    assert_array_equal(difference_if_two(scores), scores)
