"""The items of all papers by name, and functions that run them."""

import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from mvref import datasets
from mvref.datasets._lookup import unavailable

from . import (
    calibration,
    mvl_svm,
    mvm,
    mvna_kmhks,
    mvpo,
    mwmvc2,
    noise,
    packages,
    problems,
    speed,
    study,
    study_data,
    universes_mvl_svm,
    universes_mvm,
    universes_mvna,
    universes_mvpo,
    universes_mwmvc2,
    voting_text,
)
from .engine import (
    KEY,
    LEDGER,
    Ledger,
    encode_parameter,
    missing_jobs,
    rows_of,
    run,
    stale_rows,
)

PAPERS = (
    mvl_svm, mwmvc2, voting_text, mvpo, noise, mvm, mvna_kmhks, speed, study, calibration,
    universes_mvna, universes_mvl_svm, universes_mwmvc2, universes_mvpo, universes_mvm,
)  # fmt: skip
ITEMS = {item.full_name: item for paper in PAPERS for item in paper.ITEMS}
NOT_HERE = "not on this machine"


def find_item(name):
    """Return the item of a `name`: "table1", or "mvl_svm.fig2" if several papers have a Figure 2.

    A name of no item, or of more than one, raises a ValueError.

    >>> from mvref.experiments import find_item
    >>> find_item("mvl_svm.fig2").title
    'test accuracy over the number of landmarks'
    """
    found = {full: item for full, item in ITEMS.items() if name in (full, item.name)}
    if len(found) > 1:
        raise ValueError(f"item {name!r} is one of {list(found)}: name the paper too.")
    if not found:
        raise ValueError(f"item must be one of {list(ITEMS)} or their short names, got {name!r}.")
    return found.popitem()[1]


def in_order(items):
    """Return the items sorted, each after the items that it needs."""
    ordered = []
    for item in items:
        needed = in_order(ITEMS[f"{item.paper}.{name}"] for name in item.needs)
        ordered += [i for i in [*needed, item] if i not in ordered]
    return ordered


def run_items(names, *, quick=False, n_jobs=1, n_repeats=None, folder=None, only=None, say=None):
    """Run items and the items that they need, on the data sets available on this computer.

    `names` are names of items, or "all". `quick` runs small variants, by default in a new temporary
    folder, so that their rows never mix with the ledger. `n_jobs`: number of processes;
    `n_repeats`, by default all: number of repeats of every cell, which can be extended later;
    `folder`: by default the folder of the ledger; `only`: the only data set to run; `say`: called
    with messages to the user, by default prints them to stderr. Returns the folder of the rows. An
    unknown item or data set raises a ValueError, a ledger that cannot be written an OSError.
    :func:`status` lists the items, and :func:`cost_lines` their costs.

    >>> from mvref.experiments import run_items
    >>> run_items(["mwmvc2.fig2"], only="no data")
    Traceback (most recent call last):
        ...
    ValueError: the data set must be one of ['digits', ...
    """
    say = say or (lambda text: print(text, file=sys.stderr))
    items = in_order(ITEMS.values() if "all" in names else [find_item(name) for name in names])
    known = sorted({dataset for item in items for dataset in item.datasets})
    if only is not None and only not in known:
        raise ValueError(f"the data set must be one of {known}, got {only!r}.")
    if folder is None:
        folder = tempfile.mkdtemp(prefix="mvref-quick-") if quick else LEDGER
    asked, here = set(known if only is None else [only]), data_here()
    for dataset in sorted(asked - here):
        say(f"Skipped: {unavailable(dataset, f'it is {NOT_HERE}')}")
    for item in items:
        ledger = Ledger(item.paper, Path(folder))
        for dataset in item.datasets:
            if dataset in asked & here:
                options = {"quick": quick, "n_jobs": n_jobs, "n_repeats": n_repeats}
                n_rows = run(item, dataset, ledger, **options)
                say(f"{item.full_name} {dataset}: {n_rows} rows added to {ledger.path}")
    return Path(folder)


