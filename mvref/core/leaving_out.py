"""Predictions of a fitted model for samples from which views, or groups of columns, are removed.

Removed columns are replaced by those of another row: missing values, or a training sample. So a
question is a sample, the players that it keeps, and the number of the other row.
"""

from functools import wraps

import numpy as np
from scipy import sparse
from sklearn.utils import get_tags

from .input import (
    BaseEstimator,
    Mapping,
    MultiView,
    all_nan_rows,
    as_multiview,
    is_collection_of_views,
    is_encoded,
    rows_of,
    view_columns,
    with_nan_rows,
)
from .per_view import as_table

REST = "other columns"
RESPONSES = ("decision_function", "predict_proba", "predict")
AT_ONCE = 5_000_000  # values that a model gets in one call


class Tables:
    """Samples, training samples and a row of missing values, stacked; the columns of each player.

    ``has`` (N, G) shows which of the G players a row has; a player is a mapping from the position
    of a view to columns in it, None for all.
    """

    def __init__(self, estimator, X, background, views, groups):
        self.is_flat = not is_collection_of_views(X)
        own = as_multiview(X)
        other = own if background is None else as_multiview(background)
        if not len(own) or not len(other):
            raise ValueError(f"X and background must have samples, got {len(own)}, {len(other)}.")
        if (own.names, own.widths) != (other.names, other.widths):
            raise ValueError(f"background must have the views of X, got {other!r} for {own!r}.")
        self.n_samples, self.gap = len(own), len(own) + len(other)
        self._form = {"names": own.names, "feature_names": own.feature_names}
        pairs = zip(own.views, other.views, strict=True)
        self._views = [_with_gap(_one_kind(pair, sparse.vstack, np.vstack, 0)) for pair in pairs]
        if self.is_flat and groups is None:
            groups = _cut_of(estimator, views, own)
        self.players = _players(own, groups, self.is_flat)
        self.names, self.n_columns = list(self.players), own.shape[1]
        gaps = [
            [all_nan_rows(self._part(v, columns)) for v, columns in player.items()]
            for player in self.players.values()
        ]
        self.has = np.column_stack([~np.all(player, axis=0) for player in gaps])
        empty = np.flatnonzero(~self.has[: self.n_samples].any(axis=1))
        if len(empty):
            raise ValueError(f"{len(empty)} samples of X have no view, the first is {empty[0]}.")

    def _part(self, v, columns, rows=None):
        view = self._views[v] if rows is None else _rows(self._views[v], rows)
        return view if columns is None else getattr(view, "iloc", view)[:, columns]

    def patterns(self):
        """Return pairs (samples, training rows that have all players of these samples)."""
        has = self.has[: self.n_samples]
        kinds, kind = np.unique(has, axis=0, return_inverse=True)
        pairs = []
        for k, seen in enumerate(kinds):
            rows = np.flatnonzero(kind.reshape(-1) == k)
            behind = np.flatnonzero(self.has[self.n_samples : self.gap][:, seen].all(axis=1))
            if not len(behind):
                held = [name for name, there in zip(self.names, seen, strict=True) if there]
                raise ValueError(
                    f"background has no sample with all views {held} of sample {rows[0]} of X. "
                    "Add such training samples, or leave the sample out."
                )
            pairs.append((rows, self.n_samples + behind))
        return pairs

    def written(self, rows, others, kept):
        """Return samples `rows` (m,); players not `kept` (m, G) come from rows `others` (m,)."""
        sources = np.where(kept.T | ~self.has[rows].T, rows, others)  # missing stays missing
        views = []
        for v in range(len(self._views)):
            mine = [(g, p[v]) for g, p in enumerate(self.players.values()) if v in p]
            pieces = [self._part(v, columns, sources[g]) for g, columns in mine]
            if mine[0][1] is not None:
                order = np.argsort(np.concatenate([columns for _, columns in mine]))
                view = _one_kind(pieces, sparse.hstack, np.hstack, 1)
                pieces = [getattr(view, "iloc", view)[:, order]]
            views.append(pieces[0])
        X = MultiView(views, **self._form)
        return as_table(X, 0, None) if self.is_flat else X


