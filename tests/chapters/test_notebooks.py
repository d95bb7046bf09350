"""The stored chapters: executed, clean, readable by everyone; and execution that repeats itself."""

import copy
import re
import subprocess
import sys

import nbformat
import nbformat.v4 as v4
import pytest

from book.execute import METADATA, store
from tests.chapters.notebooks import (
    CHAPTERS,
    ROOT,
    code_cells,
    exercise_faults,
    faults,
    parameter_names,
    read,
    text_of,
)
from tests.chapters.small import SMALL

METHODS = ("mvl_svm", "mwmvc2", "mvpo", "mvm", "mvna_kmhks")


@pytest.mark.parametrize("name", CHAPTERS)
def test_chapter_has_no_fault(name):
    assert faults(read(CHAPTERS[name])) == []


@pytest.mark.parametrize("name", [name for name in CHAPTERS if name.split("/")[1] in METHODS])
def test_exercises_of_the_parts_are_graded_and_have_hints(name):
    assert list(exercise_faults(read(CHAPTERS[name]))) == []


def test_ungraded_exercises_are_found():
    text = "```{exercise} Two\n:label: ex-two\n\nHow much is it?\n```\n"
    told = list(exercise_faults(v4.new_notebook(cells=[v4.new_markdown_cell(text)])))
    assert len(told) == 2 and all("ex-two" in line for line in told)


@pytest.mark.parametrize("name", CHAPTERS)
def test_small_parameters_are_parameters_of_the_chapter(name):
    assert name in SMALL, f"give {name} an entry in tests/chapters/small.py"
    assert set(SMALL[name]) <= parameter_names(read(CHAPTERS[name]))


def test_the_command_of_the_set_up_page_is_one_that_runs():
    text = (ROOT / "book" / "setup.md").read_text(encoding="utf-8")
    [(name, parameter, value)] = re.findall(r"papermill (\S+) mine.ipynb -p (\S+) (\S+)\n", text)
    assert SMALL[name] == {parameter: int(value)}


def test_small_parameters_belong_to_chapters():
    assert set(SMALL) <= set(CHAPTERS)


PNG = {"image/png": "iVBORw0KGgo="}


@pytest.fixture
def sound():
    """A notebook without a fault: parameters, a figure with its text, a printed number."""
    alt = {"mystnb": {"image": {"alt": "A line that rises."}}}
    cells = [
        v4.new_code_cell("n = 5", metadata={"tags": ["parameters"]}, execution_count=1),
        v4.new_code_cell(
            "draw()",
            metadata=alt,
            execution_count=2,
            outputs=[v4.new_output("display_data", data=PNG)],
        ),
        v4.new_code_cell(
            "print(n)", execution_count=3, outputs=[v4.new_output("stream", text="5\n")]
        ),
        v4.new_code_cell(""),
    ]
    return v4.new_notebook(cells=cells, metadata=copy.deepcopy(METADATA))


def ignored_parameter(notebook):
    notebook.cells[2].source = "print(5)"


def parameter_set_again(notebook):
    notebook.cells[2].source = "n = 5\nprint(n)"


def never_executed(notebook):
    notebook.cells[2].execution_count = None


def executed_out_of_order(notebook):
    notebook.cells[1].execution_count = 7


def error(notebook):
    notebook.cells[2].outputs = [
        v4.new_output("error", ename="ValueError", evalue="", traceback=[])
    ]


def warning(notebook):
    notebook.cells[2].outputs = [v4.new_output("stream", name="stderr", text="a warning")]


def path_of_a_machine(notebook):
    notebook.cells[2].outputs[0].text = "read /home/ada/data.csv"


def address_of_an_object(notebook):
    data = {"text/plain": "<function f at 0x7f54b8a1c>"}
    notebook.cells[2].outputs = [v4.new_output("execute_result", data=data)]


def numpy_spelling(notebook):
    notebook.cells[2].outputs[0].text = "np.float64(4.1)"


def no_parameters(notebook):
    notebook.cells[0].metadata.tags = []


def two_parameters(notebook):
    notebook.cells[2].metadata.tags = ["parameters"]


