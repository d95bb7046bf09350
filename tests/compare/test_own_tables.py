"""compare_methods: equal treatment, honest differences, and runs that can be stopped."""

import pickle
import re
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse, stats
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import mvref
from mvref import MultiView, PerView, PerViewClassifier, compare_methods
from mvref.__main__ import main
from mvref.compare.candidates import ALL, REGRESSORS, candidate_of
from mvref.compare.comparison import Comparison
from mvref.compare.learners import CLASSIFIERS, FEW_COLUMNS
from mvref.compare.own_tables import in_split
from mvref.compare.plain import KNOWS, learners_for
from mvref.compare.seeds import derive_seed
from mvref.compare.splits import splits_of
from mvref.datasets import load_digits_views, load_iris_views, load_mfeat
from mvref.rivals import Concat

from .test_plain import question_of

QUICK = {"n_splits": 3, "n_repeats": 1, "n_folds": 2, "budget": 2, "verbose": False, "folder": None}
TREE, FOREST = DecisionTreeClassifier(random_state=0), RandomForestClassifier(5, random_state=0)
TREE_POINTS = [{"estimator__max_depth": 1}, {"estimator__max_depth": 4}]
OWN = {"tree": (Concat(TREE), TREE_POINTS), "forest": Concat(FOREST)}
DATA = {"iris": load_iris_views, "mfeat": load_mfeat, "digits": load_digits_views}
TIMED = ["fit_seconds"]


def few(name, n=120):
    data = DATA[name]()
    X = data.X.select(["fou", "mor"]) if name == "mfeat" else data.X
    rows = np.random.default_rng(0).permutation(len(data.y))[:n]
    return X[rows], data.y[rows]


@pytest.fixture(autouse=True)
def cheap(monkeypatch):
    """One learner; the others take the same way, and time."""
    monkeypatch.setattr(
        "mvref.compare.own_tables.learners_for", lambda X, K: learners_for(X, K)[:1]
    )


@pytest.fixture
def all_learners(monkeypatch):
    monkeypatch.setattr("mvref.compare.own_tables.learners_for", learners_for)


@pytest.fixture(scope="module")
def found():
    """A comparison on each of three data sets."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mvref.compare.own_tables.learners_for", lambda X, K: CLASSIFIERS[:1])
        return {name: compare_methods(*few(name), OWN, **QUICK) for name in DATA}


@pytest.mark.parametrize("name", DATA)
def test_it_is_what_nested_cross_validation_by_hand_gives(found, name):
    X, y = few(name)
    rows = found[name].rows
    outer = StratifiedKFold(3, shuffle=True, random_state=derive_seed(0, "outer", 0))
    for fold, (train, test) in enumerate(outer.split(y, y)):
        seed = derive_seed(0, "inner", 0, fold)
        inner = StratifiedKFold(2, shuffle=True, random_state=seed)
        points = {"estimator__max_depth": [1, 4]}
        search = GridSearchCV(Concat(TREE, random_state=0), points, cv=inner)
        of_split = rows[rows["split"] == fold].set_index("candidate")
        score = search.fit(X[train], y[train]).score(X[test], y[test])
        assert of_split.loc["tree", "score"] == score
        assert_allclose(of_split.loc["tree", "validation"], search.best_score_)
        forest = Concat(FOREST, random_state=0).fit(X[train], y[train])
        assert of_split.loc["forest", "score"] == forest.score(X[test], y[test])


def test_every_candidate_gets_the_same_number_of_points():
    with_space = [candidate_of(name) for name in ALL if ALL[name][2]]
    for candidate in with_space:
        continuous = any(isinstance(ends, tuple) for ends in candidate.space.values())
        for budget in (1, 4, 9):
            points = candidate.points(budget)
            assert len(points) == budget if continuous else 1 <= len(points) <= budget
            assert points == candidate.points(9)[: len(points)]
            for name, ends in candidate.space.items():
                values = [point[name] for point in points]
                inside = isinstance(ends, list) or all(ends[0] < v < ends[1] for v in values)
                assert inside, "no point lies at the edge"


def test_groups_reach_the_folds_that_a_candidate_makes():
    """A view says who it is and nothing of the class: a stack that sees people again trusts it."""
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(40), 6)
    y = (np.arange(40) % 2)[who]
    finger = rng.normal(size=(40, 10))[who] + rng.normal(0, 0.1, (240, 10))
    told = rng.normal(size=(240, 3)) + 0.6 * (2 * y - 1)[:, None]
    stack = PerViewClassifier(SVC(C=10.0), combine=LogisticRegression(), cv=3)
    found = compare_methods([finger, told], y, {"stack": stack}, groups=who, **QUICK)
    assert found.table.loc["stack", "score"] > 0.7


def a_view_that_is_noise_for_most(n=600, seed=0):
    """Two columns tell the class by the sign of their product; thirty others tell it too.

    But the thirty are noise for two samples of three, and the two are noise for the third: who does
    not know which columns belong together drowns the two among the thirty.
    """
    rng = np.random.default_rng(seed)
    sign = rng.choice([-1, 1], n)
    shape, spectrum = rng.uniform(-1, 1, (n, 2)), rng.normal(size=(n, 30))
    told = rng.random(n) < 0.35
    spectrum[told] += 4 * sign[told, None] / np.sqrt(30)
    shape[~told, 1] = np.abs(shape[~told, 1]) * np.sign(shape[~told, 0]) * sign[~told]
    return MultiView({"shape": shape, "spectrum": spectrum}), sign


def columns_in_two_heaps(n=1500, seed=0):
    """Twelve columns that are all alike, cut in two: nothing is gained by the cut."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    x = rng.normal(size=(n, 12)) + 0.65 * (2 * y - 1)[:, None]
    return MultiView.from_array(x, [6, 6]), y


