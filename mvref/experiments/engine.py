"""The engine of the experiments: jobs, the ledger of their results, and runs that can be stopped.

An *item* is a table or a figure of a paper. It yields *jobs*; a job computes a few measures of one
method at one parameter point of one data set in one repeat. Every measure is a row of the paper's
*ledger*, a CSV file. A run computes only what the ledger does not have yet, and appends the rows of
each finished job at once, so it may be stopped at any moment and resumed by the same command.
"""

import hashlib
import json
import os
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from io import BytesIO
from pathlib import Path

import numpy as np
import pandas as pd
import scipy
import sklearn
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits
from tqdm import tqdm

COLUMNS = [
    "paper", "item", "dataset", "method", "parameter", "measure", "repeat", "seed", "value",
    "seconds", "mvref", "python", "numpy", "scipy", "sklearn",
]  # fmt: skip
NUMBERS = {"repeat": "int64", "seed": "int64", "value": float, "seconds": float}
KEY = ["item", "dataset", "method", "parameter", "repeat", "measure"]
LEDGER = Path(__file__).parent / "ledger"


def derive_seed(*words):
    """Return a seed that depends on the words and on nothing else.

    Parameters
    ----------
    *words : objects with a fixed ``str``

    Returns
    -------
    seed : int in [0, 2**32)

    Examples
    --------
    >>> derive_seed("fig2", "mfeat", 0) == derive_seed("fig2", "mfeat", 0)
    True
    """
    digest = hashlib.sha256("|".join(str(word) for word in words).encode()).digest()
    return int.from_bytes(digest[:4], "big")


def encode_parameter(parameter):
    """Write a parameter point as compact JSON, keys in alphabetical order.

    Parameters
    ----------
    parameter : dict

    Returns
    -------
    text : str

    Examples
    --------
    >>> encode_parameter({"missing": 0.3, "L": 200})
    '{"L":200,"missing":0.3}'
    """
    return json.dumps(parameter, sort_keys=True, separators=(",", ":"))


@dataclass(frozen=True)
class Job:
    """The smallest piece of work that a run can skip.

    Parameters
    ----------
    dataset, method : str
    parameter : dict
        Parameter point, for example ``{"L": 200}``.
    repeat : int
    measures : tuple of str
        What `function` returns.
    function : callable
        Picklable; called as ``function(seed=...)``, returns a dict measure -> number.

    Examples
    --------
    >>> from mvref.experiments.engine import Job
    >>> Job("digits", "two", {"a": 1}, 0, ("value",), lambda seed: {"value": 2.0})
    Job(dataset='digits', method='two', parameter={'a': 1}, repeat=0, measures=('value',))
    """

    dataset: str
    method: str
    parameter: dict
    repeat: int
    measures: tuple
    function: Callable = field(repr=False)


@dataclass(frozen=True)
class Item:
    """A table or a figure of a paper.

    Parameters
    ----------
    paper, name : str
        Ledger file and short name, for example "mvl_svm" and "fig2".
    title : str
        What it shows, in one line.
    datasets : tuple of str
        Names as in :func:`mvref.datasets.available`.
    jobs : callable
        ``jobs(dataset, quick, rows)`` yields the jobs; `rows` are the paper's rows so far.
    needs : tuple of str
        Items of the same paper that are run first.
    serial : bool
        One job at a time, because time is what it measures.

    Examples
    --------
    >>> from mvref.experiments.engine import Item
    >>> Item("my_paper", "table1", "what it shows", ("digits",), lambda *_: ()).full_name
    'my_paper.table1'
    """

    paper: str
    name: str
    title: str
    datasets: tuple
    jobs: Callable = field(repr=False)
    needs: tuple = ()
    serial: bool = False

    @property
    def full_name(self):
        """Name with the paper, for example "mvl_svm.fig2": two papers may have a Figure 2."""
        return f"{self.paper}.{self.name}"

    def seed(self, dataset, repeat):
        """Seed of all rows of a repeat, whatever the method and the parameter point."""
        return derive_seed(self.name, dataset, repeat)


