"""MVWAB and RBoostSH: AdaBoost's certificates, EXP3.P's formulas, literal twins, abstention."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.ensemble import AdaBoostClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from mvref import MultiView
from mvref.rivals import MVWAB, Mumbo, RBoostSH
from mvref.rivals.adaboost import Table, boost_step, half_log_odds
from mvref.rivals.boosting import reward_view, view_probabilities, vote_sign
from tests.literal import hide, random_pattern, toy_views

WIDTHS = (4, 2, 3)
VIEWS, Y = toy_views(0, m=60, widths=WIDTHS, noise=1.5)
THREE, Y3 = toy_views(1, m=90, widths=WIDTHS, n_classes=3, noise=1.5)
NEW = [v + 0.3 for v in VIEWS]
NEW3 = [v + 0.4 for v in THREE]
S = 2 * Y - 1
STUMP = DecisionTreeClassifier(max_depth=1, random_state=0)
BOTH = [MVWAB, RBoostSH]


def votes_of_rounds(model, X):
    """h_t(x_i), shape (n, T), from the fitted voters, one call per voter and sample's view."""
    X = X if isinstance(X, MultiView) else MultiView(X)
    T = len(model.alphas_)
    totals = np.zeros((X.n_samples, T))
    for t, v in itertools.product(range(T), range(X.n_views)):
        seen = X.observed[:, v]
        if isinstance(model, MVWAB):
            voter, weight = model.voters_[v][t], model.view_weights_[t, v]
        else:
            voter, weight = model.voters_[t], model.view_history_[t] == v
        if weight:
            totals[seen, t] += weight * voter.predict(X.views[v][seen])
    return np.sign(np.where(np.abs(totals) < 1e-12, 0, totals))


def weights_path(model, X, s):
    """Replay: unnormalised exp(-s F_t), normalised after every round; T + 1 rows."""
    H = votes_of_rounds(model, X)
    path = [np.full(len(s), 1 / len(s))]
    for alpha, h in zip(model.alphas_, H.T, strict=True):
        d = path[-1] * np.exp(-alpha * s * h)
        path.append(d / d.sum())
    return H, np.array(path)


# ------------------------------------------------------------------ one step of AdaBoost


@given(st.integers(0, 2**31), st.integers(8, 40), st.booleans())
def test_the_step_minimises_the_normaliser(seed, m, abstains):
    rng = np.random.default_rng(seed)
    d = rng.dirichlet(np.ones(m))
    yh = rng.choice([-1, 0, 1] if abstains else [-1, 1], size=m)
    W_plus, W_minus, W_0 = (d[yh == sign].sum() for sign in (1, -1, 0))
    assume(min(W_plus, W_minus) > (W_plus + W_minus) / m)  # not capped
    alpha, edge, Z, after = boost_step(d, yh)
    assert_allclose(Z, W_0 + 2 * math.sqrt(W_plus * W_minus), rtol=1e-12)
    assert_allclose(edge, W_plus - W_minus, atol=1e-12)
    for other in alpha + np.array([-1e-3, 1e-3]):
        assert np.sum(d * np.exp(-other * yh)) > Z
    assert_allclose(after.sum(), 1.0, rtol=1e-12)
    # right and wrong votes weigh the same afterwards
    assert_allclose(after[yh > 0].sum(), after[yh < 0].sum(), rtol=1e-12)
    if not abstains:
        assert_allclose(alpha, np.arctanh(edge), rtol=1e-12)
        assert_allclose(Z, math.sqrt(1 - edge**2), rtol=1e-12)


@pytest.mark.parametrize("m", [1, 4, 100])
def test_the_cap(m):
    """An error counts as half a sample at least, whatever the scale of the weights."""
    most = 0.5 * math.log(2 * m - 1)
    for scale in (1e-9, 1.0, 50.0):
        assert_allclose(half_log_odds(scale, 0.0, m), most, atol=1e-12)
        assert_allclose(half_log_odds(0.0, scale, m), -most, atol=1e-12)
        assert half_log_odds(scale, scale, m) == 0.0
    assert_allclose(half_log_odds(1 - 0.25 / m, 0.25 / m, m), most, atol=1e-12)
    assert half_log_odds(0.0, 0.0, m) == 0.0


