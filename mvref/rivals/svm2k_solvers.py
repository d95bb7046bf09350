"""Two exact solvers of SVM-2K's dual: interior points, and a splitting; both with a duality gap.

Problem   The dual of :mod:`.svm2k`. With x = (a^A, a^B, g^+, g^-), g = g^+ - g^-, it is a box:
          min 1/2 beta_A'K_A beta_A + 1/2 beta_B'K_B beta_B - c'x,   c = (1, 1, -eps, -eps),
          0 <= x <= (C_A, C_B, D, D),   (y beta_A, y beta_B) = P x = (a^A - g, a^B + g)
          f, beta and g are multiplied by y here, which makes f_A and f_B the ``margins``.

Optimal   P'(y f_A, y f_B) - c = s - t with f = K beta, s x = 0, t (upper - x) = 0, s >= 0, t >= 0.

Interior points (Mehrotra's predictor and corrector), for kernels K = F F' of low rank r
          A Newton step ends in (Theta + P'F F'P) dx = rho, Theta = s/x + t/(upper - x). P couples
          no two samples, so E = P Theta^-1 P' is a 2 x 2 block for each of them,
            E_AA = 1/Theta_A + h,  E_BB = 1/Theta_B + h,  E_AB = -h,  h = 1/Theta_+ + 1/Theta_-,
          and by Woodbury's formula, with dw = F'P dx the step of (w_A, w_B), all that is factored
          is one matrix of r_A + r_B rows:
            (I + F'E F) dw = F'P Theta^-1 rho,   dx = Theta^-1 (rho - P'F dw)
          10 to 40 steps at every C, O(m (r_A + r_B)^2) each. x never leaves its box; w = F'P x.

Splitting (Douglas and Rachford, relaxed), for kernels of high rank
          f = K (K + I/rho)^-1 (z - u), one Cholesky factor for each view, which all classes and all
          pairs of views share; then z = the point nearest to p = f + u under the losses of each
          sample, and u = p - z = -P x/rho, so that x is feasible in every sweep. z is found
          exactly: given g, a^A and a^B are clipped to their boxes, and f_A - f_B falls in g along
          at most five straight pieces. The gap is between f, whose beta is rho (z - u - f) before
          the new z, and x: a first-order method has the better primal point in f.

Which     Interior points if r_A + r_B <= `FEW`. Else the splitting; what it does not solve in
          `PATIENCE` sweeps goes to interior points if r_A + r_B <= `MANY`, since its
          speed depends on the problem. On RBF kernels of rank 2000 it takes 25 sweeps of 15 ms for
          five classes at C = 1 (an interior point: 15 factors of 4000 rows for each class); on
          linear kernels of rank 21 it is far off after 1500 sweeps where C = 100 (an interior
          point: .01 s for a class).
"""

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.linalg.blas import dsymm
from scipy.linalg.lapack import dpotrf

FEW, MANY = 256, 4000  # r_A + r_B up to which interior points are used first, and at all
LARGEST_RANK = 256  # largest rank of a view's low-rank factor
CUTOFF = 1e-11  # of the diagonal that the low-rank factor leaves, relative to its largest entry
DAMPING = 1e-8  # of the interior point's Theta, relative to the diagonal of K
TO_THE_WALL = 0.995  # fraction of the longest step inside the box
ROUNDING = 1e-16  # of s x + t (upper - x) over the primal value: there is no better point
STEPS = 100  # maximum number of interior-point steps; 40 are many
PATIENCE, EVERY = 300, 5  # sweeps of the splitting, and sweeps between two checks of the gap
RELAXATION = 1.7
NOT_PSD = "kernel must be positive semi-definite on the training samples."


