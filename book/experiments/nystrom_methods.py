"""Data, methods and measures of part V's experiments; :mod:`.mvna_kmhks` has the protocol."""

from functools import lru_cache, partial

import numpy as np
from scipy.spatial.distance import pdist
from sklearn.datasets import make_moons
from sklearn.dummy import DummyClassifier
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC

from mvref.core.input import MultiView
from mvref.core.nystrom import nystrom_map
from mvref.core.per_view import PerView
from mvref.datasets._uci import _rows, fetch_uci, numbers
from mvref.mvna_kmhks import KMHKS, MVNAKMHKS, NAKMHKS
from mvref.theory.rademacher import kernel_alignment

from .engine import derive_seed
from .problems import load_dataset
from .tables import grid, stratified_folds, stratified_parts
from .tuning import Machine, Method, Split, tuned

N_VIEWS, SHARE = 2, 0.5  # SHARE: m/n
MEASURES = ("accuracy", "errors", "validation", "train_seconds", "warned", "n_train", "n_test")
ALIGNMENTS = ("alignment", "alignment_centred")
PARAMETERS = ("width", "c", "coupling")
CHOSEN = {"MVNA": PARAMETERS, "MVNA-printed": PARAMETERS, "Majority": ()}  # others: the first two
MOONS = {"n_components": 0.25, "gamma": 1.0}
MOONS_C = ALIGNED_C = 0.1
WEIGHTS = {"even": None, "uneven": (0.9, 0.1)}
CHECKPOINTS = (10, 100, 1000, 10_000)
N_REPEATS, N_INNER = 10, 3  # halves, or folds; folds of the training set, for tuning
MOONS_TRAIN, MOONS_TEST, MOONS_NOISE = 400, 2000, 0.3
SUBSET = 300  # training samples of digits and mfeat
CHECK_SHARE = 1 / 3  # fraction of the training set of optdigits


# ------------------------------------------------------------------ data and their parts


