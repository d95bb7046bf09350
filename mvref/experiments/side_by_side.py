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

import warnings
from functools import lru_cache, partial

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold, train_test_split

from ..core.views import MultiView
from .engine import Item, Job, derive_seed
from .halves import scale_views
from .interactions import draw_planted, unit_rows
from .missing_treatments import fill_means, view_means
from .nystrom_parts import Parts
from .problems import load_dataset
from .side_methods import (
    CONTROLS,
    GRIDS,
    REFERENCES,
    VARIANTS,
    build,
    points_of,
    seconds_of,
    stored_kilobytes,
)

SIZES = {"mfeat": 150, "digits": 150, "planted-pairwise": 300, "uwave": 160, "webkb": 200}
STRIDE = {"uwave": 5}  # to save time: trees and factors look at every feature
DRAWN = ("planted-pairwise",)
N_TEST, N_FOLDS, N_REPEATS = 1000, 3, 5
QUICK_METHODS = ("MVLSVM", "Mono", "LogisticRegression", "Majority")
SPREAD = 3  # predictions whose median time is taken
N_ADVICE = 5
GAPS, GAPPY = (0.3, 0.5), ("digits", "mfeat", "uwave")
EVERYWHERE = ("KMHKS", "MeanKernelSVC", "SVC", "LogisticRegression", "ExtraTrees", "MVNAKMHKS")
TAKE_GAPS = ("CoLabeling", "PerViewSVM", "NAKMHKS", "MVML")
ADVICE = {  # data set -> methods
    "planted-pairwise": (*EVERYWHERE[:-1], "FMClassifier", "MVMClassifier"),
    "webkb": (*EVERYWHERE, *VARIANTS),
    **{name: (*EVERYWHERE, *TAKE_GAPS, *VARIANTS) for name in GAPPY},
}


@lru_cache(maxsize=1)
def load_parts(name, seed):
    """Return the samples of a repeat, scaled, and which of them train and test.

    Examples
    --------
    >>> from mvref.experiments.side_by_side import load_parts
    >>> parts = load_parts("digits", 0)
    >>> len(parts.train), len(parts.test), [len(check) for _, check in parts.folds]
    (150, 1000, [50, 50, 50])
    >>> [round(float((view[parts.train] ** 2).sum(1).mean()), 2) for view in parts.X.views]
    [0.75, 0.94, 0.87, 0.94]
    """
    if name in DRAWN:
        X, y = draw_planted(name, seed)
    else:
        data = load_dataset(name)
        X, y = data.X, data.y
        if name in STRIDE:
            X = MultiView([view[:, :: STRIDE[name]] for view in X.views], names=X.names)
    train, rest = train_test_split(
        np.arange(len(y)), train_size=SIZES[name], stratify=y, random_state=derive_seed(seed, "cut")
    )
    test = rest
    if len(rest) > N_TEST:
        test, _ = train_test_split(
            rest, train_size=N_TEST, stratify=y[rest], random_state=derive_seed(seed, "test")
        )
    cut = StratifiedKFold(N_FOLDS, shuffle=True, random_state=derive_seed(seed, "folds"))
    folds = [(train[fit], train[check]) for fit, check in cut.split(train, y[train])]
    return Parts(unit_rows(scale_views(X, train)), y, train, test, folds)


def choose(parts, method, seed):
    """Choose the point with the fewest errors on the folds; the first of equal ones.

    seed: Of the classifiers.
    """
    points = points_of(method)
    if len(points) == 1:
        return 0, None
    X, y = parts.X, parts.y
    errors = np.zeros(len(points), dtype=int)
    for fit, check in parts.folds:
        for i, point in enumerate(points):
            model = build(method, point, X.n_views, seed)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)  # the last training tells
                model.fit(X[fit], y[fit])
            errors[i] += np.sum(model.predict(X[check]) != y[check])
    best = int(errors.argmin())
    return best, 1.0 - errors[best] / len(parts.train)


def measures_of(method):
    """Return what :func:`tuned` measures for a method."""
    names = ("accuracy", "train_seconds", "predict_seconds", "kilobytes", "warned")
    names += ("n_train", "n_test")
    return names + (("validation", "point") if len(points_of(method)) > 1 else ())


def tuned(name, method, *, seed):
    """Choose a method's parameters within the training part, train on all of it, test once."""
    return measured(load_parts(name, seed), method, seed)


def measured(parts, method, seed):
    """Measure a method on given parts, see :func:`tuned`."""
    return _measured(parts, method, seed)[0]


def _measured(parts, method, seed):
    X, y, start = parts.X, parts.y, derive_seed(seed, "start")
    index, validation = choose(parts, method, start)
    model = build(method, points_of(method)[index], X.n_views, start)
    X_train, X_test = X[parts.train], X[parts.test]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        _, seconds = seconds_of(lambda: model.fit(X_train, y[parts.train]))
    predicted, predict_seconds = seconds_of(lambda: model.predict(X_test), SPREAD)
    values = {
        "accuracy": np.mean(predicted == y[parts.test]),
        "train_seconds": seconds,
        "predict_seconds": 1000.0 * predict_seconds / len(parts.test),
        "kilobytes": stored_kilobytes(model),
        "warned": any(issubclass(w.category, ConvergenceWarning) for w in caught),
        "n_train": len(parts.train),
        "n_test": len(parts.test),
        "validation": validation,
        "point": index,
    }
    return {key: float(values[key]) for key in measures_of(method)}, model


def advised(name, method, *, seed):
    """Measure a method as :func:`tuned` does, and with gaps in the test part of `GAPPY`."""
    parts = load_parts(name, seed)
    values, model = _measured(parts, method, seed)
    if name in GAPPY:
        test, means = parts.X[parts.test], view_means(parts.X[parts.train])
        for gap in GAPS:
            X = test.drop_views(gap, random_state=derive_seed(seed, "gaps", gap))
            if method in (*REFERENCES, *CONTROLS) and method not in VARIANTS:
                X = fill_means(X, means)
            values[f"accuracy_{gap}"] = float(np.mean(model.predict(X) == parts.y[parts.test]))
    return values


def comparison(dataset, quick, rows):
    """Yield the jobs of the comparison: every method in every repeat.

    quick: One repeat of `QUICK_METHODS`.
    """
    for repeat in range(1 if quick else N_REPEATS):
        for method in QUICK_METHODS if quick else GRIDS:
            function = partial(tuned, dataset, method)
            yield Job(dataset, method, {}, repeat, measures_of(method), function)


def advice(dataset, quick, rows):
    """Yield the jobs that the chapter's advice rests on.

    quick: One repeat of the methods that are in `QUICK_METHODS` or are an SVM.
    """
    gaps = tuple(f"accuracy_{gap}" for gap in GAPS) if dataset in GAPPY else ()
    for repeat in range(1 if quick else N_ADVICE):
        for method in ADVICE[dataset]:
            if not quick or method in (*QUICK_METHODS, "MeanKernelSVC"):
                function = partial(advised, dataset, method)
                yield Job(dataset, method, {}, repeat, measures_of(method) + gaps, function)


ITEMS = [
    Item(
        "side_by_side", "comparison", "accuracy, time and size of all methods",
        tuple(SIZES), comparison, serial=True,
    ),
    Item(
        "side_by_side", "advice", "what the advice rests on, on splits of its own",
        tuple(ADVICE), advice, serial=True,
    ),
]  # fmt: skip
