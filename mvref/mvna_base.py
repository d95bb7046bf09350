"""What MVNA-KMHKS, NA-KMHKS and KMHKS share: fitting, view by view scores, and votes of pairs."""

import itertools
import warnings

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .base import MultiViewInput, one_against_rest, validate_targets, validate_views
from .checks import check_choice, check_number
from .ho_kashyap import SOLVERS, Coupling, ho_kashyap, share_weights
from .kernels import one_per_view
from .mvna_views import NystromViews, sample_similarities
from .mvpo_views import add_kernel_scores, check_kernels
from .voters import check_votable, winning_labels

DECISIONS, MULTI_CLASS = ("nystrom", "printed"), ("ovo", "ovr")


class HoKashyapClassifier(ClassifierMixin, MultiViewInput, BaseEstimator):
    """Base of the three classifiers of :mod:`mvref.mvna_kmhks`: M coupled machines.

    Here M = 1, and the machine has all views; see :class:`~mvref.mvna_kmhks.MVNAKMHKS` for more.
    """

    # What a single machine has no use for; MVNAKMHKS has parameters of these names.
    coupling, view_weights = 0.0, None

    def fit(self, X, y):
        """Learn the machines.

        Parameters
        ----------
        X : MultiView, list of arrays, or 2-D array of n samples
        y : array-like of shape (n,)

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            For wrong input, a parameter out of range or a single class.
        """
        X = validate_views(self, X, reset=True)
        self._check_parameters()
        codes = validate_targets(self, y, X.n_samples)
        check_votable(X)
        self.sources_ = self._sources(X.n_views)
        kernels = check_kernels(self.kernel, self.gamma, X.n_views)
        gammas = one_per_view(self.gamma, X.n_views, "gamma")
        of_views = [kernels[v] for v in self.sources_], [gammas[v] for v in self.sources_]
        M = len(self._machines())
        self.view_weights_ = normalised_weights(self.view_weights, M)
        costs = per_machine(self.c, M, "c")
        rates = per_machine(self.learning_rate, M, "learning_rate", low_open=True, high=1)
        X = X.select(self.sources_)  # a view once for every approximation
        form = self._form(X, *of_views)
        problems = self._problems(codes)
        solutions = self._solve_all(form, problems, costs, rates)
        self._set_functions(form, X, of_views, problems, solutions)
        self._set_numbers(solutions)
        self._warn(solutions)
        return self

    def _sources(self, n_views):
        """The view of every approximation."""
        return list(range(n_views))

    def _machines(self):
        """The approximations of every machine."""
        return [list(range(len(self.sources_)))]

    def _form(self, X, kernels, gammas):
        rng = check_random_state(self.random_state)
        return NystromViews(X, kernels, gammas, self._machines(), self.n_components, rng)

    def _problems(self, codes):
        """Samples and labels -1 and +1 of every problem of two classes."""
        K = len(self.classes_)
        if K > 2 and self.multi_class == "ovo":
            rows = [(j, np.flatnonzero((codes == i) | (codes == j))) for i, j in pairs_of(K)]
            return [(of_pair, np.where(codes[of_pair] == j, 1.0, -1.0)) for j, of_pair in rows]
        return [(slice(None), y_k) for y_k in one_against_rest(codes, K)]

    def _solve_all(self, form, problems, costs, rates):
        """Run Table 1 for every problem; those on all samples share the factorised matrices."""
        options = {
            "learning_rate": rates,
            "tol": self.tol,
            "max_iter": self.max_iter,
            "momentum": self.solver == "exact",
        }

        def prepare(rows):
            coupling = Coupling(self.view_weights_, form.seen[:, rows], self.coupling, self.solver)
            machines = [
                form.machine(p, rows, coupling.curvature(p), c) for p, c in enumerate(costs)
            ]
            return machines, costs, coupling

        shared = prepare(slice(None)) if isinstance(problems[0][0], slice) else None
        jobs = (
            delayed(ho_kashyap)(*(shared or prepare(rows)), y, **options) for rows, y in problems
        )
        # Threads: products release the lock, and data are shared
        return Parallel(self.n_jobs, prefer="threads")(jobs)

    def _set_functions(self, form, X, of_views, problems, solutions):
        """Store what the scores are made of: kernels and their coefficients."""
        M, n = form.seen.shape
        signed, alphas = np.zeros((2, M, len(problems), n))  # y_i alpha_i, and alpha_i
        for q, ((rows, y), solution) in enumerate(zip(problems, solutions, strict=True)):
            signed[:, q, rows] = solution.coefficients
            alphas[:, q, rows] = y * solution.coefficients
        if self.decision == "printed":
            self.similarities_ = sample_similarities(X, *of_views)
            machine = {v: p for p, views in enumerate(self._machines()) for v in views}
            coef = [signed[machine[v]][:, seen] for v, seen in enumerate(X.observed.T)]
        else:
            self.similarities_ = form.similarities
            parts = [form.component_coefficients(solution.thetas) for solution in solutions]
            coef = [np.array(part) for part in zip(*parts, strict=True)]
        self.component_indices_ = form.components
        self.components_ = [similarity.landmarks for similarity in form.similarities]
        several = len(problems) > 1
        self.alphas_ = list(alphas) if several else list(alphas[:, 0])
        self.dual_coef_ = coef if several else [part[0] for part in coef]

    def _set_numbers(self, solutions):
        intercepts = np.array([[theta[-1] for theta in s.thetas] for s in solutions])
        norms = np.array([solution.norms for solution in solutions])
        curves = [solution.curve for solution in solutions]
        several = len(solutions) > 1
        self.intercepts_ = intercepts if several else intercepts[0]
        self.norms_ = norms if several else norms[0]
        self.objective_curve_ = curves if several else curves[0]
        self.n_iter_ = max(len(curve) - 1 for curve in curves)

    def _warn(self, solutions):
        moving = [s.curve[-3:] for s in solutions if not s.converged]
        if moving:  # the last step may have been taken back, the one before was not
            step = max(np.abs(np.diff(curve)).max() / curve[0] for curve in moving)
            warnings.warn(
                f"{type(self).__name__} stopped after max_iter={self.max_iter} iterations, "
                f"whose last ones moved the objective by {step:.3g} of it, above "
                f"tol={self.tol:.3g}; raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def view_scores(self, X):
        """Return the score of every machine by itself.

        Parameters
        ----------
        X : MultiView, list of arrays, or 2-D array of n samples

        Returns
        -------
        scores : array, shape (M, n), or (M, n, number of problems) with more than two classes
            0 where the sample lacks the view.
        """
        scores = self._machine_scores(self._validated(X))
        return scores[:, :, 0] if len(self.classes_) == 2 else scores

    def _validated(self, X):
        check_is_fitted(self, "dual_coef_")
        X = validate_views(self, X, reset=False)
        check_votable(X)
        return X.select(self.sources_)

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

    def decision_function(self, X):
        """Return g(x) of Eq. (11) without its sign: (n,) for two classes, else (n, n_classes).

        Parameters
        ----------
        X : MultiView, list of arrays, or 2-D array of n samples

        Returns
        -------
        scores : array
            With ``multi_class="ovo"`` and more than two classes the votes for each class, plus
            its summed scores squeezed into (-1/3, 1/3), which decide between equal votes.
        """
        X = self._validated(X)
        seen = np.array([X.observed[:, views].any(axis=1) for views in self._machines()])
        mu = share_weights(self.view_weights_, seen)
        scores = np.einsum("pn,pnq->nq", mu, self._machine_scores(X))
        if len(self.classes_) == 2:
            return scores[:, 0]
        return votes_of_pairs(scores, len(self.classes_)) if self.multi_class == "ovo" else scores

    def predict(self, X):
        """Return the class of the sign of the score, or of the largest score.

        Parameters
        ----------
        X : MultiView, list of arrays, or 2-D array of n samples

        Returns
        -------
        y : array of labels, shape (n,)
        """
        return winning_labels(self.decision_function(X), self.classes_)

    def _check_parameters(self):
        check_choice(self.solver, "solver", SOLVERS)
        check_choice(self.decision, "decision", DECISIONS)
        check_choice(self.multi_class, "multi_class", MULTI_CLASS)
        check_number(self.coupling, "coupling", low=0)
        check_number(self.tol, "tol", low=0)
        check_number(self.max_iter, "max_iter", low=1, integer=True)


def per_machine(value, M, name, **limits):
    """Return a parameter for each of the M machines, given as one number or M of them.

    Parameters
    ----------
    value : float, or sequence of M floats
    M : int
    name : str
        Name of the parameter, for the message.
    limits
        Of :func:`mvref.checks.check_number`; by default the numbers may not be negative.

    Returns
    -------
    values : array, shape (M,)

    Raises
    ------
    ValueError

    Examples
    --------
    >>> from mvref.mvna_base import per_machine
    >>> per_machine([0.1, 1], 2, "c"), per_machine(0.1, 2, "c")
    (array([0.1, 1. ]), array([0.1, 0.1]))
    """
    values = list(value) if isinstance(value, list | tuple | np.ndarray) else [value] * M
    if len(values) != M:
        raise ValueError(f"{name} has {len(values)} entries, but there are {M} views.")
    for number in values:
        check_number(number, name, **{"low": 0} | limits)
    return np.array(values, dtype=float)


def normalised_weights(view_weights, M):
    """Return the weights mu of the machines, which sum to 1.

    Parameters
    ----------
    view_weights : sequence of M floats, or None for equal ones
    M : int

    Returns
    -------
    mu : array, shape (M,)

    Raises
    ------
    ValueError
    """
    mu = per_machine(1.0 if view_weights is None else view_weights, M, "view_weights")
    if not mu.any():
        raise ValueError(f"view_weights must have an entry > 0, got {view_weights!r}.")
    return mu / mu.sum()


def pairs_of(n_classes):
    """Return the pairs i < j of classes in the order of ``multi_class="ovo"``.

    Parameters
    ----------
    n_classes : int

    Returns
    -------
    pairs : list of tuples

    Examples
    --------
    >>> from mvref.mvna_base import pairs_of
    >>> pairs_of(3)
    [(0, 1), (0, 2), (1, 2)]
    """
    return list(itertools.combinations(range(n_classes), 2))


def votes_of_pairs(scores, n_classes):
    """Count the votes of the machines of pairs; between equal votes the summed scores decide.

    Parameters
    ----------
    scores : array, shape (n, n_classes (n_classes - 1) / 2)
        Positive for the second class of the pair, which has the vote; else the first has it.
    n_classes : int

    Returns
    -------
    votes : array, shape (n, n_classes)
        The number of votes plus s / (3 (|s| + 1)), where s is the sum of the scores for a class.

    Examples
    --------
    >>> import numpy as np
    >>> from mvref.mvna_base import votes_of_pairs
    >>> votes_of_pairs(np.array([[1.0, -1.0, 3.0]]), 3).round(2)  # one vote each
    array([[1.  , 0.78, 1.22]])
    """
    votes, sums = np.zeros((2, len(scores), n_classes))
    for s, (i, j) in zip(scores.T, pairs_of(n_classes), strict=True):
        votes[:, j] += s > 0
        votes[:, i] += s <= 0
        sums[:, j] += s
        sums[:, i] -= s
    return votes + sums / (3.0 * (np.abs(sums) + 1.0))
