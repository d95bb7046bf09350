"""The multi-view machine as a function of its factors: score, objective and gradient.

Symbols, equations and departures are those of :mod:`mvref.mvm`. A *block* is one matrix A of
factors; a *term* is a product over blocks, summed over factors. The machine of Eq. (9) has one
block per view and one term. With groups of views it has one term per group, whose blocks are
shared with other groups, or not.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from .columns import view_features
from .mvm_losses import LOSSES, PENALTIES

NUMBERS_PER_PART = 2**15  # a table of so many numbers stays in the cache of a core


class Structure(NamedTuple):
    """Which views are multiplied.

    Parameters
    ----------
    views : list of int
        View of every block.
    terms : list of lists of int
        Blocks of every term, in the order of the views.
    """

    views: list
    terms: list


def group_structure(groups, X, shared):
    """Return the structure of groups of views.

    Parameters
    ----------
    groups : None or list of lists of int and str
        Positions or names of the views of every group; None is one group of all views.
    X : MultiView
    shared : bool
        True: a view has one block, which all its groups use. False: one block per group.

    Returns
    -------
    structure : Structure

    Raises
    ------
    ValueError
        If a group is empty, names a view twice or one that is not there, is given twice, or if
        a view is in no group.

    Examples
    --------
    >>> import numpy as np
    >>> from mvref import MultiView
    >>> from mvref.mvm_model import group_structure
    >>> X = MultiView({"user": np.eye(2), "ad": np.eye(2), "query": np.eye(2)})
    >>> group_structure([["user", "ad"], ["ad", "query"]], X, shared=True)
    Structure(views=[0, 1, 2], terms=[[0, 1], [1, 2]])
    >>> group_structure([["user", "ad"], ["ad", "query"]], X, shared=False)
    Structure(views=[0, 1, 1, 2], terms=[[0, 1], [2, 3]])
    """
    if groups is None:
        return Structure(list(range(X.n_views)), [list(range(X.n_views))])
    if isinstance(groups, str) or not isinstance(groups, list | tuple) or not groups:
        raise ValueError(f"groups must be None or a list of lists of views, got {groups!r}.")
    members = [_members(group, X) for group in groups]
    if len({tuple(group) for group in members}) < len(members):
        raise ValueError(f"groups holds the same group twice: {groups!r}.")
    left_out = [name for v, name in enumerate(X.names) if not any(v in group for group in members)]
    if left_out:
        raise ValueError(
            f"groups must cover all views, but {groups!r} leaves out {left_out}; drop a view with "
            "MultiView.select if it is not wanted."
        )
    if shared:
        return Structure(list(range(X.n_views)), members)
    ends = np.cumsum([len(group) for group in members])
    terms = [list(range(end - len(g), end)) for end, g in zip(ends.tolist(), members, strict=True)]
    return Structure([v for group in members for v in group], terms)


def _members(group, X):
    """Sorted positions of the views of one group."""
    if isinstance(group, str) or not isinstance(group, list | tuple) or not group:
        raise ValueError(f"groups must hold lists of views, at least one view each, got {group!r}.")
    try:
        names = [X.select(view).names[0] for view in group]
    except ValueError as error:
        raise ValueError(f"groups has the group {group!r}: {error}") from None
    if len(set(names)) < len(names):
        raise ValueError(f"groups has the group {group!r}, in which a view stands twice.")
    return sorted(X.names.index(name) for name in names)


# ------------------------------------------------------------------ Eq. (9) and Eq. (16)


def prefix_products(S, terms):
    """Return the scores, Eq. (9), and the products of the blocks that precede each block.

    Parameters
    ----------
    S : list of arrays, shape (n, k)
        S_b = Z_b A_b of every block.
    terms : list of lists of int

    Returns
    -------
    scores : array, shape (n,)
        sum over terms and factors of prod_b S_b.
    prefixes : list of lists of arrays, shape (n, k)
        One per block of every term; None for the first, whose product is empty.
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

    Prefix times suffix, and never the whole product divided by S_b, which may be 0.

    Parameters
    ----------
    S : list of arrays, shape (n, k)
    terms : list of lists of int
    prefixes : list of lists of arrays
        Of :func:`prefix_products`; the answer is written over them.
    slopes : array, shape (n,)
        Derivative of the loss; ones give H itself.

    Returns
    -------
    H : list of arrays, shape (n, k)

    Examples
    --------
    >>> import numpy as np
    >>> from mvref.mvm_model import leave_one_out, prefix_products
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


# ------------------------------------------------------------------ data and objective


