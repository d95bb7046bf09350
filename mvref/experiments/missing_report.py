"""Reading the ledger of :mod:`.missing_views`: curves, and tests of treatments split by split."""

import pandas as pd

from .missing_methods import METHODS, own_treatment
from .missing_views import N_TEST, N_TRAIN
from .paired_tests import p_values
from .report import read_ledger, with_parameters

POINT = ["dataset", "method", "treatment", "missing"]


def read_curves(folder=None, measure="accuracy"):
    """Return a measure by data set, method, treatment, ratio and repeat."""
    rows = read_ledger("missing_views", folder)
    rows, _ = with_parameters(rows[rows["measure"] == measure])
    rows = rows.reindex(columns=[*POINT, "repeat", "value"])
    others = []
    for method, spec in METHODS.items():
        complete = rows[(rows["method"] == method) & (rows["missing"] == 0)]
        others += [complete.assign(treatment=other) for other in spec.treatments[1:]]
    return pd.concat([rows, *others], ignore_index=True)


def mean_curves(rows):
    """Return the mean of the repeats and their standard deviation."""
    values = rows.groupby(POINT, dropna=False)["value"]
    return values.agg(mean="mean", std="std", n_repeats="count").reset_index()


def compare_treatments(rows):
    """Compare every treatment with the method's own, by repeat; rows: see :func:`read_curves`."""
    point, tests = ["dataset", "method", "missing"], []
    rows = rows[(rows["missing"] > 0) & rows["method"].isin(METHODS)]
    for at, part in rows.groupby(point):
        own = own_treatment(at[1])
        table = part.pivot(index="repeat", columns="treatment", values="value")
        for other in table.columns.drop(own):
            gain = (table[other] - table[own]).dropna()
            p = p_values(gain, N_TEST / N_TRAIN)
            tests.append([*at, other, gain.mean(), gain.std(), len(gain), *p])
    columns = [*point, "treatment", "gain", "std", "n_repeats", "p_paired", "p_corrected"]
    return pd.DataFrame(tests, columns=columns)
