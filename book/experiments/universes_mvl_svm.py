"""Universes of Figures 2 to 5 of MVL-SVM: what its text and its authors' code leave open.

The figures print no numbers, so that only statements are asked. Flower17 is left out: Oxford's
distance matrices could not be had. MVML and SVM-2K are left out for their time.

mvl_figure2  scaling    series normalised by row and axis, as in the file, or columns standardised
               by the training part too (mfeat always; here only with the code's kernel). The raw
               series are not in the file: over all values of a row at once its normalisation is
               a constant factor
             kernel     RBF of all methods: with the "radius equal to the square root of the number
               of features" of the text as the standard deviation, with the gamma of the code, four
               times that; or linear for the landmarks, the mean product, and the code's for all
               others (libsvm's linear machines need minutes)
             machine    on the latent space, with 10, 50 or 200 landmarks; a statement takes the
               best of these numbers on the test part
             tuning     by three folds: the code's grid of C; the text's, read as C, and read as the
               c of Eq. (2), C = c/m (below c = 1 it has nothing that the code's grid lacks but
               smaller C); the code's by shuffled folds; or C = 1
             landmarks  of the final machine: drawn from all training samples, or from those of the
               last fold (the code)
mvl_time     Processor seconds and kernel evaluations of the final training, nothing tuned, of 896
             samples, or of the test part as the training part. libsvm takes classes pair by pair,
             or one against the rest
mvl_missing  Figure 5 on uWave at L = 200, nothing tuned: the ridge and the clipping of Eq. (11),
             whether known similarities are kept (the code replaces them), landmarks that are known
             in all views or among complete samples, loss, C; one repeat
mvl_people   accuracy on one person's recordings of the test part: the other seven train, tuned by
             folds of people; or as many training samples are drawn among all eight, that person
             included, tuned by folds in the order of the file; one repeat
"""

import numpy as np

from .landmark_universes import (
    FACTORS,
    LATENT,
    N_TEST,
    on_figure2,
    on_figure5,
    on_people,
    on_time,
)
from .universes import Multiverse, Statement


def of(means, method, measure="accuracy", dataset="uwave"):
    """A column of the means."""
    return means[dataset, method, measure]


def best(means, dataset="uwave"):
    """The best accuracy over the numbers of landmarks."""
    return np.max([of(means, name, dataset=dataset) for name in LATENT], axis=0)


def lost(means):
    """What ten landmarks lack to the best number."""
    return best(means) - of(means, LATENT[0])


def standard_error(means):
    """Of the best accuracy, on the test part."""
    return np.sqrt(best(means) * (1 - best(means)) / N_TEST)


def less(method, dataset="uwave"):
    """How far the latent space, with its best number of landmarks, is ahead of a method."""
    return lambda means: best(means, dataset) - of(means, method, dataset=dataset)


def ten_are_best(margin):
    """Ten landmarks are ahead of the vote, and no number is ahead of them by more than a margin."""

    def value(means):
        lead = of(means, LATENT[0]) - of(means, "vote")
        return np.minimum(lead, margin(means) - lost(means) + 1e-9)

    return value


SINGLE = {"SVC": "one RBF SVM on all columns", "linear": "one linear SVM on all columns",
          "view": "one SVM on one view"}  # fmt: skip
BEST_IS = "ten landmarks are ahead of the vote on uWave, and no number is ahead of them"
STATEMENTS = {
    "vote": Statement("the latent space is ahead of the vote on uWave", less("vote"), 0.0,
                      ("uwave",)),
    "ten_vote": Statement("ten landmarks are ahead of the vote on uWave",
                          lambda means: of(means, LATENT[0]) - of(means, "vote"), 0.0, ("uwave",)),
    "ten_best": Statement(BEST_IS, ten_are_best(lambda means: 0.0), 0.0, ("uwave",)),
    "ten_error": Statement(f"{BEST_IS} by more than one standard error of the test part",
                           ten_are_best(standard_error), 0.0, ("uwave",)),
    "ten_point": Statement(f"{BEST_IS} by more than one point",
                           ten_are_best(lambda means: 0.01), 0.0, ("uwave",)),
} | {
    f"{method}_{dataset}": Statement(
        f"the latent space is more than one point ahead of {words} on {dataset}",
        less(method, dataset), 0.01, (dataset,))
    for method, words in SINGLE.items() for dataset in ("uwave", "mfeat")
}  # fmt: skip
FIGURE2 = Multiverse(
    name="mvl_figure2",
    title="accuracy over the number of landmarks, every choice left open",
    paper="mvl_svm",
    place="",
    datasets=("uwave", "mfeat"),
    axes={
        "scaling": {"uwave": ("file", "columns"), "mfeat": ("columns",)},
        "kernel": {"uwave": (*FACTORS, "linear"), "mfeat": ("text", "code")},
        "machine": ("squared_hinge", "hinge", "rbf"),
        "tuning": {
            "uwave": ("code", "text", "mean", "shuffled", "none"), "mfeat": ("code", "none"),
        },
        "landmarks": {"uwave": ("all", "fold"), "mfeat": ("all",)},
    },
    methods=dict.fromkeys((*LATENT, "vote", *SINGLE), ("accuracy",)),
    function=on_figure2,
    rules=(
        ("only the code draws the landmarks of the last fold, and it has its own grid",
         lambda _, u: u["landmarks"] == "fold" and u["tuning"] != "code"),
        ("standardised columns only with the kernel of the code, in folds in order, for their time",
         lambda name, u: (name, u["scaling"]) == ("uwave", "columns")
         and (u["tuning"] == "shuffled" or u["kernel"] != "code")),
    ),
    without={
        **dict.fromkeys(("vote", "SVC", "view"), ("machine", "landmarks")),
        "linear": ("kernel", "machine", "landmarks"),
    },
    statements=STATEMENTS,
    n_repeats=2,
)  # fmt: skip


