"""MVNA-KMHKS, NA-KMHKS and KMHKS: Eq. (1), Table 1 in two forms, Eq. (11), and the estimators."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel

from mvref import MultiView
from mvref.core import nystrom
from mvref.core.base import votes_of_pairs
from mvref.core.nystrom import draw_components, nystrom_features, nystrom_map
from mvref.mvna_kmhks import KMHKS, MVNAKMHKS, NAKMHKS
from mvref.mvna_kmhks.ho_kashyap import Coupling, ho_kashyap, ho_kashyap_together, share_weights
from mvref.mvna_kmhks.machines import FactorMachine, GramMachine, SumOfKernels
from tests import literal_mvna as literal
from tests.costs import peak_bytes
from tests.literal import hide, random_pattern, toy_views

TIGHT = {"tol": 1e-15, "max_iter": 200_000}
seeds = st.integers(0, 1000)
WIDTHS = (3, 4)
VIEWS, LABELS = toy_views(0, m=50, widths=WIDTHS)
SIGNS = np.where(LABELS == 1, 1.0, -1.0)
MU = np.array([0.7, 0.2, 0.1])


def moons(n=60, seed=0):
    X, y = make_moons(n, noise=0.25, random_state=seed)
    return X, np.where(y == 1, 1.0, -1.0)


def factors_of(k, components):
    """Nyström factors of a kernel matrix, for given components."""
    return [k[:, S] @ nystrom_map(k[np.ix_(S, S)]) for S in components]


def draw(n, m, M, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.choice(n, m, replace=False) for _ in range(M)]


def solve(
    Fs, Y, c, gamma, mu, solver="exact", rho=0.5, T=30, seen=None, tol=0.0, weights=1.0, **options
):
    """Table 1 of the library on given factors."""
    M, n = len(Fs), len(Y)
    seen = np.ones((M, n), dtype=bool) if seen is None else seen
    costs = np.broadcast_to(np.asarray(c, dtype=float), M)
    coupling = Coupling(np.asarray(mu, dtype=float), seen, gamma, solver, weights)
    parts = zip(Fs, seen, map(coupling.curvature, range(M)), costs, strict=True)
    machines = [FactorMachine(*part) for part in parts]
    options |= {"learning_rate": [rho] * M, "tol": tol, "max_iter": T}
    return ho_kashyap(machines, costs, coupling, Y, **options)


def pattern(seed, n, M, missing):
    """Which machine sees which sample, (M, n)."""
    return random_pattern(seed, n, M).T if missing else np.ones((M, n), dtype=bool)


def small(seed=0, n=24, m=6, M=3, missing=False):
    """Kernel matrix, labels, components, factors and which machine sees which sample."""
    X, Y = moons(n, seed)
    k = rbf_kernel(X, gamma=1.0)
    components, seen = draw(n, m, M, seed), pattern(seed, n, M, missing)
    Fs = [F * s[:, None] for F, s in zip(factors_of(k, components), seen, strict=True)]
    return k, Y, components, Fs, seen


# ------------------------------------------------------------------ Eq. (1)


@given(seeds, st.integers(1, 20), st.sampled_from([0.1, 1.0, 10.0]))
@settings(max_examples=40)
def test_nystrom_identities(seed, m, gamma):
    """K = F F' is Eq. (1), equals G in the rows of the components, and G - K is PSD."""
    X, Y = moons(20, seed)
    k = rbf_kernel(X, gamma=gamma)
    S = draw(20, m, 1, seed)[0]
    F = Y[:, None] * factors_of(k, [S])[0]
    K, G = F @ F.T, literal.signed_gram(k, Y)
    assert_allclose(K, literal.nystrom(G, S), atol=1e-6)  # by the condition of G
    assert_allclose(K[np.ix_(S, S)], G[np.ix_(S, S)], atol=1e-9)
    assert_allclose(K[:, S], G[:, S], atol=1e-5)  # the cut-off drops features of size 1e-5
    assert np.linalg.eigvalsh(G - K)[0] > -1e-9


