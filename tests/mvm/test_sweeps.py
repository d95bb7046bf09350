"""Sweeps column by column, for one-hot views and for penalties from the data, and mean field.

A score is linear in every number of a machine, so that the mean of its square is the mean over
numbers that are their mean plus or minus their standard deviation: the literal twin of mean field.
"""

import itertools
import math
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from mvref import MultiView, MVMClassifier, MVMRegressor
from mvref.core.groups import group_structure
from mvref.core.losses import EVIDENCE, LOSSES, MAJORISERS
from mvref.core.ridge import Column, Table, alternate, choose_penalty
from mvref.datasets import make_interactions
from mvref.mvm.model import Design, Objective
from mvref.mvm.solvers import Columns
from mvref.rivals import FMClassifier, FMRegressor
from mvref.rivals.fm import Sweeps

N, D, V, K = 60, 4, 3, 2
RNG = np.random.default_rng(0)
LEVELS = RNG.integers(D, size=(N, V))
Y = RNG.normal(size=N)
SIGNS = np.sign(Y)
WEIGHTS = RNG.integers(1, 4, size=N) / 2.0
BOTH = pytest.mark.parametrize("machine", ["MVM", "FM"])


def one_hot(form="csr", values=None, gaps=False):
    """Views of LEVELS; with values other than 1, and rows of nothing."""
    views = []
    for v in range(V):
        view = np.zeros((N, D))
        view[np.arange(N), LEVELS[:, v]] = 1.0 if values is None else values[:, v]
        view[: 10 * gaps * v] = 0.0
        views.append(sparse.csr_matrix(view) if form == "csr" else view)
    return views


EVERY_FORM = [
    one_hot(),
    one_hot("dense"),
    one_hot(values=RNG.normal(size=(N, V))),
    one_hot(gaps=True),
]


def machine_of(machine, views, loss="squared", alpha=0.01, y=Y, weights=None, seed=1):
    """A machine ready to sweep: (object, numbers of all columns, scores at the start)."""
    rng, weights = np.random.default_rng(seed), np.ones(N) if weights is None else weights
    if machine == "MVM":
        X = MultiView(views)
        design = Design(X, group_structure(None, X, True), K, weights / weights.mean())
        options = {"loss": loss, "penalty": "l2", "alpha": alpha, "smoothing": 1e-8}
        factors = [rng.normal(size=(D + 1, K)) for _ in views]
        return Columns(Objective(design, y, **options), factors)
    theta = rng.normal(size=1 + V * D * (1 + K))
    return Sweeps([Table(view, constant=False) for view in views], theta, K, alpha, N)


def numbers_of(one):
    """Means and variances of every view: MVM (D + 1, K), FM linear (D, 1) and pairs (D, K)."""
    if isinstance(one, Columns):
        return list(zip(one.factors, one.variances, strict=True))
    return [(c.mean, c.variance) for c in (*one.linear, *one.pairs)]


def score(one, numbers, rows):
    """The score of a sample with rows x_v (V, D), in loops."""
    total = 0.0
    if isinstance(one, Columns):
        for f in range(K):
            total += math.prod(
                np.append(x, 1.0) @ A[:, f] for x, A in zip(rows, numbers, strict=True)
            )
        return total
    linear, pairs = numbers[:V], numbers[V:]
    total = one.w0[0] + sum(x @ w[:, 0] for x, w in zip(rows, linear, strict=True))
    for u, v in itertools.combinations(range(V), 2):
        total += (rows[u] @ pairs[u]) @ (rows[v] @ pairs[v])
    return total


def rows_of(views, i):
    return [view[[i]].toarray()[0] if sparse.issparse(view) else view[i] for view in views]


def residuals(one, views, y=Y):
    means = [mean for mean, _ in numbers_of(one)]
    return np.array([y[i] - score(one, means, rows_of(views, i)) for i in range(N)])


# ------------------------------------------------------------------ one column


