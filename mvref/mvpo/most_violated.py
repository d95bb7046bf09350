"""The most violated constraint of MVPO: one cut of the loss per measure, without enumeration.

Problem   max over y' of  Delta(y', y) - w' pi_y',   pi_y' = X' (y - y')           (Eq. 16, 11)
          Wang, Tsang and Gao, AAAI 2016, after T. Joachims, ICML 2005.

Symbols   paper    code     meaning
          -        ``s``    (n,), scores X w; s_i is the sum of the scores of the views
          y        ``y``    (n,), labels -1 and +1, both present; P positive, N negative
          y - y'   ``c``    (n,), entries 0 and +-2; sums of pairs for AUROC; pi = X'c
          Delta    loss     1 - measure, in [0, 1], of :mod:`mvref.core.measures`
          -        value    Delta - c's: the slack at these scores; at least 0, which y' = y gives
          -        a, b     true and false positives of y' as a prediction

Algorithm   The loss depends on y' by (a, b) alone, and the score part is largest if y' calls the a
            best positives and the b best negatives positive. What is left is a search over tables.
            F-beta   For fixed a the value is concave in b: bisection for all a at once.
            PRBEP    a + b = P. Swapping the l-th worst positive with the l-th best negative gains
                     1/P + 2 (q_l - p_l), which falls with l: swap as long as it is positive.
            AUROC    Labels of pairs; a pair (i, j) is swapped where s_i - s_j < 1/(P N).
            error    Every sample alone.
            Sorting costs most, O(n log n); F-beta adds a bisection of the same order.

Scale     A learner that multiplies the features of Eq. (11) by t, such as t = 1/n, or 1/(P N) for
          AUROC, calls ``argmax(t * s, y)`` and takes pi = t X'c. A loss of u Delta, such as per
          cent, has the cut of ``argmax(s / u, y)``, its value and loss times u. The margin
          1/(P N) of a pair is 1 between unscaled scores if t = 1/(P N): no measure needs more than
          the scaled scores.

Departures   The paper quotes O(n^2) for F1 and PRBEP; sorting is enough. The printed maximum leaves
             out y' = y; here it is a tuple like the others (erratum P3). AUROC needs the pairwise
             form of pi, which the paper does not print (P8); then c is a general integer vector.

Example   Four samples of which the second and third are in the wrong order, y' = (1, -1, 1, -1):

          >>> from mvref.mvpo import auroc_argmax, error_argmax, f_beta_argmax, prbep_argmax
          >>> for argmax in (f_beta_argmax, prbep_argmax, error_argmax, auroc_argmax):
          ...     argmax([0.5, -0.125, 0.125, -0.5], [1, 1, -1, -1])
          Cut(value=1.0, loss=0.5, c=array([ 0,  2, -2,  0]))
          Cut(value=1.0, loss=0.5, c=array([ 0,  2, -2,  0]))
          Cut(value=1.0, loss=0.5, c=array([ 0,  2, -2,  0]))
          Cut(value=0.5, loss=0.25, c=array([ 0,  1, -1,  0]))
"""

from dataclasses import dataclass

import numpy as np

from ..core.input import ArrayLike, Callable
from ..core.measures import auroc_loss, check_beta, error_loss, f_beta_loss, prbep_loss

LARGEST_SCORE = 1e280  # n^2 scores of this size can be added without overflow, for all n < 1e14


@dataclass(frozen=True, eq=False)
class Cut:
    """A cut of the loss, slack >= loss - c's, and its violation at the scores it was made from.

    value: ``loss - c @ s``, the largest over all tuples; loss: delta of the tuple; c (n,): ``y -
    y'``, or its counterpart for pairs. ``-c`` is a subgradient of the value in s.
    """

    value: float
    loss: float
    c: np.ndarray


