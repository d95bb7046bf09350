"""Pages in two columns, prose and code; the map of a paper's equations; links to its errata.

Code is taken from the package when the book is built, without docstrings, and never pasted.
"""

import ast
import inspect
import re
import textwrap
import tomllib
from pathlib import Path
from pkgutil import resolve_name

from docutils import nodes
from docutils.statemachine import StringList
from sphinx import addnodes
from sphinx.util.docutils import SphinxDirective

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
REPOSITORY = PROJECT["urls"]["Repository"]
NUMBER = re.compile(r"\b([ABPMN][1-9]\d?)\b")  # of an erratum or a remark
APART = (nodes.reference, nodes.literal, nodes.title, nodes.math, nodes.raw, nodes.FixedTextElement)


def source_of(name, start="", end=""):
    """Return the source of a function or class without its docstrings.

    start, end: texts in the first and in the last line to show, by default all lines.
    """
    lines = textwrap.dedent(inspect.getsource(resolve_name(name))).splitlines()
    for node in ast.walk(ast.parse("\n".join(lines))):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node):
            told = node.body[0]
            lines[told.lineno - 1 : told.end_lineno] = [None] * (told.end_lineno - told.lineno + 1)
    lines = [line for line in lines if line is not None]
    first = next(i for i, line in enumerate(lines) if start in line)
    last = next((i for i in range(first, len(lines)) if end and end in lines[i]), len(lines) - 1)
    return textwrap.dedent("\n".join(lines[first : last + 1])).strip("\n")


def file_of(name):
    """Return the file of a function or class, relative to the root of the repository."""
    function = inspect.unwrap(resolve_name(name))  # not its decorator's file
    return Path(inspect.getfile(function)).resolve().relative_to(ROOT).as_posix()


def anchor_of(name):
    """Return the anchor of a function on the page that shows it."""
    words = [word.strip("_").replace("_", "-") for word in name.split(".")[-2:]]
    return "-".join(["source", *words]).lower()


class Annotated(SphinxDirective):
    """``{annotated} mvref.mvl_svm.impute``: prose in its body, with the function beside it."""

    required_arguments = 1
    option_spec = {"start": str, "end": str}  # see `source_of`
    has_content = True

    def run(self):
        """Return two columns, which are stacked on a narrow screen."""
        [name] = self.arguments
        self.env.note_dependency(str(ROOT / file_of(name)))
        row, prose, code = (
            nodes.container(classes=[word]) for word in ("annotated", "prose", "code")
        )
        anchor = anchor_of(name)
        row["ids"].append(anchor)
        self.env.get_domain("std").note_hyperlink_target(anchor, self.env.docname, anchor)
        self.state.nested_parse(self.content, self.content_offset, prose)
        text = source_of(name, **self.options)
        module, _, shown = name.removeprefix("mvref.").rpartition(".")
        url = f"{REPOSITORY}/blob/main/{file_of(name)}"
        title = nodes.paragraph(classes=["where"])
        title += [nodes.reference("", shown, refuri=url), nodes.Text(f" in {module}")]
        code += [title, nodes.literal_block(text, text, language="python")]
        row += [prose, code]
        return [row]


class EquationMap(SphinxDirective):
    """``{equation-map}``: all equations of a paper with code and tests, from equations.toml."""

    def run(self):
        """Return a table with links to functions shown on the page, and to the files of others."""
        path = Path(self.env.doc2path(self.env.docname)).with_name("equations.toml")
        self.env.note_dependency(str(path))
        page = Path(self.env.doc2path(self.env.docname)).read_text(encoding="utf-8")
        lines = ["| | What it says | Code | Test |", "|---|---|---|---|"]
        for row in tomllib.loads(path.read_text(encoding="utf-8"))["equation"]:
            code = ", ".join(self.link(name, page) for name in row.get("code", []))
            tests = (test.partition("::") for test in row.get("test", []))
            tests = ", ".join(f"[{name}]({REPOSITORY}/blob/main/{file})" for file, _, name in tests)
            cells = (f"({row['number']})", row["says"], code or row["why"], tests)
            lines.append("| " + " | ".join(cells) + " |")
        found = nodes.container(classes=["equation-map"])
        self.state.nested_parse(StringList(lines), 0, found)
        return [found]

    def link(self, name, page):
        """Return a link to a function."""
        shown = f"`{name.removesuffix('.__init__').rpartition('.')[2]}`"
        for piece in (name, name.rpartition(".")[0]):  # a method may be shown with its class
            if f"{{annotated}} {piece}\n" in page:
                return f"[{shown}](#{anchor_of(piece)})"
        return f"[{shown}]({REPOSITORY}/blob/main/{file_of(name)})"


def link_errata(app, doctree):
    """Link every number of an erratum or a remark to its entry."""
    for text in list(doctree.findall(nodes.Text)):
        pieces, over = NUMBER.split(text), text.parent
        while over and not isinstance(over, (*APART, addnodes.pending_xref)):
            over = over.parent
        if over is None and len(pieces) > 1:
            how = dict(refdomain="std", reftype="ref", refexplicit=True, refdoc=app.env.docname)
            for i, piece in enumerate(pieces):
                how["reftarget"] = f"erratum-{piece.lower()}"
                inside = nodes.inline("", piece)
                pieces[i] = addnodes.pending_xref("", inside, **how) if i % 2 else nodes.Text(piece)
            text.parent.replace(text, pieces)


def setup(app):
    """Called by Sphinx."""
    app.add_directive("annotated", Annotated)
    app.add_directive("equation-map", EquationMap)
    app.connect("doctree-read", link_errata)
    return {"parallel_read_safe": True}
