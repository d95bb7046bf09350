"""Certificates: the reported distance from the optimum holds for the returned weights.

On views of rank below n, at scales from 1e-6 to 1e6: the objective of the public attributes, minus
the reported gap, is below the objective of a much tighter fit, up to the rounding of MVPO's dual
value, which is below C2 tol; or the fit has warned.
"""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning

from mvref import MVLSVM, MVPO
from mvref.mvpo import most_violated as cuts
from mvref.rivals import MSL, SMS, SVM2K, SVMPerf

N = 40
RNG = np.random.default_rng(0)
Y = RNG.integers(2, size=N)
SIGNS = 2 * Y - 1
VIEWS = [(RNG.normal(size=(N, 5)) + 0.5 * Y[:, None]) @ RNG.normal(size=(5, d)) for d in (50, 40)]


def of_weights(model, views):
    """Return Eq. (13) of MVPO; with one view, the objective of SVM^perf."""
    coef, b = model.coef_, np.atleast_1d(getattr(model, "view_intercepts_", model.intercept_))
    if not isinstance(coef, list):
        views, coef = [np.hstack(views)], [coef]
    u = [view @ w + b_v for view, w, b_v in zip(views, coef, b, strict=True)]
    apart = model.C1 / N * np.sum((u[0] - u[1]) ** 2) if len(u) > 1 else 0.0
    slack = cuts.most_violated_of(model.measure, SIGNS)(sum(u))[0]
    return (sum(w @ w for w in coef) + b @ b + apart) / 2 + model.C2 * slack


def of_features(model, views):
    """Return Eq. (3) of MVL-SVM."""
    Phi, b = model.projection_.transform(views), model.intercept_[0]
    losses = np.maximum(0.0, 1.0 - SIGNS * (Phi @ model.coef_[0] + b))
    return (model.coef_[0] @ model.coef_[0] + b**2) / 2 + model.c * losses.mean()


def stated(model, views):
    return float(np.squeeze(model.objective_))


# A method, its settings, its objective, and whether its gap is relative to the objective.
CERTIFIED = [
    *((MVPO, {"measure": m, "C2": 10.0, "solver": solver, "C1": C1}, of_weights, False)
      for m in ("f1", "error", "auroc") for solver in ("dual", "primal") for C1 in (0.1, 10.0)),
    *((method, {"measure": "f1", "C2": 10.0}, of_weights, False) for method in (SVMPerf, SMS)),
    (MVLSVM, {"c": 10.0, "random_state": 0}, of_features, True),
    (MSL, {}, stated, False), (SVM2K, {"kernel": "linear"}, stated, False),
]  # fmt: skip


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e5, 1e6])
@pytest.mark.parametrize(("method", "options", "objective", "relative"), CERTIFIED)
def test_the_gap_is_that_of_the_weights(method, options, objective, relative, scale):
    views, model = [scale * view for view in VIEWS], method(**options)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            model.fit(views, Y)
        except ValueError as error:
            assert scale >= 1e5 and "scale" in str(error)
            return
        by_features = {"solver": "primal"} if method is MVPO else {}
        tight = method(**options | by_features, tol=model.tol / 100)
        warned = any(issubclass(w.category, ConvergenceWarning) for w in said)
        best = objective(tight.fit(views, Y), views)
    value, gap = objective(model, views), float(np.squeeze(model.dual_gap_))
    if method is MVPO:
        assert_allclose(gap, value - model.dual_curve_[-1], atol=1e-6 + 1e-9 * value)
        assert warned or gap <= 2 * model.C2 * model.tol
    rounding = model.C2 * model.tol if method is MVPO else 1e-6 * abs(best)
    assert warned or value - gap * (value if relative else 1.0) <= best + rounding
