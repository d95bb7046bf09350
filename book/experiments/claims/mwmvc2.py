"""Statements of the MwMvC2 paper's text, and the settings of our runs."""

import numpy as np

from .. import mwmvc2, voting
from ..sizes import size


def gain(summary, row):
    """Smallest or largest relative gain in per cent over the best rival, and where it is."""
    _, which, measure = row.measure.split("_")
    gains = []
    for dataset, rows in summary[summary["measure"] == measure].groupby("dataset"):
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
    rows = summary[(summary["measure"] == "accuracy") & ~summary["method"].str.startswith("MwMvC2")]
    rows = rows[rows["dataset"].str.startswith(row.dataset)]
    means = rows.pivot_table(index="method", columns="dataset", values="mean")
    if row.method not in means.index:
        return "-"
    places, of = means.rank().loc[row.method].dropna(), means.count()
    return ", ".join(f"{place:g} of {of[name]} on {name}" for name, place in places.items())


def rising_steps(summary, row):
    """Share of the steps to a larger m in which the mean over the repeats increases."""
    curves = summary.groupby(["dataset", "method", "measure"])
    steps = [np.diff(curve.sort_values("m")["mean"]) > 0 for _, curve in curves]
    steps = np.concatenate(steps) if steps else np.array([])
    return f"{steps.mean():.3f} of {len(steps)}" if len(steps) else "-"


def best_updates(summary, row):
    """Number of updates with the best test accuracy, printed and monotone, voters as printed."""
    if summary.empty:
        return "-"
    rows = summary[(summary["measure"] == "accuracy") & (summary["voters"] == "trees")]
    texts = []
    for (dataset, method), part in rows.groupby(["dataset", "method"]):
        best = part.loc[part["mean"].idxmax()]
        texts.append(f"{best['max_iter']:g} for {method} on {dataset} ({best['mean']:.4f})")
    return ", ".join(texts) or "-"


CLAIMS = {
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
    **dict.fromkeys(["gain_min_accuracy", "gain_max_accuracy", "gain_min_f1", "gain_max_f1"], gain),
    "place_from_last": place_from_last,
    "rising_steps": rising_steps,
    "best_updates": best_updates,
}
