"""Validation shared by all estimators: shapes learnt in fit, labels, numbers and choices."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator

from mvref import MVLSVM, MultiView
from mvref.core.base import one_against_rest
from mvref.core.input import (
    check_choice,
    check_number,
    validate_numbers,
    validate_targets,
    validate_views,
)
from mvref.core.input.labels import sample_weights
from tests.literal import toy_views


class Dummy(BaseEstimator):
    """An estimator with nothing but the parameter `views`."""

    def __init__(self, views=None):
        self.views = views


NAN = np.nan
VIEWS, Y = toy_views(0, m=30, widths=(3, 2))
FLAT = np.hstack(VIEWS)
FRAME = pd.DataFrame(FLAT, columns=list("abcde"))


@pytest.mark.parametrize("names", ["ab", ["view_left", "view_right"], [1, 0]])
def test_names_given_in_another_order_do_not_swap_views(names):
    """Views of equal width under their names."""
    dummy, A, B = Dummy(), VIEWS[0], VIEWS[0] + 1.0
    validate_views(dummy, dict(zip(names, (A, B), strict=True)), reset=True)
    table = validate_views(dummy, dict(zip(names[::-1], (B, A), strict=True)), reset=False)
    assert_array_equal(table.concat(), np.hstack([A, B]))


def test_views_without_names_are_taken_by_position_and_other_names_are_refused():
    model = MVLSVM(5, random_state=0).fit({"a": VIEWS[0], "b": VIEWS[1]}, Y)
    expected = model.decision_function({"a": VIEWS[0], "b": VIEWS[1]})
    assert_allclose(model.decision_function(VIEWS), expected, rtol=1e-12)
    assert_allclose(model.decision_function(FLAT), expected, rtol=1e-12)
    with pytest.raises(ValueError, match=r"\['a', 'c'\].*\['a', 'b'\]"):
        model.predict({"a": VIEWS[0], "c": VIEWS[1]})


def test_a_refit_on_views_forgets_the_names_of_the_columns_of_a_table():
    dummy = Dummy([list("abc"), list("de")])
    validate_views(dummy, FRAME, reset=True)
    assert_array_equal(dummy.feature_names_in_, list("abcde"))
    validate_views(dummy.set_params(views=None), VIEWS, reset=True)
    assert not hasattr(dummy, "feature_names_in_")


def test_the_projection_inside_a_model_cuts_a_flat_table_as_the_model_does():
    """With interleaved columns a cut by widths would mix the views up silently."""
    model = MVLSVM(5, views=[[0, 2, 4], [1, 3]], random_state=0).fit(FLAT, Y)
    expected = model.projection_.transform(MultiView.from_array(FLAT, model.views))
    try:
        Phi = model.projection_.transform(FLAT)
    except ValueError:
        return  # refusing is as good
    assert_array_equal(Phi, expected)


FORMS_OF_LABELS = {
    "array": np.array,
    "list": list,
    "column": lambda y: y[:, None],
    "series": pd.Series,
    "category": lambda y: pd.Series(y, dtype="category"),
    "index": pd.Index,
    "matrix": lambda y: np.asmatrix(y).T if y.dtype.kind != "O" else y,
    "polars": lambda y: pytest.importorskip("polars").Series(y.tolist()),
    "Arrow": lambda y: pytest.importorskip("pyarrow").array(y.tolist()),
    "nullable": lambda y: pd.Series(pd.array(y)),
    "objects": lambda y: y.astype(object),
    "NumPy's numbers as objects": lambda y: np.array(list(y), dtype=object),
    "NumPy's strings": lambda y: y.astype("T") if y.dtype.kind == "U" else y,
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
@pytest.mark.parametrize("form", FORMS_OF_LABELS)
@pytest.mark.parametrize("labels", [["b", "a"], [True, False], [7, -3], [2.0, 1.0], "objects"])
def test_labels_of_any_type(labels, form):
    dummy = Dummy()
    labels = np.array(["b", "a"], dtype=object) if labels == "objects" else np.array(labels)
    codes = validate_targets(dummy, FORMS_OF_LABELS[form](labels[[0, 1, 0, 0]]), 4)
    assert_array_equal(codes, [1, 0, 1, 1])
    assert_array_equal(dummy.classes_, np.sort(labels))
    assert dummy.classes_.dtype.kind in ("UO" if isinstance(labels[0], str) else labels.dtype.kind)


MISSING = {
    "list": [None, "a", "b", "a"],
    "words and NaN": ["a", NAN, "b", "a"],
    "objects": np.array(["a", "b", NAN, "a"], dtype=object),
    "masked": np.ma.masked_array([1, 2, 1, 2], [0, 0, 1, 0]),
    "masked words": np.ma.masked_array(["a", "b", "a", "b"], [0, 0, 1, 0]),
    "integers": pd.array([1, 2, pd.NA, 1]),
    "Booleans": pd.array([True, False, None, True]),
    "strings": pd.Series(["a", None, "b", "a"], dtype="string"),
    "category": pd.Series(["a", None, "b", "a"], dtype="category"),
    "dates": pd.Series([pd.Timestamp("2026-01-05"), pd.NaT] * 2),
    "column": pd.DataFrame({"y": ["a", None, "b", "a"]}),
    "floats": [0.0, NAN, 1.0, 1.0],
}


@pytest.mark.parametrize("y", MISSING.values(), ids=MISSING)
def test_labels_that_are_missing(y):
    with pytest.raises(
        ValueError, match="y must have a label for every sample, got 1 missing|got 2 "
    ):
        validate_targets(Dummy(), y, 4)


@pytest.mark.parametrize(
    ("y", "told"),
    [
        ([{"a": 1}] * 4, "put in order"),
        ([[1, 2], [3], [4], [5]], "one label for each"),
        (np.array(1), "1d array"),
        ({0, 1}, "1d array"),
        ([0, "a", 0, "a"], "labels of one type"),
    ],
)
def test_labels_that_are_none(y, told):
    with pytest.raises(ValueError, match=told):
        validate_targets(Dummy(), y, 4)


@pytest.mark.parametrize(
    ("weights", "told"),
    [
        (np.arange(1, 5).astype("m8[s]"), "real numbers, got dates"),
        (pd.date_range("2026", periods=4), "real numbers, got dates"),
        (np.full(4, 1e-320), "at least one non-zero number"),
        (np.ma.masked_array(np.ones(4), [0, 0, 1, 0]), "got masked ones"),
    ],
)
def test_weights_that_are_none(weights, told):
    with pytest.raises(ValueError, match=told):
        sample_weights(Dummy(), np.array([0, 1, 0, 1]), weights)


def test_numbers_that_are_dates():
    with pytest.raises(ValueError, match=r"y must hold numbers, got \[datetime"):
        validate_numbers(Dummy(), np.arange(1, 5).astype("m8[s]"), 4)


@pytest.mark.parametrize("weights", [[1e-300, 1, 1, 1], [1e300, 1, 1, 1]])
def test_products_of_weights_stay_numbers(weights):
    dummy = Dummy()
    dummy.class_weight = {0: 1e-300, 1: 1e300}
    with pytest.raises(ValueError, match="sample_weight times class_weight .* nearer to 1"):
        sample_weights(dummy, np.array([int(weights[0] > 1), 0, 1, 1]), weights)


def test_two_classes_are_one_problem_and_more_are_one_each():
    codes = np.array([0, 2, 1, 0])
    for k, signs in enumerate(one_against_rest(codes, 3)):
        assert signs.tolist() == [1.0 if code == k else -1.0 for code in codes]
    assert one_against_rest(np.array([0, 1, 1]), 2).tolist() == [[-1.0, 1.0, 1.0]]
    part = one_against_rest(np.array([1, 1]), 3)  # of a stream: the classes are known, not all here
    assert part.tolist() == [[-1.0, -1.0], [1.0, 1.0], [-1.0, -1.0]]


@pytest.mark.parametrize("value", [0, 1, 0.5, np.float32(0.5), np.int64(1)])
def test_numbers_in_a_closed_interval(value):
    assert check_number(value, "p", low=0, high=1) is value


@pytest.mark.parametrize("value", [-1e-9, 1.1, np.nan, np.inf, "0.5", None, True, [0.5], 1j])
def test_numbers_outside(value):
    with pytest.raises(ValueError, match="^p must be a number >= 0 and <= 1, got "):
        check_number(value, "p", low=0, high=1)


def test_open_ends_and_integers():
    with pytest.raises(ValueError, match="p must be a number > 0, got 0"):
        check_number(0, "p", low=0, low_open=True)
    with pytest.raises(ValueError, match="p must be an integer >= 1, got 2.0"):
        check_number(2.0, "p", low=1, integer=True)
    assert check_number(np.int8(2), "p", low=1, integer=True) == 2


def test_choices():
    assert check_choice("a", "p", ("a", "b")) == "a"
    for wrong in ("c", None, ["a"], 1):
        with pytest.raises(ValueError, match=r"p must be one of \['a', 'b'\], got "):
            check_choice(wrong, "p", ("a", "b"))


@pytest.mark.parametrize("view", [0, 1])
def test_partly_missing_rows_are_counted(view):
    views = [v.copy() for v in VIEWS]
    views[view][4, 0] = views[view][9, 1] = np.nan
    with pytest.raises(ValueError, match=f"NaN in view 'view_{view}': 2"):
        validate_views(Dummy(), views, reset=True)
    validate_views(Dummy(), views, reset=True, raw=True)
