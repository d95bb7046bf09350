"""The PDF of the book: which pages, in which order, with links that lead inside it."""

import importlib.util
import re
import shutil
from pathlib import Path

import pytest
import yaml
from bs4 import BeautifulSoup
from pypdf import PdfReader

ROOT = Path(__file__).resolve().parents[2]
STATIC = ROOT / "book" / "_static"

TOC = """
format: jb-book
root: book/intro
parts:
  - caption: One
    chapters:
      - file: book/a/run
        sections:
          - file: book/a/more
  - caption: Two
    chapters:
      - file: book/b
"""
HEAD = """<html><head><link rel="stylesheet" href="../_static/mvref.css">
<link rel="stylesheet" href="../_static/katex/katex.min.css"></head><body>"""
FORMULA = """<div class="math" id="eq"><span class="katex"><span class="katex-mathml"><math>
<annotation>x^2</annotation></math></span><span class="katex-html" aria-hidden="true">x</span>
</span></div>"""


@pytest.fixture
def pdf():
    """The script as a module of its own, so that a test can point it elsewhere."""
    spec = importlib.util.spec_from_file_location("book_pdf", ROOT / "book" / "pdf.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_page_of_the_chapters_is_in_it_once(pdf):
    text = (ROOT / "_toc.yml").read_text(encoding="utf-8").partition("- caption: API")[0]
    parts = dict(pdf.read_toc())
    listed = [yaml.safe_load(text)["root"], *re.findall(r"file: (\S+)", text)]
    assert [page for pages in parts.values() for page in pages] == listed
    assert list(parts) == re.findall(r'caption: "?(.*?)"?\n', text)


PAGES = {"book/intro", "book/a/run", "book/b"}
ADDRESSES = {
    "#top": "#book.a.run:top",
    "../b.html": "#book.b",
    "../b.html#part%201": "#book.b:part 1",
    "run.html#x": "#book.a.run:x",
    "https://example.org/b.html#x": "https://example.org/b.html#x",
    "../../genindex.html": "https://mvref.github.io/mvref/genindex.html",
    "../c.html#x": "https://mvref.github.io/mvref/book/c.html#x",
}


@pytest.mark.parametrize("href", ADDRESSES)
def test_links_stay_in_the_book(pdf, href):
    assert pdf.new_address(href, "book/a/run", PAGES) == ADDRESSES[href]


ARTICLE = """<article><h1>Run<a class="headerlink" href="#run">#</a></h1>
<details><summary>Show</summary><pre>plt.plot()</pre></details>
<img src="../../_images/a.png"><span id="here"></span><a href="../c.html">elsewhere</a>
<a href="../../_modules/m.html#f"><span class="viewcode-link">[source]</span></a>
<section id="exercises"><h2>Exercises</h2>
<details><summary>Show</summary><pre>print(42)</pre></details></section></article>"""


def test_article_is_made_for_paper(pdf):
    article = BeautifulSoup(ARTICLE, "html.parser").article
    text = str(pdf.prepare(article, "book/a/run", PAGES))
    assert "plt.plot()" not in text  # code that draws
    assert "print(42)" in text  # what a solution computes
    assert "Show" not in text and "[source]" not in text and "headerlink" not in text
    assert article.h1.get_text() == "Run" and article.h2.get_text() == "Exercises"
    assert article.img["src"] == "../html/_images/a.png"
    assert {tag["id"] for tag in article.find_all(id=True)} == {
        "book.a.run:here",
        "book.a.run:exercises",
    }
    assert article["id"] == "book.a.run"
    assert article.find("a", href=True)["href"].endswith("/mvref/book/c.html")


def test_verdicts_and_counterexamples_are_unfolded(pdf):
    fold = '<details class="{}"><summary>Head</summary><p>body</p></details>'
    folds = f"<article><h1>A</h1>{fold}</article>"
    for page, name, seen in (
        ("book/reproduction", "report", ["Head", "body"]),
        ("book/errata/mvm", "hide", ["body"]),
        ("book/mvm/run", "hide", []),
    ):
        article = BeautifulSoup(folds.format(name), "html.parser").article
        text = str(pdf.prepare(article, page, {page}))
        assert [word for word in ("Head", "body") if word in text] == seen


def test_absent_browser_gets_one_sentence(pdf):
    with pytest.raises(SystemExit, match="needs Chromium, Chrome or Edge, and found none"):
        pdf.find_browser(["browser-that-nobody-has"])


def test_book_that_is_not_built_gets_one_sentence(pdf, tmp_path):
    pdf.HTML = tmp_path
    with pytest.raises(SystemExit, match="run make book first"):
        pdf.main([])


@pytest.fixture
def site(pdf, tmp_path):
    """A book of four pages that refer to each other, built by hand."""
    if not any(map(shutil.which, pdf.BROWSERS)):
        pytest.skip("needs Chromium, Chrome or Edge on the PATH")
    (tmp_path / "_toc.yml").write_text(TOC)
    pdf.HTML, pdf.WORK = tmp_path / "html", tmp_path / "pdf"
    shutil.copytree(STATIC, pdf.HTML / "_static")
    links = {
        "book/intro": "a/run.html",
        "book/a/run": "../b.html#eq",
        "book/a/more": "run.html",
        "book/b": "intro.html",
        "book/teach": "intro.html",
    }
    for page, href in links.items():
        path = pdf.HTML / f"{page}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            f'{HEAD}<article><h1>Page {page}</h1><p><a href="{href}">onwards</a></p>'
            f"{FORMULA}</article></body></html>"
        )
    (pdf.HTML / "index.html").write_text("")
    read_toc = pdf.read_toc
    pdf.read_toc = lambda: read_toc(tmp_path / "_toc.yml")
    return pdf


