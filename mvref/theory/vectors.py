"""Checks of the vectors and probabilities that the functions of the theory take."""

import numpy as np

from ..core.input import as_numbers, check_number


def check_vector(values, name):
    """Return `values` as a non-empty vector of finite numbers, or raise a ValueError.

    name: name of the argument, for the message -> values (m,).
    """
    values = as_numbers(values, name)
    if values.ndim != 1 or values.size == 0 or not np.isfinite(values).all():
        raise ValueError(
            f"{name} must be a non-empty vector of finite numbers, got shape {values.shape}."
        )
    return values


def check_per_view(values, name):
    """Return `values` as a list, one array of numbers per view, or raise a ValueError."""
    if not isinstance(values, list | tuple | np.ndarray):
        raise ValueError(f"{name} must be a list of one array per view, got {values!r}.")
    return [as_numbers(of_view, f"{name}[{v}]") for v, of_view in enumerate(values)]


def check_callable(function, name):
    """Raise a ValueError unless `function` can be called."""
    if not callable(function):
        raise ValueError(f"{name} must be a function, got {function!r}.")


def in_unit_interval(values, name, open_interval=False):
    """Return `values` as a vector of numbers between 0 and 1, or raise a ValueError.

    open_interval: refuse 0 and 1 -> values (m,).
    """
    values = check_vector(values, name)
    low, high = values.min(), values.max()
    inside = 0 < low and high < 1 if open_interval else 0 <= low and high <= 1
    if not inside:
        where = "strictly between 0 and 1" if open_interval else "between 0 and 1"
        raise ValueError(f"{name} must lie {where}, got values from {low:g} to {high:g}.")
    return values


def check_delta(delta):
    """Raise a ValueError unless `delta` is a probability strictly between 0 and 1."""
    check_number(delta, "delta", low=0, low_open=True)
    if delta >= 1:
        raise ValueError(f"delta must be a probability below 1, got {delta!r}.")


def check_same_length(a, name_a, b, name_b):
    """Raise a ValueError unless two vectors have the same length."""
    if a.shape != b.shape:
        raise ValueError(f"{name_a} and {name_b} must agree in length, got {len(a)} and {len(b)}.")
