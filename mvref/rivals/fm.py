"""Factorisation machines: linear weights, and interactions whose weights are factorised.

S. Rendle, "Factorization machines", ICDM 2010; a rival of multi-view machines in section 5.3 of
Cao, Zhou and Yu (2015), whose equation numbers are used.

Problem   min over w0, w, V of  1/n sum_i loss(y_i, y^_i) + alpha (|w|^2 + sum_p |V_p|^2)
          with weights of the samples: sum_i w_i loss(y_i, y^_i) / sum_i w_i in place of the mean
          y^ = w0 + w'x + sum_{i<j} <v_i, v_j> x_i x_j                            (Eq. 26)
          Eq. (27), ``multiview``: only pairs of features of different views.
          Order P > 2 adds the interactions of 3, ..., P features, or features of as many different
          views, with factors V_p of their own for each order p.

Symbols   paper      code             shape
          w0         intercept_       -          global bias, not penalised
          w          coef_            (d,)       d features of all views, called I in the paper
          v_i        factors_[p - 2]  (d, k)     row i: factors of feature i for order p
          lambda     alpha            -          the same unit as that of multi-view machines

Loss      classes  log(1 + exp(-y y^)), y = -1, +1  (Eq. 12);   numbers  (y - y^)^2  (Eq. 11)

Algorithm L-BFGS with exact gradients, where the paper has stochastic ones, in O(k nnz) for pairs
          and O(k p nnz) for order p, see :mod:`mvref.rivals.anova`. At the start w = 0, w0 is the
          best constant and the factors of pairs are N(0, 0.01): V = 0 is stationary.

Collapse  With alpha > 0, V_p = 0 is a strict local minimum in V_p for every p > 2, as A = 0 is for
          multi-view machines: small factors shrink to 0. Factors of standard deviation 0.1^(2/p)
          escape where those of 0.1 do not, but not for every alpha.
"""

from collections import namedtuple

import numpy as np
from joblib import Parallel, delayed
from scipy.optimize import minimize
from scipy.special import logit
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..core.base import (
    MultiViewClassifier,
    MultiViewRegressor,
    Weighted,
    logistic_probabilities,
    one_against_rest,
    one_or_array,
    one_or_list,
)
from ..core.checks import check_number, warn_caller
from ..core.losses import logistic, squared
from .anova import Columns, interaction_terms
from .common import contiguous_views

FTOL = 64 * np.finfo(float).eps


class FMObjective:
    """Value and gradient of the regularised loss; ``loss``: scores, y -> losses, slopes.

    weights (n,): of the samples in the mean loss; None: equal.

    >>> columns = Columns([np.eye(2)])
    >>> terms = interaction_terms(columns, 2, multiview=False)
    >>> objective = FMObjective(columns, terms, np.array([1.0, 3.0]), squared, 1, 0.0)
    >>> value, gradient = objective(np.zeros(5))
    >>> value, gradient.tolist()  # w0, w, V
    (5.0, [-4.0, -1.0, -3.0, 0.0, 0.0])
    """

    def __init__(self, columns, terms, y, loss, n_factors, alpha, weights=None):
        self.columns, self.terms, self.y = columns, terms, y
        self.loss, self.n_factors, self.alpha = loss, n_factors, alpha
        self.weights = 1.0 if weights is None else weights / weights.mean()

    def __call__(self, theta):
        w0, w, V = np.split(theta, [1, 1 + self.columns.n_columns])
        factors = V.reshape(len(self.terms), len(w), self.n_factors)
        s, pull_backs = w0 + self.columns.dot(w), []
        for term, V in zip(self.terms, factors, strict=True):
            scores, pull_back = term(V)
            s += scores
            pull_backs.append(pull_back)
        losses, slopes = self.loss(s, self.y)
        g = self.weights * slopes / len(self.y)
        value = (self.weights * losses).mean() + self.alpha * (theta[1:] @ theta[1:])
        parts = [self.columns.back(g), *(pull_back(g).ravel() for pull_back in pull_backs)]
        gradient = np.concatenate([[g.sum()], *parts])
        gradient[1:] += 2.0 * self.alpha * theta[1:]
        return float(value), gradient


# What L-BFGS found: parameters, the objective from the start on, whether it converged, and whether
# a step led to numbers that are too large, and was shortened.
Learnt = namedtuple("Learnt", "theta curve converged overflow")


