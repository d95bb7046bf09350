"""Measures of MVPO: their definitions, agreement with scikit-learn, and the macro average."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import (
    f1_score,
    fbeta_score,
    precision_recall_curve,
    precision_score,
    recall_score,
    roc_auc_score,
)

from mvref.core.measures import (
    auroc,
    auroc_loss,
    error_loss,
    f_beta,
    f_beta_loss,
    macro_average,
    one_vs_rest,
    prbep_loss,
    precision_recall_break_even,
)
from tests import literal_mvpo as literal

BETAS = (0.1, 0.5, 1, 2, 5)
LABELS = st.lists(st.sampled_from([1, -1]), min_size=2, max_size=30)
SMALL_LABELS = st.lists(st.sampled_from([1, -1]), min_size=2, max_size=6)
FEW_SCORES = st.integers(-2, 2)  # many ties


def scores_for(data, y, elements=FEW_SCORES):
    return data.draw(st.lists(elements, min_size=len(y), max_size=len(y)))


@pytest.mark.parametrize("beta", BETAS)
@given(y=LABELS, data=st.data())
def test_f_beta_is_that_of_scikit_learn(beta, y, data):
    assume(1 in y)
    prediction = scores_for(data, y, st.sampled_from([1, -1]))
    expected = fbeta_score(y, prediction, beta=beta, zero_division=0)
    assert_allclose(f_beta(y, prediction, beta=beta), expected, atol=1e-14)
    assert_allclose(1 - f_beta(y, prediction, beta), literal.f_beta_loss(y, prediction, beta))


@pytest.mark.parametrize("beta", [0.1, 0.3, 1 / 3, 1, 3.3, 1e-50, 1e50])
def test_ends_of_f_beta_are_exact(beta):
    """Perfect is 1 and useless is 0 to the last bit, also where beta^2 is not a round number."""
    for n in (3, 7, 49):
        y = np.arange(n) % 3 == 0
        assert f_beta(y, y, beta) == 1
        assert f_beta(y, ~y, beta) == f_beta(y, np.zeros(n), beta) == 0


def test_default_is_f1_and_extreme_betas_are_precision_and_recall():
    y, prediction = [1, 1, 1, 0, 0], [1, 0, 0, 1, 0]
    assert f_beta(y, prediction) == pytest.approx(f1_score(y, prediction))
    assert f_beta(y, prediction, 1e-50) == pytest.approx(precision_score(y, prediction))
    assert f_beta(y, prediction, 1e50) == pytest.approx(recall_score(y, prediction))


@pytest.mark.parametrize("encode", [lambda y: y > 0, lambda y: y, lambda y: (y > 0) * 1.0])
def test_labels_may_be_written_in_three_ways(encode):
    y = np.array([1, 1, -1, -1, 1])
    prediction, scores = np.array([1, -1, 1, -1, 1]), np.array([0.3, 0.1, 0.4, 0.0, 0.9])
    assert f_beta(encode(y), encode(prediction)) == f_beta(y, prediction) == pytest.approx(2 / 3)
    assert precision_recall_break_even(encode(y), scores) == pytest.approx(2 / 3)
    assert auroc(encode(y), scores) == pytest.approx(4 / 6)


@given(y=SMALL_LABELS, data=st.data())
def test_prbep_is_the_mean_over_all_orders_of_ties(y, data):
    assume(1 in y)
    s = scores_for(data, y)
    expected = literal.prbep_over_all_orders(y, s)
    assert_allclose(precision_recall_break_even(y, s), expected, atol=1e-14)


@given(seed=st.integers(0, 2**32 - 1))
def test_prbep_is_where_precision_meets_recall(seed):
    """Without ties: the point of scikit-learn's curve with P predicted positives."""
    rng = np.random.default_rng(seed)
    y = np.concatenate([[1, 0], rng.integers(0, 2, size=25)])
    s = rng.normal(size=27) + y
    value = precision_recall_break_even(y, s)
    called = s >= np.sort(s)[-y.sum()]
    assert_allclose(value, precision_score(y, called))
    assert_allclose(value, recall_score(y, called))
    precision, recall, _ = precision_recall_curve(y, s)
    assert np.min(np.abs(precision - value) + np.abs(recall - value)) < 1e-12


