"""The common API: scikit-learn's own checks, the public contract, state and randomness."""

import inspect
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    cross_val_score,
    learning_curve,
    train_test_split,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import check_random_state
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import check_is_fitted

import mvref
from mvref import (
    KMHKS,
    MVLSVM,
    MVNAKMHKS,
    MVPO,
    NAKMHKS,
    LandmarkProjection,
    MultiView,
    MVMClassifier,
    MVMRegressor,
    MwMvC2,
    PerView,
)
from mvref.rivals import (
    CAPO,
    L3SVM,
    MSL,
    MVML,
    MVMV,
    MVWAB,
    SMS,
    SVM2K,
    CoLabeling,
    Concat,
    FMClassifier,
    FMRegressor,
    FSMulti,
    Fusion,
    LaplacianCompletion,
    Mono,
    Mumbo,
    PerViewSVM,
    RBoostSH,
    STMClassifier,
    SVMPerf,
)
from tests.literal import hide, random_pattern, toy_views

METHODS = mvref.all_methods()
CLASSIFIERS = [name for name, method in METHODS.items() if is_classifier(method())]
WIDTHS = [4, 3]
VIEWS, Y = toy_views(0, m=60, widths=WIDTHS)
X = MultiView(VIEWS)
FLAT = np.hstack(VIEWS)

# What MVPO and its rivals share.
FOR_A_MEASURE = {"C2": 100.0, "tol": ..., "max_iter": ..., "fit_intercept": True, "views": None}
CERTIFIED = ["coef_", "intercept_", "n_iter_", "dual_gap_", "primal_curve_", "dual_curve_"]

# What the two multi-view machines share, and what the two factorisation machines do.
MVM = (
    {
        "n_factors": 8,
        "loss": ...,
        "alpha": ...,
        "penalty": "l2",
        "solver": "lbfgs",
        "init": "live",
        "init_scale": ...,
        "groups": None,
        "learning_rate": ...,
        "batch_size": ...,
        "max_iter": ...,
        "tol": ...,
        "random_state": None,
        "views": None,
    },
    ["factors_", "loss_curve_", "n_iter_", "n_parameters"],
)
KERNEL_MACHINE = {
    "kernel": "rbf",
    "gamma": None,
    "c": 1.0,
    "solver": "exact",
    "learning_rate": ...,
    "tol": ...,
    "max_iter": ...,
    "multi_class": "ovo",
    "views": None,
}
MACHINES = ["alphas_", "intercepts_", "components_", "objective_curve_", "n_iter_"]
FM = (
    {"n_factors": 8, "order": 2, "multiview": False, "alpha": ..., "views": None},
    ["intercept_", "coef_", "factors_", "loss_curve_", "n_iter_"],
)

