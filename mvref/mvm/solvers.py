"""Minimise the objective of a multi-view machine by L-BFGS, stochastic gradients or ALS.

All solvers start from given factors, keep all numbers finite, and report in a sentence why they
stopped if they did not reach an optimum.

Alternating least squares. The score is linear in each block of factors while the others are fixed,
Eq. (16), so that the squared loss with the L2 penalty is a ridge regression in one block after
another. The objective cannot rise. Alternating least squares is known for swamps, in which it
hardly falls: here they are mostly due to norms that move from one block to another while the
score stays the same. Balancing them after every sweep is exact, free, and ends most swamps.

Blocks or columns. Where a view is one-hot, a loss is not squared, or alpha is "auto", blocks are
solved column by column, factor f of all views and then the next: this is faster per second than
whole blocks, which need k^2 sums per level. See :mod:`mvref.core.ridge`, where the bounds of other
losses and the mean field of "auto" are explained; E h^2 of a product over independent views is the
product of the s^2 + v, their variances v.
"""

from collections import Counter
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import minimize

from ..core.input import take_rows
from ..core.ridge import PRIOR_ROWS, Column, Table, alternate, ridge_block
from .model import leave_one_out, prefix_products

WALL = 1e3  # value of an objective that overflows, in units of its last value
FLAT = 1e-4  # L-BFGS also stops if the objective falls by a smaller fraction than FLAT tol
POINTS = 1e-3, 100  # tol and max_iter of the sweeps before the mean field of alpha="auto"
NATS = 10.0  # of free energy per sample that a sweep of the mean field must save, in units of tol
TINY, HUGE = 1e-8, 1e150  # AdaGrad's start; size of a gradient whose square is still finite
ADVICE = (
    "standardise every feature (centre it, too), divide each view by the root of its number of "
    "features, or increase alpha"
)


class Solution(NamedTuple):
    """Results of a solver: factors, the curve of the objective, and why it is not an optimum.

    curve: objective at the start and after every iteration; trouble: why it is not an optimum;
    validation: mean loss on the samples held out; alphas (2, k): the penalties of every block's
    features and bias row.
    """

    factors: list
    curve: list
    trouble: str | None = None
    validation: list | tuple = ()
    alphas: list | tuple = ()


def lbfgs(objective, factors, *, tol, max_iter, tick):
    """Minimise by L-BFGS with a line search for the strong Wolfe conditions.

    Every parameter is measured in units of about its curvature, (E z^2 + 2 alpha)^(1/2): without
    this, factors of rare features hardly move, and factors of large features do not converge.

    factors: the start; tol: largest entry of the gradient, in these units, that ends the search;
    tick: called after every iteration.
    """
    curve = [objective.value(factors)]
    if not np.isfinite(curve[0]):
        return Solution(factors, curve, f"the objective overflows at the start; {ADVICE}")
    ends, shapes = np.cumsum([A.size for A in factors])[:-1], objective.design.shapes
    units, overflowed = curvature_units(objective), False

    def unpack(theta):
        parts = np.split(theta / units, ends)
        return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]

    def value_and_gradient(theta):
        nonlocal overflowed
        value, gradient = objective.value_and_gradient(unpack(theta))
        gradient = np.concatenate([G.ravel() for G in gradient]) / units
        if np.isfinite(value) and np.isfinite(gradient).all():
            return value, gradient
        overflowed = True  # the line search interpolates, and returns from a finite wall
        return WALL * (1.0 + abs(curve[-1])), np.zeros_like(gradient)

    def record(intermediate_result):
        curve.append(float(intermediate_result.fun))
        tick()

    found = minimize(
        value_and_gradient,
        np.concatenate([A.ravel() for A in factors]) * units,
        jac=True,
        method="L-BFGS-B",
        callback=record,
        options={"maxiter": max_iter, "maxfun": 20 * max_iter, "gtol": tol, "ftol": FLAT * tol},
    )
    trouble = None
    if found.status == 1:
        trouble = f"no convergence in max_iter={max_iter} iterations; increase max_iter or tol"
    elif overflowed and np.abs(found.jac).max() > tol:
        trouble = f"products of views overflow during training; {ADVICE}"
    elif not found.success:
        trouble = f"the line search failed; increase tol, or {ADVICE}"
    return Solution(unpack(found.x), curve, trouble)


