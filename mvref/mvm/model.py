"""The multi-view machine as a function of its factors: score, objective and gradient.

Symbols, equations and departures are those of :mod:`mvref.mvm`. A *block* is one matrix A of
factors; a *term* is a product over blocks, summed over factors. The model of Eq. (9) has one
block per view and one term. With groups of views it has one term per group, whose blocks are
shared with other groups, or not.

The start of the solvers. At A = 0 every derivative of the score of order below V vanishes. With
two views it is a saddle if the L2 penalty is not too large; with three or more a strict local
minimum, and from four on small random factors go there: the gradient of a product of V small
numbers is a product of V - 1 of them. The live start has bias rows of -1 and +1 instead, so that
each view sees a linear model at first.

Interpretation of the factors, by order of interaction. Expanding the products of Eq. (9) gives one
contribution for every subset T of the views in a term: sum_f prod_{v in T} <x_v, a_vf>
prod_{v not in T} b_vf, with the feature rows a and the bias row b of A. It is the inner product of
the outer product of the x_v with the tensor of weights

    W_T = sum_f (prod_{v not in T} b_vf) a_v1f o a_v2f o ...        (Eq. 3; W of no view is Eq. 8)
"""

from itertools import combinations

import numpy as np
from scipy import sparse

from ..core.input import root_mean_squares, take_rows, view_features
from ..core.losses import LOSSES, PENALTIES

NUMBERS_PER_PART = 2**15  # a table with so many entries stays in the cache of a core
MOST_NUMBERS = 10**8  # of one result: 800 MB


def prefix_products(S, terms):
    """Return the scores, Eq. (9), and the products of the blocks that precede each block.

    S (n, k): S_b = Z_b A_b of every block -> scores (n,), prefixes (n, k).
    """
    scores, prefixes = np.zeros(len(S[0])), []
    for *first, last in terms:
        prefix = [None]
        for b in first:
            prefix.append(S[b] if prefix[-1] is None else prefix[-1] * S[b])
        if prefix[-1] is None:
            scores += S[last].sum(axis=1)
        else:
            scores += np.einsum("nk,nk->n", prefix[-1], S[last])
        prefixes.append(prefix)
    return scores, prefixes


def leave_one_out(S, terms, prefixes, slopes):
    """Return slopes * H_b for every block, H_b the products over the other blocks, Eq. (16).

    H_b is prefix times suffix, never the whole product divided by S_b, which may be 0.

    S (n, k); slopes (n,): derivative of the loss; ones give H itself -> H (n, k).

    >>> S, terms = [np.array([[2.0]]), np.array([[0.0]]), np.array([[5.0]])], [[0, 1, 2]]
    >>> scores, prefixes = prefix_products(S, terms)
    >>> [float(H[0, 0]) for H in leave_one_out(S, terms, prefixes, np.ones(1))]
    [0.0, 10.0, 0.0]
    """
    H = [None] * len(S)
    for term, prefix in zip(terms, prefixes, strict=True):
        suffix = np.repeat(slopes, S[0].shape[1]).reshape(S[0].shape)
        for b, before in zip(term[::-1], prefix[::-1], strict=True):
            mine = None if before is S[term[0]] else before  # the second block's prefix is an S
            product = suffix if before is None else np.multiply(before, suffix, out=mine)
            H[b] = product if H[b] is None else H[b] + product
            if before is not None:
                suffix *= S[b]
    return H


