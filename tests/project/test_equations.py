"""The maps of the papers' equations: none is left out, and code, tests and pages are there."""

import os
import re
import tomllib
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name

import pytest

from book._ext.source import file_of, source_of
from tests.one_page import from_scratch

ROOT = Path(__file__).resolve().parents[2]
N_EQUATIONS = {"mvl_svm": 11, "mwmvc2": 11, "mvpo": 16, "mvm": 27, "mvna_kmhks": 21}
PAPERS = os.environ.get("MVREF_PAPERS")
ANNOTATED = re.compile(r"^```\{annotated\} (\S+)\n((?::\w+: .*\n)*)", re.MULTILINE)


def equations(part):
    """The map of a part."""
    return tomllib.loads((ROOT / "book" / part / "equations.toml").read_text())["equation"]


@pytest.mark.parametrize("part", N_EQUATIONS)
def test_every_equation_has_a_line(part):
    assert [row["number"] for row in equations(part)] == list(range(1, N_EQUATIONS[part] + 1))


@pytest.mark.papers
@pytest.mark.parametrize("part", N_EQUATIONS)
def test_the_paper_has_as_many(part):
    [path] = Path(PAPERS).glob(f"{part}_*.txt")
    text = re.split(r"^References$", path.read_text(), flags=re.MULTILINE)[0]
    printed = {int(number) for number in re.findall(r"\((\d\d?)\)", text)}
    n = N_EQUATIONS[part]
    assert n in printed and n + 1 not in printed


@pytest.mark.parametrize("part", N_EQUATIONS)
def test_every_equation_has_code_and_a_test_or_a_reason(part):
    for row in equations(part):
        assert row["says"] and ("code" in row) != ("why" in row), row["number"]
        assert "test" in row or "why" in row, row["number"]
        for name in row.get("code", []):
            assert callable(resolve_name(name))
        for test in row.get("test", []):
            file, _, name = test.partition("::")
            text = (ROOT / file).read_text()
            assert re.search(rf"^def {name}\(", text, re.MULTILINE), test


@pytest.mark.parametrize("part", N_EQUATIONS)
def test_pieces_of_code_are_found_and_short(part):
    page = (ROOT / "book" / part / "annotated.md").read_text()
    pieces = ANNOTATED.findall(page)
    assert len(pieces) >= 5
    for name, options in pieces:
        options = dict(re.findall(r":(\w+): (.*)", options))
        assert file_of(name).startswith("mvref/")
        lines = source_of(name, **options).splitlines()
        assert len(lines) <= 45, name
        assert not options.get("end") or options["end"] in lines[-1], name


@pytest.mark.parametrize("part", N_EQUATIONS)
def test_the_head_of_a_folder_finds_the_functions_of_the_one_page(part):
    page, head = from_scratch(part), import_module(f"mvref.{part}").__doc__
    folders = (ROOT / "mvref" / part, ROOT / "mvref" / "core")
    code = "\n".join(path.read_text() for folder in folders for path in folder.glob("*.py"))
    rows = re.findall(r"^((?:``\w+``,? )+) +(``.*)$", head, re.MULTILINE)
    assert len(rows) >= 3
    for theirs, ours in rows:
        assert set(re.findall(r"``(\w+)``", theirs)) <= set(page)
        for name in re.findall(r"``(\w+)``", ours):
            assert re.search(rf"(def|class) {name}\b|\b{name} = ", code), name


@pytest.mark.parametrize("part", N_EQUATIONS)
def test_docstrings_are_left_out_of_the_pieces(part):
    for name, _ in ANNOTATED.findall((ROOT / "book" / part / "annotated.md").read_text()):
        text = source_of(name)
        assert '"""' not in text and text.startswith(("def ", "class ", "@"))


def test_a_piece_from_one_line_to_another():
    text = source_of("mvref.mvl_svm.landmarks.impute", "known = ~", "incomplete = ")
    assert text.startswith("known = ~np.isnan(Phi)\n") and text.count("incomplete = ") == 1
    with pytest.raises(StopIteration):
        source_of("mvref.mvl_svm.landmarks.impute", "no such line")
