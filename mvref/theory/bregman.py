"""Bregman divergences of MwMvC2: the logistic loss as a divergence, and the bound of one step.

Section 3 of Goyal, Morvant and Amini (IDA 2018), built on M. Collins, R. E. Schapire and
Y. Singer, "Logistic Regression, AdaBoost and Bregman Distances", Machine Learning 2002, and on
S. Della Pietra, V. Della Pietra and J. Lafferty, "Inducing Features of Random Fields", IEEE TPAMI
1997. Chapter: validate, part II.

Symbols   paper       code       meaning
          M_v         ``Ms[v]``  (m, n_v), y_i h_vj(x_i) in [-1, 1]; 0 where the view is missing
          rho         ``rho``    weights of the views, on the simplex
          pi_v        ``pi[v]``  weights of the voters of view v, any real numbers
          z           margins    sum_v rho_v M_v pi_v, that is y_i B(x_i) of Eq. (1)
          q           ``q``      1/(1 + e^z), above 1/2 where the vote is wrong
          F           negative_binary_entropy, with gradient log_odds
          W+-_vj      weighted_votes   weight under q of the right and of the wrong votes
          delta_v     ``delta``  change of pi_v
          -           step_scale N = max_i sum_v rho_v sum_j |M_v,ij|, at least 1

The two problems of Section 3.1 share one solution q*. With p~ = 0, as in Eq. (6), it is the
minimiser of D_F(0||q) over the closure of Q = {1/(1 + e^z)}, hence of the logistic loss, and it is
the minimiser of D_F(p||1/2) over all p in [0, 1]^m with p'M_v = 0 for every view: the weights of
largest entropy under which every voter is right as often as wrong. Where some vote is right on
every sample, p = 0 is the only such p, q* = 0 is on the boundary, and no finite weights attain it.

What is corrected (the chapter proves each and shows its counterexample)
    B1    Eq. (10) has no square and a plus between its terms; only so do delta and (11) follow;
    B2    it needs sum_v rho_v sum_j |M_v,ij| <= 1, so a step is divided by N;
    B3    it holds at fixed rho; a new rho also rescales the old pi;
    B4    Eq. (8) is a linear programme: its rho is one view, not a mixture;
    B5    the loss need not fall, and a falling loss need not reach the minimum;
    B6    rho_v pi_v is one vector of weights: the infimum is that of one logistic regression;
    B7    P has sum_v n_v constraints, r is any real vector, q is inside (0, 1), p may be 0 or 1.
"""

import numpy as np
from scipy.special import expit, logit, xlog1py, xlogy

from ..checks import check_choice, check_number

VERSIONS = ("corrected", "printed")
LARGEST_MARGIN = 30.0  # beyond, fewer than three digits of 1 - q survive in the float q


def negative_binary_entropy(p):
    """Return F(p) = sum_i p_i ln p_i + (1 - p_i) ln(1 - p_i), with 0 ln 0 = 0.

    Parameters
    ----------
    p : array, shape (m,)
        Between 0 and 1.

    Returns
    -------
    F : float
        Between ``-m ln 2`` and 0.

    Examples
    --------
    >>> from mvref.theory.bregman import negative_binary_entropy
    >>> round(negative_binary_entropy([0.5, 1.0]), 6)
    -0.693147
    """
    p = _in_unit_interval(p, "p")
    return float(np.sum(xlogy(p, p) + xlog1py(1 - p, -p)))


def log_odds(q):
    """Return the gradient of F, ln(q / (1 - q)).

    Parameters
    ----------
    q : array, shape (m,)
        Strictly between 0 and 1.

    Returns
    -------
    gradient : array, shape (m,)

    Examples
    --------
    >>> from mvref.theory.bregman import log_odds
    >>> log_odds([0.5, 0.75]).round(6)
    array([0.      , 1.098612])
    """
    return logit(_in_unit_interval(q, "q", open_interval=True))


