"""Statements of the MVL-SVM paper's text, and the settings of our runs."""

import numpy as np

from .. import mvl_svm, similarity_rivals


def landmarks_at_best(summary, row):
    """Accuracy at the paper's number of landmarks, and where it is best."""
    texts = []
    L = row.value
    for method in ("MVLSVM", "MVLSVM-rbf"):
        curve = _curve(summary, row.dataset, method, "accuracy", "L")
        if L in curve.index:
            best = f"best {curve.max():.4f} at L={curve.idxmax():g}"
            texts.append(f"{method}: {curve[L]:.4f} at L={L:g}, {best}")
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
    steps = curve.diff().shift(-1)  # to the next share
    return f"{steps.idxmin():g} (the step after it costs {-steps.min():.3f})"


def _curve(summary, dataset, method, measure, x):
    """Mean of a measure over x, ascending; "flower17" stands for its recomputed form too."""
    rows = summary[
        summary["dataset"].isin([dataset, f"{dataset}-recomputed"])
        & (summary["method"] == method)
        & (summary["measure"] == measure)
    ]
    return rows.reindex(columns=[x, "mean"]).set_index(x)["mean"].sort_index()


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
CLAIMS = {
    "landmarks_at_best": landmarks_at_best,
    "exponent_of_L": exponent_of_L,
    "ratio_before_drop": ratio_before_drop,
    "n_repeats": mvl_svm.N_REPEATS,
    "epsilon": similarity_rivals.AGREEMENT["eps"],
    "L": mvl_svm.MISSING_LANDMARKS,
    **{f"{name}_min": min(values) for name, values in RANGES.items()},
    **{f"{name}_max": max(values) for name, values in RANGES.items()},
}
