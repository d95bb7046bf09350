"""Errata and remarks of MwMvC2 beyond their scripts and the tests of the method."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import ranksums, wilcoxon

from mvref.experiments import read_paper_numbers
from mvref.mwmvc2.weights import learn_weights
from mvref.theory.bregman import (
    auxiliary_bound,
    guaranteed_decrease,
    logistic_loss,
    optimal_delta,
    weighted_votes,
)
from tests.literal_mwmvc2 import margins

# Table 1 as printed: a table of data sets and methods for each measure
TABLE = read_paper_numbers("mwmvc2").query("item == 'table1' and method != '' and dataset != ''")
TABLE = {
    measure: rows.pivot(index="dataset", columns="method", values="value")
    for measure, rows in TABLE.groupby("measure")
}


def random_votes(seed, m=80, sizes=(3, 4, 2), p=0.62):
    """Votes that are right with probability p: not separable, gains without ties."""
    rng = np.random.default_rng(seed)
    rng.random(m)  # draws for the labels, which the entries y h contain already
    return [np.where(rng.random((m, n)) < p, 1.0, -1.0) for n in sizes]


def test_B1_eq_10_has_no_square_and_a_plus():
    """W+ = 3, W- = 1.2: only the corrected form has Eq. (11) as its minimum, at step 8's delta."""
    Ms, q = [np.repeat([[1.0], [-1.0]], [4, 2], axis=0)], np.repeat([0.75, 0.6], [4, 2])
    W_plus, W_minus = weighted_votes(Ms, q)
    assert_allclose([W_plus[0], W_minus[0]], [[3.0], [1.2]])
    delta = optimal_delta(W_plus, W_minus)
    eq_11 = -guaranteed_decrease(Ms, [1.0], q)
    assert_allclose(eq_11, -0.405267, atol=5e-7)
    assert_allclose(auxiliary_bound(Ms, [1.0], q, delta), eq_11, rtol=1e-12)
    printed = auxiliary_bound(Ms, [1.0], q, delta, version="printed")
    assert_allclose(printed, -3.240, atol=1e-12)
    assert_allclose(printed, -((W_plus[0] - W_minus[0]) ** 2).item())  # and that is no accident


def test_B2_three_copies_can_overshoot():
    """Right on 3000 of 3001 samples; two copies reach the infimum in one step."""
    M = np.r_[np.ones(3000), -1.0][:, None]
    losses = learn_weights([np.tile(M, (1, 3))], max_iter=3, update="paper", smoothing=1e-15)
    assert_allclose(losses.loss_curve, [941.1, 11.540, 12.015, 9.299], rtol=1e-4)
    infimum = 3000 * np.log(3001 / 3000) + np.log(3001)
    losses = learn_weights([np.tile(M, (1, 2))], max_iter=1, update="paper", smoothing=1e-15)
    assert_allclose(losses.loss_curve[-1], infimum, rtol=1e-9)


def test_B5_the_minimiser_is_not_unique_and_may_not_exist():
    Ms = random_votes(0)
    rho, pi = np.array([0.5, 0.25, 0.25]), [np.ones(3), np.ones(4), np.ones(2)]
    other = np.array([0.25, 0.5, 0.25])
    moved = [pi[v] * rho[v] / other[v] for v in range(3)]
    assert_allclose(margins(Ms, rho, pi), margins(Ms, other, moved))
    # one voter that is always right: the loss has infimum 0 and is positive for all weights
    assert logistic_loss(np.ones(4)) > logistic_loss(np.full(4, 10.0)) > logistic_loss([99.0]) > 0


def test_B5_the_loss_is_not_jointly_convex():
    """Two views that agree: both ends have margin 1, the middle has margin -1."""
    M = [np.ones((1, 1))] * 2
    ends = [([1.0, 0.0], [[1.0], [-3.0]]), ([0.0, 1.0], [[-3.0], [1.0]])]
    middle = ([0.5, 0.5], [[-1.0], [-1.0]])
    at_ends = [logistic_loss(margins(M, rho, pi)) for rho, pi in ends]
    assert_allclose(at_ends, np.log1p(np.exp(-1)))
    assert logistic_loss(margins(M, *middle)) > np.mean(at_ends) + 0.5


def test_B7_the_constraints_do_not_depend_on_rho():
    """P: V vectors of constraints, sum_v n_v numbers, from which rho drops out unless it is 0."""
    Ms = random_votes(0, m=20)
    M = np.hstack(Ms)
    scaled = np.hstack([rho_v * M_v for rho_v, M_v in zip((0.2, 0.3, 0.5), Ms, strict=True)])
    assert np.linalg.matrix_rank(M) == np.linalg.matrix_rank(scaled) == 9 > len(Ms)
    assert np.linalg.matrix_rank(np.hstack([M, scaled])) == 9  # the same linear space


def test_B10_pi_is_not_a_vote_of_positive_weights():
    Ms = random_votes(0, p=0.8)
    Ms[1][:, 0] *= -1  # a voter below chance
    pi = learn_weights(Ms, max_iter=1, update="paper", smoothing=0).pi
    assert pi[1][0] < 0
    assert all(abs(sum(weights) - 1) > 0.1 for weights in pi)


FUSED = ["Fusion", "MVMV", "MVWAB", "RBoostSH", "MwMvC2"]


@pytest.mark.parametrize("measure", ["accuracy", "f1"])
def test_B12_rboost_is_the_worst_of_the_votes_on_mnist1(measure):
    """Two readings in which the sentence is true, and the one in which it is not."""
    table = TABLE[measure]
    assert table.loc["mnist1", FUSED].idxmin() == "RBoostSH"
    assert table["RBoostSH"].idxmin() == "mnist1"
    assert (table.idxmin(axis=1) == "MVMLsp").all()


def share_significant(method, measure, n_draws=500):
    """Share of simulated tables in which the rank-sum test of 20 splits gives p < .02."""
    rng = np.random.default_rng(1)
    first, second = (
        (TABLE[measure].loc["reuters", name], TABLE[f"{measure}_std"].loc["reuters", name])
        for name in (method, "MwMvC2")
    )
    p = [ranksums(rng.normal(*first, 20), rng.normal(*second, 20)).pvalue for _ in range(n_draws)]
    return np.mean(np.array(p) < 0.02)


def test_B14_a_missing_arrow_in_table_1():
    """Reuters: F1 of MVWAB should be marked if +- is a standard deviation; rBoost.SH's not."""
    assert TABLE["f1_arrow"].loc["reuters", ["MVWAB", "RBoostSH"]].tolist() == [0, 1]
    assert share_significant("MVWAB", "f1") > 0.95
    assert share_significant("RBoostSH", "f1") > 0.85
    assert TABLE["accuracy_arrow"].loc["reuters", "RBoostSH"] == 0
    assert share_significant("RBoostSH", "accuracy") < 0.1


def test_B15_the_splits_are_paired():
    """A small gain on every split: the signed-rank test sees it, the rank-sum test does not."""
    rng = np.random.default_rng(0)
    first = rng.normal(0.80, 0.012, size=20)  # splits differ in difficulty
    second = first + 0.003 + rng.normal(0, 0.001, size=20)
    assert ranksums(first, second).pvalue > 0.02
    assert wilcoxon(first, second).pvalue < 1e-3
