"""The plain candidates of :func:`~mvref.compare_methods`: learner x use of the views.

Each learner gets the concatenated features, the best single view, or one table per view with
averaged predictions (late fusion); a stack of all learners is on top of each. So families that use
no views, one view, or all views differ in nothing else, and coincide for a single view. All are
built from the same tuned members (:mod:`~mvref.compare.members`), whose fits are shared;
`Plain.make` returns each as a user would write it, and a test compares the two.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.ensemble import StackingClassifier, StackingRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from .. import PerViewClassifier, PerViewRegressor
from .columns import Columns
from .learners import CLASSIFIERS, FEW_COLUMNS, REGRESSORS, Said, scores_of
from .members import tables

KNOWS = {"all columns": "none", "best view": "which", "late fusion": "all", "views": "all"}


def learners_for(X, classes):
    """Return the learners for X; one selects few columns if a view has more than samples."""
    if classes is None:
        return REGRESSORS
    return (*CLASSIFIERS, FEW_COLUMNS) if max(X.widths) > X.n_samples else CLASSIFIERS


@dataclass(frozen=True)
class Plain:
    """A plain candidate (baseline) on a training set.

    unseen: out-of-fold predictions for the training set; tested: list of the predictions for each
    test set; make: ``make(cv)`` returns its unfitted estimator; worth: score and tie-breaker in
    cross-validation.
    """

    learner: str
    use: str
    unseen: Said
    tested: list
    make: Callable
    point: object
    seconds: float
    worth: tuple

    @property
    def name(self):
        """Name in the table of results."""
        return f"{self.learner}, {self.use}"

    @property
    def knows(self):
        """Knowledge of the views: "none", "which" or "all"."""
        return KNOWS[self.use]


class Family:
    """All plain candidates on a training set; `failed`: learner -> why its fit failed."""

    def __init__(self, part, learners):
        self.part, self.names, everything = part, part.X.names, tuple(part.X.names)
        single = {(name,): part.teaches([name]) for name in self.names}
        self.tables = {v: part.members(learners, list(v)) for v, good in single.items() if good}
        self.filled = {views: self._filled(views, learners) for views in single}
        self.filled[everything] = part.members(learners, list(everything))
        self.failed = {
            one: member.error
            for members in (*self.filled.values(), *self.tables.values())
            for one, member in members.items()
            if member.error is not None
        }
        self.learners = [one for one in learners if one not in self.failed]

    def _filled(self, views, learners):
        """Return the members of a table at their points, also trained on samples that lack it."""
        if views not in self.tables:
            return self.part.members(learners, list(views), filled=True)
        members = self.tables[views]
        points = {one: member.point for one, member in members.items() if member.error is None}
        if self.part.X.select(list(views)).observed.all():
            return members
        return members | self.part.members(list(points), list(views), points=points, filled=True)

    def candidates(self):
        """Return a list of the candidates."""
        everything, found = tuple(self.names), []
        single = [(name,) for name in self.names]
        for one in self.learners:
            of_views = [self.single(one, views, "best view") for views in single]
            found += [self.single(one, everything, "all columns"), best(of_views)]
            found += [self.late_fusion(one)]
        if self.learners:
            of_views = [self.stack([views], "best view") for views in single]
            found += [self.stack([everything], "all columns"), best(of_views)]
            found += [self.stack([*single, everything], "views")]
        return found

    def single(self, one, views, use):
        """Return the candidate of a learner on one table, with mean imputation."""
        member = self.filled[views][one]
        said = [Said(scores, one.kind) for scores in (member.unseen, *member.tested)]
        point = member.point | ({"view": views[0]} if use == "best view" else {})
        return self._plain(one.name, use, said, lambda cv: self.model(one, views), point,
                           member.seconds)  # fmt: skip

    def model(self, one, views, alone=False):
        """Return the unfitted, tuned model of a learner on some views; alone: it gets no others."""
        member, part = (self.tables if alone else self.filled)[views][one], self.part
        width = tables(list(views), part.X, [])[0].shape[1]
        which = None if alone or len(views) == len(self.names) else list(views)
        return make_pipeline(Columns(which), *one.steps(member.point, part.K, width, part.seed))

    def late_fusion(self, one):
        """Return late fusion of a learner: mean probabilities, margins or numbers of the views."""
        part = self.part
        members = {views[0]: members[one] for views, members in self.tables.items()}
        kind = "probabilities" if one.kind == "softmax" else one.kind
        of = [self.names.index(name) for name in members]
        seen = part.X.observed[:, of]
        said = [mean_said([m.unseen for m in members.values()], one, seen, part)]
        for t, X in enumerate(part.tests):
            seen = X.observed[:, of]
            said.append(mean_said([m.tested[t] for m in members.values()], one, seen, part))

        def make(cv):
            models = {name: self.model(one, (name,), alone=True) for name in members}
            if part.K is None:
                return PerViewRegressor(models)
            rule = "mean_decision" if kind == "margins" else "mean_proba"
            return PerViewClassifier(models, combine=rule, remainder="drop")

        point = {name: member.point for name, member in members.items()}
        seconds = sum(member.seconds for member in members.values())
        return self._plain(one.name, "late fusion", [Said(s, kind) for s in said], make, point,
                           seconds)  # fmt: skip

    def stack(self, tables, use):
        """Return a linear model on the out-of-fold predictions of all learners on some tables."""
        part, start = self.part, time.process_time()
        pairs = [(views, one) for views in tables for one in self.learners if one.stacked]
        members = [(one, self.filled[views][one]) for views, one in pairs]
        seen = on_top(members, [m.unseen for _, m in members])
        tests = [on_top(members, [m.tested[t] for _, m in members]) for t in range(len(part.tests))]
        unseen = np.full((len(part.y), part.K or 1), np.nan)
        for fit, check in part.folds:
            final = final_of(part.K).fit(seen[fit], part.y[fit])
            unseen[check] = scores_of(final, seen[check], part.K)
        final = final_of(part.K).fit(seen, part.y)
        said = [unseen, *(scores_of(final, test, part.K) for test in tests)]

        def make(cv):
            kind = StackingRegressor if part.K is None else StackingClassifier
            models = [(f"{', '.join(v)}: {one.name}", self.model(one, v)) for v, one in pairs]
            return kind(models, final_of(part.K), cv=cv)

        seconds = time.process_time() - start + sum(member.seconds for _, member in members)
        point = {"view": tables[0][0]} if use == "best view" else {}
        kind = "numbers" if part.K is None else "softmax"
        return self._plain("stack", use, [Said(s, kind) for s in said], make, point, seconds)

    def _plain(self, learner, use, said, make, point, seconds):
        part, worth = self.part, []
        for _, check in part.folds:
            answer = part.judge.answer(said[0][check], part.X[check])
            worth.append(part.judge.worth(part.labels[check], answer))
        worth = tuple(map(float, np.mean(worth, axis=0)))
        return Plain(learner, use, said[0], said[1:], make, point, seconds, worth)


def best(candidates):
    """Return the best candidate in cross-validation, the first of equal ones."""
    return max(candidates, key=lambda one: one.worth)


def mean_said(scores, one, observed, part):
    """Return the mean over the observed views; a sample without views gets the prior."""
    chances = [Said(s, one.kind).probabilities for s in scores]
    told = np.array([s if c is None else c for s, c in zip(scores, chances, strict=True)])
    told[~observed.T] = np.nan
    nobody = np.isnan(told).all(axis=(0, 2))
    told[:, nobody] = part.prior()
    return np.nanmean(told, axis=0)


def on_top(members, scores):
    """Return the input of the final model of a stack, as scikit-learn's stacking makes it."""
    columns = []
    for (one, _), told in zip(members, scores, strict=True):
        chances = Said(told, one.kind).probabilities
        if told.shape[1] != 2:
            columns.append(told if chances is None else chances)
        else:
            columns.append(told[:, 1:] - told[:, :1] if chances is None else chances[:, 1:])
    return np.hstack(columns)


def final_of(K):
    """Return the final model of a stack."""
    top = LogisticRegression(C=0.1, max_iter=2000) if K else Ridge()
    return make_pipeline(StandardScaler(), top)
