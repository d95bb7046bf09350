"""MVNA-KMHKS: many views of one source, each a Nyström approximation of its kernel.

Z. Wang, S. Chen, D. Gao, "A novel multi-view classifier based on Nyström approximation", Expert
Systems with Applications 2011. KMHKS is Leski's kernel Ho-Kashyap classifier (2004). Chapters:
part V of the book.

Problem   min over Gamma^p, w0^p, b^p >= 0 of
          sum_p |f_p - 1 - b_p|^2 + c^p Gamma^p' K_p Gamma^p
            + gamma sum_p |f_p - sum_j mu_j f_j|^2                                    (Eq. 4)
          f_p = K_p Gamma^p + w0^p Y, the margins of machine p
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
          in ``classifier``, the base of the three classes.

Departures from the paper, each explained in the chapter
          * the inverse in Eq. (1) is a pseudo-inverse with a cut-off (erratum N1);
          * ``solver="exact"``: each step is the minimum of Eq. (4) over the view, which Eq. (7) is
            for no mu but 1/M, and then for an augmented problem (N2, N3), and the minimum over b,
            while that of Eq. (9) never falls (N7, N8), with Nesterov's momentum between iterations.
            ``solver="paper"`` is (7) and (9);
          * the start is Gamma = 0 and b = 0, and (9) takes the new Gamma (N9);
          * ``decision="nystrom"``: new samples by the Nyström extension, since Eq. (11) with the
            exact kernel is another function than the one that was learnt (N4, N5).
            ``decision="printed"`` is (11), with w0 counted once (N6);
          * the views may come from several sources, each with its own kernel; a machine is left
            out where a sample lacks its view, and the weights mu of the others are rescaled;
          * components are drawn once for all classes, and shared by the machines of all pairs.
"""

import numpy as np

from ..core.input import check_number
from ..core.nystrom import check_n_components, nystrom_map
from .classifier import HoKashyapClassifier
from .machines import FactorMachine, GramMachine, SumOfKernels