def curvature_units(objective):
    """Return (E z^2 + 2 alpha)^(1/2) for every entry of the factors, in one array."""
    design, columns = objective.design, objective.design.column_sizes()
    of_rows = np.concatenate([columns[v] for v in design.views])
    units = np.repeat(np.hypot(of_rows, np.sqrt(2.0 * objective.alpha)), design.k)
    return np.where(units > 0, units, 1.0)


class AdaGrad:
    """State of AdaGrad, Algorithm 1 with adaptive step sizes: the factors and past gradients.

    A step changes no entry by more than the learning rate, which is divided by the unit of the
    features if that is above 1. For sparse views only the rows of A whose features are in the batch
    are updated and penalised: the penalty of a feature is weighted by the fraction of batches that
    contain it.

    factors: the start; changed in place; rng: for the order of the samples; design: of samples that
    determine the units, :meth:`~mvref.mvm.model.Design.feature_units`.
    """

    def __init__(self, factors, rng, design):
        self.factors, self.rng = factors, rng
        self.squares = [np.full_like(A, TINY) for A in factors]
        units = design.feature_units()
        self.rates = [np.full((len(A), 1), 1.0) for A in factors]
        for v, rate in zip(design.views, self.rates, strict=True):
            rate[:-1] /= units[v]

    def epoch(self, objective, learning_rate, batch_size):
        """Pass once over all samples in random order."""
        n = objective.design.n
        order = self.rng.permutation(n)
        Z = [Z_v[order] for Z_v in objective.design.Z]
        for start in range(0, n, batch_size):
            rows = slice(start, min(start + batch_size, n))
            batch = [_touched(take_rows(Z_v, rows)) for Z_v in Z]
            if not self._step(objective, batch, order[rows], learning_rate):
                return False
        return True

    def _step(self, objective, batch, samples, learning_rate):
        design = objective.design
        with np.errstate(over="ignore", invalid="ignore"):
            A = [A[batch[v][0]] for v, A in zip(design.views, self.factors, strict=True)]
            S = [batch[v][1] @ A_b for v, A_b in zip(design.views, A, strict=True)]
            scores, prefixes = prefix_products(S, design.terms)
            slopes = objective.losses(scores, samples)[1] / len(samples)
            H = leave_one_out(S, design.terms, prefixes, slopes)
            gradient = [
                batch[v][1].T @ H_b
                + objective.alpha * objective.penalty(A_b, objective.smoothing)[1]
                for v, H_b, A_b in zip(design.views, H, A, strict=True)
            ]
        if not all(np.abs(G).max() < HUGE for G in gradient):  # or NaN
            return False
        for b, (v, G) in enumerate(zip(design.views, gradient, strict=True)):
            rows = batch[v][0]
            self.squares[b][rows] += G**2
            step = learning_rate * self.rates[b][rows] * G / np.sqrt(self.squares[b][rows])
            self.factors[b][rows] -= step
        return True


def _touched(Z):
    """Return the columns of a batch that have entries, and the batch without the others."""
    if not sparse.issparse(Z):
        return slice(None), Z
    columns, indices = np.unique(Z.indices, return_inverse=True)
    parts = Z.data, indices, Z.indptr
    return columns, sparse.csr_matrix(parts, shape=(Z.shape[0], len(columns)))


def sgd(
    objective, state, *, learning_rate, batch_size, tol, max_iter, patience, tick, validation=None
):
    """Minimise by stochastic gradients, Algorithm 1, until the objective stops falling.

    tol: fraction by which the monitored value must fall to count as progress; max_iter: maximum
    number of epochs; patience: epochs without progress after which to stop; validation: objective
    of samples held out, whose mean loss is monitored; the best epoch is kept.
    """

    def watch():
        curve.append(objective.value(state.factors))
        if validation is not None:
            held_out.append(validation.mean_loss(state.factors))
        return (curve if validation is None else held_out)[-1]

    curve, held_out, stale = [], [], 0
    best, best_factors = watch(), [A.copy() for A in state.factors]
    if not np.isfinite(best):
        return Solution(best_factors, curve, f"the objective overflows at the start; {ADVICE}")
    trouble = f"no convergence in max_iter={max_iter} epochs; increase max_iter or tol"
    for _ in range(max_iter):
        before = [A.copy() for A in state.factors]
        finite = state.epoch(objective, learning_rate, batch_size)
        value = watch()
        if not (finite and np.isfinite(value) and np.isfinite(curve[-1])):
            state.factors = before
            del curve[-1], held_out[-1:]
            trouble = f"training diverged; reduce learning_rate, or {ADVICE}"
            break
        tick()
        stale = 0 if value < best - tol * abs(best) else stale + 1
        if value < best:
            best, best_factors = value, [A.copy() for A in state.factors]
        if stale >= patience:
            trouble = None
            break
    if validation is not None:
        state.factors = best_factors
    return Solution(state.factors, curve, trouble, held_out)


