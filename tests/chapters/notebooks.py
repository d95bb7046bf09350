"""What a stored chapter must look like, as functions from a notebook to a list of faults."""

import ast
import json
import re
from itertools import pairwise

import nbformat

from book.execute import BOOK, CELL_METADATA, METADATA, chapters

ROOT = BOOK.parent
CHAPTERS = {path.relative_to(ROOT).as_posix(): path for path in chapters()}

LARGEST_OUTPUT = 1_000_000  # bytes
MOST_LINES = 15  # of code that a page shows unfolded
LONGEST_LINE = 88  # characters of code or print that fit into a window of 1280 pixels
# A folder of somebody's machine, a process id, the address of an object.
MACHINE = re.compile(
    r"/(home|root|Users|tmp)/|[A-Z]:\\|site-packages|ipykernel_\d|\bat 0x[0-9a-f]+"
)

GRADES = ("Warm-up", "By hand", "By computer", "Research")
ONE_EXERCISE = re.compile(
    r"^(`{3,})\{exercise\} .*\n:label: (\S+)\n\n(.*?)^\1$", re.MULTILINE | re.DOTALL
)
EXERCISE = re.compile(r"^`{3,}\{(exercise|solution|solution-start|solution-end)\}", re.MULTILINE)


def read(path):
    return nbformat.read(path, as_version=nbformat.NO_CONVERT)


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip()]


def parameters_cells(notebook):
    return [cell for cell in notebook.cells if "parameters" in cell.metadata.get("tags", [])]


def parameter_names(notebook):
    """The names that the cell tagged `parameters` assigns."""
    [cell] = parameters_cells(notebook)
    assignments = [node for node in ast.parse(cell.source).body if isinstance(node, ast.Assign)]
    return {target.id for node in assignments for target in node.targets}


def ignored_parameters(notebook):
    """Parameters that do not decide what follows: never read, or set again."""
    [own] = parameters_cells(notebook)
    later = [cell for cell in code_cells(notebook) if cell is not own]
    names = [node for cell in later for node in ast.walk(parsed(cell))
             if isinstance(node, ast.Name)]  # fmt: skip
    read, written = (
        {node.id for node in names if isinstance(node.ctx, kind)} for kind in (ast.Load, ast.Store)
    )
    for name in sorted(parameter_names(notebook)):
        if name not in read:
            yield f"the parameter {name} is never read"
        if name in written:
            yield f"the parameter {name} is set again"


def parsed(cell):
    """The syntax tree of a cell, without lines that only IPython knows."""
    lines = cell.source.splitlines()
    return ast.parse("\n".join("" if re.match(r"\s*[%!]", line) else line for line in lines))


def text_of(output):
    """All of an output except its pictures, as one text."""
    data = sorted(output.get("data", {}).items())  # stored files have them in this order
    texts = [str(value) for kind, value in data if not kind.startswith("image/")]
    return "\n".join([output.get("text", ""), *texts])


def printed_lines(output):
    """The lines that a page shows as they are: prints, and results that are not tables."""
    data = output.get("data", {})
    text = output.get("text", "") if not data else data.get("text/plain", "")
    return text.splitlines() if set(data) <= {"text/plain"} else []


def output_faults(output):
    """What is wrong with one output of a cell."""
    if output.output_type == "error":
        yield f"stopped with {output.ename}"
    if output.get("name") == "stderr":
        yield "a warning or another message on stderr in the output"
    found = MACHINE.search(text_of(output))
    if found:
        yield f"{found.group()!r} in the output, which differs between machines"
    if "np.float64(" in text_of(output):
        yield "a number in NumPy's own spelling, np.float64(...): convert it with float()"
    if any(len(line) > LONGEST_LINE for line in printed_lines(output)):
        yield f"a printed line of more than {LONGEST_LINE} characters"
    if len(json.dumps(output)) > LARGEST_OUTPUT:
        yield f"an output of more than {LARGEST_OUTPUT} bytes"


def drawn(cell):
    """The figures and tables that a cell shows."""
    kinds = [kind for output in cell.outputs for kind in output.get("data", {})]
    return [kind for kind in kinds if kind.startswith("image/") or kind == "text/html"]


def cell_faults(cell):
    """What is wrong with one code cell that was executed."""
    for output in cell.outputs:
        yield from output_faults(output)
    shown, told = drawn(cell), cell.metadata.get("mystnb", {})
    if "name" in told.get("figure", {}) and len(shown) > 1:
        yield "a figure with a name, and another one or a table: give them a cell of their own"
    if (set(shown) - {"text/html"}) and not told.get("image", {}).get("alt"):
        yield "a figure without alternative text (mystnb: {image: {alt: ...}})"


def solution_faults(notebook):
    """Solutions that show their output before the reader unfolds them."""
    for cell, following in pairwise(notebook.cells):
        told = EXERCISE.findall(cell.source) if cell.cell_type == "markdown" else []
        shown = "remove-input" not in following.metadata.get("tags", [])
        if told[-1:] == ["solution"] and following.cell_type == "code" and shown:
            yield f"{cell.get('id')}: code below a solution: solution-start and -end take it in"


def long_cells(notebook):
    """Cells that show more code than a reader takes in at once. Solutions are folded anyway."""
    folded = False
    for cell in notebook.cells:
        told = EXERCISE.findall(cell.source) if cell.cell_type == "markdown" else []
        if told and told[-1].startswith("solution-"):
            folded = told[-1] == "solution-start"
        lines = [line for line in cell.source.splitlines() if line.strip()]
        hidden = {"hide-input", "remove-input", "remove-cell"} & {*cell.metadata.get("tags", [])}
        if cell.cell_type != "code" or folded or hidden:
            continue
        if len(lines) > MOST_LINES:
            yield f"{cell.get('id')}: {len(lines)} lines of code: split it, or fold it (hide-input)"
        if max(map(len, lines), default=0) > LONGEST_LINE:
            yield f"{cell.get('id')}: a line of more than {LONGEST_LINE} characters"


def faults(notebook):
    """Everything that is wrong with a stored notebook, one sentence each."""
    found = []
    counts = [cell.execution_count for cell in code_cells(notebook)]
    if counts != list(range(1, len(counts) + 1)):
        found.append(f"not executed once from top to bottom: execution counts {counts}")
    if len(parameters_cells(notebook)) != 1:
        found.append(f"{len(parameters_cells(notebook))} cells tagged `parameters`, not one")
    else:
        found += ignored_parameters(notebook)
    if notebook.metadata != METADATA or notebook.nbformat_minor != 5:
        found.append("metadata of the notebook not as `make chapters` writes it")
    for cell in notebook.cells:
        extra = set(cell.metadata) - set(CELL_METADATA)
        if extra:
            found.append(f"{cell.get('id')}: metadata {sorted(extra)}")
    for cell in code_cells(notebook):
        found += [f"{cell.get('id')}: {fault}" for fault in cell_faults(cell)]
    return [*found, *solution_faults(notebook), *long_cells(notebook)]


def exercise_faults(notebook):
    """Exercises that do not say what kind they are, or have no hint."""
    text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    for _, label, body in ONE_EXERCISE.findall(text):
        if not body.startswith(tuple(f"**{grade}.** " for grade in GRADES)):
            yield f"{label}: begin with one of {GRADES}, bold and with a full stop"
        if "\n*Hint:* " not in body:
            yield f"{label}: no hint"
