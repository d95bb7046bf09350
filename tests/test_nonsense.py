"""No silent nonsense: what is learnt, shared parameters, and numbers in every form.

A model that has learnt nothing warns; wrong values of shared parameters, and of arguments of the
public functions, are refused with a message; and a table means the same in every container.
"""

import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import is_regressor
from sklearn.utils.fixes import parse_version

import mvref.core.input.fit as fit
from mvref import MVLSVM, MVPO, MultiView, MVMRegressor, view_importance
from mvref.core import kernels, measures
from mvref.core.input import NothingLearntWarning
from mvref.core.input.checks import N_ASKED, warn_if_nothing_learnt
from mvref.mvpo import PrimalMetric
from mvref.rivals import STMClassifier
from mvref.theory import bregman, coverage, gram, performance, rademacher, stability
from tests.test_api import CHEAP, METHODS, with_seed
from tests.test_fuzz import refusal

RNG = np.random.default_rng(0)
Y = np.arange(40) % 2
A = RNG.normal(size=(40, 4)) + 0.8 * Y[:, None]
B = RNG.normal(size=(40, 3)) - 0.8 * Y[:, None]
VIEWS, FLAT = [A, B], np.hstack([A, B])
NAN = np.nan
PREDICTORS = [name for name in METHODS if hasattr(METHODS[name], "predict")]


