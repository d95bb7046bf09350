"""CoLabeling: liblinear, quadratic programs, the min-max problem by hand, the exchange; the API."""

import numpy as np
import pytest
from cvxopt import matrix, solvers
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.linalg import cho_factor
from scipy.optimize import minimize_scalar, nnls
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import LinearSVC

from mvref import MultiView
from mvref.rivals import co_labeling
from mvref.rivals.co_labeling import CoLabeling, squared_hinge_svm, weigh_candidates
from tests.costs import peak_bytes
from tests.literal import QP_OPTIONS, hide, random_pattern, toy_views

WIDTHS = (3, 4, 2)
VIEWS, Y = toy_views(0, m=60, widths=WIDTHS, noise=1.5)
FLAT, SIGNS = np.hstack(VIEWS), np.where(Y == 1, 1.0, -1.0)
THREE, Y3 = toy_views(1, m=90, widths=WIDTHS, n_classes=3, noise=1.0)
NAMES = np.array(["ant", "bee", "cat"])


def linear(X, Z):
    product = X @ Z.T
    return product.toarray() if sparse.issparse(product) else product


def gaussian(X, Z, gamma):
    return np.array([[np.exp(-gamma * ((x - z) ** 2).sum()) for z in Z] for x in X])


def simplex_qp(H):
    """min 1/2 a'Ha over a >= 0, sum(a) = 1, by an interior point method; returns a."""
    zeros, ones = np.zeros(len(H)), np.ones((1, len(H)))
    program = map(matrix, (H, zeros, -np.eye(len(H)), zeros, ones, np.ones(1)))
    return np.array(solvers.qp(*program, options=QP_OPTIONS)["x"]).ravel()


def margin_one(M, C):
    """The dual max sum(a) - 1/2 a'(M + I/C)a, a >= 0, as non-negative least squares."""
    L = np.linalg.cholesky(M + np.eye(len(M)) / C)
    return nnls(L.T, np.linalg.solve(L, np.ones(len(M))))[0]


def inner_value(pool, mu, K, C):
    """Value of (*) for given mu: -1/2 over the sum of the margin-1 solution."""
    M = sum(m * K * np.outer(y, y) for m, y in zip(mu, pool, strict=True))
    return -1 / (2 * margin_one(M, C).sum())


# ------------------------------------------------------------------ the two problems


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.sampled_from([1e-3, 0.1, 1.0, 50.0, 1e4]))
def test_the_svm_is_non_negative_least_squares(seed, C):
    rng = np.random.RandomState(seed)
    X, y = rng.normal(size=(30, 4)), rng.choice([-1.0, 1.0], size=30)
    M = gaussian(X, X, 0.3) * np.outer(y, y)
    [alpha], [gap] = squared_hinge_svm(M, np.ones((1, 30)), C)
    assert_allclose(alpha, margin_one(M, C), atol=1e-6 * alpha.max())
    assert abs(gap) < 1e-8
    assert_allclose(alpha, C * np.maximum(0, 1 - M @ alpha), atol=1e-6 * alpha.max())


def newton_by_cholesky(K, y, C, w):
    """One label vector, half Newton steps, every system factorised: alpha."""
    b = np.zeros(len(K))
    for _ in range(100):
        inside = 1 - y * (K @ b) > 0
        A = K[np.ix_(inside, inside)] + np.diag(1 / (C * w[inside]))
        last, b = b, b / 2
        b[inside] += np.linalg.solve(A, y[inside]) / 2
        if np.abs(b - last).max() <= 1e-9 * np.abs(b).max():
            return b * y
    raise AssertionError("half steps go round in circles")


def three_classes(n, gamma):
    rng = np.random.RandomState(0)
    codes = np.arange(n) % 3
    X = rng.normal(size=(n, 5)) + 0.8 * rng.normal(size=(3, 5))[codes]
    Y = np.array([np.where(codes == k, 1.0, -1.0) for k in range(3)])
    return rbf_kernel(X, gamma=gamma) + 1, Y, rng.uniform(0.2, 3, size=n)


