"""Statements of the MVPO paper's text, and the settings of our runs."""

from .. import mvpo, ranking
from ..sizes import size_of


def size(summary, row):
    """Size of our data set of that name, measured."""
    return size_of(row.dataset, row.measure)


def f1_of_mvpo(summary, row):
    """Mean F1 of the method, tuned for F1."""
    means = _own_measure(summary)
    found = means.get((row.dataset, "f1", row.method))
    return "-" if found is None else f"{found:.4f}"


def f1_of_rivals(summary, row):
    """Largest mean F1 of the single-view methods, tuned for F1, and whose it is."""
    rivals = {
        method: value
        for (dataset, target, method), value in _own_measure(summary).items()
        if (dataset, target) == (row.dataset, "f1") and "view" in ranking.METHODS[method].measures
    }
    if not rivals:
        return "-"
    best = max(rivals, key=rivals.get)
    return f"{rivals[best]:.4f} ({best})"


def n_exceptions(summary, row):
    """Data sets and measures where the mean of a single-view method is larger than MVPO's.

    Beside them those where LinearSVC's is, which is not in the paper. Each mean is over the repeats
    that the method has.
    """
    means = _own_measure(summary)
    cells = sorted({(dataset, target) for dataset, target, method in means if method == "MVPO"})
    if not cells:
        return "-"
    single = [method for method, how in ranking.METHODS.items() if "view" in how.measures]
    exceptions = _ahead(means, cells, single)
    others = _ahead(means, cells, ["LinearSVC"])
    return f"{_listed(exceptions, len(cells))}; besides, {_listed(others, len(cells))}"


def _ahead(means, cells, rivals):
    """The cells where the best of these rivals is better than MVPO, with its name."""
    texts = []
    for dataset, target in cells:
        values = {m: means[dataset, target, m] for m in rivals if (dataset, target, m) in means}
        best = max(values, key=values.get, default=None)
        if values and values[best] > means[dataset, target, "MVPO"]:
            texts.append(f"{target} on {dataset} by {best}")
    return texts


def _listed(texts, n_cells):
    return f"{len(texts)} of {n_cells}" + (f": {', '.join(texts)}" if texts else "")


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
    if summary.empty:
        return {}
    rows = summary[summary["measure"] == summary["target"]]
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
