"""SVM-2K: two kernel SVMs, one per view, that must nearly agree on every sample.

J. D. R. Farquhar, D. R. Hardoon, H. Meng, J. Shawe-Taylor, S. Szedmak, "Two view learning: SVM-2K,
theory and practice", NIPS 2005; a rival in section 5 of Zantedeschi, Emonet and Sebban (2018) and
in Figure 2 of Wang, Tsang and Gao (AAAI 2016). Chapters: parts I and III of the book.

Problem   min over w_A, w_B, xi, eta of
          1/2 |w_A|^2 + 1/2 |w_B|^2 + C_A sum_i xi_i^A + C_B sum_i xi_i^B + D sum_i eta_i
          y_i f_A(x_i) >= 1 - xi_i^A,  y_i f_B(x_i) >= 1 - xi_i^B,
          |f_A(x_i) - f_B(x_i)| <= eta_i + eps,  slacks >= 0
          The weight of a sample multiplies its three losses, that is its C_A, C_B and D.
Decision  f = (f_A + f_B) / 2

Dual      max over a^A, a^B, g of
          sum_i (a_i^A + a_i^B) - eps sum_i |g_i| - 1/2 beta_A'K_A beta_A - 1/2 beta_B'K_B beta_B
          beta_A = y a^A - g,  beta_B = y a^B + g
          0 <= a_i^A <= C_A,  0 <= a_i^B <= C_B,  -D <= g_i <= D

Symbols   here              code              meaning
          C_A, C_B, D, eps  C1, C2, D, eps
          beta_A, beta_B    ``dual_coef_``    f_A = K_A beta_A
          u_A, u_B          ``uA``, ``uB``    K_A beta_A and K_B beta_B, kept up to date

Algorithm coordinate descent on the dual. The intercept is the weight of a constant feature of value
          1, that is K + 1 in place of K, so that only the box is left and every step is exact. The
          three variables of a sample follow each other, for all classes at once. It stops when the
          primal value, computed from u_A and u_B, is within ``tol`` of the dual value.

Departures and readings
          * The intercepts are penalised; in the paper they are free.
          * More than two views (MVL-SVM's authors): one SVM-2K for every pair of views, each votes
            for a class, most votes win. They do not say who wins a tie: see ``ties``. One view: the
            SVM of that view. More than two classes: inside a pair, one against the rest.
          * A sample that lacks a view has no loss there and no agreement to keep. The view that is
            there decides alone; a pair without any view of the sample casts no vote.
"""

from itertools import combinations
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..core.base import MultiViewClassifier, Weighted, one_against_rest
from ..core.checks import check_choice, check_number, warn_caller
from ..core.kernels import fit_similarities
from ..core.ties import TIES, break_ties, draw_keys
from ..core.voters import check_trainable, difference_if_two


class Agreement(NamedTuple):
    """What :func:`solve_svm2k` found, for k problems."""

    beta: np.ndarray  #: (2, k, m), beta_A and beta_B
    dual: np.ndarray  #: (3, k, m), a^A, a^B and g
    primal: np.ndarray  #: (k,)
    gap: np.ndarray  #: (k,), primal minus dual value
    n_sweeps: int
    converged: bool