def test_vote_sign_forgives_rounding():
    b = np.array([0.1, 0.2, 0.3])
    sums = np.array([[1.0, 1.0, -1.0], [1.0, 1.0, 1.0], [-1.0, 1.0, -1.0]]) @ b
    assert sums[0] != 0.0
    assert_array_equal(vote_sign(sums, b), [0.0, 1.0, -1.0])


def test_weights_reach_the_learner():
    """Weights 3 on a sample are three copies of it, with as many samples behind a penalty."""
    rng = np.random.RandomState(0)
    times, everyone = rng.randint(1, 4, size=60), np.ones(60, dtype=bool)
    copies = np.repeat(np.arange(60), times)
    for learner in (STUMP, LogisticRegression(C=0.1, tol=1e-10)):
        table = Table(learner, VIEWS[0], everyone)
        other = clone(learner).fit(VIEWS[0][copies], S[copies])
        # the scale is that of the sum; without a weight left here the samples' own ones are taken
        for d, w in ((times / 1e5, times[::-1]), (np.zeros(60), times)):
            voter, said = table.fit(learner, S, d, w, rng)
            assert_array_equal(said, voter.predict(VIEWS[0]))
            assert_array_equal(voter.predict(NEW[0]), other.predict(NEW[0]))
            if learner is not STUMP:
                assert_allclose(voter.coef_, other.coef_, atol=1e-6)


@pytest.mark.parametrize("method", [*BOTH, Mumbo])
def test_half_of_weight_1_is_the_least_error(method):
    """Views that tell the class: one round, whose weight is that of the cap."""
    y = np.arange(20) % 2
    for weight, m in ((None, 20), (3, 60), (1.5, 30), (0.05, 20), (1e-6, 20)):
        w = None if weight is None else np.full(20, weight)
        model = method(STUMP, random_state=0).fit([y[:, None] * 1.0], y, sample_weight=w)
        assert_allclose(model.alphas_, [0.5 * math.log(2 * m - 1)], rtol=1e-9)


def test_values_too_large_for_a_tree_are_refused():
    rows, ones = np.array([[0.0], [1.0], [1e39], [3.0]]), np.ones(4)
    with np.errstate(over="ignore"):
        table = Table(STUMP, rows, ones > 0)
    with pytest.raises(ValueError, match="infinity or a value too large"):
        table.fit(STUMP, np.array([0, 0, 1, 1]), ones, ones, np.random.RandomState(0))


# ------------------------------------------------------------------ certificates


@pytest.mark.parametrize("method", BOTH)
@pytest.mark.parametrize("missing", [False, True])
@settings(max_examples=8)
@given(st.integers(0, 2**31))
def test_certificates(method, missing, seed):
    views, y = toy_views(seed, m=40, widths=(3, 2), noise=2.0)
    s = 2 * y - 1
    X = MultiView(hide(views, random_pattern(seed, 40, 2)) if missing else views)
    model = method(STUMP, n_estimators=12, ties="smallest", random_state=seed % 1000).fit(X, y)
    H, path = weights_path(model, X, s)
    assert_allclose(path.sum(axis=1), 1.0, rtol=1e-12)
    error_bound = np.prod(model.normalizers_)
    steps = model.alphas_, model.edges_, model.normalizers_, H.T, path[:-1], path[1:]
    for alpha, edge, Z, h, d, after in zip(*steps, strict=True):
        yh = s * h
        assert_allclose(edge, np.sum(d * yh), atol=1e-10)
        # Z is the sum of the unnormalised weights, and nothing is as small
        assert_allclose(Z, np.sum(d * np.exp(-alpha * yh)), atol=1e-10)
        W_plus, W_minus, W_0 = d[yh > 0].sum(), d[yh < 0].sum(), d[yh == 0].sum()
        capped = min(W_plus, W_minus) < (W_plus + W_minus) * 0.5 / len(s)
        if not capped:
            assert_allclose(Z, W_0 + 2 * math.sqrt(W_plus * W_minus), atol=1e-9)
            assert_allclose(after[yh > 0].sum(), after[yh < 0].sum(), atol=1e-9)
            if not missing and W_0 == 0:
                assert_allclose(Z, math.sqrt(1 - edge**2), atol=1e-9)
                assert_allclose(after @ yh, 0.0, atol=1e-9)  # weighted error 1/2
    F = H @ model.alphas_
    assert np.mean(s * F <= 0) <= error_bound + 1e-12
    assert_allclose(np.mean(np.exp(-s * F)), error_bound, rtol=1e-8)
    clear = np.abs(F) > 1e-6
    assert_allclose(model.decision_function(X)[clear], F[clear], atol=1e-8)


