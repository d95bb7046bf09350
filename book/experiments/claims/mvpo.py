"""Statements of the MVPO paper's text, and the settings of our runs."""

import numpy as np

from .. import mvpo, ranking
from ..sizes import size


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
    means = _own_measure(summary)
    cells = sorted({(dataset, target) for dataset, target, method in means if method == "MVPO"})
    if not cells:
        return "-"
    return f"{_ahead(means, cells, SINGLE)}; besides, {_ahead(means, cells, ['LinearSVC'])}"


def _ahead(means, cells, rivals):
    """How many cells, and which, where the best of these rivals is better than MVPO."""
    texts = []
    for dataset, target in cells:
        best, value = _best(means, dataset, target, rivals)
        if value > means[dataset, target, "MVPO"]:
            texts.append(f"{target} on {dataset} by {best}")
    return f"{len(texts)} of {len(cells)}" + (f": {', '.join(texts)}" if texts else "")


def _best(means, dataset, target, methods):
    """The best of the methods that have a mean there, and its mean."""
    values = {m: means[dataset, target, m] for m in methods if (dataset, target, m) in means}
    best = max(values, key=values.get, default=None)
    return best, values.get(best, -np.inf)


def converged(summary, row):
    """Share of the points whose gap is at most C2 tol, in all repeats."""
    gaps = _of(summary, row.dataset, "gap")
    # a mean of gaps that are each at most 1 is at most 1
    return f"{(gaps['mean'] <= 1).mean():.2f} of {len(gaps)} points" if len(gaps) else "-"


def f1_seconds(summary, row):
    """Shortest and longest training time for F1, per data set."""
    return _range(_of(summary, None, "train_seconds").query("target == 'f1'"))


def f1_seconds_small_C1(summary, row):
    """Training time for F1 at the smallest C1 that is not 0, per data set."""
    rows = _of(summary, None, "train_seconds").query("target == 'f1' and C1 > 0")
    return _range(rows[rows["C1"] == rows["C1"].min()])


def _own_measure(summary):
    """Mean by data set, target and method, of the measure that is the target."""
    rows = summary.reindex(columns=["dataset", "target", "method", "measure", "mean"])
    rows = rows[rows["measure"] == rows["target"]]
    return rows.set_index(["dataset", "target", "method"])["mean"].to_dict()


def _of(summary, dataset, measure):
    rows = summary.reindex(columns=["dataset", "target", "C1", "C2", "measure", "mean"])
    rows = rows[rows["measure"] == measure]
    return rows if dataset is None else rows[rows["dataset"] == dataset]


def _range(rows):
    texts = [
        f"{part['mean'].min():.2g} to {part['mean'].max():.2g} on {dataset}"
        for dataset, part in rows.groupby("dataset")
    ]
    return ", ".join(texts) or "-"


SINGLE = [method for method, how in ranking.METHODS.items() if "view" in how.measures]
CLAIMS = {
    "n_samples": size,
    "n_classes": size,
    "n_views": size,
    "n_repeats": mvpo.N_REPEATS,
    "train_share": 0.5,
    "max_iter": ranking.MAX_ITER,
    "converged": converged,
    "f1_above": f1_of_mvpo,
    "f1_of_rivals_below": f1_of_rivals,
    "n_exceptions": n_exceptions,
    "f1_seconds": f1_seconds,
    "f1_seconds_small_C1": f1_seconds_small_C1,
}
