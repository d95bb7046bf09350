"""Multi-view machines: the model and its gradient, three solvers, the start, and the estimators."""

import itertools
import pickle
import warnings
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import expit
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge

from mvref import MultiView, NothingLearntWarning
from mvref.core import ridge
from mvref.core.groups import group_structure
from mvref.core.losses import LOSSES
from mvref.core.ridge import ridge_block
from mvref.mvm import MVMClassifier, MVMRegressor
from mvref.mvm import model as mvm_model
from mvref.mvm.machine import hold_out
from mvref.mvm.model import Design, Objective, live_signs, start_factors
from mvref.mvm.solvers import AdaGrad, als, als_sweep, balance_norms, curvature_units, lbfgs
from mvref.rivals import FMClassifier
from tests import literal_mvm as literal
from tests.costs import peak_bytes
from tests.literal import hide, random_pattern, toy_views

WIDTHS = (3, 4, 2)
SMOOTH = ("logistic", "squared_hinge", "squared")
GROUPS = [[0, 1], [1, 2], [2]]
STRUCTURES = [(None, True), (GROUPS, True), (GROUPS, False)]
seeds = st.integers(0, 1000)
stopped = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
every_structure = pytest.mark.parametrize(("groups", "shared"), STRUCTURES)


def normal_views(seed, n, widths):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(n, width)) for width in widths]


def random_factors(seed, shapes, scale=1.0):
    rng = np.random.default_rng(seed)
    return [rng.normal(scale=scale, size=shape) for shape in shapes]


def design_of(views, k, groups=None, shared=True):
    X = MultiView(views)
    return Design(X, group_structure(groups, X, shared), k)


def objective_of(views, y, k, groups=None, shared=True, **options):
    options = {"loss": "logistic", "penalty": "l2", "alpha": 0.1, "smoothing": 1e-2} | options
    return Objective(design_of(views, k, groups, shared), y, **options)


def rows_of(views, blocks=None):
    """Samples as the literal twins take them: a list of one row per block."""
    blocks = range(len(views)) if blocks is None else blocks
    return [[views[v][i] for v in blocks] for i in range(len(views[0]))]


def flat(arrays):
    return np.concatenate([A.ravel() for A in arrays])


def central_differences(f, theta, h):
    """Central differences of a function of one array, along every axis."""
    return np.array([(f(theta + h * e) - f(theta - h * e)) / (2 * h) for e in np.eye(len(theta))])


def live(design, scale=0.1):
    return start_factors("live", scale, design, np.random.RandomState(0))


def unflat(theta, shapes):
    ends = np.cumsum([d * k for d, k in shapes])[:-1]
    return [part.reshape(shape) for part, shape in zip(np.split(theta, ends), shapes, strict=True)]


def gradient_of(objective):
    """The gradient as a function of one array."""
    shapes = objective.design.shapes
    return lambda theta: flat(objective.value_and_gradient(unflat(theta, shapes))[1])


def planted(V, n=500, seed=2):
    """The reference problem: one linear effect and one interaction, in 5 features per view."""
    views = normal_views(seed, n, (5,) * V)
    return views, np.sign(views[0][:, 0] + views[1][:, 1] * views[0][:, 2] + 0.3)


def column_norms(factors):
    return np.array([np.linalg.norm(A, axis=0) for A in factors])


def imbalance(factors):
    """Largest difference of the norms of one factor, as a share of the largest norm."""
    norms = column_norms(factors)
    return np.ptp(norms, axis=0).max() / norms.max()


def sparse_views(views, share=0.6, seed=0):
    """The views with zeros for a share of their numbers: dense, and as CSR."""
    rng = np.random.default_rng(seed)
    dense = [view * (rng.random(view.shape) > share) for view in views]
    return dense, [sparse.csr_matrix(view) for view in dense]


VIEWS = normal_views(0, 30, WIDTHS)
Y = np.where(np.arange(30) % 3 > 0, 1.0, -1.0)


# ------------------------------------------------------------------ Eq. (9)


