"""Time and memory of MVL-SVM against the number of samples and of landmarks.

Slopes of log cost against log size over a decade: 1 is linear. Run by ``make bench``.
"""

import numpy as np
import pytest

from mvref import MVLSVM, LandmarkProjection, MultiView
from tests.costs import medians, peak_bytes, tell

SAMPLES = np.array([4000, 8000, 16_000, 40_000])
LANDMARKS = np.array([80, 160, 320, 800])
FIXED_LANDMARKS, FIXED_SAMPLES = 100, 6000


@pytest.fixture(scope="module")
def data():
    """Three views of 20 features, two classes."""
    rng = np.random.default_rng(0)
    m = SAMPLES.max()
    y = np.arange(m) % 2
    return MultiView([rng.normal(size=(m, 20)) + 0.3 * y[:, None] for _ in range(3)]), y


def sizes(axis):
    """Pairs (m, L) along one axis."""
    if axis == "samples":
        return SAMPLES, [(m, FIXED_LANDMARKS) for m in SAMPLES]
    return LANDMARKS, [(FIXED_SAMPLES, L) for L in LANDMARKS]


def projections(X, pairs):
    """For each (m, L), step 2 of `fit`: draw landmarks and project m samples."""
    return [
        lambda m=m, L=L: LandmarkProjection(L, random_state=0).fit_transform(X[:m])
        for m, L in pairs
    ]


def predictions(X, y, pairs):
    """For each (m, L), the prediction of m samples by a model with L landmarks."""
    calls = []
    for m, L in pairs:
        rows = np.arange(2 * L)  # the fit is not timed, so it is small
        model = MVLSVM(L, c=1.0, loss="squared_hinge", random_state=0).fit(X[rows], y[rows])
        calls.append(lambda m=m, model=model: model.predict(X[:m]))
    return calls


@pytest.mark.parametrize("axis", ["samples", "landmarks"])
@pytest.mark.parametrize("what", ["projection", "prediction"])
def test_time_is_linear(benchmark, data, axis, what):
    X, y = data
    x, pairs = sizes(axis)
    calls = projections(X, pairs) if what == "projection" else predictions(X, y, pairs)
    found = tell(benchmark, f"time of {what} by {axis}", x, 1e3 * medians(calls, 7), "ms")
    benchmark.pedantic(calls[-1], rounds=3)
    assert 0.8 <= found <= 1.25


@pytest.mark.parametrize("axis", ["samples", "landmarks"])
@pytest.mark.parametrize("what", ["projection", "prediction"])
def test_memory_is_linear(benchmark, data, axis, what):
    X, y = data
    x, pairs = sizes(axis)
    calls = projections(X, pairs) if what == "projection" else predictions(X, y, pairs)
    peaks = np.array([peak_bytes(call) for call in calls])
    found = tell(benchmark, f"peak memory of {what} by {axis}", x, peaks / 2**20, "MiB")
    benchmark.pedantic(calls[0], rounds=1)
    assert 0.8 <= found <= 1.25


@pytest.mark.parametrize("axis", ["samples", "landmarks"])
def test_time_of_the_squared_hinge(benchmark, data, axis):
    """Reported only: the number of Newton steps depends on the data. C = 1 throughout."""
    X, y = data
    x, pairs = sizes(axis)
    pairs = [(m // 5, L) for m, L in pairs]
    if axis == "samples":
        x = x // 5
    projected = [LandmarkProjection(L, random_state=0).fit_transform(X[:m]) for m, L in pairs]
    calls = [
        lambda Phi=Phi: MVLSVM(c=len(Phi), loss="squared_hinge").fit_latent(Phi, y[: len(Phi)])
        for Phi in projected
    ]
    tell(benchmark, f"time of the squared hinge by {axis}", x, 1e3 * medians(calls, 3), "ms")
    benchmark.pedantic(calls[0], rounds=1)
