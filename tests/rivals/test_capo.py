"""CAPO: SVM^perf on features and out-of-fold outputs, its penalty B, its readings; the API."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from mvref import MultiView
from mvref.core.measures import auroc
from mvref.mvpo import most_violated_of
from mvref.rivals import CAPO, SVMPerf
from mvref.rivals.capo import _out_of_fold
from tests.literal import toy_views

WIDTHS = (3, 4, 2)
VIEWS, Y = toy_views(0, m=60, widths=WIDTHS, noise=1.5)
Y[:15] = 0
FLAT, SIGNS = np.hstack(VIEWS), np.where(Y == 1, 1, -1)
THREE, Y3 = toy_views(1, m=60, widths=WIDTHS, n_classes=3, noise=1.5)
KNOWN = [LogisticRegression(), KNeighborsClassifier(3)]


class Told(ClassifierMixin, BaseEstimator):
    """Remembers the first column of its training samples, and is only sure of those."""

    def fit(self, X, y):
        self.classes_, self.met_ = np.unique(y), dict(zip(X[:, 0], y, strict=True))
        return self

    def decision_function(self, X):
        return np.array([5.0 * (2 * self.met_.get(x, 0.5) - 1) for x in X[:, 0]])


def columns_of(model, X):
    """[x ; f(x) / sqrt(B)] of fitted auxiliary classifiers, each asked by its own method."""
    logistic, neighbours = model.auxiliaries_
    outputs = [logistic.decision_function(X), neighbours.predict_proba(X) @ [-1, 1]]
    return np.column_stack([X, *outputs / np.sqrt(model.B)])


def test_score_of_new_samples_by_hand():
    model = CAPO(auxiliaries=KNOWN, B=0.3, random_state=0).fit(VIEWS, Y)
    new = FLAT + 0.2
    for classifier, given in zip(model.auxiliaries_, KNOWN, strict=True):
        own = clone(given).fit(FLAT, Y)
        assert_array_equal(classifier.predict(new), own.predict(new))  # trained on all samples
    expected = columns_of(model, new) @ model.coef_ + model.intercept_
    assert_allclose(model.decision_function([v + 0.2 for v in VIEWS]), expected, atol=1e-10)


@pytest.mark.parametrize("measure", ["f1", "prbep", "auroc", "error"])
def test_certificate_recomputed(measure):
    """min 1/2 |w|^2 + B/2 |b|^2 + C2 xi in w and b, on the outputs out of fold."""
    model = CAPO(measure, auxiliaries=KNOWN, B=0.3, C2=30.0, random_state=0).fit(VIEWS, Y)
    [table] = model._training_tables(MultiView(VIEWS), SIGNS[None])  # the same seed, same folds
    assert table.shape == (60, 12)
    f = table[:, 9:11] * np.sqrt(0.3)
    w, b = model.coef_[:9], model.coef_[9:] / np.sqrt(0.3)
    w0 = model.intercept_ if measure in ("f1", "error") else 0.0
    slack = most_violated_of(measure, SIGNS)(FLAT @ w + f @ b + w0)[0]
    primal = (w @ w + 0.3 * (b @ b) + w0**2) / 2 + 30 * slack
    assert_allclose(primal, model.primal_curve_.min(), rtol=1e-6)
    assert model.dual_gap_ <= 30 * 1e-3


def test_outputs_of_training_samples_are_out_of_fold():
    """A classifier that only knows its own training samples knows none here."""
    folds = np.arange(60) % 4
    assert_array_equal(_out_of_fold(Told(), FLAT, Y, folds, 2), np.zeros((60, 2)))
    svc = _out_of_fold(SVC(), FLAT, Y, folds, 2)
    for fold in range(4):
        own = SVC().fit(FLAT[folds != fold], Y[folds != fold])
        scores = own.decision_function(FLAT[folds == fold])
        assert_allclose(svc[folds == fold], np.column_stack([-scores, scores]))
    model = CAPO(auxiliaries=[Told()], random_state=0).fit(FLAT, Y)
    assert model.coef_[9] == 0.0
    assert_array_equal(Told().fit(FLAT, Y).decision_function(FLAT), 5.0 * SIGNS)


def test_folds_hold_every_class():
    """Two positives, five folds: each classifier still meets one."""
    y = np.zeros(60, dtype=int)
    y[[7, 33]] = 1
    model = CAPO(auxiliaries=[SVC()], random_state=0).fit(FLAT, y)
    assert np.isfinite(model.decision_function(FLAT)).all()


def test_a_large_B_is_svm_perf_and_a_small_one_trusts_the_classifiers():
    plain = SVMPerf(C2=20.0, tol=1e-7, max_iter=5000).fit(VIEWS, Y)
    options = {"auxiliaries": KNOWN, "C2": 20.0, "tol": 1e-7, "max_iter": 5000}
    large = CAPO(B=1e12, random_state=0, **options).fit(VIEWS, Y)
    assert_allclose(large.coef_[:9], plain.coef_, atol=4 * np.sqrt(2 * 20 * 1e-7))
    shares = []
    for B in (1e-4, 1e-2, 1.0, 100.0):
        model = CAPO(B=B, random_state=0, **options).fit(VIEWS, Y)
        shares.append(np.linalg.norm(model.coef_[9:]) / np.sqrt(B) / np.linalg.norm(model.coef_))
    assert (np.diff(shares) < 0).all()


def test_helps_where_no_line_does():
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(2, 200, 2))
    ring, new_ring = ((Z**2).sum(axis=1) < 1.0 for Z in (X, new))
    assert auroc(new_ring, SVMPerf("auroc").fit(X, ring).decision_function(new)) < 0.7
    assert auroc(new_ring, CAPO("auroc", random_state=0).fit(X, ring).decision_function(new)) > 0.9


@pytest.mark.parametrize("fitted", [np.asarray, sparse.csr_matrix])
def test_new_samples_may_be_stored_otherwise_than_those_of_the_training(fitted):
    """An SVC that was fitted on dense rows refuses sparse ones."""
    model = CAPO(random_state=0).fit([fitted(view) for view in VIEWS], Y)
    scores = [
        model.decision_function([form(view) for view in VIEWS])
        for form in (np.asarray, sparse.csr_matrix)
    ]
    assert_allclose(scores[1], scores[0], atol=1e-9)


def test_default_classifiers():
    model = CAPO(random_state=0).fit(VIEWS, Y)
    kinds = [SVC, KNeighborsClassifier, DecisionTreeClassifier]
    assert [type(f) for f in model.auxiliaries_] == kinds


def test_classes_share_the_classifiers():
    """The output for a class is its score minus the best of the others."""
    names = np.array(["ant", "bee", "cat"])
    model = CAPO(auxiliaries=[LogisticRegression()], random_state=0).fit(THREE, names[Y3])
    scores = model.decision_function(THREE)
    assert scores.shape == (60, 3) and len(model.auxiliaries_) == 1
    own = LogisticRegression().fit(np.hstack(THREE), Y3).decision_function(np.hstack(THREE))
    for k in range(3):
        f = own[:, k] - np.delete(own, k, axis=1).max(axis=1)
        expected = np.column_stack([*THREE, f]) @ model.coef_[k] + model.intercept_[k]
        assert_allclose(scores[:, k], expected, atol=1e-10)
    assert_array_equal(model.predict(THREE), names[scores.argmax(axis=1)])
