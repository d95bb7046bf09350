"""Docstrings in the API reference: changes beyond Sphinx's own extensions."""

import re

from docutils import nodes
from sphinx import addnodes
from sphinx_codeautolink.extension.block import CodeBlockAnalyser

CODE_OR_BAR = re.compile(r"^ *(?:>>>|\.\.\.)[^\n]*|``.*?``|`[^`]*`|\|", re.MULTILINE | re.DOTALL)
SECTIONS = ("Parameters", "Attributes", "Returns", "Yields")
ENTRY = re.compile(r"(?P<names>\S.*?) : (?P<text>.*)")
# Up to a comma or a semicolon outside of brackets and quotes.
PARTS = re.compile(
    r"""(?: [^,;({\["`] | \([^)]*\) | \{[^}]*\} | \[[^]]*[])] | "[^"]*" | `[^`]*` )+ [,;]? | .""",
    re.VERBOSE,
)
TYPE = re.compile(
    r"""(or\ |and\ )?(of\ )?(an?\ |[A-Z]\ )?(
    "|\{|\(|\d|-|None|True|False|default|optional|shape|instance|array|list|int\b|float|bool|str\b|
    dict|sequence|mapping|callable|number|data\ frame|CSR|RandomState|Generator|MultiView|path|
    tuple|one\ per\ view|scikit-learn|classifier|transformer|object)""",
    re.VERBOSE,
)
STRAIGHT = str.maketrans("\u201c\u201d\u2018\u2019", "\"\"''")


def escape_bars(app, what, name, obj, options, lines):
    """Escape bars outside code: |w| is a norm in our docstrings, never a substitution."""

    def escape(found):
        return r"\|" if found[0] == "|" else found[0]

    text = CODE_OR_BAR.sub(escape, "\n".join(lines))
    lines[:] = text.split("\n")


def describe_below(app, what, name, obj, options, lines):
    """Move a short description from its parameter's line to the text below it."""
    section, told = "", []
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if following.startswith("---"):
            section = line
        entry = ENTRY.match(line) if section in SECTIONS else None
        kind, text = split_description(entry["text"]) if entry else ("", "")
        told += [f"{entry['names']} : {kind}", f"    {text}"] if text else [line]
    lines[:] = told


def split_description(text):
    """Split "float, default=1.0; the weight" into type and description.

    The description begins at a semicolon, or at the first part between commas that is no type.
    """
    parts = PARTS.findall(text)
    for i, part in enumerate(parts):
        if i and (parts[i - 1].endswith(";") or not TYPE.match(part.strip())):
            return "".join(parts[:i]).rstrip(" ,;"), "".join(parts[i:]).strip()
    return text, ""


def straighten_quotes(app, doctree):
    """Typeset words in quotes as values in entries of the reference."""
    for entry in doctree.findall(addnodes.desc_content):
        for text in list(entry.findall(nodes.Text)):
            text.parent.replace(text, nodes.Text(text.translate(STRAIGHT)))


def keep_own_members(app, what, name, obj, skip, options):
    """Skip members that scikit-learn's base classes add to every estimator; see its own site."""
    inherited = (getattr(obj, "__module__", None) or "").startswith("sklearn")
    return True if inherited else None


def enter_section(self, node):
    """Handle exercises, sections without a title, which sphinx-codeautolink does not expect."""
    if isinstance(node.next_node(), nodes.title):
        self.current_refid = node["ids"][0]


def leave_section(self, node):
    if isinstance(node.next_node(), nodes.title):
        self.title_stack.pop()


def setup(app):
    """Called by Sphinx."""
    app.setup_extension("sphinx_codeautolink")
    CodeBlockAnalyser.visit_section = enter_section
    CodeBlockAnalyser.depart_section = leave_section
    app.connect("autodoc-skip-member", keep_own_members)
    app.connect("autodoc-process-docstring", describe_below, priority=90)  # before numpydoc
    app.connect("autodoc-process-docstring", escape_bars, priority=100)
    app.connect("doctree-read", straighten_quotes)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
