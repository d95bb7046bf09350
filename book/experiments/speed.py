"""Running time of every classifier of mvref over the number of samples.

No paper has these figures. One process, one thread, processor seconds.

Data       two views of 20 columns, two classes whose means differ by 1/2 of a standard deviation
           in every column; a row has mean squared norm 1. A repeat draws its own samples, and its
           smaller problems are the first samples of the larger ones, so that only n changes.
Methods    every classifier of :func:`mvref.all_methods` and `BASELINES`, at their defaults.
Sizes      250, 500, ... up to 16 000. A method goes to the first size whose fit takes longer than
           about half a second (`LARGEST`), and larger sizes have no rows.
Measures   ``fit_seconds``; ``predict_seconds``, of 1000 other samples, the median of three calls.
           A fit that takes less than a tenth of a second is repeated three times, and the median
           of these counts.
Slope      of log time against log n over the upper half of a method's sizes: 1 is linear, 2 is
           quadratic (:func:`slopes`). It is too small where constant costs still matter.

The protocol of ``against`` is in :mod:`.speed_pairs`, that of ``peers`` in :mod:`.speed_peers`.
"""

import warnings
from functools import lru_cache

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from mvref.core.input import MultiView

from .engine import Item, derive_seed, with_parameters
from .speed_pairs import PAIRS, against
from .speed_peers import DATASETS, GAUSSIANS, build, peers
from .tables import Cell, jobs_of, seconds_of, timed

TWO = ("two-gaussians",)
DRAWN = (*TWO, GAUSSIANS)  # simulated, so always available
N_VIEWS, WIDTH, SHIFT = 2, 20, 0.25
SIZES = tuple(250 * 2**k for k in range(7))
N_TEST, N_REPEATS = 1000, 3
ENDS = {  # at least the third size, to fit a slope
    1000: ("FSMulti", "STMClassifier"),
    2000: ("CAPO", "L3SVM", "MVML", "MVWAB", "SVM2K"),
    4000: ("CoLabeling", "KMHKS", "Mono", "Mumbo", "PerViewSVM"),
    8000: ("MwMvC2", "RBoostSH"),
    16000: (
        "Concat", "FMClassifier", "Fusion", "MSL", "MVLSVM", "MVMClassifier", "MVMV", "MVNAKMHKS",
        "MVPO", "NAKMHKS", "SMS", "SVMPerf",
    ),
}  # fmt: skip
LARGEST = dict(sorted((method, n) for n, methods in ENDS.items() for method in methods))
BASELINES = {"LogisticRegression": 16000, "SVC": 8000}  # on the concatenated features


@lru_cache(maxsize=1)
def draw_gaussians(seed):
    """Draw X and y of a repeat: `SIZES[-1]` training samples, then `N_TEST` test samples."""
    rng = np.random.default_rng(seed)
    y = rng.choice([-1, 1], size=SIZES[-1] + N_TEST)
    noise = rng.normal(size=(N_VIEWS, len(y), WIDTH))
    return MultiView(list((noise + SHIFT * y[:, None]) / np.sqrt(WIDTH))), y


def scaling(dataset, quick, rows):
    """Every method at its sizes; quick: one repeat of the two smallest sizes."""
    cells = [
        Cell(method, {"samples": n}, ("fit_seconds", "predict_seconds"), 1 if quick else N_REPEATS)
        for method, largest in (LARGEST | BASELINES).items()
        for n in SIZES
        if n <= (SIZES[1] if quick else largest)
    ]
    return jobs_of(dataset, dataset, cells, measured)


def measured(name, method, *, measures, samples, seed):
    """Time training on `samples` samples and the prediction of 1000 others."""
    X, y = draw_gaussians(derive_seed(seed, "samples"))
    train, test, labels = X[:samples], X[-N_TEST:], y[:samples]
    model = build(method, derive_seed(seed, "start"))
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
        _, seconds = timed(lambda: model.fit(train, labels))  # only the time matters here
    _, predict_seconds = seconds_of(lambda: model.predict(test), 3)
    return {"fit_seconds": seconds, "predict_seconds": predict_seconds}


def comparisons(dataset, quick, rows):
    """Every pair at its sizes; quick: one repeat of the smallest size."""
    measures = ("ours_seconds", "theirs_seconds", "difference")
    cells = [
        Cell(name, {"samples": n}, measures, 1 if quick else N_REPEATS)
        for name, pair in PAIRS.items()
        for n in pair.sizes[: 1 if quick else None]
    ]
    return jobs_of(dataset, dataset, cells, compared)


def compared(name, pair, *, measures, samples, seed):
    """Time a pair on `samples` samples, see :func:`mvref.experiments.speed_pairs.against`."""
    X, y = draw_gaussians(derive_seed(seed, "samples"))
    return against(PAIRS[pair], X[:samples], y[:samples], X[-N_TEST:])


def slopes(sizes, seconds):
    """Return the slope of log time against log n, over the upper half of the sizes.

    sizes (S,): increasing; seconds (S,), or (S, R) of R repeats -> a slope, or (R,).
    """
    half = max(3, len(sizes) // 2)
    return np.polyfit(np.log(sizes[-half:]), np.log(seconds[-half:]), 1)[0]


def time_table(rows, measure):
    """Return a table of a measure for each method, from the rows of ``scaling``."""
    rows = rows[(rows["item"] == "scaling") & (rows["measure"] == measure)]
    rows, _ = with_parameters(rows)
    return {
        method: of_method.pivot(index="samples", columns="repeat", values="value")
        for method, of_method in rows.groupby("method")
    }


ITEMS = [
    Item("speed", "scaling", "time over the number of samples", TWO, scaling, serial=True),
    Item("speed", "against", "our form and another of the same problem", TWO, comparisons,
         serial=True),
    Item("speed", "peers", "accuracy and time beside other programs", DATASETS, peers,
         serial=True),
]  # fmt: skip
