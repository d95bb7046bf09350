"""The API reference: every public name has a page, an example, attributes, links that lead on."""

import ast
import builtins
import doctest
import importlib
import inspect
import re
from pathlib import Path
from pkgutil import resolve_name

import pytest
import yaml
from numpydoc.docscrape import ClassDoc, FunctionDoc
from sklearn.base import is_regressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.preprocessing import StandardScaler

import mvref
from book._ext.reference import split_description
from mvref.datasets import load_iris_views

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "book" / "reference"
PAGES = {path.stem: path.read_text() for path in FOLDER.glob("*.md")}
LISTED = re.compile(r"^   ~(mvref\.\S+)$", re.MULTILINE)
NAMES = [name for group in sorted(PAGES) for name in LISTED.findall(PAGES[group])]
# Modules whose every public function is documented.
WHOLE = [f"mvref.theory.{name}" for name in mvref.theory.__all__]
WHOLE += ["mvref.core.kernels", "mvref.core.measures", "mvref.experiments.plotting"]
WHOLE += ["mvref.experiments.forensics"]
ENGINE = ("encode_parameter", "Job", "Item", "Ledger", "missing_jobs", "run", "execute")
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


def is_exception(value):
    return inspect.isclass(value) and issubclass(value, BaseException)


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
    assert sorted(NAMES) == sorted(public_names())


@pytest.mark.parametrize("name", NAMES)
def test_every_entry_has_an_example(name):
    value = resolve_name(name)
    assert is_exception(value) or name in NO_EXAMPLE or ">>>" in inspect.getdoc(value)


@pytest.mark.parametrize("name", NAMES)
def test_an_example_runs_where_it_is_pasted(name):
    """It imports every name that it uses, although a doctest would find those of its module."""
    examples = doctest.DocTestParser().get_examples(inspect.getdoc(resolve_name(name)))
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


@pytest.mark.parametrize("name", NAMES)
def test_a_first_sentence_is_not_cut_in_the_table_of_an_overview(name):
    """The table ends a text at the first dot before a blank, or at an empty line."""
    first = inspect.getdoc(resolve_name(name)).split("\n\n")[0]
    assert first.endswith(".") and not re.search(r"\.\s", first)


@pytest.mark.parametrize("name", NAMES)
def test_what_to_see_also_has_a_page(name):
    """An entry, or a name of scikit-learn, whose address follows from the name."""
    parse = ClassDoc if inspect.isclass(resolve_name(name)) else FunctionDoc
    for links, told in parse(resolve_name(name))["See Also"]:
        for link, _ in links:
            found = link if link.startswith(("mvref.", "sklearn.")) else ""
            found = found or f"{name.rpartition('.')[0]}.{link}"
            assert (found in NAMES or resolve_name(found)) and found != name and told
            assert found in NAMES or found.startswith("sklearn.")


def test_no_reference_is_left_unresolved_on_purpose():
    """`make book` warns of every other one."""
    assert "nitpick_ignore" not in (ROOT / "_config.yml").read_text()


METHODS = {
    "PerView": lambda: mvref.PerView(StandardScaler()),
    "PerViewClassifier": lambda: mvref.PerViewClassifier(LogisticRegression()),
    "PatternClassifier": mvref.PatternClassifier,
    "ViewDropout": mvref.ViewDropout,
    "PerViewRegressor": lambda: mvref.PerViewRegressor(combine=Ridge()),
    "PatternRegressor": mvref.PatternRegressor,
    "ViewDropoutRegressor": mvref.ViewDropoutRegressor,
    **mvref.all_methods(),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", METHODS)
def test_attributes_of_a_fitted_estimator_are_described(name):
    model, iris = METHODS[name](), load_iris_views()
    few = slice(0, 100, 5)  # of two classes, which every classifier takes
    y = iris.y[few].astype(float) if is_regressor(model) else iris.y[few]
    entries = ClassDoc(type(model.fit(iris.X[few], y)))["Attributes"]
    told = {word for entry in entries for word in entry.name.split(", ")}
    has = {word for word in vars(model) if word.endswith("_") and word[0] != "_"}
    assert has and has - told == set()
    assert all(entry.type or entry.desc for entry in entries)


def test_every_page_is_in_the_book():
    parts = yaml.safe_load((ROOT / "_toc.yml").read_text())["parts"]
    rows = [chapter for part in parts for chapter in part["chapters"]]
    rows = {row["file"]: row for row in rows if row["file"].startswith("book/reference/")}
    assert {f"book/reference/{name}" for name in PAGES} == set(rows)
    for name in PAGES:
        glob = [{"glob": f"book/reference/{name}/*"}]
        assert rows[f"book/reference/{name}"].get("sections", []) == (
            glob if name != "index" else []
        )
