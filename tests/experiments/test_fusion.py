"""The study of part VI: equal treatment, splits, gaps, failures as rows, and how it is read."""

import ast
import hashlib
import json
import re
import time
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse, stats
from sklearn.metrics import log_loss
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from mvref import MultiView
from mvref.compare.candidates import ADVISED, Candidate, at
from mvref.experiments import ITEMS, fusion, fusion_data, fusion_reading
from mvref.experiments.engine import COLUMNS, Ledger
from mvref.experiments.kernel_means import KernelMeanSVC, alignment, without_gaps
from mvref.experiments.tuning import Split

NAMES = list(fusion_data.REAL)
LOCAL = ("digits", "wine", "breast-cancer")


def two_views(n=60, seed=0, widths=(2, 3)):
    """Two views that hint at one of two classes."""
    rng = np.random.RandomState(seed)
    y = np.arange(n) % 2
    return MultiView([y[:, None] + 0.4 * rng.randn(n, d) for d in widths]), y


def split_of(widths=(2, 3)):
    X, y = two_views(widths=widths)
    rows = np.arange(60)
    return Split(X, y, rows[:40], rows[40:], [(rows[:30], rows[30:40])])


def said(name, point, split):
    """What a candidate says of the test part at a point: logarithms of probabilities."""
    machine = fusion.Filled(split, split.train, 0, candidate=fusion.CANDIDATES[name])
    machine.limit = 1e3  # the threads of boosting may wait for others
    return machine.fit(point).predict(split.X[split.test])[1]


# ------------------------------------------------------------------------------- treatment


def test_a_learner_has_the_same_points_in_all_uses_none_at_an_end():
    for name, candidate in fusion.CANDIDATES.items():
        points = candidate.points(fusion.BUDGET)
        lists = [len(ends) for ends in candidate.space.values() if isinstance(ends, list)]
        most = np.prod(lists) if len(lists) == len(candidate.space) else np.inf
        assert len(points) == min(most, fusion.BUDGET), name
        if candidate.learner and name not in fusion.STACKS:
            same = fusion.PLAIN[f"{candidate.learner}, all columns"].points(fusion.BUDGET)
            assert points == same
        for of, ends in candidate.space.items():
            if isinstance(ends, tuple):
                assert all(ends[0] < point[of] < ends[1] for point in points)
    largest = max(fusion.PLAIN["RBF SVM, all columns"].points(7), key=lambda point: point["C"])
    assert 0.1 < largest["gamma"] < 10, "the largest cost does not come with an end of the widths"


@pytest.mark.parametrize("learner", fusion.SCALED)
def test_views_scaled_alike_are_all_columns_where_they_are_equally_wide(learner):
    for widths, same in (((3, 3), True), ((2, 30), False)):
        split = split_of(widths)
        for point in fusion.LEARNERS[learner] and fusion.PLAIN[f"{learner}, all columns"].points(3):
            pair = [
                said(f"{learner}, {use}", point, split) for use in ("all columns", "views alike")
            ]
            assert np.allclose(*pair, atol=1e-7) == same


@pytest.mark.parametrize("learner", fusion.LEARNERS)
def test_uses_are_one_machine_where_there_is_one_view(learner):
    X, y = two_views()
    rows = np.arange(60)
    split = Split(X.select(X.names[:1]), y, rows[:40], rows[40:], [])
    point = fusion.PLAIN[f"{learner}, all columns"].points(1)[0]
    expected = said(f"{learner}, all columns", point, split)
    for use in ("late fusion", "views alike", "reduced models", "best view"):
        if (name := f"{learner}, {use}") in fusion.CANDIDATES:
            more = {"view": X.names[0]} if use == "best view" else {}
            found = said(name, point | more, split)
            if learner == "RBF SVM" and use == "late fusion":
                found, expected_of = found.argmax(axis=1), expected.argmax(axis=1)
                assert np.array_equal(found, expected_of)
            elif learner in fusion.SCALED or use in ("reduced models", "best view"):
                assert_allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize("name", LOCAL)
