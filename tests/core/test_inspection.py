"""What a view contributes: against loops over orders and rows, and by the sums that must hold."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_classifier
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import mvref
from mvref import (
    MVLSVM,
    MVPO,
    MultiView,
    MwMvC2,
    PatternClassifier,
    PerView,
    PerViewClassifier,
    view_importance,
)
from mvref.core import inspection
from tests.literal import hide, random_pattern, toy_views

CHEAP = {
    "MVWAB": {"n_estimators": 4},
    "RBoostSH": {"n_estimators": 4},
    "Mumbo": {"n_estimators": 4},
    "SVM2K": {"tol": 1e-1},
    "STMClassifier": {"n_init": 1},
    "L3SVM": {"n_init": 1},
    "CAPO": {"cv": 2},
    "FSMulti": {"tol": 0.2},
    **dict.fromkeys(["FMClassifier", "FMRegressor"], {"n_factors": 2}),
    **dict.fromkeys(["MVMClassifier", "MVMRegressor"], {"n_factors": 2}),
}
COMPOSED = (PatternClassifier, PerViewClassifier, mvref.ViewDropout)
COMPOSED += (mvref.PatternRegressor, mvref.PerViewRegressor, mvref.ViewDropoutRegressor)
MODELS = {name: m for name, m in mvref.all_methods().items() if hasattr(m, "predict")}
MODELS |= {m.__name__: m for m in COMPOSED}


class Product(RegressorMixin, BaseEstimator):
    """A product and a sum of the first columns of three views; a missing view counts as .5."""

    def fit(self, X, y=None):
        """Nothing to learn."""
        self.fitted_ = True
        return self

    def predict(self, X):
        """The product of two views and a third of another."""
        a, b, c = (np.nan_to_num(view[:, 0], nan=0.5) for view in X.views)
        return a * b + c / 3 + a * b * c


def small(seed, n, gaps=True):
    rng = np.random.RandomState(seed)
    views = [rng.normal(size=(n, width)) for width in (2, 1, 3)]
    return MultiView(hide(views, random_pattern(seed, n, 3)) if gaps else views)


def worth(model, X, i, kept, how, background):
    """The answer for sample i with some of its views: loops over training samples."""
    has = X.observed[i]
    behind = [b for b in range(len(background)) if background.observed[b][has].all()]
    left = kept & has
    if how == "hide" and left.any():
        observed = X[[i]].observed & left
        return model.predict(X[[i]].with_observed(observed))[0]
    answers = []
    for b in behind:
        views = [
            (x if stays or not there else z)
            for x, z, stays, there in zip(
                X[[i]].views, background[[b]].views, left, has, strict=True
            )
        ]
        answers.append(model.predict(MultiView(views))[0])
    return np.mean(answers)


@pytest.mark.parametrize("how", ["hide", "replace"])
def test_shares_of_answers_against_all_orders(how):
    X, background = small(0, 7), small(1, 9)
    background = MultiView(
        [np.vstack([a, b]) for a, b in zip(background.views, small(2, 3, False).views, strict=True)]
    )
    model = Product().fit(X)
    found = view_importance(model, X, how=how, background=background)
    assert not found.is_sum and found.classes is None
    for i in range(len(X)):
        values = np.zeros(3)
        for order in permutations(range(3)):
            kept = np.zeros(3, dtype=bool)
            for v in order:
                before = worth(model, X, i, kept, how, background)
                kept[v] = True
                values[v] += (worth(model, X, i, kept, how, background) - before) / 6
        assert_allclose(found.values[i], values, atol=1e-10)
        nobody = worth(model, X, i, np.zeros(3, dtype=bool), how, background)
        assert_allclose(found.base[i], nobody, atol=1e-10)
    assert_allclose(found.score, model.predict(X))
    assert_array_equal(found.values[~X.observed], 0)  # a view that is missing
    assert_allclose(found.importances, np.abs(found.values).T)


def fitted(name, observed=None):
    """A model, training samples with a constant third view, and samples to explain."""
    views, y = toy_views(0, m=40, widths=(3, 2), noise=0.5)
    views = [*views, np.ones((40, 2))]
    X = MultiView(views)
    model = MODELS[name](**CHEAP.get(name, {}))
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    y = y if is_classifier(model) else views[0][:, 0] + views[1][:, 1]
    return model.fit(X, y), X, y


@pytest.mark.parametrize("name", MODELS)
def test_of_every_model_shares_add_up_and_what_tells_nothing_has_none(name):
    model, X, y = fitted(name)
    samples = X[:5]
    for how in ("hide", "replace"):
        try:
            model.predict(samples.with_observed(np.eye(3, dtype=bool)[[0, 1, 2, 0, 1]]))
        except ValueError:  # it takes no gaps, and says so
            if how == "hide":
                with pytest.raises(ValueError, match="view|NaN|missing"):
                    view_importance(model, samples, background=X, how=how)
                continue
        found = view_importance(model, samples, background=X, how=how, random_state=0)
        answers = getattr(model, "decision_function", model.predict)(samples)
        assert_allclose(found.score, answers)
        assert_allclose(found.values.sum(axis=1) + found.base, answers, atol=1e-9)
        if how == "replace":  # a view that is the same in all samples
            assert_allclose(found.values[:, 2], 0, atol=1e-12)
        whole = view_importance(model, X, y, background=X, how=how, random_state=0)
        assert_allclose(whole.importances_mean.sum(), whole.score - whole.base, atol=1e-12)
        assert_allclose(whole.score, model.score(X, y))


def test_views_that_do_the_same_have_the_same_share():
    class Majority(Product):
        def predict(self, X):
            return (sum(np.nan_to_num(view[:, 0], nan=-1) > 0 for view in X.views) > 1).astype(
                float
            )

    view = np.random.RandomState(0).normal(size=(20, 1))
    X = MultiView([view] * 3)
    for how in ("hide", "replace"):
        values = view_importance(Majority().fit(X), X, how=how).values
        assert_allclose(values, np.repeat(values[:, :1], 3, axis=1), atol=1e-12)


SUMS = {
    "MVPO": lambda: MVPO("auroc", C2=10.0),
    "MVLSVM": lambda: MVLSVM(n_landmarks=10, random_state=0),
    "MwMvC2": lambda: MwMvC2(random_state=0),
    "PerViewClassifier": lambda: PerViewClassifier(),
}


def own_parts(name, model, X):
    """What each view adds to the answer, by the method's formula."""
    if name == "MVPO":
        parts = [view @ w for view, w in zip(X.views, model.coef_, strict=True)]
    elif name == "MVLSVM":
        features, w = model.projection_.transform(X), model.coef_[0]
        cuts = np.array_split(np.arange(len(w)), X.n_views)
        parts = [features[:, cut] @ w[cut] for cut in cuts]
    elif name == "PerViewClassifier":
        members = model.estimators_.values()
        said = [m.predict_proba(v) for m, v in zip(members, X.views, strict=True)]
        parts = [(p[:, 1] - p[:, 0]) / X.n_views for p in said]
    return np.array(parts)


