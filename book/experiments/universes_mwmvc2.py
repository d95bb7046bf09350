"""Universes of Table 1 of MwMvC2: choices that its section 4 leaves open.

shift      by how many pixels the windows of MNIST2 move towards the centre
view       of Mono: the best in cross-validation, or the best on the test samples
final      model of Fusion on the predictions of the views
lam        of MVMLsp, with eta = .001; or both by three folds of the sample
ties       of MVMV: the prediction if two of four views vote for the class
wab_depth, sh_depth  of the trees that MVWAB and RBoostSH boost
voters, update       of MwMvC2: its pool, and Algorithm 1 as printed or our monotone version

T = 2 as printed. Half of the 100 labelled examples of a task are of its class: so is a sample of
MNIST1 that the first author published with the program of a later paper, github.com/goyalanil/
PB-MVBoost. MNIST2 moves by one or three pixels: from five on, the readings exclude MV-MV's row.

Figure 2 does not print its numbers of examples: we take 20, 50 and 200, and fewer choices, those of
the printed order among them; the view of Mono and Fusion's final model are our first ones.

The search has found one universe, up to Fusion's final model, that gives the printed order of all
systems on MNIST1. `IN_ORDER` runs again with other splits, for as many repeats as in the paper.
"""

from functools import partial

import pandas as pd
from sklearn.tree import DecisionTreeClassifier

from .engine import Item
from .mwmvc2 import N_REPEATS, SAMPLE_SIZE, SCORES
from .tables import Cell, jobs_of
from .universes import PAPER, Multiverse, Statement
from .voting import FINAL_MODELS, score

ETA = 1e-3  # of MVMLsp where lam is fixed
DEPTHS = ("1", "2", "3", "4", "full")
SIZES = ("m20-mnist1", "m50-mnist1", "m200-mnist1")  # of Figure 2, whose sizes are not printed
FILES = dict.fromkeys(("mnist1", "mnist2", *SIZES), "mnist")
OWN = {  # axes of each system
    "Mono": ("view",),
    "Concat": (),
    "Fusion": ("final",),
    "MVMLsp": ("lam",),
    "MVMV": ("ties",),
    "MVWAB": ("wab_depth",),
    "RBoostSH": ("sh_depth",),
    "MwMvC2": ("voters", "update"),
}
AXES = {
    "view": ("cv", "test"),
    "final": tuple(FINAL_MODELS),
    "lam": ("folds", "1e-05", "0.001", "0.1"),
    "ties": ("random", "smallest", "largest"),
    "wab_depth": DEPTHS,
    "sh_depth": DEPTHS,
    "voters": ("trees", "random_trees"),
    "update": ("paper", "monotone"),
}
OTHERS = tuple(name for name in OWN if name != "MwMvC2")
ABOVE = tuple(name for name in OWN if name != "MVMLsp")
LATE = ("Fusion", "MVMV", "MVWAB", "RBoostSH", "MwMvC2")
LIKE_MNIST1 = "MwMvC2 MVWAB MVMV Fusion Concat Mono RBoostSH MVMLsp".split()
PRINTED = {  # printed orders, the best first
    ("mnist1", "accuracy"): LIKE_MNIST1,
    ("mnist1", "f1"): LIKE_MNIST1,
    ("mnist2", "accuracy"): "MwMvC2 MVMV MVWAB RBoostSH Fusion Concat Mono MVMLsp".split(),
    ("mnist2", "f1"): "MwMvC2 MVWAB MVMV RBoostSH Fusion Concat Mono MVMLsp".split(),
}
GAINS = {"accuracy": (0.2, 2.2), "f1": (2.2, 3.8)}  # per cent, of section 4.3
SHIFTS = {"mnist1": (0,), "mnist2": (1, 3)}


def on_table1(name, method, *, measures, seed, shift=0, m=SAMPLE_SIZE, **choices):
    """Measure a method in a universe of Table 1."""
    options = {k: choices[k] for k in ("final", "ties", "voters", "update") if k in choices}
    if choices.get("view") == "test":
        method = "Mono-oracle"
    if choices.get("lam", "folds") != "folds":
        options = {"lam": float(choices["lam"]), "eta": ETA}
    for depth in {"wab_depth", "sh_depth"} & set(choices):
        limit = None if choices[depth] == "full" else int(choices[depth])
        options = {"estimator": DecisionTreeClassifier(max_depth=limit)}
    name = f"mnist2-shift{shift}" if name == "mnist2" else name
    return score(name, method, measures=measures, m=m, seed=seed, **options)


def on_figure2(name, method, **given):
    """Measure a method on the number of examples of MNIST1 in the name of the data set."""
    m, name = name.removeprefix("m").split("-")
    return on_table1(name, method, m=int(m), **given)


def without(axes):
    """Return system -> axes that it does not have."""
    return {method: set(axes) - {"shift", *own} for method, own in OWN.items()}


def systems(means, dataset, measure):
    """Return the mean of every system on a data set: (universes, systems)."""
    return means.xs((dataset, measure), axis=1, level=(0, 2))


