"""Verdicts on every table and figure of the five papers.

``verdicts/<paper>.toml`` has a table for each statement: the table or figure, the statement in one
sentence (``claim``), its ``place`` in the paper, the ``verdict``, the reason (``why``) and the
``section`` of the book that discusses it. There are two kinds of verdicts:

cells     They name a method of a printed table (or a data set of a table of sizes, or, without a
          method, all methods of a data set at once) and in ``ours`` which of our results belong to
          it. Their verdict follows from :func:`verdict_by_rule`; a test compares the stored one.
words     They are claims of the text about a table or a figure, which we judged by the protocol
          that the chapter had chosen in advance. ``measured`` names the test, or the line of the
          chapter, that computes the numbers, and ``tried`` each protocol and whether the statement
          ``holds`` in it; or a ``multiverse``, its ``statement``, and, if wanted, ``where``: a
          query for the universes that count. A protocol found by a search counts together with
          all protocols searched.

``kind`` names the cause of our deviation: another interpretation of what the paper leaves open
("left open"), a deviation from what it prints ("contrary"), or other data. ``ours`` has a
:class:`Result` for each alternative. The method ``*`` is the method of the cell, and a value ``*``
stands for all values of the ledger. A name or a value that the ledger does not have, and a query
that finds nothing, raise a ValueError with the file and the number of the verdict. The protocol is

as printed         what the paper prints, and our choice where it prints nothing;
another protocol   another interpretation of what it leaves open, or what its numbers imply;
a change           a deviation from what it prints: another update, another rule;
other data         not the data, or not the problem, of the paper: shown, but not judged;
baseline           a rule without features: if it is near as well, a result is no evidence.
"""

import json
import tomllib
from collections import defaultdict
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import pandas as pd

from .engine import LEDGER
from .items import ITEMS, find_item
from .multiverse import find_multiverse, statement_curve
from .report import SUMMARY, TOLERANCE, distance, printed_cells, read_paper_numbers, summarize
from .sizes import size

VERDICTS = (
    "reproduced", "reproduced under another protocol",
    "reproduced with a change to what is printed", "not reproduced", "cannot tell",
    "not comparable",
)  # fmt: skip
REPRODUCED, ANOTHER, CHANGED, NOT_REPRODUCED, CANNOT_TELL, NOT_COMPARABLE = VERDICTS
# The cause of our deviation, and the verdict that goes with it.
KINDS = {"left open": ANOTHER, "contrary": CHANGED, "other data": NOT_COMPARABLE}
PROTOCOLS = ("as printed", "another protocol", "a change", "other data", "baseline")
SHARE = 0.25  # of the protocols: if fewer agree, the statement is not reproduced by them
BY_CHANCE = 0.1  # of invented numbers: if more agree with ours, agreement is no evidence
REACHED = 0.5  # of invented numbers: if some protocol is near to more, near protocols do not count
REPEATS = {"mwmvc2": 20, "mvna_kmhks": 10}  # of a printed mean, as the papers state
PAPERS = {
    "mvl_svm": "MVL-SVM", "mwmvc2": "MwMvC²", "mvpo": "MVPO", "mvm": "MVM",
    "mvna_kmhks": "MVNA-KMHKS",
}  # fmt: skip
MEASURED = ("ours", "low", "high", "std", "n")
CELLS = [
    "paper", "item", "dataset", "method", "measure", "parameter", "protocol", "point", "result",
    *MEASURED, "printed", "printed_std", "distance", "within", "equal", "alike",
]  # fmt: skip
REPORT = [
    "paper", "item", "dataset", "method", "claim", "place", "verdict", "kind", "under", "tried",
    "near", "nearest", "chance", "by", "why", "section", "measured",
]  # fmt: skip
TEXTS = (
    "item", "dataset", "method", "measure", "claim", "place", "verdict", "kind", "under", "why",
    "section", "measured",
)  # fmt: skip


class Result(NamedTuple):
    """Our results that belong to a verdict; for the item "data", the sizes of the data.

    at: parameter -> value.
    """

    protocol: str
    item: str
    dataset: str = ""
    method: str = ""
    at: Mapping = MappingProxyType({})

    @property
    def point(self):
        """Name of the result without its protocol."""
        values = (f"{name}={_text(value)}" for name, value in self.at.items())
        return " ".join(filter(None, (self.item, self.dataset, self.method, *values)))


