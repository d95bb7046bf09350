"""The reproduction report as text: Markdown, for the book and for ``python -m mvref report``."""

import json
import re

import numpy as np

from .items import ITEMS
from .reproduction import PAPERS, judge

KINDS = {"fig": "Figure", "table": "Table"}
CHAPTERS = {"derive": "Derive", "run": "Run", "validate": "Validate"}
FAR = 99  # standard deviations: beyond, their number tells nothing
ERRATUM = re.compile(r"\b[ABPMN][1-9]\d?\b")


def reproduction_page(paper=None, folder=None):
    """Write the verdicts on a paper's tables and figures as Markdown.

    Parameters
    ----------
    paper : str, optional
        Default: all papers, each with a heading.
    folder : path, optional
        Default: the ledger that comes with mvref.

    Returns
    -------
    text : str
        For each table and figure: where the paper prints numbers, a table of ours and theirs; then
        each statement with its verdict and the reason. Links are relative to the book's folder.

    Raises
    ------
    ValueError
        If the paper is not one of the five.

    Examples
    --------
    >>> from mvref.experiments import reproduction_page
    >>> print(reproduction_page("mvm").splitlines()[0])
    **Table 1**
    """
    if paper is None:
        pages = [f"## {title}\n\n{reproduction_page(key, folder)}" for key, title in PAPERS.items()]
        return "\n".join(pages)
    if paper not in PAPERS:
        raise ValueError(f"paper must be one of {list(PAPERS)}, got {paper!r}.")
    report, cells = judge(paper, folder)
    lines = []
    for item, rows in report.groupby("item", sort=False):
        lines += [f"**{title_of(paper, item)}**", ""]
        for _, part in cells[cells["item"] == item].groupby("dataset", sort=False):
            lines += _table(part)
        alike = ["verdict", "why", "by", "claim", "place", "numbers", "told", "measured"]
        for key, group in rows.groupby(alike, sort=False):
            lines += _statement(paper, group, dict(zip(alike, key, strict=True)))
        lines += [""]
    return "\n".join(lines)


def title_of(paper, item):
    """Return the heading of a table or a figure.

    Parameters
    ----------
    paper, item : str

    Returns
    -------
    title : str

    Examples
    --------
    >>> from mvref.experiments.reproduction_page import title_of
    >>> title_of("mvl_svm", "fig2")
    'Figure 2: test accuracy over the number of landmarks'
    """
    if item == "text":
        return "In the text, without a table or a figure"
    kind, number = re.fullmatch("([a-z]+)([0-9]+)", item).groups()
    known = ITEMS.get(f"{paper}.{item}")
    return f"{KINDS[kind]} {number}" + (f": {known.title}" if known else "")


def anchor_of(heading):
    """Return the anchor that a heading gets in the built book: formulas are no part of it.

    Parameters
    ----------
    heading : str

    Returns
    -------
    anchor : str

    Examples
    --------
    >>> from mvref.experiments.reproduction_page import anchor_of
    >>> anchor_of("Figure 2: methods for several views")
    'figure-2-methods-for-several-views'
    """
    text = re.sub(r"\$[^$]*\$", "", heading).lower().replace(" ", "-")
    return re.sub(r"[^\w-]", "", text)


def _table(cells):
    """Cells of one data set as a Markdown table."""
    sizes = cells["measure"].str.startswith("n_").all()
    details = {point: _details(cells["dataset"].iloc[0], point) for point in cells["point"]}
    shared = [
        word for word in next(iter(details.values())) if all(word in d for d in details.values())
    ]
    title = " ".join([cells["dataset"].iloc[0], *(f"({word})" for word in shared)])
    lines = [f"| {title} | ours | paper |" + ("" if sizes else " apart |")]
    lines += ["|---|---|---|" + ("" if sizes else "---|")]
    cells = cells.reset_index(drop=True)
    first = cells.reset_index().groupby(["method", "measure", "parameter"])["index"]
    for i in first.transform("min").sort_values(kind="stable").index:
        cell = cells.loc[i]
        own = [word for word in details[cell.point] if word not in shared]
        line = f"| {_name(cell, own)} | {_ours(cell)} | {_paper(cell)} |"
        lines.append(line + ("" if sizes else f" {_apart(cell)} |"))
    return [*lines, ""]


def _details(dataset, point):
    """What is particular about a point of ours: another data set, other parameters."""
    if point == "data":
        return []
    _, ours, _, *options = point.split()
    other = [] if ours == dataset else [f"ours: {ours}"]
    return other + [option.replace("=", " ") for option in options]


def _name(cell, details):
    """What a line of a table is about."""
    parameter = json.loads(cell.parameter)
    method = cell.method if cell.point == "data" else cell.point.split()[2]
    words = [method, *(f"{name} {value}" for name, value in parameter.items())]
    if cell.measure != "errors":
        words.append(cell.measure.removeprefix("n_"))
    return ", ".join(filter(None, words + details))


def _apart(cell):
    """The distance, in bold where it is beyond the tolerance."""
    if np.isnan(cell.distance):
        return "–"
    if abs(cell.distance) > FAR:
        return f"**> {FAR}**" if cell.distance > 0 else f"**< -{FAR}**"
    number = f"{cell.distance:+.1f}" if abs(cell.distance) >= 0.05 else "0.0"
    return number if cell.within else f"**{number}**"


def _digits(cell):
    if cell.measure.startswith("n_"):
        return ".0f"
    return ".1f" if cell.measure == "errors" else ".3f"


def _ours(cell):
    form = _digits(cell)
    if np.isnan(cell.ours):
        return "–"
    if np.isnan(cell.low) or cell.low == cell.high:
        return f"{cell.ours:{form}}"
    return f"{cell.ours:{form}} ({cell.low:{form}}–{cell.high:{form}})"


def _paper(cell):
    form = ".0f" if cell.measure == "errors" else _digits(cell)
    spread = "" if np.isnan(cell.printed_std) else f" ±\N{NO-BREAK SPACE}{cell.printed_std:.3f}"
    return f"{cell.printed:{form}}{spread}"


def _statement(paper, rows, row):
    """One statement, or several cells with one verdict and one reason, as a list entry."""
    verdict = row["verdict"][0].upper() + row["verdict"][1:]
    claim = row["claim"].rstrip(".")
    if row["by"] == "rule":
        of = rows.groupby("dataset", sort=False)["method"].agg(", ".join)
        names = [
            f"{dataset} ({methods})" if methods else dataset for dataset, methods in of.items()
        ]
        claim = f"{claim}: {'; '.join(names)}"
    parts = [f"- **{verdict}.** {claim} ({row['place']}).", _linked(row["why"])]
    if row["numbers"]:
        parts.append(f"In numbers: {row['numbers']}.")
    if row["told"]:
        chapter, heading = row["told"].split("#", 1)
        target = f"{paper}/{chapter}.ipynb#{anchor_of(heading)}"
        parts.append(f"See [{CHAPTERS[chapter]}]({target}).")
    if row["measured"].startswith("tests/"):
        parts.append(f"Test: `{row['measured'].split('::')[1]}`.")
    return [" ".join(parts)]


def _linked(text):
    """The text with a link from every number of an erratum to its entry."""
    return ERRATUM.sub(lambda found: f"[{found[0]}](#erratum-{found[0].lower()})", text)