def test_all_candidates_of_a_repeat_share_a_split(name):
    split = fusion_data.draw_split(name, 100, 5, 0)
    fusion_data.draw_split.cache_clear()
    again = fusion_data.draw_split(name, 100, 5, 0)
    assert np.array_equal(split.train, again.train) and np.array_equal(split.test, again.test)
    assert len(split.train) == 100 and len(split.test) <= fusion_data.N_TEST
    assert not set(split.train) & set(split.test)
    for fit, check in split.folds:
        assert {*fit, *check} == set(split.train) and not set(fit) & set(check)
    assert not np.array_equal(split.train, fusion_data.draw_split(name, 100, 6, 0).train)


def test_person_after_person_tests_whom_nobody_has_trained_on(monkeypatch):
    X, y = two_views(400)
    who = np.arange(400) // 4 % 5
    monkeypatch.setattr(fusion_data, "load", lambda name: (X, y, who))
    monkeypatch.setitem(fusion_data.N_SAMPLES, "uwave", 400)
    tested = []
    for repeat in range(5):
        fusion_data.draw_split.cache_clear()
        split = fusion_data.draw_split("uwave", 100, 0, repeat)
        tested.append(set(who[split.test]))
        assert not tested[-1] & set(who[split.train])
        for fit, check in split.folds:
            assert not set(who[fit]) & set(who[check])
    fusion_data.draw_split.cache_clear()
    assert tested == [{person} for person in range(5)]


def test_data_sets_are_enough_and_told_apart():
    assert not set(fusion_data.FORMING) & set(fusion_data.KEPT)
    assert len(fusion_data.REAL) >= 15 and len(fusion_data.KEPT) >= 8
    assert len(set(fusion_data.INSTRUMENTS) & set(fusion_data.REAL)) >= 8


@pytest.mark.data("name")
@pytest.mark.parametrize("name", NAMES)
def test_data_sets_have_the_size_that_is_told(name):
    X, y, people = fusion_data.load(name)
    assert fusion_data.SIZES[name] == (len(y), X.n_views, sum(X.widths), len(np.unique(y)))
    assert people is None or len(people) == len(y)
    columns = [c for of_view in fusion_data.CUTS.get(name, {}).values() for c in of_view]
    assert not columns or sorted(columns) == list(range(sum(X.widths))), "all in one view"


def test_words_are_those_that_most_training_samples_have(monkeypatch):
    monkeypatch.setattr(fusion_data, "N_WORDS", 2)
    counts = np.array([[1, 0, 3, 0], [1, 0, 1, 0], [0, 5, 1, 0], [0, 5, 0, 9]])
    X = MultiView([sparse.csr_matrix(counts), counts.astype(float)])
    kept = fusion_data.common_words(X, np.arange(3))
    assert np.array_equal(kept.views[0].toarray(), counts[:, [0, 2]])
    assert kept.views[1].shape == (4, 4)


# ------------------------------------------------------------------------------------- gaps


def test_gaps_are_a_share_or_a_sensor():
    X, _ = two_views()
    assert_allclose(1 - fusion.with_gaps(X, 0.25, 0).observed.mean(), 0.25)
    lost = fusion.with_gaps(X, "block", 0).observed
    assert sorted(lost.mean(axis=0)) == [0.0, 1.0]
    before = fusion.with_gaps(X, "block", 0, trains=True).observed
    assert sorted(before.mean(axis=0)) == [0.5, 1.0]
    assert np.array_equal(before.mean(axis=0) == 1, lost.mean(axis=0) == 1), "the same sensor"
    assert fusion.with_gaps(X, "block", 1, trains=True).observed.tolist() != before.tolist()
    assert not np.array_equal(*(fusion.with_gaps(X, 0.5, 0, part).observed for part in (0, 1)))
    assert fusion.with_gaps(X, 0.25, 0).observed.any(axis=1).all()


def test_means_and_zeros_stand_for_what_is_missing():
    views = [np.array([[1.0], [3.0], [8.0]]), sparse.csr_matrix([[1.0], [2.0], [3.0]])]
    X = MultiView(views, observed=np.array([[1, 1], [1, 0], [0, 1]], dtype=bool))
    filled = without_gaps(X, X[:2])
    assert filled.observed.all()
    assert filled.views[0].ravel().tolist() == [1.0, 3.0, 2.0]
    assert filled.views[1].toarray().ravel().tolist() == [1.0, 0.0, 3.0]