def half(y, seed):
    """Draw a test set with half of each class, rounded down; return the rows of both sets."""
    rng = np.random.default_rng(seed)
    of_classes = [rng.permutation(np.flatnonzero(y == k)) for k in np.unique(y)]
    test = np.sort(np.concatenate([rows[: len(rows) // 2] for rows in of_classes]))
    return np.setdiff1d(np.arange(len(y)), test), test


def fold(y, index, seed):
    """Return one fold of a cross-validation that also deals out classes of few samples.

    Shuffled samples, sorted by class, are dealt out in turn: the sizes of folds differ by at most
    one, and so do their numbers of samples per class.
    """
    order = np.random.default_rng(seed).permutation(len(y))
    test = np.sort(order[np.argsort(y[order], kind="stable")][index::N_REPEATS])
    return np.setdiff1d(order, test), test


@lru_cache(maxsize=1)
def table_of(name):
    """Return samples and classes; in the paper's experiments the data have a single view.

    "horse-colic-outcome" and "horse-colic-surgery" have another target: lived, died or euthanized,
    and whether the horse was operated on, which is then no input. "echocardiogram-months" has the
    months of survival as one more input. "mfeat-fou-kar" has two views.
    """
    if name.startswith("mfeat"):
        source, *views = name.split("-")
        return load_dataset(source).X.select(views), load_dataset(source).y
    if name == "horse-colic-outcome":
        data = fetch_uci("horse-colic", target="outcome")
    else:
        data = load_dataset(name.removesuffix("-surgery").removesuffix("-months"))
    A, y = data.X.concat(), data.y
    if name == "horse-colic-surgery":
        column = data.meta["attributes"].index("surgery")
        known = ~data.meta["missing"][:, column]
        A, y = np.delete(A[known], column, axis=1), (A[known, column] == 1).astype(int)
    if name == "echocardiogram-months":
        months = numbers(_rows("echocardiogram", "all")[:, :1], "?")[data.meta["row"], 0]
        A = np.column_stack([np.where(np.isnan(months), np.nanmean(months), months), A])
    return MultiView([A]), y


def cut(X, y, train, test, seed, scale=True):
    """Standardise features by the training set if `scale`, and split this set for tuning."""
    if scale:
        X = PerView(StandardScaler()).fit(X[train]).transform(X)
    folds = stratified_folds(y, train, N_INNER, derive_seed(seed, "inner"))
    return Split(X, y, train, test, folds)


def load_split(name, seed, index=None, scale=True):
    """Return halves, or a fold by its `index`; large data sets have few training samples.

    name: see :func:`table_of`; "moons" are drawn with the seed, and not scaled.
    """
    if name == "moons":
        A, y = make_moons(MOONS_TRAIN + MOONS_TEST, noise=MOONS_NOISE, random_state=seed)
        train, test = np.split(np.arange(len(y)), [MOONS_TRAIN])
        return cut(MultiView([A]), y, train, test, seed, scale=False)
    X, y = table_of(name)
    if name.startswith(("digits", "mfeat")):
        train, test = stratified_parts(y, derive_seed(seed, "split"), train_size=SUBSET)
    elif index is None:
        train, test = half(y, derive_seed(seed, "half"))
    else:
        train, test = fold(y, index, derive_seed("folds", name))
    return cut(X, y, train, test, seed, scale)


def digit_split(name, digit):
    """Return the official split, with a digit against the rest as two classes."""
    data = load_dataset(name)
    train, _, test = data.splits[0]
    third = stratified_parts(data.y, derive_seed("third", name), train, test_size=CHECK_SHARE)
    X = MultiView([data.X.views[0] / 16.0])
    return Split(X, (data.y == digit).astype(int), train, test, [tuple(third)])


# ------------------------------------------------------------------ methods


def build(method, distances, point, X, seed, n_components=SHARE, **options):
    """Return a classifier that is not fitted.

    point: ``width``, ``c``, and ``coupling`` for MVNA. exp(-|x - x'|^2 / (2 s^2)) has s = width
    times the mean distance; seed: draws the components; NA has the components of MVNA's first view,
    NA-average the components of both; options: of the class; ``gamma`` replaces the width.
    """
    if method == "Majority":
        return DummyClassifier()
    gammas = [0.5 / (point["width"] * distance) ** 2 for distance in distances]
    if method == "SVM":
        svm = SVC(C=0.5 / point["c"], gamma=gammas[0])
        return make_pipeline(FunctionTransformer(MultiView.concat), svm)
    options = {"gamma": gammas, "c": point["c"]} | options
    if method == "KMHKS":
        return KMHKS(**options)
    options |= {"n_components": n_components, "random_state": derive_seed(seed, "components")}
    if method == "NA":
        return NAKMHKS(**options)
    options |= {"solver": "paper", "decision": "printed"} if method == "MVNA-printed" else {}
    return MVNAKMHKS(coupling=point.get("coupling", 0.0), **options)


def mean_distances(split):
    """Return the mean distance in each view, of the first 1000 training samples."""
    return [float(pdist(view[split.train[:1000]]).mean()) for view in split.X.views]


def machine(split, rows, seed, *, name, **options):
    """Return a method by name, with options of :func:`build`; all folds have the same widths."""
    return Machine(split, rows, seed, build=partial(build, name, mean_distances(split), **options))


def measures_of(name, of_all=None):
    """Return the measures of a method: only MVNA has alignments."""
    of_all = of_all or (*MEASURES, *CHOSEN.get(name, PARAMETERS[:2]))
    return (*of_all, *ALIGNMENTS) if name == "MVNA" else of_all


def run_of(split, name, values, seed, measures, **options):
    """Tune a method, if there is a choice, and train it.

    values: of `PARAMETERS`, ties go to the first; a method takes the parameters that it has.
    """
    chosen = CHOSEN.get(name, PARAMETERS[:2])
    points = grid(**dict(zip(chosen, values, strict=False)))
    return tuned(split, Method(partial(machine, name=name), points, measures, options), seed)


def at(*point):
    """Return the values that :func:`run_of` takes for a single point."""
    return tuple((value,) for value in point)


def alignment(run, center=False):
    """Return the kernel alignment of the two approximations, Eq. (21), on the training set."""
    model, X, factors = run.machine.model, run.machine.X, []
    for v, S in zip(model.sources_, model.components_, strict=True):
        gamma = model.gamma[v]
        factors.append(rbf_kernel(X.views[v], S, gamma) @ nystrom_map(rbf_kernel(S, S, gamma)))
    return kernel_alignment(*factors, factor=True, center=center)


OWN_MEASURES = {"alignment": alignment, "alignment_centred": partial(alignment, center=True)}


def on_table(name, method, *, measures, protocol, values, repeat, seed):
    """Tune and measure a method on a split of Table 2."""
    protocol, _, reading = protocol.partition("-")
    if reading == "narrow":
        values = [of_one[::-1] for of_one in values]
    elif reading:
        name = f"{name}-{reading}"
    split = load_split(name, seed, repeat if protocol == "folds" else None)
    return run_of(split, method, values, seed, measures).measure(measures=OWN_MEASURES)


def on_universe(name, method, *, measures, scaling, width, c, share=SHARE, seed):
    """Measure a method on a half of Table 2 without tuning."""
    split = load_split(name, seed, scale=scaling == "standard")
    m = max(2, int(share * len(split.train)))
    run = run_of(split, method, at(width, c, 1.0), seed, measures, n_components=m)
    return run.measure(measures=OWN_MEASURES)


@lru_cache(maxsize=256)
def errors_on_digit(name, digit, method, values, m, measures, seed):
    """Return the images that a method misclassifies, a digit against the rest, and its measures."""
    run = run_of(digit_split(name, digit), method, values, seed, measures, n_components=m)
    return run.predicted != run.y_test, run.measure(measures=OWN_MEASURES)


def on_digit(name, method, *, measures, digit, values, m, seed, c=None):
    """Tune a method, if there is a choice, and measure it; `c` is the value of c in `values`."""
    return errors_on_digit(name, digit, method, values, m, measures, seed)[1]


def paired_errors(name, sides, m, *, seed):
    """Compare the errors of MVNA and a rival on the same test images, over all digits together.

    sides: of MVNA and of the rival: method, digit -> values, and the seed of the components.
    """

    def errors(method, values, drawn):
        measures = measures_of(method, ("errors",))
        return np.column_stack([
            errors_on_digit(name, digit, method, of_digit, m, measures, drawn)[0]
            for digit, of_digit in values.items()
        ])  # fmt: skip

    own, other = (errors(*side) for side in sides)
    by_image = own.sum(axis=1) - other.sum(axis=1)
    return {
        "difference": by_image.sum(),
        "std_error": np.sqrt(len(by_image) * by_image.var(ddof=1)),
        "only_mvna": (own > other).sum(),
        "only_rival": (other > own).sum(),
    }


def on_moons(name, solver, *, measures, coupling, mu, seed):
    """Follow the objective of a solver, and compare it with the minimum."""
    options = MOONS | {"view_weights": WEIGHTS[mu]}
    point = at(1.0, MOONS_C, coupling)
    fit = partial(run_of, load_split(name, seed), "MVNA", point, seed, ("accuracy",), **options)
    least = fit(tol=1e-12, max_iter=20_000).machine.model.objective_curve_[-1]
    curve = fit(solver=solver, tol=0.0, max_iter=CHECKPOINTS[-1]).machine.model.objective_curve_
    stopped = fit(solver=solver)
    found = {f"excess_{t}": curve[min(t, len(curve) - 1)] / least - 1.0 for t in CHECKPOINTS}
    found["excess"] = stopped.machine.model.objective_curve_[-1] / least - 1.0
    found["n_iter"] = stopped.machine.model.n_iter_
    found["rises"] = max((np.diff(curve) / curve[:-1]).max(), 0.0)
    return found | stopped.measure()


def decided(name, decision, *, measures, kernel_gamma, m, c, seed):
    """Return the accuracy of a decision function."""
    split, point, options = load_split(name, seed), at(1.0, c, 1.0), {"decision": decision}
    options |= {"n_components": m, "gamma": kernel_gamma}
    return run_of(split, "MVNA", point, seed, measures, **options).measure()


def aligned(name, method, *, measures, width, share, seed):
    """Measure the alignment of the two approximations, and the gain over one of them."""
    split, point = load_split(name, seed), at(width, ALIGNED_C, 1.0)

    def found(method, m):
        measures, options = measures_of(method, ("accuracy",)), {"multi_class": "ovr"}
        run = run_of(split, method, point, seed, measures, n_components=m, **options)
        return run.measure(measures=OWN_MEASURES)

    own, double = found(method, share), N_VIEWS * share / split.X.n_views
    return own | {
        "gain": own["accuracy"] - found("NA", share)["accuracy"],
        "gain_double": own["accuracy"] - found("NA", double)["accuracy"],
    }
