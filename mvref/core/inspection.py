"""The contribution of each view, or group of columns, to the predictions of a fitted model."""

from dataclasses import dataclass, field

import numpy as np
from scipy import stats
from sklearn.base import is_classifier
from sklearn.metrics import check_scoring
from sklearn.utils import check_random_state, column_or_1d
from sklearn.utils.validation import check_is_fitted
from tqdm import tqdm

from .input import (
    TYPE_CHECKING,
    Any,
    ArrayLike,
    BaseEstimator,
    Callable,
    Literal,
    Mapping,
    RandomState,
    ViewColumns,
    Views,
    check_choice,
    check_ids,
    check_length,
    check_number,
    validate_groups,
)
from .leaving_out import RESPONSES, Model, Tables
from .shapley import MOST, Game, coalitions_of, standard_error

if TYPE_CHECKING:  # pandas is optional
    from pandas import DataFrame

N_BLOCKS = 10  # blocks of samples, left out in turn for an interval


def view_importance(
    estimator: BaseEstimator,
    X: Views,
    y: ArrayLike | None = None,
    *,
    how: Literal["hide", "replace"] = "hide",
    groups: Mapping[str, Any] | None = None,
    background: Views | None = None,
    scoring: str | Callable[..., float] | None = None,
    response_method: Literal["auto", "decision_function", "predict_proba", "predict"] = "auto",
    sample_groups: ArrayLike | None = None,
    n_draws: int | None = None,
    views: ViewColumns | None = None,
    random_state: RandomState | None = None,
) -> "ViewImportance":
    """Compute the importance of each view for a fitted model, as Shapley values.

    Parameters
    ----------
    estimator : fitted classifier or regressor, of mvref or of scikit-learn
    X : MultiView, list of arrays, or 2-D array of n samples, in the form that `estimator` takes
    y : array-like of shape (n,), default=None
        Labels or numbers. With `y`, the score `scoring` of all samples is attributed to the views;
        without, the prediction for each sample.
    how : {"hide", "replace"}, default="hide"
        How a view is removed. "hide": the sample lacks the view, and the model treats it as missing
        (a :class:`PatternClassifier` then uses a model trained without the view). "replace": the
        view is replaced by rows of training samples, which works for any model.
    groups : mapping name -> columns, default=None
        Groups to remove instead of views: names of views, ``<view>__<column>``, or positions among
        the concatenated features. Columns that are in no group form a group of their own.
    background : like X, default=None; training samples, by default `X`
    scoring : str or callable, default=None
        As in scikit-learn; the scorer sees predictions, not samples. None: accuracy or R².
    response_method : {"auto", "decision_function", "predict_proba", "predict"}, default="auto"
        The prediction that is explained; "auto": the first of these methods that the model has.
    sample_groups : array-like of shape (n,), default=None
        Samples of one group, such as a patient, are kept together in the intervals.
    n_draws : int, default=None
        With "replace", the number of training samples per sample for predictions (None: 100, or
        all), or of random replacements of all samples for a score (None: 5; 1 for more than 5
        views). For more than 10 views, the number of pairs of orders (None: 25).
    views : sequence or mapping, default=None
        Widths, slices, indices or names that split a 2-D `X`; default ``estimator.views``.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    result : ViewImportance

    Raises
    ------
    ValueError
        For wrong input, groups that overlap, or a sample whose views no training sample has.

    See Also
    --------
    compare_methods : Whether treating the views separately helps at all.

    Notes
    -----
    The importance of a view is its Shapley value: its contribution when the views join one after
    the other, averaged over all orders. For up to 10 views all coalitions are evaluated; for more,
    random orders and their reverses, with a standard error. The values sum to the prediction, or
    the score, minus `base`: the mean prediction for training samples that have the same views, or
    the score if every sample gets the prediction for one of them. A view that a sample lacks has
    importance 0.

    They answer three questions: how much this model loses if a view is missing ("hide"); how much
    it uses the features of a view, given the others ("replace"); how much a model trained without
    the view would lose (a :class:`PatternClassifier` around the estimator, "hide"). If views are
    redundant, the answers differ.

    With "replace", a model whose prediction is a sum over the views needs no coalitions. Whether it
    is a sum is tested on at least 512 random queries, 8 or more for each sample (``is_sum``).

    References
    ----------
    Lundberg and Lee, NIPS 2017; Covert, Lundberg and Lee, JMLR 22, 2021.

    Examples
    --------
    >>> from mvref import MVLSVM, view_importance
    >>> from mvref.datasets import load_iris_views
    >>> data = load_iris_views()
    >>> train, test = data.X[::2], data.X[1::2]
    >>> model = MVLSVM(n_landmarks=20, random_state=0).fit(train, data.y[::2])
    >>> found = view_importance(model, test, data.y[1::2], background=train, random_state=0)
    >>> sepal, petal = found.importances_mean
    >>> bool(petal > sepal)
    True
    >>> view_importance(model, test, background=train).values.shape  # samples, views, classes
    (75, 2, 3)
    """
    check_choice(how, "how", ("hide", "replace"))
    check_choice(response_method, "response_method", ("auto", *RESPONSES))
    check_number(1 if n_draws is None else n_draws, "n_draws", low=1, integer=True)
    check_is_fitted(estimator)
    check_ids(X, y=y, sample_groups=sample_groups)
    tables = Tables(estimator, X, background, views, groups)
    rng = check_random_state(random_state)
    units = validate_groups(sample_groups, tables.n_samples)
    parts = _without_blocks(np.arange(tables.n_samples) if units is None else units, rng)
    asked = estimator, tables, how == "replace"
    if y is None:
        found = _of_each(asked, response_method, parts, n_draws, rng)
    else:
        y = column_or_1d(y)
        check_length(y, tables.n_samples)
        found = _of_all(asked, y, scoring, parts, n_draws, rng)
    return ViewImportance(names=tables.names, how=how, **found)


