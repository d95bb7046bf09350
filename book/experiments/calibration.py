"""Level and power of the intervals of ``compare_methods`` and of the study, by simulation.

World      Two classes; both methods see five columns that tell them weakly, and each has ten of
           its own. Where these tell as much the two are equally good, and not the same; `STRENGTH`
           makes the second better by the effect that is asked for, after four fifths of n samples.
Methods    "linear": a linear discriminant, "trees": a decision tree, which moves with its sample;
           the first chooses from two points by two inner folds, as a comparison does.
Intervals  `INTERVALS`: of splits (corrected), or of samples, over so many repeats of five folds.
Measures   the share of `N_RUNS` comparisons whose interval is above zero ("worth"), below ("cost"),
           or holds the effect ("covered"), and the mean of its half ("half").

``coverage``: intervals over data sets, of which each has one effect, drawn from a world (`EFFECTS`)
of mean 0: of the mean ("t", and two of the bootstrap), and of one further data set ("next, t", and
"next, range": from the smallest to the largest). Measures: the share of the draws in which the
truth is inside ("covered"), above and below, and the median of the half.
"""

from functools import partial

import numpy as np
from scipy import stats
from sklearn.model_selection import StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from mvref.compare.paired import interval_of_samples, paired_interval

from .engine import Item
from .tables import Cell, jobs_of

SHARED, OWN = 5, 10  # columns
POINTS = {"linear": (0.01, 1.0), "trees": (4,)}  # ridge, or depth
N_RUNS, BLOCKS, SIZES = 40, {0.0: 10, 0.04: 5, 0.08: 5}, (100, 300, 1000)
WEAK = 0.1
# How strongly the columns of the second method tell, so that it is better by 4 and by 8 points.
STRENGTH = {
    ("linear", 100, 0.04): 0.161, ("linear", 100, 0.08): 0.215,
    ("linear", 300, 0.04): 0.164, ("linear", 300, 0.08): 0.222,
    ("linear", 1000, 0.04): 0.168, ("linear", 1000, 0.08): 0.227,
    ("trees", 100, 0.04): 0.238, ("trees", 100, 0.08): 0.330,
    ("trees", 300, 0.04): 0.261, ("trees", 300, 0.08): 0.334,
    ("trees", 1000, 0.04): 0.286, ("trees", 1000, 0.08): 0.356,
}  # fmt: skip
INTERVALS = {"corrected, 5 x 2": 2, "corrected, 5 x 10": 10, "samples, 5 x 2": 2}
MEASURES = ("worth", "cost", "covered", "half")
EFFECTS = {  # of data sets, all with mean 0
    "normal": lambda z, u: z,
    "half are ties": lambda z, u: z * (u < 0.5),
    "log-normal": lambda z, u: np.exp(z) - np.exp(0.5),
    "one in five +10": lambda z, u: z + 10 * (u < 0.2) - 2,
    "one in ten +25": lambda z, u: z + 25 * (u < 0.1) - 2.5,
}
DRAWN = (*POINTS, *EFFECTS)
OVER_SETS = ("t", "bootstrap", "studentized bootstrap", "next, t", "next, range")
N_SETS, N_DRAWN, N_RESAMPLES = (5, 8, 12, 20), 4000, 600
COVERAGE = ("covered", "above", "below", "half")


def draw(n, strength, rng):
    """Samples (n, 25) and their classes."""
    y = rng.permutation(np.arange(n) % 2)
    shift = np.r_[np.full(SHARED, 0.25), np.full(OWN, WEAK), np.full(OWN, strength)]
    return rng.normal(size=(n, SHARED + 2 * OWN)) + (2 * y - 1)[:, None] * shift, y


def columns_of(second):
    """What a method sees."""
    own = SHARED + OWN * second
    return np.r_[:SHARED, own : own + OWN]


def right(world, X, y, train, test, second, point):
    """Which test samples a method gets right."""
    columns = columns_of(second)
    A, B = X[np.ix_(train, columns)], X[np.ix_(test, columns)]
    if world == "trees":
        model = DecisionTreeClassifier(max_depth=point, random_state=0).fit(A, y[train])
        return (model.predict(B) == y[test]).astype(float)
    means = np.array([A[y[train] == k].mean(axis=0) for k in (0, 1)])
    rest = A - means[y[train]]
    ridge = point * np.eye(len(columns))
    w = np.linalg.solve(rest.T @ rest / len(train) + ridge, means[1] - means[0])
    return ((B @ w > means.sum(axis=0) @ w / 2) == y[test]).astype(float)


