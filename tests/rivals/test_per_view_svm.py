"""PerViewSVM: an SVC per view by hand, votes, ties, missing views."""

import numpy as np
import pytest
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import polynomial_kernel
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

import mvref
from mvref import MultiView, PerViewClassifier
from mvref.rivals import CoLabeling, PerViewSVM
from tests.literal import hide, random_pattern, toy_views

WIDTHS = (4, 2, 3)
VIEWS, Y = toy_views(0, m=60, widths=WIDTHS, noise=1.0)
THREE, Y3 = toy_views(1, m=90, widths=WIDTHS, n_classes=3, noise=1.5)
NEW3 = [v + 0.4 for v in THREE]


def votes_by_hand(views, y, new, C, classes, weights=None):
    """For every view and class an SVC, class against rest; each view votes for its best class."""
    votes, sums = np.zeros((2, len(new[0]), len(classes)))
    for train, test in zip(views, new, strict=True):
        svc = SVC(C=C, kernel="rbf", gamma=1 / train.shape[1])
        svcs = (svc.fit(train, y == k, weights) for k in classes)
        f = np.column_stack([svc.decision_function(test) for svc in svcs])
        votes[np.arange(len(test)), f.argmax(axis=1)] += 1
        sums += f
    return votes, sums


def winners(votes, sums):
    """Most votes; between equals the larger sum of decision values."""
    best = votes == votes.max(axis=1, keepdims=True)
    return np.where(best, sums, -np.inf).argmax(axis=1)


@pytest.mark.parametrize(
    ("views", "y", "C"),
    [*((THREE, Y3, C) for C in (0.1, 1.0, 100.0)), *((VIEWS[:n], Y, 2.0) for n in (1, 2, 3))],
    ids=["0.1", "1", "100", "one view", "two views", "two classes"],
)
def test_votes_by_hand(views, y, C):
    new, n_classes = [v + 0.4 for v in views], len(set(y))
    model = PerViewSVM(C).fit(views, y)
    votes, sums = votes_by_hand(views, y, new, C, range(n_classes))
    assert_array_equal(model.predict(new), winners(votes, sums))
    f = model.decision_function(new)
    votes = votes if n_classes > 2 else votes[:, 1] - votes[:, 0]
    assert_array_equal(np.round(f), votes)
    assert np.abs(f - votes).max() < 0.5  # a tie is split by less than a vote


def test_a_case_of_per_view_classifier():
    """Also where votes are equal, if both take the smallest label."""
    member = OneVsRestClassifier(SVC(gamma="auto"))
    for views, y, tied in ((THREE, Y3, True), (VIEWS[:2], Y, True), (VIEWS, Y, False)):
        new = [v + 0.4 for v in views]
        plain = PerViewClassifier(member, combine="vote").fit(views, y)
        model = PerViewSVM(ties="smallest").fit(views, y)
        assert_array_equal(model.predict(new), plain.predict(new))
        votes, _ = votes_by_hand(views, y, new, 1.0, range(len(set(y))))
        best = np.sort(votes, axis=1)[:, -2:]
        assert (best[:, 0] == best[:, 1]).any() == tied
        if not tied:
            assert_array_equal(PerViewSVM().fit(views, y).predict(new), plain.predict(new))


# ------------------------------------------------------------------ weights


def test_weights_of_samples_and_classes_by_hand():
    weights = np.random.default_rng(0).uniform(0.1, 3.0, size=90)
    of_class = {0: 0.5, 1: 4.0, 2: 1.0}
    model = PerViewSVM(class_weight=of_class).fit(THREE, Y3, sample_weight=weights)
    both = weights * np.array([0.5, 4.0, 1.0])[Y3]
    votes, sums = votes_by_hand(THREE, Y3, NEW3, 1.0, range(3), both)
    assert_array_equal(model.predict(NEW3), winners(votes, sums))
    assert (PerViewSVM().fit(THREE, Y3).predict(NEW3) != model.predict(NEW3)).any()
    svms = [svm for m in model.machines_ for svm in (m.estimator, *m.estimators_)]
    assert not any("_metadata_request" in vars(svm) for svm in svms)  # skops cannot write them


