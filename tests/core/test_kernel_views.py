"""MVPO with kernels: against its linear form, and against that of the factors of the kernels."""

import warnings
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import solve_triangular
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import linear_kernel, polynomial_kernel, sigmoid_kernel

from mvref import MultiView
from mvref.core.kernel_views import _inner_product
from mvref.core.nystrom import nystrom_map
from mvref.mvpo import MEASURES, MVPO
from tests.literal import hide, random_pattern, rbf_gram, toy_views

WIDTHS = (3, 4, 2)
GAMMAS = [0.3, 0.2, 0.5]
VIEWS, Y = toy_views(0, m=50, widths=WIDTHS, noise=1.0)
NEW, _ = toy_views(1, m=20, widths=WIDTHS, noise=1.0)
PATTERN = random_pattern(5, 50, 3)
NEW_PATTERN = random_pattern(6, 20, 3)


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


def test_a_list_of_linear_kernels_is_the_linear_form():
    listed = MVPO(kernel=["linear"] * 3).fit(VIEWS, Y)
    plain = MVPO().fit(VIEWS, Y)
    assert listed.similarities_ is None
    assert_array_equal(np.concatenate(listed.coef_), np.concatenate(plain.coef_))


# ------------------------------------------------------------------ factors of the kernels


def factors(views, seen, gammas, B):
    """F_j with F_j F_j' = K_j + B^2 on the samples that have view j, zero rows elsewhere."""
    Fs = []
    for view, rows, gamma in zip(views, seen.T, gammas, strict=True):
        F = np.zeros((len(view), rows.sum()))
        F[rows] = np.linalg.cholesky(rbf_gram(view[rows], gamma) + B**2)
        Fs.append(F)
    return Fs


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


# ------------------------------------------------------------------ forms of kernels


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


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernel": ["rbf", "linear", 3]}, "^kernel must be .*got 3"),
        ({"gamma": "wide"}, "^gamma must be None, 'mean' or a number > 0, got 'wide'"),
        (
            {"kernel": "rbf", "solver": "primal"},
            "^solver='primal' needs linear kernels, got .*'dual'",
        ),
        ({"kernel": "precomputed"}, "^kernel='precomputed' needs"),
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


@pytest.mark.parametrize("check", [nystrom_map, partial(_inner_product, name="v")])
def test_a_kernel_is_symmetric_but_for_rounding(check):
    K = 1e3 * (np.eye(3) + 1)
    check(K + np.eye(3, k=1) * 1e-10 * K.max())
    with pytest.raises(ValueError, match="must be symmetric"):
        check(K + np.eye(3, k=1) * 1e-7 * K.max())


def test_a_kernel_of_rank_one_is_no_error():
    """Positive semi-definite up to rounding, and zero altogether."""
    for kernel in (lambda A, B: np.full((len(A), len(B)), 1e6), lambda A, B: 0.0 * (A @ B.T)):
        model = MVPO(kernel=[kernel, "rbf", "linear"]).fit(VIEWS, Y)
        assert model.score(VIEWS, Y) > 0.9
