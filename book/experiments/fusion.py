"""The study of part VI: learners times uses of views, the methods of the papers, and their rivals.

Candidates  learner {logistic regression, Gaussian SVM, extra trees, boosting} x use of the views
            (`USES`), a stack of all learners, the methods of :mod:`mvref.compare.candidates`, and
            imputation before an SVM. A use is left out where it is another one: to trees a view's
            scale is nothing, and a sum of linear kernels is a logistic regression of views scaled
            alike. Rows of a table, and of a view that is scaled alone, have mean squared norm 1:
            where views are equally wide, views scaled alike are all columns.
Points      `BUDGET` of each candidate, spread over its ranges; a learner's are the same in all its
            uses. Who takes one view tries them on each. The point that is most accurate on three
            folds of the training part is taken, of equally accurate ones that of least log loss.
Data        :mod:`.fusion_data`: `FORMING`, on which statements were formed, and `KEPT`.
Parts       a stratified training part of 50 to 1000 samples (`SIZES`), and at most 1000 others that
            test; the same for all candidates of a repeat. Of people, the next one tests.
Measures    accuracy, log loss and Brier score (of scores as if of a softmax; of labels none);
            "at_0111": accuracy where the first view is missing in all of the test part, and so for
            every pattern in which one view is gone, or one is left; "accuracy_r25", "_r50": where a
            share of the (sample, view) pairs is missing at random, every sample keeps one.
Patterns    item ``patterns``: the learners of all columns, trained and tested on a pattern alone:
            what each of the others could have reached there.
Gaps        item ``gaps``: the training part has gaps at random, too, or half of it lacks a view.
Before      item ``before``: what the training part alone tells before any choice.
Failures    are rows: ``failure`` is the number of the reason in `REASONS`, the other measures are 0
            and not read. A training may take `LIMIT` seconds of the processor, and as many times
            longer as its candidate has fewer points; who runs out of them in the first `TRIALS`
            repeats is not asked again. Who takes no gaps gets means.
"""

import warnings
from dataclasses import replace
from functools import partial
from itertools import combinations

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVC

from mvref import PerView, PerViewClassifier, ViewDropout
from mvref.compare.candidates import (
    ALL,
    COLUMNS,
    SVM,
    Candidate,
    UnitRows,
    at,
    scaling,
)
from mvref.core.input import MultiView
from mvref.rivals import LaplacianCompletion

from . import fusion_learners as plain
from .engine import Item, derive_seed, encode_parameter
from .fusion_data import N_SAMPLES, N_TEST, REAL, draw_split, patterns_of, size_of
from .fusion_learners import log_probabilities
from .kernel_means import KernelMeanSVC, without_gaps
from .study import limited
from .tables import Cell, jobs_of
from .tuning import Machine, Method, train, validate

SIZES = {50: 2, 100: 3, 300: 2, 1000: 1}  # of the training part, and repeats
REPEATS_OF = {"nutrimouse": 20, "uwave": 8, "shoulder-exercises": 10}  # eight mice; all people
FEW = 2  # repeats of patterns, of gaps, and of what is measured beforehand
GAPS = (0.5, "block")
BUDGET, LIMIT, TRIALS = 7, 5.0, 2
N_COPIES = 3
REASONS = (TimeoutError, ValueError, ArithmeticError, np.linalg.LinAlgError, MemoryError)
MEASURES = (
    "accuracy", "log_loss", "brier", "validation", "validation_loss", "point", "fit_seconds",
    "failure",
)  # fmt: skip
TESTED = {"accuracy_r25": 0.25, "accuracy_r50": 0.5}
BOOSTING = {"learning_rate": (0.05, 0.5), "max_leaf_nodes": [4, 8], "min_samples_leaf": [2, 5, 10]}
CHAIN = IterativeImputer(max_iter=2, n_nearest_features=10, keep_empty_features=True)


def boosting(views, **point):
    """A learner of 40 rounds of trees; it takes gaps as they are."""
    dense = FunctionTransformer(to_dense)
    return make_pipeline(dense, HistGradientBoostingClassifier(max_iter=40, max_bins=32, **point))


def to_dense(X):
    """A table as an array."""
    return X.toarray() if sparse.issparse(X) else X


def stacked(learner):
    """A learner for each view, and a logistic regression of what they say of unseen samples."""

    def make(X, **point):
        views = zip(X.names, X.views, strict=True)
        members = {name: learner([view], **point) for name, view in views}
        return PerViewClassifier(members, combine=LogisticRegression(max_iter=2000), cv=3)

    return make


def alike(learner):
    """A learner of all columns, each view scaled to weigh as much as the others."""

    def make(X, **point):
        fill, method = scaling(X.views)[0], learner(X.views, **point)[-1]
        return make_pipeline(scaled(X), COLUMNS, fill, UnitRows(), method)

    return make


