"""What a paper leaves open, as axes: every admissible choice is a universe, and a point of an item.

A failed universe is a row as well: its measure ``failure`` is the number of the reason in
`FAILURES`, from 1, and its other measures are 0 and not read. Any other error is a mistake of ours,
and stops the run. :mod:`.multiverse` reads the rows.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from .engine import Item, encode_parameter
from .tables import Cell, grid, jobs_of

PAPER = "multiverse"  # of the ledger
FAILURES = (
    (np.linalg.LinAlgError, "a matrix is singular"),
    (ValueError, "the method refuses the data or the setting"),
    (FloatingPointError, "a value is not finite"),
)


@dataclass(frozen=True)
class Statement:
    """A sentence of a paper about several numbers at once.

    It holds in a universe where ``value(means)`` is more than `above`; means: a row per universe, a
    column (data set, method, measure) per mean over the repeats. datasets: of which it speaks, by
    default all of the multiverse; their universes are those that all of them have.
    """

    text: str
    value: Callable = field(repr=False)
    above: float = 0.0
    datasets: tuple = ()


@dataclass(frozen=True)
class Multiverse:
    """The universes of one table or figure.

    axes: name -> choices, or name -> {data set: choices}, the first axis varies slowest; methods:
    name -> measures; function: as of :func:`.tables.jobs_of`; paper, place: of its printed numbers,
    where there are some; rules: (reason, predicate), a universe is left out where
    ``predicate(dataset, universe)`` is true; without: method -> axes that it does not have; stated:
    parameter point of the paper's ledger item `place` that follows what the paper says; statements:
    name -> :class:`Statement`; n_again: repeats of what the search has found. All universes of a
    data set share the seeds of their repeats.
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
        """Axis -> what a data set may choose there."""
        return {
            axis: found[dataset] if isinstance(found, Mapping) else found
            for axis, found in self.axes.items()
        }

    def universes(self, dataset):
        """All admissible choices, as dicts."""
        every = grid(**self.choices(dataset))
        return [u for u in every if not any(rule(dataset, u) for _, rule in self.rules)]

    def point(self, method, universe):
        """What a method sees of a universe."""
        missing = self.without.get(method, ())
        return {axis: value for axis, value in universe.items() if axis not in missing}

    def points(self, method, dataset):
        """What a method sees of all of them, each once."""
        seen = (self.point(method, universe) for universe in self.universes(dataset))
        return list({encode_parameter(point): point for point in seen}.values())

    def keys(self, method, universes):
        """What a method sees of each universe, as the ledger writes it."""
        axes = [axis for axis in self.axes if axis not in self.without.get(method, ())]
        seen = [tuple(map(universe.get, axes)) for universe in universes]
        texts = {u: encode_parameter(dict(zip(axes, u, strict=True))) for u in set(seen)}
        return [texts[values] for values in seen]

    def jobs(self, dataset, quick, rows):
        """Every method in what it sees of each universe; quick: one repeat, one in nine."""
        n_repeats = 1 if quick else self.n_repeats
        cells = [
            Cell(method, point, (*measures, "failure"), n_repeats)
            for method, measures in self.methods.items()
            for point in self.points(method, dataset)[:: 9 if quick else None]
        ]
        return jobs_of(dataset, dataset, cells, partial(attempt, self.function))

    @property
    def item(self):
        """The item that runs it."""
        return Item(PAPER, self.name, self.title, self.datasets, self.jobs)


def attempt(function, *names, measures, **given):
    """What a function measures, and that it did not fail; or the number of the reason."""
    try:
        found = function(*names, measures=measures[:-1], **given)
        if not np.isfinite(list(found.values())).all():
            raise FloatingPointError
    except tuple(kind for kind, _ in FAILURES) as error:
        number = [isinstance(error, kind) for kind, _ in FAILURES].index(True) + 1
        return dict.fromkeys(measures, 0.0) | {"failure": float(number)}
    return found | {"failure": 0.0}
