"""ANOVA kernels and the interaction terms of factorisation machines.

S. Rendle, "Factorization machines", ICDM 2010; M. Blondel, A. Fujino, N. Ueda, M. Ishihata,
"Higher-order factorization machines", NIPS 2016.

The ANOVA kernel of order p sums the products of p different numbers out of z_1, ..., z_m:

    a_p(z) = sum over j_1 < ... < j_p of z_j1 ... z_jp

Recursion  a_{p,j} = a_{p,j-1} + z_j a_{p-1,j-1},  a_{0,j} = 1                  O(m p)
Order 2    a_2(z) = 1/2 [(sum_j z_j)^2 - sum_j z_j^2]                           (power trick)

Order p of a model is sum_f a_p, either of the products z_j = x_j v_jf of the features, Eq. (26),
or of the views' z_v = sum_j x_j^(v) v_jf^(v), Eq. (27) and its analogues of higher order, which
leave out products within a view.

Why the recursion for p > 2   Newton's identities give a_p from sums of powers of z by matrix
products alone, some twelve times as fast on 649 columns. But they lose digits if some z_j are
large: with 20 columns of scales 1e-3 to 1e3, relative errors of 2e-9 at p = 6 and 3e-4 at p = 8.
The recursion, which never cancels a power, has 4e-16; its steps process all rows of a block.
"""

import numpy as np
from scipy import sparse

BLOCK = 2**22  # numbers that the recursion over features may hold at a time: 32 MB
CACHE = 2**19  # the same for the recursion over views: 4 MB


def anova_kernel(Z, order):
    """Return the ANOVA kernel of order 1 or more of Z (m, ...) along its first axis.

    >>> float(anova_kernel(np.array([1.0, 2.0, 3.0]), 2))  # 1*2 + 1*3 + 2*3
    11.0
    """
    a = np.zeros((order + 1, *Z.shape[1:]))
    a[0] = 1.0
    for z in Z:
        a[1:] += z * a[:-1]
    return a[order]


def anova_gradient(Z, order):
    """Return the derivatives of :func:`anova_kernel`: forward recursion, then its adjoint.

    >>> anova_gradient(np.array([1.0, 2.0, 0.0]), 2)
    array([2., 1., 3.])
    """
    m = len(Z)
    a = np.zeros((m, order, *Z.shape[1:]))  # a[j, q] = a_{q,j}, of the entries before j
    a[:, 0] = 1.0
    for j in range(m - 1):
        a[j + 1, 1:] = a[j, 1:] + Z[j] * a[j, :-1]
    back = np.zeros((order, *Z.shape[1:]))  # back[q] = d a_p / d a_{q+1,j}
    back[-1] = 1.0
    gradient = np.empty_like(Z, dtype=float)
    for j in range(m - 1, -1, -1):
        gradient[j] = (back * a[j]).sum(axis=0)
        back[:-1] += Z[j] * back[1:]
    return gradient


class Columns:
    """Concatenated columns of all views, multiplied view by view; dense and CSR may be mixed.

    >>> Columns([np.eye(2), np.ones((2, 1))]).dot(np.array([1.0, 2.0, 3.0]))
    array([4., 5.])
    """

    def __init__(self, views):
        self.views = views
        all_sparse = all(sparse.issparse(view) for view in views)
        # One product with all columns writes its result once; products view by view, V times.
        self.tables = [sparse.hstack(views, format="csr")] if all_sparse else views
        self.ends = np.cumsum([view.shape[1] for view in views])
        self.n_samples, self.n_columns = views[0].shape[0], int(self.ends[-1])

    def products(self, W):
        """Return the list of X_v W_v, one (n, k) per view, for W (d, k)."""
        parts = np.split(W, self.ends[:-1])
        return [view @ part for view, part in zip(self.views, parts, strict=True)]

    def dot(self, W):
        """Return X W, shape (n,) or (n, k)."""
        if len(self.tables) == 1:
            return self.tables[0] @ W
        first, *others = self.products(W)
        return sum(others, start=first)

    def back(self, G):
        """Return X'G, for G (n,) or (n, k)."""
        return np.concatenate([table.T @ G for table in self.tables])

    def back_each(self, Gs):
        """Return X_v'G_v of every view, stacked, for V arrays G_v (n, k)."""
        return np.concatenate([view.T @ G for view, G in zip(self.views, Gs, strict=True)])


