"""AdaBoost over several views with one distribution over the samples: MVWAB and rBoost.SH.

MVWAB      M. Xiao, Y. Guo, "Multi-view AdaBoost for multilingual subjectivity analysis", COLING
           2012.
rBoost.SH  J. Peng, A. J. Aved, G. Seetharaman, K. Palaniappan, "Multiview boosting with information
           propagation for classification", IEEE TNNLS 2017; the views are drawn by EXP3.P
           (P. Auer, N. Cesa-Bianchi, Y. Freund, R. E. Schapire, SIAM J. Computing 32, 2002).

Problem    min over alpha of sum_i exp(-y_i F(x_i)),  F = sum_t alpha_t h_t,  y in {-1, +1}; more
           than two classes are handled one-vs-rest.
           Weighted samples: sum_i becomes sum_i w_i, and d is w / sum(w) at first.
Symbols    d (m,) weights of the samples, sum 1;  h_t (m,) votes in {-1, 0, +1};
           e_t = sum_i d_i y_i h_ti the edge;  Z_t the normaliser of d.
Algorithm  round t: fit voters with weights d, one per view (MVWAB) or on a drawn view
           (rBoost.SH); h_t is their vote; alpha_t, Z_t and the new d as in AdaBoost, see
           :mod:`mvref.rivals.adaboost`.
Our interpretations
           * the weak learner is a tree of unstated depth in Goyal et al. (2018). A full tree makes
             no training error, so that nothing is left to boost. We use depth 2, which was more
             accurate than 1 in cross-validation on training samples of the digits;
           * a voter whose view is missing votes 0, as does a tied vote of MVWAB. Boosting stops
             when d would not change any more; rBoost.SH may draw another view after edge 0.
"""

import numpy as np

from ..core.input import BaseEstimator, ClassWeight, Literal, RandomState, ViewColumns, check_number
from ..core.voters import cast_votes
from .adaboost import Boosted, boost_step, half_log_odds, number_of_samples

STEPS = ("alphas_", "edges_", "normalizers_")


def vote_sign(sums, weights):
    """Return the sign of weighted sums of votes, (n,) or (n, rounds); 0 for a tie, up to rounding.

    >>> vote_sign(np.array([0.3, 0.1 + 0.2 - 0.3]), np.array([0.1, 0.2, 0.3]))
    array([1., 0.])
    """
    return np.where(np.abs(sums) <= 1e-9 * weights.sum(axis=-1), 0.0, np.sign(sums))


