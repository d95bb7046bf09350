"""Coverage of bounds on the risk: how often a bound holds over many simulated samples.

The margin bound of :mod:`mvref.theory.rademacher` and Eq. (18) of Wang, Chen and Gao (2011) claim
to fail for at most a fraction delta of all samples. A study draws samples from a known
distribution, fits, and counts. Chapter: validate, part V.

Symbols   paper                   code
          f, |f|_k, w_0           ``score``, ``norm`` and ``intercept`` of a :class:`Machine`
          right side of (18)      ``Coverage.bounds``, or the values of another bound
          P(y != f(x))            ``Coverage.test_errors``, on fresh samples; a score of 0 is wrong
"""

from dataclasses import dataclass

import numpy as np
from sklearn.datasets import make_moons
from sklearn.utils import check_random_state

from ..core.input import Any, Callable, RandomState, check_number
from .rademacher import margin_bound
from .vectors import check_callable


@dataclass(frozen=True, eq=False)
class Machine:
    """A fitted classifier, as :func:`~mvref.theory.coverage.coverage_study` needs it.

    score: X (n, d) -> values f(x) (n,), intercept included; norm: norm of f without the intercept
    in the space of the kernel, or a bound of it; diagonal (n,): k(x_i, x_i) of the training
    samples; intercept: w_0, which may be 0 only if the classifier never has an intercept.

    >>> import numpy as np
    >>> from mvref.theory.coverage import Machine
    >>> Machine(lambda X: X @ [3.0, 4.0], norm=5.0, diagonal=np.ones(2)).score(np.eye(2))
    array([3., 4.])
    """

    score: object
    norm: float
    diagonal: np.ndarray
    intercept: float = 0.0


@dataclass(frozen=True, eq=False)
class Coverage:
    """Result of :func:`~mvref.theory.coverage.coverage_study`, one entry for each repetition.

    bounds, test_errors (n_repeats,): bounds, and error rates on fresh samples.

    >>> import numpy as np
    >>> from mvref.theory.coverage import Coverage
    >>> study = Coverage(bounds=np.array([0.3, 1.2]), test_errors=np.array([0.4, 0.4]))
    >>> study.violations, study.vacuous
    (1, 1)
    """

    bounds: np.ndarray
    test_errors: np.ndarray

    @property
    def violations(self) -> int:
        """Number of repetitions in which the error is above the bound."""
        return int((self.test_errors > self.bounds).sum())

    @property
    def vacuous(self) -> int:
        """Number of repetitions in which the bound is 1 or more, and so cannot be violated."""
        return int((self.bounds >= 1).sum())

    @property
    def mean_bound(self) -> float:
        """Mean of the bounds."""
        return float(self.bounds.mean())

    @property
    def mean_test_error(self) -> float:
        """Mean of the error rates on fresh samples."""
        return float(self.test_errors.mean())


def draw_moons(
    n: int, random_state: RandomState, noise: float = 0.25
) -> tuple[np.ndarray, np.ndarray]:
    """Simulate n samples of two moons -> X (n, 2), y (n,), -1.0 or 1.0 with equal probability.

    noise: standard deviation of the points; random_state: int or RandomState instance.

    >>> from mvref.theory.coverage import draw_moons
    >>> X, y = draw_moons(5, random_state=1)
    >>> X.shape, y
    ((5, 2), array([ 1.,  1., -1., -1.,  1.]))
    """
    check_number(n, "n", low=1, integer=True)
    check_number(noise, "noise", low=0)
    # make_moons alone gives equal halves, which are not independent samples
    rng = check_random_state(random_state)
    upper = int(rng.binomial(n, 0.5))
    X, y = make_moons((upper, n - upper), noise=noise, random_state=rng)
    return X, 2.0 * y - 1.0


def coverage_study(
    fit: Callable[..., Machine],
    *,
    draw: Callable[..., Any] = draw_moons,
    bound: Callable[..., float] | None = None,
    n_samples: int = 200,
    n_test: int = 4000,
    n_repeats: int = 200,
    rho: float = 1.0,
    delta: float = 0.05,
    random_state: RandomState | None = None,
) -> Coverage:
    """Count how often a bound fails, on many simulated samples with fresh test data.

    fit: (X, y), y of -1 and +1 -> :class:`Machine`; draw: (n, RandomState instance) -> X, y,
    independent samples; bound: (machine, margins) -> float, by default
    :func:`~mvref.theory.rademacher.margin_bound` for `rho` and `delta` with the norm and intercept
    of the fitted classifier, hence ``data_dependent=True``; n_samples, n_test, n_repeats: sizes of
    a training set and of a test set, and their number; random_state: int, RandomState instance or
    None -> :class:`Coverage`. A bound of 1 or more is never violated, so look at ``vacuous``, too.

    >>> import numpy as np
    >>> from mvref.theory.coverage import Machine, coverage_study
    >>> def ridge(X, y):
    ...     w = np.linalg.solve(X.T @ X + np.eye(2), X.T @ y)
    ...     return Machine(lambda Z: Z @ w, np.linalg.norm(w), (X**2).sum(axis=1))
    >>> study = coverage_study(ridge, n_samples=1000, n_repeats=20, random_state=0)
    >>> study.violations, study.mean_test_error < study.mean_bound
    (0, True)
    """
    for value, name in ((n_samples, "n_samples"), (n_test, "n_test"), (n_repeats, "n_repeats")):
        check_number(value, name, low=1, integer=True)
    options = {"rho": rho, "delta": delta, "data_dependent": True}

    def default(machine, margins):
        w0_max = abs(machine.intercept)
        return margin_bound(margins, machine.norm, machine.diagonal, w0_max=w0_max, **options)

    bound = default if bound is None else bound
    for function, name in ((fit, "fit"), (draw, "draw"), (bound, "bound")):
        check_callable(function, name)
    rng = check_random_state(random_state)
    bounds, errors = np.empty(n_repeats), np.empty(n_repeats)
    for r in range(n_repeats):
        X, y = draw(n_samples, rng)
        machine = fit(X, y)
        bounds[r] = bound(machine, y * machine.score(X))  # type: ignore[operator]
        X, y = draw(n_test, rng)
        errors[r] = np.mean(y * machine.score(X) <= 0)  # type: ignore[operator]
    return Coverage(bounds, errors)
