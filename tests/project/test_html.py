"""The built book: no dead link, nothing loaded from outside, formulas that render offline."""

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
BUILT = ROOT / "_build" / "html"
CONFIG = yaml.safe_load((ROOT / "_config.yml").read_text())["sphinx"]["config"]

# What a browser fetches by itself; a link that the reader may follow is none of these.
FETCHED = {
    ("audio", "src"),
    ("embed", "src"),
    ("iframe", "src"),
    ("img", "src"),
    ("img", "srcset"),
    ("object", "data"),
    ("script", "src"),
    ("source", "src"),
    ("source", "srcset"),
    ("video", "src"),
}
FETCHED_BY_LINK = {"stylesheet", "icon", "preload", "modulepreload", "prefetch", "manifest"}
FETCHED_BY_LINK |= {"preconnect", "dns-prefetch"}
OUTSIDE = re.compile(r"\s*(https?:)?//")
# In scripts and styles inside a page: an address of a file to load.
LOADED = re.compile(r"""(?:https?:)?//[^\s"'<>]+\.(?:js|mjs|css|woff2?)\b""")
IMPORTED = re.compile(r"""(?:@import\s*|url\(\s*)["']?(?:https?:)?//""")


class Page(HTMLParser):
    """The anchors, the links and what is fetched, of one page."""

    def __init__(self, path):
        super().__init__()
        self.anchors, self.links, self.fetched, self.inline = set(), [], [], []
        self.has_formulas = self.in_code = False
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.anchors |= {attributes.get("id"), attributes.get("name")} - {None}
        self.has_formulas |= "math" in (attributes.get("class") or "").split()
        self.in_code = tag in ("script", "style")
        if tag == "a" and attributes.get("href"):
            self.links.append(attributes["href"])
        if tag == "meta" and (attributes.get("http-equiv") or "").lower() == "refresh":
            self.links.append(attributes["content"].partition("url=")[2])
        if tag == "link" and set((attributes.get("rel") or "").split()) & FETCHED_BY_LINK:
            self.fetched.append(attributes["href"])
        self.fetched += [v for name, v in attributes.items() if (tag, name) in FETCHED and v]

    def handle_endtag(self, tag):
        self.in_code = False

    def handle_data(self, data):
        if self.in_code:
            self.inline.append(data)


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


@pytest.fixture(scope="module")
def book():
    if not (BUILT / "index.html").exists():
        pytest.skip("the book is not built: run make book")
    return read_pages(BUILT)


def test_links_lead_somewhere(book):
    assert len(book) > 2
    assert list(dead_links(book)) == []


def test_pages_find_their_files(book):
    assert list(missing_files(book)) == []


def test_pages_load_nothing_from_outside(book):
    assert list(outside_resources(BUILT, book)) == []


def test_formulas_are_rendered_by_the_book_itself(book):
    # Sphinx says nothing when this file is missing, and formulas then stay source code.
    script = BUILT / "_static" / CONFIG["mathjax_path"]
    assert script.stat().st_size > 1_000_000
    with_formulas = [page for page in book.values() if page.has_formulas]
    assert with_formulas
    for page in with_formulas:
        fetched = [urlsplit(name).path for name in page.fetched]
        assert any(name.endswith(f"_static/{CONFIG['mathjax_path']}") for name in fetched)


GOOD = '<h1 id="top">A</h1><a href="b.html#part-1">b</a> <a href="https://x.org">x</a>'
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
    "font": ("<style>src: url('https://cdn.org/a.ttf')</style>", outside_resources),
}


@pytest.fixture
def site(tmp_path):
    """Two pages without a fault; the first one can be given one."""

    def build(extra=""):
        (tmp_path / "a.html").write_text(GOOD + extra)
        (tmp_path / "b.html").write_text('<h2 id="part-1">B</h2><a href="a.html">a</a>')
        return tmp_path, read_pages(tmp_path)

    return build


def found(check, folder, pages):
    return list(check(folder, pages) if check is outside_resources else check(pages))


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_is_found(site, fault):
    html, check = FAULTS[fault]
    assert found(check, *site()) == []
    assert len(found(check, *site(html))) == 1


def test_fault_in_a_style_sheet_is_found(site):
    folder, pages = site()
    (folder / "a.css").write_text('@import "https://cdn.org/b.css";')
    assert len(list(outside_resources(folder, pages))) == 1
