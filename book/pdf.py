"""Print the parts of the built book, _build/html/mvref-0.pdf and so on (this is `make pdf`).

python book/pdf.py            with the first browser found
python book/pdf.py BROWSER    with this one: a name on the PATH, or a path

The built pages of a part are concatenated in the order of _toc.yml, and a browser of the Chromium
family prints them. This keeps the figures, the formulas and the style of the HTML; a link to a
page of the part stays inside the PDF, others lead to the web. The API reference and the
appendices are for the screen. Solutions are unfolded; folded code that only draws is left out. Each
file is tagged: a screen reader finds headings, lists and tables in it,
and the source of every formula. The PDF files stay in _build/pdf.
"""

import logging
import os
import posixpath
import shutil
import subprocess
import sys
import tempfile
import tomllib
from itertools import takewhile
from pathlib import Path
from urllib.parse import unquote, urlsplit

import yaml
from bs4 import BeautifulSoup
from pypdf import PdfReader, PdfWriter

# It warns that the browser counted the objects of its file wrongly, which is harmless.
logging.getLogger("pypdf").setLevel(logging.ERROR)

ROOT = Path(__file__).resolve().parents[1]
HTML = ROOT / "_build" / "html"
WORK = ROOT / "_build" / "pdf"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
BROWSERS = (
    *"chromium chromium-browser google-chrome google-chrome-stable chrome msedge".split(),
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "C:/Program Files/Google/Chrome/Application/chrome.exe",
    "C:/Program Files (x86)/Microsoft/Edge/Application/msedge.exe",
)


def find_browser(names=BROWSERS):
    """Return the path of the first of these programs that is installed."""
    for name in names:
        if path := shutil.which(name):
            return path
    sys.exit(
        "make pdf needs Chromium, Chrome or Edge, and found none: install one, or name yours "
        "with make pdf CHROME=..."
    )


def read_toc(path=ROOT / "_toc.yml"):
    """Return pairs of a part's caption and pages, in the book's order, before the reference."""
    toc = yaml.safe_load(path.read_text(encoding="utf-8"))

    def flat(entries):
        for entry in entries:
            yield entry["file"]
            yield from flat(entry.get("sections", []))

    first = [{"file": toc["root"]}]
    for part in takewhile(lambda part: part["caption"] != "API reference", toc["parts"]):
        yield part["caption"], list(flat(first + part["chapters"]))
        first = []


def anchor(page, fragment=""):
    """Return the name of a page, or of a place in it, among all pages."""
    name = page.replace("/", ".")
    return f"{name}:{fragment}" if fragment else name


def new_address(href, page, pages):
    """Return the target of a page's link in the PDF: on the web if it is not part of the PDF."""
    parts = urlsplit(href)
    if parts.scheme or parts.netloc:
        return href
    path = posixpath.normpath(posixpath.join(posixpath.dirname(page), unquote(parts.path)))
    target = path.removesuffix(".html") if parts.path else page
    if target in pages:
        return f"#{anchor(target, unquote(parts.fragment))}"
    return f"{PROJECT['urls']['Documentation']}{path}" + (parts.fragment and f"#{parts.fragment}")


def prepare(article, page, pages):
    """Prepare the article of a page for printing, and make its names unique among all pages."""
    for useless in article.select("a.headerlink, a:has(> .viewcode-link), .pdf-link"):
        useless.decompose()
    for fold in article.find_all("details"):
        # Outputs of solutions are shown, and so are verdicts and counterexamples; code that draws
        # is not.
        if "report" in fold.get("class", []):
            fold.summary.name = "p"
            fold.unwrap()
        elif fold.find_parent("section", id="exercises") or page.startswith("book/errata/"):
            fold.summary.decompose()
            fold.unwrap()
        else:
            fold.decompose()
    for tag in article.find_all(id=True):
        tag["id"] = anchor(page, tag["id"])
    for link in article.find_all("a", href=True):
        link["href"] = new_address(link["href"], page, pages)
        if link.find("img"):
            link.unwrap()
    for picture in article.find_all("img"):
        place = posixpath.normpath(posixpath.join(posixpath.dirname(page), picture["src"]))
        picture["src"] = f"../html/{place}"
        del picture["loading"]  # paper does not scroll
    for formula in article.select(".katex"):
        formula.attrs |= {"role": "img", "aria-label": formula.annotation.get_text()}
        formula.select_one(".katex-mathml").decompose()
        # A browser writes no text for elements that contain only hidden parts.
        del formula.select_one(".katex-html")["aria-hidden"]
    article["id"] = anchor(page)
    return article


