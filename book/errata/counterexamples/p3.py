"""MVPO, (10): the maximum over all tuples but the true one is called an upper bound of the loss."""

from itertools import product

import numpy as np

x, y, w = np.array([10.0, -10.0]), (1, -1), 1.0  # two samples, one feature


def loss(prediction):
    """One minus F1."""
    hits = sum(prediction[i] == y[i] == 1 for i in range(2))
    return 1 - 2 * hits / (prediction.count(1) + y.count(1))


values = {}
for candidate in product([-1, 1], repeat=2):
    pi = (np.array(y) - np.array(candidate)) @ x  # (11)
    values[candidate] = loss(candidate) - w * pi
prediction = tuple(int(s) for s in np.sign(w * x))
without = max(value for candidate, value in values.items() if candidate != y)

print("loss of the prediction:", round(loss(prediction)))
print("printed bound, without the true tuple:", round(without))
print("with the true tuple:", round(max(values.values())))
assert loss(prediction) > without
assert loss(prediction) <= max(values.values())
