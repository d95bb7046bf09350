"""What the two factorisation machines share: objective, its minimisation, parameters and scores.

The model is described in :mod:`mvref.rivals.fm`, its interactions in :mod:`mvref.rivals.anova`.
"""

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from ..core.base import MultiViewInput, check_votable, validate_views
from ..core.checks import check_number
from ..core.columns import view_features
from .anova import Columns, interaction_terms


class FMObjective:
    """Value and gradient of the regularised loss.

    y (n,); loss: Scores, y -> losses, slopes.

    Examples
    --------
    >>> import numpy as np
    >>> from mvref.rivals.anova import Columns, interaction_terms
    >>> from mvref.core.losses import squared
    >>> from mvref.rivals.fm_core import FMObjective
    >>> columns = Columns([np.eye(2)])
    >>> terms = interaction_terms(columns, 2, multiview=False)
    >>> objective = FMObjective(columns, terms, np.array([1.0, 3.0]), squared, 1, 0.0)
    >>> value, gradient = objective(np.zeros(5))
    >>> value, gradient.tolist()  # w0, w, V
    (5.0, [-4.0, -1.0, -3.0, 0.0, 0.0])
    """

    def __init__(self, columns, terms, y, loss, n_factors, alpha):
        self.columns, self.terms, self.y = columns, terms, y
        self.loss, self.n_factors, self.alpha = loss, n_factors, alpha

    def unpack(self, theta):
        """Return w0, w (d,) and the factors (orders, d, k) of a vector of parameters."""
        d = self.columns.n_columns
        factors = theta[1 + d :].reshape(len(self.terms), d, self.n_factors)
        return theta[0], theta[1 : 1 + d], factors

    def __call__(self, theta):
        w0, w, factors = self.unpack(theta)
        s, pull_backs = w0 + self.columns.dot(w), []
        for term, V in zip(self.terms, factors, strict=True):
            scores, pull_back = term(V)
            s += scores
            pull_backs.append(pull_back)
        losses, slopes = self.loss(s, self.y)
        g = slopes / len(self.y)
        value = losses.mean() + self.alpha * (theta[1:] @ theta[1:])
        parts = [self.columns.back(g), *(pull_back(g).ravel() for pull_back in pull_backs)]
        gradient = np.concatenate([[g.sum()], *parts])
        gradient[1:] += 2.0 * self.alpha * theta[1:]
        return float(value), gradient


@dataclass(frozen=True)
class Learnt:
    """What L-BFGS found: the parameters and the curve of the objective.

    curve (n_iter + 1,): From the start on; overflow: A step led to numbers that are too large, and
    was shortened.
    """

    theta: np.ndarray
    curve: np.ndarray
    converged: bool
    overflow: bool


def minimise(objective, start, *, tol, max_iter):
    """Minimise by L-BFGS.

    objective: Parameters -> value, gradient; tol: Largest entry of the gradient at the end; a large
    objective at the start is the unit.
    """

    curve, overflows = [], []

    def guarded(theta):
        value, gradient = objective(theta)
        if np.isfinite(value) and np.isfinite(gradient).all():
            return value, gradient
        overflows.append(theta)
        return np.inf, np.zeros_like(theta)  # the line search comes back with a shorter step

    with np.errstate(over="ignore", invalid="ignore"):
        first = guarded(start)[0]
        if not np.isfinite(first):
            raise ValueError(
                "X holds values too large for products of features; scale the views to unit "
                "variance."
            )
        gtol = tol * max(1.0, first)
        found = minimize(
            guarded,
            start,
            jac=True,
            method="L-BFGS-B",
            callback=lambda intermediate_result: curve.append(intermediate_result.fun),
            options={
                "maxiter": max_iter,
                "maxfun": 20 * max_iter,
                "gtol": gtol,
                "ftol": 64 * np.finfo(float).eps,
            },
        )
    # After an overflow a short step looks like the end, and is none unless the gradient says so.
    converged = found.success and (not overflows or np.abs(found.jac).max() <= gtol)
    return Learnt(found.x, np.array([first, *curve]), converged, bool(overflows))


