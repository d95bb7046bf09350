"""The appendix of errata: every entry has one number, links, tests and, if false, a script."""

import ast
import importlib
import inspect
import io
import re
import runpy
import tokenize
from functools import cache
from pathlib import Path

import nbformat
import pytest

from book import plain
from book.errata import pages

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = [*(ROOT / "book").rglob("*.ipynb")]
MODULES = {*(ROOT / "mvref").rglob("*.py"), *(ROOT / "tests").rglob("*.py")} - {Path(__file__)}
ERRATA = {row["id"]: row for row in pages.read_all("erratum")}
ROWS = ERRATA | {row["id"]: row for row in pages.read_all("remark")}
BOTH = {"paper", "id", "title", "kind", "where", "quote", "links", "tests"}


@cache
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


def test_numbers_are_unique_and_without_gaps():
    for paper, letter in zip(pages.PAPERS, "ABPMN", strict=True):
        table = pages.read_table(paper)
        numbers = [row["id"] for kind in ("erratum", "remark") for row in table.get(kind, [])]
        assert sorted(numbers) == sorted(f"{letter}{k + 1}" for k in range(len(numbers)))


@pytest.mark.parametrize("number", ROWS)
def test_an_entry_is_complete(number):
    row = ROWS[number]
    if number in ERRATA:
        assert set(row) == BOTH | {"serious", "wrong", "correct", "depends"}
        assert row["kind"] in pages.KINDS and isinstance(row["serious"], bool) and row["tests"]
    else:
        assert set(row) | {"quote"} == BOTH | {"text"}
        assert row["kind"] in pages.REMARKS
    assert row["links"]
    for name, text in row.items():
        if isinstance(text, str):
            assert text == text.strip() != "" and "\n" not in text
            assert text.count("$") % 2 == 0, f"{name} has an open formula"
    assert not re.search(r"[$.]", row["title"])  # it is a heading


def test_every_erratum_that_is_named_somewhere_is_in_the_table():
    """In chapters, docstrings, comments and names of tests; and every entry is named."""
    texts = {path: markdown_of(path) for path in NOTEBOOKS if path.parent != pages.FOLDER}
    texts |= {path: path.read_text(encoding="utf-8") for path in (ROOT / "book").glob("*.md")}
    texts |= {path: "\n".join(words_of(path)) for path in MODULES}
    named = {path: {*pages.NUMBER.findall(text)} for path, text in texts.items()}
    assert {path: found - {*ROWS} for path, found in named.items() if found - {*ROWS}} == {}
    assert set().union(*named.values()) == set(ROWS)


def test_an_erratum_is_called_erratum_and_a_remark_remark():
    """In chapters, docstrings, comments and tests: "erratum A1", "remark A7"."""
    for path in [*NOTEBOOKS, *(ROOT / "book").rglob("*.md"), *MODULES]:
        text = path.read_text(encoding="utf-8")
        for kind, number in re.findall(r"\b([Ee]rratum|[Rr]emark)\s+([ABPMN]\d+)\b", text):
            assert kind.lower() == ("erratum" if number in ERRATA else "remark"), (path, number)


def test_every_script_belongs_to_an_erratum():
    wanted = {pages.script_of(row).name for row in ERRATA.values()}
    assert {path.name for path in pages.SCRIPTS.iterdir()} - {"__pycache__"} == wanted


@pytest.mark.parametrize("number", ERRATA)
def test_the_counterexample_runs_without_mvref(number, capsys):
    path = pages.script_of(ERRATA[number])
    code = path.read_text(encoding="utf-8")
    tree = ast.parse(code)
    imports = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
    imported = {getattr(node, "module", None) or node.names[0].name for node in imports}
    assert {name.partition(".")[0] for name in imported} <= {"numpy", "scipy", "itertools", "math"}
    assert ast.get_docstring(tree) and 8 <= len(code.splitlines()) <= 36
    assert isinstance(tree.body[-1], ast.Assert), "it ends with what would be false otherwise"
    runpy.run_path(str(path))
    printed = capsys.readouterr().out.splitlines()
    assert printed and max(map(len, printed)) <= 98