@given(seeds)
@settings(max_examples=20)
def test_map_is_the_root_of_a_pseudo_inverse(seed):
    """Of every rank, also 0."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(7, seed % 8))
    K = A @ A.T
    T = nystrom_map(K)
    assert T.shape == (7, min(seed % 8, 7))
    assert_allclose(T @ T.T, np.linalg.pinv(K, rcond=1e-10), rtol=1e-6, atol=1e-8)
    tiny = nystrom_map(1e-20 * K)  # the cut is relative
    assert_allclose(1e-20 * tiny @ tiny.T, T @ T.T, rtol=1e-6, atol=1e-8)


def test_map_refuses_what_is_no_kernel():
    for K, message in (
        ([[0.0, 1.0], [1.0, 0.0]], r"positive semi-definite.*from -1 to 1"),
        ([[1.0, 0.5], [0.0, 1.0]], "symmetric"),
        ([[np.inf]], "not finite"),
    ):
        with pytest.raises(ValueError, match=message):
            nystrom_map(np.array(K))


def test_features_of_missing_rows_are_zero():
    rows = np.array([[1.0], [2.0], [4.0]])
    S, T = rows[:1], nystrom_map(np.array([[1.0]]))

    def linear(A):
        return A @ S.T

    seen = np.array([True, False, True])
    dense = nystrom_features(rows, seen, linear, T)
    assert_allclose(dense, [[1.0], [0.0], [4.0]])
    assert_allclose(nystrom_features(rows, ~(seen & False), linear, T), rows)
    assert_array_equal(nystrom_features(rows, seen & False, linear, T), np.zeros((3, 1)))


def test_components_are_drawn_from_the_samples_that_have_the_view():
    observed = random_pattern(0, 40, 3)
    for n_components, sizes in [(5, [5] * 3), (1.0, observed.sum(axis=0))]:
        drawn = draw_components(observed, n_components, np.random.RandomState(0))
        for v, S in enumerate(drawn):
            assert len(S) == sizes[v] == len(np.unique(S)) and observed[S, v].all()
    for n, n_components, size in ((1001, "auto", 256), (11, "auto", 6), (11, 0.2, 3)):
        (S,) = draw_components(np.ones((n, 1), bool), n_components, np.random.RandomState(0))
        assert len(S) == size


# ------------------------------------------------------------------ one machine


@pytest.mark.parametrize("c", [1e-3, 1.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_gram_machine_is_the_factor_machine_of_all_samples(weighted, c):
    k, Y, *_ = small()
    rng = np.random.default_rng(0)
    rhs, close = Y * rng.random(24), 1e-7 if weighted else 1e-8
    w = rng.uniform(0.5, 3.0, size=24) if weighted else np.ones(24)
    gram = GramMachine(k.copy(), w, c)
    factor = FactorMachine(factors_of(k, [np.arange(24)])[0], Y != 0, w, c)
    theta, u = gram.solve(rhs)
    beta, v = factor.solve(rhs)
    assert_allclose(u, v, atol=close)
    assert_allclose(u, k @ theta[:-1] + theta[-1], atol=close / 100)
    coefficients = gram.coefficients(theta, u, rhs), factor.coefficients(beta, v, rhs)
    assert_allclose(*coefficients, atol=close / c)
    if weighted:
        return
    assert_allclose(theta[-1], beta[-1], atol=1e-8)
    assert_allclose(gram.norm(theta, u), factor.norm(beta, v), rtol=1e-8)
    A = literal.matrix_of_eq_7(literal.signed_gram(k, Y), Y, c, 0.0)
    x = np.linalg.solve(A, np.append(Y * rhs, rhs.sum()))  # (rhs here has the labels already)
    assert_allclose(Y * coefficients[0], x[:-1], atol=1e-8 / c)
    assert_allclose(theta[-1], x[-1], atol=1e-8)


def ridge(F, one, weight, c, rhs):
    """The least-squares problem of a machine, of least norm up to rounding."""
    rows = np.sqrt(weight)[:, None] * np.column_stack([F, one])
    penalty = np.sqrt(c) * np.eye(F.shape[1], F.shape[1] + 1)
    right = np.append(rhs / np.sqrt(weight), np.zeros(F.shape[1]))
    return np.linalg.lstsq(np.vstack([rows, penalty]), right, rcond=1e-7)[0]


@pytest.mark.parametrize("c", [0.0, 1e-30, 1e-3])
@pytest.mark.parametrize("singular", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_small_penalties_and_none(c, singular, weighted):
    """With features whose sum is constant the intercept is not unique: least norm."""
    rng = np.random.default_rng(0)
    F = np.eye(3)[rng.integers(3, size=20)] if singular else rng.normal(size=(20, 3))
    seen = np.ones(20, dtype=bool)
    seen[:4] = not weighted
    F = F * seen[:, None]
    weight = rng.uniform(1, 3, size=20) if weighted else np.full(20, 2.0)
    rhs = rng.normal(size=20)
    machine = FactorMachine(F, seen, weight, c)
    theta, u = machine.solve(rhs)
    assert (machine.factor is None) == (c == 0 or (singular and c < 1e-20))
    expected = ridge(F, seen.astype(float), weight, c, rhs * seen)
    assert_allclose(theta, expected, atol=1e-8)
    assert_allclose(u, F @ theta[:-1] + theta[-1] * seen, atol=1e-12)
    if c != 1e-30:  # there rounding of u is divided by c
        coefficients = machine.coefficients(theta, u, rhs)
        assert_allclose(F.T @ coefficients, theta[:-1], atol=1e-8)
        if c == 0:  # of least norm
            assert_allclose(coefficients, np.linalg.pinv(F.T) @ theta[:-1], atol=1e-10)


@pytest.mark.parametrize("seed", [28, 30, 34])
@pytest.mark.parametrize("c", [1e-17, 1e-13])
def test_a_factor_made_of_rounding_is_not_believed(seed, c):
    """Cholesky's method ends on these singular matrices, with an intercept of any size."""
    rng = np.random.default_rng(seed)
    F = np.eye(4)[rng.integers(4, size=40)] @ np.linalg.qr(rng.normal(size=(4, 4)))[0]
    rhs = rng.normal(size=40)
    theta, u = FactorMachine(F, rhs < np.inf, np.ones(40), c).solve(rhs)
    expected = ridge(F, np.ones(40), np.ones(40), c, rhs)
    assert_allclose(theta, expected, atol=1e-8)
    assert_allclose(u, F @ expected[:-1] + expected[-1], atol=1e-10)


