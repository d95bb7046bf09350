"""How long every classifier of mvref takes, over the number of samples.

No paper has these figures. One process, one thread, seconds of the processor.

Data       two views of 20 columns, two classes whose means differ by 1/2 of a standard deviation
           in every column; a row has mean squared norm 1. A repeat draws its own samples, and its
           smaller problems are the first samples of the larger ones, so that only n changes.
Methods    every classifier of :func:`mvref.all_methods` at its defaults, but for `OPTIONS`: 20
           rounds of boosting, and for MVL-SVM, L3-SVM, SVM-2K and the tensor machine the looser
           tolerances of :mod:`.side_by_side`.
Sizes      250, 500, ... up to 16 000. A method goes to the first size whose fit takes longer than
           about half a second (`LARGEST`), and the sizes beyond it have no rows.
Measures   ``fit_seconds``; ``predict_seconds``, of 1000 other samples, the median of three calls.
           A fit that takes less than a tenth of a second is done three times more, and their
           median counts.
Slope      of log time against log n over the upper half of a method's sizes: 1 is linear, 2 is
           quadratic (:func:`slopes`). Where a constant cost still counts it is too small.

The second item, ``against``, has its protocol in :mod:`.speed_pairs`.
"""

import json
import warnings
from functools import lru_cache, partial

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning

from .. import all_methods
from ..core.views import MultiView
from .engine import Item, Job, derive_seed
from .side_methods import FIXED, seconds_of
from .speed_pairs import PAIRS, against

DRAWN = ("two-gaussians",)
N_VIEWS, WIDTH, SHIFT = 2, 20, 0.25
SIZES = tuple(250 * 2**k for k in range(7))
N_TEST, N_REPEATS = 1000, 3
SHORT, SPREAD = 0.1, 3
ROUNDS = {"n_estimators": 20}
OPTIONS = {
    "MVLSVM": FIXED["MVLSVM"] | {"c": 100.0},  # C = c/m < 1 at every size: one solver
    "L3SVM": FIXED["L3SVM"],
    "SVM2K": FIXED["SVM2K"],
    "STMClassifier": FIXED["STMClassifier"],
    "MVWAB": ROUNDS,
    "RBoostSH": ROUNDS,
    "Mumbo": ROUNDS,
}
# first size whose fit takes longer than about half a second; at least the third, for a slope
LARGEST = {
    "CAPO": 2000,
    "CoLabeling": 2000,
    "Concat": 16000,
    "FMClassifier": 16000,
    "FSMulti": 4000,
    "Fusion": 16000,
    "KMHKS": 2000,
    "L3SVM": 8000,
    "MSL": 16000,
    "MVLSVM": 16000,
    "MVMClassifier": 16000,
    "MVML": 1000,
    "MVMV": 16000,
    "MVNAKMHKS": 16000,
    "MVPO": 16000,
    "MVWAB": 4000,
    "Mono": 4000,
    "Mumbo": 4000,
    "MwMvC2": 2000,
    "NAKMHKS": 16000,
    "PerViewSVM": 4000,
    "RBoostSH": 8000,
    "SMS": 16000,
    "STMClassifier": 16000,
    "SVM2K": 2000,
    "SVMPerf": 16000,
}


@lru_cache(maxsize=1)
def draw_gaussians(seed):
    """Draw the samples of a repeat: those that train, and after them `N_TEST` others.

    returns y (SIZES[-1] + N_TEST,).

    Examples
    --------
    >>> from mvref.experiments.speed import draw_gaussians
    >>> X, y = draw_gaussians(0)
    >>> X.shape, X.widths, round(float((X.views[0] ** 2).sum(axis=1).mean()), 1)
    ((17000, 40), [20, 20], 1.1)
    """
    rng = np.random.default_rng(seed)
    y = rng.choice([-1, 1], size=SIZES[-1] + N_TEST)
    noise = rng.normal(size=(N_VIEWS, len(y), WIDTH))
    return MultiView(list((noise + SHIFT * y[:, None]) / np.sqrt(WIDTH))), y