def read_verdicts(paper=None):
    """Return the stored verdicts of a paper, by default of all."""
    rows = []
    for name in [paper] if paper else PAPERS:
        text = (LEDGER / "verdicts" / f"{name}.toml").read_text(encoding="utf-8")
        rows += typed(name, text)
    return pd.DataFrame(rows)


def typed(paper, text):
    """Return the verdicts of a file, each with all fields; an unknown field raises a ValueError."""
    rows = []
    for number, entry in enumerate(tomllib.loads(text)["verdict"], start=1):
        row = {"paper": paper} | dict.fromkeys(TEXTS, "") | {"tried": [], "ours": []}
        try:
            if others := entry.keys() - row.keys():
                raise TypeError(f"{min(others)!r} is no field")
            row |= entry | {"ours": [Result(**one) for one in entry.get("ours", ())]}
        except TypeError as error:
            raise ValueError(f"verdicts/{paper}.toml, verdict {number}: {error}") from error
        rows.append(row)
    return rows


class Points(NamedTuple):
    """Our results for one row of verdicts, and whether they agree with what is printed.

    protocol: of each point; near: in level, equal: in the mean, each an array with the points as
    its last axis (if there are two axes, the first one has the rows of invented numbers).
    """

    protocol: np.ndarray
    near: np.ndarray
    equal: np.ndarray

    def share(self, agree, protocol):
        """Return the fraction of a protocol's points that agree; 0 if there are no points."""
        own = self.protocol == protocol
        return agree[..., own].mean(axis=-1) if own.any() else np.zeros(agree.shape[:-1])

    def gives(self, verdict):
        """Check whether a verdict, or a better one, follows from the points."""
        printed, another, changed = (self.share(self.equal, name) for name in PROTOCOLS[:3])
        found = {REPRODUCED: printed > 0}
        found[ANOTHER] = found[REPRODUCED] | (another >= SHARE)
        found[CHANGED] = found[ANOTHER] | (changed >= SHARE)
        return found[verdict]

    def level(self, share=SHARE):
        """Check whether points are near: as printed, or a fraction `share` of another protocol."""
        printed, another = (self.share(self.near, name) for name in PROTOCOLS[:2])
        return (printed > 0) | (another >= share if share else another > 0)


def verdict_by_rule(cells, invented=()):
    """Return the verdict on cells of a printed table.

    cells: of one row of the verdicts; columns ``protocol``, ``point``, ``distance``, ``equal`` and,
    optionally, ``alike``: whether our number is as near to what the paper prints for each of its
    other methods, or a rule without features is near as well. A *point* is one of our results for
    all of the cells. invented: the same results compared with invented numbers, one :class:`Points`
    for each way to invent them; see :func:`invented_rows`.

    >>> cells = pd.DataFrame({
    ...     "protocol": ["as printed", "another protocol"], "point": ["a", "b"],
    ...     "distance": [-5.0, 0.3], "equal": [False, True]})
    >>> verdict_by_rule(cells)
    'reproduced under another protocol'
    >>> verdict_by_rule(cells.assign(alike=True))
    'cannot tell'
    """
    table = points_of(cells)
    if not table["known"].any():
        return NOT_COMPARABLE
    protocol, near, equal, alike = (table[name] for name in ("protocol", "near", "equal", "alike"))
    points = Points(*map(np.asarray, (protocol, near, equal & ~alike)))
    for verdict in (REPRODUCED, ANOTHER, CHANGED):
        if points.gives(verdict) and chance_of(verdict, invented) <= BY_CHANCE:
            return verdict
    # If some interpretation gives nearly any number, it means little that a few give this one.
    told = not points.level(share=0 if reached_by(invented) > REACHED else SHARE)
    return NOT_REPRODUCED if told else CANNOT_TELL


def chance_of(verdict, invented):
    """Return the fraction of invented rows that would get this verdict, or a better one."""
    return max((float(of.gives(verdict).mean()) for of in invented), default=0.0)


