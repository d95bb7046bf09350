"""Memory and seconds of a call, for the tests of memory and for the benchmarks."""

import time
import tracemalloc

import numpy as np


def peak_bytes(run):
    """Largest memory that Python and NumPy held during a call, beyond what was there before."""
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def seconds_of(run):
    """Seconds of the processor, so that other programs on the machine count less."""
    start = time.process_time()
    run()
    return time.process_time() - start


def medians(runs, rounds):
    """Median seconds of each run; they take turns, after one warm-up round."""
    for run in runs:
        run()
    return np.median([[seconds_of(run) for run in runs] for _ in range(rounds)], axis=0)


def tell(title, x, cost, unit):
    """Print costs and the slope of their logarithms (1 is linear), and return the slope."""
    slope = np.polyfit(np.log(x), np.log(cost), 1)[0]
    told = ", ".join(f"{n}: {c:.4g}" for n, c in zip(x, cost, strict=True))
    print(f"\n{title}: {told} {unit}; slope {slope:.3f}")
    return slope


def growth(title, sizes, calls, rounds=None):
    """Tell the costs of calls over their sizes, and return the slope and the costs.

    Median milliseconds, or without `rounds` the peak memory in MiB.
    """
    if rounds:
        cost, unit = 1e3 * medians(calls, rounds), "ms"
    else:
        cost, unit = np.array([peak_bytes(call) for call in calls]) / 2**20, "MiB"
    return tell(title, sizes, cost, unit), cost
