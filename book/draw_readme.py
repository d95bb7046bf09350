"""Draw the picture of README and welcome page: a digit, its four views, and what each is worth.

python book/draw_readme.py
"""

from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mvref import MVLSVM, PerView
from mvref.datasets import load_digits_views
from mvref.plotting import PALETTE, use_style

PICTURE = Path(__file__).parent / "_static" / "readme.png"
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


def draw(accuracy):
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


if __name__ == "__main__":
    found = accuracies()
    told = ", ".join(f"{name} {share}" for name, share in found.items())
    draw(found).savefig(PICTURE, dpi=120, metadata={"Description": told, "Software": None})
