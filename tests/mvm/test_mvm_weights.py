"""Weights of samples and classes in multi-view machines: a weight k is k copies, 0 is absence."""

import copy

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import log_loss

from mvref import MultiView
from mvref.core.groups import Structure, group_structure
from mvref.core.losses import LOSSES, PENALTIES
from mvref.mvm import MVMClassifier, MVMRegressor
from mvref.mvm.model import Design, Objective, start_factors
from mvref.mvm.solvers import AdaGrad, als_sweep, curvature_units
from tests import literal_mvm as literal
from tests.mvm.test_mvm import GROUPS, every_structure, flat, rows_of, stopped

RNG = np.random.default_rng(0)
VIEWS = [scale * RNG.normal(size=(12, d)) for d, scale in ((3, 5.0), (4, 1.0), (2, 2.0))]
VIEWS[1] *= RNG.random((12, 4)) > 0.5  # zeros, which the units of a view leave out
VIEWS[0][9:] *= 10.0  # so that units depend on the weights
Y = np.where(np.arange(12) % 3 > 0, 1.0, -1.0)
COUNTS = np.array([1, 2, 3] * 4)
REPEATED = [np.repeat(view, COUNTS, axis=0) for view in VIEWS]
MANY = np.repeat(Y, COUNTS)


def objective_of(views, y, counts=None, groups=None, shared=True, **options):
    options = {"loss": "logistic", "penalty": "l2", "alpha": 0.1, "smoothing": 1e-2} | options
    weights = None if counts is None else counts / counts.mean()
    X = MultiView(views)
    return Objective(Design(X, group_structure(groups, X, shared), 2, weights), y, **options)


def factors_for(objective):
    rng = np.random.default_rng(1)
    return [rng.normal(scale=0.3, size=shape) for shape in objective.design.shapes]


@every_structure
@pytest.mark.parametrize("loss", LOSSES)
def test_objective_and_gradient_are_literally_those_of_repeated_rows(loss, groups, shared):
    objective = objective_of(VIEWS, Y, COUNTS, groups, shared, loss=loss)
    A = factors_for(objective)
    rows = rows_of(REPEATED, objective.design.views)
    twin = (loss, "l2", 0.1, 1e-2, objective.design.terms)
    value, gradient = objective.value_and_gradient(A)
    assert_allclose(value, literal.objective(rows, MANY, A, *twin), rtol=1e-12)
    assert_allclose(objective.value(A), value, rtol=1e-12)
    assert_allclose(flat(gradient), flat(literal.gradient(rows, MANY, A, *twin)), atol=1e-9)


@pytest.mark.parametrize("form", [np.array, sparse.csr_matrix])
def test_start_and_units_are_those_of_repeated_rows(form):
    weighted = objective_of([form(view) for view in VIEWS], Y, COUNTS)
    repeated = objective_of([form(view) for view in REPEATED], MANY)
    plain = objective_of([form(view) for view in VIEWS], Y)
    units = weighted.design.feature_units()
    assert_allclose(units, repeated.design.feature_units(), rtol=1e-12)
    assert abs(units[0] / plain.design.feature_units()[0] - 1) > 0.01
    assert_allclose(curvature_units(weighted), curvature_units(repeated), rtol=1e-12)
    live = [
        start_factors("live", 0.1, one.design, np.random.RandomState(0))
        for one in (weighted, repeated)
    ]
    assert_allclose(flat(live[0]), flat(live[1]), rtol=1e-12)
    lonely = np.zeros((12, 2))
    lonely[0, 1] = 7.0  # the only entry, of a weight below the mean
    assert_allclose(objective_of([form(lonely)], Y, COUNTS).design.feature_units(), [7.0])


@pytest.mark.parametrize("groups", [None, GROUPS])
def test_a_block_of_als_is_a_weighted_ridge_regression(groups):
    weighted = objective_of(VIEWS, Y, COUNTS, groups, loss="squared")
    repeated = objective_of(REPEATED, MANY, None, groups, loss="squared")
    once, copies = factors_for(weighted), factors_for(weighted)
    value = als_sweep(weighted, once, weighted.value(once))
    assert_allclose(value, als_sweep(repeated, copies, repeated.value(copies)), rtol=1e-10)
    assert_allclose(value, weighted.value(once), rtol=1e-10)
    assert_allclose(flat(once), flat(copies), rtol=1e-7)
    if groups is None:  # the last block is the ridge regression of the literal twin
        S = [np.c_[view, np.ones(len(view))] @ A for view, A in zip(REPEATED, once, strict=True)]
        Z = np.c_[REPEATED[2], np.ones(len(MANY))]
        assert_allclose(once[2], literal.ridge_block(Z, S[0] * S[1], MANY, 0.1), rtol=1e-7)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_sgd_multiplies_the_gradient_of_a_sample_by_its_weight(penalty):
    """Algorithm 1 sample by sample, in batches of two."""
    views = [view / 100 for view in VIEWS]  # of unit size or less: the rate is not divided
    objective = objective_of(views, Y, COUNTS, penalty=penalty)
    A = factors_for(objective)
    state = AdaGrad([B.copy() for B in A], np.random.RandomState(3), objective.design)
    assert state.epoch(objective, 0.1, 2)
    squares = [np.full_like(B, 1e-8) for B in A]
    rows, weights = rows_of(views), COUNTS / COUNTS.mean()
    twin = ("logistic", penalty)
    for pair in np.random.RandomState(3).permutation(12).reshape(-1, 2):
        G = literal.gradient([rows[pair[0]]], [Y[pair[0]]], A, *twin, 0.1, 1e-2)
        losses = [literal.gradient([rows[i]], [Y[i]], A, *twin, 0.0, 1e-2) for i in pair]
        for b in range(3):
            G[b] += (weights[pair[0]] / 2 - 1) * losses[0][b] + weights[pair[1]] / 2 * losses[1][b]
            squares[b] += G[b] ** 2
        A = [B - 0.1 * G_b / np.sqrt(s) for B, G_b, s in zip(A, G, squares, strict=True)]
    assert_allclose(flat(state.factors), flat(A), atol=1e-9)


