"""Universes of MVPO: what a universe trains and reads, and the statements.

What they came to is asserted in the chapter on the protocols of MVPO.
"""

from functools import partial
from itertools import product
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest

from mvref import MVPO
from mvref.core.input import MultiView
from mvref.core.measures import f_beta
from mvref.datasets import load_iris_views
from mvref.experiments import universes_mvpo as universes
from mvref.experiments.engine import encode_parameter
from mvref.experiments.items import ITEMS
from mvref.experiments.multiverse import find_multiverse
from mvref.experiments.ranking import TARGETS, TUNING_TOL
from mvref.experiments.report import read_ledger
from mvref.experiments.tables import stratified_folds
from mvref.experiments.tuning import Split
from mvref.experiments.universes_mvpo import READINGS, SharedCAPO, started
from mvref.mvpo import cutting_planes, most_violated_of, solver
from mvref.rivals import CAPO

# Where C2 is small, some views teach nothing
pytestmark = pytest.mark.filterwarnings("ignore::mvref.NothingLearntWarning")
EVERY = ("MVPO", "SVMPerf", "FSMulti", "CoLabeling", "SVM2K")


@pytest.fixture(scope="module")
def split():
    data = load_iris_views()
    rows = np.random.default_rng(0).permutation(150)
    train, test = rows[:80], rows[80:]
    Y = data.y[:, None] == np.arange(3)
    views = [view - view[train].mean(axis=0) for view in data.X.views]
    folds = stratified_folds(data.y, train, 3, 0)[:1]
    return Split(MultiView(views), data.y, train, test, folds, {"Y": Y})


@pytest.fixture
def toy(split, monkeypatch):
    """The halves of every data set are those of iris."""
    monkeypatch.setattr(universes, "halves_of", lambda name, scaling, seed: split)
    universes.readings.cache_clear()
    yield split
    universes.readings.cache_clear()


@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize("target", TARGETS)
def test_a_universe_without_a_constant_trains_mvpo_without_an_intercept(split, constant, target):
    machine = universes.machine_of("MVPO", split, split.train, 0, constant, target)
    scores = machine.fit({"C1": 0.3, "C2": 10.0}).predict(split.X[split.test])
    model = MVPO(target, C1=0.3, C2=10.0, fit_intercept=constant, tol=TUNING_TOL)
    model.fit(split.X[split.train], split.y[split.train])
    expected = model.decision_function(split.X[split.test])
    np.testing.assert_allclose(scores, expected, atol=1e-8)


def test_capo_that_shares_its_classifiers_is_capo(split):
    view, y = split.X.views[1], split.y[split.train] == 1
    for target, C2 in product(("f1", "auroc"), (1.0, 100.0)):
        scores = [
            build(target, C2=C2, random_state=0).fit(view[split.train], y).decision_function(view)
            for build in (CAPO, SharedCAPO)
        ]
        np.testing.assert_allclose(*scores, atol=1e-12)


def test_a_score_is_read_at_the_sign_or_where_the_training_half_has_its_positives(split):
    class Fixed:
        """Scores that are given."""

        scores = np.random.default_rng(1).normal(size=(150, 3)) + 0.4

        def features(self, rows):
            return self.scores[rows]

        def predict(self, features):
            return features

    found = universes.read(Fixed(), split, split.train, split.test)
    for k, y in enumerate(split.meta["Y"].T):
        own, other = Fixed.scores[split.train, k], Fixed.scores[split.test, k]
        middles = (np.sort(own)[1:] + np.sort(own)[:-1]) / 2
        [cut] = [c for c in middles if (own > c).sum() == y[split.train].sum()]
        assert found["f1 sign"][k] == f_beta(y[split.test], other > 0)
        assert found["f1 count"][k] == f_beta(y[split.test], other > cut)
        pairs = other[y[split.test]][:, None] > other[~y[split.test]]
        assert found["auroc"][k] == pytest.approx(pairs.mean())
    assert (found["f1 sign"] != found["f1 count"]).all()


@pytest.mark.parametrize("method", EVERY)
def test_what_tuning_saw_decides_which_c2_is_read(toy, method):
    at = dict(scaling="standard", threshold="count", seed=0)
    aware = method in ("MVPO", "SVMPerf", "FSMulti")
    own = [universes.readings("mfeat", method, t if aware else None, "standard", True, 0)[0]
           for t in TARGETS]  # fmt: skip
    tables = dict(zip(TARGETS, own, strict=True))
    for measure in TARGETS:
        fold, test = tables[measure]["f1 count" if measure == "f1" else measure].mean(axis=-1).T
        f1 = tables["f1"]["f1 count"].mean(axis=-1)[:, 0]
        chosen = {"measure": fold.argmax(), "F1": f1.argmax(), "1": 0, "10": 1, "100": 2}
        for tuning, index in chosen.items():
            found = universes.on_figure("mfeat", method, measures=[measure], tuning=tuning, **at)
            assert found == {measure: pytest.approx(test[index])}


