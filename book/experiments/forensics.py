"""Implications of printed digits: counts, standard deviations and p-values consistent with them.

Printed numbers are strings, because their last zeros count. How they were rounded is an argument:
``half up``, ``half even``, ``down`` (digits cut off), or ``either``, half up or down, which rules
out least. Functions that check return a dict: ``possible``, False only if an enumeration of all
counts finds none; ``chance``, the share of the printable numbers that pass as well, so that a pass
is no evidence where it is near 1; ``example``, counts that give what is printed, or None.

All arithmetic on counts is in integers and fractions. With counts c_i out of n_i in k folds and L
the least common multiple of the n_i, the numbers y_i = c_i L / n_i - M, for any integer M, have
S = sum y_i and Q = sum y_i^2; the mean is (M + S/k)/L and the variance (k Q - S^2)/(k (k - ddof)
L^2). So two integers determine mean and deviation, and :func:`_reach` enumerates them.
"""

from fractions import Fraction
from functools import partial
from itertools import product
from math import ceil, floor, isqrt, lcm

import numpy as np
from scipy import stats

from mvref.core.input import check_choice, check_number

ROUNDINGS = ("either", "half up", "half even", "down")
TOO_MANY = 4e9  # steps of an enumeration
NEVER = 10**9  # entry of _reach for sums that no list has
_positive = partial(max, 0)  # the part of an integer above 0


def printed_interval(printed, rounding="either", percent=False):
    """Return the interval of the values that are printed like this.

    `printed` is not negative and has all its digits; with `percent` it is 100 times the value;
    `rounding` is "half up", "half even", "down" (digits cut off) or "either", half up or down.
    Returns ``low, high, low_in, high_in``: the ends, as fractions, and whether they are included.

    >>> from mvref.experiments.forensics import printed_interval
    >>> low, high, *ends = printed_interval("0.50", "half up")
    >>> str(low), str(high), ends
    ('99/200', '101/200', [True, False])
    """
    check_choice(rounding, "rounding", ROUNDINGS)
    z, scale = _digits(printed)
    half = 0 if rounding == "down" else Fraction(1, 2)
    even = rounding == "either" or (rounding == "half even" and z % 2 == 0)
    scale *= 100 if percent else 1
    low, high = (z - half) / Fraction(scale), (z + (half or 1)) / Fraction(scale)
    return low, high, even or rounding in ("half up", "down"), even


def _digits(printed):
    """Return the digits of a printed number as one integer, and its divisor."""
    whole, _, decimals = printed.partition(".") if isinstance(printed, str) else ("", "", "")
    if not (whole + decimals).isdecimal():
        raise ValueError(f"printed must be a string of digits such as '57.30', got {printed!r}.")
    return int(whole + decimals), 10 ** len(decimals)


def _between(interval, factor, most=None):
    """Return the integers j with j / factor in an interval, as a range."""
    low, high, low_in, high_in = interval
    first, last = ceil(low * factor), floor(high * factor)
    first += not low_in and first == low * factor
    last -= not high_in and last == high * factor
    return range(max(first, 0), (last if most is None else min(last, most)) + 1)


def _spelled(z, printed):
    """Format the integer of digits z as a number with as many decimals as `printed`."""
    decimals = len(printed.partition(".")[2])
    digits = str(z).zfill(decimals + 1)
    return f"{digits[:-decimals]}.{digits[-decimals:]}" if decimals else digits


def attainable_counts(printed, n, rounding="either", percent=False):
    """Return the counts out of n whose proportion is printed like this, as a range.

    `n` is the number of samples in the test set or, for a mean over k equal test sets, in all of
    them together; `printed`, `rounding` and `percent` are as in :func:`printed_interval`.

    >>> from mvref.experiments.forensics import attainable_counts
    >>> list(attainable_counts("60.63", 127, percent=True))
    [77]
    >>> list(attainable_counts("60.63", 150, percent=True))
    []
    """
    check_number(n, "n", low=1, integer=True)
    return _between(printed_interval(printed, rounding, percent), int(n), most=int(n))


