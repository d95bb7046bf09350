"""FS_multi: all groups of a small problem, its certificate, what it chooses; the API."""

import itertools

import numpy as np
import pytest
from cvxopt import matrix, solvers
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

from mvref.mvpo import most_violated_of
from mvref.rivals import FSMulti, SVMPerf, fs_multi
from tests.literal import toy_views
from tests.literal_mvpo import error_loss, f_beta_loss, prbep_loss

MEASURES = ("f1", "prbep", "auroc", "error")
WIDTHS = (3, 4, 2)
VIEWS, Y = toy_views(0, m=60, widths=WIDTHS, noise=1.5)
Y[:15] = 0
FLAT, SIGNS = np.hstack(VIEWS), np.where(Y == 1, 1, -1)
GROUPS = list(itertools.combinations(range(6), 2))


def small(n=60, seed=0):
    """Six weak features of a rare class."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.3, 1, -1)
    return rng.normal(size=(n, 6)) + 0.4 * y[:, None], y


def dual_bound(c, delta, X, C2, groups):
    """The value of the dual over given label cuts and groups, cvxopt without any reduction."""
    K, pi = len(c), c @ X
    G = [np.vstack([np.hstack([-np.eye(K), np.zeros((K, 1))]), np.append(np.ones(K), 0)[None]])]
    for group in groups:
        block = np.zeros((len(group) + 1, K + 1))
        block[0, K], block[1:, :K] = -1.0, -pi[:, list(group)].T
        G.append(block)
    H = np.diag(np.append(np.zeros(K), 1.0))
    G = np.vstack(G)
    h = np.zeros(len(G))
    h[K] = C2
    sizes = {"l": K + 1, "q": [len(group) + 1 for group in groups], "s": []}
    options = {"show_progress": False, "abstol": 1e-11, "reltol": 1e-11, "feastol": 1e-11}
    program = map(matrix, (H, np.append(-delta, 0.0), G, h))
    return -solvers.coneqp(*program, sizes, options=options)["primal objective"]


def least(function, B, d, smallest, **options):
    """The minimum over weights delta of d features with sum B, from equal ones."""
    budget = {"type": "eq", "fun": lambda delta: delta.sum() - B}
    options |= {"method": "SLSQP", "constraints": budget, "bounds": [(smallest, 1.0)] * d}
    return minimize(function, np.full(d, B / d), **options).fun


@pytest.mark.parametrize("measure", ["f1", "prbep", "error"])
def test_all_label_tuples_and_all_groups(measure):
    """2^7 tuples and 15 groups in one cone program."""
    X, y = small(7, seed=3)
    assert 0 < (y > 0).sum() < 7
    loss = {"f1": f_beta_loss, "prbep": prbep_loss, "error": error_loss}[measure]
    tuples = np.array(list(itertools.product([-1, 1], repeat=7)))
    tuples = tuples[tuples.sum(axis=1) == y.sum()] if measure == "prbep" else tuples
    c = (y - tuples) / 7
    delta = np.array([loss(list(y), list(t)) for t in tuples])
    for C2 in (1.0, 20.0):
        model = FSMulti(measure, n_features=2, C2=C2, tol=1e-6, fit_intercept=False).fit(X, y)
        exact = dual_bound(c, delta, X, C2, GROUPS)
        close = C2 * 1e-7  # of the reference, an interior point
        assert max(model.dual_curve_) - close <= exact <= min(model.primal_curve_) + close
        assert model.dual_gap_ <= C2 * 1e-6


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("measure", MEASURES)
def test_few_groups_are_as_good_as_all(measure, intercept, monkeypatch):
    """d = 6, B = 2: the values fall to that of all 15 groups, a lower bound of every one."""
    monkeypatch.setattr(fs_multi, "LOOSE", 0.0)  # inner problems solved to the end
    X, y = small()
    model = FSMulti(measure, n_features=2, C2=180.0, tol=1e-5, fit_intercept=intercept).fit(X, y)
    values = model.primal_curve_
    assert 1 < len(values) < 15 and model.dual_gap_ <= 180 * 1e-5
    assert np.diff(values).max() <= 180 * 0.5 * 1e-5
    assert values[0] - values[-1] > 0.01 * values[0]

    monkeypatch.setattr(
        fs_multi._Layers, "add", lambda self, group: self.groups.extend(np.array(g) for g in GROUPS)
    )
    every = FSMulti(measure, n_features=2, C2=180.0, tol=1e-5, fit_intercept=intercept).fit(X, y)
    assert len(every.groups_) == 15 and len(every.primal_curve_) == 1
    assert_allclose(min(values), every.primal_curve_[0], atol=180 * 2e-5)
    assert_allclose(model.coef_, every.coef_, atol=2 * np.sqrt(2 * 180 * 1e-5))


def test_values_from_group_to_group(monkeypatch):
    """C2 = 0.05 for sums: the values that an independent program found for this problem."""
    monkeypatch.setattr(fs_multi, "LOOSE", 0.0)
    model = FSMulti(n_features=2, C2=0.05 * 60**2, tol=1e-6, fit_intercept=False).fit(*small())
    known = [0.042814, 0.026988, 0.018491, 0.018311]  # its fifth, 0.018282, is our sixth
    assert_allclose(model.primal_curve_[:4] / 60**2, known, atol=1e-6)
    assert_allclose(min(model.primal_curve_) / 60**2, 0.018282, atol=1e-6)


@pytest.mark.parametrize("measure", ["auroc", "error"])
def test_is_the_best_choice_of_delta(measure):
    """min over 0 <= delta <= 1, sum B, of SVM^perf on sqrt(delta) x: by another solver."""
    X, y = small()
    model = FSMulti(measure, n_features=2, C2=30.0, tol=1e-6, fit_intercept=False).fit(X, y)

    def value(delta):
        scaled = np.sqrt(np.maximum(delta, 0)) * X
        machine = SVMPerf(measure, C2=30.0, tol=1e-9, max_iter=5000, fit_intercept=False)
        machine.fit(scaled, y)
        # the envelope: -1/2 of the squared sums p
        return machine.primal_curve_.min(), -((machine.coef_ / np.sqrt(delta)) ** 2) / 2

    best = least(value, 2, 6, 1e-9, jac=True, options={"ftol": 1e-10})
    assert_allclose(min(model.primal_curve_), best, rtol=2e-4)
    assert min(model.primal_curve_) < value(np.full(6, 1 / 3))[0] * 0.99


@pytest.mark.parametrize("measure", MEASURES)
def test_all_features_are_svm_perf(measure):
    for n_features in (9, 50):
        model = FSMulti(measure, n_features=n_features, C2=20.0, tol=1e-6).fit(VIEWS, Y)
        assert [group.tolist() for group in model.groups_] == [list(range(9))]
        plain = SVMPerf(measure, C2=20.0, tol=1e-7, max_iter=5000).fit(VIEWS, Y)
        assert_allclose(model.coef_, plain.coef_, atol=2 * np.sqrt(2 * 20 * 1e-6))
        assert_allclose(min(model.primal_curve_), min(plain.primal_curve_), atol=20 * 1e-6)


@pytest.mark.parametrize("measure", MEASURES)
def test_value_recomputed_from_the_weights(measure):
    """Any w on the groups is worth at least 1/2 (best sum of |w_t|)^2 + C2 slack."""
    model = FSMulti(measure, n_features=3, C2=30.0, tol=1e-4).fit(VIEWS, Y)
    b = model.intercept_ if measure in ("f1", "error") else 0.0
    slack = most_violated_of(measure, SIGNS)(FLAT @ model.coef_ + b)[0]
    used = sorted(set(np.concatenate(model.groups_)))
    assert_array_equal(np.flatnonzero(np.delete(model.coef_, used)), [])
    assert all(len(group) == 3 for group in model.groups_)

    # sum_t |w_t| of the best split of w is the norm min over delta of sqrt(sum w^2 / delta)
    options = {"ftol": 1e-12, "maxiter": 500}
    best = least(lambda delta: (model.coef_**2 / delta).sum(), 3, 9, 1e-6, options=options)
    value = (best + b**2) / 2 + 30 * slack
    assert max(model.dual_curve_) - 1e-6 <= value <= min(model.primal_curve_) + 30 * 1e-3
    assert_allclose(model.dual_gap_, min(model.primal_curve_) - max(model.dual_curve_))


def test_finds_the_features_that_matter():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 30))
    y = X[:, [3, 11, 20]].sum(axis=1) > 1.5
    model = FSMulti("auroc", n_features=3, C2=1.0).fit(X, y)
    assert set(np.argsort(-np.abs(model.coef_))[:3]) == {3, 11, 20}
    assert_array_equal(model.groups_[0], [3, 11, 20])
    other = np.delete(np.abs(model.coef_), [3, 11, 20])
    assert other.max() < 0.2 * np.abs(model.coef_[[3, 11, 20]]).min()


def test_dropping_idle_label_cuts_changes_nothing(monkeypatch):
    X, y = small()
    kept = []
    for patience in (3, 10_000):
        monkeypatch.setattr(fs_multi, "PATIENCE", patience)
        kept.append(FSMulti(n_features=2, C2=100.0, tol=1e-5).fit(X, y))
    assert_allclose(kept[0].coef_, kept[1].coef_, atol=2 * np.sqrt(2 * 100 * 1e-5))
