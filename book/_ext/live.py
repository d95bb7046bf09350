"""Run it here: a button on every page with code, and the script behind it, live.js.

The script is on every page: `make live` gives the welcome page the token of its server.
"""

from docutils import nodes
from sphinx_book_theme.header_buttons import get_repo_parts

BUTTON = {
    "type": "javascript",
    "javascript": "runHere()",
    "text": "Run it here",
    "label": "live",
    "classes": "pst-js-only",
}


def offer(app, pagename, templatename, context, doctree):
    """Put the button before the rocket of a page that has code cells."""
    _, owner, name, _ = get_repo_parts(context)
    options = app.config.html_theme_options
    app.add_js_file(
        "live.js",
        loading_method="defer",
        **{
            "data-binder": options["launch_buttons"]["binderhub_url"],
            "data-repository": f"{owner}/{name}",
            "data-branch": options["repository_branch"],
        },
    )
    containers = doctree.findall(nodes.container) if doctree else ()
    if any(part.get("nb_element") == "cell_code" for part in containers):
        context["header_buttons"].insert(0, BUTTON)


def setup(app):
    """Called by Sphinx; the theme adds its buttons at 501."""
    app.add_css_file("live.css")
    app.connect("html-page-context", offer, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
