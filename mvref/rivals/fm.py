"""Factorisation machines: linear weights, and interactions whose weights are factorised.

S. Rendle, "Factorization machines", ICDM 2010; compared with multi-view machines in section 5.3 of
Cao, Zhou and Yu (2015), whose equation numbers are used.

Problem   min over w0, w, V of  1/n sum_i loss(y_i, y^_i) + alpha (|w|^2 + sum_p |V_p|^2)
          with weights of the samples: sum_i w_i loss(y_i, y^_i) / sum_i w_i in place of the mean
          y^ = w0 + w'x + sum_{i<j} <v_i, v_j> x_i x_j                            (Eq. 26)
          Eq. (27), ``multiview``: only pairs of features of different views.
          Order P > 2 adds the interactions of 3, ..., P features, or features of as many different
          views, with separate factors V_p for each order p.

Symbols   paper      code             shape
          w0         intercept_       -          global bias, not penalised
          w          coef_            (d,)       d features of all views, called I in the paper
          v_i        factors_[p - 2]  (d, k)     row i: factors of feature i for order p
          lambda     alpha            -          the same unit as that of multi-view machines

Loss      classes  log(1 + exp(-y y^)), y = -1, +1  (Eq. 12);   numbers  (y - y^)^2  (Eq. 11)

Algorithm L-BFGS with exact gradients, where the paper has stochastic ones, in O(k nnz) for pairs
          and O(k p nnz) for order p, see :mod:`mvref.rivals.anova`. At the start w = 0, w0 is the
          best constant and the factors of pairs are N(0, 0.01): V = 0 is stationary.
          Or, for pairs of different views, alternating least squares: ``Sweeps``, a column of V in
          one view after another, exact and O(n) for one-hot views, and a majorised logistic loss.
          alpha="auto" is mean field: every view's w and each of its factors has a penalty, which
          maximises the evidence, see :mod:`mvref.core.ridge`; predictions are posterior means.

Collapse  With alpha > 0, V_p = 0 is a strict local minimum in V_p for every p > 2, as A = 0 is for
          multi-view machines: small factors shrink to 0. Factors of standard deviation 0.1^(2/p)
          escape where those of 0.1 do not, but not for every alpha.
"""

from collections import namedtuple

import numpy as np
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import logit
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..core.base import (
    MultiViewClassifier,
    MultiViewRegressor,
    logistic_probabilities,
    one_against_rest,
    one_or_array,
    one_or_list,
)
from ..core.input import (
    ClassWeight,
    Literal,
    RandomState,
    ViewColumns,
    Views,
    Weighted,
    check_choice,
    check_number,
    warn_caller,
)
from ..core.losses import logistic, squared
from ..core.ridge import PRIOR_ROWS, Column, Table, alternate, check_alpha
from ..core.starts import best_starts
from .anova import Columns, interaction_terms
from .common import contiguous_views

ALPHA = 1e-3  # of L-BFGS, for alpha="auto"
FTOL = 64 * np.finfo(float).eps
TINY = 1e-8  # mean field: variance of a known parameter, or at the start
DEAD = 1e-3  # mean field: drop a factor below this ratio of squared means to variances


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


# Result of L-BFGS: parameters, the objective from the start on, whether it converged, and whether
# a step overflowed and was shortened.
Learnt = namedtuple("Learnt", "theta curve converged overflow alphas", defaults=[None])


