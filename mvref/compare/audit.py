"""A look at the data before, and at the scores after: what would make an answer worth nothing."""

import numpy as np
from scipy import sparse, stats

from ..core.input import is_encoded, shown

SUSPECT = 0.01  # level, for all views together, of the test whether gaps tell the outcome
NEARLY = 0.99  # share of the samples with the same row from which a view is nearly constant
DISAGREE = 0.1  # share of the samples on which two methods usually give different labels
SATURATED = 0.999
MANY = 20  # whole numbers of so many values may be an outcome


def look_first(question):
    """Sentences on what is odd in the data, before anything is computed."""
    X = question.X
    notes = [*_few_samples(question), *_ids_and_groups(question)]
    for name, view, seen in zip(X.names, X.views, X.observed.T, strict=True):
        if is_encoded(view) and _most_common(view[np.flatnonzero(seen)]) >= NEARLY:
            notes.append(f"View {name!r} is the same for nearly all samples.")
    for a, b in _equal_views(X):
        notes.append(f"The views {a!r} and {b!r} are the same.")
    for name, p in gaps_that_tell(question).items():
        notes.append(
            f"Who has view {name!r} depends on the outcome (p = {p:.1g}): a method may learn who "
            "was measured, and not what. See the row 'gaps only', and the comparison of those who "
            "have every view."
        )
    return notes


def _few_samples(question):
    n = len(question.y) if question.groups is None else len(np.unique(question.groups))
    what = "samples" if question.groups is None else "groups"
    seen = (stats.norm.ppf(0.975) + stats.norm.ppf(0.8)) * np.sqrt(DISAGREE / n)
    if question.K is not None and seen > 0.1:
        yield (
            f"{n} {what} are few: between methods that disagree on one sample in ten they show a "
            f"difference in accuracy only from about {seen:.2f}."
        )
    if question.K is not None and question.K > MANY and question.y.dtype.kind in "iu":
        yield (
            f"y has {question.K} different whole numbers, taken as classes; if they are an "
            "outcome: scoring='r2'."
        )


def _ids_and_groups(question):
    X, groups = question.X, question.groups
    ids = X.index
    if groups is None and ids is not None and ids.has_duplicates:
        yield (
            f"{ids.duplicated().sum()} ids occur more than once: if these are samples of the same "
            "people, groups=ids keeps them on one side of a split."
        )
    if groups is None or question.K is None:
        return
    for k, label in enumerate(question.classes.tolist()):
        own = groups[question.codes == k]
        if len(np.unique(own)) < min(5, len(own)):
            yield f"Class {label!r} comes from {len(np.unique(own))} groups only."


def _most_common(rows):
    """Share of the most common row among some rows."""
    if sparse.issparse(rows):
        return 1.0 - np.count_nonzero(np.diff(rows.tocsr().indptr)) / rows.shape[0]
    rows = np.ascontiguousarray(rows).view(f"V{rows.dtype.itemsize * rows.shape[1]}").ravel()
    return np.unique(rows, return_counts=True)[1].max() / len(rows) if len(rows) > 1 else 0.0


def _equal_views(X):
    """Pairs of names of views with the same columns, in whatever order."""
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
    """Name of a view whose gaps depend on the outcome -> p, corrected for all views with gaps."""
    X, groups = question.X, question.groups
    rows = np.arange(len(question.y))
    if groups is not None:  # one sample of each group: those of a group are not independent
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
    """Sentences on scores that say that something is wrong with the question.

    scores: name -> mean score; ahead: of those that know nothing, or the gaps only -> the lower end
    of the interval of what the best plain candidate is ahead of them.
    """
    if ahead["nothing"] <= 0:
        return [
            "No candidate is clearly better than one that learns nothing (score "
            f"{scores['nothing']:.3f}): these data tell nothing of the outcome yet."
        ]
    if ahead.get("gaps only", 1.0) <= 0:
        return [
            "No candidate is clearly better than one that knows which views are there, and nothing "
            f"else (score {scores['gaps only']:.3f})."
        ]
    if question.K is None or scores.max() < SATURATED:
        return []
    leaks = shown(columns_that_tell(question), 3)
    told = f", and one column alone tells the class: {leaks}. Is it written there?"
    return [f"The best candidates make no mistake{told if leaks != '[]' else '.'}"]


def columns_that_tell(question):
    """Names of the columns in which the classes have ranges that do not meet."""
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
