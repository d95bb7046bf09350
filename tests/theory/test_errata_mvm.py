"""Errata and remarks M1 to M11 of multi-view machines, each with what decides it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from mvref import MVMClassifier
from mvref.datasets import make_interactions
from mvref.mvm.model import Objective, leave_one_out, prefix_products, start_factors
from mvref.mvm.solvers import AdaGrad, als, als_sweep, balance_norms, lbfgs
from mvref.rivals import FMClassifier
from tests import literal_mvm as literal
from tests.mvm.test_mvm import WIDTHS, design_of, flat, planted


def draws(sizes, rng):
    return [rng.normal(size=size) for size in sizes]


def objective_of(views, y, k, *, loss="logistic", penalty="l2", alpha=0.0):
    options = {"loss": loss, "penalty": penalty, "alpha": alpha, "smoothing": 1e-6}
    return Objective(design_of(views, k), y, **options)


def scores_of(views, A):
    return objective_of(views, np.zeros(len(views[0])), A[0].shape[1]).design.scores(A)


def normal_start(V, k, sigma, rng):
    """Line 1 of Algorithm 1, for views of 5 features."""
    return [rng.normal(0.0, sigma, (6, k)) for _ in range(V)]


def live_start(V, k, rng):
    A = [np.vstack([rng.normal(0.0, 0.1 / np.sqrt(5), (5, k)), np.ones(k)]) for _ in range(V)]
    A[0][-1, 1::2] = -1.0
    return A


def largest(arrays):
    return max(np.abs(A).max() for A in arrays)


def accuracy(views, y, A):
    return np.mean(np.sign(scores_of(views, A)) == y)


@pytest.mark.parametrize(("V", "size"), [(4, 2e-6), (8, 4e-13)])
def test_M2_the_gradient_at_the_papers_start_falls_like_sigma_to_the_V_minus_1(V, size):
    rng = np.random.default_rng(2)
    views = draws([(500, 5)] * V, rng)
    objective = objective_of(views, np.sign(views[0][:, 0] + 0.3), 4)
    A = normal_start(V, 4, 1.0, rng)  # as in the reference, in units of sigma

    def steepest(sigma):
        return largest(objective.value_and_gradient([sigma * a for a in A])[1])

    assert f"{steepest(0.01):.0e}" == f"{size:.0e}"
    assert_allclose(steepest(0.001) / steepest(0.01), 0.1 ** (V - 1), rtol=1e-3)
    for rng in map(np.random.RandomState, range(5)):
        A = start_factors("live", 0.1, objective.design, rng)
        assert 0.3 < largest(objective.value_and_gradient(A)[1]) < 0.41  # reference: .34 to .40


def test_M2_scores_at_the_papers_start_vanish_with_the_views():
    """sqrt(k) (sigma^2 E|z|^2)^(V/2) = 3.7e-5 for V = 8, k = 8 and sigma = .1; measured 3.1e-5."""
    for V in (2, 4, 8):
        views, _ = planted(V, n=300)
        starts = [normal_start(V, 8, 0.1, np.random.default_rng(seed)) for seed in range(20)]
        spread = np.std([scores_of(views, A) for A in starts])
        predicted = np.sqrt(8) * 0.06 ** (V / 2)
        assert_allclose(spread, predicted, rtol=0.25)
    assert (f"{spread:.1e}", f"{predicted:.1e}") == ("3.1e-05", "3.7e-05")


@pytest.mark.parametrize(
    ("V", "sigma", "collapsed"),
    [(2, 0.01, 0), (4, 0.01, 5), (6, 0.01, 5), (6, 0.1, 5), (8, 0.01, 5), (8, 0.1, 5), (6, 0.5, 0)],
)
def test_M2_lbfgs_from_the_papers_start_goes_to_zero(V, sigma, collapsed):
    """lambda = 1e-3, k = 4, five seeds; the majority class has .564."""
    views, y = planted(V)
    assert max(np.mean(y > 0), np.mean(y < 0)) == 0.564
    objective, ends = objective_of(views, y, 4, alpha=1e-3), []
    for seed in range(5):
        A = normal_start(V, 4, sigma, np.random.default_rng(seed))
        ends.append(lbfgs(objective, A, tol=1e-5, max_iter=500, tick=list).factors)
    scores = [accuracy(views, y, A) for A in ends]
    assert sum(largest(A) < 1e-2 for A in ends) == collapsed
    if collapsed:
        assert max(scores) < 0.7  # the sign of scores of about 1e-15
        for seed in range(5):  # so does the estimator, and says it
            model = MVMClassifier(4, init="paper", init_scale=sigma, random_state=seed)
            with pytest.warns(ConvergenceWarning, match="collapsed.*init='live'"):
                assert largest(model.fit(views, y).factors_) < 0.05
    elif V == 6:
        assert_allclose(np.mean(scores), 0.945, atol=0.02)


def test_M2_gradient_descent_needs_a_large_sigma():
    """V = 3, lambda = .01: up to .05 it goes to 0, and .1 does not."""
    views, y = planted(3, n=300)
    objective, found = objective_of(views, y, 4, alpha=0.01), {}
    for sigma in (0.01, 0.05, 0.1):
        A = normal_start(3, 4, sigma, np.random.default_rng(0))
        for _ in range(2500):
            gradient = objective.value_and_gradient(A)[1]
            A = [a - 0.2 * g for a, g in zip(A, gradient, strict=True)]
        found[sigma] = largest(A), accuracy(views, y, A)
    assert max(found[0.01][0], found[0.05][0]) < 1e-3 and found[0.1][0] > 0.5
    assert max(found[0.01][1], found[0.05][1]) < 0.75 < 0.9 < found[0.1][1]


@pytest.mark.parametrize(("share", "alive"), [(0.95, True), (1.05, False)])
def test_M2_with_two_views_zero_is_a_minimum_above_a_threshold_only(share, alive):
    """2 lambda against the largest singular value of the mean of l'(0) z1 z2'."""
    views, y = planted(2)
    Z = [np.c_[view, np.ones(500)] for view in views]
    threshold = np.linalg.norm(Z[0].T @ (-y[:, None] / 2 * Z[1]) / 500, 2) / 2
    objective = objective_of(views, y, 4, alpha=share * threshold)
    A = normal_start(2, 4, 1e-3, np.random.default_rng(0))
    found = lbfgs(objective, A, tol=1e-10, max_iter=1000, tick=lambda: None)
    assert (largest(found.factors) > 0.05) == alive
    assert (found.curve[-1] < np.log(2) - 1e-5) == alive


@pytest.mark.parametrize("V", [3, 4, 6])
def test_M2_the_radius_of_the_basin(V):
    """(2 lambda V^(V/2-1) / tau)^(1/(V-2)): inside F rises outwards, and just outside it may fall.

    tau is the largest value of the mean of l'(0) <z1, u1> .. <zV, uV> over unit vectors: at least
    what alternating maximisation finds, at most the norm of the mean as a matrix.
    """
    views, y = planted(V)
    Z = np.stack([np.c_[view, np.ones(500)] for view in views])
    objective, rng = objective_of(views, y, 2, alpha=1e-3), np.random.default_rng(0)
    others = [[u for u in range(V) if u != v] for v in range(V)]
    found = []
    for _ in range(20):
        U = draws([6] * V, rng)
        for v in list(range(V)) * 100:
            step = Z[v].T @ (-y / 1000 * np.prod([Z[u] @ U[u] for u in others[v]], axis=0))
            U[v] = -step / np.linalg.norm(step)
        found.append((np.linalg.norm(step), U))
    least, U = max(found, key=lambda pair: pair[0])
    grams = [np.prod([Z[u] @ Z[u].T for u in others[v]], axis=0) for v in range(V)]
    weighted = Z * (y / 1000)[:, None]
    most = min(np.linalg.norm(z.T @ K @ z, 2) ** 0.5 for z, K in zip(weighted, grams, strict=True))
    crude = np.mean(np.prod(np.linalg.norm(Z, axis=2), axis=0)) / 2
    assert least <= most < crude / 3

    def outwards(A, norm):
        A = [norm / np.linalg.norm(flat(A)) * a for a in A]
        return flat(A) @ flat(objective.value_and_gradient(A)[1]) / norm**2

    inner, edge = ((2e-3 * V ** (V / 2 - 1) / tau) ** (1 / (V - 2)) for tau in (most, least))
    worst = [np.c_[u, np.zeros(6)] for u in U]  # one factor, along the maximiser
    for A in [worst, *(normal_start(V, 2, 1.0, rng) for _ in range(50))]:
        for share in (0.01, 0.5, 0.99):
            assert outwards(A, share * inner) > 0
    if V == 3:  # so near 0 that the loss is linear: there is no larger radius
        assert outwards(worst, 0.98 * edge) > 0 > outwards(worst, 1.02 * edge)


def sgd(views, y, A, rate):
    """20 epochs of Algorithm 1, a sample at a time, lambda = 1e-4."""
    rng, V = np.random.default_rng(0), len(A)
    Z = np.stack([np.c_[view, np.ones(len(y))] for view in views])
    A, others = np.stack(A), [[u for u in range(V) if u != v] for v in range(V)]
    for i in np.concatenate([rng.permutation(len(y)) for _ in range(20)]):
        z = Z[:, i]
        S = (z[:, None] @ A)[:, 0]
        slope = -y[i] / (1.0 + np.exp(y[i] * S.prod(axis=0).sum()))
        G = slope * z[:, :, None] * S[others].prod(axis=1)[:, None] + 2e-4 * A
        A = A - rate * G
        if not np.abs(A).max() < 1e6:
            return None
    return np.mean(np.sign(np.prod(Z @ A, axis=0).sum(axis=1)) == y)


@pytest.mark.parametrize("V", [3, 5, 8])
def test_M2_constant_steps_diverge_or_stall(V):
    """.05 diverges for V >= 3, .001 stalls; AdaGrad needs no such choice, but a live start."""
    views, y = planted(V, n=300)
    live = live_start(V, 4, np.random.default_rng(0))
    paper = normal_start(V, 4, 0.1, np.random.default_rng(0))
    with np.errstate(all="ignore"):
        assert sgd(views, y, live, 0.05) is None
    assert sgd(views, y, live, 0.01) >= 0.99
    assert 0.8 <= sgd(views, y, live, 0.001) <= 0.88
    options = {"solver": "sgd", "alpha": 1e-4, "max_iter": 20, "batch_size": 4, "random_state": 0}
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        assert MVMClassifier(4, **options).fit(views, y).score(views, y) >= 0.99
    assert V == 3 or sgd(views, y, paper, 0.01) < 0.65  # chance


def test_M3_more_factors_fit_better_and_may_predict_worse():
    """A product of rank one, 200 samples, a fifth of the labels wrong; the best of three starts."""
    fitted, right = {}, {}
    for k in (1, 8):
        best = []
        for seed in range(5):
            data = make_interactions(2200, 2, "full", rank=1, noise=0.2, random_state=seed)
            X, y = data.X, data.y
            fits = [MVMClassifier(k, random_state=s).fit(X[:200], y[:200]) for s in range(3)]
            model = min(fits, key=lambda fit: fit.loss_curve_[-1])
            best.append((model.loss_curve_[-1], model.score(X[200:], y[200:])))
        fitted[k], right[k] = np.transpose(best)
    assert (fitted[8] < fitted[1] - 0.02).all()
    assert right[8].mean() < right[1].mean() - 0.04


def test_M3_the_best_objective_cannot_rise_with_k():
    """A factor of zeros costs nothing, so that k + 1 factors contain k."""
    views, y = planted(3, n=100)
    A = normal_start(3, 2, 0.5, np.random.default_rng(0))
    small, large = (objective_of(views, y, k, alpha=0.01) for k in (2, 4))
    wider = [np.hstack([a, np.zeros((6, 2))]) for a in A]
    assert_allclose(large.value(wider), small.value(A), rtol=1e-14)


def test_M4_the_bias_row_is_never_skipped():
    """A sample without features still moves the bias rows, and them only."""
    y = np.array([1.0, 1.0])
    objective = objective_of([sparse.csr_matrix((2, 3))] * 2, y, 2, alpha=0.1)
    A = normal_start(2, 2, 1.0, np.random.default_rng(0))
    A = [a[-4:] for a in A]
    state = AdaGrad([a.copy() for a in A], np.random.RandomState(0), objective.design)
    assert state.epoch(objective, 0.1, 1)
    for before, after in zip(A, state.factors, strict=True):
        assert_array_equal(after[:-1], before[:-1])
        assert np.abs(after[-1] - before[-1]).min() > 0.05


@pytest.mark.parametrize("form", ["csr", "dense"])
def test_M4_penalty_of_touched_rows_is_weighted_by_frequency(form):
    """Sparse: a feature's penalty counts in the share of batches it is in; dense: in all."""
    rng = np.random.default_rng(0)
    levels = rng.choice(6, (40, 2), p=[0.5, 0.2, 0.1, 0.1, 0.05, 0.05])
    views = [np.eye(6)[level] for level in levels.T]
    given = views if form == "dense" else [sparse.csr_matrix(view) for view in views]
    objective = objective_of(given, rng.choice([-1.0, 1.0], 40), 2, alpha=0.3)
    A = draws([(7, 2)] * 2, rng)
    state = AdaGrad([a.copy() for a in A], np.random.RandomState(0), objective.design)
    for squares in state.squares:
        squares[:] = 1e12  # so large that the steps of AdaGrad are constant, rate / 1e6
    assert state.epoch(objective, 0.1, 4)
    order = np.random.RandomState(0).permutation(40).reshape(10, 4)
    without = objective_of(views, objective.y, 2).value_and_gradient(A)[1]
    for v in range(2):
        share = np.array([views[v][batch].any(axis=0) for batch in order]).mean(axis=0)
        assert share.min() < 0.6 < share.max()
        weight = np.append(share if form == "csr" else np.ones(6), 1.0)
        expected = without[v] + 0.6 * weight[:, None] * A[v]
        assert_allclose((A[v] - state.factors[v]) / 1e-7 / 10, expected, atol=1e-5)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_M5_the_gradient_is_no_stopping_rule_for_the_hinge(loss):
    """One view and one factor, a linear SVM: steep at its minimum, where L-BFGS comes near."""
    slopes, gaps = [], []
    for rng in map(np.random.default_rng, range(8)):
        X = rng.normal(size=(30, 5))
        y = np.sign(X[:, 0] + 0.5 * rng.normal(size=30))
        objective = objective_of([X], y, 1, loss=loss, alpha=0.01)

        def value_and_gradient(theta, objective=objective):
            value, gradient = objective.value_and_gradient([theta.reshape(6, 1)])
            return value, gradient[0].ravel()

        found = minimize(value_and_gradient, np.zeros(6), jac=True, method="L-BFGS-B")
        svm = LinearSVC(C=1 / 0.6, loss=loss, fit_intercept=False, tol=1e-8, max_iter=10**6)
        best, slope = value_and_gradient(svm.fit(np.c_[X, np.ones(30)], y).coef_.ravel())
        slopes.append(np.abs(slope).max())
        gaps.append(found.fun / best - 1)
    if loss == "squared_hinge":
        assert max(slopes) < 1e-4 and max(gaps) < 1e-6
    else:
        assert min(slopes) > 0.01 and 1e-4 < max(gaps) < 0.02
        with pytest.raises(ValueError, match="derivative"):
            MVMClassifier(loss="hinge").fit([X], y)