class ViewKernel:
    """The psd kernel K (m, m) of one view, and its factors; K is overwritten.

    Its lower triangle stores the Cholesky factor, so that there is one (m, m) array.
    ``low`` (m, r) is F with K = F F', or None if r > `LARGEST_RANK`.

    >>> K = ViewKernel(np.array([[2.0, 2.0], [2.0, 2.0]]))
    >>> K.low.round(3).tolist(), K.times(np.eye(2)).tolist()
    ([[1.414], [1.414]], [[2.0, 2.0], [2.0, 2.0]])
    """

    def __init__(self, K):
        self.K = np.require(K.T, requirements="FW")
        self.diagonal = self.K.diagonal().copy()
        self.scale = self.diagonal[self.diagonal > 0].mean()
        self.low = pivoted_cholesky(self.K, min(LARGEST_RANK, len(K)))

    @property
    def rank(self):
        return len(self.K) if self.low is None else self.low.shape[1]

    def factor(self):
        """Return F (m, r) with F F' = K."""
        if self.low is not None:
            return self.low
        K = self.times(np.eye(len(self.K)))
        K.flat[:: len(K) + 1] += CUTOFF * self.scale
        return np.linalg.cholesky(K)

    def shift(self, rho):
        """Factor K + I/rho in the lower triangle."""
        self.rho, self.K = rho, np.require(self.K, requirements="FW")
        np.fill_diagonal(self.K, self.diagonal + 1.0 / rho)
        _, failed = dpotrf(self.K, lower=1, clean=0, overwrite_a=1)
        if failed:
            raise ValueError(NOT_PSD)

    def smooth(self, V):
        """Return K (K + I/rho)^-1 V, for rows V (c, m)."""
        return V - cho_solve((self.K, True), V.T, check_finite=False).T / self.rho

    def times(self, V):
        """Return K V, for rows V (c, m), by the upper triangle and the diagonal of K."""
        return dsymm(1.0, self.K, V.T, lower=0).T + (self.diagonal - self.K.diagonal()) * V


def pivoted_cholesky(K, most):
    """Return F (m, r) with F F' = K up to rounding, r at most `most`; None if that is too few.

    The next pivot is the largest entry of the remaining diagonal, which bounds the remainder.
    """
    rest, F = K.diagonal().copy(), np.empty((len(K), most), order="F")
    cut = CUTOFF * rest.max()
    for r in range(most + 1):
        p = rest.argmax()
        if rest[p] <= cut:
            if rest.min() < -1e3 * cut:
                raise ValueError(NOT_PSD)
            return F[:, :r]
        if r < most:
            F[:, r] = (K[:, p] - F[:, :r] @ F[p, :r]) / np.sqrt(rest[p])
            rest -= F[:, r] ** 2
    return F if most == len(K) else None


def signed_betas(dual):
    """Return y beta_A and y beta_B, (..., 2, m), for a^A, a^B and g, (..., 3, m)."""
    a, g = dual[..., :2, :], dual[..., 2, :]
    return a + np.stack([-g, g], axis=-2)


def primal_value(margins, norms, costs, eps):
    """Return the primal values (q,) for y f_A, y f_B (q, 2, m) and |w_A|^2 + |w_B|^2 (q,)."""
    losses = (costs[..., :2, :] * np.maximum(0, 1 - margins)).sum(axis=(-2, -1))
    apart = np.maximum(0, np.abs(margins[..., 0, :] - margins[..., 1, :]) - eps)
    return norms / 2 + losses + (costs[..., 2, :] * apart).sum(axis=-1)


def dual_value(dual, norms, eps):
    """Return the dual values (q,) for a^A, a^B and g (q, 3, m), and beta'K beta (q,)."""
    return (
        dual[..., :2, :].sum(axis=(-2, -1)) - eps * np.abs(dual[..., 2, :]).sum(axis=-1) - norms / 2
    )


class BoxProgram:
    """The dual of one problem as min 1/2 |F'P x|^2 - c'x over 0 <= x <= upper, x (4, m).

    FA (m, r_A), FB (m, r_B); y (m,); costs (3, m).

    >>> I = np.eye(2)
    >>> program = BoxProgram(I, I, np.array([1.0, -1.0]), np.ones((3, 2)), 0.1)
    >>> dual, steps = interior_point(program, tol=1e-9, max_iter=20)
    >>> dual[:2].round(3).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """

    def __init__(self, FA, FB, y, costs, eps):
        self.FA, self.FB, self.y, self.costs, self.eps = FA, FB, y, costs, eps
        upper = costs[[0, 1, 2, 2]]
        self.used = upper > 0  # a loss that is left out has no effect
        self.upper = np.where(self.used, upper, 1.0)
        self.c = self.used * np.array([[1.0], [1.0], [-eps], [-eps]])
        A, B = ((F**2).sum(axis=1).max() for F in (FA, FB))
        self.damping = DAMPING * np.array([[A], [B], [A + B], [A + B]])

    def dual(self, x):
        """Return a^A, a^B and g."""
        a, b, up, down = self.used * x
        return np.array([a, b, up - down])

    def weights(self, x):
        """Return F'P x, that is w_A and w_B."""
        beta = self.y * signed_betas(self.dual(x))
        return np.concatenate([beta[0] @ self.FA, beta[1] @ self.FB])

    def margins(self, w):
        """Return y f_A and y f_B, (2, m)."""
        A, B = np.split(w, [self.FA.shape[1]])
        return self.y * np.array([self.FA @ A, self.FB @ B])

    def back(self, f):
        """Return P'f."""
        A, B = f
        return self.used * np.array([A, B, B - A, A - B])

    def newton(self, x, s, t, gradient):
        """Return the step (dx, ds, dt) as a function of the targets for s x and t (upper - x)."""
        room, (FA, FB) = self.upper - x, (self.FA, self.FB)
        inverse = 1.0 / (s / x + t / room + self.damping)  # Theta^-1
        a, b, up, down = self.used * inverse
        h = up + down
        cross = -(h * FA.T) @ FB
        system = np.block([[((a + h) * FA.T) @ FA, cross], [cross.T, ((b + h) * FB.T) @ FB]])
        system.flat[:: len(system) + 1] += 1.0
        factor = cho_factor(system, lower=True, overwrite_a=True, check_finite=False)

        def step(sx, tx):
            rho = sx / x - tx / room - gradient
            dw = cho_solve(factor, self.weights(inverse * rho), check_finite=False)
            dx = inverse * (rho - self.back(self.margins(dw)))
            return dx, sx / x - s - s / x * dx, tx / room - t + t / room * dx

        return step


