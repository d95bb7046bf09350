"""LaplacianCompletion: the minimiser of trace(Lap K), checked against it by perturbation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import linear_kernel
from sklearn.pipeline import make_pipeline

from mvref import MultiView, all_methods
from mvref.datasets import load_mfeat
from mvref.rivals import LaplacianCompletion
from mvref.rivals.laplacian_completion import OUTPUTS, harmonic_weights
from tests.literal import complete_gram, laplacian, random_pattern, rbf_gram, toy_views

WIDTHS = (4, 2, 3)
VIEWS, Y = toy_views(0, m=40, widths=WIDTHS)
GRAMS = [rbf_gram(v, 1 / w) for v, w in zip(VIEWS, WIDTHS, strict=True)]
seeds = st.integers(0, 2**31)


def pattern(seed, reference=0):
    """A pattern in which every sample has the reference view."""
    observed = random_pattern(seed, 40, 3)
    observed[:, reference] = True
    return observed


def completed(observed, **options):
    return LaplacianCompletion(**options).fit_transform(MultiView(VIEWS, observed=observed))


def filled(observed, **options):
    return completed(observed, output="features", **options)


def of_new(observed, old, new):
    """Features and Gram rows of new samples, one after the other, from training samples alone.

    Also W, which writes every training sample as a mean of those that have the view.
    """
    features, grams, Ws = [], [], []
    for view, K, seen in zip(VIEWS, GRAMS, observed.T, strict=True):
        here = seen[old]
        lap = laplacian(GRAMS[0][np.ix_(old, old)])[~here]
        W = np.diag(here.astype(float))
        W[np.ix_(~here, here)] = np.linalg.solve(lap[:, ~here], -lap[:, here])
        near = {i: GRAMS[0][i, old] / sum(GRAMS[0][i, old]) @ W for i in new}
        features.append([view[i] if seen[i] else near[i] @ view[old] for i in new])
        K_old = K[np.ix_(old, old)] @ W.T
        grams.append([W @ K[i, old] if seen[i] else near[i] @ K_old for i in new])
        Ws.append(W)
    return {"features": features, "gram": grams, "W": Ws}


def without_reference():
    """Samples 0 to 4 lack the reference view, 3 to 7 view 1."""
    observed = np.ones((40, 3), dtype=bool)
    observed[:5, 0] = observed[3:8, 1] = False
    return observed


# ------------------------------------------------------------------ harmonic weights


@given(seeds, st.integers(1, 38))
def test_rows_are_averages(seed, n_unknown):
    """Rows of T sum to one and have no negative entry: every unknown is a mean of knowns."""
    unknown = np.random.default_rng(seed).permutation(40) < n_unknown
    T = harmonic_weights(GRAMS[0], unknown)
    assert T.shape == (n_unknown, 40 - n_unknown)
    assert_allclose(T.sum(axis=1), 1, atol=1e-10)
    assert T.min() > -1e-12


@given(seeds)
def test_weights_are_harmonic(seed):
    """Each unknown row is the weighted mean of all others in the reference graph."""
    unknown = np.random.default_rng(seed).random(40) < 0.4
    unknown[0] = False
    T = harmonic_weights(GRAMS[1], unknown)
    everyone = np.zeros((40, (~unknown).sum()))
    everyone[~unknown] = np.eye((~unknown).sum())
    everyone[unknown] = T
    weights = GRAMS[1] - np.diag(np.diag(GRAMS[1]))
    mean = weights @ everyone / weights.sum(axis=1, keepdims=True)
    assert_allclose(mean[unknown], T, atol=1e-10)


@given(seeds, st.integers(1, 6))
def test_an_island_without_any_known_sample(seed, island):
    """Unknown samples connected to no known one: a warning, and weights that invent nothing."""
    rng = np.random.default_rng(seed)
    K = rng.uniform(0.1, 1, size=(12, 12))
    K = (K + K.T) / 2
    K[:island, island:] = K[island:, :island] = 0.0
    unknown = np.arange(12) < island
    unknown[11] = True
    with pytest.warns(ConvergenceWarning, match="connected to no known"):
        T = harmonic_weights(K, unknown)
    assert np.isfinite(T).all() and np.abs(T).max() <= 1 + 1e-6
    known = K[11, island:11]
    assert_allclose(T[-1], known / known.sum(), atol=1e-6)  # connected: a mean all the same


@pytest.mark.parametrize(("n", "weight", "alike"), [(6, 1e-10, 1.0), (4, 1e-20, 1e-20)])
def test_faint_connections_are_connections(n, weight, alike):
    """Beside the 1 of every sample with itself: nothing but the ratios of weights matters."""
    K = np.full((n, n), weight)
    np.fill_diagonal(K, 1.0)
    K[0, 1] = K[1, 0] = alike
    assert_allclose(harmonic_weights(K, np.arange(n) < 2), 1 / (n - 2), atol=1e-7)


def test_a_kernel_too_narrow_is_refused_with_a_reason():
    """Two unknown samples, alike to each other and to nobody else within rounding."""
    K = np.eye(3)
    K[0, 1] = K[1, 0] = 1.0
    K[0, 2] = K[2, 0] = 1e-300
    with pytest.raises(ValueError, match="kernel is too narrow, reduce its gamma"):
        harmonic_weights(K, np.array([True, True, False]))


# ------------------------------------------------------------------ the completed Gram matrices


def test_complete_input_is_not_changed():
    K = LaplacianCompletion().fit_transform(VIEWS)
    assert isinstance(K, MultiView) and K.widths == [40] * 3 and K.observed.all()
    for got, expected in zip(K.views, GRAMS, strict=True):
        assert_allclose(got, expected, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_literal_twin(seed):
    observed = pattern(seed)
    views = completed(observed, reference=0).views
    for K, gram, seen in zip(views, GRAMS, observed.T, strict=True):
        assert_allclose(K, complete_gram(gram, GRAMS[0], seen), atol=1e-8)


@given(seeds)
def test_known_block_kept_symmetric_positive(seed):
    observed = pattern(seed)
    K = completed(observed, reference=0)
    for v in range(3):
        known = np.ix_(observed[:, v], observed[:, v])
        assert_allclose(K.views[v][known], GRAMS[v][known], atol=1e-12)
        assert_allclose(K.views[v], K.views[v].T, atol=1e-12)
        assert np.linalg.eigvalsh(K.views[v])[0] > -1e-10
    assert K.observed.all()


@given(seeds, st.floats(1e-3, 1.0))
def test_trace_is_minimal(seed, size):
    """Any other PSD completion of the known block has a larger trace(Lap K)."""
    observed = pattern(seed)
    known = observed[:, 1]
    K = completed(observed, reference=0).views[1]
    lap = laplacian(GRAMS[0])
    best = np.trace(lap @ K)
    values, vectors = np.linalg.eigh(K)
    F = vectors * np.sqrt(np.maximum(values, 0))
    rng = np.random.default_rng(seed)
    other = F.copy()
    other[~known] += size * rng.normal(size=F[~known].shape)
    perturbed = other @ other.T
    assert_allclose(perturbed[np.ix_(known, known)], K[np.ix_(known, known)], atol=1e-9)
    if (~known).any():
        assert np.trace(lap @ perturbed) > best
    # a rank-one term on the unknown block keeps K feasible too
    direction = np.where(known, 0.0, rng.normal(size=40))
    assert np.trace(lap @ (K + size * np.outer(direction, direction))) >= best


def test_the_reference_is_the_view_that_most_samples_have():
    observed = np.ones((40, 3), dtype=bool)
    observed[:9, 0] = observed[5:10, 2] = False
    observed[30:38, 1] = False
    X = MultiView(VIEWS, observed=observed, names=["a", "b", "c"])
    assert LaplacianCompletion().fit(X).reference_ == 2
    for reference in (1, "b", -2, np.int64(1)):
        assert LaplacianCompletion(reference=reference).fit(X).reference_ == 1


@pytest.mark.parametrize("output", OUTPUTS)
def test_samples_without_the_reference_view_stay_missing(output):
    """In the views that they do not have."""
    there = completed(without_reference(), reference=0, output=output).observed
    assert_array_equal(there[:, 0], np.arange(40) >= 5)
    assert_array_equal(there[:, 1], ~np.isin(np.arange(40), [3, 4]))
    assert there[:, 2].all()


def test_samples_without_the_reference_view_keep_the_views_they_have():
    observed = without_reference()
    K, F = completed(observed, reference=0), filled(observed, reference=0)
    kept = np.ix_([0, 1, 2, 20], [0, 1, 2, 20])
    assert_allclose(K.views[1][kept], GRAMS[1][kept], atol=1e-12)
    assert_array_equal(K.views[1][np.arange(8, 40)][:, [3, 4]], 0)
    # sample 5 has the reference but not view 1: a mean of those who have both
    T = harmonic_weights(GRAMS[0][5:, 5:], ~observed[5:, 1])
    assert_allclose(K.views[1][5, 8:], T[0] @ GRAMS[1][8:, 8:], atol=1e-10)
    assert_allclose(F.views[1][5:8], T @ VIEWS[1][8:], atol=1e-12)
    assert_array_equal(F.views[1][:3], VIEWS[1][:3])


@pytest.mark.parametrize("output", OUTPUTS)
def test_new_samples_are_completed_from_training_samples_alone(output):
    """The smoothest points for a training set that stays as it is; training samples keep theirs."""
    X, old, new = MultiView(VIEWS, observed=pattern(5)), np.arange(25), np.arange(25, 40)
    model = LaplacianCompletion(output=output, reference=0)
    trained, expected = model.fit_transform(X[old]), of_new(X.observed, old, new)[output]
    for found, view in zip(model.transform(X[new]).views, expected, strict=True):
        assert_allclose(found, view, atol=1e-10)
    assert_allclose(model.transform(X[old]).concat(), trained.concat(), atol=1e-10)


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("kernel", ["rbf", "precomputed"])
def test_who_is_asked_with_a_sample_does_not_matter(output, kernel):
    """Six views of digits, half of them missing, and the reference view too."""
    views = load_mfeat().X[::20].views
    if kernel == "precomputed":
        views = [cdist(view, view[:60]) for view in views]
    X = MultiView([v / v.std() for v in views]).drop_views(0.5, random_state=0)
    gamma = 1.0 if kernel == "precomputed" else None
    model = LaplacianCompletion(kernel=kernel, gamma=gamma, output=output).fit(X[:60])
    together, alone = model.transform(X[60:]), [model.transform(X[[i]]) for i in range(60, 100)]
    assert not together.observed.all() and (together.observed > X[60:].observed).any()
    assert_array_equal(together.observed, np.vstack([one.observed for one in alone]))
    assert_allclose(together.concat(), np.vstack([one.concat() for one in alone]), atol=1e-10)


def test_a_new_sample_like_nobody():
    X = MultiView([VIEWS[0], VIEWS[1]], observed=pattern(5)[:, :2])
    far = MultiView([VIEWS[0][:2] + [[1e3], [0.0]], VIEWS[1][:2] * np.nan])
    model = LaplacianCompletion(output="features", reference=0, gamma=1.0).fit(X)
    with pytest.warns(ConvergenceWarning, match=r"1 sample\(s\) are connected to no known one"):
        filled = model.transform(far).views[1]
    assert_array_equal(filled[0], 0)
    assert filled[1].any()


def test_complete_new_samples_do_not_depend_on_each_other():
    old, new = [v[:25] for v in VIEWS], [v[25:] for v in VIEWS]
    for K, gram in zip(LaplacianCompletion().fit(old).transform(new).views, GRAMS, strict=True):
        assert_allclose(K, gram[25:, :25], atol=1e-12)
    gaps = MultiView(VIEWS, observed=pattern(5))[np.arange(25)]
    model = LaplacianCompletion(output="features", reference=0).fit(gaps)
    assert_array_equal(model.transform(new).concat(), np.hstack(new))


def test_precomputed_distances_equal_features():
    observed, options = pattern(6), {"gamma": 0.4, "reference": 0}
    distances = MultiView([cdist(v, v) for v in VIEWS], observed=observed)
    K = LaplacianCompletion(kernel="precomputed", **options).fit_transform(distances)
    assert_allclose(K.concat(), completed(observed, **options).concat(), atol=1e-8)


def test_a_reference_with_negative_similarities_is_refused():
    """The graph needs non-negative weights: else Lap is indefinite and there is no minimum."""
    with pytest.raises(ValueError, match="kernel has negative similarities, down to -"):
        completed(pattern(0), kernel=linear_kernel, reference=0)
    X = MultiView(VIEWS)
    model = LaplacianCompletion(kernel="linear", reference=0).fit(X)
    assert_allclose(model.transform(X).views[1], VIEWS[1] @ VIEWS[1].T)  # there is no graph
    with pytest.raises(ValueError, match="kernel has negative similarities, down to -"):
        model.transform(MultiView(VIEWS, observed=pattern(0)))


# ------------------------------------------------------------------ features


@given(seeds)
def test_linear_gram_of_the_filled_features_is_the_completed_linear_gram(seed):
    """On the same graph, which is that of an RBF kernel: both forms are one completion."""
    observed = pattern(seed)
    F = filled(observed, reference=0)
    K = completed(observed, reference=0, kernel=["rbf", linear_kernel, linear_kernel])
    for v in (1, 2):
        assert_allclose(F.views[v] @ F.views[v].T, K.views[v], atol=1e-9)
        assert_array_equal(F.views[v][observed[:, v]], VIEWS[v][observed[:, v]])
        assert F.views[v].min() >= VIEWS[v][observed[:, v]].min() - 1e-9  # averages
    assert_array_equal(F.views[0], VIEWS[0])
    assert F.observed.all() and F.widths == list(WIDTHS)


@given(seeds, st.floats(1e-3, 1.0))
def test_filled_features_are_smoothest(seed, size):
    """trace(X' Lap X), as a double loop over samples, is least; and by least squares."""
    observed = pattern(seed)
    known, F = observed[:, 1], filled(observed, reference=0).views[1]

    def roughness(F):
        return sum(k * np.sum((F[i] - F[j]) ** 2) for (i, j), k in np.ndenumerate(GRAMS[0]))

    best = roughness(F)
    rng = np.random.default_rng(seed)
    other = F + np.where(known[:, None], 0.0, size * rng.normal(size=F.shape))
    assert known.all() or roughness(other) > best
    assert_allclose(best, 2 * np.trace(F.T @ laplacian(GRAMS[0]) @ F), rtol=1e-9)
    lap = laplacian(GRAMS[0])[~known]
    solved = np.linalg.lstsq(lap[:, ~known], -lap[:, known] @ VIEWS[1][known], rcond=None)[0]
    assert_allclose(F[~known], solved, atol=1e-8)


def test_only_the_kernel_of_the_reference_view_counts():
    observed = pattern(3)
    a = filled(observed, reference=0, kernel=["rbf", "gram", "cosine"], gamma=[0.7, 9.0, None])
    b = filled(observed, reference=0, gamma=0.7)
    assert_array_equal(a.concat(), b.concat())
    assert np.abs(a.concat() - filled(observed, reference=0, gamma=0.1).concat()).max() > 1e-3
    model = LaplacianCompletion(output="features", reference=0, gamma=0.7)
    assert model.fit(MultiView(VIEWS, observed=observed)).gamma_ == [0.7, None, None]


def test_sparse_views_stay_sparse():
    observed = pattern(4) & without_reference()
    dense = MultiView(VIEWS, observed=observed)
    csr = MultiView([sparse.csr_matrix(view) for view in VIEWS], observed=observed)
    old, new = np.arange(30), np.arange(30, 40)
    model = LaplacianCompletion(output="features", reference=0)
    a, b = (clone(model).fit(X[old]) for X in (dense, csr))
    for one, other in (
        (a.transform(dense[new]), b.transform(csr[new])),
        (a.transform(dense[old]), b.transform(csr[old])),
        (a.transform(dense[new]), b.transform(dense[new])),
        (model.fit_transform(dense), model.fit_transform(csr)),
    ):
        assert all(sparse.issparse(view) for view in other.views)
        assert_array_equal(one.observed, other.observed)
        assert_allclose(other.concat().toarray(), one.concat(), atol=1e-12)


# ------------------------------------------------------------------ before a classifier

ALL = {name: method for name, method in all_methods().items() if name != "LaplacianCompletion"}
WITH_GRAM = [
    "CoLabeling", "KMHKS", "LandmarkProjection", "MVLSVM", "MVML", "MVNAKMHKS", "MVPO", "NAKMHKS",
    "PerViewSVM", "SVM2K",
]  # fmt: skip


def of(name, **parameters):
    """An instance with a seed, where it takes one; few rounds where it boosts."""
    estimator = ALL[name](**parameters)
    few = {"random_state": 0, "n_estimators": 5, "n_init": 1}
    few |= {"alpha": 0.1} if name.startswith("MVM") else {}  # one minimum, which rounding spares
    known = few.keys() & estimator.get_params().keys()
    return estimator.set_params(**{key: few[key] for key in known})


def says(estimator, X):
    """What a fitted estimator says of X, as one array."""
    name = next(n for n in ("decision_function", "predict", "transform") if hasattr(estimator, n))
    return getattr(estimator, name)(X)


def test_every_method_that_takes_gram_matrices_is_named():
    takers = []
    for name in sorted(ALL):
        if "kernel" in ALL[name]().get_params():
            try:
                of(name, kernel="gram").fit(GRAMS, Y)
            except ValueError as refusal:
                assert str(refusal).startswith("kernel must be one of")
            else:
                takers.append(name)
    assert takers == WITH_GRAM


@pytest.mark.parametrize("name", WITH_GRAM)
def test_before_every_kernel_method(name):
    """The same as the method's own RBF kernel on complete data; with gaps, as Gram matrices that
    are completed entry by entry."""
    old, new = np.arange(30), np.arange(30, 40)
    complete = MultiView(VIEWS)
    pipeline = make_pipeline(LaplacianCompletion(), of(name, kernel="gram"))
    own = of(name, kernel="rbf").fit(complete[old], Y[old])
    pipeline.fit(complete[old], Y[old])
    assert_allclose(says(pipeline, complete[new]), says(own, complete[new]), atol=2e-3)
    observed = pattern(11)
    X = MultiView(VIEWS, observed=observed)
    pipeline = make_pipeline(LaplacianCompletion(reference=0), of(name, kernel="gram"))
    pipeline.fit(X[old], Y[old])

    square = np.ix_(old, old)
    pairs = zip(GRAMS, observed[old].T, strict=True)
    grams = [complete_gram(K[square], GRAMS[0][square], seen) for K, seen in pairs]
    by_hand = of(name, kernel="gram").fit(grams, Y[old])
    both = of_new(observed, old, new)["gram"]
    assert_allclose(says(pipeline, X[new]), says(by_hand, both), atol=2e-3)


@pytest.mark.parametrize("name", ALL)
def test_features_before_every_method(name):
    """A method after the completion is that method on rows filled by hand."""
    old, new = np.arange(30), np.arange(30, 40)
    observed = pattern(12)
    X = MultiView(VIEWS, observed=observed)
    pipeline = make_pipeline(LaplacianCompletion(output="features", reference=0), of(name))
    pipeline.fit(X[old], Y[old])

    by_hand = of_new(observed, old, new)
    filled = [W @ view[old] for W, view in zip(by_hand["W"], VIEWS, strict=True)]
    said = says(of(name).fit(filled, Y[old]), by_hand["features"])
    assert_allclose(says(pipeline, X[new]), said, rtol=5e-3, atol=2e-3)