def minimise(objective, start, *, tol, max_iter, units=1.0):
    """Minimise a function, parameters -> value, gradient, by L-BFGS.

    tol: largest entry of the gradient, in units of the objective of the constant start[0] if above
    1; units: by which the parameters are multiplied for L-BFGS.
    """
    curve, overflows = [], []

    def guarded(theta):
        value, gradient = objective(theta / units)
        if np.isfinite(value) and np.isfinite(gradient).all():
            return value, gradient / units
        overflows.append(theta)
        return np.inf, np.zeros_like(theta)  # the line search tries a shorter step

    with np.errstate(over="ignore", invalid="ignore"):
        start = start * units
        first, constant = guarded(start)[0], guarded(start * (np.arange(len(start)) == 0))[0]
        if not np.isfinite(first):
            told = "X has values too large for products of features"
            raise ValueError(f"{told}. Scale the views to unit variance.")
        gtol = tol * max(1.0, constant)
        found = minimize(
            guarded,
            start,
            jac=True,
            method="L-BFGS-B",
            callback=lambda intermediate_result: curve.append(intermediate_result.fun),
            options={"maxiter": max_iter, "maxfun": 20 * max_iter, "gtol": gtol, "ftol": FTOL},
        )
    # After an overflow, a short step means convergence only if the gradient is small, too.
    converged = found.success and (not overflows or np.abs(found.jac).max() <= gtol)
    return Learnt(found.x / units, np.array([first, *curve]), converged, bool(overflows))


def column_sizes(views):
    """Return for each column its root mean square as a power of 2, (d,), and 1 below 16.

    >>> column_sizes([np.array([[5.0, 100.0], [0.2, 50.0]])])
    array([ 1., 64.])
    """
    with np.errstate(over="ignore"):
        squares = [np.asarray((v.multiply(v) if sparse.issparse(v) else v**2).mean(axis=0)).ravel()
                   for v in views]  # fmt: skip
    size = np.sqrt(np.concatenate(squares))
    large = np.isfinite(size) & (size >= 16.0)
    return 2.0 ** np.floor(np.log2(np.where(large, size, 1.0)))


class Sweeps:
    """Alternating least squares for pairs of different views: w0, w, then factor by factor of V.

    Features of one view do not interact, so the score is linear in each view's w and v_f: with the
    other views' sums h = sum_{u != v} s_u the factor is multiplied by h. In mean field s_u has the
    variance c_u: E h^2 = h^2 + sum c_u, and h and the pairs of the other views have the covariance
    h sum c_u - sum c_u s_u. See :func:`mvref.core.ridge.alternate`.

    theta: the start, changed in place; tables: of the views; alphas (V, 1 + k): estimated penalties
    of the linear weights and the factors of every view.
    """

    def __init__(self, tables, theta, k, alpha, n):
        self.tables, self.n, self.w0 = tables, n, theta[:1]
        self.auto, V = isinstance(alpha, str), len(tables)
        self.alphas = np.full((V, 1 + k), PRIOR_ROWS / n if self.auto else alpha)
        variances, d = np.full_like(theta, TINY), sum(table.n_features for table in tables)
        ends = np.cumsum([table.n_features for table in tables])[:-1]

        def parts(numbers, width):
            return np.split(numbers.reshape(d, width), ends)

        both = (theta, variances)
        linear = zip(*(parts(x[1 : 1 + d], 1) for x in both), self.alphas[:, :1], strict=True)
        pairs = zip(*(parts(x[1 + d :], k) for x in both), self.alphas[:, 1:], strict=True)
        self.linear, self.pairs = [[Column(*one) for one in part] for part in (linear, pairs)]
        self.active = list(range(k))

    def minimise(self, scores, y, weights, loss, **options):
        """Return the curve, and whether it converged (None if it overflowed)."""
        columns = [*self.linear, *self.pairs]
        options |= {"loss": loss.__name__, "auto": self.auto}
        with np.errstate(all="ignore"):
            return alternate(self.sweep, columns, [self.w0], scores, y, weights, **options)

    def sweep(self, e, u, T):
        """Minimise over every column in turn; return the variances of the scores, (n,).

        e (n,): residuals, changed in place; u (n,): weights; T: 0 for least squares.
        """
        self.plain = np.all(u == 1.0)
        step, spread = u @ e / u.sum(), np.zeros(len(e))
        self.w0 += step
        e -= step
        for table, column in zip(self.tables, self.linear, strict=True):
            e -= self._regress(table, column, 0, e.copy(), np.ones(len(e)), u, T)
            if T:
                spread += table.dot(column.variance[:, 0], squared=True)
        for f in self.active.copy():
            variance = self._sweep_factor(f, e, u, T)
            if T:
                spread += variance
                self._drop(f, e)
        return spread

    def _drop(self, f, e):
        """Drop a factor whose means have gone to 0: its best variance is 0, which removes it."""
        if all(np.sum(c.mean[:, f] ** 2) < DEAD * c.variance[:, f].sum() for c in self.pairs):
            parts = zip(self.tables, self.pairs, strict=True)
            S = [table.dot(column.mean[:, f]) for table, column in parts]
            e += (sum(S) ** 2 - sum(s**2 for s in S)) / 2
            for column in self.pairs:
                column.mean[:, f], column.variance[:, f] = 0.0, TINY**2
            self.active.remove(f)

    def _regress(self, table, column, f, slopes, curvatures, u, T):
        """Minimise over one column, and return the change of its sums s (n,)."""
        if not self.plain:
            slopes *= u
            curvatures *= u
        old, penalties = column.mean[:, f].copy(), (self.n * column.alpha[f], 0.0)
        column.mean[:, f], matrix = table.regress(old, slopes, curvatures, penalties)
        if T:
            column.variance[:, f] = T / matrix
        return table.dot(column.mean[:, f] - old)

    def _sweep_factor(self, f, e, u, T):
        """Minimise over factor f of every view; return the variances of its pairs."""
        both = list(zip(self.tables, self.pairs, strict=True))
        S = [table.dot(column.mean[:, f]) for table, column in both]
        total = sum(S)
        if T:
            C = [table.dot(column.variance[:, f], squared=True) for table, column in both]
            spread, cross = sum(C), sum(c * s for c, s in zip(C, S, strict=True))
        for v, ((table, column), s) in enumerate(zip(both, S, strict=True)):
            h = total - s
            slopes, h_square = h * e, h * h
            if T:
                spread -= C[v]
                cross -= C[v] * s
                slopes += cross
                slopes -= spread * total  # the covariance, and Var h times s
                h_square += spread
            moved = self._regress(table, column, f, slopes, h_square, u, T)
            s += moved
            total += moved
            moved *= h
            e -= moved
            if T:
                C[v] = table.dot(column.variance[:, f], squared=True)
                spread += C[v]
                cross += C[v] * s
        if T:
            return spread**2 / 2 + sum(
                c * ((total - s) ** 2 - c / 2) for c, s in zip(C, S, strict=True)
            )


