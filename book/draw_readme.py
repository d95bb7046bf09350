"""Draw the README's picture: a digit, its four views, and what each of them is worth.

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

use_style()
digits = load_digits_views("quarters")
train, test, y_train, y_test = train_test_split(
    digits.X, digits.y, test_size=0.5, stratify=digits.y, random_state=0
)
model = make_pipeline(PerView(StandardScaler()), MVLSVM(100, random_state=0))
subsets = {name.replace("_", " "): [name] for name in digits.X.names} | {
    "all four views": digits.X.names
}
accuracy = {
    label: model.fit(train.select(names), y_train).score(test.select(names), y_test)
    for label, names in subsets.items()
}

figure = plt.figure(figsize=(9, 2.6))
left, right = figure.subfigures(1, 2, width_ratios=[1, 2])
for ax, view in zip(left.subplots(2, 2).flat, digits.X.views, strict=True):
    side = int(view.shape[1] ** 0.5)
    ax.imshow(view[8].reshape(side, side), vmin=0, vmax=16)
    ax.set(xticks=[], yticks=[])
    ax.grid(False)
ax = right.subplots()
colors = [PALETTE["sky"]] * 4 + [PALETTE["blue"]]
bars = ax.barh(list(accuracy), list(accuracy.values()), color=colors)
ax.bar_label(bars, fmt="%.2f", padding=3)
ax.set(xlim=(0, 1.1), xlabel="test accuracy of MVL-SVM, ten digits")
ax.invert_yaxis()
ax.grid(False)
figure.savefig(Path(__file__).parent / "_static" / "readme.png", dpi=120)
