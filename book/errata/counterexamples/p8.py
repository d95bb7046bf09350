"""MVPO, (1): one feature map, a sum over samples, stands for all measures, also for AUROC."""

from itertools import product

import numpy as np

y = np.array([1, 1, -1, -1, -1])
good, bad = y > 0, y < 0
scores = np.array([5.0, 4.0, 3.0, 2.0, 1.0])  # the best order, all above 0


def auroc(values):
    """Share of the pairs in the right order; a tie counts one half."""
    return np.mean((1 + np.sign(values[good][:, None] - values[bad])) / 2)


tuples = [np.array(labels) for labels in product([-1, 1], repeat=5)]
over_samples = max(1 - auroc(labels) - (y - labels) @ scores for labels in tuples)
margins = scores[good][:, None] - scores[bad]
over_pairs = np.sum(np.maximum(0, 1 / margins.size - margins))

print(f"AUROC of the scores {auroc(scores):.0f}, so the loss is {1 - auroc(scores):.0f}")
print(f"slack with the sum over samples {over_samples:.1f}, over pairs {over_pairs:.1f}")
assert auroc(scores) == 1 and over_pairs == 0
assert over_samples > 1
