"""The study of part VI: equal treatment, splits, gaps, failures as rows."""

import hashlib

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from mvref import MultiView
from mvref.compare import candidates
from mvref.compare.candidates import Candidate
from mvref.compare.tuning import Split
from mvref.experiments import ITEMS, cost_lines, study, study_data, study_reading
from mvref.experiments.engine import COLUMNS, Ledger
from mvref.experiments.engine import rows_of as engine_rows_of
from mvref.experiments.items import data_here
from mvref.experiments.report import rope_probabilities

PREREGISTERED = "a7effb389d9ee05e"  # of transfer.toml
NAMES = [*study_data.EXPLORED, *study_data.HELD_OUT]
HERE = [name for name in NAMES if name in data_here()]
LOCAL = ("digits", "moons", "wine", "planted-pairwise")


def two_views(n=60, seed=0):
    """Two views that hint at one of two classes."""
    rng = np.random.RandomState(seed)
    y = np.arange(n) % 2
    return MultiView([y[:, None] + 0.4 * rng.randn(n, d) for d in (2, 3)]), y


def split_of(candidate_seed=0):
    X, y = two_views(seed=candidate_seed)
    rows = np.arange(60)
    return Split(X, y, rows[:40], rows[40:], [(rows[:30], rows[30:40])])


# ------------------------------------------------------------------------------- treatment


def test_every_candidate_has_as_many_points_none_at_an_end():
    for candidate in study.CANDIDATES.values():
        points = candidate.points(study.BUDGET)
        assert len(points) == study.BUDGET, candidate.name
        for name, ends in candidate.space.items():
            if isinstance(ends, tuple):
                assert all(ends[0] < point[name] < ends[1] for point in points)


@pytest.mark.parametrize("name", candidates.ALL)
def test_a_training_leaves_no_trace_in_the_points(name):
    X, _ = two_views()
    candidate = study.CANDIDATES[name]
    before = [repr(point) for point in candidate.points(study.BUDGET)]
    for point in candidate.points(study.BUDGET):
        candidate.build(point, X, 1)
    assert [repr(point) for point in candidate.points(study.BUDGET)] == before


@pytest.mark.parametrize("name", LOCAL)
def test_all_methods_of_a_repeat_share_a_split(name):
    split = study_data.draw_split(name, 100, 3, 5)
    study_data.draw_split.cache_clear()
    again = study_data.draw_split(name, 100, 3, 5)
    assert np.array_equal(split.train, again.train) and np.array_equal(split.test, again.test)
    assert len(split.train) == 100 and len(split.test) <= study_data.N_TEST
    assert not set(split.train) & set(split.test)
    for fit, check in split.folds:
        assert {*fit, *check} == set(split.train) and not set(fit) & set(check)
    other = study_data.draw_split(name, 100, 3, 6)
    assert not np.array_equal(split.train, other.train) or name in study_data.DRAWN


@pytest.mark.data("uwave")
def test_of_people_one_tests_whom_nobody_has_trained_on():
    who = study_data.load_dataset("uwave").meta["user"]
    split = study_data.draw_split("uwave-people", 100, 3, 0)
    assert len(set(who[split.test])) == 1 and not set(who[split.test]) & set(who[split.train])
    for fit, check in split.folds:
        assert not set(who[fit]) & set(who[check])


def test_data_sets_are_told_apart_and_described():
    assert len(study_data.EXPLORED) >= 12
    assert not set(study_data.EXPLORED) & set(study_data.HELD_OUT)


@pytest.mark.data("name")
@pytest.mark.parametrize("name", NAMES)
def test_data_sets_have_the_size_that_is_told(name):
    X, y = study_data.samples(name, 200, 0)
    n_samples = len(y) if name in study_data.N_SAMPLES else None
    assert study_data.SIZES[name] == (n_samples, X.n_views, sum(X.widths), len(np.unique(y)))
    columns = [c for of_view in study_data.CUTS.get(name, {}).values() for c in of_view]
    assert not columns or sorted(columns) == list(range(sum(X.widths))), "all in one view"


# --------------------------------------------------------------------------------- failures


@pytest.mark.parametrize(("error", "number"), [(TimeoutError, 1), (ValueError, 2)])
def test_a_failure_is_a_row(monkeypatch, error, number):
    def fails(X):
        raise error("no luck")

    monkeypatch.setitem(study.CANDIDATES, "KMHKS", Candidate("KMHKS", True, fails))
    found = study.on_split("wine", "KMHKS", measures=study.MEASURES, n_train=100, seed=0)
    assert found["failure"] == number and set(found) == set(study.MEASURES)


