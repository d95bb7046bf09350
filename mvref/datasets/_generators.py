"""Data sets that are drawn, not measured."""

import numpy as np
from sklearn.datasets import make_moons
from sklearn.utils import check_random_state

from ..core.input import MultiView, check_number
from ._base import MultiViewDataset
from ._sources import describe


def make_two_moons_views(n_samples=200, *, n_views=2, noise=0.1, view_noise=0.1, random_state=None):
    """Draw two interleaved half circles and look at them through several turned, noisy views.

    Every sample has one latent point z in the plane, on one of two half circles (its class) and
    moved by Gaussian noise. View v is ``R_v z + e``: the point rotated by the view's own random
    angle, plus Gaussian noise that is drawn anew for each view and sample.

    Parameters
    ----------
    n_samples, n_views : int, at least 2 and 1; the two classes differ by at most one sample
    noise, view_noise : float
        Standard deviations: of the latent points, common to all views, so that no view can undo it;
        of what each view adds, which several views together average out.
    random_state : int, RandomState instance or None; an int gives the same data each time

    Returns
    -------
    dataset : MultiViewDataset
        Views of 2 features each, `y` in {0, 1}; ``meta["latent"]`` (n_samples, 2) holds the points
        z and ``meta["angles"]`` (n_views,) the rotations in radians.

    Examples
    --------
    >>> from mvref.datasets import make_two_moons_views
    >>> moons = make_two_moons_views(100, n_views=3, random_state=0)
    >>> moons.X
    MultiView(100 samples, view_0: 2, view_1: 2, view_2: 2)
    """
    check_number(n_samples, "n_samples", low=2, integer=True)
    check_number(n_views, "n_views", low=1, integer=True)
    check_number(noise, "noise", low=0)
    check_number(view_noise, "view_noise", low=0)
    rng = check_random_state(random_state)
    latent, y = make_moons(n_samples, noise=noise, random_state=rng)
    angles = rng.uniform(0.0, 2 * np.pi, n_views)
    X = MultiView(
        [latent @ rotation(a).T + view_noise * rng.standard_normal(latent.shape) for a in angles]
    )
    text = describe("two_moons", X, noise=noise, view_noise=view_noise)
    meta = {"latent": latent, "angles": angles}
    return MultiViewDataset("two moons", X, y, ["upper moon", "lower moon"], text, meta=meta)


def rotation(angle):
    """Return the matrix that turns the plane by `angle` radians, counter-clockwise."""
    cosine, sine = np.cos(angle), np.sin(angle)
    return np.array([[cosine, -sine], [sine, cosine]])
