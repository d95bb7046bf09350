"""Factorisation machines: sums over subsets, multi-view machines, finite differences, the API."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge

from mvref.core.losses import logistic, squared
from mvref.datasets import make_interactions
from mvref.rivals import FMClassifier, FMRegressor, anova
from mvref.rivals.anova import (
    Columns,
    FeatureTerm,
    PairTerm,
    ViewPairTerm,
    ViewTerm,
    anova_gradient,
    anova_kernel,
    interaction_terms,
)
from mvref.rivals.fm import FMObjective, minimise
from tests.costs import peak_bytes
from tests.literal import toy_views

WIDTHS = (3, 4, 2)
VIEWS, Y = toy_views(0, m=60, widths=WIDTHS, noise=1.5)
FLAT = np.hstack(VIEWS)
OWNER = np.repeat([0, 1, 2], WIDTHS)  # view of every feature
THREE, Y3 = toy_views(1, m=90, widths=WIDTHS, n_classes=3, noise=1.5)
R = np.random.default_rng(7).normal(size=60) + FLAT[:, 0] * FLAT[:, 4]


# ------------------------------------------------------------------ literal twins


def subset_sum(z, order):
    """a_p(z): one product per subset."""
    return sum(math.prod(subset) for subset in itertools.combinations(z, order))


def interactions(x, V, order, owner=None):
    """Order p of a machine, one product per subset of features; with owners, of different views."""
    total = 0.0
    for subset in itertools.combinations(range(len(x)), order):
        if owner is not None and len({owner[j] for j in subset}) < order:
            continue
        weight = sum(math.prod(V[j, f] for j in subset) for f in range(V.shape[1]))
        total += weight * math.prod(x[j] for j in subset)
    return total


def machine(X, w0, w, factors, owner=None):
    """Eq. (26), with owners Eq. (27), and their like of higher order."""
    products = [[interactions(x, V, p, owner) for p, V in enumerate(factors, 2)] for x in X]
    return w0 + X @ w + np.sum(products, axis=1)


def scores_of(views, w0, w, factors, multiview):
    """The scores that mvref computes from given parameters."""
    columns = Columns(views)
    terms = interaction_terms(columns, len(factors) + 1, multiview)
    assert len(terms) == len(factors)
    return w0 + columns.dot(w) + sum(term(V)[0] for term, V in zip(terms, factors, strict=True))


def formats(views):
    """The same views dense, as CSR, and mixed."""
    csr = [sparse.csr_matrix(view) for view in views]
    return {"dense": views, "csr": csr, "mixed": [csr[0], *views[1:]]}


def with_zeros(rng, shape, share=0.5):
    return rng.normal(size=shape) * (rng.random(shape) < share)


# ------------------------------------------------------------------ the ANOVA kernel


@settings(max_examples=40)
@given(st.integers(0, 10_000), st.integers(1, 6), st.integers(1, 7))
def test_recursion_is_the_sum_over_subsets(seed, m, order):
    z = with_zeros(np.random.default_rng(seed), m, 0.8)
    assert_allclose(anova_kernel(z, order), subset_sum(z, order), rtol=1e-12, atol=1e-12)
    others = [subset_sum(np.delete(z, j), order - 1) for j in range(m)]
    assert_allclose(anova_gradient(z, order), others, rtol=1e-12, atol=1e-12)


def test_the_recursion_keeps_digits_that_newtons_identities_lose():
    """20 numbers of scales 1e-3 to 1e3, against exact arithmetic."""
    z = np.logspace(-3, 3, 20) * np.random.default_rng(0).normal(0, 0.1, 20)
    order = 8
    exact = [Fraction(1)] + [Fraction(0)] * order
    for number in z:
        for q in range(order, 0, -1):
            exact[q] += Fraction(float(number)) * exact[q - 1]
    e, powers = [1.0], [np.sum(z**q) for q in range(order + 1)]
    for q in range(1, order + 1):
        e.append(sum((-1) ** (r - 1) * e[q - r] * powers[r] for r in range(1, q + 1)) / q)
    truth = float(exact[order])
    assert abs(anova_kernel(z, order) / truth - 1) < 1e-14
    assert abs(e[order] / truth - 1) > 1e-8


@pytest.mark.parametrize("form", ["dense", "csr", "mixed"])
@pytest.mark.parametrize(("pairs", "term"), [(PairTerm, FeatureTerm), (ViewPairTerm, ViewTerm)])
def test_order_two_of_the_recursion_is_the_power_trick(pairs, term, form):
    rng = np.random.default_rng(1)
    columns = Columns(formats([with_zeros(rng, (12, d)) for d in WIDTHS])[form])
    V, g = rng.normal(size=(9, 3)), rng.normal(size=12)
    trick, trick_back = pairs(columns)(V)
    scores, back = term(columns, 2)(V)
    assert_allclose(scores, trick, atol=1e-12)
    assert_allclose(back(g), trick_back(g), atol=1e-12)


@pytest.mark.parametrize("block", [1, 60, 2**22])
def test_blocks_of_rows_change_nothing(block, monkeypatch):
    """Rows of 0 to 9 nonzeros, one row per block and all in one."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(30, 9)) * (rng.random((30, 9)) < np.linspace(0, 1, 30)[:, None])
    V, g = rng.normal(size=(9, 2)), rng.normal(size=30)
    monkeypatch.setattr(anova, "BLOCK", block)
    scores, back = FeatureTerm(Columns([sparse.csr_matrix(X)]), 3)(V)
    assert_allclose(scores, [interactions(x, V, 3) for x in X], atol=1e-12)
    expected = np.einsum("n,nd,dnf->df", g, X, anova_gradient(X.T[:, :, None] * V[:, None], 3))
    assert_allclose(back(g), expected, atol=1e-12)
    monkeypatch.setattr(anova, "CACHE", block)
    over_views = ViewTerm(Columns(np.split(X, [3, 7], axis=1)), 3)
    scores, back = over_views(V)
    assert_allclose(scores, [interactions(x, V, 3, OWNER) for x in X], atol=1e-12)
    step = np.zeros_like(V)
    step[4, 1] = 1.0  # the score is linear in a single number
    slope = over_views(V + step)[0] - over_views(V - step)[0]
    assert_allclose(back(g)[4, 1], g @ slope / 2, atol=1e-12)


