"""Stability and bound of MVL-SVM: identities, exact solutions, and the errata's counterexamples."""

import sys
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from mvref import MVLSVM, LandmarkProjection, MultiView
from mvref.theory.stability import (
    exact_hinge_svm,
    generalization_bound,
    loss_changes,
    loss_range,
    measure_stability,
    pointwise_loss,
    radius,
    randomised_stability,
    uniform_stability,
)

# (V, L, m, c) with c L V <= 1, so that every sample of the identical-point family is a support
# vector at its box
IDENTICAL = [(1, 1, 4, 1.0), (3, 1, 10, 0.2), (7, 1, 50, 0.1), (3, 4, 20, 0.05)]


def identical_points(V, m):
    """All samples equal, both labels: the family in which the stability bound is attained."""
    return MultiView([np.ones((m, 2))] * V), np.arange(m) % 2


def random_problem(seed, m=20, L=2, V=2, n_test=300):
    """Projected random samples, random labels, and projected test points."""
    rng = np.random.default_rng(seed)
    X = MultiView([rng.normal(size=(m + n_test, 2)) * 0.5 for _ in range(V)])
    projection = LandmarkProjection(L, gamma=0.5, random_state=seed).fit(X[m:])
    y = np.where(rng.random(m) < 0.5, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return projection.transform(X[:m]), y, projection.transform(X[m:])


def both_label_change(T, theta, other, loss="hinge"):
    labels = np.array([-1.0, 1.0])
    before = pointwise_loss((T @ theta)[:, None], labels, loss)
    return np.abs(before - pointwise_loss((T @ other)[:, None], labels, loss)).max()


def largest_change_by_a_flip(solve, y, T, loss="hinge"):
    """Over all samples whose label changes its sign; solve: labels -> theta."""
    theta, flips = solve(y), [np.where(np.arange(len(y)) == i, -y, y) for i in range(len(y))]
    return max(both_label_change(T, theta, solve(flipped), loss) for flipped in flips)


def fit_latent(Phi, y, c):
    """The estimator to machine precision, on projected samples."""
    model = MVLSVM(c=c, fit_intercept=False, tol=1e-10, max_iter=10**7)
    return model.fit_latent(Phi, y).coef_[0]


@pytest.mark.parametrize(("V", "L", "m", "c"), IDENTICAL)
def test_identical_points_attain_the_corrected_stability(V, L, m, c):
    """Errata A1, A2: measured = corrected to 1e-6, and twice the printed value."""
    X, y = identical_points(V, m)
    model = MVLSVM(L, c=c, fit_intercept=False, tol=1e-10, random_state=0)
    measured = measure_stability(model, X, y, random_state=0)
    assert_allclose(measured, uniform_stability(c, L, V, m), atol=1e-6)
    assert measured > 1.9 * uniform_stability(c, L, V, m, version="printed")
    removed = measure_stability(model, X, y, change="remove", random_state=0)
    assert_allclose(removed, uniform_stability(c, L, V, m) / 2, atol=1e-6)


@pytest.mark.parametrize("c", [0.05, 0.5, 5.0])
@pytest.mark.parametrize("seed", [0, 1])
def test_random_data_stay_below_the_corrected_stability(c, seed):
    Phi, y, T = random_problem(seed)
    theta, alpha = exact_hinge_svm(Phi, y, c)
    stability = uniform_stability(c, 2, 2, len(y))
    changes = alpha * np.linalg.norm(Phi, axis=1)  # |dtheta| <= alpha_i |mu_i|
    for i, change in enumerate(changes):
        stay = np.arange(len(y)) != i
        without = exact_hinge_svm(Phi[stay], y[stay], c, m=len(y))[0]
        assert both_label_change(T, theta, without) <= stability / 2 + 1e-7
        assert np.linalg.norm(theta - without) <= change + 1e-6
    replaced = largest_change_by_a_flip(lambda y: exact_hinge_svm(Phi, y, c)[0], y, T)
    assert replaced <= stability + 1e-7


@pytest.mark.parametrize(("n", "d", "c"), [(60, 5, 1.0), (100, 150, 0.2), (60, 20, 1000.0)])
def test_without_cvxopt_the_problem_is_solved_as_exactly(monkeypatch, n, d, c):
    rng = np.random.default_rng(n)
    Phi = rng.normal(size=(n, d))
    y = np.sign(Phi[:, 0] + rng.normal(size=n))
    theta, alpha = exact_hinge_svm(Phi, y, c)
    monkeypatch.setitem(sys.modules, "cvxopt", None)
    other, weights = exact_hinge_svm(Phi, y, c)
    assert_allclose(other, theta, rtol=1e-7, atol=1e-8)
    assert 0 <= weights.min() and weights.max() <= c / n * (1 + 1e-12)
    values = [t @ t / 2 - a.sum() for t, a in ((theta, alpha), (other, weights))]
    assert values[1] == pytest.approx(values[0], rel=1e-9)


def test_a_sample_without_weight_changes_nothing():
    """A sample with alpha_i = 0 can go: the data-dependent bound is then zero."""
    rng = np.random.default_rng(3)
    y = np.repeat([-1.0, 1.0], 20)
    Phi = rng.normal(size=(40, 3)) + 2.0 * y[:, None]
    theta, alpha = exact_hinge_svm(Phi, y, c=100.0)
    spare = np.flatnonzero(alpha < 1e-9)
    assert len(spare) > 5
    stay = np.arange(40) != spare[0]
    assert_allclose(exact_hinge_svm(Phi[stay], y[stay], c=100.0, m=40)[0], theta, atol=1e-6)


@pytest.mark.parametrize(("LV", "c"), [(7, 0.05), (9, 0.05), (30, 0.03)])
def test_printed_loss_range_is_exceeded(LV, c):
    """Erratum A3: identical samples of one label, tested with the other label."""
    Phi, y = np.ones((10, LV)), np.ones(10)
    theta, _ = exact_hinge_svm(Phi, y, c)
    worst = 1 + theta.sum()
    assert worst > loss_range(c, LV, 1, version="printed") + 0.05
    assert worst <= loss_range(c, LV, 1) + 1e-6


@given(c=st.floats(1e-3, 1e3), seed=st.integers(0, 50))
def test_norm_of_theta_and_loss_range(c, seed):
    """|theta| <= min(sqrt c, c kappa), from strong duality, and E bounds every loss."""
    Phi, y, T = random_problem(seed)
    theta, alpha = exact_hinge_svm(Phi, y, c)
    slack = pointwise_loss(Phi @ theta, y)
    kappa = radius(2, 2)
    assert_allclose(theta @ theta + c / len(y) * slack.sum(), alpha.sum(), rtol=1e-5, atol=1e-7)
    assert np.linalg.norm(theta) <= min(np.sqrt(c), c * kappa) * (1 + 1e-5)
    assert (1 + np.abs(T @ theta)).max() <= loss_range(c, 2, 2) * (1 + 1e-5)


def test_the_range_of_a_small_c_is_reached():
    """All samples are one point, inside the margin: theta is c times it."""
    theta, _ = exact_hinge_svm(np.ones((3, 4)), np.ones(3), 0.05)
    [loss] = pointwise_loss([theta.sum()], [-1.0])
    assert loss_range(0.05, 2, 2) == pytest.approx(loss)


@pytest.mark.parametrize(
    ("L", "V", "c", "B"), [(1, 1, 0.2, 1.0), (2, 2, 0.05, 1.0), (2, 2, 0.05, 3.0)]
)
def test_kappa_counts_the_constant_feature(L, V, c, B):
    """Erratum A5: the theorem and the corollary need |(mu(x), B)|; with |mu(x)| both would fail."""
    X, y = identical_points(V, 10)
    model = MVLSVM(L, c=c, intercept_scaling=B, tol=1e-10, random_state=0)
    measured = measure_stability(model, X, y, random_state=0)
    assert_allclose(measured, uniform_stability(c, L, V, 10, intercept_scaling=B), atol=1e-6)
    assert_allclose(measured, 2 * c * radius(L, V, intercept_scaling=B) ** 2 / 10, atol=1e-6)
    assert measured > uniform_stability(c, L, V, 10) + 1e-3
    theta, _ = exact_hinge_svm(np.c_[np.ones((10, L * V)), np.full(10, B)], np.ones(10), c)
    worst = 1 + theta[:-1].sum() + theta[-1] * B
    assert worst <= loss_range(c, L, V, intercept_scaling=B) + 1e-6
    assert worst > loss_range(c, L, V) + 0.04


def test_randomised_stability_bounds_the_average_over_landmarks():
    """A6: over every possible landmark, exactly enumerated; the fixed-map bound is exceeded."""
    m, c = 24, 0.5
    X, y = np.zeros((m, 1)), np.ones(m)
    replaced, labels = X.copy(), y.copy()
    replaced[0], labels[0] = np.sqrt(np.log(2)), -1.0  # its similarity to the others is 1/2
    grid = np.linspace(-3, 6, 200)[:, None]
    changes = []
    for p in range(m):
        old = exact_hinge_svm(np.exp(-((X - X[p]) ** 2)), y, c)[0]
        new = exact_hinge_svm(np.exp(-((replaced - replaced[p]) ** 2)), labels, c)[0]
        f, g = np.exp(-((grid - X[p]) ** 2)) @ old, np.exp(-((grid - replaced[p]) ** 2)) @ new
        changes.append(max(np.abs(np.subtract(*pointwise_loss(np.array([f, g]), s))).max()
                           for s in (-1.0, 1.0)))  # fmt: skip
    average = np.mean(changes)
    assert uniform_stability(c, 1, 1, m) < average <= randomised_stability(c, 1, 1, m)


def squared_hinge_svm(Phi, y, c, m=None):
    """Independent solver of the squared hinge without intercept."""
    m = len(y) if m is None else m
    Z = Phi * y[:, None]

    def objective(theta):
        slack = np.maximum(0, 1 - Z @ theta)
        return 0.5 * theta @ theta + c / m * slack @ slack, theta - 2 * c / m * (Z.T @ slack)

    options = {"method": "L-BFGS-B", "options": {"maxiter": 5000, "ftol": 1e-15, "gtol": 1e-11}}
    return minimize(objective, np.zeros(Phi.shape[1]), jac=True, **options).x


@pytest.mark.parametrize("c", [0.05, 1.0, 20.0])
def test_squared_hinge_constants(c):
    """A13: norm, range and stability of the loss that the authors' code uses."""
    Phi, y, T = random_problem(4)
    theta = squared_hinge_svm(Phi, y, c)
    assert np.linalg.norm(theta) <= np.sqrt(c / 2) + 1e-8
    worst = ((1 + np.abs(T @ theta)) ** 2).max()
    assert worst <= loss_range(c, 2, 2, loss="squared_hinge") + 1e-8
    slack = pointwise_loss(Phi @ theta, y)
    for i in range(len(y)):
        stay = np.arange(len(y)) != i
        without = squared_hinge_svm(Phi[stay], y[stay], c, m=len(y))
        bound = 2 * c / len(y) * slack[i] * np.linalg.norm(Phi[i])
        assert np.linalg.norm(theta - without) <= bound + 1e-6
    solve = partial(squared_hinge_svm, Phi, c=c)
    replaced = largest_change_by_a_flip(solve, y, T, "squared_hinge")
    assert replaced <= uniform_stability(c, 2, 2, len(y), loss="squared_hinge")


def test_squared_hinge_exceeds_the_hinge_bound():
    X, y = identical_points(3, 10)
    model = MVLSVM(1, c=0.05, loss="squared_hinge", fit_intercept=False, tol=1e-10, random_state=0)
    measured = measure_stability(model, X, y, random_state=0)
    assert measured > uniform_stability(0.05, 1, 3, 10)
    assert measured <= uniform_stability(0.05, 1, 3, 10, loss="squared_hinge")


def test_one_against_the_rest_is_as_stable_as_one_machine():
    """A13: the loss averaged over the classes has the constants of two classes, and bounds errors.

    With the squared hinge and three classes, as the chapters run it.
    """
    rng = np.random.default_rng(6)
    Phi, T, c, m = rng.random((24, 3)), rng.random((200, 3)), 0.5, 24
    y = np.arange(m) % 3

    def losses(y):
        """Of every machine on every test point, under every class."""
        model = MVLSVM(c=c, loss="squared_hinge", fit_intercept=False, tol=1e-10, max_iter=10**6)
        f = T @ model.fit_latent(Phi, y).coef_.T
        signs = 2 * np.eye(3)[:, None] - 1  # (class, 1, machine)
        return f, pointwise_loss(f, signs, "squared_hinge")

    f, before = losses(y)
    for i in range(6):
        after = losses(np.where(np.arange(m) == i, (y + 1) % 3, y))[1]
        change = np.abs(after.mean(axis=2) - before.mean(axis=2)).max()
        assert 0 < change <= uniform_stability(c, 1, 3, m, loss="squared_hinge")
    wrong = f.argmax(axis=1) != np.arange(3)[:, None]
    assert wrong.any() and (before.mean(axis=2)[wrong] >= 2 / 3).all()  # error <= K/2 mean loss


bound_arguments = st.tuples(
    st.floats(1e-4, 1e3), st.integers(1, 300), st.integers(1, 8), st.integers(2, 10**5)
)


@given(bound_arguments, st.floats(0.001, 0.5))
def test_bound_is_monotone_and_corrected_is_the_larger(arguments, delta):
    c, L, V, m = arguments
    bound = generalization_bound(0.1, c, L, V, m, delta)
    assert bound >= generalization_bound(0.1, c, L, V, m, delta, version="printed")
    for larger in ((2 * c, L, V, m), (c, L + 1, V, m), (c, L, V + 1, m)):
        assert generalization_bound(0.1, *larger, delta) >= bound
    assert generalization_bound(0.1, c, L, V, m, delta / 2) >= bound
    assert generalization_bound(0.1, c, L, V, 4 * m, delta) <= bound
    assert generalization_bound(0.1, c, L, V, m, delta, loss="squared_hinge") >= 0.1


@pytest.mark.parametrize(("version", "factor"), [("corrected", 2.0), ("printed", 1.0)])
def test_bound_against_corollary_1_written_out(version, factor):
    """Corollary 1 term by term, and the reference values at L=200, V=3, m=896."""
    c, L, V, m, delta = 0.01, 200, 3, 896, 0.05
    E = loss_range(c, L, V, version=version)
    root = np.sqrt(np.log(1 / delta) / (2 * m))
    literal = factor * c * L * V / m + (2 * factor * c * L * V + E) * root
    assert_allclose(generalization_bound(0, c, L, V, m, delta, version=version), literal)
    assert_allclose(literal, {"corrected": 1.14, "printed": 0.56}[version], atol=0.006)


def test_bound_is_vacuous_on_the_grid_of_the_authors():
    """A4 corrected: every c of the authors' grid gives a gap term above 1 at L=200 on uWave."""
    for C in 10.0 ** np.arange(-3, 4):
        assert generalization_bound(0, C * 896, 200, 3, 896, 0.05) > 1


def test_stability_can_fall_to_zero_while_the_bound_grows():
    """Remark A7: L << m/V keeps the machine stable; the bound also needs c L V = o(sqrt m)."""
    sizes = [10**3, 10**5, 10**7]
    for power, rises in ((0.75, True), (0.25, False)):
        stability = [uniform_stability(1.0, round(m**power), 1, m) for m in sizes]
        assert stability[0] > 2 * stability[1] > 4 * stability[2]
        gaps = [generalization_bound(0, 1.0, round(m**power), 1, m, 0.05) for m in sizes]
        assert (gaps[0] < gaps[1] < gaps[2]) == rises and (gaps[0] > gaps[1] > gaps[2]) != rises


def test_the_bound_holds_on_generated_data():
    """100 training samples from one distribution: the true risk is below the bound in all."""
    rng = np.random.default_rng(0)
    L, V, m, c, delta = 2, 2, 100, 0.1, 0.1

    def draw(n):
        y = rng.choice([-1.0, 1.0], n)
        return MultiView([rng.normal(size=(n, 2)) + y[:, None] for _ in range(V)]), y

    outside, _ = draw(L)
    projection = LandmarkProjection(L, gamma=0.5, random_state=0).fit(outside)
    X, y = draw(20_000)
    T = projection.transform(X)
    violations = 0
    for _ in range(100):
        X_train, y_train = draw(m)
        Phi = projection.transform(X_train)
        model = MVLSVM(c=c, fit_intercept=False, tol=1e-8).fit_latent(Phi, y_train)
        risk = pointwise_loss(T @ model.coef_[0], y).mean()
        train_risk = pointwise_loss(Phi @ model.coef_[0], y_train).mean()
        violations += risk > generalization_bound(train_risk, c, L, V, m, delta)
    assert violations <= delta * 100


def test_exact_solver_agrees_with_liblinear():
    Phi, y, _ = random_problem(7, m=40)
    for c in (0.1, 10.0, 1000.0):
        theta, alpha = exact_hinge_svm(Phi, y, c)
        assert_allclose(fit_latent(Phi, y, c), theta, atol=2e-4 * max(1, np.abs(theta).max()))
        assert alpha.min() >= 0 and alpha.max() <= c / 40 * (1 + 1e-9)


def test_loss_changes_shape_and_reproducibility():
    X, y = identical_points(2, 12)
    model = MVLSVM(2, c=0.1, random_state=0)
    changes = loss_changes(model, X, y, n_replacements=5, X_test=X[:4], random_state=1)
    assert changes.shape == (5, 4, 2)
    again = loss_changes(model, X, y, n_replacements=5, X_test=X[:4], random_state=1)
    assert_allclose(changes, again, atol=0)


def measure(y, **options):
    return measure_stability(MVLSVM(2), np.ones((len(y), 2)), y, **options)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: uniform_stability(-1, 2, 2, 10), "c must be a number > 0, got -1"),
        (lambda: uniform_stability(1, 0, 2, 10), "n_landmarks must be an integer >= 1, got 0"),
        (lambda: uniform_stability(1, 2, 2, 10.5), "n_samples must be an integer"),
        (lambda: uniform_stability(1, 2, 2, 10, version="new"), "version must be one of"),
        (
            lambda: uniform_stability(1, 2, 2, 10, loss="squared_hinge", version="printed"),
            "needs loss='hinge'",
        ),
        (lambda: generalization_bound(0.1, 1, 2, 2, 10, 1.5), "delta must be a probability"),
        (lambda: generalization_bound(-0.1, 1, 2, 2, 10, 0.5), "train_risk must be a number"),
        (lambda: measure([0, 1, 2] * 3), "needs two classes in y, got 3"),
        (lambda: measure([0, 1, 1, 1]), r"at least two samples of each class in y, got \[1, 3\]"),
        (lambda: measure([0, 1] * 2, n_replacements=9), "n_replacements must be .* <= 4, got 9"),
    ],
)
def test_bad_arguments(call, words):
    with pytest.raises(ValueError, match=words):
        call()
