"""Co-Labeling: classifiers of one view each, which exchange candidate labels.

W. Li, L. Duan, I. W. Tsang, D. Xu, "Co-labeling: a new multi-view learning approach for ambiguous
problems", ICDM 2012; X. Xu, W. Li, D. Xu, I. W. Tsang, IEEE TPAMI 2016; and MVPO in Figure 2
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
          the SVM with margin 1. The latter is solved by Newton steps on the samples inside the
          margin: their systems by preconditioned conjugate gradients, all classes of a view
          together, or by Cholesky factors if these are faster; the duality gap stops it. mu_t is
          then multiplied by a power of |w_t|^2 = alpha' (K o y^t y^t') alpha, and so on until the
          bounds of (*) from both sides meet. The power 1/2 gives each candidate its share in the
          norms and never fails; larger ones are tried first.
          The loop over views: all SVMs predict labels of the unlabelled samples; every view adds
          the others' labels to its pool and is trained again, until there are no new labels.

Supervised form   ``fit(X, y)``: T = 1, the mean of per-view SVMs with squared hinge. Tables of
          labelled training samples compare with this; ``fit(X, y, X_unlabelled)`` has the loop.

Our interpretations
          Scores of margin 1 in the mean, so that no view has more weight because its classes lie
          further apart; signs of the scores as candidates, without a constraint on how many are
          positive; one C for all samples, times their weights w_i, which are 1 in the paper and for
          the unlabelled; the first SVMs learn from the labelled samples; all views in step. A
          sample without a view is left out of the SVM and of the mean.
"""

import numpy as np
from joblib import Parallel, delayed
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from ..core.base import MultiViewClassifier, one_against_rest
from ..core.input import (
    ArrayLike,
    ClassWeight,
    Kernel,
    KernelWidth,
    Self,
    Sequence,
    ViewColumns,
    Views,
    Weighted,
    check_number,
    stack_samples,
    validate_views,
    warn_caller,
)
from ..core.kernels import fit_similarities
from ..core.nystrom import nystrom_map
from ..core.voters import check_trainable

SVM_TOL = 1e-13  # relative duality gap of an SVM: alpha is as exact as its root
SVM_STEPS = 200  # maximum number of Newton steps; about 10 were observed
HALVINGS = 34  # maximum number of halvings of a step
ROUNDING = 1e-14  # relative rounding error of a value
SMALL = 500  # samples up to which every Newton system is solved by a Cholesky factorisation
RANK = 1 / 40  # rank of the preconditioner as a fraction of n
FLOPS = 100  # of a Cholesky factorisation, in the time of a product with K per entry
EXACT = 1e-10  # relative residual of a Newton system below which only rounding is left
NO_KERNEL = "kernel is not positive definite, or C={:g} is too large: standardise X or reduce C."


def squared_hinge_svm(K, Y, C, *, start=None, weights=None):
    """Return argmin 1/2 b'Kb + C/2 sum_i w_i max(0, 1 - y_i (Kb)_i)^2 for every row y of Y.

    K (n, n); Y (q, n): labels -1 and +1; start (q, n): initial alpha; weights: w (n,), None
    for 1 -> alpha (q, n) >= 0, with b = y alpha, and the relative duality gaps (q,).

    >>> squared_hinge_svm(np.eye(2), np.array([[1.0, -1.0]]), 1.0)[0]  # (K + I/C) b = y
    array([[0.5, 0.5]])
    """
    Cw = np.full(len(K), float(C)) if weights is None else C * weights
    systems = _NewtonSystems(K, Cw, C)
    b = np.zeros(Y.shape) if start is None else Y * start
    y, f, todo, ended = Y, b @ K, np.arange(len(Y)), np.zeros(len(Y), dtype=bool)
    alpha, gaps = np.empty(Y.shape), np.empty(len(Y))
    for _ in range(SVM_STEPS):
        slack = np.maximum(0.0, 1.0 - y * f)
        value = _value(b, f, y, Cw)
        dual = Cw * slack * y  # feasible, and the solution in the end
        outside = np.where(slack > 0, 0.0, b)
        of_dual, of_outside = np.split(np.vstack([dual, outside]) @ K, 2)
        gap = ((dual - b) * (of_dual - f)).sum(axis=1) / 2
        if (gap < -1e-6 * value).any():  # weak duality holds only for kernels
            raise ValueError(NO_KERNEL.format(C))
        alpha[todo], gaps[todo] = np.abs(dual), gap / value
        going = ~ended & (gap > SVM_TOL * value)
        if not going.any():
            break
        todo, y, b, f = todo[going], y[going], b[going], f[going]
        inside, outside, of_outside = slack[going] > 0, outside[going], of_outside[going]
        # to the minimum for the squared loss of the samples inside the margin
        point, of_point = systems.solve(inside, y - f - b / Cw + of_outside)
        step, of_step = point - outside, of_point - of_outside
        length, value = np.ones((len(y), 1)), value[going]
        for _ in range(HALVINGS):
            reached = _value(b + length * step, f + length * of_step, y, Cw)
            worse = reached > value * (1 + ROUNDING)
            if not worse.any():
                break
            length[worse] /= 2
        b, f = b + length * step, f + length * of_step
        ended = (reached >= value) & systems.exact  # no gain left, except perhaps in the gap
        if ((reached >= value) | (length[:, 0] < 1)).any():
            systems.tol = max(0.01 * systems.tol, EXACT)
    return alpha, gaps


