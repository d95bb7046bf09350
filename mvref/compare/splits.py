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

FEWEST = 10  # samples per class that the comparison on complete samples needs
N_COPIES = 3  # copies of a sample in modality dropout, the unmasked one included


@dataclass(frozen=True, eq=False)
class Question:
    """Data, methods and settings of a comparison, the same in all splits.

    y: labels or numbers; codes: positions in `classes`, or the numbers; classes: None for numbers;
    later: name -> observed (n, V), views that samples of a test set will have; learners: of the
    plain candidates; methods: the other candidates.
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
        """Number of classes; None for a continuous outcome."""
        return None if self.classes is None else len(self.classes)

    @property
    def gaps(self):
        """Whether views are missing, or will be."""
        return bool(self.later) or not self.X.observed.all()

    def complete(self):
        """Return the question on the samples with every view; None if all are, or too few."""
        rows = np.flatnonzero(self.X.observed.all(axis=1))
        few = FEWEST if self.K is None else np.bincount(self.codes[rows], minlength=self.K).min()
        if len(rows) == len(self.y) or min(few, len(rows)) < FEWEST:
            return None
        groups = part_of(self.groups, rows)
        return replace(self, X=self.X[rows], y=self.y[rows], codes=self.codes[rows], groups=groups,
                       later={})  # fmt: skip

    def others(self):
        """Return the candidates beside the plain ones: trivial predictors, and the methods."""
        dummy, line = DummyClassifier(strategy="prior"), LogisticRegression()
        if self.K is None:
            dummy, line = DummyRegressor(), Ridge()
        least = [Candidate("nothing", "nothing", lambda X: dummy)]
        if not self.X.observed.all():
            seen = FunctionTransformer(who_is_there)
            least.append(Candidate("gaps only", "gaps", lambda X: make_pipeline(seen, line)))
        return [*least, *self.methods]

    def folds(self, n, rows, *words):
        """Split some samples into stratified folds that keep groups together."""
        kinds = (KFold, GroupKFold) if self.K is None else (StratifiedKFold, StratifiedGroupKFold)
        kind = kinds[self.groups is not None]
        folds = kind(n, shuffle=True, random_state=derive_seed(self.seed, *words))
        inside = part_of(self.groups, rows)
        return [(rows[a], rows[b]) for a, b in folds.split(rows, self.y[rows], inside)]


def who_is_there(X):
    """Return which views each sample has, as 0.0 and 1.0."""
    return X.observed.astype(float)


@dataclass(frozen=True)
class Split:
    """Training and test samples of a split, and inner folds as positions in the training set."""

    number: int
    repeat: int
    train: np.ndarray
    test: np.ndarray
    folds: list


def splits_of(question, n_splits, n_repeats, n_folds):
    """Return the splits that all candidates share."""
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
    """Return the number of folds, reduced if the smallest class has fewer samples or groups."""
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
    """Result of a candidate in a split.

    point: the selected one; seconds: of its training; worth: score and tie-breaker in the inner
    folds; answers: one for each test set; stopped: whether it stopped before convergence, None if
    unknown; failure: the reason, "" if there is none.
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
    """Jobs of a split, run one after the other: "plain" (the baselines), or a method's name."""

    def __init__(self, question, split):
        self.question, self.split = question, split
        self.judge = Judge(question.scoring, question.classes)
        self.seed = derive_seed(question.seed, "fit", split.number)

    @cached_property
    def part(self):
        """The encoded training set and test sets."""
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
        """Triples: name, test samples that have a view left, and the views that they have."""
        X, test, found = self.question.X, self.split.test, []
        for name, observed in self.question.later.items():
            there = X.observed[test] & observed[test]
            left = there.any(axis=1)
            found.append((name, test[left], there[left]))
        return found

    def do(self, job):
        """Return the rows of a job, and its CPU seconds."""
        start = time.process_time()
        # boosting uses OpenMP threads, which the limit of the BLAS does not cover
        with warnings.catch_warnings(), threadpool_limits(1):
            warnings.simplefilter("ignore")
            rows = [row for outcome in self.outcomes(job) for row in self.rows(outcome)]
        return rows, time.process_time() - start

    def outcomes(self, job):
        """Yield the outcomes of the candidates of a job."""
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
        """Return the outcome of a method that is tuned (or not), trained and tested."""
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
        except Exception as error:  # any method may fail; the others continue, the reason is kept
            return replace(of, failure=reason_of(error))
        worth = tuple(map(float, np.mean(worth[best], axis=0)))
        return replace(of, point=points[best], seconds=seconds, stopped=stopped, worth=worth,
                       answers=answers)  # fmt: skip

    def tuned(self, candidate, points):
        """Return the scores of the points by fold; hopeless ones are dropped after the first."""
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
        """Return a candidate at a point, trained on X, some rows of the training set."""
        model = candidate.build(point, X, self.seed)
        groups = part_of(part_of(self.question.groups, self.split.train), rows)
        fit_in_groups(model, X, self.part.labels[rows], None, groups)
        return model

    def rows(self, outcome):
        """Return a row for the test set as it is and for each with missing views, or for a failure.

        A scorer may call the model again, which may then fail.
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
        """Yield the scores of an outcome, one row per test set."""
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
    """Return the reason of a failure in one line."""
    return f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"


def around_models(model, part):
    """Return reduced models and modality dropout around a model of the concatenated features.

    All patterns are trained in advance if the test sets would require more fits than that.
    """
    reduced, masked = PatternClassifier, ViewDropout
    if part.K is None:
        reduced, masked = PatternRegressor, ViewDropoutRegressor
    seen, *asked = ({views for views, _ in rows_by_pattern(X)} for X in (part.X, *part.tests))
    n_new = sum(len(views - seen) for views in asked)  # once for labels, once for scores
    patterns = "all" if len(seen) + 2 * n_new >= 2**part.X.n_views else "seen"
    return [("reduced models", reduced(model, patterns=patterns)),
            ("modality dropout", masked(model, n_copies=N_COPIES))]  # fmt: skip


def best_estimator(question, X, y, name):
    """Return a candidate of a comparison, tuned and trained on all samples."""
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
    """Return an unfitted plain candidate, tuned on the training set, or a wrapper of its model."""
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
    """Return the folds of a training set as a splitter of scikit-learn."""
    fold = np.empty(len(part.y), dtype=int)
    for k, (_, check) in enumerate(part.folds):
        fold[check] = k
    return PredefinedSplit(fold)
