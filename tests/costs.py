"""Memory and time of a call, for the memory tests and the benchmarks."""

import time
import tracemalloc

import numpy as np


def peak_bytes(run):
    """Return the peak memory that Python and NumPy allocated during a call."""
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def seconds_of(run):
    """Return the processor seconds of a call, so that other programs matter less."""
    start = time.process_time()
    run()
    return time.process_time() - start


def medians(runs, rounds):
    """Return the median seconds of each run; runs take turns, after one warm-up round."""
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
    """Print the costs of calls over their sizes, and return the slope and the costs.

    Costs are median milliseconds, or without `rounds` the peak memory in MiB.
    """
    if rounds:
        cost, unit = 1e3 * medians(calls, rounds), "ms"
    else:
        cost, unit = np.array([peak_bytes(call) for call in calls]) / 2**20, "MiB"
    return tell(title, sizes, cost, unit), cost
