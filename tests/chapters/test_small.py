"""Every chapter runs from top to bottom with small parameters."""

import matplotlib.pyplot as plt
import pytest
from IPython.core.interactiveshell import InteractiveShell

from tests.chapters.notebooks import CHAPTERS, code_cells, read
from tests.chapters.small import SMALL


@pytest.fixture
def shell(monkeypatch):
    """A shell as a notebook has one, in this process: a kernel would import everything again."""
    shell = InteractiveShell()
    shell.display_pub.publish = lambda *args, **options: None
    shell.displayhook.display_trap = None
    with plt.rc_context():
        yield shell
    plt.close("all")


@pytest.mark.parametrize("name", CHAPTERS)
def test_chapter_runs_with_small_parameters(name, shell, monkeypatch):
    monkeypatch.chdir(CHAPTERS[name].parent)
    for cell in code_cells(read(CHAPTERS[name])):
        shell.run_cell(cell.source).raise_error()
        if "parameters" in cell.metadata.get("tags", []):
            shell.user_ns.update(SMALL[name])