# What the design promises: constructor parameters with their defaults, and fitted attributes.
CONTRACT = {
    LandmarkProjection: (
        {
            "n_landmarks": ...,
            "kernel": "rbf",
            "gamma": ...,
            "ridge": 0.1,
            "keep_known": True,
            "clip": "auto",
            "random_state": None,
            "views": None,
        },
        ["landmarks_", "landmark_indices_"],
    ),
    MVLSVM: (
        {
            "n_landmarks": ...,
            "kernel": "rbf",
            "gamma": ...,
            "ridge": 0.1,
            "keep_known": True,
            "clip": "auto",
            "c": ...,
            "loss": ...,
            "fit_intercept": ...,
            "intercept_scaling": ...,
            "tol": ...,
            "max_iter": ...,
            "random_state": None,
            "views": None,
        },
        ["coef_", "intercept_", "projection_"],
    ),
    PerView: ({"transformer": ...}, []),
    MVPO: (
        {
            "measure": "f1",
            "C1": ...,
            "C2": ...,
            "normalize": ...,
            "tol": ...,
            "max_iter": ...,
            "fit_intercept": ...,
            "solver": "auto",
            "views": None,
        },
        CERTIFIED,
    ),
    MwMvC2: (
        {
            "voters": "trees",
            "max_iter": 2,
            "update": "monotone",
            "step": "backtrack",
            "rho_step": "qp",
            "random_state": None,
            "views": None,
        },
        ["rho_", "pi_", "voters_", "loss_curve_", "rho_path_"],
    ),
    PerViewSVM: ({"views": None}, []),
    LaplacianCompletion: ({"views": None}, []),
    Mono: ({"estimator": None, "views": None}, ["view_", "scores_", "estimator_"]),
    Concat: ({"estimator": None, "views": None}, ["estimator_"]),
    Fusion: (
        {"estimator": None, "final_estimator": None, "train_size": 0.6, "views": None},
        ["estimators_", "final_estimator_"],
    ),
    MVMV: ({"estimator": None, "ties": "random", "views": None}, ["estimators_"]),
    MVWAB: ({"n_estimators": 100, "ties": "random", "views": None}, ["voters_", "alphas_"]),
    RBoostSH: (
        {"n_estimators": 100, "gamma": 0.3, "sigma": 0.15, "ties": "random", "views": None},
        ["view_history_", "view_probabilities_", "alphas_", "edges_"],
    ),
    Mumbo: ({"n_estimators": 100, "ties": "random", "views": None}, ["voters_", "alphas_"]),
    SVMPerf: ({"measure": "f1", **FOR_A_MEASURE}, CERTIFIED),
    SMS: ({"measure": "prbep", "smoothing": ..., **FOR_A_MEASURE}, CERTIFIED),
    CAPO: (
        {"measure": "f1", "auxiliaries": None, "B": ..., "random_state": None, **FOR_A_MEASURE},
        ["auxiliaries_", *CERTIFIED],
    ),
    FSMulti: ({"measure": "f1", "n_features": ..., **FOR_A_MEASURE}, ["groups_", *CERTIFIED]),
    MVMClassifier: MVM,
    MVNAKMHKS: (
        {
            "n_views": None,
            "n_components": "auto",
            "coupling": 1.0,
            "view_weights": None,
            "decision": "nystrom",
            "random_state": None,
            **KERNEL_MACHINE,
        },
        ["view_weights_", *MACHINES],
    ),
    NAKMHKS: (
        {
            "n_components": "auto",
            "decision": "nystrom",
            "random_state": None,
            **KERNEL_MACHINE,
        },
        MACHINES,
    ),
    KMHKS: (KERNEL_MACHINE, MACHINES),
    MVMRegressor: MVM,
    FMClassifier: FM,
    FMRegressor: FM,
    SVM2K: (
        {
            "C1": 1.0,
            "C2": None,
            "D": 1.0,
            "eps": 1e-3,
            "kernel": "rbf",
            "gamma": None,
            "ties": "score",
            "tol": ...,
            "max_iter": ...,
            "random_state": None,
            "views": None,
        },
        ["pairs_", "dual_coef_", "objective_", "dual_gap_", "n_iter_"],
    ),
    L3SVM: (
        {
            "n_clusters": ...,
            "n_landmarks": "auto",
            "kernel": "linear",
            "landmarks": "shared",
            "c": ...,
            "random_state": None,
            "views": None,
        },
        ["clusters_", "landmarks_", "coef_", "intercept_", "n_iter_"],
    ),
    MVML: (
        {
            "lam": ...,
            "eta": ...,
            "sparse": False,
            "kernel": "rbf",
            "gamma": None,
            "n_components": ...,
            "n_rounds": 6,
            "tol": 1e-4,
            "learn_weights": False,
            "random_state": None,
            "views": None,
        },
        ["dual_coef_", "weights_", "block_norms_", "objective_curve_", "lower_bound_", "n_iter_"],
    ),
    CoLabeling: (
        {"C": 1.0, "kernel": "rbf", "gamma": None, "max_rounds": ..., "views": None},
        ["dual_coef_", "intercept_", "dual_gap_", "transduction_"],
    ),
    MSL: (
        {
            "alpha": ...,
            "C": 1.0,
            "beta": 1.0,
            "ridge": ...,
            "random_state": None,
            "views": None,
        },
        ["pair_", "components_", "factor_", "theta_", "dual_gap_", "coef_", "intercept_"],
    ),
    STMClassifier: (
        {"kernel": "rank_one", "C": 1.0, "n_restarts": ..., "views": None},
        ["coef_", "intercept_", "objective_curve_", "objectives_", "n_iter_"],
    ),
}

