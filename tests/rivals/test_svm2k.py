"""SVM2K: the quadratic program, duality, its limits, pairs and votes, missing views; the API."""

from functools import cache

import numpy as np
import pytest
from cvxopt import matrix, solvers
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from mvref import MultiView
from mvref.rivals import svm2k_solvers
from mvref.rivals.svm2k import SVM2K, solve_svm2k
from mvref.rivals.svm2k_solvers import (
    BoxProgram,
    ViewKernel,
    dual_value,
    interior_point,
    nearest,
    pivoted_cholesky,
)
from tests.costs import peak_bytes
from tests.literal import QP_OPTIONS, hide, hinge_dual, random_pattern, rbf_gram, toy_views

WIDTHS = (3, 4, 2)
VIEWS, Y = toy_views(0, m=40, widths=WIDTHS, noise=1.0)
TWO, SIGNS = VIEWS[:2], np.where(Y == 1, 1.0, -1.0)
THREE, Y3 = toy_views(1, m=45, widths=WIDTHS, n_classes=3, noise=1.0)
NEW, NEW3 = [v[::-1] + 0.4 for v in VIEWS], [v[::-1] + 0.4 for v in THREE]
TWO_SIGNS = np.array([SIGNS, np.where(np.arange(40) % 3 == 0, 1.0, -1.0)])
NAMES = np.array(["ant", "bee", "cat"])
EXACT = {"tol": 1e-11, "random_state": 0}
PARAMETERS = [(1.0, 0.7, 0.5, 1e-3), (0.1, 0.3, 1.0, 0.2), (0.5, 0.5, 2.0, 0.0)]


def gram(view):
    """The kernel of the rbf default, with the constant feature."""
    return rbf_gram(view, 1 / view.shape[1]) + 1


def quadratic_program(KA, KB, y, CA, CB, D, eps):
    """The dual by cvxopt in 4 m variables a^A, a^B, g^+ and g^-; CA, CB and D are arrays.

    Returns f_A, f_B and the largest dual value.
    """
    m = len(y)
    one, none = np.eye(m), np.zeros((m, m))
    A = np.hstack([y * one, none, -one, one])  # beta_A = A x
    B = np.hstack([none, y * one, one, -one])
    upper = np.concatenate([CA, CB, D, D])
    used = np.flatnonzero(upper)
    A, B, upper = A[:, used], B[:, used], upper[used]
    gain = np.concatenate([np.ones(2 * m), np.full(2 * m, -eps)])[used]
    box = np.vstack([np.eye(len(used)), -np.eye(len(used))]), np.append(upper, 0 * upper)
    program = A.T @ KA @ A + B.T @ KB @ B, -gain, *box
    found = solvers.qp(*map(matrix, program), options=QP_OPTIONS)
    x = np.array(found["x"]).ravel()
    return KA @ (A @ x), KB @ (B @ x), -found["primal objective"]


def losses(fA, fB, y, CA, CB, D, eps):
    """What the problem adds to the norms, sample by sample."""
    value = 0.0
    for a, b, sign in zip(fA, fB, y, strict=True):
        value += (
            CA * max(0, 1 - sign * a) + CB * max(0, 1 - sign * b) + D * max(0, abs(a - b) - eps)
        )
    return value


def solve(views, y, CA, CB, D, eps, **options):
    y = np.atleast_2d(y)
    one = np.ones(y.shape[1])
    KA, KB = (gram(view) for view in views)
    options = {"tol": 1e-11, "max_iter": 100} | options
    found = solve_svm2k(KA, KB, y, CA * one, CB * one, D * one, eps, **options)
    return found, found.beta[0] @ KA, found.beta[1] @ KB


@cache
def exact_solution(parameters):
    return solve(TWO, SIGNS, *parameters)


# ------------------------------------------------------------------ two views


@pytest.mark.parametrize("parameters", PARAMETERS)
def test_is_the_solution_of_the_quadratic_program(parameters):
    CA, CB, D, eps = parameters
    one = np.ones(40)
    fA, fB, least = quadratic_program(*map(gram, TWO), SIGNS, CA * one, CB * one, D * one, eps)
    found, uA, uB = exact_solution(parameters)
    assert found.converged
    assert_allclose(uA[0], fA, atol=1e-7)
    assert_allclose(uB[0], fB, atol=1e-7)
    assert_allclose(found.primal[0], least, rtol=1e-8)
    model = SVM2K(CA, C2=CB, D=D, eps=eps, tol=1e-7, random_state=0).fit(TWO, Y)
    assert_allclose(model.decision_function(TWO), (fA + fB) / 2, atol=1e-4)
    assert_allclose(model.objective_, [[least]], rtol=1e-7)