class Refusing(SVC):
    """It takes columns without gaps."""

    def fit(self, X, y):
        return super().fit(self.columns(X), y)

    def predict(self, X):
        return super().predict(self.columns(X))

    def columns(self, X):
        if not X.observed.all():
            raise ValueError("no gaps, please")
        return X.concat()


def test_who_refuses_gaps_gets_none_and_that_is_told():
    split = split_of()
    machine = fusion.Filled(
        split, split.train, 0, candidate=Candidate("a", "all", lambda X: Refusing())
    )
    machine.fit({})
    X = split.X[split.test]
    assert np.array_equal(machine.predict(X)[0], machine.model.predict(X)) and not machine.filled
    gappy = fusion.with_gaps(X, 0.5, 0)
    expected = machine.model.predict(without_gaps(gappy, split.X[split.train]))
    assert np.array_equal(machine.predict(gappy)[0], expected) and machine.filled


# --------------------------------------------------------------------------------- failures


def test_time_is_limited_and_only_inside():
    with pytest.raises(TimeoutError), fusion.limited(0.05):
        while True:
            pass
    start = time.process_time()
    while time.process_time() < start + 0.1:
        pass


@pytest.mark.parametrize(("error", "number"), [(TimeoutError, 1), (ValueError, 2)])
def test_a_failure_is_a_row(monkeypatch, error, number):
    def fails(X):
        raise error("no luck")

    monkeypatch.setitem(fusion.CANDIDATES, "KMHKS", Candidate("KMHKS", "all", fails))
    measures = fusion.tests_of("wine")
    found = fusion.on_split("wine", "KMHKS", measures=measures, n_train=100, seed=0, repeat=0)
    assert found["failure"] == number and set(found) == set(measures)


def test_a_training_is_stopped_and_its_candidate_fails(monkeypatch):
    monkeypatch.setattr(fusion, "LIMIT", 1e-3)
    options = {"measures": fusion.MEASURES, "n_train": 100, "seed": 0, "repeat": 0, "budget": 1}
    assert fusion.on_split("wine", "MwMvC2", **options)["failure"] == 1


def test_who_runs_out_of_time_twice_is_not_asked_again():
    item, size = ITEMS["fusion.n100"], fusion.SIZES[100]

    def row(method, repeat, failure):
        return ["n100", "wine", method, '{"n_train":100}', repeat, "failure", failure]

    columns = ["item", "dataset", "method", "parameter", "repeat", "measure", "value"]
    for failures, n_repeats in (([1, 1], 2), ([1, 0], size), ([1], size), ([2, 2], size)):
        rows = [row("MSL", repeat, failure) for repeat, failure in enumerate(failures)]
        jobs = list(item.jobs("wine", False, pd.DataFrame(rows, columns=columns)))
        assert {job.repeat for job in jobs if job.method == "MSL"} == set(range(n_repeats))
        assert {job.repeat for job in jobs if job.method == "SMS"} == set(range(size))
        assert all(job.function.keywords["repeat"] == job.repeat for job in jobs)


def test_losses_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    y, P = rng.permutation(np.arange(30) % 3), rng.dirichlet(np.ones(3), 30)
    loss, brier = fusion.losses((None, np.log(P)), y, np.arange(3))
    assert loss == pytest.approx(log_loss(y, P))
    assert brier == pytest.approx(
        np.mean([np.sum((p - np.eye(3)[k]) ** 2) for p, k in zip(P, y, strict=True)])
    )