def test_data_whose_views_are_worth_something_get_that_sentence(all_learners):
    X, y = a_view_that_is_noise_for_most()
    found = compare_methods(X, y, {}, **QUICK | {"n_splits": 5})
    assert "Treating the views separately improves accuracy over concatenation: " in found.summary
    assert "Using more than the best single view improves accuracy: " in found.summary


def test_who_knows_the_one_view_that_tells_is_of_neither_side():
    """One view tells the class, eight are noise: to know which one is not to use the views."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    told = rng.normal(size=(200, 5)) + 0.8 * (2 * y - 1)[:, None]
    X = MultiView([told, *rng.normal(size=(8, 200, 30))])
    found = compare_methods(X, y, {}, **QUICK)
    score = found.table["score"]
    assert score["logistic, best view"] > score["logistic, all columns"] + 0.05
    assert "Using more than the best single view" not in found.summary


def test_equal_candidates_are_told_apart_by_log_loss_too():
    told = (("first", -0.3), ("surest", -0.2), ("last", -0.4))
    rows = [(name, "a", "all", i, 0.5, 0.8, tie) for i in range(2) for name, tie in told]
    names = ["candidate", "learner", "knows", "split", "score", "validation", "tie"]
    found = Comparison(pd.DataFrame(rows, columns=names), "f1")
    assert found.best("all") == found.baseline == "surest"


def test_words_are_encoded_in_every_training_part():
    X, y = few("iris")
    kinds = np.array(["small", "wide", "tall"])[y]
    views = {"petal": X.views[0], "note": [f"it is {kind} {i}" for i, kind in enumerate(kinds)]}
    encode = PerView({"note": CountVectorizer()}, remainder="passthrough")
    seen = []

    class Watched(Concat):
        def fit(self, X, y):
            seen.append(X.widths[1])
            return super().fit(X, y)

    found = compare_methods(views, y, {"watched": Watched(TREE)}, encode=encode, **QUICK)
    assert not len(found.failures)
    assert found.table.loc["watched", "score"] > 0.9
    # Numbers of samples are words, too: nobody has read those of the other parts.
    assert max(seen) <= 3 + 2 + 80
    with pytest.raises(ValueError, match=r"views \['note'\] contain text or categories"):
        compare_methods(views, y, {}, **QUICK)
    with pytest.raises(ValueError, match="encode must be a transformer, got 'tfidf'"):
        compare_methods(views, y, {}, encode="tfidf", **QUICK)


def test_from_the_shell(tmp_path, capsys):
    X, y = few("iris", 60)
    for name, view in zip(X.names, X.views, strict=True):
        pd.DataFrame(view).add_prefix("x").assign(id=range(len(y))).to_csv(
            tmp_path / f"{name}.csv", index=False
        )
    pd.DataFrame({"id": range(len(y)), "kind": y}).to_csv(tmp_path / "y.csv", index=False)
    words = ["--target", "kind", "--methods", "KMHKS", "--budget", "1"]
    words += ["--splits", "3", "--repeats", "1"]
    words += ["--report", str(tmp_path / "page.html"), "--missing-later", "any", "--scoring"]
    assert main(["compare-tables", str(tmp_path), *words, "balanced_accuracy"]) == 0
    out = capsys.readouterr().out
    assert "petal.csv: 60 rows" in out and "KMHKS" in out and "balanced_accuracy" in out
    assert "The report: " in out and (tmp_path / "page.html").stat().st_size > 5000
    assert re.search(r"3 splits in \d+ s\.", out)


def test_who_fails_is_told_and_the_others_go_on():
    X, y = few("iris")
    comparison = compare_methods(X, y, [Failing(), "Concat"], **QUICK)
    assert set(comparison.failures["failure"]) == {"RuntimeError: no luck today"}
    assert "Failing" not in comparison.table.index and "Concat" in comparison.table.index
    assert "Failing failed: RuntimeError: no luck today" in str(comparison)


class Failing(ClassifierMixin, BaseEstimator):
    """It fails where it is fitted on few samples, as some do."""

    def fit(self, X, y):
        raise RuntimeError("no luck today")


def test_the_table_has_everybody(found):
    comparison = found["digits"]
    table, rows = comparison.table, comparison.rows
    learner = CLASSIFIERS[0].name
    plain = {f"{learner}, {use}" for use in KNOWS if use != "views"}
    plain |= {f"stack, {use}" for use in KNOWS if use != "late fusion"}
    assert set(table.index) == plain | set(OWN) | {"nothing"}
    scores = rows.pivot(index="split", columns="candidate", values="score")
    assert_allclose(table["score"], scores.mean()[table.index])
    right = rows.set_index(["candidate", "split"])["parts"]
    d = np.concatenate([right["forest", i] - right[comparison.baseline, i] for i in range(3)])
    row = table.loc["forest", ["difference", "low", "high"]].astype(float)
    assert_allclose(row["difference"], d.mean())
    half = stats.t.ppf(0.975, len(d) - 1) * d.std(ddof=1) / np.sqrt(len(d))
    of_splits = scores["forest"] - scores[comparison.baseline]
    splits = stats.t.ppf(0.975, 2) * of_splits.std() * np.sqrt(1 / 3 + 1 / 2)
    assert (
        0.999 * max(half, splits) <= (row["high"] - row["low"]) / 2 < max(1.5 * half, splits) + 1e-9
    )
    assert not table.loc[comparison.baseline, ["difference", "low", "high"]].any()
    assert str(comparison).endswith(comparison.summary)
    assert len(comparison.plot().get_yticks()) == len(table) - 1  # without nothing
    assert pickle.loads(pickle.dumps(comparison)).table.equals(table)


def test_another_score_has_the_corrected_interval():
    X, y = few("iris")
    found = compare_methods(X, y, {}, scoring="f1_weighted", **QUICK)
    rows = found.rows.pivot(index="split", columns="candidate", values="score")
    behind, name = found.baseline, found.table.index[found.table.index != found.baseline][0]
    d, ratio = rows[name] - rows[behind], (found.rows["n_test"] / found.rows["n_train"]).mean()
    half = stats.t.ppf(0.975, len(d) - 1) * np.sqrt(d.var() * (1 / len(d) + ratio))
    assert_allclose(found.table.loc[name, "high"], d.mean() + half)


def test_few_columns_join_where_there_are_more_columns_than_samples():
    X, y = few("iris", 20)
    wide = MultiView([np.hstack([X.views[0]] * 11), X.views[1]])
    assert set(learners_for(wide, 3)) - set(learners_for(X, 3)) == {FEW_COLUMNS}


def test_every_estimator_is_a_candidate():
    known = {name for name, method in mvref.all_methods().items() if hasattr(method, "predict")}
    assert known == set(ALL) | set(REGRESSORS)
    X, _ = few("iris")
    for name in known:
        candidate = candidate_of(name, numbers=name in REGRESSORS)
        candidate.build(candidate.points(1)[0], X, seed=0)


def test_a_learner_that_fails_in_one_use_leaves_all_families(monkeypatch, all_learners):
    X, y = few("iris")
    monkeypatch.setattr(type(CLASSIFIERS[1]), "prepare", lambda *_: 1 / 0)
    found = compare_methods(X, y, {}, **QUICK)
    assert "RBF SVM" not in set(found.plain["learner"])
    assert "as a fit failed (see failures): RBF SVM." in found.summary
    assert "ZeroDivisionError" in found.failures["failure"].iloc[0]


class Unlearnt(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self


class Reader(Unlearnt):
    """It says what stands in a view."""

    def __init__(self, view=0):
        self.view = view

    def predict(self, X):
        return X.views[self.view][:, 0]


def test_the_interval_is_one_of_whole_groups_and_does_not_shrink_by_repeats():
    """That of the jackknife over groups, for answers that are the same in both repeats."""
    rng = np.random.default_rng(0)
    y, who = rng.integers(0, 2, 300), rng.integers(0, 40, 300)
    wrong = (rng.random(40) < 0.4)[who], rng.random(300) < 0.3
    views = [np.where(of, 1 - y, y)[:, None] for of in wrong]
    methods = {"a": Reader(0), "b": Reader(1)}
    found = compare_methods(views, y, methods, groups=who, **QUICK | {"n_repeats": 2})
    d = np.subtract(*wrong, dtype=float)
    without = [d[who != group].mean() for group in range(40)]
    half = stats.t.ppf(0.975, 39) * np.sqrt(39 * np.var(without))
    mean, low, high = found._interval(found.complete, ["b"], ["a"])
    assert_allclose([mean, (low + high) / 2], d.mean())
    assert_allclose((high - low) / 2, half, rtol=0.1)


def rows_where_validation_and_test_differ():
    """Who looks good to the inner folds is not who looks good to the test part."""
    told = [("good inside", 0.9, 0.2), ("good outside", 0.1, 1.0)]
    rows = [
        (f"{name}, {knows}", knows, name, split, outside if knows == "all" else 0.5, inside, 0.0)
        for split in range(2)
        for knows in ("none", "which", "all")
        for name, inside, outside in told
    ]
    names = ["candidate", "knows", "learner", "split", "score", "validation", "tie"]
    return Comparison(pd.DataFrame(rows, columns=names).assign(n_train=80, n_test=20), "f1")


def test_the_choice_of_a_family_is_not_made_by_the_test_part():
    comparison = rows_where_validation_and_test_differ()
    assert comparison.best("all") == "good inside, all"
    assert_allclose(comparison.worth_of_views()[0], -0.3)  # .2 of those who look good inside
    assert comparison.baseline.startswith("good inside")
    best = comparison.rows.assign(score=1 - comparison.rows["score"])
    assert Comparison(best, "f1").baseline == comparison.baseline


SMALL = {"n_splits": 3, "n_repeats": 1, "n_folds": 2, "budget": 1, "verbose": False}


def test_an_interrupted_run_returns_what_is_done_and_goes_on(tmp_path, monkeypatch):
    X, y = few("iris")
    whole = compare_methods(X, y, ["KMHKS"], **SMALL, folder=None).rows.drop(columns=TIMED)
    calls = []

    def stopped(question, split, *more):
        calls.append(split.number)
        if split.number == 1 and calls.count(1) == 1:
            raise KeyboardInterrupt
        return in_split(question, split, *more)

    monkeypatch.setattr("mvref.compare.own_tables.in_split", stopped)
    part = compare_methods(X, y, ["KMHKS"], folder=tmp_path, **SMALL)
    assert part.rows["split"].nunique() == 1 and "1 of 3 splits were completed" in part.summary
    done = list(tmp_path.rglob("output.pkl"))
    again = compare_methods(X, y, ["KMHKS"], folder=tmp_path, **SMALL)
    pd.testing.assert_frame_equal(again.rows.drop(columns=TIMED), whole)
    assert set(done) < set(tmp_path.rglob("output.pkl")), "what was done is not done again"
    other = compare_methods(X, y, ["KMHKS"], folder=tmp_path, random_state=1, **SMALL)
    assert not other.rows["score"].equals(again.rows["score"]), "another seed is another run"
    n = len(list(tmp_path.rglob("output.pkl")))
    compare_methods(X, y, ["KMHKS", "Concat"], folder=tmp_path, **SMALL)
    assert len(list(tmp_path.rglob("output.pkl"))) == n + 3, "one more method is one more job"
    monkeypatch.setattr("mvref.compare.own_tables.__version__", "0.0")
    compare_methods(X, y, {}, folder=tmp_path, **SMALL)
    assert len(list(tmp_path.rglob("output.pkl"))) > n + 3, "rows of another version are not taken"
    for path in tmp_path.rglob("output.pkl"):  # killed while it was written
        path.write_bytes(b"torn")
    again = compare_methods(X, y, {}, folder=tmp_path, **SMALL)
    plain = whole[whole["candidate"] != "KMHKS"]
    assert again.rows["score"].tolist() == plain["score"].tolist()


def test_nothing_done_is_an_interrupt(monkeypatch):
    def stopped(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("mvref.compare.own_tables.in_split", stopped)
    with pytest.raises(KeyboardInterrupt):
        compare_methods(*few("iris"), {}, **QUICK)


def test_a_time_limit_is_kept_and_one_split_is_there():
    X, y = few("iris")
    found = compare_methods(X, y, {}, time_limit=0.0, **QUICK)
    assert found.rows["split"].nunique() == 1
    low, high = found.worth_of_views()[1:]
    assert high - low > 0.1  # one split of 40 samples tells little
    with pytest.raises(ValueError, match="time_limit must be a number >= 0, got 'long'"):
        compare_methods(X, y, {}, time_limit="long", **QUICK)


class Slow(Unlearnt):
    def fit(self, X, y):
        end = time.process_time() + 0.7
        while time.process_time() < end:
            pass
        return super().fit(X, y)

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


def test_who_takes_longer_than_all_others_is_last(capsys):
    X, y = few("iris")
    options = SMALL | {"verbose": True, "folder": None}
    found = compare_methods(X, y, {"slow": Slow(), "tree": OWN["tree"]}, **options)
    assert "slow: slower than all other methods, computed last" in capsys.readouterr().out
    other = compare_methods(X, y, {"slow": OWN["tree"], "tree": OWN["tree"]}, **options)
    pd.testing.assert_frame_equal(  # as if it were quick
        *(rows[["split", "candidate"]] for rows in (found.rows, other.rows))
    )


def test_rows_are_the_same_with_other_workers():
    X, y = few("iris")
    one, two = (
        compare_methods(X, y, ["Concat"], n_jobs=n, **SMALL, folder=None).rows.drop(columns=TIMED)
        for n in (1, 2)
    )
    pd.testing.assert_frame_equal(one, two)


def test_what_cannot_be_kept_is_compared_all_the_same(tmp_path):
    class Local(Reader):
        def predict(self, X):
            return np.full(len(X), self.classes_[0])

    found = compare_methods(*few("iris"), {"local": Local()}, folder=tmp_path, **SMALL)
    assert "local" in found.table.index


def test_a_disk_that_is_full_costs_no_method(tmp_path, monkeypatch):
    X, y = few("iris")

    def full(*args, **options):
        raise OSError("No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("joblib.numpy_pickle.dump", full)
        with pytest.warns(Warning, match="No space left on device"):
            found = compare_methods(X, y, {}, folder=tmp_path / "full", **SMALL)
        assert not len(found.failures)
        backend = "joblib._store_backends.FileSystemStoreBackend"
        patch.setattr(f"{backend}.store_cached_func_code", full)
        with pytest.raises(ValueError, match="is not writable: No space"):
            compare_methods(X, y, {}, folder=tmp_path / "closed", **SMALL)


def test_the_folder_is_that_of_the_cache_unless_there_is_none(tmp_path, monkeypatch, capsys):
    X, y = few("iris")
    loud = SMALL | {"verbose": True}
    monkeypatch.setenv("MVREF_CACHE", str(tmp_path))
    compare_methods(X, y, {}, **loud)
    assert f"kept in {tmp_path / 'comparisons'}" in capsys.readouterr().out
    assert list((tmp_path / "comparisons").rglob("output.pkl"))
    (tmp_path / "file").touch()
    monkeypatch.setenv("MVREF_CACHE", str(tmp_path / "file"))
    compare_methods(X, y, {}, **loud)
    assert "kept in" not in capsys.readouterr().out


KEYS = """
import joblib
from sklearn.tree import DecisionTreeClassifier
from mvref.datasets import load_iris_views
from mvref.compare.candidates import RECOMMENDED, candidate_of
data = load_iris_views()
own = candidate_of("own", (DecisionTreeClassifier(max_depth=2), [{"max_depth": 1}]))
found = [c.key(4) for c in (*RECOMMENDED, own)]
found.append(joblib.hash((data.X, data.y, None, None, 5, 2, 3, 0, "accuracy")))
"""


def test_another_process_finds_what_is_done():
    here = {}
    exec(KEYS, here)
    command = [sys.executable, "-c", KEYS + "print(found)"]
    there = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert there.strip() == str(here["found"])


def test_who_must_not_know_the_views_does_not(all_learners):
    """The same columns, cut in another way."""
    X, y = few("iris", 90)
    columns = X.concat()
    methods = ["SVMPerf", "FMClassifier", "Concat"]
    scores = []
    for widths in ([1, 3], [2, 2]):
        found = compare_methods(MultiView.from_array(columns, widths), y == 2, methods, **QUICK)
        assert not len(found.failures)
        blind = found.rows[found.rows["knows"] == "none"]
        scores.append(blind.pivot(index="split", columns="candidate", values="score"))
    assert {*methods, "stack, all columns"} < set(scores[0])
    pd.testing.assert_frame_equal(*scores)


def test_how_a_view_is_stored_does_not_matter(all_learners):
    """Labs in unlike units beside a view of few values, stored dense and sparse."""
    rng = np.random.default_rng(0)
    y = np.arange(90) % 2
    labs = rng.normal(size=(90, 6)) * 10.0 ** np.arange(6) + y[:, None]
    noise = sparse.random(90, 40, density=0.1, random_state=0, format="csr")
    tables = []
    for views in ((labs, noise), (sparse.csr_matrix(labs), noise.toarray())):
        found = compare_methods(dict(zip(("labs", "text"), views, strict=True)), y, [], **QUICK)
        tables.append(found.rows.drop(columns=TIMED))
    pd.testing.assert_frame_equal(*tables)


def test_groups_stay_together_inside_and_outside():
    X, y = few("iris")
    groups = np.arange(len(y)) // 4
    for split in splits_of(question_of(X, y, groups=groups), 3, 2, 2):
        assert not set(groups[split.train]) & set(groups[split.test])
        for fit, check in split.folds:
            inside = groups[split.train]
            assert not set(inside[fit]) & set(inside[check])
            assert set(fit) | set(check) == set(range(len(split.train)))


def test_equal_labels_are_no_proof_of_no_effect():
    y = np.arange(20) % 2
    views = [np.random.default_rng(k).normal(size=(20, 3)) + 6.0 * y[:, None] for k in (0, 1)]
    found = compare_methods(views, y, {}, **QUICK)
    mean, low, high = found.worth_of_views()
    assert mean == 0.0 and -0.16 < low < -0.12 and 0.12 < high < 0.16  # 1 - .05 ** (1 / 20)
    assert found.summary.count("Inconclusive") == 2
    needed = float(re.search(r"would need about ([\d,]+)", found.summary)[1].replace(",", ""))
    assert needed > 200


def sentences(low, high, ahead="all", behind=("none", "which")):
    """The sentences of a comparison whose interval is this one, of a score that is no mean."""
    mean, half = (low + high) / 2, (high - low) / 2
    n = 5
    spread = half / stats.t.ppf(0.975, n - 1) / np.sqrt(1 / n + 0.25)
    d = np.array([-2, -1, 0, 1, 2]) / np.sqrt(2.5) * spread + mean
    names = ["candidate", "learner", "knows", "split", "score", "validation", "tie"]
    rows = [("several", "a", ahead, i, 0.5 + d[i], 0.6, 0) for i in range(n)]
    rows += [(kind, "a", kind, i, 0.5, 0.5, 0) for i in range(n) for kind in behind]
    found = Comparison(pd.DataFrame(rows, columns=names).assign(n_train=80, n_test=20), "f1")
    assert_allclose(found.worth_of_views(), [mean, low, high], atol=1e-12)
    assert_allclose(found.worth_of_more_views(), [mean, low, high], atol=1e-12)
    return found.summary.split("\n")


@pytest.mark.parametrize(
    ("low", "high", "one_view", "views"),
    [
        (0.01, 0.05, "more than the best single view improves f1", "separately improves f1"),
        (-0.05, -0.01, "single view has a higher f1 than", "separately lowers f1"),
        (-0.005, 0.008, "single view is sufficient", "separately changes f1 by at most 0.01"),
        (-0.02, 0.008, "single view is sufficient", "whether treating the views separately"),
        (-0.005, 0.02, "whether a single view", "whether treating the views separately"),
    ],
)
def test_the_sentences(low, high, one_view, views):
    first, second, third = sentences(low, high)
    assert one_view in first and views in second
    seen = (high - low) / 2 * (1 + 0.8416 / 1.96)
    assert third.startswith(
        f"With 100 samples a difference of {seen:.3f} is detected with 80 % power"
    )
    needed = float(third.rpartition(" about ")[2].removesuffix(" samples.").replace(",", ""))
    assert needed >= 0.9 * 100 * (seen / 0.01) ** 2  # one digit is told


def test_equal_folds_are_told_apart_by_log_loss():
    """Every point of a scaled logistic regression is right on the folds; the surest is taken."""
    X, y = few("iris")
    found = compare_methods(X, y == 0, {}, **QUICK | {"budget": 4})
    sure = found.rows[found.rows["candidate"] == "logistic, all columns"]
    assert (sure["validation"] == 1.0).all()
    points = CLASSIFIERS[0].points(4)
    assert set(sure["point"]) == {repr(max(points, key=lambda point: point["C"]))}
    assert "no errors, and single features determine the class: ['petal__" in found.summary


def test_default_folds_shrink_to_the_rarest_class():
    X, y = few("iris", 60)
    rows = np.r_[np.flatnonzero(y != 2), np.flatnonzero(y == 2)[:3]]
    options = {"budget": 1, "n_repeats": 1, "verbose": False, "folder": None}
    with pytest.warns(UserWarning, match="n_splits was reduced to 3, the number") as told:
        found = compare_methods(X[rows], y[rows], {}, **options)
    assert any(
        "n_folds was reduced to 2, the" in str(warning.message) for warning in told
    )  # 2 are left
    three = np.where(y == 2, np.arange(60) % 3, 3 + np.arange(60))  # groups of that class
    with pytest.warns(UserWarning, match="n_splits was reduced to 3"):
        assert len(splits_of(question_of(X, y, groups=three), None, 1, 2)) == 3
    assert found.rows["split"].nunique() == 3
    with pytest.raises(ValueError, match=r"n_splits=5 is larger than the number .* class, 3\."):
        compare_methods(X[rows], y[rows], {}, n_splits=5, **options)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_gaps_are_taken_as_they_are(kind, all_learners):
    X, y = few("iris")
    observed = X.drop_views(0.3, random_state=0).observed
    gaps = MultiView([kind(view) for view in X.views]).with_observed(observed)
    comparison = compare_methods(gaps, y, **QUICK)
    assert not len(comparison.failures)
    around = {f"{learner.name}, {use}" for learner in CLASSIFIERS
              for use in ("reduced models", "modality dropout")}  # fmt: skip
    assert around | {"gaps only"} < set(comparison.table.index)
    rest = comparison.table.drop(index=["nothing", "gaps only"])
    assert (rest["score"] > 0.6).all()


def test_who_was_measured_is_told_from_what_was_measured():
    rng = np.random.default_rng(0)
    y, labs, scan = rng.integers(2, size=200), *rng.normal(size=(2, 200, 5))
    scan[rng.random(200) < np.where(y == 1, 0.2, 0.8)] = np.nan
    found = compare_methods({"labs": labs, "scan": scan}, y, [], **QUICK)
    first, second = found.summary.split("\n")[:2]
    assert first.startswith("Whether view 'scan' is missing depends on the outcome (p = ")
    assert second.startswith("No method is clearly better than a model that only knows which views")
    assert "separately improves" not in found.summary
    assert found.complete_samples.rows["n_test"].sum() == np.isfinite(scan[:, 0]).sum() * 7
    assert "better than a constant prediction" in found.complete_samples.summary


def test_a_view_that_a_class_never_has_costs_no_plain_method():
    X, y = few("iris")
    observed = np.ones((len(y), 2), dtype=bool)
    observed[y != y[0], 1] = False
    found = compare_methods(X.with_observed(observed), y, [], **QUICK)
    assert "Whether view 'petal' is missing depends on the outcome" in found.summary
    assert "logistic, late fusion" in found.table.index


def test_views_that_will_be_missing():
    X, y = few("iris")
    found = compare_methods(X, y, [], missing_later="any", **QUICK)
    table = found.later
    assert table.columns.tolist() == ["without sepal", "without petal", "regret"]
    assert_allclose(table["regret"], (table.iloc[:, :2].max() - table.iloc[:, :2]).max(axis=1))
    rows = found.rows[found.rows["missing"] == "without petal"].set_index("candidate")
    split = splits_of(found.question, 3, 1, 2)[0]
    model = LogisticRegression(C=1000.0)
    one = rows.loc["logistic, reduced models"].query("split == 0").iloc[0]
    sepal = X.views[0]
    told = make_pipeline(mvref.compare.columns.Columns(), model).fit(
        sepal[split.train], y[split.train]
    )
    assert abs(one["score"] - told.score(sepal[split.test], y[split.test])) < 0.1
    assert (
        "If views are missing later (without petal): difference of logistic (the" in found.summary
    )
    shares = compare_methods(X, y, [], missing_later={"petal": 0.5}, **QUICK).later
    assert shares.columns.tolist() == ["without petal (50%)", "regret"]
    whole = found.table["score"]
    assert (shares.iloc[:, 0] <= whole[shares.index] + 0.05).all()


def test_the_winner_is_ready():
    X, y = few("iris")
    labels = np.array(["a", "b", "c"])[y]
    found = compare_methods(X, labels, ["Concat"], missing_later="petal", **QUICK)
    names = [
        "logistic, late fusion",
        "stack, views",
        "logistic, modality dropout",
        "Concat",
        "nothing",
    ]
    for name in (None, *names):
        model = found.fit_best(X, labels, name)
        told = model.predict({"petal": X.views[1][:5], "sepal": X.views[0][:5]})
        assert set(told) <= {"a", "b", "c"}
        assert model.score(X, labels) > 0.85 or name == "nothing"
    with pytest.raises(ValueError, match="name must be one of"):
        found.fit_best(X, labels, "luck")


def test_the_winner_of_words_is_a_pipeline_that_reads_them():
    X, y = few("iris")
    views = {"petal": X.views[1], "note": [f"it is {k} today" for k in y]}
    encode = PerView({"note": CountVectorizer(token_pattern=r"\S+")}, remainder="passthrough")
    found = compare_methods(views, y, [], encode=encode, **QUICK)
    assert found.fit_best(views, y, "stack, all columns").score(views, y) == 1.0


def test_a_continuous_outcome():
    data = load_diabetes()
    X = MultiView({"body": data.data[:150, :4], "blood": data.data[:150, 4:]})
    y = data.target[:150] + 0.5
    found = compare_methods(X, y, ["FMRegressor"], missing_later="any", **QUICK)
    assert found.scoring == "r2" and found.failures.empty
    assert {"ridge, late fusion", "ridge, reduced models", "stack, views"} < set(found.table.index)
    assert found.table.loc["nothing", "score"] < 0.05 < found.table["score"].max()
    assert found.fit_best(X, y).score(X, y) > 0.2
    whole = compare_methods(X, data.target[:150], [], scoring="neg_mean_absolute_error", **QUICK)
    best = whole.table.drop(index="nothing")["score"]
    assert (best > whole.table.loc["nothing", "score"]).all()


def test_a_page_without_outside_resources(tmp_path):
    X, y = few("iris")
    X = MultiView({"<b>": X.views[0], "petal": X.views[1]})
    found = compare_methods(X, y, {"mine & yours": Concat(TREE)}, missing_later="any", **QUICK)
    page = found.report(tmp_path / "views.html").read_text(encoding="utf-8")
    assert "mine &amp; yours" in page and "&lt;b&gt; (2)" in page and "<b>" not in page
    assert "http" not in page and "src=" not in page
    assert page.count("<svg") == len(found.table)
    for line in found.summary.split("\n"):
        assert line.split(":")[0].replace("<b>", "&lt;b&gt;")[:30] in page
    assert found._repr_html_() in page and f"mvref {mvref.__version__}" in page


IDS = [f"p{i}" for i in range(120)]
NAMED = {"X": [pd.DataFrame(np.eye(120)[:, :2], IDS)] * 2}
OTHERS = pd.Series(0, IDS[::-1])
WRONG = [
    *((NAMED | {name: OTHERS}, f"{name} has the ids of X in another") for name in ("y", "groups")),
    ({"methods": ["SVM9"]}, "methods must be 'recommended' or among"),
    ({"methods": ["MVMRegressor"]}, "methods must be"),
    ({"methods": None}, "methods must be 'recommended' or among"),
    ({"methods": 3}, "must be a scikit-learn classifier, got 3"),
    ({"methods": [Concat(TREE), Concat(FOREST)]}, r"repeated names, \['Concat', 'Concat'\]"),
    (
        {"methods": {"mine": StratifiedKFold()}},
        r"methods\['mine'\] must be a scikit-learn classifier",
    ),
    ({"n_splits": 60}, "n_splits=60 is larger than"),
    ({"budget": 0}, "budget must be an integer >= 1"),
    ({"n_folds": 1}, "n_folds must be an integer >= 2"),
    ({"scoring": "beauty"}, "beauty"),
    ({"groups": [1, 2]}, "groups has 2 labels"),
    ({"groups": [None] + [1] * 119}, "groups must have a label for every sample"),
    ({"y": None}, "compare_methods requires y"),
    ({"y": np.zeros((120, 2))}, "y has 2 labels for each sample, only one is allowed. Compare one"),
    ({"y": [None] + ["a", "b"] * 59 + ["a"]}, "y must have a label for every sample"),
    (
        {"y": np.arange(120) % 60 + 7 * (np.arange(120) == 3)},
        "If y is a continuous outcome in integers, use scoring='r2'",
    ),
    ({"y": np.arange(120) / 7, "methods": ["MVLSVM"]}, "FMRegressor"),
    ({"X": np.zeros((120, 3))}, "X has a single view"),
    ({"X": [np.full((120, 1), np.nan)] * 2}, "no view at all"),
    ({"missing_later": "nose"}, "missing_later must be 'any', names of views in"),
    ({"missing_later": {"petal": 2}}, r"missing_later\['petal'\] must be a number >= 0 and <= 1"),
]


@pytest.mark.parametrize(("wrong", "words"), WRONG, ids=range(len(WRONG)))
def test_wrong_arguments(wrong, words):
    X, y = few("iris")
    with pytest.raises(ValueError, match=words):
        compare_methods(**{"X": X, "y": y, "methods": {}} | QUICK | wrong)