def interaction_terms(columns, order, multiview):
    """Return the terms of orders 2 to `order`; with `multiview`, there are at most V orders."""
    if multiview:
        order = min(order, len(columns.views))
    pairs, higher = (ViewPairTerm, ViewTerm) if multiview else (PairTerm, FeatureTerm)
    return [pairs(columns) if p == 2 else higher(columns, p) for p in range(2, order + 1)]


class PairTerm:
    """sum_{i<j} <v_i, v_j> x_i x_j of Eq. (26), by the power trick: O(k nnz)."""

    def __init__(self, columns):
        self.columns = columns
        squares = [v.power(2) if sparse.issparse(v) else v**2 for v in columns.views]
        self.squared = Columns(squares)

    def __call__(self, V):
        S = self.columns.dot(V)
        own = self.squared.dot((V * V).sum(axis=1))  # sum_f sum_i v_if^2 x_i^2
        scores = 0.5 * (np.einsum("nf,nf->n", S, S) - own)

        def pull_back(g):
            return self.columns.back(g[:, None] * S) - V * self.squared.back(g)[:, None]

        return scores, pull_back


class ViewPairTerm:
    """The interactions of Eq. (27), 1/2 (|sum_v s_v|^2 - sum_v |s_v|^2): O(k (nnz + n V))."""

    def __init__(self, columns):
        self.columns = columns

    def __call__(self, V):
        S = self.columns.products(V)  # s_v of every sample
        T = sum(S[1:], start=S[0])
        own = sum(np.einsum("nf,nf->n", s, s) for s in S)
        scores = 0.5 * (np.einsum("nf,nf->n", T, T) - own)

        def pull_back(g):
            return self.columns.back_each(g[:, None] * (T - s) for s in S)

        return scores, pull_back


class ViewTerm:
    """sum_f a_p of the views' sums for order p <= V: O(k (nnz + n p V))."""

    def __init__(self, columns, order):
        self.columns, self.order = columns, order

    def _blocks(self, k):
        """Yield slices of rows for which the recursion fits into the cache."""
        n, m = self.columns.n_samples, len(self.columns.views)
        step = max(1, CACHE // (m * self.order * k))
        return (slice(start, start + step) for start in range(0, n, step))

    def __call__(self, V):
        S = self.columns.products(V)
        scores = np.empty(self.columns.n_samples)
        for rows in self._blocks(V.shape[1]):
            scores[rows] = anova_kernel(np.array([s[rows] for s in S]), self.order).sum(axis=1)

        def pull_back(g):
            G = np.empty((len(S), *S[0].shape))
            for rows in self._blocks(V.shape[1]):
                D = anova_gradient(np.array([s[rows] for s in S]), self.order)
                np.multiply(g[rows, None], D, out=G[:, rows])
            return self.columns.back_each(G)

        return scores, pull_back


class FeatureTerm:
    """sum_f a_p of the features' products x_j v_jf: O(k p nnz), in blocks of similar rows."""

    def __init__(self, columns, order):
        self.order = order
        self.X = sparse.hstack([sparse.csr_matrix(view) for view in columns.views], format="csr")
        # Rows in order of their number of nonzeros, so that blocks need little padding.
        self.lengths = np.diff(self.X.indptr)
        self.rows = np.argsort(self.lengths, kind="stable")

    def _blocks(self, k):
        """Yield rows (r,) and their nonzeros, padded with zeros: columns, values (m, r)."""
        end = self.X.shape[0]
        while end > 0 and (m := self.lengths[self.rows[end - 1]]) > 0:
            r = max(1, BLOCK // int(m * self.order * k))
            rows = self.rows[max(0, end - r) : end]
            position = np.arange(m)[:, None]
            there = position < self.lengths[rows]
            at = np.where(there, self.X.indptr[rows] + position, 0)
            yield rows, self.X.indices[at], np.where(there, self.X.data[at], 0.0)
            end -= len(rows)

    def __call__(self, V):
        scores = np.zeros(self.X.shape[0])
        for rows, index, x in self._blocks(V.shape[1]):
            scores[rows] = anova_kernel(x[:, :, None] * V[index], self.order).sum(axis=1)

        def pull_back(g):
            gradient = np.zeros_like(V)
            for rows, index, x in self._blocks(V.shape[1]):
                D = anova_gradient(x[:, :, None] * V[index], self.order)
                # A column per nonzero, x g in the row of its feature: sums over each feature.
                parts = (x * g[rows]).ravel(), index.ravel(), np.arange(x.size + 1)
                gather = sparse.csc_matrix(parts, shape=(self.X.shape[1], x.size))
                gradient += gather @ D.reshape(x.size, -1)
            return gradient

        return scores, pull_back