# ------------------------------------------------------------------ streams


@stopped
@pytest.mark.parametrize("cls", [MVMClassifier, MVMRegressor])
def test_a_stream_of_one_part_is_an_epoch_of_fit(cls):
    options = {"solver": "sgd", "batch_size": 4, "random_state": 0}
    classes = {} if cls is MVMRegressor else {"classes": [-1, 1]}
    weights = np.r_[0, COUNTS[1:]]
    whole = cls(2, max_iter=1, **options).fit(VIEWS, Y, sample_weight=weights)
    stream = cls(2, **options).partial_fit(VIEWS, Y, sample_weight=weights, **classes)
    assert_array_equal(flat(stream.factors_), flat(whole.factors_))
    for model in (whole, stream):  # and after fit it goes on
        model.partial_fit(VIEWS, Y, sample_weight=5 * COUNTS)
    assert_array_equal(flat(stream.factors_), flat(whole.factors_))


def test_weights_of_a_stream_are_in_units_of_their_mean_so_far():
    model = MVMClassifier(2, solver="sgd", batch_size=4, random_state=0)
    model.partial_fit([view[:6] for view in VIEWS], Y[:6], classes=[-1, 1])
    (state,) = copy.deepcopy(model._states)
    model.partial_fit([view[6:] for view in VIEWS], Y[6:], sample_weight=np.full(6, 3.0))
    X = MultiView([view[6:] for view in VIEWS])
    structure = Structure(model.factor_views_, model.terms_)
    design = Design(X, structure, 2, np.full(6, 3.0 / 2.0))  # six of 1 and six of 3
    options = {"loss": "logistic", "penalty": "l2", "alpha": 1e-3, "smoothing": 1e-8}
    state.epoch(Objective(design, Y[6:], **options), 0.1, 4)
    assert_allclose(flat(model.factors_), flat(state.factors), rtol=1e-12)


def test_weights_of_classes_in_a_stream():
    """Also in parts that lack a class; the counts for "balanced" nobody knows there."""
    of_class, options = {-1: 3.0}, {"solver": "sgd", "batch_size": 4, "random_state": 0}
    model = MVMClassifier(2, class_weight=of_class, **options)
    expected = MVMClassifier(2, **options)
    positive = np.flatnonzero(Y > 0)
    for rows in (positive, np.arange(12)):
        part = [view[rows] for view in VIEWS]
        model.partial_fit(part, Y[rows], classes=[-1, 1])
        expected.partial_fit(part, Y[rows], [-1, 1], np.where(Y[rows] < 0, 3.0, 1.0))
    assert_array_equal(flat(model.factors_), flat(expected.factors_))
    with pytest.raises(ValueError, match="class_weight='balanced' needs all samples"):
        model.set_params(class_weight="balanced").partial_fit(VIEWS, Y, classes=[-1, 1])
    with pytest.raises(ValueError, match="class_weight must be a number > 0, got 0"):
        model.set_params(class_weight={-1: 0, 1: 0}).partial_fit(VIEWS, Y)
    with pytest.raises(ValueError, match="[Nn]egative"):
        expected.partial_fit(VIEWS, Y, sample_weight=-COUNTS)


# ------------------------------------------------------------------ probabilities


def test_calibration_mends_the_probabilities():
    """As the docstring of predict_proba has it: too sure of itself, with any loss mended."""
    rng = np.random.default_rng(0)
    views = [rng.normal(size=(400, 5)) for _ in range(2)]
    y = views[0][:, 0] + views[1][:, 0] + rng.normal(size=400) > 0
    train, test = ([view[rows] for view in views] for rows in (slice(200), slice(200, 400)))
    raw = MVMClassifier(alpha=1e-3, random_state=0).fit(train, y[:200]).predict_proba(test)
    for loss in ("logistic", "squared_hinge"):
        model = CalibratedClassifierCV(
            MVMClassifier(loss=loss, alpha=1e-3, random_state=0, views=[5, 5]), cv=3
        )
        calibrated = model.fit(np.hstack(train), y[:200]).predict_proba(np.hstack(test))
        assert log_loss(y[200:], calibrated) < 0.8 * log_loss(y[200:], raw)
