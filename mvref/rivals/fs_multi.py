"""FS_multi: feature selection for a performance measure, by cutting planes in two layers.

Q. Mao, I. W. Tsang, "A feature selection method for multivariate performance measures", IEEE TPAMI
2013; compared with MVPO in Figure 1 of Wang, Tsang and Gao (AAAI 2016).

Problem   min over weights delta of the features, 0 <= delta_k <= 1, sum delta_k <= B, of the
          minimum of SVM^perf (:mod:`mvref.rivals.svm_perf`) with features sqrt(delta_k) x_k.
          The extreme delta are groups G of at most B features. Exchange min and max: the dual
          max over alpha >= 0, sum alpha <= C2 of  alpha'Delta - 1/2 max over G of |p_G|^2,
          p = sum_k alpha_k pi_k,  pi_k = t X'c_k,  |p_G|^2 the largest for the B largest p_i^2

Symbols   here            code          meaning
          B               n_features    size of a group
          G_1, ..., G_T   ``groups``    groups found so far
          pi_k, Delta_k   ``cuts``      label cuts found so far, shared by all groups
          alpha           ``alpha``     dual weights of the label cuts
          mu_t            ``mu``        weights of the groups, sum 1; then delta = sum_t mu_t 1_G_t
          w_t             -             mu_t p on G_t; the score has weights w = sum_t w_t

Algorithm outer   add the group of the B largest p_i^2 until it gains no more than the known ones
                  (the first: of the largest |y'x_i|)
          inner   for the known groups, min 1/2 (sum_t |w_t|)^2 + C2 xi by cutting planes, on the
                  way to 0.3 of the outer gap; the dual of the label cuts is a cone program of
                  cvxopt, mu_t are the multipliers of its cones, divided by their sum.

Certificate   A minimum over some groups bounds the minimum over all from above, the dual value of
          any alpha with the best group of all bounds it from below: the gap of these two ends
          below C2 tol. Solved exactly, the inner problems' values fall from group to group.

Note      B limits each group, not their union. Our interpretation: all have the constant feature.
"""

import numpy as np

from ..core.base import one_or_list
from ..core.extras import import_cvxopt
from ..core.input import Literal, ViewColumns, check_number
from ..mvpo import most_violated_of
from .svm_perf import Learnt, SVMPerf

CONE_TOLERANCES = 1e-9, 1e-6, 1e-3
PATIENCE = 10  # iterations after which a label cut without weight is dropped
NO_WEIGHT = 1e-8  # relative to C2: an interior point has no zeros
INNER = 0.5  # fraction of the gap C2 tol that the inner problems may leave at the end
LOOSE = 0.3  # fraction of the last gap that they may leave before


