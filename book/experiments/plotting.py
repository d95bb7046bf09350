"""The book's one figure style, and the few plots that it draws more than once.

Needs matplotlib, which comes with the extra ``mvref[book]``.
"""

import matplotlib.pyplot as plt
import numpy as np
from cycler import cycler

# Okabe and Ito's palette: told apart with every common form of colour blindness.
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
    "L3SVM": ("sky", "X", "-"),
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
    "MVM-pairs": ("sky", "v", "--"),
    "MVM-paper": ("vermilion", "v", "--"),
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

    Examples
    --------
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
            "figure.figsize": (6.4, 3.8),
            "figure.constrained_layout.use": True,
            "font.size": 10,
            "grid.alpha": 0.25,
            "image.cmap": "gray_r",
            "legend.frameon": False,
            "lines.markersize": 5,
            "savefig.facecolor": "white",
        }
    )


def method_style(name):
    """Return the keyword arguments of ``plot`` that draw a method in its colour and marker.

    Parameters
    ----------
    name : str, of a method, as in the ledger

    Returns
    -------
    style : dict; color, marker and linestyle

    Examples
    --------
    >>> from mvref.experiments.plotting import method_style
    >>> method_style("MVLSVM")
    {'color': '#0072B2', 'marker': 'o', 'linestyle': '-'}
    """
    if name not in METHODS:
        raise ValueError(f"name must be one of {list(METHODS)}, got {name!r}.")
    color, marker, line = METHODS[name]
    return {"color": PALETTE[color], "marker": marker, "linestyle": line}


def plot_methods(ax, table, x, *, value="mean", spread="std", order=None):
    """Draw one line with error bars per method.

    Parameters
    ----------
    ax : matplotlib Axes
    table : DataFrame, with the columns ``method``, `x`, `value` and `spread`
    x : str, column of the horizontal axis
    value, spread : str; columns of the points and of the half length of their error bars
    order : sequence of str, optional; methods to draw, in this order; default all

    Returns
    -------
    ax : matplotlib Axes

    See Also
    --------
    plot_differences : Paired differences.

    Examples
    --------
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


def plot_differences(ax, table, *, shift=0.0, **style):
    """Draw paired differences with their intervals, a row each, in points of a hundredth.

    Less than a point either way is grey, as nobody would change a method for it.

    Parameters
    ----------
    ax : matplotlib Axes
    table : DataFrame, with the columns ``difference``, ``low`` and ``high``; its index names rows
    shift : float; by how many rows the points are moved up, so that several tables share the rows
    **style : of ``errorbar``

    Returns
    -------
    ax : matplotlib Axes

    See Also
    --------
    plot_methods : The results themselves.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import pandas as pd
    >>> from mvref.experiments.plotting import plot_differences
    >>> table = pd.DataFrame({"difference": [0.02], "low": [-0.01], "high": [0.05]}, ["digits"])
    >>> figure, ax = plt.subplots()
    >>> [label.get_text() for label in plot_differences(ax, table).get_yticklabels()]
    ['digits']
    """
    rows = np.arange(len(table), 0, -1)
    middle, low, high = (100 * table[name].astype(float) for name in ("difference", "low", "high"))
    ax.axvspan(-1, 1, color="0.9", zorder=0, lw=0)
    ax.axvline(0, color="0.5", lw=0.8)
    style = {"fmt": "o", "ms": 5, "lw": 1.4} | style
    ax.errorbar(middle, rows + shift, xerr=[middle - low, high - middle], **style)
    ax.set_yticks(rows, table.index)
    ax.set_ylim(0.4, len(table) + 0.6)
    return ax
