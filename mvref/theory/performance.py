"""Bounds of MVPO: on the loss by the slack, on view disagreement, and on the iterations.

Wang, Tsang and Gao (AAAI 2016) prove no theorem on generalisation. They state that the slack bounds
the loss of the training sample, Eq. (9) to (12); that Eq. (5) measures how far the views disagree;
and that cutting planes terminate. The bound for their loop, as we know it, is that of T. Joachims,
T. Finley and C.-N. Yu, "Cutting-plane training of structural SVMs", Machine Learning 77, 2009,
whose text was not at hand; Prove, part III, has ours. Chapter: validate, part III.

Symbols   paper    code       meaning
          xi       slack      max over y' of Delta(y', y) - w' pi_y'
          u        ``u``      (n, V), scores of the views, u_ij = w_j' x_ij + b_j
          Lambda   -          w' Lambda w = sum of the squared disagreements (Eq. 6)
          epsilon  ``tol``    of the slack; the gap of the objective ends below C2 tol
          -        R          largest |pi_y'| in the norm of M^-1, M = I + C1 Lambda
          -        leverage   x_i' M^-1 x_i of a sample

Corrections (the chapter shows the counterexamples)
    P3        the maximum includes y' = y, or it may be negative;
    P5        each measure has its own prediction rule, and the slack bounds the loss of this rule;
    Loop      the paper's queries the newest point, ours half-way: see ``iteration_bound``.
"""

import math

import numpy as np
from scipy.linalg import cho_solve

from ..core.input import ArrayLike, Literal, as_numbers, check_choice, check_number
from ..mvpo import MEASURES, DualMetric, PrimalMetric, most_violated_of
from .vectors import check_vector


def surrogate_slack(
    s: ArrayLike,
    y: ArrayLike,
    measure: Literal["f1", "fbeta", "prbep", "auroc", "error"],
    beta: float = 1.0,
) -> float:
    """Return the slack of scores, which bounds the loss of the training set (equations 9 and 10).

    The loss is 1 - measure of the *matching* rule of prediction: the sign of the score for "f1",
    "fbeta" and "error" (0 is positive), the P best scores for "prbep", their order for "auroc".

    s (n,): scores Xw, for a model with ``normalize`` times ``mvref.mvpo.scale_of``; y (n,): -1 and
    +1, both present; measure: one of these five; beta: of "fbeta" -> max(0, v) with the value v of
    the most violated constraint (Eq. 16).

    >>> from mvref.theory.performance import surrogate_slack
    >>> surrogate_slack([0.5, -0.125, 0.125, -0.5], [1, 1, -1, -1], "f1")  # 1 - F1 is 0.5
    1.0
    """
    check_choice(measure, "measure", list(MEASURES))
    y, s = check_vector(y, "y"), check_vector(s, "s")
    return max(0.0, most_violated_of(measure, y, normalize=False, beta=beta)(s)[0])


def view_disagreement(u: ArrayLike, observed: ArrayLike | None = None) -> float:
    """Return the consistency term of equation (5), 1/2 w' Lambda w, from the scores of the views.

    u (n, V): scores with their constants, finite where a view is observed; observed (n, V): False
    where a sample misses the view, by default where `u` is NaN -> ``1/2 sum_i m_i sum_j (u_ij -
    mean_j u_ij)^2`` over the m_i views of sample i.

    >>> from mvref.theory.performance import view_disagreement
    >>> view_disagreement([[1.0, 3.0, 2.0]])  # (4 + 1 + 1) / 2
    3.0
    """
    u = as_numbers(u, "u")
    if u.ndim != 2 or u.size == 0:
        raise ValueError(f"u must be a table (n, V) of scores, got shape {u.shape}.")
    observed = ~np.isnan(u) if observed is None else np.asarray(observed)
    if observed.shape != u.shape or observed.dtype != bool:
        raise ValueError(
            f"observed must be a boolean table {u.shape}, got {observed.dtype} {observed.shape}."
        )
    if not np.isfinite(u[observed]).all():
        raise ValueError("u must be finite where a view is observed.")
    u, m = np.where(observed, u, 0.0), observed.sum(axis=1)
    deviation = np.where(observed, u - u.sum(axis=1, keepdims=True) / np.maximum(m, 1)[:, None], 0)
    return float(m @ (deviation**2).sum(axis=1)) / 2


def leverages(metric: DualMetric | PrimalMetric) -> np.ndarray:
    """Return the leverages x_i' M^-1 x_i of the training samples, (n,).

    metric: a PrimalMetric or DualMetric of :mod:`mvref.mvpo.metric`. For C1 = 0 they are the
    squared norms |x_i|^2, and less for C1 > 0.

    >>> import numpy as np
    >>> from mvref.mvpo.metric import PrimalMetric
    >>> from mvref.theory.performance import leverages
    >>> views, seen = [np.array([[1.0]]), np.array([[2.0]])], np.array([[True, True]])
    >>> leverages(PrimalMetric(views, seen, 0.0)), leverages(PrimalMetric(views, seen, 1.0))
    (array([5.]), array([3.5]))
    """
    if not isinstance(metric, DualMetric | PrimalMetric):
        raise ValueError(f"metric must be a PrimalMetric or a DualMetric, got {metric!r}.")
    if isinstance(metric, DualMetric):
        return metric.gram.diagonal().copy()
    X = metric.X if isinstance(metric.X, np.ndarray) else metric.X.toarray()
    solved = X if metric.factor is None else cho_solve(metric.factor, X.T).T
    return np.einsum("ik,ik->i", X, solved)


