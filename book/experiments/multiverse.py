"""Specification curves: one printed number beside the results of all universes.

A *curve* is a table with a row per universe, in the order of its ``value``: its choices, the mean
over the repeats and their standard deviation, the ``distance`` from the printed number in standard
deviations (:func:`.report.distance`), whether that is ``near``, and the ``failure``, if it
failed. ``attrs`` has the title, the axes, the printed number, and what the paper's stated protocol
gives. `rows` are always rows of the ledger "multiverse", by default of the stored one.

A search among hundreds of universes finds some by chance. So the item ``<name>_again`` runs the
universes that give all printed numbers of a data set at once again, with other seeds.
:mod:`.universes` declares the universes.
"""

import re
from dataclasses import replace
from functools import cache, lru_cache
from itertools import combinations
from math import comb
from pathlib import Path

import numpy as np
import pandas as pd

from .engine import COLUMNS, Item, Ledger, encode_parameter
from .items import ITEMS, PAPERS, run_items
from .report import TOLERANCE, distance, read_ledger, read_paper_numbers
from .universes import FAILURES, PAPER
from .words import AXES, choice_of, readable, span

MULTIVERSES = {m.name: m for paper in PAPERS for m in getattr(paper, "MULTIVERSES", ())}
DECIDES = 0.8  # axes are named until they explain this fraction of the variance


def find_multiverse(name):
    """Return the multiverse of a name, with or without the prefix "multiverse."."""
    short = str(name).removeprefix(f"{PAPER}.")
    if short not in MULTIVERSES:
        raise ValueError(f"item must be one of {list(MULTIVERSES)}, got {name!r}.")
    return MULTIVERSES[short]


def curve(multiverse, dataset, method, measure="accuracy", rows=None, universes=None):
    """Return the curve of one printed number, by default over all distinct points of its method."""
    universes = universes or multiverse.points(method, dataset)
    values, failures = _repeats(multiverse, dataset, method, measure, rows, universes)
    name, *of = measure.split()
    spread = multiverse.paper, multiverse.place, dataset, method, " ".join([f"{name}_std", *of])
    return _compared(
        universes, values, failures, name, title=readable(f"{dataset}, {method}, {measure}"),
        printed=printed_number(multiverse, dataset, method, measure),
        stated=stated_number(multiverse, dataset, method, measure),
        printed_std=_printed(*spread),
    )  # fmt: skip


def order_curve(multiverse, dataset, first, second, measure="accuracy", rows=None):
    """Return the curve of the mean paired difference, first minus second method, by universe.

    A universe in which either method fails has failed.
    """
    universes = multiverse.universes(dataset)
    (one, failed), (other, failed_too) = (
        _repeats(multiverse, dataset, method, measure, rows, universes)
        for method in (first, second)
    )
    printed, stated = (
        number(multiverse, dataset, first, measure) - number(multiverse, dataset, second, measure)
        for number in (printed_number, stated_number)
    )
    title = readable(f"{dataset}, {first} minus {second}, {measure}")
    failures = failed.where(failed != "", failed_too)
    attrs = {"title": title, "printed": printed, "stated": stated, "order": True}
    return _compared(universes, one - other, failures, "difference", **attrs)


def statement_curve(multiverse, name, rows=None):
    """Return the curve of a statement: its value for the means, and its standard deviation.

    ``near`` is where it holds; ``attrs`` has the threshold ``above`` which its value must be. A
    universe in which one of the data sets or methods fails has failed.
    """
    if name not in multiverse.statements:
        raise ValueError(f"statement must be one of {list(multiverse.statements)}, got {name!r}.")
    statement = multiverse.statements[name]
    datasets = statement.datasets or multiverse.datasets
    universes = _common(multiverse, datasets)
    values, failures = {}, pd.Series("", range(len(universes)))
    for dataset in datasets:
        for method, measures in multiverse.methods.items():
            for measure in measures:
                cell = dataset, method, measure
                values[cell], failed = _repeats(multiverse, *cell, rows, universes)
                failures = failures.where(failures != "", failed)
    table = pd.concat(values, axis=1).T  # a row per data set, method, measure, repeat
    by_repeat = [statement.value(of.droplevel(3).reindex([*values]).T)
                 for _, of in table.groupby(level=3)]  # fmt: skip
    means = table.groupby(level=[0, 1, 2]).mean().T
    found = pd.DataFrame(universes)
    found["value"] = statement.value(means).where(means.notna().all(axis=1)).astype(float)
    found["std"] = pd.concat(by_repeat, axis=1).astype(float).std(axis=1)
    found["n"] = table.T.notna().sum(axis=1) // len(values)
    found["failure"], found["near"] = failures, found["value"] > statement.above
    return _sorted(found, universes, title=readable(statement.text), above=statement.above)