@dataclass(frozen=True)
class Ledger:
    """The CSV file of a paper's results.

    Parameters
    ----------
    paper : str
    folder : path, optional
        Default: the ledger that comes with mvref.

    Examples
    --------
    >>> Ledger("no_such_paper").read().empty
    True
    """

    paper: str
    folder: Path | None = None

    @cached_property
    def path(self):
        """Path of the file."""
        return Path(self.folder or LEDGER) / f"{self.paper}.csv"

    def check_writable(self):
        """Raise an OSError, in one sentence, where no row could be written."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with open(self.path, "ab"):
                pass
        except OSError as error:
            raise OSError(
                f"the ledger {self.path} cannot be written ({error.strerror}); choose another "
                "folder with --ledger DIR"
            ) from None

    def read(self, as_text=False):
        """Return the rows as a data frame.

        Parameters
        ----------
        as_text : bool
            Leave numbers as they are written.

        Returns
        -------
        rows : DataFrame
            The columns of the file. A last line without its end, left by a run that was
            killed, is ignored.

        Raises
        ------
        ValueError
            If the file has other columns.
        """
        content = self.path.read_bytes() if self.path.exists() else b""
        whole = content[: content.rfind(b"\n") + 1] or f"{','.join(COLUMNS)}\n".encode()
        rows = pd.read_csv(BytesIO(whole), dtype=str, keep_default_na=False)
        if list(rows.columns) != COLUMNS:
            raise ValueError(f"{self.path} must have the columns {COLUMNS}, got {list(rows)}.")
        return rows if as_text else rows.astype(NUMBERS)

    def append(self, rows):
        """Write rows at the end of the file, all in one piece.

        Parameters
        ----------
        rows : list of dict
            One entry per column.
        """
        with open(self.path, "a+b") as file:
            file.seek(0)
            content = file.read()
            file.truncate(content.rfind(b"\n") + 1)  # what a killed run left of its last line
            frame = pd.DataFrame(rows, columns=COLUMNS)
            text = frame.to_csv(index=False, header=b"\n" not in content, lineterminator="\n")
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())

    def sort(self):
        """Put the rows in their one order, so that two versions differ only where results do."""
        rows = self.read(as_text=True)
        order = sorted(rows.index, key=lambda i: _position(rows.loc[i]))
        text = rows.loc[order].to_csv(index=False, lineterminator="\n")
        if text.encode() != self.path.read_bytes():
            draft = self.path.with_suffix(".tmp")
            draft.write_bytes(text.encode())
            os.replace(draft, self.path)


def _position(row):
    """Sort key of a row: parameters as numbers, not as text."""
    parameter = sorted(json.loads(row["parameter"]).items())
    return row["item"], row["dataset"], row["method"], parameter, int(row["repeat"]), row["measure"]


def missing_jobs(item, dataset, rows, quick=False):
    """Return the jobs of an item that the ledger does not have, or not all measures of.

    Parameters
    ----------
    item : Item
    dataset : str
    rows : DataFrame
        The paper's rows so far.
    quick : bool

    Returns
    -------
    jobs : list of Job

    Examples
    --------
    >>> from mvref.experiments import find_item
    >>> from mvref.experiments.engine import Ledger, missing_jobs
    >>> item = find_item("mvl_svm.extensions")
    >>> missing_jobs(item, "mfeat", Ledger("mvl_svm").read())  # the ledger is complete
    []
    """
    have = _keys(rows)
    return [
        job
        for job in item.jobs(dataset, quick, rows)
        if any(_key(item, job, measure) not in have for measure in job.measures)
    ]


def run(item, dataset, ledger, *, quick=False, n_jobs=1):
    """Compute the rows of an item on one data set that the ledger does not have.

    Parameters
    ----------
    item : Item
    dataset : str
    ledger : Ledger
    quick : bool
        The small variant of the item.
    n_jobs : int
        Processes; ignored by items that measure time.

    Returns
    -------
    n_rows : int
        Number of rows added.

    Notes
    -----
    Every job computes with one thread: the results then do not depend on `n_jobs`, and two
    processes do not fight for the same cores.

    Examples
    --------
    >>> import tempfile
    >>> from mvref.experiments.engine import Item, Job, Ledger, run
    >>> def jobs(dataset, quick, rows):
    ...     yield Job(dataset, "two", {}, 0, ("value",), lambda seed: {"value": 2.0})
    >>> item = Item("my_paper", "table1", "what it shows", ("digits",), jobs)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ledger = Ledger("my_paper", folder)
    ...     run(item, "digits", ledger), run(item, "digits", ledger)
    (1, 0)
    """
    ledger.check_writable()
    rows = ledger.read()
    have, jobs = _keys(rows), missing_jobs(item, dataset, rows, quick)
    n_jobs = 1 if item.serial else n_jobs
    work = Parallel(n_jobs, return_as="generator_unordered", batch_size=1)(
        delayed(execute)(job, item.seed(job.dataset, job.repeat)) for job in jobs
    )
    n_rows = 0
    for job, *result in tqdm(work, f"{item.full_name} {dataset}", len(jobs), disable=not jobs):
        new = _rows_of(item, job, *result)
        new = [row for row in new if _key(item, job, row["measure"]) not in have]
        ledger.append(new)
        n_rows += len(new)
    ledger.sort()
    return n_rows


def execute(job, seed):
    """Run a job in one thread.

    Parameters
    ----------
    job : Job
    seed : int

    Returns
    -------
    job : Job
    values : dict measure -> float
    seconds : float

    Raises
    ------
    ValueError
        If the job returned other measures than it declares, or a value that is not finite.

    Examples
    --------
    >>> from mvref.experiments.engine import Job, execute
    >>> job = Job("digits", "two", {}, 0, ("value",), lambda seed: {"value": 2.0})
    >>> execute(job, seed=0)[1]
    {'value': 2.0}
    """
    start = time.perf_counter()
    with threadpool_limits(1):
        values = job.function(seed=seed)
    if set(values) != set(job.measures) or not np.isfinite(list(values.values())).all():
        raise ValueError(f"{job} must return a finite value for each measure, got {values}.")
    return job, values, time.perf_counter() - start


def _keys(rows):
    return set(rows[KEY].itertuples(index=False, name=None))


def _key(item, job, measure):
    point = encode_parameter(job.parameter)
    return item.name, job.dataset, job.method, point, job.repeat, measure


def _rows_of(item, job, values, seconds):
    """Rows of a finished job; values have six significant digits."""
    from .. import __version__  # not known yet while mvref itself is being imported

    common = {
        "paper": item.paper,
        "item": item.name,
        "dataset": job.dataset,
        "method": job.method,
        "parameter": encode_parameter(job.parameter),
        "repeat": job.repeat,
        "seed": item.seed(job.dataset, job.repeat),
        "seconds": f"{seconds:.3g}",
        "mvref": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "sklearn": sklearn.__version__,
    }
    return [common | {"measure": name, "value": f"{values[name]:.6g}"} for name in job.measures]
