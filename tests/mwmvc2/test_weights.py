"""Weights of a two-level vote: literal twins, guarantees, counterexamples and optima."""

import numpy as np
import pytest
from cvxopt import matrix, solvers
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linprog
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from mvref.mwmvc2 import weights as two_level
from mvref.mwmvc2.weights import learn_weights, loss, mixture, reweigh, step_length, vertex
from tests import literal_mwmvc2 as literal

STEPS, RHO_STEPS = ["backtrack", "collins"], ["qp", "exact"]
ODD_VOTERS = ["perfect", "constant", "duplicate", "copy", "gone"]
seeds = st.integers(0, 2**31)


def random_tables(seed, m=None, n_voters=None, gaps=True):
    """Tables y_i h_vj(x_i) of voters of every quality; some samples miss some views."""
    rng = np.random.default_rng(seed)
    m = m or rng.integers(4, 30)
    Ms = []
    for n in n_voters or rng.integers(1, 6, size=rng.integers(1, 5)):
        M = np.where(rng.random((m, n)) < rng.uniform(0.5, 0.95, size=n), 1.0, -1.0)
        if gaps and rng.random() < 0.5:
            M[rng.random(m) < 0.3] = 0.0
        Ms.append(M)
    return Ms


@st.composite
def tables(draw):
    """Tables with every degenerate voter that training can yield."""
    Ms = random_tables(draw(seeds), gaps=draw(st.booleans()))
    for kind in draw(st.sets(st.sampled_from(ODD_VOTERS))):
        v = draw(st.integers(0, len(Ms) - 1))
        present = np.abs(Ms[v][:, :1])
        if kind == "perfect":
            Ms[v] = np.hstack([Ms[v], present])
        elif kind == "constant":  # always the same class: right where y is that class
            Ms[v] = np.hstack([Ms[v], present * (-1.0) ** np.arange(len(present))[:, None]])
        elif kind == "duplicate":
            Ms[v] = np.repeat(Ms[v], draw(st.integers(2, 6)), axis=1)
        elif kind == "copy":
            Ms.append(Ms[v].copy())
        else:  # a view that nobody has
            Ms[v] = np.zeros_like(Ms[v])
    return Ms


def copies_of_one(n):
    """The table of a voter that is right on three samples of four, n times."""
    return np.repeat([[1.0], [1.0], [1.0], [-1.0]], n, axis=1)


def margins(Ms, weights):
    return sum(r * (M @ p) for r, M, p in zip(weights.rho, Ms, weights.pi, strict=True))


def presence(Ms):
    return np.column_stack([M[:, 0] != 0 for M in Ms]).astype(float)


def seen_quality(Ms, z):
    """W+ and W- of every voter, one sum per voter."""
    q = [literal.sigma(z_i) for z_i in z]
    return [literal.signed_weights(M, q) for M in Ms]


# ------------------------------------------------------------------ the literal twins


def assert_same_paths(fast, slow, close, voters=None):
    """What learn_weights found, and its twin."""
    assert_allclose(fast.loss_curve, slow.loss, rtol=min(close, 1e-7), atol=close)
    assert_allclose(fast.rho_path, slow.rho, atol=close)
    assert_allclose(np.hstack(fast.pi), np.hstack(slow.pi[-1]), atol=voters or close)


@pytest.mark.parametrize("smoothing", ["auto", 0.2])
@pytest.mark.parametrize("seed", range(25))
def test_printed_update_is_algorithm_1(seed, smoothing):
    """The gain of a voter without errors is Q - 0, known to the root of the rounding of Q."""
    Ms = random_tables(seed)
    eps = 1 / (2 * len(Ms[0])) if smoothing == "auto" else smoothing
    fast = learn_weights(Ms, max_iter=5, update="paper", smoothing=smoothing)
    slow = literal.literal_printed(Ms, 5, smoothing=eps)
    assert_same_paths(fast, slow, 1e-12, voters=1e-10)
    assert_allclose(fast.decrease_bound, -np.array(slow.bound), atol=2e-6)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("seed", range(25))
