"""Checks of anybody's estimator: ours pass, and every check finds the fault that it is for."""

import re
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import check_is_fitted

import mvref
from mvref import (
    MVLSVM,
    MultiView,
    MVMRegressor,
    PatternClassifier,
    PerViewClassifier,
    check_multiview_estimator,
)
from mvref.core import estimator_checks
from mvref.core.base import MultiViewClassifier
from mvref.core.input import Weighted
from tests.literal import toy_views


@pytest.mark.parametrize(
    "estimator",
    [
        MVLSVM(n_landmarks=10),
        mvref.MwMvC2(),
        mvref.MVPO(),
        mvref.MVMClassifier(n_factors=2),
        MVMRegressor(n_factors=2),
        mvref.MVNAKMHKS(),
        mvref.rivals.MVMV(),
        PerViewClassifier(),
        PatternClassifier(),
        mvref.PerViewRegressor(),
    ],
    ids=lambda e: type(e).__name__,
)
def test_ours_pass(estimator):
    assert check_multiview_estimator(estimator) == {}


class Means(Weighted, MultiViewClassifier):
    """Sound: the class with the nearer mean of all columns."""

    _learnt = "means_"

    def __init__(self, *, views=None, random_state=None):
        self.views, self.random_state = views, random_state

    def _check_parameters(self):
        pass

    def _fit(self, X, codes, weights):
        w = np.ones(len(codes)) if weights is None else weights
        self.means_ = [np.average(filled(X)[codes == k], 0, w[codes == k]) for k in (0, 1)]

    def _scores(self, X):
        far = [((filled(X) - mean) ** 2).sum(axis=1) for mean in self.means_]
        return (far[0] - far[1])[:, None]


def filled(X):
    table = X.concat()
    return np.nan_to_num(table if isinstance(table, np.ndarray) else table.toarray())


def test_a_sound_one_passes():
    assert check_multiview_estimator(Means()) == {}


class NoViews(Means):
    def __init__(self, *, views=(3, 2), random_state=None):
        self.views, self.random_state = views, random_state


class ReturnsNothing(Means):
    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)


class AnswersUnfitted(Means):
    def predict(self, X):
        if not hasattr(self, "means_"):
            return np.zeros(len(X))
        return super().predict(X)


class OtherForFlat(Means):
    def _scores(self, X):
        return super()._scores(X) + (0 if self.views is None else 1)


class ByPosition(Means):
    def decision_function(self, X):
        return super().decision_function(list(dict(X).values()) if isinstance(X, dict) else X)

    def predict(self, X):
        return super().predict(list(dict(X).values()) if isinstance(X, dict) else X)


class DropsIds(Means):
    def fit(self, X, y, sample_weight=None):
        return super().fit(X, np.asarray(y), sample_weight)


class FirstAtZero(Means):
    def predict(self, X):
        return self.classes_[(self.decision_function(X) > 1.0).astype(int)]


class LosesGaps(Means):
    def _scores(self, X):
        return np.where(X.observed.all(axis=1), super()._scores(X)[:, 0], np.nan)[:, None]


class OtherWhenSparse(Means):
    def _scores(self, X):
        return super()._scores(X) * (1 if isinstance(X.views[0], np.ndarray) else 2)


class Together(Means):
    def _scores(self, X):
        return super()._scores(X) - super()._scores(X).mean()


class TakesInfinity(Means):
    def fit(self, X, y, sample_weight=None):
        if isinstance(X, list):
            X = [np.nan_to_num(view, posinf=1.0) for view in X]
        return super().fit(X, y, sample_weight)


class OnesAreTwos(Means):
    def _fit(self, X, codes, weights):
        super()._fit(X, codes, weights)
        self.means_[0] = self.means_[0] + (weights is not None)


class Draws(Means):
    def _fit(self, X, codes, weights):
        super()._fit(X, codes, weights)
        self.means_[0] = self.means_[0] + np.random.random_sample()  # noqa: NPY002


class Forgets(Means):
    def __getstate__(self):
        return super().__getstate__() | {"means_": [0.0, 1.0]}


class NoSearch(Means):
    def score(self, X, y, sample_weight=None):
        return np.nan


FAULTS = {
    "check_constructor": NoViews,
    "check_kind": ReturnsNothing,
    "check_not_fitted": AnswersUnfitted,
    "check_input_forms": OtherForFlat,
    "check_views_by_name": ByPosition,
    "check_ids": DropsIds,
    "check_labels": FirstAtZero,
    "check_missing_views": LosesGaps,
    "check_sparse_views": OtherWhenSparse,
    "check_samples_alone": Together,
    "check_bad_input": TakesInfinity,
    "check_weights": OnesAreTwos,
    "check_seed": Draws,
    "check_pickle": Forgets,
    "check_model_selection": NoSearch,
}


def test_the_recipe_of_the_reference_passes_with_gaps_and_sparse_views(capsys, monkeypatch):
    page = Path(__file__).parents[2] / "book/reference/input.md"
    (recipe,) = re.findall(r"(?s)```python\n(.*?)```", page.read_text())
    assert len(recipe.splitlines()) <= 44  # forty, and the blanks between classes
    module = ModuleType("recipe")
    monkeypatch.setitem(sys.modules, "recipe", module)  # where pickle looks
    names = vars(module)
    exec(recipe, names)
    assert capsys.readouterr().out == "{}\n"
    check_estimator(names["NearestMeans"]())
    views, y = toy_views(0, m=60, widths=(3, 2), n_classes=3, noise=0.5)
    X = MultiView(views).drop_views(0.3, random_state=0)
    assert names["NearestMeans"]().fit(X, y).score(X, y) > 0.8
    assert names["NearestMeans"](shrink=1).fit(X, y).score(X, y) < 0.5


def test_every_check_has_a_fault():
    assert list(FAULTS) == [check.__name__ for check in estimator_checks.CHECKS]


@pytest.mark.parametrize("check", FAULTS)
def test_a_fault_is_found_by_its_check(check):
    told = check_multiview_estimator(FAULTS[check](), on_fail="tell")
    promise = " ".join(getattr(estimator_checks, check).__doc__.split())
    assert told[check].startswith(promise) and "Found: " in told[check]
    with pytest.raises(AssertionError, match=f"^({'|'.join(told)}): "):
        check_multiview_estimator(FAULTS[check]())


class Foreign(ClassifierMixin, BaseEstimator):
    """Somebody's, without any of our machinery: arrays in a list only."""

    def __init__(self, views=None):
        self.views = views

    def fit(self, X, y):
        self.model_ = LogisticRegression().fit(np.hstack(list(X)), y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        check_is_fitted(self)
        return self.model_.predict(np.hstack(list(X)))


def test_of_a_foreign_one_all_that_fails_is_told():
    told = check_multiview_estimator(Foreign(), on_fail="tell")
    assert {"check_input_forms", "check_ids", "check_model_selection"} <= set(told)
    assert all(len(sentence) < 500 for sentence in told.values())


def test_wrong_calls():
    with pytest.raises(ValueError, match="on_fail must be 'raise' or 'tell', got 'warn'"):
        check_multiview_estimator(Means(), on_fail="warn")
