"""Checks of single parameters, each with a sentence that names the parameter."""

import sys
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning


def check_number(value, name, *, low=None, high=None, low_open=False, integer=False):
    """Raise a ValueError unless `value` is a number in the interval that is allowed.

    name: Name of the parameter, for the message; low, high: Limits of the interval; `low` itself is
    allowed unless `low_open`; integer: Ask for an integer.
    """
    kinds = (int, np.integer) if integer else (int, float, np.integer, np.floating)
    good = isinstance(value, kinds) and not isinstance(value, bool) and np.isfinite(value)
    if good and low is not None:
        good = value > low if low_open else value >= low
    if good and high is not None:
        good = value <= high
    if not good:
        kind = "an integer" if integer else "a number"
        limits = "" if low is None else f" {'>' if low_open else '>='} {low}"
        limits += "" if high is None else f"{' and' if limits else ''} <= {high}"
        raise ValueError(f"{name} must be {kind}{limits}, got {value!r}.")
    return value


def check_choice(value, name, allowed):
    """Raise a ValueError unless `value` is one of the strings `allowed`."""
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{name} must be one of {list(allowed)}, got {value!r}.")
    return value


def warn_caller(message, category=ConvergenceWarning):
    """Warn at the line outside of mvref that called it, however deep the call is."""
    depth = 2
    while sys._getframe(depth - 1).f_globals.get("__name__", "").startswith("mvref."):
        depth += 1
    warnings.warn(message, category, stacklevel=depth)
