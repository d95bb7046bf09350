"""Table 1 and Figure 2 of MwMvC2 (Goyal, Morvant and Amini, IDA 2018, section 4), and its readings.

Protocol   (as in the paper's text, if stated there)
  data     mnist1: the four quarters of the 70 000 digits. mnist2-shift3: four windows of 14 x 14
           pixels, moved 3 pixels towards the centre; the paper does not state how far its windows
           overlap. reuters1200, reuters600: two published subsets of the Reuters collection with
           the files' own weights; reuters_full is the collection. digits: the quarters of the small
           digits, not in the paper, needs no download.
  split    at random: 10 000 images of MNIST, 30 % of the other data, are the test set, in their
           natural proportions; training samples are drawn from the rest.
  tasks    each class against the rest, from m/2 samples of the class and m/2 of the rest (all
           samples of the class, if it has fewer, and as many of the rest). The paper states that
           m = 100 examples are labelled and that negatives are subsampled; that this means 50 + 50,
           and natural proportions in the test set, is inferred from its numbers.
  scores   accuracy and F1 of the class on the whole test set, averaged over the classes.
  repeats  20 for Table 1, 5 for Figure 2 and for the readings, each with its own split and samples,
           which all methods share.

Methods    Mono (the view selected by cross-validation in the sample), Concat, Fusion, MVMV, MVWAB,
           RBoostSH with their defaults, 100 rounds of boosting, and
  MVMLsp          MVML with the sparse metric. The paper gives the fraction of the samples in the
                  Nystroem approximation, .24, and no kernel; ours are Gaussian,
                  exp(-d^2 / mean d^2), with the mean over the sample. lam and eta are selected on
                  three folds of the sample, see :func:`.voting.fit_metric`
  MwMvC2          two updates whose loss cannot rise, the paper's trees
  MwMvC2-paper    two updates of Algorithm 1 as printed
  MwMvC2-random   as MwMvC2, trees with random splits
  MVMLsp-weak, MVWAB-stumps, RBoostSH-full   the readings of the rivals that come nearest to their
                  rows for MNIST1: lam = 1e-5 and eta = .001; trees of depth 1; fully grown trees

Joint      MNIST1 in Table 1 again, with other splits and samples: each system by the one reading
           that comes nearest to its row. The readings were selected by the printed numbers; the
           claim in question is what the text states about all systems at once.

Readings   What the paper leaves open, each with its parameter.
  sampling   "balanced" as above; "natural": m of the pool; "cut": the same, then only as many of
             the rest are kept as there are of the class. A class with fewer than two samples is
             not learnt: the more frequent answer is predicted.
  ties       the prediction of MVMV when two of four views vote for the class.
  Mono       Mono-oracle is the view with the best test accuracy, unknown in practice; Mono-mean
             the mean over the views.
  final      Fusion's final model.
  voters, max_iter   pool and number of updates of MwMvC2, MwMvC2-paper, and MwMvC2-uniform: printed
             updates of the voters with equal weights of the views, which no reading of the paper
             gives. ``raised`` is the proportion of classes whose last update raised the loss,
             ``largest_rho`` the mean of the largest view weight.
  depth      of the trees that MVWAB and RBoostSH boost (2 elsewhere); fully grown trees make no
             training errors, so that boosting ends after one round. Mumbo, which the paper
             mentions without a comparison, is run, too.
  lam, eta   of MVMLsp, where they are fixed instead of tuned.
  width      of MVMLsp's kernels: "features" is exp(-d^2 / number of features) of the values in
             the files (pixels range up to 255, those of digits up to 16).
  shift      of the windows of mnist2; 0 are the quarters of mnist1, at 7 all views are the same.
"""

from mvref.core.ties import TIES

from .engine import Item
from .tables import Cell, jobs_of
from .voting import DEPTHS, FINAL_MODELS, SAMPLINGS, score

