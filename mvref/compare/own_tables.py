"""A nested, paired comparison of methods with equal tuning budgets, on *your* data.

Every candidate gets the same outer splits and inner folds, and is tuned on the inner folds only.
The plain candidates are always among them. The results are differences on the same test sets, with
their intervals (:mod:`mvref.compare.paired`). Splits are computed one after the other, each with
all candidates, so that an interrupted run still gives a comparison.
"""

import os
import time
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from pickle import PicklingError

import joblib
import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.utils.multiclass import type_of_target
from tqdm import tqdm

from .. import __version__
from ..core.input import (
    Any,
    ArrayLike,
    BaseEstimator,
    Callable,
    Iterable,
    Literal,
    Mapping,
    Sequence,
    ViewColumns,
    Views,
    as_multiview,
    check_ids,
    check_number,
    check_votable,
    is_encoded,
    validate_groups,
    validate_numbers,
    validate_targets,
)
from .audit import gaps_that_tell, look_first
from .candidates import RECOMMENDED, candidate_of
from .comparison import Comparison
from .judge import Judge
from .plain import learners_for
from .splits import Question, SplitWork, splits_of

STEADY = 500  # samples from which one repeat is enough
LIMIT = 2**28  # bytes that finished splits may take in the cache
DECIDES = ("X", "y", "groups", "encode", "later", "scoring", "budget", "seed")
OF_NUMBERS = ("r2", "neg_mean_absolute_error", "neg_mean_squared_error",
              "neg_root_mean_squared_error", "neg_median_absolute_error",
              "explained_variance", "max_error")  # fmt: skip


