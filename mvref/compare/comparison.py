"""What a comparison found: a table, intervals, and sentences that decide."""

from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from scipy import stats

from .paired import interval_of_samples, paired_interval

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
WORDS = {"all": "knows the views", "none": "ignores the views", "which": "one view"}


@dataclass(frozen=True, eq=False)
class Comparison:
    """What :func:`mvref.compare_methods` found.

    Parameters
    ----------
    rows : DataFrame
        One row per candidate and split: ``learner`` of a plain candidate, ``knows``, ``repeat``,
        ``score``, ``validation``, ``tie`` (decides between equal validations), ``point``, seconds,
        ``failure``, and where the score is a mean over samples ``parts`` and ``size``: the sum of
        what the samples of a unit (one, or a group) of the test part add, and their number.
    scoring : str

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

    @property
    def failures(self):
        """DataFrame of the trainings that failed, with the reason."""
        rows = self.rows.reindex(columns=["candidate", "split", "failure"])
        return rows[rows["failure"].notna()].reset_index(drop=True)

    @property
    def complete(self):
        """The rows of the candidates that never failed."""
        return self.rows[~self.rows["candidate"].isin(self.failures["candidate"])]

    @property
    def plain(self):
        """The rows of the plain candidates whose learner failed in no use of the views."""
        rows = self.rows[self.rows["learner"] != ""]
        failed = rows.loc[rows["candidate"].isin(self.failures["candidate"]), "learner"]
        return rows[~rows["learner"].isin(failed)]

    def _chosen(self, *kinds):
        """Of every split the row of the plain candidate that is best in the inner folds."""
        rows = self.plain[self.plain["knows"].isin(kinds)]
        if rows.empty:
            raise ValueError(f"every plain method failed:\n{self.failures.to_string()}")
        rows = rows.sort_values(["validation", "tie"], ascending=False, kind="stable")
        return rows.groupby("split").head(1).set_index("split").sort_index()

    def best(self, *kinds):
        """Return the plain candidate that most splits choose by their inner folds.

        Parameters
        ----------
        kinds : "none", "which", "all"; what it may know: nothing of the views, one view, all views

        Returns
        -------
        name : str
        """
        return self._chosen(*kinds)["candidate"].value_counts().idxmax()

    def _interval(self, ahead, behind):
        """The mean difference of two rows per split, and its interval."""
        if "parts" not in ahead:
            ratio = (ahead["n_test"] / ahead["n_train"]).mean()
            return paired_interval(ahead["score"] - behind["score"], ratio)
        pairs = zip(ahead["parts"], behind["parts"], ahead["size"], ahead["repeat"], strict=True)
        units = [(np.subtract(a, b), np.asarray(size), repeat) for a, b, size, repeat in pairs]
        repeats = sorted({repeat for _, _, repeat in units})
        d, sizes = (
            [np.concatenate([unit[k] for unit in units if unit[2] == r]) for r in repeats]
            for k in (0, 1)
        )
        return interval_of_samples(d, sizes)

    @property
    def baseline(self):
        """Name of the plain candidate that is best in the inner folds."""
        means = self.plain.groupby("candidate", sort=False)[["validation", "tie"]].mean()
        return means.sort_values(["validation", "tie"], kind="stable").index[-1]

    @property
    def table(self):
        """DataFrame, a row per candidate, the best first.

        ``score``: mean over the test parts; ``difference``, ``low``, ``high``: mean of its score
        minus the best baseline's, and the 95 % interval of that difference; mean seconds.
        """
        of = self.complete.set_index("split").sort_index().groupby("candidate")
        table = of[["score", "fit_seconds", "predict_seconds"]].mean()
        table.insert(0, "knows", of["knows"].first())
        reference = of.get_group(self.baseline)
        gaps = [self._interval(part, reference) for _, part in of]
        for k, column in enumerate(("difference", "low", "high")):
            table.insert(2 + k, column, [gap[k] for gap in gaps])
        return table.sort_values("score", ascending=False, kind="stable")

    def worth_of_views(self):
        """Return what it is worth to know which columns form a view, with its 95 % interval.

        In every split the best plain method that knows all views, and the best that ignores them,
        are chosen by the inner folds alone; what is compared are these two on the test part.

        Returns
        -------
        difference, low, high : float
        """
        return self._interval(self._chosen("all"), self._chosen("none"))

    def worth_of_more_views(self):
        """Return what the other views are worth beside the best one, with its 95 % interval.

        In every split the best plain method of all columns or all views, and the best of one view,
        are chosen by the inner folds alone.

        Returns
        -------
        difference, low, high : float
        """
        return self._interval(self._chosen("all", "none"), self._chosen("which"))

    @property
    def summary(self):
        """Sentences: is one view enough, is it worth knowing the views, what could be seen."""
        more, views = self.worth_of_more_views(), self.worth_of_views()
        first = self._sentence(ONE_VIEW, more, ("all", "none"), ("which",))
        told = f"{first}\n{self._sentence(VIEWS, views, ('all',), ('none',))}\n{self._power(views)}"
        left = self.rows[self.rows["learner"] != ""]["learner"].unique()
        left = [learner for learner in left if learner not in set(self.plain["learner"])]
        lost = f"\nWithout {', '.join(left)}, which failed in one of its uses: see failures."
        return told + (lost if left else "")

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
        n = (self.rows["n_test"] + self.rows["n_train"]).iloc[0]
        seen = (interval[2] - interval[1]) / 2 * (1.0 + stats.norm.ppf(0.8) / stats.norm.ppf(0.975))
        needed = n * (seen / PRACTICAL) ** 2
        return (
            f"{n} samples show a difference of {seen:.3f} in four of five cases; a difference of "
            f"{PRACTICAL:g} would need about {float(f'{needed:.1g}'):,.0f}."
        )

    def plot(self, ax=None):
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
        middle, low, high = table[["difference", "low", "high"]].to_numpy().T
        spread = np.array([middle - low, high - middle])
        for (kind, words), marker in zip(WORDS.items(), "osd", strict=True):
            rows = np.flatnonzero(table["knows"] == kind)
            ax.errorbar(middle[rows], rows, xerr=spread[:, rows], fmt=marker, label=words)
        ax.axvline(0.0, color="black", lw=1)
        ax.axvspan(-PRACTICAL, PRACTICAL, color="grey", alpha=0.15, lw=0)
        ax.set_yticks(range(len(table)), table.index)
        ax.set_xlabel(f"{self.scoring} minus that of {self.baseline}")
        ax.legend()
        return ax

    def __str__(self):
        table = self.table.round({"fit_seconds": 2, "predict_seconds": 2}).round(3)
        told = [f"{row.candidate} failed: {row.failure}" for row in self.failures.itertuples()]
        stopped = self.complete.groupby("candidate")["stopped"].agg(["sum", "count"])
        for name, of in stopped[stopped["sum"] > 0].iterrows():
            share = f"{of['sum']} of {of['count']} splits"
            told.append(f"{name} stopped before it converged in {share}")
        return "\n".join([table.to_string(), *dict.fromkeys(told), self.summary])