def seconds(means, method, prepared=True):
    """Of training, with the similarities or without."""
    prepare = of(means, method, "prepare_seconds") if prepared else 0.0
    return prepare + of(means, method, "solve_seconds")


def orders(method, prepared=True):
    """By how many powers of ten MVL-SVM trains faster than a method."""
    return lambda means: np.log10(
        seconds(means, method, prepared) / seconds(means, "MVLSVM", prepared)
    )


def orders_counted(measure):
    """By how many powers of ten the vote computes more similarities."""
    return lambda means: np.log10(of(means, "vote", measure) / of(means, "MVLSVM", "evaluations"))


FASTER = "MVL-SVM trains at least {} faster than the vote"
TIME = Multiverse(
    name="mvl_time",
    title="time to train, every choice left open",
    paper="mvl_svm",
    place="",
    datasets=("uwave",),
    axes={
        "m": (896, N_TEST), "C": (0.1, 1.0, 100.0), "classes": ("pairs", "rest"),
        "L": (10, 50, 200), "loss": ("squared_hinge", "hinge"),
    },
    methods={
        "MVLSVM": ("prepare_seconds", "solve_seconds", "evaluations"),
        "rbf": ("solve_seconds",),
        "SVC": ("prepare_seconds", "solve_seconds"),
        "vote": ("prepare_seconds", "solve_seconds", "evaluations", "anew"),
    },
    function=on_time,
    without={"MVLSVM": ("classes",), "rbf": ("loss",), "SVC": ("L", "loss"), "vote": ("L", "loss")},
    statements={
        "ten_times": Statement(FASTER.format("ten times"), orders("vote"), 1.0),
        "hundred": Statement(FASTER.format("a hundred times"), orders("vote"), 2.0),
        "hundred_solver": Statement(f"{FASTER.format('a hundred times')}, kernels not counted",
                                    orders("vote", False), 2.0),
        "hundred_shared": Statement("the vote computes at least a hundred times the similarities",
                                    orders_counted("evaluations"), 2.0),
        "hundred_anew": Statement("the same, if every binary machine computes its own",
                                  orders_counted("anew"), 2.0),
        "linear_latent": Statement("the linear machine trains faster than the RBF machine on the "
                                   "same landmarks", orders("rbf", False)),
        "linear_columns": Statement("the linear machine trains faster than the RBF machine on all "
                                    "columns", orders("SVC")),
    },
    n_repeats=2,
)  # fmt: skip


def ahead(method):
    """How far imputation is ahead of another treatment."""
    return lambda means: of(means, "MVLSVM") - of(means, method)


MISSING = Multiverse(
    name="mvl_missing",
    title="accuracy with missing views, every choice left open",
    paper="mvl_svm",
    place="",
    datasets=("uwave",),
    axes={
        "missing": (0.1, 0.3, 0.5), "landmarks": ("known", "complete"), "ridge": (0.1, 0.0),
        "clip": (True, False), "kept": (True, False), "loss": ("squared_hinge", "hinge"),
        "C": (0.1, 1.0, 10.0),
    },
    methods=dict.fromkeys(("MVLSVM", "mean", "drop", "vote", "vote+laplacian"), ("accuracy",)),
    function=on_figure5,
    without={
        "mean": ("ridge", "clip", "kept"), "drop": ("landmarks", "ridge", "clip", "kept"),
        **dict.fromkeys(("vote", "vote+laplacian"), ("landmarks", "ridge", "clip", "kept", "loss")),
    },
    statements={
        "drop": Statement("imputation is ahead of dropping samples", ahead("drop")),
        "dramatic": Statement("imputation is more than five points ahead of dropping samples",
                              ahead("drop"), 0.05),
        "mean": Statement("imputation is ahead of the mean of each column", ahead("mean")),
        "vote": Statement("imputation is ahead of the vote of single views", ahead("vote")),
        "laplacian": Statement("imputation is ahead of the vote with Laplacian imputation",
                               ahead("vote+laplacian")),
    },
    n_repeats=1,
)  # fmt: skip
BY_PEOPLE = Multiverse(
    name="mvl_people",
    title="accuracy on a person who does not train",
    paper="mvl_svm",
    place="",
    datasets=("uwave-people",),
    axes={
        "people": ("others", "all"), "person": tuple(range(1, 9)),
        "machine": ("squared_hinge", "rbf"),
    },
    methods=dict.fromkeys((*LATENT, "vote", "SVC"), ("accuracy",)),
    function=on_people,
    without=dict.fromkeys(("vote", "SVC"), ("machine",)),
    n_repeats=1,
)  # fmt: skip
MULTIVERSES = (FIGURE2, TIME, MISSING, BY_PEOPLE)
ITEMS = [multiverse.item for multiverse in MULTIVERSES]