def _common(multiverse, datasets):
    """Return the universes that all of these data sets have in common."""
    first, *others = map(multiverse.universes, datasets)
    return [universe for universe in first if all(universe in other for other in others)]


def printed_number(multiverse, dataset, method, measure):
    """Return the printed number, or NaN; "errors digit=3": at one parameter, "errors": the sum."""
    return _printed(multiverse.paper, multiverse.place, dataset, method, measure)


def stated_number(multiverse, dataset, method, measure):
    """Return the mean by the stated protocol, from the paper's own ledger, or NaN."""
    if multiverse.stated is None:
        return np.nan
    point = encode_parameter(multiverse.stated)
    return _printed(multiverse.paper, multiverse.place, dataset, method, measure, point)


@cache
def _printed(paper, item, dataset, method, measure, point=None):
    if not item:
        return np.nan
    measure, *of = measure.split()
    cell = {"item": item, "dataset": dataset, "method": method, "measure": measure}
    if point is None:
        if of:
            cell["parameter"] = encode_parameter({k: int(v) for k, v in (p.split("=") for p in of)})
        return float(_where(read_paper_numbers(paper), cell)["value"].sum(min_count=1))
    return float(_where(read_ledger(paper), cell | {"parameter": point})["value"].mean())


def _where(rows, cell):
    for column, value in cell.items():
        rows = rows[rows[column] == value]
    return rows


def _repeats(multiverse, dataset, method, measure, rows, universes):
    """Return values (n_universes, n_repeats), NaN for missing repeats, and failures as text.

    A universe with a failed repeat has failed, whatever the other repeats gave.
    """
    if rows is None:
        stored = _stored(Ledger(PAPER).path.stat().st_mtime_ns)
        table = stored(multiverse.name, dataset, method)
    else:
        cell = {"item": multiverse.name, "dataset": dataset, "method": method}
        table = _by_universe(_where(rows, cell))
    points = multiverse.keys(method, universes)
    table = table.reindex(points).reset_index(drop=True)
    words = {i: reason for i, (_, reason) in enumerate(FAILURES, 1)}
    if table.empty or measure not in table:
        return pd.DataFrame(index=table.index, dtype=float), pd.Series("", table.index)
    failures = table["failure"].max(axis=1).map(words).fillna("")
    return table[measure].where(failures == ""), failures


@lru_cache(maxsize=1)
def _stored(stamp):
    """Return (item, data set, method) -> a row per universe, cached by the ledger's time stamp."""
    rows, none = read_ledger(PAPER), pd.DataFrame(columns=COLUMNS)
    rows = dict(list(rows.groupby(["item", "dataset", "method"])))
    return cache(lambda *cell: _by_universe(rows.get(cell, none)))


def _by_universe(rows):
    return rows.pivot(index="parameter", columns=["measure", "repeat"], values="value")


def _compared(universes, values, failures, measure, **attrs):
    """Compare each universe with the printed number."""
    found = pd.DataFrame(universes)
    found["value"], found["std"] = values.mean(axis=1), values.std(axis=1)
    found["n"], found["failure"] = values.count(axis=1), failures
    pairs = zip(found["value"], found["std"], strict=True)
    how = {"measure": measure, "printed_std": attrs.get("printed_std", np.nan)}
    found["distance"] = [distance(mean, attrs["printed"], std=std, **how) for mean, std in pairs]
    found["near"] = found["distance"].abs() <= TOLERANCE
    return _sorted(found, universes, **attrs)


def _sorted(found, universes, **attrs):
    axes = {axis: found[axis].unique().tolist() for axis in universes[0]}
    found = found.sort_values("value", kind="stable", ignore_index=True)
    found.attrs = {"axes": axes, **attrs}
    return found


