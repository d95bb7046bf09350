"""What a comparison found: a table, intervals, and sentences that decide."""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline

from ..core.input import Any, ArrayLike, Literal, Views
from .audit import look_last
from .influence import reach
from .paired import OuterSplit, interval, paired_interval, power
from .report import WORDS, body, page

PRACTICAL = 0.01  # a difference that nobody would change a method for
ONE_VIEW = (
    "One view is not enough here",
    "One view is better than several here",
    "One view is enough here",
    "These data cannot tell whether one view is enough",
)
VIEWS = (
    "The views, as views, are worth something here",
    "The views, as views, cost here",
    "The views carry nothing here beyond their columns side by side",
    "These data cannot tell whether the views are worth anything",
)
USES = ("late fusion", "reduced models", "masked copies")  # where views will be missing


@dataclass(frozen=True, eq=False)
class Comparison:
    """What :func:`mvref.compare_methods` found.

    Parameters
    ----------
    rows : DataFrame
        One row per candidate, split and test part: ``learner`` of a plain candidate, ``knows``,
        ``missing`` (views that the test part lacks, "" as it is), ``repeat``, ``score``,
        ``validation``, ``tie`` (decides between equal validations), ``point``, seconds,
        ``failure``, and where the score is a mean over samples ``parts``, ``units`` and ``size``:
        the sum of what the samples of a unit (one, or a group) of the test part add, whose it is,
        and their number.
    scoring : str
    question : what was compared, and on what; needed by :meth:`fit_best` only
    notes, told : list of str; what was noticed in the data first, and about the run
    complete_samples : Comparison or None
        That of the samples with every view, where gaps tell the outcome.

    Examples
    --------
    >>> import pandas as pd
    >>> from mvref import Comparison
    >>> rows = [("a", "none", "SVM", 0, 0.8, 0.8, 0), ("b", "all", "SVM", 0, 0.9, 0.8, 0)]
    >>> names = ["candidate", "knows", "learner", "split", "score", "validation", "tie"]
    >>> Comparison(pd.DataFrame(rows, columns=names), "accuracy").best("none")
    'a'
    """

    rows: pd.DataFrame = field(repr=False)
    scoring: str
    question: Any = field(default=None, repr=False)
    notes: tuple = ()
    told: tuple = ()
    complete_samples: "Comparison | None" = None

    @property
    def failures(self) -> pd.DataFrame:
        """DataFrame of the trainings that failed, with the reason."""
        rows = self.rows.reindex(columns=["candidate", "split", "failure"])
        return rows[rows["failure"].notna()].reset_index(drop=True)

    @property
    def complete(self) -> pd.DataFrame:
        """The rows of the candidates that never failed, of the test parts as they are."""
        rows = self._without_failures
        return rows[rows["missing"] == ""] if "missing" in rows else rows

    @property
    def _without_failures(self):
        return self.rows[~self.rows["candidate"].isin(self.failures["candidate"])]

    @property
    def plain(self) -> pd.DataFrame:
        """The rows of the plain candidates whose learner failed in no use of the views."""
        rows = self.complete[self.complete["learner"] != ""]
        lost = self.rows.loc[self.rows["candidate"].isin(self.failures["candidate"]), "learner"]
        return rows[~rows["learner"].isin(lost)]

    def _chosen(self, *kinds):
        """Of every split the row of the plain candidate that is best in the inner folds."""
        rows = self.plain[self.plain["knows"].isin(kinds)]
        if rows.empty:
            raise ValueError(f"every plain method failed:\n{self.failures.to_string()}")
        rows = rows.sort_values(["validation", "tie"], ascending=False, kind="stable")
        return rows.groupby("split").head(1).set_index("split").sort_index()

    def best(self, *kinds: Literal["none", "which", "all"]) -> str:
        """Return the plain candidate that most splits choose by their inner folds.

        Parameters
        ----------
        kinds : "none", "which", "all"; what it may know: nothing of the views, one view, all views

        Returns
        -------
        name : str
        """
        return self._chosen(*kinds)["candidate"].value_counts().idxmax()

    def _interval(self, rows, ahead, behind, level=0.95):
        """The mean difference of the best of some candidates and of others, and its interval.

        ahead, behind: lists of names; in every split the best of each by the inner folds counts.
        """
        used = list(dict.fromkeys([*ahead, *behind]))
        rows = rows[rows["candidate"].isin(used)]
        splits = [of.set_index("candidate") for _, of in rows.groupby("split", sort=True)]
        splits = [of.loc[used] for of in splits if len(of) == len(used)]
        sides = [[used.index(name) for name in side] for side in (ahead, behind)]
        if "parts" in rows and rows["parts"].notna().all():
            tested = [_tested(of) for of in splits]
            return interval(tested, *sides, reach=self._reach(), level=level)
        picks = [[_pick(of, side) for side in (ahead, behind)] for of in splits]
        d = [
            of.loc[a, "score"] - of.loc[b, "score"]
            for of, (a, b) in zip(splits, picks, strict=True)
        ]
        return paired_interval(d, (rows["n_test"] / rows["n_train"]).mean(), level)

    def _fixed(self, rows, ahead, behind, level=0.95):
        """The mean difference of two candidates, and the wider of two intervals.

        That of the samples does not know how much a single method moves with its training samples.
        """
        mean, low, high = self._interval(rows, [ahead], [behind], level)
        scores = rows.pivot(index="split", columns="candidate", values="score")
        d = (scores[ahead] - scores[behind]).dropna()
        if len(d) > 1:
            ratio = (rows["n_test"] / rows["n_train"]).mean()
            _, a, b = paired_interval(d, ratio, level)
            half = max(high - low, b - a) / 2
            low, high = mean - half, mean + half
        return mean, low, high

    def _reach(self):
        """How far a sample can move the score; None of one without bound."""
        return 1.0 if self.question is None else reach(self.scoring, self.question.y)

    @property
    def baseline(self) -> str:
        """Name of the plain candidate that is best in the inner folds."""
        means = self.plain.groupby("candidate", sort=False)[["validation", "tie"]].mean()
        return means.sort_values(["validation", "tie"], kind="stable").index[-1]

    @property
    def table(self) -> pd.DataFrame:
        """DataFrame, a row per candidate, the best first.

        ``score``: mean over the test parts; ``difference``, ``low``, ``high``: mean of its score
        minus the best baseline's, and the 95 % interval of that difference; mean seconds.
        """
        of = self.complete.groupby("candidate")
        columns = [name for name in ("score", "fit_seconds") if name in self.rows]
        table = of[columns].mean()
        table.insert(0, "knows", of["knows"].first())
        behind = self.baseline
        gaps = {n: self._fixed(self.complete, n, behind) for n in table.index if n != behind}
        for k, column in enumerate(("difference", "low", "high")):
            table.insert(2 + k, column, [gaps[n][k] if n in gaps else 0.0 for n in table.index])
        return table.sort_values("score", ascending=False, kind="stable")

    @property
    def later(self) -> pd.DataFrame | None:
        """DataFrame of mean scores, a row per candidate, a column per gap that will come; or None.

        ``regret``: the most that a candidate is behind the best one of such a column.
        """
        rows = self._without_failures
        rows = rows[rows["missing"] != ""] if "missing" in rows else rows[:0]
        if rows.empty:
            return None
        table = rows.pivot_table("score", "candidate", "missing", sort=False)
        regret = (table.max() - table).max(axis=1)
        return table.assign(regret=regret).sort_values("regret", kind="stable")

    def worth_of_views(self) -> tuple[float, float, float]:
        """Return what it is worth to know the views, with its 95 % interval.

        In every split the best plain method that knows all views, and the best that ignores them,
        are chosen by the inner folds alone; what is compared are these two on the test part.

        Returns
        -------
        difference, low, high : float
        """
        return self._interval(self.plain, self._of("all"), self._of("none"))

    def worth_of_more_views(self) -> tuple[float, float, float]:
        """Return what the other views are worth beside the best one, with its 95 % interval.

        In every split the best plain method of all columns or all views, and the best of one view,
        are chosen by the inner folds alone.

        Returns
        -------
        difference, low, high : float
        """
        return self._interval(self.plain, self._of("all", "none"), self._of("which"))

    def _of(self, *kinds):
        """The plain candidates that know so much."""
        names = self.plain.loc[self.plain["knows"].isin(kinds), "candidate"].unique().tolist()
        if not names:
            raise ValueError(f"every plain method failed:\n{self.failures.to_string()}")
        return names

    @property
    def summary(self) -> str:
        """Sentences: what is odd, is one view enough, is it worth knowing the views, and so on."""
        more, views = self.worth_of_more_views(), self.worth_of_views()
        lines = [
            *self.told,
            *self.notes,
            *self._last_look(),
            self._sentence(ONE_VIEW, more, ("all", "none"), ("which",)),
            self._sentence(VIEWS, views, ("all",), ("none",)),
            self._power(views),
            *self._sentences_on_gaps(),
        ]
        left = self.rows[self.rows["learner"] != ""]["learner"].unique()
        left = [learner for learner in left if learner not in set(self.plain["learner"])]
        if left:
            lines.append(
                f"Without {', '.join(left)}, which failed in one of its uses: see failures."
            )
        if self.complete_samples is not None:
            of = self.complete_samples
            lines += [
                f"Of the {len(of.question.y)} samples with every view, as if there were no gaps:",
                *(f"  {line}" for line in of.summary.split("\n")),
            ]
        return "\n".join(lines)

    def _last_look(self):
        """What is odd in the scores."""
        scores = self.complete.groupby("candidate")["score"].mean()
        if self.question is None or "nothing" not in scores:
            return []
        least = [name for name in ("nothing", "gaps only") if name in scores]
        ahead = {n: self._fixed(self.complete, self.baseline, n)[1] for n in least}
        return look_last(self.question, scores, ahead)

    def _sentence(self, words, interval, ahead, behind):
        mean, low, high = interval
        enough = high if words is ONE_VIEW else max(-low, high)
        which = 0 if low > 0 else 1 if high < 0 else 2 if enough <= PRACTICAL else 3
        a, b = self.best(*ahead), self.best(*behind)
        return (
            f"{words[which]}: {a} minus {b} (mostly; chosen in every split by the inner folds), "
            f"difference in {self.scoring} {mean:+.3f}, 95 % interval {low:+.3f} to {high:+.3f}."
        )

    def _power(self, interval):
        """What difference so many samples show in four of five cases, and how many show a point."""
        n = int((self.rows["n_test"] + self.rows["n_train"]).max())
        groups = None if self.question is None else self.question.groups
        units = n if groups is None else len(np.unique(groups))
        seen, needed = power(*interval[1:], n, PRACTICAL, n_units=units, reach=self._reach() or 1.0)
        return (
            f"{n} samples show a difference of {seen:.3f} in four of five cases; a difference of "
            f"{PRACTICAL:g} would need about {float(f'{needed:.1g}'):,.0f}."
        )

    def _sentences_on_gaps(self):
        """What each use of the views gives where views are missing, against all columns."""
        table = self.later
        if table is None:
            return
        learner, rows = self._best_single(), self._without_failures
        for missing in table.columns[:-1]:
            part = rows[rows["missing"] == missing]
            told = []
            for use in USES:
                if f"{learner}, {use}" in table.index:
                    names = f"{learner}, {use}", f"{learner}, all columns"
                    told.append("{} {:+.3f} ({:+.3f} to {:+.3f})".format(
                        use, *self._fixed(part, *names, level=1 - 0.05 / len(USES))
                    ))  # fmt: skip
            yield (
                f"Later, {missing}: {learner} (the best learner in the inner folds, stacks apart), "
                f"minus {learner} of all columns: {'; '.join(told)}."
            )

    def _best_single(self):
        """The learner without a stack whose candidate is best in the inner folds."""
        rows = self.plain[self.plain["learner"] != "stack"]
        means = rows.groupby("candidate", sort=False)[["validation", "tie"]].mean()
        return means.sort_values(["validation", "tie"], kind="stable").index[-1].rpartition(",")[0]

    def fit_best(self, X: Views, y: ArrayLike, name: str | None = None) -> Pipeline:
        """Tune and train the best candidate on everything.

        Parameters
        ----------
        X, y : the samples, as given to :func:`mvref.compare_methods`, or more of them
        name : str, default=None; a row of ``table``
            None: the one with the best validation in the inner folds. Test scores choose nothing.
            Reduced models and masked copies have the points of all columns, and must be named.

        Returns
        -------
        model : Pipeline, fitted; it predicts from views as they come, by name

        Raises
        ------
        ValueError
            If there is no candidate of that name.
        """
        from .splits import best_estimator

        if name is None:
            rows = self.complete[self.complete["knows"].isin(["all", "none", "which"])]
            rows = rows[rows["validation"].notna()]  # of the others the folds have seen nothing
            means = rows.groupby("candidate", sort=False)[["validation", "tie"]].mean()
            name = means.sort_values(["validation", "tie"], kind="stable").index[-1]
        if name not in set(self.complete["candidate"]):
            known = sorted(set(self.complete["candidate"]))
            raise ValueError(f"name must be one of {known}, got {name!r}.")
        return best_estimator(self.question, X, y, name)

    def report(self, path: str | Path) -> Path:
        """Write a page with the answers, the table and its picture, and how it was done.

        Parameters
        ----------
        path : path of the HTML file; it needs no other files and no network

        Returns
        -------
        path : Path
        """
        path = Path(path)
        path.write_text(page(self), encoding="utf-8")
        return path

    def _repr_html_(self):
        return body(self)

    def plot(self, ax: Any = None) -> Any:
        """Draw every candidate's difference to the best baseline with its interval.

        Parameters
        ----------
        ax : matplotlib axes, optional

        Returns
        -------
        ax : matplotlib axes
        """
        import matplotlib.pyplot as plt

        ax = plt.subplots()[1] if ax is None else ax
        table = self.table[::-1]
        table = table[table["knows"].isin(["all", "none", "which"])]  # far behind, the others are
        middle, low, high = table[["difference", "low", "high"]].to_numpy().T
        spread = np.array([middle - low, high - middle])
        for (kind, words), marker in zip(WORDS.items(), "osd", strict=False):
            rows = np.flatnonzero(table["knows"] == kind)
            if not len(rows):
                continue
            ax.errorbar(middle[rows], rows, xerr=spread[:, rows], fmt=marker, label=words)
        ax.axvline(0.0, color="black", lw=1)
        ax.axvspan(-PRACTICAL, PRACTICAL, color="grey", alpha=0.15, lw=0)
        ax.set_yticks(range(len(table)), table.index)
        ax.set_xlabel(f"{self.scoring} minus that of {self.baseline}")
        ax.legend()
        return ax

    def __str__(self):
        table = self.table.round({"fit_seconds": 2}).round(3)
        told = [f"{row.candidate} failed: {row.failure}" for row in self.failures.itertuples()]
        stopped = self.complete.groupby("candidate")["stopped"].agg(["sum", "count"])
        for name, of in stopped[stopped["sum"] > 0].iterrows():
            share = f"{of['sum']} of {of['count']} splits"
            told.append(f"{name} stopped before it converged in {share}")
        later = [] if self.later is None else [self.later.round(3).to_string()]
        return "\n".join([table.to_string(), *later, *dict.fromkeys(told), self.summary])


def _tested(rows):
    """What a split found out about some candidates."""
    first = rows.iloc[0]
    values = rows[["validation", "tie"]].to_numpy(dtype=float)
    parts = np.array(rows["parts"].tolist())
    return OuterSplit(
        first["repeat"], first["n_train"], first["units"], first["size"], parts, values
    )


def _pick(rows, names):
    """The best of some candidates in a split, by the inner folds."""
    return max(names, key=lambda name: tuple(rows.loc[name, ["validation", "tie"]]))