class MVWAB(Boosted):
    """Weighted voting AdaBoost on several views: in every round all views vote (MVWAB).

    Parameters
    ----------
    estimator : scikit-learn classifier, default=None
        Weak learner, which must accept ``sample_weight``. None: decision trees of depth 2. Fully
        grown trees leave no error to boost and stop after one round.
    n_estimators : int, default=30; T, maximum number of rounds
    ties : {"random", "smallest", "largest"}, default="random"
        Class that wins a tie: a random class, the smallest or the largest label.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply ``sample_weight``; the product initialises d.
    n_jobs : int or None, default=None; three or more classes boosted in parallel (joblib)
    views : sequence or mapping, default=None; widths, slices, indices or names that split a 2-D `X`
    random_state : int, RandomState instance or None, default=None; seed of voters and ties

    Attributes
    ----------
    voters_ : list of V lists of T fitted classifiers, which predict -1 and +1, the second class
    view_weights_ : array, shape (T, V)
        b_tv = 1/2 ln((1 - e_v)/e_v), or 0 if the weighted error e_v of the view is 1/2 or more.
    alphas_, edges_, normalizers_ : arrays, shape (T,)
        alpha_t, e_t and Z_t of the vote h_t = sign(sum_v b_tv h_tv).
    tie_keys_, classes_, n_features_in_ : arrays, tie-breaking keys and labels, and int
    view_names_, view_widths_, view_feature_names_ : lists; name, width, columns of each view

    See Also
    --------
    RBoostSH : One view in every round.
    Mumbo : Boosting of several classes at once, with costs for every view.

    Notes
    -----
    Provenance: abstract. A reconstruction: the abstract describes AdaBoost with a vote of the
    views, on the same sample weights; the formulas are ours. Neither text nor code was available to
    us.

    With more than two classes the attributes up to ``normalizers_`` are lists, one entry per class.
    The weighted fraction of training errors is at most the product of the Z_t. Boosting stops early
    after a round without error, or with edge 0. A missing view abstains.

    A weight of 2 is equivalent to repeating the sample, except for ties between splits of a tree or
    in a leaf, which are decided by rounding.

    Examples
    --------
    >>> from mvref.datasets import load_iris_views
    >>> from mvref.rivals import MVWAB
    >>> data = load_iris_views()
    >>> bool(MVWAB(random_state=0).fit(data.X, data.y).score(data.X, data.y) > 0.9)
    True
    """

    _per_class = ("voters_", "view_weights_", *STEPS)

    def __init__(
        self,
        estimator: BaseEstimator | None = None,
        *,
        n_estimators: int = 30,
        ties: Literal["random", "smallest", "largest"] = "random",
        class_weight: ClassWeight | None = None,
        n_jobs: int | None = None,
        views: ViewColumns | None = None,
        random_state: RandomState | None = None,
    ):
        self.estimator, self.n_estimators, self.ties = estimator, n_estimators, ties
        self.class_weight, self.n_jobs = class_weight, n_jobs
        self.views, self.random_state = views, random_state

    def _boost(self, learner, tables, y, w, rng):
        m, d = number_of_samples(w), w / w.sum()
        voters, steps = [[] for _ in tables], []
        for _ in range(self.n_estimators):
            H = np.zeros((len(y), len(tables)))  # h_tv(x_i), 0 where view v is missing
            for v, table in enumerate(tables):
                voter, H[table.where, v] = table.fit(learner, y, d, w, rng)
                voters[v].append(voter)
            right, wrong = d @ (y[:, None] == H), d @ (y[:, None] == -H)
            b = np.array([max(half_log_odds(*W, m), 0.0) for W in np.array([right, wrong]).T])
            yh = y * vote_sign(H @ b, b)
            alpha, edge, Z, d = boost_step(d, yh, m)
            steps.append((b, alpha, edge, Z))
            if abs(yh.sum()) == len(y) or abs(alpha) < 1e-12:
                break
        return voters, *map(np.array, zip(*steps, strict=True))

    def _vote(self, X, course):
        b, sums = course["view_weights_"], np.zeros((X.n_samples, len(course["alphas_"])))
        for v, voters in enumerate(course["voters_"]):
            sums += b[:, v] * cast_votes(voters, X.views[v], X.observed[:, v])
        return vote_sign(sums, b) @ course["alphas_"]


def view_probabilities(log_w, gamma):
    """Return p = (1 - gamma) w / sum(w) + gamma / V of EXP3.P.

    The weights w grow like exp(T), hence the logarithms. They start equal, at
    exp(sigma gamma / 3 sqrt(T / V)), a factor that cancels in p: log w may start at 0.

    >>> view_probabilities(np.log([2.0, 1.0, 1.0]), gamma=0.3)
    array([0.45 , 0.275, 0.275])
    """
    w = np.exp(log_w - log_w.max())
    return (1 - gamma) * w / w.sum() + gamma / len(w)


def reward_view(log_w, p, v, reward, T, gamma, sigma):
    """Return log w after view v, drawn with probability p_v, received a reward in [0, 1].

    Every view u gets gamma / (3V) times (reward/p_u if u is v, else 0) + sigma / (p_u sqrt(V T)).

    >>> reward_view(np.zeros(2), np.array([0.5, 0.5]), 0, 1.0, T=100, gamma=0.3, sigma=0.0)
    array([0.1, 0. ])
    """
    V = len(log_w)
    estimate = np.where(np.arange(V) == v, reward / p, 0.0)
    return log_w + gamma / (3 * V) * (estimate + sigma / (p * np.sqrt(V * T)))


