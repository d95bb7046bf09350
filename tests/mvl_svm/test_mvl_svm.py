"""MVL-SVM against exact solutions of Eq. (3), and its invariances."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.metrics.pairwise import linear_kernel

from mvref import MVLSVM, LandmarkProjection, MultiView
from mvref.datasets import load_iris_views
from mvref.mvl_svm import block_sparse_norms
from tests import literal
from tests.literal import hide, hinge_dual, primal_objective, random_pattern, toy_views, weights_of

TIGHT = {"tol": 1e-10, "max_iter": 10_000_000}
WIDTHS = (4, 2, 3)
VIEWS, Y = toy_views(0, m=60, widths=WIDTHS, noise=1.0)
THREE, Y3 = toy_views(1, m=90, widths=WIDTHS, n_classes=3, noise=1.0)
seeds = st.integers(0, 2**31)
costs = st.floats(-2, 3).map(lambda e: 10**e)


def random_problem(number):
    """Problem `number` of 20: sizes, noise and c vary, c from 1e-2 to 1e4."""
    rng = np.random.default_rng(number)
    m = int(rng.integers(30, 81))
    widths = rng.integers(1, 6, size=rng.integers(1, 5))
    views, y = toy_views(number, m=m, widths=widths, noise=rng.uniform(0.5, 1.5))
    L = int(rng.integers(3, m // 2))
    return views, y, L, 10 ** (-2 + 6 * number / 19)


# ------------------------------------------------------------------ the optimum of Eq. (3)


@pytest.mark.parametrize("B", [1.0, 0.0, 5.0])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("number", range(20))
def test_the_optimum_is_that_of_another_solver(number, loss, B):
    """Of cvxopt, or of L-BFGS: the default tolerance reaches the objective, a tight one theta."""
    views, y, L, c = random_problem(number)
    options = {"c": c, "loss": loss, "fit_intercept": B > 0, "intercept_scaling": B or 1.0}
    model = MVLSVM(L, random_state=number, **options).fit(views, y)
    Phi, signs, C = model.projection_.transform(views), 2.0 * y - 1, c / len(y)
    if loss == "hinge":
        exact, alpha = hinge_dual(Phi, signs, C, B)
    else:
        exact = literal.squared_hinge_minimum(Phi, signs, C, B)
    best = primal_objective(exact, Phi, signs, C, B, loss)
    if loss == "hinge":
        assert best - (alpha.sum() - exact @ exact / 2) < 1e-7 * best  # the oracle's own gap
    reached = primal_objective(weights_of(model), Phi, signs, C, B, loss)
    assert -1e-7 * best <= reached - best <= 1e-4 * best
    model.set_params(**TIGHT).fit(views, y)
    close = {"hinge": 1e-5, "squared_hinge": 1e-4}[loss]
    assert_allclose(weights_of(model), exact, atol=close * np.linalg.norm(exact))


def test_decision_function_by_loops():
    """Eq. (1), sample by sample: f(x) = theta' mu(x) + b."""
    model = MVLSVM(7, random_state=0).fit(VIEWS, Y)
    new = [v + 0.3 for v in VIEWS]
    rows = [np.arange(60, 67)] * 3
    landmarks = model.projection_.landmark_indices_
    stacked = [np.vstack([n, v[landmarks]]) for n, v in zip(new, VIEWS, strict=True)]
    mu = literal.rbf_projection(stacked, rows, [1 / w for w in WIDTHS])[:60]
    f = [sum(mu[i] * model.coef_[0]) + model.intercept_[0] for i in range(60)]
    assert_allclose(model.decision_function(new), f, atol=1e-10)
    assert_array_equal(model.predict(new), [model.classes_[int(s > 0)] for s in f])


# ------------------------------------------------------------------ invariances


@given(seeds, costs, st.integers(2, 4))
def test_identical_views_are_one_view_with_c_times_their_number(seed, c, V):
    """No intercept: theta spreads over the copies and its penalty shrinks by V."""
    options = {"fit_intercept": False, "random_state": seed, **TIGHT}
    many = MVLSVM(10, c=c, **options).fit([VIEWS[0]] * V, Y)
    one = MVLSVM(10, c=c * V, **options).fit([VIEWS[0]], Y)
    f = one.decision_function([VIEWS[0]])
    assert_allclose(many.decision_function([VIEWS[0]] * V), f, atol=1e-6 * (1 + np.abs(f).max()))