@pytest.mark.parametrize("name", SUMS)
def test_a_sum_over_views_is_found_and_has_the_closed_form(name, monkeypatch):
    views, y = toy_views(0, m=60, widths=(3, 2, 2), noise=1.0)
    X, background = MultiView(views)[:20], MultiView(views)[20:]
    model = SUMS[name]().fit(background, y[20:])
    found = view_importance(model, X, how="replace", background=background, random_state=0)
    assert found.is_sum
    if name != "MwMvC2":
        here, there = (own_parts(name, model, part) for part in (X, background))
        assert_allclose(found.values.T, here - there.mean(axis=1, keepdims=True), atol=1e-9)
    monkeypatch.setattr(inspection.Game, "of_a_sum", lambda self, rng: None)
    asked = view_importance(model, X, how="replace", background=background, random_state=0)
    assert not asked.is_sum
    assert_allclose(found.values, asked.values, atol=1e-9)
    assert_allclose(found.table, asked.table, atol=1e-9)


def test_what_is_a_sum_for_most_samples_is_no_sum():
    class Nearly(Product):
        def predict(self, X):
            a, b, c = (view[:, 0] for view in X.views)
            return a + b + c + np.where((a > 1) & (b > 1), a * b, 0)  # 2.5 % of the samples

    X = small(0, 200, gaps=False)
    found = view_importance(Nearly().fit(X), X, how="replace", random_state=0)
    assert not found.is_sum
    assert_allclose(found.values.sum(axis=1) + found.base, Nearly().predict(X), atol=1e-9)
    for i in np.flatnonzero(X.views[0][:, 0] > 1)[:10]:  # a sample, and one training row in six
        one = view_importance(Nearly().fit(X), X[[i]], how="replace", background=X)
        assert not one.is_sum and np.isnan(one.low).all()

    class Slightly(Product):
        def predict(self, X):
            a, b, c = (view[:, 0] for view in X.views)
            return a + b + c + 1e-5 * a * b

    assert not view_importance(Slightly().fit(X), X, how="replace").is_sum


