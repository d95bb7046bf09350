"""L3SVM: a literal table, the quadratic program, MVL-SVM, one SVM per cluster; the API."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from sklearn.utils.estimator_checks import (
    check_sample_weight_equivalence_on_dense_data,
    check_sample_weight_equivalence_on_sparse_data,
)

from mvref import MVLSVM, MultiView
from mvref.core.input import view_features
from mvref.rivals.l3svm import L3SVM, block_features
from tests.literal import hide, hinge_dual, primal_objective, random_pattern, toy_views

WIDTHS = (3, 2)
VIEWS, Y = toy_views(0, m=60, widths=WIDTHS, noise=1.5)
FLAT, SIGNS = np.hstack(VIEWS), np.where(Y == 1, 1.0, -1.0)
NEW = [v[::-1] + 0.3 for v in VIEWS]
LOCAL = [("linear", "shared"), ("linear", "cluster"), ("rbf", "shared"), ("rbf", "cluster")]


def table_by_hand(model, X, kernel):
    """Nearest centre, similarity to each of its landmarks, zeros for the other clusters."""
    centres = model.clusters_.cluster_centers_
    blocks = []
    for j, L in enumerate(model.landmarks_):
        mu = X @ L.T if kernel == "linear" else np.exp(-(cdist(X, L) ** 2) / X.shape[1])
        blocks.append(np.where(cdist(X, centres).argmin(axis=1)[:, None] == j, mu, 0.0))
    return np.hstack(blocks)


@pytest.mark.parametrize(("kernel", "landmarks"), LOCAL)
def test_table_and_score_by_hand(kernel, landmarks):
    model = L3SVM(4, n_landmarks=7, kernel=kernel, landmarks=landmarks, c=10.0, random_state=0)
    model.fit(VIEWS, Y)
    flat = np.hstack(NEW)
    Z = table_by_hand(model, flat, kernel)
    fast = block_features(flat, model.clusters_.predict(flat), model.similarities_)
    assert_allclose(fast.toarray(), Z, rtol=1e-10, atol=1e-12)
    expected = Z @ model.coef_[0] + model.intercept_[0]
    assert_allclose(model.decision_function(NEW), expected, atol=1e-10)
    assert_array_equal(model.predict(NEW), (expected > 0).astype(int))


@pytest.mark.parametrize("c", [1.0, 30.0])
@pytest.mark.parametrize(("kernel", "landmarks"), LOCAL)
def test_is_the_solution_of_the_quadratic_program(kernel, landmarks, c):
    options = {"kernel": kernel, "landmarks": landmarks, "c": c, "random_state": 0}
    model = L3SVM(3, n_landmarks=6, intercept_scaling=2.0, tol=1e-10, **options).fit(VIEWS, Y)
    Z = table_by_hand(model, FLAT, kernel)
    w, _ = hinge_dual(Z, SIGNS, c / 60, 2.0)
    learnt = np.append(model.coef_[0], model.intercept_[0] / 2.0)
    least = primal_objective(w, Z, SIGNS, c / 60, 2.0)
    assert_allclose(primal_objective(learnt, Z, SIGNS, c / 60, 2.0), least, rtol=1e-6)
    assert_allclose(Z @ learnt[:-1] + 2.0 * learnt[-1], Z @ w[:-1] + 2.0 * w[-1], atol=2e-4)


def test_clusters_are_those_of_k_means_and_landmarks_are_members():
    model = L3SVM(4, n_landmarks=5, landmarks="cluster", random_state=3).fit(VIEWS, Y)
    labels = model.clusters_.predict(FLAT)
    again = KMeans(4, n_init=20, random_state=0).fit(FLAT)
    assert model.clusters_.inertia_ <= again.inertia_ * 1.1
    for k, rows in enumerate(model.landmark_indices_):
        assert (labels[rows] == k).all()
        assert len(np.unique(rows)) == len(rows) == min(5, (labels == k).sum())
        assert_array_equal(model.landmarks_[k], FLAT[rows])
    shared = L3SVM(4, n_landmarks=5, random_state=3).fit(VIEWS, Y).landmark_indices_
    assert all(np.array_equal(rows, shared[0]) for rows in shared) and len(shared) == 4


@pytest.mark.parametrize("landmarks", ["shared", "cluster"])
def test_one_cluster_is_mvl_svm(landmarks):
    """The ancestor: same landmarks, same similarities, same problem on one view."""
    options = {"c": 20.0, "tol": 1e-10, "random_state": 0}
    model = L3SVM(1, n_landmarks=12, kernel="rbf", landmarks=landmarks, **options)
    model.fit([FLAT], Y)
    mvl = MVLSVM(landmarks=model.landmark_indices_[0], **options).fit([FLAT], Y)
    new = [np.hstack(NEW)]
    assert_allclose(model.decision_function(new), mvl.decision_function(new), atol=1e-4)


@settings(max_examples=8)
@given(st.integers(0, 10_000), st.sampled_from(["shared", "cluster"]))
def test_without_an_intercept_every_cluster_is_on_its_own(seed, landmarks):
    """b is all that joins the clusters; C stays c/m of all samples."""
    views, y = toy_views(seed, m=50, widths=WIDTHS, noise=1.5)
    flat, signs = np.hstack(views), np.where(y == 1, 1.0, -1.0)
    options = {"landmarks": landmarks, "fit_intercept": False, "tol": 1e-10, "random_state": 0}
    model = L3SVM(3, n_landmarks=5, c=5.0, **options).fit(views, y)
    f = model.decision_function(views)
    labels = model.clusters_.predict(flat)
    thetas = np.split(model.coef_[0], np.cumsum([len(x) for x in model.landmarks_])[:-1])
    for k, theta in enumerate(thetas):
        rows = labels == k
        Phi = flat[rows] @ model.landmarks_[k].T
        w, _ = hinge_dual(Phi, signs[rows], 5.0 / 50, 0.0)
        least = primal_objective(w, Phi, signs[rows], 5.0 / 50, 0.0)
        own = rows @ np.maximum(0, 1 - signs * f) * 5.0 / 50
        assert_allclose(theta @ theta / 2 + own, least, rtol=1e-5)
        assert_allclose(f[rows], Phi @ w, atol=1e-3)


def test_a_matrix_of_distances_or_similarities_is_one_view():
    """Its rows are clustered, and its columns are similarities, or make them."""
    D = cdist(FLAT, FLAT)
    K = np.exp(-0.1 * D**2)
    for kernel, gamma, X in (("precomputed", 0.1, D), ("gram", None, K)):
        model = L3SVM(3, n_landmarks=8, kernel=kernel, gamma=gamma, random_state=0).fit(X, Y)
        theta, k = model.coef_.reshape(3, 8), model.clusters_.predict(X)
        by_hand = (K[:, model.landmark_indices_[0]] * theta[k]).sum(axis=1) + model.intercept_
        assert_allclose(model.decision_function(X), by_hand, atol=1e-9)


@pytest.mark.parametrize("landmarks", ["shared", "cluster"])
def test_empty_clusters(landmarks):
    """Three different samples and five clusters."""
    x = np.repeat([[0.0], [1.0], [3.0]], 10, axis=0)
    y = (x[:, 0] == 1.0).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = L3SVM(5, landmarks=landmarks, random_state=0).fit([x], y)
    assert_array_equal(model.predict([x]), y)
    assert np.isfinite(model.decision_function([np.linspace(-5, 5, 40)[:, None]])).all()


def test_a_missing_view_is_the_mean_of_the_training_samples_that_have_it():
    observed = random_pattern(1, 60, 2)
    gaps = hide(VIEWS, observed)
    means = [np.nanmean(view, axis=0) for view in gaps]
    filled = [np.where(np.isnan(view), mean, view) for view, mean in zip(gaps, means, strict=True)]
    expected = L3SVM(3, random_state=0).fit(filled, Y)
    csr = MultiView([sparse.csr_matrix(view) for view in VIEWS], observed=observed)
    for X in (gaps, csr):
        model = L3SVM(3, random_state=0).fit(X, Y)
        assert_allclose(np.hstack(model.means_), np.hstack(means), atol=1e-12)
        assert_allclose(model.decision_function(X), expected.decision_function(filled), atol=1e-6)
    one = MultiView(hide(VIEWS, np.eye(2, dtype=bool)[np.arange(60) % 2]))[:1]  # lacks view 1
    by_hand = [one.views[0], means[1][None]]
    assert_allclose(model.decision_function(one), expected.decision_function(by_hand), atol=1e-6)


# ------------------------------------------------------------------ the API


def test_landmarks_of_sparse_views_stay_sparse():
    model = L3SVM(3, n_landmarks=10, c=10.0, random_state=0)
    model.fit([sparse.csr_matrix(view) for view in VIEWS], Y)
    assert all(sparse.issparse(landmarks) for landmarks in model.landmarks_)
    scores = model.decision_function([sparse.csr_matrix(view) for view in NEW])
    model.landmarks_ = [landmarks.toarray() for landmarks in model.landmarks_]
    Z = table_by_hand(model, np.hstack(NEW), "linear")
    assert_allclose(scores, Z @ model.coef_[0] + model.intercept_[0], atol=1e-8)


# ------------------------------------------------------------------ weights


class FirstInOrder(L3SVM):
    """The same landmarks for copies as for weights: of different samples, the first by value.

    Enough starts find the best clusters.
    """

    def _fit(self, X, codes, weights):
        self.rows_ = sparse.hstack([sparse.csr_matrix(v) for v in view_features(X, 0.0)]).toarray()
        super()._fit(X, codes, weights)

    def _draw_landmarks(self, labels, rng):
        _, first = np.unique(self.rows_, axis=0, return_index=True)
        if self.landmarks == "shared":
            return [first[: self.n_landmarks]] * self.n_clusters
        return [first[labels[first] == k][: self.n_landmarks] for k in range(self.n_clusters)]


@pytest.mark.parametrize("n_clusters", [1, 2])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_equivalence_checks_of_scikit_learn(n_clusters, loss):
    options = {"loss": loss, "c": 5.0, "tol": 1e-10, "n_init": 30}
    model = FirstInOrder(n_clusters, n_landmarks=4, views=[10, 20], random_state=0, **options)
    check_sample_weight_equivalence_on_dense_data("L3SVM", model)
    check_sample_weight_equivalence_on_sparse_data("L3SVM", model)


@pytest.mark.parametrize("landmarks", ["shared", "cluster"])
def test_a_weight_is_a_number_of_copies(landmarks):
    """Clusters, means of columns, and the mean loss, with gaps."""
    w = np.random.default_rng(0).integers(0, 4, size=60)
    copies = np.repeat(np.arange(60), w)
    gaps = MultiView([sparse.csr_matrix(v) for v in VIEWS], observed=random_pattern(1, 60, 2))
    options = {"landmarks": landmarks, "n_landmarks": 5, "tol": 1e-10, "n_init": 20}
    models = [FirstInOrder(3, random_state=0, **options) for _ in range(3)]
    weighted = models[0].fit(gaps, Y, sample_weight=w)
    repeated = models[1].fit(gaps[copies], Y[copies])
    plain = models[2].fit(gaps, Y)
    assert_allclose(np.hstack(weighted.means_), np.hstack(repeated.means_), atol=1e-12)
    centres = [
        np.sort(model.clusters_.cluster_centers_, axis=0) for model in (weighted, repeated, plain)
    ]
    assert_allclose(centres[0], centres[1], atol=1e-10)
    assert np.abs(centres[2] - centres[1]).max() > 0.01
    expected = repeated.decision_function(NEW)
    assert_allclose(weighted.decision_function(NEW), expected, atol=1e-6)
    assert np.abs(plain.decision_function(NEW) - expected).max() > 0.01
