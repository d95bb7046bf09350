"""Landmarks: how they are drawn, the projection (Eq. 1), and imputation (Eq. 11)."""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel

import mvref
from mvref import MVLSVM, LandmarkProjection, MultiView
from mvref.mvl_svm import draw_landmarks, impute, project
from mvref.rivals import MSL, STMClassifier
from tests.literal import hide, impute_row_by_row, random_pattern, rbf_projection, toy_views

WIDTHS = (4, 2, 3)
GAMMAS = [1 / w for w in WIDTHS]
VIEWS, _ = toy_views(0, m=60, widths=WIDTHS)
seeds = st.integers(0, 2**31)


def gaps(seed, m=60, V=3, n_complete=0):
    return MultiView(hide(VIEWS, random_pattern(seed, m, V, n_complete=n_complete)))


def latent_with_gaps(seed, m=40, V=3, L=5):
    """A well conditioned problem of Eq. (11): projections with gaps, and the landmarks' own."""
    rng = np.random.default_rng(seed)
    P = rng.normal(size=(L, L * V)) + 3 * np.tile(np.eye(L), V)
    Phi = rng.normal(size=(m, L * V))
    Phi[np.repeat(~random_pattern(seed, m, V), L, axis=1)] = np.nan
    return Phi, P


# ------------------------------------------------------------------ drawing


@given(seeds, st.integers(1, 12), st.booleans())
def test_landmarks_are_distinct_complete_rows(seed, L, per_view):
    observed = random_pattern(seed, 40, 3, n_complete=12)
    rng = np.random.RandomState(seed % 2**32)
    drawn = draw_landmarks(observed, L, rng, per_view=per_view)
    assert drawn.shape == ((3, L) if per_view else (L,))
    for v, rows in enumerate(np.atleast_2d(drawn)):
        assert len(set(rows)) == L
        assert observed[rows, v].all() and (per_view or observed[rows].all())


def test_landmarks_are_drawn_uniformly():
    """Each of 12 candidates with probability L/12, within five standard errors."""
    observed = np.ones((20, 2), dtype=bool)
    observed[12:, 1] = False
    n_draws, L = 3000, 4
    rng = np.random.RandomState(0)
    drawn = [draw_landmarks(observed, L, rng) for _ in range(n_draws)]
    share = np.bincount(np.concatenate(drawn), minlength=20) / n_draws
    p = L / 12
    assert_allclose(share[:12], p, atol=5 * np.sqrt(p * (1 - p) / n_draws))
    assert (share[12:] == 0).all()


def test_auto_takes_all_complete_samples_up_to_200():
    assert len(LandmarkProjection().fit(VIEWS).landmark_indices_) == 60
    X = gaps(0, n_complete=7)
    n_complete = X.observed.all(axis=1).sum()
    assert len(LandmarkProjection().fit(X).landmark_indices_) == n_complete
    many = [np.random.default_rng(0).normal(size=(300, 2))]
    assert len(LandmarkProjection().fit(many).landmark_indices_) == 200


@pytest.mark.parametrize(
    "name", ["MVLSVM", "LandmarkProjection", "L3SVM", "MVNAKMHKS", "NAKMHKS", "MVML"]
)
def test_a_fold_of_fewer_samples_gives_all_of_them(name):
    """As in scikit-learn's Nystroem: a search and a learning curve would end otherwise."""
    method, y = mvref.all_methods()[name], np.arange(60) % 2
    many = "n_landmarks" if hasattr(method(), "n_landmarks") else "n_components"
    seed = {"random_state": 0} if hasattr(method(), "random_state") else {}
    told = f"{many}=70 is larger than the number of samples, 60. All samples are used"
    with pytest.warns(UserWarning, match=told) as warned:
        model = method(**{many: 70}, **seed).fit(VIEWS, y)
    assert {Path(warning.filename).name for warning in warned} == {Path(__file__).name}
    same = method(**{many: 60}, **seed).fit(VIEWS, y)
    answer = "decision_function" if hasattr(model, "decision_function") else "transform"
    assert_array_equal(getattr(model, answer)(VIEWS), getattr(same, answer)(VIEWS))


# ------------------------------------------------------------------ projection


def test_projection_by_loops():
    """Every entry of mu(x), view-major columns, gamma = 1/n_v."""
    projection = LandmarkProjection(6, random_state=0).fit(VIEWS)
    rows = projection.landmark_indices_
    for view, landmarks in zip(VIEWS, projection.landmarks_.views, strict=True):
        assert_array_equal(landmarks, view[rows])
    expected = rbf_projection(VIEWS, [rows] * 3, GAMMAS)
    assert_allclose(projection.transform(VIEWS), expected, atol=1e-13)


