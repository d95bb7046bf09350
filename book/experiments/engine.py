"""The engine of the experiments: jobs, the ledger of their results, and runs that can be stopped.

An *item* is a table or a figure of a paper. It yields *jobs*; a job computes a few measures of one
method at one parameter point of one data set in one repeat. Every job is a line of the paper's
*ledger*, a CSV file, and every measure a row of the table read from it. A run computes only what
the ledger lacks, and appends each finished job at once, so it may be stopped at any moment and
resumed by the same command.

Keys of rows are unique, and a writer holds the ledger's lock: two simultaneous runs may compute a
job twice, but write it once. ``environment`` names the versions that a job ran with, in a table
beside the ledgers; ``code`` is a fingerprint of the code that made it
(:mod:`mvref.experiments.fingerprint`), which older jobs lack.
"""

import csv
import hashlib
import json
import os
import platform
import time
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from io import StringIO
from itertools import chain
from math import isfinite
from pathlib import Path

import numpy as np
import pandas as pd
import scipy
import sklearn
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits
from tqdm import tqdm

import mvref
from mvref.compare.seeds import derive_seed

from .fingerprint import fingerprint

COLUMNS = [
    "paper", "item", "dataset", "method", "parameter", "measure", "repeat", "seed", "value",
    "seconds", "mvref", "python", "numpy", "scipy", "sklearn", "code",
]  # fmt: skip
TYPES = dict.fromkeys(COLUMNS, "str")
TYPES |= {"repeat": int, "seed": int, "value": float, "seconds": float}
JOB = ["item", "dataset", "method", "parameter", "repeat"]
KEY = [*JOB, "measure"]
VERSIONS = ["mvref", "python", "numpy", "scipy", "sklearn"]
FIELDS = [*JOB, "seed", "seconds", "environment", "code", "values"]  # fields of a line in the file
LEDGER = Path(__file__).parent / "ledger"


def encode_parameter(parameter):
    """Write a `parameter` point, a dict, as compact JSON, keys in alphabetical order.

    >>> from mvref.experiments.engine import encode_parameter
    >>> encode_parameter({"missing": 0.3, "L": 200})
    '{"L":200,"missing":0.3}'
    """
    return json.dumps(parameter, sort_keys=True, separators=(",", ":"))


