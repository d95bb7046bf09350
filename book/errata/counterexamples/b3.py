"""Inequality (10) with the new weights of the views: promised is a fall, and the loss rises."""

import numpy as np

# Three views with one voter each, which is wrong on five samples of fifteen; view 0 on one less.
votes = np.ones((15, 3))
for v in range(3):
    votes[5 * v : 5 * v + 5, v] = -1
votes[0, 0] = 1
rho, pi = np.full(3, 1 / 3), np.ones(3)


def loss(rho, pi):
    return np.logaddexp(0, -votes @ (rho * pi)).sum()


q = 1 / (1 + np.exp(votes @ (rho * pi)))
W_right, W_wrong = q @ (votes > 0), q @ (votes < 0)
delta = np.log(W_right / W_wrong) / 2
gains = (np.sqrt(W_right) - np.sqrt(W_wrong)) ** 2
new_rho = (gains == gains.max()).astype(float)  # the solution of (8)
for name, weights in [("new", new_rho), ("old", rho)]:
    change = loss(weights, pi + delta) - loss(rho, pi)
    print(f"With the {name} rho (11) promises {-weights @ gains:.2f}, and {change:+.2f} happens.")

assert np.abs(votes @ np.diag(rho)).sum(axis=1).max() <= 1 + 1e-12  # B2 is not to blame
assert loss(rho, pi + delta) - loss(rho, pi) <= -rho @ gains  # at fixed rho the bound holds
assert loss(new_rho, pi + delta) - loss(rho, pi) > 1 > 0 > -new_rho @ gains