def figure_without_text(notebook):
    notebook.cells[1].metadata.mystnb.image.alt = ""


def name_for_two(notebook):
    notebook.cells[1].metadata.mystnb["figure"] = {"name": "fig-line"}
    notebook.cells[1].outputs *= 2


def patch_version(notebook):
    notebook.metadata.language_info["version"] = "3.11.7"


def timing(notebook):
    notebook.cells[1].metadata["execution"] = {"iopub.execute_input": "2026-01-01"}


def huge_output(notebook):
    notebook.cells[2].outputs[0].text = "x\n" * 550_000


def long_line(notebook):
    notebook.cells[2].outputs[0].text = "x" * 99


def long_cell(notebook):
    notebook.cells[2].source = "\n".join(16 * ["print(n)"])


def open_solution(notebook):
    notebook.cells[0:0] = [
        v4.new_markdown_cell("````{solution} ex-a\n:class: dropdown\n\nB.\n````")
    ]


SPOILERS = [
    ignored_parameter,
    parameter_set_again,
    never_executed,
    executed_out_of_order,
    error,
    warning,
    path_of_a_machine,
    address_of_an_object,
    numpy_spelling,
    no_parameters,
    two_parameters,
    figure_without_text,
    name_for_two,
    patch_version,
    timing,
    huge_output,
    long_line,
    open_solution,
    long_cell,
]


@pytest.mark.parametrize("spoil", SPOILERS)
def test_every_fault_is_found(sound, spoil):
    assert faults(sound) == []
    spoil(sound)
    assert len(faults(sound)) == 1


def test_executing_twice_gives_the_same_bytes(tmp_path, monkeypatch):
    monkeypatch.setattr("book.execute.BOOK", tmp_path / "book")
    cells = [
        v4.new_code_cell("import sys\n\nfor i in range(3):\n    print(i, flush=True)"),
        v4.new_markdown_cell("Text."),
        v4.new_code_cell("import numpy as np\n\nnp.random.default_rng(0).normal(size=3).round(3)"),
    ]
    cells[2].metadata = {"scrolled": True, "tags": ["hide-input"]}
    told = {"language_info": {"name": "python", "version": "3"}}
    notebook = v4.new_notebook(cells=cells, metadata=told)
    path = tmp_path / "chapter.ipynb"
    nbformat.write(notebook, path)
    assert store(path) == ("chapter.ipynb", None)
    once = path.read_bytes()
    assert store(path) == ("chapter.ipynb", None)
    assert path.read_bytes() == once
    stored = read(path)
    assert stored.metadata == METADATA and stored.cells[2].metadata == {"tags": ["hide-input"]}
    assert stored.cells[0].outputs[0].text == "0\n1\n2\n"


def test_a_cell_that_fails_is_told_and_nothing_is_stored(tmp_path, monkeypatch):
    monkeypatch.setattr("book.execute.BOOK", tmp_path / "book")
    path = tmp_path / "chapter.ipynb"
    nbformat.write(v4.new_notebook(cells=[v4.new_code_cell("1 / 0")]), path)
    before = path.read_bytes()
    assert "ZeroDivisionError" in store(path)[1]
    assert path.read_bytes() == before


def test_nbval_names_a_stored_number_that_was_changed(tmp_path):
    """Of a real chapter: what stands there, what comes now, chapter and cell."""
    chapter = read(CHAPTERS["book/rivals/performance_measures.ipynb"])
    [cell, *_] = [c for c in code_cells(chapter) if "0." in "".join(map(text_of, c.outputs))]
    digit = re.search(r"0\.\d", text_of(cell.outputs[0])).group()
    cell.outputs[0].text = cell.outputs[0].text.replace(digit, "7.7", 1)
    chapter.cells = chapter.cells[: chapter.cells.index(cell) + 1]
    path = tmp_path / "changed.ipynb"
    nbformat.write(chapter, path)
    command = [sys.executable, "-m", "pytest", "-q", "--nbval", "-p", "no:cacheprovider", path]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    number = code_cells(chapter).index(cell)
    assert done.returncode == 1 and f"changed.ipynb::Cell {number}" in done.stdout
    assert "7.7" in done.stdout and digit in done.stdout
