"""One model of the differences between candidates over data sets, and its numbers as text.

Let :math:`y_{dr}` be a difference of two candidates in split r of data set d. In the model

    y_dr = mean + effect_d + noise_dr

the effects have a variance between data sets, and the noise has its own variance in every data set;
the variances are specific to the difference. The model is linear, so a contrast of the fitted model
is the model of the contrast: :func:`found` fits it, and no other function computes intervals. The
unit is the data set; data sets of one study (`STUDIES`) count as one. Two intervals answer two
questions: where is the mean over data sets like these (CI), and where is the effect in a new data
set (PI), without split noise? Item ``calibration.coverage`` reports how often they cover the truth.
"""

import numpy as np
import pandas as pd
from scipy import stats
from scipy.optimize import brentq

STUDIES = {"tcga-brca": "tcga", "tcga-lgg": "tcga", "tcga-kipan": "tcga"}
NBSP = "\N{NO-BREAK SPACE}"
N_QUANTILES = 200


def found(gaps):
    """Fit the model to differences by data set and repeat; return the mean and both intervals.

    ``low`` and ``high`` are the 95 % interval of the mean over data sets, ``next_low`` and
    ``next_high`` of the effect in a new data set; ``p`` is of the two-sided t test. ``between`` is
    the standard deviation of the effects, ``split`` of a split (root mean square over data sets
    with several), ``share`` the proportion of the variance between means that is due to splits.
    """
    n, means, variances = of_groups(gaps.index.get_level_values("dataset"), gaps)
    split = variances.mean()
    noise = (variances.fillna(split) / n).fillna(0.0)
    studies = [STUDIES.get(name, name) for name in means.index]
    _, means, _ = of_groups(studies, means)
    k, noise, _ = of_groups(studies, noise)
    noise = noise / k
    if len(means) < 2:
        raise ValueError(f"means must be of two data sets or more, got {len(means)}.")
    mean, variance, df = means.mean(), means.var(ddof=1), len(means) - 1
    error, between = np.sqrt(variance / len(means)), np.sqrt(max(variance - noise.mean(), 0.0))
    half = stats.t.ppf(0.975, df) * error
    further = reach_of_next(variance, noise.mean(), df)
    return {"datasets": len(means), "ahead": int((means > 0).sum()), "difference": mean,
            "low": mean - half, "high": mean + half,
            "next_low": mean - further, "next_high": mean + further,
            "p": 2 * stats.t.sf(abs(mean) / error, df) if error else float(mean == 0),
            "between": between, "split": np.sqrt(split),
            "share": min(noise.mean() / variance, 1.0) if variance else 0.0}  # fmt: skip


def reach_of_next(variance, noise, df):
    """Return the half-width of the 95 % prediction interval of the effect in a new data set.

    The variance between effects is the variance of the means minus their noise, and uncertain: we
    average over its confidence distribution, ``max(variance * df / u - noise, 0)`` with u
    chi-squared. Without noise the interval is Student's prediction interval.
    """
    if not variance:
        return 0.0
    total = variance * df / stats.chi2.ppf((np.arange(N_QUANTILES) + 0.5) / N_QUANTILES, df)
    spread = np.sqrt(np.maximum(total - noise, 0.0) + total / (df + 1))
    outside = lambda half: 2 * stats.norm.sf(half / spread).mean() - 0.05  # noqa: E731
    return brentq(outside, 0.0, 20 * spread.max())


def of_groups(groups, values):
    """Return sizes, means and variances of the values of each group; one value has variance NaN."""
    codes, names = pd.factorize(np.asarray(groups))
    values, n = np.asarray(values, dtype=float), np.bincount(codes)
    means = np.bincount(codes, values) / n
    squares = np.bincount(codes, (values - means[codes]) ** 2)
    variances = np.where(n > 1, squares / np.maximum(n - 1, 1), np.nan)
    return (pd.Series(of, names) for of in (n, means, variances))


def points(value):
    """Format a difference in points of accuracy; a difference other than 0 is never shown as 0.

    >>> points(0.0123), points(-0.0004)
    ('+1.2', '−0.04')
    """
    number = 100.0 * value
    text = f"{number:+.2f}" if 0 < abs(number) < 0.05 else f"{round(number, 1) + 0.0:+.1f}"
    return text.replace("-", "\N{MINUS SIGN}")


def short(found, of="low high"):
    """Format a difference in points and its interval for a table whose head names the interval.

    >>> short({"difference": 0.012, "low": -0.0004, "high": 0.02}).replace(NBSP, " ")
    '+1.2 (−0.04 to +2.0)'
    """
    ends = (points(found[end]) for end in of.split())
    return f"{points(found['difference'])} ({' to '.join(ends)})".replace(" ", NBSP)


def told(found):
    """Format a difference in points of accuracy with the interval of its mean, which may contain 0.

    >>> told({"difference": 0.012, "low": -0.0004, "high": 0.02})
    '+1.2 points (95 % CI −0.04 to +2.0)'
    """
    low, high = points(found["low"]), points(found["high"])
    return f"{points(found['difference'])} points (95{NBSP}% CI {low} to {high})"


def by(found):
    """Format the size of a clear difference, for a sentence that states its direction in words.

    >>> by({"difference": -0.012, "low": -0.02, "high": -0.0004})
    '1.2 points (95 % CI 0.04 to 2.0)'
    """
    if found["low"] <= 0 <= found["high"]:
        raise ValueError(f"no direction can be told of {told(found)}: its interval contains zero.")
    ends = sorted((found["low"], found["high"]), key=abs)
    size, low, high = (points(abs(value))[1:] for value in (found["difference"], *ends))
    return f"{size} points (95{NBSP}% CI {low} to {high})"


def told_next(found):
    """Format the prediction interval of the difference on a new data set.

    >>> told_next({"next_low": -0.03, "next_high": 0.054})
    '95 % PI −3.0 to +5.4'
    """
    return f"95{NBSP}% PI {points(found['next_low'])} to {points(found['next_high'])}"
