"""Every check of printed digits against brute force on small cases, and on numbers made wrong."""

import decimal
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy import stats

from mvref.experiments.forensics import (
    ROUNDINGS,
    attainable_counts,
    average_fits,
    denominators,
    equal_p_values,
    mean_and_p,
    mean_and_sd,
    printed_interval,
    repairs,
    sd_of_differences,
    wins,
)

MODES = {
    "half up": [decimal.ROUND_HALF_UP],
    "half even": [decimal.ROUND_HALF_EVEN],
    "down": [decimal.ROUND_DOWN],
    "either": [decimal.ROUND_HALF_UP, decimal.ROUND_HALF_DOWN],
}


def prints(value, decimals, rounding):
    """How a fraction is printed, by the decimal module: a set."""
    with localcontext() as context:
        context.prec = 60
        exact = Decimal(value.numerator) / Decimal(value.denominator)
    step = Decimal(1).scaleb(-decimals)
    return {str(exact.quantize(step, mode)) for mode in MODES[rounding]}


def all_numbers(decimals, most=1):
    return [f"{z / 10**decimals:.{decimals}f}" for z in range(most * 10**decimals + 1)]


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("percent", [False, True])
def test_counts_of_a_share(rounding, percent):
    """2 x 4 x 40 x (11 + 101) = 35 840 pairs of a number and a denominator."""
    for n, decimals in product(range(1, 41), (0, 1) if percent else (1, 2)):
        scale = 100 if percent else 1
        by_print = {}
        for c in range(n + 1):
            for number in prints(Fraction(c * scale, n), decimals, rounding):
                by_print.setdefault(number, []).append(c)
        numbers = all_numbers(decimals, scale)
        for number in numbers[:: 1 if decimals * scale < 100 else 9]:
            counts = list(attainable_counts(number, n, rounding, percent))
            assert counts == by_print.get(number, [])
        chance = len(by_print) / len(numbers)
        number = next(iter(by_print))
        assert denominators([number] * 2, [n], rounding, percent)[n] == pytest.approx(chance), (
            "once"
        )


def sd_prints(variance, decimals, rounding):
    with localcontext() as context:
        context.prec = 60
        exact = (Decimal(variance.numerator) / Decimal(variance.denominator)).sqrt()
    step = Decimal(1).scaleb(-decimals)
    return {str(exact.quantize(step, mode)) for mode in MODES[rounding]}


def variance_of(counts, sizes, ddof):
    values = [Fraction(c, n) for c, n in zip(counts, sizes, strict=True)]
    mean = sum(values) / len(values)
    return mean, sum((value - mean) ** 2 for value in values) / (len(values) - ddof)


@pytest.mark.parametrize("sizes", [(3, 3), (2, 3), (4, 4, 4), (3, 4, 4), (5,) * 3, (3,) * 4])
@pytest.mark.parametrize("ddof", [0, 1])
def test_mean_and_sd(sizes, ddof):
    """6 x 2 x 150 = 1800 drawn pairs, half of them of real lists; rounding and unit are drawn."""
    rng = np.random.default_rng(0)
    lists = list(product(*(range(n + 1) for n in sizes)))
    moments = [variance_of(counts, sizes, ddof) for counts in lists]
    known, found = {}, []
    for i in range(150):
        rounding, decimals = ROUNDINGS[i % 4], 1 + i // 4 % 2
        if (rounding, decimals) not in known:
            known[rounding, decimals] = {
                pair
                for mean, variance in moments
                for pair in product(
                    prints(mean, decimals, rounding), sd_prints(variance, decimals, rounding)
                )
            }
        pairs = known[rounding, decimals]
        mean, sd = sorted(pairs)[rng.integers(len(pairs))]
        if i % 3:
            sd = f"{rng.integers(0, 0.6 * 10**decimals) / 10**decimals:.{decimals}f}"
        check = mean_and_sd(mean, sd, sizes, ddof, rounding)
        assert check["possible"] == ((mean, sd) in pairs)
        if check["example"]:
            value, variance = variance_of(check["example"], sizes, ddof)
            assert mean in prints(value, decimals, rounding)
            assert sd in sd_prints(variance, decimals, rounding)
        z = int(sd.replace(".", ""))
        window = [f"{j / 10**decimals:.{decimals}f}" for j in range(max(2 * z, 10) + 1)]
        share = np.mean([(mean, number) in pairs for number in window])
        assert check["chance"] == pytest.approx(share)
        found.append(check["possible"])
    assert 0.1 < np.mean(found) < 1


