"""Cost of Co-Labeling and PerViewSVM against the scikit-learn classifiers they stand on.

Run by ``make bench``: ratios of the processor's seconds in one run, medians.
"""

from functools import partial

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from mvref.rivals import CoLabeling, PerViewSVM
from tests.costs import medians

N = 2000


def five_classes(n=N):
    """Three views of 20 columns, and codes."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 5
    return [0.35 * rng.normal(size=(5, 20))[y] + rng.normal(size=(n, 20)) for _ in range(3)], y


def bare_svms(views, y):
    """An SVC per view and class on one kernel per view."""
    for view in views:
        K = rbf_kernel(view, gamma=1 / 20)
        for k in range(5):
            SVC(kernel="precomputed").fit(K, y == k)


def test_co_labeling_and_per_view_svm_against_bare_svms(benchmark):
    """Squared hinge to a gap of 1e-13, and hinge by libsvm to 1e-3: fifteen problems each."""
    views, y = five_classes()
    runs = [partial(m.fit, views, y) for m in (CoLabeling(), PerViewSVM())]
    ours, per_view, bare = medians([*runs, partial(bare_svms, views, y)], 3)
    print(f"\nCo-Labeling {ours:.2f} s, PerViewSVM {per_view:.2f} s, bare SVCs {bare:.2f} s")
    benchmark.extra_info.update({"co_labeling": ours, "per_view_svm": per_view, "bare": bare})
    assert abs(benchmark.pedantic(runs[0], rounds=1).dual_gap_).max() < 1e-11
    assert ours < 4 * bare and ours < 5
    assert per_view < 2 * bare
