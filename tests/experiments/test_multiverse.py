"""The multiverse: universes and their rules, failures, curves, and who owns the spread."""

import re
import shutil
from dataclasses import replace
from itertools import permutations, product
from math import factorial

import numpy as np
import pandas as pd
import pytest

from mvref.__main__ import main
from mvref.core.input import MultiView
from mvref.datasets import fetch_uci
from mvref.experiments import multiverse as reading
from mvref.experiments import universes_mvna
from mvref.experiments.engine import Ledger, encode_parameter, run
from mvref.experiments.mvna_kmhks import NOT_ONE
from mvref.experiments.nystrom_methods import at, run_of, table_of
from mvref.experiments.tuning import Split
from mvref.experiments.universes import FAILURES, Multiverse, Statement
from mvref.experiments.universes_mvna import (
    DATA,
    TABLE2_OF_MVNA,
    TABLE3_OF_MVNA,
    on_table2,
    split_of,
)
from mvref.experiments.words import AXES, choice_of, in_words, span

FITTED = {"plain": 0.4, "rich": 0.6}


def on_toy(name, method, *, measures, data, width, share=0.0, seed):
    """An accuracy that is known, and fails in one universe of one repeat."""
    if data == "rich" and width == 4 and method == "one" and seed % 2:
        raise np.linalg.LinAlgError
    noise = 0.01 * (seed % 3 - 1)
    found = {"accuracy": FITTED[data] + 0.05 * width * (method == "one") + share + noise}
    return {measure: found.get(measure, 0.25) for measure in measures}