def cut_radius(
    metric: DualMetric | PrimalMetric,
    y: ArrayLike,
    measure: Literal["f1", "fbeta", "prbep", "auroc", "error"] = "f1",
    *,
    scale: float = 1.0,
) -> float:
    """Return a bound of R, the largest norm |pi_y'|_{M^-1} of all constraints.

    A constraint is pi = X'c with ``|c_i| <= 2``; for "auroc", which has pairs, ``|c_i| <= N`` for a
    positive and P for a negative. By the triangle inequality R <= sum_i max |c_i| |x_i|_{M^-1},
    with equality where all x_i point in one direction.

    metric: as in :func:`leverages`; y (n,): -1 and +1, both present; measure: as in
    :func:`surrogate_slack`; scale: t of ``mvref.mvpo.scale_of``, for a model with ``normalize``.

    >>> import numpy as np
    >>> from mvref.mvpo.metric import PrimalMetric
    >>> from mvref.theory.performance import cut_radius
    >>> metric = PrimalMetric([np.array([[3.0], [-1.0]])], np.ones((2, 1), bool), 0.0)
    >>> cut_radius(metric, [1, -1])  # y' = (-1, 1): pi = 2 (3 + 1)
    8.0
    """
    check_choice(measure, "measure", list(MEASURES))
    check_number(scale, "scale", low=0, low_open=True)
    norms, y = np.sqrt(np.maximum(leverages(metric), 0.0)), as_numbers(y, "y")
    labels = np.unique(y).tolist()
    if y.shape != norms.shape or labels != [-1, 1]:
        raise ValueError(
            f"y must hold {len(norms)} labels -1 and +1, both present, got shape {y.shape} with "
            f"{labels[:5]}."
        )
    P, N = (y == 1).sum(), (y == -1).sum()
    largest = np.where(y == 1, N, P) if measure == "auroc" else 2
    return float(scale * (largest * norms).sum())


def iteration_bound(
    R: float,
    C2: float,
    tol: float,
    loss_max: float = 1.0,
    *,
    query: Literal["halfway", "newest"] = "halfway",
) -> int:
    """Return a bound of the number of iterations of cutting planes, ``n_iter_`` of a fit.

    R: largest norm of a constraint, or a bound of it; C2, tol, loss_max: those of the fit, `tol`
    being epsilon, and the largest Delta; query: where the loop asks for the next constraint,
    "halfway" between its best and its newest point, as our solver does, or at the "newest", as the
    paper does.

    "newest": ``ceil(log2(loss_max / 4 R^2 C2)) + ceil(16 R^2 C2 / tol)``, no logarithm below 0;
    "halfway": ``ceil(log_4/3(loss_max / 8 R^2 C2)) + ceil(32 R^2 C2 / tol)``. A second term below
    4, of a large ``tol``, is replaced by 4, and R to match. Prove, part III, has "halfway": either
    the gap A of the best point, ``C2 loss_max`` at the start, falls to 3/4 A or less, or the dual
    value rises by ``min(A / 4, A^2 / (32 R^2 C2^2))`` or more. Both bounds are far above the
    iterations needed: sanity checks, not forecasts. Their factor of 2 does not reflect the loops;
    in practice half-way is faster.

    >>> from mvref import MVPO
    >>> from mvref.core.input import view_features
    >>> from mvref.datasets import load_iris_views
    >>> from mvref.mvpo.metric import PrimalMetric
    >>> from mvref.theory.performance import cut_radius, iteration_bound
    >>> data = load_iris_views()
    >>> model = MVPO("f1", C1=0.1, C2=1.0).fit(data.X, data.y == 2)
    >>> metric = PrimalMetric(view_features(data.X, 1.0), data.X.observed, 0.1 / 150)
    >>> R = cut_radius(metric, 2 * (data.y == 2) - 1, scale=1 / 150)
    >>> model.n_iter_ <= iteration_bound(R, C2=1.0, tol=1e-3)
    True
    >>> iteration_bound(1.0, C2=1.0, tol=0.01, query="newest")
    1600
    """
    check_number(R, "R", low=0)
    for value, name in ((C2, "C2"), (tol, "tol"), (loss_max, "loss_max")):
        check_number(value, name, low=0, low_open=True)
    check_choice(query, "query", ("halfway", "newest"))
    factor, base = (4, 2) if query == "newest" else (8, 4 / 3)
    large = max(factor * R**2 * C2, tol)  # the gap in units of C2 above which it falls linearly
    halvings = math.log(loss_max / large) / math.log(base)
    return max(0, math.ceil(halvings)) + math.ceil(4 * large / tol)