def nothing_learnt(model, X, y):
    """Fit the model and return the warnings that nothing was learnt."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model.fit(X, y)
    return [w for w in said if issubclass(w.category, NothingLearntWarning)]


# ------------------------------------------------------------------ what is learnt


@pytest.mark.parametrize("name", PREDICTORS)
@pytest.mark.parametrize("kind", ["zeros", "threes", "sparse"])
def test_constant_views_are_told_at_the_users_line(name, kind):
    views = [np.full((40, width), 3.0 * (kind == "threes")) for width in (4, 3)]
    views = [sparse.csr_matrix(view) for view in views] if kind == "sparse" else views
    (said,) = nothing_learnt(with_seed(name), views, Y)
    assert f"{name} has learnt nothing" in str(said.message)
    assert "scale the views" in str(said.message) and said.filename == __file__


EQUAL_VALUES = pytest.mark.skipif(
    parse_version(sklearn.__version__) < parse_version("1.8"),
    reason="before version 1.8 scikit-learn's trees split values that are closer than 1e-7",
)
# Scales at which the training accuracy is at chance level: the review's list.
SMALL = [
    *((name, s) for name in ("MVLSVM", "FMClassifier", "SMS") for s in (1e-6, 1e-8)),
    *(("MVML", s) for s in (1e-7, 1e-8)),  # at 1e-6 it depends on rounding and the processor
    *(
        pytest.param(name, 1e-7, marks=EQUAL_VALUES)
        for name in ("MwMvC2", "MVWAB", "RBoostSH", "Mumbo", "Concat", "MVMV", "Mono")
    ),
    ("STMClassifier", 1e-6),
    ("MVMRegressor", 1e-6),
]  # fmt: skip


@pytest.mark.parametrize(("name", "scale"), SMALL)
def test_small_features_are_told(name, scale):
    """Check the defaults, also where ties are broken at random or few samples differ."""
    model = METHODS[name]().set_params(**({} if name == "SMS" else {"random_state": 0}))
    views = [view * scale for view in VIEWS]
    (said,) = nothing_learnt(model, views, Y)
    assert f"span at most {5.2 * scale:.0e}" in str(said.message)
    assert is_regressor(model) or model.score(views, Y) < 0.55


@pytest.mark.parametrize("name", PREDICTORS)
def test_what_is_learnt_is_not_complained_about(name):
    """Check that there is no warning, with complete and with missing views."""
    gaps = MultiView(VIEWS).drop_views(0.3, random_state=0)
    assert not nothing_learnt(with_seed(name), VIEWS, Y)
    assert not nothing_learnt(with_seed(name), gaps, Y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("scale", [1e2, 1e4, 1e6])
@pytest.mark.parametrize("name", PREDICTORS)
def test_a_view_of_another_scale_is_learnt_or_told(name, scale):
    """Check for a warning or error, or a score at most .15 below the score at scale 1."""
    y = A[:, 0] - B[:, 1] if is_regressor(METHODS[name]()) else Y
    one = with_seed(name).fit(VIEWS, y).score(VIEWS, y)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            model = with_seed(name).fit([A, B * scale], y)
        except ValueError as error:
            assert "scale" in str(error)
            return
    assert said or model.score([A, B * scale], y) >= one - 0.15


def test_worse_than_a_constant_is_told():
    model = MVMRegressor(random_state=0).fit(VIEWS, A[:, 0])
    with pytest.warns(NothingLearntWarning, match="worse than one answer for all"):
        warn_if_nothing_learnt(model, MultiView(VIEWS), -A[:, 0])
    model = MVPO().fit(VIEWS, Y)
    with pytest.warns(NothingLearntWarning, match="worse than one answer for all"):
        warn_if_nothing_learnt(model, MultiView(VIEWS), 1 - Y)
    few = np.where(np.arange(40) < 4, 1.0, 0.0)  # the only samples with weight
    warn_if_nothing_learnt(MVMRegressor().fit(VIEWS, A[:, 0]), MultiView(VIEWS), A[:, 0], few)


def test_a_rare_class_that_is_found_is_learnt():
    rare = np.arange(1000) % 50 == 0
    X = RNG.normal(size=(1000, 2)) * 0.1 + 10 * rare[:, None]
    assert not nothing_learnt(METHODS["Concat"](random_state=0), [X], rare)
    assert nothing_learnt(METHODS["Concat"](random_state=0), [X * 0], rare)


def test_small_scores_that_tell_the_classes_apart_are_learnt():
    model = MVPO(C2=1.0)
    assert not nothing_learnt(model, [A * 1e-6, B * 1e-6], Y)
    assert np.abs(model.decision_function([A * 1e-6, B * 1e-6])).max() < 1e-8


def test_without_a_complete_sample_that_is_told():
    """Test the check itself: STM, which learns only from complete samples, refuses these views."""
    views = [A.copy(), B.copy()]
    views[0][:20], views[1][20:] = NAN, NAN
    model = with_seed("MVPO").fit(VIEWS, Y)
    model._scores = lambda X: np.zeros((len(X), 1))
    with pytest.warns(NothingLearntWarning, match="are 0. No sample has all views"):
        warn_if_nothing_learnt(model, MultiView(views), Y)
    with pytest.raises(ValueError, match="all the views .* there is none"):
        STMClassifier(n_init=2).fit(views, Y)


def test_a_regressor_of_equal_numbers_has_nothing_to_learn():
    assert not nothing_learnt(MVMRegressor(random_state=0), [A * 0], np.full(40, 2.5))
    assert nothing_learnt(MVMRegressor(random_state=0), [A * 0], np.arange(40.0))


def test_a_share_of_the_samples_is_asked_and_nothing_is_drawn_from_the_method(monkeypatch):
    asked = []
    real = MVLSVM._scores
    monkeypatch.setattr(MVLSVM, "_scores", lambda self, X: asked.append(len(X)) or real(self, X))
    rows = np.arange(1000) % 40
    states = []
    for check in (fit.warn_if_nothing_learnt, lambda *given: None):
        monkeypatch.setattr(fit, "warn_if_nothing_learnt", check)
        seeds = np.random.RandomState(3)
        np.random.seed(0)  # noqa: NPY002, the global generator is checked
        MVLSVM(5, random_state=seeds).fit([A[rows], B[rows]], Y[rows])
        states.append((seeds.uniform(), np.random.get_state()[1].tolist()))  # noqa: NPY002
    assert states[0] == states[1] and asked == [N_ASKED]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", ["MVPO", "KMHKS", "SVMPerf"])
def test_numbers_whose_products_overflow(name):
    with pytest.raises(ValueError, match=r"numbers up to \de\+300, too large .* scale the views"):
        with_seed(name).fit([A * 1e300, B], Y)


# ------------------------------------------------------------------ shared parameters

WRONG = {
    "fit_intercept": ("x", 1, 0, None, object()),
    "n_jobs": ("x", 0, 1.5, True, [2]),
    "random_state": ("x", -1, 2.5, [None]),
    "tol": ("x", -1.0, NAN, None, 1e-20),
    "max_iter": ("x", -1, 1.5, None),
}


@pytest.mark.parametrize("name", METHODS)
def test_shared_parameters_are_named(name):
    for parameter in WRONG.keys() & METHODS[name]().get_params().keys():
        for value in WRONG[parameter]:
            with pytest.raises(ValueError, match=f"^{parameter}"):
                METHODS[name](**CHEAP.get(name, {}) | {parameter: value}).fit(VIEWS, Y)


# ------------------------------------------------------------------ forms of input

WHOLE = (FLAT * 10).round()
FRAME = pd.DataFrame(WHOLE, columns=list("abcdefg"))
SPARSE = ("csr", "csc", "coo", "lil", "dok", "bsr", "dia")


def dense(answer):
    return answer.toarray() if sparse.issparse(answer) else answer


@pytest.mark.parametrize("name", METHODS)
def test_dates_and_hidden_labels_are_refused(name):
    dates = FLAT.astype("int64").astype("M8[s]")
    model = METHODS[name](views=[4, 3])
    for wrong in (dates, FRAME.assign(a=pd.Timestamp("2020-01-01")), [A, dates[:, 4:]]):
        with pytest.raises(ValueError, match="datetime64.*days since a date"):
            model.fit(wrong, Y)
    if hasattr(model, "predict"):
        with pytest.raises(ValueError, match="datetime64.*days since a date"):
            with_seed(name).fit(FLAT, Y).predict(dates)
        with pytest.raises(ValueError, match="y must have a label for every sample, got 1 miss"):
            model.fit(FLAT, np.ma.masked_array(Y, np.arange(40) == 3))


# ------------------------------------------------------------------ public functions

WHOLE_A, WHOLE_B = WHOLE[:, :4], WHOLE[:5, :4] + 1


def tables(array):
    """Return an array of whole numbers in every form."""
    yield from (array.astype(d) for d in ("int64", "int16", "float32", "longdouble", object))
    yield from (array.tolist(), np.asfortranarray(array), pd.DataFrame(array), np.asmatrix(array))
    yield pd.DataFrame(array).astype("Int64")
    yield np.ma.masked_array(array, False)
    yield from (getattr(sparse, f"{name}_array")(array) for name in SPARSE)


KERNELS = {
    "linear": kernels.linear,
    "squared_distances": kernels.squared_distances,
    "rbf": lambda X, Z: kernels.rbf(X, Z, 1),
    "rbf_of_distances": lambda X, Z: kernels.rbf_of_distances(abs(X), 0.1),
    "Similarity": lambda X, Z: kernels.Similarity("rbf", 0.5, Z)(X),
    "fit_similarity": lambda X, Z: kernels.fit_similarity("rbf", None, Z, [0, 2], [0, 1])(X),
}


@pytest.mark.parametrize("name", [name for name in KERNELS if name != "rbf_of_distances"])
def test_kernels_of_every_form(name):
    expected = KERNELS[name](WHOLE_A, WHOLE_B)
    for X, Z in zip(tables(WHOLE_A), tables(WHOLE_B), strict=True):
        assert_allclose(KERNELS[name](X, Z), expected, rtol=1e-13)
    for X, plain in zip(tables(WHOLE_A), tables(WHOLE_A), strict=True):
        KERNELS[name](X, X)  # does not modify its arguments
        assert_array_equal(np.asarray(dense(X), dtype=float), np.asarray(dense(plain), dtype=float))


def test_distances_of_every_form():
    distances = WHOLE_A**2
    for D in tables(distances):
        if not sparse.issparse(D):
            assert_array_equal(kernels.rbf_of_distances(D, 1), np.exp(-1.0 * distances**2))


def test_kernels_of_floats_are_those_of_the_formula_to_the_last_bit():
    Z = A[:7] + 0.1
    D2 = A @ Z.T
    D2 *= -2.0
    D2 += np.einsum("ij,ij->i", A, A)[:, None]
    D2 += np.einsum("ij,ij->i", Z, Z)
    D2 = np.maximum(D2, 0.0)
    assert_array_equal(kernels.squared_distances(A, Z), D2)
    assert_array_equal(kernels.rbf(A, Z, 0.3), np.exp(D2 * -0.3))


Q, S, T = np.eye(4) + 0.5, [0.9, 0.3, 0.4, 0.1], [1, 1, -1, -1]
METRIC = PrimalMetric([np.array([[3.0], [-1.0]])], np.ones((2, 1), dtype=bool), 0.0)
M2, RHO = [[[1], [1], [-1]]], [1.0]
# A public function and valid arguments.
CALLS = [
    (kernels.squared_distances, {"X": A, "Z": A[:5]}),
    (kernels.linear, {"X": A, "Z": A[:5]}),
    (kernels.rbf, {"X": A, "Z": A[:5], "gamma": 0.5}),
    (kernels.rbf_of_distances, {"D": Q, "gamma": 0.5}),
    (kernels.fit_similarity, {"kernel": "rbf", "gamma": None, "view": A, "landmarks": [0, 1],
     "complete": [0, 1, 2]}),
    (kernels.fit_similarities, {"kernel": "rbf", "gamma": None, "X": [A], "landmarks": [[0, 1]],
     "complete": [[0, 1]]}),
    (kernels.one_per_view, {"value": "rbf", "n_views": 2, "name": "kernel"}),
    (measures.f_beta_loss, {"a": 1, "b": 1, "P": 2, "beta": 1.0}),
    (measures.prbep_loss, {"a": 3, "P": 4}),
    (measures.auroc_loss, {"swapped": 3, "P": 2, "N": 3}),
    (measures.error_loss, {"a": 1, "b": 1, "P": 2, "N": 6}),
    (measures.f_beta, {"y_true": T, "y_pred": T, "beta": 1.0}),
    (measures.precision_recall_break_even, {"y_true": T, "scores": S}),
    (measures.auroc, {"y_true": T, "scores": S}),
    (measures.one_vs_rest, {"y": T}),
    (measures.macro_average, {"measure": measures.auroc, "Y": T, "scores": Q[:, :2]}),
    (measures.check_beta, {"beta": 1}),
    (bregman.negative_binary_entropy, {"p": S}),
    (bregman.log_odds, {"q": S}),
    (bregman.generic_divergence, {"F": np.sum, "grad_F": np.ones_like, "p": S, "q": S}),
    (bregman.divergence, {"p": S, "q": S}),
    (bregman.legendre, {"q": S, "r": S}),
    (bregman.logistic_loss, {"margins": S}),
    (bregman.normalised_loss, {"margins": S}),
    (bregman.loss_as_divergence, {"margins": S}),
    (bregman.pythagorean_gap, {"p": S, "q_star": S, "q": S}),
    (bregman.weighted_votes, {"Ms": M2, "q": S[:3]}),
    (bregman.step_scale, {"Ms": M2, "rho": RHO}),
    (bregman.optimal_delta, {"W_plus": [[3.0]], "W_minus": [[1.0]]}),
    (bregman.auxiliary_bound, {"Ms": M2, "rho": RHO, "q": S[:3], "delta": [[0.1]],
     "scale": None, "version": "corrected"}),
    (bregman.guaranteed_decrease, {"Ms": M2, "rho": RHO, "q": S[:3], "scale": None}),
    (gram.gram_matrix, {"K": Q}),
    (gram.gram_trace, {"K": Q}),
    (gram.kernel_alignment, {"K1": Q, "K2": Q}),
    (rademacher.kernel_class_bound, {"K": Q, "B": 1.0, "w0_max": 0.0}),
    (rademacher.empirical_complexity, {"K": Q, "B": 1.0, "w0_max": 0.0, "n_draws": 5,
     "random_state": 0}),
    (rademacher.ramp_loss, {"margins": S, "rho": 1.0}),
    (rademacher.dyadic_level, {"value": 0.3}),
    (rademacher.margin_bound, {"margins": S, "B": 1.0, "K": Q, "rho": 1.0, "delta": 0.05,
     "w0_max": 0.0}),
    (rademacher.printed_complexity, {"K": Q, "B": 1.0, "version": "printed"}),
    (rademacher.printed_bound, {"train_error": 0.0, "B": 1.0, "K": Q, "delta": 0.05}),
    (performance.surrogate_slack, {"s": S, "y": T, "measure": "f1", "beta": 1.0}),
    (performance.view_disagreement, {"u": Q, "observed": None}),
    (performance.leverages, {"metric": METRIC}),
    (performance.cut_radius, {"metric": METRIC, "y": [1, -1], "measure": "f1", "scale": 1.0}),
    (performance.iteration_bound, {"R": 1.0, "C2": 1.0, "tol": 0.01, "loss_max": 1.0}),
    (stability.radius, {"n_landmarks": 3, "n_views": 3, "kernel_bound": 1.0}),
    (stability.generalization_bound, {"train_risk": 0.0, "c": 0.2, "n_landmarks": 1, "n_views": 3,
     "n_samples": 10, "delta": 0.05, "loss": "hinge", "version": "corrected"}),
    (stability.randomised_stability, {"c": 0.2, "n_landmarks": 1, "n_views": 3, "n_samples": 9}),
    (stability.exact_hinge_svm, {"Phi": Q, "y": T, "c": 0.5, "m": None}),
    (stability.pointwise_loss, {"scores": S, "y": T, "loss": "hinge"}),
    (stability.measure_stability, {"estimator": MVLSVM(3, random_state=0), "y": Y,
     "X": VIEWS, "n_replacements": 1, "change": "replace"}),
    (coverage.draw_moons, {"n": 5, "random_state": 0, "noise": 0.25}),
    (coverage.coverage_study, {"fit": lambda X, y: coverage.Machine(len, 1.0, y), "n_samples": 9,
     "n_repeats": 1, "bound": lambda machine, margins: 1.0, "random_state": 0}),
    (view_importance, {"estimator": MVPO().fit(VIEWS, Y), "X": VIEWS, "y": Y, "how": "replace",
     "n_draws": 1, "random_state": 0}),
]  # fmt: skip
HOSTILE = (
    "x", None, NAN, np.inf, -1, 0, 2.5, 10**400, [], {}, object(), [[1.0, 2.0], [3.0]], 1j,
    ["a", "b"], np.zeros((2, 2, 2)), np.array([None, 1]), np.ones((4, 3)) * 1j,
    np.full((4, 3), NAN), {1, 2}, np.empty((0, 3)), np.array(["2020-01-01"], dtype="M8[D]"),
    np.ones((4, 9)), np.ones(9), sparse.csr_array(np.eye(4)), pd.DataFrame({"a": ["x", "y"]}),
)  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("function", "given"), CALLS, ids=[call[0].__name__ for call in CALLS])
def test_arguments_of_public_functions(function, given):
    """Check that each is accepted, or refused with a message of mvref or scikit-learn's checks."""
    if function is not coverage.coverage_study:
        function(**given)
    for argument in given:
        for value in HOSTILE:
            try:
                function(**given | {argument: value})
            except (ValueError, TypeError) as error:
                no_score = "estimator passed should have a 'score'" in str(error)
                assert no_score or not refusal(error), (argument, value)
