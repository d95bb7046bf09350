"""Write the pages of errata, one for each paper, from the tables beside this file.

python book/errata/pages.py

A table is a TOML file: what to trust, and the errata, each with the statement as printed, the
correct one, the measurement that tells them apart, the section of the chapter that discusses it,
and the tests that repeat the measurement.
"""

import re
import tomllib
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
PAPERS = ("mvl_svm", "mwmvc2", "mvpo", "mvm", "mvna_kmhks")
KINDS = {
    "false": "False statement",
    "gap": "Gap",
    "omission": "Omission",
    "experiment": "Experiment",
    "slip": "Slip",
}
NUMBER = re.compile(r"\b[ABPMN][1-9]\d?\b")
CHAPTERS = {"derive": "Derive", "run": "Run", "validate": "Validate"}


def read_table(paper):
    """The whole table of one paper."""
    return tomllib.loads((FOLDER / f"{paper}.toml").read_text(encoding="utf-8"))


def read_errata():
    """The errata of all papers in one list, each with the name of its paper."""
    tables = [read_table(paper) for paper in PAPERS]
    return [{"paper": table["paper"]} | row for table in tables for row in table["erratum"]]


def slug(heading):
    """The anchor that a heading gets in the built book: formulas are not part of it."""
    text = re.sub(r"\$[^$]*\$", "", heading).lower().replace(" ", "-")
    return re.sub(r"[^\w-]", "", text)


def anchor(number):
    """The anchor of an erratum."""
    return f"erratum-{number.lower()}"


def linked(text):
    """The text with a link from every number of an erratum to its entry, outside of formulas."""
    parts = re.split(r"(\$[^$]*\$|`[^`]*`)", text)
    for i in range(0, len(parts), 2):
        parts[i] = NUMBER.sub(lambda found: f"[{found[0]}](#{anchor(found[0])})", parts[i])
    return "".join(parts)


def link(table, chapter, heading):
    """A link to a section of a chapter."""
    target = f"../{table['folder']}/{chapter}.ipynb#{slug(heading)}"
    return f"[{CHAPTERS[chapter]}: {heading}]({target})"


def overview(rows):
    """The errata of a paper at a glance: number, title, kind."""
    lines = ["| | Erratum | Kind |", "|---|---|---|"]
    for row in rows:
        kind = KINDS[row["kind"]].lower() + (", **serious**" if row["serious"] else "")
        lines.append(f"| [{row['id']}](#{anchor(row['id'])}) | {row['title']} | {kind} |")
    return "\n".join(lines)


def tests_of(row):
    """The tests of an erratum, file by file."""
    files = {}
    for test in row["tests"]:
        file, _, name = test.partition("::")
        files.setdefault(file, []).append(f"`{name}`")
    return "; ".join(f"{', '.join(names)} in `{file}`" for file, names in files.items())


def entry(table, row):
    """One erratum: its heading, and a definition list."""
    kind = KINDS[row["kind"]] + (", **serious**" if row["serious"] else "")
    parts = {
        "Printed": row["printed"],
        "Correct": linked(row["correct"]),
        "How we know": linked(row["known"]),
        "Told in": ", ".join(link(table, *pair) for pair in row["links"]),
        "Tested in": tests_of(row),
    }
    lines = [
        f"({anchor(row['id'])})=",
        f"## {row['id']}: {row['title']}",
        "",
        f"{kind} · {row['where']}",
    ]
    for name, text in parts.items():
        lines += ["", name, f": {text}"]
    return "\n".join(lines)


def page(paper):
    """The page of one paper."""
    table = read_table(paper)
    trust = "\n".join(f"- {linked(line)}" for line in table["trust"])
    rows = table["erratum"]
    opening = f"""# {table["part"]}, {table["paper"]}: what to trust

{table["summary"].strip()}

*Paper:* {{cite}}`{table["cite"]}`. Numbers in brackets are its equations. The words that describe
the kinds are explained on [the page before](index.ipynb).

**Holds as printed:**

{trust}

**Does not, {len(rows)} errata:**

{overview(rows)}
"""
    return "\n\n".join([opening.strip(), *(entry(table, row) for row in rows)]) + "\n"


def main():
    for paper in PAPERS:
        (FOLDER / f"{paper}.md").write_text(page(paper), encoding="utf-8")


if __name__ == "__main__":
    main()
