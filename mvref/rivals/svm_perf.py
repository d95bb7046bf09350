"""SVM^perf: one linear function for a performance measure of the whole sample.

T. Joachims, "A support vector method for multivariate performance measures", ICML 2005; compared
with MVPO in Figure 1 of Wang, Tsang and Gao (AAAI 2016). Chapters: part III of the book.

Problem   min over w, xi of  1/2 |w|^2 + C2 xi
          xi >= Delta(y', y) - t sum_i (y_i - y'_i) w'x_i  for all label tuples y',   xi >= 0
          This is Eq. (13) of MVPO with C1 = 0, on the concatenated features.

Symbols   paper     code      shape
          x_i       ``Z``     (n, d + 1), concatenated and constant features
          y - y'    ``c``     (n,)
          t         ``t``     1/n, or 1/(P N) for AUROC: P positives, N negatives

Algorithm ``cutting_planes`` in :mod:`mvref.mvpo.solver`, argmax :mod:`mvref.mvpo.most_violated`

Units     C2 is that of MVPO with ``normalize``, so that one grid serves all methods. For n samples:
          option C of the C program   C2 = 25 C (25 C / n^2 without the 1/n in t), weights 2 w; not
                                      for AUROC
          C of the hinge loss         C = 4 C2 / n for "error", weights 2 w
"""

from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed

from ..core.base import MultiViewClassifier, one_against_rest, one_or_array, one_or_list
from ..core.input import (
    Literal,
    ViewColumns,
    check_choice,
    check_number,
    view_features,
    warn_caller,
)
from ..mvpo import RANKING, PrimalMetric, cutting_planes, most_violated_of, ranking_threshold
from .common import side_by_side


@dataclass(frozen=True)
class Learnt:
    """Result of training one class against the rest."""

    w: np.ndarray  # the weight of the constant feature last
    primal_curve: np.ndarray  # bounds of the minimum from above, one per iteration
    dual_curve: np.ndarray  # from below
    gap: float  # the smallest bound from above minus the largest from below
    converged: bool
    groups: tuple = ()  # of features, for the method that selects some


