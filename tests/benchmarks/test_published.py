"""The ratios that the chapter on speed prints, measured again in one run; see ``make bench``.

Where one is off by more than a factor of two, its rows of the ledger have to be made again.
"""

import numpy as np
import pytest

from mvref.experiments import read_ledger
from mvref.experiments.engine import with_parameters
from mvref.experiments.speed import compared
from mvref.experiments.speed_peers import OURS, PEERS, best_of, raced

TURNS = 3


def published():
    """Every printed ratio -> what is timed, where, with which samples and seed, and the ratio."""
    rows, _ = with_parameters(read_ledger("speed").query("item != 'scaling'"))
    keys = ["item", "dataset", "samples", "method"]
    for (item, data, n), part in rows.fillna({"samples": 0}).groupby(keys[:3]):
        table = part.pivot_table(index=["method", "repeat"], columns="measure", values="value")
        n, seed = int(n), int(part["seed"].iloc[0])
        if item == "against":
            ratios = table["theirs_seconds"] / table["ours_seconds"]
            for name, ratio in ratios.groupby("method").median().items():
                yield item, data, (name,), n, seed, ratio
        else:
            means = table.groupby("method").mean()
            seconds, accuracy = means["fit_seconds"].to_dict(), means["accuracy"].to_dict()
            ours = best_of(OURS, seconds, accuracy, max(accuracy[name] for name in OURS))
            theirs = best_of(PEERS, seconds, accuracy, accuracy[ours])
            yield item, data, (ours, theirs), n, seed, seconds[ours] / seconds[theirs]


CASES = list(published())
IDS = [f"{' and '.join(names)}, {data} {n or ''}".strip() for _, data, names, n, *_ in CASES]


@pytest.mark.data("data")  # the parameter
@pytest.mark.parametrize(("item", "data", "names", "n", "seed", "ratio"), CASES, ids=IDS)
def test_a_published_ratio_holds_to_a_factor_of_two(item, data, names, n, seed, ratio):
    if item == "against":
        values = compared(data, *names, measures=(), samples=n, seed=seed)
        now = values["theirs_seconds"] / values["ours_seconds"]
    else:
        turns = [
            [raced(data, name, measures=(), seed=seed, samples=n)["fit_seconds"] for name in names]
            for _ in range(TURNS)
        ]
        now = np.divide(*np.median(turns, axis=0))
    print(f"\n{', '.join(names)}, {data} {n}: published {ratio:.2g}, now {now:.2g}")
    assert 0.5 <= now / ratio <= 2
