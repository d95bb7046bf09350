"""Verdicts and numbers as text, for the book and for ``python -m mvref report | compare``.

Three parts: the reproduction report, the headline claims, and our numbers beside the paper's for
one item.
"""

import json
import re
import tomllib
from types import SimpleNamespace

import numpy as np
import pandas as pd
from scipy import stats

from mvref.rivals import RECONSTRUCTIONS

from .engine import LEDGER
from .items import ITEMS, find_item
from .report import (
    SUMMARY,
    paired_interval,
    read_ledger,
    read_paper_numbers,
    summarize,
    with_parameters,
)
from .reproduction import (
    ANOTHER,
    CANNOT_TELL,
    CELLS,
    CHANGED,
    NOT_COMPARABLE,
    NOT_REPRODUCED,
    PAPERS,
    REPRODUCED,
    VERDICTS,
    judge,
    points_of,
)
from .words import AXES, NAMES, choice_of, readable

# Colour and hatch of a verdict in figures and in text.
LOOKS = dict(zip(VERDICTS, [
    ("#0072b2", ""), ("#56b4e9", "//"), ("#009e73", "\\\\"), ("#d55e00", ""), ("#e69f00", "xx"),
    ("#888888", ".."),
], strict=True))  # fmt: skip
SHOWN = 3  # nearest results by another protocol that a table shows for a method
# Intervals of quantities of at most 1 are cut at 1.
SHARES = ("accuracy", "f1", "alignment", "auroc", "prbep")
SIZES = "Sizes of the data set"  # not found by chance
FAR = 99  # standard deviations; larger numbers are not informative
# Rows that agree in all of these are one statement about several cells.
STATEMENT = ["verdict", "under", "tried", "near", "chance", "why", "by", "claim", "place"]
ERRATUM = re.compile(r"\b[ABPMN][1-9]\d?\b")


def reproduction_page(paper=None, folder=None):
    """Write the verdicts on a paper's tables and figures as Markdown.

    `paper` is one of the five, by default all of them, each with a heading; any other name raises a
    ValueError. `folder` contains the ledger, by default the one that comes with mvref. Each table
    and figure has a table of our numbers and the paper's, if the paper prints any, and then each
    statement with its verdict and the reason. Links are relative to the book's folder.

    >>> from mvref.experiments import reproduction_page
    >>> print(reproduction_page("mvm").splitlines()[0])
    <details class="report"><summary><b>Table 1</b> (1 not comparable)</summary>
    """
    if paper is None:
        pages = [f"## {title}\n\n{reproduction_page(key, folder)}" for key, title in PAPERS.items()]
        return "\n".join(pages)
    report, cells = judge(paper, folder)
    lines = []
    for item, rows in report.groupby("item", sort=False):
        counts = rows["verdict"].value_counts().reindex(VERDICTS).dropna()
        counted = ", ".join(f"{count:.0f} {verdict}" for verdict, count in counts.items())
        summary = f"<summary><b>{title_of(paper, item)}</b> ({counted})</summary>"
        lines += [f'<details class="report">{summary}', ""]
        for _, part in cells[cells["item"] == item].groupby("dataset", sort=False):
            lines += _table(part)
        for _, group in rows.groupby([*STATEMENT, "section", "measured"], sort=False, dropna=False):
            row = group.iloc[0]
            told = [f"- {verdict_of(row)}. {_claim(group)} ({row['place']}). {linked(row['why'])}"]
            if row["measured"].startswith("tests/"):
                told.append(f"Test: `{row['measured'].split('::')[1]}`.")
            lines.append(" ".join(told))
        links = [_section(paper, section) for section in rows["section"].unique() if section]
        lines += ["", f"Discussed in {', '.join(links)}.", "", "</details>", ""]
    return "\n".join(lines)


def verdict_table(paper, folder=None):
    """Write the verdicts on a paper's statements as one Markdown table.

    Each statement of the `paper` has a line with the claim, its place, the verdict and the reason.
    `folder` and the errors are as in :func:`reproduction_page`.

    >>> from mvref.experiments import verdict_table
    >>> print(verdict_table("mvm").splitlines()[0])
    | claim of the paper | place | verdict | reason |
    """
    lines = ["| claim of the paper | place | verdict | reason |", "|---|---|---|---|"]
    for _, rows in judge(paper, folder)[0].groupby(STATEMENT, sort=False, dropna=False):
        row = rows.iloc[0]
        cells = [_claim(rows), _place(row), verdict_of(row), linked(row["why"])]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines)


