"""Co-Labeling: machines of one view each that hand each other candidate labels.

W. Li, L. Duan, I. W. Tsang, D. Xu, "Co-labeling: a new multi-view learning approach for ambiguous
problems", ICDM 2012; X. Xu, W. Li, D. Xu, I. W. Tsang, IEEE TPAMI 2016; a rival of MVPO in Figure 2
of Wang, Tsang and Gao (AAAI 2016).

Problem   for every view, with candidate label vectors y^1, ..., y^T of all samples,
          min over mu in the simplex, max over alpha >= 0, sum(alpha) = 1 of
          -1/2 alpha' (sum_t mu_t K o y^t y^t' + diag(1/(C w_i))) alpha                  (*)
          f_v(x) = sum_i alpha_i (sum_t mu_t y^t_i) k(x_i, x),   f = mean over the views of f_v

Symbols   here      code                 shape
          y^t       a row of ``pool``    (n,), known labels are the same in all rows
          mu_t      ``mu``               (T,)
          alpha_i   ``alpha``            (n,)
          w_i       ``w``                (n,)
          o         ``*``                product entry by entry
          k         kernel + B^2         B is ``intercept_scaling``: the intercept is penalised

Algorithm For given mu, (*) is the dual of an SVM with squared hinge and margin rho, and rho times
          the SVM with margin 1. That one is solved by Newton steps on the samples inside the
          margin. mu_t is then multiplied by a power of |w_t|^2 = alpha' (K o y^t y^t') alpha, and
          so on until the bounds of (*) from both sides meet. The power 1/2 gives each candidate its
          share in the norms and never fails; larger ones are tried first.
          The loop over views: all machines name the labels of the unlabelled samples; every view
          takes what the others say into its pool, and learns again; until nobody says anything new.

Supervised form   ``fit(X, y)``: T = 1, the mean of per-view SVMs with squared hinge. Tables of
          labelled training samples compare with this; ``fit(X, y, X_unlabelled)`` has the loop.

Our readings
          Scores of margin 1 in the mean, so that no view weighs more because its classes lie
          further apart; signs of the scores as candidates, without a constraint on how many are
          positive; one C for all samples, times their weights w_i, which are 1 in the paper and for
          the unlabelled; the first machines learn from the labelled samples; all views in step. A
          sample without a view is left out of the machine and of the mean of it.
"""

import numpy as np
from joblib import Parallel, delayed
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from ..core.base import (
    MultiViewClassifier,
    Weighted,
    one_against_rest,
    validate_views,
)
from ..core.checks import check_number, warn_caller
from ..core.kernels import fit_similarities
from ..core.views import stack_samples
from ..core.voters import check_trainable

SVM_TOL = 1e-13  # duality gap of an SVM, relative: alpha is as exact as its root
SVM_STEPS = 200  # Newton steps, far above what was seen (about 10)
NO_KERNEL = "kernel is not positive definite, or too large for C={:g}: scale the views or lower C."


def squared_hinge_svm(M, C, start=None, weights=None):
    """Return argmin 1/2 alpha'M alpha + C/2 sum_i w_i max(0, 1 - (M alpha)_i)^2, and its gap.

    M: K o y y'; start: alpha to begin with; weights: w (n,), None for 1; the gap is relative.

    >>> squared_hinge_svm(np.eye(2), 1.0)[0]  # (M + I/C) alpha = 1
    array([0.5, 0.5])
    """
    w = np.ones(len(M)) if weights is None else weights
    alpha = np.zeros(len(M)) if start is None else start
    f = M @ alpha
    for _ in range(SVM_STEPS):
        slack = np.maximum(0.0, 1.0 - f)
        loss = C / 2 * slack @ (w * slack)
        value = alpha @ f / 2 + loss
        dual = C * w * slack  # feasible, and the solution in the end
        gap = value - (dual.sum() - dual @ (M @ dual) / 2 - loss)
        if gap < -1e-6 * value:  # weak duality holds for kernels only
            raise ValueError(NO_KERNEL.format(C))
        if gap <= SVM_TOL * value:
            break
        step = _newton_point(M, C, w, slack > 0) - alpha
        df = M @ step
        for length in 0.5 ** np.arange(34):
            a, m = alpha + length * step, f + length * df
            if a @ m / 2 + C / 2 * (w * np.maximum(0.0, 1.0 - m) ** 2).sum() < value:
                break
        else:  # nothing to gain: as good as rounding lets it be
            break
        alpha, f = a, m
    return dual, gap / value


