"""Errata and remarks B1 to B15 of MwMvC2, each with what it claims."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import linprog, minimize
from scipy.special import expit
from scipy.stats import ranksums, wilcoxon

from mvref.experiments import read_paper_numbers
from mvref.mwmvc2.weights import learn_weights
from mvref.theory.bregman import (
    auxiliary_bound,
    divergence,
    guaranteed_decrease,
    legendre,
    logistic_loss,
    negative_binary_entropy,
    optimal_delta,
    step_scale,
    weighted_votes,
)
from tests.literal_mwmvc2 import literal_monotone, literal_printed, margins, uniform_start

# Table 1 as printed: a table of data sets and methods for each measure
TABLE = read_paper_numbers("mwmvc2").query("item == 'table1' and method != '' and dataset != ''")
TABLE = {
    measure: rows.pivot(index="dataset", columns="method", values="value")
    for measure, rows in TABLE.groupby("measure")
}


def copies(n):
    """One view with n copies of a voter that is right on three samples of four."""
    return [np.tile([[1.0], [1.0], [1.0], [-1.0]], (1, n))]


def disjoint_errors():
    """Three views with one voter each, wrong on one sample of three, each on another."""
    return [1.0 - 2.0 * np.eye(3)[:, [v]] for v in range(3)]


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

    grid = np.linspace(-6, 6, 1201)
    values = [auxiliary_bound(Ms, [1.0], q, [[d]]) for d in grid]
    assert abs(grid[np.argmin(values)] - delta[0][0]) <= 0.005
    far = [auxiliary_bound(Ms, [1.0], q, [[d]], version="printed") for d in (-6, -12, -24)]
    assert far[1] < 1e3 * far[0] < 0 and far[2] < 1e3 * far[1]  # unbounded below


@pytest.mark.parametrize(
    ("n", "losses"),
    [
        (5, ["2.2530", "2.2573"]),
        (10, ["2.2530", "2.3038", "3.3655", "7.41", "72.4"]),
        (40, ["2.2530", "3.17", "103.50"]),
    ],
)
def test_B2_a_full_step_overshoots(n, losses):
    """n copies of one voter take n times the step that is needed; the infimum is 2.2493."""
    Ms = copies(n)
    path = literal_printed(Ms, len(losses) - 1).loss
    for loss, text in zip(path, losses, strict=True):
        assert f"{loss:.{len(text.partition('.')[2])}f}" == text
    assert all(np.diff(path) > 0)
    infimum = 3 * np.log(4 / 3) + np.log(4)
    assert_allclose(infimum, 2.2493, atol=5e-5)
    for step in ("collins", "backtrack"):
        path = literal_monotone(Ms, 8, step=step)
        assert all(np.diff(path.loss) <= 1e-12)
        assert_allclose(path.loss[-1], infimum, atol=1e-5)
    assert_allclose(literal_monotone(Ms, 2, step="collins").loss[1:], [2.2503, 2.2496], atol=5e-5)


def test_B2_three_copies_can_overshoot():
    """Right on 3000 of 3001 samples; two copies reach the infimum in one step."""
    M = np.r_[np.ones(3000), -1.0][:, None]
    losses = learn_weights([np.tile(M, (1, 3))], max_iter=3, update="paper", smoothing=1e-15)
    assert_allclose(losses.loss_curve, [941.1, 11.540, 12.015, 9.299], rtol=1e-4)
    infimum = 3000 * np.log(3001 / 3000) + np.log(3001)
    losses = learn_weights([np.tile(M, (1, 2))], max_iter=1, update="paper", smoothing=1e-15)
    assert_allclose(losses.loss_curve[-1], infimum, rtol=1e-9)


def test_B2_the_condition_is_on_the_rows_and_not_on_the_entries():
    for n in (1, 2):  # n = 2 breaks the condition and still decreases: sufficient, not necessary
        assert np.diff(literal_printed(copies(n), 1).loss)[0] < 0
    for n in (1, 2, 5, 40):  # all entries are -1 or +1
        assert step_scale(copies(n), [1.0]) == n


def test_B3_a_new_rho_breaks_the_bound():
    """One voter a view, so that N = 1 and B2 is not to blame; rho jumps to one view."""
    Ms = disjoint_errors()
    path = literal_printed(Ms, 2, rho_step="vertex")
    assert_allclose(path.loss, [1.6209, 2.0402, 2.4706], atol=5e-5)
    assert_allclose(path.bound[0], -0.0716, atol=5e-5)
    assert_allclose(path.loss[1] - path.loss[0], 0.4193, atol=5e-5)
    kept = literal_printed(Ms, 2, rho_step="keep")
    assert_allclose(kept.loss[1:], [1.4811, 1.3508], atol=5e-5)
    for t, bound in enumerate(kept.bound):  # at fixed rho the bound holds, as N = 1
        assert kept.loss[t + 1] - kept.loss[t] <= bound
    rho, pi = uniform_start(Ms)
    q = expit(-np.array(margins(Ms, rho, pi)))
    assert_allclose(-guaranteed_decrease(Ms, rho, q), kept.bound[0], rtol=1e-12)


def test_B3_without_a_tie_between_the_views():
    """The same with one voter made better, so that Eq. (8) has one solution."""
    Ms = [np.tile(M, (5, 1)) for M in disjoint_errors()]
    Ms[0][0] = 1.0
    path = literal_printed(Ms, 1)
    assert path.rho[1] == [1.0, 0.0, 0.0]
    assert path.loss[1] - path.loss[0] > 1 > 0 > path.bound[0]


@pytest.mark.parametrize("seed", range(3))
def test_B4_step_10_picks_one_view(seed):
    """Whatever the other views' weights are, the printed classifier does not see them."""
    Ms = random_votes(seed)
    path = literal_printed(Ms, 5)
    for rho in path.rho[1:]:
        assert sorted(rho) == [0.0, 0.0, 1.0]
    one = int(np.argmax(path.rho[-1]))
    changed = [pi if v == one else [-7.0 for _ in pi] for v, pi in enumerate(path.pi[-1])]
    z = margins(Ms, path.rho[-1], path.pi[-1])
    assert margins(Ms, path.rho[-1], changed) == z
    assert_allclose(z, Ms[one] @ path.pi[-1][one])
    # the convex step is a mixture on the same problem
    assert sum(weight > 0.05 for weight in literal_monotone(Ms, 5).rho[-1]) > 1