# A parameter of every method and two values of it, to be stored, copied and searched.
TWO_VALUES = dict.fromkeys(METHODS, ("gamma", 0.01, 0.3)) | {
    "MwMvC2": ("max_iter", 1, 3),
    "MVPO": ("C2", 1.0, 10.0),
    "Mono": ("cv", 2, 3),
    "Concat": ("estimator", DecisionTreeClassifier(max_depth=1), None),
    "Fusion": ("train_size", 0.5, 0.7),
    "MVMV": ("estimator", DecisionTreeClassifier(max_depth=1), None),
    "MVWAB": ("n_estimators", 1, 5),
    "RBoostSH": ("n_estimators", 1, 5),
    "Mumbo": ("n_estimators", 1, 5),
    "SVMPerf": ("C2", 1.0, 50.0),
    "SMS": ("C2", 1.0, 50.0),
    "CAPO": ("C2", 1.0, 50.0),
    "FSMulti": ("C2", 1.0, 50.0),
    "MVNAKMHKS": ("c", 0.1, 1.0),
    "NAKMHKS": ("c", 0.1, 1.0),
    "KMHKS": ("c", 0.1, 1.0),
    "MVMClassifier": ("alpha", 1e-4, 1e-2),
    "MVMRegressor": ("alpha", 1e-4, 1e-2),
    "FMClassifier": ("alpha", 0.01, 0.1),
    "FMRegressor": ("alpha", 0.01, 0.1),
    "STMClassifier": ("C", 0.1, 1.0),
    "L3SVM": ("n_clusters", 1, 3),
    "MVML": ("lam", 0.01, 1.0),
    "MSL": ("C", 0.1, 1.0),
}


# Fewer rounds, starts and folds, and looser solutions: the defaults take long in the tests of the
# API and check nothing more.
CHEAP = {
    "MVWAB": {"n_estimators": 8},
    "RBoostSH": {"n_estimators": 8},
    "Mumbo": {"n_estimators": 8},
    "SVM2K": {"tol": 1e-2},
    "STMClassifier": {"n_restarts": 2},
    "L3SVM": {"n_init": 2},
    "CAPO": {"cv": 2},
    "FSMulti": {"tol": 0.1},
}


def cheap(name, **parameters):
    """An instance that fits fast."""
    return METHODS[name](**CHEAP.get(name, {}) | parameters)


# Some checks fit noise or repeated rows, on which the hinge stops at max_iter and says so: a small
# one will do. Others compare two MultiViews with NumPy.
SOON = {"max_iter": 1000}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:a MultiView is turned into")
@parametrize_with_checks(
    [
        *(cheap(name) for name in METHODS if name not in ("MVLSVM", "L3SVM")),
        MVLSVM(**SOON),
        L3SVM(n_init=2, **SOON),
        PerView(StandardScaler()),
        PerView(),
        MVLSVM(loss="squared_hinge", landmarks="per_view", keep_known=False, **SOON),
        MwMvC2(update="paper", ties="largest"),
        MwMvC2("random_trees", step="collins", rho_step="exact", ties="smallest"),
        PerViewSVM(ties="smallest"),
    ]
)
def test_scikit_learns_estimator_checks(estimator, check):
    check(estimator)


# ------------------------------------------------------------------ the contract


def test_public_names():
    assert {"MultiView", "PerView", "MVLSVM", "LandmarkProjection", "all_methods"} <= set(
        mvref.__all__
    )
    for name in mvref.__all__:
        assert hasattr(mvref, name)
    assert isinstance(mvref.__version__, str)


def test_all_methods():
    assert {"LandmarkProjection", "MVLSVM", "PerViewSVM", "LaplacianCompletion"} <= set(METHODS)
    for name, method in METHODS.items():
        assert method.__name__ == name and issubclass(method, BaseEstimator)
    assert mvref.all_methods() is not mvref.all_methods()  # nobody can change it for others


@pytest.mark.parametrize("method", CONTRACT, ids=lambda method: method.__name__)
def test_constructor_and_fitted_attributes(method):
    parameters, fitted = CONTRACT[method]
    signature = inspect.signature(method).parameters
    for name, default in parameters.items():
        assert name in signature
        if default is not ...:
            assert signature[name].default == default
    estimator = method().fit(X, Y)
    for name in fitted:
        assert hasattr(estimator, name)


@pytest.mark.parametrize("method", [*METHODS.values(), PerView], ids=lambda m: m.__name__)
def test_docstring_names_every_parameter_and_has_an_example(method):
    doc = inspect.getdoc(method)
    for name in inspect.signature(method).parameters:
        assert name in doc, f"parameter {name} is not described"
    assert ">>>" in doc
    for function in ("fit", "transform", "predict", "decision_function"):
        if hasattr(method, function):
            assert inspect.getdoc(getattr(method, function))


