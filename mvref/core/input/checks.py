"""Checks of single parameters, each with a message that names it, and of fitted models."""

import sys
import warnings
from contextlib import contextmanager, nullcontext
from itertools import chain

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.sparsefuncs import min_max_axis

KERNELS = ("linear", "rbf", "precomputed", "gram")
LIBRARIES = ("mvref", "sklearn", "joblib", "contextlib")  # code that is not the user's
N_ASKED = 200  # training samples on which a fitted model is checked
EQUAL = 1e-4  # scores closer than this, relative to the largest one, are equal
NEARLY_ZERO = 1e-8  # and so are scores below this, as from random tie-breaking
FEW_COMPLETE = 20  # samples with all views, below which methods that use only these warn
BEATEN = 0.9  # fraction of a constant's performance, below which the constant is better
HUGE = 1e100  # the products of such numbers overflow, or those of their products


class NothingLearntWarning(UserWarning):
    """Warning that a fitted model gives nearly all its training samples the same score."""


def check_number(value, name, *, low=-np.inf, high=np.inf, low_open=False, integer=False):
    """Raise a ValueError unless `value` is a number in the allowed interval.

    name: of the parameter, for the message; low, high: limits of the interval; `low` itself is
    allowed unless `low_open`.
    """
    kinds = (int, np.integer) if integer else (int, float, np.integer, np.floating)
    good = isinstance(value, kinds) and not isinstance(value, bool)
    good = good and not (isinstance(value, int) and abs(value) > sys.float_info.max)
    good = good and np.isfinite(value)
    if not good or not low <= value <= high or (low_open and value == low):
        kind = "an integer" if integer else "a number"
        limits = [f" {'>' if low_open else '>='} {low}"] if low > -np.inf else []
        limits += [f" <= {high}"] if high < np.inf else []
        raise ValueError(f"{name} must be {kind}{' and'.join(limits)}, got {value!r}.")
    return value


def check_choice(value, name, allowed):
    """Raise a ValueError unless `value` is one of the strings `allowed`."""
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{name} must be one of {list(allowed)}, got {value!r}.")
    return value


def shown(names, n=10):
    """Return at most n names for a message.

    >>> shown("abc"), shown("abc", 1)
    ("['a', 'b', 'c']", "['a'] and 2 more")
    """
    names = list(names)
    return f"{names[:n]}{f' and {len(names) - n} more' * (len(names) > n)}"


def check_common_parameters(estimator):
    """Check the parameters that many estimators share; a method may be stricter."""
    given = vars(estimator)
    tol = given.get("tol", 0)
    if isinstance(tol, float) and 0 < tol < 1e-16:
        raise ValueError(
            f"tol must be 0 or at least 1e-16, got {tol!r}: rounding is larger, and "
            "not every solver would end."
        )
    if not isinstance(given.get("fit_intercept", True), bool | np.bool_):
        raise ValueError(f"fit_intercept must be True or False, got {given['fit_intercept']!r}.")
    n_jobs = given.get("n_jobs")
    if n_jobs is not None:
        check_number(n_jobs, "n_jobs", integer=True)
        if n_jobs == 0:
            raise ValueError("n_jobs must be None or an integer other than 0, got 0.")
    try:
        check_random_state(given.get("random_state"))
    except (TypeError, ValueError) as error:
        raise ValueError(f"random_state: {error}") from None


def check_kernel(kernel, gamma):
    """Raise a ValueError unless a view can have this kernel and this width gamma."""
    if not callable(kernel) and not (isinstance(kernel, str) and kernel in KERNELS):
        raise ValueError(f"kernel must be one of {list(KERNELS)} or callable, got {kernel!r}.")
    if isinstance(gamma, str) and gamma != "mean":
        raise ValueError(f"gamma must be None, 'mean' or a number > 0, got {gamma!r}.")
    if gamma is not None and not isinstance(gamma, str):
        check_number(gamma, "gamma", low=0, low_open=True)


def warn_caller(message, category=ConvergenceWarning):
    """Warn at the line of the user's code, however deep the call is."""
    depth, frame = 1, sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").split(".")[0] in LIBRARIES:
        depth, frame = depth + 1, frame.f_back
    warnings.warn(message, category, stacklevel=depth + 1)


def check_votable(X, told="no view at all"):
    """Raise a ValueError if a sample has no view at all."""
    empty = np.flatnonzero(~X.observed.any(axis=1))
    if len(empty):
        raise ValueError(f"{len(empty)} sample(s) have {told}, first row {empty[0]}.")


def warn_if_few_complete(n_complete, n_samples, told):
    """Warn if fewer than half of the samples, and fewer than FEW_COMPLETE, are complete."""
    if n_complete < min(FEW_COMPLETE, n_samples / 2):
        warn_caller(
            f"only {n_complete} of {n_samples} training samples have all views, and {told}; or "
            "train one per view or pattern: mvref.PerViewClassifier, mvref.PatternClassifier.",
            UserWarning,
        )


