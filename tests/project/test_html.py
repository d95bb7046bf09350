"""The built book: no dead link, nothing loaded from outside, formulas that need no script.

And pages that everyone can read: one title, headings in order, pictures with a text, no markup
left over; and can load: pictures when they come near, no more than a page needs.
"""

import re
import tomllib
from html.parser import HTMLParser
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from statistics import median
from urllib.parse import unquote, urlsplit

import pytest
import yaml
from py_mini_racer import MiniRacer

from book import plain
from book._ext.web import TABLE, mend_table
from tests.project.test_reference import NAMES

ROOT = Path(__file__).resolve().parents[2]
BUILT = ROOT / "_build" / "html"
HOME = yaml.safe_load((ROOT / "_config.yml").read_text())["html"]["baseurl"]

# What a browser fetches by itself; a link that the reader may follow is none of these.
FETCHED = {(tag, "src") for tag in ("audio", "embed", "iframe", "img", "script", "source", "video")}
FETCHED |= {("img", "srcset"), ("object", "data"), ("source", "srcset")}
FETCHED_BY_LINK = {"stylesheet", "icon", "preload", "modulepreload", "prefetch", "manifest"}
FETCHED_BY_LINK |= {"preconnect", "dns-prefetch"}
OUTSIDE = re.compile(r"\s*(https?:)?//")
# In scripts and styles inside a page: an address of a file to load.
LOADED = re.compile(r"""(?:https?:)?//[^\s"'<>]+\.(?:js|mjs|css|woff2?)\b""")
IMPORTED = re.compile(r"""(?:@import\s*|url\(\s*)["']?(?:https?:)?//""")
# What Sphinx writes where a picture has no text: the name of its file.
NO_TEXT = re.compile(r"\s*|\S+\.(?:png|svg|jpe?g)")
# Source that was never turned into HTML: a role, a substitution, a link, a formula, bold text.
LEFT_OVER = re.compile(
    r"\{[a-z:]+\}`|:[a-z:]+:`|\{\{ *\w|\w\]\([\w#./]|\$[^$\s][^$]*\$|\*\*\w[^*]*\*\*"
)
# Where such signs may stand, beside formulas.
LITERAL = {"code", "pre", "script", "style", "textarea"}
CURLY = re.compile("[\u2018\u2019\u201c\u201d]")
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"}


class Page(HTMLParser):
    """The anchors, links, what is fetched, headings, texts of pictures and text, of one page."""

    def __init__(self, path):
        super().__init__()
        self.anchors, self.links, self.fetched, self.inline = set(), [], [], []
        self.has_formulas = self.in_code = self.in_type = False
        self.formulas, self.set, self.hasty, self.metas = 0, set(), [], {}
        self.headings, self.alternatives, self.text, self.types = [], [], [], []
        self.is_redirect, self.open = False, []  # (tag, whether its text is literal)
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.anchors |= {attributes.get("id"), attributes.get("name")} - {None}
        classes = (attributes.get("class") or "").split()
        is_formula = "math" in classes
        self.has_formulas |= is_formula
        self.formulas += is_formula
        self.set |= {self.formulas} if "katex" in classes else set()  # one may have several parts
        self.in_code = tag in ("script", "style")
        self.in_type = "classifier" in classes
        if tag == "a" and attributes.get("href"):
            self.links.append(attributes["href"])
        if tag == "meta" and (attributes.get("http-equiv") or "").lower() == "refresh":
            self.links.append(attributes["content"].partition("url=")[2])
            self.is_redirect = True
        if tag == "link" and set((attributes.get("rel") or "").split()) & FETCHED_BY_LINK:
            self.fetched.append(attributes["href"])
        self.fetched += [v for name, v in attributes.items() if (tag, name) in FETCHED and v]
        # Outside the article the theme repeats the title, for paper.
        if re.fullmatch("h[1-6]", tag) and any(opened == "article" for opened, _ in self.open):
            self.headings.append(int(tag[1]))
        if tag == "img":
            self.alternatives.append(attributes.get("alt") or "")
            if attributes.get("loading") != "lazy":
                self.hasty.append(attributes["src"])
        if tag == "meta":
            name = attributes.get("name") or attributes.get("property")
            self.metas[name] = attributes.get("content") or ""
        if tag not in VOID:
            inherited = bool(self.open) and self.open[-1][1]
            self.open.append((tag, inherited or is_formula or tag in LITERAL))

    def handle_endtag(self, tag):
        self.in_code = False
        if any(tag == opened for opened, _ in self.open):
            while self.open.pop()[0] != tag:
                pass

    def handle_data(self, data):
        if self.in_code:
            self.inline.append(data)
        if self.open and not self.open[-1][1]:
            self.text.append(data)
        if self.in_type:
            self.types.append(data)