def joint(multiverse, dataset, rows=None, tolerance=TOLERANCE):
    """Check whether a universe gives all printed numbers of a data set; return a row per universe.

    A column per printed number shows whether it is near; ``accuracies``, ``others`` and ``all``
    show whether all accuracies, all other numbers, and all numbers are near.
    """
    cells = [(m, measure) for m, measures in multiverse.methods.items() for measure in measures]
    universes, axes = multiverse.universes(dataset), [*multiverse.axes]
    curves = [curve(multiverse, dataset, *cell, rows, universes).set_index(axes)["distance"]
              for cell in cells]  # fmt: skip
    found = pd.concat(curves, axis=1, keys=[" ".join(cell) for cell in cells]).abs() <= tolerance
    own = np.array([measure == "accuracy" for _, measure in cells])
    summary = {
        "accuracies": found.loc[:, own].all(axis=1),
        "others": found.loc[:, ~own].all(axis=1),
        "all": found.all(axis=1),
    }
    return found.assign(**summary).reset_index()


def shares(table, value="value"):
    r"""Return the share of each axis in the variance over the universes; the shares add up to 1.

    Let V(S) be the variance of the means over all universes that agree in the axes S: the variance
    explained by S. V(nothing) is 0, and V(all axes) the whole variance. The share of an axis is its
    increment of V, averaged over all orders in which the axes can be revealed (Shapley value). In
    a balanced design the share is the variance of the axis alone, plus an equal part of each of its
    interactions. The shares also add up if some universes are left out or have failed.

    >>> table = pd.DataFrame({"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "value": [0, 2, 4, 10]})
    >>> table.attrs["axes"] = {"a": [0, 1], "b": [0, 1]}
    >>> (14 * shares(table)).to_dict()
    {'a': 9.5, 'b': 4.5}
    """
    found = table.dropna(subset=[value])
    axes = [axis for axis, choices in table.attrs["axes"].items() if len(choices) > 1]
    codes, n_groups = {}, 1  # the sum of the codes of several axes numbers a group
    for axis in axes:
        codes[axis] = n_groups * pd.factorize(found[axis])[0]
        n_groups *= found[axis].nunique()
    explained = {(): 0.0}
    for size in range(1, len(axes) + 1):
        for known in combinations(axes, size):
            of = sum(map(codes.get, known))
            means = np.bincount(of, found[value]) / np.maximum(np.bincount(of), 1)
            explained[known] = means[of].var()
    whole = explained[tuple(axes)]
    owned = dict.fromkeys(axes, 0.0)
    for known, before in explained.items():
        for axis in set(axes) - set(known):
            after = explained[tuple(a for a in axes if a in (*known, axis))]
            weight = len(axes) * comb(len(axes) - 1, len(known))
            owned[axis] += (after - before) / (weight * whole) if whole else 0.0
    return pd.Series(owned, dtype=float).sort_values(ascending=False, kind="stable")


def told(table):
    """Summarise a curve as heading -> text: where it agrees, its range, and the deciding axes."""
    value, attrs, of = table["value"].dropna(), table.attrs, f"of {len(table)}"
    order = attrs.get("order", False)
    cells = {"printed": f"{attrs['printed']:{'+' * order}.4g}"} if "printed" in attrs else {}
    if order:
        cells |= {"better in": f"{(value > 0).sum()} {of}", "worse in": f"{(value < 0).sum()} {of}"}
        cells["equal in"] = f"{(value == 0).sum()} {of}"
    else:
        held = "holds in" if "above" in attrs else "within the spread in"
        cells[held] = f"{table['near'].sum()} {of}"
    cells |= {"holds above": f"{attrs['above']:g}"} if "above" in attrs else {}
    if len(value):
        cells |= {"ours, least to largest": span(value), "decided by": _deciding(table)}
    if not order and (common := common_choices(table)):
        cells["all of them share"] = common
    return cells | ({"not counted:": untold} if (untold := _untold(table)) else {})


def told_table(tables):
    """Summarise several curves in a table with a row for each."""
    rows = {table.attrs["title"]: told(table) for table in tables}
    found = pd.DataFrame.from_dict(rows, orient="index").fillna("\N{EN DASH}")
    return found.replace(r"(?<!\w)-(?=\d)", "\N{MINUS SIGN}", regex=True)