class Counted(np.ndarray):
    """An array that counts the numbers it multiplies."""

    products = 0

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **options):
        plain = [np.asarray(i) for i in inputs]
        Counted.products += (ufunc is np.multiply) * max(i.size for i in plain)
        if out is not None:
            options["out"] = tuple(np.asarray(o) for o in out)
            getattr(ufunc, method)(*plain, **options)
            return out[0]
        return getattr(ufunc, method)(*plain, **options).view(Counted)


def test_M6_all_leave_one_out_products_cost_less_than_three_per_view():
    """One by one they are V (V - 2) products, Eq. (16) taken literally."""
    counts = []
    for V in (3, 6, 12, 24):
        S = [s.view(Counted) for s in draws([(5, 2)] * V, np.random.default_rng(V))]
        terms = [list(range(V))]
        Counted.products = 0
        _, prefixes = prefix_products(S, terms)
        H = leave_one_out(S, terms, prefixes, np.ones(5).view(Counted))
        counts.append(Counted.products / 10)
        for v in range(V):
            others = np.prod([np.asarray(s) for u, s in enumerate(S) if u != v], axis=0)
            assert_allclose(np.asarray(H[v]), others, rtol=1e-12)
        assert V <= counts[-1] <= 3 * V
    assert_allclose(np.diff(counts) / [3, 6, 12], 3.0)  # linear: three products for each view more


