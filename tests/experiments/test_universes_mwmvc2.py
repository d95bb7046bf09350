"""The universes of Table 1 of MwMvC2: what each system sees, its statements, what has come out."""

from functools import cache
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from mvref.experiments import read_paper_numbers, significance, universes_mwmvc2
from mvref.experiments.multiverse import again, curve, joint, statement_curve
from mvref.experiments.mwmvc2 import N_REPEATS, SCORES, SIGNIFICANCE_LEVEL
from mvref.experiments.report import printed_cells
from mvref.experiments.universes_mwmvc2 import (
    ABOVE,
    FIGURE2,
    GAINS,
    IN_ORDER,
    LATE,
    OTHERS,
    OWN,
    PRINTED,
    SHIFTS,
    TABLE1,
    on_table1,
)

DEFAULTS = {"view": "cv", "final": "tree", "ties": "random"}  # the readings that fit MNIST1


@cache
def statement(name):
    """The curve of a statement; all of its universes have run."""
    table = statement_curve(TABLE1, name)
    assert (table["n"] == TABLE1.n_repeats).all() and table["value"].notna().all()
    return table


def holds(name):
    table = statement(name)
    return table[table["near"]]


# ---------------------------------------------------------------------------- what is declared


def test_orders_and_gains_are_those_that_the_paper_prints():
    numbers = read_paper_numbers("mwmvc2").query("item == 'table1'")
    cells = printed_cells(numbers)
    for (dataset, measure), order in PRINTED.items():
        rows = cells[(cells["dataset"] == dataset) & (cells["measure"] == measure)]
        rows = rows.set_index("method")
        assert rows["value"].sort_values(ascending=False).index.tolist() == order
    said = numbers.set_index("measure")["value"]
    for measure, bounds in GAINS.items():
        assert bounds == (said[f"gain_min_{measure}"], said[f"gain_max_{measure}"])


def test_every_axis_is_of_one_system_but_the_shift():
    own = [axis for axes in OWN.values() for axis in axes]
    assert sorted(own) == sorted({*TABLE1.axes} - {"shift"})
    for dataset, shifts in SHIFTS.items():
        for method, axes in OWN.items():
            n = np.prod([len(TABLE1.axes[axis]) for axis in axes], dtype=int)
            assert len(TABLE1.points(method, dataset)) == n * len(shifts)


@pytest.mark.parametrize(
    ("dataset", "method", "point", "seen"),
    [
        ("mnist2", "Concat", {"shift": 3}, ("mnist2-shift3", "Concat", {})),
        ("mnist1", "Mono", {"view": "cv"}, ("mnist1", "Mono", {})),
        ("mnist1", "Mono", {"view": "test"}, ("mnist1", "Mono-oracle", {})),
        ("mnist1", "MVMLsp", {"lam": "folds"}, ("mnist1", "MVMLsp", {})),
        ("mnist1", "MVMLsp", {"lam": "0.1"}, ("mnist1", "MVMLsp", {"lam": 0.1, "eta": 1e-3})),
        ("mnist1", "MVMV", {"ties": "largest"}, ("mnist1", "MVMV", {"ties": "largest"})),
        ("mnist1", "MVWAB", {"wab_depth": "3"}, ("mnist1", "MVWAB", 3)),
        ("mnist1", "RBoostSH", {"sh_depth": "full"}, ("mnist1", "RBoostSH", None)),
    ],
)
def test_what_a_system_sees(dataset, method, point, seen, monkeypatch):
    calls = []
    monkeypatch.setattr(universes_mwmvc2, "score", lambda *names, **o: calls.append((*names, o)))
    on_table1(dataset, method, measures=SCORES, seed=1, **point)
    [(name, variant, options)] = calls
    assert options.pop("measures") == SCORES and options.pop("seed") == 1
    assert options.pop("m") == 100
    if "estimator" in options:
        options = options["estimator"].max_depth
    assert (name, variant, options) == seen


def test_statements_are_what_they_say():
    """On random means, universe by universe."""
    rng = np.random.default_rng(0)
    columns = pd.MultiIndex.from_product([SHIFTS, OWN, SCORES])
    means = pd.DataFrame(rng.uniform(0.80, 0.81, (3000, len(columns))), columns=columns)
    for dataset in SHIFTS:  # so that each of them holds in some
        for k, method in enumerate(PRINTED[dataset, "accuracy"]):
            for measure in SCORES:
                means[dataset, method, measure] -= 0.002 * k * (means.index % 4)

    def behind(row, late, early):
        return all(row[m][a] > row[m][b] for m in SCORES for a in late for b in early)

    def gains(row):
        for measure, (low, high) in GAINS.items():
            gain = 100 * (row[measure]["MwMvC2"] / row[measure][[*OTHERS]].max() - 1)
            if not low - 0.05 < gain < high + 0.05:
                return False
        return True

    def order(row, dataset):
        of = [row[m][PRINTED[dataset, m]] for m in SCORES]
        return all(first > second for values in of for first, second in pairwise(values))

    for dataset in SHIFTS:
        wanted = {
            "order": lambda row, d=dataset: order(row, d),
            "first": lambda row: behind(row, ["MwMvC2"], OTHERS),
            "gain": gains,
            "last": lambda row: behind(row, ABOVE, ["MVMLsp"]),
            "improve": lambda row: behind(row, LATE, ["Mono", "Concat"]),
            "boosting": lambda row: behind(
                row, [m for m in ABOVE if m != "RBoostSH"], ["RBoostSH"]
            ),
        }
        rows = [{m: means.loc[i, (dataset, slice(None), m)].droplevel([0, 2]) for m in SCORES}
                for i in means.index[:400]]  # fmt: skip
        for name, wants in wanted.items():
            if found := TABLE1.statements.get(f"{name}_{dataset}"):
                values = found.value(means)
                assert ((values[:400] > found.above) == [wants(row) for row in rows]).all(), name
                assert name == "gain" or 0 < (values > found.above).sum() < len(values), name