def reached_by(invented):
    """Return the fraction of invented rows to which any of our results is near."""
    return max((float(of.level(share=0).mean()) for of in invented), default=0.0)


def points_of(cells):
    """Return our results for the cells of one row, each judged as a whole, the nearest first.

    ``distance`` is the largest over a point's cells; points on other data are left out.
    """
    cells = cells[cells["protocol"] != "other data"]
    apart, alike = cells["distance"].abs(), cells.get("alike", False)
    cells = cells.assign(distance=apart, near=apart <= TOLERANCE, known=apart.notna(), alike=alike)
    each = cells.groupby(["protocol", "point"], sort=False)
    how = {"distance": "max", "near": "all", "equal": "all", "known": "any", "alike": "all"}
    return each.agg(how).reset_index().sort_values("distance", kind="stable")


def invented_rows(cells, n_drawn=200, seed=0):
    """Yield the agreement of our results with invented numbers.

    First all numbers of the row are shifted by the same amount, up to .10 down and up; then each is
    drawn separately within .10 of the printed number. Counts change by up to a half; an alignment,
    which takes any value depending on the kernel width, is drawn between .05 and 1.
    """
    cells = cells[cells["protocol"] != "other data"].reset_index(drop=True)
    which, _ = pd.factorize(pd.MultiIndex.from_frame(cells[["method", "measure", "parameter"]]))
    printed, measure = cells["printed"].to_numpy(), cells["measure"].to_numpy()
    moved = np.delete(np.linspace(-0.1, 0.1, 21), 10)[:, None]
    drawn = np.random.default_rng(seed).uniform(-0.1, 0.1, size=(n_drawn, which.max() + 1))
    drawn = drawn[:, which]
    for move in (moved, drawn):
        numbers = np.where(measure == "errors", printed * (1 + 5 * move), printed + move)
        if move is drawn:
            numbers = np.where(measure == "alignment", 0.525 + 4.75 * move, numbers)
        yield _points_beside(cells, np.where(measure == "errors", numbers, np.clip(numbers, 0, 1)))


def _points_beside(cells, printed):
    """Compare our points with invented numbers; each invented row gives a row."""
    order = cells.groupby(["protocol", "point"], sort=False).ngroup().to_numpy()
    first = np.unique(order, return_index=True)[1]
    gap = np.abs(cells["ours"].to_numpy() - printed)
    agree = [gap <= TOLERANCE * spread for spread in spreads(cells, printed)]
    whole = [np.column_stack([of[:, order == k].all(axis=1) for k in range(len(first))])
             for of in agree]  # fmt: skip
    return Points(cells["protocol"].to_numpy()[first], *whole)


def spreads(cells, printed):
    """Return the SDs of our number minus the printed one: of a repeat, and of the means."""
    own, measure = cells["std"].to_numpy(), cells["measure"]
    theirs = cells["printed_std"].fillna(cells["std"]).to_numpy()
    counts = np.sqrt(np.maximum(cells["ours"].to_numpy() + printed, 0))
    ours_of, theirs_of = np.sqrt(cells["n"].to_numpy()), np.sqrt(cells["paper"].map(REPEATS))
    both = np.hypot(own, theirs), np.hypot(own / ours_of, theirs / theirs_of)
    conditions = [measure == "errors", measure.str.startswith("n_")]
    return [np.select(conditions, [counts, 0.0], spread) for spread in both]


def reproduction_cells(paper=None, folder=None):
    """Return every cell of the papers' tables beside our results.

    `paper` is one of the five, by default all of them; `folder` contains the ledger, by default the
    one that comes with mvref. Each cell and result of ours has a row: ``ours`` (mean of ``n``
    repeats), ``low`` and ``high`` (95 % confidence interval of the mean), ``std`` (of a repeat),
    the paper's ``printed`` and ``printed_std``, their ``distance`` in standard deviations of a
    repeat, whether it is ``within`` the tolerance, the ``protocol``, and whether our number is as
    near to every other method of the table (``alike``).

    >>> from mvref.experiments import reproduction_cells
    >>> cells = reproduction_cells("mwmvc2").query("dataset == 'mnist1' and method == 'Concat'")
    >>> cells.query("protocol == 'as printed'").set_index("measure")["within"].to_dict()
    {'accuracy': True, 'f1': True}
    """
    return judge(paper, folder)[1]