def test_who_runs_out_of_time_three_times_is_not_asked_again():
    item, size = ITEMS["study.n100"], study.SIZES[100]

    def row(method, repeat, failure):
        return ["n100", "wine", method, '{"n_train":100}', repeat, "failure", failure]

    columns = ["item", "dataset", "method", "parameter", "repeat", "measure", "value"]
    for failures, n_repeats in (([1, 1, 1], 3), ([1, 0, 1], size), ([1, 1], size), ([2] * 3, size)):
        rows = [row("MSL", repeat, failure) for repeat, failure in enumerate(failures)]
        jobs = list(item.jobs("wine", False, pd.DataFrame(rows, columns=columns)))
        assert {job.repeat for job in jobs if job.method == "MSL"} == set(range(n_repeats))
        assert {job.repeat for job in jobs if job.method == "SMS"} == set(range(size))
    assert len(list(item.jobs("mfeat", False, pd.DataFrame(rows, columns=columns)))) == 800


@pytest.mark.data(*NAMES)
@pytest.mark.parametrize("name", ["n100", "transfer"])
def test_the_first_repeat_tells_what_the_next_ones_cost(name, tmp_path):
    rows = Ledger("study").read().query("item == @name")
    Ledger("study", tmp_path).append(rows[rows["repeat"] == 0].to_dict("records"))
    told = [float(line.split()[5]) for line in cost_lines([f"study.{name}"], tmp_path)]
    next_ones = rows[(rows["measure"] == "failure") & rows["repeat"].isin([1, 2])]
    took = next_ones["seconds"].sum() / 3600 / 2
    assert 0.5 < sum(told) / (study.SIZES[100] - 1) / took < 2


def test_a_row_has_every_measure_and_training_gaps_are_in_the_training_part():
    options = {"measures": study.MEASURES, "n_train": 100, "budget": 2, "seed": 1}
    found = study.on_split("wine", "MVLSVM", **options)
    assert tuple(found) == study.MEASURES and found["failure"] == 0
    assert found["accuracy"] > 0.8 and found["accuracy"] >= found["accuracy_r50"] - 0.05
    assert study.on_split("wine", "MVLSVM", **options)["accuracy"] == found["accuracy"]
    gappy = study.on_split("wine", "MVLSVM", missing=0.5, **options)
    assert gappy["failure"] == 0 and gappy["accuracy"] != found["accuracy"]


# What baycomp 1.0.3 says: two_on_single(b, a, rope=0.01, runs=5). It is no requirement: it has no
# wheel and installs a package `tests` beside ours.
BAYCOMP = [
    (0.13010241716322646, 0.648214271489718, 0.22168331134705554),
    (0.10388400657879378, 0.7210371503841015, 0.17507884303710464),
    (0.14292067662434363, 0.6560442520555826, 0.2010350713200738),
    (0.09961190202913851, 0.6350761518669434, 0.26531194610391806),
    (0.18346672118124818, 0.689828530050034, 0.12670474876871785),
]


@pytest.mark.parametrize("seed", range(5))
def test_chances_of_practice_are_those_of_baycomp(seed):
    rng = np.random.default_rng(seed)
    a, b = 0.8 + 0.02 * rng.standard_normal((2, 50))
    assert_allclose(rope_probabilities(a - b, 1 / 9, 0.01), BAYCOMP[seed], atol=1e-12)


def test_chances_of_practice_of_equal_differences():
    assert rope_probabilities([0.02, 0.02]) == (0.0, 0.0, 1.0)
    assert rope_probabilities([0.0, 0.0, 0.0]) == (0.0, 1.0, 0.0)


# --------------------------------------------------------------------------------- reading


def simulated(rng, N, n, n_test, n_repeats):
    """Differences of two classifiers on splits of one drawn pool."""

    def draw(size):
        y = rng.integers(0, 2, size)
        X = rng.standard_normal((size, 10)) * SCALES + np.outer(2 * y - 1, MEANS)
        return X, y

    X, y = draw(N)
    found = []
    for _ in range(n_repeats):
        rows = rng.permutation(N)
        found.append(gap_of(X, y, rows[:n], rows[n : n + n_test]))
    return np.array(found)


SCALES, MEANS = np.ones(10), np.zeros(10)
SCALES[1], MEANS[:2] = 3.0, (0.47, 0.23)