class FSMulti(SVMPerf):
    """Linear classifier with feature selection that optimises a performance measure (FS_multi).

    Parameters
    ----------
    measure : {"f1", "prbep", "auroc", "error"}, default="f1"; optimised by a structured hinge
    n_features : int, default=10; B, the size of a group of features, or all if there are fewer
    C2 : float, default=100.0; weight of the loss, in the unit of :class:`~mvref.MVPO`
    fit_intercept, intercept_scaling : bool, default=True, and float, default=1.0
        Whether to append a constant feature, which belongs to every group, and its value.
    tol : float, default=1e-2
        Tolerance of the loss; at the end, the duality gap is below C2 tol. A smaller one needs many
        groups.
    max_iter : int, default=5000; maximum number of label cuts, each of which needs a cone program
    n_jobs : int or None, default=None; number of classes trained in parallel (joblib)
    views : sequence or mapping, default=None; widths, slices, indices or names that split a 2-D `X`

    Attributes
    ----------
    coef_ : array (d,), or (n_classes, d) with more than two classes; 0 for features in no group
    intercept_ : float, or array (n_classes,)
        For "prbep" and "auroc", the threshold predicts as many positives as the training set has.
    groups_ : list of int arrays, or a list of lists, per class; features, in the order of search
    n_iter_ : int, number of groups, the maximum over the classes
    primal_curve_, dual_curve_ : arrays, or lists, upper and lower bounds after every group
    dual_gap_ : float, or array (n_classes,), between the best of these bounds
    classes_, n_features_in_ : sorted array of labels, and int, number of columns of all views
    view_names_, view_widths_, view_feature_names_ : lists; name, width, columns of each view

    See Also
    --------
    SVMPerf : The same with all features.

    Notes
    -----
    Provenance: memory. A reconstruction: the abstract describes cutting planes in two layers,
    groups of features outside and labels inside; the formulas are from memory of the literature. It
    requires cvxopt, whose licence is the GPL, version 3: ``pip install "mvref[cvxopt]"``.

    The features of all views are concatenated, and missing views replaced by zeros. Features need
    comparable scales, because large ones are selected first. Sample weights are not supported: the
    measures, except "error", are not sums over samples; see :class:`SVMPerf`.

    Examples
    --------
    >>> from mvref.datasets import load_iris_views
    >>> from mvref.rivals import FSMulti
    >>> data = load_iris_views()
    >>> model = FSMulti("auroc", n_features=1).fit(data.X, data.y == 2)
    >>> [group.tolist() for group in model.groups_]  # columns; 2 and 3 are of the petal
    [[0], [2], [3]]
    """

    def __init__(
        self,
        measure: Literal["f1", "prbep", "auroc", "error"] = "f1",
        *,
        n_features: int = 10,
        C2: float = 100.0,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        tol: float = 1e-2,
        max_iter: int = 5000,
        n_jobs: int | None = None,
        views: ViewColumns | None = None,
    ):
        self.measure, self.n_features, self.C2 = measure, n_features, C2
        self.fit_intercept, self.intercept_scaling = fit_intercept, intercept_scaling
        self.tol, self.max_iter = tol, max_iter
        self.n_jobs, self.views = n_jobs, views

    def _check_parameters(self):
        super()._check_parameters()
        check_number(self.n_features, "n_features", low=1, integer=True)

    def _learn(self, Z, y):
        d = Z.shape[1] - self.fit_intercept
        layers = _Layers(self, Z, y, always=np.arange(d, Z.shape[1]))
        group = _largest_squares(np.asarray(Z.T @ y)[:d], self.n_features)
        upper, lower, gap = [], [], self.C2  # w = 0 is no worse than this
        finest = INNER * self.C2 * self.tol
        while True:
            layers.add(group)
            target = max(finest, LOOSE * gap)
            value, dual, w, p = layers.solve(target)
            group = _largest_squares(p[:d], self.n_features)
            upper.append(value)
            lower.append(dual - max(layers.norm(p, group), layers.largest_norm(p)) ** 2 / 2)
            gap = value - max(lower)
            nothing_new = target == finest and layers.knows(group)
            if gap <= self.C2 * self.tol or layers.n_found >= self.max_iter or nothing_new:
                break
        converged = abs(gap) <= self.C2 * self.tol
        return Learnt(w, np.array(upper), np.array(lower), gap, converged, tuple(layers.groups))

    def _set_fitted(self, tables, signs, learnt):
        super()._set_fitted(tables, signs, learnt)
        self.groups_ = one_or_list([list(one.groups) for one in learnt])


