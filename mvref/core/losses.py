"""Losses and penalties with their derivatives: MVM's Eqs. (11)-(15) and (17)-(21).

A loss takes scores s and targets y, shape (n,), and returns the loss of every sample and its
derivative with respect to the score: values, slopes (n,). Labels are -1 and +1. In
ln(1 + e^{-ys}), Eq. (12), no exponential of a positive number is taken, so that none overflows.

For alternating least squares a majoriser takes scores s, their variances v and targets y, and
returns weights u and targets t such that the loss is at most u (s - t)^2 plus a constant, and equal
at s, or in the mean over scores with mean s and variance v. That of the logistic loss is Jaakkola
and Jordan's (Statistics and Computing 10, 2000), with xi^2 = s^2 + v.
"""

import numpy as np


def squared(s, y):
    """Return (s - y)^2, Eq. (11), and 2 (s - y), Eq. (17)."""
    residual = s - y
    return residual**2, 2.0 * residual


def logistic(s, y):
    """Return ln(1 + e^{-ys}), Eq. (12), and -y / (1 + e^{ys}), Eq. (18).

    >>> values, slopes = logistic(np.array([0.0, -1000.0]), np.array([1.0, 1.0]))
    >>> values.round(4).tolist(), slopes.tolist()
    ([0.6931, 1000.0], [-0.5, -1.0])
    """
    margin = y * s
    decay = np.exp(-np.abs(margin))
    values = np.log1p(decay) + np.maximum(-margin, 0.0)
    return values, -y * np.where(margin > 0, decay, 1.0) / (1.0 + decay)


def hinge(s, y):
    """Return max(0, 1 - ys), Eq. (13), and its subgradient -y [ys < 1], Eq. (19)."""
    slack = np.maximum(1.0 - y * s, 0.0)
    return slack, -y * (slack > 0)


def squared_hinge(s, y):
    """Return max(0, 1 - ys)^2 and -2y max(0, 1 - ys): a hinge with a derivative."""
    slack = np.maximum(1.0 - y * s, 0.0)
    return slack**2, -2.0 * y * slack


def _logistic_bound(s, v, y):
    xi = np.maximum(np.sqrt(s**2 + v), 1e-8)
    u = np.tanh(xi / 2) / (4.0 * xi)
    return u, y / (4.0 * u)


MAJORISERS = {
    "squared": lambda s, v, y: (1.0, y),
    "logistic": _logistic_bound,
    "squared_hinge": lambda s, v, y: (1.0, np.where(y * s < 1, y, s)),
}


def _squared_evidence(s, v, y, weights):
    """Return the most likely noise variance, and minus the expected log likelihood."""
    T = np.mean(weights * ((s - y) ** 2 + v)) + 1e-12 * np.mean(weights * y**2) + 1e-300
    return T, 0.5 * len(y) * (np.log(2.0 * np.pi * T) + 1.0)


def _logistic_evidence(s, v, y, weights):
    """Return 1/2 and the bound of minus the expected log likelihood."""
    xi = np.sqrt(s**2 + v)
    return 0.5, float(weights @ (np.log1p(np.exp(-xi)) + (xi - y * s) / 2))


EVIDENCE = {"squared": _squared_evidence, "logistic": _logistic_evidence}
LOSSES = {loss.__name__: loss for loss in (logistic, squared_hinge, hinge, squared)}


def l2(A, smoothing):
    """Return sum a^2, Eq. (14), and 2a, Eq. (20)."""
    return float(np.vdot(A, A)), 2.0 * A


def l1(A, smoothing):
    """Return sum sqrt(a^2 + eps), Eq. (15), and a / sqrt(a^2 + eps), Eq. (21), eps = smoothing."""
    size = np.sqrt(A**2 + smoothing)
    return float(size.sum()), A / size


PENALTIES = {"l2": l2, "l1": l1}