TOY = Multiverse(
    name="toy",
    title="a toy",
    paper="mvna_kmhks",
    place="table2",
    datasets=("iris",),
    axes={"data": {"iris": ("plain", "rich")}, "width": (1, 2, 4), "share": (0.0, 0.01)},
    methods={"one": ("accuracy", "alignment"), "two": ("accuracy",)},
    function=on_toy,
    rules=(("too wide", lambda dataset, u: u["data"] == "plain" and u["width"] == 4),),
    without={"two": ("share",)},
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("toy")
    run(TOY.item, "iris", Ledger("multiverse", path))
    return path


@pytest.fixture(scope="module")
def rows(folder):
    return Ledger("multiverse", folder).read()


def test_universes_are_all_choices_but_those_left_out():
    universes = TOY.universes("iris")
    every = product(("plain", "rich"), (1, 2, 4), (0.0, 0.01))
    kept = [choice for choice in every if choice[:2] != ("plain", 4)]
    assert [tuple(universe.values()) for universe in universes] == kept


def test_a_method_runs_once_where_its_universes_differ_in_what_it_does_not_have():
    jobs = list(TOY.jobs("iris", False, None))
    counts = pd.Series([job.method for job in jobs]).value_counts()
    assert counts.to_dict() == {"one": 4 * 10, "two": 4 * 5}
    assert not any("share" in job.parameter for job in jobs if job.method == "two")


def test_a_failed_universe_is_told_and_stops_nothing(rows):
    seeds = [TOY.item.seed("iris", repeat) for repeat in range(4)]
    assert any(seed % 2 for seed in seeds) and not all(seed % 2 for seed in seeds)
    table = reading.curve(TOY, "iris", "one", rows=rows)
    failed = table[table["failure"] != ""]
    assert len(table) == 10 and len(failed) == 2
    assert (failed["width"] == 4).all() and failed["value"].isna().all()
    assert set(failed["failure"]) == {FAILURES[0][1]}
    table.attrs["printed"] = 0.5
    assert "2 failed: a matrix is singular." in reading.sentence(table)
    other = reading.curve(TOY, "iris", "two", rows=rows)
    assert (other["failure"] == "").all() and other["value"].notna().all()
    order = reading.order_curve(TOY, "iris", "one", "two", rows=rows)
    assert (order["failure"] != "").sum() == order["value"].isna().sum() == 2


@pytest.mark.parametrize(
    ("error", "number"),
    [(np.linalg.LinAlgError(), 1), (ValueError(), 2), (FloatingPointError(), 3)],
)
def test_every_kind_of_failure_has_its_number(error, number):
    def fail(name, method, *, measures, seed):
        raise error

    toy = Multiverse("t", "", ("iris",), {}, {"one": ("accuracy",)}, fail)
    job = next(iter(toy.jobs("iris", False, None)))
    assert job.function(seed=0) == {"accuracy": 0.0, "failure": number}


def test_a_value_that_is_not_finite_is_a_failure_and_another_error_is_not():
    def jobs(function):
        toy = Multiverse("t", "", ("iris",), {}, {"one": ("accuracy",)}, function)
        return next(iter(toy.jobs("iris", False, None))).function

    def nothing(*names, measures, seed):
        return {"accuracy": np.nan}

    def mistake(*names, measures, seed):
        raise KeyError("ours")

    assert jobs(nothing)(seed=0)["failure"] == 3
    with pytest.raises(KeyError):
        jobs(mistake)(seed=0)


# ------------------------------------------------------------------------------------- curves


def test_a_curve_has_the_means_in_order_and_the_distance_by_hand(rows, monkeypatch):
    monkeypatch.setattr(reading, "printed_number", lambda *cell: 0.51)
    table = reading.curve(TOY, "iris", "one", rows=rows)
    known = table.dropna(subset=["value"])
    assert known["value"].is_monotonic_increasing and len(known) == 8
    seeds = np.array([TOY.item.seed("iris", repeat) for repeat in range(4)])
    noise = 0.01 * (seeds % 3 - 1.0)
    assert noise.std() > 0
    for row in known.itertuples():
        mean = FITTED[row.data] + 0.05 * row.width + row.share + noise.mean()
        apart = (mean - 0.51) / (np.sqrt(2) * noise.std(ddof=1))
        assert row.value == pytest.approx(mean) and row.n == 4
        assert row.distance == pytest.approx(apart, rel=1e-4)
        assert row.near == (abs(apart) <= 2)
    assert 0 < known["near"].sum() < 8
    assert f"within the spread in {known['near'].sum()} of 10;" in reading.sentence(table)


def test_differences_are_paired_by_universe_and_repeat(rows):
    table = reading.order_curve(TOY, "iris", "one", "two", rows=rows).dropna(subset=["value"])
    assert np.allclose(table["value"], 0.05 * table["width"] + table["share"])
    assert np.allclose(table["std"], 0.0, atol=1e-9), "the noise of a repeat cancels"
    text = reading.sentence(table)
    assert "better in 8 of 8; worse in 0 of 8; equal in 0 of 8" in text


def test_all_at_once_is_the_same_universe(rows, monkeypatch):
    printed = {("one", "accuracy"): 0.65, ("one", "alignment"): 0.25, ("two", "accuracy"): 0.6}
    monkeypatch.setattr(reading, "printed_number", lambda m, d, *cell: printed[cell])
    found = reading.joint(TOY, "iris", rows)
    for row in found.itertuples():
        cells = []
        for cell in printed:
            own = reading.curve(TOY, "iris", *cell, rows)
            axes = [axis for axis in TOY.axes if axis in own]
            own = own.set_index(axes)["near"]
            cells.append(bool(own[tuple(getattr(row, axis) for axis in axes)]))
        wanted = cells[0] and cells[2], cells[1], all(cells)
        assert (row.accuracies, row.others, row.all) == wanted
    assert 0 < found["all"].sum() < found["others"].sum()
    text = reading.joint_sentence(TOY, "iris", rows)
    assert text == f"iris, all at once: {found['all'].sum()} of 10 universes."
    printed["one", "alignment"] = 0.3  # which no universe has
    found = reading.joint(TOY, "iris", rows)
    assert found["accuracies"].any() and not found["all"].any()


def test_a_curve_has_each_universe_of_its_method_once(rows):
    own = reading.curve(TOY, "iris", "two", rows=rows)
    assert len(own) == 5 and "share" not in own and "share" not in own.attrs["axes"]
    assert len(reading.order_curve(TOY, "iris", "one", "two", rows=rows)) == 10


def test_a_statement_holds_where_its_value_of_the_means_is_large_enough(rows):
    one, two = (("iris", method, "accuracy") for method in ("one", "two"))
    margin = Statement("one before two", lambda means: means[one] - means[two], above=0.1)
    toy = replace(TOY, statements={"margin": margin})
    table = reading.statement_curve(toy, "margin", rows)
    order = reading.order_curve(TOY, "iris", "one", "two", rows=rows)
    assert len(table) == 10 and (table["near"] == (table["value"] > 0.1)).all()
    edge = replace(margin, above=table["value"].iloc[3])  # at equality it does not hold
    at_edge = reading.statement_curve(replace(TOY, statements={"margin": edge}), "margin", rows)
    assert (at_edge["near"] == (at_edge["value"] > edge.above)).all()
    assert (at_edge["value"] == edge.above).any()
    np.testing.assert_allclose(table["value"], order["value"])
    np.testing.assert_allclose(table["std"], order["std"], atol=1e-12)
    assert table["n"].max() == 4 and (table["failure"] != "").sum() == table["value"].isna().sum()
    text = reading.sentence(table)
    assert f"holds in {table['near'].sum()} of 10" in text and "2 failed" in text
    assert reading.plot_curve(table).axes[0].get_title(loc="left") == "one before two"


def test_a_statement_on_several_data_sets_has_the_universes_of_all(rows):
    axes = TOY.axes | {"data": {"iris": ("plain", "rich"), "wine": ("rich",)}}
    spread = Statement("iris is not wine", lambda means: means["iris", "two", "accuracy"])
    toy = replace(TOY, datasets=("iris", "wine"), axes=axes, statements={"": spread})
    both = pd.concat([rows, rows.assign(dataset="wine")])
    table = reading.statement_curve(toy, "", both)
    assert set(table["data"]) == {"rich"} and len(table) == 6
    assert (table.loc[table["failure"] == "", "n"] == 4).all()
    seeds = np.array([TOY.item.seed("iris", repeat) for repeat in range(4)])
    assert np.allclose(table["std"], 0.01 * (seeds % 3 - 1.0).std(ddof=1))


def test_what_the_search_has_found_runs_again_with_other_seeds(folder, rows, tmp_path, monkeypatch):
    printed = {("one", "accuracy"): 0.65, ("one", "alignment"): 0.25, ("two", "accuracy"): 0.6}
    other = {("one", "accuracy"): 0.678}  # what the repeats are held against: not all come again
    by_name = {"toy": printed, "toy_again": printed | other}
    monkeypatch.setattr(reading, "printed_number", lambda m, d, *cell: by_name[m.name][cell])
    table = reading.joint(TOY, "iris", rows)
    found = table.loc[table["all"], list(TOY.axes)].to_dict("records")
    assert reading.again(TOY, rows).universes("iris") == found
    item = reading.item_again(TOY)
    ledger = Ledger("multiverse", shutil.copytree(folder, tmp_path / "again"))
    run(item, "iris", ledger)
    new = ledger.read().query("item == 'toy_again'")
    assert new["repeat"].nunique() == TOY.n_again
    assert not set(new["seed"]) & set(rows["seed"])
    assert set(new[new["method"] == "one"]["parameter"]) == set(map(encode_parameter, found))
    confirmed = reading.joint(reading.again(TOY, ledger.read()), "iris", ledger.read())
    text = reading.joint_sentence(TOY, "iris", ledger.read())
    assert f"; {confirmed['all'].sum()} of these also in 10 repeats" in text
    assert 0 < confirmed["all"].sum() < len(found)
    assert reading.again(TOY, rows[:0]).universes("iris") == []


def test_what_has_not_run_is_told(rows, monkeypatch):
    monkeypatch.setattr(reading, "printed_number", lambda *cell: 0.5)
    table = reading.curve(TOY, "iris", "one", rows=rows[:0])
    assert "in 0 of 10; not counted: 10" in reading.sentence(table)
    assert "10 have not run" in reading.sentence(table)


# ------------------------------------------------------------------------------------- shares


def design(axes, value):
    table = pd.DataFrame(product(*axes.values()), columns=list(axes))
    table["value"] = [value(*row) for row in table.itertuples(index=False)]
    table.attrs["axes"] = axes
    return table


def test_shares_of_a_balanced_design_by_hand():
    """Effects +-3 of a, +-2 of b, and an interaction of +-1: 9 + 4 + 1 = 14."""
    axes = {"a": [-1, 1], "b": [-1, 1], "c": [-1, 1]}
    table = design(axes, lambda a, b, c: 7 + 3 * a + 2 * b + a * b)
    owned = reading.shares(table)
    assert owned["a"] == pytest.approx(9.5 / 14)
    assert owned["b"] == pytest.approx(4.5 / 14)
    assert owned["c"] == pytest.approx(0)
    assert list(owned.index) == ["a", "b", "c"]
    assert reading._deciding(table) == "a 68%, b 32%"  # named until four fifths are told


def test_shares_of_an_unbalanced_design_are_the_mean_over_all_orders():
    rng = np.random.default_rng(3)
    axes = {"a": [0, 1, 2], "b": [0, 1], "c": [0, 1, 2]}
    table = design(axes, lambda *row: rng.normal() + row[0] * row[1])
    table.loc[[0, 5, 11], "value"] = np.nan
    owned = reading.shares(table)
    known = table.dropna()

    def explained(names):
        if not names:
            return 0.0
        groups = known.groupby(list(names))["value"]
        return (groups.size() * (groups.mean() - known["value"].mean()) ** 2).sum() / len(known)

    for axis in axes:
        gains = [
            explained(order[: order.index(axis) + 1]) - explained(order[: order.index(axis)])
            for order in permutations(axes)
        ]
        mean = sum(gains) / factorial(3) / known["value"].var(ddof=0)
        assert owned[axis] == pytest.approx(mean)
    assert owned.sum() == pytest.approx(1)


def test_an_axis_without_a_choice_owns_nothing_and_equal_values_are_nobodys():
    axes = {"a": [0, 1], "b": [5]}
    assert list(reading.shares(design(axes, lambda a, b: a)).index) == ["a"]
    same = design(axes, lambda a, b: 1.0)
    assert reading.shares(same).to_dict() == {"a": 0.0}
    assert reading._deciding(same) == "no choice"


# ------------------------------------------------------------------------------------- in words


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ((60.0, 70.0), "60 to 70"), ((-887.0, 690.0), "-887 to 690"), ((0.9, 1234.5), "1 to 1234"),
        ((0.5, 0.58333), "0.500 to 0.583"), ((-2.5, 28.0), "-2.5 to 28"),
    ],
)  # fmt: skip
def test_a_range_has_few_digits(values, text):
    assert span(values) == span(pd.Series(values)) == text


