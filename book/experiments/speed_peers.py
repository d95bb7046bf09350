"""Other people's programs on the same samples: the third item of :mod:`.speed`, ``peers``.

Data      iris (sepal, petal), digits (four quarters) and mfeat (six views), of each a stratified
          half that trains; uwave with its official split; five Gaussian classes in three views of
          20 columns, 2000 or 8000 samples that train and 2000 others. Columns are standardised by
          the samples that train.
Ours      `OURS`, with their defaults.
Theirs    `PEERS`, with their defaults, on all columns side by side; scikit-multimodallearn is told
          where its views begin, and has trees as deep as ours. The factorisation machines of
          myFM and xlearn know two classes: one machine a class, and the largest score.
Measures  ``accuracy`` on the samples that do not train, ``fit_seconds``, ``predict_seconds``.

What is not installed has no rows in a quick run, and in a full one stops it with its name:
``pip install --no-deps scikit-multimodallearn cvxopt six myfm xlearn``. What people take
instead (`INSTEAD`) is timed in one run with all of ours by ``make bench``.
"""

import os
import sys
import tempfile
import warnings
from contextlib import contextmanager
from functools import lru_cache, partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import sklearn.tree._tree
from sklearn.datasets import dump_svmlight_file
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from mvref import all_methods
from mvref.core.input import MultiView
from mvref.core.per_view import PerView
from mvref.rivals import Concat

from .engine import derive_seed
from .problems import load_dataset
from .tables import Cell, jobs_of, seconds_of, timed

GAUSSIANS, SIZES, N_TEST = "five-gaussians", (2000, 8000), 2000
REPEATS = {"iris": 3, "digits": 3, "mfeat": 1, "uwave": 1, GAUSSIANS: 1}
DATASETS = tuple(REPEATS)
OURS = (
    "MVLSVM", "MwMvC2", "MVPO", "MVMClassifier", "MVNAKMHKS", "FMClassifier", "PerViewSVM", "Mumbo",
)  # fmt: skip
MEASURES = ("accuracy", "fit_seconds", "predict_seconds")
GOOD = 0.01  # so much less accurate counts as equally good


def draw_five_classes(n, seed):
    """Draw three views of 20 columns around the centres of five classes -> views, y (n,)."""
    rng = np.random.default_rng(seed)
    y = rng.integers(5, size=n)
    return [0.35 * rng.normal(size=(5, 20))[y] + rng.normal(size=(n, 20)) for _ in range(3)], y


@lru_cache(maxsize=1)
def problem(dataset, samples, seed):
    """Return X and y of the samples that train, and of those that test."""
    if dataset == GAUSSIANS:
        views, y = draw_five_classes(samples + N_TEST, seed)
        X, train, test = MultiView(views), np.arange(samples), np.arange(samples, len(y))
    else:
        data = load_dataset(dataset)
        X, y = data.X, data.y
        if data.splits:
            train, _, test = data.splits[0]
        else:
            train, test = train_test_split(
                np.arange(len(y)), test_size=0.5, stratify=y, random_state=seed
            )
    X = PerView(StandardScaler()).fit(X[train]).transform(X)
    return X[train], y[train], X[test], y[test]


# ------------------------------------------------------------------ programs


class OneMachineAClass:
    """Machines of two classes as a classifier; machine(columns, is_class, seed) -> a function."""

    def __init__(self, machine, seed):
        self.machine, self.seed = machine, seed

    def fit(self, X, y):
        """Train a machine for each class against the rest."""
        self.classes_, columns = np.unique(y), X.concat()
        self.scores_ = [self.machine(columns, y == label, self.seed) for label in self.classes_]
        return self

    def predict(self, X):
        """Return the class of the largest score."""
        columns = X.concat()
        return self.classes_[np.argmax([score(columns) for score in self.scores_], axis=0)]


def myfm(columns, y, seed):
    """Train the variational machine of myFM, as many factors as ours."""
    machine = import_module("myfm").VariationalFMClassifier(rank=8, random_seed=seed % 2**31)
    with silenced():
        return machine.fit(columns, y).predict_proba


def xlearn(columns, y, seed):
    """Train a factorisation machine of xlearn, from files; return its scores of new rows."""
    os.environ.setdefault("USER", "mvref")  # without one it crashes
    machine, folder = import_module("xlearn").create_fm(), tempfile.TemporaryDirectory()
    train, new, model, scores = (
        f"{folder.name}/{file}" for file in ("train", "new", "fm", "scores")
    )
    dump_svmlight_file(columns, y.astype(int), train)
    machine.setTrain(train)
    machine.setSigmoid()
    with silenced():
        machine.fit({"task": "binary", "k": 8, "nthread": 1}, model)

    def score(columns, folder=folder):
        dump_svmlight_file(columns, np.zeros(len(columns)), new)
        machine.setTest(new)
        with silenced():
            machine.predict(model, scores)
        for file in Path(folder.name).glob("new*"):
            file.unlink()  # it keeps a binary copy of what it has read
        return np.loadtxt(scores)

    return score