def interior_point(program, *, tol, max_iter):
    """Return the dual (3, m) of a `BoxProgram` with a gap below tol times its value, and the steps.

    If rounding or `max_iter` prevent this, return the best point so far.
    """
    x, best, least = program.upper / 2, np.zeros_like(program.costs), np.inf
    for n_steps in range(1, max_iter + 1):
        w, dual = program.weights(x), program.dual(x)
        f = program.margins(w)
        primal = primal_value(f, w @ w, program.costs, program.eps)
        gap = primal - dual_value(dual, w @ w, program.eps)
        if gap < least:
            best, least = dual, gap
        gradient, room = program.back(f) - program.c, program.upper - x
        if n_steps == 1:
            size = np.abs(gradient).mean()
            s, t = np.maximum(gradient, 0) + size, np.maximum(-gradient, 0) + size
        total = (s * x + t * room).sum()
        if gap <= tol * primal or total <= ROUNDING * primal:
            break
        try:
            step = program.newton(x, s, t, gradient)
        except LinAlgError:  # due to rounding, too
            break
        dx, ds, dt = step(0.0, 0.0)
        along, across = longest(x, dx, room, -dx), longest(s, ds, t, dt)
        after = (s + across * ds) * (x + along * dx) + (t + across * dt) * (room - along * dx)
        mu = (after.sum() / total) ** 3 * total / (2 * x.size)
        dx, ds, dt = step(mu - dx * ds, mu + dx * dt)
        along = TO_THE_WALL * longest(x, dx, room, -dx)
        across = TO_THE_WALL * longest(s, ds, t, dt)
        x, s, t = x + along * dx, s + across * ds, t + across * dt
    return best, n_steps


def longest(one, d_one, other, d_other):
    """Return the largest step, at most 1, that keeps both above 0."""
    return 1.0 / max(1.0, (-d_one / one).max(), (-d_other / other).max())


def nearest(p, q, costs, eps, rho_A, rho_B):
    """Return the dual (q, 3, m) of the point under the losses that is nearest to p and q (q, m).

    It minimises C_A (1 - a)_+ + C_B (1 - b)_+ + D (|a - b| - eps)_+ + rho_A/2 (a - p)^2 +
    rho_B/2 (b - q)^2, and is a = p + (a^A - g) / rho_A, b = q + (a^B + g) / rho_B.
    """
    C_A, C_B, D = costs[:, 0], costs[:, 1], costs[:, 2]
    at_A, at_B = rho_A * (1 - p), rho_B * (1 - q)

    def given(g):
        aA, aB = np.minimum(np.maximum(at_A + g, 0), C_A), np.minimum(np.maximum(at_B - g, 0), C_B)
        return aA, aB, p - q + (aA - g) / rho_A - (aB + g) / rho_B

    sign = np.sign(given(0.0)[2])

    def apart(size):  # falls in |g|; the optimum is where it is 0
        return sign * given(sign * size)[2] - eps

    low, high = np.zeros_like(p), D
    at_low, at_high = apart(low), apart(high)
    at_D = at_high
    for bend in (-at_A, C_A - at_A, at_B, at_B - C_B):
        size = np.minimum(np.maximum(sign * bend, low), high)
        value = apart(size)
        above = value > 0
        low, at_low = np.where(above, size, low), np.where(above, value, at_low)
        high, at_high = np.where(above, high, size), np.where(above, at_high, value)
    fall = np.where(at_low > at_high, at_low - at_high, 1.0)
    size = low + (high - low) * np.minimum(np.maximum(at_low / fall, 0), 1)
    g = sign * np.where(at_D >= 0, D, size)
    aA, aB, _ = given(g)
    return np.stack([aA, aB, g], axis=1)


