"""MVML: a dense twin that inverts A, closed forms, kernel ridge, group lasso; the API."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import block_diag
from scipy.optimize import minimize

from mvref import MultiView
from mvref.rivals import mvml
from mvref.rivals.mvml import MVML, least_penalty
from mvref.rivals.mvml_descent import Metric, Problem, ViewFactors, learn_metric, shrinkage
from tests.literal import hide, random_pattern, rbf_gram, toy_views

WIDTHS = (3, 4, 2)
VIEWS, Y = toy_views(0, m=60, widths=WIDTHS, noise=1.5)
SIGNS = np.where(Y == 1, 1.0, -1.0)
NEW = [view[::-1] + 0.3 for view in VIEWS]
THREE, Y3 = toy_views(1, m=90, widths=WIDTHS, n_classes=3, noise=1.0)
R = (4, 3, 5)  # widths of the features below


def powers(low, high):
    """Values of lam and eta."""
    return st.floats(low, high).map(lambda log: 10.0**log)


def blocks_of(widths):
    """The rows of every view in the metric."""
    edges = np.cumsum([0, *widths])
    return [slice(a, b) for a, b in zip(edges, edges[1:], strict=False)]


def of_blocks(factors, widths):
    """A number per block, repeated for every entry of the block."""
    return np.repeat(np.repeat(factors, widths, axis=0), widths, axis=1)


def features(n, seed=0):
    """Random features of three views, and labels."""
    rng = np.random.default_rng(seed)
    U = [rng.normal(size=(n, r)) for r in R]
    return U, np.sign(U[0][:, 0] + 0.5 * U[1][:, 1] + 0.3 * rng.normal(size=n))


def problem_of(U, y, lam, eta, sparse, learn_weights=False):
    """The problem, with the rows that MVML would work on."""
    factors = ViewFactors(U, shared=not (sparse or learn_weights))
    short, rest = factors.carried(y)
    return Problem(factors, short, rest, lam, eta, sparse)


def dense_metric(A, U):
    """The metric written down."""
    matrix = block_diag(*(c * u.T @ u for c, u in zip(A.share, U, strict=True)))
    for B, a in zip(A.B, A.terms.T, strict=True):
        p = np.concatenate([turn @ a for turn in A.kernels.turns])
        matrix += of_blocks(B, R) * np.outer(p, p)
    return matrix


def turned(problem, g):
    """g in the coordinates of the features as they were given, view by view."""
    return [turn @ g_v for turn, g_v in zip(problem.kernels.turns, g, strict=True)]


def dense_norms(A, widths=R):
    blocks = blocks_of(widths)
    return np.array([[np.linalg.norm(A[k, j]) for j in blocks] for k in blocks])


def dense_objective(Phi, y, g, A, lam, eta, sparse, widths=R):
    """|y - Phi g|^2 + lam g'A^{-1}g + penalty, as printed."""
    penalty = dense_norms(A, widths).sum() if sparse else np.sum(A**2)
    return np.sum((y - Phi @ g) ** 2) + lam * g @ np.linalg.solve(A, g) + eta * penalty


def printed_descent(U, y, lam, eta, sparse, n_rounds):
    """MVML with A and its inverse written down, and the same search for the step."""
    Phi, widths = np.hstack(U) / len(U), [u.shape[1] for u in U]

    def point(A):
        if np.linalg.eigvalsh(A)[0] <= 0:  # too long; a step that is taken needs no projection here
            return A, None, np.inf
        g = np.linalg.solve(Phi.T @ Phi + lam * np.linalg.inv(A), Phi.T @ y)
        return A, g, dense_objective(Phi, y, g, A, lam, eta, sparse, widths)

    def stepped(A, g, s):
        p = np.linalg.solve(A, g)
        if not sparse:
            mu = s / (1 + 2 * s * eta)
            return (1 - 2 * mu * eta) * A + mu * lam * np.outer(p, p)
        A = A + s * lam * np.outer(p, p)
        return A * of_blocks(np.maximum(0.0, 1 - s * eta / dense_norms(A, widths)), widths)

    A, g, value = point(block_diag(*(u.T @ u for u in U)))
    curve, s = [value], None
    for _ in range(n_rounds):
        p = np.linalg.solve(A, g)
        s = 2 * (np.linalg.norm(A) / (lam * p @ p) if s is None else s)
        while True:
            after = point(stepped(A, g, s))
            if after[2] < value - np.sum((after[0] - A) ** 2) / (4 * s):
                break
            s /= 2
        while (half := point(stepped(A, g, s / 2)))[2] < after[2]:
            after, s = half, s / 2
        A, g, value = after
        curve.append(value)
    return A, g, np.array(curve)