def test_monotone_update_is_its_twin(monkeypatch, seed, step):
    """With the twin's own view weights everything else agrees to rounding."""
    Ms = random_tables(seed)

    def enumerated(G, rho, rho_step, w):
        one_voter_per_view = list(G[:, :, None].transpose(1, 0, 2))
        new = literal.rho_by_enumeration(one_voter_per_view, rho, [[1.0]] * len(rho))
        return np.array(new) if loss(G @ new) <= loss(G @ rho) else rho

    monkeypatch.setattr(two_level, "mixture", enumerated)
    fast = learn_weights(Ms, max_iter=5, step=step)
    slow = literal.literal_monotone(Ms, 5, smoothing=1 / (2 * len(Ms[0])), step=step)
    assert_same_paths(fast, slow, 1e-8)
    assert_allclose(fast.decrease_bound, -np.array(slow.bound), atol=1e-8)


@pytest.mark.parametrize("smoothing", ["auto", 0.05])
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("seed", range(25))
def test_monotone_update_with_its_own_quadratic_program(seed, step, smoothing):
    """SLSQP finds the view weights to 5e-9 (measured), so the paths stay close."""
    Ms = random_tables(seed)
    eps = 1 / (2 * len(Ms[0])) if smoothing == "auto" else smoothing
    for T in (1, 3):
        fast = learn_weights(Ms, max_iter=T, step=step, smoothing=smoothing)
        slow = literal.literal_monotone(Ms, T, smoothing=eps, step=step)
        assert_same_paths(fast, slow, 1e-7)


def test_the_default_smoothing_is_half_a_sample():
    Ms = random_tables(3, m=20)
    Ms[0][:, 0] = np.abs(Ms[0][:, 0])  # without errors: the smoothing decides its weight
    default, given = learn_weights(Ms), learn_weights(Ms, smoothing=1 / 40)
    assert_array_equal(np.hstack(default.pi), np.hstack(given.pi))
    assert learn_weights(Ms, smoothing=1 / 41).pi[0][0] > default.pi[0][0]


# ------------------------------------------------------------------ weighted samples


def weighted_tables(seed, m=None):
    """Tables, weights 1 to 4 of their rows, and the tables with so many copies of every row."""
    Ms = random_tables(seed, m=m)
    Ms[0] = np.hstack([Ms[0], np.abs(Ms[0][:, :1])])  # without errors: the smoothing counts, too
    w = np.random.default_rng(seed).integers(1, 5, size=len(Ms[0]))
    return Ms, w, [np.repeat(M, w, axis=0) for M in Ms]


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("update", ["monotone", "paper"])
@pytest.mark.parametrize("seed", range(10))
def test_weights_are_copies_to_the_twins(seed, update, step):
    """Objective, weights and bounds are those that the literal loops find on copied rows."""
    Ms, w, copies = weighted_tables(seed)
    eps = 1 / (2 * w.sum())
    fast = learn_weights(Ms, max_iter=3, update=update, step=step, sample_weight=w)
    if update == "paper":
        slow = literal.literal_printed(copies, 3, smoothing=eps)
    else:
        slow = literal.literal_monotone(copies, 3, smoothing=eps, step=step)
    assert_same_paths(fast, slow, 1e-7)
    assert_allclose(fast.decrease_bound, -np.array(slow.bound), atol=1e-5)


@given(seeds, st.sampled_from(RHO_STEPS))
def test_weighted_view_weights_have_no_frank_wolfe_gap(seed, rho_step):
    """At the minimum of the weighted loss, or of the quadratic above it."""
    G, rho = votes_and_weights(seed)
    w = np.random.default_rng(seed).uniform(0.1, 3.0, size=len(G))
    x = mixture(G, rho, rho_step, w)
    if rho_step == "exact":
        gradient = -G.T @ (w * expit(-(G @ x)))
    else:
        gradient = -G.T @ (w * expit(-(G @ rho))) + G.T @ (w * (G @ (x - rho))) / 4
    assert gradient @ x - gradient.min() <= 1e-5 * w.sum()


