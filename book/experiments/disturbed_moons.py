"""Two moons seen by two cameras that share a disturbance, and a third view that measures it.

The gauge is useless alone, and the cameras tell the same: only together do the views tell all.
"""

import numpy as np

from mvref.core.input import MultiView
from mvref.datasets import make_two_moons_views
from mvref.datasets._generators import rotation

MOONS = {"noise": 0.1, "view_noise": 0.05}
DISTURBANCE = 0.6


def disturbed_moons(n_samples, seed):
    """Draw two moons, two cameras with a common disturbance, and a gauge of it."""
    rng = np.random.RandomState(seed)
    moons = make_two_moons_views(n_samples, n_views=2, random_state=rng, **MOONS)
    e = DISTURBANCE * rng.standard_normal((n_samples, 2))
    turned = [e @ rotation(angle).T for angle in moons.meta["angles"]]
    left, right = (view + t for view, t in zip(moons.X.views, turned, strict=True))
    gauge = e + MOONS["view_noise"] * rng.standard_normal(e.shape)
    return MultiView({"left": left, "right": right, "gauge": gauge}), moons.y