def test_a_machine_without_samples_is_zero_and_one_without_features_a_constant():
    nobody = np.zeros(5, dtype=bool)
    for c in (0.0, 1.0):
        theta, u = FactorMachine(np.zeros((5, 2)), nobody, np.ones(5), c).solve(np.ones(5))
        assert_array_equal(np.append(theta, u), 0.0)
        theta, u = FactorMachine(np.zeros((5, 0)), ~nobody, np.ones(5), c).solve(np.arange(5.0))
        assert_allclose(np.append(theta, u), 2.0)


@pytest.mark.parametrize("kind", ["gram", "factor", "least norm"])
def test_columns_are_problems(kind):
    """A machine solves for all of them at once."""
    k, Y, *_ = small()
    w = np.random.default_rng(1).uniform(0.5, 2.0, size=24)
    if kind == "gram":
        machine = GramMachine(k.copy(), w, 0.3)
    else:
        machine = FactorMachine(k[:, :6], Y > -2, w, 0.3 * (kind == "factor"))
    rhs = np.random.default_rng(0).normal(size=(24, 3))
    theta, u = machine.solve(rhs)
    for q, column in enumerate(rhs.T):
        beta, v = machine.solve(column)
        assert_allclose(theta[:, q], beta, atol=1e-10)
        assert_allclose(u[:, q], v, atol=1e-10)


# ------------------------------------------------------------------ the coupling


@given(seeds, st.integers(1, 5), st.booleans())
@settings(max_examples=40)
def test_curvature_and_pull_are_the_parabola_of_eq_4(seed, M, missing):
    """As a function of f_p the disagreement is a_p f_p^2 - 2 t_p f_p + ..., times gamma."""
    rng = np.random.default_rng(seed)
    n, gamma, h = 4, 2.0, 0.1
    seen = pattern(seed, n, M, missing)
    mu = rng.dirichlet(np.ones(M))
    coupling = Coupling(mu, seen, gamma, "exact")
    f = rng.normal(size=(M, n)) * seen

    def twin(f):
        value = 0.0
        for f_i, has in zip(f.T, seen.T, strict=True):
            mean = np.average(f_i[has], weights=mu[has])
            value += sum(gamma * (margin - mean) ** 2 for margin in f_i[has])
        return value

    assert_allclose(coupling.disagreement(f), twin(f), atol=1e-12)
    for p in range(M):
        for i in np.flatnonzero(seen[p]):
            step = np.zeros((M, n))
            step[p, i] = h
            up, down = twin(f + step), twin(f - step)
            slope, curvature = (up - down) / (2 * h), (up - 2 * twin(f) + down) / (2 * h * h)
            assert_allclose(coupling.curvature(p)[i] - 1.0, curvature, atol=1e-9)
            exact = 2 * (curvature * f[p, i] - coupling.pull(p, f)[i])
            assert_allclose(exact, slope, atol=1e-9)


def test_weights_are_shared_by_the_machines_that_see_a_sample():
    seen = np.array([[True, True, False], [True, False, True]])
    assert_allclose(share_weights(np.array([0.3, 0.7]), seen), [[0.3, 1, 0], [0.7, 0, 1]])
    with pytest.raises(ValueError, match=r"view_weights is zero.* row 2"):
        share_weights(np.array([1.0, 0.0]), seen)


# ------------------------------------------------------------------ Table 1


@pytest.mark.parametrize("mu", [np.ones(3) / 3, MU])
@pytest.mark.parametrize(("c", "gamma"), [(1.0, 1.0), (0.01, 10.0), (1e-4, 0.1)])
def test_paper_solver_is_eq_7_with_n_by_n_solves(c, gamma, mu):
    """Margins, b, w0, J' and, by Woodbury, Gamma; the n x n form loses digits for c = 1e-4."""
    k, Y, components, Fs, _ = small(n=60, m=15)
    Ks = [literal.nystrom(literal.signed_gram(k, Y), S) for S in components]
    Gammas, w0s, bs, f, curve = literal.table_1(Ks, Y, c, gamma, mu, 0.3, 30)
    found = solve(Fs, Y, c, gamma, mu, "paper", rho=0.3)
    loss = 1e-8 if c > 1e-3 else 1e-6
    assert_allclose(found.margins, f, atol=loss)
    assert_allclose(found.b, bs, atol=loss)
    assert_allclose([theta[-1] for theta in found.thetas], w0s, atol=loss)
    assert_allclose(found.curve, curve, rtol=loss)
    assert_allclose(Y * found.coefficients, Gammas, atol=1e-8 * max(1.0, 1 / c) * 10)
    last = literal.objective(Ks, Gammas, w0s, bs, Y, [c] * 3, gamma, mu)
    assert_allclose(found.curve[-1], last, rtol=loss)
    assert_allclose(found.curve[0], 3 * 60)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("mu", [np.ones(3) / 3, MU])