@pytest.mark.parametrize("parameters", PARAMETERS)
def test_primal_is_dual(parameters):
    """Both values from their definitions; the dual point is in its box."""
    CA, CB, D, eps = parameters
    found, uA, uB = exact_solution(parameters)
    bA, bB = found.beta[:, 0]
    quadratic = (bA @ gram(TWO[0]) @ bA + bB @ gram(TWO[1]) @ bB) / 2
    primal = quadratic + losses(uA[0], uB[0], SIGNS, *parameters)
    assert_allclose(found.primal[0], primal, rtol=1e-10)
    # a_i^A + a_i^B = y (beta_A + beta_B) for every g: the best g is the one nearest to 0 in the
    # interval that the three boxes leave
    up, down = (np.maximum(sign * SIGNS, 0) for sign in (1, -1))
    low = np.max([-CA * down - bA, bB - CB * up, np.full(40, -D)], axis=0)
    high = np.min([CA * up - bA, bB + CB * down, np.full(40, D)], axis=0)
    assert (low <= high + 1e-12).all()
    dual = SIGNS @ (bA + bB) - eps * np.abs(np.clip(0, low, high)).sum() - quadratic
    assert_allclose(dual, found.primal[0], rtol=1e-6)
    assert dual <= found.primal[0] * (1 + 1e-12)
    assert_allclose(found.gap[0], found.primal[0] - dual, atol=1e-9)


def svm(v, C):
    """Scores of new samples by the SVM of a view, with a penalised intercept, from cvxopt."""
    w, _ = hinge_dual(VIEWS[v], SIGNS, C, 1.0)
    return NEW[v] @ w[:-1] + w[-1]


@pytest.mark.parametrize("free", [{"D": 0.0}, {"eps": 100.0}])
def test_without_agreement_these_are_two_svms(free):
    """D = 0, or a disagreement that costs nothing."""
    model = SVM2K(0.8, C2=0.3, kernel="linear", **free, **EXACT).fit(TWO, Y)
    expected = (svm(0, 0.8) + svm(1, 0.3)) / 2
    assert_allclose(model.decision_function(NEW[:2]), expected, atol=1e-7)


def test_disagreement_falls_with_its_weight():
    """Theory: at the minimum the sum that D multiplies can only fall; and in the end it is 0."""
    weights = (0.0, 0.05, 0.5, 5.0)
    solved = [solve(TWO, SIGNS, 1.0, 0.7, D, 1e-3, tol=1e-7) for D in weights]
    apart = np.array([np.abs(uA - uB)[0] for _, uA, uB in solved])
    assert (np.diff(np.maximum(0, apart - 1e-3).sum(axis=1)) < 1e-4).all()
    assert apart[0].max() > 0.5 and apart[-1].max() < 0.01


def test_two_equal_views_are_one_svm():
    for times, C2 in ((2, None), (1, None), (1, 3.0)):
        model = SVM2K(0.5, C2=C2, kernel="linear", **EXACT).fit([VIEWS[1]] * times, Y)
        assert model.pairs_ == [(0, times - 1)]
        assert_allclose(model.decision_function([NEW[1]] * times), svm(1, 0.5), atol=1e-7)


def test_classes_one_against_the_rest():
    options = {"C1": 0.3, "D": 0.1, "tol": 1e-7, "random_state": 0}
    model = SVM2K(**options).fit(THREE[:2], NAMES[Y3])
    scores = model.decision_function(NEW3[:2])
    assert scores.shape == (45, 3) and model.dual_coef_.shape == (1, 2, 3, 45)
    for c in range(3):
        one = SVM2K(**options).fit(THREE[:2], Y3 == c)
        assert_allclose(scores[:, c], one.decision_function(NEW3[:2]), atol=1e-4)
        assert_allclose(model.objective_[:, c], one.objective_[:, 0], rtol=1e-7)
    assert_array_equal(model.predict(NEW3[:2]), NAMES[scores.argmax(axis=1)])


# ------------------------------------------------------------------ the two solvers