@pytest.mark.parametrize("seed", range(3))
def test_B5_the_printed_loss_rises(seed):
    losses = literal_printed(random_votes(seed), 20).loss
    assert losses[-1] > losses[0]
    for step in ("collins", "backtrack"):
        assert max(np.diff(literal_monotone(random_votes(seed), 20, step=step).loss)) < 0


def test_B5_decreasing_and_bounded_is_not_convergence_to_the_minimum():
    """Steps that shrink like 4^-t decrease the loss for ever and stop short of the infimum."""
    M, pi, losses = [np.repeat([[1.0], [-1.0]], [7, 1], axis=0)], 1.0, []
    for t in range(1, 12):
        z = pi * M[0][:, 0]
        losses.append(logistic_loss(z))
        pi += optimal_delta(*weighted_votes(M, expit(-z)))[0][0] / 4.0**t
    infimum = 7 * np.log(8 / 7) + np.log(8)
    assert (np.diff(losses) < 0).all()
    assert losses[-1] > infimum + 0.1


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


@pytest.mark.parametrize(
    ("seed", "start", "after_20"), [(0, 48.3, 55.2), (1, 48.5, 90.4), (2, 46.6, 66.5)]
)
def test_B6_two_levels_have_the_infimum_of_one_logistic_regression(seed, start, after_20):
    Ms = random_votes(seed)
    M = np.hstack(Ms)

    def loss_and_gradient(x):
        return logistic_loss(M @ x), -M.T @ expit(-M @ x)

    fit = minimize(loss_and_gradient, np.zeros(9), jac=True, method="BFGS", options={"gtol": 1e-8})
    # every weight vector of the one level is a (rho, Pi) of the two levels
    pi = np.split(3 * fit.x, [3, 7])
    assert_allclose(margins(Ms, [1 / 3] * 3, pi), M @ fit.x)
    # and the monotone path gets there; the printed one does not
    assert abs(literal_monotone(Ms, 150).loss[-1] - fit.fun) < 1e-7 * fit.fun
    printed = literal_printed(Ms, 20).loss
    assert_allclose([printed[0], printed[20]], [start, after_20], atol=0.05)
    if seed == 0:
        assert_allclose(fit.fun, 27.775417, atol=1e-6)