@pytest.mark.parametrize("gamma", [0.0, 1.0, 10.0])
def test_exact_solver_is_least_squares_view_by_view(gamma, mu, missing):
    _, Y, _, Fs, seen = small(missing=missing)
    costs = [0.5, 0.1, 1.0]
    thetas, bs, curve = literal.exact_sweeps(Fs, Y, seen, costs, gamma, mu, 8)
    found = solve(Fs, Y, costs, gamma, mu, T=8, seen=seen)
    assert_allclose(found.curve, curve, rtol=1e-10)
    assert_allclose(np.concatenate(found.thetas), np.concatenate(thetas), atol=1e-8)
    assert_allclose(found.b, bs, atol=1e-8)
    assert_allclose(found.norms, [np.linalg.norm(theta[:-1]) for theta in thetas], atol=1e-8)
    assert_array_equal(found.margins[~seen], 0.0)
    assert_array_equal(found.coefficients[~seen], 0.0)


@given(seeds, st.floats(-1, 2), st.floats(-3, 1), st.floats(0.05, 0.95), st.booleans())
@settings(max_examples=60)
def test_the_objective_never_rises(seed, log_gamma, log_c, rho, missing):
    """Exact steps: for all weights, near a vertex too. Eq. (7): for equal weights."""
    _, Y, _, Fs, seen = small(seed, missing=missing)
    mu = np.random.default_rng(seed).dirichlet(np.full(3, 0.4)) + 1e-6
    ways = [(mu, "exact", False), (mu, "exact", True)]
    if not missing:
        ways.append((np.ones(3), "paper", False))
    for weights, solver, momentum in ways:
        options = {"rho": rho, "T": 30, "seen": seen, "momentum": momentum}
        found = solve(Fs, Y, 10**log_c, 10**log_gamma, weights, solver, **options)
        assert np.diff(found.curve).max() < 1e-10 * found.curve[0]


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("gamma", [0.0, 3.0])
def test_exact_limit_is_the_minimum_of_the_co_regularised_squared_hinge(gamma, missing):
    _, Y, _, Fs, seen = small(missing=missing)
    thetas, value = literal.co_regularised_squared_hinge(Fs, Y, seen, [0.1] * 3, gamma, MU)
    for momentum in (False, True):
        found = solve(Fs, Y, 0.1, gamma, MU, T=50_000, tol=1e-14, seen=seen, momentum=momentum)
        assert found.converged
        assert_allclose(found.curve[-1], value, rtol=1e-9)
        assert_allclose(np.concatenate(found.thetas), np.concatenate(thetas), atol=1e-4)


def test_momentum_saves_iterations():
    """And ends nearer to the minimum by the same criterion."""
    _, Y, _, Fs, _ = small(n=60, m=15)
    options = {"T": 50_000, "tol": 1e-10}
    plain, fast = (solve(Fs, Y, 0.01, 10.0, MU, momentum=m, **options) for m in (False, True))
    assert plain.converged and fast.converged
    assert len(fast.curve) < len(plain.curve) / 5 and fast.curve[-1] < plain.curve[-1]


@pytest.mark.parametrize("missing", [False, True])
def test_problems_that_share_machines_are_those_alone(missing):
    """With momentum and steps that are taken back, and ends at different iterations."""
    _, Y, _, Fs, seen = small(missing=missing)
    labels = [Y, -Y, np.sign(np.arange(24) - 3.5), np.random.default_rng(0).choice([-1.0, 1.0], 24)]
    coupling, costs = Coupling(MU, seen, 2.0, "exact"), np.full(3, 0.01)
    parts = zip(Fs, seen, map(coupling.curvature, range(3)), costs, strict=True)
    shared = [FactorMachine(*part) for part in parts]
    options = {"learning_rate": [0.5] * 3, "tol": 1e-6, "max_iter": 500, "momentum": True}
    together = ho_kashyap_together(shared, costs, coupling, labels, **options)
    assert len({len(solution.curve) for solution in together}) > 1
    for y, solution in zip(labels, together, strict=True):
        alone = ho_kashyap(shared, costs, coupling, y, **options)
        assert_allclose(solution.curve, alone.curve, rtol=1e-10)
        assert_allclose(solution.coefficients, alone.coefficients, atol=1e-8)
        assert_allclose(np.concatenate(solution.thetas), np.concatenate(alone.thetas), atol=1e-10)


def test_an_iteration_that_went_too_far_is_taken_back():
    """The curve stands still for it, and the end is the end of a sweep: what was solved for."""
    _, Y, _, Fs, _ = small()
    long = solve(Fs, Y, 1e-3, 10.0, MU, T=300, momentum=True)
    still = np.flatnonzero(np.diff(long.curve) == 0)
    assert len(still) and np.diff(long.curve).max() <= 0
    for T in (still[0], still[0] + 1, still[0] + 2):
        found = solve(Fs, Y, 1e-3, 10.0, MU, T=T, momentum=True)
        assert_array_equal(found.curve, long.curve[: T + 1])
        for F, theta, f, a in zip(Fs, found.thetas, found.margins, found.coefficients, strict=True):
            assert_allclose(Y * (F @ theta[:-1] + theta[-1]), f, atol=1e-10)
            assert_allclose(F.T @ a, theta[:-1], atol=1e-8)


@pytest.mark.parametrize("mu", [np.ones(3) / 3, np.array([0.9, 0.05, 0.05])])
def test_with_b_fixed_the_limit_is_the_joint_solution(mu):
    _, Y, _, Fs, seen = small()
    theta, _ = literal.joint_minimum(Fs, Y, seen, [0.1] * 3, 10.0, mu, np.zeros((3, 24)))
    coupling = Coupling(mu, seen, 10.0, "exact")
    machines = [FactorMachine(F, Y != 0, coupling.curvature(p), 0.1) for p, F in enumerate(Fs)]
    f, thetas = np.zeros((3, 24)), [None] * 3
    for _ in range(2000):
        for p, machine in enumerate(machines):
            thetas[p], u = machine.solve(Y * (1.0 + coupling.pull(p, f)))
            f[p] = Y * u
    assert_allclose(np.concatenate(thetas), theta, atol=1e-8)


