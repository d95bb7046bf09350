"""Protocol of MVPO's figures: halves, machines, tuning, measures, jobs."""

from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import f1_score, roc_auc_score
from sklearn.metrics.pairwise import linear_kernel

from mvref import MultiView
from mvref.experiments import mvpo, ranking, read_ledger
from mvref.experiments.engine import COLUMNS, encode_parameter
from mvref.experiments.mvpo import fig1, fig2, fig3, fig4, on_halves, points_of
from mvref.experiments.problems import load_dataset, load_halves
from mvref.experiments.ranking import (
    METHODS,
    PAIR_METHODS,
    TARGETS,
    ColumnsMachine,
    OneAgainstRest,
    certified,
    linear_svc,
    measure_all,
    quality,
)  # fmt: skip
from mvref.experiments.tables import grid
from mvref.experiments.tuning import Split, validate
from mvref.mvpo import MVPO
from mvref.rivals import CoLabeling
from mvref.rivals.svm_perf import SVMPerf

NO_ROWS = pd.DataFrame(columns=COLUMNS)


def small_problem(n=40, widths=(3, 4), n_classes=3, *, apart=3.0, noise=1.0, n_train=30):
    """Views that hint at the class: the first samples train."""
    rng = np.random.RandomState(0)
    y = np.arange(n) % n_classes
    centres = [apart * rng.randn(n_classes, d) for d in widths]
    X = MultiView([c[y] + noise * rng.randn(n, d) for c, d in zip(centres, widths, strict=True)])
    train, test = np.split(np.arange(n), [n_train])
    folds = [(np.setdiff1d(train, check), check) for check in np.array_split(train, 3)]
    return Split(X, y, train, test, folds, {"Y": y[:, None] == np.arange(n_classes)})


def scores_of(make, split, point, target="f1", rows=None):
    """Scores of all samples, of a machine that some have trained; default all."""
    everyone = np.arange(len(split.y))
    machine = make(split, everyone if rows is None else rows, 0, target=target).fit(point)
    return machine.predict(machine.features(everyone))


# ------------------------------------------------------------------------------------- data


@pytest.mark.data("name")
@pytest.mark.parametrize("name", mvpo.DATASETS)
def test_halves_follow_the_protocol(name):
    halves, raw = load_halves(name, 3), load_dataset(name)
    Y = halves.meta["Y"]
    difference = Y[halves.train].sum(axis=0) - Y[halves.test].sum(axis=0)
    assert np.abs(difference).max() <= 1 and abs(difference.sum()) <= 1
    assert np.array_equal(Y.argmax(axis=1), np.unique(raw.y, return_inverse=True)[1])
    assert all(Y[check].sum(axis=0).min() >= 20 for _, check in halves.folds)
    for view, before in zip(halves.X.views, raw.X.views, strict=True):
        if sparse.issparse(view):
            assert np.array_equal(view.indices, before.indices), "zeros stay zeros"


def test_measures_are_means_over_the_classes():
    rng = np.random.RandomState(1)
    Y = np.eye(3, dtype=bool)[np.arange(30) % 3]
    scores = rng.randn(30, 3) + Y
    scores[:3] = 0.0  # predicts nothing
    found = measure_all(Y, scores)
    assert found["f1"] == pytest.approx(f1_score(Y, scores > 0, average="macro"))
    assert found["auroc"] == pytest.approx(roc_auc_score(Y, scores, average="macro"))
    top = [Y[np.argsort(-scores[:, k])[:10], k].mean() for k in range(3)]
    assert found["prbep"] == pytest.approx(np.mean(top))


