"""Typeset formulas when the book is built, by KaTeX in an engine that comes as a Python package.

A page then needs no script for formulas, only the style sheet and the fonts of KaTeX. Each formula
also contains its MathML for screen readers. A browser may break a line on both sides of a formula,
and the next line could begin with a comma: a short formula gets a frame together with its
punctuation, in which no line breaks.
"""

import atexit
import re
from functools import cache
from html import escape
from pathlib import Path

from docutils import nodes
from py_mini_racer import JSEvalException, MiniRacer
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

KATEX = Path(__file__).parent / "katex" / "katex.min.js"
# Where a formula may be cut, but not between braces, in environments and brackets.
JOINT = re.compile(r"(\\(?:qquad|begin|end)|\\\\(?:\[\w+\])?|\\(?:left|right)(?![a-z])|\\?[{}])")
LINES = re.compile(r"\s*\\begin{gathered}(.*)\\end{gathered}\s*", re.DOTALL)
WHOLE = "whole"  # class of a formula with its punctuation
LONGEST = 24  # characters of LaTeX that fit on a phone, punctuation included
BEFORE, AFTER = re.compile(r"[(\[\u2018\u201c]*\Z"), re.compile(r"[^\w\s]*")
FONTS = ("Main-Regular", "Math-Italic")  # that almost every formula needs
logger = logging.getLogger(__name__)


@cache
def engine():
    """Return KaTeX, ready to be called."""
    context = MiniRacer()
    atexit.register(context.close)  # at interpreter shutdown it may hang
    context.eval(KATEX.read_text(encoding="utf-8"))
    return context


@cache
def typeset(tex, display):
    """Return the HTML of a formula, inline or displayed."""
    options = {"displayMode": display, "strict": "error", "throwOnError": True}
    return engine().call("katex.renderToString", tex, options)


def html_of(node, tex, display):
    """Return the HTML of a formula; if KaTeX cannot parse it, warn and return its source."""
    try:
        return typeset(tex, display)
    except JSEvalException as error:
        logger.warning("formula: %s", str(error).splitlines()[0], location=node)
        return f"<code>{escape(tex)}</code>"


def parts_of(tex, end=r"\qquad"):
    """Cut a formula at each `end` outside of all groups, into lines for narrow screens."""
    parts, depth = [""], 0
    for piece in JOINT.split(tex):
        depth += (piece in ("{", r"\begin", r"\left")) - (piece in ("}", r"\end", r"\right"))
        if piece.startswith(end) and not depth:
            parts.append("")
        else:
            parts[-1] += piece
    return parts


def visit_math(self, node):
    """Write an inline formula."""
    self.body.append(self.starttag(node, "span", "", CLASS="math notranslate nohighlight"))
    self.body.append(html_of(node, node.astext(), False) + "</span>")
    raise nodes.SkipNode


def visit_displaymath(self, node):
    """Write a displayed formula with its number."""
    self.body.append(self.starttag(node, "div", CLASS="math notranslate nohighlight"))
    if node["number"]:
        self.body.append(f'<span class="eqno">({get_node_equation_number(self, node)})')
        self.add_permalink_ref(node, "Link to this equation")
        self.body.append("</span>")
    tex = node.astext()
    lines = LINES.fullmatch(tex)
    if r"\\" in tex and not lines and not node["nowrap"]:
        tex = rf"\begin{{split}}{tex}\end{{split}}"
    self.body.append('<div class="lines">')
    for line in parts_of(lines[1], r"\\") if lines else [tex]:
        parts = (html_of(node, part, True) for part in parts_of(line))
        self.body += ['<div class="parts">', *parts, "</div>"]
    self.body.append("</div></div>\n")
    raise nodes.SkipNode


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


def style_formulas(app, pagename, templatename, context, doctree):
    """Add the style sheet to pages with formulas, and preload the fonts."""
    if 'class="katex"' not in context.get("body", "") + context.get("title", ""):
        return
    app.add_css_file("katex/katex.min.css")
    font = context["pathto"]("_static/katex/fonts/KaTeX_{}.woff2", resource=True)
    preload = '<link rel="preload" as="font" type="font/woff2" href="{}" crossorigin>'
    links = "".join(preload.format(font.format(name)) for name in FONTS)
    context["metatags"] = context.get("metatags", "") + links


def setup(app):
    """Called by Sphinx."""
    app.add_html_math_renderer("katex", (visit_math, None), (visit_displaymath, None))
    app.connect("doctree-resolved", keep_whole)
    app.connect("html-page-context", style_formulas)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