def read_pages(folder):
    static = folder / "_static"
    found = [path for path in folder.rglob("*.html") if static not in path.parents]
    return {path.resolve(): Page(path) for path in found}


def dead_links(pages):
    """Links inside the book whose page or anchor does not exist."""
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or link == "#":
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchors = pages[target].anchors if target in pages else set()
            if not target.is_file() or (parts.fragment and unquote(parts.fragment) not in anchors):
                yield f"{path.name}: {link}"


def missing_files(pages):
    """What a page fetches from the book itself and does not find there."""
    for path, page in pages.items():
        inside = [name for name in page.fetched if not OUTSIDE.match(name)]
        for name in inside:
            target = unquote(urlsplit(name).path)
            if not name.startswith("data:") and not (path.parent / target).is_file():
                yield f"{path.name}: {name}"


def outside_resources(folder, pages):
    """What a page would fetch from another host."""
    for path, page in pages.items():
        yield from (f"{path.name}: {name}" for name in page.fetched if OUTSIDE.match(name))
        code = "\n".join(page.inline)
        yield from (
            f"{path.name}: {name}" for name in LOADED.findall(code) + IMPORTED.findall(code)
        )
    for path in folder.rglob("*.css"):
        yield from (f"{path.name}: {name}" for name in IMPORTED.findall(path.read_text("utf-8")))


def pictures_without_text(pages):
    """Pictures that somebody who cannot see them learns nothing about."""
    for path, page in pages.items():
        yield from (f"{path.name}: {a!r}" for a in page.alternatives if NO_TEXT.fullmatch(a))


def bad_outlines(pages):
    """Pages without one title, or whose headings skip a level."""
    for path, page in pages.items():
        if page.is_redirect or path.name == "search.html":  # a form, and no article
            continue
        levels = page.headings
        skips = any(below > above + 1 for above, below in pairwise(levels))
        if levels[:1] != [1] or levels.count(1) > 1 or skips:
            yield f"{path.name}: {levels}"


def markup_left_over(pages):
    """Source of the book that stands in the text."""
    for path, page in pages.items():
        yield from (f"{path.name}: {text}" for text in page.text if LEFT_OVER.search(text))


def formulas_not_set(pages):
    """Pages with the source of a formula, or with the style of formulas and without a formula."""
    for path, page in pages.items():
        styled = any("katex.min.css" in name for name in page.fetched)
        if page.formulas != len(page.set) or styled != page.has_formulas:
            yield f"{path.name}: {page.formulas} formulas, {len(page.set)} set, styled: {styled}"


def pictures_in_haste(pages):
    """Pictures that are loaded though nobody may ever see them, without those inside of a page."""
    for path, page in pages.items():
        names = (name for name in page.hasty if not name.startswith("data:"))
        yield from (f"{path.name}: {name}" for name in names)


def pages_without_description(pages):
    """Pages of which a search engine has nothing to show."""
    for path, page in pages.items():
        if not 20 <= len(page.metas.get("description", "")) <= 160:
            yield path.name


def weight(path, page):
    """Bytes that a first visit loads, were nothing compressed."""
    inside = {urlsplit(name).path for name in page.fetched if not name.startswith("data:")}
    return sum((path.parent / unquote(name)).stat().st_size for name in inside | {path.name})


