"""Slow literal twins of multi-view machines: the formulas of the paper with one loop per sum.

Nothing here calls mvref, so that a test compares two independent implementations. A factor matrix
A[v] has the bias row last; x[v] are the features of one sample; a *term* is a list of the matrices
that are multiplied, and the score is a sum over terms. If a function has no terms, all
matrices are multiplied.
"""

import itertools
import math

import numpy as np


def with_one(x):
    """Return z = (x, 1)."""
    return [*x, 1.0]


def tensor_score(x, A):
    """Return the score by Eqs. (4) and (5): entries of the tensor W times products of z."""
    z = [with_one(x_v) for x_v in x]
    total = 0.0
    for index in itertools.product(*(range(len(z_v)) for z_v in z)):
        w = sum(math.prod(A_v[i][f] for A_v, i in zip(A, index, strict=True)) for f in columns(A))
        total += w * math.prod(z_v[i] for z_v, i in zip(z, index, strict=True))
    return total


def columns(A):
    return range(len(A[0][0]))


def view_sum(x_v, A_v, f):
    """Return <z, a_f> of one view."""
    return inner(with_one(x_v), [row[f] for row in A_v])


def score(x, A, terms=None):
    """Eq. (9), summed over the terms; x[b] goes with A[b]."""
    terms = [range(len(A))] if terms is None else terms
    return sum(
        math.prod(view_sum(x[b], A[b], f) for b in term) for term in terms for f in columns(A)
    )


def loss(kind, s, y):
    """Eqs. (11) to (13), and the squared hinge."""
    return {
        "squared": lambda: (s - y) ** 2,
        "logistic": lambda: math.log(1 + math.exp(-y * s)),
        "hinge": lambda: max(0.0, 1 - y * s),
        "squared_hinge": lambda: max(0.0, 1 - y * s) ** 2,
    }[kind]()


def slope(kind, s, y):
    """Eqs. (17) to (19) without the factor of Eq. (16)."""
    return {
        "squared": lambda: 2 * (s - y),
        "logistic": lambda: -y / (1 + math.exp(y * s)),
        "hinge": lambda: -y if y * s < 1 else 0.0,
        "squared_hinge": lambda: -2 * y * max(0.0, 1 - y * s),
    }[kind]()


def penalty(kind, A, eps):
    """Eqs. (14) and (15)."""
    numbers = [a for A_v in A for row in A_v for a in row]
    if kind == "l2":
        return sum(a * a for a in numbers)
    return sum(math.sqrt(a * a + eps) for a in numbers)


def penalty_slope(kind, a, eps):
    """Eqs. (20) and (21)."""
    return 2 * a if kind == "l2" else a / math.sqrt(a * a + eps)


def objective(samples, y, A, kind, reg, alpha, eps, terms=None):
    """Eq. (10) with the mean over the samples; samples[i][b] goes with A[b]."""
    losses = [loss(kind, score(x, A, terms), y_i) for x, y_i in zip(samples, y, strict=True)]
    return sum(losses) / len(losses) + alpha * penalty(reg, A, eps)


def gradient(samples, y, A, kind, reg, alpha, eps, terms=None):
    """Eqs. (16) to (21), one number at a time; the other blocks are multiplied one by one."""
    terms = [list(range(len(A)))] if terms is None else terms
    G = [np.zeros_like(A_b) for A_b in A]
    for b, A_b in enumerate(A):
        for i, f in np.ndindex(*A_b.shape):
            for x, y_i in zip(samples, y, strict=True):
                others = sum(
                    math.prod(view_sum(x[c], A[c], f) for c in term if c != b)
                    for term in terms
                    if b in term
                )
                z_i = with_one(x[b])[i]
                G[b][i, f] += slope(kind, score(x, A, terms), y_i) * z_i * others / len(y)
            G[b][i, f] += alpha * penalty_slope(reg, A_b[i, f], eps)
    return G


def subset_contribution(x, A, inside):
    """Return the part of the score with the features of the views `inside`, constants of others."""
    total = 0.0
    for f in columns(A):
        product = 1.0
        for v, A_v in enumerate(A):
            features = inner(x[v], [row[f] for row in A_v[:-1]])
            product *= features if v in inside else A_v[-1][f]
        total += product
    return total


def adagrad_epoch(samples, y, A, order, batch_size, rate, kind, reg, alpha, eps):
    """Run Algorithm 1 with AdaGrad's steps, which update only features that occur in a batch.

    A feature is in a batch if it is not 0 in one of its samples; the constant always is.
    """
    A = [np.array(A_v) for A_v in A]
    squares = [np.full_like(A_v, 1e-8) for A_v in A]
    for start in range(0, len(order), batch_size):
        rows = order[start : start + batch_size]
        batch = [samples[i] for i in rows]
        G = gradient(batch, [y[i] for i in rows], A, kind, reg, alpha, eps)
        for v, A_v in enumerate(A):
            for i in range(len(A_v)):
                if any(with_one(x[v])[i] != 0 for x in batch):
                    squares[v][i] += G[v][i] ** 2
                    A_v[i] -= rate * G[v][i] / np.sqrt(squares[v][i])
    return A


def ridge_block(Z, H, target, alpha):
    """Solve one block of ALS as a least-squares problem with explicit columns z_j H_f."""
    n, (d, k) = len(Z), (Z.shape[1], H.shape[1])
    D = np.empty((n, d * k))
    for i in range(n):
        for j in range(d):
            for f in range(k):
                D[i, j * k + f] = Z[i, j] * H[i, f]
    rows = np.vstack([D, math.sqrt(alpha * n) * np.eye(d * k)])
    return np.linalg.lstsq(rows, np.r_[target, np.zeros(d * k)])[0].reshape(d, k)


# ------------------------------------------------------------------ special cases


def inner(a, b):
    return sum(p * q for p, q in zip(a, b, strict=True))


def linear(x, weights, intercept):
    """Eq. (24)."""
    return intercept + sum(inner(w_v, x_v) for w_v, x_v in zip(weights, x, strict=True))


def factorisation_machine(x, w0, weights, vectors):
    """Eq. (27): pairs of features of different views; vectors[v][i] is the vector of a feature."""
    total = linear(x, weights, w0)
    for v, u in itertools.combinations(range(len(x)), 2):
        for i, x_i in enumerate(x[v]):
            for j, x_j in enumerate(x[u]):
                total += inner(vectors[v][i], vectors[u][j]) * x_i * x_j
    return total
