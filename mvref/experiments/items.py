"""The items of all papers by name, and how they are run."""

import sys
import tempfile
from pathlib import Path

from .. import datasets
from ..datasets._lookup import unavailable
from . import missing_views, mvl_svm, mvm, mvna_kmhks, mvpo, mwmvc2, side_by_side, speed
from .engine import Ledger, missing_jobs, rows_of, run, stale_rows, stored

PAPERS = (mvl_svm, mwmvc2, mvpo, mvm, mvna_kmhks, missing_views, side_by_side, speed)
ITEMS = {item.full_name: item for paper in PAPERS for item in paper.ITEMS}


def find_item(name):
    """Return the item of a name.

    Parameters
    ----------
    name : str
        "table1", or "mvl_svm.fig2" where several papers have a Figure 2.

    Returns
    -------
    item : Item

    Raises
    ------
    ValueError
        If no item, or more than one, has the name.

    Examples
    --------
    >>> from mvref.experiments.items import find_item
    >>> find_item("mvl_svm.fig2").title
    'test accuracy over the number of landmarks'
    """
    found = [full for full, item in ITEMS.items() if name in (full, item.name)]
    if len(found) > 1:
        raise ValueError(f"item {name!r} is one of {found}: name the paper too.")
    if not found:
        raise ValueError(f"item must be one of {list(ITEMS)} or their short names, got {name!r}.")
    return ITEMS[found[0]]


def in_order(items):
    """Return items, each after the items that it needs."""
    ordered = []
    for item in items:
        needed = in_order(ITEMS[f"{item.paper}.{name}"] for name in item.needs)
        ordered += [i for i in [*needed, item] if i not in ordered]
    return ordered


def run_items(names, *, quick=False, n_jobs=1, folder=None, only=None, say=None):
    """Run items and what they need, on the data sets that are on this machine.

    Parameters
    ----------
    names : list of str
        Names of items; "all" for all.
    quick : bool
        Small variants, by default into a new temporary folder: their rows never mix with those
        of the ledger.
    n_jobs : int
    folder : path, optional
        Folder of the ledger.
    only : str, optional
        The only data set to run.
    say : callable, optional
        Takes the messages to the user; default: prints them to stderr.

    Returns
    -------
    folder : Path
        Where the rows are.

    Raises
    ------
    ValueError
        If an item or a data set is unknown.
    OSError
        If the ledger cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from mvref.experiments import run_items
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     where = run_items(["mwmvc2.fig2"], quick=True, folder=folder, only="no data")
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
        folder = tempfile.mkdtemp(prefix="mvref-quick-") if quick else stored()
    here = _here()
    for dataset in known if only is None else [only]:
        if dataset not in here:
            say(f"Skipped: {unavailable(dataset, 'it is not on this machine')}")
    for item in items:
        ledger = Ledger(item.paper, Path(folder))
        for dataset in item.datasets:
            if dataset in here and only in (None, dataset):
                n_rows = run(item, dataset, ledger, quick=quick, n_jobs=n_jobs)
                say(f"{item.full_name} {dataset}: {n_rows} rows added to {ledger.path}")
    return Path(folder)


def _here():
    """Data sets that are on this machine, and those that are drawn."""
    drawn = (mvm, mvna_kmhks, missing_views, speed)
    return {*datasets.available(), *(name for paper in drawn for name in paper.DRAWN)}


def status(folder=None):
    """Tell what each item is and how much of it the ledger has.

    Parameters
    ----------
    folder : path, optional

    Returns
    -------
    lines : list of str

    Examples
    --------
    >>> from mvref.experiments import status
    >>> print(status()[0].splitlines()[0])
    mvl_svm.fig2       test accuracy over the number of landmarks
    """
    here = _here()
    lines = []
    for full, item in ITEMS.items():
        rows = Ledger(item.paper, folder).read()
        parts = []
        for dataset in item.datasets:
            n_rows = len(rows_of(item, dataset, rows))
            left = len(missing_jobs(item, dataset, rows)) if dataset in here else None
            todo = "not on this machine" if left is None else f"{left} jobs left"
            parts.append(f"{dataset}: {n_rows} rows, {todo}")
        lines.append(f"{full:18s} {item.title}\n{'':18s} {'; '.join(parts)}")
    return lines


def stale_lines(folder=None):
    """Tell which rows the code of today may not write: it has changed since, or is not known."""
    here, lines = _here(), []
    for full, item in ITEMS.items():
        rows = Ledger(item.paper, folder).read()
        for dataset in item.datasets:
            n_rows = len(rows_of(item, dataset, rows))
            told = _stale(item, dataset, rows) if dataset in here else "not on this machine"
            if n_rows and told:
                lines.append(f"{full} {dataset}: {n_rows} rows, {told}")
    return lines or ["no row is stale"]


def _stale(item, dataset, rows):
    unknown, stale = stale_rows(item, dataset, rows)
    counts = stale["method"].value_counts(sort=False)
    told = [f"{count} stale of {method}" for method, count in counts.items()]
    told += [f"{len(unknown)} of unknown code"] if len(unknown) else []
    return ", ".join(told)
