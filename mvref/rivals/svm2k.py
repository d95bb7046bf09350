"""SVM-2K: two kernel SVMs, one per view, that must nearly agree on every sample.

J. D. R. Farquhar, D. R. Hardoon, H. Meng, J. Shawe-Taylor, S. Szedmak, "Two view learning: SVM-2K,
theory and practice", NIPS 2005; compared in section 5 of Zantedeschi, Emonet and Sebban (2018) and
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
          a^A, a^B, g       ``dual``
          beta_A, beta_B    ``dual_coef_``    f_A = K_A beta_A

Algorithm The intercept is the weight of a constant feature of value 1, that is K + 1 in place of K,
          so that only the box is left. :mod:`.svm2k_solvers` has two exact solvers, for kernels of
          low and of high rank. Both end when the primal value of f = K beta is within ``tol`` of
          the dual value of a^A, a^B and g. For high rank the two points meet at the optimum only.

Departures and interpretations
          * The intercepts are penalised; in the paper they are free.
          * More than two views (MVL-SVM's authors): the SVM-2K of every pair of views votes for a
            class, and most votes win. Their rule for ties is not stated, see ``ties``. One view:
            the SVM of that view. More than two classes: one-vs-rest inside a pair.
          * A sample that lacks a view has no loss there, and no agreement term. The observed view
            decides alone; a pair without any view of the sample casts no vote.
"""

from copy import deepcopy
from itertools import combinations
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..core.base import MultiViewClassifier, one_against_rest
from ..core.input import (
    ClassWeight,
    Kernel,
    KernelWidth,
    Literal,
    MultiView,
    RandomState,
    Sequence,
    ViewColumns,
    Weighted,
    check_choice,
    check_number,
    warn_caller,
)
from ..core.kernels import fit_similarities
from ..core.ties import TIES, break_ties, draw_keys
from ..core.voters import check_trainable, difference_if_two
from .svm2k_solvers import ViewKernel, solve_pairs


class Agreement(NamedTuple):
    """Results of :func:`solve_svm2k` for k problems: a primal point, and a dual point below it."""

    beta: np.ndarray  #: (2, k, m), beta_A and beta_B
    dual: np.ndarray  #: (3, k, m), a^A, a^B and g
    primal: np.ndarray  #: (k,)
    gap: np.ndarray  #: (k,), primal minus dual value
    n_sweeps: int
    converged: bool


def solve_svm2k(KA, KB, Y, CA, CB, D, eps, *, tol, max_iter):
    """Solve k problems of SVM-2K, which differ in their labels only.

    Parameters
    ----------
    KA, KB : arrays, shape (m, m)
        Kernels with the constant added; rows and columns of zeros for samples that lack the view.
    Y : array, shape (k, m), of labels -1 and +1
    CA, CB, D : arrays, shape (m,), weights of the losses of every sample; 0 leaves the loss out
    eps : float; disagreement without cost
    tol : float; the gap of every problem ends below tol times its primal value
    max_iter : int; maximum number of sweeps over the samples

    Returns
    -------
    result : Agreement

    Examples
    --------
    >>> import numpy as np
    >>> from mvref.rivals.svm2k import solve_svm2k
    >>> K, one, Y = np.eye(2), np.ones(2), np.array([[1.0, -1.0]])
    >>> solve_svm2k(K, K, Y, one, one, one, 0.1, tol=1e-9, max_iter=99).beta[0].round(3)
    array([[ 1., -1.]])
    """
    kernels = [ViewKernel(np.array(K, dtype=float)) for K in (KA, KB)]
    sides, costs = np.tile([0, 1], (len(Y), 1)), np.tile([CA, CB, D], (len(Y), 1, 1))
    options = {"tol": tol, "max_iter": max_iter}
    dual, beta, primal, gap, n_sweeps = solve_pairs(kernels, sides, Y, costs, eps, **options)
    solved = bool((gap <= tol * primal).all())
    dual, beta = (of.swapaxes(0, 1) for of in (dual, beta))
    return Agreement(beta, dual, primal, gap, int(n_sweeps.max()), solved)


