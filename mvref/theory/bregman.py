"""Bregman divergences of MwMvC2: the logistic loss as a divergence, and the bound of one step.

Section 3 of Goyal, Morvant and Amini (IDA 2018), after M. Collins, R. E. Schapire and Y. Singer,
"Logistic Regression, AdaBoost and Bregman Distances", Machine Learning 2002, and S. Della Pietra,
V. Della Pietra and J. Lafferty, "Inducing Features of Random Fields", IEEE TPAMI 1997. Chapter:
validate, part II.

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

The two problems of Section 3.1 share one solution q*. With p~ = 0, as in Eq. (6), it minimises
D_F(0||q) over the closure of Q = {1/(1 + e^z)}, hence the logistic loss, and D_F(p||1/2) over all p
in [0, 1]^m with p'M_v = 0 for every view: the weights of largest entropy under which every voter is
right as often as wrong. If some vote is right on every sample, p = 0 is the only one, and no finite
weights attain q* = 0.

Corrections and a remark, B6 (the chapter proves each)
    B1    Eq. (10) has no square and a plus between its terms; only so do delta and (11) follow;
    B2    it needs sum_v rho_v sum_j |M_v,ij| <= 1, so a step is divided by N;
    B3    it holds at fixed rho; a new rho also rescales the old pi;
    B4    Eq. (8) is a linear programme: its rho is one view, not a mixture;
    B5    the loss need not fall, and a falling loss need not reach the minimum;
    B6    rho_v pi_v is one vector of weights: the infimum is that of one logistic regression;
    B7    r is any real vector, q is inside (0, 1), p may be 0 or 1.
"""

import numpy as np
from scipy.special import expit, logit, xlog1py, xlogy

from ..core.input import ArrayLike, Callable, as_numbers
from .vectors import check_callable, check_same_length, check_vector, in_unit_interval
from .vote_bounds import (  # noqa: F401, for users
    auxiliary_bound,
    guaranteed_decrease,
    optimal_delta,
    step_scale,
    weighted_votes,
)

LARGEST_MARGIN = 30.0  # beyond, a float q near 1 holds fewer than three digits of 1 - q


def negative_binary_entropy(p: ArrayLike) -> float:
    """Return F(p) = sum_i p_i ln p_i + (1 - p_i) ln(1 - p_i), with 0 ln 0 = 0.

    p (m,): between 0 and 1 -> F, between -m ln 2 and 0.

    >>> from mvref.theory.bregman import negative_binary_entropy
    >>> round(negative_binary_entropy([0.5, 1.0]), 6)
    -0.693147
    """
    p = in_unit_interval(p, "p")
    return float(np.sum(xlogy(p, p) + xlog1py(1 - p, -p)))


def log_odds(q: ArrayLike) -> np.ndarray:
    """Return the gradient of F, ln(q / (1 - q)): q (m,), strictly between 0 and 1 -> (m,).

    >>> from mvref.theory.bregman import log_odds
    >>> log_odds([0.5, 0.75]).round(6)
    array([0.      , 1.098612])
    """
    return logit(in_unit_interval(q, "q", open_interval=True))


def generic_divergence(
    F: Callable[[np.ndarray], float],
    grad_F: Callable[[np.ndarray], np.ndarray],
    p: ArrayLike,
    q: ArrayLike,
) -> float:
    """Return the Bregman divergence of any differentiable convex F (equation 3).

    F: function of an array (m,); grad_F: its gradient, (m,); p, q (m,): where these are finite, or
    a ValueError is raised -> F(p) - F(q) - <grad F(q), p - q>.

    >>> from mvref.theory.bregman import generic_divergence
    >>> generic_divergence(lambda p: p @ p, lambda q: 2 * q, [3.0, 0.0], [0.0, 4.0])
    25.0
    """
    check_callable(F, "F")
    check_callable(grad_F, "grad_F")
    p, q = check_vector(p, "p"), check_vector(q, "q")
    check_same_length(p, "p", q, "q")
    value = F(p) - F(q) - np.dot(grad_F(q), p - q)
    if not np.isfinite(value):
        raise ValueError("F must be finite at p and q, and grad_F at q; the divergence is not.")
    return float(value)


