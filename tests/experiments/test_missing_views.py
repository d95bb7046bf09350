"""Missing views: treatments, samples with gaps, tuning, jobs, and what is read from the ledger."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import cross_val_score
from sklearn.svm import SVC

from mvref import MultiView
from mvref.experiments import missing_methods
from mvref.experiments import missing_views as mv
from mvref.experiments.engine import derive_seed
from mvref.experiments.missing_methods import (
    METHODS,
    fit_treated,
    method_of,
    own_treatment,
    tuned_accuracy,
)
from mvref.experiments.missing_report import compare_treatments, mean_curves, read_curves
from mvref.experiments.missing_treatments import (
    TREATMENTS,
    complete_share,
    drop_by,
    fill_by_laplacian,
    fill_by_regression,
    fill_means,
    treat,
    view_means,
)
from mvref.experiments.tuning import Split, validate
from mvref.rivals import LaplacianCompletion


def with_gaps(n=60, missing=0.3, seed=0, widths=(3, 4, 2)):
    """Views that depend on each other, some of them missing."""
    rng = np.random.RandomState(seed)
    z = rng.randn(n, 3)
    views = [z @ rng.randn(3, w) + 0.3 * rng.randn(n, w) + rng.randn(w) for w in widths]
    return MultiView(views).drop_views(missing, random_state=seed), rng.randint(2, size=n)


X, Y = with_gaps()
OTHERS, _ = with_gaps(seed=1)


def small(name="moons-disturbed", missing=0.3, seed=3):
    return mv.draw_sample(name, missing, seed, n_train=60, n_test=80)


# --------------------------------------------------------------------------------- treatments


def test_means_are_those_of_the_training_samples():
    A, _, B = treat("mean", X, Y, OTHERS)
    for before, after in ((X, A), (OTHERS, B)):
        for v, gaps in enumerate(~before.observed.T):
            mean = np.nanmean(X.views[v], axis=0)
            assert_allclose(after.views[v][gaps], np.tile(mean, (gaps.sum(), 1)))


def test_mean_of_a_view_that_nobody_has_is_zero():
    X = MultiView([np.full((2, 1), np.nan), np.ones((2, 1))])
    assert [mean.tolist() for mean in view_means(X)] == [[0.0], [1.0]]


def test_regression_is_ridge_regression_of_the_missing_on_the_known_features():
    X, _ = with_gaps(n=80, missing=0.4)
    means, ridge = view_means(X), 0.7
    filled = fill_by_regression(X, X, means, ridge).concat()
    centred = X.concat() - np.concatenate(means)
    complete = centred[X.observed.all(axis=1)]
    column_view = np.repeat(np.arange(X.n_views), X.widths)
    n_checked = 0
    for i in np.flatnonzero(~X.observed.all(axis=1)):
        known = X.observed[i][column_view]
        model = Ridge(alpha=ridge, fit_intercept=False).fit(complete[:, known], complete[:, ~known])
        expected = model.predict(centred[[i]][:, known])[0] + np.concatenate(means)[~known]
        assert_allclose(filled[i, ~known], expected, atol=1e-9)
        n_checked += 1
    assert n_checked > 30


def test_regression_is_learnt_from_the_training_samples():
    B = treat("regression", X, Y, OTHERS)[2]
    assert_allclose(B.concat(), fill_by_regression(OTHERS, X, view_means(X)).concat())
    by_themselves = fill_by_regression(OTHERS, OTHERS, view_means(X)).concat()
    assert np.abs(B.concat() - by_themselves).max() > 0.1


def test_regression_without_complete_samples_is_the_mean():
    X = MultiView([np.array([[1.0], [np.nan], [2.0]]), np.array([[np.nan], [4.0], [np.nan]])])
    means = view_means(X)
    got, expected = fill_by_regression(X, X, means), fill_means(X, means)
    assert np.array_equal(got.concat(), expected.concat())


def test_laplacian_filling_minimises_its_trace_and_has_the_completed_gram_matrix():
    X, _ = with_gaps(n=40, missing=0.3)
    reference = 1
    there = X.observed[:, reference]
    filled = fill_by_laplacian(X, reference, gamma=0.2)
    K = rbf_kernel(X.views[reference][there], gamma=0.2)
    lap = np.diag(K.sum(axis=1)) - K
    for v in (0, 2):
        F = filled.views[v][there]
        unknown = ~X.observed[there, v]
        assert unknown.any()
        # gradient of tr(F' Lap F) = tr(Lap K) with respect to the rows that may move
        assert_allclose((lap @ F)[unknown], 0, atol=1e-8)
    linear = lambda A, B: A @ B.T  # noqa: E731
    kernels = [linear, "rbf", linear]
    completion = LaplacianCompletion(kernel=kernels, gamma=[None, 0.2, None], reference=reference)
    grams = completion.fit_transform(X)
    for v in (0, 2):
        has = filled.observed[:, v]
        F = filled.views[v][has]
        assert_allclose(grams.views[v][np.ix_(has, has)], F @ F.T, atol=1e-8)


def test_laplacian_leaves_a_sample_without_the_reference_view():
    X, y = with_gaps(missing=0.4)
    A, _, B = treat("laplacian", X, y, X)
    reference = int(X.observed.sum(axis=0).argmax())
    there = X.observed[:, reference]
    for part in (A, B):
        assert part.observed[there].all()
        assert np.array_equal(part.observed[~there], X.observed[~there])


def test_drop_leaves_out_training_samples_only():
    A, y_left, B = treat("drop", X, Y, OTHERS)
    complete = X.observed.all(axis=1)
    assert np.array_equal(A.concat(), X.concat()[complete])
    assert np.array_equal(y_left, Y[complete])
    assert B is OTHERS


@pytest.mark.parametrize("treatment", TREATMENTS)
def test_what_is_known_stays_and_training_never_sees_the_others(treatment):
    A, y_left, B = treat(treatment, X, Y, OTHERS)
    if treatment != "drop":
        for before, after in ((X, A), (OTHERS, B)):
            for old, new, seen in zip(before.views, after.views, before.observed.T, strict=True):
                assert np.array_equal(old[seen], new[seen])
    again = treat(treatment, X, Y, MultiView([view + 1.0 for view in OTHERS.views]))
    assert np.array_equal(again[0].concat(), A.concat(), equal_nan=True)
    assert np.array_equal(again[1], y_left)


@pytest.mark.parametrize("treatment", TREATMENTS)
def test_complete_samples_need_no_treatment(treatment):
    X, y = with_gaps(missing=0.0)
    A, same, B = treat(treatment, X, y, X[:5])
    assert A is X and same is y and len(B) == 5


# ------------------------------------------------------------------------- how views go missing


def test_views_go_missing_with_their_own_probability_and_none_loses_all():
    n = 4000
    X = MultiView([np.ones((n, 1))] * 3)
    y = np.arange(n) % 2
    observed = drop_by(X, np.column_stack([0.6 * y, np.full(n, 0.2), np.zeros(n)]), 1).observed
    for v, label, probability in ((0, 0, 0.0), (0, 1, 0.6), (1, 0, 0.2), (1, 1, 0.2), (2, 1, 0.0)):
        share = 1.0 - observed[y == label, v].mean()
        assert share == pytest.approx(probability, abs=4 * np.sqrt(0.25 / (n / 2)))
    assert drop_by(X, 1.0, 0).observed.sum(axis=1).tolist() == [1] * n
    kept = drop_by(X, 1.0, 0).observed.mean(axis=0)
    assert_allclose(kept, 1 / 3, atol=0.04)


def test_gaps_that_are_there_stay():
    assert not (drop_by(X, 0.0, 0).observed & ~X.observed).any()


@given(st.integers(2, 6), st.floats(0.0, 0.5))
def test_expected_share_of_complete_samples(V, missing):
    n = 3000
    X = MultiView([np.ones((n, 1))] * V).drop_views(missing, random_state=0)
    share = X.observed.all(axis=1).mean()
    assert share == pytest.approx(complete_share(missing, V), abs=5 * np.sqrt(0.25 / n) + 1e-9)
    assert complete_share(0.5, 4) == pytest.approx(1 / 27), "not 1/16, that of independent gaps"


# ------------------------------------------------------------------------------------- samples


@pytest.mark.parametrize("name", ["moons-disturbed", "digits", "mfeat"])
def test_views_are_missing_in_both_parts(name):
    sample = mv.draw_sample(name, 0.3, 5)
    for rows in (sample.train, sample.test):
        seen = sample.X.observed[rows]
        assert seen.any(axis=1).all()
        assert seen.mean() == pytest.approx(0.7, abs=1 / seen.size)
    assert len(sample.folds) == mv.FOLDS_USED.get(name, 1)


def test_gaps_are_nested_and_follow_from_the_seed():
    gaps = [~mv.draw_sample("digits", missing, 2).X.observed for missing in mv.RATIOS]
    for fewer, more in zip(gaps, gaps[1:], strict=False):
        assert not (fewer & ~more).any()
        assert more.sum() > fewer.sum()
    one, same, other = (mv.draw_sample("digits", 0.2, seed) for seed in (1, 1, 2))
    assert np.array_equal(one.X.concat(), same.X.concat(), equal_nan=True)
    assert not np.array_equal(one.y, other.y)
    complete = mv.draw_sample("digits", 0.0, 1)
    assert np.array_equal(complete.y, one.y), "the same samples at every ratio"


def test_views_may_go_missing_in_another_way():
    def gaps(X, y, part, seed):
        return drop_by(X, [1.0, 0.0, 0.0] if part == "test" else 0.0, seed)

    sample = mv.draw_sample("moons-disturbed", seed=0, n_train=30, n_test=40, gaps=gaps)
    assert sample.X.observed[sample.train].all()
    assert sample.X.observed[sample.test].mean(axis=0).tolist() == [0.0, 1.0, 1.0]


def test_the_gauge_is_useless_alone_and_useful_with_a_camera():
    X, y = mv.disturbed_moons(1000, 0)
    score = lambda *views: cross_val_score(SVC(C=10.0), X.select(views).concat(), y).mean()  # noqa: E731
    assert score("gauge") == pytest.approx(0.5, abs=0.06)
    assert score("left", "gauge") > score("left") + 0.1
    assert score("left", "right") < score("left") + 0.05, "the cameras share the disturbance"


# ------------------------------------------------------------------------------------- methods


@pytest.mark.parametrize(
    ("method", "treatment"),
    [(name, treatment) for name, spec in METHODS.items() for treatment in spec.treatments],
)
def test_every_method_goes_with_its_treatments(monkeypatch, method, treatment):
    monkeypatch.setattr(missing_methods, "MAX_ITER", 20)
    measures = tuned_accuracy(small(), method, treatment, 0)
    assert set(measures) == set(method_of(method, treatment).measures)
    assert np.isfinite(list(measures.values())).all()
    assert measures["accuracy"] > 0.5, "two classes of the same size"


@pytest.mark.parametrize("method", ["MVM", "FM", "PerViewSVM", "CoLabeling", "MVPO", "MVNA"])
def test_gaps_are_the_mean_in_interactions_alone(method):
    """Why "mean" is no treatment of its own for MVM and FM: gaps are 0, features have mean 0."""
    spec = METHODS[method]
    sample = small("digits")
    X, y, others = sample.X[sample.train], sample.y[sample.train], sample.X[sample.test]
    A, _, B = treat("mean", X, y, others)
    own, filled = (
        spec.make(spec.grid[1], part, 0).fit(part, y).decision_function(asked)
        for part, asked in ((X, others), (A, B))
    )
    difference = np.abs(filled - own).max()
    if method in ("MVM", "FM"):
        assert difference < 1e-5 and "mean" not in spec.treatments
    else:
        assert difference > 1e-2


def test_the_commonest_class_is_left_where_nothing_can_be_learnt():
    X, _ = with_gaps(n=12)
    observed = np.ones((12, 3), dtype=bool)
    observed[:, 0] = False
    X = MultiView(fill_means(X, view_means(X)).views, observed=observed)
    y = np.array([0, 1, 1] * 4)
    rows = np.arange(12)
    sample = Split(X, y, rows, rows, [(rows, rows)])
    assert fit_treated("LogReg", 1.0, X[:0], y[:0], 0) is None
    assert fit_treated("MVLSVM", 1.0, X, y, 0) is None, "no complete sample, no landmark"
    assert fit_treated("PerViewSVM", 1.0, X, np.ones(12), 0) is None
    values = validate(sample, method_of("PerViewSVM", "drop"), 0)
    assert values.tolist() == [8 / 12] * 3
    assert tuned_accuracy(sample, "PerViewSVM", "drop", 0)["accuracy"] == 8 / 12


def test_the_parameter_is_the_first_of_the_best_over_the_folds():
    sample, method = mv.draw_sample("moons-disturbed", 0.2, 4, n_train=90, n_test=10), "LogReg"
    measures = tuned_accuracy(sample, method, "regression", 0)
    counts = {}
    for C in METHODS[method].grid:
        counts[C] = 0
        for fit, check in sample.folds:
            X, y, others = treat("regression", sample.X[fit], sample.y[fit], sample.X[check])
            predicted = METHODS[method].make(C, X, 0).fit(X, y).predict(others)
            counts[C] += int((predicted == sample.y[check]).sum())
    assert len(set(counts.values())) > 1
    assert measures["C"] == max(counts, key=counts.get)  # the first of equal ones
    assert measures["validation"] == max(counts.values()) / 90, "three folds"


def test_what_laplacian_leaves_is_filled_with_means_for_a_method_without_treatment():
    sample = small("digits", 0.5)
    X, y, others = treat(
        "laplacian", sample.X[sample.train], sample.y[sample.train], sample.X[sample.test]
    )
    assert not X.observed.all() and not others.observed.all()
    predict = fit_treated("LogReg", 1.0, X, y, 0)
    means = view_means(X)
    model = METHODS["LogReg"].make(1.0, X, 0).fit(fill_means(X, means), y)
    assert np.array_equal(predict(others), model.predict(fill_means(others, means)))


# ---------------------------------------------------------------------------------------- jobs


@pytest.mark.parametrize("dataset", mv.DATASETS)
def test_without_gaps_there_is_one_treatment(dataset):
    for job in mv.ratio(dataset, False, None):
        if job.method != "data":
            own = job.parameter["treatment"] == own_treatment(job.method)
            assert own or job.parameter["missing"] in mv.TREATED_RATIOS
    assert len(list(mv.ratio(dataset, True, None))) < 15


def test_a_job_gives_what_it_declares_and_tells_how_many_samples_are_complete():
    jobs = {(job.method, *job.parameter.values()): job for job in mv.ratio("digits", True, None)}
    seed = derive_seed("a", "seed")
    values = jobs["data", 0.3].function(seed=seed)
    assert set(values) == set(jobs["data", 0.3].measures)
    observed = mv.draw_sample("digits", 0.3, seed).X.observed
    assert values["complete_train"] == observed[: mv.N_TRAIN].all(axis=1).mean()
    assert values["complete_test"] == pytest.approx(complete_share(0.3, 4), abs=0.05)
    job = jobs["LogReg", 0.3, "regression"]
    assert set(job.function(seed=seed)) == set(job.measures)


# -------------------------------------------------------------------------------------- report


def ledger_rows():
    """Rows as :func:`read_curves` returns them, of a ledger that is made up."""
    rng = np.random.RandomState(0)
    rows = []
    for repeat in range(4):
        for treatment, gain in (("own", 0.0), ("regression", 0.1)):
            for missing in (0.1, 0.3):
                value = 0.8 - missing + gain + 0.01 * rng.randn()
                rows.append(["digits", "MVPO", treatment, missing, repeat, value])
    columns = ["dataset", "method", "treatment", "missing", "repeat", "value"]
    return pd.DataFrame(rows, columns=columns)


def test_treatments_are_compared_repeat_by_repeat():
    rows = ledger_rows()
    tests = compare_treatments(rows).set_index("missing")
    assert list(tests.index) == [0.1, 0.3]
    for missing, row in tests.iterrows():
        part = rows[rows["missing"] == missing].pivot(
            index="repeat", columns="treatment", values="value"
        )
        assert row["treatment"] == "regression" and row["n_repeats"] == 4
        assert row["gain"] == pytest.approx(part["regression"].mean() - part["own"].mean())
        expected = stats.ttest_rel(part["regression"], part["own"]).pvalue
        assert row["p_paired"] == pytest.approx(expected)
        assert row["p_corrected"] > row["p_paired"]


def test_mean_curves_average_the_repeats():
    rows = ledger_rows()
    curves = mean_curves(rows)
    assert curves["n_repeats"].eq(4).all() and len(curves) == 4
    own = rows.query("treatment == 'own' and missing == 0.1")["value"]
    entry = curves.query("treatment == 'own' and missing == 0.1").iloc[0]
    assert entry["mean"] == pytest.approx(own.mean()) and entry["std"] == pytest.approx(own.std())


def test_curves_of_all_treatments_start_where_nothing_is_missing():
    rows = read_curves()
    start = rows[rows["missing"] == 0]
    for (_, method), part in start.groupby(["dataset", "method"]):
        assert set(part["treatment"]) == set(METHODS[method].treatments)
        values = part.pivot(index="repeat", columns="treatment", values="value")
        assert values.nunique(axis=1).eq(1).all()


def test_an_empty_ledger_has_no_curves(tmp_path):
    assert read_curves(tmp_path).empty
    assert compare_treatments(read_curves(tmp_path)).empty