class SVM2K(Weighted, MultiViewClassifier):
    """Two kernel SVMs with an agreement penalty between two views (SVM-2K); votes for more views.

    Parameters
    ----------
    C1, C2 : float, default=10.0 and None
        Weights of the summed hinge loss of the first and the second view of a pair. None: C1.
    D : float, default=0.1; weight of the summed disagreement; 0 trains the SVMs independently
    eps : float, default=0.001; disagreement without cost
    kernel : {"rbf", "linear", "precomputed", "gram"}, callable, or one per view, default="rbf"
        Similarity to the training samples; :class:`~mvref.LandmarkProjection` describes each.
    gamma : float, "mean", None, or one per view, default=None
        Kernel width. None: 1/n_v for "rbf", "mean" for "precomputed".
    ties : {"score", "random", "smallest", "largest"}, default="score"
        Winner among classes with equally many votes of the pairs: the larger sum of decision
        values, a random class, the smallest or the largest label. With two views there are no ties.
    tol : float, default=1e-3; duality gap, relative to the objective, at which training stops
    max_iter : int, default=10000; maximum number of steps, each a sweep over the samples
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply ``sample_weight``; they multiply C1, C2 and D.
    n_jobs : int or None, default=None; number of pairs of views trained in parallel (joblib)
    views : sequence or mapping, default=None; widths, slices, indices or names that split a 2-D `X`
    random_state : int, RandomState instance or None, default=None; seed of ``ties="random"``

    Attributes
    ----------
    pairs_ : list of (int, int), the positions of the views of every pair
    dual_coef_ : array, shape (n_pairs, 2, n_problems, m)
        beta_A and beta_B of every pair; one problem for two classes, else one per class.
    similarities_ : list of V kernels to the training samples that have the view
    rows_ : list of V int arrays, those samples
    objective_, dual_gap_ : arrays (n_pairs, n_problems), primal value, and primal minus dual value
    n_iter_ : int, number of sweeps, the maximum over the pairs
    tie_keys_ : array, the keys of random tie-breaking
    classes_, n_features_in_ : sorted array of labels, and int, number of columns of all views
    view_names_, view_widths_, view_feature_names_ : lists; name, width, columns of each view

    See Also
    --------
    PerViewSVM : Independent SVMs of the views.

    Notes
    -----
    Provenance: public implementation. The problem was written down from memory of the literature
    (Farquhar, Hardoon, Meng, Shawe-Taylor and Szedmak, NIPS 2005); a public program by others
    (SSR-MvSVMs) solves the same dual, including the penalised intercepts.

    ``decision_function`` is f with two views, and otherwise the number of votes (for two classes
    their difference), plus less than one vote that breaks ties. The kernels of all views are kept
    in memory, m x m each, and each kernel of high rank is factorised once, in O(m^3), for all
    classes and pairs: on one thread 500 samples of five classes in three views take 0.2 s, 2000
    take 1.3 s and 8000 half a minute; with ``n_jobs``, every group of pairs factorises. The mean
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
        C1: float = 10.0,
        *,
        C2: float | None = None,
        D: float = 0.1,
        eps: float = 1e-3,
        kernel: Kernel | Sequence[Kernel] = "rbf",
        gamma: KernelWidth | Sequence[KernelWidth | None] | None = None,
        ties: Literal["score", "random", "smallest", "largest"] = "score",
        tol: float = 1e-3,
        max_iter: int = 10_000,
        class_weight: ClassWeight | None = None,
        n_jobs: int | None = None,
        views: ViewColumns | None = None,
        random_state: RandomState | None = None,
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
        kernels = [ViewKernel(gram) for gram in self._grams(X)]
        # one view is paired with itself: both functions are its SVM
        self.pairs_ = list(combinations(range(X.n_views), 2)) or [(0, 0)]
        C2 = self.C1 if self.C2 is None or X.n_views == 1 else self.C2
        seen, w = X.observed.T, 1.0 if weights is None else weights
        costs = [
            np.array([w * self.C1 * seen[a], w * C2 * seen[b], w * self.D * (seen[a] & seen[b])])
            for a, b in self.pairs_
        ]
        # one problem per pair and class, pair by pair; the problems of a group share their factors
        sides, signs = np.repeat(self.pairs_, len(Y), axis=0), np.tile(Y, (len(costs), 1))
        problems = sides, signs, np.repeat(costs, len(Y), axis=0)
        n_groups = min(effective_n_jobs(self.n_jobs), len(costs))
        groups = zip(*(np.array_split(of, n_groups) for of in problems), strict=True)
        options = {"tol": self.tol, "max_iter": self.max_iter}
        learnt = Parallel(self.n_jobs)(
            delayed(solve_pairs)(
                kernels if n_groups == 1 else deepcopy(kernels), *group, self.eps, **options
            )
            for group in groups
        )
        _, beta, primal, gap, n_sweeps = (np.concatenate(of) for of in zip(*learnt, strict=True))
        shape = len(costs), len(Y)
        self.dual_coef_ = beta.reshape(*shape, 2, -1).swapaxes(1, 2)
        self.objective_, self.dual_gap_ = primal.reshape(shape), gap.reshape(shape)
        self.n_iter_ = int(n_sweeps.max())
        if not (self.dual_gap_ <= self.tol * self.objective_).all():
            worst = (self.dual_gap_ / self.objective_).max()
            warn_caller(
                f"SVM2K did not converge in {self.n_iter_} sweeps: its relative duality gap is "
                f"{worst:.1e}. Increase max_iter={self.max_iter} or tol={self.tol:g}, or reduce "
                f"C1={self.C1:g}, C2={C2:g} and D={self.D:g}."
            )

    def _grams(self, X):
        """Yield K_v + 1 of every view, zeros in the rows and columns of samples that lack it."""
        of_views = zip(X.names, self.similarities_, X.views, self.rows_, strict=True)
        for name, mu, view, rows in of_views:
            K = mu(view[rows]) + 1.0
            if not np.isfinite(K).all() or K.diagonal().min() <= 0:
                told = f"view {name!r} has samples whose similarity to themselves is not"
                raise ValueError(f"kernel must be finite and positive semi-definite; {told}.")
            gram = K
            if len(rows) < X.n_samples:
                gram = np.zeros((X.n_samples, X.n_samples))
                gram[np.ix_(rows, rows)] = K
            yield gram

    def pair_scores(self, X: MultiView) -> tuple[np.ndarray, np.ndarray]:
        """Compute the scores of every pair: the mean of f_A and f_B, or the score of one view.

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
