"""What teachers take: a course that adds up, chapters without solutions, slides that fit."""

import json
import re
import shutil
import subprocess
import sys

import pytest
from bs4 import BeautifulSoup

from book import execute, pdf, plain, slides
from tests.chapters.small import SMALL
from tests.chapters.test_plain import CHAPTERS, FORMULA, LEFT_OVER
from tests.project.test_html import missing_files, outside_resources, read_pages

COURSE = (plain.BOOK / "teach.md").read_text(encoding="utf-8")
DECKS = [path for path in plain.chapters() if path.stem == "one_page"]
EXERCISE = re.compile(r"^`{3,}\{exercise\} (.*)\n:label: (.*)", re.M)
SOLUTION = re.compile(
    r"^(`{3,})\{solution\}(.*?)^\1$|^```\{solution-start\}(.*?)^```\{solution-end\}", re.M | re.S
)
# Runs in a browser: how high and wide every slide is, once its fonts are there.
MEASURE = """<script>addEventListener("load", () => document.fonts.ready.then(() => {
  const all = Reveal.getSlides(), sizes = all.map((slide) => {
    Reveal.slide(...Object.values(Reveal.getIndices(slide)));
    const code = [...slide.querySelectorAll("pre")].map((box) => box.scrollWidth);
    return [slide.scrollHeight, Math.max(slide.scrollWidth, ...code)];
  });
  document.body.innerHTML = `<p id="sizes">${JSON.stringify(sizes)}</p>`;
}));</script>"""


def text_of(cells):
    return "\n".join("".join(cell["source"]) for cell in cells)


def solutions_of(path):
    """Lines that stand in solutions of a chapter, and nowhere else in it."""
    text = text_of(plain.cells_of(path))
    inside = "\n".join(map("\n".join, SOLUTION.findall(text))).splitlines()
    return {*inside} - {*SOLUTION.sub("", text).splitlines()}


@pytest.mark.parametrize("path", CHAPTERS)
def test_exercises_are_there_and_solutions_are_not(path):
    hidden, copy = solutions_of(path), plain.copy_of(path, plain.read(path), solutions=False)
    lines = text_of(copy["cells"]).splitlines()
    assert len(hidden) > 2 and hidden.isdisjoint(lines)
    wanted = EXERCISE.findall(text_of(plain.cells_of(path)))
    heads = [f"**{plain.numbers()[label]}** ({title})" for title, label in wanted]
    assert [line for line in lines if line in heads] == heads
    texts = [cell for cell in copy["cells"] if cell["cell_type"] == "markdown"]
    assert not LEFT_OVER.search(FORMULA.sub("", text_of(texts)))


@pytest.mark.parametrize("name", ["book/mvl_svm/one_page.ipynb", "book/errata/index.ipynb"])
def test_chapters_without_solutions_run_from_top_to_bottom(name, tmp_path, monkeypatch):
    monkeypatch.setattr(plain, "chapters", lambda: [plain.ROOT / name])
    [target] = plain.write(tmp_path, solutions=False)
    execute.run(target, SMALL[name])


@pytest.fixture(scope="module")
def decks(tmp_path_factory):
    """The slides as the book has them, beside the files that they load."""
    folder = tmp_path_factory.mktemp("html")
    shutil.copytree(plain.BOOK / "_static", folder / "_static")
    slides.write(folder / "slides")
    return folder


def test_slides_load_nothing_from_outside_and_find_their_files(decks):
    pages = read_pages(decks)
    assert len(pages) == len(DECKS) == 5
    assert list(outside_resources(decks, pages)) == list(missing_files(pages)) == []
    for path in pages:
        assert "://" not in re.sub('xmlns="[^"]*"', "", path.read_text(encoding="utf-8"))


def test_a_process_that_sets_formulas_ends():
    """Without closing its engine two of three never did."""
    command = [sys.executable, "-c", "from book._ext.formulas import typeset; typeset('a', False)"]
    for _ in range(4):
        subprocess.run(command, cwd=plain.ROOT, check=True, timeout=60)


