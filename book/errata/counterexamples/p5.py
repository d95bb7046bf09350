"""MVPO, (2): the tuple of the largest score is the prediction, whatever the measure."""

from itertools import product

import numpy as np

y = np.array([1, 1, -1, -1, -1, -1])
scores = 6.0 + np.array([2.0, 1.5, 0.5, 0.0, -0.5, -1.0])  # the best order, all above 0
P = np.sum(y > 0)


def loss(labels):
    """One minus precision, which is the break-even point where P samples are called positive."""
    return 1 - np.mean(y[labels > 0] > 0)


tuples = [np.array(labels) for labels in product([-1, 1], repeat=6)]
printed = max(tuples, key=lambda labels: labels @ scores)
admissible = [labels for labels in tuples if np.sum(labels > 0) == P]
matching = max(admissible, key=lambda labels: labels @ scores)
slack = max(loss(labels) - (y - labels) @ scores for labels in admissible)

print("samples that (2) calls positive:", np.sum(printed > 0), "of 6")
print(
    f"loss of this prediction {loss(printed):.1f}, of the {P} best scores {loss(matching):.1f}, "
    f"slack {slack:.1f}"
)
assert (printed == np.sign(scores)).all()
assert loss(matching) <= slack < loss(printed)