def by_view(kernels, sides, Y, V, form):
    """Return y `form`(K_v, y V) of the view v of every row, for V (q, 2, m) and sides (q, 2)."""
    out = np.empty_like(V)
    signed = Y[:, None] * V
    for v in np.unique(sides):
        out[sides == v] = form(kernels[v], signed[sides == v])
    out *= Y[:, None]
    return out


def split(kernels, sides, Y, costs, eps, *, tol, sweeps):
    """Return dual (q, 3, m), y beta (q, 2, m), which problems are solved, and in what sweep.

    beta belongs to f = K beta: its primal value is far below the dual point's. sides (q, 2): the
    views of a problem; Y (q, m); costs (q, 3, m); sweeps (q,): maximum numbers.
    """
    rho = np.ones(len(kernels))
    for v in np.unique(sides):  # where f and beta are of one size; a small C bounds beta
        weight = costs[:, :2][sides == v]
        rho[v] = min(6.0 / kernels[v].scale, 10.0 * weight[weight > 0].mean())
        kernels[v].shift(rho[v])
    found, smooth = np.zeros_like(costs), np.zeros((len(Y), 2, Y.shape[1]))
    taken, solved = sweeps.copy(), np.zeros(len(Y), dtype=bool)
    left, last = np.arange(len(Y)), sweeps
    z, u = np.zeros((2, len(Y), 2, Y.shape[1]))
    for sweep in range(1, sweeps.max() + 1):
        f = by_view(kernels, sides, Y, z - u, ViewKernel.smooth)
        p = RELAXATION * f + (1 - RELAXATION) * z + u
        scale = rho[sides][:, :, None]
        dual = nearest(p[:, 0], p[:, 1], costs, eps, scale[:, 0], scale[:, 1])
        drawn, beta = scale * (z - u - f), signed_betas(dual)
        u = -beta / scale
        z = p - u
        if sweep % EVERY and sweep < last.max():
            continue
        norms = (beta * by_view(kernels, sides, Y, beta, ViewKernel.times)).sum(axis=(1, 2))
        primal = primal_value(f, (drawn * f).sum(axis=(1, 2)), costs, eps)
        done = primal - dual_value(dual, norms, eps) <= tol * primal
        found[left], smooth[left], taken[left], solved[left] = dual, drawn, sweep, done
        go = ~done & (sweep < last)
        left, last, sides, Y, costs, z, u = (of[go] for of in (left, last, sides, Y, costs, z, u))
        if len(left) == 0:
            break
    return found, smooth, solved, taken


def solve_pairs(kernels, sides, Y, costs, eps, *, tol, max_iter):
    """Return dual (q, 3, m), beta (q, 2, m), primal and gap (q,) and sweeps (q,) of q problems.

    kernels: list of `ViewKernel`; sides (q, 2): the views of a problem; Y (q, m): labels -1 and +1;
    costs (q, 3, m): C_A, C_B and D of every sample. The gap is for the kernels, not their factors.
    """
    ranks = np.array([kernel.rank for kernel in kernels])[sides].sum(axis=1)
    dual, beta = np.zeros_like(costs), np.zeros((len(Y), 2, Y.shape[1]))
    n_sweeps = np.zeros(len(Y), dtype=int)
    left, high = np.flatnonzero(ranks <= FEW), np.flatnonzero(ranks > FEW)
    if len(high):
        sweeps = np.where(ranks[high] <= MANY, min(PATIENCE, max_iter), max_iter)
        of_high = sides[high], Y[high], costs[high], eps
        found = split(kernels, *of_high, tol=tol, sweeps=sweeps)
        dual[high], beta[high], solved, n_sweeps[high] = found
        left = np.append(left, high[~solved & (sweeps < max_iter)])
    factors = {v: kernels[v].factor() for v in np.unique(sides[left])}
    options = {"tol": tol / 2, "max_iter": min(STEPS, max_iter)}
    for i in left:
        program = BoxProgram(*(factors[v] for v in sides[i]), Y[i], costs[i], eps)
        dual[i], steps = interior_point(program, **options)
        beta[i], n_sweeps[i] = signed_betas(dual[i]), n_sweeps[i] + steps
    feasible = signed_betas(dual)
    f, g = (by_view(kernels, sides, Y, of, ViewKernel.times) for of in (beta, feasible))
    primal = primal_value(f, (beta * f).sum(axis=(1, 2)), costs, eps)
    gap = primal - dual_value(dual, (feasible * g).sum(axis=(1, 2)), eps)
    dual[:, 2] *= Y
    return dual, Y[:, None] * beta, primal, gap, n_sweeps