@given(seeds, st.lists(st.integers(1, 3), min_size=1, max_size=4), st.integers(1, 4))
@settings(max_examples=40)
def test_linear_time_score_is_the_sum_over_the_tensor(seed, widths, k):
    views = normal_views(seed, 3, widths)
    A = random_factors(seed + 1, [(width + 1, k) for width in widths])
    scores = design_of(views, k).scores(A)
    expected = [literal.tensor_score(x, A) for x in rows_of(views)]
    assert_allclose(scores, expected, rtol=1e-10, atol=1e-10)
    assert_allclose(scores, [literal.score(x, A) for x in rows_of(views)], rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("shared", [True, False])
def test_groups_are_a_sum_of_machines(shared):
    design = design_of(VIEWS, 3, GROUPS, shared)
    A = random_factors(1, design.shapes)
    if shared:
        assert design.views == [0, 1, 2] and design.terms == [[0, 1], [1, 2], [2]]
    else:
        assert design.views == [0, 1, 1, 2, 2] and design.terms == [[0, 1], [2, 3], [4]]
    expected = [literal.score(x, A, design.terms) for x in rows_of(VIEWS, design.views)]
    assert_allclose(design.scores(A), expected, atol=1e-10)


def test_score_is_affine_in_every_block():
    """Multilinearity: the second difference along any direction of one block is 0."""
    design = design_of(VIEWS, 3)
    A = random_factors(1, design.shapes)
    for v in range(3):
        D = np.random.default_rng(v).normal(size=A[v].shape)
        plus, minus = (design.scores([*A[:v], A[v] + t * D, *A[v + 1 :]]) for t in (1.0, -1.0))
        assert_allclose(plus + minus, 2 * design.scores(A), atol=1e-10)


def test_gauge_permutations_and_a_pair_that_cancels():
    design = design_of(VIEWS, 4)
    A = random_factors(2, design.shapes)
    scores = design.scores(A)
    g = np.array([2.0, 0.3, -1.0, 7.0])
    assert_allclose(design.scores([A[0] * g, A[1] / g**2, A[2] * g]), scores, atol=1e-10)
    assert_allclose(design.scores([B[:, [2, 0, 3, 1]] for B in A]), scores, atol=1e-10)
    turned = design_of([VIEWS[2], VIEWS[0], VIEWS[1]], 4)
    assert_allclose(turned.scores([A[2], A[0], A[1]]), scores, atol=1e-10)
    twice = [np.hstack([A[0], A[0][:, :1], -A[0][:, :1]])]
    twice += [np.hstack([B, B[:, :1], B[:, :1]]) for B in A[1:]]
    assert_allclose(design_of(VIEWS, 6).scores(twice), scores, atol=1e-10)


@pytest.mark.parametrize("size", [1, 7, 10**6])
def test_parts_of_the_samples_change_nothing(size, monkeypatch):
    dense, csr = sparse_views(VIEWS)
    A = random_factors(1, [(d + 1, 2) for d in WIDTHS])
    whole = objective_of(dense, Y, 2)
    expected, gradient = whole.value_and_gradient(A)
    assert len(whole.design.parts) == 1
    monkeypatch.setattr(mvm_model, "NUMBERS_PER_PART", 2 * size)
    for views in (dense, csr, [csr[0], dense[1], csr[2]]):
        cut = objective_of(views, Y, 2)
        if size < 30:
            assert len(cut.design.parts) > 1
        value, parts = cut.value_and_gradient(A)
        assert_allclose(value, expected, rtol=1e-12)
        assert_allclose(flat(parts), flat(gradient), rtol=1e-10, atol=1e-12)
        assert_allclose(cut.design.scores(A), whole.design.scores(A), rtol=1e-10)


def test_parts_are_not_smaller_than_a_sparse_view_is_wide(monkeypatch):
    """Each part adds to a table of d x k numbers, which must not cost more than its samples."""
    monkeypatch.setattr(mvm_model, "NUMBERS_PER_PART", 40)
    wide = np.eye(1000, 99)
    assert len(design_of([wide], 4).parts) == 100
    assert len(design_of([sparse.csr_matrix(wide)], 4).parts) == 10


# ------------------------------------------------------------------ Eqs. (10) to (21)


@every_structure
@pytest.mark.parametrize("penalty", ["l2", "l1"])
@pytest.mark.parametrize("loss", LOSSES)
def test_objective_and_gradient(loss, penalty, groups, shared):
    """Equal to the literal formulas, and to finite differences."""
    views, y = [view[:6] for view in VIEWS], Y[:6]
    objective = objective_of(views, y, 2, groups, shared, loss=loss, penalty=penalty)
    shapes = objective.design.shapes
    A = random_factors(3, shapes)
    value, gradient = objective.value_and_gradient(A)
    rows = rows_of(views, objective.design.views)
    twin = (loss, penalty, 0.1, 1e-2, objective.design.terms)
    assert_allclose(value, literal.objective(rows, y, A, *twin), rtol=1e-12)
    assert_allclose(value, objective.value(A), rtol=1e-12)
    assert_allclose(flat(gradient), flat(literal.gradient(rows, y, A, *twin)), atol=1e-10)
    slopes = central_differences(lambda t: objective.value(unflat(t, shapes)), flat(A), 1e-6)
    assert_allclose(flat(gradient), slopes, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("dead", [[1], [0, 2]])
def test_zero_factors_have_finite_gradients(dead):
    """Prefix times suffix where a division by S would be 0/0."""
    objective = objective_of(VIEWS, Y, 2, alpha=0.0)
    A = random_factors(1, objective.design.shapes)
    for v in dead:
        A[v][:, 0] = 0.0
    rows = rows_of(VIEWS)
    expected = literal.gradient(rows, Y, A, "logistic", "l2", 0.0, 0.0)
    gradient = objective.value_and_gradient(A)[1]
    assert_allclose(flat(gradient), flat(expected), atol=1e-10)
    assert (np.abs(gradient[1][:, 0]).max() > 1e-3) == (dead == [1])


def test_losses_of_huge_scores_are_finite():
    """The slopes do not overflow, and the loss is the margin."""
    s, y = np.array([-1e300, -800.0, 800.0, 1e300]), np.ones(4)
    values, slopes = LOSSES["logistic"](s, y)
    assert_allclose(values, [1e300, 800.0, 0.0, 0.0])
    assert_allclose(slopes, [-1.0, -1.0, 0.0, 0.0])


def test_a_view_without_entries_is_a_constant():
    """It multiplies every factor by its bias."""
    A = random_factors(9, [(4, 3), (5, 3), (3, 3)])
    empty = design_of([VIEWS[0], sparse.csr_matrix((30, 4)), VIEWS[2]], 3)
    without = design_of([VIEWS[0], VIEWS[2]], 3)
    assert_allclose(empty.scores(A), without.scores([A[0] * A[1][-1], A[2]]), atol=1e-12)


# ------------------------------------------------------------------ A = 0, and the start


@pytest.mark.parametrize("k", [1, 2, 7, 8])
@pytest.mark.parametrize("V", [1, 2, 5])
def test_live_start(V, k):
    """Bias rows of -1 and +1 that cancel over the factors, feature rows N(0, .1^2 / d)."""
    design = design_of(normal_views(0, 20, (400,) * V), k)
    A = live(design)
    signs = np.array([A_v[-1] for A_v in A])
    assert_array_equal(np.abs(signs), 1.0)
    assert_array_equal(signs[1:], 1.0)
    assert abs(signs.prod(axis=0).sum()) == k % 2
    for A_v in A:
        assert_allclose(A_v[:-1].std(), 0.1 / 20, rtol=0.15)


def test_live_signs_cancel_in_every_group():
    pairs = [list(pair) for pair in itertools.combinations(range(4), 2)]
    for groups in ([[0], [1], [2], [3]], pairs, [[0, 1], [1, 2], [2, 3]], [[0, 1, 2, 3]]):
        for shared in (True, False):
            design = design_of(normal_views(0, 3, (2,) * 4), 8, groups, shared)
            signs = np.array(live_signs(design))
            for term in design.terms:
                assert signs[term].prod(axis=0).sum() == 0


@pytest.mark.parametrize("V", range(2, 9))
def test_planted_problem_is_learnt_from_every_live_start(V):
    views, y = planted(V)
    for seed in range(5):
        model = MVMClassifier(random_state=seed).fit(views, y)
        assert model.score(views, y) >= 0.99
        assert max(np.abs(A).max() for A in model.factors_) > 0.5
        assert imbalance(model.factors_) < 2e-3


def test_scores_of_zero_are_a_collapse_where_views_are_multiplied():
    views, y = planted(2)
    with pytest.warns(ConvergenceWarning, match="training collapsed to the local minimum at zero"):
        MVMClassifier(alpha=10.0, random_state=0).fit(views, y)
    with pytest.warns(NothingLearntWarning) as told:  # of one view it is a ridge regression
        MVMRegressor(alpha=1e9, random_state=0).fit(views[:1], y)
    assert not any("collapsed" in str(warning.message) for warning in told)


def test_product_of_all_views_is_learnt():
    """Not the reference problem: the class is the sign of a product with a factor of each view."""
    for V in (2, 3, 4):
        views = normal_views(2, 500, (5,) * V)
        w = random_factors(V, [(5,)] * V)
        y = np.sign(np.prod([X @ w_v for X, w_v in zip(views, w, strict=True)], axis=0))
        model = MVMClassifier(max_iter=3000, random_state=0).fit(views, y)
        assert model.score(views, y) >= 0.99


# ------------------------------------------------------------------ L-BFGS


@pytest.mark.parametrize("penalty", ["l2", "l1"])
@pytest.mark.parametrize("loss", SMOOTH)
def test_lbfgs_ends_at_a_stationary_point(loss, penalty):
    views, y = planted(3, n=200)
    options = {"loss": loss, "penalty": penalty, "smoothing": 1e-4, "alpha": 3e-3}
    model = MVMClassifier(4, tol=1e-9, random_state=0, **options).fit(views, y)
    objective = objective_of(views, y, 4, **options)
    value, gradient = objective.value_and_gradient(model.factors_)
    assert np.abs(flat(gradient)).max() < 1e-6
    assert_allclose(model.loss_curve_[-1], value, rtol=1e-10)
    assert np.diff(model.loss_curve_).max() <= 1e-12
    assert model.n_iter_ == len(model.loss_curve_) - 1
    if penalty == "l2":  # <a_vf, dL/da_vf> is the same for all views
        assert imbalance(model.factors_) < 1e-3


def test_norms_balance_with_groups_of_their_own_factors():
    views, y = planted(3, n=200)
    options = {"groups": [[0, 1], [0, 1, 2]], "shared_factors": False, "tol": 1e-7}
    model = MVMClassifier(4, random_state=0, **options).fit(views, y)
    assert [A.shape for A in model.factors_] == [(6, 4)] * 5
    assert imbalance(model.factors_[:2]) < 1e-3 and imbalance(model.factors_[2:]) < 1e-3


def test_groups_of_single_views_are_logistic_regression():
    """An independent solver of the convex case; every view has its own penalised intercept."""
    y = (VIEWS[0][:, 0] + VIEWS[1][:, 1] > 0).astype(int)
    for X, groups in ((VIEWS, [["view_0"], [1], ["view_2"]]), ([np.hstack(VIEWS)], None)):
        Z = np.hstack([np.c_[view, np.ones(30)] for view in X])
        twin = LogisticRegression(C=1 / (2 * 0.01 * 30), fit_intercept=False, tol=1e-10).fit(Z, y)
        model = MVMClassifier(1, groups=groups, alpha=0.01, tol=1e-9, random_state=0).fit(X, y)
        assert_allclose(model.decision_function(X), twin.decision_function(Z), atol=1e-5)


def test_one_view_and_k_factors_are_ridge_regression_with_a_kth_of_the_penalty():
    """y = <z, sum_f a_f>, and k equal columns have the least norm."""
    y = VIEWS[1] @ [1.0, -2.0, 0.5, 0.0] + 1.0
    Z = np.c_[VIEWS[1], np.ones(30)]
    expected = Ridge(0.05 * 30 / 4, fit_intercept=False).fit(Z, y).coef_
    for solver in ("lbfgs", "als"):
        model = MVMRegressor(4, alpha=0.05, solver=solver, tol=1e-9, random_state=0)
        model.fit([VIEWS[1]], y)
        weights = model.order_weights()
        assert_allclose(weights[("view_0",)], expected[:-1], atol=1e-5)
        assert_allclose(weights[()], expected[-1], atol=1e-5)


@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("alpha", [0.0, 0.3])
def test_tol_is_a_gradient_in_units_of_curvature(alpha, form):
    """(E z^2 + 2 alpha)^(1/2) of every number, the bias rows' z being 1; the first such end."""
    dense, csr = sparse_views(VIEWS)
    objective = objective_of(dense if form == "dense" else csr, Y, 2, alpha=alpha, loss="squared")
    Z = [np.c_[view, np.ones(30)] for view in dense]
    units = np.concatenate([np.repeat((Z_v**2).mean(axis=0) + 2 * alpha, 2) for Z_v in Z]) ** 0.5
    assert_allclose(curvature_units(objective), units, rtol=1e-12)
    start = live(objective.design, 0.5)

    def largest(n_iter):
        found = lbfgs(objective, start, tol=1e-3, max_iter=n_iter, tick=lambda: None)
        gradient = gradient_of(objective)(flat(found.factors))
        return len(found.curve) - 1, np.abs(gradient / units).max()

    n_iter, last = largest(1000)
    assert last <= 1e-3 < largest(n_iter - 1)[1]


@pytest.mark.parametrize("unit", [1e-8, 100.0, 1e8, 1e100, 1e200])
@pytest.mark.parametrize("V", [2, 8])
def test_features_in_any_unit(V, unit):
    """Factors are measured in the units of the features: large ones are no trouble."""
    views, y = planted(V, n=200)
    views = [unit * view for view in views]
    als_options = {"loss": "squared", "solver": "als", "max_iter": 50}
    for options in ({"max_iter": 300}, {"solver": "sgd", "max_iter": 100}, als_options):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            model = MVMClassifier(4, random_state=0, **options).fit(views, y)
        assert all(issubclass(w.category, UserWarning) for w in said)
        assert np.isfinite(flat(model.factors_)).all() and np.isfinite(model.loss_curve_).all()
        assert np.diff(model.loss_curve_[[0, -1]]) <= 0.0
        if unit == 1e-8:
            continue  # the penalty does not let such weights grow
        if unit < 1e120 or options == {"max_iter": 300}:
            assert model.score(views, y) >= 0.95
        else:  # the squares of the features overflow
            assert any("standardise" in str(w.message) for w in said)


@pytest.mark.parametrize("solver", ["lbfgs", "sgd", "als"])
def test_overflow_ends_in_a_warning_with_the_last_finite_factors(solver):
    views = [np.r_[view, [np.full(3, 1e308)]] for view in normal_views(0, 20, (3, 3))]
    y = np.r_[np.ones(10), -np.ones(11)]
    loss = "squared" if solver == "als" else "squared_hinge"
    model = MVMClassifier(2, loss=loss, solver=solver, init="paper", init_scale=10, random_state=0)
    with pytest.warns(ConvergenceWarning, match="standardise"):
        model.fit(views, y)
    assert np.isfinite(flat(model.factors_)).all()
    with pytest.raises(ValueError, match="overflow"):
        model.decision_function(views)
    assert np.isfinite(model.decision_function([view[:20] for view in views])).all()


def test_sgd_returns_to_the_last_epoch_with_a_finite_objective():
    """A step of any size is finite; the products it leads to are not."""
    views, y = planted(2, n=100)
    model = MVMClassifier(2, solver="sgd", learning_rate=1e200, random_state=0)
    with pytest.warns(ConvergenceWarning, match="diverged; reduce learning_rate"):
        model.fit(views, y)
    assert model.n_iter_ == 0 and np.isfinite(model.loss_curve_).all()
    assert np.isfinite(model.decision_function(views)).all()
    stream = clone(model)
    with pytest.warns(ConvergenceWarning, match="overflow"):
        stream.partial_fit(views, y, classes=[-1, 1])
    assert np.isfinite(flat(stream.factors_)).all() and np.isfinite(stream.loss_curve_).all()


def test_line_search_comes_back_from_an_overflow():
    """The first step overflows; the search is shortened and goes on."""
    views, y = planted(2, n=100)

    class Cliff(Objective):
        walls = 0

        def value_and_gradient(self, factors):
            value, gradient = super().value_and_gradient(factors)
            if max(np.abs(A).max() for A in factors) > 1.1:
                Cliff.walls += 1
                return np.inf, [np.nan * G for G in gradient]
            return value, gradient

    options = {"loss": "logistic", "penalty": "l2", "alpha": 1e-3, "smoothing": 0.0}
    objective = Cliff(design_of(views, 2), y, **options)
    found = lbfgs(objective, live(objective.design), tol=1e-5, max_iter=200, tick=lambda: None)
    assert Cliff.walls > 0
    assert np.isfinite(flat(found.factors)).all() and np.isfinite(found.curve).all()
    assert found.curve[-1] < 0.8 * found.curve[0]
    assert "overflow" in found.trouble


# ------------------------------------------------------------------ alternating least squares


def regression_problem(seed=2, n=300, V=3, k=2):
    views = normal_views(seed, n, (5,) * V)
    truth = random_factors(seed, [(6, k)] * V, 0.6)
    noise = 0.1 * np.random.default_rng(seed).normal(size=n)
    return views, design_of(views, k).scores(truth) + noise, truth


@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("alpha", [0.0, 0.1])
def test_one_block_of_als_is_a_ridge_regression(form, alpha, monkeypatch):
    dense, csr = sparse_views([VIEWS[1]], share=0.3)
    Z = np.c_[dense[0], np.ones(30)]
    stored = Z if form == "dense" else sparse.csr_matrix(np.c_[csr[0].toarray(), np.ones(30)])
    H, target = np.random.default_rng(1).normal(size=(30, 3)), VIEWS[0][:, 0]
    expected = literal.ridge_block(Z, H, target, alpha)
    start = np.random.default_rng(2).normal(size=(5, 3))
    assert_allclose(ridge_block(stored, H, target, alpha, start), expected, atol=1e-8)
    monkeypatch.setattr(ridge, "NUMBERS_PER_TABLE", 60)  # four samples at a time
    assert_allclose(ridge_block(stored, H, target, alpha, start), expected, atol=1e-8)
    monkeypatch.setattr(ridge, "CLOSED_FORM", 0)
    monkeypatch.setattr(ridge, "CG_STEPS", 200)
    assert_allclose(ridge_block(stored, H, target, alpha, start), expected, atol=1e-6)


@pytest.mark.parametrize("limit", [0, 600], ids=["cg", "closed"])
@every_structure
def test_als_never_raises_the_objective(groups, shared, limit, monkeypatch):
    """Block by block: a sweep over one block at a time, and its value is Eq. (10)."""
    monkeypatch.setattr(ridge, "CLOSED_FORM", limit)
    views, y, _ = regression_problem(n=100)
    objective = objective_of(views, y, 2, groups, shared, loss="squared", alpha=1e-3)
    for init, scale in (("paper", 0.01), ("paper", 0.5), ("live", 0.1)):
        A = start_factors(init, scale, objective.design, np.random.RandomState(0))
        value = objective.value(A)
        for _ in range(15):
            new = als_sweep(objective, A, value)
            assert new <= value
            assert_allclose(new, objective.value(A), rtol=1e-9)
            value = new
        solution = als(objective, A, tol=0.0, max_iter=20, tick=lambda: None)
        assert np.diff(solution.curve).max() <= 0.0


def test_als_ends_where_lbfgs_does():
    """Also from the paper's start: balanced norms end the swamps, .4 after 60 sweeps without."""
    views, y, _ = regression_problem(n=500)
    best = MVMRegressor(2, random_state=0).fit(views, y)
    assert best.loss_curve_[-1] < 0.03
    options = {"solver": "als", "init": "paper", "init_scale": 0.5, "max_iter": 200}
    for seed in range(3):
        model = MVMRegressor(2, random_state=seed, **options).fit(views, y)
        assert_allclose(model.loss_curve_[-1], best.loss_curve_[-1], rtol=1e-2)
        assert imbalance(model.factors_) < 1e-6


def test_balanced_norms_have_the_least_penalty():
    """V (prod |a_v|)^(2/V) per factor, the same scores, and no change of blocks that are shared."""
    A = random_factors(3, [(d + 1, 3) for d in WIDTHS])
    A[1][:, 2] = 0.0
    balanced = balance_norms(A, [[0, 1, 2]])
    assert_allclose(design_of(VIEWS, 3).scores(balanced), design_of(VIEWS, 3).scores(A), atol=1e-10)
    norms, after = column_norms(A), column_norms(balanced)
    expected = 3 * norms[:, :2].prod(axis=0) ** (2 / 3)
    assert_allclose((after[:, :2] ** 2).sum(axis=0), expected)
    assert_array_equal(after[:, 2], norms[:, 2])  # dead: left alone
    for same, before in zip(balance_norms(A, [[0, 1], [1, 2]]), A, strict=True):
        assert_array_equal(same, before)


def test_regression_finds_the_tensor_that_made_the_data():
    views, _, truth = regression_problem(n=500)
    y = design_of(views, 2).scores(truth)
    expected = mvm_model.subset_weights(truth, [0, 1, 2], [[0, 1, 2]], 3)
    for options in ({}, {"solver": "als", "init": "paper", "init_scale": 0.5}):
        model = MVMRegressor(2, alpha=1e-7, tol=1e-9, max_iter=5000, random_state=0, **options)
        weights = model.fit(views, y).order_weights(max_order=3)
        for (_, found), (_, tensor) in zip(weights.items(), expected.items(), strict=True):
            assert_allclose(found, tensor, atol=2e-3)


# ------------------------------------------------------------------ stochastic gradients


@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("penalty", ["l2", "l1"])
def test_one_epoch_is_algorithm_1(penalty, form):
    """The literal loop; on sparse views a feature that is not in the batch does not move."""
    # of unit size or less, so that the learning rate is not divided by the unit
    dense, csr = sparse_views([view[:10] / 3 for view in VIEWS], share=0.8 * (form == "csr"))
    y = Y[:10]
    options = {"penalty": penalty, "smoothing": 1e-2}
    objective = objective_of(dense if form == "dense" else csr, y, 2, **options)
    A = random_factors(4, objective.design.shapes)
    state = AdaGrad([B.copy() for B in A], np.random.RandomState(3), objective.design)
    assert state.epoch(objective, 0.1, 4)
    order = np.random.RandomState(3).permutation(10)
    machine = order, 4, 0.1, "logistic", penalty, 0.1, 1e-2
    twin = literal.adagrad_epoch(rows_of(dense), y, A, *machine)
    assert_allclose(flat(state.factors), flat(twin), atol=1e-9)
    assert np.abs(flat(state.factors) - flat(A)).max() > 0.05


@pytest.mark.parametrize("loss", LOSSES)
def test_sgd_comes_near_the_minimum_of_every_loss(loss):
    views, y = planted(2, n=300)
    model = MVMClassifier(4, loss=loss, solver="sgd", batch_size=16, random_state=0)
    model.set_params(max_iter=150, tol=0.0, n_iter_no_change=1000)
    with pytest.warns(ConvergenceWarning, match="max_iter=150"):
        model.fit(views, y)
    assert model.n_iter_ == 150 and len(model.loss_curve_) == 151
    if loss != "hinge":
        best = MVMClassifier(4, loss=loss, random_state=0).fit(views, y).loss_curve_[-1]
        assert best <= model.loss_curve_[-1] < best + 0.02
    assert model.score(views, y) >= (0.93 if loss == "squared" else 0.98)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_partial_fit_is_an_epoch_of_fit(n_classes):
    views, y = toy_views(0, n_classes=n_classes)
    labels = np.array(["a", "b", "c"])[y]
    stream = MVMClassifier(4, solver="sgd", batch_size=16, random_state=5)
    for epoch in range(1, 4):
        stream.partial_fit(views, labels, classes=np.unique(labels))
        whole = MVMClassifier(4, solver="sgd", batch_size=16, random_state=5, max_iter=epoch)
        with pytest.warns(ConvergenceWarning):
            whole.fit(views, labels)
        assert_array_equal(flat(stream.factors_), flat(whole.factors_))
        assert stream.n_iter_ == whole.n_iter_ == epoch
        assert_array_equal(np.ravel(stream.loss_curve_), np.ravel(whole.loss_curve_))
    whole.partial_fit(views, labels)  # after fit it goes on
    assert_array_equal(flat(stream.partial_fit(views, labels).factors_), flat(whole.factors_))


def test_partial_fit_of_a_stream():
    """Parts with one class only are welcome; the model learns from all of them."""
    views, y = planted(3, n=600)
    order = np.argsort(y, kind="stable")
    views, y = [view[order] for view in views], y[order]
    X = MultiView(views)
    model = MVMClassifier(4, alpha=1e-4, solver="sgd", batch_size=8, random_state=0)
    rng = np.random.default_rng(0)
    model.partial_fit(X[:20], y[:20], classes=[-1, 1])
    assert set(y[:20]) == {-1.0}
    for _ in range(200):
        rows = rng.choice(600, 50)
        model.partial_fit(X[rows], y[rows])
    assert model.score(X, y) > 0.97
    target = MVMRegressor(4, alpha=1e-4, solver="sgd", batch_size=8, random_state=0)
    for _ in range(150):
        rows = rng.choice(600, 50)
        target.partial_fit(X[rows], 1 + views[0][rows, 0] * views[1][rows, 1])
    assert target.score(X, 1 + views[0][:, 0] * views[1][:, 1]) > 0.95


def test_early_stopping_keeps_the_best_epoch():
    views, y = planted(2, n=200)
    y[::4] *= -1  # noise to overfit
    options = {"alpha": 0.0, "solver": "sgd", "batch_size": 8, "early_stopping": True}
    weights = np.random.default_rng(0).uniform(0.5, 2.0, size=200)
    model = MVMClassifier(8, random_state=0, **options).fit(views, y, sample_weight=weights)
    curve = model.validation_curve_
    assert len(curve) == len(model.loss_curve_) == model.n_iter_ + 1 < 100
    before = np.minimum.accumulate(curve)[:-1]
    progress = np.flatnonzero(curve[1:] < before * (1 - model.tol)) + 1
    assert model.n_iter_ == progress[-1] + 10  # epochs without progress
    rng = np.random.RandomState(0)
    rng.randint(2**31, size=1)  # the seed of the machine
    held_out = hold_out((y > 0).astype(int), rng)
    margins = y[held_out] * model.decision_function([view[held_out] for view in views])
    loss = np.average(np.logaddexp(0, -margins), weights=weights[held_out])
    assert_allclose(loss, curve.min(), rtol=1e-10)
    again = clone(model).set_params(early_stopping=False, max_iter=3)
    with pytest.warns(ConvergenceWarning):
        assert not hasattr(again.fit(views, y), "validation_curve_")


@given(seeds, st.integers(2, 4), st.integers(5, 70))
def test_hold_out_takes_a_tenth_of_every_class(seed, n_classes, n):
    rng = np.random.RandomState(seed)
    codes = rng.randint(n_classes, size=n)
    held_out = hold_out(codes, rng)
    for c in range(n_classes):
        assert abs(held_out[codes == c].sum() - 0.1 * (codes == c).sum()) <= 1.0
    assert held_out.sum() == int(0.1 * n + 0.5)  # half a sample is one


# ------------------------------------------------------------------ sparse and missing views


@pytest.mark.parametrize("form", ["dense", "csr"])
def test_a_missing_view_is_its_constant(form):
    """z = (0, .., 0, 1): the same as a view of zeros, in fit and in prediction."""
    seen = random_pattern(1, 30, 3)
    zeros = [np.where(s[:, None], view, 0.0) for s, view in zip(seen.T, VIEWS, strict=True)]
    X = MultiView(hide(VIEWS, seen))
    if form == "csr":
        X = MultiView([sparse.csr_matrix(view) for view in zeros], observed=seen)
    model = MVMClassifier(2, alpha=0.03, tol=1e-8, random_state=0).fit(X, Y)
    expected = [literal.score(x, model.factors_) for x in rows_of(zeros)]
    assert np.std(expected) > 0.3
    assert_allclose(model.decision_function(X), expected, atol=1e-10)
    same = clone(model).fit(zeros, Y)
    assert_allclose(same.decision_function(zeros), expected, atol=1e-4)
    for subset, part in model.decompose(X).items():
        for v, name in enumerate(X.names):
            if name in subset:
                assert_array_equal(part[~seen[:, v]], 0.0)


@stopped
@pytest.mark.parametrize("options", [{"max_iter": 5}, {"solver": "sgd", "max_iter": 1}])
def test_memory_stays_linear_on_sparse_views(options):
    """Nothing of n x d is ever made: the peak is below a tenth of one such table."""
    rng, n, d = np.random.default_rng(0), 4000, 10_000
    levels, rows = rng.integers(d, size=(2, n)), np.arange(n + 1)
    views = [sparse.csr_matrix((np.ones(n), one, rows), shape=(n, d)) for one in levels]
    y = rng.integers(2, size=n)
    model = MVMClassifier(4, random_state=0, **options)
    assert peak_bytes(lambda: model.fit(views, y)) < n * d * 8 / 10
    assert peak_bytes(lambda: model.decision_function(views)) < n * d * 8 / 10
    assert peak_bytes(lambda: model.decompose(views)) < n * d * 8 / 10


# ------------------------------------------------------------------ decompose, order_weights


@every_structure
def test_contributions_and_weights_of_every_subset(groups, shared):
    """Literal sums; they add up to the score; and W_T times the outer product of the x."""
    design = design_of(VIEWS, 2, groups, shared)
    A = random_factors(5, design.shapes)
    parts = mvm_model.contributions(VIEWS, A, design.views, design.terms)
    weights = mvm_model.subset_weights(A, design.views, design.terms, 3)
    assert list(parts) == list(weights)
    scores = design.scores(A)
    assert_allclose(sum(parts.values()), scores, atol=1e-12 * np.abs(scores).max() * 10)
    for subset, part in parts.items():
        expected = np.zeros(30)
        for term in design.terms:
            views = [design.views[b] for b in term]
            if set(subset) <= set(views):
                machine = [A[b] for b in term], [views.index(v) for v in subset]
                rows = rows_of(VIEWS, views)
                expected += [literal.subset_contribution(x, *machine) for x in rows]
        assert_allclose(part, expected, atol=1e-10)
        assert np.shape(weights[subset]) == tuple(WIDTHS[v] for v in subset)
        product = np.ones((30, 1))
        for v in subset:
            product = (product[:, :, None] * VIEWS[v][:, None, :]).reshape(30, -1)
        assert_allclose(part, product @ np.ravel(weights[subset]), atol=1e-10)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_decompose_sums_to_the_decision(n_classes):
    views, y = toy_views(2, widths=WIDTHS, n_classes=n_classes)
    X = MultiView(dict(zip("abc", views, strict=True)))
    model = MVMClassifier(4, random_state=0).fit(X, y)
    parts, scores = model.decompose(X), model.decision_function(X)
    assert list(parts)[:3] == [(), ("a",), ("b",)] and len(parts) == 8
    assert list(parts)[-1] == ("a", "b", "c")
    assert_allclose(sum(parts.values()), scores, rtol=1e-12, atol=1e-12)
    weights = model.order_weights()
    assert len(weights) == 7 and set(weights) < set(parts)
    shape = () if n_classes == 2 else (3,)
    assert np.shape(weights[()]) == shape
    assert weights[("a", "c")].shape == (*shape, 3, 2)
    assert_allclose(views[1] @ weights[("b",)].T, parts[("b",)], atol=1e-10)
    assert model.n_parameters == 4 * (3 + 4 + 2 + 3) * (1 if n_classes == 2 else 3)


def test_guards_of_size(monkeypatch):
    monkeypatch.setattr(mvm_model, "MOST_NUMBERS", 100)
    model = MVMClassifier(2, max_iter=5, random_state=0)
    with pytest.warns(ConvergenceWarning):
        model.fit(VIEWS, Y)
    with pytest.raises(ValueError, match="30 samples.*8 subsets"):
        model.decompose(VIEWS)
    model.decompose([view[:12] for view in VIEWS])
    assert len(model.order_weights(max_order=2)) == 7
    monkeypatch.setattr(mvm_model, "MOST_NUMBERS", 50)
    with pytest.raises(ValueError, match="max_order=3"):
        model.order_weights(max_order=3)


# ------------------------------------------------------------------ the estimators


def test_more_than_two_classes_are_taken_one_against_the_rest():
    views, y = toy_views(1, widths=WIDTHS, n_classes=3)
    model = MVMClassifier(4, tol=1e-6, random_state=0).fit(views, y)
    assert [A.shape for A in model.factors_] == [(3, d + 1, 4) for d in WIDTHS]
    scores = model.decision_function(views)
    for c in range(3):
        machine = [A[c] for A in model.factors_]
        expected = [literal.score(x, machine) for x in rows_of(views)]
        assert_allclose(scores[:, c], expected, atol=1e-10)
        objective = objective_of(views, np.where(y == c, 1.0, -1.0), 4, alpha=1e-3)
        assert_allclose(objective.value(machine), model.loss_curve_[c][-1], rtol=1e-10)
    assert model.n_iter_ == max(len(curve) - 1 for curve in model.loss_curve_)


def test_probabilities():
    """Of three classes also where 1 / (1 + e^800) is 0 in floating point, and 0 / 0 nothing."""
    for cls in (MVMClassifier, FMClassifier):
        views, y = toy_views(1, widths=WIDTHS)
        model = cls(4, random_state=0).fit(views, y)
        f = model.decision_function(views)
        assert_allclose(model.predict_proba(views), np.column_stack([expit(-f), expit(f)]))
        views, y = toy_views(1, widths=WIDTHS, n_classes=3)
        model = cls(4, random_state=0).fit(views, y)
        one = expit(model.decision_function(views))
        assert_allclose(model.predict_proba(views), one / one.sum(axis=1, keepdims=True))
        with patch.object(model, "_scores", lambda X: np.array([[-800.0, -801.0, -900.0]])):
            p = model.predict_proba(views)
        assert_allclose(p, [[1 / (1 + np.exp(-1)), np.exp(-1) / (1 + np.exp(-1)), 0]], atol=1e-12)
    assert not hasattr(MVMClassifier(loss="squared_hinge"), "predict_proba")
    with pytest.raises(AttributeError) as refused:
        MVMClassifier(loss="squared_hinge").fit(views, y).predict_proba(views)
    told = str(refused.value.__cause__)
    assert "got loss='squared_hinge'." in told and "CalibratedClassifierCV" in told


def test_one_group_of_all_views_is_the_default():
    expected = MVMClassifier(2, random_state=0).fit(VIEWS, Y).decision_function(VIEWS)
    for groups in ([[0, 1, 2]], [["view_2", "view_0", -2]]):
        model = MVMClassifier(2, groups=groups, random_state=0).fit(VIEWS, Y)
        assert_array_equal(model.decision_function(VIEWS), expected)


def test_groups_leave_out_other_interactions():
    views, y = planted(4)
    pairs = [list(pair) for pair in itertools.combinations(range(4), 2)]
    for shared in (True, False):
        model = MVMClassifier(4, groups=pairs, shared_factors=shared, random_state=0).fit(views, y)
        assert model.score(views, y) >= 0.99
        assert max(len(subset) for subset in model.decompose(views)) == 2
        assert_allclose(sum(model.decompose(views).values()), model.decision_function(views))
    only = MVMClassifier(4, groups=[[0, 2], [1, 3]], random_state=0).fit(views, y)
    assert only.score(views, y) < 0.9  # the interaction is between views 0 and 1


def test_pickle_in_a_stream_and_names_of_views():
    X = MultiView(dict(zip("abc", VIEWS, strict=True)))
    model = MVMClassifier(2, solver="sgd", max_iter=5, groups=[["a", "b"], ["c"]], random_state=0)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, Y)
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.decision_function(X), model.decision_function(X))
    turned = X.select(["c", "a", "b"])
    assert_array_equal(again.decision_function(turned), model.decision_function(X))
    for one in (model, again):
        one.partial_fit(X, Y)
    assert_array_equal(again.decision_function(X), model.decision_function(X))