def test_prbep_of_equal_scores_is_the_share_of_positives_and_needs_no_negative():
    assert precision_recall_break_even([1, 0, 0, 0, 1], [7.0] * 5) == pytest.approx(0.4)
    assert precision_recall_break_even([1, 1], [0.1, 0.2]) == 1


@given(y=LABELS, data=st.data())
def test_auroc_is_that_of_scikit_learn_and_of_the_pairs(y, data):
    assume(1 in y and -1 in y)
    s = scores_for(data, y)
    assert_allclose(auroc(y, s), roc_auc_score(y, s), atol=1e-14)
    assert_allclose(1 - auroc(y, s), literal.auroc_loss(y, s), atol=1e-14)


def test_auroc_of_many_samples():
    """Counts of pairs beyond 32 bits; and a curve that is known: F(x) = x, G(x) = x^2."""
    n = 200_000
    u = (np.arange(n) + 0.5) / n
    y = np.repeat([0, 1], n)
    s = np.concatenate([u, np.sqrt(u)])
    assert_allclose(auroc(y, s), 2 / 3, atol=1e-5)


@pytest.mark.parametrize("beta", BETAS)
def test_losses_of_all_tables(beta):
    """Every table of 4 positives and 3 negatives, against the measures of a tuple that has it."""
    P, N = 4, 3
    y = [1] * P + [-1] * N
    a, b = np.divmod(np.arange((P + 1) * (N + 1)), N + 1)
    made = [[1] * i + [-1] * (P - i) + [1] * j + [-1] * (N - j) for i, j in zip(a, b, strict=True)]
    exact = {"rtol": 0, "atol": 1e-15}
    f_losses = [literal.f_beta_loss(y, p, beta) for p in made]
    assert_allclose(f_beta_loss(a, b, P, beta), f_losses, **exact)
    assert_allclose(error_loss(a, b, P, N), [literal.error_loss(y, p) for p in made], **exact)
    top = np.flatnonzero(a + b == P)
    assert_allclose(prbep_loss(a[top], P), [literal.prbep_loss(y, made[i]) for i in top], **exact)
    assert_allclose(auroc_loss(np.arange(4), 3, 2), [0, 1 / 6, 2 / 6, 3 / 6], **exact)


def multiclass(seed=0, n=60, K=4):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % K)
    return y, rng.normal(size=(n, K)) + np.eye(K)[y]


def test_macro_average_is_that_of_scikit_learn():
    """Of classes, and of several labels per sample in both codings."""
    y, scores = multiclass()
    predicted = scores.argmax(axis=1)
    expected = f1_score(y, predicted, average="macro")
    assert macro_average(f_beta, y, one_vs_rest(predicted, range(4))) == pytest.approx(expected)
    several = np.random.default_rng(1).integers(0, 2, size=(60, 4))
    for Y, indicator in ((y, np.eye(4)[y]), (several, several), (2 * several - 1, several)):
        expected = roc_auc_score(indicator, scores + indicator, average="macro")
        assert macro_average(auroc, Y, scores + indicator) == pytest.approx(expected)
        expected = fbeta_score(indicator, scores >= 0, beta=2, average="macro")
        assert macro_average(f_beta, Y, scores >= 0, beta=2) == pytest.approx(expected)


def test_macro_average_is_the_mean_over_the_classes():
    y, scores = multiclass()
    values = [precision_recall_break_even(y == k, scores[:, k]) for k in range(4)]
    assert len(set(values)) > 1
    assert macro_average(precision_recall_break_even, y, scores) == pytest.approx(np.mean(values))


def test_columns_follow_the_classes_that_are_given():
    y, scores = multiclass()
    names = np.array(["d", "b", "a", "c"])  # column k is class names[k], not in sorted order
    expected = macro_average(auroc, y, scores)
    assert macro_average(auroc, names[y], scores, classes=names) == pytest.approx(expected)
    assert macro_average(auroc, names[y], scores) != pytest.approx(expected)


def test_both_classes_of_two_count():
    y = np.array([1, 1, 0, 0, 0, 0])
    prediction = np.array([1, 0, 0, 0, 0, 1])
    columns = one_vs_rest(prediction)
    assert macro_average(f_beta, y, columns) == pytest.approx((0.5 + 0.75) / 2)


