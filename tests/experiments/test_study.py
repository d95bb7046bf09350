"""The study of part VI, third edition: its rows, what is kept of them, and how they are read."""

import ast
import hashlib
import json
import re
import sys
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
from mvref.compare.candidates import ADVISED
from mvref.compare.judge import Answer
from mvref.compare.learners import Said
from mvref.compare.splits import Outcome, SplitWork
from mvref.datasets import DatasetUnavailable
from mvref.experiments import ITEMS, packages, study, study_data, study_reading
from mvref.experiments.effects import by
from mvref.experiments.engine import LEDGER, Item, Job, Ledger, checksum, run
from mvref.experiments.kernel_means import KernelMeanSVC, without_gaps
from mvref.experiments.report import read_ledger

CLASSES = np.array(["a", "b", "c"])


class Known:
    """What a model is asked for beside its answer."""

    classes_ = CLASSES


def answer_of(chances):
    return Answer(CLASSES[chances.argmax(axis=1)], Said(chances, "probabilities"), Known())


def outcome_of(name, chances, worth=(0.5, -1.0), **more):
    return Outcome(name, "", "none", {"C": 1.0}, 0.5, worth, [answer_of(chances)], **more)


# ------------------------------------------------------------------------------------ what is kept


def test_what_is_kept_gives_labels_probabilities_and_losses_back():
    rng = np.random.default_rng(0)
    codes, chances = rng.integers(3, size=400), rng.dirichlet(np.ones(3), size=400)
    failed = Outcome("failed", "", "none", failure="ValueError: no luck")
    labels = Outcome("labels", "", "none", answers=[Answer(CLASSES[codes], None)])
    nothing = outcome_of("nothing", np.eye(3)[np.zeros(400, dtype=int)])
    outcomes = [outcome_of("one", chances), failed, labels, nothing]
    content = study.packed(outcomes, [""], codes, CLASSES)
    kept = study.unpacked(content)
    assert np.array_equal(kept["label"][0, 0], chances.argmax(axis=1))
    assert_allclose(study.probability_of(kept["sure"][0, 0]), chances.max(axis=1), atol=0.032)
    right = chances.argmax(axis=1) == codes
    told = study.probability_of(kept["right"][0, 0])
    assert np.isnan(told[right]).all()
    assert_allclose(told[~right], chances[~right, codes[~right]], atol=0.032)
    loss = study_reading.log_loss(kept, 0)
    assert loss[0] == pytest.approx(log_loss(codes, chances), rel=0.01)
    assert np.isnan(loss[1:3]).all()
    found = study_reading.accuracy(kept, 0)
    assert found[:3].tolist() == [right.mean(), np.mean(codes == 0), 1.0]
    assert kept["failure"].tolist() == ["", "ValueError: no luck", "", ""]
    assert json.loads(kept["point"][0].replace("'", '"')) == {"C": 1.0}


def test_steps_of_the_logit_are_a_byte_and_their_ends_are_not_certain():
    levels = study.level_of(np.array([0.0, 0.5, 1.0]))
    assert levels.tolist() == [0, 127, 254]
    low, half, high = study.probability_of(levels)
    assert 0 < low < 1e-13 and half == 0.5 and 1 - 1e-13 < high < 1


def test_the_mean_of_the_learners_is_that_of_their_probabilities():
    rng = np.random.default_rng(0)
    names = [f"{learner}, all columns" for learner in study_reading.LEARNERS]
    chances = rng.dirichlet(np.ones(3), size=(4, 9))
    outcomes = [outcome_of(name, of) for name, of in zip(names, chances, strict=True)]
    others = [outcome_of("logistic, late fusion", chances[0][::-1])]
    told = study.mean_of_learners([*outcomes, *others]).answers[0]
    assert_allclose(told.said.scores, chances.mean(axis=0))
    assert told.labels.tolist() == CLASSES[chances.mean(axis=0).argmax(axis=1)].tolist()
    without = study.mean_of_learners([*outcomes[:3], Outcome(names[3], "", "", failure="x")])
    assert_allclose(without.answers[0].said.scores, chances[:3].mean(axis=0))