def lead(means, dataset, ahead, behind, measures=SCORES):
    """Return the smallest lead of the systems `ahead` over `behind`, over all measures."""
    of_each = [systems(means, dataset, measure) for measure in measures]
    gaps = [of[[*ahead]].min(axis=1) - of[[*behind]].max(axis=1) for of in of_each]
    return pd.concat(gaps, axis=1).min(axis=1)


def gain(means, dataset, measure):
    """Return the relative gain of MwMvC2 over the best of the others, in per cent."""
    of = systems(means, dataset, measure)
    return 100 * (of["MwMvC2"] / of[[*OTHERS]].max(axis=1) - 1)


def in_order(means, dataset):
    """Return the smallest difference between a system and the next one in the printed order."""
    found = [systems(means, dataset, m)[PRINTED[dataset, m]] for m in SCORES]
    return pd.concat([-of.diff(axis=1).max(axis=1) for of in found], axis=1).min(axis=1)


def in_range(means, dataset):
    """Return the margin of the gains inside the printed ranges, which are rounded to .1."""
    gaps = []
    for measure, (low, high) in GAINS.items():
        found = gain(means, dataset, measure)
        gaps += [found - low + 0.05, high + 0.05 - found]
    return pd.concat(gaps, axis=1).min(axis=1)


def few(means):
    """Return MwMvC2's lead with few examples, and beyond its lead with most; the larger of two."""
    *fewer, most = (lead(means, name, ("MwMvC2",), OTHERS) for name in SIZES)
    both = [pd.concat([one, one - most], axis=1).min(axis=1) for one in fewer]
    return pd.concat(both, axis=1).max(axis=1)


def on(dataset, name, text, value, *groups):
    """Return a statement about one data set, with its name."""
    value = partial(value, dataset=dataset, **dict(zip(("ahead", "behind"), groups, strict=False)))
    return f"{name}_{dataset}", Statement(f"{dataset}: {text}", value, datasets=(dataset,))


TWO, AHEAD_OF_ALL = ("mnist1", "mnist2"), "MwMvC2 is better than all others"
STATEMENTS = dict(
    [
        *[on(d, "order", "the eight systems stand in the printed order", in_order) for d in TWO],
        *[on(d, "first", AHEAD_OF_ALL, lead, ("MwMvC2",), OTHERS) for d in TWO],
        *[on(d, "gain", "its gain over the second best is in the printed range", in_range)
          for d in TWO],
        *[on(d, "last", "MVMLsp is worse than all others", lead, ABOVE, ("MVMLsp",)) for d in TWO],
        on("mnist1", "boosting", "rBoost.SH is worse than all others but MVMLsp", lead,
           [name for name in ABOVE if name != "RBoostSH"], ("RBoostSH",)),
        *[on(d, "improve", "all others but MVMLsp are better than Mono and Concat", lead,
             LATE, ("Mono", "Concat")) for d in SHIFTS],
    ]
)  # fmt: skip
TABLE1 = Multiverse(
    name="mwmvc2_table1",
    title="accuracy and F1 of Table 1 of MwMvC2, every choice left open",
    paper="mwmvc2", place="table1", datasets=tuple(SHIFTS), axes={"shift": SHIFTS} | AXES,
    methods=dict.fromkeys(OWN, SCORES), function=on_table1, without=without(AXES), n_repeats=3,
    statements=STATEMENTS,
)  # fmt: skip
FIGURE2 = Multiverse(
    name="mwmvc2_figure2",
    title="accuracy and F1 over the number of examples in Figure 2 of MwMvC2",
    datasets=SIZES,
    axes={"lam": ("folds", "1e-05"), "ties": ("random", "largest")}
    | dict.fromkeys(("wab_depth", "sh_depth"), ("1", "4", "full"))
    | {axis: AXES[axis] for axis in ("voters", "update")},
    methods=dict.fromkeys(OWN, SCORES), function=on_figure2, without=without(AXES), n_repeats=3,
    statements={"few": Statement("MwMvC2 is ahead above all with few examples", few)}
    | dict(on(name, "first", AHEAD_OF_ALL, lead, ("MwMvC2",), OTHERS) for name in SIZES),
)  # fmt: skip
IN_ORDER = {  # the universe that gives the printed order of MNIST1
    "view": "cv", "final": "tree", "lam": "1e-05", "ties": "random", "wab_depth": "4",
    "sh_depth": "full", "voters": "random_trees", "update": "monotone",
}  # fmt: skip


def order_again(dataset, quick, rows):
    """Return jobs of the universe of the printed order in new repeats, as many as in the paper."""
    cells = [
        Cell(method, {}, SCORES, 1 if quick else N_REPEATS, {axis: IN_ORDER[axis] for axis in axes})
        for method, axes in OWN.items()
    ]
    return jobs_of(dataset, dataset, cells, on_table1)


MULTIVERSES = (TABLE1, FIGURE2)
ITEMS = [
    *(multiverse.item for multiverse in MULTIVERSES),
    Item(PAPER, "mwmvc2_order", "the printed order of MNIST1, in 20 repeats", ("mnist1",),
         order_again),
]  # fmt: skip