def coordinate_by_coordinate(KA, KB, y, CA, CB, D, eps, n_sweeps):
    """The dual steps one number at a time, every gradient from its definition."""
    m = len(y)
    aA, aB, g = np.zeros((3, m))
    for _ in range(n_sweeps):
        for i in range(m):
            aA[i] += (1 - y[i] * (KA[i] @ (y * aA - g))) / KA[i, i]
            aA[i] = min(max(aA[i], 0), CA)
            aB[i] += (1 - y[i] * (KB[i] @ (y * aB + g))) / KB[i, i]
            aB[i] = min(max(aB[i], 0), CB)
            h = KA[i, i] + KB[i, i]
            z = g[i] + (KA[i] @ (y * aA - g) - KB[i] @ (y * aB + g)) / h
            z = np.sign(z) * max(0, abs(z) - eps / h)
            g[i] = min(max(z, -D), D)
    return y * aA - g, y * aB + g


@pytest.fixture(params=["interior", "split", "handed over"])
def solver(request, monkeypatch):
    """All problems by one of the solvers, whatever their rank."""
    few, patience = {"interior": (256, 0), "split": (0, 10**6), "handed over": (0, 7)}[
        request.param
    ]
    monkeypatch.setattr(svm2k_solvers, "FEW", few)
    monkeypatch.setattr(svm2k_solvers, "PATIENCE", patience)
    return request.param


@pytest.mark.parametrize("parameters", PARAMETERS)
def test_both_solvers_find_what_the_literal_twin_finds(solver, parameters):
    """Coordinate descent, to the end, and never below in value."""
    options = {"tol": 1e-9, "max_iter": 20_000}
    found, uA, uB = solve(TWO, TWO_SIGNS, *parameters, **options)
    assert found.converged and (found.n_sweeps > 40) == (solver == "split")
    KA, KB = (gram(view) for view in TWO)
    for k, y in enumerate(TWO_SIGNS):
        bA, bB = coordinate_by_coordinate(KA, KB, y, *parameters, 300)
        assert_allclose([uA[k], uB[k]], [KA @ bA, KB @ bB], atol=0.05)
        literal = (bA @ KA @ bA + bB @ KB @ bB) / 2 + losses(KA @ bA, KB @ bB, y, *parameters)
        assert found.primal[k] <= literal * (1 + 1e-9) and found.primal[k] > literal * 0.98


@pytest.mark.parametrize("parameters", PARAMETERS)
def test_the_certificate_is_that_of_the_definitions(solver, parameters):
    """The primal value of beta and the value of the dual point, which is in its box."""
    CA, CB, D, eps = parameters
    found, uA, uB = solve(TWO, TWO_SIGNS, *parameters, tol=1e-3)
    K = [gram(view) for view in TWO]
    for k, y in enumerate(TWO_SIGNS):
        b, (aA, aB, g) = found.beta[:, k], found.dual[:, k]
        value = sum(b_v @ K_v @ b_v for b_v, K_v in zip(b, K, strict=True)) / 2
        value += losses(uA[k], uB[k], y, *parameters)
        assert_allclose(found.primal[k], value, rtol=1e-10)
        assert min(aA.min(), aB.min()) >= 0 and aA.max() <= CA and aB.max() <= CB
        assert np.abs(g).max() <= D
        feasible = y * aA - g, y * aB + g
        dual = (aA + aB - eps * np.abs(g)).sum()
        dual -= sum(b_v @ K_v @ b_v for b_v, K_v in zip(feasible, K, strict=True)) / 2
        assert_allclose(found.gap[k], value - dual, atol=1e-9)
        assert 0 <= found.gap[k] <= 1e-3 * value


def test_gaps_and_weights_in_both_solvers(solver):
    """A missing view has no loss and no agreement: cvxopt with losses that are left out."""
    observed = random_pattern(5, 40, 2)
    X = MultiView(hide(TWO, observed))
    KA, KB = (gram(view) * np.outer(seen, seen) for view, seen in zip(TWO, observed.T, strict=True))
    a, b = observed.T.astype(float)
    for w in (np.ones(40), np.random.default_rng(2).integers(0, 3, size=40)):
        losses = a * w, 0.7 * b * w, 0.5 * a * b * w, 0.01
        fA, fB, least = quadratic_program(KA, KB, SIGNS, *losses)
        model = SVM2K(1.0, C2=0.7, D=0.5, eps=0.01, tol=1e-7).fit(X, Y, sample_weight=w)
        assert_allclose(model.objective_[0, 0], least, rtol=1e-6)
        if solver == "interior":
            model.set_params(**EXACT).fit(X, Y, sample_weight=w)
            assert_allclose(model.objective_[0, 0], least, rtol=1e-8)
            expected = (a * fA + b * fB) / (a + b)
            assert_allclose(model.decision_function(X), expected, atol=1e-7)


