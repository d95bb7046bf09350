"""Find a data file: in a package, ``MVREF_DATA`` or the user cache, or by a checked download.

Package   for some data sets: the files of an installed Python package, which is not imported.
Folders   ``$MVREF_DATA/<data set>``, then ``<cache>/<data set>``; the cache is ``$MVREF_CACHE`` or
          the operating system's usual place (``pooch.os_cache("mvref")``).
Checks    a file with a registered sha256 is checked each time it is opened, wherever it came from.
Download  by pooch, into a temporary file beside its destination, moved there only after the check.
          An address that ends in ``.gz`` is unpacked before the check and kept unpacked. A download
          that is larger or takes longer than `LARGEST` and `LONGEST` allow is aborted.
"""

import errno
import gzip
import hashlib
import logging
import os
import shutil
import sys
import tempfile
import time
import warnings
import zlib
from contextlib import suppress
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from ._sources import BY_HAND, FILES, FOLDERS, PACKAGES

# data set -> its forms, each a list of files; a tuple holds alternative files
FORMS = {name: [list(files)] if files else [] for name, files in FILES.items()}
DAMAGED_GZIP = (gzip.BadGzipFile, EOFError, zlib.error)
LARGEST = 200_000_000  # bytes of a download, packed and unpacked; the largest known file has 47e6
LONGEST = 3600  # seconds of a download


class DatasetUnavailable(OSError):
    """Exception: a data set is not on this machine and could not be fetched."""


class DatasetCorrupted(ValueError):
    """Exception: the content of a data file differs from the known file."""


@cache
def _pooch():
    """Return pooch, imported on first use."""
    with warnings.catch_warnings():  # a missing ipywidgets in a notebook, which is not needed
        warnings.simplefilter("ignore")
        import pooch
    return pooch


def data_folders(dataset):
    """Return the folders that are searched for a data set; the last one is the cache.

    dataset: a name of :func:`mvref.datasets.available`; several may share one folder.
    """
    own = os.environ.get("MVREF_CACHE") or _pooch().os_cache("mvref")
    roots = filter(None, [os.environ.get("MVREF_DATA"), own])
    return [Path(root).expanduser() / FOLDERS[dataset] for root in roots]


def _in_package(dataset, file):
    """Return possible paths of a file in a package, where its name lacks the folder as prefix."""
    package, _, below = PACKAGES.get(dataset, "").partition("/")
    spec = find_spec(package) if package else None
    places = spec.submodule_search_locations if spec else None
    return [Path(p) / below / file.removeprefix(f"{Path(below).name}_") for p in places or ()]


def unavailable(dataset, reason):
    """Return the exception that explains why a data set is missing and how to get it."""
    return DatasetUnavailable(
        f"data set {dataset!r} is not available: {reason}. {BY_HAND[dataset]} into the folder "
        f"{data_folders(dataset)[0]}"
    )


def locate(dataset, *files):
    """Return the path of the first of `files` that exists, or of its ``.gz``, or None."""
    for file in files:
        folders = data_folders(dataset)
        here = [path for folder in folders for path in (folder / file, folder / f"{file}.gz")]
        for path in _in_package(dataset, file) + here:
            if os.path.isfile(path):  # False, not an error, in a folder without permission
                return path
    return None


def locate_all(dataset, names, otherwise=""):
    """Return key -> path of the file with one of the key's `names`; raise if one is missing."""
    paths = {key: locate(dataset, *files) for key, files in names.items()}
    missing = [" or ".join({Path(f).name: f for f in names[k]}) for k in paths if paths[k] is None]
    if missing:
        some = ", ".join(missing[:3]) + (f" and {len(missing) - 3} more" if missing[3:] else "")
        raise unavailable(dataset, f"{otherwise}of {len(paths)} files, these are missing: {some}")
    return paths


def folder_of(dataset):
    """Return the folder of the first form of a data set that is complete, or None."""
    for form in FORMS[dataset]:
        paths = [locate(dataset, *([f] if isinstance(f, str) else f)) for f in form]
        if all(paths):
            return paths[0].parent
    return None


def open_content(path):
    """Open a file, or the content of a ``.gz``, for reading bytes."""
    return gzip.open(path) if path.suffix == ".gz" else open(path, "rb")


def read_content(path):
    """Return the content of a file or of a ``.gz``, which must be complete."""
    try:
        with open_content(path) as stream:
            content = stream.read(LARGEST + 1 if path.suffix == ".gz" else -1)
    except DAMAGED_GZIP as error:
        raise DatasetCorrupted(f"{path} is not a complete gzip file ({error})") from None
    if path.suffix == ".gz" and len(content) > LARGEST:
        raise DatasetCorrupted(f"{path} has more than {LARGEST} bytes when it is unpacked")
    return content


