"""Losses and penalties with their derivatives: MVM's Eqs. (11)-(15) and (17)-(21).

A loss takes scores s and targets y, shape (n,), and returns the loss of every sample and its
derivative with respect to the score: values, slopes (n,). Labels are -1 and +1. In
ln(1 + e^{-ys}), Eq. (12), no exponential of a positive number is taken, so that none overflows.
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


LOSSES = {loss.__name__: loss for loss in (logistic, squared_hinge, hinge, squared)}


def l2(A, smoothing):
    """Return sum a^2, Eq. (14), and 2a, Eq. (20)."""
    return float(np.vdot(A, A)), 2.0 * A


def l1(A, smoothing):
    """Return sum sqrt(a^2 + eps), Eq. (15), and a / sqrt(a^2 + eps), Eq. (21), eps = smoothing."""
    size = np.sqrt(A**2 + smoothing)
    return float(size.sum()), A / size


PENALTIES = {"l2": l2, "l1": l1}
