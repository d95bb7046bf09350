"""Execute chapters, as many at a time as there are cores (four at the most).

python book/execute.py                   every chapter, in place (this is `make chapters`)
python book/execute.py book/data.ipynb   the named ones, in place
python book/execute.py --cache           those that the builder's cache lacks, into it; `make book`
                                         does this first, since the builder runs one after another

Running a chapter in place twice gives the same bytes.
"""

import sys
from pathlib import Path

import nbformat
import nbformat.reader
from joblib import Parallel, cpu_count, delayed
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

BOOK = Path(__file__).resolve().parent
CACHE = BOOK.parent / "_build" / ".jupyter_cache"
# A kernel takes up to half a gigabyte.
MOST_AT_A_TIME = 4
# No patch version of Python, no widths of windows: nothing that differs between machines.
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
CELL_METADATA = ("tags", "mystnb")


def chapters():
    """Every notebook below book/, the largest first: these tend to be the slowest."""
    found = sorted(BOOK.rglob("*.ipynb"), key=lambda path: (-path.stat().st_size, path))
    return [path for path in found if ".ipynb_checkpoints" not in path.parts]


def name_of(path):
    """The path as a reader knows it."""
    return path.relative_to(BOOK.parent).as_posix()


def read(path):
    """Read a chapter with the plain reader: nbformat.read invents names for cells without one."""
    return nbformat.reader.reads(path.read_text(encoding="utf-8"))


def normalise(notebook):
    """Drop what editors and kernels add, and name the cells that have no name yet."""
    notebook.metadata = nbformat.from_dict(METADATA)
    notebook.nbformat_minor = 5
    names = {cell.get("id") for cell in notebook.cells}
    for number, cell in enumerate(notebook.cells, start=1):
        if "id" not in cell:
            cell["id"] = f"cell-{number}" if f"cell-{number}" not in names else f"new-{number}"
        for key in set(cell.metadata) - set(CELL_METADATA):
            del cell.metadata[key]


def run(notebook, path):
    """Run a chapter from top to bottom, in its own folder."""
    NotebookClient(
        notebook,
        timeout=600,
        kernel_name="python3",
        record_timing=False,
        coalesce_streams=True,
        # Without this every kernel remarks on its connection.
        extra_arguments=["--log-level=ERROR"],
        resources={"metadata": {"path": str(path.parent)}},
    ).execute()


def execute(path):
    """Run one chapter; return its path, the notebook and, where a cell fails, the error."""
    notebook = read(path)
    normalise(notebook)
    try:
        run(notebook, path)
    except CellExecutionError as error:
        return path, notebook, str(error)
    normalise(notebook)
    return path, notebook, None


def lacking(cache):
    """The chapters that the cache does not have in their present form."""
    for path in chapters():
        try:
            cache.match_cache_notebook(read(path))
        except KeyError:
            yield path


def main(names):
    """Execute what the command line asks for; one line for each chapter that is done."""
    cache = get_cache(CACHE) if names == ["--cache"] else None
    if cache:
        paths = list(lacking(cache))
    else:
        paths = [Path(name).resolve() for name in names] or chapters()
    jobs = max(1, min(cpu_count(), MOST_AT_A_TIME, len(paths)))
    failed = []
    done = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)(
        delayed(execute)(path) for path in paths
    )
    for number, (path, notebook, error) in enumerate(done, start=1):
        print(f"[{number}/{len(paths)}] {name_of(path)}", flush=True)
        if error:
            failed.append(name_of(path))
            print(error, file=sys.stderr)
        elif cache:
            bundle = CacheBundleIn(notebook, str(path))
            cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)
        else:
            nbformat.write(notebook, path)
    if failed:
        sys.exit(f"a cell failed in {', '.join(failed)}")


if __name__ == "__main__":
    main(sys.argv[1:])