def _newton_point(M, C, w, inside):
    """Minimum of the problem whose loss is the square, of the samples inside the margin only."""
    rows = np.flatnonzero(inside)
    A = M[np.ix_(rows, rows)]
    A[np.diag_indices(len(rows))] += 1.0 / (C * w[rows])
    point = np.zeros(len(M))
    try:
        point[rows] = cho_solve(cho_factor(A), np.ones(len(rows)))
    except LinAlgError:
        raise ValueError(NO_KERNEL.format(C)) from None
    return point


def weigh_candidates(K, pool, C, *, weights=None, tol=1e-3, max_iter=1000):
    """Solve (*) for one view: weights mu (T,) of the pool, alpha (n,) of the mixture, relative gap.

    K (n, n); pool (T, n): label vectors of -1 and +1; weights: w (n,), None for 1; tol: of
    the gap.

    >>> K = np.array([[1.0, 0.9], [0.9, 1.0]])
    >>> mu, _, _ = weigh_candidates(K, np.array([[1, 1], [1, -1]]), 1.0)
    >>> mu.round(2)  # near each other: the same label has the larger margin
    array([1., 0.])
    """
    pool = np.asarray(pool, dtype=float)
    w = np.ones(len(K)) if weights is None else weights
    mu = np.full(len(pool), 1.0 / len(pool))
    best, power = (np.inf, None, mu), 0.5
    for _ in range(max_iter):
        alpha, svm_gap = squared_hinge_svm(K * ((pool.T * mu) @ pool), C, best[1], w)
        if alpha.sum() > best[0] * (1 + SVM_TOL):  # too long a step: back, and a safe one
            mu, power = best[2], 0.5
        else:
            signed = pool * alpha
            squared = np.maximum(np.einsum("ti,ti->t", signed @ K, signed), 0.0)
            dual = mu @ squared + alpha @ (alpha / w) / C
            gap = (squared.max() - mu @ squared) / dual + svm_gap
            best = alpha.sum(), alpha, mu
            if gap <= tol or len(pool) == 1:
                break
            power *= 1.5
        # power 1/2: the shares in the norms, mu_t |w_t|
        mu = mu * (squared / squared.max()) ** power
        mu /= mu.sum()
    return best[2], best[1], float(gap)


