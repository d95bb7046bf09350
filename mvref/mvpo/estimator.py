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
          update of w, Eq. (15): ``solve_budget_qp`` in :mod:`mvref.core.simplex_qp`, with the
          metric I + C1 Lambda of ``metric``;  update of W, Eq. (16): the argmax of
          ``most_violated``;  the loop: ``cutting_planes`` in ``solver``.

Departures from the paper, each explained in the chapter
          * a constant feature in every view: without one F1 has no threshold (remark P6);
          * Eq. (16) takes O(n log n) for every measure (P9);
          * for PRBEP and AUROC, which have no threshold, the intercept makes ``predict`` call as
            many training samples positive as there are (P5);
          * the loop ends by the duality gap, which the test of the slack implies;
          * a missing view adds nothing to the score, and disagrees with none;
          * views may have kernels, which the dual form of the metric gives for free: see
            :mod:`mvref.core.kernel_views`.
"""

from itertools import combinations

import numpy as np
from joblib import Parallel, delayed

from ..core.base import MultiViewClassifier, one_against_rest, one_or_array, one_or_list
from ..core.input import (
    Kernel,
    KernelWidth,
    Literal,
    OnePreparation,
    Sequence,
    ViewColumns,
    check_choice,
    check_number,
    warn_caller,
)
from ..core.kernel_views import (
    KernelViews,
    LinearViews,
    add_kernel_scores,
    add_linear_scores,
    check_kernels,
)
from ..core.measures import check_beta
from .metric import DualMetric, PrimalMetric
from .most_violated import MEASURES, RANKING, most_violated_of, ranking_threshold
from .solver import cutting_planes

SOLVERS = ("auto", "primal", "dual")


class MVPO(OnePreparation, MultiViewClassifier):
    """Multi-view linear or kernel classifier that optimises F1, AUROC, PRBEP or the error (MVPO).

    The score is the sum of one function per view, linear or of a kernel; it is trained by cutting
    planes. Several classes are handled one-vs-rest.

    Parameters
    ----------
    measure : {"f1", "fbeta", "prbep", "auroc", "error"}, default="f1"
        Performance measure whose bound by the structured hinge loss is minimised.
    beta : float, default=1.0; beta of "fbeta"; above 1 recall weighs more than precision
    C1 : float, default=0.1; weight of the penalty on disagreement between the views
    C2 : float, default=100.0; weight of the loss
    normalize : bool, default=True
        If True, Psi is a mean over samples (over pairs for "auroc") and C1 is divided by n, so that
        the same values are suitable for every sample size. If False, Psi is the paper's sum, for
        which a useful C2 is of order 1/n^2.
    fit_intercept : bool, default=True
        Whether to append a constant feature to every view, whose weight is penalised like the
        others.
    intercept_scaling : float, default=1.0; value B0 of the constant feature; kernels get B0^2 added
    kernel : {"linear", "rbf", "precomputed", "gram"}, callable, or a list, default="linear"
        One for all views, or one per view. Kernels other than "linear" are described in
        :class:`~mvref.LandmarkProjection`, with all training samples as landmarks; they must be
        positive semi-definite.
    gamma : float, "mean", or a list of these, one per view, default=None
        Kernel width. None: 1/n_v for "rbf", "mean" for "precomputed". Other kernels have no width.
    solver : {"auto", "primal", "dual"}, default="auto"
        "primal" factorises a matrix of all features, "dual" one of all samples per view; "auto"
        takes the smaller one. Kernels other than "linear" have the dual form only.
    tol : float, default=1e-3
        Tolerance of the slack in units of the loss; at the end, the duality gap is below C2 tol.
    max_iter : int, default=1000; maximum number of iterations, each of which adds a cut
    n_jobs : int or None; number of classes trained in parallel (joblib)
    views : sequence or mapping, optional; widths, slices, indices or names that split a 2-D `X`

    Attributes
    ----------
    coef_ : list of V arrays (d_j,), or (n_classes, d_j), weights w_j, if all kernels are linear
    dual_coef_ : list of V arrays (n_j,), or (n_classes, n_j)
        Coefficients beta_j of the training samples that have view j, if a kernel is not linear.
    similarities_ : list of V kernels to these samples, or None if all kernels are linear
    intercept_ : float, or array (n_classes,)
        Sum of the weights of the constant features, times B0. (In a kernel the feature is the
        summand B0^2.) For "prbep" and "auroc", whose loss does not depend on it, the threshold is
        set so that as many training samples are predicted positive as there are positives.
    view_intercepts_ : array (V,), or (n_classes, V)
        Contribution of every view to `intercept_`; it is left out for samples that lack the view.
    n_iter_ : int, number of iterations; the maximum over the classes
    primal_curve_, dual_curve_ : arrays (n_iter,), or lists of them; values at every iteration
    dual_gap_ : float, or array (n_classes,); primal value of these weights minus the dual value
    classes_, n_features_in_ : sorted array of labels, and int, number of columns of all views
    view_names_, view_widths_, view_feature_names_ : lists; name, width, columns of each view

    See Also
    --------
    mvref.rivals.SVMPerf, mvref.rivals.SMS, mvref.rivals.CAPO, mvref.rivals.FSMulti : One view.
    sklearn.svm.LinearSVC : A simple baseline, with a tuned threshold.

    Notes
    -----
    The measures are computed from ``decision_function``. A missing view adds nothing to the score
    of a sample, not even its constant feature, and is not compared with other views. The views
    should have comparable scales, such as unit variance.

    Sample weights are not supported, because a measure of the whole sample (for "auroc" of its
    pairs) is not a sum of terms, one per sample, that could be multiplied. Only "error" is such a
    sum, and with C1 = 0 it is the objective of ``LinearSVC``, which takes weights.

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
    >>> points = [{"C1": C1, "C2": C2} for C1 in (0, 1) for C2 in (1, 10)]  # two metrics, not four
    >>> [model.C2 for model in MVPO("auroc").path(data.X, data.y == 2, points)]
    [1, 10, 1, 10]
    """

    _learnt = "intercept_"
    _point = ("measure", "beta", "C1", "C2", "normalize", "tol", "max_iter")

    def __init__(
        self,
        measure: Literal["f1", "fbeta", "prbep", "auroc", "error"] = "f1",
        *,
        beta: float = 1.0,
        C1: float = 0.1,
        C2: float = 100.0,
        normalize: bool = True,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        kernel: Kernel | Sequence[Kernel] = "linear",
        gamma: KernelWidth | Sequence[KernelWidth | None] | None = None,
        solver: Literal["auto", "primal", "dual"] = "auto",
        tol: float = 1e-3,
        max_iter: int = 1000,
        n_jobs: int | None = None,
        views: ViewColumns | None = None,
    ):
        self.measure, self.beta = measure, beta
        self.C1, self.C2, self.normalize = C1, C2, normalize
        self.fit_intercept, self.intercept_scaling = fit_intercept, intercept_scaling
        self.kernel, self.gamma = kernel, gamma
        self.solver, self.tol, self.max_iter = solver, tol, max_iter
        self.n_jobs, self.views = n_jobs, views

    def _fit(self, X, codes, shared=None):
        form, metric = self._prepared(X, {} if shared is None else shared)
        signs = one_against_rest(codes, len(self.classes_))
        solutions = Parallel(self.n_jobs)(delayed(self._solve)(metric, y_k) for y_k in signs)
        self._set_fitted(metric, form, X.observed, signs, solutions)
        self._warn_of_gaps(all(solution.converged for solution in solutions))

    def _prepared(self, X, shared):
        """Return the views and their metric, reused from the setting before if C1 is the same."""
        C1, form = self._weight_of_disagreement(len(X)), shared.get("form") or self._form(X)
        if shared.get("C1") != C1:
            shared.update(C1=C1, form=form, metric=self._metric(form, X.observed))
        return form, shared["metric"]

    def _form(self, X):
        """Return the views as columns, or as kernels."""
        kernels = check_kernels(self.kernel, self.gamma, X.n_views)
        constant = self.intercept_scaling if self.fit_intercept else 0.0
        if all(isinstance(kernel, str) and kernel == "linear" for kernel in kernels):
            return LinearViews(X, constant)
        if self.solver == "primal":
            raise ValueError(
                f"solver='primal' needs linear kernels, got kernel={self.kernel!r}. Use 'auto' or "
                "'dual'."
            )
        return KernelViews(X, kernels, self.gamma, constant)

    def _metric(self, form, seen):
        """Return I + C1 Lambda, by the features or by the samples."""
        n = len(seen)
        C1 = self._weight_of_disagreement(n)
        if self.solver == "dual" or (self.solver == "auto" and form.n_features > n):
            return DualMetric(form.grams(), seen, C1)
        return PrimalMetric(form.features, seen, C1)

    def _weight_of_disagreement(self, n):
        return self.C1 / n if self.normalize else self.C1

    def _most_violated(self, y):
        return most_violated_of(self.measure, y, normalize=self.normalize, beta=self.beta)

    def _solve(self, metric, y):
        """Run cutting planes for one class against the rest, y in {-1, +1}."""
        options = {"C2": self.C2, "tol": self.tol, "max_iter": self.max_iter}
        return cutting_planes(self._most_violated(y), metric.scores, len(y), **options)

    def _primal(self, U, squares, seen, y):
        """Return Eq. (13) for the views' scores U (V, n) and |w|^2; seen (n, V)."""
        pairs = combinations(range(len(U)), 2)
        apart = sum(np.sum((U[i] - U[j])[seen[:, i] & seen[:, j]] ** 2) for i, j in pairs)
        loss = self.C2 * max(self._most_violated(y)(U.sum(axis=0))[0], 0.0)
        return (squares + self._weight_of_disagreement(len(y)) * apart) / 2 + loss

    def _warn_of_gaps(self, in_time):
        gaps, allowed = np.atleast_1d(self.dual_gap_), self.C2 * self.tol
        worst = gaps[np.abs(gaps).argmax()]
        if worst < -2 * allowed or (in_time and worst > 2 * allowed):
            warn_caller(
                f"MVPO did not reach its tolerance because of rounding errors: the duality gap is "
                f"{worst:.3g}, and C2 tol is {allowed:.3g}. Standardise the features, or reduce C1."
            )
        elif not in_time:
            warn_caller(
                f"MVPO did not converge in max_iter={self.max_iter} iterations: the duality gap is "
                f"{worst:.3g}, and C2 tol is {allowed:.3g}. Standardise the features, increase "
                "max_iter or tol, or reduce C2."
            )

    def _set_fitted(self, metric, form, seen, signs, solutions):
        coef, shares, intercept, gaps = [], [], [], []
        for y_k, solution in zip(signs, solutions, strict=True):
            of_views, b = form.functions(metric, solution.c)
            U, squares = form.training_scores(of_views, b)
            gaps.append(float(self._primal(U, squares, seen, y_k) - solution.dual_curve[-1]))
            threshold = 0.0
            if self.measure in RANKING:
                threshold = ranking_threshold(U.sum(axis=0), int((y_k > 0).sum()))
            coef.append(of_views)
            shares.append(b)
            intercept.append(float(b.sum() - threshold))
        coef = [one_or_array(w) for w in zip(*coef, strict=True)]
        self.similarities_ = form.similarities
        here, gone = ("dual_coef_", "coef_") if form.similarities else ("coef_", "dual_coef_")
        setattr(self, here, coef)
        vars(self).pop(gone, None)  # from an earlier fit with another kernel
        self.intercept_ = one_or_array(intercept)
        self.view_intercepts_ = one_or_array(shares)
        self.dual_gap_ = one_or_array(gaps)
        self.primal_curve_ = one_or_list([s.primal_curve for s in solutions])
        self.dual_curve_ = one_or_list([s.dual_curve for s in solutions])
        self.n_iter_ = max(len(s.primal_curve) for s in solutions)

    def _scores(self, X):
        """sum_j w_j' x_j + b; with kernels a view adds k_j(x_j, X_j) beta_j in place of w_j' x_j.

        "prbep" and "auroc" optimise their order, "f1" their sign.
        """
        scores = self.intercept_ - ~X.observed @ np.atleast_2d(self.view_intercepts_).T
        if self.similarities_ is None:
            add_linear_scores(scores, X, self.coef_)
        else:
            add_kernel_scores(scores, X, self.similarities_, self.dual_coef_)
        return scores

    def _check_parameters(self):
        check_choice(self.measure, "measure", list(MEASURES))
        check_choice(self.solver, "solver", SOLVERS)
        check_beta(self.beta)
        check_number(self.C1, "C1", low=0)
        for name in ("C2", "intercept_scaling", "tol"):
            check_number(getattr(self, name), name, low=0, low_open=True)
        check_number(self.max_iter, "max_iter", low=1, integer=True)
