"""Cutting planes against the quadratic program with all constraints, and their certificate."""

from functools import partial

import numpy as np
import pytest
from cvxopt import matrix, solvers
from numpy.testing import assert_allclose, assert_array_equal
from threadpoolctl import threadpool_info, threadpool_limits

from mvref.mvpo import solver as module
from mvref.mvpo.metric import DualMetric, PrimalMetric
from mvref.mvpo.most_violated import MEASURES, f_beta_argmax
from mvref.mvpo.solver import cutting_planes
from tests import literal_mvpo as literal
from tests.literal import QP_OPTIONS
from tests.mvpo.test_metric import literal_lambda

BETAS = {"f1": 1.0, "f0.3": 0.3, "f2": 2.0}
ARGMAX = {name: partial(f_beta_argmax, beta=beta) for name, beta in BETAS.items()}
ARGMAX |= {name: MEASURES[name] for name in ("prbep", "auroc", "error")}
LOSS = {name: partial(literal.f_beta_loss, beta=beta) for name, beta in BETAS.items()}
LOSS |= {"prbep": literal.prbep_loss, "error": literal.error_loss}


def oracle(measure, y):
    """The function that cutting_planes asks for."""

    def most_violated(s):
        cut = ARGMAX[measure](s, y)
        return cut.value, cut.loss, cut.c

    return most_violated


def random_problem(seed, n, widths=(2, 2), n_positive=None, signal=0.5):
    """Two views with a weak signal, labels with `n_positive` positives, and the literal M."""
    rng = np.random.default_rng(seed)
    y = np.full(n, -1)
    y[rng.permutation(n)[: n_positive or rng.integers(1, n)]] = 1
    views = [rng.normal(size=(n, width)) + signal * y[:, None] for width in widths]
    return views, y


def metric_matrix(views, C1, seen=None):
    """M = I + C1 Lambda, by the double sum of Eq. (6)."""
    everyone = np.ones((len(views[0]), len(views)), bool)
    Lambda = literal_lambda(views, everyone if seen is None else seen)
    return np.eye(len(Lambda)) + C1 * Lambda


def full_program(views, y, measure, C1, C2, seen=None):
    """Solve Eq. (13) with all constraints by cvxopt: the weights and the minimum."""
    M, X = metric_matrix(views, C1, seen), np.hstack(views)
    cuts = literal.all_cuts(measure, y.tolist(), LOSS.get(measure))
    deltas, cs = map(np.array, zip(*cuts, strict=True))
    rows = np.unique(np.column_stack([deltas, cs @ X]), axis=0)
    deltas, pis = rows[:, 0], rows[:, 1:]
    d = len(M)
    P = np.block([[M, np.zeros((d, 1))], [np.zeros((1, d)), np.zeros((1, 1))]])
    G = np.vstack([np.column_stack([-pis, -np.ones(len(pis))]), -np.eye(d + 1)[-1:]])
    h = np.append(-deltas, 0.0)
    arguments = (P, np.append(np.zeros(d), C2), G, h)
    x = np.ravel(solvers.qp(*map(matrix, arguments), options=QP_OPTIONS)["x"])
    w = x[:-1]
    return w, w @ M @ w / 2 + C2 * max(0.0, (deltas - pis @ w).max())


def solve(problem, measure, C1, ask=None, **options):
    """Cutting planes with the metric of features; the solution and its weights, too."""
    views, y = problem
    metric = PrimalMetric(views, np.ones((len(y), 2), bool), C1)
    found = cutting_planes(ask or oracle(measure, y), metric.scores, len(y), **options)
    return found, np.concatenate(metric.weights(found.c))


def primal_value(w, views, y, measure, C1, C2):
    """The objective of Eq. (13), from the weights alone."""
    value = oracle(measure, y)(np.hstack(views) @ w)[0]
    return w @ metric_matrix(views, C1) @ w / 2 + C2 * max(0.0, value)


# ------------------------------------------------------------------ all label tuples


@pytest.mark.parametrize("measure", ARGMAX)
@pytest.mark.parametrize("C1", [0.0, 0.2])
@pytest.mark.parametrize("C2", [0.02, 0.5, 20.0])
def test_minimum_over_all_label_tuples(measure, C1, C2):
    for seed in range(4):
        n = 4 + seed + (measure != "auroc")  # 5 to 8; pairs: 4 to 7, at most 2^12 labellings
        problem = random_problem(seed, n)
        options = {"C2": C2, "tol": 1e-9 / C2, "max_iter": 500}  # a gap of at most 1e-9
        found, ours = solve(problem, measure, C1, **options)
        assert found.converged
        w, best = full_program(*problem, measure, C1, C2)
        assert_allclose(ours, w, atol=1e-4 * (1 + np.abs(w).max()))
        assert_allclose(primal_value(ours, *problem, measure, C1, C2), best, rtol=1e-6, atol=2e-9)
        assert_allclose(found.primal_curve.min(), best, rtol=1e-6, atol=2e-9)
        assert_allclose(found.dual_curve[-1], best, rtol=1e-6, atol=2e-9)