def test_every_stored_split_is_the_one_of_its_row_and_all_are_small():
    rows, size = read_ledger("study").query("measure == 'kept'"), 0
    ledger = Ledger("study")
    for row in rows.itertuples():
        path = ledger.file(row.item, row.dataset, json.loads(row.parameter), row.repeat)
        content = path.read_bytes()
        size += len(content)
        assert checksum(content) == row.value, path.name
    assert len(list((LEDGER / "study").glob("*.xz"))) == len(rows) > 0
    assert size < 20e6


# ----------------------------------------------------------------------------------------- splits


@pytest.mark.parametrize("n_train", [100, 300])
def test_parts_are_stratified_and_disjoint_and_folds_lie_in_training(n_train):
    X, y, groups, folds, n = study.draw("digits", n_train, 5, 0)
    again = study.draw("digits", n_train, 5, 0)
    assert n == n_train and len(y) == n + study.N_TEST and groups is None
    assert np.array_equal(X.views[0], again[0].views[0]) and np.array_equal(y, again[1])
    assert np.abs(np.bincount(y[:n]) - n / 10).max() <= 1
    assert sorted(np.concatenate([check for _, check in folds])) == list(range(n))
    other = study.draw("digits", n_train, 6, 0)[0]
    assert not np.array_equal(X.views[0][:n], other.views[0][:n])


def test_one_person_tests_and_the_next_one_in_the_next_repeat(monkeypatch):
    rng, who = np.random.default_rng(0), np.repeat(np.arange(4), 100)
    X, y = MultiView([rng.normal(size=(400, 2))] * 2), np.tile(np.arange(2), 200)
    monkeypatch.setattr(study, "load", lambda name: (X, y, who))
    monkeypatch.setitem(study_data.N_SAMPLES, "uwave", 400)
    for repeat in range(5):
        _, _, groups, folds, n = study.draw("uwave", 100, 0, repeat)
        assert set(groups[n:]) == {repeat % 4} and repeat % 4 not in groups[:n]
        assert all(not set(groups[fit]) & set(groups[check]) for fit, check in folds)


def test_gaps_are_where_they_should_be():
    X = MultiView([np.ones((1000, 1))] * 4)
    assert_allclose(1 - study.with_gaps(X, 0.25, 0).mean(), 0.25)
    assert study.with_gaps(X, 0.5, 0).any(axis=1).all()
    lost, before = study.with_gaps(X, "block", 0), study.with_gaps(X, "block", 0, trains=True)
    assert sorted(lost.mean(axis=0)) == [0, 1, 1, 1]
    assert sorted(before.mean(axis=0)) == [0.5, 1, 1, 1]
    assert not np.array_equal(*(study.with_gaps(X, 0.5, 0, trains=part) for part in (0, 1)))


def test_a_question_has_gaps_in_training_and_the_test_parts_of_its_name():
    question, split = study.question_of("wine", 100, "block", 0, 0, 0, 2)
    train, test = split.train, split.test
    assert 0.8 < question.X.observed[train].mean() < 0.9 and question.X.observed[test].all()
    assert list(question.later) == ["r50", *(f"at_{p}" for p in study_data.patterns_of("wine"))]
    assert question.later["at_011"][test].mean(axis=0).tolist() == [0, 1, 1]
    assert {one.name for one in question.methods} == set(study.WITH_GAPS)
    question, _ = study.question_of("wine", 100, 0.0, 0, 0, 0, 2)
    assert list(question.later)[:2] == ["r25", "r50"] and question.X.observed.all()
    assert {one.name for one in question.methods} == {
        one.name for one in (*study.METHODS, *study.BESIDE)
    }


