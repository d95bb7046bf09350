"""Every classifier of mvref on the same five data sets under one nested protocol.

No paper has this table. The five papers compare with few methods each, on data, measures and
splits of their own; here all of them, their rivals, and two classifiers of scikit-learn get the
same samples and the same number of trials.

Data       five of different kinds: six dense views of digits (mfeat), the quarters of an image
           (digits), three axes of a movement (uwave, every fifth of its 315 time steps), two
           sparse views of web pages (webkb), and labels that are the sign of a sum of products of
           *two* of three views, 5 % of them turned over (planted-pairwise,
           :func:`mvref.datasets.make_interactions`). Of the last one any single view leaves the
           mean of the score at zero, and no linear function correlates with it.
Parts      Per repeat a stratified training part of `SIZES` samples and a test part of at most
           `N_TEST` others, the same for all methods. Official splits are not used. Of
           planted-pairwise every repeat has a score of its own.
Scale      Dense features get mean 0 and variance 1 over the training part, divided by the root of
           their number; sparse rows get mean squared norm 1.
Tuning     Each method has at most `side_methods.MAX_POINTS` parameter points of its own. The one
           that classifies most samples of three stratified folds of the training part correctly
           is trained on all of it and looks at the test part once.
Measures   ``accuracy``; ``validation`` over the folds and ``point``, the position of the chosen
           point, where there is a choice; ``train_seconds``, processor time of the last training,
           and ``predict_seconds`` per 1000 samples, the median of three predictions, one thread
           each; ``kilobytes`` of the fitted model in a file; ``warned``, 1 if the last training
           warned of convergence.

The samples are few because some methods are slow, and all get the same. What holds for 150
samples need not hold for 10 000.

The second item, ``advice``, measures what the chapter advises. The methods of `ADVICE`, chosen
before their results, have the same protocol on `N_ADVICE` splits of their own, so that what the
first item suggests is tested on splits that did not suggest it. Beside ``accuracy`` on complete
samples, the data sets of `GAPPY` have ``accuracy_0.3`` and ``accuracy_0.5``: the same trained model
on the same test part, of which that share of the (sample, view) pairs is missing. Training is
complete. A method that takes gaps gets them; the others get the means of the training part.
"""

from functools import lru_cache, partial

import numpy as np

from ..core.views import MultiView
from . import side_methods
from .engine import Item, derive_seed
from .halves import scale_views
from .interactions import draw_planted, unit_rows
from .missing_treatments import fill_means, view_means
from .problems import load_dataset
from .side_methods import CONTROLS, GRIDS, REFERENCES, VARIANTS
from .tables import Cell, jobs_of
from .tuning import Machine, Method, Split, stratified_folds, stratified_parts, tuned

SIZES = {"mfeat": 150, "digits": 150, "planted-pairwise": 300, "uwave": 160, "webkb": 200}
STRIDE = {"uwave": 5}  # to save time: trees and factors look at every feature
DRAWN = ("planted-pairwise",)
N_TEST, N_FOLDS, N_REPEATS = 1000, 3, 5
QUICK_METHODS = ("MVLSVM", "Mono", "LogisticRegression", "Majority")
MEASURES = (
    "accuracy", "train_seconds", "predict_seconds", "kilobytes", "warned", "n_train", "n_test",
)  # fmt: skip
SPREAD = 3  # predictions whose median time is taken
N_ADVICE = 5
GAPS = {"accuracy_0.3": 0.3, "accuracy_0.5": 0.5}
GAPPY = ("digits", "mfeat", "uwave")
EVERYWHERE = ("KMHKS", "MeanKernelSVC", "SVC", "LogisticRegression", "ExtraTrees", "MVNAKMHKS")
TAKE_GAPS = ("CoLabeling", "PerViewSVM", "NAKMHKS", "MVML")
ADVICE = {  # data set -> methods
    "planted-pairwise": (*EVERYWHERE[:-1], "FMClassifier", "MVMClassifier"),
    "webkb": (*EVERYWHERE, *VARIANTS),
    **{name: (*EVERYWHERE, *TAKE_GAPS, *VARIANTS) for name in GAPPY},
}


@lru_cache(maxsize=1)
def load_parts(name, seed):
    """Return the split of a repeat, scaled by what trains."""
    if name in DRAWN:
        X, y = draw_planted(name, seed)
    else:
        data = load_dataset(name)
        X, y = data.X, data.y
        if name in STRIDE:
            X = MultiView([view[:, :: STRIDE[name]] for view in X.views], names=X.names)
    train, test = stratified_parts(y, derive_seed(seed, "cut"), train_size=SIZES[name])
    if len(test) > N_TEST:
        test, _ = stratified_parts(y, derive_seed(seed, "test"), test, train_size=N_TEST)
    folds = stratified_folds(y, train, N_FOLDS, derive_seed(seed, "folds"))
    return Split(unit_rows(scale_views(X, train)), y, train, test, folds)


def method_of(name):
    """Return a method, its points, and what is measured."""

    def built(point, X, seed):
        return side_methods.build(name, point, X.n_views, seed)

    points = side_methods.points_of(name)
    measures = MEASURES if len(points) == 1 else (*MEASURES, "validation", "point")
    return Method(partial(Machine, build=built), points, measures)


def measured(split, method, seed, measures=None):
    """Choose a point within the training part, train on all of it, test once, and measure."""
    run = tuned(split, method_of(method), derive_seed(seed, "start"))
    own = {
        "predict_seconds": seconds_of_1000,
        "kilobytes": lambda run: side_methods.stored_kilobytes(run.machine.model),
        **{name: partial(with_gaps, method, gap, seed) for name, gap in GAPS.items()},
    }
    return run.measure(measures, own)


def seconds_of_1000(run):
    """Return the median time of predicting the test part, per 1000 samples."""
    _, seconds = side_methods.seconds_of(lambda: run.machine.predict(run.features), SPREAD)
    return 1000.0 * seconds / len(run.y_test)


def with_gaps(method, gap, seed, run):
    """Return the accuracy of the trained model where the test part has gaps."""
    X = run.features.drop_views(gap, random_state=derive_seed(seed, "gaps", gap))
    if method in (*REFERENCES, *CONTROLS) and method not in VARIANTS:
        X = fill_means(X, view_means(run.machine.X))
    return np.mean(run.machine.predict(X) == run.y_test)


def on_data(name, method, *, measures, seed):
    """Measure a method in a repeat."""
    return measured(load_parts(name, seed), method, seed, measures)


def comparison(dataset, quick, rows):
    """Every method in every repeat; quick: one repeat of `QUICK_METHODS`."""
    methods, n_repeats = (QUICK_METHODS, 1) if quick else (GRIDS, N_REPEATS)
    cells = [Cell(method, {}, method_of(method).measures, n_repeats) for method in methods]
    return jobs_of(dataset, dataset, cells, on_data)


def advice(dataset, quick, rows):
    """What the chapter's advice rests on; quick: one repeat of `QUICK_METHODS` and one SVM."""
    gaps = tuple(GAPS) if dataset in GAPPY else ()
    cells = [
        Cell(method, {}, method_of(method).measures + gaps, 1 if quick else N_ADVICE)
        for method in ADVICE[dataset]
        if not quick or method in (*QUICK_METHODS, "MeanKernelSVC")
    ]
    return jobs_of(dataset, dataset, cells, on_data)


ITEMS = [
    Item("side_by_side", "comparison", "accuracy, time and size of all methods",
         tuple(SIZES), comparison, serial=True),
    Item("side_by_side", "advice", "what the advice rests on, on splits of its own",
         tuple(ADVICE), advice, serial=True),
]  # fmt: skip