def f_beta_argmax(s: ArrayLike, y: ArrayLike, beta: float = 1.0) -> Cut:
    """Return the most violated label tuple for F-beta: beta from 1e-50 to 1e50; 1 is F1."""
    s, positive = _check(s, y)
    beta = check_beta(beta)
    p, q = np.sort(s[positive]), np.sort(s[~positive])[::-1]
    P = len(p)
    # With one more positive Delta falls by less than `slope`: a positive with a score <= 0 is
    # missed by every best tuple, one with a score above slope/2 by none.
    slope = (1 + beta**-2) / P
    fewest, most = P - np.searchsorted(p, [slope / 2, 0.0], side="right")
    a = np.arange(fewest, most + 1)
    b = _best_false_positives(a, q, P, beta)
    # Sums begin at the samples that count first, so that a huge score that never counts is not
    # in them: the P - a worst positives, the b best negatives.
    missed = np.concatenate([[0.0], np.cumsum(p)])[P - a]
    wrong = np.concatenate([[0.0], np.cumsum(q)])[b]
    best = np.argmax(f_beta_loss(a, b, P, beta) - 2 * missed + 2 * wrong)
    a, b = int(a[best]), int(b[best])
    c = np.zeros(len(s), dtype=np.int64)
    c[positive] = 2 * _largest(-s[positive], P - a)
    c[~positive] = -2 * _largest(s[~positive], b)
    return _cut(f_beta_loss(a, b, P, beta), c, s)


def _best_false_positives(a, q, P, beta):
    """Return for every a the b of the largest value, by bisection on the gain of one more.

    The gain of the (b+1)-th best negative is (1 + beta^2) a / ((k + b)(k + b + 1)) + 2 q_(b+1) with
    k = beta^2 P + a. It falls with b, and its first term is at most (1 + beta^2) / (4 beta^2 P), so
    that only negatives with scores just below 0 are in doubt; b is the number of positive gains.
    """
    sure = int(np.sum(q > 0))
    doubtful = q[sure : np.sum(q > -(1 + beta**-2) / (8 * P))]
    n_steps = len(doubtful).bit_length()
    scores = np.concatenate([2 * doubtful, np.full(2**n_steps - len(doubtful), -np.inf)])
    weight, k = (1 + beta**2) * a, beta**2 * P + a + sure
    b = np.zeros(len(a), dtype=np.int64)
    for step in 2 ** np.arange(n_steps)[::-1]:
        last = b + (step - 1)
        size = k + last
        gain = weight / (size * (size + 1)) + scores[last]
        b = np.where(gain > 0, last + 1, b)
    return sure + b


def prbep_argmax(s: ArrayLike, y: ArrayLike) -> Cut:
    """Return the most violated of the label tuples with P positives, for PRBEP."""
    s, positive = _check(s, y)
    p, q = np.sort(s[positive]), np.sort(s[~positive])[::-1]
    P, pairs = len(p), min(len(p), len(q))
    swaps = int(np.sum(1 / P + 2 * (q[:pairs] - p[:pairs]) > 0))
    c = np.zeros(len(s), dtype=np.int64)
    c[positive] = 2 * _largest(-s[positive], swaps)
    c[~positive] = -2 * _largest(s[~positive], swaps)
    return _zero_sum_cut(prbep_loss(P - swaps, P), c, s)


def auroc_argmax(s: ArrayLike, y: ArrayLike) -> Cut:
    """Return the most violated labelling of the pairs, for AUROC.

    With y_ij = -1 for a swapped pair, pi = sum over swapped pairs of x_i - x_j, i positive and j
    negative. So c_i is the number of swapped pairs of a positive, -c_j that of a negative.
    """
    s, positive = _check(s, y)
    # In the order of the scores, because searchsorted is far faster for sorted arguments.
    i, j = np.flatnonzero(positive), np.flatnonzero(~positive)
    i, j = i[np.argsort(s[i])], j[np.argsort(s[j])]
    p, q, P, N = s[i], s[j], len(i), len(j)
    # One limit per positive serves both counts, so that they count the same pairs whatever the
    # rounding. It stays below the score even if 1/(P N) is lost in it: ties are always swapped.
    limit = np.minimum(p - 1 / (P * N), np.nextafter(p, -np.inf))
    c = np.empty(len(s), dtype=np.int64)
    c[i] = N - np.searchsorted(q, limit, side="right")
    c[j] = -np.searchsorted(limit, q, side="left")
    return _zero_sum_cut(auroc_loss(c[i].sum(), P, N), c, s)


