"""MVPO, before (5): the response of view j' is printed with the weights of view j."""

import numpy as np

rng = np.random.default_rng(0)
x = rng.normal(size=(2, 8, 4))  # two views of eight samples
w = rng.normal(size=(2, 4))

printed = np.sum((x[0] @ w[0] - x[1] @ w[0]) ** 2) / 2
correct = np.sum((x[0] @ w[0] - x[1] @ w[1]) ** 2) / 2

# The quadratic form of (6): each of its vectors is Theta_1' x^1 - Theta_2' x^2 of a sample.
vectors = np.hstack([x[0], -x[1]])
quadratic = np.sum((vectors @ np.concatenate(w)) ** 2) / 2

print(f"The quadratic form (6) is {quadratic:.1f}. With the weights of each view the penalty is")
print(f"{correct:.1f}, with the weights of view j for both {printed:.1f}.")
assert np.isclose(correct, quadratic)
assert abs(printed / quadratic - 1) > 0.1