class RBoostSH(Boosted):
    """AdaBoost on several views, with one view per round drawn by a bandit (rBoost.SH).

    Parameters
    ----------
    estimator : scikit-learn classifier, default=None
        Weak learner, which must accept ``sample_weight``. None: decision trees of depth 2. Fully
        grown trees leave no error to boost and stop after one round, on one view.
    n_estimators : int, default=100; T, maximum number of rounds
    gamma : float, default=0.3; exploration of EXP3.P in (0, 1]: each view has p >= gamma/V
    sigma : float, default=0.15; confidence of EXP3.P, >= 0: the bonus of views drawn rarely
    ties : {"random", "smallest", "largest"}, default="random"
        Class that wins a tie: a random class, the smallest or the largest label.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply ``sample_weight``; the product initialises d.
    n_jobs : int or None, default=None; three or more classes boosted in parallel (joblib)
    views : sequence or mapping, default=None; widths, slices, indices or names that split a 2-D `X`
    random_state : int, RandomState instance or None, default=None; seed of views, voters, ties

    Attributes
    ----------
    voters_ : list of T fitted classifiers, which predict -1 and +1, the second class
    view_history_ : int array, shape (T,), the view drawn in every round
    view_probabilities_ : array, shape (T, V), the probabilities with which they were drawn
    alphas_, edges_, normalizers_ : arrays, shape (T,), of alpha_t, e_t and Z_t
    tie_keys_, classes_, n_features_in_ : arrays, tie-breaking keys and labels, and int
    view_names_, view_widths_, view_feature_names_ : lists; name, width, columns of each view

    See Also
    --------
    MVWAB : A vote of all views in every round.
    Mumbo : Boosting of several classes at once, with costs for every view.

    Notes
    -----
    Provenance: public implementation. Reward, update and defaults are taken from MultiviewBoosting,
    a public program by others, which also draws features from the concatenated views.

    With more than two classes the attributes up to ``normalizers_`` are lists, one entry per class.
    The weighted fraction of training errors is at most the product of the Z_t. Boosting stops early
    after a round without error. A missing view abstains. The reward of a view is 1 - Z_t.

    A weight of 2 is equivalent to repeating the sample, except for ties between splits of a tree or
    in a leaf, which are decided by rounding.

    Examples
    --------
    >>> from mvref.datasets import load_iris_views
    >>> from mvref.rivals import RBoostSH
    >>> data = load_iris_views()
    >>> bool(RBoostSH(random_state=0).fit(data.X, data.y).score(data.X, data.y) > 0.9)
    True
    """

    _per_class = ("voters_", "view_history_", "view_probabilities_", *STEPS)

    def __init__(
        self,
        estimator: BaseEstimator | None = None,
        *,
        n_estimators: int = 100,
        gamma: float = 0.3,
        sigma: float = 0.15,
        ties: Literal["random", "smallest", "largest"] = "random",
        class_weight: ClassWeight | None = None,
        n_jobs: int | None = None,
        views: ViewColumns | None = None,
        random_state: RandomState | None = None,
    ):
        self.estimator, self.n_estimators, self.gamma = estimator, n_estimators, gamma
        self.sigma, self.ties = sigma, ties
        self.class_weight, self.n_jobs = class_weight, n_jobs
        self.views, self.random_state = views, random_state

    def _check_parameters(self):
        check_number(self.gamma, "gamma", low=0, high=1, low_open=True)
        check_number(self.sigma, "sigma", low=0)
        super()._check_parameters()

    def _boost(self, learner, tables, y, w, rng):
        m, V = number_of_samples(w), len(tables)
        d, log_w = w / w.sum(), np.zeros(V)
        voters, steps = [], []
        for _ in range(self.n_estimators):
            p = view_probabilities(log_w, self.gamma)
            v = rng.choice(V, p=p)
            voter, said = tables[v].fit(learner, y, d, w, rng)
            voters.append(voter)
            yh = np.zeros(len(y))
            yh[tables[v].where] = y[tables[v].where] * said
            alpha, edge, Z, d = boost_step(d, yh, m)
            steps.append((v, p, alpha, edge, Z))
            if abs(yh.sum()) == len(y):
                break
            log_w = reward_view(log_w, p, v, 1 - Z, self.n_estimators, self.gamma, self.sigma)
        return voters, *map(np.array, zip(*steps, strict=True))

    def _vote(self, X, course):
        scores = np.zeros(X.n_samples)
        for v in np.unique(course["view_history_"]):
            rounds = np.flatnonzero(course["view_history_"] == v)
            votes = cast_votes([course["voters_"][t] for t in rounds], X.views[v], X.observed[:, v])
            scores += votes @ course["alphas_"][rounds]
        return scores
