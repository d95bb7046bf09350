"""Which code made a row: eight hex digits of the source that the numbers of a job depend on.

The source is read, not run. From the job's function we follow every name, through the imports, to
the function, class or constant of mvref that it stands for, and on from there: protocol, method,
solver, data loader. What the function is called with (a grid, a tolerance) counts too, and the
seed. Comments, layout, docstrings, the types in a signature and the module that a definition stands
in do not; the versions of Python, numpy, scipy and scikit-learn have columns of their own.

Of a *table*, a dict with text for keys, only the lines count whose key is the job's method, its
data set, or a text of the code that is reached. So a new rival leaves the rows of the others fresh.
A line that is looked up under a name made at run time is not seen.
"""

import ast
import hashlib
from collections import defaultdict
from dataclasses import fields, is_dataclass
from functools import cache, partial
from importlib.util import resolve_name
from pathlib import Path

import mvref

HERE, ROOT = Path(__file__).parent, Path(mvref.__file__).parent


def fingerprint(job, seed):
    """Return eight hex digits that change with the code of a job and with what it is given."""
    roots = []
    call = _call(job.function, roots)
    code = _digest_of_code(tuple(roots), frozenset([job.method, job.dataset]))
    return _digest((call, seed, code))


def _call(value, roots):
    """What is called, and with what; functions and classes are added to `roots`."""
    if isinstance(value, partial):
        return [_call(part, roots) for part in (value.func, value.args, value.keywords)]
    if isinstance(value, dict):
        return [(key, _call(value[key], roots)) for key in sorted(value)]
    if isinstance(value, list | tuple):
        return [_call(part, roots) for part in value]
    if is_dataclass(value) and not isinstance(value, type):
        return [_call(getattr(value, field.name), roots) for field in fields(value)]
    if hasattr(value, "__qualname__"):
        roots.append((value.__module__, value.__qualname__.split(".")[0]))
        inside = getattr(value, "__closure__", None) or ()  # of a function made in another one
        return [value.__qualname__, *(_call(cell.cell_contents, roots) for cell in inside)]
    return repr(value)


@cache
def _digest_of_code(roots, words):
    reached = _reached(roots, words)
    texts = words.union(*map(_texts, reached))
    if texts > words:  # lines of tables that the code itself names
        return _digest_of_code(roots, texts)
    return _digest(sorted(map(_digest_of_node, reached)))


def _reached(roots, words):
    """The statements, and the lines of tables, that the names `roots` lead to."""
    todo, seen, reached = list(roots), set(), set()
    while todo:
        module, name = place = todo.pop()
        found = () if place in seen else _bindings(module).get(name, ())
        seen.add(place)
        todo += [other for other in found if isinstance(other, tuple)]
        for statement in found:
            for node in _lines(statement, words) if isinstance(statement, ast.AST) else ():
                reached.add(node)
                todo += _names(node, module)
    return reached


def _lines(node, words):
    """The lines of a table whose keys are in `words`, all if none is; else the statement itself."""
    table = getattr(node, "value", None)
    keys = [getattr(key, "value", None) for key in getattr(table, "keys", ())]
    texts = {key for key in keys if isinstance(key, str)}
    if not texts:
        return [node]
    others = texts - words if texts & words else ()
    return [line for key, line in zip(keys, table.values, strict=True) if key not in others]


@cache
def _bindings(module):
    """Name -> what binds it at the top level of a module: statements, or (module, name)."""
    found = defaultdict(list)
    for node in _statements(module):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found[node.name].append(node)
            continue
        targets = [*getattr(node, "targets", ()), getattr(node, "target", None)]
        for target in filter(None, targets):
            for part in ast.walk(target):
                found[getattr(part, "id", None)].append(node)
        for name, place in _imports(node, module):
            found[name].append(place)
    return found


def _statements(module):
    """The top level of a module of mvref without docstrings; nothing of any other module."""
    if module.split(".")[0] != ROOT.name or not _file(module).exists():
        return []
    tree = ast.parse(_file(module).read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None:
            del node.body[0]
        if isinstance(node, ast.FunctionDef | ast.arg):
            node.returns = node.annotation = None
    return tree.body


def _file(module):
    _, *parts = module.split(".")
    path = (HERE.parent if parts[:1] == [HERE.name] else ROOT).joinpath(*parts)
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _imports(node, module):
    """Every ``from x import y`` in a node: the name that it binds, and (x, y)."""
    package = module if _file(module).name == "__init__.py" else module.rpartition(".")[0]
    for part in ast.walk(node):
        if isinstance(part, ast.ImportFrom):
            source = resolve_name("." * part.level + (part.module or ""), package)
            for alias in part.names:
                yield alias.asname or alias.name, (source, alias.name)


@cache
def _names(node, module):
    """The places, (module, name), that the names in a node stand for."""
    bindings = _bindings(module)
    found = [place for _, place in _imports(node, module)]
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            found.append((module, part.id))
        elif isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
            places = [b for b in bindings.get(part.value.id, ()) if isinstance(b, tuple)]
            found += [(".".join(place), part.attr) for place in places]
    return found


@cache
def _texts(node):
    return {part.value for part in ast.walk(node) if isinstance(getattr(part, "value", None), str)}


@cache
def _digest_of_node(node):
    return _digest(_plain(node))


def _plain(node):
    """A syntax tree as tuples, alike in all versions of Python: without its empty fields."""
    if isinstance(node, list):
        return [_plain(part) for part in node]
    if not isinstance(node, ast.AST):
        return repr(node)
    parts = [(name, value) for name, value in ast.iter_fields(node) if value not in (None, [])]
    return type(node).__name__, [(name, _plain(value)) for name, value in parts]


def _digest(value):
    return hashlib.sha256(repr(value).encode()).hexdigest()[:8]
