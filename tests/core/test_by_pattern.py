"""Calibration and sets by pattern of views: against scikit-learn and quantiles by hand."""

import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

from mvref import (
    CalibratedByPattern,
    ConformalByPattern,
    MultiView,
    PatternClassifier,
    PerView,
    PerViewClassifier,
)
from mvref.core.gaps import rows_by_pattern


def world(seed, n, few=0.02):
    """Three classes; the second view tells little, and few samples have the third alone."""
    rng = np.random.RandomState(seed)
    y = rng.randint(3, size=n)
    views = [rng.normal(size=(n, 2)) + clarity * np.eye(3)[y, :2] for clarity in (3, 0.7, 2)]
    observed = rng.uniform(size=(n, 3)) < [0.7, 0.8, 0.5]
    observed[~observed.any(axis=1), 1] = True
    observed[rng.uniform(size=n) < few] = [False, False, True]
    return MultiView(views).with_observed(observed), np.array(["ant", "bee", "cat"])[y]


@pytest.fixture(scope="module")
def trained():
    return PerViewClassifier().fit(*world(0, 600))


def shown_with(X, views):
    """The samples that have at least some views, with these only."""
    rows = np.flatnonzero(X.select(list(views)).observed.all(axis=1))
    return X[rows].with_observed(np.tile(np.isin(X.names, views), (len(rows), 1))), rows


def pool(X, views, min_samples):
    """The rule of the docstring: own samples, those with more shown with these, or all."""
    own = np.flatnonzero((X.observed == np.isin(X.names, views)).all(axis=1))
    cut, rows = shown_with(X, views)
    if len(own) >= min_samples:
        return "own", X[own], own
    return ("cut", cut, rows) if len(rows) >= min_samples else ("all", X, np.arange(len(X)))


@pytest.mark.parametrize("min_samples", [1, 60, 400])
@pytest.mark.filterwarnings("ignore:fewer than min_samples")
def test_sets_are_those_of_a_quantile_by_hand(trained, min_samples):
    X, y = world(1, 500)
    new, _ = world(2, 400)
    model = ConformalByPattern(FrozenEstimator(trained), level=0.8, min_samples=min_samples)
    sets = model.fit(X, y).predict_set(new)
    kinds = set()
    for views, rows in rows_by_pattern(new):
        kind, samples, those = pool(X, views, min_samples)
        kinds.add(kind)
        assert model.pools_[views] == (kind, len(those))
        truth = np.searchsorted(trained.classes_, y[those])
        wrong = 1 - trained.predict_proba(samples)[np.arange(len(those)), truth]
        rank = int(np.ceil((len(wrong) + 1) * 0.8))
        limit = np.sort(wrong)[min(rank, len(wrong)) - 1]
        assert_array_equal(sets[rows], 1 - trained.predict_proba(new[rows]) <= limit + 1e-12)
    assert kinds == {1: {"own"}, 60: {"own", "cut"}, 400: {"cut", "all"}}[min_samples]
    assert_array_equal(model.predict(new), trained.predict(new))


@pytest.mark.filterwarnings("ignore:fewer than min_samples")
def test_sets_hold_the_label_within_each_pattern_and_one_threshold_does_not(trained):
    held = {}
    for seed in range(12):
        X, y = world(100 + seed, 900)
        new, y_new = world(200 + seed, 900)
        truth = np.searchsorted(trained.classes_, y_new)
        for name, min_samples in (("apart", 60), ("one", 10_000)):
            model = ConformalByPattern(FrozenEstimator(trained), min_samples=min_samples)
            inside = model.fit(X, y).predict_set(new)[np.arange(900), truth]
            for views, rows in rows_by_pattern(new):
                held.setdefault((name, views), []).append(inside[rows].mean())
    shares = {key: np.mean(values) for key, values in held.items()}
    apart = [share for (name, views), share in shares.items() if name == "apart"]
    one = [share for (name, views), share in shares.items() if name == "one"]
    assert min(apart) > 0.86  # about .9: the rare patterns are cut from others, at random
    assert min(one) < 0.8 and max(one) > 0.95


