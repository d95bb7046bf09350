"""SVM-2K and MSL in Figure 2 of MVPO: machines, the pair, the choice, and what targets share."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import linear_kernel

from mvref import MultiView
from mvref.experiments import mvpo
from mvref.experiments.ranking import (
    ANY,
    PAIR_METHODS,
    TARGETS,
    PairMachine,
    measure_all,
    on_directions,
    principal_directions,
    quality,
    svm2k,
    with_pair,
)
from mvref.experiments.tables import grid
from mvref.experiments.tuning import Machine, Method, Split, validate
from mvref.rivals import MSL, SVM2K
from tests.experiments.test_mvpo import small_problem

TWO = {"view": 0, "second_view": 1}
FIRST = {"D/C": 0.1, "alpha": 0.1, "C2": 10.0}


small_halves = partial(small_problem, n=60, widths=(3, 3, 3), apart=2.0, noise=2.5)


# --------------------------------------------------------------------------------- machines


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    ("method", "outer", "library"),
    [
        ("SVM2K", {"D/C": 0.5}, lambda C: SVM2K(C, D=C / 2, kernel=linear_kernel)),
        ("MSL", {"alpha": 0.1}, lambda C: MSL(0.1, C=C)),
    ],
)
def test_the_machine_is_the_method(n_classes, method, outer, library):
    split = small_halves(widths=(3, 4), n_classes=n_classes, noise=1.0, n_train=40)
    X, y, train = split.X, split.y, split.train
    machine = PAIR_METHODS[method].make(split, train, 0, tol=1e-4)
    for C2 in (20.0, 5.0):
        found = machine.fit(outer | TWO | {"C2": C2}).predict(X)
        model = library(4 * C2 / 40).set_params(tol=1e-4, random_state=0).fit(X[train], y[train])
        scores = model.decision_function(X)
        assert found.shape == (60, n_classes)
        if n_classes == 2:
            assert np.array_equal(found[:, 0], -found[:, 1])
            found = found[:, 1]
        np.testing.assert_allclose(found, scores, atol=1e-10)
        assert np.ptp(scores) > 1
        gap = np.max(model.dual_gap_ / model.objective_) / 1e-4
        assert machine.gap <= 1 and (method == "SVM2K" or machine.gap == pytest.approx(gap))


def test_the_gap_tells_what_stopped_early():
    split = small_halves(noise=1.0)
    hasty = PairMachine(split, split.train, 0, build=svm2k, tol=1e-3, max_iter=1)
    with pytest.warns(match="sweeps"):
        assert hasty.fit({"D/C": 0.5, "C2": 5.0} | TWO).gap > 1


@pytest.mark.parametrize("method", PAIR_METHODS)
def test_a_machine_sees_its_pair_only(method):
    three = small_halves(widths=(3, 4, 5))
    point = FIRST | {"view": 0, "second_view": 2}
    two = replace(three, X=three.X.select([0, 2]))
    one = PAIR_METHODS[method].make(three, three.train, 0).fit(point)
    other = PAIR_METHODS[method].make(two, three.train, 0).fit(point | TWO)
    everyone = np.arange(60)
    scores = [machine.predict(machine.features(everyone)) for machine in (one, other)]
    assert np.array_equal(*scores) and one.gap == other.gap


def test_the_principal_directions_of_all_rows_change_nothing():
    views = [sparse.random(50, d, 0.2, "csr", random_state=d) for d in (90, 70)]
    y = np.arange(50) % 2
    X, dense = MultiView(views), MultiView([view.toarray() for view in views])
    for view in X[:30].views:
        basis = principal_directions(view, 1000)
        assert basis.shape == (view.shape[1], 30)
        np.testing.assert_allclose(basis.T @ basis, np.eye(30), atol=1e-10)
        np.testing.assert_allclose(view @ basis @ basis.T, view.toarray(), atol=1e-10)
        few = principal_directions(view, 5)
        largest = np.linalg.svd(view.toarray())[1][:5]
        np.testing.assert_allclose(np.linalg.norm(view @ few, axis=0), largest)
    point = {"alpha": 0.3, "C2": 100.0, **TWO}
    machines = [
        on_directions(Split(Z, y, None, None, []), np.arange(30), 0, tol=1e-6).fit(point)
        for Z in (X, dense)
    ]
    turned, plain = (machine.predict(machine.features(np.arange(50))) for machine in machines)
    np.testing.assert_allclose(turned, plain, atol=1e-2)
    assert np.ptp(plain) > 1
    rank_two = principal_directions(sparse.csr_matrix([[3.0, 0, 0], [0, 0, 1], [1, 0, 0]]), 5)
    np.testing.assert_allclose(np.abs(rank_two), [[1, 0], [0, 0], [0, 1]], atol=1e-12)


# ----------------------------------------------------------------------------------- tuning


@pytest.mark.parametrize("method", PAIR_METHODS)
def test_the_pair_leaves_out_the_noise(method):
    how, points = PAIR_METHODS[method], [{"C2": 1.0}, {"C2": 2.0}]
    halves = small_halves(n=240, n_train=120)
    noise = np.random.RandomState(7).randn(240, 3)
    halves = replace(halves, X=MultiView([halves.X.views[0], noise, halves.X.views[2]]))
    found = with_pair(halves, how, points, FIRST, 0)
    assert found == [{"C2": C2, "view": 0, "second_view": 2} for C2 in (1.0, 2.0)]
    only = with_pair(small_halves(widths=(3, 3)), how, [{}], None, 0)
    assert only == [TWO], "nothing to choose"


def test_validation_is_the_mean_over_the_folds():
    halves, pair = small_halves(), {"view": 0, "second_view": 2}
    points = [point | pair for point in grid(alpha=(0.03, 0.1), C2=(10.0, 100.0))]
    values = validate(halves, replace(PAIR_METHODS["MSL"], points=points), 0, quality)
    assert values.shape == (4, 3)
    by_hand = []
    for fit, check in halves.folds:
        machine = on_directions(halves, fit, 0, tol=1e-2).fit(points[3])
        scores = machine.predict(machine.features(check))
        by_hand.append(measure_all(halves.meta["Y"][check], scores))
    for t, target in enumerate(TARGETS):
        assert values[3, t] == pytest.approx(np.mean([m[target] for m in by_hand]))


class Oracle(Machine):
    """Scores that are right for as many samples as (outer, C2) say; counts its fits."""

    n_fits = 0
    last = None  # what it was trained on
    gap = 0.5

    def __init__(self, split, rows, seed, *, tol):
        super().__init__(split, rows, seed)
        Oracle.last = self.X.views[1]

    def train(self, point):
        Oracle.n_fits += 1
        self.n_right = int(10 * point["outer"] + point["C2"])

    def predict(self, X):
        sign = np.where(np.arange(len(X)) < self.n_right, 1.0, -1.0)
        return sign[:, None] * np.where(X.views[0][:, :2] > 0, 1.0, -1.0)


def test_targets_share_fits_and_take_the_first_of_the_best(monkeypatch):
    halves = small_halves(widths=(3, 3), n_classes=2)
    X = MultiView([np.where(halves.meta["Y"], 1.0, -1.0), halves.X.views[1]])
    halves = replace(halves, X=X)
    measures = (*ANY, "outer", "view", "second_view", "gap")
    monkeypatch.setattr(mvpo, "load_halves", lambda name, seed: halves)
    monkeypatch.setitem(PAIR_METHODS, "oracle", Method(Oracle, measures=measures))
    monkeypatch.setattr(mvpo, "ANY_TARGET", ("oracle",))
    monkeypatch.setitem(mvpo.PAIR_GRIDS, "oracle", ({"outer": (0.1, 0.2)}, None))
    monkeypatch.setitem(mvpo.GRID_C2, "any", (6.0, 8.0, 8.5))
    mvpo.on_folds.cache_clear(), mvpo.on_test.cache_clear()
    job = partial(mvpo.on_halves, "any", "oracle", measures=measures, quick=False, seed=0)
    found = [job(target=target) for target in TARGETS]
    assert Oracle.n_fits == 3 * 6 + 1, "folds by grid, and one final model for three targets"
    assert np.array_equal(Oracle.last, halves.X.views[1][halves.train])
    for target, values in zip(TARGETS, found, strict=True):
        assert tuple(values) == measures
        assert (values["outer"], values["C2"]) == (0.2, 8.0)  # the first with all ten of a fold
        assert values["validation"] == 1 and values["gap"] == 0.5
        assert (values["view"], values["second_view"]) == (0, 1)
        assert values[target] < 1
    mvpo.on_folds.cache_clear(), mvpo.on_test.cache_clear()
