"""What search engines, screen readers and slow connections need of every page.

Tags about the page go into its head while it is written. When all pages are there, one pass over
them mends what the theme leaves to do: names of buttons, icons, style sheets, pictures.
"""

import re
import shutil
import textwrap
import tomllib
from hashlib import sha256
from html import escape
from importlib.resources import files
from pathlib import Path
from urllib.parse import unquote, urljoin

import imagesize
import tinycss2
from docutils import nodes
from sphinx.addnodes import desc_content

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CARD = "_static/card.png"  # what a message shows beside a link to the book
SHEET = "book.css"
NOTICE = """/* Of Bootstrap (MIT), pydata-sphinx-theme, sphinx-book-theme (BSD-3-Clause), and other
sheets beside this one: what the book uses. Icons: Font Awesome Free (CC BY 4.0). */
"""
THEME = ("basic.css", "styles/pydata-sphinx-theme.css")
# Of the theme, and not asked for: its search while one types is off, its icons come from SHEET.
UNUSED = ("searchtools.js", "language_data.js", "searchindex.js", "fontawesome.js")
# What the scripts of Bootstrap put together from pieces.
COMPOSED = re.compile(r"bs-(tooltip|popover)")
FRAME = 13  # pixels that a picture is wider than its file, see mvref.css

TAG = re.compile(r"<(?:button|div|i|img|ol|span|summary|ul)\b[^>]*>")
LINK = re.compile(r"\s*<link\b[^>]*>")
SCRIPT = re.compile(r"\s*<script\b([^>]*\bsrc=[^>]*)></script>")
ADDRESS = re.compile(r'(?:href|src)="([^"]*)"')
BRANCH = re.compile(r"(<a [^>]*>((?:(?!</a>).)*)</a>\s*<details[^>]*>\s*<summary)(?=>)", re.DOTALL)
COLLECTION = "scripts/fontawesome.js"
ALL_ICONS = files("pydata_sphinx_theme") / "theme/pydata_sphinx_theme/static" / COLLECTION
DRAWING = re.compile(r'"?([a-z][a-z-]+)"?:\[(\d+),(\d+),\[[^\]]*\],"\w+","([^"]+)"\]')
DRAWN = re.compile(
    r"(?<=bd-search )svg|(?<=\.btn )svg|(?<=:not\()svg"
)  # icons, in the theme's rules


def first_paragraph(doctree):
    """The first paragraph of the text that says something, or the first that there is."""
    found = [] if doctree is None else list(doctree.findall(nodes.paragraph))
    entry = [paragraph for paragraph in found if isinstance(paragraph.parent, desc_content)]
    found = [paragraph for paragraph in found if isinstance(paragraph.parent, nodes.section)]
    telling = [p for p in found if len(p.astext()) > 60 and not any(p.findall(nodes.math))]
    return " ".join((entry or telling or found)[0].astext().split()) if found else ""


def describe(app, pagename, templatename, context, doctree):
    """Say what the page is about, where it is published and which picture stands for it."""
    title = re.sub("<[^>]*>", "", context.get("title", ""))
    text = first_paragraph(doctree) or f"{PROJECT['description']}. {title}"
    text = textwrap.shorten(text, 160, placeholder=" \N{HORIZONTAL ELLIPSIS}")
    told = {
        'name="description"': text,
        'property="og:title"': title,
        'property="og:description"': text,
        'property="og:type"': "article",
        'property="og:site_name"': app.config.html_title,
        'property="og:url"': context["pageurl"],
        'property="og:image"': urljoin(app.config.html_baseurl, CARD),
        'name="twitter:card"': "summary_large_image",
    }
    tags = (f'<meta {name} content="{escape(value)}">' for name, value in told.items())
    context["metatags"] = context.get("metatags", "") + "\n".join(tags)


def nest_lists(app, pagename, templatename, context, doctree):
    """In the list of sources, a list below an entry belongs into that entry."""
    if pagename == "_modules/index":
        body = re.sub(r"</li>\s*<ul>", "<ul>", context["body"])
        context["body"] = re.sub(r"</ul>(?=\s*(?:<li>|</ul>))", "</ul></li>", body)


def without(tag, attribute):
    """A tag without one of its attributes."""
    return re.sub(rf'\s{attribute}="[^"]*"', "", tag)


def mend_tag(tag, folder):
    """A tag as it should be; folder is that of its page."""
    if re.search("search-button-field|theme-switch-button|Toggle hidden content", tag):
        tag = without(tag, "aria-label")  # which differs from the name that is shown
    if "citation" in tag:
        tag = without(tag, "role")  # a list without items, and roles that may not stand there
    if tag.startswith("<img"):
        tag = mend_picture(tag, folder)
    return tag


def mend_picture(tag, folder):
    """A picture that is loaded when it comes near, and whose place is kept free until then."""
    source = folder / unquote(ADDRESS.search(tag)[1])
    if "loading=" in tag or source.suffix != ".png":
        return tag if "loading=" in tag else tag.replace("<img", '<img loading="lazy"', 1)
    width, height = (pixels + FRAME for pixels in imagesize.get(source))
    return tag.replace("<img", f'<img loading="lazy" width="{width}" height="{height}"', 1)