# ------------------------------------------------------------------ the model


@pytest.mark.parametrize("form", ["dense", "csr", "mixed"])
@pytest.mark.parametrize(("order", "multiview"), [(2, False), (2, True), (4, False), (3, True)])
def test_scores_are_the_sum_over_subsets(order, multiview, form):
    rng = np.random.default_rng(4)
    views = [with_zeros(rng, (10, d), 0.7) for d in WIDTHS]
    w0, w, factors = 0.3, rng.normal(size=9), rng.normal(size=(order - 1, 9, 2))
    expected = machine(np.hstack(views), w0, w, factors, OWNER if multiview else None)
    found = scores_of(formats(views)[form], w0, w, factors, multiview)
    assert_allclose(found, expected, rtol=1e-10, atol=1e-10)


def test_eq_26_minus_eq_27_is_what_lies_within_a_view():
    """Which (27) and, it being a product over views, the multi-view machine have not (M10)."""
    rng = np.random.default_rng(5)
    V = rng.normal(size=(9, 3))
    pairs = [(i, j) for i, j in itertools.combinations(range(9), 2) if OWNER[i] == OWNER[j]]
    within = sum((V[i] @ V[j]) * FLAT[:, i] * FLAT[:, j] for i, j in pairs)
    w0, w = 1.0, rng.normal(size=9)
    both = [scores_of(VIEWS, w0, w, [V], multiview) for multiview in (False, True)]
    assert_allclose(both[0] - both[1], within, atol=1e-10)


def test_a_pure_product_of_all_views_is_both_machines():
    """Order V over views with factors V_V alone = MVM with zero bias rows, Eq. (9)."""
    V = np.random.default_rng(8).normal(size=(9, 2))
    parts = zip(VIEWS, np.split(V, [3, 7]), strict=True)
    mvm = np.prod([view @ part for view, part in parts], axis=0).sum(axis=1)
    found = scores_of(VIEWS, 0.0, np.zeros(9), [np.zeros_like(V), V], True)
    assert_allclose(found, mvm, atol=1e-10)


@pytest.mark.parametrize("form", ["dense", "csr", "mixed"])
@pytest.mark.parametrize("loss", [logistic, squared])
@pytest.mark.parametrize(("order", "multiview"), [(1, False), (2, False), (2, True), (4, False)])
def test_gradient_by_finite_differences(order, multiview, loss, form):
    rng = np.random.default_rng(9)
    columns = Columns(formats([with_zeros(rng, (15, d), 0.7) for d in WIDTHS])[form])
    terms = interaction_terms(columns, order, multiview)
    y = rng.choice([-1.0, 1.0], 15)
    objective = FMObjective(columns, terms, y, loss, 2, 0.1)
    theta = rng.normal(0, 0.5, 1 + 9 + 18 * len(terms))
    gradient, h = objective(theta)[1], 1e-5
    for j, direction in enumerate(np.eye(len(theta))):
        up, down = objective(theta + h * direction)[0], objective(theta - h * direction)[0]
        assert abs((up - down) / (2 * h) - gradient[j]) < 1e-8 * max(1, abs(gradient).max())


