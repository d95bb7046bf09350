"""Slack, disagreement of views and bound of the iterations of MVPO, against their definitions."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from mvref import MVPO, MultiView
from mvref.core.input import view_features
from mvref.mvpo import MEASURES, scale_of, solver
from mvref.mvpo.metric import DualMetric, PrimalMetric
from mvref.theory.performance import (
    cut_radius,
    iteration_bound,
    leverages,
    surrogate_slack,
    view_disagreement,
)
from tests import literal_mvpo as literal
from tests.literal import random_pattern, toy_views

LOSS = {
    "f1": literal.f_beta_loss,
    "fbeta": lambda y, prediction: literal.f_beta_loss(y, prediction, 0.5),
    "prbep": literal.prbep_loss,
    "error": literal.error_loss,
}
seeds = st.integers(0, 2**31)
EIGHTHS = st.integers(-12, 12).map(lambda k: k / 8)  # many ties


@st.composite
def problems(draw, largest=7):
    """Labels -1 and +1, both present, and scores."""
    n = draw(st.integers(2, largest))
    labels = st.lists(st.sampled_from([-1, 1]), min_size=n, max_size=n)
    y = draw(labels.filter(lambda y: abs(sum(y)) < n))
    return y, draw(st.lists(EIGHTHS, min_size=n, max_size=n))


@pytest.mark.parametrize("measure", MEASURES)
@given(problem=problems())
def test_slack_is_the_largest_violation(measure, problem):
    """Eq. (13): the least xi >= 0 that all constraints allow, by enumeration."""
    y, s = problem
    if measure == "auroc":
        expected = literal.pair_hinges(s, y)[0]
    else:
        admissible = literal.as_many_positives if measure == "prbep" else lambda *_: True
        expected = max(0.0, literal.best_tuple_value(s, y, LOSS[measure], admissible))
    assert_allclose(surrogate_slack(s, y, measure, beta=0.5), expected, atol=1e-12)


@pytest.mark.parametrize("measure", MEASURES)
def test_slack_of_a_fit(measure):
    """The primal value is the objective of Eq. (13) at these functions."""
    views, y = toy_views(0, m=60, noise=1.5)
    model = MVPO(measure, C1=2.0, C2=30.0, fit_intercept=False).fit(views, y)
    u = np.column_stack([view @ w for view, w in zip(views, model.coef_, strict=True)])
    t, signs = scale_of(measure, 60, 30), 2 * y - 1
    value = sum(w @ w for w in model.coef_) / 2 + 2.0 / 60 * view_disagreement(u)
    value += 30.0 * surrogate_slack(t * u.sum(axis=1), signs, measure)
    assert_allclose(value, model.primal_curve_.min(), rtol=1e-9)


@given(seeds, st.integers(1, 5), st.booleans())
def test_disagreement_is_the_pair_sum(seed, V, missing):
    rng = np.random.default_rng(seed)
    u = rng.normal(size=(9, V)) * rng.uniform(0.1, 10, size=V)
    seen = random_pattern(seed, 9, V) if missing else np.ones((9, V), dtype=bool)
    found = [view_disagreement(u, seen), view_disagreement(np.where(seen, u, np.nan))]
    assert_allclose(found, literal.pair_sum(u, seen) / 2, rtol=1e-10, atol=1e-12)


def test_a_large_common_score_leaves_the_digits():
    """m sum u^2 - (sum u)^2 would lose them all."""
    u = np.random.default_rng(0).normal(size=(30, 3))
    assert_allclose(view_disagreement(u + 1e7), view_disagreement(u), rtol=1e-6)


@pytest.mark.parametrize("measure", ["f1", "prbep", "auroc"])
def test_kernel_views_agree_more_as_C1_grows(measure):
    """Property 15 for functions of kernels, with missing views."""
    views, y = toy_views(3, m=40, noise=1.5)
    seen = random_pattern(1, 40, 2)
    grams = [np.exp(-(np.subtract.outer(v[:, 0], v[:, 0]) ** 2)) for v in views]
    hidden = [np.where(s[:, None], K, np.nan) for K, s in zip(grams, seen.T, strict=True)]
    options = {"C2": 50.0, "kernel": "gram", "tol": 1e-6, "max_iter": 3000}
    path = []
    for C1 in (0.0, 0.1, 1.0, 10.0, 100.0):
        model = MVPO(measure, C1=C1, **options).fit(hidden, y)
        parts = zip(grams, seen.T, model.dual_coef_, model.view_intercepts_, strict=True)
        u = np.column_stack([K[:, s] @ beta + b for K, s, beta, b in parts])
        path.append(view_disagreement(u, seen))
    assert (np.diff(path) <= 1e-3 * np.array(path[:-1])).all()
    assert path[-1] < 0.2 * path[0]


def random_metrics(seed, C1, n=12, widths=(3, 5), missing=True):
    rng = np.random.default_rng(seed)
    seen = random_pattern(seed, n, len(widths)) if missing else np.ones((n, len(widths)), bool)
    views = [rng.normal(size=(n, d)) * seen[:, [j]] for j, d in enumerate(widths)]
    grams = [view @ view.T for view in views]
    return PrimalMetric(views, seen, C1), DualMetric(grams, seen, C1), views, seen


@given(seeds, st.sampled_from([0.0, 0.1, 10.0]), st.booleans())
def test_leverages_of_both_forms(seed, C1, missing):
    primal, dual, views, seen = random_metrics(seed, C1, missing=missing)
    expected = [unit @ primal.scores(unit) for unit in np.eye(12)]
    csr = PrimalMetric([sparse.csr_matrix(view) for view in views], seen, C1)
    for metric in (primal, dual, csr):
        assert_allclose(leverages(metric), expected, rtol=1e-8, atol=1e-10)
    squares = (np.hstack(views) ** 2).sum(axis=1)
    assert (leverages(primal) <= squares * (1 + 1e-9)).all()  # M >= I: Lambda is semi-definite
    if C1 == 0:
        assert_allclose(leverages(primal), squares)


def all_cuts(measure, y):
    """c of every cut that is admissible."""
    return np.array([c for _, c in literal.all_cuts(measure, y, LOSS.get(measure))])


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("C1", [0.0, 0.5])
def test_radius_is_above_every_cut(measure, C1):
    y = [1, -1, -1, 1, -1, -1]
    for seed in range(5):
        primal, dual, _, _ = random_metrics(seed, C1, n=6)
        largest = max(c @ dual.gram @ c for c in all_cuts(measure, y)) ** 0.5
        for metric in (primal, dual):
            R = cut_radius(metric, y, measure)
            assert largest <= R * (1 + 1e-9)
            assert_allclose(cut_radius(metric, y, measure, scale=0.1), 0.1 * R)
        assert R <= 6 * largest  # and not far


@pytest.mark.parametrize("measure", MEASURES)
def test_radius_is_reached_by_features_in_one_direction(measure):
    """All samples on their side: every c_i is the largest at once."""
    x, y = np.array([[1.0], [-2.0], [-0.5], [2.0], [-1.5]]), [1, -1, -1, 1, -1]
    if measure == "prbep":  # can call all of them wrong only with as many of either class
        x, y = x[:4], y[:4]
    metric = PrimalMetric([x], np.ones((len(y), 1), bool), 0.0)
    largest = max(c @ metric.scores(c) for c in all_cuts(measure, y)) ** 0.5
    assert_allclose(cut_radius(metric, y, measure), largest)


def worst_newest(R, C2, tol, loss_max):
    """Steps of the slowest path that the proof of Joachims, Finley and Yu leaves open."""
    below, steps = C2 * loss_max, 1  # what the dual lacks; the last step finds no violation
    while True:
        g = max(below / C2, tol)
        rise = min(C2 * g / 2, g**2 / (8 * R**2))
        if rise > below:
            return steps
        below, steps = below - rise, steps + 1


def worst_halfway(R, C2, tol, loss_max):
    """The slowest fall of the gap: a quarter, or A^2 / (32 R^2 C2^2)."""
    gap, steps = C2 * loss_max, 2  # the queries at the start, and at the end
    while gap > C2 * tol:
        gap, steps = gap - min(gap / 4, gap**2 / (32 * R**2 * C2**2)), steps + 1
    return steps


@pytest.mark.parametrize("loss_max", [1.0, 100.0])
@pytest.mark.parametrize("tol", [0.3, 1e-2, 1e-3])
@pytest.mark.parametrize("C2", [1e-5, 1e-2, 0.1, 1.0, 5.0])
@pytest.mark.parametrize("R", [0.03, 1.0, 2.0])
def test_bound_closes_the_recursion(R, C2, tol, loss_max):
    """It is above the slowest path, and not much: the formulas have no slip in a constant."""
    for query, worst in (("newest", worst_newest), ("halfway", worst_halfway)):
        bound = iteration_bound(R, C2, tol, loss_max, query=query)
        steps = worst(R, C2, tol, loss_max)
        assert steps <= bound <= 2 * steps + 5, query


def test_bound_as_printed():
    """Joachims, Finley and Yu, with the logarithm."""
    R, C2, tol = 0.5, 1e-3, 1e-4
    for largest in (1.0, 100.0):
        first, second = math.log2(largest / (4 * R**2 * C2)), 16 * R**2 * C2 / tol
        expected = math.ceil(first) + math.ceil(second)
        assert iteration_bound(R, C2, tol, largest, query="newest") == expected


def curves_of(measure, C2, tol, step, monkeypatch, seed=0, C1=0.5):
    """A fit on few samples with the paper's or our query; its curves, R of all cuts, the bound."""
    monkeypatch.setattr(solver, "STEP", step)
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(7) < 2, 1, -1)
    X = [rng.normal(size=(7, 3)) + 0.3 * y[:, None] for _ in "ab"]
    options = {"C1": C1, "C2": C2, "tol": tol, "normalize": False, "max_iter": 10_000}
    model = MVPO(measure, **options).fit(X, y)
    seen = np.ones((7, 2), dtype=bool)
    data = [np.column_stack([view, np.ones(7)]) for view in X]
    gram = DualMetric([view @ view.T for view in data], seen, C1).gram
    cuts = all_cuts(measure, y.tolist())
    R = math.sqrt(np.einsum("ki,ij,kj->k", cuts, gram, cuts).max())
    return model, R, cut_radius(PrimalMetric(data, seen, C1), y, measure)


