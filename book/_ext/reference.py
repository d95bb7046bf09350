"""The API reference: what Sphinx's own extensions leave to do.

sphinx-codeautolink links the names of mvref in code cells to their entries in the reference; here
the entries get links back to the chapters.
"""

import re

from docutils import nodes
from docutils.parsers.rst import Directive
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


class UsedIn(nodes.General, nodes.Element):
    """Stands for the chapters whose code uses an object, until all of them have been read."""


class UsedInDirective(Directive):
    """``.. used-in:: mvref.mvl_svm.MVLSVM``: the name says where the object is defined."""

    required_arguments = 1

    def run(self):
        """Leave a mark."""
        return [UsedIn(name=self.arguments[0])]


def ask_for_chapters(app, what, name, obj, options, lines):
    """End the docstring of every class and function with the chapters that use it."""
    if what in ("class", "function"):
        lines += ["", f".. used-in:: {obj.__module__}.{obj.__qualname__}", ""]


def escape_bars(app, what, name, obj, options, lines):
    """|w| is a norm in our docstrings, never a substitution; code is left alone."""

    def escape(found):
        return r"\|" if found[0] == "|" else found[0]

    text = CODE_OR_BAR.sub(escape, "\n".join(lines))
    lines[:] = text.split("\n")


def describe_below(app, what, name, obj, options, lines):
    """A short description stands on its parameter's line; on the page it stands below, as text."""
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
    """In an entry of the reference a word in quotes is a value, and typed like that."""
    for entry in doctree.findall(addnodes.desc_content):
        for text in list(entry.findall(nodes.Text)):
            text.parent.replace(text, nodes.Text(text.translate(STRAIGHT)))


def read_again(app, env, added, changed, removed):
    """Read the reference again when any page changed, for its links to chapters."""
    touched = added | changed | removed
    return [doc for doc in env.found_docs if doc.startswith("book/reference/") and touched]


def list_chapters(app, doctree, docname):
    """Replace the marks by links."""
    marks = list(doctree.findall(UsedIn))
    uses = _uses(app.env) if marks else {}
    for mark in marks:
        chapters = [doc for doc in uses.get(mark["name"], ()) if doc != docname]
        line = nodes.paragraph(classes=["used-in"])
        for i, chapter in enumerate(chapters):
            line += nodes.Text("Used in: " if i == 0 else "; ")
            title = app.env.titles[chapter].astext()
            address = app.builder.get_relative_uri(docname, chapter)
            line += nodes.reference("", title, internal=True, refuri=address)
        mark.replace_self(line if chapters else [])


def put_space_before_link(app, doctree, docname):
    """sphinx-exercise underlines the space of "Solution to Exercise 1" together with the link."""
    for link in doctree.findall(nodes.reference):
        if isinstance(link.parent, nodes.title) and link.astext().startswith(" "):
            text = next(iter(link.findall(nodes.Text)))
            text.parent.replace(text, nodes.Text(text.lstrip()))
            link.parent.insert(link.parent.index(link), nodes.Text(" "))


def _uses(env):
    """Map the full name of an object to the chapters that use it, in the book's order."""
    uses = {}
    for chapter in env.external_site_map:
        for block in getattr(env, "sphinx_codeautolink_transforms", {}).get(chapter, ()):
            for name in block.names:
                uses.setdefault(name.resolved_location, {})[chapter] = None
    return uses


def keep_own_members(app, what, name, obj, skip, options):
    """Leave out what scikit-learn's base classes add to every estimator; its own site has it."""
    inherited = (getattr(obj, "__module__", None) or "").startswith("sklearn")
    return True if inherited else None


def leave_section(self, node):
    """Exercises are sections without a title, which the analyser does not expect."""
    if self.title_stack:
        self.title_stack.pop()


def setup(app):
    """Called by Sphinx."""
    app.setup_extension("sphinx_codeautolink")
    CodeBlockAnalyser.depart_section = leave_section
    app.add_node(UsedIn)
    app.add_directive("used-in", UsedInDirective)
    app.connect("autodoc-skip-member", keep_own_members)
    app.connect("autodoc-process-docstring", describe_below, priority=90)  # before numpydoc
    app.connect("autodoc-process-docstring", escape_bars, priority=100)
    app.connect("autodoc-process-docstring", ask_for_chapters, priority=900)
    app.connect("doctree-read", straighten_quotes)
    app.connect("env-get-outdated", read_again)
    app.connect("doctree-resolved", list_chapters)
    app.connect("doctree-resolved", put_space_before_link)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