def types_in_curly_quotes(pages):
    """Values of the API reference that cannot be typed as they stand."""
    for path, page in pages.items():
        yield from (f"{path.name}: {text}" for text in page.types if CURLY.search(text))


def found(check, folder, pages):
    return list(check(folder, pages) if check is outside_resources else check(pages))


@pytest.fixture(scope="module")
def book():
    if not (BUILT / "index.html").exists():
        pytest.skip("the book is not built: run make book")
    return read_pages(BUILT)


def test_copies_of_chapters_have_the_numbers_of_the_html(book):
    """What is numbered in a page, formula or not, by its label."""
    for page in plain.pages():
        html = (BUILT / page.relative_to(ROOT)).with_suffix(".html").read_text(encoding="utf-8")
        for kind, label in (at for cell in plain.cells_of(page) for at in plain.labels(cell)):
            if label:
                place = f"equation-{label}" if kind == "math" else f"(?i:{re.escape(label)})"
                name = "eqno" if kind == "math" else "caption-number"
                shown = re.search(f'id="{place}".*?<span class="{name}">([^<]*)', html, re.S)[1]
                assert shown.strip("( )\n") == plain.numbers()[label], label


def test_the_book_is_read(book):
    """What the checks look at is there."""
    assert sum(page.formulas for page in book.values()) > 2000
    assert sum(len(page.alternatives) for page in book.values()) > 50
    assert sum(len(page.types) for page in book.values()) > 500


CHECKS = (
    dead_links,
    missing_files,
    outside_resources,
    formulas_not_set,
    pictures_in_haste,
    pages_without_description,
    pictures_without_text,
    bad_outlines,
    markup_left_over,
    types_in_curly_quotes,
)


@pytest.mark.parametrize("check", CHECKS)
def test_no_page_has_a_fault(book, check):
    assert found(check, BUILT, book) == []


def test_pages_of_the_text_are_named_for_those_who_link_to_them(book):
    for path, page in book.items():
        name = path.relative_to(BUILT).as_posix()
        if name.startswith("book/"):
            assert page.metas["og:url"] == HOME + name
            assert page.metas["og:image"] == HOME + "_static/card.png"
            assert page.metas["og:title"] and page.metas["og:description"]
    assert (BUILT / "_static" / "card.png").is_file()


def test_all_pages_of_the_book_are_in_the_sitemap(book):
    told = re.findall("<loc>(.*?)</loc>", (BUILT / "sitemap.xml").read_text(encoding="utf-8"))
    pages = {path.relative_to(BUILT).as_posix() for path in (BUILT / "book").rglob("*.html")}
    assert set(told) == {HOME + page for page in pages}
    assert f"Sitemap: {HOME}sitemap.xml" in (BUILT / "robots.txt").read_text()


def test_page_for_what_is_not_found_works_at_any_depth(book):
    links = book[BUILT / "404.html"].links
    assert links and all(link.startswith(HOME) for link in links)
    assert book[BUILT / "404.html"].fetched == ["data:,"]


def test_a_first_visit_loads_little(book):
    assert median(weight(*item) for item in book.items()) < 900_000
    assert list(BUILT.rglob("*.map")) == []


def test_a_picture_of_a_chapter_has_a_least_width_on_a_phone(book):
    """The style sheet knows it."""
    style = (ROOT / "book" / "_static" / "mvref.css").read_text(encoding="utf-8")
    tags = re.findall(r"<img[^>]*_images/\w{64}\.svg[^>]*>", "".join(
        path.read_text(encoding="utf-8") for path in BUILT.glob("book/**/*.html")))  # fmt: skip
    assert len(tags) > 100 and all('style="--least: ' in tag for tag in tags)
    assert "min-width: var(--least" in style