def test_b_is_complementary():
    """b >= 0, and b_i > 0 only where the margin is 1 + b_i."""
    _, Y, _, Fs, _ = small()
    found = solve(Fs, Y, 0.01, 1.0, MU, T=20)
    assert found.b.min() == 0.0 and (found.b > 0).any() and (found.b == 0).any()
    beyond = found.b > 0
    assert_allclose(found.margins[beyond], 1.0 + found.b[beyond])
    assert found.margins[~beyond].max() <= 1.0


@pytest.mark.parametrize("solver", ["exact", "paper"])
def test_without_coupling_the_machines_are_alone(solver):
    _, Y, _, Fs, _ = small()
    together = solve(Fs, Y, 0.1, 0.0, MU, solver)
    for p, F in enumerate(Fs):
        alone = solve([F], Y, 0.1, 0.0, [1.0], solver)
        assert_allclose(together.margins[p], alone.margins[0], atol=1e-12)


def test_equal_components_give_equal_machines_in_the_limit():
    _, Y, _, Fs, seen = small()
    options = {"T": 10_000, "tol": 1e-15, "momentum": True}
    found = solve([Fs[0]] * 3, Y, 0.1, 1.0, MU, **options)
    alone = solve(Fs[:1], Y, 0.1, 0.0, [1.0], **options)
    for margins in found.margins:
        assert_allclose(margins, alone.margins[0], atol=1e-5)
    assert Coupling(MU, seen, 1.0, "exact").disagreement(found.margins) < 1e-9


def test_iterations_end_where_the_objective_stands_still():
    _, Y, _, Fs, _ = small()
    found = solve(Fs, Y, 0.1, 1.0, MU, T=10_000, tol=1e-3)
    moved = np.abs(np.diff(found.curve)) / found.curve[:-1]
    assert found.converged and (moved[:-1] > 1e-3).all() and moved[-1] <= 1e-3
    assert not solve(Fs, Y, 0.1, 1.0, MU, T=len(moved) - 1, tol=1e-3).converged


# ------------------------------------------------------------------ the estimators


def fitted(X, y, cls=MVNAKMHKS, **options):
    options = {"gamma": 1.0, "c": 0.1, "tol": 1e-12, "max_iter": 50_000} | options
    if cls is not KMHKS:
        options = {"random_state": 0} | options
    return cls(**options).fit(X, y)


@pytest.mark.parametrize("solver", ["exact", "paper"])
@pytest.mark.parametrize("mu", [None, [0.7, 0.2, 0.1]])
def test_fitted_machines_satisfy_the_equations_and_both_decisions(solver, mu):
    """K Gamma + w0 Y from alphas_, Y'Gamma = 0, J', and Eq. (11) in its two readings."""
    X, Y = moons()
    options = {"n_views": 3, "n_components": 10, "view_weights": mu, "solver": solver, "c": 0.5}
    options |= {"max_iter": 15, "tol": 1e-14, "coupling": 2.0}
    with pytest.warns(ConvergenceWarning):
        model = fitted(X, Y, **options)
        printed = fitted(X, Y, decision="printed", **options)
    k, new = rbf_kernel(X, gamma=1.0), moons(20, 9)[0]
    Ks = [literal.nystrom(literal.signed_gram(k, Y), S) for S in model.component_indices_]
    mu = np.ones(3) / 3 if mu is None else mu
    margins = [K @ a + w * Y for K, a, w in zip(Ks, model.alphas_, model.intercepts_, strict=True)]
    assert_allclose(Y * model.view_scores(X), margins, atol=1e-8)
    assert_allclose(np.array(model.alphas_) @ Y, 0.0, atol=1e-8)
    norms = [np.sqrt(a @ K @ a) for K, a in zip(Ks, model.alphas_, strict=True)]
    assert_allclose(model.norms_, norms, rtol=1e-6)
    b = np.maximum(0, np.array(margins) - 1)  # of "exact"
    if solver == "exact":
        w0s, costs = model.intercepts_, [0.5] * 3
        value = literal.objective(Ks, model.alphas_, w0s, b, Y, costs, 2.0, mu)
        assert_allclose(model.objective_curve_[-1], value, rtol=1e-8)
    k_new = rbf_kernel(new, X, gamma=1.0)
    arguments = (Y, model.alphas_, model.intercepts_, mu)
    expected = literal.nystrom_decision(k, k_new, model.component_indices_, *arguments)
    assert_allclose(model.decision_function(new), expected, atol=1e-8)
    expected = literal.printed_decision(k_new, *arguments)
    assert_allclose(printed.decision_function(new), expected, atol=1e-8)
    assert_array_equal(printed.alphas_, model.alphas_)
    assert_allclose(model.components_[1], X[model.component_indices_[1]])
    assert_allclose(model.view_weights_, mu)
    assert model.n_iter_ == len(model.objective_curve_) - 1 == 15


