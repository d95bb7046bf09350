"""Draw the pictures of README and welcome page: what views are worth, and what reproduces.

python book/draw_welcome.py
"""

from pathlib import Path
from textwrap import fill

import matplotlib.pyplot as plt

from mvref.experiments import reproduction_report
from mvref.experiments.fusion_data import REAL
from mvref.experiments.fusion_reading import gain, gains, hierarchical, over_datasets, points, told
from mvref.experiments.plotting import PALETTE, plot_expected, use_style
from mvref.experiments.reproduction import NOT_REPRODUCED, PAPERS, REPRODUCED, VERDICTS
from mvref.experiments.verdict_text import LOOKS

STATIC = Path(__file__).parent / "_static"
WORTH, VERDICT = STATIC / "readme.png", STATIC / "reproduces.png"
PAGES = (STATIC.parents[1] / "README.md", STATIC.parent / "intro.md")
MARKS = ("<!-- findings, by book/draw_welcome.py -->\n", "<!-- end of the findings -->")
STACKS = ("stack of learners, views", "stack of learners, all columns")


def answers():
    """What the views are worth, learner by learner: all there, and half of them missing."""
    complete = {"stack of all learners": over_datasets(gain(*STACKS, datasets=REAL))} | {
        f"{learner}, {use}": found
        for use in ("vote of views", "stack of views")
        for learner, found in hierarchical(gains(use, datasets=REAL))[0].drop("all").T.items()
    }
    reduced, _ = hierarchical(gains("reduced models", measure="accuracy_r50", datasets=REAL))
    return complete, {f"{learner}, reduced models": found for learner, found in reduced.T.items()}


def findings():
    """The three sentences of the first screen, as Markdown without links."""
    complete, missing = answers()
    stacked, reduced = complete["stack of all learners"], missing["all, reduced models"]
    printed, another, changed, differs, *unclear = verdicts().sum()[list(VERDICTS)]
    said = f"""
        **All views there?** Knowing them is worth {told(stacked)} of accuracy, on average over
        {len(REAL)} real data sets, with all learners stacked on both sides. On the next data set
        it may be {points(stacked["next_low"])} to {points(stacked["next_high"])}.
        **Views missing later?** One model for each pattern of views is ahead of one model with
        means in the gaps by {told(reduced)}, the average of four learners.
        **The papers:** of {verdicts().sum().sum()} printed results and claims {printed} come out as
        printed, {another + changed} with a change, {differs} do not; of {sum(unclear)} our
        experiments cannot tell. Every misprint has a script that shows it."""
    bullets = " ".join(said.split()).replace(". **", ".\n**").split("\n")
    indent = {"initial_indent": "- ", "subsequent_indent": "  "}
    return "".join(fill(bullet, 110, **indent) + "\n" for bullet in bullets)


def verdicts():
    """How often each verdict was given to what a paper prints or says: a row per paper."""
    report = reproduction_report()
    counts = report.groupby(["paper", "verdict"]).size().unstack(fill_value=0)
    return counts.reindex(index=PAPERS, columns=VERDICTS, fill_value=0)


def next_of(found):
    """Where the next data set may be."""
    return f"{points(found['next_low'])} to {points(found['next_high'])}"


def draw_worth(complete, missing):
    """A row for each learner: the mean over data sets (thick), and the next data set (thin)."""
    use_style()
    sizes = [len(complete), len(missing)]
    figure, axes = plt.subplots(2, 1, figsize=(6.8, 4.6), height_ratios=sizes, sharex=True)
    titles = ("all views there: ahead of all columns", "half missing: ahead of means in the gaps")
    for ax, rows, title in zip(axes, (complete, missing), titles, strict=True):
        for y, found in enumerate(rows.values()):
            plot_expected(ax, y, found, PALETTE["blue"])
        ax.set_yticks(range(len(rows)), [name.replace("all, ", "mean, ") for name in rows])
        ax.set_title(title, loc="left")
        ax.invert_yaxis()
    axes[-1].set_xlabel("points of accuracy")
    return figure


def draw_verdicts(counts):
    """A bar per paper, cut by verdict."""
    use_style()
    figure, axes = plt.subplots(figsize=(9, 2.6))
    left = counts.shift(axis=1, fill_value=0).cumsum(axis=1)
    for verdict, (color, _) in LOOKS.items():
        bars = axes.barh(
            list(PAPERS.values()), counts[verdict], left=left[verdict], color=color, label=verdict
        )
        ink = "white" if verdict in (REPRODUCED, NOT_REPRODUCED) else "black"
        axes.bar_label(bars, [n or "" for n in counts[verdict]], label_type="center", color=ink)
    axes.invert_yaxis()
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    axes.set(xticks=[])
    axes.grid(False)
    figure.legend(loc="outside upper center", ncols=5, fontsize="small", columnspacing=1.0)
    return figure


def save(figure, path, told):
    """The numbers stand in the file, too, for the test that compares them with today's."""
    figure.savefig(path, dpi=120, metadata={"Description": told, "Software": None})


def words_of(answers):
    """All means in one line."""
    found = {name: row["difference"] for rows in answers for name, row in rows.items()}
    return ", ".join(f"{name} {points(mean)}" for name, mean in found.items())


def renew(page):
    """Write today's findings into a page, between the marks."""
    text = page.read_text(encoding="utf-8")
    begin, end = (text.index(mark) for mark in MARKS)
    page.write_text(text[: begin + len(MARKS[0])] + findings() + text[end:], encoding="utf-8")


if __name__ == "__main__":
    save(draw_worth(*answers()), WORTH, words_of(answers()))
    counts = verdicts()
    save(draw_verdicts(counts), VERDICT, str(counts.to_numpy().tolist()))
    for page in PAGES:
        renew(page)
