"""A classifier or regressor per view, combined by a vote, a mean or a model on top."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, make_column_selector, make_column_transformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold, PredefinedSplit, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import check_random_state

from mvref import MultiView, PerViewClassifier, PerViewRegressor
from mvref.core.voters import class_folds
from tests.literal import toy_views

RULES = ("vote", "mean_proba", "mean_decision", LogisticRegression())


def world(n_classes):
    views, y = toy_views(0, m=60, widths=(4, 3, 2), n_classes=n_classes, noise=1.0)
    X = MultiView({"sound": views[0], "image": views[1], "text": views[2]})
    return X, np.array(["ant", "bee", "cat"])[y]


@pytest.fixture(params=[2, 3])
def data(request):
    return world(request.param)


OF_CLASSES = (PerViewClassifier, SVC, LogisticRegression(C=3.0), "decision_function", RULES)
OF_NUMBERS = (PerViewRegressor, SVR, Ridge(0.3), "predict", ("mean", "median", Ridge()))


@pytest.fixture(params=[2, 3, "numbers"])
def either(request):
    """Samples, targets; a composition, its members, one on top, what they say, its rules."""
    if request.param != "numbers":
        return *world(request.param), OF_CLASSES
    X, y = world(2)
    return X, X.views[0][:, 0] + X.views[1][:, 1] - (y == "ant"), OF_NUMBERS


def alone(X, y, base):
    """The classifiers one by one, as scikit-learn fits them, on the samples that have the view."""
    return [
        base().fit(view[seen], y[seen]) for view, seen in zip(X.views, X.observed.T, strict=True)
    ]


def test_mean_probability_is_over_the_views_of_a_sample(data):
    X, y = data
    X = X.drop_views(0.3, random_state=0)
    model = PerViewClassifier(GaussianNB()).fit(X, y)
    members = alone(X, y, GaussianNB)
    for i in (0, 7, 31):
        said = [
            member.predict_proba(view[[i]])[0]
            for member, view, seen in zip(members, X.views, X.observed[i], strict=True)
            if seen
        ]
        assert_allclose(model.predict_proba(X[i])[0], np.mean(said, axis=0), atol=1e-12)
    assert_array_equal(model.predict(X), model.classes_[model.predict_proba(X).argmax(axis=1)])
    assert list(model.estimators_) == X.names


def test_mean_decision_and_vote_against_loops(data):
    X, y = data
    svms = alone(X, y, SVC)
    scores = np.mean([m.decision_function(v) for m, v in zip(svms, X.views, strict=True)], axis=0)
    model = PerViewClassifier(SVC(), combine="mean_decision").fit(X, y)
    assert_allclose(model.decision_function(X), scores, atol=1e-12)
    votes = np.array([m.predict(v) for m, v in zip(svms, X.views, strict=True)]).T
    expected = [max(sorted(set(row)), key=list(row).count) for row in votes]
    assert_array_equal(PerViewClassifier(SVC(), combine="vote").fit(X, y).predict(X), expected)
    assert not hasattr(model, "predict_proba")


@pytest.mark.parametrize("gaps", [False, True])
def test_one_on_top_learns_from_what_was_not_seen(either, gaps):
    """Its table is cross_val_predict's, on the same folds; means where a view is missing."""
    X, y, (composed, member, top, says, _) = either
    X = X.drop_views(0.3, random_state=0) if gaps else X
    model = composed(member(), combine=top, cv=4, random_state=7).fit(X, y)
    rng = check_random_state(7)
    rng.randint(2**31, size=3 * ("random_state" in member().get_params()))  # seeds of the members
    of_numbers = composed is PerViewRegressor
    strata = np.zeros(60, dtype=int) if of_numbers else np.unique(y, return_inverse=True)[1]
    folds = class_folds(strata, 4, rng).test_fold
    held_out, asked = [], []
    for view, seen in zip(X.views, X.observed.T, strict=True):
        view, targets, folds_seen = view[seen], y[seen], PredefinedSplit(folds[seen])
        for table, told in (
            (held_out, cross_val_predict(member(), view, targets, cv=folds_seen, method=says)),
            (asked, getattr(member().fit(view, targets), says)(view)),
        ):
            table.append(np.full((60, *told.shape[1:]), np.nan))
            table[-1][seen] = told
    held_out, asked = np.column_stack(held_out), np.column_stack(asked)
    means = np.nanmean(held_out, axis=0)
    tables = [
        np.hstack([np.where(np.isnan(t), means, t), *([~X.observed] if gaps else [])])
        for t in (held_out, asked)
    ]
    top = clone(top).fit(tables[0], y)
    says = "predict" if of_numbers else "predict_proba"
    assert_allclose(getattr(model, says)(X), getattr(top, says)(tables[1]), atol=1e-8)
    assert_allclose(model.score(X, y), top.score(tables[1], y), atol=1e-8)