# --------------------------------------------------------------------------------- machines


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("target", TARGETS)
def test_each_class_has_the_scores_of_its_own_problem(target, n_classes):
    split = small_problem(n_classes=n_classes)
    X, Y, train = split.X, split.meta["Y"], split.train
    points = grid(C1=(2.0, 0.5), C2=(1.0, 50.0))
    path = OneAgainstRest(split, train, 0, target=target).path(points)
    for point, machine in zip(points, path, strict=True):
        models = [MVPO(target, **point).fit(X[train], y) for y in Y[train].T]
        scores = [model.decision_function(X) for model in models]
        np.testing.assert_allclose(machine.predict(X), np.transpose(scores), atol=1e-8)
        worst = max(model.dual_gap_ for model in models)
        assert machine.gap == pytest.approx(worst / (point["C2"] * 1e-3))
        assert machine.gap <= 1


def test_the_machine_of_sparse_views_is_that_of_dense_ones():
    split = small_problem(widths=(30, 20))
    thin = MultiView([np.where(np.abs(view) > 1, view, 0.0) for view in split.X.views])
    coded = MultiView([sparse.csr_matrix(view) for view in thin.views])
    for name in ("MVPO", "LinearSVC", "CoLabeling"):
        one, other = (
            scores_of(
                METHODS[name].make, replace(split, X=X), {"C1": 1.0, "C2": 5.0}, rows=range(30)
            )
            for X in (thin, coded)
        )
        np.testing.assert_allclose(one, other, atol=1e-6)


def test_single_view_methods_see_their_view_only():
    split, make = small_problem(), METHODS["SVMPerf"].make
    X, Y = split.X, split.meta["Y"]
    scores = scores_of(make, split, {"view": 1, "C2": 10.0}, "prbep")
    other = replace(split, X=MultiView([np.zeros_like(X.views[0]), X.views[1]]))
    same = scores_of(make, other, {"view": 1, "C2": 10.0}, "prbep")
    assert np.array_equal(scores, same)
    model = SVMPerf("prbep", C2=10.0).fit(X.views[1], Y[:, 2])
    np.testing.assert_allclose(scores[:, 2], model.decision_function(X.views[1]), atol=1e-10)


def test_without_consistency_and_with_one_view_mvpo_is_svm_perf():
    split = small_problem()
    split = replace(split, X=split.X.select([0]))
    points = {"MVPO-C1=0": {"C1": 0.0, "C2": 10.0}, "SVMPerf": {"view": 0, "C2": 10.0}}
    for target in TARGETS:
        one, other = (
            scores_of(METHODS[name].make, split, point, target) for name, point in points.items()
        )
        np.testing.assert_allclose(one, other, atol=1e-6)


def test_the_mean_of_linear_svms():
    split, one = small_problem(), partial(ColumnsMachine, build=linear_svc)
    alone = [scores_of(one, split, {"view": v, "C2": 5.0}) for v in range(2)]
    together = METHODS["CoLabeling"].make(split, np.arange(40), 0).fit({"C2": 5.0})
    np.testing.assert_allclose(together.predict(split.X.views), (alone[0] + alone[1]) / 2)
    assert together.models[0][0].C == pytest.approx(4 * 5.0 / 40)
    assert METHODS["LinearSVC"].make(split, np.arange(40), 0).X[0].shape == (40, 7)


def test_the_mean_of_linear_svms_is_co_labeling():
    split = small_problem()
    X, y, train = split.X, split.y, split.train
    for C2 in (0.5, 5.0):
        found = scores_of(METHODS["CoLabeling"].make, split, {"C2": C2}, rows=train)
        model = CoLabeling(C=2 * 4.0 * C2 / 30, kernel=linear_kernel)  # half the squared hinge
        scores = model.fit(X[train], y[train]).decision_function(X)
        np.testing.assert_allclose(found, scores, atol=2e-3)
        assert np.ptp(scores) > 1


def test_the_gap_tells_what_stopped_early(monkeypatch):
    split, everyone = small_problem(), np.arange(40)
    monkeypatch.setattr(ranking, "MAX_ITER", 3)
    machine = OneAgainstRest(split, everyone, 0, target="f1")
    with pytest.warns(ConvergenceWarning):
        assert machine.fit({"C1": 0.0, "C2": 1e3}).gap > 1
    hasty = certified(SVMPerf, max_iter=3)
    machine = ColumnsMachine(split, everyone, 0, build=hasty, target="f1")
    with pytest.warns(ConvergenceWarning):
        assert machine.fit({"view": 0, "C2": 1e3}).gap > 1


