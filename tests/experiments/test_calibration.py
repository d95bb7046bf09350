"""The interval that ``compare_methods`` prints keeps its level, and sees no less than before."""

import numpy as np
import pytest
from sklearn.feature_selection import f_classif
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid

from mvref.compare import paired
from mvref.experiments import calibration, read_ledger
from mvref.experiments.engine import with_parameters

AGAIN, BEFORE = "chosen again", "samples"


@pytest.mark.parametrize("world", ["groups", "linear", "saturated"])
def test_the_effect_is_what_its_name_says_and_without_one_both_are_equal(world):
    strength, own = calibration.STRENGTH[world, 100], calibration.WORLDS[world].own
    asked = calibration.EFFECT.get(world, 0.08)
    assert abs(calibration.effect(world, 100, strength, n_runs=100, seed=3) - asked) < 0.03
    assert abs(calibration.effect(world, 100, own, n_runs=100, seed=3)) < 0.03


def test_a_block_has_the_shares_of_its_runs(monkeypatch):
    monkeypatch.setattr(calibration, "N_RUNS", 12)
    calibration.comparisons.cache_clear()
    given = {"measures": calibration.MEASURES, "n_samples": 100, "effect": 0.0, "seed": 5}
    found = {name: calibration.simulated("weak", name, **given) for name in calibration.INTERVALS}
    halves = [found[name]["half"] for name in calibration.INTERVALS]
    assert np.argmin(halves) == 1 and np.argmax(halves) == 4  # of samples; of one split
    for shares in found.values():
        assert_shares(shares["covered"], 1.0 - shares["worth"] - shares["cost"])
    better = given | {"n_samples": 300, "effect": 0.08}
    shares = calibration.simulated("linear", AGAIN, **better)
    assert shares["worth"] > 0.5 and shares["cost"] == 0.0


def assert_shares(found, expected):
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("world", ["shared", "classes"])
def test_the_learners_are_those_of_scikit_learn(world):
    drawn = calibration.WORLDS[world]
    X, y = calibration.draw(drawn, 100, drawn.own, 4, np.random.default_rng(0))
    folds = calibration.folds_of(y, 1, 5, np.random.default_rng(1))
    rows, train = calibration.rows_of(folds, 0), folds != 0
    said = calibration.learners(X, calibration.distances(X), y, train, rows)
    for run in range(4):
        A, labels, B = X[run, train[run]], y[run, train[run]], X[run, rows[run]]
        best = [f_classif(A, labels)[0].argmax()]
        models = NearestCentroid(), KNeighborsClassifier(1), NearestCentroid()
        for k, (model, columns) in enumerate(
            zip(models, (slice(None),) * 2 + (best,), strict=True)
        ):
            expected = model.fit(A[:, columns], labels).predict(B[:, columns])
            np.testing.assert_array_equal(said[k, run], expected)


def test_folds_have_all_classes_whole_groups_and_leave_out():
    y = np.repeat(
        np.random.default_rng(0).permuted(np.tile([0, 0, 0, 1], (3, 10)), axis=1), 5, axis=1
    )
    y[:, :5] = -1
    folds = calibration.folds_of(y, 5, 3, np.random.default_rng(1))
    assert (folds[:, :5] == -1).all() and (folds[:, 5:] >= 0).all()
    assert (folds.reshape(3, 40, 5) == folds[:, ::5, None]).all()
    for k in range(3):
        assert ((folds == k) & (y == 1)).sum(axis=1).min() >= 10
        assert calibration.rows_of(folds, k).shape == (3, 65)


def test_the_linear_machine_does_not_know_the_origin():
    X, y = calibration.draw(calibration.WORLDS["linear"], 60, 0.3, 2, np.random.default_rng(0))
    train, rows = np.tile(np.arange(60) < 40, (2, 1)), np.tile(np.arange(40, 60), (2, 1))
    near, far = (calibration.discriminants(of, None, y, train, rows) for of in (X, X + 8.0))
    assert np.mean(far == near) > 0.98  # but for the rounding of single precision


def test_a_truth_above_the_interval_is_counted_there(monkeypatch):
    """Few of a skewed world have its large values: the mean of most of them is too small."""
    monkeypatch.setattr(calibration, "N_DRAWN", 400)
    given = {"measures": calibration.COVERAGE, "n_sets": 5, "seed": 0}
    found = calibration.covered("one in ten +25", "found", **given)
    assert found["above"] > 5 * found["below"]
    np.testing.assert_allclose(found["mean"], 1 - found["above"] - found["below"])


def stored():
    rows, _ = with_parameters(read_ledger("calibration").query("item == 'intervals'"))
    names = ["dataset", "n_samples", "effect", "method", "measure"]
    return rows.groupby(names)["value"].mean().unstack("measure")


def test_the_level_holds_and_where_it_held_before_the_power_too():
    found = stored()
    null = found.xs(0.0, level="effect")
    wrong = (null["worth"] + null["cost"]).unstack("method")
    assert wrong.filter(like=AGAIN).max(axis=None) <= 0.065 + 1e-9
    assert wrong[BEFORE].max() > 0.09
    power = found["worth"].drop(0.0, level="effect").unstack("method").loc["linear"]
    assert (power[AGAIN] >= power[BEFORE] - 0.02).all() and (
        power[AGAIN] > power["corrected"]
    ).all()


def test_the_docstring_has_the_numbers():
    words, found = " ".join(paired.__doc__.split()), 100 * stored()
    null = found.xs(0.0, level="effect")
    wrong = (null["worth"] + null["cost"]).unstack("method")
    before, again = wrong[BEFORE].max(), wrong.filter(like=AGAIN).max(axis=None)
    assert f"in at most {again:.1f} % of the comparisons of equals" in words
    assert f"in up to {before:.1f} %" in words
    seen = found.loc["linear"].xs(0.08, level="effect")["worth"].xs(AGAIN, level="method")
    assert f"in {', '.join(f'{power:.0f}' for power in seen)} % at 100, 300, 1000" in words


def test_stored_sets_hold_the_label_within_patterns_and_one_threshold_does_not():
    rows = read_ledger("calibration").query("item == 'by_pattern'")
    rows = rows[rows["measure"].str.startswith("covered")]
    means = rows.groupby(["method", "dataset", "measure"])["value"].mean()
    each, one = means["for each pattern"], means["for all"]
    assert len(each) == len(one) == 3 * len(calibration.GAPS)
    assert each.between(0.9 - 0.005, 0.94).all()
    assert one.min() < 0.8 and one.max() > 0.93