class Design:
    """The matrices z of all samples: every view with a last column of ones, ready for products.

    A missing view has zeros for features, and its constant: z = (0, ..., 0, 1).

    Parameters
    ----------
    X : MultiView
    structure : Structure
    n_factors : int

    Attributes
    ----------
    Z : list of V arrays or CSR matrices, shape (n, d_v + 1)
    parts : list of (slice, list of Z[rows], list of their transposes)
        The samples in parts whose tables of factors fit into the cache, and which have more rows
        than a sparse view has columns, so that parts do not cost more memory than the whole.
    """

    def __init__(self, X, structure, n_factors):
        self.Z = [_with_ones(view) for view in view_features(X, 0.0)]
        self.n, self.k, (self.views, self.terms) = X.n_samples, n_factors, structure
        widest = max([Z.shape[1] for Z in self.Z if sparse.issparse(Z)], default=1)
        size = max(NUMBERS_PER_PART // n_factors, widest, 1)
        self.parts = []
        for start in range(0, self.n, size):
            rows = slice(start, min(start + size, self.n))
            Z = [take_rows(Z_v, rows) for Z_v in self.Z]
            self.parts.append((rows, Z, [Z_v.T for Z_v in Z]))

    def column_sizes(self):
        """Return the root mean square of every column of z, a list of V arrays (d_v + 1,)."""
        return [_root_mean_squares(Z) for Z in self.Z]

    def feature_units(self):
        """Return the root mean square of each view's features that are not 0, but at least 1.

        A number for every view; it is 1 for views that are standardised, or one-hot.
        """
        units = []
        for Z, sizes in zip(self.Z, self.column_sizes(), strict=True):
            stored = (Z.nnz if sparse.issparse(Z) else np.count_nonzero(Z)) - self.n
            largest = sizes.max()  # at least that of the constant, 1
            mean_square = np.sum((sizes[:-1] / largest) ** 2) * self.n / max(stored, 1)
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


def _root_mean_squares(Z):
    """Of every column, without overflow."""
    largest = abs(Z).max()
    scaled = Z / largest
    if sparse.issparse(Z):
        squares = np.asarray(scaled.power(2).sum(axis=0)).ravel()
    else:
        squares = np.einsum("ij,ij->j", scaled, scaled)
    return largest * np.sqrt(squares / Z.shape[0])


def take_rows(Z, rows):
    """Return the rows of a slice, seen and not copied.

    Parameters
    ----------
    Z : array or CSR matrix
    rows : slice
        With start and stop.

    Returns
    -------
    Z : array or CSR matrix
    """
    if not sparse.issparse(Z):
        return Z[rows]
    indptr = Z.indptr[rows.start : rows.stop + 1]
    stored = slice(indptr[0], indptr[-1])
    parts = Z.data[stored], Z.indices[stored], indptr - indptr[0]
    return sparse.csr_matrix(parts, shape=(len(indptr) - 1, Z.shape[1]))


class Objective:
    """Mean loss plus alpha times the penalty of all factors, Eq. (10), and its gradient.

    Parameters
    ----------
    design : Design
    y : array, shape (n,)
        Targets; labels are -1 and +1.
    loss, penalty : str
        Keys of LOSSES and PENALTIES.
    alpha : float
        lambda.
    smoothing : float
        eps of Eq. (15).
    """

    def __init__(self, design, y, *, loss, penalty, alpha, smoothing):
        self.design, self.y, self.alpha, self.smoothing = design, y, alpha, smoothing
        self.loss, self.penalty = LOSSES[loss], PENALTIES[penalty]

    def mean_loss(self, factors):
        """Return the mean loss; infinite where products overflow."""
        with np.errstate(over="ignore", invalid="ignore"):
            value = self.loss(self.design.scores(factors), self.y)[0].mean()
        return np.inf if np.isnan(value) else float(value)

    def value(self, factors):
        """Return Eq. (10); infinite where products overflow."""
        penalty = sum(self.penalty(A, self.smoothing)[0] for A in factors)
        return self.mean_loss(factors) + self.alpha * penalty

    def value_and_gradient(self, factors):
        """Return Eq. (10) and its derivative with respect to every block of factors.

        Parameters
        ----------
        factors : list of arrays

        Returns
        -------
        value : float
        gradient : list of arrays, of the shapes of the factors
        """
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
                losses, slopes = self.loss(scores, self.y[rows])
                value += losses.sum() / design.n
                H = leave_one_out(S, design.terms, prefixes, slopes / design.n)
                for v, G, H_b in zip(design.views, gradient, H, strict=True):
                    G += Zt[v] @ H_b  # Eqs. (16) to (19)
        return float(value), gradient