@given(seeds, st.floats(1e-3, 1e3))
def test_similarities_are_in_the_unit_interval_and_one_at_the_landmark(seed, gamma):
    """A5.1: Phi in [0, 1], and Phi[l_p, p + v L] = 1."""
    projection = LandmarkProjection(6, gamma=gamma, random_state=seed).fit(VIEWS)
    Phi = projection.transform(VIEWS)
    assert Phi.shape == (60, 18) and ((Phi >= 0) & (Phi <= 1)).all()
    for v in range(3):
        for p, row in enumerate(projection.landmark_indices_):
            # rounding of the distance, times gamma
            assert abs(Phi[row, v * 6 + p] - 1) <= 1e-12 * max(gamma, 1)


def test_feature_names_and_pandas_output():
    X = MultiView({"sound": VIEWS[0], "image": VIEWS[1]})
    projection = LandmarkProjection(2, random_state=0).set_output(transform="pandas")
    frame = projection.fit_transform(X)
    expected = ["sound_landmark0", "sound_landmark1", "image_landmark0", "image_landmark1"]
    assert isinstance(frame, pd.DataFrame) and list(frame.columns) == expected


# ------------------------------------------------------------------ kernels per view


def test_a_kernel_and_gamma_for_every_view():
    options = {"kernel": ["rbf", linear_kernel, "precomputed"], "gamma": [0.5, None, "mean"]}
    projection = LandmarkProjection(5, random_state=0, **options)
    D = cdist(VIEWS[2], VIEWS[2])
    Phi = projection.fit_transform([VIEWS[0], VIEWS[1], D])
    rows = projection.landmark_indices_
    assert_allclose(Phi[:, :5], rbf_kernel(VIEWS[0], VIEWS[0][rows], gamma=0.5))
    assert_allclose(Phi[:, 5:10], VIEWS[1] @ VIEWS[1][rows].T)
    assert_allclose(Phi[:, 10:], np.exp(-(D[:, rows] ** 2) / D.mean()))


def test_precomputed_distances_in_a_cross_validation_fold():
    """A fold is rows of the (N, N) matrix: (m, N), every training row with its own zero."""
    distances = MultiView([cdist(v, v) for v in VIEWS])
    train, test = np.arange(0, 60, 2), np.arange(1, 60, 2)
    on_distances = LandmarkProjection(8, kernel="precomputed", gamma=0.4, random_state=0)
    on_features = LandmarkProjection(8, gamma=0.4, random_state=0).fit([v[train] for v in VIEWS])
    expected = on_features.transform([v[test] for v in VIEWS])
    Phi = on_distances.fit(distances[train]).transform(distances[test])
    assert_allclose(Phi, expected, atol=1e-12)


def test_landmarks_per_view():
    """The paper's first perspective: other landmarks in every view."""
    projection = LandmarkProjection(5, landmarks="per_view", random_state=0).fit(VIEWS)
    rows = projection.landmark_indices_
    assert rows.shape == (3, 5) and len({tuple(sorted(r)) for r in rows}) == 3
    for v in range(3):
        assert_array_equal(projection.landmarks_.views[v], VIEWS[v][rows[v]])
    expected = rbf_projection(VIEWS, rows, GAMMAS)
    assert_allclose(projection.transform(VIEWS), expected, atol=1e-13)


def test_landmarks_per_view_impute_from_all_of_their_samples():
    """Eq. (11) then runs over every sample that is a landmark of some view, with means for gaps."""
    X = gaps(1, n_complete=20)
    projection = LandmarkProjection(5, landmarks="per_view", ridge=0.1, clip=None, random_state=0)
    Phi = projection.fit_transform(X)
    samples = np.unique(projection.landmark_indices_)
    places = np.searchsorted(samples, projection.landmark_indices_)
    P = rbf_projection([v[samples] for v in VIEWS], places, GAMMAS)
    P[np.repeat(~X.observed[samples], 5, axis=1)] = np.nan
    assert np.isnan(P).any()
    P = np.where(np.isnan(P), np.nanmean(P, axis=0), P)
    raw = rbf_projection(VIEWS, projection.landmark_indices_, GAMMAS)
    raw[np.repeat(~X.observed, 5, axis=1)] = np.nan
    assert_allclose(Phi, impute_row_by_row(raw, P, ridge=0.1), atol=1e-10)
    assert projection.reference_.shape == (len(samples), 15)


