"""Protocol of MVPO's figures: halves, machines, tuning, measures, jobs, claims."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.metrics import f1_score, roc_auc_score
from sklearn.metrics.pairwise import linear_kernel

from mvref import MultiView
from mvref.datasets import available
from mvref.experiments import halves as halves_module
from mvref.experiments import mvpo, ranking, read_paper_numbers
from mvref.experiments.claims.mvpo import CLAIMS
from mvref.experiments.engine import COLUMNS, Ledger, run
from mvref.experiments.halves import Halves, load_halves, measure_all, scale_views
from mvref.experiments.mvpo import ITEMS, fig1, fig2, fig3, fig4
from mvref.experiments.pair_methods import PAIR_METHODS
from mvref.experiments.problems import load_dataset
from mvref.experiments.ranking import (
    METHODS,
    TARGETS,
    ColumnsMachine,
    MVPOMachine,
    certified,
    choose,
    linear_svc,
    tuned,
)
from mvref.mvpo import MVPO
from mvref.rivals import CoLabeling
from mvref.rivals.svm_perf import SVMPerf

NO_ROWS = pd.DataFrame(columns=COLUMNS)


def skip_unless_here(name):
    if name not in available():
        pytest.skip(f"data set {name} is not on this machine: see mvref.datasets.fetch_{name}")


def small_problem(n=40, widths=(3, 4), n_classes=3, seed=0):
    """Views that hint at the class, and the indicator matrix."""
    rng = np.random.RandomState(seed)
    y = np.arange(n) % n_classes
    centres = [3.0 * rng.randn(n_classes, d) for d in widths]
    views = [c[y] + rng.randn(n, d) for c, d in zip(centres, widths, strict=True)]
    return MultiView(views), y, y[:, None] == np.arange(n_classes)


# ------------------------------------------------------------------------------------- data


@pytest.mark.parametrize("name", mvpo.DATASETS)
def test_halves_follow_the_protocol(name):
    skip_unless_here(name)
    halves, raw = load_halves(name, 3), load_dataset(name)
    n = len(raw.y)
    assert np.array_equal(np.sort(np.concatenate([halves.train, halves.test])), np.arange(n))
    assert abs(len(halves.train) - len(halves.test)) <= 1
    difference = halves.Y[halves.train].sum(axis=0) - halves.Y[halves.test].sum(axis=0)
    assert np.abs(difference).max() <= 1
    assert np.array_equal(halves.Y.argmax(axis=1), np.unique(raw.y, return_inverse=True)[1])
    checks = np.concatenate([check for _, check in halves.folds])
    assert sorted(checks) == sorted(halves.train)
    for fit, check in halves.folds:
        assert sorted([*fit, *check]) == sorted(halves.train)
        assert halves.Y[check].sum(axis=0).min() >= 20
    for view, before in zip(halves.X.views, raw.X.views, strict=True):
        of_train = view[halves.train]
        if sparse.issparse(view):
            assert np.array_equal(view.indices, before.indices), "zeros stay zeros"
            assert of_train.power(2).sum() == pytest.approx(len(halves.train))
        else:
            np.testing.assert_allclose(of_train.mean(axis=0), 0, atol=1e-9)
            np.testing.assert_allclose(of_train.var(axis=0), 1)
            assert np.abs(view[halves.test].mean(axis=0)).max() > 1e-3
    assert not np.array_equal(load_halves(name, 4).test, halves.test)


def test_the_test_half_does_not_scale_the_views():
    rng = np.random.RandomState(0)
    dense, rows = rng.randn(20, 3), sparse.random(20, 9, 0.3, "csr", random_state=0)
    train = np.arange(10)
    changed = dense.copy(), rows.copy()
    changed[0][10:] *= 100.0
    changed[1][10:] = 100.0 * changed[1][10:]
    one, other = (scale_views(MultiView(views), train) for views in ([dense, rows], changed))
    assert np.array_equal(one.views[0][train], other.views[0][train])
    assert np.array_equal(one.views[1][train].toarray(), other.views[1][train].toarray())


def test_measures_are_means_over_the_classes():
    rng = np.random.RandomState(1)
    Y = np.eye(3, dtype=bool)[np.arange(30) % 3]
    scores = rng.randn(30, 3) + Y
    found = measure_all(Y, scores)
    assert found["f1"] == pytest.approx(f1_score(Y, scores >= 0, average="macro"))
    assert found["auroc"] == pytest.approx(roc_auc_score(Y, scores, average="macro"))
    top = [Y[np.argsort(-scores[:, k])[:10], k].mean() for k in range(3)]
    assert found["prbep"] == pytest.approx(np.mean(top))


# --------------------------------------------------------------------------------- machines


@pytest.mark.parametrize("widths", [(3, 4), (30, 20)])
@pytest.mark.parametrize("target", TARGETS)
def test_the_machine_is_mvpo(target, widths):
    X, y, Y = small_problem(widths=widths)
    machine = MVPOMachine(X[:30], Y[:30], target, 2.0)
    for C2 in (1.0, 50.0):
        scores = machine.fit(C2).scores(X)
        model = MVPO(target, C1=2.0, C2=C2).fit(X[:30], y[:30])
        np.testing.assert_allclose(scores, model.decision_function(X), atol=1e-8)
        assert machine.gap == pytest.approx(model.dual_gap_.max() / (C2 * 1e-3))
        assert machine.gap <= 1
        binary = MVPO(target, C1=2.0, C2=C2).fit(X[:30], Y[:30, 1])
        np.testing.assert_allclose(scores[:, 1], binary.decision_function(X), atol=1e-8)


def test_the_machine_of_sparse_views_is_that_of_dense_ones():
    X, _, Y = small_problem(widths=(30, 20))
    thin = MultiView([np.where(np.abs(view) > 1, view, 0.0) for view in X.views])
    coded = MultiView([sparse.csr_matrix(view) for view in thin.views])
    for columns in (MVPOMachine, METHODS["LinearSVC"].machine, METHODS["CoLabeling"].machine):
        one, other = (columns(Z[:30], Y[:30], "f1", 1.0).fit(5.0).scores(Z) for Z in (thin, coded))
        np.testing.assert_allclose(one, other, atol=1e-6)


def test_single_view_methods_see_their_view_only():
    X, _, Y = small_problem()
    scores = METHODS["SVMPerf"].machine(X, Y, "prbep", 1).fit(10.0).scores(X)
    other = MultiView([np.zeros_like(X.views[0]), X.views[1]])
    same = METHODS["SVMPerf"].machine(other, Y, "prbep", 1).fit(10.0).scores(other)
    assert np.array_equal(scores, same)
    model = SVMPerf("prbep", C2=10.0).fit(X.views[1], Y[:, 2])
    np.testing.assert_allclose(scores[:, 2], model.decision_function(X.views[1]), atol=1e-10)


def test_without_consistency_and_with_one_view_mvpo_is_svm_perf():
    X, _, Y = small_problem()
    X = X.select([0])
    for target in TARGETS:
        one = METHODS["MVPO-C1=0"].machine(X, Y, target, None).fit(10.0)
        other = METHODS["SVMPerf"].machine(X, Y, target, 0).fit(10.0)
        np.testing.assert_allclose(one.scores(X), other.scores(X), atol=1e-6)


def test_the_mean_of_linear_svms():
    X, _, Y = small_problem()
    alone = [
        ColumnsMachine(X, Y, "f1", v, make=linear_svc, columns="view").fit(5.0).scores(X)
        for v in range(2)
    ]
    together = METHODS["CoLabeling"].machine(X, Y, "f1", None).fit(5.0)
    np.testing.assert_allclose(together.scores(X), (alone[0] + alone[1]) / 2)
    assert together.models[0][0].C == pytest.approx(4 * 5.0 / 40)
    assert METHODS["LinearSVC"].machine(X, Y, "f1", None).tables[0].shape == (40, 7)


def test_the_mean_of_linear_svms_is_co_labeling():
    X, y, Y = small_problem()
    for C2 in (0.5, 5.0):
        machine = METHODS["CoLabeling"].machine(X[:30], Y[:30], "f1", None)
        model = CoLabeling(C=2 * 4.0 * C2 / 30, kernel=linear_kernel)  # half the squared hinge
        scores = model.fit(X[:30], y[:30]).decision_function(X)
        np.testing.assert_allclose(machine.fit(C2).scores(X), scores, atol=2e-3)
        assert np.ptp(scores) > 1


def test_the_gap_tells_what_stopped_early(monkeypatch):
    X, _, Y = small_problem()
    monkeypatch.setattr(ranking, "MAX_ITER", 3)
    assert MVPOMachine(X, Y, "f1", 0.0).fit(1e3).gap > 1
    hasty = certified(SVMPerf, max_iter=3)
    assert ColumnsMachine(X, Y, "f1", 0, make=hasty, columns="view").fit(1e3).gap > 1


# ----------------------------------------------------------------------------------- tuning


class Oracle:
    """Scores that are right for as many samples as a table of (outer, C2) says."""

    table = {}

    def __init__(self, X, Y, target, outer):
        self.outer = outer

    def fit(self, C2, tol=None):
        self.n_right = self.table[self.outer, C2]
        return self

    def scores(self, X):
        y = X.views[0][:, 0]  # the label, put there by the test
        position = np.argsort(np.argsort(X.views[0][:, 1]))
        return np.where(position < self.n_right, 1.0, -1.0)[:, None] * (2 * y - 1)[:, None]


def oracle_halves(X=None):
    rng = np.random.RandomState(0)
    y = np.arange(60) % 2 == 0
    X = MultiView([np.column_stack([y, rng.rand(60)]), rng.randn(60, 2)]) if X is None else X
    train = np.arange(30)
    folds = [(np.setdiff1d(train, check), check) for check in np.split(train, 3)]
    return Halves(X, y[:, None], y, train, np.arange(30, 60), folds)


@pytest.mark.parametrize("target", TARGETS)
def test_choose_takes_the_best_and_of_equals_the_first(monkeypatch, target):
    monkeypatch.setitem(METHODS, "oracle", ranking.Method(Oracle, "C1"))
    n_right = [(0.0, 1.0, 5), (0.0, 10.0, 9), (1.0, 1.0, 9), (1.0, 10.0, 8)]
    Oracle.table = {(C1, C2): n for C1, C2, n in n_right}
    C1, C2, value = choose("oracle", oracle_halves(), target, (0.0, 1.0), (1.0, 10.0))
    assert (C1, C2) == (0.0, 10.0)
    assert 0.8 <= value < 1
    Oracle.table[1.0, 10.0] = 10
    assert choose("oracle", oracle_halves(), target, (0.0, 1.0), (1.0, 10.0)) == (1.0, 10.0, 1.0)


def test_views_are_chosen_too(monkeypatch):
    X, y, Y = small_problem(n=60, n_classes=2)
    views = [np.random.RandomState(5).randn(60, 3), X.views[1]]  # noise, and a view that knows
    halves = oracle_halves(MultiView(views))
    halves = Halves(halves.X, Y, y, halves.train, halves.test, halves.folds)
    assert choose("SVMPerf", halves, "auroc", None, (1.0, 10.0))[0] == 1


def test_a_rival_takes_the_view_of_svm_perf_and_sms_its_C2_too(monkeypatch):
    X, y, Y = small_problem(n=60, n_classes=2)
    X = MultiView([np.random.RandomState(5).randn(60, 3), X.views[1]])
    halves = oracle_halves(X)
    halves = Halves(X, Y, y, halves.train, halves.test, halves.folds)
    monkeypatch.setattr(ranking, "load_halves", lambda name, seed: halves)
    ranking._choice_of_svm_perf.cache_clear()
    grids = {"grid_C1": (), "grid_C2": (1.0, 10.0), "rival_C2": (5.0,), "seed": 0}
    perf = tuned("any", "SVMPerf", "auroc", grid_C1=(), grid_C2=(1.0, 10.0), seed=0)
    smooth, capo = (ranking.rival("any", m, "auroc", **grids) for m in ("SMS", "CAPO"))
    ranking._choice_of_svm_perf.cache_clear()
    assert perf["view"] == smooth["view"] == capo["view"] == 1
    assert (smooth["C2"], capo["C2"]) == (perf["C2"], 5.0)
    assert "validation" not in smooth
    # the same optimum, up to tol: ranks of few samples may differ
    assert smooth["auroc"] == pytest.approx(perf["auroc"], abs=0.02)


def test_the_test_half_influences_no_choice():
    halves = load_halves("mfeat", 7)
    X = halves.X.select(["mor", "zer"])
    scrambled = [view.copy() for view in X.views]
    rng = np.random.RandomState(0)
    for view in scrambled:
        view[halves.test] = rng.randn(len(halves.test), view.shape[1])
    Y = halves.Y.copy()
    Y[halves.test] = Y[rng.permutation(halves.test)]
    one, other = (
        choose(
            "MVPO",
            Halves(Z, labels[:, 3:5], halves.y, halves.train, halves.test, halves.folds),
            "prbep",
            (0.0, 10.0),
            (1.0, 100.0),
        )
        for Z, labels in ((X, halves.Y), (MultiView(scrambled, names=X.names), Y))
    )
    assert one == other


@pytest.mark.parametrize("name", ["citeseer", "webkb"])
def test_a_tuned_method_on_text(name):
    skip_unless_here(name)
    found = tuned(name, "MVPO", "auroc", grid_C1=(1.0,), grid_C2=(100.0,), seed=1)
    assert list(found) == list(ranking.measures_of("MVPO"))
    assert 0.85 < found["auroc"] <= 1
    assert found["gap"] <= 1
    assert (found["C1"], found["C2"]) == (1.0, 100.0)


# ------------------------------------------------------------------------------------- jobs


@pytest.mark.parametrize("quick", [True, False])
def test_jobs_are_distinct_and_follow_the_protocol(quick):
    for item, n_repeats in ((fig1, 10), (fig3, 3), (fig4, 1)):
        jobs = list(item("mfeat", quick, NO_ROWS))
        keys = {(j.dataset, j.method, str(j.parameter), j.repeat) for j in jobs}
        assert len(keys) == len(jobs)
        assert {j.repeat for j in jobs} == set(range(1 if quick else n_repeats))
        assert {j.parameter["target"] for j in jobs} == set(TARGETS)
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
def test_all_methods_search_the_same_values_of_C2(dataset):
    grids = {}
    for job in fig1(dataset, False, NO_ROWS):
        options = job.function.keywords
        grids[job.method] = options.get("rival_C2", options["grid_C2"])
    assert set(grids) == {*mvpo.FIG1_METHODS, *mvpo.RIVALS}
    assert set(grids.values()) == {mvpo.GRID_C2[dataset]}


def test_all_items_share_their_halves():
    seeds = [{item.seed("mfeat", repeat) for repeat in range(10)} for item in ITEMS]
    assert len(seeds[0]) == 10
    assert all(of_item == seeds[0] for of_item in seeds)
    assert seeds[0].isdisjoint(ITEMS[0].seed("webkb", repeat) for repeat in range(10))


def test_the_second_figure_waits_for_the_first():
    jobs = list(fig2("mfeat", False, NO_ROWS))
    counts = pd.Series([job.method for job in jobs]).value_counts().to_dict()
    n_targets = len(TARGETS)
    assert counts == {"CoLabeling": 10 * n_targets, "SVM2K": 3 * n_targets, "MSL": 3 * n_targets}
    assert max(job.repeat for job in jobs if job.method in PAIR_METHODS) == 2


@pytest.fixture(scope="module")
def quick_rows(tmp_path_factory):
    """Rows of a quick run on three of the ten digits."""
    data = load_dataset("mfeat")
    few = np.flatnonzero(data.y < 3)
    three = SimpleNamespace(X=data.X[few], y=data.y[few])
    load_halves.cache_clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(halves_module, "load_dataset", lambda name: three)
        yield quick_run(tmp_path_factory)
    load_halves.cache_clear()


def quick_run(tmp_path_factory):
    ledger = Ledger("mvpo", tmp_path_factory.mktemp("ledger"))
    counts = {item.name: run(item, "mfeat", ledger, quick=True) for item in ITEMS}
    assert all(run(item, "mfeat", ledger, quick=True) == 0 for item in ITEMS), "all is there"
    return ledger.read(), counts


def values_of(rows, item, measure):
    rows = rows[(rows["item"] == item) & (rows["measure"] == measure)]
    return rows.set_index(["method", "parameter"])["value"]


def test_a_quick_run(quick_rows):
    rows, counts = quick_rows
    methods = [*mvpo.FIG1_METHODS, *mvpo.RIVALS]
    n_measures = sum(len(ranking.measures_of(method)) for method in methods)
    assert counts["fig1"] == n_measures * len(TARGETS)
    assert rows.query("measure == 'gap'")["value"].max() <= 1
    assert values_of(rows, "fig1", "auroc").min() > 0.9
    target = '{"target":"f1"}'
    assert values_of(rows, "fig1", "f1")["MVPO", target] > 0.9
    assert set(values_of(rows, "fig1", "C1")) <= set(mvpo.QUICK_C1)
    assert set(values_of(rows, "fig1", "C2")) <= set(mvpo.QUICK_C2)
    assert set(values_of(rows, "fig1", "view")) <= set(range(6))
    views = values_of(rows, "fig1", "view").unstack("method")
    for method in mvpo.RIVALS:
        assert views[method].equals(views["SVMPerf"].rename(method)), "the view of SVM^perf"
    assert values_of(rows, "fig4", "train_seconds").min() > 0
    assert values_of(rows, "fig4", "n_iter").equals(values_of(rows, "fig3", "n_iter"))


def test_the_second_figure_repeats_the_rows_of_the_first(quick_rows):
    rows, counts = quick_rows
    for measure in ranking.measures_of("MVPO"):
        first, second = (values_of(rows, item, measure) for item in ("fig1", "fig2"))
        for target in TARGETS:
            point = "MVPO", f'{{"target":"{target}"}}'
            assert first[point] == second[point]
    assert set(rows.loc[rows["item"] == "fig2", "method"]) == {*mvpo.FIG2_METHODS, *PAIR_METHODS}
    assert values_of(rows, "fig2", "auroc").min() > 0.9
    pairs = [values_of(rows, "fig2", name).unstack() for name in ("view", "second_view")]
    assert set(pairs[0].index) == set(PAIR_METHODS)
    assert (pairs[0] < pairs[1]).all(axis=None) and pairs[1].max(axis=None) < 6
    for of_targets in pairs:
        assert (of_targets.nunique(axis=1) == 1).all(), "one pair for all targets"


# ----------------------------------------------------------------------------------- claims


def summary_of(rows, names):
    return pd.DataFrame(rows, columns=["dataset", "method", *names, "measure", "mean"])


def claim(measure, summary):
    numbers = read_paper_numbers("mvpo")
    row = SimpleNamespace(**numbers[numbers["measure"] == measure].iloc[0])
    return CLAIMS[measure](summary, row)


def test_every_number_of_the_text_has_a_claim():
    numbers = read_paper_numbers("mvpo")
    assert set(numbers["measure"]) == set(CLAIMS)
    assert set(numbers["item"]) <= {"data", "protocol", *(item.name for item in ITEMS)}
    empty = summary_of([], ["target", "C1", "C2"])
    for row in numbers.itertuples():
        ours = CLAIMS[row.measure]
        text = ours(empty, row) if callable(ours) else str(ours)
        known = row.item in ("data", "protocol")
        assert (text == "-") != known
    assert CLAIMS["n_repeats"] == numbers.set_index("measure").loc["n_repeats", "value"]


def test_claims_about_the_measures():
    rows = [
        ("mfeat", "MVPO", "f1", "f1", 0.9),
        ("mfeat", "SVMPerf", "f1", "f1", 0.7),
        ("mfeat", "LinearSVC", "f1", "f1", 0.95),
        ("mfeat", "LinearSVC", "auroc", "f1", 0.99),  # another target
        ("webkb", "MVPO", "prbep", "prbep", 0.8),
        ("webkb", "MVPO-C1=0", "prbep", "prbep", 0.9),  # a variant is no rival
        ("webkb", "SVMPerf", "prbep", "prbep", 0.82),
        ("webkb", "SMS", "prbep", "prbep", 0.84),
    ]
    summary = summary_of(rows, ["target"])
    assert claim("f1_above", summary) == "0.9000"
    assert claim("f1_of_rivals_below", summary) == "0.7000 (SVMPerf)"
    exceptions, besides = claim("n_exceptions", summary).split("; besides, ")
    assert exceptions == "1 of 2: prbep on webkb by SMS"  # the best of two, not the variant
    assert besides == "1 of 2: f1 on mfeat by LinearSVC"


def test_claims_about_time_and_convergence():
    rows = [
        ("mfeat", "MVPO", target, C1, 100.0, "train_seconds", seconds)
        for target, C1, seconds in (("f1", 0.0, 9.0), ("f1", 0.01, 5.0), ("f1", 1.0, 2.0))
    ]
    rows += [("mfeat", "MVPO", "auroc", 0.01, 100.0, "train_seconds", 0.1)]
    rows += [("mfeat", "MVPO", "f1", C1, 100.0, "gap", gap) for C1, gap in ((0.0, 1.5), (1.0, 0.5))]
    summary = summary_of(rows, ["target", "C1", "C2"])
    assert claim("f1_seconds", summary) == "2 to 9 on mfeat"
    assert claim("f1_seconds_small_C1", summary) == "5 to 5 on mfeat"
    assert claim("converged", summary) == "0.50 of 2 points"
