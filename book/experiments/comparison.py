"""Our numbers beside the paper's: ``python -m mvref compare ITEM``."""

import json
import textwrap

import numpy as np
import pandas as pd

from .claims import CLAIMS
from .items import find_item
from .paired_tests import paired_significance
from .report import SUMMARY, read_paper_numbers, significance, summarize

WIDTH = 100
TOLERANCE = 2.0  # standard deviations of a repeat
PART = r"_(std|arrow|p)$"  # of a measure's name
TESTS = {
    "rank sum": "p_rank_sum", "signed rank": "p_signed_rank",
    "paired t": "p_paired", "corrected t": "p_corrected", "Holm": "p_holm",
}  # fmt: skip
RANKS = (
    "rank sum, signed rank: p of Wilcoxon's tests against our best method, two-sided; Holm: the "
    "latter, corrected for all cells of the measure; an arrow (v) follows the paper's number where "
    "its authors found p < .02 by the rank-sum test."
)
PAIRED = (
    "two-sided p of the paper's t-test, of the same test of our numbers, and of the one corrected "
    "for splits that share samples, and by Holm for all cells of the table; an arrow (v) where the "
    "paper says p < .05. All against the accuracy"
)


def compare(item, folder=None):
    """Set our numbers beside the paper's.

    Parameters
    ----------
    item : str
    folder : path, default that of the ledger that comes with mvref

    Returns
    -------
    text : str
        Our summary; where the paper prints a table, cell by cell beside it; then each number of the
        paper's text that concerns the item: the paper's, ours, the place, why they may differ.

    See Also
    --------
    reproduction_cells : All papers, cell by cell.

    Examples
    --------
    >>> from mvref.experiments import compare
    >>> print(compare("mvl_svm.fig3").splitlines()[0])
    mvl_svm.fig3: training and test time over the number of landmarks
    """
    item = find_item(item)
    summary = summarize(item.full_name, folder)
    numbers = read_paper_numbers(item.paper)
    cells = printed_cells(numbers[numbers["item"] == item.name])
    lines = [f"{item.full_name}: {item.title}", ""]
    if len(cells):
        lines += ["Ours (mean of n repeats, 95 % interval) beside the paper's table", ""]
        lines += _tables(summary, cells, item.full_name, folder)
    else:
        lines += ["Ours (the paper prints no such number)"]
        lines += [_points(summary)] if len(summary) else []
    if summary.empty:
        lines += [f"none yet: python -m mvref run {item.full_name}"]
    lines += ["", "Numbers in the paper's text"]
    for row in numbers[numbers["item"].isin([item.name, "protocol", "data"])].itertuples():
        if row.measure not in CLAIMS[item.paper]:  # of a method that mvref does not have yet
            continue
        claim = CLAIMS[item.paper][row.measure]
        ours = claim(summary, row) if callable(claim) else f"{claim:g}"
        of = " of ".join(filter(None, (row.method, row.dataset))) or "all"
        text = f"{row.measure} ({of}): paper {row.value:g} ({row.place}); ours {ours}"
        lines += _wrapped(text + (f". Why it may differ: {row.note}" if row.note else ""))
    return "\n".join(lines)


def distance(ours, printed, *, std=np.nan, printed_std=np.nan, measure=""):
    r"""Return how far two means are apart, in standard deviations of a repeat of both.

    ours, printed: our mean and the paper's; std, printed_std: standard deviations between repeats.
    Where the paper prints none, ours stands for both; measure: numbers of errors on a fixed test
    part have no repeats: their variance is the number itself. Sizes of data sets, measures that
    begin with "n\_", have no spread.
    """
    if measure.startswith("n_"):
        spread = 0.0
    elif measure == "errors":
        spread = np.sqrt(ours + printed)
    else:
        spread = np.hypot(std, std if np.isnan(printed_std) else printed_std)
    gap = float(ours - printed)
    if gap == 0 or np.isnan(gap):
        return gap
    return gap / float(spread) if spread else float(np.copysign(np.inf, gap))


def printed_cells(numbers):
    """Return the cells of the paper's table: what it prints there for a method.

    numbers: rows of ``paper_numbers.csv``. The measures "accuracy", "accuracy_std",
    "accuracy_arrow" and "accuracy_p" are parts of one cell, of which some may be missing; the arrow
    is 1 where the paper marks the method as significantly worse than another, by a test with p.
    """
    key = ["dataset", "method", "parameter", "measure"]
    numbers = numbers[numbers["place"].str.startswith("Table ")]
    parts = numbers["measure"].str.extract(PART)[0]
    cells = numbers.loc[parts.isna(), [*key, "value", "note"]]
    numbers = numbers.assign(measure=numbers["measure"].str.replace(PART, "", regex=True))
    for part in ("std", "arrow", "p"):
        of_part = numbers.loc[parts == part, [*key, "value"]].rename(columns={"value": part})
        cells = cells.merge(of_part, on=key, how="left")
    return cells


