"""Tests of all estimators: scikit-learn's own checks, the public contract, input, state.

A method's own tests check its computations; the contract that all methods share is tested here, for
their defaults and the VARIANTS.
"""

import ast
import inspect
import re
import warnings
from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn import config_context
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import (
    GridSearchCV,
    cross_val_score,
    learning_curve,
    train_test_split,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import check_random_state
from sklearn.utils.estimator_checks import (
    check_class_weight_classifiers,
    check_sample_weight_equivalence_on_dense_data,
    check_sample_weight_equivalence_on_sparse_data,
    estimator_checks_generator,
    parametrize_with_checks,
)
from sklearn.utils.validation import has_fit_parameter

import mvref
from mvref import (
    MVLSVM,
    CalibratedByPattern,
    ConformalByPattern,
    MultiView,
    PatternClassifier,
    PatternRegressor,
    PerView,
    PerViewClassifier,
    PerViewRegressor,
    ViewDropout,
    ViewDropoutRegressor,
)
from mvref.core.input import NothingLearntWarning
from tests.literal import hide, random_pattern, toy_views

METHODS = mvref.all_methods()
WIDTHS = [4, 3]
VIEWS, Y = toy_views(0, m=60, widths=WIDTHS)
X = MultiView(VIEWS)
FLAT = np.hstack(VIEWS)
THREE, Y3 = toy_views(1, m=60, widths=(3, 4, 2), n_classes=3, noise=1.0)
HARD, Y_HARD = toy_views(0, m=60, widths=(3, 4, 2), noise=1.5)
Y_HARD[:15] = 0  # fewer positives than negatives, not linearly separable
NAMES = np.array(["ant", "bee", "cat"])
MEASURES = ("f1", "prbep", "auroc", "error")

# Fewer rounds, starts and folds, and looser tolerances: the defaults take longer in the tests of
# the API without further checks.
CHEAP = {
    "MVWAB": {"n_estimators": 8},
    "RBoostSH": {"n_estimators": 8},
    "Mumbo": {"n_estimators": 8},
    "SVM2K": {"tol": 1e-2},
    "STMClassifier": {"n_init": 2},
    "L3SVM": {"n_init": 2},
    "CAPO": {"cv": 2},
    "FSMulti": {"tol": 0.1},
    **dict.fromkeys(["FMClassifier", "FMRegressor"], {"n_factors": 2}),
    **dict.fromkeys(["MVMClassifier", "MVMRegressor"], {"n_factors": 4}),
}
# Other settings of a method, which the whole suite tests like its defaults.
VARIANTS = {
    "MVLSVM": [{"loss": "squared_hinge", "landmarks": "per_view", "keep_known": False}],
    "MwMvC2": [
        {"update": "paper", "ties": "largest"},
        {"voters": "random_trees", "step": "collins", "rho_step": "exact", "ties": "smallest"},
    ],
    "MVPO": [
        {"measure": "auroc", "solver": "dual"},
        {"measure": "prbep", "solver": "primal"},
        {"kernel": "rbf"},
        {"measure": "auroc", "kernel": "rbf"},
    ],
    "MVMClassifier": [
        {"loss": "hinge", "penalty": "l1", "solver": "sgd", "max_iter": 20},
        {"loss": "squared", "solver": "als", "max_iter": 50},
        {"solver": "sgd", "max_iter": 20, "early_stopping": True},
    ],
    "MVMRegressor": [
        {"solver": "sgd", "max_iter": 50, "batch_size": 16},
        {"solver": "als", "init": "paper", "init_scale": 0.5, "n_init": 3},
    ],
    "MVNAKMHKS": [
        {"n_components": 0.3, "solver": "paper", "decision": "printed", "multi_class": "ovr"}
    ],
    "NAKMHKS": [{"kernel": "linear", "c": 0.1}],
    "PerViewSVM": [{"ties": "smallest"}],
    "SVMPerf": [{"measure": "auroc"}],
    "SMS": [{"measure": "f1", "tol": 0.1}],
    "FSMulti": [{"measure": "auroc", "n_features": 1, "tol": 0.1}],
    "STMClassifier": [{"kernel": "product"}],
    "MVML": [{"sparse": True, "n_components": 0.5, "learn_weights": True}],
    "FMClassifier": [{"n_factors": 2, "order": 3, "multiview": True, "n_init": 2}],
    "FMRegressor": [{"n_factors": 2, "order": 3, "max_iter": 100}],
}
# All methods share the validation of X: these are tested with all forms, the others with some.
IN_FULL = ("MVLSVM", "MVMRegressor", "LandmarkProjection")
SUBJECTS = {name: (name, {}) for name in METHODS} | {
    f"{name}-" + "-".join(f"{key}={value}" for key, value in options.items()): (name, options)
    for name, variants in VARIANTS.items()
    for options in variants
}
OF_REGRESSORS = (PatternRegressor, PerViewRegressor, ViewDropoutRegressor)
OF_PATTERNS = (CalibratedByPattern, ConformalByPattern)
COMPOSED = (PatternClassifier, PerView, PerViewClassifier, ViewDropout, *OF_REGRESSORS)
COMPOSED += OF_PATTERNS
COMPOSED = {c.__name__: c for c in COMPOSED}
CLASSIFIERS = [name for name in SUBJECTS if is_classifier(METHODS[name.split("-")[0]]())]


def cheap(name, **parameters):
    """Return an instance that fits fast."""
    method, options = SUBJECTS[name]
    return METHODS[method](**CHEAP.get(method, {}) | options | parameters)


def with_seed(name, **parameters):
    """Return an instance, with a seed if it takes one."""
    estimator = COMPOSED[name]() if name in COMPOSED else cheap(name, **parameters)
    if "random_state" in estimator.get_params():
        estimator.set_params(random_state=0)
    return estimator


def output(estimator, X):
    """Return the output of a fitted estimator for X, as one array."""
    if hasattr(estimator, "decision_function"):
        return estimator.decision_function(X)
    if is_regressor(estimator):
        return estimator.predict(X)
    out = estimator.transform(X)
    return out.concat() if isinstance(out, MultiView) else out


def takes(parameter):
    return [name for name, method in METHODS.items() if parameter in method().get_params()]


stopped = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
every_method = pytest.mark.parametrize("name", METHODS)
every_subject = pytest.mark.parametrize("name", SUBJECTS)
every_classifier = pytest.mark.parametrize("name", CLASSIFIERS)
with_its_defaults = pytest.mark.parametrize("name", [c for c in CLASSIFIERS if c in METHODS])

# Some checks fit noise or repeated rows, on which a method stops at max_iter with a warning: a
# small max_iter suffices. Others compare two MultiViews with NumPy.
SOON = {
    **dict.fromkeys(["MVLSVM", "L3SVM"], {"max_iter": 1000}),
    **dict.fromkeys(["FMClassifier", "FMRegressor"], {"max_iter": 30}),
    **dict.fromkeys(["MVWAB", "RBoostSH", "Mumbo"], {"n_estimators": 4}),
}
# One check needs weights of 1e7 to prevail, but full trees and narrow kernels fit every sample.
LINEAR = LogisticRegression()
RIGID = {
    **dict.fromkeys(
        ["Mono", "Concat", "MVMV", "MVWAB", "RBoostSH", "Mumbo"], {"estimator": LINEAR}
    ),
    "MwMvC2": {"voters": [LINEAR]},
    "MVML": {"gamma": 0.001},
}
EQUIVALENCE = [
    check_sample_weight_equivalence_on_dense_data,
    check_sample_weight_equivalence_on_sparse_data,
]


# Checks that depend on a method's settings; the other checks concern the steps before `_fit`.
OF_THE_SETTINGS = {
    f"check_{told}"
    for told in (
        "classifiers_train classifiers_classes class_weight_classifiers regressors_train "
        "fit2d_1sample fit2d_1feature estimator_sparse_array estimators_partial_fit_n_features "
        "methods_subset_invariance methods_sample_order_invariance dict_unchanged "
        "readonly_memmap_input decision_proba_consistency non_transformer_estimators_n_iter "
        "estimators_pickle estimators_overwrite_params dont_overwrite_parameters"
    ).split()
}


@stopped
@pytest.mark.filterwarnings("ignore:a MultiView is turned into")
@parametrize_with_checks(
    [
        *(cheap(name, **SOON.get(name, {})) for name in METHODS),
        PerView(StandardScaler()),
        PerView(),
        PerViewClassifier(),
        PatternClassifier(),
        ViewDropout(LogisticRegression()),
        PerViewRegressor(),
        PatternRegressor(),
        ViewDropoutRegressor(Ridge()),
    ]
)
def test_scikit_learns_estimator_checks(estimator, check):
    if check.func in EQUIVALENCE:
        pytest.skip("test_a_weight_is_a_number_of_copies runs it with a tight tolerance")
    if check.func is check_class_weight_classifiers:
        estimator.set_params(**RIGID.get(type(estimator).__name__, {}))
    check(estimator)


@stopped
@pytest.mark.filterwarnings("ignore:.*has learnt nothing")
@pytest.mark.parametrize("name", sorted(SUBJECTS.keys() - METHODS.keys()))
def test_scikit_learns_checks_of_other_settings(name):
    method = SUBJECTS[name][0]
    for _, check in estimator_checks_generator(cheap(name)):
        if check.func.__name__ in OF_THE_SETTINGS:
            rigid = RIGID.get(method, {}) if check.func is check_class_weight_classifiers else {}
            check(cheap(name, **SOON.get(method, {}) | rigid))


# Tolerances at which copies and weights agree to seven digits, with a unique minimum; every sample
# a component; classifiers without ties. Fusion splits the samples at random, L3SVM draws landmarks
# among copies: their own tests fix the random draws.
SMOOTH = {"estimator": LogisticRegression(tol=1e-12, max_iter=10_000)}
ROUNDS = {**SMOOTH, "n_estimators": 5}
MINIMUM = {"tol": 1e-13, "max_iter": 100_000}
TIGHT = {
    "MVLSVM": {"c": 1.0, "tol": 1e-14, "max_iter": 1_000_000},
    "MwMvC2": {},
    **dict.fromkeys(
        ["MVMClassifier", "MVMRegressor", "FMClassifier", "FMRegressor"],
        {"alpha": 1.0, "n_factors": 2, **MINIMUM},
    ),
    "KMHKS": MINIMUM | {"tol": 1e-15},
    **dict.fromkeys(["NAKMHKS", "MVNAKMHKS"], MINIMUM | {"tol": 1e-15, "n_components": 1.0}),
    **dict.fromkeys(["Mono", "Concat", "MVMV", "PerViewClassifier", "PatternClassifier"], SMOOTH),
    **dict.fromkeys(["MVWAB", "RBoostSH", "Mumbo"], ROUNDS),
    **dict.fromkeys(["PerViewRegressor", "PatternRegressor"], {"estimator": Ridge(tol=1e-12)}),
    "PerViewSVM": {"tol": 1e-12},
    "SVM2K": {"tol": 1e-10},
    "MVML": {"tol": 1e-13},
    "MSL": {"tol": 1e-13},
    "CoLabeling": {},
    "STMClassifier": {"kernel": "product", "C": 0.1, "tol": 1e-14, "max_iter": 10_000},
}
WEIGHTED = {
    name: method
    for name, method in {**COMPOSED, **METHODS}.items()
    if has_fit_parameter(method, "sample_weight")
    and "Dropout" not in name  # draws copies
    and "ByPattern" not in name  # holds out some samples
}
# Twenty steps of L-BFGS agree up to rounding; at a minimum it cannot distinguish parameters whose
# objectives are the same number, and their scores differ by up to about 1e-6.
OTHER_SOLVERS = {
    "MVMClassifier": [
        {"init": "live", "alpha": 0.1, "max_iter": 20},
        {"loss": "squared_hinge", "init": "paper", "alpha": 0.1, "max_iter": 20},
        {"loss": "squared", "penalty": "l1", "alpha": 0.1, "max_iter": 20},
        {"groups": [[0, 1], [1]], "shared_factors": False, "max_iter": 15},
        {"loss": "squared", "solver": "als", "alpha": 0.03, "tol": 1e-12},
        {"loss": "hinge", "solver": "sgd", "max_iter": 20},  # all samples in one batch
    ],
    "MVMRegressor": [
        {"alpha": 0.1, "max_iter": 20},
        {"solver": "als", "init": "paper", "alpha": 0.1, "tol": 1e-12},
        {"solver": "sgd", "init": "paper", "max_iter": 20},
    ],
    **dict.fromkeys(
        ["FMClassifier", "FMRegressor"],
        [
            {"order": order, "multiview": multiview, "alpha": 0.1, "max_iter": 20}
            for order, multiview in ((1, False), (2, False), (2, True), (3, False))
        ],
    ),
}
EQUIVALENT = [(name, TIGHT[name]) for name in sorted(WEIGHTED.keys() - {"Fusion", "L3SVM"})] + [
    (name, {"n_factors": 2} | options) for name, rows in OTHER_SOLVERS.items() for options in rows
]


@stopped
@pytest.mark.parametrize("check", EQUIVALENCE, ids=["dense", "sparse"])
@pytest.mark.parametrize(("name", "options"), EQUIVALENT)
def test_a_weight_is_a_number_of_copies(name, options, check):
    """Check on two views, in a pipeline, as the checks would set a ``cv`` that is not a number."""
    model = WEIGHTED[name](views=[12, 18], **options)
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    with config_context(enable_metadata_routing=True):
        check(name, make_pipeline(model.set_fit_request(sample_weight=True)))


FOR_MEASURES = ("MVPO", "SVMPerf", "SMS", "CAPO", "FSMulti")  # of the whole sample, not its mean


def test_every_predictor_takes_weights_or_says_why_it_takes_none():
    predict = [name for name, method in METHODS.items() if hasattr(method, "predict")]
    assert set(predict) - set(WEIGHTED) == set(FOR_MEASURES)
    for name in predict:
        balances = "class_weight" in inspect.signature(METHODS[name]).parameters
        assert balances == (name in WEIGHTED and name in CLASSIFIERS)
        if name in FOR_MEASURES:
            assert re.search(
                r"sample_weight|(?i:weights)[^.]* not supported", inspect.getdoc(METHODS[name])
            ), name


# ------------------------------------------------------------------ the contract

# The public contract: constructor parameters, some with their defaults, and fitted attributes.
PROJECTION = "n_landmarks kernel='rbf' gamma ridge=0.1 keep_known=True clip='auto'"
MACHINES = "alphas_ intercepts_ components_ objective_curve_ n_iter_"
CERTIFIED = "coef_ intercept_ n_iter_ dual_gap_ primal_curve_ dual_curve_"
FOR_A_MEASURE = "C2=100.0 tol max_iter fit_intercept=True"
KERNEL_MACHINE = (
    "kernel='rbf' gamma=None c=1.0 solver='exact' learning_rate tol max_iter multi_class='ovo'"
)
MVM = (
    "n_factors=8 loss alpha penalty='l2' solver='auto' init='live' init_scale n_init=1 "
    "groups=None learning_rate batch_size max_iter tol n_jobs=None",
    "factors_ loss_curve_ objectives_ n_iter_ n_parameters",
)
FM = (
    "n_factors=8 order=2 multiview=False alpha n_init=1 n_jobs=None",
    "intercept_ coef_ factors_ loss_curve_ objectives_ n_iter_",
)
VOTES = "estimator=None ties='random'"
BOOST = "n_estimators=100 ties='random'"
CONTRACT = {
    "LandmarkProjection": (PROJECTION, "landmarks_ landmark_indices_"),
    "MVLSVM": (
        f"{PROJECTION} c loss fit_intercept intercept_scaling tol max_iter",
        "coef_ intercept_ projection_",
    ),
    "MwMvC2": (
        "voters='trees' max_iter=2 update='monotone' step='backtrack' rho_step='qp'",
        "rho_ pi_ voters_ loss_curve_ rho_path_",
    ),
    "MVPO": (
        "measure='f1' C1 C2 normalize tol max_iter fit_intercept solver='auto'",
        CERTIFIED,
    ),
    "MVMClassifier": MVM,
    "MVMRegressor": MVM,
    "MVNAKMHKS": (
        "n_views=None n_components='auto' coupling=1.0 view_weights=None decision='nystrom' "
        + KERNEL_MACHINE,
        f"view_weights_ {MACHINES}",
    ),
    "NAKMHKS": (f"n_components='auto' decision='nystrom' {KERNEL_MACHINE}", MACHINES),
    "KMHKS": (KERNEL_MACHINE, MACHINES),
    "PerViewSVM": ("", ""),
    "LaplacianCompletion": ("", ""),
    "Mono": ("estimator=None", "view_ scores_ estimator_"),
    "Concat": ("estimator=None", "estimator_"),
    "Fusion": (
        "estimator=None final_estimator=None train_size=0.6",
        "estimators_ final_estimator_",
    ),
    "MVMV": (VOTES, "estimators_"),
    "MVWAB": (BOOST.replace("100", "30"), "voters_ alphas_"),
    "RBoostSH": (
        f"{BOOST} gamma=0.3 sigma=0.15",
        "view_history_ view_probabilities_ alphas_ edges_",
    ),
    "Mumbo": (BOOST, "voters_ alphas_"),
    "SVMPerf": (f"measure='f1' {FOR_A_MEASURE}", CERTIFIED),
    "SMS": (f"measure='prbep' smoothing {FOR_A_MEASURE}", CERTIFIED),
    "CAPO": (f"measure='f1' auxiliaries=None B {FOR_A_MEASURE}", f"auxiliaries_ {CERTIFIED}"),
    "FSMulti": (f"measure='f1' n_features {FOR_A_MEASURE}", f"groups_ {CERTIFIED}"),
    "FMClassifier": FM,
    "FMRegressor": FM,
    "SVM2K": (
        "C1=10.0 C2=None D=0.1 eps=1e-3 kernel='rbf' gamma=None ties='score' tol max_iter",
        "pairs_ dual_coef_ objective_ dual_gap_ n_iter_",
    ),
    "L3SVM": (
        "n_clusters n_landmarks='auto' kernel='linear' landmarks='shared' c",
        "clusters_ landmarks_ coef_ intercept_ n_iter_",
    ),
    "MVML": (
        "lam eta sparse=False kernel='rbf' gamma=None n_components n_rounds=6 tol=1e-4 "
        "learn_weights=False",
        "dual_coef_ weights_ block_norms_ objective_curve_ lower_bound_ n_iter_",
    ),
    "CoLabeling": (
        "C=1.0 kernel='rbf' gamma=None max_rounds",
        "dual_coef_ intercept_ dual_gap_ transduction_",
    ),
    "MSL": (
        "alpha C=10.0 beta=1.0 ridge",
        "pair_ components_ factor_ theta_ dual_gap_ coef_ intercept_",
    ),
    "STMClassifier": (
        "kernel='rank_one' C=1.0 n_init=5",
        "coef_ intercept_ objective_curve_ objectives_ n_iter_",
    ),
}
# Methods with random draws.
SEEDED = set(takes("random_state"))


def test_all_methods():
    assert set(METHODS) == set(CONTRACT)
    for name, method in METHODS.items():
        assert method.__name__ == name and issubclass(method, BaseEstimator)
    assert mvref.all_methods() is not mvref.all_methods()  # callers cannot change it for others


@every_method
def test_constructor_and_fitted_attributes(name):
    parameters, fitted = CONTRACT[name]
    signature = inspect.signature(METHODS[name]).parameters
    assert signature["views"].default is None
    assert ("random_state" in signature) == (name in SEEDED)
    assert name not in SEEDED or signature["random_state"].default is None
    for parameter in parameters.split():
        parameter, _, default = parameter.partition("=")
        assert parameter in signature
        if default:
            assert signature[parameter].default == ast.literal_eval(default)
    estimator = METHODS[name]().fit(X, Y)
    for attribute in fitted.split():
        assert hasattr(estimator, attribute)


def test_classifiers_are_recognised():
    """Check the order of bases: mixins before BaseEstimator."""
    others = {"LandmarkProjection", "LaplacianCompletion", "MVMRegressor", "FMRegressor"}
    assert set(METHODS) - set(CLASSIFIERS) == others
    for name, method in METHODS.items():
        assert is_regressor(method()) == name.endswith("Regressor")
        if name not in others:
            assert method().__sklearn_tags__().estimator_type == "classifier"
    assert is_classifier(make_pipeline(PerView(StandardScaler()), MVLSVM()))


STUMP = DecisionTreeClassifier(max_depth=1)
# A parameter of every method, and two values to be stored, copied and searched.
TWO_VALUES = {
    **dict.fromkeys(METHODS, ("gamma", 1e4, 0.3)),
    **dict.fromkeys(["SVMPerf", "SMS", "CAPO", "FSMulti", "MVPO"], ("C2", 1e-6, 50.0)),
    **dict.fromkeys(["MVNAKMHKS", "NAKMHKS", "KMHKS"], ("c", 1e4, 1.0)),
    **dict.fromkeys(["MVWAB", "RBoostSH", "Mumbo"], ("n_estimators", 1, 5)),
    **dict.fromkeys(["MSL", "STMClassifier"], ("C", 1e-8, 1.0)),
    **dict.fromkeys(["MVMClassifier", "MVMRegressor"], ("alpha", 1e-2, 1e-3)),
    **dict.fromkeys(["FMClassifier", "FMRegressor"], ("alpha", 1e4, 0.1)),
    "MwMvC2": ("max_iter", 1, 3),
    "Mono": ("cv", 2, 3),
    "Concat": ("estimator", STUMP, None),
    "Fusion": ("train_size", 0.5, 0.7),
    "MVMV": ("estimator", STUMP, None),
    "L3SVM": ("n_clusters", 1, 3),
    "MVML": ("lam", 1e8, 0.1),
}
# For these methods the first value penalises far too much, and a search must find that.
SEARCHED = ("gamma", "C2", "C")


@every_method
def test_the_constructor_only_stores(name):
    """Check that the constructor does not validate, copy or convert parameters."""
    signature = inspect.signature(METHODS[name])
    marks = {parameter: object() for parameter in signature.parameters}
    estimator = METHODS[name](**marks)
    assert all(getattr(estimator, parameter) is mark for parameter, mark in marks.items())
    assert set(vars(estimator)) == set(marks)


# ------------------------------------------------------------------ forms of input


@stopped
@every_subject
@pytest.mark.parametrize("missing", [False, True])
def test_every_form_of_input_gives_the_same_answer(name, missing):
    observed = random_pattern(4, 60, 2, n_complete=20)
    observed[:, 0] = True
    views = hide(VIEWS, observed) if missing else VIEWS
    flat = np.hstack(views)
    columns = list("abcdefg")
    shuffled = np.array([3, 6, 0, 5, 1, 4, 2])
    where = np.argsort(shuffled)
    forms = [
        (None, views),
        (WIDTHS, flat),
        (None, MultiView(VIEWS, observed=observed | (not missing))),
        (None, MultiView(views)),
        (None, tuple(views)),
        (None, {"p": views[0], "q": views[1]}),
        (None, [pd.DataFrame(v) for v in views]),
        (None, [v.tolist() for v in views]),
        ([slice(0, 4), [4, 5, 6]], flat),
        ([where[:4], where[4:]], flat[:, shuffled]),
        ({"p": 4, "q": 3}, flat),
        ([columns[:4], columns[4:]], pd.DataFrame(flat, columns=columns)),
        (
            [columns[:4], columns[4:]],
            pd.DataFrame(flat[:, shuffled], columns=np.array(columns)[shuffled]),
        ),
    ]
    answers = []
    for cut, form in forms if name in IN_FULL else forms[:3]:
        estimator = with_seed(name, views=cut).fit(form, Y)
        assert estimator.n_features_in_ == 7
        answers.append(output(estimator, form))
    for answer in answers[1:]:
        assert_allclose(answer, answers[0], atol=1e-6)
    csr = MultiView([sparse.csr_matrix(v) for v in VIEWS], observed=MultiView(views).observed)
    for cut, form in ((None, csr), (WIDTHS, sparse.csr_matrix(flat))):
        if "sgd" not in name:  # its penalty has another weight on sparse views
            # products of sparse matrices round differently, and iterative solvers amplify that
            answer = output(with_seed(name, views=cut).fit(form, Y), form)
            assert_allclose(answer, answers[0], rtol=1e-3, atol=1e-3)


@stopped
@pytest.mark.parametrize("name", [*METHODS, *COMPOSED])
def test_a_model_of_named_views_takes_them_in_every_form(name):
    """Include forms used by single-table tools, such as `permutation_importance`."""
    named = {"labs": VIEWS[0], "scan": VIEWS[1]}
    frames = {view: pd.DataFrame(v).add_prefix("x") for view, v in named.items()}
    table = pd.concat(frames, axis=1)
    table.columns = [f"{view}__{column}" for view, column in table]
    told = pytest.warns(UserWarning, match="the columns of the views .*cannot be checked")
    for given, bare in (named, nullcontext()), (frames, told):
        model = with_seed(name).fit(given, Y)
        expected = output(model, given)
        assert_allclose(output(model, table), expected, atol=1e-10)
        with bare:
            for form in (VIEWS, FLAT, FLAT.tolist(), pd.DataFrame(FLAT)):
                assert_allclose(output(model, form), expected, atol=1e-10)
    with pytest.raises(ValueError, match="view 'labs' must have the names and the order of fit"):
        output(model, table[table.columns[::-1]])
    if hasattr(model, "predict"):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            permutation_importance(model, FLAT, Y, n_repeats=1)
        assert len({str(warning.message) for warning in caught}) == 1


@stopped
@pytest.mark.parametrize("name", [*SUBJECTS, *COMPOSED])
def test_skops_stores_it_and_its_types_are_listed(name):
    """Check models fitted on frames with ids, and on missing views."""
    io = pytest.importorskip("skops.io")
    ids = [f"p{i}" for i in range(60)]
    X = MultiView({view: pd.DataFrame(v, ids) for view, v in zip("ab", VIEWS, strict=True)})
    for given in X, X.drop_views(0.2, random_state=0):
        model = with_seed(name).fit(given, Y)
        again = io.loads(io.dumps(model), trusted=mvref.skops_types())
        assert_array_equal(output(again, given), output(model, given))


@every_method
def test_a_flat_table_without_views_is_one_view(name):
    one = with_seed(name).fit(FLAT, Y)
    assert_array_equal(output(one, FLAT), output(with_seed(name).fit([FLAT], Y), [FLAT]))


# Linear methods, for which zeros carry no information, and the tolerance between two solutions.
ZEROS = [
    ("SVMPerf", {"C2": 20.0, "tol": 1e-8, "max_iter": 5000}, 1e-2),
    ("SMS", {"C2": 10.0}, 1.0),
    ("FSMulti", {"C2": 10.0, "n_features": 3, "tol": 1e-2}, 2.0),
    ("CAPO", {"C2": 10.0, "tol": 1e-6, "auxiliaries": [LogisticRegression()]}, 0.05),
    *(("STMClassifier", {"kernel": kernel}, 1e-2) for kernel in ("rank_one", "product")),
    *(
        ("FMClassifier", {"n_factors": 2, "multiview": m, "alpha": 0.02}, 1e-4)
        for m in (False, True)
    ),
    *(("MVML", {"sparse": s, "kernel": "linear"}, 1e-6) for s in (False, True)),
]


@pytest.mark.parametrize(("name", "options", "close"), ZEROS)
def test_a_missing_view_counts_as_zeros(name, options, close):
    """Check fit and prediction, dense and CSR: missing views are equivalent to zeros."""
    observed = random_pattern(5, 60, 3)
    filled = [np.where(seen[:, None], v, 0.0) for v, seen in zip(HARD, observed.T, strict=True)]
    gaps = MultiView(hide(HARD, observed))
    csr = MultiView([sparse.csr_matrix(view) for view in filled], observed=observed)
    model = with_seed(name, **options).fit(filled, Y_HARD)
    expected = model.decision_function(filled)
    for Z, exact in ((gaps, name in ("SVMPerf", "SMS", "CAPO", "FSMulti")), (csr, False)):
        assert_allclose(model.decision_function(Z), expected, atol=1e-10)
        twin = clone(model).fit(Z, Y_HARD).decision_function(Z)
        assert_allclose(twin, expected, rtol=0 if exact else 1e-3, atol=0 if exact else close)


# Settings so exact, or so far from convergence, that sparse and dense views agree.
SPARSE = [
    ("LandmarkProjection", {"n_landmarks": 5}, 1e-12),
    *(("MVLSVM", {"loss": s, "c": 5.0, "tol": 1e-10}, 1e-6) for s in ("hinge", "squared_hinge")),
    *(
        ("MVMClassifier", {"loss": "squared", "solver": solver, "alpha": alpha, "max_iter": 30}
         | {"tol": 0.0, "n_iter_no_change": 100}, 1e-5)
        # SGD without a penalty, since its weight depends on the batches that contain a feature
        for solver, alpha in (("lbfgs", 0.01), ("als", 0.01), ("sgd", 0.0))
    ),
    *((name, {"c": 0.1}, 1e-7) for name in ("MVNAKMHKS", "NAKMHKS", "KMHKS")),
    *(("MwMvC2", {"voters": voters}, 1e-6) for voters in ("trees", [STUMP, LINEAR])),
    *(
        ("MVPO", {"measure": measure, "C2": 20.0, "tol": 1e-8, "max_iter": 5000} | more, 1e-4)
        for measure in ("f1", "auroc")
        for more in ({"solver": "primal"}, {"solver": "dual"}, {"kernel": "rbf"},
                     {"kernel": ["linear", "rbf", "linear"]})
    ),
    ("Concat", {}, 0.0),
]  # fmt: skip


@stopped
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize(("name", "options", "close"), SPARSE)
def test_sparse_views_are_the_dense_ones(name, options, close, missing):
    """Check all or some sparse views, of rounded numbers, for which trees are the same."""
    observed = random_pattern(3, 60, 3, n_complete=20) | (not missing)
    tables = [np.round(view) * seen[:, None] for view, seen in zip(HARD, observed.T, strict=True)]
    csr = [sparse.csr_matrix(table) for table in tables]
    dense, *others = (MultiView(t, observed=observed) for t in (tables, csr, [tables[0], *csr[1:]]))
    model = with_seed(name, **options)
    expected = output(model.fit(dense, Y_HARD), dense)
    for X in others:
        assert_allclose(output(model, X), expected, atol=1e-10)
        other = clone(model).fit(X, Y_HARD)
        assert_allclose(output(other, X), expected, atol=close)
        assert all(type(w) is np.ndarray for w in getattr(other, "coef_", []))


@stopped
@every_classifier
def test_a_sample_is_scored_alone(name):
    """Check independence of other samples and their order, with missing views."""
    model = with_seed(name).fit(THREE, Y3)
    new = MultiView(hide([view + 0.4 for view in THREE], random_pattern(3, 60, 3)))
    scores, labels = model.decision_function(new), model.predict(new)
    order = np.random.default_rng(0).permutation(60)
    assert_allclose(model.decision_function(new[order]), scores[order], atol=1e-10)
    for i in order[:4]:
        assert_allclose(model.decision_function(new[[i]]), scores[[i]], atol=1e-10)
        assert_array_equal(model.predict(new[[i]]), labels[[i]])


@stopped
@with_its_defaults
def test_model_selection_tools(name):
    model = with_seed(name)
    train, test, y_train, y_test = train_test_split(X, Y, random_state=0, stratify=Y)
    assert clone(model).fit(train, y_train).score(test, y_test) > 0.6  # on 15 samples
    flat = clone(model).set_params(views=WIDTHS)
    scores = cross_val_score(model, X, Y, cv=3)
    assert_array_equal(scores, cross_val_score(flat, FLAT, Y, cv=3))
    parameter, worse, value = TWO_VALUES[name]
    search = GridSearchCV(model, {parameter: [worse, value]}, cv=3).fit(X, Y)
    if parameter in SEARCHED:
        assert search.best_params_ == {parameter: value}
    _, _, curve = learning_curve(model, X, Y, train_sizes=[0.5, 1.0], cv=3, shuffle=True)
    assert curve.shape == (2, 3) and np.isfinite(curve).all()


@pytest.mark.parametrize("name", [name for name in takes("kernel") if name != "STMClassifier"])
def test_the_linear_kernel_is_that_of_inner_products(name):
    def inner_products(A, B):
        return A @ B.T

    options = {"c": 1.0} if name == "MVLSVM" else {}
    kernels = ["linear", inner_products]
    if name != "L3SVM":  # one kernel of all columns
        kernels.append(["linear", inner_products])
    answers = [output(with_seed(name, kernel=k, **options).fit(X, Y), X) for k in kernels]
    for answer in answers[1:]:
        assert_allclose(answer, answers[0], atol=1e-10)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize(
    "name", sorted(set(takes("kernel")) - {"STMClassifier", "L3SVM", "LaplacianCompletion"})
)
def test_distances_and_gram_matrices_are_what_the_features_say(name, missing):
    """Compare the rbf kernel by name, as a function, from distances and from its matrix."""
    observed = random_pattern(4, 60, 2, n_complete=20) | (not missing)
    observed[:, 0] = True
    new = [view[::-1] + 0.3 for view in VIEWS]

    def of_pairs(function):
        return [
            [function(Z, view) for Z, view in zip(table, VIEWS, strict=True)]
            for table in (VIEWS, new)
        ]

    def rbf(A, B):
        return np.exp(-0.4 * cdist(A, B) ** 2)

    options = {
        "LandmarkProjection": {"clip": None},  # as for kernels without a range
        "MVLSVM": {"clip": None, "c": 1.0, "tol": 1e-8},
        "SVM2K": {"tol": 1e-8},
        "PerViewSVM": {"tol": 1e-9},
    }.get(name, {})
    answers = []
    for kernel, gamma, (train, test) in (
        ("rbf", 0.4, (VIEWS, new)),
        (rbf, None, (VIEWS, new)),
        ("precomputed", 0.4, of_pairs(cdist)),
        ("gram", None, of_pairs(rbf)),
    ):
        model = with_seed(name, kernel=kernel, gamma=gamma, **options)
        model.fit(MultiView(train, observed=observed), Y)
        answers.append(output(model, MultiView(test, observed=observed)))
    for answer in answers[1:]:
        assert_allclose(answer, answers[0], atol=1e-5)


# ------------------------------------------------------------------ state and randomness


@stopped
@every_subject
def test_same_seed_same_result_and_the_global_generator_is_spared(name):
    before = check_random_state(None).get_state()
    first, second = (with_seed(name).fit(X, Y) for _ in range(2))
    assert_array_equal(output(first, X), output(second, X))
    for curve in ("dual_curve_", "loss_curve_", "objective_curve_"):
        if hasattr(first, curve):
            assert_array_equal(np.hstack(getattr(first, curve)), np.hstack(getattr(second, curve)))
    after = check_random_state(None).get_state()
    assert_array_equal(after[1], before[1])
    assert after[2:] == before[2:]


RANDOM_TREE = {"estimator": DecisionTreeClassifier(splitter="random", max_depth=2)}
# Settings in which the random draws matter.
DRAWN = {
    **dict.fromkeys(["LandmarkProjection", "MVLSVM"], {"n_landmarks": 10}),
    **dict.fromkeys(["MVWAB", "RBoostSH", "Mumbo"], RANDOM_TREE | {"n_estimators": 4}),
    **dict.fromkeys(["Mono", "Concat", "Fusion", "MVMV"], RANDOM_TREE),
    "MwMvC2": {"voters": "random_trees"},
    "MVML": {"n_components": 0.3},
    "NAKMHKS": {"n_components": 10},
    "MVNAKMHKS": {"n_components": 10},
    "SVM2K": {"ties": "random"},
    "MSL": {"tol": 1e-2},
    **dict.fromkeys(["MVMRegressor", "FMRegressor"], {"n_init": 2}),
}


@stopped
@pytest.mark.parametrize("name", sorted(SEEDED - {"PerViewSVM"}))
def test_another_seed_is_another_model(name):
    """Check seeds, and generators as seeds."""
    seeds = (3, np.random.RandomState(3), 4)
    one, same, other = (
        output(cheap(name, **DRAWN.get(name, {}), random_state=seed).fit(HARD, Y3), THREE)
        for seed in seeds
    )
    assert_array_equal(same, one)
    assert np.abs(other - one).max() > 1e-9


@pytest.mark.parametrize("name", takes("n_jobs"))
def test_jobs_do_not_matter(name):
    model = with_seed(name, **DRAWN.get(name, {}))
    backend = "threading" if name == "MwMvC2" else "loky"  # processes round sums differently
    for options in ({}, {"multi_class": "ovr"}) if "KMHKS" in name else ({},):
        with parallel_config(backend=backend):
            one, two = (
                output(clone(model).set_params(n_jobs=n, **options).fit(THREE, Y3), THREE)
                for n in (None, 2)
            )
        assert_allclose(two, one, rtol=1e-12)


@stopped
@every_subject
def test_refit_equals_a_fresh_fit(name):
    others, y = toy_views(8, m=40, widths=(2, 5, 3), n_classes=3)
    used = with_seed(name).fit(X, Y).fit(others, y)
    fresh = with_seed(name).fit(others, y)
    assert_array_equal(output(used, others), output(fresh, others))
    assert set(vars(used)) == set(vars(fresh))


@stopped
@every_subject
def test_fit_does_not_change_views_with_gaps(name):
    gaps = MultiView(hide(VIEWS, random_pattern(0, 60, 2)))
    before = gaps.concat()
    cheap(name).fit(gaps, Y)
    assert_array_equal(gaps.concat(), before)


@stopped
@every_subject
def test_fit_keeps_nothing_that_later_changes_of_the_data_could_reach(name):
    """Check that writing to the caller's arrays after fit does not change the model."""
    views = [v.copy() for v in VIEWS]
    estimator = with_seed(name).fit(views, Y)
    expected = output(estimator, VIEWS)
    for view in views:
        view *= 100.0
    assert_array_equal(output(estimator, VIEWS), expected)


# ------------------------------------------------------------------ warnings


ON_THE_WAY = [name for name in SUBJECTS if "max_iter=" not in name]  # not stopped early on purpose


@pytest.mark.parametrize("name", ON_THE_WAY)
def test_no_warning_on_ordinary_data(name):
    method, options = SUBJECTS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        output(METHODS[method](**options).fit(X, Y), X)
        gaps = X.drop_views(0.2, random_state=0)
        output(METHODS[method](**options).fit(gaps, Y), gaps)


STOPPED = {
    "MVLSVM": ({"max_iter": 1}, "max_iter"),
    "MVPO": ({"C2": 1e4, "max_iter": 3}, r"max_iter=3.*C2 tol is 10\b"),
    "SVMPerf": ({"C2": 1e4, "max_iter": 2}, "SVMPerf .*max_iter=2"),
    "SMS": ({"C2": 1e4, "max_iter": 3}, "SMS .*max_iter=3"),
    "CAPO": ({"C2": 1e4, "max_iter": 2}, "CAPO .*max_iter=2"),
    "FSMulti": ({"C2": 1e4, "max_iter": 3}, "FSMulti .*max_iter=3"),
    "FMClassifier": ({"max_iter": 2}, "FMClassifier .*max_iter=2"),
    "FMRegressor": ({"max_iter": 2}, "FMRegressor .*max_iter=2"),
    "MVMClassifier": ({"max_iter": 2}, "max_iter=2"),
    "MVMRegressor": ({"max_iter": 2}, "max_iter=2"),
    "SVM2K": ({"C1": 100.0, "max_iter": 2}, "SVM2K did not converge in 2 sweeps.*C1=100"),
    "L3SVM": ({"max_iter": 2}, "The linear SVM did not converge in 2 steps"),
    "MVNAKMHKS": ({"max_iter": 1}, "MVNAKMHKS did not converge in max_iter=1"),
    "NAKMHKS": ({"max_iter": 1}, "NAKMHKS did not converge in max_iter=1"),
    "KMHKS": ({"max_iter": 1}, "KMHKS did not converge in max_iter=1"),
}


@pytest.mark.parametrize("name", STOPPED)
@pytest.mark.parametrize("y", [Y_HARD, Y3], ids=["two classes", "three classes"])
def test_an_early_stop_is_told_once_at_the_users_line(name, y):
    options, told = STOPPED[name]
    for jobs in ({}, {"n_jobs": 2}) if name in takes("n_jobs") else ({},):
        with parallel_config(backend="threading"), pytest.warns(ConvergenceWarning) as said:
            model = with_seed(name, **options, **jobs).fit(HARD, y)
        said = [w for w in said if w.category is not NothingLearntWarning]
        assert len(said) == 1 and re.search(told, str(said[0].message))
        assert said[0].filename == __file__
        if name not in ("SMS", "FSMulti"):  # they count points and groups
            assert np.max(model.n_iter_) == options["max_iter"]
        if name in FOR_MEASURES:
            assert np.max(model.dual_gap_) > model.C2 * model.tol
            assert f"{np.max(model.dual_gap_):.3g}" in str(said[0].message)
        assert np.isfinite(output(model, HARD)).all()


# ------------------------------------------------------------------ numbers of any size

SIZES = (1e-100, 1e-8, 1e8, 1e60)
# A method, its settings, factors of the views, and the factor from which an error is expected.
EXTREME = [
    *(
        ("MVPO", {"max_iter": 50, "C1": C1, "solver": solver}, (1e-150, *SIZES[1:]), 1e8)
        for C1 in (0.0, 0.1)
        for solver in ("primal", "dual")
    ),
    *(("SVMPerf", {"measure": m, "max_iter": 50}, SIZES, np.inf) for m in MEASURES),
    *(("SMS", {"measure": m, "max_iter": 100}, (1e-150, *SIZES[1:]), np.inf) for m in MEASURES[:3]),
    ("FSMulti", {"n_features": 2, "max_iter": 50, "tol": 1e-2}, SIZES, 1e8),
    *(
        ("STMClassifier", {"kernel": kernel, "max_iter": 3}, (1e-100, 1e-8, 1e3, 1e60, 1e160), 1e60)
        for kernel in ("rank_one", "product")
    ),
    *(
        ("CoLabeling", {"kernel": kernel}, (1e-100, 1e-8, 1e3, 1e60, 1e160), 1e60)
        for kernel in ("linear", "rbf")
    ),
    ("SVM2K", {"tol": 1e-4}, (1e-100, 1e-8, 1e3, 1e60), np.inf),
    *(
        ("FMClassifier", {"max_iter": 50} | more, (1e-100, 1e-8, 1e4, 1e8, 1e40, 1e160), 1e40)
        for more in ({}, {"multiview": True}, {"order": 3})
    ),
    *(
        ("MVML", {"sparse": s, "kernel": "linear"}, (1e-100, 1e-60, 1e-8, 1, 1e3, 1e50, 1e100), 1e3)
        for s in (False, True)
    ),
]


@pytest.mark.parametrize(("name", "options", "sizes", "too_large"), EXTREME)
def test_extreme_scales(name, options, sizes, too_large):
    """Check for a certificate, a warning, or an error with a remedy; never NaN."""
    for size in sizes:
        views = [size * view for view in HARD]
        model = with_seed(name, **options)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            try:
                model.fit(views, Y_HARD)
            except ValueError as error:
                assert size >= too_large or (name == "MVML" and size < 1e-8)
                assert any(word in str(error) for word in ("cale", "too large", "not finite"))
                continue
        said = [w for w in said if w.category is not NothingLearntWarning]
        assert all(issubclass(w.category, ConvergenceWarning) for w in said)
        assert not said or name not in ("MVML", "SVM2K")
        assert np.isfinite(model.decision_function(views)).all()
        for value in vars(model).values():
            if isinstance(value, np.ndarray) and value.dtype.kind == "f":
                assert np.isfinite(value).all()
        if name in FOR_MEASURES:
            assert said or -1e-9 < model.dual_gap_ <= model.C2 * model.tol
        if name == "FMClassifier":
            assert model.loss_curve_[-1] <= model.loss_curve_[0]


@pytest.mark.parametrize("name", ["MVLSVM", "MVPO"])
def test_numbers_that_are_refused_make_no_noise_first(name):
    with warnings.catch_warnings(), pytest.raises(ValueError, match="too large for products"):
        warnings.simplefilter("error")
        with_seed(name).fit([1e300 * view for view in VIEWS], Y)


# ------------------------------------------------------------------ classes


@with_its_defaults
def test_a_score_of_zero_is_the_first_class(name, monkeypatch):
    """Check scikit-learn's rule: the second class if the score is > 0."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = with_seed(name).fit(X, np.array(["no", "yes"])[Y])
    scores = np.array([-1.0, -0.0, 0.0, 5e-324, 1.0])
    monkeypatch.setattr(model, "decision_function", lambda X: scores, raising=False)
    assert_array_equal(model.predict(X[:5]), ["no", "no", "no", "yes", "yes"])


@stopped
@pytest.mark.parametrize(
    ("name", "names"),
    [(name, ["b", "a", "c"]) for name in CLASSIFIERS if name in METHODS]
    + [
        (name, names) for name in ("MVLSVM", "CoLabeling") for names in ([5.0, -5.0], [False, True])
    ],
)
def test_labels_of_any_type(name, names):
    views, codes = (HARD, Y) if len(names) == 2 else (THREE, Y3)
    names = np.sort(names)
    by_code, model = with_seed(name).fit(views, codes), with_seed(name).fit(views, names[codes])
    assert_array_equal(model.classes_, names)
    assert_array_equal(model.decision_function(views), by_code.decision_function(views))
    predicted = model.predict(views)
    assert predicted.dtype == names.dtype
    assert_array_equal(predicted, names[by_code.predict(views)])
    y = names[codes]
    assert model.score(views, pd.Series(y)) == model.score(views, list(y))


SOLVED = {"tol": 1e-10, "max_iter": 1_000_000}
# A method, its settings, the tolerance of the scores, and its attributes per class.
REST = [
    *(
        ("MVLSVM", {"c": 20.0, "loss": loss, **SOLVED}, 1e-5, ())
        for loss in ("hinge", "squared_hinge")
    ),
    *(
        ("MVPO", {"measure": m, "C2": 20.0, "tol": 1e-4, "solver": solver}, 1e-9, ("dual_curve_",))
        for m in (*MEASURES, "fbeta")
        for solver in ("primal", "dual")
    ),
    *(("SVMPerf", {"measure": m, "C2": 50.0}, 1e-12, ("coef_", "dual_gap_")) for m in MEASURES),
    *(("SMS", {"measure": m, "C2": 10.0}, 1e-12, ("coef_",)) for m in MEASURES[:3]),
    ("FSMulti", {"n_features": 2, "C2": 10.0, "tol": 1e-2}, 1e-10, ("coef_", "groups_")),
    *(
        (name, {"multi_class": "ovr"}, 1e-8, ("objective_curve_",))
        for name in ("MVNAKMHKS", "NAKMHKS", "KMHKS")
    ),
    ("FMClassifier", {"order": 1, "tol": 1e-8}, 1e-5, ()),
    ("STMClassifier", {"kernel": "product", "C": 0.5}, 1e-10, ("objective_curve_",)),
    ("MSL", {"tol": 1e-6}, 1e-3, ()),
    ("MVML", {"n_components": 0.5}, 1e-10, ("objective_curve_", "lower_bound_", "block_norms_")),
    ("L3SVM", {"n_landmarks": 8, "c": 10.0, "tol": 1e-9, "max_iter": 1_000_000}, 1e-4, ()),
    ("CoLabeling", {}, 1e-7, ()),
    ("MVPO", {"kernel": "rbf", "C2": 20.0}, 1e-9, ("dual_curve_",)),
    ("MwMvC2", {"voters": [LINEAR, STUMP], "max_iter": 3}, 1e-7, ("rho_", "loss_curve_")),
]


@pytest.mark.parametrize(("name", "options", "close", "per_class"), REST)
def test_classes_are_taken_one_against_the_rest(name, options, close, per_class):
    gaps = MultiView(hide(THREE, random_pattern(5, 60, 3)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = with_seed(name, **options).fit(gaps, NAMES[Y3])
    scores = model.decision_function(gaps)
    for k in range(3):
        one = clone(model).fit(gaps, Y3 == k)
        assert_allclose(scores[:, k], one.decision_function(gaps), atol=close)
        for attribute in per_class:
            mine, alone = getattr(model, attribute)[k], getattr(one, attribute)
            assert_allclose(np.squeeze(mine), np.squeeze(alone), rtol=1e-9, atol=1e-12)