class Multimodal:
    """A boosting of scikit-multimodallearn; its 50 rounds, but trees as deep as ours."""

    def __init__(self, name, seed):
        sklearn.tree._tree.DTYPE = np.float32  # a name of scikit-learn's that it still imports
        self.boosting = getattr(import_module("multimodal.boosting"), name)
        self.seed = seed

    def fit(self, X, y):
        """Learn from the columns, and from where the views begin."""
        ends = np.cumsum([0, *(view.shape[1] for view in X.views)])
        tree = DecisionTreeClassifier(max_depth=max(2, int(np.ceil(np.log2(len(np.unique(y)))))))
        self.machine = self.boosting(tree, random_state=self.seed)
        self.machine.fit(X.concat(), y, ends)
        return self

    def predict(self, X):
        """Return the labels."""
        return self.machine.predict(X.concat())


@contextmanager
def silenced():
    """Let nothing through of what compiled code prints."""
    sys.stdout.flush(), sys.stderr.flush()
    kept = [os.dup(1), os.dup(2)]
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 1), os.dup2(nowhere.fileno(), 2)
    try:
        yield
    finally:
        for number, copy in zip((1, 2), kept, strict=True):
            os.dup2(copy, number), os.close(copy)


def light_boosting(seed):
    """LightGBM with its defaults, on one thread."""
    return Concat(import_module("lightgbm").LGBMClassifier(n_jobs=1, verbose=-1, random_state=seed))


PEERS = {  # name -> (what has to be installed, seed -> a classifier)
    "LogisticRegression": ("sklearn", lambda seed: Concat(LogisticRegression())),
    "SVC": ("sklearn", lambda seed: Concat(SVC())),
    "LinearSVC": ("sklearn", lambda seed: Concat(LinearSVC(random_state=seed))),
    "Nystroem, LinearSVC": (
        "sklearn",
        lambda seed: Concat(make_pipeline(Nystroem(random_state=seed), LinearSVC())),
    ),
    "HistGradientBoosting": (
        "sklearn", lambda seed: Concat(HistGradientBoostingClassifier(random_state=seed)),
    ),
    "Mumbo, scikit-multimodallearn": ("multimodal", partial(Multimodal, "MumboClassifier")),
    "MuCombo, scikit-multimodallearn": ("multimodal", partial(Multimodal, "MuComboClassifier")),
    "myFM": ("myfm", partial(OneMachineAClass, myfm)),
    "xlearn": ("xlearn", partial(OneMachineAClass, xlearn)),
}  # fmt: skip


INSTEAD = {name: PEERS[name] for name in ("SVC", "LogisticRegression", "HistGradientBoosting")} | {
    "RandomForest": ("sklearn", lambda seed: Concat(RandomForestClassifier(random_state=seed))),
    "SGDClassifier": ("sklearn", lambda seed: Concat(SGDClassifier(random_state=seed))),
    "LightGBM": ("lightgbm", light_boosting),
}  # fmt: skip


def installed(name):
    """Whether a method is ours, or a program that is installed."""
    return name in OURS or find_spec((PEERS | INSTEAD)[name][0]) is not None


def build(name, seed):
    """Return a classifier with its defaults, not fitted."""
    if name in PEERS | INSTEAD:
        return (PEERS | INSTEAD)[name][1](seed)
    model = all_methods()[name]()
    return model.set_params(random_state=seed) if "random_state" in model.get_params() else model


def peers(dataset, quick, rows):
    """Every method, ours and theirs; quick: one repeat, without what is not installed."""
    points = [{"samples": n} for n in SIZES] if dataset == GAUSSIANS else [{}]
    cells = [
        Cell(name, point, MEASURES, 1 if quick else REPEATS[dataset])
        for point in points[: 1 if quick else None]
        for name in (*OURS, *PEERS)
        if not quick or installed(name)
    ]
    return jobs_of(dataset, dataset, cells, raced)


def raced(dataset, name, *, measures, seed, samples=0):
    """Train and test a method once; a fit of less than a tenth of a second counts as of three."""
    X, y, new, labels = problem(dataset, samples, derive_seed(seed, "samples"))
    model = build(name, derive_seed(seed, "start"))
    with warnings.catch_warnings(action="ignore"):  # time is what is asked here
        _, seconds = timed(lambda: model.fit(X, y))
        predicted, predict_seconds = seconds_of(lambda: model.predict(new))
    accuracy = float(np.mean(predicted == labels))
    return dict(zip(MEASURES, (accuracy, seconds, predict_seconds), strict=True))


def best_of(names, seconds, accuracy, goal):
    """Name the fastest of those that are here and reach a goal, or else the most accurate one.

    seconds, accuracy: mappings from methods to numbers; goal: an accuracy, to `GOOD`.
    """
    here = [name for name in names if name in seconds]
    good = [name for name in here if accuracy[name] >= goal - GOOD]
    return min(good, key=seconds.get) if good else max(here, key=accuracy.get)
