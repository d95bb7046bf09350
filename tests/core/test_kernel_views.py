"""MVPO with kernels: against its linear form, and against the program of all label tuples."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import solve_triangular
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import linear_kernel, polynomial_kernel, sigmoid_kernel
from sklearn.model_selection import GridSearchCV

from mvref import MultiView
from mvref.core.input import view_features
from mvref.core.kernel_views import KernelViews, LinearViews
from mvref.mvpo import MEASURES, MVPO
from tests.literal import hide, random_pattern, rbf_gram, toy_views
from tests.mvpo.test_solver import full_program

WIDTHS = (3, 4, 2)
GAMMAS = [0.3, 0.2, 0.5]
VIEWS, Y = toy_views(0, m=50, widths=WIDTHS, noise=1.0)
NEW, _ = toy_views(1, m=20, widths=WIDTHS, noise=1.0)
PATTERN = random_pattern(5, 50, 3)
NEW_PATTERN = random_pattern(6, 20, 3)
GAPS, NEW_GAPS = MultiView(hide(VIEWS, PATTERN)), MultiView(hide(NEW, NEW_PATTERN))
THREE, Y3 = toy_views(2, m=50, widths=WIDTHS, n_classes=3, noise=1.0)
TIGHT = {"tol": 1e-8, "max_iter": 5000}


WITH_AND_WITHOUT_GAPS = pytest.mark.parametrize(
    ("seen", "new_seen"),
    [(np.ones_like(PATTERN), np.ones_like(NEW_PATTERN)), (PATTERN, NEW_PATTERN)],
    ids=["complete", "gaps"],
)


def rbf(X, Z, gamma):
    return np.exp(-gamma * cdist(X, Z, "sqeuclidean"))


def first_steps(*arguments, **options):
    """A model after 8 cuts: two forms of it agree to 1e-8, what they choose later to sqrt(tol)."""
    return MVPO(*arguments, C2=20.0, beta=2.0, max_iter=8, **options)


def fitted(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y)


def scores_of(kernel, X, new, **options):
    return fitted(first_steps(kernel=kernel, **options), X, Y).decision_function(new)


def assert_close(actual, expected, tolerance=1e-8):
    """Equal up to a part of the largest entry."""
    assert_allclose(actual, expected, rtol=0, atol=tolerance * np.abs(expected).max())


# ------------------------------------------------------------------ linear kernels


@WITH_AND_WITHOUT_GAPS
@pytest.mark.parametrize("intercept", [0.0, 1.0, 2.5])
@pytest.mark.parametrize("measure", MEASURES)
def test_linear_kernel_is_the_linear_form(measure, intercept, seen, new_seen):
    """Scores of new samples by primal weights, by dual ones, and by k(x, X) beta."""
    X, new = MultiView(hide(VIEWS, seen)), MultiView(hide(NEW, new_seen))
    options = {"fit_intercept": intercept > 0, "intercept_scaling": intercept or 1.0}
    primal, dual, kernel = (
        fitted(first_steps(measure, **options, **form), X, Y)
        for form in ({"solver": "primal"}, {"solver": "dual"}, {"kernel": linear_kernel})
    )
    expected = primal.decision_function(new)
    for model in (dual, kernel):
        assert_close(model.decision_function(new), expected)
        assert_close(model.primal_curve_, primal.primal_curve_)
        scale = np.abs(expected).max()
        assert_allclose(model.view_intercepts_, primal.view_intercepts_, atol=1e-8 * scale)
    for view, rows, beta, w in zip(VIEWS, seen.T, kernel.dual_coef_, primal.coef_, strict=True):
        assert_allclose(
            view[rows].T @ beta, w, atol=1e-8 * np.abs(np.concatenate(primal.coef_)).max()
        )


@pytest.mark.parametrize("measure", MEASURES)
def test_linear_kernel_has_the_same_optimum(measure):
    linear, kernel = (
        MVPO(measure, C2=20.0, **TIGHT, **form).fit(GAPS, Y)
        for form in ({}, {"kernel": linear_kernel})
    )
    assert_allclose(kernel.dual_curve_[-1], linear.dual_curve_[-1], atol=20 * 1e-8)
    # |f - f*|^2 / 2 <= C2 tol for either, times the norm of a sample
    assert_allclose(kernel.decision_function(GAPS), linear.decision_function(GAPS), atol=0.01)


def test_a_list_of_linear_kernels_is_the_linear_form():
    listed = MVPO(kernel=["linear"] * 3).fit(VIEWS, Y)
    plain = MVPO().fit(VIEWS, Y)
    assert listed.similarities_ is None
    assert_array_equal(np.concatenate(listed.coef_), np.concatenate(plain.coef_))


# ------------------------------------------------------------------ all label tuples


def factors(views, seen, gammas, B):
    """F_j with F_j F_j' = K_j + B^2 on the samples that have view j, zero rows elsewhere."""
    Fs = []
    for view, rows, gamma in zip(views, seen.T, gammas, strict=True):
        F = np.zeros((len(view), rows.sum()))
        F[rows] = np.linalg.cholesky(rbf_gram(view[rows], gamma) + B**2)
        Fs.append(F)
    return Fs


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize(("C1", "B"), [(0.0, 1.0), (0.5, 0.0), (0.5, 2.0)])
@pytest.mark.parametrize("measure", MEASURES)
def test_rbf_against_the_program_of_all_tuples(measure, C1, B, missing):
    """Features F_j of the kernels, the double sum of Eq. (6), an interior point method."""
    n, C2 = 7, 2.0
    y = np.array([1, -1, 1, -1, -1, 1, -1])
    rng = np.random.default_rng(3)
    views = [rng.normal(size=(n, width)) + 0.4 * y[:, None] for width in WIDTHS]
    new = [rng.normal(size=(5, width)) for width in WIDTHS]
    seen = random_pattern(2, n, 3) if missing else np.ones((n, 3), dtype=bool)
    Fs = factors(views, seen, GAMMAS, B)
    program = Fs, y, "f2" if measure == "fbeta" else measure, C1, C2, seen
    w, value = full_program(*program)
    w = np.split(w, np.cumsum([F.shape[1] for F in Fs])[:-1])
    model = MVPO(
        measure,
        beta=2.0,
        C1=C1,
        C2=C2,
        normalize=False,
        fit_intercept=B > 0,
        intercept_scaling=B or 1.0,
        kernel="rbf",
        gamma=GAMMAS,
        tol=1e-10,
        max_iter=500,
    ).fit(MultiView(hide(views, seen)), y)
    assert_allclose(model.primal_curve_.min(), value, rtol=1e-7)
    assert_allclose(model.dual_curve_[-1], value, rtol=1e-7)
    expected = np.zeros(5)
    for view, fresh, rows, gamma, F, w_j in zip(views, new, seen.T, GAMMAS, Fs, w, strict=True):
        beta = solve_triangular(F[rows].T, w_j)  # F' beta = w
        expected += (rbf(fresh, view[rows], gamma) + B**2) @ beta
    scores = model.decision_function(new)
    if measure in ("prbep", "auroc"):  # the threshold is no part of the program
        scores = scores - scores.mean()
        expected -= expected.mean()
    assert_allclose(scores, expected, atol=1e-4 * (1 + np.abs(expected).max()))


