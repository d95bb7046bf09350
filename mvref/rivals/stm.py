"""Support tensor machines: a product of linear functions, one per view.

D. Tao, X. Li, W. Hu, S. Maybank, X. Wu, "Supervised tensor learning", ICDM 2005; B. Cao, L. He,
X. Kong, P. S. Yu, Z. Hao, A. B. Ragin, "Tensor-based multi-view feature selection with applications
to brain diseases", ICDM 2014; compared with MVM in section 5.2 of Cao, Zhou and Yu
(2015). Chapters: part IV of the book.

Problem   rank one:  f = prod_v w_v'x^(v) + b,  the tensor W = w_1 o ... o w_V    (Eq. 25)
          min over w_1, ..., w_V, b of
          1/2 prod_v |w_v|^2 + 1/2 (b/B)^2 + C sum_i max(0, 1 - y_i f(x_i))
          product:  f = <W, x^(1) o ... o x^(V)> + b,  W of any rank
          min over W, b of  1/2 |W|^2 + C sum_i max(0, 1 - y_i f(x_i))
          Weights of the samples multiply the terms of the sums over i.

Symbols   here     code            shape
          w_v      coef_[v]        (d_v,), all of one norm
          eta      -               prod_{u != v} |w_u|^2, always 1: see below
          t_i      ``t``           (n,), prod_{u != v} w_u'x_i^(u)
          b, B     intercept_, 1   the intercept is penalised in the rank-one model

Algorithm rank one: for one view v at a time, with the others fixed, the problem is the linear SVM
          on the features t_i x_i^(v) / eta^(1/2), with weights eta^(1/2) w_v, solved by Newton's
          method as exactly as the last sweep's gain requires. Every w_v is divided
          by its norm afterwards, so that eta = 1; the next view absorbs the norm. No step makes
          the objective larger. It has bad local minima, and more of them with more views: the
          best of ``n_init`` random starts is kept.
          product: |W| is the norm of the kernel prod_v <x^(v), x'^(v)>, so that this
          is a convex problem for a kernel SVM, whose intercept is not penalised.

Note      The rank-one model is a multi-view machine with one factor and zero bias rows (and b).
"""

import warnings
from dataclasses import dataclass
from math import prod

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC
from sklearn.utils import check_random_state

from ..core.base import MultiViewClassifier, one_against_rest, one_or_array, one_or_list
from ..core.input import (
    ClassWeight,
    Literal,
    RandomState,
    ViewColumns,
    Weighted,
    check_choice,
    check_number,
    warn_caller,
    warn_if_few_complete,
)
from ..core.kernels import linear
from ..core.newton_svm import Rows, hinge
from ..core.starts import best_starts
from .common import contiguous_views

SVM_TOL, SVM_ITER = 1e-6, 2000  # minimum gap, and maximum steps, of the linear SVM of a view
GAP_SHARE = 0.01  # gap that a linear SVM may leave, relative to the gain of the last sweep
KERNEL_SVM_ITER = 1_000_000  # libsvm may not stop if products differ by orders of magnitude
LEARNT = ("coef_", "objectives_", "dual_coef_", "support_", "support_views_")


@dataclass(frozen=True)
class Learnt:
    """A rank-one model, and the course of its training."""

    w: list
    b: float
    curve: np.ndarray  # the objective of f = 0, then after every step
    n_sweeps: int
    converged: bool  # the last sweep gained at most tol, and its linear SVMs converged