# ------------------------------------------------------------------ twins


@pytest.mark.parametrize("method", [*BOTH, Mumbo])
def test_one_view_is_scikit_learns_adaboost(method):
    """Its weights are twice ours; its decision function is 2 F / sum of our weights."""
    model = method(STUMP, n_estimators=25, random_state=0).fit(VIEWS[:1], Y)
    other = AdaBoostClassifier(STUMP, n_estimators=25, random_state=0).fit(VIEWS[0], Y)
    assert_allclose(2 * model.alphas_, other.estimator_weights_, atol=1e-9)
    if method is MVWAB:  # h_t is the voter itself, whatever its weight
        assert_allclose(model.view_weights_[:, 0], model.alphas_, atol=1e-9)
    if method is Mumbo:
        assert_allclose(model.local_edges_[:, 0], model.edges_, atol=1e-9)
    assert_array_equal(model.predict(NEW[:1]), other.predict(NEW[0]))
    f = 2 * model.decision_function(NEW[:1]) / model.alphas_.sum()
    assert_allclose(f, other.decision_function(NEW[0]), atol=1e-9)


def mvwab_by_hand(views, s, observed, T):
    """The reconstruction, one sample and one view at a time."""
    m, V = len(s), len(views)
    d = np.full(m, 1 / m)
    rounds = []
    for _ in range(T):
        b, trees, said = [], [], [[0] * V for _ in range(m)]
        for v in range(V):
            rows = [i for i in range(m) if observed[i, v]]
            tree = clone(STUMP).fit(views[v][rows], s[rows], sample_weight=d[rows])
            for i in rows:
                said[i][v] = tree.predict(views[v][[i]])[0]
            error = sum(d[i] for i in rows if said[i][v] != s[i]) / sum(d[i] for i in rows)
            error = max(error, 0.5 / m)
            b.append(0.5 * math.log((1 - error) / error) if error < 0.5 else 0.0)
            trees.append(tree)
        h = [np.sign(sum(b[v] * said[i][v] for v in range(V))) for i in range(m)]
        W_plus = sum(d[i] for i in range(m) if h[i] == s[i])
        W_minus = sum(d[i] for i in range(m) if h[i] == -s[i])
        error = max(W_minus / (W_plus + W_minus), 0.5 / m)
        alpha = 0.5 * math.log((1 - error) / error)
        d = np.array([d[i] * math.exp(-alpha * s[i] * h[i]) for i in range(m)])
        d = d / d.sum()
        rounds.append((alpha, b, trees))
    return rounds


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("missing", [False, True])
def test_mvwab_by_hand(missing, weighted):
    """With weights, on so many copies of every row."""
    observed = random_pattern(7, 60, 3) if missing else np.ones((60, 3), dtype=bool)
    X, new = MultiView(hide(VIEWS, observed)), MultiView(hide(NEW, observed))
    w = np.random.default_rng(7).integers(0, 4, size=60) if weighted else np.ones(60, dtype=int)
    rows = np.repeat(np.arange(60), w)
    model = MVWAB(STUMP, n_estimators=6, random_state=0)
    model.fit(X, Y, sample_weight=w if weighted else None)
    rounds = mvwab_by_hand([view[rows] for view in VIEWS], S[rows], observed[rows], 6)
    assert_allclose(model.alphas_, [alpha for alpha, _, _ in rounds], atol=1e-9)
    assert_allclose(model.view_weights_, [b for _, b, _ in rounds], atol=1e-9)
    F = np.zeros(60)
    for alpha, b, trees in rounds:
        said = np.column_stack([t.predict(v) for t, v in zip(trees, NEW, strict=True)])
        F += alpha * np.sign((said * observed) @ b)
    assert_allclose(model.decision_function(new), F, atol=1e-8)


