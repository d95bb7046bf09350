"""What our results say where a paper's text makes a statement in numbers.

``CLAIMS[paper][measure]`` belongs to the rows of ``paper_numbers.csv`` with that measure. It is the
setting of our runs, a number; or a function that gets the summary of the item and the row, and
returns text, "-" where there are no results.
"""

from functools import partial

import numpy as np
from scipy import stats

from . import methods, mvl_svm, mvna_kmhks, mvpo, mwmvc2, nystrom_methods, ranking, voting
from .sizes import size
from .words import choice_of


def _rows(summary, measure, *names, dataset="", method=""):
    """Rows of a measure, with these parameters, of the data sets that begin like this."""
    rows = summary.reindex(columns=["dataset", "method", "measure", "mean", *names])
    found = (rows["measure"] == measure) & rows["dataset"].astype(str).str.startswith(dataset)
    return rows[found & (rows["method"] == method)] if method else rows[found]


def _curve(summary, measure, x, dataset, method):
    """Mean of a measure over x, ascending; "flower17" stands for its recomputed form too."""
    rows = _rows(summary, measure, x, dataset=dataset, method=method)
    return rows.set_index(x)["mean"].sort_index()


# MVL-SVM ------------------------------------------------------------------------------------------


def landmarks_at_best(summary, row):
    """Accuracy at the paper's number of landmarks, and where it is best."""
    texts, L = [], row.value
    for method in ("MVLSVM", "MVLSVM-rbf"):
        curve = _curve(summary, "accuracy", "L", row.dataset, method)
        if L in curve.index:
            best = f"best {curve.max():.4f} at L={curve.idxmax():g}"
            texts.append(f"{method}: {curve[L]:.4f} at L={L:g}, {best}")
    return "; ".join(texts) or "-"


def exponent_of_L(summary, row):
    """Slope of log training time over log L."""
    texts = []
    for dataset in summary["dataset"].unique():
        curve = _curve(summary, "train_seconds", "L", dataset, row.method)
        if len(curve) > 1:
            slope = np.polyfit(np.log(curve.index.astype(float)), np.log(curve), 1)[0]
            texts.append(f"{slope:.2f} on {dataset}")
    return ", ".join(texts) or "-"


def ratio_before_drop(summary, row):
    """Share of missing views after which accuracy falls most."""
    steps = _curve(summary, "accuracy", "missing", row.dataset, row.method).diff().shift(-1)
    if len(steps) < 2:
        return "-"
    return f"{steps.idxmin():g} (the step after it costs {-steps.min():.3f})"


def _grid(method, name):
    return [point[name] for point in mvl_svm.GRIDS.get(method, mvl_svm.GRID)]


RANGES = {
    "c": _grid("MVLSVM", "C"),
    "lambda": _grid("MVML", "lam"),
    "eta": _grid("MVML", "eta"),
    "c1": _grid("SVM2K", "C"),
    "c2": _grid("SVM2K", "C"),
    "d": _grid("SVM2K", "D"),
    "L": mvl_svm.LANDMARKS["flower17"],
    "missing": mvl_svm.RATIOS,
}


# MwMvC² -------------------------------------------------------------------------------------------


def gain(summary, row):
    """Smallest or largest relative gain in per cent over the best rival, and where it is."""
    _, which, measure = row.measure.split("_")
    gains = []
    for dataset, rows in _rows(summary, measure).groupby("dataset"):
        means = rows.set_index("method")["mean"]
        rivals = means[[not name.startswith(row.method) for name in means.index]]
        if row.method in means and len(rivals):
            gains.append((100 * (means[row.method] / rivals.max() - 1), dataset, rivals.idxmax()))
    if not gains:
        return "-"
    value, dataset, rival = min(gains) if which == "min" else max(gains)
    return f"{value:.2f} on {dataset} over {rival}"


