"""Binder: the rocket of every chapter of the built book opens that chapter in JupyterLab.

What Binder installs is the matter of test_requirements.py.
"""

import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml

from tests.project.test_html import Page

ROOT = Path(__file__).resolve().parents[2]
BUILT = ROOT / "_build" / "html"
CONFIG = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
CHAPTERS = sorted(
    path.relative_to(ROOT).as_posix()
    for path in (ROOT / "book").rglob("*.ipynb")
    if ".ipynb_checkpoints" not in path.parts
)


def binder_address(chapter):
    """Where the rocket of a chapter has to lead."""
    repository = CONFIG["repository"]
    project = urlsplit(repository["url"]).path.strip("/")
    host = CONFIG["launch_buttons"]["binderhub_url"]
    return f"{host}/v2/gh/{project}/{repository['branch']}?urlpath=lab/tree/{chapter}"


def rockets(page):
    """The links of a page that lead to Binder."""
    return [link for link in Page(page).links if urlsplit(link).netloc == "mybinder.org"]


@pytest.fixture(scope="module")
def built():
    if not (BUILT / "index.html").exists():
        pytest.skip("the book is not built: run make book")
    return BUILT


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_rocket_opens_its_own_chapter(built, chapter):
    page = (built / chapter).with_suffix(".html")
    assert rockets(page) == [binder_address(chapter)]


def test_pages_without_code_have_no_rocket_but_the_welcome_page_leads_to_the_whole_book(built):
    texts = [
        path
        for path in (ROOT / "book").rglob("*.md")
        if "file_format: mystnb" not in path.read_text(encoding="utf-8")
    ]
    pages = {path.relative_to(ROOT).with_suffix(".html") for path in texts}
    pages = [built / page for page in pages if (built / page).exists()]
    assert pages
    found = {page.name: rockets(page) for page in pages if rockets(page)}
    assert found == {"intro.html": [binder_address("book")]}


def test_badge_of_the_readme_opens_the_book():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    [address] = re.findall(r"\((https://mybinder\.org/v2/[^)]*)\)", readme)
    assert address.startswith(binder_address(""))
    [place] = parse_qs(urlsplit(address).query)["urlpath"]
    assert (ROOT / place.removeprefix("lab/tree/")).exists()
