"""What the three classifiers of MVNA-KMHKS have in common: problems of two classes, Eq. (11).

Problem, symbols and departures stand in ``estimator``; Table 1 stands in ``ho_kashyap``.
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
from ..core.input import Weighted, check_choice, check_number, warn_caller
from ..core.kernel_views import add_kernel_scores, check_kernels, similarities_to
from ..core.kernels import one_per_view
from ..core.nystrom import NystromViews
from .ho_kashyap import SOLVERS, Coupling, ho_kashyap_together, share_weights
from .machines import FactorMachine

DECISIONS, MULTI_CLASS = ("nystrom", "printed"), ("ovo", "ovr")


class HoKashyapClassifier(Weighted, MultiViewClassifier):
    """M coupled machines, base of the three classifiers: here M = 1, and it has all views."""

    # What a single machine has no use for; MVNAKMHKS has parameters of these names.
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
        X = X.select(self.sources_)  # a view once for every approximation
        form = self._form(X, *of_views)
        problems = self._problems(codes)
        weights = np.ones(X.n_samples) if weights is None else weights
        solutions = self._solve_all(form, problems, weights, costs, rates)
        self._set_fitted(form, X, of_views, problems, solutions)
        self._warn(solutions)

    def _sources(self, n_views):
        """The view of every approximation."""
        return list(range(n_views))

    def _machines(self):
        """The approximations of every machine."""
        return [list(range(len(self.sources_)))]

    def _form(self, X, kernels, gammas):
        rng = check_random_state(self.random_state)
        return NystromViews(X, kernels, gammas, self._machines(), self.n_components, rng)

    def _machine(self, form, p, rows, weight, c):
        """Machine p on some of the samples."""
        return FactorMachine(form.factors[p][rows], form.seen[p][rows], weight, c)

    def _problems(self, codes):
        """Samples and labels -1 and +1 of every problem of two classes."""
        K = len(self.classes_)
        if K > 2 and self.multi_class == "ovo":
            rows = [(j, np.flatnonzero((codes == i) | (codes == j))) for i, j in pairs_of(K)]
            return [(of_pair, np.where(codes[of_pair] == j, 1.0, -1.0)) for j, of_pair in rows]
        return [(slice(None), y_k) for y_k in one_against_rest(codes, K)]

    def _solve_all(self, form, problems, weights, costs, rates):
        """Run Table 1 for every problem; those on all samples share the factorised matrices."""
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
        """Store what the scores are made of, kernels and their coefficients, and what was found."""
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
        if moving:  # the last step may have been taken back, the one before was not
            step = max(np.abs(np.diff(curve)).max() / curve[0] for curve in moving)
            warn_caller(
                f"{type(self).__name__} stopped after max_iter={self.max_iter} iterations, whose "
                f"last ones moved the objective by {step:.3g} of it, above tol={self.tol:.3g}; "
                "raise max_iter or tol."
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

        With ``multi_class="ovo"`` and more than two classes the votes for each class, plus its
        summed scores squeezed into (-1/3, 1/3), which decide between equal votes.
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
    """Return a parameter for each of the M machines, given as one number or M of them: (M,)."""
    values = list(value) if isinstance(value, list | tuple | np.ndarray) else [value] * M
    if len(values) != M:
        raise ValueError(f"{name} has {len(values)} entries, but there are {M} views.")
    for number in values:
        check_number(number, name, **{"low": 0} | limits)
    return np.array(values, dtype=float)


def normalised_weights(view_weights, M):
    """Return the weights mu of the machines, which sum to 1: (M,)."""
    mu = per_machine(1.0 if view_weights is None else view_weights, M, "view_weights")
    if not mu.any():
        raise ValueError(f"view_weights must have an entry > 0, got {view_weights!r}.")
    return mu / mu.sum()
