"""Errata A9 to A12 of MVL-SVM, each with its counterexample; A1 to A8 are in test_stability.py."""

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from mvref import LandmarkProjection, MultiView, PerView
from mvref.datasets import load_mfeat
from mvref.mvl_svm import impute, project
from mvref.theory.stability import loss_range


@pytest.fixture(scope="module")
def hidden_digits():
    """Projections of real digits with half of the views hidden: (with gaps, truth, P)."""
    X = PerView(StandardScaler()).fit_transform(load_mfeat().X)
    projection = LandmarkProjection(100, random_state=0).fit(X[::2])
    gaps = project(X[1::2].drop_views(0.5, random_state=0), projection.similarities_)
    return gaps, projection.transform(X[1::2]), projection.reference_


def root_mean_square_error(filled, truth, gaps):
    return np.sqrt(np.mean((filled - truth)[np.isnan(gaps)] ** 2))


def test_A9_least_squares_without_ridge_is_worse_than_the_column_mean(hidden_digits):
    """ "Always (over-)determined" counts equations; the inverse still amplifies noise."""
    gaps, truth, P = hidden_digits
    mean = np.broadcast_to(np.nanmean(gaps, axis=0), gaps.shape)
    of_mean = root_mean_square_error(mean, truth, gaps)
    literal = root_mean_square_error(impute(gaps, P, ridge=0), truth, gaps)
    ridge = root_mean_square_error(impute(gaps, P, ridge=0.1), truth, gaps)
    assert ridge < 0.75 * of_mean < of_mean < literal


def test_A9_duplicated_landmarks_leave_R_undetermined(hidden_digits):
    """With every landmark twice the system of one known view has half the rank it needs."""
    *_, P = hidden_digits
    twice = P[np.repeat(np.arange(10), 2)]
    known = twice[:, :100]
    assert np.linalg.matrix_rank(known) == 10 < len(twice)
    row = np.full((1, P.shape[1]), np.nan)
    row[0, :100] = known[0]
    assert np.isfinite(impute(row, twice, ridge=0)).all()


def test_A10_a_uniform_draw_empties_rows_and_ours_does_not():
    """With V=3 and half of the cells dropped, 1/8 of the samples lose every view."""
    rng = np.random.default_rng(0)
    n = 4000
    uniform = np.ones(3 * n, dtype=bool)
    uniform[rng.choice(3 * n, 3 * n // 2, replace=False)] = False
    empty = ~uniform.reshape(n, 3).any(axis=1)
    assert abs(empty.mean() - 1 / 8) < 0.02
    # drawing cells with replacement, as the authors' code does, realises 1 - exp(-r) only
    replaced = np.unique(rng.integers(0, 3 * n, 3 * n // 2)).size / (3 * n)
    assert abs(replaced - (1 - np.exp(-0.5))) < 0.01
    ours = MultiView([rng.normal(size=(n, 1)) for _ in range(3)]).drop_views(0.5, random_state=0)
    assert (~ours.observed).mean() == 0.5
    assert ours.observed.any(axis=1).all()


def test_A11_the_bound_on_the_similarity_needs_the_absolute_value():
    x, landmark = np.array([[-3.0]]), np.array([[1.0]])
    mu = x @ landmark.T
    assert np.linalg.norm(mu) > mu.max()
    assert np.linalg.norm(mu) <= np.abs(mu).max()


def test_A12_a_free_intercept_escapes_the_loss_range():
    """theta is nearly 0, and still the wrong label costs 2: b is bounded by nothing in E."""
    Phi = np.exp(-0.5 * np.random.default_rng(1).uniform(40, 80, size=(21, 3)))
    y = np.where(np.arange(21) < 11, 1, -1)
    scores = SVC(kernel="linear", C=1e-3 / 21, tol=1e-8).fit(Phi, y).decision_function(Phi)
    assert (1 + np.abs(scores)).max() > 1.99 > loss_range(1e-3, 3, 1)
