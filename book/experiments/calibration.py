"""Level and power of the intervals of ``compare_methods`` and of the study, by simulation.

World      Classes, and two families of methods. Both families see shared columns, and each also
           sees columns of its own. If these are equally informative, the families are equally
           accurate but not identical; `STRENGTH` makes the second more accurate by `EFFECT` when
           trained on four fifths of n samples. In five settings an interval without selection
           failed (``shared`` at 100 and 300 samples, ``weak``, ``groups`` of five with one label
           each, at 100 and 200); the others were added when the interval was developed.
Methods    A family is the best of nearest centroid, one nearest neighbour, and the single most
           informative column, selected on three inner folds. In ``linear`` it is a linear
           discriminant with the better of two ridges, selected on two inner folds.
Intervals  `INTERVALS`: over splits (corrected), over samples, and over samples with selection
           repeated in every split, as in the package; after two repeats of five folds, or fewer.
Measures   the proportion of `N_RUNS` comparisons whose interval is above zero ("worth"), below
           ("cost"), or contains the effect ("covered"), and the mean half-width ("half").

``coverage``: :func:`.effects.found` on differences of data sets whose effects are drawn from a
world (`EFFECTS`) of mean 0. Each data set has three repeats, with noise of its own, from a fifth of
the unit of the effects to three times as much. Measures: the proportion of draws in which the
interval of the mean ("mean") and of one further effect ("next") contain the true value, and in
which the true value is above the first interval, or below it.

``by_pattern``: prediction sets with a level of 0.9, on real data. Views are removed at random as in
`GAPS`. A third of the samples trains a logistic regression for each view, a third calibrates, a
third tests. Methods: a threshold for each pattern of views, or one for all. Measures for each
pattern: the proportion of sets that contain the label, and the mean number of labels in a set.
"""

import warnings
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd
from scipy import stats
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mvref import ConformalByPattern, PerViewClassifier
from mvref.compare.influence import by_sample
from mvref.compare.paired import OuterSplit, interval, paired_interval

from .effects import found
from .engine import Item
from .study_data import load
from .tables import Cell, jobs_of, stratified_parts


@dataclass(frozen=True)
class World:
    """Strength and number of shared and own columns, and other properties of simulated data.

    rare: proportion of the second class, or 0; size: samples of a group, which share the label and
    half of the noise; gaps: proportion of missing values, replaced by the column's mean.
    """

    shared: float
    own: float
    n_shared: int = 2
    n_own: int = 6
    n_classes: int = 2
    rare: float = 0.0
    size: int = 1
    gaps: float = 0.0
    linear: bool = False

    @property
    def scoring(self):
        """Name of the score: accuracy is uninformative if a class is rare."""
        return "balanced_accuracy" if self.rare else "accuracy"


WORLDS = {
    "shared": World(0.25, 0.2),
    "weak": World(0.0, 0.15, n_shared=0, n_own=20),
    "groups": World(0.25, 0.3, n_own=3, size=5),
    "rare": World(0.4, 0.3, rare=0.1),
    "classes": World(0.8, 0.5, n_classes=10),
    "wide": World(0.2, 0.05, n_own=250),
    "gaps": World(0.3, 0.4, gaps=0.3),
    "saturated": World(1.0, 0.6),
    "linear": World(0.25, 0.1, n_shared=5, n_own=10, linear=True),
}
SIZES = {
    "shared": (100, 300), "weak": (100,), "groups": (100, 200), "rare": (100, 300),
    "classes": (100,), "wide": (100,), "gaps": (100,), "saturated": (100,),
    "linear": (100, 300, 1000),
}  # fmt: skip
EFFECT = {"saturated": 0.02}  # all other worlds: 8 points
STRENGTH = {  # of the second family's own columns
    ("shared", 100): 0.306, ("shared", 300): 0.317, ("weak", 100): 0.195,
    ("groups", 100): 0.476, ("groups", 200): 0.484, ("rare", 100): 0.424, ("rare", 300): 0.467,
    ("classes", 100): 0.629, ("wide", 100): 0.065, ("gaps", 100): 0.566,
    ("saturated", 100): 0.899,
    ("linear", 100): 0.215, ("linear", 300): 0.222, ("linear", 1000): 0.227,
}  # fmt: skip
RIDGES = (0.01, 1.0)
N_FOLDS, N_REPEATS, N_RUNS = 5, 2, 100
BLOCKS = {10: 10, 5: 10, 1: 5}  # repeats of an interval, by its number of splits
INTERVALS = {
    "corrected": 10, "samples": 10, "chosen again": 10,
    "chosen again, one repeat": 5, "chosen again, one split": 1,
}  # fmt: skip
MEASURES = ("worth", "cost", "covered", "half")
EFFECTS = {  # of data sets, all with mean 0
    "normal": lambda z, u: z,
    "half are ties": lambda z, u: z * (u < 0.5),
    "log-normal": lambda z, u: np.exp(z) - np.exp(0.5),
    "one in five +10": lambda z, u: z + 10 * (u < 0.2) - 2,
    "one in ten +25": lambda z, u: z + 25 * (u < 0.1) - 2.5,
}
DRAWN = (*WORLDS, *EFFECTS)
N_SETS, N_DRAWN, N_SPLITS = (5, 10, 20, 28), 2000, 3
COVERAGE = ("mean", "next", "above", "below")
GAPS = {"all": 0.5, "not the first": 0.25, "only the last": 0.2, "only the first": 0.05}
IN_GAPS = tuple(f"{measure} {gap}" for measure in ("covered", "size") for gap in GAPS)


