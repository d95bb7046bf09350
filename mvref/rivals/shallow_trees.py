"""Decision trees of few levels, grown again and again on samples that are sorted once.

A round of boosting has new weights and the same samples. scikit-learn's trees sort every column in
every node of every round, which takes most of a round. Here the columns are sorted once, and the
trees are scikit-learn's: where rounding, or the order in which it draws the columns, would decide
between two splits or between two classes of a leaf, the tree is left to scikit-learn.

Symbols   w (m,) weights of the samples; in a node, W their sum and p_k shares of the classes;
          of a split, W_L and W_R weights on its left and right, c_k = sum_L w_i (1[y_i = k] - p_k).
Split     the Gini impurity of a node falls by sum_k c_k^2 / (W_L W_R): sums of w and of the terms
          of c_k, cumulated in the order of a column, give it for all splits of the column.
"""

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from ..core.trees import LEAF, assemble

DEEPEST, MANY = 3, 1000  # levels; the third pays for more samples: of fewer, many splits tie
NEAR = 1e-10  # falls, and shares of classes, that differ by less are left to scikit-learn
CLOSE = np.float32(1e-7)  # values so close are not split, as in scikit-learn
AT_ONCE = 2**15  # entries of the columns that are searched together, few enough for the cache


class Undecided(Exception):
    """Rounding would decide about a tree."""


def is_shallow(learner, m):
    """Whether :func:`grow` is faster than a fit to m samples: a tree, with nothing else set."""
    if type(learner) is not DecisionTreeClassifier or learner.max_depth is None:
        return False
    plain = DecisionTreeClassifier(max_depth=learner.max_depth, random_state=learner.random_state)
    most = DEEPEST if m > MANY else DEEPEST - 1
    return learner.max_depth <= most and learner.get_params() == plain.get_params()


class SortedRows:
    """Order and values by column, both (d, m), of the rows (m, d) of a view in single precision."""

    def __init__(self, rows):
        self.order = np.argsort(rows.T, axis=1, kind="stable")
        self.values = np.take_along_axis(rows.T, self.order, axis=1)

    def falls(self, columns, inside, terms):
        """Return the falls of impurity by all splits of a node, (d, size - 1), and their columns.

        columns: a slice; inside (m,): samples of the node; terms: see `pairs_of`. Of a column: the
        order of the node's samples, and their values.
        """
        order, values = self.order[columns], self.values[columns]
        if not inside.all():
            kept = np.flatnonzero(inside[order])  # much faster than order[inside[order]]
            order, values = (a.take(kept).reshape(len(a), -1) for a in (order, values))
        first, *others = (term[order].cumsum(axis=1)[:, :-1] for term in terms)
        both, fall = first.real * (terms[0].real @ inside - first.real), np.square(first.imag)
        for pair in others:
            fall += np.square(pair.real) + np.square(pair.imag)
        fall /= np.maximum(both, 1e-14 * both.max(initial=0.0))
        fall[values[:, 1:] <= values[:, :-1] + CLOSE] = -1.0
        return fall, order, values

    def split(self, *node):
        """Return column, threshold and left samples (m,) of a node's best split; None: no split."""
        d, m = self.order.shape
        size = max(1, AT_ONCE // m)
        blocks = [slice(j, j + size) for j in range(0, d, size)]
        best = np.concatenate([self.falls(b, *node)[0].max(axis=1, initial=-1.0) for b in blocks])
        j = best.argmax()
        if best[j] < 0:
            return None
        (fall,), (order,), (values,) = self.falls(slice(j, j + 1), *node)
        p, rival = fall.argmax(), best[j] - NEAR
        if rival < 0 or (best > rival).sum() > 1 or (fall > rival).sum() > 1:
            raise Undecided
        below, above = values[p : p + 2].astype(float)
        left = np.zeros(m, dtype=bool)
        left[order[: p + 1]] = True
        return j, below / 2 + above / 2, left


def pairs_of(*rows):
    """Return rows (m,) in pairs, as complex numbers: two sums are cumulated in the time of one."""
    rows += (np.zeros_like(rows[0]),) * (len(rows) % 2)
    return [a + 1j * b for a, b in zip(rows[::2], rows[1::2], strict=True)]


def grow(tree, view, codes, weights, classes):
    """Fit a tree of which `is_shallow` is true, and return the classes of its samples, (m,).

    view: SortedRows; codes (m,): positions in the sorted labels classes (K,); weights (m,). Raises
    Undecided, and leaves the tree unfitted, where rounding would decide.
    """
    K = len(classes)
    mass = np.where(codes == np.arange(K)[:, None], weights, 0.0)
    nodes, shares, said = [], [], np.empty_like(codes)

    def add(inside, depth):
        """Append a node and those below it, left ones first; return its place and its depth."""
        place, size, share = len(nodes), np.count_nonzero(inside), mass @ inside
        W = share.sum()
        share /= W
        rest, most = np.sort(share)[-2:]
        node = [*LEAF, 1 - share @ share, size, W, 0]
        nodes.append(node)
        shares.append(share)
        found = None
        if depth < tree.max_depth and rest > 0:
            centred = mass - share[:, None] * weights
            found = view.split(inside, pairs_of(weights, *centred[: K if K > 2 else 1]))
        if found is None:
            if most - rest < NEAR:
                raise Undecided
            said[inside] = share.argmax()
            return place, depth
        column, threshold, left = found
        (node[0], below), (node[1], above) = [
            add(part, depth + 1) for part in (left, inside & ~left)
        ]
        node[2:4], node[7] = (column, threshold), left.sum() > size / 2
        return place, max(below, above)

    if not (weights > 0).all():
        raise Undecided
    _, depth = add(np.ones(len(codes), dtype=bool), 0)
    tree.classes_, tree.n_classes_, tree.n_outputs_ = classes, K, 1
    tree.n_features_in_ = tree.max_features_ = d = len(view.order)
    tree.tree_ = assemble([tuple(node) for node in nodes], np.array(shares), depth, d)
    return classes[said]
