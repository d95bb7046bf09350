"""Mumbo: multi-class boosting in which the views cooperate.

S. Koco, C. Capponi, "A boosting approach to multiview classification with cooperation", ECML PKDD
2011. It generalises AdaBoost.MM (I. Mukherjee, R. E. Schapire, JMLR 14, 2013).

Problem    min over alpha of sum_i sum_{l != y_i} exp(f(i, l) - f(i, y_i)), f(i, l) the weight of
           the votes for class l. Weighted samples: sum_i becomes sum_i w_i, C(i, l) w_i C(i, l).
Symbols    C (m, K) costs: C(i, l) = exp(f(i, l) - f(i, y_i)) for l != y_i, and
           C(i, y_i) = -sum_{l != y_i} C(i, l);  one global C, and a local C_v for every view;
           edge of h on C: -sum_i C(i, h(x_i)) / sum_i sum_{l != y_i} C(i, l), in [-1, 1].
Algorithm  round t: fit h_v on every view, sample i with weight -C_v(i, y_i);
           alpha_v = 1/2 ln((1 + edge_v)/(1 - edge_v)), its edge on C_v;
           f_v(i, h_v(x_i)) += alpha_v d_v(i), where d_v(i) = 1 if h_v is right on i, or if every
           view is wrong, and else 0: a view leaves a sample to the views that are right on it;
           the h_v with the largest edge on the global C joins the vote, with the alpha of this
           edge, and C is updated without d.
Decision   the class with the largest sum of alpha_t 1[h_t(x) = l].

Our interpretations
           * costs are divided by the largest, which changes no edge and prevents overflow;
           * edges are limited to 1 - 1/m, so that alpha is finite; m as in :mod:`.adaboost`;
           * boosting stops after a voter without error, or when no voter has a positive edge;
           * a view abstains where it is missing: it costs nothing there, and its edge on the global
             C is over all samples. "Every view" is every view that the sample has.
"""

import numpy as np

from ..core.input import BaseEstimator, ClassWeight, Literal, RandomState, ViewColumns
from ..core.voters import count_votes, difference_if_two, predict_all
from .adaboost import Boosted, number_of_samples, tables_of


def cost_matrix(f, codes):
    """Return the costs C (m, K), divided by the largest, of the votes f (m, K).

    >>> cost_matrix(np.zeros((2, 3)), np.array([0, 2]))
    array([[-2.,  1.,  1.],
           [ 1.,  1., -2.]])
    """
    rows = np.arange(len(codes))
    exponent = f - f[rows, codes][:, None]
    exponent[rows, codes] = -np.inf
    C = np.exp(exponent - exponent.max())
    C[rows, codes] = -C.sum(axis=1)
    return C


def edge_of(C, said, codes):
    """Return the edge on the costs C of a voter that predicts `said` (m,), -1 for abstention.

    >>> codes = np.array([0, 1, 2, 2])
    >>> edge_of(cost_matrix(np.zeros((4, 3)), codes), np.array([0, 1, 2, 0]), codes)
    0.625
    """
    rows = np.flatnonzero(said >= 0)
    return float(C[rows, said[rows]].sum() / C[np.arange(len(codes)), codes].sum())


def weight_of(edge, m):
    """Return 1/2 ln((1 + edge)/(1 - edge)), the edge limited to 1 - 1/m for m samples."""
    limit = 1 - max(1 / m, np.finfo(float).eps)  # weights may add up to more than 1 / eps
    return float(np.arctanh(np.clip(edge, -limit, limit)))