def test_a_split_has_every_candidate_and_says_who_failed(monkeypatch):
    options = {"measures": study.MEASURES, "n_train": 100, "repeat": 0, "seed": 1, "budget": 1}
    found = study.on_split("wine", "all", **options, only=("MVPO", "LightGBM, all columns"))
    again = study.on_split("wine", "all", **options, only=("MVPO",))
    a, b = (study.unpacked(one["kept"]) for one in (found, again))
    same = np.flatnonzero(np.isin(a["candidate"], b["candidate"]))
    assert np.array_equal(a["label"][same], b["label"]) and again["failed"] == 0
    assert {study.MEAN, "nothing", "MVPO", "stack, views"} < set(b["candidate"])
    assert (b["label"][:, 0] == b["codes"]).mean(axis=1).max() > 0.9
    monkeypatch.setitem(study.LIMIT, 100, 1e-3)
    slow = study.on_split("wine", "all", **options, only=("MwMvC2",))
    reasons = study.unpacked(slow["kept"])
    assert slow["failed"] >= 1
    assert reasons["failure"][reasons["candidate"] == "MwMvC2"][0].startswith("TimeoutError")


def test_time_is_limited_and_only_inside():
    with pytest.raises(TimeoutError), study.limited(0.05):
        while True:
            pass
    start = time.process_time()
    while time.process_time() < start + 0.1:
        pass


def test_no_set_was_seen_that_should_not_have_been():
    parts = (study_data.FORMING, study_data.KEPT, study_data.UNSEEN)
    assert sum(map(len, parts)) == len(study_data.STUDIED) == len(study_data.SIZES)
    assert set(study_data.UNSEEN) == set(packages.FILES) == set(packages.LOADERS)
    items = [item for item in ITEMS.values() if item.paper == "study"]
    assert {name for item in items for name in item.datasets} == set(study_data.STUDIED)


@pytest.mark.data("name")
@pytest.mark.parametrize("name", list(study_data.REAL))
def test_data_sets_have_the_size_that_is_told(name):
    X, y, people = study_data.load(name)
    assert study_data.SIZES[name] == (len(y), X.n_views, sum(X.widths), len(np.unique(y)))
    assert people is None or len(people) == len(y)
    columns = [c for of_view in study_data.CUTS.get(name, {}).values() for c in of_view]
    assert not columns or sorted(columns) == list(range(sum(X.widths))), "all in one view"


def test_words_are_those_that_most_training_samples_have(monkeypatch):
    monkeypatch.setattr(study_data, "N_WORDS", 2)
    counts = np.array([[1, 0, 3, 0], [1, 0, 1, 0], [0, 5, 1, 0], [0, 5, 0, 9]])
    X = MultiView([sparse.csr_matrix(counts), counts.astype(float)])
    kept = study_data.common_words(X, np.arange(3))
    assert np.array_equal(kept.views[0].toarray(), counts[:, [0, 2]])
    assert kept.views[1].shape == (4, 4)


def test_means_and_zeros_stand_for_what_is_missing():
    views = [np.array([[1.0], [3.0], [8.0]]), sparse.csr_matrix([[1.0], [2.0], [3.0]])]
    X = MultiView(views, observed=np.array([[1, 1], [1, 0], [0, 1]], dtype=bool))
    filled = without_gaps(X, X[:2])
    assert filled.observed.all()
    assert filled.views[0].ravel().tolist() == [1.0, 3.0, 2.0]
    assert filled.views[1].toarray().ravel().tolist() == [1.0, 0.0, 3.0]


def test_the_sum_of_kernels_is_one_svm_on_their_mean():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = MultiView([y[:, None] + 0.4 * rng.normal(size=(60, d)) for d in (2, 3)])
    mean = np.mean([rbf_kernel(view, gamma=1.0) for view in X.views], axis=0)
    plain = SVC(C=10.0, kernel="precomputed").fit(mean, y)
    model = KernelMeanSVC(10.0).fit(X, y)
    assert np.array_equal(model.predict(X), plain.predict(mean))
    assert_allclose(model.decision_function(X), plain.decision_function(mean), atol=5e-3)


