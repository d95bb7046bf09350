"""The exercises of every chapter as a notebook of their own, without solutions (`make exercises`).

python -m book.exercises   writes _build/exercises/<part>/<chapter>.ipynb

A notebook holds the code of the chapter, folded, so that an exercise can use what the chapter
defines, and then each exercise with an empty cell. It lies beside the tables its code reads.
"""

import json
import re
import shutil
from functools import partial

from book import plain

TARGET = plain.ROOT / "_build" / "exercises"
HIDDEN = {"source_hidden": True, "outputs_hidden": True}
SOLUTIONS = ("solution", "solution-start", "solution-end")
CHAPTER = re.compile(r"(?<=\]\()([\w./-]+)\.ipynb(?:#([\w-]+))?(?=\))")
HEAD = """# Exercises: {title}

They belong to [this chapter]({page}), where the formulas and theorems stand that they name.
Run the folded cells first: they are the code of the chapter. The first of them holds the
parameters; with smaller ones it takes less time.
"""


def without_solutions(cells):
    """The cells of a chapter, and no line of a solution."""
    kept, inside = [], False
    for cell in cells:
        if cell["cell_type"] == "markdown":
            text = "".join(cell["source"])
            lines, at, rest = text.split("\n"), 0, []
            for (start, end), kind, *_ in plain.fences(text):
                if kind in SOLUTIONS:
                    rest += [] if inside else lines[at:start]
                    inside, at = kind == "solution-start", end
            rest += [] if inside else lines[at:]
            kept.append(cell | {"source": "\n".join(rest)})
        elif not inside:
            kept.append(cell)
    return kept


def tasks(cells):
    """The exercises of a chapter as they stand in its source."""
    for cell in cells:
        if cell["cell_type"] == "markdown":
            lines = cell["source"].split("\n")
            for (start, end), kind, *_ in plain.fences(cell["source"]):
                if kind == "exercise":
                    yield "\n".join(lines[start:end])


def markdown(name, text):
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": text}


def empty(name):
    return {"cell_type": "code", "id": name, "metadata": {}, "source": "", "outputs": []}


def copy_of(path, cells):
    """A chapter of other cells in plain Markdown, whose links lead to the book."""
    notebook = plain.copy_of(path, plain.read(path) | {"cells": cells})
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            text = CHAPTER.sub(partial(plain.address, path), "".join(cell["source"]))
            cell["source"] = text.splitlines(keepends=True)
    return notebook


def folded(cell):
    """Metadata by which JupyterLab shows a cell's parameters or answer only."""
    tags = cell["metadata"].get("tags", [])
    shown = "parameters" in tags or not cell["source"]
    return {"tags": tags} | ({} if shown else {"jupyter": HIDDEN})


def exercises_of(path):
    """The notebook of a chapter's exercises."""
    cells = without_solutions(plain.read(path)["cells"])
    title = re.search(r"^# (.*)", cells[0]["source"], re.M)[1]
    page = f"{plain.HOME}{path.relative_to(plain.ROOT).with_suffix('.html').as_posix()}"
    made = [markdown("head", HEAD.format(title=title, page=page))]
    made += [cell | {"metadata": folded(cell)} for cell in cells if cell["cell_type"] == "code"]
    found = list(tasks(cells))
    for number, text in enumerate(found, start=1):
        made += [markdown(f"exercise-{number}", text), empty(f"answer-{number}")]
    notebook = copy_of(path, made)
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell |= {"outputs": [], "execution_count": None, "metadata": folded(cell)}
    return notebook


def write(folder):
    """Write all of them; return their paths."""
    paths = {path: folder / path.relative_to(plain.BOOK) for path in plain.chapters()}
    for path, target in paths.items():
        target.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(exercises_of(path), indent=1, ensure_ascii=False) + "\n"
        target.write_text(text, encoding="utf-8")
        for table in path.parent.glob("*.toml"):
            shutil.copy(table, target.parent)
    return list(paths.values())


if __name__ == "__main__":
    print(f"{len(write(TARGET))} notebooks of exercises are in {TARGET}")