def _without_blocks(units, rng):
    """Return masks (n,), each without one block of units; an empty list for a single unit."""
    _, unit = np.unique(units, return_inverse=True)
    n_units = unit.max() + 1
    n_blocks = min(N_BLOCKS, n_units)
    block = (rng.permutation(n_units) % n_blocks)[unit]
    return [block != b for b in range(n_blocks)] if n_blocks > 1 else []


def _interval(whole, without):
    """Return the t interval of a jackknife over blocks: `without` (blocks, ...) -> low, high."""
    n_blocks = len(without)
    if not n_blocks:
        return np.full((2, *np.shape(whole)), np.nan)
    reach = stats.t.ppf(0.975, n_blocks - 1) * np.sqrt((n_blocks - 1) * without.var(axis=0))
    return whole - reach, whole + reach


def _plain_score(model, places, y):
    """Return accuracy or R², without scikit-learn's checks, as it is called thousands of times."""
    said = model.predict(places)
    if is_classifier(model):
        return np.mean(said == y)
    return 1 - ((y - said) ** 2).sum() / ((y - y.mean()) ** 2).sum()


def _of_all(asked, y, scoring, parts, n_draws, rng):
    """Attribute the score of all samples to the views."""
    _, tables, replaces = asked
    n, n_players = len(y), len(tables.names)
    n_runs = (n_draws or (5 if n_players <= 5 else 1)) if replaces else 1
    n_runs = n_runs if n_players <= MOST else n_draws or 25
    coalitions, weights = zip(*[coalitions_of(n_players, rng) for _ in range(n_runs)], strict=True)
    others = np.empty((n_runs, n), dtype=int)
    for rows, behind in tables.patterns():
        others[:, rows] = rng.choice(behind, (n_runs, len(rows)))
    r, c, i = np.indices((n_runs, len(coalitions[0]), n)).reshape(3, -1)
    model = Model(*asked, i, others[r, i], np.array(coalitions)[r, c])
    score = _plain_score if scoring is None else check_scoring(model, scoring=scoring)
    places = np.arange(len(r)).reshape(n_runs, -1, n)

    def shares(part):
        """Return Shapley values, worths alone, losses without (n_runs, 3, G); and all worths."""
        worths = [[score(model, p, y[part]) for p in run] for run in places[..., part]]
        return np.array([w @ of_run for w, of_run in zip(weights, worths, strict=True)]), worths

    found, worths = shares(np.arange(n))
    parts = tqdm(parts, delay=10, leave=False, unit="block")
    left = [shares(part)[0].mean(axis=0)[0] for part in parts]
    values, alone, without = found.mean(axis=0)
    low, high = _interval(values, np.array(left))
    return {
        "score": worths[0][coalitions[0].all(axis=1).argmax()],
        "base": np.mean([run[0] for run in worths]),
        "importances": found[:, 0].T,
        "importances_mean": values,
        "low": low,
        "high": high,
        "alone": alone,
        "without": without,
        "standard_errors": standard_error(found[:, 0]),
    }


