"""The linear SVM: optimality, certificate, few steps at every C, liblinear, early stops."""

import subprocess
import sys
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from mvref import MVLSVM, SolverFallbackWarning
from mvref.core.linear_svm import fit_linear_svm, official_liblinear
from mvref.core.newton_svm import Rows, _factor, _length, hinge, squared_hinge
from tests.literal import (
    hinge_dual,
    primal_objective,
    squared_hinge_minimum,
    toy_views,
    with_constant_feature,
)

TIGHT = {"tol": 1e-10, "max_iter": 10_000}
SQUARED = {"loss": "squared_hinge", "intercept_scaling": 1.0, **TIGHT}


def problem(seed=0, m=50, n_classes=2):
    views, y = toy_views(seed, m=m, widths=(4,), n_classes=n_classes, noise=1.0)
    return views[0], y


@pytest.fixture
def official():
    """What the call of the official build has and the other has not; skips where it is missing."""
    pytest.importorskip(
        "liblinear.liblinear", reason="liblinear-official is not here (it has to be compiled)"
    )
    return {"solver": "liblinear"}


@pytest.mark.parametrize("B", [0.0, 1.0, 5.0])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_binary_minimum(loss, B):
    X, y = problem()
    signs = 2.0 * y - 1
    coef, intercept, n_iter, *_ = fit_linear_svm(X, y, 0.3, loss=loss, intercept_scaling=B, **TIGHT)
    assert coef.shape == (1, 4) and intercept.shape == (1,) and n_iter >= 1
    if loss == "hinge":
        expected, _ = hinge_dual(X, signs, 0.3, B)
    else:
        expected = squared_hinge_minimum(X, signs, 0.3, B)
    assert_allclose(coef[0], expected[:4], atol=2e-5)
    assert_allclose(intercept[0], expected[4] * B if B else 0.0, atol=2e-5)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_many_classes_are_one_against_the_rest(loss):
    X, y = problem(n_classes=4, m=60)
    coef, intercept, *_ = fit_linear_svm(X, y, 0.5, loss=loss, intercept_scaling=1.0, **TIGHT)
    assert coef.shape == (4, 4) and intercept.shape == (4,)
    for k in range(4):
        y_k = (y == k).astype(int)
        one, b, *_ = fit_linear_svm(X, y_k, 0.5, loss=loss, intercept_scaling=1.0, **TIGHT)
        assert_allclose(coef[k], one[0], atol=1e-6)
        assert_allclose(intercept[k], b[0], atol=1e-6)


def test_more_features_than_samples_has_the_same_minimum():
    """Systems of the samples, in place of the columns."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(15, 40)), np.arange(15) % 2
    coef, intercept, *_ = fit_linear_svm(X, y, 0.2, **SQUARED)
    expected = squared_hinge_minimum(X, 2.0 * y - 1, 0.2, 1.0)
    assert_allclose(np.append(coef[0], intercept), expected, atol=1e-5)


def noisy(m=120, d=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d))
    return X, (X[:, 0] + rng.normal(size=m) > 0).astype(int)


def literal_newton(X, signs, C):
    """Newton's method for the squared hinge with halved steps and the whole Hessian."""
    Z = with_constant_feature(X, 1.0) * signs[:, None]
    w, unit = np.zeros(Z.shape[1]), np.eye(Z.shape[1])
    for _ in range(200):
        inside = Z[Z @ w < 1]
        newton = np.linalg.solve(unit / C + 2 * inside.T @ inside, 2 * inside.sum(axis=0))
        steps = [w + t * (newton - w) for t in 0.5 ** np.arange(20)]
        w = min(steps, key=lambda v: primal_objective(v, X, signs, C, 1.0, "squared_hinge"))
    return w


@pytest.mark.parametrize("C", [1e-3, 0.1, 100.0, 1000.0, 1e5])
def test_squared_hinge_is_that_of_the_literal_newton_method(C):
    """Conjugate gradients, systems of samples and of columns, exact lengths, smaller C first."""
    X, y = noisy()
    coef, intercept, *_ = fit_linear_svm(X, y, C, **SQUARED)
    assert_allclose(
        np.append(coef[0], intercept), literal_newton(X, 2.0 * y - 1, C), rtol=1e-6, atol=1e-8
    )