def generic_divergence(F, grad_F, p, q):
    """Return the Bregman divergence of any differentiable convex F (Eq. 3).

    Parameters
    ----------
    F : callable
        From an array of shape (m,) to a number.
    grad_F : callable
        Gradient of F, from an array of shape (m,) to an array of shape (m,).
    p, q : array, shape (m,)

    Returns
    -------
    D : float
        ``F(p) - F(q) - <grad F(q), p - q>``.

    Raises
    ------
    ValueError
        If F or its gradient is not finite there.

    Examples
    --------
    >>> import numpy as np
    >>> from mvref.theory.bregman import generic_divergence
    >>> generic_divergence(lambda p: p @ p, lambda q: 2 * q, [3.0, 0.0], [0.0, 4.0])
    25.0
    """
    p, q = _vector(p, "p"), _vector(q, "q")
    _same_shape(p, "p", q, "q")
    value = F(p) - F(q) - np.dot(grad_F(q), p - q)
    if not np.isfinite(value):
        raise ValueError("F must be finite at p and q, and grad_F at q; the divergence is not.")
    return float(value)


def divergence(p, q):
    """Return D_F(p||q) of the negative binary entropy (Eq. 4).

    Parameters
    ----------
    p, q : array, shape (m,)
        Between 0 and 1. ``0 ln 0`` is 0.

    Returns
    -------
    D : float
        ``sum_i p_i ln(p_i/q_i) + (1 - p_i) ln((1 - p_i)/(1 - q_i))``. It is never negative, 0 for
        p = q, and infinite if some q_i is 0 or 1 and p_i is another number.

    Examples
    --------
    >>> from mvref.theory.bregman import divergence
    >>> round(divergence([0.0, 0.5], [0.5, 0.5]), 6)
    0.693147
    >>> divergence([0.5], [1.0])
    inf
    """
    p, q = _in_unit_interval(p, "p"), _in_unit_interval(q, "q")
    _same_shape(p, "p", q, "q")
    return _divergence(p, q)


def _divergence(p, q):
    # log1p keeps the digits of a small q that 1 - q would drop
    terms = xlogy(p, p) - xlogy(p, q) + xlog1py(1 - p, -p) - xlog1py(1 - p, -q)
    return float(np.sum(np.maximum(terms, 0.0)))  # rounding alone can make a term negative


def legendre(q, r):
    """Return L_F(q, r), the minimiser of D_F(p||q) + <r, p> (Eq. 5).

    Parameters
    ----------
    q : float or array, shape (m,)
        Strictly between 0 and 1; a number stands for a vector of it.
    r : array, shape (m,)
        Any finite numbers (the paper's "r in Omega" is a slip).

    Returns
    -------
    p : array, shape (m,)
        ``q e^-r / (1 - q + q e^-r) = expit(logit(q) - r)``; the second form cannot overflow.

    Examples
    --------
    >>> from mvref.theory.bregman import legendre
    >>> legendre(0.5, [0.0, 1000.0, -1000.0])
    array([0.5, 0. , 1. ])
    """
    r = _vector(r, "r")
    q = _in_unit_interval(np.full(r.shape, q) if np.ndim(q) == 0 else q, "q", open_interval=True)
    _same_shape(q, "q", r, "r")
    return expit(logit(q) - r)


def logistic_loss(margins):
    """Return sum_i ln(1 + e^-z_i), Eq. (2) without its factor 1/(m ln 2).

    Parameters
    ----------
    margins : array, shape (m,)

    Returns
    -------
    loss : float

    Examples
    --------
    >>> from mvref.theory.bregman import logistic_loss
    >>> round(logistic_loss([0.0, -1000.0]), 6)
    1000.693147
    """
    return float(np.logaddexp(0.0, -_vector(margins, "margins")).sum())


def normalised_loss(margins):
    """Return Eq. (2), the mean of log_2(1 + e^-z_i), which bounds the training error.

    Parameters
    ----------
    margins : array, shape (m,)

    Returns
    -------
    loss : float

    Examples
    --------
    >>> from mvref.theory.bregman import normalised_loss
    >>> normalised_loss([0.0, 0.0])
    1.0
    """
    return logistic_loss(margins) / float(len(margins) * np.log(2.0))


