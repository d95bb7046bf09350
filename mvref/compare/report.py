"""HTML report of a comparison: a self-contained file, and the output in a notebook."""

import platform
from html import escape

import numpy as np
import sklearn

WORDS = {
    "all": "views treated separately",
    "none": "concatenated features",
    "which": "single view",
    "gaps": "only which views are observed",
    "nothing": "no features",
}
WIDTH = 200.0  # of the picture of an interval, in SVG units
STYLE = """
.mvref-report {font: 16px/1.5 system-ui, sans-serif; max-width: 56rem; margin: auto;
  padding: 0 1rem}
.mvref-report table {border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums}
.mvref-report th, .mvref-report td {text-align: left; padding: .15rem .6rem .15rem 0;
  border-bottom: 1px solid #8884; background: none; color: inherit; font-size: 15px}
.mvref-report td.number, .mvref-report th.number {text-align: right; white-space: nowrap}
.mvref-report td.picture {width: 30%; min-width: 7rem; padding: 0 .6rem}
.mvref-report svg {display: block; width: 100%; height: 1.4rem}
.mvref-report li {margin: .4rem 0}
.mvref-report h1 {font-size: 1.5rem} .mvref-report h2 {font-size: 1.15rem; margin: 1.6rem 0 .4rem}
.mvref-report .scroll {overflow-x: auto}
@media (max-width: 40rem) {.mvref-report .wide {display: none}}
@media print {.mvref-report {max-width: none; font-size: 12px}
  .mvref-report th, .mvref-report td {font-size: 11px; padding-right: .4rem}
  .mvref-report td.picture {min-width: 5rem} .mvref-report tr {break-inside: avoid}}
"""
PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"></head>
<body>{body}</body></html>
"""


def page(comparison):
    """Return the HTML page."""
    return PAGE.format(title="Does treating the views separately help?", body=body(comparison))


def body(comparison):
    """Return the content of the report, which is also a notebook's output."""
    return (
        f'<style>{STYLE}</style><div class="mvref-report">'
        "<h1>Does treating the views separately help?</h1>"
        f"{_sentences(comparison.summary.splitlines())}"
        f"<h2>All methods</h2>{_candidates(comparison)}{_later(comparison)}"
        f"<h2>How the comparison was run</h2>{_settings(comparison)}</div>"
    )


def _sentences(lines):
    return "<ul>" + "".join(f"<li>{escape(line)}</li>" for line in lines) + "</ul>"


def _candidates(comparison):
    """Return a row for each candidate, with a picture of its difference from the baseline."""
    table = comparison.table
    shown = table[~table["knows"].isin(["nothing"])]
    low, high = min(shown["low"].min(), 0.0), max(shown["high"].max(), 0.0)
    if not np.isfinite(high - low) or high == low:
        low, high = low - 1.0 if np.isfinite(low) else -1.0, 1.0
    rows = []
    for name, row in table.iterrows():
        ends = f"{row['low']:+.3f} to {row['high']:+.3f}"
        seconds = f"{row['fit_seconds']:.2f}" if "fit_seconds" in row else ""
        rows.append(
            f"<tr><th scope=row>{escape(name)}</th><td class=wide>{WORDS[row['knows']]}</td>"
            f"<td class=number>{row['score']:.3f}</td>"
            f"<td class=picture>{_interval(row, low, high, ends)}</td>"
            f"<td class='number wide'>{row['difference']:+.3f} ({ends})</td>"
            f"<td class='number wide'>{seconds}</td></tr>"
        )
    return (
        "<div class=scroll><table><thead><tr><th>Method<th class=wide>Information used"
        f"<th class=number>{escape(comparison.scoring)}<th>Difference"
        "<th class='number wide'>(95 % CI)<th class='number wide'>CPU seconds</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div><p>Differences from "
        f"{escape(comparison.baseline)}, the baseline selected by inner cross-validation; the "
        "vertical line is zero. The CPU time is of one fit.</p>"
    )


def _interval(row, low, high, ends):
    """Return a dot with its interval and the line of zero, as SVG."""
    at = [WIDTH * (np.clip(x, low, high) - low) / (high - low)
          for x in (0.0, row["low"], row["high"], row["difference"])]  # fmt: skip
    return (
        f'<svg viewBox="-5 0 {WIDTH + 10:g} 20" preserveAspectRatio="none" role=img '
        f'aria-label="{row["difference"]:+.3f}, {ends}"><g stroke=currentColor>'
        f"<line x1={at[0]:.1f} x2={at[0]:.1f} y1=0 y2=20 stroke-width=1 opacity=.5 />"
        f"<line x1={at[1]:.1f} x2={at[2]:.1f} y1=10 y2=10 stroke-width=2 />"
        f"<line x1={at[3]:.1f} x2={at[3]:.1f} y1=4 y2=16 stroke-width=4 /></g></svg>"
    )


def _later(comparison):
    """Return the table of scores for data in which views will be missing."""
    table = comparison.later
    if table is None:
        return ""
    table = table[["regret", *table.columns[:-1]]]
    head = "".join(f"<th class=number>{escape(name)}" for name in table.columns)
    rows = "".join(
        f"<tr><th scope=row>{escape(name)}</th>"
        + "".join(f"<td class=number>{value:.3f}</td>" for value in row)
        + "</tr>"
        for name, row in zip(table.index, table.to_numpy(), strict=True)
    )
    return (
        "<h2>If views are missing later</h2><div class=scroll><table><thead><tr><th>Method"
        f"{head}</tr></thead><tbody>{rows}</tbody></table></div><p>Regret: the largest difference "
        "of the best score in a column minus the score of the method.</p>"
    )


def _settings(comparison):
    """Return the data, the splits, the versions, and how to cite."""
    from .. import __version__

    lines, question, rows = [], comparison.question, comparison.rows
    if question is not None:
        X = question.X
        views = ", ".join(
            f"{name} ({width})" for name, width in zip(X.names, X.widths, strict=True)
        )
        gaps = 1.0 - X.observed.mean()
        kind = "a continuous outcome" if question.K is None else f"{question.K} classes"
        lines = [
            f"{X.n_samples} samples, {kind}; views (number of features): {views}; {gaps:.0%} of "
            "the views missing.",
            f"Budget {question.budget}, seed {question.seed}"
            f"{'' if question.groups is None else ', groups kept together'}.",
        ]
    lines += [
        f"{rows['split'].nunique()} splits; score: {comparison.scoring}. In every split, each "
        "method was tuned by inner cross-validation and tested once.",
        f"mvref {__version__}, scikit-learn {sklearn.__version__}, NumPy {np.__version__}, "
        f"Python {platform.python_version()}.",
        f"Cite: mvref, an executable book and reference implementation of multi-view "
        f"classification, version {__version__}.",
    ]
    return _sentences(lines)
