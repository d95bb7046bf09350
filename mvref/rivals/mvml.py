"""MVML: metric learning between the kernels of the views; MVMLsp with blocks that can vanish.

R. Huusari, H. Kadri, C. Capponi, "Multi-view metric learning in vector-valued kernel spaces",
AISTATS 2018; MVMLsp is compared with MwMvC2 in section 5 of Goyal et al. (2018), and MVML with
MVL-SVM in Zantedeschi et al. (2018). Chapters: parts I and II of the book.

Problem   min over g, A psd (and w) of
          |y - Phi g|^2 + lam g'A^{-1}g + eta |A|_F^2,   Phi = [w_1 U_1 ... w_V U_V],  y = +-1
          MVMLsp: eta sum_kl |A_kl|_F in place of eta |A|_F^2, with V x V blocks
          The weight w_i of a sample multiplies the i-th square of |y - Phi g|^2: rows i of y and of
          all U_v are multiplied by w_i^(1/2), in the start of A, too.

Symbols   paper        code               shape
          U_v          -                  (n, r_v), U_v U_v' = ``kernels.K[v]``, kernel of view v
          g            ``point.g``        (V, n), whose rows b_v stand for g_v = U_v'b_v
          p, a         ``point.a``        (n,), p = A^{-1} g has p_v = w_v U_v'a
          A            ``point.A``        (sum r_v, sum r_v), never written down
          w            weights_           (V,), 1/V unless ``learn_weights``

Algorithm start: A = blockdiag(U_v'U_v), w = 1/V. At most ``n_rounds`` times:
          g-step  g = A p, p = Phi'(Phi A Phi' + lam I)^{-1} y
                  [= (Phi'Phi + lam A^{-1})^{-1} Phi'y]
          A-step  A <- (A + s lam p p') / (1 + 2 s eta)
                  [= (1 - 2 mu eta) A + mu lam A^{-1}gg'A^{-1} with mu = s / (1 + 2 s eta)]
                  MVMLsp: A <- theta o (A + s lam p p'), theta_kl = (1 - s eta / |block kl|)_+
          w-step  w = (Z'Z)^+ Z'y with Z_v = U_v g_v                   (``learn_weights``)
          s doubles before each round and is halved as long as that lowers the objective.
          f(x) = sum_v w_v k_v(x, X_v) b_v;  with components S, f(x) = sum_v w_v k_v(x, S_v) T_v g_v
          and T_v of :mod:`mvref.core.nystrom`.

          All steps are products with the kernels, so that no U_v is needed where all samples are
          components. The system of the g-step is that of ``mvml_descent``: without ``sparse`` and
          ``learn_weights`` one eigendecomposition serves all rounds and all classes.

Bound     The objective is convex in (g, A). For fixed g its infimum over A is closed, see
          :func:`least_penalty`: A is g g' / t, of rank one, or for MVMLsp, which is the group lasso
          then, has no block off the diagonal. The limit of many rounds is therefore hardly a
          metric: MVML relies on *early stopping*, and six rounds are part of the method.

Departures (the formulas above are those of the authors' program; the bound is ours)
          - p p' is A^{-1}gg'A^{-1} without an inverse. The program inverts A, whose small
            eigenvalues make its objective rise by orders of magnitude; here it never rises. The
            step s is searched for, whereas the program mostly keeps a fixed step.
          - MVMLsp: every block has the threshold s eta, as the proximal step of the printed
            penalty needs; the program has eta on the diagonal and eta/2 off it. A stays psd because
            theta is made psd (Schur's product theorem), not by a projection of A.
          - The components S are drawn without replacement, view by view. The program takes the
            first rows, which are all of one class where the data are sorted by class.
          - Our interpretation: a view that a sample lacks has zeros in U_v; more than two classes
            are handled one-vs-rest, each with its metric; there is no intercept.
"""

import numpy as np
from sklearn.utils import check_random_state

from ..core.base import MultiViewClassifier, one_against_rest, one_or_array, one_or_list
from ..core.input import (
    ClassWeight,
    Kernel,
    KernelWidth,
    Literal,
    RandomState,
    Sequence,
    ViewColumns,
    Weighted,
    check_number,
)
from ..core.kernel_views import KernelViews, add_kernel_scores, check_kernels
from ..core.nystrom import EIGEN_CUTOFF, NystromViews, check_n_components, draw_components
from .mvml_descent import Problem, ViewFactors, ViewKernels, learn_metric

# Up to so many samples, all are components: with one factorisation for all systems, or one each
LARGEST_SHARED, LARGEST_OWN = 2000, 1000


