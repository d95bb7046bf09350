"""What stands between quotation marks stands in a paper."""

import pytest

from book import quotations
from book.quotations import BOOK, files, flat, is_printed, others, unknown

SENTENCE = "The map $f(x)$ is linear in what it is given, and that is all we ask of it here."


@pytest.mark.papers
@pytest.mark.parametrize("path", files(), ids=lambda path: path.relative_to(BOOK.parent).as_posix())
def test_quotations_are_verbatim(path):
    assert list(unknown(path)) == []


@pytest.fixture
def one_paper(monkeypatch):
    monkeypatch.setattr(quotations, "papers", lambda: {"one": flat(SENTENCE)})


@pytest.mark.parametrize(
    "quotation",
    [
        "is linear in what it is given",
        "Is linear in what it is given",
        "The map $g$ is linear",
        "is linear [...] that is all",
    ],
)
def test_what_is_verbatim_is_found(one_paper, quotation):
    assert is_printed(quotation)


@pytest.mark.parametrize(
    "quotation",
    [
        "is Linear in what",
        "is linear in all we ask",
        "that is all [...] is linear",
        "is  not linear",
    ],
)
def test_what_is_not_verbatim_is_not_found(one_paper, quotation):
    assert not is_printed(quotation)


def test_formulas_of_errata_are_quoted_too(one_paper):
    assert is_printed("The map $f(x)$ is", literal=True)
    assert not is_printed("The map $g(x)$ is", literal=True)


def test_marks_of_code_and_short_words_are_no_quotations(tmp_path):
    page = tmp_path / "page.md"
    page.write_text('`x = "a b c d"` and "two words", <a title="one two three">\n\n"one two three"')
    assert [found[1] for found in quotations.quotations(page)] == ["one two three"]


def test_other_works_are_named():
    lines = quotations.OTHERS.read_text(encoding="utf-8").splitlines()
    assert all(line.count("\t") == 1 and line.split("\t")[1].strip() for line in lines)
    assert len(others()) == len(lines)