@pytest.mark.parametrize("combine", ["mean", "median"])
def test_a_number_is_the_mean_or_the_median_of_the_views_of_a_sample(data, combine):
    X, y = data[0].drop_views(0.3, random_state=0), data[0].views[0][:, 0]
    for weights in (None, np.arange(60.0) % 5 + 1):
        members = [
            Ridge().fit(view[seen], y[seen], None if weights is None else weights[seen])
            for view, seen in zip(X.views, X.observed.T, strict=True)
        ]
        expected = [
            getattr(np, combine)(
                [m.predict(X.views[v][[i]])[0] for v, m in enumerate(members) if X.observed[i, v]]
            )
            for i in range(60)
        ]
        model = PerViewRegressor(combine=combine).fit(X, y, sample_weight=weights)
        assert_allclose(model.predict(X), expected, atol=1e-12)
    assert {1, 2, 3} == set(X.observed.sum(axis=1))


def test_of_one_view_it_is_the_member(either):
    X, y, (composed, member, _, says, rules) = either
    X = X.select("image")
    model = composed(member(), combine="mean" if "mean" in rules else "mean_decision").fit(X, y)
    expected = getattr(member().fit(X.views[0], y), says)(X.views[0])
    assert_allclose(getattr(model, says)(X), expected, atol=1e-12)


def test_a_splitter_sees_the_numbers(data):
    """Folds by their size, from the smallest to the largest."""

    class ByRank(KFold):
        def split(self, X, y=None, groups=None):
            for _, check in super().split(X):
                rows = np.argsort(y)
                yield np.delete(rows, check), rows[check]

    X, y = data[0], data[0].views[0][:, 0]
    model = PerViewRegressor(combine=Ridge(), cv=ByRank(3)).fit(X, y)
    order = np.argsort(y)
    same = PerViewRegressor(combine=Ridge(), cv=KFold(3)).fit(X[order], y[order])
    assert_allclose(model.predict(X), same.predict(X), atol=1e-10)


@pytest.mark.parametrize("which", range(4))
def test_gaps_are_routed_past_the_view(either, which):
    X, y, (composed, *_, says, rules) = either
    gaps = X.drop_views(0.4, random_state=1)
    model = composed(combine=rules[which % len(rules)], random_state=0).fit(gaps, y)
    assert model.score(gaps, y) > (0.7 if rules is RULES else 0.2)
    said = getattr(model, says)
    assert_allclose(said(gaps[5:9]), said(gaps)[5:9], atol=1e-12)


def test_mapping_drop_remainder_and_a_grid(data):
    X, y = data
    members = {"sound": KNeighborsClassifier(3), "text": "drop"}
    model = PerViewClassifier(members, remainder=GaussianNB())
    grid = GridSearchCV(model, {"sound__n_neighbors": [1, 5], "text": ["drop", GaussianNB()]}, cv=2)
    best = grid.fit(X, y).best_estimator_
    assert set(best.estimators_) >= {"sound", "image"}
    assert best.estimators_["sound"].n_neighbors == grid.best_params_["sound__n_neighbors"]
    assert members["sound"].n_neighbors == 3 and not hasattr(members["sound"], "classes_")
    for words in (r"names the views \['smell'\]", "does not name the views"):
        wrong = {"smell": GaussianNB()} if "smell" in words else {"sound": GaussianNB()}
        with pytest.raises(ValueError, match=words):
            PerViewClassifier(wrong).fit(X, y)
    with pytest.raises(ValueError, match="drops every view"):
        PerViewClassifier({"sound": "drop"}, remainder="drop").fit(X, y)


