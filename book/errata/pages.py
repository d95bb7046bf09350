"""Write the pages of errata, one for each paper, from the tables beside this file.

python book/errata/pages.py

A table is a TOML file. An erratum is a sentence or a formula of the paper, quoted verbatim, that is
false or not sufficient as printed; its counterexample is a script of NumPy in `counterexamples`,
which the page shows, runs and offers for download. Everything else is a remark.
"""

import re
import tomllib
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
SCRIPTS = FOLDER / "counterexamples"
PROJECT = tomllib.loads((FOLDER.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))[
    "project"
]
REPOSITORY, HOME = (PROJECT["urls"][name] for name in ("Repository", "Documentation"))
PAPERS = ("mvl_svm", "mwmvc2", "mvpo", "mvm", "mvna_kmhks")
KINDS = {
    "misprint": "Misprint",
    "constant": "Wrong constant",
    "gap": "Gap or missing condition",
    "false": "False statement",
}
REMARKS = {
    "copy": "Our copy",
    "source": "Other texts",
    "addition": "Addition",
    "comment": "Comment",
}
NUMBER = re.compile(r"\b[ABPMN][1-9]\d?\b")
CHAPTERS = {"derive": "Derive", "prove": "Prove", "run": "Run", "validate": "Validate"}
# The page is a notebook in Markdown: the builder runs its cells.
HEAD = """---
file_format: mystnb
kernelspec:
  name: python3
---
"""


def read_table(paper):
    """The whole table of one paper."""
    return tomllib.loads((FOLDER / f"{paper}.toml").read_text(encoding="utf-8"))


def read_all(kind):
    """The entries of all papers in one list, "erratum" or "remark", each with its paper."""
    tables = [read_table(paper) for paper in PAPERS]
    return [{"paper": table["paper"]} | row for table in tables for row in table.get(kind, [])]


def slug(heading):
    """The anchor that a heading gets in the built book: formulas are not part of it."""
    text = re.sub(r"\$[^$]*\$", "", heading).lower().replace(" ", "-")
    return re.sub(r"[^\w-]", "", text)


def anchor(number):
    """The anchor of an entry."""
    return f"erratum-{number.lower()}"


def linked(text):
    """The text with a link from every number of an entry to it, outside of formulas."""
    parts = re.split(r"(\$[^$]*\$|`[^`]*`)", text)
    for i in range(0, len(parts), 2):
        parts[i] = NUMBER.sub(lambda found: f"[{found[0]}](#{anchor(found[0])})", parts[i])
    return "".join(parts)


def link(table, chapter, heading):
    """A link to a section of a chapter."""
    target = f"../{table['folder']}/{chapter}.ipynb#{slug(heading)}"
    return f"[{CHAPTERS[chapter]}: {heading}]({target})"


def overview(head, rows, kinds):
    """The entries of a paper at a glance: number, title, kind."""
    lines = [f"| No. | {head} | Kind |", "|---|---|---|"]
    for row in rows:
        kind = kinds[row["kind"]].lower() + (", **serious**" if row.get("serious") else "")
        lines.append(f"| [{row['id']}](#{anchor(row['id'])}) | {row['title']} | {kind} |")
    return "\n".join(lines)


def tests_of(row):
    """The tests of an entry, each with a link to its file."""
    tests = (test.partition("::") for test in row["tests"])
    return ", ".join(f"[`{name}`]({REPOSITORY}/blob/main/{file})" for file, _, name in tests)


def script_of(row):
    """The counterexample of an erratum."""
    return SCRIPTS / f"{row['id'].lower()}.py"


def cell(row):
    """The counterexample: its file, and a cell that runs it."""
    path = script_of(row)
    code = path.read_text(encoding="utf-8").strip()
    return [
        f"**Counterexample** ({{download}}`{path.name} <counterexamples/{path.name}>`):",
        "",
        "```{code-cell} ipython3",
        ":tags: [hide-input]",
        "",
        code,
        "```",
    ]


def entry(table, row, kinds):
    """One erratum or remark: heading, what is printed, and a definition list."""
    parts = {
        "Wrong": linked(row.get("wrong", "")),
        "Correct": linked(row.get("correct", "")),
        "Consequences": linked(row.get("depends", "")),
        "See": ", ".join(link(table, *pair) for pair in row["links"]),
        "Tests": tests_of(row),
    }
    kind = kinds[row["kind"]] + (", **serious**" if row.get("serious") else "")
    lines = [f"({anchor(row['id'])})=", f"### {row['id']}: {row['title']}", ""]
    lines += [f"{kind} · {row['where']}"]
    if row.get("quote"):
        lines += ["", f"> “{row['quote']}”"]
    if row.get("text"):
        lines += ["", linked(row["text"])]
    definitions = [["", name, f": {text}"] for name, text in parts.items() if text]
    if kinds is REMARKS:
        return "\n".join(lines + sum(definitions, []))
    # The counterexample stands after what is wrong, before the correction.
    return "\n".join(lines + definitions[0] + ["", *cell(row)] + sum(definitions[1:], []))


def page(paper):
    """The page of one paper."""
    table = read_table(paper)
    trust = "\n".join(f"- {linked(line)}" for line in table["trust"])
    errata, remarks = table["erratum"], table.get("remark", [])
    serious = sum(row["serious"] for row in errata)
    verdict = f"verdict-{paper.replace('_', '-')}"
    text = [
        f"# {table['part']}, {table['paper']}: what to trust",
        f"({verdict})=\n- **What stands:** {linked(table['stands'])}\n- **What does not:** "
        f"{linked(table['fails'])}\n- **Why:** {linked(table['why'])}",
        f"To quote: {table['paper']} {{cite:p}}`{table['cite']}` has {len(errata)} errata "
        f"with counterexamples, {serious} of them serious (mvref {PROJECT['version']}, "
        f"<{HOME}book/errata/{paper}.html#{verdict}>).",
        "Numbers in brackets are the paper's equations. See [how to read an entry]"
        "(index.ipynb#how-to-read-an-entry) and [the verdicts on its results]"
        f"(#comes-out-{paper}). {table.get('note', '')}".strip(),
        f"**Holds as printed:**\n\n{trust}",
        "## Errata",
        overview("Erratum", errata, KINDS),
        *(entry(table, row, KINDS) for row in errata),
    ]
    if remarks:
        text += ["## Remarks", overview("Remark", remarks, REMARKS)]
        text += [entry(table, row, REMARKS) for row in remarks]
    return HEAD + "\n" + "\n\n".join(text) + "\n"


def main():
    for paper in PAPERS:
        (FOLDER / f"{paper}.md").write_text(page(paper), encoding="utf-8")


if __name__ == "__main__":
    main()
