"""Sample ids, by which tables, labels, weights and groups are matched.

Ids are the index of a data frame or series, or the ``obs_names`` of an AnnData. Input without ids,
such as an array, is matched by position, and so is a default range beside other ids.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from itertools import chain
from unicodedata import normalize

import numpy as np

from .checks import warn_caller
from .tables import is_gap

AS_IT_IS = "; if they are in the order of X all the same, hand over {name}.to_numpy()."
MENDS = {  # messages about ids that differ from the ids of X
    "order": "the ids of X in another order: {name} = {name}.loc[X.index].",
    "more": "more ids than X: {name} = {name}.loc[X.index].",
    "fewer": "not all ids of X, {lost!r} is missing: X = X[X.index.isin({name}.index)], and then "
    "{name} = {name}.loc[X.index].",
    "twice": "other ids than X, or another order, and {twice!r} more than once, so they cannot "
    "be joined" + AS_IT_IS,
    "type": "ids of another type than X, such as {given!r} and {own!r}: make texts of both by "
    ".index.astype(str), and then {name} = {name}.loc[X.index].",
    "other": "other ids than X, such as {given!r} and {own!r}" + AS_IT_IS,
}
OF_VIEWS = {
    "order": "in another order the ids of",
    "more": "more ids than",
    "fewer": "not all ids of",
    "twice": "some ids more than once, as against",
    "type": "ids of another type, {given!r} and {own!r}, so frame.index.astype(str) first, than",
    "other": "none of the ids of",
}
ONE_TABLE = "one table"  # whose rows in a fold do not show their position in it
BY_POSITION = (
    "either its index or that of X is a range without names, the other is not. Give both the same "
    "ids, or none."
)


def index_of(values):
    """Return the ids of a table, a series or an AnnData as a pandas Index, or None."""
    if hasattr(values, "obs_names"):
        return values.obs_names
    return values.index if hasattr(values, "iloc") else None


def cleaned(ids):
    """Return ids (series or Index) without blanks around texts, in the Unicode form NFC."""
    return ids.map(_clean)


def _clean(key):
    if isinstance(key, tuple):
        return tuple(map(_clean, key))
    return normalize("NFC", key.strip()) if isinstance(key, str) else key


def warn_of_spellings(ids):
    """Warn of ids that differ only by leading zeros, blanks, case or Unicode form."""
    alike = defaultdict(dict)
    for key in ids:
        if isinstance(key, str | tuple):
            reading = re.sub(r"(?<![\d.])0+(?=\d)", "", normalize("NFKC", str(key)).casefold())
            alike[re.sub(r"(?<!\d)\s+|\s+(?!\d)", "", reading)][key] = True
    same = [" and ".join(map(repr, keys)) for keys in alike.values() if len(keys) > 1]
    if same:
        more = f"; and {len(same) - 5} more" if len(same) > 5 else ""
        warn_caller(
            "ids that differ by zeros in front, blanks, case or Unicode form only: "
            f"{'; '.join(same[:5])}{more}. Where they are one sample, write them in one way.",
            UserWarning,
        )


def samples_of(X):
    """Return the positions of the samples of any input as a series indexed by ids, or None."""
    if hasattr(X, "_samples"):
        return X._samples
    views = X.values() if isinstance(X, Mapping) else X if isinstance(X, list | tuple) else [X]
    found = [index for index in map(index_of, views) if index is not None]
    if not found:
        return None
    named = [index for index in found if not is_default(index)]  # texts may have a range
    return numbered((named or found)[0], ONE_TABLE if hasattr(X, "iloc") else None)


def numbered(index, name=None):
    """Return a series of positions that is indexed by ids."""
    from pandas import Series

    return Series(np.arange(len(index)), index=index, name=name)


def is_default(index):
    """Return whether an index is the default range."""
    return type(index).__name__ == "RangeIndex" and index.equals(type(index)(len(index)))


def same_ids(first, second):
    """Return whether two indices are equal, whatever their types."""
    plain = [index.to_flat_index().astype(object) for index in (first, second)]
    return plain[0].equals(plain[1])


def relation(own, given):
    """Return how the ids `given` differ from the ids `own`, as a key of MENDS."""
    own, given = (index.to_flat_index().astype(object) for index in (own, given))
    if own.has_duplicates or given.has_duplicates:
        return "twice"
    known, there = given.isin(own), own.isin(given)
    if there.all():
        return "order" if known.all() else "more"
    if known.any():
        return "fewer"
    return "type" if given.astype(str).isin(own.astype(str)).any() else "other"


def check_views(views, names):
    """Raise a ValueError if views with different ids would be joined by position."""
    first = own = None
    for name, view in zip(names, views, strict=True):
        index = index_of(view)
        if index is None or (getattr(view, "ndim", 2) == 1 and is_default(index)):  # of texts
            continue
        if own is None:
            first, own = name, index
        if not same_ids(own, index):
            told = OF_VIEWS[relation(own, index)]
            told = told.format(given=index[:1].tolist()[0], own=own[:1].tolist()[0])
            raise ValueError(
                f"views are data frames with different indices: {name!r} has {told} {first!r}. "
                "Bring them to the same rows in the same order, with frame.reindex(index) or "
                "MultiView.align(views)."
            )


def check_ids(X, **given):
    """Raise a ValueError if labels, weights or groups have other ids than X, or another order.

    X: samples in any form of input; given: name -> values, one per sample. Where one side has no
    ids, or a default range, they are matched by position.

    >>> import pandas as pd
    >>> X = pd.DataFrame({"a": [1.0, 2.0]}, index=["ann", "bob"])
    >>> check_ids(X, y=pd.Series([0, 1], index=["bob", "ann"]))
    Traceback (most recent call last):
    ...
    ValueError: y has the ids of X in another order: y = y.loc[X.index].
    """
    for name, values in given.items():
        index = index_of(values)
        samples = None if index is None else samples_of(X)
        if samples is not None and not same_ids(samples.index, index):
            _check_differing(samples, index, name)


def _check_differing(samples, given, name):
    """Raise a ValueError for ids that differ from the samples' ids, unless one side has none."""
    own = samples.index
    as_cut = len(own) == len(given) and list(samples) == list(given)  # rows of a default range
    without = as_cut or is_default(given) or list(own) == list(samples)
    how = relation(own, given)
    if without and how != "order":
        return
    ranges = [index.dtype.kind in "iu" for index in (own, given)]
    if samples.name == ONE_TABLE and how in ("other", "twice") and ranges[0] != ranges[1]:
        warn_caller(f"{name} is taken by position: {BY_POSITION}", UserWarning)
        return
    twice = chain(given[given.duplicated()], own[own.duplicated()])
    told = {"own": own[:1].tolist()[0], "given": given[:1].tolist()[0], "twice": next(twice, None)}
    told |= {"lost": next(iter(own.difference(given)), None)}
    told = MENDS[how].format(name=name, **told)
    raise ValueError(f"{name} has {told}")


