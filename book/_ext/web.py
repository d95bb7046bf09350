"""Post-processing of every page for search engines, screen readers and slow connections.

When all pages are written, one pass over them corrects the theme's output: names of buttons, order
of scripts, pictures. The tags that describe a page come from sphinxext-opengraph.
"""

import re
from importlib.resources import files
from urllib.parse import unquote, urljoin

import imagesize
from bs4 import BeautifulSoup

# Parts of the theme that are not loaded: its search while typing, which is off; 1.5 MB of icons, of
# which the book uses a few: these are drawn by a style sheet.
UNUSED = ("searchtools.js", "language_data.js", "searchindex.js", "fontawesome.js")
# Pixels around a picture (mvref.css); its scale as shown, and the least on a phone (6.8 in fit).
FRAME, SHOWN, LEAST = 13, {".png": 0.9, ".svg": 1.12}, 0.47
TABLE = re.compile(r'<table (border="1" class="dataframe|class="table)">.*?</table>', re.DOTALL)
WORDS = re.compile(r"(?!nan|inf|none$)[^\W\d_]([^\W\d_]| )", re.IGNORECASE)  # start of a text
SHORTEST, SHORT = 10, 22  # characters of cells: always on one line, on one line if there is room
DENSE, CARD = 98, 46  # characters of a row in smaller letters, and of one that is a card on a phone
# A minus before a number in the text; code and formulas match first, and are kept.
VERBATIM = r"<(pre|script|style|annotation)\b.*?</\1>"
MINUS = re.compile(VERBATIM + r'|(?<=[>( ])(?<!"pre">)(?<!\w\()-(?=\.?\d[^<>]*<)', re.DOTALL)

TAG = re.compile(r"<(?:button|div|i|img|ol|span|summary|ul)\b[^>]*>")
HASTE = re.compile(r'\s*<link\b[^>]*as="script"[^>]*>')  # preloading of scripts
SCRIPT = re.compile(r"\s*<script\b([^>]*\bsrc=[^>]*)></script>")
ADDRESS = re.compile(r'(?:href|src)="([^"]*)"')
BRANCH = re.compile(r"(<a [^>]*>((?:(?!</a>).)*)</a>\s*<details[^>]*>\s*<summary)(?=>)", re.DOTALL)
COLLECTION = "scripts/fontawesome.js"
ALL_ICONS = files("pydata_sphinx_theme") / "theme/pydata_sphinx_theme/static" / COLLECTION
DRAWING = re.compile(r'"?([a-z][a-z-]+)"?:\[(\d+),(\d+),\[[^\]]*\],"\w+","([^"]+)"\]')
# Icons in the theme's rules, in place of drawings by its script.
DRAWN = re.compile(r"(?<=bd-search )svg|(?<=\.btn )svg|(?<=:not\()svg")


def nest_lists(app, pagename, templatename, context, doctree):
    """Move a list below an entry of the list of sources into that entry."""
    if pagename == "_modules/index":
        body = re.sub(r"</li>\s*<ul>", "<ul>", context["body"])
        context["body"] = re.sub(r"</ul>(?=\s*(?:<li>|</ul>))", "</ul></li>", body)


def mend_tag(tag, folder):
    """Return a corrected tag; folder: the folder of its page."""
    if re.search("search-button-field|theme-switch-button|Toggle hidden content", tag):
        tag = re.sub(r'\saria-label="[^"]*"', "", tag)  # differs from the visible name
    if "citation" in tag:
        tag = re.sub(r'\srole="[^"]*"', "", tag)  # not allowed: lists without items
    if tag.startswith("<img"):
        tag = mend_picture(tag, folder)
    return tag


def mend_picture(tag, folder):
    """Return a picture that loads lazily, with its size reserved until then.

    A tap on a picture of a chapter opens it alone, where a phone can enlarge it.
    """
    source = folder / unquote(ADDRESS.search(tag)[1])
    if "loading=" in tag or source.suffix not in SHOWN:
        return tag if "loading=" in tag else tag.replace("<img", '<img loading="lazy"', 1)
    width, height = (round(SHOWN[source.suffix] * px) + FRAME for px in imagesize.get(source))
    tag = tag.replace("<img", f'<img loading="lazy" width="{width}" height="{height}"', 1)
    if "style=" in tag:  # width of the welcome page's pictures
        return tag
    tag = tag.replace("<img", f'<img style="--least: {round(LEAST * width)}px"', 1)
    return f'<a class="whole" title="Open alone" href="{ADDRESS.search(tag)[1]}">{tag}</a>'


def mend_table(found):
    """Return a table; cells of rows too wide for a phone store their head (mvref.css: cards)."""
    table = BeautifulSoup(found[0], "html.parser")
    if "dataframe" in found[1]:
        mend_dataframe(table)
    rows = [row.find_all(["th", "td"]) for row in table.find_all("tr")]
    wide = max(sum(min(len(cell.text), SHORT) + 2 for cell in row) for row in rows)
    if len(rows[0]) > 2 and wide > CARD:
        table.table["class"] = [*table.table["class"], "cards"]
        n = len(table.thead.find_all("tr"))
        names = ([th.text.strip() for th in row for _ in range(int(th.get("colspan", 1)))]
                 for row in rows[:n])  # fmt: skip
        labels = [", ".join(filter(None, dict.fromkeys(name))) for name in zip(*names, strict=True)]
        for row in rows[n:]:  # from the right: a span leaves out cells on the left
            for cell, label in zip(row[::-1], labels[::-1], strict=False):
                cell["data-label"] = label
    return str(table)


