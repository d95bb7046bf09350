"""LaplacianCompletion: the minimiser of trace(Lap K), checked against it by perturbation."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import linear_kernel
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from mvref import MVLSVM, MultiView
from mvref.rivals import LaplacianCompletion, PerViewSVM
from mvref.rivals.laplacian_completion import harmonic_weights
from tests.literal import complete_gram, hide, laplacian, random_pattern, rbf_gram, toy_views

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


def test_faint_connections_are_connections():
    """Weights of 1e-10 are still weights: nothing but their ratios matters."""
    K = np.full((6, 6), 1e-10)
    np.fill_diagonal(K, 1.0)
    K[0, 1] = K[1, 0] = 1.0
    unknown = np.arange(6) < 2
    assert_allclose(harmonic_weights(K, unknown), 1 / 4, atol=1e-5)


# ------------------------------------------------------------------ the completed Gram matrices


def test_complete_input_is_not_changed():
    K = LaplacianCompletion().fit_transform(VIEWS)
    assert isinstance(K, MultiView) and K.widths == [40] * 3 and K.observed.all()
    for got, expected in zip(K.views, GRAMS, strict=True):
        assert_allclose(got, expected, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_literal_twin(seed):
    observed = pattern(seed)
    K = completed(observed, reference=0)
    for v in range(3):
        expected = complete_gram(GRAMS[v], GRAMS[0], observed[:, v])
        assert_allclose(K.views[v], expected, atol=1e-8)


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


def test_samples_without_the_reference_view():
    """They keep the views they have, and stay missing in the others."""
    observed = np.ones((40, 3), dtype=bool)
    observed[:5, 0] = False
    observed[3:8, 1] = False
    K = completed(observed, reference=0)
    assert_array_equal(K.observed[:, 0], np.arange(40) >= 5)
    assert_array_equal(K.observed[:, 1], ~np.isin(np.arange(40), [3, 4]))
    assert K.observed[:, 2].all()
    kept = np.ix_([0, 1, 2, 20], [0, 1, 2, 20])
    assert_allclose(K.views[1][kept], GRAMS[1][kept], atol=1e-12)
    assert_array_equal(K.views[1][np.arange(8, 40)][:, [3, 4]], 0)
    # sample 5 has the reference but not view 1: a mean of those who have both
    T = harmonic_weights(GRAMS[0][5:, 5:], ~observed[5:, 1])
    assert_allclose(K.views[1][5, 8:], T[0] @ GRAMS[1][8:, 8:], atol=1e-10)


def test_new_samples_take_part_in_the_graph():
    """transform = the rows of the completion of old and new samples together."""
    observed = pattern(5)
    X = MultiView(VIEWS, observed=observed)
    old, new = np.arange(25), np.arange(25, 40)
    completion = LaplacianCompletion(reference=0).fit(X[old])
    for v in range(3):
        expected = complete_gram(GRAMS[v], GRAMS[0], observed[:, v])[np.ix_(new, old)]
        assert_allclose(completion.transform(X[new]).views[v], expected, atol=1e-8)


def test_complete_new_samples_do_not_depend_on_each_other():
    completion = LaplacianCompletion().fit([v[:25] for v in VIEWS])
    K = completion.transform([v[25:] for v in VIEWS])
    for v in range(3):
        assert_allclose(K.views[v], GRAMS[v][25:, :25], atol=1e-12)


def test_precomputed_distances_equal_features():
    observed = pattern(6)
    distances = MultiView([cdist(v, v) for v in VIEWS], observed=observed)
    a = LaplacianCompletion(gamma=0.4, reference=0).fit_transform(
        MultiView(VIEWS, observed=observed)
    )
    b = LaplacianCompletion(kernel="precomputed", gamma=0.4, reference=0).fit_transform(distances)
    assert_allclose(b.concat(), a.concat(), atol=1e-8)


def test_flat_table():
    observed = pattern(7)
    flat = np.hstack(hide(VIEWS, observed))
    a = LaplacianCompletion(views=WIDTHS).fit_transform(flat)
    assert_array_equal(a.concat(), completed(observed).concat())


def test_a_reference_with_negative_similarities_is_refused():
    """The graph needs non-negative weights: else Lap is indefinite and there is no minimum."""
    X = MultiView(VIEWS, observed=pattern(0))
    with pytest.raises(ValueError, match="negative"):
        LaplacianCompletion(kernel=linear_kernel, reference=0).fit_transform(X)


# ------------------------------------------------------------------ before a classifier


@pytest.mark.parametrize(
    "classifier", [PerViewSVM(kernel="gram"), MVLSVM(10, kernel="gram", random_state=0)]
)
def test_before_a_classifier(classifier):
    views, y = toy_views(3, m=60, widths=(4, 4, 4))
    observed = random_pattern(3, 60, 3, share=0.3)
    observed[:, 0] = True
    X = MultiView(views, observed=observed)
    pipeline = make_pipeline(LaplacianCompletion(reference=0), classifier)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scores = cross_val_score(pipeline, X, y, cv=3)
    assert scores.mean() > 0.7
