"""Uniform stability of MVL-SVM and its generalisation bound, printed and corrected.

Theorem 1, Theorem 2 and Corollary 1 of Zantedeschi, Emonet and Sebban (ECML PKDD 2018), built on
O. Bousquet and A. Elisseeff, "Stability and Generalization", JMLR 2002. Chapter: validate, part I.

Symbols   paper    code              meaning
          c, L, V  c, n_landmarks, n_views
          m        n_samples
          M        kernel_bound      sup of |mu_v(x, l)|
          B        intercept_scaling value of the constant feature, 0 for no intercept
          kappa    ``radius``        sup of the norm of (mu(x), B): sqrt(L V M^2 + B^2)
          2 beta/m uniform_stability largest change of a loss when one sample is replaced
          E        loss_range        largest loss of any learnt model on any sample

Corrections and additions (the chapter proves each and shows its counterexample)
    A1, A2    the strong convexity constant: stability is 2 c kappa^2 / m, twice the printed one;
    A3        |theta| <= min(sqrt(c), c kappa), hence E = 1 + min(sqrt(c) kappa, c kappa^2);
    A5        an intercept counts as a constant feature; a free one is not stable at all;
    A6        landmarks drawn from the training sample: ``randomised_stability``;
    A13       the squared hinge, which the authors' code runs, has constants of its own.

The bounds are for two classes. Of K SVMs, one-vs-rest, replacing a sample
changes one sample in each: the loss averaged over the SVMs has the same stability and range.
"""

import warnings

import numpy as np
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.utils import check_random_state

from ..core.extras import import_cvxopt
from ..core.input import (
    ArrayLike,
    BaseEstimator,
    Literal,
    NothingLearntWarning,
    RandomState,
    Views,
    as_numbers,
    check_choice,
    check_number,
    validate_views,
)
from .vectors import check_delta, check_vector


def radius(
    n_landmarks: int, n_views: int, *, kernel_bound: float = 1.0, intercept_scaling: float = 0.0
) -> float:
    """Return kappa = sqrt(L V M^2 + B^2), the largest norm of a projected sample with its constant.

    n_landmarks, n_views: L, V; kernel_bound: M, the largest absolute similarity; intercept_scaling:
    B, the constant feature, or 0 for no intercept.

    >>> from mvref.theory.stability import radius
    >>> radius(3, 3, intercept_scaling=4.0)
    5.0
    """
    for value, name in ((n_landmarks, "n_landmarks"), (n_views, "n_views")):
        check_number(value, name, low=1, integer=True)
    check_number(kernel_bound, "kernel_bound", low=0)
    check_number(intercept_scaling, "intercept_scaling", low=0)
    return float(np.sqrt(n_landmarks * n_views * kernel_bound**2 + intercept_scaling**2))


def uniform_stability(
    c: float,
    n_landmarks: int,
    n_views: int,
    n_samples: int,
    *,
    kernel_bound: float = 1.0,
    intercept_scaling: float = 0.0,
    loss: Literal["hinge", "squared_hinge"] = "hinge",
    version: Literal["corrected", "printed"] = "corrected",
) -> float:
    """Return the uniform stability of MVL-SVM if one sample is replaced (Theorem 1).

    c: weight of the mean loss; n_samples: m; n_landmarks, n_views, kernel_bound, intercept_scaling:
    as in :func:`radius`; loss: "hinge" or "squared_hinge"; version: "corrected", or "printed", the
    paper's of the hinge without an intercept.

    Corrected: ``2 c kappa^2 / m``; for the squared hinge ``8 (1 + A)^2 c kappa^2 / m`` with ``A =
    sqrt(c/2) kappa``. Printed: ``c L V M^2 / m``.

    >>> from mvref.theory.stability import uniform_stability
    >>> [round(uniform_stability(0.2, 1, 3, 10, version=v), 6) for v in ("corrected", "printed")]
    [0.12, 0.06]
    """
    check_number(n_samples, "n_samples", low=1, integer=True)
    scaled, _ = _constants(c, n_landmarks, n_views, kernel_bound, intercept_scaling, loss, version)
    return scaled / n_samples