def test_no_axis_and_no_choice_of_a_universe_is_shown_by_a_name_of_the_code():
    for multiverse in reading.MULTIVERSES.values():
        for dataset in multiverse.datasets:
            for axis, choices in multiverse.choices(dataset).items():
                shown = [choice_of(axis, choice) for choice in choices]
                assert not any("_" in text for text in [AXES.get(axis, axis), *shown])
                assert len(set(shown)) == len(shown)
    table = pd.DataFrame({"wab_depth": ["full"], "n": [3]})
    assert in_words(table).to_dict("list") == {"depth of MVWAB": ["fully grown"], "n": [3]}
    assert in_words(table.set_index("wab_depth")).index.name == "depth of MVWAB"


# ------------------------------------------------------------------------------------- picture


def test_the_picture_has_every_universe_in_both_panels(rows, monkeypatch):
    plt = pytest.importorskip("matplotlib.pyplot")
    monkeypatch.setattr(reading, "printed_number", lambda *cell: 0.6)
    table = reading.curve(TOY, "iris", "one", rows=rows)
    fig = reading.plot_curve(table)
    above, below = fig.axes
    known = table.dropna(subset=["value"])
    agree, differ = (of.get_offsets() for of in above.collections[:2])
    assert np.allclose(agree[:, 1], known.loc[known["near"], "value"])
    assert np.allclose(differ[:, 1], known.loc[~known["near"], "value"])
    labels = [label.get_text() for label in below.get_yticklabels()]
    assert labels[0] == "table: plain" and len(labels) == 2 + 3 + 2
    marked = np.vstack([c.get_offsets() for c in below.collections[: len(labels)]])
    assert len(marked) == 3 * len(known)
    for x, y in marked.astype(int):
        assert labels[y] in [f"{AXES[a]}: {choice_of(a, known[a].iloc[x])}" for a in TOY.axes]
    plt.close(fig)


