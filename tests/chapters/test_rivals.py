"""The appendix on rivals: every method has a row in its table and a page that treats it."""

import inspect
import re

import pytest

from book.execute import BOOK
from mvref import rivals
from mvref.experiments.reproduction import read_verdicts
from tests.chapters.notebooks import read

FOLDER = BOOK / "rivals"
INDEX = (FOLDER / "index.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| \{py:class\}`~mvref\.rivals\.(\w+)` \| (.*) \|$", re.MULTILINE)
ROWS = {name: cells.split(" | ") for name, cells in ROW.findall(INDEX)}
EQUATION = re.compile(r"^```\{math\}\n:label: rivals-", re.MULTILINE)
ANCHOR = re.compile(r"^\| `(\w+)` \| ([^|]+) \| ([^|]*)\| ((?:`\w+`(?:, )?)+) \|$", re.MULTILINE)
ANCHORS = {name: cells for name, *cells in ANCHOR.findall(INDEX)}


def page_of(name):
    """The notebook that the last cell of the method's row links to."""
    [target] = re.findall(r"\]\((\w+\.ipynb)\)", ROWS[name][-1])
    return read(FOLDER / target)


def prose(notebook):
    return "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")


def test_every_rival_has_one_row_in_both_tables():
    assert sorted(ROWS) == sorted(rivals.__all__)
    assert INDEX.count("{py:class}") == len(ROWS)
    checked = re.findall(r"^\| `(\w+)` \| [^|]+ \| [^|]+ \|$", INDEX, re.MULTILINE)
    assert checked == list(ROWS)


def test_every_rival_has_an_anchor():
    assert list(ANCHORS) == list(ROWS)


@pytest.mark.parametrize("name", sorted(rivals.__all__))
def test_the_tests_of_an_anchor_exist(name):
    for file in re.findall(r"`(\w+)`", ANCHORS[name][-1]):
        text = (BOOK.parent / "tests" / "rivals" / f"test_{file}.py").read_text(encoding="utf-8")
        assert re.search(rf"\b{name}\b", text)


def test_printed_numbers_of_table_1_are_reproduced():
    verdicts = read_verdicts("mwmvc2")
    rows = verdicts.query("item == 'table1' and dataset == 'mnist1'").set_index("method")
    named = {name: cells[1] for name, cells in ANCHORS.items() if "Table 1" in cells[1]}
    for name, told in named.items():  # of some the level alone
        assert rows.verdict[name] == ("cannot tell" if told.startswith("level") else "reproduced")
    assert len(named) == 6


@pytest.mark.parametrize("name", sorted(rivals.__all__))
def test_a_row_is_full_and_its_page_treats_the_method(name):
    assert len(ROWS[name]) == 3 and all(cell.strip() for cell in ROWS[name])
    page = page_of(name)
    assert f"{{py:class}}`mvref.rivals.{name}`" in prose(page)
    code = "\n".join(cell.source for cell in page.cells if cell.cell_type == "code")
    assert re.search(rf"\b{name}\(|\b{name}[,}}]", code), "the page runs the method"


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_page_has_its_parts(path):
    text = prose(read(path))
    classes = set(re.findall(r"\{py:class\}`mvref\.rivals\.(\w+)`", text))
    assert classes and all(path.name in ROWS[name][-1] for name in classes)
    regressor = {"FMRegressor"}  # shares what is said of FMClassifier
    assert len(EQUATION.findall(text)) >= len(classes - regressor)
    assert text.count("**Our reading:**") >= len(classes - regressor)
    assert "**Cost" in text or "## Cost" in text
    assert re.search(r"[Mm]issing views", text)
    exercises = re.findall(r"^```\{exercise\} .*\n:label: (\S+)", text, re.MULTILINE)
    assert len(exercises) >= 2
    for label in exercises:
        assert re.search(rf"\{{solution(-start)?\}} {label}\n:class: dropdown", text)


def section_of(name):
    """What the page of a method says of it, up to the next heading."""
    found = f"{{py:class}}`mvref.rivals.{name}`"
    [section] = [part for part in re.split(r"^## ", prose(page_of(name)), flags=re.MULTILINE)
                 if found in part]  # fmt: skip
    return section


@pytest.mark.parametrize("name", sorted(rivals.__all__))
def test_page_docstring_and_table_agree_on_how_a_definition_is_known(name):
    kind, is_ours = rivals.PROVENANCE[name], name in rivals.RECONSTRUCTIONS
    section, doc = section_of(name), inspect.getdoc(getattr(rivals, name))
    assert re.findall(r"\*\*Provenance:\*\* ([^.]+)\.", section) == [kind]
    assert re.findall(r"^Provenance: ([^.]+)\.", doc, re.MULTILINE) == [kind]
    assert ROWS[name][1] == kind + is_ours * ": *reconstruction*"
    assert not is_ours or all("reconstruction" in text.lower() for text in (section, doc))
    # Nothing is called published that nobody here has read.
    assert ("**Known:**" in section) == is_ours and ("**Published:**" in section) != is_ours


def test_every_kind_of_provenance_is_explained_once():
    assert sorted(rivals.PROVENANCE) == sorted(rivals.__all__)
    explained = re.findall(r"^(.+)\n: ", INDEX, re.MULTILINE)
    assert explained == list(dict.fromkeys(rivals.PROVENANCE.values()))


def test_pages_are_in_the_table_of_contents():
    contents = (BOOK.parent / "_toc.yml").read_text(encoding="utf-8")
    for path in sorted(FOLDER.iterdir()):
        assert f"- file: book/rivals/{path.stem}\n" in contents
