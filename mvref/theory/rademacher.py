"""Rademacher complexity of kernel classes, the margin bound, and the printed bound that fails.

Section 4.1 of Z. Wang, S. Chen and D. Gao, "A novel multi-view classifier based on Nystrom
approximation" (2011), built on P. L. Bartlett and S. Mendelson, "Rademacher and Gaussian
complexities: risk bounds and structural results", JMLR 3, 2002. The margin bound is that of
M. Mohri, A. Rostamizadeh and A. Talwalkar, "Foundations of Machine Learning", in the paper's
convention 2/n; :mod:`mvref.theory.coverage` counts how often it holds. Chapters: part V.

Symbols   paper    code           meaning
          G        ``K``          Gram matrix k(x_i, x_j) without label signs, of the n samples
          -        ``K`` = F      its factor (n, r), K = F F', with ``factor=True``
          B        ``B``          bound of the norm |f|_k of a function; B^2 >= Gamma' G Gamma
          w_0      ``w0_max``     bound of the intercept |w_0|; the paper's bound omits it
          R_n      complexity     mean over random signs of sup 2/n sum_i sigma_i f(x_i) (Eq. 13)
          -        ``margins``    y_i f(x_i)
          -        ``rho``        margin below which a sample costs, at most 1

The class is the ball {f : |f|_k <= B}, with intercepts |w_0| <= w0_max. A decision function
sum_p mu_p f_p of several Nystrom views lies in the ball of radius max_p |f_p|_k of the one
kernel k, and |f_p|_k is the length of the weights beta_p: no factor M, whatever the components.

Corrections and additions (the chapter shows the counterexamples)
    N11       Eq. (15) is about classes of signs, so that (18) does not follow from (16), and fails:
              rescaling f changes no sign and lets (18) vanish. ``margin_bound`` replaces (18);
    N12       2 B sqrt(E tr G) / n in Eq. (17); printed is sqrt(n) times larger, true but constant;
    N13       the intercept adds 2 w0_max / sqrt(n);
    N17       B is fixed, as in the paper; one off the sample pays a union: ``data_dependent=True``.
"""

import numpy as np
from sklearn.utils import check_random_state

from ..core.input import ArrayLike, Literal, RandomState, as_numbers, check_choice, check_number
from .gram import gram_matrix, gram_trace, kernel_alignment  # noqa: F401, the last for users
from .vectors import check_delta

BLOCK = 2**22  # random signs held in memory at a time


def kernel_class_bound(
    K: ArrayLike, B: float, *, w0_max: float = 0.0, factor: bool = False
) -> float:
    """Return the bound of the empirical Rademacher complexity of a kernel ball (equation 16).

    K: Gram matrix (n, n), or its diagonal (n,), which is all that is used, or with `factor` an F
    (n, r) of the Gram matrix F F'; B, w0_max: radius of the ball, and largest intercept -> ``(2 /
    n) (B sqrt(sum_i k(x_i, x_i)) + w0_max sqrt(n))``. The complexity without intercept is at least
    1/sqrt(2) of this (Kahane and Khinchine).

    >>> from mvref.theory.rademacher import kernel_class_bound
    >>> kernel_class_bound([1.0] * 100, B=1.0), kernel_class_bound([1.0] * 100, B=1.0, w0_max=0.5)
    (0.2, 0.3)
    """
    check_number(B, "B", low=0)
    check_number(w0_max, "w0_max", low=0)
    return _class_bound(*gram_trace(K, factor), B, w0_max)


