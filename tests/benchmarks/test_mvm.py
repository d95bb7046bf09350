"""Cost of multi-view machines: a pass against its products, memory, growth. See ``make bench``."""

import itertools
from functools import partial

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from mvref import MultiView, MVMClassifier
from mvref.core.groups import group_structure
from mvref.mvm.model import Design, Objective, leave_one_out, prefix_products, start_factors
from mvref.mvm.solvers import Columns, als_sweep
from tests.costs import growth, medians, tell

K = 8


def one_hot(n, widths, seed=0, nnz=1):
    """Views with `nnz` ones in every row, at uniform positions."""
    rng = np.random.default_rng(seed)
    rows = nnz * np.arange(n + 1)
    return [
        sparse.csr_matrix((np.ones(n * nnz), rng.integers(d, size=n * nnz), rows), shape=(n, d))
        for d in widths
    ]


def problem(views, k=K, loss="logistic"):
    """Objective with random labels, and the live start."""
    X, y = MultiView(views), np.where(np.arange(views[0].shape[0]) % 3 > 0, 1.0, -1.0)
    design = Design(X, group_structure(None, X, True), k)
    objective = Objective(design, y, loss=loss, penalty="l2", alpha=1e-3, smoothing=1e-8)
    return objective, start_factors("live", 0.1, design, np.random.RandomState(0))


# ------------------------------------------------------------------ one pass


@pytest.mark.parametrize("widths", [(2000,) * 5, (5000, 5000)], ids=["V=5", "V=2"])
def test_a_pass_costs_at_most_twice_its_products(widths):
    """n = 100 000, d = 10 000 one-hot: value and gradient against Z_v A_v and Z_v' H_v alone.

    Z_v are the features and the constant. The pass goes through the samples in parts, which keep
    its tables in the cache, and counts against the products of these parts. The products of all
    samples at once are faster by a fifth: against them it is told, and has a looser limit.
    """
    objective, A = problem(one_hot(100_000, widths))
    design = objective.design
    H = [np.random.default_rng(v).normal(size=(100_000, K)) for v in range(len(widths))]
    parts = [(Z, Zt, [H_v[rows] for H_v in H]) for rows, Z, Zt in design.parts]

    def products(parts):
        for Z, Zt, H_part in parts:
            for Z_v, Zt_v, A_v, H_v in zip(Z, Zt, A, H_part, strict=True):
                Z_v @ A_v
                Zt_v @ H_v

    one_pass = partial(objective.value_and_gradient, A)
    whole = [(design.Z, [Z_v.T for Z_v in design.Z], H)]
    runs = [one_pass, partial(products, whole), partial(products, parts)]
    cost = 1e3 * medians(runs, 9)
    at_once, in_parts = cost[0] / cost[1:]
    print(
        f"\nV={len(widths)}: pass {cost[0]:.1f} ms; products at once {cost[1]:.1f} ms, ratio "
        f"{at_once:.2f}; in parts {cost[2]:.1f} ms, ratio {in_parts:.2f}"
    )
    assert in_parts <= 2.0 and at_once <= 2.3


def test_a_sweep_costs_at_most_three_times_its_products():
    """Exact ALS, column by column; n = 90 000, five one-hot views of 2000 levels, with constants.

    The products are those of a pass, Z_v A_v and Z_v' H_v. Mean field, which holds the variances
    of all factors too, is told beside it.
    """
    objective, A = problem(one_hot(90_000, (2000,) * 5), loss="squared")
    design, columns = objective.design, Columns(objective, A)
    H = [np.random.default_rng(v).normal(size=(90_000, K)) for v in range(5)]
    e, u = objective.y - design.scores(A), np.ones(90_000)

    def products():
        for Z_v, A_v, H_v in zip(design.Z, A, H, strict=True):
            Z_v @ A_v
            Z_v.T @ H_v

    runs = [products, *(partial(lambda T: columns.sweep(e.copy(), u, T), T) for T in (0.0, 0.5))]
    cost = 1e3 * medians(runs, 15)
    ratios = cost[1:] / cost[0]
    print(
        f"\nproducts {cost[0]:.1f} ms; sweep {cost[1]:.1f}, mean field {cost[2]:.1f} ms; {ratios}"
    )
    assert ratios[0] <= 3.0 and ratios[1] <= 9.0


# ------------------------------------------------------------------ memory


