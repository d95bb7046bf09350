"""SVM-2K and MSL in Figure 2 of MVPO: machines, the pair, the choice, and what targets share."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import linear_kernel

from mvref import MultiView
from mvref.experiments import pair_methods
from mvref.experiments.halves import Halves, measure_all
from mvref.experiments.pair_methods import (
    PAIR_METHODS,
    MSLMachine,
    PairMethod,
    SVM2KMachine,
    choose_pair,
    pair_measures_of,
    pair_tuned,
    principal_directions,
    validate_pair,
)
from mvref.experiments.ranking import TARGETS
from mvref.rivals import MSL, SVM2K


def small_problem(n=60, widths=(3, 4), n_classes=3, noise=1.0, seed=0):
    """Views that hint at the class, and the codes of the classes."""
    rng = np.random.RandomState(seed)
    y = np.arange(n) % n_classes
    centres = [2.0 * rng.randn(n_classes, d) for d in widths]
    return MultiView([c[y] + noise * rng.randn(n, len(c[0])) for c in centres]), y


def small_halves(n_views=3, n_classes=3, n=60):
    """Halves of a problem whose view 1, of three, is noise."""
    X, y = small_problem(n, widths=(3,) * n_views, n_classes=n_classes, noise=2.5)
    noise = np.random.RandomState(7).randn(n, 3)
    X = MultiView([noise if v == 1 and n_views > 2 else view for v, view in enumerate(X.views)])
    train, test = np.split(np.arange(n), 2)
    folds = [(np.setdiff1d(train, check), check) for check in np.split(train, 3)]
    Y = y[:, None] == np.arange(n_classes)
    return Halves(X, Y, y, train, test, folds)


# --------------------------------------------------------------------------------- machines


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_machine_of_svm2k(n_classes):
    X, y = small_problem(n_classes=n_classes)
    machine = SVM2KMachine(X[:40], y[:40], 0.5, tol=1e-3).fit(5.0)
    model = SVM2K(0.5, D=0.25, kernel=linear_kernel, tol=1e-4, random_state=1)  # C = 4 C2/n
    scores = model.fit(X[:40], y[:40]).decision_function(X)
    found = machine.scores(X)
    assert found.shape == (60, n_classes)
    if n_classes == 2:
        assert np.array_equal(found[:, 0], -found[:, 1])
        found = found[:, 1]
    np.testing.assert_allclose(found, scores, atol=0.1)
    assert np.ptp(scores) > 2 and machine.gap <= 1
    hasty = SVM2KMachine(X[:40], y[:40], 0.5, tol=1e-3, max_iter=1)
    with pytest.warns(match="sweeps"):
        assert hasty.fit(5.0).gap > 1


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_machine_of_msl(n_classes):
    X, y = small_problem(n_classes=n_classes)
    machine = MSLMachine(X[:40], y[:40], 0.1, tol=1e-4)
    for C2 in (100.0, 10.0):  # the subspace stays
        found = machine.fit(C2).scores(X)
        model = MSL(0.1, C=4 * C2 / 40, tol=1e-4, random_state=0).fit(X[:40], y[:40])
        scores = model.decision_function(X)
        np.testing.assert_allclose(found[:, 1] if n_classes == 2 else found, scores, atol=1e-10)
    assert found.shape == (60, n_classes)
    assert machine.gap == pytest.approx(model.dual_gap_ / model.objective_ / 1e-4)
    assert machine.gap <= 1


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
    turned = MSLMachine(X[:30], y[:30], 0.3, tol=1e-6).fit(100.0)
    plain = MSLMachine(dense[:30], y[:30], 0.3, tol=1e-6).fit(100.0)
    np.testing.assert_allclose(turned.scores(X), plain.scores(dense), atol=1e-2)
    assert np.ptp(plain.scores(dense)) > 1


# ----------------------------------------------------------------------------------- tuning


@pytest.mark.parametrize("method", PAIR_METHODS)
def test_the_pair_leaves_out_the_noise(method):
    assert choose_pair(method, small_halves(n=240), (0.1, 10.0)) == (0, 2)
    assert choose_pair(method, small_halves(n_views=2), None) == (0, 1), "nothing to choose"


def test_validation_is_the_mean_over_the_folds():
    halves = small_halves()
    values = validate_pair("MSL", halves, (0, 2), (0.03, 0.1), (10.0, 100.0))
    assert values.shape == (3, 2, 2)
    X, by_hand = halves.X.select([0, 2]), []
    for fit, check in halves.folds:
        machine = MSLMachine(X[fit], halves.y[fit], 0.1, tol=1e-2).fit(100.0)
        by_hand.append(measure_all(halves.Y[check], machine.scores(X[check])))
    for t, target in enumerate(TARGETS):
        assert values[t, 1, 1] == pytest.approx(np.mean([m[target] for m in by_hand]))


class Oracle:
    """Scores that are right for as many samples as (outer, C2) say; counts its fits."""

    n_fits = 0
    last = None  # what it was trained on

    def __init__(self, X, y, outer, tol):
        self.outer, self.gap, Oracle.last = outer, 0.5, X.views[1]

    def fit(self, C2):
        Oracle.n_fits += 1
        self.n_right = int(10 * self.outer + C2)
        return self

    def scores(self, X):
        sign = np.where(np.arange(len(X)) < self.n_right, 1.0, -1.0)
        return sign[:, None] * np.where(X.views[0][:, :2] > 0, 1.0, -1.0)


def test_targets_share_fits_and_take_the_best_of_the_folds(monkeypatch):
    halves = small_halves(n_views=2, n_classes=2)
    X = MultiView([np.where(halves.Y, 1.0, -1.0), halves.X.views[1]])
    halves = Halves(X, halves.Y, halves.y, halves.train, halves.test, halves.folds)
    monkeypatch.setattr(pair_methods, "load_halves", lambda name, seed: halves)
    monkeypatch.setitem(PAIR_METHODS, "oracle", PairMethod(Oracle, "outer"))
    pair_methods._folds_of.cache_clear()
    pair_methods._measured.cache_clear()
    grids = {"grid_outer": (0.1, 0.2), "grid_C2": (6.0, 8.0), "first": None, "seed": 0}
    found = [pair_tuned("any", "oracle", target, **grids) for target in TARGETS]
    assert Oracle.n_fits == 3 * 4 + 1, "folds by grid, and one final model for three targets"
    assert np.array_equal(Oracle.last, halves.X.views[1][halves.train])
    for target, measures in zip(TARGETS, found, strict=True):
        assert tuple(measures) == pair_measures_of("oracle")
        assert (measures["outer"], measures["C2"]) == (0.2, 8.0)  # all ten of a fold right
        assert measures["validation"] == 1 and measures["gap"] == 0.5
        assert (measures["view"], measures["second_view"]) == (0, 1)
        assert measures[target] < 1
    pair_methods._folds_of.cache_clear()
    pair_methods._measured.cache_clear()


@pytest.mark.parametrize("method", PAIR_METHODS)
def test_the_test_half_influences_no_choice(method):
    halves = small_halves()
    rng = np.random.RandomState(3)
    views = [view.copy() for view in halves.X.views]
    for view in views:
        view[halves.test] = 100.0 * rng.randn(30, 3)
    Y = halves.Y.copy()
    Y[halves.test] = Y[rng.permutation(halves.test)]
    other = Halves(MultiView(views), Y, Y.argmax(1), halves.train, halves.test, halves.folds)
    choices = [
        (
            choose_pair(method, h, (0.1, 10.0)),
            validate_pair(method, h, (0, 2), (0.1,), (1.0, 10.0)).tolist(),
        )
        for h in (halves, other)
    ]
    assert choices[0] == choices[1]