# ---------------------------------------------------------------------------- what has come out


def shared(name):
    """The universes of both collections in which a sentence holds with the same choices."""
    axes = [axis for axis in TABLE1.axes if axis != "shift"]
    one, other = (holds(f"{name}_{dataset}") for dataset in SHIFTS)
    return one[axes].merge(other[[*axes, "shift"]], on=axes)


def test_the_printed_order_is_one_universe():
    """But for Fusion's final model; and it gives the order again in 20 other splits."""
    found = holds("order_mnist1")
    assert set(found["final"]) == set(TABLE1.axes["final"]) and len(found) == 2
    for axis, choice in IN_ORDER.items():
        assert axis == "final" or set(found[axis]) == {choice}
    for measure in SCORES:
        means = order_again().loc[measure, "mean"]
        assert means.sort_values(ascending=False).index.tolist() == PRINTED["mnist1", measure]


def order_again():
    tests = significance("multiverse.mwmvc2_order").set_index(["measure", "method"])
    assert set(tests["n"]) == {N_REPEATS}
    return tests


def test_all_others_are_significantly_worse_in_the_order_universe():
    """By the paper's test, in both measures."""
    tests = order_again()
    assert (tests["best"] == "MwMvC2").all()
    for measure in SCORES:
        p = tests.loc[measure, "p_rank_sum"].drop("MwMvC2")
        assert len(p) == len(OTHERS) and (p < SIGNIFICANCE_LEVEL).all()


def test_each_choice_of_the_order_but_one_is_that_of_its_row():
    """Trees of depth four give the accuracy of MVWAB, and not its F1."""
    for method, axes in OWN.items():
        near = {}
        for measure in SCORES:
            table = curve(TABLE1, "mnist1", method, measure)
            for axis in axes:
                table = table[table[axis] == IN_ORDER[axis]]
            [near[measure]] = table["near"]
        assert near == {"accuracy": True, "f1": method != "MVWAB"}


@pytest.mark.parametrize("dataset", SHIFTS)
@pytest.mark.parametrize("method", ["MVMLsp", "MwMvC2"])
def test_one_choice_of_a_system_gives_both_of_its_numbers(dataset, method):
    axes = OWN[method]
    one, other = (curve(TABLE1, dataset, method, m).query("near")[[*axes]] for m in SCORES)
    assert set(map(tuple, one.merge(other).to_numpy())) == {tuple(IN_ORDER[a] for a in axes)}


def test_one_depth_gives_both_boosting_rows_on_mnist2_only():
    for dataset, depths in {"mnist1": set(), "mnist2": {"4"}}.items():
        found = []
        for method, axis in {"MVWAB": "wab_depth", "RBoostSH": "sh_depth"}.items():
            one, other = (curve(TABLE1, dataset, method, m).set_index([axis, "shift"])["near"]
                          for m in SCORES)  # fmt: skip
            both = one & other.reindex(one.index)
            found.append(set(both.index[both]))
        assert {depth for depth, _ in found[0] & found[1]} == depths
        assert {shift for _, shift in found[0] & found[1]} <= {3}


def test_gains_in_the_printed_range_on_one_collection_only():
    one, other = (holds(f"gain_{dataset}") for dataset in SHIFTS)
    assert len(one) and len(other) and shared("gain").empty
    for found in (one, other):
        assert found["std"].median() > 1, "per cent, from split to split"
        assert max(high - low for low, high in GAINS.values()) <= 2
    for measure, (_, highest) in GAINS.items():
        means = order_again().loc[measure, "mean"]
        assert 100 * (means["MwMvC2"] / means[[*OTHERS]].max() - 1) > highest


def test_what_sentences_have_in_common():
    boosting, improve, first = (holds(f"{s}_mnist1") for s in ("boosting", "improve", "first"))
    assert set(boosting["sh_depth"]) == {"full"} and set(boosting["update"]) == {"monotone"}
    assert "full" not in set(improve["sh_depth"]) and set(improve["update"]) == {"monotone"}
    assert 0.15 < len(improve) / len(statement("improve_mnist1")) < 0.25 and len(shared("improve"))
    assert set(first["sh_depth"]) == {"full"}, "so that it excludes the sentence above"
    assert set(first["wab_depth"]) == {"4", "full"} and "smallest" not in set(first["ties"])
    assert set(first["lam"]) == {"1e-05", "0.001"}
    assert statement_curve(FIGURE2, "few").query("near").eval("value < std").all()
    for dataset in SHIFTS:
        table = statement(f"last_{dataset}")
        below = (table["update"] == "paper") & (table["voters"] == "trees")
        expected = ~below if dataset == "mnist1" else True
        assert (table["near"] == expected)[table["lam"] == "1e-05"].all()
        assert not table["near"][table["lam"].isin(["0.1", "folds"])].any()


def test_all_numbers_of_mnist1_come_out_again_and_all_accuracies_of_mnist2():
    for dataset in SHIFTS:
        assert joint(TABLE1, dataset)["all"].any()
    one, other = (joint(again(TABLE1), dataset) for dataset in SHIFTS)
    assert one["all"].any()
    assert other["accuracies"].all() and not other["MVMLsp f1"].any()
