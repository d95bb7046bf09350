"""Protocols as tables: methods, their points, repeats, data splits, and timing."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import product

import numpy as np
from sklearn.model_selection import StratifiedKFold, train_test_split

from .engine import Job


@dataclass(frozen=True)
class Cell:
    """Method at a point of a table.

    point: names the cell in the ledger; options: further arguments of the function, which the
    point overrides.
    """

    method: str
    point: Mapping
    measures: tuple
    n_repeats: int = 1
    options: Mapping = field(default_factory=dict)


def jobs_of(label, name, cells, function):
    """Yield the jobs of a table, one repeat of all cells after the other.

    label, name: the data set in the ledger, and for the function, which is called as
    ``function(name, method, measures=..., seed=..., **point, **options)``.
    """
    for repeat in range(max((cell.n_repeats for cell in cells), default=0)):
        for cell in cells:
            if repeat < cell.n_repeats:
                given = {"measures": cell.measures, **cell.options, **cell.point}
                run = partial(function, name, cell.method, **given)
                yield Job(label, cell.method, cell.point, repeat, cell.measures, run)


def grid(**values):
    """Return the points of a grid, each a dict; the first name changes slowest."""
    return [dict(zip(values, point, strict=True)) for point in product(*values.values())]


def stratified_parts(y, seed, rows=None, **size):
    """Cut rows, by default all, into two stratified parts; size: see ``train_test_split``."""
    rows = np.arange(len(y)) if rows is None else rows
    return train_test_split(rows, stratify=y[rows], random_state=seed, **size)


def stratified_folds(y, train, n_folds, seed):
    """Split the training set into shuffled folds, each with the classes in their proportions."""
    cut = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    return [(train[fit], train[check]) for fit, check in cut.split(train, y[train])]


def seconds_of(function, n_times=1):
    """Return the result of a function, and its processor time, the median of `n_times` calls."""
    times = []
    for _ in range(n_times):
        start = time.process_time()
        result = function()
        times.append(time.process_time() - start)
    return result, float(np.median(times))


def timed(function, short=0.1, n_times=3):
    """Return the result of a function, and its seconds; the median of more calls if it is fast."""
    result, seconds = seconds_of(function)
    return (result, seconds) if seconds > short else seconds_of(function, n_times)
