"""compare_methods: equal treatment, honest differences, and runs that can be stopped."""

import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse, stats
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import mvref
from mvref import MultiView, PerView, PerViewClassifier, compare_methods
from mvref.__main__ import main
from mvref.compare.candidates import ALL, Candidate, candidate_of
from mvref.compare.comparison import WORDS
from mvref.compare.own_tables import Comparison, by_sample, outer_splits
from mvref.compare.plain import PLAIN, REDUCED, plain_methods
from mvref.compare.seeds import derive_seed
from mvref.datasets import load_digits_views, load_iris_views, load_mfeat
from mvref.rivals import Concat

QUICK = {"n_splits": 3, "n_repeats": 1, "n_folds": 2, "budget": 2, "verbose": False}
CHEAP = [c for c in PLAIN if c.learner == "logistic"]  # a family of one learner
TREE, FOREST = DecisionTreeClassifier(random_state=0), RandomForestClassifier(5, random_state=0)
TREE_POINTS = [{"estimator__max_depth": 1}, {"estimator__max_depth": 4}]
OWN = {"tree": (Concat(TREE), TREE_POINTS), "forest": Concat(FOREST)}
DATA = {"iris": load_iris_views, "mfeat": load_mfeat, "digits": load_digits_views}


def few(name, n=120):
    data = DATA[name]()
    X = data.X.select(["fou", "mor"]) if name == "mfeat" else data.X
    rows = np.random.default_rng(0).permutation(len(data.y))[:n]
    return X[rows], data.y[rows]


@pytest.fixture(autouse=True)
def cheap(monkeypatch):
    """Families of one learner; the others take the same way, and time."""
    monkeypatch.setattr("mvref.compare.own_tables.plain_methods", lambda X: CHEAP)


@pytest.fixture
def all_learners(monkeypatch):
    monkeypatch.setattr("mvref.compare.own_tables.plain_methods", plain_methods)


