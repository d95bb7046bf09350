"""Smoothed structured losses of PRBEP, AUROC and F1, and their maximising mixtures of tuples.

Paper and learner, SMS: see :mod:`mvref.rivals.sms`.

Problem   R(s) = max over y' of Delta - c's has kinks; with a strongly convex penalty d >= 0 on the
          mixtures of tuples it has none:
          R_mu(s) = max over mixtures of  E[Delta] - E[c]'s - mu d,   gradient -E[c] = -c_bar

Symbols   D: largest value of d, R - R_mu is at most mu D; beta: swapped share of a sample (PRBEP)
          or of a pair (AUROC); c_bar, ``c`` in the code; P, N: number of positives, negatives

Smoothings
          PRBEP   beta in [0, 1]^n with equal sums over both classes, d = |beta|^2 / 2,
                  D = min(P, N):  beta_i = clip((a_i -+ theta) / mu, 0, 1), a_i = 1/P - 2 s_i for a
                  positive and 2 s_i for a negative; theta, which makes the sums equal, lies
                  between two breakpoints of a line. O(n log n).
          AUROC   beta_ij = clip((1/(P N) - s_i + s_j) / mu, 0, 1), d = |beta|^2 / 2,
                  D = P N / 2: sorting and sums over the sorted scores. O(n log n).
          F1      ours, the entropy: the paper's abstract names the two others only. The penalty is
                  d = sum p log p + n log 2 over the probabilities p of the 2^n tuples,
                  D = n log 2. R_mu is the log of a sum over contingency tables (a, b) of
                  exp(Delta / mu) E_a E_b, elementary symmetric polynomials of exp(2 s / mu); their
                  recursion, run backwards, gives the probability that a tuple changes a sample.
                  O(n^2) time and memory, a loop over samples: for up to a few thousand samples.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from ..core.measures import f_beta_loss


@dataclass(frozen=True, eq=False)
class SmoothCut:
    """Smoothed loss at given scores, and the maximising mixture of label tuples."""

    value: float  # R_mu = loss - c's - mu d, of gradient -c in s
    loss: float  # mean of Delta over the mixture
    c: np.ndarray  # (n,), mean of y - y'


def smooth_prbep(s, y, mu):
    """Smooth the structured loss of PRBEP at scores s, times t.

    >>> cut = smooth_prbep(np.array([0.25, -0.25]), np.array([1, -1]), mu=0.5)
    >>> cut.value, cut.c  # 1 + 2 (s_2 - s_1) = 0: no reason to swap
    (0.0, array([ 0., -0.]))
    """
    positive = y > 0
    P, sign = int(positive.sum()), np.where(y > 0, 1.0, -1.0)
    a = np.where(positive, 1 / P, 0.0) - 2 * sign * s

    def beta_of(theta):
        return np.clip((a - theta * sign) / mu, 0.0, 1.0)

    # sign @ beta falls from P to -N, and is linear between neighbours among these
    points = np.sort(np.concatenate([sign * a, sign * a - sign * mu]))
    low, high = 0, len(points) - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if sign @ beta_of(points[middle]) >= 0 else (low, middle)
    left, right = sign @ beta_of(points[low]), sign @ beta_of(points[high])
    share = left / (left - right) if left > right else 0.0
    beta = beta_of(points[low] + share * (points[high] - points[low]))
    value = float(a @ beta - mu / 2 * beta @ beta)
    return SmoothCut(value, float(beta[positive].sum() / P), 2 * sign * beta)


def smooth_auroc(s, y, mu):
    """Smooth the structured loss of AUROC at scores s, times t: a Huber function of every pair.

    >>> cut = smooth_auroc(np.array([0.0, 0.0]), np.array([1, -1]), mu=2.0)
    >>> cut.value, cut.c  # beta = 1/2
    (0.25, array([ 0.5, -0.5]))
    """
    i, j = np.flatnonzero(y > 0), np.flatnonzero(y < 0)
    i, j = i[np.argsort(s[i])], j[np.argsort(s[j])]
    P, N = len(i), len(j)
    # in units of mu, the weight of a pair is clip(q_j - p_i, 0, 1)
    p, q = (s[i] - 1 / (P * N)) / mu, s[j] / mu
    shift = q.mean()  # sums of squares lose fewer digits
    p, q = p - shift, q - shift
    weight, squares = _clipped_sums(q, p)
    c = np.empty(len(s))
    c[i] = weight
    c[j] = -_clipped_sums(-p[::-1], -q[::-1])[0][::-1]
    loss = float(weight.sum() / (P * N))
    # sum over pairs of (q - p) beta = c's, in these units
    value = mu * float(-(weight @ p) - c[j] @ q - squares.sum() / 2)
    return SmoothCut(value, loss, c)


def _clipped_sums(q, p):
    """Return sum_j b_ij and sum_j b_ij^2 for b_ij = clip(q_j - p_i, 0, 1); both sorted."""
    sums = [np.concatenate([[0.0], np.cumsum(q**k)]) for k in (1, 2)]
    first = np.searchsorted(q, p, side="right")
    full = np.searchsorted(q, p + 1.0, side="left")
    count, (one, two) = full - first, (total[full] - total[first] for total in sums)
    partial = one - count * p
    squares = two - 2 * p * one + count * p**2
    return partial + (len(q) - full), np.maximum(squares, 0.0) + (len(q) - full)


def smooth_f1(s, y, mu):
    """Smooth the structured loss of F1 at scores s, times t, by the entropy (ours).

    >>> cut = smooth_f1(np.array([0.0, 0.0]), np.array([1, -1]), mu=1e3)
    >>> round(cut.value, 3), cut.c.round(3)  # nearly the mean of Delta = 0, 1/3, 1, 1
    (0.583, array([ 1., -1.]))
    """
    i, j = np.flatnonzero(y > 0), np.flatnonzero(y < 0)
    P, N = len(i), len(j)
    v, u = 2 * s[i] / mu, 2 * s[j] / mu
    # y' calls a positive by exp(v_i) or misses it by 1, all over exp(sum v): shift to large numbers
    forward_p, forward_n = _log_polynomials(v), _log_polynomials(u)
    a, b = np.arange(P + 1)[:, None], np.arange(N + 1)
    delta = f_beta_loss(a, b, P)
    table = delta / mu + forward_p[-1][:, None] + forward_n[-1]
    total = logsumexp(table)
    loss = float(np.sum(np.exp(table - total) * delta))
    c = np.empty(len(s))
    kept = _inclusion(v, forward_p, logsumexp(delta / mu + forward_n[-1], axis=1), total)
    c[i] = 2 * (1 - kept)
    rest = logsumexp(delta / mu + forward_p[-1][:, None], axis=0)
    c[j] = -2 * _inclusion(u, forward_n, rest, total)
    value = mu * (total - v.sum() - len(s) * np.log(2.0))
    return SmoothCut(float(value), loss, c)


def _log_polynomials(v):
    """Return F, F[k, a] = log of the a-th elementary symmetric polynomial of exp(v[:k])."""
    F = np.full((len(v) + 1, len(v) + 1), -np.inf)
    F[0, 0] = 0.0
    for k, v_k in enumerate(v):
        F[k + 1, 0] = 0.0
        F[k + 1, 1 : k + 2] = np.logaddexp(F[k, 1 : k + 2], F[k, : k + 1] + v_k)
    return F


def _inclusion(v, F, last, total):
    """Return the probability of each element to be in the set; last: log weights of the sizes."""
    chance, rest = np.empty(len(v)), last  # rest[a]: of what follows, with a elements so far
    for k in range(len(v) - 1, -1, -1):
        chance[k] = np.exp(F[k, : k + 1] + v[k] + rest[1:] - total).sum()
        rest = np.logaddexp(rest[:-1], rest[1:] + v[k])
    return chance


SMOOTHINGS = {"prbep": smooth_prbep, "auroc": smooth_auroc, "f1": smooth_f1}


def largest_penalty(measure, P, N):
    """Return D, the largest value of the penalty d: mu D bounds the error of the smoothing."""
    return {"prbep": min(P, N), "auroc": P * N / 2, "f1": (P + N) * np.log(2.0)}[measure]
