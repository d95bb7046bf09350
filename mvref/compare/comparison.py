"""The results of a comparison: a table, confidence intervals, and summary sentences."""

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

PRACTICAL = 0.01  # largest difference without practical relevance
ONE_VIEW = (
    "Using more than the best single view improves {}",
    "The best single view has a higher {} than the best method on several views",
    "The best single view is sufficient: using more views gains at most 0.01 in {}",
    "Inconclusive: these data do not show whether a single view is sufficient",
)
VIEWS = (
    "Treating the views separately improves {} over concatenation",
    "Treating the views separately lowers {} compared with concatenation",
    "Treating the views separately changes {} by at most 0.01 compared with concatenation",
    "Inconclusive: these data do not show whether treating the views separately helps",
)
USES = ("late fusion", "reduced models", "modality dropout")  # reported if views will be missing


@dataclass(frozen=True, eq=False)
class Comparison:
    """Results of `compare_methods`: scores, differences with confidence intervals, and a summary.

    Parameters
    ----------
    rows : DataFrame
        One row per candidate, split and test set, with the columns ``learner`` (of a plain
        candidate), ``knows``, ``missing`` (the views removed from the test set, "" for none),
        ``repeat``, ``score``, ``validation``, ``tie`` (the tie-breaker of ``validation``),
        ``point`` (the hyperparameters), seconds and ``failure``. If the score is a mean over
        samples, ``units`` names the units of the test set (samples or groups), ``size`` their
        numbers of samples, and ``parts`` the sums of their contributions.
    scoring : str; name of the score
    question : the data and methods that were compared; needed by :meth:`fit_best` only
    notes, told : list of str; notes on unusual data, and messages about the run
    complete_samples : Comparison or None
        The comparison on the samples that have every view, if missingness depends on the outcome.

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
        """DataFrame of the fits that failed, with the reason."""
        rows = self.rows.reindex(columns=["candidate", "split", "failure"])
        return rows[rows["failure"].notna()].reset_index(drop=True)

    @property
    def complete(self) -> pd.DataFrame:
        """Rows of the candidates that never failed, on the test sets without removed views."""
        rows = self._without_failures
        return rows[rows["missing"] == ""] if "missing" in rows else rows

    @property
    def _without_failures(self):
        return self.rows[~self.rows["candidate"].isin(self.failures["candidate"])]

    @property
    def plain(self) -> pd.DataFrame:
        """Rows of the plain candidates whose learner failed in no use of the views."""
        rows = self.complete[self.complete["learner"] != ""]
        lost = self.rows.loc[self.rows["candidate"].isin(self.failures["candidate"]), "learner"]
        return rows[~rows["learner"].isin(lost)]

    def _chosen(self, *kinds):
        """Return for every split the plain candidate that inner cross-validation selects."""
        rows = self.plain[self.plain["knows"].isin(kinds)]
        if rows.empty:
            raise ValueError(f"All baselines failed:\n{self.failures.to_string()}")
        rows = rows.sort_values(["validation", "tie"], ascending=False, kind="stable")
        return rows.groupby("split").head(1).set_index("split").sort_index()

    def best(self, *kinds: Literal["none", "which", "all"]) -> str:
        """Return the baseline that inner cross-validation selects most often.

        Parameters
        ----------
        kinds : "none", "which", "all"; what it uses: concatenated features, one view, all views

        Returns
        -------
        name : str
        """
        return self._chosen(*kinds)["candidate"].value_counts().idxmax()

    def _interval(self, rows, ahead, behind, level=0.95):
        """Return the mean difference of two lists of candidates, with its confidence interval.

        ahead, behind: lists of names; in every split, inner cross-validation selects one of each.
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
        """Return the mean difference of two candidates, and the wider of two intervals.

        The interval over samples ignores how much one method varies with its training samples.
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
        """Return the largest change of n times the score by one sample; None if it is unbounded."""
        return 1.0 if self.question is None else reach(self.scoring, self.question.y)

    @property
    def baseline(self) -> str:
        """Name of the baseline with the best mean score in inner cross-validation."""
        means = self.plain.groupby("candidate", sort=False)[["validation", "tie"]].mean()
        return means.sort_values(["validation", "tie"], kind="stable").index[-1]

    @property
    def table(self) -> pd.DataFrame:
        """DataFrame with one row per candidate, the best score first.

        ``score``: mean over the test sets; ``difference``, ``low``, ``high``: mean difference from
        the score of `baseline`, with its 95 % confidence interval; ``fit_seconds``: mean CPU time.
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
        """DataFrame of mean scores, a column for each set of views missing later; or None.

        ``regret``: the largest difference of the best score in a column minus that score.
        """
        rows = self._without_failures
        rows = rows[rows["missing"] != ""] if "missing" in rows else rows[:0]
        if rows.empty:
            return None
        table = rows.pivot_table("score", "candidate", "missing", sort=False)
        regret = (table.max() - table).max(axis=1)
        return table.assign(regret=regret).sort_values("regret", kind="stable")

    def worth_of_views(self) -> tuple[float, float, float]:
        """Return the gain from knowing which features form a view, with its 95 % interval.

        In every split, inner cross-validation selects one baseline that uses all views separately
        and one on concatenated features; the two are compared on the test set.

        Returns
        -------
        difference, low, high : float
        """
        return self._interval(self.plain, self._of("all"), self._of("none"))

    def worth_of_more_views(self) -> tuple[float, float, float]:
        """Return the gain over the best single view, with its 95 % confidence interval.

        In every split, inner cross-validation selects one baseline on the concatenated features or
        on all views, and one on a single view; the two are compared on the test set.

        Returns
        -------
        difference, low, high : float
        """
        return self._interval(self.plain, self._of("all", "none"), self._of("which"))

    def _of(self, *kinds):
        """Return the names of the plain candidates of some kinds."""
        names = self.plain.loc[self.plain["knows"].isin(kinds), "candidate"].unique().tolist()
        if not names:
            raise ValueError(f"All baselines failed:\n{self.failures.to_string()}")
        return names

    @property
    def summary(self) -> str:
        """Conclusions in sentences: one view or several, separate views or concatenation."""
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
                f"Excluded from this summary, as a fit failed (see failures): {', '.join(left)}."
            )
        if self.complete_samples is not None:
            of = self.complete_samples
            lines += [
                f"Results on the {len(of.question.y)} samples that have every view:",
                *(f"  {line}" for line in of.summary.split("\n")),
            ]
        return "\n".join(lines)

    def _last_look(self):
        """Return sentences on unusual scores."""
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
            f"{words[which].format(self.scoring)}: difference in {self.scoring} {mean:+.3f} (95 % "
            f"CI {low:+.3f} to {high:+.3f}), {a!r} minus {b!r}. Both were selected by inner "
            "cross-validation in every split; the names are the most frequent selections."
        )

    def _power(self, interval):
        """Return the detectable difference, and the sample size at which 0.01 is detectable."""
        n = int((self.rows["n_test"] + self.rows["n_train"]).max())
        groups = None if self.question is None else self.question.groups
        units = n if groups is None else len(np.unique(groups))
        seen, needed = power(*interval[1:], n, PRACTICAL, n_units=units, reach=self._reach() or 1.0)
        return (
            f"With {n} samples a difference of {seen:.3f} is detected with 80 % power; a "
            f"difference of {PRACTICAL:g} would need about {float(f'{needed:.1g}'):,.0f} samples."
        )

    def _sentences_on_gaps(self):
        """Yield the difference of each use of the views from concatenation if views are missing."""
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
                f"If views are missing later ({missing}): difference of {learner} (the learner "
                "with the best inner cross-validation score) from the same learner on the "
                f"concatenated features (simultaneous 95 % CIs): {'; '.join(told)}."
            )

    def _best_single(self):
        """Return the learner that is best in inner cross-validation, stacks excluded."""
        rows = self.plain[self.plain["learner"] != "stack"]
        means = rows.groupby("candidate", sort=False)[["validation", "tie"]].mean()
        return means.sort_values(["validation", "tie"], kind="stable").index[-1].rpartition(",")[0]

    def fit_best(self, X: Views, y: ArrayLike, name: str | None = None) -> Pipeline:
        """Tune and train a candidate, by default the best one, on all samples.

        Parameters
        ----------
        X, y : the samples that were given to :func:`mvref.compare_methods`, or more of them
        name : str, default=None; a row of ``table``
            If None, the candidate with the best score in inner cross-validation is taken; test
            scores are not used. Reduced models and modality dropout must be named: they have the
            hyperparameters of the concatenated features, and no inner score of their own.

        Returns
        -------
        model : Pipeline, fitted; it matches views by name when it predicts

        Raises
        ------
        ValueError
            If there is no candidate of that name.
        """
        from .splits import best_estimator

        if name is None:
            rows = self.complete[self.complete["knows"].isin(["all", "none", "which"])]
            rows = rows[rows["validation"].notna()]  # the others have no inner score
            means = rows.groupby("candidate", sort=False)[["validation", "tie"]].mean()
            name = means.sort_values(["validation", "tie"], kind="stable").index[-1]
        if name not in set(self.complete["candidate"]):
            known = sorted(set(self.complete["candidate"]))
            raise ValueError(f"name must be one of {known}, got {name!r}.")
        return best_estimator(self.question, X, y, name)

    def report(self, path: str | Path) -> Path:
        """Write an HTML report with the summary, the table with its intervals, and the settings.

        Parameters
        ----------
        path : path of the HTML file, which needs no other files and no network

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
        """Plot the difference of every candidate from the baseline with its confidence interval.

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
        table = table[table["knows"].isin(["all", "none", "which"])]  # the others are far lower
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
        ax.set_xlabel(f"Difference in {self.scoring} from '{self.baseline}' (95 % CI)")
        ax.legend()
        return ax

    def __str__(self):
        table = self.table.round({"fit_seconds": 2}).round(3)
        told = [f"{row.candidate} failed: {row.failure}" for row in self.failures.itertuples()]
        stopped = self.complete.groupby("candidate")["stopped"].agg(["sum", "count"])
        for name, of in stopped[stopped["sum"] > 0].iterrows():
            share = f"{of['sum']} of {of['count']} splits"
            told.append(f"{name} did not converge in {share}")
        later = [] if self.later is None else [self.later.round(3).to_string()]
        return "\n".join([table.to_string(), *later, *dict.fromkeys(told), self.summary])


def _tested(rows):
    """Return the results of some candidates in a split."""
    first = rows.iloc[0]
    values = rows[["validation", "tie"]].to_numpy(dtype=float)
    parts = np.array(rows["parts"].tolist())
    return OuterSplit(
        first["repeat"], first["n_train"], first["units"], first["size"], parts, values
    )


def _pick(rows, names):
    """Return the candidate that inner cross-validation selects in a split."""
    return max(names, key=lambda name: tuple(rows.loc[name, ["validation", "tie"]]))