def loss_range(
    c: float,
    n_landmarks: int,
    n_views: int,
    *,
    kernel_bound: float = 1.0,
    intercept_scaling: float = 0.0,
    loss: Literal["hinge", "squared_hinge"] = "hinge",
    version: Literal["corrected", "printed"] = "corrected",
) -> float:
    """Return E, the largest loss of any learnt model on any sample (Corollary 1).

    c, n_landmarks, n_views, kernel_bound, intercept_scaling, loss, version: as in
    :func:`uniform_stability`. Corrected: ``1 + min(sqrt(c) kappa, c kappa^2)``, for the squared
    hinge ``(1 + sqrt(c/2) kappa)^2``. Printed: ``1 + 2 c sqrt(L V) M``.

    >>> from mvref.theory.stability import loss_range
    >>> loss_range(0.25, 1, 1), loss_range(0.25, 1, 1, version="printed")
    (1.25, 1.5)
    """
    return _constants(c, n_landmarks, n_views, kernel_bound, intercept_scaling, loss, version)[1]


def _constants(c, n_landmarks, n_views, kernel_bound, intercept_scaling, loss, version):
    """Return n_samples times the stability, and the loss range E, of one version and loss."""
    check_number(c, "c", low=0, low_open=True)
    check_choice(loss, "loss", ("hinge", "squared_hinge"))
    check_choice(version, "version", ("corrected", "printed"))
    if version == "printed":
        if loss != "hinge":
            raise ValueError("version='printed' needs loss='hinge': the paper proves no other.")
        intercept_scaling = 0.0  # the paper's proof drops the intercept
    scales = {"kernel_bound": kernel_bound, "intercept_scaling": intercept_scaling}
    kappa = radius(n_landmarks, n_views, **scales)
    if version == "printed":
        return c * kappa**2, 1 + 2 * c * kappa
    if loss == "hinge":
        return 2 * c * kappa**2, float(1 + min(np.sqrt(c) * kappa, c * kappa**2))
    largest = 1 + np.sqrt(c / 2) * kappa  # hinge where |f| <= A; the square has twice this slope
    return float(2 * (2 * largest) ** 2 * c * kappa**2), float(largest**2)


def generalization_bound(
    train_risk: float,
    c: float,
    n_landmarks: int,
    n_views: int,
    n_samples: int,
    delta: float,
    *,
    kernel_bound: float = 1.0,
    intercept_scaling: float = 0.0,
    loss: Literal["hinge", "squared_hinge"] = "hinge",
    version: Literal["corrected", "printed"] = "corrected",
) -> float:
    """Return a bound on the true risk that holds with probability 1 - delta (Corollary 1).

    train_risk: mean *loss* (not error rate) on the training sample; delta: in (0, 1); c,
    n_landmarks, n_views, n_samples, kernel_bound, intercept_scaling, loss, version: as in
    :func:`uniform_stability` -> ``train_risk + s + (2 m s + E) sqrt(log(1/delta) / (2 m))`` with
    the stability s and the loss range E of the version asked for.

    >>> from mvref.theory.stability import generalization_bound
    >>> terms = (0, 1e-3, 200, 3, 896, 0.05)
    >>> [round(generalization_bound(*terms, version=v), 3) for v in ("corrected", "printed")]
    [0.165, 0.093]
    """
    check_number(train_risk, "train_risk", low=0)
    check_delta(delta)
    check_number(n_samples, "n_samples", low=1, integer=True)
    scaled, E = _constants(c, n_landmarks, n_views, kernel_bound, intercept_scaling, loss, version)
    stability = scaled / n_samples
    deviation = np.sqrt(np.log(1 / delta) / (2 * n_samples))
    return float(train_risk + stability + (2 * n_samples * stability + E) * deviation)


def randomised_stability(
    c: float,
    n_landmarks: int,
    n_views: int,
    n_samples: int,
    *,
    kernel_bound: float = 1.0,
    intercept_scaling: float = 0.0,
) -> float:
    """Return the stability on average over landmarks drawn from the training sample (A6).

    The replaced sample is one of the L landmarks with probability L/m; then the map itself changes,
    and the loss can change by its whole range E: ``2 c kappa^2 / m + (L/m) E``, for the hinge. c,
    n_landmarks, n_views, n_samples, kernel_bound, intercept_scaling: as in
    :func:`uniform_stability`.

    >>> from mvref.theory.stability import randomised_stability, uniform_stability
    >>> randomised_stability(0.2, 10, 3, 1000) > uniform_stability(0.2, 10, 3, 1000)
    True
    """
    shared = {"kernel_bound": kernel_bound, "intercept_scaling": intercept_scaling}
    fixed_map = uniform_stability(c, n_landmarks, n_views, n_samples, **shared)
    return fixed_map + n_landmarks / n_samples * loss_range(c, n_landmarks, n_views, **shared)


