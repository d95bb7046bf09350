"""Learning in passes: the machine of one piece, whatever the chunks."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from mvref import MVLSVM, MultiView, PerView, fit_in_chunks
from mvref.datasets import load_digits_views
from mvref.mvl_svm import out_of_core
from mvref.mvl_svm.out_of_core import Sums, _add_rows, _first_pass
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
        rows = _first_pass(model, cut(X, y, 5))[0].rows
        assert len(set(rows.tolist())) == 3
        drawn[rows] += 1
    assert_array_equal(drawn[:2], 0)
    # 120 expected for each; six standard deviations of a binomial
    assert np.abs(drawn[2:] - 120).max() < 6 * np.sqrt(400 * 0.3 * 0.7)


def literal_sums(Z, Y, W):
    """Value, gradient and Hessian at W, class by class, from every sample inside the margin."""
    slack = np.maximum(0, 1 - Y * (W @ Z.T))
    inside = slack > 0
    hessian = [sum(np.outer(z, z) for z in Z[of_class]) for of_class in inside]
    return Sums((slack**2).sum(axis=1), (slack * Y) @ Z, np.array(hessian))


def test_the_sums_are_those_of_every_sample_inside_the_margin():
    """And remain so when only what enters and leaves is added, in whatever blocks."""
    rng = np.random.RandomState(0)
    Z, Y = rng.standard_normal((40, 5)), np.sign(rng.standard_normal((3, 40)))
    path = np.cumsum([np.zeros((3, 5)), *rng.randn(6, 3, 5)], axis=0)
    hessian, since, crossings = np.zeros((3, 5, 5)), None, 0
    for W in path:
        sums = Sums(np.zeros(3), np.zeros((3, 5)), np.zeros((1 if since is None else 3, 5, 5)))
        for block in (slice(0, 25), slice(25, 40)):
            _add_rows(sums, Z[block], Y[:, block], W, since)
        literal = literal_sums(Z, Y, W)
        crossings += 0 if since is None else np.abs(literal.hessian - hessian).max() > 0.1
        hessian = hessian + sums.hessian
        for fast, slow in zip(sums._replace(hessian=hessian), literal, strict=True):
            assert_allclose(fast, slow, atol=1e-11)
        since = W
    assert crossings == 6


def test_the_literal_sums_are_derivatives():
    """The gradient is that of the value, and the Hessian that of the gradient, but for factors."""
    rng = np.random.RandomState(0)
    Z, Y, W = rng.standard_normal((40, 5)), np.sign(rng.standard_normal((2, 40))), rng.randn(2, 5)
    now = literal_sums(Z, Y, W)
    for j in range(5):
        h = np.zeros_like(W)
        h[:, j] = 1e-6
        up, down = literal_sums(Z, Y, W + h), literal_sums(Z, Y, W - h)
        assert_allclose((up.value - down.value) / 2e-6, -2 * now.gradient[:, j], rtol=1e-6)
        numeric = (up.gradient - down.gradient) / 2e-6
        assert_allclose(numeric, -now.hessian[:, j], rtol=1e-5, atol=1e-5)


def test_the_draw_is_the_one_of_all_keys_at_once():
    """The L complete samples with the smallest numbers of the generator, in this order."""
    views, y = toy_views(4, m=90, n_classes=3)
    X = MultiView(hide(views, random_pattern(5, 90, len(views), n_complete=30)))
    complete = np.flatnonzero(X.observed.all(axis=1))
    keys = np.random.RandomState(0).uniform(size=len(complete))
    for size in (90, 7):
        drawn, labels = _first_pass(machine(15), cut(X, y, size))
        assert_array_equal(drawn.rows, complete[np.argsort(keys)[:15]])
        assert_array_equal(labels, y)
        for drawn_view, view in zip(drawn.landmarks.views, X.views, strict=True):
            assert_array_equal(drawn_view, view[drawn.rows])


def in_dask(X, y, size, form):
    """The chunks of `cut` as Dask has them."""
    dask = pytest.importorskip("dask")
    blocks = [dask.delayed(pair, traverse=False) for pair in cut(X, y, size)()]
    if form == "delayed":
        return blocks
    bag = pytest.importorskip("dask.bag")
    parts = [blocks[:2], blocks[2:3], [], blocks[3:]]  # one of them is empty
    return bag.from_delayed([dask.delayed(list)(part) for part in parts])


@pytest.mark.parametrize("form", ["delayed", "bag"])
@pytest.mark.parametrize("scheduler", ["sync", "threads"])
@pytest.mark.parametrize("labels", ["numbers", "words"])
def test_chunks_of_dask_are_those_of_a_callable(form, scheduler, labels):
    dask = pytest.importorskip("dask")
    views, y = toy_views(4, m=90, n_classes=3)
    y = np.array(["a", "bb", "ccc"], dtype=object)[y] if labels == "words" else y
    views = hide(views, random_pattern(5, 90, len(views), n_complete=30))
    X = MultiView(views, names=[f"v{v}" for v in range(len(views))])
    here, there = machine(), machine().set_params(random_state=np.random.RandomState(0))
    fit_in_chunks(here, cut(X, y, 7))
    with dask.config.set(scheduler=scheduler):
        fit_in_chunks(there, in_dask(X, y, 7, form))
    assert_array_equal(there.projection_.landmark_indices_, here.projection_.landmark_indices_)
    assert there.n_iter_ == here.n_iter_ and there.view_names_ == X.names
    assert_allclose(there.coef_, here.coef_, rtol=0, atol=1e-10 * np.abs(here.coef_).max())
    assert_allclose(there.intercept_, here.intercept_, atol=1e-10)
    assert_array_equal(there.predict(X), here.predict(X))
    # the generator has moved on by one number per complete sample, as in the callable form
    later = np.random.RandomState(0)
    later.uniform(size=X.observed.all(axis=1).sum())
    assert there.random_state.uniform() == later.uniform()


def test_it_is_the_same_in_small_blocks_of_projections(monkeypatch):
    views, y = toy_views(4, m=90, n_classes=3)
    whole = fit_in_chunks(machine(), cut(MultiView(views), y, 90))
    monkeypatch.setattr(out_of_core, "NUMBERS_PER_BLOCK", 8 * (whole.coef_.shape[1] + 1))
    blocks = fit_in_chunks(machine(), cut(MultiView(views), y, 90))
    assert_allclose(blocks.coef_, whole.coef_, atol=1e-10)


def test_it_tells_how_far_it_is(capsys):
    views, y = toy_views(3, m=60)
    fit_in_chunks(machine(), cut(MultiView(views), y, 20))
    assert capsys.readouterr().err == ""
    fit_in_chunks(machine(), cut(MultiView(views), y, 20), verbose=1)
    assert "passes" in (told := capsys.readouterr().err) and "solved=1 of 1" in told


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
    "list": ((machine(5), [(X, Y)]), {}, ["chunks", "callable", "dask.bag", "list"]),
    "nothing": ((machine(5), lambda: iter(())), {}, ["chunks", "nothing"]),
    "once": ((machine(5), partial(next, iter([[(X, Y)], []]))), {}, ["chunks", "30", "0 later"]),
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


def test_wrong_forms_of_dask():
    dask, bag = pytest.importorskip("dask"), pytest.importorskip("dask.bag")
    one = dask.delayed((X, Y), traverse=False)
    wrong = {"Delayed": one, "list": [one, (X, Y)], "tuple": (bag.from_sequence([1]),)}
    for kind, chunks in wrong.items():
        with pytest.raises(ValueError, match=f"dask.delayed.*got {kind}"):
            fit_in_chunks(machine(5), chunks)
    with pytest.raises(ValueError, match="views"):
        fit_in_chunks(machine(5), [one, dask.delayed((X.select([0]), Y), traverse=False)])
    with pytest.raises(ValueError, match="yielded nothing"):
        fit_in_chunks(machine(5), bag.from_delayed([dask.delayed(list)([])]))
