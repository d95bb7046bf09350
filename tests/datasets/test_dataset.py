"""What all loaders have in common."""

import dataclasses

import numpy as np
import pytest
from scipy import sparse
from sklearn.model_selection import train_test_split

from mvref import MultiView, datasets
from mvref.datasets import MultiViewDataset

LOADERS = {
    "digits": datasets.load_digits_views,
    "iris": datasets.load_iris_views,
    "mfeat": datasets.load_mfeat,
    "two moons": lambda: datasets.make_two_moons_views(random_state=0),
    "mfeat_original": datasets.fetch_mfeat,
    "uwave": datasets.fetch_uwave,
    "flower17": datasets.fetch_flower17,
    "mnist": datasets.fetch_mnist_views,
    "reuters1200": datasets.fetch_reuters,
    "reuters600": lambda: datasets.fetch_reuters("600"),
    "citeseer": datasets.fetch_citeseer,
    "webkb": datasets.fetch_webkb,
    "voc07": datasets.fetch_voc07,
    "optdigits": datasets.fetch_optdigits,
    "lung-cancer": lambda: datasets.fetch_uci("lung-cancer"),
    "house-votes-84": lambda: datasets.fetch_uci("house-votes-84"),
    "shuttle-landing-control": lambda: datasets.fetch_uci("shuttle-landing-control"),
    "horse-colic": lambda: datasets.fetch_uci("horse-colic"),
    "echocardiogram": lambda: datasets.fetch_uci("echocardiogram"),
}
EMBEDDED = ("digits", "iris", "mfeat", "two moons")


@pytest.fixture(params=LOADERS)
def load(request, need):
    if request.param not in EMBEDDED:
        need(request.param)
    return LOADERS[request.param]


def test_everything_is_exported():
    for name in datasets.__all__:
        assert getattr(datasets, name).__doc__


def test_common_form(load):
    dataset = load()
    assert isinstance(dataset, MultiViewDataset)
    assert isinstance(dataset.X, MultiView)
    assert dataset.view_names == dataset.X.names
    n_classes = len(dataset.target_names)
    if dataset.y.ndim == 2:
        assert dataset.y.shape == (dataset.X.n_samples, n_classes)
    else:
        assert dataset.y.shape == (dataset.X.n_samples,)
        assert len(np.unique(dataset.y)) == n_classes
    assert all(isinstance(name, str) for name in dataset.target_names)
    for split in dataset.splits:
        assert len(split) == 3
        indices = np.concatenate(split)
        assert indices.dtype.kind == "i"
        np.testing.assert_array_equal(np.sort(indices), np.arange(dataset.X.n_samples))


def test_description_has_every_section(load):
    dataset = load()
    for section in ("Source", "Licence", "Citation", "Shapes", "Checksums (sha256)", "Notes"):
        assert f"\n{section}\n{'-' * len(section)}\n" in dataset.DESCR
    for name, width in zip(dataset.view_names, dataset.X.widths, strict=True):
        assert f"{name}: ({dataset.X.n_samples}, {width})" in dataset.DESCR


def test_loading_twice_gives_equal_and_separate_data(load):
    one, two = load(), load()
    for a, b in zip(one.X.views, two.X.views, strict=True):
        assert a is not b and a.shape == b.shape
        assert (a != b).nnz == 0 if sparse.issparse(a) else np.array_equal(a, b)
    one.y[:] = -1
    assert (two.y >= 0).all()


def test_loading_is_silent(load, capfd):
    load()
    assert capfd.readouterr() == ("", "")


def test_works_with_scikit_learn():
    iris = datasets.load_iris_views()
    X_train, X_test, y_train, y_test = train_test_split(iris.X, iris.y, random_state=0)
    assert isinstance(X_train, MultiView)
    assert X_train.n_samples == len(y_train) and X_test.n_samples == len(y_test)


def test_repr_tells_views_classes_and_splits():
    X = MultiView({"a": np.zeros((4, 2)), "b": np.ones((4, 3))})
    split = (np.array([0, 1]), np.array([2]), np.array([3]))
    dataset = MultiViewDataset("toy", X, np.array([0, 1, 0, 1]), ["no", "yes"], "text", [split])
    assert repr(dataset).splitlines() == [
        "MultiViewDataset 'toy': 4 samples, 2 views, 2 classes",
        "  views:   a (2), b (3)",
        "  classes: no, yes",
        "  splits:  2/1/1 (train/validation/test)",
    ]


def test_several_classes_for_one_sample():
    """An indicator matrix may have an empty class, and samples of no class or of all."""
    X = MultiView({"a": np.zeros((4, 2))})
    y = np.array([[1, 0, 0], [1, 1, 0], [0, 0, 0], [1, 1, 0]])
    dataset = MultiViewDataset("toy", X, y, ["cat", "dog", "bird"], "text")
    assert repr(dataset).splitlines() == [
        "MultiViewDataset 'toy': 4 samples, 1 views, 3 classes (several for one sample)",
        "  views:   a (2)",
        "  classes: cat, dog, bird",
        "  splits:  none",
    ]
    with pytest.raises(ValueError, match="target_names has 2 names, but y has 3 classes"):
        MultiViewDataset("toy", X, y, ["cat", "dog"], "text")
    with pytest.raises(ValueError, match="y of two dimensions must be an indicator matrix of 0"):
        MultiViewDataset("toy", X, 2 * y, ["cat", "dog", "bird"], "text")
    with pytest.raises(ValueError, match="X has 4 samples, but y has 3 labels"):
        MultiViewDataset("toy", X, y[:3], ["cat", "dog", "bird"], "text")


def test_is_frozen():
    iris = datasets.load_iris_views()
    with pytest.raises(dataclasses.FrozenInstanceError):
        iris.y = None


def test_meta_is_not_shared():
    one, two = datasets.load_iris_views(), datasets.load_iris_views()
    assert one.meta == {} and one.meta is not two.meta


def test_wrong_parts():
    X = MultiView([np.zeros((3, 1))])
    with pytest.raises(ValueError, match="X has 3 samples, but y has 2 labels"):
        MultiViewDataset("toy", X, np.array([0, 1]), ["a", "b"], "")
    with pytest.raises(ValueError, match="target_names has 1 names, but y has 2 classes"):
        MultiViewDataset("toy", X, np.array([0, 1, 1]), ["a"], "")