def test_the_test_part_has_no_say():
    """Other features and labels there, and the same points, with the same worth, are chosen."""
    question, split = study.question_of("wine", 100, 0.5, 0, 0, 0, 2)
    rng, y, codes = np.random.default_rng(0), question.y.copy(), question.codes.copy()
    views = [np.array(view) for view in question.X.views]
    for view in views:
        view[split.test] = 10.0 * rng.random((len(split.test), view.shape[1]))
    X = MultiView(views, names=question.X.names).with_observed(question.X.observed)
    order = rng.permutation(split.test)
    y[split.test], codes[split.test] = y[order], codes[order]
    assert not np.array_equal(y, question.y)
    chosen = []
    for asked in (question, replace(question, X=X, y=y, codes=codes)):
        work = SplitWork(asked, split)
        outcomes = [*work.plain(), *map(work.method, asked.methods)]
        assert len(outcomes) > 25
        chosen.append({one.candidate: (repr(one.point), one.worth) for one in outcomes})
    assert repr(chosen[0]) == repr(chosen[1])  # of reduced models the worth is NaN


def test_live_is_what_a_split_of_the_study_does():
    question, split = study.question_of("wine", 100, 0.0, 0, 0, 0, 3)
    later = {"r50": question.later["r50"]}
    kernel_sum = study.BESIDE[:1]
    found = study.live(question.X, question.y, split.train, split.test, seed=question.seed,
                       learners=question.learners[:1], methods=kernel_sum, later=later)  # fmt: skip
    assert list(found.index) == ["", "r50"]
    assert {"logistic, late fusion", "logistic, reduced models", kernel_sum[0].name} < set(found)
    assert (found.loc[""] > 0.8).all()


@pytest.mark.ledger
@pytest.mark.parametrize("name", ["iris", "wine", "breast-cancer"])
def test_a_stored_split_comes_back(name):
    """Labels may flip where two scores tie and rounding differs: one in a hundred."""
    seed = ITEMS["study.n100"].seed(name, 0)
    options = {"measures": study.MEASURES, "n_train": 100, "repeat": 0, "seed": seed}
    again = study.unpacked(study.on_split(name, "all candidates", **options, only=())["kept"])
    [stored] = [kept for key, kept in study_reading.splits_kept()
                if (key["dataset"], key["n_train"], key["repeat"]) == (name, 100, 0)
                and not key["missing"]]  # fmt: skip
    same = [list(stored["candidate"]).index(one) for one in again["candidate"]]
    assert np.mean(stored["label"][same] == again["label"]) > 0.99
    assert np.mean(stored["point"][same] == again["point"]) > 0.9


# -------------------------------------------------------------------------------------- packages


@pytest.mark.parametrize("name", packages.FILES)
def test_sets_in_packages_are_what_the_table_says(name):
    if not packages.there(name):
        pytest.skip(f"{name}: pip install {packages.FILES[name][0]}")
    X, y = packages.load(name)
    assert X.observed.all()
    assert study_data.SIZES[name] == (len(y), X.n_views, sum(X.widths), len(np.unique(y)))


def test_what_is_not_installed_is_told_and_another_file_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    with pytest.raises(DatasetUnavailable, match="pip install orange3==3.40.0"):
        packages.load("heart-disease")
    path = tmp_path / packages.FILES["heart-disease"][1]
    path.parent.mkdir(parents=True)
    path.write_text("another")
    with pytest.raises(DatasetUnavailable, match="is not the file of orange3"):
        packages.load("heart-disease")


def test_views_of_columns_and_words_as_numbers():
    frame = pd.DataFrame({"a1": ["1", "?"], "a2": [2, 3], "b": ["yes", "no"]})
    views = packages.of_columns(frame, {"a": "a", "ab": ("a2", "c")})
    assert views["a"].shape == (2, 2) and np.isnan(views["a"][1, 0])
    assert views["ab"].tolist() == [[2.0], [3.0]]
    assert packages.coded(frame["b"], {"yes": 1, "no": 0}).tolist() == [1.0, 0.0]
    assert packages.one_hot(frame["b"], ["no", "yes"]).tolist() == [[0, 1], [1, 0]]


# --------------------------------------------------------------------------------------- reading


