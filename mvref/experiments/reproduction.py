"""What came out again: every table and figure of the five papers, with a verdict.

``verdicts.csv`` has a row for each statement: the paper, the table or figure, the statement in one
sentence, the place where it stands, the verdict and why. Rows of two kinds:

cells     They name a method of a printed table (or a data set of a table of sizes) and which of
          our results belong to it: ``ours``. Their verdict follows from the numbers by
          :func:`verdict_by_rule`; the stored one is compared with it by a test.
words     What the text says about a table or a figure. Somebody has judged; ``measured`` names the
          test, or the line of the chapter, where the numbers behind the judgement are computed.

``ours`` is a list of alternatives, separated by " | ", each of the form
``protocol: item dataset method name=value ...``, or ``protocol: data`` for the sizes of a data set.
The protocol is one of

as printed         what the paper prints, and our choice where it prints nothing;
another protocol   another reading of what it leaves open, or what its numbers imply;
other data         not the data, or not the problem, of the paper: shown, and not judged.
"""

import json

import numpy as np
import pandas as pd

from .claims import CLAIMS
from .comparison import printed_cells
from .engine import LEDGER
from .items import ITEMS
from .report import SUMMARY, read_paper_numbers, summarize

VERDICTS = ("reproduced", "reproduced under another protocol", "not reproduced", "not comparable")
PROTOCOLS = ("as printed", "another protocol", "other data")
TOLERANCE = 2.0  # standard deviations of a repeat
PAPERS = {
    "mvl_svm": "MVL-SVM", "mwmvc2": "MwMvC²", "mvpo": "MVPO", "mvm": "MVM",
    "mvna_kmhks": "MVNA-KMHKS",
}  # fmt: skip
# What the text of a paper says in numbers, in words; 1 stands for a statement without a number.
PHRASES = {
    "landmarks_at_best": "landmarks that reach the best accuracy",
    "exponent_of_L": "power of the number of landmarks",
    "ratio_before_drop": "share of missing views before the drop",
    "gain_min_accuracy": "least gain in accuracy (%)",
    "gain_max_accuracy": "largest gain in accuracy (%)",
    "gain_min_f1": "least gain in F1 (%)",
    "gain_max_f1": "largest gain in F1 (%)",
    "place_from_last": "place, counted from the last",
    "rising_steps": "share of the steps that rise",
    "n_exceptions": "exceptions",
    "f1_above": "an F1 above which only MVPO is",
    "f1_of_rivals_below": "an F1 below which the others are",
    "f1_seconds": "seconds to train for F1",
    "f1_seconds_small_C1": "seconds to train for F1 with a small C1",
    "converged": "share that converges",
    "above_STM": "share of the cells ahead of STM",
    "above_FM": "share of the cells ahead of FM",
    "above_FM-V": "share of the cells ahead of FM-V",
    "first_places": "first places",
    "low_alignment_needed": "little correlation is needed (1 for yes)",
}
MEASURED = ("ours", "low", "high", "std", "n")
CELLS = [
    "paper", "item", "dataset", "method", "measure", "parameter", "protocol", "point", *MEASURED,
    "printed", "printed_std", "distance", "within",
]  # fmt: skip


def read_verdicts(paper=None):
    """Return the stored verdicts.

    Parameters
    ----------
    paper : str, optional
        Default: all papers.

    Returns
    -------
    verdicts : DataFrame of str

    Examples
    --------
    >>> from mvref.experiments.reproduction import read_verdicts
    >>> read_verdicts("mvna_kmhks")["item"].unique().tolist()
    ['table1', 'table2', 'table3', 'fig1', 'text']
    """
    rows = pd.read_csv(LEDGER / "verdicts.csv", dtype=str, keep_default_na=False)
    return rows if paper is None else rows[rows["paper"] == paper].reset_index(drop=True)


