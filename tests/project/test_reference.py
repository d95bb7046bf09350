"""The API reference: every public name is in it once, and has an example."""

import ast
import builtins
import doctest
import importlib
import inspect
import re
from pathlib import Path

import pytest
import yaml

import mvref
from book._ext.reference import split_description

ROOT = Path(__file__).resolve().parents[2]
PAGES = {path.stem: path.read_text() for path in (ROOT / "book" / "reference").glob("*.md")}
ENTRIES = re.findall(r"^\.\. auto(\w+):: (\S+)$", "\n".join(PAGES.values()), re.MULTILINE)
# Modules whose every public function is documented.
WHOLE = [f"mvref.theory.{name}" for name in mvref.theory.__all__]
WHOLE += ["mvref.core.kernels", "mvref.core.measures", "mvref.plotting"]
WHOLE += ["mvref.experiments.forensics"]
ENGINE = (
    "derive_seed",
    "encode_parameter",
    "Job",
    "Item",
    "Ledger",
    "missing_jobs",
    "run",
    "execute",
)
# Parts of methods that docstrings of public names lead to.
PARTS = {
    "mvref.mvl_svm.impute",
    "mvref.mvl_svm.block_sparse_norms",
    "mvref.core.nystrom.draw_components",
    "mvref.rivals.svm2k.solve_svm2k",
    "mvref.mwmvc2.TwoLevelWeights",
    "mvref.mwmvc2.learn_weights",
    "mvref.core.voters.class_scores",
    *(f"mvref.experiments.engine.{name}" for name in ENGINE),
}
# What only its own method can use.
NO_EXAMPLE = {"mvref.mvl_svm.block_sparse_norms", "mvref.mwmvc2.TwoLevelWeights"}
# Names of the modules themselves, and a table of items.
NO_ENTRY = {"datasets", "rivals", "theory", "ITEMS"}


def find(name):
    """Return the object of a full name."""
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)


def public_names():
    yield from PARTS
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
    if kind != "exception" and name not in NO_EXAMPLE:
        assert ">>>" in inspect.getdoc(value)


@pytest.mark.parametrize("name", [name for _, name in ENTRIES])
def test_an_example_runs_where_it_is_pasted(name):
    """It imports every name that it uses, although a doctest would find those of its module."""
    examples = doctest.DocTestParser().get_examples(inspect.getdoc(find(name)))
    parsed = list(ast.walk(ast.parse("".join(example.source for example in examples))))
    names = [node for node in parsed if isinstance(node, ast.Name)]
    known = {node.id for node in names if not isinstance(node.ctx, ast.Load)} | set(dir(builtins))
    known |= {node.arg for node in parsed if isinstance(node, ast.arg)}
    for node in parsed:
        if isinstance(node, ast.Import | ast.ImportFrom):
            known |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            known.add(node.name)
    assert {node.id for node in names} <= known


@pytest.mark.parametrize(
    ("text", "kind", "description"),
    [
        ("float, default=1e-3; relative gap", "float, default=1e-3", "relative gap"),
        ("int array, shape (L, n), rows, sorted", "int array, shape (L, n)", "rows, sorted"),
        ('{"a", "b; c"} or callable, default="a"', None, ""),
        ("array (V,), or (n_classes, V), w", "array (V,), or (n_classes, V)", "w"),
        ("float, ``a, b`` of it", "float", "``a, b`` of it"),
        ("int, RandomState instance, Generator instance or None", None, ""),
        ("lists of V arrays (n_v,), and of V lists of fitted classifiers", None, ""),
        ("lists of M arrays (m, n_v), and of M int arrays (m,)", None, ""),
        ("list of M kernels, and of M arrays (m,), or (n_problems, m)", None, ""),
    ],
)
def test_a_description_on_the_line_of_a_type_is_told_from_it(text, kind, description):
    assert split_description(text) == (kind or text, description)


def documented(name):
    """The docstring of an entry and those of its public members."""
    value = find(name)
    yield inspect.getdoc(value)
    for attribute, member in vars(value).items() if inspect.isclass(value) else ():
        if not attribute.startswith("_"):
            yield inspect.getdoc(member) or ""


@pytest.mark.parametrize("name", [name for _, name in ENTRIES])
def test_every_link_of_a_docstring_leads_to_an_entry(name):
    """As Sphinx looks names up: in full, in the module of the entry, and in its class."""
    modules = re.findall(r"^\.\. py:module:: (\S+)$", "\n".join(PAGES.values()), re.MULTILINE)
    targets = {entry for _, entry in ENTRIES} | {*modules}
    for _, entry in ENTRIES:
        value = find(entry)
        targets |= {f"{value.__module__}.{value.__qualname__}"}
        targets |= {f"{entry}.{member}" for member in vars(value) if member[0] != "_"}
    for doc in documented(name):
        for link in re.findall(r":(?:func|class|meth|mod|attr):`~?([\w.]+)`", doc):
            found = {link, f"{name.rpartition('.')[0]}.{link}", f"{name}.{link}"}
            assert targets & found, link


@pytest.mark.parametrize("name", [name for kind, name in ENTRIES if kind == "class"])
def test_first_sentences_are_not_cut_by_the_tables_of_a_page(name):
    """A table of classes ends a text at the first dot before a blank."""
    first = inspect.getdoc(find(name)).split("\n\n")[0]
    assert not re.search(r"\.\s", first)


def test_every_page_is_in_the_book():
    parts = yaml.safe_load((ROOT / "_toc.yml").read_text())["parts"]
    files = {chapter["file"] for part in parts for chapter in part["chapters"]}
    assert {f"book/reference/{name}" for name in PAGES} <= files