# ------------------------------------------------------------------ limits


@pytest.mark.parametrize("jobs", [None, 2])
def test_an_svm_that_cannot_reach_its_tolerance_ends_and_says_so(jobs):
    """Below the rounding of its gradient libsvm goes round in circles."""
    x = 1e3 * VIEWS[0][:20, :2]
    model = PerViewSVM(1e3, kernel="linear", tol=1e-16, n_jobs=jobs, max_iter=10_000)
    told = "PerViewSVM stopped .*max_iter=10000"
    with parallel_config("threading"), pytest.warns(ConvergenceWarning, match=told) as said:
        model.fit([x, x], Y[:20])
    said = [w.filename for w in said if w.category is ConvergenceWarning]
    assert said == [__file__]  # what has learnt nothing is told beside
    assert 0 < PerViewSVM().max_iter < np.inf


@pytest.mark.parametrize(
    "model",
    [
        PerViewSVM(),
        CoLabeling(),
        mvref.MVPO(kernel="rbf"),
        mvref.KMHKS(),
        mvref.rivals.MVML(),
        mvref.rivals.SVM2K(kernel="rbf"),
    ],
)
def test_matrices_that_do_not_fit_into_memory(model, monkeypatch):
    def no_memory(*_, **__):
        raise MemoryError("Unable to allocate 298. GiB")

    monkeypatch.setattr("mvref.core.kernels.safe_sparse_dot", no_memory)
    told = r"finds no memory for 60 samples \(Unable to allocate 298. GiB.*fit_in_chunks"
    with pytest.raises(MemoryError, match=told):
        model.fit(VIEWS, Y)
    monkeypatch.undo()
    model.fit(VIEWS, Y)
    monkeypatch.setattr("mvref.core.kernels.safe_sparse_dot", no_memory)
    with pytest.raises(MemoryError, match=r"finds no memory for 60 samples .*fewer samples at"):
        model.predict(VIEWS)
    completion = mvref.rivals.LaplacianCompletion(kernel="linear").fit(VIEWS)
    with pytest.raises(MemoryError, match=r"finds no memory for 60 samples .*LandmarkProjection"):
        completion.transform(VIEWS)


# ------------------------------------------------------------------ ties


def two_views_that_disagree():
    """Each view separates the classes by its sign; the new samples show both signs.

    View 0 says class 0 and view 1 says class 1, or the reverse, and the view listed in `strong`
    stands farther from the boundary.
    """
    x = np.array([-2.0, -1.5, -1.0, 1.0, 1.5, 2.0])[:, None]
    y = np.array([0, 0, 0, 1, 1, 1])
    new = [np.array([[-1.0], [-0.1], [1.0], [0.1]]), np.array([[0.1], [1.0], [-0.1], [-1.0]])]
    strong = np.array([0, 1, 1, 0])  # the class that the farther view votes for
    return [x, x.copy()], y, new, strong


def test_ties_by_score_and_by_label():
    views, y, new, strong = two_views_that_disagree()
    votes, _ = votes_by_hand(views, y, new, 1.0, [0, 1])
    assert_array_equal(votes, np.ones((4, 2)))
    assert_array_equal(PerViewSVM().fit(views, y).predict(new), strong)
    for names in (["a", "b"], [3, 7]):
        model = PerViewSVM(ties="smallest").fit(views, np.array(names)[y])
        assert_array_equal(model.predict(new), np.full(4, names[0]))