def distance(ours, printed, *, std=np.nan, printed_std=np.nan, measure=""):
    """Return how far two means are apart, in standard deviations of a repeat of both.

    Parameters
    ----------
    ours, printed : float
        Our mean and the paper's.
    std, printed_std : float
        Standard deviations between repeats. Where the paper prints none, ours stands for both.
    measure : str
        Numbers of errors on a fixed test part have no repeats: their variance is the number
        itself. Sizes of data sets, measures that begin with "n\\_", have no spread.

    Returns
    -------
    distance : float
        Positive where ours is larger; NaN where no spread is known.

    Examples
    --------
    >>> from mvref.experiments.reproduction import distance
    >>> round(distance(0.84, 0.80, std=0.03, printed_std=0.04), 3)
    0.8
    >>> round(distance(9, 16, measure="errors"), 3)
    -1.4
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


def verdict_by_rule(cells):
    """Return the verdict on cells of a printed table.

    Parameters
    ----------
    cells : DataFrame
        Of one row of the verdicts; columns ``protocol``, ``point`` and ``distance``. A *point* is
        one of our results for all of the cells.

    Returns
    -------
    verdict : str
        "reproduced" if some point by the printed protocol is within two standard deviations of a
        repeat in each of the cells; "reproduced under another protocol" if only a point by another
        protocol is; "not comparable" if there is no point on the paper's data; else "not
        reproduced".

    Examples
    --------
    >>> import pandas as pd
    >>> from mvref.experiments.reproduction import verdict_by_rule
    >>> cells = pd.DataFrame({
    ...     "protocol": ["as printed", "another protocol"], "point": ["a", "b"],
    ...     "distance": [-5.0, 0.3]})
    >>> verdict_by_rule(cells)
    'reproduced under another protocol'
    """
    near = cells["distance"].abs() <= TOLERANCE
    whole = near.groupby([cells["protocol"], cells["point"]]).all()
    known = cells.groupby(["protocol", "point"])["distance"].count() > 0
    verdict = "not comparable"
    for protocol, name in zip(PROTOCOLS, VERDICTS, strict=False):
        if protocol == "other data" or protocol not in whole.index:
            continue
        if whole[protocol].any():
            return name
        if known[protocol].any():
            verdict = "not reproduced"
    return verdict


def reproduction_cells(paper=None, folder=None):
    """Set every cell of the papers' tables beside our results.

    Parameters
    ----------
    paper : str, optional
        Default: all papers.
    folder : path, optional
        Default: the ledger that comes with mvref.

    Returns
    -------
    cells : DataFrame
        One row per cell and result of ours: ``ours`` (mean of ``n`` repeats), ``low`` and ``high``
        (95 % interval of the mean), ``std`` (of a repeat), the paper's ``printed`` and
        ``printed_std``, their ``distance`` in standard deviations of a repeat, ``within`` the
        tolerance or not, and by which ``protocol``.

    Examples
    --------
    >>> from mvref.experiments import reproduction_cells
    >>> cells = reproduction_cells("mwmvc2").query("dataset == 'mnist1' and method == 'Concat'")
    >>> cells.set_index("measure")["within"].to_dict()
    {'accuracy': True, 'f1': True}
    """
    return judge(paper, folder)[1]


def reproduction_report(paper=None, folder=None):
    """Return the verdict on every table and figure of the papers.

    Parameters
    ----------
    paper : str, optional
        Default: all papers.
    folder : path, optional
        Default: the ledger that comes with mvref.

    Returns
    -------
    report : DataFrame
        One row per statement: ``paper``, ``item``, ``dataset``, ``method``, ``claim``, ``place``,
        ``verdict`` ("reproduced", "reproduced under another protocol", "not reproduced" or "not
        comparable"), ``by`` ("rule" or "words"), ``why``, ``numbers`` (of the text, the paper's
        and ours), ``told`` (section of the book) and ``measured`` (test or line of a chapter).

    Notes
    -----
    Verdicts by rule and all numbers are those of the ledger in `folder`; verdicts in words are the
    stored ones.

    Examples
    --------
    >>> from mvref.experiments import reproduction_report
    >>> report = reproduction_report("mvm")
    >>> sorted(set(report["item"]))
    ['fig1', 'fig2', 'fig3', 'table1', 'text']
    """
    return judge(paper, folder)[0]


def judge(paper, folder):
    """Return the report and all cells, each item summarised once.

    Parameters
    ----------
    paper : str or None
    folder : path or None

    Returns
    -------
    report, cells : DataFrame
        As :func:`reproduction_report` and :func:`reproduction_cells` return them.
    """
    rows, printed, tables, summaries = read_verdicts(paper), {}, {}, {}
    report, cells = [], [pd.DataFrame(columns=CELLS)]
    for row in rows.itertuples():
        if row.paper not in printed:
            printed[row.paper] = read_paper_numbers(row.paper)
        key = row.paper, row.place
        if row.ours and key not in tables:
            numbers = printed[row.paper]
            tables[key] = printed_cells(numbers[numbers["place"] == row.place])
        entry = row._asdict() | {"by": "rule" if row.ours else "words"}
        if row.ours:
            found = _cells_of(row, tables[key], folder, summaries)
            cells.append(pd.DataFrame(found, columns=CELLS))
            entry["verdict"] = verdict_by_rule(cells[-1])
        entry["numbers"] = "; ".join(_numbers(row, printed[row.paper], folder, summaries))
        report.append(entry)
    columns = "paper item dataset method claim place verdict by why numbers told measured".split()
    cells = [part for part in cells if len(part)]
    cells = pd.concat(cells, ignore_index=True) if cells else pd.DataFrame(columns=CELLS)
    return pd.DataFrame(report, columns=columns), cells


def _cells_of(row, cells, folder, summaries):
    """Each alternative of a row that is judged by numbers, cell by cell; counts and their sum."""
    cells = cells[(cells["dataset"] == row.dataset) & (cells["method"] == row.method)]
    if row.measure:
        cells = cells[cells["measure"] == row.measure]
    alternatives = []
    for alternative in row.ours.split(" | "):
        protocol, _, point = alternative.partition(": ")
        found = [_cell(row, cell, point, folder, summaries) for cell in cells.itertuples()]
        if len(found) > 1 and all(cell["measure"] == "errors" for cell in found):
            found.append(_sum(found))
        alternatives += [cell | {"protocol": protocol} for cell in found]
    for cell in alternatives:
        spreads = {name: cell[name] for name in ("std", "printed_std", "measure")}
        cell["distance"] = distance(cell["ours"], cell["printed"], **spreads)
        cell["within"] = bool(abs(cell["distance"]) <= TOLERANCE)
    return alternatives


def _cell(row, cell, point, folder, summaries):
    """A printed cell beside the summary of our repeats at a point."""
    ours = {"paper": row.paper, "item": row.item, "dataset": row.dataset, "method": row.method}
    ours |= {"measure": cell.measure, "parameter": cell.parameter, "point": point}
    ours |= {"printed": cell.value, "printed_std": cell.std}
    ours |= dict.fromkeys(MEASURED, np.nan)
    if point == "data":
        size = CLAIMS[row.paper][cell.measure](None, cell)
        return ours | ({"ours": float(size)} if size.isdigit() else {})
    item, dataset, method, *options = point.split()
    summary = _summary(f"{row.paper}.{item}", folder, summaries)
    found = summary[
        (summary["dataset"] == dataset)
        & (summary["method"] == method)
        & (summary["measure"] == cell.measure)
    ]
    options = dict(option.split("=") for option in options) | json.loads(cell.parameter)
    for name in summary.columns.difference(SUMMARY):
        if name in options:
            found = found[found[name].map(_text) == _text(options[name])]
        elif summary[name].nunique() > 1:
            found = found[found[name].isna()]
    if len(found) != 1:
        return ours
    return ours | found.rename(columns={"mean": "ours"}).iloc[0][list(MEASURED)].to_dict()


def _sum(cells):
    """The sum of counts, as one more cell."""
    total = {name: sum(cell[name] for cell in cells) for name in ("ours", "printed")}
    blank = dict.fromkeys(("low", "high", "std"), np.nan)
    [name] = json.loads(cells[0]["parameter"])
    return cells[0] | blank | total | {"parameter": json.dumps({name: "sum"})}


def _text(value):
    """A parameter as text, however the ledger and the verdicts spell it."""
    return f"{value:g}" if isinstance(value, float | int) else str(value)


def _summary(item, folder, summaries):
    if item not in summaries:
        summaries[item] = summarize(item, folder)
    return summaries[item]


def _numbers(row, numbers, folder, summaries):
    """What the text says in numbers, the paper's and ours; "measure:method" names one of them."""
    for name in row.numbers.split():
        measure, _, method = name.partition(":")
        found = numbers[(numbers["measure"] == measure) & numbers["item"].isin(_items(row.paper))]
        same = found["item"] == row.item
        found = found[same] if same.any() else found
        for number in found.itertuples():
            if method not in ("", number.method) or row.dataset not in ("", number.dataset):
                continue
            summary = _summary(f"{row.paper}.{number.item}", folder, summaries)
            of = f" on {number.dataset}" if number.dataset else ""
            ours = CLAIMS[row.paper][measure](summary, number)
            yield f"{PHRASES[measure]}{of}: the paper {number.value:g}, ours {ours}"


def _items(paper):
    return [item.name for item in ITEMS.values() if item.paper == paper]