# ------------------------------------------------------------------ the descent


@pytest.mark.parametrize("n", [8, 40])  # fewer rows than features, and more
@pytest.mark.parametrize(("sparse", "eta"), [(False, 0.3), (True, 0.003)])
def test_equals_the_printed_formulas_with_inverses(n, sparse, eta):
    U, y = features(n)
    problem = problem_of(U, y, 0.5, eta, sparse)
    assert len(problem.y) == min(n, 12)
    point, curve = learn_metric(problem, n_rounds=4, tol=1e-12, learn_weights=False)
    A, g, expected = printed_descent(U, y, 0.5, eta, sparse, 4)
    assert len(curve) == 5 and np.isfinite(expected).all()
    assert_allclose(curve, expected, rtol=1e-9)
    assert_allclose(dense_metric(point.A, U), A, rtol=1e-8, atol=1e-8)
    assert_allclose(np.concatenate(turned(problem, point.g)), g, rtol=1e-8, atol=1e-8)
    assert_allclose(point.norms, dense_norms(A), rtol=1e-8, atol=1e-8)


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.booleans(), st.sampled_from([8, 40]), powers(-3, 1), powers(-3, 1))
def test_metric_in_terms_is_the_metric(seed, sparse, n, lam, eta):
    """Norms, products and objective of the sum of terms are those of the matrix, which is psd."""
    U, y = features(n, seed)
    problem = problem_of(U, y, lam, eta, sparse, learn_weights=True)
    point, curve = learn_metric(problem, n_rounds=5, tol=1e-12, learn_weights=True)
    A = dense_metric(point.A, U)
    assert np.linalg.eigvalsh(A)[0] >= -1e-10 * np.abs(A).max()
    assert_allclose(point.norms, dense_norms(A), rtol=1e-8, atol=1e-8 * np.abs(A).max())
    Phi = np.hstack([w * u for w, u in zip(point.w, U, strict=True)])
    inner = np.linalg.solve(Phi @ A @ Phi.T + lam * np.eye(n), y)
    g = A @ Phi.T @ inner
    assert_allclose(np.concatenate(turned(problem, point.g)), g, rtol=1e-6, atol=1e-8)
    penalty = dense_norms(A).sum() if sparse else np.sum(A**2)
    expected = np.sum((y - Phi @ g) ** 2) + lam * g @ (Phi.T @ inner) + eta * penalty
    assert_allclose(curve[-1], expected, rtol=1e-8)


@settings(max_examples=40)
@given(
    lam=powers(-4, 2),
    eta=powers(-4, 2),
    n_components=st.sampled_from([0.15, 0.5, 1.0]),
    sparse=st.booleans(),
    learn_weights=st.booleans(),
)
def test_the_objective_never_rises_and_stays_above_its_bound(**options):
    """The authors' program lets it rise from 3e3 to 7e26 for (lam, eta) = (1e-2, 1)."""
    model = MVML(**options, n_rounds=15, random_state=0).fit(VIEWS, Y)
    curve = model.objective_curve_
    assert (np.diff(curve) < 0).all() and len(curve) == model.n_iter_ + 1
    assert curve[-1] >= model.lower_bound_ * (1 - 1e-12)
    assert np.isfinite(model.decision_function(NEW)).all()