@given(st.integers(0, 1000), costs, st.sampled_from([0.0, 1.0]))
def test_strong_duality_and_the_norm_of_theta(seed, c, B):
    """|theta|^2 + (c/m) sum xi = sum alpha <= c; |theta| <= min(sqrt c, c kappa)."""
    views, y = toy_views(seed, m=40, noise=1.0)
    model = MVLSVM(6, c=c, fit_intercept=B > 0, random_state=0, **TIGHT).fit(views, y)
    Phi, signs, C = model.projection_.transform(views), 2.0 * y - 1, c / 40
    theta = weights_of(model)
    Z = literal.with_constant_feature(Phi, B)
    xi = np.maximum(0, 1 - signs * (Z @ theta))
    _, alpha = hinge_dual(Phi, signs, C, B)
    assert_allclose(theta @ theta + C * xi.sum(), alpha.sum(), rtol=2e-5)
    kappa = np.linalg.norm(Z, axis=1).max()
    assert np.linalg.norm(theta) <= min(np.sqrt(c), c * kappa) * (1 + 1e-9)


@given(st.integers(0, 1000), costs)
def test_squared_hinge_duality_and_norm(seed, c):
    """A13: |theta|^2 + (2c/m) sum xi^2 = (2c/m) sum xi; |theta| <= sqrt(c/2)."""
    views, y = toy_views(seed, m=40, noise=1.0)
    model = MVLSVM(6, c=c, loss="squared_hinge", random_state=0, **TIGHT).fit(views, y)
    theta = weights_of(model)
    Z = literal.with_constant_feature(model.projection_.transform(views), 1.0)
    xi = np.maximum(0, 1 - (2.0 * y - 1) * (Z @ theta))
    assert_allclose(theta @ theta + 2 * c / 40 * (xi @ xi), 2 * c / 40 * xi.sum(), rtol=1e-6)
    assert np.linalg.norm(theta) <= np.sqrt(c / 2) * (1 + 1e-9)


@pytest.mark.parametrize("c", [10.0, 100.0, 1000.0])
def test_removing_a_sample_that_is_no_support_vector(c):
    """With c/m kept, samples beyond the margin change nothing; a support vector does."""
    model = MVLSVM(8, c=c, random_state=0, **TIGHT).fit(VIEWS, Y)
    Phi = model.projection_.transform(VIEWS)
    full = weights_of(model)
    margins = (2.0 * Y - 1) * model.decision_function(VIEWS)
    beyond, inside = margins > 1 + 1e-4, margins < 1 - 1e-4
    assert beyond.sum() >= 3 and inside.any()
    model.fit_latent(Phi[~beyond], Y[~beyond], m=60)
    assert_allclose(weights_of(model), full, atol=1e-5 * np.linalg.norm(full))
    without_one = np.arange(60) != np.flatnonzero(inside)[0]
    model.fit_latent(Phi[without_one], Y[without_one], m=60)
    assert np.abs(weights_of(model) - full).max() > 1e-3


def test_c_is_the_weight_of_the_mean_loss():
    """`m` is only the divisor of c."""
    model = MVLSVM(8, c=30.0, random_state=0, **TIGHT).fit(VIEWS, Y)
    Phi = model.projection_.transform(VIEWS)
    same = clone(model).set_params(c=60.0).fit_latent(Phi, Y, m=120)
    assert_allclose(weights_of(same), weights_of(model), atol=1e-6)


def test_the_intercept_is_penalised():
    """A5 of the errata: with constant views f is b alone, which |b|/B < |free b| shows."""
    constant = [np.ones((30, 1))]
    y = (np.arange(30) < 20).astype(int)
    for B in (0.1, 1.0):
        model = MVLSVM(1, c=0.5, kernel=zero, intercept_scaling=B, random_state=0, **TIGHT)
        model.fit(constant, y)
        # dual: all alpha at the box, w = B (c/m) (20 - 10), b = B w
        assert_allclose(model.intercept_, [B**2 * 0.5 * 10 / 30], atol=1e-8)
    no_b = clone(model).set_params(fit_intercept=False).fit(constant, y)
    assert_array_equal(no_b.intercept_, [0.0])


def zero(A, B):
    return np.zeros((A.shape[0], B.shape[0]))


# ------------------------------------------------------------------ missing views