def test_a_row_has_every_measure_and_each_gap_is_where_it_should_be():
    measures = fusion.tests_of("wine")
    options = {"measures": measures, "n_train": 100, "budget": 2, "seed": 1, "repeat": 0}
    name = "logistic, reduced models"
    found = fusion.on_split("wine", name, **options)
    assert tuple(found) == measures and found["failure"] == 0
    assert fusion.on_split("wine", name, **options) | {"fit_seconds": 0} == found | {
        "fit_seconds": 0
    }
    X = two_views()[0]
    assert fusion.of_pattern(X, "01").observed.mean(axis=0).tolist() == [0.0, 1.0]
    gappy = fusion.on_split("wine", name, missing=0.5, **options)
    assert gappy["failure"] == 0 and gappy["accuracy"] != found["accuracy"]
    alone = options | {"measures": fusion.MEASURES}
    parts = [fusion.on_split("wine", "logistic, all columns", pattern=p, **alone)["accuracy"]
             for p in ("001", "111")]  # fmt: skip
    assert parts[1] == found["accuracy"] != parts[0]


def test_equally_accurate_points_are_told_apart_by_log_loss(monkeypatch):
    split = split_of()
    monkeypatch.setattr(fusion, "draw_split", lambda *_: split)
    monkeypatch.setitem(
        fusion.CANDIDATES, "mine",
        Candidate("mine", "all", fusion.plain.of_columns(fusion.plain.LEARNERS["logistic"][0]),
                  given=({"C": 1e-3}, {"C": 1.0}, {"C": 1e-2})),
    )  # fmt: skip
    found = fusion.on_split("x", "mine", measures=fusion.MEASURES, n_train=40, seed=0, repeat=0)
    assert found["validation"] == 1 and found["point"] == 1


def test_what_is_told_beforehand_is_of_the_training_part():
    options = {"measures": (), "n_train": 100, "seed": 0, "repeat": 0}
    found = fusion.before("wine", "logistic", **options)
    assert 0.9 < found["columns"] <= 1 and 0.5 < found["best_view"] <= 1
    assert -1 < found["error_correlation"] < 1


# ----------------------------------------------------------------------------- kernel means


def test_the_kernel_mean_is_weighed_by_alignment():
    X, y = two_views()
    noise = np.random.RandomState(1).randn(60, 2)
    X = MultiView([*X.views, noise])
    kernels = [rbf_kernel(view, gamma=1.0) for view in X.views]
    equal = KernelMeanSVC(10.0).fit(X, y)
    plain = SVC(C=10.0, kernel="precomputed").fit(np.mean(kernels, axis=0), y)
    assert np.array_equal(equal.predict(X), plain.predict(np.mean(kernels, axis=0)))
    model = KernelMeanSVC(10.0, weights="alignment").fit(X, y)
    weights, mean = model.weights_, np.tensordot(model.weights_, kernels, axes=1)
    assert weights[2] < min(weights[:2]) / 3 and weights.sum() == pytest.approx(1)
    plain.fit(mean, y)
    assert_allclose(model.decision_function(X), plain.decision_function(mean))


def test_alignment_is_the_cosine_of_centred_matrices():
    X, y = two_views()
    K, n = rbf_kernel(X.views[0]), len(y)
    H = np.eye(n) - 1 / n
    A, B = H @ K @ H, H @ np.equal.outer(y, y) @ H
    cosine = np.trace(A @ B) / np.linalg.norm(A) / np.linalg.norm(B)
    assert alignment(K, y) == pytest.approx(cosine)


# ---------------------------------------------------------------------------------- reading