@pytest.mark.parametrize("C", [1e-3, 0.1, 10.0, 1e4])
@pytest.mark.parametrize("shape", [(60, 5), (40, 60)])
def test_hinge_is_the_solution_of_the_quadratic_program(C, shape):
    X, y = noisy(*shape)
    signs = 2.0 * y - 1
    coef, intercept, *_ = fit_linear_svm(X, y, C, loss="hinge", intercept_scaling=1.0, **TIGHT)
    expected, dual = hinge_dual(X, signs, C, 1.0)
    found = np.append(coef[0], intercept)
    least = primal_objective(expected, X, signs, C, 1.0, "hinge")
    assert primal_objective(found, X, signs, C, 1.0, "hinge") <= least * (1 + 1e-9)
    assert_allclose(found, expected, atol=2e-4 * np.abs(expected).max())


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("tol", [1e-8, 0.1])
@given(st.integers(0, 10_000), st.floats(-4, 6), st.sampled_from([(30, 4), (12, 20), (50, 30)]))
def test_the_gap_is_the_gap(loss, tol, seed, log_c, shape):
    """P(w) - D(a), from their definitions, is the gap that is told, and at most tol."""
    X, y = noisy(*shape, seed=seed)
    if len(np.unique(y)) < 2:
        return
    rng = np.random.default_rng(seed)
    C = 10**log_c * rng.uniform(0.1, 2.0, len(y))
    signs, Z = 2.0 * y - 1, with_constant_feature(X, 1.0)
    solve = {"hinge": hinge, "squared_hinge": squared_hinge}[loss]
    w, a, gap, _ = solve(Rows(Z), signs, C, tol=tol, max_iter=1000)
    slack = np.maximum(0, 1 - signs * (Z @ w))
    u = Z.T @ (signs * a)
    primal = w @ w / 2 + C @ (slack if loss == "hinge" else slack**2)
    dual = a.sum() - u @ u / 2 - (0 if loss == "hinge" else (a**2 / C).sum() / 4)
    assert a.min() >= 0
    assert loss == "squared_hinge" or (a <= C).all()
    assert_allclose(gap, (primal - dual) / primal, rtol=1e-6, atol=1e-9)
    assert gap <= tol


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_the_steps_hardly_grow_with_the_cost(loss):
    """What keeps the time flat; liblinear needs thousands of times the iterations of C = 1."""
    X, y = noisy(300, 40)
    steps = [
        fit_linear_svm(X, y, C, loss=loss, intercept_scaling=1.0, tol=1e-6, max_iter=1000).n_iter
        for C in (1.0, 1e3, 1e6)
    ]
    assert max(steps) <= 60


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_another_cost_starts_where_the_last_one_ended(loss):
    X, y = noisy(200, 30)
    options = {"loss": loss, "intercept_scaling": 1.0} | TIGHT
    first = fit_linear_svm(X, y, 1.0, **options)
    cold, warm = (fit_linear_svm(X, y, 1.5, **options, start=s) for s in (None, first.state))
    assert_allclose(warm.coef, cold.coef, atol=1e-4 * np.abs(cold.coef).max())
    again = fit_linear_svm(X, y, 1.0, **options, start=first.state)
    assert again.n_iter <= first.n_iter // 2


@given(st.integers(0, 10_000))
def test_length_of_a_step(seed):
    """The zero of the slope that bisection finds."""
    rng = np.random.default_rng(seed)
    v, dv, high = rng.normal(size=(3, 20))
    high = np.abs(high) if seed % 2 else np.full(20, np.inf)
    sigma = rng.uniform(0.5, 2.0, 20)
    dr, curvature = dv / sigma, rng.uniform(0.1, 1.0)

    def slope(t):
        return rest + curvature * t + dr @ np.clip(v + t * dv, 0, high)

    rest = 0.0
    rest = -slope(0) - rng.uniform(0.1, 5.0)  # it falls at first
    low, end = 0.0, 1e3
    for _ in range(200):
        middle = (low + end) / 2
        low, end = (middle, end) if slope(middle) < 0 else (low, middle)
    assert_allclose(_length(slope(0), curvature, v, dv, dr, high), low, rtol=1e-9)


