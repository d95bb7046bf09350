"""PerView: a scikit-learn transformer on every view, gaps left alone."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
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


def people(n=12):
    """Two views as they come: a frame of mixed columns, and texts; one text is missing."""
    rng = np.random.default_rng(0)
    form = pd.DataFrame(
        {"age": rng.integers(20, 80, n), "town": rng.choice(["Ulm", "Bonn"], n), "income": 1.0}
    )
    notes = [("hot and dry", "wet and cold")[i % 2] for i in range(n)]
    notes[3] = None
    return MultiView({"form": form, "notes": notes}), np.arange(n) % 2


def test_a_column_transformer_gets_frames_and_a_vectorizer_texts():
    X, y = people()
    encode = ColumnTransformer([("hot", OneHotEncoder(), ["town"])], remainder="passthrough")
    per_view = PerView({"form": encode, "notes": TfidfVectorizer()})
    out = per_view.fit_transform(X, y)
    assert out.widths == [4, 5] and sparse.issparse(out.views[1])
    assert_array_equal(np.flatnonzero(~out.observed[:, 1]), [3])
    assert out.feature_names[0] == list(encode.fit(X.views[0]).get_feature_names_out())
    assert "notes__dry" in per_view.get_feature_names_out()
    assert_allclose(per_view.transform(X[5:7]).views[0], out.views[0][5:7])
    nobody = X.with_observed(X.observed & [True, False])
    assert per_view.transform(nobody).widths == [4, 5]


def test_views_without_numbers_are_refused_by_estimators():
    X, y = people()
    with pytest.raises(ValueError, match="view 'form' holds words.*PerView"):
        MVLSVM().fit(X, y)
    with pytest.raises(ValueError, match="view 'form' holds words"):
        X.concat()
    assert X[[0, 3]].observed.tolist() == [[True, True], [True, False]]
    assert X[2:4].views[1].tolist() == ["hot and dry", None]


def test_a_flat_frame_of_words_is_cut_by_names():
    X, y = people()
    frame = X.views[0].assign(height=2.0)
    cut = {"person": ["age", "town"], "rest": ["income", "height"]}
    hot = ColumnTransformer([("hot", OneHotEncoder(), ["town"])])
    out = PerView({"person": hot}, views=cut).fit_transform(frame, y)
    assert out.widths == [2, 2] and out.names == ["person", "rest"]


def test_a_mapping_of_some_views(data):
    X, _ = data
    rest = PerView({"image": StandardScaler()}).fit_transform(X)
    assert_array_equal(rest.views[0], X.views[0])
    scaled = PerView({"image": "passthrough"}, remainder=StandardScaler()).fit_transform(X)
    assert_allclose(scaled.views[0], StandardScaler().fit_transform(X.views[0]))
    assert_array_equal(scaled.views[1], X.views[1])
    only = PerView({"image": "passthrough"}, remainder="drop").fit(X)
    assert only.transform(X).names == ["image"]
    assert list(only.get_feature_names_out()) == ["image__x0", "image__x1", "image__x2"]
    with pytest.raises(ValueError, match="drops every view"):
        PerView("drop").fit(X)


def test_parameters_of_one_view_in_a_grid(data):
    X, y = data
    members = {"sound": PCA(1), "image": "passthrough"}
    pipeline = Pipeline([("perview", PerView(members)), ("model", MVLSVM(5, random_state=0))])
    grid = {"perview__sound__n_components": [1, 3], "perview__image": [StandardScaler(), "drop"]}
    search = GridSearchCV(pipeline, grid, cv=2).fit(X, y)
    assert len(search.cv_results_["params"]) == 4
    best = search.best_estimator_[0]
    chosen = search.best_params_["perview__sound__n_components"]
    assert best.transformers_[0].n_components == chosen
    assert members["sound"].n_components == 1 and members["image"] == "passthrough"
    assert PerView(members).get_params()["sound__n_components"] == 1
    with pytest.raises(ValueError, match="Invalid parameter 'smell'"):
        PerView(members).set_params(smell__n_components=2)


def test_a_view_named_as_a_parameter_is_refused():
    X = MultiView({"remainder": np.eye(3), "b": np.eye(3)})
    with pytest.raises(ValueError, match="Rename these views"):
        PerView({"remainder": PCA(1)}).fit(X)


def test_errors_name_the_view_and_the_transformer(data):
    X, _ = data
    with pytest.raises(ValueError, match="view 'image', PCA: n_components=7"):
        PerView({"image": PCA(7)}).fit(X)
    csr = MultiView({"a": np.eye(4), "b": sparse.eye(4, format="csr")})
    with pytest.raises(ValueError, match="view 'b', StandardScaler: Cannot center sparse"):
        PerView(StandardScaler()).fit(csr)


def test_scikit_learns_global_output_is_harmless(data):
    X, y = data
    expected = PerView(StandardScaler()).fit_transform(X)
    with config_context(transform_output="pandas"):
        out = PerView(StandardScaler()).fit_transform(X)
        assert_allclose(out.concat(), expected.concat())
        make_pipeline(PerView(StandardScaler()), MVLSVM(5, random_state=0)).fit(X, y)


def test_one_branch_per_view_in_html(data):
    X, _ = data
    per_view = PerView({"sound": PCA(2)}, remainder=StandardScaler())
    for html in (per_view._repr_html_(), per_view.fit(X)._repr_html_()):
        assert "sound" in html and "PCA" in html and "StandardScaler" in html
    assert "image" in html, "once fitted, the views that remain have their names"


class Marking(StandardScaler):
    """It transforms its own training samples otherwise than new ones, as a target encoder does."""

    def fit_transform(self, X, y=None):
        return super().fit_transform(X, y) + y[:, None]


def test_fit_transform_of_the_members_is_called(data):
    X, y = data
    out = PerView([Marking(), "passthrough"]).fit_transform(X.select([0, 1]), y)
    assert_allclose(out.views[0], StandardScaler().fit_transform(X.views[0]) + y[:, None])
