"""Our classifiers and other people's, all with their defaults, live in one run.

The protocol is that of the ledger's item ``speed.peers``; here the contestants take turns. A peer
that is not installed is named and left out:
``.venv/bin/pip install --no-deps scikit-multimodallearn myfm xlearn``. Run by ``make bench``.
"""

import pandas as pd
import pytest

from mvref.datasets import available
from mvref.experiments.speed_peers import (
    GAUSSIANS,
    MEASURES,
    OURS,
    PEERS,
    best_of,
    installed,
    raced,
)

# Turns of each contestant, and samples that are drawn.
PROBLEMS = {"iris": (3, 0), "digits": (3, 0), GAUSSIANS: (1, 2000), "uwave": (1, 0)}

SAME = {  # the same method in other hands
    "Mumbo": ["Mumbo, scikit-multimodallearn"],
    "FMClassifier": ["myFM", "xlearn"],
}


@pytest.mark.parametrize("dataset", PROBLEMS)
def test_accuracy_and_seconds_of_all_who_are_here(record, dataset):
    """One of ours is as accurate as the best peer to 3 points; a round of Mumbo takes no longer."""
    if dataset not in {*available(), GAUSSIANS}:
        pytest.skip(f"{dataset} is not on this machine")
    turns, samples = PROBLEMS[dataset]
    names = [name for name in (*OURS, *PEERS) if installed(name)]
    runs = [
        {"name": name} | raced(dataset, name, measures=MEASURES, seed=0, samples=samples)
        for _ in range(turns)
        for name in names
    ]
    table = pd.DataFrame(runs).groupby("name").median().sort_values("fit_seconds")
    missing = [name for name in PEERS if name not in names]
    print(f"\n{dataset}; not installed: {', '.join(missing) or 'nobody'}")
    print(table.to_string(float_format="{:.4f}".format))
    seconds, accuracy = table["fit_seconds"].to_dict(), table["accuracy"].to_dict()
    best = best_of(OURS, seconds, accuracy, max(accuracy[name] for name in OURS))
    for ours, peers in [(best, PEERS), *SAME.items()]:
        if not set(peers) & set(names):
            continue
        peer = best_of(peers, seconds, accuracy, accuracy[ours])
        work = f"defaults, {dataset}: {ours}" + ", the best of ours" * (peers is PEERS)
        row = (seconds[ours], peer, seconds[peer])
        record(work, *row, our_score=accuracy[ours], their_score=accuracy[peer])
    best_of_peers = max(accuracy.get(name, 0) for name in PEERS)
    assert accuracy[best] >= best_of_peers - 0.03
    theirs = seconds.get(SAME["Mumbo"][0], float("inf")) / 50  # rounds, ours 100
    assert seconds["Mumbo"] / 100 <= 1.25 * theirs