@pytest.fixture(scope="module")
def reference():
    """The reference's numbers of M7 to M9 and of the gauge, drawn in his order."""
    rng = np.random.default_rng(0)
    views = draws([(7, d) for d in WIDTHS], rng)
    draws([(d + 1, 3) for d in WIDTHS], rng)
    rng.choice([-1.0, 1.0], 7)
    numbers = {"views": views, "V": draws([(3, 2), (4, 2)], rng), "w": draws([3, 4], rng)}
    numbers |= {"tied": draws([(4, 2), (5, 2)], rng), "linear": draws(WIDTHS, rng)}
    draws([(d + 1, 2) for d in WIDTHS], rng)
    return numbers | {"gauge": draws([4, 5, 3], rng)}


def linear_machine(weights, intercept):
    """V factors, one per view, with the intercept in the bias row of the first."""
    A = [np.vstack([np.zeros((len(w), len(weights))), np.ones(len(weights))]) for w in weights]
    for v, w in enumerate(weights):
        A[v][:, v] = np.append(w, intercept if v == 0 else 0.0)
    return A


def test_M7_a_linear_model_needs_V_factors_only(reference):
    """9e-16; and a fitted linear SVM is such a machine."""
    views, w = reference["views"], reference["linear"]
    expected = [literal.linear(x, w, 0.5) for x in zip(*views, strict=True)]
    assert np.abs(scores_of(views, linear_machine(w, 0.5)) - expected).max() < 2e-15
    X, y = planted(4, n=200)
    svm = LinearSVC(dual=False).fit(np.hstack(X), y)
    A = linear_machine(np.split(svm.coef_[0], 4), svm.intercept_[0])
    assert_allclose(scores_of(X, A), svm.decision_function(np.hstack(X)), atol=1e-12)


