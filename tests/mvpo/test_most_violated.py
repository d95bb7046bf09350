"""Eq. (16): the fast argmax is that of all label tuples, of all pairs, and of all tables."""

import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from mvref.core.measures import auroc, f_beta, precision_recall_break_even
from mvref.mvpo.most_violated import auroc_argmax, error_argmax, f_beta_argmax, prbep_argmax
from tests import literal_mvpo as literal

BETAS = (0.1, 0.25, 0.5, 1, 2, 5)
ARGMAX = {f"F{beta}": partial(f_beta_argmax, beta=beta) for beta in BETAS} | {
    "prbep": prbep_argmax,
    "auroc": auroc_argmax,
    "error": error_argmax,
}
every_measure = pytest.mark.parametrize("name", ARGMAX)


def by_enumeration(name, s, y):
    """The largest value over all tuples, or all pair labels."""
    if name == "auroc":
        return literal.best_pairs_value(s, y)
    if name == "prbep":
        return literal.best_tuple_value(s, y, literal.prbep_loss, literal.as_many_positives)
    if name == "error":
        return literal.best_tuple_value(s, y, literal.error_loss)
    return literal.best_tuple_value(s, y, partial(literal.f_beta_loss, beta=float(name[1:])))


def loss_of(name, c, y):
    """Delta of the tuple y' = y - c, which must be one; for AUROC the swapped pairs."""
    if name == "auroc":
        P = y.count(1)
        return sum(k for k, label in zip(c, y, strict=True) if label == 1) / (P * (len(y) - P))
    prediction = [label - int(k) for label, k in zip(y, c, strict=True)]
    assert set(prediction) <= {-1, 1}
    if name == "prbep":
        assert sum(prediction) == sum(y)
        return literal.prbep_loss(y, prediction)
    if name == "error":
        return literal.error_loss(y, prediction)
    return literal.f_beta_loss(y, prediction, float(name[1:]))


def assert_is_best(name, cut, s, y, best):
    """The three parts of a cut belong together and reach the best value."""
    assert cut.c.dtype == np.int64
    exact = math.fsum([cut.loss] + [-int(k) * s_i for k, s_i in zip(cut.c, s, strict=True)])
    tolerance = 1e-14 * max(1, np.abs(cut.c) @ np.abs(s))
    assert cut.loss == pytest.approx(loss_of(name, cut.c, y), abs=1e-13)
    assert cut.value == pytest.approx(exact, abs=tolerance)
    # Relative to the value, not to the scores: a huge score that does not count must not blur it.
    assert exact == pytest.approx(best, abs=1e-13, rel=1e-12)


def small_problems():
    """Labels and scores of a few samples, with everything that can go wrong."""
    rng = np.random.default_rng(0)
    shapes = [(1, 1), (1, 6), (6, 1), (2, 5), (4, 3), (3, 4), (2, 6), (5, 2)]
    for P, N in shapes + [(5, 5), (3, 7), (1, 9), (9, 1)]:
        y = rng.permutation([1] * P + [-1] * N)
        s = rng.normal(size=P + N)
        yield 0.1 * s / (P + N), y  # small
        yield s / (P + N), y  # of order 1/n
        yield s / (P * N), y  # of order 1/(PN)
        yield np.round(s) / (P + N), y  # ties
        yield 0 * s, y  # zero
        yield 0 * s - 0.125, y  # equal
        yield y * (1 + np.abs(s)), y  # solved
        yield y * np.abs(s) / (P + N), y  # nearly solved
    y = np.array([1, 1, 1, -1, -1, -1])
    yield np.array([1e16, 0.1, 0.05, -0.01, 0.02, -1e16]), y  # huge and sure
    yield np.array([1e16, 0.1, 0.05, -0.01, 0.02, -0.03]), y  # one huge and sure
    yield np.array([-1e16, 0.1, 0.05, -0.01, 0.02, -0.03]), y  # huge and wrong
    yield np.array([1e8, 1e8, 1e8, 1e8, 1e8, 1e8]), y  # huge and equal
    yield np.array([1e8, 0.0, -1e8, 1e8, 0.0, -1e8]), y  # huge groups
    yield 1e-300 * np.array([1.0, -2.0, 3.0, -1.0, 2.0, 1.0]), y  # tiny