def compare_methods(
    X: Views,
    y: ArrayLike,
    methods: Literal["recommended"]
    | Sequence[str | BaseEstimator]
    | Mapping[str, Any] = "recommended",
    *,
    views: ViewColumns | None = None,
    encode: BaseEstimator | None = None,
    scoring: str | Callable[..., float] | None = None,
    groups: ArrayLike | None = None,
    missing_later: str | Sequence[str] | Mapping[str, float] | None = None,
    budget: int = 6,
    n_splits: int | None = None,
    n_repeats: int | None = None,
    n_folds: int | None = None,
    time_limit: float | None = None,
    folder: str | Path | None = "auto",
    n_jobs: int | None = None,
    random_state: int = 0,
    verbose: bool = True,
) -> Comparison:
    """Compare methods on your own data by nested cross-validation with equal tuning budgets.

    Parameters
    ----------
    X : MultiView, list or mapping of arrays, or 2-D array of n samples
        At least two views; views may be missing.
    y : array-like of shape (n,); labels, or a continuous outcome
    methods : "recommended", sequence of str or estimators, or mapping, default="recommended"
        "recommended" takes the methods that the book's chapter *Which method* recommends for some
        kind of data, by its study of 30 data sets, unless `X` is too large for them. Names are
        the keys of :func:`mvref.all_methods`; an estimator is used as it is. A mapping gives your
        own name -> estimator, or ``(estimator, points)`` with a list of parameter dicts, of which
        the first `budget` are tried. The baselines are always included.
    views : sequence or mapping, default=None; widths, slices, indices or names that split a 2-D `X`
    encode : transformer, default=None
        Turns views of text and categories into numbers, a :class:`mvref.PerView` for instance. It
        is fitted on every training set separately, and all methods get its output.
    scoring : str or callable, default=None; a scorer of scikit-learn, larger is better
        None: accuracy for classes, R² for a continuous outcome. With a regression score such as
        "r2", integers in `y` are a continuous outcome and not classes.
    groups : array-like of shape (n,), default=None
        Samples of one group (a patient, say) are kept on the same side of every split.
    missing_later : None, "any", name or names of views, or mapping name -> share, default=None
        Views that future samples will lack: every method is also tested on test sets without them.
        "any" removes every view in turn; a mapping removes each view from a fraction of the
        samples.
    budget : int, default=6
        Number of hyperparameter settings from which inner cross-validation selects; ties go to the
        smallest log loss. Settings that the first fold rules out are not tried on the other folds,
        and extra trees get a third as many, because each fit is slow.
    n_splits, n_repeats, n_folds : int, default=5, 2 (1 from 500 samples), 3
        Number of outer folds, of shuffles of the samples into outer folds, and of inner folds. The
        defaults are reduced, with a warning, if the smallest class has fewer samples or groups.
    time_limit : number, default=None
        Limit in seconds. Apart from the first, no split is started that would end later; the
        intervals remain valid for the completed splits.
    folder : path, "auto" or None, default="auto"
        Folder of the completed splits, from which a repeated call continues. "auto" takes a folder
        of at most 256 MB in the user's cache, or the folder in the environment variable
        ``MVREF_CACHE``.
    n_jobs : int or None, default=None; number of splits computed in parallel (joblib)
    random_state : int, default=0; seed of the splits and the methods
    verbose : bool, default=True; whether to print notes on the data, and progress

    Returns
    -------
    comparison : Comparison
        After Ctrl-C, or the interrupt of a notebook, it contains the completed splits.

    Raises
    ------
    ValueError
        If an argument is invalid, X has a single view, a sample has no view, or a class has fewer
        samples (or groups) than the requested number of folds.

    See Also
    --------
    view_importance : Contribution of each view to one fitted model.

    Notes
    -----
    The baselines are the same learners (logistic regression, RBF SVM, extra trees, gradient
    boosting; ridge and kernel ridge regression for a continuous outcome), each tuned, on the
    concatenated features, on the best single view, and with late fusion, and a stack of the
    learners on top of each. The ranges of their hyperparameters are in ``mvref.compare.learners``,
    the ranges of the methods in ``mvref.compare.candidates``. If views are missing, there are also
    reduced models, modality dropout, and a model that sees only which views are
    observed ("gaps only"). A method that fails in a split is in ``failures`` with the reason, and
    not in the table.

    For accuracy, balanced accuracy, AUROC, log loss, F1 and regression scores, the intervals are
    computed over samples and account for the selection in every split; for other scores they are
    the corrected intervals over splits. In simulations (item ``calibration.intervals`` of the
    book), a sentence for or against separate views was wrong in at most 6.5 % of the comparisons of
    equally good methods, in the worst of nine settings. After two repeats, a difference of 8 points
    was detected between linear classifiers in 34, 78 and 100 % of them with 100, 300 and 1000
    samples, and between unstable classifiers in 17 and 62 % with 100 and 300. The columns of the
    table, where nothing is selected, have the wider of the two intervals.

    Examples
    --------
    >>> from mvref import compare_methods
    >>> from mvref.datasets import load_iris_views
    >>> data = load_iris_views()
    >>> quick = {"budget": 1, "n_splits": 2, "n_repeats": 1, "n_folds": 2, "verbose": False}
    >>> found = compare_methods(data.X, data.y, ["KMHKS"], folder=None, **quick)
    >>> bool(found.table.loc["KMHKS", "score"] > 0.9)
    True
    """
    question = _question(X, y, methods, views, encode, scoring, groups, missing_later, budget,
                         random_state)  # fmt: skip
    if n_repeats is None:
        n_repeats = 2 if len(question.y) < STEADY else 1
    for name, value in {"budget": budget, "n_repeats": n_repeats}.items():
        check_number(value, name, low=1, integer=True)
    if time_limit is not None:
        check_number(time_limit, "time_limit", low=0)
    keep, start = _keeper(folder, verbose), time.perf_counter()

    def compared(question):
        notes = look_first(question)
        if verbose:
            print("\n".join(notes), end="\n" * bool(notes))
        left = None if time_limit is None else start + time_limit - time.perf_counter()
        splits = splits_of(question, n_splits, n_repeats, n_folds)
        run = Run(question, splits, keep, n_jobs, left, verbose)
        rows = pd.DataFrame(run.all())
        return run.stopped, Comparison(rows, str(question.scoring), question, notes, run.told)

    stopped, comparison = compared(question)
    complete = question.complete()
    if not stopped and complete is not None and gaps_that_tell(question):
        with suppress(KeyboardInterrupt):  # the completed comparison is returned
            comparison = replace(comparison, complete_samples=compared(complete)[1])
    if comparison.complete.empty:
        raise ValueError(f"All methods failed:\n{comparison.failures.to_string()}")
    return comparison


