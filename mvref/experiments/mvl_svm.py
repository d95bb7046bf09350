"""Figures 2 to 5 of MVL-SVM (Zantedeschi, Emonet and Sebban, ECML PKDD 2018, section 6).

Protocol   (the paper's text where it says something, else the authors' public code)
  data     uwave: official 896 training and 3582 test recordings. flower17: three official splits
           of 680 training, 340 validation and 340 test photographs; on the recomputed distances
           it is named "flower17-recomputed". mfeat is not in the paper: it needs no download.
  repeats  5, each with fresh landmarks; for mfeat also with a fresh half for training. A method
           without randomness has one repeat (so has MVLSVM where every sample is a landmark).
  kernel   exp(-d^2/n_v); for distances exp(-d^2/mean(d)), the mean over the training part only
           (the authors average the test photographs in as well).
  tuning   C in 10^-3 .. 10^3 (the grid of the authors' code, liblinear's unit; the paper's text
           says c up to 10^4) by three folds in the order of the file, each with landmarks from its
           own training part; flower17 by the validation part. Ties go to the smallest C. The final
           model is trained on all training samples (flower17: and the validation part), with
           landmarks from the training part. The test part is used once.

Methods    (see :mod:`mvref.experiments.methods`)
  MVLSVM            squared hinge, the authors' linear path
  MVLSVM-hinge      the paper's Eq. (3); only up to `HINGE_LANDMARKS` landmarks, since liblinear's
                    hinge solver needs minutes beyond
  MVLSVM-rbf        RBF SVM on the latent space, the authors' committed scripts; on flower17 it took
                    the largest C of the grid in 83 of 108 runs, so that the grid limits it there
  PerViewSVM        one SVM per view, majority vote, ties by summed decision values

Figure 5   Views are missing in every part, exactly in the ratio asked for, and no sample loses all.
           At ratio .5 hardly any sample is complete (uwave 6 %, flower17 one or two photographs in
           a thousand), so that 200 landmarks seen in all views exist only if landmarks are spared.
  MVLSVM            200 landmarks, all their views known to the projection although the same
                    samples have gaps in training (authors' code); Eq. (11) with ridge 0.1
  MVLSVM-ridge0     the same with the paper's plain least squares, not clipped
  MVLSVM-mean       the same with the means of the known similarities in place of Eq. (11)
  MVLSVM-complete   as MVLSVM, landmarks among the samples that stay complete (all, if fewer
                    than 200): nothing is used that is missing
  MVLSVM-drop       the same landmarks, trained on complete samples only. The paper does not say
                    what happens to incomplete test samples: here they are imputed. Where less than
                    two classes remain, the most frequent class is predicted
  PerViewSVM        trained on and voted by the views that a sample has
  PerViewSVM+Laplacian   after completion of training and test samples together

  For MVLSVM, MVLSVM-ridge0 and MVLSVM-mean, C ends at 10 (see `IMPUTED_GRID`); flower17 has two
  repeats of its three splits, one for MVLSVM-ridge0; mfeat has three repeats.
  On flower17, MVLSVM-ridge0 falls to chance on split 3 from ratio .3 on: some of its landmarks are
  near-duplicates, P_o is singular to rounding, and eight training samples get imputed values up to
  7.5e8 (ratio .3). That is erratum A9, and no slip of the run.

Figure 3 measures time at Figure 2's choice of C (the median over its repeats), one job at a time,
in one thread: train = landmarks, projection and solver; test = projection and prediction of the
test part; median of `N_TIMINGS` runs. Figure 4 is Figure 2 against Figure 3 and has no rows of its
own.
"""

import json
import time
from functools import partial

import numpy as np

from ..mvl_svm import MVLSVM
from .engine import Item, Job
from .methods import METHODS, choose_C, complete_by_laplacian
from .problems import label, load_problem

DATASETS = ("uwave", "flower17", "mfeat")
GRID = tuple(10.0**k for k in range(-3, 4))
LANDMARKS = {
    "uwave": (10, 50, 100, 200, 400, 500, 597),
    "flower17": (10, 50, 100, 200, 400, 500, 600, 680),
    "mfeat": (10, 50, 100, 200),
}
HINGE_LANDMARKS = {"uwave": 200, "flower17": 50, "mfeat": 200}
N_REPEATS = 5
# Trained on imputed similarities, C = 100 and 1000 take up to 27 times as long as C = 1 (liblinear
# stops at 1000 iterations). In the points tried they validated worse than a smaller C, but for
# MVLSVM-ridge0 on flower17 at ratio .3, where C = 100 was best.
IMPUTED_GRID = tuple(C for C in GRID if C <= 10)
IMPUTED_METHODS = ("MVLSVM", "MVLSVM-ridge0", "MVLSVM-mean")
RATIOS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
MISSING_LANDMARKS = 200
MISSING_REPEATS = {"uwave": 5, "flower17": 2, "mfeat": 3}
MISSING_METHODS = (
    "MVLSVM", "MVLSVM-ridge0", "MVLSVM-mean", "MVLSVM-complete", "MVLSVM-drop",
    "PerViewSVM", "PerViewSVM+Laplacian",
)  # fmt: skip
N_TIMINGS = 3
QUICK_GRID = (0.1, 1.0, 10.0)
QUICK_LANDMARKS = (10, 50)
QUICK_RATIOS = (0.0, 0.3)


