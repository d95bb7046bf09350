"""Support tensor machines: quadratic programs, explicit tensors, the linear SVM; the API."""

from functools import reduce

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, LinearSVC

from mvref import MultiView
from mvref.datasets import make_interactions
from mvref.rivals.stm import STMClassifier, product_kernel, rank_one_machine
from tests.literal import hide, hinge_dual, toy_views

WIDTHS = (3, 4, 2)
VIEWS, Y = toy_views(0, m=60, widths=WIDTHS, noise=1.5)
FLAT, SIGNS = np.hstack(VIEWS), np.where(Y == 1, 1.0, -1.0)
THREE, Y3 = toy_views(1, m=90, widths=WIDTHS, n_classes=3, noise=1.0)
NAMES = np.array(["ant", "bee", "cat"])


def planted(n_views, n=400, rank=1, noise=0.05, **options):
    """Views and labels of a pure product of all views."""
    data = make_interactions(n, n_views, rank=rank, noise=noise, random_state=0, **options)
    return data.X.views, data.y


def product_of_scores(views, w, b):
    """f = prod_v w_v'x_v + b, sample by sample."""
    samples = zip(*views, strict=True)
    return np.array([np.prod(list(map(np.dot, w, sample))) + b for sample in samples])


def rank_one_objective(views, y, w, b, C):
    """C: a number, or one per sample."""
    s = product_of_scores(views, w, b)
    squared_norm = np.prod([w_v @ w_v for w_v in w])
    return (squared_norm + b**2) / 2 + (C * np.maximum(0, 1 - y * s)).sum()


def tensor_features(views):
    """All products of one feature per view."""
    samples = zip(*views, strict=True)
    return np.array([np.ravel(reduce(np.multiply.outer, sample)) for sample in samples])


# ------------------------------------------------------------------ rank one


@settings(max_examples=12)
@given(st.integers(0, 10_000), st.sampled_from([2, 3, 4]), st.sampled_from([0.1, 1.0, 10.0]))
def test_the_objective_never_rises_and_is_what_it_says(seed, n_views, C):
    rng = np.random.RandomState(seed)
    views = [rng.normal(size=(80, 3)) for _ in range(n_views)]
    y = np.where(rng.uniform(size=80) < 0.3, 1.0, -1.0)
    learnt = rank_one_machine(views, y, C=C, tol=1e-4, max_iter=30, rng=rng)
    assert learnt.curve[0] == C * 80  # f = 0
    assert (np.diff(learnt.curve) < 0).all() and len(learnt.curve) > 1
    value = rank_one_objective(views, y, learnt.w, learnt.b, C)
    assert_allclose(value, learnt.curve[-1], rtol=1e-10)


@pytest.mark.parametrize("C", [0.1, 1.0, 5.0])
@pytest.mark.parametrize("n_views", [2, 3])
def test_no_view_alone_can_do_better(n_views, C):
    """Every block is the linear SVM on t_i x_i / eta^(1/2), solved here as a quadratic program."""
    views, y = planted(n_views, n=120)
    y = np.where(y == 1, 1.0, -1.0)
    rng = np.random.RandomState(1)
    learnt = rank_one_machine(views, y, C=C, tol=1e-9, max_iter=500, rng=rng)
    assert np.prod([np.linalg.norm(w) for w in learnt.w]) > 0.1
    for v in range(n_views):
        others = [(views[u], learnt.w[u]) for u in range(n_views) if u != v]
        eta = np.prod([w_u @ w_u for _, w_u in others])
        t = np.prod([view @ w_u for view, w_u in others], axis=0)
        weights, _ = hinge_dual(t[:, None] * views[v] / np.sqrt(eta), y, C, 1.0)
        best = list(learnt.w)
        best[v] = weights[:-1] / np.sqrt(eta)
        least = rank_one_objective(views, y, best, weights[-1], C)
        assert least <= learnt.curve[-1] * (1 + 1e-9)
        assert_allclose(learnt.curve[-1], least, rtol=1e-4)


def test_a_step_is_not_taken_where_the_solver_is_coarse(monkeypatch):
    """Monotone even if the linear SVM stops after two passes, and then not called converged."""
    monkeypatch.setattr("mvref.rivals.stm.SVM_ITER", 2)
    views, y = planted(3)
    model = STMClassifier(C=10.0, max_iter=20, n_init=1, random_state=0)
    with pytest.warns(ConvergenceWarning, match="STMClassifier .*reduce C=10") as caught:
        model.fit(views, y)
    assert caught[0].filename == __file__
    assert (np.diff(model.objective_curve_) < 0).all()


