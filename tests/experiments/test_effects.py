"""The one model of the differences over data sets, its coverage, and its sentences."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from mvref.experiments import effects
from mvref.experiments.effects import found
from mvref.experiments.report import read_ledger


def series(values):
    """Values (sets, repeats) as differences by data set and repeat; NaN: not repeated so often."""
    sets, repeats = np.indices(values.shape)
    index = pd.MultiIndex.from_arrays([sets.ravel(), repeats.ravel()], names=["dataset", "repeat"])
    return pd.Series(values.ravel(), index).dropna()


def test_intervals_are_those_of_the_t_test_and_of_the_next_effect():
    rng = np.random.default_rng(0)
    of = found(series(rng.normal(0.3, 1.0, size=(9, 1))))
    x = np.random.default_rng(0).normal(0.3, 1.0, size=9)
    test = stats.ttest_1samp(x, 0)
    assert_allclose([of["low"], of["high"]], test.confidence_interval())
    assert of["p"] == pytest.approx(test.pvalue) and of["ahead"] == (x > 0).sum()
    assert of["between"] == pytest.approx(x.std(ddof=1)) and of["share"] == 0
    inside, splits = 0, np.linspace(0.2, 1.0, 20)[:, None]  # each data set has its own noise
    for drawn in rng.normal(size=(400, 21)):
        noisy = drawn[:20, None] + splits * rng.normal(size=(20, 3))
        of = found(series(noisy))
        inside += of["next_low"] <= drawn[20] <= of["next_high"]
    assert 0.93 < inside / 400 < 0.97


def test_without_noise_the_next_effect_is_the_next_number_and_noise_only_narrows():
    for df in (4, 27):
        exact = stats.t.ppf(0.975, df) * np.sqrt(2.0 * (1 + 1 / (df + 1)))
        assert effects.reach_of_next(2.0, 0.0, df) == pytest.approx(exact, rel=5e-3)
        reach = [effects.reach_of_next(2.0, noise, df) for noise in (0.0, 0.5, 1.5, 3.0)]
        assert reach == sorted(reach, reverse=True)
        of_mean = stats.t.ppf(0.975, df) * np.sqrt(2.0 / (df + 1))
        assert reach[-1] > 1.05 * of_mean  # the variance between effects may be there all the same
    assert effects.reach_of_next(0.0, 0.0, 5) == 0.0


def test_splits_have_a_variance_of_their_own():
    rng = np.random.default_rng(0)
    drawn, noise = 0.05 * rng.normal(size=(2000, 1)), 0.02 * rng.normal(size=(2000, 3))
    of = found(series(drawn + noise))
    assert_allclose([of["between"], of["split"]], [0.05, 0.02], rtol=0.05)
    assert of["share"] == pytest.approx(4e-4 / 3 / (25e-4 + 4e-4 / 3), rel=0.1)
    noise[1000:, 1:] = np.nan  # of half of the sets one repeat: its noise is that of the others
    of = found(series(drawn + noise))
    assert_allclose([of["between"], of["split"]], [0.05, 0.02], rtol=0.05)


def test_data_sets_of_one_study_count_as_one():
    names = [*effects.STUDIES, "wine"]
    index = pd.MultiIndex.from_product([names, [0]], names=["dataset", "repeat"])
    of = found(pd.Series([0.1, 0.2, 0.3, 0.6], index))
    assert of["datasets"] == 2 and of["difference"] == pytest.approx((0.2 + 0.6) / 2)
    with pytest.raises(ValueError, match="two data sets or more"):
        found(pd.Series([0.1, 0.2, 0.3], index[:3]))


def test_coverage_is_what_the_pages_say_and_a_hit_is_seldom_wrong():
    """Where effects are skewed the interval misses the mean upwards, and not downwards."""
    rows = read_ledger("calibration").query("item == 'coverage'")
    assert rows.query("measure == 'below'")["value"].max() < 0.04
    normal = rows.query("dataset == 'normal' and measure in ('mean', 'next')")["value"]
    assert len(normal) == 8 and normal.between(0.92, 0.97).all()


def test_a_direction_is_not_told_where_the_interval_contains_zero():
    clear = {"difference": -0.02, "low": -0.03, "high": -0.01}
    assert effects.by(clear) == "2.0 points (95\xa0% CI 1.0 to 3.0)"
    assert effects.told(clear) == "−2.0 points (95\xa0% CI −3.0 to −1.0)"
    for high in (0.0, 0.01):
        with pytest.raises(ValueError, match="contains zero"):
            effects.by(clear | {"high": high})


def test_a_contrast_of_two_is_the_difference_of_their_means():
    """The model is linear: whichever way a sentence goes, the numbers are the same."""
    y = series(np.random.default_rng(0).normal(size=(12, 3)))
    one, other = found(y), found(-y)
    assert_allclose(one["difference"], -other["difference"])
    assert_allclose([one["low"], one["next_low"]], [-other["high"], -other["next_high"]])
