"""The universes of section 5.3 of the multi-view machines."""

from types import SimpleNamespace

import numpy as np
import pandas as pd

from mvref.experiments import universes_mvm
from mvref.experiments.mvm import GRIDS
from mvref.experiments.universes_mvm import SHARING, on_sharing


def test_the_rival_has_just_the_planted_orders_and_its_starts(monkeypatch):
    asked = []

    def tuned(split, method, seed):
        asked.append((split.X.widths, len(split.train), method.points))
        for options in (method.fixed, method.hasty):
            model = options["build"](method.points[0], split.X, seed)
            asked.append((type(model).__name__, getattr(model, "order", None), model.n_init))
        return SimpleNamespace(measure=lambda measures: None)

    monkeypatch.setattr(universes_mvm, "tuned", tuned)
    given = {"n_train": 250, "n_features": 20, "n_starts": 12, "in_tuning": 4}
    kinds = {("onehot-full", "MVM"): ("MVMClassifier", None),
             ("onehot-full", "rival"): ("FMClassifier", 3),
             ("onehot-pairwise", "MVM"): ("MVMClassifier", None),
             ("onehot-pairwise", "rival"): ("FMClassifier", 2)}  # fmt: skip
    for names, kind in kinds.items():
        asked.clear()
        on_sharing(*names, measures=("accuracy",), seed=0, **given)
        assert asked == [([20] * 3, 250, GRIDS["MVM"]), (*kind, 12), (*kind, 4)]


def test_sixteen_universes():
    """Two problems of levels, three sizes, three ways of starting, but two at the largest size."""
    assert {len(SHARING.universes(name)) for name in SHARING.datasets} == {2 * (3 + 3 + 2)}
    assert len(SHARING.refused("onehot-full")) == 2


def test_a_statement_holds_where_sharing_is_ahead():
    columns = [
        (name, method, "accuracy") for name in SHARING.datasets for method in SHARING.methods
    ]
    means = pd.DataFrame([[0.8, 0.7, 0.6, 0.7]], columns=pd.MultiIndex.from_tuples(columns))
    values = [SHARING.statements[name].value(means).item() for name in ("products", "pairs")]
    assert np.allclose(values, [0.1, -0.1])