def tuned_accuracy(name, method, *, L=None, split=None, missing=None, grid=GRID, seed):
    """Tune C inside the training part, train, and count correct labels of the test part.

    Parameters
    ----------
    name : {"uwave", "flower17", "mfeat"}
    method : str
        Key of :data:`mvref.experiments.methods.METHODS`.
    L, split : int, optional
    missing : float, optional
        Share of missing views, in Figure 5.
    grid : tuple of float
    seed : int

    Returns
    -------
    measures : dict
        ``accuracy`` on the test part, the chosen ``C`` and its ``validation_accuracy``; for
        MVL-SVM with missing views also ``n_landmarks`` of the final model.
    """
    problem = load_problem(name, split=split, missing=missing or 0.0, seed=seed)
    if method == "PerViewSVM+Laplacian":
        problem = complete_by_laplacian(problem)
    C, validation_accuracy = choose_C(problem, method, L, seed, grid)
    machine = METHODS[method](problem, problem.reference, problem.pool, L, seed).fit(C)
    predicted = machine.predict(machine.features(problem.test))
    measures = {
        "accuracy": np.mean(predicted == problem.y[problem.test]),
        "C": C,
        "validation_accuracy": validation_accuracy,
    }
    return measures | ({"n_landmarks": machine.n_landmarks} if L and missing is not None else {})


def timing(name, method, *, C, L=None, split=None, seed):
    """Measure the seconds that training and testing take at a fixed C.

    Parameters
    ----------
    name, method, L, split, seed
        As in :func:`tuned_accuracy`.
    C : float

    Returns
    -------
    measures : dict
        ``train_seconds``, ``test_seconds`` (medians of `N_TIMINGS` runs) and ``C``.
    """
    problem = load_problem(name, split=split, seed=seed)
    seconds = np.empty((N_TIMINGS, 2))
    for run in seconds:
        start = time.perf_counter()
        machine = METHODS[method](problem, problem.reference, problem.pool, L, seed).fit(C)
        trained = time.perf_counter()
        machine.predict(machine.features(problem.test))
        run[:] = trained - start, time.perf_counter() - trained
    train_seconds, test_seconds = np.median(seconds, axis=0)
    return {"train_seconds": train_seconds, "test_seconds": test_seconds, "C": C}


def fig2(dataset, quick, rows):
    """Yield the jobs of Figure 2: accuracy of complete views over the number of landmarks.

    Parameters
    ----------
    dataset : {"uwave", "flower17", "mfeat"}
    quick : bool
        One repeat, one split, few landmarks and few C.
    rows : ignored

    Yields
    ------
    job : Job
    """
    for repeat in range(1 if quick else N_REPEATS):
        for split in _splits(dataset, quick):
            for method, L in _points(dataset, quick):
                if repeat == 0 or not _is_deterministic(dataset, L):
                    grid = QUICK_GRID if quick else GRID
                    yield _accuracy_job(dataset, method, repeat, grid, L=L, split=split)


def fig3(dataset, quick, rows):
    """Yield the jobs of Figure 3: seconds at Figure 2's choice of C.

    Parameters
    ----------
    dataset, quick
        As in :func:`fig2`.
    rows : DataFrame
        Rows of the ledger; only the points that Figure 2 has are timed.

    Yields
    ------
    job : Job
    """
    chosen = rows[(rows["item"] == "fig2") & (rows["measure"] == "C")]
    chosen = chosen[chosen["dataset"] == label(dataset)]
    for method, L in _points(dataset, quick):
        point = _given(L=L, split=_splits(dataset, quick)[0])
        known = chosen[(chosen["method"] == method) & _has_landmarks(chosen["parameter"], L)]
        if len(known):
            # the lower median is a value of the grid
            C = float(known["value"].quantile(0.5, interpolation="lower"))
            function = partial(timing, dataset, method, C=C, **point)
            measures = ("train_seconds", "test_seconds", "C")
            yield Job(label(dataset), method, point, 0, measures, function)


def fig4(dataset, quick, rows):
    """Yield nothing: Figure 4 draws the rows of Figures 2 and 3 against each other.

    Parameters
    ----------
    dataset, quick, rows : ignored

    Yields
    ------
    job : Job
    """
    yield from ()