@pytest.mark.parametrize("share", [1.0, 1e-3, 1 / 20])
def test_the_smoothing_of_light_weights_is_that_of_as_many_samples(share):
    """Weights that sum to 1 leave a voter without errors its weight."""
    Ms, _, _ = weighted_tables(3, m=20)
    plain, light = learn_weights(Ms), learn_weights(Ms, sample_weight=np.full(20, share))
    assert_allclose(np.hstack(light.pi), np.hstack(plain.pi), rtol=1e-6)
    assert_allclose(light.loss_curve, share * plain.loss_curve, rtol=1e-6)


def test_a_weight_that_is_not_positive_is_refused():
    for bad in (0.0, -1.0):
        with pytest.raises(ValueError, match=f"sample_weight must hold numbers > 0, got {bad}"):
            learn_weights([copies_of_one(2)], sample_weight=[1.0, 2.0, bad, 1.0])


# ------------------------------------------------------------------ guarantees


@settings(max_examples=200)
@given(tables(), st.sampled_from(STEPS), st.sampled_from(RHO_STEPS), st.booleans())
def test_the_loss_never_rises(Ms, step, rho_step, own_smoothing):
    smoothing = 0.01 if own_smoothing else "auto"
    weights = learn_weights(Ms, max_iter=5, step=step, rho_step=rho_step, smoothing=smoothing)
    fall = -np.diff(weights.loss_curve)
    assert (fall >= -1e-9).all()
    assert (fall >= weights.decrease_bound - 1e-9).all()
    assert (weights.decrease_bound >= -1e-12).all()
    assert_on_simplex(weights)
    assert_consistent(Ms, weights)


@settings(max_examples=200)
@given(tables())
def test_the_printed_update_takes_one_view(Ms):
    weights = learn_weights(Ms, max_iter=4, update="paper")
    assert_on_simplex(weights)
    assert_consistent(Ms, weights)
    for rho in weights.rho_path[1:]:
        shares = rho[rho > 0]
        assert_allclose(shares, 1 / len(shares), rtol=1e-14)  # one view, or equal shares
    # Eq. (11) and the tie rule at the first step, whose margins are those of the uniform vote
    start = learn_weights(Ms, max_iter=0)
    gains = literal_gains(Ms, margins(Ms, start))
    rho = weights.rho_path[1]
    assert_allclose(weights.decrease_bound[0], gains.max(), atol=2e-6)
    assert_allclose(gains[rho > 0], gains.max(), atol=2e-6)
    clearly_best = gains >= gains.max() - 1e-5
    if clearly_best.sum() == 1:
        assert_array_equal(rho, clearly_best)


def literal_gains(Ms, z):
    signed = [np.sqrt(W) for W in seen_quality(Ms, z)]
    return np.array([((plus - minus) ** 2).sum() for plus, minus in signed])


def assert_on_simplex(weights):
    assert (weights.rho_path >= 0).all()
    assert_allclose(weights.rho_path.sum(axis=1), 1.0, atol=1e-12)
    assert_array_equal(weights.rho_path[-1], weights.rho)


def assert_consistent(Ms, weights):
    """Everything is finite, and the curve's ends belong to the uniform and the final weights."""
    V, T = len(Ms), len(weights.decrease_bound)
    assert weights.rho.shape == (V,) and weights.rho_path.shape == (T + 1, V)
    assert [p.shape for p in weights.pi] == [(M.shape[1],) for M in Ms]
    assert np.isfinite(np.hstack(weights.pi)).all()
    assert np.isfinite(weights.loss_curve).all() and weights.loss_curve.shape == (T + 1,)
    uniform = sum(M.mean(axis=1) for M in Ms) / V
    assert_allclose(weights.loss_curve[0], np.logaddexp(0, -uniform).sum(), rtol=1e-12)
    final = np.logaddexp(0, -margins(Ms, weights)).sum()
    assert_allclose(weights.loss_curve[-1], final, rtol=1e-9, atol=1e-12)


