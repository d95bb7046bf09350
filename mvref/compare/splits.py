"""The splits of a comparison; in each, every candidate is tuned, trained and tested."""

import time
import warnings
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    PredefinedSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from threadpoolctl import threadpool_limits

from .. import PatternClassifier, PatternRegressor, ViewDropout, ViewDropoutRegressor
from ..core.gaps import rows_by_pattern
from ..core.input import as_multiview, check_number, warn_caller
from ..core.voters import fit_in_groups, part_of
from .candidates import Candidate
from .judge import Judge, answer_of_model
from .members import Part, encoder_of, hopeful
from .plain import Family
from .seeds import derive_seed

FEWEST = 10  # samples of a class that a comparison of its own needs
N_COPIES = 3  # masked copies of a sample, the whole one among them


@dataclass(frozen=True, eq=False)
class Question:
    """What is compared, and on what; the same in all splits.

    y: labels or numbers; codes: positions in `classes`, or the numbers; classes: None of numbers;
    later: name -> observed (n, V), views that samples of a test set will have; learners: of the
    plain candidates; methods: candidates beside these.
    """

    X: object
    y: np.ndarray
    codes: np.ndarray
    classes: np.ndarray | None
    groups: np.ndarray | None
    encode: object
    scoring: object
    later: dict
    learners: tuple
    methods: tuple
    budget: int
    seed: int

    @property
    def K(self):
        """Number of classes; None of numbers."""
        return None if self.classes is None else len(self.classes)

    @property
    def gaps(self):
        """Whether views are missing, or will be."""
        return bool(self.later) or not self.X.observed.all()

    def complete(self):
        """The same of the samples with every view; None if all are, or too few of a class."""
        rows = np.flatnonzero(self.X.observed.all(axis=1))
        few = FEWEST if self.K is None else np.bincount(self.codes[rows], minlength=self.K).min()
        if len(rows) == len(self.y) or min(few, len(rows)) < FEWEST:
            return None
        groups = part_of(self.groups, rows)
        return replace(self, X=self.X[rows], y=self.y[rows], codes=self.codes[rows], groups=groups,
                       later={})  # fmt: skip

    def others(self):
        """What is compared beside the plain candidates: the least, and methods."""
        dummy, line = DummyClassifier(strategy="prior"), LogisticRegression()
        if self.K is None:
            dummy, line = DummyRegressor(), Ridge()
        least = [Candidate("nothing", "nothing", lambda X: dummy)]
        if not self.X.observed.all():
            seen = FunctionTransformer(who_is_there)
            least.append(Candidate("gaps only", "gaps", lambda X: make_pipeline(seen, line)))
        return [*least, *self.methods]

    def folds(self, n, rows, *words):
        """Cut some samples into folds: stratified, and with groups whole."""
        kinds = (KFold, GroupKFold) if self.K is None else (StratifiedKFold, StratifiedGroupKFold)
        kind = kinds[self.groups is not None]
        folds = kind(n, shuffle=True, random_state=derive_seed(self.seed, *words))
        inside = part_of(self.groups, rows)
        return [(rows[a], rows[b]) for a, b in folds.split(rows, self.y[rows], inside)]


def who_is_there(X):
    """Which views a sample has, as numbers."""
    return X.observed.astype(float)


@dataclass(frozen=True)
class Split:
    """Samples that train and test, and folds of those that train, by position among them."""

    number: int
    repeat: int
    train: np.ndarray
    test: np.ndarray
    folds: list


