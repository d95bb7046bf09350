"""Section 5.3.1 of MVNA-KMHKS: what a p-value of ten overlapping halves is worth."""

import numpy as np

rng = np.random.default_rng(0)
n, repeats, critical = 60, 2000, 2.262  # of |t| with 9 degrees of freedom at the level 0.05
# Two classifiers that are equally good: per pattern the first alone is right, the second, or equal.
patterns = rng.choice([-1.0, 0.0, 1.0], (repeats, n), p=[0.2, 0.6, 0.2])
halves = rng.random((repeats, 10, n)).argsort(axis=2)[:, :, : n // 2]
same = patterns[np.arange(repeats)[:, None, None], halves].mean(axis=2)  # halves of one data set
fresh = rng.choice([-1.0, 0.0, 1.0], (repeats, 10, n // 2), p=[0.2, 0.6, 0.2]).mean(axis=2)


def rejected(differences, ratio):  # the corrected test has ratio = size of test / of training
    variance = (1 / 10 + ratio) * differences.var(axis=1, ddof=1)
    return np.mean(np.abs(differences.mean(axis=1)) > critical * np.sqrt(variance))


shares = rejected(fresh, 0), rejected(same, 0), rejected(same, 1)
print("Experiments without any difference that have p < 0.05:")
print(f"ten new test sets {shares[0]:.0%}, ten halves of one set {shares[1]:.0%},")
print(f"ten halves and the corrected test {shares[2]:.0%}")

assert 0.03 < shares[0] < 0.07  # so p is no probability that there is a difference
assert shares[1] > 0.3 and shares[2] < 0.08
