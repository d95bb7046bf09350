"""Papermill runs every chapter with small parameters, in a kernel as a reader's."""

import pytest

from book.execute import run
from tests.chapters.notebooks import CHAPTERS, code_cells, read, text_of
from tests.chapters.small import SMALL


def shown(notebook):
    """All that the cells show that is compared."""
    return [
        text_of(output)
        for cell in code_cells(notebook)
        if "nbval-ignore-output" not in cell.metadata.get("tags", [])
        for output in cell.outputs
    ]


@pytest.mark.parametrize("name", CHAPTERS)
def test_chapter_runs_with_small_parameters(name):
    same = shown(run(CHAPTERS[name], SMALL[name])) == shown(read(CHAPTERS[name]))
    assert same != bool(SMALL[name]), "what is shown depends on the parameters, and on them alone"