@pytest.mark.parametrize("measure", ARGMAX)
@pytest.mark.parametrize("tol", [0.3, 1e-2, 1e-4])
def test_bounds_enclose_the_minimum(measure, tol):
    """Stopped early, the dual is below the minimum of the full program and the primal above."""
    for seed in range(4):
        problem = random_problem(seed + 10, 6, n_positive=2)
        found, _ = solve(problem, measure, 0.1, C2=0.7, tol=tol, max_iter=500)
        _, best = full_program(*problem, measure, 0.1, 0.7)
        assert (found.dual_curve <= best + 1e-7).all()
        assert (found.primal_curve >= best - 1e-7).all()
        assert found.primal_curve.min() - found.dual_curve[-1] <= 0.7 * tol


# ------------------------------------------------------------------ the certificate


def recorded(most_violated):
    """An oracle that remembers its answers."""
    seen = []

    def ask(s):
        seen.append(most_violated(s))
        return seen[-1]

    return ask, seen


def dual_minimum(cuts, gram, C2):
    """Largest dual value over the cuts, by cvxopt in units of one."""
    deltas, cs = np.array([cut[1] for cut in cuts]), np.array([cut[2] for cut in cuts], float)
    H = cs @ gram @ cs.T
    unit = min(C2, deltas.max() / H.diagonal().max())
    K = len(deltas)
    G, h = np.vstack([-np.eye(K), np.ones((1, K))]), np.append(np.zeros(K), C2 / unit)
    arguments = (unit * H + 1e-13 * np.eye(K), -deltas, G, h)
    alpha = unit * np.ravel(solvers.qp(*map(matrix, arguments), options=QP_OPTIONS)["x"])
    return alpha @ deltas - alpha @ H @ alpha / 2


@pytest.mark.parametrize("form", [PrimalMetric, DualMetric])
@pytest.mark.parametrize("measure", ARGMAX)
@pytest.mark.parametrize("C2", [1e-5, 1e-3, 0.1])
def test_certificate_from_scratch(measure, C2, form):
    """P from the weights, D by another solver over the cuts that were made: P - D <= C2 tol."""
    views, y = random_problem(3, 60, widths=(4, 3), n_positive=20)
    seen = np.ones((60, 2), bool)
    ask, cuts = recorded(oracle(measure, y))
    scores = form(views if form is PrimalMetric else [v @ v.T for v in views], seen, 0.01).scores
    found = cutting_planes(ask, scores, 60, C2=C2, tol=1e-3, max_iter=1000)
    assert found.converged and len(found.primal_curve) == len(cuts)
    M, X = metric_matrix(views, 0.01), np.hstack(views)
    primal = primal_value(np.linalg.solve(M, X.T @ found.c), views, y, measure, 0.01, C2)
    assert_allclose(primal, found.primal_curve.min(), rtol=1e-9)
    if len(cuts) > 1:
        dual = dual_minimum(cuts[:-1], X @ np.linalg.solve(M, X.T), C2)
        assert_allclose(found.dual_curve[-1], dual, rtol=1e-6)
        assert primal - dual <= 1.001 * C2 * 1e-3
    assert found.gap == found.primal_curve.min() - found.dual_curve[-1]
    rounding = 1e-12 * np.abs(found.dual_curve).max()
    assert np.diff(found.dual_curve).min(initial=0) >= -rounding
    assert (found.dual_curve <= found.primal_curve.min() + rounding).all()


def test_start_of_the_curves():
    """At w = 0: the value of the first cut, and no dual; a loose tolerance stays there."""
    problem = random_problem(0, 30)
    for tol in (1e-3, 2.0):
        found, _ = solve(problem, "f1", 0.0, C2=0.1, tol=tol, max_iter=100)
        assert_allclose(found.primal_curve[0], 0.1 * oracle("f1", problem[1])(np.zeros(30))[0])
        assert found.dual_curve[0] == 0
    assert found.converged and found.n_cuts == 0 and len(found.primal_curve) == 1
    assert_array_equal(found.c, np.zeros(30))


@pytest.mark.parametrize("max_iter", [1, 2, 7])
def test_stopped_by_max_iter(max_iter):
    """The best of the first points, with the gap that is left."""
    problem, options = random_problem(1, 40, n_positive=15), {"C2": 1.0, "tol": 1e-6}
    ask, cuts = recorded(oracle("f1", problem[1]))
    found, w = solve(problem, "f1", 0.1, ask, max_iter=max_iter, **options)
    assert not found.converged and len(cuts) == len(found.primal_curve) == max_iter
    assert found.n_cuts == max_iter - 1
    assert found.gap > 1e-6
    assert_allclose(primal_value(w, *problem, "f1", 0.1, 1.0), found.primal_curve.min())
    exact, _ = solve(problem, "f1", 0.1, max_iter=1000, **options)
    assert exact.converged
    assert_allclose(exact.primal_curve[:max_iter], found.primal_curve)
    assert found.primal_curve.min() - exact.primal_curve.min() <= found.gap


