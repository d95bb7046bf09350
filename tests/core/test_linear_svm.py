"""The linear SVM: optimality, both builds of liblinear, what it says when it stops early."""

import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_matrix
from sklearn.exceptions import ConvergenceWarning

from mvref import MVLSVM, SolverFallbackWarning
from mvref.core.linear_svm import fit_linear_svm, official_liblinear
from tests.literal import (
    hinge_dual,
    primal_objective,
    squared_hinge_minimum,
    toy_views,
    with_constant_feature,
)

TIGHT = {"tol": 1e-10, "max_iter": 10_000_000, "random_state": 0}
SQUARED = {"loss": "squared_hinge", "intercept_scaling": 1.0, **TIGHT}


def problem(seed=0, m=50, n_classes=2):
    views, y = toy_views(seed, m=m, widths=(4,), n_classes=n_classes, noise=1.0)
    return views[0], y


@pytest.fixture
def official():
    """What the call of the official build has and the other has not; skips where it is missing."""
    pytest.importorskip("liblinear.liblinear", reason="liblinear-official is not installed")
    return {"solver": "liblinear"}


@pytest.mark.parametrize("B", [0.0, 1.0, 5.0])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_binary_minimum(loss, B):
    X, y = problem()
    signs = 2.0 * y - 1
    coef, intercept, n_iter = fit_linear_svm(X, y, 0.3, loss=loss, intercept_scaling=B, **TIGHT)
    assert coef.shape == (1, 4) and intercept.shape == (1,) and n_iter >= 1
    if loss == "hinge":
        expected, _ = hinge_dual(X, signs, 0.3, B)
    else:
        expected = squared_hinge_minimum(X, signs, 0.3, B)
    assert_allclose(coef[0], expected[:4], atol=2e-5)
    assert_allclose(intercept[0], expected[4] * B if B else 0.0, atol=2e-5)


@given(st.integers(0, 10_000), st.floats(1e-3, 1e2), st.sampled_from([0.0, 1.0, 3.0]))
def test_squared_hinge_is_stationary(seed, C, B):
    """The gradient vanishes: w = 2 C sum xi_i y_i x_i, no other solver asked."""
    X, y = problem(seed, m=30)
    signs = 2.0 * y - 1
    coef, intercept, _ = fit_linear_svm(X, y, C, loss="squared_hinge", intercept_scaling=B, **TIGHT)
    Z = with_constant_feature(X, B) * signs[:, None]
    w = np.append(coef[0], intercept / B) if B else coef[0]
    slack = np.maximum(0, 1 - Z @ w)
    assert_allclose(w, 2 * C * Z.T @ slack, atol=1e-6 * (1 + C))


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_many_classes_are_one_against_the_rest(loss):
    X, y = problem(n_classes=4, m=60)
    coef, intercept, _ = fit_linear_svm(X, y, 0.5, loss=loss, intercept_scaling=1.0, **TIGHT)
    assert coef.shape == (4, 4) and intercept.shape == (4,)
    for k in range(4):
        y_k = (y == k).astype(int)
        one, b, _ = fit_linear_svm(X, y_k, 0.5, loss=loss, intercept_scaling=1.0, **TIGHT)
        assert_allclose(coef[k], one[0], atol=1e-6)
        assert_allclose(intercept[k], b[0], atol=1e-6)


def test_more_features_than_samples_has_the_same_minimum():
    """Squared hinge in the primal, as always where C <= 1."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(15, 40)), np.arange(15) % 2
    coef, intercept, _ = fit_linear_svm(X, y, 0.2, **SQUARED)
    expected = squared_hinge_minimum(X, 2.0 * y - 1, 0.2, 1.0)
    assert_allclose(np.append(coef[0], intercept), expected, atol=1e-5)


@pytest.mark.parametrize("C", [100.0, 1000.0])
def test_large_costs_reach_the_minimum_at_a_loose_tolerance(C):
    """The primal solver ends 2 and 3 per cent above it here, which is why C > 1 takes the dual."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 60))
    y = (X[:, 0] + rng.normal(size=120) > 0).astype(int)
    coef, intercept, _ = fit_linear_svm(X, y, C, **SQUARED | {"tol": 1e-4, "max_iter": 100_000})
    signs = 2.0 * y - 1
    Z = with_constant_feature(X, 1.0) * signs[:, None]
    w = np.zeros(61)
    for _ in range(100):  # Newton's method: exact where the samples inside the margin stay
        inside = Z[Z @ w < 1]
        newton = np.linalg.solve(np.eye(61) / C + 2 * inside.T @ inside, 2 * inside.sum(axis=0))
        steps = [w + t * (newton - w) for t in 0.5 ** np.arange(20)]
        w = min(steps, key=lambda v: primal_objective(v, X, signs, C, 1.0, "squared_hinge"))
    slack = np.maximum(0, 1 - Z @ w)
    assert_allclose(w, 2 * C * Z.T @ slack, atol=1e-6)  # the minimum
    least, reached = (
        primal_objective(v, X, signs, C, 1.0, "squared_hinge")
        for v in (w, np.append(coef[0], intercept))
    )
    assert least * (1 - 1e-9) <= reached <= least * (1 + 1e-4)