def reproduction_report(paper=None, folder=None):
    """Return the verdict on every table and figure of the papers.

    `paper` and `folder` are as in :func:`reproduction_cells`. Each statement has a row: ``paper``,
    ``item``, ``dataset``, ``method``, ``claim``, ``place``, ``verdict`` (one of `VERDICTS`),
    ``kind`` ("left open", "contrary" or "other data"), ``under`` (the protocol), ``tried`` (the
    number of protocols), ``near`` (how many of them agree), ``nearest`` (the distance of the
    nearest), ``chance`` (the proportion of invented numbers that would agree as well), ``by``
    ("rule" or "words"), ``why`` (the reason), ``section`` (of the book) and ``measured`` (test or
    line of a chapter). Verdicts by rule follow from the ledger in `folder`; verdicts in words
    are the stored ones.

    >>> from mvref.experiments import reproduction_report
    >>> report = reproduction_report("mvm")
    >>> sorted(set(report["item"]))
    ['fig1', 'fig2', 'fig3', 'table1', 'text']
    """
    return judge(paper, folder)[0]


def judge(paper, folder):
    """Return the report and all cells, of one paper or all; recomputed when a file has changed."""
    if paper not in (None, *PAPERS):
        raise ValueError(f"paper must be one of {list(PAPERS)}, got {paper!r}.")
    report, cells = [], []
    for name in [paper] if paper else PAPERS:
        files = [Path(folder or LEDGER) / f"{name}.csv", LEDGER / "verdicts" / f"{name}.toml"]
        files += [LEDGER / f"{other}.csv" for other in ("paper_numbers", "sizes", "multiverse")]
        stamps = tuple(file.stat().st_mtime_ns for file in files if file.exists())
        entries, found = _judged(name, folder, stamps)
        cells += [cell | {"row": cell["row"] + len(report)} for cell in found]
        report += entries
    return pd.DataFrame(report, columns=REPORT), pd.DataFrame(cells, columns=[*CELLS, "row"])


@lru_cache(maxsize=16)
def _judged(paper, folder, stamps):
    """Return the verdicts of one paper and all cells, each item summarised once."""
    stored, ours = (
        cache(lambda item, of=of: indexed(_confirmed(paper, item, of))) for of in (None, folder)
    )
    printed = read_paper_numbers(paper)
    tables = {place: printed_cells(numbers) for place, numbers in printed.groupby("place")}
    nothing = printed_cells(printed[:0])
    report, cells, of_multiverse = [], [], cache(_of_multiverse)
    for row in read_verdicts(paper).itertuples():
        entry = row._asdict() | {"by": "words", "nearest": np.nan, "chance": np.nan}
        try:
            entry |= _counted(row.tried, of_multiverse)
            _check(row.ours, stored)
            found = cells_of(row, tables.get(row.place, nothing), ours) if row.ours else []
            known = (cell["point"] == "data" or cell["ours"] == cell["ours"] for cell in found)
            if folder is None and not all(known):
                raise ValueError(f"no result of ours is {[one.point for one in row.ours]}.")
        except (ValueError, NameError, SyntaxError) as error:  # the last two are raised by queries
            place = f"verdicts/{paper}.toml, verdict {row.Index + 1} ({row.claim})"
            raise ValueError(f"{place}: {error}") from error
        if row.ours:
            found = pd.DataFrame(found, columns=CELLS)
            gap = (found["ours"] - found["printed"]).abs()
            found["equal"] = gap <= TOLERANCE * spreads(found, found["printed"])[1]
            cells += found.assign(row=row.Index).to_dict("records")
            points = points_of(found).query("known")
            invented = list(invented_rows(found)) if len(points) else []
            entry |= {"by": "rule", "verdict": verdict_by_rule(found, invented)}
            if entry["verdict"] in (ANOTHER, CHANGED):  # its counts are over these points
                of_verdict = PROTOCOLS[VERDICTS.index(entry["verdict"])]
                points = points[points["protocol"] == of_verdict]
            entry |= {"tried": len(points), "near": int(points["equal"].sum())}
            entry["nearest"] = points["distance"].min()
            if entry["verdict"] in (REPRODUCED, ANOTHER, CHANGED):
                entry["chance"] = chance_of(entry["verdict"], invented)
            elif invented:  # chance of agreement
                entry["chance"] = reached_by(invented)
        report.append(entry)
    return report, cells