def fig5(dataset, quick, rows):
    """Yield the jobs of Figure 5: accuracy over the share of missing views.

    Parameters
    ----------
    dataset, quick, rows
        As in :func:`fig2`.

    Yields
    ------
    job : Job
    """
    landmarks = QUICK_LANDMARKS[-1] if quick else MISSING_LANDMARKS
    for repeat in range(1 if quick else MISSING_REPEATS[dataset]):
        for split in _splits(dataset, quick):
            for missing in QUICK_RATIOS if quick else RATIOS:
                for method in _missing_methods(dataset, repeat):
                    L = landmarks if method.startswith("MVLSVM") else None
                    grid = IMPUTED_GRID if method in IMPUTED_METHODS else GRID
                    grid = QUICK_GRID if quick else grid
                    point = {"L": L, "split": split, "missing": missing}
                    yield _accuracy_job(dataset, method, repeat, grid, **point)


def extension_accuracy(name, method, *, L, seed):
    """Learn with one of the paper's two perspectives, at C = 1 without tuning.

    Parameters
    ----------
    name, L, seed
        As in :func:`tuned_accuracy`.
    method : str
        Key of `EXTENSIONS`.

    Returns
    -------
    measures : dict
        ``accuracy`` on the test part.
    """
    problem = load_problem(name, seed=seed)
    train, test = problem.pool, problem.test
    svm = MVLSVM(L, c=len(train), loss="squared_hinge", random_state=seed)
    svm.set_params(**EXTENSIONS[method](L)).fit(problem.X[train], problem.y[train])
    return {"accuracy": np.mean(svm.predict(problem.X[test]) == problem.y[test])}


def extensions(dataset, quick, rows):
    """Yield the jobs of the paper's perspectives: landmarks per view, landmarks selected.

    Parameters
    ----------
    dataset, quick, rows
        As in :func:`fig2`.

    Yields
    ------
    job : Job
    """
    for repeat in range(1 if quick else N_REPEATS):
        for L in EXTENSION_LANDMARKS[:1] if quick else EXTENSION_LANDMARKS:
            for method in EXTENSIONS:
                function = partial(extension_accuracy, dataset, method, L=L)
                yield Job(label(dataset), method, {"L": L}, repeat, ("accuracy",), function)


def _missing_methods(dataset, repeat):
    """Methods of Figure 5; plain least squares is too slow to be repeated on flower17."""
    skip = dataset == "flower17" and repeat > 0
    return [method for method in MISSING_METHODS if not (skip and method == "MVLSVM-ridge0")]


def _accuracy_job(dataset, method, repeat, grid, **point):
    point = _given(**point)
    function = partial(tuned_accuracy, dataset, method, grid=grid, **point)
    measures = ("accuracy", "C", "validation_accuracy")
    if {"L", "missing"} <= set(point):
        measures += ("n_landmarks",)
    return Job(label(dataset), method, point, repeat, measures, function)


def _given(**point):
    return {name: value for name, value in point.items() if value is not None}


def _splits(dataset, quick):
    """Official splits to run; None where there is one or none."""
    if dataset != "flower17":
        return (None,)
    return (1,) if quick else (1, 2, 3)


def _points(dataset, quick):
    """Methods and numbers of landmarks of Figures 2 and 3."""
    yield "PerViewSVM", None
    for L in QUICK_LANDMARKS if quick else LANDMARKS[dataset]:
        yield "MVLSVM", L
        yield "MVLSVM-rbf", L
        if L <= HINGE_LANDMARKS[dataset]:
            yield "MVLSVM-hinge", L


def _is_deterministic(dataset, L):
    """Tell the points that do not depend on the seed: no landmarks, or all samples are."""
    return dataset != "mfeat" and (L is None or (dataset == "flower17" and L == 680))


def _has_landmarks(parameters, L):
    """Boolean Series: the parameter points with L landmarks (None: without landmarks)."""
    return parameters.map(lambda text: json.loads(text).get("L") == L).astype(bool)


# The paper's section 7 names them and tries neither. L landmarks are used in prediction.
EXTENSION_LANDMARKS = (10, 30)
EXTENSIONS = {
    "shared landmarks": lambda L: {},
    "landmarks per view": lambda L: {"landmarks": "per_view"},
    "selected of 200": lambda L: {"n_landmarks": 200, "n_selected": L},
}

ITEMS = [
    Item("mvl_svm", "fig2", "test accuracy over the number of landmarks", DATASETS, fig2),
    Item(
        "mvl_svm", "fig3", "training and test time over the number of landmarks", DATASETS, fig3,
        needs=("fig2",), serial=True,
    ),
    Item(
        "mvl_svm", "fig4", "test accuracy over training time", DATASETS, fig4,
        needs=("fig2", "fig3"),
    ),
    Item("mvl_svm", "fig5", "test accuracy over the share of missing views", DATASETS, fig5),
    Item(
        "mvl_svm", "extensions", "the two perspectives of the paper's conclusion",
        ("uwave", "mfeat"), extensions,
    ),
]  # fmt: skip
