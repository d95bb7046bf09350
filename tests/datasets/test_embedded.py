"""Digits and irises as views."""

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.datasets import load_digits, load_iris
from sklearn.model_selection import cross_val_score
from sklearn.tree import DecisionTreeClassifier

from mvref.datasets import _embedded as embedded
from mvref.datasets import load_digits_views, load_iris_views

IMAGES = load_digits().images


SMALL = arrays(float, (3, 8, 8), elements=st.integers(0, 16))


def test_digits_are_the_known_ones():
    content = load_digits_views("derived").X.views[0].astype(np.uint8).tobytes()
    expected = "8f26b2bd9d135c256808f68f14fdabddde6d9c7f869ae419704b051f0f14b3b3"
    assert hashlib.sha256(content).hexdigest() == expected


@pytest.mark.parametrize("overlap", range(5))
def test_overlap_widens_each_quarter(overlap):
    digits = load_digits_views("quarters", overlap=overlap)
    side = 4 + overlap
    assert digits.X.widths == [side**2] * 4
    seen = np.zeros((8, 8), dtype=int)
    for view, (rows, columns) in zip(digits.X.views, digits.meta["regions"], strict=True):
        np.testing.assert_array_equal(view.reshape(-1, side, side), IMAGES[:, rows, columns])
        seen[rows, columns] += 1
    # the middle 2 overlap rows and columns are shared, the corners belong to one view each
    assert (seen == 4).sum() == (2 * overlap) ** 2
    assert (seen == 1).sum() == (8 - 2 * overlap) ** 2


@given(SMALL)
def test_profiles_are_the_sums(images):
    profiles = embedded.derived_views(images)["profiles"]
    np.testing.assert_array_equal(profiles[:, :8].sum(axis=1), images.sum(axis=(1, 2)))
    np.testing.assert_array_equal(profiles[:, 8], images[:, :, 0].sum(axis=1))


@given(SMALL, st.integers(0, 7), st.integers(0, 7))
def test_fourier_magnitudes_do_not_see_shifts(images, down, right):
    shifted = np.roll(images, (down, right), axis=(1, 2))
    np.testing.assert_allclose(
        embedded.fourier_magnitudes(shifted), embedded.fourier_magnitudes(images), atol=1e-9
    )


def test_fourier_keeps_each_frequency_once():
    """A pure cosine of frequency (u, v) shows up in exactly one feature, for every pair."""
    n = np.arange(8)
    for u, v in [(0, 0), (2, 0), (0, 3), (1, 2), (-3, 1)]:
        wave = np.cos(2 * np.pi * (u * n[:, None] + v * n[None, :]) / 8)[None]
        assert (embedded.fourier_magnitudes(wave) > 1e-9).sum() == 1


@given(SMALL)
def test_gradient_histograms_hold_all_of_the_gradient(images):
    histograms = embedded.gradient_histograms(images)
    length = np.hypot(*np.gradient(images, axis=(1, 2)))
    assert histograms.shape == (len(images), 32)
    np.testing.assert_allclose(histograms.sum(axis=1), length.sum(axis=(1, 2)), atol=1e-9)


@given(SMALL)
def test_gradient_histograms_turn_with_the_image(images):
    """A quarter turn moves every quarter to the next place and every direction by two sectors."""
    before = embedded.gradient_histograms(images).reshape(-1, 2, 2, 8)
    turned = np.rot90(images, axes=(1, 2))
    after = embedded.gradient_histograms(turned).reshape(-1, 2, 2, 8)
    expected = np.roll(np.rot90(before, axes=(1, 2)), -2, axis=3)
    np.testing.assert_allclose(after, expected, atol=1e-9)


def test_gradient_of_a_ramp_is_one_direction():
    ramp = np.tile(np.arange(8.0), (1, 8, 1))  # grows to the right: sector 0
    histograms = embedded.gradient_histograms(ramp).reshape(4, 8)
    np.testing.assert_array_equal(histograms[:, 0], 16.0)
    np.testing.assert_array_equal(histograms[:, 1:], 0.0)


def test_every_derived_view_is_informative():
    """Each view alone beats guessing (0.1) by far, otherwise it would be no view of a digit."""
    digits = load_digits_views("derived")
    assert digits.view_names == ["pixels", "profiles", "fourier", "gradients"]
    assert digits.X.widths == [64, 16, 25, 32] and digits.splits == []
    np.testing.assert_array_equal(digits.y, load_digits().target)
    for name in digits.view_names:
        tree = DecisionTreeClassifier(random_state=0)
        X = digits.X.select(name).concat()
        assert cross_val_score(tree, X, digits.y, cv=3).mean() > 0.5, name


def test_iris_views():
    iris, original = load_iris_views(), load_iris()
    np.testing.assert_array_equal(iris.X.concat(), original.data)
    np.testing.assert_array_equal(iris.y, original.target)