def masked(learner):
    """A learner of all columns, trained on copies of the samples that lack views."""
    return lambda X, **point: ViewDropout(learner(X.views, **point), n_copies=N_COPIES)


def sum_of_kernels(X, **point):
    """A Gaussian SVM on the mean of the views' kernels."""
    return make_pipeline(scaled(X), KernelMeanSVC(**point))


def aligned_kernels(X, **point):
    """The same, where a view counts by how well its kernel agrees with the labels."""
    return make_pipeline(scaled(X), KernelMeanSVC(**point, weights="alignment"))


def imputed(fill):
    """A Gaussian SVM of all columns, whose gaps a transformer fills with more than means."""

    def make(X, **point):
        table = FunctionTransformer(dense_columns)
        return make_pipeline(scaled(X), table, clone(fill), UnitRows(), SVC(**point))

    return make


def completed(X, **point):
    """The same, where a graph of the reference view fills gaps of whole views."""
    fill = LaplacianCompletion(output="features", gamma=1.0)
    last = SimpleImputer(keep_empty_features=True)
    return make_pipeline(scaled(X), fill, COLUMNS, last, UnitRows(), SVC(**point))


def scaled(X):
    """What scales each view of X on its own, and leaves gaps of whole views as they are."""
    return PerView({name: scaling([view]) for name, view in zip(X.names, X.views, strict=True)})


def dense_columns(X):
    """All columns as an array, NaN where a view is missing."""
    dense = [view.toarray() if sparse.issparse(view) else view for view in X.views]
    pairs = zip(dense, X.observed.T, strict=True)
    return np.hstack([np.where(seen[:, None], view, np.nan) for view, seen in pairs])


LEARNERS = plain.LEARNERS | {"boosting": (boosting, BOOSTING)}
USES = {
    "best view": ("which", plain.of_one_view),
    "all columns": ("none", plain.of_columns),
    "late fusion": ("all", plain.of_views),
    "stack of views": ("all", stacked),
    "views alike": ("all", alike),
    "reduced models": ("all", plain.of_patterns),
    "masked copies": ("all", masked),
}
SCALED = ("logistic", "RBF SVM")  # to trees views are alike as they are
STACKS = {
    f"stack of learners, {use}": Candidate(
        f"stack of learners, {use}", knows, partial(make, learners=LEARNERS), learner="stack"
    )
    for use, (knows, make) in plain.STACKS.items()
}
PLAIN = {
    f"{learner}, {use}": Candidate(
        f"{learner}, {use}", knows, fuse(method), space, learner=learner
    )
    for learner, (method, space) in LEARNERS.items()
    for use, (knows, fuse) in USES.items()
    if use != "views alike" or learner in SCALED
} | {
    "RBF SVM, sum of kernels": Candidate(
        "RBF SVM, sum of kernels", "all", sum_of_kernels, SVM, learner="RBF SVM"
    )
} | STACKS  # fmt: skip
MORE = {
    f"RBF SVM, {name}": Candidate(f"RBF SVM, {name}", "all", make, SVM)
    for name, make in {
        "aligned kernels": aligned_kernels,
        "neighbours": imputed(KNNImputer(keep_empty_features=True)),
        "regressions": imputed(CHAIN),
        "completion": completed,
    }.items()
}
PAPERS = ("MVLSVM", "MwMvC2", "MVPO", "MVMClassifier", "MVNAKMHKS")
OTHERS = {name: Candidate(name, *of) for name, of in ALL.items()} | MORE
CANDIDATES = PLAIN | OTHERS
WITH_GAPS = {  # what is trained with gaps
    name: candidate
    for name, candidate in CANDIDATES.items()
    if name in (*PAPERS[:1], "MVNAKMHKS", "CoLabeling", "PerViewSVM", "MVML", *MORE)
    or name.endswith(("all columns", "late fusion", "reduced models", "masked copies"))
    and candidate.learner != "stack"
}


