"""Groups of views: which views a model multiplies, and which groups share their parameters."""

from typing import NamedTuple

import numpy as np


class Structure(NamedTuple):
    """Blocks of parameters, and the terms that multiply them."""

    views: list  # the view of every block
    terms: list  # the blocks of every term, in the order of the views


def group_structure(groups, X, shared):
    """Return the structure of groups of views.

    groups: positions or names of the views of every group; None: one group of all views; shared: a
    view has one block for all its groups, not one block per group.

    >>> from mvref import MultiView
    >>> X = MultiView({"user": np.eye(2), "ad": np.eye(2), "query": np.eye(2)})
    >>> group_structure([["user", "ad"], ["ad", "query"]], X, shared=True)
    Structure(views=[0, 1, 2], terms=[[0, 1], [1, 2]])
    >>> group_structure([["user", "ad"], ["ad", "query"]], X, shared=False)
    Structure(views=[0, 1, 1, 2], terms=[[0, 1], [2, 3]])
    """
    if groups is None:
        return Structure(list(range(X.n_views)), [list(range(X.n_views))])
    if isinstance(groups, str) or not isinstance(groups, list | tuple) or not groups:
        raise ValueError(f"groups must be None or a list of lists of views, got {groups!r}.")
    members = [_members(group, X) for group in groups]
    if len({tuple(group) for group in members}) < len(members):
        raise ValueError(f"groups contains the same group twice: {groups!r}.")
    left_out = [name for v, name in enumerate(X.names) if not any(v in group for group in members)]
    if left_out:
        raise ValueError(
            f"groups must cover all views, but {groups!r} leaves out {left_out}. Remove unwanted "
            "views with X.select([...])."
        )
    if shared:
        return Structure(list(range(X.n_views)), members)
    ends = np.cumsum([len(group) for group in members])
    terms = [list(range(end - len(g), end)) for end, g in zip(ends.tolist(), members, strict=True)]
    return Structure([v for group in members for v in group], terms)


def _members(group, X):
    """Return the sorted positions of the views of one group."""
    if isinstance(group, str) or not isinstance(group, list | tuple) or not group:
        raise ValueError(f"groups must hold lists of at least one view each, got {group!r}.")
    try:
        names = [X.select(view).names[0] for view in group]
    except ValueError as error:
        raise ValueError(f"groups has the group {group!r}: {error}") from None
    if len(set(names)) < len(names):
        raise ValueError(f"groups has the group {group!r}, in which a view is repeated.")
    return sorted(X.names.index(name) for name in names)