def test_small_factors_of_order_three_are_drawn_to_zero():
    """V_2 = 0 is a saddle for small alpha; V_3 = 0 a strict local minimum for every alpha."""
    columns, alpha = Columns(VIEWS), 1e-9
    terms = interaction_terms(columns, 3, False)
    y = np.sign(FLAT[:, 0] * FLAT[:, 4])
    objective = FMObjective(columns, terms, y, logistic, 1, alpha)
    zero = np.zeros(1 + 9 + 18)
    assert_array_equal(objective(zero)[1][10:], np.zeros(18))
    rng, curvatures = np.random.default_rng(11), {2: [], 3: []}
    for order, start in ((2, 10), (3, 19)):
        for _ in range(50):
            step = np.zeros_like(zero)
            step[start : start + 9] = rng.normal(size=9)
            h = 1e-4
            slope = objective(h * step)[1] - objective(-h * step)[1]
            curvatures[order].append(slope @ step / (2 * h) / (step @ step))
    assert min(curvatures[2]) < -0.01 < 0.01 < max(curvatures[2])
    assert_allclose(curvatures[3], 2 * alpha, atol=1e-12)


# ------------------------------------------------------------------ learning


@pytest.mark.parametrize("multiview", [False, True])
@pytest.mark.parametrize("order", [2, 3])
def test_the_solution_is_stationary_and_the_curve_falls(order, multiview):
    options = {"order": order, "multiview": multiview, "alpha": 1e-3, "random_state": 0}
    model = FMClassifier(2, **options).fit(VIEWS, Y)
    columns, y = Columns(VIEWS), np.where(Y == 1, 1.0, -1.0)
    terms = interaction_terms(columns, order, multiview)
    objective = FMObjective(columns, terms, y, logistic, 2, model.alpha)
    theta = np.concatenate([[model.intercept_], model.coef_, model.factors_.ravel()])
    value, gradient = objective(theta)
    assert np.abs(gradient).max() <= 1e-7
    assert_allclose(model.loss_curve_[-1], value, rtol=1e-12)
    assert (np.diff(model.loss_curve_) <= 0).all()
    assert model.n_iter_ == len(model.loss_curve_) - 1
    owner = OWNER if multiview else None
    expected = machine(FLAT, model.intercept_, model.coef_, model.factors_, owner)
    assert_allclose(model.decision_function(VIEWS), expected, atol=1e-10)
    assert model.n_parameters == 1 + 9 + (order - 1) * 2 * 9 == len(theta)


def test_order_one_is_logistic_regression():
    alpha = 0.02
    model = FMClassifier(order=1, alpha=alpha, tol=1e-9).fit(VIEWS, Y)
    twin = LogisticRegression(C=1 / (2 * alpha * 60), tol=1e-12, max_iter=10_000).fit(FLAT, Y)
    assert_allclose(model.coef_, twin.coef_[0], atol=1e-6)
    assert_allclose(model.intercept_, twin.intercept_[0], atol=1e-6)
    assert_allclose(model.predict_proba(VIEWS), twin.predict_proba(FLAT), atol=1e-6)
    assert model.factors_.shape == (0, 9, 8) and model.n_parameters == 10
    rare = np.arange(60) < 12  # the start is the best constant
    start = FMClassifier(order=1).fit(VIEWS, rare).loss_curve_[0]
    assert_allclose(start, -0.2 * np.log(0.2) - 0.8 * np.log(0.8))


def test_no_more_orders_than_views():
    model = FMClassifier(2, order=5, multiview=True, random_state=0).fit(VIEWS, Y)
    assert model.factors_.shape == (2, 9, 2)
    one = FMClassifier(2, multiview=True, tol=1e-8).fit(FLAT, Y)  # of a single view: no pair
    twin = FMClassifier(order=1, tol=1e-8).fit(FLAT, Y)
    assert_allclose(one.decision_function(FLAT), twin.decision_function(FLAT), atol=1e-5)