@pytest.mark.parametrize("products", [True, False])
@pytest.mark.parametrize(("C", "gamma"), [(0.01, 0.1), (1, 0.2), (1, 5.0), (30, 1e-3), (300, 0.2)])
def test_many_samples_by_products_and_by_factors(C, gamma, products, monkeypatch):
    """Three classes at once: each as by factorisations, by a gap that is recomputed here."""
    K, Y, w = three_classes(520, gamma)
    factors = []
    monkeypatch.setattr(
        co_labeling, "cho_factor", lambda A, **_: factors.append(len(A)) or cho_factor(A)
    )
    monkeypatch.setattr(co_labeling, "FLOPS", 1e-3 if products else np.inf)
    alpha, gaps = squared_hinge_svm(K, Y, C, weights=w)
    assert (max(factors) == 520 // 40) == products
    for y, a, gap in zip(Y, alpha, gaps, strict=True):
        assert_allclose(a, newton_by_cholesky(K, y, C, w), atol=1e-6 * a.max())
        f = K @ (a * y)
        primal = (a * y) @ f / 2 + C / 2 * w @ np.maximum(0, 1 - y * f) ** 2
        dual = a.sum() - (a * y) @ f / 2 - a @ (a / w) / C / 2
        assert -1e-12 * primal < primal - dual < 1e-8 * primal and abs(gap) < 1e-11
        assert a.min() >= 0 and (a == 0).any() == (C > 0.01 and gamma < 1)


def test_a_start_far_away_ends_at_the_same_point():
    """Steps that have to be shortened, and systems that have to be solved more exactly."""
    K, Y, w = three_classes(520, 0.2)
    far = 100 * np.abs(np.random.RandomState(1).normal(size=Y.shape))
    alpha, _ = squared_hinge_svm(K, Y, 3.0, weights=w)
    again, gaps = squared_hinge_svm(K, Y, 3.0, start=far, weights=w)
    assert_allclose(again, alpha, atol=1e-6 * alpha.max())
    assert gaps.max() < 1e-11


@pytest.mark.parametrize("n", [40, 520])
def test_no_kernel_is_refused(n):
    K = np.subtract.outer(np.arange(n), np.arange(n)) ** 2 / n
    with pytest.raises(ValueError, match="kernel .*positive"):
        squared_hinge_svm(K, np.where(np.arange(n) % 2, 1.0, -1.0)[None], 1.0)


def test_memory_is_two_kernels_of_one_view():
    rng = np.random.RandomState(0)
    y = np.arange(1500) % 5
    views = [rng.normal(size=(1500, 4)) + 0.2 * y[:, None] for _ in range(6)]
    assert peak_bytes(lambda: CoLabeling().fit(views, y)) < 2.5 * 8 * 1500**2


@pytest.mark.parametrize("C", [0.1, 1.0, 30.0])
def test_margin_rho_is_a_multiple_of_margin_one(C):
    """One candidate: the alpha of (*) is that of the SVM divided by its sum."""
    K = gaussian(FLAT, FLAT, 0.1)
    mu, alpha, _ = weigh_candidates(K, [SIGNS], C)
    assert_allclose(mu, [1.0])
    H = K * np.outer(SIGNS, SIGNS) + np.eye(60) / C
    a = simplex_qp(H)
    assert_allclose(alpha / alpha.sum(), a, atol=1e-6)
    assert_allclose(inner_value([SIGNS], [1.0], K, C), -a @ H @ a / 2, rtol=1e-7)


@settings(max_examples=15)
@given(st.integers(0, 10_000), st.sampled_from([0.1, 1.0, 30.0]))
def test_two_candidates_by_a_search_over_their_weights(seed, C):
    rng = np.random.RandomState(seed)
    X, y = rng.normal(size=(16, 3)), rng.choice([-1.0, 1.0], size=16)
    other = np.where(rng.uniform(size=16) < 0.3, -y, y)
    K, pool = gaussian(X, X, 0.2), np.array([y, other])
    mu, _, gap = weigh_candidates(K, pool, C, tol=1e-7, max_iter=5000)
    assert -1e-9 < gap <= 1e-7
    ours = inner_value(pool, mu, K, C)
    best = minimize_scalar(
        lambda m: inner_value(pool, [m, 1 - m], K, C), bounds=(0, 1), options={"xatol": 1e-6}
    )
    assert_allclose(ours, best.fun, rtol=1e-5)
    assert abs(mu[0] - best.x) < 0.02 or abs(best.fun - ours) < 1e-7 * abs(ours)


def test_weights_of_many_candidates_are_a_saddle_point():
    """No other mu is better by an interior point method, and mu is not what it started with."""
    rng = np.random.RandomState(0)
    X = rng.normal(size=(25, 3))
    K, pool = gaussian(X, X, 0.2), rng.choice([-1.0, 1.0], size=(5, 25))
    mu, alpha, gap = weigh_candidates(K, pool, 2.0, tol=1e-6, max_iter=5000)
    assert gap <= 1e-6 and mu.min() >= 0
    assert_allclose(mu.sum(), 1.0)
    ours = inner_value(pool, mu, K, 2.0)
    assert ours < inner_value(pool, np.full(5, 0.2), K, 2.0) - 1e-4 * abs(ours)
    for _ in range(20):
        assert inner_value(pool, rng.dirichlet(np.ones(5)), K, 2.0) > ours
    a = alpha / alpha.sum()  # the other side: max over t of the value of alpha
    lower = -max(a @ (K * np.outer(y, y)) @ a for y in pool) / 2 - a @ a / 4
    assert_allclose(lower, ours, rtol=1e-5)


def test_the_candidate_with_the_larger_margin_wins():
    x = np.r_[np.linspace(-3, -2, 8), np.linspace(2, 3, 8)][:, None]
    apart, mixed = np.sign(x[:, 0]), np.tile([1.0, -1.0], 8)
    mu, _, _ = weigh_candidates(x @ x.T, [mixed, apart], 1.0, tol=1e-5)
    assert mu[1] > 0.99


# ------------------------------------------------------------------ all labels known


@pytest.mark.parametrize("C", [0.01, 1.0, 20.0])
@pytest.mark.parametrize("B", [0.0, 1.0, 3.0])
def test_is_the_mean_of_linear_svms_with_squared_hinge(C, B):
    """liblinear writes C sum slack^2, here it is C/2."""
    model = CoLabeling(C, kernel=linear, intercept_scaling=B).fit(VIEWS, Y)
    new = [view[::-1] * 1.5 + 0.3 for view in VIEWS]
    options = {"fit_intercept": B > 0, "intercept_scaling": B or 1.0, "random_state": 0}
    svm = LinearSVC(C=C / 2, tol=1e-10, max_iter=1_000_000, **options)
    total = sum(svm.fit(v, Y).decision_function(z) for v, z in zip(VIEWS, new, strict=True))
    assert_allclose(model.decision_function(new), total / 3, atol=1e-5)
    assert_array_equal(model.n_candidates_, [[1]] * 3)
    assert model.n_rounds_ == 0 and model.transduction_ is None
    assert np.abs(model.dual_gap_).max() < 1e-8


def test_rbf_by_hand_with_missing_views():
    """Each machine learns from the samples of its view, and the mean is over the views there."""
    observed = random_pattern(3, 60, 3)
    X = hide(VIEWS, observed)
    model = CoLabeling(2.0, gamma=[0.1, 0.2, 0.3]).fit(X, Y)
    total = np.zeros(60)
    for view, seen, gamma in zip(VIEWS, observed.T, (0.1, 0.2, 0.3), strict=True):
        y, K = SIGNS[seen], gaussian(view[seen], view[seen], gamma) + 1
        total[seen] += K @ (margin_one(K * np.outer(y, y), 2.0) * y)
    assert not observed.all()
    assert_allclose(model.decision_function(X), total / observed.sum(axis=1), atol=1e-7)


# ------------------------------------------------------------------ weights


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_weights_multiply_C(scale):
    """Small ones too, where a step is long in units of an unweighted loss."""
    rng = np.random.RandomState(0)
    w = scale * rng.uniform(0.1, 3, size=60)
    M = gaussian(FLAT, FLAT, 0.1) * np.outer(SIGNS, SIGNS)
    [alpha], [gap] = squared_hinge_svm(M, np.ones((1, 60)), 2.0, weights=w)
    assert_allclose(alpha, margin_one(M, 2.0 * w), atol=1e-6 * alpha.max())
    assert abs(gap) < 1e-8


def test_weights_of_candidates_are_copies():
    """Several candidates: (*) on repeated rows, with one alpha for each copy."""
    rng = np.random.RandomState(0)
    X, pool = rng.normal(size=(20, 3)), rng.choice([-1.0, 1.0], size=(3, 20))
    K, w = gaussian(X, X, 0.2), rng.randint(1, 4, size=20)
    rows = np.repeat(np.arange(20), w)
    repeated = K[np.ix_(rows, rows)], pool[:, rows], 2.0
    for tol in (0.1, 1e-7):
        mu, alpha, gap = weigh_candidates(K, pool, 2.0, weights=w, tol=tol)
        mu_copies, copies, gap_copies = weigh_candidates(*repeated, tol=tol)
        assert -1e-9 < gap <= tol and (mu > 0.01).sum() >= 2
        assert_allclose(gap, gap_copies, rtol=1e-4)
        assert_allclose(mu, mu_copies, atol=1e-6)
        assert_allclose(alpha, np.bincount(rows, copies), atol=1e-6)
    plain, *_ = weigh_candidates(K, pool, 2.0, tol=tol)
    assert np.abs(plain - mu).max() > 0.01


@pytest.mark.parametrize("hidden", [False, True])
def test_weights_in_the_exchange_are_copies(hidden):
    """Of the labelled samples, with gaps and without; a weight of 0 is a sample left out."""
    views, y, unlabelled = two_ways(n_labelled=30, n=90)
    observed = random_pattern(0, 30, 2) if hidden else np.ones((30, 2), dtype=bool)
    X, weights = MultiView(hide(views, observed)), np.arange(30) % 3
    model = CoLabeling(max_rounds=2, tol=1e-8).fit(X, y, unlabelled, sample_weight=weights)
    rows = np.repeat(np.arange(30), weights)
    again = CoLabeling(max_rounds=2, tol=1e-8).fit(X[rows], y[rows], unlabelled)
    assert model.n_rounds_ == again.n_rounds_ == 2
    f = model.decision_function(unlabelled)
    assert_allclose(f, again.decision_function(unlabelled), atol=1e-4)
    plain = CoLabeling(max_rounds=2, tol=1e-8).fit(X, y, unlabelled)
    assert np.abs(f - plain.decision_function(unlabelled)).max() > 0.01


# ------------------------------------------------------------------ the exchange


def two_ways(n=120, n_labelled=12, seed=0):
    views, y = toy_views(seed, m=n, widths=(3, 2), noise=1.0)
    return [v[:n_labelled] for v in views], y[:n_labelled], [v[n_labelled:] for v in views]


def exchange_by_hand(views, y, unlabelled, C, n_rounds):
    """The loop for two views, each candidate by name, with the min-max problem of the module."""
    m, s = len(y), np.where(y == 1, 1.0, -1.0)
    together = [np.vstack(pair) for pair in zip(views, unlabelled, strict=True)]
    K = [gaussian(t, t, 1 / t.shape[1]) + 1 for t in together]
    f = [K_v[:, :m] @ (margin_one(K_v[:m, :m] * np.outer(s, s), C) * s) for K_v in K]
    pools = [[], []]
    for _ in range(n_rounds):
        said = [np.r_[s, np.where(f_v[m:] > 0, 1.0, -1.0)] for f_v in f]
        for v, other in ((0, 1), (1, 0)):
            if not any((said[other] == old).all() for old in pools[v]):
                pools[v].append(said[other])
        f = []
        for K_v, pool in zip(K, pools, strict=True):
            mu, alpha, _ = weigh_candidates(K_v, np.array(pool), C)
            f.append(K_v @ (alpha * (mu @ np.array(pool))))
    return np.mean(f, axis=0), [len(pool) for pool in pools]


@pytest.mark.parametrize("n_rounds", [1, 2, 3])
def test_the_exchange_by_hand(n_rounds):
    views, y, unlabelled = two_ways()
    model = CoLabeling(max_rounds=n_rounds).fit(views, y, unlabelled)
    f, sizes = exchange_by_hand(views, y, unlabelled, 1.0, n_rounds)
    assert model.n_rounds_ == n_rounds
    assert_array_equal(model.n_candidates_[:, 0], sizes)
    assert_allclose(model.decision_function(unlabelled), f[12:], atol=1e-6)
    assert_array_equal(model.transduction_, (f[12:] > 0).astype(int))


def test_one_round_teaches_a_view_the_labels_of_the_other():
    """The first view is noise: after one round its machine repeats what the second one said."""
    views, y, unlabelled = two_ways()
    rng = np.random.RandomState(0)
    views[0], unlabelled[0] = rng.normal(size=(12, 3)), rng.normal(size=(108, 3))
    model = CoLabeling(100.0, max_rounds=1, gamma=[2.0, 0.5]).fit(views, y, unlabelled)
    alone = CoLabeling(100.0, gamma=0.5).fit(views[1:], y).predict(unlabelled[1:])
    hidden = MultiView(unlabelled, observed=np.tile([True, False], (108, 1)))
    assert (model.predict(hidden) == alone).mean() > 0.95


def test_the_loop_ends_when_nothing_is_new():
    views, y, unlabelled = two_ways()
    long = CoLabeling(max_rounds=100).fit(views, y, unlabelled)
    assert 1 <= long.n_rounds_ < 100
    assert (long.n_candidates_ <= long.n_rounds_).all()
    again = CoLabeling(max_rounds=long.n_rounds_).fit(views, y, unlabelled)
    assert_array_equal(long.decision_function(views), again.decision_function(views))


def test_unlabelled_samples_in_every_form_and_several_classes():
    few, rest = np.arange(0, 90, 4), np.setdiff1d(np.arange(90), np.arange(0, 90, 4))
    X = MultiView(THREE)
    model = CoLabeling(max_rounds=2).fit(X[few], NAMES[Y3[few]], X[rest])
    assert model.transduction_.shape == (len(rest),)
    assert_array_equal(model.transduction_, model.predict(X[rest]))
    assert model.n_candidates_.shape == (3, 3)
    flat = np.hstack(THREE)
    cut = CoLabeling(max_rounds=2, views=list(WIDTHS)).fit(flat[few], NAMES[Y3[few]], flat[rest])
    assert_allclose(cut.decision_function(flat), model.decision_function(X), atol=1e-6)
    csr = [sparse.csr_matrix(view) for view in THREE]
    some, others = [v[few] for v in csr], [v[rest] for v in THREE]
    of_csr = CoLabeling(max_rounds=2).fit(some, NAMES[Y3[few]], others)
    assert_allclose(of_csr.decision_function(csr), model.decision_function(X), atol=1e-6)


def test_labelled_samples_may_miss_views():
    views, y, unlabelled = two_ways(n_labelled=30, n=90)
    observed = random_pattern(0, 30, 2)
    model = CoLabeling(max_rounds=2).fit(hide(views, observed), y, unlabelled)
    widths = [c.shape[1] for c in model.dual_coef_]
    assert_array_equal(widths, observed.sum(axis=0) + 60)
    assert model.n_rounds_ >= 1


def test_gram_matrices_are_kernels():
    views, y, unlabelled = two_ways()
    together = [np.vstack(pair) for pair in zip(views, unlabelled, strict=True)]
    K = [gaussian(t, t, 1 / t.shape[1]) for t in together]
    given_K = CoLabeling(kernel="gram", max_rounds=2)
    given_K.fit([k[:12] for k in K], y, [k[12:] for k in K])
    expected = CoLabeling(max_rounds=2).fit(views, y, unlabelled).decision_function(together)
    assert_allclose(given_K.decision_function(K), expected, atol=1e-8)


# ------------------------------------------------------------------ the API


def test_a_second_fit_forgets_the_first():
    views, y, unlabelled = two_ways()
    used = CoLabeling().fit(views, y, unlabelled).fit(VIEWS, Y)
    fresh = CoLabeling().fit(VIEWS, Y)
    assert set(vars(used)) == set(vars(fresh)) and used.transduction_ is None
    assert_array_equal(used.decision_function(VIEWS), fresh.decision_function(VIEWS))


def test_weights_that_stop_too_early_are_told():
    views, y, unlabelled = two_ways()
    with pytest.warns(ConvergenceWarning, match="CoLabeling did not converge.*tol=1e-12") as caught:
        CoLabeling(tol=1e-12, max_rounds=3).fit(views, y, unlabelled)
    assert caught[0].filename == __file__