def test_one_approximation_by_all_samples_is_kmhks():
    X, Y = moons()
    full, approximate = fitted(X, Y, KMHKS), fitted(X, Y, NAKMHKS, n_components=1.0)
    one = fitted(X, Y, n_views=1, n_components=60, coupling=7.0)
    for other in (approximate, one):
        assert_allclose(other.objective_curve_, full.objective_curve_, rtol=1e-8)
        assert_allclose(other.alphas_[0], full.alphas_[0], atol=1e-5)
        assert_allclose(other.decision_function(X), full.decision_function(X), atol=1e-7)
        assert_allclose(other.norms_, full.norms_, rtol=1e-6)


def test_kmhks_is_the_support_vector_machine_with_the_squared_hinge():
    X, Y = moons(40)
    model = fitted(X, Y, KMHKS, **TIGHT)
    values, vectors = np.linalg.eigh(rbf_kernel(X, gamma=1.0))
    F = vectors[:, values > 1e-12] * np.sqrt(values[values > 1e-12])
    seen = np.ones((1, 40), dtype=bool)
    thetas, value = literal.co_regularised_squared_hinge([F], Y, seen, [0.1], 0.0, [1.0])
    assert_allclose(model.objective_curve_[-1], value, rtol=1e-8)
    scores = F @ thetas[0][:-1] + thetas[0][-1]
    assert_allclose(model.decision_function(X), scores, atol=1e-4)


@pytest.mark.parametrize("cls", [NAKMHKS, KMHKS])
def test_without_a_penalty(cls):
    """The limit of small ones, up to what they still weigh."""
    X, Y = moons(40)
    options = {"kernel": "linear", "gamma": None}
    none, little = (fitted(X, Y, cls, c=c, **options) for c in (0.0, 1e-9))
    assert_allclose(none.decision_function(X), little.decision_function(X), atol=1e-5)
    alone = none.decision_function(X)[0] - none.intercepts_[0]
    assert_allclose((Y * none.alphas_[0]) @ X @ X[0], alone, atol=1e-8)


@pytest.mark.parametrize("cls", [MVNAKMHKS, NAKMHKS, KMHKS])
def test_a_linear_kernel_is_a_linear_function(cls):
    X, Y = moons()
    new = moons(20, 5)[0]
    linear = fitted(X, Y, cls, kernel="linear", gamma=None)
    w = sum(a @ k.landmarks for a, k in zip(linear.dual_coef_, linear.similarities_, strict=True))
    flat = new @ w / len(linear.alphas_) + linear.intercepts_.mean()
    assert_allclose(linear.decision_function(new), flat, atol=1e-8)


# ------------------------------------------------------------------ several views


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("decision", ["nystrom", "printed"])
def test_several_views_each_with_its_kernel_and_components(missing, decision):
    """Machines of views 0, 0, 1, 1; all numbers of a sample from the views that it has."""
    observed = pattern(1, 50, 2, missing).T
    X = MultiView(hide(VIEWS, observed))
    mu, costs = np.array([0.4, 0.3, 0.2, 0.1]), [0.5, 0.4, 0.3, 0.2]
    options = {"n_views": 4, "n_components": 8, "kernel": ["rbf", "linear"], "gamma": [0.3, None]}
    options |= {"c": costs, "view_weights": mu, "decision": decision, **TIGHT}
    model = fitted(X, LABELS, **options)
    assert model.sources_ == [0, 0, 1, 1]
    ks = [rbf_kernel(VIEWS[0], gamma=0.3)] * 2 + [VIEWS[1] @ VIEWS[1].T] * 2
    seen, Fs = observed[:, model.sources_].T, []
    for k, S, s in zip(ks, model.component_indices_, seen, strict=True):
        assert s[S].all()
        Fs.append(s[:, None] * factors_of(k, [S])[0])
    thetas, value = literal.co_regularised_squared_hinge(Fs, SIGNS, seen, costs, 1.0, mu)
    assert_allclose(model.objective_curve_[-1], value, rtol=1e-8)
    u = np.array([F @ theta[:-1] + theta[-1] for F, theta in zip(Fs, thetas, strict=True)])
    if decision == "printed":
        machines = zip(ks, model.alphas_, model.intercepts_, strict=True)
        u = np.array([k @ (SIGNS * a) + w0 for k, a, w0 in machines])
    u *= seen
    assert_allclose(model.view_scores(X), u, atol=1e-4)
    mean = mu @ u / (mu @ seen)
    assert_allclose(model.decision_function(X), mean, atol=1e-4)


def test_missing_rows_leave_the_other_machines_as_they_are():
    """Without coupling a machine is that of the samples that have its view."""
    observed = random_pattern(2, 50, 2)
    X = MultiView(hide(VIEWS, observed))
    model = fitted(X, LABELS, n_components=1.0, coupling=0.0, gamma=0.5)
    for v in range(2):
        rows = observed[:, v]
        alone = fitted(VIEWS[v][rows], LABELS[rows], KMHKS, gamma=0.5)
        expected = alone.decision_function(VIEWS[v][rows])
        assert_allclose(model.view_scores(X)[v][rows], expected, atol=1e-3)
        only = MultiView(VIEWS, observed=np.arange(2) == np.full((50, 1), v))
        assert_allclose(model.decision_function(only), model.view_scores(only)[v])