def test_calibration_is_scikit_learns_on_the_samples_of_the_pattern(trained):
    X, y = world(1, 900)
    new, _ = world(2, 50)
    model = CalibratedByPattern(FrozenEstimator(trained), min_samples=1).fit(X, y)
    P = model.predict_proba(new)
    for views, rows in rows_by_pattern(new):
        own = np.flatnonzero((X.observed == np.isin(X.names, views)).all(axis=1))

        class OnThese(PerViewClassifier):
            """Its probabilities of these samples."""

        twin = CalibratedClassifierCV(FrozenEstimator(trained)).fit(X[own], y[own])
        by_scores = twin.predict_proba(new[rows])  # from scores; ours is from probabilities
        assert np.abs(P[rows] - by_scores).max() < 0.25
        assert_array_equal(P[rows].argmax(axis=1), by_scores.argmax(axis=1))
    assert_allclose(P.sum(axis=1), 1)


def test_probabilities_become_right_within_patterns():
    """A classifier that is too sure of itself where a view is missing."""
    X, y = world(3, 2500)
    new, y_new = world(4, 2500)

    class Sure(PerViewClassifier):
        def predict_proba(self, X):
            P = super().predict_proba(X) ** (1 + 4 * ~X.observed[:, [0]])
            return P / P.sum(axis=1, keepdims=True)

    model = Sure().fit(X[:1000], y[:1000])
    right = CalibratedByPattern(FrozenEstimator(model)).fit(X[1000:], y[1000:])
    truth = np.searchsorted(model.classes_, y_new)

    def loss(P, rows):
        return -np.log(P[rows, truth[rows]]).mean()

    before, after = model.predict_proba(new), right.predict_proba(new)
    for views, rows in rows_by_pattern(new):
        if len(rows) > 100 and "view_0" not in views:
            assert loss(after, rows) < loss(before, rows) - 0.05
    isotonic = CalibratedByPattern(FrozenEstimator(model), method="isotonic")
    isotonic = isotonic.fit(X[1000:], y[1000:]).predict_proba(new)
    own = np.eye(3)[truth]
    assert ((isotonic - own) ** 2).sum() < 0.95 * ((before - own) ** 2).sum()


def test_it_splits_the_samples_itself_and_groups_stay_whole():
    X, y = world(5, 600)
    model = ConformalByPattern(cv=4, random_state=0).fit(X, y)
    assert sum(n for _, n in model.pools_.values()) >= 150  # a quarter
    groups = np.repeat(np.arange(60), 10)
    seen = []

    class Seen(LogisticRegression):
        def fit(self, X, y, sample_weight=None):
            seen.append(X[:, 0])
            return super().fit(X, y, sample_weight)

    complete = X[np.flatnonzero(X.observed.all(axis=1))]
    n = len(complete) // 5 * 5
    whole = MultiView([np.c_[np.arange(n), view[:n]] for view in complete.views])
    labels = np.array(["a", "b"] * n)[:n]
    CalibratedByPattern(Seen(), min_samples=5).fit(whole, labels, groups=groups[:n])
    (taught,) = seen
    assert len(taught) < n
    assert set(groups[taught.astype(int)]).isdisjoint(
        groups[sorted(set(range(n)) - set(taught.astype(int)))]
    )


def test_of_views_or_of_columns_and_in_a_search():
    X, y = world(6, 400)
    for estimator in (None, PatternClassifier(), LogisticRegression()):
        samples = X if not isinstance(estimator, LogisticRegression) else X.views[0] * 0 + 1
        if isinstance(estimator, LogisticRegression):
            rows = X.observed.all(axis=1)
            samples, labels = X[rows], y[rows]
        else:
            labels = y
        model = CalibratedByPattern(estimator, min_samples=10, random_state=0)
        with np.errstate(all="ignore"):
            assert cross_val_score(clone(model), samples, labels, cv=2).mean() > 0.5