def denominators(printed, candidates, rounding="either", percent=False):
    """Return the denominators that give all printed fractions, and the chance of such a fit.

    `printed` is a list of fractions with a common denominator and number of decimals;
    `candidates` are the denominators to try; `rounding` and `percent` are as in
    :func:`printed_interval`. Returns a dict: denominator that fits -> probability that as many
    different fractions, drawn uniformly from the printable ones, fit it by accident.

    >>> from mvref.experiments.forensics import denominators
    >>> fits = denominators(["0.33", "0.67"], range(2, 8))
    >>> {n: round(chance, 4) for n, chance in fits.items()}
    {3: 0.0016, 6: 0.0048}
    """
    fits = {}
    for n in candidates:
        if all(attainable_counts(number, n, rounding, percent) for number in printed):
            fits[n] = _chance_of_share(printed[0], n, rounding, percent) ** len(set(printed))
    return fits


def _chance_of_share(printed, n, rounding, percent):
    """Return the proportion of the printable numbers from 0 to 1 that are a count out of n."""
    _, scale = _digits(printed)
    scale *= 100 if percent else 1
    counts = np.arange(n + 1, dtype=object if n * scale > 2**60 else np.int64)
    up, down = (2 * counts * scale + n) // (2 * n), -((n - 2 * counts * scale) // (2 * n))
    if rounding == "down":
        up = down = counts * scale // n
    elif rounding == "half up":
        down = up
    elif rounding == "half even":
        up = down = np.where(up % 2 == 0, up, down)
    return len(set(up) | set(down)) / (scale + 1)


# ------------------------------------------------------------------ sums and sums of squares


def _reach(choices, Q_max, cost=lambda y: 0):
    """Return all (S, Q) that lists of integers have, Q <= Q_max, as one table after each part.

    choices: for each part its integers; table i (2H+1, Q_max+1): in row S + H and column Q the
    least total cost of a list of the first i parts with sum S and sum of squares Q, or NEVER.
    """
    H = isqrt(len(choices) * Q_max)  # |S| <= sqrt(k Q)
    choices = [[y for y in part if y * y <= Q_max] for part in choices]
    if (2 * H + 1) * (Q_max + 1) * sum(map(len, choices)) > TOO_MANY:
        raise ValueError("The parts are too large, or spread too far, to enumerate all counts.")
    tables = [np.full((2 * H + 1, Q_max + 1), NEVER, dtype=np.int32)]
    tables[0][H, 0] = 0
    for i, part in enumerate(choices):
        old, new = tables[-1], np.full_like(tables[0], NEVER)
        h = isqrt(i * Q_max)  # sums of i parts lie in -h..h
        for y in part:
            first, last, q = max(H - h, -y), min(H + h, 2 * H - y) + 1, y * y
            to, source = new[first + y : last + y, q:], old[first:last, : Q_max + 1 - q]
            np.minimum(to, source + cost(y) if cost(y) else source, out=to)
        np.minimum(new, NEVER, out=new)
        tables.append(new)
    return tables, choices


def _list_with(tables, choices, S, Q, cost=lambda y: 0):
    """Return the cheapest list of integers with the sums S and Q, from the tables of _reach."""
    H, found = tables[0].shape[0] // 2, []
    for part, old, new in zip(choices[::-1], tables[-2::-1], tables[:0:-1], strict=True):
        for y in part:
            s, q = S - y, Q - y * y
            if abs(s) <= H and q >= 0 and old[s + H, q] + cost(y) == new[S + H, Q] < NEVER:
                found, S, Q = [y, *found], s, q
                break
    return found


