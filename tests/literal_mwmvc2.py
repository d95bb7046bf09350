"""Slow literal twins of MwMvC2: Algorithm 1 as printed and its monotone form, one loop per sum.

Nothing here calls mvref, so that a test compares two independent implementations of the paper.

Ms is a list of V matrices of shape (m, n_v) with entries y_i h_vj(x_i) in [-1, 1]; an entry is 0
where the view is missing. All sums over samples, views and voters are Python loops.
"""

import itertools
import math
from dataclasses import dataclass, field

import numpy as np


@dataclass
class Path:
    """State after 0, 1, ..., T updates; ``bound[t]`` is the bound of update t on D."""

    loss: list = field(default_factory=list)  # T + 1 values of D
    rho: list = field(default_factory=list)  # T + 1 lists of V weights
    pi: list = field(default_factory=list)  # T + 1 lists of V lists of n_v weights
    bound: list = field(default_factory=list)  # T values, at most 0

    def add(self, Ms, rho, pi):
        self.loss.append(loss(margins(Ms, rho, pi)))
        self.rho.append(list(rho))
        self.pi.append([list(weights) for weights in pi])


def margins(Ms, rho, pi):
    """Return z_i = sum_v rho_v sum_j M_v,ij pi_vj."""
    z = []
    for i in range(len(Ms[0])):
        total = 0.0
        for v, M in enumerate(Ms):
            total += rho[v] * sum(M[i][j] * pi[v][j] for j in range(len(pi[v])))
        z.append(total)
    return z


def loss(z):
    """Return D = sum_i ln(1 + e^-z_i), without overflow of an exponential."""
    return sum(max(0.0, -z_i) + math.log1p(math.exp(-abs(z_i))) for z_i in z)


def sigma(z_i):
    """Return 1 / (1 + e^z), the paper's decreasing sigma."""
    return 1 / (1 + math.exp(z_i)) if z_i < 0 else math.exp(-z_i) / (1 + math.exp(-z_i))


def signed_weights(M, q):
    """Return, for every voter, the weights of its right and wrong votes (steps 6 and 7)."""
    W_plus, W_minus = [], []
    for j in range(len(M[0])):
        W_plus.append(sum(q[i] * M[i][j] for i in range(len(q)) if M[i][j] > 0))
        W_minus.append(sum(-q[i] * M[i][j] for i in range(len(q)) if M[i][j] < 0))
    return W_plus, W_minus


def smoothed_delta(w_plus, w_minus, smoothing):
    """Return step 8, 1/2 ln(W+/W-), clipped at +-1/2 ln((1 + s)/s) for the smoothing s.

    The cut is |r/Q| <= 1/(1 + 2 s) in delta = arctanh(r/Q), Q = W+ + W-. A voter that never votes
    keeps its weight. Without smoothing a voter that is never wrong raises a ValueError.
    """
    if w_plus + w_minus == 0:
        return 0.0
    if smoothing == 0 and min(w_plus, w_minus) == 0:
        raise ValueError("W+ or W- is 0 and delta infinite: give a smoothing above 0.")
    largest = 0.5 * math.log((1 + smoothing) / smoothing) if smoothing else math.inf
    if w_minus == 0:
        return largest
    if w_plus == 0:
        return -largest
    return max(-largest, min(largest, 0.5 * (math.log(w_plus) - math.log(w_minus))))


def directions(Ms, q, smoothing):
    """Run steps 4 to 8 for all views; return W+, W- and delta, each a list of V lists."""
    signed = [signed_weights(M, q) for M in Ms]
    W_plus = [pair[0] for pair in signed]
    W_minus = [pair[1] for pair in signed]
    delta = [
        [smoothed_delta(a, b, smoothing) for a, b in zip(*pair, strict=True)] for pair in signed
    ]
    return W_plus, W_minus, delta


def uniform_start(Ms):
    rho = [1 / len(Ms) for _ in Ms]
    pi = [[1 / len(M[0]) for _ in M[0]] for M in Ms]
    return rho, pi