@settings(max_examples=30)
@given(st.integers(0, 10_000))
def test_the_nearest_point_under_the_losses(seed):
    """Its value is that of its dual, which is in the box; C, D and eps are 0 at times."""
    rng = np.random.default_rng(seed)
    p, q = rng.normal(scale=2.0, size=(2, 5, 7))
    costs = rng.uniform(0, 2, size=(5, 3, 7)) * (rng.random((5, 3, 7)) > 0.2)
    rho, eps = rng.uniform(0.1, 4, size=(2, 5, 1)), rng.choice([0.0, 0.3])
    dual = nearest(p, q, costs, eps, *rho)
    assert (np.abs(dual) <= costs).all() and (dual[:, :2] >= 0).all()
    aA, aB, g = dual.swapaxes(0, 1)
    a, b = p + (aA - g) / rho[0], q + (aB + g) / rho[1]
    quadratic = rho[0] / 2 * (a - p) ** 2 + rho[1] / 2 * (b - q) ** 2
    value = quadratic + costs[:, 0] * np.maximum(0, 1 - a) + costs[:, 1] * np.maximum(0, 1 - b)
    value += costs[:, 2] * np.maximum(0, np.abs(a - b) - eps)
    least = aA * (1 - a) + aB * (1 - b) + g * (a - b) - eps * np.abs(g) + quadratic
    assert_allclose(value, least, atol=1e-12)


def test_newtons_step_is_that_of_the_dense_system():
    """4 m equations in x, with P and K written out; the losses of one sample are left out."""
    rng = np.random.default_rng(0)
    m, eps = 6, 0.1
    FA, FB = rng.normal(size=(m, 2)), rng.normal(size=(m, 3))
    costs = rng.uniform(0.5, 2, size=(3, m))
    costs[:, 0] = 0.0
    program = BoxProgram(FA, FB, np.sign(rng.normal(size=m)), costs, eps)
    x, s, t = program.upper * rng.uniform(0.2, 0.8, size=(4, m)), *rng.uniform(1, 2, size=(2, 4, m))
    one, none = np.diag(1.0 * program.used[0]), np.zeros((m, m))
    P = np.block([[one, none, -one, one], [none, one, one, -one]])
    F = np.block([[FA, np.zeros((m, 3))], [np.zeros((m, 2)), FB]])
    F *= np.tile(program.y, 2)[:, None]
    Q = P.T @ F @ F.T @ P
    gradient = program.back(program.margins(program.weights(x))) - program.c
    assert_allclose(gradient.ravel(), Q @ x.ravel() - program.c.ravel(), atol=1e-12)
    dx, ds, dt = program.newton(x, s, t, gradient)(0.3, 0.2)
    theta = s / x + t / (program.upper - x) + program.damping
    rho = 0.3 / x - 0.2 / (program.upper - x) - gradient
    expected = np.linalg.solve(Q + np.diag(theta.ravel()), rho.ravel())
    assert_allclose(dx.ravel(), expected, atol=1e-10)
    assert_allclose(s * x + s * dx + x * ds, 0.3, atol=1e-10)
    assert_allclose(t * (program.upper - x) - t * dx + (program.upper - x) * dt, 0.2, atol=1e-10)


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
def test_interior_points_take_few_steps_at_every_weight(C):
    for y in TWO_SIGNS:
        F = [pivoted_cholesky(np.array(gram(view)), 40) for view in TWO]
        program = BoxProgram(*F, y, np.full((3, 40), C), 1e-3)
        dual, n_steps = interior_point(program, tol=1e-6, max_iter=100)
        assert n_steps <= 25
        assert dual_value(dual, 0.0, 0.0) > 0
    hasty, steps = interior_point(program, tol=1e-6, max_iter=2)
    assert steps == 2 and np.isfinite(hasty).all()


def test_the_kernel_of_a_view():
    """Products and systems after it was overwritten; its rank; a read-only array is copied."""
    K = gram(TWO[0])
    kept = K.copy()
    K.flags.writeable = False
    kernel, V = ViewKernel(K), np.random.default_rng(0).normal(size=(3, 40))
    assert_allclose(kernel.times(V), V @ kept, atol=1e-12)
    kernel.K.flags.writeable = False  # as joblib hands over what is large
    kernel.shift(0.7)
    assert_allclose(kernel.times(V), V @ kept, atol=1e-12)
    smoothed = np.linalg.solve(kept + np.eye(40) / 0.7, kept @ V.T).T
    assert_allclose(kernel.smooth(V), smoothed, atol=1e-12)
    assert_array_equal(K, kept)
    F = pivoted_cholesky(TWO[0] @ TWO[0].T, 10)
    assert F.shape == (40, 3)
    assert_allclose(F @ F.T, TWO[0] @ TWO[0].T, atol=1e-10)
    assert pivoted_cholesky(kept, 5) is None
    for K in (np.array([[1.0, 2.0], [2.0, 1.0]]), np.diag([1.0] * 500 + [-9.0])):
        with pytest.raises(ValueError, match="positive semi-definite"):
            ViewKernel(K).shift(1.0)


