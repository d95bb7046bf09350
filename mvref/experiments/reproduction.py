"""What came out again: every table and figure of the five papers, with a verdict.

``verdicts/<paper>.csv`` has a row for each statement: the table or figure, the statement in one
sentence, the place where it stands, the verdict and why. Rows of two kinds:

cells     They name a method of a printed table (or a data set of a table of sizes, or, without a
          method, all methods of a data set at once) and which of our results belong to it:
          ``ours``. Their verdict follows from the numbers by :func:`verdict_by_rule`; the stored
          one is compared with it by a test.
words     What the text says about a table or a figure. Somebody has judged; ``measured`` names the
          test, or the line of the chapter, where the numbers behind the judgement are computed,
          and ``tried`` the protocols that were tried, separated by " | ".

``ours`` is a list of alternatives, separated by " | ", each of the form
``protocol: item dataset method name=value ...``, or ``protocol: data`` for the sizes of a data set.
The method ``*`` is that of the cell, and a value ``*`` stands for all that the ledger has, each an
alternative of its own. The protocol is one of

as printed         what the paper prints, and our choice where it prints nothing;
another protocol   another reading of what it leaves open, or what its numbers imply;
other data         not the data, or not the problem, of the paper: shown, and not judged;
baseline           a rule without features: where it is near as well, a result tells nothing.
"""

import json
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd

from .claims import CLAIMS
from .comparison import printed_cells
from .engine import LEDGER, stored
from .items import ITEMS
from .report import SUMMARY, read_paper_numbers, summarize

VERDICTS = (
    "reproduced", "reproduced under another protocol", "not reproduced", "cannot tell",
    "not comparable",
)  # fmt: skip
PROTOCOLS = ("as printed", "another protocol", "other data", "baseline")
TOLERANCE = 2.0  # standard deviations of a repeat
PAPERS = {
    "mvl_svm": "MVL-SVM", "mwmvc2": "MwMvC²", "mvpo": "MVPO", "mvm": "MVM",
    "mvna_kmhks": "MVNA-KMHKS",
}  # fmt: skip
# What the text of a paper says in numbers, in words.
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
    "first_places": "first places",
    "low_alignment_needed": "alignment and gain",
}
WITHOUT_NUMBER = ("low_alignment_needed",)
MEASURED = ("ours", "low", "high", "std", "n")
CELLS = [
    "paper", "item", "dataset", "method", "measure", "parameter", "protocol", "point", *MEASURED,
    "printed", "printed_std", "distance", "within", "alike",
]  # fmt: skip


def read_verdicts(paper=None):
    """Return the stored verdicts.

    paper: default: all papers.

    Examples
    --------
    >>> from mvref.experiments.reproduction import read_verdicts
    >>> read_verdicts("mvna_kmhks")["item"].unique().tolist()
    ['table1', 'table2', 'table3', 'fig1', 'text']
    """
    folder = stored("verdicts")
    files = [folder / f"{name}.csv" for name in ([paper] if paper else PAPERS)]
    tables = [pd.read_csv(file, dtype=str, keep_default_na=False) for file in files]
    return pd.concat(tables, ignore_index=True)


def distance(ours, printed, *, std=np.nan, printed_std=np.nan, measure=""):
    r"""Return how far two means are apart, in standard deviations of a repeat of both.

    ours, printed: our mean and the paper's; std, printed_std: standard deviations between repeats.
    Where the paper prints none, ours stands for both; measure: numbers of errors on a fixed test
    part have no repeats: their variance is the number itself. Sizes of data sets, measures that
    begin with "n\_", have no spread.

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

    cells: of one row of the verdicts; columns ``protocol``, ``point``, ``distance``, and, if
    wanted, ``alike``: whether our number is as near to what the paper prints for each of its other
    methods, or a rule without features is near as well. A *point* is one of our results for all of
    the cells.

    Examples
    --------
    >>> import pandas as pd
    >>> from mvref.experiments.reproduction import verdict_by_rule
    >>> cells = pd.DataFrame({
    ...     "protocol": ["as printed", "another protocol"], "point": ["a", "b"],
    ...     "distance": [-5.0, 0.3]})
    >>> verdict_by_rule(cells)
    'reproduced under another protocol'
    >>> verdict_by_rule(cells.assign(alike=True))
    'cannot tell'
    """
    points = points_of(cells)
    if points.empty or not points["known"].any():
        return VERDICTS[4]
    near = points[points["near"]]
    if near.empty:
        return VERDICTS[2]
    if near["alike"].mean() > 0.5:
        return VERDICTS[3]
    telling = near[~near["alike"]]
    return VERDICTS[0 if (telling["protocol"] == PROTOCOLS[0]).any() else 1]


