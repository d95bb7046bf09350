"""Algorithm 1 of MVM from small random numbers: four views go to 0, two views do not."""

import numpy as np


def train(V, start, epochs=30, rate=0.01, lam=0.01, k=4, n=300):
    rng = np.random.default_rng(2)
    Z = np.stack([np.c_[rng.normal(size=(n, 5)), np.ones(n)] for _ in range(V)])
    y = np.sign(Z[0, :, 0] + Z[0, :, 2] * Z[1, :, 1] + 0.3)  # a linear term and one pair
    if start == "normal":
        A = rng.normal(0.0, 0.01, size=(V, 6, k))  # line 1 of the algorithm
    else:
        A = rng.normal(0.0, 0.05, size=(V, 6, k))
        A[:, -1] = 1.0  # bias rows of +-1
        A[0, -1, 1::2] = -1.0
    others = np.array([[u for u in range(V) if u != v] for v in range(V)])
    for i in np.concatenate([rng.permutation(n) for _ in range(epochs)]):
        S = np.einsum("vd,vdk->vk", Z[:, i], A)
        slope = -y[i] / (1 + np.exp(y[i] * S.prod(axis=0).sum()))
        H = S[others].prod(axis=1)  # Eq. (16)
        A -= rate * (slope * Z[:, i, :, None] * H[:, None] + 2 * lam * A)
    scores = np.prod(Z @ A, axis=0).sum(axis=1)
    return np.abs(scores).max(), np.mean(np.sign(scores) == y)


found = {(V, s): train(V, s) for V, s in ((2, "normal"), (4, "normal"), (4, "signs"))}
for (V, start), (size, right) in found.items():
    state = "all scores are 0" if size < 1e-6 else f"{right:.0%} of the labels are right"
    print(f"{V} views, start {'N(0, 0.01^2)' if start == 'normal' else 'bias rows +-1'}: {state}")

assert found[4, "normal"][0] < 1e-6
assert found[2, "normal"][1] > 0.9 and found[4, "signs"][1] > 0.9