def place_from_last(summary, row):
    """Place of a rival among the rivals by mean accuracy, 1 for the worst, on each data set."""
    rows = _rows(summary, "accuracy", dataset=row.dataset)
    rows = rows[~rows["method"].astype(str).str.startswith("MwMvC2")]
    means = rows.pivot_table(index="method", columns="dataset", values="mean")
    if row.method not in means.index:
        return "-"
    places, of = means.rank().loc[row.method].dropna(), means.count()
    return ", ".join(f"{place:g} of {of[name]} on {name}" for name, place in places.items())


def rising_steps(summary, row):
    """Share of the steps to a larger m in which the mean over the repeats increases."""
    curves = summary.groupby(["dataset", "method", "measure"])
    steps = [step > 0 for _, curve in curves for step in np.diff(curve.sort_values("m")["mean"])]
    return f"{np.mean(steps):.3f} of {len(steps)}" if steps else "-"


def best_updates(summary, row):
    """Number of updates with the best test accuracy, printed and monotone, voters as printed."""
    rows = _rows(summary, "accuracy", "voters", "max_iter").query("voters == 'trees'")
    texts = []
    for (dataset, method), part in rows.groupby(["dataset", "method"]):
        best = part.loc[part["mean"].idxmax()]
        texts.append(f"{best['max_iter']:g} for {method} on {dataset} ({best['mean']:.4f})")
    return ", ".join(texts) or "-"


# MVPO ---------------------------------------------------------------------------------------------

SINGLE = [method for method, how in ranking.METHODS.items() if "view" in how.measures]


def f1_of_mvpo(summary, row):
    """Mean F1 of the method, tuned for F1."""
    found = _own_measure(summary).get((row.dataset, "f1", row.method))
    return "-" if found is None else f"{found:.4f}"


def f1_of_rivals(summary, row):
    """Largest mean F1 of the single-view methods, tuned for F1, and whose it is."""
    best, value = _best(_own_measure(summary), row.dataset, "f1", SINGLE)
    return f"{value:.4f} ({best})" if best else "-"


def n_exceptions(summary, row):
    """Data sets and measures where the mean of a single-view method is larger than MVPO's.

    Beside them those where LinearSVC's is, which is not in the paper. Each mean is over the repeats
    that the method has.
    """
    means, told = _own_measure(summary), []
    own = {(dataset, target): mean for (dataset, target, m), mean in means.items() if m == "MVPO"}
    for rivals in (SINGLE, ["LinearSVC"]):
        best = {cell: _best(means, *cell, rivals) for cell in sorted(own)}
        ahead = [f"{t} on {d} by {m}" for (d, t), (m, value) in best.items() if value > own[d, t]]
        told.append(f"{len(ahead)} of {len(own)}" + (f": {', '.join(ahead)}" if ahead else ""))
    return "; besides, ".join(told) if own else "-"


def _best(means, dataset, target, methods):
    """The best of the methods that have a mean there, and its mean."""
    values = {m: means[dataset, target, m] for m in methods if (dataset, target, m) in means}
    best = max(values, key=values.get, default=None)
    return best, values.get(best, -np.inf)


def _own_measure(summary):
    """Mean by data set, target and method, of the measure that is the target."""
    rows = summary.reindex(columns=["dataset", "target", "method", "measure", "mean"])
    rows = rows[rows["measure"] == rows["target"]]
    return rows.set_index(["dataset", "target", "method"])["mean"].to_dict()


def gaps_closed(summary, row):
    """Share of the points whose gap is at most C2 tol, in all repeats."""
    gaps = _rows(summary, "gap", dataset=row.dataset)["mean"]
    # a mean of gaps that are each at most 1 is at most 1
    return f"{(gaps <= 1).mean():.2f} of {len(gaps)} points" if len(gaps) else "-"


