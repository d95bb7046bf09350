"""Additions to the pages of the API reference, which sphinx.ext.autosummary writes.

An overview, `book/reference/<group>.md`, lists names; the page of each name is written into the
folder `book/reference/<group>`, which git ignores. sphinx-codeautolink links code and pages.
"""

import inspect
import textwrap
import tomllib
from pathlib import Path

from docutils import nodes
from source import file_of
from sphinx import addnodes
from sphinx.ext.autosummary import autosummary_toc
from sphinx.transforms import SphinxTransform
from sphinx_codeautolink.extension.backref import DetailsNode

FOLDER = "book/reference/"
# Where scikit-learn describes a name: a rule, since an inventory would have to be fetched.
OUTSIDE = "https://scikit-learn.org/stable/modules/generated/{}.html"
ASKED = Path(__file__).parents[1] / "asked.toml"
# The theme needs a template with a file_name in it.
EDIT = "{{ github_url }}/{{ github_user }}/{{ github_repo }}/edit/main/{# not file_name #}"


class OneTree(SphinxTransform):
    """Remove the tree that autosummary adds, since _toc.yml already lists the pages of entries."""

    default_priority = 50  # before sphinx-external-toc looks for trees

    def apply(self):
        for tree in list(self.document.findall(autosummary_toc)):
            tree.parent.remove(tree)


class Asked(SphinxTransform):
    """Add the words of asked.toml to the index, whose entries the search shows first."""

    default_priority = 600  # before Sphinx gathers the index

    def apply(self):
        self.env.note_dependency(str(ASKED))
        words = tomllib.loads(ASKED.read_text(encoding="utf-8")).get(self.env.docname, [])
        entries = [("single", word, "", "main", None) for word in words]
        self.document.append(addnodes.index(entries=entries))


def tell_more(app, what, name, obj, options, lines):
    """End the docstring of every class and function with links to the chapters that use it.

    The page with the code of a module links back to its definitions under the package path that
    it read first, so the entry has an anchor for each of these paths.
    """
    if not app.env.docname.endswith(f"/{name}"):  # member, or table of an overview
        return
    first = textwrap.shorten(inspect.getdoc(obj).split("\n\n")[0].replace("`", ""), 160)
    lines += ["", ".. meta::", f"   :description: {first}"]
    app.env.metadata[app.env.docname]["og:description"] = first
    place, short = obj.__module__, obj.__qualname__
    packages = place.split(".")
    doors = [".".join(packages[:depth]) for depth in range(1, len(packages) + 1)]
    spans = [f'<span id="{door}.{short}"></span>' for door in doors if f"{door}.{short}" != name]
    lines += ["", ".. raw:: html", "", f"   {''.join(spans)}"] if spans else []
    code = f"book/{[*packages, ''][1]}/annotated"
    if code in app.env.found_docs:
        lines += ["", f"The code, explained: :doc:`/{code}`."]
    known = f"{place}.{short}" if what != "function" else name  # by sphinx-codeautolink
    lines += ["", f".. autolink-examples:: {known}", "   :collapse:", ""]


def name_uses(app, doctree, docname):
    """Title the list of sections that use a name "Used in", without the page of the name."""
    for uses in list(doctree.findall(DetailsNode)):
        uses[0][:] = [nodes.Text("Used in")]
        rows = list(uses.findall(nodes.row))
        own = [row for row in rows if next(row.findall(nodes.reference))["refuri"].startswith("#")]
        for row in own:
            row.parent.remove(row)
        if own == rows:
            uses.parent.remove(uses)


def edit_docstring(app, pagename, templatename, context, doctree):
    """Link the edit button of an entry's page to its docstring, since the page is generated."""
    name = pagename.rpartition("/")[2]
    if pagename.startswith(FOLDER) and name.startswith("mvref."):
        context["edit_page_provider_name"] = "GitHub"
        context["edit_page_url_template"] = EDIT + file_of(name)


def link_outside(app, env, node, content):
    """Link a name of scikit-learn to its documentation."""
    name = node["reftarget"]
    if name.startswith("sklearn."):
        return nodes.reference("", "", content, refuri=OUTSIDE.format(name), internal=False)


def setup(app):
    """Called by Sphinx."""
    app.setup_extension("sphinx.ext.autosummary")
    app.add_transform(OneTree)
    app.add_transform(Asked)
    app.connect("autodoc-process-docstring", tell_more, priority=900)
    app.connect("doctree-resolved", name_uses, priority=600)
    app.connect("missing-reference", link_outside)
    app.connect("html-page-context", edit_docstring)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