def test_one_matrix_for_each_view(monkeypatch):
    """The kernel and its factor share an array; two more while a kernel is made."""
    rng = np.random.default_rng(0)
    y, views = np.arange(700) % 2, [rng.normal(size=(700, 30)) for _ in range(3)]
    monkeypatch.setattr(svm2k_solvers, "LARGEST_RANK", 50)
    assert peak_bytes(lambda: SVM2K(tol=1e-2).fit(views, y)) < (3 + 2.5) * 8 * 700**2


# ------------------------------------------------------------------ more views


def votes_by_hand(views, y, new, n_classes, **options):
    """One two-view model per pair; each votes for a class."""
    votes, sums = np.zeros((2, len(new[0]), n_classes))
    for a, b in ((0, 1), (0, 2), (1, 2)):
        f = SVM2K(**options).fit([views[a], views[b]], y).decision_function([new[a], new[b]])
        f = np.column_stack([-f, f]) if n_classes == 2 else f
        votes[np.arange(len(f)), f.argmax(axis=1)] += 1
        sums += f
    return votes, sums


@pytest.mark.parametrize("n_classes", [2, 3])
def test_pairs_vote(n_classes):
    views, y, new = (VIEWS, Y, NEW) if n_classes == 2 else (THREE, Y3, NEW3)
    options = {"C1": 0.3, "D": 0.05, "tol": 1e-5, "random_state": 0}
    votes, sums = votes_by_hand(views, y, new, n_classes, **options)
    model = SVM2K(**options).fit(views, y)
    assert model.pairs_ == [(0, 1), (0, 2), (1, 2)]
    f = model.decision_function(new)
    expected = votes[:, 1] - votes[:, 0] if n_classes == 2 else votes
    assert_array_equal(np.round(f), expected)
    best = votes == votes.max(axis=1, keepdims=True)
    assert_array_equal(model.predict(new), np.where(best, sums, -np.inf).argmax(axis=1))
    assert (votes.max(axis=1) == 2).any()  # not all pairs are of one mind


def test_ties_are_a_parameter():
    """Three pairs that name three classes."""
    rng = np.random.default_rng(0)
    new = [rng.normal(scale=3.0, size=(2000, width)) for width in WIDTHS]
    options = {"C1": 0.3, "D": 0.0, "tol": 1e-6, "random_state": 0}
    votes, sums = votes_by_hand(THREE, Y3, new, 3, **options)
    tied = votes.max(axis=1) == 1
    assert tied.sum() >= 5
    expected = {"score": sums.argmax(axis=1), "smallest": 0, "largest": 2}
    model = SVM2K(**options).fit(THREE, Y3)
    for ties, winner in expected.items():
        said = model.set_params(ties=ties).predict(new)
        assert_array_equal(said[tied], np.broadcast_to(winner, len(tied))[tied])
        assert_array_equal(said[~tied], votes.argmax(axis=1)[~tied])
    said = model.set_params(ties="random").predict(new)
    assert len(np.unique(said[tied])) > 1
    alone = [model.predict([view[[i]] for view in new])[0] for i in np.flatnonzero(tied)[:5]]
    assert_array_equal(alone, said[tied][:5])


# ------------------------------------------------------------------ missing views


def test_a_pair_without_a_view_of_the_sample_does_not_vote():
    model = SVM2K(D=0.1, tol=1e-3, random_state=0).fit(VIEWS, Y)
    only = np.zeros((40, 3), dtype=bool)
    only[:, 2] = True
    X = MultiView(hide(NEW, only))
    scores, n_seen = model.pair_scores(X)
    assert_array_equal(n_seen, np.repeat([[0], [1], [1]], 40, axis=1))
    assert_array_equal(scores[0], 0.0)
    K = rbf_gram(np.vstack([NEW[2], VIEWS[2]]), 1 / 2)[:40, 40:] + 1
    assert_allclose(scores[1, :, 0], K @ model.dual_coef_[1, 1, 0], atol=1e-10)
    assert set(np.round(model.decision_function(X))) <= {-2.0, 0.0, 2.0}
