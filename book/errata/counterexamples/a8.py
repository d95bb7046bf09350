"""A8: the inequality of Definition 1 holds for one S and one i with beta = 0; the risk does not."""

import numpy as np


def svm(Phi, y, box):
    """Minimise (2) without intercept, by exact coordinate steps in the dual; box is c/m."""
    alpha, theta = np.zeros(len(y)), np.zeros(Phi.shape[1])
    for _ in range(200):
        for i, mu in enumerate(Phi):
            new = np.clip(alpha[i] + (1 - y[i] * mu @ theta) / (mu @ mu), 0, box)
            theta, alpha[i] = theta + (new - alpha[i]) * y[i] * mu, new
    return theta


m, delta = 40, 0.05
rng = np.random.default_rng(0)
places = 100.0 * np.arange(1000)  # the distribution: a random place, a random label
landmarks = places[: m - 1]
x, y = np.append(landmarks, places[0]), rng.choice([-1.0, 1.0], m)
y[-1] = y[0]  # the last sample is a copy of the first


def project(z):
    return np.exp(-((z[:, None] - landmarks) ** 2))


theta = svm(project(x), y, 1.0)  # c = m
x[-1], y[-1] = x[1], y[1]  # replaced by a copy of the second
beta = m / 2 * np.abs(project(places) @ (theta - svm(project(x), y, 1.0))).max()
training = np.maximum(0, 1 - y * (project(x) @ theta)).mean()
true = np.mean([np.maximum(0, 1 - s * (project(places) @ theta)).mean() for s in (-1, 1)])
bound = training + 2 * beta / m + (4 * beta + 2) * np.sqrt(np.log(1 / delta) / (2 * m))
print(f"For this S and this i, beta is {beta:.2f}. The risk is {true:.2f},")
print(f"and Theorem 2 with this beta would bound it by {bound:.2f}.")
assert beta < 1e-9 and true > bound