def test_M7_fewer_factors_are_not_enough():
    """x_1 + x_2 + x_3 has rank 3: one factor fails, and two come as near as one likes.

    [(1 + t x_1) (1 + t x_2) (1 + t x_3) - 1] / t has factors that grow without bound as t -> 0.
    """
    views = draws([(200, 1)] * 3, np.random.default_rng(0))
    y = sum(view[:, 0] for view in views)
    objective = objective_of(views, y, 1, loss="squared")
    least = min(
        lbfgs(objective, draws([(2, 1)] * 3, rng), tol=1e-8, max_iter=500, tick=list).curve[-1]
        for rng in map(np.random.default_rng, range(5))
    )
    assert least > 1.0
    errors, sizes = [], []
    for t in (1e-2, 1e-3, 1e-4):
        A = [np.array([[t, 0.0], [1.0, 1.0]]) * t ** (-1 / 3) for _ in range(3)]
        A[0][:, 1] *= -1.0
        errors.append(np.abs(scores_of(views, A) - y).max())
        sizes.append(largest(A))
    assert_allclose(np.array(errors[1:]) / errors[:-1], 0.1, rtol=0.05)
    assert_allclose(np.array(sizes[1:]) / sizes[:-1], 10 ** (1 / 3))


def fm_machine(w0, w, V):
    """FM(27) with k factors as a multi-view machine with k + 2."""
    zeros, bias = [np.zeros(len(part)) for part in w], np.zeros(V[0].shape[1])
    first = np.vstack([np.c_[V[0], w[0], zeros[0]], [*bias, w0, 1.0]])
    second = np.vstack([np.c_[V[1], zeros[1], w[1]], [*bias, 1.0, 0.0]])
    return [first, second]


