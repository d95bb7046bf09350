"""The headline claim of each paper beside what came out: the first screen of the report."""

import tomllib
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from .engine import LEDGER
from .paired_tests import paired_interval
from .report import read_ledger, read_paper_numbers, with_parameters
from .reproduction import PAPERS, judge
from .verdict_text import linked, verdict_of


@dataclass(frozen=True)
class Headline:
    """An entry of the file, which says what its fields are."""

    paper: str
    quote: str
    claim: str
    item: str
    method: str
    rivals: list
    rows: str
    what: str
    by: tuple = ()
    paired: tuple = ()


def read_headlines():
    """The headline claims, one per paper."""
    entries = tomllib.loads((LEDGER / "verdicts/headlines.toml").read_text(encoding="utf-8"))
    return [Headline(**entry) for entry in entries["headline"]]


def _points(rows, item, query):
    """The rows of an item that a query on their parameters finds."""
    return with_parameters(rows[rows["item"] == item])[0].query(query)


def differences(headline, folder=None):
    """The method minus its best rival by mean, data set by data set, repeat by repeat."""
    rows = _points(read_ledger(headline.paper, folder), headline.item, headline.rows)
    found = {}
    for point, part in rows.groupby(["dataset", *headline.by]):
        # The sum of errors over digits; of the others there is one value each.
        values = part.pivot_table(index="repeat", columns="method", values="value", aggfunc="sum")
        best = values[values.columns.intersection(headline.rivals)].mean().idxmax()
        found[point] = (values[headline.method] - values[best]).dropna()
    return found


def over_images(headline, folder=None):
    """The stored difference on the same test images: mean of the draws, 95 % interval."""
    rows = _points(read_ledger(headline.paper, folder), *headline.paired)
    means = rows.groupby("measure")["value"].mean()
    half = stats.norm.ppf(0.975) * means["std_error"]
    return means["difference"], means["difference"] - half, means["difference"] + half


def printed_difference(headline):
    """The same difference of the paper's numbers; NaN where it prints none."""
    if not headline.item.startswith("table"):
        return np.nan
    cells = _points(read_paper_numbers(headline.paper), headline.item, headline.rows)
    values = cells.groupby("method")["value"].sum()
    return values[headline.method] - values[values.index.intersection(headline.rivals)].max()


def headlines(folder=None):
    """The headline claims: one row per paper.

    Returns ``says`` (verbatim), ``of`` (which difference), ``printed`` (that of the paper's
    numbers, NaN where it prints none), ``ours``, ``low`` and ``high`` (mean of the paired
    differences and its 95 % interval), and the row of :func:`reproduction_report` that judges it.
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
            values = found[0] if len(found) == 1 else [part.mean() for part in found]
            ours, low, high = paired_interval(values)
        line = {"says": headline.quote, "of": headline.what}
        line |= {"printed": printed_difference(headline), "ours": ours, "low": low, "high": high}
        lines.append(verdict | line)
    return pd.DataFrame(lines)


def headline_table(folder=None):
    """Write the headline claims as a Markdown table."""
    lines = ["| paper | what it says | what came out |", "|---|---|---|"]
    for _, row in headlines(folder).iterrows():
        form = "+.3f" if abs(row["ours"]) < 1 else "+.0f"
        printed = "" if np.isnan(row["printed"]) else f"the paper {row['printed']:{form}}, "
        ours = f"ours {row['ours']:{form}} ({row['low']:{form}} to {row['high']:{form}})"
        lines.append(
            f"| {PAPERS[row['paper']]} | “{row['says']}” | {verdict_of(row)}. "
            f"{row['of'][0].upper()}{row['of'][1:]}: {printed}{ours}. {linked(row['why'])} |"
        )
    return "\n".join(lines)