def _question(X, y, methods, views, encode, scoring, groups, missing_later, budget, seed):
    """Return the checked arguments as a `Question`."""
    check_ids(X, y=y, groups=groups)
    X = as_multiview(X, views)
    if X.n_views < 2:
        raise ValueError("X has a single view, two are needed: split it with views=[...].")
    check_votable(X)
    asked = type("compare_methods", (), {})()  # named in messages about y
    if np.ndim(y) == 2 and np.shape(y)[1] > 1:
        raise ValueError(
            f"y has {np.shape(y)[1]} labels for each sample, only one is allowed. Compare one "
            "after the other: {name: compare_methods(X, y[name]) for name in y}."
        )
    if _is_of_numbers(y, scoring):
        y, classes = validate_numbers(asked, y, X.n_samples), None
        codes = y
    else:
        codes = validate_targets(asked, y, X.n_samples)
        classes, y = asked.classes_, asked.classes_[codes]
    scoring = scoring or ("accuracy" if classes is not None else "r2")
    _ = Judge(scoring, classes).scorer  # raises if there is no such scorer
    _check_encoded(X, encode)
    later = _views_later(X, missing_later, seed)
    found = tuple(chosen(methods, X, classes is None))
    groups, learners = validate_groups(groups, X.n_samples), learners_for(X, classes)
    return Question(X, y, codes, classes, groups, encode, scoring, later, learners, found, budget,
                    seed)  # fmt: skip


def _is_of_numbers(y, scoring):
    """Return whether the outcome is continuous, by its values or by the requested score."""
    if isinstance(scoring, str) and scoring in OF_NUMBERS:
        return True
    with suppress(ValueError, TypeError):
        return type_of_target(y) == "continuous"
    return False


def _check_encoded(X, encode):
    words = [name for name, view in zip(X.names, X.views, strict=True) if not is_encoded(view)]
    if encode is not None and not hasattr(encode, "transform"):
        raise ValueError(f"encode must be a transformer, got {encode!r}.")
    if words and encode is None:
        raise ValueError(
            f"The views {words} contain text or categories. Give a transformer, for example "
            f"encode=PerView({{{words[0]!r}: TfidfVectorizer()}}, remainder='passthrough')."
        )


def _views_later(X, missing_later, seed):
    """Return a dict: name of the missing views -> views that samples will have (n, V)."""
    given, whole = missing_later, np.ones((X.n_samples, X.n_views), dtype=bool)
    if given is None or given == "nothing":
        return {}
    if isinstance(given, str) and given == "any":
        return {f"without {name}": _without(whole, [v]) for v, name in enumerate(X.names)}
    shares = {given: 1.0} if isinstance(given, str) else given
    if not isinstance(shares, Mapping):
        shares = dict.fromkeys(shares, 1.0) if isinstance(shares, Iterable) else {shares: 1.0}
    if not set(shares) <= set(X.names) or not shares:
        raise ValueError(
            f"missing_later must be 'any', names of views in {X.names}, or a mapping from names "
            f"to fractions of the samples, got {missing_later!r}."
        )
    rng, observed = np.random.RandomState(seed), whole.copy()
    for name, share in shares.items():
        check_number(share, f"missing_later[{name!r}]", low=0, high=1)
        observed[rng.uniform(size=X.n_samples) < share, X.names.index(name)] = False
    told = [name if share == 1 else f"{name} ({share:.0%})" for name, share in shares.items()]
    return {f"without {' and '.join(told)}": observed}


def _without(observed, views):
    observed = observed.copy()
    observed[:, views] = False
    return observed


def chosen(methods, X, numbers):
    """Return the candidates that the user requested."""
    if isinstance(methods, str) and methods == "recommended":
        return [c for c in RECOMMENDED if X.n_samples <= (c.largest or np.inf) and not numbers]
    if isinstance(methods, str) or hasattr(methods, "fit") or not isinstance(methods, Iterable):
        methods = [methods]
    if not isinstance(methods, Mapping):
        pairs = [(m, None) if isinstance(m, str) else (type(m).__name__, m) for m in methods]
        methods = dict(pairs)
        if len(methods) < len(pairs):
            names = [name for name, _ in pairs]
            raise ValueError(f"methods has repeated names, {names}: use a mapping from new names.")
    return [candidate_of(name, given, numbers) for name, given in methods.items()]


def _keeper(folder, verbose):
    """Return a function (key, work) that caches results in a folder; None without a folder."""
    auto = isinstance(folder, str) and folder == "auto"
    folder = own_cache() if auto else folder
    if folder is None:
        return None
    try:
        memory = joblib.Memory(folder, verbose=0)
        keep = memory.cache(done, ignore=["work"])
        memory.reduce_size(bytes_limit=LIMIT)
    except OSError as error:
        if auto:
            return None
        raise ValueError(f"folder='{folder}' is not writable: {error}.") from error
    if auto and verbose:
        print(f"Finished splits are kept in {folder}; the same call continues from there.")
    return keep


