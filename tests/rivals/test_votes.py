"""Mono, Concat, Fusion, MVMV: each against the few lines that its description amounts to."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from mvref import MultiView, PerViewClassifier
from mvref.core.voters import class_folds
from mvref.rivals import MVMV, Concat, Fusion, Mono
from tests.literal import hide, random_pattern, toy_views

WIDTHS = (4, 2, 3)
VIEWS, Y = toy_views(0, m=60, widths=WIDTHS, noise=1.0)
THREE, Y3 = toy_views(1, m=90, widths=WIDTHS, n_classes=3, noise=1.5)
NEW, NEW3 = [v + 0.3 for v in VIEWS], [v + 0.4 for v in THREE]
PROBLEMS = ((VIEWS, Y, NEW, 2), (THREE, Y3, NEW3, 3))
TREE = DecisionTreeClassifier(max_depth=3, random_state=0)
LOGISTIC = LogisticRegression(tol=1e-12, max_iter=10_000, solver="newton-cholesky")
WEIGHTS = np.random.default_rng(0).integers(0, 4, size=90)
ALL = [Mono, Concat, Fusion, MVMV]


def planted(noises, m=200, seed=0):
    """Views that see the class through noise of these sizes."""
    rng = np.random.default_rng(seed)
    y = np.arange(m) % 2
    return [y[:, None] + noise * rng.normal(size=(m, 2)) for noise in noises], y


# ------------------------------------------------------------------ all four


@pytest.mark.parametrize("weights", [np.ones(90), np.linspace(0.1, 9, 90)], ids=["1", "others"])
@pytest.mark.parametrize("method", [Mono, MVMV])
def test_views_are_learnt_on_the_samples_that_have_them(method, weights):
    observed = random_pattern(1, 90, 3)
    model = method(TREE, random_state=0)
    model.fit(MultiView(hide(THREE, observed)), Y3, sample_weight=weights)
    for v, seen in enumerate(observed.T):
        expected = clone(TREE).fit(THREE[v][seen], Y3[seen], weights[seen])
        assert_array_equal(model.estimators_[v].predict(NEW3[v]), expected.predict(NEW3[v]))


@pytest.mark.parametrize("method", ALL)
def test_a_failed_fit_does_not_look_fitted(method):
    """The classifier itself fails, late."""
    model = method(LogisticRegression(C=-1))
    with pytest.raises(ValueError, match="'C' parameter"):
        model.fit(VIEWS, Y)
    with pytest.raises(ValueError, match="not fitted"):
        model.predict(VIEWS)


# ------------------------------------------------------------------ weights, of all four


def test_the_choice_of_a_view_is_weighted():
    """View 0 is right about one half of the samples, view 1 about the other: weights decide."""
    rng = np.random.default_rng(0)
    y, half = np.arange(200) % 2, np.arange(200) < 100
    views = [np.where(right, y, rng.normal(size=200))[:, None] for right in (half, ~half)]
    for v, heavy in enumerate((half, ~half)):
        weights = np.where(heavy, 20.0, 1.0)
        model = Mono(TREE, random_state=0).fit(views, y, sample_weight=weights)
        assert model.view_ == v
    fold = [class_folds(y, 5, rng) for rng in [np.random.RandomState(0)] for _ in range(2)][1]
    expected = []
    for fit, check in fold.split():
        tree = clone(TREE).fit(views[1][fit], y[fit], weights[fit])
        right = tree.predict(views[1][check]) == y[check]
        expected.append(weights[check] @ right / weights[check].sum())
    assert_allclose(model.scores_[1], np.mean(expected), atol=1e-14)


@pytest.mark.parametrize("method", ALL)
def test_a_classifier_without_weights_is_refused_by_name(method):
    told = "view '(view_0|all columns)', KNeighborsClassifier: sample_weight was given"
    with pytest.raises(ValueError, match=told):
        method(KNeighborsClassifier()).fit(VIEWS, Y, sample_weight=np.arange(60))
    if method is Fusion:
        with pytest.raises(ValueError, match="'on top', KNeighborsClassifier.*sample_weight"):
            Fusion(final_estimator=KNeighborsClassifier(), class_weight="balanced").fit(VIEWS, Y)


# ------------------------------------------------------------------ cases of PerViewClassifier


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["equal", "weights"])
@pytest.mark.parametrize("base", [TREE, LOGISTIC], ids=["tree", "logistic"])
def test_mono_is_a_case_of_per_view_classifier(base, weights):
    X = MultiView(THREE)
    model = Mono(base, random_state=0).fit(X, Y3, sample_weight=weights)
    member = {X.names[model.view_]: base}
    plain = PerViewClassifier(member, combine="vote", remainder="drop")
    plain.fit(X, Y3, sample_weight=weights)
    assert_array_equal(model.predict(NEW3), plain.predict(NEW3))


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["equal", "weights"])
def test_mvmv_is_a_case_of_per_view_classifier(weights):
    """Also where votes are equal, if both take the smallest label."""
    for views, y, new, K in (*PROBLEMS, (VIEWS[:2], Y, NEW[:2], 2)):
        w = None if weights is None else weights[: len(y)]
        plain = PerViewClassifier(TREE, combine="vote").fit(views, y, sample_weight=w)
        model = MVMV(TREE, ties="smallest").fit(views, y, sample_weight=w)
        assert_array_equal(model.predict(new), plain.predict(new))
        said = MVMV(TREE, random_state=0).fit(views, y, sample_weight=w).predict(new)
        assert (said != plain.predict(new)).any() == (K == 3 or len(views) == 2)  # coins


# ------------------------------------------------------------------ Mono


@pytest.mark.parametrize("best", [0, 1, 2])
def test_the_best_view_is_found(best):
    noises = np.where(np.arange(3) == best, 0.3, 2.0)
    views, y = planted(noises)
    model = Mono(TREE, random_state=0).fit(views, y)
    assert model.view_ == best == model.order_[0]
    assert model.scores_.argmax() == best and model.scores_.shape == (3,)
    assert model.estimator_ is model.estimators_[best]
    expected = clone(TREE).fit(views[best], y)
    new = [v + 0.1 for v in views]
    assert_array_equal(model.predict(new), expected.predict(new[best]))
    p = expected.predict_proba(new[best])
    assert_allclose(model.decision_function(new), p[:, 1] - p[:, 0], atol=1e-14)


@given(st.integers(0, 2**31), st.integers(2, 7), st.integers(2, 40), st.integers(1, 4))
def test_folds_spread_every_class(seed, n_folds, m, n_classes):
    rng = np.random.RandomState(seed)
    codes = rng.randint(n_classes, size=m)
    fold = class_folds(codes, n_folds, rng).test_fold
    n = min(n_folds, m)
    assert set(fold) == set(range(n))
    for k in range(n_classes):
        counts = np.bincount(fold[codes == k], minlength=n)
        assert counts.max() - counts.min() <= 1
    sizes = np.bincount(fold)
    assert sizes.max() - sizes.min() <= 1


def test_folds_are_shuffled():
    """Samples that stand side by side, as in a sorted table, do not take turns."""
    rngs = map(np.random.RandomState, (0, 0, 1))
    first, again, other = (class_folds(np.zeros(60, dtype=int), 5, r).test_fold for r in rngs)
    assert_array_equal(first, again)
    assert not np.array_equal(first, other)
    assert len(set(np.diff(first) % 5)) == 5


@pytest.mark.parametrize("view", [1, -2, "image", "cv"])
def test_a_view_by_position_or_name(view):
    views, y = planted([0.3, 2.0, 0.5])
    X = MultiView(views, names=["sound", view if isinstance(view, str) else "image", "text"])
    model = Mono(TREE, view=view, random_state=0).fit(X, y)
    assert_array_equal(model.order_, [1, 0, 2])  # the others by score
    assert_array_equal(model.predict(X), clone(TREE).fit(views[1], y).predict(views[1]))


def test_the_next_best_view_where_the_chosen_one_is_missing():
    views, y = planted([1.0, 0.2, 0.6])
    model = Mono(TREE, random_state=0).fit(views, y)
    assert_array_equal(model.order_, [1, 2, 0])
    observed = random_pattern(0, 200, 3)
    said = model.predict(MultiView(hide(views, observed)))
    alone = [clone(TREE).fit(view, y) for view in views]
    for i in range(200):
        v = next(v for v in (1, 2, 0) if observed[i, v])
        assert said[i] == alone[v].predict(views[v][[i]])[0]


def test_a_view_that_met_two_of_three_classes():
    """Its scores leave room for the third, which other views know."""
    observed = np.ones((90, 3), dtype=bool)
    observed[Y3 == 1, 0] = False
    for base in (TREE, LogisticRegression()):
        model = Mono(base, view=0).fit(MultiView(hide(THREE, observed)), Y3)
        expected = clone(base).fit(THREE[0][Y3 != 1], Y3[Y3 != 1]).predict(NEW3[0])
        assert_array_equal(model.predict(NEW3), expected)
        assert model.decision_function(NEW3).shape == (90, 3) and set(expected) == {0, 2}


def test_a_class_of_one_sample_can_be_cross_validated_and_not_fused():
    y = np.array(["a"] + ["b", "c"] * 10)
    x = np.arange(21.0)[:, None]
    assert np.isfinite(Mono(random_state=0).fit([x, -x], y).scores_).all()
    with pytest.raises(ValueError, match="Fusion needs 2 samples of every class.*'a'"):
        Fusion().fit([x, x], y)


# ------------------------------------------------------------------ Concat


@pytest.mark.parametrize("base", [TREE, RandomForestClassifier(5, random_state=0), SVC()])
def test_concat_is_the_classifier_on_all_columns(base):
    for views, y, new, _ in PROBLEMS:
        model = Concat(base).fit(views, y)
        expected = clone(base).fit(np.hstack(views), y)
        assert_array_equal(model.predict(new), expected.predict(np.hstack(new)))


def test_missing_views_are_nan():
    observed = random_pattern(2, 90, 3)
    gaps, new = hide(THREE, observed), hide(NEW3, observed[::-1])
    for base in (TREE, make_pipeline(SimpleImputer(), LogisticRegression())):
        expected = clone(base).fit(np.hstack(gaps), Y3)
        model = Concat(base).fit(gaps, Y3)
        assert_array_equal(model.predict(new), expected.predict(np.hstack(new)))


def test_a_classifier_that_refuses_nan():
    gaps = MultiView(hide(VIEWS, random_pattern(0, 60, 3)))
    told = "missing views.*LogisticRegression.*SimpleImputer"
    with pytest.raises(ValueError, match=told):
        Concat(LogisticRegression()).fit(gaps, Y)
    model = Concat(LogisticRegression()).fit(VIEWS, Y)
    with pytest.raises(ValueError, match=told):
        model.predict(gaps)
    with pytest.raises(ValueError, match="'C' parameter"):  # another failure speaks for itself
        Concat(LogisticRegression(C=-1)).fit(gaps, Y)


# ------------------------------------------------------------------ Fusion


def fusion_by_hand(model, views, y, new, n_classes, w):
    """The votes of trees on the first part, a tree on those of the second."""
    first, second = model.view_rows_, model.final_rows_
    trees = [clone(TREE).fit(view[first], y[first], w[first]) for view in views]

    def table(views):
        said = [tree.predict(view)[:, None] for tree, view in zip(trees, views, strict=True)]
        return np.hstack([2 * s - 1 if n_classes == 2 else s == [0, 1, 2] for s in said])

    final = clone(TREE).fit(table([v[second] for v in views]), y[second], w[second])
    return final.predict(table(new))


def test_fusion_by_hand():
    """Also with weights of samples and classes, which do not move the cut."""
    for views, y, new, n_classes in PROBLEMS:
        w = np.random.default_rng(1).uniform(0.1, 5.0, size=90)[: len(y)]
        model = Fusion(TREE, final_estimator=TREE, class_weight={0: 3.0}, random_state=0)
        said = model.fit(views, y, sample_weight=w).predict(new)
        both = np.where(y == 0, 3.0, 1.0) * w
        assert_array_equal(said, fusion_by_hand(model, views, y, new, n_classes, both))
        model.class_weight = None
        plain = model.fit(views, y).predict(new)
        assert_array_equal(plain, fusion_by_hand(model, views, y, new, n_classes, np.ones(len(y))))
        assert (plain != said).any()


@given(st.integers(0, 2**31), st.floats(0.05, 0.95))
def test_the_parts_share_no_sample_and_no_class_is_left_out(seed, share):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1, 2], rng.integers(2, 15, size=3))
    x = rng.normal(size=(len(y), 2))
    model = Fusion(train_size=share, random_state=seed).fit([x, x], y)
    first, second = model.view_rows_, model.final_rows_
    assert_array_equal(np.sort(np.concatenate([first, second])), np.arange(len(y)))
    n, n_first = np.bincount(y), np.bincount(y[first], minlength=3)
    assert (n_first >= 1).all() and (n_first <= n - 1).all()
    assert (np.abs(n_first - share * n) <= 1).all()


def test_sixty_percent():
    model, other = (Fusion(random_state=seed).fit(VIEWS, Y) for seed in (0, 1))
    assert len(model.view_rows_) == 36 and len(model.final_rows_) == 24
    assert not np.array_equal(other.view_rows_, model.view_rows_)


def test_the_final_model_sees_zero_where_a_view_is_missing():
    observed = random_pattern(6, 60, 3)
    X = MultiView(hide(VIEWS, observed))
    model = Fusion(TREE, random_state=0).fit(X, Y)
    said = zip(model.estimators_, VIEWS, strict=True)
    said = np.column_stack([2 * tree.predict(view) - 1 for tree, view in said])
    assert_array_equal(model._votes(X), np.where(observed, said, 0))
    observed = random_pattern(6, 90, 3)
    X = MultiView(hide(THREE, observed))
    votes = Fusion(TREE, random_state=0).fit(X, Y3)._votes(X)
    assert votes.shape == (90, 9)
    assert_array_equal(votes.reshape(90, 3, 3).sum(axis=2), observed)


def test_a_part_in_which_a_view_shows_one_class():
    """View 0 has two samples of class 1, which may fall to the final model."""
    observed = np.ones((60, 3), dtype=bool)
    observed[np.flatnonzero(Y == 1)[2:], 0] = False
    X = MultiView(hide(VIEWS, observed))
    with pytest.raises(ValueError, match="'view_0'.*one class only in the part that trains"):
        for seed in range(20):
            Fusion(random_state=seed).fit(X, Y)


# ------------------------------------------------------------------ MVMV


def count_by_hand(views, y, new, observed, n_classes):
    votes = np.zeros((len(new[0]), n_classes))
    for view, fresh, seen in zip(views, new, observed.T, strict=True):
        for i, label in enumerate(clone(TREE).fit(view, y).predict(fresh)):
            votes[i, label] += seen[i]
    return votes


@pytest.mark.parametrize("missing", [False, True])
def test_votes_counted_by_hand(missing):
    for views, y, new, K in PROBLEMS:
        observed = random_pattern(0, len(y), 3) if missing else np.ones((len(y), 3), dtype=bool)
        votes = count_by_hand(views, y, new, observed, K)
        model = MVMV(TREE, random_state=0).fit(views, y)
        f = model.decision_function(hide(new, observed))
        expected = votes[:, 1] - votes[:, 0] if K == 2 else votes
        assert_allclose(f, expected, atol=1e-8)
        assert not missing or (f != expected).any()  # ties were moved apart
        clear = (votes == votes.max(axis=1, keepdims=True)).sum(axis=1) == 1
        said = model.predict(hide(new, observed))
        assert clear.any() and (~clear).any() or not missing
        assert_array_equal(said[clear], votes.argmax(axis=1)[clear])


def test_ties_of_two_views():
    """Who wins them is the choice of the parameter, and of nothing else."""
    model = MVMV(TREE, random_state=0).fit(VIEWS[:2], Y)
    votes = count_by_hand(VIEWS[:2], Y, NEW[:2], np.ones((60, 2), dtype=bool), 2)
    tied = votes[:, 0] == votes[:, 1]
    assert tied.sum() >= 5
    for ties, winner in (("smallest", 0), ("largest", 1)):
        said = model.set_params(ties=ties).predict(NEW[:2])
        assert_array_equal(said[tied], winner)
        assert_array_equal(said[~tied], votes.argmax(axis=1)[~tied])
    models = (MVMV(TREE, random_state=seed).fit(VIEWS[:2], Y) for seed in range(40))
    assert 0.35 < np.mean([model.predict(NEW[:2])[tied].mean() for model in models]) < 0.65
