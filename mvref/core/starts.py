"""Several random starts, for methods whose objective has local minima; the best one is kept."""

from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed


class Best(NamedTuple):
    """The kept solution of every problem, the objectives of all starts, and how many failed."""

    solutions: list
    objectives: np.ndarray
    note: str  # a sentence for a warning; empty for one start, or if all converged


def best_starts(fit, problems, starts, *, n_jobs=None, prefer=None):
    """Solve every problem from each of its starts, and keep the solution of least objective.

    All are jobs of one queue, so that problems and starts share the workers. A start that ends with
    a non-finite objective is kept only if all do.

    fit(start, *problem) -> solution, objective, whether it converged; starts: equally many for
    every problem; n_jobs, prefer: of joblib -> Best, with objectives (n_problems, n_starts).

    >>> best = best_starts(lambda x, target: (x, (x - target) ** 2, True), [(3,)], [[0, 4, 9]])
    >>> best.solutions, best.objectives.tolist()
    ([4], [[9, 1, 36]])
    """
    jobs = (
        delayed(fit)(start, *problem)
        for problem, own in zip(problems, starts, strict=True)
        for start in own
    )
    solutions, values, converged = zip(*Parallel(n_jobs, prefer=prefer)(jobs), strict=True)
    objectives, n_starts = np.array(values).reshape(len(problems), -1), len(starts[0])
    least = np.where(np.isfinite(objectives), objectives, np.inf).argmin(axis=1)
    kept = [solutions[i * n_starts + j] for i, j in enumerate(least)]
    failed = len(converged) - sum(converged)
    note = f" {failed} of {len(converged)} starts did not converge." if failed else ""
    return Best(kept, objectives, note if n_starts > 1 else "")
