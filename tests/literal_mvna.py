"""Slow literal twins of MVNA-KMHKS: Eqs. (1) to (11) with matrices of n rows and n columns.

Nothing here calls mvref, so that a test compares two independent implementations. Labels Y
are -1 and +1; a machine p has (Gamma^p, w0^p), and with factors (beta^p, w0^p).
"""

import math

import numpy as np
from scipy.linalg import lu_factor, lu_solve
from scipy.optimize import minimize


def signed_gram(k, Y):
    """Return G = [y_i y_j k(x_i, x_j)], entry by entry."""
    n = len(Y)
    return np.array([[Y[i] * Y[j] * k[i, j] for j in range(n)] for i in range(n)])


def nystrom(G, S):
    """Return Eq. (1) with a pseudo-inverse."""
    return G[:, S] @ np.linalg.pinv(G[np.ix_(S, S)], rcond=1e-10, hermitian=True) @ G[S]


def objective(Ks, Gammas, w0s, bs, Y, costs, gamma, mu):
    """Return J' of Eq. (4), with a loop per sum."""
    M, n = len(Ks), len(Y)
    f = [Ks[p] @ Gammas[p] + w0s[p] * Y for p in range(M)]
    value = 0.0
    for p in range(M):
        value += sum((f[p][i] - 1.0 - bs[p][i]) ** 2 for i in range(n))
        value += costs[p] * (Gammas[p] @ Ks[p] @ Gammas[p])
        for i in range(n):
            value += gamma * (f[p][i] - sum(mu[j] * f[j][i] for j in range(M))) ** 2
    return value


def matrix_of_eq_7(K, Y, c, gamma):
    """Return A, (n + 1) x (n + 1)."""
    n = len(Y)
    A = np.zeros((n + 1, n + 1))
    A[:n, :n] = (1 + gamma) * K + c * np.eye(n)
    A[:n, n] = (1 + gamma) * Y
    A[n, :n] = (1 + gamma) * (Y @ K)
    A[n, n] = (1 + gamma) * (Y @ Y)
    return A


def table_1(Ks, Y, c, gamma, mu, rho, T, *, start=None, stale=False):
    """Run Table 1: Eq. (7) and Eq. (9), T times.

    `start` = (Gammas, w0s) are the initial values, zeros by default; `stale` uses e_t of the old
    Gamma in Eq. (9), as printed. Returns Gammas, w0s, bs, margins and the values of J'.
    """
    M, n = len(Ks), len(Y)
    Gammas, w0s = (np.zeros((M, n)), np.zeros(M)) if start is None else start
    Gammas, w0s = [g.copy() for g in Gammas], list(w0s)
    bs = [np.zeros(n) for _ in range(M)]
    factors = [lu_factor(matrix_of_eq_7(K, Y, c, gamma)) for K in Ks]
    f = [Ks[p] @ Gammas[p] + w0s[p] * Y for p in range(M)]
    curve = [fast_objective(Ks, Gammas, f, bs, c, gamma, mu)]
    for _ in range(T):
        for p in range(M):
            right = 1.0 + bs[p] + gamma * sum(mu[j] * f[j] for j in range(M))
            x = lu_solve(factors[p], np.append(right, Y @ right))
            old, Gammas[p], w0s[p] = f[p], x[:n], x[n]
            f[p] = Ks[p] @ Gammas[p] + w0s[p] * Y
            e = (old if stale else f[p]) - 1.0 - bs[p]
            bs[p] = bs[p] + rho * (e + np.abs(e))
        curve.append(fast_objective(Ks, Gammas, f, bs, c, gamma, mu))
    return Gammas, w0s, bs, f, np.array(curve)


def fast_objective(Ks, Gammas, f, bs, c, gamma, mu):
    """Return the same as `objective`, from given margins and by NumPy, for many iterations."""
    mean = sum(m * x for m, x in zip(mu, f, strict=True))
    value = sum(gamma * np.sum((x - mean) ** 2) for x in f)
    for K, g, x, b in zip(Ks, Gammas, f, bs, strict=True):
        value += np.sum((x - 1.0 - b) ** 2) + c * (g @ K @ g)
    return value


# ------------------------------------------------------------------ the same with factors


def stacked(Fs, Y, seen, costs, gamma, mu):
    """Return R with J' = |R theta - target(b)|^2, row by row; theta holds all (beta^p, w0^p).

    ``seen[p][i]``: machine p has a view of sample i; mu is rescaled over these machines.
    """
    M, n = len(Fs), len(Y)
    sizes = [F.shape[1] + 1 for F in Fs]
    ends = np.cumsum([0, *sizes])
    errors, rest = [], []
    for i in range(n):
        margin = {}
        for p in range(M):
            if seen[p][i]:
                margin[p] = np.zeros(ends[-1])
                margin[p][ends[p] : ends[p + 1]] = Y[i] * np.append(Fs[p][i], 1.0)
                errors.append(margin[p])
        total = sum(mu[p] for p in margin)
        mean = sum(mu[p] / total * row for p, row in margin.items())
        rest += [math.sqrt(gamma) * (row - mean) for row in margin.values()]
    for p in range(M):
        for k in range(ends[p], ends[p + 1] - 1):
            rest.append(math.sqrt(costs[p]) * np.eye(ends[-1])[k])
    return np.array(errors), np.array(rest).reshape(-1, ends[-1]), ends