def divergence(p: ArrayLike, q: ArrayLike) -> float:
    """Return D_F(p||q) of the negative binary entropy (equation 4).

    p, q (m,): between 0 and 1 -> sum_i p_i ln(p_i/q_i) + (1 - p_i) ln((1 - p_i)/(1 - q_i)), with 0
    ln 0 = 0: never negative, 0 for p = q, and infinite if some q_i is 0 or 1 and p_i is another
    number.

    >>> from mvref.theory.bregman import divergence
    >>> round(divergence([0.0, 0.5], [0.5, 0.5]), 6), divergence([0.5], [1.0])
    (0.693147, inf)
    """
    p, q = in_unit_interval(p, "p"), in_unit_interval(q, "q")
    check_same_length(p, "p", q, "q")
    return _divergence(p, q)


def _divergence(p, q):
    # log1p keeps the digits of a small q that 1 - q would drop
    terms = xlogy(p, p) - xlogy(p, q) + xlog1py(1 - p, -p) - xlog1py(1 - p, -q)
    return float(np.sum(np.maximum(terms, 0.0)))  # rounding alone can make a term negative


def legendre(q: ArrayLike, r: ArrayLike) -> np.ndarray:
    """Return L_F(q, r), the minimiser of D_F(p||q) + <r, p> (equation 5).

    q: number, or (m,), strictly between 0 and 1; r (m,): any finite numbers (the paper's "r in
    Omega" is a slip) -> q e^-r / (1 - q + q e^-r), (m,), as ``expit(logit(q) - r)``: no overflow.

    >>> from mvref.theory.bregman import legendre
    >>> legendre(0.5, [0.0, 1000.0, -1000.0])
    array([0.5, 0. , 1. ])
    """
    r, q = check_vector(r, "r"), as_numbers(q, "q")
    q = in_unit_interval(np.full(r.shape, q) if q.ndim == 0 else q, "q", open_interval=True)
    check_same_length(q, "q", r, "r")
    return expit(logit(q) - r)


def logistic_loss(margins: ArrayLike) -> float:
    """Return sum_i ln(1 + e^-z_i), equation (2) without its factor 1/(m ln 2): margins z (m,).

    >>> from mvref.theory.bregman import logistic_loss
    >>> round(logistic_loss([0.0, -1000.0]), 6)
    1000.693147
    """
    return float(np.logaddexp(0.0, -check_vector(margins, "margins")).sum())


def normalised_loss(margins: ArrayLike) -> float:
    """Return equation (2), the mean of log_2(1 + e^-z_i), which bounds the error: margins z (m,).

    >>> from mvref.theory.bregman import normalised_loss
    >>> normalised_loss([0.0, 0.0])
    1.0
    """
    return logistic_loss(margins) / float(len(margins) * np.log(2.0))  # type: ignore[arg-type]


def loss_as_divergence(margins: ArrayLike) -> float:
    """Return the left side of equation (6), D_F(0 || L_F(1/2, z)): margins z (m,).

    It equals :func:`logistic_loss`. Where ``|z_i| <= 30`` the divergence is evaluated, for negative
    z_i as D(1 || 1 - q_i) in place of D(0 || q_i), because a float q_i near 1 has lost the digits
    of 1 - q_i. Elsewhere the right side of Eq. (6) is returned, because a float q is useless there
    (at z_i = -37 it rounds to 1 and D(0 || q_i) to infinity), and beyond 745 the mirror underflows.

    >>> from mvref.theory.bregman import logistic_loss, loss_as_divergence
    >>> round(loss_as_divergence([2.0, -1.0]), 12) == round(logistic_loss([2.0, -1.0]), 12)
    True
    """
    z = check_vector(margins, "margins")
    near = np.abs(z) <= LARGEST_MARGIN
    wrong = z[near] < 0
    D = _divergence(wrong.astype(float), expit(-np.abs(z[near])))  # expit(-z) = L_F(1/2, z)
    return D + float(np.logaddexp(0.0, -z[~near]).sum())


def pythagorean_gap(p: ArrayLike, q_star: ArrayLike, q: ArrayLike) -> float:
    """Return D(p||q) - D(p||q*) - D(q*||q) = <grad F(q*) - grad F(q), p - q*>.

    p, q_star, q (m,): between 0 and 1, the last two strictly. It is 0 for all q, q* in Q and p with
    p'M = q*'M.

    >>> from mvref.theory.bregman import pythagorean_gap
    >>> round(pythagorean_gap([0.0, 0.0], [0.5, 0.5], [0.2, 0.8]), 12)  # 0 = p'M with M = (1, -1)
    0.0
    """
    q_star = in_unit_interval(q_star, "q_star", open_interval=True)
    q = in_unit_interval(q, "q", open_interval=True)
    return divergence(p, q) - divergence(p, q_star) - divergence(q_star, q)