def _of_each(asked, response_method, parts, n_draws, rng):
    """Attribute the prediction for each sample to the views."""
    estimator, tables, replaces = asked
    method, classes = _response(estimator, response_method)
    n, n_players = tables.n_samples, len(tables.names)

    def said(rows, others, kept):
        """Return the predictions (m, K) for some questions."""
        answers = Model(*asked, rows, others, kept).answers(method)
        return answers[:, -1:] if classes is None and answers.ndim == 2 else np.c_[answers]

    everyone = np.arange(n)
    answers = said(everyone, everyone, tables.has[:n])
    shares = np.zeros((3, n, n_players, answers.shape[1]))
    errors, is_sum = np.zeros(shares.shape[1:]), replaces
    for rows, behind in tables.patterns():
        if len(behind) > (n_draws or 100):
            behind = rng.choice(behind, n_draws or 100, replace=False)
        players = np.flatnonzero(tables.has[rows[0]])
        game = Game(said, rows, behind, players, n_players)
        found = game.of_a_sum(rng) if replaces else None
        is_sum &= found is not None
        if found is None:
            n_pairs = 1 if len(players) <= MOST else n_draws or 25
            found, error = game.of_coalitions(replaces, n_pairs, rng)
            errors[np.ix_(rows, players)] = error
        shares[:, rows[:, None], players] = found
    values, alone, without = shares
    base = answers - values.sum(axis=1)
    size = np.abs(values).mean(axis=2)  # over classes
    left = [size[part].mean(axis=0) for part in parts]
    low, high = _interval(size.mean(axis=0), np.array(left))
    cut = (..., 0) if classes is None else ...
    return {
        "score": answers[cut],
        "base": base[cut],
        "importances": size.T,
        "importances_mean": size.mean(axis=0),
        "low": low,
        "high": high,
        "alone": np.abs(alone).mean(axis=(0, 2)),
        "without": np.abs(without).mean(axis=(0, 2)),
        "standard_errors": errors[cut],
        "values": values[cut],
        "classes": classes,
        "is_sum": is_sum,
    }


def _response(estimator, method):
    """Return the prediction method, and the classes of its columns, or None for one column."""
    if not is_classifier(estimator):
        return "predict", None
    wanted = [name for name in RESPONSES[:2] if method in ("auto", name)]
    found = [name for name in wanted if hasattr(estimator, name)]
    if not found:
        raise ValueError(
            f"response_method={method!r} is not available for {type(estimator).__name__}, which "
            "needs 'decision_function' or 'predict_proba'."
        )
    return found[0], estimator.classes_ if len(estimator.classes_) > 2 else None


