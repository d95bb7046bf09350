"""Reading the ledger of :mod:`.missing_views`: curves, and tests of treatments split by split."""

from pathlib import Path

import numpy as np
import pandas as pd

from .engine import LEDGER
from .missing_methods import METHODS, own_treatment
from .missing_views import N_TEST, N_TRAIN
from .paired_tests import paired_t
from .report import read_ledger, with_parameters

POINT = ["dataset", "method", "treatment", "missing"]


def read_curves(folder=None, measure="accuracy"):
    """Return a measure by data set, method, treatment, ratio and repeat.

    folder: default: the ledger that comes with mvref.

    Examples
    --------
    >>> from mvref.experiments.missing_report import read_curves
    >>> list(read_curves().columns)
    ['dataset', 'method', 'treatment', 'missing', 'repeat', 'value']
    """
    rows = read_ledger("missing_views", Path(folder or LEDGER))
    rows, _ = with_parameters(rows[rows["measure"] == measure])
    rows = rows.reindex(columns=[*POINT, "repeat", "value"])
    others = []
    for method, spec in METHODS.items():
        complete = rows[(rows["method"] == method) & (rows["missing"] == 0)]
        others += [complete.assign(treatment=other) for other in spec.treatments[1:]]
    return pd.concat([rows, *others], ignore_index=True)


def mean_curves(rows):
    """Return the mean of the repeats and their standard deviation."""
    values = rows.groupby(POINT, dropna=False)["value"].agg(["mean", "std", "count"])
    return values.rename(columns={"count": "n_repeats"}).reset_index()


def compare_treatments(rows):
    """Compare every treatment of a method with its own, repeat by repeat.

    rows: accuracies, see :func:`read_curves`.
    """
    tests = []
    for (dataset, method, missing), part in rows[rows["missing"] > 0].groupby(
        ["dataset", "method", "missing"]
    ):
        if method not in METHODS:
            continue
        table = part.pivot(index="repeat", columns="treatment", values="value")
        for other in table.columns.drop(own_treatment(method)):
            gain = (table[other] - table[own_treatment(method)]).dropna()
            entry = {"dataset": dataset, "method": method, "missing": missing, "treatment": other}
            entry |= {"gain": gain.mean(), "std": gain.std(), "n_repeats": len(gain)}
            for name, ratio in (("p_paired", 0.0), ("p_corrected", N_TEST / N_TRAIN)):
                entry[name] = paired_t(gain, ratio) if len(gain) > 1 else np.nan
            tests.append(entry)
    columns = ["dataset", "method", "missing", "treatment", "gain", "std", "n_repeats"]
    return pd.DataFrame(tests, columns=[*columns, "p_paired", "p_corrected"])
