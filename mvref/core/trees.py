"""scikit-learn's decision trees, put together from their nodes, and cut to fewer levels."""

from copy import copy

import numpy as np
from sklearn.tree._tree import NODE_DTYPE, TREE_LEAF, TREE_UNDEFINED, Tree

CHILDREN = ["left_child", "right_child"]
LEAF = (TREE_LEAF, TREE_LEAF, TREE_UNDEFINED, TREE_UNDEFINED)  # children, feature, threshold


def assemble(nodes, shares, depth, n_features):
    """Return scikit-learn's Tree of nodes, tuples or records with the fields of NODE_DTYPE.

    shares (n_nodes, K): of the classes in every node; depth: of the deepest node.
    """
    tree = Tree(n_features, np.array([shares.shape[1]]), 1)
    nodes = np.array(nodes, dtype=NODE_DTYPE)
    state = {"max_depth": depth, "node_count": len(nodes), "nodes": nodes}
    tree.__setstate__(state | {"values": shares[:, None, :]})
    return tree


def cut(grown, depth):
    """Return a copy of a fitted tree classifier without the levels below `depth`.

    >>> from sklearn.tree import DecisionTreeClassifier
    >>> x = np.arange(6.0)[:, None]
    >>> stump = cut(DecisionTreeClassifier().fit(x, [0, 0, 1, 1, 0, 1]), 1)
    >>> stump.get_depth(), stump.predict(x)
    (1, array([0, 0, 1, 1, 1, 1]))
    """
    state = grown.tree_.__getstate__()
    old, level, levels = state["nodes"], np.array([0]), []
    while len(level) and len(levels) <= depth:
        levels.append(level)
        level = np.concatenate([old[side][level] for side in CHILDREN])
        level = level[level != TREE_LEAF]
    kept = np.sort(np.concatenate(levels))
    place, nodes = np.full(len(old) + 1, TREE_LEAF), old[kept]  # the last: where a leaf points
    place[kept] = np.arange(len(kept))
    for side in CHILDREN:
        nodes[side] = place[nodes[side]]
    bare = nodes["left_child"] == TREE_LEAF
    nodes["feature"][bare], nodes["threshold"][bare] = LEAF[2:]
    nodes["missing_go_to_left"][bare] = 0
    shallow = copy(grown).set_params(max_depth=depth)
    shallow.tree_ = assemble(nodes, state["values"][kept, 0], len(levels) - 1, grown.n_features_in_)
    return shallow
