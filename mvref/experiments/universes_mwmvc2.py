"""Universes of Table 1 of MwMvC2: what its section 4 leaves open, m = 100 and T = 2 as printed.

samples    the 100 labelled examples of a task: 50 of the class and 50 of the rest; 100 of each;
  100 of the pool of which negatives are dropped until there are as many as of the class
shift      by how many pixels the windows of MNIST2 move towards the centre
view       of Mono: the best in cross-validation, or the best on the test samples
final      model of Fusion on the predictions of the views
lam        of MVMLsp, with eta = .001; or both by three folds of the sample
ties       of MVMV: who wins where two of four views say yes
wab_depth, sh_depth  of the trees that MVWAB and RBoostSH boost
voters, update       of MwMvC2: its pool, and Algorithm 1 as printed or our monotone version

MNIST2 and the subset of Reuters, which is other data than the paper's and is not judged, are run
with the samples that give the row of Concat on MNIST1: Concat leaves nothing else open.
"""

from sklearn.tree import DecisionTreeClassifier

from .mwmvc2 import SAMPLE_SIZE, SCORES
from .universes import Multiverse
from .voting import FINAL_MODELS, score

SAMPLES = {
    "50 + 50": {"m": SAMPLE_SIZE},
    "100 + 100": {"m": 2 * SAMPLE_SIZE},
    "cut": {"m": SAMPLE_SIZE, "sampling": "cut"},
    "10 + 10": {"m": 20},
    "25 + 25": {"m": 50},
}
SIZES = {"m20-mnist1": "10 + 10", "m50-mnist1": "25 + 25", "m200-mnist1": "100 + 100"}
ETA = 1e-3  # of MVMLsp where lam is fixed
DEPTHS = ("1", "2", "3", "4", "full")
FILES = dict.fromkeys(SIZES, "mnist") | {
    "mnist1": "mnist",
    "mnist2": "mnist",
    "reuters1200": "reuters1200",
}
METHODS = ("Mono", "Concat", "Fusion", "MVMLsp", "MVMV", "MVWAB", "RBoostSH", "MwMvC2")
SHARED = ("samples", "shift")
OWN = {
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
    "shift": {"mnist1": (0,), "mnist2": (1, 3, 5), "reuters1200": (0,)},
    "samples": ("50 + 50", "100 + 100", "cut"),
    "view": ("cv", "test"),
    "final": tuple(FINAL_MODELS),
    "lam": ("folds", "1e-05", "0.001", "0.1"),
    "ties": ("random", "smallest", "largest"),
    "wab_depth": DEPTHS,
    "sh_depth": DEPTHS,
    "voters": ("trees", "random_trees"),
    "update": ("paper", "monotone"),
}


def on_table1(name, method, *, measures, shift, samples, seed, **choices):
    """Measure a method in a universe of Table 1."""
    options = SAMPLES[samples] | {
        key: value for key, value in choices.items() if key in ("final", "ties", "voters", "update")
    }
    if choices.get("view") == "test":
        method = "Mono-oracle"
    if choices.get("lam", "folds") != "folds":
        options |= {"lam": float(choices["lam"]), "eta": ETA}
    for depth in {"wab_depth", "sh_depth"} & set(choices):
        limit = None if choices[depth] == "full" else int(choices[depth])
        options["estimator"] = DecisionTreeClassifier(max_depth=limit)
    name = f"mnist2-shift{shift}" if name == "mnist2" else name
    return score(name, method, measures=measures, seed=seed, **options)


def on_figure2(name, method, **given):
    """Measure a method on as many examples of MNIST1 as the name of the data set says."""
    return on_table1("mnist1", method, shift=0, samples=SIZES[name], **given)


def other_samples(dataset, universe):
    """Whether a data set other than MNIST1 would be learnt from other samples."""
    return dataset != "mnist1" and universe["samples"] != "50 + 50"


TABLE1 = Multiverse(
    name="mwmvc2_table1",
    title="accuracy and F1 of Table 1 of MwMvC2, every choice left open",
    paper="mwmvc2",
    place="table1",
    datasets=("mnist1", "mnist2", "reuters1200"),
    axes=AXES,
    methods=dict.fromkeys(METHODS, SCORES),
    function=on_table1,
    rules=(("MNIST1 tells how many samples of each class there are", other_samples),),
    without={method: set(AXES) - {*SHARED, *own} for method, own in OWN.items()},
    statements={},
)
FIGURE2 = Multiverse(
    name="mwmvc2_figure2",
    title="accuracy over the number of labelled examples of MwMvC2, every choice left open",
    paper="mwmvc2",
    place="",
    datasets=tuple(SIZES),
    axes={axis: choices for axis, choices in AXES.items() if axis not in SHARED},
    methods=dict.fromkeys(METHODS, SCORES[:1]),
    function=on_figure2,
    without={method: set(AXES) - {*SHARED, *own} for method, own in OWN.items()},
    statements={},
)
MULTIVERSES = (TABLE1, FIGURE2)
ITEMS = [multiverse.item for multiverse in MULTIVERSES]