def test_ties_at_random_with_a_seed():
    """Both classes win some ties; a fitted model gives one answer, with a seed and without."""
    views, y, new, _ = two_views_that_disagree()
    answers = []
    for seed in (None, *range(40)):
        model = PerViewSVM(ties="random", random_state=seed).fit(views, y)
        answers.append(model.predict(new))
        assert_array_equal(model.predict(new), answers[-1])
        alone = [model.predict([v[[i]] for v in new])[0] for i in range(4)]
        assert_array_equal(alone, answers[-1])
    wins = np.mean(answers[1:], axis=0)
    assert ((wins > 0.2) & (wins < 0.8)).all()


@pytest.mark.parametrize("ties", ["score", "smallest", "random"])
def test_a_majority_is_never_overruled(ties):
    """Two weak votes against one very sure view."""
    x = np.linspace(-2, 2, 12)[:, None]
    y = (x.ravel() > 0).astype(int)
    model = PerViewSVM(1e3, ties=ties, random_state=0).fit([x, x, x], y)
    new = [np.array([[2.0]]), np.array([[-0.05]]), np.array([[-0.05]])]
    assert_array_equal(model.predict(new), [0])


def test_three_way_tie():
    """Three views, three classes, a vote each; the largest sum wins in the votes by hand."""
    votes, _ = votes_by_hand(THREE, Y3, NEW3, 1.0, [0, 1, 2])
    tied = np.flatnonzero((votes == 1).all(axis=1))
    assert len(tied) >= 1
    new = [v[tied] for v in NEW3]
    assert_array_equal(PerViewSVM(ties="smallest").fit(THREE, Y3).predict(new), 0 * tied)


# ------------------------------------------------------------------ missing views


@pytest.mark.parametrize("weights", [None, np.linspace(0.1, 5.0, 90)], ids=["equal", "weights"])
def test_missing_views_train_and_vote_where_they_are(weights):
    observed = random_pattern(2, 90, 3)
    model = PerViewSVM().fit(MultiView(hide(THREE, observed)), Y3, sample_weight=weights)
    votes = np.zeros((90, 3))
    for view, new, seen in zip(THREE, NEW3, observed.T, strict=True):
        w = None if weights is None else weights[seen]
        one, _ = votes_by_hand([view[seen]], Y3[seen], [new], 1.0, [0, 1, 2], w)
        votes += one * seen[:, None]  # the same pattern at prediction
    f = model.decision_function(MultiView(hide(NEW3, observed)))
    assert_array_equal(np.round(f), votes)
    assert_array_equal(votes.sum(axis=1), observed.sum(axis=1))


@pytest.mark.parametrize("unseen", [0, 1, 2])
def test_a_view_that_met_only_some_classes(unseen):
    """Its votes go to the classes it knows, as by an SVC between those two."""
    observed = np.ones((90, 3), dtype=bool)
    observed[Y3 == unseen, 0] = False
    model = PerViewSVM().fit(MultiView(hide(THREE, observed)), Y3)
    f = model.decision_function([NEW3[0], *(np.full_like(v, np.nan) for v in NEW3[1:])])
    svc = SVC(gamma=1 / 4).fit(THREE[0][Y3 != unseen], Y3[Y3 != unseen])
    assert_array_equal(f.argmax(axis=1), svc.predict(NEW3[0]))
    assert set(f.argmax(axis=1)) == {0, 1, 2} - {unseen}
    assert np.abs(f[:, unseen]).max() < 1e-12


# ------------------------------------------------------------------ kernels, jobs


def test_kernels_of_all_kinds_side_by_side():
    X = [THREE[0], THREE[1], cdist(THREE[2], THREE[2])]
    kernels = ["rbf", polynomial_kernel, "precomputed"]
    model = PerViewSVM(kernel=kernels, gamma=[0.2, None, "mean"]).fit(X, Y3)
    alone = PerViewSVM(kernel=polynomial_kernel).fit([THREE[1]], Y3)
    gone = np.full((90, 4), np.nan), np.full((90, 90), np.nan)
    f = model.decision_function([gone[0], THREE[1], gone[1]])
    assert_allclose(f, alone.decision_function([THREE[1]]), atol=1e-12)