@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("views", EVERY_FORM, ids=["csr", "dense", "values", "gaps"])
def test_all_levels_at_once_are_the_regression_with_its_whole_matrix(views, constant):
    for view in views:
        Z = sparse.hstack([sparse.csr_matrix(view), np.ones((N, int(constant)))], format="csr")
        table = Table(Z if sparse.issparse(view) else Z.toarray(), constant)
        assert table.level is not None
        a, g, c = RNG.normal(size=Z.shape[1]), RNG.normal(size=N), RNG.uniform(size=N)
        p = np.r_[np.full(D, 0.3), [0.7] * constant]
        matrix = Z.toarray().T @ (c[:, None] * Z.toarray()) + np.diag(p)
        expected = a + np.linalg.solve(matrix, Z.T @ g - p * a)
        slow = Table(Z.toarray(), constant)
        slow.level = None
        for form in (table, slow):
            new, diagonal = form.regress(a, g, c, (0.3, 0.7))
            assert_allclose(new, expected, atol=1e-12)
            assert_allclose(diagonal, np.diag(matrix), rtol=1e-12)
            assert_allclose(form.dot(a), Z @ a, atol=1e-12)
            assert_allclose(form.dot(a, squared=True), Z.multiply(Z) @ a, atol=1e-12)


def test_overlapping_columns_and_levels_never_seen():
    overlapping = Table(np.ones((3, 2)), constant=False)
    assert overlapping.level is None
    unseen = Table(np.eye(3)[:2], constant=False)
    new, _ = unseen.regress(np.ones(3), np.ones(2), np.ones(2), (0.0, 0.0))
    assert_array_equal(new, [2.0, 2.0, 1.0])  # without a penalty it stays


@BOTH
def test_a_sweep_equals_updates_one_number_at_a_time(machine):
    """FM: literally; MVM: levels and bias row of a column together, so as its ridge regression."""
    views, alpha = one_hot(), 0.02
    fast, slow = (machine_of(machine, views, alpha=alpha) for _ in range(2))
    e = residuals(fast, views)
    fast.sweep(e, np.ones(N), 0.0)
    means = [mean for mean, _ in numbers_of(slow)]
    X = np.array([rows_of(views, i) for i in range(N)])  # (N, V, D)
    if machine == "MVM":
        for f, v in itertools.product(range(K), range(V)):
            Z = [np.c_[X[:, u], np.ones(N)] for u in range(V)]
            h = math.prod(Z[u] @ means[u][:, f] for u in range(V) if u != v)
            rest = residuals(slow, views) + h * (Z[v] @ means[v][:, f])
            design = np.vstack([Z[v] * h[:, None], math.sqrt(N * alpha) * np.eye(D + 1)])
            means[v][:, f] = np.linalg.lstsq(design, np.r_[rest, np.zeros(D + 1)])[0]
        norms = np.array([np.linalg.norm(A, axis=0) for A in means])
        for A, norm in zip(means, norms, strict=True):
            A *= np.exp(np.log(norms).mean(axis=0)) / norm
    else:
        slow.w0 += residuals(slow, views).mean()
        columns = [(v, 0) for v in range(V)]
        columns += [(V + v, f) for f, v in itertools.product(range(K), range(V))]
        for part, f in columns:
            for j in range(D):
                v, e_now = part % V, residuals(slow, views)
                h = np.ones(N)
                if part >= V:
                    h = sum(X[:, u] @ means[V + u][:, f] for u in range(V) if u != v)
                x = X[:, v, j] * h
                a = means[part][j, f]
                means[part][j, f] = (x @ (e_now + x * a)) / (x @ x + N * alpha)
        assert_allclose(fast.w0, slow.w0, atol=1e-12)
    for (fast_mean, _), slow_mean in zip(numbers_of(fast), means, strict=True):
        assert_allclose(fast_mean, slow_mean, atol=1e-12)
    assert_allclose(e, residuals(fast, views), atol=1e-12)


# ------------------------------------------------------------------ mean field