def data_here():
    """Return the data sets available on this computer, and the simulated ones."""
    drawn = (mvm, mvna_kmhks, speed, calibration)
    here = {*datasets.available(), *(name for paper in drawn for name in paper.DRAWN)}
    here |= {*(problems.PEOPLE if "uwave" in here else ()), *study_data.OF_SKLEARN}
    here |= set(filter(packages.there, packages.FILES))
    return here | {name for name, file in universes_mwmvc2.FILES.items() if file in here}


def status(folder=None):
    """Describe each item and how much of it the ledger has, in a list of lines.

    `folder` is by default the folder of the ledger that comes with mvref.

    >>> from mvref.experiments import status
    >>> print(status()[0].splitlines()[0])
    mvl_svm.fig2       test accuracy over the number of landmarks
    """
    parts = defaultdict(list)
    for item, dataset, rows, here in _with_rows(folder):
        todo = f"{len(missing_jobs(item, dataset, rows))} jobs left" if here else NOT_HERE
        parts[item].append(f"{dataset}: {len(rows_of(item, dataset, rows))} rows, {todo}")
    return [
        f"{item.full_name:18s} {item.title}\n{'':18s} {'; '.join(parts[item])}" for item in parts
    ]


def cost_lines(names, folder=None):
    """Estimate the processor hours that remain for some items from the stored rows.

    The estimate for a job is the mean of its cell or, if the cell has no rows, the mean of its
    method at the same point on other data sets. `names` are names of items; `folder` is by default
    the folder of the ledger. Returns a list of lines.

    >>> from mvref.experiments import cost_lines
    >>> cost_lines(["mvm.order"])[0]
    'mvm.order planted-linear: 0 jobs left, 0.00 h of one processor'
    """
    lines = []
    for item in map(find_item, names):
        rows = Ledger(item.paper, folder).read()
        jobs = rows[rows["item"] == item.name].drop_duplicates(KEY[:-1])
        cells = ["method", "parameter"]
        of_cell = jobs.groupby(["dataset", *cells])["seconds"].mean().to_dict()
        of_method = jobs.groupby(cells)["seconds"].mean().to_dict()
        for dataset in [name for name in item.datasets if name in data_here()]:
            left = missing_jobs(item, dataset, rows)
            keys = [(job.method, encode_parameter(job.parameter)) for job in left]
            found = [of_cell.get((job.dataset, *key), of_method.get(key))
                     for job, key in zip(left, keys, strict=True)]  # fmt: skip
            unknown = found.count(None)
            hours = sum(seconds or 0.0 for seconds in found) / 3600
            line = (
                f"{item.full_name} {dataset}: {len(left)} jobs left, {hours:.2f} h of one processor"
            )
            lines.append(
                line + (f", {unknown} of unknown cost: run --repeats 1" if unknown else "")
            )
    return lines


def stale_lines(folder=None):
    """List the rows that may be out of date: their code has changed since, or is not known."""
    lines = []
    for item, dataset, rows, here in _with_rows(folder):
        told = [] if here else [NOT_HERE]
        if here:
            unknown, stale = stale_rows(item, dataset, rows)
            counts = stale["method"].value_counts(sort=False)
            told += [f"{count} stale of {method}" for method, count in counts.items()]
            told += [f"{len(unknown)} of unknown code"] if len(unknown) else []
        n_rows = len(rows_of(item, dataset, rows))
        if n_rows and told:
            lines.append(f"{item.full_name} {dataset}: {n_rows} rows, {', '.join(told)}")
    return lines or ["no row is stale"]


def _with_rows(folder):
    """Yield every item with each of its data sets, the paper's rows, and whether data are here."""
    here = data_here()
    for item in ITEMS.values():
        rows = Ledger(item.paper, folder).read()
        for dataset in item.datasets:
            yield item, dataset, rows, dataset in here
