"""Slides of every chapter "In one page", made by nbconvert (`make slides`, part of `make book`).

A slide begins at a heading, at the bold start of a paragraph, at code and at a block of states.js.
What the page folds, and the solutions, are left out.
"""

import json
import re
from html import unescape

import nbformat
from nbconvert import SlidesExporter
from traitlets.config import Config

from book import plain
from book._ext.formulas import typeset

START = re.compile(r"\n+(?=#|\*\*(?!By )[^*\d]+\*\*)")
FORMULA = re.compile(r"\$\$(.+?)\$\$|\$([^$]+)\$", re.S)
FOLDED = {"hide-input", "remove-input"}
REMOVED = {"enabled": True, "remove_cell_tags": {"parameters"}, "remove_input_tags": FOLDED}


def notebook_of(path):
    """The copy of a page, its text cut, with what the exporter has to know of each cell."""
    page = plain.read(path)
    alts = {cell["id"]: cell["metadata"].get("mystnb", {}).get("image") for cell in page["cells"]}
    copy, cells = plain.copy_of(path, page, solutions=False), []
    for cell in copy["cells"]:
        source, tags = "".join(cell["source"]), {*cell["metadata"].get("tags", [])}
        is_text = cell["cell_type"] == "markdown"
        for text in START.split(source) if is_text else [source]:
            begins = START.match("\n" + text) if is_text else "states" in tags or not FOLDED & tags
            told = {"tags": sorted(tags), "slideshow": {"slide_type": "slide" if begins else "-"}}
            told |= alts.get(cell["id"]) or {}
            cells.append(cell | {"id": f"cell-{len(cells)}", "source": text, "metadata": told})
    return nbformat.reads(json.dumps(copy | {"cells": cells}), as_version=4)


def deck(path):
    """The HTML of a page's slides; formulas and links as on the pages of the book."""
    template = (plain.BOOK / "slides.html.j2").read_text(encoding="utf-8")
    exporter = SlidesExporter(config=Config(TagRemovePreprocessor=REMOVED), raw_template=template)
    exporter.exclude_anchor_links = True
    html, _ = exporter.from_notebook_node(notebook_of(path))
    html = re.sub(r'(href=")([^":]+)\.ipynb', rf"\1../book/{path.parent.name}/\2.html", html)
    return FORMULA.sub(set_formula, html.replace(plain.HOME, "../"))


def set_formula(found):
    """A formula as the pages of the book have it."""
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