def mean_and_sd(mean, sd, sizes, ddof=1, rounding="either", percent=False):
    """Check whether a printed mean and standard deviation of k accuracies are possible.

    `sizes` has the number of samples of each of the k test sets; the variance of their accuracies
    is divided by k - `ddof`, 0 or 1; `rounding` and `percent`, of both `mean` and `sd`, are as in
    :func:`printed_interval`. In the dict ``possible`` is whether some counts give both; ``chance``
    the proportion of the printable deviations from 0 to twice `sd`, or to 10 in the last digit,
    that pass with this mean; ``example`` one count per test set. Where these sets are too large
    to enumerate, all that no list of two values gives are counted, so that ``chance`` is an upper
    bound, and a ValueError is raised if no list of two values passes.

    >>> from mvref.experiments.forensics import mean_and_sd
    >>> mean_and_sd("0.50", "0.29", [4] * 3)["example"]
    >>> mean_and_sd("0.50", "0.25", [4] * 3)["example"]
    [3, 2, 1]
    """
    check_number(ddof, "ddof", low=0, high=1, integer=True)
    for n in sizes:
        check_number(n, "sizes", low=1, integer=True)
    k, L = len(sizes), lcm(*sizes)
    if k <= ddof:
        raise ValueError(f"sizes must have more than {ddof} parts, got {k}.")
    interval = printed_interval(mean, rounding, percent)
    M = round((interval[0] + interval[1]) / 2 * L)
    sums = _between(interval, k * L, most=k * L)

    def squares(number, S):
        low, high, low_in, high_in = printed_interval(number, rounding, percent)
        ends = (max(low, 0) ** 2, high**2, low_in or low < 0, high_in)
        shift = Fraction(S * S, k * (k - ddof) * L * L)
        return _between((ends[0] + shift, ends[1] + shift, *ends[2:]), (k - ddof) * L * L)

    largest = max(2 * _digits(sd)[0], 10)
    tables = None

    def fit(number):
        target = float(Fraction(number)) / (100 if percent else 1)
        for S in (s - k * M for s in sums):
            example = _two_values(S, target * L * np.sqrt(k - ddof), M, sizes)
            if example and sum(y * y for y in example) in squares(number, S):
                return example
            for Q in squares(number, S) if tables else ():
                if abs(S) <= H and Q <= Q_max and tables[0][-1][S + H, Q] < NEVER:
                    return _list_with(*tables, S, Q)

    found, decided = fit(sd) if sums else None, True
    if sums and not all(fit(_spelled(number, sd)) for number in range(largest + 1)):
        top = _spelled(largest, sd)
        Q_max = max(squares(top, s - k * M).stop - 1 for s in sums)
        H, parts = isqrt(k * Q_max), [[c * L // n - M for c in range(n + 1)] for n in sizes]
        try:
            tables = _reach(parts, Q_max)
        except ValueError:
            if found is None:
                raise
            decided = False
        found = found or fit(sd)
    fits = [fit(_spelled(z, sd)) is not None for z in range(largest + 1)] if decided else 1.0
    if found:
        found = [(y + M) * n // L for y, n in zip(found, sizes, strict=True)]
    return {"possible": found is not None, "chance": float(np.mean(fits)), "example": found}


def _two_values(S, spread, M, sizes):
    """Return integers y (k,) with sum S, half of them high, half low, up to rounding; or None."""
    k = len(sizes)
    if min(sizes) != max(sizes):
        return None
    y = np.full(k, S // k)
    y[: S % k] += 1
    step = round(float(spread) / np.sqrt(2 * (k // 2)))
    y[: k // 2] += step
    y[k - k // 2 :] -= step
    if min(y) + M < 0 or max(y) + M > sizes[0]:
        return None
    return [int(value) for value in y]


def mean_and_p(mean, other, p, n, k, test="paired", rounding="either", percent=False):
    """Check whether two mean accuracies and the p-value of a t-test between them are possible.

    `mean` and `other` are means over `k` test sets, or repeats, of `n` samples each; `p` is
    two-sided and never in per cent; `test` is Student's test for pairs ("paired"), for two samples
    with a common variance ("pooled"), or "welch"; `rounding`, and `percent` of the means, are as
    in :func:`printed_interval`. ``chance`` is the proportion of the printable p-values from 0 to
    (1 + p)/2 that pass with these means, ``possible`` whether `p` does; ``example`` has the
    differences of the counts in the k test sets or, if not paired, the sums of squares around the
    nearest integer of both.

    >>> from mvref.experiments.forensics import mean_and_p
    >>> check = mean_and_p("46.67", "50.00", "0.1817", 15, 4, percent=True)
    >>> check["possible"], sorted(check["example"])
    (True, [-1, -1, 0, 0])
    """
    check_choice(test, "test", ("paired", "pooled", "welch"))
    check_number(n, "n", low=1, integer=True)
    check_number(k, "k", low=2, integer=True)
    counts = [attainable_counts(number, n * k, rounding, percent) for number in (mean, other)]
    z, scale = _digits(p)
    if z > scale - 2:
        raise ValueError(f"p must be below 1 - {1 / scale:g}, got {p!r}.")
    largest = min((scale + z) // 2, scale - 2)
    # the least t of the window: Welch's degrees of freedom are at most those of the pooled test
    t = stats.t.isf((largest + 1) / scale / 2, k - 1 if test == "paired" else 2 * k - 2)
    seen = {}  # digits of each p-value that some counts give, with the counts
    for a, b in product(*counts):
        T_max = (a - b) ** 2 * (k - 1) / t**2  # k Q - S^2 at the largest p
        T, df, example = (_paired if test == "paired" else _unpaired)(a, b, n, k, T_max)
        with np.errstate(divide="ignore", invalid="ignore"):  # no variance: p = 0, or t undefined
            t_values = abs(a - b) * np.sqrt((k - 1) / T)
        values = 2 * stats.t.sf(t_values, 2 * k - 2 if test == "pooled" else df)
        known = np.flatnonzero(np.isfinite(values))
        for slack in (1 - 1e-9, 1.0, 1 + 1e-9):
            digits = np.floor(values[known] * slack * scale + (0 if rounding == "down" else 0.5))
            for first, number in zip(*np.unique(digits, return_index=True)[::-1], strict=True):
                seen.setdefault(int(number), partial(example, known[first]))
    found = seen.get(z)
    chance = sum(digits <= largest for digits in seen) / (largest + 1)
    return {"possible": found is not None, "chance": chance, "example": found and found()}


def _paired(a, b, n, k, T_max):
    """Return the values k Q - S^2 up to T_max of differences of lists with sums a, b; df, lists.

    Differences d with the sum S = a - b belong to lists of counts in 0..n with these sums if the
    sum of the positive differences is at most min(a, k n - b): this is the cost in _reach.
    """
    S, Q_max = a - b, int((T_max + (a - b) ** 2) / k)
    tables, choices = _reach([range(-n, n + 1)] * k, Q_max, _positive)
    H = isqrt(k * Q_max)
    row = tables[-1][S + H] if abs(S) <= H else np.full(1, NEVER)
    Q = np.flatnonzero(row <= min(a, k * n - b))
    return k * Q - S * S, k - 1, lambda i: _list_with(tables, choices, S, int(Q[i]), _positive)


def _unpaired(a, b, n, k, T_max):
    """Return the sums of k Q - S^2 up to T_max of two lists with sums a, b; Welch's df, both Q."""
    sides = []
    for total in (a, b):
        M = round(total / k)
        S = total - k * M
        Q_max = int((T_max + S * S) / k)
        table, H = _reach([range(-M, n - M + 1)] * k, Q_max)[0][-1], isqrt(k * Q_max)
        Q = np.flatnonzero(table[S + H] < NEVER) if abs(S) <= H else np.arange(0)
        sides.append((Q, k * Q - S * S))
    (P, A), (Q, B) = sides
    i, j = np.nonzero(A[:, None] + B <= T_max)
    A, B = A[i].astype(float), B[j].astype(float)
    with np.errstate(invalid="ignore"):
        df = np.nan_to_num((k - 1) * (A + B) ** 2 / (A**2 + B**2), nan=k - 1)
    return A + B, df, lambda at: [int(P[i[at]]), int(Q[j[at]])]


# ------------------------------------------------------------------ p-values, sums, digits


def sd_of_differences(mean, other, p, k, rounding="either", percent=False):
    """Return the bounds of the standard deviation of k paired differences.

    `mean` and `other` are means of two methods over `k` repeats, `p` the p-value of the two-sided
    paired t-test; `rounding`, and `percent` of the means, are as in :func:`printed_interval`.
    Returns ``low, high`` of the sample standard deviation (k - 1) of values from 0 to 1.

    >>> from mvref.experiments.forensics import sd_of_differences
    >>> low, high = sd_of_differences("63.46", "60.63", "0.0478", 10, percent=True)
    >>> round(low, 4), round(high, 4)
    (0.0389, 0.0392)
    """
    ends = [printed_interval(number, rounding, percent)[:2] for number in (mean, other)]
    gaps = [float(x - y) for x, y in zip(ends[0], ends[1][::-1], strict=True)]
    least = 0.0 if gaps[0] <= 0 <= gaps[1] else min(map(abs, gaps))
    low, high = (min(max(float(x), 0.0), 1.0) for x in printed_interval(p, rounding)[:2])
    t_high, t_low = stats.t.isf(low / 2, k - 1), stats.t.isf(high / 2, k - 1)
    largest = max(map(abs, gaps)) * np.sqrt(k) / t_low if t_low > 0 else np.inf
    return float(least * np.sqrt(k) / t_high), float(largest)


def equal_p_values(mean, other, p, k, rounding="either", percent=False):
    """Return what the same printed mean and the same p of two methods against a third imply.

    Both have paired differences to the third with the same sum, to the printed precision, and so
    with the same variance, as if both made the same predictions. `mean` is the mean of the third
    method over `k` repeats, `other` the mean of the two, and `p` the p-value of both paired
    t-tests; `rounding`, and `percent` of the means, are as in :func:`printed_interval`. Returns:
    ``low`` and ``high``, the bounds of :func:`sd_of_differences` for both methods; ``chance``, the
    proportion of deviations from half to twice the nominal one, drawn uniformly, that print this p:
    how often a method with the same mean, but other predictions, would print it.

    >>> from mvref.experiments.forensics import equal_p_values
    >>> implied = equal_p_values("63.46", "60.63", "0.0478", 10, percent=True)
    >>> round(implied["chance"], 4)
    0.0004
    """
    low, high = sd_of_differences(mean, other, p, k, rounding, percent)
    gap = abs(float(Fraction(mean) - Fraction(other))) / (100 if percent else 1)
    if gap == 0 or float(p) == 0:
        return {"low": low, "high": high, "chance": 1.0}
    a, b = (min(max(float(x), 1e-300), 1.0) for x in printed_interval(p, rounding)[:2])
    t, t_high, t_low = (stats.t.isf(x / 2, k - 1) for x in (float(p), a, b))
    ends = np.clip([t / t_high, t / t_low if t_low > 0 else np.inf], 0.5, 2.0)
    return {"low": low, "high": high, "chance": float(np.ptp(ends) / 1.5)}


def average_fits(parts, average, total=False, rounding="either"):
    """Check whether a printed average, or total, belongs to printed parts.

    `average` is the average of `parts`, with `total` their sum; `rounding` is as in
    :func:`printed_interval`. ``possible`` is whether some values that are printed like this have
    such an average; ``chance`` the proportion of printable averages between the smallest and the
    largest part (of totals: from 0 to twice the sum) that pass; ``example`` the average's bounds.

    >>> from mvref.experiments.forensics import average_fits
    >>> average_fits(["0.10", "0.20", "0.40"], "0.25")["possible"]
    False
    >>> average_fits(["0.10", "0.20", "0.40"], "0.23")["possible"]
    True
    """
    ends = [printed_interval(part, rounding) for part in parts]
    divisor = 1 if total else len(parts)
    bounds = [sum(end[i] for end in ends) / Fraction(divisor) for i in (0, 1)]
    closed = [all(end[i] for end in ends) for i in (2, 3)]

    def passes(number):
        low, high, low_in, high_in = printed_interval(number, rounding)
        if low == bounds[1] or high == bounds[0]:  # they touch
            return (low_in and closed[1]) if low == bounds[1] else (high_in and closed[0])
        return low < bounds[1] and bounds[0] < high

    _, scale = _digits(average)
    values = [Fraction(part) * scale for part in parts]
    least, most = (0, 2 * sum(values)) if total else (min(values), max(values))
    numbers = [_spelled(z, average) for z in range(floor(least), ceil(most) + 1)]
    chance = float(np.mean([passes(number) for number in numbers]))
    example = [float(bound) for bound in bounds] if passes(average) else None
    return {"possible": example is not None, "chance": chance, "example": example}


def wins(rows, larger_is_better=True):
    """Count in how many rows each method is best, without and with ties.

    `rows` are lists of printed numbers, one per method; the largest is the best, or the smallest
    without `larger_is_better`. Returns two lists of counts: strictly best, and best or tied.

    >>> from mvref.experiments.forensics import wins
    >>> wins([["1", "2", "2"], ["4", "5", "4"]], larger_is_better=False)
    ([1, 0, 0], [2, 0, 1])
    """
    values = [[Fraction(number) * (1 if larger_is_better else -1) for number in r] for r in rows]
    best = np.array([[value == max(row) for value in row] for row in values])
    alone = best & (best.sum(axis=1, keepdims=True) == 1)
    return alone.sum(axis=0).tolist(), best.sum(axis=0).tolist()


def repairs(printed, passes):
    """Return the numbers that differ from `printed` in one digit and pass a check.

    `passes` takes a printed number and returns whether it passes.

    >>> from mvref.experiments.forensics import attainable_counts, repairs
    >>> repairs("0.35", lambda number: attainable_counts(number, 3))
    ['0.33']
    """
    _digits(printed)
    places = [i for i, sign in enumerate(printed) if sign != "."]
    changed = [printed[:i] + d + printed[i + 1 :] for i in places for d in "0123456789"]
    return sorted(number for number in changed if number != printed and passes(number))