def standing(paper, folder=None):
    """Summarise in three lines of Markdown which statements of a paper are reproduced.

    The lines count the statements of the `paper` that are reproduced, that are not, and that remain
    undecided. `folder` and the errors are as in :func:`reproduction_page`.

    >>> from mvref.experiments import standing
    >>> len(standing("mvm").splitlines())
    3
    """
    report, _ = judge(paper, folder)
    counts = report["verdict"].value_counts().reindex(VERDICTS, fill_value=0)
    said = {verdict: f"{_mark(verdict)}: {counts[verdict]}" for verdict in VERDICTS}
    said[REPRODUCED] += f" of {len(report)} statements"
    lines = [(REPRODUCED, ANOTHER, CHANGED), (NOT_REPRODUCED,), (CANNOT_TELL, NOT_COMPARABLE)]
    return "\n".join(f"- {'; '.join(map(said.get, line))}." for line in lines)


def _mark(verdict):
    """Return a verdict in its colour."""
    return f'<span class="verdict {verdict.replace(" ", "-")}">{verdict.capitalize()}</span>'


def title_of(paper, item):
    """Return the heading of a table or a figure."""
    if item == "text":
        return "Claims in the text, without a table or figure"
    title, known = _numbered(item), f"{paper}.{item}"
    return f"{title}: {ITEMS[known].title}" if known in ITEMS else title


def _numbered(item):
    return item.replace("table", "Table ").replace("fig", "Figure ")


def _place(row):
    """Return a statement's place; for a section without a number, the figure that it describes."""
    by_name = re.match(r"section \D", row["place"]) and row["item"] != "text"
    return f"text on {_numbered(row['item'])}" if by_name else row["place"]


def anchor_of(heading):
    """Return the anchor of a heading in the built book, which leaves out formulas."""
    text = re.sub(r"\$[^$]*\$", "", heading).lower().replace(" ", "-")
    return re.sub(r"[^\w-]", "", text)


def _table(cells):
    """Write the cells of one data set as a Markdown table."""
    dataset, n_columns = cells["dataset"].iloc[0], 4
    if cells["measure"].str.startswith("n_").all():
        n_columns = 3  # sizes have no distance
    details = {result.point: _details(dataset, result) for result in cells["result"]}
    shared = [w for w in next(iter(details.values())) if all(w in d for d in details.values())]
    title = " ".join([NAMES.get(dataset, dataset), *(f"({word})" for word in shared)])
    rows = [[title, "ours", "paper", "distance"]]
    cells = _nearest(cells).reset_index(drop=True)
    first = cells.reset_index().groupby(["method", "measure", "parameter"])["index"]
    for cell in cells.loc[first.transform("min").sort_values(kind="stable").index].itertuples():
        own = [word for word in details[cell.point] if word not in shared]
        rows.append([_name(cell, own), _ours(cell), _paper(cell), _apart(cell)])
    head, *lines = dict.fromkeys("| " + " | ".join(row[:n_columns]) + " |" for row in rows)
    return [head, "|" + "---|" * n_columns, *lines, ""]


def _nearest(cells):
    """Return the cells of the `SHOWN` nearest points of each protocol and row."""
    kept = []
    for (_, protocol), part in cells.groupby(["row", "protocol"], sort=False):
        shown = part if protocol == "other data" else points_of(part).head(SHOWN)
        kept.append(part[part["point"].isin(shown["point"])])
    return pd.concat(kept).sort_index()


def _details(dataset, result):
    """Describe how one of our results differs: another data set, other parameters."""
    another = result.item != "data" and result.dataset != dataset
    words = [f"ours: {NAMES.get(result.dataset, result.dataset)}"] if another else []
    for axis, choice in result.at.items():
        words.append(f"{AXES.get(axis, axis).split(' of ')[0]} {choice_of(axis, choice)}")
    return words


def _name(cell, details):
    """Return the label of a line of a table."""
    own = cell.result.item == "data" or cell.result.method == "*"
    words = [labelled(cell.method if own else cell.result.method)]
    words += [f"{name} {value}" for name, value in json.loads(cell.parameter).items()]
    if cell.measure != "errors":
        words.append(NAMES.get(cell.measure, cell.measure.removeprefix("n_")))
    return ", ".join(filter(None, words + details))