class Design:
    """The matrices z of all samples: every view with a column of ones appended.

    A missing view has zeros for features, and its constant: z = (0, ..., 0, 1).

    Z (n, d_v + 1); weights (n,): of the samples, on average 1; parts: the samples in parts whose
    tables of factors fit into the cache, and which have more rows than a sparse view has columns,
    so that parts do not cost more memory than the whole.
    """

    def __init__(self, X, structure, n_factors, weights=None):
        self.Z = [_with_ones(view) for view in view_features(X, 0.0)]
        self.n, self.k, (self.views, self.terms) = X.n_samples, n_factors, structure
        self.weights = np.ones(self.n) if weights is None else weights
        widest = max([Z.shape[1] for Z in self.Z if sparse.issparse(Z)], default=1)
        size = max(NUMBERS_PER_PART // n_factors, widest, 1)
        self.parts = []
        for start in range(0, self.n, size):
            rows = slice(start, min(start + size, self.n))
            Z = [take_rows(Z_v, rows) for Z_v in self.Z]
            self.parts.append((rows, Z, [Z_v.T for Z_v in Z]))

    def column_sizes(self):
        """Return the root mean square of every column of z, a list of V arrays (d_v + 1,)."""
        if np.all(self.weights == 1.0):
            return [root_mean_squares(Z) for Z in self.Z]
        return [root_mean_squares(_times_rows(Z, np.sqrt(self.weights))) for Z in self.Z]

    def feature_units(self):
        """Return each view's root mean square of features that are not 0, at least 1, (V,).

        It is 1 for views that are standardised, or one-hot.
        """
        units = []
        for Z, sizes in zip(self.Z, self.column_sizes(), strict=True):
            per_row = np.diff(Z.indptr) if sparse.issparse(Z) else np.count_nonzero(Z, axis=1)
            stored = self.weights @ (per_row - 1.0)  # without the constant
            largest = sizes.max()  # at least 1, the size of the constant
            mean_square = np.sum((sizes[:-1] / largest) ** 2) * self.n / (stored or 1.0)
            units.append(max(largest * np.sqrt(mean_square), 1.0))
        return units

    @property
    def shapes(self):
        """Shape (d_v + 1, k) of every block."""
        return [(self.Z[v].shape[1], self.k) for v in self.views]

    def products(self, factors, Z=None):
        """Return S_b = Z_b A_b of every block, for all samples or those of one part."""
        Z = self.Z if Z is None else Z
        return [np.asarray(Z[v] @ A) for v, A in zip(self.views, factors, strict=True)]

    def scores(self, factors):
        """Return Eq. (9), shape (n,); may be infinite or NaN where products overflow."""
        scores = np.empty(self.n)
        with np.errstate(over="ignore", invalid="ignore"):
            for rows, Z, _ in self.parts:
                scores[rows] = prefix_products(self.products(factors, Z), self.terms)[0]
        return scores


def _with_ones(view):
    n, d = view.shape
    if sparse.issparse(view):
        return sparse.hstack([view, sparse.csr_matrix(np.ones((n, 1)))], format="csr")
    Z = np.ones((n, d + 1))  # row by row, so that all forms of input are rounded alike
    Z[:, :-1] = view
    return Z


def _times_rows(Z, factors):
    """Return every row of Z (n, d) times its factor (n,)."""
    if not sparse.issparse(Z):
        return Z * factors[:, None]
    Z = Z.copy()  # with its indices, which scipy may sort in place
    Z.data *= np.repeat(factors, np.diff(Z.indptr))
    return Z


class Objective:
    """Weighted mean loss plus alpha times the penalty of all factors, Eq. (10), and its gradient.

    y (n,): targets; labels are -1 and +1; loss, penalty: keys of LOSSES and PENALTIES; alpha:
    lambda; "auto": no penalty here, and one per column in the solver; smoothing: eps of Eq. (15).
    """

    def __init__(self, design, y, *, loss, penalty, alpha, smoothing):
        self.design, self.y, self.smoothing, self.loss_name = design, y, smoothing, loss
        self.auto = isinstance(alpha, str)
        self.alpha = 0.0 if self.auto else alpha
        self.loss, self.penalty = LOSSES[loss], PENALTIES[penalty]

    def losses(self, scores, rows):
        """Return the losses of some samples and their slopes, both times the samples' weights."""
        losses, slopes = self.loss(scores, self.y[rows])
        return self.design.weights[rows] * losses, self.design.weights[rows] * slopes

    def mean_loss(self, factors):
        """Return the mean loss; infinite where products overflow."""
        with np.errstate(over="ignore", invalid="ignore"):
            value = self.losses(self.design.scores(factors), slice(None))[0].mean()
        return np.inf if np.isnan(value) else float(value)

    def value(self, factors):
        """Return Eq. (10); infinite where products overflow."""
        penalty = sum(self.penalty(A, self.smoothing)[0] for A in factors)
        return self.mean_loss(factors) + self.alpha * penalty

    def value_and_gradient(self, factors):
        """Return Eq. (10) and its derivative with respect to every block of factors."""
        design, value, gradient = self.design, 0.0, []
        for A in factors:
            penalty, slope = self.penalty(A, self.smoothing)
            value += self.alpha * penalty
            slope *= self.alpha
            gradient.append(slope)
        with np.errstate(over="ignore", invalid="ignore"):
            for rows, Z, Zt in design.parts:
                S = design.products(factors, Z)
                scores, prefixes = prefix_products(S, design.terms)
                losses, slopes = self.losses(scores, rows)
                value += losses.sum() / design.n
                H = leave_one_out(S, design.terms, prefixes, slopes / design.n)
                for v, G, H_b in zip(design.views, gradient, H, strict=True):
                    G += Zt[v] @ H_b  # Eqs. (16) to (19)
        return float(value), gradient


def start_factors(init, scale, design, rng):
    """Draw the initial factors of a solver.

    init: "paper": all entries N(0, scale^2). "live": feature rows N(0, scale^2 / d_v), bias rows of
    -1 and +1, so that the other views' product is about -1 or +1 in every gradient, however many
    views there are. Features above unit size have correspondingly smaller rows.
    """
    if init == "paper":
        return [rng.normal(0.0, scale, size=shape) for shape in design.shapes]
    units, factors = design.feature_units(), []
    for v, signs in zip(design.views, live_signs(design), strict=True):
        d = design.Z[v].shape[1] - 1
        features = rng.normal(0.0, scale / np.sqrt(max(d, 1)), size=(d, design.k))
        factors.append(np.vstack([features / units[v], signs]))
    return factors


def live_signs(design):
    """Return signs of the bias rows whose products sum to 0 over the factors in every term.

    For one term: +1 in all blocks but the first, which alternates. For several, block b is a
    Walsh function, the parity of the bits that f and a code of b share. Products of Walsh
    functions are Walsh functions, of the exclusive or of their codes, and sum to 0 unless that is
    0: the codes are chosen, last block first, such that it is 0 in as few terms as possible. For k
    factors there are as many codes as the largest power of 2 that divides k; an odd k has one,
    but its signs alternate, too.
    """
    k = design.k
    n_codes = max(k & -k, 2)
    codes = [0] * len(design.views)
    for b in reversed(range(len(codes))):
        decided = [term for term in design.terms if term[0] == b]
        rest = [int(np.bitwise_xor.reduce([codes[c] for c in term])) for term in decided]
        codes[b] = min(range(n_codes), key=lambda code, rest=rest: rest.count(code))
    return [np.array([(-1.0) ** (f & code).bit_count() for f in range(k)]) for code in codes]


def contributions(features, factors, views, terms):
    """Return the contribution of every subset of the views to every score.

    features (n, d_v); factors: one per block; views: view of every block; terms: blocks of every
    term.

    >>> features = [np.array([[2.0]]), np.array([[3.0]])]
    >>> factors = [np.array([[1.0], [10.0]]), np.array([[1.0], [1.0]])]  # (2 + 10) (3 + 1)
    >>> parts = contributions(features, factors, [0, 1], [[0, 1]])
    >>> {T: float(part[0]) for T, part in parts.items()}
    {(): 10.0, (0,): 2.0, (1,): 30.0, (0, 1): 6.0}
    """
    n, n_subsets = features[0].shape[0], sum(2 ** len(term) for term in terms)
    if n * n_subsets > MOST_NUMBERS:
        raise ValueError(
            f"X has {n} samples, and its groups of views have {n_subsets} subsets: more than "
            f"{MOST_NUMBERS} contributions. Pass fewer samples at a time."
        )
    linear = [np.asarray(features[v] @ A[:-1]) for v, A in zip(views, factors, strict=True)]
    bias = [A[-1] for A in factors]
    parts = {}

    def expand(blocks, product, subset):
        if not blocks:
            parts[subset] = parts.get(subset, 0.0) + product.sum(axis=1)
            return
        b, *rest = blocks
        expand(rest, product * bias[b], subset)
        expand(rest, product * linear[b], (*subset, views[b]))

    for term in terms:
        expand(term, np.ones((n, factors[0].shape[1])), ())
    return {subset: parts[subset] for subset in sorted(parts, key=lambda s: (len(s), s))}


def subset_weights(factors, views, terms, max_order):
    """Return the tensor W_T of every subset of at most `max_order` views."""
    weights, n_numbers = {}, 0
    for term in terms:
        for order in range(min(max_order, len(term)) + 1):
            for inside in combinations(term, order):
                n_numbers += int(np.prod([float(len(factors[b]) - 1) for b in inside]))
                if n_numbers > MOST_NUMBERS:
                    raise ValueError(
                        f"The weights up to max_order={max_order} are more than {MOST_NUMBERS} "
                        "numbers. Lower max_order."
                    )
                subset = tuple(views[b] for b in inside)
                bias = np.ones(factors[0].shape[1])
                for b in set(term) - set(inside):
                    bias = bias * factors[b][-1]
                tensor = _tensor([factors[b][:-1] for b in inside], bias)
                weights[subset] = weights.get(subset, 0.0) + tensor
    return {subset: weights[subset] for subset in sorted(weights, key=lambda s: (len(s), s))}


def _tensor(parts, bias):
    """Return sum_f bias_f times the outer product of the columns f of the parts."""
    if not parts:
        return bias.sum()
    *first, last = parts
    tensor = bias
    for A in first:
        tensor = tensor[..., None, :] * A
    return tensor @ last.T
