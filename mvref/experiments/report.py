"""Reading the ledger: rows, summaries over repeats, and our numbers beside the paper's."""

import json
import textwrap
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from .claims import CLAIMS
from .engine import LEDGER, Ledger
from .items import find_item

SETTINGS = ("C",)  # measures that were chosen, not results to average


def read_ledger(paper="mvl_svm", folder=None):
    """Return the stored results of a paper.

    Parameters
    ----------
    paper : str
    folder : path, optional
        Default: the ledger that comes with mvref.

    Returns
    -------
    rows : DataFrame
        One row per measure; `parameter` is JSON text.

    Examples
    --------
    >>> from mvref.experiments import read_ledger
    >>> list(read_ledger("mvl_svm").columns[:6])
    ['paper', 'item', 'dataset', 'method', 'parameter', 'measure']
    """
    return Ledger(paper, Path(folder or LEDGER)).read()


def read_paper_numbers(paper="mvl_svm"):
    """Return what the paper's text says in numbers, with the place where it stands.

    Parameters
    ----------
    paper : str

    Returns
    -------
    numbers : DataFrame

    Examples
    --------
    >>> from mvref.experiments import read_paper_numbers
    >>> numbers = read_paper_numbers()
    >>> numbers.loc[numbers["measure"] == "landmarks_at_best", ["dataset", "value"]]
         dataset  value
    25     uwave   10.0
    26  flower17   50.0
    """
    numbers = pd.read_csv(LEDGER / "paper_numbers.csv", keep_default_na=False)
    return numbers[numbers["paper"] == paper].astype({"value": float})


def summarize(item, folder=None):
    """Summarise the repeats of an item.

    Parameters
    ----------
    item : str
    folder : path, optional
        Default: the ledger that comes with mvref.

    Returns
    -------
    summary : DataFrame
        One row per data set, method, parameter point (its own columns, such as ``L``) and
        measure: ``mean``, ``std`` (between repeats, n - 1), ``low`` and ``high`` (95 % interval
        of the mean by Student's t), ``n`` repeats. With one repeat the last three columns of
        spread are NaN. Official splits are averaged first, so that `std` is that of the mean
        over the splits; a repeat that lacks a split is left out. For Figure 4: ``accuracy``
        against ``train_seconds``.

    Examples
    --------
    >>> from mvref.experiments import summarize
    >>> {"dataset", "method", "measure", "mean", "std", "n"} <= set(summarize("fig2").columns)
    True
    """
    item = find_item(item)
    if item.name == "fig4" and item.paper == "mvl_svm":
        return _accuracy_over_time(folder)
    rows = read_ledger(item.paper, folder)
    rows = rows[(rows["item"] == item.name) & ~rows["measure"].isin(SETTINGS)]
    points = [json.loads(text) for text in rows["parameter"]]
    names = sorted({name for point in points for name in point})
    rows = rows.assign(**{name: [point.get(name, np.nan) for point in points] for name in names})
    group = ["dataset", "method", *[n for n in names if n != "split"], "measure"]
    if "split" in names:
        rows = _average_splits(rows, [*group, "repeat"])
    values = rows.groupby(group, dropna=False)["value"]
    summary = values.agg(["mean", "std", "count"]).rename(columns={"count": "n"})
    half = stats.t.ppf(0.975, np.maximum(summary["n"] - 1, 1)) * summary["std"]
    half /= np.sqrt(summary["n"])
    summary.insert(2, "low", summary["mean"] - half)
    summary.insert(3, "high", summary["mean"] + half)
    return summary.reset_index()


def _average_splits(rows, group):
    """Average over the splits of a repeat; drop repeats without the data set's every split."""
    means = rows.groupby(group, dropna=False)["value"].agg(["mean", "size"]).reset_index()
    complete = means["size"] == means.groupby("dataset")["size"].transform("max")
    return means[complete].rename(columns={"mean": "value"})


def _accuracy_over_time(folder):
    """Join Figure 2's accuracy with Figure 3's seconds."""
    point = ["dataset", "method", "L"]
    parts = []
    for item, measure in (("fig2", "accuracy"), ("fig3", "train_seconds")):
        summary = summarize(item, folder).reindex(columns=[*point, "measure", "mean", "std", "n"])
        part = summary[summary["measure"] == measure].drop(columns="measure")
        parts.append(part.rename(columns={"mean": measure}))
    times = parts[1].drop(columns=["std", "n"])
    return parts[0].merge(times, on=point)


def compare(item, folder=None):
    """Set our numbers beside the paper's.

    Parameters
    ----------
    item : str
    folder : path, optional

    Returns
    -------
    text : str
        Our summary, then each number of the paper's text that concerns the item: the paper's,
        ours, the place, and why they may differ.

    Examples
    --------
    >>> from mvref.experiments import compare
    >>> print(compare("fig3").splitlines()[0])
    mvl_svm fig3: training and test time over the number of landmarks
    """
    item = find_item(item)
    summary = summarize(item.name, folder)
    lines = [f"{item.paper} {item.name}: {item.title}", ""]
    lines += ["Ours (the paper has a picture only, no such number is printed)"]
    lines += [_table(summary) if len(summary) else f"none yet: python -m mvref run {item.name}"]
    numbers = read_paper_numbers(item.paper)
    lines += ["", "Numbers in the paper's text"]
    for row in numbers[numbers["item"].isin([item.name, "protocol"])].itertuples():
        if (item.paper, row.measure) not in CLAIMS:  # of a method that mvref does not have yet
            continue
        ours = CLAIMS[item.paper, row.measure](summary, row)
        of = " of ".join(filter(None, (row.method, row.dataset))) or "all"
        text = f"{row.measure} ({of}): paper {row.value:g} ({row.place}); ours {ours}"
        text += f". Why it may differ: {row.note}" if row.note else ""
        lines += textwrap.wrap(text, 100, initial_indent="  ", subsequent_indent="      ")
    return "\n".join(lines)


def _table(summary):
    """Format a summary, one line per point, measures side by side."""
    if "measure" not in summary:
        return summary.round(4).to_string(index=False)
    text = summary["mean"].map("{:.4g}".format)
    spread = summary["std"].map(lambda s: "" if np.isnan(s) else f" +- {s:.2g}")
    point = [c for c in ("dataset", "method", "missing", "L") if c in summary]
    table = summary[point].assign(measure=summary["measure"], text=text + spread)
    for name in ("missing", "L"):
        if name in table:
            table[name] = [f"{x:4g}" if np.isfinite(x) else "" for x in table[name]]
    table = table.pivot(index=point, columns="measure", values="text").fillna("")
    return table.reset_index().to_string(index=False)