def loss_as_divergence(margins):
    """Return the left side of Eq. (6), D_F(0 || L_F(1/2, z)).

    The divergence is evaluated where ``|z_i| <= 30``. Where z_i is negative it is mirrored, D(1 ||
    1 - q_i) in place of D(0 || q_i), because the float q_i near 1 has lost the digits of 1 - q_i.
    Beyond 30 the vector q of Eq. (6) as good as does not exist in floats (at z_i = -37 it rounds
    to 1 and D to infinity), and the right side of Eq. (6) is taken.

    Parameters
    ----------
    margins : array, shape (m,)

    Returns
    -------
    D : float
        Equal to :func:`logistic_loss`.

    Examples
    --------
    >>> from mvref.theory.bregman import logistic_loss, loss_as_divergence
    >>> round(loss_as_divergence([2.0, -1.0]), 12) == round(logistic_loss([2.0, -1.0]), 12)
    True
    """
    z = _vector(margins, "margins")
    near = np.abs(z) <= LARGEST_MARGIN
    wrong = z[near] < 0
    D = _divergence(wrong.astype(float), expit(-np.abs(z[near])))  # expit(-z) = L_F(1/2, z)
    return D + float(np.logaddexp(0.0, -z[~near]).sum())


def weighted_votes(Ms, q):
    """Return W+ and W- of steps 6 and 7 of Algorithm 1.

    Parameters
    ----------
    Ms : list of V arrays, shape (m, n_v)
        Entries in [-1, 1].
    q : array, shape (m,)
        Between 0 and 1.

    Returns
    -------
    W_plus, W_minus : lists of V arrays, shape (n_v,)
        ``sum_i q_i max(M_v,ij, 0)`` and ``sum_i q_i max(-M_v,ij, 0)``.

    Examples
    --------
    >>> from mvref.theory.bregman import weighted_votes
    >>> weighted_votes([[[1], [-0.5], [0]]], [0.5, 0.5, 0.5])
    ([array([0.5])], [array([0.25])])
    """
    Ms = _voters(Ms)
    q = _in_unit_interval(q, "q")
    if len(q) != len(Ms[0]):
        raise ValueError(f"q must have one entry per row of Ms, {len(Ms[0])}; got {len(q)}.")
    return [q @ np.maximum(M, 0) for M in Ms], [q @ np.maximum(-M, 0) for M in Ms]


def step_scale(Ms, rho):
    """Return N = max_i sum_v rho_v sum_j |M_v,ij|, at least 1 (erratum B2).

    Parameters
    ----------
    Ms : list of V arrays, shape (m, n_v)
    rho : array, shape (V,)
        On the simplex.

    Returns
    -------
    N : float
        For voters that all vote, ``sum_v rho_v n_v``.

    Examples
    --------
    >>> from mvref.theory.bregman import step_scale
    >>> step_scale([[[1, -1, 1]], [[1]]], [0.5, 0.5])
    2.0
    """
    Ms = _voters(Ms)
    rho = _simplex(rho, len(Ms))
    rows = sum(rho_v * np.abs(M).sum(axis=1) for rho_v, M in zip(rho, Ms, strict=True))
    return max(1.0, float(rows.max()))