def points_of(cells):
    """Our results for the cells of one row, each judged as a whole, the nearest first.

    ``distance`` is the largest of a point's cells; points on other data are left out.
    """
    cells = cells[cells["protocol"] != "other data"]
    alike = cells["alike"] if "alike" in cells else pd.Series(False, index=cells.index)
    cells = cells.assign(
        distance=cells["distance"].abs(),
        near=cells["distance"].abs() <= TOLERANCE,
        known=cells["distance"].notna(),
        alike=alike.astype(bool),
    )
    each = cells.groupby(["protocol", "point"], sort=False)
    points = each.agg({"distance": "max", "near": "all", "known": "any", "alike": "all"})
    return points.reset_index().sort_values("distance", kind="stable")


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
        tolerance or not, by which ``protocol``, and whether it is as near to every other method of
        the table (``alike``).

    Examples
    --------
    >>> from mvref.experiments import reproduction_cells
    >>> cells = reproduction_cells("mwmvc2").query("dataset == 'mnist1' and method == 'Concat'")
    >>> cells.query("protocol == 'as printed'").set_index("measure")["within"].to_dict()
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
        ``verdict`` ("reproduced", "reproduced under another protocol", "not reproduced", "cannot
        tell" or "not comparable"), ``under`` which protocol, ``tried``, the number of protocols,
        ``near``, how many of them agree, ``nearest``, the distance of the nearest, ``by`` ("rule"
        or "words"), ``why``, ``numbers`` (of the text, the paper's and ours), ``told`` (section of
        the book) and ``measured`` (test or line of a chapter).

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
    """The report and all cells, of one paper or of all; judged anew when a file has changed."""
    reports, cells = [], []
    for name in [paper] if paper else PAPERS:
        files = [Path(folder or LEDGER) / f"{name}.csv", LEDGER / "verdicts" / f"{name}.csv"]
        files += [LEDGER / "paper_numbers.csv", LEDGER / "sizes.csv"]
        stamps = tuple(file.stat().st_mtime_ns for file in files if file.exists())
        report, found = _judged(name, folder, stamps)
        cells.append(found.assign(row=found["row"] + sum(map(len, reports))))
        reports.append(report)
    cells = [part for part in cells if len(part)] or cells[:1]
    return pd.concat(reports, ignore_index=True), pd.concat(cells, ignore_index=True)


@lru_cache(maxsize=16)
def _judged(paper, folder, stamps):
    """The verdicts of one paper, each item summarised once."""
    printed, tables, summaries = read_paper_numbers(paper), {}, {}
    report, cells = [], [pd.DataFrame(columns=[*CELLS, "row"])]
    for row in read_verdicts(paper).itertuples():
        if row.ours and row.place not in tables:
            tables[row.place] = printed_cells(printed[printed["place"] == row.place])
        entry = row._asdict() | {"by": "words", "near": 0, "nearest": np.nan}
        entry["tried"] = len(list(filter(None, row.tried.split(" | "))))
        if row.ours:
            found = _cells_of(row, tables[row.place], folder, summaries)
            cells.append(pd.DataFrame(found, columns=CELLS).assign(row=row.Index))
            entry |= {"by": "rule", "verdict": verdict_by_rule(cells[-1])}
            points = points_of(cells[-1]).query("known")
            entry |= {"tried": len(points), "near": int(points["near"].sum())}
            entry["nearest"] = points["distance"].min()
        entry["numbers"] = "; ".join(_numbers(row, printed, folder, summaries))
        report.append(entry)
    columns = "paper item dataset method claim place verdict under tried near nearest".split()
    columns += "by why numbers told measured".split()
    cells = pd.concat([part for part in cells if len(part)] or cells, ignore_index=True)
    return pd.DataFrame(report, columns=columns), cells


def _cells_of(row, printed, folder, summaries):
    """Each alternative of a row that is judged by numbers, cell by cell; counts and their sum."""
    printed = printed[printed["dataset"] == row.dataset]
    if row.measure:
        printed = printed[printed["measure"] == row.measure]
    own = printed["method"] == row.method if row.method else printed["method"].notna()
    alternatives = []
    for alternative in row.ours.split(" | "):
        protocol, _, point = alternative.partition(": ")
        for one in _each(row, printed[own], point, folder, summaries):
            found = [_cell(row, cell, one, folder, summaries) for cell in printed[own].itertuples()]
            if len(found) > 1 and all(cell["measure"] == "errors" for cell in found):
                found.append(_sum(found))
            alternatives += [cell | {"protocol": protocol} for cell in found]
    baselines = [cell for cell in alternatives if cell["protocol"] == "baseline"]
    for cell in alternatives:
        spreads = {name: cell[name] for name in ("std", "printed_std", "measure")}
        cell["distance"] = distance(cell["ours"], cell["printed"], **spreads)
        cell["within"] = bool(abs(cell["distance"]) <= TOLERANCE)
        # With the spread of our result: a rule without features has next to none of its own.
        passing = [
            abs(distance(other["ours"], cell["printed"], **spreads)) <= TOLERANCE
            for other in baselines
            if all(other[name] == cell[name] for name in ("method", "measure", "parameter"))
        ]
        cell["alike"] = any(passing) or (bool(row.method) and _alike(cell, printed[~own]))
    return [cell for cell in alternatives if cell["protocol"] != "baseline"]


def _each(row, printed, point, folder, summaries):
    """The points that a point with ``*`` among its values stands for."""
    open_names = [word.removesuffix("=*") for word in point.split() if word.endswith("=*")]
    if not open_names:
        return [point]
    item, dataset, method, *_ = point.split()
    summary = _summary(f"{row.paper}.{item}", folder, summaries)
    found = summary[(summary["dataset"] == dataset) & summary["measure"].isin(printed["measure"])]
    if method != "*":
        found = found[found["method"] == method]
    if not set(open_names) <= set(found):  # a ledger without such rows
        return []
    values = found[open_names].dropna().drop_duplicates().sort_values(open_names)
    return [
        " ".join(
            f"{word[:-1]}{_text(getattr(value, word[:-2]))}" if word.endswith("=*") else word
            for word in point.split()
        )
        for value in values.itertuples()
    ]


def _alike(cell, others):
    """Whether our number is near what the paper prints for each of its other methods."""
    others = others[others["measure"] == cell["measure"]]
    if "sum" in json.loads(cell["parameter"]).values():
        others = others.groupby("method", as_index=False).agg({"value": "sum", "std": "first"})
    else:
        others = others[others["parameter"] == cell["parameter"]]
    far = [
        distance(cell["ours"], other.value, std=cell["std"], printed_std=other.std,
                 measure=cell["measure"])
        for other in others.itertuples()
    ]  # fmt: skip
    return bool(far) and bool(np.all(np.abs(far) <= TOLERANCE))


def _cell(row, cell, point, folder, summaries):
    """A printed cell beside the summary of our repeats at a point."""
    ours = {"paper": row.paper, "item": row.item, "dataset": row.dataset, "method": cell.method}
    ours |= {"measure": cell.measure, "parameter": cell.parameter, "point": point}
    ours |= {"printed": cell.value, "printed_std": cell.std}
    ours |= dict.fromkeys(MEASURED, np.nan)
    if point == "data":
        size = CLAIMS[row.paper][cell.measure](None, cell)
        return ours | ({"ours": float(size)} if size.isdigit() else {})
    item, dataset, method, *options = point.split()
    summary = _summary(f"{row.paper}.{item}", folder, summaries)
    method = cell.method if method == "*" else method
    key = f"{row.paper}.{item}", dataset, method, cell.measure
    if key not in summaries:
        found = summary[
            (summary["dataset"] == dataset)
            & (summary["method"] == method)
            & (summary["measure"] == cell.measure)
        ]
        names = [name for name in summary.columns.difference(SUMMARY) if summary[name].nunique()]
        texts = {name: found[name].map(_text).to_numpy(dtype=str) for name in names}
        values = found[["mean", *MEASURED[1:]]].to_numpy(dtype=float)
        summaries[key] = values, texts, {name: summary[name].nunique() > 1 for name in names}
    values, texts, varies = summaries[key]
    options = dict(option.split("=") for option in options) | json.loads(cell.parameter)
    kept = np.ones(len(values), dtype=bool)
    for name, text in texts.items():
        if name in options:
            same = kept & (text == _text(options[name]))
            kept = same if same.any() else kept & (text == "nan")
        elif varies[name]:
            kept &= text == "nan"
    if kept.sum() != 1:
        return ours
    return ours | dict(zip(MEASURED, values[kept][0], strict=True))


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
            yield f"{PHRASES[measure]}{of}: {_printed(measure, number.value)}ours {ours}"


def _printed(measure, value):
    """The paper's number, where its statement has one."""
    return "" if measure in WITHOUT_NUMBER else f"the paper {value:g}, "


def _items(paper):
    return [item.name for item in ITEMS.values() if item.paper == paper]
