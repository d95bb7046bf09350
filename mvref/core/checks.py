"""Checks of single parameters, each with a sentence that names the parameter."""

import sys
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

KERNELS = ("linear", "rbf", "precomputed", "gram")
LIBRARIES = ("mvref", "sklearn", "joblib")  # whose lines are not the user's


def check_number(value, name, *, low=-np.inf, high=np.inf, low_open=False, integer=False):
    """Raise a ValueError unless `value` is a number in the interval that is allowed.

    name: of the parameter, for the message; low, high: limits of the interval; `low` itself is
    allowed unless `low_open`.
    """
    kinds = (int, np.integer) if integer else (int, float, np.integer, np.floating)
    good = isinstance(value, kinds) and not isinstance(value, bool) and np.isfinite(value)
    if not good or not low <= value <= high or (low_open and value == low):
        kind = "an integer" if integer else "a number"
        limits = [f" {'>' if low_open else '>='} {low}"] if low > -np.inf else []
        limits += [f" <= {high}"] if high < np.inf else []
        raise ValueError(f"{name} must be {kind}{' and'.join(limits)}, got {value!r}.")
    return value


def check_choice(value, name, allowed):
    """Raise a ValueError unless `value` is one of the strings `allowed`."""
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{name} must be one of {list(allowed)}, got {value!r}.")
    return value


def check_kernel(kernel, gamma):
    """Raise a ValueError unless a view can have this kernel, and this width of it."""
    if not callable(kernel) and not (isinstance(kernel, str) and kernel in KERNELS):
        raise ValueError(f"kernel must be one of {list(KERNELS)} or callable, got {kernel!r}.")
    if isinstance(gamma, str) and gamma != "mean":
        raise ValueError(f"gamma must be None, 'mean' or a number > 0, got {gamma!r}.")
    if gamma is not None and not isinstance(gamma, str):
        check_number(gamma, "gamma", low=0, low_open=True)


def warn_caller(message, category=ConvergenceWarning):
    """Warn at the line of the user that called, however deep the call is."""
    depth, frame = 1, sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").split(".")[0] in LIBRARIES:
        depth, frame = depth + 1, frame.f_back
    warnings.warn(message, category, stacklevel=depth + 1)
