"""Draw the figures of README and welcome page: accuracy gains of views, and verdicts.

python book/draw_welcome.py
"""

from functools import cache
from pathlib import Path
from textwrap import fill

import matplotlib.pyplot as plt

from mvref.experiments import reproduction_report
from mvref.experiments import study_reading as reading
from mvref.experiments.effects import by, found, told
from mvref.experiments.plotting import PALETTE, plot_expected, use_style
from mvref.experiments.reproduction import NOT_REPRODUCED, PAPERS, REPRODUCED, VERDICTS
from mvref.experiments.study_data import STUDIED, UNSEEN
from mvref.experiments.study_reading import family, gain
from mvref.experiments.verdict_text import LOOKS

STATIC = Path(__file__).parent / "_static"
WORTH, VERDICT = STATIC / "readme.png", STATIC / "reproduces.png"
PAGES = (STATIC.parents[1] / "README.md", STATIC.parent / "intro.md")
MARKS = ("<!-- findings, by book/draw_welcome.py -->\n", "<!-- end of the findings -->")


@cache
def answers():
    """Return the accuracy gains of the views: all views observed, and half of them missing."""
    columns, half = family("all columns"), {"test": "r50"}
    complete = reading.gains("late fusion") | {
        "five papers": gain(list(reading.PAPERS), columns),
        "any use of the views": gain(reading.EVERY_USE, reading.NO_USE),
    }
    gaps = reading.gains("reduced models", **half)
    gaps["boosting, native NaN"] = gaps.pop("boosting")
    gaps["learner chosen"] = gain(family("reduced models"), columns, **half)
    return tuple({name: found(of) for name, of in rows.items()} for rows in (complete, gaps))


def findings():
    """Return the three sentences of the first screen, as Markdown without links."""
    complete, gaps = answers()
    fused, columns, reduced = map(family, ("late fusion", "all columns", "reduced models"))
    par = found(gain(fused, reduced, test="r50"))
    level = found(gain(fused, columns, test="r50", missing=0.5))
    unseen = found(gain(reduced, columns, datasets=list(UNSEEN), test="r50"))
    lost = reading.reached(columns) - reading.reached(columns, test="r50")
    back = reading.by_dataset(gain(reduced, columns, test="r50")).sum()
    back /= reading.by_dataset(lost).sum()
    printed, another, changed, differs, unclear, nothing = counts = verdicts().sum()[list(VERDICTS)]
    decided = 100 * (1 - (unclear + nothing) / counts.sum())
    said = f"""
        **If every view is observed, knowing the views helps little.** Compared with training on
        all features, a use of the views changed the accuracy by
        {told(complete["any use of the views"])}, and a method of the five papers by
        {told(complete["five papers"])}, all chosen by cross-validation (means over
        {len(STUDIED)} real data sets with 100 training samples each).
        **If views are missing when you predict, knowing them gives back {100 * back:.0f} % of the
        accuracy that missing views cost.** With half of the views missing and complete training
        samples, one model for each pattern of views is more accurate than one model on all
        features, by {by(gaps["learner chosen"])}. Late fusion gives back nearly as much, with a
        difference of {told(par)}. On the ten data sets that tested our predictions, missing views
        cost less, and the gain was {told(unseen)}. If training samples lack views at random as
        well, late fusion changes the accuracy by {told(level)}.
        **{decided:.0f} % of what the papers report can be decided.** Of {counts.sum()} reported
        results and claims, {printed} are reproduced as printed, {another} under another protocol,
        {changed} with a stated change, and {differs} are not reproduced. For {unclear} we cannot
        tell, and {nothing} are not comparable, mostly because the data are unavailable. Every
        erratum comes with a script that demonstrates it."""
    bullets = " ".join(said.split()).replace(". **", ".\n**").split("\n")
    indent = {"initial_indent": "- ", "subsequent_indent": "  "}
    return "".join(fill(bullet, 110, **indent) + "\n" for bullet in bullets)


@cache
def verdicts():
    """Count the verdicts on the results and claims of each paper: a row per paper."""
    report = reproduction_report()
    counts = report.groupby(["paper", "verdict"]).size().unstack(fill_value=0)
    return counts.reindex(index=PAPERS, columns=VERDICTS, fill_value=0)


def draw_worth(*answers):
    """Draw a row per learner: intervals of the mean over data sets (thick), of a new one (thin)."""
    use_style()
    figure, axes = plt.subplots(2, 1, figsize=(6.8, 5.0), sharex=True)
    figure.get_layout_engine().set(hspace=0.08)
    titles = ("All views observed: late fusion of a learner, or what the folds choose",
              "Half of the views missing from the test set: reduced models")  # fmt: skip
    for ax, rows, title in zip(axes, answers, titles, strict=True):
        for y, of in enumerate(rows.values()):
            plot_expected(ax, y, of, PALETTE["blue"])
        ax.set_yticks(range(len(rows)), rows)
        ax.set_ylim(-0.6, len(rows) - 0.4)
        ax.set_title(title, loc="left")
        ax.invert_yaxis()
    axes[-1].set_xlabel("difference from one model on all features, percentage points")
    return figure


def draw_verdicts(counts):
    """Draw a stacked bar per paper, by verdict."""
    use_style()
    figure, axes = plt.subplots(figsize=(6.8, 3.2))
    colors = [color for color, _ in LOOKS.values()]
    counts.rename(PAPERS).plot.barh(stacked=True, color=colors, ax=axes, legend=False, width=0.8)
    for verdict, bars in zip(counts, axes.containers, strict=True):
        ink = "white" if verdict in (REPRODUCED, NOT_REPRODUCED) else "black"
        axes.bar_label(bars, [n or "" for n in counts[verdict]], label_type="center", color=ink)
    axes.invert_yaxis()
    axes.spines[:].set_visible(False)
    axes.set(xticks=[], ylabel="")
    axes.grid(False)
    figure.legend(loc="outside upper center", ncols=2)
    return figure


def words_of(answers):
    """Format all means in one line."""
    return str([round(float(row["difference"]), 4) for rows in answers for row in rows.values()])


if __name__ == "__main__":
    words = {WORTH: words_of(answers()), VERDICT: str(verdicts().to_numpy().tolist())}
    figures = (draw_worth(*answers()), draw_verdicts(verdicts()))
    for (path, of), figure in zip(words.items(), figures, strict=True):  # for the test of today's
        figure.savefig(path, dpi=120, metadata={"Description": of, "Software": None})
    for page in PAGES:
        begin, _, rest = page.read_text(encoding="utf-8").partition(MARKS[0])
        text = begin + MARKS[0] + findings() + MARKS[1] + rest.partition(MARKS[1])[2]
        page.write_text(text, encoding="utf-8")
