"""What our results say where the paper's text makes a statement in numbers.

Every function gets the summary of the item and a row of ``paper_numbers.csv``, and returns text.
"""

import numpy as np

from . import mvl_svm


def landmarks_at_best(summary, row):
    """Accuracy at the paper's number of landmarks, and where it is best."""
    texts = []
    for method in ("MVLSVM", "MVLSVM-rbf"):
        curve = _curve(summary, row.dataset, method, "accuracy", "L")
        if row.value in curve.index:
            best = curve.idxmax()
            texts.append(
                f"{method}: {curve[row.value]:.4f} at L={row.value:g}, best {curve[best]:.4f} at "
                f"L={best:g}"
            )
    return "; ".join(texts) or "-"


def exponent_of_L(summary, row):
    """Slope of log training time over log L."""
    texts = []
    for dataset in summary["dataset"].unique():
        curve = _curve(summary, dataset, row.method, "train_seconds", "L")
        if len(curve) > 1:
            slope = np.polyfit(np.log(curve.index.astype(float)), np.log(curve), 1)[0]
            texts.append(f"{slope:.2f} on {dataset}")
    return ", ".join(texts) or "-"


def ratio_before_drop(summary, row):
    """Share of missing views after which accuracy falls most."""
    curve = _curve(summary, row.dataset, row.method, "accuracy", "missing")
    if len(curve) < 2:
        return "-"
    steps = curve.diff().dropna()
    before = curve.index[curve.index.get_loc(steps.idxmin()) - 1]
    return f"{before:g} (the step after it costs {-steps.min():.3f})"


def _curve(summary, dataset, method, measure, x):
    """Mean of a measure over x, ascending; "flower17" stands for its recomputed form too."""
    rows = summary[
        summary["dataset"].isin([dataset, f"{dataset}-recomputed"])
        & (summary["method"] == method)
        & (summary["measure"] == measure)
    ]
    return rows.reindex(columns=[x, "mean"]).set_index(x)["mean"].sort_index()


def _setting(value):
    return lambda summary, row: f"{value:g}"


CLAIMS = {
    ("mvl_svm", "landmarks_at_best"): landmarks_at_best,
    ("mvl_svm", "exponent_of_L"): exponent_of_L,
    ("mvl_svm", "ratio_before_drop"): ratio_before_drop,
    ("mvl_svm", "n_repeats"): _setting(mvl_svm.N_REPEATS),
    ("mvl_svm", "c_min"): _setting(mvl_svm.GRID[0]),
    ("mvl_svm", "c_max"): _setting(mvl_svm.GRID[-1]),
    ("mvl_svm", "L_min"): _setting(mvl_svm.LANDMARKS["flower17"][0]),
    ("mvl_svm", "L_max"): _setting(mvl_svm.LANDMARKS["flower17"][-1]),
    ("mvl_svm", "L"): _setting(mvl_svm.MISSING_LANDMARKS),
    ("mvl_svm", "missing_min"): _setting(mvl_svm.RATIOS[0]),
    ("mvl_svm", "missing_max"): _setting(mvl_svm.RATIOS[-1]),
}
