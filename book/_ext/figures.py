"""Wide pictures get a class, so that a phone does not shrink what is written in them.

The style sheet gives them a least width, at which their text has 8 pixels, and they scroll.
"""

from pathlib import Path

import imagesize
from docutils import nodes

CLASSES = {800: "wide", 640: "medium"}  # of pictures wider than so many pixels


def mark(app, doctree, docname):
    """Class every picture of a page by its width."""
    for image in doctree.findall(nodes.image):
        path = Path(app.srcdir, image["uri"])
        width = imagesize.get(path)[0] if path.suffix == ".png" and path.exists() else 0
        image["classes"] += [name for least, name in CLASSES.items() if width > least][:1]


def setup(app):
    """Called by Sphinx."""
    app.connect("doctree-resolved", mark)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