# ----------------------------------------------------------------------------------- tuning


def forget():
    """Empty what jobs share."""
    for function in (load_halves, mvpo.on_folds, mvpo.on_few_folds, mvpo.on_test):
        function.cache_clear()


@pytest.fixture
def tune(monkeypatch):
    """What a method chooses, and how well, on halves that are given; few values of C2."""

    def chosen(method, halves, target):
        forget()
        monkeypatch.setattr(mvpo, "load_halves", lambda name, seed: halves)
        measures = METHODS[method].measures
        return on_halves("any", method, measures=measures, target=target, quick=False, seed=0)

    monkeypatch.setitem(mvpo.GRID_C2, "any", (1.0, 10.0))
    yield chosen
    forget()


def noise_and_a_view_that_knows():
    split = small_problem(n=60, n_classes=2)
    return replace(split, X=MultiView([np.random.RandomState(5).randn(60, 3), split.X.views[1]]))


def test_a_rival_takes_the_view_of_svm_perf_and_sms_its_C2_too(tune):
    halves = noise_and_a_view_that_knows()
    perf, smooth, capo = (tune(m, halves, "auroc") for m in ("SVMPerf", "SMS", "CAPO"))
    assert perf["view"] == smooth["view"] == capo["view"] == 1
    assert smooth["C2"] == perf["C2"]
    assert "validation" not in smooth
    # the same optimum, up to tol: ranks of few samples may differ
    assert smooth["auroc"] == pytest.approx(perf["auroc"], abs=0.02)
    points = grid(view=(1,), C2=(1.0, 10.0))
    method = replace(METHODS["CAPO"], points=points, fixed={"target": "auroc"})
    values = validate(halves, method, 0, quality)[:, 2]
    assert capo["validation"] == values.max(), "by its own folds"
    assert capo["C2"] == points[values.argmax()]["C2"]


# ------------------------------------------------------------------------------------- jobs


@pytest.mark.parametrize("quick", [True, False])
def test_jobs_follow_the_protocol(quick):
    for item in (fig1, fig3, fig4):
        assert {j.parameter["target"] for j in item("mfeat", quick, NO_ROWS)} == set(TARGETS)
    methods = {repeat: set() for repeat in range(10)}
    for job in fig1("mfeat", quick, NO_ROWS):
        methods[job.repeat].add(job.method)
    assert methods[0] == {*mvpo.FIG1_METHODS, *mvpo.RIVALS}
    assert methods[3] == (set() if quick else set(mvpo.FIG1_METHODS))
    points = {(j.parameter["C1"], j.parameter["C2"]) for j in fig3("mfeat", quick, NO_ROWS)}
    if not quick:
        assert all(C1 == mvpo.FIXED_C1 or C2 == mvpo.FIXED_C2 for C1, C2 in points)
        assert {C1 for C1, C2 in points if C2 == mvpo.FIXED_C2} == set(mvpo.CURVE_C1)
        assert {C2 for C1, C2 in points if C1 == mvpo.FIXED_C1} == set(mvpo.CURVE_C2)
        assert points == {
            (j.parameter["C1"], j.parameter["C2"]) for j in fig4("mfeat", quick, NO_ROWS)
        }