@pytest.mark.filterwarnings("ignore:fewer than min_samples")
def test_a_level_that_few_samples_cannot_promise_is_not_promised(trained):
    """Of n samples the largest rank is n / (n + 1): 98 allow no threshold at .99, 99 do."""
    X, y = world(11, 400)
    complete = X.observed.all(axis=1)
    rows = np.flatnonzero(complete)[:60]
    few = ConformalByPattern(FrozenEstimator(trained), level=0.99, min_samples=1)
    with pytest.raises(ValueError, match="level=0.99 needs 99 calibration samples, got 60"):
        few.fit(X[rows], y[rows])
    few.fit(X, y)
    assert all(n >= 99 for _, n in few.pools_.values())
    n_own = {v: (X.observed == np.isin(X.names, v)).all(axis=1).sum() for v in few.pools_}
    assert {v for v, (which, _) in few.pools_.items() if which == "own"} == {
        v for v, n in n_own.items() if n >= 99
    }
    with pytest.raises(ValueError, match="level=1 is only reached by"):
        ConformalByPattern(level=1).fit(X, y)


@pytest.mark.filterwarnings("ignore:fewer than min_samples")
def test_a_class_that_no_calibration_sample_has(trained):
    X, y = world(9, 600)
    rest, (new, _) = np.flatnonzero(y != "ant"), world(10, 200)
    model = ConformalByPattern(FrozenEstimator(trained), min_samples=10**6)
    sets = model.fit(X[rest], y[rest]).predict_set(new)
    truth = np.searchsorted(trained.classes_, y[rest])
    wrong = np.sort(1 - trained.predict_proba(X[rest])[np.arange(len(rest)), truth])
    limit = wrong[int(np.ceil((len(wrong) + 1) * 0.9)) - 1]
    assert_array_equal(sets, 1 - trained.predict_proba(new) <= limit + 1e-12)
    with pytest.raises(ValueError, match="No calibration sample is of class 'ant'"):
        CalibratedByPattern(FrozenEstimator(trained)).fit(X[rest], y[rest])


@pytest.mark.filterwarnings("ignore:fewer than min_samples")
def test_a_pattern_that_nobody_had_is_answered_and_told(trained):
    X, y = world(7, 400, few=0)
    keep = np.flatnonzero(~(X.observed == [False, False, True]).all(axis=1))
    model = ConformalByPattern(FrozenEstimator(trained)).fit(X[keep], y[keep])
    assert ("view_2",) not in model.pools_
    rows = np.flatnonzero(X.observed[:, 2])[:5]
    alone = X[rows].with_observed(np.tile([False, False, True], (5, 1)))
    with pytest.warns(UserWarning, match="min_samples=50.*view_2"):
        sets = model.predict_set(alone)
    assert sets.shape == (5, 3)
    assert ("view_2",) not in model.pools_  # predicting changes nothing


def test_wrong_calls(trained, monkeypatch):
    X, y = world(8, 100)
    with pytest.raises(ValueError, match="level must be"):
        ConformalByPattern(level=0).fit(X, y)
    with pytest.raises(ValueError, match="method must be one of"):
        CalibratedByPattern(method="magic").fit(X, y)
    with pytest.raises(ValueError, match="min_samples"):
        CalibratedByPattern(min_samples=0).fit(X, y)
    with pytest.raises(ValueError, match="'dog'.*estimator was trained on"):
        CalibratedByPattern(FrozenEstimator(trained)).fit(X, np.where(y == "ant", "dog", y))
    with pytest.raises(ValueError, match="must be a scikit-learn classifier"):
        CalibratedByPattern(PerView()).fit(X, y)
    monkeypatch.setitem(sys.modules, "mapie.classification", None)
    with pytest.raises(ImportError, match="mvref\\[conformal\\]"):
        ConformalByPattern(min_samples=1).fit(X, y)