def test_classifiers_are_recognised():
    """The order of bases: mixins before BaseEstimator."""
    others = {"LandmarkProjection", "LaplacianCompletion", "MVMRegressor", "FMRegressor"}
    assert set(METHODS) - set(CLASSIFIERS) == others
    assert all(is_regressor(METHODS[name]()) for name in others if "Regressor" in name)
    for name in CLASSIFIERS:
        assert method_tags(METHODS[name]).estimator_type == "classifier"
    assert is_classifier(make_pipeline(PerView(StandardScaler()), MVLSVM()))


def method_tags(method):
    return method().__sklearn_tags__()


@pytest.mark.parametrize("name", METHODS)
def test_clone_and_parameters(name):
    parameter, value, other = TWO_VALUES[name]
    estimator = METHODS[name](views=WIDTHS, **{parameter: value})
    copy = clone(estimator)
    assert copy is not estimator and repr(copy) == repr(estimator)
    assert set(copy.get_params()) == set(estimator.get_params())
    copy.set_params(**{parameter: other})
    assert getattr(estimator, parameter) is value and getattr(copy, parameter) is other


@pytest.mark.parametrize("name", METHODS)
def test_the_constructor_only_stores(name):
    """No check, no copy, no conversion before fit."""
    signature = inspect.signature(METHODS[name])
    marks = {parameter: object() for parameter in signature.parameters}
    estimator = METHODS[name](**marks)
    assert all(getattr(estimator, parameter) is mark for parameter, mark in marks.items())
    assert set(vars(estimator)) == set(marks)


@pytest.mark.parametrize("name", METHODS)
def test_fit_changes_neither_parameters_nor_data(name):
    gaps = MultiView(hide(VIEWS, random_pattern(0, 60, 2)))
    before, y = gaps.concat(), Y.copy()
    estimator = METHODS[name]()
    parameters = estimator.get_params()
    assert estimator.fit(gaps, y) is estimator
    assert estimator.get_params() == parameters
    assert_array_equal(gaps.concat(), before)
    assert_array_equal(y, Y)
    fitted = [a for a in vars(estimator) if a not in parameters and not a.startswith("_")]
    assert fitted and all(a.endswith("_") for a in fitted)


# ------------------------------------------------------------------ forms of input


def output(estimator, X):
    """What a fitted estimator says of X, as one array."""
    if hasattr(estimator, "decision_function"):
        return estimator.decision_function(X)
    if is_regressor(estimator):
        return estimator.predict(X)
    out = estimator.transform(X)
    return out.concat() if isinstance(out, MultiView) else out


def with_seed(name, **parameters):
    """An instance with a seed, where it takes one."""
    estimator = cheap(name, **parameters)
    if "random_state" in estimator.get_params():
        estimator.set_params(random_state=0)
    return estimator


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("missing", [False, True])
def test_every_form_of_input_gives_the_same_answer(name, missing):
    observed = random_pattern(4, 60, 2, n_complete=20)
    observed[:, 0] = True
    views = hide(VIEWS, observed) if missing else VIEWS
    flat = np.hstack(views)
    columns = list("abcdefg")
    forms = [
        (None, MultiView(views)),
        (None, views),
        (None, tuple(views)),
        (None, {"p": views[0], "q": views[1]}),
        (None, [pd.DataFrame(v) for v in views]),
        (None, [v.tolist() for v in views]),
        (WIDTHS, flat),
        ([slice(0, 4), [4, 5, 6]], flat),
        ({"p": 4, "q": 3}, flat),
        ([columns[:4], columns[4:]], pd.DataFrame(flat, columns=columns)),
    ]
    answers = []
    for cut, form in forms:
        estimator = with_seed(name, views=cut).fit(form, Y)
        assert estimator.n_features_in_ == 7
        answers.append(output(estimator, form))
    for answer in answers[1:]:
        assert_allclose(answer, answers[0], atol=1e-6)
    csr = MultiView([sparse.csr_matrix(v) for v in VIEWS], observed=MultiView(views).observed)
    # products of sparse matrices round differently, and iterative solvers amplify that
    assert_allclose(output(with_seed(name).fit(csr, Y), csr), answers[0], atol=1e-3)