def draw(world, n, strength, n_runs, rng):
    """Draw samples (n_runs, n, columns) and classes; `strength`: of the second family's columns."""
    m, p = n // world.size, world.n_shared + world.n_own
    labels = np.arange(m) % world.n_classes
    if world.rare:
        labels = (np.arange(m) < round(world.rare * m)).astype(int)
    y = rng.permuted(np.tile(labels, (n_runs, 1)), axis=1)
    centres = np.broadcast_to(np.array([-1.0, 1.0])[:, None], (n_runs, 2, p))
    if world.n_classes > 2:
        centres = rng.normal(size=(n_runs, world.n_classes, p))
    X = np.take_along_axis(centres, y[:, :, None], axis=1)
    X = np.concatenate([X, X[:, :, world.n_shared :]], axis=2)  # equal up to noise
    X *= np.repeat([world.shared, world.own, strength], [world.n_shared, *[world.n_own] * 2])
    if world.size > 1:
        X, y = (np.repeat(of, world.size, axis=1) for of in (X + rng.normal(size=X.shape), y))
    X += rng.normal(size=X.shape)
    seen = rng.random(X.shape) >= world.gaps
    means = (X * seen).sum(axis=1, keepdims=True) / seen.sum(axis=1, keepdims=True)
    return np.where(seen, X, means).astype(np.float32), y


def folds_of(y, size, n_folds, rng):
    """Return a stratified fold for each sample, groups kept together; -1 where y is -1."""
    first = y[:, ::size]
    key = np.where(first < 0, y.max() + 1, first) + 0.9 * rng.random(first.shape)
    ranks = np.argsort(np.argsort(key, axis=1), axis=1)
    return np.repeat(np.where(first < 0, -1, ranks % n_folds), size, axis=1)


def rows_of(folds, fold):
    """Return the rows (n_runs, m) of the samples in a fold."""
    return np.nonzero(folds == fold)[1].reshape(len(folds), -1)


def distances(X):
    """Return squared distances between all samples of a run, up to a constant per row."""
    return (X**2).sum(axis=2)[:, None] - 2.0 * X @ X.swapaxes(1, 2)


def means_of(X, y, train, n_classes):
    """Return class means (n_runs, n_classes, columns) of the training samples, and class counts."""
    weights = (y[:, None] == np.arange(n_classes)[:, None]) & train[:, None]
    counts = weights.sum(axis=2, keepdims=True)
    return weights.astype(np.float32) @ X / counts.astype(np.float32), counts


def learners(X, D, y, train, rows):
    """Predict rows by nearest centroid, nearest neighbour and the best column (3, n_runs, m)."""
    means, counts = means_of(X, y, train, y.max() + 1)
    whole = (counts * means).sum(axis=1) / counts.sum(axis=1)
    between = (counts * (means - whole[:, None]) ** 2).sum(axis=1)
    best = np.argmax(between / ((X - whole[:, None]) ** 2 * train[:, :, None]).sum(axis=1), axis=1)
    A = np.take_along_axis(X, rows[:, :, None], axis=1)
    centroid = (A @ means.swapaxes(1, 2) - (means**2).sum(axis=2)[:, None] / 2).argmax(axis=2)
    far = np.float32(1e9) * ~train[:, None]
    near = (np.take_along_axis(D, rows[:, :, None], axis=1) + far).argmin(axis=2)
    runs = np.arange(len(X))
    one, of_one = A[runs, :, best], means[runs, :, best]
    column = np.abs(one[:, :, None] - of_one[:, None]).argmin(axis=2)
    return np.array([centroid, np.take_along_axis(y, near, axis=1), column])