def least_objective(U, y, lam, eta, sparse):
    """The minimum over g and A by L-BFGS: over g, or over the weights of a sum of kernels."""
    Phi = [u / len(U) for u in U]
    if sparse:  # 2 sqrt(lam eta) |g_v| is the minimum over a_v of lam |g_v|^2 / a_v + eta a_v

        def objective(a):
            K = sum(a_v * F @ F.T for a_v, F in zip(a, Phi, strict=True))
            alpha = np.linalg.solve(K + lam * np.eye(len(y)), y)
            slopes = np.array([np.sum((F.T @ alpha) ** 2) for F in Phi])
            return lam * y @ alpha + eta * a.sum(), eta - lam * slopes

        start, options = np.ones(len(U)), {"bounds": [(0, None)] * len(U)}
    else:
        F, c = np.hstack(Phi), 3 * eta ** (1 / 3) * (lam / 2) ** (2 / 3)

        def objective(g):
            error, square = y - F @ g, g @ g + 1e-14
            slope = -2 * F.T @ error + c * (4 / 3) * square ** (-1 / 3) * g
            return error @ error + c * square ** (2 / 3), slope

        start, options = np.ones(F.shape[1]), {}
    limits = {"maxiter": 5000, "maxfun": 20_000, "ftol": 1e-15, "gtol": 1e-9}
    return minimize(objective, start, jac=True, method="L-BFGS-B", options=limits, **options).fun


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(("lam", "eta"), [(0.5, 0.3), (1e-2, 1.0), (1.0, 1e-2)])
def test_all_rounds_reach_the_closed_form_and_six_do_not(lam, eta, sparse):
    """An independent solver of the problem without A bounds the curve, which comes down to it."""
    U, y = features(60, 3)
    problem = problem_of(U, y, lam, eta, sparse)
    least = least_objective(U, y, lam, eta, sparse)
    _, six = learn_metric(problem, n_rounds=6, tol=1e-4, learn_weights=False)
    point, curve = learn_metric(problem, n_rounds=150, tol=1e-9, learn_weights=False)
    assert least * (1 - 1e-7) < curve[-1] < least * (1 + 2e-3)
    assert six[-1] > least * (1 + 1e-4)
    if not sparse:  # rank one, g g' / t
        values = np.linalg.eigvalsh(dense_metric(point.A, U))
        assert values[-1] > 0.95 * values.sum()


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.booleans(), powers(-2, 2), powers(-2, 2))
def test_least_penalty_is_the_infimum(seed, sparse, lam, eta):
    """No metric is below it, and g g' / t + a little comes close."""
    rng = np.random.default_rng(seed)
    g = rng.normal(size=12)
    least = least_penalty([np.linalg.norm(g[k]) for k in blocks_of(R)], lam, eta, sparse)
    zero = np.zeros((1, 12))

    def value(A):
        return dense_objective(zero, np.zeros(1), g, A, lam, eta, sparse)

    for rank in (1, 3, 12):
        F = rng.normal(size=(12, rank))
        A = F @ F.T + np.outer(g, g) * rng.choice([0.0, 10.0]) + 0.1 * np.eye(12)
        assert min(value(scale * A) for scale in np.logspace(-4, 4, 60)) > least
    line = np.outer(g, g) / (g @ g) + 1e-7 * np.eye(12)
    near = min(value(size * line) for size in np.logspace(-5, 5, 800))
    assert_allclose(near, least, rtol=1e-3)


@settings(max_examples=100)
@given(st.integers(0, 10**6), st.integers(1, 5), st.floats(0, 2))
def test_shrinkage_is_psd_and_as_printed_where_that_is_psd(seed, V, threshold):
    rng = np.random.default_rng(seed)
    F = rng.normal(size=(2 * V, 6)) * np.repeat(10.0 ** rng.uniform(-1, 1, V), 2)[:, None]
    norms = dense_norms(F @ F.T, V * [2])
    theta = shrinkage(norms, threshold)
    printed = np.maximum(0, 1 - threshold / norms)
    assert np.linalg.eigvalsh(theta)[0] > -1e-12
    assert (theta <= printed + 1e-12).all() and (theta >= 0).all()
    assert_allclose(np.diag(theta), np.diag(printed), atol=1e-15)
    if np.linalg.eigvalsh(printed)[0] > -1e-14:
        assert_allclose(theta, printed, atol=1e-6)


def test_shrinkage_where_the_printed_factors_are_not_psd():
    norms = np.array([[1.0, 2.9], [2.9, 9.0]])  # of a psd matrix
    printed = 1 - 0.5 / norms
    assert np.linalg.eigvalsh(printed)[0] < -0.01
    theta = shrinkage(norms, 0.5)
    assert_allclose(np.diag(theta), np.diag(printed))
    assert_allclose(theta[0, 1], np.sqrt(theta[0, 0] * theta[1, 1]))


def test_ends_at_the_first_round_that_gains_little():
    long = MVML(n_rounds=40, tol=1e-12).fit(VIEWS, Y).objective_curve_
    gains = 1 - long[1:] / long[:-1]
    first = np.flatnonzero(gains <= 1e-3)[0] + 1
    model = MVML(n_rounds=40, tol=1e-3).fit(VIEWS, Y)
    assert 1 < model.n_iter_ == first < len(long) - 1
    assert_allclose(model.objective_curve_, long[: first + 1])


def test_weights_are_least_squares():
    U, y = features(40)
    problem = problem_of(U, y, 0.1, 0.1, False, learn_weights=True)
    point = problem.solve(Metric.start(problem.kernels), np.full(3, 1 / 3))
    new = problem.reweighted(point)
    Z = np.column_stack(list(map(np.matmul, U, turned(problem, point.g))))
    assert_allclose(Z.T @ (y - Z @ new.w), 0.0, atol=1e-8)
    assert new.value < point.value