def _tables(summary, cells, item, folder):
    """One table per measure, then the reasons why a method's numbers may differ."""
    lines, tests = [], {}
    for measure in cells["measure"].unique():
        of_measure = cells[cells["measure"] == measure]
        ours = summary[summary["measure"] == measure]
        if of_measure["p"].notna().any():
            reference = of_measure.loc[of_measure["p"].isna(), "method"].iloc[0]
            found = paired_significance(item, reference, measure, folder)
            ours = ours.merge(found.drop(columns=["difference", "n"]), how="left")
            tests[f"paper p, paired t, corrected t: {PAIRED} of {reference}."] = None
        elif of_measure["arrow"].notna().any():
            ours = ours.merge(significance(item, folder).drop(columns=["mean", "n"]))
            tests[RANKS] = None
        table = _beside(ours, of_measure)
        lines += [measure, table.to_string(index=False), ""]
    for text in tests:
        lines += _wrapped(text)
    for note, rows in cells[cells["note"] != ""].groupby("note", sort=False):
        lines += _wrapped(f"{', '.join(rows['method'].unique())}: {note}.")
    return lines


def _beside(ours, cells):
    """Join our rows and the paper's cells of one measure.

    "mnist2" in the paper is compared with our "mnist2-shift3", its "MwMvC2" with all our variants
    of it, such as "MwMvC2-paper", and a cell without parameters with all our points.
    """
    digits = ".4f" if cells["value"].max() <= 1 else ".2f"
    fixed = {*SUMMARY, "best", *TESTS.values()}
    names = [name for name in ours if name not in fixed and ours[name].nunique() > 1]
    tests = {title: p for title, p in TESTS.items() if p in ours}
    lines, seen = [], set()
    for row in ours.itertuples():
        line = {"dataset": row.dataset, "method": row.method, "n": row.n}
        line |= {name: getattr(row, name) for name in names} | {"ours": f"{row.mean:{digits}}"}
        if not np.isnan(row.low):
            line["95 %"] = f"{row.low:{digits}} {row.high:{digits}}"
        best = row.method == getattr(row, "best", None)
        line |= {title: "best" if best else _p(getattr(row, p)) for title, p in tests.items()}
        for cell in cells.itertuples():
            if _is_of(cell, row):
                seen.add(cell.Index)
                line |= {"paper": _cell(cell, digits), "paper p": _p(cell.p)}
                line["difference"] = f"{row.mean - cell.value:+{digits}}"
        lines.append(line)
    for cell in cells.itertuples():
        if cell.Index not in seen:
            line = {"dataset": cell.dataset, "method": cell.method, "n": 0, "ours": "not yet"}
            lines.append(line | json.loads(cell.parameter) | {"paper": _cell(cell, digits)})
    printed_p = ["paper p"] if cells["p"].notna().any() else []
    columns = ["dataset", "method", *names, "n", "ours", "95 %", "paper", "difference"]
    columns += printed_p + list(tests)
    return pd.DataFrame({name: [line.get(name, "") for line in lines] for name in columns})


def _is_of(cell, row):
    """Whether a cell of the paper's table is what a row of ours may be compared with."""
    return (
        row.dataset.startswith(cell.dataset)
        and row.method.split("-")[0] == cell.method
        and all(getattr(row, k, None) == value for k, value in json.loads(cell.parameter).items())
    )


def _cell(cell, digits):
    spread = "" if np.isnan(cell.std) else f" +- {cell.std:.3f}"
    return f"{cell.value:{digits}}{spread} {'v' if cell.arrow == 1 else ' '}"


def _p(p):
    """A p-value; nothing for too few repeats."""
    return "" if np.isnan(p) else f"{p:.2g}"


def _points(summary):
    """Format a summary, one line per point, measures side by side."""
    if "measure" not in summary:
        return summary.round(4).to_string(index=False)
    text = summary["mean"].map("{:.4g}".format)
    spread = summary["std"].map(lambda s: "" if np.isnan(s) else f" +- {s:.2g}")
    point = [name for name in summary if name not in SUMMARY[2:]]
    table = summary[point].map(_parameter).assign(measure=summary["measure"], text=text + spread)
    table = table.pivot(index=point, columns="measure", values="text").fillna("")
    return table.reset_index().to_string(index=False)


def _parameter(value):
    """A value as text that sorts; nothing where a point lacks it."""
    if isinstance(value, str):
        return value
    return f"{value:6g}" if np.isfinite(value) else ""


def _wrapped(text):
    return textwrap.wrap(text, WIDTH, initial_indent="  ", subsequent_indent="      ")