@pytest.fixture(scope="module")
def found():
    """A comparison on each of three data sets."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mvref.compare.own_tables.plain_methods", lambda X: CHEAP)
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


def test_the_table_has_everybody_and_the_interval_of_samples(found):
    comparison = found["digits"]
    table, rows = comparison.table, comparison.rows
    assert set(table.index) == {c.name for c in CHEAP} | set(OWN)
    scores = rows.pivot(index="split", columns="candidate", values="score")
    assert_allclose(table["score"], scores.mean()[table.index])
    right = rows.set_index(["candidate", "split"])["parts"]
    d = np.concatenate([right["forest", i] - right[comparison.baseline, i] for i in range(3)])
    half = stats.t.ppf(0.975, len(d) - 1) * d.std(ddof=1) / np.sqrt(len(d))
    row = table.loc["forest"]
    interval = [d.mean(), d.mean() - half, d.mean() + half]
    assert_allclose(row[["difference", "low", "high"]].astype(float), interval)
    assert not table.loc[comparison.baseline, ["difference", "low", "high"]].any()
    assert str(comparison).endswith(comparison.summary)
    axes = comparison.plot()
    assert len(axes.get_yticks()) == len(table)


@pytest.mark.parametrize("scoring", ["accuracy", "balanced_accuracy", "roc_auc"])
@pytest.mark.parametrize("model", [LogisticRegression(), TREE, SVC()])
def test_parts_of_a_score_are_its_slopes_in_the_weights_of_the_samples(scoring, model):
    """Their mean is the score; their variance over n that of the infinitesimal jackknife."""
    X, y = few("iris")
    X, y = X.concat()[:, :2], np.array(["no", "yes"])[(y == 1).astype(int)]
    model, score = model.fit(X[:40], y[:40]), get_scorer(scoring)
    whole, step = score(model, X[40:], y[40:]), 1e-6
    more = [score(model, X[40:], y[40:], sample_weight=w) for w in 1 + step * np.eye(80)]
    slopes = 80 * (np.array(more) - whole) / step
    assert_allclose(by_sample(scoring, model, X[40:], y[40:]), whole + slopes, atol=1e-4)


def test_another_score_has_the_corrected_interval():
    X, y = few("iris")
    found = compare_methods(X, y, {}, scoring="f1_macro", **QUICK)
    rows = found.rows.pivot(index="split", columns="candidate", values="score")
    behind, name = found.baseline, found.table.index[found.table.index != found.baseline][0]
    d, ratio = rows[name] - rows[behind], (found.rows["n_test"] / found.rows["n_train"]).mean()
    half = stats.t.ppf(0.975, len(d) - 1) * np.sqrt(d.var() * (1 / len(d) + ratio))
    assert_allclose(found.table.loc[name, "high"], d.mean() + half)


def test_families_are_equal_and_one_machine_where_there_is_one_view():
    X, y = few("iris")
    for views in (X, few("digits")[0]):
        kinds = pd.Series([c.knows for c in plain_methods(views)]).value_counts()
        assert kinds.nunique() == 1 and set(kinds.index) == {"none", "which", "all"}
    X = X.select(["petal"])
    for learner in {c.learner for c in plain_methods(X)} - {"stack"}:
        plain = [c for c in PLAIN if c.learner == learner]
        for points in zip(*(c.points_of(X, 3) for c in plain), strict=True):
            assert {name: v for name, v in points[1].items() if name != "view"} == points[0]
            models = [c.build(p, X, seed=0) for c, p in zip(plain, points, strict=True)]
            told = [model.fit(X, y == 1).predict(X) for model in models]
            if learner != "extra trees":  # a vote gives its members seeds of its own
                assert (told[0] == told[1]).all() and (told[0] == told[2]).all()


def test_few_columns_join_where_there_are_more_columns_than_samples():
    X, y = few("iris", 20)
    wide = MultiView([np.hstack([X.views[0]] * 11), X.views[1]])
    learners = {c.learner for c in plain_methods(wide)}
    assert learners - {c.learner for c in plain_methods(X)} == {"RBF SVM of few columns"}


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


def test_every_classifier_is_a_candidate():
    known = {name for name, method in mvref.all_methods().items() if hasattr(method, "predict")}
    assert {name for name in known if "Regressor" not in name} == set(ALL)
    X, _ = few("iris")
    for name in ALL:
        candidate = candidate_of(name)
        candidate.build(candidate.points(1)[0], X, seed=0)


class Failing(ClassifierMixin, BaseEstimator):
    """It fails where it is fitted on few samples, as some do."""

    def fit(self, X, y):
        raise RuntimeError("no luck today")


def test_who_fails_is_told_and_the_others_go_on():
    X, y = few("iris")
    comparison = compare_methods(X, y, [Failing(), "Concat"], **QUICK)
    assert set(comparison.failures["failure"]) == {"RuntimeError: no luck today"}
    assert "Failing" not in comparison.table.index and "Concat" in comparison.table.index
    assert "Failing failed: RuntimeError: no luck today" in str(comparison)


def test_a_learner_that_fails_in_one_use_leaves_all_families(monkeypatch):
    X, y = few("iris")
    broken = Candidate(
        "logistic, best view", "which", lambda X, view: Failing(), learner="logistic"
    )
    others = [c for c in PLAIN if c.learner in ("logistic", "RBF SVM") and c.name != broken.name]
    monkeypatch.setattr("mvref.compare.own_tables.plain_methods", lambda X: [broken, *others])
    found = compare_methods(X, y, {}, **QUICK)
    assert set(found.plain["learner"]) == {"RBF SVM"}
    assert "Without logistic, which failed in one of its uses" in found.summary
    assert "logistic, all columns" in found.table.index


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


def test_the_interval_is_one_of_whole_groups_and_does_not_shrink_by_repeats(monkeypatch):
    """That of the jackknife over groups, for answers that are the same in both repeats."""
    plain = [Candidate(k, k, lambda X, **_: Reader(), learner="a") for k in WORDS]
    monkeypatch.setattr("mvref.compare.own_tables.plain_methods", lambda X: plain)
    rng = np.random.default_rng(0)
    y, who = rng.integers(0, 2, 300), rng.integers(0, 40, 300)
    wrong = (rng.random(40) < 0.4)[who], rng.random(300) < 0.3
    views = [np.where(of, 1 - y, y)[:, None] for of in wrong]
    found = compare_methods(views, y, {"b": Reader(1)}, groups=who, **QUICK | {"n_repeats": 2})
    d = np.subtract(*wrong, dtype=float)
    without = [d[who != group].mean() for group in range(40)]
    half = stats.t.ppf(0.975, 39) * np.sqrt(39 * np.var(without))
    mean, low, high = found.table.loc["b", ["difference", "low", "high"]]
    assert_allclose([mean, (low + high) / 2], d.mean())
    assert_allclose((high - low) / 2, half, rtol=0.05)


class Liar(Unlearnt):
    """Somebody who looks good to the inner folds, or to the test part."""

    def __init__(self, inside=True):
        self.inside = inside


def lie(model, X, y):
    """Of 90 samples a test part has 45, and an inner one 15: all others score .5 in both."""
    return float(model.inside == (len(y) < 40)) if isinstance(model, Liar) else 0.5


LIARS = {"good inside": Liar(True), "good outside": Liar(False)}
HALVES = QUICK | {"n_splits": 2, "n_folds": 3, "budget": 1}


def test_the_choice_of_a_family_is_not_made_by_the_test_part(monkeypatch):
    plain = [
        Candidate(f"{name}, {knows}", knows, lambda X, liar=liar, **_: clone(liar), learner=name)
        for knows in ("none", "which", "all")
        for name, liar in (LIARS if knows == "all" else dict.fromkeys(LIARS, FOREST)).items()
    ]
    monkeypatch.setattr("mvref.compare.own_tables.plain_methods", lambda X: plain)
    X, y = load_iris_views().X[:90], load_iris_views().y[:90] % 2
    comparison = compare_methods(X, y, {}, scoring=lie, **HALVES)
    assert comparison.best("all") == "good inside, all"
    assert_allclose(comparison.worth_of_views()[0], -0.5)  # 0 of those who look good inside
    assert comparison.baseline == "good inside, all"
    assert comparison.table.loc["good outside, all", "difference"] == 1.0


def test_an_interrupted_run_goes_on_and_ends_in_the_same_table(tmp_path, monkeypatch):
    X, y = few("iris")
    timed = ["fit_seconds", "predict_seconds"]
    whole = compare_methods(X, y, ["KMHKS"], **QUICK).rows.drop(columns=timed)
    calls = []
    honest = mvref.compare.own_tables.train

    def stopped(*args):
        calls.append(args)
        if len(calls) == 5 and not list(tmp_path.glob("done")):
            (tmp_path / "done").touch()
            raise KeyboardInterrupt
        return honest(*args)

    monkeypatch.setattr("mvref.compare.own_tables.train", stopped)
    with pytest.raises(KeyboardInterrupt):
        compare_methods(X, y, ["KMHKS"], folder=tmp_path, **QUICK)
    assert len(list(tmp_path.rglob("output.pkl"))) == 4
    again = compare_methods(X, y, ["KMHKS"], folder=tmp_path, **QUICK).rows
    assert len(calls) == 5 + len(whole) - 4, "what was done is not done again"
    pd.testing.assert_frame_equal(again.drop(columns=timed), whole)
    other = compare_methods(X, y, ["KMHKS"], folder=tmp_path, random_state=1, **QUICK)
    assert not other.rows["score"].equals(again["score"]), "another seed is another run"
    calls.clear()
    monkeypatch.setattr("mvref.__version__", "0.0")
    compare_methods(X, y, ["KMHKS"], folder=tmp_path, **QUICK)
    assert len(calls) == len(whole), "rows of another version are not taken"


def test_a_disk_that_is_full_costs_no_method(tmp_path, monkeypatch):
    X, y = few("iris")

    def full(*args, **options):
        raise OSError("No space left on device")

    backend = "joblib._store_backends.FileSystemStoreBackend"
    with monkeypatch.context() as patch:
        patch.setattr("joblib.numpy_pickle.dump", full)
        with pytest.warns(Warning, match="No space left on device"):
            found = compare_methods(X, y, {}, folder=tmp_path / "full", **QUICK)
        assert not len(found.failures)
        patch.setattr(f"{backend}.store_cached_func_code", full)
        with pytest.raises(ValueError, match="folder must be one that can be written: No space"):
            compare_methods(X, y, {}, folder=tmp_path / "closed", **QUICK)
    whole = compare_methods(X, y, {}, folder=tmp_path, **QUICK)
    for path in tmp_path.rglob("output.pkl"):
        path.write_bytes(b"torn")
    again = compare_methods(X, y, {}, folder=tmp_path, **QUICK)
    assert again.rows["score"].equals(whole.rows["score"])


KEYS = """
import joblib
from sklearn.tree import DecisionTreeClassifier
from mvref.datasets import load_iris_views
from mvref.compare.candidates import RECOMMENDED, candidate_of
from mvref.compare.plain import PLAIN
data = load_iris_views()
own = candidate_of("own", (DecisionTreeClassifier(max_depth=2), [{"max_depth": 1}]))
found = [c.key(4) for c in (*PLAIN, *RECOMMENDED, own)]
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


