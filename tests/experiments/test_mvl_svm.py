"""Protocol of MVL-SVM's figures: parts, tuning, variants, jobs."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from mvref import MVLSVM
from mvref.datasets import available
from mvref.experiments import methods, mvl_svm
from mvref.experiments.engine import COLUMNS
from mvref.experiments.methods import METHODS, LandmarkSVM, choose_C, complete_by_laplacian
from mvref.experiments.problems import label, load_problem, mean_distance_gamma
from mvref.mvl_svm import project
from mvref.views import MultiView

NO_ROWS = pd.DataFrame(columns=COLUMNS)
HERE = [name for name in mvl_svm.DATASETS if name in available()]


def small(missing=0.0, seed=0):
    """A corner of mfeat: 150 samples to train on, 100 to test."""
    problem = load_problem("mfeat", missing=missing, seed=seed)
    train = problem.reference[:150]
    folds = [(train[50:], train[:50])]
    return replace(
        problem, reference=train, pool=train, test=problem.test[:100], folds=folds
    )  # fmt: skip


@pytest.mark.parametrize("name", HERE)
def test_parts_are_a_partition_and_folds_never_see_the_test_part(name):
    problem = load_problem(name, split=2 if name == "flower17" else None, missing=0.3, seed=4)
    everything = np.concatenate([problem.pool, problem.test])
    assert np.array_equal(np.sort(everything), np.arange(len(problem.y)))
    assert set(problem.reference) <= set(problem.pool)
    for fit, check in problem.folds:
        assert not set(fit) & set(check)
        assert set(fit) | set(check) <= set(problem.pool)
    for rows in (problem.reference, problem.test):
        seen = problem.X.observed[rows]
        assert seen.any(axis=1).all()
        assert seen.mean() == pytest.approx(0.7, abs=0.5 / seen.size)
    assert problem.complete.observed.all()
    sizes = {"uwave": (896, 896, 3582), "flower17": (680, 1020, 340), "mfeat": (1000, 1000, 1000)}
    assert tuple(map(len, (problem.reference, problem.pool, problem.test))) == sizes[name]


def test_the_seed_draws_the_half_of_mfeat_and_the_gaps():
    one, same, other = (load_problem("mfeat", missing=0.2, seed=s) for s in (1, 1, 2))
    assert np.array_equal(one.test, same.test)
    assert np.array_equal(one.X.observed, same.X.observed)
    assert not np.array_equal(one.test, other.test)
    assert (np.bincount(one.y[one.test]) == 100).all()


@pytest.mark.parametrize(
    ("method", "loss"), [("MVLSVM", "squared_hinge"), ("MVLSVM-hinge", "hinge")]
)
def test_the_experiment_trains_the_estimator(method, loss):
    problem, C = small(), 0.5
    machine = METHODS[method](problem, problem.reference, problem.pool, 20, 7).fit(C)
    predicted = machine.predict(machine.features(problem.test))
    model = MVLSVM(20, c=C * len(problem.pool), loss=loss, tol=1e-6, random_state=7)
    model.fit(problem.X[problem.pool], problem.y[problem.pool])
    assert np.array_equal(model.projection_.transform(problem.X[problem.pool]), machine.Phi)
    disagreements = np.sum(model.predict(problem.X[problem.test]) != predicted)
    assert disagreements <= 1, "solvers stop at different tolerances"


@pytest.mark.skipif("flower17" not in HERE, reason="data set flower17 is not on this machine")
def test_scale_of_distances_is_that_of_the_estimator():
    problem = load_problem("flower17", split=1)
    model = MVLSVM(5, kernel="precomputed", random_state=0)
    model.fit(problem.X[problem.reference], problem.y[problem.reference])
    expected = [mu.gamma for mu in model.projection_.similarities_]
    np.testing.assert_allclose(mean_distance_gamma(problem, problem.reference), expected)


def test_column_means_fill_the_gaps_and_nothing_else():
    problem = small(missing=0.3)
    machine = METHODS["MVLSVM-mean"](problem, problem.reference, problem.pool, 10, 0)
    Phi = project(problem.X[problem.pool], machine.projection.similarities_)
    gaps = np.isnan(Phi)
    assert np.array_equal(machine.Phi[~gaps], Phi[~gaps])
    np.testing.assert_allclose(
        machine.Phi[gaps], np.broadcast_to(np.nanmean(Phi, 0), Phi.shape)[gaps]
    )
    filled = machine.features(problem.test)
    assert np.isfinite(filled).all()
    gaps = np.isnan(project(problem.X[problem.test], machine.projection.similarities_))
    in_training = np.broadcast_to(np.nanmean(Phi, axis=0), filled.shape)
    np.testing.assert_allclose(filled[gaps], in_training[gaps])  # means of training, not of test


def test_landmarks_that_must_be_complete_are():
    problem = small(missing=0.4)
    n_complete = int(problem.X.observed[problem.reference].all(axis=1).sum())
    assert 0 < n_complete < 20
    known, complete, drop = (
        METHODS[name](problem, problem.reference, problem.pool, 20, 0)
        for name in ("MVLSVM", "MVLSVM-complete", "MVLSVM-drop")
    )
    assert known.n_landmarks == 20
    assert complete.n_landmarks == drop.n_landmarks == n_complete
    chosen = problem.reference[complete.projection.landmark_indices_]
    assert problem.X.observed[chosen].all()
    assert len(complete.Phi) == len(problem.pool)
    assert len(drop.Phi) == n_complete
    assert np.isfinite(drop.features(problem.test)).all(), "test samples are imputed all the same"


def test_the_most_frequent_class_is_left_where_nothing_can_be_learnt():
    problem = small()
    observed = np.ones_like(problem.X.observed)
    observed[problem.reference, 0] = False
    X = MultiView(problem.X.views, observed=observed)
    problem = replace(problem, X=X, y=np.where(np.arange(len(problem.y)) % 3 == 0, 1, 5))
    for name in ("MVLSVM-complete", "MVLSVM-drop"):
        machine = METHODS[name](problem, problem.reference, problem.pool, 10, 0).fit(1.0)
        assert machine.n_landmarks == 0
        assert (machine.predict(machine.features(problem.test)) == 5).all()


def test_one_complete_sample_predicts_its_own_class():
    problem = small()
    observed = np.ones_like(problem.X.observed)
    observed[problem.reference[1:], 0] = False
    problem = replace(problem, X=MultiView(problem.X.views, observed=observed))
    machine = METHODS["MVLSVM-drop"](problem, problem.reference, problem.pool, 10, 0).fit(1.0)
    assert (
        machine.predict(machine.features(problem.test)) == problem.y[problem.reference[0]]
    ).all()  # fmt: skip


class Stub:
    """Right for some C, wrong for others; remembers the rows it saw."""

    seen = set()

    def __init__(self, problem, reference, train, L, seed):
        self.y = problem.y
        Stub.seen |= {*reference, *train}

    def features(self, rows):
        Stub.seen |= set(rows)
        return rows

    def fit(self, C):
        self.C = C
        return self

    def predict(self, rows):
        return self.y[rows] if self.C in (1.0, 10.0) else self.y[rows] + 1


def test_ties_go_to_the_smallest_C_and_tuning_never_sees_the_test_part(monkeypatch):
    monkeypatch.setitem(methods.METHODS, "stub", Stub)
    problem = load_problem("mfeat", seed=0)
    assert choose_C(problem, "stub", None, 0, mvl_svm.GRID) == (1.0, 1.0)
    assert Stub.seen == set(problem.pool)


def test_completing_nothing_changes_nothing():
    problem = small()
    predicted = []
    for one in (problem, complete_by_laplacian(problem)):
        machine = METHODS["PerViewSVM"](one, one.reference, one.pool, None, 0).fit(10.0)
        predicted.append(machine.predict(machine.features(one.test)))
    assert np.array_equal(*predicted)


def test_more_landmarks_of_a_repeat_contain_the_fewer():
    problem = small()
    few, many = (
        LandmarkSVM(problem, problem.reference, problem.pool, L, 3).projection for L in (5, 30)
    )
    assert set(few.landmark_indices_) <= set(many.landmark_indices_)


@pytest.mark.parametrize("name", HERE)
@pytest.mark.parametrize("quick", [True, False])
def test_jobs_are_distinct_and_follow_the_protocol(name, quick):
    for figure in (mvl_svm.fig2, mvl_svm.fig5):
        jobs = list(figure(name, quick, NO_ROWS))
        keys = {(j.method, str(j.parameter), j.repeat) for j in jobs}
        assert len(keys) == len(jobs)
        assert {j.dataset for j in jobs} == {label(name)}
        repeats = {j.repeat for j in jobs if j.method == "MVLSVM"}
        n_repeats = mvl_svm.N_REPEATS if figure is mvl_svm.fig2 else mvl_svm.MISSING_REPEATS[name]
        assert repeats == set(range(1 if quick else n_repeats))
        splits = {j.parameter.get("split") for j in jobs}
        assert splits == ({1} if quick else {1, 2, 3}) if name == "flower17" else splits == {None}


def test_the_missing_views_of_figure_5_are_feasible():
    n_views = {"uwave": 3, "flower17": 7, "mfeat": 6}
    assert all(max(mvl_svm.RATIOS) <= 1 - 1 / V for V in n_views.values())


def test_figure_3_times_the_median_choice_of_figure_2():
    chosen = [0.1, 10.0, 1.0, 1.0, 10.0]
    rows = pd.DataFrame(
        [
            dict.fromkeys(COLUMNS, "")
            | {"item": "fig2", "dataset": "mfeat", "method": "MVLSVM", "parameter": '{"L":50}'}
            | {"measure": "C", "repeat": r, "value": C}
            for r, C in enumerate(chosen)
        ]
    )
    [job] = mvl_svm.fig3("mfeat", False, rows)
    assert (job.method, job.parameter, job.function.keywords["C"]) == ("MVLSVM", {"L": 50}, 1.0)
    values = job.function(seed=0)
    assert set(values) == set(job.measures)
    assert values["train_seconds"] > 0
    assert values["test_seconds"] > 0
    assert list(mvl_svm.fig3("mfeat", False, NO_ROWS)) == []
