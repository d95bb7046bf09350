"""The methods implemented from scratch in the one-page chapters, for the tests of each part."""

import ast
import json
from pathlib import Path

import numpy as np
from sklearn.preprocessing import StandardScaler

from mvref import PerView

BOOK = Path(__file__).resolve().parents[1] / "book"
MOST_LINES = 40


def cells_of(part, *tags):
    """Return the sources of those cells of a part's one page that have one of the tags."""
    notebook = json.loads((BOOK / part / "one_page.ipynb").read_text(encoding="utf-8"))
    wanted = {*tags} or {"from-scratch"}
    cells = [cell for cell in notebook["cells"] if wanted & {*cell["metadata"].get("tags", [])}]
    return ["".join(cell["source"]) for cell in cells]


def from_scratch(part):
    """Return the names defined in these cells, with the searches for other measures."""
    names = {}
    for source in cells_of(part, "from-scratch", "search"):
        exec(compile(source, f"{part}/one_page", "exec"), names)
    return names


def two_classes(data, names, classes, n_train):
    """Return two classes of a data set, standardised: training and test views and labels."""
    rows = np.random.default_rng(0).permutation(np.flatnonzero(np.isin(data.y, classes)))
    X, y = data.X.select(names)[rows], np.where(data.y[rows] == classes[1], 1.0, -1.0)
    X = PerView(StandardScaler()).fit(X[:n_train]).transform(X)
    return X[:n_train], y[:n_train], X[n_train:], y[n_train:]


def n_lines(part):
    """Count the lines of code in these cells, without empty lines, comments and docstrings."""
    return sum(len(code_lines(source)) for source in cells_of(part))


def code_lines(source):
    """Return the lines of a source that are code."""
    texts = set()
    for node in ast.walk(ast.parse(source)):
        body = getattr(node, "body", None)
        first = body[0] if isinstance(body, list) and body else None
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            texts.update(range(first.lineno, first.end_lineno + 1))
    lines = enumerate(source.splitlines(), 1)
    return [line for i, line in lines if i not in texts and line.strip() and line.strip()[0] != "#"]
