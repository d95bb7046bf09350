"""Coupled Ho-Kashyap classifiers: Eqs. (4) to (10), Table 1 of MVNA-KMHKS.

Problem, symbols and departures are in :mod:`mvref.mvna_kmhks`, the classifiers of the views in
``machines``.
"""

from itertools import cycle
from typing import NamedTuple

import numpy as np

SOLVERS = ("exact", "paper")


def share_weights(mu, seen):
    """Return the weights mu_p (M,) of the views that a sample has, divided by their sum: (M, n).

    >>> share_weights(np.array([0.6, 0.2, 0.2]), np.array([[True, False]] + [[True, True]] * 2))
    array([[0.6, 0. ],
           [0.2, 0.5],
           [0.2, 0.5]])
    """
    weights = mu[:, None] * seen
    total = weights.sum(axis=0)
    if (total == 0).any():
        row = np.flatnonzero(total == 0)[0]
        raise ValueError(f"view_weights is zero for every view that row {row} of X has.")
    return weights / total


class Coupling:
    """The second sum of Eq. (4), gamma sum_p |f_p - sum_j mu_j f_j|^2, for classifier p.

    mu (M,): view weights; seen (M, n): the samples that have the classifier's view; others are in
    no sum; gamma: the paper's coupling parameter; solver: with "paper" the classifier takes the
    weighted mean as constant (errata N2, N3); weights (n,): of the samples in both sums of
    squares, the paper's are 1.
    """

    def __init__(self, mu, seen, gamma, solver, weights=1.0):
        self.mu = share_weights(mu, seen)
        self.weights = np.broadcast_to(weights, seen.shape[1:])
        self.seen, self.gamma, self.solver = seen, gamma, solver
        self.others = seen.sum(axis=0) - 1.0

    def curvature(self, p):
        """Return the coefficient of f_p^2 in Eq. (4) per sample, (n,)."""
        if self.solver == "paper":
            return self.weights * (1.0 + self.gamma)
        own, others = (1.0 - self.mu[p]) ** 2, self.others * self.mu[p] ** 2
        return self.weights * (1.0 + self.gamma * (own + others))

    def pull(self, p, f):
        """Return the others' contribution to the target 1 + b_p, (n,), for margins f (M, n)."""
        mean = np.einsum("pn,pn->n", self.mu, f)
        if self.solver == "paper":
            return self.gamma * mean  # Eq. (7): it includes the classifier's own old margins
        r = mean - self.mu[p] * f[p]
        rest = f.sum(axis=0) - f[p] - self.others * r  # sum of f_q - r over the others q
        return self.gamma * ((1.0 - self.mu[p]) * r + self.mu[p] * rest)

    def disagreement(self, f):
        """Return gamma sum_p |f_p - sum_j mu_j f_j|^2: f (M, n)."""
        mean = np.einsum("pn,pn->n", self.mu, f)
        return self.gamma * float((self.weights * (self.seen * (f - mean)) ** 2).sum())


class Sweep(NamedTuple):
    """The classifiers after one iteration of Table 1."""

    thetas: list
    norms: np.ndarray  # (M,), of every classifier in the space of its kernel, without the intercept
    rhs: np.ndarray  # (M, n), right-hand sides of the thetas
    f: np.ndarray  # (M, n), margins
    b: np.ndarray  # (M, n), how far they may be beyond 1


class Solution(NamedTuple):
    """Results of :func:`ho_kashyap`."""

    thetas: list
    norms: np.ndarray
    coefficients: np.ndarray  # (M, n), y_i alpha_i^p: the paper's Gamma^p times the labels
    margins: np.ndarray
    b: np.ndarray
    curve: np.ndarray  # J' of Eq. (4) at the start, where all margins are 0, and in every iteration
    converged: bool


def ho_kashyap(machines, costs, coupling, y, **options):
    """Run Table 1 for the labels y (n,) of one problem; see :func:`ho_kashyap_together`.

    >>> from mvref.mvna_kmhks.machines import FactorMachine
    >>> F, y, seen = np.array([[0.0], [1.0], [3.0]]), np.array([-1.0, 1.0, 1.0]), np.ones((1, 3))
    >>> coupling = Coupling(np.ones(1), seen == 1, 0.0, "exact")
    >>> machine = FactorMachine(F, seen[0] == 1, coupling.curvature(0), 0.0)
    >>> options = {"learning_rate": [0.5], "tol": 1e-12, "max_iter": 1000}
    >>> found = ho_kashyap([machine], np.zeros(1), coupling, y, **options)
    >>> found.margins.round(3), found.b.round(3)  # b takes what is beyond the margin
    (array([[1., 1., 5.]]), array([[0., 0., 4.]]))
    """
    return ho_kashyap_together(machines, costs, coupling, [y], **options)[0]


