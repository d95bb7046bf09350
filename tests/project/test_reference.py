"""The API reference: every public name is in it once, and has an example."""

import importlib
import inspect
import re
from pathlib import Path

import pytest
import yaml

import mvref

ROOT = Path(__file__).resolve().parents[2]
PAGES = {path.stem: path.read_text() for path in (ROOT / "book" / "reference").glob("*.md")}
ENTRIES = re.findall(r"^\.\. auto(\w+):: (\S+)$", "\n".join(PAGES.values()), re.MULTILINE)
# Modules whose every public function is documented.
WHOLE = [f"mvref.theory.{name}" for name in mvref.theory.__all__]
WHOLE += ["mvref.kernels", "mvref.measures", "mvref.plotting", "mvref.experiments.engine"]
# Names of the modules themselves, and a table of items.
NO_ENTRY = {"datasets", "rivals", "theory", "ITEMS"}


def find(name):
    """Return the object of a full name."""
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)


def public_names():
    for module in ("mvref", "mvref.rivals", "mvref.datasets", "mvref.experiments"):
        names = importlib.import_module(module).__all__
        yield from (f"{module}.{name}" for name in names if name not in NO_ENTRY)
    for name in WHOLE:
        for attribute, value in vars(importlib.import_module(name)).items():
            is_own = getattr(value, "__module__", None) == name and not attribute.startswith("_")
            if is_own and (inspect.isclass(value) or inspect.isfunction(value)):
                yield f"{name}.{attribute}"


def test_every_public_name_has_one_entry():
    assert sorted(name for _, name in ENTRIES) == sorted(public_names())


@pytest.mark.parametrize(("kind", "name"), ENTRIES, ids=[name for _, name in ENTRIES])
def test_every_entry_is_what_it_says_and_has_an_example(kind, name):
    value = find(name)
    wanted = "function"
    if inspect.isclass(value):
        wanted = "exception" if issubclass(value, BaseException) else "class"
    assert kind == wanted
    if kind != "exception":
        assert ">>>" in inspect.getdoc(value)


def test_every_page_is_in_the_book():
    parts = yaml.safe_load((ROOT / "_toc.yml").read_text())["parts"]
    files = {chapter["file"] for part in parts for chapter in part["chapters"]}
    assert {f"book/reference/{name}" for name in PAGES} <= files
