"""MSL: the norm from both sides, its proximal step by other solvers, the subspace; the API."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from mvref import MultiView
from mvref.rivals import subspace
from mvref.rivals.msl import MSL
from mvref.rivals.subspace import dual_norm, learn_subspace, shared_norm, unscale
from tests.literal import hide, random_pattern, toy_views

WIDTHS = (3, 4)
VIEWS, Y = toy_views(0, m=60, widths=WIDTHS, noise=1.5)
FLAT = np.hstack(VIEWS)
FOUR, Y4 = toy_views(1, m=90, widths=(3, 4, 2, 3), n_classes=3, noise=1.0)
NAMES = np.array(["ant", "bee", "cat"])


def trace_norm_of_scaled(Z, widths, beta, theta):
    """Entry by entry: rows of view 1 times sqrt(theta)/beta_1, of view 2 the other factor."""
    scaled = Z.copy()
    scaled[: widths[0]] *= np.sqrt(theta) / beta[0]
    scaled[widths[0] :] *= np.sqrt(1 - theta) / beta[1]
    return np.linalg.svd(scaled, compute_uv=False).sum()


def largest_over_atoms(G, widths, beta, rng, starts=40):
    """max |G'c| over |a| <= beta_1, |b| <= beta_2, by alternating steps from many starts."""
    best, first = 0.0, widths[0]
    for _ in range(starts):
        c = rng.normal(size=len(G))
        for _ in range(200):
            g = G @ (G.T @ c)
            a, b = g[:first], g[first:]
            c = np.r_[beta[0] * a / np.linalg.norm(a), beta[1] * b / np.linalg.norm(b)]
        best = max(best, np.linalg.norm(G.T @ c))
    return best


def planted(n=40, d=(4, 5), rank=2, noise=0.3, seed=0):
    rng = np.random.RandomState(seed)
    H = rng.normal(size=(rank, n))
    return [rng.normal(size=(d_v, rank)) @ H + noise * rng.normal(size=(d_v, n)) for d_v in d]


def objective(Z, X, alpha, widths, beta):
    """With the norm on a grid of theta."""
    norms = [trace_norm_of_scaled(Z, widths, beta, t) for t in np.linspace(0, 1, 2001)]
    return ((Z - X) ** 2).sum() / 2 + alpha * max(norms)


# ------------------------------------------------------------------ the norm


@settings(max_examples=20)
@given(st.integers(0, 10_000), st.sampled_from([(1.0, 1.0), (1.0, 3.0), (0.5, 0.2)]))
def test_the_norm_is_the_largest_scaled_trace_norm(seed, beta):
    rng = np.random.RandomState(seed)
    for n in (3, 12):
        Z = rng.normal(size=(7, n)) * np.r_[np.ones(3), np.full(4, rng.uniform(0.2, 3))][:, None]
        grid = np.linspace(0, 1, 2001)
        values = np.array([trace_norm_of_scaled(Z, (3, 4), beta, t) for t in grid])
        assert np.diff(values, 2).max() <= 1e-10  # concave in theta
        value, theta = shared_norm(Z, (3, 4), beta)
        assert_allclose(value, values.max(), rtol=1e-6)
        assert_allclose(trace_norm_of_scaled(Z, (3, 4), beta, theta), value, rtol=1e-7)


@settings(max_examples=10)
@given(st.integers(0, 10_000), st.sampled_from([(1.0, 1.0), (1.0, 3.0)]))
def test_the_dual_norm_is_the_largest_over_the_columns(seed, beta):
    """Two views only: the search over theta and the direct maximisation meet."""
    rng = np.random.RandomState(seed)
    G = rng.normal(size=(7, 12))
    found = dual_norm(G, (3, 4), beta)
    assert_allclose(largest_over_atoms(G, (3, 4), beta, rng), found, rtol=1e-5)
    for _ in range(20):  # the two norms are dual: <G, Z> <= Omega*(G) Omega(Z)
        Z = rng.normal(size=(7, 12))
        assert (G * Z).sum() <= found * shared_norm(Z, (3, 4), beta)[0] * (1 + 1e-7)


