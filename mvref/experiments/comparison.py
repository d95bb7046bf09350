"""Our numbers beside the paper's: ``python -m mvref compare ITEM``."""

import textwrap

import numpy as np
import pandas as pd

from .claims import CLAIMS
from .items import find_item
from .report import SUMMARY, read_paper_numbers, significance, summarize

WIDTH = 100


def compare(item, folder=None):
    """Set our numbers beside the paper's.

    Parameters
    ----------
    item : str
    folder : path, optional

    Returns
    -------
    text : str
        Our summary; where the paper prints a table, cell by cell beside it; then each number of
        the paper's text that concerns the item: the paper's, ours, the place, and why they may
        differ.

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
        lines += _tables(summary, cells, significance(item.full_name, folder))
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


def printed_cells(numbers):
    """Return the cells of the paper's table: what is printed with a spread.

    Parameters
    ----------
    numbers : DataFrame
        Rows of ``paper_numbers.csv``. The measures "accuracy", "accuracy_std" and
        "accuracy_arrow" are the three parts of one cell; the arrow is 1 where the paper marks the
        method as significantly worse than the best.

    Returns
    -------
    cells : DataFrame
        ``dataset``, ``method``, ``measure``, ``value``, ``std``, ``arrow``, ``note``.
    """
    key = ["dataset", "method", "measure"]
    cells = numbers[[*key, "value", "note"]]
    for part in ("std", "arrow"):
        of_part = numbers[numbers["measure"].str.endswith(f"_{part}")]
        of_part = of_part.assign(measure=of_part["measure"].str.removesuffix(f"_{part}"))
        of_part = of_part[[*key, "value"]].rename(columns={"value": part})
        cells = cells.merge(of_part, on=key)
    return cells


def _tables(summary, cells, tests):
    """One table per measure, then the reasons why a method's numbers may differ."""
    lines = []
    for measure in cells["measure"].unique():
        ours = summary[summary["measure"] == measure].merge(tests.drop(columns=["mean", "n"]))
        table = _beside(ours, cells[cells["measure"] == measure])
        lines += [measure, table.to_string(index=False), ""]
    lines += _wrapped(
        "rank sum, signed rank: p of Wilcoxon's tests against our best method, two-sided; an arrow "
        "(v) follows the paper's number where its authors found p < .02 by the rank-sum test."
    )
    for note, rows in cells[cells["note"] != ""].groupby("note", sort=False):
        lines += _wrapped(f"{', '.join(rows['method'].unique())}: {note}.")
    return lines


def _beside(ours, cells):
    """Join our rows and the paper's cells of one measure.

    "mnist2" in the paper is compared with our "mnist2-shift3", and its "MwMvC2" with all our
    variants of it, such as "MwMvC2-paper".
    """
    lines, seen = [], set()
    for row in ours.itertuples():
        line = {"dataset": row.dataset, "method": row.method, "n": row.n}
        line |= {"ours": f"{row.mean:.4f}", "95 %": f"{row.low:.4f} {row.high:.4f}"}
        line |= {"rank sum": _p(row.p_rank_sum, row), "signed rank": _p(row.p_signed_rank, row)}
        for cell in cells.itertuples():
            if row.dataset.startswith(cell.dataset) and row.method.split("-")[0] == cell.method:
                seen.add((cell.dataset, cell.method))
                line |= {"paper": _cell(cell), "difference": f"{row.mean - cell.value:+.4f}"}
        lines.append(line)
    for cell in cells.itertuples():
        if (cell.dataset, cell.method) not in seen:
            line = {"dataset": cell.dataset, "method": cell.method, "n": 0, "ours": "not yet"}
            lines.append(line | {"paper": _cell(cell)})
    columns = ["dataset", "method", "n", "ours", "95 %", "paper", "difference"]
    columns += ["rank sum", "signed rank"]
    return pd.DataFrame(
        [[line.get(name, "") for name in columns] for line in lines], columns=columns
    )


def _cell(cell):
    return f"{cell.value:.4f} +- {cell.std:.3f} {'v' if cell.arrow else ' '}"


def _p(p, row):
    """A p-value; words for the best method, and for too few repeats."""
    if row.method == row.best:
        return "best"
    return "" if np.isnan(p) else f"{p:.2g}"


def _points(summary):
    """Format a summary, one line per point, measures side by side."""
    if "measure" not in summary:
        return summary.round(4).to_string(index=False)
    text = summary["mean"].map("{:.4g}".format)
    spread = summary["std"].map(lambda s: "" if np.isnan(s) else f" +- {s:.2g}")
    names = [name for name in summary if name not in SUMMARY]
    table = summary[["dataset", "method"]].assign(
        **{name: summary[name].map(_parameter) for name in names},
        measure=summary["measure"],
        text=text + spread,
    )
    point = ["dataset", "method", *names]
    table = table.pivot(index=point, columns="measure", values="text").fillna("")
    return table.reset_index().to_string(index=False)


def _parameter(value):
    """A parameter's value as text that sorts; nothing where a point lacks it."""
    if isinstance(value, str):
        return value
    return f"{value:6g}" if np.isfinite(value) else ""


def _wrapped(text):
    return textwrap.wrap(text, WIDTH, initial_indent="  ", subsequent_indent="      ")