def error_argmax(s: ArrayLike, y: ArrayLike) -> Cut:
    """Return the most violated label tuple for the error rate."""
    s, positive = _check(s, y)
    sign = np.where(positive, 1, -1)
    wrong = 1 / len(s) - 2 * sign * s > 0
    P = int(positive.sum())
    a, b = int((positive & ~wrong).sum()), int((~positive & wrong).sum())
    return _cut(error_loss(a, b, P, len(s) - P), 2 * sign * wrong, s)


def _cut(loss, c, s):
    return Cut(float(loss - c @ s), float(loss), c)


def _zero_sum_cut(loss, c, s):
    """Build the cut; a common shift of the scores with c != 0 cancels in c's, so leave it out."""
    counts = c != 0
    return _cut(loss, c, s - s[counts].mean() if counts.any() else s)


def _largest(x, k):
    """Mark the k largest entries; the first ones win ties."""
    if k == 0:
        return np.zeros(len(x), dtype=bool)
    last = np.partition(x, len(x) - k)[len(x) - k]
    marked = x > last
    marked[np.flatnonzero(x == last)[: k - marked.sum()]] = True
    return marked


def _check(s, y):
    """Check scores and labels; return the scores and where the label is +1."""
    s, y = np.asarray(s), np.asarray(y)
    if s.ndim != 1 or s.dtype.kind not in "biuf" or len(s) == 0:
        raise ValueError(f"s must be a list of numbers, got shape {s.shape}, type {s.dtype}.")
    if y.shape != s.shape:
        raise ValueError(f"y must have one label per score, {s.shape}, got shape {y.shape}.")
    s = s.astype(float, copy=False)
    if not np.abs(s).max() <= LARGEST_SCORE:  # NaN fails, too
        largest = np.abs(s).max()
        raise ValueError(f"s must hold finite numbers up to {LARGEST_SCORE:g}, got {largest:g}.")
    if y.dtype.kind not in "if" or not (np.abs(y) == 1).all():
        labels = list(dict.fromkeys(y.tolist()))
        raise ValueError(f"y must hold labels -1 and +1, got {labels[:5]}.")
    positive = y == 1
    if positive.all() or not positive.any():
        raise ValueError(f"y must hold both labels -1 and +1, got only {y[0]}.")
    return s, positive


MEASURES = {
    "f1": f_beta_argmax,
    "fbeta": f_beta_argmax,
    "prbep": prbep_argmax,
    "auroc": auroc_argmax,
    "error": error_argmax,
}
RANKING = ("prbep", "auroc")


def scale_of(measure: str, n: int, n_positive: int) -> float:
    """Return t, by which ``normalize`` multiplies Psi: 1/n, or 1/(PN) for pairs."""
    return 1.0 / (n_positive * (n - n_positive)) if measure == "auroc" else 1.0 / n


def most_violated_of(measure: str, y: ArrayLike, *, normalize: bool = True,
                     beta: float = 1.0) -> Callable[..., tuple]:  # fmt: skip
    """Return the function that finds the most violated cut of a measure, Eq. (16), scaled by t.

    normalize: t = :func:`scale_of`, else 1; beta: of "fbeta".

    >>> most_violated_of("error", [1, -1])([0.0, -3.0])  # t = 1/2, c = (2, 0)
    (0.5, 0.5, array([1., 0.]))
    """
    y, argmax = np.asarray(y), MEASURES[measure]
    t = scale_of(measure, len(y), int((y > 0).sum())) if normalize else 1.0
    options = {"beta": beta} if measure == "fbeta" else {}

    def most_violated(s):
        cut = argmax(t * np.asarray(s), y, **options)
        return cut.value, cut.loss, t * cut.c

    return most_violated


def ranking_threshold(s: ArrayLike, n_positive: int) -> float:
    """Return a score between the `n_positive` best ones and the others; neither may be empty."""
    order = np.sort(s)[::-1]
    return float((order[n_positive - 1] + order[n_positive]) / 2.0)