@pytest.mark.parametrize(
    "options",
    [{"ridge": 0.1}, {"ridge": 0}, {"ridge": 0.1, "keep_known": False}, {"clip": None}],
    ids=["default", "least squares", "keep nothing", "no clip"],
)
def test_predictions_with_pattern_grouping_equal_row_by_row(options):
    """The model on gaps equals the same SVM on row-by-row imputed projections."""
    observed = random_pattern(0, 60, 3, n_complete=10)
    X = MultiView(hide(VIEWS, observed))
    model = MVLSVM(8, c=50.0, random_state=0, **options, **TIGHT).fit(X, Y)
    rows = model.projection_.landmark_indices_
    raw = literal.rbf_projection(VIEWS, [rows] * 3, [1 / w for w in WIDTHS])
    raw[np.repeat(~observed, 8, axis=1)] = np.nan
    P = raw[rows]
    keep = options.get("keep_known", True)
    Phi = literal.impute_row_by_row(raw, P, options.get("ridge", 0.1), keep)
    if "clip" not in options:
        Phi = np.where(np.isnan(raw) | (not keep), np.clip(Phi, 0, 1), raw)
    twin = clone(model).fit_latent(Phi, Y)
    f = Phi @ twin.coef_[0] + twin.intercept_
    assert_allclose(model.decision_function(X), f, atol=1e-5)
    assert_array_equal(model.predict(X), (f > 0).astype(int))


def test_accuracy_survives_missing_views():
    """Not a number of the paper: only that imputation does not destroy the signal."""
    views, y = toy_views(5, m=300, widths=(6, 6, 6), noise=0.8)
    X = MultiView(views).drop_views(0.3, random_state=0)
    train, test = np.arange(200), np.arange(200, 300)
    model = MVLSVM(50, c=10.0, random_state=0)
    full = model.fit(MultiView(views)[train], y[train]).score(MultiView(views)[test], y[test])
    some = model.fit(X[train], y[train]).score(X[test], y[test])
    assert full > 0.9 and full - 0.2 < some


# ------------------------------------------------------------------ kernels


def test_all_samples_as_landmarks_of_a_linear_kernel_is_a_linear_model():
    """f is then linear in every view: midpoints get the mean of the scores."""
    model = MVLSVM(60, kernel=linear_kernel, c=1.0, random_state=0).fit(VIEWS, Y)
    middle = [(v[:30] + v[30:]) / 2 for v in VIEWS]
    f = model.decision_function(VIEWS)
    assert_allclose(model.decision_function(middle), (f[:30] + f[30:]) / 2, atol=1e-9)


# ------------------------------------------------------------------ landmarks by block sparsity


def signs_of(codes):
    """Columns of +-1, one per problem: a single one for two classes."""
    n_classes = codes.max() + 1
    return np.where(codes[:, None] == (np.arange(n_classes) if n_classes > 2 else 1), 1.0, -1.0)


@pytest.mark.parametrize("B", [1.0, 0.0, 3.0])
@pytest.mark.parametrize(("views", "codes"), [(VIEWS, Y), (THREE, Y3)], ids=["2", "3"])
def test_block_sparsity_reaches_the_minimum(views, codes, B):
    """Many rounds end at the minimum that proximal gradient steps find."""
    Phi = LandmarkProjection(9, random_state=0).fit_transform(views)
    c = 20.0
    options = {"n_rounds": 100, "intercept_scaling": B, "tol": 1e-8}
    norms, objective = block_sparse_norms(Phi, codes, c, 9, **options)
    expected, best = literal.block_sparse_minimum(Phi, signs_of(codes), c / len(codes), 9, B)
    assert_allclose(objective[-1], best, rtol=1e-4)
    assert_allclose(norms, expected, atol=0.02 * expected.max())
    assert (expected == 0).any() and (expected > 0).any()  # the problem is a sparse one


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@given(st.integers(0, 1000), costs)
def test_block_sparsity_never_increases_its_objective(seed, c):
    views, y = toy_views(seed, m=40, noise=1.0)
    Phi = LandmarkProjection(6, random_state=seed).fit_transform(views)
    norms, objective = block_sparse_norms(Phi, y, c, 6, tol=1e-8)
    assert norms.shape == (6,) and (norms >= 0).all()
    assert (np.diff(objective) <= 1e-5 * np.array(objective[:-1])).all()


