"""EXP3.P, the bandit by which rBoost.SH draws views: probabilities from rewards.

P. Auer, N. Cesa-Bianchi, Y. Freund, R. E. Schapire, "The nonstochastic multiarmed bandit problem",
SIAM J. Computing 32, 2002. The weights w grow like exp(T), so that all is said of log w. They start
equal, at exp(sigma gamma / 3 sqrt(T / V)), a factor that cancels in p: log w may start at 0.
"""

import numpy as np


def view_probabilities(log_w, gamma):
    """Return p = (1 - gamma) w / sum(w) + gamma / V.

    log_w (V,); returns p (V,).

    Examples
    --------
    >>> import numpy as np
    >>> from mvref.rivals.bandit import view_probabilities
    >>> view_probabilities(np.log([2.0, 1.0, 1.0]), gamma=0.3)
    array([0.45 , 0.275, 0.275])
    """
    w = np.exp(log_w - log_w.max())
    return (1 - gamma) * w / w.sum() + gamma / len(w)


def reward_view(log_w, p, v, reward, T, gamma, sigma):
    """Return log w after view v, drawn with probability p_v, had its reward in [0, 1].

    Every view u gets gamma / (3V) times (reward/p_u if u is v, else 0) + sigma / (p_u sqrt(V T)).

    log_w, p (V,); returns log_w (V,).

    Examples
    --------
    >>> import numpy as np
    >>> from mvref.rivals.bandit import reward_view
    >>> reward_view(np.zeros(2), np.array([0.5, 0.5]), 0, 1.0, T=100, gamma=0.3, sigma=0.0)
    array([0.1, 0. ])
    """
    V = len(log_w)
    estimate = np.where(np.arange(V) == v, reward / p, 0.0)
    return log_w + gamma / (3 * V) * (estimate + sigma / (p * np.sqrt(V * T)))
