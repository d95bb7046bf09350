"""PatternClassifier, ViewDropout and their twins: gaps by pattern, for any model."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone, is_regressor
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

from mvref import (
    MVLSVM,
    MultiView,
    MVMRegressor,
    PatternClassifier,
    PatternRegressor,
    PerView,
    PerViewClassifier,
    ViewDropout,
    ViewDropoutRegressor,
)
from mvref.core.gaps import takes_views
from mvref.datasets import load_digits_views, load_iris_views
from mvref.rivals import Concat
from tests.literal import toy_views

IRIS = load_iris_views()
VIEWS, CODES = toy_views(0, m=90, widths=(4, 3, 2), n_classes=3, noise=1.0)
X = MultiView(dict(zip(("sound", "image", "text"), VIEWS, strict=True)))
Y = np.array(["ant", "bee", "cat"])[CODES]
NUMBERS = VIEWS[0][:, 0] - VIEWS[1][:, 1] + CODES
GAPPY = X.drop_views(0.4, random_state=0)
IMPUTED = make_pipeline(SimpleImputer(), LogisticRegression(max_iter=1000))
REGRESSION = make_pipeline(SimpleImputer(), Ridge())
ALL = [
    PatternClassifier(SVC()),
    ViewDropout(IMPUTED, random_state=0),
    PatternRegressor(make_pipeline(StandardScaler(with_mean=False), Ridge(tol=1e-12))),
    ViewDropoutRegressor(REGRESSION, random_state=0),
]


def targets(model):
    """What it learns, and the name of the method that tells most of it."""
    return (NUMBERS, "predict") if is_regressor(model) else (Y, "decision_function")


class Recorder(BaseEstimator):
    """Keeps what it was fitted on."""

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        self.X_, self.y_, self.w_ = X, y, sample_weight
        return self

    def predict(self, X):
        return np.arange(len(X)) % 3


class OfClasses(ClassifierMixin, Recorder):
    pass


class OfNumbers(RegressorMixin, Recorder):
    pass


# ------------------------------------------------------------------ reduced models


@pytest.mark.parametrize("train", [X, GAPPY], ids=["complete", "gaps"])
@pytest.mark.parametrize("patterns", ["seen", "all"])
@pytest.mark.parametrize("around", [PatternClassifier, PatternRegressor])
def test_each_pattern_is_answered_by_a_machine_of_its_views(train, patterns, around):
    member = SVC() if around is PatternClassifier else Ridge()
    model = around(member, patterns=patterns)
    y, says = targets(model)
    before = pickle.dumps(model.fit(train, y))
    scores = getattr(model, says)(GAPPY)
    for seen in np.unique(GAPPY.observed, axis=0):
        rows = train.observed[:, seen].all(axis=1)
        ask = (GAPPY.observed == seen).all(axis=1)
        columns = [np.hstack([V.views[v] for v in np.flatnonzero(seen)]) for V in (train, GAPPY)]
        machine = clone(member).fit(columns[0][rows], y[rows])
        assert_allclose(scores[ask], getattr(machine, says)(columns[1][ask]), atol=1e-12)
    assert pickle.dumps(model) == before  # predicting changes nothing
    assert_array_equal(pickle.loads(before).predict(GAPPY), model.predict(GAPPY))
    seen = 7 if patterns == "all" or train is GAPPY else 1
    assert len(model.estimators_) == seen == len(model.patterns_)
    assert hasattr(model, "_training") == (patterns == "seen")


def test_a_seed_is_that_of_every_machine_also_of_new_patterns():
    forest = HistGradientBoostingClassifier(max_iter=3, max_features=0.5)
    model = PatternClassifier(forest, random_state=0).fit(X, Y)
    assert_array_equal(model.decision_function(GAPPY), model.decision_function(GAPPY))


def test_a_pattern_without_a_class_is_answered_by_fewer_views():
    observed = np.ones((90, 3), dtype=bool)
    observed[CODES == 0, 2] = False  # no ant has a text,
    observed[np.flatnonzero(CODES == 1)[5:], 1] = False  # and few bees have an image
    train = X.with_observed(observed)
    with pytest.warns(UserWarning, match=r"sound \+ image \+ text by sound \+ image"):
        model = PatternClassifier(GaussianNB()).fit(train, Y)
    assert model.patterns_["sound", "image", "text"] == ("sound", "image")
    assert model.patterns_["sound", "image"] == ("sound", "image")
    assert_array_equal(model.predict(X), model.predict(X.with_observed([[True, True, False]] * 90)))
    alone = X.with_observed([[False, False, True]] * 90)
    assert_array_equal(model.predict_proba(alone)[:, 0], np.zeros(90))  # its machine knows no ant


@pytest.mark.parametrize("patterns", ["seen", "all"])
def test_a_view_of_one_class_only(patterns):
    """Nothing can be learnt of its numbers: it is told, and left out wherever it is."""
    observed = np.ones((90, 3), dtype=bool)
    observed[:, 2] = CODES == 2
    train = X.with_observed(observed)
    told = pytest.warns(UserWarning, match="class 'ant' has no sample with view 'text'; class 'bee")
    with told, warnings.catch_warnings():
        warnings.filterwarnings("ignore", "a class has no training sample")
        models = [
            model.fit(train, Y)
            for model in (PatternClassifier(patterns=patterns), PerViewClassifier())
        ]
    for model in models:
        without = clone(model).fit(train.select(["sound", "image"]), Y)
        assert_allclose(model.predict_proba(train), without.predict_proba(train.select([0, 1])))
        with pytest.raises(ValueError, match="only the views .'text'|none of .'sound', 'image'.,"):
            model.predict(X.with_observed([[False, False, True]] * 90))


@pytest.mark.parametrize("patterns", ["seen", "all"])
def test_a_pattern_of_one_sample_is_answered_by_fewer_views(patterns):
    """Of two samples a regressor learns."""
    observed = np.ones((90, 3), dtype=bool)
    observed[1:, 2] = False
    model = PatternRegressor(patterns=patterns)
    told = (
        r"At most one training sample has all views of .* sound \+ image \+ text by sound \+ image"
    )
    with pytest.warns(UserWarning, match=told):
        model.fit(X.with_observed(observed), NUMBERS)
    alone = X.select(["sound", "image"])
    assert_allclose(model.predict(X), Ridge().fit(alone.concat(), NUMBERS).predict(alone.concat()))
    with pytest.raises(ValueError, match="'text'., which occur in at most one training sample"):
        model.predict(X.with_observed([[False, False, True]] * 90))
    observed[1, 2] = True
    model.fit(X.with_observed(observed), NUMBERS)
    assert_allclose(model.predict(X), Ridge().fit(X.concat()[:2], NUMBERS[:2]).predict(X.concat()))
    with pytest.raises(ValueError, match="PatternRegressor needs 2 samples .* got one sample"):
        model.fit(X[:1], NUMBERS[:1])


@pytest.mark.filterwarnings("ignore:at most one training sample")
@pytest.mark.parametrize(
    ("n_with", "known"),
    [  # samples of each pattern
        ({"sound image text": 1, "sound image": 9, "sound text": 5, "image text": 5}, (0, 1)),
        ({"sound image text": 1, "text": 9}, (2,)),  # alone, sound and image tell nothing
        ({"sound image text": 2, "text": 9}, (0, 1, 2)),
    ],
)
def test_the_views_that_are_left_are_those_of_most_samples(n_with, known):
    patterns = [pattern for pattern, n in n_with.items() for _ in range(n)]
    seen = np.array([[name in pattern for name in X.names] for pattern in patterns])
    few = X[: len(seen)].with_observed(seen)
    model = PatternRegressor().fit(few, NUMBERS[: len(seen)])
    assert model.patterns_[tuple(X.names)] == tuple(X.names[v] for v in known)
    rows = seen[:, known].all(axis=1)
    table = np.hstack([VIEWS[v] for v in known])
    machine = Ridge().fit(table[: len(seen)][rows], NUMBERS[: len(seen)][rows])
    assert_allclose(model.predict(X), machine.predict(table))


# ------------------------------------------------------------------ masked copies


@pytest.mark.filterwarnings("ignore:.*has learnt nothing")
@pytest.mark.parametrize("share", [0.3, 0.5, 1.0])
@pytest.mark.parametrize("train", [X, X.drop_views(0.2, random_state=1)], ids=["complete", "gaps"])
@pytest.mark.parametrize("model", [ViewDropout(OfClasses()), ViewDropoutRegressor(OfNumbers())])
def test_copies_lack_views_at_the_share_and_have_the_weight_of_the_sample(train, share, model):
    weights, (y, _) = np.arange(1.0, 91.0), targets(model)
    model = clone(model).set_params(share=share, n_copies=4, random_state=0)
    fitted = model.fit(train, y, sample_weight=weights).estimator_
    columns = train.concat()
    copies = fitted.X_.reshape(4, 90, 9)
    assert_array_equal(copies[0], columns)
    there = ~np.isnan(copies[1:, :, [0, 4, 7]])
    assert_allclose(1 - there.mean(), min(share, 2 / 3), atol=0.01)
    assert there.any(axis=2).all()  # nobody is left without a view
    assert not (there & ~train.observed).any()
    assert_array_equal(np.where(np.isnan(copies), columns, copies), [columns] * 4)
    assert_allclose(fitted.w_.reshape(4, 90).sum(axis=0), weights)
    assert_array_equal(fitted.y_, np.tile(y if is_regressor(model) else CODES, 4))
    again = clone(model).fit(train, y, sample_weight=weights).estimator_
    assert_array_equal(again.X_, fitted.X_)


def test_a_classifier_without_weights_gets_copies_and_refuses_weights():
    neighbours = ViewDropout(make_pipeline(SimpleImputer(), KNeighborsClassifier()), random_state=0)
    assert neighbours.fit(X, Y).score(GAPPY, Y) > 0.6
    with pytest.raises(ValueError, match="does not take sample_weight"):
        neighbours.fit(X, Y, sample_weight=np.ones(90))


# ------------------------------------------------------------------ conventions


@pytest.mark.parametrize("model", ALL, ids=repr)
def test_every_form_of_input_and_nested_parameters(model):
    y, says = targets(model)
    scores = getattr(clone(model).fit(X, y), says)(GAPPY)
    flat = clone(model).set_params(views=[4, 3, 2]).fit(np.hstack(VIEWS), y)
    assert_allclose(getattr(flat, says)(GAPPY.concat()), scores, atol=1e-8)
    csr = MultiView([sparse.csr_matrix(view) for view in VIEWS], names=X.names)
    thin = getattr(clone(model).fit(csr, y), says)(csr.with_observed(GAPPY.observed))
    assert_allclose(thin, scores, atol=1e-6)
    C = next(name for name in model.get_params() if name.endswith(("__C", "__alpha")))
    grid = GridSearchCV(model, {C: [0.1, 10.0]}, cv=3, error_score="raise").fit(GAPPY, y)
    assert grid.best_estimator_.get_params()[C] == grid.best_params_[C]
    assert hasattr(model, "predict_proba") == hasattr(model.estimator, "predict_proba")
    with config_context(enable_metadata_routing=True):
        routed = clone(model).set_fit_request(sample_weight=True)
        routed.set_score_request(sample_weight=True)
        weights = {"sample_weight": np.ones(90)}
        assert cross_val_score(routed, X, y, cv=3, params=weights).mean() > 0.5


@pytest.mark.parametrize(
    ("estimator", "takes"),
    [
        (None, False),
        (SVC(), False),
        (MVLSVM(), True),
        (make_pipeline(PerView(StandardScaler()), Concat(SVC())), True),
        (make_pipeline(StandardScaler(), MVLSVM()), False),
        (MVMRegressor(), True),
        (GridSearchCV(MVLSVM(), {}), True),
        (GridSearchCV(make_pipeline(StandardScaler(), SVC()), {}), False),
    ],
)
def test_who_takes_views(estimator, takes):
    assert takes_views(estimator) is takes


@pytest.mark.parametrize("around", [PatternClassifier, ViewDropout])
@pytest.mark.parametrize("member", ["mapping", "sequence"])
def test_an_encoder_for_each_view_sees_the_views_that_are_there(around, member):
    words = pd.DataFrame({"town": np.where(CODES == 0, "Ulm", "Bonn")})
    raw = MultiView({"town": words, "sound": VIEWS[0]})
    encode = {"town": OneHotEncoder(sparse_output=False), "sound": StandardScaler()}
    encode = encode if member == "mapping" else list(encode.values())
    model = around(make_pipeline(PerView(encode), PerViewClassifier()))
    gaps = raw.with_observed(np.column_stack([CODES == 0, np.ones(90, dtype=bool)]))
    assert model.fit(raw, Y).score(gaps, Y) > 0.7
    assert model.predict_proba(gaps).shape == (90, 3)
    assert (model.predict(gaps) == "ant")[CODES == 0].all()
    encode = PerView({"towns": OneHotEncoder()}, remainder="passthrough")
    with pytest.raises(ValueError, match=r"names the views \['towns'\]"):
        around(make_pipeline(encode, PerViewClassifier())).fit(raw, Y)


@pytest.mark.parametrize(
    ("model", "told"),
    [
        (PatternClassifier(patterns="some"), "patterns must be"),
        (PatternClassifier(StandardScaler()), "estimator must be a scikit-learn classifier"),
        (PatternClassifier(Ridge()), "estimator must be a scikit-learn classifier, got Ridge"),
        (PatternRegressor(SVC()), r"estimator must be a scikit-learn regressor, got SVC\(\)"),
        (PatternRegressor(patterns="some"), "patterns must be"),
        (PatternRegressor(), "y must hold numbers, got .*ant"),
        (ViewDropoutRegressor(SVC()), "estimator must be a scikit-learn regressor"),
        (ViewDropout(share=1.5), "share must be"),
        (ViewDropout(n_copies=0), "n_copies must be"),
        (ViewDropout(LogisticRegression()), "'all columns', LogisticRegression: .*NaN"),
    ],
)
def test_bad_parameters_are_refused(model, told):
    with pytest.raises(ValueError, match=told):
        model.fit(X, Y)


# ------------------------------------------------------------------ what they are for


def test_numbers_with_half_of_the_views_gone():
    """Both are ahead of means in the gaps."""
    rng = np.random.default_rng(0)
    y = rng.normal(size=400)
    views = MultiView([y[:, None] + rng.normal(size=(400, 3)) for _ in range(3)])
    later = views[200:].drop_views(0.5, random_state=0)
    score = [
        model.fit(views[:200], y[:200]).score(later, y[200:])
        for model in (ViewDropoutRegressor(REGRESSION, n_copies=1), PatternRegressor(),
                      ViewDropoutRegressor(REGRESSION, random_state=0))
    ]  # fmt: skip
    assert min(score[1:]) > score[0] + 0.05


@pytest.mark.parametrize("data", [IRIS, load_digits_views()], ids=["iris", "digits"])
def test_with_half_of_the_views_gone_both_are_ahead_of_means(data):
    rows = np.random.default_rng(0).permutation(len(data.y))
    train, test = rows[:100], rows[100:500]
    later, y = data.X[test].drop_views(0.5, random_state=0), data.y
    svm, scaler = SVC(C=10.0), StandardScaler()
    filled = make_pipeline(scaler, SimpleImputer(keep_empty_features=True), svm)
    boosting = HistGradientBoostingClassifier(max_iter=20, random_state=0)
    score = {
        name: model.fit(data.X[train], y[train]).score(later, y[test])
        for name, model in {
            "means": Concat(filled),
            "reduced": PatternClassifier(make_pipeline(scaler, svm)),
            "copies": ViewDropout(filled, random_state=0),
            "boosting": Concat(boosting),
            "boosting on copies": ViewDropout(boosting, random_state=0),
        }.items()
    }
    assert min(score["reduced"], score["copies"]) > score["means"] + 0.05
    assert score["boosting on copies"] > score["boosting"] + 0.05
