"""Base of the classifier and the regressor of :mod:`mvref.mvm`: training and explanations."""

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted
from tqdm import tqdm

from ..core.base import one_or_array, one_or_list
from ..core.groups import Structure, group_structure
from ..core.input import (
    BaseEstimator,
    Literal,
    MultiViewInput,
    RandomState,
    Sequence,
    ViewColumns,
    Views,
    check_choice,
    check_number,
    view_features,
    warn_caller,
)
from ..core.losses import MAJORISERS, PENALTIES
from ..core.ridge import check_alpha
from ..core.starts import best_starts
from .model import Design, Objective, contributions, start_factors, subset_weights
from .solvers import ADVICE, AdaGrad, als, lbfgs, sgd

SOLVERS, INITS = ("auto", "lbfgs", "sgd", "als"), ("live", "paper")
COLLAPSED = 1e-6  # scores below this fraction of the targets: the factors went to 0
HELD_OUT = 0.1  # fraction of every class that is held out for early stopping


def streams(estimator):
    """Return True if the estimator has ``partial_fit``; otherwise raise the reason."""
    if estimator.solver != "sgd" or estimator.early_stopping or estimator.n_init != 1:
        raise AttributeError(
            "partial_fit needs solver='sgd', early_stopping=False and n_init=1, got "
            f"solver={estimator._solver!r}, early_stopping={estimator.early_stopping!r}, "
            f"n_init={estimator.n_init!r}."
        )
    return True