def als(objective, factors, *, tol, max_iter, tick):
    """Minimise a loss with L2 by blocks or columns, see above; the objective never rises.

    With all other blocks fixed the score is linear in A_b, on features z_i H_i f: ridge regression,
    in which the row and the target of a sample are multiplied by the root of its weight.

    factors: the start; tol: fraction by which a sweep must lower the objective to be followed by
    another, or with alpha "auto", times NATS, the nats of free energy per sample; max_iter:
    maximum number of sweeps.
    """
    factors = [A.copy() for A in factors]
    start = objective.value(factors)
    if not np.isfinite(start):
        return Solution(factors, [start], f"the objective overflows at the start; {ADVICE}")
    problem = Columns(objective, factors)
    if problem.wanted:
        curve, converged = problem.minimise(tol=tol, max_iter=max_iter, tick=tick)
    else:
        curve, converged = _als_blocks(objective, factors, start, tol, max_iter, tick)
    trouble = None if converged else f"the objective overflows; {ADVICE}"
    if converged is False:
        trouble = f"no convergence in max_iter={max_iter} sweeps; increase max_iter or tol"
    return Solution(factors, curve, trouble, alphas=problem.alphas)


def _als_blocks(objective, factors, start, tol, max_iter, tick):
    """Update the factors in place; return the curve, and whether it converged (None: overflow)."""
    curve = [start]
    for _ in range(max_iter):
        value = als_sweep(objective, factors, curve[-1])
        if not np.isfinite(value):
            return curve, None
        balanced = balance_norms(factors, objective.design.terms)
        if (new := objective.value(balanced)) <= value:
            factors[:], value = balanced, new
        curve.append(value)
        tick()
        if curve[-2] - value <= tol * curve[-2]:
            return curve, True
    return curve, False


class Columns:
    """A model whose blocks are in one term each, for sweeps column by column.

    factors: the start, changed in place; variances: of the numbers, mean field; alphas (2, k): the
    penalties of every block's features and bias row; wanted: whether to sweep over columns.
    """

    def __init__(self, objective, factors):
        self.objective, self.design, self.factors = objective, objective.design, factors
        auto, k = objective.auto, self.design.k
        start = PRIOR_ROWS / self.design.n if auto else objective.alpha
        self.variances = [np.full_like(A, TINY) for A in factors]
        self.alphas = [np.full((2, k), start) for _ in factors]
        tables = [Table(Z, constant=True) for Z in self.design.Z]
        self.tables = [tables[v] for v in self.design.views]
        self.wanted = auto or objective.loss_name != "squared"
        if max(Counter(b for term in self.design.terms for b in term).values()) == 1:
            self.wanted |= any(table.level is not None for table in tables)
        elif self.wanted:
            raise ValueError(
                "Groups that share factors need a number for alpha and loss='squared' with "
                "solver='als'. Otherwise, set shared_factors=False."
            )

    def minimise(self, **options):
        """Return the curve, and whether it converged; alpha "auto" starts from point estimates."""
        objective, of_rows = self.objective, (slice(-1), slice(-1, None))
        parts = zip(self.factors, self.variances, self.alphas, strict=True)
        columns = [
            Column(A[rows], B[rows], of_part)
            for A, B, alpha in parts
            for rows, of_part in zip(of_rows, alpha, strict=True)
        ]
        data = objective.y, self.design.weights
        options["loss"] = objective.loss_name
        with np.errstate(all="ignore"):
            if objective.auto:  # started from noise, it sends products of many views to 0
                points = options | dict(zip(("tol", "max_iter"), POINTS, strict=True))
                scores = self.design.scores(self.factors)
                alternate(self.sweep, columns, [], scores, *data, auto=False, **points)
                options["tol"] *= NATS
            scores = self.design.scores(self.factors)
            return alternate(self.sweep, columns, [], scores, *data, auto=objective.auto, **options)

    def sweep(self, e, u, T):
        """Minimise over every column in turn; return the variances of the scores, (n,).

        e (n,): residuals, changed in place; u (n,): weights; T: 0 for least squares.
        """
        u, spread = None if np.all(u == 1.0) else u, np.zeros(len(e))
        for term in self.design.terms:
            for f in range(self.design.k):
                variance = self._sweep_factor(term, f, e, u, T)
                if T:
                    spread += variance
        if not T:
            balanced = balance_norms(self.factors, self.design.terms)
            for A, B in zip(self.factors, balanced, strict=True):
                A[...] = B
        return spread

    def _sweep_factor(self, term, f, e, u, T):
        """Minimise over factor f of a term's blocks; return the variances of their product."""
        S = [self.tables[b].dot(self.factors[b][:, f]) for b in term]
        after, product = _suffix_products(S), None
        if T:
            squares = [self._mean_square(b, f, s) for b, s in zip(term, S, strict=True)]
            after_squares, mean_square = _suffix_products(squares), None
        for b, s in zip(term, S, strict=True):
            h = _times(product, after.pop(), len(e))  # H_bf, the mean of the others' product
            slopes = h * e
            if T:
                h_square = _times(mean_square, after_squares.pop(), len(e))
                slopes -= (h_square - h * h) * s
            else:
                h_square = h * h
            if u is not None:
                slopes, h_square = slopes * u, h_square * u
            a, penalties = self.factors[b][:, f], self.design.n * self.alphas[b][:, f]
            a[...], matrix = self.tables[b].regress(a, slopes, h_square, penalties)
            moved = self.tables[b].dot(a)
            s -= moved
            s *= h
            e += s
            if T:
                self.variances[b][:, f] = T / matrix
                mean_square = _times(mean_square, self._mean_square(b, f, moved), len(e))
            product = _times(product, moved, len(e))
        return mean_square - product**2 if T else None

    def _mean_square(self, b, f, s):
        """Return E s^2, the square of the mean and the variance."""
        square = self.tables[b].dot(self.variances[b][:, f], squared=True)
        square += s * s
        return square


