"""How a fit of MVML grows with the samples, and its default at 2000; run by ``make bench``."""

from functools import partial

import numpy as np
import pytest

from mvref.experiments.speed_peers import draw_five_classes
from mvref.rivals import MVML
from tests.costs import growth, seconds_of
from tests.literal import toy_views


@pytest.mark.parametrize(
    ("n_components", "sizes", "steepest"),
    [(1.0, [200, 400, 800], 3.3), (50, [1000, 2000, 4000], 1.4)],
)
def test_growth_in_the_samples(n_components, sizes, steepest):
    """At most cubic, with systems of n equations; linear with a fixed number of components."""
    model = MVML(n_components=n_components, random_state=0)
    problems = [toy_views(0, m=n, widths=(20, 30, 40), noise=2.0) for n in sizes]
    calls = [partial(model.fit, views, y) for views, y in problems]
    slope, _ = growth(f"MVML, components {n_components}", sizes, calls, 3)
    assert slope < steepest


def test_default_of_2000_samples_is_exact_in_five_seconds():
    """Against features of all samples, the other exact form."""
    views, y = draw_five_classes(2000, 0)
    default, exact = MVML(), MVML(n_components=2000)
    seconds = seconds_of(partial(default.fit, views, y))
    ends, least = ([curve[-1] for curve in m.objective_curve_]
                   for m in (default, exact.fit(views, y)))  # fmt: skip
    print(f"\nMVML, 2000 samples: {seconds:.2f} s")
    assert np.max(np.divide(ends, least)) < 1.01
    assert seconds < 5
