"""Slides of every chapter "In one page", made by nbconvert (`make slides`, part of `make book`).

slides.toml has the headlines, and the parts of the page below each headline. Solutions, and code
that the page folds, are left out.
"""

import json
import re
import tomllib
from html import unescape

import nbformat
from nbconvert import SlidesExporter
from traitlets.config import Config

from book import plain
from book._ext.formulas import typeset

START = re.compile(r"\n+(?=#|\*\*(?!By |Solution)[^*\d]+\*\*)")
NAME = re.compile(r"(?:#+ (.*)|\*\*([^*]+)\*\*)\n*")
DECKS = tomllib.loads((plain.BOOK / "slides.toml").read_text(encoding="utf-8"))
FORMULA = re.compile(r"\$\$(.+?)\$\$|\$([^$]+)\$", re.S)
FOLDED = {"hide-input", "remove-input"}
METHOD = {"from-scratch", "search"}  # tags of code that a slide shows
REMOVED = {"enabled": True, "remove_cell_tags": {"parameters"}, "remove_input_tags": FOLDED}


def parts_of(path):
    """Return the parts of a page: name -> its texts, code of the method, and cells with outputs."""
    page, parts = plain.read(path), {}
    alts = {cell["id"]: cell["metadata"].get("mystnb", {}).get("image") for cell in page["cells"]}
    for cell in plain.copy_of(path, page, solutions=False)["cells"]:
        source, tags = "".join(cell["source"]), {*cell["metadata"].get("tags", [])}
        if cell["cell_type"] == "markdown":
            for text in START.split(source):
                named = NAME.match(text)
                if named:
                    part = parts.setdefault(named[1] or named[2], [])
                    text = text[named.end() :] if named[1] else text
                part.append({"cell_type": "markdown", "metadata": {}, "source": text})
        elif tags & METHOD or cell["outputs"]:
            tags |= set() if tags & METHOD else {"remove-input"}
            told = {"tags": sorted(tags)} | (alts.get(cell["id"]) or {})
            part.append(cell | {"source": source, "metadata": told})
    return parts


def notebook_of(path):
    """Return the slides of a page, each with a headline, its text, and then code and figures."""
    parts, cells = parts_of(path), []
    for slide in DECKS[path.parent.name]:
        found = [cell for name in slide["parts"] for cell in parts[name]]
        texts = [cell["source"] for cell in found if cell["cell_type"] == "markdown"]
        texts = [text for text in texts if "This page as" not in text]
        shown = [cell for cell in found if cell["cell_type"] == "code"]
        head = {"cell_type": "markdown", "source": f"{'##' if cells else '#'} {slide['headline']}"}
        if shown:
            texts = ["\n\n".join(texts)]
        texts = [{"cell_type": "markdown", "metadata": {}, "source": text} for text in texts]
        cells += [head | {"metadata": {"slideshow": {"slide_type": "slide"}}}, *texts, *shown]
    cells = [cell | {"id": f"cell-{number}"} for number, cell in enumerate(cells)]
    metadata = plain.read(path)["metadata"]
    told = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return nbformat.reads(json.dumps(told), as_version=4)


def deck(path):
    """Return the HTML of a page's slides; formulas and links as on the pages of the book."""
    template = (plain.BOOK / "slides.html.j2").read_text(encoding="utf-8")
    exporter = SlidesExporter(config=Config(TagRemovePreprocessor=REMOVED), raw_template=template)
    exporter.exclude_anchor_links = True
    html, _ = exporter.from_notebook_node(notebook_of(path))
    html = re.sub(r'(href=")([^":]+)\.ipynb', rf"\1../book/{path.parent.name}/\2.html", html)
    return FORMULA.sub(set_formula, html.replace(plain.HOME, "../"))


def set_formula(found):
    """Return a formula as typeset on the pages of the book."""
    tex, is_displayed = unescape(found[1] or found[2]), bool(found[1])
    return f'<span class="math">{typeset(tex, is_displayed)}</span>'


def write(folder):
    """Write the slides of all methods."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in plain.chapters():
        if path.stem == "one_page":
            (folder / f"{path.parent.name}.html").write_text(deck(path), encoding="utf-8")


if __name__ == "__main__":
    write(plain.ROOT / "_build" / "html" / "slides")
