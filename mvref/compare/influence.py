"""Contribution of each test sample to a score, so that the score is a mean with a variance.

If a score is not a mean over samples, the contribution is the score plus the *influence*: the
change of n times the score, to first order, for a little more weight on the sample. Their mean is
the score, and their variance over n is its variance (Hampel, "The influence curve and its role in
robust estimation", Journal of the American Statistical Association 69, 1974; for the area under the
curve, that of DeLong, DeLong and Clarke-Pearson, Biometrics 44, 1988).

The values of a class of m samples vary around the mean of the class, so their variance is too small
by ``(m - 1) / m``, which matters if a test set has two samples of a class: it is corrected.
"""

import numpy as np

OF_SCORES = ("roc_auc", "roc_auc_ovr", "roc_auc_ovr_weighted", "neg_log_loss")


def by_sample(scoring, y, labels=None, scores=None, classes=None):
    """Return the contribution of each sample to a score (n,), or None for other scorings.

    scoring: as scikit-learn names its scorers; y (n,): labels, or numbers to predict; labels (n,):
    predicted ones, by default the class of the largest score; scores (n,) or (n, K): probabilities,
    or any scores of the classes; classes (K,): of the columns of `scores`, by default those in `y`.
    """
    y, errors = np.asarray(y), _ERRORS.get(scoring)
    if errors is not None:
        return errors(y, np.asarray(labels, dtype=float))
    classes = np.unique(y) if classes is None else np.asarray(classes)
    if labels is None and np.ndim(scores) == 2:
        labels = classes[np.argmax(scores, axis=1)]
    if scoring in OF_SCORES:
        return _of_scores(scoring, y, np.asarray(scores, dtype=float), classes)
    if scoring == "accuracy":
        return np.asarray(labels == y, dtype=float)
    if scoring == "balanced_accuracy":
        return np.mean([_recall(labels == k, y == k) for k in np.unique(y)], axis=0)
    if scoring == "f1":
        return _f1(labels == classes[-1], y == classes[-1])
    if scoring == "f1_macro":
        return np.mean([_f1(labels == k, y == k) for k in np.union1d(y, labels)], axis=0)
    return None


def reach(scoring, y):
    """Return the largest change of n times a score by one sample; None if it is unbounded."""
    if scoring == "accuracy":
        return 1.0
    classes, counts = np.unique(np.asarray(y), return_counts=True)
    rarest = len(y) / counts.min()
    if scoring in ("balanced_accuracy", "f1_macro", "roc_auc_ovr"):
        return rarest / len(classes)
    return {"f1": len(y) / counts[-1], "roc_auc": rarest, "roc_auc_ovr_weighted": 1.0}.get(scoring)


def _around(of_class, values):
    """Return the mean of some samples' values, and the influences on it, 0 for other samples."""
    mean, m = values[of_class].mean(), np.count_nonzero(of_class)
    wider = np.sqrt(m / max(m - 1, 1))
    return mean, np.where(of_class, (values - mean) * len(values) / m * wider, 0.0)


def _recall(said, true):
    mean, influence = _around(true, said.astype(float))
    return mean + influence


def _f1(said, true):
    """Return F1 plus influences: twice the hits over the true plus the predicted positives."""
    both = said.astype(float) + true
    if not both.any():
        return np.zeros(len(true))  # as scikit-learn counts a class that does not occur
    f1 = 2.0 * (said & true).sum() / both.sum()
    return f1 + (2.0 * (said & true) - f1 * both) / both.mean()


def _of_scores(scoring, y, scores, classes):
    if scoring == "neg_log_loss":
        own = scores[np.arange(len(y)), np.searchsorted(classes, y)]
        tiny = np.finfo(float).eps
        return np.log(np.clip(own, tiny, 1.0 - tiny))
    if scoring == "roc_auc":
        if len(classes) != 2:
            return None
        return _area(scores if scores.ndim == 1 else scores[:, 1], y == classes[1])
    areas = np.array([_area(scores[:, k], y == label) for k, label in enumerate(classes)])
    if scoring == "roc_auc_ovr":
        return areas.mean(axis=0)
    of_class, mean = y == classes[:, None], areas.mean(axis=1)
    share = of_class.mean(axis=1)
    return share @ areas + mean @ (of_class - share[:, None])


def _area(scores, true):
    """Return the AUROC plus the influence of every sample, from its rank in the other class."""
    placed, ordered = (
        np.empty(len(scores)),
        {side: np.sort(scores[true == side]) for side in (0, 1)},
    )
    for side in (0, 1):
        others, own = ordered[1 - side], scores[true == side]
        below = np.searchsorted(others, own) + np.searchsorted(others, own, "right")
        placed[true == side] = below / 2.0 / len(others)
    placed[~true] = 1.0 - placed[~true]
    (mean, positive), (_, negative) = _around(true, placed), _around(~true, placed)
    return mean + positive + negative


def _r2(y, said):
    """Return 1 - A / B plus influences: mean squared errors over deviations from the mean."""
    errors, deviations = (y - said) ** 2, (y - y.mean()) ** 2
    A, B = errors.mean(), deviations.mean()
    if B == 0.0:
        return np.full(len(y), float(A == 0.0))  # as scikit-learn has it
    return 1.0 - A / B + (A * deviations / B - errors) / B


def _root(y, said):
    errors = (y - said) ** 2
    root = np.sqrt(errors.mean())
    return -root - (errors - root**2) / (2.0 * root or 1.0)


_ERRORS = {
    "r2": _r2,
    "neg_mean_absolute_error": lambda y, said: -np.abs(y - said),
    "neg_mean_squared_error": lambda y, said: -((y - said) ** 2),
    "neg_root_mean_squared_error": _root,
}
