"""MVPO: linear functions of several views, learnt for a performance measure of the whole sample.

J. J.-Y. Wang, I. W.-H. Tsang, X. Gao, "Optimizing Multivariate Performance Measures from Multi-View
Data", AAAI 2016. Chapters: part III of the book.

Problem   min over w, xi of  1/2 |w|^2 + C1/2 w' Lambda w + C2 xi                       (Eq. 13)
          xi >= Delta(y', y) - w' pi_y'  for all label tuples y',   xi >= 0
          pi_y' = sum_i (y_i - y'_i) x_i                                                (Eq. 11)
          Lambda: squared disagreements of the views' scores                            (Eq. 6)
          Delta = 1 - measure

Symbols   paper           code             shape
          n, m, d_j       n, V, -          samples, views, features of view j
          w_j             coef_[j]         (d_j,)
          Theta_j         -                the columns of view j
          y - y'          ``c``            (n,), so that pi = X'c
          W               cuts             vectors c of the active constraints
          C1, C2          C1, C2           see ``normalize``

Algorithm (the function that does each step)
          update of w, Eq. (15): ``solve_budget_qp`` in :mod:`mvref.simplex_qp`, with the metric
          I + C1 Lambda of :mod:`mvref.consistency`;  update of W, Eq. (16): the argmax of
          :mod:`mvref.most_violated`;  the loop: ``cutting_planes`` in :mod:`mvref.cutting_planes`.

Departures from the paper, each explained in the chapter
          * a constant feature in every view: without one F1 has no threshold (erratum P6);
          * Eq. (16) takes O(n log n) for every measure (P9);
          * for PRBEP and AUROC, which have no threshold, the intercept makes ``predict`` call as
            many training samples positive as there are (P5);
          * the loop ends by the duality gap, which the test of the slack implies;
          * a missing view adds nothing to the score, and disagrees with none.
"""

import warnings

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from .base import MultiViewInput, validate_targets, validate_views
from .checks import check_choice, check_number
from .consistency import DualMetric, PrimalMetric
from .cutting_planes import cutting_planes
from .measures import check_beta
from .most_violated import auroc_argmax, error_argmax, f_beta_argmax, prbep_argmax
from .voters import check_votable

MEASURES = {
    "f1": f_beta_argmax,
    "fbeta": f_beta_argmax,
    "prbep": prbep_argmax,
    "auroc": auroc_argmax,
    "error": error_argmax,
}
RANKING = ("prbep", "auroc")
SOLVERS = ("auto", "primal", "dual")


def scale_of(measure, n, n_positive):
    """Return t, by which ``normalize`` multiplies Psi: 1/n, or 1/(PN) for pairs.

    Parameters
    ----------
    measure : str
    n, n_positive : int

    Returns
    -------
    t : float
    """
    return 1.0 / (n_positive * (n - n_positive)) if measure == "auroc" else 1.0 / n