def _apart(cell):
    """Return the distance, in bold if it exceeds the tolerance."""
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
    form, low, high = _digits(cell), cell.low, cell.high
    if np.isnan(cell.ours):
        return "–"
    if np.isnan(low) or low == high:
        return f"{cell.ours:{form}}"
    if cell.measure in SHARES:
        low, high = max(low, 0.0), min(high, 1.0)
    return f"{cell.ours:{form}} ({low:{form}}–{high:{form}})"


def _paper(cell):
    form = ".0f" if cell.measure == "errors" else _digits(cell)
    spread = "" if np.isnan(cell.printed_std) else f" ±\N{NO-BREAK SPACE}{cell.printed_std:.3f}"
    return f"{cell.printed:{form}}{spread}"


def _claim(rows):
    """Return the paper's claim; for the cells of a table, with their data sets and methods."""
    claim = readable(rows["claim"].iloc[0].rstrip("."))
    if rows["by"].iloc[0] == "words":
        return claim
    of = rows.groupby("dataset", sort=False)["method"].agg(
        lambda names: ", ".join(map(labelled, filter(None, names)))
    )
    names = [f"{methods} on {dataset}" if methods else dataset for dataset, methods in of.items()]
    return f"{claim}: {readable('; '.join(names))}"


def labelled(method):
    """Return the name of a method or of its variant, marked if it is a reconstruction."""
    return f"{method} (reconstruction)" if method.split("-")[0] in RECONSTRUCTIONS else method


def verdict_of(row):
    """Return the verdict in its colour, with the protocols that were tried."""
    verdict, tried, told = row["verdict"], row["tried"], []
    if tried > 1 or verdict == NOT_REPRODUCED and tried:
        told.append(f"{row['near']} of {tried} protocols")
        if verdict == NOT_REPRODUCED and row["nearest"] < FAR:
            told.append(f"the nearest {row['nearest']:.1f} SD away")
    if row["by"] == "rule" and tried and row["claim"] != SIZES:
        told.append(f"{row['chance']:.0%} of invented numbers")
    under = f": {row['under']}" if verdict in (ANOTHER, CHANGED) and row["under"] else ""
    shown = f"{_mark(verdict)}{under}"
    return f"{shown} ({', '.join(told)})" if told else shown


def _section(paper, section):
    """Return a link to a section of the paper's part."""
    chapter, heading = section.split("#", 1)
    text = re.sub(r"[$`]", "", heading)
    return f"[{chapter.capitalize()}: {text}]({paper}/{chapter}.ipynb#{anchor_of(heading)})"


def linked(text):
    """Return the text with names in words, and a link from every erratum number to its entry."""
    return ERRATUM.sub(lambda found: f"[{found[0]}](#erratum-{found[0].lower()})", readable(text))


# The headline claims ------------------------------------------------------------------------------


def read_headlines():
    """Return the headline claims; the file describes its fields."""
    entries = tomllib.loads((LEDGER / "verdicts/headlines.toml").read_text(encoding="utf-8"))
    blank = {"by": [], "paired": [], "powers": False}
    return [SimpleNamespace(**blank | entry) for entry in entries["headline"]]


def _points(rows, item, query):
    """Return the rows of an item that match a query on their parameters."""
    return with_parameters(rows[rows["item"] == item])[0].query(query)


def differences(headline, folder=None):
    """Return the method minus its best rival by mean, for each data set and repeat."""
    rows = _points(read_ledger(headline.paper, folder), headline.item, headline.rows)
    found = {}
    for point, part in rows.groupby(["dataset", *headline.by]):
        # The sum of errors over digits; other measures have one value each.
        values = part.pivot_table(index="repeat", columns="method", values="value", aggfunc="sum")
        values = values.fillna(values.mean().where(values.count() == 1))  # a deterministic method
        values = np.log10(values) if headline.powers else values
        best = values[values.columns.intersection(headline.rivals)].mean().idxmax()
        found[point] = (values[headline.method] - values[best]).dropna()
    return found


def over_images(headline, folder=None):
    """Return the stored difference on the same test images: mean of the draws, 95 % interval."""
    rows = _points(read_ledger(headline.paper, folder), *headline.paired)
    means = rows.groupby("measure")["value"].mean()
    half = stats.norm.ppf(0.975) * means["std_error"]
    return means["difference"], means["difference"] - half, means["difference"] + half