def rank_one_machine(views, y, *, C, tol, max_iter, rng, weights=None):
    """Learn a rank-one model for labels -1 and +1 from one random start.

    weights (n,): of the samples in the summed loss, None for 1.

    >>> x, z = np.array([[[1.0], [1.0], [-1.0], [-1.0]], [[1.0], [-1.0], [1.0], [-1.0]]])
    >>> rng = np.random.RandomState(0)
    >>> xor = rank_one_machine([x, z], (x * z)[:, 0], C=10.0, tol=1e-6, max_iter=9, rng=rng)
    >>> round(float(np.prod(xor.w)), 4), xor.n_sweeps
    (1.0, 3)
    """
    w = [rng.standard_normal(view.shape[1]) for view in views]
    w = [w_v / np.linalg.norm(w_v) for w_v in w]
    S = np.array([view @ w_v for view, w_v in zip(views, w, strict=True)])
    with np.errstate(over="ignore"):
        finite = np.isfinite(np.prod(S, axis=0)).all()
    if not finite:
        raise ValueError("X has values too large for products of views. Standardise the views.")
    weights = np.ones(len(y)) if weights is None else weights
    norm, b, curve, converged, sweep = 0.0, 0.0, [C * weights.sum()], False, 0
    svms, gain = [None] * len(views), 1.0
    while not converged and sweep < max_iter:
        sweep, before, exact = sweep + 1, curve[-1], True
        gap = max(SVM_TOL, GAP_SHARE * gain)
        for v, view in enumerate(views):
            t = np.prod(np.delete(S, v, axis=0), axis=0)  # eta = 1
            svm = svms[v] = _linear_svm(view, t, y, C * weights, gap, svms[v])
            new, new_b = svm.w[:-1], float(svm.w[-1])
            exact &= svm.gap <= gap
            s = view @ new
            losses = weights * np.maximum(0, 1 - y * (t * s + new_b))
            value = (new @ new + new_b * new_b) / 2 + C * losses.sum()
            if not np.isfinite(value):
                raise ValueError(
                    f"C={C:g} times sample_weight, up to {weights.max():g}, is so large that the "
                    "objective overflows. Reduce C or the weights."
                )
            if not value < curve[-1]:  # the gain is below the accuracy of the linear SVM
                continue
            curve.append(value)
            norm, b = np.linalg.norm(new), new_b
            if norm == 0:  # the score is constant, and no step can change that
                break
            w[v], S[v] = new / norm, s / norm
        gain = (before - curve[-1]) / before
        converged = norm == 0 or (gain <= tol and gap <= max(SVM_TOL, GAP_SHARE * tol))
    share = norm ** (1 / len(views))
    return Learnt([share * w_v for w_v in w], b, np.array(curve), sweep, converged and exact)


def _linear_svm(view, t, y, C, gap, before):
    """Solve the linear SVM on t_i x_i, B = 1, starting at the last sweep's solution, if any."""
    if sparse.issparse(view):
        rows = Rows(
            sparse.hstack([sparse.diags_array(t) @ view, np.ones((len(t), 1))], format="csr")
        )
    else:
        rows = Rows(np.column_stack([t[:, None] * view, np.ones(len(t))]))
    start = None if before is None else (before, C)
    return hinge(rows, y, C, tol=gap, max_iter=SVM_ITER, start=start)


def product_kernel(views, others):
    """Return the kernel prod_v <x^(v), x'^(v)> (n, p) of the full tensor.

    >>> views = [np.array([[1.0, 2.0]]), np.array([[3.0]])]
    >>> product_kernel(views, views)  # (1 + 4) * 9
    array([[45.]])
    """
    return prod(map(linear, views, others))


