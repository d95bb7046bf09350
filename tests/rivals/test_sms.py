"""SMS: each smoothing against its definition; the minimum against cutting planes; the API."""

import itertools

import numpy as np
import pytest
from cvxopt import matrix, solvers
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import logsumexp

from mvref.mvpo.most_violated import auroc_argmax, f_beta_argmax, prbep_argmax
from mvref.rivals import SMS, SVMPerf
from mvref.rivals.smoothing import SMOOTHINGS, largest_penalty
from tests.literal import QP_OPTIONS, toy_views
from tests.literal_mvpo import f_beta_loss

WIDTHS = (3, 4, 2)
VIEWS, Y = toy_views(0, m=60, widths=WIDTHS, noise=1.5)
Y[:15] = 0
HARD = {"prbep": prbep_argmax, "auroc": auroc_argmax, "f1": f_beta_argmax}
seeds = st.integers(0, 10_000)
mus = st.sampled_from([1e-3, 1e-2, 0.1, 1.0])
measures = st.sampled_from(list(SMOOTHINGS))


def draw(seed, n=9, size=0.1, ties=False):
    """Scores and labels of both classes."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.4, 1, -1)
    y[:2] = 1, -1
    s = size * rng.normal(size=n)
    return np.round(s, 1) if ties else s, y


# ------------------------------------------------------------------ the definitions


@pytest.mark.parametrize("mu", [1e-2, 0.1, 1.0])
@pytest.mark.parametrize("seed", range(4))
def test_prbep_is_a_quadratic_program(seed, mu):
    s, y = draw(seed)
    positive, n = y > 0, len(y)
    a = np.where(positive, 1 / positive.sum() - 2 * s, 2 * s)
    box = np.vstack([np.eye(n), -np.eye(n)]), np.append(np.ones(n), np.zeros(n))
    program = mu * np.eye(n), -a, *box, y[None].astype(float), 0.0
    options = QP_OPTIONS | dict.fromkeys(("abstol", "reltol", "feastol"), 1e-13)
    found = solvers.qp(*map(matrix, program), options=options)
    cut, beta = SMOOTHINGS["prbep"](s, y, mu), np.array(found["x"]).ravel()
    assert_allclose(cut.value, -found["primal objective"], atol=1e-9)
    assert_allclose(cut.c, 2 * y * beta, atol=1e-5 / mu)


@settings(max_examples=40)
@given(seeds, mus, st.booleans())
def test_auroc_pair_by_pair(seed, mu, ties):
    s, y = draw(seed, n=14, ties=ties)
    mu = mu / 10
    value, loss, c = 0.0, 0.0, np.zeros(14)
    pairs = list(itertools.product(np.flatnonzero(y > 0), np.flatnonzero(y < 0)))
    for i, j in pairs:
        margin = 1 / len(pairs) - s[i] + s[j]
        beta = min(max(margin / mu, 0.0), 1.0)
        value += margin * beta - mu / 2 * beta**2
        loss += beta / len(pairs)
        c[i] += beta
        c[j] -= beta
    cut = SMOOTHINGS["auroc"](s, y, mu)
    assert_allclose(cut.c, c, atol=1e-8)
    assert_allclose([cut.value, cut.loss], [value, loss], atol=1e-8)


@settings(max_examples=15)
@given(seeds, mus, st.booleans())
def test_f1_tuple_by_tuple(seed, mu, ties):
    s, y = draw(seed, n=8, ties=ties)
    c = np.array([y - np.array(t) for t in itertools.product([-1, 1], repeat=8)])
    delta = np.array([f_beta_loss(list(y), list(y - row)) for row in c])
    log_p = (delta - c @ s) / mu
    p = np.exp(log_p - logsumexp(log_p))
    cut = SMOOTHINGS["f1"](s, y, mu)
    assert_allclose(cut.value, mu * (logsumexp(log_p) - 8 * np.log(2)), rtol=1e-10, atol=1e-10)
    assert_allclose(cut.c, p @ c, atol=1e-8)
    assert_allclose(cut.loss, p @ delta, atol=1e-8)


@settings(max_examples=40)
@given(measures, seeds, mus, st.booleans())
def test_error_of_the_smoothing(measure, seed, mu, ties):
    """R - mu D <= R_mu <= R, and c is a mixture of tuples: its own cut is below R."""
    s, y = draw(seed, n=12, ties=ties)
    P = int((y > 0).sum())
    D = largest_penalty(measure, P, 12 - P)
    cut, hard = SMOOTHINGS[measure](s, y, mu), HARD[measure](s, y).value
    assert -1e-10 <= hard - cut.value <= mu * D + 1e-10
    assert -1e-10 <= cut.loss - cut.c @ s - cut.value <= mu * D + 1e-10
    assert cut.loss - cut.c @ s <= hard + 1e-10
    assert 0 <= cut.loss <= 1 + 1e-12


@pytest.mark.parametrize("measure", SMOOTHINGS)
def test_error_of_the_smoothing_is_reached(measure):
    """No smaller D would do: every sample or pair is swapped, or a single tuple is sure."""
    y = np.array([1, 1, 1, 1, -1, -1])
    s = np.array([-20.0, -15.0, -2.0, -1.0, 10.0, 12.0])  # all in the wrong order
    for sign in (1, -1):  # four positives and two negatives, and the reverse
        y, s = sign * y, sign * s
        cut, hard = SMOOTHINGS[measure](s, y, 1e-3), HARD[measure](s, y)
        D = largest_penalty(measure, (y > 0).sum(), (y < 0).sum())
        assert_allclose(hard.value - cut.value, 1e-3 * D, rtol=1e-9)


@settings(max_examples=30)
@given(measures, seeds, st.sampled_from([0.03, 0.1, 1.0]))
def test_gradient(measure, seed, mu):
    s, y = draw(seed, n=10)
    rng = np.random.default_rng(seed)
    direction, h = rng.normal(size=10), 1e-6
    smooth = SMOOTHINGS[measure]
    slope = -smooth(s, y, mu).c @ direction
    low, high = (smooth(s + step * direction, y, mu).value for step in (-h, h))
    # beta moves by h |direction| / mu at most, summed over pairs
    assert_allclose((high - low) / (2 * h), slope, atol=1e-6 + 100 * h / mu)
    assert_allclose((high - low) / (2 * h), slope, rtol=0.05, atol=2e-3)


@pytest.mark.parametrize("measure", SMOOTHINGS)
def test_one_positive_or_negative_and_extreme_scores(measure):
    for sign, size in itertools.product((1, -1), (0.0, 1e-8, 1.0, 1e4)):
        y, s = sign * np.array([1, -1, -1, -1]), size * np.array([0.3, -0.2, 0.1, 0.4])
        cut, hard = SMOOTHINGS[measure](s, y, 1e-3), HARD[measure](s, y).value
        assert np.isfinite(cut.c).all()
        assert_allclose(cut.value, hard, atol=1e-3 * 4 * np.log(2) + 1e-8 * (1 + size))


# ------------------------------------------------------------------ the minimum


@pytest.mark.parametrize("C2", [1.0, 30.0, 1000.0])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("measure", SMOOTHINGS)
def test_same_minimum_as_cutting_planes(measure, intercept, C2):
    tol = 1e-3 if measure == "f1" else 1e-4
    model = SMS(measure, C2=C2, tol=tol, fit_intercept=intercept).fit(VIEWS, Y)
    planes = SVMPerf(measure, C2=C2, tol=1e-7, max_iter=5000, fit_intercept=intercept)
    planes.fit(VIEWS, Y)
    lower, upper = planes.dual_curve_[-1], planes.primal_curve_.min()
    assert max(model.dual_curve_) <= upper + 1e-9 * C2
    assert lower - 1e-9 * C2 <= min(model.primal_curve_) <= upper + C2 * tol
    assert 0 <= model.dual_gap_ <= C2 * tol
    assert_allclose(model.coef_, planes.coef_, atol=2 * np.sqrt(2 * C2 * tol))


@pytest.mark.parametrize("measure", SMOOTHINGS)
def test_a_smaller_smoothing_changes_the_way_and_not_the_end(measure):
    one, two = (SMS(measure, C2=10.0, smoothing=error).fit(VIEWS, Y) for error in (1.0, 0.005))
    assert_allclose(one.coef_, two.coef_, atol=2 * np.sqrt(2 * 10 * 1e-3))
    assert one.n_iter_ != two.n_iter_
