"""Print the built book into one file, _build/html/mvref.pdf (this is `make pdf`).

python book/pdf.py            with the first browser found
python book/pdf.py BROWSER    with this one: a name on the PATH, or a path

The built pages are put under each other in the order of _toc.yml, and a browser of the Chromium
family prints them. That keeps the figures, the formulas and the look of the HTML, and a link
between two pages becomes a link inside the PDF. Solutions are unfolded; folded code that only
draws is left out. The file is tagged: a screen reader finds headings, lists and tables in it,
and the source of every formula. What is printed stays in _build/pdf.
"""

import logging
import os
import posixpath
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from urllib.parse import unquote, urlsplit

import yaml
from bs4 import BeautifulSoup
from pypdf import PdfReader, PdfWriter

# It remarks that the browser counted the objects of its file wrongly, which harms nobody.
logging.getLogger("pypdf").setLevel(logging.ERROR)

ROOT = Path(__file__).resolve().parents[1]
HTML = ROOT / "_build" / "html"
WORK = ROOT / "_build" / "pdf"
BROWSERS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "msedge",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "C:/Program Files/Google/Chrome/Application/chrome.exe",
    "C:/Program Files (x86)/Microsoft/Edge/Application/msedge.exe",
)


def find_browser(names=BROWSERS):
    """Path of the first of these programs that is installed."""
    for name in names:
        if path := shutil.which(name):
            return path
    sys.exit(
        "make pdf needs Chromium, Chrome or Edge, and found none: install one, or name yours "
        "with make pdf CHROME=..."
    )


def read_toc(path=ROOT / "_toc.yml"):
    """Pairs of a part's caption and its pages, in the order of the book."""
    toc = yaml.safe_load(path.read_text(encoding="utf-8"))

    def flat(entries):
        for entry in entries:
            if "glob" in entry:  # pages that exist in the built book only
                found = sorted(HTML.glob(f"{entry['glob']}.html"))
                yield from (path.relative_to(HTML).with_suffix("").as_posix() for path in found)
            else:
                yield entry["file"]
                yield from flat(entry.get("sections", []))

    parts = [(part["caption"], list(flat(part["chapters"]))) for part in toc["parts"]]
    (caption, pages), *rest = parts
    return [(caption, [toc["root"], *pages]), *rest]


def anchor(page, fragment=""):
    """Name of a page, or of a place in it, among all pages."""
    name = page.replace("/", ".")
    return f"{name}:{fragment}" if fragment else name


def new_address(href, page, pages):
    """Where a link of a page leads in the PDF; None if its target is not part of it."""
    parts = urlsplit(href)
    if parts.scheme or parts.netloc:
        return href
    path = posixpath.normpath(posixpath.join(posixpath.dirname(page), unquote(parts.path)))
    target = path.removesuffix(".html") if parts.path else page
    return f"#{anchor(target, unquote(parts.fragment))}" if target in pages else None


def prepare(article, page, pages):
    """Make the article of a page fit for paper, and its names unique among all pages."""
    for useless in article.select("a.headerlink, a:has(> .viewcode-link), .pdf-link"):
        useless.decompose()
    for fold in article.find_all("details"):
        # What solutions compute is shown, and so are verdicts and counterexamples; code that draws
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
        address = new_address(link["href"], page, pages)
        if address is None or link.find("img"):
            link.unwrap()
        else:
            link["href"] = address
    for picture in article.find_all("img"):
        place = posixpath.normpath(posixpath.join(posixpath.dirname(page), picture["src"]))
        picture["src"] = f"../html/{place}"
        del picture["loading"]  # paper does not scroll
    for formula in article.select(".katex"):
        formula.attrs |= {"role": "img", "aria-label": formula.annotation.get_text()}
        formula.select_one(".katex-mathml").decompose()
        # A browser writes no text for what holds nothing but hidden parts.
        del formula.select_one(".katex-html")["aria-hidden"]
    # Level 1 is the part.
    for level in (5, 4, 3, 2, 1):
        for heading in article.find_all(f"h{level}"):
            heading.name = f"h{level + 1}"
    article["id"] = anchor(page)
    return article


def gather(parts):
    """All pages in one: title, contents, then part by part."""
    pages = {page for _, names in parts for page in names}
    contents, body, titles, styles = [], [], [], {}
    for caption, names in parts:
        contents.append(f"<p>{caption}</p><ul>")
        body.append(f'<h1 class="part">{caption}</h1>')
        for page in names:
            html = (HTML / f"{page}.html").read_text(encoding="utf-8")
            soup = BeautifulSoup(html, "html.parser")
            for link in soup.find_all("link", rel="stylesheet"):
                styles[posixpath.normpath(posixpath.join(page, "..", link["href"]))] = None
            article = soup.find("article")
            titles.append(article.h1.get_text().removesuffix("#"))
            contents.append(f'<li><a href="#{anchor(page)}">{titles[-1]}</a> <span></span></li>')
            body.append(str(prepare(article, page, pages)))
        contents.append("</ul>")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return PAGE.format(
        styles="\n".join(f'<link rel="stylesheet" href="../html/{name}">' for name in styles),
        css=(ROOT / "book" / "pdf.css").read_text(encoding="utf-8"),
        title=titles[0],
        description=project["description"],
        version=project["version"],
        contents="\n".join(contents),
        body="\n".join(body),
    )


