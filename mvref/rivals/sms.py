"""SMS: smooth the structured loss of a performance measure, and minimise it by gradients.

X. Zhang, A. Saha, S. V. N. Vishwanathan, "Smoothing multivariate performance measures", JMLR 2012;
compared with MVPO in Figure 1 of Wang, Tsang and Gao (AAAI 2016). Chapters: part III of the book.

Problem   min over w of  1/2 |w|^2 + C2 R(s),  s = t X w,  R(s) = max over y' of Delta - c's
          as in SVM^perf (:mod:`mvref.rivals.svm_perf`). R has kinks and is replaced by a smooth
          R_mu, of gradient -c_bar, with R - mu D <= R_mu <= R: :mod:`mvref.rivals.smoothing` has
          one for PRBEP, AUROC and F1 each, and the symbols.

Algorithm mu D = ``smoothing``; minimise by L-BFGS until |gradient|^2 / 2 <= C2 mu D / 10; divide mu
          by 10 and continue from there. (The paper has Nesterov's method instead of L-BFGS.)

Certificate   c_bar is a point of the dual of SVM^perf, whose value is C2 E[Delta] - |u|^2 / 2 with
          u = C2 t X'c_bar, or the best of its multiples by 0 to 1. The gap of the smoothed problem
          itself is |w - u|^2 / 2 = |gradient|^2 / 2, so the gap of the original one ends below
          C2 (mu D + mu D / 10): the last mu D is tol / 2.
"""

import numpy as np
from scipy import sparse
from scipy.optimize import minimize

from ..core.input import Literal, ViewColumns, check_number
from ..mvpo import most_violated_of, scale_of
from .smoothing import SMOOTHINGS, largest_penalty
from .svm_perf import Learnt, SVMPerf

SHARE = 0.1  # gap at which a smoothed problem is stopped, relative to mu D


class SMS(SVMPerf):
    """Linear classifier that optimises PRBEP, AUROC or F1 by smoothing, on concatenated features.

    Parameters
    ----------
    measure : {"prbep", "auroc", "f1"}, default="prbep"
        Measure to optimise. The smoothing for "f1" is ours, and takes O(n^2) time and memory.
    C2 : float, default=100.0; weight of the loss, in the unit of :class:`~mvref.MVPO`
    smoothing : float, default=0.1; maximum error of the first smoothed loss, then a tenth each time
    fit_intercept, intercept_scaling : bool, default=True, and float, default=1.0
        Whether to append a constant feature, whose weight is penalised too, and its value.
    tol : float, default=1e-3
        Tolerance of the loss; the duality gap of the loss without smoothing ends below C2 tol.
    max_iter : int, default=5000; maximum number of evaluations of the smoothed loss
    n_jobs : int or None, default=None; number of classes trained in parallel (joblib)
    views : sequence or mapping, default=None; widths, slices, indices or names that split a 2-D `X`

    Attributes
    ----------
    coef_ : array (d,), or (n_classes, d), weights of the concatenated features
    intercept_ : float, or array (n_classes,)
        For "prbep" and "auroc", the threshold predicts as many positives as the training set has.
    n_iter_ : int, number of evaluations, the maximum over the classes
    dual_gap_ : float, or array (n_classes,), the best primal minus the best dual value
    primal_curve_, dual_curve_ : arrays (n_iter,), or lists of them
        Values of the problem without smoothing at every evaluation; neither is monotone.
    classes_, n_features_in_ : sorted array of labels, and int, number of columns of all views
    view_names_, view_widths_, view_feature_names_ : lists; name, width, columns of each view

    See Also
    --------
    SVMPerf : The same minimum, by cutting planes.

    Notes
    -----
    Provenance: abstract. A reconstruction: the abstract names PRBEP, the ROC area and Nesterov's
    method; the smoothings are derived here, and may differ from the paper's. Missing views are
    replaced by zeros.

    Sample weights are not supported, because a measure of the whole sample (for "auroc" of its
    pairs) is not a sum of terms, one per sample, that could be multiplied.

    Examples
    --------
    >>> from mvref.datasets import load_iris_views
    >>> from mvref.rivals import SMS
    >>> data = load_iris_views()
    >>> bool(SMS("auroc").fit(data.X, data.y == 2).dual_gap_ <= 100 * 1e-3)
    True
    """

    _measures = tuple(SMOOTHINGS)  # type: ignore[assignment]

    def __init__(
        self,
        measure: Literal["prbep", "auroc", "f1"] = "prbep",
        *,
        C2: float = 100.0,
        smoothing: float = 0.1,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        tol: float = 1e-3,
        max_iter: int = 5000,
        n_jobs: int | None = None,
        views: ViewColumns | None = None,
    ):
        self.measure, self.C2, self.smoothing = measure, C2, smoothing
        self.fit_intercept, self.intercept_scaling = fit_intercept, intercept_scaling
        self.tol, self.max_iter = tol, max_iter
        self.n_jobs, self.views = n_jobs, views

    def _check_parameters(self):
        super()._check_parameters()
        check_number(self.smoothing, "smoothing", low=0, low_open=True)

    def _learn(self, Z, y):
        P = int((y > 0).sum())
        D = largest_penalty(self.measure, P, len(y) - P)
        problem = _Smoothed(self, Z, y)
        w, error = np.zeros(Z.shape[1]), max(self.smoothing, self.tol / 2)
        while True:
            w = problem.minimise(w, error / D, SHARE * self.C2 * error)
            if problem.ended or error <= self.tol / 2:
                break
            error = max(error / 10, self.tol / 2)
        primal, dual = np.array(problem.primal), np.array(problem.dual)
        return Learnt(problem.best, primal, dual, problem.gap, problem.gap <= self.C2 * self.tol)