LOGISTIC, BOOSTING = "logistic, all columns", "boosting, all columns"
REDUCED = "logistic, reduced models"
SPLITS = {  # data set, repeat -> candidate -> how many of ten are right, worth; None: it failed
    ("wine", 0): {LOGISTIC: (9, (0.9, -0.3)), BOOSTING: (8, (0.9, -0.4))},
    ("wine", 1): {LOGISTIC: (9, (0.8, -0.3)), BOOSTING: (7, (0.9, -0.4))},
    ("digits", 0): {LOGISTIC: (5, (0.4, -0.3)), BOOSTING: None},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A ledger of three splits of ten samples, five of them of the first class."""
    codes = np.repeat(np.arange(2), 5)

    def work(split):
        def told(right):
            return np.eye(3)[np.where(np.arange(10) < right, codes, 1 - codes)] * 0.8 + 0.1

        outcomes = [outcome_of("nothing", np.eye(3)[np.zeros(10, dtype=int)])]
        for name, of in split.items():
            failed = Outcome(name, "", "none", failure="ValueError: x")
            outcomes.append(outcome_of(name, told(of[0]), of[1]) if of else failed)
        outcomes.append(outcome_of(REDUCED, told(8), (np.nan, np.nan)))
        content = study.packed(outcomes, [""], codes, CLASSES)
        return lambda seed: {"candidates": 4.0, "failed": 0.0, "kept": content}

    def jobs(dataset, quick, rows):
        for (name, repeat), split in SPLITS.items():
            point = {"n_train": 100}
            yield Job(name, "all candidates", point, repeat, study.MEASURES, work(split))

    folder = tmp_path_factory.mktemp("ledger")
    run(Item("study", "n100", "", ("wine",), jobs), "wine", Ledger("study", folder))
    return folder


def test_bytes_of_a_job_are_kept_once(tmp_path):
    def jobs(content):
        job = Job("wine", "a", {"n": 2}, 0, ("kept",), lambda seed: {"kept": content})
        return Item("study", "n100", "", ("wine",), lambda *_: [job])

    ledger = Ledger("study", tmp_path)
    assert run(jobs(b"first"), "wine", ledger) == 1 and run(jobs(b"other"), "wine", ledger) == 0
    ledger.append(ledger.read().to_dict("records"))
    [path] = (tmp_path / "study").iterdir()
    assert path.name == "n100-wine-2-0.xz" and path.read_bytes() == b"first"
    assert ledger.read()["value"].tolist() == [checksum(b"first")]


def test_the_folds_choose_and_who_failed_says_the_majority(folder):
    values = study_reading.scores(folder=folder)
    assert values.at[("digits", 0), BOOSTING] == values.at[("digits", 0), "nothing"] == 0.5
    found = study_reading.chosen([LOGISTIC, BOOSTING], folder=folder)
    assert found.to_dict() == {("digits", 0): 0.5, ("wine", 0): 0.9, ("wine", 1): 0.7}
    worth = study_reading.scores("validation", folder=folder)
    assert worth[REDUCED].tolist() == worth[LOGISTIC].tolist()
    asked, reasons = study_reading.failures(folder)
    assert asked == 12 and reasons.tolist() == ["ValueError: x"]
    gaps = study_reading.gain(LOGISTIC, BOOSTING, datasets=["wine"], folder=folder)
    assert_allclose(gaps, [0.1, 0.2])
    loss = study_reading.scores("log_loss", folder=folder)
    assert loss.at[("wine", 0), LOGISTIC] == pytest.approx(
        -0.9 * np.log(0.9) - 0.1 * np.log(0.1), rel=0.01
    )


def test_regret_is_against_the_best_of_the_other_repeats_that_keeps_the_learner(monkeypatch):
    index = pd.MultiIndex.from_tuples([("wine", 0), ("wine", 1), ("digits", 0)])
    index.names = ["dataset", "repeat"]
    right = {"all columns": [0.5, 0.7, 0.9], "late fusion": [0.9, 0.7, 0.7],
             "reduced models": [0.8, 0.8, 0.8], "modality dropout": [0.6, 0.6, 0.6],
             "MVPO": [0.7, 0.9, 0.1]}  # fmt: skip
    tests = pd.MultiIndex.from_product([["", "r50", "at_01"]], names=["test"])
    monkeypatch.setattr(study_reading, "tables",
                        lambda: {"accuracy": pd.DataFrame(index=tests)})  # fmt: skip
    reached = lambda which, **_: pd.Series(right[which.split(", ")[-1]], index)  # noqa: E731
    monkeypatch.setattr(study_reading, "reached", reached)
    found = study_reading.regret("logistic", beside=["MVPO"])
    assert found.index.tolist() == [("wine", 0, "01"), ("wine", 1, "01")]  # no other of the digits
    assert set(found["gone"]) == {1}
    # the best of repeat 1 is to reduce, of repeat 0 to fuse
    assert_allclose(found["all columns"], [0.3, 0.0], atol=1e-12)
    assert_allclose(found["late fusion"], [-0.1, 0.0], atol=1e-12)
    assert_allclose(found["MVPO"], [0.1, -0.2], atol=1e-12)


def test_the_sensor_that_failed_is_the_one_of_the_split():
    for repeat in range(2):
        seed = ITEMS["study.gaps"].seed("wine", repeat)
        X = MultiView([np.ones((50, 1))] * 3)
        observed = study.with_gaps(X, "block", seed, trains=True)
        lost = "".join("01"[int(seen)] for seen in observed.all(axis=0))
        assert study_reading.sensor_of("wine", repeat) == lost


def test_power_is_that_of_the_t_test_on_so_many_sets(monkeypatch):
    rng = np.random.default_rng(0)
    sets = pd.MultiIndex.from_product([range(12), [0]], names=["dataset", "repeat"])
    gaps = pd.Series(rng.normal(0.02, 0.03, size=12), sets)
    monkeypatch.setattr(study_reading, "gain", lambda *_, **__: gaps)
    statement = study_reading.Statement("a", "", LOGISTIC, BOOSTING)
    draws = rng.normal(gaps.mean(), gaps.std(ddof=1), size=(20_000, 8))
    low = stats.ttest_1samp(draws, 0, axis=1).confidence_interval().low
    assert statement.power(8, ["any"]) == pytest.approx(np.mean(low > 0), abs=0.02)
    assert statement.verdict({"low": -0.1, "difference": 0.1}) == "cannot tell"
    assert statement.verdict({"low": -0.1, "difference": -0.1}) == "miss"


UNSEEN = "34449d0ff2e6cb60"  # of registered_unseen.toml, without its log of deviations
REGISTERED = "5632ba82ec2a152f"  # of registered.toml, likewise
FORMED = [name for name in study_data.REAL if name != "citeseer"]  # where training has gaps


def test_statements_about_unseen_data_do_not_change():
    text = (study_reading.HERE / "registered_unseen.toml").read_text("utf-8")
    first, _, _ = text.partition("\n# Deviations")
    assert hashlib.sha256(first.encode()).hexdigest()[:16] == UNSEEN
    for name, of in study_reading.statements("registered_unseen.toml").items():
        formed = FORMED if of.missing else list(study_data.REAL)
        assert of.power(10, formed) == pytest.approx(of.power_before, abs=0.006), name
        assert of.expected == ("hit" if of.power_before >= 0.8 else "open")


def test_statements_of_the_second_edition_do_not_change_and_can_be_judged():
    text = (study_reading.HERE / "registered.toml").read_text("utf-8")
    first, _, _ = text.partition("# Deviations")
    assert hashlib.sha256(first.encode()).hexdigest()[:16] == REGISTERED
    for statement in study_reading.statements().values():
        assert statement.expected in ("hit", "open") and statement.test in ("", "r50")
        assert set(statement.judged(list(study_data.KEPT))) >= {"verdict", "low", "high"}


# ------------------------------------------------------------------------------------------ advice


def table_of(y):
    """Intervals of all pairs of answers, of accuracies (D, A)."""
    sets = pd.MultiIndex.from_product([range(len(y)), [0]], names=["dataset", "repeat"])
    pairs = permutations(range(y.shape[1]), 2)
    return {(i, j): study_reading.found(pd.Series(y[:, i] - y[:, j], sets)) for i, j in pairs}


def test_advice_is_judged_against_the_best_of_the_others():
    rng = np.random.default_rng(0)
    y = 0.001 * rng.normal(size=(20, 3)) + [0.8, 0.7, 0.795]  # 0 is a little ahead of 2
    verdicts = [study_reading.against_others(i, table_of(y)) for i in range(3)]
    assert [row["verdict"] for row in verdicts] == ["ahead", "behind", "behind"]
    assert [row["best"] for row in verdicts] == [2, 0, 0]
    assert verdicts[1]["against"]["low"] == table_of(y)[1, 0]["low"]
    # far ahead of a weak answer, and level with a strong one, is level
    y[:, 2] = y[:, 0] + 0.05 * rng.normal(size=20)
    assert study_reading.against_others(0, table_of(y))["verdict"] == "level"


def test_equal_answers_are_seldom_told_apart():
    """The choice of the best other is part of the rule, so it is part of its level."""
    rng, told = np.random.default_rng(0), []
    for _ in range(120):
        y = rng.normal(size=(20, 1)) + rng.normal(size=(20, 6))
        found = table_of(y)
        told.append({study_reading.against_others(i, found)["verdict"] for i in range(6)})
    assert np.mean(["ahead" in words for words in told]) < 0.05
    assert np.mean(["behind" in words for words in told]) < 0.08


@pytest.mark.parametrize("leaf", study_reading.situations(), ids=lambda leaf: leaf.name)
def test_advice_holds_in_the_ledger(leaf):
    """What is taken is nowhere behind the best of all answers; what is avoided is, somewhere."""
    verdicts = pd.DataFrame({test: leaf.judged(test)["verdict"] for test in leaf.tests})
    assert not (verdicts.loc[leaf.take] == "behind").any(axis=None)
    assert (verdicts.loc[leaf.avoid] == "behind").any(axis=1).all()
    # "They are level", and "no other answer is ahead", as the reasons say
    assert not (verdicts == "ahead").any(axis=None)
    assert set(verdicts.index) == set(study_reading.ANSWERS)


def test_recommendations_are_what_the_tree_takes():
    taken = {study_reading.ANSWERS[name] for of in study_reading.situations() for name in of.take}
    assert set(ADVISED) <= taken
    page = study_reading.tree(study_reading.situations()[:1])
    assert page.count("<li><p>") == 1 and page.count("the best other: <b>") == 12


# ------------------------------------------------------------------------------------------- pages


PART = Path(study.__file__).parents[1] / "compare"


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


def test_a_difference_has_one_interval_on_all_pages():
    """From its rows, on every page that prints it, in words and in tables."""
    pages = dict(zip(PAGES, map(outputs_of, PAGES), strict=True))
    columns = study_reading.family("all columns")
    for use, test in {"late fusion": "", "reduced models": "r50"}.items():
        of = study_reading.found(study_reading.gain(study_reading.family(use), columns, test=test))
        printed = study_reading.short(of)
        holders = [name for name, (html, _) in pages.items() if printed in html]
        assert len(holders) >= 2, (use, printed, holders)
    glued = [words for _, of_page in pages.values() for words in of_page.values()]
    single = study_reading.found(study_reading.gain(columns, study_reading.family("best view")))
    assert sum(words == by(single) for words in glued) == 2  # worth, and which


def test_the_pages_of_the_study_are_short():
    words = 0
    for page in (*PAGES, "speed"):
        cells = json.loads((PART / f"{page}.ipynb").read_text("utf-8"))["cells"]
        text = " ".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
        words += len(re.findall(r"[A-Za-z][\w'’-]*", text))
    assert words <= 9000


PAGES = ("worth", "which", "missing_views")
