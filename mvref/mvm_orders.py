"""What the factors of a multi-view machine say, order by order of interaction.

Expanding the products of Eq. (9) gives one contribution for every subset T of the views in a
term: sum_f prod_{v in T} <x_v, a_vf> prod_{v not in T} b_vf, with the feature rows a and the bias
row b of A. It is the inner product of the outer product of the x_v with the tensor of weights

    W_T = sum_f (prod_{v not in T} b_vf) a_v1f o a_v2f o ...        (Eq. 3; W of no view is Eq. 8)
"""

from itertools import combinations

import numpy as np

MOST_NUMBERS = 10**8  # of one answer: 800 MB


def contributions(features, factors, views, terms):
    """Return the contribution of every subset of the views to every score.

    Parameters
    ----------
    features : list of V arrays or CSR matrices, shape (n, d_v)
    factors : list of arrays (d_v + 1, k)
        One per block.
    views : list of int
        View of every block.
    terms : list of lists of int
        Blocks of every term.

    Returns
    -------
    parts : dict tuple of views -> array (n,)
        They add up to the scores.

    Raises
    ------
    ValueError
        If there are more than 1e8 numbers in it.

    Examples
    --------
    >>> import numpy as np
    >>> from mvref.mvm_orders import contributions
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
            f"{MOST_NUMBERS} contributions; pass fewer samples at a time."
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
    """Return the tensor W_T of every subset of at most `max_order` views.

    Parameters
    ----------
    factors : list of arrays (d_v + 1, k)
    views : list of int
    terms : list of lists of int
    max_order : int

    Returns
    -------
    weights : dict tuple of views -> array with one axis per view
        A number for no view.

    Raises
    ------
    ValueError
        If they hold more than 1e8 numbers.
    """
    weights, n_numbers = {}, 0
    for term in terms:
        for order in range(min(max_order, len(term)) + 1):
            for inside in combinations(term, order):
                n_numbers += int(np.prod([float(len(factors[b]) - 1) for b in inside]))
                if n_numbers > MOST_NUMBERS:
                    raise ValueError(
                        f"the weights up to max_order={max_order} are more than {MOST_NUMBERS} "
                        "numbers; lower max_order."
                    )
                subset = tuple(views[b] for b in inside)
                bias = np.ones(factors[0].shape[1])
                for b in set(term) - set(inside):
                    bias = bias * factors[b][-1]
                tensor = _tensor([factors[b][:-1] for b in inside], bias)
                weights[subset] = weights.get(subset, 0.0) + tensor
    return {subset: weights[subset] for subset in sorted(weights, key=lambda s: (len(s), s))}


def _tensor(parts, bias):
    """sum_f bias_f times the outer product of the columns f of the parts."""
    if not parts:
        return bias.sum()
    *first, last = parts
    tensor = bias
    for A in first:
        tensor = tensor[..., None, :] * A
    return tensor @ last.T
