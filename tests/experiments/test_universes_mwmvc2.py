"""The universes of Table 1 of MwMvC2: what each system sees, and its statements.

What they came to is asserted in the chapter on its protocols.
"""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from mvref.experiments import read_paper_numbers, universes_mwmvc2
from mvref.experiments.mwmvc2 import SCORES
from mvref.experiments.report import printed_cells
from mvref.experiments.universes_mwmvc2 import (
    ABOVE,
    GAINS,
    LATE,
    OTHERS,
    OWN,
    PRINTED,
    SHIFTS,
    TABLE1,
    on_table1,
)


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


@pytest.mark.parametrize(
    ("accuracy", "f1", "holds"),
    [(0.16, 3, True), (0.14, 3, False), (2.24, 3, True), (2.26, 3, False), (1, 2.16, True),
     (1, 2.14, False), (1, 3.84, True), (1, 3.86, False)],
)  # fmt: skip
def test_a_gain_is_in_the_printed_range_as_it_is_rounded(accuracy, f1, holds):
    columns = pd.MultiIndex.from_product([["mnist1"], OWN, SCORES])
    means = pd.DataFrame(0.5, index=[0], columns=columns)
    means["mnist1", "MwMvC2", "accuracy"] *= 1 + accuracy / 100
    means["mnist1", "MwMvC2", "f1"] *= 1 + f1 / 100
    statement = TABLE1.statements["gain_mnist1"]
    assert (statement.value(means).item() > statement.above) == holds
