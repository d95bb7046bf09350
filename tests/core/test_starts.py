"""The best of several random starts: the choice, and that of every estimator with ``n_init``."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from joblib import parallel_config
from numpy.testing import assert_array_equal
from scipy.special import logit
from sklearn.exceptions import ConvergenceWarning

from mvref import MultiView, MVMClassifier, MVMRegressor
from mvref.core.groups import group_structure
from mvref.core.losses import logistic
from mvref.core.starts import best_starts
from mvref.mvm import machine
from mvref.mvm.machine import hold_out
from mvref.mvm.model import Design, Objective, start_factors
from mvref.mvm.solvers import lbfgs
from mvref.rivals import FMClassifier, FMRegressor, STMClassifier
from mvref.rivals.anova import Columns, interaction_terms
from mvref.rivals.fm import FMObjective, minimise
from tests.literal import toy_views

THREE, Y3 = toy_views(1, m=60, widths=(3, 4, 2), n_classes=3, noise=1.0)
Y = (Y3 > 0).astype(int)
NUMBERS = THREE[0][:, 0] * THREE[1][:, 0] * THREE[2][:, 1] + THREE[2][:, 0]
LIMITS = {"tol": 1e-7, "max_iter": 40}
SGD = {"solver": "sgd", "max_iter": 12}
AUTO = {"solver": "als", "alpha": "auto", "max_iter": 20}
CASES = {
    "MVM, two classes": (MVMClassifier, {"alpha": 1e-2}, Y),
    "MVM, three classes": (MVMClassifier, {"alpha": 1e-2}, Y3),
    "MVM, SGD": (MVMClassifier, SGD, Y3),
    "MVM, early stopping": (MVMClassifier, SGD | {"early_stopping": True, "max_iter": 40}, Y),
    "MVM, auto": (MVMClassifier, AUTO | {"loss": "squared"}, Y3),
    "MVM, numbers": (MVMRegressor, {}, NUMBERS),
    "FM, two classes": (FMClassifier, LIMITS, Y),
    "FM, three classes": (FMClassifier, LIMITS | {"order": 3}, Y3),
    "FM, auto": (FMClassifier, AUTO | {"multiview": True, "tol": 1e-6}, Y3),
    "FM, numbers": (FMRegressor, LIMITS | {"order": 3}, NUMBERS),
    "STM, two classes": (STMClassifier, {"max_iter": 9}, Y),
    "STM, three classes": (STMClassifier, {"max_iter": 9}, Y3),
}
stopped = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
every_case = pytest.mark.parametrize("case", CASES)


def make(case, n_init, **parameters):
    method, options, y = CASES[case]
    options = {"random_state": 0, "n_init": n_init} | options | parameters
    return method(**options if method is STMClassifier else {"n_factors": 2} | options), y


def fitted(case, n_init, **parameters):
    model, y = make(case, n_init, **parameters)
    return model.fit(THREE, y)


class Seeds(np.random.RandomState):
    """The generator of seed 0, but for the seeds that it draws."""

    def __init__(self, seeds):
        super().__init__(0)
        self.seeds = seeds

    def randint(self, high, *, size):
        super().randint(high, size=size)
        return np.resize(self.seeds, size)


class LaterFM(FMClassifier):
    """With one start, that after `skip` others of a class's generator."""

    skip = 0

    def _start(self, *arguments):
        return [super(LaterFM, self)._start(*arguments) for _ in range(self.skip + 1)][-1]


def single_fits(case, n_init):
    """Fit with ``n_init=1`` from each of the starts, by hand."""
    (method, _, y), rng = CASES[case], np.random.RandomState(0)
    n_problems = 3 if y is Y3 else 1
    if method is FMRegressor:  # a generator is left where the next start begins
        return [fitted(case, 1, random_state=rng) for _ in range(n_init)]
    if method is FMClassifier:
        models = [LaterFM(**make(case, 1)[0].get_params()) for _ in range(n_init)]
        for skip, model in enumerate(models):
            model.skip = skip
            model.fit(THREE, y)
        return models
    if method is STMClassifier:
        seeds = rng.randint(2**31, size=(n_problems, n_init)).T
    else:
        seeds = rng.randint(2**31, size=(1, n_problems))
        if "early" in case:
            hold_out(y, rng)
        seeds = np.vstack([seeds, rng.randint(2**31, size=(n_init - 1, n_problems))])
    return [fitted(case, 1, random_state=Seeds(own)) for own in seeds]


def machines(model, case):
    """What a model has learnt, in one array for each of its problems."""
    arrays = model.coef_ if isinstance(model, STMClassifier) else model.factors_
    arrays = arrays if isinstance(arrays, list) else [arrays]
    arrays += [] if isinstance(model, MVMClassifier | MVMRegressor) else [model.intercept_]
    n_problems = 3 if CASES[case][2] is Y3 else 1
    return [
        np.concatenate([np.ravel(a[k] if n_problems > 1 else a) for a in arrays])
        for k in range(n_problems)
    ]


# ------------------------------------------------------------------ the choice


@given(
    st.lists(
        st.lists(st.sampled_from([-1.0, 0.0, 0.5, 2.0, np.inf, -np.inf, np.nan]), min_size=3,
            max_size=3), min_size=1, max_size=4,
    )
)  # fmt: skip
def test_the_least_finite_objective_is_kept(table):
    """Of every problem by itself; the first of equal ones, and of none finite the first."""
    starts = [range(3)] * len(table)
    best = best_starts(lambda j, row: ((row, j), row[j], j > 0), [(row,) for row in table], starts)
    for row, (own, j) in zip(table, best.solutions, strict=True):
        finite = [value for value in row if np.isfinite(value)]
        assert own is row and j == (row.index(min(finite)) if finite else 0)
    assert_array_equal(best.objectives, table)
    assert best.note == f" {len(table)} of {3 * len(table)} starts did not converge."


