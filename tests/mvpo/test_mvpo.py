"""MVPO as an estimator: its certificate, scales, invariances, missing views and errors."""

from copy import copy

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import block_diag, solve_triangular
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from mvref import MultiView
from mvref.core.measures import auroc, f_beta, precision_recall_break_even
from mvref.mvpo import MEASURES, MVPO, scale_of
from mvref.mvpo import estimator as module
from mvref.mvpo.solver import cutting_planes
from mvref.theory.performance import surrogate_slack
from tests import literal_mvpo as literal
from tests.literal import hide, random_pattern, toy_views

WIDTHS = (3, 4, 2)
TIGHT = {"tol": 1e-8, "max_iter": 5000}
NEAR = 2 * np.sqrt(2 * 20 * 1e-8)  # of two solutions with C2 = 20: |w - w*|^2 / 2 <= C2 tol
stopped = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def imbalanced(seed=0, n=60, share=0.3, widths=WIDTHS, noise=1.0):
    """Views with a class of `share` positives."""
    rng = np.random.default_rng(seed)
    y = (np.arange(n) < share * n).astype(int)
    rng.shuffle(y)
    return [y[:, None] + noise * rng.normal(size=(n, width)) for width in widths], y


VIEWS, Y = imbalanced()
THREE, Y3 = toy_views(1, m=60, widths=WIDTHS, n_classes=3, noise=1.0)
PATTERN = random_pattern(5, 60, 3)
ALL = np.ones_like(PATTERN)
GAPS = MultiView(hide(VIEWS, PATTERN))


def mvpo(measure="f1", **options):
    """A model of tight tolerance, whose "fbeta" is F2."""
    return MVPO(measure, beta=2.0, **TIGHT | options)


def weights(model):
    return np.concatenate(model.coef_)


def parts_of(model):
    """The scores of the single views of VIEWS, (n, V), whether a sample has them or not."""
    parts = zip(VIEWS, model.coef_, model.view_intercepts_, strict=True)
    return np.column_stack([view @ w + b for view, w, b in parts])


def from_scratch(model, seen=ALL):
    """Eq. (13) of weights fitted to VIEWS: its value, its structured slack, and w' Lambda w."""
    u, signs, P = parts_of(model) * seen, 2 * Y - 1, Y.sum()
    disagreement = literal.pair_sum(u, seen)
    t = 1 / (P * (60 - P)) if model.measure == "auroc" else 1 / 60
    slack = surrogate_slack(t * u.sum(axis=1), signs, model.measure, beta=2.0)
    squares = sum(w @ w for w in model.coef_) + model.view_intercepts_ @ model.view_intercepts_
    return squares / 2 + model.C1 / 60 / 2 * disagreement + model.C2 * slack, slack, disagreement


# ------------------------------------------------------------------ the certificate


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("C2", [1.0, 100.0, 3000.0])
@pytest.mark.parametrize("C1", [0.0, 0.1, 10.0])
@pytest.mark.parametrize("measure", MEASURES)
def test_gap_recomputed_from_the_weights(measure, C1, C2, missing):
    X, seen = (GAPS, PATTERN) if missing else (VIEWS, ALL)
    model = mvpo(measure, C1=C1, C2=C2, tol=1e-3).fit(X, Y)
    primal, slack, _ = from_scratch(model, seen)
    assert_allclose(primal, model.primal_curve_.min(), rtol=1e-8)
    assert primal - model.dual_curve_[-1] <= C2 * 1e-3 * (1 + 1e-9)
    assert_allclose(model.dual_gap_, primal - model.dual_curve_[-1], atol=1e-8 * C2)
    assert np.diff(model.dual_curve_).min(initial=0) >= -1e-10 * C2
    assert model.n_iter_ == len(model.primal_curve_) == len(model.dual_curve_)
    predicted, scores = model.predict(X), model.decision_function(X)
    losses = {
        "f1": 1 - f_beta(Y, predicted),
        "fbeta": 1 - f_beta(Y, predicted, 2.0),
        "prbep": 1 - precision_recall_break_even(Y, scores),
        "auroc": 1 - auroc(Y, scores),
        "error": np.mean(Y != predicted),
    }
    assert slack >= losses[measure] - 1e-12  # the structured hinge bounds the measure