def exact_hinge_svm(
    Phi: ArrayLike, y: ArrayLike, c: float, *, m: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Solve equation (3) without intercept to machine precision, through its dual (small problems).

    Phi (n, d); y (n,): -1 and +1; c: weight of the mean loss; m: samples in the factor c/m, by
    default n; keep the old m when one is removed -> theta (d,) = sum_i alpha_i y_i mu(x_i), and the
    dual variables alpha (n,), between 0 and c/m. Where cvxopt is installed it solves the problem.

    >>> from mvref.theory.stability import exact_hinge_svm
    >>> theta, alpha = exact_hinge_svm([[1.0], [1.0]], [1, 1], c=0.5)
    >>> theta.round(6), alpha.round(6)
    (array([0.5]), array([0.25, 0.25]))
    """
    Phi, y = as_numbers(Phi, "Phi"), check_vector(y, "y")
    n = len(y)
    if Phi.ndim != 2 or len(Phi) != n or not np.isfinite(Phi).all():
        raise ValueError(f"Phi must be {n} rows of finite numbers, got shape {Phi.shape}.")
    Z = Phi * y[:, None]
    check_number(c, "c", low=0, low_open=True)
    box = c / check_number(n if m is None else m, "m", low=1, integer=True)
    # variables in units of the box, so that the solver's tolerances mean the same for every c
    H = box**2 * (Z @ Z.T) + 1e-13 * np.eye(n)
    try:
        matrix, solvers = import_cvxopt()
    except ImportError:  # in a browser, for instance
        alpha = box * _solve_in_box(H, box)
        return Z.T @ alpha, alpha
    options = {"show_progress": False, "abstol": 1e-13, "reltol": 1e-13, "feastol": 1e-13}
    solution = solvers.qp(
        matrix(H),
        matrix(-box * np.ones(n)),
        matrix(np.vstack([np.eye(n), -np.eye(n)])),
        matrix(np.r_[np.ones(n), np.zeros(n)]),
        options=options,
    )
    alpha = box * np.clip(np.array(solution["x"]).ravel(), 0.0, 1.0)
    return Z.T @ alpha, alpha


def _solve_in_box(H, box):
    """Minimise x'Hx/2 - box sum(x) over 0 <= x <= 1: L-BFGS-B, then Newton on free variables."""
    x = minimize(
        lambda x: (x @ H @ x / 2 - box * x.sum(), H @ x - box), np.zeros(len(H)), jac=True,
        method="L-BFGS-B", bounds=[(0.0, 1.0)] * len(H),
        options={"maxcor": 50, "maxiter": 10_000, "maxfun": 100_000, "ftol": 0.0, "gtol": 1e-12},
    ).x  # fmt: skip
    for _ in range(len(H)):
        slope = H @ x - box
        free = ~(((x <= 1e-9) & (slope >= 0)) | ((x >= 1 - 1e-9) & (slope <= 0)))
        step = np.linalg.lstsq(H[np.ix_(free, free)], -slope[free], rcond=None)[0]
        new = x.copy()
        new[free] = np.clip(x[free] + step, 0.0, 1.0)
        if np.abs(new - x).max() <= 1e-15:
            break
        x = new
    return x


def pointwise_loss(
    scores: ArrayLike, y: ArrayLike, loss: Literal["hinge", "squared_hinge"] = "hinge"
) -> np.ndarray:
    """Return max(0, 1 - y f), or its square.

    scores, y: values f(x), and labels -1 and +1; loss: "hinge" or "squared_hinge".

    >>> import numpy as np
    >>> from mvref.theory.stability import pointwise_loss
    >>> pointwise_loss(np.array([2.0, 0.5, -1.0]), 1)
    array([0. , 0.5, 2. ])
    """
    check_choice(loss, "loss", ("hinge", "squared_hinge"))
    margin_error = np.maximum(0.0, 1.0 - as_numbers(y, "y") * as_numbers(scores, "scores"))
    return margin_error if loss == "hinge" else margin_error**2


def measure_stability(
    estimator: BaseEstimator,
    X: Views,
    y: ArrayLike,
    *,
    n_replacements: int | None = None,
    change: Literal["replace", "remove"] = "replace",
    X_test: Views | None = None,
    random_state: RandomState | None = None,
) -> float:
    """Measure the largest change of a loss if one training sample changes.

    The landmarks are drawn once and kept, as the theorem assumes. A sample is replaced by itself
    with the other label, the change with the largest effect, or removed with c/m unchanged. The
    result is a lower bound on the stability, because only some changes and test points are tried.

    estimator: MVLSVM; take ``tol=1e-8`` or less, since a solution within the default tolerance can
    be further from the minimum than the bound when c is small; X, y: m samples of two classes;
    n_replacements: samples to change, drawn by `random_state` without replacement, by default all;
    change: "replace" or "remove"; X_test: where losses are compared, with both labels, by default
    X.

    >>> import numpy as np
    >>> from mvref import MVLSVM
    >>> from mvref.theory.stability import measure_stability
    >>> X, y = np.ones((10, 2)), np.arange(10) % 2  # all points equal: the worst case
    >>> model = MVLSVM(n_landmarks=1, c=0.2, fit_intercept=False, tol=1e-10, random_state=0)
    >>> round(measure_stability(model, X, y, n_replacements=3, random_state=0), 6)
    0.04
    """
    options = {"n_replacements": n_replacements, "change": change, "X_test": X_test}
    return float(loss_changes(estimator, X, y, random_state=random_state, **options).max())


def loss_changes(
    estimator: BaseEstimator,
    X: Views,
    y: ArrayLike,
    *,
    n_replacements: int | None = None,
    change: Literal["replace", "remove"] = "replace",
    X_test: Views | None = None,
    random_state: RandomState | None = None,
) -> np.ndarray:
    """Return the changes whose maximum is :func:`~mvref.theory.stability.measure_stability`.

    estimator, X, y, n_replacements, change, X_test, random_state: as there -> absolute changes
    (n_replacements, n_test, 2), under label -1 and +1.

    >>> import numpy as np
    >>> from mvref import MVLSVM
    >>> from mvref.theory.stability import loss_changes
    >>> X, y = np.ones((10, 2)), np.arange(10) % 2
    >>> model = MVLSVM(n_landmarks=1, c=0.2, fit_intercept=False, tol=1e-10, random_state=0)
    >>> loss_changes(model, X, y, n_replacements=3, random_state=0).shape
    (3, 10, 2)
    """
    check_choice(change, "change", ("replace", "remove"))
    if not hasattr(estimator, "fit_latent"):
        raise ValueError(f"estimator must be an MVLSVM, got {estimator!r}.")
    with warnings.catch_warnings(action="ignore", category=NothingLearntWarning):
        model = clone(estimator).fit(X, y)  # equal samples are the worst case
    if len(model.classes_) != 2:
        raise ValueError(f"measure_stability needs two classes in y, got {len(model.classes_)}.")
    Phi = model.projection_.transform(validate_views(model, X, reset=False))
    T = Phi if X_test is None else model.projection_.transform(X_test)
    codes = np.searchsorted(model.classes_, y)
    if min(counts := np.bincount(codes).tolist()) < 2:
        raise ValueError(
            f"measure_stability needs at least two samples of each class in y, got {counts}."
        )
    m = len(codes)
    n_replacements = m if n_replacements is None else n_replacements
    check_number(n_replacements, "n_replacements", low=1, high=m, integer=True)
    chosen = check_random_state(random_state).choice(m, n_replacements, replace=False)

    def losses(model):
        """Return the losses on T, under labels -1 and +1."""
        scores = T @ model.coef_[0] + model.intercept_[0]
        return pointwise_loss(scores[:, None], np.array([-1.0, 1.0]), model.loss)

    before, changes = losses(model), []
    for i in chosen:
        others = np.arange(m) != i
        if change == "replace":
            data = Phi, np.where(others, codes, 1 - codes)
        else:
            data = Phi[others], codes[others]
        model.fit_latent(*data, m=m)
        changes.append(np.abs(losses(model) - before))
    return np.array(changes)
