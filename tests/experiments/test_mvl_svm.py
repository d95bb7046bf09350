"""Protocol of MVL-SVM's figures: parts, tuning, variants, jobs."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.svm import SVC

from mvref import MVLSVM
from mvref.core.input import MultiView
from mvref.datasets import fetch_uwave
from mvref.experiments import methods, mvl_svm, summarize
from mvref.experiments.engine import COLUMNS, encode_parameter
from mvref.experiments.methods import METHODS, complete_by_laplacian
from mvref.experiments.problems import label, load_problem, mean_distance_gamma, reference
from mvref.experiments.tuning import Split
from mvref.mvl_svm import project
from mvref.rivals import MVML, SVM2K, Concat

NO_ROWS = pd.DataFrame(columns=COLUMNS)


def small(missing=0.0, seed=0):
    """A corner of mfeat: 150 samples to train on, 100 to test."""
    problem = load_problem("mfeat", missing=missing, seed=seed)
    train = problem.train[:150]
    return replace(problem, train=train, test=problem.test[:100], folds=[(train[50:], train[:50])])


def machine_of(problem, method, seed=0, **options):
    """The machine of a method on the training part."""
    return METHODS[method].make(problem, problem.train, seed, **options)


def landmarks_of(problem):
    """The training samples that landmarks may be."""
    return reference(problem, problem.train)


def few_views():
    """The same with three views, to be learnt sooner."""
    problem = small()
    return replace(problem, X=MultiView(problem.X.views[:3]))


@pytest.mark.data("name")
@pytest.mark.parametrize("name", mvl_svm.DATASETS)
def test_views_are_missing_in_every_part_and_landmarks_are_no_validation_samples(name):
    problem = load_problem(name, split=2 if name == "flower17" else None, missing=0.3, seed=4)
    for fit, _ in problem.folds:
        assert np.array_equal(reference(problem, fit), fit), "a fold trains on no validation part"
    for rows in (landmarks_of(problem), problem.test):
        seen = problem.X.observed[rows]
        assert seen.any(axis=1).all()
        assert seen.mean() == pytest.approx(0.7, abs=0.5 / seen.size)
    assert problem.meta["complete"].observed.all()
    n_landmarks = {"uwave": 896, "flower17": 680, "mfeat": 1000}
    assert len(landmarks_of(problem)) == n_landmarks[name]


def of_columns(model):
    return Concat(model, random_state=0)


LOGISTIC, SQUARED = (
    LogisticRegression(C=10.0, max_iter=1000),
    {"loss": "squared_hinge", "tol": 0.01},
)


@pytest.mark.parametrize(
    ("method", "L", "point", "model"),
    [
        ("MVLSVM", 20, {"C": 0.5}, MVLSVM(20, c=75.0, loss="squared_hinge", tol=1e-6)),  # c = m C
        ("MVLSVM-hinge", 20, {"C": 0.5}, MVLSVM(20, c=75.0, loss="hinge", tol=1e-6)),
        ("MVLSVM-liblinear", 20, {"C": 0.5}, MVLSVM(20, c=75.0, solver="liblinear", **SQUARED)),
        ("MVLSVM-columns", 20, {"C": 10.0}, MVLSVM(20, c=1500.0, loss="squared_hinge")),
        ("SVC", None, {"C": 10.0}, of_columns(SVC(C=10.0, gamma=1 / 649))),
        ("LogisticRegression", None, {"C": 10.0}, of_columns(LOGISTIC)),
        ("SVM2K", None, {"C": 0.1, "D": 0.01}, SVM2K(0.1, D=0.01, tol=1e-5)),
        ("MVML", 12, {"lam": 0.1, "eta": 1.0}, MVML(0.1, 1.0, n_components=12)),
    ],
)
def test_the_experiment_trains_the_estimators_of_the_library(monkeypatch, method, L, point, model):
    monkeypatch.setitem(methods.AGREEMENT, "tol", 1e-5)  # the orders of steps differ
    problem = few_views() if method in mvl_svm.GRIDS else small()
    X = MultiView([problem.X.concat()]) if method == "MVLSVM-columns" else problem.X
    train, test = problem.train, problem.test
    machine = machine_of(problem, method, 7, **({"L": L} if L else {})).fit(point)
    model.set_params(random_state=7).fit(X[train], problem.y[train])
    if isinstance(model, MVLSVM):
        assert_allclose(machine.model.coef_, model.coef_, atol=1e-9)
    disagreements = np.sum(model.predict(X[test]) != machine.predict(machine.features(test)))
    assert disagreements <= (method == "LogisticRegression"), "it stops at another tolerance"


def test_the_mean_kernel_is_the_mean_of_the_kernels():
    for problem in (small(), of_distances()):
        machine = machine_of(problem, "SVC-mean").fit({"C": 10.0})
        gammas = mean_distance_gamma(problem, landmarks_of(problem)) or [
            1 / view.shape[1] for view in problem.X.views
        ]
        squares = [
            view**2
            if problem.meta["kernel"] == "precomputed"
            else euclidean_distances(view, squared=True)
            for view in problem.X.views
        ]
        K = np.mean([np.exp(-g * D) for g, D in zip(gammas, squares, strict=True)], axis=0)
        assert_allclose(machine.X, K[np.ix_(problem.train, problem.train)], atol=1e-12)
        of_test = machine.features(problem.test)
        assert_allclose(of_test, K[np.ix_(problem.test, problem.train)], atol=1e-12)


@pytest.mark.data("flower17")
def test_scale_of_distances_is_that_of_the_estimator():
    problem = load_problem("flower17", split=1)
    model = MVLSVM(5, kernel="precomputed", random_state=0)
    rows = landmarks_of(problem)
    model.fit(problem.X[rows], problem.y[rows])
    expected = [mu.gamma for mu in model.projection_.similarities_]
    assert_allclose(mean_distance_gamma(problem, landmarks_of(problem)), expected)


def test_column_means_of_training_fill_the_gaps_and_nothing_else():
    problem = small(missing=0.3)
    assert all(
        machine_of(problem, "MVLSVM-mean", L=10, loss=loss).fit({"C": 1.0}).model.loss == loss
        for loss in ("hinge", "squared_hinge")
    )
    machine = machine_of(problem, "MVLSVM-mean", L=10)
    means = np.nanmean(project(problem.X[problem.train], machine.mus), axis=0)
    for rows in (problem.train, problem.test):
        Phi = project(problem.X[rows], machine.mus)
        assert np.isnan(Phi).any()
        assert_allclose(machine.features(rows), np.where(np.isnan(Phi), means, Phi))


def test_landmarks_that_must_be_complete_are():
    problem = small(missing=0.4)
    n_complete = int(problem.X.observed[problem.train].all(axis=1).sum())
    assert 0 < n_complete < 20
    known, complete, drop = (
        machine_of(problem, name, L=20) for name in ("MVLSVM", "MVLSVM-complete", "MVLSVM-drop")
    )
    assert [m.n_landmarks for m in (known, complete, drop)] == [20, n_complete, n_complete]
    assert problem.X.observed[problem.train[complete.drawn.landmark_indices_]].all()
    assert (len(complete.X), len(drop.X)) == (len(problem.train), n_complete)
    scores = drop.fit({"C": 1.0}).model.decision_function(problem.X[problem.test])
    assert np.isfinite(scores).all(), "test samples are imputed all the same"


def test_the_most_frequent_class_is_left_where_nothing_can_be_learnt():
    problem = small()
    observed = np.ones_like(problem.X.observed)
    observed[problem.train, 0] = False
    X = MultiView(problem.X.views, observed=observed)
    views, y = problem.X.views, np.where(np.arange(len(problem.y)) % 3 == 0, 1, 5)
    problem = replace(problem, X=X, y=y)
    for name in ("MVLSVM-complete", "MVLSVM-drop"):
        machine = machine_of(problem, name, L=10).fit({"C": 1.0})
        assert machine.n_landmarks == 0
        assert (machine.predict(machine.features(problem.test)) == 5).all()
    observed[problem.train[0]] = True  # one complete sample predicts its own class
    problem = replace(problem, X=MultiView(views, observed=observed))
    machine = machine_of(problem, "MVLSVM-drop", L=10).fit({"C": 1.0})
    assert (machine.predict(machine.features(problem.test)) == problem.y[problem.train[0]]).all()


def of_distances():
    """A corner of mfeat by disturbed distances, which no points have."""
    problem = small()
    rows = np.concatenate([problem.train, problem.test])
    noise = np.random.default_rng(0).uniform(0.8, 1.0, (len(rows), len(rows)))
    D = [euclidean_distances(view[rows]) * noise * noise.T for view in problem.X.views[:3]]
    D = [distances / distances.mean() for distances in D]
    train, test = np.split(np.arange(len(rows)), [len(problem.train)])
    meta = {"complete": MultiView(D), "kernel": "precomputed", "validation": train[100:]}
    return Split(MultiView(D), problem.y[rows], train, test, [(train[50:], train[:50])], meta)


def test_landmarks_and_components_are_drawn_from_the_reference_alone():
    assert machine_of(of_distances(), "MVLSVM", L=120).n_landmarks == 100
    problem = small()
    problem = replace(problem, meta={**problem.meta, "validation": problem.train[12:]})
    machine = machine_of(problem, "MVML", L=12)
    for mu, view in zip(machine.kernels, problem.X.views, strict=True):
        assert np.array_equal(mu.landmarks, view[problem.train[:12]])


def test_distances_that_no_points_have_give_positive_kernels():
    problem = of_distances()
    gammas = mean_distance_gamma(problem, landmarks_of(problem))
    raw = [np.exp(-g * D**2) for g, D in zip(gammas, problem.X.views, strict=True)]
    train, test = problem.train, problem.test
    assert all(np.linalg.eigvalsh(K[np.ix_(train, train)])[0] < -1e-3 for K in raw)

    paired = machine_of(problem, "SVM2K")
    for K, fitted, new in zip(raw, paired.X.views, paired.features(test).views, strict=True):
        values, vectors = np.linalg.eigh(K[np.ix_(train, train)])
        assert np.linalg.eigvalsh(fitted)[0] > -1e-9
        assert_allclose(fitted, (vectors * np.maximum(values, 0)) @ vectors.T, atol=1e-9)
        kept = vectors[:, values > 0]
        assert_allclose(new, K[np.ix_(test, train)] @ kept @ kept.T, atol=1e-9)

    metric = machine_of(problem, "MVML", L=40)
    for K, mu, F in zip(raw, metric.kernels, metric.features(test), strict=True):
        S = mu.landmarks
        assert set(S) <= set(landmarks_of(problem))
        values, vectors = np.linalg.eigh(K[np.ix_(S, S)])
        assert values[0] < 0
        known = values > 1e-10 * values[-1]
        inverse = (vectors[:, known] / values[known]) @ vectors[:, known].T
        # K_nS (K_SS)_+^+ K_Sn, the Nystroem approximation without the negative part
        expected = K[np.ix_(test, S)] @ inverse @ K[np.ix_(S, test)]
        assert_allclose(F @ F.T, expected, atol=1e-6)
    settings = {"C": 1.0, "D": 0.01}, {"lam": 0.01, "eta": 1.0}
    for machine, setting in zip((paired, metric), settings, strict=True):
        predicted = machine.fit(setting).predict(machine.features(test))
        assert np.mean(predicted == problem.y[test]) > 0.8


def test_the_rivals_take_the_strongest_of_equally_good_settings():
    agreement, metric = mvl_svm.GRIDS["SVM2K"], mvl_svm.GRIDS["MVML"]
    assert agreement == sorted(agreement, key=lambda point: (point["C"], point["D"]))
    assert metric == sorted(metric, key=lambda point: -point["lam"])
    assert {tuple(point) for point in (*agreement, *metric)} == {("C", "D"), ("lam", "eta")}
    assert agreement[0] == {"C": 1e-4, "D": 1e-4}
    assert mvl_svm.GRID == sorted(mvl_svm.GRID, key=lambda point: point["C"])
    assert mvl_svm.GRID[0] == {"C": 1e-3}


def test_completing_nothing_changes_nothing():
    problem = small()
    one, other = (machine_of(p, "PerViewSVM") for p in (problem, complete_by_laplacian(problem)))
    answers = [m.fit({"C": 10.0}).predict(m.features(problem.test)) for m in (one, other)]
    assert np.array_equal(*answers)


def test_more_landmarks_of_a_repeat_contain_the_fewer():
    problem = small()
    few, many = (machine_of(problem, "MVLSVM", 3, L=L).drawn for L in (5, 30))
    assert set(few.landmark_indices_) <= set(many.landmark_indices_)


@pytest.mark.data("name")
@pytest.mark.parametrize("name", mvl_svm.DATASETS)
@pytest.mark.parametrize("quick", [True, False])
def test_jobs_follow_the_protocol(name, quick):
    jobs = list(mvl_svm.fig2(name, quick, NO_ROWS))
    sizes = [j.parameter["L"] for j in jobs if j.method == "MVML" and j.repeat == 0]
    assert max(sizes) <= mvl_svm.METRIC_COMPONENTS[name]
    paired = [j for j in jobs if j.method == "SVM2K"]
    assert bool(paired) != quick  # it takes minutes
    assert all("L" not in j.parameter and {"C", "D"} < set(j.measures) for j in paired)
    for figure in (mvl_svm.fig2, mvl_svm.fig5, mvl_svm.columns):
        jobs = list(figure(name, quick, NO_ROWS))
        assert {j.dataset for j in jobs} == {label(name)}
        splits = {j.parameter.get("split") for j in jobs}
        assert splits == ({1} if quick else {1, 2, 3}) if name == "flower17" else splits == {None}
    if name == "flower17":  # distances have no columns
        assert {j.method for j in jobs} == {"SVC-mean"}


@pytest.mark.parametrize(
    ("method", "L", "choices", "medians"),
    [
        ("MVLSVM", 50, {"C": (0.1, 10.0, 1.0, 1.0, 10.0)}, {"C": 1.0}),
        ("MVLSVM", 50, {"C": (0.1, 10.0, 1.0, 10.0)}, {"C": 1.0}),  # the lower of two in the middle
        ("MVML", 10, {"lam": (0.1, 1.0, 0.01), "eta": 3 * (1.0,)}, {"lam": 0.1, "eta": 1.0}),
    ],
)
def test_figure_3_times_the_median_choice_of_figure_2(method, L, choices, medians):
    common = dict.fromkeys(COLUMNS, "") | {
        "item": "fig2", "dataset": "mfeat", "method": method,
        "parameter": encode_parameter({"L": L}),
    }  # fmt: skip
    rows = pd.DataFrame(
        common | {"measure": name, "repeat": r, "value": value}
        for name, values in choices.items()
        for r, value in enumerate(values)
    )
    job, *others = mvl_svm.fig3("mfeat", False, rows)
    assert [one.method for one in others] == ["MVLSVM-liblinear"] * (method == "MVLSVM")
    assert (job.method, job.parameter) == (method, {"L": L})
    assert job.function.keywords["setting"] == medians
    values = job.function(seed=0)
    assert set(values) == set(job.measures) == {"train_seconds", "test_seconds", *choices}
    assert min(values.values()) > 0


@pytest.mark.data("uwave")
def test_gestures_are_learnt_as_the_ledger_says_and_everyone_is_in_both_parts():
    """With C = 1, of which no grid of the ledger knows; and what the chapter says of the split."""
    uwave = fetch_uwave()
    train, _, test = uwave.splits[0]
    svm = MVLSVM(200, c=len(train), loss="squared_hinge", random_state=0)
    score = svm.fit(uwave.X[train], uwave.y[train]).score(uwave.X[test], uwave.y[test])
    rows = summarize("mvl_svm.fig2").query("dataset == 'uwave' and method == 'MVLSVM' and L == 200")
    [mean] = rows.query("measure == 'accuracy'")["mean"]
    assert score == pytest.approx(mean, abs=0.02)
    if uwave.meta:  # not in the text files of the archive
        who = pd.DataFrame({**uwave.meta, "gesture": uwave.y}).drop(columns="repetition")
        assert set(who["user"][train]) == set(who["user"][test]) == set(range(1, 9))
        known = set(map(tuple, who.values[train]))
        assert np.mean([tuple(row) in known for row in who.values[test]]) > 0.8