@pytest.mark.parametrize("missing", [False, True])
def test_single_machines_add_the_kernels_of_the_views(missing):
    observed = pattern(3, 50, 2, missing).T
    X = MultiView(hide(VIEWS, observed))
    options = {"kernel": ["rbf", "linear"], "gamma": [0.3, None]}
    full = fitted(X, LABELS, KMHKS, **options)
    K = np.outer(*[observed[:, 0]] * 2) * rbf_kernel(VIEWS[0], gamma=0.3)
    K = K + np.outer(*[observed[:, 1]] * 2) * (VIEWS[1] @ VIEWS[1].T)
    gram = fitted(K, LABELS, KMHKS, kernel="gram", gamma=None)
    assert_allclose(full.decision_function(X), gram.decision_function(K), atol=1e-8)
    approximate = fitted(X, LABELS, NAKMHKS, n_components=1.0, **options)
    assert_allclose(approximate.decision_function(X), full.decision_function(X), atol=1e-6)
    printed = fitted(X, LABELS, NAKMHKS, n_components=1.0, decision="printed", **options)
    assert_allclose(printed.decision_function(X), full.decision_function(X), atol=1e-5)


@pytest.mark.parametrize("missing", [False, True])
def test_sum_of_kernels_is_that_of_whole_matrices(missing):
    """And nothing of the user's is overwritten."""
    observed = pattern(3, 50, 2, missing).T
    X = MultiView(hide(VIEWS, observed))
    has, other = observed.T
    own = VIEWS[0][has] @ VIEWS[0][has].T
    own += 1e-9 * np.random.default_rng(0).normal(size=own.shape)  # less symmetric than products
    kept = own.copy()
    form = SumOfKernels(X, [lambda A, B: own, "rbf"], [None, 0.3])
    expected = np.outer(other, other) * rbf_kernel(VIEWS[1], gamma=0.3)
    expected[np.ix_(has, has)] += (own + own.T) / 2
    assert_allclose(form.K, expected, rtol=1e-12)
    assert_array_equal(own, kept)


def test_number_of_views():
    X, Y = moons()
    assert len(fitted(X, Y).alphas_) == 2
    assert len(fitted(X, Y, n_views=5, n_components=5).alphas_) == 5
    assert fitted(VIEWS, LABELS).sources_ == [0, 1]


# ------------------------------------------------------------------ more than two classes


def iris_like():
    data = load_iris()
    return data.data[::2], np.array(["c", "a", "b"])[data.target[::2]]


def test_pairs_of_kmhks_are_the_machines_of_two_classes():
    X, y = iris_like()
    model = fitted(X, y, KMHKS, gamma=0.5)
    scores = model.view_scores(X)[0]
    for q, (i, j) in enumerate([(0, 1), (0, 2), (1, 2)]):
        rows = (y == model.classes_[i]) | (y == model.classes_[j])
        two = fitted(X[rows], y[rows], KMHKS, gamma=0.5)
        assert_allclose(scores[:, q], two.decision_function(X), atol=1e-8)
        assert_array_equal(model.alphas_[0][q][~rows], 0.0)
        assert_allclose(model.alphas_[0][q][rows], two.alphas_[0], atol=1e-8)
    for row, votes in zip(scores, model.decision_function(X), strict=True):
        won, summed = literal.votes(row, 3)
        assert_array_equal(np.round(votes), won)
        order = sorted(range(3), key=lambda k: (won[k], summed[k]))
        assert_array_equal(np.argsort(votes), order)
    assert_array_equal(model.predict(X), model.classes_[model.decision_function(X).argmax(axis=1)])
    assert model.score(X, y) > 0.95


