"""scikit-learn's decision trees: cut to fewer levels, and grown again with other weights."""

from copy import copy

import numpy as np
from sklearn.tree import DecisionTreeClassifier

CHILDREN = ["left_child", "right_child"]
OF_SAMPLES = ("impurity", "n_node_samples", "weighted_n_node_samples")  # fields of inner nodes, too
LEAF = -1  # where a leaf points
APART = np.float32(1e-7)  # values that are no further apart are one, as in scikit-learn
TIED = 1e-11  # relative difference of equal splits, or classes
LIGHTEST = 1e-9  # weight, relative to the heaviest, that sums still resolve
CELLS = 2**14  # that are looked at together
MOST_CELLS = 2**22  # of a table whose columns are kept in their orders


def cut(grown, depth):
    """Return a copy of a fitted tree classifier without the levels below `depth`.

    It is put together from what a pickle of the tree holds, whose fields have names.

    >>> from sklearn.tree import DecisionTreeClassifier
    >>> x = np.arange(6.0)[:, None]
    >>> stump = cut(DecisionTreeClassifier().fit(x, [0, 0, 1, 1, 0, 1]), 1)
    >>> stump.get_depth(), stump.predict(x)
    (1, array([0, 0, 1, 1, 1, 1]))
    """
    make, arguments, state = grown.tree_.__reduce__()
    old, level, levels = state["nodes"], np.array([0]), []
    while len(level) and len(levels) <= depth:
        levels.append(level)
        level = np.concatenate([old[side][level] for side in CHILDREN])
        level = level[level != LEAF]
    kept = np.sort(np.concatenate(levels))
    place, nodes = np.full(len(old) + 1, LEAF), old[kept]  # the last: where a leaf points
    place[kept] = np.arange(len(kept))
    for side in CHILDREN:
        nodes[side] = place[nodes[side]]
    bare, leaf = nodes["left_child"] == LEAF, old[old["left_child"] == LEAF][0]
    for name in set(old.dtype.names).difference(OF_SAMPLES):
        nodes[name][bare] = leaf[name]
    shallow = copy(grown).set_params(max_depth=depth)
    shallow.tree_ = make(*arguments)
    changed = {"max_depth": len(levels) - 1, "node_count": len(nodes), "nodes": nodes}
    shallow.tree_.__setstate__(state | changed | {"values": state["values"][kept]})
    return shallow


class Tied(Exception):
    """Splits or classes are equally good."""