def _confirmed(paper, item, folder):
    """Summarise an item; results found by a search count by their repeats in ``<item>_again``."""
    item = find_item(item if "." in item else f"{paper}.{item}").full_name
    found, again = summarize(item, folder), f"{item}_again"
    if again in ITEMS and len(other := summarize(again, folder)):
        found = pd.concat([other, found]).drop_duplicates([*found.columns.difference(SUMMARY[3:])])
    return found


def _counted(tried, of_multiverse):
    """Count the protocols or universes tried, and those in which a statement holds."""
    if all(one.keys() == {"protocol", "holds"} for one in tried):
        return {"tried": len(tried), "near": sum(one["holds"] for one in tried)}
    needed = {"multiverse", "statement"}
    if len(tried) > 1 or not needed <= tried[0].keys() <= needed | {"where"}:
        raise ValueError(f"tried must be protocols, or a multiverse's statement, got {tried!r}.")
    return of_multiverse(**tried[0])


def _of_multiverse(multiverse, statement, where=""):
    """Count the same for the universes in which a statement was evaluated."""
    known = statement_curve(find_multiverse(multiverse), statement).dropna(subset=["value"])
    if where:  # "rivals' c" as rivals_c
        known = known[known.rename(columns=lambda name: name.replace("' ", "_")).eval(where)]
    if known.empty:
        raise ValueError(f"no universe of {multiverse} is found by {where!r}.")
    return {"tried": len(known), "near": int(known["near"].sum())}


def indexed(summary):
    """Return a summary, its varying parameters, (data set, method, measure) -> points, results."""
    names = [name for name in summary.columns.difference(SUMMARY) if summary[name].nunique()]
    found = defaultdict(list)
    for row in summary.to_dict("records"):
        point = {name: _text(row[name]) for name in names if pd.notna(row[name])}
        values = [row.get(name, np.nan) for name in ("mean", *MEASURED[1:])]
        found[tuple(map(row.get, SUMMARY[:3]))].append((point, values))
    return summary, {name for name in names if summary[name].nunique() > 1}, found


def _check(results, ours):
    """Raise a ValueError at the first protocol, name or value that none of our results has."""
    for result in results:
        if result.protocol not in PROTOCOLS:
            raise ValueError(f"a protocol must be one of {PROTOCOLS}, got {result.protocol!r}.")
        if result.item == "data":
            continue
        rows = [{"dataset": of[0], "method": of[1], **own}
                for of, points in ours(result.item)[2].items() for own, _ in points]  # fmt: skip
        own = {"dataset": result.dataset, "method": result.method, **result.at}
        for name, value in own.items():
            known = {row[name] for row in rows if name in row}
            if not known or _text(value) not in known | {"*"}:
                among = f"one of {sorted(known)}" if known else "none of its parameters"
                raise ValueError(f"{result.point!r}: {name} is {among}, got {value!r}.")
            rows = [row for row in rows if value == "*" or _text(value) == row.get(name)]


def cells_of(row, printed, ours):
    """Return all alternatives of a row judged by numbers, cell by cell; counts and their sum.

    printed: cells of the table; ours: item -> its summary as returned by :func:`indexed`.
    """
    printed = printed[printed["dataset"] == row.dataset]
    if row.measure:
        printed = printed[printed["measure"] == row.measure]
    own = printed["method"] == row.method if row.method else printed["method"].notna()
    asked, others = list(printed[own].itertuples()), _by_place(printed[~own])
    if not asked:
        wanted = row.place, row.dataset, row.method, row.measure
        raise ValueError(f"the paper prints nothing for {wanted}.")
    alternatives, baselines = [], []
    for result in row.ours:
        for one in _each(result, set(printed.loc[own, "measure"]), ours):
            found = [_cell(row, cell, one, ours) for cell in asked]
            if len(found) > 1 and all(cell["measure"] == "errors" for cell in found):
                found.append(_sum(found))
            kept = baselines if result.protocol == "baseline" else alternatives
            kept += found
    for cell in alternatives:
        spreads = {name: cell[name] for name in ("std", "printed_std", "measure")}
        cell["distance"] = distance(cell["ours"], cell["printed"], **spreads)
        cell["within"] = bool(abs(cell["distance"]) <= TOLERANCE)
        # With our result's standard deviation: a rule without features has almost none.
        passing = [
            abs(distance(other["ours"], cell["printed"], **spreads)) <= TOLERANCE
            for other in baselines
            if all(other[name] == cell[name] for name in ("method", "measure", "parameter"))
        ]
        cell["alike"] = any(passing) or (bool(row.method) and _alike(cell, others))
    return alternatives


