"""Weights of samples in MVWAB, RBoostSH and Mumbo, literally, and the caps of their voters."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from mvref import MultiView
from mvref.rivals import MVWAB, Mumbo, RBoostSH
from mvref.rivals.adaboost import Table
from tests.literal import hide, random_pattern, toy_views
from tests.rivals.test_boosting import votes_of_rounds
from tests.rivals.test_mumbo import mumbo_by_hand

METHODS = pytest.mark.parametrize("method", [MVWAB, RBoostSH, Mumbo])
WIDTHS = (4, 2, 3)
STUMP = DecisionTreeClassifier(max_depth=1, random_state=0)
TIGHT = LogisticRegression(solver="newton-cholesky", tol=1e-12)


def weighted_problem(seed=0, m=60, n_classes=2, *, widths=WIDTHS, missing=False, low=0):
    """Views, classes, who has them, weights `low` to 3, and rows that are copied so many times."""
    views, y = toy_views(seed, m=m, widths=widths, n_classes=n_classes, noise=2.0)
    observed = random_pattern(seed, m, 3) if missing else np.ones((m, 3), dtype=bool)
    w = np.random.default_rng(seed).integers(low, 4, size=m)
    return views, y, observed, w, np.repeat(np.arange(m), w)


# ------------------------------------------------------------------ literal twins on copied rows


@pytest.mark.parametrize("missing", [False, True])
def test_rboost_by_hand_on_copies(missing):
    """One sample and one copy at a time, on the views that were drawn."""
    views, y, observed, w, rows = weighted_problem(7, missing=missing)
    model = RBoostSH(STUMP, n_estimators=8, random_state=0)
    model.fit(hide(views, observed), y, sample_weight=w)
    s, seen, m = 2 * y[rows] - 1, observed[rows], len(rows)
    d = np.full(m, 1 / m)
    for v, alpha, edge, Z in zip(
        model.view_history_, model.alphas_, model.edges_, model.normalizers_, strict=True
    ):
        has = np.flatnonzero(seen[:, v])
        table = views[v][rows]
        tree = clone(STUMP).fit(table[has], s[has], sample_weight=d[has])
        yh = [0] * m
        for i in has:
            yh[i] = s[i] * tree.predict(table[[i]])[0]
        W_plus = sum(d[i] for i in range(m) if yh[i] > 0)
        W_minus = sum(d[i] for i in range(m) if yh[i] < 0)
        error = max(W_minus / (W_plus + W_minus), 0.5 / m)
        assert_allclose(alpha, 0.5 * math.log((1 - error) / error), atol=1e-9)
        assert_allclose(edge, W_plus - W_minus, atol=1e-9)
        after = [d[i] * math.exp(-alpha * yh[i]) for i in range(m)]
        assert_allclose(Z, sum(after), rtol=1e-9)
        d = np.array(after) / sum(after)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("method", [MVWAB, RBoostSH])
def test_the_objective_on_copies_is_the_product_of_the_normalisers(method, missing):
    views, y, observed, w, rows = weighted_problem(3, missing=missing, low=1)
    X = MultiView(hide(views, observed))
    model = method(STUMP, n_estimators=10, random_state=0).fit(X, y, sample_weight=w)
    F = votes_of_rounds(model, X) @ model.alphas_
    total = sum(math.exp(-(2 * y[i] - 1) * F[i]) for i in rows)
    assert_allclose(total / len(rows), np.prod(model.normalizers_), rtol=1e-8)
    errors = np.mean([(2 * y[i] - 1) * F[i] <= 0 for i in rows])
    assert errors <= np.prod(model.normalizers_) + 1e-12


# ------------------------------------------------------------------ coins and scale


def test_the_learner_sees_the_scale_of_the_weights():
    """A penalty is worth the same against weights 2 as against two copies."""
    views, y, _, w, rows = weighted_problem(5, low=1)
    rng, s = np.random.RandomState(0), 2 * y - 1
    d = rng.uniform(0.1, 1.0, size=60)

    def fit(rows, d, w):
        table = Table(TIGHT, views[0][rows], np.ones(len(rows), dtype=bool))
        return table.fit(TIGHT, s[rows], d, w, rng)[0].coef_

    every = np.arange(60)
    copied = fit(rows, d[rows], np.ones(len(rows)))
    assert_allclose(fit(every, d * w / 1e5, w), copied, atol=1e-6)
    nothing = fit(every, np.zeros(60), w)  # all weight lies elsewhere
    assert_allclose(nothing, clone(TIGHT).fit(views[0], s, w).coef_, atol=1e-6)


# ------------------------------------------------------------------ the cap


@METHODS
def test_half_of_weight_1_is_the_least_error(method):
    """Views that tell the class: one round, whose weight is that of the cap."""
    y = np.arange(20) % 2
    X = [y[:, None] * 1.0]
    for weight, m in ((None, 20), (3, 60), (1.5, 30), (0.05, 20), (1e-6, 20)):
        w = None if weight is None else np.full(20, weight)
        model = method(STUMP, random_state=0).fit(X, y, sample_weight=w)
        assert_allclose(model.alphas_, [0.5 * math.log(2 * m - 1)], rtol=1e-9)


def test_both_caps_of_mumbo_count_weights():
    """One light error: its edge is above 1 - 1/n, and below 1 - 1/m of the copies."""
    views, y, _, _, _ = weighted_problem(9, 20)
    X, w = [views[0], np.where(np.arange(20) == 3, 1 - y, y)[:, None] * 1.0], np.full(20, 5)
    w[3] = 1
    rows = np.repeat(np.arange(20), w)
    copies, everyone = [view[rows] for view in X], np.ones((len(rows), 2), dtype=bool)
    rounds, _, _ = mumbo_by_hand(copies, y[rows], everyone, 2, STUMP, 2)
    model = Mumbo(STUMP, n_estimators=2).fit(X, y, sample_weight=w)
    assert model.edges_[0] > 1 - 1 / 20
    assert_allclose(model.alphas_, [alpha for _, alpha, _, _, _ in rounds], atol=1e-9)
    assert_allclose(model.local_edges_, [local for _, _, _, local, _ in rounds], atol=1e-9)


@METHODS
def test_weights_that_sum_to_1_are_no_obstacle(method):
    views, y, _, _, _ = weighted_problem(9, 150)
    model = method(STUMP, n_estimators=5, random_state=0)
    scores = clone(model).fit(views, y).decision_function(views)
    light = clone(model).fit(views, y, sample_weight=np.full(150, 1 / 150))
    assert_allclose(light.decision_function(views), scores, atol=1e-7)