def test_a_row_too_wide_for_a_phone_is_a_card():
    """Each of its cells has its head as a label, below spans, too, and the style sheet shows it."""
    heads = "<thead><tr><th></th><th></th><th colspan=2>accuracy</th></tr>" \
            "<tr><th>data</th><th>views</th><th>ours</th><th>paper</th></tr></thead>"  # fmt: skip
    rows = "<tr><th rowspan=2>{0}</th><th>2</th><td>0.9</td><td>{0}</td></tr>" \
           "<tr><th>3</th><td>0.8</td><td>0.7</td></tr>"  # fmt: skip
    table = f'<table class="table">{heads}<tbody>{rows}</tbody></table>'
    assert TABLE.sub(mend_table, table.format("a")).count("data-label") == 0
    wide = TABLE.sub(mend_table, table.format("a long name of a data set"))
    labels = ["data", "views", "accuracy, ours", "accuracy, paper"]
    assert re.findall('data-label="(.*?)"', wide) == labels + labels[1:]
    style = (ROOT / "book" / "_static" / "mvref.css").read_text(encoding="utf-8")
    assert 'class="table cards"' in wide and "content: attr(data-label)" in style


def test_an_erratum_is_linked_where_it_is_named(book):
    kinds = ("derive", "prove", "validate")
    pages = [page for kind in kinds for page in (BUILT / "book").glob(f"*/{kind}.html")]
    for page in pages:
        article = page.read_text(encoding="utf-8").split("<article", 1)[1]
        text = re.sub(r'<p class="admonition-title.*?</p>|<.*?>', "", article)
        named = set(re.findall(r"(?:erratum|remark) ([ABPMN]\d+)\b", text))
        assert named <= {found.upper() for found in re.findall(r"#erratum-(\w+)", article)}, page
    assert len(pages) == 15


def test_style_sheets_are_whole_and_an_editor_is_as_high_as_its_lines(book):
    for theme in ("pydata_sphinx_theme", "sphinx_book_theme"):
        static = Path(str(files(theme) / "theme" / theme / "static"))
        for sheet in [*static.rglob("*.css"), *static.rglob("*.woff2")]:
            built = BUILT / "_static" / sheet.relative_to(static)
            assert built.read_bytes().count(b"{") == sheet.read_bytes().count(b"{"), built
    style = (BUILT / "_static" / "live.css").read_text(encoding="utf-8")
    assert "height: auto" in re.search(r"\.cm-s-mvref\.CodeMirror \{(.*?)\}", style, re.DOTALL)[1]