def test_one_view_is_chosen_for_each_reading_and_one_pair_for_all(toy):
    [(fit, check)] = toy.folds
    read = partial(universes.read, split=toy, rows=fit, others=check)
    for target, readings in universes.OF_TARGET.items():
        best = universes.readings("mfeat", "SVMPerf", target, "standard", True, 0)[1]
        machine = universes.machine_of("SVMPerf", toy, fit, 0, True, target)
        views = [read(machine.fit({"view": v, "C2": 10.0})) for v in range(2)]
        for reading in readings:
            means = [view[reading].mean() for view in views]
            assert best[reading] == {"view": int(np.argmax(means))}
        rival = universes.readings("mfeat", "FSMulti", target, "standard", True, 0)[1]
        assert rival == best
    pairs = universes.readings("mfeat", "MSL", None, "standard", True, 0)[1]
    assert len({tuple(pair.items()) for pair in pairs.values()}) == 1 and set(pairs) == {*READINGS}


@pytest.mark.data("name")
@pytest.mark.parametrize("name", ["mfeat", "webkb"])
def test_raw_columns_are_those_of_the_file_but_for_one_number(name):
    file = universes.load_dataset(name).X
    raw, scaled = (universes.halves_of(name, how, 4) for how in ("raw", "standard"))
    ratios = [view.sum() / own.sum() for view, own in zip(file.views, raw.X.views, strict=True)]
    np.testing.assert_allclose(ratios, ratios[0])
    columns = raw.X[raw.train].concat()
    square = columns.power(2).sum() if hasattr(columns, "power") else np.sum(columns**2)
    assert square / len(raw.train) == pytest.approx(file.n_views)
    assert len(raw.folds) == 1 and np.array_equal(raw.train, scaled.train)


def test_a_random_start_changes_the_first_cut_and_not_the_minimum(split):
    X, y = split.X.views[0][split.train], np.where(split.y[split.train] == 1, 1, -1)
    search = most_violated_of("f1", y)
    elsewhere = np.random.default_rng(2).normal(size=len(y))
    ask, zero = started(search, elsewhere), np.zeros(len(y))
    value, loss, c = ask(zero)
    assert value == search(zero)[0] and loss == search(elsewhere)[1]
    np.testing.assert_array_equal(c, search(elsewhere)[2])
    np.testing.assert_array_equal(ask(zero)[2], search(zero)[2])
    solve = partial(cutting_planes, metric_scores=lambda c: X @ (X.T @ c), n=len(y))
    ends = [
        solve(ask, C2=5.0, tol=1e-5, max_iter=2000).dual_curve[-1]
        for ask in (search, started(search, elsewhere))
    ]
    assert ends[0] == pytest.approx(ends[1], abs=2 * 5.0 * 1e-5)


def test_random_starts_have_the_metric_of_the_class(toy):
    with patch.object(universes, "PrimalMetric", wraps=universes.PrimalMetric) as metric:
        universes.gaps.__wrapped__("mfeat", "auroc", True, 2.0, 1.0, 0)
    assert metric.call_args.args[2] == MVPO(C1=2.0)._weight_of_disagreement(80) == 2.0 / 80


# ----------------------------------------------------------------------------- lines, statements


def test_iterations_are_counted_over_all_classes_on_the_lines_that_cross(toy, monkeypatch):
    monkeypatch.setattr(universes, "LINE_C2", (10.0, 100.0))
    found = universes.surface.__wrapped__("mfeat", "standard", 0)
    assert (0.01, 100.0, "f1") in found and (1.0, 10.0, "f1") in found
    assert (0.01, 10.0, "f1") not in found
    with patch.object(solver, "STEP", 1.0):
        model = MVPO("auroc", C1=1.0, C2=10.0, tol=TUNING_TOL)
        model.fit(toy.X[toy.train], toy.y[toy.train])
    counted = found[1.0, 10.0, "auroc"]["iterations"]
    assert counted == sum(map(len, model.primal_curve_)) > 3