def effect(world, n, strength, n_runs=200, n_test=2000, seed=0):
    """By how much the second method is better, trained at its better point."""
    rng, train = np.random.default_rng(seed), int(0.8 * n)
    total = np.zeros((len(POINTS[world]), 2))
    for _ in range(n_runs):
        X, y = draw(train + n_test, strength, rng)
        parts = np.arange(train), np.arange(train, train + n_test)
        for k, point in enumerate(POINTS[world]):
            total[k] += [right(world, X, y, *parts, second, point).mean() for second in (0, 1)]
    return float(np.subtract(*(total.max(axis=0) / n_runs)[::-1]))


def differences(world, n, strength, n_repeats, seed):
    """Second minus first of every sample (n_repeats, n), and their means over the folds."""
    X, y = draw(n, strength, np.random.default_rng(seed))
    d, means = np.zeros((n_repeats, n)), []
    for repeat in range(n_repeats):
        cut = partial(StratifiedKFold, shuffle=True, random_state=(seed + repeat) % 2**32)
        for train, test in cut(5).split(y, y):
            folds = [(train[a], train[b]) for a, b in cut(2).split(train, y[train])]
            for second, sign in ((1, 1.0), (0, -1.0)):
                best = POINTS[world][0]
                if len(POINTS[world]) > 1:
                    best = max(
                        POINTS[world],
                        key=lambda point: sum(
                            right(world, X, y, *fold, second, point).mean() for fold in folds
                        ),
                    )
                d[repeat, test] += sign * right(world, X, y, train, test, second, best)
            means.append(d[repeat, test].mean())
    return d, means


def simulated(world, method, *, measures, n_samples, effect, seed):
    """The shares of some comparisons."""
    strength = STRENGTH[world, n_samples, effect] if effect else WEAK
    found = []
    for run in range(N_RUNS):
        d, means = differences(
            world, n_samples, strength, INTERVALS[method], (seed + 1000 * run) % 2**32
        )
        if method.startswith("samples"):
            _, low, high = interval_of_samples(d, np.ones_like(d))
        else:
            _, low, high = paired_interval(means, 0.25)
        found.append((low > 0, high < 0, low <= effect <= high, (high - low) / 2))
    return dict(zip(measures, np.mean(found, axis=0).tolist(), strict=True))


def intervals(dataset, quick, rows):
    """All intervals at all sizes and effects; quick: one block of the smallest size."""
    cells = [
        Cell(method, {"n_samples": n, "effect": effect}, MEASURES, 1 if quick else n_blocks)
        for n in SIZES[: 1 if quick else None]
        for effect, n_blocks in BLOCKS.items()
        for method in INTERVALS
    ]
    return jobs_of(dataset, dataset, cells, simulated)


def ends(x, method, rng):
    """The ends of an interval over the data sets of every draw, x (n, n_sets)."""
    n, k = x.shape
    mean, spread = x.mean(axis=1), x.std(axis=1, ddof=1)
    if method == "next, range":
        return x.min(axis=1), x.max(axis=1)
    if method.endswith("t") and "boot" not in method:
        half = stats.t.ppf(0.975, k - 1) * spread * np.sqrt(1 / k + method.startswith("next"))
        return mean - half, mean + half
    found = []
    for part in np.array_split(np.arange(n), 20):
        again = x[part][:, rng.integers(k, size=(N_RESAMPLES, k))]
        means, errors = again.mean(axis=2), again.std(axis=2, ddof=1)
        if method == "bootstrap":
            found.append(np.quantile(means, (0.025, 0.975), axis=1))
        else:
            t = (means - mean[part, None]) / np.maximum(errors, 1e-9)
            high, low = np.quantile(t, (0.025, 0.975), axis=1)
            found.append(mean[part] - spread[part] * np.array([low, high]))
    return np.concatenate(found, axis=1)


def covered(world, method, *, measures, n_sets, seed):
    """How often an interval over data sets holds the truth."""
    rng = np.random.default_rng(seed)
    z, u = rng.normal(size=(N_DRAWN, n_sets + 1)), rng.random((N_DRAWN, n_sets + 1))
    x = EFFECTS[world](z, u)
    truth = x[:, -1] if method.startswith("next") else 0.0
    low, high = ends(x[:, :-1], method, rng)
    above, below = np.mean(truth > high), np.mean(truth < low)
    values = (1 - above - below, above, below, np.median(high - low) / 2)
    return dict(zip(measures, map(float, values), strict=True))


def coverage(dataset, quick, rows):
    """All intervals over data sets; quick: of few."""
    cells = [
        Cell(method, {"n_sets": n}, COVERAGE)
        for n in N_SETS[: 1 if quick else None]
        for method in OVER_SETS
    ]
    return jobs_of(dataset, dataset, cells, covered)


ITEMS = [
    Item("calibration", "coverage", "what intervals over data sets cover", tuple(EFFECTS),
         coverage),
    Item("calibration", "intervals", "level and power of the intervals of compare_methods",
         tuple(POINTS), intervals),
]  # fmt: skip