@pytest.mark.parametrize("grows", ["n", "d"])
def test_memory_of_a_fit(grows):
    """Linear in nnz + k (n + d): the peak of five iterations of L-BFGS with five views.

    d is the number of features of all views. L-BFGS itself holds ten pairs of vectors of k d
    numbers, which is the multiple that is allowed.
    """
    sizes = np.array([50_000, 100_000, 200_000] if grows == "n" else [20_000, 40_000, 80_000])
    fits, numbers = [], []
    for size in sizes:
        n, d = (size, 20) if grows == "n" else (100, size // 5)
        model = MVMClassifier(K, max_iter=5, random_state=0)
        fits.append(partial(model.fit, one_hot(n, (d,) * 5), np.arange(n) % 3 > 0))
        numbers.append(5 * n + K * (n + 5 * d))
    with pytest.warns(ConvergenceWarning, match="max_iter=5"):
        slope, peaks = growth(f"peak over {grows}", sizes, fits)
    multiple = peaks * 2**20 / (8 * np.array(numbers))
    assert 0.85 <= slope <= 1.1
    assert multiple.max() <= (6 if grows == "n" else 50)


# ------------------------------------------------------------------ Lemma 3.1 and growth


def test_lemma_3_1_cost_does_not_depend_on_the_number_of_levels():
    """500 rows of 20 features in each of three views: 1e4 or 1e5 levels, for scores of Eq. (9)."""
    sizes, runs = np.array([10_000, 100_000]), []
    for d in sizes:
        objective, A = problem(one_hot(500, (d,) * 3, nnz=20))
        runs.append(partial(objective.design.scores, A))
    _, cost = growth("scores over the number of levels", sizes, runs, 51)
    assert cost[1] < 2 * cost[0]  # ten times as many


@pytest.mark.parametrize("axis, sizes", [("features", (200, 400, 800)), ("factors", (16, 32, 64))])
def test_lemma_3_1_cost_is_linear(axis, sizes):
    """The scores of 5000 dense rows by the product form; 200 features in each view, K factors."""
    rng, runs = np.random.default_rng(0), []
    for size in sizes:
        d, k = (size, K) if axis == "features" else (200, size)
        objective, A = problem([rng.normal(size=(5000, d)) for _ in range(3)], k)
        runs.append(partial(objective.design.scores, A))
    slope, _ = growth(f"scores over the {axis}", np.array(sizes), runs, 9)
    assert slope <= 1.2


def test_a_pass_is_linear_in_the_views():
    """Prefixes and suffixes; the products of the other views one by one grow with the square."""
    sizes = np.array([4, 8, 16, 32])
    passes, prefixes, literal = [], [], []
    for V in sizes:
        objective, A = problem(one_hot(20_000, (50,) * V))
        passes.append(partial(objective.value_and_gradient, A))
        S, terms = objective.design.products(A)[:V], [list(range(V))]
        S = [s[:2000] for s in S]
        prefixes.append(partial(fast_products, S, terms))
        literal.append(partial(literal_products, S))
    for fast, slow in zip(fast_products(S, terms), literal_products(S), strict=True):
        np.testing.assert_allclose(fast, slow, rtol=1e-9, atol=1e-12)
    cost = 1e3 * medians([*passes, *prefixes, *literal], 7).reshape(3, 4)
    slope = tell("value and gradient over the views", sizes, cost[0], "ms")
    fast_slope = tell("prefixes and suffixes", sizes, cost[1], "ms")
    slow_slope = tell("products one by one", sizes, cost[2], "ms")
    ratio = cost[2] / cost[1]
    assert max(slope, fast_slope) <= 1.2 and slow_slope >= 1.6
    assert ratio[-1] >= 3 * ratio[0]


def fast_products(S, terms):
    return leave_one_out(S, terms, prefix_products(S, terms)[1], np.ones(len(S[0])))


def literal_products(S):
    """Eq. (16) for one view after another."""
    products = [np.ones_like(S_v) for S_v in S]
    for v, u in itertools.permutations(range(len(S)), 2):
        products[v] *= S[u]
    return products


@pytest.mark.parametrize("form", ["dense, closed form", "several ones, conjugate gradients"])
def test_als_sweep_is_linear_in_the_samples(form):
    sizes, runs = np.array([5000, 10_000, 20_000, 40_000]), []
    for n in sizes:
        if form.startswith("dense"):
            rng = np.random.default_rng(0)
            objective, A = problem([rng.normal(size=(n, 10)) for _ in range(3)], loss="squared")
        else:
            objective, A = problem(one_hot(n, (200,) * 3, nnz=2), loss="squared")
        runs.append(lambda o=objective, A=A: als_sweep(o, list(A), o.value(A)))
    slope, _ = growth(f"sweep of ALS, {form}", sizes, runs, 3)
    assert slope <= 1.25


def test_epoch_of_sgd_is_linear_in_the_samples():
    sizes = np.array([12_500, 25_000, 50_000, 100_000])
    options = {"solver": "sgd", "batch_size": 1024, "max_iter": 1, "random_state": 0}
    runs = []
    for n in sizes:
        X, y = MultiView(one_hot(n, (2000,) * 5)), np.arange(n) % 2
        model = MVMClassifier(K, **options).partial_fit(X, y, classes=[0, 1])
        runs.append(partial(model.partial_fit, X, y))
    slope, _ = growth("epoch of SGD", sizes, runs, 3)
    assert slope <= 1.15