class _Layers:
    """Groups and label cuts, and the cutting planes over labels for these groups."""

    def __init__(self, model, Z, y, always):
        self.Z, self.always = Z, always
        self.C2, self.max_iter = model.C2, model.max_iter
        self.most_violated = most_violated_of(model.measure, y)
        self.groups, self.cuts, self.deltas = [], np.empty((0, Z.shape[1])), np.empty(0)
        self.idle, self.n_found = np.empty(0, dtype=int), 0
        self.value, self.best = np.inf, (np.zeros(Z.shape[1]), 0.0)  # w and its sum_t |w_t|

    def add(self, group):
        if not self.knows(group):
            self.groups.append(group)

    def knows(self, group):
        return any(np.array_equal(group, known) for known in self.groups)

    def norm(self, p, group):
        """Return |p_G|, including the constant feature."""
        return float(np.linalg.norm(p[np.append(group, self.always)]))

    def largest_norm(self, p):
        return max(self.norm(p, group) for group in self.groups)

    def solve(self, target):
        """Return value, alpha'Delta, w and p for these groups, with a gap below the target.

        A cut is searched half-way between the best w so far and the newest, which halves the gap
        or raises the dual, as in :mod:`mvref.mvpo.solver`.
        """
        while True:
            alpha, mu = self._weigh()
            p = alpha @ self.cuts
            newest = mu @ [self.norm(p, group) for group in self.groups]  # sum_t |w_t|
            w, length = (self.best[0] + self._weights(p, mu)) / 2, (self.best[1] + newest) / 2
            slack, delta, c = self.most_violated(np.asarray(self.Z @ w))
            value = length**2 / 2 + self.C2 * max(slack, 0.0)
            if value < self.value:
                self.value, self.best = value, (w, length)
            dual = float(alpha @ self.deltas)
            gap = self.value - (dual - self.largest_norm(p) ** 2 / 2)
            if gap <= target or self.n_found >= self.max_iter:
                return self.value, dual, self.best[0], p
            self.cuts = np.vstack([self.cuts, self.Z.T @ c])
            self.deltas, self.idle = np.append(self.deltas, delta), np.append(self.idle, 0)
            self.n_found += 1

    def _weigh(self):
        """Return alpha and mu, and drop the label cuts that had no weight for a long time."""
        if not len(self.deltas):
            return np.zeros(0), np.full(len(self.groups), 1 / len(self.groups))
        alpha, mu = self._cone_program()
        self.idle = np.where(alpha > NO_WEIGHT * self.C2, 0, self.idle + 1)
        keep = self.idle < PATIENCE
        self.cuts, self.deltas, self.idle = self.cuts[keep], self.deltas[keep], self.idle[keep]
        return alpha[keep], mu

    def _weights(self, p, mu):
        delta = np.zeros(len(p))
        delta[self.always] = 1.0
        for mu_t, group in zip(mu, self.groups, strict=True):
            delta[group] += mu_t
        return delta * p

    def _cone_program(self):
        """Return alpha and mu: min theta^2/2 - alpha'Delta, |p_G_t| = |R_t alpha| <= theta.

        R of the QR decomposition of the cuts on a group has no more rows than there are cuts. In
        units of a = alpha / u and theta / (u r), r the longest cut, all numbers are of order 1.
        """
        K = len(self.deltas)
        columns = [np.append(group, self.always) for group in self.groups]
        roots = [np.linalg.qr(self.cuts[:, own].T, mode="r") for own in columns]
        r2 = max((R**2).sum(axis=0).max() for R in roots) or 1.0
        largest = self.deltas.max() or 1.0
        u = min(self.C2, largest / r2)
        H = np.diag(np.append(np.zeros(K), u * r2 / largest))
        cones = [
            np.vstack([-np.eye(1, K + 1, K), np.pad(-R / np.sqrt(r2), ((0, 0), (0, 1)))])
            for R in roots
        ]
        G = np.vstack([-np.eye(K, K + 1), np.append(np.ones(K), 0.0), *cones])
        h = np.zeros(len(G))
        h[K] = self.C2 / u
        sizes = [len(cone) for cone in cones]
        matrices = H, np.append(-self.deltas / largest, 0.0), G, h
        found = _solve(matrices, {"l": K + 1, "q": sizes, "s": []})
        alpha = u * np.maximum(np.array(found["x"]).ravel()[:K], 0.0)
        alpha *= self.C2 / max(alpha.sum(), self.C2)
        starts = K + 1 + np.cumsum([0, *sizes[:-1]])
        mu = np.maximum(np.array(found["z"]).ravel()[starts], 0.0)
        total = mu.sum()
        return alpha, mu / total if total > 0 else np.full(len(mu), 1 / len(mu))


def _solve(matrices, cones):
    """Solve a cone program as exactly as cvxopt can; the certificate does not rely on it."""
    matrix, solvers = import_cvxopt()
    for tolerance in CONE_TOLERANCES:
        options = dict.fromkeys(("abstol", "reltol", "feastol"), tolerance) | {"show_progress": 0}
        try:
            return solvers.coneqp(*map(matrix, matrices), cones, options=options)
        except (ValueError, ArithmeticError):  # rounding has left the cone
            continue
    told = "FSMulti: the cone program of the groups cannot be solved in double precision"
    raise ValueError(f"{told}. Scale the views to unit variance, or reduce C2.")


def _largest_squares(p, size):
    """Return the sorted positions of the largest p_i^2; the first ones win ties."""
    return np.sort(np.argsort(-(p**2), kind="stable")[:size])