class CoLabeling(Weighted, MultiViewClassifier):
    """Mean of per-view SVMs with squared hinge; with unlabelled samples, Co-Labeling.

    Parameters
    ----------
    C : float, default=1.0; weight of half the summed squared hinge
    kernel : {"rbf", "linear", "precomputed", "gram"}, callable, or one per view, default="rbf"
        Similarity to the training samples, first the labelled ones, then the others;
        :class:`~mvref.LandmarkProjection` says what each takes.
    gamma : float, "mean", None, or one per view, default=None
        Of "rbf" and "precomputed". None: 1/n_v for "rbf", "mean" for "precomputed".
    intercept_scaling : float, default=1.0
        B: B^2 is added to the kernel, which is a penalised intercept. 0 for none.
    max_rounds : int, default=10; largest number of rounds in which the views exchange labels
    tol : float, default=1e-3; relative gap of the weights of the candidates
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply ``sample_weight``; unlabelled samples weigh 1.
    n_jobs : int or None, default=None; classes learnt in parallel (joblib)
    views : sequence or mapping, default=None; widths, slices, indices or names that cut a 2-D `X`

    Attributes
    ----------
    dual_coef_ : list of V arrays (n_problems, n_v)
        alpha_i sum_t mu_t y^t_i, a row per class against the rest (one row with two classes), a
        column per sample that has the view.
    intercept_ : array (V, n_problems), of every view's machine
    similarities_ : list of V kernels to the samples
    n_candidates_ : int array (V, n_problems), in the end; 1 without unlabelled samples
    dual_gap_ : array (V, n_problems), relative
    n_rounds_ : int, the largest number over the classes; 0 without unlabelled samples
    transduction_ : array of labels of the unlabelled samples, or None
    classes_, n_features_in_ : array of labels, and int

    See Also
    --------
    PerViewSVM : a vote in place of the mean of the scores.
    SVM2K : machines that nearly agree.

    Notes
    -----
    Provenance: memory. A reconstruction: the abstract of Li, Duan, Tsang and Xu (ICDM 2012) has the
    candidate labels that views pass on and a kernel for each, Wang, Tsang and Gao (AAAI 2016) name
    the squared hinge; formula and mean are from memory of the literature (Xu and others, 2016).

    More than two classes: one against the rest, each with its own candidates. The labelled samples
    may miss views, the unlabelled ones may not.

    Examples
    --------
    >>> import numpy as np
    >>> from mvref.datasets import load_iris_views
    >>> from mvref.rivals import CoLabeling
    >>> data = load_iris_views()
    >>> few = np.arange(0, 150, 10)
    >>> model = CoLabeling().fit(data.X[few], data.y[few], X_unlabelled=data.X)
    >>> model.transduction_.shape
    (150,)
    """

    _learnt = "dual_coef_"

    def __init__(
        self,
        C=1.0,
        *,
        kernel="rbf",
        gamma=None,
        intercept_scaling=1.0,
        max_rounds=10,
        tol=1e-3,
        class_weight=None,
        n_jobs=None,
        views=None,
    ):
        self.C, self.kernel, self.gamma = C, kernel, gamma
        self.intercept_scaling, self.max_rounds = intercept_scaling, max_rounds
        self.tol, self.class_weight = tol, class_weight
        self.n_jobs, self.views = n_jobs, views

    def fit(self, X, y, X_unlabelled=None, sample_weight=None):
        """Learn a machine per view.

        Parameters
        ----------
        X : MultiView, list of arrays, or 2-D array of m samples
        y : array-like of shape (m,)
        X_unlabelled : as `X`, optional; samples whose labels the views propose to each other
        sample_weight : array-like of m numbers >= 0, default=None
            A weight of 2 is worth the same as the sample twice, one of 0 as a sample left out.

        Returns
        -------
        self : CoLabeling

        Raises
        ------
        ValueError
            For wrong input, a parameter out of range, a single class, or unlabelled gaps in views.
        """
        self._check_and_fit(X, y, X_unlabelled, sample_weight=sample_weight)
        self.transduction_ = None if X_unlabelled is None else self.predict(X_unlabelled)
        return self

    def _fit(self, X, codes, weights, X_unlabelled):
        """Exchange labels, for each class against the rest."""
        check_trainable(X, codes)
        together = X if X_unlabelled is None else self._with_unlabelled(X, X_unlabelled)
        rows = [np.flatnonzero(seen) for seen in together.observed.T]
        self.similarities_ = fit_similarities(self.kernel, self.gamma, together, rows, rows)
        B2 = self.intercept_scaling**2
        of_views = zip(self.similarities_, together.views, rows, strict=True)
        w = np.ones(len(together))
        w[: len(X)] = 1.0 if weights is None else weights
        with np.errstate(over="ignore", invalid="ignore"):
            kernels = [mu(view[r]) + B2 for mu, view, r in of_views]
        if not all(np.isfinite(K).all() for K in kernels):
            raise ValueError("X holds values too large for its kernel; scale the views.")
        learnt = Parallel(self.n_jobs)(
            delayed(self._exchange)(kernels, rows, y_k, w)
            for y_k in one_against_rest(codes, len(self.classes_))
        )
        coef, candidates, gaps, rounds = zip(*learnt, strict=True)
        self.dual_coef_ = [np.array(of_view) for of_view in zip(*coef, strict=True)]
        self.intercept_ = np.array([B2 * c.sum(axis=1) for c in self.dual_coef_])
        self.n_candidates_, self.dual_gap_ = np.array(candidates).T, np.array(gaps).T
        self.n_rounds_ = max(rounds)
        if not (self.dual_gap_ <= self.tol).all():
            warn_caller(
                f"CoLabeling stopped at a relative gap of {self.dual_gap_.max():.3g}: raise "
                f"tol={self.tol:g}, lower C={self.C:g}, or scale the views."
            )

    def _with_unlabelled(self, X, X_unlabelled):
        """The labelled samples, then the unlabelled ones."""
        new = validate_views(self, X_unlabelled, reset=False)
        if X.n_views < 2:
            raise ValueError("X_unlabelled needs at least 2 views in X, which tell each other.")
        if not new.observed.all():
            i, v = np.argwhere(~new.observed)[0]
            raise ValueError(f"X_unlabelled must have all views: row {i} misses {X.names[v]!r}.")
        return stack_samples(X, new)

    def _exchange(self, kernels, rows, y, w):
        """Coefficients and number of candidates of every view, gaps, and number of rounds."""
        known = [y[r[r < len(y)]] for r in rows]  # labelled samples come first
        learnt = [
            self._machine(K[: len(own), : len(own)], [own], w[r[: len(own)]])
            for K, r, own in zip(kernels, rows, known, strict=True)
        ]
        # Without unlabelled samples the known labels are all that anybody can say.
        pools = [[own] if len(own) == len(r) else [] for r, own in zip(rows, known, strict=True)]
        n_rounds = 0
        for _ in range(self.max_rounds):
            said = [
                np.where(K[len(own) :, : len(coef)] @ coef > 0, 1.0, -1.0)
                for K, own, (coef, _) in zip(kernels, known, learnt, strict=True)
            ]
            n_before = sum(map(len, pools))
            for v, pool in enumerate(pools):
                for signs in said[:v] + said[v + 1 :]:
                    candidate = np.append(known[v], signs)
                    if not any(np.array_equal(candidate, old) for old in pool):
                        pool.append(candidate)
            if sum(map(len, pools)) == n_before:
                break
            of_views = zip(kernels, pools, rows, strict=True)
            learnt = [self._machine(K, pool, w[r]) for K, pool, r in of_views]
            n_rounds += 1
        coef, gaps = zip(*learnt, strict=True)
        return coef, [len(pool) for pool in pools], gaps, n_rounds

    def _machine(self, K, pool, w):
        """Coefficients alpha_i sum_t mu_t y^t_i of one view, and the gap."""
        mu, alpha, gap = weigh_candidates(K, np.array(pool), self.C, weights=w, tol=self.tol)
        return alpha * (mu @ np.array(pool)), gap

    def _scores(self, X):
        total = np.zeros((X.n_samples, len(self.dual_coef_[0])))
        machines = zip(self.similarities_, self.dual_coef_, self.intercept_, strict=True)
        for (mu, coef, b), view, seen in zip(machines, X.views, X.observed.T, strict=True):
            rows = np.flatnonzero(seen)
            if len(rows):
                with np.errstate(over="ignore", invalid="ignore"):
                    total[rows] += mu(view[rows]) @ coef.T + b
        if not np.isfinite(total).all():
            raise ValueError("X holds values too large for its kernel.")
        return total / X.observed.sum(axis=1)[:, None]

    def _check_parameters(self):
        for name in ("C", "tol"):
            check_number(getattr(self, name), name, low=0, low_open=True)
        check_number(self.intercept_scaling, "intercept_scaling", low=0)
        check_number(self.max_rounds, "max_rounds", low=1, integer=True)