def test_sparse_dense_and_text_views_in_one_mapping():
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    form = pd.DataFrame({"town": np.where(y, "Ulm", "Bonn"), "age": rng.normal(size=40)})
    notes = np.where(rng.random(40) < 0.8, np.where(y, "hot", "wet"), "dull").astype(object)
    hot = ColumnTransformer([("hot", OneHotEncoder(), ["town"])], remainder="passthrough")
    model = PerViewClassifier(
        {
            "form": make_pipeline(hot, LogisticRegression()),
            "notes": make_pipeline(TfidfVectorizer(), LogisticRegression()),
            "pixels": make_pipeline(StandardScaler(), LogisticRegression()),
        }
    )
    X = {"form": form, "notes": notes, "pixels": rng.normal(size=(40, 5))}
    assert model.fit(X, y).score(X, y) == 1.0
    assert "TfidfVectorizer" in model._repr_html_()


def test_a_member_that_takes_no_weights_is_named(data):
    X, y = data
    nearest = {"text": KNeighborsClassifier()}
    with pytest.raises(
        ValueError, match="view 'text', KNeighborsClassifier: sample_weight was given"
    ):
        PerViewClassifier(nearest, remainder=GaussianNB()).fit(X, y, sample_weight=np.ones(60))


@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        ({"estimator": SVC()}, "combine='mean_proba' needs predict_proba, which SVC of view"),
        ({"combine": "median"}, "combine must be one of"),
        ({"combine": StandardScaler()}, "combine must be a scikit-learn classifier"),
        ({"estimator": StandardScaler()}, "estimator must be a scikit-learn classifier"),
        ({"estimator": Ridge()}, r"estimator must be a scikit-learn classifier, got Ridge\(\)"),
        ({"cv": 1}, "cv must be an integer >= 2"),
        ({"estimator": [GaussianNB()]}, "estimator has 1 entries, but X has 3 views"),
        ({"estimator": CalibratedClassifierCV(SVC(), cv=200)}, "view 'sound', Calibrated"),
    ],
)
def test_wrong_parameters(data, parameters, told):
    with pytest.raises(ValueError, match=told):
        PerViewClassifier(**parameters).fit(*data)


@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        ({"combine": "vote"}, r"combine must be one of \['mean', 'median', 'stack'\], got 'vote'"),
        ({"combine": SVC()}, r"combine must be a scikit-learn regressor, got SVC\(\)"),
        ({"estimator": SVC()}, r"estimator must be a scikit-learn regressor, got SVC\(\)"),
        ({"estimator": {"smell": Ridge()}}, r"estimator names the views \['smell'\]"),
        ({"cv": 1}, "cv must be an integer >= 2"),
    ],
)
def test_wrong_parameters_of_a_regressor(data, parameters, told):
    with pytest.raises(ValueError, match=told):
        PerViewRegressor(**parameters).fit(data[0], data[0].views[0][:, 0])
    with pytest.raises(ValueError, match="y must hold numbers"):
        PerViewRegressor().fit(*data)


def test_a_view_of_one_sample_gets_no_regressor(data):
    X, y = data[0], data[0].views[0][:, 0]
    gaps = X.with_observed(np.arange(60)[:, None] >= [0, 58, 59])
    for rule in ("mean", "median", Ridge()):
        model = PerViewRegressor(combine=rule, cv=60).fit(gaps, y)
        assert list(model.estimators_) == ["sound", "image"]  # two samples are enough
        with pytest.raises(ValueError, match="60 sample.* none of .'sound', 'image'"):
            model.predict(X.with_observed([[False, False, True]] * 60))
    with pytest.raises(ValueError, match="PerViewRegressor needs 2 samples.* got one sample"):
        PerViewRegressor().fit(
            X[:2].with_observed([[True, True, False], [False, False, True]]), y[:2]
        )


def test_members_have_seeds_of_their_own(data):
    model = PerViewClassifier(DecisionTreeClassifier(), random_state=3).fit(*data)
    assert len({member.random_state for member in model.estimators_.values()}) == 3


def test_rare_classes_are_in_every_fold():
    views, y = toy_views(0, m=60, widths=(4, 3))
    y[:] = 0
    y[:2] = 1
    model = PerViewClassifier(combine=LogisticRegression(), cv=5, random_state=0)
    assert model.fit(views, y).predict_proba(views).shape == (60, 2)


