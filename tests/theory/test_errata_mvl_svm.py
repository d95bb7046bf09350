"""Entries A8 to A12 of MVL-SVM; the others: test_stability.py."""

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from mvref import LandmarkProjection, MultiView, PerView
from mvref.datasets import load_mfeat
from mvref.mvl_svm import impute, project
from mvref.theory.stability import exact_hinge_svm


@pytest.fixture(scope="module")
def hidden_digits():
    """Projections of real digits with half of the views hidden: (with gaps, truth, P)."""
    X = PerView(StandardScaler()).fit_transform(load_mfeat().X)
    projection = LandmarkProjection(100, random_state=0).fit(X[::2])
    gaps = project(X[1::2].drop_views(0.5, random_state=0), projection.similarities_)
    return gaps, projection.transform(X[1::2]), projection.reference_


def test_A8_one_sample_and_one_place_say_nothing_about_the_risk():
    """Definition 1 for one S and one i: f = f^i, and yet the risk is far above Theorem 2."""
    m, delta = 40, 0.05
    rng = np.random.default_rng(0)
    Phi, y = np.eye(m)[np.r_[: m - 1, 0]], rng.choice([-1.0, 1.0], m)  # memorises every place
    y[-1] = y[0]
    replaced, labels = Phi.copy(), y.copy()
    replaced[-1], labels[-1] = Phi[1], y[1]
    theta, other = (exact_hinge_svm(*data, c=m)[0] for data in ((Phi, y), (replaced, labels)))
    assert np.abs(theta - other).max() < 1e-6
    flipped = np.where(np.arange(m) == 3, -y, y)
    assert np.abs(theta - exact_hinge_svm(Phi, flipped, c=m)[0]).max() > 1.9  # another i
    training = np.maximum(0, 1 - y * (Phi @ theta)).mean()
    assert training + 2 * np.sqrt(np.log(1 / delta) / (2 * m)) < 0.4  # of a new place it is 1


def test_A9_least_squares_without_ridge_is_worse_than_the_column_mean(hidden_digits):
    """Where one view is known; with two or more it is as good as the ridge."""
    gaps, truth, P = hidden_digits
    mean = np.broadcast_to(np.nanmean(gaps, axis=0), gaps.shape)
    plain, ridge = impute(gaps, P, ridge=0), impute(gaps, P, ridge=0.1)
    n_known = (~np.isnan(gaps)).sum(axis=1) / 100

    def error(filled, which):
        squares = (filled - truth)[which] ** 2
        return np.sqrt(squares[np.isnan(gaps[which])].mean())

    everyone, one, more = n_known > 0, n_known == 1, n_known > 1
    assert error(ridge, everyone) < 0.75 * error(mean, everyone) < error(plain, everyone)
    assert 0.05 < one.mean() < 0.1 and error(plain, one) > 20 * error(mean, one)
    assert error(ridge, more) < error(plain, more) < 1.1 * error(ridge, more)
    assert error(np.clip(plain, 0, 1), everyone) < error(mean, everyone)


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