def test_groups_stay_together_inside_and_outside():
    X, y = few("iris")
    groups = np.arange(len(y)) // 4
    for split in outer_splits(X, y, groups, 3, 2, 2, seed=0):
        assert not set(groups[split.train]) & set(groups[split.test])
        for fit, check in split.folds:
            assert not set(groups[fit]) & set(groups[check])
            assert set(fit) | set(check) == set(split.train)


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
    assert "The views, as views, are worth something here: " in found.summary
    assert "One view is not enough here: " in found.summary


def test_data_whose_views_are_mere_columns_get_the_other():
    X, y = columns_in_two_heaps(3000)
    found = compare_methods(X, y, {}, **QUICK | {"n_splits": 5, "budget": 1})
    assert "The views carry nothing here beyond their columns" in found.summary


def test_who_knows_the_one_view_that_tells_is_of_neither_side():
    """One view tells the class, eight are noise: to know which one is not to use the views."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    told = rng.normal(size=(200, 5)) + 0.8 * (2 * y - 1)[:, None]
    X = MultiView([told, *rng.normal(size=(8, 200, 30))])
    found = compare_methods(X, y, {}, **QUICK)
    assert found.table.index[0] == "logistic, best view"
    assert "One view is better than several here" in found.summary


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
        (0.01, 0.05, "One view is not enough here", "are worth something here"),
        (-0.05, -0.01, "One view is better than several here", "The views, as views, cost here"),
        (-0.005, 0.008, "One view is enough here", "carry nothing here beyond their columns"),
        (-0.02, 0.008, "One view is enough here", "cannot tell whether the views"),
        (-0.005, 0.02, "cannot tell whether one view", "cannot tell whether the views"),
    ],
)
def test_the_sentences(low, high, one_view, views):
    first, second, third = sentences(low, high)
    assert one_view in first and views in second
    seen = (high - low) / 2 * (1 + 0.8416 / 1.96)
    assert third.startswith(f"100 samples show a difference of {seen:.3f} in four of five cases")
    needed = float(third.rpartition(" about ")[2].rstrip(".").replace(",", ""))
    assert_allclose(seen * np.sqrt(100 / needed), 0.01, rtol=0.05)  # one digit is told


def test_equal_folds_are_told_apart_by_log_loss():
    """Every point of a scaled logistic regression is right on the folds; the surest is taken."""
    X, y = few("iris")
    y = y == 0
    found = compare_methods(X, y, {}, **QUICK | {"budget": 4})
    sure = found.rows[found.rows["candidate"] == "logistic, all columns"]
    assert (sure["validation"] == 1.0).all()
    points = CHEAP[0].points(4)
    largest = max(points, key=lambda point: point["C"])
    assert set(sure["point"]) == {repr(largest)} != {repr(points[0])}


def test_equal_candidates_are_told_apart_by_log_loss_too():
    told = (("first", -0.3), ("surest", -0.2), ("last", -0.4))
    rows = [(name, "a", "all", i, 0.5, 0.8, tie) for i in range(2) for name, tie in told]
    names = ["candidate", "learner", "knows", "split", "score", "validation", "tie"]
    found = Comparison(pd.DataFrame(rows, columns=names), "f1")
    assert found.best("all") == found.baseline == "surest"


def test_default_folds_shrink_to_the_rarest_class():
    X, y = few("iris", 60)
    rows = np.r_[np.flatnonzero(y != 2), np.flatnonzero(y == 2)[:3]]
    options = {"n_repeats": 1, "budget": 1, "verbose": False}
    with pytest.warns(UserWarning, match="n_splits is 3, as the rarest class") as told:
        found = compare_methods(X[rows], y[rows], {}, **options)
    assert any("n_folds is 2, as" in str(warning.message) for warning in told)  # of 2 that are left
    three = np.where(y == 2, np.arange(60) % 3, 3 + np.arange(60))  # groups of that class
    with pytest.warns(UserWarning, match="n_splits is 3"):
        assert len(outer_splits(X, y, three, None, 1, 2, seed=0)) == 3
    assert found.rows["split"].nunique() == 3
    with pytest.raises(ValueError, match="n_splits must be at most the 3 samples"):
        compare_methods(X[rows], y[rows], {}, n_splits=5, **options)


IDS = [f"p{i}" for i in range(120)]
NAMED = {"X": [pd.DataFrame(np.eye(120)[:, :2], IDS)] * 2}
OTHERS = pd.Series(0, IDS[::-1])
WRONG = [
    *((NAMED | {name: OTHERS}, f"{name} has the ids of X in another") for name in ("y", "groups")),
    ({"methods": ["SVM9"]}, "methods must be 'recommended' or among"),
    ({"methods": ["MVMRegressor"]}, "methods must be"),
    ({"methods": None}, "methods must be 'recommended' or among"),
    ({"methods": 3}, "must be a scikit-learn classifier, got 3"),
    ({"methods": [Concat(TREE), Concat(FOREST)]}, r"different names, got \['Concat', 'Concat'\]"),
    (
        {"methods": {"mine": StratifiedKFold()}},
        r"methods\['mine'\] must be a scikit-learn classifier",
    ),
    ({"n_splits": 60}, "n_splits must be at most the"),
    ({"budget": 0}, "budget must be an integer >= 1"),
    ({"n_folds": 1}, "n_folds must be an integer >= 2"),
    ({"scoring": "beauty"}, "beauty"),
    ({"groups": [1, 2]}, "groups has 2 labels"),
    ({"groups": [None] + [1] * 119}, "groups must have a label for every sample"),
    ({"y": None}, "compare_methods requires y"),
    ({"y": [None] + ["a", "b"] * 59 + ["a"]}, "y must have a label for every sample"),
    ({"y": np.linspace(0, 1, 120)}, "continuous"),
    ({"X": np.zeros((120, 3))}, "two views or more"),
    ({"X": [np.full((120, 1), np.nan)] * 2}, "no view at all"),
]


@pytest.mark.parametrize(("wrong", "words"), WRONG, ids=range(len(WRONG)))
def test_wrong_arguments(wrong, words):
    X, y = few("iris")
    with pytest.raises(ValueError, match=words):
        compare_methods(**{"X": X, "y": y, "methods": {}} | QUICK | wrong)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_gaps_are_taken_as_they_are(kind, all_learners):
    X, y = few("iris")
    observed = X.drop_views(0.3, random_state=0).observed
    gaps = MultiView([kind(view) for view in X.views]).with_observed(observed)
    comparison = compare_methods(gaps, y, **QUICK)
    assert not len(comparison.failures)
    assert {c.name for c in REDUCED} < set(comparison.table.index)
    assert (comparison.table["score"] > 0.6).all()


def test_a_view_that_a_class_never_has_costs_no_plain_method():
    X, y = few("iris")
    observed = np.ones((len(y), 2), dtype=bool)
    observed[y != y[0], 1] = False
    with pytest.warns(UserWarning, match="has no sample with view 'petal'") as told:
        found = compare_methods(X.with_observed(observed), y, [], **QUICK)
    assert len(told) == 1 and found.failures.empty and found.summary


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
    with pytest.raises(ValueError, match=r"views of words, \['note'\]: encode must"):
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
    words = ["--target", "kind", "--methods", "KMHKS", "--budget", "1", "--scoring"]
    assert main(["compare-tables", str(tmp_path), *words, "balanced_accuracy"]) == 0
    out = capsys.readouterr().out
    assert "petal.csv: 60 rows" in out and "KMHKS" in out and "balanced_accuracy" in out
    assert re.search(r"40 trainings in \d+ s, with at most \d+ MiB of memory", out)