class Sign(ClassifierMixin, BaseEstimator):
    """The sign of the first columns of two of three views, twice the first; -.1 for a gap."""

    classes_ = np.array([0, 1])

    def fit(self, X, y=None):
        """Nothing to learn."""
        self.fitted_ = True
        return self

    def decision_function(self, X):
        """Twice the first view, and the second."""
        a, b, _ = (np.nan_to_num(view[:, 0], nan=-0.1) for view in X.views)
        return 2 * a + b

    def predict(self, X):
        """Its sign."""
        return (self.decision_function(X) > 0).astype(int)


def test_shares_of_a_measure_against_the_measure_itself():
    X = small(0, 300, gaps=False)
    y = Sign().predict(X)
    found = view_importance(Sign().fit(X), X, y, scoring="roc_auc", random_state=0)

    def auroc(*kept):
        if not kept:
            return found.base
        observed = np.zeros((300, 3), dtype=bool)
        observed[:, kept] = True
        return roc_auc_score(y, Sign().decision_function(X.with_observed(observed)))

    def halves(v, u):  # of a game of two, and a third that does nothing
        return (auroc(v) - auroc() + auroc(v, u) - auroc(u)) / 2

    nothing = auroc(2) - auroc()  # the same -.3 for everybody, where a training sample had stood
    assert abs(found.base - 0.5) < 0.1 and auroc(2) == 0.5 and found.score == 1.0
    table = found.table.loc[found.names]
    assert_allclose(table["alone"], [auroc(0) - auroc(), auroc(1) - auroc(), nothing])
    assert_allclose(table["without it"], [1 - auroc(1, 2), 1 - auroc(0, 2), 0.0], atol=1e-12)
    assert_allclose(table["share"].sum(), 1 - found.base)
    assert_allclose(table["share"].iloc[:2], [halves(0, 1), halves(1, 0)], atol=abs(nothing))