def test_a_step_of_1_over_N_keeps_the_promise_that_a_full_step_breaks():
    """The row sum of five copies is 5; the step ends between 1/5 and 1."""
    M = copies_of_one(5)
    z = M.mean(axis=1)
    deltas, _, changes = reweigh([M], np.ones((4, 1)), z, 0.9)
    h, target = M @ deltas[0], loss(z) + changes[0] / 5
    assert loss(z + h) > loss(z) > target
    assert step_length(z, h, target, 5.0, "collins") == 0.2
    eta = step_length(z, h, target, 5.0, "backtrack")
    assert eta in (0.5, 0.25, 0.2) and loss(z + eta * h) <= target
    assert eta == 0.2 or loss(z + 2 * eta * h) > target
    assert step_length(z, h, -1.0, 5.0, "backtrack") == 0.2  # never below 1/N


def test_N_counts_the_views_that_a_sample_has():
    """Two views of 4 voters, never both seen: no row sums to more than 1/2 of 4."""
    Ms = random_tables(0, m=20, n_voters=[4, 4], gaps=False)
    Ms[0][:10] = Ms[1][10:] = 0.0
    weights = learn_weights(Ms, max_iter=1, step="collins")
    deltas, _, changes = reweigh(Ms, presence(Ms), margins(Ms, learn_weights(Ms, max_iter=0)), 0.9)
    assert_allclose(weights.decrease_bound, -changes.mean() / 2)
    for p, delta in zip(weights.pi, deltas, strict=True):
        assert_allclose(p, 0.25 + delta / 2)


# ------------------------------------------------------------------ counterexamples of the errata

DISJOINT = 1.0 - 2.0 * np.eye(3)


def one_voter_each(M):
    return [M[:, [v]] for v in range(M.shape[1])]


def test_printed_view_weights_raise_the_loss():
    """Row sums are one; the new rho alone is to blame (errata B3).

    One entry of 30 000 breaks the tie of three views with disjoint errors.
    """
    copies = 10_000
    M = np.tile(DISJOINT, (copies, 1))
    M[0, 1] = -1.0
    weights = learn_weights(one_voter_each(M), max_iter=2, update="paper")
    assert_allclose(weights.loss_curve / copies, [1.6209, 2.0402, 2.4706], atol=1e-4)
    assert_allclose(weights.decrease_bound[0] / copies, 0.0716, atol=1e-4)  # promised fall
    assert_array_equal(np.sort(weights.rho_path[1:]), [[0, 0, 1], [0, 0, 1]])
    ours = learn_weights(one_voter_each(M), max_iter=2)
    assert_allclose(ours.loss_curve / copies, [1.6209, 1.4811, 1.3508], atol=1e-4)


@pytest.mark.parametrize("update", ["paper", "monotone"])
def test_views_that_tie_share(update):
    """Every mixture solves Eq. (8) then, and the equal one lowers the loss."""
    weights = learn_weights(one_voter_each(DISJOINT), max_iter=2, update=update)
    assert_allclose(weights.loss_curve, [1.6209, 1.4811, 1.3508], atol=5e-5)
    assert_allclose(weights.rho_path, 1 / 3, atol=1e-7)


# ------------------------------------------------------------------ the optimum


@pytest.mark.parametrize("rho_step", RHO_STEPS)
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("seed", range(3))
def test_the_limit_is_logistic_regression_on_all_voters(seed, step, rho_step):
    """The infimum is that of one level of weights (remark B6)."""
    Ms = random_tables(seed, m=60, n_voters=[1, 2, 3], gaps=False)
    Ms[1][:10] = 0.0
    for M in Ms:
        M[::3] *= -1.0  # no vote is right everywhere, so there is a minimum
    A = np.hstack(Ms)
    y = np.where(np.arange(60) % 2, 1.0, -1.0)
    options = {"fit_intercept": False, "solver": "newton-cg", "tol": 1e-12, "max_iter": 10_000}
    logistic = LogisticRegression(C=np.inf, **options).fit(A * y[:, None], y)
    optimum = loss(A @ logistic.coef_[0])
    weights = learn_weights(Ms, max_iter=300, step=step, rho_step=rho_step)
    assert_allclose(weights.loss_curve[-1], optimum, atol=1e-4)
    assert weights.loss_curve[5] > optimum + 1e-4  # it was not there from the start
    assert_allclose(A.T @ expit(-margins(Ms, weights)), 0.0, atol=1e-3)


