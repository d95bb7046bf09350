"""MVMLsp in MwMvC2's table: the width of its kernels, and the choice of its weights."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import StratifiedKFold

from mvref import MultiView
from mvref.datasets import load_digits_views
from mvref.experiments.tuned_metric import GRID, fit_metric, inverse_distances
from mvref.experiments.voting import tasks
from mvref.rivals import MVML


def sample(k=3):
    """A hundred digits of a task, and whether they are of the class."""
    X, task = load_digits_views().X, tasks("digits", 100, "balanced", seed=0)[k]
    return X[task.train], task.y_train, X[task.test]


@given(st.integers(0, 99), st.integers(2, 6))
def test_width_is_the_mean_of_all_squared_distances(seed, n):
    rng = np.random.default_rng(seed)
    views = [rng.normal(size=(n, d)) * 10.0**d for d in (1, 3)]
    for view, gamma in zip(views, inverse_distances(MultiView(views)), strict=True):
        squared = [np.sum((a - b) ** 2) for a in view for b in view]
        assert gamma == pytest.approx(n * n / np.sum(squared), rel=1e-9)


def test_units_of_a_view_do_not_matter():
    X, y, X_test = sample()
    options = {"lam": 1e-1, "eta": 1.0, "random_state": 5}
    scales = np.array([1.0, 10.0, 0.1, 100.0])
    rescaled, test = (MultiView(list(map(np.multiply, scales, Z.views))) for Z in (X, X_test))
    scores = fit_metric(X, y, **options).decision_function(X_test)
    same = fit_metric(rescaled, y, **options).decision_function(test)
    np.testing.assert_allclose(same, scores, rtol=1e-6, atol=1e-9)
    other = fit_metric(rescaled, y, width="features", **options).decision_function(test)
    assert np.abs(other - scores).max() > 0.1


@pytest.mark.parametrize("k", [3, 8])
def test_choice_against_loops(k):
    X, y, _ = sample(k)
    folds = list(StratifiedKFold(3, shuffle=True, random_state=7).split(np.zeros(len(y)), y))
    gamma = inverse_distances(X)
    options = {"sparse": True, "gamma": gamma, "n_components": 0.24, "random_state": 7}
    best = -1.0
    for eta, lam in product(GRID["eta"], GRID["lam"]):
        right = []
        for fit, check in folds:
            model = MVML(lam, eta, **options).fit(X[fit], y[fit])
            right.append(np.mean(model.predict(X[check]) == y[check]))
        if np.mean(right) > best:  # so that ties go to the first
            best, chosen = np.mean(right), (lam, eta)
    model = fit_metric(X, y, random_state=7)
    assert (model.lam, model.eta) == chosen
    assert model.sparse
    assert [len(rows) for rows in model.components_] == [24] * 4
    whole = MVML(*chosen, **options).fit(X, y)
    for ours, theirs in zip(model.dual_coef_, whole.dual_coef_, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_what_is_given_is_not_chosen():
    X, y, _ = sample()
    model = fit_metric(X, y, random_state=0, eta=0.5, n_components=1.0)
    assert model.eta == 0.5
    assert model.lam in GRID["lam"]
    assert [len(rows) for rows in model.components_] == [100] * 4
    fixed = fit_metric(X, y, random_state=0, lam=0.3, eta=0.5)
    assert (fixed.lam, fixed.eta) == (0.3, 0.5)