def minimise(objective, start, *, tol, max_iter):
    """Minimise a function, parameters -> value, gradient, by L-BFGS.

    tol: largest entry of the gradient; a large objective at the start is its unit.
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
            told = "X holds values too large for products of features"
            raise ValueError(f"{told}; scale the views to unit variance.")
        gtol = tol * max(1.0, first)
        found = minimize(
            guarded,
            start,
            jac=True,
            method="L-BFGS-B",
            callback=lambda intermediate_result: curve.append(intermediate_result.fun),
            options={"maxiter": max_iter, "maxfun": 20 * max_iter, "gtol": gtol, "ftol": FTOL},
        )
    # After an overflow a short step looks like the end, and is none unless the gradient says so.
    converged = found.success and (not overflows or np.abs(found.jac).max() <= gtol)
    return Learnt(found.x, np.array([first, *curve]), converged, bool(overflows))


class FactorisationMachine:
    """What both machines share: the fit of one problem, and scores."""

    _learnt = "factors_"

    def _check_parameters(self):
        for name in ("n_factors", "order", "max_iter"):
            check_number(getattr(self, name), name, low=1, integer=True)
        for name in ("alpha", "init_scale"):
            check_number(getattr(self, name), name, low=0)
        check_number(self.tol, "tol", low=0, low_open=True)
        if not isinstance(self.multiview, bool | np.bool_):
            raise ValueError(f"multiview must be True or False, got {self.multiview!r}.")

    def _design(self, X):
        columns = Columns(contiguous_views(X))
        with np.errstate(over="ignore"):  # found out when the scores are
            return columns, interaction_terms(columns, self.order, self.multiview)

    def _solve(self, columns, terms, y, loss, w0, weights, random_state):
        """One machine from w0, w = 0 and random factors."""
        d, k, rng = columns.n_columns, self.n_factors, check_random_state(random_state)
        orders = range(2, 2 + len(terms))
        factors = [rng.normal(0.0, self.init_scale ** (2 / p), (d, k)) for p in orders]
        start = np.concatenate([[w0], np.zeros(d), *map(np.ravel, factors)])
        objective = FMObjective(columns, terms, y, loss, k, self.alpha, weights)
        return minimise(objective, start, tol=self.tol, max_iter=self.max_iter)

    def _set_fitted(self, learnt, n_terms):
        d, k = sum(self.view_widths_), self.n_factors
        theta = np.array([one.theta for one in learnt])
        self.intercept_ = one_or_array(theta[:, 0].tolist())
        self.coef_ = one_or_array(theta[:, 1 : 1 + d])
        self.factors_ = one_or_array(theta[:, 1 + d :].reshape(len(learnt), n_terms, d, k))
        self.loss_curve_ = one_or_list([one.curve for one in learnt])
        self.n_iter_ = max(len(one.curve) - 1 for one in learnt)
        bad = [one for one in learnt if not one.converged]
        if bad:
            why = "numbers grew too large" if any(one.overflow for one in bad) else "not converged"
            warn_caller(
                f"{type(self).__name__} stopped after {self.n_iter_} iterations: {why}; scale the "
                f"views to unit variance, or raise max_iter={self.max_iter}, tol={self.tol:g} or "
                f"alpha={self.alpha:g}."
            )

    def _scores(self, X):
        """Eq. (26) or (27) of every problem, shape (n, n_problems)."""
        columns, terms = self._design(X)
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


class FMClassifier(Weighted, FactorisationMachine, MultiViewClassifier):
    """Factorisation machine with the logistic loss; several classes one against the rest.

    Parameters
    ----------
    n_factors : int, default=8; k, length of the factors of every feature
    order : int, default=2; P, the largest number of features in a product, 1: logistic regression
    multiview : bool, default=False; only products of different views' features, at most V (Eq. 27)
    alpha : float, default=1e-3; lambda, weight of all squared parameters but w0; the loss is a mean
    init_scale : float, default=0.1
        Standard deviation of the factors at the start; for order p > 2 its power 2/p.
    tol : float, default=1e-7
        Largest entry of the gradient at the end, in units of the objective at the start if above 1.
    max_iter : int, default=2000; largest number of iterations of L-BFGS
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply ``sample_weight``; the loss is the weighted mean.
    n_jobs : int or None, default=None; classes learnt in parallel (joblib)
    views : sequence or mapping, default=None; widths, slices, indices or names that cut a 2-D `X`
    random_state : int, RandomState instance or None, default=None; draw of the factors at the start

    Attributes
    ----------
    intercept_ : float, or array (n_classes,), w0
    coef_ : array (d,), or (n_classes, d) with more than two classes, w
    factors_ : array (n_orders, d, k), or (n_classes, n_orders, d, k); order p is at ``p - 2``
    loss_curve_ : array (n_iter + 1,), or a list of them, from the start on
    n_iter_ : int, the largest number over the classes
    classes_, n_features_in_ : array of labels, and int

    See Also
    --------
    FMRegressor : the same for numbers.
    mvref.MVMClassifier : factors that all orders share.
    STMClassifier : the highest order alone.

    Notes
    -----
    Provenance: public implementation. Scores of pairs are those of Rendle's program libFM (ICDM
    2010); the restriction to different views is described by Cao, Zhou and Yu (2015), and orders
    above 2 are from memory of Blondel, Fujino, Ueda and Ishihata (NIPS 2016): a reconstruction.

    Views should have comparable scales, such as unit variance. A missing view counts as zeros. With
    small `alpha` and a larger `tol` rounding may move scores by a part in a thousand.

    Examples
    --------
    >>> from mvref.datasets import load_iris_views
    >>> from mvref.rivals import FMClassifier
    >>> data = load_iris_views()
    >>> model = FMClassifier(2, multiview=True, random_state=0).fit(data.X, data.y == 1)
    >>> model.factors_.shape, model.n_parameters
    ((1, 4, 2), 13)
    """

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
        class_weight=None,
        n_jobs=None,
        views=None,
        random_state=None,
    ):
        self.n_factors, self.order, self.multiview = n_factors, order, multiview
        self.alpha, self.init_scale, self.tol = alpha, init_scale, tol
        self.max_iter, self.class_weight, self.n_jobs = max_iter, class_weight, n_jobs
        self.views, self.random_state = views, random_state

    def _fit(self, X, codes, weights):
        columns, terms = self._design(X)
        signs = one_against_rest(codes, len(self.classes_))
        shares = [np.average(y_k > 0, weights=weights) for y_k in signs]
        seeds = check_random_state(self.random_state).randint(2**31, size=len(signs))
        learnt = Parallel(self.n_jobs)(
            delayed(self._solve)(columns, terms, y_k, logistic, logit(share), weights, seed)
            for y_k, share, seed in zip(signs, shares, seeds, strict=True)
        )
        self._set_fitted(learnt, len(terms))

    def predict_proba(self, X):
        """Return the probabilities of the logistic model of the score, 1 / (1 + e^{-y^}).

        They are not calibrated: where the machine fits the training samples well, as with a small
        `alpha`, they are much too close to 0 and 1, and weights of samples or classes shift them.
        Probabilities to rely on come from scikit-learn's ``CalibratedClassifierCV`` around it.

        Parameters
        ----------
        X : MultiView, list of arrays, or 2-D array of n samples

        Returns
        -------
        probabilities : array, shape (n, n_classes)
            With more than two classes those of the machines, one against the rest, divided by their
            sum: an approximation, no joint model of the classes.
        """
        return logistic_probabilities(self._scores(self._validated(X)))


class FMRegressor(Weighted, FactorisationMachine, MultiViewRegressor):
    """Factorisation machine with the squared loss.

    Parameters
    ----------
    n_factors : int, default=8; k, length of the factors of every feature
    order : int, default=2; P, the largest number of features in a product, 1: ridge regression
    multiview : bool, default=False; only products of different views' features, at most V (Eq. 27)
    alpha : float, default=1e-3; lambda, weight of all squared parameters but w0; the loss is a mean
    init_scale : float, default=0.1
        Standard deviation of the factors at the start; for order p > 2 its power 2/p.
    tol : float, default=1e-7
        Largest entry of the gradient at the end, in units of the objective at the start if above 1.
    max_iter : int, default=2000; largest number of iterations of L-BFGS
    views : sequence or mapping, default=None; widths, slices, indices or names that cut a 2-D `X`
    random_state : int, RandomState instance or None, default=None; draw of the factors at the start

    Attributes
    ----------
    intercept_ : float, w0
    coef_ : array (d,), w
    factors_ : array (n_orders, d, k); ``factors_[p - 2]`` for the products of p features
    loss_curve_ : array (n_iter + 1,), from the start on
    n_iter_, n_features_in_ : int

    See Also
    --------
    FMClassifier : the same for classes.
    mvref.MVMRegressor : factors that all orders share.

    Notes
    -----
    Provenance: public implementation. As for :class:`FMClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from mvref.rivals import FMRegressor
    >>> x, z = np.random.RandomState(0).normal(size=(2, 100, 1))
    >>> model = FMRegressor(1, multiview=True, alpha=0, random_state=0)
    >>> float(np.prod(model.fit([x, z], 3 * (x * z)[:, 0]).factors_).round(4))
    3.0
    """

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
        self.n_factors, self.order, self.multiview = n_factors, order, multiview
        self.alpha, self.init_scale, self.tol = alpha, init_scale, tol
        self.max_iter, self.views, self.random_state = max_iter, views, random_state

    def _fit(self, X, y, weights):
        columns, terms = self._design(X)
        w0 = np.average(y, weights=weights)
        learnt = self._solve(columns, terms, y, squared, w0, weights, self.random_state)
        self._set_fitted([learnt], len(terms))