def test_is_a_multi_view_machine_with_one_factor_and_zero_bias_rows():
    """M9, by Eq. (9): sum_f prod_v z_v'a_vf with the constant of z_v last."""
    model = STMClassifier(random_state=0).fit(VIEWS, Y)
    A = [np.vstack([w_v[:, None], [[0.0]]]) for w_v in model.coef_]
    S = [np.c_[view, np.ones(60)] @ A_v for view, A_v in zip(VIEWS, A, strict=True)]
    scores = model.decision_function(VIEWS)
    assert_allclose(scores, np.prod(S, axis=0).sum(axis=1) + model.intercept_, atol=1e-10)
    expected = product_of_scores(VIEWS, model.coef_, model.intercept_)
    assert_allclose(scores, expected, atol=1e-10)
    norms = [np.linalg.norm(w_v) for w_v in model.coef_]
    assert norms[0] > 0.1
    assert_allclose(norms, norms[0])


@pytest.mark.parametrize("C", [0.1, 1.0])
def test_one_view_is_the_linear_svm(C):
    model = STMClassifier(C=C, random_state=0).fit(FLAT, Y)
    svm = LinearSVC(loss="hinge", C=C, tol=1e-9, max_iter=10_000_000, random_state=0)
    svm.fit(FLAT, Y)
    assert_allclose(model.coef_[0], svm.coef_[0], atol=1e-3)
    assert_allclose(model.intercept_, svm.intercept_[0], atol=1e-3)
    hinge = np.maximum(0, 1 - SIGNS * svm.decision_function(FLAT)).sum()
    least = (svm.coef_[0] @ svm.coef_[0] + svm.intercept_[0] ** 2) / 2 + C * hinge
    assert_allclose(model.objective_curve_[-1], least, rtol=1e-5)


def halves(n_views, **options):
    """A noiseless problem: 600 samples to train on, 300 to test on."""
    views, y = planted(n_views, n=900, noise=0.0, **options)
    train, test = ([view[part] for view in views] for part in (slice(600), slice(600, None)))
    return (train, y[:600]), (test, y[600:])


@pytest.mark.parametrize("n_views", [2, 3])
def test_a_planted_product_is_found(n_views):
    train, test = halves(n_views)
    model = STMClassifier(C=10.0, random_state=0).fit(*train)
    assert model.score(*test) > 0.96
    w = np.array([w_v / np.linalg.norm(w_v) for w_v in model.coef_])
    truth = make_interactions(900, n_views, rank=1, random_state=0).meta["planted"].weights
    cosines = [w_v @ W[:, 0] / np.linalg.norm(W) for w_v, W in zip(w, truth, strict=True)]
    assert_allclose(np.abs(cosines), 1.0, atol=0.02)
    assert np.prod(cosines) > 0


def test_the_best_start_is_kept():
    """Some starts end in a bad local minimum; the least objective is what the model has."""
    views, y = planted(5, n=600)
    model = STMClassifier(n_init=8, random_state=0).fit(views, y)
    assert model.objectives_.shape == (8,)
    assert model.objective_curve_[-1] == model.objectives_.min()
    assert model.objectives_.max() > 1.2 * model.objectives_.min()


def test_nothing_to_learn_is_a_constant():
    """Views of zeros: the product is 0 for all weights."""
    model = STMClassifier(random_state=0).fit([0 * view for view in VIEWS], np.arange(60) < 45)
    assert_array_equal(model.predict(VIEWS), np.full(60, True))
    assert all(np.isfinite(w).all() for w in model.coef_)


# ------------------------------------------------------------------ product kernel


def test_product_kernel_is_the_inner_product_of_tensors():
    F = tensor_features(VIEWS)
    assert_allclose(product_kernel(VIEWS, VIEWS), F @ F.T, rtol=1e-12, atol=1e-10)
    csr = [sparse.csr_matrix(view) for view in VIEWS]
    assert_allclose(product_kernel(csr, [csr[0], *VIEWS[1:]]), F @ F.T, rtol=1e-12, atol=1e-10)


@pytest.mark.parametrize("C", [0.1, 10.0])
@pytest.mark.parametrize("views", [[view / 2 for view in VIEWS], [FLAT]], ids=["three", "one"])
def test_product_is_the_svm_on_all_products_of_features(views, C):
    """With one view, the linear SVM."""
    model = STMClassifier("product", C=C, tol=1e-8).fit(views, Y)
    F = tensor_features(views)
    svm = SVC(kernel="linear", C=C, tol=1e-8, random_state=0).fit(F, Y)
    new = [view[::-1] + 0.3 for view in views]
    expected = svm.decision_function(tensor_features(new))
    assert_allclose(model.decision_function(new), expected, atol=1e-5)
    W, b = svm.coef_[0], svm.intercept_[0]
    least = W @ W / 2 + C * np.maximum(0, 1 - SIGNS * (F @ W + b)).sum()
    assert_allclose(model.objective_curve_, [least], rtol=1e-6)
    assert len(model.support_) == len(svm.support_) < 60


