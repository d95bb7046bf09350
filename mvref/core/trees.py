"""scikit-learn's decision trees, cut to fewer levels."""

from copy import copy

import numpy as np

CHILDREN = ["left_child", "right_child"]
OF_SAMPLES = ("impurity", "n_node_samples", "weighted_n_node_samples")  # fields of inner nodes, too
LEAF = -1  # where a leaf points


def cut(grown, depth):
    """Return a copy of a fitted tree classifier without the levels below `depth`.

    The copy is built from the state in a pickle of the tree, whose fields have names.

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