def test_decision_function_by_hand():
    model = mvpo(C2=500.0).fit(GAPS, Y)
    expected = (parts_of(model) * PATTERN).sum(axis=1)
    assert_allclose(model.decision_function(GAPS), expected, atol=1e-10)
    assert_array_equal(model.predict(GAPS), (expected >= 0).astype(int))
    assert_allclose(model.decision_function(VIEWS), parts_of(model).sum(axis=1), atol=1e-10)
    assert_allclose(model.intercept_, model.view_intercepts_.sum())


# ------------------------------------------------------------------ primal = dual


@stopped
@pytest.mark.parametrize("measure", MEASURES)
def test_first_steps_of_primal_and_dual_are_equal(measure):
    """The same cuts, weights to 1e-8: the tolerance of the optimum is not in the way."""
    options = {"C2": 20.0, "max_iter": 8}
    primal, dual = (mvpo(measure, solver=s, **options).fit(GAPS, Y) for s in ("primal", "dual"))
    assert_allclose(dual.primal_curve_, primal.primal_curve_, rtol=1e-8)
    assert_allclose(weights(dual), weights(primal), atol=1e-8 * np.abs(weights(primal)).max())


@stopped
@pytest.mark.parametrize("measure", MEASURES)
def test_whitened_views_are_one_view(measure):
    """Property 3: M = L L', one view of the features X L^-T without consistency, w = L^-T u."""
    columns, C1 = [np.column_stack([view, np.ones(60)]) for view in VIEWS], 0.7
    X = np.hstack(columns)
    M = np.eye(12) - C1 / 60 * X.T @ X  # C1 is divided by n
    M += 3 * C1 / 60 * block_diag(*(Z.T @ Z for Z in columns))
    L = np.linalg.cholesky(M)
    white = solve_triangular(L, X.T, lower=True).T
    model = mvpo(measure, C1=C1, C2=20.0, max_iter=8).fit(VIEWS, Y)
    plain = mvpo(measure, C2=20.0, max_iter=8, fit_intercept=False).fit([white], Y)
    assert_allclose(plain.primal_curve_, model.primal_curve_, rtol=1e-8)
    w = np.split(solve_triangular(L.T, weights(plain)), [4, 9])
    scale = np.abs(weights(model)).max()
    for ours, theirs, b in zip(model.coef_, w, model.view_intercepts_, strict=True):
        assert_allclose(np.append(ours, b), theirs, atol=1e-8 * scale)


def test_auto_takes_the_smaller_matrix_once_for_all_classes(monkeypatch):
    used = []
    for metric in (module.PrimalMetric, module.DualMetric):

        def remember(*arguments, metric=metric):
            used.append(metric.__name__)
            return metric(*arguments)

        monkeypatch.setattr(module, metric.__name__, remember)
    MVPO().fit(THREE, Y3)
    MVPO().fit([view[:8] for view in VIEWS], np.arange(8) % 2)
    assert used == ["PrimalMetric", "DualMetric"]


# ------------------------------------------------------------------ the scale dictionary


@pytest.mark.parametrize("measure", MEASURES)
def test_normalize_only_changes_units(measure):
    """Psi times t: C2 -> C2 t^2 and w -> w t; C1 -> C1/n."""
    t = scale_of(measure, 60, int(Y.sum()))
    assert_allclose(t, 1 / (18 * 42) if measure == "auroc" else 1 / 60)
    mean = mvpo(measure, C1=0.5, C2=20.0).fit(VIEWS, Y)
    total = mvpo(measure, C1=0.5 / 60, C2=20.0 * t**2, normalize=False).fit(VIEWS, Y)
    assert_allclose(weights(total) / t, weights(mean), atol=NEAR)
    assert_allclose(total.dual_curve_[-1], t**2 * mean.dual_curve_[-1], rtol=1e-6)


