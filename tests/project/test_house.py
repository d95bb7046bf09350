"""The house: which room imports which, how large the rooms are, where numpydoc sections stand."""

import ast
import inspect
import re
import textwrap
from graphlib import TopologicalSorter
from pathlib import Path
from pkgutil import resolve_name

import pytest

from book.quotations import prose_of
from tests.project.test_reference import NAMES, is_exception

ROOT = Path(__file__).resolve().parents[2]
METHODS = ("mvl_svm", "mwmvc2", "mvpo", "mvm", "mvna_kmhks")
# Each room imports from the floors below its own, and from no other room of its floor.
FLOORS = {
    "core": 0,
    **dict.fromkeys((*METHODS, "datasets"), 1),
    "rivals": 2,
    "theory": 2,
    "": 3,  # mvref itself, its face
    "compare": 4,
    "experiments": 5,  # the door to those of the book
    "__main__": 6,
}
# Statements of Python, which denser lines do not make fewer: those of November 2026 and 3 % of air.
# Who raises one names in CHANGELOG the capability that it is for. What one opens to read a
# method is in `test_reading`.
STATEMENTS = {
    "mvref": 11_905,
    "mvref/mvl_svm": 460, "mvref/mwmvc2": 220, "mvref/mvpo": 330,
    "mvref/mvm": 715, "mvref/mvna_kmhks": 370,
    "book/experiments": 4_992,
    "book": 1_135,  # what makes the book, without experiments and errata
    "tests": 24_321,
}  # fmt: skip
SECTION = re.compile(r"^ *(Parameters|Returns|Yields)\n *---", re.MULTILINE)
# Functions of one formula, parts of methods, experiments: a paragraph tells of their arguments.
BRIEF = re.compile(
    r"mvref\.(theory|experiments|core\.(kernels|nystrom|voters)|mwmvc2\.weights)\."
    r"|mvref\.core\.measures\.(\w+_loss|check_beta)$"
    r"|mvref\.mvl_svm\.(landmarks\.impute|estimator\.block_sparse_norms)$"
)


