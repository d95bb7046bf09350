"""Protocol of MwMvC2's table and figure: splits, samples, scores, variants, jobs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, f1_score
from sklearn.model_selection import StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from mvref import MultiView, MwMvC2
from mvref.datasets import load_digits_views
from mvref.experiments import mwmvc2, voting
from mvref.experiments.engine import derive_seed, execute
from mvref.experiments.mwmvc2 import ITEMS, LARGEST, SCORES, SIZES, fig2, readings, table1
from mvref.experiments.problems import load_dataset
from mvref.experiments.voting import (
    METRIC_GRID,
    draw_sample,
    fit,
    fit_metric,
    inverse_distances,
    score,
    split,
    tasks,
)
from mvref.experiments.voting_text import UPDATES, after_updates
from mvref.rivals import MVML

N_TEST = {"digits": 539, "mnist1": 10_000, "reuters1200": 360, "reuters600": 180}


@pytest.mark.data("name")
@pytest.mark.parametrize("name", [names[0] for names in mwmvc2.DATASETS.values()])
def test_a_repeat_follows_the_protocol(name):
    y = load_dataset(name).y
    pool, test = split(name, len(y), seed=5)
    assert np.array_equal(np.sort(np.concatenate([pool, test])), np.arange(len(y)))
    assert len(test) == N_TEST.get(name, round(0.3 * len(y)))
    drawn = tasks(name, 100, "balanced", seed=5)
    assert [task.k for task in drawn] == sorted(set(y))
    for task in drawn:
        assert np.array_equal(task.test, test), "one test part, in its natural proportions"
        assert len(task.train) == len(set(task.train)) == 100
        assert set(task.train) <= set(pool)
        assert np.array_equal(task.y_train, y[task.train] == task.k)
        assert np.array_equal(task.y_test, y[test] == task.k)
        assert task.y_train.sum() == 50
    assert len(set(drawn[0].train) & set(drawn[1].train)) < 50, "each class draws anew"
    largest = LARGEST.get(name, max(SIZES))
    assert all(len(task.train) == largest for task in tasks(name, largest, "balanced", seed=6))


def test_the_seed_draws_split_and_sample():
    one, same, other = (tasks("digits", 100, "balanced", seed)[0] for seed in (1, 1, 2))
    assert np.array_equal(one.test, same.test)
    assert np.array_equal(one.train, same.train)
    assert not np.array_equal(one.test, other.test)
    assert not set(one.train) == set(other.train)


@given(st.integers(0, 40), st.integers(0, 60), st.integers(2, 50), st.integers(0, 99))
def test_samples(n_of_class, n_of_rest, m, seed):
    n = n_of_class + n_of_rest
    positive = np.random.RandomState(seed).permutation(n) < n_of_class
    drawn = {
        sampling: draw_sample(positive, m, sampling, np.random.RandomState(seed))
        for sampling in voting.SAMPLINGS
    }
    for rows in drawn.values():
        assert len(rows) == len(set(rows))
        assert set(rows) <= set(range(n))
    size = min(m // 2, n_of_class, n_of_rest)
    assert np.bincount(positive[drawn["balanced"]], minlength=2).tolist() == [size, size]
    natural = drawn["natural"]
    assert len(natural) == min(m, n)
    assert set(drawn["cut"]) <= set(natural)
    size = min(positive[natural].sum(), (~positive[natural]).sum())
    assert np.bincount(positive[drawn["cut"]], minlength=2).tolist() == [size, size]
    fewer = draw_sample(positive, m // 2, "balanced", np.random.RandomState(seed))
    assert set(fewer) <= set(drawn["balanced"]), "a curve adds samples to those it has"


def test_a_natural_sample_has_the_proportions_of_the_pool():
    positive = np.arange(20_000) < 2000
    shares = [
        positive[draw_sample(positive, 100, "natural", np.random.RandomState(s))].mean()
        for s in range(200)
    ]
    assert np.mean(shares) == pytest.approx(0.1, abs=4 * 0.03 / np.sqrt(200))


def test_classes_are_not_learnt_one_after_the_other():
    positive = np.arange(1000) < 500
    rows = draw_sample(positive, 100, "balanced", np.random.RandomState(0))
    assert 15 < positive[rows][:50].sum() < 35, "folds in the order of the rows see both"


class Recorder:
    """Says the same of every sample; remembers what it saw."""

    seen = []
    answer = False

    def __init__(self, random_state, **options):
        self.random_state, self.options = random_state, options

    def fit(self, X, y):
        self.learnt = [X.concat(), y, self.random_state, self.options]
        return self

    def predict(self, X):
        Recorder.seen.append([*self.learnt, X.concat()])
        return np.full(len(X), self.answer)


@pytest.fixture
def recorder(monkeypatch):
    classes = {name.split("-")[0]: Recorder for name in mwmvc2.METHODS}
    monkeypatch.setattr(voting, "all_methods", lambda: classes)
    monkeypatch.setitem(
        voting.OWN_FITS, "MVMLsp", lambda X, y, **options: Recorder(**options).fit(X, y)
    )
    Recorder.seen, Recorder.answer = [], False
    return Recorder


def test_all_methods_of_a_repeat_see_the_same_samples(recorder):
    item = ITEMS[0]
    jobs = [job for job in item.jobs("digits", False, None) if job.repeat == 3]
    assert [job.method for job in jobs] == list(mwmvc2.METHODS)
    for job in jobs:
        execute(job, item.seed(job.dataset, job.repeat))
    by_method = [recorder.seen[10 * i : 10 * i + 10] for i in range(len(jobs))]
    for of_method in by_method[1:]:
        for first, other in zip(by_method[0], of_method, strict=True):
            assert np.array_equal(first[0], other[0])
            assert np.array_equal(first[1], other[1])
            assert first[2] == other[2]
            assert np.array_equal(first[4], other[4])
    options = {job.method: seen[0][3] for job, seen in zip(jobs, by_method, strict=True)}
    assert options.pop("MwMvC2-paper") == {"update": "paper"}
    assert options.pop("MwMvC2-random") == {"voters": "random_trees"}
    assert options.pop("MVWAB") == {"n_estimators": mwmvc2.N_ROUNDS}
    assert not any(options.values()), "everything else has its defaults"


@pytest.mark.parametrize("answer", [False, True])
def test_scores_are_means_over_the_classes_on_the_natural_test_part(recorder, answer):
    recorder.answer = answer
    measures = score("digits", "MVMV", measures=SCORES, m=100, seed=7)
    y = load_dataset("digits").y
    _, test = split("digits", len(y), 7)
    share = np.bincount(y[test]) / len(test)
    if answer:
        assert measures["accuracy"] == pytest.approx(share.mean())
        assert measures["f1"] == pytest.approx((2 * share / (1 + share)).mean())
    else:
        assert measures["accuracy"] == pytest.approx(1 - share.mean())
        assert measures["f1"] == 0.0


def test_a_class_that_is_too_rare_to_learn_gets_the_more_frequent_answer(recorder, monkeypatch):
    monkeypatch.setattr(voting, "MIN_PER_CLASS", 51)
    recorder.answer = True
    measures = score("digits", "MVMV", measures=SCORES, m=100, seed=7)
    assert not recorder.seen
    assert measures["f1"] == 0.0
    assert measures["accuracy"] == pytest.approx(0.9)
    # nothing at all is left where the class is absent
    assert score("digits", "MVMV", measures=SCORES, m=1, sampling="cut", seed=7)["f1"] == 0.0


def sample_of_digits(k=3, seed=0):
    data = load_digits_views()
    task = tasks("digits", 100, "balanced", seed)[k]
    return data.X, task


def sample(k=3):
    """What a task is learnt from, and the views of its test part."""
    X, task = sample_of_digits(k)
    return X[task.train], task.y_train, X[task.test]


def test_the_variants_of_mono_are_trees_of_the_views():
    X, task = sample_of_digits()
    scores = {
        method: voting._score_task(method, task, X[task.train], X[task.test], 5, {})
        for method in ("Mono-oracle", "Mono-mean")
    }
    of_views = []
    for view in X.views:
        seed = fit("Concat", X[:4], [0, 1, 0, 1], 5).estimator_.random_state
        tree = DecisionTreeClassifier(random_state=seed).fit(view[task.train], task.y_train)
        said = tree.predict(view[task.test])
        of_views.append([accuracy_score(task.y_test, said), f1_score(task.y_test, said)])
    of_views = np.array(of_views)
    assert list(scores["Mono-mean"].values()) == pytest.approx(of_views.mean(axis=0))
    best = of_views[of_views[:, 0].argmax()]
    assert list(scores["Mono-oracle"].values()) == pytest.approx(best)


def test_equal_view_weights_keep_the_printed_update_of_the_voters():
    X, y, _ = sample()
    uniform = fit("MwMvC2-uniform", X, y, 5, max_iter=1)
    printed = MwMvC2(update="paper", max_iter=1, random_state=5).fit(X, y)
    for ours, theirs in zip(uniform.pi_, printed.pi_, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10)
    assert uniform.rho_.tolist() == [0.25] * 4
    assert printed.rho_.max() == 1.0


def test_equal_view_weights_against_loops():
    X, task = sample_of_digits(k=8)
    X, sign = X[task.train], np.where(task.y_train, 1, -1)
    model = fit("MwMvC2-uniform", X, task.y_train, 5, max_iter=2, voters="random_trees")
    M = [
        np.column_stack([sign * voter.predict(view) for voter in pool])
        for pool, view in zip(model.voters_, X.views, strict=True)
    ]
    pi = [[1 / len(pool)] * len(pool) for pool in model.voters_]
    for _ in range(2):
        q = []
        for i in range(100):
            z = sum(0.25 * M[v][i, j] * pi[v][j] for v in range(4) for j in range(len(pi[v])))
            q.append(1 / (1 + np.exp(z)))
        new = []
        for v in range(4):
            steps = []
            for j in range(len(pi[v])):
                right = sum(q[i] for i in range(100) if M[v][i, j] > 0)
                wrong = sum(q[i] for i in range(100) if M[v][i, j] < 0)
                most = 0.5 * np.log((1 + 1 / 200) * 200)  # smoothing 1/(2m)
                delta = 0.5 * np.log(right / wrong) if right * wrong > 0 else most
                steps.append(pi[v][j] + np.clip(delta, -most, most))
            new.append(steps)
        pi = new
    for ours, literal in zip(model.pi_, pi, strict=True):
        np.testing.assert_allclose(ours, literal, rtol=1e-9)


def test_what_is_watched():
    measures = {
        method: score("digits", method, measures=mwmvc2.WATCHED, m=100, seed=3, max_iter=2)
        for method in ("MwMvC2", "MwMvC2-paper")
    }
    X = load_dataset("digits").X
    raised, largest = [], []
    for task in tasks("digits", 100, "balanced", 3):
        model = MwMvC2(update="paper", random_state=derive_seed(3, "fit", task.k))
        model.fit(X[task.train], task.y_train)
        raised.append(model.loss_curve_[2] > model.loss_curve_[1])
        largest.append(model.rho_.max())
    assert measures["MwMvC2-paper"]["raised"] == np.mean(raised) > 0
    assert measures["MwMvC2-paper"]["largest_rho"] == np.mean(largest)
    assert measures["MwMvC2"]["raised"] == 0
    uniform = score("digits", "MwMvC2", measures=mwmvc2.WATCHED, m=100, seed=3, max_iter=0)
    assert (uniform["raised"], uniform["largest_rho"]) == (0, 0.25)


@pytest.mark.parametrize("name", list(mwmvc2.DATASETS))
@pytest.mark.parametrize("quick", [True, False])
def test_jobs_follow_the_protocol(name, quick):
    for item in (table1, fig2, readings):
        jobs = list(item(name, quick, None))
        if item is not readings:
            assert {j.dataset for j in jobs} == set(mwmvc2.DATASETS[name])
            sizes = {j.parameter["m"] for j in jobs}
            assert sizes == {100} if item is table1 else 20 in sizes
            assert all(j.function.keywords["m"] == j.parameter["m"] for j in jobs)
        if item is readings:
            depths = {j.parameter["depth"] for j in jobs if "depth" in j.parameter}
            assert depths == ({"1", "2", "3", "full"} if name in ("digits", "mnist") else set())
            fixed = {j.parameter["lam"] for j in jobs if "lam" in j.parameter}
            assert len(fixed) == (5 if name in ("digits", "mnist") else 0)
        rounds = {j.function.keywords.get("n_estimators") for j in jobs if j.method == "MVWAB"}
        assert rounds <= ({10} if quick else {None})


def test_shifts_share_their_splits():
    jobs = [job for job in readings("mnist", False, None) if job.dataset == "mnist2"]
    item = ITEMS[2]
    assert {job.parameter["shift"] for job in jobs} == set(range(8))
    for repeat in range(5):
        of_repeat = [job for job in jobs if job.repeat == repeat]
        assert len({item.seed(job.dataset, job.repeat) for job in of_repeat}) == 1
        names = {job.parameter["shift"]: job.function.args[0] for job in of_repeat}
        assert names == {0: "mnist1"} | {s: f"mnist2-shift{s}" for s in range(1, 8)}


@pytest.mark.parametrize(
    ("method", "point"), [r for r in mwmvc2.READINGS if r[0] not in voting.PER_VIEW]
)
def test_every_reading_learns(method, point):
    X, task = sample_of_digits()
    options = {key: value for key, value in point.items() if key != "sampling"}
    if method in mwmvc2.BOOSTED:
        options["n_estimators"] = 3
    model = fit(method, X[task.train], task.y_train, 0, **options)
    right = (model.predict(X[task.train]) == task.y_train).mean()
    if method != "MwMvC2-paper":  # which may end worse than chance
        assert right > 0.6


def test_fully_grown_trees_end_the_boosting():
    X, y, _ = sample()
    for method in ("MVWAB", "RBoostSH"):
        full, stumps = (
            fit(method, X, y, 0, depth=depth, n_estimators=5) for depth in ("full", "1")
        )
        assert (len(full.alphas_), len(stumps.alphas_)) == (1, 5)


def test_the_settings_that_the_comparison_shows_are_those_of_the_classes():
    classes = voting.all_methods()
    assert classes["MwMvC2"]().max_iter == mwmvc2.N_UPDATES
    assert classes["Fusion"]().train_size == mwmvc2.FUSION_SHARE
    X, task = sample_of_digits()
    model = fit("MVMLsp", X[task.train], task.y_train, 0, lam=0.1, eta=1.0)
    assert model.n_components == voting.NYSTROM_SHARE
    assert classes["RBoostSH"]().n_estimators == mwmvc2.N_ROUNDS


def test_updates_by_folds_are_those_of_the_class():
    digits = load_digits_views("quarters")
    X, y = digits.X, digits.y
    fit, check = np.arange(60), np.arange(60, 200)
    found = after_updates(X, y < 5, fit, check, "trees", "monotone", 3)
    for T, accuracy in list(zip(UPDATES, found, strict=True))[:4]:
        model = MwMvC2(max_iter=T, random_state=3).fit(X[fit], y[fit] < 5)
        assert model.score(X[check], y[check] < 5) == accuracy


# ------------------------------------------------------------------------------- MVMLsp


@given(st.integers(0, 99), st.integers(2, 6))
def test_width_is_the_mean_of_all_squared_distances(seed, n):
    rng = np.random.default_rng(seed)
    views = [rng.normal(size=(n, d)) * 10.0**d for d in (1, 3)]
    for view, gamma in zip(views, inverse_distances(MultiView(views)), strict=True):
        squared = [np.sum((a - b) ** 2) for a in view for b in view]
        assert gamma == pytest.approx(n * n / np.sum(squared), rel=1e-9)


def test_units_of_a_view_do_not_matter():
    X, y, X_test = sample()
    options = {"lam": 1e-1, "eta": 1.0, "random_state": 5}
    scales = [1.0, 10.0, 0.1, 100.0]
    rescaled, test = (
        MultiView([scale * view for scale, view in zip(scales, part.views, strict=True)])
        for part in (X, X_test)
    )
    scores = fit_metric(X, y, **options).decision_function(X_test)
    same = fit_metric(rescaled, y, **options).decision_function(test)
    np.testing.assert_allclose(same, scores, rtol=1e-6, atol=1e-9)
    other = fit_metric(rescaled, y, width="features", **options).decision_function(test)
    assert np.abs(other - scores).max() > 0.1


@pytest.mark.parametrize("k", [3, 8])
def test_choice_against_loops(k):
    X, y, _ = sample(k)
    folds = list(StratifiedKFold(3, shuffle=True, random_state=7).split(np.zeros(len(y)), y))
    gamma = inverse_distances(X)
    best = -1.0
    for eta in METRIC_GRID["eta"]:
        for lam in METRIC_GRID["lam"]:
            right = []
            for rows, check in folds:
                model = MVML(lam, eta, sparse=True, gamma=gamma, n_components=0.24, random_state=7)
                right.append(np.mean(model.fit(X[rows], y[rows]).predict(X[check]) == y[check]))
            if np.mean(right) > best:  # so that ties go to the first
                best, chosen = np.mean(right), (lam, eta)
    model = fit_metric(X, y, random_state=7)
    assert (model.lam, model.eta) == chosen
    assert model.sparse
    assert [len(rows) for rows in model.components_] == [24] * 4
    whole = MVML(*chosen, sparse=True, gamma=gamma, n_components=0.24, random_state=7).fit(X, y)
    for ours, theirs in zip(model.dual_coef_, whole.dual_coef_, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_what_is_given_is_not_chosen():
    X, y, _ = sample()
    model = fit_metric(X, y, random_state=0, eta=0.5, n_components=1.0)
    assert model.eta == 0.5
    assert model.lam in METRIC_GRID["lam"]
    assert [len(rows) for rows in model.components_] == [100] * 4
    fixed = fit_metric(X, y, random_state=0, lam=0.3, eta=0.5)
    assert (fixed.lam, fixed.eta) == (0.3, 0.5)
