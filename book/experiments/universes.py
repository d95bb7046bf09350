"""Choices that a paper leaves open, as axes: each combination is a universe, and an item's point.

A failed universe is a row as well: its measure ``failure`` is the number of the reason in
`FAILURES`, from 1, and its other measures are 0 and not read. Any other error is a bug, and stops
the run. :mod:`.multiverse` reads the rows.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from .engine import Item, encode_parameter
from .tables import Cell, grid, jobs_of

PAPER = "multiverse"  # name of the ledger
FAILURES = (
    (np.linalg.LinAlgError, "a matrix is singular"),
    (ValueError, "the method refuses the data or the setting"),
    (FloatingPointError, "a value is not finite"),
)


@dataclass(frozen=True)
class Statement:
    """Statement of a paper about several numbers at once.

    It holds in a universe where ``value(means)`` is more than `above`; means: a row per universe, a
    column (data set, method, measure) per mean over the repeats. datasets: the data sets concerned,
    by default all of the multiverse; only universes that they have in common are used.
    """

    text: str
    value: Callable = field(repr=False)
    above: float = 0.0
    datasets: tuple = ()


@dataclass(frozen=True)
class Multiverse:
    """Universes of one table or figure.

    axes: name -> choices, or name -> {data set: choices}, the first axis varies slowest; methods:
    name -> measures; function: as in :func:`.tables.jobs_of`; paper, place: of its printed numbers,
    if there are any; rules: (reason, predicate), a universe is left out if
    ``predicate(dataset, universe)`` is true; without: method -> axes that it does not have; stated:
    parameter point of the paper's ledger item `place` that follows the paper's text; statements:
    name -> :class:`Statement`; n_again: repeats of the universes found by the search. All universes
    of a data set share the seeds of their repeats.
    """

    name: str
    title: str
    datasets: tuple
    axes: Mapping
    methods: Mapping
    function: Callable = field(repr=False)
    paper: str = ""
    place: str = ""
    rules: tuple = ()
    without: Mapping = field(default_factory=dict)
    stated: Mapping | None = None
    statements: Mapping = field(default_factory=dict)
    n_repeats: int = 4
    n_again: int = 10

    def choices(self, dataset):
        """Return axis -> choices of a data set."""
        return {
            axis: found[dataset] if isinstance(found, Mapping) else found
            for axis, found in self.axes.items()
        }

    def universes(self, dataset):
        """Return all admissible combinations of choices, as dicts."""
        every = grid(**self.choices(dataset))
        return [u for u in every if not any(rule(dataset, u) for _, rule in self.rules)]

    def point(self, method, universe):
        """Return the choices of a universe on the axes of a method."""
        missing = self.without.get(method, ())
        return {axis: value for axis, value in universe.items() if axis not in missing}

    def points(self, method, dataset):
        """Return the distinct points of a method over all universes."""
        seen = (self.point(method, universe) for universe in self.universes(dataset))
        return list({encode_parameter(point): point for point in seen}.values())

    def keys(self, method, universes):
        """Return a method's point in each universe, as written in the ledger."""
        axes = [axis for axis in self.axes if axis not in self.without.get(method, ())]
        seen = [tuple(map(universe.get, axes)) for universe in universes]
        texts = {u: encode_parameter(dict(zip(axes, u, strict=True))) for u in set(seen)}
        return [texts[values] for values in seen]

    def jobs(self, dataset, quick, rows):
        """Return the jobs of every method at its points; quick: one repeat, one point in nine."""
        n_repeats = 1 if quick else self.n_repeats
        cells = [
            Cell(method, point, (*measures, "failure"), n_repeats)
            for method, measures in self.methods.items()
            for point in self.points(method, dataset)[:: 9 if quick else None]
        ]
        return jobs_of(dataset, dataset, cells, partial(attempt, self.function))

    @property
    def item(self):
        """Item that runs the multiverse."""
        return Item(PAPER, self.name, self.title, self.datasets, self.jobs)


def attempt(function, *names, measures, **given):
    """Return a function's measures with failure 0, or zeros and the number of the failure."""
    try:
        found = function(*names, measures=measures[:-1], **given)
        if not np.isfinite(list(found.values())).all():
            raise FloatingPointError
    except tuple(kind for kind, _ in FAILURES) as error:
        number = [isinstance(error, kind) for kind, _ in FAILURES].index(True) + 1
        return dict.fromkeys(measures, 0.0) | {"failure": float(number)}
    return found | {"failure": 0.0}