class FactorisationMachine:
    """Base of the classifier and the regressor: training, and scores."""

    _learnt = "factors_"

    def _check_parameters(self):
        for name in ("n_factors", "order", "n_init", "max_iter"):
            check_number(getattr(self, name), name, low=1, integer=True)
        check_number(self.init_scale, "init_scale", low=0)
        check_choice(self.solver, "solver", ("auto", "lbfgs", "als"))
        check_alpha(self.alpha, "als", "logistic")
        if self.solver == "als" and self.order > 2:
            raise ValueError(f"solver='als' needs order <= 2, got order={self.order!r}.")
        check_number(self.tol, "tol", low=0, low_open=True)
        if not isinstance(self.multiview, bool | np.bool_):
            raise ValueError(f"multiview must be True or False, got {self.multiview!r}.")

    def _design(self, X):
        columns = Columns(contiguous_views(X))
        with np.errstate(over="ignore"):  # detected in the scores
            return columns, interaction_terms(columns, self.order, self.multiview)

    def _fit_machines(self, X, targets, loss, constants, weights, rngs):
        """Learn one model per array of targets, from starts drawn by its generator."""
        columns, terms = self._design(X)
        sizes = column_sizes(columns.views)
        units = np.concatenate([[1.0], sizes, *[np.repeat(sizes, self.n_factors)] * len(terms)])
        tables = self._tables(columns, terms)
        problems = [(columns, terms, tables, y, loss, weights, units) for y in targets]
        starts = [
            [
                self._start(columns.n_columns, len(terms), w0, rng) / units
                for _ in range(self.n_init)
            ]
            for w0, rng in zip(constants, rngs, strict=True)
        ]
        best = best_starts(self._solve, problems, starts, n_jobs=self.n_jobs)
        self._set_fitted(best, len(terms))

    def _start(self, d, n_terms, w0, rng):
        """Return the parameters w0, w = 0 and random factors."""
        scales = [self.init_scale ** (2 / p) for p in range(2, 2 + n_terms)]
        factors = [rng.normal(0.0, scale, d * self.n_factors) for scale in scales]
        return np.concatenate([[w0], np.zeros(d), *factors])

    def _tables(self, columns, terms):
        """Return tables of the views for alternating least squares, or None for L-BFGS."""
        wanted = self.solver == "als" or (self.solver == "auto" and self.alpha == "auto")
        if not wanted or self.order > 2:
            return None
        tables = [Table(view, constant=False) for view in columns.views]
        if all(table.level is not None for table in tables):
            return tables
        if self.solver == "als" and terms and not self.multiview:
            raise ValueError(
                "solver='als' needs multiview=True, or views whose columns do not overlap, such as "
                "one-hot views. Otherwise, use solver='lbfgs'."
            )
        return tables if self.solver == "als" else None

    def _solve(self, start, columns, terms, tables, y, loss, weights, units):
        """Learn one model from a start, for ``best_starts``."""
        if tables:
            learnt = self._sweep(columns, terms, tables, y, loss, start, weights)
        else:
            alpha = ALPHA if self.alpha == "auto" else self.alpha
            objective = FMObjective(columns, terms, y, loss, self.n_factors, alpha, weights)
            options = {"tol": self.tol, "max_iter": self.max_iter, "units": units}
            learnt = minimise(objective, start, **options)
        return learnt, learnt.curve[-1], learnt.converged

    def _sweep(self, columns, terms, tables, y, loss, theta, weights):
        """Learn one model by alternating least squares, from the parameters theta."""
        n, k = len(y), self.n_factors * len(terms)
        weights = np.ones(n) if weights is None else weights / weights.mean()
        V = theta[1 + columns.n_columns :].reshape(columns.n_columns, k)
        scores = theta[0] + sum((term(V)[0] for term in terms), start=np.zeros(n))
        sweeps = Sweeps(tables, theta, k, self.alpha, n)
        options = {"tol": self.tol**0.5, "max_iter": self.max_iter}
        curve, converged = sweeps.minimise(scores, y, weights, loss, **options)
        return Learnt(theta, np.array(curve), bool(converged), converged is None, sweeps.alphas)

    def _set_fitted(self, best, n_terms):
        d, k, learnt = sum(self.view_widths_), self.n_factors, best.solutions
        theta = np.array([one.theta for one in learnt])
        self.intercept_ = one_or_array(theta[:, 0].tolist())
        self.coef_ = one_or_array(theta[:, 1 : 1 + d])
        self.factors_ = one_or_array(theta[:, 1 + d :].reshape(len(learnt), n_terms, d, k))
        self.loss_curve_ = one_or_list([one.curve for one in learnt])
        self.objectives_ = one_or_array(best.objectives)
        self.n_iter_ = max(len(one.curve) - 1 for one in learnt)
        vars(self).pop("alpha_", None)  # from an earlier fit
        if self.alpha == "auto" and learnt[0].alphas is not None:
            self.alpha_ = one_or_array([one.alphas for one in learnt])
        bad = [one for one in learnt if not one.converged]
        if bad:
            why = "numbers overflowed" if any(one.overflow for one in bad) else "no convergence"
            warn_caller(
                f"{type(self).__name__} stopped after {self.n_iter_} iterations ({why}). Scale the "
                f"views to unit variance, or increase max_iter={self.max_iter}, tol={self.tol:g} "
                f"or alpha={self.alpha}.{best.note}"
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
            raise ValueError("X has values too large for products of features.")
        return scores

    @property
    def n_parameters(self) -> int:
        """Number of parameters of one model: 1 + d + (orders - 1) k d."""
        check_is_fitted(self, "factors_")
        orders, d, k = self.factors_.shape[-3:]
        return 1 + d + orders * d * k


class FMClassifier(Weighted, FactorisationMachine, MultiViewClassifier):
    """Factorisation machine for classification, with the logistic loss.

    Parameters
    ----------
    n_factors : int, default=8; k, number of factors of every feature
    order : int, default=2; P, the largest number of features in a product; 1: logistic regression
    multiview : bool, default=False; only products of features of different views (Eq. 27)
    alpha : float or "auto", default="auto"
        lambda, weight of the squared parameters except w0, relative to the mean loss. "auto": with
        "als", penalties of every view's weights and factors are estimated from the data; else 1e-3.
    solver : {"auto", "lbfgs", "als"}, default="auto"
        L-BFGS; or alternating least squares, which is fast for one-hot views, and needs order <= 2
        and, unless the columns of no view overlap, ``multiview=True``. "auto" is "als" with
        ``alpha="auto"`` if the columns of no view overlap and order <= 2, else L-BFGS.
    init_scale : float, default=0.1
        Initial standard deviation of the factors, divided by the size of a feature if this is above
        16; for order p > 2, its power 2/p.
    n_init : int, default=1; random starts; for each class the smallest training objective is kept
    tol : float, default=1e-7
        Largest entry of the gradient at the end, in units of the objective of the best constant if
        this is above 1, and with respect to parameters times the size of their features, if above
        16. With "als", its root is the fraction by which a sweep must lower the objective, and with
        ``alpha="auto"`` the number of nats per sample: 1e-4 is enough for predictions.
    max_iter : int, default=2000; maximum number of iterations of L-BFGS, or of sweeps
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply ``sample_weight``; the loss is the weighted mean.
    n_jobs : int or None, default=None; number of classes and starts trained in parallel (joblib)
    views : sequence or mapping, default=None; widths, slices, indices or names that split a 2-D `X`
    random_state : int, RandomState instance or None, default=None; seed of the initial factors

    Attributes
    ----------
    intercept_ : float, or array (n_classes,), w0
    coef_ : array (d,), or (n_classes, d) with more than two classes, w
    factors_ : array (n_orders, d, k), or (n_classes, n_orders, d, k); order p is at ``p - 2``
    alpha_ : array (V, 1 + k), or (n_classes, V, 1 + k)
        With ``alpha="auto"`` and "als" only: estimated penalties of linear weights and every
        factor.
    loss_curve_ : array (n_iter + 1,), or a list of them; objective by iteration, from 0 on
        With ``alpha="auto"`` the free energy per sample, a bound of minus the log evidence.
    objectives_ : array (n_init,), or (n_classes, n_init); final ``loss_curve_`` of every start
    n_iter_ : int, the maximum over the classes
    classes_, n_features_in_ : sorted array of labels, and int, number of columns of all views
    view_names_, view_widths_, view_feature_names_ : lists; name, width, columns of each view

    See Also
    --------
    FMRegressor : The same for regression.
    mvref.MVMClassifier : Factors shared by all orders.
    STMClassifier : The highest order alone.

    Notes
    -----
    Provenance: public implementation. The scores of pairs agree with Rendle's program libFM (ICDM
    2010); the restriction to different views is described by Cao, Zhou and Yu (2015), and orders
    above 2 are from memory of Blondel, Fujino, Ueda and Ishihata (NIPS 2016): a reconstruction.

    Several classes are handled one-vs-rest. Views should have comparable scales, such as unit
    variance. Missing views are replaced by zeros. With small `alpha` and a larger `tol`, rounding
    may change scores by one part in a thousand.

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
        n_factors: int = 8,
        *,
        order: int = 2,
        multiview: bool = False,
        alpha: float | Literal["auto"] = "auto",
        solver: Literal["auto", "lbfgs", "als"] = "auto",
        init_scale: float = 0.1,
        n_init: int = 1,
        tol: float = 1e-7,
        max_iter: int = 2000,
        class_weight: ClassWeight | None = None,
        n_jobs: int | None = None,
        views: ViewColumns | None = None,
        random_state: RandomState | None = None,
    ):
        self.n_factors, self.order, self.multiview = n_factors, order, multiview
        self.alpha, self.solver, self.init_scale, self.tol = alpha, solver, init_scale, tol
        self.n_init, self.max_iter = n_init, max_iter
        self.class_weight, self.n_jobs = class_weight, n_jobs
        self.views, self.random_state = views, random_state

    def _fit(self, X, codes, weights):
        signs = one_against_rest(codes, len(self.classes_))
        constants = [logit(np.average(y_k > 0, weights=weights)) for y_k in signs]
        seeds = check_random_state(self.random_state).randint(2**31, size=len(signs))
        rngs = map(np.random.RandomState, seeds)
        self._fit_machines(X, signs, logistic, constants, weights, rngs)

    def predict_proba(self, X: Views) -> np.ndarray:
        """Predict the probabilities of the logistic model, 1 / (1 + e^{-score}).

        They are not calibrated: if the model fits the training samples well, as with a small
        `alpha`, they are much too close to 0 and 1, and weights of samples or classes shift them.
        For calibrated probabilities, wrap the model in scikit-learn's ``CalibratedClassifierCV``.

        Parameters
        ----------
        X : MultiView, list of arrays, or 2-D array of n samples

        Returns
        -------
        probabilities : array, shape (n, n_classes)
            With more than two classes, the one-vs-rest probabilities divided by their sum: an
            approximation, not a joint model of the classes.
        """
        return logistic_probabilities(self._scores(self._validated(X)))


class FMRegressor(Weighted, FactorisationMachine, MultiViewRegressor):
    """Factorisation machine for regression, with the squared loss.

    Parameters
    ----------
    n_factors, order, multiview : int, int and bool, default=8, 2 and False
    alpha, solver : float or "auto", and {"auto", "lbfgs", "als"}, default="auto" and "auto"
    init_scale, n_init : float and int, default=0.1 and 1
    tol, max_iter : float and int, default=1e-7 and 2000
        All as in :class:`FMClassifier`; order 1 is ridge regression.
    n_jobs : int or None, default=None; number of starts trained in parallel (joblib)
    views : sequence or mapping, default=None; widths, slices, indices or names that split a 2-D `X`
    random_state : int, RandomState instance or None, default=None; seed of the initial factors

    Attributes
    ----------
    intercept_ : float, w0
    coef_ : array (d,), w
    factors_ : array (n_orders, d, k); ``factors_[p - 2]`` for the products of p features
    alpha_, loss_curve_, objectives_ : as in :class:`FMClassifier`
    n_iter_, n_features_in_ : int, iterations, and number of columns of all views
    view_names_, view_widths_, view_feature_names_ : lists; name, width, columns of each view

    See Also
    --------
    FMClassifier : The same for classification.
    mvref.MVMRegressor : Factors shared by all orders.

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
        n_factors: int = 8,
        *,
        order: int = 2,
        multiview: bool = False,
        alpha: float | Literal["auto"] = "auto",
        solver: Literal["auto", "lbfgs", "als"] = "auto",
        init_scale: float = 0.1,
        n_init: int = 1,
        tol: float = 1e-7,
        max_iter: int = 2000,
        n_jobs: int | None = None,
        views: ViewColumns | None = None,
        random_state: RandomState | None = None,
    ):
        self.n_factors, self.order, self.multiview = n_factors, order, multiview
        self.alpha, self.solver, self.init_scale, self.tol = alpha, solver, init_scale, tol
        self.n_init, self.max_iter, self.n_jobs = n_init, max_iter, n_jobs
        self.views, self.random_state = views, random_state

    def _fit(self, X, y, weights):
        w0, rng = np.average(y, weights=weights), check_random_state(self.random_state)
        self._fit_machines(X, [y], squared, [w0], weights, [rng])