@pytest.mark.parametrize("beta", [(1.0, 1.0), (2.0, 0.5)])
def test_one_sample_is_the_larger_of_two_norms(beta):
    a, b = np.array([1.0, -2.0, 2.0]), np.array([0.6, 0.8])
    z = np.r_[a, b][:, None]
    assert_allclose(shared_norm(z, (3, 2), beta)[0], max(3 / beta[0], 1 / beta[1]), rtol=1e-6)
    assert_allclose(dual_norm(z, (3, 2), beta), 3 * beta[0] + 1 * beta[1], rtol=1e-6)


def test_equal_views_at_one_half_are_a_plain_trace_norm():
    z = np.random.RandomState(0).normal(size=(4, 9))
    value, theta = shared_norm(np.vstack([z, z]), (4, 4))
    assert_allclose(value, np.linalg.norm(z, "nuc"), rtol=1e-7)
    assert_allclose(unscale(0.25, (1, 2), (1.0, 3.0)).ravel(), [2, *[3 / np.sqrt(0.75)] * 2])


# ------------------------------------------------------------------ the subspace


@pytest.mark.parametrize("alpha", [0.05, 0.3, 0.8])
@pytest.mark.parametrize("beta", [(1.0, 1.0), (1.0, 3.0)])
def test_minimum_by_descent_on_factors(alpha, beta):
    """min over U, H of 1/2 |UH - X|^2 + alpha sum_j max(|a_j|/beta_1, |b_j|/beta_2) |h_j|.

    Nothing of Omega is used. Every value is an upper bound; the roots are smoothed on the way.
    """
    views = planted(n=8, d=(2, 3))
    X, widths = np.vstack(views), (2, 3)
    weight = alpha * dual_norm(X, widths, beta)
    found = learn_subspace(views, weight, beta=beta, tol=1e-6)
    assert found.converged and found.gap <= 1e-6 * found.value

    def factors(v, eps):
        U, H = v[:30].reshape(5, 6), v[30:].reshape(6, 8)
        R = U @ H - X
        a = np.sqrt((U[:2] ** 2).sum(axis=0) / beta[0] ** 2 + eps)
        b = np.sqrt((U[2:] ** 2).sum(axis=0) / beta[1] ** 2 + eps)
        size = np.sqrt((a - b) ** 2 + eps)
        m, h = (a + b + size) / 2, np.sqrt((H**2).sum(axis=1) + eps)
        of_a, of_b = (1 + (a - b) / size) / 2, (1 - (a - b) / size) / 2
        dU = R @ H.T
        dU[:2] += weight * h * of_a * U[:2] / a / beta[0] ** 2
        dU[2:] += weight * h * of_b * U[2:] / b / beta[1] ** 2
        dH = U.T @ R + weight * (m / h)[:, None] * H
        return (R**2).sum() / 2 + weight * (m * h).sum(), np.r_[dU.ravel(), dH.ravel()]

    best = np.inf
    for seed in range(3):
        v = np.random.RandomState(seed).normal(size=30 + 48)
        for eps in (1e-2, 1e-4, 1e-6, 1e-9):
            options = {"maxiter": 4000, "maxfun": 8000}
            v = minimize(factors, v, args=(eps,), jac=True, method="L-BFGS-B", options=options).x
        best = min(best, factors(v, 0.0)[0] if v.all() else np.inf)
    assert found.value <= best * (1 + 2e-6)
    assert_allclose(found.value, best, rtol=2e-3)


@settings(max_examples=15)
@given(st.integers(0, 10_000), st.sampled_from([0.05, 0.3, 0.7]), st.sampled_from([4, 30]))
def test_the_subspace_is_what_it_says(seed, alpha, n):
    rng = np.random.RandomState(seed)
    views, beta = planted(n=n, seed=seed), (1.0, rng.uniform(0.3, 3))
    X = np.vstack(views)
    weight = alpha * dual_norm(X, (4, 5), beta)
    found = learn_subspace(views, weight, beta=beta, tol=1e-6)
    Z = np.vstack(found.U) @ found.H
    assert_allclose(objective(Z, X, weight, (4, 5), beta), found.value, rtol=1e-4)
    assert 0 <= found.gap <= 1e-6 * found.value and found.converged
    for size in (1e-1, 1e-2, 1e-3):  # no direction is better
        other = Z + size * rng.normal(size=Z.shape)
        assert objective(other, X, weight, (4, 5), beta) > found.value * (1 - 2e-6)
    # the residual is a subgradient: its dual norm is alpha, and the inner product is tight
    G = X - Z
    assert_allclose(dual_norm(G, (4, 5), beta), weight, rtol=1e-2)
    assert_allclose((G * Z).sum(), weight * shared_norm(Z, (4, 5), beta)[0], rtol=1e-2)