def discriminants(X, D, y, train, rows):
    """Predict rows by linear discriminants with two ridges (2, n_runs, m)."""
    means, counts = means_of(X, y, train, 2)
    rest = (X - np.take_along_axis(means, y[:, :, None], axis=1)) * train[:, :, None]
    spread = rest.swapaxes(1, 2) @ rest / counts.sum(axis=1, keepdims=True)
    A = np.take_along_axis(X, rows[:, :, None], axis=1)
    said = []
    for ridge in RIDGES:
        a = spread + ridge * np.eye(X.shape[2])
        w = np.linalg.solve(a, (means[:, 1] - means[:, 0])[:, :, None])
        said.append(A @ w > means.sum(axis=1)[:, None] @ w / 2)
    return np.array(said, dtype=int)[..., 0]


def judged(scoring, said, y):
    """Return the contribution of every sample to the score of every learner in every run."""
    if scoring == "accuracy":
        return (said == y).astype(float)
    return np.array([[by_sample(scoring, *of) for of in zip(y, s, strict=True)] for s in said])


@lru_cache(maxsize=1)
def comparisons(name, n, strength, n_runs, seed):
    """Simulate comparisons; return the list of OuterSplit of each."""
    world, rng = WORLDS[name], np.random.default_rng(seed)
    X, y = draw(world, n, strength, n_runs, rng)
    own = world.n_shared + world.n_own * np.arange(3)
    families = [np.r_[: world.n_shared, own[k] : own[k + 1]] for k in (0, 1)]
    Xs = [np.ascontiguousarray(X[:, :, columns]) for columns in families]
    Ds = [None if world.linear else distances(A) for A in Xs]
    learn, n_inner = (discriminants, 2) if world.linear else (learners, 3)
    found = [[] for _ in range(n_runs)]
    for repeat in range(N_REPEATS):
        outer = folds_of(y, world.size, N_FOLDS, rng)
        for fold in range(N_FOLDS):
            train, test = outer != fold, rows_of(outer, fold)
            inner = folds_of(np.where(train, y, -1), world.size, n_inner, rng)

            def score(A, D, train, rows):
                said = learn(A, D, y, train, rows)
                return judged(world.scoring, said, np.take_along_axis(y, rows, axis=1))

            values, parts = [], []
            for A, D in zip(Xs, Ds, strict=True):
                checks = [
                    score(A, D, train & (inner != k), rows_of(inner, k)) for k in range(n_inner)
                ]
                values.append(np.mean([check.mean(axis=2) for check in checks], axis=0))
                added = score(A, D, train, test)
                parts.append(added.reshape(*added.shape[:2], -1, world.size).sum(axis=3))
            values, parts = np.concatenate(values), np.concatenate(parts)
            units = test[:, :: world.size] // world.size
            for run in range(n_runs):
                size = np.full(units.shape[1], world.size)
                of = repeat, n - test.shape[1], units[run], size, parts[:, run], values[:, run]
                found[run].append(OuterSplit(*of))
    return found


def differences(splits):
    """Return per split the differences, second family minus first, of the selected methods."""
    half = len(splits[0].parts) // 2
    return [
        s.parts[half + np.argmax(s.values[half:])] - s.parts[np.argmax(s.values[:half])]
        for s in splits
    ]


def effect(name, n, strength, n_runs=400, seed=0):
    """Return the mean advantage of the second family."""
    found = comparisons(name, n, strength, n_runs, seed)
    return float(np.mean([np.concatenate(differences(splits)).sum() for splits in found])) / (
        n * N_REPEATS
    )


def of_comparison(method, splits, reach=1.0):
    """Return an interval of one comparison."""
    splits = splits[: INTERVALS[method]]
    if method.startswith("chosen again"):
        half = len(splits[0].parts) // 2
        return interval(splits, range(half, 2 * half), range(half), reach)
    d, sizes = differences(splits), [split.size for split in splits]
    if method == "corrected":
        means = [part.sum() / size.sum() for part, size in zip(d, sizes, strict=True)]
        return paired_interval(means, 1.0 / (N_FOLDS - 1))
    repeats = [slice(k * N_FOLDS, (k + 1) * N_FOLDS) for k in range(N_REPEATS)]
    return interval_of_samples(*([np.concatenate(of[k]) for k in repeats] for of in (d, sizes)))


def interval_of_samples(differences, sizes, level=0.95):
    """Return the mean difference over samples, and its interval.

    differences, sizes: an array (n_units,) per repeat, the sum of a unit's differences and its
    number of samples; a unit is a sample, or a group whose samples belong together. The variance
    refers to one repeat: more repeats stabilise the mean, but do not shorten the interval.
    """
    means, variances = [], []
    for d, size in zip(differences, sizes, strict=True):
        mean = d.sum() / size.sum()
        rest = d - mean * size
        means.append(mean)
        variances.append(len(d) / (len(d) - 1) * rest @ rest / size.sum() ** 2)
    mean, quantile = np.mean(means), stats.t.ppf((1.0 + level) / 2.0, len(d) - 1)
    half = quantile * np.sqrt(np.mean(variances))
    return float(mean), float(mean - half), float(mean + half)


