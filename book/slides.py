"""Slides of every chapter "In one page", for a lecture (`make slides`, and part of `make book`).

python -m book.slides   writes _build/html/slides/<method>.html

A slide has a heading or the bold start of a paragraph as its title, and code has a slide of its own
with the sentence before it. Formulas, lists, tables, figures and code that the page unfolds are
shown whole. Of a paragraph the first sentences are shown, and all of it is in the speaker's notes
(key S). Solutions are left out.
"""

import re
from dataclasses import dataclass, field
from html import escape, unescape

import nbformat.v4 as v4
from nbconvert import SlidesExporter

from book import plain
from book._ext.formulas import typeset
from book.exercises import copy_of, without_solutions

TARGET = plain.ROOT / "_build" / "html" / "slides"
PIECE = re.compile(r"<blockquote>.*?</blockquote>|\$\$.*?\$\$|\S(?:(?!\n\n).)*", re.S)
END = re.compile(r"(?<!Fig)[.?!](?=\s)|\Z")  # of a sentence
LEAD = re.compile(r"\*\*([^*\d]+?)([.,]?)\*\* *")
FORMULA = re.compile(r"\$\$(.+?)\$\$|\$([^$]+)\$", re.S)
MOST_WORDS = 50  # of a paragraph
MOST_LINES = 14  # of code and what it prints


@dataclass
class Slide:
    """A title, and pieces of Markdown: (kind, what is shown, what is said)."""

    title: str
    pieces: list = field(default_factory=list)

    def is_full(self, kind, text):
        """Whether code, or what it prints, needs another slide."""
        before = {"code": {"formula", "code"}, "output": {"code"}}.get(kind, set())
        found = [shown for other, shown, _ in self.pieces if other in before]
        lines = "\n".join([*found, text]).splitlines()
        return bool(found) and (kind == "code" or len(lines) > MOST_LINES)

    def cells(self):
        """The slide and its notes, as the exporter wants them."""
        shown = "\n\n".join([self.title, *(piece[1] for piece in self.pieces)])
        notes = "\n\n".join(said for kind, _, said in self.pieces if kind == "prose")
        for kind, text in (("slide", shown), ("notes", notes)):
            if text:
                yield v4.new_markdown_cell(text, metadata={"slideshow": {"slide_type": kind}})


def beginning(text):
    """The first sentence of a paragraph, and those behind it that a slide has room for."""
    first, *later = (match.end() for match in END.finditer(text))
    fits = [end for end in later if len(text[:end].split()) <= MOST_WORDS]
    return text[: max(fits, default=first)]


def pieces_of(cell, alt):
    """(kind, text) of what a cell shows; alt: the text of its picture."""
    if cell["cell_type"] == "markdown":
        for text in PIECE.findall("".join(cell["source"])):
            start = re.match(r"#|\$\$|[-|>]|<blockquote>|", text)[0]
            yield {"": "prose", "#": "heading", "$$": "formula"}.get(start, "block"), text
        return
    tags, source = cell["metadata"].get("tags", []), "".join(cell["source"])
    if not {"hide-input", "remove-input", "parameters"} & {*tags}:
        yield "code", f"```python\n{source}\n```"
    for output in cell["outputs"]:
        data, text = output.get("data", {}), "".join(output.get("text", ""))
        if "image/png" in data:
            picture = "".join(data["image/png"]).replace("\n", "")
            source = f"data:image/png;base64,{picture}"
            yield "picture", f'<img alt="{escape(alt)}" loading="lazy" src="{source}">'
        elif "text/markdown" in data:
            yield "block", "".join(data["text/markdown"])
        else:
            yield "output", f"```text\n{text.rstrip()}\n```"


def add(slides, kind, text):
    """Put a piece on the last slide, or on a new one."""
    lead, said = LEAD.match(text) if kind == "prose" else None, text
    if kind == "heading":
        slides.append(Slide(text))
        return
    if lead:
        slides.append(Slide(f"## {lead[1]}"))
        text = text[lead.end() :] if lead[2] == "." else text
    last = slides[-1]
    if last.is_full(kind, text):
        before = [last.pieces.pop()] if last.pieces[-1][0] == "prose" else []
        slides.append(Slide(last.title, before))
    shown = beginning(text) if kind == "prose" else text
    place = 0 if kind == "picture" else len(slides[-1].pieces)
    slides[-1].pieces.insert(place, (kind, shown, said))


def slides_of(path):
    """The slides of a page."""
    slides, cells = [], plain.read(path)["cells"]
    told = {cell["id"]: cell["metadata"].get("mystnb", {}).get("image", {}) for cell in cells}
    for cell in copy_of(path, without_solutions(cells))["cells"]:
        if cell["id"] in told:  # not a caption
            for kind, text in pieces_of(cell, told[cell["id"]].get("alt")):
                if "/slides/" not in text:
                    add(slides, kind, text)
    return slides


def deck(path):
    """The HTML of a page's slides."""
    slides = slides_of(path)
    cells = [cell for slide in slides for cell in slide.cells()]
    for number, cell in enumerate(cells, start=1):
        cell["id"] = f"cell-{number}"  # not a random one: the same page gives the same file
    notebook = v4.new_notebook(cells=cells, metadata={"language_info": {"name": "python"}})
    exporter = SlidesExporter(
        raw_template=(plain.BOOK / "slides.html.j2").read_text(encoding="utf-8"),
        exclude_anchor_links=True,
        exclude_input_prompt=True,
    )
    title = slides[0].title.lstrip("# ")
    html, _ = exporter.from_notebook_node(notebook, {"metadata": {"name": title}})
    html = html.replace(plain.HOME, "../")
    return FORMULA.sub(set_formula, html)


def set_formula(found):
    """A formula as the pages of the book have it."""
    display, inline = found.groups()
    tex = unescape(display or inline)
    return f'<span class="math">{typeset(tex, bool(display))}</span>'


def write(folder):
    """Write the slides of all methods; return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    pages = [path for path in plain.chapters() if path.stem == "one_page"]
    paths = {path: folder / f"{path.parent.name}.html" for path in pages}
    for path, target in paths.items():
        target.write_text(deck(path), encoding="utf-8")
    return list(paths.values())


if __name__ == "__main__":
    print(f"slides of {len(write(TARGET))} methods are in {TARGET}")