def test_progress_bar(capsys):
    MVMClassifier(2, verbose=1, random_state=0).fit(VIEWS, Y)
    assert "lbfgs" in capsys.readouterr().err
    MVMClassifier(2, random_state=0).fit(VIEWS, Y)
    assert capsys.readouterr().err == ""


def test_wrong_streams():
    for model, message in (
        (MVMClassifier(), "solver='lbfgs'"),
        (MVMRegressor(solver="sgd", early_stopping=True), "early_stopping=True"),
        (MVMClassifier(solver="sgd", n_init=2), "n_init=2"),
    ):
        with pytest.raises(AttributeError, match="partial_fit") as refused:
            model.partial_fit(VIEWS, Y)
        assert message in str(refused.value.__cause__)
    model = MVMClassifier(solver="sgd")
    with pytest.raises(ValueError, match="classes"):
        model.partial_fit(VIEWS, Y)
    model.partial_fit(VIEWS, Y, classes=[-1, 1])
    with pytest.raises(ValueError, match=r"\[2.0\].*classes"):
        model.partial_fit(VIEWS, np.r_[2.0, Y[1:]])
    with pytest.raises(ValueError, match="classes.*first call"):
        model.partial_fit(VIEWS, Y, classes=[0, 1])
    with pytest.raises(ValueError, match="views"):
        model.partial_fit(VIEWS[:2], Y)