def empirical_complexity(
    K: ArrayLike,
    B: float,
    *,
    w0_max: float = 0.0,
    n_draws: int = 1000,
    random_state: RandomState | None = None,
    factor: bool = False,
) -> tuple[float, float]:
    """Return the empirical Rademacher complexity of a kernel ball by Monte Carlo (equation 13).

    The supremum over the ball is known for each sigma, by the Cauchy-Schwarz inequality: ``2/n (B
    |F' sigma| + w0_max |sum_i sigma_i|)``, with ``|F' sigma|^2 = sigma' K sigma``.

    K (n, n): positive semi-definite, or with `factor` an F (n, r): O(n r) for a draw instead of
    O(n^2); B, w0_max: as in :func:`kernel_class_bound`; n_draws: number of random sign vectors, at
    least 2; random_state: int, RandomState instance or None -> the mean, and its standard error
    from the standard deviation of the draws.

    >>> import numpy as np
    >>> from mvref.theory.rademacher import empirical_complexity
    >>> mean, standard_error = empirical_complexity(np.eye(100), 1.0, random_state=0)
    >>> round(mean, 12), standard_error < 1e-12  # |sigma| is sqrt(n) for every sigma
    (0.2, True)
    """
    check_number(B, "B", low=0)
    check_number(w0_max, "w0_max", low=0)
    check_number(n_draws, "n_draws", low=2, integer=True)
    K = gram_matrix(K, factor)
    trace, n = gram_trace(K, factor)
    rng = check_random_state(random_state)
    suprema, step = np.empty(n_draws), max(1, BLOCK // n)
    for start in range(0, n_draws, step):
        signs = 2.0 * rng.randint(0, 2, size=(min(step, n_draws - start), n)) - 1.0
        product = signs @ K
        squares = (product * (product if factor else signs)).sum(axis=1)
        if squares.min() < -1e-8 * n * trace:
            raise ValueError("K must be positive semi-definite, got sigma' K sigma < 0.")
        drawn = B * np.sqrt(np.maximum(squares, 0.0)) + w0_max * np.abs(signs.sum(axis=1))
        suprema[start : start + step] = 2 / n * drawn
    return float(suprema.mean()), float(suprema.std(ddof=1) / np.sqrt(n_draws))


def ramp_loss(margins: ArrayLike, rho: float) -> np.ndarray:
    """Return the ramp loss, 1 - margin / rho, clipped to [0, 1].

    margins: y_i f(x_i), of any shape; rho: above 0. It lies between the error and the error at
    margin rho.

    >>> from mvref.theory.rademacher import ramp_loss
    >>> ramp_loss([-3.0, 0.0, 0.5, 2.0], rho=1.0)
    array([1. , 1. , 0.5, 0. ])
    """
    check_number(rho, "rho", low=0, low_open=True)
    return np.clip(1.0 - as_numbers(margins, "margins") / rho, 0.0, 1.0)


def dyadic_level(value: float) -> tuple[float, float]:
    """Return the smallest power of 2, from 1 on, not below a value, and its share of delta.

    value: not negative -> ``2^(j-1)``, and ``1 / (j (j + 1))``, which sums to 1 over j = 1, 2, ...

    >>> from mvref.theory.rademacher import dyadic_level
    >>> dyadic_level(0.3), dyadic_level(2.0)
    ((1.0, 0.5), (2.0, 0.16666666666666666))
    """
    check_number(value, "value", low=0)
    j = 1 if value <= 1 else int(np.ceil(np.log2(value))) + 1
    return float(2.0 ** (j - 1)), 1 / (j * (j + 1))


def margin_bound(
    margins: ArrayLike,
    B: float,
    K: ArrayLike,
    *,
    rho: float,
    delta: float,
    w0_max: float = 0.0,
    factor: bool = False,
    data_dependent: bool = False,
) -> float:
    """Return a bound on the true risk that holds with probability 1 - delta, from the sample.

    It is ``mean ramp loss + (1/rho) kernel_class_bound(K, B) + 3 sqrt(log(2/delta) / (2 n))``, not
    clipped: above 1 it is vacuous. It is invariant to scale, as a bound on signs must be: multiply
    f, B, w0_max and rho by the same number and nothing changes. Hence one union bound covers B and
    rho together: only f / rho matters, which lies in the ball of radius B / rho, with margin 1.

    margins (n,): y_i f(x_i) of the training samples; B: bound of |f|_k, with a convex combination
    of views the largest of their norms; w0_max: bound of the intercept |w_0|, 0 for a class without
    one; rho, delta: margin above 0, and a probability in (0, 1).

    K, factor: as in :func:`kernel_class_bound`. The kernel must be fixed before the sample is seen.
    For Nystrom components drawn from it take the diagonal of k itself, whose ball contains all
    functions of all components; for a width found on it by cross-validation divide delta by the
    number of widths that were tried.

    data_dependent: whether `B`, `rho` and `w0_max` were chosen from the sample. B / rho is then
    rounded up to a power of 2 and delta shared out among all powers; so is w0_max / rho, if it is
    not 0.

    >>> from mvref.theory.rademacher import margin_bound
    >>> margins, diagonal = [2.0] * 10_000, [1.0] * 10_000
    >>> round(margin_bound(margins, 5.0, diagonal, rho=1.0, delta=0.05), 4)
    0.1407
    >>> round(margin_bound(margins, 5.0, diagonal, rho=1.0, delta=0.05, data_dependent=True), 4)
    0.2148
    """
    trace, n = gram_trace(K, factor)
    margins = as_numbers(margins, "margins")
    if margins.shape != (n,) or not np.isfinite(margins).all():
        raise ValueError(
            f"margins must be {n} finite numbers, one for each sample, got shape {margins.shape}."
        )
    ramp = ramp_loss(margins, rho).mean()
    check_number(B, "B", low=0)
    check_number(w0_max, "w0_max", low=0)
    check_delta(delta)
    radius, offset = B / rho, w0_max / rho
    if data_dependent:  # rounded up to the grid, whose levels share delta (N17)
        radius, share = dyadic_level(radius)
        delta *= share
        if offset > 0:
            offset, share = dyadic_level(offset)
            delta *= share
    complexity = _class_bound(trace, n, radius, offset)
    return float(ramp + complexity + 3 * np.sqrt(np.log(2 / delta) / (2 * n)))


def printed_complexity(
    K: ArrayLike,
    B: float,
    *,
    version: Literal["printed", "repaired"] = "printed",
    factor: bool = False,
) -> float:
    """Return equation (17) for the trace of this sample, as printed or with the correct power of n.

    K, B, factor: as in :func:`kernel_class_bound`; version: "printed", ``2 B sqrt(tr(G) / n)``,
    which for k(x, x) = 1 is 2 B for any number of samples, or "repaired", ``2 B sqrt(tr(G)) / n``,
    which is Eq. (16).

    >>> from mvref.theory.rademacher import printed_complexity
    >>> [printed_complexity([1.0] * 100, 1.0, version=v) for v in ("printed", "repaired")]
    [2.0, 0.2]
    """
    check_choice(version, "version", ("printed", "repaired"))
    right = kernel_class_bound(K, B, factor=factor)
    return right if version == "repaired" else right * float(np.sqrt(gram_trace(K, factor)[1]))


def printed_bound(
    train_error: float,
    B: float,
    K: ArrayLike,
    *,
    delta: float,
    version: Literal["printed", "repaired"] = "printed",
    factor: bool = False,
) -> float:
    """Return equation (18), kept to show that it fails: it is not a bound, printed or repaired.

    It is ``train_error`` + half of Eq. (17) + ``sqrt(log(1/delta) / (2 n))``; :func:`margin_bound`
    holds. train_error: error rate on the training sample; B, K, version, factor: as in
    :func:`printed_complexity`; delta: in (0, 1).

    >>> from mvref.theory.rademacher import printed_bound
    >>> round(printed_bound(0.0, 1e-3, [1.0] * 400, delta=0.01), 3)  # random labels: a risk of 1/2
    0.077
    """
    check_number(train_error, "train_error", low=0, high=1)
    check_delta(delta)
    complexity = printed_complexity(K, B, version=version, factor=factor)
    n = gram_trace(K, factor)[1]
    return float(train_error + complexity / 2 + np.sqrt(np.log(1 / delta) / (2 * n)))


def _class_bound(trace, n, B, w0_max):
    """Return Eq. (16), with the intercept that it omits (N13)."""
    return float(2 / n * (B * np.sqrt(trace) + w0_max * np.sqrt(n)))