@pytest.mark.parametrize("n_complete", [0, 2, 30])
@pytest.mark.parametrize("method", [MVLSVM, MSL, STMClassifier])
def test_few_complete_samples_are_warned_of_and_none_is_refused_with_a_way_out(method, n_complete):
    """Half of the samples lack one view, half the other."""
    views, y = toy_views(0, m=120, widths=(4, 3), noise=0.5)
    observed = np.eye(2, dtype=bool)[np.arange(120) // 2 % 2]
    observed[:n_complete] = True
    X, model = MultiView(views, observed=observed), method(random_state=0)
    if n_complete == 0:
        with pytest.raises(ValueError, match="per_view|PerViewClassifier|PerViewSVM"):
            model.fit(X, y)
    elif n_complete == 2:
        with pytest.warns(UserWarning, match="only 2 of 120 training samples have all views"):
            model.fit(X, y)
    else:
        with warnings.catch_warnings():
            warnings.filterwarnings("error", "only")
            model.fit(X, y)
    if method is MVLSVM:
        model.set_params(landmarks="per_view", c=10.0)
        assert model.fit(X[:80], y[:80]).score(MultiView(views)[80:], y[80:]) > 0.9


def test_chosen_landmarks():
    drawn = LandmarkProjection(9, random_state=0).fit(VIEWS)
    chosen = LandmarkProjection(landmarks=drawn.landmark_indices_.tolist()).fit(VIEWS)
    assert_array_equal(chosen.landmark_indices_, drawn.landmark_indices_)
    assert_array_equal(chosen.transform(VIEWS), drawn.transform(VIEWS))


def test_landmarks_of_their_own_are_known_though_training_has_gaps():
    """They are no rows of training: by loops on vectors, and on distances."""
    X, rows = MultiView(VIEWS), [40, 3, 17]
    expected = rbf_projection(VIEWS, [rows] * 3, GAMMAS)
    D = MultiView([cdist(v, v) for v in VIEWS])
    on_distances = {"landmarks": D[rows], "kernel": "precomputed", "gamma": GAMMAS}
    for samples, options in ((X, {"landmarks": X[rows]}), (D, on_distances)):
        fitted = LandmarkProjection(**options).fit(samples[:30].drop_views(0.5, random_state=0))
        assert_allclose(fitted.transform(samples), expected, atol=1e-12)
    with pytest.raises(ValueError, match=r"landmarks contains row \d, in which a view is missing"):
        LandmarkProjection(landmarks=X.drop_views(0.5, random_state=0)).fit(X)
    with pytest.raises(ValueError, match="landmarks does not fit X: X has 2 views"):
        LandmarkProjection(landmarks=X.select([0, 1])).fit(X)


@pytest.mark.parametrize("landmarks", ["shared", "per_view"])
def test_restrict_keeps_the_columns_of_some_landmarks(landmarks):
    projection = LandmarkProjection(8, landmarks=landmarks, random_state=0).fit(VIEWS)
    before = projection.transform(VIEWS)
    fewer = projection.restrict([6, 1, 3])
    columns = [v * 8 + p for v in range(3) for p in (6, 1, 3)]
    assert_array_equal(fewer.transform(VIEWS), before[:, columns])
    assert_array_equal(fewer.landmark_indices_, projection.landmark_indices_[..., [6, 1, 3]])
    assert len(fewer.landmarks_) == 3
    assert len(fewer.get_feature_names_out()) == 9
    assert_array_equal(projection.transform(VIEWS), before)  # the first one is as it was


def test_restrict_imputes_from_all_the_landmarks_that_were_drawn():
    X = gaps(2, n_complete=20)
    projection = LandmarkProjection(8, clip=None, random_state=0).fit(X)
    fewer = projection.restrict([6, 1, 3])
    columns = [v * 8 + p for v in range(3) for p in (6, 1, 3)]
    raw = project(X, projection.similarities_)[:, columns]
    P = projection.reference_[:, columns]
    assert P.shape == (8, 9)
    assert_allclose(fewer.transform(X), impute_row_by_row(raw, P, ridge=0.1), atol=1e-10)


# ------------------------------------------------------------------ imputation, Eq. (11)


@given(seeds, st.one_of(st.just(0), st.floats(1e-4, 10)), st.booleans())
def test_patterns_equal_row_by_row(seed, ridge, keep_known):
    Phi, P = latent_with_gaps(seed)
    expected = impute_row_by_row(Phi, P, ridge, keep_known)
    assert_allclose(impute(Phi, P, ridge, keep_known), expected, atol=1e-9 if ridge else 1e-10)


def test_many_patterns():
    """Seven views: more than sixty patterns of known views."""
    Phi, P = latent_with_gaps(3, m=300, V=7, L=4)
    assert len(np.unique(np.isnan(Phi), axis=0)) > 60
    assert_allclose(impute(Phi, P, 0), impute_row_by_row(Phi, P), atol=1e-10)


def test_nothing_missing_nothing_changed():
    Phi, P = latent_with_gaps(0)
    complete = np.where(np.isnan(Phi), 0.3, Phi)
    filled = impute(complete, P)
    assert_array_equal(filled, complete)
    assert filled is not complete
    projection = LandmarkProjection(6, random_state=0).fit(VIEWS)
    raw = project(MultiView(VIEWS), projection.similarities_)
    assert_array_equal(projection.transform(VIEWS), raw)


def test_known_entries_are_kept_and_the_input_is_not_changed():
    Phi, P = latent_with_gaps(1)
    before = Phi.copy()
    filled = impute(Phi, P)
    known = ~np.isnan(before)
    assert_array_equal(filled[known], before[known])
    assert np.isfinite(filled).all()
    assert_array_equal(Phi, before)


def test_landmark_rows_are_recovered():
    """At ridge 0 a landmark that misses views gets its own projection back, to 1e-9."""
    projection = LandmarkProjection(10, ridge=0, gamma=2.0, random_state=0).fit(VIEWS)
    P = projection.reference_
    for v in range(3):
        only_v = [
            view[projection.landmark_indices_] if u == v else np.full((10, w), np.nan)
            for u, (view, w) in enumerate(zip(VIEWS, WIDTHS, strict=True))
        ]
        assert np.linalg.cond(P[:, 10 * v : 10 * v + 10]) < 1e6  # else 1e-9 means nothing
        assert_allclose(projection.transform(only_v), P, atol=1e-9)


def wild(clip, kernel="rbf"):
    """Samples whose imputed similarities leave [0, 1] when they are not clipped."""
    projection = LandmarkProjection(40, ridge=0, clip=clip, kernel=kernel, random_state=0)
    return projection.fit(VIEWS).transform(gaps(3))


def test_clip():
    missing = np.repeat(~gaps(3).observed, 40, axis=1)
    free = wild(None)
    assert free[missing].min() < 0 and free[missing].max() > 1
    assert_array_equal(wild("auto"), np.where(missing, np.clip(free, 0, 1), free))
    assert_array_equal(wild((0.2, 0.5)), np.where(missing, np.clip(free, 0.2, 0.5), free))
    assert_array_equal(wild([0.2, 0.5]), wild((0.2, 0.5)))


def test_auto_clip_follows_the_kernel_of_each_view():
    linear = wild("auto", kernel=["rbf", linear_kernel, "rbf"])
    missing = np.repeat(~gaps(3).observed, 40, axis=1)
    assert 0 <= linear[:, :40].min() and linear[:, :40].max() <= 1
    assert (linear[:, 40:80][missing[:, 40:80]] < 0).any()


def test_keep_known_false_replaces_complete_rows_too():
    """The authors' code returns R P for every row: a projection on the landmarks' row space."""
    projection = LandmarkProjection(8, ridge=0, keep_known=False, clip=None, random_state=0)
    Phi = projection.fit(VIEWS).transform(VIEWS)
    P = projection.reference_
    onto_rows_of_P = np.linalg.pinv(P) @ P
    raw = LandmarkProjection(8, random_state=0).fit_transform(VIEWS)
    assert_allclose(Phi, raw @ onto_rows_of_P, atol=1e-8)
    assert not np.allclose(Phi, raw)
    assert_allclose(Phi[projection.landmark_indices_], P, atol=1e-8)


@pytest.mark.parametrize("ridge", [0.0, 1e-300, 1e-18, 1e-12])
def test_tiny_ridges_with_duplicated_landmarks(ridge):
    """Of least norm without one; almost singular with one, and then near that answer."""
    Phi, P = latent_with_gaps(4)
    twice = np.vstack([P, P])
    close = 1e-3 if ridge else 1e-9
    assert_allclose(impute(Phi, twice, ridge), impute_row_by_row(Phi, P), atol=close)


def test_a_larger_ridge_shrinks_the_combination():
    Phi, P = latent_with_gaps(5)
    missing = np.isnan(Phi)
    sizes = [np.linalg.norm(impute(Phi, P, r)[missing]) for r in (0.0, 0.1, 10.0, 1e3, 1e9)]
    assert sizes[2] > sizes[3] > sizes[4] and sizes[4] < 1e-6 * sizes[0]
