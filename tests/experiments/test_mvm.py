"""Protocol of part IV's experiments: data, methods, tuning, measures, jobs."""

import warnings
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import f1_score, roc_auc_score

from mvref import MultiView, MVMClassifier
from mvref.compare.seeds import derive_seed
from mvref.datasets import make_interactions
from mvref.experiments import interactions, mvm, read_paper_numbers
from mvref.experiments.interactions import (
    FACTORISED,
    MEASURES,
    METHODS,
    N_POOL,
    N_TEST,
    NOISE,
    OWN_MEASURES,
    PLANTED,
    build,
    has_failed,
    planted,
    unseen,
)  # fmt: skip
from mvref.experiments.tables import grid
from mvref.experiments.tuning import Machine, Method, Split, train, tuned
from mvref.rivals import Concat, FMClassifier, STMClassifier

SMALL = (1e-1, 1e-3, 1e-5)


def squared_norms(view):
    return np.asarray(sparse.csr_matrix(view).power(2).sum(axis=1)).ravel()


def small_parts(n_classes=2, n=90, seed=0, best=1.0):
    """Two views that hint at the class, cut in training and test samples."""
    rng = np.random.RandomState(seed)
    y = rng.permutation(n) % n_classes
    views = [rng.randn(n_classes, d)[y] + 0.7 * rng.randn(n, d) for d in (3, 4)]
    train, test = np.split(np.arange(n), [n * 2 // 3])
    folds = [np.split(train, [len(train) * 2 // 3])]
    return Split(MultiView(views), y, train, test, folds, {"best": best})


def method_of(name, measures=("accuracy",), **values):
    """A method and the grid of its values; a name, or what builds the classifier."""
    how = partial(build, name) if isinstance(name, str) else name
    return Method(Machine, grid(**values), measures, {"build": how})


def measured(parts, name, seed, **values):
    """What the experiments measure of a method."""
    method = method_of(name, (*MEASURES, *values), **values)
    return tuned(parts, method, seed).measure(None, OWN_MEASURES)


def trained_on_all(parts, name, **point):
    """The machine of a method that is trained on all samples."""
    return Machine(parts, np.arange(len(parts.y)), 0, build=partial(build, name)).fit(point)


# ------------------------------------------------------------------------------------- data


@pytest.mark.parametrize("name", PLANTED)
def test_planted_problems_follow_the_protocol(name):
    few, many = (planted(name, n, 3) for n in (250, 1000))
    assert len(many.test) == N_TEST and len(many.train) == 1000
    assert np.array_equal(few.test, many.test), "one test part for all sizes"
    assert np.array_equal(few.train, many.train[:250])
    assert many.train.max() < N_POOL <= many.test.min()
    assert few.X is many.X, "one planted score for all sizes"
    norms = [squared_norms(view) for view in many.X.views]
    assert len(norms) == interactions.N_VIEWS
    for norm in norms:
        assert norm.mean() == pytest.approx(1, abs=0.03)
        assert (norm == 1).all() == name.startswith("onehot")


@pytest.mark.parametrize("name", PLANTED)
def test_the_best_accuracy_is_that_of_the_planted_score(name):
    parts = planted(name, 250, 3)
    options = PLANTED[name] | {"noise": NOISE, "random_state": derive_seed(3, "planted")}
    data = make_interactions(N_POOL + N_TEST, interactions.N_VIEWS, **options)
    assert np.array_equal(data.y, parts.y)
    right = (data.meta["scores"] > 0) == data.y
    assert parts.meta["best"] == 1 - NOISE
    # four standard deviations of a share of N_TEST samples
    assert right[parts.test].mean() == pytest.approx(parts.meta["best"], abs=0.0125)


def test_unseen_pairs_and_triples_are_counted_over_the_test_part():
    levels = np.array([[0, 0, 0], [1, 1, 1], [0, 1, 0], [1, 1, 1], [0, 0, 1]])
    X = MultiView([sparse.csr_matrix(np.eye(2)[column]) for column in levels.T])
    found = unseen(Split(X, np.arange(5), np.arange(2), np.arange(2, 5), []))
    # 010: pairs (0,1), (0,0), (1,0): two are new; 111: none; 001: (0,0), (0,1), (0,1): two
    assert found == {"unseen_pairs": pytest.approx(4 / 9), "unseen_triples": pytest.approx(2 / 3)}


# ---------------------------------------------------------------------------------- methods


def test_methods_are_what_their_names_say():
    X = small_parts(n=20).X  # C = 1/(2 alpha n) = 2.5
    made = {name: build(name, {"k": 3, "gamma": 0.5, "alpha": 0.01}, X, 7) for name in METHODS}
    for method, order, multiview in (("FM", 2, False), ("FM27", 2, True), ("FM-V", 2, True)):
        model = made[method]
        assert isinstance(model, FMClassifier)
        assert (model.order, model.multiview, model.alpha) == (order, multiview, 0.01)
        assert (model.n_factors, model.random_state) == (3, 7)
    three = MultiView([np.zeros((2, 1))] * 3)
    assert build("FM-V", {"k": 3, "alpha": 0.1}, three, 0).order == 3
    assert isinstance(made["MVM"], MVMClassifier)
    assert made["MVM"].get_params() == MVMClassifier(3, alpha=0.01, random_state=7).get_params()
    assert isinstance(made["STM"], STMClassifier)
    stms = made["STM"], made["STM-product"]
    assert [stm.kernel for stm in stms] == ["rank_one", "product"]
    assert [stm.C for stm in stms] == [2.5, 2.5]
    assert (made["STM"].n_init, made["STM"].random_state) == (1, 7)
    assert isinstance(made["Linear"], Concat) and isinstance(made["RBF"], Concat)


def test_alpha_weighs_the_penalty_against_the_mean_loss():
    parts, alpha = small_parts(), 0.03
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        model = trained_on_all(parts, "Linear", alpha=alpha).model
    F = np.column_stack([*parts.X.views, np.ones(len(parts.y))])
    sign = np.where(parts.y, 1.0, -1.0)

    def objective(w):
        return np.mean(np.maximum(0, 1 - sign * (F @ w)) ** 2) + alpha * w @ w

    best = minimize(objective, np.zeros(F.shape[1]), options={"gtol": 1e-7}).x
    np.testing.assert_allclose(model.decision_function(parts.X), F @ best, atol=2e-3)


def test_the_gaussian_svm_measures_distances_in_units_of_the_number_of_views():
    parts = small_parts()
    model = trained_on_all(parts, "RBF", gamma=0.8, alpha=1e-2).model
    svm = model.estimator_.estimators_[0]
    Z = np.hstack(parts.X.views)
    distances = ((Z[:, None] - Z[None, svm.support_]) ** 2).sum(axis=2)
    scores = np.exp(-0.8 / 2 * distances) @ svm.dual_coef_[0] + svm.intercept_
    np.testing.assert_allclose(model.decision_function(parts.X), scores, atol=1e-9)
    assert svm.C == pytest.approx(1 / (2 * 1e-2 * len(parts.y)))


def test_one_start_for_all_parameters_of_a_repeat():
    seeds = []

    def recorded(point, X, seed):
        seeds.append(seed)
        return Concat(random_state=seed)

    for seed in (1, 1, 2):
        tuned(small_parts(), method_of(recorded, k=(2, 4)), seed)
    assert len(seeds) == 9
    assert len(set(seeds[:6])) == 1 and len(set(seeds[6:])) == 1
    assert seeds[0] != seeds[6]


def test_the_last_training_has_several_starts_and_tuning_one(monkeypatch):
    made = []

    def recorded(method, point, X, seed, n_starts=1):
        made.append((method, n_starts, len(X)))
        return build(method, point, X, seed, n_starts)

    monkeypatch.setattr(mvm, "build", recorded)
    options = {"measures": ("accuracy",), "points": grid(k=(1, 2), alpha=(1e-2,)), "n_train": 250}
    mvm.measured("planted-full", "MVM", n_starts=3, seed=0, **options)
    assert made == [("MVM", 1, 166), ("MVM", 1, 166), ("MVM", 3, 250)]
    mvm.measured_by_starts("planted-full", "MVM", n_starts=6, seed=0, **options)
    assert made[3:] == [("MVM", 4, 166), ("MVM", 4, 166), ("MVM", 6, 250)]
    X, point = small_parts(n=20).X, {"k": 2, "alpha": 0.1}
    for name in (*FACTORISED, "STM"):
        assert build(name, point, X, 0, 12).n_init == 12
    jobs = [*mvm.order("onehot-full", False, None), *mvm.on_halves("digits", False, None)]
    starts = {job.function.keywords.get("n_starts") for job in jobs}
    assert starts == {None, mvm.N_STARTS, mvm.REAL_STARTS}


# ---------------------------------------------------------------------------------- measures


@pytest.mark.parametrize("n_classes", [2, 3])
def test_measures_are_those_of_the_test_part(n_classes):
    parts = small_parts(n_classes, n=150)
    found = measured(parts, "FM27", 4, k=(2,), alpha=(1e-2,))
    assert tuple(found) == (*MEASURES, "k", "alpha")
    assert (found["k"], found["alpha"], found["warned"]) == (2, 1e-2, 0)
    X, y = parts.X[parts.train], parts.y[parts.train]
    model = build("FM27", {"k": 2, "alpha": 1e-2}, X, 4).fit(X, y)
    X, y = parts.X[parts.test], parts.y[parts.test]
    guess, scores = model.predict(X), model.decision_function(X)
    assert found["accuracy"] == np.mean(guess == y)
    assert found["f1"] == f1_score(y, guess, average="macro")
    Y = (y[:, None] == np.arange(n_classes))[:, -1 if n_classes == 2 else slice(None)]
    assert found["auroc"] == pytest.approx(roc_auc_score(Y, scores, average="macro"))
    assert found["fit_seconds"] > 0


def run_that(y, predicted, messages, best=0.95):
    """What is asked of a training that may have failed."""
    split = SimpleNamespace(meta={"best": best})
    return SimpleNamespace(y_test=y, predicted=predicted, messages=messages, split=split)


def test_failure_is_below_the_middle_of_chance_and_the_best():
    y = np.arange(100) < 60
    right = [np.where(np.arange(100) < n, y, ~y) for n in (77, 78)]
    assert [has_failed(run_that(y, guess, [])) for guess in right] == [True, False]
    assert has_failed(
        run_that(y, y, ["MVMClassifier: training collapsed to the local minimum at zero"])
    )
    assert not has_failed(run_that(y, y, ["no convergence in max_iter=1000 iterations"]))
    y, guesses = np.array([0, 0, 1, 1]), ([0, 0, 0, 1], [0, 0, 0, 0])
    failed = [has_failed(run_that(y, np.array(guess), [], 1.0)) for guess in guesses]
    assert failed == [False, True]


@pytest.mark.parametrize("init_scale", [0.01, 30.0])
def test_a_collapse_and_an_end_worse_than_zero_are_told_apart_from_other_warnings(init_scale):
    """The words that mark a failure are those that multi-view machines say."""
    rng = np.random.RandomState(0)
    X, y, rows = MultiView([rng.randn(60, 2) for _ in range(5)]), np.arange(60) % 2, np.arange(60)

    def bad(point, X, seed):
        options = {"init": "paper", "init_scale": init_scale, "max_iter": 1}
        return MVMClassifier(2, **options, random_state=seed)

    split = Split(X, y, rows, rows, [], {"best": 1.0})
    messages = train(split, method_of(bad), 0, 0).messages
    assert has_failed(run_that(y, y, messages))
    messages = train(split, method_of(lambda *_: MVMClassifier(2, max_iter=3)), 0, 0).messages
    assert len(messages) == 1 and not has_failed(run_that(y, y, messages))


# ------------------------------------------------------------------------------------- starts


def test_starts_collapse_or_live():
    options = {"measures": tuple(mvm.START_MEASURES), "V": 6, "seed": 1}
    live = mvm.from_start("planted-mixed", "live", **options)
    assert live["train_accuracy"] >= 0.99 and not live["collapsed"]
    dead = mvm.from_start("planted-mixed", "paper", sigma=0.1, **options)
    assert dead["collapsed"] == 1
    assert dead["objective"] == pytest.approx(np.log(2), abs=1e-6)
    assert live["objective"] < 0.2
    assert set(live) == set(mvm.START_MEASURES)


def test_products_are_measured_on_samples_that_did_not_train():
    measures = (*mvm.START_MEASURES, "accuracy")
    found, again, other = (
        mvm.from_start("planted-full", "live", measures=measures, V=2, seed=s) for s in (1, 1, 2)
    )
    assert 0.97 < found["accuracy"] < found["train_accuracy"]
    assert found == again != other


# ------------------------------------------------------------------------------------- jobs


def test_planted_jobs_have_all_sizes_and_grids():
    jobs = list(mvm.order("onehot-full", False, None))
    assert {j.parameter["n_train"] for j in jobs} == {250, 1000, 4000}
    assert sum(j.method == "data" for j in jobs) == sum(mvm.SIZES.values())
    assert not any(j.method == "data" for j in mvm.order("planted-full", False, None))
    points = {j.method: j.function.keywords["points"] for j in jobs if j.method != "data"}
    assert {name: len(found) for name, found in points.items()} == dict.fromkeys(METHODS, 18)
    for name, found in points.items():
        shape = {"k"} if name in FACTORISED else {"gamma"} if name == "RBF" else set()
        assert set(found[0]) == shape | {"alpha"}
        alphas = [point["alpha"] for point in found[:3]]
        assert alphas == sorted(alphas, reverse=True), "of equals the largest alpha"


def test_start_jobs_train_from_the_start_that_they_name():
    jobs = list(mvm.start("planted-mixed", False, None))
    assert {job.parameter["V"] for job in jobs} == set(range(2, 9))
    assert {(job.method, job.parameter.get("sigma")) for job in jobs} == {
        ("live", None), *(("paper", sigma) for sigma in (0.01, 0.05, 0.1, 0.5))
    }  # fmt: skip
    for job in jobs:
        assert job.function.args == ("planted-mixed", job.method)
        assert job.function.keywords.get("sigma") == job.parameter.get("sigma")
        assert job.function.keywords["V"] == job.parameter["V"]


def test_statements_are_about_methods_of_the_experiments():
    numbers = read_paper_numbers("mvm")
    assert set(numbers["method"]) <= set(METHODS) and (numbers["value"] == 1).all()