class STMClassifier(Weighted, MultiViewClassifier):
    """Support tensor machine: an SVM on the products of the features of all views.

    Parameters
    ----------
    kernel : {"rank_one", "product"}, default="rank_one"
        "rank_one": a product of linear functions, learnt one view at a time. "product": a tensor of
        any rank, learnt by a kernel SVM with n^2 products.
    C : float, default=1.0; weight of the summed hinge loss
    n_init : int, default=5; random starts of "rank_one"; the smallest objective is kept
    tol : float, default=1e-4
        Relative gain of the last sweep over the views; for "product", tolerance of the kernel SVM.
    max_iter : int, default=100; maximum number of sweeps; the kernel SVM may take a million steps
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply ``sample_weight`` and the terms of the summed loss.
    n_jobs : int or None, default=None; classes and starts trained in parallel processes (joblib)
    views : sequence or mapping, default=None; widths, slices, indices or names that split a 2-D `X`
    random_state : int, RandomState instance or None, default=None; seed of the random starts

    Attributes
    ----------
    coef_ : list of V arrays (d_v,), or (n_classes, d_v), rank one only: w_v, all of one norm
    dual_coef_ : array (n_support,), or (n_classes, n_support), product only: alpha_i y_i
    support_ : int array (n_support,), product only: samples with a weight in any class
    support_views_ : list of V arrays or CSR matrices (n_support, d_v), product only
    intercept_ : float, or array (n_classes,), b
    objective_curve_ : array, or a list of them
        Objective of f = 0, then after every accepted step of the best start. Product: at the end.
    objectives_ : array (n_init,), or (n_classes, n_init), rank one only: of every start
    n_iter_ : int, number of sweeps, or of the kernel SVM's steps; the maximum over the classes
    classes_, n_features_in_ : sorted array of labels, and int, number of columns of all views
    view_names_, view_widths_, view_feature_names_ : lists; name, width, columns of each view

    See Also
    --------
    mvref.MVMClassifier : Products of all orders, with several factors.
    FMClassifier : Pairs of features.

    Notes
    -----
    Provenance: memory. A reconstruction: Cao, Zhou and Yu (2015) describe the score, a tensor of
    rank one; objective and alternation are from memory of Tao, Li, Hu, Maybank and Wu, ICDM 2005,
    and Cao, He, Kong, Yu, Hao and Ragin, ICDM 2014.

    Several classes are handled one-vs-rest. Products of many features are large or small, so the
    rows of a view should have mean squared norm about 1: divide standardised features by the root
    of their number. If a view is missing, the products are zero and the score is b; so the products
    are learnt from samples with all views only, and ``fit`` raises an error if there is none.

    Examples
    --------
    >>> import numpy as np
    >>> from mvref.rivals import STMClassifier
    >>> x, z = np.random.RandomState(0).normal(size=(2, 200, 1))
    >>> model = STMClassifier(random_state=0).fit([x, z], (x * z)[:, 0] > 0)
    >>> bool(model.score([x, z], (x * z)[:, 0] > 0) > 0.97)
    True
    """

    _learnt = "intercept_"

    def __init__(
        self,
        kernel: Literal["rank_one", "product"] = "rank_one",
        *,
        C: float = 1.0,
        n_init: int = 5,
        tol: float = 1e-4,
        max_iter: int = 100,
        class_weight: ClassWeight | None = None,
        n_jobs: int | None = None,
        views: ViewColumns | None = None,
        random_state: RandomState | None = None,
    ):
        self.kernel, self.C, self.n_init = kernel, C, n_init
        self.tol, self.max_iter = tol, max_iter
        self.class_weight, self.n_jobs = class_weight, n_jobs
        self.views, self.random_state = views, random_state

    def _fit(self, X, codes, weights):
        """Learn the tensor."""
        n_complete = X.observed.all(axis=1).sum()
        if n_complete == 0:
            raise ValueError(
                f"STMClassifier needs training samples that have all the views {X.names}, and "
                "there is none: a product of views is 0 if one is missing. Select views that some "
                "samples have together, with X.select, or use a method with one classifier per "
                "view, such as PerViewSVM."
            )
        told = "products of views are 0 for all others: select other views with X.select"
        warn_if_few_complete(n_complete, X.n_samples, told)
        views = contiguous_views(X)
        signs = one_against_rest(codes, len(self.classes_))
        for name in LEARNT:  # from a fit with the other kernel
            vars(self).pop(name, None)
        learn = self._fit_rank_one if self.kernel == "rank_one" else self._fit_product
        learn(views, signs, weights)

    def _fit_rank_one(self, views, signs, weights):
        rng = check_random_state(self.random_state)
        seeds = rng.randint(2**31, size=(len(signs), self.n_init))
        problems = [(views, y, weights) for y in signs]
        kept, objectives, note = best_starts(self._solve, problems, seeds, n_jobs=self.n_jobs)
        self.coef_ = [one_or_array(w) for w in zip(*(one.w for one in kept), strict=True)]
        self.intercept_ = one_or_array([one.b for one in kept])
        self.objective_curve_ = one_or_list([one.curve for one in kept])
        self.objectives_ = one_or_array(objectives)
        self.n_iter_ = max(one.n_sweeps for one in kept)
        self._warn_unless(all(one.converged for one in kept), note)

    def _solve(self, seed, views, y, weights):
        """Learn a rank-one model from the start that `seed` draws, for ``best_starts``."""
        options = {"C": self.C, "tol": self.tol, "max_iter": self.max_iter, "weights": weights}
        one = rank_one_machine(views, y, **options, rng=np.random.RandomState(seed))
        return one, one.curve[-1], one.converged

    def _fit_product(self, views, signs, weights):
        with np.errstate(over="ignore", invalid="ignore"):
            K = product_kernel(views, views)
        if not np.isfinite(K).all():
            raise ValueError("X has values too large for products of views. Standardise the views.")
        # a seed changes nothing, but without one SVC draws from numpy's global generator
        options = {"kernel": "precomputed", "max_iter": KERNEL_SVM_ITER, "random_state": 0}
        svm = SVC(C=self.C, tol=self.tol, **options)
        machines = Parallel(self.n_jobs)(delayed(_kernel_svm)(svm, K, y, weights) for y in signs)
        beta, intercept, curves, n_steps = zip(*machines, strict=True)
        beta = np.array(beta)
        self.support_ = np.flatnonzero(beta.any(axis=0))
        self.support_views_ = [view[self.support_] for view in views]
        self.dual_coef_ = one_or_array(beta[:, self.support_])
        self.intercept_ = one_or_array(intercept)
        self.objective_curve_ = one_or_list(curves)
        self.n_iter_ = max(n_steps)
        self._warn_unless(self.n_iter_ < KERNEL_SVM_ITER)

    def _warn_unless(self, converged, note=""):
        if not converged:
            warn_caller(
                f"STMClassifier did not converge in {self.n_iter_} iterations. Scale the rows of "
                f"every view to norm 1, reduce C={self.C:g}, or increase "
                f"max_iter={self.max_iter} or tol={self.tol:g}.{note}"
            )

    def _scores(self, X):
        views = contiguous_views(X)
        with np.errstate(over="ignore", invalid="ignore"):
            if self.kernel == "product":
                K = product_kernel(views, self.support_views_)
                scores = K @ np.atleast_2d(self.dual_coef_).T + self.intercept_
            else:
                weights = zip(views, self.coef_, strict=True)
                s = [view @ np.atleast_2d(w).T for view, w in weights]
                scores = np.prod(s, axis=0) + self.intercept_
        if not np.isfinite(scores).all():
            raise ValueError("X has values too large for products of views.")
        return scores

    def _check_parameters(self):
        check_choice(self.kernel, "kernel", ("rank_one", "product"))
        check_number(self.C, "C", low=0, low_open=True)
        check_number(self.tol, "tol", low=0, low_open=True)
        for name in ("n_init", "max_iter"):
            check_number(getattr(self, name), name, low=1, integer=True)


def _kernel_svm(svm, K, y, weights):
    """Return alpha_i y_i of all samples, the intercept, the objective, and the number of steps."""
    machine = clone(svm)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the caller warns
        machine.fit(K, y, sample_weight=weights)
    beta, b = np.zeros(len(y)), float(machine.intercept_[0])
    beta[machine.support_] = machine.dual_coef_[0]
    s = K @ beta
    losses = np.maximum(0, 1 - y * (s + b)) * (1.0 if weights is None else weights)
    objective = beta @ s / 2 + svm.C * losses.sum()
    return beta, b, np.array([objective]), int(np.max(machine.n_iter_))
