"""Where the solvers of a multi-view machine start.

At A = 0 every derivative of the score of order below V vanishes. With two views it is a saddle if
the L2 penalty is not too large; with three or more a strict local minimum, and from four on small
random factors go there: the gradient of a product of V small numbers is a product of V - 1 of them.
The live start has bias rows of -1 and +1 instead, so that each view sees a linear model at first.
"""

import numpy as np


def start_factors(init, scale, design, rng):
    """Draw the factors that a solver starts from.

    Parameters
    ----------
    init : {"live", "paper"}
        "paper": all entries N(0, scale^2). "live": feature rows N(0, scale^2 / d_v), bias rows of
        -1 and +1, so that the other views' product is about -1 or +1 wherever a gradient looks,
        however many views there are. Features above unit size have smaller rows to match.
    scale : float
    design : Design
    rng : RandomState

    Returns
    -------
    factors : list of arrays (d_v + 1, k)
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
    0: the codes are chosen, last block first, such that it is 0 in as few terms as can be. Of k
    factors there are as many codes as the largest power of 2 in k; an odd k has one, and its
    signs alternate all the same.

    Parameters
    ----------
    design : Design

    Returns
    -------
    signs : list of arrays (k,)
    """
    k = design.k
    n_codes = max(k & -k, 2)
    codes = [0] * len(design.views)
    for b in reversed(range(len(codes))):
        decided = [term for term in design.terms if term[0] == b]
        rest = [int(np.bitwise_xor.reduce([codes[c] for c in term])) for term in decided]
        codes[b] = min(range(n_codes), key=lambda code, rest=rest: rest.count(code))
    return [np.array([(-1.0) ** (f & code).bit_count() for f in range(k)]) for code in codes]