@pytest.mark.parametrize("step", [0.5, 1.0])
@pytest.mark.parametrize("measure", ["f1", "prbep", "error", "auroc"])
def test_every_iteration_falls_as_the_proof_says(measure, step, monkeypatch):
    """Half-way: the gap before a query; newest: what the dual lacks of the minimum."""
    for C2, seed in itertools.product([1e-3, 0.05, 1.0], range(3)):
        model, R, _ = curves_of(measure, C2, 1e-6, step, monkeypatch, seed)
        lowest, dual = np.minimum.accumulate(model.primal_curve_), model.dual_curve_
        A, factor, share = lowest[:-1] - dual[1:], 32, 4
        if step == 1.0:
            A, factor, share = dual[-1] - dual, 8, 2
        fall = np.minimum(A / share, A**2 / (factor * R**2 * C2**2))[:-1]
        assert (A[1:] <= A[:-1] - fall + 1e-12 * C2).all()


@pytest.mark.parametrize("step", [0.5, 1.0])
@pytest.mark.parametrize("measure", ["f1", "prbep", "error", "auroc"])
def test_no_fit_takes_longer_than_the_bound(measure, step, monkeypatch):
    query, nearest = ("halfway" if step == 0.5 else "newest"), 0.0
    for C2, tol, seed in itertools.product([1e-5, 1e-3, 0.05, 1.0], [0.1, 1e-2, 1e-3], range(2)):
        model, R, above = curves_of(measure, C2, tol, step, monkeypatch, seed)
        bound = iteration_bound(R, C2, tol, query=query)
        assert model.n_iter_ <= bound <= iteration_bound(above, C2, tol, query=query)
        nearest = max(nearest, model.n_iter_ / bound)
    assert nearest > 0.1  # some problems come near


