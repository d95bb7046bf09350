"""Ten copies of one voter: a full step raises the loss, which (10) says it lowers."""

import numpy as np

votes = np.tile([[1.0], [1.0], [1.0], [-1.0]], (1, 10))  # right on three of four


def run(length):
    """Four updates of one view, so that rho = 1; the losses and what (10) promises."""
    pi, losses, promises = np.full(10, 0.1), [], []
    for _ in range(5):
        z = votes @ pi
        losses.append(np.logaddexp(0, -z).sum())
        q = 1 / (1 + np.exp(z))
        W_right, W_wrong = q @ (votes > 0), q @ (votes < 0)  # steps 6 and 7
        promises.append(-length * ((np.sqrt(W_right) - np.sqrt(W_wrong)) ** 2).sum())  # (11)
        pi += length * np.log(W_right / W_wrong) / 2  # steps 8 and 9
    return np.array(losses), np.array(promises[:-1])


full, promised = run(length=1.0)
short, promised_short = run(length=1 / 10)  # N = 10 is the largest row sum of |votes|
print("Full steps:", " ".join(f"{loss:.2f}" for loss in full))
print("Divided by N:", " ".join(f"{loss:.4f}" for loss in short))

assert (np.diff(short) <= promised_short + 1e-12).all()
assert (promised < 0).all() and (np.diff(full) > 0).all()
