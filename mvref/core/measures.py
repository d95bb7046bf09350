"""Performance measures of MVPO: F-beta, precision/recall break-even point, AUROC, error rate.

Symbols   paper, report   code   meaning
          P, N            P, N   number of positive and of negative samples
          a, b            a, b   samples predicted positive: right ones and wrong ones
          Delta           loss   1 - measure, in [0, 1]

A measure here is a function of all predictions at once; most are not means over samples. The losses
are functions of the contingency table (a, b), so that the search for MVPO's most violated
constraint can evaluate them on all tables. The measures are 1 - loss: what is optimised is what is
reported.

Labels are 0 and 1, -1 and +1, or False and True; the class of interest is 1, and the decision of a
score is ``score > 0``. Without a positive F-beta and PRBEP are undefined, without a positive and a
negative AUROC is: a ValueError, where scikit-learn warns and returns 0 or NaN.

Source: T. Joachims, "A support vector method for multivariate performance measures", ICML 2005,
and Section "Problem formulation" of Wang, Tsang and Gao (AAAI 2016), which name the measures.
"""

import numpy as np
from scipy.stats import rankdata

from .input import as_numbers, check_number

# Between these the square of beta and its products are ordinary numbers; outside, F-beta is the
# precision or the recall to all digits.
SMALLEST_BETA, LARGEST_BETA = 1e-50, 1e50


def f_beta_loss(a, b, P, beta=1.0):
    """Return Delta = 1 - F-beta of a contingency table, without the subtraction from 1.

    a, b: right and wrong samples among those predicted positive, numbers or arrays; P: number of
    positives, at least 1; beta: from 1e-50 to 1e50. F-beta is the harmonic mean of precision a/(a +
    b) (weight 1) and recall a/P (weight beta^2), that is (1 + beta^2) a / (beta^2 P + a + b); Delta
    is 1 wherever a is 0.

    >>> from mvref.core.measures import f_beta_loss
    >>> f_beta_loss(a=1, b=1, P=2)  # precision 1/2, recall 1/2
    0.5
    """
    a, b, P = _counts(a=a, b=b, P=P)
    beta_squared = check_beta(beta) ** 2
    return (beta_squared * (P - a) + b) / (beta_squared * P + a + b)


def prbep_loss(a, P):
    """Return Delta = 1 - a/P of a table with P samples predicted positive, `a` of them rightly.

    >>> from mvref.core.measures import prbep_loss
    >>> prbep_loss(a=3, P=4)
    0.25
    """
    a, P = _counts(a=a, P=P)
    return (P - a) / P


def auroc_loss(swapped, P, N):
    """Return Delta = 1 - AUROC, the fraction of the P N pairs that are swapped; a tie is half.

    >>> from mvref.core.measures import auroc_loss
    >>> auroc_loss(swapped=3, P=2, N=3)
    0.5
    """
    swapped, P, N = _counts(swapped=swapped, P=P, N=N)
    return swapped / (P * N)


def error_loss(a, b, P, N):
    """Return Delta = fraction of the P + N samples with a wrong label: a, b as in `f_beta_loss`.

    >>> from mvref.core.measures import error_loss
    >>> error_loss(a=1, b=1, P=2, N=6)
    0.25
    """
    a, b, P, N = _counts(a=a, b=b, P=P, N=N)
    return ((P - a) + b) / (P + N)


def f_beta(y_true, y_pred, beta=1.0):
    """Return F-beta of predicted labels.

    Parameters
    ----------
    y_true, y_pred : n labels, 0 and 1, -1 and +1, or booleans; `y_true` with a positive
    beta : float from 1e-50 to 1e50; 1 is the F1 score

    Returns
    -------
    value : float in [0, 1]; 0 if nothing is predicted positive

    See Also
    --------
    f_beta_loss : Its loss, from a contingency table.

    Examples
    --------
    >>> from mvref.core.measures import f_beta
    >>> f_beta([1, 1, -1, -1], [1, -1, 1, -1])
    0.5
    """
    true, predicted = _label_pair(y_true, y_pred)
    P = _count_positives(true, "F-beta")
    return float(1 - f_beta_loss((true & predicted).sum(), (predicted & ~true).sum(), P, beta))