@pytest.mark.parametrize("measure", ["f1", "prbep", "error"])
def test_units_of_svm_perf(measure):
    """Labels +-50/n, losses in per cent, option C: C2 = 25 C / n^2, w_perf = 2 n w."""
    C, n = 30.0, 60
    X, signs = np.hstack(VIEWS), np.where(Y == 1, 1, -1)

    def most_violated(s):
        cut = MEASURES[measure](s / (2 * n), signs)
        return 100 * cut.value, 100 * cut.loss, 50 / n * cut.c

    perf = cutting_planes(most_violated, lambda c: X @ (X.T @ c), n, C2=C, tol=1e-6, max_iter=5000)
    model = mvpo(measure, C2=25 * C / n**2, normalize=False, fit_intercept=False).fit([X], Y)
    assert perf.converged
    assert_allclose(perf.dual_curve[-1], 4 * n**2 * model.dual_curve_[-1], rtol=1e-5)
    w = X.T @ perf.c
    assert_allclose(2 * n * weights(model), w, atol=1e-3 * np.abs(w).max())


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("intercept", [False, True])
def test_without_consistency_views_are_one(measure, intercept):
    """C1 = 0, or one view with any C1: the machine of the concatenation (V constants as one)."""
    options = {"C2": 20.0, "fit_intercept": intercept}
    many = mvpo(measure, C1=0.0, **options).fit(VIEWS, Y)
    one = mvpo(measure, C1=50.0, intercept_scaling=np.sqrt(3), **options).fit(np.hstack(VIEWS), Y)
    assert_allclose(weights(many), weights(one), rtol=1e-6, atol=1e-8)
    assert_allclose(many.intercept_, one.intercept_, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("measure", ["f1", "error"])
def test_the_intercept_is_the_weight_of_a_constant_column(measure):
    B = 2.5
    model = mvpo(measure, intercept_scaling=B).fit(VIEWS, Y)
    columns = [np.column_stack([view, np.full(60, B)]) for view in VIEWS]
    plain = mvpo(measure, fit_intercept=False).fit(columns, Y)
    assert plain.intercept_ == 0
    assert_allclose(weights(model), np.concatenate([w[:-1] for w in plain.coef_]), atol=1e-12)
    assert_allclose(model.view_intercepts_, [B * w[-1] for w in plain.coef_], atol=1e-12)
    assert_allclose(model.decision_function(VIEWS), plain.decision_function(columns), atol=1e-12)


# ------------------------------------------------------------------ invariances


@pytest.mark.parametrize("solver", ["primal", "dual"])
@pytest.mark.parametrize("C1", [0.0, 0.3, 300.0])
@pytest.mark.parametrize("measure", MEASURES)
def test_a_duplicated_view_gets_equal_weights(measure, C1, solver):
    model = mvpo(measure, C1=C1, C2=20.0, solver=solver).fit([VIEWS[0], VIEWS[0]], Y)
    assert_allclose(model.coef_[0], model.coef_[1], rtol=1e-9, atol=1e-12)
    alone = mvpo(measure, C1=0.0, C2=40.0).fit([VIEWS[0]], Y)  # sqrt(2) times the features
    assert_allclose(2 * model.coef_[0], alone.coef_[0], atol=4 * np.sqrt(2 * 40 * 1e-8))


@pytest.mark.parametrize("C1", [0.0, 1.0])
@pytest.mark.parametrize("measure", ["prbep", "auroc"])
def test_rankings_need_no_constant(measure, C1):
    """Property 10: its weights add up to 0, and are 0 without consistency."""
    shifted = [view + 3.0 * j for j, view in enumerate(VIEWS)]
    for solver in ("primal", "dual"):
        model = mvpo(measure, C1=C1, C2=20.0, solver=solver).fit(shifted, Y)
        assert_allclose(model.view_intercepts_.sum(), 0.0, atol=1e-9)
        if C1 == 0:
            assert_allclose(model.view_intercepts_, np.zeros(3), atol=1e-9)
        else:
            assert np.abs(model.view_intercepts_).max() > 1e-3


@pytest.mark.parametrize("measure", ["prbep", "auroc"])
def test_rankings_do_not_see_shifts(measure):
    """Property 12, C1 = 0: the weights stay, the intercept follows, predictions stay."""
    model = mvpo(measure, C1=0.0, C2=20.0).fit(VIEWS, Y)
    moved = [view + 5.0 for view in VIEWS]
    shifted = clone(model).fit(moved, Y)
    assert_allclose(weights(shifted), weights(model), atol=NEAR)
    assert_allclose(shifted.decision_function(moved), model.decision_function(VIEWS), atol=0.05)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("measure", ["prbep", "auroc"])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.85])
def test_rankings_call_as_many_positive_as_there_are(measure, share, missing):
    views, y = imbalanced(3, share=share)
    X = MultiView(hide(views, PATTERN)) if missing else MultiView(views)
    model = mvpo(measure, C2=50.0, C1=1.0).fit(X, y)
    assert model.predict(X).sum() == y.sum()
    with_zero = clone(model).set_params(fit_intercept=False, C1=0.0).fit(X, y)
    assert with_zero.predict(X).sum() == y.sum()