def test_a_tolerance_below_rounding_ends_where_a_small_one_does():
    """The dual alone would go on for ever at 1e-15, and end 28 % above the minimum."""
    rng = np.random.default_rng(7)
    n, d = rng.integers(15, 60), rng.integers(3, 40)
    X = rng.normal(size=(n, d))
    y = (X[:, 0] + rng.normal(size=n) > 0).astype(int)
    weights = rng.integers(1, 5, n).astype(float)
    C = 10 ** rng.uniform(-2, 2)
    options = {"loss": "hinge", "intercept_scaling": 1.0, "max_iter": 20_000, "random_state": 0}
    (tight, b, steps), (small, b_small, _) = (
        fit_linear_svm(X, y, C, tol=tol, weights=weights, **options) for tol in (1e-15, 1e-10)
    )
    assert steps < 20_000
    assert_allclose(np.append(tight, b), np.append(small, b_small), atol=1e-6)


def test_csr_features():
    X, y = problem()
    dense, csr = (fit_linear_svm(form(X), y, 0.3, **SQUARED) for form in (np.array, csr_matrix))
    assert_allclose(csr[0], dense[0], atol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("B", [0.0, 1.0, 4.0])
@pytest.mark.parametrize("first", [0, 1])
def test_both_builds_give_the_same_answer(n_classes, B, first, official):
    """`first`: liblinear counts classes in the order in which they appear."""
    X, y = problem(1, m=80, n_classes=n_classes)
    X, y, options = X[first:], y[first:], SQUARED | {"intercept_scaling": B}
    coef, intercept, _ = fit_linear_svm(X, y, 0.7, **options)
    other, other_intercept, _ = fit_linear_svm(X, y, 0.7, **options, **official)
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


def test_liblinear_has_no_seeded_hinge():
    with pytest.raises(ValueError, match="solver='liblinear' needs loss='squared_hinge'"):
        MVLSVM(solver="liblinear", loss="hinge").fit(*problem())


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
    assert "scikit-learn" in str(fallback[0].message)
    expected = model.set_params(solver="sklearn").fit(views, y).decision_function(views)
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
    """A message to users of the squared hinge must not tell them to take the squared hinge."""
    with pytest.warns(ConvergenceWarning, match="max_iter") as said:
        fit_linear_svm(*problem(), 1e3, **SQUARED | {"loss": loss, "max_iter": 1})
    assert len(said) == 1
    assert ("take loss='squared_hinge'" in str(said[0].message)) == (loss == "hinge")


def test_the_estimator_warns_once_for_many_classes():
    views, y = toy_views(0, n_classes=4)
    with pytest.warns(ConvergenceWarning) as said:
        MVLSVM(10, max_iter=1, random_state=0).fit(views, y)
    assert len(said) == 1


def test_no_warning_after_convergence():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _, _, n_iter = fit_linear_svm(*problem(), 1.0, **SQUARED | {"loss": "hinge"})
    assert n_iter < TIGHT["max_iter"]


def test_the_seed_orders_the_steps():
    """Stopped early, the order shows: equal for equal seeds, not for others."""
    X, y = problem(n_classes=3)
    options = SQUARED | {"loss": "hinge", "max_iter": 3}
    with pytest.warns(ConvergenceWarning):
        a, b, c = (
            fit_linear_svm(X, y, 10.0, **options | {"random_state": seed})[0] for seed in (3, 3, 4)
        )
    assert_array_equal(a, b)
    assert (a != c).any()


def test_threads_find_what_one_finds():
    """liblinear has one generator for all threads, and one list of filters hears all warnings."""
    X, y = problem(m=150, n_classes=3)

    def fit(seed):
        return fit_linear_svm(X, y, 10.0, **SQUARED | {"loss": "hinge", "random_state": seed})

    seeds = list(range(10)) * 4
    filters = list(warnings.filters)
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(fit, seeds))
    assert warnings.filters == filters
    for seed, (coef, intercept, n_iter) in zip(seeds, found, strict=True):
        expected = fit(seed)
        assert_array_equal(coef, expected[0])
        assert_array_equal(intercept, expected[1])
        assert n_iter == expected[2]


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("C", [0.05, 2.0])  # squared hinge: in the primal, and in the dual
def test_a_weight_is_a_number_of_copies(loss, C):
    X, y = problem(n_classes=3)
    weights = np.random.default_rng(0).integers(1, 5, size=50)
    options = TIGHT | {"loss": loss, "intercept_scaling": 1.0}
    coef, intercept, _ = fit_linear_svm(X, y, C, weights=weights.astype(float), **options)
    copies = np.repeat(X, weights, axis=0), np.repeat(y, weights)
    expected, b, _ = fit_linear_svm(*copies, C, **options)
    assert_allclose(coef, expected, atol=1e-7)
    assert_allclose(intercept, b, atol=1e-7)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_primal_objective_is_below_that_of_any_perturbation(loss):
    X, y = problem()
    coef, intercept, _ = fit_linear_svm(X, y, 0.5, **SQUARED | {"loss": loss})
    w, rng = np.append(coef[0], intercept), np.random.default_rng(0)
    best = primal_objective(w, X, 2.0 * y - 1, 0.5, 1.0, loss)
    for size in (1e-3, 1e-1, 1.0):
        other = w + size * rng.normal(size=5)
        assert primal_objective(other, X, 2.0 * y - 1, 0.5, 1.0, loss) > best