@pytest.mark.parametrize("path", DECKS, ids=lambda path: path.parent.name)
def test_slides_show_what_the_page_shows(path):
    kept = plain.without_solutions(plain.cells_of(path))
    made = BeautifulSoup(slides.deck(path), "html.parser")
    shown = made.get_text()
    told = [
        cell["metadata"]["mystnb"]["image"]["alt"]
        for cell in kept
        if "'image/svg+xml'" in str(cell)
    ]
    assert told == [image["alt"] for image in made.select("img:not(.states img)")]
    assert told or made.select(".states")
    for cell in kept:
        tags = cell["metadata"].get("tags", [])
        if "from-scratch" in tags:
            assert "".join(cell["source"]) in shown
        if {"hide-input", "remove-input", "parameters"} & {*tags}:
            assert "".join(cell["source"]) not in shown
    assert solutions_of(path).isdisjoint(shown.splitlines())
    assert plain.numbers()[EXERCISE.findall(text_of(kept))[0][1]] in shown
    heads = [head.get_text().split() for head in made.select("section > section :is(h1, h2)")]
    assert 8 <= len(made.select("section > section")) == len(heads) <= 12
    assert min(map(len, heads)) >= 4 and not made.select("section:empty")
    assert all(f"slides/{path.parent.name}.html'>" in text for text in (COURSE, text_of(kept)))


@pytest.mark.parametrize("path", DECKS, ids=lambda path: path.parent.name)
def test_every_slide_fits(decks, path):
    try:
        browser = pdf.find_browser()
    except SystemExit:
        pytest.skip("needs Chromium, Chrome or Edge on the PATH")
    deck = decks / "slides" / f"{path.parent.name}.html"
    measured = deck.with_stem(f"{deck.stem}-measured")
    measured.write_text(deck.read_text(encoding="utf-8") + MEASURE, encoding="utf-8")
    dom = pdf.run(browser, "--window-size=1280,720", "--dump-dom", measured.as_uri())
    sizes = json.loads(re.search(r'id="sizes">(.*?)<', dom)[1])
    assert len(sizes) == deck.read_text(encoding="utf-8").count("<section><section>")
    assert [size for size in sizes if size[0] > 690 or size[1] > 1280] == []


def test_a_session_has_a_file_with_its_exercises_and_slides(decks, tmp_path):
    plain.write_exercises(decks)
    for session in re.split(r"^### (?=\d\.)", COURSE, flags=re.M)[1:]:
        session, folder = session.partition("\n##")[0], tmp_path / session[0]
        shutil.unpack_archive(decks / "_static" / f"session-{session[0]}.zip", folder)
        assert f"_static/session-{session[0]}.zip'>" in session
        copies = [json.loads(path.read_text("utf-8")) for path in folder.rglob("*.ipynb")]
        told = [text_of(copy["cells"]) for copy in copies]
        heads = [f"**{plain.numbers()[label]}**"
                 for label in re.findall(r"\{ref\}`(ex-[\w-]+)", session)]  # fmt: skip
        assert heads and all(any(head in text for text in told) for head in heads)
        assert not any("**Solution of" in text for text in told)
        assert all(any(head in text for head in heads) for text in told)
        pages = read_pages(folder)
        shown = {path.relative_to(folder.resolve()).as_posix() for path in pages}
        assert shown == set(re.findall(r"slides/\w+\.html", session))
        assert list(missing_files(pages)) == []


def test_every_session_has_ninety_minutes():
    tables = re.findall(r"^\| Minutes .*\n\|[-|]+\n((?:\|.*\n)+)", COURSE, re.M)
    minutes = [sum(map(int, re.findall(r"^\| (\d+) ", table, re.M))) for table in tables]
    assert minutes == [90] * 9, "eight sessions, and the single lecture"


def test_exercises_of_the_course_have_their_titles():
    titles = {label: title for path in plain.chapters()
              for title, label in EXERCISE.findall(text_of(plain.cells_of(path)))}  # fmt: skip
    named = re.findall(r"\{ref\}`(ex-[\w-]+)`, \*(.*?)\*", COURSE)
    assert len(named) == COURSE.count("{ref}`") > 30
    assert [(label, titles[label]) for label, _ in named] == named
