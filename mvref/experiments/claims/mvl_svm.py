"""Statements of the MVL-SVM paper's text, and the settings of our runs."""

import numpy as np

from .. import mvl_svm, similarity_rivals


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


METRIC, AGREEMENT = (
    {name: [point[name] for point in mvl_svm.GRIDS[method]] for name in mvl_svm.GRIDS[method][0]}
    for method in ("MVML", "SVM2K")
)
CLAIMS = {
    "landmarks_at_best": landmarks_at_best,
    "exponent_of_L": exponent_of_L,
    "ratio_before_drop": ratio_before_drop,
    "n_repeats": mvl_svm.N_REPEATS,
    "c_min": mvl_svm.GRID[0],
    "c_max": mvl_svm.GRID[-1],
    "lambda_min": min(METRIC["lam"]),
    "lambda_max": max(METRIC["lam"]),
    "eta_min": min(METRIC["eta"]),
    "eta_max": max(METRIC["eta"]),
    "c1_min": min(AGREEMENT["C"]),
    "c1_max": max(AGREEMENT["C"]),
    "c2_min": min(AGREEMENT["C"]),
    "c2_max": max(AGREEMENT["C"]),
    "d_min": min(AGREEMENT["D"]),
    "d_max": max(AGREEMENT["D"]),
    "epsilon": similarity_rivals.AGREEMENT["eps"],
    "L_min": mvl_svm.LANDMARKS["flower17"][0],
    "L_max": mvl_svm.LANDMARKS["flower17"][-1],
    "L": mvl_svm.MISSING_LANDMARKS,
    "missing_min": mvl_svm.RATIOS[0],
    "missing_max": mvl_svm.RATIOS[-1],
}