@pytest.mark.parametrize("c", [20.0, 1e4, 1e6])
def test_block_sparsity_never_rises(c):
    """With liblinear, which stops early for a large c/m, a round could raise the objective."""
    Phi = LandmarkProjection(12, random_state=0).fit_transform(VIEWS)
    norms, objective = block_sparse_norms(Phi, Y, c, 12, n_rounds=12)
    assert (np.diff(objective) <= 1e-6 * np.abs(objective[:-1])).all()
    assert objective[-1] < 0.99 * objective[0]
    assert (norms >= 0).all()


def test_selected_landmarks_are_the_largest_blocks():
    model = MVLSVM(20, n_selected=6, c=30.0, random_state=0).fit(VIEWS, Y)
    full = LandmarkProjection(20, random_state=0).fit(VIEWS)
    norms, _ = block_sparse_norms(full.transform(VIEWS), Y, 30.0, 20)
    largest = np.argsort(norms)[-6:]
    assert set(model.projection_.landmark_indices_) == set(full.landmark_indices_[largest])
    assert model.coef_.shape == (1, 18)
    assert np.isfinite(model.decision_function(VIEWS)).all()
    rows = model.projection_.landmark_indices_
    chosen = MVLSVM(landmarks=rows, c=30.0, random_state=0, **TIGHT).fit(VIEWS, Y)
    model.set_params(**TIGHT).fit_latent(model.projection_.transform(VIEWS), Y)
    assert_allclose(model.decision_function(VIEWS), chosen.decision_function(VIEWS), atol=1e-6)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("c", [1.0, 1000.0])
def test_selection_with_default_options_does_not_warn(c):
    """Its inner solver is no parameter: a user can do nothing about it."""
    MVLSVM(20, n_selected=6, c=c, loss="squared_hinge", random_state=0).fit(VIEWS, Y)


def test_selection_with_missing_views():
    X = MultiView(hide(VIEWS, random_pattern(0, 60, 3, n_complete=25)))
    model = MVLSVM(20, n_selected=6, c=30.0, random_state=0).fit(X, Y)
    assert model.score(X, Y) > 0.7


# ------------------------------------------------------------------ state, seeds, warnings


def test_fit_latent_keeps_the_projection():
    """Whose landmarks are those that it draws alone with the same seed."""
    model = MVLSVM(10, random_state=7).fit(VIEWS, Y)
    before = model.projection_
    alone = LandmarkProjection(10, random_state=7).fit(VIEWS)
    assert_array_equal(alone.landmark_indices_, before.landmark_indices_)
    Phi = before.transform(VIEWS)
    assert model.fit_latent(Phi, Y) is model
    assert model.projection_ is before
    assert_allclose(model.decision_function(VIEWS), Phi @ model.coef_[0] + model.intercept_[0])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_defaults_fit_real_data_without_a_warning(loss):
    data = load_iris_views()
    assert MVLSVM(loss=loss, random_state=0).fit(data.X, data.y).score(data.X, data.y) > 0.95


# ------------------------------------------------------------------ weights


def copied(seed, y):
    """Integer weights, some 0, and the rows that they stand for."""
    w = np.random.default_rng(seed).integers(0, 4, size=len(y))
    w[:10] = 1 + w[:10] % 3  # rows that are landmarks
    return w, np.repeat(np.arange(len(y)), w)


def chosen(rows):
    """Positions in `rows` of the first copies of 0 .. 9."""
    return np.array([np.flatnonzero(rows == i)[0] for i in range(10)])


@pytest.mark.parametrize("B", [1.0, 0.0])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("seed", range(4))
def test_the_weighted_optimum_is_that_of_copies_by_another_solver(seed, loss, B):
    w, rows = copied(seed, Y)
    options = {"c": 10.0**seed, "loss": loss, "fit_intercept": B > 0, **TIGHT}
    present = np.flatnonzero(w)
    model = MVLSVM(landmarks=np.searchsorted(present, np.arange(10)), random_state=0, **options)
    model.fit(VIEWS, Y, sample_weight=w)
    Phi = model.projection_.transform([v[rows] for v in VIEWS])
    signs, C = 2.0 * Y[rows] - 1, 10.0**seed / len(rows)
    exact = (
        hinge_dual(Phi, signs, C, B)[0]
        if loss == "hinge"
        else literal.squared_hinge_minimum(Phi, signs, C, B)
    )
    best = primal_objective(exact, Phi, signs, C, B, loss)
    assert_allclose(primal_objective(weights_of(model), Phi, signs, C, B, loss), best, rtol=1e-7)
    assert_allclose(weights_of(model), exact, atol=1e-4 * np.linalg.norm(exact))