def f1_seconds(summary, row):
    """Shortest and longest training time for F1, per data set, or at the smallest C1 above 0."""
    rows = _rows(summary, "train_seconds", "target", "C1").query("target == 'f1'")
    if row.measure.endswith("small_C1"):
        rows = rows[rows["C1"] == rows.loc[rows["C1"] > 0, "C1"].min()]
    times = rows.groupby("dataset")["mean"].agg(["min", "max"])
    texts = [f"{low:.2g} to {high:.2g} on {dataset}" for dataset, low, high in times.itertuples()]
    return ", ".join(texts) or "-"


# MVM: it has no experiments, its statements are words; 1 stands for "yes" -------------------------


def share_ahead(rival, summary, row):
    """Share of the cells where the mean accuracy of a method is above that of a rival."""
    gaps = _gaps(summary, row, rival)
    if gaps.empty:
        return "-"
    text = f"{(gaps > 0).mean():.2f} of {len(gaps)} cells"
    return "; not ".join([text, *filter(None, [", ".join(gaps.index[gaps <= 0])])])


def range_of_gaps(rival, summary, row):
    """Smallest and largest mean accuracy of a method minus that of a rival, over the cells."""
    gaps = _gaps(summary, row, rival)
    if gaps.empty:
        return "-"
    ends = [f"{gap:+.3f} ({cell})" for cell, gap in gaps.sort_values().iloc[[0, -1]].items()]
    return f"accuracy {' to '.join(ends)} against {rival}"


def _gaps(summary, row, rival):
    """Mean accuracy of the row's method minus the rival's, by data set and size, if it has some."""
    rows = _rows(summary, "accuracy", "n_train", dataset=row.dataset)
    # real data have one size; the type has to be said where the ledger is empty
    size = rows["n_train"].map(lambda n: f" n={n:g}" if n == n else "").astype(str)
    means = rows.assign(cell=rows["dataset"] + size).groupby(["cell", "method"])["mean"].first()
    means = means.unstack("method").reindex(columns=[row.method, rival])
    return (means[row.method] - means[rival]).dropna()


# MVNA-KMHKS ---------------------------------------------------------------------------------------

RIVALS = {"accuracy": ["NA", "KMHKS", "SVM"], "errors": ["NA", "KMHKS"]}  # of Tables 2 and 3
N_TRAIN, N_TEST = 3823, 1797  # of optdigits
HIGH = 0.9801  # of an alignment; that of iris, the paper's exception


def first_places(summary, row):
    """Number of tasks in which no rival of the paper's table is better, with the ties."""
    measure, sign = ("errors", -1) if row.item == "table3" else ("accuracy", 1)
    rows = _rows(summary, measure, "protocol", "digit").query("digit != 1")  # not in the paper
    texts = []
    for protocol, part in rows.groupby("protocol", dropna=False):
        means = sign * part.pivot(index=["dataset", "digit"], columns="method", values="mean")
        means = means.reindex(columns=[row.method, *RIVALS[measure]]).round(9)
        own, best = means[row.method], means[RIVALS[measure]].max(axis=1)
        text, ties = f"{(own >= best).sum()} of {len(means)}", (own == best).sum()
        text += "" if measure == "errors" else f" by {choice_of('protocol', protocol)}"
        texts += [text + (f" ({ties} tied)" if ties else "")] * (len(means) > 1)
    return "; ".join(texts) or "-"


def excess_left(summary, row):
    """Mean iterations, and how far above the minimum they end, of both solvers."""
    rows = summary[summary["measure"].isin(["n_iter", "excess"])]
    if rows.empty:
        return "-"
    means = rows.pivot_table(index="method", columns=["coupling", "measure"], values="mean")
    texts, couplings = [], ", ".join(f"{coupling:g}" for coupling in means.columns.levels[0])
    for method, part in means.iterrows():
        ends, after = part.xs("excess", level="measure"), part.xs("n_iter", level="measure")
        texts.append(f"{method} {', '.join(map('{:.0f}'.format, after))} iterations, "
                     f"{', '.join(map('{:.2%}'.format, ends))} above the minimum")  # fmt: skip
    return f"couplings {couplings}: {'; '.join(texts)}"