def simulated(world, method, *, measures, n_samples, effect, seed):
    """Return the measures over simulated comparisons."""
    strength = STRENGTH[world, n_samples] if effect else WORLDS[world].own
    reach, found = 0.5 / (WORLDS[world].rare or 0.5), []
    for splits in comparisons(world, n_samples, strength, N_RUNS, seed):
        _, low, high = of_comparison(method, splits, reach)
        found.append((low > 0, high < 0, low <= effect <= high, (high - low) / 2))
    return dict(zip(measures, np.mean(found, axis=0).tolist(), strict=True))


def intervals(dataset, quick, rows):
    """Return jobs for all intervals and sizes, without effect and with one; quick: the smallest."""
    cells = [
        Cell(method, {"n_samples": n, "effect": effect}, MEASURES, 1 if quick else BLOCKS[n_splits])
        for n in SIZES[dataset][: 1 if quick else None]
        for effect in (0.0, EFFECT.get(dataset, 0.08))
        for method, n_splits in INTERVALS.items()
        if n_splits == 10 or (effect == 0.0 and n == SIZES[dataset][0])
    ]
    return jobs_of(dataset, dataset, cells, simulated)


def covered(world, method, *, measures, n_sets, seed):
    """Return how often the intervals of the study contain the true value."""
    rng = np.random.default_rng(seed)
    z, u = rng.normal(size=(N_DRAWN, n_sets + 1)), rng.random((N_DRAWN, n_sets + 1))
    effects = EFFECTS[world](z, u)
    noise = rng.uniform(0.2, 3.0, (N_DRAWN, n_sets, 1)) * rng.normal(
        size=(N_DRAWN, n_sets, N_SPLITS)
    )
    index = pd.MultiIndex.from_product(
        [range(n_sets), range(N_SPLITS)], names=["dataset", "repeat"]
    )
    held = []
    for next_one, values in zip(effects[:, -1], effects[:, :-1, None] + noise, strict=True):
        of = found(pd.Series(values.ravel(), index))
        inside = of["low"] <= 0 <= of["high"], of["next_low"] <= next_one <= of["next_high"]
        held.append((*inside, of["high"] < 0, of["low"] > 0))
    return dict(zip(measures, np.mean(held, axis=0).tolist(), strict=True))


def coverage(dataset, quick, rows):
    """Return jobs for the study's intervals over several numbers of data sets; quick: the least."""
    cells = [Cell("found", {"n_sets": n}, COVERAGE) for n in N_SETS[: 1 if quick else None]]
    return jobs_of(dataset, dataset, cells, covered)


def sets_in_gaps(dataset, method, *, measures, seed):
    """Return coverage and size of prediction sets for a third of the samples, by pattern."""
    X, y, _ = load(dataset)
    rng = np.random.default_rng(seed)
    gap = rng.choice(len(GAPS), len(y), p=list(GAPS.values()))
    observed = np.ones((4, X.n_views), dtype=bool)
    observed[1, 0] = observed[2, :-1] = observed[3, 1:] = False
    X = X.with_observed(observed[gap])
    train, rest = stratified_parts(y, seed, train_size=1 / 3)
    held_out, test = stratified_parts(y, seed, rest, train_size=1 / 2)
    line = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    model = FrozenEstimator(PerViewClassifier(line).fit(X[train], y[train]))
    min_samples = 20 if method == "for each pattern" else len(y)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "fewer than min_samples")
        sets = ConformalByPattern(model, min_samples=min_samples, random_state=seed % 2**31)
        sets = sets.fit(X[held_out], y[held_out]).predict_set(X[test])
    held = sets[np.arange(len(test)), np.searchsorted(model.classes_, y[test])]
    values = [
        of[gap[test] == k].mean() for of in (held, sets.sum(axis=1)) for k in range(len(GAPS))
    ]
    return dict(zip(measures, map(float, values), strict=True))


def by_pattern(dataset, quick, rows):
    """Return jobs for both kinds of threshold."""
    methods = ("for each pattern", "for all")
    cells = [Cell(method, {}, IN_GAPS, 1 if quick else N_RUNS) for method in methods]
    return jobs_of(dataset, dataset, cells, sets_in_gaps)


ITEMS = [
    Item("calibration", "coverage", "what intervals over data sets cover", tuple(EFFECTS),
         coverage),
    Item("calibration", "intervals", "level and power of the intervals of compare_methods",
         tuple(WORLDS), intervals),
    Item("calibration", "by_pattern", "sets of labels within patterns of views",
         ("mfeat", "digits", "breast-cancer"), by_pattern),
]  # fmt: skip
