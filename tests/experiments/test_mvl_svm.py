"""Protocol of MVL-SVM's figures: parts, tuning, variants, jobs."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.svm import SVC

from mvref import MVLSVM
from mvref.core.views import MultiView
from mvref.datasets import available
from mvref.experiments import mvl_svm, similarity_rivals
from mvref.experiments.engine import COLUMNS
from mvref.experiments.methods import METHODS, complete_by_laplacian
from mvref.experiments.problems import label, load_problem, mean_distance_gamma, reference
from mvref.experiments.similarity_rivals import positive_projection
from mvref.experiments.tuning import Method, Split, grid, tuned, validate
from mvref.mvl_svm import project
from mvref.rivals import MVML, SVM2K

NO_ROWS = pd.DataFrame(columns=COLUMNS)
HERE = [name for name in mvl_svm.DATASETS if name in available()]


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


@pytest.mark.parametrize("name", HERE)
def test_parts_are_a_partition_and_folds_never_see_the_test_part(name):
    problem = load_problem(name, split=2 if name == "flower17" else None, missing=0.3, seed=4)
    everything = np.concatenate([problem.train, problem.test])
    assert np.array_equal(np.sort(everything), np.arange(len(problem.y)))
    for fit, check in problem.folds:
        assert not set(fit) & set(check)
        assert set(fit) | set(check) <= set(problem.train)
        assert np.array_equal(reference(problem, fit), fit), "a fold trains on no validation part"
    for rows in (landmarks_of(problem), problem.test):
        seen = problem.X.observed[rows]
        assert seen.any(axis=1).all()
        assert seen.mean() == pytest.approx(0.7, abs=0.5 / seen.size)
    assert problem.meta["complete"].observed.all()
    sizes = {"uwave": (896, 896, 3582), "flower17": (680, 1020, 340), "mfeat": (1000, 1000, 1000)}
    assert tuple(map(len, (landmarks_of(problem), problem.train, problem.test))) == sizes[name]


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
    machine = machine_of(problem, method, 7, L=20).fit({"C": C})
    predicted = machine.predict(machine.features(problem.test))
    model = MVLSVM(20, c=C * len(problem.train), loss=loss, tol=1e-6, random_state=7)
    model.fit(problem.X[problem.train], problem.y[problem.train])
    assert np.array_equal(model.projection_.transform(problem.X[problem.train]), machine.X)
    disagreements = np.sum(model.predict(problem.X[problem.test]) != predicted)
    assert disagreements <= 1, "solvers stop at different tolerances"


def test_machines_for_all_columns_are_those_of_scikit_learn():
    problem = small()
    X, y, train, test = problem.X.concat(), problem.y, problem.train, problem.test
    usual = {
        "SVC": SVC(C=10.0, gamma=1 / X.shape[1]),
        "LogisticRegression": LogisticRegression(C=10.0, max_iter=1000),
        "MVLSVM-columns": MVLSVM(20, c=10.0 * len(train), loss="squared_hinge", random_state=7),
    }
    for method, model in usual.items():
        options = {"L": 20} if method == "MVLSVM-columns" else {}
        machine = machine_of(problem, method, 7, **options).fit({"C": 10.0})
        predicted = machine.predict(machine.features(test))
        expected = model.fit(X[train], y[train]).predict(X[test])
        assert np.sum(predicted != expected) <= 1, "solvers stop at different tolerances"
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
        np.testing.assert_allclose(machine.X, K[np.ix_(problem.train, problem.train)], atol=1e-12)
        of_test = machine.features(problem.test)
        np.testing.assert_allclose(of_test, K[np.ix_(problem.test, problem.train)], atol=1e-12)


@pytest.mark.skipif("flower17" not in HERE, reason="data set flower17 is not on this machine")
def test_scale_of_distances_is_that_of_the_estimator():
    problem = load_problem("flower17", split=1)
    model = MVLSVM(5, kernel="precomputed", random_state=0)
    rows = landmarks_of(problem)
    model.fit(problem.X[rows], problem.y[rows])
    expected = [mu.gamma for mu in model.projection_.similarities_]
    np.testing.assert_allclose(mean_distance_gamma(problem, landmarks_of(problem)), expected)


def test_column_means_fill_the_gaps_and_nothing_else():
    problem = small(missing=0.3)
    machine = machine_of(problem, "MVLSVM-mean", L=10)
    Phi = project(problem.X[problem.train], machine.projection.similarities_)
    gaps = np.isnan(Phi)
    assert np.array_equal(machine.X[~gaps], Phi[~gaps])
    np.testing.assert_allclose(
        machine.X[gaps], np.broadcast_to(np.nanmean(Phi, 0), Phi.shape)[gaps]
    )
    filled = machine.features(problem.test)
    assert np.isfinite(filled).all()
    gaps = np.isnan(project(problem.X[problem.test], machine.projection.similarities_))
    in_training = np.broadcast_to(np.nanmean(Phi, axis=0), filled.shape)
    np.testing.assert_allclose(filled[gaps], in_training[gaps])  # means of training, not of test


def test_landmarks_that_must_be_complete_are():
    problem = small(missing=0.4)
    n_complete = int(problem.X.observed[problem.train].all(axis=1).sum())
    assert 0 < n_complete < 20
    known, complete, drop = (
        machine_of(problem, name, L=20) for name in ("MVLSVM", "MVLSVM-complete", "MVLSVM-drop")
    )
    assert known.n_landmarks == 20
    assert complete.n_landmarks == drop.n_landmarks == n_complete
    chosen = problem.train[complete.projection.landmark_indices_]
    assert problem.X.observed[chosen].all()
    assert len(complete.X) == len(problem.train)
    assert len(drop.X) == n_complete
    assert np.isfinite(drop.features(problem.test)).all(), "test samples are imputed all the same"


def test_the_most_frequent_class_is_left_where_nothing_can_be_learnt():
    problem = small()
    observed = np.ones_like(problem.X.observed)
    observed[problem.train, 0] = False
    X = MultiView(problem.X.views, observed=observed)
    problem = replace(problem, X=X, y=np.where(np.arange(len(problem.y)) % 3 == 0, 1, 5))
    for name in ("MVLSVM-complete", "MVLSVM-drop"):
        machine = machine_of(problem, name, L=10).fit({"C": 1.0})
        assert machine.n_landmarks == 0
        assert (machine.predict(machine.features(problem.test)) == 5).all()


def test_one_complete_sample_predicts_its_own_class():
    problem = small()
    observed = np.ones_like(problem.X.observed)
    observed[problem.train[1:], 0] = False
    problem = replace(problem, X=MultiView(problem.X.views, observed=observed))
    machine = machine_of(problem, "MVLSVM-drop", L=10).fit({"C": 1.0})
    assert (
        machine.predict(machine.features(problem.test)) == problem.y[problem.train[0]]
    ).all()  # fmt: skip


class Stub:
    """Right for some C, wrong for others; remembers the rows it saw."""

    seen = set()

    def __init__(self, split, rows, seed):
        self.y = split.y
        Stub.seen |= set(rows)

    def features(self, rows):
        Stub.seen |= set(rows)
        return rows

    def fit(self, point):
        self.C = point["C"]
        return self

    def predict(self, rows):
        return self.y[rows] if self.C in (1.0, 10.0) else self.y[rows] + 1


def test_ties_go_to_the_smallest_C_and_tuning_never_sees_the_test_part():
    problem, method = load_problem("mfeat", seed=0), Method(Stub, grid(C=mvl_svm.GRID))
    values = validate(problem, method, 0)
    assert values.tolist() == [C in (1.0, 10.0) for C in mvl_svm.GRID]
    assert Stub.seen == set(problem.train)
    run = tuned(problem, method, 0)
    assert (run.point, run.validation) == ({"C": 1.0}, 1.0)


def of_distances():
    """A corner of mfeat by disturbed distances, which no points have."""
    problem = small()
    rows = np.concatenate([problem.train, problem.test])
    noise = np.random.default_rng(0).uniform(0.8, 1.0, (len(rows), len(rows)))
    D = [euclidean_distances(view[rows]) * noise * noise.T for view in problem.X.views[:3]]
    D = [distances / distances.mean() for distances in D]
    order = np.arange(len(rows))
    train, test = np.split(order, [len(problem.train)])
    meta = {"complete": MultiView(D), "kernel": "precomputed", "validation": train[100:]}
    return Split(MultiView(D), problem.y[rows], train, test, [(train[50:], train[:50])], meta)


def test_the_experiment_trains_the_rivals_of_the_library(monkeypatch):
    monkeypatch.setitem(similarity_rivals.AGREEMENT, "tol", 1e-5)  # the orders of steps differ
    problem = few_views()
    X, y = problem.X[problem.train], problem.y[problem.train]
    models = {
        "SVM2K": SVM2K(0.1, D=0.01, tol=1e-5, random_state=7),
        "MVML": MVML(0.1, 1.0, n_components=12, random_state=7),
    }
    settings = {"SVM2K": {"C": 0.1, "D": 0.01}, "MVML": {"lam": 0.1, "eta": 1.0}}
    for method, model in models.items():
        options = {"L": 12} if method == "MVML" else {}
        machine = machine_of(problem, method, 7, **options).fit(settings[method])
        predicted = machine.predict(machine.features(problem.test))
        assert np.array_equal(model.fit(X, y).predict(problem.X[problem.test]), predicted)


def test_metrics_draw_components_from_the_reference_alone():
    problem = small()
    problem = replace(problem, meta={**problem.meta, "validation": problem.train[12:]})
    machine = machine_of(problem, "MVML", L=12)
    for mu, view in zip(machine.kernels, problem.X.views, strict=True):
        assert np.array_equal(mu.landmarks, view[problem.train[:12]])


@pytest.mark.parametrize("method", ["SVM2K", "MVML"])
@pytest.mark.parametrize("kernel", ["rbf", "precomputed"])
def test_training_never_looks_at_other_samples(method, kernel):
    problem = few_views() if kernel == "rbf" else of_distances()
    views = [view.copy() for view in problem.X.views]
    for view in views:
        view[problem.test] = 0.1
        if kernel == "precomputed":
            view[:, problem.test] = 0.1
    scrambled = replace(problem, X=MultiView(views))
    setting = {"SVM2K": {"C": 1.0, "D": 0.01}, "MVML": {"lam": 0.01, "eta": 1.0}}[method]
    options = {"L": 15} if method == "MVML" else {}
    one, other = (machine_of(p, method, **options).fit(setting) for p in (problem, scrambled))
    rows = problem.train[:40]
    if method == "SVM2K":
        assert np.array_equal(one.model.dual_coef_, other.model.dual_coef_)
    else:
        assert [point.value for point in one.points] == [point.value for point in other.points]
    predicted = one.predict(one.features(rows))
    assert np.array_equal(predicted, other.predict(other.features(rows)))
    assert np.mean(predicted == problem.y[rows]) > 0.8


def test_the_positive_part_is_the_nearest_kernel():
    rng = np.random.default_rng(0)
    K = rng.standard_normal((12, 12))
    K = K + K.T
    P = positive_projection(K)
    values, vectors = np.linalg.eigh(K)
    np.testing.assert_allclose(K @ P, (vectors * np.maximum(values, 0)) @ vectors.T, atol=1e-12)
    np.testing.assert_allclose(K @ P, P @ K @ P, atol=1e-12)
    for _ in range(50):  # Higham (1988)
        A = rng.standard_normal((12, 12))
        near = K @ P + rng.uniform(0, 0.3) * A @ A.T
        assert np.linalg.norm(K - near) > np.linalg.norm(K - K @ P)


def test_distances_that_no_points_have_give_positive_kernels():
    problem = of_distances()
    gammas = mean_distance_gamma(problem, landmarks_of(problem))
    raw = [np.exp(-g * D**2) for g, D in zip(gammas, problem.X.views, strict=True)]
    train, test = problem.train, problem.test
    assert all(np.linalg.eigvalsh(K[np.ix_(train, train)])[0] < -1e-3 for K in raw)

    paired = machine_of(problem, "SVM2K")
    for K, fitted, new in zip(raw, paired.K.views, paired.features(test).views, strict=True):
        values, vectors = np.linalg.eigh(K[np.ix_(train, train)])
        assert np.linalg.eigvalsh(fitted)[0] > -1e-9
        np.testing.assert_allclose(fitted, (vectors * np.maximum(values, 0)) @ vectors.T, atol=1e-9)
        kept = vectors[:, values > 0]
        np.testing.assert_allclose(new, K[np.ix_(test, train)] @ kept @ kept.T, atol=1e-9)

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
        np.testing.assert_allclose(F @ F.T, expected, atol=1e-6)
    settings = {"C": 1.0, "D": 0.01}, {"lam": 0.01, "eta": 1.0}
    for machine, setting in zip((paired, metric), settings, strict=True):
        predicted = machine.fit(setting).predict(machine.features(test))
        assert np.mean(predicted == problem.y[test]) > 0.8


def test_the_rivals_take_the_strongest_of_equally_good_settings():
    agreement, metric = mvl_svm.GRIDS["SVM2K"], mvl_svm.GRIDS["MVML"]
    assert agreement == sorted(agreement, key=lambda point: (point["C"], point["D"]))
    assert metric == sorted(metric, key=lambda point: -point["lam"])
    assert {tuple(point) for point in (*agreement, *metric)} == {("C", "D"), ("lam", "eta")}
    assert agreement[0] == {"C": 0.01, "D": 1e-4}


def test_the_minimum_of_mvml_depends_on_lam_squared_eta_alone():
    """Why the grid has one eta: A -> lam A turns (lam, eta) into (1, lam^2 eta)."""
    rng = np.random.default_rng(0)
    g, B = rng.standard_normal(4), rng.standard_normal((4, 4))
    A, lam, eta = B @ B.T, 0.03, 7.0
    value = lam * g @ np.linalg.solve(A, g) + eta * np.sum(A**2)
    scaled = A / lam
    assert g @ np.linalg.solve(scaled, g) + lam**2 * eta * np.sum(scaled**2) == pytest.approx(value)


def test_completing_nothing_changes_nothing():
    problem = small()
    predicted = []
    for one in (problem, complete_by_laplacian(problem)):
        machine = machine_of(one, "PerViewSVM").fit({"C": 10.0})
        predicted.append(machine.predict(machine.features(one.test)))
    assert np.array_equal(*predicted)


def test_more_landmarks_of_a_repeat_contain_the_fewer():
    problem = small()
    few, many = (machine_of(problem, "MVLSVM", 3, L=L).projection for L in (5, 30))
    assert set(few.landmark_indices_) <= set(many.landmark_indices_)


@pytest.mark.parametrize("name", HERE)
@pytest.mark.parametrize("quick", [True, False])
def test_jobs_are_distinct_and_follow_the_protocol(name, quick):
    for figure in (mvl_svm.fig2, mvl_svm.fig5, mvl_svm.columns):
        jobs = list(figure(name, quick, NO_ROWS))
        keys = {(j.method, str(j.parameter), j.repeat) for j in jobs}
        assert len(keys) == len(jobs)
        assert {j.dataset for j in jobs} == {label(name)}
        if figure is mvl_svm.fig2:
            sizes = [j.parameter["L"] for j in jobs if j.method == "MVML" and j.repeat == 0]
            assert max(sizes) <= mvl_svm.METRIC_COMPONENTS[name]
            paired = [j for j in jobs if j.method == "SVM2K"]
            assert bool(paired) != quick  # it takes minutes
            assert all("L" not in j.parameter and {"C", "D"} < set(j.measures) for j in paired)
        if figure is mvl_svm.columns and name == "flower17":  # distances have no columns
            assert {j.method for j in jobs} == {"SVC-mean"} and {j.repeat for j in jobs} == {0}
            continue
        repeats = {j.repeat for j in jobs if j.method == "MVLSVM"}
        n_repeats = mvl_svm.MISSING_REPEATS[name] if figure is mvl_svm.fig5 else mvl_svm.N_REPEATS
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
    assert (job.method, job.parameter) == ("MVLSVM", {"L": 50})
    assert job.function.keywords["setting"] == {"C": 1.0}
    values = job.function(seed=0)
    assert set(values) == set(job.measures)
    assert values["train_seconds"] > 0
    assert values["test_seconds"] > 0
    assert list(mvl_svm.fig3("mfeat", False, NO_ROWS)) == []
    common = dict.fromkeys(COLUMNS, "") | {"item": "fig2", "dataset": "mfeat", "method": "MVML"}
    common |= {"parameter": '{"L":10}'}
    rows = pd.DataFrame(
        common | {"measure": name, "repeat": r, "value": value}
        for name, values in {"lam": (0.1, 1.0, 0.01), "eta": (1.0, 1.0, 1.0)}.items()
        for r, value in enumerate(values)
    )
    [job] = mvl_svm.fig3("mfeat", False, rows)
    assert job.function.keywords["setting"] == {"lam": 0.1, "eta": 1.0}
    assert set(job.function(seed=0)) == set(job.measures)