def gap_of(X, y, train, test):
    """Accuracy of a discriminant with the covariance of the classes, minus one without."""
    one, zero = (X[train][y[train] == k].mean(axis=0) for k in (1, 0))
    R = X[train] - np.where(y[train, None] == 1, one, zero)
    C = R.T @ R / len(train) + 0.3 * np.eye(10)
    right = []
    for w in (np.linalg.solve(C, one - zero), one - zero):
        right.append(np.mean((X[test] @ w > (one + zero) @ w / 2) == y[test]))
    return right[0] - right[1]


@pytest.mark.parametrize(
    ("N", "n", "n_test", "n_repeats"),
    [(1800, 100, 1000, 20), (570, 300, 270, 5), (1000, 500, 500, 10)],
)
def test_intervals_cover_what_is_true_of_the_population(N, n, n_test, n_repeats, monkeypatch):
    rng = np.random.default_rng(0)
    pool = [simulated(rng, n + 20_000, n, 20_000, 1)[0] for _ in range(150)]
    truth = np.mean(pool)
    monkeypatch.setitem(study_reading.N_SAMPLES, "pool", N)
    covered, plain = [], []
    for _ in range(200):
        gaps = simulated(rng, N, n, n_test, n_repeats)
        for found, dataset in ((covered, "pool"), (plain, "drawn anew")):
            told = study_reading.difference(gaps, dataset, n)
            found.append(told["low"] <= truth <= told["high"])
    assert np.mean(covered) > 0.93, "200 intervals of 95 %"
    assert np.mean(covered) > np.mean(plain) + 0.02


