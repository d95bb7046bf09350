"""How the cost of SVM-2K grows with the samples; run by ``make bench``."""

from functools import partial

import numpy as np
import pytest

from mvref.rivals import SVM2K
from tests.costs import growth, seconds_of

CLASSES, WIDTH = 5, 20


def problem(n, n_views):
    """Five classes that overlap, in views of 20 features."""
    rng = np.random.default_rng(0)
    y = rng.integers(CLASSES, size=n)
    centres = rng.normal(scale=0.35, size=(n_views, CLASSES, WIDTH))
    return [c[y] + rng.normal(size=(n, WIDTH)) for c in centres], y


def test_growth_in_the_samples():
    """At most cubic: three views and five classes share three Cholesky factors."""
    sizes = [500, 1000, 2000]
    calls = [partial(SVM2K().fit, *problem(n, 3)) for n in sizes]
    slope, cost = growth("SVM-2K, three views", sizes, calls, 3)
    assert slope < 3.0 and cost[-1] < 5000


@pytest.mark.parametrize("C", [1.0, 100.0])
def test_linear_kernels_have_a_low_rank(C):
    """Interior points, whose steps do not depend on C."""
    model = SVM2K(C, kernel="linear", tol=1e-6)
    seconds = seconds_of(partial(model.fit, *problem(2000, 2)))
    print(f"\nSVM-2K, linear, C = {C:g}: {seconds:.3f} s")
    assert model.n_iter_ <= 60 and seconds < 5
