"""Intervals of a mean difference of two methods over splits, or over samples.

Splits of one data set share samples, so their differences are not independent, and the variance
that the ordinary t-test estimates from them is too small. Nadeau and Bengio, "Inference for the
generalization error", Machine Learning 52, 2003, replace its factor 1/J by 1/J + n_test/n_train:
the *corrected resampled t-test*. Where a score is a mean over samples, as accuracy is, these
tell more than the few means of parts: each has been tested once in a repeat, and the variance of
its difference over n is a consistent estimate (Bayle, Bayle, Janson and Mackey, "Cross-validation
confidence intervals for test error", NeurIPS 2020). ``book/experiments/calibration.py`` measures
the level and the power of both.
"""

import numpy as np
from scipy import stats


def paired_interval(differences, ratio=0.0, level=0.95):
    """Return the mean difference of two methods, and its interval; ratio: n_test/n_train, or 0."""
    d, spread = with_spread(differences, ratio)
    half = spread * stats.t.ppf((1.0 + level) / 2.0, len(d) - 1)
    return float(d.mean()), float(d.mean() - half), float(d.mean() + half)


def with_spread(differences, ratio):
    """The differences, and the standard error of their mean."""
    d = np.asarray(differences, dtype=float)
    if d.ndim != 1 or len(d) < 2 or not np.isfinite(d).all():
        raise ValueError(f"differences must be two or more finite numbers, got {differences!r}.")
    if not ratio >= 0:
        raise ValueError(f"ratio must be >= 0, got {ratio!r}.")
    return d, np.sqrt((1.0 / len(d) + ratio) * d.var(ddof=1))


def interval_of_samples(differences, sizes, level=0.95):
    """Return the mean difference over samples, and its interval.

    differences, sizes: of each repeat an array (n_units,), the sum of a unit's differences and how
    many samples it has; a unit is a sample, or a group whose samples belong together. The variance
    is that of one repeat: more repeats make the mean steadier, and not the interval shorter.
    """
    means, variances = [], []
    for d, size in zip(differences, sizes, strict=True):
        mean = d.sum() / size.sum()
        rest = d - mean * size
        means.append(mean)
        variances.append(len(d) / (len(d) - 1) * rest @ rest / size.sum() ** 2)
    mean, quantile = np.mean(means), stats.t.ppf((1.0 + level) / 2.0, len(d) - 1)
    half = quantile * np.sqrt(np.mean(variances))
    return float(mean), float(mean - half), float(mean + half)