@pytest.mark.parametrize("dataset", mvpo.DATASETS)
def test_all_methods_search_the_same_values_of_C2(monkeypatch, dataset):
    chosen = SimpleNamespace(points=[{"view": 0, "C2": 7.0}])  # by SVM^perf
    monkeypatch.setattr(mvpo, "on_folds", lambda *_: (None, chosen, np.zeros((1, 3))))
    halves = SimpleNamespace(X=SimpleNamespace(n_views=3))
    monkeypatch.setattr(mvpo, "load_halves", lambda *_: halves)
    for method in (*mvpo.FIG1_METHODS, *mvpo.RIVALS):
        points = points_of(dataset, method, "f1", False, 0)
        if method == "SMS":
            assert points == chosen.points
            continue
        assert list(dict.fromkeys(p["C2"] for p in points)) == list(mvpo.GRID_C2[dataset])
        alike = mvpo.one_for_each_C2(points, 0) if method in mvpo.MANY_POINTS else points
        assert len(alike) == len(mvpo.GRID_C2[dataset]) == 8, "a table with as many for everyone"
        if method == "MVPO":
            assert list(dict.fromkeys(p["C1"] for p in points)) == list(mvpo.GRID_C1)
        views = {"SVMPerf": {0, 1, 2}, "CAPO": {0}, "FSMulti": {0}}.get(method, {None})
        assert {p.get("view") for p in points} == views


@pytest.mark.parametrize("n_others", [1, 4, 7, 11])
def test_one_point_for_each_C2(n_others):
    points = grid(other=range(n_others), C2=(1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6, 1e7))
    drawn = [mvpo.one_for_each_C2(points, seed) for seed in range(50)]
    for few in drawn:
        assert sorted(p["C2"] for p in few) == sorted({p["C2"] for p in points})
        assert few == [p for p in points if p in few], "ties go to the first, as on the grid"
        counts = np.bincount([p["other"] for p in few], minlength=n_others)
        assert counts.max() - counts.min() <= 1
    at = {(p["other"], p["C2"]) for few in drawn for p in few}
    assert len(at) > 0.9 * len(points), "every point has its chance"
    assert drawn[3] == mvpo.one_for_each_C2(points, 3)


def test_a_method_with_few_points_is_tuned_on_them(monkeypatch):
    halves = small_problem(n=60, n_classes=2)
    monkeypatch.setattr(mvpo, "load_halves", lambda name, seed: halves)
    monkeypatch.setitem(mvpo.GRID_C2, "any", (1.0, 10.0))
    monkeypatch.setattr(mvpo, "GRID_C1", (0.0, 1.0, 10.0))
    forget()
    measures = METHODS["MVPO"].measures
    found = mvpo.on_few("any", "MVPO", measures=measures, target="f1", quick=False, seed=4)
    points = mvpo.one_for_each_C2(points_of("any", "MVPO", "f1", False, 4), 4)
    method = replace(METHODS["MVPO"], points=points, fixed={"target": "f1"})
    values = validate(halves, method, 4, quality)[:, 0]
    best = points[values.argmax()]
    assert (found["C1"], found["C2"]) == (best["C1"], best["C2"])
    assert found["validation"] == values.max()
    forget()
    monkeypatch.setattr(mvpo, "points_of", lambda *_: [best])
    alone = on_halves("any", "MVPO", measures=measures, target="f1", quick=False, seed=4)
    assert alone == found, "the same machine, where that is the only point"
    forget()


def test_the_second_figure_waits_for_the_first():
    jobs = list(fig2("mfeat", False, NO_ROWS))
    counts = pd.Series([job.method for job in jobs]).value_counts().to_dict()
    n_targets = len(TARGETS)
    assert counts == {"CoLabeling": 10 * n_targets, "SVM2K": 3 * n_targets, "MSL": 3 * n_targets}
    assert max(job.repeat for job in jobs if job.method in PAIR_METHODS) == 2


def test_the_second_figure_repeats_the_rows_of_the_first():
    rows = read_ledger("mvpo")
    first = rows.query("item == 'fig1' and dataset == 'mfeat' and method == 'MVPO'")
    stored = first.set_index(["parameter", "repeat", "measure"])["value"]
    jobs = [job for job in fig2("mfeat", False, rows) if job.method == "MVPO"]
    assert len(jobs) == 10 * len(TARGETS)
    for job in jobs:
        expected = stored[encode_parameter(job.parameter), job.repeat]
        assert job.function(seed=0) == expected.to_dict()