def literal_variances(one, views):
    """Variance of every score: all numbers are their mean +- their standard deviation."""
    found = []
    for i in range(0, N, 12):
        rows, seen = rows_of(views, i), []
        used = [
            (b, j, f)
            for b, (mean, _) in enumerate(numbers_of(one))
            for j, f in np.ndindex(*mean.shape)
            if j == D or rows[b % V][j] != 0
        ]
        for signs in itertools.product([-1.0, 1.0], repeat=len(used)):
            numbers = [mean.copy() for mean, _ in numbers_of(one)]
            for sign, (b, j, f) in zip(signs, used, strict=True):
                numbers[b][j, f] += sign * math.sqrt(numbers_of(one)[b][1][j, f])
            seen.append(score(one, numbers, rows))
        found.append(np.var(seen))
    return np.array(found)


@BOTH
def test_variances_of_the_scores(machine, monkeypatch):
    if machine == "MVM":
        monkeypatch.setitem(globals(), "K", 1)  # 2^6 signs a sample
    views = one_hot(values=RNG.uniform(0.5, 2.0, size=(N, V)))
    one = machine_of(machine, views, alpha="auto")
    spread = one.sweep(residuals(one, views), np.ones(N), 0.4)
    assert_allclose(spread[::12], literal_variances(one, views), rtol=1e-10)
    assert spread.max() > 0.01


@BOTH
def test_the_last_column_minimises_the_free_energy(machine):
    """Its derivatives by every mean and variance of that column are 0 after a sweep."""
    views, T = one_hot(gaps=True), 0.4
    one = machine_of(machine, views, alpha="auto")
    u = WEIGHTS
    assert_allclose(one.sweep(residuals(one, views), u, T), spread_of(one))  # of all factors
    mean, variance = numbers_of(one)[-1]
    alpha = one.alphas[-1][-1] if machine == "FM" else one.alphas[-1][:, -1]
    precision = (
        N * np.broadcast_to(alpha if machine == "FM" else alpha[[0] * D + [1]], len(mean)) / T
    )

    def energy():
        """Up to a constant; a sweep over nothing returns the variances of the scores."""
        e = residuals(one, views)
        kept = [part.copy() for pair in numbers_of(one) for part in pair]
        spread = spread_of(one)
        for part, old in zip([p for pair in numbers_of(one) for p in pair], kept, strict=True):
            assert_array_equal(part, old)
        m, s = mean[:, -1], variance[:, -1]
        return u @ (e**2 + spread) / (2 * T) + 0.5 * np.sum(precision * (m**2 + s) - np.log(s))

    for numbers in (mean, variance):
        for j in range(len(mean)):
            at, step = numbers[j, -1], 1e-4 * max(abs(numbers[j, -1]), 1e-3)
            values = []
            for numbers[j, -1] in (at + step, at - step):
                values.append(energy())
            numbers[j, -1] = at
            slope = (values[0] - values[1]) / (2 * step)
            assert abs(slope) < 1e-5 * (1 + abs(precision[j])), (j, slope)


def spread_of(one):
    """Variances of the scores, by the formulas for independent numbers."""
    S, C = [], []
    if isinstance(one, Columns):
        S = [t.dot(A) if t.level is None else np.column_stack([t.dot(a) for a in A.T])
             for t, A in zip(one.tables, one.factors, strict=True)]  # fmt: skip
        C = [np.column_stack([t.dot(b, squared=True) for b in B.T])
             for t, B in zip(one.tables, one.variances, strict=True)]  # fmt: skip
        return (
            math.prod(s**2 + c for s, c in zip(S, C, strict=True)) - math.prod(s**2 for s in S)
        ).sum(axis=1)
    total = np.zeros(N)
    for t, w, pair in zip(one.tables, one.linear, one.pairs, strict=True):
        total += t.dot(w.variance[:, 0], squared=True)
        S.append(np.column_stack([t.dot(a) for a in pair.mean.T]))
        C.append(np.column_stack([t.dot(b, squared=True) for b in pair.variance.T]))
    for u in range(V):
        total += (C[u] * (sum(S) - S[u]) ** 2).sum(axis=1)
        total += sum((C[u] * C[v]).sum(axis=1) for v in range(u))
    return total