def test_a_matrix_that_rounding_has_made_indefinite_is_solved_all_the_same():
    B = np.random.default_rng(0).normal(size=(30, 5))
    M = B @ B.T - 1e-13 * np.eye(30)
    wanted = M @ np.ones(30)
    assert_allclose(M @ _factor(M.copy())(wanted), wanted, atol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("B", [0.0, 1.0, 4.0])
@pytest.mark.parametrize("first", [0, 1])
def test_both_builds_give_the_same_answer(n_classes, B, first, official):
    """`first`: liblinear counts classes in the order in which they appear."""
    X, y = problem(1, m=80, n_classes=n_classes)
    X, y, options = X[first:], y[first:], SQUARED | {"intercept_scaling": B}
    coef, intercept, *_ = fit_linear_svm(X, y, 0.7, **options)
    other, other_intercept, *_ = fit_linear_svm(X, y, 0.7, **options, **official)
    assert other.shape == coef.shape and other_intercept.shape == intercept.shape
    assert_allclose(other, coef, atol=1e-6)
    assert_allclose(other_intercept, intercept, atol=1e-6)


@pytest.mark.parametrize("c", [1.0, 100.0, 10_000.0])
def test_both_builds_through_the_estimator(c, official):
    views, y = toy_views(2, m=90, n_classes=3, noise=1.0)
    labels = np.array(["x", "y", "z"])[y]
    options = {"c": c, "loss": "squared_hinge", "tol": 1e-8, "random_state": 0}
    models = [MVLSVM(15, **options), MVLSVM(15, **options, **official)]
    scores = [model.fit(views, labels).decision_function(views) for model in models]
    assert_allclose(scores[1], scores[0], atol=1e-4)
    assert_array_equal(models[0].predict(views), models[1].predict(views))
    assert models[1].n_iter_ >= 1


def test_weights_outlive_liblinears_memory_and_nothing_is_printed(official, capfd):
    """The arrays must be copies: liblinear frees its model when the Python object goes."""
    X, y = problem(n_classes=3)
    first = fit_linear_svm(X, y, 1.0, **SQUARED, **official)
    before = first[0].copy()
    for C in np.logspace(-3, 3, 20):
        fit_linear_svm(X, y, C, **SQUARED, **official)
    assert_array_equal(first[0], before)
    assert capfd.readouterr() == ("", "")


@pytest.fixture
def without_liblinear(monkeypatch):
    """As on a machine without a C++ compiler."""
    monkeypatch.setitem(sys.modules, "liblinear", None)
    official_liblinear.cache_clear()
    yield
    official_liblinear.cache_clear()


def test_without_liblinear_official(without_liblinear):
    views, y = toy_views(3, m=60, n_classes=3)
    model = MVLSVM(10, loss="squared_hinge", solver="liblinear", random_state=0)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        scores = [model.fit(views, y).decision_function(views) for _ in range(3)]
    fallback = [w for w in said if issubclass(w.category, SolverFallbackWarning)]
    assert len(fallback) == 1, "said once, not at every fit"
    assert "solver='newton'" in str(fallback[0].message)
    expected = model.set_params(solver="newton").fit(views, y).decision_function(views)
    for s in scores:
        assert_array_equal(s, expected)


def test_the_default_solver_needs_no_liblinear_official(without_liblinear):
    views, y = toy_views(3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        MVLSVM(10, random_state=0).fit(views, y)


def test_fresh_process_without_liblinear_official():
    """`import mvref` and a fit in a process where the package cannot be imported at all."""
    code = (
        "import sys, warnings; sys.modules['liblinear'] = None; import numpy as np, mvref\n"
        "warnings.simplefilter('always')\n"
        "X, y = np.random.default_rng(0).normal(size=(20, 2)), np.arange(20) % 2\n"
        "for _ in range(2): mvref.MVLSVM(solver='liblinear', loss='squared_hinge').fit(X, y)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    assert run.stderr.count("SolverFallbackWarning: ") == 1


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_no_convergence_warns_and_says_what_to_do(loss):
    with pytest.warns(ConvergenceWarning, match="gap of .*raise max_iter or tol") as said:
        found = fit_linear_svm(*noisy(), 1e3, **SQUARED | {"loss": loss, "max_iter": 1})
    assert len(said) == 1
    assert (found.gap > 1e-6).all()