class FactorisationMachine(MultiViewInput, BaseEstimator):
    """What both machines share: input, the fit of one problem, and scores."""

    def __init__(
        self,
        n_factors=8,
        *,
        order=2,
        multiview=False,
        alpha=1e-3,
        init_scale=0.1,
        tol=1e-7,
        max_iter=2000,
        views=None,
        random_state=None,
    ):
        self.n_factors = n_factors
        self.order = order
        self.multiview = multiview
        self.alpha = alpha
        self.init_scale = init_scale
        self.tol = tol
        self.max_iter = max_iter
        self.views = views
        self.random_state = random_state

    def _check_parameters(self):
        check_number(self.n_factors, "n_factors", low=1, integer=True)
        check_number(self.order, "order", low=1, integer=True)
        check_number(self.alpha, "alpha", low=0)
        check_number(self.init_scale, "init_scale", low=0)
        check_number(self.tol, "tol", low=0, low_open=True)
        check_number(self.max_iter, "max_iter", low=1, integer=True)
        if not isinstance(self.multiview, bool | np.bool_):
            raise ValueError(f"multiview must be True or False, got {self.multiview!r}.")

    def _design(self, X):
        check_votable(X)
        columns = Columns([_contiguous(view) for view in view_features(X, 0.0)])
        with np.errstate(over="ignore"):  # found out when the scores are
            return columns, interaction_terms(columns, self.order, self.multiview)

    def _solve(self, columns, terms, y, loss, w0, rng):
        """One machine from w0, w = 0 and random factors."""
        d, k = columns.n_columns, self.n_factors
        factors = [rng.normal(0.0, self.init_scale ** (2 / term.order), (d, k)) for term in terms]
        start = np.concatenate([[w0], np.zeros(d), *map(np.ravel, factors)])
        objective = FMObjective(columns, terms, y, loss, k, self.alpha)
        return minimise(objective, start, tol=self.tol, max_iter=self.max_iter)

    def _set_fitted(self, learnt, n_terms, several):
        d, k = self.n_features_in_, self.n_factors
        theta = np.array([one.theta for one in learnt])
        intercept, coef = theta[:, 0], theta[:, 1 : 1 + d]
        factors = theta[:, 1 + d :].reshape(len(learnt), n_terms, d, k)
        self.intercept_ = intercept if several else float(intercept[0])
        self.coef_ = coef if several else coef[0]
        self.factors_ = factors if several else factors[0]
        self.loss_curve_ = [one.curve for one in learnt] if several else learnt[0].curve
        self.n_iter_ = max(len(one.curve) - 1 for one in learnt)
        bad = [one for one in learnt if not one.converged]
        if bad:
            why = "numbers grew too large" if any(one.overflow for one in bad) else "not converged"
            warnings.warn(
                f"{type(self).__name__} stopped after {self.n_iter_} iterations: {why}; scale the "
                f"views to unit variance, or raise max_iter={self.max_iter}, tol={self.tol:g} or "
                f"alpha={self.alpha:g}.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _scores(self, X):
        """Eq. (26) or (27) of every problem, shape (n, n_problems)."""
        check_is_fitted(self, "factors_")
        columns, terms = self._design(validate_views(self, X, reset=False))
        factors = self.factors_ if self.factors_.ndim == 4 else self.factors_[None]
        with np.errstate(over="ignore", invalid="ignore"):
            scores = columns.dot(np.atleast_2d(self.coef_).T) + self.intercept_
            for k, machine in enumerate(factors):
                for term, V in zip(terms, machine, strict=True):
                    scores[:, k] += term(V)[0]
        if not np.isfinite(scores).all():
            raise ValueError("X holds values too large for products of features.")
        return scores

    @property
    def n_parameters(self):
        """Number of parameters of one machine: 1 + d + (orders - 1) k d."""
        check_is_fitted(self, "factors_")
        orders, d, k = self.factors_.shape[-3:]
        return 1 + d + orders * d * k


def _contiguous(view):
    """Rows one after the other, so that every form of input is rounded alike."""
    return np.ascontiguousarray(view) if isinstance(view, np.ndarray) else view
