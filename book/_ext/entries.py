"""One page for every entry of the API reference: written before a build, linked with the chapters.

An overview, `book/reference/<group>.md`, lists names; the page of each of them is written into the
folder `book/reference/<group>`, which git ignores. sphinx-codeautolink links the names in code
cells to these pages; here they get links back to the chapters, and pictures that were drawn there.
"""

import inspect
import re
from pathlib import Path
from pkgutil import resolve_name

from docutils import nodes
from docutils.parsers.rst import Directive

FOLDER = "book/reference/"
LISTED = re.compile(r"^   ~(mvref\.\S+)$", re.MULTILINE)
# Where scikit-learn describes a name: a rule, since an inventory would have to be fetched.
OUTSIDE = "https://scikit-learn.org/stable/modules/generated/{}.html"
# The theme asks for a template with a file_name in it.
EDIT = "{{ github_url }}/{{ github_user }}/{{ github_repo }}/edit/main/{# not file_name #}"
MOST_PICTURES = 3  # on a page, each of another chapter
FARTHEST = 2  # code cells from a name to a picture
PAGE = """\
{short}
{line}

In :doc:`/{overview}`.

.. code-block:: python

   from {module} import {short}
{anchors}
.. auto{kind}:: {name}
{options}"""


def entries_of(overview):
    """The full names that an overview lists, in its order."""
    return LISTED.findall(overview.read_text(encoding="utf-8"))


def kind_of(value):
    """What autodoc calls an object."""
    if not inspect.isclass(value):
        return "function"
    return "exception" if issubclass(value, BaseException) else "class"


def write_pages(app, config):
    """Write the pages that are new or other than before, and delete those of no entry."""
    listed = {path: entries_of(path) for path in Path(app.srcdir, FOLDER).glob("*.md")}
    doors = {}  # module that defines something -> modules that show it
    for name in (name for names in listed.values() for name in names):
        doors.setdefault(resolve_name(name).__module__, set()).add(name.rpartition(".")[0])
    for overview, names in listed.items():
        folder = overview.with_suffix("")
        pages = {folder / f"{name}.rst": page_of(name, folder.name, doors) for name in names}
        for path in set(folder.glob("*.rst")) - set(pages):
            path.unlink()
        for path, text in pages.items():
            if not path.exists() or path.read_text(encoding="utf-8") != text:
                folder.mkdir(exist_ok=True)
                path.write_text(text, encoding="utf-8")


def page_of(name, group, doors):
    """The source of a page.

    The page with the code of a module links back to all that it defines under the door of which
    it read first, so that an entry has an anchor for each of them.
    """
    module, _, short = name.rpartition(".")
    value = resolve_name(name)
    others = sorted(doors[value.__module__] - {module})
    spans = (f'\n.. raw:: html\n\n   <span id="{other}.{short}"></span>\n' for other in others)
    kind = kind_of(value)
    return PAGE.format(
        short=short,
        line="=" * len(short),
        overview=FOLDER + group,
        module=module,
        anchors="".join(spans),
        kind=kind,
        name=name,
        options="   :members:\n   :inherited-members:\n" if kind == "class" else "",
    )


class InTheBook(nodes.General, nodes.Element):
    """Stands for what the chapters have of an object, until all of them have been read."""


class InTheBookDirective(Directive):
    """``.. in-the-book:: mvref.MVLSVM``: what the chapters have of this entry."""

    required_arguments = 1

    def run(self):
        """Leave a mark."""
        return [InTheBook(name=self.arguments[0])]


def ask_for_chapters(app, what, name, obj, options, lines):
    """End the docstring of every class and function with what the chapters have of it."""
    if what in ("class", "function"):
        lines += ["", f".. in-the-book:: {name}", ""]


def code_cells(doctree):
    """The code cells of a chapter, in its order."""
    cells = doctree.findall(nodes.container)
    return [cell for cell in cells if cell.get("nb_element") == "cell_code"]


def give_anchors(app, doctree):
    """A cell that draws gets an anchor, for the pictures of the reference."""
    for number, cell in enumerate(code_cells(doctree)):
        if next(cell.findall(nodes.image), None):
            cell["ids"].append(f"picture-{number}")


