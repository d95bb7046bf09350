"""The data sets of the study of part VI, and why their views are views.

What the study concludes is formed on `EXPLORED`. The statements of its transfer are tested on
`HELD_OUT`, none of which had a part in forming them. `DRAWN` are worlds with a known mechanism:
they are shown one by one, and no mean over data sets has them. Tables without views are cut by what
their columns mean.
"""

from functools import lru_cache

import numpy as np
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.model_selection import GroupKFold

from mvref.compare.tuning import Split
from mvref.core.input import MultiView
from mvref.datasets import make_interactions, make_two_moons_views

from .disturbed_moons import disturbed_moons
from .engine import derive_seed
from .problems import load_dataset
from .tables import stratified_folds, stratified_parts

EXPLORED = {
    "mfeat": "six descriptions of one image of a digit, by six programs",
    "digits": "the four quarters of one image of a digit",
    "uwave": "the three axes of one accelerometer, every fifth time step",
    "webkb": "words of a page, and words of the links that point to it",
    "citeseer": "words of an article, the articles it cites, and those that cite it",
    "iris": "measures of sepals, and of petals",
    "breast-cancer": "mean, standard error and worst value of the same ten measures",
    "house-votes-84": "sixteen votes, four in the order of the file a view: made, not natural",
    "moons": "two turned pictures of one point, each with noise of its own: redundant views",
    "moons-disturbed": "two pictures with a common disturbance, and a gauge of it: only together",
    "planted-pairwise": "the label is made of products of two views: nothing in a view alone",
    "planted-linear": "the label is a sum over three views: each tells a part",
}
HELD_OUT = {
    "reuters1200": "one news story in five languages, four of them translated by machine",
    "mnist1": "the four quarters of one image of a digit",
    "wine": "acids and minerals, phenols, and colour of a wine",
    "horse-colic": "what is seen, what is felt, and what the laboratory says of a horse",
    "uwave-people": "as uwave; one person tests, the others train",
}
STRIDE = 5
N_WORDS = 500  # of a sparse view: those that most training samples have
CUTS = {  # columns of each view
    "wine": {"acids": [1, 2, 3, 4, 12], "phenols": [5, 6, 7, 8], "colour": [0, 9, 10, 11]},
    "horse-colic": {
        "seen": [0, 1, 5, 7, 8, 9, 11], "felt": [2, 3, 4, 6, 10, 12, 13, 15, 16],
        "laboratory": [14, 17, 18, 19, 20],
    },
    "house-votes-84": {f"votes {i}": list(range(i - 4, i)) for i in (4, 8, 12, 16)},
    "breast-cancer": {
        "mean": list(range(10)), "error": list(range(10, 20)), "worst": list(range(20, 30)),
    },
}  # fmt: skip
OF_SKLEARN = {"wine": load_wine, "breast-cancer": load_breast_cancer}
DRAWN = ("moons", "moons-disturbed", "planted-pairwise", "planted-linear")
SIZES = {  # samples (as many as are drawn, where it is None), views, columns, classes
    "mfeat": (2000, 6, 649, 10), "digits": (1797, 4, 64, 10), "uwave": (4478, 3, 189, 8),
    "webkb": (1051, 2, 18342, 2), "citeseer": (3312, 3, 10327, 6), "iris": (150, 2, 4, 3),
    "breast-cancer": (569, 3, 30, 2), "house-votes-84": (435, 4, 16, 2),
    "moons": (None, 2, 4, 2), "moons-disturbed": (None, 3, 6, 2),
    "planted-pairwise": (None, 3, 15, 2), "planted-linear": (None, 3, 15, 2),
    "reuters1200": (1200, 5, 10000, 6), "mnist1": (70_000, 4, 784, 10), "wine": (178, 3, 13, 3),
    "horse-colic": (368, 3, 21, 2), "uwave-people": (4478, 3, 189, 8),
}  # fmt: skip
N_SAMPLES = {name: size[0] for name, size in SIZES.items() if size[0]}
N_TEST = 1000
MOONS = {"noise": 0.1, "view_noise": 0.3}
N_PEOPLE = 8


def samples(name, n_samples, seed):
    """Views and labels: all that there are, or as many as are asked for, drawn anew."""
    rng = np.random.RandomState(derive_seed(seed, "drawn"))
    if name == "moons":
        data = make_two_moons_views(n_samples, random_state=rng, **MOONS)
    elif name == "moons-disturbed":
        return disturbed_moons(n_samples, derive_seed(seed, "drawn"))
    elif name.startswith("planted"):
        order = name.removeprefix("planted-")
        data = make_interactions(n_samples, 3, order, noise=0.05, random_state=rng)
    elif name in CUTS:
        return cut(name)
    else:
        data = load_dataset(name.removesuffix("-people"))
    X = data.X
    if name.startswith("uwave"):
        X = MultiView([view[:, ::STRIDE] for view in X.views], names=X.names)
    return X, data.y


@lru_cache(maxsize=1)
def cut(name):
    """A table of one view, cut into views."""
    if name in OF_SKLEARN:
        X, y = OF_SKLEARN[name](return_X_y=True)
    else:
        data = load_dataset(name)
        X, y = data.X.views[0], data.y
    return MultiView({view: X[:, columns] for view, columns in CUTS[name].items()}), y


def sizes_of(name, sizes):
    """The sizes of a training part that leave a fifth of a data set to test on."""
    return tuple(n for n in sizes if name in DRAWN or n <= 0.8 * N_SAMPLES[name])


@lru_cache(maxsize=1)
def draw_split(name, n_train, n_folds, seed):
    """Return a stratified training part of a size, others to test on, and folds to tune on."""
    X, y = samples(name, n_train + N_TEST, seed)
    rows, groups = np.arange(len(y)), None
    if name == "uwave-people":
        who = load_dataset("uwave").meta["user"]
        person = np.unique(who)[derive_seed(seed, "person") % N_PEOPLE]
        test, rows, groups = rows[who == person], rows[who != person], who
    train, others = stratified_parts(y, derive_seed(seed, "train"), rows, train_size=n_train)
    test = others if groups is None else test
    if len(test) > N_TEST:
        _, test = stratified_parts(y, derive_seed(seed, "test"), test, test_size=N_TEST)
    if groups is None:
        folds = stratified_folds(y, train, n_folds, derive_seed(seed, "folds"))
    else:
        pairs = GroupKFold(n_folds).split(train, groups=groups[train])
        folds = [(train[fit], train[check]) for fit, check in pairs]
    return Split(common_words(X, train), y, train, test, folds)


def common_words(X, train):
    """Keep the columns of sparse views that most training samples have."""
    views = []
    for view in X.views:
        if sparse.issparse(view) and view.shape[1] > N_WORDS:
            counts = np.asarray((view[train] != 0).sum(axis=0)).ravel()
            view = view[:, np.sort(np.argsort(-counts, kind="stable")[:N_WORDS])]
        views.append(view)
    return MultiView(views, names=X.names)
