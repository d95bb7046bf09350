"""What a phone needs: wide pictures scroll, and no line begins with the comma after a formula.

Wide pictures get a class: the style sheet gives them a least width, at which their text has
8 pixels. A browser may end a line on both sides of a formula, and the next one would begin with a
comma: a short formula gets a frame with its punctuation, in which no line ends.
"""

import re
from pathlib import Path

import imagesize
from docutils import nodes

CLASSES = {800: "wide", 640: "medium"}  # of pictures wider than so many pixels
WHOLE = "whole"  # class of a formula with its punctuation
LONGEST = 24  # characters of LaTeX that fit on a phone, punctuation included
BEFORE, AFTER = re.compile(r"[(\[\u2018\u201c]*\Z"), re.compile(r"[^\w\s]*")


def mark(app, doctree, docname):
    """Class every picture of a page by its width."""
    for image in doctree.findall(nodes.image):
        path = Path(app.srcdir, image["uri"])
        width = imagesize.get(path)[0] if path.suffix == ".png" and path.exists() else 0
        image["classes"] += [name for least, name in CLASSES.items() if width > least][:1]


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
    app.connect("doctree-resolved", mark)
    app.connect("doctree-resolved", keep_whole)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