PAGE = """<!DOCTYPE html>
<html lang="en" data-theme="light" data-mode="light">
<head>
<meta charset="utf-8">
<title>mvref: {title}</title>
{styles}
<style>{css}</style>
</head>
<body>
<header class="title-page">
<p class="name">mvref</p>
<p class="title">{title}</p>
<p>{description}</p>
<p>Version {version}</p>
<p class="note">Printed from the HTML book. Solutions are unfolded; code that only draws is in the
HTML and in the notebooks.</p>
</header>
<div class="pdf-contents"><h1>Contents</h1>
{contents}
</div>
<main class="bd-content">
{body}
</main>
<script type="module">
// Shrinks what is wider than the paper, once the fonts of the formulas are there.
await document.fonts.ready;
for (const wide of document.querySelectorAll("div.math, table, dl.py > dt")) {{
  const room = wide.parentElement.clientWidth;
  if (wide.scrollWidth > room) wide.style.zoom = room / wide.scrollWidth;
}}
</script>
</body>
</html>
"""


def run(browser, *arguments):
    """Call the browser without a window; what it writes to its standard output."""
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
    """Print a page from its file; the PDF that was read from it."""
    source, target = WORK / "gathered.html", WORK / "printed.pdf"
    source.write_text(str(page), encoding="utf-8")
    run(browser, "--no-pdf-header-footer", f"--print-to-pdf={target}", source.as_uri())
    return PdfReader(target)


def first_sheets(printed, parts):
    """The sheet, counted from 0, on which each page of the book begins."""
    places = printed.named_destinations
    pages = [page for _, names in parts for page in names]
    return {page: printed.get_destination_page_number(places[f"/{anchor(page)}"]) for page in pages}


def number_contents(page, sheets):
    """Write the page number behind each row of the contents."""
    for row, sheet in zip(page.select(".pdf-contents li"), sheets.values(), strict=True):
        row.span.string = str(sheet + 1)


def local_links(printed):
    """Links that lead to a file of this machine: there must be none."""
    for sheet in printed.pages:
        for note in sheet.get("/Annots") or []:
            address = note.get_object().get("/A", {}).get("/URI", "")
            if str(address).startswith("file:"):
                yield address


def bind(printed, parts, page, sheets):
    """Add the title and an outline of parts and chapters, and write the PDF."""
    writer = PdfWriter(clone_from=printed)
    writer.metadata = {"/Title": page.title.string, "/Author": "mvref authors"}
    titles = [row.a.get_text() for row in page.select(".pdf-contents li")]
    titles = dict(zip(sheets, titles, strict=True))
    for caption, names in parts:
        part = writer.add_outline_item(title=caption, page_number=sheets[names[0]], is_open=False)
        for name in names:
            writer.add_outline_item(title=titles[name], page_number=sheets[name], parent=part)
    writer.write(HTML / "mvref.pdf")


def link_from_welcome_page(root):
    """A line below the welcome page's text that leads to the PDF, unless it is there."""
    path = HTML / f"{root}.html"
    page = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
    if page.find(class_="pdf-link"):
        return
    href = posixpath.relpath("mvref.pdf", posixpath.dirname(root))
    line = f'<p class="pdf-link"><a href="{href}">The whole book as one PDF</a></p>'
    page.find("article").append(BeautifulSoup(line, "html.parser"))
    path.write_text(str(page), encoding="utf-8")


def main(names):
    if not (HTML / "index.html").exists():
        sys.exit("The book is not built: run make book first")
    browser = find_browser(names or BROWSERS)
    WORK.mkdir(parents=True, exist_ok=True)
    parts = read_toc()
    page = BeautifulSoup(gather(parts), "html.parser")
    number_contents(page, first_sheets(print_page(browser, page), parts))
    printed = print_page(browser, page)
    if bad := sorted(set(local_links(printed))):
        sys.exit(f"Links of the PDF that lead nowhere: {bad}")
    bind(printed, parts, page, first_sheets(printed, parts))
    link_from_welcome_page(parts[0][1][0])
    print(f"The PDF ({len(printed.pages)} pages): {HTML / 'mvref.pdf'}")


if __name__ == "__main__":
    main(sys.argv[1:])