def test_B7_domains_of_q_and_r():
    # r is a vector of margins: outside of [0, 1] Eq. (5) is still the minimiser
    found = minimize(lambda p: divergence(p, [0.5]) - 3 * p[0], [0.5], bounds=[(0, 1)])
    assert_allclose(found.x, legendre(0.5, [-3.0]), atol=1e-5)
    # q inside: F has no gradient at 0, so that Eq. (3) says nothing there
    steps = np.array([1e-2, 1e-4, 1e-8, 1e-16])
    slopes = [negative_binary_entropy([h]) / h for h in steps]
    assert (np.diff(slopes) < -4).all()
    # P: V vectors of constraints, sum_v n_v numbers, from which rho drops out unless it is 0
    Ms = random_votes(0, m=20)
    M = np.hstack(Ms)
    scaled = np.hstack([rho_v * M_v for rho_v, M_v in zip((0.2, 0.3, 0.5), Ms, strict=True)])
    assert np.linalg.matrix_rank(M) == np.linalg.matrix_rank(scaled) == 9 > len(Ms)
    assert np.linalg.matrix_rank(np.hstack([M, scaled])) == 9  # the same linear space


def test_B9_step_10_is_a_maximum():
    """O(V): the linear programme of Eq. (8) is solved by the largest gain."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        gain = rng.exponential(size=rng.integers(2, 8))
        found = linprog(-gain, A_eq=np.ones((1, len(gain))), b_eq=[1.0])
        assert_allclose(found.x, np.arange(len(gain)) == np.argmax(gain), atol=1e-9)


def test_B10_pi_is_not_a_vote_of_positive_weights():
    Ms = random_votes(0, p=0.8)
    Ms[1][:, 0] *= -1  # a voter below chance
    pi = literal_printed(Ms, 1).pi[-1]
    assert pi[1][0] < 0
    assert all(abs(sum(weights) - 1) > 0.1 for weights in pi)


def relative_gains(measure):
    """Gain of MwMvC2 over the best of the others, in per cent, per data set."""
    table = TABLE[measure]
    return 100 * (table["MwMvC2"] / table.drop(columns="MwMvC2").max(axis=1) - 1)


def test_B11_the_gain_in_F1_starts_at_3_and_not_at_2_2():
    assert_allclose(relative_gains("accuracy"), [2.23, 1.12, 0.27], atol=0.005)  # text: .2 to 2.2
    assert_allclose(relative_gains("f1"), [3.68, 3.82, 2.96], atol=0.005)  # text: 2.2 to 3.8
    assert relative_gains("f1").min() > 2.2 + 0.7


FUSED = ["Fusion", "MVMV", "MVWAB", "RBoostSH", "MwMvC2"]


@pytest.mark.parametrize("measure", ["accuracy", "f1"])
def test_B12_rboost_is_the_worst_of_the_votes_on_mnist1(measure):
    """Two readings in which the sentence is true, and the one in which it is not."""
    table = TABLE[measure]
    assert table.loc["mnist1", FUSED].idxmin() == "RBoostSH"
    assert table["RBoostSH"].idxmin() == "mnist1"
    assert (table.idxmin(axis=1) == "MVMLsp").all()


@pytest.mark.parametrize("measure", ["accuracy", "f1"])
def test_B13_multiview_does_not_always_beat_one_view(measure):
    """Late fusion and the multi-view methods but MVMLsp, against Mono and Concat."""
    table = TABLE[measure]
    behind = table[FUSED].le(table[["Mono", "Concat"]].max(axis=1), axis=0).stack()
    assert set(behind[behind].index) == {("mnist1", "RBoostSH"), ("reuters", "Fusion")}


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