@dataclass(frozen=True)
class Job:
    """The smallest piece of work that a run can skip.

    `parameter` is a point, for example ``{"L": 200}``; `function` is picklable, and
    ``function(seed=...)`` returns a dict measure -> number with exactly the `measures`. `dataset`,
    `method` and `repeat` are as in the row.

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

    `paper` and `name` are its ledger file and short name, such as "mvl_svm" and "fig2", and `title`
    is a one-line description; `datasets` are names as in :func:`mvref.datasets.available`.
    ``jobs(dataset, quick, rows)`` yields the jobs; rows are the paper's rows so far. The items of
    the same paper that it `needs` run first. A `serial` item runs one job at a time, because it
    measures time. Items with the same word `seeds`, by default the name, have the same seeds, and
    so the same splits.

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
    seeds: str = ""

    @property
    def full_name(self):
        """Name with the paper, for example "mvl_svm.fig2": two papers may have a Figure 2."""
        return f"{self.paper}.{self.name}"

    def seed(self, dataset, repeat):
        """Return the seed of a `repeat` on a `dataset`, the same for all methods and points."""
        return derive_seed(self.seeds or self.name, dataset, repeat)


@dataclass(frozen=True)
class Ledger:
    """CSV file of a `paper`'s results, with a line for each job.

    It is in `folder`, by default the folder of the repository's ledger.

    >>> from mvref.experiments.engine import Ledger
    >>> Ledger("no_such_paper").read().empty
    True
    """

    paper: str
    folder: Path | None = None

    @cached_property
    def path(self):
        """Path of the file."""
        return Path(self.folder or LEDGER) / f"{self.paper}.csv"

    @cached_property
    def environments(self):
        """Path of the table of versions, which all papers of a folder share."""
        return self.path.with_name("environments.csv")

    def check_writable(self):
        """Raise an OSError with a one-sentence message if no row can be written."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.open("ab").close()
        except OSError as error:
            raise OSError(
                f"the ledger {self.path} cannot be written ({error.strerror}); choose another "
                "folder with --ledger DIR"
            ) from None

    def read(self):
        """Return a row for each measure; ignore an incomplete last line, left by a killed run.

        A file with other columns, a damaged line, or a duplicate row raises a ValueError.
        """
        content = self.path.read_bytes() if self.path.exists() else b""
        known = self.environments.read_text("utf-8") if self.environments.exists() else ""
        return _rows(_whole_lines(content), known, self.path).copy()

    def append(self, rows):
        """Append those rows that the file does not have yet, all in one piece.

        `rows` are dicts with an entry per column. Returns how many were written.
        """
        rows = [{name: str(row[name]) for name in COLUMNS} for row in rows]
        for row in rows:
            words = [row[name] for name in ("measure", *VERSIONS)]
            if any(set(',;"\n\r') & set(word) or not word for word in words):
                raise ValueError(f"{self.path} takes no such measure or version: {words}.")
        keys = [tuple(row[name] for name in KEY) for row in rows]
        if twice := [key for key, count in Counter(keys).items() if count > 1]:
            raise ValueError(f"{self.path} takes no row twice: {twice[0]}.")
        with locked(self.path), open(self.path, "a+b") as file:
            file.seek(0)
            whole = _whole_lines(file.read())
            _check_header(next(iter(_lines(whole[: whole.find(b"\n") + 1])), FIELDS), self.path)
            new = [row for row in rows if row["measure"] not in _measures_of(row, whole)]
            lines = self._lines_of(new)
            file.truncate(len(whole))  # drop an incomplete last line, left by a killed run
            file.write(_csv(*lines, header=not whole).encode())
            file.flush()
            os.fsync(file.fileno())
        return len(new)

    def keep(self, item, job, content):
        """Write the bytes `content`, returned by a `job` of an `item`, to the file of the job."""
        path = self.file(item, job.dataset, job.parameter, job.repeat)
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_suffix(".tmp")
        draft.write_bytes(content)
        os.replace(draft, path)

    def file(self, item, dataset, parameter, repeat):
        """Return the file of the bytes of a job: `item`, `dataset`, `parameter`, `repeat`."""
        point = [str(value) for _, value in sorted(parameter.items())]
        name = "-".join([item, dataset, *point, str(repeat)])
        return self.path.with_suffix("") / f"{name}.xz"

    def sort(self):
        """Sort the lines, so that two versions of the file differ only where results do."""
        with locked(self.path):
            content = self.path.read_bytes()
            ordered = _csv(*sorted(_lines(content)[1:], key=_position), header=True).encode()
            if ordered != content:
                draft = self.path.with_suffix(".tmp")
                try:
                    draft.write_bytes(ordered)
                    os.replace(draft, self.path)
                finally:
                    draft.unlink(missing_ok=True)

    def _lines_of(self, rows):
        """Return the fields of a line for each job."""
        jobs = defaultdict(list)
        for row in rows:
            environment = self._environment([row[name] for name in VERSIONS])
            fields = [row[name] for name in (*JOB, "seed", "seconds")]
            jobs[*fields, environment, row["code"]].append(f"{row['measure']}={row['value']}")
        lines = [[*fields, ";".join(sorted(values))] for fields, values in jobs.items()]
        for line in lines:
            try:
                if any({"\n", "\r"} & set(field) for field in line):
                    raise ValueError("a word of more than one line")
                _parsed(line)
            except ValueError as error:
                raise ValueError(f"{self.path} takes no such row, {error}: {line}.") from None
        return lines

    def _environment(self, versions):
        """Return the name of a set of versions, and add it to the table if it is missing there."""
        name = hashlib.sha256(",".join(versions).encode()).hexdigest()[:4]
        with locked(self.environments), open(self.environments, "a+b") as file:
            file.seek(0)
            known = file.read() or b"environment," + ",".join(VERSIONS).encode() + b"\n"
            if f"\n{name},".encode() not in known:
                file.truncate(0)
                file.write(known + ",".join([name, *versions]).encode() + b"\n")
        return name


def checksum(content):
    """Return six digits that distinguish one content from another.

    >>> checksum(b"a"), checksum(b"b")
    (355907, 338681)
    """
    return zlib.crc32(content) % 10**6


@contextmanager
def locked(path):
    """Hold the exclusive lock for writing a file; a killed process releases its lock."""
    try:
        with open(path.with_suffix(".lock"), "ab") as file:
            if os.name == "nt":
                import msvcrt

                msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
            else:
                import fcntl

                fcntl.flock(file, fcntl.LOCK_EX)
            yield  # closing the file frees the lock
    except OSError as error:
        if error.errno is None:  # its message is already a sentence
            raise
        raise OSError(
            f"{path} cannot be written ({error.strerror}); what is there is kept, and the same "
            "command goes on from it."
        ) from None


