"""What came out again: every table and figure of the five papers, with a verdict.

``verdicts/<paper>.csv`` has a row for each statement: the table or figure, the statement in one
sentence, the place where it stands, the verdict and why. Rows of two kinds:

cells     They name a method of a printed table (or a data set of a table of sizes, or, without a
          method, all methods of a data set at once) and which of our results belong to it:
          ``ours``. Their verdict follows from the numbers by :func:`verdict_by_rule`; the stored
          one is compared with it by a test.
words     What the text says about a table or a figure. Somebody has judged; ``measured`` names the
          test, or the line of the chapter, where the numbers behind the judgement are computed,
          and ``tried`` the protocols that were tried, separated by " | ", or "multiverse: " with
          the names of a multiverse and of its statement, which counts them.

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
from collections import defaultdict
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
import pandas as pd

from .claims import CLAIMS
from .comparison import TOLERANCE, distance, printed_cells
from .engine import LEDGER, stored
from .items import ITEMS
from .multiverse import find_multiverse, statement_curve
from .report import SUMMARY, read_paper_numbers, summarize
from .words import WORDS, readable, rounded

VERDICTS = (
    "reproduced", "reproduced under another protocol", "not reproduced", "cannot tell",
    "not comparable",
)  # fmt: skip
UNIVERSES = "multiverse: "  # begins what has run in many
PROTOCOLS = ("as printed", "another protocol", "other data", "baseline")
PAPERS = {
    "mvl_svm": "MVL-SVM", "mwmvc2": "MwMvC²", "mvpo": "MVPO", "mvm": "MVM",
    "mvna_kmhks": "MVNA-KMHKS",
}  # fmt: skip
PHRASES = WORDS["phrases"]  # what the text of a paper says in numbers, in words
WITHOUT_NUMBER = ("low_alignment_needed",)
MEASURED = ("ours", "low", "high", "std", "n")
CELLS = [
    "paper", "item", "dataset", "method", "measure", "parameter", "protocol", "point", *MEASURED,
    "printed", "printed_std", "distance", "within", "alike",
]  # fmt: skip
REPORT = [
    "paper", "item", "dataset", "method", "claim", "place", "verdict", "under", "tried", "near",
    "nearest", "by", "why", "numbers", "told", "measured",
]  # fmt: skip


def read_verdicts(paper=None):
    """Return the stored verdicts of a paper, by default of all."""
    folder = stored("verdicts")
    files = [folder / f"{name}.csv" for name in ([paper] if paper else PAPERS)]
    tables = [pd.read_csv(file, dtype=str, keep_default_na=False) for file in files]
    return pd.concat(tables, ignore_index=True)


def verdict_by_rule(cells):
    """Return the verdict on cells of a printed table.

    cells: of one row of the verdicts; columns ``protocol``, ``point``, ``distance``, and, if
    wanted, ``alike``: whether our number is as near to what the paper prints for each of its other
    methods, or a rule without features is near as well. A *point* is one of our results for all of
    the cells.

    >>> cells = pd.DataFrame({
    ...     "protocol": ["as printed", "another protocol"], "point": ["a", "b"],
    ...     "distance": [-5.0, 0.3]})
    >>> verdict_by_rule(cells)
    'reproduced under another protocol'
    >>> verdict_by_rule(cells.assign(alike=True))
    'cannot tell'
    """
    points = points_of(cells)
    if not points["known"].any():
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
    apart, alike = cells["distance"].abs(), cells.get("alike", False)
    cells = cells.assign(distance=apart, near=apart <= TOLERANCE, known=apart.notna(), alike=alike)
    each = cells.groupby(["protocol", "point"], sort=False)
    points = each.agg({"distance": "max", "near": "all", "known": "any", "alike": "all"})
    return points.reset_index().sort_values("distance", kind="stable")


def reproduction_cells(paper=None, folder=None):
    """Set every cell of the papers' tables beside our results.

    Parameters
    ----------
    paper : str, default all papers
    folder : path, default that of the ledger that comes with mvref

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
    paper : str, default all papers
    folder : path, default that of the ledger that comes with mvref

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
    report, cells = [], []
    for name in [paper] if paper else PAPERS:
        files = [Path(folder or LEDGER) / f"{name}.csv", LEDGER / "verdicts" / f"{name}.csv"]
        files += [LEDGER / f"{other}.csv" for other in ("paper_numbers", "sizes", "multiverse")]
        stamps = tuple(file.stat().st_mtime_ns for file in files if file.exists())
        entries, found = _judged(name, folder, stamps)
        cells += [cell | {"row": cell["row"] + len(report)} for cell in found]
        report += entries
    return pd.DataFrame(report, columns=REPORT), pd.DataFrame(cells, columns=[*CELLS, "row"])