@pytest.mark.parametrize("in_groups", [False, True])
def test_intervals_are_those_of_a_jackknife_over_blocks(in_groups):
    n = 60
    X = small(3, n, gaps=False)
    y = (Sign().decision_function(X) + np.random.RandomState(0).normal(size=n) > 0).astype(int)
    groups = np.repeat(np.arange(n // 5), 5) if in_groups else None
    model = Sign().fit(X)
    options = {"how": "replace", "sample_groups": groups, "random_state": 0}
    found = view_importance(model, X, y, **options)
    rng = np.random.RandomState(0)
    parts = inspection._without_blocks(np.arange(n) if groups is None else groups, rng)
    assert_array_equal(np.sum(parts, axis=0), 9)  # of ten blocks
    if in_groups:
        assert all(len(set(part[groups == g])) == 1 for g in groups for part in parts)
    answers = view_importance(model, X, **options)
    low = [np.abs(answers.values[part]).mean(axis=0) for part in parts]
    error = np.sqrt(9 / 10 * ((np.array(low) - np.mean(low, axis=0)) ** 2).sum(axis=0))
    middle = np.abs(answers.values).mean(axis=0)
    assert_allclose(answers.low, middle - stats.t.ppf(0.975, 9) * error)
    assert_allclose(answers.high, middle + stats.t.ppf(0.975, 9) * error)
    assert (found.low < found.importances_mean).all() or found.low[2] == found.high[2] == 0


def test_the_interval_of_a_measure_covers_what_many_samples_show():
    big = small(9, 20_000, gaps=False)
    noise = np.random.RandomState(1).normal(size=20_000)
    y = (Sign().decision_function(big) + noise > 0).astype(int)
    model = Sign().fit(big)
    truth = view_importance(model, big, y, how="replace", n_draws=1, random_state=0)
    held = np.zeros(3)
    for k in range(60):
        part = slice(100 * k, 100 * (k + 1))
        found = view_importance(
            model, big[part], y[part], how="replace", background=big, n_draws=1, random_state=k
        )
        held += (found.low <= truth.importances_mean) & (truth.importances_mean <= found.high)
    assert held[:2].min() >= 51  # of 60 at 95 %: less than 51 has a chance of one in a thousand


def test_rows_of_a_view_stay_together_and_gaps_stay_where_they_are():
    shown = []

    class Seen(Sign):
        def decision_function(self, X):
            shown.append(X)
            return super().decision_function(X)

    X = small(5, 40)
    view_importance(Seen().fit(X), X, how="replace", n_draws=3, random_state=0)
    rows = {tuple(row) for view in X.views for row in np.nan_to_num(view, nan=9.0).tolist()}
    for table in shown:
        for view in table.views:
            assert {tuple(row) for row in np.nan_to_num(view, nan=9.0).tolist()} <= rows
    counts = np.unique(X.observed, axis=0)
    assert all((row == counts).all(axis=1).any() for t in shown for row in t.observed)


def test_groups_of_columns_inside_views_and_across():
    rng = np.random.RandomState(0)
    frame = pd.DataFrame(rng.normal(size=(80, 3)), columns=["a", "b", "c"])
    X = MultiView({"blood": frame, "image": rng.normal(size=(80, 2))})
    y = (X.views[0][:, 0] + X.views[1][:, 1] > 0).astype(int)
    model = PerViewClassifier(combine="mean_decision").fit(X, y)
    groups = {"told": ["blood__a", "image__x1"], "b": "blood__b", "last": [3]}
    found = view_importance(model, X, how="replace", groups=groups, random_state=0)
    assert found.names == ["told", "b", "last", "other columns"] and found.is_sum
    scores = np.hstack([model.estimators_[n].coef_[0] / 2 for n in X.names])
    parts = (X.concat() - X.concat().mean(axis=0)) * scores
    wanted = [parts[:, [0, 4]].sum(axis=1), parts[:, 1], parts[:, 3], parts[:, 2]]
    assert_allclose(found.values.T, wanted, atol=1e-9)
    whole = view_importance(model, X, how="replace", groups={"all": ["blood", "image"]})
    assert_allclose(whole.values[:, 0], parts.sum(axis=1), atol=1e-9)


@pytest.mark.parametrize("as_frame", [False, True])
def test_models_of_scikit_learn_on_flat_tables(as_frame):
    views, y = toy_views(0, m=80, widths=(3, 2), noise=1.0)
    flat, cut = np.hstack(views), {"u": [0, 1, 2], "v": [3, 4]}
    if as_frame:
        flat = pd.DataFrame(flat, columns=list("abcde"))
        cut = {"u": ["a", "b", "c"], "v": ["d", "e"]}
    forest = RandomForestClassifier(10, random_state=0).fit(flat, y)
    found = view_importance(forest, flat[:9], how="replace", background=flat, views=cut)
    assert found.names == ["u", "v"]
    assert_allclose(
        found.values.sum(axis=1) + found.base, forest.predict_proba(flat[:9])[:, 1], atol=1e-12
    )
    line = make_pipeline(StandardScaler(), LogisticRegression()).fit(flat, y)
    found = view_importance(line, flat, how="replace", views=cut)
    parts = line[0].transform(flat) * line[1].coef_
    assert_allclose(found.values[:, 1], parts[:, 3:].sum(axis=1), atol=1e-9)
    # our own, on the same table
    own = MVPO("f1", views=list(cut.values())).fit(flat, y)
    assert view_importance(own, flat, y).names == ["view_0", "view_1"]


@pytest.mark.parametrize("how", ["hide", "replace"])
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
    if how == "replace":
        groups = {"kind": ["who__kind"], "size": ["who__size", "blood"]}
        found = view_importance(model, X, y, how=how, groups=groups, random_state=0)
        assert found.names == ["kind", "size", "other columns"]
        assert found.importances_mean[0] > 0.3 > abs(found.importances_mean[1:]).max()


def test_reduced_models_answer_what_the_rest_would_do_without_a_view():
    """Two copies of a view: hidden from reduced models neither is missed."""
    rng = np.random.RandomState(0)
    a, noise = rng.normal(size=(2, 200, 1))
    y = (a[:, 0] > 0).astype(int)
    X = MultiView([a, a, noise])
    model = PatternClassifier().fit(X, y)
    found = view_importance(model, X, y, random_state=0)
    assert max(found.without) < 0.03
    assert_allclose(found.importances_mean[0], found.importances_mean[1], atol=0.01)
    assert found.importances_mean[0] > 0.2 > abs(found.importances_mean[2])


def test_more_than_ten_views():
    rng = np.random.RandomState(0)
    views = [rng.normal(size=(30, 1)) for _ in range(11)]

    class Pairs(Product):
        def predict(self, X):
            a = np.hstack([np.nan_to_num(view) for view in X.views])
            return a.sum(axis=1) + a[:, 0] * a[:, 1]

    X = MultiView(views)
    answers = Pairs().fit(X).predict(X)
    for how in ("hide", "replace"):
        found = view_importance(Pairs().fit(X), X, how=how, n_draws=40, random_state=0)
        assert_allclose(found.values.sum(axis=1) + found.base, answers, atol=1e-9)
        if how == "hide":  # exact: an order and its reverse, and two that act together
            own = np.hstack(views)
            own[:, :2] += (own[:, 0] * own[:, 1] / 2)[:, None]
            assert_allclose(found.values[:, 2:], own[:, 2:], atol=0.5)
            assert_allclose(found.base, answers.mean())
        else:
            assert 0 < found.standard_errors[:, 0].mean() < 0.4
    y = (answers > 0).astype(float)
    whole = view_importance(Pairs().fit(X), X, y, n_draws=2, random_state=0)
    assert_allclose(whole.importances_mean.sum(), whole.score - whole.base)


def test_same_seed_same_numbers_and_probabilities():
    views, y = toy_views(0, m=60, widths=(3, 2), n_classes=3, noise=1.0)
    X = MultiView(views)
    model = PerViewClassifier().fit(X, y)
    options = {"how": "replace", "n_draws": 10}
    runs = [view_importance(model, X, random_state=s, **options).values for s in (0, 0, 1)]
    assert_array_equal(runs[0], runs[1])
    assert not np.array_equal(runs[0], runs[2])
    found = view_importance(model, X, response_method="predict_proba")
    assert_allclose(found.score, model.predict_proba(X))
    assert_allclose(found.values.sum(axis=2), 0, atol=1e-9)  # probabilities add up to 1
    assert_array_equal(found.classes, model.classes_)


def test_pictures():
    import matplotlib

    matplotlib.use("agg")
    views, y = toy_views(0, m=60, widths=(3, 2, 2), noise=1.0)
    model = PerViewClassifier().fit(views, y)
    ax = view_importance(model, views, y, random_state=0).plot()
    assert [t.get_text() for t in ax.get_yticklabels()] != []
    found = view_importance(model, views)
    ax = found.plot(sample=3)
    bars = ax.patches
    assert_allclose(sum(bar.get_width() for bar in bars), found.values[3].sum())
    assert_allclose(ax.lines[-1].get_xdata()[0], found.score[3])
    assert accuracy_score(y, found.score > 0) > 0.7


X_BAD = small(0, 12, gaps=False)
WRONG = {
    "how": ({"how": "drop"}, ["how", "'hide'", "'replace'", "'drop'"]),
    "draws": ({"n_draws": 0}, ["n_draws", "0"]),
    "flat": ({"X": np.ones((4, 2))}, ["views", "MultiView"]),
    "response": ({"response_method": "score"}, ["response_method", "predict_proba"]),
    "predict": ({"response_method": "predict"}, ["response_method", "Sign"]),
    "groups": ({"groups": ["a"]}, ["groups", "mapping"]),
    "no column": ({"groups": {"a": ["nobody"]}}, ["groups['a']", "'nobody'", "view_0__x0"]),
    "twice": ({"groups": {"a": [0], "b": ["view_0"]}}, ["groups['b']", "already"]),
    "empty": ({"groups": {"a": []}}, ["groups['a']", "no columns"]),
    "background": ({"background": MultiView([np.ones((4, 2))])}, ["background", "views of X"]),
    "sample_groups": ({"sample_groups": [1, 2]}, ["12", "2"]),
    "y": ({"y": [0, 1]}, ["12", "2"]),
    "unmatched": (
        {"background": X_BAD.with_observed(np.tile([True, False, True], (12, 1)))},
        ["background", "sample 0", "view_1"],
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_calls(case):
    options, words = WRONG[case]
    with pytest.raises(ValueError) as error:
        view_importance(Sign().fit(X_BAD), **{"X": X_BAD} | options)
    for word in words:
        assert word in str(error.value)


def test_a_picture_of_one_sample_needs_its_shares_and_a_class():
    views, y = toy_views(0, m=60, widths=(3, 2), n_classes=3, noise=1.0)
    model = PerViewClassifier().fit(views, y)
    with pytest.raises(ValueError, match="without y"):
        view_importance(model, views, y).plot(sample=0)
    with pytest.raises(ValueError, match="label must be one of"):
        view_importance(model, views).plot(sample=0)
