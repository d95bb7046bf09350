"""PerViewClassifier: a classifier per view, combined by a vote, a mean or a classifier on top."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import check_random_state

from mvref import MultiView, PerViewClassifier
from mvref.core.voters import class_folds
from tests.literal import toy_views

RULES = ("vote", "mean_proba", "mean_decision", LogisticRegression())


@pytest.fixture(params=[2, 3])
def data(request):
    views, y = toy_views(0, m=60, widths=(4, 3, 2), n_classes=request.param, noise=1.0)
    X = MultiView({"sound": views[0], "image": views[1], "text": views[2]})
    return X, np.array(["ant", "bee", "cat"])[y]


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


def test_a_classifier_on_top_learns_from_what_was_not_seen(data):
    """Its table is cross_val_predict's, on the same folds."""
    X, y = data
    top = LogisticRegression(C=3.0)
    model = PerViewClassifier(SVC(), combine=top, cv=4, random_state=7).fit(X, y)
    rng = check_random_state(7)
    rng.randint(2**31, size=3)  # the seeds of three SVMs
    codes = np.unique(y, return_inverse=True)[1]
    folds = class_folds(codes, 4, rng)
    told = [
        cross_val_predict(SVC(), view, y, cv=folds, method="decision_function") for view in X.views
    ]
    top.fit(np.column_stack(told), y)
    members = alone(X, y, SVC)
    new = [m.decision_function(v) for m, v in zip(members, X.views, strict=True)]
    new = np.column_stack(new)
    assert_allclose(model.predict_proba(X), top.predict_proba(new), atol=1e-8)
    assert_array_equal(model.predict(X), top.predict(new))


@pytest.mark.parametrize("combine", RULES, ids=str)
def test_gaps_are_routed_past_the_view(data, combine):
    X, y = data
    gaps = X.drop_views(0.4, random_state=1)
    model = PerViewClassifier(combine=combine, random_state=0).fit(gaps, y)
    assert model.score(gaps, y) > 0.7
    assert_allclose(
        model.decision_function(gaps[5:9]), model.decision_function(gaps)[5:9], atol=1e-12
    )


def test_mapping_drop_remainder_and_a_grid(data):
    X, y = data
    members = {"sound": KNeighborsClassifier(3), "text": "drop"}
    model = PerViewClassifier(members, remainder=GaussianNB())
    grid = GridSearchCV(model, {"sound__n_neighbors": [1, 5], "text": ["drop", GaussianNB()]}, cv=2)
    best = grid.fit(X, y).best_estimator_
    assert set(best.estimators_) >= {"sound", "image"}
    assert best.estimators_["sound"].n_neighbors == grid.best_params_["sound__n_neighbors"]
    assert members["sound"].n_neighbors == 3 and not hasattr(members["sound"], "classes_")
    for words in (r"names the views \['smell'\]", "must name every view"):
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
    with pytest.raises(ValueError, match="view 'text', KNeighborsClassifier.*no sample_weight"):
        PerViewClassifier(nearest, remainder=GaussianNB()).fit(X, y, sample_weight=np.ones(60))


@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        ({"estimator": SVC()}, "combine='mean_proba' needs probabilities, which SVC of view"),
        ({"combine": "median"}, "combine must be one of"),
        ({"combine": StandardScaler()}, "combine must be a scikit-learn classifier"),
        ({"estimator": StandardScaler()}, "estimator must be a scikit-learn classifier"),
        ({"cv": 1}, "cv must be an integer >= 2"),
        ({"estimator": [GaussianNB()]}, "estimator has 1 entries, X has 3 views"),
        ({"estimator": CalibratedClassifierCV(SVC(), cv=200)}, "view 'sound', Calibrated"),
    ],
)
def test_wrong_parameters(data, parameters, told):
    with pytest.raises(ValueError, match=told):
        PerViewClassifier(**parameters).fit(*data)


def test_members_have_seeds_of_their_own(data):
    model = PerViewClassifier(DecisionTreeClassifier(), random_state=3).fit(*data)
    assert len({member.random_state for member in model.estimators_.values()}) == 3


def test_rare_classes_are_in_every_fold():
    views, y = toy_views(0, m=60, widths=(4, 3))
    y[:] = 0
    y[:2] = 1
    model = PerViewClassifier(combine=LogisticRegression(), cv=5, random_state=0)
    assert model.fit(views, y).predict_proba(views).shape == (60, 2)
