"""Slow literal twins of MVPO: measures and Eq. (16) over every label tuple, pair or order.

Nothing here calls mvref, so that a test compares two independent implementations.
Scores s and labels y (-1 and +1) are plain lists; sums are rounded once (``math.fsum``).
"""

import itertools
import math


def counts(y, prediction):
    """Return the numbers of true positives, false positives and false negatives."""
    pairs = list(zip(y, prediction, strict=True))
    return pairs.count((1, 1)), pairs.count((-1, 1)), pairs.count((1, -1))


def f_beta_loss(y, prediction, beta=1.0):
    """Return 1 - F-beta, the weighted harmonic mean of precision and recall."""
    a, b, missed = counts(y, prediction)
    if a == 0:
        return 1.0
    precision, recall = a / (a + b), a / (a + missed)
    return 1 - (1 + beta**2) / (1 / precision + beta**2 / recall)


def prbep_loss(y, prediction):
    """Return 1 - precision."""
    a, b, _ = counts(y, prediction)
    return 1 - a / (a + b)


def error_loss(y, prediction):
    return sum(1 for i in range(len(y)) if y[i] != prediction[i]) / len(y)


def auroc_loss(y, s):
    """Return the fraction of positive-negative pairs in the wrong order; ties count half."""
    pairs = list(pairs_of(y))
    return sum((s[i] < s[j]) + 0.5 * (s[i] == s[j]) for i, j in pairs) / len(pairs)


def prbep_over_all_orders(y, s):
    """Return the mean precision of the first P samples over all orders with decreasing scores."""
    P = sum(1 for label in y if label == 1)
    values = []
    for order in itertools.permutations(range(len(y))):
        if all(s[order[k]] >= s[order[k + 1]] for k in range(len(y) - 1)):
            values.append(sum(1 for i in order[:P] if y[i] == 1) / P)
    return sum(values) / len(values)


# ------------------------------------------------------------------- Eq. (16), by enumeration


def pair_sum(u, seen):
    """Return Eq. (5), term by term: squared disagreements over pairs of a sample's views."""
    return sum(
        seen[i][j] * seen[i][k] * (u[i][j] - u[i][k]) ** 2
        for i in range(len(u))
        for j, k in itertools.combinations(range(len(u[i])), 2)
    )


def as_many_positives(y, prediction):
    """Check the constraint of PRBEP: sum(y') = sum(y)."""
    return sum(prediction) == sum(y)


def tuple_value(s, y, prediction, loss):
    """Return Delta(y', y) - sum_i (y_i - y'_i) s_i."""
    return math.fsum([loss] + [-(y[i] - prediction[i]) * s[i] for i in range(len(y))])


def best_tuple_value(s, y, loss, admissible=lambda y, prediction: True):
    """Return Eq. (16) over all 2^n label tuples; `loss` takes (y, y')."""
    return max(
        tuple_value(s, y, prediction, loss(y, prediction))
        for prediction in itertools.product([-1, 1], repeat=len(y))
        if admissible(y, prediction)
    )


def pairs_of(y):
    for i in range(len(y)):
        for j in range(len(y)):
            if y[i] == 1 and y[j] == -1:
                yield i, j


def all_cuts(measure, y, loss):
    """Yield Delta and c of every admissible label tuple, or of every labelling of the pairs.

    `loss` is Delta of a tuple; pairs ("auroc") need none.
    """
    if measure == "auroc":
        pairs = list(pairs_of(y))
        for swapped in itertools.product([0, 1], repeat=len(pairs)):
            c = [0] * len(y)
            for flag, (i, j) in zip(swapped, pairs, strict=True):
                c[i] += flag
                c[j] -= flag
            yield sum(swapped) / len(pairs), c
        return
    for prediction in itertools.product([-1, 1], repeat=len(y)):
        if measure != "prbep" or as_many_positives(y, prediction):
            c = [label - said for label, said in zip(y, prediction, strict=True)]
            yield loss(y, prediction), c


def best_pairs_value(s, y):
    """Return Eq. (16) for AUROC over all 2^(P N) pair labels: Delta - sum of swapped s_i - s_j."""
    pairs = list(pairs_of(y))
    best = -math.inf
    for swapped in itertools.product([0, 1], repeat=len(pairs)):
        terms = [1 / len(pairs) for flag in swapped if flag]
        for flag, (i, j) in zip(swapped, pairs, strict=True):
            if flag:
                terms += [-s[i], s[j]]
        best = max(best, math.fsum(terms))
    return best


# ------------------------------------------------------------- Eq. (16), medium sizes, O(n^2)


def best_table_value(s, y, beta=1.0):
    """Return Eq. (16) for F-beta over all (P + 1)(N + 1) contingency tables."""
    p = sorted((s[i] for i in range(len(y)) if y[i] == 1), reverse=True)
    q = sorted((s[i] for i in range(len(y)) if y[i] == -1), reverse=True)
    P, N = len(p), len(q)
    best = -math.inf
    for a in range(P + 1):
        missed = math.fsum(p[a:])
        called = 0.0
        for b in range(N + 1):
            F = (1 + beta**2) * a / (beta**2 * P + a + b)
            best = max(best, 1 - F - 2 * missed + 2 * called)
            called += q[b] if b < N else 0.0
    return best


def best_swap_value(s, y):
    """Return Eq. (16) for PRBEP over the numbers of positives swapped with negatives."""
    p = sorted(s[i] for i in range(len(y)) if y[i] == 1)
    q = sorted((s[i] for i in range(len(y)) if y[i] == -1), reverse=True)
    return max(
        k / len(p) + 2 * math.fsum(q[:k] + [-p_l for p_l in p[:k]])
        for k in range(min(len(p), len(q)) + 1)
    )


def pair_hinges(s, y):
    """Return AUROC's sum over pairs of max(0, 1/(P N) - (s_i - s_j)), and swaps per sample."""
    pairs = list(pairs_of(y))
    swapped = [0] * len(y)
    terms = []
    for i, j in pairs:
        if s[i] - s[j] < 1 / len(pairs):
            swapped[i] += 1
            swapped[j] -= 1
            terms += [1 / len(pairs), -s[i], s[j]]
    return math.fsum(terms), swapped