def test_small_book_is_printed_part_by_part(site, capsys):
    site.main([])
    out = capsys.readouterr().out
    assert "mvref-0.pdf: 5 pages" in out and "mvref-1.pdf: 3 pages" in out
    printed = PdfReader(site.HTML / "mvref-0.pdf")
    texts = [sheet.extract_text() for sheet in printed.pages]
    # A title, the contents with page numbers, and the pages in their order.
    titles = [f"Page book/{name}" for name in ("intro", "a/run", "a/more")]
    for number, title in enumerate(titles, start=3):
        assert re.search(rf"{title}\s+{number}\b", texts[1])
        assert title in texts[number - 1]
    # A link inside the part leads to the right sheet, another to the web, and none to a file.
    sheets = [sheet.indirect_reference for sheet in printed.pages]
    targets = []
    for sheet in printed.pages[2:]:
        [link] = [note.get_object() for note in sheet["/Annots"]]
        place = link["/Dest"] if "/Dest" in link else link["/A"].get("/D")
        inside = printed.named_destinations.get(place)
        targets.append(sheets.index(inside.page) + 1 if inside else link["/A"]["/URI"])
    assert targets == [4, "https://mvref.github.io/mvref/book/b.html#eq", 4]
    notes = [note.get_object() for sheet in printed.pages for note in sheet.get("/Annots") or []]
    addresses = [str(note.get("/A", {}).get("/URI", "")) for note in notes]
    assert addresses and not [where for where in addresses if where.startswith("file:")]
    # The outline, and a title instead of the machine's.
    assert [item["/Title"] for item in printed.outline] == titles
    assert printed.metadata.title == "mvref: One" and printed.metadata.author == "mvref authors"
    assert str(site.HTML.parent) not in (site.HTML / "mvref-0.pdf").read_bytes().decode("latin-1")


def test_welcome_page_and_teach_lead_to_each_once(site):
    for _ in range(2):
        site.link_from_pages({"mvref-0.pdf": ("One", []), "mvref-1.pdf": ("Two", [])})
    for name in ("intro", "teach"):
        page = (site.HTML / "book" / f"{name}.html").read_text(encoding="utf-8")
        assert page.count('href="../mvref-') == 2


def tags(element):
    """Pairs of the kind and the alternative text of an element, and of those below it."""
    yield element.get("/S"), element.get("/Alt")
    below = element.get("/K", [])
    for child in below if isinstance(below, list) else [below]:
        child = child.get_object()
        if isinstance(child, dict) and ("/S" in child or "/K" in child):
            yield from tags(child)


def test_a_screen_reader_finds_headings_links_and_formulas(site):
    site.main([])
    root = PdfReader(site.HTML / "mvref-0.pdf").trailer["/Root"]
    assert root["/Lang"] == "en" and root["/MarkInfo"]["/Marked"]
    found = list(tags(root["/StructTreeRoot"]))
    kinds = [kind for kind, _ in found]
    assert {"/H1", "/P", "/Link", "/L"} <= set(kinds)
    assert kinds.count("/H1") == 4  # and that of the contents
    assert [text for _, text in found if text] == ["x^2"] * 3