def test_what_is_told_of_starts():
    assert best_starts(lambda j: (j, j, False), [()], [[1]]).note == ""
    assert best_starts(lambda j: (j, j, True), [()], [[2, 1]]).note == ""


# ------------------------------------------------------------------ of the estimators


@stopped
@every_case
def test_is_the_best_of_single_fits(case):
    model, singles = fitted(case, 5), single_fits(case, 5)
    objectives = np.reshape(model.objectives_, (-1, 5))
    by_hand = np.column_stack([np.ravel(one.objectives_) for one in singles])
    assert_array_equal(objectives, by_hand)
    assert (np.ptp(objectives, axis=1) > 0).any()
    for k, found in enumerate(machines(model, case)):
        best = int(np.argmin(by_hand[k]))
        assert_array_equal(found, machines(singles[best], case)[k])


@stopped
@every_case
def test_objectives_are_where_the_curves_end(case):
    """With early stopping in the epoch that was kept."""
    model = fitted(case, 3)
    curve = "objective_curve_" if isinstance(model, STMClassifier) else "loss_curve_"
    objectives, curves = np.atleast_2d(model.objectives_), getattr(model, curve)
    curves = curves if isinstance(curves, list) else [curves]
    kept = [-1] * len(curves)
    if model.get_params().get("early_stopping"):
        kept = [held_out.argmin() for held_out in np.atleast_2d(model.validation_curve_)]
        assert kept[0] < model.n_iter_
    ends = [own[k] for own, k in zip(curves, kept, strict=True)]
    assert objectives.shape == (len(curves), 3)
    assert_array_equal(objectives.min(axis=1), ends)


@stopped
@every_case
def test_more_starts_are_never_worse(case):
    """They begin with the same ones; those of STM's classes only if there are two."""
    least, objectives = np.inf, []
    for n_init in (1, 2, 4):
        objectives.append(np.reshape(fitted(case, n_init).objectives_, (-1, n_init)))
        if case == "STM, three classes":
            continue
        assert (objectives[-1].min(axis=1) <= least).all()
        least = objectives[-1].min(axis=1)
        assert_array_equal(objectives[-1][:, :1], objectives[0])


@stopped
@every_case
def test_jobs_and_draws(case):
    """Threads find the same as one; and a seed of None draws other starts every time."""
    with parallel_config(backend="threading"):
        model = fitted(case, 3, n_jobs=3)
    assert_array_equal(model.objectives_, fitted(case, 3).objectives_)
    first, second = (fitted(case, 2, random_state=None) for _ in range(2))
    assert (np.asarray(first.objectives_) != second.objectives_).any()


def test_one_start_of_a_multi_view_machine_is_the_run_that_it_was():
    """Seeds, starts and solver by hand, as they were when there was no choice."""
    model = fitted("MVM, three classes", 1)
    design = Design(MultiView(THREE), group_structure(None, MultiView(THREE), True), 2)
    options = {"loss": "logistic", "penalty": "l2", "alpha": 1e-2, "smoothing": 1e-8}
    for k, seed in enumerate(np.random.RandomState(0).randint(2**31, size=3)):
        factors = start_factors("live", 0.1, design, np.random.RandomState(seed))
        objective = Objective(design, np.where(Y3 == k, 1.0, -1.0), **options)
        found = lbfgs(objective, factors, tol=1e-5, max_iter=1000, tick=int)
        assert_array_equal(model.loss_curve_[k], found.curve)
        for A, expected in zip(model.factors_, found.factors, strict=True):
            assert_array_equal(A[k], expected)


@stopped
def test_one_start_of_a_factorisation_machine_is_the_run_that_it_was():
    model, columns = fitted("FM, three classes", 1), Columns(THREE)
    terms = interaction_terms(columns, 3, multiview=False)
    for k, seed in enumerate(np.random.RandomState(0).randint(2**31, size=3)):
        rng, y = np.random.RandomState(seed), np.where(Y3 == k, 1.0, -1.0)
        factors = [rng.normal(0.0, 0.1 ** (2 / p), (9, 2)).ravel() for p in (2, 3)]
        start = np.concatenate([[logit(np.mean(y > 0))], np.zeros(9), *factors])
        found = minimise(FMObjective(columns, terms, y, logistic, 2, 1e-3), start, **LIMITS)
        assert_array_equal(model.loss_curve_[k], found.curve)
        assert_array_equal(model.factors_[k].ravel(), found.theta[10:])


def test_of_the_kept_start_alone_is_told_that_it_did_not_converge(monkeypatch):
    calls = []

    def other_starts_fail(objective, factors, **options):
        calls.append(solution := lbfgs(objective, factors, **options))
        if len(calls) == 1:
            return solution
        return solution._replace(curve=[*solution.curve, np.inf], trouble="it overflows")

    monkeypatch.setattr(machine, "lbfgs", other_starts_fail)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = fitted("MVM, numbers", 3)
    assert len(calls) == 3 and np.isfinite(model.objectives_).tolist() == [True, False, False]
    assert_array_equal(model.loss_curve_, calls[0].curve)


@pytest.mark.parametrize("case", ["MVM, numbers", "FM, two classes", "STM, two classes"])
def test_a_warning_counts_the_starts_that_failed(case):
    stop = {"max_iter": 1, "tol": 1e-12}
    with pytest.warns(ConvergenceWarning, match=r"\. 3 of 3 starts did not converge\.$") as said:
        fitted(case, 3, **stop)
    assert len(said) == 1 and said[0].filename == __file__
    with pytest.warns(ConvergenceWarning) as said:
        fitted(case, 1, **stop)
    assert "starts" not in str(said[0].message)