@pytest.mark.parametrize("seed", range(4))
def test_the_limit_where_a_view_has_weight_zero(seed):
    """Observed, not proved: a weak view has weight 0 after one update, and the optimum is met."""
    rng, found = np.random.default_rng(seed), []
    while len(found) < 3:
        views = [np.where(rng.random((60, n)) < p, 1.0, -1.0) for n, p in ((2, 0.6), (3, 0.3))]
        views.append(np.where(rng.random((60, 1)) < 0.45, 1.0, -1.0))
        weights = learn_weights(views, max_iter=400, smoothing=1e-12)
        if weights.rho_path[1].min() > 1e-12:
            continue
        M = np.hstack(views)
        fit = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-10, max_iter=10_000)
        fit.fit(np.vstack([M, -M]), np.repeat([1, -1], len(M)))
        if np.abs(fit.coef_).max() < 4:  # else the minimum is far away, or there is none
            found.append(weights.loss_curve[-1] / loss(M @ fit.coef_[0]) - 1)
    assert np.abs(found).max() < 1e-6


@settings(max_examples=200)
@given(tables(), st.sampled_from([0.0, 0.01, 0.3]), seeds)
def test_the_promise_is_of_the_order_of_the_squared_edges(Ms, smoothing, seed):
    """Part (a) of the limit theorem: every summand is at most -limit^2 r^2 / 2m."""
    z = np.random.default_rng(seed).normal(size=len(Ms[0])) * 3
    limit = min(1.0 / (1.0 + 2.0 * smoothing), 1.0 - 1e-12)
    _, _, changes = reweigh(Ms, presence(Ms), z, limit)
    for M, change in zip(Ms, changes, strict=True):
        assert change <= -(limit**2) * np.sum((M.T @ expit(-z)) ** 2) / (2 * len(M)) + 1e-9


@given(seeds, st.floats(0.1, 5))
def test_what_the_view_step_gives_the_limit_theorem(seed, spread):
    """Part (b): no unit vector is better at q - d/4, and the loss falls by |d|^2 / 8."""
    rng = np.random.default_rng(seed)
    G, rho = rng.normal(size=(20, 3)) * spread, rng.dirichlet(np.ones(3))
    new = mixture(G, rho, "qp")
    d = G @ (new - rho)
    tilted = expit(-(G @ rho)) - d / 4
    scale = np.trace(G.T @ G)
    assert (G.T @ tilted <= (G @ new) @ tilted + 1e-6 * (1 + scale)).all()
    assert loss(G @ rho) - loss(G @ new) >= d @ d / 8 - 1e-6 * (1 + scale)


def test_a_view_of_weight_zero_comes_back():
    rng = np.random.default_rng(9)
    Ms = [np.where(rng.random((12, n)) < rng.uniform(0.3, 0.8), 1.0, -1.0) for n in (1, 2, 2)]
    path = learn_weights(Ms, max_iter=8).rho_path[:, 0]
    assert path[0] > 0.3 and path[1] < 1e-9 and path[-1] > 0.4


# ------------------------------------------------------------------ step 10


def votes_and_weights(seed, V=None, m=25):
    """Votes G of the views, and weights rho: inside the simplex, or at a corner."""
    rng = np.random.default_rng(seed)
    V = V or rng.integers(2, 6)
    G = rng.normal(0.3, 1.0, size=(m, V)) * rng.uniform(0.2, 2.0, size=V)
    return G, np.eye(V)[0] if rng.random() < 0.3 else rng.dirichlet(np.ones(V))


