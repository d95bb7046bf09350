"""The loss of Algorithm 1 is not decreasing; and decreasing and bounded is not enough."""

import numpy as np


def printed(views, T=20):
    """Losses of Algorithm 1."""
    rho, losses = np.full(len(views), 1 / len(views)), []
    pi = [np.full(M.shape[1], 1 / M.shape[1]) for M in views]
    for _ in range(T + 1):
        z = sum(rho[v] * M @ pi[v] for v, M in enumerate(views))
        losses.append(np.logaddexp(0, -z).sum())
        q = 1 / (1 + np.exp(z))
        W = [(q @ (M > 0), q @ (M < 0)) for M in views]
        pi = [pi[v] + np.log(a / b) / 2 for v, (a, b) in enumerate(W)]
        rho = np.eye(len(views))[np.argmax([((a**0.5 - b**0.5) ** 2).sum() for a, b in W])]
    return np.array(losses)


rng = np.random.default_rng(0)
tables = [[np.where(rng.random((80, n)) < 0.62, 1.0, -1.0) for n in (3, 4, 2)] for _ in range(9)]
above = [printed(views)[-1] > printed(views)[0] for views in tables]
print(f"After twenty updates the loss is above its start on {sum(above)} of {len(above)} tables.")

# One voter, right on seven samples of eight; the steps shrink, and the loss falls for ever.
votes, weight, losses = np.r_[np.ones(7), -1.0], 1.0, []
for t in range(1, 30):
    losses.append(np.logaddexp(0, -weight * votes).sum())
    weight += np.log(7 * np.exp(-weight)) / 2 / 4**t
infimum = 7 * np.log(8 / 7) + np.log(8)
print(f"A loss that decreases in every step ends {losses[-1] - infimum:.2f} above the minimum.")
assert (np.diff(losses[:12]) < 0).all() and losses[-1] > infimum + 0.1
assert sum(above) >= 5
