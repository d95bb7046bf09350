"""The one way in which all experiments choose, train and test."""

import warnings
from functools import partial

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from mvref import MultiView
from mvref.experiments.engine import Job
from mvref.experiments.tables import Cell, grid, jobs_of, stratified_folds
from mvref.experiments.tuning import Machine, Method, Split, n_correct, train, tuned, validate


def split_of(n_train=30, n_test=9):
    """Values of one feature, whose parity is the class."""
    x = np.arange(n_train + n_test)
    rows, test = np.split(x, [n_train])
    X = MultiView([x[:, None].astype(float)])
    return Split(X, x % 2, rows, test, stratified_folds(x % 2, rows, 3, 0))


class Knower:
    """Right for as many samples as `skill` says; remembers what it saw, and warns if it may."""

    seen = []

    def __init__(self, skill, seed, warns=False):
        self.skill, self.seed, self.warns = skill, seed, warns

    def fit(self, X, y):
        Knower.seen.append(set(X.views[0].ravel().astype(int)))
        if self.warns:
            warnings.warn("stopped early", ConvergenceWarning, stacklevel=1)
        return self

    def predict(self, X):
        y = X.views[0].ravel().astype(int) % 2
        return np.where(np.arange(len(y)) < self.skill, y, 1 - y)


def knower(skills, measures=("accuracy",), **options):
    Knower.seen = []
    build = lambda point, X, seed: Knower(point["skill"], seed, **options)  # noqa: E731
    return Method(partial(Machine, build=build), grid(skill=skills), measures)


def test_the_first_of_the_best_points_is_trained_on_all_and_tested_once():
    split = split_of()
    method = knower((1, 7, 7, 5), ("accuracy", "errors", "validation", "skill", "point", "n_test"))
    run = tuned(split, method, 3)
    assert run.measure() == {
        "accuracy": 7 / 9, "errors": 2, "validation": 0.7, "skill": 7, "point": 1, "n_test": 9,
    }  # fmt: skip
    assert Knower.seen[-1] == set(split.train) and len(Knower.seen) == 3 * 4 + 1
    assert not any(set(split.test) & seen for seen in Knower.seen)
    assert run.machine.model.seed == 3


def test_folds_are_disjoint_stratified_and_inside_the_training_part():
    split = split_of()
    validate(split, knower((5,)), 0)
    for (fit, check), seen in zip(split.folds, Knower.seen, strict=True):
        assert seen == set(fit) and not seen & set(check)
        assert seen | set(check) == set(split.train)
        assert split.y[check].sum() == 5


@pytest.mark.parametrize(("measures", "n_fits"), [(("accuracy",), 1), (("validation",), 4)])
def test_folds_are_asked_only_where_it_matters(measures, n_fits):
    tuned(split_of(), knower((5,), measures), 0)
    assert len(Knower.seen) == n_fits


def test_only_the_last_training_tells_its_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = tuned(split_of(), knower((1, 2), ("warned",), warns=True), 0)
        assert run.messages == ["stopped early"] and run.measure() == {"warned": 1.0}
        assert tuned(split_of(), knower((1, 2)), 0).measure(["warned"]) == {"warned": 0.0}


def test_a_quality_may_be_a_mean_per_fold_and_a_vector():
    split = split_of()

    def two(split, rows, predicted):
        right, n = n_correct(split, rows, predicted)
        return np.array([right / n, -right / n]), 1

    values = validate(split, knower((2, 8)), 0, two)
    np.testing.assert_allclose(values, [[0.2, -0.2], [0.8, -0.8]])
    assert tuned(split, knower((2, 8)), 0, lambda *a: (two(*a)[0][1], 1)).point == {"skill": 2}


def test_hasty_options_are_those_of_the_folds():
    given = []

    def make(split, rows, seed, **options):
        given.append(options)
        return Machine(split, rows, seed, build=lambda point, X, seed: Knower(1, seed))

    method = Method(make, grid(a=(1, 2)), fixed={"tol": 1, "L": 5}, hasty={"tol": 9})
    tuned(split_of(), method, 0)
    assert given == [{"tol": 9, "L": 5}] * 3 + [{"tol": 1, "L": 5}]


def test_a_measure_is_of_the_experiment_the_point_or_the_machine():
    run = train(split_of(), knower((4, 6)), 1, 0)
    run.machine.gap = 0.5
    assert run.measure(["gap", "skill"]) == {"gap": 0.5, "skill": 6.0}
    assert run.measure(["skill"], {"skill": lambda run: run.index}) == {"skill": 1.0}
    with pytest.raises(TypeError):
        run.measure(["unknown"])


def test_a_table_runs_each_repeat_of_all_cells_before_the_next():
    cells = [Cell("a", {"m": 1}, ("x",), 2, {"m": 7, "tol": 3}), Cell("b", {}, ("x", "y"))]
    jobs = list(jobs_of("label", "name", cells, dict))
    assert [(job.method, job.repeat) for job in jobs] == [("a", 0), ("b", 0), ("a", 1)]
    assert jobs[0] == Job("label", "a", {"m": 1}, 0, ("x",), jobs[0].function)
    assert jobs[0].function.args == ("name", "a"), "the point says more than the options"
    assert jobs[0].function.keywords == {"measures": ("x",), "m": 1, "tol": 3}
    assert list(jobs_of("label", "name", [], dict)) == []
