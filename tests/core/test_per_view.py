"""PerView: a scikit-learn transformer on every view, gaps left alone."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler

from mvref import MVLSVM, MultiView, PerView
from tests.literal import hide, random_pattern, toy_views


@pytest.fixture
def data():
    views, y = toy_views(0, m=40, widths=(4, 3))
    return MultiView({"sound": views[0], "image": views[1]}), y


def test_one_transformer_is_cloned_for_every_view(data):
    X, _ = data
    scaler = StandardScaler()
    per_view = PerView(scaler).fit(X)
    out = per_view.transform(X)
    assert isinstance(out, MultiView) and out.names == X.names
    for got, view in zip(out.views, X.views, strict=True):
        assert_allclose(got, (view - view.mean(axis=0)) / view.std(axis=0))
    assert len(per_view.transformers_) == 2
    assert not hasattr(scaler, "mean_")  # the caller's object stays unfitted


def test_one_transformer_per_view_in_order_or_by_name(data):
    X, _ = data
    by_order = PerView([PCA(2), "passthrough"]).fit_transform(X)
    by_name = PerView({"image": "passthrough", "sound": PCA(2)}).fit_transform(X)
    assert by_order.widths == by_name.widths == [2, 3]
    assert_allclose(by_order.views[0], by_name.views[0])
    assert_array_equal(by_order.views[1], X.views[1])
    assert_array_equal(PerView().fit_transform(X).concat(), X.concat())


def test_gaps_stay_gaps_and_teach_nothing(data):
    X, y = data
    observed = random_pattern(1, 40, 2)
    gaps = MultiView(hide(X.views, observed), names=X.names)
    scaler = PerView(StandardScaler()).fit(gaps)
    out = scaler.transform(gaps)
    assert_array_equal(out.observed, observed)
    for v in range(2):
        seen = observed[:, v]
        expected = StandardScaler().fit_transform(X.views[v][seen])
        assert_allclose(out.views[v][seen], expected, atol=1e-12)
        best = SelectKBest(k=1).fit(X.views[v][seen], y[seen])  # targets reach the transformers
        ours = PerView(SelectKBest(k=1)).fit(gaps, y).transformers_[v]
        assert_array_equal(ours.get_support(), best.get_support())


def test_a_view_that_no_new_sample_has(data):
    X, _ = data
    pca = PerView(PCA(2)).fit(X)
    new = MultiView([X.views[0][:3], np.full((3, 3), np.nan)], names=X.names)
    out = pca.transform(new)
    assert out.widths == [2, 2] and not out.observed[:, 1].any() and out.observed[:, 0].all()


def test_single_values_can_be_imputed(data):
    """A row that is NaN only in part is no gap: an imputer may see it."""
    X, y = data
    views = [v.copy() for v in X.views]
    views[0][3, 1] = np.nan
    views[1][5] = np.nan
    with pytest.raises(ValueError, match="PerView"):
        MVLSVM().fit(views, y)
    out = PerView(SimpleImputer()).fit_transform(MultiView(views))
    assert_allclose(out.views[0][3, 1], np.delete(views[0][:, 1], 3).mean())
    assert_array_equal(np.argwhere(~out.observed), [[5, 1]])
    make_pipeline(PerView(SimpleImputer()), MVLSVM(5, random_state=0)).fit(views, y)


def test_flat_table_and_data_frame(data):
    X, _ = data
    expected = PerView(MinMaxScaler()).fit_transform(X).concat()
    frame = pd.DataFrame(X.concat(), columns=list("abcdefg"))
    by_name = {"sound": list("abcd"), "image": list("efg")}
    for views, table, names in (
        (X.widths, X.concat(), ["view_0", "view_1"]),
        (by_name, frame, ["sound", "image"]),
    ):
        out = PerView(MinMaxScaler(), views=views).fit_transform(table)
        assert isinstance(out, MultiView) and out.widths == X.widths and out.names == names
        assert_array_equal(out.concat(), expected)


def test_sparse_in_and_sparse_out(data):
    X, _ = data
    csr = MultiView([sparse.csr_matrix(v) for v in X.views])
    scaler = StandardScaler(with_mean=False)
    out = PerView(scaler).fit_transform(csr)
    assert all(sparse.issparse(v) for v in out.views)
    assert_allclose(out.concat().toarray(), PerView(scaler).fit_transform(X).concat())
    codes = MultiView([np.array([[0.0], [1.0], [np.nan], [1.0]]), np.eye(4)])
    hot = PerView([OneHotEncoder(), "passthrough"]).fit_transform(codes)
    assert sparse.issparse(hot.views[0])
    assert_array_equal(hot.views[0].toarray(), [[1, 0], [0, 1], [np.nan, np.nan], [0, 1]])
    assert_array_equal(hot.observed[:, 0], [True, True, False, True])


def test_transformers_that_give_data_frames(data):
    X, _ = data
    arrays = PerView(StandardScaler())
    frames = PerView(StandardScaler().set_output(transform="pandas"))
    for table in (X, X.drop_views(0.2, random_state=0)):
        expected = arrays.fit_transform(table).concat()
        assert_allclose(frames.fit_transform(table).concat(), expected)


def test_feature_names():
    X = MultiView({"a": np.arange(8.0).reshape(4, 2), "b": np.eye(4)[:, :3]})
    per_view = PerView([PCA(1), "passthrough"]).fit(X)
    assert list(per_view.get_feature_names_out()) == ["a__pca0", "b__x0", "b__x1", "b__x2"]


def test_set_output_does_not_lose_the_views(data):
    X, y = data
    pipeline = make_pipeline(PerView(StandardScaler()), MVLSVM(5, random_state=0))
    expected = pipeline.fit(X, y).decision_function(X)
    pipeline.set_output(transform="pandas")
    assert_array_equal(pipeline.fit(X, y).decision_function(X), expected)


def test_clone_and_nested_parameters(data):
    X, _ = data
    per_view = PerView(StandardScaler(), views=[4, 3])
    copy = clone(per_view).set_params(transformer__with_std=False)
    assert per_view.transformer.with_std and not copy.transformer.with_std
    assert_allclose(copy.fit_transform(X).views[0], X.views[0] - X.views[0].mean(axis=0))


def test_in_a_pipeline_the_gaps_reach_the_classifier(data):
    X, y = data
    gaps = X.drop_views(0.3, random_state=0)
    model = MVLSVM(8, random_state=0)
    pipeline = make_pipeline(PerView(StandardScaler()), model).fit(gaps, y)
    scaled = PerView(StandardScaler()).fit_transform(gaps)
    assert_array_equal(pipeline.predict(gaps), clone(model).fit(scaled, y).predict(scaled))