class Model(BaseEstimator):
    """A fitted model, applied to samples from which players are removed.

    rows (m,), others (m,), kept (m, G): the questions: samples, training rows, the players that the
    samples keep. With `replaces` the training row replaces removed players; else they are missing,
    and the training row is used if none is left. To a scorer, the samples are positions in this
    list.
    """

    def __init__(self, estimator, tables, replaces, rows, others, kept):
        there = kept & tables.has[rows]
        if not replaces:
            others = np.where(there.any(axis=1), tables.gap, others)
        self.estimator, self.tables, self.questions = estimator, tables, (rows, others, kept)
        self._answers = {}

    def __sklearn_tags__(self):
        return get_tags(self.estimator)

    def __getattr__(self, name):
        if name == "estimator":  # not yet there
            raise AttributeError(name)
        own = getattr(self.estimator, name)
        if name not in RESPONSES:
            return own

        @wraps(own)  # scorers read its name
        def answer(places):
            return self.answers(name, places)

        return answer

    def answers(self, method, places=slice(None)):
        """Return the output (m, ...) of one of the model's methods."""
        if method not in self._answers:
            step = max(500, AT_ONCE // self.tables.n_columns)
            answer, said = getattr(self.estimator, method), []
            for start in range(0, len(self.questions[0]), step):
                some = (values[start : start + step] for values in self.questions)
                said.append(np.asarray(answer(self.tables.written(*some))))
            self._answers[method] = np.concatenate(said)
        return self._answers[method][places]


def _rows(view, rows):
    """Return rows of a view, renumbered if they have an index."""
    part = rows_of(view, rows)
    return part if is_encoded(part) else part.reset_index(drop=True)


def _one_kind(parts, of_sparse, of_dense, axis):
    """Concatenate tables: frames and texts, sparse matrices, or arrays."""
    if any(not is_encoded(part) for part in parts):
        from pandas import DataFrame, concat

        parts = [DataFrame(p) if isinstance(p, np.ndarray) else p for p in parts]
        return concat(parts, axis=axis, ignore_index=axis == 0)
    if any(map(sparse.issparse, parts)):
        return of_sparse(parts, format="csr")
    return of_dense(parts)


def _with_gap(view):
    """Return a view with one more row, of missing values."""
    longer = _rows(view, np.append(np.arange(view.shape[0]), 0))
    return with_nan_rows(longer, [view.shape[0]])


def _cut_of(estimator, views, X):
    """Return the columns of every view of a flat table."""
    views = getattr(estimator, "views", None) if views is None else views
    if views is None:
        raise ValueError(
            "views is missing: say how a 2-D X is split (widths, slices, indices or column names), "
            "or pass X as a MultiView or a list of views."
        )
    names = list(views) if isinstance(views, Mapping) else [f"view_{v}" for v in range(len(views))]
    cut = view_columns(views, X.shape[1], X.feature_names[0])
    return dict(zip(names, cut, strict=True))


def _players(X, groups, is_flat):
    """Return the columns of each player by view; columns in no group form one more player."""
    ends = np.cumsum([0, *X.widths])
    whole = {} if is_flat else {n: range(*ends[v : v + 2]) for v, n in enumerate(X.names)}
    groups = whole if groups is None else groups
    if not isinstance(groups, Mapping) or not groups:
        raise ValueError(f"groups must be a mapping from names to columns, got {groups!r}.")
    position = {}
    for v, (name, columns) in enumerate(zip(X.names, X.feature_names, strict=True)):
        columns = [f"x{j}" for j in range(X.widths[v])] if columns is None else columns
        for j, column in enumerate(columns, ends[v]):
            position[column if is_flat else f"{name}__{column}"] = j
    owner = np.full(ends[-1], REST, dtype=object)
    for name, wanted in groups.items():
        for one in [wanted] if isinstance(wanted, str) else wanted:
            columns = whole.get(one, [position.get(one, one)])
            if not all(isinstance(j, int | np.integer) and 0 <= j < ends[-1] for j in columns):
                raise ValueError(
                    f"groups[{name!r}] contains {one!r}, which is not a view, not a column such as "
                    f"{next(iter(position))!r}, and not a position below {ends[-1]}."
                )
            if any(owner[list(columns)] != REST):
                raise ValueError(f"groups[{name!r}] has {one!r}, which is already in a group.")
            owner[list(columns)] = name
        if name not in owner:
            raise ValueError(f"groups[{name!r}] has no columns.")
    players = {}
    for name in [*groups, *([REST] if REST in owner else [])]:
        found = {v: np.flatnonzero(owner[ends[v] : ends[v + 1]] == name) for v in range(X.n_views)}
        players[name] = {
            v: None if len(columns) == X.widths[v] else columns
            for v, columns in found.items()
            if len(columns)
        }
    return players
