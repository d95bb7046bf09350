"""The headline claim of each paper beside what came out: the first screen of the report."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from .paired_tests import paired_interval
from .report import read_ledger, read_paper_numbers, with_parameters
from .reproduction import PAPERS, judge
from .verdict_text import linked, verdict_of


@dataclass(frozen=True)
class Headline:
    """A claim in the paper's words, and the difference of two methods that answers it."""

    paper: str
    quote: str  # verbatim
    claim: str  # of the row of verdicts that judges it
    item: str
    method: str
    rivals: tuple
    rows: str  # which points of the item
    what: str  # the difference, in words
    by: tuple = ()  # parameters whose values count one each, beside the data sets
    paired: str = ""  # item and rows that have the difference and its standard error over images


def differences(headline, folder=None):
    """The method minus its best rival by mean, data set by data set, repeat by repeat."""
    rows = read_ledger(headline.paper, folder)
    rows = rows[rows["item"] == headline.item]
    rows = with_parameters(rows)[0].query(headline.rows)
    found = {}
    for point, part in rows.groupby(["dataset", *headline.by]):
        # The sum of errors over digits; of the others there is one value each.
        values = part.pivot_table(index="repeat", columns="method", values="value", aggfunc="sum")
        rivals = [name for name in headline.rivals if name in values]
        best = values[rivals].mean().idxmax()
        found[point] = (values[headline.method] - values[best]).dropna()
    return found


def over_images(headline, folder=None):
    """The stored difference on the same test images: mean of the draws, 95 % interval."""
    item, _, query = headline.paired.partition(": ")
    rows = read_ledger(headline.paper, folder)
    rows = with_parameters(rows[rows["item"] == item])[0].query(query)
    means = rows.groupby("measure")["value"].mean()
    half = stats.norm.ppf(0.975) * means["std_error"]
    return means["difference"], means["difference"] - half, means["difference"] + half


def printed_difference(headline):
    """The same difference of the paper's numbers; NaN where it prints none."""
    numbers = read_paper_numbers(headline.paper)
    numbers = numbers[numbers["item"] == headline.item]
    if not numbers["place"].str.startswith("Table").any():
        return np.nan
    cells = with_parameters(numbers)[0].query(headline.rows)
    values = cells.groupby("method")["value"].sum()
    return values[headline.method] - values[[n for n in headline.rivals if n in values]].max()


def headlines(folder=None):
    """The headline claims: one row per paper.

    Returns a frame with ``says`` (verbatim), ``of`` (which difference), ``printed`` (that of the
    paper's numbers, NaN where it prints none), ``ours``, ``low`` and ``high`` (mean of the paired
    differences and its 95 % interval), and the row of :func:`reproduction_report` that judges the
    claim.
    """
    report, _ = judge(None, folder)
    lines = []
    for headline in HEADLINES:
        same = (report["paper"] == headline.paper) & (report["claim"] == headline.claim)
        [index] = report.index[same]
        if headline.paired:
            ours, low, high = over_images(headline, folder)
        else:
            found = list(differences(headline, folder).values())
            # Several data sets or measures: each counts once, by its mean.
            values = found[0] if len(found) == 1 else [part.mean() for part in found]
            ours, low, high = paired_interval(values)
        line = {"says": headline.quote, "of": headline.what}
        line |= {"printed": printed_difference(headline), "ours": ours, "low": low, "high": high}
        lines.append(report.loc[index].to_dict() | line)
    return pd.DataFrame(lines)


def headline_table(folder=None):
    """Write the headline claims as a Markdown table.

    folder: default: the ledger that comes with mvref.

    Examples
    --------
    >>> from mvref.experiments.headlines import headline_table
    >>> print(headline_table().splitlines()[0])
    | paper | what it says | what came out |
    """
    lines = ["| paper | what it says | what came out |", "|---|---|---|"]
    for _, row in headlines(folder).iterrows():
        form = "+.3f" if abs(row["ours"]) < 1 else "+.0f"
        printed = "" if np.isnan(row["printed"]) else f"the paper {row['printed']:{form}}, "
        ours = f"ours {row['ours']:{form}} ({row['low']:{form}} to {row['high']:{form}})"
        lines.append(
            f"| {PAPERS[row['paper']]} | “{row['says']}” | {verdict_of(row)}. "
            f"{row['of'][0].upper()}{row['of'][1:]}: {printed}{ours}. {linked(row['why'])} |"
        )
    return "\n".join(lines)


HEADLINES = (
    Headline(
        "mvl_svm",
        "highlight the superior performances of our method, in terms of accuracy and execution "
        "time, w.r.t. state of the art techniques",
        "On uWave MVL-SVM is more accurate than MVML and SVM-2K.",
        "fig2", "MVLSVM", ("MVML", "SVM2K", "PerViewSVM"),
        "measure == 'accuracy' and dataset == 'uwave' and (L == 200 or L != L)",
        "accuracy on uWave with 200 landmarks, minus that of the best other method of the figure",
    ),
    Headline(
        "mwmvc2",
        "compared to the second best strategy the gain in accuracy (resp. $F_1$-score) varies "
        "between 0.2% and 2.2%",
        "The gain over the second best is 0.2 to 2.2 % in accuracy and 2.2 to 3.8 % in F1.",
        "table1", "MwMvC2", ("Mono", "Concat", "Fusion", "MVMLsp", "MVMV", "MVWAB", "RBoostSH"),
        "measure == 'accuracy' and dataset == 'mnist1'",
        "accuracy on MNIST1, minus that of the best rival of Table 1",
    ),
    Headline(
        "mvpo",
        "it not only outperforms traditional single-view based multivariate performance "
        "optimization methods, but also achieves better results than ordinary multi-view learning "
        "methods",
        "In most cases MVPO outperforms the methods for a measure that see one view.",
        "fig1", "MVPO", ("SVMPerf", "SMS", "CAPO", "FSMulti"), "measure == target",
        "the measure trained for, minus that of the best method that sees one view, mean of nine "
        "cells",
        by=("target",),
    ),
    Headline(
        "mvm",
        "A joint factorization is embedded for the full-order interaction parameters which allows "
        "parameter estimation under sparsity.",
        "Sharing the factors helps on sparse data, products of all views.",
        "starts", "MVM", ("FM-V",), "measure == 'accuracy' and dataset == 'onehot-full'",
        "accuracy on products of three views of levels, minus that of a factorisation machine of "
        "order three (the paper has no experiments)",
    ),
    Headline(
        "mvna_kmhks",
        "The results show that MVNA-KMHKS takes the first place in all the nine tasks especially "
        "for digit '2'.",
        "MVNA-KMHKS has the first place in all nine tasks.",
        "table3", "MVNA", ("KMHKS",),
        "measure == 'errors' and dataset == 'optdigits' and digit != 1",
        "errors on the nine digits, minus those of KMHKS",
        paired="table3_paired: chosen == 'tuned' and method == 'KMHKS'",
    ),
)  # fmt: skip