def optimal_delta(W_plus, W_minus):
    """Return step 8, the delta that minimises the corrected Eq. (10).

    Parameters
    ----------
    W_plus, W_minus : lists of V arrays, shape (n_v,)
        See :func:`weighted_votes`.

    Returns
    -------
    delta : list of V arrays, shape (n_v,)
        ``1/2 ln(W+/W-) = arctanh((W+ - W-)/(W+ + W-))``. It is infinite for a voter that is never
        wrong, or never right; 0 for one that never votes.

    Examples
    --------
    >>> from mvref.theory.bregman import optimal_delta
    >>> optimal_delta([[3.0, 0.0]], [[1.0, 0.0]])
    [array([0.54930614, 0.        ])]
    """
    if len(W_plus) != len(W_minus):
        raise ValueError(
            f"W_plus and W_minus must agree in length, got {len(W_plus)} and {len(W_minus)} views."
        )
    delta = []
    for v, (a, b) in enumerate(zip(W_plus, W_minus, strict=True)):
        a, b = _vector(a, f"W_plus[{v}]"), _vector(b, f"W_minus[{v}]")
        _same_shape(a, f"W_plus[{v}]", b, f"W_minus[{v}]")
        if min(a.min(), b.min()) < 0:
            raise ValueError(f"W_plus[{v}] and W_minus[{v}] must not be negative.")
        votes = a + b > 0
        with np.errstate(divide="ignore"):  # the logarithm of 0 is the infinity asked for
            logs = np.log(np.where(votes, a, 1.0)) - np.log(np.where(votes, b, 1.0))
        delta.append(logs / 2)
    return delta


def auxiliary_bound(Ms, rho, q, delta, *, scale=None, version="corrected"):
    """Return the bound on the change of the loss in one step of pi, Eq. (10).

    With q = 1/(1 + e^z) and h = sum_v rho_v M_v delta_v, the corrected bound is at least
    D(z + h/N) - D(z): the weights move from pi_v to pi_v + delta_v / N at fixed rho.

    Parameters
    ----------
    Ms : list of V arrays, shape (m, n_v)
        Entries in [-1, 1].
    rho : array, shape (V,)
        On the simplex.
    q : array, shape (m,)
    delta : list of V arrays, shape (n_v,)
        Finite.
    scale : float, optional
        Replaces N of :func:`step_scale`; a smaller number than N bounds nothing.
    version : {"corrected", "printed"}
        "printed" is the paper's formula, with a square and a minus, for the full step delta.
        It is no bound, and is kept to show where it fails.

    Returns
    -------
    bound : float
        Corrected: ``1/N sum_v rho_v sum_j W+(e^-delta - 1) + W-(e^delta - 1)``.

    Examples
    --------
    >>> from mvref.theory.bregman import auxiliary_bound, optimal_delta, weighted_votes
    >>> Ms, q = [[[1], [1], [-1]]], [0.5, 0.5, 0.5]
    >>> delta = optimal_delta(*weighted_votes(Ms, q))
    >>> round(auxiliary_bound(Ms, [1.0], q, delta), 6)  # -(sqrt(1) - sqrt(1/2))^2
    -0.085786
    """
    check_choice(version, "version", VERSIONS)
    if version == "printed" and scale is not None:
        raise ValueError(f"scale must be None with version='printed', got {scale!r}.")
    Ms = _voters(Ms)
    rho, delta = _simplex(rho, len(Ms)), _per_voter(delta, "delta", Ms)
    bound = 0.0
    for rho_v, W_plus, W_minus, d in zip(rho, *weighted_votes(Ms, q), delta, strict=True):
        if rho_v == 0:
            continue  # also where e^d overflows
        right, wrong = _times_expm1(W_plus, -d), _times_expm1(W_minus, d)
        if version == "corrected":
            bound += rho_v * np.sum(right + wrong)
        else:
            bound -= rho_v * np.sum((right - wrong) ** 2)
    return float(bound if version == "printed" else bound / _scale(scale, Ms, rho))


def guaranteed_decrease(Ms, rho, q, *, scale=None):
    """Return by how much the loss falls at least in the step delta / N, corrected Eq. (11).

    Parameters
    ----------
    Ms : list of V arrays, shape (m, n_v)
    rho : array, shape (V,)
    q : array, shape (m,)
    scale : float, optional
        See :func:`auxiliary_bound`.

    Returns
    -------
    decrease : float
        ``1/N sum_v rho_v sum_j (sqrt(W+) - sqrt(W-))^2``, minus the corrected
        :func:`auxiliary_bound` at :func:`optimal_delta`.

    Examples
    --------
    >>> from mvref.theory.bregman import guaranteed_decrease
    >>> round(guaranteed_decrease([[[1], [1], [-1]]], [1.0], [0.5, 0.5, 0.5]), 6)
    0.085786
    """
    Ms = _voters(Ms)
    rho = _simplex(rho, len(Ms))
    gains = [
        np.sum((np.sqrt(a) - np.sqrt(b)) ** 2) for a, b in zip(*weighted_votes(Ms, q), strict=True)
    ]
    return float(rho @ gains) / _scale(scale, Ms, rho)


