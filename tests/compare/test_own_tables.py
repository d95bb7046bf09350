"""compare_methods: equal treatment, honest differences, and runs that can be stopped."""

import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse, stats
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

import mvref
from mvref import MultiView, PerView, compare_methods
from mvref.__main__ import main
from mvref.compare.candidates import ALL, BASELINES, candidate_of
from mvref.compare.own_tables import Comparison, outer_splits
from mvref.compare.seeds import derive_seed
from mvref.datasets import load_digits_views, load_iris_views, load_mfeat
from mvref.rivals import Concat

QUICK = {"n_splits": 3, "n_repeats": 1, "n_folds": 2, "budget": 2, "verbose": False}
TREE, FOREST = DecisionTreeClassifier(random_state=0), RandomForestClassifier(5, random_state=0)
TREE_POINTS = [{"estimator__max_depth": 1}, {"estimator__max_depth": 4}]
OWN = {"tree": (Concat(TREE), TREE_POINTS), "forest": Concat(FOREST)}
DATA = {"iris": load_iris_views, "mfeat": load_mfeat, "digits": load_digits_views}


def few(name, n=120):
    data = DATA[name]()
    X = data.X.select(["fou", "mor"]) if name == "mfeat" else data.X
    rows = np.random.default_rng(0).permutation(len(data.y))[:n]
    return X[rows], data.y[rows]


@pytest.fixture(scope="module")
def found():
    """A comparison on each of three data sets."""
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


def test_the_table_has_everybody_and_the_corrected_interval(found):
    comparison = found["digits"]
    table, rows = comparison.table, comparison.rows
    assert set(table.index) == {c.name for c in BASELINES} | set(OWN)
    scores = rows.pivot(index="split", columns="candidate", values="score")
    assert_allclose(table["score"], scores.mean()[table.index])
    d = scores["forest"] - scores[comparison.baseline]
    ratio = (rows["n_test"] / rows["n_train"]).mean()
    half = stats.t.ppf(0.975, len(d) - 1) * np.sqrt(d.var() * (1 / len(d) + ratio))
    row = table.loc["forest"]
    interval = [d.mean(), d.mean() - half, d.mean() + half]
    assert_allclose(row[["difference", "low", "high"]].astype(float), interval)
    assert not table.loc[comparison.baseline, ["difference", "low", "high"]].any()
    assert str(comparison).endswith(comparison.summary)
    axes = comparison.plot()
    assert len(axes.get_yticks()) == len(table)


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
    assert {name for name in known if "Regressor" not in name} < set(ALL)
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


def test_an_interrupted_run_goes_on_and_ends_in_the_same_table(tmp_path, monkeypatch):
    X, y = few("iris")
    timed = ["fit_seconds", "predict_seconds"]
    whole = compare_methods(X, y, ["KMHKS"], **QUICK).rows.drop(columns=timed)
    calls = []
    honest = mvref.compare.own_tables.tuned

    def stopped(*args):
        calls.append(args)
        if len(calls) == 5:
            raise KeyboardInterrupt
        return honest(*args)

    monkeypatch.setattr("mvref.compare.own_tables.tuned", stopped)
    with pytest.raises(KeyboardInterrupt):
        compare_methods(X, y, ["KMHKS"], folder=tmp_path, **QUICK)
    assert len(list(tmp_path.glob("*.json"))) == 4
    again = compare_methods(X, y, ["KMHKS"], folder=tmp_path, **QUICK).rows
    assert len(calls) == 5 + len(whole) - 4, "what was done is not done again"
    pd.testing.assert_frame_equal(again.drop(columns=timed), whole)
    other = compare_methods(X, y, ["KMHKS"], folder=tmp_path, random_state=1, **QUICK)
    assert not other.rows["score"].equals(again["score"]), "another seed is another run"


KEYS = """
import joblib
from sklearn.tree import DecisionTreeClassifier
from mvref.datasets import load_iris_views
from mvref.compare.candidates import BASELINES, RECOMMENDED, candidate_of
data = load_iris_views()
own = candidate_of("own", (DecisionTreeClassifier(max_depth=2), [{"max_depth": 1}]))
found = [c.key(4) for c in (*BASELINES, *RECOMMENDED, own)]
found.append(joblib.hash((data.X, data.y, None, None, 5, 2, 3, 0, "accuracy")))
"""


def test_another_process_finds_what_is_done():
    here = {}
    exec(KEYS, here)
    command = [sys.executable, "-c", KEYS + "print(found)"]
    there = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert there.strip() == str(here["found"])