# ------------------------------------------------------------------ the bandit


def test_probabilities_are_the_literal_products():
    """w itself for a few rounds, from the rewards that the rounds had."""
    T, gamma, sigma = 15, 0.3, 0.15
    model = RBoostSH(STUMP, n_estimators=T, random_state=1).fit(VIEWS, Y)
    w = [math.exp(sigma * gamma / 3 * math.sqrt(T / 3))] * 3
    for t in range(T):
        p = [(1 - gamma) * w[v] / sum(w) + gamma / 3 for v in range(3)]
        assert_allclose(model.view_probabilities_[t], p, rtol=1e-10)
        drawn = model.view_history_[t]
        reward = 1 - math.sqrt(1 - model.edges_[t] ** 2)
        for v in range(3):
            estimate = reward / p[v] if v == drawn else 0.0
            bonus = sigma / (p[v] * math.sqrt(3 * T))
            w[v] *= math.exp(gamma / 9 * (estimate + bonus))


@pytest.mark.parametrize("gamma", [0.01, 0.3, 1.0])
def test_every_view_keeps_its_chance(gamma):
    model = RBoostSH(STUMP, n_estimators=40, gamma=gamma, random_state=0).fit(VIEWS, Y)
    p = model.view_probabilities_
    assert_allclose(p.sum(axis=1), 1.0, rtol=1e-12)
    assert p.min() >= gamma / 3 - 1e-15
    if gamma == 1.0:
        assert_allclose(p, 1 / 3, rtol=1e-12)


def test_a_better_arm_is_drawn_more_often():
    """Rewards .9 against .05, 20 000 rounds: far beyond what exp(w) could hold."""
    T, gamma, sigma = 20_000, 0.3, 0.15
    log_w = np.zeros(2)
    rng = np.random.RandomState(0)
    for _ in range(T):
        p = view_probabilities(log_w, gamma)
        v = rng.choice(2, p=p)
        log_w = reward_view(log_w, p, v, [0.9, 0.05][v], T, gamma, sigma)
    assert log_w.max() > 800 and np.isfinite(log_w).all()
    assert_allclose(view_probabilities(log_w, gamma), [0.85, 0.15], atol=1e-6)


def test_views_are_drawn_with_their_probabilities():
    counts, expected = np.zeros(3), np.zeros(3)
    for seed in range(40):
        model = RBoostSH(STUMP, n_estimators=20, random_state=seed).fit(VIEWS, Y)
        counts += np.bincount(model.view_history_, minlength=3)
        expected += model.view_probabilities_.sum(axis=0)
    assert np.abs(counts - expected).max() < 4.5 * np.sqrt(800 * 2 / 9)


def test_the_learning_rate_is_small():
    """The spec's remark: with V = 3 the draw stays near uniform for 100 rounds and more."""
    model = RBoostSH(STUMP, random_state=0).fit(VIEWS, Y)
    assert np.abs(model.view_probabilities_ - 1 / 3).max() < 0.15


# ------------------------------------------------------------------ when it stops


@pytest.mark.parametrize("method", [*BOTH, Mumbo])
def test_a_perfect_round_is_capped_and_the_last(method):
    views, y = (THREE, Y3) if method is Mumbo else (VIEWS, Y)
    tree = DecisionTreeClassifier(random_state=0)
    model = method(tree, n_estimators=50, random_state=0).fit(views, y)
    assert_allclose(model.alphas_, [0.5 * math.log(2 * len(y) - 1)])
    assert_allclose(model.edges_, [1.0])
    if method is not Mumbo:
        assert_allclose(model.normalizers_, [1 / math.sqrt(2 * 60 - 1)])
    assert model.score(views, y) == 1.0


def test_perfect_views_that_do_not_cover_all_samples():
    """Each view tells the classes of its half of the samples: one round cannot be enough."""
    observed = np.zeros((60, 2), dtype=bool)
    observed[:30, 0] = observed[30:, 1] = True
    X = MultiView(hide([S[:, None] * 1.0, S[:, None] * 1.0], observed))
    for method in (RBoostSH, Mumbo):
        model = method(STUMP, n_estimators=30, random_state=0).fit(X, Y)
        assert set(model.view_history_) == {0, 1} and model.score(X, Y) == 1.0
        assert method is Mumbo or len(model.alphas_) == 30
    assert len(MVWAB(STUMP).fit(X, Y).alphas_) == 1  # all views vote: perfect at once