def test_lines_are_cut_from_the_grid_as_far_as_they_reach(monkeypatch):
    def surface(name, scaling, seed):
        return {
            (c1, c2, target): dict.fromkeys(READINGS, c1 + c2 / 1e6) | {"iterations": c2 / c1}
            for c1, c2, target in product(universes.LINE_C1, universes.LINE_C2, TARGETS)
        }

    monkeypatch.setattr(universes, "surface", surface)
    at = dict(scaling="", threshold="sign", C1=0.1, C2=100.0, seed=0)
    near, far = (
        universes.on_lines("", "MVPO", measures=universes.LINES, reach=reach, **at)
        for reach in (1, 2)
    )
    assert near["auroc_moves"] == pytest.approx(1.0 - 0.01)
    assert far["auroc_moves"] == pytest.approx(10.0 - 0.01)
    assert near["f1_small_C1"] == pytest.approx(1e4 / np.median([1e3, 1e2]))
    assert near["f1_factor"] == pytest.approx(100) and far["f1_factor"] == pytest.approx(1000)
    counts = [1e4, 1e3, 1e2, 1e2, 1e3, 1e4]
    assert near["prbep_count"] == pytest.approx(np.mean(counts))


def means_of(values):
    """One universe as a statement sees it: (data set, method, measure) -> value."""
    return pd.DataFrame([list(values.values())], columns=pd.MultiIndex.from_tuples(values))


def test_statements_count_what_they_say():
    rng = np.random.default_rng(3)
    for _ in range(20):
        values = {cell: rng.uniform() for cell in product(["mfeat", "webkb"], EVERY[:3], TARGETS)}
        means = means_of(values)
        won = [
            values[d, "MVPO", m] > max(values[d, "SVMPerf", m], values[d, "FSMulti", m])
            for d, m in product(["mfeat", "webkb"], TARGETS)
        ]
        share = universes.ahead(["SVMPerf", "FSMulti"], ["mfeat", "webkb"])(means)
        assert share.item() == pytest.approx(np.mean(won))
        means["mfeat", "CAPO", "f1"] = 0.3
        rivals = [0.3, values["mfeat", "SVMPerf", "f1"], values["mfeat", "FSMulti", "f1"]]
        only = values["mfeat", "MVPO", "f1"] > 0.5 > max(rivals)
        margin = universes.only_mvpo_above_half(("SVMPerf", "CAPO", "FSMulti"))(means)
        assert (margin.item() > 0) == only
        gap = universes.PAGES_OF_FIG1.statements["exception"].value(means).item()
        assert gap == values["webkb", "FSMulti", "f1"] - values["webkb", "MVPO", "f1"]


def test_statements_on_lines_count_what_they_say():
    of = dict.fromkeys(universes.LINES, 0.0)
    of |= {"f1_moves": 0.3, "prbep_moves": 0.01, "auroc_moves": 0.02}
    of |= {"f1_count": 30.0, "prbep_count": 20.0, "auroc_count": 10.0}
    of |= {"f1_factor": 1.5, "prbep_factor": 3.0, "auroc_factor": 2.0}

    def value(name, **others):
        means = means_of({("mfeat", "MVPO", what): x for what, x in (of | others).items()})
        return universes.FIG34.statements[name].value(means).item()

    assert value("rankings") == -0.02
    assert value("f1") == pytest.approx(0.28)
    assert value("order") == 1.5
    assert value("order", auroc_count=25.0) < 1
    assert value("order", prbep_count=40.0) < 1
    assert value("still") == -3.0
    assert value("still", prbep_factor=1.0) == -2.0


@pytest.mark.ledger
@pytest.mark.data("dataset")
@pytest.mark.parametrize(
    ("name", "dataset", "method"),
    [("mvpo_fig1_webkb", "webkb", "SVMPerf"), ("mvpo_fig1_webkb", "webkb", "MVPO"),
     ("mvpo_starts", "mfeat", "MVPO")],
)  # fmt: skip
def test_a_row_of_the_ledger_comes_again(name, dataset, method):
    """Of those that are trained within seconds."""
    multiverse = find_multiverse(name)
    assert [*multiverse.datasets] == [dataset]
    universe = multiverse.universes(dataset)[13]
    key = {"item": name, "dataset": dataset, "method": method, "repeat": 0}
    key["parameter"] = encode_parameter(universe)
    rows = read_ledger("multiverse")
    stored = rows[(rows[list(key)] == list(key.values())).all(axis=1)]
    measures = multiverse.methods[method]
    seed = ITEMS[f"multiverse.{name}"].seed(dataset, 0)
    found = multiverse.function(dataset, method, measures=measures, seed=seed, **universe)
    expected = stored.set_index("measure")["value"].drop("failure").to_dict()
    assert found == pytest.approx(expected, abs=0.01)