def test_alpha_takes_directions_away():
    views = planted(n=60, d=(5, 6), rank=2, noise=0.05)
    largest = dual_norm(np.vstack(views), (5, 6))
    ranks = [learn_subspace(views, a * largest).H.shape[0] for a in (0.001, 0.1, 0.95)]
    assert ranks[0] > 2 >= ranks[1] >= ranks[2] == 1
    assert not learn_subspace(views, 1.01 * largest, tol=1e-8).H.any()
    assert learn_subspace(views, 0.98 * largest).H.any()


def test_a_planted_subspace_is_found():
    views = planted(n=300, d=(8, 6), rank=2, noise=0.1)
    truth = np.linalg.svd(np.vstack(planted(n=300, d=(8, 6), rank=2, noise=0.0)))[2][:2]
    found = learn_subspace(views, 0.2 * dual_norm(np.vstack(views), (8, 6)))
    rows = np.linalg.qr(found.H.T)[0].T
    assert found.H.shape[0] == 2
    assert np.linalg.svd(rows @ truth.T, compute_uv=False).min() > 0.99


def test_rotations_and_order_of_views_do_not_matter():
    views = planted(n=20)
    first = learn_subspace(views, 3.0, beta=(1.0, 2.0), tol=1e-8)
    rng = np.random.RandomState(1)
    turned = [np.linalg.qr(rng.normal(size=(len(v), len(v))))[0] @ v for v in views]
    again = learn_subspace(turned, 3.0, beta=(1.0, 2.0), tol=1e-8)
    swapped = learn_subspace(views[::-1], 3.0, beta=(2.0, 1.0), tol=1e-8)
    assert_allclose([again.value, swapped.value], first.value, rtol=1e-7)
    assert_allclose(1 - swapped.theta, first.theta, atol=1e-2)
    Z = np.vstack(first.U) @ first.H
    assert_allclose(np.vstack(swapped.U[::-1]) @ swapped.H, Z, atol=1e-2)


def test_a_view_that_weighs_nothing_is_kept_as_it_is():
    """theta goes to its end where one bound is so wide that only the other view is penalised."""
    views = planted(n=20)
    found = learn_subspace(views, 3.0, beta=(1.0, 10.0), tol=1e-5)
    assert found.theta > 0.999 and found.converged
    P, sigma, Q = np.linalg.svd(views[0], full_matrices=False)
    Z = P @ (np.maximum(sigma - 3.0, 0)[:, None] * Q)
    assert_allclose(found.U[0] @ found.H, Z, atol=0.05)


# ------------------------------------------------------------------ the classifier


def test_labels_do_not_touch_the_subspace():
    a = MSL(random_state=0).fit(VIEWS, Y)
    b = MSL(random_state=0).fit(VIEWS, np.random.RandomState(0).permutation(Y))
    assert_array_equal(a.factor_, b.factor_)
    assert np.abs(a.coef_ - b.coef_).max() > 0.1


def test_parameters_reach_the_problem():
    model = MSL(0.4, beta=[1.0, 2.5], random_state=0).fit(VIEWS, Y)
    assert_allclose(model.alpha_, 0.4 * dual_norm(FLAT.T, WIDTHS, (1.0, 2.5)))
    by_hand = learn_subspace([v.T for v in VIEWS], model.alpha_, beta=(1.0, 2.5))
    assert_allclose(model.factor_, by_hand.H.T)
    Z = np.vstack(model.components_) @ model.factor_.T
    told = objective(Z, FLAT.T, model.alpha_, WIDTHS, (1.0, 2.5))
    assert_allclose(model.objective_, told, rtol=1e-5)
    assert 0 <= model.dual_gap_ <= 1e-4 * model.objective_