# ------------------------------------------------------------------------------------- Table 2


def test_table_2_has_126_universes_for_each_table_but_the_smallest():
    counts = {name: len(TABLE2_OF_MVNA.universes(name)) for name in TABLE2_OF_MVNA.datasets}
    assert counts == {
        "lung-cancer": 84, "house-votes-84": 378, "shuttle-landing-control": 84, "horse-colic": 378,
        "echocardiogram": 252, "iris": 126,
    }  # fmt: skip
    assert set(DATA) == set(TABLE2_OF_MVNA.datasets)


@pytest.mark.data("name")
@pytest.mark.parametrize("name", DATA)
def test_no_two_universes_are_the_same_machine(name):
    for data in {universe["data"] for universe in TABLE2_OF_MVNA.universes(name)}:
        n = len(split_of(name, data, "none", 3).train)
        own = [u for u in TABLE2_OF_MVNA.universes(name) if u["data"] == data]
        machines = {(u["scaling"], u["width"], u["c"], max(2, int(u["share"] * n))) for u in own}
        assert len(machines) == len(own)


@pytest.mark.data("name")
@pytest.mark.parametrize("name", DATA)
def test_a_universe_trains_on_the_table_of_its_name(name):
    for data in DATA[name]:
        split = split_of(name, data, "none", 3)
        A, y = split.X.views[0], split.y
        if data in ("filled", "dropped"):
            missing = {"filled": "fill", "dropped": "drop"}[data]
            assert np.array_equal(A, fetch_uci(name, missing=missing).X.views[0])
        elif data in ("outcome", "surgery", "months"):
            assert np.array_equal(y, table_of(f"{name}-{data}")[1])
            assert np.array_equal(A, table_of(f"{name}-{data}")[0].views[0])
        assert split.X.n_views == 1
        assert len(split.test) == sum(count // 2 for count in np.bincount(y))


def test_a_universe_has_the_components_of_its_share():
    found = {}
    for share in (0.06, 0.5):
        point = {"data": "as it is", "scaling": "none", "width": 0.25, "c": 0.1, "share": share}
        measures = ("accuracy", "alignment")
        found[share] = on_table2("iris", "MVNA", measures=measures, **point, seed=2)
    assert set(found[0.5]) == {"accuracy", "alignment"}
    assert found[0.06]["alignment"] < found[0.5]["alignment"], "few components agree less"


def test_the_command_runs_what_is_missing_and_tells_it(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    command = ["multiverse", "mvna_table2", "--quick", "--dataset", "iris"]
    command += ["--ledger", str(tmp_path)]
    assert main([*command, "--figures", str(tmp_path / "figures")]) == 0
    out = capsys.readouterr()
    assert "iris, MVNA, accuracy: " in out.out and "112 have not run" in out.out
    assert re.search(r"iris, all at once: \d+ of 126 universes", out.out)
    assert len(list((tmp_path / "figures").glob("*.png"))) == 5
    assert main(command) == 0
    assert ": 0 rows added" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["multiverse", "no_such_table"])
    told = f"item must be one of {list(reading.MULTIVERSES)}, got 'no_such_table'"
    assert told in capsys.readouterr().err


def test_the_command_runs_the_search_again_and_tells_what_is_asked(monkeypatch):
    asked = []
    monkeypatch.setattr(reading, "run_items", lambda names, **how: asked.extend(names))
    [line] = reading.run_multiverse("mvm_sharing", only="onehot-full").splitlines()
    assert line.startswith("sharing helps, products of all views: holds in ")
    assert "all at once: " in reading.run_multiverse("mvna_table2", only="iris")
    assert asked == ["multiverse.mvm_sharing", "multiverse.mvna_table2_again"]


def test_errors_on_the_digits_are_those_of_the_method_at_its_own_point(monkeypatch):
    """In small; each method reads its own axes, and the sum is that of the nine digits."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(10), 8)
    X = MultiView([rng.normal(size=(80, 3)) + y[:, None] / 3])
    train, test = np.arange(0, 80, 2), np.arange(1, 80, 2)
    universes_mvna.task_of.cache_clear()
    monkeypatch.setattr(
        universes_mvna,
        "digit_split",
        lambda name, k: Split(X, (y == k).astype(int), train, test, []),
    )
    options = {"measures": ("errors", *universes_mvna.ON_DIGITS), "seed": 0}
    alone = {"rivals' width": 0.5, "rivals' c": 1.0}
    for task, n_test in (("rest", 40), ("one", 8)):
        found = universes_mvna.on_table3("few", "NA", task=task, **alone, **options)
        assert found.pop("errors") == sum(found.values()) > 0
        for k, wrong in zip(NOT_ONE, found.values(), strict=True):
            split = universes_mvna.task_of("few", k, task)
            assert len(split.test) == n_test and set(y[split.test]) >= {1, k}
            run = run_of(split, "NA", at(0.5, 1.0), 0, ("errors",), n_components=n_test // 2)
            assert run.measure()["errors"] == wrong
    own = TABLE3_OF_MVNA.point("MVNA", TABLE3_OF_MVNA.universes("optdigits")[0])
    assert list(own) == ["task", "width", "c", "coupling"]
    universes_mvna.task_of.cache_clear()


def test_the_printed_sum_is_that_of_the_digits():
    for method, total in {"MVNA": 99, "NA": 124, "KMHKS": 122}.items():
        cells = [reading.printed_number(TABLE3_OF_MVNA, "optdigits", method, measure)
                 for measure in ("errors", *universes_mvna.ON_DIGITS)]  # fmt: skip
        assert cells[0] == total == sum(cells[1:])


def test_table_3_comes_out_where_the_rivals_are_regularised_more():
    """All printed errors at once, and MVNA first: seldom at one point for all methods."""
    rivals = {"width": "rivals' width", "c": "rivals' c"}
    both = reading.joint(TABLE3_OF_MVNA, "optdigits").query("all")[[*TABLE3_OF_MVNA.axes]]
    assert len(both) == 30 and (both["task"] == "rest").all()
    more = both[rivals["c"]] > both["c"], both[rivals["width"]] < both["width"]
    assert (more[0] | more[1]).mean() > 0.6
    first = reading.statement_curve(TABLE3_OF_MVNA, "first_everywhere")
    assert 0 < both.merge(first)["near"].sum() < 10
    there = first[first["near"] & (first["task"] == "rest")]
    less = there["c"] < there[rivals["c"]], there["width"] > there[rivals["width"]]
    assert (less[0] | less[1]).mean() > 0.9 and 0.2 < first["near"].mean() < 0.3
    alike = first[[*rivals]].to_numpy() == first[[*rivals.values()]].to_numpy()
    alike = first[alike.all(axis=1)]
    assert (alike[alike["near"]]["task"] == "one").all() and (alike["value"] <= 0).all()


def test_points_of_the_ledger_are_points_of_universes():
    universe = TABLE2_OF_MVNA.universes("iris")[0]
    assert encode_parameter(TABLE2_OF_MVNA.point("KMHKS", universe)) == (
        '{"c":0.01,"data":"as it is","scaling":"standard","width":0.0625}'
    )