def read_of(dataset, path):
    """Return the content of a file of a data set, or raise the reason why it cannot be read."""
    try:
        return read_content(path)
    except OSError as error:
        raise unavailable(dataset, f"{path} cannot be read ({error.strerror})") from None


def read_numbers(dataset, path):
    """Return the numbers of a text file, separated by blanks, tabs or commas, as a table."""
    lines = read_of(dataset, path).splitlines()
    try:
        if not lines or not lines[0].strip():
            raise ValueError("the first line is empty")
        return np.loadtxt(lines, delimiter="," if b"," in lines[0] else None, ndmin=2)
    except ValueError as error:
        raise DatasetCorrupted(f"{path} cannot be read as a table of numbers: {error}") from None


def find(dataset, file):
    """Return the path of a file on this machine, after a check of its sha256 if that is known."""
    path = locate(dataset, file)
    if path is not None and file in FILES[dataset]:
        expected, _ = FILES[dataset][file]
        found = hashlib.sha256(read_of(dataset, path)).hexdigest()
        if found != expected:
            raise DatasetCorrupted(
                f"{path} differs from the file that mvref expects: expected sha256 {expected}, "
                f"found {found}. Delete the file and download it again"
            )
    return path


def fetch(dataset, file):
    """Return the path of a file; download it if it is missing and has a registered address."""
    path = find(dataset, file)
    if path is not None:
        return path
    sha256, url = FILES[dataset].get(file, (None, None))
    if url is None:
        raise unavailable(dataset, f"there is no file {file}")
    return _download(dataset, file, url, sha256)


def _download(dataset, file, url, sha256):
    """Download one file into the cache; leave either the checked file or nothing."""
    folder = data_folders(dataset)[-1]
    _check_writable(dataset, folder)
    _sweep(folder)
    bar = sys.stderr is not None and sys.stderr.isatty()
    logger = _pooch().get_logger()
    level = logger.level
    logger.setLevel(logging.WARNING)  # no messages from pooch
    try:
        downloader = partial(_get, progressbar=bar)
        _pooch().retrieve(url, f"sha256:{sha256}", file, folder, downloader=downloader)
    except OSError as error:  # every exception of `requests` is an OSError
        cause = error.strerror or type(error).__name__  # messages of network libraries fill a page
        if getattr(error, "response", None) is not None:
            cause = f"HTTP status {error.response.status_code}"
        raise unavailable(dataset, f"{url} could not be downloaded ({cause})") from None
    except ValueError as error:  # pooch's error for a wrong hash
        raise DatasetCorrupted(f"the download of {file} from {url} was refused: {error}") from None
    finally:
        logger.setLevel(level)
    return folder / file


class _Limited:
    """File wrapper that limits the size and the duration of a download."""

    def __init__(self, file):
        self.file = file
        self.left = LARGEST
        self.end = time.monotonic() + LONGEST

    def write(self, content):
        """Write `content`, or raise an error that `_download` reports."""
        self.left -= len(content)
        if self.left < 0:
            raise ValueError(f"it has more than {LARGEST} bytes")
        if time.monotonic() > self.end:
            raise TimeoutError(errno.ETIMEDOUT, f"it takes more than {LONGEST} s")
        self.file.write(content)

    def flush(self):
        """Do nothing: pooch flushes after each chunk."""


def _get(url, output_file, pooch_of_url, progressbar):
    """Download within the limits and unpack a gzip file: pooch then checks its content."""
    # Small chunks, because the time is checked only when a full one has arrived.
    get = _pooch().HTTPDownloader(progressbar=progressbar, chunk_size=256)
    with open(output_file, "wb") as file:
        if not url.endswith(".gz"):
            get(url, _Limited(file), pooch_of_url)
            return
        with tempfile.TemporaryFile(dir=Path(output_file).parent) as packed:
            get(url, _Limited(packed), pooch_of_url)
            packed.seek(0)
            try:
                with gzip.open(packed) as content:
                    shutil.copyfileobj(content, _Limited(file))
            except DAMAGED_GZIP as error:
                raise ValueError(f"it is not a complete gzip file ({error})") from None


def _sweep(folder):
    """Remove temporary files of killed downloads, which are older than any download."""
    for path in folder.glob("tmp????????"):
        with suppress(OSError):
            if time.time() - path.stat().st_mtime > LONGEST:
                path.unlink()


def _check_writable(dataset, folder):
    """Check that the cache is writable, to tell a read-only cache from a network failure."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise unavailable(
            dataset,
            f"the cache folder {folder} is not writable ({error.strerror}). Set MVREF_CACHE to a "
            f"writable folder, or MVREF_DATA to one with a subfolder {folder.name} for these files",
        ) from None