LOGISTIC, BOOSTING = "logistic, all columns", "boosting, all columns"
VOTES = "logistic, late fusion", "boosting, late fusion"
ROWS = [  # data set, candidate, repeat, accuracy, validation, its log loss, failure
    ("wine", LOGISTIC, 0, 0.90, 0.9, 0.3, 0), ("wine", BOOSTING, 0, 0.80, 0.9, 0.4, 0),
    ("wine", LOGISTIC, 1, 0.92, 0.8, 0.3, 0), ("wine", BOOSTING, 1, 0.70, 0.9, 0.4, 0),
    ("digits", LOGISTIC, 0, 0.50, 0.4, 0.3, 0), ("digits", BOOSTING, 0, 0.00, 0.0, 0.0, 1),
    ("wine", VOTES[0], 0, 0.95, 0.9, 0.3, 0), ("wine", VOTES[1], 0, 0.81, 0.9, 0.3, 0),
    ("wine", VOTES[0], 1, 0.91, 0.9, 0.3, 0), ("wine", VOTES[1], 1, 0.72, 0.9, 0.4, 0),
    ("digits", VOTES[0], 0, 0.60, 0.4, 0.3, 0),
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A ledger of a few rows."""
    rows = []
    for dataset, method, repeat, accuracy, right, loss, failure in ROWS:
        values = {"accuracy": accuracy, "validation": right, "validation_loss": loss}
        for measure, value in (values | {"failure": failure}).items():
            row = dict.fromkeys(COLUMNS, "0") | {"paper": "fusion", "item": "n100"}
            row |= {"dataset": dataset, "method": method, "parameter": '{"n_train":100}'}
            rows.append(row | {"repeat": repeat, "measure": measure, "value": value})
    folder = tmp_path_factory.mktemp("ledger")
    Ledger("fusion", folder).append(rows)
    return folder


def test_the_folds_choose_and_who_failed_is_not_chosen(folder):
    values = fusion_reading.scores(folder=folder)
    assert np.isnan(values.at[("digits", 0), "boosting, all columns"])
    found = fusion_reading.chosen(fusion_reading.family("all columns"), folder=folder)
    assert found.to_dict() == {("digits", 0): 0.5, ("wine", 0): 0.9, ("wine", 1): 0.7}


def test_gains_are_means_over_the_repeats_of_a_data_set(folder):
    found = fusion_reading.gains("late fusion", folder=folder)
    assert found.loc["wine", "logistic"] == pytest.approx(0.02)
    assert found.loc["wine", "boosting"] == pytest.approx(0.015)
    assert np.isnan(found.loc["digits", "boosting"])
    first = fusion_reading.gain(VOTES[0], LOGISTIC, repeats=1, datasets=["wine"], folder=folder)
    assert first.to_dict() == {"wine": pytest.approx(0.05)}


def test_regret_is_how_far_the_machine_of_the_pattern_is_ahead(monkeypatch):
    index = pd.MultiIndex.from_tuples([("wine", 0), ("wine", 1), ("digits", 0)])
    index.names = ["dataset", "repeat"]

    def scores(measure="accuracy", *, pattern="", missing=0.0):
        values = {("accuracy", "01", 0.0): [0.9, 0.8, 0.7], ("at_01", "", 0.5): [0.6, 0.6, 0.9]}
        right = values.get((measure, pattern, missing), 0.0)
        return pd.DataFrame({LOGISTIC: right}, index=index, dtype=float)

    monkeypatch.setattr(fusion_reading, "scores", scores)
    monkeypatch.setattr(fusion_reading, "patterns_of", lambda dataset: ["01"])
    found = fusion_reading.regret(LOGISTIC, missing=0.5).set_index("dataset")
    assert found["regret"].to_dict() == pytest.approx({"wine": 0.25, "digits": -0.2})
    assert found["gone"].tolist() == [1, 1]


def test_intervals_are_those_of_the_t_test_and_of_one_more_draw():
    rng = np.random.default_rng(0)
    x = rng.normal(0.3, 1.0, size=9)
    found = fusion_reading.over_datasets(x)
    low, high = stats.ttest_1samp(x, 0).confidence_interval()
    assert_allclose([found["low"], found["high"]], [low, high])
    draws = rng.normal(size=(20_000, 10))
    inside = 0
    for row in draws[:4000]:
        of = fusion_reading.over_datasets(row[:9])
        inside += of["next_low"] <= row[9] <= of["next_high"]
    assert 0.94 < inside / 4000 < 0.96


def test_a_direction_is_not_told_where_the_interval_contains_zero():
    clear = {"difference": -0.02, "low": -0.03, "high": -0.01}
    assert fusion_reading.by(clear) == "2.0 points (95\xa0% CI 1.0 to 3.0)"
    assert fusion_reading.told(clear) == "−2.0 points (95\xa0% CI −3.0 to −1.0)"
    for high in (0.0, 0.01):
        with pytest.raises(ValueError, match="contains zero"):
            fusion_reading.by(clear | {"high": high})


def test_splits_have_a_variance_of_their_own(monkeypatch):
    rng = np.random.default_rng(0)
    sets, repeats = np.repeat(np.arange(2000), 3), np.tile(np.arange(3), 2000)
    y = 0.05 * rng.normal(size=2000)[sets] + 0.02 * rng.normal(size=6000)
    index = pd.MultiIndex.from_arrays([sets, repeats], names=["dataset", "repeat"])
    # Of half of the data sets one repeat is left.
    y = pd.Series(y, index)[(sets % 2 == 0) | (repeats == 0)]
    monkeypatch.setattr(fusion_reading, "reached", lambda which, *_: y if which else 0.0)
    found = fusion_reading.spreads(True, False)
    assert found["several"] == 1000 and found["datasets"] == 2000
    noise = 0.02**2 * np.mean([1, 1 / 3])
    assert found["between"] ** 2 == pytest.approx(0.05**2 + noise, rel=0.1)
    median = stats.chi2.median(2) / 2  # of an estimated variance of three, in units of the true one
    assert found["split"] ** 2 == pytest.approx(0.02**2 * median, rel=0.1)


def test_the_power_of_a_statement_is_that_of_its_test(monkeypatch):
    forming = pd.Series([0.02, 0.01, 0.03, 0.0, 0.02])
    monkeypatch.setattr(fusion_reading, "gain", lambda *_, **__: forming)
    of = fusion_reading.Statement("a", "", "papers", "papers", margin=0.005)
    rng = np.random.default_rng(0)
    draws = rng.normal(forming.mean(), forming.std(ddof=1), size=(4000, 8))
    hits = [fusion_reading.over_datasets(row)["low"] > 0.005 for row in draws]
    assert of.power(8) == pytest.approx(np.mean(hits), abs=0.02)
    assert of.judged(None)["verdict"] == (
        "hit" if fusion_reading.over_datasets(forming)["low"] > 0.005 else "cannot tell"
    )
    assert replace(of, margin=0.02).judged(None)["verdict"] == "miss"


def test_a_hit_is_seldom_wrong_in_any_world():
    """Where effects are skewed the interval misses the mean upwards, and not downwards."""
    rows = Ledger("calibration").read().query("item == 'coverage' and measure == 'below'")
    assert rows.query("method == 't'")["value"].max() < 0.03


# ----------------------------------------------------------------------------------- advice


def table_of(y):
    """Intervals of all pairs of answers, of accuracies (D, A)."""
    pairs = permutations(range(y.shape[1]), 2)
    return {(i, j): fusion_reading.over_datasets(y[:, i] - y[:, j]) for i, j in pairs}


def test_advice_is_judged_against_the_best_of_the_others():
    rng = np.random.default_rng(0)
    y = 0.001 * rng.normal(size=(20, 3)) + [0.8, 0.7, 0.795]  # 0 is a little ahead of 2
    verdicts = [fusion_reading.against_others(i, table_of(y)) for i in range(3)]
    assert [row["verdict"] for row in verdicts] == ["ahead", "behind", "behind"]
    assert [row["best"] for row in verdicts] == [2, 0, 0]
    assert verdicts[1]["against"] == table_of(y)[1, 0]
    # far ahead of a weak answer, and level with a strong one, is level
    y[:, 2] = y[:, 0] + 0.05 * rng.normal(size=20)
    assert fusion_reading.against_others(0, table_of(y))["verdict"] == "level"


def test_equal_answers_are_seldom_told_apart():
    """The choice of the best other is part of the rule, so it is part of its level."""
    rng, told = np.random.default_rng(0), []
    for _ in range(400):
        y = rng.normal(size=(20, 1)) + rng.normal(size=(20, 6))
        found = table_of(y)
        told.append({fusion_reading.against_others(i, found)["verdict"] for i in range(6)})
    assert np.mean(["ahead" in words for words in told]) < 0.05
    assert np.mean(["behind" in words for words in told]) < 0.08


@pytest.mark.parametrize("leaf", fusion_reading.situations(), ids=lambda leaf: leaf.name)
def test_advice_holds_in_the_ledger(leaf):
    """What is taken is nowhere behind the best of all answers; what is avoided is, somewhere."""
    verdicts = pd.DataFrame({test: leaf.judged(test)["verdict"] for test in leaf.tests})
    assert not (verdicts.loc[leaf.take] == "behind").any(axis=None)
    assert (verdicts.loc[leaf.avoid] == "behind").any(axis=1).all()
    # "They are level", and "no other answer is ahead", as the reasons say
    assert not (verdicts == "ahead").any(axis=None)
    assert set(verdicts.index) == set(fusion_reading.ANSWERS)


def test_recommendations_are_what_the_tree_takes():
    taken = {fusion_reading.ANSWERS[name] for of in fusion_reading.situations() for name in of.take}
    assert set(ADVISED) <= taken
    page = fusion_reading.tree(fusion_reading.situations()[:1])
    assert page.count("<li><p>") == 1 and page.count("the best other: <b>level</b>") >= 6


PART = Path(fusion.__file__).parents[1] / "compare"


def outputs_of(page):
    """All that a chapter shows: HTML of its tables, texts of what is glued."""
    cells = json.loads((PART / f"{page}.ipynb").read_text("utf-8"))["cells"]
    outputs = [out for cell in cells for out in cell.get("outputs", ())]
    return "".join("".join(out.get("data", {}).get("text/html", "")) for out in outputs), {
        out["metadata"]["scrapbook"]["name"]: ast.literal_eval(
            "".join(out["data"]["application/papermill.record/text/plain"])
        )
        for out in outputs
        if "scrapbook" in out.get("metadata", {})
    }


def first_column(html):
    """The first value of each row of all tables, by the words of the row."""
    rows = re.findall(r"<th>([^<]+)</th>\s*<td>([^<]+)</td>", html)
    return {
        frozenset(name.replace("\xa0", " ").split(", ")): value.replace("\xa0", " ")
        for name, value in rows
        if re.fullmatch(r"\S+\s\(\S+\sto\s\S+\)", value)
    }


def test_a_difference_has_one_interval_on_all_pages():
    (which, _), (missing, _), (_, worth) = map(outputs_of, ("which", "missing_views", "worth"))
    of_which, of_missing = first_column(which), first_column(missing.split("in training only")[0])
    both = set(of_which) & set(of_missing)
    assert len(both) >= 10
    assert {key: of_which[key] for key in both} == {key: of_missing[key] for key in both}
    value = of_which[frozenset({"RBF SVM", "late fusion"})]
    assert re.findall(r"[\d.]+", worth["worth-late-svm"].replace("95\xa0%", "")) == re.findall(
        r"[\d.]+", value
    )


def test_labels_say_means_where_means_are_put_in():
    X, _ = two_views()
    imputes = {
        learner
        for learner, (make, space) in fusion.LEARNERS.items()
        if any("Imputer" in type(step).__name__
               for step in flat(make(X.views, **{k: at(0.5, v) for k, v in space.items()})))
    }  # fmt: skip
    assert imputes == set(fusion.LEARNERS) - {"boosting"}
    pages = "".join(outputs_of(page)[0] for page in ("which", "missing_views", "worth"))
    assert "means in gaps, logistic" in pages and "means in gaps, boosting" not in pages


def flat(step):
    """The steps of a pipeline of pipelines."""
    inside = [part for _, part in getattr(step, "steps", ())]
    return [part for of in inside for part in flat(of)] or [step]


REGISTERED = "5632ba82ec2a152f"  # of registered.toml, without its log of deviations


def test_registered_statements_do_not_change():
    text = (fusion_reading.HERE / "registered.toml").read_text("utf-8")
    first, _, _ = text.partition("# Deviations")
    assert hashlib.sha256(first.encode()).hexdigest()[:16] == REGISTERED


def test_predicted_hits_had_power_and_name_what_the_study_has():
    for statement in fusion_reading.statements().values():
        assert statement.measure in fusion.tests_of("wine")
        assert statement.expected in ("hit", "open")
        assert len(statement.means(fusion_data.FORMING, 1)) >= 8
        power = statement.power(len(fusion_data.KEPT))
        assert power >= 0.8 if statement.expected == "hit" else power < 0.8
    with pytest.raises(ValueError, match="names candidates"):
        fusion_reading.candidates_of("use all columns")