@pytest.mark.parametrize("n", [8, 40])
@pytest.mark.parametrize(("lam", "eta"), [(0.5, 0.3), (1e-6, 10.0), (100.0, 1e-4)])
def test_one_factorisation_serves_all_systems(n, lam, eta):
    """As many rounds and terms as rows; Woodbury's formula loses nothing."""
    U, y = features(n)
    ends = []
    for shared in (True, False):
        factors = ViewFactors(U, shared)
        problem = Problem(factors, *factors.carried(y), lam, eta, False)
        point, curve = learn_metric(problem, n_rounds=15, tol=1e-12, learn_weights=False)
        ends.append((curve, point.norms, np.concatenate(turned(problem, point.g))))
    for one, other in zip(*ends, strict=True):
        assert_allclose(one, other, rtol=1e-6, atol=1e-9)


# ------------------------------------------------------------------ special cases


def kernel_of_both(v):
    """The default kernel of view v between all samples, the 60 for training before the new ones."""
    return rbf_gram(np.vstack([VIEWS[v], NEW[v]]), 1 / WIDTHS[v])


@pytest.mark.parametrize("n_views", [1, 3])
def test_before_any_round_it_is_ridge_with_squared_kernels(n_views):
    """Phi A Phi' = sum_v w_v^2 K_v K_v at the start, for new samples too."""
    model = MVML(0.7, n_rounds=0).fit(VIEWS[:n_views], Y)
    tables = [kernel_of_both(v)[:, :60] for v in range(n_views)]
    K = sum(K_v @ K_v[:60] for K_v in tables) / n_views**2
    score = K @ np.linalg.solve(K[:60] + 0.7 * np.eye(60), SIGNS)
    assert_allclose(model.decision_function(VIEWS[:n_views]), score[:60], atol=1e-6)
    assert_allclose(model.decision_function(NEW[:n_views]), score[60:], atol=1e-6)
    assert model.n_iter_ == 0 and len(model.objective_curve_) == 1


@pytest.mark.parametrize("sparse", [False, True])
def test_score_of_new_samples_by_hand(sparse):
    """Nystroem features of the drawn components, the printed descent, and its g."""
    options = {"sparse": sparse, "n_components": 4, "n_rounds": 3, "tol": 1e-12}
    model = MVML(0.5, 0.3, **options, random_state=1).fit(VIEWS, Y)
    U = []
    for v, rows in enumerate(model.components_):
        K = kernel_of_both(v)[:, rows]
        values, vectors = np.linalg.eigh(K[rows])
        U.append(K @ (vectors / np.sqrt(values) @ vectors.T))  # W^{-1/2}
    A, g, curve = printed_descent([u[:60] for u in U], SIGNS, 0.5, 0.3, sparse, 3)
    assert_allclose(model.block_norms_, dense_norms(A, (4, 4, 4)), rtol=1e-6)
    assert_allclose(model.objective_curve_, curve, rtol=1e-8)
    assert_allclose(model.decision_function(NEW), np.hstack(U)[60:] @ g / 3, atol=1e-6)


def test_sparse_drops_every_view_at_the_threshold_of_the_group_lasso():
    """g = 0 is best if and only if |Phi_v'y| <= sqrt(lam eta) for every view."""
    largest = max(SIGNS @ kernel_of_both(v)[:60, :60] @ SIGNS for v in range(3)) / 9
    options = {"sparse": True, "n_rounds": 60, "tol": 1e-12}
    above = MVML(0.5, 1.02**2 * largest / 0.5, **options).fit(VIEWS, Y)
    below = MVML(0.5, 0.98**2 * largest / 0.5, **options).fit(VIEWS, Y)
    assert_array_equal(above.block_norms_, np.zeros((3, 3)))
    assert_array_equal(above.decision_function(NEW), np.zeros(60))
    assert_allclose(above.objective_curve_[-1], 60.0)
    assert (below.block_norms_ > 0).any() and below.objective_curve_[-1] < 60.0


def test_sparse_drops_a_view_of_noise():
    noise = np.random.default_rng(5).normal(size=(60, 3))
    options = {"n_rounds": 30, "kernel": "linear"}
    sparse, dense = (
        MVML(0.1, 1000.0, sparse=s, **options).fit([VIEWS[0], noise], Y).block_norms_
        for s in (True, False)
    )
    assert sparse[1, 1] == 0.0 < sparse[0, 0] and dense[1, 1] > 0.0