def test_the_best_penalty_and_temperature():
    """Every other one has a larger free energy."""
    from mvref.core.ridge import Column

    mean, variance, n, T = RNG.normal(size=(5, 1)), RNG.uniform(0.1, 1, (5, 1)), 20, 0.3
    column = Column(mean, variance, np.array([1.0]))
    least, best = choose_penalty(column, T, n), column.alpha[0]
    for factor in (0.9, 1.1):
        column.alpha[0] = factor * best
        assert choose_penalty(column, T, n, choose=False) > least
    prior = T / (n * best)  # the divergence of two normal distributions
    expected = 0.5 * np.sum((mean**2 + variance) / prior - 1 + np.log(prior / variance))
    assert_allclose(least, expected)
    spread = RNG.uniform(size=N)
    T, energy = EVIDENCE["squared"](np.zeros(N), spread, Y, np.ones(N))
    for other in (0.9 * T, 1.1 * T):
        assert 0.5 * np.sum(np.log(2 * np.pi * other) + (Y**2 + spread) / other) > energy
    assert_allclose(0.5 * np.sum(np.log(2 * np.pi * T) + (Y**2 + spread) / T), energy)


@pytest.mark.parametrize("loss", MAJORISERS)
def test_majorisers_touch_and_never_cut(loss):
    s, t = np.meshgrid(np.linspace(-4, 4, 41), np.linspace(-4, 4, 41))
    for y in (-1.0, 1.0):
        u, target = MAJORISERS[loss](s, np.zeros_like(s), np.full_like(s, y))
        gap = LOSSES[loss](s, y)[0] - u * (s - target) ** 2  # the constant
        assert (u * (t - target) ** 2 + gap - LOSSES[loss](t, y)[0]).min() >= -1e-12


# ------------------------------------------------------------------ fits

FITS = [
    (MVMRegressor, {}),
    (MVMClassifier, {"loss": "logistic"}),
    (MVMClassifier, {"loss": "squared_hinge"}),
    (FMRegressor, {}),
    (FMClassifier, {}),
]


@pytest.mark.parametrize("kind", ["one-hot", "mixed", "dense"])
@pytest.mark.parametrize("alpha", [1e-3, "auto"])
@pytest.mark.parametrize(("cls", "options"), FITS)
def test_no_sweep_raises_the_objective(cls, options, alpha, kind):
    if (options.get("loss"), alpha) == ("squared_hinge", "auto"):
        pytest.skip("no likelihood")
    views = one_hot()
    if kind != "one-hot":
        views[0] = RNG.normal(size=(N, 3))
    if kind == "dense":
        views = [RNG.normal(size=(N, 3)) for _ in range(V)]
    if issubclass(cls, FMRegressor | FMClassifier):
        options = options | {"multiview": kind != "one-hot"}
    options = options | {"solver": "als", "alpha": alpha, "max_iter": 40, "tol": 1e-16}
    y = SIGNS if issubclass(cls, MVMClassifier | FMClassifier) else Y
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = cls(2, random_state=0, **options).fit(views, y, sample_weight=WEIGHTS)
    assert len(model.loss_curve_) > 5 and np.diff(model.loss_curve_).max() <= 0.0
    assert hasattr(model, "alpha_") == (alpha == "auto")


@pytest.mark.parametrize(("moved", "converged"), [(5.0, True), (np.nan, None)])
def test_a_sweep_that_makes_it_worse_is_undone(moved, converged):
    """By rounding: there is no more to gain; or by an overflow."""
    column = Column(np.ones((2, 1)), np.ones((2, 1)), np.full(1, 0.1))

    def sweep(e, weights, T):
        column.mean[...] = e[...] = moved
        return np.zeros(3)

    options = {"loss": "squared", "auto": False, "tol": 0.0, "max_iter": 3}
    found = alternate(sweep, [column], [], np.zeros(3), np.zeros(3), np.ones(3), **options)
    assert found == ([pytest.approx(0.2)], converged) and (column.mean == 1.0).all()


