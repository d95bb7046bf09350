"""Checks of the data before a comparison, and of the scores after it."""

import numpy as np
from scipy import sparse, stats

from ..core.input import is_encoded, shown

SUSPECT = 0.01  # family-wise level of the tests whether missingness depends on the outcome
NEARLY = 0.99  # fraction of equal rows from which a view is nearly constant
DISAGREE = 0.1  # fraction of the samples on which two methods usually give different labels
SATURATED = 0.999
MANY = 20  # integers with more values than this may be a continuous outcome


def look_first(question):
    """Return notes on unusual properties of the data, before anything is computed."""
    X = question.X
    notes = [*_few_samples(question), *_ids_and_groups(question)]
    for name, view, seen in zip(X.names, X.views, X.observed.T, strict=True):
        if is_encoded(view) and _most_common(view[np.flatnonzero(seen)]) >= NEARLY:
            notes.append(f"View {name!r} has the same values for nearly all samples.")
    for a, b in _equal_views(X):
        notes.append(f"The views {a!r} and {b!r} have the same features.")
    for name, p in gaps_that_tell(question).items():
        notes.append(
            f"Whether view {name!r} is missing depends on the outcome (p = {p:.1g}), so a method "
            "may learn from the missingness in place of the values. See the row 'gaps only', and "
            "the comparison on the samples that have every view."
        )
    return notes


def _few_samples(question):
    n = len(question.y) if question.groups is None else len(np.unique(question.groups))
    what = "samples" if question.groups is None else "groups"
    seen = (stats.norm.ppf(0.975) + stats.norm.ppf(0.8)) * np.sqrt(DISAGREE / n)
    if question.K is not None and seen > 0.1:
        yield (
            f"There are only {n} {what}: between methods that disagree on one sample in ten, only "
            f"differences in accuracy of about {seen:.2f} or more can be detected."
        )
    if question.K is not None and question.K > MANY and question.y.dtype.kind in "iu":
        yield (
            f"y has {question.K} different integers, which are treated as classes. If they are a "
            "continuous outcome, use scoring='r2'."
        )


def _ids_and_groups(question):
    X, groups = question.X, question.groups
    ids = X.index
    if groups is None and ids is not None and ids.has_duplicates:
        yield (
            f"{ids.duplicated().sum()} sample ids are repeated. If these samples belong together, "
            "as visits of a patient do, keep them in the same fold with groups=ids."
        )
    if groups is None or question.K is None:
        return
    for k, label in enumerate(question.classes.tolist()):
        own = groups[question.codes == k]
        if len(np.unique(own)) < min(5, len(own)):
            yield f"Class {label!r} occurs in only {len(np.unique(own))} group(s)."


def _most_common(rows):
    """Return the fraction of the rows that equal the most common row."""
    if sparse.issparse(rows):
        return 1.0 - np.count_nonzero(np.diff(rows.tocsr().indptr)) / rows.shape[0]
    rows = np.ascontiguousarray(rows).view(f"V{rows.dtype.itemsize * rows.shape[1]}").ravel()
    return np.unique(rows, return_counts=True)[1].max() / len(rows) if len(rows) > 1 else 0.0


def _equal_views(X):
    """Yield pairs of names of views with the same columns, in any order."""
    known = {}
    for name, view in zip(X.names, X.views, strict=True):
        if not is_encoded(view):
            continue
        columns = view.tocsc() if sparse.issparse(view) else view.T
        key = tuple(sorted(np.sort(_column_hashes(columns, sparse.issparse(view)))))
        if key in known:
            yield known[key], name
        known.setdefault(key, name)


def _column_hashes(columns, is_sparse):
    if is_sparse:
        ends = zip(columns.indptr[:-1], columns.indptr[1:], strict=True)
        return [
            hash((columns.indices[a:b].tobytes(), columns.data[a:b].tobytes())) for a, b in ends
        ]
    return [hash(np.ascontiguousarray(column).tobytes()) for column in columns]


def gaps_that_tell(question):
    """Return a dict: view whose missingness depends on the outcome -> Bonferroni-corrected p."""
    X, groups = question.X, question.groups
    rows = np.arange(len(question.y))
    if groups is not None:  # one sample per group: samples of a group are not independent
        rows = np.unique(groups, return_index=True)[1]
    y, found = question.codes[rows], {}
    for name, seen in zip(X.names, X.observed[rows].T, strict=True):
        if seen.all() or not seen.any():
            continue
        if question.K is None:
            p = stats.mannwhitneyu(y[seen], y[~seen]).pvalue
        else:
            table = np.array([np.bincount(y[s], minlength=question.K) for s in (seen, ~seen)])
            table = table[:, table.any(axis=0)]
            exact = table.shape == (2, 2)
            p = (stats.fisher_exact if exact else stats.chi2_contingency)(table)[1]
        found[name] = p
    return {name: p * len(found) for name, p in found.items() if p * len(found) < SUSPECT}


def look_last(question, scores, ahead):
    """Return notes on scores that point to a problem with the data.

    scores: name -> mean score; ahead: "nothing" or "gaps only" -> the lower confidence limit of the
    difference, baseline minus this candidate.
    """
    if ahead["nothing"] <= 0:
        return [
            "No method is clearly better than a constant prediction (score "
            f"{scores['nothing']:.3f}), so nothing was learnt from these data."
        ]
    if ahead.get("gaps only", 1.0) <= 0:
        return [
            "No method is clearly better than a model that only knows which views are observed "
            f"(score {scores['gaps only']:.3f})."
        ]
    if question.K is None or scores.max() < SATURATED:
        return []
    leaks = shown(columns_that_tell(question), 3)
    told = f", and single features determine the class: {leaks}. Check for label leakage."
    return [f"The best methods make no errors{told if leaks != '[]' else '.'}"]


def columns_that_tell(question):
    """Yield the names of the features in which the ranges of the classes do not overlap."""
    X = question.X
    for name, view, columns in zip(X.names, X.views, X.feature_names, strict=True):
        if not is_encoded(view):
            continue
        table = view.toarray() if sparse.issparse(view) else view
        with np.errstate(invalid="ignore"):
            parts = [table[question.codes == k] for k in range(question.K)]
            low = np.array([np.nanmin(part, axis=0, initial=np.inf) for part in parts])
            high = np.array([np.nanmax(part, axis=0, initial=-np.inf) for part in parts])
        order = np.argsort(low, axis=0)
        low, high = np.take_along_axis(low, order, 0), np.take_along_axis(high, order, 0)
        for j in np.flatnonzero((high[:-1] < low[1:]).all(axis=0)):
            yield f"{name}__{columns[j] if columns else f'x{j}'}"
