"""MwMvC2 as an estimator: the vote by hand, its voters, ties, missing views."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from mvref import MultiView, MwMvC2
from mvref.datasets import load_iris_views
from mvref.mwmvc2.estimator import fit_pool
from mvref.mwmvc2.weights import learn_weights
from tests.literal import hide, random_pattern, toy_views

WIDTHS = (4, 2, 3)
VIEWS, Y = toy_views(0, m=60, widths=WIDTHS, noise=1.5)
NEW, _ = toy_views(0, m=45, widths=WIDTHS, noise=2.5)
THREE, Y3 = toy_views(1, m=75, widths=WIDTHS, n_classes=3, noise=1.5)
PATTERN = random_pattern(2, 60, 3, n_complete=6)
STUMP = DecisionTreeClassifier(max_depth=1, random_state=0)
LINEAR = LogisticRegression()
MIXED = [LINEAR, STUMP, make_pipeline(StandardScaler(), KNeighborsClassifier(3))]


def vote_by_hand(X, voters, pi, rho):
    """Eq. (1), one voter and one sample at a time; a view of NaN casts no vote."""
    B = np.zeros(len(X[0]))
    for view, pool, weights, r in zip(X, voters, pi, rho, strict=True):
        for voter, p in zip(pool, weights, strict=True):
            for i in np.flatnonzero(~np.isnan(view).all(axis=1)):
                B[i] += r * p * voter.predict(view[[i]])[0]
    return B


def vote_of(model, X):
    """The same of a fitted two-class model."""
    return vote_by_hand(X, model.voters_, model.pi_, model.rho_)


def right_or_wrong(model, X, signs):
    """Tables y_i h_vj(x_i) of a fitted two-class model."""
    Ms = []
    for v, pool in enumerate(model.voters_):
        seen = ~np.isnan(X[v]).all(axis=1)
        M = np.zeros((len(signs), len(pool)))
        for j, voter in enumerate(pool):
            M[seen, j] = signs[seen] * voter.predict(X[v][seen])
        Ms.append(M)
    return Ms


# ------------------------------------------------------------------ the vote, Eq. (1)


@pytest.mark.parametrize("update", ["monotone", "paper"])
@pytest.mark.parametrize("voters", ["trees", "random_trees", MIXED], ids=["best", "random", "list"])
def test_two_classes_by_hand(voters, update):
    model = MwMvC2(voters, max_iter=3, update=update, random_state=0).fit(VIEWS, Y)
    expected = vote_of(model, NEW)
    assert_allclose(model.decision_function(NEW), expected, atol=1e-7)
    clear = np.abs(expected) > 1e-7
    assert_array_equal(model.predict(NEW)[clear], expected[clear] > 0)
    assert len(np.unique(expected)) > 3
    model.rho_ = np.array([1e-4, 0.0, 1.0 - 1e-4])  # a small weight counts, too
    assert_allclose(model.decision_function(NEW), vote_of(model, NEW), atol=1e-7)


@pytest.mark.parametrize("views, y, K", [(VIEWS, Y, ()), (THREE, Y3, (3,))], ids=["two", "three"])
@pytest.mark.parametrize("T", [0, 3])
def test_fitted_attributes(T, views, y, K):
    model = MwMvC2(max_iter=T, random_state=0).fit(views, y)
    assert model.rho_.shape == (*K, 3) and model.rho_path_.shape == (*K, T + 1, 3)
    assert model.loss_curve_.shape == (*K, T + 1) and model.decrease_bound_.shape == (*K, T)
    assert len(model.pi_) == len(model.voters_) == 3 and model.n_iter_ == T
    machines = zip(model.pi_, model.voters_, strict=True) if K else [(model.pi_, model.voters_)]
    for pi, pools in machines:
        assert [p.shape for p in pi] == [(len(pool),) for pool in pools]
    assert_array_equal(model.rho_path_[..., -1, :], model.rho_)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("update", ["monotone", "paper"])
def test_weights_are_those_of_the_votes_in_training(update, missing):
    """learn_weights on the tables of the fitted voters; with the loss of their final vote."""
    X = hide(VIEWS, PATTERN) if missing else VIEWS
    signs = 2 * Y - 1
    options = {"max_iter": 4, "update": update, "step": "collins", "rho_step": "exact"}
    options["smoothing"] = 0.03
    model = MwMvC2(random_state=0, **options).fit(X, Y)
    weights = learn_weights(right_or_wrong(model, X, signs), **options)
    assert_array_equal(np.hstack(model.pi_), np.hstack(weights.pi))
    for name in ("rho", "loss_curve", "rho_path", "decrease_bound"):
        assert_array_equal(getattr(model, f"{name}_"), getattr(weights, name))
    final = np.logaddexp(0, -signs * vote_of(model, X)).sum()
    assert_allclose(model.loss_curve_[-1], final, rtol=1e-9)


def test_the_printed_update_is_the_vote_of_one_view():
    """Errata B4: the weights of all other views are zero."""
    model = MwMvC2(update="paper", random_state=0).fit(VIEWS, Y)
    (view,) = np.flatnonzero(model.rho_)
    assert model.rho_[view] == 1.0
    votes = np.column_stack([voter.predict(NEW[view]) for voter in model.voters_[view]])
    assert_allclose(model.decision_function(NEW), votes @ model.pi_[view], atol=1e-9)
    others = [x if v == view else np.zeros_like(x) for v, x in enumerate(NEW)]
    assert_array_equal(model.decision_function(others), model.decision_function(NEW))
    assert (MwMvC2(random_state=0).fit(VIEWS, Y).rho_ > 0).sum() > 1  # ours keeps several


# ------------------------------------------------------------------ voters


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("name", ["trees", "random_trees"])
def test_depths_of_the_trees(name, missing):
    """Depth 1 to d - 2, at least one; d is the depth of the fully grown tree of the same view."""
    X = hide(VIEWS, PATTERN) if missing else VIEWS
    model = MwMvC2(name, random_state=3).fit(X, Y)
    splitter = "best" if name == "trees" else "random"
    for v, pool in enumerate(model.voters_):
        assert [tree.max_depth for tree in pool] == list(range(1, len(pool) + 1))
        assert [tree.get_depth() for tree in pool] == list(range(1, len(pool) + 1))
        assert all(tree.splitter == splitter for tree in pool)
        seen = ~np.isnan(X[v]).all(axis=1)
        assert all(tree.tree_.n_node_samples[0] == seen.sum() for tree in pool)
        if name == "trees":
            full = clone(pool[0]).set_params(max_depth=None).fit(X[v][seen], Y[seen])
            assert len(pool) == max(1, full.get_depth() - 2)
            assert len({tree.random_state for tree in pool}) == 1
        else:
            assert len({tree.random_state for tree in pool}) == len(pool)
    assert max(len(pool) for pool in model.voters_) > 2


def pool_by_hand(view, y, rng, weights):
    """Depth k is the full tree of seed k mod 3, cut: a sample gets the class of its k-th node."""
    seeds = [int(rng.randint(2**31)), *map(int, rng.randint(2**31, size=2))]
    grown = [DecisionTreeClassifier(random_state=s).fit(view, y, weights) for s in seeds]
    votes = []
    for k in range(1, max(1, grown[0].get_depth() - 2) + 1):
        tree = grown[k % 3]
        paths = tree.decision_path(view).toarray()
        nodes = [np.flatnonzero(path)[: k + 1][-1] for path in paths]
        votes.append(tree.classes_[tree.tree_.value[nodes, 0].argmax(axis=1)])
    return np.array(votes).T


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("form", [np.array, sparse.csr_matrix])
def test_trees_of_many_samples_are_cut_from_three(form, weighted, monkeypatch):
    """Votes of a pool of 70 samples, and which of two pools is cut: of 69 and of 70 samples."""
    monkeypatch.setattr("mvref.mwmvc2.estimator.SEPARATE", 69)
    (view,), y = toy_views(3, m=70, widths=(4,), noise=3.0)
    w = np.random.default_rng(0).uniform(0.5, 2.0, size=70) if weighted else None
    pool = fit_pool("trees", form(view), y, np.random.RandomState(5), w)
    expected = pool_by_hand(form(view), y, np.random.RandomState(5), w)
    assert_array_equal(np.column_stack([tree.predict(form(view)) for tree in pool]), expected)
    assert len(pool) > 3 and [tree.max_depth for tree in pool] == list(range(1, len(pool) + 1))
    assert len({tree.random_state for tree in pool}) == 3
    few = fit_pool("trees", form(view[1:]), y[1:], np.random.RandomState(5))
    assert len({tree.random_state for tree in few}) == 1
    monkeypatch.setattr("mvref.core.trees.CHILDREN", ["left", "right"])  # another scikit-learn's
    grown = fit_pool("trees", form(view), y, np.random.RandomState(5), w)
    assert [tree.get_params() for tree in grown] == [tree.get_params() for tree in pool]
    assert [tree.get_depth() for tree in grown] == list(range(1, len(pool) + 1))
    random = fit_pool("random_trees", form(view), y, np.random.RandomState(5), w)
    assert len({tree.random_state for tree in random}) == len(random)


@pytest.mark.parametrize("name", ["trees", "random_trees"])
def test_a_shallow_tree_still_gives_a_voter(name):
    """One feature of two values: d = 1, and the pool is one stump."""
    view = np.arange(10.0)[:, None] % 2
    (stump,) = fit_pool(name, view, np.where(view[:, 0] > 0, 1, -1), np.random.RandomState(0))
    assert stump.max_depth == 1


def test_pools_of_random_trees_differ_between_views_and_seeds():
    X = [VIEWS[0]] * 2
    pools = MwMvC2("random_trees", random_state=0).fit(X, Y).voters_
    first, second = (pool[0].tree_.threshold for pool in pools)
    assert first[0] != second[0]
    other = MwMvC2("random_trees", random_state=1).fit(X, Y).voters_[0][0].tree_.threshold
    assert other[0] != first[0]


def test_voters_of_a_list_are_cloned_for_every_view():
    voters = [STUMP, LINEAR, make_pipeline(StandardScaler(), LINEAR)]
    model = MwMvC2(voters, random_state=0).fit(VIEWS, Y)
    for view, pool in zip(VIEWS, model.voters_, strict=True):
        assert [type(voter) for voter in pool] == [type(voter) for voter in voters]
        assert not any(a is b for a, b in zip(pool, voters, strict=True))
        alone = clone(LINEAR).fit(view, 2 * Y - 1)
        assert_allclose(pool[1].coef_, alone.coef_)
        assert_array_equal(pool[1].classes_, [-1, 1])
    assert not hasattr(STUMP, "tree_") and not hasattr(LINEAR, "coef_")


def test_a_voter_with_a_seed_keeps_it_and_others_get_one():
    seeded, free = DecisionTreeClassifier(random_state=5), DecisionTreeClassifier(max_features=1)
    scaled = make_pipeline(StandardScaler(), DecisionTreeClassifier(max_features=1))
    pools = MwMvC2([seeded, free, scaled], random_state=0).fit(VIEWS, Y).voters_
    assert {pool[0].random_state for pool in pools} == {5}
    assert len({pool[1].random_state for pool in pools}) == 3
    assert len({pool[2][-1].random_state for pool in pools}) == 3
    assert free.random_state is None


# ------------------------------------------------------------------ ties


def opposite_voters(labels=(0, 1), n=3000, **parameters):
    """Two views of which one predicts the class and the other its opposite: B(x) is 0."""
    rng = np.random.default_rng(0)
    a = rng.normal(size=(200, 1))
    a += 0.5 * np.sign(a)
    y = np.asarray(labels)[(a[:, 0] > 0).astype(int)]
    new = rng.normal(size=(n, 1))
    new += 0.5 * np.sign(new)
    model = MwMvC2([STUMP], max_iter=0, **parameters).fit([a, a], y)
    return model, [new, -new]


def test_a_tie_is_a_fair_coin():
    """3000 ties: the share of the second class is 1/2 within four standard errors."""
    shares = []
    for seed in range(5):
        model, new = opposite_voters(random_state=seed)
        assert np.abs(model.decision_function(new)).max() < 1e-8
        shares.append(model.predict(new).mean())
    assert_allclose(shares, 0.5, atol=4 * 0.5 / np.sqrt(3000))
    assert len(set(shares)) > 1  # the seed decides


def test_a_tie_can_go_to_the_smallest_or_the_largest_label():
    for ties, winner in (("smallest", "no"), ("largest", "yes")):
        model, new = opposite_voters(labels=("no", "yes"), ties=ties)
        assert set(model.predict(new)) == {winner}


def test_the_coin_of_a_sample_ignores_its_company():
    model, new = opposite_voters(random_state=0)
    whole = model.predict(new)
    assert_array_equal(model.predict([view[5:60] for view in new]), whole[5:60])
    order = np.random.default_rng(0).permutation(len(whole))
    assert_array_equal(model.predict([view[order] for view in new]), whole[order])
    stored = [sparse.csr_matrix(view) for view in new]
    assert_array_equal(model.predict(stored), whole)


def test_no_vote_changes_but_those_of_ties():
    coin, smallest, largest = (
        MwMvC2(max_iter=0, ties=ties, random_state=0).fit(VIEWS, Y).decision_function(NEW)
        for ties in ("random", "smallest", "largest")
    )
    clear = np.abs(coin) > 1e-6
    assert 0 < clear.sum()
    assert_array_equal(smallest[clear], coin[clear])
    assert_array_equal(largest[clear], coin[clear])
    assert (smallest[~clear] < 0).all() and (largest[~clear] > 0).all()


@pytest.mark.parametrize("ties", ["random", "smallest", "largest"])
def test_ties_of_three_classes(ties):
    """One voter per class that is always wrong the same way: all scores are -1."""
    X, y = [np.arange(9.0)[:, None]], np.repeat([4, 5, 6], 3)
    model = MwMvC2([DummyClassifier(strategy="prior")], max_iter=0, ties=ties, random_state=0)
    new = [np.random.default_rng(0).normal(size=(3000, 1))]
    labels = model.fit(X, y).predict(new)
    if ties == "random":
        shares = [(labels == k).mean() for k in (4, 5, 6)]
        assert_allclose(shares, 1 / 3, atol=4 * np.sqrt(2 / 9 / 3000))
    else:
        assert set(labels) == {4 if ties == "smallest" else 6}


# ------------------------------------------------------------------ missing views


@pytest.mark.parametrize("voters", ["trees", [LINEAR, STUMP]], ids=["trees", "list"])
def test_missing_views_in_training(voters):
    """Voters learn from the samples that have their view; others do not count for them."""
    gaps = hide(VIEWS, PATTERN)
    model = MwMvC2(voters, max_iter=3, random_state=0).fit(gaps, Y)
    assert_allclose(model.decision_function(gaps), vote_of(model, gaps), atol=1e-7)
    if voters != "trees":
        for v, pool in enumerate(model.voters_):
            alone = clone(LINEAR).fit(VIEWS[v][PATTERN[:, v]], 2 * Y[PATTERN[:, v]] - 1)
            assert_allclose(pool[0].coef_, alone.coef_)


@pytest.mark.parametrize("step", ["backtrack", "collins"])
@pytest.mark.parametrize("views, y", [(VIEWS, Y), (THREE, Y3)], ids=["two", "three"])
def test_the_bound_holds_with_missing_views(views, y, step):
    """N is the largest row sum over the views that a sample has."""
    for seed in range(5):
        gaps = hide(views, random_pattern(seed, len(y), 3, n_complete=3))
        model = MwMvC2("random_trees", max_iter=8, step=step, random_state=seed).fit(gaps, y)
        fall = -np.diff(model.loss_curve_)
        assert (fall >= -1e-9).all() and (fall >= model.decrease_bound_ - 1e-9).all()
        assert (model.decrease_bound_ > 0).any()


# ------------------------------------------------------------------ weighted samples


@pytest.mark.parametrize("voters", ["trees", [STUMP, LINEAR]], ids=["trees", "list"])
def test_the_weighted_objective_is_that_of_the_samples_repeated(voters):
    """Eq. (2) of the fitted vote, one sample and one copy at a time."""
    w = np.random.default_rng(1).integers(1, 5, size=60)
    model = MwMvC2(voters, random_state=0).fit(VIEWS, Y, sample_weight=w)
    B, total = vote_of(model, VIEWS), 0.0
    for i in range(60):
        for _ in range(w[i]):
            total += np.log1p(np.exp(-(2 * Y[i] - 1) * B[i]))
    assert_allclose(model.loss_curve_[-1], total, rtol=1e-9)


def test_voters_that_take_no_weights_are_named():
    nearest = KNeighborsClassifier(3)
    for voters, name in (([LINEAR, nearest], "KNeighborsClassifier"), (MIXED, "Pipeline")):
        told = f"view 'blood', {name}: sample_weight was given"
        X = MultiView(VIEWS, names=["blood", "image", "text"])
        with pytest.raises(ValueError, match=told):
            MwMvC2(voters).fit(X, Y, sample_weight=np.ones(60))
        with pytest.raises(ValueError, match=told):
            MwMvC2(voters, class_weight="balanced").fit(X, Y)
        MwMvC2(voters).fit(X, Y)


# ------------------------------------------------------------------ with scikit-learn


def test_a_progress_bar_on_request(capfd):
    MwMvC2(verbose=1, random_state=0).fit(THREE, Y3)
    assert "3/3" in capfd.readouterr().err
    MwMvC2(random_state=0).fit(THREE, Y3)
    assert capfd.readouterr().err == ""


def test_better_than_its_uniform_vote_in_training_and_good_on_flowers():
    data, options = load_iris_views(), {"test_size": 0.4, "random_state": 0}
    train, test, y, y_test = train_test_split(data.X, data.y, stratify=data.y, **options)
    model = MwMvC2(random_state=0).fit(train, y)
    assert model.score(test, y_test) > 0.88
    assert (model.loss_curve_[:, -1] < model.loss_curve_[:, 0]).all()


def test_view_that_never_shows_a_class_votes_against_it():
    """One against the rest, a view that lacks a class altogether says no; nothing fails."""
    views, y = toy_views(3, m=60, widths=[3, 2], n_classes=3)
    X = MultiView(views, observed=np.column_stack([y >= 0, y != 2]))
    model = MwMvC2([LogisticRegression()], random_state=0).fit(X, y)
    assert (model.voters_[2][1][0].predict(views[1]) == -1).all()
    assert np.mean(model.predict(X) == y) > 0.5


def test_weights_that_are_all_zero_tie_every_sample():
    """A voter that is right as often as wrong ends with weight 0, and ties decide alone."""
    y = np.tile([0, 1], 10)
    model = MwMvC2([DummyClassifier(strategy="constant", constant=1)], max_iter=50, random_state=0)
    X = np.random.default_rng(0).normal(size=(20, 2))
    for ties, label in (("largest", 1), ("smallest", 0)):
        model.set_params(ties=ties).fit(X, y).pi_[0][:] = 0.0
        assert (model.predict(X) == label).all()
