"""The linear SVM of MVL-SVM over c: flat, and a path that costs a few fits; run by ``make bench``.

uWave (896 samples, eight classes), and made Gaussians of that size, which overlap more.
"""

from functools import partial

import numpy as np
import pytest

from mvref import MVLSVM
from mvref.core.linear_svm import fit_linear_svm
from mvref.datasets import DatasetUnavailable, fetch_uwave
from tests.costs import medians, seconds_of

LOSSES = ("squared_hinge", "hinge")


@pytest.fixture(params=["uWave", "made"])
def problem(request):
    if request.param == "made":
        rng = np.random.default_rng(0)
        y = rng.integers(8, size=900)
        return [0.3 * rng.normal(size=(8, 20))[y] + rng.normal(size=(900, 20)) for _ in "XYZ"], y
    try:
        data = fetch_uwave()
    except DatasetUnavailable as reason:
        pytest.skip(f"uWave is not on this machine: {reason}")
    return data.X[data.splits[0][0]], data.y[data.splits[0][0]]


def test_time_is_flat_in_c(request, problem):
    """Whole fits with the squared hinge; the hinge costs at most three times as much on uWave."""
    fits = [
        partial(MVLSVM(200, c=c, loss=loss, random_state=0).fit, *problem)
        for loss in LOSSES
        for c in (1.0, 1e2, 1e4, 1e6)
    ]
    squared, hinge = medians(fits, 5).reshape(2, -1)
    print(f"\nsquared hinge {np.round(1e3 * squared)} ms, hinge {np.round(1e3 * hinge)} ms")
    assert all(fit().dual_gap_.max() <= 1e-6 for fit in fits)
    if "uWave" in request.node.name:  # on noisier data c = 1 is a few products
        assert squared[-1] <= 2.5 * squared[0] and (hinge <= 3 * squared).all()


@pytest.mark.parametrize(("loss", "limit"), [("squared_hinge", 6.0), ("hinge", 6.5)])
def test_a_path_of_ten_costs_a_few_fits(problem, loss, limit):
    grid = np.logspace(0, 6, 10)
    model = MVLSVM(200, loss=loss, random_state=0)
    fits = [partial(MVLSVM(200, c=c, loss=loss, random_state=0).fit, *problem) for c in grid]
    path, *each = medians([partial(model.path, *problem, grid), *fits], 3)
    print(f"\n{loss}: {path / np.mean(each):.1f} mean fits")
    assert path <= limit * np.mean(each)


@pytest.mark.parametrize("loss", LOSSES)
def test_time_in_c_of_a_tall_table(loss):
    """20 000 x 200 with a noisy margin."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 200))
    y = (X[:, 0] + X[:, 1] + 1.5 * rng.normal(size=20_000) > 0).astype(int)
    options = {"loss": loss, "intercept_scaling": 0.0, "tol": 1e-6, "max_iter": 2000}
    fits = [partial(fit_linear_svm, X, y, C, **options) for C in (1e-3, 1.0, 1e3)]
    seconds = [seconds_of(fit) for fit in fits]
    print(f"\n{loss}, 20000 x 200: {np.round(seconds, 2)} s")
    assert all(fit().gap.max() <= 1e-6 for fit in fits)
    assert max(seconds) <= 6 * min(seconds)
