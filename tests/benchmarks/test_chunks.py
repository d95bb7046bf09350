"""Learning in chunks from files: growth over a decade.

Three views of 50 features, five classes, L = 100. ``make bench`` goes up to 100,000 samples in
blocks of 10,000; with MVREF_MILLION=1 to a million in blocks of 20,000, in some minutes, 8 GB of
memory and 1.2 GB of files.
"""

import os

import numpy as np
import pytest

from mvref import MVLSVM, fit_in_chunks
from tests.costs import growth, seconds_of, tell

MILLION = "MVREF_MILLION" in os.environ
BLOCK = 20_000 if MILLION else 10_000
SIZES = BLOCK * np.array([5, 10, 25, 50] if MILLION else [1, 2, 5, 10])


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A folder with one pair of files per block."""
    folder = tmp_path_factory.mktemp("blocks")
    centres = np.random.default_rng(0).normal(size=(3, 5, 50))
    for i in range(SIZES[-1] // BLOCK):
        rng = np.random.default_rng([1, i])
        y = rng.integers(5, size=BLOCK)
        np.save(folder / f"X{i}.npy", 0.2 * centres[:, y] + rng.normal(size=(3, BLOCK, 50)))
        np.save(folder / f"y{i}.npy", y)
    return folder


def load(folder, i):
    return list(np.load(folder / f"X{i}.npy")), np.load(folder / f"y{i}.npy")


def chunks(folder, m):
    return lambda: (load(folder, i) for i in range(m // BLOCK))


def fit(chunks):
    model = MVLSVM(100, c=1000.0, loss="squared_hinge", random_state=0)
    return fit_in_chunks(model, chunks)


def test_growth_of_time(files):
    fit(chunks(files, SIZES[0]))
    passes = []
    calls = [lambda m=m: passes.append(fit(chunks(files, m)).n_iter_) for m in SIZES]
    cost = np.array([seconds_of(call) for call in calls])
    slope = tell(f"time of a fit in chunks, passes {passes}", SIZES, cost, "s")
    of_pass = tell("time of one of its passes", SIZES, cost / passes, "s")
    assert max(slope, of_pass) <= 1.05


def test_growth_of_memory(files):
    calls = [lambda m=m: fit(chunks(files, m)) for m in SIZES]
    slope, _ = growth("memory of a fit in chunks by samples", SIZES, calls)
    assert slope <= 1.05