def least_penalty(norms, lam, eta, sparse=False):
    """Return the infimum over A of lam g'A^{-1}g plus the penalty of A: norms (V,) of the g_v.

    g'A^{-1}g <= t means that A - gg'/t is psd, so that no norm of A, or sum of norms of its blocks,
    is below the one of gg'/t. It remains to minimise lam t + eta |g|^4 / t^2 over t > 0, for
    MVMLsp lam t + eta (sum_v |g_v|)^2 / t.

    >>> least_penalty(np.array([5.0, 2.0]), lam=4.0, eta=1.0, sparse=True)  # 2 * 2 * (5 + 2)
    28.0
    """
    if sparse:
        return float(2.0 * np.sqrt(lam * eta) * np.sum(norms))
    return float(3.0 * np.cbrt(eta) * np.cbrt(lam / 2.0) ** 2 * np.cbrt(np.dot(norms, norms)) ** 2)


class MVML(Weighted, MultiViewClassifier):
    """Multi-view metric learning; with ``sparse=True`` it is MVMLsp.

    Parameters
    ----------
    lam, eta : float, default=0.1 and 1.0; weights of g'A^{-1}g and of the penalty of the metric
    sparse : bool, default=False; penalise the sum of the norms of A's blocks: views can vanish
    kernel : {"rbf", "linear", "precomputed", "gram"}, callable, or one per view, default="rbf"
        Similarity to the components; :class:`~mvref.LandmarkProjection` describes each.
    gamma : float, "mean", None, or one per view, default=None
        Kernel width. None: 1/n_v for "rbf", "mean" for "precomputed".
    n_components : float, int or "auto", default="auto"
        Number of samples in the Nystroem approximation of a kernel, or their fraction; see
        :func:`mvref.core.nystrom.draw_components`. 1.0 is exact, and so is "auto" up to 2000
        samples (1000 with `sparse` or `learn_weights`); beyond this it is 256, see
        ``components_``.
    n_rounds : int, default=6
        Maximum number of steps of the metric. Stopping there is part of the method, see the bound
        in the head of this module, and does not raise a warning.
    tol : float, default=1e-4; relative decrease of the objective below which training stops earlier
    learn_weights : bool, default=False
        Whether to learn the weights w of the views, too, instead of 1/V. Nothing penalises w: g
        and A can shrink while w grows, so that only few rounds keep the function smooth.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply ``sample_weight``; they multiply the squares.
    views : sequence or mapping, default=None; widths, slices, indices or names that split a 2-D `X`
    random_state : int, RandomState instance or None, default=None; seed of the drawn components

    Attributes
    ----------
    dual_coef_ : list of V arrays (m_v,), or (n_classes, m_v), of the components: w_v T_v g_v
    similarities_ : list of V kernels to the components
    components_ : list of V int arrays (m_v,), training rows
    weights_ : array (V,), or (n_classes, V), w
    block_norms_ : array (V, V), or (n_classes, V, V)
        Frobenius norms of the metric's blocks: the coupling of two views, 0 if dropped.
    objective_curve_ : array, or a list of them; at the start and after every round, at the best g
    lower_bound_ : float, or array (n_classes,), least objective over all metrics, at these g, w
    n_iter_ : int, number of rounds, the maximum over the classes
    classes_, n_features_in_ : sorted array of labels, and int, number of columns of all views
    view_names_, view_widths_, view_feature_names_ : lists; name, width, columns of each view

    See Also
    --------
    MSL : A subspace that two views share.

    Notes
    -----
    Provenance: public implementation. The formulas are those of the program by the authors of the
    paper (Huusari, Kadri and Capponi, AISTATS 2018).

    Views should have kernels of comparable size, as "rbf" has: all views share one step, which the
    largest kernel keeps short. A view that a sample lacks adds nothing to its score. If ``eta`` is
    so large that MVMLsp drops every view, all scores are 0. Learning takes one eigendecomposition
    of n' rows, n' = min(n, V * number of components), and O(n_rounds) systems of n' equations for
    every class with `sparse` or `learn_weights`; and V + 2 or 2V + 1 matrices of that size.

    A weight of 2 is equivalent to repeating the sample if all samples are components; fewer are
    drawn irrespective of the weights. ``gamma="mean"`` counts every sample once.

    Examples
    --------
    >>> from mvref.datasets import load_iris_views
    >>> from mvref.rivals import MVML
    >>> data = load_iris_views()
    >>> model = MVML(sparse=True, n_components=0.24, random_state=0).fit(data.X, data.y)
    >>> bool(model.score(data.X, data.y) > 0.9)
    True
    """

    _learnt = "dual_coef_"

    def __init__(
        self,
        lam: float = 0.1,
        eta: float = 1.0,
        *,
        sparse: bool = False,
        kernel: Kernel | Sequence[Kernel] = "rbf",
        gamma: KernelWidth | Sequence[KernelWidth | None] | None = None,
        n_components: float | Literal["auto"] = "auto",
        n_rounds: int = 6,
        tol: float = 1e-4,
        learn_weights: bool = False,
        class_weight: ClassWeight | None = None,
        views: ViewColumns | None = None,
        random_state: RandomState | None = None,
    ):
        self.lam, self.eta, self.sparse = lam, eta, sparse
        self.kernel, self.gamma, self.n_components = kernel, gamma, n_components
        self.n_rounds, self.tol, self.learn_weights = n_rounds, tol, learn_weights
        self.class_weight = class_weight
        self.views, self.random_state = views, random_state

    def _fit(self, X, codes, weights):
        """Learn the metric and the function."""
        root = np.ones(X.n_samples) if weights is None else np.sqrt(weights)
        kernels, to_components = self._form(X, root)
        signs = root * one_against_rest(codes, len(self.classes_))
        points, functions, curves, bounds = zip(
            *(self._learn(kernels, y) for y in signs), strict=True
        )
        self.dual_coef_ = [
            one_or_array([to_component(g[v]) for g in functions])
            for v, to_component in enumerate(to_components)
        ]
        self.weights_ = one_or_array([point.w for point in points])
        self.block_norms_ = one_or_array([point.norms for point in points])
        self.objective_curve_ = one_or_list(curves)
        self.lower_bound_ = one_or_array(bounds)
        self.n_iter_ = max(len(curve) - 1 for curve in curves)

    def _form(self, X, root):
        """Return the kernels, and each view's map from g_v to coefficients of the components."""
        kernels = check_kernels(self.kernel, self.gamma, X.n_views)
        shared = not (self.sparse or self.learn_weights)
        rng = check_random_state(self.random_state)
        if self._is_exact(X.n_samples):
            self.components_ = draw_components(X.observed, 1.0, rng)  # all
            exact = KernelViews(X, kernels, self.gamma, 0.0)
            self.similarities_ = exact.similarities
            for K, rows in zip(exact.grams(), exact.rows, strict=True):
                own = np.ix_(rows, rows)
                if np.ptp(K[own]) < EIGEN_CUTOFF * np.abs(K).max():  # constant up to rounding
                    K[own] = K[own].mean()
                K *= root
                K *= root[:, None]
            form = ViewKernels(exact.grams(), shared)
            return form, [lambda g, rows=rows: (root * form.back(g))[rows] for rows in exact.rows]
        alone = [[v] for v in range(X.n_views)]
        few = NystromViews(X, kernels, self.gamma, alone, self.n_components, rng)
        self.components_, self.similarities_ = few.components, few.similarities
        form = ViewFactors([root[:, None] * F for F in few.factors], shared)
        return form, [(T @ turn).__matmul__ for T, turn in zip(few.maps, form.turns, strict=True)]

    def _is_exact(self, n):
        """Return whether all n samples are components."""
        if isinstance(self.n_components, str):
            return n <= (LARGEST_OWN if self.sparse or self.learn_weights else LARGEST_SHARED)
        return isinstance(self.n_components, float) and self.n_components == 1.0

    def _learn(self, kernels, y):
        """Return the last point of the descent, all w_v g_v, the curve and its lower bound."""
        short, rest = kernels.carried(y)
        problem = Problem(kernels, short, rest, self.lam, self.eta, self.sparse)
        options = {"n_rounds": self.n_rounds, "tol": self.tol, "learn_weights": self.learn_weights}
        point, curve = learn_metric(problem, **options)
        g = point.g
        Z = kernels.times(g.T)  # U_v g_v
        error, norms = short - Z @ point.w, np.sqrt(np.maximum((g.T * Z).sum(axis=0), 0.0))
        bound = error @ error + rest + least_penalty(norms, self.lam, self.eta, self.sparse)
        return point, point.w[:, None] * g, curve, float(bound)

    def _scores(self, X):
        scores = np.zeros((X.n_samples, len(np.atleast_2d(self.weights_))))
        add_kernel_scores(scores, X, self.similarities_, self.dual_coef_)
        return scores

    def _check_parameters(self):
        for name in ("lam", "eta", "tol"):
            check_number(getattr(self, name), name, low=0, low_open=True)
        check_number(self.n_rounds, "n_rounds", low=0, integer=True)
        check_n_components(self.n_components)
