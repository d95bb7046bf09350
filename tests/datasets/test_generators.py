"""Two moons seen through several views."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import pdist

from mvref.datasets import make_two_moons_views
from mvref.datasets._generators import rotation


def test_same_seed_same_data():
    one, two = (make_two_moons_views(50, n_views=3, random_state=7) for _ in range(2))
    np.testing.assert_array_equal(one.X.concat(), two.X.concat())
    np.testing.assert_array_equal(one.y, two.y)
    other = make_two_moons_views(50, n_views=3, random_state=8)
    assert not np.array_equal(one.X.concat(), other.X.concat())
    rng = np.random.RandomState(0)  # an instance moves on
    one, two = (make_two_moons_views(50, random_state=rng) for _ in range(2))
    assert not np.array_equal(one.X.concat(), two.X.concat())


@given(st.integers(2, 61), st.integers(1, 5), st.integers(0, 1000))
def test_shapes_and_classes(n_samples, n_views, seed):
    moons = make_two_moons_views(n_samples, n_views=n_views, random_state=seed)
    assert moons.X.widths == [2] * n_views and moons.X.n_samples == n_samples
    counts = np.bincount(moons.y, minlength=2)
    assert sorted(counts) == [n_samples // 2, n_samples - n_samples // 2]


def test_without_view_noise_a_view_is_the_turned_latent_plane():
    moons = make_two_moons_views(60, n_views=4, view_noise=0, random_state=1)
    for view, angle in zip(moons.X.views, moons.meta["angles"], strict=True):
        np.testing.assert_allclose(view @ rotation(angle), moons.meta["latent"], atol=1e-12)
        np.testing.assert_allclose(pdist(view), pdist(moons.meta["latent"]), atol=1e-12)
    assert len(np.unique(moons.meta["angles"])) == 4


def test_without_noise_the_points_lie_on_the_half_circles():
    moons = make_two_moons_views(100, noise=0, random_state=0)
    centres = np.array([[0.0, 0.0], [1.0, 0.5]])[moons.y]
    radii = np.linalg.norm(moons.meta["latent"] - centres, axis=1)
    np.testing.assert_allclose(radii, 1.0, atol=1e-12)


def test_view_noise_is_independent_and_of_the_size_asked_for():
    moons = make_two_moons_views(20000, n_views=2, view_noise=0.3, random_state=0)
    latent, angles = moons.meta["latent"], moons.meta["angles"]
    noise = [x - latent @ rotation(a).T for x, a in zip(moons.X.views, angles, strict=True)]
    covariance = np.cov(np.hstack(noise).T)
    # standard errors: 0.09 sqrt(2/20000) = 0.0009 on the diagonal, 0.0006 beside it
    np.testing.assert_allclose(covariance, 0.09 * np.eye(4), atol=0.005)
