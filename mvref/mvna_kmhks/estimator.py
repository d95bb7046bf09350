"""MVNA-KMHKS: many views of one source, each a Nyström approximation of its kernel.

Z. Wang, S. Chen, D. Gao, "A novel multi-view classifier based on Nyström approximation", Expert
Systems with Applications 2011. KMHKS is Leski's kernel Ho-Kashyap classifier (2004). Chapters:
part V of the book.

Problem   min over Gamma^p, w0^p, b^p >= 0 of
          sum_p |f_p - 1 - b_p|^2 + c^p Gamma^p' K_p Gamma^p
            + gamma sum_p |f_p - sum_j mu_j f_j|^2                                    (Eq. 4)
          f_p = K_p Gamma^p + w0^p Y, the margins of view p
          K_p = G_nS G_SS^+ G_Sn with m samples S of its own                          (Eq. 1)
          g(x) = sign of sum_p mu_p (sum_i y_i alpha_i^p k_p(x, x_i) + w0^p)          (Eq. 11)

Symbols   paper          code                 shape
          n, M, m        n, M, m              samples, views, components of a view (the samples S)
          G              -                    (n, n), y_i y_j k(x_i, x_j)
          K_p            F_p F_p' with signs  factor (n, r_p) of :mod:`mvref.core.nystrom`
          Gamma^p        alphas_[p]           (n,), entries alpha_i^p
          w0^p           intercepts_[p]       number
          b^p            b                    (M, n), how far margins may be beyond 1
          c^p            c                    weight of the norm
          gamma          coupling             weight of the disagreement; ``gamma`` is of the kernel
          mu_j           view_weights         sum to 1
          rho^p, xi      learning_rate, tol   Eq. (9), Eq. (10)
          J'             objective_curve_     value of Eq. (4)

Algorithm (the function or class that does each step)
          Eq. (1): ``draw_components`` and ``nystrom_map`` in :mod:`mvref.core.nystrom`;  Table 1:
          ``ho_kashyap``;  Eq. (7): ``FactorMachine`` in ``machines``, with beta = F'Gamma, r + 1
          numbers in place of n + 1; its matrix is the same in every step: O(n m^2) once, O(n m) a
          step;  KMHKS, where r = n, has ``GramMachine``;  Eq. (11): ``_scores``
          of the base of the three classes.

Departures from the paper, each explained in the chapter
          * the inverse in Eq. (1) is a pseudo-inverse with a cut-off (erratum N1);
          * ``solver="exact"``: each step minimises Eq. (4) over the view, as Eq. (7) does only for
            mu = 1/M, and then for an augmented problem (N2, N3), and over b, whereas the b of
            Eq. (9) never falls (N7, N8), with Nesterov's momentum between iterations.
            ``solver="paper"`` is (7) and (9);
          * the start is Gamma = 0 and b = 0, and (9) takes the new Gamma (N9);
          * ``decision="nystrom"``: new samples by the Nyström extension, since Eq. (11) with the
            exact kernel is not the function that was learnt (N4, N5).
            ``decision="printed"`` is (11), with w0 counted once (N6);
          * the views may come from several sources, each with its own kernel; a classifier is left
            out where a sample lacks its view, and the weights mu of the others are rescaled;
          * components are drawn once for all classes, and shared by the classifiers of all pairs.
"""

import numpy as np
from joblib import Parallel, delayed
from sklearn.utils import check_random_state

from ..core.base import (
    MultiViewClassifier,
    one_against_rest,
    one_or_array,
    one_or_list,
    pairs_of,
    votes_of_pairs,
)
from ..core.input import (
    ClassWeight,
    Kernel,
    KernelWidth,
    Literal,
    RandomState,
    Sequence,
    ViewColumns,
    Views,
    Weighted,
    check_choice,
    check_number,
    warn_caller,
)
from ..core.kernel_views import add_kernel_scores, check_kernels, similarities_to
from ..core.kernels import one_per_view
from ..core.nystrom import NystromViews, check_n_components, nystrom_map
from .ho_kashyap import SOLVERS, Coupling, ho_kashyap_together, share_weights
from .machines import FactorMachine, GramMachine, SumOfKernels

