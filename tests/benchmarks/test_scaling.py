"""Time and memory of MVL-SVM against the number of samples and of landmarks.

Slopes of log cost against log size over a decade: 1 is linear. Run by ``make bench``.
"""

from functools import partial

import numpy as np
import pytest

from mvref import MVLSVM, LandmarkProjection, MultiView
from tests.costs import growth

SAMPLES = np.array([4000, 8000, 16_000, 40_000])
LANDMARKS = np.array([80, 160, 320, 800])
# Along an axis: the sizes and pairs (m, L).
AXES = {
    "samples": (SAMPLES, [(m, 100) for m in SAMPLES]),
    "landmarks": (LANDMARKS, [(6000, L) for L in LANDMARKS]),
}


@pytest.fixture(scope="module")
def data():
    """Three views of 20 features, two classes."""
    rng = np.random.default_rng(0)
    m = SAMPLES.max()
    y = np.arange(m) % 2
    return MultiView([rng.normal(size=(m, 20)) + 0.3 * y[:, None] for _ in range(3)]), y


def projection(X, y, m, L):
    """Step 2 of `fit`: draw landmarks and project m samples."""
    return partial(LandmarkProjection(L, random_state=0).fit_transform, X[:m])


def prediction(X, y, m, L):
    """The prediction of m samples; the fit is not timed, so it is small."""
    model = MVLSVM(L, c=1.0, loss="squared_hinge", random_state=0).fit(X[: 2 * L], y[: 2 * L])
    return lambda: model.predict(X[:m])


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("what", [projection, prediction])
@pytest.mark.parametrize("rounds", [7, None], ids=["time", "memory"])
def test_cost_is_linear(data, axis, what, rounds):
    sizes, pairs = AXES[axis]
    calls = [what(*data, *pair) for pair in pairs]
    slope, _ = growth(f"{what.__name__} by {axis}", sizes, calls, rounds)
    in_blocks = what is prediction and rounds is None  # its memory is that of a block of samples
    assert slope <= 0.1 if in_blocks else 0.8 <= slope <= 1.25