@pytest.mark.parametrize("number", [number for number in ROWS if ROWS[number]["tests"]])
def test_its_counterexample_is_a_test(number):
    """The functions exist where pytest finds them, and one names the erratum or runs its script."""
    texts = []
    for test in ROWS[number]["tests"]:
        file, _, name = test.partition("::")
        assert re.fullmatch(r"tests(/\w+)*/test_\w+\.py", file) and name.startswith("test_")
        module = importlib.import_module(file.removesuffix(".py").replace("/", "."))
        assert Path(module.__file__) == ROOT / file and inspect.isfunction(getattr(module, name))
        texts.append(f"{name.replace('_', ' ')} {inspect.getsource(getattr(module, name))}")
    runs = any(test.endswith("counterexample_runs_without_mvref") for test in ROWS[number]["tests"])
    assert runs or any(number in pages.NUMBER.findall(text) for text in texts)


def test_no_test_of_an_erratum_is_left_out():
    """All functions called test_A9_..., test_N12_N13_... are listed with their errata."""
    for path in (ROOT / "tests").rglob("test_*.py"):
        file = path.relative_to(ROOT).as_posix()
        for name in re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE):
            for number in pages.NUMBER.findall(name.replace("_", " ")):
                assert f"{file}::{name}" in ROWS[number]["tests"]


@pytest.mark.parametrize("paper", pages.PAPERS)
def test_links_lead_to_sections_of_the_papers_chapters(paper):
    table = pages.read_table(paper)
    headings = {}
    for chapter in pages.CHAPTERS:
        text = markdown_of(ROOT / "book" / table["folder"] / f"{chapter}.ipynb")
        found = re.findall(r"^#{2,3} (.+)$", text, re.MULTILINE)
        assert len({pages.slug(heading) for heading in found}) == len(found)
        headings[chapter] = found
    for row in table["erratum"] + table.get("remark", []):
        for chapter, heading in row["links"]:
            assert heading in headings[chapter], f"{row['id']}: {heading!r} not in {chapter}"


@pytest.mark.parametrize("paper", pages.PAPERS)
def test_the_page_is_that_of_the_table(paper):
    stored = (pages.FOLDER / f"{paper}.md").read_text(encoding="utf-8")
    assert stored == pages.page(paper), "run `python book/errata/pages.py`"


def test_a_page_and_its_section_of_the_report_begin_with_the_verdict():
    """What stands, what does not and why: three lines, with an address to quote."""
    report = plain.BOOK / "reproduction.ipynb"
    copy = plain.copy_of(report, plain.read(report))
    text = "\n".join("".join(cell["source"]) for cell in copy["cells"])
    sections = re.split("^## Part ", text, flags=re.M)[1:]
    for paper, section in zip(pages.PAPERS, sections, strict=True):
        begins = pages.page(paper).split("\n\n")[2]
        address, *lines = begins.splitlines()
        assert address == f"(verdict-{paper.replace('_', '-')})="
        heads = [f"- **{head}:** " for head in ("What stands", "What does not", "Why")]
        assert [line[: len(head)] for line, head in zip(lines, heads, strict=True)] == heads
        assert section.split("\n\n")[1].splitlines()[0] == lines[0]


def test_numbers_become_links_outside_of_formulas():
    assert pages.linked("the $M1$ of A3.") == "the $M1$ of [A3](#erratum-a3)."
    assert pages.linked("`B2` and (B10)") == "`B2` and ([B10](#erratum-b10))"
    for text in map(pages.page, pages.PAPERS):  # a page links to its own entries only
        links, anchors = (
            re.findall(rf"\({mark}(\w+)\)", text) for mark in ("#erratum-", "erratum-")
        )
        assert {*links} <= {*anchors}


def test_slug_is_the_books():
    assert pages.slug("P9: the search takes $O(n\\log n)$") == "p9-the-search-takes-"
    assert pages.slug('P6: is a missing "x" the reason?') == "p6-is-a-missing-x-the-reason"