def mend_dataframe(table):
    """Return a pandas table with index names in the header row and text columns marked."""
    *heads, last = (row.find_all("th") for row in table.thead.find_all("tr"))
    body = [row.find_all(["th", "td"])[::-1] for row in table.tbody.find_all("tr")]
    wide = len(table.tbody.tr.find_all("td")) if body else 0
    if heads and len(heads[-1]) == len(last) and not any(th.string for th in last[-wide:]):
        for above, below in zip(heads[-1], last, strict=True):
            above.string = " \\ ".join(filter(None, (below.string, above.string)))
        last[0].parent.decompose()
        last = heads[-1]
    words = last[: len(last) - wide]
    for column in zip(last[: -wide - 1 : -1], *body, strict=False):  # from the right
        told = [cell.get_text().strip(" -\N{EN DASH}") for cell in column[1:]]
        if 2 * sum(map(bool, map(WORDS.match, told))) > sum(map(bool, told)):
            words += column
    for cell in words:
        cell["class"] = "text"
    if any(sum(min(len(cell.text), SHORT) + 3 for cell in row) > DENSE for row in body):
        table.table["class"] = ["dataframe", "dense"]
    for cell in sum(body, []):
        n = len(cell.get_text())
        kind = "shortest" if n <= SHORTEST else "short" * (n <= SHORT)
        cell["class"] = f"{cell.get('class', '')} {kind}".split()


def mend(path, html, out):
    """Correct a written page."""
    options = (out / "_static" / "documentation_options.js").read_text(encoding="utf-8").strip()
    unused = UNUSED if path.name != "search.html" else UNUSED[-1:]

    def script(found):
        name = ADDRESS.search(found[1])[1].partition("?")[0].rpartition("/")[2]
        if name == "documentation_options.js":
            return f"\n<script>{options}</script>"
        waits = found[0] if "defer" in found[1] else found[0].replace("<script", "<script defer")
        return "" if name in unused else waits

    def branch(found):
        return f'{found[1]} aria-label="Pages under {re.sub("<[^>]*>", "", found[2]).strip()}"'

    head, body = html.split("</head>", 1)
    head = SCRIPT.sub(script, HASTE.sub("", head))
    up = "../" * len(path.parent.relative_to(out).parts)
    if "stylesheet" in head:  # the page for "not found" has none
        head += f'<link rel="stylesheet" href="{up}_static/icons.css">\n'
    body = TABLE.sub(mend_table, body)
    body = MINUS.sub(lambda found: found[0] if found[1] else "\N{MINUS SIGN}", body)
    body = TAG.sub(lambda found: mend_tag(found[0], path.parent), BRANCH.sub(branch, body))
    return f"{head}</head>{body}"


def icons(words):
    """Return the style of the icons that the book uses, drawings from the theme's collection."""
    yield (
        ':is(.fa-solid,.fas,.fab,.fa-brands)::before{content:"";display:inline-block;height:1em;'
        "vertical-align:-.125em;background:currentcolor;forced-color-adjust:none;"
        "mask:var(--drawing) center/contain no-repeat}"
    )
    for name, width, height, path in DRAWING.findall(ALL_ICONS.read_text(encoding="utf-8")):
        if f"fa-{name}" in words:
            box = f"xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}'"
            image = f"data:image/svg+xml,%3Csvg {box}%3E%3Cpath d='{path}'/%3E%3C/svg%3E"
            size = int(width) / int(height)
            yield f'.fa-{name}::before{{width:{size:.4g}em;--drawing:url("{image}")}}'


def write_sitemap(app):
    """Write the addresses of all pages of the book."""
    uris = sorted(map(app.builder.get_target_uri, app.env.found_docs))
    pages = (urljoin(app.config.html_baseurl, uri) for uri in uris)
    rows = "\n".join(f"<url><loc>{page}</loc></url>" for page in pages)
    head = '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
    (app.outdir / "sitemap.xml").write_text(f"{head}\n{rows}\n</urlset>\n", encoding="utf-8")


def finish(app, exception):
    """Run the pass over all pages, and write the files that all of them share."""
    if exception or app.builder.format != "html":
        return
    out, static = app.outdir, app.outdir / "_static"
    found = [path for path in out.rglob("*.html") if static not in path.parents]
    pages = {path: path.read_text(encoding="utf-8") for path in found}
    texts = [*pages.values(), *(script.read_text("utf-8") for script in static.glob("*.js"))]
    words = {word for text in texts for word in re.findall(r"fa-[\w-]+", text)}
    (static / "icons.css").write_text("\n".join(icons(words)), encoding="utf-8")
    for sheet in (static / "styles").glob("*.css"):
        sheet.write_text(DRAWN.sub("i", sheet.read_text(encoding="utf-8")), encoding="utf-8")
    for path, html in pages.items():
        if (mended := mend(path, html, out)) != html:
            path.write_text(mended, encoding="utf-8")
    write_sitemap(app)
    for path in (*static.rglob("*.map"), static / COLLECTION):
        path.unlink(missing_ok=True)


def setup(app):
    """Called by Sphinx."""
    app.connect("html-page-context", nest_lists)
    app.connect("build-finished", finish, priority=900)  # after extensions that write into pages
    return {"parallel_read_safe": True, "parallel_write_safe": True}