@dataclass(frozen=True, eq=False, kw_only=True)
class ViewImportance:
    """Results of `view_importance`: Shapley values of the views, with confidence intervals.

    Parameters
    ----------
    names : list of G str; names of the views or groups
    how : str; how they were removed
    score, base : float, or arrays (n,) or (n, n_classes)
        The score or the predictions, and their values without any view; the importances sum to the
        difference.
    importances : array (G, n_draws), or (G, n)
        Shapley values of the score by draw, or their absolute values by sample for predictions
        (mean over classes).
    importances_mean, low, high : arrays (G,); mean and 95 % confidence interval over samples
    alone, without : arrays (G,)
        Gain of the view alone over `base`, and loss if it alone is removed; for predictions mean
        absolute values.
    values : array (n, G) or (n, G, n_classes), or None; Shapley values of the predictions
    standard_errors : like `importances_mean` or `values`; error of draws and orders, not of samples
    classes : array or None; classes of the columns of the predictions
    is_sum : bool; whether "replace" found the predictions to be sums over the views

    Examples
    --------
    >>> from mvref import PerViewClassifier, view_importance
    >>> from mvref.datasets import load_iris_views
    >>> data = load_iris_views()
    >>> model = PerViewClassifier().fit(data.X, data.y)
    >>> found = view_importance(model, data.X, data.y, random_state=0)
    >>> found.table.index.tolist()  # the largest share first
    ['petal', 'sepal']
    """

    names: list
    how: str
    score: object
    base: object
    importances: np.ndarray = field(repr=False)
    importances_mean: np.ndarray
    low: np.ndarray
    high: np.ndarray
    alone: np.ndarray
    without: np.ndarray
    standard_errors: np.ndarray = field(repr=False)
    values: np.ndarray | None = field(default=None, repr=False)
    classes: np.ndarray | None = None
    is_sum: bool = False

    @property
    def table(self) -> "DataFrame":
        """DataFrame with one row per view, the largest importance first."""
        from pandas import DataFrame

        columns = {"share": self.importances_mean, "low": self.low, "high": self.high}
        columns |= {"alone": self.alone, "without it": self.without}
        return DataFrame(columns, self.names).sort_values("share", ascending=False)

    def plot(self, ax: Any = None, *, sample: int | None = None, label: object = None) -> Any:
        """Plot the importances of the views, or the prediction for one sample starting from `base`.

        Parameters
        ----------
        ax : matplotlib axes, optional
        sample : int, optional; position of a sample in `X`, if predictions were explained
        label : optional; the class to show, if there are more than two

        Returns
        -------
        ax : matplotlib axes
        """
        import matplotlib.pyplot as plt

        ax = plt.subplots()[1] if ax is None else ax
        if sample is not None:
            return self._plot_sample(ax, sample, label)
        table = self.table[::-1]
        rows = np.arange(len(table))
        middle, low, high = table[["share", "low", "high"]].to_numpy().T
        ax.barh(rows, middle, 0.6, xerr=[middle - low, high - middle], label="share")
        ax.plot(table["alone"], rows, "o", color="black", mfc="white", label="alone")
        ax.plot(table["without it"], rows, "D", color="black", label="loss without it")
        ax.axvline(0.0, color="black", lw=1)
        ax.set_yticks(rows, table.index)
        ax.set_xlabel("Share of the score" if self.values is None else "Mean absolute share")
        ax.legend()
        return ax

    def _plot_sample(self, ax, sample, label):
        if self.values is None:
            raise ValueError("sample needs importances per prediction: call it without y.")
        values, base = self.values[sample], np.asarray(self.base)[sample]
        if self.classes is not None:
            if label not in list(self.classes):
                raise ValueError(f"label must be one of {self.classes.tolist()}, got {label!r}.")
            k = list(self.classes).index(label)
            values, base = values[:, k], base[k]
        order = np.argsort(np.abs(values))
        ends = base + np.cumsum(values[order])
        starts = ends - values[order]
        colors = np.where(values[order] < 0, "C1", "C0")
        ax.barh(range(len(order)), values[order], 0.6, left=starts, color=colors)
        for row, value in enumerate(values[order]):
            label = f" {value:+.2f} ".replace("-", "\N{MINUS SIGN}")
            ax.annotate(label, (max(starts[row], ends[row]), row), va="center")
        for x, style in ((base, ":"), (ends[-1], "-")):
            ax.axvline(x, color="black", lw=1, ls=style)
        ax.set_yticks(range(len(order)), np.array(self.names)[order])
        ax.set_xlabel("Prediction: from the training mean (dotted) to this sample (line)")
        ax.use_sticky_edges = False
        ax.margins(x=0.15)
        return ax