@given(seeds)
def test_exact_view_weights_have_no_frank_wolfe_gap(seed):
    """For a convex function, gradient'(x - corner) bounds the distance to the minimum."""
    G, rho = votes_and_weights(seed)
    x = mixture(G, rho, "exact")
    gradient = -G.T @ expit(-(G @ x))
    assert gradient @ x - gradient.min() <= 1e-5


@given(seeds)
def test_qp_view_weights_are_those_of_cvxopt(seed):
    G, rho = votes_and_weights(seed)
    V, q = G.shape[1], expit(-(G @ rho))
    H = G.T @ G / 4
    options = {"show_progress": False, "abstol": 1e-12, "reltol": 1e-12, "feastol": 1e-12}
    simplex = -np.eye(V), np.zeros(V), np.ones((1, V)), np.ones(1)
    program = map(matrix, (H, -G.T @ q - H @ rho, *simplex))
    expected = np.ravel(solvers.qp(*program, options=options)["x"])
    assert_allclose(mixture(G, rho, "qp"), expected, atol=2e-6)


@given(seeds, st.sampled_from(RHO_STEPS), st.floats(-3, 3))
def test_view_weights_never_raise_the_loss(seed, rho_step, exponent):
    """Nor at the optimum, where the solver's answer is better or worse by its rounding."""
    G, rho = votes_and_weights(seed)
    G *= 10**exponent
    for _ in range(6):
        before, rho = loss(G @ rho), mixture(G, rho, rho_step)
        assert loss(G @ rho) <= before
        assert (rho >= 0).all() and abs(rho.sum() - 1) < 1e-12


@pytest.mark.parametrize("rho_step", RHO_STEPS)
def test_view_weights_at_the_edge(rho_step):
    """One view; views that agree; votes of zero; a loss too small for a float."""
    assert_array_equal(mixture(np.ones((3, 1)), np.array([1.0]), rho_step), [1.0])
    half = np.array([0.5, 0.5])
    for G in (np.zeros((4, 2)), np.ones((4, 2)), np.full((4, 2), 1e4)):
        x = mixture(G, half, rho_step)
        assert (x >= 0).all() and abs(x.sum() - 1) < 1e-12 and loss(G @ x) <= loss(G @ half)
    bad_and_good = np.column_stack([-np.ones(4), np.ones(4)])
    assert_allclose(mixture(bad_and_good, half, "exact"), [0, 1], atol=1e-6)


@given(seeds)
def test_printed_view_weights_solve_the_linear_program(seed):
    """Eq. (8), with scipy's solver for linear programs; the largest gain is enough (B9)."""
    rng = np.random.default_rng(seed)
    gains = rng.choice([rng.random(), *rng.random(3)], size=rng.integers(1, 6))
    rho = vertex(gains)
    best = linprog(-gains, A_eq=np.ones((1, len(gains))), b_eq=[1.0])
    assert_allclose(-best.fun, rho @ gains, atol=1e-12)
    assert_allclose(rho, (gains == gains.max()) / (gains == gains.max()).sum())


def test_equal_gains_are_equal_up_to_rounding():
    assert_array_equal(vertex(np.array([0.1 + 0.2, 0.3, 0.1])), [0.5, 0.5, 0.0])
    assert_array_equal(vertex(np.array([1.0, 1.0 + 1e-9])), [0.0, 1.0])
    assert_array_equal(vertex(np.zeros(4)), np.full(4, 0.25))


# ------------------------------------------------------------------ steps 2 to 8


@given(tables(), seeds, st.floats(0.1, 5))
def test_weights_of_right_and_wrong_votes(Ms, seed, spread):
    z = np.random.default_rng(seed).normal(0, spread, size=len(Ms[0]))
    limit = 1 / (1 + 2 * 0.01)
    deltas, gains, changes = reweigh(Ms, presence(Ms), z, limit)
    for delta, change, signed in zip(deltas, changes, seen_quality(Ms, z), strict=True):
        expected = 0.0
        for d, a, b in zip(delta, *signed, strict=True):
            assert_allclose(d, literal.smoothed_delta(a, b, 0.01), rtol=1e-12, atol=1e-12)
            Q, r = a + b, a - b
            if Q > 0 and abs(r / Q) < limit:
                assert_allclose(d, np.arctanh(r / Q), rtol=1e-12, atol=1e-12)
            expected += a * (np.exp(-d) - 1) + b * (np.exp(d) - 1)
        assert_allclose(change, expected, atol=1e-10)
    assert_allclose(gains, literal_gains(Ms, z), atol=2e-6)
    assert (changes <= 1e-12).all()