class MVPO(ClassifierMixin, MultiViewInput, BaseEstimator):
    """Multi-view learning of a multivariate performance measure by cutting planes (Eq. 13).

    One linear function per view, whose sum is the score; more than two classes are taken one
    against the rest.

    Parameters
    ----------
    measure : {"f1", "fbeta", "prbep", "auroc", "error"}, default="f1"
        What is optimised, by the bound of the structured hinge.
    beta : float, default=1.0
        Of "fbeta"; above 1 recall weighs more than precision.
    C1 : float, default=0.1
        Weight of the disagreement of the views.
    C2 : float, default=100.0
        Weight of the loss.
    normalize : bool, default=True
        Psi is a mean over samples (over pairs for "auroc") and C1 is divided by n, so that the
        same values mean the same for every sample size. False: the paper's sums, for which a
        useful C2 is of order 1/n^2.
    fit_intercept : bool, default=True
        Append a constant feature to every view. Its weight is penalised like the others.
    intercept_scaling : float, default=1.0
        Value B0 of the constant feature.
    solver : {"auto", "primal", "dual"}, default="auto"
        "primal" factorises a matrix of all features, "dual" one of all samples per view; "auto"
        takes the smaller.
    tol : float, default=1e-3
        epsilon, tolerance of the slack in units of the loss; the duality gap ends below C2 tol.
    max_iter : int, default=1000
        Largest number of iterations; each finds a cut.
    n_jobs : int or None
        Classes learnt in parallel (joblib).
    views : sequence or mapping, optional
        How to cut a 2-D `X` into views: widths, slices, index lists or column names.

    Attributes
    ----------
    coef_ : list of V arrays (d_j,)
        Weights w_j; (n_classes, d_j) with more than two classes.
    intercept_ : float, or array (n_classes,)
        Sum of the weights of the constant features, times B0. For "prbep" and "auroc", whose
        loss no constant changes, less the score below which no training sample is called
        positive: as many are as there are.
    view_intercepts_ : array (V,), or (n_classes, V)
        Share of every view in `intercept_`; a sample that misses the view goes without.
    n_iter_ : int
        Iterations; the largest number over the classes.
    dual_gap_ : float, or array (n_classes,)
        Primal minus dual value at the end.
    primal_curve_, dual_curve_ : arrays (n_iter,), or lists of them
    classes_ : array of labels
    n_features_in_ : int

    Notes
    -----
    ``decision_function`` is what the measures look at. A missing view adds nothing to a sample's
    score, not even its constant feature, and disagrees with no other view. Views should have
    comparable scales, such as unit variance.

    References
    ----------
    Wang, Tsang and Gao, AAAI 2016. Joachims, ICML 2005; Joachims, Finley and Yu, Machine Learning
    77, 2009.

    Examples
    --------
    >>> from mvref.datasets import load_iris_views
    >>> from mvref.mvpo import MVPO
    >>> data = load_iris_views()
    >>> model = MVPO("auroc").fit(data.X, data.y == 2)
    >>> bool(model.dual_gap_ <= 100 * 1e-3)
    True
    """

    def __init__(
        self,
        measure="f1",
        *,
        beta=1.0,
        C1=0.1,
        C2=100.0,
        normalize=True,
        fit_intercept=True,
        intercept_scaling=1.0,
        solver="auto",
        tol=1e-3,
        max_iter=1000,
        n_jobs=None,
        views=None,
    ):
        self.measure = measure
        self.beta = beta
        self.C1 = C1
        self.C2 = C2
        self.normalize = normalize
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.views = views

    def fit(self, X, y):
        """Learn the weights of every view.

        Parameters
        ----------
        X : MultiView, list of arrays, or 2-D array of n samples
        y : array-like of shape (n,)

        Returns
        -------
        self : MVPO

        Raises
        ------
        ValueError
            For wrong input, a parameter out of range or a single class.
        """
        X = validate_views(self, X, reset=True)
        self._check_parameters()
        codes = validate_targets(self, y, X.n_samples)
        check_votable(X)
        features = view_features(X, self.intercept_scaling if self.fit_intercept else 0.0)
        n, d = X.n_samples, sum(view.shape[1] for view in features)
        C1 = self.C1 / n if self.normalize else self.C1
        dual = self.solver == "dual" or (self.solver == "auto" and d > n)
        if dual:
            metric = DualMetric([linear_gram(view) for view in features], X.observed, C1)
        else:
            metric = PrimalMetric(features, X.observed, C1)
        positive = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        solutions = Parallel(self.n_jobs)(
            delayed(self._solve)(metric, np.where(codes == k, 1, -1)) for k in positive
        )
        self._set_fitted(metric, features, codes, positive, solutions)
        self._warn_of_gaps(solutions)
        return self

    def _solve(self, metric, y):
        """Cutting planes for one class against the rest, y in {-1, +1}."""
        n, argmax = len(y), MEASURES[self.measure]
        t = scale_of(self.measure, n, int((y > 0).sum())) if self.normalize else 1.0
        options = {"beta": self.beta} if self.measure == "fbeta" else {}

        def most_violated(s):
            cut = argmax(t * s, y, **options)
            return cut.value, cut.loss, t * cut.c

        return cutting_planes(
            most_violated, metric.scores, n, C2=self.C2, tol=self.tol, max_iter=self.max_iter
        )

    def _warn_of_gaps(self, solutions):
        gaps = [solution.gap for solution in solutions if not solution.converged]
        if not gaps:
            return
        if min(gaps) < 0:
            message = (
                f"MVPO lost its digits: rounding puts the dual value {-min(gaps):.3g} above the "
                "primal one; scale the views to unit variance, or lower C1."
            )
        else:
            message = (
                f"MVPO stopped after max_iter={self.max_iter} iterations with a duality gap of "
                f"{max(gaps):.3g}, above C2 tol = {self.C2 * self.tol:.3g}; raise max_iter or "
                "tol, or lower C2."
            )
        warnings.warn(message, ConvergenceWarning, stacklevel=3)

    def _set_fitted(self, metric, features, codes, positive, solutions):
        coef, shares, intercept = [], [], []
        for k, solution in zip(positive, solutions, strict=True):
            if isinstance(metric, PrimalMetric):
                w = metric.weights(solution.c)
            else:
                betas = metric.coefficients(solution.c)
                w = [np.asarray(Z.T @ beta) for Z, beta in zip(features, betas, strict=True)]
            b = np.zeros(len(w))
            if self.fit_intercept:
                b = self.intercept_scaling * np.array([w_j[-1] for w_j in w])
                w = [w_j[:-1] for w_j in w]
            threshold = 0.0
            if self.measure in RANKING:
                threshold = ranking_threshold(metric.scores(solution.c), int((codes == k).sum()))
            coef.append(w)
            shares.append(b)
            intercept.append(float(b.sum() - threshold))
        several = len(self.classes_) > 2
        self.coef_ = [np.array(w) for w in zip(*coef, strict=True)] if several else coef[0]
        self.intercept_ = np.array(intercept) if several else intercept[0]
        self.view_intercepts_ = np.array(shares) if several else shares[0]
        self.dual_gap_ = np.array([s.gap for s in solutions]) if several else solutions[0].gap
        self.primal_curve_ = [s.primal_curve for s in solutions]
        self.dual_curve_ = [s.dual_curve for s in solutions]
        if not several:
            self.primal_curve_, self.dual_curve_ = self.primal_curve_[0], self.dual_curve_[0]
        self.n_iter_ = max(len(s.primal_curve) for s in solutions)

    def decision_function(self, X):
        """Return the score sum_j w_j' x_j + b: shape (n,) for two classes, else (n, n_classes).

        Parameters
        ----------
        X : MultiView, list of arrays, or 2-D array of n samples

        Returns
        -------
        scores : array
            Their order is what "prbep" and "auroc" optimise, their sign what "f1" does.
        """
        check_is_fitted(self, "coef_")
        X = validate_views(self, X, reset=False)
        check_votable(X)
        scores = self.intercept_ - ~X.observed @ np.atleast_2d(self.view_intercepts_).T
        for view, w in zip(view_features(X, 0.0), self.coef_, strict=True):
            scores += np.asarray(view @ np.atleast_2d(w).T)
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X):
        """Return the class of the sign of the score (0: the second), or of the largest score.

        Parameters
        ----------
        X : MultiView, list of arrays, or 2-D array of n samples

        Returns
        -------
        y : array of labels, shape (n,)
        """
        scores = self.decision_function(X)
        winner = (scores >= 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[winner]

    def _check_parameters(self):
        check_choice(self.measure, "measure", list(MEASURES))
        check_choice(self.solver, "solver", SOLVERS)
        check_beta(self.beta)
        check_number(self.C1, "C1", low=0)
        for name in ("C2", "intercept_scaling", "tol"):
            check_number(getattr(self, name), name, low=0, low_open=True)
        check_number(self.max_iter, "max_iter", low=1, integer=True)


def view_features(X, constant):
    """Return the views with zeros for what is missing, and a constant column unless it is 0.

    Parameters
    ----------
    X : MultiView
    constant : float
        Value of the last column, in the rows that have the view.

    Returns
    -------
    features : list of V arrays or CSR matrices
    """
    features = []
    for view, seen in zip(X.views, X.observed.T, strict=True):
        column = np.where(seen, constant, 0.0)[:, None]
        if sparse.issparse(view):
            if not seen.all():
                view = sparse.diags_array(seen.astype(float)) @ _without_nan(view)
            view = sparse.hstack([view, column], format="csr") if constant else view
        else:
            view = view if seen.all() else np.where(seen[:, None], view, 0.0)
            view = np.hstack([view, column]) if constant else view
        features.append(view)
    return features


def _without_nan(view):
    view = view.copy()
    view.data = np.nan_to_num(view.data)
    return view


def linear_gram(view):
    """Return the Gram matrix of a view as an array.

    Parameters
    ----------
    view : array or CSR matrix, shape (n, d)

    Returns
    -------
    K : array, shape (n, n)
    """
    K = view @ view.T
    return K.toarray() if sparse.issparse(K) else K


def ranking_threshold(s, n_positive):
    """Return a score between the `n_positive` best ones and the others.

    Parameters
    ----------
    s : array, shape (n,)
    n_positive : int
        At least 1, below n.

    Returns
    -------
    threshold : float
    """
    order = np.sort(s)[::-1]
    return float((order[n_positive - 1] + order[n_positive]) / 2.0)