def sentence(table):
    """Summarise a curve in one line."""
    parts = [f"{head} {words}" for head, words in told(table).items()]
    return f"{table.attrs['title']}: {'; '.join(parts)}."


def joint_sentence(multiverse, dataset, rows=None):
    """State in how many universes all printed numbers are near, and in how many of them again."""
    found = joint(multiverse, dataset, rows)["all"]
    text = readable(f"{dataset}, all at once: {found.sum()} of {len(found)} universes")
    twice = again(multiverse, rows)
    if found.any() and twice.name in set((read_ledger(PAPER) if rows is None else rows)["item"]):
        confirmed = joint(twice, dataset, rows)["all"].sum()
        text += f"; {confirmed} of these also in {multiverse.n_again} repeats with other seeds"
    return f"{text}."


def again(multiverse, rows=None):
    """Return the multiverse of the universes that give all printed numbers, in other repeats."""

    @cache
    def found(dataset):
        table = joint(multiverse, dataset, rows)
        return set(table.loc[table["all"], [*multiverse.axes]].itertuples(index=False, name=None))

    def lost(dataset, universe):
        return tuple(universe.values()) not in found(dataset)

    rules = (*multiverse.rules, ("the search has not found it", lost))
    title = f"{multiverse.title}: what the search has found, again"
    name, n_repeats = f"{multiverse.name}_again", multiverse.n_again
    return replace(multiverse, name=name, title=title, rules=rules, n_repeats=n_repeats)


def item_again(multiverse):
    """Return the item that runs these universes again, after the search."""

    def jobs(dataset, quick, rows):
        return again(multiverse, rows).jobs(dataset, quick, rows)

    of_them, needs = again(multiverse), (multiverse.name,)
    return Item(PAPER, of_them.name, of_them.title, multiverse.datasets, jobs, needs=needs)


def _deciding(table):
    owned = shares(table)
    named = owned[owned.cumsum().shift(fill_value=0.0) < DECIDES]
    return ", ".join(f"{AXES.get(a, a)} {s:.0%}" for a, s in named.items() if s) or "no choice"


def common_choices(table):
    """Return the choices that all near universes have in common, in words."""
    near = table[table["near"]]
    alike = {axis: near[axis].iloc[0] for axis, choices in table.attrs["axes"].items()
             if len(choices) > 1 and near[axis].nunique() == 1}  # fmt: skip
    return ", ".join(f"{AXES.get(a, a)} = {choice_of(a, choice)}" for a, choice in alike.items())


def _untold(table):
    """Return text on the universes that failed or have not run."""
    failed = table.loc[table["failure"] != "", "failure"].value_counts()
    parts = [f"{count} failed: {reason}" for reason, count in failed.items()]
    missing = (table["value"].isna() & (table["failure"] == "")).sum()
    return "; ".join(parts + ([f"{missing} have not run"] if missing else []))