@lru_cache(maxsize=8)
def _rows(content, environments, path):
    """Return the rows of a file with this content; a ValueError names the first damaged line."""
    header, *lines = _lines(content) or [FIELDS]
    _check_header(header, path)
    known = {name: of for name, *of in csv.reader(environments.split("\n")[:-1])}
    jobs, names, values = [], [], []
    for number, line in enumerate(lines, 2):
        try:
            *job, measured, numbers = _parsed(line)
            if job[-2] not in known:
                raise ValueError(f"environment {job[-2]!r} is not in environments.csv")
            jobs.append([*job, *known[job[-2]]])
        except ValueError as error:
            raise ValueError(f"{path}, line {number}: {error}.") from None
        names.append(measured)
        values += numbers
    of_jobs = pd.DataFrame(jobs, columns=[*FIELDS[:-1], *VERSIONS])
    rows = of_jobs.loc[np.repeat(of_jobs.index, [len(measured) for measured in names])]
    rows = rows.assign(paper=path.stem, measure=[*chain(*names)], value=values)
    if (again := rows.duplicated(KEY)).any():
        raise ValueError(f"{path}, line {rows.index[again][0] + 2}: a row that is there already.")
    return rows[COLUMNS].reset_index(drop=True).astype(TYPES)


def _check_header(header, path):
    if header != FIELDS:
        raise ValueError(f"{path} must have the columns {FIELDS}, got {ascii(header)}.")


def _parsed(line):
    """Return the fields of a line, converted; the last two are the measures and their values."""
    if len(line) != len(FIELDS):
        raise ValueError(f"{len(line)} fields and not {len(FIELDS)}")
    item, dataset, method, parameter, repeat, seed, seconds, environment, code, values = line
    try:
        _point(parameter)
        parts = [part.rpartition("=") for part in values.split(";")]
        names, numbers = [name for name, _, _ in parts], [float(value) for *_, value in parts]
        job = item, dataset, method, parameter, int(repeat), int(seed), float(seconds)
    except (AttributeError, ValueError):
        raise ValueError("a parameter that is no point, or a number that is none") from None
    if not all(map(isfinite, [*numbers, job[-1]])):
        raise ValueError(f"values {values}, seconds {seconds}")
    return *job, environment, code, names, numbers


def _lines(content):
    """Return the fields of every line as they are written."""
    lines = content.decode(errors="replace").replace("\r\n", "\n").split("\n")[:-1]
    return [[] if "\r" in line else next(csv.reader([line]), []) for line in lines]


def _whole_lines(content):
    return content[: content.rfind(b"\n") + 1]


def _csv(*rows, header=False):
    text = StringIO()
    csv.writer(text, lineterminator="\n").writerows([FIELDS, *rows] if header else rows)
    return text.getvalue()


def _measures_of(row, content):
    """Return the measures that a file with this content has for the job of a row."""
    start = f"\n{_csv([row[name] for name in JOB])[:-1]},".encode()
    lines = [part.partition(b"\n")[0] for part in content.split(start)[1:]]
    values = [line.decode().rpartition(",")[2].strip('"') for line in lines]
    return {value.rpartition("=")[0] for value in ";".join(values).split(";")}


def _position(line):
    """Return the sort key of a line, with parameters as numbers, not as text."""
    item, dataset, method, parameter, repeat, *others = line
    return item, dataset, method, _point(parameter), int(repeat), others


@cache
def _point(text):
    point = sorted(json.loads(text).items())
    return [(name, isinstance(value, str), value) for name, value in point]


def with_parameters(rows):
    """Return the rows with a column for every parameter, and the names of the parameters."""
    texts = rows["parameter"].tolist()
    points = {text: json.loads(text) for text in set(texts)}
    names = sorted({name for point in points.values() for name in point})
    columns = {name: [points[text].get(name, np.nan) for text in texts] for name in names}
    return rows.assign(**columns), names


def missing_jobs(item, dataset, rows, quick=False):
    """Return the jobs of an item that the ledger lacks, wholly or in some measures.

    `rows` are the paper's rows so far; `item`, `dataset` and `quick` are as in :func:`run`.

    >>> from mvref.experiments.engine import Ledger, missing_jobs
    >>> from mvref.experiments import find_item
    >>> missing_jobs(find_item("mvl_svm.extensions"), "mfeat", Ledger("mvl_svm").read())
    []
    """
    have = set(_keys(rows[rows["item"] == item.name]))
    return [
        job
        for job in item.jobs(dataset, quick, rows)
        if any(_key(item, job, measure) not in have for measure in job.measures)
    ]