def test_nothing_to_learn():
    """Constant features and balanced classes: no vote counts, and ties decide."""
    for method, rounds, K in ((MVWAB, 1, 2), (RBoostSH, 7, 2), (Mumbo, 1, 3)):
        x, y = np.ones((10 * K, 2)), np.arange(10 * K) % K
        for ties, winner in (("smallest", 0), ("largest", K - 1)):
            model = method(STUMP, n_estimators=7, ties=ties, random_state=0).fit([x, x], y)
            assert_allclose(model.alphas_, np.zeros(rounds), atol=1e-12)
            assert_array_equal(model.predict([x, x]), np.full(10 * K, winner))


class Contrary(DecisionTreeClassifier):
    """A tree that says the opposite of what it learnt, for labels -1 and +1."""

    def predict(self, X, check_input=True):
        return -super().predict(X, check_input)


def test_voters_below_chance():
    """MVWAB does not listen to them; to boosting they are as good as their opposites."""
    contrary = Contrary(max_depth=1, random_state=0)
    model = MVWAB(contrary, n_estimators=5).fit(VIEWS, Y)
    assert_array_equal(model.view_weights_, np.zeros((1, 3)))
    assert_array_equal(model.alphas_, [0.0])
    model = RBoostSH(contrary, n_estimators=5, random_state=0).fit(VIEWS, Y)
    plain = RBoostSH(STUMP, n_estimators=5, random_state=0).fit(VIEWS, Y)
    assert (model.alphas_ < 0).all()
    assert_allclose(model.decision_function(NEW), plain.decision_function(NEW), atol=1e-9)


def test_tied_votes_inside_a_round_abstain():
    """Two views of equal weight that contradict each other on half of the samples."""
    x = [np.where(np.arange(40) % 4 == v, -S[:40], S[:40])[:, None] * 1.0 for v in (0, 1)]
    y = Y[:40]
    model = MVWAB(STUMP, n_estimators=1, random_state=0).fit(x, y)
    H = votes_of_rounds(model, x)
    assert_array_equal(H[:, 0] == 0, np.isin(np.arange(40) % 4, [0, 1]))
    assert (S[:40] * H[:, 0] >= 0).all()
    assert_allclose(model.edges_, [0.5])


# ------------------------------------------------------------------ classes, labels, jobs


@pytest.mark.parametrize("method", BOTH)
def test_one_against_the_rest(method):
    model = method(STUMP, n_estimators=5, random_state=0).fit(THREE, Y3)
    assert len(model.alphas_) == len(model.voters_) == len(model.edges_) == 3
    f = model.decision_function(NEW3)
    for k in range(3):
        binary = clone(model).fit(THREE, Y3 == k)
        for name in model._per_class:
            setattr(binary, name, getattr(model, name)[k])
        assert_allclose(binary.decision_function(NEW3), f[:, k], atol=1e-7)
        s = np.where(Y3 == k, 1, -1)
        H, path = weights_path(binary, THREE, s)
        assert_allclose(binary.edges_, [d @ (s * h) for d, h in zip(path[:-1], H.T, strict=True)])
    assert_array_equal(model.predict(NEW3), f.argmax(axis=1))


@pytest.mark.parametrize("method", BOTH)
def test_a_view_that_never_shows_a_class(method):
    """It votes against that class, always, even where the learner refuses one class."""
    observed = np.ones((90, 3), dtype=bool)
    observed[Y3 == 1, 0] = False
    X = MultiView(hide(THREE, observed))
    model = method(LogisticRegression(), n_estimators=4, random_state=0).fit(X, Y3)
    assert model.score(X, Y3) > 0.6


@pytest.mark.parametrize("method", BOTH)
def test_the_default_learner(method):
    model = method(n_estimators=3, random_state=0).fit(VIEWS, Y)
    assert len(model.alphas_) == 3
    assert {voter.max_depth for voter in np.ravel(model.voters_)} == {2}
