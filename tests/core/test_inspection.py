"""What a view contributes: known answers, and what must not change."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from mvref import MVLSVM, MultiView, PerView, PerViewClassifier, view_importance
from mvref.rivals import MVMV, PerViewSVM
from tests.literal import hide, random_pattern


class SignOfView:
    """Says whether the first column of one view is positive; counts what it was shown."""

    def __init__(self, v):
        self.v, self.shown = v, []

    def score(self, X, y):
        """Accuracy."""
        self.shown.append(X)
        return float(np.mean((X.views[self.v][:, 0] > 0) == y))

    def fit(self, X, y):
        """Nothing to learn."""
        return self


@pytest.fixture
def problem():
    rng = np.random.RandomState(0)
    views = [rng.standard_normal((400, 2)), rng.standard_normal((400, 3))]
    return MultiView(views, names=["told", "idle"]), views[0][:, 0] > 0


def test_only_the_view_that_is_used_counts(problem):
    X, y = problem
    result = view_importance(SignOfView(0), X, y, n_repeats=20, random_state=0)
    assert result.score == 1.0 and result.names == ["told", "idle"]
    assert result.importances.shape == (2, 20)
    assert_array_equal(result.importances[1], 0)
    # a permuted view is right half of the time; the mean of 20 x 400 coins is within .02 of that
    assert abs(result.importances_mean[0] - 0.5) < 0.02
    assert_array_equal(result.importances_mean, result.importances.mean(axis=1))
    assert_array_equal(result.importances_std, result.importances.std(axis=1))


def test_rows_of_a_view_stay_together_and_gaps_stay_where_they_are(problem):
    X, y = problem
    observed = random_pattern(1, 400, 2)
    X = MultiView(hide(X.views, observed), names=X.names)
    model = SignOfView(0)
    view_importance(model, X, y, n_repeats=1, random_state=0)
    untouched, *changed = model.shown
    assert_array_equal(untouched.concat(), X.concat())
    for v, shown in enumerate(changed):
        assert_array_equal(shown.observed, X.observed)
        assert_array_equal(shown.views[1 - v], X.views[1 - v])
        rows, old = (view[X.observed[:, v]] for view in (shown.views[v], X.views[v]))
        assert not np.array_equal(rows, old)
        assert_array_equal(rows[np.lexsort(rows.T)], old[np.lexsort(old.T)])


def test_hiding_leaves_no_sample_without_a_view(problem):
    X, y = problem
    observed = np.ones((400, 2), dtype=bool)
    observed[:10, 1] = False
    X = MultiView(X.views, names=X.names, observed=observed)
    model = SignOfView(0)
    result = view_importance(model, X, y, how="hide")
    assert result.importances.shape == (2, 1)
    assert_array_equal(model.shown[1].observed[:, 0], np.arange(400) < 10)
    assert_array_equal(model.shown[2].observed[:, 1], False)


def test_two_copies_of_a_view_have_no_importance_and_one_has():
    rng = np.random.RandomState(0)
    a, noise = rng.standard_normal((200, 1)), rng.standard_normal((200, 1))
    y = a[:, 0] > 0
    importance = {
        names: view_importance(
            PerViewSVM(C=10).fit(views, y), views, y, how="hide", n_repeats=5
        ).importances_mean
        for names, views in {"copies": [a, a], "one": [a, noise]}.items()
    }
    assert np.abs(importance["copies"]).max() < 0.01
    assert importance["one"][0] > 0.3


@pytest.mark.parametrize("how", ["permute", "hide"])
def test_words_and_names_of_columns_stay(how):
    """A pipeline that begins with an encoder gets what it was fitted on; no warning of names."""
    rng = np.random.RandomState(0)
    y = rng.randint(2, size=60)
    frame = pd.DataFrame({"kind": np.array(["ant", "bee"])[y], "size": rng.normal(size=60)})
    noise = pd.DataFrame({"site": rng.choice(["north", "south"], 60)})
    X = MultiView({"blood": frame[["size"]], "place": noise, "who": frame})
    words = {
        name: make_column_transformer((OneHotEncoder(), [column]))
        for name, column in (("place", "site"), ("who", "kind"))
    }
    model = make_pipeline(PerView(words), PerViewClassifier()).fit(X, y)
    size, place, who = view_importance(model, X, y, how=how, random_state=0).importances_mean
    assert max(size, place) < 0.15 < 0.3 < who


def test_same_seed_same_numbers_and_other_scores(problem):
    X, y = problem
    model = MVLSVM(n_landmarks=20, random_state=0).fit(X[:200], y[:200])
    runs = [
        view_importance(model, X[200:], y[200:], n_repeats=3, random_state=s) for s in (0, 0, 1)
    ]
    assert_array_equal(runs[0].importances, runs[1].importances)
    assert not np.array_equal(runs[0].importances, runs[2].importances)
    auroc = view_importance(model, X[200:], y[200:], scoring="roc_auc", random_state=0)
    assert auroc.score > runs[0].score


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"how": "drop"}, ["how", "'permute', 'hide'", "'drop'"]),
        ({"n_repeats": 0}, ["n_repeats", "0"]),
        ({"X": np.ones((4, 2))}, ["X", "MultiView.from_array"]),
    ],
)
def test_wrong_calls(problem, options, words):
    X, y = problem
    arguments = {"X": X, "y": y} | options
    with pytest.raises(ValueError) as error:
        view_importance(MVMV(random_state=0).fit(X, y), **arguments)
    for word in words:
        assert word in str(error.value)
