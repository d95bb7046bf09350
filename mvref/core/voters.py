"""Voters: classifiers of one view each, and the tables of their votes.

A voter is any scikit-learn classifier, fitted on the samples that have its view. Where a sample
misses the view, the voter abstains: its vote is 0.
"""

import warnings
from functools import partial

import numpy as np
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import PredefinedSplit, StratifiedGroupKFold
from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline
from sklearn.tree import BaseDecisionTree
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from .input import check_number


def check_classifier(classifier, name, kind="classifier"):
    """Raise a ValueError that names the parameter unless it is a scikit-learn `kind`."""
    is_object = hasattr(classifier, "fit") and not isinstance(classifier, type)
    if not (is_object and get_tags(classifier).estimator_type == kind):
        raise ValueError(f"{name} must be a scikit-learn {kind}, got {classifier!r}.")
    return classifier


def seeded_clone(classifier, rng):
    """Clone a classifier and give a seed to each of its random states that has none."""
    copy = clone(classifier)
    states = {
        name: int(rng.randint(2**31))
        for name, value in sorted(copy.get_params(deep=True).items())
        if (name == "random_state" or name.endswith("__random_state")) and value is None
    }
    return copy.set_params(**states)


def check_trainable(X, codes, part=""):
    """Raise a ValueError unless every view is observed in two classes; `part` ends the message."""
    for name, seen in zip(X.names, X.observed.T, strict=True):
        if len(np.unique(codes[seen])) < 2:
            told = f"View {name!r} is observed in samples of one class only{part}"
            raise ValueError(f"{told}. Remove it with X.select([...]), or use PerViewClassifier.")


def class_folds(codes, n_folds, rng):
    """Return shuffled folds over which every class is distributed evenly, however rare it is."""
    order = rng.permutation(len(codes))
    order = order[np.argsort(codes[order], kind="stable")]
    fold = np.empty(len(codes), dtype=int)
    fold[order] = np.arange(len(codes)) % min(n_folds, len(codes))
    return PredefinedSplit(fold)


def check_folds(cv):
    """Raise a ValueError unless `cv` is a number of folds or a splitter."""
    if not hasattr(cv, "get_n_splits"):
        try:
            check_number(cv, "cv", low=2, integer=True)
        except ValueError as error:
            told = "or a splitter of scikit-learn, such as GroupKFold(3)"
            raise ValueError(f"{str(error).partition(', got')[0]} {told}, got {cv!r}.") from None


def folds_of(cv, codes, rng, groups=None):
    """Return the folds of a number or a splitter `cv`, in which groups stay whole.

    codes (n,), or the floats of a regression; groups (n,) or None -> a PredefinedSplit that holds
    every sample out once. A number without groups: :func:`class_folds`.
    """
    if not hasattr(cv, "get_n_splits"):
        codes = codes if codes.dtype.kind == "i" else np.zeros(len(codes), dtype=int)
        if groups is None:
            return class_folds(codes, cv, rng)
        n_folds = max(2, min(cv, len(np.unique(groups)), np.bincount(codes).max()))
        cv = StratifiedGroupKFold(n_folds, shuffle=True, random_state=rng.randint(2**31))
    fold = np.zeros((2, len(codes)), dtype=int)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The least populated class")  # however rare it is
            for k, (_, held_out) in enumerate(cv.split(np.zeros((len(codes), 1)), codes, groups)):
                fold[:, held_out] += [[k], [1]]
    except ValueError as error:
        told = "" if groups is not None else " If it needs groups, call fit(X, y, groups=...)."
        raise ValueError(f"cv={cv!r} cannot split the samples: {error}{told}") from error
    if (fold[1] != 1).any() or not fold[0].any():
        raise ValueError(
            f"cv must hold out every sample once, in two folds or more; {cv!r} does not."
        )
    return PredefinedSplit(fold[0])


def predict_all(voters, view, seen):
    """Return the predictions of the voters for samples that have their view: (n_seen, n_voters).

    view (n, n_features); seen (n,).
    """
    rows = view if seen.all() else view[np.flatnonzero(seen)]
    first, *others = voters
    if all(isinstance(voter, BaseDecisionTree) for voter in voters):
        rows = rows.astype(np.float32)  # trees compare in single precision: convert once, not each
        others = [partial(voter.predict, check_input=False) for voter in others]  # the first checks
    else:
        others = [voter.predict for voter in others]
    return np.column_stack([first.predict(rows), *(predict(rows) for predict in others)])


