"""The universes of section 5.3 of the multi-view machines."""

from inspect import signature

import numpy as np
import pandas as pd

from mvref.datasets import make_interactions
from mvref.experiments import universes_mvm
from mvref.experiments.interactions import planted
from mvref.experiments.mvm import FACTORISED, PLANTED_GRIDS
from mvref.experiments.universes_mvm import SHARING, on_sharing


def test_the_rival_has_just_the_planted_orders(monkeypatch):
    calls = []
    monkeypatch.setattr(
        universes_mvm,
        "measured_by_starts",
        lambda *names, points, **given: calls.append((*names, points, given)),
    )
    universe = SHARING.universes("onehot-full")[0]
    for dataset in SHARING.datasets:
        for method in SHARING.methods:
            on_sharing(dataset, method, measures=("accuracy",), seed=0, **universe)
    assert [call[:2] for call in calls] == [
        ("onehot-full", "MVM"), ("onehot-full", "FM-V"),
        ("onehot-pairwise", "MVM"), ("onehot-pairwise", "FM27"),
    ]  # fmt: skip
    for _, method, points, given in calls:
        assert points == PLANTED_GRIDS[method] and set(universe) <= set(given)


def test_every_grid_of_a_planted_score_has_its_rank_and_the_double():
    rank = signature(make_interactions).parameters["rank"].default
    for method in FACTORISED:
        assert {rank, 2 * rank} <= {point["k"] for point in PLANTED_GRIDS[method]}


def test_six_universes_and_levels_that_are_asked_for():
    assert {len(SHARING.universes(name)) for name in SHARING.datasets} == {6}
    for n_features in (20, 40):
        split = planted("onehot-full", 250, 1, n_features=n_features)
        assert split.X.widths == [n_features] * 3


def test_a_statement_holds_where_sharing_is_ahead():
    columns = [
        (name, method, "accuracy") for name in SHARING.datasets for method in SHARING.methods
    ]
    means = pd.DataFrame([[0.8, 0.7, 0.6, 0.7]], columns=pd.MultiIndex.from_tuples(columns))
    values = [SHARING.statements[name].value(means).item() for name in ("products", "pairs")]
    assert np.allclose(values, [0.1, -0.1])
