"""Draw the pictures of README and welcome page: what views are worth, and what reproduces.

python book/draw_welcome.py
"""

from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mvref import MVLSVM, PerView
from mvref.datasets import load_digits_views
from mvref.experiments import reproduction_report
from mvref.experiments.plotting import PALETTE, use_style
from mvref.experiments.reproduction import NOT_REPRODUCED, PAPERS, REPRODUCED, VERDICTS
from mvref.experiments.verdict_text import LOOKS

STATIC = Path(__file__).parent / "_static"
WORTH, VERDICT = STATIC / "readme.png", STATIC / "reproduces.png"
SAMPLE = 30  # a zero


def accuracies():
    """Test accuracy of the machine of part I, Run, on each quarter and on all: name -> digits."""
    digits = load_digits_views("quarters")
    train, test, y_train, y_test = train_test_split(
        digits.X, digits.y, test_size=0.5, stratify=digits.y, random_state=0
    )
    machine = MVLSVM(100, loss="squared_hinge", random_state=0)
    model = make_pipeline(PerView(StandardScaler()), machine)
    subsets = {name: [name] for name in digits.X.names} | {"all four views": digits.X.names}
    return {
        label: f"{model.fit(train.select(names), y_train).score(test.select(names), y_test):.3f}"
        for label, names in subsets.items()
    }


def verdicts():
    """How often each verdict was given to what a paper prints or says: a row per paper."""
    report = reproduction_report()
    counts = report.groupby(["paper", "verdict"]).size().unstack(fill_value=0)
    return counts.reindex(index=PAPERS, columns=VERDICTS, fill_value=0)


def draw_worth(accuracy):
    """Left the digit, cut; right a bar for each subset of views."""
    use_style()
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 2.6), width_ratios=[1, 2.4])
    views = load_digits_views("quarters").X.views
    for k, view in enumerate(views):
        row, column = divmod(k, 2)
        x, y = 4.2 * column, -4.2 * row
        left.imshow(view[SAMPLE].reshape(4, 4), vmin=0, vmax=16, extent=(x, x + 4, y - 4, y))
    left.set(xlim=(-0.1, 8.3), ylim=(-8.3, 0.1))
    left.set_axis_off()
    bars = right.barh(
        [name.replace("_", " ") for name in accuracy],
        [float(share) for share in accuracy.values()],
        color=[PALETTE["sky"]] * 4 + [PALETTE["blue"]],
    )
    right.bar_label(bars, list(accuracy.values()), padding=3)
    right.set(xlim=(0, 1.1), xlabel="test accuracy of MVL-SVM, ten digits", xticks=[0, 0.5, 1])
    right.spines[:].set_visible(False)
    right.tick_params(length=0)
    right.invert_yaxis()
    right.grid(False)
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


def words_of(accuracy):
    """The accuracies in one line."""
    return ", ".join(f"{name} {share}" for name, share in accuracy.items())


if __name__ == "__main__":
    accuracy, counts = accuracies(), verdicts()
    save(draw_worth(accuracy), WORTH, words_of(accuracy))
    save(draw_verdicts(counts), VERDICT, str(counts.to_numpy().tolist()))