@WITH_AND_WITHOUT_GAPS
@pytest.mark.parametrize("C1", [0.0, 0.3, 30.0])
@pytest.mark.parametrize("measure", MEASURES)
def test_rbf_is_the_linear_machine_of_the_factors(measure, C1, seen, new_seen):
    """The primal form with features F_j, and rows k(x, X_j) F_j^-T for new samples."""
    Fs, fresh = factors(VIEWS, seen, GAMMAS, 1.0), []
    for view, one, rows, gamma, F in zip(VIEWS, NEW, seen.T, GAMMAS, Fs, strict=True):
        K = rbf(one, view[rows], gamma) + 1.0
        fresh.append(solve_triangular(F[rows], K.T, lower=True).T)
    linear = first_steps(measure, C1=C1, solver="primal", fit_intercept=False)
    fitted(linear, MultiView(hide(Fs, seen)), Y)
    kernel = first_steps(measure, C1=C1, kernel="rbf", gamma=GAMMAS)
    fitted(kernel, MultiView(hide(VIEWS, seen)), Y)
    assert_close(kernel.primal_curve_, linear.primal_curve_)
    scores = kernel.decision_function(MultiView(hide(NEW, new_seen)))
    assert_close(scores, linear.decision_function(MultiView(hide(fresh, new_seen))), 1e-7)