def test_M8_fm_of_two_views_is_mvm_with_two_factors_more(reference):
    """9e-16 and, with tied linear weights, 4e-16; and so for a fitted machine."""
    views, V, w = reference["views"][:2], reference["V"], reference["w"]
    rows = list(zip(*views, strict=True))
    expected = [literal.factorisation_machine(x, 0.7, w, V) for x in rows]
    assert np.abs(scores_of(views, fm_machine(0.7, w, V)) - expected).max() < 4e-15
    A, B = reference["tied"]
    tied = A[-1] @ B[-1], [A[:-1] @ B[-1], B[:-1] @ A[-1]], [A[:-1], B[:-1]]
    expected = [literal.factorisation_machine(x, *tied) for x in rows]
    assert np.abs(scores_of(views, [A, B]) - expected).max() < 4e-15

    X, y = planted(2, n=200)
    fm = FMClassifier(3, multiview=True, random_state=0).fit(X, y)
    parts = np.split(fm.coef_, 2), np.split(fm.factors_[0], 2)
    A = fm_machine(fm.intercept_, *parts)
    assert_allclose(scores_of(X, A), fm.decision_function(X), atol=1e-10)


def bordered_rank(model, X):
    """Rank of the tensor W of two views, bias row and column included, from the scores."""
    first, second = (np.eye(view.shape[1] + 1)[:, :-1] for view in X)  # the last row is zero
    n, m = len(first), len(second)
    pairs = [np.repeat(first, m, axis=0), np.tile(second, (n, 1))]
    W = model.decision_function(pairs).reshape(n, m)
    W[:-1] -= W[-1]
    W[:, :-1] -= W[:, [-1]]
    return np.linalg.matrix_rank(W, tol=1e-8 * np.abs(W).max())


