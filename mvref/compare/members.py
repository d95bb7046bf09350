"""Tuning of every learner on every table of a training set, with each fit made once.

A *table* is a view, or all views concatenated. Its columns are scaled once per fold, and all
learners are trained on them at all points; the candidates that use views in different ways
(:mod:`~mvref.compare.plain`) are then built from the out-of-fold predictions.
"""

import time
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from .columns import Columns, Storage
from .learners import Said

HOPELESS = 2.0  # standard errors below the best of the first fold


@dataclass
class Member:
    """A learner on a table at its best point.

    point: the best hyperparameters; seconds: of its training; unseen (n_train, K): out-of-fold
    predictions, NaN for samples without its view; tested: predictions for all samples of each test
    set; error: why it failed, or None.
    """

    point: dict | None = None
    seconds: float = 0.0
    unseen: np.ndarray | None = None
    tested: list = field(default_factory=list)
    error: Exception | None = None
    worth: tuple = ()


@dataclass(frozen=True)
class Part:
    """A training set and the test sets.

    X, y: the encoded views and the targets (codes or numbers) of the training set; labels: as the
    user wrote them; folds: pairs (fit, check) of its rows; tests: views of the test sets; K: number
    of classes, None for numbers; raw, encode: the views before encoding, and the encoder.
    """

    X: object
    y: np.ndarray
    labels: np.ndarray
    folds: list
    tests: list
    K: int | None
    judge: object
    budget: int
    seed: int
    raw: object
    encode: object

    @cached_property
    def _folds(self):
        return {}

    def fold(self, number):
        """Return the training and validation views of a fold, encoded by the training views."""
        fit, check = self.folds[number]
        if self.encode is None:
            return self.X[fit], self.X[check]
        if number not in self._folds:
            encoder = encoder_of(self.encode)
            X = encoder.fit_transform(self.raw[fit], self.labels[fit])
            self._folds[number] = X, encoder.transform(self.raw[check])
        return self._folds[number]

    def teaches(self, views):
        """Return whether the samples with some views include two classes in every fold."""
        have = self.X.select(views).observed.any(axis=1)
        least = 1 if self.K is None else 2
        parts = [np.flatnonzero(have), *(fit[have[fit]] for fit, _ in self.folds)]
        return all(len(np.unique(self.y[rows])) >= least for rows in parts)

    def members(self, learners, views, *, points=None, filled=False):
        """Tune the learners on the table of some views; return learner -> `Member`.

        points: learner -> the only point; filled: also train on samples that lack the view, with
        mean imputation.
        """
        have = np.ones(len(self.y), bool) if filled else self.X.select(views).observed.any(axis=1)
        search = {learner: Search(learner, self, points) for learner in learners}
        for number, (fit, check) in enumerate(self.folds):
            X, other = self.fold(number)
            X, other = X[have[fit]], other[have[check]]
            Z, (table,) = tables(views, X, [other])
            for learner in learners:
                search[learner].look(number, Z, fit[have[fit]], other, table, check[have[check]])
        Z, others = tables(views, self.X[have], self.tests)
        return {one: found.finish(Z, self.y[have], others) for one, found in search.items()}

    def prior(self):
        """Return the prediction for a sample without any view: class frequencies, or the mean."""
        return np.bincount(self.y, minlength=self.K) / len(self.y) if self.K else self.y.mean()


def tables(views, X, others):
    """Return the table of some views for training samples, and the tables of other samples."""
    table = Columns(views).fit(X)
    return table.transform(X), [table.transform(other) for other in others]


def encoder_of(encode):
    """Return the transformer that encodes views as numbers and chooses their storage."""
    return Storage() if encode is None else make_pipeline(clone(encode), Storage())


class Search:
    """Search for the best point of a learner on a table, fold by fold."""

    def __init__(self, learner, part, points):
        self.learner, self.part = learner, part
        self.points = [points[learner]] if points else learner.points(part.budget)
        self.alive = list(range(len(self.points)))
        self.worth = {i: [] for i in self.alive}
        shape = len(part.y), part.K or 1
        self.unseen = {i: np.full(shape, np.nan) for i in self.alive}
        self.error = None

    def look(self, number, Z, fit, X, other, check):
        """Train at the remaining points, and score them on the held-out samples."""
        if self.error or not len(check):
            return
        part, judge, first = self.part, self.part.judge, {}
        try:
            session = self.learner.session(Z, part.y[fit], [other], part.K, part.seed)
            for i in self.alive:
                (scores,) = session.said(self.points[i])
                self.unseen[i][check] = scores
                answer = judge.answer(Said(scores, self.learner.kind), X)
                first[i] = judge.parts(part.labels[check], answer)
                self.worth[i].append((np.mean(first[i]), judge.tie(part.labels[check], answer)))
        except Exception as error:  # any learner may fail; the others continue, the reason is kept
            self.error = error
            return
        if number == 0:
            self.alive = hopeful(first, self.worth)

    def best(self):
        """Return the position of the best point; ties go to the smallest log loss."""
        return max(self.alive, key=lambda i: tuple(np.mean(self.worth[i], axis=0)))

    def finish(self, Z, y, others):
        """Train at the best point on all training samples, and predict the test sets."""
        if self.error or not self.worth[self.alive[0]]:
            return Member(error=self.error or ValueError("fewer than two classes have its view."))
        i, start = self.best(), time.process_time()
        try:
            session = self.learner.session(Z, y, others, self.part.K, self.part.seed)
            tested = session.said(self.points[i])
        except Exception as error:
            return Member(error=error)
        seconds = time.process_time() - start
        worth = tuple(map(float, np.mean(self.worth[i], axis=0)))
        return Member(self.points[i], seconds, self.unseen[i], tested, worth=worth)


def hopeful(parts, worth):
    """Return the points that the first fold does not rule out, by paired differences to the best.

    parts: point -> contributions of the samples to the score; if the score is not a mean over
    samples, all points stay.
    """
    best = max(parts, key=lambda i: worth[i][0])
    if np.ndim(parts[best]) == 0:
        return list(parts)
    d = np.array([parts[best] - part for part in parts.values()])
    error = (
        d.std(axis=1, ddof=1) / np.sqrt(d.shape[1]) if d.shape[1] > 1 else np.full(len(d), np.inf)
    )
    ahead = zip(parts, d.mean(axis=1), HOPELESS * error, strict=True)
    return [i for i, mean, bound in ahead if mean <= bound]