def _value(b, f, y, Cw):
    """Return 1/2 b'f + 1/2 sum Cw max(0, 1 - y f)^2 of every row, f = Kb."""
    return ((b * f).sum(axis=1) + np.maximum(0.0, 1.0 - y * f) ** 2 @ Cw) / 2


class _NewtonSystems:
    """(K_SS + diag(1/Cw)_SS) x_S = r_S, x = 0 outside S, for a set S of samples per problem.

    Solved by conjugate gradients for all problems at once, which read K once for each product.
    The preconditioner is L'L + diag(1/Cw + delta) on S, L'L of RANK the Nystroem approximation of K
    and delta the mean diagonal of the remainder. Cholesky factors are used if n is small, and
    from the first system on that takes too many products.
    """

    def __init__(self, K, Cw, C):
        n = len(K)
        self.K, self.Cw, self.C, self.direct = K, Cw, C, n <= SMALL
        # the loss has a curvature up to 1 + sum(Cw k_ii): with this residual a step lowers it
        self.tol = max(0.1 / np.sqrt(1.0 + Cw @ K.diagonal()), EXACT)
        if not self.direct:
            some = np.linspace(0, n - 1, int(RANK * n)).astype(int)
            self.L = nystrom_map(K[np.ix_(some, some)]).T @ K[some]
            self.D = 1 / Cw + max(K.trace() - (self.L**2).sum(), 0.0) / n

    @property
    def exact(self):
        return self.direct or self.tol <= EXACT

    def solve(self, inside, right):
        """Return x and Kx (q, n) of every problem; inside: the samples of S; right: r."""
        right = np.where(inside, right, 0.0)
        if not self.direct:
            x, of_x = self._conjugate_gradients(inside, right)
            if x is not None:
                return x, of_x
            self.direct = True
        x = np.zeros(right.shape)
        for x_k, S, r in zip(x, map(np.flatnonzero, inside), right, strict=True):
            A = self.K[np.ix_(S, S)].T
            A[np.diag_indices(len(S))] += 1 / self.Cw[S]
            try:
                x_k[S] = cho_solve(cho_factor(A, overwrite_a=True), r[S])
            except LinAlgError:
                raise ValueError(NO_KERNEL.format(self.C)) from None
        return x, x @ self.K

    def _conjugate_gradients(self, inside, r):
        """Return x and Kx, or (None, None) if Cholesky factors take less time."""
        precondition = self._preconditioner(inside)
        x, of_x, target = 0.0, 0.0, self.tol * np.linalg.norm(r, axis=1)
        z = precondition(r)
        p, rz = z, (r * z).sum(axis=1)
        limit = (inside.sum(axis=1) ** 3.0).sum() / (FLOPS * len(self.K) ** 2)
        for _ in range(int(limit)):
            of_p = p @ self.K
            A_p = np.where(inside, of_p + p / self.Cw, 0.0)
            curved = (p * A_p).sum(axis=1)
            length = np.divide(rz, curved, where=curved > 0, out=np.zeros(len(r)))[:, None]
            x, of_x, r = x + length * p, of_x + length * of_p, r - length * A_p
            if (np.linalg.norm(r, axis=1) <= target).all():
                return x, of_x
            z = precondition(r)
            rz, before = (r * z).sum(axis=1), rz
            p = z + np.divide(rz, before, where=before > 0, out=np.zeros(len(r)))[:, None] * p
        return None, None

    def _preconditioner(self, inside):
        """Return the function that applies the inverse preconditioner, by Woodbury's formula."""
        inverses = inside / self.D
        factors = [cho_factor(np.eye(len(self.L)) + (self.L * E) @ self.L.T) for E in inverses]

        def solve(r):
            u = inverses * r
            low = np.array([cho_solve(*of) for of in zip(factors, u @ self.L.T, strict=True)])
            return u - inverses * (low @ self.L)

        return solve


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
        M, one = K * ((pool.T * mu) @ pool), np.ones((1, len(K)))
        [alpha], [svm_gap] = squared_hinge_svm(M, one, C, start=best[1], weights=w)
        if alpha.sum() > best[0] * (1 + SVM_TOL):  # too long a step: go back, and take a safe one
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
    """Semi-supervised multi-view SVM (Co-Labeling): the views exchange labels; a mean of scores.

    Parameters
    ----------
    C : float, default=1.0; weight of half the summed squared hinge loss
    kernel : {"rbf", "linear", "precomputed", "gram"}, callable, or one per view, default="rbf"
        Similarity to the training samples, first the labelled ones, then the others;
        :class:`~mvref.LandmarkProjection` describes each.
    gamma : float, "mean", None, or one per view, default=None
        Kernel width. None: 1/n_v for "rbf", "mean" for "precomputed".
    intercept_scaling : float, default=1.0
        B: B^2 is added to the kernel, which is a penalised intercept. 0 for none.
    max_rounds : int, default=10; maximum number of rounds in which the views exchange labels
    tol : float, default=1e-3; relative duality gap of the weights of the candidate labels
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply ``sample_weight``; unlabelled samples have weight 1.
    n_jobs : int or None, default=None; views, or classes that exchange, in parallel (joblib)
    views : sequence or mapping, default=None; widths, slices, indices or names that split a 2-D `X`

    Attributes
    ----------
    dual_coef_ : list of V arrays (n_problems, n_v)
        alpha_i sum_t mu_t y^t_i, one row per class (one-vs-rest; a single row for two classes), one
        column per sample that has the view.
    intercept_ : array (V, n_problems), of the SVM of every view
    similarities_ : list of V kernels to the samples
    n_candidates_ : int array (V, n_problems), at the end; 1 without unlabelled samples
    dual_gap_ : array (V, n_problems), relative duality gap
    n_rounds_ : int, the maximum over the classes; 0 without unlabelled samples
    transduction_ : array, predicted labels of the unlabelled samples, or None
    classes_, n_features_in_ : sorted array of labels, and int, number of columns of all views
    view_names_, view_widths_, view_feature_names_ : lists; name, width, columns of each view

    See Also
    --------
    PerViewSVM : A vote instead of the mean of the scores.
    SVM2K : SVMs with an agreement penalty.

    Notes
    -----
    Provenance: memory. A reconstruction: the abstract of Li, Duan, Tsang and Xu (ICDM 2012)
    describes the candidate labels that views pass on and a kernel for each, Wang, Tsang and Gao
    (AAAI 2016) name the squared hinge; formula and mean are from memory of the literature (Xu and
    others, 2016).

    Several classes are handled one-vs-rest, each with its own candidates. Labelled samples may lack
    views, unlabelled samples may not. Without unlabelled samples, this is a mean of SVMs.

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
        C: float = 1.0,
        *,
        kernel: Kernel | Sequence[Kernel] = "rbf",
        gamma: KernelWidth | Sequence[KernelWidth | None] | None = None,
        intercept_scaling: float = 1.0,
        max_rounds: int = 10,
        tol: float = 1e-3,
        class_weight: ClassWeight | None = None,
        n_jobs: int | None = None,
        views: ViewColumns | None = None,
    ):
        self.C, self.kernel, self.gamma = C, kernel, gamma
        self.intercept_scaling, self.max_rounds = intercept_scaling, max_rounds
        self.tol, self.class_weight = tol, class_weight
        self.n_jobs, self.views = n_jobs, views

    def fit(  # type: ignore[override]
        self,
        X: Views,
        y: ArrayLike,
        X_unlabelled: Views | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Train one SVM per view, and let the views exchange labels of the unlabelled samples.

        Parameters
        ----------
        X : MultiView, list of arrays, or 2-D array of m samples
        y : array-like of shape (m,)
        X_unlabelled : as `X`, optional; samples for which the views propose labels to each other
        sample_weight : array-like of m numbers >= 0, default=None
            A weight of 2 is equivalent to repeating the sample, 0 to leaving it out.

        Returns
        -------
        self : CoLabeling

        Raises
        ------
        ValueError
            For wrong input, a parameter out of range, one class, or views missing in
            `X_unlabelled`.
        """
        self._check_and_fit(X, y, X_unlabelled, sample_weight=sample_weight)
        self.transduction_ = None if X_unlabelled is None else self.predict(X_unlabelled)
        return self

    def _fit(self, X, codes, weights, X_unlabelled):
        """Train the SVMs, one-vs-rest; they exchange labels if there are unlabelled samples."""
        check_trainable(X, codes)
        together = X if X_unlabelled is None else self._with_unlabelled(X, X_unlabelled)
        rows = [np.flatnonzero(seen) for seen in together.observed.T]
        self.similarities_ = fit_similarities(self.kernel, self.gamma, together, rows, rows)
        signs, w = one_against_rest(codes, len(self.classes_)), np.ones(len(together))
        w[: len(X)] = 1.0 if weights is None else weights
        of_views = zip(self.similarities_, together.views, rows, strict=True)
        parallel, n_rounds = Parallel(self.n_jobs), (0,)
        if X_unlabelled is None:  # one kernel at a time, for all classes
            learnt = parallel(
                delayed(self._svms)(mu, view, r, signs[:, r], w[r]) for mu, view, r in of_views
            )
            self.dual_coef_, gaps = map(list, zip(*learnt, strict=True))
            self.dual_gap_ = np.array(gaps)
            self.n_candidates_ = np.ones(self.dual_gap_.shape, dtype=int)
        else:
            kernels = [self._kernel(*of_view) for of_view in of_views]
            learnt = parallel(delayed(self._exchange)(kernels, rows, y_k, w) for y_k in signs)
            coef, candidates, gaps, n_rounds = zip(*learnt, strict=True)
            self.dual_coef_ = [np.array(of_view) for of_view in zip(*coef, strict=True)]
            self.n_candidates_, self.dual_gap_ = np.array(candidates).T, np.array(gaps).T
        self.n_rounds_ = max(n_rounds)
        B2 = self.intercept_scaling**2
        self.intercept_ = np.array([B2 * c.sum(axis=1) for c in self.dual_coef_])
        if not (self.dual_gap_ <= self.tol).all():
            warn_caller(
                f"CoLabeling did not converge: its relative gap is {self.dual_gap_.max():.3g}. "
                f"Increase tol={self.tol:g}, reduce C={self.C:g}, or standardise the views."
            )

    def _kernel(self, mu, view, rows):
        """Return k + B^2 between the samples that have the view."""
        with np.errstate(over="ignore", invalid="ignore"):
            K = mu(view[rows]) + self.intercept_scaling**2
        if not np.isfinite(K).all():
            raise ValueError("X has values too large for its kernel. Standardise the views.")
        return K

    def _svms(self, mu, view, rows, Y, w):
        """Return the coefficients (q, n) of one view for the labels Y (q, n), and the gaps (q,)."""
        alpha, gaps = squared_hinge_svm(self._kernel(mu, view, rows), Y, self.C, weights=w)
        return alpha * Y, gaps

    def _with_unlabelled(self, X, X_unlabelled):
        """Stack the labelled samples and the unlabelled ones."""
        new = validate_views(self, X_unlabelled, reset=False)
        if X.n_views < 2:
            raise ValueError("X_unlabelled needs two views: each labels samples for the other.")
        if not new.observed.all():
            i, v = np.argwhere(~new.observed)[0]
            raise ValueError(f"X_unlabelled must have all views, row {i} lacks {X.names[v]!r}.")
        return stack_samples(X, new)

    def _exchange(self, kernels, rows, y, w):
        """Return every view's coefficients and number of candidates, gaps, and number of rounds."""
        known = [y[r[r < len(y)]] for r in rows]  # labelled samples come first
        learnt = [
            self._machine(K[: len(own), : len(own)], [own], w[r[: len(own)]])
            for K, r, own in zip(kernels, rows, known, strict=True)
        ]
        pools = [[] for _ in known]
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
        """Return the coefficients alpha_i sum_t mu_t y^t_i of one view, and the gap."""
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
            raise ValueError("X has values too large for its kernel.")
        return total / X.observed.sum(axis=1)[:, None]

    def _check_parameters(self):
        for name in ("C", "tol"):
            check_number(getattr(self, name), name, low=0, low_open=True)
        check_number(self.intercept_scaling, "intercept_scaling", low=0)
        check_number(self.max_rounds, "max_rounds", low=1, integer=True)