def test_M8_the_multi_view_machine_is_the_smaller_class():
    """W has rank k; that of the factorisation machine k + 2, with w0 and w in its border."""
    X, y = planted(2, n=200)
    for k in (1, 2, 3):
        assert bordered_rank(MVMClassifier(k, random_state=0).fit(X, y), X) == k
        fm = FMClassifier(k, multiview=True, alpha=1e-5, random_state=0).fit(X, y)
        assert bordered_rank(fm, X) == k + 2


def test_gauge_without_a_penalty_of_bias_rows_the_infimum_is_not_attained(reference):
    """The same linear function: features cost .386, 3.9e-5, 3.9e-9; bias rows pay for it."""
    views, w = reference["views"], reference["linear"][0]
    zeros = [np.zeros((4, 1)), np.zeros((2, 1))]
    costs = []
    for c in (1.0, 1e-2, 1e-4):
        A = [np.append(c * w, 0.0)[:, None], *(np.vstack([z, [[1.0]]]) for z in zeros)]
        A[1][-1] = 1 / c
        assert_allclose(scores_of(views, A), views[0] @ w, rtol=1e-12)
        costs.append((sum((a[:-1] ** 2).sum() for a in A), sum((a**2).sum() for a in A)))
    features, whole = np.array(costs).T
    assert_allclose(features, [0.386, 3.86e-5, 3.86e-9], rtol=2e-3)
    assert whole[2] > whole[1] > whole[0]
    best = balance_norms(A, [[0, 1, 2]])
    least = 3 * np.linalg.norm(w) ** (2 / 3)  # V (prod |a_v|)^(2/V): attained, as Eq. (14) reads
    assert_allclose(sum((a**2).sum() for a in best), least)
    assert least < whole[0]


def test_gauge_of_least_penalty(reference):
    """5.92928: V (prod |a_v|)^(2/V), the least over all gauges found by a minimiser."""
    a = reference["gauge"]
    norms = np.array([np.linalg.norm(part) for part in a])
    balanced = balance_norms([part[:, None] for part in a], [[0, 1, 2]])
    penalty = sum((part**2).sum() for part in balanced)

    def of_gauge(t):
        return np.exp(2 * np.append(t, -t.sum())) @ norms**2

    assert f"{penalty:.5f}" == "5.92928"
    assert_allclose(minimize(of_gauge, np.zeros(2), options={"gtol": 1e-9}).fun, penalty, rtol=1e-8)
    assert_allclose(penalty, 3 * norms.prod() ** (2 / 3), rtol=1e-12)


def test_gauge_of_two_views_is_the_nuclear_norm():
    """The least penalty of A_1 A_2' = W is twice the sum of its singular values."""
    rng = np.random.default_rng(0)
    U, s, Vt = np.linalg.svd(rng.normal(size=(6, 3)) @ rng.normal(size=(3, 5)))
    best = [U[:, :3] * np.sqrt(s[:3]), Vt[:3].T * np.sqrt(s[:3])]
    least = sum((a**2).sum() for a in best)
    assert_allclose(least, 2 * s.sum())
    for _ in range(20):
        T = rng.normal(size=(3, 3))
        other = [best[0] @ T, best[1] @ np.linalg.inv(T).T]
        assert sum((a**2).sum() for a in balance_norms(other, [[0, 1]])) >= least


def test_als_without_balance_ends_in_swamps():
    """60 sweeps from three starts: .352, .029, 1.477; L-BFGS .0251 from each."""
    rng = np.random.default_rng(2)
    views = draws([(500, 5)] * 3, rng)
    y = scores_of(views, normal_start(3, 2, 0.6, rng)) + 0.1 * rng.normal(size=500)
    objective = objective_of(views, y, 2, loss="squared", alpha=1e-3)
    starts = [normal_start(3, 2, s, rng) for s in (0.01, 0.5)] + [live_start(3, 2, rng)]
    swamps, best, balanced = [], [], []
    for A in starts:
        best.append(lbfgs(objective, A, tol=1e-7, max_iter=2000, tick=list).curve[-1])
        balanced.append(als(objective, A, tol=0.0, max_iter=60, tick=list).curve[-1])
        A, value = list(A), objective.value(A)
        for _ in range(60):
            value = als_sweep(objective, A, value)
        swamps.append(value)
    assert_allclose(swamps, [0.352, 0.029, 1.477], atol=6e-4)
    assert_allclose(best, 0.0251, atol=6e-5)
    assert_allclose(balanced[:2], best[:2], rtol=1e-4)  # the third is in a swamp all the same
    assert balanced[2] < swamps[2]