def test_learnt_weights_take_the_penalty_away():
    """No (g, A) reaches the objective of learnt weights with w = 1/V: w grows as g shrinks."""
    U, y = features(60, 3)
    problem = problem_of(U, y, 0.5, 0.3, False, learn_weights=True)
    point, curve = learn_metric(problem, n_rounds=6, tol=1e-4, learn_weights=True)
    assert curve[-1] < 0.98 * least_objective(U, y, 0.5, 0.3, False)
    assert np.abs(point.w).sum() > 1.1
    assert_array_equal(MVML().fit(VIEWS, Y).weights_, np.full(3, 1 / 3))


def test_components_are_shuffled():
    """Where the samples stand class by class, the first rows are of one class only."""
    order = np.argsort(Y3)
    model = MVML(n_components=0.24, random_state=0).fit([v[order] for v in THREE], Y3[order])
    for rows in model.components_:
        assert len(rows) == 22 and set(Y3[order][rows]) == {0, 1, 2}


def test_enough_components_of_a_linear_kernel_are_no_approximation():
    exact = MVML(kernel="linear").fit(VIEWS, Y).decision_function(NEW)
    for m in (8, 0.5):
        few = MVML(kernel="linear", n_components=m, random_state=0).fit(VIEWS, Y)
        assert_allclose(few.decision_function(NEW), exact, atol=1e-6)


@pytest.mark.parametrize(
    "options", [{}, {"sparse": True}, {"learn_weights": True}, {"kernel": "linear"}]
)
def test_kernel_matrices_are_features_of_all_samples(options):
    """The exact form takes no root of a kernel; with gaps and weights."""
    X, w = MultiView(hide(THREE, random_pattern(5, 90, 3))), np.random.default_rng(0).random(90)
    new = X[::-1]
    exact, factors = (
        MVML(0.3, 0.1, n_components=share, **options).fit(X, Y3, sample_weight=w)
        for share in (1.0, 0.999)
    )
    for one, other in zip(exact.components_, factors.components_, strict=True):
        assert_array_equal(one, other)
    assert_allclose(exact.decision_function(new), factors.decision_function(new), atol=1e-6)
    for name in ("objective_curve_", "lower_bound_", "block_norms_", "weights_"):
        assert_allclose(getattr(exact, name), getattr(factors, name), rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("options", [{}, {"sparse": True}, {"learn_weights": True}])
def test_all_samples_are_components_up_to_a_size(options, monkeypatch):
    monkeypatch.setattr(mvml, "LARGEST_SHARED", 60)
    monkeypatch.setattr(mvml, "LARGEST_OWN", 59)
    numbers = [len(rows) for rows in MVML(**options).fit(VIEWS, Y).components_]
    assert numbers == 3 * [30 if options else 60]
    assert [len(S) for S in MVML(n_components=1.0, **options).fit(VIEWS, Y).components_] == 3 * [60]
    monkeypatch.setattr(mvml, "LARGEST_SHARED", 59)
    assert [len(rows) for rows in MVML(**options).fit(VIEWS, Y).components_] == 3 * [30]


def test_nothing_to_learn():
    model = MVML(kernel="linear").fit([0 * view for view in VIEWS], Y)
    assert_array_equal(model.decision_function(NEW), np.zeros(60))
    assert model.n_iter_ == 0


@pytest.mark.parametrize("sparse", [False, True])
def test_learns(sparse):
    """More than from any view alone."""
    views, y = toy_views(7, m=300, widths=WIDTHS, noise=1.5)
    train, test = ([view[part] for view in views] for part in (slice(200), slice(200, None)))
    model = MVML(sparse=sparse, n_components=0.24, random_state=0).fit(train, y[:200])
    for a, b in zip(train, test, strict=True):
        alone = MVML(random_state=0).fit([a], y[:200])
        assert model.score(test, y[200:]) > alone.score([b], y[200:])


# ------------------------------------------------------------------ the API


@pytest.mark.parametrize("sparse", [False, True])
def test_a_missing_view_adds_nothing(sparse):
    """A sample's score is the sum of those of the views it has, trained with gaps or not."""
    model = MVML(sparse=sparse).fit(hide(VIEWS, random_pattern(5, 60, 3)), Y)
    scores = [model.decision_function(hide(NEW, np.tile(seen, (60, 1)))) for seen in np.eye(3) > 0]
    assert_allclose(model.decision_function(NEW), sum(scores), atol=1e-10)


def test_lam_below_rounding_is_an_error():
    """Three times the same view: the equations are singular but for lam."""
    with pytest.raises(ValueError, match="lam=1e-30 is lost .* raise lam"):
        MVML(1e-30, kernel="linear").fit([VIEWS[0]] * 3, Y)