@pytest.mark.parametrize("measure", MEASURES)
def test_views_agree_more_as_C1_grows(measure):
    """Property 15, and the price for it."""
    strengths = np.array([0.0, 0.1, 1, 10, 100])
    models = [mvpo(measure, C1=C1, C2=50.0).fit(VIEWS, Y) for C1 in strengths]
    value, _, disagreement = np.array([from_scratch(model) for model in models]).T
    rest = value - strengths / 60 / 2 * disagreement  # loss and norm
    assert (np.diff(disagreement) <= 1e-3 * disagreement[:-1]).all()
    assert disagreement[-1] < 0.2 * disagreement[0]
    assert (np.diff(rest) >= -1e-6 * rest[:-1]).all()


def test_each_measure_is_best_at_its_own_weights():
    """Eq. (13) of one measure at the weights that another one likes is larger."""
    models = {m: mvpo(m, C2=200.0, tol=1e-5).fit(VIEWS, Y) for m in MEASURES}
    for m, own in models.items():
        best = from_scratch(own)[0]
        for other in models.values():
            guest = copy(own)
            guest.coef_, guest.view_intercepts_ = other.coef_, other.view_intercepts_
            excess = from_scratch(guest)[0] - best
            assert excess > 0.01 if other is not own else excess == 0, m


def test_beta_trades_precision_for_recall():
    views, y = imbalanced(5, n=200, share=0.2, noise=2.0)
    options = {"C2": 1e3, "max_iter": 3000}
    models = [MVPO("fbeta", beta=beta, **options).fit(views, y) for beta in (0.2, 1.0, 5.0)]
    called = [model.predict(views).sum() for model in models]
    assert called[0] < called[1] < called[2]
    one, f1 = (MVPO(m, beta=b, C2=50.0).fit(views, y) for m, b in (("fbeta", 1.0), ("f1", 9.0)))
    assert_array_equal(weights(one), weights(f1))


# ------------------------------------------------------------------ missing views, forms of input


@pytest.mark.parametrize("solver", ["primal", "dual"])
@pytest.mark.parametrize("measure", MEASURES)
def test_missing_views_are_rows_of_zeros_without_a_pair(measure, solver):
    """C1 = 0: the same as zeros, with the pattern as the constant features."""
    model = mvpo(measure, C1=0.0, C2=20.0, solver=solver).fit(GAPS, Y)
    filled = [
        np.column_stack([np.where(seen[:, None], view, 0.0), seen])
        for view, seen in zip(VIEWS, PATTERN.T, strict=True)
    ]
    plain = mvpo(measure, C1=0.0, C2=20.0, solver=solver, fit_intercept=False).fit(filled, Y)
    for w, v in zip(model.coef_, plain.coef_, strict=True):
        assert_allclose(w, v[:-1], atol=NEAR)
    scores = plain.decision_function(filled)
    assert_allclose(model.decision_function(GAPS), scores, atol=20 * NEAR)


def test_shapes_of_several_classes():
    model = mvpo(C2=20.0, tol=1e-2).fit(THREE, Y3)
    assert [w.shape for w in model.coef_] == [(3, width) for width in WIDTHS]
    assert model.intercept_.shape == model.dual_gap_.shape == (3,)
    assert model.view_intercepts_.shape == (3, 3)
    assert model.n_iter_ == max(map(len, model.dual_curve_))
    assert len(model.primal_curve_) == len(model.dual_curve_) == 3


# ------------------------------------------------------------------ warnings and errors


def test_a_gap_below_zero_is_not_an_optimum():
    """At 1e8 the dual form has lost its digits; a dual value above the primal proves nothing."""
    views = [1e8 * view for view in VIEWS]
    with pytest.warns(ConvergenceWarning, match="rounding"):
        model = MVPO(solver="dual").fit(views, Y)
    assert model.dual_gap_ < -0.1


@pytest.mark.parametrize("measure", MEASURES)
def test_one_positive_and_one_negative(measure):
    for y in (np.eye(60, dtype=int)[7], 1 - np.eye(60, dtype=int)[7]):
        model = MVPO(measure, C2=1e3).fit(VIEWS, y)
        assert model.dual_gap_ <= 1.0
    pair = MVPO(measure).fit([np.array([[0.0], [1.0]])], [0, 1])
    assert_array_equal(pair.predict([np.array([[-3.0], [4.0]])]), [0, 1])