@lru_cache(maxsize=16)
def _judged(paper, folder, stamps):
    """The verdicts of one paper and all cells, each item summarised once."""
    ours = cache(lambda item: indexed(summarize(_full_name(paper, item), folder)))
    printed = read_paper_numbers(paper)
    tables = {place: printed_cells(numbers) for place, numbers in printed.groupby("place")}
    report, cells = [], []
    for row in read_verdicts(paper).itertuples():
        entry = row._asdict() | {"by": "words", "near": 0, "nearest": np.nan}
        entry["tried"] = len(list(filter(None, row.tried.split(" | "))))
        if row.tried.startswith(UNIVERSES):
            entry |= _in_universes(row.tried)
        if row.ours:
            found = cells_of(row, tables[row.place], ours)
            cells += [cell | {"row": row.Index} for cell in found]
            found = pd.DataFrame(found, columns=CELLS)
            points = points_of(found).query("known")
            entry |= {"by": "rule", "verdict": verdict_by_rule(found), "tried": len(points)}
            entry |= {"near": int(points["near"].sum()), "nearest": points["distance"].min()}
        entry["numbers"] = "; ".join(_numbers(row, printed, ours))
        report.append(entry)
    return report, cells


def _full_name(paper, item):
    """The full name of an item of a paper, or of another ledger, which is already one."""
    return item if "." in item else f"{paper}.{item}"


def _in_universes(tried):
    """In how many universes a statement was asked, and in how many it holds."""
    multiverse, statement = tried.removeprefix(UNIVERSES).split()
    known = statement_curve(find_multiverse(multiverse), statement).dropna(subset=["value"])
    return {"tried": len(known), "near": int(known["near"].sum())}


def indexed(summary):
    """A summary; the parameters that vary in it; (data set, method, measure) -> points, results."""
    names = [name for name in summary.columns.difference(SUMMARY) if summary[name].nunique()]
    found = defaultdict(list)
    for row in summary.to_dict("records"):
        point = {name: _text(row[name]) for name in names if pd.notna(row[name])}
        values = [row.get(name, np.nan) for name in ("mean", *MEASURED[1:])]
        found[tuple(map(row.get, SUMMARY[:3]))].append((point, values))
    return summary, {name for name in names if summary[name].nunique() > 1}, found


def cells_of(row, printed, ours):
    """Each alternative of a row that is judged by numbers, cell by cell; counts and their sum.

    printed: cells of the table; ours: item -> what :func:`indexed` makes of its summary.
    """
    printed = printed[printed["dataset"] == row.dataset]
    if row.measure:
        printed = printed[printed["measure"] == row.measure]
    own = printed["method"] == row.method if row.method else printed["method"].notna()
    asked, others = list(printed[own].itertuples()), _by_place(printed[~own])
    alternatives, baselines = [], []
    for alternative in row.ours.split(" | "):
        protocol, _, point = alternative.partition(": ")
        for one in _each(point, set(printed.loc[own, "measure"]), ours):
            found = [_cell(row, cell, one, ours) for cell in asked]
            if len(found) > 1 and all(cell["measure"] == "errors" for cell in found):
                found.append(_sum(found))
            kept = baselines if protocol == "baseline" else alternatives
            kept += [cell | {"protocol": protocol} for cell in found]
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
        cell["alike"] = any(passing) or (bool(row.method) and _alike(cell, others))
    return alternatives