def gather(caption, pages):
    """Join the pages of a part: title, contents, then page by page."""
    contents, body, styles = [], [], {}
    for page in pages:
        soup = BeautifulSoup((HTML / f"{page}.html").read_text(encoding="utf-8"), "html.parser")
        for link in soup.find_all("link", rel="stylesheet"):
            styles[posixpath.normpath(posixpath.join(page, "..", link["href"]))] = None
        article = soup.find("article")
        title = article.h1.get_text().removesuffix("#")
        contents.append(f'<li><a href="#{anchor(page)}">{title}</a> <span></span></li>')
        body.append(str(prepare(article, page, pages)))
    links = (f'<link rel="stylesheet" href="../html/{name}">' for name in styles)
    template, css = (
        (ROOT / "book" / name).read_text(encoding="utf-8") for name in ("pdf.html", "pdf.css")
    )
    told = {name: PROJECT[name] for name in ("description", "version")}
    joined = {"styles": links, "contents": contents, "body": body}
    joined = {name: "\n".join(texts) for name, texts in joined.items()}
    return template.format(css=css, title=caption, **told, **joined)


def run(browser, *arguments):
    """Run the browser without a window; return its standard output."""
    with tempfile.TemporaryDirectory() as profile:
        command = [browser, "--headless", "--disable-gpu", f"--user-data-dir={profile}"]
        command += ["--no-first-run", "--disable-background-networking", "--disable-sync"]
        command += ["--virtual-time-budget=600000", "--window-size=794,1123", *arguments]
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            command.append("--no-sandbox")  # Chromium refuses to run as root otherwise
        done = subprocess.run(command, capture_output=True, timeout=900)
    if done.returncode:
        sys.exit(f"{browser} failed: {done.stderr.decode(errors='replace')[-2000:]}")
    return done.stdout.decode("utf-8")


def print_page(browser, page):
    """Print a page from its file; return the PDF."""
    source, target = WORK / "gathered.html", WORK / "printed.pdf"
    source.write_text(str(page), encoding="utf-8")
    run(browser, "--no-pdf-header-footer", f"--print-to-pdf={target}", source.as_uri())
    return PdfReader(target)


def first_sheets(printed, pages):
    """Return the sheet, counted from 0, on which each page of the book begins."""
    places = printed.named_destinations
    return [printed.get_destination_page_number(places[f"/{anchor(page)}"]) for page in pages]


def print_part(browser, caption, pages, target):
    """Print a part, with page numbers in its contents, a title and an outline."""
    page = BeautifulSoup(gather(caption, pages), "html.parser")
    rows = page.select(".pdf-contents li")
    for row, sheet in zip(rows, first_sheets(print_page(browser, page), pages), strict=True):
        row.span.string = str(sheet + 1)
    printed = print_page(browser, page)
    writer = PdfWriter(clone_from=printed)
    writer.metadata = {"/Title": page.title.string, "/Author": "mvref authors"}
    for row, sheet in zip(rows, first_sheets(printed, pages), strict=True):
        writer.add_outline_item(title=row.a.get_text(), page_number=sheet)
    writer.write(target)
    print(f"{target}: {len(printed.pages)} pages", flush=True)


def link_from_pages(files):
    """Add a line with links to the PDFs below the text of the welcome page and of Teach, once."""
    links = ", ".join(f'<a href="../{name}">{part[0]}</a>' for name, part in files.items())
    line = f'<p class="pdf-link">To print, as PDF: {links}.</p>'
    for name in ("intro", "teach"):
        path = HTML / "book" / f"{name}.html"
        page = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
        if not page.find(class_="pdf-link"):
            page.find("article").append(BeautifulSoup(line, "html.parser"))
            path.write_text(str(page), encoding="utf-8")


def main(names):
    if not (HTML / "index.html").exists():
        sys.exit("The book is not built: run make book first")
    browser = find_browser(names or BROWSERS)
    WORK.mkdir(parents=True, exist_ok=True)
    files = {f"mvref-{number}.pdf": part for number, part in enumerate(read_toc())}
    for name, part in files.items():
        print_part(browser, *part, HTML / name)
    link_from_pages(files)


if __name__ == "__main__":
    main(sys.argv[1:])