def test_bound_of_a_fit_on_real_views():
    """The whole way: the metric of the fit, R from its leverages, the bound."""
    views, y = toy_views(0, m=80, noise=2.0)
    for measure in MEASURES:
        model = MVPO(measure, C1=0.3, C2=5.0, solver="primal").fit(views, y)
        features = view_features(MultiView(views), 1.0)
        metric = PrimalMetric(features, np.ones((80, 2), bool), 0.3 / 80)
        R = cut_radius(metric, 2 * y - 1, measure, scale=scale_of(measure, 80, 40))
        assert model.n_iter_ <= iteration_bound(R, 5.0, 1e-3)


METRIC, Y = random_metrics(0, 0.1)[0], np.where(np.arange(12) < 5, 1, -1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: surrogate_slack([1.0, 2.0], [1, -1], "f2"), "^measure must be .*'f2'"),
        (lambda: surrogate_slack([1.0, 2.0], [1, 1], "f1"), "both labels"),
        (lambda: surrogate_slack([1.0], [1, -1], "f1"), "one label per score"),
        (lambda: surrogate_slack([1.0, 2.0], [1, -1], "fbeta", beta=0), "beta"),
        (lambda: view_disagreement([1.0, 2.0]), r"^u must be a table .*\(2,\)"),
        (lambda: view_disagreement([[1.0, np.inf]]), "^u must be finite"),
        (lambda: view_disagreement([[1.0, np.nan]], [[True, True]]), "^u must be finite"),
        (lambda: view_disagreement([[1.0, 2.0]], [[1, 0]]), "^observed must be a boolean"),
        (lambda: cut_radius(METRIC, Y[:-1]), r"^y must hold 12 labels .*\(11,\)"),
        (lambda: cut_radius(METRIC, np.ones(12)), "^y must hold 12 labels"),
        (lambda: cut_radius(METRIC, Y, "roc"), "^measure must be"),
        (lambda: cut_radius(METRIC, Y, scale=0), "^scale must be"),
        (lambda: iteration_bound(-1.0, 1.0, 0.1), "^R must be"),
        (lambda: iteration_bound(1.0, 0.0, 0.1), "^C2 must be"),
        (lambda: iteration_bound(1.0, 1.0, np.nan), "^tol must be"),
        (lambda: iteration_bound(1.0, 1.0, 0.1, 0), "^loss_max must be"),
        (lambda: iteration_bound(1.0, 1.0, 0.1, query="best"), "^query must be"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_arguments_are_left_alone():
    u = np.array([[1.0, np.nan], [2.0, 3.0]])
    view_disagreement(u)
    assert_array_equal(u, [[1.0, np.nan], [2.0, 3.0]])
    metric = DualMetric([np.eye(2)], np.ones((2, 1), bool), 0.0)
    leverages(metric)[:] = 7.0
    assert_array_equal(leverages(metric), [1.0, 1.0])
