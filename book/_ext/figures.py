"""Pictures keep their shades where the text speaks of them; no line begins with a comma.

A browser may end a line on both sides of a formula, and the next one would begin with a
comma: a short formula gets a frame with its punctuation, in which no line ends.
"""

import re

from docutils import nodes

SHADES = re.compile(r"\b(dark|black|white|bright|light|pale|shade|handwritten)", re.IGNORECASE)
WHOLE = "whole"  # class of a formula with its punctuation
LONGEST = 24  # characters of LaTeX that fit on a phone, punctuation included
BEFORE, AFTER = re.compile(r"[(\[\u2018\u201c]*\Z"), re.compile(r"[^\w\s]*")


def keep_shades(app, doctree, docname):
    """Class the pictures whose text says what is dark or light: they stay so in dark mode."""
    for image in doctree.findall(nodes.image):
        if SHADES.search(image.get("alt", "") + image.parent.astext()):
            image["classes"].append("shades")


def keep_whole(app, doctree, docname):
    """Frame every short formula of a page with the brackets and the punctuation at its sides."""
    for formula in list(doctree.findall(nodes.math)):
        row, i = formula.parent, formula.parent.index(formula)
        first, last = max(i - 1, 0), min(i + 1, len(row) - 1)
        first, last = (k if isinstance(row[k], nodes.Text) else i for k in (first, last))
        left, right = row[first] if first < i else "", row[last] if last > i else ""
        start, end = BEFORE.search(left).start(), AFTER.match(right).end()
        if len(formula.astext()) <= LONGEST and (left[start:] or right[:end]):
            whole = [nodes.Text(left[start:]), formula, nodes.Text(right[:end])]
            found = [nodes.Text(left[:start]), nodes.inline("", *whole), nodes.Text(right[end:])]
            found[1]["classes"] = [WHOLE]
            row[first : last + 1] = found


def setup(app):
    """Called by Sphinx."""
    app.connect("doctree-resolved", keep_shades)
    app.connect("doctree-resolved", keep_whole)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