class SVMPerf(MultiViewClassifier):
    """Linear SVM that optimises F1, PRBEP, AUROC or the error, on concatenated features (SVM^perf).

    Parameters
    ----------
    measure : {"f1", "prbep", "auroc", "error"}, default="f1"; optimised by a structured hinge
    C2 : float, default=100.0
        Weight of the loss, in the unit of :class:`~mvref.MVPO`: 25 times the option C of Joachims'
        program, except for "auroc".
    fit_intercept, intercept_scaling : bool, default=True, and float, default=1.0
        Whether to append a constant feature, whose weight is penalised too, and its value.
    tol : float, default=1e-3; tolerance of the loss: at the end, the duality gap is below C2 tol
    max_iter : int, default=1000; maximum number of iterations, each of which adds a cut
    n_jobs : int or None, default=None; number of classes trained in parallel (joblib)
    views : sequence or mapping, default=None; widths, slices, indices or names that split a 2-D `X`

    Attributes
    ----------
    coef_ : array (d,), or (n_classes, d), weights of the concatenated features
    intercept_ : float, or array (n_classes,)
        For "prbep" and "auroc", the threshold predicts as many positives as the training set has.
    n_iter_ : int, the maximum over the classes
    dual_gap_ : float, or array (n_classes,), primal minus dual value
    primal_curve_, dual_curve_ : arrays (n_iter,), or lists of them
    classes_, n_features_in_ : sorted array of labels, and int, number of columns of all views
    view_names_, view_widths_, view_feature_names_ : lists; name, width, columns of each view

    See Also
    --------
    SMS : The same minimum, by smoothing.
    CAPO : Classifiers as additional features.
    FSMulti : A selection of features.
    mvref.MVPO : Several views that agree.

    Notes
    -----
    Provenance: another paper's description. The problem is Eq. (13) of Wang, Tsang and Gao (2016)
    for one view; the web page and the C program of SVM^perf gave the units and the set of tuples.
    The borders of the views do not matter; missing views are replaced by zeros, which add nothing.

    Sample weights are not supported, because a measure of the whole sample (for "auroc" of its
    pairs) is not a sum of terms, one per sample, that could be multiplied. Only "error" is such a
    sum, the hinge loss of ``LinearSVC``, which takes weights.

    Examples
    --------
    >>> from mvref.datasets import load_iris_views
    >>> from mvref.rivals import SVMPerf
    >>> data = load_iris_views()
    >>> bool(SVMPerf("auroc").fit(data.X, data.y == 2).dual_gap_ <= 100 * 1e-3)
    True
    """

    _learnt = "coef_"
    _measures = ("f1", "prbep", "auroc", "error")

    def __init__(
        self,
        measure: Literal["f1", "prbep", "auroc", "error"] = "f1",
        *,
        C2: float = 100.0,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        tol: float = 1e-3,
        max_iter: int = 1000,
        n_jobs: int | None = None,
        views: ViewColumns | None = None,
    ):
        self.measure, self.C2, self.tol = measure, C2, tol
        self.fit_intercept, self.intercept_scaling = fit_intercept, intercept_scaling
        self.max_iter, self.n_jobs, self.views = max_iter, n_jobs, views

    def _fit(self, X, codes, groups=None):
        signs = one_against_rest(codes, len(self.classes_))
        more = () if groups is None else (groups,)  # only for a method that splits the samples
        tables = self._training_tables(X, signs, *more)
        learnt = Parallel(self.n_jobs)(
            delayed(self._learn)(table, y_k) for table, y_k in zip(tables, signs, strict=True)
        )
        self._set_fitted(tables, signs, learnt)
        gaps = [one.gap for one in learnt if not one.converged]
        if gaps:
            warn_caller(
                f"{type(self).__name__} did not converge: its duality gap is "
                f"{max(gaps, key=abs):.3g}, C2 tol is {self.C2 * self.tol:.3g}. Increase "
                f"max_iter={self.max_iter} or tol, reduce C2, or scale the views to unit variance."
            )

    def _learn(self, Z, y):
        """Learn weights of the columns Z (n, d + 1) for labels -1 and +1, here by SVM^perf."""
        metric = PrimalMetric([Z], np.ones((len(y), 1), dtype=bool), 0.0)
        most_violated = most_violated_of(self.measure, y)
        options = {"C2": self.C2, "tol": self.tol, "max_iter": self.max_iter}
        found = cutting_planes(most_violated, metric.scores, len(y), **options)
        [w] = metric.weights(found.c)
        return Learnt(w, found.primal_curve, found.dual_curve, found.gap, found.converged)

    def _training_tables(self, X, signs):
        """Return the columns of every one-vs-rest problem, the constant feature last."""
        return [side_by_side([*view_features(X, 0.0), *self._constant(X.n_samples)])] * len(signs)

    def _constant(self, n):
        """Return the constant feature as a list of one column, or an empty list."""
        return [np.full((n, 1), float(self.intercept_scaling))] if self.fit_intercept else []

    def _tables(self, columns):
        """Return the columns of every problem for new samples, without the constant feature."""
        return [columns] * np.atleast_2d(self.coef_).shape[0]

    def _set_fitted(self, tables, signs, learnt):
        coef, intercept = [], []
        for table, y, one in zip(tables, signs, learnt, strict=True):
            w, b = one.w, 0.0
            if self.fit_intercept:
                w, b = one.w[:-1], self.intercept_scaling * one.w[-1]
            if self.measure in RANKING:
                b = -ranking_threshold(table[:, : len(w)] @ w, int((y > 0).sum()))
            coef.append(w)
            intercept.append(float(b))
        self.coef_, self.intercept_ = one_or_array(coef), one_or_array(intercept)
        self.dual_gap_ = one_or_array([one.gap for one in learnt])
        self.primal_curve_ = one_or_list([one.primal_curve for one in learnt])
        self.dual_curve_ = one_or_list([one.dual_curve for one in learnt])
        self.n_iter_ = max(len(one.primal_curve) for one in learnt)

    def _scores(self, X):
        """Return w'x + b; "prbep" and "auroc" optimise its order, "f1" its sign."""
        tables = self._tables(side_by_side(view_features(X, 0.0)))
        weights = zip(tables, np.atleast_2d(self.coef_), strict=True)
        return np.column_stack([table @ w for table, w in weights]) + self.intercept_

    def _check_parameters(self):
        check_choice(self.measure, "measure", self._measures)
        for name in ("C2", "intercept_scaling", "tol"):
            check_number(getattr(self, name), name, low=0, low_open=True)
        check_number(self.max_iter, "max_iter", low=1, integer=True)