def ho_kashyap_together(
    machines, costs, coupling, labels, *, learning_rate, tol, max_iter, momentum=False
):
    """Run Table 1: solve for every classifier in turn, then for its b, until J' converges.

    costs (M,): c^p; labels: list of y (n,), -1 and +1, of problems that share the classifiers,
    each solved once a step for all; learning_rate: rho^p, of ``coupling.solver="paper"``;
    tol: xi; momentum: begin an iteration not where the last one ended but further on in its
    direction (Nesterov's steps), and go back if that raises J'. For ``coupling.solver="exact"``,
    whose b is determined by the margins. Returns a :class:`Solution` for each y.
    """
    options = learning_rate, tol, max_iter, momentum
    runs = [_table_1(machines, costs, coupling, y, *options) for y in labels]
    solutions, asked = [None] * len(runs), {q: next(run) for q, run in enumerate(runs)}
    for machine in cycle(machines):
        theta, u = machine.solve(np.array(list(asked.values())).T)  # Eq. (7), or the exact minimum
        for q, answer in zip(list(asked), zip(theta.T, u.T, strict=True), strict=True):
            try:
                asked[q] = runs[q].send(answer)
            except StopIteration as end:
                solutions[q] = end.value
                del asked[q]
        if not asked:
            return solutions


def _table_1(machines, costs, coupling, y, learning_rate, tol, max_iter, momentum):
    """Solve one problem; yield the right-hand side for each classifier in turn."""
    zero = np.zeros(coupling.seen.shape)
    last = Sweep([], np.zeros(len(machines)), zero, zero, zero)
    curve, converged, t = [_objective(last, costs, coupling)], False, 1.0
    f, b = zero, zero
    while not converged and len(curve) <= max_iter:
        new = yield from _sweep(machines, coupling, y, f, b, learning_rate)
        value = _objective(new, costs, coupling)
        if value > curve[-1] and f is not last.f:  # too far: restart where the last one ended
            f, b, t = last.f, last.b, 1.0
            curve.append(curve[-1])
            continue
        curve.append(value)
        converged = abs(curve[-2] - curve[-1]) <= tol * curve[-2]  # Eq. (10)
        f, b = new.f, new.b
        if momentum:
            t, before = (1.0 + np.sqrt(1.0 + 4.0 * t * t)) / 2.0, t
            f = new.f + (before - 1.0) / t * (new.f - last.f)
            b = np.maximum(0.0, f - 1.0)
        last = new
    parts = zip(machines, last.thetas, y * last.f, last.rhs, strict=True)
    coefficients = np.array([machine.coefficients(*part) for machine, *part in parts])
    curve = np.array(curve)
    return Solution(last.thetas, last.norms, coefficients, last.f, last.b, curve, converged)


def _sweep(machines, coupling, y, f, b, learning_rate):
    """Run one iteration of Table 1 from the margins f and b; yield as `_table_1` does."""
    f, b, rhs = f.copy(), b.copy(), np.empty_like(f)
    thetas, norms = [], []
    for p, machine in enumerate(machines):
        rhs[p] = coupling.weights * y * (1.0 + b[p] + coupling.pull(p, f))
        theta, u = yield rhs[p]
        f[p] = y * u
        if coupling.solver == "paper":
            b[p] += 2.0 * learning_rate[p] * np.maximum(0.0, f[p] - 1.0 - b[p])  # Eq. (9)
        else:
            b[p] = np.maximum(0.0, f[p] - 1.0)
        thetas.append(theta)
        norms.append(machine.norm(theta, u))
    return Sweep(thetas, np.array(norms), rhs, f, b)


def _objective(sweep, costs, coupling):
    """Return J' of Eq. (4)."""
    errors = coupling.seen * (sweep.f - 1.0 - sweep.b)
    squares = float((coupling.weights * errors**2).sum() + costs @ sweep.norms**2)
    return squares + coupling.disagreement(sweep.f)