WINDOW = """
var SPHINX_HIGHLIGHT_ENABLED = false, document = {getElementById: () => null};
const _ready = () => null, _ = (text) => text;
"""
PAGES_FOR = (
    "(text) => Search._performSearch(...Search._parseQuery(text)).reverse().map((hit) => hit[0])"
)
QUESTIONS = tomllib.loads((ROOT / "tests/project/questions.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def search(book):
    """The book's own search, in an engine without a window: a text -> pages, best first."""
    with MiniRacer() as context:
        context.eval(WINDOW)
        for file in ("_static/language_data.js", "_static/searchtools.js", "searchindex.js"):
            context.eval((BUILT / file).read_text(encoding="utf-8"))
        context.eval(f"var pagesFor = {PAGES_FOR}")
        yield lambda text: list(dict.fromkeys(context.call("pagesFor", text)))


def test_search_finds_the_page_of_every_public_name_first(search):
    """Of the short name and of the full one."""
    asked = {text: name for name in NAMES for text in (name.rpartition(".")[2], name)}
    hits = {text: search(text)[0] for text in asked}
    assert {text: hit for text, hit in hits.items() if not hit.endswith(f"/{asked[text]}")} == {}


def test_search_finds_what_readers_ask_for(search):
    hits = {text: search(text) for text in QUESTIONS}
    assert all(hits.values()) and search("zyzzyva")
    pages = {text: f"book/{page}" for text, page in QUESTIONS.items()}
    missed = {text: hits[text][:3] for text, page in pages.items() if page not in hits[text][:3]}
    first = sum(hits[text][0] == page for text, page in pages.items())
    assert len(QUESTIONS) >= 60
    assert first >= 0.75 * len(QUESTIONS) and len(missed) <= 0.1 * len(QUESTIONS), missed


def test_entries_of_the_reference_lead_to_the_sections_that_use_them(book):
    pages = {path.stem: book[path] for path in BUILT.glob("book/reference/*/*.html")}
    assert sorted(pages) == sorted(NAMES)
    links = {name: " ".join(page.links) for name, page in pages.items()}
    assert "mwmvc2/one_page.html#the-idea-in-a-picture" in links["mvref.mwmvc2.learn_weights"]
    assert "mvl_svm/annotated.html" in links["mvref.MVLSVM"]
    assert sum("/run.html#" in told for told in links.values()) > 30
    assert "Used in" in pages["mvref.MVLSVM"].text
    assert "Used in" not in pages["mvref.datasets.fetch_citeseer"].text  # but in its own example


HEAD = '<meta name="description" content="A page that says what it is about."><article>'
GOOD = f'{HEAD}<h1 id="top">A</h1><a href="b.html#part-1">b</a> <a href="https://x.org">x</a>'
FAULTS = {
    "dead page": ('<a href="c.html">', dead_links),
    "dead anchor": ('<a href="b.html#part-2">', dead_links),
    "dead anchor in the page": ('<a href="#bottom">', dead_links),
    "dead redirect": ('<meta http-equiv="Refresh" content="0; url=c.html">', dead_links),
    "missing picture": ('<img src="c.png">', missing_files),
    "script": ('<script src="https://cdn.org/a.js"></script>', outside_resources),
    "script without a scheme": ('<script src="//cdn.org/a.js"></script>', outside_resources),
    "style": ('<link rel="stylesheet" href="https://cdn.org/a.css">', outside_resources),
    "picture": ('<img src="https://cdn.org/a.png">', outside_resources),
    "loaded later": ('<script>load("https://cdn.org/a.js")</script>', outside_resources),
    "picture without a text": ('<img src="b.html" alt="">', pictures_without_text),
    "picture named by its file": ('<img src="b.html" alt="../_x/a.png">', pictures_without_text),
    "second title": ("<h1>B</h1>", bad_outlines),
    "skipped heading": ("<h3>B</h3>", bad_outlines),
    "role": ("<p>as {eq}`a` says</p>", markup_left_over),
    "role of a docstring": ("<p>see :func:`a`</p>", markup_left_over),
    "formula": ("<p>where $x_i$ is</p>", markup_left_over),
    "link": ("<p>the [data](data.md)</p>", markup_left_over),
    "bold text": ("<p>a **view</p><p>er** and **b**</p>", markup_left_over),
    "formula that is not set": ('<p class="math">a</p>', formulas_not_set),
    "page without a description": (
        '<meta name="description" content="">',
        pages_without_description,
    ),
    "picture in haste": ('<img src="b.html" alt="b">', pictures_in_haste),
    "type in curly quotes": (
        '<span class="classifier">\u2018a\u2019</span>',
        types_in_curly_quotes,
    ),
    "font": ("<style>src: url('https://cdn.org/a.ttf')</style>", outside_resources),
}


@pytest.fixture
def site(tmp_path):
    """Two pages without a fault; the first one can be given one."""

    def build(extra=""):
        (tmp_path / "a.html").write_text(GOOD + extra)
        (tmp_path / "b.html").write_text(
            f'{HEAD}<h1>B</h1><h2 id="part-1">B</h2><a href="a.html">a</a>'
        )
        return tmp_path, read_pages(tmp_path)

    return build


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_is_found(site, fault):
    html, check = FAULTS[fault]
    assert found(check, *site()) == []
    assert len(found(check, *site(html))) == 1


def test_fault_in_a_style_sheet_is_found(site):
    folder, pages = site()
    (folder / "a.css").write_text('@import "https://cdn.org/b.css";')
    assert len(list(outside_resources(folder, pages))) == 1


def test_no_page_names_a_folder_of_the_machine_that_built_it(book):
    for path in book:
        assert str(ROOT) not in path.read_text(encoding="utf-8"), path.name