def mend(path, html, out, sheets, version):
    """A page that has been written, with one style sheet in place of those in sheets."""
    up = "../" * len(path.parent.relative_to(out).parts)
    ours = [f'\n<link rel="stylesheet" href="{up}_static/{SHEET}?v={version}">']
    options = (out / "_static" / "documentation_options.js").read_text(encoding="utf-8").strip()
    unused = UNUSED if path.name != "search.html" else UNUSED[-1:]

    def link(found):
        address = ADDRESS.search(found[0])[1].partition("?")[0]
        if "stylesheet" in found[0] and address.endswith(sheets):
            return ours.pop() if ours else ""
        return "" if 'as="script"' in found[0] else found[0]  # all scripts come without haste

    def script(found):
        name = ADDRESS.search(found[1])[1].partition("?")[0].rpartition("/")[2]
        if name == "documentation_options.js":
            return f"\n<script>{options}</script>"
        waits = found[0] if "defer" in found[1] else found[0].replace("<script", "<script defer")
        return "" if name in unused else waits

    def branch(found):
        return f'{found[1]} aria-label="Pages under {re.sub("<[^>]*>", "", found[2]).strip()}"'

    head, body = html.split("</head>", 1)
    head = SCRIPT.sub(script, LINK.sub(link, head))
    body = TAG.sub(lambda found: mend_tag(found[0], path.parent), BRANCH.sub(branch, body))
    return f"{head}</head>{body}"


def rules_in_use(rules, words):
    """The rules of a style sheet whose classes are among the words of the book."""

    def in_use(selector):
        selector = re.sub(r":(?:not|is|where|has)\((?:[^()]|\([^()]*\))*\)", "", selector)
        return all(
            name in words or COMPOSED.match(name)
            for name in re.findall(r"\.(-?[a-zA-Z_](?:[\w-]|\\.)*)", selector)
        )

    for rule in rules:
        if rule.type == "qualified-rule":
            parts = re.split(r",(?![^(\[]*[)\]])", tinycss2.serialize(rule.prelude))
            if kept := [part for part in parts if in_use(part)]:
                yield f"{','.join(kept)}{{{tinycss2.serialize(rule.content)}}}"
        elif rule.type == "at-rule" and rule.lower_at_keyword in ("media", "supports"):
            inner = tinycss2.parse_rule_list(rule.content, skip_comments=True, skip_whitespace=True)
            if kept := "".join(rules_in_use(inner, words)):
                yield f"@{rule.at_keyword}{tinycss2.serialize(rule.prelude)}{{{kept}}}"
        elif rule.type == "at-rule" and "Font Awesome" not in rule.serialize():
            yield rule.serialize()


def icons(words):
    """Style of the icons that the book uses, as drawings from the theme's collection."""
    yield (
        ':is(.fa-solid,.fas,.fab,.fa-brands)::before{content:"";display:inline-block;height:1em;'
        "vertical-align:-.125em;background:currentcolor;forced-color-adjust:none;"
        "mask:var(--drawing) center/contain no-repeat}"
    )
    drawings = DRAWING.findall(ALL_ICONS.read_text(encoding="utf-8"))
    for name, width, height, path in drawings:
        if f"fa-{name}" in words:
            box = f"xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}'"
            image = f"data:image/svg+xml,%3Csvg {box}%3E%3Cpath d='{path}'/%3E%3C/svg%3E"
            size = int(width) / int(height)
            yield f'.fa-{name}::before{{width:{size:.4g}em;--drawing:url("{image}")}}'


def write_style(static, sheets, pages):
    """One style sheet of what the pages use; its version."""
    scripts = [p for p in static.rglob("*.js") if p.name not in UNUSED]
    texts = [*pages.values(), *(path.read_text(encoding="utf-8") for path in scripts)]
    words = {word for text in texts for word in re.findall(r"[\w-]+", text)}
    css = NOTICE
    for name in sheets:
        text = (static / name).read_text(encoding="utf-8")
        if name.startswith("styles/"):
            text = DRAWN.sub("i", text)
        rules = tinycss2.parse_stylesheet(text, skip_comments=True, skip_whitespace=True)
        css += "".join(rules_in_use(rules, words)) + "\n"
        if name == THEME[-1]:
            css += "".join(icons(words)) + "\n"
    (static / SHEET).write_text(css, encoding="utf-8")
    return sha256(css.encode()).hexdigest()[:8]


def write_sitemap(app):
    """The addresses of all pages of the book."""
    pages = sorted(
        urljoin(app.config.html_baseurl, app.builder.get_target_uri(doc))
        for doc in app.env.found_docs
    )
    rows = "\n".join(f"<url><loc>{page}</loc></url>" for page in pages)
    head = '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
    (app.outdir / "sitemap.xml").write_text(f"{head}\n{rows}\n</urlset>\n", encoding="utf-8")


def finish(app, exception):
    """The pass over all pages, and what belongs to all of them."""
    if exception or app.builder.format != "html":
        return
    out, static = app.outdir, app.outdir / "_static"
    found = [path for path in out.rglob("*.html") if static not in path.parents]
    pages = {path: path.read_text(encoding="utf-8") for path in found}
    sheets = sorted(app.builder._css_files, key=lambda sheet: sheet.priority)
    sheets = [str(sheet.filename).removeprefix("_static/") for sheet in sheets]
    version = write_style(static, [*THEME, *sheets], pages)
    replaced = ("/styles/theme.css", *(f"/{name}" for name in (*THEME, *sheets, SHEET)))
    for path, html in pages.items():
        if (mended := mend(path, html, out, replaced, version)) != html:
            path.write_text(mended, encoding="utf-8")
    write_sitemap(app)
    for path in (*static.rglob("*.map"), static / COLLECTION):
        path.unlink(missing_ok=True)
    shutil.rmtree(static / "vendor", ignore_errors=True)  # the fonts of the icons


def setup(app):
    """Called by Sphinx."""
    app.connect("html-page-context", describe)
    app.connect("html-page-context", nest_lists)
    app.connect("build-finished", finish, priority=900)  # after those who write into pages
    return {"parallel_read_safe": True, "parallel_write_safe": True}