def rows_of(item, dataset, rows):
    """Return the rows of an item for a data set, which may have several names there."""
    others = rows["dataset"].isin({*item.datasets} - {dataset})  # "moons-disturbed" for "moons"
    own = rows["dataset"].str.startswith(dataset) & ~others
    return rows[(rows["item"] == item.name) & own]


def stale_rows(item, dataset, rows):
    """Return the paper's rows of unknown code, and the rows that no current job would write."""
    now = {}
    for job in item.jobs(dataset, False, rows):
        code = fingerprint(job, item.seed(job.dataset, job.repeat))
        now |= {_key(item, job, measure): code for measure in job.measures}
    own = rows_of(item, dataset, rows)
    unknown = own["code"] == ""
    fresh = own["code"] == [now.get(key) for key in _keys(own)]
    return own[unknown], own[~unknown & ~fresh]


def run(item, dataset, ledger, *, quick=False, n_jobs=1, n_repeats=None):
    """Compute the rows of an `item` on one `dataset` that the `ledger` does not have.

    Every job uses one thread, so that results do not depend on `n_jobs`, the number of processes
    (which items that measure time ignore), and processes do not compete for cores. `quick` runs
    the small variant of the item; `n_repeats`, by default all, limits the repeats of every cell.
    Returns the number of added rows.

    >>> from mvref.experiments.engine import Item, Job, Ledger, run
    >>> import tempfile
    >>> def jobs(dataset, quick, rows):
    ...     yield Job(dataset, "two", {}, 0, ("value",), lambda seed: {"value": 2.0})
    >>> item = Item("my_paper", "table1", "what it shows", ("digits",), jobs)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ledger = Ledger("my_paper", folder)
    ...     run(item, "digits", ledger), run(item, "digits", ledger)
    (1, 0)
    """
    ledger.check_writable()
    jobs = missing_jobs(item, dataset, ledger.read(), quick)
    jobs = [job for job in jobs if n_repeats is None or job.repeat < n_repeats]
    work = Parallel(1 if item.serial else n_jobs, return_as="generator_unordered", batch_size=1)(
        delayed(execute)(job, item.seed(job.dataset, job.repeat)) for job in jobs
    )
    work = tqdm(work, f"{item.full_name} {dataset}", len(jobs), disable=not jobs)
    n_rows = 0
    for job, values, seconds in work:
        contents = {name: value for name, value in values.items() if isinstance(value, bytes)}
        values |= {name: float(checksum(content)) for name, content in contents.items()}
        n_new = ledger.append(_rows_of(item, job, values, seconds))
        for content in contents.values() if n_new else ():  # another run may have been faster
            ledger.keep(item.name, job, content)
        n_rows += n_new
    ledger.sort()
    return n_rows


def execute(job, seed):
    """Run a `job` with a `seed` in one thread; return it, its values by measure, and the seconds.

    Measures other than the declared ones, or a number that is not finite, raise a ValueError; bytes
    are kept in a file of the job, see :meth:`Ledger.keep`.

    >>> from mvref.experiments.engine import Job, execute
    >>> job = Job("digits", "two", {}, 0, ("value",), lambda seed: {"value": 2.0})
    >>> execute(job, seed=0)[1]
    {'value': 2.0}
    """
    start = time.perf_counter()
    with threadpool_limits(1):
        values = job.function(seed=seed)
    numbers = [value for value in values.values() if not isinstance(value, bytes)]
    if set(values) != set(job.measures) or not np.isfinite(numbers).all():
        raise ValueError(f"{job} must return a finite value for each measure, got {values}.")
    return job, values, time.perf_counter() - start


def _keys(rows):
    columns = (rows[name].to_numpy(object).tolist() for name in KEY)  # pandas iterates text slowly
    return zip(*columns, strict=True)


def _key(item, job, measure):
    point = encode_parameter(job.parameter)
    return item.name, job.dataset, job.method, point, job.repeat, measure


def _rows_of(item, job, values, seconds):
    """Return the rows of a finished job; values have six significant digits."""
    seed = item.seed(job.dataset, job.repeat)
    made_by = {
        "paper": item.paper,
        "seed": seed,
        "seconds": f"{seconds:.3g}",
        "mvref": mvref.__version__,
        "python": platform.python_version(),
        **{module.__name__: module.__version__ for module in (np, scipy, sklearn)},
        "code": fingerprint(job, seed),
    }
    return [
        dict(zip(KEY, _key(item, job, name), strict=True), value=f"{values[name]:.6g}") | made_by
        for name in job.measures
    ]