def solve_svm2k(KA, KB, Y, CA, CB, D, eps, *, tol, max_iter, rng, start=None):
    """Solve k problems of SVM-2K, which differ in their labels only.

    Parameters
    ----------
    KA, KB : arrays, shape (m, m)
        Kernels with the constant added. A row and column of zeros where a sample lacks the view.
    Y : array, shape (k, m), of labels -1 and +1
    CA, CB, D : arrays, shape (m,), weights of the losses of every sample; 0 leaves the loss out
    eps : float; disagreement that costs nothing
    tol : float; the gap of every problem ends below tol times its primal value
    max_iter : int; largest number of sweeps over the samples
    rng : RandomState; order of the samples
    start : array, shape (3, k, m), optional
        Where to begin: the ``dual`` of the same samples under nearby weights, as along a grid. It
        is cut to the box of these weights. None: zeros.

    Returns
    -------
    result : Agreement

    Examples
    --------
    >>> import numpy as np
    >>> from mvref.rivals.svm2k import solve_svm2k
    >>> K, one, Y = np.eye(2), np.ones(2), np.array([[1.0, -1.0]])
    >>> options = {"tol": 1e-9, "max_iter": 9, "rng": np.random.RandomState(0)}
    >>> solve_svm2k(K, K, Y, one, one, one, 0.1, **options).beta[0]
    array([[ 1., -1.]])
    """
    k, m = Y.shape
    x = np.zeros((3, m, k)) if start is None else np.array(np.swapaxes(start, 1, 2), dtype=float)
    for some, low, high in zip(x, (0 * CA, 0 * CB, -D), (CA, CB, D), strict=True):
        np.clip(some, low[:, None], high[:, None], out=some)
    aA, aB, g = x
    uA, uB = (Y * aA.T - g.T) @ KA, (Y * aB.T + g.T) @ KB
    # a kernel of 0 moves nothing, and its box is [0, 0]: the divisor is of no account
    hA, hB = (np.where(K.diagonal() > 0, K.diagonal(), 1.0) for K in (KA, KB))
    for sweep in range(1, max_iter + 1):
        for i in rng.permutation(m):
            y, vA, vB = Y[:, i], uA[:, i].copy(), uB[:, i].copy()
            new = np.minimum(np.maximum(aA[i] + (1 - y * vA) / hA[i], 0), CA[i])
            dA, aA[i] = y * (new - aA[i]), new
            new = np.minimum(np.maximum(aB[i] + (1 - y * vB) / hB[i], 0), CB[i])
            dB, aB[i] = y * (new - aB[i]), new
            h = hA[i] + hB[i]
            z = g[i] + (vA + hA[i] * dA - vB - hB[i] * dB) / h
            shrunk = z - np.minimum(np.maximum(z, -eps / h), eps / h)  # soft threshold
            new = np.minimum(np.maximum(shrunk, -D[i]), D[i])
            dg, g[i] = new - g[i], new
            dA, dB = dA - dg, dB + dg
            if dA.any():
                uA += dA[:, None] * KA[i]
            if dB.any():
                uB += dB[:, None] * KB[i]
        beta = np.array([Y * aA.T - g.T, Y * aB.T + g.T])
        uA, uB = beta[0] @ KA, beta[1] @ KB  # afresh: rounding errors do not add up
        norms = np.einsum("km,km->k", beta[0], uA) + np.einsum("km,km->k", beta[1], uB)
        primal = norms / 2 + np.maximum(0, 1 - Y * uA) @ CA + np.maximum(0, 1 - Y * uB) @ CB
        primal += np.maximum(0, np.abs(uA - uB) - eps) @ D
        gap = primal - ((aA + aB - eps * np.abs(g)).sum(axis=0) - norms / 2)
        solved = bool((gap <= tol * primal).all())
        if solved or sweep == max_iter:
            return Agreement(beta, x.swapaxes(1, 2), primal, gap, sweep, solved)