def ids_of_table(table, name):
    """Return the cleaned ids of a table to join; refuse missing and repeated ones."""
    index = index_of(table)
    if index is None or is_default(index):
        raise ValueError(
            f"view {name!r} has no ids, so it cannot be joined: name the column that holds them, "
            "key='id', or give it an index, frame.set_index('id')."
        )
    index = cleaned(index)
    keys = [key if isinstance(key, tuple) else (key,) for key in index]
    gaps = [i for i, key in enumerate(keys) if any(is_gap(part) or part == "" for part in key)]
    if gaps:
        raise ValueError(
            f"view {name!r} has no id in {len(gaps)} of its rows, the first is row {gaps[0] + 1}: "
            "leave them out, or give each an id."
        )
    if index.has_duplicates:
        twice = index[index.duplicated()][0]
        raise ValueError(
            f"view {name!r} has the id {twice!r} more than once: one row for each sample, for "
            "example frame[~frame.index.duplicated()]."
        )
    return index


def join_ids(tables, how, first=None, verbose=False):
    """Return the ids of some tables, and the ids of the joined samples in order of appearance.

    tables: name -> table; how: "outer", the ids of any table, or "inner", the ids in every one;
    first: ids placed before all others, or None; verbose: print the report.
    """
    indices = {name: ids_of_table(table, name) for name, table in tables.items()}
    others = list(indices.values())
    ids = others[0] if first is None else first
    if how == "outer":
        ids = ids.append(others).drop_duplicates()
    else:
        for index in others:
            ids = ids[ids.isin(index)]
    report = join_report(indices, ids, strict=first is None)
    warn_of_spellings(chain(*others))
    if verbose:
        print("\n".join(report))
    if not len(ids):
        raise ValueError("how='inner' leaves no sample: none is in every view.")
    return indices, ids


def join_report(indices, ids, strict=True):
    """Return lines that report a join; strict: refuse tables that share no key.

    indices: name of a table -> its keys; ids: the samples that were joined.
    """
    wanted, lines = set(ids), []
    for name, index in indices.items():
        found = len(wanted.intersection(index))
        lost = f"; {len(ids) - found} without this view" if found < len(ids) else ""
        lines.append(f"{name}: {len(index)} rows, in {found} of {len(ids)} samples{lost}")
    often = Counter(key for index in indices.values() for key in index)
    alone = [name for name, index in indices.items() if max(often[key] for key in index) == 1]
    if strict and alone and len(indices) > 1:
        examples = {name: index[:3].tolist() for name, index in indices.items()}
        kinds = {isinstance(key, str) for index in indices.values() for key in index[:1]}
        hint = " Make texts of all: frame.index = frame.index.astype(str)." * (len(kinds) > 1)
        raise ValueError(
            f"no key of {alone[0]} is in another table; the keys begin with {examples}: are they "
            f"written in the same way?{hint}"
        )
    return lines
