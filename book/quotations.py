"""Check quotations of the book against the papers, for tests/project/test_quotations.py.

A quotation is text of three words or more between double quotation marks, and the field `quote`
of the errata. It has to occur verbatim in one of the papers: `[...]` marks an omission, the first
letter may be small or capital, and the only other differences allowed are white space, hyphens at
the ends of lines and the marks of Markdown. In the errata, formulas are quoted, too; elsewhere a
formula between dollars stands for any. Quotations from other works are
listed, with their sources, in other_quotations.txt. The variable MVREF_PAPERS names the folder of
the texts, which are not part of the project.
"""

import json
import os
import re
import tomllib
import unicodedata
from functools import cache
from pathlib import Path

BOOK = Path(__file__).resolve().parent
LEDGER = BOOK / "experiments" / "ledger"
LONGEST = 3000  # largest number of characters in an omission
OTHERS = BOOK / "other_quotations.txt"
# Not prose: code, directives and roles, links' targets, comments, attributes.
NOT_PROSE = re.compile(
    r"```\{code-cell\}.*?```|(?<!`)`[^`]+`|\]\([^)]*\)|<[^<>]*>|\{[#.][^{}]*\}|^:\w[^\n]*$",
    re.DOTALL | re.MULTILINE,
)
QUOTATION = re.compile(r'“([^“”]+)”|(?<![\w=])"([^"\n]*(?:\n(?!\n)[^"\n]*)*)"(?!\w)')


@cache
def papers():
    """Return the flattened text of each paper; nothing if MVREF_PAPERS names no folder."""
    folder = os.environ.get("MVREF_PAPERS")
    texts = sorted(Path(folder).glob("*.txt")) if folder else []
    return {path.stem: flat(path.read_text(encoding="utf-8")) for path in texts}


@cache
def others():
    """Return flattened quotations of other works: a line each, the source after a tab."""
    lines = OTHERS.read_text(encoding="utf-8").splitlines() if OTHERS.exists() else []
    return {flat(line.split("\t")[0]) for line in lines}


def flat(text):
    """Normalise a text: without white space and marks of Markdown, one variant of each sign."""
    text = unicodedata.normalize("NFKC", text)
    text = text.translate(str.maketrans("’‘“”–—−‐‑", "''\"\"-----"))
    text = re.sub(r"-\s*\n\s*", "", text)  # hyphens at the ends of lines, in the papers' texts
    return re.sub(r"[\s*_\\{}$-]+", "", text)


def is_printed(quotation, literal=False):
    """Check whether a paper contains a quotation, in its order; literal: with its formulas."""
    gap = r"\[\.\.\.\]" if literal else r"\[\.\.\.\]|\$[^$]*\$"
    parts = [flat(part) for part in re.split(gap, quotation)]
    parts = [part for part in parts if re.search(r"\w", part)]
    first, *rest = parts
    start = f"(?i:{re.escape(first[0])}){re.escape(first[1:])}"
    pattern = re.compile(f".{{0,{LONGEST}}}?".join([start, *map(re.escape, rest)]), re.DOTALL)
    return any(pattern.search(text) for text in papers().values())


def prose_of(path):
    """Yield the texts of a file that readers see, each with its place."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        for number, cell in enumerate(json.loads(text)["cells"]):
            if cell["cell_type"] == "markdown":
                yield f"cell {number}", "".join(cell["source"])
    elif path.suffix == ".toml":
        table = tomllib.loads(text)
        for row in rows_of(table):
            for name in ("wrong", "correct", "depends", "text"):
                yield row["id"], row.get(name, "")
        for number, row in enumerate(table.get("verdict", []), start=1):
            yield (
                f"verdict {number}",
                "\n\n".join(row.get(name, "") for name in ("claim", "why", "under")),
            )
        told = [table.get(name, "") for name in ("stands", "fails", "why", "note")]
        yield "trust", "\n\n".join([*table.get("trust", []), *told])
    else:
        yield "", text


def rows_of(table):
    """Return the errata and remarks of a table; other tables of the book have neither."""
    return table.get("erratum", []) + table.get("remark", [])


def quotations(path):
    """Yield the quotations of a file, each with its place, and whether formulas are quoted, too."""
    for place, text in prose_of(path):
        text = re.sub(r"\$\$.*?\$\$", " ", text, flags=re.DOTALL)
        if path.suffix != ".toml" or path.parent.name == "verdicts":
            text = NOT_PROSE.sub(" ", text)
        for found in QUOTATION.finditer(text):
            quotation = found[1] or found[2] or ""
            if len(re.findall(r"\w+", re.sub(r"\$[^$]*\$", "", quotation))) >= 3:
                yield place, " ".join(quotation.split()), False
    if path.suffix == ".toml":
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        for row in rows_of(table):
            if row.get("quote"):
                yield row["id"], row["quote"], True


def files():
    """Return the files to check: pages, tables of errata, verdicts."""
    found = [*BOOK.rglob("*.ipynb"), *BOOK.rglob("*.md"), *BOOK.rglob("*.toml")]
    found += [BOOK.parent / "README.md", *(LEDGER / "verdicts").glob("*.toml")]
    generated = {path.with_suffix(".md") for path in BOOK.rglob("*.toml")}
    return sorted(path for path in found if path not in generated)


def unknown(path):
    """Yield the quotations of a file that neither a paper nor the list of other works contains."""
    for place, quotation, literal in quotations(path):
        if flat(quotation) not in others() and not is_printed(quotation, literal):
            yield place, quotation