def uses_in(chapter, doctree, blocks, entry_of):
    """Entry -> (chapter, cells between, anchor, picture's file and text) of what a chapter uses.

    The picture is the nearest one that the cell of the name draws, or one of the next cells.
    blocks: what sphinx-codeautolink found in the code; entry_of: place of a definition -> entry.
    """
    found, named = {}, {}
    for block in blocks:
        for name in block.names:
            entry = entry_of[name.resolved_location]
            found[entry] = (chapter, FARTHEST + 1)
            if "import" not in (name.context or ""):
                named.setdefault(block.source, set()).add(entry)
    cells = code_cells(doctree)
    pictures = [next(cell.findall(nodes.image), None) for cell in cells]
    for i, cell in enumerate(cells):
        code = next(cell.findall(nodes.literal_block), nodes.Text("")).astext()
        j = next((j for j in range(i, len(cells)) if pictures[j]), len(cells))
        for entry in named.get(code, ()) if j - i <= FARTHEST and j < len(cells) else ():
            use = (chapter, j - i, cells[j]["ids"][0], pictures[j]["uri"], pictures[j].get("alt"))
            found[entry] = min(found[entry], use, key=lambda use: use[1])
    return found


def gather(app, env):
    """Collect the uses of every entry; return the pages of those whose uses are other now.

    sphinx-codeautolink knows only chapters that this build has read; of others the uses are kept.
    """
    read = getattr(env, "sphinx_codeautolink_transforms", {})
    known = env.domains["py"].objects
    entry_of = {place: found.node_id for place, found in known.items()}
    kept, before = getattr(env, "mvref_chapters", {}), getattr(env, "mvref_uses", {})
    env.mvref_chapters, env.mvref_uses = {}, {}
    for chapter in env.external_site_map:
        uses = kept.get(chapter, {})
        if chapter in read:
            uses = uses_in(chapter, env.get_doctree(chapter), read[chapter], entry_of)
        env.mvref_chapters[chapter] = uses
        for name, use in uses.items():
            env.mvref_uses.setdefault(name, []).append(use)
    names = {*before, *env.mvref_uses} & set(known)
    return {known[name].docname for name in names if before.get(name) != env.mvref_uses.get(name)}


def tell_uses(app, doctree, docname):
    """Replace the marks by links and pictures."""
    titles = app.env.titles

    def link(chapter, *inside, anchor=""):
        address = app.builder.get_relative_uri(docname, chapter) + anchor
        title = nodes.Text(titles[chapter].astext())
        return nodes.reference("", "", *inside, title, internal=True, refuri=address)

    for mark in list(doctree.findall(InTheBook)):
        uses = app.env.mvref_uses.get(mark["name"], [])
        lines = [("Used in: ", [chapter for chapter, *_ in uses])]
        room = [*resolve_name(mark["name"]).__module__.split("."), ""][1]
        code = f"book/{room}/annotated"
        lines += [("The code, explained: ", [code])] if code in titles else []
        told = []
        for opening, chapters in lines:
            line = nodes.paragraph(classes=["used-in"])
            for i, chapter in enumerate(chapters):
                line += [nodes.Text("; " if i else opening), link(chapter)]
            told += [line] if chapters else []
        drawn = sorted((use for use in uses if use[2:]), key=lambda use: use[1])[:MOST_PICTURES]
        gallery = nodes.paragraph(classes=["gallery"])
        for chapter, _, anchor, file, alt in drawn:
            picture = nodes.image(uri=file, alt=alt, candidates={"*": file}, loading="lazy")
            gallery += link(chapter, picture, anchor=f"#{anchor}")
        mark.replace_self([*told, gallery] if drawn else told)


def edit_docstring(app, pagename, templatename, context, doctree):
    """Who wants to edit the page of an entry is led to its docstring: no one can edit the page."""
    name = pagename.rpartition("/")[2]
    if pagename.startswith(FOLDER) and name.startswith("mvref."):
        file = Path(inspect.getfile(inspect.unwrap(resolve_name(name)))).resolve()
        place = file.relative_to(Path(app.srcdir).resolve()).as_posix()
        context["edit_page_provider_name"] = "GitHub"
        context["edit_page_url_template"] = EDIT + place


def link_outside(app, env, node, content):
    """A name of scikit-learn leads to its own pages."""
    name = node["reftarget"]
    if name.startswith("sklearn."):
        return nodes.reference("", "", content, refuri=OUTSIDE.format(name), internal=False)


def setup(app):
    """Called by Sphinx."""
    app.setup_extension("sphinx_codeautolink")
    app.add_node(InTheBook)
    app.add_directive("in-the-book", InTheBookDirective)
    app.connect("config-inited", write_pages)
    app.connect("autodoc-process-docstring", ask_for_chapters, priority=900)
    app.connect("doctree-read", give_anchors)
    app.connect("env-updated", gather)
    app.connect("missing-reference", link_outside)
    app.connect("doctree-resolved", tell_uses)
    app.connect("html-page-context", edit_docstring)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
