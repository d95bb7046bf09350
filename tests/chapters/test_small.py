"""Every chapter runs from top to bottom with small parameters."""

import papermill
import pytest

from tests.chapters.notebooks import CHAPTERS
from tests.chapters.small import SMALL


@pytest.mark.parametrize("name", CHAPTERS)
def test_chapter_runs_with_small_parameters(name, tmp_path):
    papermill.execute_notebook(
        CHAPTERS[name],
        tmp_path / "executed.ipynb",
        parameters=SMALL[name],
        cwd=CHAPTERS[name].parent,
        kernel_name="python3",
        progress_bar=False,
    )
