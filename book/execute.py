"""Execute chapters with papermill and store their outputs, as many at a time as there are cores.

make chapters                               every chapter
make chapters CHAPTERS=book/data.ipynb      the named ones

Running a chapter twice gives the same bytes. `make` hides fetched data from the chapters, so that
no output depends on the computer.
"""

import sys
from pathlib import Path

import nbformat
import papermill
from joblib import Parallel, cpu_count, delayed
from papermill.exceptions import PapermillExecutionError

BOOK = Path(__file__).resolve().parent
# A kernel needs up to half a gigabyte.
MOST_AT_A_TIME = 4
# No patch version of Python, no widths of windows: nothing that differs between computers.
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
CELL_METADATA = ("tags", "mystnb")


def chapters():
    """Return every notebook below book/, the largest first, as these tend to be the slowest."""
    found = sorted(BOOK.rglob("*.ipynb"), key=lambda path: (-path.stat().st_size, path))
    return [path for path in found if ".ipynb_checkpoints" not in path.parts]


def run(path, parameters=None, kernel="python3"):
    """Run a chapter in a fresh kernel in its own folder; return the notebook with its outputs."""
    # Without the argument every kernel prints a remark on its connection.
    client = {"coalesce_streams": True, "extra_arguments": ["--log-level=CRITICAL"]}
    return papermill.execute_notebook(
        path, None, parameters, kernel_name=kernel, cwd=path.parent, progress_bar=False, **client
    )


def store(path):
    """Run one chapter and write its outputs; return its name and, if a cell fails, the error."""
    name = path.relative_to(BOOK.parent).as_posix()
    try:
        notebook = run(path)
    except PapermillExecutionError as error:
        return name, str(error)
    notebook.metadata = nbformat.from_dict(METADATA)
    for cell in notebook.cells:  # without metadata of editors and papermill
        kept = {key: value for key in CELL_METADATA if (value := cell.metadata.get(key))}
        cell.metadata = nbformat.from_dict(kept)
    nbformat.write(notebook, path)
    return name, None


def main():
    paths = [Path(name).resolve() for name in sys.argv[1:]] or chapters()
    jobs = max(1, min(cpu_count(), MOST_AT_A_TIME, len(paths)))
    done = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)(
        delayed(store)(path) for path in paths
    )
    errors = {}
    for number, (name, error) in enumerate(done, start=1):
        print(f"[{number}/{len(paths)}] {name}", flush=True)
        errors |= {name: error} if error else {}
    if errors:
        sys.exit("\n".join([*errors.values(), f"a cell failed in {', '.join(errors)}"]))


if __name__ == "__main__":
    main()