def test_the_optimum_is_that_of_lbfgs():
    """Where it is the only one: w0 and linear weights."""
    views, options = one_hot(), {"order": 1, "alpha": 0.1, "tol": 1e-16}
    for cls, y in ((FMRegressor, Y), (FMClassifier, SIGNS)):
        sweeps = cls(solver="als", **options).fit(views, y, sample_weight=WEIGHTS)
        newton = cls(**(options | {"tol": 1e-10})).fit(views, y, sample_weight=WEIGHTS)
        assert_allclose(sweeps.coef_, newton.coef_, atol=1e-3)
        assert_allclose(sweeps.loss_curve_[-1], newton.loss_curve_[-1], rtol=1e-6)
    twin = LogisticRegression(C=1 / (0.2 * N), tol=1e-10).fit(np.hstack(one_hot("dense")), SIGNS)
    plain = FMClassifier(solver="als", **options).fit(views, SIGNS)
    assert_allclose(plain.coef_, twin.coef_[0], atol=1e-3)


@pytest.mark.parametrize("loss", ["squared", "logistic", "squared_hinge"])
def test_sweeps_of_a_machine_end_at_a_stationary_point(loss):
    model = MVMClassifier(2, loss=loss, solver="als", tol=1e-11, max_iter=4000, random_state=0)
    model.fit(one_hot(), SIGNS)
    X = MultiView(one_hot())
    design = Design(X, group_structure(None, X, True), 2)
    objective = Objective(design, SIGNS, loss=loss, penalty="l2", alpha=1e-3, smoothing=1e-8)
    value, gradient = objective.value_and_gradient(model.factors_)
    assert_allclose(value, model.loss_curve_[-1], rtol=1e-9)
    assert max(np.abs(G).max() for G in gradient) < 1e-3


def planted(order, n=6000, seed=0, **options):
    options = {"n_features": 40, "sparsity": "one_hot", "tail": 0.5, "rank": 2} | options
    data = make_interactions(n + 2000, 3, order, random_state=seed, **options)
    return data.X[:n], data.y[:n], data.X[n:], data.y[n:], data.meta["scores"][n:]


def rmse(model, X, y):
    return np.sqrt(np.mean((model.predict(X) - y) ** 2))


@pytest.mark.parametrize(("cls", "order"), [(FMRegressor, "pairwise"), (MVMRegressor, "full")])
def test_penalties_from_the_data_are_as_good_as_the_best_of_a_grid(cls, order):
    options = {"noise": 0.5, "task": "regression"}
    X, y, X_test, _, truth = planted(order, **options)
    auto = cls(6, solver="als", alpha="auto", random_state=0).fit(X, y)
    grid = [
        cls(6, alpha=alpha, random_state=0, max_iter=200).fit(X, y) for alpha in (1e-4, 1e-3, 1e-2)
    ]
    best = min(rmse(model, X_test, truth) for model in grid)
    assert rmse(auto, X_test, truth) <= 1.02 * best < 0.5


def test_penalties_of_a_classifier_from_the_data():
    X, y, X_test, y_test, _ = planted("pairwise", noise=0.05)
    auto = FMClassifier(4, solver="als", alpha="auto", random_state=0).fit(X, y)
    assert auto.score(X_test, y_test) > 0.88
    assert auto.alpha_.shape == (3, 5) and auto.alpha_.max() > 2 * auto.alpha_.min()
    three = MVMClassifier(2, solver="als", alpha="auto", random_state=0)
    three.fit(X[:300], np.arange(300) % 3)
    assert [alpha.shape for alpha in three.alpha_] == [(3, 2, 2)] * 3
    assert not hasattr(three.set_params(alpha=0.1).fit(X[:300], np.arange(300) % 3), "alpha_")


def test_refusals():
    dense = [RNG.normal(size=(N, 3)) for _ in range(V)]
    with pytest.raises(ValueError, match="multiview=True"):
        FMRegressor(solver="als").fit(dense, Y)
    with pytest.raises(ValueError, match="order <= 2, got order=3"):
        FMRegressor(solver="als", order=3).fit(dense, Y)
    with pytest.raises(ValueError, match="shared_factors=False"):
        MVMRegressor(solver="als", alpha="auto", groups=[[0, 1], [1, 2]]).fit(dense, Y)
    with pytest.raises(ValueError, match="alpha must be .*squared_hinge"):
        MVMClassifier(loss="squared_hinge", solver="als", alpha="auto").fit(dense, SIGNS)
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        FMRegressor(solver="als", alpha="auto", max_iter=2).fit(one_hot(), Y)