def timed(function):
    """Return what a function returns, and its seconds; the median of three more if they are few.

    Examples
    --------
    >>> from mvref.experiments.speed import timed
    >>> calls = []
    >>> result, seconds = timed(lambda: calls.append(1))
    >>> len(calls), seconds < 0.1
    (4, True)
    """
    result, seconds = seconds_of(function)
    return (result, seconds) if seconds > SHORT else seconds_of(function, SPREAD)


def build(method, seed):
    """Return a classifier of :func:`mvref.all_methods` with `OPTIONS`, not fitted.

    Examples
    --------
    >>> from mvref.experiments.speed import build
    >>> build("Mumbo", 3)
    Mumbo(n_estimators=20, random_state=3)
    """
    model = all_methods()[method](**OPTIONS.get(method, {}))
    return model.set_params(random_state=seed) if "random_state" in model.get_params() else model


def measured(method, n, *, seed):
    """Time the training on n samples, and the prediction of 1000 others."""
    X, y = draw_gaussians(derive_seed(seed, "samples"))
    train, test, labels = X[:n], X[-N_TEST:], y[:n]
    model = build(method, derive_seed(seed, "start"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # time is what is asked here
        _, seconds = timed(lambda: model.fit(train, labels))
    _, predict_seconds = seconds_of(lambda: model.predict(test), 3)
    return {"fit_seconds": seconds, "predict_seconds": predict_seconds}


def scaling(dataset, quick, rows):
    """Yield the jobs of ``scaling``: every method at its sizes.

    quick: One repeat of the two smallest sizes.
    """
    for repeat in range(1 if quick else N_REPEATS):
        for method, largest in LARGEST.items():
            for n in [n for n in SIZES if n <= (SIZES[1] if quick else largest)]:
                names = ("fit_seconds", "predict_seconds")
                function = partial(measured, method, n)
                yield Job(dataset, method, {"samples": n}, repeat, names, function)


def comparisons(dataset, quick, rows):
    """Yield the jobs of ``against``: every pair at every one of its sizes.

    quick: One repeat of the smallest size.
    """
    for repeat in range(1 if quick else N_REPEATS):
        for name, pair in PAIRS.items():
            for n in pair.sizes[:1] if quick else pair.sizes:
                names = ("ours_seconds", "theirs_seconds", "difference")
                function = partial(compared, name, n)
                yield Job(dataset, name, {"samples": n}, repeat, names, function)


def compared(name, n, *, seed):
    """Time a pair on n samples, see :func:`mvref.experiments.speed_pairs.against`."""
    X, y = draw_gaussians(derive_seed(seed, "samples"))
    return against(PAIRS[name], X[:n], y[:n], X[-N_TEST:])


def slopes(sizes, seconds):
    """Return the slope of log time against log n, over the upper half of the sizes.

    sizes (S,): Increasing; seconds (S,) or (S, R): Of R repeats; returns slopes (R,).

    Examples
    --------
    >>> import numpy as np
    >>> from mvref.experiments.speed import slopes
    >>> n = np.array([250, 500, 1000, 2000])
    >>> slopes(n, 1e-6 * n**2.0).round(3)
    np.float64(2.0)
    """
    sizes, seconds = np.asarray(sizes), np.asarray(seconds)
    half = min(len(sizes), max(3, len(sizes) // 2))
    fit = np.polyfit(np.log(sizes[-half:]), np.log(seconds[-half:]), 1)
    return fit[0]


def time_table(rows, measure):
    """Put the rows of ``scaling`` into one table for each method.

    measure: ``fit_seconds`` or ``predict_seconds``.
    """
    rows = rows[(rows["item"] == "scaling") & (rows["measure"] == measure)]
    n = pd.json_normalize(rows["parameter"].map(json.loads))["samples"].to_numpy()
    rows = rows.assign(samples=n)
    return {
        method: of_method.pivot(index="samples", columns="repeat", values="value")
        for method, of_method in rows.groupby("method")
    }


ITEMS = [
    Item("speed", "scaling", "time over the number of samples", DRAWN, scaling, serial=True),
    Item("speed", "against", "our form and another of the same problem", DRAWN, comparisons,
         serial=True),
]  # fmt: skip