def _each(result, measures, ours):
    """Return the results that a result with ``*`` among its values stands for."""
    names = [name for name, value in result.at.items() if value == "*"]
    if not names:
        return [result]
    rows = ours(result.item)[0].query("dataset == @result.dataset and measure in @measures")
    of_method = (rows["method"] == result.method) | (result.method == "*")
    rows = rows[of_method].reindex(columns=names).dropna().drop_duplicates().sort_values(names)
    values = (dict(zip(names, row, strict=True)) for row in rows.itertuples(index=False))
    return [result._replace(at={**result.at, **of_row}) for of_row in values]


def _by_place(printed):
    """Return (measure, parameter) -> values and SDs of the methods; "sum": over all parameters."""
    found = defaultdict(list)
    for (measure, _), part in printed.groupby(["measure", "method"], sort=False):
        for cell in part.itertuples():
            found[measure, cell.parameter].append((cell.value, cell.std))
        found[measure, "sum"].append((part["value"].sum(), part["std"].iloc[0]))
    return found


def _alike(cell, others):
    """Check whether our number is near the printed numbers of all other methods."""
    total = "sum" in json.loads(cell["parameter"]).values()
    spread = {"std": cell["std"], "measure": cell["measure"]}
    far = [
        distance(cell["ours"], value, printed_std=std, **spread)
        for value, std in others[cell["measure"], "sum" if total else cell["parameter"]]
    ]
    return bool(far) and bool(np.all(np.abs(far) <= TOLERANCE))


def _cell(row, cell, result, ours):
    """Return a printed cell beside our summary at a point, if exactly one matches."""
    found = {"paper": row.paper, "item": row.item, "dataset": row.dataset, "method": cell.method}
    found |= {"measure": cell.measure, "parameter": cell.parameter, "result": result}
    found |= {"protocol": result.protocol, "point": result.point}
    found |= {"printed": cell.value, "printed_std": cell.std} | dict.fromkeys(MEASURED, np.nan)
    if result.item == "data":
        return found | {"ours": size(cell.dataset, cell.measure)}
    method, options = result.method, {name: _text(value) for name, value in result.at.items()}
    wanted = {name: _text(value) for name, value in json.loads(cell.parameter).items()} | options
    if method == "*":  # methods need not have all of the parameters
        method, options = cell.method, {}
    _, varying, results = ours(result.item)
    fitting = defaultdict(list)
    for own, values in results[result.dataset, method, cell.measure]:
        said = {name: text for name, text in own.items() if name in varying or name in wanted}
        if options.items() <= said.items() <= wanted.items():
            fitting[len(said)].append(values)
    nearest = fitting[max(fitting)] if fitting else []
    if len(nearest) > 1:
        what = f"{len(nearest)} results for {cell.measure} of {method}"
        raise ValueError(f"{result.point!r} is {what}.")
    return found | (dict(zip(MEASURED, nearest[0], strict=True)) if nearest else {})


def _sum(cells):
    """Return the sum of counts as an additional cell."""
    total = {name: sum(cell[name] for cell in cells) for name in ("ours", "printed")}
    blank = dict.fromkeys(("low", "high", "std"), np.nan)
    [name] = json.loads(cells[0]["parameter"])
    return cells[0] | blank | total | {"parameter": json.dumps({name: "sum"})}


def _text(value):
    """Return a parameter as text, the same for the spellings of ledger and verdicts."""
    return f"{value:g}" if isinstance(value, float | int) else str(value)
