"""The interval of a mean difference of two methods over splits.

Splits of one data set share samples, so their differences are not independent, and the variance
that the ordinary t-test estimates from them is too small. Nadeau and Bengio, "Inference for the
generalization error", Machine Learning 52, 2003, replace its factor 1/J by 1/J + n_test/n_train:
the *corrected resampled t-test*.
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