def test_the_best_point_is_returned_not_the_last():
    """P rises now and then, and the solution is the least of it."""
    rises = 0
    for seed in range(5):
        problem = random_problem(seed, 50, n_positive=10)
        found, w = solve(problem, "prbep", 0.1, C2=1.0, tol=1e-9, max_iter=12)
        value = primal_value(w, *problem, "prbep", 0.1, 1.0)
        assert_allclose(value, found.primal_curve.min(), rtol=1e-9)
        rises += found.primal_curve[-1] > 1.01 * value
    assert rises > 0


def test_cuts_without_features():
    """X = 0: nothing to learn, and the one cut carries the whole budget."""
    y = np.array([1, -1, 1, -1])
    found = cutting_planes(oracle("f1", y), lambda c: 0.0 * c, 4, C2=2.0, tol=1e-6, max_iter=10)
    assert found.converged and len(found.primal_curve) == 2
    assert_allclose(found.dual_curve[-1], 2.0)


# ------------------------------------------------------------------ cuts that are dropped


@pytest.mark.parametrize("measure", ["f1", "prbep", "error"])
@pytest.mark.parametrize("patience", [1, 3, 50])
def test_dropping_idle_cuts_changes_nothing(measure, patience, monkeypatch):
    problem = random_problem(5, 150, widths=(12, 10), n_positive=45, signal=0.15)
    options = {"C2": 0.05, "tol": 1e-8, "max_iter": 2000}
    monkeypatch.setattr(module, "PATIENCE", 10**9)
    kept, theirs = solve(problem, measure, 0.01, **options)
    assert kept.n_cuts == len(kept.primal_curve) - 1 > 60
    monkeypatch.setattr(module, "PATIENCE", patience)
    dropped, ours = solve(problem, measure, 0.01, **options)
    assert dropped.converged and dropped.n_cuts < kept.n_cuts
    assert np.diff(dropped.dual_curve).min() >= -1e-12
    assert_allclose(dropped.dual_curve[-1], kept.dual_curve[-1], atol=2 * 0.05 * 1e-8)
    # |w - w*|^2 / 2 <= the gap, in the norm of M, which is that of features
    assert np.linalg.norm(ours - theirs) <= 2 * np.sqrt(2 * 0.05 * 1e-8)


@pytest.mark.parametrize("measure", ["f1", "prbep", "auroc"])
def test_every_iteration_raises_the_dual_or_halves_the_gap(measure):
    """The module docstring's reason why querying half-way is safe."""
    halved = 0
    for seed in range(12):
        found, _ = solve(random_problem(seed, 40), measure, 0.1, C2=5.0, tol=1e-8, max_iter=500)
        lowest = np.minimum.accumulate(found.primal_curve)
        stalled = np.flatnonzero(np.diff(found.dual_curve) <= 1e-13)
        stalled = stalled[stalled > 0]  # the first query is at w = 0 itself
        before = lowest[stalled - 1] - found.dual_curve[stalled]
        after = lowest[stalled] - found.dual_curve[stalled]
        assert (after <= before / 2 + 1e-12).all()
        halved += len(stalled)
    assert halved > 0  # both happen


def test_a_dual_value_above_the_primal_one_proves_nothing():
    """As rounding can make it: here a cut says ten times what it holds."""
    answers = iter([(1.0, 10.0, np.array([1.0, -1.0])), (0.0, 0.0, np.zeros(2))])
    options = {"C2": 1.0, "tol": 1e-3, "max_iter": 9}
    found = cutting_planes(lambda s: next(answers), lambda c: c, 2, **options)
    assert found.gap < -1.0 and not found.converged


@pytest.mark.parametrize("measure", ["f1", "prbep", "auroc"])
def test_the_papers_query_has_the_same_minimum(measure, monkeypatch):
    problem, options = random_problem(3, 60), {"C2": 5.0, "tol": 1e-7, "max_iter": 500}
    ours, w = solve(problem, measure, 0.1, **options)
    monkeypatch.setattr(module, "STEP", 1.0)
    papers, v = solve(problem, measure, 0.1, **options)
    assert ours.converged and papers.converged
    assert_allclose(ours.dual_curve[-1], papers.dual_curve[-1], atol=5e-7)
    X = np.hstack(problem[0])
    assert_allclose(X @ w, X @ v, atol=2e-3)


def test_the_loop_keeps_the_blas_to_one_thread_and_gives_it_back():
    def threads():
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    inside = []

    def most_violated(s):
        inside.extend(threads())
        return oracle("error", np.array([1, -1, 1, -1]))(s)

    with threadpool_limits(2, user_api="blas"):
        before = threads()
        cutting_planes(most_violated, lambda c: 1.0 * c, 4, C2=1.0, tol=1e-3, max_iter=3)
        assert set(inside) == {1}
        assert threads() == before
        assert 2 in before