def test_mean_and_sd_in_percent_and_large():
    assert mean_and_sd("50.0", "25.0", [4] * 3, percent=True)["possible"]
    check = mean_and_sd(".7827", ".008", [10_000] * 20)
    value, variance = variance_of(check["example"], [10_000] * 20, 1)
    assert "0.7827" in prints(value, 4, "either")
    assert "0.008" in sd_prints(variance, 3, "either")
    assert check["chance"] == 1.0
    with pytest.raises(ValueError, match="too large"):
        mean_and_sd("0.9", "0.9", [10_000] * 20)


def all_tests(n, k, test):
    """The means and p-values of all pairs of lists of counts: (a, b, p)."""
    lists, seen = list(product(range(n + 1), repeat=k)), {}
    for a, b in product(lists, lists):
        if sum(a) != sum(b):
            d = sorted(np.subtract(a, b)) if test == "paired" else [sorted(a), sorted(b)]
            seen[sum(a), sum(b), str(d)] = (a, b)
    for (s, r, _), (a, b) in seen.items():
        if test == "paired":
            p = stats.ttest_rel(a, b).pvalue if np.ptp(np.subtract(a, b)) else 0.0
        else:
            spread = np.ptp(a) + np.ptp(b)
            p = stats.ttest_ind(a, b, equal_var=test == "pooled").pvalue if spread else 0.0
        yield s, r, float(p)