@pytest.mark.parametrize("n_selected", [None, 4])
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize(("views", "y"), [(VIEWS, Y), (THREE, Y3)], ids=["2", "3"])
def test_a_weight_is_a_number_of_copies(views, y, missing, n_selected):
    """Of the same landmarks."""
    w, rows = copied(5, y)
    X = MultiView(hide(views, random_pattern(3, len(y), 3, n_complete=10)) if missing else views)
    options = {"n_selected": n_selected, "c": 20.0, "random_state": 0, **TIGHT}
    weighted = MVLSVM(landmarks=np.arange(10), **options).fit(X, y, sample_weight=w)
    repeated = MVLSVM(landmarks=chosen(rows), **options).fit(X[rows], y[rows])
    expected = repeated.decision_function(X)
    assert_allclose(weighted.decision_function(X), expected, atol=1e-5)
    plain = MVLSVM(landmarks=np.arange(10), **options).fit(X, y)
    assert np.abs(plain.decision_function(X) - expected).max() > 0.01


@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_fit_latent_takes_weights(class_weight):
    """The same as in fit; rows of weight 0 are not learnt from, nor is a class of them."""
    w, rows = copied(4, Y)
    labels = np.where(w == 0, 2, Y)
    options = {"c": 5.0, "random_state": 0, "class_weight": class_weight, **TIGHT}
    model = MVLSVM(landmarks=np.arange(10), **options).fit(VIEWS, Y)
    Phi = model.projection_.transform(VIEWS)
    weighted = clone(model).fit_latent(Phi, labels, sample_weight=w)
    assert_array_equal(weighted.classes_, [0, 1])
    repeated = clone(model).fit_latent(Phi[rows], Y[rows])
    assert_allclose(weighted.coef_, repeated.coef_, atol=1e-6)
    assert_allclose(weighted.intercept_, repeated.intercept_, atol=1e-6)
    assert_array_equal(clone(model).fit_latent(Phi, Y).coef_.round(6), model.coef_.round(6))
    assert np.abs(model.coef_ - repeated.coef_).max() > 1e-3


def test_block_sparsity_of_weights_is_that_of_copies():
    w, rows = copied(2, Y)
    w = np.maximum(w, 1)
    rows = np.repeat(np.arange(60), w)
    Phi = LandmarkProjection(9, random_state=0).fit_transform(VIEWS)
    options = {"n_rounds": 5, "tol": 1e-10}
    weighted = block_sparse_norms(Phi, Y, 20.0, 9, weights=w.astype(float), **options)
    repeated = block_sparse_norms(Phi[rows], Y[rows], 20.0, 9, **options)
    for mine, expected in zip(weighted, repeated, strict=True):
        assert_allclose(mine, expected, rtol=1e-5, atol=1e-6)
    plain = block_sparse_norms(Phi, Y, 20.0, 9, **options)
    assert abs(plain[1][-1] - repeated[1][-1]) > 0.01


@pytest.mark.parametrize("gamma", [None, "mean"])
def test_all_samples_as_landmarks_do_not_care_for_copies(gamma):
    """Kernels of features have no width that depends on the samples; "mean" counts each once."""
    w, rows = copied(1, Y)
    options = {"c": 1.0, "random_state": 0, "gamma": gamma, **TIGHT}
    if gamma is None:
        weighted = MVLSVM(**options).fit(VIEWS, Y, sample_weight=w)
        repeated = MVLSVM(**options).fit([v[rows] for v in VIEWS], Y[rows])
        assert_allclose(
            weighted.decision_function(VIEWS), repeated.decision_function(VIEWS), atol=1e-6
        )
        return
    distances = [np.linalg.norm(v[:, None] - v, axis=2) for v in VIEWS]
    weighted = MVLSVM(kernel="precomputed", **options).fit(distances, Y, sample_weight=w)
    present = np.flatnonzero(w)
    means = [D[np.ix_(present, present)].mean() for D in distances]
    gammas = [mu.gamma for mu in weighted.projection_.similarities_]
    assert_allclose(gammas, 1 / np.array(means))