def with_gaps(X, gap, seed, trains=False):
    """Drop a share of the views of samples, or "block": one view of all, or of half that train."""
    if gap != "block":
        most = 1.0 - 1.0 / X.n_views
        seed = (seed, "train") if trains else seed
        return X.drop_views(min(gap, most), random_state=derive_seed(seed, "gaps", gap))
    lost = np.random.RandomState(derive_seed(seed, "lost")).permutation(len(X))
    lost = lost[: len(X) // 2] if trains else lost
    observed = np.ones((len(X), X.n_views), dtype=bool)
    observed[lost, derive_seed(seed, "block") % X.n_views] = False
    return MultiView(X.views, names=X.names, observed=observed)


class Filled(Machine):
    """The machine of a candidate; one that refuses gaps gets what stands for them in training."""

    def __init__(self, split, rows, seed, *, candidate):
        self.candidate, self.filled = candidate, False
        super().__init__(split, rows, seed)
        self.known = self.X
        n_points = len(candidate.points_of(self.X, BUDGET))
        self.limit = LIMIT * max(1, BUDGET / n_points)

    def build(self, point, X, seed):
        """Return the candidate at a point."""
        return self.candidate.build(point, X, seed)

    def fit(self, point):
        """Train with the gaps, or without, in limited time."""
        with limited(self.limit):
            try:
                return super().fit(point)
            except ValueError:
                if self.X.observed.all():
                    raise
            self.X, self.filled = without_gaps(self.X, self.known), True
            return super().fit(point)

    def predict(self, X):
        """Return labels of samples with gaps, or without, and the logarithms of probabilities."""
        if not self.filled:
            try:
                return self.told(X)
            except ValueError:
                if X.observed.all():
                    raise
        self.filled = True
        return self.told(without_gaps(X, self.known))

    def told(self, X):
        """Labels, and logarithms (n, K) of the probabilities of all classes, or None."""
        labels, told = self.model.predict(X), log_probabilities(self.model, X)
        if told is None:
            return labels, None
        classes = np.unique(self.split.y)
        of_all = np.full((len(labels), len(classes)), np.log(1e-15))
        of_all[:, np.searchsorted(classes, self.model.classes_)] = told
        return labels, of_all


def losses(answer, y, classes):
    """Mean log loss and Brier score; 0 of labels alone."""
    _, told = answer
    if told is None:
        return 0.0, 0.0
    true = np.searchsorted(classes, y)
    brier = np.square(np.exp(told) - np.eye(len(classes))[true]).sum(axis=1)
    return float(-told[np.arange(len(y)), true].mean()), float(brier.mean())


def on_split(
    name, method, *, measures, n_train, missing=0.0, pattern="", budget=BUDGET, repeat, seed
):
    """Tune, train and test a candidate; a failure is a row."""
    split = draw_split(name, n_train, seed, repeat)
    if missing:
        observed = split.X.observed.copy()
        observed[split.train] = with_gaps(split.X[split.train], missing, seed, trains=True).observed
        split = replace(split, X=MultiView(split.X.views, names=split.X.names, observed=observed))
    if pattern:
        there = [view for view, c in zip(split.X.names, pattern, strict=True) if c == "1"]
        split = replace(split, X=split.X.select(there))
    candidate, classes = CANDIDATES[method], np.unique(split.y)

    def quality(split, rows, answer):
        loss, _ = losses(answer, split.y[rows], classes)
        return len(rows) * np.array([np.mean(answer[0] == split.y[rows]), -loss]), len(rows)

    how = Method(partial(Filled, candidate=candidate), candidate.points_of(split.X, budget))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            seed_of = derive_seed(seed, "fit")
            values = validate(split, how, seed_of, quality)
            best = max(range(len(values)), key=lambda i: tuple(values[i]))
            run = train(split, how, best, seed_of, values[best])
            return tested(run, measures, classes, seed)
    except REASONS as error:
        number = [isinstance(error, kind) for kind in REASONS].index(True) + 1
        return dict.fromkeys(measures, 0.0) | {"failure": float(number)}


def tested(run, measures, classes, seed):
    """The measures of a trained candidate."""
    X, y = run.features, run.y_test
    answer = run.predicted
    values = dict(zip(("log_loss", "brier"), losses(answer, y, classes), strict=True))
    values |= {"accuracy": np.mean(answer[0] == y), "failure": 0.0, "point": run.index}
    values |= {"validation": run.validation[0], "validation_loss": -run.validation[1]}
    values |= {"fit_seconds": run.fit_seconds}
    for of in measures:
        if of not in values:
            gaps = with_gaps(X, TESTED[of], seed) if of in TESTED else of_pattern(X, of[3:])
            values[of] = np.mean(run.machine.predict(gaps)[0] == y)
    return {of: float(values[of]) for of in measures}


def of_pattern(X, pattern):
    """The samples with the same views missing in all."""
    there = np.tile([c == "1" for c in pattern], (len(X), 1))
    return MultiView(X.views, names=X.names, observed=there)


def before(name, method, *, measures, n_train, repeat, seed):
    """What folds of the training part tell of a learner at the middle of its ranges.

    Accuracy of all columns and of the best view, and the mean correlation of the errors of two
    views; 0 where a view makes no error.
    """
    split = draw_split(name, n_train, seed, repeat)
    learner, space = LEARNERS[method]
    middle = {of: at(0.5, ends) for of, ends in space.items()}
    tables = [[view] for view in split.X.names] + [split.X.names]
    wrong = [[] for _ in tables]
    for fit, check in split.folds:
        for table, errors in zip(tables, wrong, strict=True):
            X = split.X.select(table)
            candidate = Candidate(method, "none", plain.of_columns(learner))
            model = candidate.build(middle, X, derive_seed(seed, "fit"))
            errors.append(model.fit(X[fit], split.y[fit]).predict(X[check]) != split.y[check])
    *views, columns = [np.concatenate(errors).astype(float) for errors in wrong]
    pairs = [np.corrcoef(a, b)[0, 1] for a, b in combinations(views, 2) if a.std() and b.std()]
    values = {"columns": 1 - columns.mean(), "best_view": 1 - min(e.mean() for e in views)}
    return values | {"error_correlation": float(np.mean(pairs)) if pairs else 0.0}


def complete(dataset, quick, rows, *, n_train):
    """Every candidate at one size; at others than 100 samples only the plain ones."""
    methods, n_repeats = (PLAIN, SIZES[n_train])
    if n_train == 100:
        methods, n_repeats = CANDIDATES, REPEATS_OF.get(dataset, n_repeats)
    points = [({"n_train": n_train}, methods, n_repeats, tests_of(dataset))]
    return cells_of(dataset, quick, rows, points)


def patterns(dataset, quick, rows):
    """The learners on a pattern alone."""
    columns = [name for name in PLAIN if name.endswith("all columns") and name not in STACKS]
    points = [{"n_train": 100, "pattern": pattern} for pattern in patterns_of(dataset)]
    return cells_of(dataset, quick, rows, [(point, columns, FEW, MEASURES) for point in points])


def gaps(dataset, quick, rows):
    """Gaps in the training part."""
    points = [{"n_train": 100, "missing": missing} for missing in GAPS]
    measures = tests_of(dataset)
    return cells_of(dataset, quick, rows, [(point, WITH_GAPS, FEW, measures) for point in points])


def tests_of(dataset):
    """The measures of a data set: the patterns are those of its views."""
    return (*MEASURES, *TESTED, *(f"at_{pattern}" for pattern in patterns_of(dataset)))


def cells_of(dataset, quick, rows, points):
    """Candidates at points, a repeat of all before the next; quick: one of two, two points."""
    slow = out_of_time(dataset, rows)
    cells = [
        Cell(
            method,
            point,
            measures,
            min(n, TRIALS) if (method, encode_parameter(point)) in slow else n,
        )
        for point, methods, n, measures in points
        for method in methods
    ]
    if quick:
        first = [cell for cell in cells if cell.method in ("RBF SVM, all columns", "MVLSVM")][:2]
        cells = [replace(cell, n_repeats=1, options={"budget": 2}) for cell in first]
    return with_repeats(dataset, cells, on_split)


def with_repeats(dataset, cells, function):
    """Jobs that know which repeat they are of, as it says who tests."""
    for job in jobs_of(dataset, dataset, cells, function):
        yield replace(job, function=partial(job.function, repeat=job.repeat))


def out_of_time(dataset, rows):
    """What ran out of time in every one of its first `TRIALS` repeats: method and point."""
    rows = rows[(rows["dataset"] == dataset) & (rows["measure"] == "failure")]
    late = rows[(rows["repeat"] < TRIALS) & (rows["value"] == 1)]
    counts = late.groupby(["method", "parameter"]).size()
    return {cell for cell, n in counts.items() if n == TRIALS}


def beforehand(dataset, quick, rows):
    """What the training part tells, for each learner."""
    measures = ("columns", "best_view", "error_correlation")
    learners = ("logistic",) if quick else LEARNERS
    cells = [
        Cell(learner, {"n_train": n}, measures, 1 if quick else FEW)
        for n in SIZES
        for learner in learners
        if size_of(dataset, n) <= 0.8 * N_SAMPLES[dataset]
    ]
    return with_repeats(dataset, cells, before)


def large_enough(n_train):
    """The data sets that leave a fifth of the samples to test on, and not one beside these."""
    left = {name: N_SAMPLES[name] - size_of(name, n_train) for name in REAL}
    return tuple(n for n, k in left.items() if 5 * k >= N_SAMPLES[n] and k != N_TEST + 1)


ITEMS = [
    *(
        Item("fusion", f"n{n}", f"accuracy after {n} samples", large_enough(n),
             partial(complete, n_train=n), seeds=f"n{n}")
        for n in SIZES
    ),
    Item("fusion", "patterns", "trained on a pattern alone", tuple(REAL), patterns, seeds="n100"),
    Item("fusion", "gaps", "accuracy where training has gaps", tuple(REAL), gaps, seeds="n100"),
    Item("fusion", "before", "what folds tell beforehand", tuple(REAL), beforehand, seeds="n100"),
]  # fmt: skip