def test_new_samples_by_hand():
    """As ridge regression on rows of U; some miss a view."""
    model = MSL(random_state=0).fit(VIEWS, Y)
    U = model.components_
    ridge = np.sqrt(1e-3) * np.linalg.norm(np.vstack(U), 2) * np.eye(U[0].shape[1])
    observed = random_pattern(0, 60, 2)
    new = hide([view + 0.2 for view in VIEWS], observed)
    h = model.represent(new)
    for i in range(60):
        seen = np.flatnonzero(observed[i])
        A, x = np.vstack([*(U[v] for v in seen), ridge]), np.hstack([new[v][i] for v in seen])
        expected = np.linalg.lstsq(A, np.pad(x, (0, len(A) - len(x))), rcond=None)[0]
        assert_allclose(h[i], expected, atol=1e-9)
    f = h / model.scale_ @ model.coef_[0] + model.intercept_
    assert_allclose(model.decision_function(new), f, atol=1e-9)


def test_training_samples_with_gaps_by_hand():
    """The subspace from those that have both views, the SVM on the h of all."""
    observed = random_pattern(2, 60, 2)
    both = observed.all(axis=1)
    assert 20 < both.sum() < 50
    gaps = hide(VIEWS, observed)
    model = MSL(C=1.0, tol=1e-6, random_state=0).fit(gaps, Y)
    assert_array_equal(model.rows_, np.flatnonzero(both))
    few = MSL(tol=1e-6, random_state=0).fit([v[both] for v in VIEWS], Y[both])
    assert_allclose(model.factor_, few.factor_, atol=1e-12)
    F = few.represent(gaps)
    assert_allclose(model.scale_, np.sqrt((F**2).sum(axis=1).mean()))
    svm = LinearSVC(loss="hinge", tol=1e-8, max_iter=10**7, random_state=1)
    svm.fit(F / model.scale_, Y)
    assert_allclose(model.coef_, svm.coef_, atol=1e-3)
    assert_allclose(model.intercept_, svm.intercept_, atol=1e-3)
    never = hide(VIEWS, np.column_stack([observed[:, 0], ~observed[:, 0]]))
    with pytest.raises(ValueError, match="have two views, and there is none"):
        MSL().fit(hide([*VIEWS, VIEWS[0]], np.arange(60)[:, None] % 3 == np.arange(3)), Y)
    met = MSL(random_state=0).fit([*never, VIEWS[0]], Y)  # pairs (0, 2) and (1, 2) are left
    assert set(met.scores_) == {(0, 2), (1, 2)}


def test_the_best_pair_by_cross_validation():
    """Views 1 and 3 know the class, the others are noise."""
    rng = np.random.RandomState(0)
    views = [rng.normal(size=v.shape) if k in (0, 2) else v for k, v in enumerate(FOUR)]
    model = MSL(random_state=0).fit(views, NAMES[Y4])
    assert model.pair_ == (1, 3) and len(model.scores_) == 6
    assert model.scores_[1, 3] == max(model.scores_.values()) > model.scores_[0, 2] + 0.2
    two = [views[1], views[3]]
    given_pair = MSL(random_state=0).fit(two, NAMES[Y4])
    assert given_pair.pair_ == (0, 1) and given_pair.scores_ == {}
    assert_array_equal(given_pair.factor_, model.factor_)
    assert model.decision_function(views).shape == (90, 3)
    assert_array_equal(model.predict(views), given_pair.predict(two))
    alone = np.tile([True, False, False, False], (90, 1))
    assert not model.represent(hide(views, alone)).any()


def test_a_gap_is_told(monkeypatch):
    monkeypatch.setattr(subspace, "SEARCH", 1)
    with pytest.warns(ConvergenceWarning, match="MSL did not converge: its duality gap") as caught:
        MSL(beta=[1.0, 4.0], random_state=0).fit(VIEWS, Y)
    assert caught[0].filename == __file__


def test_nothing_to_learn_is_a_constant():
    zeros = [0 * view for view in VIEWS]
    model = MSL(random_state=0).fit(zeros, np.arange(60) < 45)
    assert_array_equal(model.predict(zeros), np.full(60, True))


@pytest.mark.parametrize("scale", [1e-130, 1e-60, 1e-8, 1e3, 1e60, 1e160])
def test_extreme_scales(scale):
    """A finite model, a warning or an error that says what to do; never NaN."""
    views = [scale * view for view in VIEWS]
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            model = MSL(random_state=0).fit(views, Y)
            expected = MSL(random_state=0).fit(VIEWS, Y).decision_function(VIEWS)
            assert_allclose(model.decision_function(views), expected, atol=1e-2)
        except ValueError as error:
            assert (scale > 1e50 or scale < 1e-50) and "Scale the views" in str(error)
    assert all(issubclass(w.category, ConvergenceWarning) for w in said)