def rows_of(values, dataset="moons", n_train=100):
    """Rows of a ledger: measures by method, one value per repeat."""
    rows = []
    for method, measures in values.items():
        for measure, column in ({"failure": [0] * 9} | measures).items():
            for repeat, value in enumerate(column[: len(measures["accuracy"])]):
                row = dict.fromkeys(COLUMNS, "0") | {
                    "paper": "study", "item": "n100", "dataset": dataset, "method": method,
                    "parameter": f'{{"n_train":{n_train}}}', "measure": measure,
                    "repeat": repeat, "seed": 0, "value": value, "seconds": 0,
                }  # fmt: skip
                rows.append(row)
    return rows


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The ledger of a study of two methods that use views and one that does not."""
    monkeypatch.setattr(study_reading, "DRAWN", ())  # as if both were real
    ledger = Ledger("study", tmp_path)
    for dataset, gain in (("moons", 0.02), ("planted-linear", 0.04)):
        values = {
            "stacking": {"accuracy": [0.8 + gain, 0.7 + gain], "validation": [0.9, 0.1]},
            "vote of views": {"accuracy": [0.1, 0.8], "validation": [0.2, 0.8]},
            "RBF SVM, all columns": {"accuracy": [0.8, 0.7], "validation": [0.5, 0.5]},
            "MSL": {"accuracy": [0, 0], "validation": [0, 0], "failure": [1, 1]},
        }
        ledger.append(rows_of(values, dataset))
    return tmp_path


def test_what_failed_has_no_score(folder):
    values = study_reading.scores(folder=folder)
    assert values["MSL"].isna().all() and values["stacking"].notna().all()


def test_the_inner_folds_choose_in_every_split(folder):
    gaps = study_reading.worth_of_views(folder=folder)
    assert_allclose(gaps.loc["moons", 100, 0.0], [0.02, 0.8 - 0.7])
    assert_allclose(gaps.loc["planted-linear", 100, 0.0], [0.04, 0.1])
    pair = study_reading.gaps_between("stacking", "RBF SVM, all columns", folder=folder)
    assert_allclose(pair, [0.02, 0.02, 0.04, 0.04])
    assert study_reading.gaps_between("MSL", "stacking", folder=folder).empty


def test_who_failed_is_not_chosen():
    """In the first split nobody failed, in the second the better one, in the third the other."""
    values = pd.DataFrame({"a": [1.0, np.nan, 0.5], "b": [0.5, 0.2, np.nan]})
    validation = pd.DataFrame({"a": [0.9, np.nan, 0.1], "b": [0.8, 0.1, np.nan]})
    picked = study_reading.chosen(values, validation, ["a", "b"])
    assert_allclose(picked, [1.0, 0.2, 0.5])


def test_over_data_sets_each_counts_once():
    index = pd.MultiIndex.from_tuples(
        [("a", 0), ("a", 1), ("b", 0), ("c", 0)], names=["dataset", "repeat"]
    )
    found = study_reading.over_datasets(pd.Series([0.0, 0.2, 0.3, -0.1], index))
    means = np.array([0.1, 0.3, -0.1])
    half = stats.t.ppf(0.975, 2) * means.std(ddof=1) / np.sqrt(3)
    assert (found["datasets"], found["ahead"]) == (3, 2)
    assert_allclose([found["difference"], found["low"]], [0.1, 0.1 - half])
    assert_allclose(found["next_low"], 0.1 - half * np.sqrt(4))  # sqrt(1 + 1/3), not sqrt(1/3)
    drawn = pd.Series([9.0], pd.MultiIndex.from_tuples([("moons", 0)], names=index.names))
    with_drawn = study_reading.over_datasets(
        pd.concat([pd.Series([0.0, 0.2, 0.3, -0.1], index), drawn])
    )
    assert with_drawn == found, "worlds that were drawn are in no mean"
    with pytest.raises(ValueError, match="two data sets or more, got"):
        study_reading.over_datasets(pd.Series([0.1, 0.2], index[:2]))


@pytest.mark.parametrize(
    ("options", "verdict"),
    [
        ({}, "cannot tell"),  # .03 on average, of two data sets .01 apart
        ({"margin": -0.2}, "hit"),
        ({"margin": 0.04}, "miss"),
        ({"datasets": ("moons",)}, "hit"),
        ({"datasets": ("moons",), "margin": 0.03}, "miss"),
        ({"ahead": "RBF SVM, all columns", "behind": "stacking"}, "miss"),
    ],
)
def test_statements_hit_or_miss_or_cannot_tell(folder, options, verdict):
    asked = {"ahead": "stacking", "behind": "RBF SVM, all columns"} | options
    judged = study_reading.Statement("a", "b", **asked).judged(folder)
    assert judged["verdict"] == verdict
    assert judged["low"] <= judged["difference"] <= judged["high"]


def test_a_verdict_of_the_first_repeats(folder):
    asked = study_reading.Statement("a", "b", "stacking", "vote of views", datasets=("moons",))
    assert_allclose(asked.gaps(folder), [0.72, -0.08])
    assert_allclose(asked.gaps(folder, repeats=1), [0.72])
    both = study_reading.Statement("a", "b", "stacking", "vote of views")
    assert both.judged(folder, repeats=1)["difference"] == pytest.approx(0.73)
    assert both.judged(folder)["difference"] == pytest.approx(0.33)


# ---------------------------------------------------------------------------------- advice


@pytest.mark.parametrize("name", study_reading.statements("advice"))
def test_advice_holds_in_the_ledger(name):
    statement = study_reading.statements("advice")[name]
    assert statement.judged()["verdict"] == "hit", statement.text


def test_every_leaf_of_the_tree_has_its_evidence():
    advice, tree = study_reading.statements("advice"), study_reading.leaves()
    assert all(leaf["because"] in advice for leaf in tree)
    assert all("question" in leaf for leaf in tree[:-1]) and "question" not in tree[-1]


def test_what_is_recommended_for_own_tables_has_its_evidence():
    ahead = {statement.ahead for statement in study_reading.statements("advice").values()}
    assert {candidate.name for candidate in candidates.RECOMMENDED} <= ahead


def test_statements_name_what_the_study_has():
    known = {*study.CANDIDATES, *study_reading.FAMILIES}
    for kind, pool in (("advice", study_data.EXPLORED), ("transfer", study_data.HELD_OUT)):
        for statement in study_reading.statements(kind).values():
            for side in (statement.ahead, statement.behind):
                assert set([side] if isinstance(side, str) else side) <= known
            assert statement.measure in study.MEASURES and set(statement.datasets) <= set(pool)


def test_preregistered_statements_do_not_change():
    content = (study_reading.HERE / "transfer.toml").read_bytes()
    assert hashlib.sha256(content).hexdigest()[:16] == PREREGISTERED


def test_rows_of_a_data_set_are_not_those_of_another_whose_name_begins_alike():
    item, point = ITEMS["study.n100"], {"accuracy": [1.0], "validation": [1.0]}
    rows = [row for name in ("moons", "moons-disturbed") for row in rows_of({"MSL": point}, name)]
    found = engine_rows_of(item, "moons", pd.DataFrame(rows))
    assert set(found["dataset"]) == {"moons"} and len(found) == len(rows) / 2