def plot_curve(table):
    """Plot a curve and, below it, the choices of every axis with several; return the figure.

    Universes that are near, or in which a statement holds, are blue; the width of the band is the
    median standard deviation of the near ones, and a dashed line is the stated protocol.
    """
    import matplotlib.pyplot as plt

    from .plotting import PALETTE

    attrs = table.attrs
    axes = {axis: choices for axis, choices in attrs["axes"].items() if len(choices) > 1}
    known = table.dropna(subset=["value"]).reset_index(drop=True)
    width = np.clip(150 / max(len(known), 1), 1, 4)  # width of a mark: few universes, wide marks
    lines = [(axis, choice) for axis, choices in axes.items() for choice in choices]
    fig, (above, below) = plt.subplots(
        2, sharex=True, figsize=(6.8, 2.9 + 0.18 * len(lines)), dpi=220,
        height_ratios=(2.4, 0.2 + 0.18 * len(lines)),
    )  # fmt: skip
    colors = np.where(known["near"], PALETTE["blue"], "0.5")
    words = ("holds", "does not") if "above" in attrs else ("within the spread", "outside")
    if "above" in attrs:
        above.axhline(attrs["above"], color=PALETTE["black"], lw=1, label="must be exceeded")
    else:
        _draw_printed(above, known, attrs)
    for color, label, z in zip((PALETTE["blue"], "0.5"), words, (4, 3), strict=True):
        own = known["value"][colors == color]
        above.scatter(own.index, own, color=color, s=8 * width, zorder=z, label=label,
                      rasterized=True)  # fmt: skip
    above.set_title(attrs["title"], loc="left")
    fig.legend(loc="outside upper left", fontsize="small", ncols=3)
    above.margins(x=0.01)
    for y, (axis, choice) in enumerate(lines):
        at = np.flatnonzero(known[axis] == choice)
        marks = {"s": 12 * width**1.2, "marker": "|", "linewidths": width, "rasterized": True}
        below.scatter(at, np.full(len(at), y), c=colors[at], **marks)
    starts = np.cumsum([0, *map(len, axes.values())])[1:-1]
    below.hlines(starts - 0.5, 0, len(known) - 1, color="0.8", lw=0.6)
    told = [f"{AXES.get(axis, axis)}: {choice_of(axis, choice)}" for axis, choice in lines]
    below.set_yticks(range(len(lines)), told)
    below.tick_params(axis="y", labelsize=8, length=0)
    below.set(
        xlabel=f"{len(known)} combinations of choices, sorted by value",
        ylim=(len(lines) - 0.4, -0.6),
    )
    below.grid(axis="y", visible=False)
    below.xaxis.get_major_locator().set_params(integer=True)
    return fig


def _draw_printed(ax, known, attrs):
    """Draw the printed number, its standard deviation, and the stated protocol."""
    from .plotting import PALETTE

    typical = known[known["near"]] if known["near"].any() else known
    ours = typical["std"].median()
    theirs = attrs.get("printed_std", np.nan)
    half = TOLERANCE * np.hypot(ours, ours if np.isnan(theirs) else theirs)
    printed, stated = attrs["printed"], attrs["stated"]
    if np.isfinite(half):  # not after a single repeat
        ax.axhspan(printed - half, printed + half, color=PALETTE["yellow"], alpha=0.3, lw=0,
                   label="spread of the printed number")  # fmt: skip
    ax.axhline(printed, color=PALETTE["black"], lw=1, label="printed number")
    if np.isfinite(stated):
        ax.axhline(
            stated, color=PALETTE["vermilion"], lw=1.2, ls="--", label="stated protocol, tuned"
        )


def run_multiverse(name, *, quick=False, n_jobs=1, folder=None, only=None, figures=None):
    """Run what the ledger lacks; return the summaries of all data sets as one text.

    figures: folder for a picture of every curve, default none; others as in :func:`.run_items`.
    """
    multiverse = find_multiverse(name)
    item = item_again(multiverse) if multiverse.place else multiverse.item
    folder = run_items([item.full_name], quick=quick, n_jobs=n_jobs, folder=folder, only=only)
    rows, lines, curves = read_ledger(PAPER, folder), [], []
    for dataset in multiverse.datasets if only is None else (only,):
        cells = [(method, measure) for method, measures in multiverse.methods.items()
                 for measure in measures
                 if np.isfinite(printed_number(multiverse, dataset, method, measure))]  # fmt: skip
        curves += [curve(multiverse, dataset, *cell, rows) for cell in cells]
        lines += [joint_sentence(multiverse, dataset, rows)] if cells else []
    curves += [
        statement_curve(multiverse, name, rows)
        for name, statement in multiverse.statements.items()
        if only is None or statement.datasets == (only,)
    ]
    if figures:
        _draw(curves, Path(figures), multiverse.name)
    return "\n".join([*map(sentence, curves), *lines])


def _draw(tables, into, name):
    import matplotlib.pyplot as plt

    from .plotting import use_style

    use_style()
    into.mkdir(parents=True, exist_ok=True)
    for table in tables:
        fig = plot_curve(table)
        title = re.sub(r"\W+", "-", table.attrs["title"])
        fig.savefig(into / f"{name}-{title}.png")
        plt.close(fig)


# Here, since which universes run again is read from rows
AGAIN = [item_again(multiverse) for multiverse in MULTIVERSES.values() if multiverse.place]
ITEMS.update({item.full_name: item for item in AGAIN})