def _each(point, measures, ours):
    """The points that a point with ``*`` among its values stands for."""
    if "=*" not in point:
        return [point]
    item, dataset, method, *options = point.split()
    names = [option.removesuffix("=*") for option in options if option.endswith("=*")]
    rows = ours(item)[0].query("dataset == @dataset and measure in @measures")
    rows = rows[(rows["method"] == method) | (method == "*")].reindex(columns=names).dropna()
    values = rows.drop_duplicates().sort_values(names).itertuples(index=False)
    return [point.replace("=*", "={}").format(*map(_text, value)) for value in values]


def _by_place(printed):
    """(measure, parameter) -> values and spreads of the methods there; "sum" of all parameters."""
    found = defaultdict(list)
    for (measure, _), part in printed.groupby(["measure", "method"], sort=False):
        for cell in part.itertuples():
            found[measure, cell.parameter].append((cell.value, cell.std))
        found[measure, "sum"].append((part["value"].sum(), part["std"].iloc[0]))
    return found


def _alike(cell, others):
    """Whether our number is near what the paper prints for each of its other methods."""
    total = "sum" in json.loads(cell["parameter"]).values()
    spread = {"std": cell["std"], "measure": cell["measure"]}
    far = [
        distance(cell["ours"], value, printed_std=std, **spread)
        for value, std in others[cell["measure"], "sum" if total else cell["parameter"]]
    ]
    return bool(far) and bool(np.all(np.abs(far) <= TOLERANCE))


def _cell(row, cell, point, ours):
    """A printed cell beside the summary of our repeats at a point, if there is just one such."""
    found = {"paper": row.paper, "item": row.item, "dataset": row.dataset, "method": cell.method}
    found |= {"measure": cell.measure, "parameter": cell.parameter, "point": point}
    found |= {"printed": cell.value, "printed_std": cell.std} | dict.fromkeys(MEASURED, np.nan)
    if point == "data":
        size = CLAIMS[row.paper][cell.measure](None, cell)
        return found | ({"ours": float(size)} if size.isdigit() else {})
    item, dataset, method, *options = point.split()
    wanted = dict(option.split("=") for option in options) | json.loads(cell.parameter)
    wanted = {name: _text(value) for name, value in wanted.items()}
    _, varying, results = ours(item)
    fitting = defaultdict(list)
    for own, values in results[dataset, cell.method if method == "*" else method, cell.measure]:
        said = {name: text for name, text in own.items() if name in varying or name in wanted}
        if said.items() <= wanted.items():
            fitting[len(said)].append(values)
    nearest = fitting[max(fitting)] if fitting else []
    return found | (dict(zip(MEASURED, nearest[0], strict=True)) if len(nearest) == 1 else {})


def _sum(cells):
    """The sum of counts, as one more cell."""
    total = {name: sum(cell[name] for cell in cells) for name in ("ours", "printed")}
    blank = dict.fromkeys(("low", "high", "std"), np.nan)
    [name] = json.loads(cells[0]["parameter"])
    return cells[0] | blank | total | {"parameter": json.dumps({name: "sum"})}


def _text(value):
    """A parameter as text, however the ledger and the verdicts spell it."""
    return f"{value:g}" if isinstance(value, float | int) else str(value)


def _numbers(row, numbers, ours):
    """What the text says in numbers, the paper's and ours; "measure:method" names one of them."""
    numbers = numbers[(row.paper + "." + numbers["item"]).isin(ITEMS)]
    for name in row.numbers.split():
        measure, _, method = name.partition(":")
        found = numbers[numbers["measure"] == measure]
        same = found[found["item"] == row.item]
        for number in (found if same.empty else same).itertuples():
            if method not in ("", number.method) or row.dataset not in ("", number.dataset):
                continue
            of = f" on {number.dataset}" if number.dataset else ""
            theirs = "" if measure in WITHOUT_NUMBER else f"the paper {number.value:g}, "
            our = CLAIMS[row.paper][measure](ours(number.item)[0], number)
            our = rounded(our, number.value) if theirs else our
            yield f"{PHRASES[measure]}{readable(of)}: {theirs}ours {readable(our)}"