def test_order_one_is_ridge_regression():
    model = FMRegressor(order=1, alpha=0.1, tol=1e-9).fit(VIEWS, R)
    twin = Ridge(alpha=0.1 * 60).fit(FLAT, R)
    assert_allclose(model.coef_, twin.coef_, atol=1e-7)
    assert_allclose(model.predict(VIEWS), twin.predict(FLAT), atol=1e-6)


@pytest.mark.parametrize("shift", [0.0, 1000.0])
def test_a_constant_is_not_penalised(shift):
    """Not even by a weight that leaves nothing else."""
    model = FMRegressor(alpha=1e6, random_state=0).fit(VIEWS, R + shift)
    assert_allclose(model.predict(VIEWS), (R + shift).mean(), rtol=1e-6, atol=1e-4)


@pytest.mark.parametrize("sparsity", [0.0, 0.5])
def test_planted_pairs_are_found_exactly(sparsity):
    """A score that Eq. (27) with two factors expresses exactly; order 1 knows nothing of it."""
    made = {"task": "regression", "random_state": 0}
    data = make_interactions(900, 3, "pairwise", sparsity=sparsity, **made)
    train, test = data.X[:600], data.X[600:]
    options = {"alpha": 1e-9, "random_state": 0}
    model = FMRegressor(2, multiview=True, **options).fit(train, data.y[:600])
    assert model.score(test, data.y[600:]) > 0.9999
    assert FMRegressor(order=1, **options).fit(train, data.y[:600]).score(test, data.y[600:]) < 0.1


def test_planted_triples_need_order_three():
    data = make_interactions(1500, 3, "full", task="regression", random_state=0)
    train, test, y, y_test = data.X[:1000], data.X[1000:], data.y[:1000], data.y[1000:]
    options = {"alpha": 1e-9, "random_state": 0}
    model = FMRegressor(2, order=3, multiview=True, **options).fit(train, y)
    assert model.score(test, y_test) > 0.999
    assert FMRegressor(2, alpha=1e-3, random_state=0).fit(train, y).score(test, y_test) < 0.1


def test_pairs_never_seen_in_training_are_predicted():
    """Factors of levels carry over; weights of single levels say nothing about their pair."""
    made = {"sparsity": "one_hot", "n_features": 100, "random_state": 0}
    data = make_interactions(8000, 2, "pairwise", **made)
    train, test, levels = data.X[:3000], data.X[3000:], data.meta["levels"]
    known = {tuple(pair) for pair in levels[:3000]}
    unseen = np.array([tuple(pair) not in known for pair in levels[3000:]])
    assert unseen.sum() > 1500
    model = FMClassifier(4, multiview=True, alpha=3e-4, random_state=0).fit(train, data.y[:3000])
    right = model.predict(test) == data.y[3000:]
    assert right[unseen].mean() > 0.8  # 0.88 at the time of writing
    linear = FMClassifier(order=1).fit(train, data.y[:3000])
    assert abs((linear.predict(test) == data.y[3000:])[unseen].mean() - 0.5) < 0.06


def test_classes_one_against_the_rest():
    """Their scores; that each is the machine of its class is a line of the suite of all methods."""
    pairs = FMClassifier(2, random_state=0).fit(THREE, Y3)
    assert pairs.factors_.shape == (3, 1, 9, 2) and len(pairs.loss_curve_) == 3
    for k in range(3):
        expected = machine(np.hstack(THREE), pairs.intercept_[k], pairs.coef_[k], pairs.factors_[k])
        assert_allclose(pairs.decision_function(THREE)[:, k], expected, atol=1e-10)


# ------------------------------------------------------------------ weights


@pytest.mark.parametrize("loss", [logistic, squared])
def test_weighted_objective_and_gradient_are_literally_those_of_repeated_rows(loss):
    rng = np.random.default_rng(5)
    counts, theta = rng.integers(1, 4, size=12), rng.normal(0, 0.5, 1 + 9 + 2 * 9 * 2)
    views = [view[:12] for view in VIEWS]
    y = np.where(Y[:12] > 0, 1.0, -1.0)
    values = []
    for rows, weights in ((np.arange(12), counts), (np.repeat(np.arange(12), counts), None)):
        columns = Columns([view[rows] for view in views])
        terms = interaction_terms(columns, 3, False)
        values.append(FMObjective(columns, terms, y[rows], loss, 2, 0.3, weights)(theta))
    w0, w, factors = theta[0], theta[1:10], theta[10:].reshape(2, 9, 2)
    losses = loss(machine(np.hstack(views), w0, w, factors), y)[0]
    expected = np.sum(counts * losses) / counts.sum() + 0.3 * theta[1:] @ theta[1:]
    assert_allclose(values[0][0], expected, rtol=1e-12)
    assert_allclose(values[0][0], values[1][0], rtol=1e-12)
    assert_allclose(values[0][1], values[1][1], atol=1e-12)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("multiview", [False, True])