def targets(bs, seen):
    """Return 1 + b, in the order of the rows of `stacked`."""
    M, n = len(bs), len(bs[0])
    return np.array([1.0 + bs[p][i] for i in range(n) for p in range(M) if seen[p][i]])


def joint_minimum(Fs, Y, seen, costs, gamma, mu, bs):
    """Solve one least-squares problem in all (beta^p, w0^p) for fixed b; return theta and J'."""
    errors, rest, _ = stacked(Fs, Y, seen, costs, gamma, mu)
    R = np.vstack([errors, rest])
    right = np.append(targets(bs, seen), np.zeros(len(rest)))
    theta = np.linalg.lstsq(R, right)[0]
    return theta, np.sum((R @ theta - right) ** 2)


def exact_sweeps(Fs, Y, seen, costs, gamma, mu, T):
    """Minimise J' over (beta^p, w0^p), then over b^p >= 0, view by view, T times."""
    M, n = len(Fs), len(Y)
    errors, rest, ends = stacked(Fs, Y, seen, costs, gamma, mu)
    R = np.vstack([errors, rest])
    theta, bs = np.zeros(ends[-1]), [np.zeros(n) for _ in range(M)]
    curve = []
    for t in range(T + 1):
        for p in range(M if t else 0):
            own = slice(ends[p], ends[p + 1])
            right = np.append(targets(bs, seen), np.zeros(len(rest)))
            others = theta.copy()
            others[own] = 0.0
            theta[own] = np.linalg.lstsq(R[:, own], right - R @ others)[0]
            for i in range(n):
                if seen[p][i]:
                    margin = Y[i] * (Fs[p][i] @ theta[own][:-1] + theta[own][-1])
                    bs[p][i] = max(0.0, margin - 1.0)
        right = np.append(targets(bs, seen), np.zeros(len(rest)))
        curve.append(np.sum((R @ theta - right) ** 2))
    return np.split(theta, ends[1:-1]), bs, np.array(curve)


def co_regularised_squared_hinge(Fs, Y, seen, costs, gamma, mu):
    """Minimise over theta the minimum of J' over b, by L-BFGS; return theta and the value."""
    errors, rest, ends = stacked(Fs, Y, seen, costs, gamma, mu)

    def value_and_gradient(theta):
        slack, other = np.maximum(0.0, 1.0 - errors @ theta), rest @ theta
        return slack @ slack + other @ other, 2 * (rest.T @ other - errors.T @ slack)

    options = {"maxiter": 50_000, "maxfun": 100_000, "ftol": 1e-16, "gtol": 1e-9, "maxcor": 50}
    start = np.zeros(ends[-1])
    found = minimize(value_and_gradient, start, jac=True, method="L-BFGS-B", options=options)
    return np.split(found.x, ends[1:-1]), found.fun


# ------------------------------------------------------------------ decisions


def printed_decision(k_new, Y, Gammas, w0s, mu):
    """Return Eq. (11) with w0 outside of the inner sum; `k_new` is k(x, x_i) of new samples."""
    scores = []
    for row in k_new:
        score = 0.0
        for p in range(len(mu)):
            inner = sum(Y[i] * Gammas[p][i] * row[i] for i in range(len(Y)))
            score += mu[p] * (inner + w0s[p])
        scores.append(score)
    return np.array(scores)


def nystrom_decision(k, k_new, components, Y, Gammas, w0s, mu):
    """Return Eq. (11) with k_nS k_SS^+ k_Sn in place of the kernel."""
    score = 0.0
    for p, S in enumerate(components):
        inverse = np.linalg.pinv(k[np.ix_(S, S)], rcond=1e-10, hermitian=True)
        extended = k_new[:, S] @ inverse @ k[S]
        score = score + mu[p] * (extended @ (Y * Gammas[p]) + w0s[p])
    return score


def votes(scores, n_classes):
    """Return the votes of all class pairs for one sample, and the summed scores of the classes."""
    won, summed, q = [0] * n_classes, [0.0] * n_classes, 0
    for i in range(n_classes):
        for j in range(i + 1, n_classes):
            won[j if scores[q] > 0 else i] += 1
            summed[j] += scores[q]
            summed[i] -= scores[q]
            q += 1
    return won, summed