class SVM2K(Weighted, MultiViewClassifier):
    """Kernel SVMs of two views that nearly agree; every pair of more views, and a vote.

    Parameters
    ----------
    C1, C2 : float, default=1.0 and None
        Weights of the summed hinge loss of the first and the second view of a pair. None: C1.
    D : float, default=1.0; weight of the summed disagreement, 0 learns the SVMs on their own
    eps : float, default=0.001; disagreement that costs nothing
    kernel : {"rbf", "linear", "precomputed", "gram"}, callable, or one per view, default="rbf"
        Similarity to the training samples; :class:`~mvref.LandmarkProjection` says what each takes.
    gamma : float, "mean", None, or one per view, default=None
        Of "rbf" and "precomputed". None: 1/n_v for "rbf", "mean" for "precomputed".
    ties : {"score", "random", "smallest", "largest"}, default="score"
        Between classes with equally many votes of the pairs: the larger sum of decision values, a
        coin of the sample, the smallest label or the largest. Two views cannot tie.
    tol : float, default=1e-4; duality gap that ends learning, relative to the objective
    max_iter : int, default=10000; largest number of sweeps over the samples
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply ``sample_weight``; they multiply C1, C2 and D.
    n_jobs : int or None, default=None; pairs of views learnt in parallel (joblib)
    views : sequence or mapping, default=None; widths, slices, indices or names that cut a 2-D `X`
    random_state : int, RandomState instance or None, default=None; order of steps, and coins

    Attributes
    ----------
    pairs_ : list of (int, int), the positions of the views of every pair
    dual_coef_ : array, shape (n_pairs, 2, n_problems, m)
        beta_A and beta_B of every pair; one problem for two classes, else one per class.
    similarities_ : list of V kernels to the training samples that have the view
    rows_ : list of V int arrays, those samples
    objective_, dual_gap_ : arrays (n_pairs, n_problems), primal value, and primal minus dual value
    n_iter_ : int, the largest number of sweeps over the pairs
    tie_keys_ : array, the keys of the coins
    classes_, n_features_in_ : array of labels, and int

    See Also
    --------
    PerViewSVM : machines that do not know of each other.

    Notes
    -----
    Provenance: public implementation. The problem was written down from memory of the literature
    (Farquhar, Hardoon, Meng, Shawe-Taylor and Szedmak, NIPS 2005); a public program by others
    (SSR-MvSVMs) solves the same dual, penalised intercepts included.

    ``decision_function`` is f with two views, and with more the number of votes (for two classes a
    difference of them), where ties are moved apart by less than a vote. The kernels of all views
    are held in memory, m x m each. Coordinate descent is slow where C1 or D is far above 1. Along a
    grid of them, :func:`~mvref.rivals.svm2k.solve_svm2k` can start from its last solution. The mean
    distance of ``gamma="mean"`` counts every training sample once, whatever its weight.

    Examples
    --------
    >>> from mvref.datasets import load_iris_views
    >>> from mvref.rivals import SVM2K
    >>> data = load_iris_views()
    >>> bool(SVM2K(D=0.1, random_state=0).fit(data.X, data.y).score(data.X, data.y) > 0.85)
    True
    """

    _learnt = "dual_coef_"

    def __init__(
        self,
        C1=1.0,
        *,
        C2=None,
        D=1.0,
        eps=1e-3,
        kernel="rbf",
        gamma=None,
        ties="score",
        tol=1e-4,
        max_iter=10_000,
        class_weight=None,
        n_jobs=None,
        views=None,
        random_state=None,
    ):
        self.C1, self.C2, self.D = C1, C2, D
        self.eps, self.kernel, self.gamma = eps, kernel, gamma
        self.ties, self.tol, self.max_iter = ties, tol, max_iter
        self.class_weight, self.n_jobs = class_weight, n_jobs
        self.views, self.random_state = views, random_state

    def _fit(self, X, codes, weights):
        """Learn an SVM-2K for every pair of views."""
        check_trainable(X, codes)
        rng = check_random_state(self.random_state)
        self.tie_keys_ = draw_keys(X.shape[1], rng)
        Y = one_against_rest(codes, len(self.classes_))
        self.rows_ = [np.flatnonzero(seen) for seen in X.observed.T]
        self.similarities_ = fit_similarities(self.kernel, self.gamma, X, self.rows_, self.rows_)
        grams = self._grams(X)
        # one view is paired with itself: both functions are its SVM
        self.pairs_ = list(combinations(range(X.n_views), 2)) or [(0, 0)]
        C2 = self.C1 if self.C2 is None or X.n_views == 1 else self.C2
        seen, w = X.observed.T, 1.0 if weights is None else weights
        seeds = rng.randint(2**31, size=len(self.pairs_))
        problems = [
            (grams[a], grams[b], Y, w * self.C1 * seen[a], w * C2 * seen[b], w * self.D * both)
            for a, b in self.pairs_
            for both in [seen[a] & seen[b]]
        ]
        options = {"tol": self.tol, "max_iter": self.max_iter}
        learnt = Parallel(self.n_jobs)(
            delayed(solve_svm2k)(*problem, self.eps, rng=np.random.RandomState(seed), **options)
            for problem, seed in zip(problems, seeds, strict=True)
        )
        beta, _, primal, gap, n_sweeps, converged = zip(*learnt, strict=True)
        self.dual_coef_, self.n_iter_ = np.array(beta), max(n_sweeps)
        self.objective_, self.dual_gap_ = np.array(primal), np.array(gap)
        if not all(converged):
            worst = (self.dual_gap_ / self.objective_).max()
            warn_caller(
                f"SVM2K stopped after {self.n_iter_} sweeps with a relative duality gap of "
                f"{worst:.1e}: raise max_iter={self.max_iter} or tol={self.tol:g}, or lower "
                f"C1={self.C1:g}, C2={C2:g} and D={self.D:g}."
            )

    def _grams(self, X):
        """K_v + 1 of every view, zeros in the rows and columns of samples that lack it."""
        grams = np.zeros((X.n_views, X.n_samples, X.n_samples))
        of_views = zip(grams, X.names, self.similarities_, X.views, self.rows_, strict=True)
        for gram, name, mu, view, rows in of_views:
            K = mu(view[rows]) + 1.0
            if not np.isfinite(K).all() or K.diagonal().min() <= 0:
                told = f"view {name!r} has samples whose similarity to themselves is not"
                raise ValueError(f"kernel must be finite and positive semi-definite; {told}.")
            gram[np.ix_(rows, rows)] = K
        return grams

    def pair_scores(self, X):
        """Return what every pair says: the mean of f_A and f_B, or the one that is there.

        Parameters
        ----------
        X : MultiView of n samples

        Returns
        -------
        scores : array, shape (n_pairs, n, n_problems); 0 where a sample has neither view of a pair
        n_seen : int array, shape (n_pairs, n); how many of the two views the sample has
        """
        check_is_fitted(self, self._learnt)
        scores = np.zeros((len(self.pairs_), X.n_samples, self.dual_coef_.shape[2]))
        n_seen = np.array([X.observed[:, pair].sum(axis=1) for pair in self.pairs_])
        of_views = zip(self.similarities_, X.views, self.rows_, strict=True)
        for v, (mu, view, rows) in enumerate(of_views):
            seen = np.flatnonzero(X.observed[:, v])
            if len(seen) == 0:
                continue
            K = mu(view[seen]) + 1.0
            for p, pair in enumerate(self.pairs_):
                for side in np.flatnonzero(np.array(pair) == v):
                    scores[p, seen] += K @ self.dual_coef_[p, side][:, rows].T
        return scores / np.maximum(n_seen, 1)[:, :, None], n_seen

    def _scores(self, X):
        scores, n_seen = self.pair_scores(X)
        if scores.shape[2] == 1:
            scores = np.concatenate([-scores, scores], axis=2)
        if len(self.pairs_) == 1:
            return scores[0, :, 1] if len(self.classes_) == 2 else scores[0]
        votes = np.zeros(scores.shape[1:])
        for f, seen in zip(scores, n_seen > 0, strict=True):
            votes[np.flatnonzero(seen), f[seen].argmax(axis=1)] += 1
        if self.ties == "score":
            return difference_if_two(votes + np.arctan(scores.sum(axis=0)) / (2 * np.pi))
        return break_ties(difference_if_two(votes), X, self.ties, self.tie_keys_)

    def _check_parameters(self):
        for name in ("C1", "tol") if self.C2 is None else ("C1", "C2", "tol"):
            check_number(getattr(self, name), name, low=0, low_open=True)
        for name in ("D", "eps"):
            check_number(getattr(self, name), name, low=0)
        check_number(self.max_iter, "max_iter", low=1, integer=True)
        check_choice(self.ties, "ties", ("score", *TIES))