class Regrown:
    """Trees of few levels for one table, other labels and weights each time; columns sorted once.

    They are those of scikit-learn; where splits or classes are equally good, so that its coin or
    rounding decides, there is none. rows (n, p), float32 and finite.

    >>> x = np.array([[0.0], [1.0], [2.0], [3.0]], dtype=np.float32)
    >>> grown = DecisionTreeClassifier(max_depth=1).fit(x, [0, 0, 1, 1])
    >>> tree, said = Regrown(x).fit(grown, np.array([0, 1, 1, 1]), np.array([1.0, 2.0, 1.0, 1.0]))
    >>> float(tree.tree_.threshold[0]), said
    (0.5, array([0, 1, 1, 1]))
    """

    def __init__(self, rows):
        self.columns = np.ascontiguousarray(rows.T)
        self.order = np.argsort(self.columns, axis=1, kind="stable")

    @staticmethod
    def suits(learner, rows):
        """Whether the trees of `learner` on some rows are of the kind that is grown here."""
        plain = DecisionTreeClassifier().get_params()
        return (
            type(learner) is DecisionTreeClassifier
            and learner.max_depth is not None
            and isinstance(rows, np.ndarray)
            and rows.size <= MOST_CELLS
            and bool(np.isfinite(rows).all())
            and all(
                value == plain[name] or name in ("max_depth", "random_state")
                for name, value in learner.get_params().items()
            )
        )

    def fit(self, grown, y, weights):
        """Return a tree with the classes of a fitted one, and what it says of all rows, or None."""
        classes, codes = np.unique(y, return_inverse=True)
        if weights.min() <= LIGHTEST * weights.max() or not np.array_equal(classes, grown.classes_):
            return None
        mass = np.where(codes == np.arange(len(classes))[:, None], weights, 0.0)
        nodes, said = [], np.empty(len(y), dtype=int)
        try:
            self._grow(self.order, mass, grown.max_depth, nodes, said)
        except Tied:
            return None
        make, arguments, state = grown.tree_.__reduce__()
        table = np.zeros(len(nodes), dtype=state["nodes"].dtype)
        for name in table.dtype.names:
            table[name] = [node[name] for node in nodes]
        depth = grown.max_depth - min(node["below"] for node in nodes)
        state |= {"max_depth": depth, "node_count": len(nodes), "nodes": table}
        tree = copy(grown)
        tree.tree_ = make(*arguments)
        tree.tree_.__setstate__(state | {"values": np.array([[node["values"]] for node in nodes])})
        return tree, classes[said]

    def _grow(self, order, mass, below, nodes, said):
        """Append a node and all below it; order (p, k): its rows, in the order of each column."""
        rows = order[0]
        total = mass[:, rows].sum(axis=1)
        shares = total / total.sum()
        node = {
            "left_child": LEAF, "right_child": LEAF, "feature": -2, "threshold": -2.0,
            "impurity": 1.0 - shares @ shares, "n_node_samples": len(rows), "values": shares,
            "weighted_n_node_samples": total.sum(), "missing_go_to_left": 0, "below": below,
        }  # fmt: skip
        nodes.append(node)
        split = self._split(order, mass, total) if below and shares.max() < 1 else None
        if split is None:
            said[rows] = shares.argmax()
            if np.count_nonzero(shares >= shares.max() - TIED) > 1:
                raise Tied
            return
        node["feature"], node["threshold"] = split
        left = self.columns[split[0]] <= split[1]
        node["missing_go_to_left"] = 2 * left[rows].sum() > len(rows)
        for side, goes in zip(CHILDREN, (left, ~left), strict=True):
            node[side] = len(nodes)
            there = order if below > 1 else order[:1]  # a leaf asks for no order
            there = there.ravel()[np.flatnonzero(goes[there])].reshape(len(there), -1)
            self._grow(there, mass, below - 1, nodes, said)

    def _split(self, order, mass, total):
        """Return the best column and its threshold, or None where all values are equal."""
        size, found = max(1, CELLS // order.shape[1]), []
        for start in range(0, len(order), size):  # so that all stays in the cache
            part = order[start : start + size]
            gain = self._gains(start, part, mass, total)
            best = gain.max(initial=-np.inf)
            if best > -np.inf:
                found += [(best, start, place) for place in np.argwhere(gain >= best * (1 - TIED))]
        if not found:
            return None
        best, start, (column, place) = max(found, key=lambda one: one[0])
        if sum(gain >= best * (1 - TIED) for gain, _, _ in found) > 1:
            raise Tied
        column += start
        low, high = self.columns[column, order[column, place : place + 2]].astype(float)
        threshold = low / 2 + high / 2
        return column, low if threshold == high else threshold

    def _gains(self, start, order, mass, total):
        """Gini's gain but for a constant, of every place in columns from `start`."""
        left, squares, right_squares = np.zeros((3, len(order), order.shape[1] - 1))
        for of_class, whole in zip(mass, total, strict=True):
            side = np.cumsum(of_class[order], axis=1)[:, :-1]
            left += side
            squares += side * side
            side -= whole
            right_squares += side * side
        gain = squares / left + right_squares / (total.sum() - left)
        values = np.take_along_axis(self.columns[start : start + len(order)], order, axis=1)
        gain[values[:, 1:] <= values[:, :-1] + APART] = -np.inf
        return gain
