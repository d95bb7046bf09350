"""The figure style of the book, and the plots that it uses more than once.

Needs matplotlib, which comes with the extra ``mvref[book]``.
"""

import matplotlib.pyplot as plt
import numpy as np
from cycler import cycler
from IPython import get_ipython
from matplotlib_inline.backend_inline import set_matplotlib_formats

# Okabe and Ito's palette: distinguishable with all common forms of colour blindness.
PALETTE = {
    "blue": "#0072B2",
    "orange": "#E69F00",
    "green": "#009E73",
    "vermilion": "#D55E00",
    "purple": "#CC79A7",
    "sky": "#56B4E9",
    "black": "#000000",
    "yellow": "#F0E442",
}

# One colour, marker and line style per method, in every chapter.
METHODS = {
    "MVLSVM": ("blue", "o", "-"),
    "MVLSVM-hinge": ("sky", "v", "--"),
    "MVLSVM-liblinear": ("black", "x", ":"),
    "MVLSVM-rbf": ("green", "s", "-."),
    "MVLSVM-ridge0": ("vermilion", "v", "--"),
    "MVLSVM-mean": ("sky", "^", "-."),
    "MVLSVM-complete": ("black", "X", "--"),
    "MVLSVM-drop": ("green", "s", ":"),
    "PerViewSVM": ("orange", "D", "--"),
    "PerViewSVM+Laplacian": ("purple", "P", "-."),
    "MVML": ("vermilion", "^", ":"),
    "MVMLsp": ("sky", "x", "-."),
    "SVM2K": ("purple", "h", ":"),
    "MwMvC2": ("blue", "o", "-"),
    "MwMvC2-random": ("green", "s", "-"),
    "MwMvC2-paper": ("vermilion", "v", "--"),
    "MwMvC2-uniform": ("sky", "P", "-."),
    "Mono": ("black", "x", ":"),
    "Mono-oracle": ("black", "+", "--"),
    "Mono-mean": ("black", ".", "-."),
    "Concat": ("black", "D", "-"),
    "Fusion": ("sky", "^", "--"),
    "MVMV": ("orange", "D", "--"),
    "MVWAB": ("purple", "P", "-."),
    "RBoostSH": ("vermilion", "x", ":"),
    "Mumbo": ("green", "*", ":"),
    "MVPO": ("blue", "o", "-"),
    "MVPO-C1=0": ("sky", "v", "--"),
    "SVMPerf": ("orange", "D", "--"),
    "SMS": ("green", "X", ":"),
    "CAPO": ("vermilion", "^", ":"),
    "FSMulti": ("purple", "P", "-."),
    "LinearSVC": ("black", "x", ":"),
    "CoLabeling": ("green", "p", "-"),
    "MSL": ("sky", "*", "-."),
    "MVM": ("blue", "o", "-"),
    "FM": ("orange", "D", "--"),
    "FM27": ("green", "s", "-."),
    "FM-V": ("vermilion", "^", ":"),
    "STM": ("purple", "P", "-."),
    "STM-product": ("sky", "*", "--"),
    "Linear": ("black", "x", ":"),
    "RBF": ("black", "h", "-."),
    "MVNA": ("blue", "o", "-"),
    "MVNA-printed": ("vermilion", "v", "--"),
    "NA": ("orange", "D", "--"),
    "KMHKS": ("green", "s", "-."),
    "SVM": ("black", "x", ":"),
}


def use_style():
    """Set the figure style of the book for this process's matplotlib.

    Figures are opaque white, so that they can be read in dark mode as well.

    >>> from mvref.experiments.plotting import use_style
    >>> use_style()
    """
    plt.rcParams.update(
        {
            "axes.prop_cycle": cycler(color=[c for n, c in PALETTE.items() if n != "yellow"]),
            "axes.grid": True,
            "axes.spines.right": False,
            "axes.spines.top": False,
            "axes.titlesize": "medium",
            "figure.dpi": 110,
            "figure.facecolor": "white",
            "figure.figsize": (6.8, 3.8),
            "figure.constrained_layout.use": True,
            "font.size": 9,
            "grid.alpha": 0.25,
            "image.cmap": "gray_r",
            "legend.frameon": False,
            "lines.markersize": 5,
            "savefig.facecolor": "white",
            "svg.hashsalt": "mvref",
        }
    )
    if get_ipython():  # in a notebook: vector graphics
        set_matplotlib_formats("svg", metadata={"Date": None})


def method_style(name):
    """Return the options of ``plot`` for a method's `name` in the ledger: color, marker, linestyle.

    >>> from mvref.experiments.plotting import method_style
    >>> method_style("MVLSVM")
    {'color': '#0072B2', 'marker': 'o', 'linestyle': '-'}
    """
    if name not in METHODS:
        raise ValueError(f"name must be one of {list(METHODS)}, got {name!r}.")
    color, marker, line = METHODS[name]
    return {"color": PALETTE[color], "marker": marker, "linestyle": line}


def plot_methods(ax, table, x, *, value="mean", spread="std", order=None):
    """Draw one line with error bars per method on matplotlib's `ax`, and return it.

    `table` has the columns ``method``, `x`, of the horizontal axis, `value`, and `spread`, half the
    length of an error bar; `order`: the methods to draw, by default all. Means over data sets are
    drawn by :func:`plot_expected`.

    >>> import matplotlib.pyplot as plt
    >>> import pandas as pd
    >>> from mvref.experiments.plotting import plot_methods
    >>> table = pd.DataFrame({"L": [10, 20], "mean": [0.7, 0.8], "std": [0.1, 0.1]})
    >>> figure, ax = plt.subplots()
    >>> ax = plot_methods(ax, table.assign(method="MVLSVM"), "L")
    >>> plt.close(figure)
    """
    for name in order or sorted(table["method"].unique()):
        rows = table[table["method"] == name].sort_values(x)
        ax.errorbar(
            rows[x], rows[value], yerr=np.nan_to_num(rows[spread]), label=name, capsize=2,
            **method_style(name),
        )  # fmt: skip
    return ax


def plot_expected(ax, y, found, color, marker="o", label=None):
    """Draw a mean gain in percentage points with its confidence and prediction intervals.

    The range within one point of zero is grey, since such a gain is too small to change a method.
    The gain is drawn in row `y` of matplotlib's `ax`, which is returned; `found` has
    ``difference``, ``low`` and ``high`` (thick), ``next_low`` and ``next_high``; `color`, `marker`
    and `label` are as in ``plot``. The results themselves are drawn by :func:`plot_methods`.

    >>> import matplotlib.pyplot as plt
    >>> from mvref.experiments.plotting import plot_expected
    >>> figure, ax = plt.subplots()
    >>> of = {"difference": 0.01, "low": 0.0, "high": 0.02, "next_low": -0.01, "next_high": 0.03}
    >>> len(plot_expected(ax, 0, of, "black").lines)
    4
    >>> plt.close(figure)
    """
    if not ax.lines:
        ax.axvspan(-1, 1, color="0.9", zorder=0, lw=0)
        ax.axvline(0, color="0.5", lw=0.8)
    for ends, style in (
        (("next_low", "next_high"), {"lw": 0.8}),
        (("low", "high"), {"lw": 3.5, "alpha": 0.6}),
    ):
        ax.plot([100 * found[end] for end in ends], [y, y], color=color, **style)
    ax.plot(100 * found["difference"], y, marker, color=color, label=label)
    return ax
