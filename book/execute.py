"""Execute chapters in place, so that running it twice gives the same bytes.

python book/execute.py                   every chapter (this is `make chapters`)
python book/execute.py book/data.ipynb   the named ones
"""

import sys
from pathlib import Path

import nbformat
import nbformat.reader
from nbclient import NotebookClient

BOOK = Path(__file__).resolve().parent
# No patch version of Python, no widths of windows: nothing that differs between machines.
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
CELL_METADATA = ("tags", "mystnb")


def chapters():
    """Every notebook below book/, in a fixed order."""
    found = sorted(BOOK.rglob("*.ipynb"))
    return [path for path in found if ".ipynb_checkpoints" not in path.parts]


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


def execute(path):
    """Run one chapter from top to bottom and store what it prints and draws."""
    # The plain reader: nbformat.read would invent random names for cells without one.
    notebook = nbformat.reader.reads(path.read_text(encoding="utf-8"))
    normalise(notebook)
    client = NotebookClient(
        notebook,
        timeout=600,
        kernel_name="python3",
        record_timing=False,
        coalesce_streams=True,
        resources={"metadata": {"path": str(path.parent)}},
    )
    client.execute()
    normalise(notebook)
    nbformat.write(notebook, path)


def main(names):
    for path in [Path(name).resolve() for name in names] or chapters():
        print(f"executing {path.relative_to(BOOK.parent).as_posix()}", flush=True)
        execute(path)


if __name__ == "__main__":
    main(sys.argv[1:])