def test_who_must_not_know_the_views_does_not():
    """The same columns, cut in another way."""
    X, y = few("iris", 90)
    columns = X.concat()
    methods = ["SVMPerf", "FMClassifier", "Concat"]
    scores = []
    for widths in ([1, 3], [2, 2]):
        found = compare_methods(MultiView.from_array(columns, widths), y == 2, methods, **QUICK)
        assert not len(found.failures)
        blind = found.rows[~found.rows["views"]]
        scores.append(blind.pivot(index="split", columns="candidate", values="score"))
        scores[-1] = scores[-1].drop(columns="best single view")
    assert set(scores[0]) == {*methods, *(c.name for c in BASELINES[1:4])}
    pd.testing.assert_frame_equal(*scores)


def test_groups_stay_together_inside_and_outside():
    X, y = few("iris")
    groups = np.arange(len(y)) // 4
    for split in outer_splits(X, y, groups, 3, 2, 2, seed=0):
        assert not set(groups[split.train]) & set(groups[split.test])
        for fit, check in split.folds:
            assert not set(groups[fit]) & set(groups[check])
            assert set(fit) | set(check) == set(split.train)


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


def test_data_whose_views_are_worth_something_get_that_sentence():
    X, y = a_view_that_is_noise_for_most()
    comparison = compare_methods(X, y, {}, **QUICK | {"n_splits": 5})
    assert comparison.best(uses_views=True) in (
        "RBF SVM, views scaled alike",
        "SVM, mean of kernels",
    )
    assert comparison.summary.startswith("The views, as views, are worth something here")


def test_data_whose_views_are_mere_columns_get_the_other():
    X, y = columns_in_two_heaps()
    comparison = compare_methods(X, y, {}, **QUICK | {"n_splits": 5, "n_repeats": 2, "budget": 1})
    assert comparison.summary.startswith("The views carry nothing here beyond their columns")


def sentence(low, high):
    """The sentence of a comparison whose interval is this one."""
    mean, half = (low + high) / 2, (high - low) / 2
    n = 5
    spread = half / stats.t.ppf(0.975, n - 1) / np.sqrt(1 / n + 0.25)
    d = np.array([-2, -1, 0, 1, 2]) / np.sqrt(2.5) * spread + mean
    names = ["candidate", "views", "split", "score", "validation", "n_train", "n_test"]
    rows = [("stacking", True, i, 0.5 + d[i], 0.5, 80, 20) for i in range(n)]
    rows += [("logistic, all columns", False, i, 0.5, 0.5, 80, 20) for i in range(n)]
    comparison = Comparison(pd.DataFrame(rows, columns=names), "accuracy")
    assert_allclose(comparison.worth_of_views(), [mean, low, high], atol=1e-12)
    return comparison.summary


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (0.01, 0.05, "The views, as views, are worth something here"),
        (-0.05, -0.01, "The views, as views, cost here"),
        (-0.005, 0.008, "carry nothing here beyond their columns"),
        (-0.005, 0.02, "cannot tell"),
    ],
)
def test_the_four_sentences(low, high, words):
    assert words in sentence(low, high)


WRONG = [
    ({"methods": ["SVM9"]}, "methods must be 'recommended' or among"),
    ({"methods": ["MVMRegressor"]}, "methods must be"),
    ({"methods": [Concat(TREE), Concat(FOREST)]}, r"different names, got \['Concat', 'Concat'\]"),
    (
        {"methods": {"mine": StratifiedKFold()}},
        r"methods\['mine'\] must be a scikit-learn classifier",
    ),
    ({"n_splits": 60}, "n_splits must be at most the"),
    ({"budget": 0}, "budget must be an integer >= 1"),
    ({"n_folds": 1}, "n_folds must be an integer >= 2"),
    ({"scoring": "beauty"}, "beauty"),
    ({"groups": [1, 2]}, "labels"),
]


@pytest.mark.parametrize(("wrong", "words"), WRONG, ids=range(len(WRONG)))
def test_wrong_arguments(wrong, words):
    X, y = few("iris")
    with pytest.raises(ValueError, match=words):
        compare_methods(X, y, **{"methods": {}} | QUICK | wrong)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_gaps_are_taken_as_they_are(kind):
    X, y = few("iris")
    observed = X.drop_views(0.3, random_state=0).observed
    gaps = MultiView([kind(view) for view in X.views]).with_observed(observed)
    comparison = compare_methods(gaps, y, ["KMHKS"], **QUICK)
    assert not len(comparison.failures)
    assert (comparison.table["score"] > 0.6).all()


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
    assert re.search(r"90 trainings in \d+ s, with at most \d+ MiB of memory", out)