def printed_difference(headline):
    """Return the same difference of the paper's numbers; NaN if it prints none."""
    if not headline.item.startswith("table"):
        return np.nan
    cells = _points(read_paper_numbers(headline.paper), headline.item, headline.rows)
    values = cells.groupby("method")["value"].sum()
    return values[headline.method] - values[values.index.intersection(headline.rivals)].max()


def headlines(folder=None):
    """Return the headline claims, with a row for each half that is judged on its own.

    The columns are ``says`` (verbatim), ``of`` (which difference), ``because``, ``printed`` (the
    difference of the paper's numbers, NaN if it prints none), ``ours``, ``low`` and ``high`` (mean
    of the paired differences and its 95 % confidence interval, NaN after one run), and the columns
    of the row of :func:`reproduction_report` that judges the claim.
    """
    report, _ = judge(None, folder)
    lines = []
    for headline in read_headlines():
        same = (report["paper"] == headline.paper) & (report["claim"] == headline.claim)
        [verdict] = report[same].to_dict("records")
        if headline.paired:
            ours, low, high = over_images(headline, folder)
        else:
            found = list(differences(headline, folder).values())
            # Several data sets or measures: each counts once, by its mean.
            values = list(found[0]) if len(found) == 1 else [part.mean() for part in found]
            once = len(values) == 1
            ours, low, high = (*values, np.nan, np.nan) if once else paired_interval(values)
        line = {"says": headline.quote, "of": headline.what, "because": headline.because}
        line |= {"printed": printed_difference(headline), "ours": ours, "low": low, "high": high}
        lines.append(verdict | line)
    return pd.DataFrame(lines)


def headline_table(folder=None):
    """Write the headline claims as a Markdown table; folded below it the quotations and reasons."""
    lines = ["| paper | verdict | difference | reported | ours (95 % CI) |", "|" + "---|" * 5]
    told = ['<details class="report"><summary>Quotations and reasons</summary>', ""]
    for _, row in headlines(folder).iterrows():
        form = "+.3f" if abs(row["ours"]) < 1 else "+.0f"
        printed = "–" if np.isnan(row["printed"]) else f"{row['printed']:{form}}"
        spread = f"{row['low']:{form}} to {row['high']:{form}}".replace("+nan to +nan", "one run")
        because = row["because"] + "; the interval contains zero" * (row["low"] < 0 < row["high"])
        paper, verdict = PAPERS[row["paper"]], verdict_of(row)
        numbers = f"{printed} | {row['ours']:{form}} ({spread})"
        lines.append(f"| {paper} | {verdict}: {because} | {row['of']} | {numbers} |")
        told.append(f"- {paper}: “{row['says']}” {verdict}. {linked(row['why'])}")
    return "\n".join([*lines, "", *told, "", "</details>"])


# One item: python -m mvref compare ITEM -----------------------------------------------------------


def compare(item, folder=None):
    """Write our numbers of an item beside the paper's, as a text.

    If the paper prints a table, these are the tables of the report on the `item`; otherwise they
    are our means. `folder` contains the ledger, by default the one that comes with mvref.

    >>> from mvref.experiments import compare
    >>> print(compare("mvl_svm.fig3").splitlines()[0])
    mvl_svm.fig3: training and test time over the number of landmarks
    """
    item = find_item(item)
    summary = summarize(item.full_name, folder)
    lines = [f"{item.full_name}: {item.title}", ""]
    cells = judge(item.paper, folder)[1] if item.paper in PAPERS else pd.DataFrame(columns=CELLS)
    for _, part in cells[cells["item"] == item.name].groupby("dataset", sort=False):
        lines += _table(part)
    if summary.empty:
        lines += [f"none yet: python -m mvref run {item.full_name}"]
    elif len(lines) == 2:
        lines += ["The paper prints no such numbers. Our means:", _means(summary)]
    return "\n".join(lines)


def _means(summary):
    """Write a line for each point, with its measures side by side."""
    if "measure" in summary:
        point = [name for name in summary if name not in SUMMARY[2:]]
        summary = summary.pivot(index=point, columns="measure", values="mean").reset_index()
    return summary.round(4).to_string(index=False, na_rep="")