def low_alignment_needed(summary, row):
    """Rank correlation of alignment and gain over the cells, and where gains are."""
    if summary.empty:
        return "-"
    cells = ["dataset", "share", "width"]
    cells = summary.pivot(index=cells, columns="measure", values=["mean", "low"])
    means, high = cells["mean"], cells["mean"]["alignment"] > HIGH
    rho = stats.spearmanr(means["alignment"], means["gain"]).statistic
    clear = cells["low"]["gain"] > 0
    return (
        f"rank correlation of alignment and gain over NA {rho:.2f} in {len(means)} cells; gain "
        f"above 0 by its 95 % interval in {clear[~high].sum()} of {(~high).sum()} cells with an "
        f"alignment of at most {HIGH}, and in {clear[high].sum()} of {high.sum()} above; mean gain "
        f"{means.loc[~high, 'gain'].mean():+.4f} and {means.loc[high, 'gain'].mean():+.4f}, over "
        f"NA with as many components {means.loc[~high, 'gain_double'].mean():+.4f} and "
        f"{means.loc[high, 'gain_double'].mean():+.4f}"
    )


CLAIMS = {
    "mvl_svm": {
        "landmarks_at_best": landmarks_at_best,
        "exponent_of_L": exponent_of_L,
        "ratio_before_drop": ratio_before_drop,
        "n_repeats": mvl_svm.N_REPEATS,
        "epsilon": methods.AGREEMENT["eps"],
        "L": mvl_svm.MISSING_LANDMARKS,
        **{f"{name}_min": min(values) for name, values in RANGES.items()},
        **{f"{name}_max": max(values) for name, values in RANGES.items()},
    },
    "mwmvc2": {
        "n_samples": size,
        "n_test": voting.N_TEST_MNIST,
        "test_share": voting.TEST_SHARE,
        "n_repeats": mwmvc2.N_REPEATS,
        "max_iter": mwmvc2.N_UPDATES,
        "n_rounds": mwmvc2.N_ROUNDS,
        "train_share": mwmvc2.FUSION_SHARE,
        "nystrom_share": voting.NYSTROM_SHARE,
        "m": mwmvc2.SAMPLE_SIZE,
        "significance_level": mwmvc2.SIGNIFICANCE_LEVEL,
        **{f"gain_{end}_{of}": gain for end in ("min", "max") for of in ("accuracy", "f1")},
        "place_from_last": place_from_last,
        "rising_steps": rising_steps,
        "best_updates": best_updates,
    },
    "mvpo": {
        **dict.fromkeys(["n_samples", "n_classes", "n_views"], size),
        "n_repeats": mvpo.N_REPEATS,
        "train_share": 0.5,
        "max_iter": ranking.MAX_ITER,
        "converged": gaps_closed,
        "f1_above": f1_of_mvpo,
        "f1_of_rivals_below": f1_of_rivals,
        "n_exceptions": n_exceptions,
        "f1_seconds": f1_seconds,
        "f1_seconds_small_C1": f1_seconds,
    },
    "mvm": {
        **{f"above_{rival}": partial(share_ahead, rival) for rival in ("STM", "FM", "FM-V", "RBF")},
        "no_better_than_Linear": partial(range_of_gaps, "Linear"),
    },
    "mvna_kmhks": {
        "n_views": nystrom_methods.N_VIEWS,
        "n_folds": mvna_kmhks.N_REPEATS,
        "significance_level": mvna_kmhks.SIGNIFICANCE_LEVEL,
        "m": mvna_kmhks.N_COMPONENTS,
        "n_train": N_TRAIN,
        "n_test": N_TEST,
        "first_places": first_places,
        "converged": excess_left,
        "low_alignment_needed": low_alignment_needed,
    },
}