class MultiViewMachine(MultiViewInput, BaseEstimator):
    """Base of the classifier, which documents the parameters, and the regressor."""

    _learnt = "factors_"

    def __init__(
        self,
        n_factors: int = 8,
        *,
        loss: Literal["logistic", "squared_hinge", "hinge", "squared"] = "squared",
        alpha: float | Literal["auto"] = 1e-3,
        penalty: Literal["l2", "l1"] = "l2",
        smoothing: float = 1e-8,
        solver: Literal["auto", "lbfgs", "sgd", "als"] = "auto",
        init: Literal["live", "paper"] = "live",
        init_scale: float = 0.1,
        n_init: int = 1,
        groups: Sequence[Sequence[int | str]] | None = None,
        shared_factors: bool = True,
        learning_rate: float = 0.1,
        batch_size: int = 128,
        max_iter: int = 1000,
        tol: float = 1e-5,
        early_stopping: bool = False,
        n_iter_no_change: int = 10,
        n_jobs: int | None = None,
        verbose: int = 0,
        views: ViewColumns | None = None,
        random_state: RandomState | None = None,
    ):
        self.n_factors, self.loss = n_factors, loss
        self.alpha, self.penalty, self.smoothing = alpha, penalty, smoothing
        self.solver, self.max_iter, self.tol = solver, max_iter, tol
        self.init, self.init_scale, self.n_init = init, init_scale, n_init
        self.groups, self.shared_factors = groups, shared_factors
        self.learning_rate, self.batch_size = learning_rate, batch_size
        self.early_stopping, self.n_iter_no_change = early_stopping, n_iter_no_change
        self.n_jobs, self.verbose = n_jobs, verbose
        self.views, self.random_state = views, random_state

    @property
    def _solver(self):
        if self.solver != "auto":
            return self.solver
        return "als" if isinstance(self.alpha, str) else "lbfgs"

    def _fit_machines(self, X, targets, codes, weights, whole):
        """Learn a model per array of targets; early stopping holds out `whole` groups."""
        rng = check_random_state(self.random_state)
        seeds = rng.randint(2**31, size=(1, len(targets)))
        structure = group_structure(self.groups, X, self.shared_factors)
        parts = [(X, slice(None))]
        if self.early_stopping:
            held_out = hold_out(codes, rng, whole)
            parts = [(X[rows], rows) for rows in (~held_out, held_out)]
        weights = np.ones(X.n_samples) if weights is None else weights
        self._seen = np.array([X.n_samples, weights.sum()])
        designs = [
            (Design(part, structure, self.n_factors, weights[rows] / weights[rows].mean()), rows)
            for part, rows in parts
        ]
        problems = [[self._objective(design, y[rows]) for design, rows in designs] for y in targets]
        more = rng.randint(2**31, size=(self.n_init - 1, len(targets)))
        seeds = np.vstack([seeds, more]).T
        # in threads: products release the lock, and data are shared
        best = best_starts(self._solve, problems, seeds, n_jobs=self.n_jobs, prefer="threads")
        solutions, self._states = zip(*best.solutions, strict=True)
        self.objectives_ = one_or_array(best.objectives)
        self.factor_views_, self.terms_ = structure
        self._set_factors([solution.factors for solution in solutions])
        self.loss_curve_ = one_or_list([np.array(s.curve) for s in solutions])
        for name in ("validation_curve_", "alpha_"):  # from an earlier fit
            vars(self).pop(name, None)
        if self.alpha == "auto":
            found = [solution.alphas for solution in solutions]
            self.alpha_ = [one_or_array(alphas) for alphas in zip(*found, strict=True)]
        if self.early_stopping:
            self.validation_curve_ = one_or_list([np.array(s.validation) for s in solutions])
        self.n_iter_ = max(len(solution.curve) - 1 for solution in solutions)
        troubles = [solution.trouble for solution in solutions]
        collapse = self._compare_with_zero([problem[0] for problem in problems])
        self._warn([*troubles, collapse], best.note)

    def _solve(self, seed, objective, validation=None):
        """Minimise Eq. (10) from the start that `seed` draws, for ``best_starts``.

        The solution comes with the state of SGD, and with Eq. (10) in the epoch that was kept.
        """
        rng = np.random.RandomState(seed)
        factors = start_factors(self.init, self.init_scale, objective.design, rng)
        with tqdm(total=self.max_iter, desc=self._solver, disable=not self.verbose) as bar:
            options = {"tol": self.tol, "max_iter": self.max_iter, "tick": bar.update}
            if self._solver != "sgd":
                state, minimise = None, {"lbfgs": lbfgs, "als": als}[self._solver]
                solution = minimise(objective, factors, **options)
            else:
                state = AdaGrad(factors, rng, objective.design)
                options |= {name: getattr(self, name) for name in ("learning_rate", "batch_size")}
                options |= {"patience": self.n_iter_no_change, "validation": validation}
                solution = sgd(objective, state, **options)
        kept = np.argmin(solution.validation) if len(solution.validation) else -1
        return (solution, state), solution.curve[kept], solution.trouble is None

    def _partial_fit_machines(self, X, targets, weights, first):
        """Pass once over the samples by stochastic gradients, for every array of targets.

        weights (n,): divided by the mean weight of all samples of the stream so far.
        """
        rows = np.flatnonzero(weights)
        if not len(rows):
            raise ValueError("sample_weight times class_weight must be > 0 for some sample.")
        X, weights = X[rows], weights[rows]
        if first:
            self.factor_views_, self.terms_ = group_structure(self.groups, X, self.shared_factors)
            self._seen = np.zeros(2)
        self._seen = self._seen + [len(rows), weights.sum()]  # samples, and their weights
        weights = weights * (self._seen[0] / self._seen[1])
        design = Design(X, Structure(self.factor_views_, self.terms_), self.n_factors, weights)
        objectives = [self._objective(design, y[rows]) for y in targets]
        if first:
            seeds = check_random_state(self.random_state).randint(2**31, size=len(targets))
            rngs = [np.random.RandomState(seed) for seed in seeds]
            starts = [start_factors(self.init, self.init_scale, design, rng) for rng in rngs]
            self._states = tuple(AdaGrad(*pair, design) for pair in zip(starts, rngs, strict=True))
            values = [o.value(A) for o, A in zip(objectives, starts, strict=True)]
            self.loss_curve_, self.n_iter_ = one_or_list([np.array([v]) for v in values]), 0
        curves = self.loss_curve_ if len(targets) > 1 else [self.loss_curve_]
        troubles = []
        for i, (objective, state) in enumerate(zip(objectives, self._states, strict=True)):
            finite = state.epoch(objective, self.learning_rate, self.batch_size)
            if finite and np.isfinite(value := objective.value(state.factors)):
                curves[i] = np.append(curves[i], value)
            else:
                troubles.append(f"products of views overflow for these samples; {ADVICE}")
        self.loss_curve_ = one_or_list(curves)
        self.n_iter_ += 1
        self._set_factors([state.factors for state in self._states])
        self._warn(troubles)

    def _objective(self, design, y):
        options = {name: getattr(self, name) for name in ("loss", "penalty", "alpha", "smoothing")}
        return Objective(design, y, **options)

    def _set_factors(self, machines):
        """Store the factors, with a first axis for the classes if there are several models."""
        self.factors_ = [one_or_array(A) for A in zip(*machines, strict=True)]

    def _machines(self):
        """Return the list of factors of every model."""
        if self.factors_[0].ndim == 2:
            return [self.factors_]
        return [list(machine) for machine in zip(*self.factors_, strict=True)]

    def _warn(self, troubles, note=""):
        told = "; ".join(sorted({trouble for trouble in troubles if trouble is not None}))
        if told:
            warn_caller(f"{type(self).__name__} with solver={self._solver!r}: {told}.{note}")

    def _compare_with_zero(self, objectives):
        """Return a message if a model has collapsed to factors 0, or is worse than these."""
        for objective, machine in zip(objectives, self._machines(), strict=True):
            scores = np.abs(objective.design.scores(machine)).max()
            if len(machine) > 1 and scores < COLLAPSED * np.abs(objective.y).max():
                return (
                    "training collapsed to the local minimum at zero, so all scores are 0; "
                    "standardise the views, use init='live', a larger init_scale, or "
                    + ("a number for alpha" if objective.auto else f"alpha below {self.alpha:.3g}")
                )
            if not objective.value(machine) <= objective.value([0.0 * A for A in machine]):
                return f"the objective is worse than with factors 0; {ADVICE}"
        return None

    def _scores(self, X):
        """Eq. (9) of every model, shape (n, number of models)."""
        structure = Structure(self.factor_views_, self.terms_)
        design = Design(X, structure, self.factors_[0].shape[-1])
        scores = np.column_stack([design.scores(machine) for machine in self._machines()])
        if not np.isfinite(scores).all():
            raise ValueError(f"X has values so large that products of views overflow; {ADVICE}.")
        return scores

    @property
    def n_parameters(self) -> int:
        """Number of learnt parameters: for each class, k times the sum of d_1 to d_V and V."""
        check_is_fitted(self, "factors_")
        return sum(A.size for A in self.factors_)

    def decompose(self, X: Views) -> dict[tuple[str, ...], np.ndarray]:
        """Decompose the scores into the contributions of all subsets of the views.

        Parameters
        ----------
        X : MultiView, list of arrays, or 2-D array of n samples

        Returns
        -------
        parts : dict tuple of view names -> array (n,), or (n, n_classes)
            From the global bias, key (), to the interactions of all views; they sum to the score. A
            missing view is in no interaction.

        Raises
        ------
        ValueError
            If the result would have more than 1e8 numbers.
        """
        X = self._validated(X)
        features, blocks = view_features(X, 0.0), (self.factor_views_, self.terms_)
        answers = [contributions(features, machine, *blocks) for machine in self._machines()]
        return self._by_names(answers, axis=1)

    def order_weights(self, max_order: int = 2) -> dict[tuple[str, ...], np.ndarray]:
        """Compute the weights of the interactions of features, as tensors, from the factors.

        Parameters
        ----------
        max_order : int, default=2; maximum number of views in an interaction

        Returns
        -------
        weights : dict tuple of view names -> array with one axis per view
            The global bias, key (), the weights of single features, the weights of pairs of
            features and so on; with more than two classes, the first axis is for the classes.

        Raises
        ------
        ValueError
            If the result would have more than 1e8 numbers.
        """
        check_is_fitted(self, "factors_")
        check_number(max_order, "max_order", low=0, integer=True)
        blocks = self.factor_views_, self.terms_
        answers = [subset_weights(machine, *blocks, max_order) for machine in self._machines()]
        return self._by_names(answers, axis=0)

    def _by_names(self, answers, axis):
        """Name the views of every subset, and stack the models."""
        named = [{tuple(self.view_names_[v] for v in s): a[s] for s in a} for a in answers]
        if len(named) == 1:
            return named[0]
        return {key: np.stack([answer[key] for answer in named], axis=axis) for key in named[0]}

    def _check_parameters(self):
        check_choice(self.solver, "solver", SOLVERS)
        check_choice(self.penalty, "penalty", list(PENALTIES))
        check_choice(self.init, "init", INITS)
        for name in ("n_factors", "n_init", "max_iter", "batch_size", "n_iter_no_change"):
            check_number(getattr(self, name), name, low=1, integer=True)
        for name in ("smoothing", "init_scale", "learning_rate"):
            check_number(getattr(self, name), name, low=0, low_open=True)
        check_number(self.tol, "tol", low=0)
        check_alpha(self.alpha, self._solver, self.loss)
        if self._solver == "als" and (self.loss not in MAJORISERS or self.penalty != "l2"):
            raise ValueError(
                f"solver='als' needs penalty='l2' and a loss in {list(MAJORISERS)}, got "
                f"loss={self.loss!r}, penalty={self.penalty!r}. Use 'lbfgs' or 'sgd' for these."
            )
        if self.early_stopping and self.solver != "sgd":
            raise ValueError(f"early_stopping needs solver='sgd', got solver={self._solver!r}.")


def hold_out(codes, rng, groups=None):
    """Select a fraction of every class, or of groups (n,): codes (n,) -> held_out (n,)."""
    if groups is not None:
        _, first, group = np.unique(groups, return_index=True, return_inverse=True)
        return hold_out(codes[first], rng)[group]
    order = rng.permutation(len(codes))
    order = order[np.argsort(codes[order], kind="stable")]
    counted = np.floor(HELD_OUT * np.arange(len(codes) + 1) + 0.5)  # every tenth sample
    held_out = np.zeros(len(codes), dtype=bool)
    held_out[order] = np.diff(counted) > 0
    if not held_out.any():
        raise ValueError(
            f"early_stopping needs at least one of the {len(codes)} samples or groups to hold out."
        )
    return held_out
