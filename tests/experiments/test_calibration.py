"""The interval that ``compare_methods`` prints keeps its level, and sees more than the others."""

import numpy as np
import pytest
from scipy import stats

from mvref import compare_methods
from mvref.experiments import calibration, read_ledger
from mvref.experiments.engine import with_parameters


@pytest.mark.parametrize("world", calibration.POINTS)
def test_the_effect_is_what_its_name_says(world):
    strength = calibration.STRENGTH[world, 100, 0.08]
    assert abs(calibration.effect(world, 100, strength, n_runs=60, seed=3) - 0.08) < 0.015


def test_a_block_has_the_shares_of_its_runs(monkeypatch):
    monkeypatch.setattr(calibration, "N_RUNS", 3)
    given = {"measures": calibration.MEASURES, "n_samples": 100, "effect": 0.0, "seed": 5}
    found = {name: calibration.simulated("linear", name, **given) for name in calibration.INTERVALS}
    assert found["samples, 5 x 2"]["half"] < found["corrected, 5 x 2"]["half"]
    for shares in found.values():
        assert shares["covered"] == 1.0 - shares["worth"] - shares["cost"]
    better = given | {"n_samples": 300, "effect": 0.08}
    shares = calibration.simulated("linear", "samples, 5 x 2", **better)
    assert shares["worth"] > 0.5 and shares["cost"] == 0.0


def test_the_linear_machine_does_not_know_the_origin():
    X, y = calibration.draw(60, 0.3, np.random.default_rng(0))
    given = y, np.arange(40), np.arange(40, 60), 1, 0.01
    near, far = (calibration.right("linear", of, *given) for of in (X, X + 9.0))
    np.testing.assert_array_equal(far, near)


def test_intervals_over_data_sets_are_those_of_scipy_and_of_loops():
    x = np.exp(np.random.default_rng(0).normal(size=(1, 8)))
    mean, error, t = x.mean(), stats.sem(x[0]), stats.t.ppf(0.975, 7)
    again = x[0, np.random.default_rng(1).integers(8, size=(calibration.N_RESAMPLES, 8))]
    ratios = [(row.mean() - mean) / stats.sem(row) for row in again]
    expected = {
        "t": stats.t.interval(0.95, 7, mean, error),
        "next, t": (mean - t * error * 3, mean + t * error * 3),  # one more of 8 + 1
        "next, range": (x.min(), x.max()),
        "bootstrap": np.quantile(again.mean(axis=1), (0.025, 0.975)),
        "studentized bootstrap": mean - error * np.quantile(ratios, (0.975, 0.025)),
    }
    for method in calibration.OVER_SETS:
        found = calibration.ends(x, method, np.random.default_rng(1))
        np.testing.assert_allclose(np.ravel(found), expected[method], rtol=1e-7)


def test_a_truth_above_the_interval_is_counted_there():
    """Few of a skewed world have its large values: the mean of most of them is too small."""
    given = {"measures": calibration.COVERAGE, "n_sets": 5, "seed": 0}
    found = calibration.covered("one in ten +25", "t", **given)
    assert found["above"] > 5 * found["below"] and found["half"] > 0
    np.testing.assert_allclose(found["covered"], 1 - found["above"] - found["below"])


def stored():
    rows, _ = with_parameters(read_ledger("calibration"))
    names = ["dataset", "n_samples", "effect", "method", "measure"]
    return rows.groupby(names)["value"].agg(["mean", "size"])


def test_the_level_holds_and_the_power_is_the_largest():
    found = stored()["mean"].unstack("measure")
    null = found.xs(0.0, level="effect")
    spread = np.sqrt(0.025 * 0.975 / (10 * calibration.N_RUNS))
    here = null.xs("samples, 5 x 2", level="method")
    assert (here[["worth", "cost"]] <= 0.025 + 2 * spread).all(axis=None)
    assert here[["worth", "cost"]].mean().max() <= 0.025
    power = found.drop(0.0, level="effect")["worth"].unstack("method")
    gain = power["samples, 5 x 2"] - power.drop(columns="samples, 5 x 2").max(axis=1)
    assert gain.mean() > 0.0
    assert (power["samples, 5 x 2"] >= power["corrected, 5 x 2"]).all()


def test_the_docstring_has_the_numbers():
    words, shares = " ".join(compare_methods.__doc__.split()), 100 * stored()["mean"]
    chosen = shares.xs("samples, 5 x 2", level="method").unstack("measure")
    wrong = chosen.xs(0.0, level="effect").mean()
    assert f"wrong in {wrong['worth']:.1f} and {wrong['cost']:.1f} % of" in words
    seen = shares.unstack("measure").loc["linear"].xs(0.08, level="effect")["worth"]
    for name, told in (
        ("samples, 5 x 2", "seen in {} % of them"),
        ("corrected, 5 x 2", "in {} %."),
    ):
        numbers = [f"{power:.0f}" for power in seen.xs(name, level="method")]
        assert told.format(", ".join(numbers)) in words