@pytest.mark.parametrize("views", [[[0, 1], [4]], [[0, 1, 2], [2, 3, 8], [1, 2]]])
def test_views_of_some_columns_and_of_some_twice(views, multiview):
    """The same as the list of these views; d counts their columns."""
    options = {"order": 3, "multiview": multiview, "max_iter": 20, "random_state": 0}
    for cls, y in ((FMClassifier, Y), (FMRegressor, R), (FMClassifier, np.arange(60) % 3)):
        expected = cls(**options).fit([FLAT[:, columns] for columns in views], y)
        model = cls(**options, views=views).fit(FLAT, y)
        assert_array_equal(model.factors_, expected.factors_)
        assert model.coef_.shape[-1] == sum(map(len, views))
        assert_array_equal(model.predict(FLAT), expected.predict([FLAT[:, v] for v in views]))


# ------------------------------------------------------------------ numerical trouble, bad input


def test_a_wall_of_overflows_is_not_taken_for_the_end():
    """A bowl with its minimum at 5 whose value is infinite beyond 1."""

    def bowl(x):
        return (np.inf, x) if np.abs(x).max() > 1 else (float((x - 5) @ (x - 5)), 2 * (x - 5))

    learnt = minimise(bowl, np.zeros(2), tol=1e-6, max_iter=100)
    assert learnt.overflow and not learnt.converged
    assert np.isfinite(learnt.theta).all() and learnt.curve[-1] < learnt.curve[0]
    with pytest.raises(ValueError, match="Scale the views"):
        minimise(bowl, np.full(2, 2.0), tol=1e-6, max_iter=100)


def test_the_default_takes_penalties_from_the_data_where_it_can():
    levels = np.random.default_rng(5).integers(6, size=(3, 200))
    one_hot, y = [np.eye(6)[codes] for codes in levels], levels.sum(axis=0) % 4 + 0.0
    auto = FMRegressor(2, random_state=0).fit(one_hot, y)
    asked = FMRegressor(2, alpha="auto", solver="als", random_state=0).fit(one_hot, y)
    assert_array_equal(auto.factors_, asked.factors_)
    assert auto.alpha_.shape == (3, 3)
    for views, order in ((VIEWS, 2), (one_hot, 3)):
        options = {"order": order, "random_state": 0, "max_iter": 20}
        model = FMRegressor(2, **options).fit(views, y[: len(views[0])])
        number = FMRegressor(2, alpha=1e-3, solver="lbfgs", **options)
        assert_array_equal(number.fit(views, y[: len(views[0])]).factors_, model.factors_)
        assert not hasattr(model, "alpha_")


def test_columns_of_any_size_are_learnt():
    """The same machine, L-BFGS in other units: a power of 2 moves no digit where no penalty is."""
    options = {"alpha": 0.0, "max_iter": 30, "random_state": 0}
    one = FMRegressor(2, **options).fit(VIEWS, R)
    for scale in (2.0**10, 2.0**20):
        model = FMRegressor(2, **options).fit([VIEWS[0] * scale, *VIEWS[1:]], R)
        assert_allclose(
            model.predict([VIEWS[0] * scale, *VIEWS[1:]]), one.predict(VIEWS), rtol=1e-6
        )


# ------------------------------------------------------------------ the API


@pytest.mark.parametrize("options", [{}, {"multiview": True}, {"order": 3}])
def test_sparse_columns_are_never_filled(options):
    """3 views of 100 000 levels: dense, one of them alone would take 1.6 GB."""
    rng = np.random.default_rng(12)
    n, d = 2000, 100_000
    ones, rows = np.ones(n), np.arange(n + 1)
    views = [sparse.csr_matrix((ones, rng.integers(d, size=n), rows), (n, d)) for _ in range(3)]
    y = rng.integers(2, size=n)
    model = FMClassifier(1, alpha=1e-3, max_iter=3, random_state=0, **options)
    with pytest.warns(ConvergenceWarning):
        peak = peak_bytes(lambda: model.fit(views, y))
    assert peak < 60 * 8 * model.n_parameters  # the vectors of L-BFGS, and little else
