"""SVM^perf is MVPO of one view, whose tests hold for it, too; certificates, of SMS as well."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.svm import LinearSVC

from mvref.core.measures import auroc, f_beta, precision_recall_break_even
from mvref.mvpo import MVPO, most_violated_of
from mvref.rivals import SMS, SVMPerf
from tests.literal import toy_views

MEASURES = ("f1", "prbep", "auroc", "error")
WIDTHS = (3, 4, 2)
VIEWS, Y = toy_views(0, m=60, widths=WIDTHS, noise=1.5)
Y[:15] = 0  # fewer positives than negatives, and some that no line separates
FLAT, SIGNS = np.hstack(VIEWS), np.where(Y == 1, 1, -1)
TIGHT = {"tol": 1e-8, "max_iter": 5000}


def close(C2, tol=1e-8):
    """Largest distance of two solutions: |w - w*|^2 / 2 <= C2 tol for either."""
    return 2 * np.sqrt(2 * C2 * tol)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("measure", MEASURES)
def test_is_mvpo_of_one_view(measure, intercept):
    model = SVMPerf(measure, C2=20.0, fit_intercept=intercept, **TIGHT).fit(VIEWS, Y)
    mvpo = MVPO(measure, C1=0.0, C2=20.0, fit_intercept=intercept, **TIGHT).fit(FLAT, Y)
    assert_allclose(model.coef_, mvpo.coef_[0], atol=close(20))
    assert_allclose(model.dual_curve_[-1], mvpo.dual_curve_[-1], atol=20 * 1e-8)
    scores = mvpo.decision_function(FLAT)
    assert_allclose(model.decision_function(VIEWS), scores, atol=20 * close(20))
    clear = np.abs(scores) > 20 * close(20)
    assert clear.mean() > 0.9
    assert_array_equal(model.predict(VIEWS)[clear], mvpo.predict(FLAT)[clear])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # exact to rounding
@pytest.mark.parametrize("B", [0.0, 1.0, 3.0])
@pytest.mark.parametrize("C2", [0.5, 10.0, 300.0])
@pytest.mark.parametrize("method", [SVMPerf, partial(MVPO, C1=7.0)], ids=["SVMPerf", "MVPO"])
def test_error_is_the_linear_svm(method, C2, B):
    """C = 4 C2 / n, and weights of the SVM that are 2 w."""
    intercept = {"fit_intercept": B > 0, "intercept_scaling": B or 1.0}
    options = {"loss": "hinge", "tol": 1e-10, "max_iter": 10_000_000, "random_state": 0}
    svm = LinearSVC(C=4 * C2 / 60, **options, **intercept).fit(FLAT, SIGNS)
    model = method("error", C2=C2, tol=1e-15, max_iter=400, **intercept).fit(FLAT, SIGNS)
    assert model.dual_gap_ < 1e-13 * C2
    scale = 1 + np.abs(svm.coef_).max()
    assert_allclose(2 * np.ravel(model.coef_), svm.coef_[0], atol=1e-6 * scale)
    assert_allclose(2 * model.intercept_, svm.intercept_ if B else 0.0, atol=1e-6 * scale)


@pytest.mark.parametrize(
    ("method", "measure", "C2"),
    [(SVMPerf, measure, C2) for measure in MEASURES for C2 in (1.0, 100.0, 3000.0)]
    + [(SMS, measure, 50.0) for measure in MEASURES[:3]],
)
def test_certificate_recomputed(method, measure, C2):
    model = method(measure, C2=C2).fit(VIEWS, Y)
    raw = FLAT @ model.coef_
    b = 0.0 if measure in ("prbep", "auroc") else model.intercept_
    slack = most_violated_of(measure, SIGNS)(raw + b)[0]
    primal = (model.coef_ @ model.coef_ + b**2) / 2 + C2 * slack
    assert_allclose(primal, model.primal_curve_.min(), rtol=1e-7 if method is SVMPerf else 1e-9)
    gap = model.primal_curve_.min() - model.dual_curve_.max()
    assert_allclose(model.dual_gap_, gap, rtol=1e-6, atol=1e-9)
    assert model.dual_curve_.min() >= 0  # that of the point 0
    assert -1e-10 * C2 <= model.dual_gap_ <= C2 * 1e-3
    assert model.n_iter_ == len(model.dual_curve_) == len(model.primal_curve_)
    scores, predicted = model.decision_function(VIEWS), model.predict(VIEWS)
    loss = {
        "f1": 1 - f_beta(Y, predicted),
        "prbep": 1 - precision_recall_break_even(Y, scores),
        "auroc": 1 - auroc(Y, scores),
        "error": np.mean(Y != predicted),
    }
    assert slack >= loss[measure] - 1e-12