def _suffix_products(S):
    """Return for each array the product of those that follow; the last one's, None, first."""
    products = [None]
    for s in S[:0:-1]:
        products.append(_times(products[-1], s, len(s)))
    return products


def _times(first, second, n):
    """Return the product of two arrays (n,); None stands for ones."""
    if first is None or second is None:
        either = second if first is None else first
        return np.ones(n) if either is None else either
    return first * second


def als_sweep(objective, factors, value):
    """Solve for every block once, and return the objective.

    factors: each is replaced if that lowers the objective; value: the current objective.
    """
    design, y, alpha = objective.design, objective.y, objective.alpha
    roots = np.sqrt(design.weights)
    with np.errstate(over="ignore", invalid="ignore"):
        S = design.products(factors)
        for b, v in enumerate(design.views):
            scores, prefixes = prefix_products(S, design.terms)
            H = leave_one_out(S, design.terms, prefixes, roots)[b]
            rest = roots * (y - scores) + np.einsum("nk,nk->n", S[b], H)
            if not (np.isfinite(rest).all() and np.abs(H).max() < HUGE):
                return np.nan
            A = ridge_block(design.Z[v], H, rest, alpha, factors[b])
            S_b = np.asarray(design.Z[v] @ A)
            others = sum(np.vdot(F, F) for c, F in enumerate(factors) if c != b)
            residual = rest - np.einsum("nk,nk->n", S_b, H)
            new = float(residual @ residual / design.n + alpha * (others + np.vdot(A, A)))
            if not np.isfinite(new):
                return np.nan
            if new <= value:
                factors[b], S[b], value = A, S_b, new
    return value


def balance_norms(factors, terms):
    """Give the columns of a factor the same norm in all blocks of a term.

    This leaves the score as it is and makes the L2 penalty of the term as small as it can be,
    V (prod_v |a_v|)^(2/V) per factor. Blocks that several terms share are left alone.

    >>> balanced = balance_norms([np.array([[8.0]]), np.array([[0.5]])], [[0, 1]])
    >>> [A.round(6).tolist() for A in balanced]
    [[[2.0]], [[2.0]]]
    """
    uses, factors = Counter(b for term in terms for b in term), list(factors)
    for term in terms:
        norms = np.array([np.linalg.norm(factors[b], axis=0) for b in term])
        alive = norms.min(axis=0) > 0
        if max(uses[b] for b in term) == 1 and alive.any():
            scale = np.ones_like(norms)
            scale[:, alive] = np.exp(np.log(norms[:, alive]).mean(axis=0)) / norms[:, alive]
            for b, row in zip(term, scale, strict=True):
                factors[b] = factors[b] * row
    return factors