DATASETS = {
    "digits": ["digits"],
    "mnist": ["mnist1", "mnist2-shift3"],
    **{name: [name] for name in ("reuters1200", "reuters600", "reuters_full")},
}
METHODS = (
    "Mono", "Concat", "Fusion", "MVMLsp", "MVMV", "MVWAB", "RBoostSH",
    "MwMvC2", "MwMvC2-paper", "MwMvC2-random",
)  # fmt: skip
NEAREST = (
    "Mono", "Concat", "Fusion", "MVMLsp-weak", "MVMV", "MVWAB-stumps", "RBoostSH-full",
    "MwMvC2-random",
)  # fmt: skip
SAMPLE_SIZE = 100  # m of Table 1
SIZES = (20, 50, 100, 200, 400)  # of Figure 2, not printed in the paper
LARGEST = {"digits": 200, "reuters1200": 200, "reuters600": 100}  # classes have no more samples
N_REPEATS, CURVE_REPEATS, READING_REPEATS = 20, 5, 5
N_UPDATES, N_ROUNDS, FUSION_SHARE = 2, 100, 0.6  # defaults of the classes, and 100 of MVWAB
QUICK_REPEATS, QUICK_ROUNDS, QUICK_SIZES = 2, 10, (20, 50)
QUICK_WEIGHTS = {"lam": 0.1, "eta": 1e-3}  # of MVMLsp, not tuned
BOOSTED = ("MVWAB", "RBoostSH", "Mumbo")
SCORES = ("accuracy", "f1")
WATCHED = (*SCORES, "raised", "largest_rho")
DEEPENED = ("digits", "mnist1")  # data sets for the readings of boosted trees and of MVMLsp
SHIFTED = ("Mono-oracle", "Concat", "Fusion", "MVMV", "MwMvC2")
LAMS, ETAS = (1e-7, 1e-5, 1e-3, 1e-1, 10.0), (1e-3, 1.0)  # of MVMLsp, where they are not tuned
UPDATES = {"MwMvC2": (0, 1, 2, 5, 20), "MwMvC2-paper": (1, 2, 3), "MwMvC2-uniform": (1, 2)}
READINGS = [
    *[
        (method, {"sampling": sampling})
        for sampling in SAMPLINGS
        for method in ("Mono", "Concat", "Fusion", "MVMV", "MwMvC2", "MwMvC2-paper")
    ],
    *[("MVMV", {"ties": ties}) for ties in TIES],
    *[(method, {}) for method in ("Mono", "Mono-oracle", "Mono-mean")],
    *[("Fusion", {"final": final}) for final in FINAL_MODELS],
    *[(method, {"depth": depth}) for depth in DEPTHS for method in ("MVWAB", "RBoostSH")],
    ("Mumbo", {}),
    *[("MVMLsp", point) for point in ({}, {"width": "features"})],
    *[("MVMLsp", {"lam": lam, "eta": eta}) for lam in LAMS for eta in ETAS],
    *[
        (method, {"voters": voters, "max_iter": max_iter})
        for voters in ("trees", "random_trees")
        for method, numbers in UPDATES.items()
        for max_iter in numbers
    ],
]


def table1(dataset, quick, rows, methods=METHODS):
    """Accuracy and F1 from 100 labelled examples."""
    points = [(method, {"m": SAMPLE_SIZE}) for method in methods]
    for name in DATASETS[dataset]:
        yield from _jobs(name, name, points, N_REPEATS, quick)


def joint(dataset, quick, rows):
    """Accuracy and F1 on MNIST1 by the readings in `NEAREST`."""
    yield from (job for job in table1(dataset, quick, rows, NEAREST) if job.dataset == "mnist1")


def fig2(dataset, quick, rows):
    """Accuracy and F1 over the number of labelled examples."""
    for name in DATASETS[dataset]:
        sizes = [m for m in (QUICK_SIZES if quick else SIZES) if m <= LARGEST.get(name, m)]
        points = [(method, {"m": m}) for m in sizes for method in METHODS]
        yield from _jobs(name, name, points, CURVE_REPEATS, quick)


def readings(dataset, quick, rows):
    """Accuracy and F1 by the choices that the paper leaves open."""
    name = DATASETS[dataset][0]
    points = [
        (method, point)
        for method, point in READINGS
        if name in DEEPENED or not (method == "MVMLsp" or "depth" in point)
    ]
    yield from _jobs(name, name, points, READING_REPEATS, quick)
    shifts = (0, 7) if quick else range(8)
    for shift in shifts if dataset == "mnist" else ():
        name = f"mnist2-shift{shift}" if shift else "mnist1"
        points = [(method, {"shift": shift}) for method in SHIFTED]
        yield from _jobs("mnist2", name, points, READING_REPEATS, quick)


def _jobs(label, name, points, n_repeats, quick):
    """Return jobs of methods at points; quick: ten rounds of boosting, fixed weights of MVMLsp."""
    cells = []
    for method, point in points:
        options = {"m": SAMPLE_SIZE}
        if quick and method.startswith(BOOSTED):
            options["n_estimators"] = QUICK_ROUNDS
        if quick and method == "MVMLsp":
            options |= QUICK_WEIGHTS
        watched = "max_iter" in point and method != "MwMvC2-uniform"
        n = QUICK_REPEATS if quick else n_repeats
        cells.append(Cell(method, point, WATCHED if watched else SCORES, n, options))
    return jobs_of(label, name, cells, score)


ITEMS = [
    Item("mwmvc2", "table1", "accuracy and F1 from 100 labelled examples", tuple(DATASETS), table1),
    Item("mwmvc2", "fig2", "accuracy and F1 over the number of labelled examples",
         tuple(DATASETS), fig2),
    Item("mwmvc2", "readings", "what the paper leaves open", tuple(DATASETS), readings),
    Item("mwmvc2", "joint", "MNIST1 by the readings nearest to its rows", ("mnist",), joint),
]  # fmt: skip
