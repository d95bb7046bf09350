"""A path: every point is the model of its own fit, and the samples are prepared once."""

import re
from unittest.mock import patch

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import ParameterGrid

from mvref import MVLSVM, all_methods
from mvref.mvl_svm import LandmarkProjection
from mvref.mvpo import MVPO, DualMetric, PrimalMetric
from tests.literal import hide, random_pattern, toy_views

METHODS = {
    "MVLSVM": (MVLSVM(20, tol=1e-9, random_state=0), {"c": [1.0, 100.0, 10.0]}),
    "MVLSVM, selected": (MVLSVM(20, n_selected=5, random_state=0), {"c": [1.0, 100.0]}),
    "MVPO": (MVPO("prbep", solver="primal"), {"measure": ["f1", "auroc"], "C1": [0, 1, 0]}),
    "MVPO, dual": (MVPO(solver="dual"), {"C1": [0, 1], "normalize": [True, False], "C2": [1.0]}),
}
PREPARED = {  # what is made once, or once for each of what a point may change
    "MVLSVM": (LandmarkProjection, "fit", 1),
    "MVPO": (PrimalMetric, "__init__", 3),  # 0, 1 and 0 again; the measures share it
    "MVPO, dual": (DualMetric, "__init__", 3),  # C1 = 0, 1 and 1/n
}


@pytest.fixture(scope="module", params=[2, 3])
def data(request):
    X, y = toy_views(1, n_classes=request.param)
    return hide(X, random_pattern(2, 60, 2, share=0.2)), y


def test_these_have_a_path():
    having = {name for name, method in all_methods().items() if hasattr(method, "path")}
    assert having == {name.split(",")[0] for name in METHODS}


@pytest.mark.parametrize("name", METHODS)
def test_every_point_has_the_model_of_its_own_fit(name, data):
    (model, grid), (X, y) = METHODS[name], data
    weights = {} if name.startswith("MVPO") else {"sample_weight": np.arange(len(y)) % 3}
    points = list(ParameterGrid(grid))
    models = list(model.path(X, y, points, **weights))
    for point, found in zip(points, models, strict=True):
        alone = type(model)(**model.get_params() | point).fit(X, y, **weights)
        assert found.get_params() == alone.get_params()
        scores = alone.decision_function(X)
        assert_allclose(found.decision_function(X), scores, atol=1e-4 * np.abs(scores).max())
    assert len({id(one) for one in models}) == len(points)
    with pytest.raises(NotFittedError):
        model.predict(X)


@pytest.mark.parametrize("name", PREPARED)
def test_samples_are_prepared_once(name, data):
    (model, grid), (of, step, times) = METHODS[name], PREPARED[name]
    with patch.object(of, step, autospec=True, side_effect=getattr(of, step)) as prepare:
        list(model.path(*data, ParameterGrid(grid)))
    assert prepare.call_count == times


def test_a_path_of_landmarks_starts_from_the_point_before(data):
    model, points = MVLSVM(20, random_state=0), [{"c": 1e4}, {"c": 1.01e4}]
    last = [*model.path(*data, points)][1]
    assert last.n_iter_ < model.set_params(c=1.01e4).fit(*data).n_iter_


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("point", [{"kernel": "linear"}, 10.0])
def test_a_point_changes_only_what_needs_no_other_preparation(name, point, data):
    with pytest.raises(ValueError, match=rf"points must be .*, got {re.escape(repr(point))}\."):
        METHODS[name][0].path(*data, [{}, point])