def test_several_models_on_a_view_against_loops(either):
    X, y, (composition, base, final, _, _) = either
    X = X.drop_views(0.2, random_state=1)
    seen = X.observed[:, :2].any(axis=1)
    X, y = X[seen], y[seen]
    kind = type(final)
    members = {"sound": [base(), kind()], "image": kind()}
    model = composition(members, combine="stack", remainder="drop", cv=3, random_state=0)
    names = [f"sound__{base.__name__.lower()}", f"sound__{kind.__name__.lower()}", "image"]
    model.set_params(**{f"{names[0]}__C": 0.5}).fit(X, y)
    assert list(model.estimators_) == names
    members = [base(C=0.5), kind(), kind()]
    for name, member, view in zip(names, members, (0, 0, 1), strict=True):
        seen = X.observed[:, view]
        targets = y if base is SVR else np.searchsorted(model.classes_, y)
        member = clone(member).fit(X.views[view][seen], targets[seen])
        ask = "decision_function" if base is SVC else "predict"
        own, twin = (
            getattr(m, ask)(X.views[view][seen]) for m in (model.estimators_[name], member)
        )
        assert_allclose(own, twin, atol=1e-9)
    n_answers = 1 if base is SVR or len(model.classes_) == 2 else 3
    assert len(model.answer_names_) == 3 * n_answers + 2  # and two views that miss somewhere
    assert model.answer_names_[-2:] == ["sound is missing", "image is missing"]
    assert model.final_estimator_.n_features_in_ == len(model.answer_names_)
    assert model.score(X, y) > 0.5


def test_a_stack_learns_from_answers_of_each_model_once_per_fold():
    X, y = world(2)
    fits = []

    class Counted(GaussianNB):
        def fit(self, X, y, sample_weight=None):
            fits.append(len(X))
            return super().fit(X, y, sample_weight)

    model = PerViewClassifier(
        {"sound": [Counted(), SVC()], "image": [("nb", Counted())]},
        combine="stack",
        remainder="drop",
        cv=3,
    ).fit(X, y)
    assert sorted(fits) == [40] * 6 + [60] * 2  # two models, three folds, and all samples
    assert list(model.estimators_) == ["sound__counted", "sound__svc", "image__nb"]


def test_members_of_a_list_are_searched_replaced_and_left_out():
    X, y = world(2)
    given = {"sound": [SVC(), GaussianNB()], "image": GaussianNB(), "text": GaussianNB()}
    model = PerViewClassifier(given, combine="mean_decision")
    assert model.get_params()["sound__svc__C"] == 1.0
    grid = {"sound__svc__C": [0.1, 10.0], "sound__gaussiannb": [LogisticRegression(), "drop"]}
    best = GridSearchCV(model, grid, cv=3, error_score="raise").fit(X, y).best_estimator_
    assert set(best.estimators_) <= {"sound__svc", "sound__gaussiannb", "image", "text"}
    changed = clone(model).set_params(sound__svc__C=7.0)
    assert changed.get_params()["sound__svc__C"] == 7.0
    assert given["sound"][0].C == 1.0  # the caller's stays as it is
    other = clone(model).set_params(sound__gaussiannb=LogisticRegression())
    assert isinstance(other.fit(X, y).estimators_["sound__gaussiannb"], LogisticRegression)
    vote = PerViewClassifier(given, combine="vote").fit(X, y)
    said = np.array(
        [
            m.predict(X.views[v])
            for m, v in zip(vote.estimators_.values(), (0, 0, 1, 2), strict=True)
        ]
    )
    assert_array_equal(vote.predict(X) == "bee", said.mean(axis=0) > 0.5)


def test_a_model_for_every_kind_of_column_by_a_selector():
    rng = np.random.RandomState(0)
    y = rng.randint(2, size=90)
    record = pd.DataFrame({"maker": np.array(["a", "b"])[y ^ (rng.uniform(size=90) < 0.2)]})
    record["age"] = rng.normal(size=90) + y
    X = MultiView({"record": record, "scan": rng.normal(size=(90, 2))})
    words = make_column_transformer((OneHotEncoder(), make_column_selector(dtype_exclude="number")))
    numbers = make_column_transformer(
        (StandardScaler(), make_column_selector(dtype_include="number"))
    )
    kinds = [
        ("words", make_pipeline(words, LogisticRegression())),
        ("numbers", make_pipeline(numbers, GaussianNB())),
    ]
    model = PerViewClassifier({"record": kinds}, remainder="drop", combine="stack").fit(X, y)
    assert list(model.estimators_) == ["record__words", "record__numbers"]
    assert model.answer_names_ == ["record__words", "record__numbers"]
    assert model.final_estimator_.n_features_in_ == 2  # nothing is missing
    assert model.estimators_["record__numbers"][-1].n_features_in_ == 1
    alone = PerViewClassifier({"record": kinds[0][1]}, remainder="drop").fit(X, y)
    assert model.score(X, y) > alone.score(X, y)