@pytest.mark.parametrize("name", METHODS)
def test_a_flat_table_without_views_is_one_view(name):
    one = with_seed(name).fit(FLAT, Y)
    assert_array_equal(output(one, FLAT), output(with_seed(name).fit([FLAT], Y), [FLAT]))


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_model_selection_tools(name):
    model = with_seed(name)
    train, test, y_train, y_test = train_test_split(X, Y, random_state=0, stratify=Y)
    assert clone(model).fit(train, y_train).score(test, y_test) > 0.6  # of 15 samples
    flat = clone(model).set_params(views=WIDTHS)
    scores = cross_val_score(model, X, Y, cv=3)
    assert_array_equal(scores, cross_val_score(flat, FLAT, Y, cv=3))
    parameter, *values = TWO_VALUES[name]
    search = GridSearchCV(model, {parameter: values}, cv=3).fit(X, Y)
    assert search.best_score_ == max(search.cv_results_["mean_test_score"])
    _, _, curve = learning_curve(model, X, Y, train_sizes=[0.5, 1.0], cv=3, shuffle=True)
    assert curve.shape == (2, 3) and np.isfinite(curve).all()


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_scikit_learns_own_scaler_before_a_flat_model(name):
    pipeline = make_pipeline(StandardScaler(), with_seed(name, views=WIDTHS)).fit(FLAT, Y)
    per_view = make_pipeline(PerView(StandardScaler()), with_seed(name)).fit(X, Y)
    assert_allclose(pipeline.decision_function(FLAT), per_view.decision_function(X), atol=1e-7)


def test_any_classifier_works_on_the_projection():
    """The RBF-SVC on the latent space that the authors' public code runs."""
    for classifier in (SVC(), LogisticRegression()):
        model = make_pipeline(LandmarkProjection(20, random_state=0), classifier)
        assert cross_val_score(model, X.drop_views(0.2, 0), Y, cv=3).mean() > 0.7


def test_transformers_in_a_row():
    pipeline = make_pipeline(PerView([PCA(2), StandardScaler()]), LandmarkProjection(5))
    assert pipeline.fit_transform(X).shape == (60, 10)


# ------------------------------------------------------------------ state and randomness


@pytest.mark.parametrize("name", METHODS)
def test_same_seed_same_result_and_the_global_generator_is_spared(name):
    before = check_random_state(None).get_state()
    first, second = (output(with_seed(name).fit(X, Y), X) for _ in range(2))
    assert_array_equal(first, second)
    after = check_random_state(None).get_state()
    assert_array_equal(after[1], before[1])
    assert after[2:] == before[2:]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # y of a regressor
@pytest.mark.parametrize("name", METHODS)
def test_refit_equals_a_fresh_fit(name):
    others, y = toy_views(8, m=40, widths=(2, 5, 3), n_classes=3)
    used = with_seed(name).fit(X, Y).fit(others, y)
    fresh = with_seed(name).fit(others, y)
    assert_array_equal(output(used, others), output(fresh, others))
    assert set(vars(used)) == set(vars(fresh))


@pytest.mark.parametrize("name", METHODS)
def test_pickle(name):
    estimator = with_seed(name).fit(X, Y)
    again = pickle.loads(pickle.dumps(estimator))
    assert_array_equal(output(again, X), output(estimator, X))


@pytest.mark.parametrize("name", METHODS)
def test_fit_keeps_nothing_that_later_changes_of_the_data_could_reach(name):
    """Writing into the caller's arrays after fit must not move the model."""
    views = [v.copy() for v in VIEWS]
    estimator = with_seed(name).fit(views, Y)
    expected = output(estimator, VIEWS)
    for view in views:
        view *= 100.0
    assert_array_equal(output(estimator, VIEWS), expected)


@pytest.mark.parametrize("name", METHODS)
def test_is_fitted_after_fit_only(name):
    estimator = METHODS[name]()
    with pytest.raises(Exception, match="not fitted"):
        check_is_fitted(estimator)
    check_is_fitted(estimator.fit(X, Y))


@pytest.mark.parametrize("name", METHODS)
def test_no_warning_on_ordinary_data(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        output(METHODS[name]().fit(X, Y), X)
        gaps = X.drop_views(0.2, random_state=0)
        output(METHODS[name]().fit(gaps, Y), gaps)


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_shapes_of_scores(name, n_classes):
    views, y = toy_views(1, m=60, widths=WIDTHS, n_classes=n_classes)
    labels = np.array([f"class {k}" for k in range(n_classes)])
    model = with_seed(name).fit(views, labels[y])
    scores = model.decision_function(views)
    assert scores.shape == ((60,) if n_classes == 2 else (60, n_classes))
    best = (scores > 0).astype(int) if n_classes == 2 else scores.argmax(axis=1)
    assert_array_equal(model.predict(views), labels[best])
    assert_array_equal(model.classes_, labels)