DECISIONS, MULTI_CLASS = ("nystrom", "printed"), ("ovo", "ovr")


class HoKashyapClassifier(Weighted, MultiViewClassifier):
    """Base of the three classes, with M coupled classifiers: here M = 1, on all views."""

    # Not used by a single classifier; MVNAKMHKS has parameters of these names.
    coupling, view_weights = 0.0, None
    _learnt = "dual_coef_"

    def _fit(self, X, codes, weights):
        self.sources_ = self._sources(X.n_views)
        kernels = check_kernels(self.kernel, self.gamma, X.n_views)
        gammas = one_per_view(self.gamma, X.n_views, "gamma")
        of_views = [kernels[v] for v in self.sources_], [gammas[v] for v in self.sources_]
        M = len(self._machines())
        self.view_weights_ = normalised_weights(self.view_weights, M)
        costs = per_machine(self.c, M, "c")
        rates = per_machine(self.learning_rate, M, "learning_rate", low_open=True, high=1)
        X = X.select(self.sources_)  # one view per approximation
        form = self._form(X, *of_views)
        problems = self._problems(codes)
        weights = np.ones(X.n_samples) if weights is None else weights
        solutions = self._solve_all(form, problems, weights, costs, rates)
        self._set_fitted(form, X, of_views, problems, solutions)
        self._warn(solutions)

    def _sources(self, n_views):
        """Return the view of every approximation."""
        return list(range(n_views))

    def _machines(self):
        """Return the approximations of every classifier."""
        return [list(range(len(self.sources_)))]

    def _form(self, X, kernels, gammas):
        rng = check_random_state(self.random_state)
        return NystromViews(X, kernels, gammas, self._machines(), self.n_components, rng)

    def _machine(self, form, p, rows, weight, c):
        """Return classifier p on some of the samples."""
        return FactorMachine(form.factors[p][rows], form.seen[p][rows], weight, c)

    def _problems(self, codes):
        """Return the samples, and labels -1 and +1, of every problem of two classes."""
        K = len(self.classes_)
        if K > 2 and self.multi_class == "ovo":
            rows = [(j, np.flatnonzero((codes == i) | (codes == j))) for i, j in pairs_of(K)]
            return [(of_pair, np.where(codes[of_pair] == j, 1.0, -1.0)) for j, of_pair in rows]
        return [(slice(None), y_k) for y_k in one_against_rest(codes, K)]

    def _solve_all(self, form, problems, weights, costs, rates):
        """Run Table 1 for every problem; problems on all samples share the factorised matrices."""
        options = {"learning_rate": rates, "tol": self.tol, "max_iter": self.max_iter}
        options["momentum"] = self.solver == "exact"

        def run(rows, labels):
            seen, w = form.seen[:, rows], weights[rows]
            coupling = Coupling(self.view_weights_, seen, self.coupling, self.solver, w)
            machines = [
                self._machine(form, p, rows, coupling.curvature(p), c) for p, c in enumerate(costs)
            ]
            return ho_kashyap_together(machines, costs, coupling, labels, **options)

        if isinstance(problems[0][0], slice):
            return run(slice(None), [y for _, y in problems])
        # Threads: products release the lock, and data are shared
        pairs = Parallel(self.n_jobs, prefer="threads")(delayed(run)(r, [y]) for r, y in problems)
        return [solution for [solution] in pairs]

    def _set_fitted(self, form, X, of_views, problems, solutions):
        """Store the kernels and coefficients of the scores, and the results of the solver."""
        M, n = form.seen.shape
        signed, alphas = np.zeros((2, M, len(problems), n))  # y_i alpha_i, and alpha_i
        for q, ((rows, y), solution) in enumerate(zip(problems, solutions, strict=True)):
            signed[:, q, rows] = solution.coefficients
            alphas[:, q, rows] = y * solution.coefficients
        if self.decision == "printed":
            rows = [np.flatnonzero(seen) for seen in X.observed.T]
            self.similarities_ = similarities_to(X, *of_views, rows)
            machine = {v: p for p, views in enumerate(self._machines()) for v in views}
            coef = [signed[machine[v]][:, seen] for v, seen in enumerate(X.observed.T)]
        else:
            self.similarities_ = form.similarities
            parts = [form.component_coefficients(solution.thetas) for solution in solutions]
            coef = zip(*parts, strict=True)
        self.component_indices_ = form.components
        self.components_ = [similarity.landmarks for similarity in form.similarities]
        self.alphas_ = [one_or_array(of_machine) for of_machine in alphas]
        self.dual_coef_ = [one_or_array(of_view) for of_view in coef]
        intercepts = np.array([[theta[-1] for theta in s.thetas] for s in solutions])
        self.intercepts_ = one_or_array(intercepts)
        self.norms_ = one_or_array([s.norms for s in solutions])
        self.objective_curve_ = one_or_list([s.curve for s in solutions])
        self.n_iter_ = max(len(s.curve) - 1 for s in solutions)

    def _warn(self, solutions):
        moving = [s.curve[-3:] for s in solutions if not s.converged]
        if moving:  # the last step may have been undone, but not the one before
            step = max(np.abs(np.diff(curve)).max() / curve[0] for curve in moving)
            warn_caller(
                f"{type(self).__name__} did not converge in max_iter={self.max_iter} iterations: "
                f"the relative change of the objective is still {step:.3g} (tol={self.tol:.3g}). "
                "Increase max_iter or tol."
            )

    def view_scores(self, X: Views) -> np.ndarray:
        """Compute the score of every view's classifier separately.

        Parameters
        ----------
        X : MultiView, list of arrays, or 2-D array of n samples

        Returns
        -------
        scores : array, shape (M, n), or (M, n, number of problems) with more than two classes
            0 for a sample that lacks the view.
        """
        scores = self._machine_scores(self._validated(X).select(self.sources_))
        return scores[:, :, 0] if len(self.classes_) == 2 else scores

    def _machine_scores(self, X):
        intercepts = np.atleast_2d(self.intercepts_).T
        machines = self._machines()
        scores = np.zeros((len(machines), X.n_samples, intercepts.shape[1]))
        for of_machine, views, w0 in zip(scores, machines, intercepts, strict=True):
            part = X.select(views)
            of_machine += part.observed.any(axis=1)[:, None] * w0
            mus, coef = [self.similarities_[v] for v in views], [self.dual_coef_[v] for v in views]
            add_kernel_scores(of_machine, part, mus, coef)
        return scores

    def _scores(self, X):
        """g(x) of Eq. (11) without its sign.

        With ``multi_class="ovo"`` and more than two classes, the votes for each class, plus its
        summed scores scaled to (-1/3, 1/3), which break ties between equal votes.
        """
        X = X.select(self.sources_)
        seen = np.array([X.observed[:, views].any(axis=1) for views in self._machines()])
        mu = share_weights(self.view_weights_, seen)
        scores = np.einsum("pn,pnq->nq", mu, self._machine_scores(X))
        if self.multi_class == "ovo" and len(self.classes_) > 2:
            return votes_of_pairs(scores, len(self.classes_))
        return scores

    def _check_parameters(self):
        check_choice(self.solver, "solver", SOLVERS)
        check_choice(self.decision, "decision", DECISIONS)
        check_choice(self.multi_class, "multi_class", MULTI_CLASS)
        check_number(self.coupling, "coupling", low=0)
        check_number(self.tol, "tol", low=0)
        check_number(self.max_iter, "max_iter", low=1, integer=True)


