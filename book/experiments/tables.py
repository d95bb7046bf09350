"""A protocol as a table: which methods run at which points, how often, and what is measured."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

from .engine import Job


@dataclass(frozen=True)
class Cell:
    """A method at a point of a table.

    point: names the cell in the ledger; options: what the function is told where the point says
    nothing.
    """

    method: str
    point: Mapping
    measures: tuple
    n_repeats: int = 1
    options: Mapping = field(default_factory=dict)


def jobs_of(label, name, cells, function):
    """Yield the jobs of a table, a repeat of all its cells before the next one.

    label, name: the data set in the ledger, and for the function, which is called as
    ``function(name, method, measures=..., seed=..., **point, **options)``.
    """
    for repeat in range(max((cell.n_repeats for cell in cells), default=0)):
        for cell in cells:
            if repeat < cell.n_repeats:
                given = {"measures": cell.measures, **cell.options, **cell.point}
                run = partial(function, name, cell.method, **given)
                yield Job(label, cell.method, cell.point, repeat, cell.measures, run)