def precision_recall_break_even(y_true, scores):
    """Return PRBEP: the precision when as many samples are predicted positive as are positive.

    Parameters
    ----------
    y_true : n labels, 0 and 1, -1 and +1, or booleans; P of them positive, at least one
    scores : n numbers
        The P largest are predicted positive. Samples that tie for the last of these places share
        them: the value is the mean over all orders of the ties.

    Returns
    -------
    value : float in [0, 1]; P/n if all scores are equal

    See Also
    --------
    prbep_loss : Its loss, from a contingency table.

    Examples
    --------
    >>> from mvref.core.measures import precision_recall_break_even
    >>> precision_recall_break_even([1, 1, 0, 0], [0.9, 0.3, 0.4, 0.1])
    0.5
    >>> precision_recall_break_even([1, 1, 0, 0], [0.9, 0.4, 0.4, 0.1])  # a tie for place 2
    0.75
    """
    true, scores = _labels_and_scores(y_true, scores)
    P, n = _count_positives(true, "PRBEP"), len(true)
    last = np.partition(scores, n - P)[n - P]  # the P-th largest
    above, tied = scores > last, scores == last
    share = (P - above.sum()) / tied.sum()
    return float(1 - prbep_loss((true & above).sum() + share * (true & tied).sum(), P))


def auroc(y_true, scores):
    """Return the area under the ROC curve: the fraction of well ordered pairs, in O(n log n).

    Parameters
    ----------
    y_true : n labels, 0 and 1, -1 and +1, or booleans; of both classes
    scores : n numbers

    Returns
    -------
    value : float in [0, 1]; a pair of equal scores counts 1/2

    See Also
    --------
    auroc_loss : Its loss.

    Examples
    --------
    >>> from mvref.core.measures import auroc
    >>> auroc([1, 1, 0, 0], [0.9, 0.4, 0.4, 0.1])
    0.875
    """
    true, scores = _labels_and_scores(y_true, scores)
    P = _count_positives(true, "AUROC")
    N = len(true) - P
    if N == 0:
        raise ValueError("y_true must hold at least one negative: AUROC is undefined without.")
    well_ordered = rankdata(scores)[true].sum() - P * (P + 1) / 2  # Mann and Whitney's U
    return float(1 - auroc_loss(P * N - well_ordered, P, N))


def one_vs_rest(y, classes=None):
    """Return the indicator matrix of class labels: one binary problem per column.

    Parameters
    ----------
    y : n class labels
    classes : K different labels, optional
        Class of each column, those of `y` among them; default: the labels in `y`, sorted.

    Returns
    -------
    Y : bool array, shape (n, K)

    Examples
    --------
    >>> from mvref.core.measures import one_vs_rest
    >>> one_vs_rest(["a", "c", "a"], classes=["a", "b", "c"]).astype(int)
    array([[1, 0, 0],
           [0, 0, 1],
           [1, 0, 0]])
    """
    y = _array(y, "y")
    if y.ndim != 1 or len(y) == 0:
        raise ValueError(f"y must be a list of class labels, got an array of shape {y.shape}.")
    labels = _different(y, "y")
    classes = labels if classes is None else _array(classes, "classes")
    if classes.ndim != 1 or len(_different(classes, "classes")) != len(classes):
        raise ValueError(f"classes must be different labels, got {classes.tolist()}.")
    unknown = np.setdiff1d(labels, classes)
    if len(unknown):
        raise ValueError(
            f"y holds {unknown.tolist()[0]!r}, which is not in classes, {classes.tolist()}."
        )
    return y[:, None] == classes