@given(seeds)
def test_the_promised_change_is_minus_the_gain(seed):
    """Eq. (11), where no delta is limited."""
    Ms = random_tables(seed, m=40, n_voters=[3, 2])
    z = np.random.default_rng(seed).normal(size=40)
    deltas, gains, changes = reweigh(Ms, presence(Ms), z, 1 - 1e-12)
    if np.abs(np.hstack(deltas)).max() < 5:
        assert_allclose(changes, -gains, rtol=1e-9, atol=1e-12)


@given(seeds)
def test_delta_points_down_the_gradient(seed):
    """dD/dpi_vj = -rho_v r_vj, and r_vj = Q_v tanh(delta_vj); by central differences."""
    rng = np.random.default_rng(seed)
    Ms = random_tables(seed, m=30, n_voters=[2, 3])
    rho, pi = rng.dirichlet(np.ones(2)), [rng.normal(size=2), rng.normal(size=3)]

    z = sum(r * (M @ p) for r, M, p in zip(rho, Ms, pi, strict=True))
    deltas, _, _ = reweigh(Ms, presence(Ms), z, 1 - 1e-12)
    Q = presence(Ms).T @ expit(-z)
    for M, r, Q_v, delta in zip(Ms, rho, Q, deltas, strict=True):
        change = 1e-5 * r * M  # of the margins, by a step in pi_vj
        slopes = [(loss(z + h) - loss(z - h)) / 2e-5 for h in change.T]
        assert_allclose(slopes, -r * Q_v * np.tanh(delta), atol=1e-6)


@pytest.mark.parametrize("shift", [700.0, 9000.0])
def test_margins_whose_weights_underflow(shift):
    """For large z, q is e^-z, and only its proportions matter to delta."""
    Ms = random_tables(1, m=20, n_voters=[2, 3])
    z = np.random.default_rng(0).normal(40.0, 1.0, size=20)
    near, gains, _ = reweigh(Ms, presence(Ms), z, 0.99)
    far, tiny, changes = reweigh(Ms, presence(Ms), z + shift, 0.99)
    assert_allclose(np.hstack(far), np.hstack(near), atol=1e-9)
    assert_allclose(tiny, gains * np.exp(-shift), rtol=1e-9, atol=0)
    assert np.isfinite(changes).all()


def test_margins_that_are_very_wrong():
    """q is 1 everywhere: delta is that of plain counting."""
    Ms = random_tables(2, m=20, n_voters=[3], gaps=False)
    deltas, _, _ = reweigh(Ms, presence(Ms), np.full(20, -1e4), 0.99)
    assert_allclose(deltas[0], np.arctanh(Ms[0].mean(axis=0)), rtol=1e-12)
    one_wrong = np.full(20, 1e4)
    one_wrong[5] = -1e4  # all the weight is on this sample
    deltas, _, _ = reweigh(Ms, presence(Ms), one_wrong, 0.99)
    assert_allclose(deltas[0], Ms[0][5] * np.arctanh(0.99))


@given(st.floats(-1e4, 1e4))
def test_loss_of_one_sample(z):
    assert_allclose(loss(np.array([z])), np.logaddexp(0.0, -z), rtol=1e-14, atol=0)


# ------------------------------------------------------------------ invariances


@pytest.mark.parametrize("update", ["monotone", "paper"])
def test_a_sample_without_views_only_adds_its_constant(update):
    Ms = random_tables(4, m=25, n_voters=[2, 3])
    weights = learn_weights(Ms, update=update, smoothing=0.02)
    more = learn_weights([np.vstack([M, 0 * M[:1]]) for M in Ms], update=update, smoothing=0.02)
    assert_allclose(np.hstack(more.pi), np.hstack(weights.pi), atol=1e-7)
    assert_allclose(more.loss_curve, weights.loss_curve + np.log(2), atol=1e-7)