@pytest.mark.parametrize("C", [0.1, 1.0])
def test_any_rank_fits_better_than_rank_one(C):
    """The convex problem bounds the other from below: |W| = prod |w_v|, and b goes free."""
    views, y = planted(2, rank=2)
    one = STMClassifier(C=C, random_state=0).fit(views, y)
    any_rank = STMClassifier("product", C=C, tol=1e-6).fit(views, y)
    assert any_rank.objective_curve_[-1] < one.objective_curve_[-1]


def test_rank_two_is_beyond_rank_one():
    train, test = halves(2, rank=2)
    assert STMClassifier("product").fit(*train).score(*test) > 0.93
    assert STMClassifier(random_state=0).fit(*train).score(*test) < 0.85


# ------------------------------------------------------------------ both


def test_classes_of_rank_one_against_the_rest():
    """Each with random starts of its own; the product is in the tests of all methods."""
    model = STMClassifier(C=0.5, n_init=3, random_state=0).fit(THREE, NAMES[Y3])
    scores = model.decision_function(THREE)
    for k, b in enumerate(model.intercept_):
        w = [w_v[k] for w_v in model.coef_]
        assert_allclose(scores[:, k], product_of_scores(THREE, w, b), atol=1e-10)
        value = rank_one_objective(THREE, np.where(Y3 == k, 1.0, -1.0), w, b, 0.5)
        assert_allclose(value, model.objectives_[k].min(), rtol=1e-10)
        assert_allclose(value, model.objective_curve_[k][-1], rtol=1e-10)
    assert scores.shape == (90, 3)
    assert_array_equal(model.predict(THREE), NAMES[scores.argmax(axis=1)])


def test_a_second_fit_forgets_the_first():
    """Also with the other kernel."""
    used = STMClassifier("product", C=0.1, n_init=2, random_state=0).fit(THREE, Y3)
    used.set_params(kernel="rank_one").fit(VIEWS, Y)
    fresh = STMClassifier(C=0.1, n_init=2, random_state=0).fit(VIEWS, Y)
    assert set(vars(used)) == set(vars(fresh))
    assert_array_equal(used.decision_function(VIEWS), fresh.decision_function(VIEWS))


# ------------------------------------------------------------------ weights, gaps


STEPS = {"n_init": 2, "max_iter": 2, "tol": 1e-12, "random_state": 0}  # two sweeps, all exact


@pytest.fixture
def exact_steps(monkeypatch):
    monkeypatch.setattr("mvref.rivals.stm.SVM_TOL", 1e-11)
    monkeypatch.setattr("mvref.rivals.stm.GAP_SHARE", 0.0)


@pytest.mark.filterwarnings("ignore:STMClassifier did not converge")
@pytest.mark.parametrize("kernel", ["rank_one", "product"])
def test_a_weight_is_a_number_of_copies(kernel, exact_steps):
    """Every step of every start; and the objective as it is written."""
    w = np.random.default_rng(0).integers(0, 4, size=60)
    views, y = [np.repeat(view, w, axis=0) for view in VIEWS], np.repeat(Y, w)
    weighted, copies, plain = (STMClassifier(kernel, C=0.1, **STEPS) for _ in range(3))
    weighted.fit(VIEWS, Y, sample_weight=w)
    expected = copies.fit(views, y).decision_function(VIEWS)
    assert_allclose(weighted.decision_function(VIEWS), expected, atol=1e-7)
    assert_allclose(weighted.objective_curve_, copies.objective_curve_, rtol=1e-8)
    assert np.abs(plain.fit(VIEWS, Y).decision_function(VIEWS) - expected).max() > 0.01
    if kernel == "rank_one":
        assert_allclose(weighted.objectives_, copies.objectives_, rtol=1e-8)
        value = rank_one_objective(VIEWS, SIGNS, weighted.coef_, weighted.intercept_, 0.1 * w)
        assert_allclose(value, weighted.objective_curve_[-1], rtol=1e-10)


@pytest.mark.parametrize("kernel", ["rank_one", "product"])
def test_the_score_of_a_sample_that_lacks_a_view_is_the_constant(kernel):
    """A product is 0 for it."""
    observed = np.ones((60, 3), dtype=bool)
    observed[np.arange(20, 60), np.arange(20, 60) % 3] = False
    X = MultiView(hide(VIEWS, observed))
    model = STMClassifier(kernel, n_init=1, random_state=0)
    scores = model.fit(X, Y).decision_function(X)
    assert np.ptp(scores[:20]) > 0.1
    assert_allclose(scores[20:], model.intercept_)