def per_machine(value, M, name, **limits):
    """Return a parameter for each of the M classifiers, given as one number or M of them: (M,)."""
    values = list(value) if isinstance(value, list | tuple | np.ndarray) else [value] * M
    if len(values) != M:
        raise ValueError(f"{name} has {len(values)} entries, but there are {M} views.")
    for number in values:
        check_number(number, name, **{"low": 0} | limits)
    return np.array(values, dtype=float)


def normalised_weights(view_weights, M):
    """Return the weights mu of the classifiers, which sum to 1: (M,)."""
    mu = per_machine(1.0 if view_weights is None else view_weights, M, "view_weights")
    if not mu.any():
        raise ValueError(f"view_weights must have an entry > 0, got {view_weights!r}.")
    return mu / mu.sum()


class MVNAKMHKS(HoKashyapClassifier):
    """Multi-view kernel classifier on Nyström approximations of the kernel (MVNA-KMHKS).

    One kernel Ho-Kashyap classifier per view learns margins of 1 or more from a Nyström
    approximation of the kernel; a penalty pulls them to their weighted mean, which classifies.

    Parameters
    ----------
    n_views : int, default=None
        M, a multiple of the number of views of `X`: equally many approximations of each. None: two
        of a single view, as in the paper; one of each view if `X` has several.
    n_components : int, float or "auto", default="auto"
        m, the number of samples that approximate a view; or their fraction of the samples, 1.0 for
        all. "auto": half of the samples, at most 256. They are drawn irrespective of sample
        weights: a weight of 2 is equivalent to repeating the sample only with the same components,
        as for 1.0.
    kernel : {"rbf", "linear", "precomputed", "gram"}, callable, or a list, default="rbf"
        One kernel for all views of `X`, or one per view; see :class:`~mvref.LandmarkProjection`.
        They must be positive semi-definite.
    gamma : float, "mean", or a list of these, one per view of `X`, default=None
        Kernel width. None: 1/n_v for "rbf", "mean" for "precomputed". Other kernels have no width.
    c : float, or list of M floats, default=1.0; weight of the squared norm of each classifier
    coupling : float, default=1.0; the paper's gamma, weight of the disagreement between the views
    view_weights : sequence of M floats, default=None; mu, divided by their sum; None: equal weights
    solver : {"exact", "paper"}, default="exact"; minimum of Eq. (4), or Eq. (7), (9) as printed
    decision : {"nystrom", "printed"}, default="nystrom"
        Whether new samples are scored by the function that was learnt, or by Eq. (11) as printed,
        with the exact kernel.
    learning_rate : float, or list of M floats, default=0.5
        rho of Eq. (9) for ``solver="paper"``, above 0 and at most 1.
    tol : float, default=1e-4; xi, relative change of the objective below which iterations stop
    max_iter : int, default=1000; maximum number of iterations through all views
    multi_class : {"ovo", "ovr"}, default="ovo"
        For more than two classes: a vote of all pairs as in the paper, or one-vs-rest.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply ``sample_weight`` and the squares of Eq. (4).
    n_jobs : int or None, default=None; number of pairs of classes trained in parallel (joblib)
    views : sequence or mapping, default=None; widths, slices, indices or names that split a 2-D `X`
    random_state : int, RandomState instance or None, default=None; seed of the drawn components

    Attributes
    ----------
    alphas_ : list of M arrays (n,)
        Gamma^p, the alpha_i of Eq. (11); (n_problems, n) with more than two classes, with zeros for
        samples that are in neither class of a pair.
    components_, component_indices_ : lists of M arrays (m, n_v), and of M int arrays (m,)
        Samples that approximate each view, or their columns for "precomputed" and "gram"; and their
        positions among the training samples.
    similarities_, dual_coef_ : list of M kernels, and of M arrays (m,), or (n_problems, m)
        Kernels to the components and their coefficients; with ``decision="printed"`` to the
        training samples, with coefficients y_i alpha_i.
    intercepts_, norms_ : arrays (M,), or (n_problems, M)
        w0^p; and |beta_p|, the norm of classifier p in the space of its kernel, without w0^p.
    view_weights_ : array (M,), mu
    sources_ : list of M int, the view of `X` that each classifier uses
    objective_curve_ : array (iterations + 1,), or a list of them
        J' of Eq. (4) at the start and after every iteration.
    n_iter_ : int; number of iterations, the maximum over the problems
    classes_, n_features_in_ : sorted array of labels, and int, number of columns of all views
    view_names_, view_widths_, view_feature_names_ : lists; name, width, columns of each view

    See Also
    --------
    NAKMHKS, KMHKS : With one approximation, and with the full kernel.
    sklearn.svm.SVC : A simple baseline.

    Notes
    -----
    ``solver="exact"`` minimises a convex function: co-regularised SVMs with the squared hinge. It
    converges slowly for a large `coupling` or a small `c`. With the default `tol` the objective
    ended above its minimum by at most .1 % for a coupling of 0 or 1, .2 % for 10, .7 % for 100 and
    2.1 % for 1000, on moons, breast cancer and one digit of scikit-learn, c from .01 to 10. Reduce
    `tol` if the minimum itself matters. `coupling` hardly changed the accuracy in the book's
    experiments, and a strong one lowered it; with 0 the classifiers are independent.

    A sample that lacks a view is left out of the sums of its classifier, in Eqs. (4) and (11).

    References
    ----------
    Wang, Chen and Gao, Expert Systems with Applications 38, 2011. Williams and Seeger, NIPS 2001.
    Leski, International Journal of Applied Mathematics and Computer Science 14, 2004.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from mvref import MVNAKMHKS
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> model = MVNAKMHKS(n_components=20, gamma=1.0, c=0.1, random_state=0).fit(X, y)
    >>> [of_view.shape for of_view in model.components_]
    [(20, 2), (20, 2)]
    >>> bool(model.score(X, y) > 0.95)
    True
    """

    def __init__(
        self,
        n_views: int | None = None,
        n_components: float | Literal["auto"] = "auto",
        *,
        kernel: Kernel | Sequence[Kernel] = "rbf",
        gamma: KernelWidth | Sequence[KernelWidth | None] | None = None,
        c: float | Sequence[float] = 1.0,
        coupling: float = 1.0,
        view_weights: Sequence[float] | None = None,
        solver: Literal["exact", "paper"] = "exact",
        decision: Literal["nystrom", "printed"] = "nystrom",
        learning_rate: float | Sequence[float] = 0.5,
        tol: float = 1e-4,
        max_iter: int = 1000,
        multi_class: Literal["ovo", "ovr"] = "ovo",
        class_weight: ClassWeight | None = None,
        n_jobs: int | None = None,
        views: ViewColumns | None = None,
        random_state: RandomState | None = None,
    ):
        self.n_views, self.n_components = n_views, n_components
        self.kernel, self.gamma = kernel, gamma
        self.c, self.coupling, self.view_weights = c, coupling, view_weights  # type: ignore[assignment]
        self.solver, self.decision, self.learning_rate = solver, decision, learning_rate
        self.tol, self.max_iter = tol, max_iter
        self.multi_class, self.class_weight, self.n_jobs = multi_class, class_weight, n_jobs
        self.views, self.random_state = views, random_state

    def _sources(self, n_views):
        M = self.n_views
        if M is None:
            M = 2 if n_views == 1 else n_views
        if M % n_views:
            raise ValueError(
                f"n_views must be a multiple of the number of views of X, {n_views}, got {M!r}."
            )
        return [v for v in range(n_views) for _ in range(M // n_views)]

    def _machines(self):
        return [[v] for v in range(len(self.sources_))]

    def _check_parameters(self):
        super()._check_parameters()
        check_n_components(self.n_components)
        if self.n_views is not None:
            check_number(self.n_views, "n_views", low=1, integer=True)


class NAKMHKS(HoKashyapClassifier):
    """Kernel Ho-Kashyap classifier on one Nyström approximation (NA-KMHKS, M = 1).

    The single-view method that the paper compares with. If `X` has several views, each is
    approximated, and the features are concatenated, so that the kernels are summed.

    Parameters
    ----------
    n_components : int, float or "auto", default="auto"
        Number m of components, or their fraction of the samples; "auto": half of the samples, at
        most 256; drawn irrespective of weights, see :class:`MVNAKMHKS`.
    kernel : {"rbf", "linear", "precomputed", "gram"}, callable, or a list, default="rbf"
    gamma : float, "mean", None, or a list, default=None
        One for all views of `X`, or one per view. None: 1/n_v for "rbf", "mean" for "precomputed".
    c : float, default=1.0; weight of the squared norm
    solver : {"exact", "paper"}, default="exact"; minimum of Eq. (4), or Eq. (7), (9) as printed
    learning_rate : float, default=0.5; rho of "paper", above 0 and at most 1
    decision : {"nystrom", "printed"}, default="nystrom"
        Scores of new samples by the function that was learnt, or by Eq. (11) with the exact kernel.
    tol : float, default=1e-4; xi, relative change of the objective below which iterations stop
    max_iter : int, default=1000; maximum number of iterations
    multi_class : {"ovo", "ovr"}, default="ovo"; vote of all pairs of classes, or one-vs-rest
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply ``sample_weight`` and the squares of Eq. (4).
    n_jobs : int or None, default=None; number of pairs of classes trained in parallel (joblib)
    views : sequence or mapping, default=None; widths, slices, indices or names that split a 2-D `X`
    random_state : int, RandomState instance or None, default=None; seed of the drawn components

    Attributes
    ----------
    alphas_, intercepts_, norms_, view_weights_, sources_, objective_curve_, n_iter_, classes_
        See :class:`MVNAKMHKS`, with M = 1.
    components_, component_indices_, dual_coef_, similarities_
        As in :class:`MVNAKMHKS`, one entry for each view of `X`.
    n_features_in_, view_names_, view_widths_, view_feature_names_ : int, and lists; as there

    See Also
    --------
    MVNAKMHKS, KMHKS : With several coupled approximations, and with the full kernel.

    References
    ----------
    Wang, Chen and Gao, Expert Systems with Applications 38, 2011.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from mvref import NAKMHKS
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> model = NAKMHKS(n_components=0.1, gamma=1.0, c=0.1, random_state=0).fit(X, y)
    >>> model.intercepts_.shape, bool(model.score(X, y) > 0.95)
    ((1,), True)
    """

    def __init__(
        self,
        n_components: float | Literal["auto"] = "auto",
        *,
        kernel: Kernel | Sequence[Kernel] = "rbf",
        gamma: KernelWidth | Sequence[KernelWidth | None] | None = None,
        c: float = 1.0,
        solver: Literal["exact", "paper"] = "exact",
        decision: Literal["nystrom", "printed"] = "nystrom",
        learning_rate: float = 0.5,
        tol: float = 1e-4,
        max_iter: int = 1000,
        multi_class: Literal["ovo", "ovr"] = "ovo",
        class_weight: ClassWeight | None = None,
        n_jobs: int | None = None,
        views: ViewColumns | None = None,
        random_state: RandomState | None = None,
    ):
        self.n_components = n_components
        self.kernel, self.gamma, self.c = kernel, gamma, c
        self.solver, self.decision, self.learning_rate = solver, decision, learning_rate
        self.tol, self.max_iter = tol, max_iter
        self.multi_class, self.class_weight, self.n_jobs = multi_class, class_weight, n_jobs
        self.views, self.random_state = views, random_state

    def _check_parameters(self):
        super()._check_parameters()
        check_n_components(self.n_components)


class KMHKS(HoKashyapClassifier):
    """Kernel Ho-Kashyap classifier on the full kernel matrix (KMHKS).

    With ``solver="exact"`` it is the SVM with the squared hinge, C = 1/(2c), and an intercept that
    is not penalised. Memory and time of an iteration grow with n^2. If `X` has several views, their
    kernels are summed.

    Parameters
    ----------
    kernel : {"rbf", "linear", "precomputed", "gram"}, callable, or a list, default="rbf"
    gamma : float, "mean", None, or a list, default=None
        One for all views of `X`, or one per view. None: 1/n_v for "rbf", "mean" for "precomputed".
    c : float, default=1.0; weight of the squared norm
    solver : {"exact", "paper"}, default="exact"; the minimum, or Eq. (3) as printed
    learning_rate : float, default=0.5; rho of "paper", above 0 and at most 1
    tol : float, default=1e-4; xi, relative change of the objective below which iterations stop
    max_iter : int, default=1000; maximum number of iterations
    multi_class : {"ovo", "ovr"}, default="ovo"; vote of all pairs of classes, or one-vs-rest
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply ``sample_weight`` and the squares of Eq. (4).
    n_jobs : int or None, default=None; number of pairs of classes trained in parallel (joblib)
    views : sequence or mapping, default=None; widths, slices, indices or names that split a 2-D `X`

    Attributes
    ----------
    alphas_, intercepts_, norms_, view_weights_, sources_, objective_curve_, n_iter_, classes_
        See :class:`MVNAKMHKS`, with M = 1.
    components_, component_indices_, dual_coef_, similarities_
        As in :class:`MVNAKMHKS`, one entry for each view of `X`, of all samples that have it.
    n_features_in_, view_names_, view_widths_, view_feature_names_ : int, and lists; as there

    See Also
    --------
    MVNAKMHKS, NAKMHKS : With an approximated kernel.
    sklearn.svm.SVC : A simple baseline.

    References
    ----------
    Leski, International Journal of Applied Mathematics and Computer Science 14, 2004.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from mvref import KMHKS
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> model = KMHKS(gamma=1.0, c=0.1).fit(X, y)
    >>> model.alphas_[0].shape, bool(model.score(X, y) > 0.95)
    ((200,), True)
    """

    decision = "printed"  # nothing is approximated, so Eq. (11) is the function that was learnt

    _one_blas_thread = False

    def __init__(
        self,
        *,
        kernel: Kernel | Sequence[Kernel] = "rbf",
        gamma: KernelWidth | Sequence[KernelWidth | None] | None = None,
        c: float = 1.0,
        solver: Literal["exact", "paper"] = "exact",
        learning_rate: float = 0.5,
        tol: float = 1e-4,
        max_iter: int = 1000,
        multi_class: Literal["ovo", "ovr"] = "ovo",
        class_weight: ClassWeight | None = None,
        n_jobs: int | None = None,
        views: ViewColumns | None = None,
    ):
        self.kernel, self.gamma, self.c = kernel, gamma, c
        self.solver, self.learning_rate = solver, learning_rate
        self.tol, self.max_iter = tol, max_iter
        self.multi_class, self.class_weight = multi_class, class_weight
        self.n_jobs, self.views = n_jobs, views

    def _form(self, X, kernels, gammas):
        return SumOfKernels(X, kernels, gammas)

    def _machine(self, form, p, rows, weight, c):
        K = form.K if isinstance(rows, slice) else form.K[np.ix_(rows, rows)]
        if c > 0:
            return GramMachine(K, weight, c)  # without coupling, the curvature is the weights
        return FactorMachine(K @ nystrom_map(K), np.ones(len(K), dtype=bool), weight, c)