# ------------------------------------------------------------------ scores


@pytest.mark.parametrize("labels", [Y, Y3], ids=["two classes", "three classes"])
def test_decision_function_by_hand(labels):
    """Sample by sample: sum_j k_j(x, X_j) beta_j + b_j over the views that it has."""
    model = MVPO(kernel="rbf", gamma=GAMMAS, C2=20.0).fit(GAPS, labels)
    betas = [np.atleast_2d(beta) for beta in model.dual_coef_]
    shares = np.atleast_2d(model.view_intercepts_)
    assert [beta.shape[1] for beta in betas] == PATTERN.sum(axis=0).tolist()
    for i in range(20):
        expected = np.zeros(len(shares))
        for j in np.flatnonzero(NEW_PATTERN[i]):
            K = rbf(NEW[j][[i]], VIEWS[j][PATTERN[:, j]], GAMMAS[j])
            expected += (betas[j] @ K.T)[:, 0] + shares[:, j]
        scores = model.decision_function(NEW_GAPS[i : i + 1])[0]
        assert_allclose(scores, expected if len(shares) > 1 else expected[0], atol=1e-10)
    assert_allclose(model.intercept_, model.view_intercepts_.sum(axis=-1))


def test_a_missing_view_adds_nothing_and_disagrees_with_none():
    """A view that only one half has: the other half is as if there were no such view."""
    A, B = VIEWS[:2]
    half = MultiView([A, np.where(np.arange(50)[:, None] < 25, B, np.nan)])
    model = fitted(first_steps(kernel="rbf", C1=3.0), half, Y)
    scores = model.decision_function(half)
    alone = rbf(A, A, 1 / 3) @ model.dual_coef_[0] + model.view_intercepts_[0]
    assert_allclose(scores[25:], alone[25:], atol=1e-10)
    assert np.abs(scores[:25] - alone[:25]).max() > 0.01


def test_rankings_need_no_constant():
    """As in the linear form, the weights of the constants add up to 0."""
    for measure in ("prbep", "auroc"):
        model = MVPO(measure, kernel="rbf", C1=5.0, C2=20.0).fit(VIEWS, Y)
        assert_allclose(model.view_intercepts_.sum(), 0.0, atol=1e-9)
        assert np.abs(model.view_intercepts_).max() > 1e-4
        assert model.predict(VIEWS).sum() == Y.sum()


def outside_a_ball(n):
    rng = np.random.default_rng(0)
    views = [rng.normal(size=(n, 2)) for _ in "ab"]
    return views, sum((view**2).sum(axis=1) for view in views) > 4.0


def test_a_kernel_learns_what_no_line_can():
    views, y = outside_a_ball(80)
    accuracy = {k: MVPO(kernel=k, C2=1e3).fit(views, y).score(views, y) for k in ("linear", "rbf")}
    assert accuracy["rbf"] == 1.0 and accuracy["linear"] < 0.8


# ------------------------------------------------------------------ forms of kernels


@WITH_AND_WITHOUT_GAPS
def test_one_kernel_in_four_forms(seen, new_seen):
    """By name, by function, by distances, by Gram matrices."""

    def rbf_03(A, B):
        return rbf(A, B, 0.3)

    X, new = MultiView(hide(VIEWS, seen)), MultiView(hide(NEW, new_seen))
    expected = scores_of("rbf", X, new, gamma=0.3)
    assert_close(scores_of(rbf_03, X, new), expected)
    for kernel, of_pair in (("precomputed", cdist), ("gram", rbf_03)):
        X, new = (
            MultiView(hide(map(of_pair, views, VIEWS), pattern))
            for views, pattern in ((VIEWS, seen), (NEW, new_seen))
        )
        assert_close(scores_of(kernel, X, new, gamma=0.3), expected)