@pytest.mark.filterwarnings("ignore:Precision loss")
@pytest.mark.parametrize("test", ["paired", "pooled", "welch"])
@pytest.mark.parametrize(("n", "k"), [(2, 2), (3, 2), (4, 2), (2, 3), (1, 4)])
def test_mean_and_p(n, k, test):
    """3 x 5 x 200 = 3000 drawn triples against all lists of counts."""
    rng = np.random.default_rng(1)
    lists = {(s, r, f"{p:.2f}") for s, r, p in all_tests(n, k, test)}
    mean = {s: f"{s / (n * k):.4f}" for s in range(n * k + 1)}
    assert len(set(mean.values())) == len(mean)
    found = []
    for i in range(200):
        s, r, p = sorted(lists)[rng.integers(len(lists))]
        if i % 2:
            p = f"{rng.integers(0, 98) / 100:.2f}"
        if p >= "0.99":
            continue
        check = mean_and_p(mean[s], mean[r], p, n, k, test)
        assert check["possible"] == ((s, r, p) in lists), (s, r, p)
        if check["example"] and test == "paired":
            d = np.array(check["example"])
            assert d.sum() == s - r
            if np.ptp(d):
                assert f"{stats.ttest_1samp(d, 0).pvalue:.2f}" == p
        largest = min((100 + int(p[2:])) // 2, 98)
        window = [f"{z / 100:.2f}" for z in range(largest + 1)]
        assert check["chance"] == pytest.approx(np.mean([(s, r, z) in lists for z in window]))
        found.append(check["possible"])
    assert 0.3 < np.mean(found) < 1


def test_deviation_of_the_differences():
    """1000 drawn lists: the deviation is in the interval, and its ends print the same."""
    rng = np.random.default_rng(2)
    for _ in range(1000):
        k = int(rng.integers(3, 12))
        a, b = rng.random((2, k))
        p = f"{stats.ttest_rel(a, b).pvalue:.4f}"
        means = [f"{100 * x.mean():.2f}" for x in (a, b)]
        low, high = sd_of_differences(*means, p, k, percent=True)
        assert low <= np.std(a - b, ddof=1) <= high
    low, high = sd_of_differences("0.6346", "0.6063", "0.0478", 10)
    gaps = np.array([0.02820, 0.02840])
    at_ends = 2 * stats.t.sf(gaps * np.sqrt(10) / [low, high], 9)
    assert at_ends == pytest.approx([0.04775, 0.04785])
    assert sd_of_differences("0.50", "0.50", "0.20", 5)[0] == 0.0


def test_chance_of_equal_p_values():
    rng = np.random.default_rng(3)
    sd = sum(sd_of_differences("0.6346", "0.6063", "0.048", 10)) / 2
    drawn = sd * rng.uniform(0.5, 2.0, size=200_000)
    same = np.round(2 * stats.t.sf(0.0283 * np.sqrt(10) / drawn, 9), 3) == 0.048
    implied = equal_p_values("0.6346", "0.6063", "0.048", 10)
    assert implied["chance"] == pytest.approx(same.mean(), rel=0.05)
    assert implied["low"] < sd < implied["high"]
    # of the sizes that fit Table 2 (N19), a constant rule has that mean for one
    assert [n for n in (127, 159) if attainable_counts("0.6063", n)] == [127]


@pytest.mark.parametrize("total", [False, True])
def test_averages_and_totals(total):
    """2 x 400 drawn rows: no true one is refused; what is refused is outside on a fine grid."""
    rng, refused = np.random.default_rng(4), 0
    for _ in range(400):
        values = rng.random(rng.integers(2, 5))
        parts = [f"{value:.1f}" for value in values]
        true = values.sum() if total else values.mean()
        assert average_fits(parts, f"{true:.2f}", total)["possible"]
        other = f"{rng.random() * (len(parts) if total else 1):.2f}"
        low = sum(max(float(x) - 0.05, -0.05) for x in parts) / (1 if total else len(parts))
        high = low + 0.1 * (len(parts) if total else 1)
        if min(abs(float(other) - low), abs(float(other) - high)) > 0.006:
            check = average_fits(parts, other, total)
            assert check["possible"] == (low < float(other) < high)
            refused += not check["possible"]
    assert refused > 50


def test_wins_are_those_of_the_ranks():
    rng = np.random.default_rng(5)
    for _ in range(200):
        rows = rng.integers(0, 4, size=(6, 3)).astype(str).tolist()
        ranks = stats.rankdata(-np.array(rows, dtype=float), method="min", axis=1)
        alone, shared = wins(rows)
        assert shared == (ranks == 1).sum(axis=0).tolist()
        single = (ranks == 1).sum(axis=1) == 1
        assert alone == (ranks[single] == 1).sum(axis=0).tolist()


def test_repairs_are_all_numbers_at_one_digit():
    for n, printed in product(range(2, 30), ("0.35", "0.62", "0.99")):
        passing = [number for number in all_numbers(2) if attainable_counts(number, n)]
        one = [x for x in passing if sum(a != b for a, b in zip(x, printed, strict=True)) == 1]
        assert repairs(printed, lambda x, n=n: attainable_counts(x, n)) == sorted(one)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: printed_interval(0.5), "printed must be a string of digits"),
        (lambda: printed_interval("-0.5"), "printed must be a string of digits"),
        (lambda: printed_interval("0.5", "up"), "rounding must be one of"),
        (lambda: attainable_counts("0.5", 0), "n must be an integer"),
        (lambda: mean_and_sd("0.5", "0.1", [3, 0]), "sizes must be an integer"),
        (lambda: mean_and_sd("0.5", "0.1", [3]), "sizes must have more than 1 parts"),
        (lambda: mean_and_sd("0.5", "0.1", [3, 3], ddof=2), "ddof must be an integer"),
        (lambda: mean_and_p("0.5", "0.4", "0.2", 10, 1), "k must be an integer"),
        (lambda: mean_and_p("0.5", "0.4", "1.0", 10, 2), "p must be below"),
    ],
)
def test_wrong_calls_are_told(call, message):
    with pytest.raises(ValueError, match=message):
        call()