def test_one_vs_rest():
    assert_array_equal(one_vs_rest([3, 1, 3]), [[False, True], [True, False], [False, True]])
    assert one_vs_rest(["a"], classes=["b", "a"]).tolist() == [[False, True]]


def test_undefined_measures_are_errors():
    """scikit-learn warns here and returns 0 or NaN, which a macro average would hide."""
    with pytest.raises(ValueError, match="y_true must hold at least one positive"):
        f_beta([0, 0], [0, 1])
    for measure in (auroc, precision_recall_break_even):
        with pytest.raises(ValueError, match="y_true must hold at least one positive"):
            measure([-1, -1], [0.1, 0.2])
    with pytest.raises(ValueError, match="at least one negative"):
        auroc([1, 1], [0.1, 0.2])
    with pytest.warns(UndefinedMetricWarning):
        assert f1_score([0, 0], [0, 0]) == 0  # the convention that is not followed
    with pytest.raises(ValueError, match="Class 'c': y_true must hold at least one positive"):
        macro_average(auroc, ["a", "b"], np.eye(3)[:2], classes=["a", "b", "c"])


@pytest.mark.parametrize(
    "y, prediction, message",
    [
        ([1, 0, 1], [0.2, 0.9, 0.1], "y_pred must hold labels 0 and 1.*scores >= 0"),
        ([1, 2], [1, 0], "y_true must hold labels 0 and 1"),
        ([1, 0, -1], [1, 0, 0], "y_true must hold labels 0 and 1"),
        (["a", "b"], [1, 0], "y_true must hold labels 0 and 1"),
        ([1, 0], [1, np.nan], "y_pred must hold labels 0 and 1"),
        ([1, 0], [1, 0, 0], "y_pred has 3 labels, but y_true has 2"),
        ([[1, 0]], [1, 0], "y_true must be a list of labels"),
        ([], [], "y_true must be a list of labels"),
    ],
)
def test_bad_labels(y, prediction, message):
    with pytest.raises(ValueError, match=message):
        f_beta(y, prediction)


@pytest.mark.parametrize(
    "y, scores, message",
    [
        ([1, 0], [0.1, np.nan], "scores must be finite"),
        ([1, 0], [0.1, np.inf], "scores must be finite"),
        ([1, 0], [0.1, 0.2, 0.3], "scores must be 2 numbers"),
        ([1, 0], [[0.1, 0.2]], "scores must be 2 numbers"),
        ([1, 0], ["a", "b"], "scores must be 2 numbers"),
        ([1, 2], [0.1, 0.2], "y_true must hold labels"),
    ],
)
def test_bad_scores(y, scores, message):
    for measure in (auroc, precision_recall_break_even):
        with pytest.raises(ValueError, match=message):
            measure(y, scores)


@pytest.mark.parametrize("beta", [0, -1, np.nan, np.inf, "1", True, None])
def test_bad_beta(beta):
    for call, arguments in ((f_beta, ([1, 0], [1, 0])), (f_beta_loss, (1, 0, 1))):
        with pytest.raises(ValueError, match="beta must be a number"):
            call(*arguments, beta=beta)


@pytest.mark.parametrize(
    "Y, scores, classes, message",
    [
        ([0, 1], [0.1, 0.2], None, "scores must have one row per sample and one column per class"),
        ([0, 1], np.eye(3), None, r"scores must have .* \(2, 2\), got .* \(3, 3\)"),
        (np.eye(2), np.eye(3), None, "scores must have one row per sample"),
        (np.eye(2), np.eye(2), ["a", "b"], "indicator matrix without classes"),
        (np.zeros((2, 2, 2)), np.eye(2), None, "Y must be a list of class labels"),
        (np.zeros((0, 2)), np.zeros((0, 2)), None, "Y must be a list of class labels"),
        ([], np.eye(2), None, "y must be a list of class labels"),
        (["a", "b"], np.eye(2), ["a", "c"], r"y holds 'b', which is not in classes, \['a', 'c'\]"),
        (["a", "b"], np.eye(2), ["a", "a"], "classes must be different labels"),
        (np.array([[0, 2], [1, 0]]), np.eye(2), None, "Class 1: y_true must hold labels"),
    ],
)
def test_bad_tables_of_classes(Y, scores, classes, message):
    with pytest.raises(ValueError, match=message):
        macro_average(auroc, Y, scores, classes=classes)