@every_measure
def test_reaches_the_largest_value_of_all_tuples(name):
    for s, y in small_problems():
        s, y = s.tolist(), y.tolist()
        if name != "auroc" or y.count(1) * y.count(-1) <= 12:
            assert_is_best(name, ARGMAX[name](s, y), s, y, by_enumeration(name, s, y))


SCORES = st.one_of(
    st.floats(-1, 1),
    st.sampled_from([0.0, 0.5, -0.5, 0.125, -0.125, 0.01, -0.01, 2.0, -2.0]),
    st.floats(-1e6, 1e6),
)


@st.composite
def problems(draw, largest=7, scores=SCORES):
    """Scores and labels of at most `largest` samples, both labels present."""
    n = draw(st.integers(2, largest))
    y = draw(st.permutations([1, -1] + draw(st.lists(st.sampled_from([1, -1]), max_size=n - 2))))
    return draw(st.lists(scores, min_size=len(y), max_size=len(y))), list(y)


@every_measure
@given(problem=problems())
def test_reaches_the_largest_value_of_any_problem(name, problem):
    s, y = problem
    assert_is_best(name, ARGMAX[name](s, y), s, y, by_enumeration(name, s, y))


# ----------------------------------------------------------------------- middle size, O(n^2)


def middle_problems():
    rng = np.random.default_rng(1)
    for n, P in ((120, 12), (120, 60), (120, 108), (150, 2), (150, 149)):
        y = rng.permutation(np.where(np.arange(n) < P, 1, -1))
        for scale in (1e-4, 1e-2, 1.0):
            s = scale * (rng.normal(size=n) + 0.7 * y)
            yield s.tolist(), y.tolist()
            yield (np.round(5 * s / scale) * scale).tolist(), y.tolist()  # ties
            yield (np.abs(s) * y).tolist(), y.tolist()  # all on the right side, all in doubt
            yield np.abs(s).tolist(), y.tolist()  # all predicted positive


@every_measure
def test_equals_the_quadratic_twin(name):
    """Sorting is enough (P9)."""
    for s, y in middle_problems():
        cut = ARGMAX[name](s, y)
        if name == "auroc":
            best, swapped = literal.pair_hinges(s, y)
            assert_array_equal(cut.c, swapped)
        elif name == "prbep":
            best = literal.best_swap_value(s, y)
        elif name == "error":
            best = sum(max(0, 1 / len(y) - 2 * a * b) for a, b in zip(s, y, strict=True))
        else:
            best = literal.best_table_value(s, y, float(name[1:]))
        assert cut.value == pytest.approx(best, abs=1e-11, rel=1e-11)
        assert cut.loss == pytest.approx(loss_of(name, cut.c, y), abs=1e-13)
        assert cut.value >= reported_loss(name, s, y) - 1e-12


def test_a_large_common_part_of_the_scores_does_not_blur_the_value():
    rng = np.random.default_rng(5)
    y = np.where(rng.random(1000) < 0.3, 1, -1)
    s = 1e7 + rng.normal(size=1000) / 1000
    hinges = np.maximum(0, 1 / (y == 1).sum() / (y == -1).sum() - (s[y == 1][:, None] - s[y == -1]))
    assert_allclose(auroc_argmax(s, y).value, math.fsum(hinges.ravel()), rtol=1e-12)
    best = literal.best_swap_value(s.tolist(), y.tolist())
    assert_allclose(prbep_argmax(s, y).value, best, rtol=1e-12)


# ---------------------------------------------------------- what makes it a surrogate of the loss


