"""Sample weights: forms, errors, classes, pipelines, searches, ensembles."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import AdaBoostClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from mvref import KMHKS, MVLSVM, MultiView, PerView, PerViewClassifier
from tests.literal import hide, random_pattern, toy_views
from tests.test_api import CHEAP, WEIGHTED

WIDTHS = [4, 3]
VIEWS, Y = toy_views(0, m=60, widths=WIDTHS, noise=1.5)
NAMES = np.array(["no", "yes"])[Y]
X = MultiView(VIEWS)
FLAT = np.hstack(VIEWS)
W = np.random.default_rng(0).integers(0, 4, size=60).astype(float)
EXACT = {"tol": 1e-14}

THREE, Y3 = toy_views(1, m=60, widths=(3, 4, 2), n_classes=3, noise=1.0)
BALANCING = [name for name in WEIGHTED if "class_weight" in WEIGHTED[name]().get_params()]
BOOSTED = ("MVWAB", "RBoostSH", "Mumbo")
# Methods, and settings with which the rare class is never predicted without weights.
RARE = [
    *(("MVLSVM", {"n_landmarks": 50, "c": 1.0, "loss": s}) for s in ("hinge", "squared_hinge")),
    *(("MwMvC2", {"voters": v}) for v in ("trees", [DecisionTreeClassifier(max_depth=1)])),
    *((name, {"n_estimators": 20}) for name in BOOSTED),
    *((name, {"c": 20.0}) for name in ("MVNAKMHKS", "NAKMHKS", "KMHKS")),
    *((name, {}) for name in ("PerViewSVM", "SVM2K", "CoLabeling")),
    ("MSL", {"C": 1.0}),
]


def seeded(name, **parameters):
    """Return a cheap method, with a seed if it takes one."""
    model = WEIGHTED[name](**CHEAP.get(name, {}) | parameters)
    return model.set_params(random_state=0) if "random_state" in model.get_params() else model


def scores(weights, **options):
    return KMHKS(**options).fit(X, Y, sample_weight=weights).decision_function(X)


# ------------------------------------------------------------------ forms


@pytest.mark.parametrize(
    "form", [list, tuple, np.float32, np.int64, lambda w: pd.Series(w, index=range(5, 65))]
)
def test_forms_of_weights(form):
    assert_array_equal(scores(form(W)), scores(W))
    assert np.abs(scores(W) - scores(None)).max() > 0.01


def test_a_gram_matrix_cannot_lose_samples():
    K = VIEWS[0] @ VIEWS[0].T
    machine = KMHKS(kernel="gram")
    assert machine.fit([K], Y, sample_weight=np.maximum(W, 0.5)).score([K], Y) > 0.5
    with pytest.raises(ValueError, match=rf"0 for {np.sum(W == 0)} samples: with kernel='gram'"):
        machine.fit([K], Y, sample_weight=W)


def test_weights_reach_the_pipelines_of_the_views_whatever_the_routing():
    def probabilities(routing, weights):
        model = PerViewClassifier(make_pipeline(StandardScaler(), LogisticRegression()))
        with config_context(enable_metadata_routing=routing):
            return model.fit(X, Y, sample_weight=weights).predict_proba(X)

    assert_array_equal(probabilities(True, W), probabilities(False, W))
    assert np.abs(probabilities(True, W) - probabilities(True, None)).max() > 0.01


def test_equal_weights_are_none():
    assert_allclose(scores(np.ones(60), **EXACT), scores(None, **EXACT), atol=1e-12)


@pytest.mark.parametrize(
    ("weights", "told"),
    [
        (np.ones(59), r"sample_weight.shape == \(59,\), expected \(60,\)"),
        (np.ones((60, 1)), "1D array or scalar"),
        (pd.DataFrame({"w": np.ones(60)}), "1D array or scalar"),
        (-W, "Negative values"),
        (np.where(W > 0, W, np.nan), "sample_weight contains NaN"),
        (np.where(W > 0, W, np.inf), "sample_weight contains infinity"),
        (np.zeros(60), "at least one non-zero number"),
        (np.ma.array(np.ones(60), mask=W == 0), "sample_weight .* masked"),
        ("balanced", "could not convert"),
        (np.where(Y == 1, W, 0.0), "at least 2 classes in y, got one class: 1"),
    ],
)
def test_refused_weights(weights, told):
    with pytest.raises(ValueError, match=told):
        KMHKS().fit(X, Y, sample_weight=weights)


@pytest.mark.parametrize(
    ("class_weight", "told"),
    [
        ("even", "class_weight"),
        ([1.0, 2.0], "class_weight"),
        ({"maybe": 2.0, "no": 1.0}, "'yes'.* not in class_weight"),
        *(({"yes": bad}, "class_weight must be a number > 0, got") for bad in (0, -1, np.nan, "a")),
    ],
)
def test_refused_class_weights(class_weight, told):
    with pytest.raises(ValueError, match=told):
        KMHKS(class_weight=class_weight).fit(X, NAMES)


# ------------------------------------------------------------------ classes


def test_labels_of_another_type_with_weights():
    """Check rows of weight 0: a class whose rows all have weight 0 is not learnt."""
    labels = pd.Series(np.where(W == 0, "zz", NAMES), dtype="string")
    model = KMHKS(class_weight={"yes": 2.0}).fit(X, labels, sample_weight=W)
    assert_array_equal(model.classes_, ["no", "yes"])
    assert_array_equal(model.decision_function(X), scores(W, class_weight={1: 2.0}))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("given", [{0: 2.0, 2: 0.5}, "balanced"], ids=str)
@pytest.mark.parametrize("name", BALANCING)
def test_class_weights_are_weights_of_samples_in_every_method(name, given):
    """Check that class weights are not counted twice, in samples and in the method itself."""
    weights = np.linspace(0.5, 2, 60)
    of_class = np.array([2.0, 1.0, 0.5])
    if given == "balanced":
        of_class = weights.sum() / (3 * np.bincount(Y3, weights))
    model = seeded(name, class_weight=given).fit(THREE, Y3, sample_weight=weights)
    again = seeded(name).fit(THREE, Y3, sample_weight=weights * of_class[Y3])
    assert_array_equal(model.decision_function(THREE), again.decision_function(THREE))


@pytest.mark.filterwarnings("ignore:.*has learnt nothing")
@pytest.mark.parametrize(("name", "options"), RARE)
def test_balanced_classes_help_where_one_is_rare(name, options):
    """Check 7 % positives, with rounded features so that trees cannot separate them."""
    rng = np.random.default_rng(1)
    y = (np.arange(1000) % 14 == 0).astype(int)
    X = MultiView([np.round(rng.normal(size=(1000, n)) + y[:, None]) for n in (4, 3)])
    plain, balanced = (
        balanced_accuracy_score(
            y[500:],
            seeded(name, **options, class_weight=given).fit(X[:500], y[:500]).predict(X[500:]),
        )
        for given in (None, "balanced")
    )
    assert balanced > max(0.7, plain + 0.05)


# ------------------------------------------------------------------ copies

LOGISTIC = LogisticRegression(solver="newton-cholesky", tol=1e-12)
STUMP = DecisionTreeClassifier(max_depth=1, random_state=0)
SINGLE, WIDE = (300, (1, 1, 1)), (90, (4, 2, 3))  # samples and widths
STEPS = [
    {"update": "paper"},
    *({"step": s, "rho_step": r} for s in ("backtrack", "collins") for r in ("qp", "exact")),
]
# A method, its training data, the tolerance of the scores, and other attributes that agree.
# Copies equal weights up to ties in the trees, between splits or classes of a leaf, which depend on
# rounding. Many samples of single features seldom tie, and a logistic regression never does.
COPIES = [
    *(
        ("MwMvC2", {"voters": voters, "max_iter": 3} | step, WIDE, 1e-6, "tie_keys_ loss_curve_")
        for voters in ("trees", "random_trees", [LOGISTIC, STUMP])
        for step in STEPS
    ),
    *(
        (name, {"estimator": learner, "n_estimators": 5}, data, 1e-7, "tie_keys_ alphas_ edges_")
        for name in BOOSTED
        for learner, data in ((None, SINGLE), (LOGISTIC, WIDE))
    ),
    *(
        ("MVML", {"lam": 0.3, "eta": 0.1, "n_rounds": 3, "tol": 1e-12, "sparse": sparse}
         | {"learn_weights": learnt}, WIDE, 1e-7, "objective_curve_ lower_bound_ block_norms_")
        for sparse in (False, True)
        for learnt in (False, True)
    ),
    *(
        ("SVM2K", {"C1": 0.1, "C2": C2, "D": 0.1, "eps": 0.01, "tol": 1e-9}, WIDE, 1e-5,
         "objective_")
        for C2 in (None, 0.4)
    ),
    ("PerViewClassifier", {"estimator": LOGISTIC}, WIDE, 1e-7, ""),
]  # fmt: skip


@pytest.mark.parametrize(("n_classes", "missing"), [(2, False), (3, True)])
@pytest.mark.parametrize(("name", "options", "data", "close", "same"), COPIES)
def test_weights_are_copies(name, options, data, close, same, n_classes, missing):
    """Check scores, labels, tie-breaking and curves against repeated samples, and missing views."""
    m, widths = data
    views, y = toy_views(0, m, widths, n_classes, noise=2.0)
    X = MultiView(hide(views, random_pattern(0, m, 3)) if missing else views)
    w = np.random.default_rng(0).integers(0, 4, size=m)
    rows = np.repeat(np.arange(m), w)
    weighted = seeded(name, **options).fit(X, y, sample_weight=w)
    copied = seeded(name, **options).fit(X[rows], y[rows])
    expected = copied.decision_function(X)
    assert_allclose(weighted.decision_function(X), expected, atol=close)
    assert_array_equal(weighted.predict(X), copied.predict(X))
    for attribute in same.split():
        pair = [np.atleast_1d(getattr(model, attribute)) for model in (weighted, copied)]
        assert_allclose(*map(np.hstack, pair), rtol=1e-7, atol=1e-9)
    plain = seeded(name, **options).fit(X, y).decision_function(X)
    assert np.abs(plain - expected).max() > 0.01


# ------------------------------------------------------------------ routing

FOLDS = StratifiedKFold(3)


def svm(**options):
    return MVLSVM(landmarks=np.arange(8), c=5.0, random_state=0, **options)


def test_routing_through_cross_validate():
    with config_context(enable_metadata_routing=True):
        model = svm().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        found = cross_validate(
            model, X, Y, cv=FOLDS, params={"sample_weight": W}, return_estimator=True
        )
    folds = FOLDS.split(FLAT, Y)
    for (train, test), fitted, score in zip(
        folds, found["estimator"], found["test_score"], strict=True
    ):
        expected = svm().fit(X[train], Y[train], sample_weight=W[train])
        assert score == expected.score(X[test], Y[test], sample_weight=W[test])
        assert_array_equal(fitted.coef_, expected.coef_)
        assert np.abs(fitted.coef_ - svm().fit(X[train], Y[train]).coef_).max() > 1e-3


@pytest.mark.parametrize("routing", [True, False])
def test_pipeline(routing):
    """Check that PerView's transformers get no weights, as its Notes state."""
    scaled = PerView(StandardScaler())
    expected = svm().fit(scaled.fit_transform(X), Y, sample_weight=W).coef_
    with config_context(enable_metadata_routing=routing):
        if routing:
            model = make_pipeline(scaled, svm().set_fit_request(sample_weight=True))
            model.fit(X, Y, sample_weight=W)
        else:
            model = make_pipeline(scaled, svm()).fit(X, Y, mvlsvm__sample_weight=W)
    assert_array_equal(model[-1].coef_, expected)


def test_calibrated_classifier_with_gaps():
    gaps = MultiView(hide(VIEWS, random_pattern(0, 60, 2, n_complete=40)))
    model = CalibratedClassifierCV(svm(), cv=FOLDS)
    model.fit(gaps, Y, sample_weight=W)
    assert_allclose(model.predict_proba(gaps).sum(axis=1), 1.0)
    parts = model.calibrated_classifiers_
    for (train, _), part in zip(FOLDS.split(FLAT, Y), parts, strict=True):
        alone = svm().fit(gaps[train], Y[train], sample_weight=W[train])
        assert_array_equal(part.estimator.coef_, alone.coef_)


def test_boosted_by_scikit_learn():
    """Check AdaBoostClassifier, which weights the samples of every round, on 2-D input."""
    weak = KMHKS(views=WIDTHS, c=100.0)
    boosted = AdaBoostClassifier(weak, n_estimators=3).fit(FLAT, Y)
    first, second = boosted.estimators_[:2]
    alone = clone(weak).fit(X, Y, np.full(60, 1 / 60))
    assert_array_equal(first.decision_function(X), alone.decision_function(X))
    assert np.abs(first.decision_function(X) - second.decision_function(X)).max() > 1e-6
