"""The linear SVM: optimality, certificate, few steps at every C, liblinear, early stops."""

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


def noisy(m=120, d=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d))
    return X, (X[:, 0] + rng.normal(size=m) > 0).astype(int)


SHAPES = [(30, 4), (12, 20), (50, 30), (150, 120)]  # the last by conjugate gradients


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("tol", [1e-8, 0.1])
@given(st.integers(0, 10_000), st.floats(-4, 6), st.sampled_from(SHAPES))
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


@pytest.mark.parametrize(("shape", "steps"), [((300, 40), 1), ((40, 60), 1), ((150, 120), 2)])
def test_a_small_cost_is_one_quadratic(shape, steps):
    """One step of Newton ends it, and two where conjugate gradients solve its system."""
    assert fit_linear_svm(*noisy(*shape), 1e-3, **SQUARED | {"tol": 1e-6}).n_iter <= steps


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
    for most in (np.inf, 1.01 * low):
        assert_allclose(_length(slope(0), curvature, v, dv, dr, high, most), low, rtol=1e-9)


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


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_a_gap_above_tol_is_told_and_what_to_do(loss):
    """However little it is above: tolerances are shares of the gap that two steps leave."""
    options = SQUARED | {"loss": loss, "max_iter": 2}
    with pytest.warns(ConvergenceWarning, match="gap is .*Increase max_iter or tol") as said:
        left = fit_linear_svm(*noisy(), 10.0, **options).gap.max()
    assert len(said) == 1
    for share in (0.3, 0.9, 1.1):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            found = fit_linear_svm(*noisy(), 10.0, **options | {"tol": share * left})
        assert found.gap.max() == left and len(said) == (share < 1)
