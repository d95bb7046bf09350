"""Papermill runs the copy of every chapter with small parameters, as a stranger would.

What a page offers for download, in a folder with nothing but the file of stored rows, in an
environment with the wheel, matplotlib and `plain.NEEDS` (`make small` makes it; without it, in that
of the tests), or in one with the versions of Python in the browser (`make browser`).
"""

import shutil

import pytest

from book import plain
from book.execute import run
from tests.chapters import outside
from tests.chapters.notebooks import CHAPTERS, code_cells, read, text_of
from tests.chapters.small import SMALL

IN_TEXT = {"book/mvpo/derive.ipynb"}  # its small parameters change numbers of the text alone


@pytest.fixture(scope="session")
def rows(tmp_path_factory):
    """The folder of what copies fetch."""
    folder = tmp_path_factory.mktemp("rows")
    plain.write_rows(folder)
    return folder


def shown(notebook):
    """All that the cells show that is compared."""
    return [
        text_of(output)
        for cell in code_cells(notebook)
        if "nbval-ignore-output" not in cell.metadata.get("tags", []) and cell.id != plain.OUTSIDE
        for output in cell.outputs
        if "scrapbook" not in output.get("metadata", {})  # a number of the text
    ]


@pytest.mark.parametrize("name", CHAPTERS)
def test_what_a_page_offers_runs_with_small_parameters(name, rows, tmp_path, monkeypatch):
    shutil.copytree(rows, tmp_path, dirs_exist_ok=True)
    path = plain.write_copy(CHAPTERS[name], tmp_path / "chapter.ipynb")
    kernel = "python3"
    if (outside.FOLDER / "installed").exists():
        monkeypatch.setenv("JUPYTER_PATH", str(outside.FOLDER / "share" / "jupyter"))
        kernel = outside.KERNEL
    first = read(path).cells[0].source
    if lacks := [name for name in outside.lacks() if f"'{name}'" in first]:
        pytest.skip(f"Pyodide lacks {' and '.join(lacks)}")
    same = shown(run(path, SMALL[name], kernel)) == shown(read(CHAPTERS[name]))
    changes = bool(SMALL[name]) and name not in IN_TEXT
    assert same != changes or kernel == "browser", (
        "what is shown depends on the parameters, and on them alone"
    )