def splits_of(question, n_splits, n_repeats, n_folds):
    """The splits of all candidates."""
    units = np.arange(len(question.y)) if question.groups is None else question.groups
    if question.K is None:
        fewest, of = len(np.unique(units)), "samples (or groups)"
    else:
        of = "samples (or groups) in the smallest class"
        fewest = min(len(np.unique(units[question.codes == k])) for k in range(question.K))
    n_splits = n_of_folds(n_splits, 5, fewest, "n_splits", of)
    left = max(fewest - -(-fewest // n_splits), 2)
    n_folds = n_of_folds(n_folds, 3, left, "n_folds", of)
    found = []
    for repeat in range(n_repeats):
        outer = question.folds(n_splits, np.arange(len(question.y)), "outer", repeat)
        for fold, (train, test) in enumerate(outer):
            train = np.sort(train)
            inner = question.folds(n_folds, train, "inner", repeat, fold)
            inner = [tuple(np.searchsorted(train, np.sort(rows)) for rows in cut) for cut in inner]
            found.append(Split(len(found), repeat, train, np.sort(test), inner))
    return found


def n_of_folds(asked, usual, fewest, name, of):
    """How many folds; fewer than usual where the rarest class has fewer samples or groups."""
    if asked is not None:
        check_number(asked, name, low=2, integer=True)
    if fewest < (asked or 2):
        hint = " If y is a continuous outcome in integers, use scoring='r2'." * (
            of.endswith("class") and fewest < 2
        )
        raise ValueError(
            f"{name}={asked or usual} is larger than the number of {of}, {fewest}.{hint}"
        )
    if asked is None and fewest < usual:
        warn_caller(f"{name} was reduced to {fewest}, the number of {of}.", UserWarning)
    return asked or min(usual, fewest)


@dataclass(frozen=True)
class Outcome:
    """What became of a candidate in a split.

    point: chosen; seconds: of its training; worth: score, and what decides between equal ones, by
    the folds; answers: one for each test set; stopped: whether it had to stop early, None if it
    does not tell; failure: the reason, "" if there is none.
    """

    candidate: str
    learner: str
    knows: str
    point: object = None
    seconds: float = 0.0
    worth: tuple = ()
    answers: list = field(default_factory=list)
    stopped: bool | None = None
    failure: str = ""


class SplitWork:
    """What is done in a split, one job after the other: "plain", and the name of every method."""

    def __init__(self, question, split):
        self.question, self.split = question, split
        self.judge = Judge(question.scoring, question.classes)
        self.seed = derive_seed(question.seed, "fit", split.number)

    @cached_property
    def part(self):
        """The training set, encoded, and the samples that are tested."""
        question, split = self.question, self.split
        tests = [question.X[split.test]]
        tests += [question.X[rows] for _, rows, _ in self.later]
        encoder = encoder_of(question.encode)
        X = encoder.fit_transform(question.X[split.train], question.y[split.train])
        tests = list(map(encoder.transform, tests))
        for k, (_, _, observed) in enumerate(self.later):
            tests[k + 1] = tests[k + 1].with_observed(observed)
        return Part(
            X, question.codes[split.train], question.y[split.train], split.folds, tests,
            question.K, self.judge, question.budget, self.seed, question.X[split.train],
            question.encode,
        )  # fmt: skip

    @cached_property
    def later(self):
        """Name, samples of the test set that have a view left, and which views they have."""
        X, test, found = self.question.X, self.split.test, []
        for name, observed in self.question.later.items():
            there = X.observed[test] & observed[test]
            left = there.any(axis=1)
            found.append((name, test[left], there[left]))
        return found

    def do(self, job):
        """The rows of a job, and the seconds of processor that it took."""
        start = time.process_time()
        # boosting has threads of OpenMP, which the guard of the BLAS leaves alone
        with warnings.catch_warnings(), threadpool_limits(1):
            warnings.simplefilter("ignore")
            rows = [row for outcome in self.outcomes(job) for row in self.rows(outcome)]
        return rows, time.process_time() - start

    def outcomes(self, job):
        """Yield what becomes of the candidates of a job."""
        if job == "plain":
            yield from self.plain()
        else:
            yield self.method({one.name: one for one in self.question.others()}[job])

    def plain(self):
        """Yield outcomes of the plain candidates, and of reduced models and modality dropout."""
        question, part = self.question, self.part
        family = Family(part, question.learners)
        for one in family.candidates():
            pairs = zip(one.tested, part.tests, strict=True)
            answers = [self.judge.answer(said, X) for said, X in pairs]
            yield Outcome(one.name, one.learner, one.knows, one.point, one.seconds, one.worth,
                          answers)  # fmt: skip
        for learner, error in family.failed.items():
            name = f"{learner.name}, in some use"
            yield Outcome(name, learner.name, "all", failure=reason_of(error))
        for one in family.learners if question.gaps else ():
            if one.stacked:
                model = family.model(one, tuple(part.X.names))
                for use, around in around_models(model, part):
                    candidate = Candidate(f"{one.name}, {use}", "all", lambda X, a=around: a)
                    yield self.method(candidate, tune=False)

    def method(self, candidate, tune=True):
        """The outcome of a method: tuned on the folds, or not, trained, and asked."""
        part, points = self.part, candidate.points(self.question.budget)
        of = Outcome(candidate.name, "", candidate.knows)
        try:
            worth = self.tuned(candidate, points) if tune else {0: [(np.nan, np.nan)]}
            best = max(worth, key=lambda i: tuple(np.mean(worth[i], axis=0)))
            start = time.process_time()
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always", ConvergenceWarning)
                model = self.fitted(candidate, points[best], part.X, np.arange(len(part.y)))
            seconds = time.process_time() - start
            stopped = any(issubclass(w.category, ConvergenceWarning) for w in caught)
            answers = [answer_of_model(model, X, self.question.classes) for X in part.tests]
        except Exception as error:  # any method may fail; the others go on, and the reason is told
            return replace(of, failure=reason_of(error))
        worth = tuple(map(float, np.mean(worth[best], axis=0)))
        return replace(of, point=points[best], seconds=seconds, stopped=stopped, worth=worth,
                       answers=answers)  # fmt: skip

    def tuned(self, candidate, points):
        """What the points are worth, fold by fold; the hopeless leave after the first."""
        part, alive = self.part, list(range(len(points)))
        worth = {i: [] for i in alive}
        for number, (fit, check) in enumerate(part.folds):
            first = {}
            X, other = part.fold(number)
            for i in alive:
                model = self.fitted(candidate, points[i], X, fit)
                answer = answer_of_model(model, other, self.question.classes)
                first[i] = self.judge.parts(part.labels[check], answer)
                worth[i].append((np.mean(first[i]), self.judge.tie(part.labels[check], answer)))
            alive = hopeful(first, worth) if number == 0 else alive
        return {i: worth[i] for i in alive}

    def fitted(self, candidate, point, X, rows):
        """A candidate at a point, trained on some rows of the training set, which are X."""
        model = candidate.build(point, X, self.seed)
        groups = part_of(part_of(self.question.groups, self.split.train), rows)
        fit_in_groups(model, X, self.part.labels[rows], None, groups)
        return model

    def rows(self, outcome):
        """One row for the test set as it is, and for each that will lack views; or of a failure.

        A scorer may ask a model again, which may fail then.
        """
        split = self.split
        start = {"split": split.number, "repeat": split.repeat, "n_train": len(split.train)}
        start |= {name: getattr(outcome, name) for name in ("candidate", "learner", "knows")}
        if not outcome.failure:
            try:
                return [start | row for row in self.scored(outcome)]
            except Exception as error:
                outcome = replace(outcome, failure=reason_of(error))
        return [start | {"failure": outcome.failure, "missing": "", "n_test": len(split.test)}]

    def scored(self, outcome):
        """What the rows of an outcome give for each test set."""
        tests = [("", self.split.test, None), *self.later]
        for (missing, test, _), answer in zip(tests, outcome.answers, strict=True):
            parts = self.judge.parts(self.question.y[test], answer)
            row = {"point": repr(outcome.point), "fit_seconds": outcome.seconds}
            row |= {"missing": missing, "n_test": len(test), "score": float(np.mean(parts))}
            row |= {"validation": outcome.worth[0], "tie": outcome.worth[1]}
            row |= {} if outcome.stopped is None else {"stopped": outcome.stopped}
            if np.ndim(parts):
                units = test if self.question.groups is None else self.question.groups[test]
                units, position = np.unique(units, return_inverse=True)
                row |= {"units": units, "parts": np.bincount(position, parts)}
                row["size"] = np.bincount(position)
            yield row


def reason_of(error):
    """Why something failed, in a line."""
    return f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"


def around_models(model, part):
    """Reduced models, and modality dropout, of a model of all columns.

    All patterns are trained at once where the test sets would have more of them trained.
    """
    reduced, masked = PatternClassifier, ViewDropout
    if part.K is None:
        reduced, masked = PatternRegressor, ViewDropoutRegressor
    seen, *asked = ({views for views, _ in rows_by_pattern(X)} for X in (part.X, *part.tests))
    n_new = sum(len(views - seen) for views in asked)  # each for labels, and for scores
    patterns = "all" if len(seen) + 2 * n_new >= 2**part.X.n_views else "seen"
    return [("reduced models", reduced(model, patterns=patterns)),
            ("modality dropout", masked(model, n_copies=N_COPIES))]  # fmt: skip


def best_estimator(question, X, y, name):
    """A candidate of a comparison, tuned and trained on all samples."""
    X = as_multiview(X, None)
    codes = np.asarray(y) if question.K is None else np.searchsorted(question.classes, y)
    groups = question.groups if len(codes) == len(question.y) else None
    question = replace(question, X=X, y=np.asarray(y), codes=codes, groups=groups, later={})
    rows = np.arange(len(codes))
    folds = question.folds(3, rows, "best")
    work = SplitWork(question, Split(0, 0, rows, rows[:1], folds))
    others = {one.name: one for one in question.others()}
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        if name in others:
            worth = work.tuned(others[name], others[name].points(question.budget))
            best = max(worth, key=lambda i: tuple(np.mean(worth[i], axis=0)))
            point = others[name].points(question.budget)[best]
            model = others[name].build(point, work.part.X, work.seed)
        else:
            model = plain_estimator(work, name)
        model = make_pipeline(encoder_of(question.encode), model)
        return fit_in_groups(model, X, question.y, None, groups)


def plain_estimator(work, name):
    """A plain candidate, unfitted, tuned on the training set; also what is around its model."""
    learner, _, use = name.rpartition(", ")
    wanted = [one for one in work.question.learners if learner in (one.name, "stack")]
    family = Family(work.part, wanted)
    if family.failed:
        raise next(iter(family.failed.values()))
    if use in ("reduced models", "modality dropout"):
        model = family.model(wanted[0], tuple(work.part.X.names))
        return dict(around_models(model, work.part))[use]
    (found,) = (one for one in family.candidates() if one.name == name)
    return found.make(cv_of(work.part))


def cv_of(part):
    """The folds of a training set, as scikit-learn takes them."""
    fold = np.empty(len(part.y), dtype=int)
    for k, (_, check) in enumerate(part.folds):
        fold[check] = k
    return PredefinedSplit(fold)