def test_one_view_is_a_shrunk_singular_value_decomposition():
    model = MSL(0.3, beta=2.0, random_state=0).fit(FLAT, Y)
    P, sigma, Q = np.linalg.svd(FLAT.T, full_matrices=False)
    assert_allclose(model.alpha_, 0.3 * 2.0 * sigma[0], rtol=1e-6)
    Z = P @ (np.maximum(sigma - 0.3 * sigma[0], 0)[:, None] * Q)
    (U,) = model.components_
    assert_allclose(U @ model.factor_.T, Z, atol=1e-2)
    assert model.pair_ == (0,)


# ------------------------------------------------------------------ weights


@pytest.mark.parametrize("n", [5, 60])  # fewer samples than features, and more
def test_the_subspace_of_copies_is_that_of_the_weighted_table(n):
    """Nothing of the classifier: 1/2 sum_i w_i |z_i - x_i|^2 + alpha Omega of w_i copies of z_i."""
    views = [view[:n].T for view in VIEWS]
    w = np.random.default_rng(0).integers(1, 4, size=n)
    weight = 0.2 * dual_norm(np.vstack(views) * np.sqrt(w), WIDTHS)
    copied = learn_subspace([np.repeat(v, w, axis=1) for v in views], weight, tol=1e-9)
    found = learn_subspace([v * np.sqrt(w) for v in views], weight, tol=1e-9)
    Z, X = np.vstack(found.U) @ (found.H / np.sqrt(w)), np.vstack(views)
    norm = shared_norm(np.repeat(Z, w, axis=1), WIDTHS)[0]
    assert_allclose(((Z - X) ** 2 @ w).sum() / 2 + weight * norm, found.value, rtol=1e-7)
    assert_allclose(copied.value, found.value, rtol=1e-8)
    assert_allclose(np.vstack(copied.U) @ copied.H, np.repeat(Z, w, axis=1), atol=1e-3)


def test_a_weight_is_a_number_of_copies():
    """The subspace from those that have both views, the scale and the SVM of all."""
    w = np.random.default_rng(0).integers(0, 4, size=60)
    copies = np.repeat(np.arange(60), w)
    X = MultiView(hide(VIEWS, random_pattern(2, 60, 2)))
    weighted, repeated, plain = (MSL(0.3, tol=1e-9, random_state=0) for _ in range(3))
    weighted.fit(X, Y, sample_weight=w)
    expected = repeated.fit(X[copies], Y[copies]).decision_function(X)
    # The minimum is flat: a gap of 1e-9 leaves the square root of it in the scores.
    assert_allclose(weighted.decision_function(X), expected, atol=1e-3)
    assert_allclose(weighted.alpha_, repeated.alpha_, rtol=1e-9)
    assert_allclose(weighted.scale_, repeated.scale_, rtol=1e-4)
    both = X.observed.all(axis=1)
    Z, Z2 = (m.factor_ @ np.vstack(m.components_).T for m in (weighted, repeated))
    assert_allclose(np.repeat(Z, w[both & (w > 0)], axis=0), Z2, atol=1e-3)
    assert np.abs(plain.fit(X, Y).decision_function(X) - expected).max() > 0.01


def test_the_accuracies_that_choose_a_pair_are_weighted():
    """View 0 tells the class of the heavy half, and lies louder on the other; view 2 tells that."""
    rng = np.random.RandomState(0)
    y, half = rng.randint(2, size=200), np.arange(200) % 2 == 0
    noise = rng.normal(size=(3, 200, 2))
    told = np.column_stack([y, 1 - y]) * 4.0 - 2.0
    first = noise[0] + told * np.where(half, 1.0, -3.0)[:, None]
    views = [first, 0.1 * noise[1], noise[2] + told * ~half[:, None]]
    model = MSL(random_state=0).fit(views, y, sample_weight=np.where(half, 1.0, 1e-3))
    assert 0 in model.pair_
    assert model.scores_[0, 1] > 0.9 and model.scores_[1, 2] < 0.7