def reported_loss(name, s, y):
    """Delta of the rule that belongs to the measure: sign, top P, order."""
    if name == "auroc":
        return 1 - auroc(y, s)
    if name == "prbep":
        return 1 - precision_recall_break_even(y, s)
    if name == "error":
        return np.mean((np.asarray(y) > 0) != (np.asarray(s) >= 0))
    return 1 - f_beta(y, np.asarray(s) >= 0, beta=float(name[1:]))


@every_measure
@given(problem=problems(largest=30))
def test_bounds_the_loss_of_the_matching_rule(name, problem):
    s, y = problem
    assert ARGMAX[name](s, y).value >= reported_loss(name, s, y) - 1e-12 * max(1, *np.abs(s))


@every_measure
@given(seed=st.integers(0, 2**32 - 1), step=st.sampled_from([1e-3, 1e-1, 10.0]))
def test_minus_c_is_a_subgradient(name, seed, step):
    """The value is convex in s, being a maximum: v(s') >= v(s) - c'(s' - s)."""
    rng = np.random.default_rng(seed)
    y = np.concatenate([[1, -1], np.where(rng.random(20) < 0.4, 1, -1)])
    s = 0.1 * rng.normal(size=len(y))
    other = s + step * rng.normal(size=len(y))
    here, there = ARGMAX[name](s, y), ARGMAX[name](other, y)
    assert there.value >= here.value - here.c @ (other - s) - 1e-10


@every_measure
def test_solved_problems_have_no_violated_constraint(name):
    y = np.array([1, -1, -1, 1, -1])
    cut = ARGMAX[name](10.0 * y, y)
    assert (cut.value, cut.loss) == (0, 0)
    assert not cut.c.any()


@every_measure
def test_first_cut_of_the_learner(name):
    """At w = 0 the worst loss counts alone: all positives missed, all pairs swapped."""
    y = np.array([1, -1, -1, 1, -1])
    cut = ARGMAX[name](np.zeros(5), y)
    if name == "auroc":
        expected = [3, -2, -2, 3, -2]
    elif name == "prbep":  # the two positives with the first two negatives
        expected = [2, -2, -2, 2, 0]
    elif name == "error":
        expected = 2 * y
    else:  # a = 0 is the worst for every b, and no score speaks for a negative
        expected = [2, 0, 0, 2, 0]
    assert (cut.value, cut.loss) == (1, 1)
    assert_array_equal(cut.c, expected)


# --------------------------------------------------------------------------------- symmetries


# Multiples of 1/8 are added without rounding, so the cut must be the same to the bit.
EIGHTHS = st.integers(-40, 40).map(lambda k: k / 8)


@pytest.mark.parametrize("name", ["prbep", "auroc"])
@given(problem=problems(largest=12, scores=EIGHTHS), shift=st.sampled_from([1.0, -2.5, 1024.0]))
def test_a_constant_added_to_all_scores_changes_nothing(name, problem, shift):
    s, y = problem
    cut, shifted = ARGMAX[name](s, y), ARGMAX[name](np.array(s) + shift, y)
    assert cut.c.sum() == 0
    assert_array_equal(shifted.c, cut.c)
    assert shifted.loss == cut.loss
    assert_allclose(shifted.value, cut.value, atol=1e-12)


@pytest.mark.parametrize("name", ["auroc", "error"])
@given(problem=problems(largest=12, scores=EIGHTHS))
def test_classes_may_be_exchanged(name, problem):
    """Pairs and errors do not know which class is the positive one."""
    s, y = np.array(problem[0]), np.array(problem[1])
    cut, mirrored = ARGMAX[name](s, y), ARGMAX[name](-s, -y)
    assert_array_equal(mirrored.c, -cut.c)
    assert_allclose(mirrored.value, cut.value, atol=1e-12)


