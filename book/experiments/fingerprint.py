"""Fingerprint of the code that made a row: eight hex digits of the source that a job depends on.

The source is read, not run. From the job's function we follow every name, through the imports, to
the function, class or constant of mvref that it stands for, and on from there: protocol, method,
solver, data loader. The function's arguments (a grid, a tolerance) and the seed count, too.
Comments, layout, docstrings, type annotations and the module of a definition do not; the
versions of Python, numpy, scipy and scikit-learn have columns of their own.

In a *table*, a dict with strings as keys, only those entries count whose key is the job's method,
its data set, or a string in the reached code. So a new method leaves the rows of the others up to
date. An entry that is looked up under a name built at run time is not seen.
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
    """Return eight hex digits that change with the code of a job, its arguments and the seed."""
    roots = []
    call = _call(job.function, roots)
    code = _digest_of_code(tuple(roots), frozenset([job.method, job.dataset]))
    return _digest((call, seed, code))


def _call(value, roots):
    """Return what is called and its arguments; functions and classes are added to `roots`."""
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
        inside = getattr(value, "__closure__", None) or ()  # closure of a nested function
        return [value.__qualname__, *(_call(cell.cell_contents, roots) for cell in inside)]
    return repr(value)


@cache
def _digest_of_code(roots, words):
    reached = _reached(roots, words)
    texts = words.union(*map(_texts, reached))
    if texts > words:  # table entries that the code itself names
        return _digest_of_code(roots, texts)
    return _digest(sorted(map(_digest_of_node, reached)))


def _reached(roots, words):
    """Return the statements and table entries that the names `roots` lead to."""
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
    """Return a table's entries with keys in `words`, all if none is; else the statement itself."""
    table = getattr(node, "value", None)
    keys = [getattr(key, "value", None) for key in getattr(table, "keys", ())]
    texts = {key for key in keys if isinstance(key, str)}
    if not texts:
        return [node]
    others = texts - words if texts & words else ()
    return [line for key, line in zip(keys, table.values, strict=True) if key not in others]


@cache
def _bindings(module):
    """Return name -> its bindings at the top level of a module: statements, or (module, name)."""
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
    """Return the top-level statements of a module of mvref without docstrings; else none."""
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
    """Yield for every ``from x import y`` in a node the name that it binds, and (x, y)."""
    package = module if _file(module).name == "__init__.py" else module.rpartition(".")[0]
    for part in ast.walk(node):
        if isinstance(part, ast.ImportFrom):
            source = resolve_name("." * part.level + (part.module or ""), package)
            for alias in part.names:
                yield alias.asname or alias.name, (source, alias.name)


@cache
def _names(node, module):
    """Return the places, (module, name), that the names in a node refer to."""
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
    """Return a syntax tree as tuples without empty fields, the same in all Python versions."""
    if isinstance(node, list):
        return [_plain(part) for part in node]
    if not isinstance(node, ast.AST):
        return repr(node)
    parts = [(name, value) for name, value in ast.iter_fields(node) if value not in (None, [])]
    return type(node).__name__, [(name, _plain(value)) for name, value in parts]


def _digest(value):
    return hashlib.sha256(repr(value).encode()).hexdigest()[:8]
