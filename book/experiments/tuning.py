"""Tuning, training and testing, in the same way for the methods of all experiments.

At each parameter point a method is trained on the folds of the training set. The best point, the
first in a tie, is trained on the whole training set, and evaluated on the test set once.

A *machine* is a method on some training samples. ``make(split, rows, seed, **options)`` computes
what no point changes (landmarks, kernels, treatments of missing views), then

    machine.features(rows)      computes the features of other samples, once for all points;
    machine.path(points)        trains at one point after the other, and yields itself each time;
    machine.predict(features)   returns labels, or scores if the quality is a measure of scores.
"""

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from mvref.core.input import MultiView, NothingLearntWarning


@dataclass(frozen=True, eq=False)
class Split:
    """Samples, and the rows of the training and test set.

    folds: splits (fit, check) of `train`, for tuning; meta: further data that the methods and
    measures of an experiment need.
    """

    X: MultiView
    y: np.ndarray
    train: np.ndarray
    test: np.ndarray
    folds: list
    meta: Mapping = field(default_factory=dict)


@dataclass(frozen=True)
class Method:
    """Row of a comparison: the construction of a method, its points, and reported measures.

    make: returns a machine; points: ties go to the first; measures: see :meth:`Run.measure`;
    fixed, hasty: options of `make`, and options that replace them on the folds.
    """

    make: Callable
    points: Sequence = ({},)
    measures: tuple = ("accuracy",)
    fixed: Mapping = field(default_factory=dict)
    hasty: Mapping = field(default_factory=dict)


class Machine:
    """Machine of a classifier that is built again for each point, ``build(point, X, seed)``.

    A subclass prepares the data that its `features` need, and then calls this constructor.
    """

    def __init__(self, split, rows, seed, *, build=None):
        self.split, self.rows, self.seed = split, rows, seed
        if build is not None:
            self.build = build
        self.X, self.y = self.features(rows), split.y[rows]

    def features(self, rows):
        """Return the views of some samples."""
        return self.split.X[rows]

    def path(self, points):
        """Train at one point after the other, and yield the machine each time."""
        for point in points:
            self.train(point)
            yield self

    def train(self, point):
        """Build and train the classifier."""
        self.model = self.build(point, self.X, self.seed).fit(self.X, self.y)

    def fit(self, point):
        """Train at a single point."""
        return next(self.path([point]))

    def predict(self, features):
        """Return labels."""
        return self.model.predict(features)


def n_correct(split, rows, predicted):
    """Return the quality of labels: the number of correct ones, and their number."""
    return np.sum(predicted == split.y[rows]), len(rows)


def validate(split, method, seed, quality=n_correct):
    """Return the mean quality of every point over the folds.

    quality: ``quality(split, rows, predicted)`` returns a sum and the number of its terms; the sum
    may be a vector (k,). Returns values (n_points,) or (n_points, k).
    """
    total = n = 0
    for fit, check in split.folds:
        # good enough to compare; a point where nothing is learnt is not selected
        with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
            warnings.simplefilter("ignore", NothingLearntWarning)
            machine = method.make(split, fit, seed, **{**method.fixed, **method.hasty})
            features = machine.features(check)
            answers = [trained.predict(features) for trained in machine.path(method.points)]
        sums, counts = zip(*(quality(split, check, answer) for answer in answers), strict=True)
        total, n = total + np.array(sums), n + counts[0]
    return total / n


def tuned(split, method, seed, quality=n_correct):
    """Select the first best point on the folds and train there, see :func:`train`.

    The folds are skipped if there is a single point and validation is not a measure.
    """
    if len(method.points) == 1 and "validation" not in method.measures:
        return train(split, method, 0, seed)
    values = validate(split, method, seed, quality)
    best = int(values.argmax())
    return train(split, method, best, seed, values[best])


def train(split, method, index, seed, validation=None):
    """Train a method at one of its points on the whole training set."""
    start = time.process_time()
    machine = method.make(split, split.train, seed, **method.fixed)
    features = machine.features(split.test)
    prepared = time.process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        machine.fit(method.points[index])
    seconds = {"prepare_seconds": prepared - start, "fit_seconds": time.process_time() - prepared}
    messages = [str(w.message) for w in caught if issubclass(w.category, ConvergenceWarning)]
    return Run(split, method, machine, features, index, validation, messages, **seconds)


@dataclass(frozen=True, eq=False)
class Run:
    """Tuned and trained method, and its single evaluation on the test set.

    features: of the test set; index, validation: selected point, and its quality on the folds;
    messages: convergence warnings of the training; prepare_seconds, fit_seconds: processor time
    before training (including the features of the test set), and of training.
    """

    split: Split
    method: Method
    machine: object
    features: object
    index: int
    validation: float | None
    messages: list
    prepare_seconds: float
    fit_seconds: float

    @property
    def point(self):
        """Selected point."""
        return self.method.points[self.index]

    @cached_property
    def predicted(self):
        """Predictions for the test set."""
        return self.machine.predict(self.features)

    @property
    def y_test(self):
        """Labels of the test set."""
        return self.split.y[self.split.test]

    def measure(self, names=None, measures=None):
        """Return measures by name; default: the measures of the method.

        A name is one of `measures`, of `MEASURES`, of the selected point, or of the machine.
        """
        known, values = MEASURES | (measures or {}), {}
        for name in names or self.method.measures:
            other = self.point.get(name, getattr(self.machine, name, None))
            values[name] = float(known[name](self) if name in known else other)
        return values


MEASURES = {
    "accuracy": lambda run: np.mean(run.predicted == run.y_test),
    "errors": lambda run: np.sum(run.predicted != run.y_test),
    "validation": lambda run: run.validation,
    "point": lambda run: run.index,
    "fit_seconds": lambda run: run.fit_seconds,
    "train_seconds": lambda run: run.fit_seconds,
    "warned": lambda run: bool(run.messages),
    "n_train": lambda run: len(run.split.train),
    "n_test": lambda run: len(run.split.test),
}
