"""The domains of q and r before (4) and (5): what (6) needs is not covered by them."""

import numpy as np


def F(p):
    """Negative entropy of one coin."""
    return sum(x * np.log(x) for x in (p, 1 - p) if x > 0)


# (6) takes for r the margins of the samples: here of one voter, right twice and wrong once.
r = 3.0 * np.array([1.0, 1.0, -1.0])
print("Margins outside of [0, 1]:", ((r < 0) | (r > 1)).sum(), "of", len(r))

# (5) is the minimiser for such an r too: the paper's formula, with a wider domain.
p, q = np.linspace(1e-6, 1 - 1e-6, 100_001), 0.5
D = p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q))
least = p[(D - 3.0 * p).argmin()]
print(f"Minimiser for r = -3: {least:.3f}; by (5): {q * np.exp(3) / (1 - q + q * np.exp(3)):.3f}")

# Definition 1 needs the gradient of F at q. At q = 0 there is none.
slopes = [(F(h) - F(0)) / h for h in (1e-2, 1e-4, 1e-8, 1e-16)]
print("Slopes of F at 0 over ever shorter steps:", " ".join(f"{s:.0f}" for s in slopes))

assert abs(least - q * np.exp(3) / (1 - q + q * np.exp(3))) < 1e-4
assert (r < 0).any() and (r > 1).any()
assert (np.diff(slopes) < -4).all()  # a derivative would be the limit of them