def test_one_kernel_per_view():
    widths = {"gamma": [1 / 3, 1 / 4, 1 / 2]}  # the default
    assert_array_equal(scores_of("rbf", VIEWS, NEW), scores_of("rbf", VIEWS, NEW, **widths))
    mixed = scores_of(["rbf", "linear", polynomial_kernel], VIEWS, NEW)
    by_hand = [lambda A, B: rbf(A, B, 1 / 3), linear_kernel, polynomial_kernel]
    assert_close(mixed, scores_of(by_hand, VIEWS, NEW))
    for one in ("rbf", "linear", polynomial_kernel):
        assert np.abs(mixed - scores_of(one, VIEWS, NEW)).max() > 0.01


def test_a_new_kernel_leaves_nothing_of_the_old():
    model = MVPO()
    for kernel in ("linear", "rbf", "linear"):
        model.set_params(kernel=kernel).fit(VIEWS, Y)
        assert hasattr(model, "coef_") == (kernel == "linear") == (model.similarities_ is None)
        assert hasattr(model, "dual_coef_") == (kernel == "rbf")


def test_grid_search_over_gamma():
    views, y = outside_a_ball(90)
    search = GridSearchCV(
        MVPO(kernel="rbf", C2=1e3), {"gamma": [1e-6, 0.3, 1e4]}, cv=3, scoring="f1"
    ).fit(MultiView(views), y)
    assert search.best_params_["gamma"] == 0.3 and search.best_score_ > 0.8


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernel": ["rbf", "linear", 3]}, "^kernel must be .*got 3"),
        ({"gamma": -1.0}, "^gamma must be a number > 0, got -1.0"),
        ({"gamma": "wide"}, "^gamma must be None, 'mean' or a number > 0, got 'wide'"),
        ({"gamma": [0.1, 0.2]}, "^gamma has 2 entries, but X has 3 views"),
        ({"kernel": "rbf", "gamma": "mean"}, "^gamma='mean' needs kernel='precomputed'"),
        ({"kernel": "rbf", "solver": "primal"}, "^solver must be 'auto' or 'dual' .*'primal'"),
        ({"kernel": "precomputed"}, "^kernel='precomputed' needs"),
        ({"kernel": lambda A, B: A[:, 0]}, "^kernel must return a finite array"),
        ({"kernel": lambda A, B: A[:, :1] + 0 * (A @ B.T)}, "'view_0' must be symmetric"),
        (
            {"kernel": ["rbf", lambda A, B: sigmoid_kernel(A, B, gamma=5.0), "rbf"]},
            "^kernel of view 'view_1' must be positive semi-definite .* eigenvalues from -",
        ),
    ],
)
def test_bad_kernels(options, message):
    with pytest.raises(ValueError, match=message):
        MVPO(**options).fit(VIEWS, Y)


def test_a_kernel_of_rank_one_is_no_error():
    """Positive semi-definite up to rounding, and zero altogether."""
    for kernel in (lambda A, B: np.full((len(A), len(B)), 1e6), lambda A, B: 0.0 * (A @ B.T)):
        model = MVPO(kernel=[kernel, "rbf", "linear"]).fit(VIEWS, Y)
        assert model.score(VIEWS, Y) > 0.9


def test_constant_features():
    """B in a column is B^2 in a kernel, in the rows that have the view."""
    X = MultiView(hide(VIEWS, PATTERN))
    linear = LinearViews(X, 3.0)
    kernel = KernelViews(X, ["linear"] * 3, None, 3.0)
    assert linear.n_features == 12 and kernel.n_features == np.inf
    for ours, theirs, features, seen in zip(
        kernel.grams(), linear.grams(), view_features(X, 3.0), PATTERN.T, strict=True
    ):
        assert_allclose(ours, theirs, atol=1e-12)
        assert_allclose(features[:, -1], 3.0 * seen)
        assert not ours[~seen].any() and not ours[:, ~seen].any()