def cast_votes(voters, view, seen):
    """Return the table of the votes of one view's voters, which predict -1 or +1.

    view (n, n_features); seen (n,) -> votes (n, n_voters).

    >>> from sklearn.tree import DecisionTreeClassifier
    >>> view = np.array([[0.0], [1.0], [np.nan]])
    >>> stump = DecisionTreeClassifier().fit(view[:2], [-1, 1])
    >>> cast_votes([stump], view, np.array([True, True, False])).ravel()
    array([-1.,  1.,  0.])
    """
    votes = np.zeros((len(seen), len(voters)))
    if seen.any():
        votes[seen] = predict_all(voters, view, seen)
    return votes


def count_votes(labels, weights, n_classes):
    """Return the weight of the votes for every class.

    labels (n, n_voters): class that each voter predicts, 0 to n_classes - 1; weights (n_voters,) ->
    votes (n, n_classes).

    >>> count_votes(np.array([[0, 2, 2]]), np.ones(3), 3)
    array([[1., 0., 2.]])
    """
    return np.column_stack([(labels == k) @ weights for k in range(n_classes)])


def class_scores(classifier, rows, n_classes):
    """Return a score per class: the largest is the class that the classifier predicts.

    classifier: fitted, with some of the classes 0 to n_classes - 1; rows (n, n_features) -> scores
    (n, n_classes): its own decision function, else its probabilities, else 1 for the class that it
    predicts. With two classes the second score minus the first is the decision function. A class
    that it was not trained on scores less than all others.

    >>> import numpy as np
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from mvref.core.voters import class_scores
    >>> tree = DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 2])
    >>> class_scores(tree, np.array([[1.0]]), 3).argmax(axis=1)
    array([2])
    """
    known = classifier.classes_
    if hasattr(classifier, "decision_function"):
        own = classifier.decision_function(rows)
        own = np.column_stack([np.zeros(len(own)), own]) if own.ndim == 1 else own
    elif hasattr(classifier, "predict_proba"):
        own = classifier.predict_proba(rows)
    else:
        own = (classifier.predict(rows)[:, None] == known).astype(float)
    if len(known) == n_classes:
        return own
    scores = np.repeat(own.min(axis=1, keepdims=True) - 1.0, n_classes, axis=1)
    scores[:, known] = own
    return scores


def probabilities_of(classifier, rows, n_classes):
    """Return the probabilities (n, n_classes) of a classifier, 0 for classes that it lacks.

    >>> from sklearn.naive_bayes import GaussianNB
    >>> probabilities_of(GaussianNB().fit([[0.0], [9.0]], [0, 2]), [[9.0]], 3)
    array([[0., 0., 1.]])
    """
    said = np.zeros((np.shape(rows)[0], n_classes))
    said[:, classifier.classes_] = classifier.predict_proba(rows)
    return said


def difference_if_two(scores):
    """Return scores (n, n_classes) in scikit-learn's shape: of two, the second minus the first."""
    return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores


def last_step(estimator):
    """Return the last step of a pipeline, and the prefix of the names of its parameters."""
    prefix = ""
    while isinstance(estimator, Pipeline):
        step, estimator = estimator.steps[-1]
        prefix += f"{step}__"
    return estimator, prefix


def fit_weighted(estimator, X, y, weights, **given):
    """Fit an estimator or a pipeline that ends in one, with weights unless they are None."""
    if weights is None and not given:
        return estimator.fit(X, y)
    last, prefix = last_step(estimator)
    if weights is not None:
        if not has_fit_parameter(last, "sample_weight"):
            raise ValueError("sample_weight was given, but its fit does not take sample_weight.")
        given["sample_weight"] = weights
    # by the name of the step, whether or not the user has enabled routing
    with config_context(enable_metadata_routing=False):
        return estimator.fit(X, y, **{f"{prefix}{name}": told for name, told in given.items()})


def fit_in_groups(estimator, X, y, weights, groups):
    """Fit an estimator with weights and, if it splits samples itself, with groups, unless None."""
    last = last_step(estimator)[0]
    searches = isinstance(last, BaseSearchCV) and hasattr(last.cv, "get_n_splits")
    if groups is None or not (searches or has_fit_parameter(last, "groups")):
        return fit_weighted(estimator, X, y, weights)
    return fit_weighted(estimator, X, y, weights, groups=groups)


def part_of(values, rows):
    """Return the weights or groups of some samples, or None where there are none."""
    return None if values is None else values[rows]