@given(arrays(float, 8, elements=st.floats(1e7, 1.1e7)))
def test_auroc_counts_the_same_pairs_from_both_sides(scores):
    """Where 1/(P N) is at the limit of the precision of the scores: c must stay that of pairs."""
    ties = np.array([1e7, np.nextafter(1e7, 0), np.nextafter(1e7, 2e7)])
    s = np.concatenate([1e-2 * scores, ties * 1e8, ties * 1e8])
    y = np.array([1] * 4 + [-1] * 4 + [1] * 3 + [-1] * 3)
    cut = auroc_argmax(s, y)
    assert cut.c.sum() == 0
    difference = s[y == 1][:, None] - s[y == -1]
    assert (cut.c[y == 1] >= (difference <= 0).sum(axis=1)).all()  # ties are swapped


def test_extreme_betas_are_precision_and_recall():
    """beta -> 0: Delta is 1 - precision; beta -> infinity: 1 - recall. All tuples of 7 samples."""
    rng = np.random.default_rng(4)

    def precision_loss(y, prediction):
        a, b, _ = literal.counts(y, prediction)
        return 1 - a / (a + b) if a else 1.0

    def recall_loss(y, prediction):
        a, _, missed = literal.counts(y, prediction)
        return missed / (a + missed)

    for _ in range(10):
        y = rng.permutation([1, 1, 1, -1, -1, -1, -1]).tolist()
        s = (rng.normal(size=7) / 5).tolist()
        low, high = f_beta_argmax(s, y, beta=1e-50), f_beta_argmax(s, y, beta=1e50)
        assert low.value == pytest.approx(literal.best_tuple_value(s, y, precision_loss))
        assert high.value == pytest.approx(literal.best_tuple_value(s, y, recall_loss))


@every_measure
def test_large_scores_do_not_overflow(name):
    assert 1e280 < ARGMAX[name]([1e280, -1e280, -1e280, 1e280], [1, -1, 1, -1]).value < np.inf


# ---------------------------------------------------------------------------------- bad input


@every_measure
@pytest.mark.parametrize(
    "s, y, message",
    [
        ([0.1, 0.2], [1, 1], "y must hold both labels -1 and \\+1, got only 1"),
        ([0.1, 0.2], [-1, -1], "got only -1"),
        ([0.1, 0.2], [0, 1], "y must hold labels -1 and \\+1, got \\[0, 1\\]"),
        ([0.1, 0.2], [True, False], "y must hold labels"),
        ([0.1, 0.2], ["a", "b"], "y must hold labels"),
        ([0.1, 0.2], [1, -1, 1], "y must have one label per score"),
        ([[0.1, 0.2]], [1, -1], "s must be a list of numbers"),
        ([], [], "s must be a list of numbers"),
        (["a", "b"], [1, -1], "s must be a list of numbers"),
        ([0.1, np.nan], [1, -1], "s must hold finite numbers .*got nan"),
        ([0.1, -np.inf], [1, -1], "s must hold finite numbers"),
        ([0.1, 1e290], [1, -1], "s must hold finite numbers .*got 1e\\+290"),
    ],
)
def test_bad_input(name, s, y, message):
    with pytest.raises(ValueError, match=message):
        ARGMAX[name](s, y)


@pytest.mark.parametrize("beta", [0, -1, np.nan, np.inf, "1", True, None, 1e-60])
def test_bad_beta(beta):
    with pytest.raises(ValueError, match="beta must be a number"):
        f_beta_argmax([0.1, 0.2], [1, -1], beta=beta)


@every_measure
def test_integers_and_floats_are_the_same_scores(name):
    """And the input is left alone."""
    s, y = np.array([1.0, 2.0, 0.0, -1.0]), np.array([1.0, -1.0, 1.0, -1.0])
    real, whole = ARGMAX[name](s, y), ARGMAX[name]([1, 2, 0, -1], [1, -1, 1, -1])
    assert_array_equal(whole.c, real.c)
    assert whole.value == real.value
    assert_array_equal(s, [1.0, 2.0, 0.0, -1.0])
    assert_array_equal(y, [1.0, -1.0, 1.0, -1.0])