# ------------------------------------------------------------------ special cases


def test_no_update_is_the_uniform_vote():
    """And the tables are left alone, with updates too."""
    Ms = random_tables(6, n_voters=[2, 5, 1])
    before = np.hstack(Ms)
    weights = learn_weights(Ms, max_iter=0)
    assert_array_equal(weights.rho, np.full(3, 1 / 3))
    for p, n in zip(weights.pi, [2, 5, 1], strict=True):
        assert_array_equal(p, np.full(n, 1 / n))
    assert len(weights.loss_curve) == 1 and len(weights.decrease_bound) == 0
    learn_weights(Ms, max_iter=3)
    assert_array_equal(np.hstack(Ms), before)


@pytest.mark.parametrize("update", ["monotone", "paper"])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_voter_without_errors(update, sign):
    """Its weight is finite, of the right sign, and limited by the smoothing only."""
    Ms = random_tables(7, m=20, n_voters=[2, 2], gaps=False)
    Ms[0][:, 0] = sign
    weights = learn_weights(Ms, max_iter=1, update=update, smoothing=0.01, step="collins")
    step = 1.0 if update == "paper" else 0.5  # N is (2 + 2) / 2
    assert_allclose(weights.pi[0][0], 0.5 + sign * step * 0.5 * np.log(1.01 / 0.01))


def fallible(Ms):
    """Make every voter right on a sample and wrong on another of those that have its view."""
    for M in Ms:
        present = np.flatnonzero(M[:, 0])
        M[present[0]], M[present[1]] = 1.0, -1.0
    return Ms


@pytest.mark.parametrize("update", ["monotone", "paper"])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_without_smoothing_a_voter_without_errors_is_refused(update, sign):
    """However the sums of its weights round, and whatever samples miss its view."""
    for seed in range(20):
        Ms = fallible(random_tables(seed, m=45, n_voters=[3, 2]))
        Ms[1][:, 1] = sign * np.abs(Ms[1][:, 1])
        with pytest.raises(ValueError, match="smoothing must be > 0: a voter of view 1"):
            learn_weights(Ms, max_iter=3, update=update, smoothing=0)


@pytest.mark.parametrize("seed", range(5))
def test_without_smoothing(seed):
    Ms = fallible(random_tables(seed, m=40, n_voters=[3, 2]))
    weights = learn_weights(Ms, max_iter=1, smoothing=0)
    slow = literal.literal_monotone(Ms, 1, smoothing=0)
    assert_allclose(np.hstack(weights.pi), np.hstack(slow.pi[-1]), atol=1e-8)
    many = learn_weights(Ms, max_iter=50, smoothing=0)
    assert np.isfinite(np.hstack(many.pi)).all() and (np.diff(many.loss_curve) <= 1e-9).all()


@pytest.mark.parametrize("update", ["monotone", "paper"])
def test_without_smoothing_an_error_too_light_for_a_float(update):
    """Forty copies drive e^z of a sample to 1e45; a voter that errs there alone has r = Q."""
    M = copies_of_one(40)
    other = np.array([[-1.0], [1.0], [1.0], [1.0]])
    weights = learn_weights([M, other], max_iter=6, update=update, smoothing=0)
    assert_consistent([M, other], weights)
    if update == "paper":
        assert weights.loss_curve[2] > 100


def test_many_printed_updates_stay_finite():
    """A thousand copies: margins pass 1000 and every exponential of them would overflow."""
    Ms = [copies_of_one(1000), copies_of_one(500)]
    weights = learn_weights(Ms, max_iter=50, update="paper")
    assert np.isfinite(weights.loss_curve).all() and weights.loss_curve.max() > 1000
    assert np.isfinite(np.hstack(weights.pi)).all() and np.isfinite(weights.decrease_bound).all()