@given(seeds, st.integers(3, 5))
@settings(max_examples=30)
def test_votes_and_the_scores_that_decide_between_equal_ones(seed, K):
    scores = np.random.default_rng(seed).normal(size=(6, K * (K - 1) // 2)) * 10
    scores[0, 0] = 0.0  # the first class has the vote
    for row, votes in zip(scores, votes_of_pairs(scores, K), strict=True):
        won, summed = literal.votes(row, K)
        best = max(range(K), key=lambda k: (won[k], summed[k]))
        assert votes.argmax() == best
        assert_array_equal(np.round(votes), won)


def test_pairs_that_lack_a_view():
    """The machine of that view is 0 for the pair, and is left out of the others' mean."""
    views, y = toy_views(0, m=60, widths=WIDTHS, n_classes=3)
    observed = np.column_stack([np.ones(60, dtype=bool), y == 2])
    X = MultiView(hide(views, observed))
    for solver in ("exact", "paper"):
        model = fitted(X, y, solver=solver, gamma=0.5, tol=1e-6)
        assert_allclose(model.view_scores(MultiView(views))[1][:, 0], 0.0)
        assert np.isfinite(model.decision_function(X)).all() and model.score(X, y) > 0.8


# ------------------------------------------------------------------ calls


def test_overflow():
    X, Y = moons()
    for cls in (MVNAKMHKS, NAKMHKS, KMHKS):
        with np.errstate(over="ignore"), pytest.raises(ValueError, match="not finite"):
            cls(kernel="linear").fit(X * 1e200, Y)
    with pytest.raises(ValueError, match="squares overflow"):
        FactorMachine(np.full((4, 2), 1e200), np.ones(4, dtype=bool), np.ones(4), 1.0)


def test_weights_are_divided_by_their_sum_and_a_view_may_have_none():
    X, Y = moons()
    one, two = (fitted(X, Y, view_weights=w) for w in ([3, 1], np.array([0.75, 0.25])))
    assert_allclose(one.decision_function(X), two.decision_function(X), atol=1e-10)
    first = fitted(X, Y, view_weights=[1, 0])
    assert_allclose(first.decision_function(X), first.view_scores(X)[0])


def test_memory_is_that_of_the_factors():
    """n = 20 000, m = 100, M = 2: at most 3 times the two factors, and no kernel matrix."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 5))
    y = X[:, 0] + X[:, 1] ** 2 > 0.5
    model = MVNAKMHKS(n_components=100, tol=1e-2, random_state=0)
    clone(model).fit(X[:500], y[:500])
    assert peak_bytes(lambda: model.fit(X, y)) < 3 * (2 * 20_000 * 100 * 8)
    assert model.score(X, y) > 0.95


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_kmhks_holds_two_kernel_matrices(multi_class):
    """Of several views and classes: the sum, and the view that is added to it."""
    n, rng = 1200, np.random.default_rng(0)
    y = np.arange(n) % 5
    views = [rng.normal(size=(n, 3)) + 0.3 * y[:, None] for _ in range(3)]
    model = KMHKS(multi_class=multi_class)
    clone(model).fit([view[:100] for view in views], y[:100])
    assert peak_bytes(lambda: model.fit(views, y)) < 2.2 * 8 * n * n


# ------------------------------------------------------------------ weights


def copies_of(seed, n):
    """Integer weights, at least 1 for the first rows, and the rows that they stand for."""
    w = np.random.default_rng(seed).integers(0, 4, size=n)
    w[: n // 3] += w[: n // 3] == 0
    return w, np.repeat(np.arange(n), w)


def same_components(monkeypatch, rows, m):
    """Make the first copies of 0 .. m - 1 among `rows` the components of every view."""
    first = np.unique(rows, return_index=True)[1][:m]
    monkeypatch.setattr(
        nystrom, "draw_components", lambda observed, n_components, rng: [first] * observed.shape[1]
    )


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("c", [0.0, 0.1])
@pytest.mark.parametrize("solver", ["exact", "paper"])
def test_weighted_table_1_is_that_of_copies_by_loops(solver, c, missing):
    """Iterates, b and J' of the least squares of all copies, one row each."""
    _, Y, _, Fs, seen = small(3, missing=missing)
    w = np.random.default_rng(1).integers(1, 4, size=24)
    rows = np.repeat(np.arange(24), w)
    copied = [F[rows] for F in Fs], Y[rows], seen[:, rows]
    options = {"c": c, "gamma": 2.0, "mu": MU, "solver": solver, "T": 6}
    weighted = solve(Fs, Y, **options, seen=seen, weights=w.astype(float))
    repeated = solve(*copied[:2], **options, seen=copied[2])
    assert_allclose(weighted.curve, repeated.curve, rtol=1e-9)
    assert_allclose(weighted.margins[:, rows], repeated.margins, atol=1e-7)
    assert_allclose(weighted.b[:, rows], repeated.b, atol=1e-7)
    if solver == "exact":
        costs = np.full(3, c)
        thetas, bs, curve = literal.exact_sweeps(*copied, costs, 2.0, MU, 6)
        assert_allclose(weighted.curve, curve, rtol=1e-7)
        assert_allclose(weighted.b[:, rows], bs, atol=1e-6)
    if c > 0:  # a copy has its share of the coefficient
        shared = weighted.coefficients[:, rows] / w[rows]
        assert_allclose(shared, repeated.coefficients, atol=1e-6)
    plain = solve(Fs, Y, **options, seen=seen)
    assert np.abs(plain.margins - weighted.margins).max() > 1e-3


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("c", [0.0, 0.5])
@pytest.mark.parametrize("solver", ["exact", "paper"])
@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
@pytest.mark.parametrize("cls", [KMHKS, NAKMHKS, MVNAKMHKS])
def test_a_weight_is_a_number_of_copies(cls, multi_class, solver, c, missing, monkeypatch):
    """Of the same components; copies among them change nothing, for they add no direction."""
    views, y = toy_views(1, m=45, widths=(3, 2), n_classes=3, noise=1.0)
    pattern = random_pattern(2, 45, 2, n_complete=15) if missing else np.ones((45, 2), dtype=bool)
    X, (w, rows) = MultiView(hide(views, pattern)), copies_of(6, 45)
    options = {"c": c, "solver": solver, "multi_class": multi_class, "gamma": 0.3}
    model = cls(**options, tol=1e-14, max_iter=500)
    same_components(monkeypatch, np.flatnonzero(w), 9)
    weighted = clone(model).fit(X, y, sample_weight=w)
    same_components(monkeypatch, rows, 9)
    expected = clone(model).fit(X[rows], y[rows]).view_scores(X)
    assert_allclose(weighted.view_scores(X), expected, atol=2e-4 if c == 0 else 1e-6)
    same_components(monkeypatch, np.arange(45), 9)
    assert np.abs(clone(model).fit(X, y).view_scores(X) - expected).max() > 0.01
