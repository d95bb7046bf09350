"""How the methods of every experiment are tuned, trained and tested: all in the same way.

At each parameter point a method is trained on the folds of the training part. The first of the
points that are best there is trained on all of the training part, and looks at the test part once.

A *machine* is a method on some training samples. ``make(split, rows, seed, **options)`` does what
no point touches (landmarks, kernels, treatments of gaps), then

    machine.features(rows)      what other samples are predicted from, once for all points;
    machine.path(points)        trains at one point after the other, and yields itself each time;
    machine.predict(features)   labels, or scores where the quality is one of scores.
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
    """Samples, and which of them train and test.

    folds: cuts (fit, check) of `train`, where parameters are chosen; meta: what the methods and
    measures of an experiment ask for beside.
    """

    X: MultiView
    y: np.ndarray
    train: np.ndarray
    test: np.ndarray
    folds: list
    meta: Mapping = field(default_factory=dict)


@dataclass(frozen=True)
class Method:
    """A row of a comparison: how a method is made, what it chooses from, what is reported.

    make: makes a machine; points: of equally good ones the first is taken; measures: see
    :meth:`Run.measure`; fixed, hasty: options of `make`, and others on the folds.
    """

    make: Callable
    points: Sequence = ({},)
    measures: tuple = ("accuracy",)
    fixed: Mapping = field(default_factory=dict)
    hasty: Mapping = field(default_factory=dict)


class Machine:
    """The machine of a classifier that is built anew, ``build(point, X, seed)``, for each point.

    A subclass prepares what its `features` need, and then calls this constructor.
    """

    def __init__(self, split, rows, seed, *, build=None):
        self.split, self.rows, self.seed = split, rows, seed
        if build is not None:
            self.build = build
        self.X, self.y = self.features(rows), split.y[rows]

    def features(self, rows):
        """The views of some samples."""
        return self.split.X[rows]

    def path(self, points):
        """Train at one point after the other, and yield the machine each time."""
        for point in points:
            self.train(point)
            yield self

    def train(self, point):
        """Build and train."""
        self.model = self.build(point, self.X, self.seed).fit(self.X, self.y)

    def fit(self, point):
        """Train at a single point."""
        return next(self.path([point]))

    def predict(self, features):
        """Return labels."""
        return self.model.predict(features)


def n_correct(split, rows, predicted):
    """Quality of labels: how many are right, of how many."""
    return np.sum(predicted == split.y[rows]), len(rows)


def validate(split, method, seed, quality=n_correct):
    """Return the mean quality of every point over the folds.

    quality: ``quality(split, rows, predicted)`` returns a sum and the number of its terms; the sum
    may be a vector (k,). Returns values (n_points,) or (n_points, k).
    """
    total = n = 0
    for fit, check in split.folds:
        # good enough to compare; a point where nothing is learnt is not chosen
        with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
            warnings.simplefilter("ignore", NothingLearntWarning)
            machine = method.make(split, fit, seed, **{**method.fixed, **method.hasty})
            features = machine.features(check)
            answers = [trained.predict(features) for trained in machine.path(method.points)]
        sums, counts = zip(*(quality(split, check, answer) for answer in answers), strict=True)
        total, n = total + np.array(sums), n + counts[0]
    return total / n


def tuned(split, method, seed, quality=n_correct):
    """Choose the first best point on the folds and train there, see :func:`train`.

    The folds are not asked where there is no choice, and nobody wants to know the validation.
    """
    if len(method.points) == 1 and "validation" not in method.measures:
        return train(split, method, 0, seed)
    values = validate(split, method, seed, quality)
    best = int(values.argmax())
    return train(split, method, best, seed, values[best])


def train(split, method, index, seed, validation=None):
    """Train a method at one of its points on all of the training part."""
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
    """A method that is tuned and trained, and its one look at the test part.

    features: of the test part; index, validation: chosen point, and its quality on the folds;
    messages: warnings of convergence of the training; prepare_seconds, fit_seconds: processor time
    before it (features of the test part included), and of it.
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
        """The chosen point."""
        return self.method.points[self.index]

    @cached_property
    def predicted(self):
        """What the machine says of the test part."""
        return self.machine.predict(self.features)

    @property
    def y_test(self):
        """What is true of it."""
        return self.split.y[self.split.test]

    def measure(self, names=None, measures=None):
        """Return measures by name; default: those of the method.

        A name is one of `measures`, of `MEASURES`, of the chosen point, or of the machine.
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
