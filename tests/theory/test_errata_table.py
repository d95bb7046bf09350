"""The appendix of errata: every entry has a test, links that lead somewhere, and one number."""

import importlib
import inspect
import io
import re
import tokenize
from collections import Counter
from pathlib import Path

import nbformat
import pytest

from book.errata.pages import (
    CHAPTERS,
    FOLDER,
    KINDS,
    NUMBER,
    PAPERS,
    linked,
    page,
    read_errata,
    read_table,
    slug,
)

ROOT = Path(__file__).resolve().parents[2]
ROWS = {row["id"]: row for row in read_errata()}
TEXTS = ("id", "title", "kind", "where", "printed", "correct", "known")
LETTERS = dict(zip(PAPERS, "ABPMN", strict=True))


def markdown_of(path):
    notebook = nbformat.read(path, as_version=4)
    return "\n\n".join(c.source for c in notebook.cells if c.cell_type == "markdown")


def words_of(path):
    """Comments, strings and names of tests of a module: where an erratum can be named."""
    for token in tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline):
        if token.type in (tokenize.COMMENT, tokenize.STRING):
            yield token.string
        elif token.type == tokenize.NAME and token.string.startswith("test_"):
            yield token.string.replace("_", " ")


def named():
    """Numbers of errata in chapters, docstrings, comments and tests, each with one place."""
    found = {}
    chapters = [path for path in (ROOT / "book").rglob("*.ipynb") if path.parent != FOLDER]
    for path in [*chapters, *(ROOT / "book").glob("*.md")]:
        text = markdown_of(path) if path.suffix == ".ipynb" else path.read_text(encoding="utf-8")
        found |= dict.fromkeys(NUMBER.findall(text), path.name)
    modules = [path for path in (ROOT / "tests").rglob("*.py") if path != Path(__file__)]
    for path in [*(ROOT / "mvref").rglob("*.py"), *modules]:
        found |= dict.fromkeys(NUMBER.findall("\n".join(words_of(path))), path.name)
    return found


def functions_of(row):
    """The test functions of an erratum, imported."""
    for test in row["tests"]:
        file, _, name = test.partition("::")
        assert re.fullmatch(r"tests(/\w+)*/test_\w+\.py", file) and name.startswith("test_")
        module = importlib.import_module(file.removesuffix(".py").replace("/", "."))
        assert Path(module.__file__) == ROOT / file
        yield getattr(module, name)


# The table


def test_numbers_are_unique_and_without_gaps():
    numbers = [row["id"] for row in read_errata()]
    assert [n for n, count in Counter(numbers).items() if count > 1] == []
    for paper, letter in LETTERS.items():
        rows = read_table(paper)["erratum"]
        assert [row["id"] for row in rows] == [f"{letter}{k + 1}" for k in range(len(rows))]


@pytest.mark.parametrize("number", ROWS)
def test_an_entry_is_complete(number):
    row = ROWS[number]
    assert set(row) == {"paper", *TEXTS, "serious", "links", "tests"}
    assert row["kind"] in KINDS and isinstance(row["serious"], bool)
    assert row["tests"] and row["links"]
    for name in TEXTS:
        assert row[name] == row[name].strip() != "" and "\n" not in row[name]
        assert row[name].count("$") % 2 == 0, f"{name} has an open formula"
    assert not re.search(r"[$.]", row["title"])  # it is a heading


def test_every_erratum_that_is_named_somewhere_is_in_the_table():
    places = named()
    assert {number: place for number, place in places.items() if number not in ROWS} == {}
    assert set(places) == set(ROWS)


# The tests


@pytest.mark.parametrize("number", ROWS)
def test_its_counterexample_is_a_test(number):
    """The functions exist where pytest finds them, and one of them names the erratum."""
    functions = list(functions_of(ROWS[number]))
    assert all(inspect.isfunction(function) for function in functions)
    texts = [f"{f.__name__.replace('_', ' ')} {inspect.getsource(f)}" for f in functions]
    assert any(number in NUMBER.findall(text) for text in texts)


def test_no_test_of_an_erratum_is_left_out():
    """All functions called test_A9_..., test_N12_N13_... are listed with their errata."""
    for path in (ROOT / "tests").rglob("test_*.py"):
        file = path.relative_to(ROOT).as_posix()
        for name in re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE):
            for number in NUMBER.findall(name.replace("_", " ")):
                assert f"{file}::{name}" in ROWS[number]["tests"]


# The pages


@pytest.mark.parametrize("paper", PAPERS)
def test_links_lead_to_sections_of_the_papers_chapters(paper):
    table = read_table(paper)
    headings = {}
    for chapter in CHAPTERS:
        text = markdown_of(ROOT / "book" / table["folder"] / f"{chapter}.ipynb")
        found = re.findall(r"^#{2,3} (.+)$", text, re.MULTILINE)
        assert len({slug(heading) for heading in found}) == len(found)
        headings[chapter] = found
    for row in table["erratum"]:
        for chapter, heading in row["links"]:
            assert heading in headings[chapter], f"{row['id']}: {heading!r} not in {chapter}"


@pytest.mark.parametrize("paper", PAPERS)
def test_the_page_is_that_of_the_table(paper):
    stored = (FOLDER / f"{paper}.md").read_text(encoding="utf-8")
    assert stored == page(paper), "run `python book/errata/pages.py`"


def test_numbers_become_links_outside_of_formulas():
    assert linked("the $M1$ of A3.") == "the $M1$ of [A3](#erratum-a3)."
    assert linked("`B2` and (B10)") == "`B2` and ([B10](#erratum-b10))"
    for paper in PAPERS:
        for number in re.findall(r"\(#erratum-(\w+)\)", page(paper)):
            assert f"(erratum-{number})=" in page(paper)  # a page links to its own entries only


def test_slug_is_the_books():
    assert slug("P9: the search takes $O(n\\log n)$") == "p9-the-search-takes-"
    assert slug('P6: is a missing "x" the reason?') == "p6-is-a-missing-x-the-reason"