def pythagorean_gap(p, q_star, q):
    """Return D(p||q) - D(p||q*) - D(q*||q).

    It is 0 for every p with p'M = q*'M, every q in Q and q* in Q (Della Pietra et al.), and in
    general it is <grad F(q*) - grad F(q), p - q*>.

    Parameters
    ----------
    p : array, shape (m,)
        Between 0 and 1.
    q_star, q : array, shape (m,)
        Strictly between 0 and 1.

    Returns
    -------
    gap : float

    Examples
    --------
    >>> from mvref.theory.bregman import pythagorean_gap
    >>> round(pythagorean_gap([0.0, 0.0], [0.5, 0.5], [0.2, 0.8]), 12)  # 0 = p'M with M = (1, -1)
    0.0
    """
    q_star = _in_unit_interval(q_star, "q_star", open_interval=True)
    q = _in_unit_interval(q, "q", open_interval=True)
    return divergence(p, q) - divergence(p, q_star) - divergence(q_star, q)


def _times_expm1(W, exponent):
    """W (e^exponent - 1), infinite where e^ overflows, and 0 where W is 0 even then."""
    with np.errstate(over="ignore"):
        return np.where(W > 0, np.where(W > 0, W, 1.0) * np.expm1(exponent), 0.0)


def _vector(values, name):
    """Check for a non-empty vector of finite numbers."""
    values = np.asarray(values, dtype=float)
    if values.ndim != 1 or values.size == 0 or not np.isfinite(values).all():
        raise ValueError(
            f"{name} must be a non-empty vector of finite numbers, got shape {values.shape}."
        )
    return values


def _in_unit_interval(values, name, open_interval=False):
    values = _vector(values, name)
    low, high = values.min(), values.max()
    inside = 0 < low and high < 1 if open_interval else 0 <= low and high <= 1
    if not inside:
        where = "strictly between 0 and 1" if open_interval else "between 0 and 1"
        raise ValueError(f"{name} must lie {where}, got values from {low:g} to {high:g}.")
    return values


def _same_shape(a, name_a, b, name_b):
    if a.shape != b.shape:
        raise ValueError(f"{name_a} and {name_b} must agree in length, got {len(a)} and {len(b)}.")


def _voters(Ms):
    Ms = [np.asarray(M, dtype=float) for M in Ms]
    if not Ms or any(M.ndim != 2 or M.size == 0 or len(M) != len(Ms[0]) for M in Ms):
        shapes = [M.shape for M in Ms]
        raise ValueError(f"Ms must be matrices with the same number of rows, got shapes {shapes}.")
    for v, M in enumerate(Ms):
        if not (np.abs(M) <= 1).all():  # also false for NaN
            raise ValueError(f"Ms[{v}] must have entries in [-1, 1] only.")
    return Ms


def _simplex(rho, n_views):
    rho = _vector(rho, "rho")
    if len(rho) != n_views or rho.min() < 0 or abs(rho.sum() - 1) > 1e-9:
        raise ValueError(
            f"rho must be {n_views} weights >= 0 with sum 1, got {rho.tolist()} "
            f"with sum {rho.sum():.12g}."
        )
    return rho


def _per_voter(values, name, Ms):
    values = [_vector(values_v, f"{name}[{v}]") for v, values_v in enumerate(values)]
    given, wanted = [len(values_v) for values_v in values], [M.shape[1] for M in Ms]
    if given != wanted:
        raise ValueError(f"{name} must have vectors of lengths {wanted}, got {given}.")
    return values


def _scale(scale, Ms, rho):
    if scale is None:
        return step_scale(Ms, rho)
    return check_number(scale, "scale", low=0, low_open=True)