def name_of(path):
    """The dotted name of a module; of a package that of its folder."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


PATHS = {name_of(path): path for path in sorted((ROOT / "mvref").rglob("*.py"))}
TREES = {name: ast.parse(path.read_text()) for name, path in PATHS.items()}


def room_of(module):
    return (module.split(".") + [""])[1]


def is_for_types(node):
    """Whether only a type checker reads what a statement holds."""
    return isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"


def imports_of(module):
    """The modules of mvref that a module imports, anywhere in its text."""
    package = module.split(".")
    if PATHS[module].name != "__init__.py":
        package = package[:-1]
    nodes = list(ast.walk(TREES[module]))
    blocks = filter(is_for_types, nodes)
    for_types = {node for block in blocks for part in block.body for node in ast.walk(part)}
    for node in nodes:
        if node in for_types:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in PATHS)
        if isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            source = ".".join(above + ([node.module] if node.module else []))
            for alias in node.names if source in PATHS else ():
                inner = f"{source}.{alias.name}"
                yield inner if inner in PATHS else source


ARROWS = [(module, to) for module in PATHS for to in imports_of(module) if to != module]


def test_imports_are_found():
    assert ("mvref.mvl_svm.estimator", "mvref.core.base") in ARROWS
    assert ("mvref.rivals.svm_perf", "mvref.mvpo") in ARROWS
    assert ("mvref.compare.own_tables", "mvref.compare.splits") in ARROWS
    assert set(map(room_of, PATHS)) == set(FLOORS)


def test_no_method_imports_another():
    between = [
        (module, to)
        for module, to in ARROWS
        if room_of(module) in METHODS and room_of(to) in METHODS and room_of(to) != room_of(module)
    ]
    assert between == []


@pytest.mark.parametrize("room", ["rivals", "theory"])
def test_of_a_method_only_its_public_part_is_imported(room):
    inside = [
        (module, to)
        for module, to in ARROWS
        if room_of(module) == room and room_of(to) in METHODS and to.count(".") > 1
    ]
    assert inside == []


def test_no_import_goes_up():
    upward = [
        (module, to)
        for module, to in ARROWS
        if room_of(to) != room_of(module) and FLOORS[room_of(to)] >= FLOORS[room_of(module)]
    ]
    assert upward == []


def test_the_way_in_stands_on_nothing_and_has_one_door():
    inside = {module for module in PATHS if module.startswith("mvref.core.input")}
    old = {"mvref.core.views"}  # a path that stays for stored models
    assert {to for module, to in ARROWS if module in inside} <= inside
    others = {to for module, to in ARROWS if module not in inside}
    assert others & (inside | old) == {"mvref.core.input"}


def test_no_circle():
    graph = {module: {to for start, to in ARROWS if start == module} for module in PATHS}
    order = list(TopologicalSorter(graph).static_order())  # a CycleError names the circle
    assert set(order) == set(PATHS)


# ------------------------------------------------------------------ sizes


def statements_in(folder):
    """Statements below a folder; docstrings are none."""
    trees = (ast.parse(path.read_text()) for path in (ROOT / folder).rglob("*.py"))
    nodes = (node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.stmt))
    return sum(
        not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)) for node in nodes
    )


def test_few_flat_modules():
    assert len(list((ROOT / "mvref").glob("*.py"))) <= 5


@pytest.mark.parametrize("folder", STATEMENTS)
def test_statements_of_a_folder(folder):
    inside = ("book/experiments", "book/errata") if folder == "book" else ()
    assert statements_in(folder) - sum(map(statements_in, inside)) <= STATEMENTS[folder]


def test_words_of_the_book():
    """Its pages without the API reference and the changes; no code, no formulas."""
    pages = {*(ROOT / "book").rglob("*.ipynb"), *(ROOT / "book").rglob("*.md")}
    words = 0
    for path in pages - {*(ROOT / "book/reference").rglob("*"), ROOT / "book/changelog.md"}:
        text = "\n".join(text for _, text in prose_of(path))
        text = re.sub(r"(?s)\$\$.*?\$\$|```\{(?:math|code-cell)\}.*?```|\$[^$\n]+\$", " ", text)
        text = re.sub(r"\{[^}]*\}|\]\([^)]*\)|[`#*|:()\[\]]", " ", text)
        words += len(re.findall(r"[A-Za-z][\w'’-]*", text))
    assert 80_000 < words <= 85_000


# ------------------------------------------------------------------ numpydoc sections


def full_name(value):
    return f"{value.__module__}.{value.__qualname__}"


def methods_of(cls):
    """Public functions of a class, from where in mvref they are defined."""
    for base in cls.__mro__:
        for name, member in vars(base).items() if base.__module__.startswith("mvref") else ():
            member = inspect.unwrap(getattr(member, "__func__", member))
            if inspect.isfunction(member) and not name.startswith("_"):
                yield member


def promised():
    """What a user is told of in full: the names of the reference pages and their methods."""
    for name in NAMES:
        value = resolve_name(name)
        if not is_exception(value):
            yield full_name(inspect.unwrap(value)), value
        if inspect.isclass(value):
            yield from ((full_name(member), member) for member in methods_of(value))


PROMISED = dict(promised())


def own_definitions(tree, prefix):
    """Every function and class of a module, with its full name."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            name = f"{prefix}.{node.name}"
            yield name, node
            yield from own_definitions(node, name)


def returns_something(function):
    """Whether a function gives anything but None back, or yields it."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    given = [node for node in ast.walk(tree) if isinstance(node, ast.Return | ast.Yield)]
    return any(node.value is not None for node in given)


@pytest.mark.parametrize("name", sorted(PROMISED))
def test_names_of_the_reference_tell_what_they_take(name):
    """Every argument by its name, in full sections or in a paragraph."""
    value = PROMISED[name]
    text = value.__doc__ or ""
    sections = {match.group(1) for match in SECTION.finditer(text)}
    try:
        takes = set(inspect.signature(value).parameters) - {"self", "cls"}
    except ValueError:  # an exception's, or a class of another language
        takes = set()
    assert takes <= set(re.findall(r"\w+", text.partition(">>>")[0]))
    if BRIEF.match(name):
        return
    assert "Parameters" in sections or not takes
    if inspect.isfunction(value) and returns_something(value):
        assert sections & {"Returns", "Yields"}


def test_nothing_else_has_sections():
    others = [
        name
        for module, tree in TREES.items()
        for name, node in own_definitions(tree, module)
        if (name not in PROMISED or BRIEF.match(name))
        and SECTION.search(ast.get_docstring(node) or "")
    ]
    assert others == []
