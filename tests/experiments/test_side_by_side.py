"""Protocol of the comparison of all methods: grids, parts, tuning, measures, ranks."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

import mvref
from mvref.experiments import find_item, side_by_side, side_methods
from mvref.experiments.missing_treatments import fill_means, view_means
from mvref.experiments.paired_tests import paired_interval
from mvref.experiments.ranks import average_ranks, critical_difference, friedman, holm, pareto_front
from mvref.experiments.side_by_side import load_parts, measured, method_of
from mvref.experiments.side_methods import (
    CONTROLS,
    GRIDS,
    MAX_POINTS,
    REFERENCES,
    VARIANTS,
    MeanKernelSVC,
    build,
    points_of,
    seconds_of,
    stored_kilobytes,
)
from mvref.experiments.tuning import tuned


@pytest.fixture(scope="module")
def digits():
    return load_parts("digits", 0)


# ------------------------------------------------------------------------------- methods


@pytest.mark.parametrize("method", GRIDS)
def test_no_method_has_more_trials_than_allowed(method):
    points = points_of(method)
    assert 1 <= len(points) <= MAX_POINTS
    models = [build(method, point, 3, 0) for point in points]
    assert len({str(sorted(m.get_params().items(), key=str)) for m in models}) == len(points)


@pytest.mark.parametrize("method", [m for m in GRIDS | CONTROLS if m not in REFERENCES])
def test_a_point_reaches_the_constructor(method):
    for point in points_of(method):
        model = build(method, point, 3, seed=7)
        params = getattr(model, "estimator", model) if method == "ExtraTrees" else model
        params = params.get_params()
        for name, value in point.items():
            if name == "estimator":
                assert str(params[name]) == str(side_methods.CLASSIFIERS[value])
                assert params[name] is not side_methods.CLASSIFIERS[value]
            else:
                assert params[name] == value
        assert params.get("random_state", 7) == 7
        variant = method in ("MVNAKMHKS", *VARIANTS)
        assert (type(model) is mvref.MVNAKMHKS) == variant
        if variant:
            assert params["n_components"] == (1.0 if method.endswith("all-apart") else 0.5)
            assert params["coupling"] == (0.0 if method.endswith("apart") else 1.0)


def test_the_references_are_those_of_scikit_learn(digits):
    X, y = digits.X[digits.train], digits.y[digits.train]
    ours = build("LogisticRegression", {"C": 10.0}, X.n_views, 0).fit(X, y)
    theirs = LogisticRegression(C=10.0, max_iter=1000).fit(np.hstack(X.views), y)
    test = digits.X[digits.test]
    assert (ours.predict(test) == theirs.predict(np.hstack(test.views))).mean() > 0.998
    svc = build("SVC", {"C": 3.0, "gamma": 1.0}, 4, 0)
    assert svc.estimator.estimator.gamma == 0.25
    counts = np.bincount(y)
    majority = build("Majority", {}, 4, 0).fit(X, y).predict(test)
    assert set(majority) == {int(counts.argmax())}


def test_the_size_counts_what_is_kept():
    data = mvref.datasets.load_digits_views()
    assert stored_kilobytes(np.zeros((100, 10))) == pytest.approx(8, abs=0.5), "of 8 bytes each"
    sizes = {}
    for method in ("SVMPerf", "PerViewSVM"):
        for n in (100, 400):
            model = build(method, points_of(method)[0], 4, 0)
            sizes[method, n] = stored_kilobytes(model.fit(data.X[:n], data.y[:n]))
    assert sizes["SVMPerf", 400] < 1.5 * sizes["SVMPerf", 100]  # weights, and a longer course
    assert sizes["PerViewSVM", 400] > 3 * sizes["PerViewSVM", 100]  # the samples


def test_time_is_the_median_of_the_calls(monkeypatch):
    ticks = iter([0.0, 5.0, 10.0, 11.0, 20.0, 22.0])
    monkeypatch.setattr(side_methods.time, "process_time", lambda: next(ticks))
    assert seconds_of(lambda: "done", 3) == ("done", 2.0)


def test_the_mean_kernel_is_the_mean_and_not_the_product(digits):
    """Against scikit-learn with the kernel written out; the product is that of `SVC`."""
    X, y, test = digits.X[digits.train], digits.y[digits.train], digits.X[digits.test]

    def kernel(A, B):
        distances = [
            ((a[:, None] - b) ** 2).sum(axis=2) for a, b in zip(A.views, B.views, strict=True)
        ]
        return np.mean([np.exp(-0.5 * d) for d in distances], axis=0)

    machine = OneVsRestClassifier(SVC(C=3.0, kernel="precomputed")).fit(kernel(X, X), y)
    ours = MeanKernelSVC(C=3.0, gamma=0.5).fit(X, y).predict(test)
    assert (ours == machine.predict(kernel(test, X))).all()
    product = build("SVC", {"C": 3.0, "gamma": 2.0}, 4, 0).fit(X, y)  # gamma / V in each view
    assert (ours != product.predict(test)).any()


# -------------------------------------------------------------------------------- tuning


def test_the_choice_is_that_of_a_grid_search(digits):
    at = {row: i for i, row in enumerate(digits.train)}
    folds = [([at[r] for r in fit], [at[r] for r in check]) for fit, check in digits.folds]
    table = np.hstack(digits.X.views)[digits.train]
    judge = GridSearchCV(
        LogisticRegression(max_iter=1000), {"C": GRIDS["LogisticRegression"]["C"]}, cv=folds
    ).fit(table, digits.y[digits.train])
    run = tuned(digits, method_of("LogisticRegression"), 0)
    assert run.index == judge.best_index_
    assert run.validation == pytest.approx(judge.best_score_, abs=1e-9)


def test_same_seed_same_result(digits):
    timed = ("train_seconds", "predict_seconds")
    one, two = (measured(digits, "MVMV", 3) for _ in range(2))
    assert {k: v for k, v in one.items() if k not in timed} == {
        k: v for k, v in two.items() if k not in timed
    }
    assert min(one[name] for name in timed) > 0


def test_a_warning_of_the_last_training_is_counted(digits, monkeypatch):
    monkeypatch.setitem(side_methods.FIXED, "FMClassifier", {"max_iter": 1, "tol": 1e-12})
    monkeypatch.setitem(GRIDS, "FMClassifier", {"n_factors": (2,)})
    assert measured(digits, "FMClassifier", 0)["warned"] == 1
    assert measured(digits, "Majority", 0)["warned"] == 0


# -------------------------------------------------------------------------------- advice


@pytest.mark.parametrize("method", ["LogisticRegression", "CoLabeling"])
def test_gaps_come_after_a_complete_training(digits, method):
    """By hand: the accuracy on complete samples is that of `measured`; the references get means."""
    jobs = find_item("side_by_side.advice").jobs("digits", False, None)
    job = next(job for job in jobs if job.method == method)
    values, complete = job.function(seed=0), measured(digits, method, 0)
    assert set(values) == set(job.measures)
    assert values["accuracy"] == complete["accuracy"]
    assert values["accuracy_0.5"] < values["accuracy_0.3"] < values["accuracy"]
    X, test = digits.X[digits.train], digits.X[digits.test]
    point = points_of(method)[int(values["point"])]
    model = build(method, point, 4, side_by_side.derive_seed(0, "start")).fit(
        X, digits.y[digits.train]
    )
    gaps = test.drop_views(0.3, random_state=side_by_side.derive_seed(0, "gaps", 0.3))
    gaps = fill_means(gaps, view_means(X)) if method in REFERENCES else gaps
    by_hand = np.mean(model.predict(gaps) == digits.y[digits.test])
    assert values["accuracy_0.3"] == by_hand


def test_the_interval_of_differences_is_that_of_scipy():
    d = np.random.default_rng(2).normal(0.1, 1.0, 10)
    expected = stats.ttest_1samp(d, 0.0).confidence_interval(0.9)
    mean, low, high = paired_interval(d, level=0.9)
    assert_allclose([mean, low, high], [d.mean(), *expected])
    with pytest.raises(ValueError, match="two or more finite"):
        paired_interval([0.1])


def test_holm_by_hand_and_that_it_keeps_its_level():
    assert_allclose(holm([0.01, 0.02, 0.03, 0.005]), [0.03, 0.04, 0.04, 0.02])
    assert holm([0.6, 0.9]).tolist() == [1.0, 1.0]
    rng = np.random.default_rng(0)
    false = [(holm(rng.uniform(size=8)) < 0.05).any() for _ in range(4000)]
    assert 0.035 < np.mean(false) < 0.065


# --------------------------------------------------------------------------------- ranks


def test_friedman_agrees_with_scipy_and_with_iman_and_davenport():
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(6, 9)))
    chi2 = stats.friedmanchisquare(*table.to_numpy()).statistic
    k, N = table.shape
    F, p = friedman(table)
    assert F == pytest.approx((N - 1) * chi2 / (N * (k - 1) - chi2))
    assert p == pytest.approx(stats.f.sf(F, k - 1, (k - 1) * (N - 1)))
    ties = table.round(0)
    chi2 = stats.friedmanchisquare(*ties.to_numpy()).statistic
    assert friedman(ties)[0] == pytest.approx((N - 1) * chi2 / (N * (k - 1) - chi2))


def test_friedman_has_the_right_level():
    """Methods that are alike are told apart in about 5 % of the tables."""
    rng = np.random.default_rng(1)
    p = [friedman(pd.DataFrame(rng.normal(size=(8, 5))))[1] for _ in range(600)]
    assert 0.025 < np.mean(np.array(p) < 0.05) < 0.08


def test_friedman_at_the_ends():
    same = pd.DataFrame(np.ones((3, 4)))
    assert friedman(same) == (0.0, 1.0)
    agreed = pd.DataFrame(np.tile([[3.0], [2.0], [1.0]], (1, 4)))
    assert friedman(agreed) == (np.inf, 0.0)


@pytest.mark.parametrize(("k", "q"), [(2, 1.960), (5, 2.728), (10, 3.164)])
def test_critical_difference_has_the_quantiles_of_demsars_table_5(k, q):
    N = 7
    assert critical_difference(k, N) == pytest.approx(q * np.sqrt(k * (k + 1) / (6 * N)), rel=2e-3)


@given(st.lists(st.lists(st.integers(0, 5), min_size=3, max_size=3), min_size=2, max_size=6))
def test_ranks_sum_to_what_they_must_and_ignore_scale(rows):
    table = pd.DataFrame(np.array(rows, dtype=float))
    ranks = average_ranks(table)
    k = len(rows)
    assert ranks.sum() == pytest.approx(k * (k + 1) / 2)
    same = average_ranks(table**3 + 2.0)
    assert same.to_dict() == ranks.to_dict()
    assert ranks.is_monotonic_increasing


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=12))
def test_the_pareto_front_is_what_nobody_beats(points):
    on_front = pareto_front(*zip(*points, strict=True))
    for i, (cost, value) in enumerate(points):
        beaten = any((c <= cost and v >= value) and (c, v) != (cost, value) for c, v in points)
        assert on_front[i] == (not beaten)
    assert on_front.any()


@pytest.mark.parametrize("function", [average_ranks, friedman])
def test_gaps_are_an_error(function):
    with pytest.raises(ValueError, match="finite value for every method"):
        function(pd.DataFrame([[1.0, np.nan], [0.5, 0.2]]))


def test_one_method_or_one_data_set_is_no_comparison():
    with pytest.raises(ValueError, match="two methods and two data sets"):
        friedman(pd.DataFrame([[1.0], [0.5]]))