class MVNAKMHKS(HoKashyapClassifier):
    """Multi-view Nyström approximation of the kernel Ho-Kashyap classifier (Table 1).

    One machine per view learns margins of 1 or more from a Nyström approximation of the kernel; the
    machines are pulled to their weighted mean, which classifies.

    Parameters
    ----------
    n_views : int, default=None
        M, a multiple of the number of views of `X`: equally many approximations of each. None: 2 of
        a single view, as in the paper; one of each view if `X` has several.
    n_components : int, float or "auto", default="auto"
        m, the samples that a view is approximated by; or their share of the samples, 1.0 for all.
        "auto": half of the samples, at most 256. Drawn whatever the weights of the samples: one of
        weight 2 is the sample twice for the same components, as for 1.0, else another draw.
    kernel : {"rbf", "linear", "precomputed", "gram"}, callable, or a list, default="rbf"
        One for all views of `X`, or one per view; see :class:`~mvref.LandmarkProjection`. They
        must be positive semi-definite.
    gamma : float, "mean", or a list of these, one per view of `X`, default=None
        Of the kernel. None: 1/n_v for "rbf", "mean" for "precomputed". Other kernels have none.
    c : float, or list of M floats, default=1.0; weight of the squared norm of each machine
    coupling : float, default=1.0; the paper's gamma, weight of the disagreement of the machines
    view_weights : sequence of M floats, default=None; mu, divided by their sum. None: equal
    solver : {"exact", "paper"}, default="exact"; minimum of Eq. (4), or Eq. (7), (9) as printed
    decision : {"nystrom", "printed"}, default="nystrom"
        New samples are scored by the function that was learnt, or by Eq. (11) as printed, with
        the exact kernel.
    learning_rate : float, or list of M floats, default=0.5
        rho of Eq. (9), above 0 and at most 1. For ``solver="paper"``.
    tol : float, default=1e-4; xi, share of the objective: a change below it ends the iterations
    max_iter : int, default=1000; largest number of iterations through all views
    multi_class : {"ovo", "ovr"}, default="ovo"
        More than two classes: a vote of all pairs as in the paper, or each against the rest.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply ``sample_weight`` and the squares of Eq. (4).
    n_jobs : int or None, default=None; pairs of classes learnt in parallel (joblib)
    views : sequence or mapping, default=None; widths, slices, indices or names that cut a 2-D `X`
    random_state : int, RandomState instance or None, default=None; draws the components

    Attributes
    ----------
    alphas_ : list of M arrays (n,)
        Gamma^p, the alpha_i of Eq. (11); (n_problems, n) with more than two classes, where a pair
        has zeros for the samples of other classes.
    components_, component_indices_ : lists of M arrays (m, n_v), and of M int arrays (m,)
        Samples that each view is approximated by, for "precomputed" and "gram" their columns; and
        their places in the training sample.
    similarities_, dual_coef_ : list of M kernels, and of M arrays (m,), or (n_problems, m)
        Kernels to the components and their coefficients; with ``decision="printed"`` to the
        training samples, with coefficients y_i alpha_i.
    intercepts_, norms_ : arrays (M,), or (n_problems, M)
        w0^p; and |beta_p|, the norm of machine p in the space of its kernel, without w0^p.
    view_weights_ : array (M,), mu
    sources_ : list of M int, view of `X` that each machine has
    objective_curve_ : array (iterations + 1,), or a list of them
        J' of Eq. (4) at the start and after every iteration.
    n_iter_ : int, the largest number over the problems
    classes_, n_features_in_ : sorted array of labels, and int, number of columns of all views
    view_names_, view_widths_, view_feature_names_ : lists; name, width, columns of each view

    See Also
    --------
    NAKMHKS, KMHKS : One approximation, and none.
    sklearn.svm.SVC : The plain alternative.

    Notes
    -----
    ``solver="exact"`` minimises a convex function: co-regularised machines with the squared hinge.
    Its steps are slow for a large `coupling` or a small `c`. With the default `tol` the objective
    ended above its minimum by at most .1 % for a coupling of 0 or 1, .2 % for 10, .7 % for 100 and
    2.1 % for 1000, on moons, breast cancer and one digit of scikit-learn, c from .01 to 10. Lower
    `tol` where the minimum itself matters. `coupling` hardly moved the accuracy in the book's
    experiments, and a strong one lowered it; with 0 the machines are independent.

    A machine is left out of the sums of a sample that lacks its view, in Eq. (4) and in Eq. (11).

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
        n_views=None,
        n_components="auto",
        *,
        kernel="rbf",
        gamma=None,
        c=1.0,
        coupling=1.0,
        view_weights=None,
        solver="exact",
        decision="nystrom",
        learning_rate=0.5,
        tol=1e-4,
        max_iter=1000,
        multi_class="ovo",
        class_weight=None,
        n_jobs=None,
        views=None,
        random_state=None,
    ):
        self.n_views, self.n_components = n_views, n_components
        self.kernel, self.gamma = kernel, gamma
        self.c, self.coupling, self.view_weights = c, coupling, view_weights
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
    """Kernel Ho-Kashyap classifier with one Nyström approximation (M = 1).

    The single-view method that the paper compares with. If `X` has several views, each is
    approximated, and the features of all are put side by side: the kernels add up.

    Parameters
    ----------
    n_components : int, float or "auto", default="auto"
        m samples, or a share of them; "auto": half of the samples, at most 256; whatever their
        weights, see :class:`MVNAKMHKS`.
    kernel : {"rbf", "linear", "precomputed", "gram"}, callable, or a list, default="rbf"
    gamma : float, "mean", None, or a list, default=None
        One for all views of `X`, or one per view. None: 1/n_v for "rbf", "mean" for "precomputed".
    c : float, default=1.0; weight of the squared norm
    solver : {"exact", "paper"}, default="exact"; minimum of Eq. (4), or Eq. (7), (9) as printed
    learning_rate : float, default=0.5; rho of "paper", above 0 and at most 1
    decision : {"nystrom", "printed"}, default="nystrom"
        New samples: by the function that was learnt, or by Eq. (11) with the exact kernel.
    tol : float, default=1e-4; xi, share of the objective: a change below it ends the iterations
    max_iter : int, default=1000; largest number of iterations
    multi_class : {"ovo", "ovr"}, default="ovo"; votes of all pairs of classes, or one against rest
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply ``sample_weight`` and the squares of Eq. (4).
    n_jobs : int or None, default=None; pairs of classes learnt in parallel (joblib)
    views : sequence or mapping, default=None; widths, slices, indices or names that cut a 2-D `X`
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    alphas_, intercepts_, norms_, view_weights_, sources_, objective_curve_, n_iter_, classes_
        See :class:`MVNAKMHKS`, with M = 1.
    components_, component_indices_, dual_coef_, similarities_
        As there, one entry for each view of `X`.
    n_features_in_, view_names_, view_widths_, view_feature_names_ : int, and lists; as there

    See Also
    --------
    MVNAKMHKS, KMHKS : Several approximations, coupled; and none.

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
        n_components="auto",
        *,
        kernel="rbf",
        gamma=None,
        c=1.0,
        solver="exact",
        decision="nystrom",
        learning_rate=0.5,
        tol=1e-4,
        max_iter=1000,
        multi_class="ovo",
        class_weight=None,
        n_jobs=None,
        views=None,
        random_state=None,
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
    """Kernel Ho-Kashyap classifier without approximation, equations (2) and (3).

    With ``solver="exact"`` it is the support vector machine with the squared hinge, C = 1/(2c), and
    an intercept that is not penalised. Memory and time of a step grow with n^2. If `X` has several
    views, their kernels add up.

    Parameters
    ----------
    kernel : {"rbf", "linear", "precomputed", "gram"}, callable, or a list, default="rbf"
    gamma : float, "mean", None, or a list, default=None
        One for all views of `X`, or one per view. None: 1/n_v for "rbf", "mean" for "precomputed".
    c : float, default=1.0; weight of the squared norm
    solver : {"exact", "paper"}, default="exact"; the minimum, or Eq. (3) as printed
    learning_rate : float, default=0.5; rho of "paper", above 0 and at most 1
    tol : float, default=1e-4; xi, share of the objective: a change below it ends the iterations
    max_iter : int, default=1000; largest number of iterations
    multi_class : {"ovo", "ovr"}, default="ovo"; votes of all pairs of classes, or one against rest
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply ``sample_weight`` and the squares of Eq. (4).
    n_jobs : int or None, default=None; pairs of classes learnt in parallel (joblib)
    views : sequence or mapping, default=None; widths, slices, indices or names that cut a 2-D `X`

    Attributes
    ----------
    alphas_, intercepts_, norms_, view_weights_, sources_, objective_curve_, n_iter_, classes_
        See :class:`MVNAKMHKS`, with M = 1.
    components_, component_indices_, dual_coef_, similarities_
        As there, one entry for each view of `X`, of all samples that have it.
    n_features_in_, view_names_, view_widths_, view_feature_names_ : int, and lists; as there

    See Also
    --------
    MVNAKMHKS, NAKMHKS : Their kernel is approximated.
    sklearn.svm.SVC : The plain alternative.

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
        kernel="rbf",
        gamma=None,
        c=1.0,
        solver="exact",
        learning_rate=0.5,
        tol=1e-4,
        max_iter=1000,
        multi_class="ovo",
        class_weight=None,
        n_jobs=None,
        views=None,
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
            return GramMachine(K, weight, c)  # alone it has no other curvature than the weights
        return FactorMachine(K @ nystrom_map(K), np.ones(len(K), dtype=bool), weight, c)
