"""Statements of the MVM paper's text. It has no experiments: they are words, 1 stands for "yes"."""

from functools import partial


def share_ahead(rival, summary, row):
    """Share of the cells where the mean accuracy of a method is above that of a rival.

    summary: of an item with the measure "accuracy"; a cell is a data set and a size, if there are
    some; row: its data set is the beginning of the names; empty for all.
    """
    gaps = _gaps(summary, row, rival)
    if gaps.empty:
        return "-"
    text = f"{(gaps > 0).mean():.2f} of {len(gaps)} cells"
    return "; not ".join([text, *filter(None, [", ".join(gaps.index[gaps <= 0])])])


def range_of_gaps(rival, summary, row):
    """Smallest and largest mean accuracy of a method minus that of a rival, over the cells."""
    gaps = _gaps(summary, row, rival)
    if gaps.empty:
        return "-"
    ends = [f"{gap:+.3f} ({cell})" for cell, gap in gaps.sort_values().iloc[[0, -1]].items()]
    return f"accuracy {' to '.join(ends)} against {rival}"


def _gaps(summary, row, rival):
    """Mean accuracy of the row's method minus the rival's, by name of the cell."""
    columns = ["dataset", "method", "n_train", "measure", "mean"]
    rows = summary.reindex(columns=columns).query("measure == 'accuracy'")
    rows = rows[rows["dataset"].astype(str).str.startswith(row.dataset)]
    # real data have one size; the type has to be said where the ledger is empty
    size = rows["n_train"].map(lambda n: f" n={n:g}" if n == n else "").astype(str)
    means = rows.assign(cell=rows["dataset"] + size).groupby(["cell", "method"])["mean"].first()
    means = means.unstack("method").reindex(columns=[row.method, rival])
    return (means[row.method] - means[rival]).dropna()


CLAIMS = {f"above_{rival}": partial(share_ahead, rival) for rival in ("STM", "FM", "FM-V", "RBF")}
CLAIMS["no_better_than_Linear"] = partial(range_of_gaps, "Linear")
