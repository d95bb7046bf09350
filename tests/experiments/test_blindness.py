"""What is chosen and trained depends on the training part alone, in parts I to V."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from sklearn.metrics.pairwise import euclidean_distances

from mvref import MultiView
from mvref.experiments import (
    interactions,
    methods,
    mvl_svm,
    nystrom_methods,
    ranking,
)
from mvref.experiments.ranking import PAIR_METHODS, quality, with_pair
from mvref.experiments.tables import grid, stratified_folds
from mvref.experiments.tuning import Machine, Method, Split, n_correct, train, validate

N, N_TRAIN = 60, 42


def problem(kind):
    """Three views that hint at one of three classes, or distances that no points have."""
    rng = np.random.RandomState(0)
    y, rows = rng.permutation(N) % 3, np.arange(N)
    views = [1.5 * rng.randn(3, d)[y] + rng.randn(N, d) for d in (3, 4, 5)]
    if kind == "precomputed":
        noise = rng.uniform(0.8, 1.0, (N, N))
        views = [euclidean_distances(view) * noise * noise.T for view in views]
    X = MultiView(views).drop_views(0.2 if kind == "gaps" else 0.0, random_state=0)
    train, test = np.split(rows, [N_TRAIN])
    meta = {"kernel": "precomputed" if kind == "precomputed" else "rbf", "validation": rows[:0]}
    return told(Split(X, y, train, test, stratified_folds(y, train, 3, 0), meta))


def told(split):
    """The split with what the experiments ask for beside."""
    beside = {"complete": split.X, "Y": split.y[:, None] == np.arange(3)}
    return replace(split, meta=split.meta | beside)


def scrambled(split):
    """The same with other features and labels in the test part."""
    rng, y = np.random.RandomState(1), split.y.copy()
    views = [view.copy() for view in split.X.views]
    for view in views:
        view[split.test] = 10.0 * rng.rand(N - N_TRAIN, view.shape[1])
        if split.meta["kernel"] == "precomputed":
            view[:, split.test] = view[split.test].T
    y[split.test] = rng.permutation(y[split.test])
    return told(replace(split, X=MultiView(views, observed=split.X.observed), y=y))


def of_all_papers():
    """The methods of the experiments at two points or so: the problem that suits them, and name."""
    for name, method in methods.METHODS.items():
        points = mvl_svm.GRIDS.get(name, grid(C=(0.1, 10.0)))[-2:]
        method = replace(method, points=points, fixed={"L": 10} if name[:2] == "MV" else {})
        yield "complete", name, method
        if name in ("MVLSVM", "PerViewSVM", "SVC-mean", "SVM2K", "MVML"):
            yield "precomputed", name, method
    points = grid(alpha=(0.3, 0.1), k=(1,), gamma=(0.5,))
    for name in interactions.METHODS:
        fixed = {"build": partial(interactions.build, name)}
        yield "complete", name, Method(Machine, points, fixed=fixed)
    points = grid(width=(4.0, 0.25), c=(10.0, 1e-3), coupling=(1.0,))
    for name in ("MVNA", "MVNA-printed", "NA-average", "NA", "KMHKS", "SVM", "Majority"):
        yield "complete", name, Method(partial(nystrom_methods.machine, name=name), points)


def of_scores():
    """The methods of MVPO's figures."""
    for name, method in (ranking.METHODS | PAIR_METHODS).items():
        point = {"C1": (0.0, 10.0), "C2": (1.0, 10.0)}
        if not name.startswith("MVPO"):
            point |= {"D/C": (0.1,), "alpha": (0.1,)}
        if name not in ("MVPO", "MVPO-C1=0", "LinearSVC", "CoLabeling"):
            point |= {"view": (0,), "second_view": (2,)}
        fixed = {} if name in PAIR_METHODS else {"target": "prbep"}
        yield "complete", name, replace(method, points=grid(**point), fixed=fixed)


@pytest.mark.parametrize(
    ("kind", "name", "method", "quality"),
    [(*case, n_correct) for case in of_all_papers()] + [(*case, quality) for case in of_scores()],
)
def test_the_test_part_has_no_say(kind, name, method, quality):
    splits = problem(kind), scrambled(problem(kind))
    test = splits[0].test
    assert not np.array_equal(*(split.y[test] for split in splits))
    assert not np.array_equal(*(split.X.views[0][test] for split in splits), equal_nan=True)
    one, other = (validate(split, method, 0, quality) for split in splits)
    assert np.array_equal(one, other)
    assert one.max() > (0.3 if name == "Majority" else 0.6)
    machines = [train(split, method, int(one.argmax()) % len(one), 0).machine for split in splits]
    answers = [m.predict(m.features(splits[0].train)) for m in machines]
    assert np.array_equal(*answers)


def test_the_pair_of_views_is_chosen_by_the_training_part():
    first = {"D/C": 0.1, "alpha": 0.1, "C2": 10.0}
    for method in PAIR_METHODS.values():
        one, other = (
            with_pair(split, method, [{}], first, 0)
            for split in (problem("complete"), scrambled(problem("complete")))
        )
        assert one == other