def literal_printed(Ms, T, smoothing=0.0):
    """Run Algorithm 1 as printed, with T updates; ``bound`` is Eq. (11).

    Views tied for the largest gain, within 1e-12, get equal weights: every mixture solves (8).
    """
    rho, pi = uniform_start(Ms)
    path = Path()
    path.add(Ms, rho, pi)
    for _ in range(T):
        q = [sigma(z_i) for z_i in margins(Ms, rho, pi)]
        W_plus, W_minus, delta = directions(Ms, q, smoothing)
        gain = []
        for v in range(len(Ms)):
            pi[v] = [pi[v][j] + delta[v][j] for j in range(len(pi[v]))]
            pairs = zip(W_plus[v], W_minus[v], strict=True)
            gain.append(sum((math.sqrt(a) - math.sqrt(b)) ** 2 for a, b in pairs))
        best = [v for v in range(len(Ms)) if gain[v] >= max(gain) - 1e-12]
        rho = [1 / len(best) if v in best else 0.0 for v in range(len(Ms))]
        path.bound.append(-sum(rho[v] * gain[v] for v in range(len(Ms))))
        path.add(Ms, rho, pi)
    return path


def literal_monotone(Ms, T, smoothing=0.0, step="backtrack"):
    """Run the monotone form: the same delta, a step of 1/N to 1 at fixed rho, a convex rho step.

    ``step`` is "collins" (1/N) or "backtrack" (1, halved until D decreases as guaranteed for 1/N,
    never below 1/N). ``bound`` is the corrected Eq. (10) at 1/N, which the step in pi alone has to
    satisfy. Close to the optimum the test of "backtrack" compares two numbers that differ only by
    rounding, and another order of the sums may halve once more.
    """
    rho, pi = uniform_start(Ms)
    path = Path()
    path.add(Ms, rho, pi)
    for _ in range(T):
        z = margins(Ms, rho, pi)
        W_plus, W_minus, delta = directions(Ms, [sigma(z_i) for z_i in z], smoothing)
        N = largest_row(Ms, rho)
        bound = 0.0
        for v in range(len(Ms)):
            for a, b, d in zip(W_plus[v], W_minus[v], delta[v], strict=True):
                bound += rho[v] * (a * (math.exp(-d) - 1) + b * (math.exp(d) - 1)) / N
        h = margins(Ms, rho, delta)
        eta = 1.0 if step == "backtrack" else 1 / N
        while eta > 1 / N and moved_loss(z, h, eta) > loss(z) + bound:
            eta = max(eta / 2, 1 / N)
        for v in range(len(Ms)):
            pi[v] = [pi[v][j] + eta * delta[v][j] for j in range(len(pi[v]))]
        proposed = rho_by_enumeration(Ms, rho, pi)
        if loss(margins(Ms, proposed, pi)) <= loss(margins(Ms, rho, pi)):
            rho = proposed
        path.bound.append(bound)
        path.add(Ms, rho, pi)
    return path


def largest_row(Ms, rho):
    """Return N = max_i sum_v rho_v sum_j |M_v,ij|, at least 1."""
    rows = [
        sum(rho[v] * sum(abs(entry) for entry in M[i]) for v, M in enumerate(Ms))
        for i in range(len(Ms[0]))
    ]
    return max(1.0, *rows)


def moved_loss(z, h, eta):
    return loss([z_i + eta * h_i for z_i, h_i in zip(z, h, strict=True)])


def rho_by_enumeration(Ms, rho, pi):
    """Minimise -q'G rho' + 1/8 |G(rho' - rho)|^2 over the simplex, G_iv = (M_v pi_v)_i.

    Every non-empty set of views is tried as the support: on it the minimiser with sum 1 solves a
    linear system, and the best solution without a negative entry is the answer. That takes
    2^V - 1 systems and no solver. Where the minimiser is not unique, one of them is returned.
    """
    V = len(Ms)
    one_view = [[float(v == u) for v in range(V)] for u in range(V)]
    G = np.array([margins(Ms, one_view[v], pi) for v in range(V)]).T
    q = np.array([sigma(z_i) for z_i in G @ np.array(rho)])
    H = G.T @ G / 4
    slope = -G.T @ q - H @ np.array(rho)  # the objective is slope'rho' + 1/2 rho'H rho' + const
    best, best_value = list(rho), math.inf
    for size in range(1, V + 1):
        for support in itertools.combinations(range(V), size):
            system = np.ones((size + 1, size + 1))
            system[:size, :size] = H[np.ix_(support, support)]
            system[size, size] = 0.0
            right = np.append(-slope[list(support)], 1.0)
            weights = np.linalg.lstsq(system, right, rcond=None)[0][:size]
            if weights.min() < 0 or abs(weights.sum() - 1) > 1e-9:
                continue
            candidate = np.zeros(V)
            candidate[list(support)] = weights
            value = slope @ candidate + candidate @ H @ candidate / 2
            if value < best_value - 1e-15:
                best, best_value = candidate.tolist(), value
    return best
