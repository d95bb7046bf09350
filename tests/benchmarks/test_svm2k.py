"""Cost of SVM-2K beside the two SVMs that it couples, and how it grows with the samples.

Run by ``make bench``.
"""

from functools import partial

import numpy as np
import pytest
from sklearn.svm import SVC

from mvref.core.kernels import rbf
from mvref.rivals import SVM2K
from tests.costs import growth, medians

CLASSES, WIDTH = 5, 20


def problem(n, n_views=2):
    """Five classes that overlap, in views of 20 features."""
    rng = np.random.default_rng(0)
    y = rng.integers(CLASSES, size=n)
    centres = rng.normal(scale=0.35, size=(n_views, CLASSES, WIDTH))
    return [c[y] + rng.normal(size=(n, WIDTH)) for c in centres], y


def two_svms(grams, y):
    """One class against the rest, in each of the two views."""
    for K in grams:
        for label in range(CLASSES):
            SVC(kernel="precomputed", C=1.0).fit(K, y == label)


@pytest.mark.parametrize("n", [500, 1000, 2000])
def test_at_most_twenty_times_the_svms_that_it_couples(benchmark, record, n):
    views, y = problem(n)
    grams = [rbf(view, view, 1 / WIDTH) for view in views]
    ours = partial(SVM2K(kernel="gram").fit, grams, y)
    mine, theirs = medians([ours, partial(two_svms, grams, y)], 3)
    model = benchmark.pedantic(ours, rounds=1)
    assert (model.dual_gap_ <= 1e-4 * model.objective_).all()
    print(
        f"\nSVM-2K, n = {n}: {mine:.3f} s, its two SVMs {theirs:.3f} s, {mine / theirs:.1f} times"
    )
    benchmark.extra_info |= {"seconds": mine, "peer": theirs, "ratio": mine / theirs}
    record(f"SVM-2K, five classes, n = {n}", mine, "its two SVMs (scikit-learn)", theirs)
    assert mine < 20 * theirs


def test_growth_in_the_samples(benchmark):
    """At most cubic: three views and five classes share three Cholesky factors."""
    sizes = [500, 1000, 2000]
    calls = [partial(SVM2K().fit, *problem(n, 3)) for n in sizes]
    slope, cost = growth(benchmark, "SVM-2K, three views", sizes, calls, 3)
    assert slope < 3.0 and cost[-1] < 5000


@pytest.mark.parametrize("C", [1.0, 100.0])
def test_linear_kernels_have_a_low_rank(benchmark, C):
    """Interior points, whose steps do not depend on C."""
    views, y = problem(2000)
    fit = partial(SVM2K(C, kernel="linear", tol=1e-6).fit, views, y)
    [seconds] = medians([fit], 3)
    print(f"\nSVM-2K, linear, C = {C:g}: {seconds:.3f} s")
    benchmark.extra_info["seconds"] = seconds
    assert benchmark.pedantic(fit, rounds=1).n_iter_ <= 60
    assert seconds < 5