def done(key, work):
    """Return the result of `work`, which is cached under `key`."""
    return work()


def own_cache():
    """Return the folder of finished splits, or None if the system has no cache folder."""
    own = os.environ.get("MVREF_CACHE")
    if not own:
        with suppress(ImportError):
            from pooch import os_cache

            own = os_cache("mvref")
    return Path(own).expanduser() / "comparisons" if own else None


class Run:
    """Computation of the splits in turn, until all are done, time is up, or the user interrupts.

    told: messages about the run.
    """

    def __init__(self, question, splits, keep, n_jobs, time_limit, verbose):
        self.question, self.splits, self.keep = question, splits, keep
        self.n_jobs, self.time_limit, self.verbose = n_jobs, time_limit, verbose
        self.jobs = {"plain": None} | dict.fromkeys(one.name for one in question.others())
        self.stopped = False
        try:
            asked = joblib.hash([splits, *(getattr(question, name) for name in DECIDES)])
            keys = {one.name: one.key(question.budget) for one in question.others()}
            self.jobs = {job: [asked, __version__, keys.get(job, job)] for job in self.jobs}
        except PicklingError:  # a class defined in a function: nothing is cached
            self.keep = None
        self.slow, self.rows, self.told, self.whole = [], [], [], set()
        self.start, self.longest = time.perf_counter(), 0.0

    def all(self):
        """Return the rows of all completed splits, in a fixed order."""
        try:
            self.go(self.splits, lambda: [job for job in self.jobs if job not in self.slow])
            if self.slow:
                self.say(f"{', '.join(self.slow)}: slower than all other methods, computed last.")
                self.go([s for s in self.splits if s.number not in self.whole], lambda: self.slow)
        except KeyboardInterrupt:
            if not self.rows:  # there is nothing to return
                raise
            self.stopped = True
        n_done = len({row["split"] for row in self.rows})
        if n_done < len(self.splits):
            again = "; the same call continues from there" * (self.keep is not None)
            self.told.append(
                f"{n_done} of {len(self.splits)} splits were completed, and the results below "
                f"are based on these{again}."
            )
        self.say(f"{n_done} splits in {time.perf_counter() - self.start:.0f} s.")
        place = {job: k for k, job in enumerate(self.jobs)}  # slow jobs may come last
        return sorted(self.rows, key=lambda row: (row["split"], place.get(row["candidate"], 0)))

    def go(self, splits, jobs):
        """Run some jobs of some splits, one split after the other, and collect their rows."""
        pool = Parallel(self.n_jobs, return_as="generator", batch_size=1, pre_dispatch="n_jobs")

        def tasks():
            for split in splits:
                spent = time.perf_counter() - self.start + self.longest
                if self.longest and self.time_limit is not None and spent > self.time_limit:
                    return
                keys = {job: self.jobs[job] for job in jobs()}
                yield delayed(in_split)(self.question, split, keys, self.keep)
                self.longest = self.longest or 1e-9  # a split has started

        with tqdm(total=len(splits), disable=not self.verbose, unit="split") as bar:
            for rows, seconds, wall in pool(tasks()):
                if not self.rows:
                    self.look_ahead(seconds, wall, bar)
                self.rows += rows
                self.whole |= {rows[0]["split"]} if len(seconds) == len(self.jobs) else set()
                self.longest = max(self.longest, wall)
                bar.update()

    def look_ahead(self, seconds, wall, bar):
        """Estimate the total time from the first split, and put slow methods last."""
        total = wall * -(-len(self.splits) // joblib.effective_n_jobs(self.n_jobs))
        if self.verbose:
            bar.write(f"The first of {len(self.splits)} splits took {wall:.0f} s; all will take "
                      f"about {total:.0f} s.")  # fmt: skip
        whole = sum(seconds.values())
        self.slow += [job for job, s in seconds.items() if job != "plain" and s > whole - s > 0]

    def say(self, sentence):
        """Print a sentence if `verbose`."""
        if self.verbose:
            print(sentence)


def in_split(question, split, jobs, keep):
    """Return the rows of some jobs in a split, their CPU seconds, and the wall-clock time.

    jobs: name -> cache key.
    """
    begin, work, rows, seconds = time.perf_counter(), SplitWork(question, split), [], {}
    for job, key in jobs.items():
        do = partial(work.do, job)
        found, seconds[job] = do() if keep is None else keep([*key, split.number], do)
        rows += found
    return rows, seconds, time.perf_counter() - begin
