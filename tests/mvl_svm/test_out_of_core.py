"""Learning in passes: the machine of one piece, whatever the chunks."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from mvref import MVLSVM, MultiView, PerView, fit_in_chunks
from mvref.datasets import load_digits_views
from mvref.mvl_svm.out_of_core import _first_pass, _sums
from tests.costs import peak_bytes
from tests.literal import hide, random_pattern, toy_views


def cut(X, y, size):
    """A callable that yields the samples in chunks."""

    def chunks():
        for start in range(0, len(y), size):
            yield X[start : start + size], y[start : start + size]

    return chunks


def machine(L=15, **options):
    return MVLSVM(L, loss="squared_hinge", random_state=0, **options)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("options", [{}, {"fit_intercept": False}, {"c": 1e4}, {"c": 0.1}])
def test_it_is_the_machine_of_one_piece(n_classes, options):
    views, y = toy_views(3, m=150, n_classes=n_classes)
    X = MultiView(views)
    passes = fit_in_chunks(machine(**options), cut(X, y, 40))
    rows = passes.projection_.landmark_indices_
    whole = machine(landmarks=rows, tol=1e-7, **options).fit(X, y)
    Phi = whole.projection_.transform(X)
    assert_allclose(passes.projection_.transform(X), Phi, atol=1e-12)
    assert_allclose(passes.coef_, whole.coef_, atol=1e-4 * np.abs(whole.coef_).max())
    # J is strictly convex: where its gradient is zero is its minimum
    bias = 1.0 if passes.fit_intercept else 0.0
    Z = np.hstack([Phi, np.full((150, 1), bias)])
    positive = [1] if n_classes == 2 else range(n_classes)
    for k, w, b in zip(positive, passes.coef_, passes.intercept_, strict=True):
        sign, w = np.where(y == passes.classes_[k], 1.0, -1.0), np.append(w, b)
        slack = np.maximum(0, 1 - sign * (Z @ w))
        gradient = w - 2 * passes.c / 150 * Z.T @ (sign * slack)
        assert np.abs(gradient).max() < 1e-6 * max(1, passes.c)


@pytest.mark.parametrize("form", ["dense", "sparse", "gaps"])
def test_chunks_change_nothing(form):
    views, y = toy_views(4, m=90, n_classes=3)
    if form == "sparse":
        views = [sparse.csr_matrix(np.where(np.abs(v) < 0.5, 0, v)) for v in views]
    if form == "gaps":
        views = hide(views, random_pattern(5, 90, len(views), n_complete=30))
    X = MultiView(views)
    runs = [fit_in_chunks(machine(), cut(X, y, size)) for size in (90, 13, 1)]
    for run in runs[1:]:
        assert_array_equal(run.projection_.landmark_indices_, runs[0].projection_.landmark_indices_)
        assert_allclose(run.coef_, runs[0].coef_, atol=1e-8)


def test_landmarks_are_a_draw_without_replacement_of_all_complete_samples():
    X = MultiView([np.arange(12.0)[:, None], np.ones((12, 1))])
    X = MultiView(X.views, observed=np.arange(12)[:, None] != [[0, 1]])  # 0 and 1 lack a view
    y = np.arange(12) % 2
    drawn = np.zeros(12)
    for seed in range(400):
        model = MVLSVM(3, loss="squared_hinge", random_state=seed)
        _, rows, _ = _first_pass(model, cut(X, y, 5))
        assert len(set(rows.tolist())) == 3
        drawn[rows] += 1
    assert_array_equal(drawn[:2], 0)
    # 120 expected for each; six standard deviations of a binomial
    assert np.abs(drawn[2:] - 120).max() < 6 * np.sqrt(400 * 0.3 * 0.7)


def test_the_sums_are_value_gradient_and_hessian():
    rng = np.random.RandomState(0)
    Z, Y, W = rng.standard_normal((40, 5)), np.sign(rng.standard_normal((2, 40))), rng.randn(2, 5)

    def sums(W):
        return _sums(lambda: iter([Z[:25], Z[25:]]), Y, 0.7, W)

    slack = np.maximum(0, 1 - Y * (W @ Z.T))
    assert_allclose(sums(W).value, (W**2).sum(axis=1) / 2 + 0.7 * (slack**2).sum(axis=1))
    for j in range(5):
        h = np.zeros_like(W)
        h[:, j] = 1e-6
        up, down = sums(W + h), sums(W - h)
        assert_allclose((up.value - down.value) / 2e-6, sums(W).gradient[:, j], rtol=1e-6)
        numeric = (up.gradient - down.gradient) / 2e-6
        assert_allclose(numeric, sums(W).hessian[:, j], rtol=1e-5, atol=1e-5)


def test_memory_does_not_grow_with_the_samples():
    """Chunks are drawn on demand; ten times as many may cost the labels and little more."""
    rng = np.random.RandomState(0)
    centres = rng.standard_normal((2, 30))

    def stream(n_chunks):
        def chunks():
            for i in range(n_chunks):
                draw = np.random.RandomState(i)
                y = draw.randint(2, size=500)
                x = centres[y] + 2 * draw.standard_normal((500, 30))
                yield [x[:, :10], x[:, 10:]], y

        return chunks

    peaks = [peak_bytes(lambda n=n: fit_in_chunks(machine(30, c=1.0), stream(n))) for n in (4, 40)]
    labels = 36 * 500 * 8
    assert peaks[1] - peaks[0] < 6 * labels < 0.25 * 36 * 500 * 30 * 8


def test_it_learns_digits_and_tells_how_many_passes():
    data = load_digits_views("quarters")
    X = PerView(StandardScaler()).fit_transform(data.X)
    model = fit_in_chunks(machine(50, c=100.0), cut(X[::2], data.y[::2], 200))
    assert model.score(X[1::2], data.y[1::2]) > 0.9
    assert 3 <= model.n_iter_ <= 20


def test_a_limit_of_passes_warns():
    views, y = toy_views(3, m=60)
    with pytest.warns(ConvergenceWarning, match="max_passes=2"):
        fit_in_chunks(machine(), cut(MultiView(views), y, 20), max_passes=2)


VIEWS, Y = toy_views(0, m=30)
X = MultiView(VIEWS)
WRONG = {
    "hinge": ((MVLSVM(5), cut(X, Y, 9)), {}, ["loss='squared_hinge'", "'hinge'"]),
    "per view": ((machine(5, landmarks="per_view"), cut(X, Y, 9)), {}, ["landmarks", "'per_view'"]),
    "selected": ((machine(5, n_selected=2), cut(X, Y, 9)), {}, ["n_selected=None", "2"]),
    "weighted": ((machine(5, class_weight="balanced"), cut(X, Y, 9)), {}, ["class_weight=None"]),
    "distances": ((machine(5, kernel="precomputed"), cut(X, Y, 9)), {}, ["kernel", "precomputed"]),
    "list": ((machine(5), [(X, Y)]), {}, ["chunks", "callable", "list"]),
    "nothing": ((machine(5), lambda: iter(())), {}, ["chunks", "none"]),
    "too few": ((machine(31), cut(X, Y, 9)), {}, ["n_landmarks", "30", "31"]),
    "lengths": ((machine(5), lambda: [(X, Y[:-1])]), {}, ["29", "30"]),
    "one class": ((machine(5), cut(X, np.zeros(30), 9)), {}, ["2 classes"]),
    "views": ((machine(5), lambda: [(X, Y), (X.select([0]), Y)]), {}, ["views"]),
    "max_passes": ((machine(5), cut(X, Y, 9)), {"max_passes": 1}, ["max_passes", "1"]),
    "tol": ((machine(5), cut(X, Y, 9)), {"tol": 0}, ["tol", "0"]),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_calls(name):
    arguments, options, words = WRONG[name]
    with pytest.raises(ValueError) as error:
        fit_in_chunks(*arguments, **options)
    for word in words:
        assert word in str(error.value)