def warn_of_views_by_class(X, codes, classes):
    """Warn of views that no sample of some class has, while others have them."""
    lost = [
        f"class {label!r} has no sample with view {name!r}"
        for k, label in enumerate(classes.tolist())
        for name, seen in zip(X.names, X.observed[codes == k].T, strict=True)
        if not seen.any()
    ]
    if lost:
        more = f"; and {len(lost) - 3} more" if len(lost) > 3 else ""
        warn_caller(
            f"{'; '.join(lost[:3])}{more}: who has the view tells the class, whatever its numbers "
            "are. Unless the gaps will come in the same way, leave the view out, with X.select, or "
            "the class.",
            UserWarning,
        )


def largest_of(X):
    """Return the largest absolute value in the views."""
    stored = [view.data if sparse.issparse(view) else view for view in X.views]
    numbers = [v for v in stored if not hasattr(v, "iloc")]
    ends = [(-np.nanmin(v, initial=0), np.nanmax(v, initial=0)) for v in numbers]
    return max(chain.from_iterable(ends), default=0)


@contextmanager
def memory_for(estimator, X, advice="Hand over fewer samples at a time."):
    """Add advice to a MemoryError; hide overflows, which an error or a warning reports later."""
    quiet = np.errstate(over="ignore", invalid="ignore") if largest_of(X) > HUGE else nullcontext()
    try:
        with quiet:
            yield
    except MemoryError as error:
        raise MemoryError(
            f"{type(estimator).__name__} finds no memory for {len(X)} samples ({error}). {advice}"
        ) from error


def refuse_huge(X, error):
    """Raise a ValueError with the reason if a fit failed on numbers whose products overflow."""
    largest = largest_of(X)
    if largest > HUGE:
        raise ValueError(
            f"{error} X holds numbers up to {largest:.0e}, too large for products of them; scale "
            "the views, for example with PerView(StandardScaler())."
        ) from error


def warn_if_nothing_learnt(estimator, X, targets, weights=None):
    """Warn if the scores of the training samples, or of N_ASKED of them, are nearly all the same.

    Also warn if a constant is clearly better. X: MultiView of n samples; targets (n,):
    codes of the classes, or numbers; weights (n,): of the samples, None: equal.
    """
    rows = np.flatnonzero(X.observed.any(axis=1))
    if len(rows) > N_ASKED:  # with a separate generator
        rows = np.random.default_rng(0).choice(rows, N_ASKED, replace=False)
    if len(rows) < X.n_samples:
        X, targets = X[rows], targets[rows]
        weights = None if weights is None else weights[rows]
    try:
        with np.errstate(all="ignore"):
            scores = np.asarray(estimator._scores(X)).reshape(len(rows), -1)
    except ValueError:  # samples too large for it, as `predict` will report
        return
    away = np.sort(np.abs(scores - np.median(scores, axis=0)).max(axis=1))
    others = len(rows) - np.unique(targets, return_counts=True)[1].max()  # than the majority
    spread = away[-1 - int(0.1 * others)]  # a few samples may differ
    if is_classifier(estimator):
        said = scores.argmax(axis=1) if scores.shape[1] > 1 else scores[:, 0] > 0
        told_apart = others - np.sum(said != targets) > 0.1 * others
        recalls = [np.mean(said[targets == k] == k) for k in np.unique(targets)]
        worse = np.mean(recalls) < BEATEN / len(recalls)
        same = spread <= max(EQUAL * np.abs(scores).max(), NEARLY_ZERO) and not told_apart
    else:
        same = spread <= EQUAL * np.std(targets)
        mean = np.average(targets, weights=weights)
        errors, spreads = ((targets - guess) ** 2 for guess in (scores[:, 0], mean))
        worse = BEATEN * np.average(errors, weights=weights) > np.average(spreads, weights=weights)
    if not (same or worse) or not others:  # or all targets are equal
        return
    name = type(estimator).__name__
    seen = "worse than one answer for all" if worse else "0" if not scores.any() else "the same"
    gaps = "" if X.observed.all(axis=1).any() else " No sample has all views."
    warn_caller(
        f"{name} has learnt nothing: the scores of (nearly) all its training samples are {seen}."
        f"{gaps} The features span at most {_largest_span(X):.0e} there. If they are constant, or "
        "much smaller or larger than 1, scale the views, for example with make_pipeline(PerView("
        f"StandardScaler()), {name}(...)); if not, look at gamma and at the penalty.",
        NothingLearntWarning,
    )


def _largest_span(X):
    """Return the largest difference between two samples in one feature."""
    spans = [0.0]
    for view, seen in zip(X.views, X.observed.T, strict=True):
        if seen.any() and not hasattr(view, "iloc"):
            rows = view[seen]
            limits = min_max_axis(rows, axis=0) if sparse.issparse(rows) else rows
            spans.append(np.ptp(limits, axis=0).max())
    return max(spans)