class _Smoothed:
    """Smoothed problem of one class, which also records the bounds of the original problem."""

    def __init__(self, model, Z, y):
        self.Z, self.y, self.C2 = Z, y, model.C2
        self.smooth = SMOOTHINGS[model.measure]
        self.hard = most_violated_of(model.measure, y)
        self.t = scale_of(model.measure, len(y), int((y > 0).sum()))
        values = Z.data if sparse.issparse(Z) else Z
        self.square = float(np.vdot(values, values))
        self.max_iter, self.target = model.max_iter, model.C2 * model.tol
        self.primal, self.dual, self.best, self.gap = [], [], None, np.inf

    @property
    def ended(self):
        return self.gap <= self.target or len(self.primal) >= self.max_iter

    def minimise(self, w, mu, target):
        """Return w once the gap of the smoothed problem is below the target."""

        def value_and_gradient(v):
            w = unit * v
            raw = self.Z @ w
            cut = self.smooth(self.t * raw, self.y, mu)
            u = self.C2 * self.t * (self.Z.T @ cut.c)
            primal = w @ w / 2 + self.C2 * max(self.hard(raw)[0], 0.0)
            if self.best is None or primal < min(self.primal):
                self.best = w.copy()
            linear, square = self.C2 * cut.loss, u @ u
            part = min(1.0, linear / max(square, np.finfo(float).tiny))  # best multiple of u
            self.primal.append(primal)
            self.dual.append(part * linear - part**2 * square / 2)
            self.gap = min(self.primal) - max(self.dual)
            self.smoothed_gap = (w - u) @ (w - u) / 2
            return w @ w / 2 + self.C2 * cut.value, unit * (w - u)

        def stop(intermediate_result):
            if self.ended or self.smoothed_gap <= target:
                raise StopIteration

        # L-BFGS-B tries a first step of length 1 at any curvature; scale w so that this is short
        unit = 1.0
        gradient = np.linalg.norm(value_and_gradient(w)[1])
        if self.ended or self.smoothed_gap <= target:
            return w
        unit = gradient / (1.0 + 4 * self.C2 * self.t**2 * self.square / mu)
        left = max(self.max_iter - len(self.primal), 1)
        options = {"maxiter": left, "maxfun": left, "ftol": 0.0, "gtol": 0.0}
        method = {"method": "L-BFGS-B", "jac": True, "callback": stop, "options": options}
        return unit * minimize(value_and_gradient, w / unit, **method).x