class Mumbo(Boosted):
    """Multi-class boosting on several views, with a cost matrix per view and a global one (Mumbo).

    Parameters
    ----------
    estimator : scikit-learn classifier, default=None
        Weak learner, which must accept ``sample_weight``. None: decision trees of depth 2, for more
        than four classes log2(K), rounded up: a leaf per class.
    n_estimators : int, default=100; T, maximum number of rounds
    ties : {"random", "smallest", "largest"}, default="random"
        Class that wins a tie: a random class, the smallest or the largest label.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply ``sample_weight``; the costs are multiplied by both.
    views : sequence or mapping, default=None; widths, slices, indices or names that split a 2-D `X`
    random_state : int, RandomState instance or None, default=None; seed of voters and ties

    Attributes
    ----------
    voters_ : list of T classifiers that joined the vote; they predict positions in ``classes_``
    view_history_ : int array, shape (T,), the view of each of them
    alphas_, edges_ : arrays, shape (T,), of their weights, and edges on the global costs
    local_edges_ : array, shape (T, V), edges of all views' voters on their own costs
    tie_keys_, classes_, n_features_in_ : arrays, tie-breaking keys and labels, and int
    view_names_, view_widths_, view_feature_names_ : lists; name, width, columns of each view

    See Also
    --------
    MVWAB : One distribution over the samples.
    RBoostSH : One view in every round.

    Notes
    -----
    Provenance: public implementation. The update rules are those of scikit-multimodallearn, whose
    two printed examples are reproduced exactly; the paper was not available to us.

    The weighted fraction of training errors is at most (K - 1) times the product of sqrt(1 -
    e_t^2), e_t the ``edges_``, as long as none was limited. With two classes and one view this is
    AdaBoost.

    A weight of 2 is equivalent to repeating the sample, except for ties between splits of a tree or
    in a leaf, which are decided by rounding.

    Examples
    --------
    >>> from mvref.datasets import load_iris_views
    >>> from mvref.rivals import Mumbo
    >>> data = load_iris_views()
    >>> bool(Mumbo(random_state=0).fit(data.X, data.y).score(data.X, data.y) > 0.9)
    True
    """

    def __init__(
        self,
        estimator: BaseEstimator | None = None,
        *,
        n_estimators: int = 100,
        ties: Literal["random", "smallest", "largest"] = "random",
        class_weight: ClassWeight | None = None,
        views: ViewColumns | None = None,
        random_state: RandomState | None = None,
    ):
        self.estimator, self.n_estimators, self.ties = estimator, n_estimators, ties
        self.class_weight, self.views, self.random_state = class_weight, views, random_state

    def _boost_all(self, X, codes, w, rng):
        n, V, K = len(codes), X.n_views, len(self.classes_)
        m = number_of_samples(w)
        learner = self._learner(depth=max(2, int(np.ceil(np.log2(K)))))
        tables = tables_of(learner, X)
        f, f_v = np.zeros((n, K)), np.zeros((V, n, K))
        chosen = []
        for _ in range(self.n_estimators):
            C_v = [w[:, None] * cost_matrix(f_v[v], codes) for v in range(V)]
            voters, said = [], np.full((n, V), -1)
            for v, table in enumerate(tables):
                d = -C_v[v][np.arange(n), codes]
                voter, said[table.where, v] = table.fit(learner, codes, d, w, rng)
                voters.append(voter)
            local_edges = self._cooperate(f_v, C_v, said, codes, X.observed, m)
            C = w[:, None] * cost_matrix(f, codes)
            edges = [edge_of(C, said[:, v], codes) for v in range(V)]
            best = int(np.argmax(edges))
            alpha = weight_of(max(edges[best], 0.0), m)
            add_votes(f, said[:, best], alpha)
            chosen.append((voters[best], best, alpha, edges[best], local_edges))
            if (said[:, best] == codes).all() or edges[best] <= 1e-12:
                break
        voters, *numbers = zip(*chosen, strict=True)
        self.voters_ = list(voters)
        self.view_history_, self.alphas_, self.edges_, self.local_edges_ = map(np.array, numbers)

    def _cooperate(self, f_v, C_v, said, codes, observed, m):
        """Add the views' votes to their own f_v, in place; return the local edges."""
        right = said == codes[:, None]
        edges, nobody = [], ~right.any(axis=1)
        for v, seen in enumerate(observed.T):
            rows = np.flatnonzero(seen)
            edges.append(edge_of(C_v[v][rows], said[rows, v], codes[rows]))
            d = right[:, v] | nobody
            add_votes(f_v[v], said[:, v], weight_of(edges[-1], m) * d)
        return edges

    def _scores(self, X):
        """Sum the weights of the votes for every class."""
        votes = np.zeros((X.n_samples, len(self.classes_)))
        for v in np.unique(self.view_history_):
            rounds, seen = np.flatnonzero(self.view_history_ == v), X.observed[:, v]
            if seen.any():
                labels = predict_all([self.voters_[t] for t in rounds], X.views[v], seen)
                votes[seen] += count_votes(labels, self.alphas_[rounds], votes.shape[1])
        return self._break_ties(difference_if_two(votes), X, self.alphas_.sum())


def add_votes(f, said, weight):
    """Add the weight of the vote to f(i, said_i) in place, except for said_i = -1."""
    rows = np.flatnonzero(said >= 0)
    f[rows, said[rows]] += np.broadcast_to(weight, said.shape)[rows]