def macro_average(measure, Y, scores, classes=None, **options):
    """Return the mean of a binary measure over one-vs-rest classes.

    Parameters
    ----------
    measure : callable, such as :func:`auroc` or :func:`f_beta`
    Y : n class labels, or an (n, K) indicator matrix if a sample may have several
    scores : array-like, shape (n, K)
        One column per class, as the measure wants it: scores, or predicted labels of the binary
        problems for F-beta (``scores > 0``, or :func:`one_vs_rest` of predicted classes). Two
        classes also need two columns: F1 and PRBEP of a class are not those of the other.
    classes : K labels, optional
        For class labels: the class of each column. Default: the labels in `Y`, sorted.
    **options : for the measure, such as ``beta``

    Returns
    -------
    mean : float

    Raises
    ------
    ValueError
        If the shapes differ, or the measure is undefined for a class; the message names it.

    Examples
    --------
    >>> from mvref.core.measures import auroc, macro_average
    >>> scores = [[0.9, 0.4, 0.0], [0.2, 0.3, 0.1], [0.3, 0.4, 0.2], [0.5, 0.3, 0.9]]
    >>> macro_average(auroc, ["x", "y", "z", "z"], scores)  # 1, 1/6 and 1
    0.722...
    """
    Y, scores = _array(Y, "Y"), _array(scores, "scores")
    if not callable(measure):
        raise ValueError(f"measure must be a function, got {measure!r}.")
    if Y.ndim == 1:
        names = _different(Y, "Y") if classes is None else _array(classes, "classes")
        Y = one_vs_rest(Y, names)
    elif Y.ndim == 2 and Y.size and classes is None:
        names = np.arange(Y.shape[1])
    else:
        raise ValueError(
            "Y must be a list of class labels, or an indicator matrix without classes; got an "
            f"array of shape {Y.shape} and classes={classes!r}."
        )
    if scores.shape != Y.shape:
        raise ValueError(
            f"scores must have one row per sample and one column per class, {Y.shape}, got an "
            f"array of shape {scores.shape}."
        )
    values = []
    for name, y, s in zip(names.tolist(), Y.T, scores.T, strict=True):
        try:
            values.append(measure(y, s, **options))
        except ValueError as error:
            raise ValueError(f"Class {name!r}: {error}") from error
    return float(np.mean(values))


def check_beta(beta):
    """Return `beta` as a float, or raise a ValueError unless it is from 1e-50 to 1e50.

    >>> from mvref.core.measures import check_beta
    >>> check_beta(2)
    2.0
    """
    return float(check_number(beta, "beta", low=SMALLEST_BETA, high=LARGEST_BETA))


def _array(values, name):
    """Return values as an array; raise a ValueError for rows of different lengths."""
    try:
        return np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{name} must be an array: {error}.") from None


def _different(labels, name):
    """Return the unique labels, sorted; raise a ValueError if they cannot be sorted."""
    try:
        return np.unique(labels)
    except TypeError as error:
        raise ValueError(f"{name} must hold labels of one type: {error}.") from None


def _counts(**values):
    """Return numbers and arrays as they are, lists as arrays; check that P and N are at least 1."""
    for name, value in values.items():
        if not isinstance(value, (int, float, np.number)):
            if not isinstance(value, np.ndarray) or value.dtype.kind not in "iuf":
                values[name] = as_numbers(value, name)
        else:
            check_number(value, name, low=1 if name in "PN" else -np.inf)
    return values.values()


def _is_positive(y, name):
    y = _array(y, name)
    if y.ndim != 1 or len(y) == 0:
        raise ValueError(f"{name} must be a list of labels, got an array of shape {y.shape}.")
    number = y.dtype.kind in "biuf"
    if not number or not (((y == 0) | (y == 1)).all() or ((y == -1) | (y == 1)).all()):
        raise ValueError(
            f"{name} must hold labels 0 and 1, -1 and +1, or booleans, got {y[:5].tolist()}"
            f"{'...' if len(y) > 5 else ''}. For scores, the labels are scores >= 0."
        )
    return y == 1


def _label_pair(y_true, y_pred):
    true, predicted = _is_positive(y_true, "y_true"), _is_positive(y_pred, "y_pred")
    if len(true) != len(predicted):
        raise ValueError(f"y_pred has {len(predicted)} labels, but y_true has {len(true)}.")
    return true, predicted


def _labels_and_scores(y_true, scores):
    true, scores = _is_positive(y_true, "y_true"), _array(scores, "scores")
    if scores.dtype.kind not in "biuf" or scores.shape != true.shape:
        raise ValueError(
            f"scores must be {len(true)} numbers, one per label in y_true, got an array of shape "
            f"{scores.shape} and type {scores.dtype}."
        )
    if not np.isfinite(scores).all():
        raise ValueError("scores must be finite, got NaN or infinity.")
    return true, scores


def _count_positives(true, name):
    P = int(true.sum())
    if P == 0:
        raise ValueError(f"y_true must hold at least one positive: {name} is undefined without.")
    return P
